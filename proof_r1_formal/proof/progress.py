"""ProofCheck: does an action add anything?

In: a conclusion, the formulas it was derived from, and the conclusions admitted so far. Out: findings; none means
progress. Equivalence, not spelling, decides, so a model earns nothing for A ∧ B, (A ∧ B) ∧ A, ¬¬A and so on. If the
oracle cannot decide whether two formulas are equivalent, the action makes no progress.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proof_r1_formal.engine.fingerprint import fingerprints_differ, single
from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.engine.truth_table import SemanticKey, semantic_key
from proof_r1_formal.kernel.answer import Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.report import Code, Finding


class AdmittedConclusions:
    """The conclusions admitted so far, found again by semantic key, or by fingerprint once one of them has no key."""

    def __init__(self) -> None:
        self._by_key: dict[SemanticKey | None, list[tuple[str, Formula]]] = {}
        self._by_fingerprint: dict[int, list[tuple[str, Formula]]] = {}
        self._waiting: list[tuple[str, Formula]] = []  # not yet entered by fingerprint

    def add(self, action_id: str, formula: Formula) -> None:
        """Remember an admitted conclusion."""
        self._by_key.setdefault(semantic_key(formula), []).append((action_id, formula))
        self._waiting.append((action_id, formula))

    def remove_last(self, formula: Formula) -> None:
        """Forget the conclusion that was added last, which is ``formula``."""
        key = semantic_key(formula)
        self._by_key[key].pop()
        if not self._by_key[key]:  # an entry for None says that some conclusion has no key
            del self._by_key[key]
        if self._waiting:
            self._waiting.pop()
        else:
            self._by_fingerprint[single(formula)].pop()

    def candidates(self, formula: Formula) -> Sequence[tuple[str, Formula]]:
        """The admitted conclusions that may be equivalent to ``formula``, with the ids of their actions."""
        key = semantic_key(formula)
        if key is not None and None not in self._by_key:
            return self._by_key.get(key, ())
        for name, admitted in self._waiting:
            self._by_fingerprint.setdefault(single(admitted), []).append((name, admitted))
        self._waiting.clear()
        alike = self._by_fingerprint.get(single(formula), ())
        return [(name, admitted) for name, admitted in alike if not fingerprints_differ(formula, admitted)]


def progress_findings(
    conclusion: Formula,
    dependencies: Mapping[str, Formula],
    admitted: AdmittedConclusions,
    oracle: Oracle,
    *,
    exempt: str | None = None,
) -> tuple[Finding, ...]:
    """Why the conclusion is not progress; empty if it is.

    Args:
        conclusion: of the action.
        dependencies: id -> formula, those that resolve.
        admitted: conclusions of earlier admitted actions.
        oracle: answers the questions of equivalence.
        exempt: id of a dependency that the conclusion may be equivalent to (a quantifier negation's principal premise).
    """
    answer = oracle.valid(conclusion)
    if not isinstance(answer, Refuted):
        return (_finding(answer, Code.TAUTOLOGY, "the conclusion is a tautology"),)
    for name, formula in dependencies.items():
        if name != exempt:
            answer = oracle.equivalent(conclusion, formula)
            if not isinstance(answer, Refuted):
                restates = f"the conclusion only restates its dependency {name}"
                return (_finding(answer, Code.RESTATES_DEPENDENCY, restates, name),)
    for name, formula in admitted.candidates(conclusion):
        if name != exempt:
            answer = oracle.equivalent(conclusion, formula)
            if not isinstance(answer, Refuted):
                return (_finding(answer, Code.REPEATS_CONCLUSION, f"the conclusion repeats that of {name}", name),)
    return ()


def _finding(answer: Entailed | Unknown, code: Code, message: str, *names: str) -> Finding:
    """The finding on progress after an answer other than a clear no."""
    if isinstance(answer, Entailed):
        return Finding(code, message, names)
    undecided = f"whether {message} stayed undecided ({answer.reason})"
    return Finding(Code.PROGRESS_UNDECIDED, undecided, names, broken=answer.reason is Reason.BROKEN)
