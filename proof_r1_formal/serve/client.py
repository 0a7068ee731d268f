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
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec

from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ServiceError, require_equal_lengths
from proof_r1_formal.proof.report import RewardName, Scored, TraceReport
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.serve.messages import (
    MAX_COMPLETIONS,
    CertifyReply,
    CertifyRequest,
    ErrorReply,
    Health,
    RewardReply,
    RewardRequest,
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
    """A client of a running service. Threads may share it; with asyncio, call it with ``asyncio.to_thread``.

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
        text, texts = _problem_text(problem), tuple(completions)
        request = VerifyRequest(problem=text, completions=texts, rules=rules, evaluation=evaluation, atomic=atomic)
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
        """Verify completions of several problems; one report each, in order. See :meth:`verify`.

        Raises:
            ServiceError: see :meth:`verify`.
            ValueError: there are not as many problems as completions.
        """
        require_equal_lengths(problems=problems, completions=completions)
        pairs = zip(problems, completions, strict=True)
        items = tuple([VerifyItem(problem=_problem_text(problem), completion=text) for problem, text in pairs])
        request = VerifyManyRequest(items=items, rules=rules, evaluation=evaluation, atomic=atomic)
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
        labels = tuple(map(_problem_text, problems))
        path = f"/get_reward?reward={reward}&rules={rules}"
        scored: list[Scored] = []
        for start in range(0, len(completions), MAX_COMPLETIONS):
            part = slice(start, start + MAX_COMPLETIONS)
            texts = tuple(completions[part])
            request = RewardRequest(query=texts, prompts=("",) * len(texts), labels=labels[part])
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
        request = CertifyRequest(problem=_problem_text(problem), completion=completion, rules=rules, kernel=kernel)
        return self._ask("/v1/certify", request, CertifyReply)

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
        body = None if request is None else json.dumps(msgspec.to_builtins(request)).encode("ascii")
        start = time.monotonic()
        while True:
            try:
                status, content = self._exchange(path, body)
            except ConnectionRefusedError as error:
                if time.monotonic() > start + self.patience:
                    raise ServiceError(self._shown, 0, f"it does not answer: {error}") from error
            else:
                if status not in _BUSY or time.monotonic() > start + self.timeout:
                    break
            time.sleep(_PAUSE)
        try:
            if status == _OK:
                return msgspec.json.decode(content, type=kind)
            message = msgspec.json.decode(content, type=ErrorReply).error.message
        except msgspec.DecodeError:
            message = f"a reply that is not from the service: {content[:100]!r}"
        raise ServiceError(self._shown, status, message)

    def _exchange(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        """The status and the content of a reply.

        Raises:
            ServiceError: the service cannot be reached, or did not reply in time.
            ConnectionRefusedError: nothing listens there.
        """
        host, port = self.address
        parts = urlsplit(self.url)
        headers = {"Content-Type": "application/json"}
        if token := self.token or unquote(parts.password or "") or os.environ.get(TOKEN):
            headers["Authorization"] = f"Bearer {token}"
        make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        try:
            with closing(make(host, port, timeout=self.timeout)) as connection:
                method = "GET" if body is None else "POST"
                connection.request(method, f"{parts.path.rstrip('/')}{path}", body, headers)
                response = connection.getresponse()
                return response.status, response.read()
        except ConnectionRefusedError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise ServiceError(self._shown, 0, f"it does not answer: {error}") from error


def _problem_text(problem: Problem | str) -> str:
    """A problem as requests hold it: its record, or the id of one of the service."""
    return to_json(problem) if isinstance(problem, Problem) else problem
