"""The service as an ASGI application: requests to jobs of workers, their results to replies.

Starlette routes, and turns exceptions into replies; uvicorn talks HTTP; :mod:`~proof_r1_formal.serve.messages` reads
bodies. Every reply but the result is an ``ErrorReply``. A request is split into jobs, one per completion, so a job that
takes too long or ends its process affects no other completion.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from proof_r1_formal.data.native import ProblemRecord
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.proof.report import Scored
from proof_r1_formal.serve import desk
from proof_r1_formal.serve.limits import RETRY, Bodies, check_host, check_token
from proof_r1_formal.serve.messages import (
    CertifyReply,
    CertifyRequest,
    CheckRequest,
    ErrorReply,
    Health,
    RefusalCode,
    RefusalError,
    RewardOptions,
    RewardReply,
    RewardRequest,
    RouteCount,
    VerifyManyRequest,
    VerifyReply,
    VerifyRequest,
    read_message,
    to_message,
)
from proof_r1_formal.serve.openrlhf import completion_of, reply
from proof_r1_formal.version import __version__
from proof_r1_formal.workers import NoWorkerError, TaskTimeoutError, WorkerError
from proof_r1_formal.workers.pool import Pool

_T = TypeVar("_T")
Job: TypeAlias = Callable[[], _T]

_COMPLETIONS_OWN = frozenset({"too_many_actions", "too_slow", "failed"})
"""Codes of a completion that cannot be verified: its reward is 0, and the other rewards are returned."""
UNSUPPORTED = b'"evidence":"unsupported"'
"""A part of the report on a step whose verdict has no evidence; in a text of the completion, the quotes are escaped."""


@dataclass(frozen=True, slots=True)
class Access:
    """Access rules and limits of the service.

    Attributes:
        token: bearer token that requests must have; None if they need none.
        problems: id -> record in JSON, of the problems that requests can name.
        max_body: the most bytes of a body.
        read_timeout: seconds until all of a body is there.
        max_actions: the most actions that a completion may have.
        waiting: the most completions that wait for a worker.
    """

    token: str | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    max_body: int = 8 * 1024 * 1024
    read_timeout: float = 10.0
    max_actions: int = 512
    waiting: int = 1024


def build(pool: Pool, access: Access) -> Starlette:
    """The application. It starts and closes the pool, which does the jobs."""
    service = _Service(pool, access)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            await asyncio.to_thread(pool.start)
            yield
        finally:
            await asyncio.to_thread(pool.close)

    asked = [
        _Exchange("/v1/verify", VerifyRequest, VerifyReply, service.verify),
        _Exchange("/v1/verify_many", VerifyManyRequest, VerifyReply, service.verify_many),
        _Exchange("/v1/certify", CertifyRequest, CertifyReply, service.certify),
        _Exchange("/get_reward", RewardRequest, RewardReply, service.get_reward, RewardOptions),
    ]
    document = _document(asked, secured=access.token is not None)

    async def openapi(request: Request) -> Response:
        service.check(request)
        return JSONResponse(document)

    routes = [Route(each.path, partial(service.answer, each), methods=["POST"]) for each in asked]
    app = Starlette(
        routes=[*routes, Route("/healthz", service.healthz), Route("/openapi.json", openapi)],
        exception_handlers={ProofR1Error: _refuse, HTTPException: _not_there, Exception: _refuse},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a redirect would not have the address that clients of a proxy know
    return app


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The query parameters of an address that has none."""


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A route: its request and its reply; ``answer`` makes the reply from the body and the query parameters."""

    path: str
    request: type[msgspec.Struct]
    reply: type[msgspec.Struct]
    answer: Callable[[Any, Any], Awaitable[bytes]]
    options: type[msgspec.Struct] = NoOptions


class _Service:
    """Reads requests, and has the pool do what they ask for."""

    def __init__(self, pool: Pool, access: Access) -> None:
        self._pool, self._access = pool, access
        self._bodies = Bodies(access.max_body, access.read_timeout)
        self._unsupported = 0
        self._routes: dict[str, RouteCount] = {}

    def check(self, request: Request) -> None:
        """Refuse a request that may not ask."""
        if self._access.token is None:
            check_host(request)
        else:
            check_token(request, self._access.token)

    async def answer(self, exchange: _Exchange, request: Request) -> Response:
        """Read a request, and reply."""
        started, refused = time.monotonic(), 1
        try:
            response = await self._answer(exchange, request)
            refused = 0
        finally:
            before = self._routes.get(exchange.path, RouteCount())
            self._routes[exchange.path] = RouteCount(
                requests=before.requests + 1,
                refused=before.refused + refused,
                seconds=before.seconds + time.monotonic() - started,
            )
        return response

    async def _answer(self, exchange: _Exchange, request: Request) -> Response:
        self.check(request)
        async with self._bodies.read(request) as content:
            given = request.query_params.multi_items()
            if len(dict(given)) < len(given):
                raise RefusalError(400, "bad_request", "a query parameter occurs twice")
            options = to_message(dict(given), exchange.options)
            body = await exchange.answer(read_message(content, exchange.request), options)
        return Response(body, media_type="application/json")

    async def verify(self, asked: VerifyRequest, _: NoOptions) -> bytes:
        """Check every action of completions of one problem."""
        record = self._record(asked.problem)
        return await self._reports(asked, [(record, text, number) for number, text in enumerate(asked.completions)])

    async def verify_many(self, asked: VerifyManyRequest, _: NoOptions) -> bytes:
        """Check every action of completions of several problems; one report per item, in order."""
        return await self._reports(asked, [(self._record(item.problem), item.completion, 0) for item in asked.items])

    async def _reports(self, asked: CheckRequest, texts: Sequence[tuple[str, str, int]]) -> bytes:
        settings: dict[str, Any] = {"rules": asked.rules, "evaluation": asked.evaluation, "atomic": asked.atomic}
        jobs = [partial(desk.verify, *text, **settings, most=self._access.max_actions) for text in texts]
        reports = [_content(outcome) for outcome in await self._outcomes(jobs)]
        self._unsupported += sum([report.count(UNSUPPORTED) for report in reports])
        return b'{"reports":[' + b",".join(reports) + b"]}"

    async def certify(self, asked: CertifyRequest, _: NoOptions) -> bytes:
        """Make a theorem of a verified answer, and ask Lean's kernel about it."""
        settings: dict[str, Any] = {"rules": asked.rules, "by_kernel": asked.kernel == "lean"}
        given = (self._record(asked.problem), asked.completion)
        [outcome] = await self._outcomes([partial(desk.certify, *given, **settings, most=self._access.max_actions)])
        return _content(outcome)

    async def get_reward(self, asked: RewardRequest, options: RewardOptions) -> bytes:
        """Reward rollouts, as OpenRLHF asks a remote reward model to."""
        if not len(asked.query) == len(asked.prompts) == len(asked.labels):
            raise RefusalError(422, "unusable", "query, prompts and labels differ in length")
        settings: dict[str, Any] = {"rules": options.rules, "reward": options.reward, "most": self._access.max_actions}
        try:
            texts = list(map(completion_of, asked.query, asked.prompts))
        except ValueError as error:
            raise RefusalError(422, "unusable", str(error)) from None
        records = map(self._record, asked.labels)
        jobs = [partial(desk.reward, record, text, **settings) for record, text in zip(records, texts, strict=True)]
        outcomes = await self._outcomes(jobs)
        refused = [float(isinstance(outcome, RefusalError)) for outcome in outcomes]
        return msgspec.json.encode(reply([_score(outcome) for outcome in outcomes], refused=refused))

    async def healthz(self, request: Request) -> Response:
        """Whether the service works; no token is needed."""
        if self._access.token is None:
            check_host(request)
        pool, counts = self._pool, self._pool.counts
        health = Health(
            status="ok" if len(pool.workers) == pool.count else "impaired",
            version=__version__,
            workers=len(pool.workers),
            waiting=pool.waiting,
            jobs=counts["tasks"],
            restarts=counts["restarts"],
            renewals=counts["renewals"],
            unsupported=self._unsupported,
            routes=self._routes,
        )
        return Response(msgspec.json.encode(health), media_type="application/json")

    def _record(self, problem: dict[str, Any] | str) -> str:
        """The record of a problem that is given, or named."""
        if not isinstance(problem, str):
            return json.dumps(problem)
        if problem.lstrip().startswith("{"):
            return problem
        if problem not in self._access.problems:
            raise RefusalError(422, "unusable", f"the service has no problem {problem!r}")
        return self._access.problems[problem]

    async def _outcomes(self, jobs: Sequence[Job[_T]]) -> list[_T | RefusalError]:
        """The results of jobs, in order. A request as a whole has no time limit: each job has its own."""
        most = self._access.waiting
        if len(jobs) > most:
            raise RefusalError(413, "too_large", f"{len(jobs)} completions; the service lets no more than {most} wait")
        if self._pool.waiting + len(jobs) > most:
            raise RefusalError(429, "busy", "too much waits already; try again", RETRY)
        done = [asyncio.wrap_future(self._pool.submit(desk.do, job)) for job in jobs]
        outcomes = await asyncio.gather(*done, return_exceptions=True)
        return [_refusal(outcome) if isinstance(outcome, BaseException) else outcome for outcome in outcomes]


