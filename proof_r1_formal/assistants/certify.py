"""From a verified trace to a certificate of its answer.

In: a verifier, a problem and a completion. Out: the report, and a certificate or the reason why there is none. There is
one exactly if the answer is verified (see ``proof.answer``) and its evidence is complete: a proof of every step in the
closure and a model of the premises; or, for an answer Uncertain, the two countermodels.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from proof_r1_formal.assistants.certificate import (
    ANSWER_SOUND,
    MAX_STEPS,
    AnyCertificate,
    Certificate,
    CertifiedStep,
    OpenCertificate,
    Style,
)
from proof_r1_formal.assistants.isabelle import IsabelleKernel, theory_of
from proof_r1_formal.assistants.isar import isar_theorems
from proof_r1_formal.assistants.lean import Judgement, LeanKernel
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import UNCERTAIN, Option, Problem
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.answer import Entailed, Refuted
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, Iff, Not
from proof_r1_formal.kernel.term import Eliminate, Proof, renumber
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.proof.action import Action, Trace
from proof_r1_formal.proof.report import StepReport, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.check import Match
from proof_r1_formal.rules.theorems import instance_proof

CHUNK = 512
"""How many certificates a kernel is given at a time."""
_BINDING = "␣goal"  # id of the step from the last conclusion to the option's formula, if written differently


@dataclass(frozen=True, slots=True)
class Certification:
    """A report, and the result of certifying its answer.

    Attributes:
        report: of the trace.
        certificate: of the answer, or None.
        reason: why there is none; empty if there is one.
    """

    report: TraceReport
    certificate: AnyCertificate | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CheckedCertification:
    """A certification with a kernel's judgements on its theorems.

    Attributes:
        certification: of the answer.
        judgements: by the theorem's name; empty without a certificate or a kernel.
        style: of the theorems.
    """

    certification: Certification
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    style: Style = "shallow"

    @property
    def is_theorem(self) -> bool:
        """Whether the kernel accepts the answer: the entailment, or for Uncertain both non-entailments."""
        certificate = self.certification.certificate
        return certificate is not None and is_theorem(certificate, self.judgements)

    def faults(self) -> Iterator[str]:
        """One sentence for each theorem that the kernel rejects."""
        certificate = self.certification.certificate
        return iter(()) if certificate is None else faults_of(certificate, self.judgements, self.style)


def is_theorem(certificate: AnyCertificate, judgements: Mapping[str, Judgement]) -> bool:
    """Whether the kernel accepts what the certificate is for, by its judgements on the certificate's theorems."""
    accepted = {name for name, judgement in judgements.items() if judgement.accepted}
    return ANSWER_SOUND in accepted or accepted.issuperset(certificate.required)


def faults_of(certificate: AnyCertificate, judgements: Mapping[str, Judgement], style: Style) -> Iterator[str]:
    """One sentence for each theorem of the certificate that the kernel rejects."""
    for name, judgement in judgements.items():
        if judgement.accepted:
            continue
        step, line = None, judgement.line
        if line is not None and isinstance(certificate, Certificate) and name in (certificate.label, ANSWER_SOUND):
            step = None if certificate.reflects(style) else certificate.step_at(line)
        yield f"{name}{'' if step is None else f', step {step}'}: {judgement.reason}"


def certify_many(
    verifier: Verifier,
    problems: Mapping[str, Problem],
    completions: Iterable[Completion],
    kernel: LeanKernel | IsabelleKernel | None,
    *,
    style: Style = "shallow",
) -> Iterator[tuple[Completion, CheckedCertification]]:
    """Certify completions, and yield each with the judgements of the kernel, in the order of the input.

    Args:
        verifier: see :func:`certify`.
        problems: by id.
        completions: of those problems.
        kernel: checks the theorems; they are not checked if None.
        style: of the theorems for Lean.

    Raises:
        KeyError: a completion names an unknown problem.
    """
    source = iter(completions)
    while chunk := list(islice(source, CHUNK)):
        certified = [certify(verifier, problems[c.problem_id], c.completion, sample=c.sample) for c in chunk]
        judged = judge([c.certificate for c in certified], kernel, style)
        for completion, certification, judgements in zip(chunk, certified, judged, strict=True):
            yield completion, CheckedCertification(certification, judgements, style)


def judge(
    certificates: Sequence[AnyCertificate | None], kernel: LeanKernel | IsabelleKernel | None, style: Style = "shallow"
) -> list[dict[str, Judgement]]:
    """The kernel's judgements on the theorems of each certificate, by name; none without a kernel."""
    match kernel:
        case LeanKernel():
            return _by_lean(kernel, certificates, style)
        case IsabelleKernel():
            return _by_isabelle(kernel, certificates)
        case None:
            return [{} for _ in certificates]


def _by_lean(
    kernel: LeanKernel, certificates: Sequence[AnyCertificate | None], style: Style
) -> list[dict[str, Judgement]]:
    theorems = [{} if certificate is None else certificate.theorems(style) for certificate in certificates]
    judgements = iter(kernel.check([theorem for named in theorems for theorem in named.values()]))
    judged = [{name: next(judgements) for name in named} for named in theorems]
    for certificate, named in zip(certificates, judged, strict=True):
        for name, judgement in named.items():
            if judgement.false and isinstance(certificate, Certificate) and name in (certificate.label, ANSWER_SOUND):
                named[name] = judgement._replace(reason=_reason(kernel, certificate))
    return judged


