"""Trajectories: a proof as the completion that a model should write.

In: a problem and a proof of its answer, as reference steps. Out: the text of a completion: thoughts that explain the
proof in English, then the summary. With *explicit* thinking the completion holds ``<think>…</think>``; with *native*
thinking it continues after the ``<think>`` that the model's own template opened.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, TypeAlias

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.proof.action import FIELDS
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show

Thinking: TypeAlias = Literal["explicit", "native"]
"""The text that contains the opening ``<think>``: the completion, or the model's template before it."""

Proof: TypeAlias = Sequence[ReferenceStep]


def completion(problem: Problem, proof: Proof, *, thinking: Thinking = "explicit") -> str:
    """The completion of a proof, whose last step is the terminal one: thoughts and summary.

    ``thinking``: what contains the opening ``<think>``.
    """
    opening = "<think>\n" if thinking == "explicit" else ""
    return f"{opening}{thoughts(problem, proof)}\n</think>\n\n{summary(proof)}"


def thoughts(problem: Problem, proof: Proof) -> str:
    """The proof in English, one paragraph per step; a premise is quoted at its first use.

    A name that is unknown at that point becomes a question mark.
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
    """The steps as the array of a summary, one per line. Formulas are escaped: none looks like ``</summary>``."""
    return f"<summary>[\n{_elements(proof)}\n]</summary>"


def opening(proof: Proof, steps: int) -> str:
    """The beginning of :func:`summary` with that many steps, up to the next one; empty for no step."""
    return f"<summary>[\n{_elements(proof[:steps])},\n" if steps else ""


def _elements(proof: Proof) -> str:
    steps = [dict(zip(FIELDS, (s.id, s.dependencies, s.conclusion, s.rule), strict=True)) for s in proof]
    return ",\n".join([json.dumps(step, ensure_ascii=False).replace("<", "\\u003c") for step in steps])
