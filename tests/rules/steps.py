"""Steps that the tests of the rule check share: reading one, and checking it against a rule."""

from __future__ import annotations

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.check import RuleResult, check_rule
from proof_r1_formal.text.parse import parse_formula

ORACLE, TABLES = Oracle(Answers(get_solver("z3"))), Oracle(Answers(get_solver("embedded"), tables=True))

SHORT = {
    "IE": "IMPLICATION_ELIMINATION",
    "MT": "MODUS_TOLLENS",
    "XOI": "EXCLUSIVE_DISJUNCTION_INTRODUCTION",
    "XOE": "EXCLUSIVE_DISJUNCTION_ELIMINATION",
    "DS": "DISJUNCTIVE_SYLLOGISM",
    "CI": "CONJUNCTION_INTRODUCTION",
    "CE": "CONJUNCTION_ELIMINATION",
    "UE": "UNIVERSAL_ELIMINATION",
    "GB": "GOAL_BINDING",
    "UIC": "UNIVERSAL_IMPLICATION_CHAINING",
    "UPI": "UNIVERSAL_PROPOSITIONAL_INFERENCE",
    "EI": "EXISTENTIAL_INTRODUCTION",
    "ECE": "EXISTENTIAL_CONJUNCTION_ELIMINATION",
    "EIE": "EXISTENTIAL_IMPLICATION_ELIMINATION",
    "ECI": "EXISTENTIAL_CONJUNCTION_INTRODUCTION",
    "QN": "QUANTIFIER_NEGATION",
}


def check(short: str, step: str, *, terminal: bool = False) -> RuleResult:
    """Check ``premise; premise |- conclusion`` against a rule, by a solver and by truth tables."""
    dependencies, conclusion = read(step)
    rule = FOLIO.find(SHORT[short])
    assert rule is not None
    result = check_rule(rule, dependencies, conclusion, ORACLE, terminal=terminal)
    assert check_rule(rule, dependencies, conclusion, TABLES, terminal=terminal) == result
    return result


def read(step: str) -> tuple[tuple[Formula, ...], Formula]:
    left, right = step.split("|-")
    return tuple(parse_formula(part) for part in left.split(";") if part.strip()), parse_formula(right)
