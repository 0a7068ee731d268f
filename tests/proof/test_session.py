"""A session gives the reports of ``verify``, whatever was pushed and taken back in between."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import proof_r1_formal.proof.session
from proof_r1_formal.engine.oracle import QUESTION
from proof_r1_formal.kernel.answer import confirm
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import atom, var
from proof_r1_formal.proof.action import Action, read_action, read_completion
from proof_r1_formal.proof.report import Code, encode
from proof_r1_formal.proof.step import _rule_report
from proof_r1_formal.proof.verify import Verifier, VerifierSession
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.check import Match
from proof_r1_formal.testing.corruptions import Corrupted, any_text, corrupted_attempts
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests.build import codes, problem, reference_traces

VERIFIER = Verifier(rules=FOLIO)
CE, GB = "CONJUNCTION_ELIMINATION", "GOAL_BINDING"


def action(name: str, dependencies: Sequence[str], conclusion: str, rule: str) -> Action:
    element = {"id": name, "dependencies": dependencies, "conclusion": conclusion, "rule": rule}
    read = read_action(json.dumps(element))
    assert read is not None
    return read


def wander(session: VerifierSession, there: list[Action], others: Sequence[Action], source: Random, steps: int) -> None:
    """Push and take back at random; ``there`` is kept equal to what the session holds."""
    for _ in range(steps):
        if there and source.random() < 0.45:
            assert session.pop().span == there.pop().span
        else:
            there.append(source.choice(others))
            session.push(there[-1])
        match source.randrange(4):
            case 0:
                session.report()
            case 1:
                assert len(session.state.steps) == len(there)
            case 2:
                session.cost()
            case _:
                pass


def arrive(session: VerifierSession, there: list[Action], actions: Sequence[Action]) -> None:
    """Take back what does not belong to the actions, and push the rest."""
    while tuple(there) != tuple(actions[: len(there)]):
        session.pop()
        there.pop()
    for one in actions[len(there) :]:
        session.push(one)


@given(case=corrupted_attempts(catalogue=FOLIO), source=st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_what_is_taken_back_leaves_nothing_behind(case: Corrupted, source: Random) -> None:
    given_, text = case.problem, case.completion
    trace = read_completion(text)
    session = VerifierSession(given_, VERIFIER)
    there: list[Action] = []
    wander(session, there, trace.actions, source, 3 * len(trace.actions))
    fresh = VerifierSession(given_, VERIFIER)
    fresh.extend(there)
    assert encode(session.report()) == encode(fresh.report())
    assert session.cost() == fresh.cost()
    assert session.entailments == fresh.entailments
    assert session.state == fresh.state
    arrive(session, there, trace.actions)
    assert session.report(parsed=trace.parsed) == VERIFIER.verify(given_, text)
    assert session.cost(parsed=trace.parsed) == VERIFIER.cost(given_, text)


@given(any_text())
def test_any_text_can_be_pushed(text: str) -> None:
    case = problem("P(a)", goal="P(a)")
    trace = read_completion(text)
    session = VerifierSession(case, VERIFIER)
    for one in trace.actions:
        session.push(one)
    assert session.report(parsed=trace.parsed) == VERIFIER.verify(case, text)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("part", "actions"), [(slice(0, None, 5), 1526), pytest.param(slice(None), 7586, marks=pytest.mark.long)]
)
def test_the_reports_on_benchmark_traces_are_those_of_verify(shared_data: Path, part: slice, actions: int) -> None:
    source, verifier = Random(0), Verifier()
    compared = 0
    for given_, row in reference_traces(shared_data)[part]:
        text = row["response"]
        trace = read_completion(text)
        session = VerifierSession(given_, verifier)
        there: list[Action] = []
        if trace.actions:
            wander(session, there, trace.actions, source, 4)
        arrive(session, there, trace.actions)
        expected = verifier.verify(given_, text)
        assert encode(session.report(parsed=trace.parsed)) == encode(expected)
        compared += len(expected.actions)
    assert compared == actions


# -- examples ---------------------------------------------------------------------------------------------------------


def test_a_binding_that_others_follow_is_checked_again() -> None:
    case = problem("P(a) ∧ Q(a)", goal="P(a)")
    session = VerifierSession(case)
    first = session.push(action("s1", ["h1"], "P(a)", CE))
    assert (first.signal, first.in_closure, first.terminal) == (1.0, False, False)
    binding = session.push(action("h_goal_true", ["s1"], "P(a)", GB))
    assert (binding.signal, binding.in_closure, binding.terminal) == (1.0, True, True)
    assert session.report().verified
    session.push(action("s2", ["h1"], "Q(a)", CE))
    report = session.report()
    assert not report.verified
    assert codes(report.actions[1]) >= {Code.NO_RULE_MATCH}
    assert [step.terminal for step in report.actions] == [False, False, False]
    assert session.pop().id == "s2"
    assert session.report().verified
    assert session.state.steps[1] == binding


def test_actions_can_follow_a_binding_together() -> None:
    case = problem("P(a) ∧ Q(a)", goal="P(a)")
    binding = action("h_goal_true", ["h1"], "P(a)", CE)
    others = [action("s2", ["h1"], "Q(a)", CE), action("s3", ["h1"], "P(a)", CE)]
    session = VerifierSession(case)
    session.push(binding)
    session.extend([])
    assert session.state.steps[0].terminal
    session.extend(others)
    whole = VerifierSession(case)
    whole.extend([binding, *others])
    assert session.report() == whole.report()
    assert [step.terminal for step in session.state.steps] == [False, False, False]


@pytest.mark.parametrize("read", ["state", "cost", "report"])
def test_reports_after_a_step_back(read: str) -> None:
    case = problem("P(a) ∧ Q(a)", goal="P(a)")
    binding, other = action("h_goal_true", ["h1"], "¬¬P(a)", GB), action("s2", ["h1"], "Q(a)", CE)
    session, fresh = VerifierSession(case), VerifierSession(case)
    session.extend([binding, other])
    session.pop()
    fresh.push(binding)
    found, expected = [getattr(one, read) for one in (session, fresh)]
    assert (found() if callable(found) else found) == (expected() if callable(expected) else expected)
    assert session.state.steps[0].terminal


def test_the_state_tells_entailed_from_rule_steps() -> None:
    session = VerifierSession(problem("P(a) ∧ Q(a)", goal="P(a)"))
    session.push(action("s1", ["h1"], "P(a)", "MODUS_TOLLENS"))
    assert (list(session.state.semantic), list(session.state.rule)) == (["h1", "s1"], ["h1"])


def test_a_trace_pays_for_the_consistency_of_its_premises() -> None:
    case = problem("P(a) ∨ Q(a)", "¬P(a)", goal="Q(a)")
    verifier = Verifier()
    steps = verifier.context(case).contradiction.steps
    assert steps > 0
    assert VerifierSession(case, verifier).cost() == QUESTION + steps


def test_the_cost_includes_the_answer() -> None:
    session = VerifierSession(problem("P(a)", goal="Q(a)"))
    session.push(action("h_goal_uncertain", ["h1"], "Q(a)", GB))
    assert session.cost() == session.cost(parsed=True) > session.cost(parsed=False)


def asked(session: VerifierSession) -> list[str]:
    """The questions of ``obligations`` after those of the actions, as text."""
    kept = session.obligations[len(session.entailments) :]
    return [f"{'; '.join(map(show, query.dependencies))} ⊢ {show(query.conclusion)}" for query, _ in kept]


def test_the_obligations_of_an_answer() -> None:
    case = problem("P(a) ∧ Q(a)", goal="P(a)")
    model = "P(a) ∧ Q(a) ⊢ ⊥"
    session = VerifierSession(case)
    assert asked(session) == [model]
    session.push(action("s0", ["h1"], "Q(a)", CE))
    assert asked(session) == [model]  # it states no option
    session.push(action("s1", ["h1"], "P(a)", CE))
    assert asked(session) == [model]
    session.push(action("h_goal_true", ["s1"], "P(a)", GB))
    assert asked(session) == [model]  # the formula of the option itself
    session.pop()
    session.push(action("h_goal_true", ["s1"], "¬¬P(a)", GB))
    assert asked(session) == [model, " ⊢ ¬¬P(a) ↔ P(a)"]
    session.pop()
    session.push(action("h_goal_true", ["s1"], "P(", GB))
    assert asked(session) == [model]
    session.pop()
    session.push(action("h_goal_uncertain", ["s1"], "P(a)", GB))
    assert asked(session) == [model, "P(a) ∧ Q(a) ⊢ P(a)", "P(a) ∧ Q(a) ⊢ ¬P(a)"]


def test_obligations_are_not_paid_for() -> None:
    session = VerifierSession(problem("P(a) ∧ Q(a)", goal="R(a)"))
    session.push(action("h_goal_uncertain", ["h1"], "R(a)", GB))
    assert session.entailments
    spent = session._oracle.mark()
    assert session.obligations
    assert session._oracle.mark() == spent


def test_a_trace_that_binds_no_answer_has_no_closure() -> None:
    session = VerifierSession(problem("P(a) ∧ Q(a)", goal="P(a)"))
    session.push(action("s1", ["h1"], "P(a)", CE))
    report = session.report()
    assert (report.closure, report.used_closure, report.actions[0].in_closure) == ((), (), False)


def test_unused_dependencies_are_not_in_the_used_closure() -> None:
    session = VerifierSession(problem("P(a) ∧ Q(a)", "R(a)", goal="P(a)"))
    session.push(action("h_goal_true", ["h1", "h2"], "P(a)", CE))
    report = session.report()
    assert (report.closure, report.used_closure) == (("h1", "h2", "h_goal_true"), ("h1", "h_goal_true"))


def test_the_price_of_the_last_action() -> None:
    prices = []
    for name in ("h_goal_true", "s1"):  # only the first binds the answer, which is compared with its option
        session = VerifierSession(problem("P(a) ∧ Q(a)", goal="P(a)"))
        session.push(action(name, ["h1"], "¬¬P(a)", CE))
        prices.append(session.cost(parsed=False))
    assert prices[0] > prices[1]


def test_a_step_that_depends_on_itself_is_told_so() -> None:
    step = VerifierSession(problem("P(a)", goal="P(a)")).push(action("s1", ["s1"], "P(a)", CE))
    assert "dependency 's1' is this action itself" in [finding.message for finding in step.findings]


def test_no_instance_of_quantifier_negation_fails() -> None:
    session = VerifierSession(problem("P(a) ∧ Q(a)", goal="P(a)"), VERIFIER)
    step = session.push(action("s1", ["h1"], "P(a)", "QUANTIFIER_NEGATION"))
    assert (step.semantic, step.rule, step.progress) == (True, False, True)


def test_a_failed_step_can_be_tried_again_under_the_same_id() -> None:
    session = VerifierSession(problem("P(a) ∧ Q(a)", goal="P(a)"))
    assert session.push(action("s1", ["h1"], "¬P(a)", CE)).signal == 0.1
    assert session.push(action("s1", ["h1"], "P(a)", CE)).signal == 0.0  # the id is taken
    session.pop()
    session.pop()
    assert session.push(action("s1", ["h1"], "P(a)", CE)).signal == 1.0
    assert sorted(session.state.semantic) == sorted(session.state.rule) == ["h1", "s1"]


def test_a_symbol_that_was_taken_back_can_be_used_in_another_way() -> None:
    session = VerifierSession(problem("P(a)", goal="P(a)"))
    rule = "DISJUNCTION_INTRODUCTION"
    assert session.push(action("s1", ["h1"], "P(a) ∨ R(a, a)", rule)).semantic
    clash = session.push(action("s2", ["h1"], "P(a) ∨ R(a)", rule))
    assert [finding.code for finding in clash.findings] == [Code.SYMBOL_CLASH]
    session.pop()
    session.pop()
    assert session.push(action("s2", ["h1"], "P(a) ∨ R(a)", rule)).semantic


def test_an_empty_session_has_nothing_to_take_back() -> None:
    session = VerifierSession(problem("P(a)", goal="P(a)"))
    with pytest.raises(IndexError, match="no action to take back"):
        session.pop()
    report = session.report()
    assert (report.actions, report.answer, report.parsed) == ((), None, True)


def test_what_is_taken_back_is_not_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem("P(a) ∧ Q(a)", "R(a) ∧ S(a)", goal="P(a)")
    first, second = action("s1", ["h1"], "P(a)", CE), action("s2", ["h2"], "R(a)", CE)
    full = VerifierSession(case)
    full.extend([first, second])
    monkeypatch.setattr(proof_r1_formal.proof.session, "TRACE_STEPS", full.cost())
    session = VerifierSession(case)
    for _ in range(50):
        session.push(second)
        session.pop()
    session.extend([first, second])
    assert not session.state.spent
    assert [step.signal for step in session.state.steps] == [1.0, 1.0]
    session.push(action("s3", ["h1"], "Q(a)", CE))
    assert session.state.spent
    session.pop()
    assert not session.state.spent


def test_a_trace_pays_for_its_rule_checks() -> None:
    """Next to the price of its rule check, a step costs the same under a rule that is not known."""
    asked = problem("P(a) ∧ Q(a)", goal="P(a)")
    prices = []
    for rule in (CE, "NO_SUCH_RULE"):
        session = VerifierSession(asked, VERIFIER)
        session.push(action("s1", ["h1"], "P(a)", rule))
        prices.append(session.cost())
    budget = VERIFIER.inquiry()
    VERIFIER.match_rule(CE, (asked.premises[0].formula,), parse_formula("P(a)"), terminal=False, budget=budget)
    assert prices[0] - prices[1] == budget.charged > 0


def test_a_terminal_instance_may_state_another_formula() -> None:
    """Only GOAL_BINDING asks for the formula of the option; the answer is not verified either way."""
    session = VerifierSession(problem("P(a) ∧ Q(a)", goal="P(a)"), VERIFIER)
    step = session.push(action("h_goal_true", ["h1"], "Q(a)", CE))
    assert (step.terminal, step.semantic, step.rule, step.progress) == (True, True, True, False)
    assert not session.report().verified
    session.pop()
    step = session.push(action("h_goal_true", ["h1"], "P(a) ∧ Q(a)", GB))
    assert (step.terminal, step.semantic, step.rule, step.progress) == (True, True, False, False)


def test_a_dependency_that_a_program_names_twice_shifts_no_name() -> None:
    session = VerifierSession(problem("P(a)", "P(a) → Q(a)", goal="Q(a)"))
    conclusion = parse_formula("Q(a)")
    made = Action((0, 1), "s1", ("h1", "h1", "h2"), "Q(a)", conclusion, "IMPLICATION_ELIMINATION")
    step = session.push(made)
    assert step.instance is not None
    assert (step.rule, step.instance.principal, step.used) == (True, ("h2",), ("h1", "h2"))
    [(query, answer)] = session.entailments
    assert confirm(query, answer).checked


def test_a_checked_proof_says_which_dependencies_it_uses() -> None:
    asked = problem("P(a)", "P(a) → Q(a)", goal="Q(a)")
    step = action("s1", ["h1", "h2"], "Q(a)", "IMPLICATION_ELIMINATION")
    assert VerifierSession(asked).push(step).used == ("h1", "h2")
    assert VerifierSession(asked, Verifier(evidence="none")).push(step).used is None


def test_the_holes_of_a_letter_are_shown_in_their_order() -> None:
    x, y = var("x"), var("y")
    schema = FOLIO.rules[0].schemata[0]
    report = _rule_report(Match(schema, {"R": Lambda((x, y), atom("likes", y, x))}, (), ()))
    assert report.substitution == {"R": "λx. λy. likes(y, x)"}
