"""The budget of a trace, and steps that are undecided."""

from __future__ import annotations

import pytest

import proof_r1_formal.proof.session
from proof_r1_formal.engine.embedded import FALLBACK, QUICK
from proof_r1_formal.engine.oracle import QUESTION
from proof_r1_formal.engine.prover import BUDGET
from proof_r1_formal.engine.z3 import RLIMIT_PER_STEP
from proof_r1_formal.kernel.answer import Reason, Unknown
from proof_r1_formal.kernel.syntax import _NODES, drop_unused
from proof_r1_formal.proof.report import Code, Finding
from proof_r1_formal.proof.session import TRACE_STEPS
from proof_r1_formal.proof.step import CHECK_STEPS
from proof_r1_formal.proof.verify import Verifier
from tests.build import codes, completion, problem
from tests.proof.short_traces import CE, CI, GB, VERIFIER, run
from tests.solvers import SILENT, Told


def test_all_work_on_a_trace_shares_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("P(a) ∧ Q(a)", "R(a) ∧ S(a)", "T(a) ∧ U(a)")
    steps = (("s1", ["h1"], "P(a)", CE), ("s2", ["h2"], "R(a)", CE), ("s3", ["h3"], "T(a)", CE))
    needed = VERIFIER.cost(case, completion(*steps[:2]))
    monkeypatch.setattr(proof_r1_formal.proof.session, "TRACE_STEPS", needed)
    report = run(case, *steps)
    assert [step.semantic for step in report.actions] == [True, True, False]
    spent = f"the trace's budget of {needed} steps is spent"
    undecided = f"whether the dependencies entail the conclusion stayed undecided (budget: {spent})"
    assert Finding(Code.UNDECIDED, undecided) in report.actions[2].findings
    assert Finding(Code.RULE_UNDECIDED, f"{CE}: {spent}") in report.actions[2].findings
    monkeypatch.setattr(proof_r1_formal.proof.session, "TRACE_STEPS", VERIFIER.cost(case, completion(*steps[:1])))
    assert [step.signal for step in run(case, *steps).actions] == [1.0, 0.1, 0.1]


def test_the_price_of_a_trace_ignores_caches() -> None:
    case = problem("∀x (P(x) → Q(x))", "P(a) ∧ R(a)", "¬∃x (Q(x) ∧ ∀y S(x, y))")
    steps = (
        ("s1", ["h1", "h2"], "Q(a)", "IMPLICATION_ELIMINATION"),
        ("s2", ["h3", "s1"], "¬∀y S(a, y)", "MODUS_TOLLENS"),
        ("s3", ["h2", "h3"], "∃x ¬S(a, x)", CE),
    )
    verifier = Verifier()
    first = verifier.cost(case, completion(*steps))
    assert first > len(steps) * QUESTION
    assert verifier.cost(case, completion(*steps)) == VERIFIER.cost(case, completion(*steps)) == first


GROUP = ("∀x ∀y ∀z m(m(x, y), z) = m(x, m(y, z))", "∀x m(e, x) = x", "∀x m(i(x), x) = e")


@pytest.mark.parametrize(
    ("limit", "questions"), [(TRACE_STEPS // 4, 3), pytest.param(TRACE_STEPS, 12, marks=pytest.mark.long)]
)
def test_a_trace_of_hard_questions_stops_within_its_budget(
    limit: int, questions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof_r1_formal.proof.session, "TRACE_STEPS", limit)
    case = problem(*GROUP)
    depths = [f"{'f(' * depth}e{')' * depth}" for depth in range(questions)]
    hard = [(f"s{n}", ["h1", "h2", "h3"], f"∀x ∀y m(x, y) = m(y, x) ∨ P({t})", CE) for n, t in enumerate(depths)]
    question = QUICK + FALLBACK // RLIMIT_PER_STEP + BUDGET
    assert limit < VERIFIER.cost(case, completion(*hard)) < limit + CHECK_STEPS + 2 * question
    steps = run(case, *hard).actions
    assert {code for step in steps for code in codes(step)} >= {Code.UNDECIDED, Code.RULE_UNDECIDED}
    assert "the trace's budget" not in str(steps[0].findings)
    assert "the trace's budget" in str(steps[-1].findings)


@pytest.mark.parametrize("depth", [8, 72])
def test_the_price_grows_with_the_work_on_deep_formulas(depth: int) -> None:
    """Work is counted in nodes that are made. A substitution in a deep formula makes many."""
    quantifiers, variables = " ".join([f"∀x{n}" for n in range(depth)]), ", ".join([f"x{n}" for n in range(depth)])
    case = problem(f"{quantifiers} R({variables})", "A(a)")
    steps = completion(("s1", ["h1"], f"R({', '.join(['a'] * depth)})", "UNIVERSAL_ELIMINATION"))
    drop_unused()
    before = len(_NODES)
    report = Verifier().verify(case, steps)
    made = len(_NODES) - before
    assert 300 < made < 0.25 * VERIFIER.cost(case, steps)
    assert report.actions[0].semantic
    assert report.actions[0].rule == (depth < 11)  # the formulas of more are not told apart within the budget


def test_an_undecided_step_is_neither_admitted_nor_refuted() -> None:
    case = problem("P(a) ∧ Q(a)")
    text = completion(("s1", ["h1"], "P(a)", CE), ("s2", ["s1", "h1"], "P(a) ∧ G(a)", CI))
    report = Verifier(SILENT).verify(case, text)
    first, second = report.actions
    assert (first.semantic, first.signal) == (False, 0.1)
    assert Code.UNDECIDED in codes(first)
    assert codes(second) >= {Code.UNTRUSTED_DEPENDENCY}
    assert report.consistency == "undecided"


@pytest.mark.parametrize("reason", Reason)
def test_a_finding_says_whether_the_solver_is_broken(reason: Reason) -> None:
    case, odd = problem("P(a) → Q(a)", "P(a) ∧ P(a)"), "whether it stayed undecided (broken)"
    texts = (
        completion(("s1", ["h1", "h2"], "Q(a)", "IMPLICATION_ELIMINATION"), (odd, ["s1"], "G(a)", GB)),
        completion(("s1", ["h1"], "¬¬(P(a) → Q(a))", CE)),
        completion(("h_goal_true", ["h1"], "G(a) ∧ (Q(a) ∨ ¬Q(a))", GB)),
    )
    reports = [Verifier(Told(others=Unknown(reason, "the budget is spent"))).verify(case, text) for text in texts]
    findings = [finding for report in reports for action in report.actions for finding in action.findings]
    asked = [each for each in findings if f"undecided ({reason}" in each.message and odd not in each.message]
    undecided = {Code.UNDECIDED, Code.RULE_UNDECIDED, Code.PROGRESS_UNDECIDED, Code.BINDING_UNDECIDED}
    assert {finding.code for finding in asked} == undecided
    assert any(odd in finding.message for finding in findings)
    assert [finding for finding in findings if finding.broken] == (asked if reason is Reason.BROKEN else [])


def test_no_message_makes_a_solver_broken() -> None:
    message = "whether the dependencies entail the conclusion stayed undecided (broken: it is not)"
    assert not Finding(Code.UNDECIDED, message).broken
    assert Finding(Code.BINDING_UNDECIDED, "", broken=True).broken
