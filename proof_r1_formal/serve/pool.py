"""Worker processes and what waits for them: jobs in, outcomes out.

Jobs wait in one line. A worker that is free takes its share of the line at once (a batch), and answers job by job. A
job that takes too long costs its worker and itself; jobs behind it in the batch go back to the head of the line. If a
worker dies, its job is tried once more, as it may have been killed from outside. More jobs than the line may hold are
refused, so that a crowd learns at once that it is one.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.serve.messages import Job, Outcome, Refused, Trouble
from proof_r1_formal.serve.worker import HEADER

LOG = logging.getLogger("uvicorn.error")
"""Where the service's own log goes."""

BATCH = 16
"""The most jobs that a worker is given at a time."""
ATTEMPTS = 2
"""How often a job is tried if its worker dies."""
START = 120.0
"""Seconds that a worker may take to start."""
PAUSE = 1.0
"""Seconds between attempts to start a worker that does not start."""

_OUTCOMES: msgspec.msgpack.Decoder[Outcome] = msgspec.msgpack.Decoder(Outcome)


class BusyError(Exception):
    """The line is full."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many workers there are, and what they may take.

    Attributes:
        workers: number of processes.
        patience: seconds that a job may take once a worker has come to it.
        waiting: the most jobs that wait.
        waiting_bytes: the most that they may weigh together.
        max_actions: the most actions that a completion may have.
    """

    workers: int
    patience: float = 60.0
    waiting: int = 1024
    waiting_bytes: int = 64 * 1024 * 1024
    max_actions: int = 512


@dataclass(slots=True, eq=False)
class _Ticket:
    """A job in the line."""

    job: bytes
    outcome: asyncio.Future[Outcome]
    attempts: int = 0


@dataclass(slots=True)
class Counts:
    """What happened, for the metrics.

    Attributes:
        batches, jobs: given to workers.
        restarts: workers that were replaced.
    """

    batches: int = 0
    jobs: int = 0
    restarts: int = 0


class _GoneError(Exception):
    """The worker died."""


