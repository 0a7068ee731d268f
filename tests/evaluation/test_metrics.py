"""Metrics: a worked example with numbers computed by hand, properties, and the tables in four formats."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from proof_r1_formal import verify
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem, ReferenceStep, three_way_options
from proof_r1_formal.evaluation.assessment import assess, examine_many
from proof_r1_formal.evaluation.measures import (
    RATES,
    Contract,
    Estimate,
    Exclusion,
    Measure,
    Metrics,
    RuleCounts,
    StepOutcome,
)
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.evaluation.metrics_tables import metrics_tables
from proof_r1_formal.evaluation.outcomes import isolate_array
from proof_r1_formal.evaluation.summary import Summary
from proof_r1_formal.evaluation.tables import to_csv, to_json, to_latex, to_markdown
from proof_r1_formal.evaluation.terminal import to_rich
from proof_r1_formal.kernel.answer import Refuted
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.proof.answer import answer_findings, is_verified
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import Code, Finding, StepReport, TraceReport
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import INVALID_RULE
from proof_r1_formal.text.parse import parse_formula
from tests import build
from tests.build import STEP, TRACE, action, completion

RULE = "IMPLICATION_ELIMINATION"
TRUE = three_way_options(parse_formula("A"))[0]


def problem(name: str, difficulty: str = "easy", answer: str | None = "h_goal_true", steps: int | None = 2) -> Problem:
    proof = [ReferenceStep(f"s{n}", (), "A", RULE) for n in range(steps or 0)]
    binding = ReferenceStep("h_goal_true", (), "A", "GOAL_BINDING")
    proofs = () if steps is None else ((*proof, binding),)
    return Problem(name, (), three_way_options(parse_formula("A")), answer, "", difficulty, proofs)


CODES = {
    "v": (),
    "r": (Code.NO_RULE_MATCH,),
    "n": (Code.NOT_ENTAILED, Code.NO_RULE_MATCH),
    "u": (Code.UNTRUSTED_DEPENDENCY,),
    "R": (Code.RULE_UNTRUSTED_DEPENDENCY,),
    "m": (Code.MISSING_DEPENDENCY,),
    "p": (Code.UNPARSABLE_CONCLUSION,),
    "d": (Code.DUPLICATE_ID,),
    "?": (Code.UNDECIDED,),
}
"""The findings of a step that is verified, entailed but no instance, not entailed, …"""


def step(kind: str, *codes: Code, name: str = "s", terminal: bool = False, inside: bool = True) -> StepReport:
    """A step of a kind, with the findings ``codes`` or else those of its kind."""
    return msgspec.structs.replace(
        STEP,
        id=name,
        declared_rule="GOAL_BINDING" if terminal else RULE,
        schema=kind not in "pd",
        semantic=kind in "vrR",
        rule=kind == "v",
        progress=kind == "v",
        in_closure=inside,
        terminal=terminal,
        findings=tuple([Finding(code, "") for code in codes or CODES[kind]]),
    )


def test_difficulties_are_in_their_usual_order() -> None:
    known = {name: problem(name, name) for name in ("odd", "hard", "easy", "even", "medium")}
    assert list(evaluate_metrics(known, []).difficulties) == ["easy", "medium", "hard", "odd", "even"]


def report(name: str, sample: int, kinds: str, *, right: bool = True, parsed: bool = True) -> TraceReport:
    """One step per letter, the last one terminal; an upper-case X before a letter puts it outside the closure."""
    steps = []
    letters = list(kinds)
    while letters:
        letter = letters.pop(0)
        inside = letter != "X"
        letter = letter if inside else letters.pop(0)
        name_of_step = "s" if letters or not right else TRUE.id
        steps.append(step(letter, name=name_of_step, terminal=not letters and inside, inside=inside))
    option = TRUE if right else None
    findings = tuple(answer_findings(option, steps, Refuted(), None))
    return msgspec.structs.replace(
        TRACE,
        problem_id=name,
        sample=sample,
        parsed=parsed,
        answer=None if option is None else option.id,
        answer_correct=right,
        actions=tuple(steps),
        verified=is_verified(findings),
        rule_verified=not findings,
        findings=findings,
    )


def parts(metrics: Metrics, *measures: Measure) -> list[tuple[float, float]]:
    scores = metrics.overall.scores
    return [(scores[measure].numerator, scores[measure].denominator) for measure in measures]


PROBLEMS = {p.id: p for p in (problem("a"), problem("b"), problem("c", "hard", steps=3))}

# K = 2 samples:       right  steps              closure without the terminal step / reference
REPORTS = [
    report("a", 0, "vvv"),  # yes   3 of 3 verified    2 / 2
    report("a", 1, "vnu", right=False),  # no    1 of 2, cascade 1  2 / 2
    report("b", 0, "vXrrR"),  # yes   4 of 4 entailed    2 / 2; as rules 1 of 3, cascade 1
    report("b", 1, "p", right=False, parsed=False),  # not parsed: generated 0 / 2
    report("c", 0, "vmv"),  # yes   2 of 3             2 / 3
    report("c", 1, "?dv"),  # yes   1 of 3             2 / 3
]


def test_worked_example() -> None:
    metrics = evaluate_metrics(PROBLEMS, REPORTS)
    scores = metrics.overall.scores
    assert metrics.samples == 2
    # right: a0, b0, c0, c1 of six outputs; every problem has a right answer
    assert parts(metrics, Measure.AVG, Measure.PASS) == [(4, 6), (3, 3)]
    # entailed: 3 + 1 + 4 + 2 + 1 = 11 of 3 + 2 + 4 + 3 + 3 = 15 steps that are no cascade, of 16 in all
    # instances: 3 + 1 + 1 + 2 + 1 = 8 of 3 + 2 + 3 + 3 + 3 = 14, of 16 in all
    assert parts(metrics, *RATES) == [(11, 15), (11, 16), (8, 14), (8, 16)]
    # |ln(2/2)| three times, |ln(2/3)| twice, over five outputs: b1 is not parsed
    assert scores[Measure.RGD].value == pytest.approx(2 * math.log(1.5) / 5)
    # the closures of a0 and b0 are entailed, that of a0 also by rules; c0 and c1 rest on steps that are not
    assert (scores[Measure.VERIFIED].numerator, scores[Measure.RULE_VERIFIED].numerator) == (2, 1)
    assert scores[Measure.PARSED].value == pytest.approx(5 / 6)
    # Avg over samples: 3/3 and 1/3, so the standard deviation (n - 1) is sqrt(2)/3
    assert scores[Measure.AVG].spread == pytest.approx(math.sqrt(2) / 3)
    assert metrics.overall.steps == {
        StepOutcome.VERIFIED: 11,
        StepOutcome.NOT_ENTAILED: 1,
        StepOutcome.UNTRUSTED_DEPENDENCY: 1,
        StepOutcome.MALFORMED_SUMMARY: 1,
        StepOutcome.MALFORMED_STEP: 0,
        StepOutcome.UNPARSABLE_FORMULA: 0,
        StepOutcome.DUPLICATE_ID: 1,
        StepOutcome.MISSING_DEPENDENCY: 1,
        StepOutcome.UNDECIDED: 1,
    }
    assert {name: group.problems for name, group in metrics.difficulties.items()} == {"easy": 2, "hard": 1}
    for write in (to_markdown, to_latex):
        assert all(rate in write(metrics_tables(metrics)[0]) for rate in ("73.3", "68.8", "57.1", "100.0"))


def test_problems_with_fewer_samples_are_counted() -> None:
    found = evaluate_metrics(PROBLEMS, REPORTS)
    assert found.overall.incomplete == 0
    found = evaluate_metrics(PROBLEMS, [*REPORTS[:3], REPORTS[4]])  # one sample of b, and one of c
    assert (found.samples, found.overall.incomplete, found.overall.absent) == (2, 2, 0)
    assert {name: group.incomplete for name, group in found.difficulties.items()} == {"easy": 1, "hard": 1}
    assert evaluate_metrics(PROBLEMS, REPORTS[:1]).overall.incomplete == 0  # K is the largest number of samples


def test_the_reference_drops_unresolved_dependencies() -> None:
    metrics = evaluate_metrics(PROBLEMS, REPORTS, eligibility="reference")
    assert metrics.eligibility == "reference"
    # c0's second step cites a name that does not exist: in no denominator there, in both by default
    assert parts(metrics, *RATES) == [(11, 14), (11, 16), (8, 13), (8, 16)]


@pytest.mark.parametrize("name", ["nothing", "s2", "h_goal_true", "h_goal_false"])
def test_a_leap_cannot_leave_the_denominators_by_what_it_cites(name: str) -> None:
    """A wrong step counts in FVR and RVR whether it cites what is there or nothing, itself or a later action."""
    case = build.problem("P(a)", "P(a) → Q(a)", goal="R(a)")
    for cites in (["s1"], ["s1", name]):
        actions = [action("s1", "Q(a)", "h1", "h2"), action("s2", "R(a)", *cites)]
        text = completion(*actions, action("h_goal_true", "R(a)", "s2", rule="GOAL_BINDING"))
        metrics = evaluate_metrics({case.id: case}, [verify(case, text)])
        assert parts(metrics, *RATES) == [(1, 2), (1, 3), (1, 2), (1, 3)]


def test_an_answer_without_closure_is_right_but_not_verified() -> None:
    metrics = evaluate_metrics(PROBLEMS, [report("a", 0, "XvXv")])
    assert parts(metrics, Measure.AVG, Measure.VERIFIED) == [(1, 1), (0, 1)]


def test_which_lengths_are_compared() -> None:
    long, short = problem("a", steps=4).proofs[0], problem("a", steps=2).proofs[0]
    problems = {"a": replace(problem("a"), proofs=(long, short, long))}
    # 1 step of 2, then 0 (although the stand-in reports three steps inside the closure) of 2
    reports = [report("a", 0, "vv"), report("a", 1, "vvvv", parsed=False)]
    metrics = evaluate_metrics(problems, reports)
    assert parts(metrics, Measure.LENGTH_RATIO) == [(1, 4)]
    assert metrics.overall.scores[Measure.RGD].value == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("generated", "proof", "distance"),
    [
        (3, ("A", "GOAL_BINDING"), 3),  # the binding does not count
        (3, ("A", "A", "GOAL_BINDING"), 3 / 2),
        (1, ("A",) * 4, 4),  # nothing binds
        (1, ("A", "A", "h_goal_true"), 2),  # the last step has the id of an option: it binds
        (3, ("GOAL_BINDING",), 3),  # length 0 counts as 1
        (0, ("A", "A"), 2),
    ],
)
def test_the_distance_of_lengths(generated: int, proof: tuple[str, ...], distance: float) -> None:
    """|ln(generated / reference)|, for reference proofs that bind by rule, by id, or not at all."""
    steps = [
        ReferenceStep(name if name == "h_goal_true" else f"s{n}", (), "A", name if name == "GOAL_BINDING" else RULE)
        for n, name in enumerate(proof)
    ]
    problems = {"a": replace(problem("a"), proofs=(tuple(steps),))}
    found = evaluate_metrics(problems, [report("a", 0, "v" * (generated + 1))]).overall.scores[Measure.RGD]
    assert found.value == pytest.approx(math.log(distance))
    assert found.denominator == 1


def actions_of(*actions: StepReport, name: str = "a") -> TraceReport:
    return msgspec.structs.replace(report(name, 0, ""), actions=actions)


def test_the_share_of_compound_steps_is_one_of_rule_instances() -> None:
    trace = actions_of(step("v"), *[step(kind, Code.COMPOUND_STEP) for kind in "vvr"])
    assert parts(evaluate_metrics(PROBLEMS, [trace]), Measure.COMPOUND) == [(2, 3)]


def test_rule_names_that_are_made_up_share_one_row() -> None:
    made_up = [msgspec.structs.replace(step("p"), declared_rule=f"MADE_UP_{n}") for n in range(9)]
    unknown = msgspec.structs.replace(step("r", Code.UNKNOWN_RULE), declared_rule="UNHEARD_OF")
    trace = actions_of(step("v"), step("p"), step("p"), *made_up, unknown)
    rules = evaluate_metrics(PROBLEMS, [trace]).overall.rules
    assert rules == {RULE: RuleCounts(3, 1, 1, 1, 1), INVALID_RULE: RuleCounts(10, 1, 1, 0, 0)}


def test_where_nothing_is_counted_there_is_no_score() -> None:
    metrics = evaluate_metrics(PROBLEMS, [], resamples=40)
    assert not any(score.is_defined or score.interval for score in metrics.overall.scores.values())
    assert metrics.overall.absent == 3
    scores = metrics_tables(metrics)[0]
    assert "| overall | – | – | – | – | – | – | – |" in to_markdown(scores)
    assert r"overall & – & – & – & – & – & – & – \\" in to_latex(scores)
    row = json.loads(to_json([scores]))[0]["rows"][-1]
    assert row["RGD"] == {"value": None, "numerator": 0, "denominator": 0, "spread": None, "interval": None}
    assert list(csv.reader(io.StringIO(to_csv(scores))))[-1][1] == ""


def test_a_rate_of_outputs_without_eligible_steps_is_zero() -> None:
    reports = [report("a", n, "vvv", parsed=False) for n in range(2)]
    metrics = evaluate_metrics(PROBLEMS, reports, resamples=40)
    for group in (metrics.overall, metrics.difficulties["easy"]):
        for measure in RATES:
            score = group.scores[measure]
            assert score.is_defined
            assert (score.value, score.numerator, score.denominator) == (0.0, 0, 0)
            assert (score.spread, score.interval) == (0.0, (0.0, 0.0))
        assert not group.scores[Measure.COMPOUND].is_defined
    assert not metrics.difficulties["hard"].scores[Measure.FVR].is_defined  # without outputs there is no rate
    scores = metrics_tables(metrics)[0]
    assert r"| 0.0 ± 0.0 \[0.0, 0.0\] |" in to_markdown(scores)
    row = json.loads(to_json([scores]))[0]["rows"][-1]
    assert row["FVR (%)"] == {"value": 0.0, "numerator": 0, "denominator": 0, "spread": 0.0, "interval": [0.0, 0.0]}


def test_the_summary_of_a_run_shows_a_rate_of_no_steps_as_zero() -> None:
    found = Summary(PROBLEMS)
    assert dict(found.rows())["FVR of steps"] == "–"
    found.add(report("a", 0, "vvv", parsed=False))
    assert dict(found.rows())["FVR of steps"] == "0 of 0 (0.0%)"


def test_the_summary_of_a_run_by_hand() -> None:
    unsupported = msgspec.structs.replace(step("v"), evidence="unsupported")
    found = Summary({**PROBLEMS, "u": problem("u", answer="h_goal_uncertain")})
    assert dict(found.rows())["answers right"] == "–"
    for one in (
        *REPORTS[:3],
        msgspec.structs.replace(report("c", 0, "vv"), answer_correct=None, actions=(unsupported,) * 2),
        report("u", 0, "vv"),  # its steps are in no rate
    ):
        found.add(one)
    assert found.rows() == [
        ("traces", "5"),
        ("answers right", "3 of 4 (75.0%)"),
        ("verified", "4 of 5 (80.0%)"),
        ("rule-verified", "3 of 5 (60.0%)"),
        ("FVR of steps", "10 of 11 (90.9%)"),
        ("RVR of steps", "7 of 10 (70.0%)"),
        ("steps without evidence", "2"),
    ]
    found.add(msgspec.structs.replace(REPORTS[0], evidence="none"))
    assert dict(found.rows())["verified (no evidence checked)"] == "5 of 6 (83.3%)"


def test_a_sample_number_without_eligible_steps_has_rate_zero() -> None:
    reports = [report("a", 0, "vvv"), report("a", 1, "vvv", parsed=False)]
    scores = evaluate_metrics(PROBLEMS, reports).overall.scores
    for measure in RATES:
        assert scores[measure].value == 1.0
        assert scores[measure].spread == pytest.approx(math.sqrt(1 / 2))  # of 1 and 0


def test_what_is_left_out_is_counted_by_reason() -> None:
    problems = {**PROBLEMS, "u": problem("u", answer="h_goal_uncertain"), "n": problem("n", answer=None, steps=None)}
    reports = [
        *REPORTS,
        report("a", 0, "n"),
        report("elsewhere", 0, "v"),
        msgspec.structs.replace(report("c", 5, "v"), consistency="inconsistent"),
        msgspec.structs.replace(report("u", 0, "v"), uncertain="verified"),
        msgspec.structs.replace(report("n", 0, "v"), answer_correct=None),
    ]
    metrics = evaluate_metrics(problems, reports)
    assert metrics.excluded == {
        Exclusion.UNKNOWN_PROBLEM: 1,
        Exclusion.DUPLICATE_SAMPLE: 1,
        Exclusion.INCONSISTENT_PREMISES: 1,
        Exclusion.UNCERTAIN: 1,
        Exclusion.NO_REFERENCE_ANSWER: 1,
        Exclusion.NO_REFERENCE_PROOF: 1,
        Exclusion.NOT_PARSED: 1,
        Exclusion.NO_LENGTH: 0,
    }
    apart = {**dict.fromkeys(Exclusion, 0), Exclusion.NOT_PARSED: 1}
    assert evaluate_metrics(PROBLEMS, REPORTS).excluded == apart  # every problem has a proof
    assert (metrics.overall.uncertain.outputs, metrics.overall.uncertain.verified) == (1, 1)
    assert metrics.overall.scores[Measure.AVG].denominator == 6


KINDS = st.text("vrnuRmpd?", max_size=5)
MANY = st.lists(
    st.builds(report, st.sampled_from("abc"), st.integers(0, 2), KINDS, right=st.booleans(), parsed=st.booleans()),
    unique_by=lambda r: (r.problem_id, r.sample),
)


@given(MANY, st.randoms(use_true_random=False))
def test_the_order_of_the_reports_does_not_matter(reports: list[TraceReport], rng: random.Random) -> None:
    shuffled = rng.sample(reports, len(reports))
    assert evaluate_metrics(PROBLEMS, reports, resamples=40) == evaluate_metrics(PROBLEMS, shuffled, resamples=40)


@given(MANY)
def test_numerators_and_denominators(reports: list[TraceReport]) -> None:
    metrics = evaluate_metrics(PROBLEMS, reports)
    scores = metrics.overall.scores
    for measure in (Measure.AVG, Measure.PASS, Measure.FVR, Measure.RVR, Measure.VERIFIED, Measure.PARSED):
        assert 0 <= scores[measure].numerator <= scores[measure].denominator
    assert scores[Measure.FVR].numerator >= scores[Measure.RVR].numerator
    assert scores[Measure.STRICT_FVR].denominator == scores[Measure.STRICT_RVR].denominator
    for eligible, strict in ((Measure.FVR, Measure.STRICT_FVR), (Measure.RVR, Measure.STRICT_RVR)):
        assert scores[eligible].numerator == scores[strict].numerator
        assert scores[eligible].denominator <= scores[strict].denominator
    assert scores[Measure.VERIFIED].numerator >= scores[Measure.RULE_VERIFIED].numerator
    for measure in (Measure.AVG, Measure.FVR, Measure.RVR):
        groups = metrics.difficulties.values()
        assert scores[measure].numerator == sum(group.scores[measure].numerator for group in groups)
        assert scores[measure].denominator == sum(group.scores[measure].denominator for group in groups)


def test_bootstrap_intervals_leave_out_the_tails() -> None:
    # One of 20 problems is right: the number of right ones in a draw is binomial(20, 1/20), whose 2.5 % and 97.5 %
    # quantiles are 0 and 3 (P(0) = 0.358; P(at most 2) = 0.925, P(at most 3) = 0.984); its extremes lie beyond.
    problems = {f"p{n}": problem(f"p{n}") for n in range(20)}
    reports = [report(name, 0, "v", right=name == "p0") for name in problems]
    assert evaluate_metrics(problems, reports, resamples=2000).overall.scores[Measure.AVG].interval == (0, 3 / 20)


def test_an_empty_resample_is_zero_for_rates_only() -> None:
    """Three of 20 problems have a step to count, all compound instances: the share is 100 % wherever there is one."""
    problems = {f"p{n}": problem(f"p{n}") for n in range(20)}
    reports = [report(name, 0, "u") for name in problems]
    reports[:3] = [actions_of(step("v", Code.COMPOUND_STEP), name=f"p{n}") for n in range(3)]
    scores = evaluate_metrics(problems, reports, resamples=500).overall.scores
    share, fvr = scores[Measure.COMPOUND], scores[Measure.FVR]
    assert (share.numerator, share.denominator, share.interval) == (3, 3, (1.0, 1.0))
    assert (fvr.numerator, fvr.denominator, fvr.interval) == (3, 3, (0.0, 1.0))
    few = evaluate_metrics(problems, reports, resamples=39).overall.scores[Measure.COMPOUND]
    assert few.interval is None


# -- tables -----------------------------------------------------------------------------------------------------------


def named(*names: str, resamples: int = 0) -> Metrics:
    """The metrics of a problem of each of these difficulties."""
    problems = {name: replace(problem(name), difficulty=name) for name in names}
    return evaluate_metrics(problems, [report(name, 0, "vv") for name in names], resamples=resamples)


def test_names_are_escaped_in_every_format() -> None:
    for table in metrics_tables(named("a_b & 50% $x$ {y} #1 ~ ^ \\ |", "\x1b[31mred", "[bold]")):
        latex, markdown = to_latex(table), to_markdown(table)
        assert "\x1b" not in latex + markdown
        assert "\N{REPLACEMENT CHARACTER}" not in latex
        assert "\n[" not in latex  # it would be the optional argument of the end of the row before
        if "50" in latex:
            assert r"a\_b \& 50\% \$x\$ \{y\} \#1" in latex
            assert r"\|" in markdown
        console = Console(width=200, record=True, file=io.StringIO())
        console.print(to_rich(table))
        terminal = console.export_text()
        assert "\x1b" not in terminal
        assert ("[bold]" in terminal) == (r"\[bold\]" in markdown)


def test_no_name_of_a_difficulty_hides_a_row_or_column() -> None:
    names = ("", "(none)", "overall", "'overall'", "outcome", "difficulty", "easy", "\ud800")
    metrics = named(*names, resamples=40)
    assert metrics.difficulties["\ud800"].scores[Measure.FVR].interval == (1.0, 1.0)
    tables = {table["title"]: table["rows"] for table in json.loads(to_json(metrics_tables(metrics)))}
    shown = [row["difficulty"] for row in tables["Scores"]]
    assert len(set(shown)) == len(names) + 1
    assert all(list(row) == ["outcome", *shown] for row in tables["Steps"])


# -- the strict contract ----------------------------------------------------------------------------------------------


def broken(kinds: str, code: Code) -> TraceReport:
    """The first sample of problem a, right and verified but for one action with a finding."""
    given = report("a", 0, kinds)
    first = msgspec.structs.replace(given.actions[0], findings=(Finding(code, ""),))
    return msgspec.structs.replace(given, actions=(first, *given.actions[1:]))


@pytest.mark.parametrize("code", [Code.NOT_AN_OBJECT, Code.MISSING_FIELD, Code.NOT_A_LIST, Code.TOO_MANY_DEPENDENCIES])
def test_the_strict_contract_discards_malformed_outputs(code: Code) -> None:
    reports = [broken("mvv", code), report("b", 0, "vvv")]
    metrics = evaluate_metrics(PROBLEMS, reports, contract="strict")
    assert (metrics.contract, metrics.discarded) == ("strict", 1)
    assert parts(metrics, Measure.AVG, Measure.PASS, Measure.FVR) == [(1, 2), (1, 2), (3, 3)]
    assert parts(metrics, Measure.RULE_VERIFIED, Measure.PARSED) == [(1, 2), (1, 2)]
    # of length 0, counted as 1, against 2
    assert metrics.overall.scores[Measure.RGD].numerator == pytest.approx(math.log(2))
    assert metrics.overall.steps[StepOutcome.MALFORMED_SUMMARY] == 1
    titles = [table.title for table in metrics_tables(metrics)]
    assert titles[0] == "Scores (contract strict)"
    assert ("outputs that the strict contract discards (wrong, no steps)", 1) in metrics_tables(metrics)[-1].rows


@pytest.mark.parametrize("contract", ["strict", "per-action"])
def test_the_strict_contract_holds_for_uncertain_problems(contract: Contract) -> None:
    """A discarded output is not a right answer, and its countermodels are not counted."""
    given = broken("mvv", Code.MISSING_FIELD)
    given = msgspec.structs.replace(given, problem_id="u", uncertain="verified", verified=True)
    metrics = evaluate_metrics({"u": problem("u", answer="h_goal_uncertain")}, [given], contract=contract)
    counts = metrics.overall.uncertain
    discarded = contract == "strict"
    assert (metrics.discarded, counts.outputs) == (discarded, 1)
    assert (counts.right, counts.verified) == (not discarded, not discarded)


@pytest.mark.parametrize(
    ("contract", "code"),
    [
        *[("strict", code) for code in (Code.EXTRA_FIELD, Code.DUPLICATE_ID, Code.UNPARSABLE_CONCLUSION)],
        ("per-action", Code.MISSING_FIELD),
    ],
)
def test_other_faults_cost_the_action_alone(contract: Contract, code: Code) -> None:
    metrics = evaluate_metrics(PROBLEMS, [broken("mvv", code)], contract=contract)
    assert (metrics.contract, metrics.discarded) == (contract, 0)
    assert parts(metrics, Measure.AVG, Measure.STRICT_FVR) == [(1, 1), (2, 3)]
    assert metrics_tables(metrics)[0].title == f"Scores{' (contract strict)' * (contract == 'strict')}"


ARRAY = '[{"id": "s1", "dependencies": "h1", "conclusion": "P[a]", "rule": "R"}, 3]'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("Here are the steps:\n", " as wanted."),
        ("See [1", ""),  # the first bracket counts
        ("```json\n", "\n```"),
        ("Steps [1]: ```json ", "``` and ``` [2] ```"),
        ("```", ""),  # not a fence
    ],
)
def test_the_strict_contract_reads_the_array_alone(before: str, after: str) -> None:
    text = f"[x]</think> [y] <summary>{before}{ARRAY}{after}</summary> [z]"
    alone = isolate_array(text)
    kept = "[1" if before.startswith("See") else ""
    blanks = " " * (len(before) - len(kept))
    assert alone == f"[x]</think> [y] <summary>{blanks}{kept}{ARRAY}{' ' * len(after)}</summary> [z]"
    trace = read_completion(alone)
    assert trace.parsed is not bool(kept)
    if trace.parsed:
        assert [text[slice(*action.span)] for action in trace.actions] == [ARRAY[1:-4], "3"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "<summary>[]", "<summary>][</summary>", "<summary>[1] ```x```</summary>", "<summary>[]</summary>"],
)
def test_texts_without_an_array_to_isolate_stay_as_they_are(text: str) -> None:
    assert isolate_array(text) == text


@given(st.text(alphabet=st.sampled_from("[]`json\n1, <>summary/"), max_size=40))
def test_isolating_an_array_only_blanks_characters(inside: str) -> None:
    text = f"<summary>{inside}</summary>"
    alone = isolate_array(text)
    assert len(alone) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, alone, strict=True))
    assert isolate_array(alone) == alone


def test_the_length_of_outputs_is_in_their_table() -> None:
    one = build.problem("G(a)")
    texts = [Completion(problem_id=one.id, completion="x" * size, sample=size) for size in (20, 40)]
    found = assess({one.id: one}, examine_many({one.id: one}, texts), rules=TRAIN, seen=TRAIN)
    [outputs] = [table for table in metrics_tables(found.metrics) if table.title == "Outputs"]
    shown = dict(zip([column.name for column in outputs.columns], outputs.rows[0], strict=True))
    length = shown["Response length (characters)"]
    assert isinstance(length, Estimate)
    assert (length.numerator, length.denominator) == (60, 2)


def test_rules_are_sorted_by_name() -> None:
    """Whatever step names its rule first."""
    one = build.problem("P(a)", "P(a) → Q(a)", goal="Q(a)")
    rules = (RULE, "GOAL_BINDING", "CONJUNCTION_ELIMINATION")
    steps = [action(f"s{number}", "Q(a)", "h1", "h2", rule=rule) for number, rule in enumerate(rules)]
    found = evaluate_metrics({one.id: one}, [verify(one, completion(*steps))])
    assert [*found.overall.rules] == sorted(found.overall.rules)
    assert len(found.overall.rules) == 3


def test_the_settings_of_an_assessment_count() -> None:
    one = build.problem("G(a)")
    silent = [Completion(problem_id=one.id, completion="")]
    [by_default] = examine_many({one.id: one}, silent)
    [by_folio] = examine_many({one.id: one}, silent, settings=Settings(rules="folio"))
    assert (by_default.report.rules, by_folio.report.rules) == ("train", "folio")
