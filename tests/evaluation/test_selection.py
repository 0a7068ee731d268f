"""Best of K by evidence: the choice itself, and how good it is said to be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.evaluation.selection import Candidate, Choice, best, choice_shares, most_frequent

YES, NO = "h_goal_true", "h_goal_false"

CANDIDATES = st.lists(
    st.builds(Candidate, st.integers(0, 9), st.sampled_from([YES, NO, None]), st.booleans(), st.integers(0, 4)),
    min_size=1,
    max_size=7,
    unique_by=lambda one: one.sample,
)


def test_the_shortest_certified_proof_outvotes_the_others() -> None:
    many = [
        Candidate(0, NO, False, 2),
        Candidate(1, NO, False, 1),
        Candidate(2, YES, True, 5),
        Candidate(3, YES, True, 3),
    ]
    assert best(many).sample == 3
    assert most_frequent([*many, Candidate(4, NO, False, 9)]).sample == 0


def test_without_evidence_votes_count_and_silence_does_not() -> None:
    silent = Candidate(0, None, False, 0)
    assert best([silent, Candidate(1, None, False, 0), Candidate(2, NO, False, 1)]).sample == 2
    assert best([silent]) == silent
    assert best([Candidate(3, NO, False, 1), Candidate(1, YES, False, 1)]).sample == 1  # a tie: what came first


@given(CANDIDATES)
def test_the_choice_is_a_candidate_whatever_their_order(many: list[Candidate]) -> None:
    chosen = best(many)
    assert chosen in many
    assert chosen.certified == any(one.certified for one in many)
    assert best(list(reversed(many))) == chosen
    if chosen.answer is None and not chosen.certified:
        assert all(one.answer is None for one in many)


def test_the_shares_of_right_choices() -> None:
    def samples(*answers: str, certified: int | None = None) -> list[Candidate]:
        return [Candidate(n, answer, n == certified, 1) for n, answer in enumerate(answers)]

    shares = choice_shares(
        [
            (YES, samples(NO, NO, YES, certified=2)),  # evident
            (YES, samples(NO, NO, YES)),  # outvoted
            (NO, samples(YES, NO, NO)),  # agreed
            (NO, samples(YES, certified=0)),  # mislabelled
            (None, samples(YES, certified=0)),  # without a label
        ]
    )
    assert {choice: (share.numerator, share.denominator) for choice, share in shares.items()} == {
        Choice.CERTIFIED: (3, 5),
        Choice.CERTIFIED_RIGHT: (1, 2),
        Choice.EVIDENCE: (2, 4),
        Choice.VOTE: (1, 4),
        Choice.FIRST: (0, 4),
        Choice.ANY: (3, 4),
    }
    assert all(share.value == share.numerator / share.denominator for share in shares.values())
