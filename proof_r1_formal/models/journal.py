"""A file of replies, each stored before it is used, so that each is paid for once.

In: a path, and questions. Out: replies, from the file if it has them. A killed run starts from the beginning with the
replies of the journal: tasks ask the same questions in the same order, so only unanswered ones reach the model.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from proof_r1_formal.data.completions import Cost
from proof_r1_formal.errors import DataError
from proof_r1_formal.models.chat import Message, Model, Reply, Sampling
from proof_r1_formal.outputs import open_to_append, writing


class _Entry(msgspec.Struct, frozen=True):
    """A line of a journal."""

    key: str
    of: str
    reply: Reply


class Journal:
    """A file of replies by question. Use it as a context manager. Only one run may use the file at a time.

    Attributes:
        replayed: replies that were taken from the file.
        tokens: generated for new replies, if known.
    """

    def __init__(self, path: Path) -> None:
        """The journal of a path; a last line that was cut short is dropped.

        Raises:
            DataError: the file can be neither read nor written, another run has it, or a line that is not the last
                holds no reply.
        """
        self.replayed = self.tokens = 0
        self._path = path
        self._file = open_to_append(path)
        try:
            self._replies, size = _read(self._file, path)
            self._file.truncate(size)
        except BaseException:
            self._file.close()
            raise

    async def reply(self, key: str, of: str, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """The reply to a question; a missing one is requested, and stored before this returns.

        Args:
            key: of the question.
            of: name of the task, for people.
            ask: requests the reply.
        """
        if key in self._replies:
            self.replayed += 1
            return self._replies[key]
        reply = self._replies[key] = await ask()
        self.tokens += reply.tokens or 0
        record = msgspec.to_builtins(_Entry(key, of, reply))
        with writing(self._path):
            self._file.write(json.dumps(record).encode("ascii") + b"\n")  # ASCII keeps unpaired surrogates
            self._file.flush()
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with writing(self._path):  # it writes again what could not be written
            self._file.close()


def _read(file: BinaryIO, path: Path) -> tuple[dict[str, Reply], int]:
    """The replies of a journal, by their keys, and how many bytes they take."""
    replies: dict[str, Reply] = {}
    size = 0
    broken: DataError | None = None
    file.seek(0)
    for number, line in enumerate(file, 1):
        if broken is not None:  # it is not the last line: a kill does not do that
            raise broken
        try:
            entry = msgspec.convert(json.loads(line), _Entry)  # this JSON reader keeps unpaired surrogates
        except (ValueError, RecursionError) as error:
            broken = DataError(str(path), f"no reply of a model: {error}; mend or delete the line", line=number)
            continue
        if line.endswith(b"\n"):
            replies[entry.key] = entry.reply
            size += len(line)
    return replies, size


class Recorded:
    """The model of one task: its replies go through a journal and are counted.

    Attributes:
        name: of the model.
        replies: in the order of their arrival.
    """

    def __init__(self, model: Model, journal: Journal, of: str) -> None:
        self.name = model.name
        self.replies: list[Reply] = []
        self._model = model
        self._journal = journal
        self._of = of
        self._asked: Counter[str] = Counter()
        self._worked: list[tuple[float, float]] = []

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """See :class:`~proof_r1_formal.models.chat.Model`."""
        question = json.dumps([self.name, self._of, sampling.record(), list(chat)])
        self._asked[question] += 1  # who asks the same twice wants two replies
        key = hashlib.sha256(f"{self._asked[question]} {question}".encode()).hexdigest()[:32]
        if sampling.form is not None:
            sampling = replace(sampling, seed=int(key, 16))  # the reply does not depend on which others there are
        reply = await self._journal.reply(key, self._of, lambda: self._model.reply(chat, sampling))
        self.replies.append(reply)
        return reply

    def worked(self, started: float, ended: float) -> None:
        """See :class:`~proof_r1_formal.models.chat.TimedModel`."""
        self._worked.append((started, ended))

    def cost(self) -> Cost:
        """The cost of the replies; the time counts while at least one call or a solver was running."""
        tokens = [reply.tokens for reply in self.replies if reply.tokens is not None]
        read = [reply.prompt_tokens for reply in self.replies if reply.prompt_tokens is not None]
        count = len(self.replies)
        return Cost(
            tokens=sum(tokens) if len(tokens) == count else None,
            prompt_tokens=sum(read) if len(read) == count else None,
            seconds=_covered([*self._worked, *[(reply.started, reply.ended) for reply in self.replies]]),
            calls=count,
        )


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """How long the union of spans of time is."""
    covered, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return round(covered, 3)
