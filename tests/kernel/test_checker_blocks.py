"""Blocks and new constants, and how deeply formulas, terms and blocks may be nested."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import pytest

from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.checker import MAX_DEPTH, MAX_HEIGHT, check
from proof_r1_formal.kernel.compiling import is_compiled
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.serial import Data, proof_from_data
from proof_r1_formal.kernel.syntax import BOTTOM, And, App, Or, atom
from proof_r1_formal.kernel.term import (
    Absurd,
    Apply,
    Arbitrary,
    Block,
    Contradiction,
    Eliminate,
    Generalise,
    Instance,
    Introduce,
    Leibniz,
    Proof,
    Reflexivity,
    Repeat,
    Suppose,
    Truth,
    Witness,
)
from tests.build import nested
from tests.kernel.claims import EX_FALSO, SELF, SPECIALISE, A, C, D, X, claim, f, fa


def of_height(deep: Any, step: Callable[[Any], Any]) -> Any:
    """The formula after as many steps as bring it to the greatest height."""
    while deep.height < MAX_HEIGHT:
        deep = step(deep)
    return deep


def test_a_line_may_bring_in_a_formula_of_the_greatest_height() -> None:
    deep = of_height(f("p"), lambda inner: Or(inner, f("p")))
    assert check((Introduce(deep, (0,)),), [f("p")], deep) == {0}
    with pytest.raises(ProofError, match="nested too deeply"):
        check((Introduce(Or(deep, f("p")), (0,)),), [f("p")], f("p"))


def test_premises_and_terms_nested_too_deeply_are_refused() -> None:
    term = A
    for _ in range(20_000):
        term = App("g", (term,))
    with pytest.raises(ProofError, match="a term is nested too deeply"):
        check((Instance(0, term),), *claim("∀x P(g(x)) ⊢ P(a)"))
    deep = of_height(f("p"), lambda inner: Or(inner, f("p")))
    assert check((Repeat(0),), [deep], deep) == {0}
    with pytest.raises(ProofError, match="a premise or the conclusion is nested too deeply"):
        check((Repeat(0),), [Or(deep, f("p"))], f("p"))


def test_a_substitution_nested_too_deeply_is_refused() -> None:
    deep = nested(lambda inner: And(inner, f("q")), f("p"), 20_000)
    with pytest.raises(ProofError, match="a formula of the proof is nested too deeply"):
        check((Apply(SPECIALISE, {"A": Lambda((X,), deep), "t": A}, (0,)),), *claim("∀x P(x) ⊢ P(a)"))


@pytest.mark.skipif(is_compiled(), reason="a compiled checker does not spend Python's stack")
def test_a_proof_that_exceeds_the_stack_is_refused() -> None:
    deep = of_height(f('∀"y" ∃x Q(x)'), lambda inner: And(f("p"), inner))
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 200)
    try:
        with pytest.raises(ProofError, match="a formula of the proof is nested too deeply"):
            check((Introduce(deep, (0,)),), [f("p")], f("p"))
    finally:
        sys.setrecursionlimit(before)


def test_a_line_with_a_part_of_another_type_is_refused() -> None:
    with pytest.raises(ProofError, match="a part of a line has the wrong type"):
        check((Repeat("0"),), *claim("p ⊢ p"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line",
    [
        {"line": "Witness", "main": 0},
        {"line": "Arbitrary", "formula": ["forall", ["var", "x", "Entity"], ["top"]], "block": []},
    ],
    ids=["Witness", "Arbitrary"],
)
def test_a_variable_that_a_file_gives_for_a_new_constant_is_none(line: dict[str, Data]) -> None:
    with pytest.raises(ProofError):
        check(proof_from_data([{**line, "constant": ["var", "x", "Entity"]}]), *claim("∃x P(x) ⊢ p"))


# -- new constants ----------------------------------------------------------------------------------------------------


USES: dict[str, tuple[str, Block]] = {
    "premise": ("Q(c)", ()),
    "within a term of a premise": ("Q(f(c))", ()),
    "term of an instance": ("∀x Q(x)", (Instance(1, C),)),
    "within a term of an instance": ("∀x Q(f(x))", (Instance(1, fa(C)),)),
    "term of a generalisation": ("q", (Generalise(f('∃"x" q'), 1, C),)),
    "witness": ("∃x Q(x)", (Witness(1, C),)),
    "reflexivity": ("q", (Reflexivity(C),)),
    "Leibniz's law": ("q", (Leibniz(f("c = a → (P(c) → P(a))")),)),
    "introduced formula": ("q", (Introduce(f("q ∨ Q(c)"), (1,)),)),
    "formula in a theorem": ("q ∧ Q(c) → q", (Suppose(f("q → q"), (Repeat(2),)),)),
    "term in a theorem": ("∀x Q(x)", (Apply(SPECIALISE, {"A": Lambda((X,), atom("Q", X)), "t": C}, (1,)),)),
    "hole of a theorem without premises": ("q", (Apply(SELF, {"A": Lambda((), f("Q(c)"))}, ()),)),
    "hole of a theorem": (
        "∀x (Q(x) ∨ Q(c))",
        (Apply(SPECIALISE, {"A": Lambda((X,), Or(atom("Q", X), atom("Q", C))), "t": A}, (1,)),),
    ),
    "witness in a closed block": ("∃x Q(x)", (Suppose(f("r → r"), (Witness(1, C), Repeat(2))),)),
    "arbitrary in a closed block": ("∀x Q(x)", (Arbitrary(f("∀x Q(x)"), C, (Instance(1, C),)),)),
    "closed supposition": ("q", (Suppose(f("Q(c) → q"), (Repeat(1),)),)),
    "closed assumption": ("q", (Absurd(f("Q(c) ∧ ¬Q(c)"), (Eliminate(2, "left"), Eliminate(2, "right"),
                                                        Contradiction(3, 4))),)),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("rule", [Witness, Arbitrary])
def test_a_constant_that_was_used_is_not_new(rule: type, use: str) -> None:
    """The same proof with a constant that was not used is accepted, so that nothing else is wrong with it."""
    premise, before = USES[use]
    premises = [f("∃x P(x)" if rule is Witness else "∀x P(x)"), f(premise)]
    line = 2 + len(before)

    def proof(constant: App) -> Proof:
        if rule is Witness:
            return (*before, Witness(0, constant), Generalise(f("∃x P(x)"), line, constant))
        return (*before, Arbitrary(f("∀x P(x)"), constant, (Instance(0, constant),)))

    check(proof(D), premises, premises[0])
    with pytest.raises(ProofError, match="'c' is not a new constant"):
        check(proof(C), premises, premises[0])


# -- blocks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "number"),
    [
        (Suppose(f("q → q"), (Repeat(1),)), 2),
        (Absurd(f("¬p"), (Contradiction(0, 1),)), 2),
        (Absurd(f("¬p"), (Truth(f("⊤")), Contradiction(0, 1))), 3),
        (Arbitrary(f('∀"x" p'), C, (Repeat(0), Repeat(0))), 2),
    ],
    ids=["supposition", "assumption", "line of a refutation", "line about an arbitrary constant"],
)
def test_the_lines_of_a_block_go_when_it_ends(block: Any, number: int) -> None:
    premises = [f("p")]
    check((block, Repeat(0)), premises, f("p"))
    with pytest.raises(ProofError, match=f"no line {number}"):
        check((block, Repeat(number), Repeat(0)), premises, f("p"))


def test_lines_after_a_block_take_its_numbers() -> None:
    proof = (Absurd(f("¬p"), (Contradiction(0, 1),)), Truth(f("⊤")), Eliminate(3, "left"), Contradiction(2, 4))
    premises = [f("p")]
    with pytest.raises(ProofError, match="no line 3"):
        check(proof, premises, f("q"))
    assert check((*proof[:1], Repeat(1)), premises, f("p")) == {0}


def blocks(depth: int) -> Block:
    return EX_FALSO if depth == 0 else (Absurd(f("q"), blocks(depth - 1)), *EX_FALSO)


def test_blocks_are_nested_no_deeper_than_the_limit() -> None:
    premises = [f("p"), f("¬p")]
    assert check(blocks(MAX_DEPTH), premises, BOTTOM) == {0, 1}
    with pytest.raises(ProofError, match=f"deeper than {MAX_DEPTH}"):
        check(blocks(MAX_DEPTH + 1), premises, BOTTOM)


def test_blocks_that_ended_do_not_count_for_the_depth() -> None:
    premises = [f("p"), f("¬p")]
    flat = (Absurd(f("q"), EX_FALSO),) * (MAX_DEPTH + 10)
    assert check((*flat, *blocks(MAX_DEPTH)), premises, BOTTOM) == {0, 1}
    with pytest.raises(ProofError, match=f"deeper than {MAX_DEPTH}"):
        check((*flat, *blocks(MAX_DEPTH + 1)), premises, BOTTOM)
