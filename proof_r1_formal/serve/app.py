"""The service as an ASGI application: requests to jobs, outcomes to replies.

``openapi`` describes it. Every other reply is an ``ErrorReply``.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proof_r1_formal.proof.rewards import RewardName, Scored
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue
from proof_r1_formal.serve.bodies import decoded
from proof_r1_formal.serve.limits import RETRY, Limits, body_of, check_host, check_token
from proof_r1_formal.serve.messages import (
    Certify,
    CertifyRequest,
    Code,
    Done,
    ErrorReply,
    Health,
    Job,
    Outcome,
    Page,
    PageRequest,
    Parse,
    ParseRequest,
    ProblemsReply,
    RefusalError,
    Refused,
    RewardRequest,
    Score,
    Trouble,
    Verify,
    VerifyManyRequest,
    VerifyRequest,
    refusal,
)
from proof_r1_formal.serve.metrics import MEDIA_TYPE, Metrics
from proof_r1_formal.serve.openapi import as_page, described, rules_reply
from proof_r1_formal.serve.openrlhf import completion_of, reply
from proof_r1_formal.serve.pool import BusyError, Pool, TooManyError
from proof_r1_formal.unicode import is_text
from proof_r1_formal.version import __version__

_T = TypeVar("_T")

OPEN = frozenset({"/", "/docs", "/healthz"})
"""The paths without a token: they show no data of the service."""
PAGE = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; frame-src blob:; font-src data:; img-src data:; base-uri 'none'; form-action 'none'"
}
"""Headers of the service's own pages. A report in a frame of such a page has a stricter policy of its own."""
COMPLETIONS_OWN = frozenset({"too_many_actions", "too_slow", "failed"})
"""Statuses of a failed completion: its reward is 0, and the other rewards are returned."""


@dataclass(frozen=True, slots=True)
class Access:
    """Access rules of the service.

    Attributes:
        token: bearer token that requests must have; None if they need none.
        hosts: names of the service in addition to its addresses, see :func:`check_host`.
        problems: id -> record in JSON, of the problems that requests can name.
        limits: of requests.
    """

    token: str | None = None
    problems: Mapping[str, bytes] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    hosts: tuple[str, ...] = ()


