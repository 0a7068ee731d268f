"""Moves: the steps that generated proofs are made of, as data.

A move says how a formula may be had: by which rule, from which new premises, and from what else. ``A``, ``B``, ``C``
stand for predicates, ``t`` for the person that a problem is about. Only the rule systems give them their meaning: every
generated proof is checked by the verifier, and which would reveal a move that is not an instance of its rule.

The weights of premises follow how often ProverQA uses their shapes, and for how many of them it says them of everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.shape import shape
from proof_r1_formal.logic.syntax import Formula

PERSON = "t"
"""The constant that stands for the person in patterns."""


@dataclass(frozen=True, slots=True)
class Move:
    """A way to have a formula.

    Attributes:
        rule: the rule that the step names.
        given: a premise that the step brings along; None if it rests on what it needs only.
        needs: what else it rests on: given as premises, or proved in turn.
        conclusion: what comes out.
        weight: how often, next to others with the same form of conclusion.
        general: the share of problems in which the premise is said of everybody and not of the person only.
    """

    rule: str
    given: Formula | None
    needs: tuple[Formula, ...]
    conclusion: Formula
    weight: float
    general: float = 0.0


@dataclass(frozen=True, slots=True)
class MoveSystem:
    """What the proofs of a rule system are grown from.

    Attributes:
        name: of the rule catalogue.
        roots: forms of what is proved at the end, with weights.
        moves: by the form of their conclusion.
    """

    name: str
    roots: tuple[tuple[Formula, float], ...]
    moves: Mapping[str, tuple[Move, ...]]

    def to_prove(self, formula: Formula) -> tuple[Move, ...]:
        """The moves whose conclusion has the form of that formula."""
        return self.moves.get(form(formula), ())


def form(formula: Formula) -> str:
    """What two formulas have in common that differ in names only."""
    return shape(formula).text


_SHAPES = """
A(t) → B(t)           | 274  | .41
A(t) ∧ B(t) → C(t)    | 126  | .72
A(t) ∨ B(t) → C(t)    | 144  | .65
A(t) ⊕ B(t) → C(t)    | 572  | .13
A(t) → B(t) ∧ C(t)    | 360  | .26
A(t) → B(t) ∨ C(t)    | 215  | .50
A(t) → B(t) ⊕ C(t)    | 900  | .02
A(t) ⊕ B(t)           | 839  | .10
A(t) ∨ B(t)           | 443  | .11
"""
"""The premises of ProverQA: shape | how many there are | the share that is said of everybody."""

_TRAIN = """
IMPLICATION_ELIMINATION            | A(t) → B(t)        | A(t)              | B(t)          | 1
IMPLICATION_ELIMINATION            | A(t) ∧ B(t) → C(t) | A(t); B(t)        | C(t)          | 2
IMPLICATION_ELIMINATION            | A(t) ∧ B(t) → C(t) | A(t) ∧ B(t)       | C(t)          | 2
IMPLICATION_ELIMINATION            | A(t) ∨ B(t) → C(t) | A(t)              | C(t)          | 3
IMPLICATION_ELIMINATION            | A(t) ⊕ B(t) → C(t) | A(t); ¬B(t)       | C(t)          | 1
IMPLICATION_ELIMINATION            | A(t) ⊕ B(t) → C(t) | A(t) ⊕ B(t)       | C(t)          | 1
IMPLICATION_ELIMINATION            |                    | A(t) → B(t); A(t) | B(t)          | 500
CONJUNCTION_ELIMINATION            | A(t) → B(t) ∧ C(t) | A(t)              | B(t)          | 1
DISJUNCTIVE_SYLLOGISM              | A(t) ∨ B(t)        | ¬A(t)             | B(t)          | 1.5
DISJUNCTIVE_SYLLOGISM              | A(t) → B(t) ∨ C(t) | A(t); ¬B(t)       | C(t)          | 1.5
EXCLUSIVE_DISJUNCTION_ELIMINATION  | A(t) ⊕ B(t)        | ¬A(t)             | B(t)          | .6
EXCLUSIVE_DISJUNCTION_ELIMINATION  | A(t) → B(t) ⊕ C(t) | A(t); ¬B(t)       | C(t)          | .6
EXCLUSIVE_DISJUNCTION_ELIMINATION  | A(t) ⊕ B(t)        | A(t)              | ¬B(t)         | .8
EXCLUSIVE_DISJUNCTION_ELIMINATION  | A(t) → B(t) ⊕ C(t) | A(t); B(t)        | ¬C(t)         | .8
MODUS_TOLLENS                      | A(t) → B(t)        | ¬B(t)             | ¬A(t)         | .35
MODUS_TOLLENS                      | A(t) ∧ B(t) → C(t) | ¬C(t); A(t)       | ¬B(t)         | .35
MODUS_TOLLENS                      | A(t) ∨ B(t) → C(t) | ¬C(t)             | ¬A(t)         | .35
MODUS_TOLLENS                      | A(t) ⊕ B(t) → C(t) | ¬C(t); ¬A(t)      | ¬B(t)         | .2
MODUS_TOLLENS                      | A(t) ⊕ B(t) → C(t) | ¬C(t); A(t)       | B(t)          | .1
MODUS_TOLLENS                      | A(t) → B(t) ∧ C(t) | ¬B(t)             | ¬A(t)         | .2
MODUS_TOLLENS                      | A(t) → B(t) ∨ C(t) | ¬B(t); ¬C(t)      | ¬A(t)         | .35
MODUS_TOLLENS                      | A(t) → B(t) ⊕ C(t) | B(t); C(t)        | ¬A(t)         | .1
MODUS_TOLLENS                      | A(t) → B(t) ⊕ C(t) | ¬B(t); ¬C(t)      | ¬A(t)         | .1
UNIVERSAL_ELIMINATION              | ∀x (A(x) → B(x))   |                   | A(t) → B(t)   | 1
UNIVERSAL_ELIMINATION              | ∀x (A(x) ∨ B(x))   |                   | A(t) ∨ B(t)   | 100
UNIVERSAL_ELIMINATION              | ∀x (A(x) ⊕ B(x))   |                   | A(t) ⊕ B(t)   | 100
CONJUNCTION_INTRODUCTION           |                    | A(t); B(t)        | A(t) ∧ B(t)   | 900
IMPLICATION_ELIMINATION            | A(t) → B(t) ∧ C(t) | A(t)              | B(t) ∧ C(t)   | 1
IMPLICATION_ELIMINATION            | A(t) → B(t) ∨ C(t) | A(t)              | B(t) ∨ C(t)   | 1
IMPLICATION_ELIMINATION            | A(t) → B(t) ⊕ C(t) | A(t)              | B(t) ⊕ C(t)   | 1
EXCLUSIVE_DISJUNCTION_INTRODUCTION |                    | A(t); ¬B(t)       | A(t) ⊕ B(t)   | 900
EXCLUSIVE_DISJUNCTION_INTRODUCTION |                    | ¬A(t); B(t)       | A(t) ⊕ B(t)   | 900
MODUS_TOLLENS                      | A(t) ∧ B(t) → C(t) | ¬C(t)             | ¬(A(t) ∧ B(t)) | 1
MODUS_TOLLENS                      | A(t) ∨ B(t) → C(t) | ¬C(t)             | ¬(A(t) ∨ B(t)) | 1
MODUS_TOLLENS                      | A(t) ⊕ B(t) → C(t) | ¬C(t)             | ¬(A(t) ⊕ B(t)) | 1
"""
"""rule | premise | needs | conclusion | weight; that of the premise's shape comes in as a factor."""
_QUANTIFIED = """
UNIVERSAL_IMPLICATION_CHAINING      | | ∀x (A(x) → B(x)); ∀x (B(x) → C(x)) | ∀x (A(x) → C(x))        | 1
UNIVERSAL_PROPOSITIONAL_INFERENCE   | | ∀x (A(x) → B(x)); ∀x (A(x) → C(x)) | ∀x (A(x) → B(x) ∧ C(x)) | 1
EXISTENTIAL_INTRODUCTION            | | A(t)                               | ∃x A(x)                 | 1
EXISTENTIAL_INTRODUCTION            | | A(t); B(t)                         | ∃x (A(x) ∧ B(x))        | 1
EXISTENTIAL_CONJUNCTION_ELIMINATION | | ∃x (A(x) ∧ B(x))                   | ∃x A(x)                 | 1
EXISTENTIAL_IMPLICATION_ELIMINATION | | ∃x A(x); ∀x (A(x) → B(x))          | ∃x B(x)                 | 2
EXISTENTIAL_CONJUNCTION_INTRODUCTION | | ∃x A(x); B(t)                     | ∃x (A(x) ∧ B(t))        | 1
QUANTIFIER_NEGATION                 | | ¬∃x A(x)                           | ∀x ¬A(x)                | 1
EXISTENTIAL_INTRODUCTION            | | ¬A(t)                              | ∃x ¬A(x)                | 1
UNIVERSAL_ELIMINATION               | | ∀x (A(x) → B(x))                   | A(t) → B(t)             | 1
UNIVERSAL_ELIMINATION               | | ∀x ¬A(x)                           | ¬A(t)                   | 300
"""
"""The rules that R_folio adds. QUANTIFIER_NEGATION only where something rests on it that asks for the other form: an
answer can be bound in either."""

