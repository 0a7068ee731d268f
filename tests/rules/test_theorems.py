"""Schemata as theorems of the calculus, and proof terms of rule instances that apply them."""

from __future__ import annotations

import pytest
from msgspec import structs

from proof_r1_formal.assistants.lean_evidence import entailment_theorem
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.errors import CatalogueError, ProofError
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.term import Apply
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.check import Match, check_rule
from proof_r1_formal.rules.schema import Rule, Schema, schema
from proof_r1_formal.rules.theorems import instance_proof, theorem
from proof_r1_formal.text.parse import parse_formula

ORACLE = Oracle(Answers(EmbeddedSolver(), tables=True))
SCHEMATA = [each for rule in FOLIO.rules for each in rule.schemata]


@pytest.mark.parametrize("each", SCHEMATA, ids=lambda each: each.name)
def test_every_schema_is_a_theorem(each: Schema) -> None:
    proved = theorem(each)
    check(proved.proof, proved.premises, proved.conclusion)
    assert theorem(each) is proved


@pytest.mark.parametrize(
    "unsound",
    [
        schema("affirming_the_consequent", "A → B", "B", "A"),
        schema("denying_the_antecedent", "A → B", "¬A", "¬B"),
        schema("xor_as_or", "A ∨ B", "A", "¬B"),
        schema("exists_as_forall", "∃x A(x)", "", "A(t)"),
    ],
    ids=lambda each: each.name,
)
def test_an_unsound_schema_is_none(unsound: Schema) -> None:
    with pytest.raises(CatalogueError, match=unsound.name):
        theorem(unsound)


def _match(rule: Rule, dependencies: tuple[str, ...], conclusion: str) -> Match:
    parsed = tuple(parse_formula(text) for text in dependencies)
    result = check_rule(rule, parsed, parse_formula(conclusion), ORACLE, terminal=True)
    assert isinstance(result, Match)
    return result


@pytest.mark.parametrize("rule", FOLIO.rules, ids=lambda rule: rule.name)
def test_examples_of_rules_apply_their_schemata(rule: Rule) -> None:
    match = _match(rule, rule.example.dependencies, rule.example.conclusion)
    dependencies = [parse_formula(text) for text in rule.example.dependencies]
    conclusion = parse_formula(rule.example.conclusion)
    proof = instance_proof(match, dependencies, conclusion)
    assert proof is not None
    check(proof, dependencies, conclusion)
    applied = [line for line in proof if isinstance(line, Apply)]
    assert [line.theorem.name for line in applied] == [match.schema.name]


@pytest.mark.parametrize(
    ("name", "dependencies", "conclusion"),
    [
        # the antecedent is entailed, not given; the implication stands under ∀ and behind another
        ("IMPLICATION_ELIMINATION", ("∀x (P(x) → (Q(x) ∨ R(x) → S(x)))", "P(a) ∧ R(a)"), "S(a)"),
        # regrouped and reordered operands
        ("DISJUNCTIVE_SYLLOGISM", ("(p ∨ q) ∨ (r ∨ s)", "¬r", "¬p"), "s ∨ q"),
        # a conclusion that is only equivalent to the schema's
        ("MODUS_TOLLENS", ("p → q", "¬q"), "¬¬¬p"),
        # one theorem, used three times
        (
            "UNIVERSAL_IMPLICATION_CHAINING",
            tuple(f"∀x (P{n}(x) → P{n + 1}(x))" for n in range(4)),
            "∀y (P0(y) → P4(y))",
        ),
        # an ∃ that two parts of the proof take a witness of
        ("EXISTENTIAL_CONJUNCTION_INTRODUCTION", ("∃x P(x)", "∃x Q(x)"), "∃x (P(x) ∧ ∃y Q(y))"),
    ],
)
def test_the_proof_leads_from_dependencies_to_the_schema(
    name: str, dependencies: tuple[str, ...], conclusion: str
) -> None:
    rule = FOLIO.find(name)
    assert rule is not None
    match = _match(rule, dependencies, conclusion)
    parsed = [parse_formula(text) for text in dependencies]
    proof = instance_proof(match, parsed, parse_formula(conclusion))
    assert proof is not None
    check(proof, parsed, parse_formula(conclusion))
    with pytest.raises(ProofError):
        check(proof, [*parsed[:-1], parse_formula("unrelated")], parse_formula(conclusion))


def test_another_instance_of_the_theorem_is_not_accepted() -> None:
    rule = FOLIO.find("IMPLICATION_ELIMINATION")
    assert rule is not None
    match = _match(rule, ("p → q", "p"), "q")
    swapped = {"A": match.substitution["B"], "B": match.substitution["A"]}
    proof = instance_proof(match, [parse_formula("p → q"), parse_formula("p")], parse_formula("q"))
    assert proof is not None
    (line,) = proof
    assert isinstance(line, Apply)
    wrong = Apply(line.theorem, swapped, line.premises)
    with pytest.raises(ProofError, match="premises are not those of the theorem"):
        check((wrong,), [parse_formula("p → q"), parse_formula("p")], parse_formula("q"))
    assert (
        instance_proof(structs.replace(match, substitution=swapped), [parse_formula("p → q")], parse_formula("q"))
        is None
    )


PARTS = tuple(f"p{number}(a)" for number in range(8))
LINKS = tuple(f"∀x (q{number}(x) → q{number + 1}(x))" for number in range(4))


@pytest.mark.parametrize(
    ("name", "dependencies", "conclusion"),
    [
        ("DISJUNCTIVE_SYLLOGISM", (" ∨ ".join(PARTS), " ∧ ".join(f"¬{part}" for part in PARTS[1:])), PARTS[0]),
        ("CONJUNCTION_ELIMINATION", (" ∧ ".join(PARTS),), " ∧ ".join(PARTS[1::2])),
        ("CONJUNCTION_INTRODUCTION", (" ∧ ".join(PARTS[:4]), " ∧ ".join(PARTS[4:])), " ∧ ".join(PARTS)),
        ("UNIVERSAL_IMPLICATION_CHAINING", LINKS, "∀x (q0(x) → q4(x))"),
    ],
)
def test_proofs_of_long_instances_fit_on_a_page(name: str, dependencies: tuple[str, ...], conclusion: str) -> None:
    """So no rule needs a theorem for each number of operands."""
    rule = next(rule for rule in FOLIO.rules if rule.name == name)
    match = _match(rule, dependencies, conclusion)
    premises, goal = tuple(map(parse_formula, dependencies)), parse_formula(conclusion)
    proof = instance_proof(match, premises, goal)
    assert proof is not None
    check(proof, premises, goal)
    theorem_ = entailment_theorem(premises, goal, proof)
    assert f"ProofR1.{match.schema.lean}" in theorem_.proof
    assert theorem_.proof.count("\n") < 24


def test_contradicting_dependencies_state_no_premise() -> None:
    dependencies = ("p → q", "r", "¬r")
    rule = FOLIO.find("IMPLICATION_ELIMINATION")
    assert rule is not None
    match = _match(rule, dependencies, "q")
    assert match.minor == (parse_formula("p"),)
    assert instance_proof(match, [parse_formula(text) for text in dependencies], parse_formula("q")) is None
