"""A problem, solutions of it, and what a scripted model replies to the requests of the agents."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from proof_r1_formal import ReferenceStep
from proof_r1_formal.proof.trajectory import summary
from tests.build import problem

PREMISES = ("∀x (barks(x) → dog(x))", "barks(tom)")
PROBLEM = problem(
    *PREMISES,
    goal="dog(tom)",
    id="pets/1",
    english=("Whatever barks is a dog.", "Tom barks."),
    question="Is Tom a dog?",
)
STEP = ReferenceStep("s1", ("h1", "h2"), "dog(tom)", "IMPLICATION_ELIMINATION")


def solution(answer: str, *steps: ReferenceStep) -> str:
    """A completion that ends in an answer."""
    last = steps[-1].id if steps else "h2"
    return summary([*steps, ReferenceStep(answer, (last,), "dog(tom)", "GOAL_BINDING")])


GOOD = solution("h_goal_true", STEP)
BAD = solution("h_goal_false", replace(STEP, conclusion="¬dog(tom)"))
YES, NO = '{"valid": true}', '{"valid": false, "step": "s1", "reason": "no"}'


def unless(*words: str) -> Callable[[str], str]:
    """Judges a block valid unless one of its steps holds one of the words."""
    return lambda user: NO if any(word in user.split("To be judged:")[1] for word in words) else YES


def formulas(position: str, premises: Sequence[str] = PREMISES) -> str:
    """A reply that formalises a view."""
    written = {f"h{number}": premise for number, premise in enumerate(premises, 1)}
    return f"So: {json.dumps({'premises': written, 'position': position})}"


AGREED = [formulas("dog(tom)"), formulas("¬dog(tom)"), formulas("∀x ¬dog(x)"), formulas("∃x dog(x)")]
"""Replies to the four views that speak for h_goal_true: entailed, denied, denied, entailed."""


def kind(system: str) -> str:
    """What a system message asks for."""
    starts = {
        "You solve": "proof",
        "You check": "verification",
        "You put": "formalisation",
        "You look": "reflection",
    }
    (found,) = [name for start, name in starts.items() if system.startswith(start)]
    return found
