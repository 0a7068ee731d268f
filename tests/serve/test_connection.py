"""A connection that nobody reads from any more."""

from __future__ import annotations

import asyncio

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from proof_r1_formal.serve.connection import connection


async def nothing(scope: object, receive: object, send: object) -> None:
    """An application that is asked nothing."""


CONFIG = Config(nothing)


class Transport(asyncio.Transport):
    """One that still holds so many bytes of a reply.

    Attributes:
        ended: how it was let go of.
    """

    def __init__(self, unread: int) -> None:
        super().__init__()
        self._unread = unread
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def get_write_buffer_size(self) -> int:
        return self._unread

    def close(self) -> None:
        self.ended.set_result("closed")

    def abort(self) -> None:
        self.ended.set_result("aborted")


@pytest.mark.parametrize(("unread", "ended"), [(0, "closed"), (1, "aborted")])
def test_the_end_of_a_reply_is_not_waited_for(unread: int, ended: str) -> None:
    async def found() -> str:
        made = connection(0.01)(CONFIG, ServerState(), {})
        transport = Transport(unread)
        made.connection_made(transport)
        return await transport.ended

    assert asyncio.run(found()) == ended
