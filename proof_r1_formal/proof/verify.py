"""The verifier: a problem and a completion to a report with four verdicts per action and the closure of the answer.

The verifier reads a completion and pushes its actions to a :class:`~proof_r1_formal.proof.session.VerifierSession`. To
check actions before the completion is finished, use a session directly.
"""

from __future__ import annotations

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import require_type
from proof_r1_formal.kernel.answer import Answer
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.proof.action import Trace, read_completion
from proof_r1_formal.proof.judge import Judge
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.session import VerifierSession


class Verifier(Judge):
    """Verifies completions with one solver and one rule catalogue. Verdicts do not depend on earlier completions.

    Threads may share a verifier: it verifies one completion at a time. A session does not lock its verifier. Use
    :func:`~proof_r1_formal.proof.batch.verify_many` with several workers to use several cores.

    Args:
        solver: decides entailment; the embedded engine if None.
        rules: the rules that actions may name.
        evaluation: whether a terminal action without the id of an option may select the option with its formula; set it
            to false in training.
        aliases: whether other spellings of rule names are accepted; leave it false in training.
        atomic: whether dependencies must state the minor premises of an instance; by default they need only entail
            them.
        evidence: ``checked`` rechecks the proof or countermodel of each verdict on entailment, ``kernel`` also has a
            kernel check it, ``none`` requests no evidence.
        kernel: the kernel for ``kernel`` evidence.

    Raises:
        CatalogueError: a schema of the catalogue is not a theorem in its manifest.
        DataError: the manifest cannot be read.
        SolverError: kernel evidence is requested without a kernel.
        TypeError: the solver is not a solver, or the rules are not a catalogue.
        ValueError: the level of evidence is unknown.
    """

    def verify(self, problem: Problem, completion: str, *, sample: int = 0) -> TraceReport:
        """Check every action of a completion.

        Args:
            problem: the question with its formal premises.
            completion: the model's whole answer, as text.
            sample: number of the completion among those of the problem, for the report.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
            ProofR1Error: two parts of the problem have one id, or its answer is the id of no option.
            SolverError: the solver is missing or broken.
            TypeError: an argument, or a part of the problem, has another type.
        """
        require_type(problem, Problem, "problem", "read_problems() reads problems from a file")
        require_type(completion, str, "completion", "give the text of the model's answer")
        with self._lock:
            session, parsed = self._run(problem, completion)
            return session.report(sample=sample, parsed=parsed)

    def entailments(self, problem: Problem, completion: str) -> tuple[tuple[Query, Answer], ...]:
        """The entailment questions of the actions of a completion, with their answers."""
        with self._lock:
            return self._run(problem, completion)[0].entailments

    def grounds(self, problem: Problem, completion: str) -> tuple[tuple[Query, Answer], ...]:
        """The questions that the verdict on a completion's answer rests on, with their answers."""
        with self._lock:
            return self._run(problem, completion)[0].grounds

    def price(self, problem: Problem, completion: str) -> int:
        """The cost of verifying a completion, in steps. Above ``TRACE_STEPS``, later checks stay undecided."""
        with self._lock:
            session, parsed = self._run(problem, completion)
            return session.price(parsed=parsed)

    def read(self, problem: Problem, completion: str) -> tuple[Problem, Trace]:
        """The problem and the actions in the form that is checked: all formulas have the problem's sorts.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
        """
        with self._lock:
            context = self.context(problem)
            return context.problem, context.read(completion)

    def _run(self, problem: Problem, completion: str) -> tuple[VerifierSession, bool]:
        """A session to which all actions were pushed, and whether the completion is parsed."""
        session = VerifierSession(problem, self)
        trace = read_completion(completion)  # the session writes the sorts into the conclusions
        session.extend(trace.actions)
        return session, trace.parsed

    def without_kernel(self) -> Verifier:
        """A verifier with the same solver and rules that checks evidence itself."""
        return Verifier(
            self.oracle.solver, rules=self.rules, evaluation=self.evaluation, aliases=self.aliases, atomic=self.atomic
        )
