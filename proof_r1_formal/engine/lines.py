"""The one reading of proof lines for all that writes proofs: what a line says, and which theorems a proof applies.

In: a line of a proof that the checker accepts, and what the lines before it say. Out: what it says. Lean, Isabelle and
natural deduction differ in how they write a line, not in this. The checker has a reading of its own, which trusts no
line (``kernel.checker``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from proof_r1_formal.engine.lemmas import elimination, introduction
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.pattern import instance
from proof_r1_formal.kernel.signed import FALSUM, Signed, signed
from proof_r1_formal.kernel.syntax import Binary, Binder, Eq, Exists, ForAll, Top
from proof_r1_formal.kernel.transform import alpha_normal, instantiate


def statement(line: t.Line, says: Callable[[int], Signed]) -> Signed:
    """What a line says; ``says`` gives what the line of a number says.

    Raises:
        ProofError: the line is not one of the calculus.
    """
    match line:
        case t.Repeat(premise):
            return says(premise)
        case t.Eliminate(main, side, other):
            beside = None if other is None else says(other)
            lemma = elimination(says(main), side, beside)
            if lemma is not None:
                return signed(lemma.conclusion)
            assert beside is not None, "it says the conclusion"
            return beside
        case t.Introduce(formula, premises):
            whole = alpha_normal(formula)
            assert isinstance(whole, Binary)
            return Signed(whole, introduction(whole, [says(number) for number in premises]).sign)
        case t.Instance(main, term) | t.Witness(main, term):
            quantified = says(main)
            if not isinstance(quantified.formula, Binder):
                raise ProofError("the formula is not quantified")
            part = signed(instantiate(quantified.formula, term))
            return part if quantified.sign else part.opposite()
        case t.Generalise(formula):
            whole = alpha_normal(formula)
            return Signed(whole, isinstance(whole, Exists))
        case t.Arbitrary(formula):
            whole = alpha_normal(formula)
            return Signed(whole, isinstance(whole, ForAll))
        case t.Suppose(formula) | t.Leibniz(formula):
            return Signed(alpha_normal(formula), True)
        case t.Absurd(formula):
            return signed(formula).opposite()
        case t.Contradiction():
            return FALSUM
        case t.Truth(formula):
            return Signed(formula, isinstance(formula, Top))
        case t.Reflexivity(term):
            return Signed(Eq(term, term), True)
        case t.Apply(theorem, substitution):
            return signed(instance(theorem.conclusion, substitution))
    assert_never(line)


def lines_of(block: t.Block) -> Iterator[t.Line]:
    """The lines of a block, those of the blocks in it included; not those of theorems that it applies."""
    for line in block:
        yield line
        if isinstance(line, t.Arbitrary | t.Suppose | t.Absurd):
            yield from lines_of(line.block)


def theorems_of(block: t.Block, wanted: Callable[[t.Theorem], bool]) -> Iterator[t.Theorem]:
    """The wanted theorems that a proof applies, each after the wanted ones that its own proof applies.

    ``wanted`` is called as the theorems are met, so it may leave out those that came before.
    """
    for line in block:
        match line:
            case t.Arbitrary() | t.Suppose() | t.Absurd():
                yield from theorems_of(line.block, wanted)
            case t.Apply(theorem) if wanted(theorem):
                yield from theorems_of(theorem.proof, wanted)
                yield theorem
            case _:
                pass