_TRAIN_ROOTS = """
A(t) | 45
¬A(t) | 45
A(t) ∧ B(t) | 3
¬(A(t) ∧ B(t)) | 2
A(t) ∨ B(t) | 2
¬(A(t) ∨ B(t)) | 2
A(t) ⊕ B(t) | 2
¬(A(t) ⊕ B(t)) | 2
"""

_FOLIO_ROOTS = """
∀x (A(x) → C(x)) | 2
∀x (A(x) → B(x) ∧ C(x)) | 2
∃x A(x) | 3
∃x (A(x) ∧ B(x)) | 3
∃x (A(x) ∧ B(t)) | 2
∃x ¬A(x) | 2
"""


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]


def _moves(text: str) -> list[Move]:
    shapes = {parse_formula(shape): (float(count), float(share)) for shape, count, share in _rows(_SHAPES)}
    moves = []
    for rule, given, needs, conclusion, weight in _rows(text):
        premise = parse_formula(given) if given else None
        count, share = (1.0, 0.0) if premise is None else shapes.get(premise, (1.0, 0.0))
        patterns = tuple(parse_formula(need) for need in needs.split(";") if need)
        moves.append(Move(rule, premise, patterns, parse_formula(conclusion), float(weight) * count, share))
    return moves


def _system(name: str, moves: list[Move], roots: str) -> MoveSystem:
    by_form: dict[str, list[Move]] = {}
    for move in moves:
        by_form.setdefault(form(move.conclusion), []).append(move)
    return MoveSystem(
        name,
        tuple((parse_formula(root), float(weight)) for root, weight in _rows(roots)),
        MappingProxyType({key: tuple(value) for key, value in by_form.items()}),
    )


TRAIN_MOVES = _system("train", _moves(_TRAIN), _TRAIN_ROOTS)
FOLIO_MOVES = _system("folio", _moves(_TRAIN) + _moves(_QUANTIFIED), _FOLIO_ROOTS)
