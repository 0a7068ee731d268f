"""Data as constructors and as numbers: Lean reads the same from both, and nothing but a step from any other number."""

from __future__ import annotations

import pytest

from proof_r1_formal.assistants.lean import LeanKernel, LeanTheorem
from proof_r1_formal.assistants.lean_tree import (
    FALSE,
    TRUE,
    Block,
    Node,
    Symbol,
    Terms,
    Tree,
    Word,
    digits_of,
    number_of,
    numbers_text,
    text_of,
)

pytestmark = pytest.mark.usefixtures("closed")

ROOM = "ProofR1.Checker"
C = Node("app", (3, Terms()))
X = Node("var", (0,))
F = Node("app", (4, Terms((Node("var", (1,)), C))))
P = Node("atom", (Symbol(0), Terms()))
TOP = Node("top")
FORMULAS = (
    *(TOP, Node("bottom"), P, Node("atom", (5, Terms((C,)))), Node("atom", (Symbol(1000), Terms((C, X))))),
    *(Node("atom", (2, Terms((F, F)))), Node("equal", (F, Node("var", (2,)))), Node("not", (Node("equal", (C, C)),))),
    *(Node("binary", (Word(f".{name}"), P, Node("not", (TOP,)))) for name in ("and", "or", "xor", "implies", "iff")),
    Node("forAll", (0, Node("exist", (Symbol(1), Node("atom", (0, Terms((Node("var", (1,)),)))))))),
    Node("exist", (0, Node("forAll", (7, Node("bottom"))))),
)
RULES = (
    *(Node("again", (0,)), Node("eliminate", (3, TRUE, [])), Node("eliminate", (3, FALSE, [0, 9]))),
    *(Node("introduce", (P, [4])), Node("instantiate", (1, F)), Node("generalise", (P, 2, C))),
    *(Node("contradiction", (5, 0)), Node("truth", (P,)), Node("reflexivity", (F,)), Node("leibniz", (P,))),
    Node("apply", (0, (0, [], []), [])),
    Node("apply", (2, (Symbol(1), [(0, P), (3, TOP)], [(6, F)]), [1])),
)
INNER, AFTER = Node("again", (1,)), Node("again", (2,))
BLOCKS = (
    *(Block(), *(Block((rule,)) for rule in RULES), Block((Node("witness", (3, 8)),))),
    Block((Node("arbitrary", (P, 8, Block((INNER,)))), AFTER)),
    *(
        Block((Node(kind, (P, Block((INNER, Node("absurd", (TOP, Block())))))), AFTER))
        for kind in ("suppose", "absurd")
    ),
)
NO_CONSTANTS: list[Tree] = []
NUMBERS: list[Tree] = [1, 20]
CONSTANTS: list[Tree] = [(Symbol(7), 1), (0, 0)]
STEPS: list[Tree] = [([], formula, (NO_CONSTANTS, Block())) for formula in FORMULAS]
STEPS += [(NUMBERS, TOP, (CONSTANTS, lines)) for lines in BLOCKS]


def test_a_tree_as_constructors() -> None:
    """A name stands for its number; the rest of a block is the last part of each of its lines."""
    block = Block((Node("suppose", (P, Block((INNER,)))), Node("eliminate", (0, FALSE, [1]))))
    assert text_of(block) == (
        "(.suppose (.atom 0 .nil) (.line (.again 1) .done) (.line (.eliminate 0 false (.cons 1 .nil)) .done))"
    )
    assert text_of(([2], Node("atom", (Symbol(5, "p_cat"), Terms((C,)))))) == (
        "⟨(.cons 2 .nil), (.atom p_cat (.cons (.app 3 .nil) .nil))⟩"
    )


def test_a_tree_as_digits() -> None:
    """A number plus 1; a length; a constructor plus 16 times its argument plus 1; no end after a last constant."""
    cat = Node("atom", (Symbol(5, "p_cat"), Terms((X, C))))
    eliminate = Node("eliminate", (1, FALSE, [0]))
    assert [*digits_of(([2], cat, ([], Block((eliminate,)))))] == [
        *(1, 3),
        *(16 * 6, 3 + 16, 16 * 4),
        *(0, 3 + 16 * 2, 1, 1, 16),
    ]


def test_lean_reads_each_constructor_back(lean: LeanKernel) -> None:
    theorems = []
    for place, step in enumerate(STEPS):
        digits = [*digits_of(step)]
        base = 1 << max([16, *digits]).bit_length()
        read = f"({ROOM}.Step.ofNumber {base} {len(digits)} {number_of(digits, base)})"
        theorems += [LeanTheorem(f": Eq {read} {text_of(each)}", "rfl") for each in (step, STEPS[place - 1])]
    judged = [judgement.accepted for judgement in lean.check(theorems)]
    assert judged == [True, False] * len(STEPS)


def test_numbers_that_are_no_step_are_rejected(lean: LeanKernel) -> None:
    given = text_of([P])
    step: Tree = ([0], P, ([], Block((Node("again", (0,)),))))
    trace = f"{ROOM}.Trace.ofNumbers .nil 1 {numbers_text([step])}"
    *head, number = trace.removesuffix(" .nil)").split(" ")
    changed = (0, 1, 15, int(number) // 64, int(number) * 64 + 3, (1 << 4000) - 1, 1 << 4000)
    traces = [trace, *[" ".join([*head, str(each), ".nil)"]) for each in changed]]
    proofs = [f"{ROOM}.trace_sound (t := {each}) (by decide +kernel)" for each in traces]
    judged = lean.check(
        [LeanTheorem(f": {ROOM}.Problem.Entails ⟨.nil, {given}, {given}⟩ 0", proof) for proof in proofs]
    )
    assert [judgement.accepted for judgement in judged] == [True] + [False] * 7
