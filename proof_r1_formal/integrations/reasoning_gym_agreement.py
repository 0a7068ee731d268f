"""Entries of reasoning-gym with answers that evidence shows, beside what the library's own scorer says of them.

In: an entry, the function that scores it, and a prover. Out: :class:`Judged`: the problem with the answer that checked
evidence supports, a reference proof if one was wanted and found, and whether the scorer accepts the same answers. This
module needs no library: the scorer is a function that is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from proof_r1_formal.data.problem import UNCERTAIN, Problem, Rejected
from proof_r1_formal.generate.synthesize import Proved, Prover
from proof_r1_formal.integrations.reasoning_gym_tasks import Entry, answers, problem_of
from proof_r1_formal.kernel.answer import Answer, Entailed, Refuted, Unknown
from proof_r1_formal.proof.report import ModelReport
from proof_r1_formal.text.show import show

Agreement: TypeAlias = Literal["agree", "differ", "undecided"]

ACCEPTED: Final = {"propositional_logic": 0.25}
"""The least score of a right answer; 1 in other tasks. A right formula that says little has 0.25, a wrong one 0.05."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An entry with our answer.

    Attributes:
        problem: its answer rests on checked evidence, and is None where that decides nothing; its proof is a reference
            proof. A note says how the scorer differs. :class:`Rejected` if the entry is not a problem.
        agreement: between the scorer and the evidence on each answer; None if the entry is not a problem.
        consistent: whether the premises are known to have a model.
    """

    problem: Problem | Rejected
    agreement: Agreement | None
    consistent: bool = True


def judge(
    entry: Entry, number: int, score: Callable[[str, Entry], float], prover: Prover, *, with_proof: bool = False
) -> Judged:
    """Decide an entry, and compare.

    Args:
        entry, number: see :func:`~proof_r1_formal.integrations.reasoning_gym_tasks.problem_of`.
        score: of an answer to the entry, from 0 to 1.
        prover: its verifier answers the questions.
        with_proof: whether to search for a reference proof.
    """
    problem = problem_of(entry, number)
    if isinstance(problem, Rejected):
        return Judged(problem, None)
    verifier = prover.verifier
    asked = verifier.context(problem).problem
    premises = tuple([premise.formula for premise in asked.premises])
    claims = {o.id: verifier.oracle.entails(premises, o.formula) for o in asked.options if o.label != UNCERTAIN}
    least = ACCEPTED.get(problem.difficulty, 1.0)
    notes: list[str] = []
    agreement: Agreement = "agree"
    for option, text in answers(problem).items():
        accepted = score(text, entry) >= least
        if isinstance(claims[option], Unknown):
            agreement = "undecided" if agreement == "agree" else agreement
        elif accepted != isinstance(claims[option], Entailed):
            agreement = "differ"
            notes.append(_difference(problem, option, text, claims[option], accepted))
    consistent = not isinstance(verifier.oracle.inconsistent(premises), Entailed)
    if not consistent:
        return Judged(Rejected(problem.id, number + 1, ("the premises contradict each other",)), agreement, consistent)
    answer = _answer(problem, claims)
    solved = replace(problem, answer=answer, notes=tuple(notes))
    if with_proof and answer in claims:
        found = prover.prove(solved)
        if isinstance(found, Proved) and found.answer == answer:
            solved = replace(solved, proofs=(found.steps,))
    return Judged(solved, agreement)


def _answer(problem: Problem, claims: dict[str, Answer]) -> str | None:
    """The option that is entailed; the one labelled Uncertain if all others are refuted."""
    entailed = [name for name, answer in claims.items() if isinstance(answer, Entailed)]
    if entailed or not all(isinstance(answer, Refuted) for answer in claims.values()):
        return entailed[0] if entailed else None
    return next((option.id for option in problem.options if option.label == UNCERTAIN), None)


def _difference(problem: Problem, option: str, text: str, answer: Answer, accepted: bool) -> str:
    says = f"the scorer of reasoning-gym {'accepts' if accepted else 'rejects'} {text!r}"
    claim = problem.option(option)
    assert claim is not None
    if isinstance(answer, Refuted) and answer.model is not None:
        model = ModelReport.of(answer.model).in_words()
        return f"{says}, but {show(claim.formula)} is false in a model of the premises: {model}"
    return f"{says}, but {show(claim.formula)} {'follows' if isinstance(answer, Entailed) else 'does not follow'}"