# -- replies ----------------------------------------------------------------------------------------------------------


def _content(outcome: bytes | RefusalError) -> bytes:
    if isinstance(outcome, RefusalError):
        raise outcome
    return outcome


def _score(outcome: Scored | RefusalError) -> Scored:
    """The reward of a completion: nothing if it cannot be verified."""
    if isinstance(outcome, Scored):
        return outcome
    if outcome.code in _COMPLETIONS_OWN:
        return Scored(0.0, parsed=False, right=False, verified=False)
    raise outcome


def _refusal(error: BaseException) -> RefusalError:
    """The refusal that an exception stands for."""
    match error:
        case RefusalError():
            return error
        case TaskTimeoutError():
            return RefusalError(504, "too_slow", str(error))
        case NoWorkerError():
            return RefusalError(503, "busy", str(error), RETRY)
        case WorkerError():
            return RefusalError(500, "failed", str(error))
        case ProofR1Error():
            return RefusalError(422, "unusable", str(error))
    return RefusalError(500, "failed", f"{type(error).__name__} in the service; its log says more")


async def _refuse(_: Request, error: Exception) -> Response:
    refusal = _refusal(error)
    content = {"error": {"code": refusal.code, "message": refusal.message}}
    return Response(json.dumps(content), refusal.status, refusal.headers, "application/json")


