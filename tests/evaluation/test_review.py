"""Review: which steps are drawn and what is shown of them, how replies are read, and agreement worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.evaluation.measures import Estimate
from proof_r1_formal.evaluation.plots import review_pictures
from proof_r1_formal.evaluation.review import (
    Level,
    Reviewed,
    Stratum,
    Verdict,
    agreement,
    cohen,
    read_judgement,
    review_chat,
    review_tables,
    reviewable,
    stratified,
)
from proof_r1_formal.evaluation.tables import to_markdown
from proof_r1_formal.proof.verify import Verifier
from tests import build
from tests.build import action, completion

PREMISES = ("wet(lawn) → slow(race)", "wet(lawn)", "slow(race) → late(cup)")
PROBLEM = build.problem(*PREMISES, goal="late(cup)", answer=None, id="race/1", difficulty="easy")
PROOF = completion(
    action("s1", "slow race", "h1", "h2"),
    action("s2", "late(cup)", "s1", "h3", rule="MODUS_TOLLENS"),
    action("s3", "wet(lawn)", "h1", "h3", rule="MODUS_TOLLENS"),
    action("s4", "wet(lawn)", "s3", rule="MODUS_TOLLENS"),  # rests on s3
    action("s5", "wet(lawn", "h1", rule="MODUS_TOLLENS"),  # not a formula
)
REPORT = Verifier().verify(PROBLEM, PROOF)
VALID, INVALID, UNCERTAIN = Verdict


def test_which_steps_are_reviewed_and_how() -> None:
    found = list(reviewable("ours", {PROBLEM.id: PROBLEM}, [REPORT]))
    assert [(one.action, one.stratum) for one in found] == [
        (0, Stratum("ours", Level.RULE_VERIFIED, "easy")),
        (1, Stratum("ours", Level.ENTAILED, "easy")),
        (2, Stratum("ours", Level.NOT_ENTAILED, "easy")),
    ]
    assert found[1].dependencies == ("slow(race)", "slow(race) → late(cup)")
    assert found[1].name == "ours: race/1, sample 0, step 2"


def test_the_reviewer_sees_the_formulas_of_a_step_only() -> None:
    step = list(reviewable("ours", {PROBLEM.id: PROBLEM}, [REPORT]))[1]
    system, user = [message["content"] for message in review_chat(step)]
    assert user.splitlines() == ["Given:", "- slow(race)", "- slow(race) → late(cup)", "", "Conclusion:", "- late(cup)"]
    for hidden in ("MODUS", "race/1", "ours", "s1", "h3", "easy", "wet(lawn)", Level.ENTAILED.value):
        assert hidden not in system + user


def test_sorts_are_shown() -> None:
    """The verifier asks about things of a sort, so the reviewer is asked about them, too."""
    problem = build.problem("∀x:Cat purrs(x)", goal="∃x:Cat purrs(x)")
    step = action("s1", "∃y:Cat purrs(y)", "h1", rule="UNIVERSAL_ELIMINATION")
    report = Verifier().verify(problem, completion(step))
    [shown] = reviewable("ours", {problem.id: problem}, [report])
    assert (shown.dependencies, shown.conclusion) == (("∀x:Cat purrs(x)",), "∃y:Cat purrs(y)")


@given(
    st.dictionaries(
        st.sampled_from([Stratum("s", level, d) for level in Level for d in "ab"]), st.integers(1, 9), min_size=1
    ),
    st.integers(0, 40),
)
def test_strata_are_drawn_from_as_evenly_as_they_can_be(sizes: dict[Stratum, int], size: int) -> None:
    steps = [Reviewed("p", n, 0, stratum, (), "A") for stratum, count in sizes.items() for n in range(count)]
    steps = [Reviewed(f"p{number}", one.sample, 0, one.stratum, (), "A") for number, one in enumerate(steps)]
    drawn = stratified(steps, size, seed=1)
    assert drawn == stratified(list(reversed(steps)), size, seed=1)
    assert len(set(drawn.steps)) == len(drawn.steps) == min(size, len(steps))
    assert drawn.sizes == sizes
    taken = {stratum: sum(one.stratum == stratum for one in drawn.steps) for stratum in sizes}
    for stratum, count in taken.items():  # whoever gave less than another by more than one gave all that it had
        if count + 1 < max(taken.values()):
            assert count == sizes[stratum]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"verdict": "valid", "reason": "modus ponens"}', VALID),
        ('<think>{"verdict": "valid", "reason": ""}</think>\n{"verdict": "invalid", "reason": "a"}', INVALID),
        ('At first {"verdict": "valid", "reason": "x"}, but {"verdict": "uncertain", "reason": "{y}"}', UNCERTAIN),
        ('```json\n{"reason": "r", "verdict": "invalid"}\n```', INVALID),
        ('{"verdict": "perhaps", "reason": "x"}', None),
        ('{"verdict": "valid"}', None),
        ("It is valid.", None),
        ("{" * 5000, None),
        ("", None),
    ],
)
def test_the_last_judgement_of_a_reply_counts(text: str, verdict: Verdict | None) -> None:
    found = read_judgement(text)
    assert (None if found is None else found.verdict) is verdict


@given(st.text(alphabet='{}[]":, verdictalone\\'))
def test_no_reply_breaks_the_reader(text: str) -> None:
    assert read_judgement(text) is None or '"verdict"' in text


VERIFIED, REFUTED = Stratum("a", Level.RULE_VERIFIED, "easy"), Stratum("a", Level.NOT_ENTAILED, "easy")
OPEN = Stratum("b", Level.UNDECIDED, "hard")
SAID = [
    *[(VERIFIED, VALID), (VERIFIED, INVALID)],
    *[(REFUTED, INVALID)] * 3,
    *[(REFUTED, UNCERTAIN), (REFUTED, None), (OPEN, VALID)],
]
"""90 verified and 10 refuted steps, of which 2 and 4 are judged, and one that is undecided."""


def test_agreement_by_hand() -> None:
    """Of the many that are verified, each judged one has more weight; what is undecided agrees with nothing."""
    found = agreement({VERIFIED: 90, REFUTED: 10, OPEN: 3}, SAID)
    assert (found.raw.numerator, found.raw.denominator) == (4, 6)
    assert found.weighted.value == pytest.approx((90 * 1 / 2 + 10 * 3 / 4) / 100)
    assert found.unjudged == 1
    assert found.confusion() == {
        ("valid", "valid"): 1,
        ("valid", "invalid"): 1,
        ("invalid", "invalid"): 3,
        ("invalid", "uncertain"): 1,
        ("uncertain", "valid"): 1,
    }
    assert found.confusion("b") == {("uncertain", "valid"): 1}
    expected = (2 / 6 * 1 / 6) + (4 / 6 * 4 / 6)  # both say valid, both say invalid, by chance
    assert found.kappa == pytest.approx((4 / 6 - expected) / (1 - expected))
    expected = (0.9 * 0.45) + (0.1 * 0.525)
    assert found.weighted_kappa == pytest.approx((0.525 - expected) / (1 - expected))


def test_the_tables_have_the_columns_of_the_paper() -> None:
    found = agreement({VERIFIED: 90, REFUTED: 10, OPEN: 3}, SAID)
    first, confusion, strata = review_tables(found, "a <b>reviewer</b>")
    assert [cell for cell in first.rows[0] if isinstance(cell, int)] == [8, 2, 4, 1, 1, 4, 6]
    assert confusion.rows[0] == ("a", "valid", 1, 1, 0)
    assert strata.rows[0][:9] == ("a", "entailed, an instance of its rule", "easy", 90, 2, 1, 1, 0, 45.0)
    assert [row[8:] for row in strata.rows] == [
        (45.0, Estimate(0.5, 1, 2)),
        (2.5, Estimate(0.75, 3, 4)),
        (3.0, Estimate(0.0, 0, 1)),
    ]
    (row,) = review_tables(agreement({OPEN: 3}, [(OPEN, None)]), "r")[2].rows
    assert row[8:] == (None, Estimate(0.0, 0, 0))
    text = to_markdown(first)
    assert "66.7 | 52.5" in text
    assert "<b>" not in text
    assert list(review_pictures(found, "m")) == ["review-1-a", "review-2-b"]


def test_chance_agreement_is_none() -> None:
    assert cohen({(VALID, VALID): 1, (VALID, INVALID): 1, (INVALID, VALID): 1, (INVALID, INVALID): 1}) == 0.0
    assert cohen({(VALID, VALID): 3, (INVALID, INVALID): 2}) == 1.0
    assert cohen({(VALID, INVALID): 1, (INVALID, VALID): 1}) == -1.0
    assert cohen({(VALID, VALID): 3}) is None
    assert cohen({}) is None
    assert agreement({}, []).kappa is None
