"""Best of K by evidence: select a certified one of several answers to a problem.

In: the candidates of a problem, none of which knows the right answer. Out: the one that is chosen. Where the premises
have a model no two certified answers contradict each other, so any will do, and the one with the least proof is taken.
Where none is certified, the answer that most candidates give is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from proof_r1_formal.evaluation.measures import Estimate


@dataclass(frozen=True, slots=True)
class Candidate:
    """A completion of a problem.

    Attributes:
        sample: its number.
        answer: id of the option that it selects; None if it selects none.
        certified: whether the answer has a certificate, see :func:`~proof_r1_formal.assistants.certify.certify`.
        steps: actions in its closure.
    """

    sample: int
    answer: str | None
    certified: bool
    steps: int


def best(candidates: Sequence[Candidate]) -> Candidate:
    """Of one candidate or more, the one selected by evidence; among equals the first sample."""
    certified = [one for one in candidates if one.certified]
    return min(certified, key=lambda one: (one.steps, one.sample)) if certified else most_frequent(candidates)


def most_frequent(candidates: Sequence[Candidate]) -> Candidate:
    """The first candidate with the answer that most of them give; the first of all if none gives an answer."""
    ordered = sorted(candidates, key=lambda one: one.sample)
    votes = Counter([one.answer for one in ordered if one.answer is not None])
    if not votes:
        return ordered[0]
    ((winner, _),) = votes.most_common(1)  # of answers with as many votes the one that came first
    return next(one for one in ordered if one.answer == winner)


class Choice(StrEnum):
    """A share of problems; see the members' comments. The first two are about certificates, the others compare."""

    CERTIFIED = "certified"  # problems with a certified candidate / problems
    CERTIFIED_RIGHT = "certified and right"  # right choices / those problems, with a reference answer
    EVIDENCE = "by evidence"  # right choices / problems with a reference answer
    VOTE = "by vote"  # right most frequent answers / the same
    FIRST = "first sample"  # right first samples / the same
    ANY = "any sample"  # problems with a right candidate / the same


def choice_shares(problems: Sequence[tuple[str | None, Sequence[Candidate]]]) -> dict[Choice, Estimate]:
    """The shares of right choices over problems: of each its right answer, if it is known, and its candidates."""
    judged = [(answer, of) for answer, of in problems if answer is not None]
    return {
        Choice.CERTIFIED: _share(best(of).certified for _, of in problems),
        Choice.CERTIFIED_RIGHT: _share(best(of).answer == answer for answer, of in judged if best(of).certified),
        Choice.EVIDENCE: _share(best(of).answer == answer for answer, of in judged),
        Choice.VOTE: _share(most_frequent(of).answer == answer for answer, of in judged),
        Choice.FIRST: _share(min(of, key=lambda one: one.sample).answer == answer for answer, of in judged),
        Choice.ANY: _share(any(one.answer == answer for one in of) for answer, of in judged),
    }


def _share(hits: Iterable[bool]) -> Estimate:
    found = list(hits)
    return Estimate(sum(found) / len(found) if found else 0.0, sum(found), len(found))
