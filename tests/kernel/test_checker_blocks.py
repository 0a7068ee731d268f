"""Blocks and new constants, and how deeply formulas, terms and blocks may be nested."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import pytest

from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.checker import MAX_DEPTH, MAX_HEIGHT, check
from proof_r1_formal.kernel.compiling import is_compiled
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.serial import Data, proof_from_data
from proof_r1_formal.kernel.syntax import BOTTOM, And, App, Or, atom
from tests.build import nested
from tests.kernel.claims import EX_FALSO, SELF, SPECIALISE, A, C, D, X, claim, f, fa


def of_height(deep: Any, step: Callable[[Any], Any]) -> Any:
    """The formula after as many steps as bring it to the greatest height."""
    while deep.height < MAX_HEIGHT:
        deep = step(deep)
    return deep


def test_a_line_may_bring_in_a_formula_of_the_greatest_height() -> None:
    deep = of_height(f("p"), lambda inner: Or(inner, f("p")))
    assert check((t.Introduce(deep, (0,)),), [f("p")], deep) == {0}
    with pytest.raises(ProofError, match="nested too deeply"):
        check((t.Introduce(Or(deep, f("p")), (0,)),), [f("p")], f("p"))


def test_premises_and_terms_nested_too_deeply_are_refused() -> None:
    term = A
    for _ in range(20_000):
        term = App("g", (term,))
    with pytest.raises(ProofError, match="a term is nested too deeply"):
        check((t.Instance(0, term),), *claim("∀x P(g(x)) ⊢ P(a)"))
    deep = of_height(f("p"), lambda inner: Or(inner, f("p")))
    assert check((t.Repeat(0),), [deep], deep) == {0}
    with pytest.raises(ProofError, match="a premise or the conclusion is nested too deeply"):
        check((t.Repeat(0),), [Or(deep, f("p"))], f("p"))


def test_a_substitution_nested_too_deeply_is_refused() -> None:
    deep = nested(lambda inner: And(inner, f("q")), f("p"), 20_000)
    with pytest.raises(ProofError, match="a formula of the proof is nested too deeply"):
        check((t.Apply(SPECIALISE, {"A": Lambda((X,), deep), "t": A}, (0,)),), *claim("∀x P(x) ⊢ P(a)"))


@pytest.mark.skipif(is_compiled(), reason="a compiled checker does not spend Python's stack")
def test_a_proof_that_exceeds_the_stack_is_refused() -> None:
    deep = of_height(f('∀"y" ∃x Q(x)'), lambda inner: And(f("p"), inner))
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 200)
    try:
        with pytest.raises(ProofError, match="a formula of the proof is nested too deeply"):
            check((t.Introduce(deep, (0,)),), [f("p")], f("p"))
    finally:
        sys.setrecursionlimit(before)


def test_a_line_with_a_part_of_another_type_is_refused() -> None:
    with pytest.raises(ProofError, match="a part of a line has the wrong type"):
        check((t.Repeat("0"),), *claim("p ⊢ p"))  # type: ignore[arg-type]


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


USES: dict[str, tuple[str, t.Block]] = {
    "premise": ("Q(c)", ()),
    "within a term of a premise": ("Q(f(c))", ()),
    "term of an instance": ("∀x Q(x)", (t.Instance(1, C),)),
    "within a term of an instance": ("∀x Q(f(x))", (t.Instance(1, fa(C)),)),
    "term of a generalisation": ("q", (t.Generalise(f('∃"x" q'), 1, C),)),
    "witness": ("∃x Q(x)", (t.Witness(1, C),)),
    "reflexivity": ("q", (t.Reflexivity(C),)),
    "Leibniz's law": ("q", (t.Leibniz(f("c = a → (P(c) → P(a))")),)),
    "introduced formula": ("q", (t.Introduce(f("q ∨ Q(c)"), (1,)),)),
    "formula in a theorem": ("q ∧ Q(c) → q", (t.Suppose(f("q → q"), (t.Repeat(2),)),)),
    "term in a theorem": ("∀x Q(x)", (t.Apply(SPECIALISE, {"A": Lambda((X,), atom("Q", X)), "t": C}, (1,)),)),
    "hole of a theorem without premises": ("q", (t.Apply(SELF, {"A": Lambda((), f("Q(c)"))}, ()),)),
    "hole of a theorem": (
        "∀x (Q(x) ∨ Q(c))",
        (t.Apply(SPECIALISE, {"A": Lambda((X,), Or(atom("Q", X), atom("Q", C))), "t": A}, (1,)),),
    ),
    "witness in a closed block": ("∃x Q(x)", (t.Suppose(f("r → r"), (t.Witness(1, C), t.Repeat(2))),)),
    "arbitrary in a closed block": ("∀x Q(x)", (t.Arbitrary(f("∀x Q(x)"), C, (t.Instance(1, C),)),)),
    "closed supposition": ("q", (t.Suppose(f("Q(c) → q"), (t.Repeat(1),)),)),
    "closed assumption": ("q", (t.Absurd(f("Q(c) ∧ ¬Q(c)"), (t.Eliminate(2, "left"), t.Eliminate(2, "right"),
                                                        t.Contradiction(3, 4))),)),
}  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("rule", [t.Witness, t.Arbitrary])
def test_a_constant_that_was_used_is_not_new(rule: type, use: str) -> None:
    """The same proof with a constant that was not used is accepted, so that nothing else is wrong with it."""
    premise, before = USES[use]
    premises = [f("∃x P(x)" if rule is t.Witness else "∀x P(x)"), f(premise)]
    line = 2 + len(before)

    def proof(constant: App) -> t.Proof:
        if rule is t.Witness:
            return (*before, t.Witness(0, constant), t.Generalise(f("∃x P(x)"), line, constant))
        return (*before, t.Arbitrary(f("∀x P(x)"), constant, (t.Instance(0, constant),)))

    check(proof(D), premises, premises[0])
    with pytest.raises(ProofError, match="'c' is not a new constant"):
        check(proof(C), premises, premises[0])


# -- blocks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "number"),
    [
        (t.Suppose(f("q → q"), (t.Repeat(1),)), 2),
        (t.Absurd(f("¬p"), (t.Contradiction(0, 1),)), 2),
        (t.Absurd(f("¬p"), (t.Truth(f("⊤")), t.Contradiction(0, 1))), 3),
        (t.Arbitrary(f('∀"x" p'), C, (t.Repeat(0), t.Repeat(0))), 2),
    ],
    ids=["supposition", "assumption", "line of a refutation", "line about an arbitrary constant"],
)
def test_the_lines_of_a_block_go_when_it_ends(block: Any, number: int) -> None:
    premises = [f("p")]
    check((block, t.Repeat(0)), premises, f("p"))
    with pytest.raises(ProofError, match=f"no line {number}"):
        check((block, t.Repeat(number), t.Repeat(0)), premises, f("p"))


def test_lines_after_a_block_take_its_numbers() -> None:
    proof = (
        t.Absurd(f("¬p"), (t.Contradiction(0, 1),)),
        t.Truth(f("⊤")),
        t.Eliminate(3, "left"),
        t.Contradiction(2, 4),
    )
    premises = [f("p")]
    with pytest.raises(ProofError, match="no line 3"):
        check(proof, premises, f("q"))
    assert check((*proof[:1], t.Repeat(1)), premises, f("p")) == {0}


def blocks(depth: int) -> t.Block:
    return EX_FALSO if depth == 0 else (t.Absurd(f("q"), blocks(depth - 1)), *EX_FALSO)


def test_blocks_are_nested_no_deeper_than_the_limit() -> None:
    premises = [f("p"), f("¬p")]
    assert check(blocks(MAX_DEPTH), premises, BOTTOM) == {0, 1}
    with pytest.raises(ProofError, match=f"deeper than {MAX_DEPTH}"):
        check(blocks(MAX_DEPTH + 1), premises, BOTTOM)


def test_blocks_that_ended_do_not_count_for_the_depth() -> None:
    premises = [f("p"), f("¬p")]
    flat = (t.Absurd(f("q"), EX_FALSO),) * (MAX_DEPTH + 10)
    assert check((*flat, *blocks(MAX_DEPTH)), premises, BOTTOM) == {0, 1}
    with pytest.raises(ProofError, match=f"deeper than {MAX_DEPTH}"):
        check((*flat, *blocks(MAX_DEPTH + 1)), premises, BOTTOM)
