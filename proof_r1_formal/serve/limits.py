"""Limits of requests: who may send them, type and size of bodies, time to send them, and their total size.

A request beyond a limit raises a :class:`~proof_r1_formal.serve.messages.RefusalError` with its HTTP status.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address

from fastapi import Request
from starlette.requests import ClientDisconnect

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.serve.messages import refusal

HELD = 8
"""How many bodies of the largest size are held at a time, or as many bytes of smaller ones."""
RETRY = {"Retry-After": "1"}
"""The reply to a request that is refused."""


@dataclass(slots=True)
class Held:
    """The bytes of all requests that are being read or answered."""

    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a request, and of all requests together.

    Attributes:
        body: bytes.
        read_timeout: seconds until all of the body is there.
        held: what is held now.
    """

    body: int = 8 * 1024 * 1024
    read_timeout: float = 10.0
    held: Held = field(default_factory=Held)


def check_address(host: str, token: str | None) -> None:
    """Require a token for an address that other machines can reach.

    Raises:
        ProofR1Error: the address is not the loopback's, and there is no token.
    """
    try:
        local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local and not token:
        raise ProofR1Error(
            f"{host} can be reached from other machines: give a token that they have to send (--token-file), "
            "or stay on 127.0.0.1"
        )


def check_host(request: Request, names: Collection[str]) -> None:
    """Whether the request names this service as its host.

    A page in a browser can have its own name lead to this machine (DNS rebinding). The requests that it then sends come
    from this machine, but their ``Host`` is the page's name.

    Args:
        request: ``Host`` must be the address that it came to, ``localhost`` if that is a loopback address, or a name.
        names: other names of the service, without a port.

    Raises:
        RefusalError: 421 if it does not.
    """
    given = [_host(value) for value in request.headers.getlist("host")]
    reached = _address((request.scope.get("server") or ("", None))[0])
    match given:
        case [host] if host in {name.lower().rstrip(".") for name in names}:
            return
        case ["localhost"] if reached is not None and reached.is_loopback:
            return
        case [host] if reached is not None and _address(host) == reached:
            return
    message = "the Host header of the request does not name this service; add the name with --host-name"
    raise refusal(421, "misdirected", message)


def _host(value: str) -> str:
    """The name or address of a ``Host`` header, without its port."""
    value = value.strip().lower()
    if value.startswith("["):
        return value[1:].partition("]")[0]
    return value.partition(":")[0].rstrip(".")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a text is; of an IPv4 address inside IPv6, the former. None if it is none."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def check_token(request: Request, token: str | None) -> None:
    """Whether the request holds the token: as a bearer token, or as the password of a URL (basic authentication).

    A trainer that is given a URL only, such as OpenRLHF, sends the latter.

    Raises:
        RefusalError: 401 if it does not.
    """
    if token is None:
        return
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    held = given.strip().encode()
    if kind.lower() == "basic":
        with suppress(binascii.Error):
            held = base64.b64decode(held, validate=True).partition(b":")[2]
    if kind.lower() not in ("bearer", "basic") or not hmac.compare_digest(held, token.encode()):
        raise refusal(
            401,
            "unauthorized",
            "a bearer token is needed that is the service's",
            headers={"WWW-Authenticate": "Bearer"},
        )


@asynccontextmanager
async def body_of(request: Request, limits: Limits) -> AsyncIterator[bytearray]:
    """The body of a request that holds JSON; it counts as held until the context is left.

    A body that is too large is read to its end and forgotten: a client that is still sending would see no reply.

    Raises:
        RefusalError: 415 for another type, 413 if it is too large, 408 if it does not come in time, 429 if too much is
            held already.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # a page in a browser can send other types anywhere without asking
        raise refusal(415, "wrong_type", "the body has to be application/json")
    content, size = bytearray(), 0
    try:
        try:
            async with asyncio.timeout(limits.read_timeout):
                async for chunk in request.stream():
                    size += len(chunk)
                    if size <= limits.body and limits.held.bytes + len(chunk) <= HELD * limits.body:
                        limits.held.bytes += len(chunk)
                        content += chunk
        except TimeoutError:
            message = f"the body did not arrive within {limits.read_timeout:g} s"
            raise refusal(408, "slow_client", message, headers={"Connection": "close"}) from None
        except ClientDisconnect:
            raise refusal(400, "bad_request", "the client went away") from None
        if size > limits.body:
            raise refusal(413, "too_large", f"a body of {size} bytes; at most {limits.body} are read")
        if size > len(content):
            raise refusal(429, "busy", "too much is held already; try again", headers=RETRY)
        yield content
    finally:
        limits.held.bytes -= len(content)
