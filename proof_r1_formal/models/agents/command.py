"""A program as a baseline agent, such as an installed original: it gets a problem, and its result becomes a completion.

The program runs once per sample. Its standard input is the problem, as a line of the package's own format without the
answer and the reference proofs. Its standard output is one of:

* a completion, which has a ``<summary>`` and is kept as it is;
* text whose last JSON object has ``answer`` (id, label or letter of an option) and maybe ``steps`` (objects with the
  four fields of an action) and ``reasoning`` (text). The steps and the binding of the answer become the summary.

A program that ends with an error, takes too long, or writes too much or something else fails this sample alone.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

import msgspec

from proof_r1_formal.data.draft import StepRecord, reference_proofs
from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.data.problem import Option, Problem, ReferenceStep
from proof_r1_formal.engine.process import ProgramError, kill_group, output_of, start_program
from proof_r1_formal.models.agents.answers import json_object
from proof_r1_formal.models.chat import CallError, Message, Model, ModelError, Reply, Sampling
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show
from proof_r1_formal.unicode import is_text

MAX_OUTPUT = 1 << 24
"""The most bytes that a program may write for one problem, as many as a line of completions may have."""
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Original:
    """The agent that leaves a problem to a program; its model is a :class:`CommandModel`."""

    sampling: Sampling

    async def solve(self, problem: Problem, model: Model) -> str:
        """See :class:`~proof_r1_formal.models.agents.Agent`."""
        told = to_json(replace(problem, answer=None, proofs=(), notes=()))
        return (await model.reply([{"role": "user", "content": told}], self.sampling)).text


class CommandModel:
    """Runs a program for each problem.

    Attributes:
        name: the command line.
    """

    def __init__(self, command: str, *, seconds: float = 600.0) -> None:
        """The program of a command line, which is split as a shell splits words.

        Args:
            command: the program and its arguments.
            seconds: that it may take for one problem.

        Raises:
            ModelError: the command line is empty, lacks a closing quote, or names no program on PATH.
        """
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise ModelError(f"--command: {error} in {command!r}") from None
        if not self._command or shutil.which(self._command[0]) is None:
            raise ModelError(f"--command: there is no program {self._command[0] if self._command else command!r}")
        self.name = shlex.join(self._command)
        self._seconds = seconds

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """A completion of the problem in the last message; see :class:`~proof_r1_formal.models.chat.Model`."""
        del sampling  # the program has its own settings
        source, program = chat[-1]["content"], self._command[0]
        started = time.time()
        try:
            process = start_program(self._command, f"{source}\n".encode(), errors=None)
        except OSError as error:
            raise ModelError(f"{self.name}: cannot be started: {error}") from error
        try:
            output = await asyncio.to_thread(self._output, process)
            text = completion_of(from_json(source), output)
        except TimeoutError:
            raise CallError(f"{program} did not end within {self._seconds:g} seconds", again=False) from None
        except (ProgramError, ValueError) as error:
            raise CallError(f"{program} {error}", again=False) from None
        except asyncio.CancelledError:
            if process.poll() is None:
                kill_group(process)  # which ends the thread, too
            raise
        return Reply(text=text, finish="stop", started=started, ended=time.time())

    def _output(self, process: subprocess.Popen[bytes]) -> bytes:
        return output_of(process, seconds=self._seconds, most=MAX_OUTPUT)


def completion_of(problem: Problem, output: bytes) -> str:
    """The completion that the output of a program means.

    Raises:
        ValueError: it means none; the message continues the name of the program.
    """
    try:
        text = output.decode()
    except UnicodeDecodeError:
        raise ValueError("wrote something that is not UTF-8") from None
    if "<summary>" in text:
        return text
    found = json_object(text)
    if found is None:
        raise ValueError(f"wrote neither a <summary> nor a JSON object, but {text.strip()[:_SHOWN]!r}")
    option = _chosen(problem, found.get("answer"))
    try:
        [steps] = reference_proofs([msgspec.convert(found.get("steps", []), list[StepRecord])])
    except msgspec.ValidationError as error:
        raise ValueError(f"wrote 'steps' that are not actions: {error}") from None
    if not steps or steps[-1].id != option.id:
        last = tuple([step.id for step in steps[-1:]])
        steps = (*steps, ReferenceStep(option.id, last, show(option.formula), GOAL_BINDING))
    reasoning = found.get("reasoning")
    thoughts = reasoning.strip() if isinstance(reasoning, str) else ""
    completion = f"<think>\n{thoughts}\n</think>\n\n{summary(steps)}"
    if not is_text(completion):
        raise ValueError("wrote half of a surrogate pair, which is not a character")
    return completion


def _chosen(problem: Problem, answer: object) -> Option:
    """The option of an id, a label in any case, or a letter."""
    named = answer.strip() if isinstance(answer, str) else None
    for letter, option in zip(ascii_uppercase, problem.options, strict=False):
        if named is not None and (named in (option.id, letter) or named.casefold() == option.label.casefold()):
            return option
    options = ", ".join([f"{option.id} ({option.label})" for option in problem.options])
    raise ValueError(f"wrote the 'answer' {answer!r}, which names no option: {options}")
