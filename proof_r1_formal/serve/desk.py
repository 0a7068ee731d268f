"""The work of a worker process of the service: one completion at a time.

In: the record of a problem, a completion, and how it is checked. Out: the reply, as JSON. Caches (parsed problems,
verifiers) are bounded, and no reply depends on them.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TypeVar

import msgspec

from proof_r1_formal.assistants.certify import certify_many
from proof_r1_formal.assistants.isar import isar_theory
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_file import file_stem, lean_file
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.native import from_json
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.proof.action import count_actions
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import RewardName, Scored, encode, score
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.serve.messages import CertifyReply, Judgement, RefusalError

_T = TypeVar("_T")

_problem = lru_cache(256)(from_json)  # equal texts are one problem, prepared once
_kernel = cache(LeanKernel.find)


@cache
def _verifier(rules: RuleSystem, evaluation: bool, atomic: bool) -> Verifier:
    return Settings(rules=rules, evaluation=evaluation, atomic=atomic).verifier()


def do(job: Callable[[], _T]) -> _T:
    """The result of a job; the log shows where a fault of ours happened, which the reply cannot.

    Raises:
        ProofR1Error: what the caller gave cannot be used.
    """
    try:
        return job()
    except ProofR1Error:
        raise
    except Exception:
        traceback.print_exc()
        raise


def _check_actions(completion: str, most: int) -> None:
    """Refuse a completion of too many actions.

    Raises:
        RefusalError: 422.
    """
    if completion.count(",") < most:  # it cannot have more, and counting commas costs nothing
        return
    if (count := count_actions(completion)) > most:
        message = f"a completion of {count} actions; at most {most} are checked"
        raise RefusalError(422, "too_many_actions", message)


def verify(
    record: str,
    completion: str,
    sample: int = 0,
    *,
    rules: RuleSystem = "train",
    evaluation: bool = True,
    atomic: bool = False,
    most: int = 512,
) -> bytes:
    """The report on a completion; see :class:`~proof_r1_formal.serve.messages.VerifyRequest`."""
    _check_actions(completion, most)
    return encode(_verifier(rules, evaluation, atomic).verify(_problem(record), completion, sample=sample))


def reward(record: str, completion: str, *, rules: RuleSystem, reward: RewardName, most: int = 512) -> Scored:
    """The reward of a completion in training."""
    _check_actions(completion, most)
    return score(_verifier(rules, False, False).verify(_problem(record), completion), reward)


def certify(record: str, completion: str, *, rules: RuleSystem, by_kernel: bool, most: int = 512) -> bytes:
    """A :class:`~proof_r1_formal.serve.messages.CertifyReply`.

    Raises:
        RefusalError: 501: the request asks for Lean's kernel, and Lean is not installed.
    """
    _check_actions(completion, most)
    kernel = _kernel() if by_kernel else None
    if by_kernel and kernel is None:
        raise RefusalError(501, "no_kernel", f"there is no Lean here; {HINT}")
    problem = _problem(record)
    asked = [Completion(problem_id=problem.id, completion=completion)]
    [(_, checked)] = certify_many(_verifier(rules, True, False), {problem.id: problem}, asked, kernel)
    found = checked.certification
    if (certificate := found.certificate) is None:
        return msgspec.json.encode(CertifyReply(found.report, found.reason, None, None, None))
    isabelle = isar_theory(certificate, file_stem(problem.id, 0))
    judgement = None if kernel is None else Judgement(kernel.version, checked.is_theorem, tuple(checked.faults()))
    return msgspec.json.encode(CertifyReply(found.report, "", lean_file(certificate, problem), isabelle, judgement))
