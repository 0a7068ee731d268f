"""Messages over HTTP, and between the processes of the service, as plain data.

Requests and replies are JSON, their schemas are part of the service's OpenAPI description. A request is split into
jobs, one per completion, so a job that takes too long or ends its process affects no other completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec

from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.rewards import RewardName
from proof_r1_formal.rules.catalogue import RuleSystem

MAX_COMPLETIONS = 256
"""The most completions of one request."""

GivenProblem: TypeAlias = Annotated[
    msgspec.Raw,
    msgspec.Meta(
        description="A problem in the package's own format, or the id of one that the service was started with.",
        extra_json_schema={"anyOf": [{"$ref": "#/components/schemas/ProblemRecord"}, {"type": "string"}]},
    ),
]
"""A problem as in the request; the worker that needs it parses it."""

# -- requests ---------------------------------------------------------------------------------------------------------


class VerifyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Completions of one problem.

    Attributes:
        problem: what was asked.
        completions: the model's whole answers.
        rules: name of the rule catalogue.
        evaluation: whether an answer may also be selected by its formula; set it to false in training.
        atomic: whether an instance of a rule counts only if dependencies state its minor premises.
    """

    problem: GivenProblem
    completions: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MAX_COMPLETIONS)]
    rules: RuleSystem = "train"
    evaluation: bool = True
    atomic: bool = False


class VerifyItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One completion and its problem; see :class:`VerifyRequest`."""

    problem: GivenProblem
    completion: str


class VerifyManyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Completions of several problems.

    Attributes:
        items: each completion with its problem.
        rules, evaluation, atomic: see :class:`VerifyRequest`.
    """

    items: Annotated[tuple[VerifyItem, ...], msgspec.Meta(min_length=1, max_length=MAX_COMPLETIONS)]
    rules: RuleSystem = "train"
    evaluation: bool = True
    atomic: bool = False


class CertifyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A completion whose answer is to become a theorem.

    Attributes:
        problem, completion, rules: see :class:`VerifyRequest`.
        kernel: that checks the theorem.
    """

    problem: GivenProblem
    completion: str
    rules: RuleSystem = "train"
    kernel: Literal["lean", "none"] = "lean"


class PageRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Completions of one problem for the report page; see :class:`VerifyRequest`."""

    problem: GivenProblem
    completions: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MAX_COMPLETIONS)]
    rules: RuleSystem = "train"


class ParseRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A formula in any notation.

    Attributes:
        formula: as text.
        repair: whether to repair the text if possible.
    """

    formula: str
    repair: bool = False


class RewardRequest(msgspec.Struct, frozen=True, kw_only=True):
    """OpenRLHF's request to a remote reward model; other fields are ignored.

    Attributes:
        query: prompts and completions in one text each.
        prompts: the prompts alone, as they stand in the queries.
        labels: the problems, each as a record in JSON or as the id of one that the service was started with.
    """

    query: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MAX_COMPLETIONS)]
    prompts: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MAX_COMPLETIONS)]
    labels: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MAX_COMPLETIONS)]


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


class ParseReply(msgspec.Struct, frozen=True):
    """A formula in four notations.

    Attributes:
        formula: in Unicode; ascii, prefix, smtlib: in the notations of these names.
        predicates, functions: its symbols with the number of their arguments; constants are functions of none.
        repairs: the changes that made the text parse.
    """

    formula: str
    ascii: str
    prefix: str
    smtlib: str
    predicates: dict[str, int]
    functions: dict[str, int]
    repairs: tuple[str, ...]


class RewardReply(msgspec.Struct, frozen=True):
    """The reply of a reward model to OpenRLHF.

    Attributes:
        rewards, scores: one number per query.
        extra_logs: further numbers per query, by name, for the log.
    """

    rewards: tuple[float, ...]
    scores: tuple[float, ...]
    extra_logs: dict[str, tuple[float, ...]]


class SchemaView(msgspec.Struct, frozen=True):
    """A schema of a rule: patterns of its premises and of its conclusion, in Unicode."""

    name: str
    premises: tuple[str, ...]
    conclusion: str


class RuleView(msgspec.Struct, frozen=True):
    """A rule: its name, meaning and schemata."""

    name: str
    meaning: str
    schemata: tuple[SchemaView, ...]


class RulesReply(msgspec.Struct, frozen=True):
    """The rules of a catalogue, in order."""

    rules: tuple[RuleView, ...]


class ProblemsReply(msgspec.Struct, frozen=True):
    """The ids of the problems that requests can name, in order."""

    problems: tuple[str, ...]


class Health(msgspec.Struct, frozen=True):
    """The state of the service.

    Attributes:
        status: whether every worker process is running.
        version: of the package.
        workers: number of running worker processes.
    """

    status: Literal["ok", "impaired"]
    version: str
    workers: int


Code: TypeAlias = Literal[
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


class Place(msgspec.Struct, frozen=True):
    """A place in a text: 0-based character offset, 1-based line and column."""

    offset: int
    line: int
    column: int


class Trouble(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request is not answered.

    Attributes:
        code: for programs.
        message: for people.
        place: of what is wrong, where a formula does not parse.
    """

    code: Code
    message: str
    place: Place | None = None


class ErrorReply(msgspec.Struct, frozen=True):
    """The reply to a request that failed."""

    error: Trouble


# -- jobs -------------------------------------------------------------------------------------------------------------


class Verify(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Check one completion."""

    problem: bytes
    completion: str
    sample: int
    rules: RuleSystem
    evaluation: bool
    atomic: bool = False


class Certify(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Certify one completion."""

    problem: bytes
    completion: str
    rules: RuleSystem
    by_kernel: bool


class Page(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Make the page of completions."""

    problem: bytes
    completions: tuple[str, ...]
    rules: RuleSystem


class Parse(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Read one formula."""

    formula: str
    repair: bool


class Score(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Reward one completion, as training does."""

    problem: bytes
    completion: str
    rules: RuleSystem
    reward: RewardName


Job: TypeAlias = Verify | Certify | Page | Parse | Score


class Done(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The result of a job, as the service sends it: a page in HTML, or JSON."""

    content: bytes


class Refused(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A rejected job: the status and content of the HTTP reply."""

    status: int
    trouble: Trouble


Outcome: TypeAlias = Done | Refused


class RefusalError(Exception):
    """Ends the handling of a request, or of a job.

    Args:
        refused: the error for the client.
        headers: of the reply.
    """

    def __init__(self, refused: Refused, *, headers: Mapping[str, str] | None = None) -> None:
        self.refused = refused
        self.headers = dict(headers or {})
        super().__init__(refused.trouble.message)


def refusal(status: int, code: Code, message: str, *, headers: Mapping[str, str] | None = None) -> RefusalError:
    """An exception with this status, code and message."""
    return RefusalError(Refused(status, Trouble(code, message)), headers=headers)
