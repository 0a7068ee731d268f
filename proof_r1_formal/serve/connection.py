"""A connection of the service's that does not wait for ever: uvicorn's own, with limits for what uvicorn leaves open.

The head of a request has to come in time and is bounded in size, before anything of it is looked at, the token
included. A client that does not read its reply is cut off. Bodies are bounded in ``limits``.
"""

from __future__ import annotations

import asyncio
from typing import cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD = 64 * 1024
"""The most bytes of a request's headers, trailers included; read after the piece of data in which the head starts."""


class Connection(HttpToolsProtocol):
    """One connection.

    Attributes:
        read_timeout: seconds until the head of a request is complete, however little arrives in between; and seconds
            until the client reads more of a reply.
    """

    read_timeout: float = 10.0
    _head_clock: asyncio.TimerHandle | None = None
    _read_clock: asyncio.TimerHandle | None = None
    _in_head: bool = False
    _pieces: int = 0  # bytes of the head that is coming
    _fields: int = 0  # bytes of its headers that are there
    _unread: int = 0  # bytes of the reply when the clock was last looked at

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first head."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        _stop(self._head_clock)
        _stop(self._read_clock)
        super().connection_lost(exc)

    # -- heads --------------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Pass on what comes, unless a head gets too large."""
        if self._in_head:
            self._pieces += len(data)
            if self._pieces > MAX_HEAD:
                self.send_400_response("The head of the request is too large.")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        self._pieces = self._fields = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header.

        Raises:
            ValueError: there are too many; the parser takes that for a request that is none.
        """
        self._fields += len(name) + len(value)
        if self._fields > MAX_HEAD:
            raise ValueError("the head of the request is too large")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        _stop(self._head_clock)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """The client may ask again, if it has not already."""
        if not self.pipeline:
            self._await_head()
        super().on_response_complete()

    def _await_head(self) -> None:
        _stop(self._head_clock)
        self._head_clock = self.loop.call_later(self.read_timeout, self._no_head)

    def _no_head(self) -> None:
        if self.transport.get_write_buffer_size() and self._read_clock is None:
            self.transport.abort()  # the end of a reply is left, which closing would wait for
        else:
            self.transport.close()

    # -- replies ------------------------------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """More of a reply is there than the client has read."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """The client has read on."""
        super().resume_writing()
        _stop(self._read_clock)
        self._read_clock = None

    def _await_reader(self) -> None:
        self._unread = self.transport.get_write_buffer_size()
        self._read_clock = self.loop.call_later(self.read_timeout, self._look_at_reader)

    def _look_at_reader(self) -> None:
        if self.transport.get_write_buffer_size() < self._unread:
            self._await_reader()
        else:
            self.transport.abort()


def _stop(clock: asyncio.TimerHandle | None) -> None:
    if clock is not None:
        clock.cancel()


def connection(read_timeout: float) -> type[Connection]:
    """The class of connections with that read timeout, for uvicorn to make them of."""
    return type("Connection", (Connection,), {"read_timeout": read_timeout})
