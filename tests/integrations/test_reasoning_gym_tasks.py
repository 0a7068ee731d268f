"""Entries of reasoning-gym to problems, without the library: the formulas, the answers, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from proof_r1_formal import COMPLETE, Problem, ProofR1Error, Verifier, parse_formula, show
from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.data.problem import Rejected
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.integrations.reasoning_gym_agreement import Judged, judge
from proof_r1_formal.integrations.reasoning_gym_tasks import _clue, answers, problem_of
from proof_r1_formal.kernel.syntax import App
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.proof.trajectory import summary
from tests.solvers import SILENT

VERIFIER = Verifier(rules=COMPLETE)
PROVER = Prover(VERIFIER, budget=5_000)


def entry(task: str, answer: str | None, **data: Any) -> dict[str, Any]:
    return {"question": "Why?", "answer": answer, "metadata": {"source_dataset": task, **data}}


PROPOSITIONAL = entry("propositional_logic", None, premises=["(P → ¬Q)", "Q"], example_answer="¬P")
SYLLOGISM = entry(
    "syllogism", "Yes", premise1="All cats are dogs", premise2="No dogs are bees", conclusion="Some cats are not bees"
)
FALLACY = entry(
    "syllogism", "Yes", premise1="All cats are dogs", premise2="Some dogs are bees", conclusion="Some cats are bees"
)
TERMS = {"knight": "sage", "knave": "fool", "a_knight": "a sage", "a_knave": "a fool"}
KNIGHTS = entry(
    "knights_knaves",
    "Mia is a fool, and Jack is a sage.",
    names=["Mia", "Jack"],
    knight_knave_terms=TERMS,
    statements=[["and", ["lying", 1], ["telling-truth", 0]], ["not", ["->", ["lying", 0], ["lying", 1]]]],
)
CIRCUIT = entry(
    "circuit_logic",
    "1",
    assignments={"A": 1, "B": 0},
    term_strings=["A&B'", "A↑B", "A⊕B⊕A"],
    final_gate="AND",
)
CIRCUIT["answer"] = "0"


def read(given: dict[str, Any]) -> Problem:
    found = problem_of(given, 3)
    assert isinstance(found, Problem)
    return found


def judged(given: dict[str, Any], accepted: str, *, proof: bool = True) -> Judged:
    """With a scorer that accepts one answer."""
    return judge(given, 3, lambda text, _: float(text == accepted), PROVER, with_proof=proof)


@pytest.mark.parametrize(
    ("given", "premises", "options"),
    [
        (PROPOSITIONAL, ["P → ¬Q", "Q"], {"True": "¬P", "False": "¬¬P", "Uncertain": "¬P"}),
        (
            SYLLOGISM,
            ["∀x (cats(x) → dogs(x))", "∀x (dogs(x) → ¬bees(x))", "∃x cats(x)", "∃x dogs(x)", "∃x bees(x)"],
            {
                "True": "∃x (cats(x) ∧ ¬bees(x))",
                "False": "¬∃x (cats(x) ∧ ¬bees(x))",
                "Uncertain": "∃x (cats(x) ∧ ¬bees(x))",
            },
        ),
        (
            KNIGHTS,
            ["sage(mia) ↔ ¬sage(jack) ∧ sage(mia)", "sage(jack) ↔ ¬(¬sage(mia) → ¬sage(jack))"],
            {
                "Mia is a sage, and Jack is a sage.": "sage(mia) ∧ sage(jack)",
                "Mia is a sage, and Jack is a fool.": "sage(mia) ∧ ¬sage(jack)",
                "Mia is a fool, and Jack is a sage.": "¬sage(mia) ∧ sage(jack)",
                "Mia is a fool, and Jack is a fool.": "¬sage(mia) ∧ ¬sage(jack)",
            },
        ),
        (
            CIRCUIT,
            ["A", "¬B", "G1 ↔ A ∧ ¬B", "G2 ↔ ¬(A ∧ B)", "G3 ↔ A ⊕ B ⊕ A", "OUT ↔ G1 ∧ G2 ∧ G3"],
            {"1": "OUT", "0": "¬OUT"},
        ),
    ],
)
def test_an_entry_is_a_problem(given: dict[str, Any], premises: list[str], options: dict[str, str]) -> None:
    problem = read(given)
    assert problem.id == f"{given['metadata']['source_dataset']}/3"
    assert [show(premise.formula) for premise in problem.premises] == premises
    assert {option.label: show(option.formula) for option in problem.options} == options
    assert from_json(to_json(problem)) == problem


@pytest.mark.parametrize(
    ("given", "accepted"),
    [(PROPOSITIONAL, "¬P"), (SYLLOGISM, "Yes"), (CIRCUIT, "0")],
)
def test_the_answer_has_evidence_and_a_reference_proof(given: dict[str, Any], accepted: str) -> None:
    found = judged(given, accepted)
    assert found.agreement == "agree"
    assert isinstance(found.problem, Problem)
    assert answers(found.problem)[found.problem.answer or ""] == accepted
    report = VERIFIER.verify(found.problem, summary(found.problem.proofs[0]))
    assert (report.answer_correct, report.rule_verified) == (True, True)


def test_a_formula_that_says_little_is_right() -> None:
    """Its scorer gives a variable and a tautology a quarter, and what does not follow a twentieth."""
    found = judge(PROPOSITIONAL, 3, lambda text, _: 0.25 if text == "¬P" else 0.05, PROVER)
    assert found.agreement == "agree"


def test_a_fallacy_that_the_scorer_accepts_is_refuted() -> None:
    """The middle term is distributed in neither premise."""
    found = judged(FALLACY, "Yes")
    assert found.agreement == "differ"
    assert isinstance(found.problem, Problem)
    assert found.problem.answer == "h_goal_uncertain"
    [note] = found.problem.notes
    assert note.startswith("the scorer of reasoning-gym accepts 'Yes', but ∃x (cats(x) ∧ bees(x)) is false in a model")


def test_a_puzzle_with_two_solutions_has_no_answer() -> None:
    """Jack says that Mia lies only if he does, which either of two assignments makes true."""
    found = judged(KNIGHTS, "Mia is a fool, and Jack is a sage.")
    assert found.agreement == "differ"
    assert isinstance(found.problem, Problem)
    assert (found.problem.answer, found.problem.proofs) == (None, ())


def test_what_no_evidence_decides_has_no_answer() -> None:
    found = judge(FALLACY, 3, lambda text, _: 1.0, Prover(Verifier(SILENT, rules=COMPLETE)))
    assert found.agreement == "undecided"
    assert isinstance(found.problem, Problem)
    assert (found.problem.answer, found.problem.notes) == (None, ())


def test_contradictory_premises_are_no_problem_but_are_compared() -> None:
    given = entry("propositional_logic", None, premises=["P", "¬P"], example_answer="(P ∧ Q)")
    found = judge(given, 3, lambda text, _: 1.0, PROVER)
    assert (found.agreement, found.consistent) == ("agree", False)
    assert isinstance(found.problem, Rejected)
    assert judge(given, 3, lambda text, _: 0.05, PROVER).agreement == "differ"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (entry("circuit_logic", "1", assignments={"A": 1}, term_strings=["A"], final_gate="OR"), "has one input"),
        (entry("zebra_puzzles", "bob"), "is not written as those of zebra puzzles"),
        (entry("propositional_logic", None, premises=["(P →"], example_answer="P"), "ends too early"),
        (
            entry("syllogism", "No", premise1="All a are not b", premise2="No b are c", conclusion="No a are c"),
            "has two readings",
        ),
        (entry("syllogism", "No", premise1="Most a are b", premise2="", conclusion=""), "is not a categorical"),
    ],
)
def test_an_entry_that_is_no_problem_says_why(given: dict[str, Any], why: str) -> None:
    found = problem_of(given, 3)
    assert isinstance(found, Rejected)
    assert why in found.reasons[0]


def test_another_task_is_an_error() -> None:
    with pytest.raises(ProofR1Error, match="'sudoku' is not a task that is read"):
        problem_of(entry("sudoku", "1"), 0)


@pytest.mark.parametrize(
    ("clue", "formula"),
    [
        ("the cat lover is in the second house.", "cat(h2)"),
        ("the cat lover is the tea drinker.", "∀x (cat(x) ↔ tea(x))"),
        (
            "the cat lover is directly left of the tea drinker.",
            "(cat(h1) ∧ tea(h2)) ∨ (cat(h2) ∧ tea(h3))",
        ),
        (
            "the cat lover and the tea drinker are next to each other.",
            "(cat(h1) ∧ tea(h2)) ∨ (cat(h2) ∧ tea(h3)) ∨ (cat(h2) ∧ tea(h1)) ∨ (cat(h3) ∧ tea(h2))",
        ),
    ],
)
def test_a_clue_of_a_puzzle_by_hand(clue: str, formula: str) -> None:
    houses = [App(f"h{number}", ()) for number in (1, 2, 3)]
    found = _clue(clue, {"the cat lover": "cat", "the tea drinker": "tea"}, houses)
    assert alpha_equivalent(parse_formula(show(found)), parse_formula(formula))
