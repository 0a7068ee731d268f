"""Worker processes and what waits for them: jobs in, outcomes out.

Jobs wait in one line. A worker does one job at a time, and has the next in hand if more wait than the other workers
could begin. A job that takes too long costs its worker and itself; if a worker dies, its job is tried once more, as it
may have been killed from outside. What a worker had in hand beside it goes back to the head of the line. A worker that
died is replaced, also an idle one, and so is one that has grown too large, between two jobs. More jobs than the line
may hold are refused, so that a crowd learns at once that it is one.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.serve.messages import Code, Job, Outcome, Refused, Trouble
from proof_r1_formal.serve.worker import HEADER

LOG = logging.getLogger("uvicorn.error")
"""Where the service's own log goes."""

IN_HAND = 2
"""The most jobs that a worker has: the one that it does, and the next."""
ATTEMPTS = 2
"""How often a job is tried if its worker dies."""
START = 120.0
"""Seconds that a worker may take to start."""
PAUSE = 1.0
"""Seconds between attempts to start a worker that does not start."""

_OUTCOMES: msgspec.msgpack.Decoder[Outcome] = msgspec.msgpack.Decoder(Outcome)
_PAGE = os.sysconf("SC_PAGE_SIZE")


class BusyError(Exception):
    """The line is full."""


class TooManyError(Exception):
    """So many jobs would not fit into an empty line."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many workers there are, and what they may take.

    Attributes:
        workers: number of processes.
        patience: seconds that a job may take once a worker has come to it.
        waiting: the most jobs that wait.
        max_actions: the most actions that a completion may have.
        memory: MiB of its own that a worker may hold when it begins a job.
    """

    workers: int
    patience: float = 60.0
    waiting: int = 1024
    max_actions: int = 512
    memory: int = 512


@dataclass(slots=True, eq=False)
class _Ticket:
    """A job in the line."""

    job: Job
    outcome: asyncio.Future[Outcome]
    attempts: int = 0


@dataclass(slots=True)
class Counts:
    """What happened, for the metrics.

    Attributes:
        jobs: given to workers.
        restarts: workers that were replaced because they died, or took too long.
        renewals: workers that were replaced because they had grown too large.
    """

    jobs: int = 0
    restarts: int = 0
    renewals: int = 0


class _GoneError(Exception):
    """The worker died."""


@dataclass(slots=True)
class Pool:
    """The workers; :meth:`start` it, then :meth:`do` jobs, at last :meth:`close` it."""

    settings: PoolSettings
    counts: Counts = field(default_factory=Counts)
    _line: deque[_Ticket] = field(default_factory=deque)
    _news: asyncio.Event = field(default_factory=asyncio.Event)  # a job has come, or a worker has gone
    _attendants: list[asyncio.Task[None]] = field(default_factory=list)
    _at_work: set[_Process] = field(default_factory=set)

    @property
    def waiting(self) -> int:
        """How many jobs wait for a worker."""
        return len(self._line)

    @property
    def at_work(self) -> int:
        """How many workers there are at the moment."""
        return sum([process.child.returncode is None for process in self._at_work])

    async def start(self) -> None:
        """Start the workers.

        Raises:
            ProofR1Error: one does not start.
        """
        processes = await asyncio.gather(*[self._new_process() for _ in range(self.settings.workers)])
        self._attendants = [asyncio.create_task(self._attend(process)) for process in processes]

    async def close(self) -> None:
        """End the workers, with whatever they are doing."""
        for attendant in self._attendants:
            attendant.cancel()
        await asyncio.gather(*self._attendants, return_exceptions=True)
        await asyncio.gather(*[self._end(process) for process in tuple(self._at_work)])

    async def do(self, jobs: Sequence[Job]) -> list[Outcome]:
        """The outcomes of jobs, in their order.

        It takes as long as it takes: each job is begun in its turn and has its own time, and the line is not left to
        wait where no worker starts.

        Raises:
            BusyError: too many wait already.
            TooManyError: they would be too many even if none waited.
        """
        if len(jobs) > self.settings.waiting:
            raise TooManyError
        if len(self._line) + len(jobs) > self.settings.waiting:
            raise BusyError
        loop = asyncio.get_running_loop()
        tickets = [_Ticket(job, loop.create_future()) for job in jobs]
        self._line.extend(tickets)
        self._news.set()
        try:
            return [await ticket.outcome for ticket in tickets]
        finally:
            for ticket in tickets:  # what nobody waits for any more is not begun
                ticket.outcome.cancel()

    # -- one worker ---------------------------------------------------------------------------------------------------

    async def _attend(self, process: _Process) -> None:
        """Hand jobs to a process, and to others in its place, for good."""
        while True:
            hand: deque[_Ticket] = deque()
            try:
                await self._work(process, hand)
            except TimeoutError:
                self.counts.restarts += 1
                LOG.warning("a job took longer than %g s; its worker is replaced", self.settings.patience)
                _settle(hand.popleft(), _refused(504, "too_slow", f"not done within {self.settings.patience:g} s"))
            except Exception as error:  # whatever it is: without its attendant, a worker's place would stay empty
                self.counts.restarts += 1
                LOG.warning("%s; it is replaced", error, exc_info=not isinstance(error, _GoneError))
                if hand:
                    _tried(hand)
            else:
                self.counts.renewals += 1
                LOG.info("a worker has grown beyond %d MiB; it is replaced", self.settings.memory)
            self._line.extendleft(reversed(hand))
            self._news.set()
            await self._end(process)
            process = await self._replacement()

    async def _work(self, process: _Process, hand: deque[_Ticket]) -> None:
        """Have a process do jobs until it is too large, and has nothing in hand.

        Raises:
            TimeoutError: the first job in hand took too long.
            _GoneError: the process died; if it did a job, that is the first in hand.
        """
        while True:
            if process.mebibytes() <= self.settings.memory:
                await self._hand_over(process, hand)
            elif not hand:
                return
            async with asyncio.timeout(self.settings.patience):
                outcome = await process.receive()
            _settle(hand.popleft(), outcome)

    async def _hand_over(self, process: _Process, hand: deque[_Ticket]) -> None:
        """Fill the hand of a process as far as the line allows; wait for a job if it has none."""
        while len(hand) < IN_HAND:
            others = self.settings.workers - 1
            if not hand and not self._line:
                process.require_alive()
                self._news.clear()
                await self._news.wait()
            elif hand and len(self._line) <= others:  # which may have nothing to do
                return
            elif (ticket := self._line[0]).outcome.done():
                self._line.popleft()
            else:
                process.send(ticket.job)  # if it cannot be, the job stays where it is, untried
                hand.append(self._line.popleft())
                self.counts.jobs += 1

    async def _replacement(self) -> _Process:
        while True:
            try:
                return await self._new_process()
            except ProofR1Error as error:
                LOG.error("%s; trying again", error)
                while self._line and not self.at_work:
                    _settle(self._line.popleft(), _refused(503, "busy", "no worker can be started at the moment"))
                await asyncio.sleep(PAUSE)

    async def _new_process(self) -> _Process:
        process = await _Process.start(self.settings.max_actions)
        process.exit.add_done_callback(lambda _: self._news.set())
        self._at_work.add(process)
        return process

    async def _end(self, process: _Process) -> None:
        await process.end()
        self._at_work.discard(process)


