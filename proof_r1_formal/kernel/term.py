"""Proof terms: derivations of a conclusion from premises.

The calculus is classical natural deduction with signed formulas (``kernel.signed``): a line states that a formula is
true or that it is false, and ¬ changes this sign (``¬A`` is true exactly if ``A`` is false). Its rules are

* one elimination and one introduction rule for all binary connectives: a truth value that the connective's truth table
  forces (→ elimination and modus tollens are both elimination of →);
* ∀ and ∃, by instance, witness, generalisation and arbitrary constants;
* → introduction and reductio ad absurdum (which makes the calculus classical), as blocks with an assumption;
* equality by reflexivity and Leibniz's law;
* derived rules: instances of theorems.

A proof is a sequence of lines. Premises have the numbers 0, 1, …, and lines have the next ones. A block's assumption
and lines have the next numbers too, which are reused after the block. A block shows its last line; a contradiction
shows anything. ``kernel.checker`` defines which sequences are proofs: a line may hold a formula that its rule has no
use for, and is then refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import App, Formula, Term

# -- lines ------------------------------------------------------------------------------------------------------------


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """An earlier line again."""

    premise: int


class Eliminate(msgspec.Struct, frozen=True, gc=False):
    """The value of one side that the truth table of a binary formula forces, if necessary with the value of the other
    side."""

    main: int
    side: Literal["left", "right"]
    other: int | None = None


class Introduce(msgspec.Struct, frozen=True, gc=False):
    """The value of a binary formula that the values of its sides force."""

    formula: Formula
    premises: tuple[int, ...]


class Instance(msgspec.Struct, frozen=True, gc=False):
    """From ∀x A, A(t); if ∃x A is false, A(t) is false."""

    main: int
    term: Term


class Witness(msgspec.Struct, frozen=True, gc=False):
    """From ∃x A, A(c) for a new constant c; if ∀x A is false, A(c) is false."""

    main: int
    constant: App


class Generalise(msgspec.Struct, frozen=True, gc=False):
    """From A(t), ∃x A; if A(t) is false, ∀x A is false."""

    formula: Formula
    premise: int
    term: Term


class Arbitrary(msgspec.Struct, frozen=True, gc=False):
    """From a block that shows A(c) for a new constant c, ∀x A; from one that shows it is false, ∃x A is false."""

    formula: Formula
    constant: App
    block: Block


class Suppose(msgspec.Struct, frozen=True, gc=False):
    """From a block that assumes A and shows B, A → B."""

    formula: Formula
    block: Block


class Absurd(msgspec.Struct, frozen=True, gc=False):
    """From a block that assumes a formula and shows a contradiction, the formula's opposite."""

    formula: Formula
    block: Block


class Contradiction(msgspec.Struct, frozen=True, gc=False):
    """From a formula that is both true and false, ⊥."""

    first: int
    second: int


class Truth(msgspec.Struct, frozen=True, gc=False):
    """⊤ is true and ⊥ is false."""

    formula: Formula


class Reflexivity(msgspec.Struct, frozen=True, gc=False):
    """t = t."""

    term: Term


class Leibniz(msgspec.Struct, frozen=True, gc=False):
    """s = t → (A → B) for atoms or equations A and B, where B is A with t for s, or s for t, at some places."""

    formula: Formula


class Apply(msgspec.Struct, frozen=True, gc=False):
    """The conclusion of an instance of a theorem, from its premises."""

    theorem: Theorem
    substitution: Mapping[str, Lambda | Term]
    premises: tuple[int, ...]


Line: TypeAlias = (
    Repeat
    | Eliminate
    | Introduce
    | Instance
    | Witness
    | Generalise
    | Arbitrary
    | Suppose
    | Absurd
    | Contradiction
    | Truth
    | Reflexivity
    | Leibniz
    | Apply
)
Block: TypeAlias = tuple[Line, ...]
Proof: TypeAlias = Block


class Theorem(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A derived rule: patterns of premises and of a conclusion, with a proof that the checker reads once."""

    name: str
    premises: tuple[Formula, ...]
    conclusion: Formula
    proof: Proof


# -- proofs as data ---------------------------------------------------------------------------------------------------


def renumber(proof: Proof, premises: Sequence[int], first: int) -> Proof:
    """The proof with other numbers.

    Args:
        proof: its lines.
        premises: the new number of each premise.
        first: the new number of the first line.
    """
    count = len(premises)

    def new(value: Any) -> Any:
        match value:
            case int():
                return premises[value] if value < count else value - count + first
            case tuple():
                return tuple([new(item) for item in value])
            case msgspec.Struct() if not isinstance(value, Theorem):
                return type(value)(*[new(getattr(value, field)) for field in value.__struct_fields__])
        return value

    return tuple([new(line) for line in proof])
