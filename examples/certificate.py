"""Answers as theorems: Lean's kernel accepts the certificates of the examples, and rejects a corrupted one.

    python examples/certificate.py

It needs Lean, which the extra ``kernel`` brings on Linux.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proof_r1_formal.assistants.certificate import ANSWER, Certificate
from proof_r1_formal.assistants.certify import certify_many
from proof_r1_formal.assistants.lean import Judgement, LeanKernel
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion, read_completions
from proof_r1_formal.kernel.syntax import Formula, Not
from proof_r1_formal.proof.verify import Verifier

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Certify the examples, show one theorem, and have the kernel judge it and its corruption."""
    kernel = LeanKernel.find()
    if kernel is None:
        print(f"There is no Lean here, so nothing is certified: {HINT}")
        return
    problems = read_problems(FOLDER / "problems.jsonl")
    completions = [c for c in read_completions(FOLDER / "completions.jsonl") if isinstance(c, Completion)]
    judged = [found for _, found in certify_many(Verifier(), problems, completions, kernel)]
    print(f"{kernel.version} accepts {sum(found.is_theorem for found in judged)} of {len(judged)} answers as theorems.")
    print("The others have no certificate, as they are not verified. One of the theorems:\n")
    shown = next(c for found in judged if isinstance(c := found.certification.certificate, Certificate))
    print(shown.answer().text(ANSWER))
    print(f"\nLean: {_said(*kernel.check([shown.answer()]))}\n")
    first, *rest = shown.steps
    print(f"The same with step {first.id} corrupted, so that it says the opposite:\n")
    corrupted = replace(shown, steps=(replace(first, formula=_opposite(first.formula)), *rest)).answer()
    print(f"  {corrupted.proof.splitlines()[0]}")
    print(f"\nLean: {_said(*kernel.check([corrupted]))}")


def _opposite(formula: Formula) -> Formula:
    return formula.body if isinstance(formula, Not) else Not(formula)


def _said(judgement: Judgement) -> str:
    return "accepted" if judgement.accepted else f"rejected: {judgement.reason}"


if __name__ == "__main__":
    main()
