"""The work of a worker process of the service: one job at a time.

In: a :class:`~proof_r1_formal.serve.messages.Job`. Out: its outcome. Its caches (parsed problems, verifiers) are
bounded, and no outcome depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import assert_never

import msgspec

from proof_r1_formal.assistants.isar import isar_theory
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_file import file_stem, lean_file
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.native import from_json
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ParseError, ProofR1Error
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.proof.action import count_actions
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.certify import CheckedCertification, certify_many
from proof_r1_formal.proof.report import encode
from proof_r1_formal.proof.rewards import score
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import smtlib
from proof_r1_formal.report.page import page
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.serve.messages import (
    Certify,
    CertifyReply,
    Done,
    Job,
    Judgement,
    Outcome,
    Page,
    Parse,
    ParseReply,
    Place,
    RefusalError,
    Refused,
    Score,
    Trouble,
    Verify,
    refusal,
)
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.repair import Repaired
from proof_r1_formal.text.show import show

_REMEMBERED_PROBLEMS = 256

UNUSABLE = 422
"""HTTP status of what can be read and cannot be used."""


class Desk:
    """Does jobs.

    Args:
        max_actions: the most actions that a completion may have.
    """

    def __init__(self, *, max_actions: int) -> None:
        self._max_actions = max_actions
        self._problem = lru_cache(_REMEMBERED_PROBLEMS)(_problem)  # equal texts are one problem, prepared once
        self._verifier = cache(_verifier)
        self._kernel = cache(LeanKernel.find)

    def do(self, job: Job) -> Outcome:
        """The outcome of a job; a mistake of the caller is an outcome too."""
        try:
            return Done(self._content(job))
        except RefusalError as error:
            return error.refused
        except ParseError as error:
            place = Place(error.location.offset, error.location.line, error.location.column)
            return Refused(UNUSABLE, Trouble("unusable", error.summary, place))
        except ProofR1Error as error:
            return Refused(UNUSABLE, Trouble("unusable", str(error)))

    def _content(self, job: Job) -> bytes:
        match job:
            case Verify(problem, completion, sample, rules, evaluation, atomic):
                self._check_actions(completion)
                verifier = self._verifier(rules, evaluation, atomic)
                return encode(verifier.verify(self._problem(problem), completion, sample=sample))
            case Score(problem, completion, rules, reward):
                self._check_actions(completion)
                report = self._verifier(rules, False, False).verify(self._problem(problem), completion)
                return msgspec.json.encode(score(report, reward))
            case Certify(problem, completion, rules, by_kernel):
                self._check_actions(completion)
                return self._certify(self._problem(problem), completion, rules, by_kernel=by_kernel)
            case Page(problem, completions, rules):
                return self._page(self._problem(problem), completions, rules)
            case Parse(formula, repair):
                return msgspec.json.encode(_parsed(formula, repair=repair))
        assert_never(job)

    def _check_actions(self, completion: str) -> None:
        if completion.count(",") < self._max_actions:  # it cannot have more, and counting commas costs nothing
            return
        count = count_actions(completion)
        if count > self._max_actions:
            message = f"a completion of {count} actions; at most {self._max_actions} are checked"
            raise refusal(UNUSABLE, "too_many_actions", message)

    def _certify(self, problem: Problem, completion: str, rules: RuleSystem, *, by_kernel: bool) -> bytes:
        kernel = self._kernel() if by_kernel else None
        if by_kernel and kernel is None:
            raise refusal(501, "no_kernel", f"there is no Lean here; {HINT}")
        asked = [Completion(problem_id=problem.id, completion=completion)]
        [(_, judged)] = certify_many(self._verifier(rules, True, False), {problem.id: problem}, asked, kernel)
        return msgspec.json.encode(_certified(problem, judged, kernel))

    def _page(self, problem: Problem, texts: Sequence[str], rules: RuleSystem) -> bytes:
        for text in texts:
            self._check_actions(text)
        completions = [Completion(problem_id=problem.id, sample=n, completion=text) for n, text in enumerate(texts)]
        return page(self._verifier(rules, True, False), {problem.id: problem}, completions, title=problem.id)


def _problem(text: bytes) -> Problem:
    return from_json(text.decode())


def _verifier(rules: RuleSystem, evaluation: bool, atomic: bool) -> Verifier:
    return Settings(rules=rules, evaluation=evaluation, atomic=atomic).verifier()


def _certified(problem: Problem, checked: CheckedCertification, kernel: LeanKernel | None) -> CertifyReply:
    found = checked.certification
    certificate = found.certificate
    if certificate is None:
        return CertifyReply(found.report, found.reason, None, None, None)
    isabelle = isar_theory(certificate, file_stem(problem.id, 0))
    judgement = None if kernel is None else Judgement(kernel.version, checked.is_theorem, tuple(checked.faults()))
    return CertifyReply(found.report, "", lean_file(certificate, problem), isabelle, judgement)


def _parsed(text: str, *, repair: bool) -> ParseReply:
    read = parse_formula(text, repair=True) if repair else Repaired(parse_formula(text), ())
    symbols = Signature.infer([read.formula])
    return ParseReply(
        formula=show(read.formula),
        ascii=show(read.formula, "ascii"),
        prefix=show(read.formula, "prefix"),
        smtlib=smtlib.term(read.formula),
        predicates={name: len(arguments) for name, arguments in symbols.predicates.items()},
        functions={name: len(of.arguments) for name, of in symbols.functions.items()},
        repairs=read.repairs,
    )
