"""The engine's proofs as linear steps: each a closed formula that its dependencies entail, by a rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof_r1_formal.data.problem import Option, Problem
from proof_r1_formal.generate.closing import closed
from proof_r1_formal.generate.from_evidence import derivation
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Reason
from proof_r1_formal.generate.translation import CheckOracle, searched_rules
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO, TRAIN
from proof_r1_formal.text.parse import parse_formula
from studies.puzzles import entailed, knights, zebra
from tests.build import problem

VERIFIER = Verifier(rules=COMPLETE)
PROVER = Prover(VERIFIER, budget=2_000)

PROBLEMS = [
    entailed("disjunction", ["P(a)"], "P(a) ∨ Q(b)"),
    entailed("implication", ["P → Q", "Q → R"], "P → R ∨ S"),
    entailed("cases", ["P(a) ∨ Q(a)", "∀x (P(x) → R(x))", "∀x (Q(x) → R(x))"], "R(a)"),
    entailed("witness", ["∀x ∃y F(x, y)", "∀x ∀y (F(x, y) → ∀z (F(y, z) → H(x, z)))"], "∀x ∃y H(x, y)"),
    entailed("two witnesses", ["∃x ∃y (R(x, y) ∧ P(y))", "∀x ∀y (R(x, y) → R(y, x))"], "∃x ∃y (R(x, y) ∧ P(x))"),
    entailed("equality", ["∀x (P(x) → x = a)", "∃x (P(x) ∧ Q(x))"], "Q(a)"),
    entailed("pigeons", ["∀x (x = a ∨ x = b)", "¬(c = d)", "¬(d = e)", "¬(c = a)"], "d = a ∧ ¬(e = a)"),
    entailed("no element is named", ["∀x P(x)", "∀x (P(x) → Q)"], "Q"),
    entailed("reductio", ["¬P → Q", "¬P → ¬Q", "P → R"], "R ∧ P"),
    knights(4, 1),
    knights(5, 2),
    zebra(3, 1),
]
TRUTHS = [
    entailed("Peirce", [], "((p → q) → p) → p"),
    entailed("drinker", [], "∃x (D(x) → ∀y D(y))"),
    entailed("Russell", [], "¬∃x ∀y (F(x, y) ↔ ¬F(y, y))"),
]


def formulas(problem: Problem) -> tuple[tuple[Formula, ...], Formula]:
    return tuple([premise.formula for premise in problem.premises]), problem.options[0].formula


@pytest.mark.parametrize("problem", PROBLEMS + TRUTHS, ids=lambda problem: problem.id)
def test_every_node_follows_from_its_dependencies(problem: Problem) -> None:
    premises, conclusion = formulas(problem)
    answer = VERIFIER.oracle.entails(premises, conclusion)
    assert isinstance(answer, Entailed)
    assert answer.proof is not None
    found = derivation(answer.proof, premises, conclusion)
    assert found is not None
    for number, node in enumerate(found.nodes):
        assert not node.formula.free
        assert all(dependency < number for dependency in node.dependencies)
        if number >= len(premises):
            given = tuple([found.nodes[dependency].formula for dependency in node.dependencies])
            assert isinstance(VERIFIER.oracle.entails(given, node.formula), Entailed), (number, node)
    says = found.nodes[found.end].formula
    assert isinstance(VERIFIER.oracle.equivalent(says, conclusion), Entailed)


@pytest.mark.parametrize("problem", PROBLEMS + TRUTHS, ids=lambda problem: problem.id)
def test_the_proof_passes_the_ordinary_pass(problem: Problem) -> None:
    result = PROVER.prove(problem)
    assert isinstance(result, Proved)
    assert result.report.rule_verified
    assert result.report.consistency == "consistent"
    assert all(len(step.dependencies) <= MAX_DEPENDENCIES for step in result.steps)
    if problem in TRUTHS:
        assert result.translated
        assert {finding.code for a in result.report.actions[:-1] for finding in a.findings} >= {"TAUTOLOGY"}
    else:
        assert {action.signal for action in result.report.actions} <= {VERIFIED, 0.3}


def test_a_witness_is_supposed() -> None:
    result = PROVER.prove(PROBLEMS[3])
    assert isinstance(result, Proved)
    assert [(step.dependencies, step.rule, step.conclusion) for step in result.steps] == [
        (("h1", "h2"), "EXISTENTIAL_IMPLICATION_ELIMINATION", "∀x ∀y (F(x, y) → ∃z H(x, z))"),
        (("h1", "s1"), "EXISTENTIAL_ELIMINATION", "∀x ∃y H(x, y)"),
        (("s2",), "GOAL_BINDING", "∀x ∃y H(x, y)"),
    ]


def test_the_other_catalogues_give_up_as_before() -> None:
    for rules in (TRAIN, FOLIO):
        assert Prover(Verifier(rules=rules), budget=2_000).prove(PROBLEMS[0]) == GaveUp(Reason.NO_PROOF, "goal")


def test_contradictory_premises_prove_nothing() -> None:
    result = PROVER.prove(problem("P", "¬P", options=[Option("goal", "True", parse_formula("Q ∨ R"))]))
    assert isinstance(result, GaveUp)


def test_the_search_tries_the_rules_of_folio() -> None:
    assert searched_rules(COMPLETE).rules == FOLIO.rules
    assert searched_rules(TRAIN) is TRAIN


def test_a_question_that_two_checks_ask_is_paid_once() -> None:
    premise, conclusion = parse_formula("∀x P(x)"), parse_formula("P(a) ∧ P(b)")
    asked: set[tuple[tuple[Formula, ...], Formula]] = set()
    first, second = [CheckOracle(VERIFIER.oracle.answers, 1_000, asked) for _ in range(2)]
    for oracle, repeated in ((first, 0), (second, 21)):
        assert isinstance(oracle.entails((premise,), conclusion), Entailed)
        assert isinstance(oracle.entails((premise,), conclusion), Entailed)
        assert (oracle.charged, oracle.repeated) == (21, repeated)
    second.entails((premise,), parse_formula("P(a)"))
    assert second.charged > second.repeated == 21


def test_equal_terms_need_a_step() -> None:
    result = PROVER.prove(entailed("reflexivity", ["P(a)"], "∃x (P(x) ∧ f(x) = f(a))"))
    assert isinstance(result, Proved)
    assert [(step.dependencies, step.rule, step.conclusion) for step in result.steps[:-1]] == [
        ((), "EQUALITY_REFLEXIVITY", "f(a) = f(a)"),
        (("h1", "s1"), "EXISTENTIAL_INTRODUCTION", "∃x (P(x) ∧ f(x) = f(a))"),
    ]


def test_a_line_closes_over_new_constants_only() -> None:
    statement, supposed = parse_formula("R(c1, a)"), parse_formula("∀x P(x, c1)")
    taken = frozenset({"R", "P", "a"})
    assert str(closed(statement, (supposed,), {"c1": "Entity"}, taken)) == "∀x ((∀y P(y, x)) → R(x, a))"
    assert str(closed(statement, (), {}, taken | {"c1"})) == "R(c1, a)"


def test_a_catalogue_without_the_expensive_rules_has_fewer_proofs() -> None:
    expensive = ("REDUCTIO_AD_ABSURDUM", "MODUS_TOLLENS", "DISJUNCTIVE_SYLLOGISM", "EXISTENTIAL_ELIMINATION")
    rules = tuple([rule for rule in COMPLETE.rules if rule.name not in expensive])
    prover = Prover(Verifier(rules=replace(COMPLETE, rules=rules, aliases={})), budget=2_000)
    assert isinstance(prover.prove(TRUTHS[2]), GaveUp)
