"""Trajectories: a proof as the completion that a model should write.

In: a problem and a proof of its answer, as reference steps. Out: the text of a completion: thoughts that walk the proof
in plain words, then the summary. With *explicit* thinking the completion holds ``<think>…</think>``; with *native*
thinking it continues after the ``<think>`` that the model's own template opened.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, TypeAlias

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.logic.show import show
from proof_r1_formal.proof.action import FIELDS
from proof_r1_formal.rules.schema import GOAL_BINDING

Thinking: TypeAlias = Literal["explicit", "native"]
"""Who opens the thoughts: the completion, or the model's own template before it."""

Proof: TypeAlias = Sequence[ReferenceStep]


def completion(problem: Problem, proof: Proof, *, thinking: Thinking = "explicit") -> str:
    """What a model should write: thoughts and summary.

    Args:
        problem: what is asked.
        proof: of the answer, the terminal step included.
        thinking: who opens the thoughts.
    """
    opening = "<think>\n" if thinking == "explicit" else ""
    return f"{opening}{thoughts(problem, proof)}\n</think>\n\n{summary(proof)}"


def thoughts(problem: Problem, proof: Proof) -> str:
    """The proof in plain words, a paragraph for each step; a premise is quoted where it is used first.

    What a near miss says of a name that means nothing at that point is a question mark.
    """
    quotes = {premise.id: f", “{premise.text}”" for premise in problem.premises if premise.text}
    formulas = {premise.id: show(premise.formula) for premise in problem.premises}
    paragraphs: list[str] = []
    for step in proof:
        used = [f"{name}{quotes.pop(name, '')}: {formulas.get(name, '?')}." for name in step.dependencies]
        paragraphs.append(" ".join([*used, _conclusion(problem, step)]))
        formulas[step.id] = step.conclusion
    return "\n".join(paragraphs)


def _conclusion(problem: Problem, step: ReferenceStep) -> str:
    if step.rule == GOAL_BINDING:
        option = problem.option(step.id)
        return f"That is what {step.id} says, so the answer is {step.id if option is None else option.label}."
    return f"By {step.rule.replace('_', ' ').lower()}, {step.id}: {step.conclusion}."


def summary(proof: Proof) -> str:
    """The steps as the array of a summary, one a line; no formula can look like the end of the summary."""
    elements = ",\n".join(json.dumps(_element(step), ensure_ascii=False).replace("<", "\\u003c") for step in proof)
    return f"<summary>[\n{elements}\n]</summary>"


def _element(step: ReferenceStep) -> dict[str, str | tuple[str, ...]]:
    values = (step.id, step.dependencies, step.conclusion, step.rule)
    return dict(zip(FIELDS, values, strict=True))