def build(pool: Pool, access: Access) -> ASGIApp:
    """The application. It starts and closes the pool.

    Args:
        pool: does the jobs.
        access: access rules.
    """
    metrics = Metrics(pool)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            await pool.start()
            yield
        finally:
            await pool.close()

    # a redirect would have no body, and not the address that clients of a proxy know: a trailing slash is not found
    app = _Application(
        title="proof-r1", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.secured = access.token is not None
    jobs = _Jobs(pool, access, metrics)
    asking = APIRouter(dependencies=[Depends(_check_parameters)])
    _add_verification(asking, jobs)
    _add_other_jobs(asking, jobs)
    _add_lookups(asking, access.problems)
    app.include_router(asking)
    _add_state(app, pool, metrics)
    _add_pages(app)
    _add_refusals(app)
    return _Gate(app, access, metrics)


@dataclass(frozen=True, slots=True)
class _Jobs:
    """Reads requests, and has the pool do what they ask for."""

    pool: Pool
    access: Access
    metrics: Metrics

    @asynccontextmanager
    async def body(self, request: Request, kind: type[_T]) -> AsyncIterator[_T]:
        """What a request asks for."""
        async with body_of(request, self.access.limits) as content:
            yield decoded(content, kind)

    def problem(self, raw: msgspec.Raw | bytes) -> bytes:
        """The record of a problem that is given, or named."""
        text = bytes(raw)
        if not text.startswith(b'"'):
            return text
        return _named(decoded(text, str), self.access.problems)

    async def outcomes(self, jobs: Sequence[Job]) -> list[Outcome]:
        """The outcomes of the jobs, in their order."""
        try:
            return await self.pool.do(jobs)
        except BusyError:
            raise refusal(429, "busy", "too much waits already; try again", headers=RETRY) from None
        except TooManyError:
            message = f"{len(jobs)} completions; the service lets no more than {self.pool.settings.waiting} wait"
            raise refusal(413, "too_large", message) from None

    async def reports(self, jobs: Sequence[Job]) -> Response:
        """The reports that the jobs make."""
        reports = [_content(outcome) for outcome in await self.outcomes(jobs)]
        self.metrics.unsupported.inc(sum([report.count(UNSUPPORTED) for report in reports]))
        return _json(b'{"reports":[' + b",".join(reports) + b"]}")


def _add_verification(app: APIRouter, jobs: _Jobs) -> None:
    @app.post("/v1/verify")
    async def verify(request: Request) -> Response:
        """Check every action of completions of one problem."""
        async with jobs.body(request, VerifyRequest) as asked:
            record = jobs.problem(asked.problem)
            return await jobs.reports(
                [
                    Verify(record, completion, sample, asked.rules, asked.evaluation, asked.atomic)
                    for sample, completion in enumerate(asked.completions)
                ]
            )

    @app.post("/v1/verify_many")
    async def verify_many(request: Request) -> Response:
        """Check every action of completions of several problems; one report per item, in order."""
        async with jobs.body(request, VerifyManyRequest) as asked:
            return await jobs.reports(
                [
                    Verify(jobs.problem(item.problem), item.completion, 0, asked.rules, asked.evaluation, asked.atomic)
                    for item in asked.items
                ]
            )

    @app.post("/get_reward")
    async def get_reward(request: Request, reward: RewardName = "sound", rules: RuleSystem = "train") -> Response:
        """Reward rollouts, as OpenRLHF asks a remote reward model to."""
        async with jobs.body(request, RewardRequest) as asked:
            if not len(asked.query) == len(asked.prompts) == len(asked.labels):
                raise refusal(422, "unusable", "query, prompts and labels differ in length")
            scores = [
                Score(_labelled(label, jobs.access.problems), _completion(query, prompt), rules, reward)
                for query, prompt, label in zip(asked.query, asked.prompts, asked.labels, strict=True)
            ]
            return _json(_rewards(await jobs.outcomes(scores)))


def _add_other_jobs(app: APIRouter, jobs: _Jobs) -> None:
    @app.post("/v1/certify")
    async def certify(request: Request) -> Response:
        """Make a theorem of a verified answer, and ask Lean's kernel about it."""
        async with jobs.body(request, CertifyRequest) as asked:
            job = Certify(jobs.problem(asked.problem), asked.completion, asked.rules, asked.kernel == "lean")
            [outcome] = await jobs.outcomes([job])
        return _json(_content(outcome))

    @app.post("/v1/report")
    async def report(request: Request) -> Response:
        """Make a page in HTML of completions and their proofs, as ``proof-r1 report`` does."""
        async with jobs.body(request, PageRequest) as asked:
            [outcome] = await jobs.outcomes([Page(jobs.problem(asked.problem), asked.completions, asked.rules)])
        return Response(_content(outcome), media_type="text/html")

    @app.post("/v1/parse")
    async def parse(request: Request) -> Response:
        """Read a formula in any notation."""
        async with jobs.body(request, ParseRequest) as asked:
            [outcome] = await jobs.outcomes([Parse(asked.formula, asked.repair)])
        return _json(_content(outcome))


def _add_lookups(app: APIRouter, problems: Mapping[str, bytes]) -> None:
    @app.get("/v1/rules")
    async def listed_rules(rules: RuleSystem = "train") -> Response:
        """List the rules of a catalogue, with their schemata."""
        return _json(msgspec.json.encode(rules_reply(catalogue(rules))))

    @app.get("/v1/problems")
    async def listed_problems() -> Response:
        """List the ids of the problems that requests can name."""
        return _json(msgspec.json.encode(ProblemsReply(tuple(problems))))

    @app.get("/v1/problem")
    async def one_problem(id: str) -> Response:  # noqa: A002 (the word in the address)
        """Give a problem that requests can name, as its record."""
        return _json(_named(id, problems))


def _add_state(app: FastAPI, pool: Pool, metrics: Metrics) -> None:
    @app.get("/healthz")
    async def healthz() -> Response:
        """Whether the service works."""
        working = len(pool.workers)
        return _json(msgspec.json.encode(Health("ok" if working == pool.count else "impaired", __version__, working)))

    @app.get("/metrics")
    async def counted() -> Response:
        """Counts for Prometheus."""
        return Response(metrics.page(), media_type=MEDIA_TYPE)


def _add_pages(app: FastAPI) -> None:
    playground = (resource("web") / "playground.html").read_bytes()

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return Response(playground, media_type="text/html", headers=PAGE)

    @app.get("/docs", include_in_schema=False)
    async def reference() -> Response:
        return Response(as_page(app.openapi()), media_type="text/html", headers=PAGE)


def _add_refusals(app: FastAPI) -> None:
    @app.exception_handler(RefusalError)
    async def refused(_: Request, error: RefusalError) -> Response:
        return _refusal(error.refused, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        flaws = "; ".join(f"{'.'.join(map(str, flaw['loc']))}: {flaw['msg']}" for flaw in error.errors())
        return _refusal(Refused(422, Trouble("bad_request", flaws)), {})

    @app.exception_handler(HTTPException)
    async def not_there(_: Request, error: HTTPException) -> Response:
        codes: dict[int, Code] = {404: "not_found", 405: "not_allowed"}
        trouble = Trouble(codes.get(error.status_code, "bad_request"), str(error.detail))
        return _refusal(Refused(error.status_code, trouble), dict(error.headers or {}))


class _Application(FastAPI):
    """Knows how to describe itself."""

    secured: bool

    def openapi(self) -> dict[str, Any]:
        return described(super().openapi(), secured=self.secured)


class _Gate:
    """What every request passes: its host and its token are checked first, and the reply is counted."""

    def __init__(self, app: FastAPI, access: Access, metrics: Metrics) -> None:
        self._app, self._access, self._metrics = app, access, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            check_host(Request(scope), self._access.hosts)
            if scope["path"] not in OPEN:
                check_token(Request(scope), self._access.token)
            await self._app(scope, receive, noted)
        except RefusalError as error:
            await _refusal(error.refused, error.headers)(scope, receive, noted)
        finally:
            route = scope.get("route")
            path = getattr(route, "path", "other")
            self._metrics.answered(path, status, time.perf_counter() - start)


# -- requests ---------------------------------------------------------------------------------------------------------


async def _check_parameters(request: Request) -> None:
    """Refuse a query parameter that the route does not have."""
    known = [parameter.alias for parameter in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            message = f"unknown query parameter {name!r}; known: {', '.join(known) or 'none'}"
            raise refusal(400, "bad_request", message)


def _named(name: str, problems: Mapping[str, bytes]) -> bytes:
    try:
        return problems[name]
    except KeyError:
        raise refusal(422, "unusable", f"the service has no problem {name!r}") from None


def _labelled(label: str, problems: Mapping[str, bytes]) -> bytes:
    if not is_text(label):
        raise refusal(422, "unusable", "a label holds half of a surrogate pair")
    return label.encode() if label.lstrip().startswith("{") else _named(label, problems)


def _completion(query: str, prompt: str) -> str:
    """What follows the prompt."""
    try:
        return completion_of(query, prompt)
    except ValueError as error:
        raise refusal(422, "unusable", str(error)) from None


# -- replies ----------------------------------------------------------------------------------------------------------


UNSUPPORTED = b'"evidence":"unsupported"'
"""What the report on a step has if its verdict has no evidence; in a text of the completion, the quotes are escaped."""


def _content(outcome: Outcome) -> bytes:
    if isinstance(outcome, Refused):
        raise RefusalError(outcome)
    return outcome.content


def _rewards(outcomes: Sequence[Outcome]) -> bytes:
    """The rewards; a completion that cannot be verified earns nothing, and is counted."""
    scored = []
    for outcome in outcomes:
        match outcome:
            case Done(content):
                scored.append(msgspec.json.decode(content, type=Scored))
            case Refused(_, trouble) if trouble.code in COMPLETIONS_OWN:
                scored.append(Scored(0.0, parsed=False, right=False, verified=False))
            case Refused():
                raise RefusalError(outcome)
    return msgspec.json.encode(reply(scored, refused=[float(isinstance(outcome, Refused)) for outcome in outcomes]))


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def _refusal(refused: Refused, headers: Mapping[str, str]) -> Response:
    content = msgspec.json.encode(ErrorReply(refused.trouble))
    return Response(content, refused.status, dict(headers), media_type="application/json")
