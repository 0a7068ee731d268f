"""The verifier: states, signals, progress, hostile traces, and independence from everything else."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.engine import get_solver
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from proof_r1_formal.proof.batch import Settings, verify, verify_many
from proof_r1_formal.proof.report import Code, Finding, RuleReport, decode, encode
from proof_r1_formal.proof.step import AdmittedConclusions
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO
from proof_r1_formal.text.parse import parse_formula
from tests.build import codes, completion, problem, reference_traces
from tests.proof.short_traces import CE, CI, GB, VERIFIER, run

# -- the two states and the signals -----------------------------------------------------------------------------------


def test_each_signal_once() -> None:
    case = problem("P(a) ∧ Q(a)", "R(a)")
    report = run(
        case,
        ("s1", ["h1"], "P(a)", CE),
        ("s2", ["h1"], "Q(a)", CI),  # entailed, wrong rule
        ("s3", ["h2"], "P(a)", CE),  # not entailed
        ("s4", ["h1"], "P(a", CE),  # no formula
    )
    assert [step.signal for step in report.actions] == [1.0, 0.3, 0.1, 0.0]


def test_an_entailed_non_instance_supports_no_rule_step() -> None:
    case = problem("P(a) ∧ Q(a)", "R(a)")
    report = run(case, ("s1", ["h1"], "P(a)", CI), ("s2", ["s1", "h2"], "P(a) ∧ R(a)", CI))
    second = report.actions[1]
    assert (second.semantic, second.rule) == (True, False)
    assert codes(second) == {Code.RULE_UNTRUSTED_DEPENDENCY}
    assert second.findings[0].dependencies == ("s1",)


def test_a_compound_step_is_noted_and_no_atomic_instance() -> None:
    case = problem("P(a) → Q(a)", "Q(a) → G(a)", "P(a)")
    merged = ("s1", ["h1", "h2", "h3"], "G(a)", "IMPLICATION_ELIMINATION")
    last = ("h_goal_true", ["s1"], "G(a)", GB)
    report = run(case, merged, last)
    assert [step.signal for step in report.actions] == [1.0, 1.0]
    (note,) = report.actions[0].findings
    assert note.code is Code.COMPOUND_STEP
    assert "Q(a)" in note.message
    atomic = Verifier(atomic=True)
    report = atomic.verify(case, completion(merged, last))
    assert report.rules == "train, atomic"
    assert [(step.semantic, step.rule, step.signal) for step in report.actions] == [(True, False, 0.3)] * 2
    assert [sorted(codes(step)) for step in report.actions] == [
        [Code.COMPOUND_STEP, Code.NO_RULE_MATCH],
        [Code.RULE_UNTRUSTED_DEPENDENCY],
    ]
    assert atomic.without_kernel().atomic
    parts = (("s1", ["h1", "h3"], "Q(a)", "IMPLICATION_ELIMINATION"), ("s2", ["h2", "s1"], "G(a)", "MODUS_PONENS"))
    stepwise = Settings(atomic=True, aliases=True).verifier().verify(case, completion(*parts))
    assert [(step.signal, step.findings) for step in stepwise.actions] == [(1.0, ()), (1.0, ())]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nothing", Code.MISSING_DEPENDENCY),
        ("h_goal_true", Code.MISSING_DEPENDENCY),
        ("s2", Code.MISSING_DEPENDENCY),
        ("s3", Code.MISSING_DEPENDENCY),
        ("s1", Code.UNTRUSTED_DEPENDENCY),
    ],
)
def test_dependencies_that_cannot_be_trusted(name: str, code: Code) -> None:
    case = problem("P(a) ∧ Q(a)")
    report = run(
        case,
        ("s1", ["h1"], "G(a)", CE),  # not entailed, so not admitted
        ("s2", ["h1", name], "P(a)", CE),  # itself, later, not admitted or missing
        ("s3", ["h1"], "Q(a)", CE),
    )
    assert codes(report.actions[1]) == {code}
    assert report.actions[1].findings[0].dependencies == (name,)
    assert report.actions[1].signal == 0.1
    assert report.actions[2].signal == 1.0


def test_ids_are_unique_and_no_premises() -> None:
    case = problem("P(a) ∧ Q(a)")
    report = run(case, ("h1", ["h1"], "P(a)", CE), ("s1", ["h1"], "P(a)", CE), ("s1", ["h1"], "Q(a)", CE))
    assert [codes(step) for step in report.actions] == [{Code.DUPLICATE_ID}, set(), {Code.DUPLICATE_ID}]
    assert report.actions[0].findings[0].message == "id 'h1' is already a premise"
    assert report.actions[2].findings[0].message == "id 's1' is already an earlier action"


def test_only_complete_has_steps_under_hypotheses() -> None:
    known = problem("wet(road) → slippery(road)", goal="wet(road) ∧ cold(road) → slippery(road)")
    text = completion(("s1", ["h1"], "wet(road) ∧ cold(road) → slippery(road)", "REITERATION"))
    (step,) = Verifier(rules=COMPLETE).verify(known, text).actions
    assert (step.semantic, step.rule) == (True, True)
    (step,) = Verifier(rules=FOLIO).verify(known, text).actions
    assert (step.semantic, step.rule, codes(step)) == (True, False, {Code.UNKNOWN_RULE})


def test_a_conclusion_that_is_forgotten_leaves_its_equals() -> None:
    admitted, a, same = AdmittedConclusions(), parse_formula("A ∧ B"), parse_formula("B ∧ A")
    admitted.add("s1", a)
    admitted.add("s2", same)
    admitted.remove_last(same)
    assert list(admitted.candidates(same)) == [("s1", a)]
    admitted.remove_last(a)
    assert list(admitted.candidates(a)) == []


def test_an_arity_clash_is_a_schema_error() -> None:
    case = problem("P(a)")
    report = run(
        case,
        ("s1", ["h1"], "P(a, b)", CE),
        ("s2", ["h1"], "P(a) ∨ New(a)", CE),  # entailed, so New has one argument from here on
        ("s3", ["h1"], "P(a) ∨ New(a, a)", CE),
        ("s4", ["h1"], "P(a(a))", CE),
        ("s5", ["h1"], "Q(a) ∧ Q(a, a)", CE),  # a clash of its own
    )
    clashes = [[f.code for f in step.findings].count(Code.SYMBOL_CLASH) for step in report.actions]
    assert clashes == [1, 0, 1, 1, 1]
    assert [step.schema for step in report.actions] == [False, True, False, False, False]


def test_a_rejected_conclusion_fixes_no_arity() -> None:
    case = problem("P(a)")
    report = run(case, ("s1", ["h1"], "New(a)", CE), ("s2", ["h1"], "P(a) ∨ New(a, a)", CE))
    assert [step.schema for step in report.actions] == [True, True]


def test_the_report_of_a_rule_tells_the_instance() -> None:
    case = problem("∀x P(x)", "∀x (P(x) → Q(x))", "P(a) ∧ S(a)")
    report = run(
        case,
        ("s1", ["h3", "h2"], "Q(a)", "IMPLICATION_ELIMINATION"),
        ("s2", ["h3", "h1"], "P(a)", "UNIVERSAL_ELIMINATION"),
        ("s3", ["h1"], "P(a)", CE),
    )
    assert [step.instance for step in report.actions] == [
        RuleReport("implication_elimination", {"A": "P(a)", "B": "Q(a)"}, ("h2",), ("P(a)",)),
        RuleReport("universal_elimination", {"A": "λx. P(x)", "t": "a"}, ("h1",), ()),
        None,
    ]


# -- progress ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conclusion", "code"),
    [
        ("P(a)", Code.RESTATES_DEPENDENCY),
        ("¬¬P(a)", Code.RESTATES_DEPENDENCY),
        ("P(a) ∧ (Q(a) ∨ ¬Q(a))", Code.RESTATES_DEPENDENCY),
        ("P(a) ∨ ¬P(a)", Code.TAUTOLOGY),
        ("∀x (P(x) → P(x))", Code.TAUTOLOGY),
    ],
)
def test_restating_is_no_progress(conclusion: str, code: Code) -> None:
    (step,) = run(problem("P(a)"), ("s1", ["h1"], conclusion, CE)).actions
    assert code in codes(step)
    assert not step.progress


def test_a_verified_step_cannot_be_farmed_in_other_words() -> None:
    case = problem("P(a)", "Q(a)")
    report = run(
        case,
        ("s1", ["h1", "h2"], "P(a) ∧ Q(a)", CI),
        ("s2", ["h1", "h2"], "Q(a) ∧ P(a)", CI),
        ("s3", ["s1", "h1"], "(P(a) ∧ Q(a)) ∧ P(a)", CI),
        ("s4", ["h1", "h2"], "¬¬P(a) ∧ Q(a)", CI),
    )
    assert [step.signal for step in report.actions] == [1.0, 0.3, 0.3, 0.3]
    assert [step.progress for step in report.actions] == [True, False, False, False]


def test_quantifier_negation_is_exempt_for_its_own_premise_only() -> None:
    verifier = Verifier(rules=FOLIO)
    case = problem("¬∀x P(x)")
    steps = (
        ("s1", ["h1"], "∃x ¬P(x)", "QUANTIFIER_NEGATION"),
        ("s2", ["s1"], "¬∀x P(x)", "QUANTIFIER_NEGATION"),
        ("s3", ["s2"], "∃x ¬P(x)", "QUANTIFIER_NEGATION"),
    )
    report = verifier.verify(case, completion(*steps))
    assert [step.rule for step in report.actions] == [True, True, True]
    assert report.actions[0].progress
    assert not report.actions[2].progress


def test_only_the_terminal_goal_binding_may_restate() -> None:
    binding = ("h_goal_true", ["h1"], "G(a)", GB)
    report = run(problem("G(a)", "P(a) ∧ Q(a)"), binding, ("s1", ["h2"], "P(a)", CE))
    assert codes(report.actions[0]) == {Code.NO_RULE_MATCH, Code.RESTATES_DEPENDENCY}
    assert report.actions[0].signal == 0.3
    (step,) = run(problem("G(a)"), ("h_goal_true", ["h1"], "G(a)", CE)).actions
    assert (step.terminal, step.progress) == (True, False)
    assert codes(step) == {Code.NO_RULE_MATCH, Code.RESTATES_DEPENDENCY}
    (step,) = run(problem("G(a)"), binding).actions
    assert (step.terminal, step.signal, step.findings) == (True, 1.0, ())


@pytest.mark.parametrize(
    ("name", "conclusion", "message"),
    [("s1", "G(a)", "'s1' is not an option"), ("h_goal_false", "G(a)", "the conclusion is not that of h_goal_false")],
)
def test_a_goal_binding_binds_the_option_that_it_names(name: str, conclusion: str, message: str) -> None:
    (step,) = run(problem("G(a)"), (name, ["h1"], conclusion, GB)).actions
    assert (step.terminal, step.semantic, step.rule, step.progress) == (True, True, False, False)
    assert step.findings == (Finding(Code.BINDING_MISMATCH, message),)
    assert step.signal == 0.3


def test_a_goal_binding_that_is_no_instance_says_what_one_is() -> None:
    (step,) = run(problem("G(a) ∧ P(a)"), ("h_goal_true", ["h1"], "G(a)", GB)).actions
    (finding,) = step.findings
    assert finding.code is Code.NO_RULE_MATCH
    assert "binds an option's formula that is one of its dependencies" in finding.message
    (step,) = run(problem("G(a) ∧ P(a)"), ("s1", ["h1"], "G(a)", CI)).actions
    assert step.findings[0].message == f"the step is not an instance of {CI}"


def test_thousands_of_actions_and_a_broken_element_among_them() -> None:
    case = problem("P(a) ∧ Q(a)")
    steps = [{"id": f"s{n}", "dependencies": ["h1"], "conclusion": "P(a)", "rule": CE} for n in range(5_000)]
    items = [json.dumps(step) for step in steps]
    items[17] = "[]"
    report = VERIFIER.verify(case, f"<summary>[{','.join(items)}]</summary>")
    assert len(report.actions) == 5_000
    assert [step.signal for step in report.actions[:2]] == [1.0, 0.3]
    assert codes(report.actions[17]) == {Code.NOT_AN_OBJECT}


@pytest.mark.parametrize("text", ["\ud800", "\0", "\u202e", "\x1b[31m", "é" * 1000])
def test_whatever_a_field_holds_the_report_can_be_written(text: str) -> None:
    steps = (
        (text, ["h1"], "P(a)", CE),
        ("s1", [text], "P(a)", CE),
        ("s2", ["h1"], f"P({text})", CE),
        ("s3", ["h1"], "P(a)", text),
    )
    report = run(problem("P(a) ∧ Q(a)"), *steps)
    assert decode(encode(report)) == report
    extra = json.dumps([{"id": "s", "dependencies": [], "conclusion": "A", "rule": "R", text: text}])
    assert encode(VERIFIER.verify(problem("P(a)"), f"{text}<summary>{extra}</summary>{text}"))


NAMES = st.sampled_from(["h1", "h2", "h3", "s1", "s2", "s3", "h_goal_true", "?"])
CONCLUSIONS = st.sampled_from(["P(a)", "Q(a)", "P(a) ∧ Q(a)", "G(a)", "¬G(a)", "P(b)", "∀x P(x)", "P(a", "P(a, a)"])
RULE_NAMES = st.sampled_from([rule.name for rule in FOLIO.rules] + ["BECAUSE"])
STEPS = st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=5), CONCLUSIONS, RULE_NAMES), max_size=6)
CASE = problem("P(a) ∧ Q(a)", "∀x (P(x) → G(x))", "¬P(b) ∨ Q(b)")


@given(STEPS)
def test_signals_follow_the_verdicts(steps: list[tuple[str, list[str], str, str]]) -> None:
    for step in run(CASE, *steps).actions:
        expected = 0.0
        if step.schema:
            expected = 0.1
            if step.semantic:
                expected = 1.0 if step.rule and step.progress else 0.3
        assert step.signal == expected
        assert step.schema or not (step.semantic or step.rule or step.progress)
        assert bool(step.findings) == (not (step.schema and step.semantic and step.rule and step.progress))


@given(STEPS, STEPS)
def test_a_verdict_depends_only_on_what_comes_before(
    steps: list[tuple[str, list[str], str, str]], more: list[tuple[str, list[str], str, str]]
) -> None:
    inner = ("z", ["h1"], "P(a)", CE)  # so that neither prefix ends in the terminal action
    shorter, longer = run(CASE, *steps, inner), run(CASE, *steps, inner, *more, inner)
    for one, other in zip(shorter.actions, longer.actions, strict=False):
        assert (one.schema, one.semantic, one.rule, one.progress) == (
            other.schema,
            other.semantic,
            other.rule,
            other.progress,
        )


@given(STEPS)
def test_reports_round_trip_and_do_not_depend_on_history(steps: list[tuple[str, list[str], str, str]]) -> None:
    text = completion(*steps)
    report = VERIFIER.verify(CASE, text)
    assert decode(encode(report)) == report
    assert encode(verify(CASE, text)) == encode(report)


@given(STEPS)
def test_admitted_conclusions_follow_from_the_premises(steps: list[tuple[str, list[str], str, str]]) -> None:
    solver = get_solver("z3")
    premises = tuple(premise.formula for premise in CASE.premises)
    for step in run(CASE, *steps).actions:
        if step.semantic and step.conclusion is not None:
            assert isinstance(solver.decide(Query(premises, parse_formula(step.conclusion))), Entailed)
        if step.countermodel is not None:
            assert step.findings[0].code is Code.NOT_ENTAILED


def test_a_refutation_carries_its_countermodel() -> None:
    (step,) = run(problem("P(a) ∨ Q(a)"), ("s1", ["h1"], "P(a)", CE)).actions
    assert step.countermodel is not None
    assert step.countermodel.predicates["Q"] == ((0,),)
    assert step.countermodel.predicates["P"] == ()
    assert isinstance(get_solver("z3").decide(Query((parse_formula("A ∨ B"),), parse_formula("A"))), Refuted)


# -- many -------------------------------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.slow
def test_the_same_bytes_with_one_and_two_workers_and_shuffled(shared_data: Path) -> None:
    traces = reference_traces(shared_data)
    problems = {case.id: case for case, _ in traces}
    chosen = [Completion(problem_id=c.id, sample=n, completion=r["response"]) for n, (c, r) in enumerate(traces)][::7]
    one = [encode(report) for report in verify_many(problems, chosen)]
    two = [encode(report) for report in verify_many(problems, chosen, workers=2)]
    shuffled = random.Random(7).sample(chosen, len(chosen))
    back = {c.sample: encode(r) for c, r in zip(shuffled, verify_many(problems, shuffled), strict=True)}
    assert one == two == [back[c.sample] for c in chosen]


@pytest.mark.shared
@pytest.mark.slow
def test_golden_proofs_get_all_four_verdicts(shared_data: Path) -> None:
    problems = read_problems(shared_data / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    verifier = Verifier(evaluation=False)
    proofs = 0
    for case in problems.values():
        for proof in case.proofs:
            proofs += 1
            steps = [(step.id, list(step.dependencies), step.conclusion, step.rule) for step in proof]
            report = verifier.verify(case, completion(*steps))
            assert [step.signal for step in report.actions] == [1.0] * len(proof), case.id
            assert report.answer_correct, case.id
            assert all(step.in_closure for step in report.actions), case.id
    assert len(problems) == 450
    assert proofs >= 450


def test_unknown_settings_are_errors() -> None:
    good = Completion(problem_id="test/1", completion="<summary>[]</summary>")
    other = Completion(problem_id="elsewhere/1", completion="")
    with pytest.raises(ProofR1Error, match="elsewhere/1"):
        list(verify_many({"test/1": CASE}, [good, other]))
    with pytest.raises(ProofR1Error, match="elsewhere/1"):
        list(verify_many({"test/1": CASE}, [good, other], workers=2))
    with pytest.raises(ProofR1Error, match="no-such-solver"):
        verify_many({"test/1": CASE}, [good], settings=Settings(solver="no-such-solver"), workers=2)
    with pytest.raises(ProofR1Error, match="no-such-rules"):
        verify_many({"test/1": CASE}, [good], settings=Settings(rules="no-such-rules"))
    with pytest.raises(ProofR1Error, match="at least 1"):
        verify_many({"test/1": CASE}, [good], workers=0)
