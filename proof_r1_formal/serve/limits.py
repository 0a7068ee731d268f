"""Limits of requests: who may send them, type and size of bodies, time to send them, and their total size.

A request beyond a limit raises a :class:`~proof_r1_formal.serve.messages.RefusalError` with its HTTP status. uvicorn
bounds the head of a request and the number of connections.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from typing import cast

from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.serve.messages import RefusalError

HELD = 8
"""How many bodies of the largest size are held at a time, or as many bytes of smaller ones."""
RETRY = {"Retry-After": "1"}
"""Headers of the reply to a request that is to be repeated."""


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def check_address(host: str, token: str | None) -> None:
    """Require a token for an address that other machines can reach.

    Raises:
        ProofR1Error: the address is not the loopback's, and there is no token.
    """
    if not _is_loopback(host) and not token:
        raise ProofR1Error(
            f"{host} can be reached from other machines: give a token that they have to send (--token-file), "
            "or stay on 127.0.0.1"
        )


def check_host(request: Request) -> None:
    """Require that the ``Host`` of a request is an address of this machine alone; for a service without a token.

    A page in a browser can have its own name lead to this machine (DNS rebinding). The requests that it then sends come
    from this machine, but their ``Host`` is the page's name.

    Raises:
        RefusalError: 421 if it is not.
    """
    found = re.fullmatch(r"\[?(.*?)\]?(:\d*)?", request.headers.get("host", ""))
    if found is None or not _is_loopback(found[1].lower()):
        message = "the Host header of the request is not localhost or a loopback address; a service that has another "
        raise RefusalError(421, "misdirected", f"{message}name needs a token (--token-file)")


def check_token(request: Request, token: str) -> None:
    """Require that a request holds the token: as a bearer token, or as the password of a URL (basic authentication).

    A trainer that is given a URL only, such as OpenRLHF, sends the latter.

    Raises:
        RefusalError: 401 if it does not.
    """
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    held = given.strip().encode()
    if kind.lower() == "basic":
        with suppress(binascii.Error):
            held = base64.b64decode(held, validate=True).partition(b":")[2]
    if kind.lower() not in ("bearer", "basic") or not hmac.compare_digest(held, token.encode()):
        headers = {"WWW-Authenticate": "Bearer"}
        raise RefusalError(401, "unauthorized", "a bearer token is needed that is the service's", headers)


class Bodies:
    """The bodies of all requests that are being read or answered.

    Each has at most ``most`` bytes, and has to be there within ``read_timeout`` seconds.
    """

    def __init__(self, most: int, read_timeout: float) -> None:
        self._most, self._read_timeout = most, read_timeout
        self._held = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytearray]:
        """The body of a request that holds JSON; it counts as held until the context is left.

        A body that is too large is read to its end and forgotten: a client that is still sending would see no reply.

        Raises:
            RefusalError: 415 for another type, 413 if it is too large, 408 if it does not come in time, 429 if too much
                is held already.
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # a page in a browser can send other types anywhere without asking
            raise RefusalError(415, "wrong_type", "the body has to be application/json")
        content, size = bytearray(), 0
        try:
            try:
                async with asyncio.timeout(self._read_timeout):
                    async for chunk in request.stream():
                        size += len(chunk)
                        if size <= self._most and self._held + len(chunk) <= HELD * self._most:
                            self._held += len(chunk)
                            content += chunk
            except TimeoutError:
                message = f"the body did not arrive within {self._read_timeout:g} s"
                raise RefusalError(408, "slow_client", message, {"Connection": "close"}) from None
            except ClientDisconnect:
                raise RefusalError(400, "bad_request", "the client went away") from None
            if size > self._most:
                raise RefusalError(413, "too_large", f"a body of {size} bytes; at most {self._most} are read")
            if size > len(content):
                raise RefusalError(429, "busy", "too much is held already; try again", RETRY)
            yield content
        finally:
            self._held -= len(content)


class Connection(H11Protocol):
    """uvicorn's connection, which also ends if its client neither completes a head nor reads on for a while.

    Attributes:
        read_timeout: seconds between two looks at the connection. It ends if nothing has changed in between.
    """

    read_timeout = 10.0
    _seen: object = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to look at the connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._look()

    def _look(self) -> None:
        if self.transport.is_closing() and not self.transport.get_write_buffer_size():
            return
        seen = (self.cycle, self.transport.get_write_buffer_size())
        is_working = self.cycle is not None and not self.cycle.response_complete and not seen[1]
        if seen == self._seen and not is_working:
            self.transport.abort()
            return
        self._seen = seen
        self.loop.call_later(self.read_timeout, self._look)
