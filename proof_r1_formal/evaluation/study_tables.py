"""Assessments of systems and data sets side by side, as tables.

In: an :class:`~proof_r1_formal.evaluation.assessment.Assessment` for each system and data set. Out: tables with a row
for each system, for every data set and across them; and what goes wrong, system by system. Of systems with one
backbone the best scores are bold and the second best underlined; of all, where no backbone has two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from operator import itemgetter, methodcaller
from typing import TypeAlias, TypeVar

from proof_r1_formal.evaluation.assessment import Assessment, RuleGroup
from proof_r1_formal.evaluation.definition import Key
from proof_r1_formal.evaluation.diagnosis import Diagnosis, Example, Remedy
from proof_r1_formal.evaluation.measures import RATES, Estimate, Group, Measure
from proof_r1_formal.evaluation.metrics_tables import (
    ANSWERS,
    COUNTS,
    SCORES,
    UNCERTAIN,
    Columns,
    conventions,
    count_table,
    difficulties,
    left_out_table,
    score_columns,
    steps_table,
    table_of,
)
from proof_r1_formal.evaluation.paired import RESAMPLES, compare_answers, compare_rates, holm, too_close
from proof_r1_formal.evaluation.selection import Choice
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table, rank

_SHOWN_ERRORS = 12
"""How many kinds of first errors a table has, the most frequent ones."""

TOO_CLOSE = "too close to call"
"""In place of a corrected p-value whose draws do not decide."""

Results: TypeAlias = Mapping[Key, Assessment]
_T = TypeVar("_T")


def study_tables(results: Results, *, resamples: int = RESAMPLES) -> tuple[Table, ...]:
    """All tables of a study: those of each data set, those across data sets, and the diagnosis of each system.

    ``resamples`` is for the intervals of paired rates.
    """
    datasets = list(dict.fromkeys(key.dataset for key in results))
    tables = []
    for name in datasets:
        chosen = {key: one for key, one in results.items() if key.dataset == name}
        found = (*_scores(chosen), *_pairwise(chosen, resamples), *detail_tables(chosen))
        tables += [replace(table, title=f"{table.title}: {name}") for table in found]
    if len(datasets) > 1:
        tables.append(_across(datasets, results))
    for system, diagnosis in by_system(results).items():
        tables += [replace(table, title=f"{table.title}: {system}") for table in diagnosis_tables(diagnosis)]
    return tuple(tables)


def by_system(results: Results) -> dict[str, Diagnosis]:
    """The errors of each system, on all data sets together."""
    found: dict[str, Diagnosis] = {}
    for key, assessment in results.items():
        found.setdefault(key.system, Diagnosis()).merge(assessment.diagnosis)
    return found


# -- one data set -----------------------------------------------------------------------------------------------------


def _scores(chosen: Results) -> Iterator[Table]:
    """The tables of metrics, which a single system has by difficulty."""
    overall = {key: one.metrics.overall for key, one in chosen.items()}
    counts = [one.metrics.samples for one in chosen.values()]
    same = len(set(counts)) == 1
    scores = partial(score_columns, samples=f"{counts[0]}" if same else "K")
    passes, distance = scores((Measure.PASS, Measure.RGD))

    def apart(groups: Iterable[Group], counts: Sequence[int]) -> dict[str, Sequence[float]]:
        """Neither Pass of more samples nor RGD that leaves out more outputs is a better score."""
        return {passes.name: counts, distance.name: [group.scores[Measure.RGD].denominator for group in groups]}

    heads = ("backbone", "method", *(() if same else ("K",)))
    systems = {key: (key.backbone, key.method, f"{k}")[: len(heads)] for key, k in zip(chosen, counts, strict=True)}
    title = f"Main results{conventions(next(iter(chosen.values())).metrics)}"
    main = table_of(title, heads, [(systems[key], group) for key, group in overall.items()], scores(SCORES))
    yield rank(main, _rivals(chosen), apart=apart(overall.values(), counts))
    split = {key: difficulties(one.metrics) for key, one in chosen.items()}
    names = list(next(iter(split.values())))
    if len(names) > 2:  # more than one, and all together
        rows = [((name, *systems[key]), split[key][name]) for name in names for key in chosen]
        table = table_of("By difficulty", ("difficulty", *heads), rows, scores(SCORES))
        groups = [(name, of) for name in names for of in _rivals(chosen)]
        yield rank(table, groups, apart=apart([group for _, group in rows], counts * len(names)))
    yield _systems("Answers and proofs", overall, scores(ANSWERS))
    yield _systems("Outputs", overall, {**COUNTS, **scores((Measure.PARSED, Measure.RESPONSE_LENGTH))})
    if any(group.uncertain.outputs for group in overall.values()):
        yield _systems("Problems whose label is Uncertain", overall, UNCERTAIN)
    yield steps_table({key.system: group for key, group in overall.items()})
    yield left_out_table(
        {key.system: one.metrics for key, one in chosen.items()}, [one.unreadable for one in chosen.values()]
    )


def _systems(title: str, chosen: Mapping[Key, _T], columns: Columns[_T]) -> Table:
    """A table with a row for each system; a system without a name is called by its files."""
    heads = ("backbone", "method") if any(key.backbone for key in chosen) else ("completions",)
    rows = [(key[-len(heads) :], one) for key, one in chosen.items()]
    return rank(table_of(title, heads, rows, columns), _rivals(chosen))


def _rivals(keys: Iterable[Key]) -> list[str]:
    """The rows with which the row of each system is compared."""
    backbones = [key.backbone for key in keys]
    several = max(Counter(backbones).values(), default=0) > 1
    return backbones if several else ["" for _ in backbones]


def detail_tables(chosen: Results) -> Iterator[Table]:
    """Further tables of systems on one data set, as far as they have a row.

    Rules that training had not, what responses cost, and how good the choice among samples by evidence is.
    """
    if any(one.rule_groups[RuleGroup.UNSEEN][Measure.STRICT_FVR].denominator for one in chosen.values()):
        yield _systems("Rules seen and unseen in training", chosen, _RULE_GROUPS)
    costs = {key: one.costs for key, one in chosen.items()}
    if any(of[name].is_defined for of in costs.values() for name in ("tokens", "seconds")):
        columns = {Column(name, Style.LENGTH, "less"): itemgetter(name) for name in ("tokens", "seconds", "calls")}
        yield _systems("Cost of a response", costs, columns)
    if any(one.metrics.samples > 1 for one in chosen.values()):
        yield _systems("Best of K by evidence", {key: one.choices for key, one in chosen.items()}, _CHOICES)


def _of_group(group: RuleGroup, measures: Sequence[Measure] = RATES) -> Columns[Assessment]:
    def rate(measure: Measure) -> Callable[[Assessment], Cell]:
        return lambda one: one.rule_groups[group][measure]

    steps = Column(f"{group}: steps", Style.COUNT)
    rates = {Column(f"{group}: {measure} (%)", Style.PERCENT, "more"): rate(measure) for measure in measures}
    return {steps: lambda one: one.rule_groups[group][Measure.STRICT_FVR].denominator, **rates}


_RULE_GROUPS = {**_of_group(RuleGroup.SEEN), **_of_group(RuleGroup.UNSEEN), **_of_group(RuleGroup.INVALID, ())}
_CHOICES = {
    Column(f"{choice} (%)", Style.PERCENT, "more", detail=choice is Choice.CERTIFIED_RIGHT): itemgetter(choice)
    for choice in Choice
}


def _pairwise(chosen: Results, resamples: int) -> Iterator[Table]:
    """The paired tests of every two systems that are compared, and the outputs that these leave out."""
    groups = dict(zip(chosen, _rivals(chosen), strict=True))
    pairs = [(one, other) for one, other in combinations(chosen, 2) if groups[one] == groups[other]]
    answers: list[tuple[Cell, ...]] = []
    rates: list[tuple[Cell, ...]] = []
    alone: list[tuple[Cell, ...]] = []
    errors: list[float] = []
    tested = (Measure.FVR, Measure.RVR)
    family = len(tested) * len(pairs)
    for pair in pairs:
        first, second = [chosen[key].rows for key in pair]
        systems = [key.system for key in pair]
        for measure, what in ((Measure.AVG, "right"), (Measure.RULE_VERIFIED, "right and rule-verified")):
            found = compare_answers(first, second, measure)
            answers.append((*systems, what, found.pairs, found.first_only, found.second_only, found.p))
        for measure, rate in compare_rates(first, second, tested, resamples=resamples, family=family).items():
            rates.append((*systems, measure.value, rate.problems, rate.of, rate.p))
            errors.append(rate.error)
        for rows, others, of in ((first, second, systems), (second, first, systems[::-1])):
            if single := sorted(rows.keys() - others.keys()):
                alone.append((*of, len(single), tuple([f"{problem}, sample {sample}" for problem, sample in single])))
    pairs_, problems, outputs, *only = [
        Column(name, Style.COUNT) for name in ("pairs", "problems", "outputs", "system only", "against only")
    ]
    difference = Column("difference (%)", Style.PERCENT)
    if answers:
        yield _tests("Paired answers", ("system", "against", "answers"), (pairs_, *only), answers)
    if rates:
        yield _tests("Paired rates", ("system", "against", "rate"), (problems, difference), rates, errors)
    if alone:
        names = [Column(name, Style.TEXT) for name in ("system", "lacking in", "for example")]
        yield Table("Outputs without a pair", (*names[:2], outputs, names[2]), tuple(alone))


def _tests(
    title: str,
    keys: Sequence[str],
    columns: Sequence[Column],
    rows: Sequence[tuple[Cell, ...]],
    errors: Sequence[float] = (),
) -> Table:
    """A table of tests, p in the last cell of a row; one more column corrects it for the number of tests.

    It has ``TOO_CLOSE`` where the error of p does not tell on which side of the level the corrected p is.
    """
    heads = (*[Column(key, Style.TEXT) for key in keys], *columns)
    corrected = holm([p for *_, p in rows if isinstance(p, float)])
    values = [Column(name, Style.PROBABILITY) for name in ("p", "p (Holm)")]
    shown: list[Cell] = list(corrected)
    for place, error in enumerate(errors):
        p = rows[place][-1]
        if isinstance(p, float) and too_close(p, error, family=len(rows)):
            shown[place] = TOO_CLOSE
    return Table(title, (*heads, *values), tuple([(*row, p) for row, p in zip(rows, shown, strict=True)]))


# -- all data sets ----------------------------------------------------------------------------------------------------


def _across(datasets: Iterable[str], results: Results) -> Table:
    """Accuracy, FVR and RVR, eligible and strict, of every system on every data set."""
    cells: dict[tuple[str, ...], dict[tuple[str, Measure], Estimate]] = {}
    for key, one in results.items():
        scores = {(key.dataset, measure): score for measure, score in one.metrics.overall.scores.items()}
        cells.setdefault(key[1:], {}).update(scores)
    columns = {
        Column(f"{name}: {measure} (%)", Style.PERCENT, "more"): methodcaller("get", (name, measure))
        for name in datasets
        for measure in (Measure.AVG, *RATES)
    }
    table = table_of("Across data sets", ("backbone", "method"), cells.items(), columns)
    return rank(table, _rivals([Key("", *system) for system in cells]))


# -- what goes wrong --------------------------------------------------------------------------------------------------


def diagnosis_tables(diagnosis: Diagnosis) -> Iterator[Table]:
    """The errors of one system, if it makes any: first errors, and entailed steps under a wrong rule."""
    if diagnosis.first_errors:
        yield _first_errors(diagnosis)
    if diagnosis.confusion:
        counts = diagnosis.remedies
        known = {remedy for _, remedy in counts}
        shown = [remedy for remedy in Remedy if remedy is not Remedy.UNDECIDED or remedy in known]
        reasons = sorted({reason for reason, _ in counts})
        rows = {reason.value: [counts[reason, remedy] for remedy in shown] for reason in reasons}
        yield count_table("Entailed under a wrong rule: what would have passed", "reason", shown, rows)
        declared, actual = confusion_axes(diagnosis)
        rows = {row: [diagnosis.confusion[row, name] for name in actual] for row in declared}
        title = "Entailed under a wrong rule: declared and actual rule"
        yield count_table(title, "declared", [name or NO_RULE for name in actual], rows)


def _first_errors(diagnosis: Diagnosis) -> Table:
    def row(error: str, rule: str, count: int, examples: Sequence[Example]) -> tuple[Cell, ...]:
        share = Estimate(count / diagnosis.outputs, count, diagnosis.outputs)
        return error, rule, count, share, tuple([of.place for of in examples]), tuple([of.step for of in examples])

    shown = diagnosis.first_errors.most_common(_SHOWN_ERRORS)
    rows = [row(code.value, rule, count, diagnosis.examples[code, rule]) for (code, rule), count in shown]
    others = diagnosis.first_errors.total() - sum(count for _, count in shown)
    if others:
        rows.append(row("(others)", "", others, ()))
    rows.append(row("(none)", "", diagnosis.flawless, ()))
    names = [Column(name, Style.TEXT) for name in ("error", "declared rule", "for example")]
    counts = (Column("outputs", Style.COUNT), Column("share (%)", Style.PERCENT))
    heads = (*names[:2], *counts, names[2], Column("its step", Style.TEXT, detail=True))
    return Table("First errors", heads, tuple(rows))


NO_RULE = "(no single rule)"
"""The name for a step that is an instance of no rule."""


def confusion_axes(diagnosis: Diagnosis) -> tuple[list[str], list[str | None]]:
    """The declared rules and the actual ones that occur, sorted; None, for no rule, comes last."""
    declared = sorted({name for name, _ in diagnosis.confusion})
    actual = {name for _, name in diagnosis.confusion}
    return declared, sorted(actual, key=lambda name: (name is None, name or ""))
