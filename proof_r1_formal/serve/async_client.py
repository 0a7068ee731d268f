"""An ``asyncio`` client of the service. It requires only the standard library and this package without extras."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from proof_r1_formal.serve.client import Client

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _in_thread(
    method: Callable[Concatenate[Client, _P], _T],
) -> Callable[Concatenate[AsyncClient, _P], Coroutine[object, object, _T]]:
    """The method as a coroutine, which runs it in a thread of the client's pool."""

    @wraps(method)
    async def call(self: AsyncClient, /, *args: _P.args, **options: _P.kwargs) -> _T:
        request = partial(method, self._client, *args, **options)
        return await asyncio.get_running_loop().run_in_executor(self._pool, request)

    return call


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

    verify = _in_thread(Client.verify)
    verify_many = _in_thread(Client.verify_many)
    score = _in_thread(Client.score)
    certify = _in_thread(Client.certify)
    report = _in_thread(Client.report)
    parse = _in_thread(Client.parse)
    rules = _in_thread(Client.rules)
    problems = _in_thread(Client.problems)
    health = _in_thread(Client.health)