@dataclass(slots=True)
class Pool:
    """The workers; :meth:`start` it, then :meth:`do` jobs, at last :meth:`close` it."""

    settings: PoolSettings
    counts: Counts = field(default_factory=Counts)
    _line: deque[_Ticket] = field(default_factory=deque)
    _weight: int = 0
    _arrival: asyncio.Event = field(default_factory=asyncio.Event)
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

        Raises:
            BusyError: too many wait already.
        """
        encoded = [msgspec.msgpack.encode(job) for job in jobs]
        weight = sum(map(len, encoded))
        full = len(self._line) + len(jobs) > self.settings.waiting
        if full or self._weight + weight > self.settings.waiting_bytes:
            raise BusyError
        loop = asyncio.get_running_loop()
        tickets = [_Ticket(job, loop.create_future()) for job in encoded]
        self._line.extend(tickets)
        self._weight += weight
        self._arrival.set()
        try:
            async with asyncio.timeout(START + self.settings.patience):  # a worker may have to be replaced first
                return [await ticket.outcome for ticket in tickets]
        except TimeoutError:
            late = Refused(503, Trouble("busy", "no worker came to it in time"))
            return [ticket.outcome.result() if _is_done(ticket) else late for ticket in tickets]
        finally:
            for ticket in tickets:  # what nobody waits for any more is not begun
                ticket.outcome.cancel()

    # -- one worker ---------------------------------------------------------------------------------------------------

    async def _attend(self, process: _Process) -> None:
        """Hand batches to a process, and to others in its place, for good."""
        while True:
            while not self._line:
                self._arrival.clear()
                await self._arrival.wait()
            batch = self._take()
            if batch and not await self._done(process, batch):
                await self._end(process)
                self.counts.restarts += 1
                process = await self._replacement()

    def _take(self) -> deque[_Ticket]:
        """This worker's share of the line."""
        share = min(BATCH, -(-len(self._line) // self.settings.workers))
        batch = deque([self._line.popleft() for _ in range(share)])
        self._weight -= sum([len(ticket.job) for ticket in batch])
        return deque([ticket for ticket in batch if not ticket.outcome.done()])

    async def _done(self, process: _Process, batch: deque[_Ticket]) -> bool:
        """Whether the process answers the batch and lives; if not, what it has not come to is in the line again."""
        self.counts.batches += 1
        self.counts.jobs += len(batch)
        try:
            async with asyncio.timeout(self.settings.patience):
                await process.send([ticket.job for ticket in batch])
            while batch:
                async with asyncio.timeout(self.settings.patience):
                    outcome = await process.receive()
                _settle(batch.popleft(), outcome)
        except TimeoutError:
            message = f"not done within {self.settings.patience:g} s"
            _settle(batch.popleft(), Refused(504, Trouble("too_slow", message)))
            LOG.warning("a job took longer than %g s; its worker is replaced", self.settings.patience)
        except _GoneError as error:
            LOG.warning("%s; it is replaced", error)
            batch[0].attempts += 1
            if batch[0].attempts == ATTEMPTS:
                message = f"the worker that did it died, {ATTEMPTS} times"
                _settle(batch.popleft(), Refused(500, Trouble("failed", message)))
        else:
            return True
        self._line.extendleft(reversed(batch))
        self._weight += sum([len(ticket.job) for ticket in batch])
        return False

    async def _replacement(self) -> _Process:
        while True:
            try:
                return await self._new_process()
            except ProofR1Error as error:
                LOG.error("%s; trying again", error)
                await asyncio.sleep(PAUSE)

    async def _new_process(self) -> _Process:
        process = await _Process.start(self.settings.max_actions)
        self._at_work.add(process)
        return process

    async def _end(self, process: _Process) -> None:
        self._at_work.discard(process)
        await process.end()


def _settle(ticket: _Ticket, outcome: Outcome) -> None:
    if not ticket.outcome.done():
        ticket.outcome.set_result(outcome)


def _is_done(ticket: _Ticket) -> bool:
    return ticket.outcome.done() and not ticket.outcome.cancelled()


@dataclass(frozen=True, slots=True, eq=False)
class _Process:
    """A worker process and the pipes to it."""

    child: asyncio.subprocess.Process
    requests: asyncio.StreamWriter
    replies: asyncio.StreamReader

    @classmethod
    async def start(cls, max_actions: int) -> _Process:
        try:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # the folder that the service was started in holds none of its modules
                "-m",
                "proof_r1_formal.serve.worker",
                str(max_actions),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the service, which ends its workers when they are done
            )
        except OSError as error:
            raise ProofR1Error(f"a worker cannot be started: {error.strerror}") from error
        assert child.stdin is not None and child.stdout is not None
        process = cls(child, child.stdin, child.stdout)
        try:
            async with asyncio.timeout(START):
                await process._frame()
        except (_GoneError, TimeoutError):
            await process.end()
            raise ProofR1Error("a worker does not start; its own message is above") from None
        return process

    async def send(self, jobs: Sequence[bytes]) -> None:
        """Give it a batch."""
        frame = msgspec.msgpack.encode([msgspec.Raw(job) for job in jobs])
        try:
            self.requests.write(HEADER.pack(len(frame)) + frame)
            await self.requests.drain()
        except ConnectionError:
            raise _GoneError(f"worker {self.child.pid} died") from None

    async def receive(self) -> Outcome:
        """The outcome of the next job."""
        try:
            return _OUTCOMES.decode(await self._frame())
        except msgspec.DecodeError as error:
            raise _GoneError(f"worker {self.child.pid} talks nonsense ({error})") from error

    async def _frame(self) -> bytes:
        try:
            (length,) = HEADER.unpack(await self.replies.readexactly(HEADER.size))
            return await self.replies.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise _GoneError(f"worker {self.child.pid} died") from None

    async def end(self) -> None:
        """End it."""
        with suppress(ProcessLookupError):  # it ended by itself
            self.child.kill()
        await self.child.wait()
        self.requests.close()
