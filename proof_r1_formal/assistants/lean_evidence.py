"""Evidence of answers, checked by Lean's kernel in batches.

In: queries with answers and evidence. Out: the kernel's judgements, which are cached. A proof becomes the theorem
that the dependencies entail the conclusion; a countermodel the theorem that they do not, if it is small enough.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from proof_r1_formal.assistants.lean import Judgement, LeanKernel, LeanTheorem
from proof_r1_formal.assistants.lean_model import refutation
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.assistants.lean_term import lean_term
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.term import Proof
from proof_r1_formal.render import lean

_REMEMBERED = 1 << 14


@dataclass(frozen=True, slots=True)
class FindLean:
    """Finds Lean: the ``find_kernel`` of :class:`~proof_r1_formal.proof.batch.Settings`, in each worker process.

    Attributes:
        program: path or name of a Lean program, or ``wheel``; if None, it is searched for.
    """

    program: str | None = None

    def __call__(self) -> KernelEvidence:
        """The evidence of the Lean that is found.

        Raises:
            SolverError: there is none.
        """
        kernel = LeanKernel.find(self.program)
        if kernel is None:
            raise SolverError("lean", f"no Lean was found to check evidence; {HINT}")
        return KernelEvidence(kernel)


class KernelEvidence:
    """Checks the evidence of answers with a kernel, and caches the judgements."""

    def __init__(self, kernel: LeanKernel) -> None:
        self._kernel = kernel
        self._known: OrderedDict[LeanTheorem, Judgement] = OrderedDict()

    def prepare(self, answers: Iterable[tuple[Query, Answer]]) -> None:
        """Check all the answers in one batch; :meth:`judge` then uses the cache."""
        theorems = dict.fromkeys(theorem_of(query, answer) for query, answer in answers)
        new = [theorem for theorem in theorems if theorem is not None and theorem not in self._known]
        for theorem, judgement in zip(new, self._kernel.check(new), strict=True):
            if len(self._known) >= _REMEMBERED:
                self._known.popitem(last=False)
            self._known[theorem] = judgement

    def judge(self, query: Query, answer: Answer) -> Judgement | None:
        """The kernel's judgement; None if the answer has no evidence that can become a theorem."""
        theorem = theorem_of(query, answer)
        if theorem is None:
            return None
        if theorem not in self._known:
            self.prepare([(query, answer)])
        return self._known[theorem]


def theorem_of(query: Query, answer: Answer) -> LeanTheorem | None:
    """The theorem that an answer's evidence proves; None if it has none, or the countermodel is too large."""
    match answer:
        case Entailed(proof) if proof is not None:
            return entailment_theorem(query.dependencies, query.conclusion, proof)
        case Refuted(model) if model is not None:
            return refutation(query.dependencies, query.conclusion, model)
        case _:
            return None


def entailment_theorem(dependencies: tuple[Formula, ...], conclusion: Formula, proof: Proof) -> LeanTheorem:
    """The theorem that the dependencies entail the conclusion.

    Raises:
        SignatureError: the formulas use a symbol in two ways.
    """
    signature = Signature.infer((*dependencies, conclusion))
    premises = [(formula, f"a{number}") for number, formula in enumerate(dependencies)]
    bound = [f"({name} : {lean.formula(formula)})" for formula, name in premises]
    binders = "\n  ".join([*lean.binders(signature), *bound])
    return LeanTheorem(
        f"{binders}\n  : {lean.formula(conclusion)}", lean_term(proof, premises, conclusion, signature, indent=1)
    )
