"""Repair: a model sees the errors of its proof, and answers again.

In: a problem, a completion and the report on it. Out: the chat that asks for another completion. The model
sees the findings on each action and, for a step that is not entailed, a structure that satisfies its dependencies but
not its conclusion. It does not see whether the answer is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.models.chat import Message, Model, Sampling
from proof_r1_formal.models.prompts import messages
from proof_r1_formal.proof.report import NOTES, Code, StepReport, TraceReport, model_in_words
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.rules.schema import Catalogue


def needs_repair(report: TraceReport) -> bool:
    """Whether a step failed a check, or no terminal action names an option."""
    return _chooses_nothing(report) or any(step.signal < VERIFIED for step in report.actions)


def _chooses_nothing(report: TraceReport) -> bool:
    return any(finding.code is Code.NO_BINDING for finding in report.findings)


async def repair(
    problem: Problem, completion: str, report: TraceReport, model: Model, *, rules: Catalogue, sampling: Sampling
) -> str:
    """A new completion, from a prompt with the errors of an earlier one.

    Args:
        problem: of the completion.
        completion: the first one.
        report: on the completion.
        model: that repairs; it may differ from the first one.
        rules: that the proof may name.
        sampling: of the reply.

    Raises:
        CallError: the model does not reply.
    """
    chat = repair_chat(problem, completion, report, rules=rules, sampling=sampling)
    return (await model.reply(chat, sampling)).text


def repair_chat(
    problem: Problem, completion: str, report: TraceReport, *, rules: Catalogue, sampling: Sampling
) -> list[Message]:
    """The chat that asks for another completion; see :func:`repair`."""
    return [
        *messages(problem, rules=rules, thinking=sampling.thinking),
        {"role": "assistant", "content": completion},
        {"role": "user", "content": complaint(report)},
    ]


def complaint(report: TraceReport) -> str:
    """The message to the model: the findings on its proof, and the request to answer again."""
    return "\n".join(_lines(report))


def _lines(report: TraceReport) -> Iterator[str]:
    yield "The checks found this in your proof:"
    for number, step in enumerate(report.actions, 1):
        if step.signal < VERIFIED:
            yield f"- {step.id or f'element {number}'}: {_reasons(step)}"
            if step.countermodel is not None:
                model = model_in_words(step.countermodel)
                yield f"  It does not follow: its dependencies are true and its conclusion is false where {model}."
    if _chooses_nothing(report):
        yield "- No option is chosen at the end."
    yield ""
    yield "Answer the whole question once more, in the same form, with a proof in which every step passes."


def _reasons(step: StepReport) -> str:
    """The findings that made a check fail."""
    return "; ".join([f.message for f in step.findings if f.code not in NOTES])
