"""``serve`` and ``mcp``: the verifier as an HTTP service (extra ``serve``), and for agents over MCP (extra ``mcp``)."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from socket import AF_INET, AF_INET6, create_server, socket
from typing import TYPE_CHECKING, Annotated

import typer

from proof_r1_formal.commands import common, problem_files
from proof_r1_formal.data.native import to_json

if TYPE_CHECKING:
    import uvicorn

_LOOPBACK = "127.0.0.1"
_CONNECTIONS = 1024
"""The most concurrent connections; further ones get the status 503."""
_MAX_HEAD = 64 * 1024
"""The most bytes of a request's line and header fields; uvicorn answers more with the status 400."""


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = _LOOPBACK,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 selects a free one.")] = 8765,
    workers: Annotated[
        int | None,
        typer.Option("-j", "--workers", min=1, help="Number of worker processes.", show_default="one per core"),
    ] = None,
    problems: Annotated[
        Path | None,
        typer.Option("-p", "--problems", help="File of problems that requests may refer to by id.", show_default=False),
    ] = None,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    strict: common.StrictOption = False,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", help="File with the token that requests must send.", show_default=False),
    ] = None,
    max_body: Annotated[int, typer.Option("--max-body", min=1, help="Largest request, in bytes.")] = 8 * 1024 * 1024,
    read_timeout: Annotated[
        float,
        typer.Option(
            "--read-timeout", min=0.1, help="Read timeout, in seconds, for the head and for the body of a request."
        ),
    ] = 10.0,
    max_actions: Annotated[
        int, typer.Option("--max-actions", min=1, help="Maximum number of actions of a completion.")
    ] = 512,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Timeout of a completion, in seconds.")] = 60.0,
    waiting: Annotated[int, typer.Option("--waiting", min=1, help="Maximum number of waiting completions.")] = 1024,
    worker_memory: Annotated[
        int, typer.Option("--worker-memory", min=1, help="Memory, in MiB, at which a worker process is replaced.")
    ] = 512,
) -> None:
    """Verify over HTTP until interrupted. Without a token, the service accepts only requests from this machine."""
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        common.fail(f"the service requires {', '.join(missing)}: pip install 'proof-r1-formal[serve]'")
    import uvicorn

    from proof_r1_formal.serve.app import Access, build
    from proof_r1_formal.serve.limits import Connection, check_address
    from proof_r1_formal.workers import Limits
    from proof_r1_formal.workers.pool import Pool
    from proof_r1_formal.workers.processes import BACKEND, START

    token = None if token_file is None else _token(token_file)
    check_address(host, token)
    records = {}
    if problems is not None:
        known = problem_files.read_problem_file(problems, format, common.LeftOut(strict), notation=notation)
        records = {key: to_json(problem, path=problems) for key, problem in known.items()}
    _check_port(host, port)
    pool = Pool(BACKEND, workers or len(os.sched_getaffinity(0)), Limits(timeout, worker_memory))
    config = uvicorn.Config(
        build(pool, Access(token, records, max_body, read_timeout, max_actions, waiting)),
        host=host,
        port=port,
        http=type("Connection", (Connection,), {"read_timeout": read_timeout}),
        h11_max_incomplete_event_size=_MAX_HEAD,
        access_log=False,
        log_level="warning",
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=int(START + timeout),
    )
    _run(config, lambda url: f"running on {url} · API: {url}/openapi.json · health: {url}/healthz")


def mcp(
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Listen on this port of 127.0.0.1 (streamable HTTP); 0 selects a free one. "
            "Without it: standard input and output.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[int, typer.Option("-j", "--workers", min=1, help="Number of worker processes.")] = 1,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Timeout of a call, in seconds.")] = 60.0,
    worker_memory: Annotated[
        int, typer.Option("--worker-memory", min=1, help="Memory, in MiB, at which a worker process is replaced.")
    ] = 512,
) -> None:
    """Offer tools that check proofs to agents, over MCP.

    The agent's program starts this command, and ends it by closing its input.
    """
    if find_spec("mcp") is None:
        common.fail("the server requires mcp: pip install 'proof-r1-formal[mcp]'")
    from proof_r1_formal.integrations.mcp import build
    from proof_r1_formal.workers import Limits
    from proof_r1_formal.workers.pool import Pool
    from proof_r1_formal.workers.processes import BACKEND

    if port is not None:
        _check_port(_LOOPBACK, port)
    pool = Pool(BACKEND, workers, Limits(timeout, worker_memory))
    try:
        pool.start()
        if port is None:
            build(pool).run("stdio")
        else:
            import uvicorn

            app = build(pool).streamable_http_app(host=_LOOPBACK)  # refuses a Host that is not this machine's
            config = uvicorn.Config(app, host=_LOOPBACK, port=port, log_level="warning", limit_concurrency=_CONNECTIONS)
            _run(config, lambda url: f"running on {url}/mcp")
    finally:
        pool.close()


def _check_port(host: str, port: int) -> None:
    """End with an error if the port cannot be used."""
    try:
        with create_server((host, port), family=AF_INET6 if ":" in host else AF_INET):
            pass
    except OSError as error:
        why = os.strerror(error.errno or 0)
        common.fail(f"port {port} of {host} cannot be used: {why}. Choose another with --port; 0 selects a free one")


def _run(config: uvicorn.Config, started: Callable[[str], str]) -> None:
    """Run a server until it is interrupted; ``started`` makes a message of its URL."""
    import uvicorn

    class Server(uvicorn.Server):
        """Says where it is once it listens, and when it has stopped."""

        async def startup(self, sockets: list[socket] | None = None) -> None:
            await super().startup(sockets)
            if self.servers:
                host = config.host
                bound = self.servers[0].sockets[0].getsockname()
                common.log(started(f"http://{f'[{host}]' if ':' in host else host}:{bound[1]}"))

        async def shutdown(self, sockets: list[socket] | None = None) -> None:
            await super().shutdown(sockets)
            common.log("stopped")

    Server(config).run()


def _token(path: Path) -> str:
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        common.fail(f"{path}: the token cannot be read: {error}")
    if not token.isascii() or not token.isprintable() or len(token) < 16:
        common.fail(f"{path}: the token must have at least 16 characters, all printable ASCII")
    return token
