"""Steps as numbers: Lean reads the constructors back, and nothing but a step from any other number."""

from __future__ import annotations

import pytest

from proof_r1_formal.assistants.lean import LeanKernel, LeanTheorem
from proof_r1_formal.assistants.lean_numbers import number_of, step_digits, trace_text

pytestmark = pytest.mark.usefixtures("closed")

ROOM = "ProofR1.Checker"
C = "(.app 3 .nil)"
F = f"(.app 4 (.cons (.var 1) (.cons {C} .nil)))"
P = "(.atom 0 .nil)"
FORMULAS = (
    *(".top", ".bottom", P, f"(.atom 5 (.cons {C} .nil))", f"(.atom 1000 (.cons {C} (.cons (.var 0) .nil)))"),
    *(f"(.atom 2 (.cons {F} (.cons {F} .nil)))", f"(.equal {F} (.var 2))", f"(.not (.equal {C} {C}))"),
    *(f"(.binary .{name} {P} (.not .top))" for name in ("and", "or", "xor", "implies", "iff")),
    *("(.forAll 0 (.exist 1 (.atom 0 (.cons (.var 1) .nil))))", "(.exist 0 (.forAll 7 .bottom))"),
)
RULES = (
    *("(.again 0)", "(.eliminate 3 true .nil)", "(.eliminate 3 false (.cons 0 (.cons 9 .nil)))"),
    *(f"(.introduce {P} (.cons 4 .nil))", f"(.instantiate 1 {F})", f"(.generalise {P} 2 {C})", "(.contradiction 5 0)"),
    *(f"(.truth {P})", f"(.reflexivity {F})", f"(.leibniz (.not {P}))", "(.apply 0 ⟨0, .nil, .nil⟩ .nil)"),
    f"(.apply 2 ⟨1, (.cons ⟨0, {P}⟩ (.cons ⟨3, .top⟩ .nil)), (.cons ⟨6, {F}⟩ .nil)⟩ (.cons 1 .nil))",
)
BLOCKS = ("suppose", "absurd")
LINES = (
    ".done",
    *(f"(.line {rule} .done)" for rule in RULES),
    *("(.witness 3 8 .done)", f"(.arbitrary {P} 8 (.line (.again 1) .done) (.line (.again 2) .done))"),
    *(f"(.{kind} {P} (.line (.again 0) (.absurd .top .done .done)) (.line (.again 2) .done))" for kind in BLOCKS),
)
STEPS = (
    *(f"⟨.nil, {formula}, ⟨.nil, .done⟩⟩" for formula in FORMULAS),
    *(f"⟨(.cons 1 (.cons 20 .nil)), .top, ⟨(.cons ⟨7, 1⟩ (.cons ⟨0, 0⟩ .nil)), {lines}⟩⟩" for lines in LINES),
)
KEYS = {1: ".one", 20: "(.even (.even (.odd (.even .one))))", 11: "(.odd (.odd (.even .one)))"}


def with_keys(step: str) -> str:
    """The step with its id, which is 11, and with keys for the numbers of its dependencies."""
    known = step.replace("⟨(.cons 1 (.cons 20 .nil)), .top", f"⟨(.cons {KEYS[1]} (.cons {KEYS[20]} .nil)), .top", 1)
    return known.replace("⟨", f"⟨{KEYS[11]}, ", 1)


def test_lean_reads_each_constructor_back(lean: LeanKernel) -> None:
    theorems = []
    for number, step in enumerate(STEPS):
        digits = step_digits(step, 11)
        base = 1 << max([16, *digits]).bit_length()
        read = f"({ROOM}.Step.ofNumber {base} {len(digits)} {number_of(digits, base)})"
        theorems += [LeanTheorem(f": Eq {read} {with_keys(each)}", "rfl") for each in (step, STEPS[number - 1])]
    judged = [judgement.accepted for judgement in lean.check(theorems)]
    assert judged == [True, False] * len(STEPS)


def test_numbers_that_are_no_step_are_rejected(lean: LeanKernel) -> None:
    problem = f"⟨.nil, {ROOM}.keyed (.cons {P} .nil) 1, (.cons {P} .nil)⟩"
    right = f"⟨(.cons 1 .nil), {P}, ⟨.nil, (.line (.again 0) .done)⟩⟩"
    trace = trace_text(".nil", [right], 2)
    *head, number = trace.removesuffix(" .nil)").split(" ")
    changed = (0, 1, 15, int(number) // 64, int(number) * 64 + 3, (1 << 4000) - 1, 1 << 4000)
    traces = [trace, *[" ".join([*head, str(each), ".nil)"]) for each in changed]]
    proofs = [f"{ROOM}.trace_sound (t := {each}) (by decide +kernel)" for each in traces]
    judged = lean.check([LeanTheorem(f": {ROOM}.Problem.Entails {problem} 0", proof) for proof in proofs])
    assert [judgement.accepted for judgement in judged] == [True] + [False] * 7