def _settle(ticket: _Ticket, outcome: Outcome) -> None:
    if not ticket.outcome.done():
        ticket.outcome.set_result(outcome)


def _tried(hand: deque[_Ticket]) -> None:
    """The worker died over the first job in hand, which may be tried again, or not."""
    hand[0].attempts += 1
    if hand[0].attempts == ATTEMPTS:
        _settle(hand.popleft(), _refused(500, "failed", f"the worker that did it died, {ATTEMPTS} times"))


def _refused(status: int, code: Code, message: str) -> Refused:
    return Refused(status, Trouble(code, message))


@dataclass(frozen=True, slots=True, eq=False)
class _Process:
    """A worker process and the pipes to it.

    Attributes:
        child: the process, which leads a group of its own.
        requests, replies: the pipes.
        exit: is done when it has ended.
        folder: for the temporary files of what it starts.
    """

    child: asyncio.subprocess.Process
    requests: asyncio.StreamWriter
    replies: asyncio.StreamReader
    exit: asyncio.Task[int]
    folder: TemporaryDirectory[str]

    @classmethod
    async def start(cls, max_actions: int) -> _Process:
        folder = TemporaryDirectory(prefix="proof-r1-worker-", ignore_cleanup_errors=True)
        try:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # the folder that the service was started in holds none of its modules
                "-m",
                "proof_r1_formal.serve.worker",
                str(max_actions),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, "TMPDIR": folder.name},
                start_new_session=True,  # Ctrl-C is for the service, which ends its workers when they are done
            )
        except OSError as error:
            folder.cleanup()
            raise ProofR1Error(f"a worker cannot be started: {error.strerror}") from error
        assert child.stdin is not None and child.stdout is not None
        process = cls(child, child.stdin, child.stdout, asyncio.create_task(child.wait()), folder)
        try:
            async with asyncio.timeout(START):
                await process._frame()
        except (_GoneError, TimeoutError):
            await process.end()
            raise ProofR1Error("a worker does not start; its own message is above") from None
        except asyncio.CancelledError:
            await process.end()
            raise
        return process

    def send(self, job: Job) -> None:
        """Give it a job; the pipe takes the bytes when it can.

        Raises:
            _GoneError: it died.
        """
        self.require_alive()
        frame = pickle.dumps(job)
        try:
            self.requests.write(HEADER.pack(len(frame)) + frame)
        except (ConnectionError, RuntimeError):  # the latter is how uvloop says that the pipe is closed
            raise self._gone() from None

    async def receive(self) -> Outcome:
        """The outcome of the next job."""
        try:
            return _OUTCOMES.decode(await self._frame())
        except msgspec.DecodeError as error:
            raise _GoneError(f"worker {self.child.pid} talks nonsense ({error})") from error

    def require_alive(self) -> None:
        """Whether it can be talked to.

        Raises:
            _GoneError: it died.
        """
        if self.child.returncode is not None or self._pages() == (0, 0):  # the system knows before the event loop does
            raise self._gone()

    def mebibytes(self) -> float:
        """The memory that it holds and shares with no file or other process; 0 where the system does not say it."""
        resident, shared = self._pages() or (0, 0)
        return (resident - shared) * _PAGE / 2**20

    def _pages(self) -> tuple[int, int] | None:
        """The pages of memory that it holds, and those of them that it shares, if the system says it."""
        try:
            _, resident, shared, *_ = Path(f"/proc/{self.child.pid}/statm").read_text(encoding="ascii").split()
        except OSError:
            return None
        return int(resident), int(shared)

    async def _frame(self) -> bytes:
        try:
            (length,) = HEADER.unpack(await self.replies.readexactly(HEADER.size))
            return await self.replies.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise self._gone() from None

    def _gone(self) -> _GoneError:
        return _GoneError(f"worker {self.child.pid} died")

    async def end(self) -> None:
        """End it, with all that it started: a Lean that is checking something would go on alone."""
        with suppress(ProcessLookupError):  # they ended by themselves
            os.killpg(self.child.pid, signal.SIGKILL)
        await self.child.wait()
        self.requests.close()
        self.folder.cleanup()
