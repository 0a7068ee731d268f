"""The harness finds what is planted, unsound rules and loose RuleChecks; on what is there, it finds nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.errors import CatalogueError, SignatureError
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.kernel.syntax import And, Formula, Implies, Or
from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO, TRAIN
from proof_r1_formal.rules.check import Match, NoMatch, RuleResult, check_rule
from proof_r1_formal.rules.schema import Catalogue, Example, Rule, schema
from proof_r1_formal.testing.non_instances import non_instances
from proof_r1_formal.testing.search import total
from proof_r1_formal.testing.soundness import Harness, RuleCheck, StepFindings
from proof_r1_formal.text.equivalence import operands

UNSOUND = {
    "affirming the consequent": ("A → B", "B", "A"),
    "denying the antecedent": ("A → B", "¬A", "¬B"),
    "⊕ read as ∨": ("A ∨ B", "A", "¬B"),
    "∨ read as ∧": ("A ∨ B", "", "A"),
    "∃ read as ∀": ("∃x A(x)", "", "∀x A(x)"),
    "a witness for any term": ("∃x A(x)", "", "A(t)"),
    "the converse": ("∀x (A(x) → B(x))", "", "∀x (B(x) → A(x))"),
    "∃ through ∧": ("∃x A(x); ∃x B(x)", "", "∃x (A(x) ∧ B(x))"),
    "¬ through ∧": ("¬(A ∧ B)", "", "¬A"),
    "existential import": ("∀x (A(x) → B(x))", "", "∃x (A(x) ∧ B(x))"),
    "¬ into ∀": ("¬∀x A(x)", "", "∀x ¬A(x)"),
    "⊕ without either side": ("A ∨ B", "", "A ⊕ B"),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_rule_is_found(name: str) -> None:
    planted = Rule("PLANTED", name, (schema("planted", *UNSOUND[name]),), Example((), ""))
    catalogue = Catalogue("planted", (*TRAIN.rules, planted), unchecked=True)
    failures = next(some.failures for some in Harness(catalogue).run(2000) if some.failures)
    assert all('"rule": "PLANTED"' in failure.completion for failure in failures)
    assert any(failure.fault == "accepted, and does not follow" for failure in failures)


def entailed(rule: Rule, dependencies: tuple[Formula, ...], conclusion: Formula, oracle: Oracle) -> RuleResult:
    """Takes what follows for an instance: A := ⊤ makes it one of → elimination."""
    if isinstance(oracle.entails(dependencies, conclusion), Entailed):
        return Match(rule.schemata[0], {}, (), ())
    return NoMatch()


def any_rule(rule: Rule, dependencies: tuple[Formula, ...], conclusion: Formula, oracle: Oracle) -> RuleResult:
    """Does not look at the name."""
    results = (check_rule(other, dependencies, conclusion, oracle) for other in FOLIO.rules)
    return next((result for result in results if isinstance(result, Match)), NoMatch())


def weakened(rule: Rule, dependencies: tuple[Formula, ...], conclusion: Formula, oracle: Oracle) -> RuleResult:
    """Takes a disjunction for an instance if one of its parts is one."""
    results = (check_rule(rule, dependencies, part, oracle) for part in (conclusion, *operands(conclusion, Or)))
    return next((result for result in results if isinstance(result, Match)), NoMatch())


def restated(rule: Rule, dependencies: tuple[Formula, ...], conclusion: Formula, oracle: Oracle) -> RuleResult:
    """Lets a premise stand as its own conclusion."""
    if conclusion in dependencies:
        return Match(rule.schemata[0], {}, (), ())
    return check_rule(rule, dependencies, conclusion, oracle)


def without_anchors(rule: Rule, dependencies: tuple[Formula, ...], conclusion: Formula, oracle: Oracle) -> RuleResult:
    """Lets the premises of a → elimination be entailed, not be there."""
    for other in dependencies:
        if rule.name == "IMPLICATION_ELIMINATION" and isinstance(
            oracle.entails(dependencies, And(Implies(other, conclusion), other)), Entailed
        ):
            return Match(rule.schemata[0], {}, (), ())
    return check_rule(rule, dependencies, conclusion, oracle)


def under_the_dependencies(
    rule: Rule, dependencies: tuple[Formula, ...], conclusion: Formula, oracle: Oracle
) -> RuleResult:
    """Compares conclusions under the dependencies, where all that follows is equivalent."""
    candidates = [conclusion, *[Or(conclusion, other) for other in dependencies]]
    for other in dependencies:
        if isinstance(other, And | Implies):
            candidates += [other.left, other.right]
    for candidate in candidates:
        try:
            result = check_rule(rule, dependencies, candidate, oracle)
        except (CatalogueError, SignatureError):
            continue
        if isinstance(result, Match) and isinstance(oracle.entails(dependencies, conclusion), Entailed):
            return result
    return NoMatch()


LOOSE: tuple[RuleCheck, ...] = (entailed, any_rule, weakened, restated, without_anchors, under_the_dependencies)


@pytest.mark.parametrize("check", LOOSE, ids=[check.__name__ for check in LOOSE])
def test_a_loose_rule_check_is_found(check: RuleCheck) -> None:
    """None of them accepts what is false, so only entailed non-instances tell."""
    failures = next(some.failures for some in Harness(FOLIO, check=check).run(2000) if some.failures)
    assert {failure.fault for failure in failures} == {"accepted, but not an instance of the rule"}
    assert failures[0].kind == "entailed, no instance"


def test_nothing_is_found_where_nothing_is_planted() -> None:
    found = total(StepFindings(), Harness(FOLIO, seed=5).run(500))
    assert found.failures == []
    assert found.examples.keys() == {"instance", "near miss", "random step", "entailed, no instance"}
    assert found.accepted["instance"] > 100
    assert found.accepted["near miss"] > 3
    assert "entailed, no instance" not in found.accepted


def test_the_rules_of_complete_accept_no_more_than_they_say() -> None:
    found = total(StepFindings(), Harness(COMPLETE, seed=7).run(500))
    assert found.failures == []
    assert {"REITERATION", "CASE_ANALYSIS", "EQUALITY_SUBSTITUTION"} <= found.non_instances.keys()


def test_each_rule_has_entailed_steps_that_are_no_instances() -> None:
    for catalogue in (TRAIN, FOLIO, COMPLETE):
        for rule in catalogue.rules:
            assert sum(map(len, non_instances(catalogue, rule))) >= 20, rule.name
    assert non_instances(FOLIO, replace(FOLIO.rules[0], name="MINE")) == ((), ())


def test_the_kernel_checks_a_sample(lean: LeanKernel) -> None:
    del lean
    found = total(StepFindings(), Harness(FOLIO, kernel_sample=0.2).run(Harness.size))
    assert found.failures == []
    assert found.certified > 50
