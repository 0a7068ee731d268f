"""Messages over HTTP as plain data: requests and replies are JSON, and their schemas are the OpenAPI document.

msgspec reads them, checks them, and makes the schemas. FastAPI would do so with pydantic, which rejects the halves of
surrogate pairs that a completion may hold, and takes the last of repeated keys without an error. Reports and problems
are structs of msgspec already, so pydantic would also need a second definition of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_type_hints

import msgspec

from proof_r1_formal.data.records import Json, JsonObject, no_constant
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.proof.report import RewardName, TraceReport
from proof_r1_formal.rules.catalogue import RuleSystem

_T = TypeVar("_T")

MAX_COMPLETIONS = 256
"""The most completions of one request."""

GivenProblem: TypeAlias = Annotated[
    dict[str, Any] | str,
    msgspec.Meta(
        description="A problem in the package's own format, as an object or as its text, or the id of one that the "
        "service was started with.",
        extra_json_schema={"anyOf": [{"$ref": "#/components/schemas/ProblemRecord"}, {"type": "string"}]},
    ),
]
Texts: TypeAlias = Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MAX_COMPLETIONS)]

# -- requests ---------------------------------------------------------------------------------------------------------


class CheckRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How completions are checked.

    Attributes:
        rules: name of the rule catalogue.
        evaluation: whether an answer may also be selected by its formula; set it to false in training.
        atomic: whether an instance of a rule counts only if dependencies state its minor premises.
    """

    rules: RuleSystem = "train"
    evaluation: bool = True
    atomic: bool = False


class VerifyRequest(CheckRequest, frozen=True, kw_only=True):
    """The model's whole answers to one problem."""

    problem: GivenProblem
    completions: Texts


class VerifyItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One completion and its problem."""

    problem: GivenProblem
    completion: str


class VerifyManyRequest(CheckRequest, frozen=True, kw_only=True):
    """Completions of several problems, each with its problem."""

    items: Annotated[tuple[VerifyItem, ...], msgspec.Meta(min_length=1, max_length=MAX_COMPLETIONS)]


class CertifyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A completion whose answer is to become a theorem, and the kernel that checks it; see :class:`VerifyRequest`."""

    problem: GivenProblem
    completion: str
    rules: RuleSystem = "train"
    kernel: Literal["lean", "none"] = "lean"


class RewardRequest(msgspec.Struct, frozen=True, kw_only=True):
    """OpenRLHF's request to a remote reward model; other fields are ignored.

    Attributes:
        query: prompts and completions in one text each.
        prompts: the prompts alone, as they stand in the queries.
        labels: the problems, each as a record in JSON or as the id of one that the service was started with.
    """

    query: Texts
    prompts: Texts
    labels: Texts


class RewardOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The query of OpenRLHF's request: names of the reward and of the rule catalogue."""

    reward: RewardName = "sound"
    rules: RuleSystem = "train"


# -- replies ----------------------------------------------------------------------------------------------------------


class VerifyReply(msgspec.Struct, frozen=True):
    """The reports on the completions, in their order."""

    reports: tuple[TraceReport, ...]


class Judgement(msgspec.Struct, frozen=True):
    """The judgement of a kernel.

    Attributes:
        kernel: its name and version.
        is_theorem: whether it accepts the answer.
        faults: one sentence for each theorem that it rejects.
    """

    kernel: str
    is_theorem: bool
    faults: tuple[str, ...]


class CertifyReply(msgspec.Struct, frozen=True):
    """A report, and the result of certifying its answer.

    Attributes:
        report: of the trace.
        reason: why there is no certificate; empty if there is one.
        lean: the certificate as a Lean file; null if there is none.
        isabelle: the certificate as an Isabelle theory; null if there is none.
        judgement: of the kernel; null without a kernel or a certificate.
    """

    report: TraceReport
    reason: str
    lean: str | None
    isabelle: str | None
    judgement: Judgement | None


class RewardReply(msgspec.Struct, frozen=True):
    """The reply of a reward model to OpenRLHF.

    Attributes:
        rewards, scores: one number per query.
        extra_logs: further numbers per query, by name, for the log.
    """

    rewards: tuple[float, ...]
    scores: tuple[float, ...]
    extra_logs: dict[str, tuple[float, ...]]


class RouteCount(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of a route since the service started.

    Attributes:
        requests: how many had an answer, refusals included.
        refused: how many of them were refused.
        seconds: from their headers to their answers, all together.
    """

    requests: int = 0
    refused: int = 0
    seconds: float = 0.0


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the service, and what it has counted since it started.

    Attributes:
        status: whether every worker process is running.
        version: of the package.
        workers: number of running worker processes.
        waiting: number of completions that wait for a worker.
        jobs: number of completions given to workers.
        restarts: workers that were replaced because they died, or a completion took too long.
        renewals: workers that were replaced because they had grown too large.
        unsupported: steps whose verdict on entailment has no evidence.
        routes: by the path, for those that were asked.
    """

    status: Literal["ok", "impaired"]
    version: str
    workers: int
    waiting: int = 0
    jobs: int = 0
    restarts: int = 0
    renewals: int = 0
    unsupported: int = 0
    routes: dict[str, RouteCount] = {}


RefusalCode: TypeAlias = Literal[
    "bad_request",
    "unauthorized",
    "misdirected",
    "not_found",
    "not_allowed",
    "slow_client",
    "too_large",
    "wrong_type",
    "unusable",
    "too_many_actions",
    "busy",
    "too_slow",
    "failed",
    "no_kernel",
]


class Trouble(msgspec.Struct, frozen=True):
    """Why a request is not answered: a code for programs, and a message for people."""

    code: RefusalCode
    message: str


class ErrorReply(msgspec.Struct, frozen=True):
    """The reply to a request that failed."""

    error: Trouble


class RefusalError(ProofR1Error):
    """Ends the handling of a request, here or in a worker.

    Args:
        status: of the reply.
        code: see :class:`Trouble`.
        message: see :class:`Trouble`.
        headers: of the reply.
    """

    def __init__(self, status: int, code: RefusalCode, message: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.code, self.message, self.headers = status, code, message, headers
        super().__init__(message)


# -- reading ----------------------------------------------------------------------------------------------------------


def read_message(content: bytes | bytearray, kind: type[_T]) -> _T:
    """The message in a body; its strings may hold halves of surrogate pairs, as a completion may.

    Raises:
        RefusalError: the body is not JSON or has a key twice (400), or is not such a message (422).
    """
    try:
        found = json.loads(content.decode(), object_pairs_hook=_without_repeats, parse_constant=no_constant)
        return to_message(found, kind)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, "bad_request", f"the body is not JSON: {error}") from None


def to_message(value: object, kind: type[_T]) -> _T:
    """The message that a value is.

    Raises:
        RefusalError: 422: the value does not have the fields of this message. The refusal says what was expected.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        known = get_type_hints(kind)
        name = re.search(r"`\$\.(\w+)`$", str(error))
        choices = get_args(known.get(name[1])) if name and "enum" in str(error) else ()
        hint = f"; expected {' or '.join(map(repr, choices))}" if choices else ""
        hint = f"; known: {', '.join(known) or 'none'}" if "unknown field" in str(error) else hint
        raise RefusalError(422, "bad_request", f"{error}{hint}") from None


def _without_repeats(members: list[tuple[str, Json]]) -> dict[str, Json]:
    if repeated := JsonObject(tuple(members)).repeats():
        raise ValueError(f"the key {repeated[0]!r} occurs twice in an object")
    return dict(members)
