"""Assessments of systems and data sets side by side, as tables.

In: an :class:`~proof_r1_formal.evaluation.assessment.Assessment` for each system and data set. Out: tables with a row
for each system, for every data set and across them; and what goes wrong, system by system. Of systems with one
backbone the best scores are bold and the second best underlined; of all, where no backbone has two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

from proof_r1_formal.evaluation.assessment import Assessment, RuleGroup
from proof_r1_formal.evaluation.definition import Key
from proof_r1_formal.evaluation.diagnosis import Diagnosis, Example, Remedy
from proof_r1_formal.evaluation.measures import Estimate, Group, Measure
from proof_r1_formal.evaluation.metrics_tables import (
    ANSWERS,
    COUNTS,
    SCORES,
    UNCERTAIN,
    Columns,
    conventions,
    difficulties,
    group_table,
    left_out_table,
    score_columns,
    steps_table,
)
from proof_r1_formal.evaluation.paired import RESAMPLES, compare_answers, compare_rates, holm
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table, ranked

SHOWN_ERRORS = 12
"""How many kinds of first errors a table has, the most frequent ones."""

Results: TypeAlias = Mapping[Key, Assessment]


def study_tables(results: Results, *, resamples: int = RESAMPLES) -> tuple[Table, ...]:
    """All tables of a study: those of each data set, those across data sets, and the diagnosis of each system.

    Args:
        results: of every system on every data set.
        resamples: of the paired tests of rates.
    """
    datasets = list(dict.fromkeys(key.dataset for key in results))
    tables = []
    for name in datasets:
        chosen = {key: one for key, one in results.items() if key.dataset == name}
        found = (*_scores(chosen), *_paired(chosen, resamples), *detail_tables(chosen))
        tables += [replace(table, title=f"{table.title}: {name}") for table in found]
    if len(datasets) > 1:
        tables.append(_across(datasets, results))
    for system, diagnosis in by_system(results).items():
        tables += [replace(table, title=f"{table.title}: {system}") for table in diagnosis_tables(diagnosis)]
    return tuple(tables)


def by_system(results: Results) -> dict[str, Diagnosis]:
    """What goes wrong with each system, on all data sets together."""
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
    shown = f"{counts[0]}" if same else "K"

    def scores(measures: Iterable[Measure]) -> Columns:
        return score_columns(measures, samples=shown, length_unit="characters")

    passes, distance = scores((Measure.PASS, Measure.RGD))

    def apart(groups: Iterable[Group], counts: Sequence[int]) -> dict[str, Sequence[float]]:
        """Neither Pass of more samples nor RGD that leaves out more outputs is a better score."""
        return {passes.name: counts, distance.name: [group.scores[Measure.RGD].denominator for group in groups]}

    headings = ("backbone", "method", *(() if same else ("K",)))
    systems = {
        key: (key.backbone, key.method, *(() if same else (f"{k}",))) for key, k in zip(chosen, counts, strict=True)
    }
    rows = [(systems[key], group) for key, group in overall.items()]
    title = f"Main results{conventions(next(iter(chosen.values())).metrics)}"
    table = group_table(title, headings, rows, scores(SCORES))
    yield ranked(table, _compared(chosen), apart=apart(overall.values(), counts))
    split = {key: dict(difficulties(one.metrics)) for key, one in chosen.items()}
    names = list(next(iter(split.values())))
    if len(names) > 2:  # more than one, and all together
        rows = [((name, *systems[key]), split[key][name]) for name in names for key in chosen]
        table = group_table("By difficulty", ("difficulty", *headings), rows, scores(SCORES))
        groups = [(name, of) for name in names for of in _compared(chosen)]
        yield ranked(table, groups, apart=apart([group for _, group in rows], counts * len(names)))
    yield _table("Answers and proofs", overall, scores(ANSWERS))
    yield _table("Outputs", overall, {**COUNTS, **scores((Measure.PARSED, Measure.RESPONSE_LENGTH))})
    if any(group.uncertain.outputs for group in overall.values()):
        yield _table("Problems whose label is Uncertain", overall, UNCERTAIN)
    yield steps_table({key.system: group for key, group in overall.items()})
    failures = [one.failures for one in chosen.values()]
    yield left_out_table({key.system: one.metrics for key, one in chosen.items()}, failures=failures)


def _table(title: str, groups: Mapping[Key, Group], columns: Columns) -> Table:
    rows = [((key.backbone, key.method), group) for key, group in groups.items()]
    return ranked(group_table(title, ("backbone", "method"), rows, columns), _compared(groups))


def _compared(keys: Iterable[Key]) -> list[str]:
    """What the row of each system is compared with."""
    backbones = [key.backbone for key in keys]
    several = max(Counter(backbones).values(), default=0) > 1
    return backbones if several else ["" for _ in backbones]


def detail_tables(chosen: Results) -> Iterator[Table]:
    """What else is known of systems on one data set, as far as there is something to say.

    Rules that training had not, what responses cost, and how good the choice among samples by evidence is.
    """
    if any(one.rule_groups[RuleGroup.UNSEEN].steps for one in chosen.values()):
        yield _systems("Rules seen and unseen in training", chosen, _RULE_GROUPS)
    if any(one.costs.tokens.is_defined or one.costs.seconds.is_defined for one in chosen.values()):
        yield _systems("Cost of a response", chosen, _COSTS)
    if any(one.metrics.samples > 1 for one in chosen.values()):
        yield _systems("Best of K by evidence", chosen, _CHOICES)


def _paired(chosen: Results, resamples: int) -> Iterator[Table]:
    """The paired tests of every two systems that are compared, and the outputs that these leave out."""
    groups = dict(zip(chosen, _compared(chosen), strict=True))
    pairs = [(one, other) for one, other in combinations(chosen, 2) if groups[one] == groups[other]]
    if not pairs:
        return
    names = (Column("system", Style.TEXT), Column("against", Style.TEXT))
    answers: list[tuple[tuple[Cell, ...], float]] = []
    rates: list[tuple[tuple[Cell, ...], float]] = []
    alone: list[tuple[Cell, ...]] = []
    for pair in pairs:
        first, second = [chosen[key].rows for key in pair]
        systems = [key.system for key in pair]
        for measure, what in ((Measure.AVG, "right"), (Measure.RULE_VERIFIED, "right and rule-verified")):
            tested = compare_answers(first, second, measure)
            answers.append(((*systems, what, tested.pairs, tested.first_only, tested.second_only), tested.p))
        for measure, found in compare_rates(first, second, (Measure.FVR, Measure.RVR), resamples=resamples).items():
            rates.append(((*systems, measure.value, found.problems, found.of), found.p))
        for rows, others, of in ((first, second, systems), (second, first, systems[::-1])):
            if single := sorted(rows.keys() - others.keys()):
                alone.append((*of, len(single), tuple([f"{problem}, sample {sample}" for problem, sample in single])))
    only = [Column(f"{what} only", Style.COUNT) for what in ("system", "against")]
    counts = (Column("answers", Style.TEXT), Column("pairs", Style.COUNT), *only)
    yield _tested("Paired answers", (*names, *counts), answers)
    if rates:
        difference = Column("difference (%)", Style.PERCENT)
        columns = (Column("rate", Style.TEXT), Column("problems", Style.COUNT), difference)
        yield _tested("Paired rates", (*names, *columns), rates)
    if alone:
        rest = (Column("outputs", Style.COUNT), Column("for example", Style.TEXT))
        yield Table(
            "Outputs without a pair",
            (Column("system", Style.TEXT), Column("lacking in", Style.TEXT), *rest),
            tuple(alone),
        )


def _tested(title: str, columns: Sequence[Column], tests: Sequence[tuple[tuple[Cell, ...], float]]) -> Table:
    """A table of tests, each with its p-value, and with one corrected for the number of tests in the table."""
    corrected = holm([p for _, p in tests])
    rows = [(*cells, p, adjusted) for (cells, p), adjusted in zip(tests, corrected, strict=True)]
    return Table(title, (*columns, *[Column(name, Style.PROBABILITY) for name in ("p", "p (Holm)")]), tuple(rows))


_AssessmentColumns: TypeAlias = Mapping[Column, Callable[[Assessment], Cell]]


def _rule_group_columns(group: RuleGroup) -> _AssessmentColumns:
    def percent(name: str) -> Column:
        return Column(f"{group}: {name} (%)", Style.PERCENT, "more")

    return {
        Column(f"{group}: steps", Style.COUNT): lambda one: one.rule_groups[group].steps,
        percent("FVR"): lambda one: one.rule_groups[group].fvr,
        percent("Strict FVR"): lambda one: one.rule_groups[group].strict_fvr,
        percent("RVR"): lambda one: one.rule_groups[group].rvr,
        percent("Strict RVR"): lambda one: one.rule_groups[group].strict_rvr,
    }


_RULE_GROUPS: _AssessmentColumns = {
    **_rule_group_columns(RuleGroup.SEEN),
    **_rule_group_columns(RuleGroup.UNSEEN),
    Column("no known rule: steps", Style.COUNT): lambda one: one.rule_groups[RuleGroup.INVALID].steps,
}
_COSTS: _AssessmentColumns = {
    Column("tokens", Style.LENGTH, "less"): lambda one: one.costs.tokens,
    Column("seconds", Style.LENGTH, "less"): lambda one: one.costs.seconds,
    Column("calls", Style.LENGTH, "less"): lambda one: one.costs.calls,
}
_CHOICES: _AssessmentColumns = {
    Column("certified (%)", Style.PERCENT, "more"): lambda one: one.chosen.certified,
    Column("certified and right (%)", Style.PERCENT, "more", detail=True): lambda one: one.chosen.certified_right,
    Column("by evidence (%)", Style.PERCENT, "more"): lambda one: one.chosen.by_evidence,
    Column("by vote (%)", Style.PERCENT, "more"): lambda one: one.chosen.by_vote,
    Column("first sample (%)", Style.PERCENT, "more"): lambda one: one.chosen.first,
    Column("any sample (%)", Style.PERCENT, "more"): lambda one: one.chosen.possible,
}


def _systems(title: str, chosen: Results, columns: _AssessmentColumns) -> Table:
    """A table with a row for each system."""
    named = any(key.backbone for key in chosen)  # or there is one system, and nobody said what it is
    headings = ("backbone", "method") if named else ("completions",)
    keys = [Column(heading, Style.TEXT) for heading in headings]
    rows = [(*key[-len(headings) :], *[cell(one) for cell in columns.values()]) for key, one in chosen.items()]
    return ranked(Table(title, (*keys, *columns), tuple(rows)), _compared(chosen))


# -- all data sets ----------------------------------------------------------------------------------------------------


def _across(datasets: Iterable[str], results: Results) -> Table:
    """Accuracy, FVR and RVR, eligible and strict, of every system on every data set."""
    measures = (Measure.AVG, Measure.FVR, Measure.STRICT_FVR, Measure.RVR, Measure.STRICT_RVR)
    systems = list(dict.fromkeys((key.backbone, key.method) for key in results))

    def cells(backbone: str, method: str) -> Iterator[Cell]:
        for dataset in datasets:
            one = results.get(Key(dataset, backbone, method))
            yield from [None if one is None else one.metrics.overall.scores[measure] for measure in measures]

    table = Table(
        "Across data sets",
        (
            Column("backbone", Style.TEXT),
            Column("method", Style.TEXT),
            *[Column(f"{name}: {m} (%)", Style.PERCENT, "more") for name in datasets for m in measures],
        ),
        tuple([(backbone, method, *cells(backbone, method)) for backbone, method in systems]),
    )
    return ranked(table, _compared([Key("", *system) for system in systems]))


# -- what goes wrong --------------------------------------------------------------------------------------------------


def diagnosis_tables(diagnosis: Diagnosis) -> Iterator[Table]:
    """What goes wrong with one system, if anything does: first errors, and entailed steps under a wrong rule."""
    if diagnosis.first_errors:
        yield _first_errors(diagnosis)
    if diagnosis.confusion:
        yield _remedies(diagnosis)
        yield _confusion(diagnosis)


def _first_errors(diagnosis: Diagnosis) -> Table:
    def row(error: str, rule: str, count: int, examples: Sequence[Example]) -> tuple[Cell, ...]:
        share = Estimate(count / diagnosis.outputs, count, diagnosis.outputs)
        return error, rule, count, share, tuple([of.place for of in examples]), tuple([of.step for of in examples])

    shown = diagnosis.first_errors.most_common(SHOWN_ERRORS)
    rows = [row(code.value, rule, count, diagnosis.examples[code, rule]) for (code, rule), count in shown]
    others = diagnosis.first_errors.total() - sum(count for _, count in shown)
    if others:
        rows.append(row("(others)", "", others, ()))
    rows.append(row("(none)", "", diagnosis.flawless, ()))
    return Table(
        "First errors",
        (
            Column("error", Style.TEXT),
            Column("declared rule", Style.TEXT),
            Column("outputs", Style.COUNT),
            Column("share (%)", Style.PERCENT),
            Column("for example", Style.TEXT),
            Column("its step", Style.TEXT, detail=True),
        ),
        tuple(rows),
    )


def _remedies(diagnosis: Diagnosis) -> Table:
    reasons = dict.fromkeys(reason for reason, _ in diagnosis.remedies)
    known = {remedy for _, remedy in diagnosis.remedies}
    shown = [remedy for remedy in Remedy if remedy is not Remedy.UNDECIDED or remedy in known]
    return Table(
        "Entailed under a wrong rule: what would have passed",
        (Column("reason", Style.TEXT), *[Column(remedy, Style.COUNT) for remedy in shown]),
        tuple((reason.value, *[diagnosis.remedies[reason, remedy] for remedy in shown]) for reason in sorted(reasons)),
    )


def _confusion(diagnosis: Diagnosis) -> Table:
    declared, actual = confusion_axes(diagnosis)
    return Table(
        "Entailed under a wrong rule: declared and actual rule",
        (Column("declared", Style.TEXT), *[Column(name or NO_RULE, Style.COUNT) for name in actual]),
        tuple((row, *[diagnosis.confusion[row, name] for name in actual]) for row in declared),
    )


NO_RULE = "(no single rule)"
"""What stands for a step that is an instance of no rule."""


def confusion_axes(diagnosis: Diagnosis) -> tuple[list[str], list[str | None]]:
    """The declared rules and the actual ones that occur, sorted; None, for no rule, comes last."""
    declared = sorted({name for name, _ in diagnosis.confusion})
    actual = {name for _, name in diagnosis.confusion}
    return declared, [*sorted(name for name in actual if name is not None), *([None] if None in actual else [])]