async def _not_there(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    codes: dict[int, RefusalCode] = {404: "not_found", 405: "not_allowed"}
    code = codes.get(error.status_code, "bad_request")
    return await _refuse(request, RefusalError(error.status_code, code, str(error.detail), error.headers))


# -- the document -----------------------------------------------------------------------------------------------------


def _document(exchanges: Sequence[_Exchange], *, secured: bool) -> dict[str, Any]:
    """The OpenAPI description of the service, with the schemas that msgspec makes of the messages."""
    kinds = [kind for each in exchanges for kind in (each.request, each.reply, each.options)]
    _, schemas = msgspec.json.schema_components(
        [*kinds, Health, ErrorReply, ProblemRecord], ref_template="#/components/schemas/{name}"
    )
    guard: dict[str, Any] = {"security": [{"token": []}]} if secured else {}
    schemes = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}} if secured else {}
    paths: dict[str, Any] = {"/healthz": {"get": {"responses": _responses(Health)}}}
    for each in exchanges:
        properties = schemas[each.options.__name__]["properties"]
        paths[each.path] = {
            "post": {
                **guard,
                "description": each.answer.__doc__,
                "parameters": [{"name": name, "in": "query", "schema": of} for name, of in properties.items()],
                "requestBody": {"required": True, **_json_of(each.request)},
                "responses": _responses(each.reply),
            }
        }
    info = {"title": "proof-r1", "version": __version__}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": schemas, **schemes}}


def _responses(kind: type[msgspec.Struct]) -> dict[str, Any]:
    refused = {"description": "An error.", **_json_of(ErrorReply)}
    return {"200": {"description": "The result.", **_json_of(kind)}, "default": refused}


def _json_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}}}
