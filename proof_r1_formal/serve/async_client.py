"""An ``asyncio`` client of the service. It requires only the standard library and this package without extras."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Literal, Self, TypeVar

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.rewards import RewardName, Scored
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.serve.client import Client
from proof_r1_formal.serve.messages import CertifyReply, Health, ParseReply, ProblemsReply, RulesReply

_T = TypeVar("_T")


class AsyncClient:
    """The methods of :class:`~proof_r1_formal.serve.client.Client` as coroutines.

    Each request runs in a thread of the client's pool. Use the client in ``async with``. A request that was sent is not
    cancelled.

    Args:
        url, token, timeout: see :class:`~proof_r1_formal.serve.client.Client`.
        connections: maximum number of concurrent requests; others wait.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 3600.0, connections: int = 64) -> None:
        self._client = Client(url, token, timeout)
        self._pool = ThreadPoolExecutor(connections, "proof-r1-client")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for the running requests, and close the connections."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
        self._client.close()

    async def verify(
        self,
        problem: Problem | str,
        completions: Sequence[str],
        *,
        rules: RuleSystem = "train",
        evaluation: bool = True,
        atomic: bool = False,
    ) -> tuple[TraceReport, ...]:
        """See :meth:`~proof_r1_formal.serve.client.Client.verify`."""
        return await self._call(
            partial(self._client.verify, problem, completions, rules=rules, evaluation=evaluation, atomic=atomic)
        )

    async def verify_many(
        self,
        problems: Sequence[Problem | str],
        completions: Sequence[str],
        *,
        rules: RuleSystem = "train",
        evaluation: bool = True,
        atomic: bool = False,
    ) -> tuple[TraceReport, ...]:
        """See :meth:`~proof_r1_formal.serve.client.Client.verify_many`."""
        return await self._call(
            partial(self._client.verify_many, problems, completions, rules=rules, evaluation=evaluation, atomic=atomic)
        )

    async def score(
        self,
        problems: Sequence[Problem | str],
        completions: Sequence[str],
        *,
        reward: RewardName = "sound",
        rules: RuleSystem = "train",
    ) -> list[Scored]:
        """See :meth:`~proof_r1_formal.serve.client.Client.score`."""
        return await self._call(partial(self._client.score, problems, completions, reward=reward, rules=rules))

    async def certify(
        self,
        problem: Problem | str,
        completion: str,
        *,
        rules: RuleSystem = "train",
        kernel: Literal["lean", "none"] = "lean",
    ) -> CertifyReply:
        """See :meth:`~proof_r1_formal.serve.client.Client.certify`."""
        return await self._call(partial(self._client.certify, problem, completion, rules=rules, kernel=kernel))

    async def report(self, problem: Problem | str, completions: Sequence[str], *, rules: RuleSystem = "train") -> str:
        """See :meth:`~proof_r1_formal.serve.client.Client.report`."""
        return await self._call(partial(self._client.report, problem, completions, rules=rules))

    async def parse(self, formula: str, *, repair: bool = False) -> ParseReply:
        """See :meth:`~proof_r1_formal.serve.client.Client.parse`."""
        return await self._call(partial(self._client.parse, formula, repair=repair))

    async def rules(self, rules: RuleSystem = "train") -> RulesReply:
        """See :meth:`~proof_r1_formal.serve.client.Client.rules`."""
        return await self._call(partial(self._client.rules, rules))

    async def problems(self) -> ProblemsReply:
        """See :meth:`~proof_r1_formal.serve.client.Client.problems`."""
        return await self._call(self._client.problems)

    async def health(self) -> Health:
        """See :meth:`~proof_r1_formal.serve.client.Client.health`."""
        return await self._call(self._client.health)

    async def _call(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)