def _reason(kernel: LeanKernel, certificate: Certificate) -> str:
    """What Lean's checker does not accept of a certificate by reflection: the first step, the goal or the model."""
    steps = certificate.steps

    def rejects(count: int) -> bool:
        """Whether the first steps do not prove what the last of them concludes."""
        first = replace(certificate, steps=steps[:count], goal=steps[count - 1].formula)
        known = {*first.premises, *[step.id for step in first.steps]}
        if not known.issuperset([each for step in first.steps for each in step.dependencies]):
            return True  # one depends on a step after these
        return not kernel.check([first.reflected()])[0].accepted

    place = bisect_left(range(1, len(steps) + 1), True, key=rejects)
    if place < len(steps):
        return f"Lean's checker does not accept step {steps[place].id}"
    if not kernel.check([certificate.reflected()])[0].accepted:
        return "the last step does not conclude the answer"
    return "Lean's checker does not accept the model of the premises"


def _by_isabelle(kernel: IsabelleKernel, certificates: Sequence[AnyCertificate | None]) -> list[dict[str, Judgement]]:
    """A theory for each theorem, so that each is judged for itself."""
    theorems = [{} if certificate is None else isar_theorems(certificate) for certificate in certificates]
    places = {f"Answer{n}_{name}": (n, name) for n, named in enumerate(theorems) for name in named}
    judgements = kernel.check({file: theory_of({name: theorems[n][name]}, file) for file, (n, name) in places.items()})
    return [{name: judgements[f"Answer{n}_{name}"] for name in named} for n, named in enumerate(theorems)]


class _NoCertificateError(Exception):
    """There is no certificate; the message says why."""


def certify(verifier: Verifier, problem: Problem, completion: str, *, sample: int = 0) -> Certification:
    """Verify a completion, see :meth:`Verifier.verify`, and build the certificate of its answer.

    The verifier's rule catalogue says which theorems the steps apply.
    """
    return certify_verified(verifier, problem, completion, verifier.verify(problem, completion, sample=sample))


def certify_verified(verifier: Verifier, problem: Problem, completion: str, report: TraceReport) -> Certification:
    """Build the certificate of an answer from the report on its completion."""
    problem, trace = verifier.read(problem, completion)
    try:
        return Certification(report, _certificate(verifier, problem, trace, report))
    except _NoCertificateError as error:
        return Certification(report, None, str(error))


def _certificate(verifier: Verifier, problem: Problem, trace: Trace, report: TraceReport) -> AnyCertificate:
    if not report.verified:
        raise _NoCertificateError("; ".join([finding.message for finding in report.findings]))
    option = problem.option(report.answer)
    assert option is not None
    premises = {premise.id: premise.formula for premise in problem.premises}
    formulas = tuple(premises.values())
    if option.label == UNCERTAIN:
        asked = (option.formula, Not(option.formula))
        return OpenCertificate(premises, option.formula, *[_countermodel(verifier, formulas, goal) for goal in asked])
    model = _countermodel(verifier, formulas, BOTTOM)
    steps = _steps(verifier, premises, trace, report)
    last = steps[-1]
    if not alpha_equivalent(last.formula, option.formula):
        proof = _binding(verifier, last.formula, option)
        steps.append(CertifiedStep(_BINDING, (last.id,), option.formula, proof))
    if len(steps) > MAX_STEPS:
        raise _NoCertificateError(f"the closure has {len(steps)} steps; a certificate has at most {MAX_STEPS}")
    return Certificate(premises, option.formula, tuple(steps), model)


def _binding(verifier: Verifier, last: Formula, option: Option) -> Proof:
    """The proof of the option's formula from the last conclusion; if need be, from their equivalence."""
    proof = search((last,), option.formula).proof
    if proof is not None:
        return proof
    match verifier.oracle.decide((), Iff(last, option.formula)).answer:
        case Entailed(proof) if proof is not None:
            return (*renumber(proof, (), 1), Eliminate(len(proof), "right", 0))
    raise _NoCertificateError(f"the last conclusion is not found to give the formula of {option.id}")


def _countermodel(verifier: Verifier, premises: tuple[Formula, ...], conclusion: Formula) -> Structure:
    match verifier.oracle.checked_answer(verifier.oracle.decide(premises, conclusion)):
        case Refuted(model) if model is not None:
            return model
        case _:
            raise _NoCertificateError("no model of the premises was found")


def _steps(verifier: Verifier, premises: dict[str, Formula], trace: Trace, report: TraceReport) -> list[CertifiedStep]:
    """The steps of the closure, each with a proof that the checker accepts."""
    known = dict(premises)
    steps = []
    for action, step in zip(trace.actions, report.actions, strict=True):
        if not step.in_closure:
            continue
        assert action.id is not None and action.formula is not None, "the answer is verified"
        dependencies = tuple([known[name] for name in action.dependencies])
        proof = _proof(verifier, action, step, dependencies, action.formula)
        if proof is None:
            raise _NoCertificateError(f"step {action.id} is entailed according to a solver, without a proof")
        try:
            check(proof, dependencies, action.formula)
        except ProofError as error:
            raise _NoCertificateError(f"the proof of step {action.id} does not hold: {error}") from error
        known[action.id] = action.formula
        steps.append(CertifiedStep(action.id, action.dependencies, action.formula, proof))
    return steps


def _proof(
    verifier: Verifier, action: Action, step: StepReport, dependencies: tuple[Formula, ...], conclusion: Formula
) -> Proof | None:
    """A rule-verified step applies its schema's theorem; any other has the proof that was found."""
    if step.rule and action.rule is not None:
        rule = verifier.rules.find(action.rule, aliases=verifier.aliases)
        assert rule is not None
        unlimited = verifier.oracle
        matched, _ = verifier.match_rule(rule.name, dependencies, conclusion, terminal=step.terminal, budget=unlimited)
        if isinstance(matched, Match) and (proof := instance_proof(matched, dependencies, conclusion)) is not None:
            return proof
    match verifier.oracle.decide(dependencies, conclusion).answer:
        case Entailed(proof):
            return proof
    return None
