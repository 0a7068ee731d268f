"""Proof synthesis: what is proved passes all checks and is short; what is not is open, or honestly given up."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Option, Problem
from proof_r1_formal.evaluation.outcomes import reference_length
from proof_r1_formal.generate.openings import cases, introducible
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Reason, Uncertain
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.model import evaluate
from proof_r1_formal.kernel.syntax import Formula, Iff, Implies, conjunction
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import FOLIO, TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.testing.attempts import Attempt, problems, valid_attempts
from proof_r1_formal.testing.strategies import formulas, signatures
from proof_r1_formal.text.parse import parse_formula
from tests import build
from tests.solvers import FiniteSolver

VERIFIER = Verifier()
PROVER = Prover(VERIFIER)
SHORT = Prover(VERIFIER, stepwise=False)
IN_FOLIO = Prover(Verifier(rules=FOLIO))


def problem(goal: str, *premises: str) -> Problem:
    return build.problem(*premises, goal=goal, answer=None)


def proved(result: object) -> Proved:
    assert isinstance(result, Proved), result
    return result


def rules_of(result: object) -> list[str]:
    return [step.rule for step in proved(result).steps]


# -- properties -------------------------------------------------------------------------------------------------------


def test_what_has_a_proof_is_proved_and_shortly_so() -> None:
    given_up = []

    @given(valid_attempts(TRAIN))
    @settings(max_examples=150)
    def prove(attempt: Attempt) -> None:
        result = SHORT.prove(attempt.problem)
        if not isinstance(result, Proved):  # of nested ⊕ under negations, one in a thousand is not found
            given_up.append(attempt)
            return
        assert len(result.steps) <= len(attempt.steps)
        assert result.answer == attempt.problem.answer
        report = Verifier().verify(attempt.problem, summary(result.steps))  # by a verifier that has seen nothing
        assert report == result.report
        assert [action.signal for action in report.actions] == [1.0] * len(result.steps)

    prove()
    assert len(given_up) <= 5  # Hypothesis tries much the same several times


@given(valid_attempts(FOLIO))
@settings(max_examples=80)
def test_with_more_rules_what_is_proved_is_right(attempt: Attempt) -> None:
    result = IN_FOLIO.prove(attempt.problem)
    if isinstance(result, Proved):
        assert result.answer == attempt.problem.answer
        assert all(action.signal == 1.0 for action in result.report.actions)
    else:
        assert isinstance(result, GaveUp)
        assert result.reason is Reason.NO_PROOF


@given(problems(max_premises=4))
@settings(max_examples=150)
def test_every_result_is_what_it_says(drawn: Problem) -> None:
    result = PROVER.prove(drawn)
    premises = tuple(premise.formula for premise in drawn.premises)
    claims = {option.id: option.formula for option in drawn.options if option.label != "Uncertain"}
    match result:
        case Proved(answer, steps, report):
            assert answer in claims
            assert steps[-1].rule == GOAL_BINDING
            assert all(action.signal == 1.0 for action in report.actions)
            assert report.consistency != "inconsistent"
            assert all(len(step.dependencies) <= 4 for step in steps)
        case Uncertain(models):
            assert models.keys() == claims.keys()
            for name, model in models.items():
                assert all(evaluate(premise, model) for premise in premises)
                assert not evaluate(claims[name], model)
        case GaveUp(reason, detail):
            assert reason is not Reason.NO_CLAIM
            if reason is Reason.INCONSISTENT:
                assert isinstance(VERIFIER.oracle.inconsistent(premises), Entailed)
            elif reason is Reason.NO_PROOF:
                assert isinstance(VERIFIER.oracle.entails(premises, claims[detail]), Entailed)


@given(signatures().flatmap(lambda signature: formulas(signature, equality=False, max_size=6)))
@settings(max_examples=150)
def test_cases_and_rewordings_of_a_formula_are_true_to_it(formula: Formula) -> None:
    def valid(claim: Formula) -> bool:
        return isinstance(VERIFIER.oracle.valid(claim), Entailed)

    for parts in cases(formula):
        assert valid(Implies(conjunction(parts), formula))
    for said in introducible(formula):
        assert valid(Iff(said, formula))


# -- examples ---------------------------------------------------------------------------------------------------------


def test_the_proof_of_a_small_problem() -> None:
    premises = (
        "∀x (has_rake(x) ∧ strong(x) → rakes(x))",
        "has_rake(tilo)",
        "strong(tilo)",
        "rakes(tilo) ⊕ prunes(tilo)",
    )
    short = proved(SHORT.prove(problem("prunes(tilo)", *premises)))
    assert short.answer == "h_goal_false"
    assert [(s.id, s.dependencies, s.conclusion, s.rule) for s in short.steps] == [
        ("s1", ("h1", "h2", "h3"), "rakes(tilo)", "IMPLICATION_ELIMINATION"),
        ("s2", ("h4", "s1"), "¬prunes(tilo)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
        ("h_goal_false", ("s2",), "¬prunes(tilo)", GOAL_BINDING),
    ]
    stepwise = proved(PROVER.prove(problem("prunes(tilo)", *premises)))
    assert [(s.dependencies, s.conclusion) for s in stepwise.steps[:2]] == [
        (("h2", "h3"), "has_rake(tilo) ∧ strong(tilo)"),
        (("h1", "s1"), "rakes(tilo)"),
    ]


@pytest.mark.parametrize(
    ("step", "rules"),
    [
        ("P(a) ⊢ P(a)", ""),
        ("P(a) → Q(a); ¬Q(a) ⊢ ¬P(a)", "MODUS_TOLLENS"),
        ("∀x P(x); Q(a) ⊢ P(a)", "UNIVERSAL_ELIMINATION"),
        ("P(a); ¬Q(a) ⊢ P(a) ⊕ Q(a)", "EXCLUSIVE_DISJUNCTION_INTRODUCTION"),
        ("P(a) ∨ Q(a) ∨ R(a); ¬Q(a); ¬P(a) ⊢ R(a)", "DISJUNCTIVE_SYLLOGISM"),
        ("Q(a); ¬P(a) ⊢ P(a) ∨ Q(a)", "EXCLUSIVE_DISJUNCTION_INTRODUCTION"),
        ("¬Q(a); ¬P(a) ⊢ ¬(P(a) ∨ Q(a))", "CONJUNCTION_INTRODUCTION"),
        ("P(a); R(a); ¬Q(a) ⊢ P(a) ∧ (Q(a) ∨ R(a))", "EXCLUSIVE_DISJUNCTION_INTRODUCTION CONJUNCTION_INTRODUCTION"),
        ("∀x (P(x) → Q(x)); ∀x (Q(x) → R(x)) ⊢ ∀x (P(x) → R(x))", "UNIVERSAL_IMPLICATION_CHAINING"),
        ("∀x (P(x) → Q(x)); ∀x (P(x) → R(x)) ⊢ ∀x (P(x) → Q(x) ∧ R(x))", "UNIVERSAL_PROPOSITIONAL_INFERENCE"),
        ("∃x P(x); ∀x (P(x) → Q(x)) ⊢ ∃x Q(x)", "EXISTENTIAL_IMPLICATION_ELIMINATION"),
        ("∃x P(x); Q(a) ⊢ ∃x (P(x) ∧ Q(a))", "EXISTENTIAL_CONJUNCTION_INTRODUCTION"),
        ("P(a); ¬Q(a) ⊢ ¬∀x (P(x) → Q(x))", "CONJUNCTION_INTRODUCTION EXISTENTIAL_INTRODUCTION"),
        ("¬∃x ¬P(x) ⊢ P(a)", "UNIVERSAL_ELIMINATION"),
    ],
)
def test_shortest_proofs(step: str, rules: str) -> None:
    premises, goal = step.split("⊢")
    of_train = all(TRAIN.find(rule) for rule in rules.split())
    result = proved((PROVER if of_train else IN_FOLIO).prove(problem(goal, *premises.split(";"))))
    assert rules_of(result) == [*rules.split(), GOAL_BINDING]
    assert result.answer == "h_goal_true"


def test_a_step_may_lean_on_a_proof_that_takes_more_than_parts() -> None:
    result = PROVER.prove(problem("R(a)", "P(a) → R(a)", "P(a) ∨ Q(a)", "Q(a) → P(a)"))
    assert rules_of(result) == ["IMPLICATION_ELIMINATION", GOAL_BINDING]
    assert set(proved(result).steps[0].dependencies) == {"h1", "h2", "h3"}


def test_a_case_split_has_no_proof_and_none_is_made_up() -> None:
    result = PROVER.prove(problem("R(a)", "P(a) ∨ Q(a)", "P(a) → R(a)", "Q(a) → R(a)"))
    assert result == GaveUp(Reason.NO_PROOF, "h_goal_true")
    for second in ("R(a)", "S(a)"):  # an introduction of ⊕ must not hide it either
        compound = PROVER.prove(problem("R(a) ∨ S(a)", "P(a) ∨ Q(a)", "P(a) → R(a)", f"Q(a) → {second}"))
        assert compound == GaveUp(Reason.NO_PROOF, "h_goal_true")


def test_a_problem_without_a_claim() -> None:
    only = build.problem(options=[Option("h_goal_uncertain", "Uncertain", parse_formula("P(a)"))])
    assert PROVER.prove(only) == GaveUp(Reason.NO_CLAIM)


def test_options_of_another_kind_and_ids_that_are_taken() -> None:
    choice = build.problem(("s1", "P(a) → Q(a)"), ("s2", "P(a)"), options={"s3": "R(a)", "A": "Q(a)"}, answer=None)
    result = proved(PROVER.prove(choice))
    assert (result.answer, [step.id for step in result.steps]) == ("A", ["s4", "A"])


def test_sorts() -> None:
    result = PROVER.prove(problem("barks(rex)", "∀x:Animal (dog(x) → barks(x))", "dog(rex)", "∀p:Person kind(p)"))
    assert rules_of(result) == ["IMPLICATION_ELIMINATION", GOAL_BINDING]


CHAIN = problem("P9(a)", "P0(a)", *[f"∀x (P{n}(x) → P{n + 1}(x))" for n in range(9)])


def test_small_budgets_and_earlier_calls() -> None:
    assert Prover(budget=20).prove(CHAIN) == GaveUp(Reason.BUDGET, "h_goal_true")
    first = PROVER.prove(CHAIN)
    assert len(proved(first).steps) == 10
    assert PROVER.prove(CHAIN) == first == Prover().prove(CHAIN)


def test_more_rules_lose_no_proof() -> None:
    with_few, with_many = (Prover(Verifier(rules=rules), budget=1000) for rules in (TRAIN, FOLIO))
    assert proved(with_many.prove(CHAIN)).steps == proved(with_few.prove(CHAIN)).steps
    assert with_many.prove(problem("∃x P(x)", "P(a)")) == IN_FOLIO.prove(problem("∃x P(x)", "P(a)"))
    assert Prover(Verifier(rules=FOLIO), budget=20).prove(CHAIN) == GaveUp(Reason.BUDGET, "h_goal_true")


def test_only_rules_of_the_catalogue_are_used() -> None:
    rules = Catalogue("fewer", tuple([rule for rule in TRAIN.rules if rule.name != "MODUS_TOLLENS"]))
    assert Prover(Verifier(rules=rules)).prove(problem("¬P(a)", "P(a) → Q(a)", "¬Q(a)")) == GaveUp(
        Reason.NO_PROOF, "h_goal_true"
    )


def test_the_solver_of_the_verifier_is_the_one_that_counts() -> None:
    prover = Prover(Verifier(FiniteSolver(), evidence="none"))
    assert rules_of(prover.prove(problem("Q(a)", "P(a) → Q(a)", "P(a)"))) == ["IMPLICATION_ELIMINATION", GOAL_BINDING]


# -- benchmark data ---------------------------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_nearly_every_answer_that_follows_is_proved(shared_data: Path, difficulty: str) -> None:
    found = list(read_problems(shared_data / "proverqa" / f"{difficulty}.json").values())[::2]
    results = {drawn.id: PROVER.prove(drawn) for drawn in found}
    entailed = 0
    for drawn in found:
        premises = tuple(premise.formula for premise in drawn.premises)
        claims = [option.formula for option in drawn.options[:2]]
        entailed += any(isinstance(VERIFIER.oracle.solver.decide(Query(premises, c)), Entailed) for c in claims)
    proofs = [result for result in results.values() if isinstance(result, Proved)]
    assert all(action.signal == 1.0 and not action.findings for r in proofs for action in r.report.actions)
    assert entailed > 60  # and not a handful
    assert len(proofs) >= 0.98 * entailed


@pytest.mark.shared
@pytest.mark.slow
def test_the_document_has_the_distance_to_references(shared_data: Path) -> None:
    golden = read_problems(shared_data / "llm_outputs" / "docailab_proverqa_golden_450.jsonl").values()
    for prover, expected in ((PROVER, 0.155), (SHORT, 0.235)):
        total = 0.0
        for drawn in golden:
            reference = reference_length(drawn)
            assert reference is not None
            total += abs(math.log(max(1, len(proved(prover.prove(drawn)).steps) - 1) / max(1, reference)))
        assert round(total / len(golden), 3) == expected


@pytest.mark.shared
@pytest.mark.slow
def test_most_of_folio_is_proved(shared_data: Path) -> None:
    found = list(read_problems(shared_data / "folio" / "folio_v0_validation.jsonl").values())[:40]
    results = [IN_FOLIO.prove(drawn) for drawn in found]
    proofs = [result for result in results if isinstance(result, Proved)]
    given_up = [result for result in results if isinstance(result, GaveUp)]
    assert all(action.signal == 1.0 for result in proofs for action in result.report.actions)
    assert {result.reason for result in given_up} <= {Reason.NO_PROOF}
    assert len(proofs) >= 2 * len(given_up)  # no rule introduces ∨, and some of these goals are disjunctions
