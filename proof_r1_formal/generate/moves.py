"""Moves: the steps that generated proofs are made of, as data.

A move states how to derive a formula: by which rule, from which new premise, and from which other formulas. ``A``,
``B`` and ``C`` stand for predicates, ``t`` for the person that a problem is about. The verifier checks every generated
proof, so a move that is not an instance of its rule is detected.

The weights of premises follow the frequencies of their shapes in ProverQA, and the shares of universal ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proof_r1_formal.generate.shape import shape
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.text.parse import parse_formula

PERSON = "t"
"""The constant that stands for the person in patterns."""


@dataclass(frozen=True, slots=True)
class Move:
    """A way to derive a formula by a step that names the rule.

    Attributes:
        given: the new premise of the step; None if it has none.
        needs: its other dependencies: premises, or conclusions of other moves.
        weight: relative frequency among moves with the same form of conclusion.
        general: share of problems in which the premise is universal instead of about the person.
    """

    rule: str
    given: Formula | None
    needs: tuple[Formula, ...]
    conclusion: Formula
    weight: float
    general: float = 0.0


@dataclass(frozen=True, slots=True)
class MoveSystem:
    """The moves of a rule system by the form of their conclusion, and forms of the final conclusion, with weights."""

    roots: tuple[tuple[Formula, float], ...]
    moves: Mapping[str, tuple[Move, ...]]

    def to_prove(self, formula: Formula) -> tuple[Move, ...]:
        """The moves whose conclusion has the form of that formula."""
        return self.moves.get(form(formula), ())


def form(formula: Formula) -> str:
    """The form of a formula: equal for formulas that differ only in names."""
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
"""The premises of ProverQA: shape | number | share of universal ones."""

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
"""rule | premise | needs | conclusion | weight, which is multiplied by that of the premise's shape."""
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


def _system(moves: list[Move], roots: str) -> MoveSystem:
    by_form: dict[str, tuple[Move, ...]] = {}
    for move in moves:
        by_form[form(move.conclusion)] = (*by_form.get(form(move.conclusion), ()), move)
    return MoveSystem(tuple([(parse_formula(root), float(weight)) for root, weight in _rows(roots)]), by_form)


TRAIN_MOVES = _system(_moves(_TRAIN), _TRAIN_ROOTS)
FOLIO_MOVES = _system(_moves(_TRAIN) + _moves(_QUANTIFIED), _FOLIO_ROOTS)
