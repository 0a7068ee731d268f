"""The answer of a trace: the option that it selects, whether it is right, and Uncertain with its countermodels."""

from __future__ import annotations

import pytest

from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import ENTITY
from proof_r1_formal.proof.report import Code, decode, encode
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.text.parse import parse_formula
from tests.build import codes, completion, problem
from tests.proof.short_traces import CE, GB, VERIFIER, run
from tests.solvers import Told


def test_an_action_with_the_id_of_an_option_is_terminal() -> None:
    report = run(problem("G(a) ∧ P(a)"), ("h_goal_true", ["h1"], "G(a)", CE))
    assert report.actions[0].terminal
    assert report.closure == ("h1", "h_goal_true")


def test_answers_are_right_or_wrong_or_unknown() -> None:
    steps = ("h_goal_true", ["h1"], "G(a)", CE)
    assert run(problem("G(a) ∧ P(a)"), steps).answer_correct is True
    assert run(problem("G(a) ∧ P(a)", answer="h_goal_false"), steps).answer_correct is False


def test_a_terminal_action_without_an_id_has_a_closure() -> None:
    text = '<summary>[{"dependencies": ["h1"], "conclusion": "G(a)", "rule": "GOAL_BINDING"}]</summary>'
    report = VERIFIER.verify(problem("G(a)"), text)
    assert report.closure == ("h1", "")
    assert decode(encode(report)) == report


def test_conclusions_select_options_in_evaluation_only() -> None:
    case = problem("G(a) ∧ P(a)")
    text = completion(("s1", ["h1"], "¬¬G(a)", CE))
    assert Verifier().verify(case, text).answer == "h_goal_true"
    report = Verifier(evaluation=False).verify(case, text)
    assert (report.answer, report.answer_correct) == (None, False)


def test_aliases_count_only_where_they_are_allowed() -> None:
    case = problem("P(a)", "P(a) → Q(a)")
    text = completion(("s1", ["h1", "h2"], "Q(a)", "MODUS_PONENS"))
    assert codes(VERIFIER.verify(case, text).actions[0]) == {Code.UNKNOWN_RULE}
    assert Verifier(aliases=True).verify(case, text).actions[0].rule


def test_a_rule_that_is_spelled_in_another_way_counts_in_full() -> None:
    case = problem("P(a)", "P(a) → G(a)")
    spelled = completion(("s1", ["h1", "h2"], "G(a)", "Modus Ponens"), ("h_goal_true", ["s1"], "G(a)", "goal binding"))
    [first, second] = Verifier(aliases=True).verify(case, spelled).actions
    assert (first.rule, first.progress, second.rule, second.progress) == (True, True, True, True)
    assert codes(VERIFIER.verify(case, spelled).actions[1]) >= {Code.UNKNOWN_RULE}


def test_an_aliased_goal_binding_is_the_terminal_action() -> None:
    """Also under an id that is not an option's: it then binds nothing, and says so."""
    case = problem("P(a)", goal="P(a)")
    text = completion(("s1", ["h1"], "P(a)", "Goal Binding"))
    plain, aliased = (Verifier(aliases=aliases).verify(case, text).actions[0] for aliases in (False, True))
    assert (plain.terminal, aliased.terminal) == (False, True)
    assert Code.BINDING_MISMATCH in codes(aliased)


@pytest.mark.parametrize(
    ("premise", "expected"), [("P(a) ∨ G(a)", "verified"), ("G(a)", "refuted"), ("¬G(a)", "refuted")]
)
def test_uncertain_is_verified_by_two_countermodels(premise: str, expected: str) -> None:
    case = problem(premise, answer="h_goal_uncertain")
    report = run(case, ("h_goal_uncertain", ["h1"], "G(a)", GB))
    assert report.answer_correct is True
    assert report.uncertain == expected
    assert report.actions[0].semantic == (premise == "G(a)")


MODEL = Structure({ENTITY: 1}, {"P": frozenset([(0,)]), "G": frozenset()}, {"a": {(): 0}})
OTHER = Structure({ENTITY: 1}, {"P": frozenset([(0,)]), "G": frozenset([(0,)])}, {"a": {(): 0}})


@pytest.mark.parametrize(
    ("to_goal", "to_negation", "expected"),
    [
        (Refuted(MODEL), Refuted(OTHER), "verified"),
        (Refuted(MODEL), Refuted(MODEL), "undecided"),
        (Refuted(MODEL), Unknown(Reason.BUDGET), "undecided"),
        (Unknown(Reason.BUDGET), Refuted(OTHER), "undecided"),
        (Refuted(MODEL), Refuted(), "undecided"),
        (Refuted(), Refuted(), "undecided"),
        (Refuted(MODEL), Entailed(), "undecided"),
        (Entailed(), Unknown(Reason.BUDGET), "undecided"),
    ],
)
def test_uncertain_needs_both_countermodels(to_goal: Answer, to_negation: Answer, expected: str) -> None:
    verifier = Verifier(Told({"G(a)": to_goal, "¬G(a)": to_negation}, Unknown(Reason.BUDGET)))
    text = completion(("h_goal_uncertain", ["h1"], "G(a)", GB))
    assert verifier.verify(problem("P(a)", answer="h_goal_uncertain"), text).uncertain == expected


def test_contradictory_premises_are_reported() -> None:
    assert run(problem("P(a)", "¬P(a)"), ("s1", ["h1", "h2"], "G(a)", CE)).consistency == "inconsistent"


def test_no_action_no_answer() -> None:
    report = VERIFIER.verify(problem("P(a)"), "<summary>[]</summary>")
    assert (report.parsed, report.answer, report.actions, report.closure) == (True, None, (), ())


def test_questions_of_entailment_with_the_answers_that_count() -> None:
    case = problem("P(a) ∧ Q(a)", "R(a)")
    text = completion(("s1", ["h1"], "P(a)", CE), ("s2", ["h2"], "Q(a)", CE), ("s3", ["s2"], "Q(a)", CE))
    (first, yes), (second, no) = VERIFIER.entailments(case, text)
    assert first == Query((case.premises[0].formula,), parse_formula("P(a)"))
    assert second == Query((case.premises[1].formula,), parse_formula("Q(a)"))
    assert isinstance(yes, Entailed)
    assert isinstance(no, Refuted)


def test_countermodels_are_told_in_order() -> None:
    rows = frozenset((x, y) for x in range(6) for y in range(6))
    table: dict[tuple[int, ...], int] = {(n,): (n * 5) % 6 for n in (3, 1, 5, 0, 4, 2)}
    model = Structure({ENTITY: 6}, {"R": rows, "G": frozenset()}, {"f": table, "a": {(): 0}})
    verifier = Verifier(Told({"G(a)": Refuted(model)}, Unknown(Reason.BUDGET)), evidence="none")
    (step,) = verifier.verify(problem("P(a)"), completion(("s1", ["h1"], "G(a)", CE))).actions
    assert step.countermodel is not None
    assert step.countermodel.predicates["R"] == tuple(sorted(rows))
    assert step.countermodel.functions["f"] == tuple(sorted(table.items()))
