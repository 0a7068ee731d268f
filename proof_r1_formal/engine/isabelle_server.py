"""An Isabelle server of our own: started, asked, and always shut down.

In: commands with JSON arguments. Out: the body of the final reply, or an exception. Messages are read by the package
isabelle-client. Connections are ours, since its own calls have no time limit, leave their connection open and run an
event loop, which fails inside another one; and its ``cancel`` goes through a second connection, while the server knows
a task by the connection that began it. Here every command has one connection, and the server cancels what is left of
the command when that closes.

The server would outlive this process. So it gets the command to shut down when its object is closed or collected, and
when the interpreter exits. A process that a signal ends cannot do that. So a shell runs the server in a process group
of its own, and reads from a pipe whose other end this process holds. When the pipe closes, the shell ends the group.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
import weakref
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from proof_r1_formal.engine.process import kill_group, read
from proof_r1_formal.errors import SolverError

if TYPE_CHECKING:  # the package is optional
    from isabelle_client import IsabelleClient, IsabelleResponse

_SYNCHRONOUS = frozenset({"purge_theories", "shutdown"})
"""The commands that answer at once; the others start a task and announce its end."""

_MAX_LINE = 1 << 12
_GUARD = """
"$@" & exec >/dev/null
read -r _
trap '' TERM
kill -TERM 0
tries=0
while kill -0 $! 2>/dev/null && [ $tries -lt 50 ]; do tries=$((tries + 1)); sleep 0.1; done
kill -KILL 0
"""
"""The commands of a shell around a server. Its processes get five seconds to end; Java ends its own ones then."""

_T = TypeVar("_T")


class FailedError(SolverError):
    """The server says that a command failed; it is ready for the next one."""


class IsabelleServer:
    """A running server that nobody else uses.

    Args:
        program: the Isabelle executable.
        startup, grace_period: seconds in which the server must say where it is, and shut down before it is killed.

    Raises:
        SolverError: it cannot be started.
    """

    def __init__(self, program: str, *, startup: float, grace_period: float) -> None:
        command = ("/bin/sh", "-c", _GUARD, "sh", program, "server", "-n", f"proof_r1_{uuid4().hex}")
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        try:
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, start_new_session=True)
        except OSError as error:
            raise SolverError("isabelle", f"the server cannot be started: {error}") from error
        try:
            self._client = _client(process, startup)
        except BaseException:
            _kill(process)
            raise
        self._finalizer = weakref.finalize(self, _shut_down, os.getpid(), self._client, process, grace_period)

    def ask(self, command: str, arguments: Mapping[str, object], *, seconds: float) -> object:
        """The body of the final reply to a command with arguments, which are sent as JSON.

        When its time is up, the connection is closed, and the server cancels the command.

        Raises:
            FailedError: the command fails.
            SolverError: the server refuses the command, or breaks its protocol.
            TimeoutError: the time is up.
        """
        return _ask(self._client, f"{command} {json.dumps(arguments)}", seconds)

    def close(self) -> None:
        """Shut the server down, or kill it if it does not go; once is enough."""
        self._finalizer()


# -- start and end ----------------------------------------------------------------------------------------------------


def _client(process: subprocess.Popen[bytes], seconds: float) -> IsabelleClient:
    """The first line of the process: address, port and password. Its output is closed after that line."""
    from isabelle_client import get_isabelle_client

    assert process.stdout is not None
    try:
        with process.stdout as output:
            said = read(output, time.monotonic() + seconds, _MAX_LINE, until=b"\n")
    except TimeoutError:
        raise SolverError("isabelle", "the server does not say where it is, nor anything else") from None
    line = said.decode("utf-8", "replace").partition("\n")[0]
    try:
        return get_isabelle_client(line)
    except ValueError as error:
        raise SolverError("isabelle", f"the server does not say where it is, but {line[:80]!r}") from error


def _shut_down(owner: int, client: IsabelleClient, process: subprocess.Popen[bytes], grace_period: float) -> None:
    if os.getpid() != owner:  # a fork inherits the object, but not the server
        return
    with suppress(SolverError, TimeoutError):  # it may be gone, or past listening
        _ask(client, "shutdown", grace_period)
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(grace_period)
    except subprocess.TimeoutExpired:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    kill_group(process)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


# -- one command ------------------------------------------------------------------------------------------------------


def _ask(client: IsabelleClient, command: str, seconds: float) -> object:
    from isabelle_client.data_models import IsabelleResponseType

    name = command.partition(" ")[0]
    try:
        reply = _run(_exchange(client, command, seconds))
    except TimeoutError:
        raise
    except (OSError, EOFError, ValueError) as error:
        raise SolverError("isabelle", f"the server broke off {name}: {error}") from error
    body = reply.response_body
    errors = {IsabelleResponseType.FAILED: FailedError, IsabelleResponseType.ERROR: SolverError}
    if error_type := errors.get(reply.response_type):
        message = body.get("message", body) if isinstance(body, dict) else body
        raise error_type("isabelle", f"{name} failed: {message}")
    return body


async def _exchange(client: IsabelleClient, command: str, seconds: float) -> IsabelleResponse:
    from isabelle_client.data_models import (
        ASYNCHRONOUS_FINAL_MESSAGES,
        SYNCHRONOUS_FINAL_MESSAGES,
        IsabelleResponseType,
    )
    from isabelle_client.socket_communication import get_final_message, get_response_from_isabelle

    synchronous = command.partition(" ")[0] in _SYNCHRONOUS
    final = SYNCHRONOUS_FINAL_MESSAGES if synchronous else ASYNCHRONOUS_FINAL_MESSAGES
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_connection(client.address, client.port)
        try:
            writer.write(f"{client.password}\n{command}\n".encode())
            greeting = await get_response_from_isabelle(reader)
            if greeting.response_type is not IsabelleResponseType.OK:
                raise ValueError(f"it greets with {greeting}")
            return [reply async for reply in get_final_message(reader, final)][-1]
        finally:
            writer.transport.abort()  # to close politely would be to wait for a server that does not read


def _run(work: Coroutine[None, None, _T]) -> _T:
    """The result of the coroutine, also where an event loop runs already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
