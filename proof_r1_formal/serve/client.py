"""A client of the service. It requires only the standard library and this package without extras.

>>> client = Client("http://127.0.0.1:8765")
>>> client.address
('127.0.0.1', 8765)
"""

from __future__ import annotations

import http.client
import json
import os
import re
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec

from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ServiceError, require_equal_lengths
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.rewards import RewardName, Scored
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.serve.messages import (
    MAX_COMPLETIONS,
    CertifyReply,
    CertifyRequest,
    ErrorReply,
    Health,
    PageRequest,
    ParseReply,
    ParseRequest,
    ProblemsReply,
    RewardReply,
    RewardRequest,
    RulesReply,
    VerifyItem,
    VerifyManyRequest,
    VerifyReply,
    VerifyRequest,
)

_T = TypeVar("_T")

TOKEN = "PROOF_R1_TOKEN"
"""The environment variable with the token, for trainers that are given a URL only."""
_BUSY = (429, 503)
_PAUSE = 1.0  # seconds until a busy service is asked again
_OK = 200


@dataclass(frozen=True, slots=True)
class Client:
    """A client of a running service. Several threads may share it. Close it, or use it in a ``with`` statement.

    Attributes:
        url: of the service; it may hold the token, ``http://token:TOKEN@HOST:8765``, with ``%``-escapes.
        token: bearer token, if the service requires one. If None, that of the URL, or else the environment variable
            ``PROOF_R1_TOKEN``.
        timeout: seconds to wait for a reply, and to retry while the service is busy. The service answers when the last
            completion of a request is done; each may take ``--timeout`` seconds.
        patience: seconds to retry while no service accepts a connection: it may be starting, or be started again.
    """

    url: str = field(repr=False)
    token: str | None = field(default=None, repr=False)
    timeout: float = 600.0
    patience: float = 60.0
    _idle: deque[http.client.HTTPConnection] = field(default_factory=deque, repr=False, compare=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the idle connections."""
        while (connection := self._kept()) is not None:
            connection.close()

    def verify(
        self,
        problem: Problem | str,
        completions: Sequence[str],
        *,
        rules: RuleSystem = "train",
        evaluation: bool = True,
        atomic: bool = False,
    ) -> tuple[TraceReport, ...]:
        """Verify completions of one problem; one report each, in order.

        Args:
            problem: a problem, its record in JSON, or the id of a problem of the service.
            completions: at least one, at most ``messages.MAX_COMPLETIONS``.
            rules: name of the rule catalogue.
            evaluation: set it to false in training, see :class:`~proof_r1_formal.proof.verify.Verifier`.
            atomic: whether an instance of a rule counts only if dependencies state its minor premises.

        Raises:
            ServiceError: the service does not answer, or replies with an error.
        """
        request = VerifyRequest(
            problem=_given(problem), completions=tuple(completions), rules=rules, evaluation=evaluation, atomic=atomic
        )
        return self._ask("/v1/verify", request, VerifyReply).reports

    def verify_many(
        self,
        problems: Sequence[Problem | str],
        completions: Sequence[str],
        *,
        rules: RuleSystem = "train",
        evaluation: bool = True,
        atomic: bool = False,
    ) -> tuple[TraceReport, ...]:
        """Verify completions of several problems; one report each, in order.

        Args:
            problems: of the completions, one each; see :meth:`verify`.
            completions: at least one, at most ``messages.MAX_COMPLETIONS``.
            rules, evaluation, atomic: see :meth:`verify`.

        Raises:
            ServiceError: see :meth:`verify`.
            ValueError: there are not as many problems as completions.
        """
        require_equal_lengths(problems=problems, completions=completions)
        given = [_given(problem) for problem in problems]
        items = [VerifyItem(problem=p, completion=text) for p, text in zip(given, completions, strict=True)]
        request = VerifyManyRequest(items=tuple(items), rules=rules, evaluation=evaluation, atomic=atomic)
        return self._ask("/v1/verify_many", request, VerifyReply).reports

    def score(
        self,
        problems: Sequence[Problem | str],
        completions: Sequence[str],
        *,
        reward: RewardName = "sound",
        rules: RuleSystem = "train",
    ) -> list[Scored]:
        """The rewards of completions in training; a completion that cannot be verified (it takes too long) has reward
        0.

        Args:
            problems: of the completions, one each; see :meth:`verify`.
            completions: any number.
            reward: name of the reward.
            rules: name of the rule catalogue.

        Raises:
            ServiceError: see :meth:`verify`.
            ValueError: there are not as many problems as completions.
        """
        require_equal_lengths(problems=problems, completions=completions)
        labels = [to_json(problem) if isinstance(problem, Problem) else problem for problem in problems]
        path = f"/get_reward?reward={reward}&rules={rules}"
        scored: list[Scored] = []
        for start in range(0, len(completions), MAX_COMPLETIONS):
            part = slice(start, start + MAX_COMPLETIONS)
            texts = tuple(completions[part])
            request = RewardRequest(query=texts, prompts=("",) * len(texts), labels=tuple(labels[part]))
            reply = self._ask(path, request, RewardReply)
            logs = [map(bool, reply.extra_logs[name]) for name in ("parsed", "right", "verified")]
            scored += map(Scored, reply.rewards, *logs)
        return scored

    def certify(
        self,
        problem: Problem | str,
        completion: str,
        *,
        rules: RuleSystem = "train",
        kernel: Literal["lean", "none"] = "lean",
    ) -> CertifyReply:
        """The certificate of an answer, with the kernel's judgement; see :meth:`verify`."""
        request = CertifyRequest(problem=_given(problem), completion=completion, rules=rules, kernel=kernel)
        return self._ask("/v1/certify", request, CertifyReply)

    def report(self, problem: Problem | str, completions: Sequence[str], *, rules: RuleSystem = "train") -> str:
        """The report page of completions, as HTML; see :meth:`verify`."""
        request = PageRequest(problem=_given(problem), completions=tuple(completions), rules=rules)
        return self._answer("/v1/report", request).decode()

    def parse(self, formula: str, *, repair: bool = False) -> ParseReply:
        """A formula in other notations.

        Raises:
            ServiceError: it does not parse; or see :meth:`verify`.
        """
        return self._ask("/v1/parse", ParseRequest(formula=formula, repair=repair), ParseReply)

    def rules(self, rules: RuleSystem = "train") -> RulesReply:
        """The rules of a catalogue, with their schemata; see :meth:`verify`."""
        return self._ask(f"/v1/rules?rules={rules}", None, RulesReply)

    def problems(self) -> ProblemsReply:
        """The ids of the problems that requests can name; see :meth:`verify`."""
        return self._ask("/v1/problems", None, ProblemsReply)

    def health(self) -> Health:
        """The state of the service.

        Raises:
            ServiceError: it does not answer.
        """
        return self._ask("/healthz", None, Health)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port.

        Raises:
            ServiceError: the URL is invalid.
        """
        try:
            parts = urlsplit(self.url)
            host, port = parts.hostname, parts.port
        except ValueError:  # of the port, or of brackets
            host = None
        if not host or parts.scheme not in ("http", "https"):
            raise ServiceError(self._shown, 0, "no URL of a service; one looks like http://127.0.0.1:8765")
        return host, port or (443 if parts.scheme == "https" else 80)

    @property
    def _shown(self) -> str:
        """The URL without the token, for messages."""
        return re.sub(r"//[^/@]*@", "//", self.url)

    def _ask(self, path: str, request: msgspec.Struct | None, kind: type[_T]) -> _T:
        content = self._answer(path, request)
        try:
            return msgspec.json.decode(content, type=kind)
        except msgspec.DecodeError:
            raise ServiceError(self._shown, _OK, _strange(content)) from None

    def _answer(self, path: str, request: msgspec.Struct | None) -> bytes:
        body = None if request is None else _encoded(request)
        start = time.monotonic()
        while True:
            try:
                response, content = self._exchange(path, body)
            except ConnectionRefusedError as error:
                if time.monotonic() > start + self.patience:
                    raise ServiceError(self._shown, 0, f"it does not answer: {error}") from error
            else:
                if response.status not in _BUSY or time.monotonic() > start + self.timeout:
                    break
            time.sleep(_PAUSE)
        if response.status == _OK:
            return content
        try:
            message = msgspec.json.decode(content, type=ErrorReply).error.message
        except msgspec.DecodeError:
            message = _strange(content)
        raise ServiceError(self._shown, response.status, message)

    def _exchange(self, path: str, body: bytes | None) -> tuple[http.client.HTTPResponse, bytes]:
        """A reply, over a connection that was kept; over a new one if the service has closed that meanwhile."""
        if (kept := self._kept()) is not None:
            with suppress(ConnectionError, http.client.HTTPException):
                return self._talk(kept, path, body)
        host, port = self.address
        secure = urlsplit(self.url).scheme == "https"
        make = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        fresh = make(host, port, timeout=self.timeout)
        try:
            return self._talk(fresh, path, body)
        except ConnectionRefusedError:
            raise
        except (ConnectionError, http.client.HTTPException) as error:
            raise ServiceError(self._shown, 0, f"it does not answer: {error}") from error

    def _kept(self) -> http.client.HTTPConnection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _talk(
        self, connection: http.client.HTTPConnection, path: str, body: bytes | None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """A reply over a connection, which is kept if there is one.

        Raises:
            ServiceError: it does not come in time, or there is no way to the service.
            ConnectionRefusedError: nothing listens there.
            ConnectionError, HTTPException: the connection is not, or no longer, one to a service.
        """
        headers = {"Content-Type": "application/json"}
        if token := self.token or unquote(urlsplit(self.url).password or "") or os.environ.get(TOKEN):
            headers["Authorization"] = f"Bearer {token}"
        method = "GET" if body is None else "POST"
        try:
            connection.request(method, f"{urlsplit(self.url).path.rstrip('/')}{path}", body, headers)
            response = connection.getresponse()
            content = response.read()
        except (ConnectionError, http.client.HTTPException):
            connection.close()
            raise
        except OSError as error:
            connection.close()
            raise ServiceError(self._shown, 0, f"it does not answer: {error}") from error
        self._idle.append(connection)
        return response, content


def _encoded(request: msgspec.Struct) -> bytes:
    """The request as JSON; halves of surrogate pairs become escapes."""
    try:
        return msgspec.json.encode(request)
    except UnicodeEncodeError:
        return json.dumps(_plain(request)).encode("ascii")


def _plain(value: object) -> object:
    match value:
        case msgspec.Raw():
            return json.loads(bytes(value))
        case msgspec.Struct():
            return {name: _plain(member) for name, member in msgspec.structs.asdict(value).items()}
        case tuple():
            return [_plain(member) for member in value]
    return value


def _strange(content: bytes) -> str:
    return f"a reply that is not from the service: {content[:100]!r}"


def _given(problem: Problem | str) -> msgspec.Raw:
    if isinstance(problem, Problem):
        return msgspec.Raw(to_json(problem).encode())
    record = problem if problem.lstrip().startswith("{") else json.dumps(problem)
    return msgspec.Raw(record.encode(errors="backslashreplace"))  # half of a surrogate pair becomes its escape
