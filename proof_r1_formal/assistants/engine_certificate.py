"""Certificates of problems without a completion: what the engine proves or refutes, as theorems.

In: a verifier and a problem. Out: a certificate of what follows, or of what does not; or why there is none. The
evidence is the engine's, rechecked by the kernel of the package. It needs no rule, so there is a certificate wherever
the engine has an answer with evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from proof_r1_formal.assistants.certificate import AnyCertificate, Certificate, CertifiedStep, OpenCertificate
from proof_r1_formal.data.problem import UNCERTAIN, Problem
from proof_r1_formal.kernel.answer import Entailed, Refuted, Unknown
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, Not
from proof_r1_formal.kernel.term import Proof, Theorem, renumber
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.proof.verify import Verifier


@dataclass(frozen=True, slots=True)
class NoCertificate:
    """There is none, and why."""

    reason: str


def certify_problem(verifier: Verifier, problem: Problem) -> AnyCertificate | NoCertificate:
    """The certificate of a problem, from the evidence of the verifier's solver.

    * An option follows, and the premises have a model: that it follows, and the model.
    * The premises contradict each other: that they do. Everything follows from them.
    * An option follows, and it is undecided whether the premises have a model: that it follows.
    * Of the first option and its negation one or both do not follow: the countermodels.

    Raises:
        SignatureError: the problem uses a symbol in two ways.
        SolverError: the solver is missing or broken.
    """
    problem = verifier.context(problem).problem
    premises = {premise.id: premise.formula for premise in problem.premises}
    formulas = tuple(premises.values())
    claims = [option for option in problem.options if option.label != UNCERTAIN]
    if not claims:
        return NoCertificate("no option says anything but that the question is open")
    answers = {claim.id: verifier.oracle.entails(formulas, claim.formula) for claim in claims}
    for claim in claims:
        match answers[claim.id]:
            case Entailed(proof) if proof is not None:
                return _certificate(verifier, premises, claim.id, claim.formula, proof)
    goal = claims[0].formula
    negations = [c for c in claims[1:] if alpha_equivalent(c.formula, Not(goal))]
    if len(claims) > 1 and len(negations) < len(claims) - 1:
        return NoCertificate("no option is found to follow, and the options are not a claim and its negation")
    shown = [_model_of(answers[claims[0].id]), _model_of(answers[negations[0].id]) if negations else None]
    if shown == [None, None]:
        return NoCertificate("; ".join([f"{c.id}: {_undecided(answers[c.id])}" for c in claims]))
    return OpenCertificate(premises, goal, *shown)


def _certificate(
    verifier: Verifier, premises: dict[str, Formula], name: str, goal: Formula, proof: Proof
) -> Certificate:
    formulas = tuple(premises.values())
    match verifier.oracle.inconsistent(formulas):
        case Entailed(contradiction) if contradiction is not None and formulas:
            steps = (_step(premises, name, BOTTOM, contradiction),)
            return Certificate(premises, BOTTOM, steps, None)
        case consistency:
            return Certificate(premises, goal, (_step(premises, name, goal, proof),), _model_of(consistency))


def _step(premises: dict[str, Formula], name: str, goal: Formula, proof: Proof) -> CertifiedStep:
    """The step that concludes the goal from those premises that its proof uses."""
    count = len(premises)
    used = sorted({number for number in _numbers(proof) if number < count})
    place = {number: new for new, number in enumerate(used)}
    names = list(premises)
    trimmed = renumber(proof, [place.get(number, 0) for number in range(count)], len(used))
    return CertifiedStep(name, tuple([names[number] for number in used]), goal, trimmed)


def _numbers(value: Any) -> Iterator[int]:
    """The numbers of premises and lines in a proof."""
    match value:
        case int():
            yield value
        case tuple():
            for item in value:
                yield from _numbers(item)
        case msgspec.Struct() if not isinstance(value, Theorem):
            for field in value.__struct_fields__:
                yield from _numbers(getattr(value, field))


def _model_of(answer: object) -> Structure | None:
    return answer.model if isinstance(answer, Refuted) else None


def _undecided(answer: object) -> str:
    return str(answer.detail or answer.reason) if isinstance(answer, Unknown) else "an answer without evidence"
