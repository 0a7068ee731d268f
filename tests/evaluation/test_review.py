"""Review: which steps are drawn and what is shown of them, how replies are read, and agreement worked out by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.data.problem import Premise, Problem, three_way_options
from proof_r1_formal.evaluation.review import (
    Drawn,
    Judgement,
    Level,
    Reviewed,
    Stratum,
    Unjudged,
    Verdict,
    agreement,
    read_judgement,
    review,
    review_chat,
    review_picture,
    review_tables,
    reviewable,
    stratified,
)
from proof_r1_formal.evaluation.tables import to_markdown
from proof_r1_formal.models.chat import CallError, Message, Reply, Sampling
from proof_r1_formal.models.journal import Journal
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.text.parse import parse_formula

PREMISES = ("wet(lawn) → slow(race)", "wet(lawn)", "slow(race) → late(cup)")
PROBLEM = Problem(
    id="race/1",
    premises=tuple(Premise(f"h{n}", parse_formula(text)) for n, text in enumerate(PREMISES, 1)),
    options=three_way_options(parse_formula("late(cup)")),
    difficulty="easy",
)
ACTIONS = [
    {"id": "s1", "dependencies": ["h1", "h2"], "conclusion": "slow race", "rule": "IMPLICATION_ELIMINATION"},
    {"id": "s2", "dependencies": ["s1", "h3"], "conclusion": "late(cup)", "rule": "MODUS_TOLLENS"},
    {"id": "s3", "dependencies": ["h1", "h3"], "conclusion": "wet(lawn)", "rule": "MODUS_TOLLENS"},
    {"id": "s4", "dependencies": ["s3"], "conclusion": "wet(lawn)", "rule": "MODUS_TOLLENS"},  # rests on what is not
    {"id": "s5", "dependencies": ["h1"], "conclusion": "wet(lawn", "rule": "MODUS_TOLLENS"},  # no formula
]
REPORT = Verifier().verify(PROBLEM, f"<summary>{json.dumps(ACTIONS)}</summary>")


def step(number: int, level: Level, difficulty: str = "easy") -> Reviewed:
    return Reviewed("p", 0, number, Stratum(level, difficulty), ("p(a)",), "p(a)")


def test_which_steps_are_reviewed_and_how() -> None:
    found = list(reviewable({PROBLEM.id: PROBLEM}, [REPORT]))
    assert [(one.action, one.stratum.level) for one in found] == [
        (0, Level.RULE_VERIFIED),
        (1, Level.ENTAILED),
        (2, Level.NOT_ENTAILED),
    ]
    assert found[1].dependencies == ("slow race", "slow(race) → late(cup)")
    shown = "\n".join(message["content"] for message in review_chat(found[1]))
    for hidden in ("MODUS", "race/1", "s1", "h3", "easy", "wet(lawn)", Level.ENTAILED.value):
        assert hidden not in shown


@given(
    st.dictionaries(
        st.sampled_from([Stratum(level, d) for level in Level for d in "ab"]), st.integers(1, 9), min_size=1
    ),
    st.integers(0, 40),
)
def test_strata_are_drawn_from_as_evenly_as_they_can_be(sizes: dict[Stratum, int], size: int) -> None:
    steps = [Reviewed("p", n, 0, stratum, (), "A") for stratum, count in sizes.items() for n in range(count)]
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
        ('{"verdict": "valid", "reason": "modus ponens"}', Verdict.VALID),
        ('<think>{"verdict": "valid", "reason": ""}</think>\n{"verdict": "invalid", "reason": "a"}', Verdict.INVALID),
        (
            'At first {"verdict": "valid", "reason": "x"}, but {"verdict": "uncertain", "reason": "{y}"}',
            Verdict.UNCERTAIN,
        ),
        ('```json\n{"reason": "r", "verdict": "invalid"}\n```', Verdict.INVALID),
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


def test_agreement_by_hand() -> None:
    """90 verified and 10 refuted steps, of which 2 and 4 are judged: the many count for more."""
    verified, refuted = Stratum(Level.RULE_VERIFIED, "easy"), Stratum(Level.NOT_ENTAILED, "easy")
    steps = tuple([step(n, Level.RULE_VERIFIED) for n in range(2)] + [step(n, Level.NOT_ENTAILED) for n in range(2, 7)])
    said = [Verdict.VALID, Verdict.INVALID, Verdict.INVALID, Verdict.INVALID, Verdict.INVALID, Verdict.UNCERTAIN, None]
    judgements = {one: Unjudged("") if of is None else Judgement(of, "") for one, of in zip(steps, said, strict=True)}
    found = agreement(Drawn(steps, {verified: 90, refuted: 10}), judgements)
    assert (found.raw.numerator, found.raw.denominator) == (4, 6)
    assert found.weighted.value == pytest.approx((90 * 1 / 2 + 10 * 3 / 4) / 100)
    assert found.strata == {verified: (90, 2, 2, 1), refuted: (10, 5, 4, 3)}
    assert found.pairs == {
        (Verdict.VALID, Verdict.VALID): 1,
        (Verdict.VALID, Verdict.INVALID): 1,
        (Verdict.INVALID, Verdict.INVALID): 3,
        (Verdict.INVALID, Verdict.UNCERTAIN): 1,
    }
    text = "\n".join(map(to_markdown, review_tables(found, "a <b>reviewer</b>")))
    assert "| as judged | 66.7 |" in text
    assert "| weighted to all steps | 52.5 |" in text
    assert "<b>" not in review_picture(found, "a <b>reviewer</b>")


class Reviewer:
    """Says that everything is valid, after nonsense, and fails where it is told of the cup."""

    name = "agreeable"

    def __init__(self) -> None:
        self.calls = 0

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        self.calls += 1
        if "late" in chat[-1]["content"].partition("Conclusion")[2]:
            raise CallError("out of order", again=False)
        text = (
            "no idea"
            if "wet" in chat[-1]["content"].partition("Conclusion")[2]
            else '{"verdict": "valid", "reason": ""}'
        )
        return Reply(text=text, finish="stop", started=0.0, ended=0.0)


def test_each_step_is_judged_once_or_has_a_reason(tmp_path: Path) -> None:
    steps = list(reviewable({PROBLEM.id: PROBLEM}, [REPORT]))
    reviewer = Reviewer()
    for _ in range(2):
        with Journal(tmp_path / "journal.jsonl") as journal:
            found = asyncio.run(review(steps, reviewer, journal))
    assert [found[one] for one in steps] == [
        Judgement(Verdict.VALID, ""),
        Unjudged("out of order"),
        Unjudged("the reply holds no judgement"),
    ]
    assert reviewer.calls == 3 + 1  # the second time only the call that had failed
