"""Studies: reading them, systems side by side with what is best marked, and what is said of one system."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from proof_r1_formal.data.completions import Completion, Cost
from proof_r1_formal.errors import DataError
from proof_r1_formal.evaluation import study_tables as tables_module
from proof_r1_formal.evaluation.assessment import Assessment, RuleGroup, assess, examine_many
from proof_r1_formal.evaluation.definition import Key, read_study
from proof_r1_formal.evaluation.diagnosis import Diagnosis, Example, Remedy
from proof_r1_formal.evaluation.measures import RATES, Estimate, Measure
from proof_r1_formal.evaluation.metrics_tables import SCORES
from proof_r1_formal.evaluation.paired import Difference
from proof_r1_formal.evaluation.study_tables import NO_RULE, detail_tables, diagnosis_tables, study_tables
from proof_r1_formal.evaluation.tables import Column, Mark, Style, Table, rank, to_csv, to_json, to_latex, to_markdown
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import Code
from proof_r1_formal.rules.catalogue import TRAIN, catalogue
from tests.build import action, completion, example_completions, example_problems

PROBLEMS = example_problems()
COMPLETIONS = example_completions()


def assessed(completions: list[Completion], *, rules: str = "train", resamples: int = 0) -> Assessment:
    examined = examine_many(PROBLEMS, completions, settings=Settings(rules=rules))
    return assess(PROBLEMS, examined, rules=catalogue(rules), seen=TRAIN, resamples=resamples)


def with_text(one: Completion, text: str) -> Completion:
    return structs.replace(one, completion=text)


@pytest.fixture(scope="module")
def results() -> dict[Key, Assessment]:
    """All examples; the first sample of each problem, with costs; and all of them on another data set."""
    first = [
        structs.replace(one, cost=Cost(tokens=10 + 10 * (n % 2), seconds=1.5, calls=1))
        for n, one in enumerate(COMPLETIONS)
        if one.sample == 0
    ]
    whole = assessed(COMPLETIONS)
    return {
        Key("garden", "small", "all"): whole,
        Key("garden", "small", "first"): assessed(first),
        Key("elsewhere", "small", "all"): whole,
    }


def table(results: Mapping[Key, Assessment], title: str) -> Table:
    return next(one for one in study_tables(results) if one.title == title)


# -- ranking ----------------------------------------------------------------------------------------------------------


def scores(*values: float | None) -> tuple[Estimate, ...]:
    return tuple([Estimate(value or 0.0, 1, 0 if value is None else 1) for value in values])


def test_the_best_and_the_second_best_of_each_group_are_marked() -> None:
    columns = (Column("name", Style.TEXT), Column("up", Style.PERCENT, "more"), Column("down", Style.RATIO, "less"))
    rows = [("a", 0.5, 3.0), ("b", 0.5004, 1.0), ("c", 0.3, 2.0), ("d", None, 2.0), ("e", 0.1, None)]
    rows.append(("alone", 0.9, 0.0))
    plain = Table("t", columns, tuple((name, *scores(up, down)) for name, up, down in rows))
    marked = rank(plain, ["x", "x", "x", "x", "x", "y"])
    assert marked.marks == {
        (0, 1): Mark.BEST,  # 50.0 and 50.0 look the same
        (1, 1): Mark.BEST,
        (2, 1): Mark.SECOND,  # nothing was counted for d, nor for e below: no score is not the least
        (1, 2): Mark.BEST,
        (2, 2): Mark.SECOND,
        (3, 2): Mark.SECOND,
    }
    assert replace(marked, marks={}) == plain
    assert "| b | **50.0** | **1.000** |" in to_markdown(marked)
    assert "| c | <u>30.0</u> | <u>2.000</u> |" in to_markdown(marked)
    assert r"b & \textbf{50.0} & \textbf{1.000} \\" in to_latex(marked)
    assert r"c & \underline{30.0} & \underline{2.000} \\" in to_latex(marked)


def test_csv_holds_every_number_and_survives_any_name() -> None:
    name = 'a, "b"\nc'
    columns = (Column("name", Style.TEXT), Column("score (%)", Style.PERCENT), Column("count", Style.COUNT))
    rows = ((name, Estimate(1 / 3, 1, 3, 0.1, (0.0, 0.5)), 3), ("x" * 99, None, 0))
    header, first, second = csv.reader(io.StringIO(to_csv(Table("t", columns, rows))))
    assert header[:3] == ["name", "score (%)", "score (%), spread"]
    assert first == ['a, "b"\N{REPLACEMENT CHARACTER}c', f"{100 * (1 / 3)}", "10.0", "0.0", "50.0", "1", "3", "3"]
    assert second == ["x" * 99, *[""] * 6, "0"]


# -- systems side by side ---------------------------------------------------------------------------------------------


def test_the_main_table_marks_the_best_scores(results: dict[Key, Assessment]) -> None:
    main = table(results, "Main results: garden")
    assert [column.name for column in main.columns] == [
        "backbone", "method", "K", "Avg@K (%)", "Pass@K (%)",
        "FVR (%)", "Strict FVR (%)", "RVR (%)", "Strict RVR (%)", "RGD",
    ]  # fmt: skip
    for row, key in zip(main.rows, [Key("garden", "small", "all"), Key("garden", "small", "first")], strict=True):
        expected = results[key].metrics.overall.scores
        assert row[2] == f"{results[key].metrics.samples}"
        assert row[3:] == tuple(expected[measure] for measure in SCORES)
    # Every first sample is right and verified; of all samples some are not.
    assert [main.marks[1, column] for column in (3, 5, 6, 7, 8)] == [Mark.BEST] * 5
    assert main.marks[0, 3] is Mark.SECOND
    assert not {(0, 4), (1, 4)} & set(main.marks)  # Pass@3 and Pass@1 are not the same score


def test_pass_is_compared_among_those_with_as_many_samples(results: dict[Key, Assessment]) -> None:
    results = {**results, Key("garden", "small", "all again"): results[Key("garden", "small", "all")]}
    main = table(results, "Main results: garden")
    assert [main.marks.get((row, 4)) for row in range(3)] == [Mark.BEST, None, Mark.BEST]
    same = table({key: one for key, one in results.items() if key.method != "first"}, "Main results: garden")
    assert [column.name for column in same.columns][2:4] == ["Avg@3 (%)", "Pass@3 (%)"]


def test_rgd_is_compared_among_those_that_leave_out_as_many(results: dict[Key, Assessment]) -> None:
    """A system that loses the outputs on a problem of medium difficulty has the best RGD of medium ones and of all."""
    silent = [with_text(one, "…") if one.problem_id == "garden/2" else one for one in COMPLETIONS]
    keys = [Key("garden", "small", name) for name in ("all", "lost")]
    lost = dict(zip(keys, (results[keys[0]], assessed(silent)), strict=True))
    main, by_difficulty = [table(lost, f"{name}: garden") for name in ("Main results", "By difficulty")]
    column = len(main.columns) - 1
    whole, rest = [row[column] for row in main.rows]
    assert isinstance(whole, Estimate)
    assert isinstance(rest, Estimate)
    assert (whole.denominator, rest.denominator, rest.value < whole.value) == (11, 8, True)
    assert not {(0, column), (1, column)} & set(main.marks)
    assert [n for n in range(6) if (n, column + 1) in by_difficulty.marks] == [0, 1]  # the easy ones
    again = table({**lost, Key("garden", "small", "again"): lost[keys[0]]}, "Main results: garden")
    assert [again.marks.get((row, column)) for row in range(3)] == [Mark.BEST, None, Mark.BEST]


def test_systems_are_tested_in_pairs_and_the_rest_is_named(results: dict[Key, Assessment]) -> None:
    answers = table(results, "Paired answers: garden")
    assert [column.name for column in answers.columns] == [
        "system", "against", "answers", "pairs", "system only", "against only", "p", "p (Holm)",
    ]  # fmt: skip
    pair = ("small / all", "small / first")
    assert answers.rows == ((*pair, "right", 6, 0, 0, 1.0, 1.0), (*pair, "right and rule-verified", 6, 0, 0, 1.0, 1.0))
    rates = table(results, "Paired rates: garden")
    assert [row[:4] for row in rates.rows] == [(*pair, "FVR", 6), (*pair, "RVR", 6)]
    (alone,) = table(results, "Outputs without a pair: garden").rows
    assert alone[:3] == (*pair, 6)
    assert isinstance(alone[3], tuple)
    assert alone[3][0] == "animals/1, sample 1"
    assert len(alone[3]) == 6
    assert not [one.title for one in study_tables(results) if "air" in one.title and "elsewhere" in one.title]


def test_systems_of_two_backbones_are_no_pair(results: dict[Key, Assessment]) -> None:
    """Unless each backbone has one system, as below."""
    known = results[Key("garden", "small", "all")]
    four = {Key("garden", backbone, method): known for backbone in ("small", "large") for method in ("all", "first")}
    rows = table(four, "Paired answers: garden").rows
    assert {row[:2] for row in rows} == {(f"{name} / all", f"{name} / first") for name in ("small", "large")}


def test_paired_tables_have_the_differences_and_correct_them(results: dict[Key, Assessment]) -> None:
    silent = [with_text(one, "…") for one in COMPLETIONS]
    keys = [Key("garden", f"backbone {n}", "m") for n in range(2)]
    worse = dict(zip(keys, (results[Key("garden", "small", "all")], assessed(silent)), strict=True))
    answers = table(worse, "Paired answers: garden")
    # 11 of 12 are right, and 9 right and rule-verified, against none
    assert [row[3:] for row in answers.rows] == [(12, 11, 0, 2**-10, 2**-9), (12, 9, 0, 2**-8, 2**-8)]
    assert "| 11 | 0 | <0.001 | 0.002 |".replace("<", "\\<") in to_markdown(answers)
    assert r"& 11 & 0 & \textless{}0.001 & 0.002 \\" in to_latex(answers)
    assert to_csv(answers).splitlines()[1].endswith(f",12,11,0,{2**-10},{2**-9}")
    assert json.loads(to_json([answers]))[0]["rows"][0]["p"] == 2**-10
    title = "Paired rates: garden"
    fewer = [one for one in study_tables(worse, resamples=99) if one.title == title]
    for one in (table(worse, title), fewer[0]):
        fvr, rvr = one.rows
        assert isinstance(fvr[3], int)
        least = 2 / 2 ** fvr[3]
        assert (fvr[5], fvr[6], rvr[6]) == (least, 2 * least, 2 * least)
        assert isinstance(fvr[4], Estimate)
        assert fvr[4].value == worse[keys[0]].metrics.overall.scores[Measure.FVR].value
    assert not [one for one in study_tables(worse) if one.title.startswith("Outputs without")]


def test_a_corrected_p_that_draws_do_not_decide_is_not_shown(
    results: dict[Key, Assessment], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Difference(6, Estimate(0.1, 0.1, 1), 0.025, 0.0001)
    monkeypatch.setattr(tables_module, "compare_rates", lambda *_, **__: {Measure.FVR: found, Measure.RVR: found})
    rates = table(results, "Paired rates: garden")
    assert [row[-2:] for row in rates.rows] == [(0.025, "too close to call")] * 2
    assert "| 0.025 | too close to call |" in to_markdown(rates)


def test_across_data_sets_a_system_without_completions_has_a_gap(results: dict[Key, Assessment]) -> None:
    across = table(results, "Across data sets")
    assert across.rows[1][:2] == ("small", "first")
    assert across.rows[1][7:] == (None,) * 5
    assert json.loads(to_json([across]))[0]["rows"][1]["elsewhere: Avg (%)"] is None


def test_costs_are_averages_over_the_responses_that_state_them(results: dict[Key, Assessment]) -> None:
    costs = table(results, "Cost of a response: garden")
    assert not any(isinstance(cell, Estimate) and cell.is_defined for cell in costs.rows[0])
    assert "| small | all | – | – | – |" in to_markdown(costs)
    tokens, seconds, calls = costs.rows[1][2:]
    count = sum(one.sample == 0 for one in COMPLETIONS)
    total = sum(10 + 10 * (n % 2) for n, one in enumerate(COMPLETIONS) if one.sample == 0)
    assert isinstance(tokens, Estimate)
    assert (tokens.numerator, tokens.denominator) == (total, count)
    assert isinstance(seconds, Estimate)
    assert isinstance(calls, Estimate)
    assert (seconds.value, calls.value) == (1.5, 1)


def steps(group: Mapping[Measure, Estimate]) -> float:
    return group[Measure.STRICT_RVR].denominator


def test_steps_are_grouped_by_declared_rules() -> None:
    """Seen and unseen steps and those without a rule are all the steps, and their scores are those of the whole."""
    assert steps(assessed(COMPLETIONS, rules="folio").rule_groups[RuleGroup.UNSEEN]) == 0
    rule = '"IMPLICATION_ELIMINATION"'
    renamed = [with_text(one, one.completion.replace(rule, '"EXISTENTIAL_INTRODUCTION"', 1)) for one in COMPLETIONS]
    changed = assessed(renamed, rules="folio")
    groups, overall = changed.rule_groups, changed.metrics.overall
    certain = [one for one in COMPLETIONS if PROBLEMS[one.problem_id].answer != "h_goal_uncertain"]
    assert steps(groups[RuleGroup.UNSEEN]) == sum(rule in one.completion for one in certain)
    assert sum(map(steps, groups.values())) == sum(counts.steps for counts in overall.rules.values())
    for measure in RATES:
        parts = [group[measure] for group in groups.values()]
        assert sum(part.numerator for part in parts) == overall.scores[measure].numerator
        assert sum(part.denominator for part in parts) == overall.scores[measure].denominator
    unseen = groups[RuleGroup.UNSEEN]
    assert unseen[Measure.RVR].value == 0 < unseen[Measure.FVR].value  # none is an instance of the new name
    (shown,) = [one for one in detail_tables({Key("d", "", "m"): changed}) if one.title.startswith("Rules seen")]
    assert shown.rows[0][6] == steps(unseen)


def test_rules_of_formless_steps_are_not_unseen() -> None:
    rules = ("BECAUSE_I_SAY_SO", "ANOTHER", "IMPLICATION_ELIMINATION")
    actions = [action(f"s{n}", "waters(", "h1", rule=rule) for n, rule in enumerate(rules)]
    groups = assessed([Completion(problem_id="garden/1", completion=completion(*actions))]).rule_groups
    assert [steps(groups[of]) for of in (RuleGroup.SEEN, RuleGroup.UNSEEN, RuleGroup.INVALID)] == [1, 0, 2]
    assert not groups[RuleGroup.UNSEEN][Measure.FVR].is_defined


def test_names_of_systems_that_read_alike_are_told_apart(results: dict[Key, Assessment]) -> None:
    one = results[Key("garden", "small", "all")]
    keys = [Key("garden", "a / b", "c"), Key("garden", "a", "b / c")]
    steps = table(dict.fromkeys(keys, one), "Steps: garden")
    assert [column.name for column in steps.columns[1:]] == ["'a / b' / c", "a / 'b / c'"]


def test_examples_of_first_errors_in_each_format() -> None:
    wrong = next(one for one in COMPLETIONS if one.problem_id == "garden/1")
    text = wrong.completion.replace('"conclusion": "', '"conclusion": "¬', 1)
    several = [Completion(problem_id="garden/1", sample=n, completion=text) for n in range(4)]
    (errors,) = [one for one in diagnosis_tables(assessed(several).diagnosis) if one.title == "First errors"]
    row = json.loads(to_json([errors]))[0]["rows"][0]
    assert row["for example"] == [f"garden/1, sample {n}, step 1" for n in range(3)]
    assert len(row["its step"]) == 3
    assert "garden/1, sample 0, step 1" in to_markdown(errors)
    assert "sample 1" not in to_markdown(errors)
    assert "sample 0" in to_csv(errors)


def test_tables_of_errors_have_the_numbers_of_the_diagnosis() -> None:
    """Reasons and rules are sorted by name, first errors by number; steps that no rule admits come last."""
    rules = ("B_RULE", "A_RULE", None, "C_RULE")
    found = Diagnosis(
        outputs=16,
        flawless=1,
        confusion=Counter({("MINE", name): n for n, name in enumerate(rules, 1)}),
        remedies=Counter(
            {
                (Code.UNKNOWN_RULE, Remedy.ANOTHER_RULE): 3,
                (Code.RULE_UNTRUSTED_DEPENDENCY, Remedy.DEPENDENCIES_VERIFIED): 2,
                (Code.NO_RULE_MATCH, Remedy.SEVERAL_STEPS): 5,
                (Code.NO_RULE_MATCH, Remedy.ANOTHER_RULE): 1,
            }
        ),
        first_errors=Counter({(Code.NOT_ENTAILED, f"RULE_{n}"): 1 + (n == 7) for n in range(14)}),
    )
    found.examples[Code.NOT_ENTAILED, "RULE_7"] = [Example("here", "A from h1"), Example("there", "B from h2")]
    errors, remedies, confusion = diagnosis_tables(found)
    assert [(column.name, column.style) for column in errors.columns[2:4]] == [
        ("outputs", Style.COUNT),
        ("share (%)", Style.PERCENT),
    ]
    share = Estimate(2 / 16, 2, 16)
    assert errors.rows[0] == ("NOT_ENTAILED", "RULE_7", 2, share, ("here", "there"), ("A from h1", "B from h2"))
    assert [row[:4] for row in errors.rows[-2:]] == [
        ("(others)", "", 2, Estimate(2 / 16, 2, 16)),
        ("(none)", "", 1, Estimate(1 / 16, 1, 16)),
    ]
    assert len(errors.rows) == 14
    shown = [column.name for column in remedies.columns[1:]]
    assert [(row[0], dict(zip(shown, row[1:], strict=True))) for row in remedies.rows] == [
        (reason.value, {name: found.remedies[reason, Remedy(name)] for name in shown})
        for reason in (Code.NO_RULE_MATCH, Code.RULE_UNTRUSTED_DEPENDENCY, Code.UNKNOWN_RULE)
    ]
    assert [column.name for column in confusion.columns] == ["declared", "A_RULE", "B_RULE", "C_RULE", NO_RULE]
    assert confusion.rows == (("MINE", 2, 1, 4, 3),)


def test_bootstrap_intervals_reach_the_tables() -> None:
    results = {Key("garden", "", "all"): assessed(COMPLETIONS, resamples=50)}
    cell = table(results, "Main results: garden").rows[0][2]
    assert isinstance(cell, Estimate)
    assert cell.interval is not None
    assert "[" in to_latex(table(results, "Main results: garden"))


# -- files ------------------------------------------------------------------------------------------------------------

STUDY = """
[datasets.A]
problems = "a.jsonl"
[datasets.B]
problems = "sub/b.jsonl"
rules = "folio"
[[systems]]
backbone = "small"
method = "one"
completions = { B = "sub/one-b.jsonl", A = "one-a.jsonl" }
[[systems]]
backbone = "small"
method = "two"
completions = { A = ["two-a.jsonl", "more.jsonl"] }
"""


def test_a_study_names_its_files_relative_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    study = read_study(path)
    assert study.files() == {
        Key("A", "small", "one"): (tmp_path / "one-a.jsonl",),
        Key("A", "small", "two"): (tmp_path / "two-a.jsonl", tmp_path / "more.jsonl"),
        Key("B", "small", "one"): (tmp_path / "sub" / "one-b.jsonl",),
    }
    assert (study.datasets["B"].problems, study.datasets["B"].rules) == (tmp_path / "sub/b.jsonl", "folio")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("B = ", "C = "), "'C'"),
        (('"two"\n', '"one"\n'), "small / one is there 2 times"),
        (("method", "methud"), "methud"),
        (("[datasets.A]", "[datasets.A"), "line 2"),
        (('problems = "a.jsonl"', "problems = 1"), "$.datasets"),
        (('["two-a.jsonl", "more.jsonl"]', "[]"), "$.systems"),
    ],
)
def test_a_study_that_cannot_be_meant_is_refused(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace(*change, 1), encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_study(path)
    assert told in str(error.value)


def test_only_small_probabilities_are_shown_as_smaller() -> None:
    """A share of nothing is 0.0 %, and one of 0.05 % is rounded like any other."""
    columns = tuple([Column(style.name.lower(), style) for style in (Style.PROBABILITY, Style.PERCENT, Style.RATIO)])
    shown = to_markdown(Table("t", columns, ((0.0, 0.0, 0.0), (0.0005, 0.0006, 0.0006)))).splitlines()[-2:]
    assert shown == [r"| \<0.001 | 0.0 | 0.000 |", r"| \<0.001 | 0.1 | 0.001 |"]
