"""Measures the hardest traces that we know: ``python -m studies.bench.worst`` writes ``docs/worst.json``.

Each trace has a process of its own with empty caches. What it costs in steps, and in CPU seconds, shows whether the
budget of a trace bounds the time.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path

from proof_r1_formal.data.problem import Option, Premise, Problem
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.text.parse import parse_formula
from studies.bench.traces import Sample
from studies.bench.verification import machine

Step = tuple[list[str], str, str]
"""Dependencies, conclusion and rule."""

ELIMINATION = "UNIVERSAL_ELIMINATION"


def trace(premises: list[str], steps: list[Step]) -> Sample:
    """A problem with the premises h0, h1, … and a completion with the steps s0, s1, …"""
    formulas = [Premise(f"h{number}", parse_formula(text)) for number, text in enumerate(premises)]
    problem = Problem("hard", tuple(formulas), (Option("goal", "True", parse_formula("Goal(a)")),))
    names = ("id", "dependencies", "conclusion", "rule")
    actions = [dict(zip(names, (f"s{number}", *step), strict=True)) for number, step in enumerate(steps)]
    return Sample(problem, f"<summary>{json.dumps(actions)}</summary>")


def quantifiers(depth: int) -> str:
    """``depth`` nested ∀."""
    return "".join([f"∀x{number} " for number in range(depth)])


def relation(arguments: list[str]) -> str:
    """An atom."""
    return f"R({', '.join(arguments)})"


def deep(depth: int, steps: int) -> Sample:
    """Instances of a relation under many quantifiers, each by one constant."""
    premise = quantifiers(depth) + relation([f"x{number}" for number in range(depth)])
    return trace([premise], [(["h0"], relation([f"a{step}"] * depth), ELIMINATION) for step in range(steps)])


def mixed(depth: int, steps: int) -> Sample:
    """The same by seven constants."""
    premise = quantifiers(depth) + relation([f"x{number}" for number in range(depth)])
    names = [[f"a{(step + place) % 7}" for place in range(depth)] for step in range(steps)]
    return trace([premise], [(["h0"], relation(each), ELIMINATION) for each in names])


def long_and_deep(depth: int, parts: int) -> Sample:
    """An instance of a chain of implications under many quantifiers."""
    premise = quantifiers(depth) + f"({' → '.join([f'P{n}(x{n % depth})' for n in range(parts)])})"
    instance = " → ".join([f"P{n}(a{n % depth})" for n in range(parts)])
    return trace([premise], [(["h0"], instance, ELIMINATION)])


def deep_conclusion(depth: int) -> Sample:
    """A deep formula that no premise has, and instances of it."""
    variables = [f"x{number}" for number in range(depth)]
    first = (["h0"], f"{quantifiers(depth)}(A(x0) → ({relation(variables)} → A(a)))", "GOAL_BINDING")
    rest = [(["s0"], f"A(a) → ({relation([f'a{step}'] * depth)} → A(a))", ELIMINATION) for step in range(3)]
    return trace(["A(a)", "∀x (A(x) → B(x))"], [first, *rest])


def groups(steps: int) -> Sample:
    """Commutativity from the axioms of groups, beside a different disjunct each time."""
    axioms = ["∀x ∀y ∀z m(m(x, y), z) = m(x, m(y, z))", "∀x m(e, x) = x", "∀x m(i(x), x) = e"]
    law = "∀x ∀y m(x, y) = m(y, x)"
    given = ["h0", "h1", "h2"]
    return trace(axioms, [(given, f"{law} ∨ P{step}(e)", "CONJUNCTION_ELIMINATION") for step in range(steps)])


def equations(steps: int, constants: int) -> Sample:
    """Conclusions about all constants of a long atom, each of which may equal another one."""
    premises = ["∀x (x = a ∨ P(a, x))", f"Q({', '.join([f'c{number}' for number in range(constants)])})"]
    return trace(premises, [(["h0", "h1"], f"R{step}(a)", "CONJUNCTION_ELIMINATION") for step in range(steps)])


def nested_terms(steps: int) -> Sample:
    """The consequence of two equations of nested terms for smaller terms, beside a different disjunct each time."""

    def term(height: int) -> str:
        return "f(" * height + "a" + ")" * height

    conclusions = [f"f(a) = a ∨ P{step}(a)" for step in range(steps)]
    premises = [f"{term(60)} = a", f"{term(47)} = a"]
    return trace(premises, [(["h0", "h1"], text, "CONJUNCTION_ELIMINATION") for text in conclusions])


def splits(parts: int, steps: int) -> Sample:
    """A long disjunction without one part, and then another."""
    whole = [f"P{part}(a)" for part in range(parts)]
    premises = [" ∨ ".join(whole), *[f"¬P{part}(a)" for part in range(steps)]]
    rest = [" ∨ ".join(whole[:step] + whole[step + 1 :]) for step in range(steps)]
    return trace(premises, [(["h0", f"h{n + 1}"], text, "DISJUNCTIVE_SYLLOGISM") for n, text in enumerate(rest)])


def long_conclusions(atoms: int, steps: int) -> Sample:
    """Conclusions of nine kilobytes."""
    texts = [" ∧ ".join([f"P{n}(a{n})" for n in range(step, atoms + step)]) for step in range(steps)]
    return trace([texts[0]], [(["h0"], text, "CONJUNCTION_ELIMINATION") for text in texts])


TRACES: dict[str, Callable[[], Sample]] = {
    "8 instances of a relation under 24 quantifiers": lambda: deep(24, 8),
    "8 instances of a relation under 100 quantifiers": lambda: deep(100, 8),
    "12 instances of a relation under 10 quantifiers by 7 constants": lambda: mixed(10, 12),
    "an instance of 100 implications under 8 quantifiers": lambda: long_and_deep(8, 100),
    "a conclusion with 16 quantifiers and 3 instances of it": lambda: deep_conclusion(16),
    "a conclusion with 100 quantifiers and 3 instances of it": lambda: deep_conclusion(100),
    "40 times commutativity from the axioms of groups": lambda: groups(40),
    "20 conclusions from an atom of 1,000 constants that may be equal": lambda: equations(20, 1_000),
    "10 consequences of equations of terms nested 60 and 47 deep": lambda: nested_terms(10),
    "40 splits of a disjunction of 100 parts": lambda: splits(100, 40),
    "20 conclusions of 9 kB": lambda: long_conclusions(220, 20),
}


def cost(name: str) -> tuple[float, int]:
    """CPU seconds of verifying a trace, and its price in steps."""
    sample, verifier = TRACES[name](), Verifier()
    start = time.process_time()
    verifier.verify(sample.problem, sample.completion)
    return time.process_time() - start, verifier.cost(sample.problem, sample.completion)


def main() -> None:
    """Measure, print and write."""
    found = {}
    for name in TRACES:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, steps = pool.apply(cost, (name,))
        found[name] = {"cpu_s": round(seconds, 2), "steps": steps, "us_per_step": round(1e6 * seconds / steps, 1)}
        sys.stderr.write(f"{seconds:6.2f} s {steps:9,} steps  {name}\n")
    text = json.dumps({"machine": machine(), "traces": found}, indent=1)
    Path("docs/worst.json").write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write("written to docs/worst.json\n")


if __name__ == "__main__":
    main()
