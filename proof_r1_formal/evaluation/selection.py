"""Best of K by evidence: select a certified one of several answers to a problem.

In: the candidates of a problem, none of which knows the right answer. Out: the one that is chosen. Where the premises
have a model no two certified answers contradict each other, so any will do, and the one with the least proof is taken.
Where none is certified, the answer that most candidates give is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proof_r1_formal.evaluation.measures import Estimate


@dataclass(frozen=True, slots=True)
class Candidate:
    """A completion of a problem.

    Attributes:
        sample: its number.
        answer: id of the option that it selects; None if it selects none.
        certified: whether the answer has a certificate, see :func:`~proof_r1_formal.proof.certify.certify`.
        steps: actions in its closure.
    """

    sample: int
    answer: str | None
    certified: bool
    steps: int


def best(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate selected by evidence; among equals the first sample.

    Args:
        candidates: at least one.
    """
    certified = [one for one in candidates if one.certified]
    if certified:
        return min(certified, key=lambda one: (one.steps, one.sample))
    return most_frequent(candidates)


def most_frequent(candidates: Sequence[Candidate]) -> Candidate:
    """The first candidate with the answer that most of them give; the first of all if none gives an answer.

    Args:
        candidates: at least one.
    """
    ordered = sorted(candidates, key=lambda one: one.sample)
    votes = Counter([one.answer for one in ordered if one.answer is not None])
    if not votes:
        return ordered[0]
    ((winner, _),) = votes.most_common(1)  # of answers with as many votes the one that came first
    return next(one for one in ordered if one.answer == winner)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Accuracy of the selection over many problems, with the baselines of comparison.

    Attributes:
        certified: problems with a certified candidate / problems.
        certified_right: right choices / those problems.
        by_evidence: right choices / problems with a reference answer.
        by_vote: right most frequent answers / the same.
        first: right first samples / the same.
        possible: problems with a right candidate / the same.
    """

    certified: Estimate
    certified_right: Estimate
    by_evidence: Estimate
    by_vote: Estimate
    first: Estimate
    possible: Estimate


class Selection:
    """Collects candidates, and computes the accuracy of the selection."""

    def __init__(self) -> None:
        self._candidates: defaultdict[str, list[Candidate]] = defaultdict(list)
        self._right: dict[str, str | None] = {}

    def add(self, problem_id: str, right: str | None, candidate: Candidate) -> None:
        """Note a candidate; ``right`` is the reference answer of the problem, if it has one."""
        self._candidates[problem_id].append(candidate)
        self._right[problem_id] = right

    def chosen(self) -> Chosen:
        """The shares of right choices."""
        judged = {of: found for of, found in self._candidates.items() if self._right[of] is not None}
        evident = {of: found for of, found in judged.items() if any(one.certified for one in found)}

        def right(problem_id: str, choice: Candidate) -> bool:
            return choice.answer == self._right[problem_id]

        return Chosen(
            certified=_share(any(one.certified for one in found) for found in self._candidates.values()),
            certified_right=_share(right(of, best(found)) for of, found in evident.items()),
            by_evidence=_share(right(of, best(found)) for of, found in judged.items()),
            by_vote=_share(right(of, most_frequent(found)) for of, found in judged.items()),
            first=_share(right(of, min(found, key=lambda one: one.sample)) for of, found in judged.items()),
            possible=_share(any(right(of, one) for one in found) for of, found in judged.items()),
        )


def _share(hits: Iterable[bool]) -> Estimate:
    counted = list(hits)
    return Estimate(sum(counted) / len(counted) if counted else 0.0, sum(counted), len(counted))
