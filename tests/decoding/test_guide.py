"""Verification of a text that grows: which steps stay, which are taken back, and where the summary begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal import Problem, Verifier
from proof_r1_formal.decoding.guide import Commit, Guide, Rollback, Watch
from proof_r1_formal.generate import completion, summary
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.proof.report import Code
from proof_r1_formal.proof.verify import VerifierSession
from tests.build import example_problems

VERIFIER = Verifier(evaluation=False)
PROVED = [problem for problem in example_problems().values() if problem.proofs]


def watch(problem: Problem, *, tries: int = 4, keep: bool = True) -> Watch:
    return Watch(Guide(VerifierSession(problem, VERIFIER), tries=tries, keep=keep))


def followed(watch: Watch, text: str) -> list[Commit | Rollback]:
    """What is seen of a text that comes one character at a time."""
    found: list[Commit | Rollback] = []
    for end in range(1, len(text) + 1):
        while (seen := watch.look(text[:end])) is not None:
            found.append(seen)
            if isinstance(seen, Rollback):
                return found
    return found


@pytest.mark.parametrize("problem", PROVED, ids=lambda problem: str(problem.id))
def test_a_right_proof_stays_and_ends_with_its_answer(problem: Problem) -> None:
    text = completion(problem, problem.proofs[0])
    fenced = text.replace("<summary>", "<summary>\n```json\n")
    for said, whole in ((text, text), (fenced, fenced.replace("]</summary>", "]\n```\n</summary>"))):
        *steps, last = followed(watch(problem), said)
        assert steps == [Commit(None)] * (len(problem.proofs[0]) - 1)
        assert last == Commit(whole)
        assert VERIFIER.verify(problem, whole).rule_verified


def test_a_step_that_fails_is_taken_back_with_its_reason() -> None:
    problem = PROVED[0]
    wrong = summary(problem.proofs[0]).replace('"conclusion": "', '"conclusion": "¬', 1)
    its = watch(problem, tries=1, keep=False)
    (seen,) = followed(its, wrong)
    assert isinstance(seen, Rollback)
    assert wrong[seen.begin] == "{"
    assert wrong[seen.end - 1] == "}"
    assert seen.findings[0].code is Code.NOT_ENTAILED
    assert "the dependencies do not entail the conclusion" in seen.remark
    assert not seen.over
    assert its.guide.session.state.steps == ()
    (again,) = followed(its, wrong)
    assert isinstance(again, Rollback)
    assert again.over


def test_a_step_that_fails_too_often_stays() -> None:
    problem = PROVED[0]
    wrong = summary(problem.proofs[0]).replace('"conclusion": "', '"conclusion": "¬', 1)
    its = watch(problem, tries=1)
    assert isinstance(followed(its, wrong)[0], Rollback)
    assert followed(its, wrong)[0] == Commit(None)


@pytest.mark.parametrize("marks", ["<think> </think>", "[THINK] [/THINK]", "<seed:think> </seed:think>"])
def test_a_draft_in_thoughts_is_followed_and_forgotten(marks: str) -> None:
    opening, closing = marks.split()
    problem = PROVED[0]
    steps = summary(problem.proofs[0])
    draft = steps[: steps.index("}") + 1]
    its = watch(problem)
    seen = followed(its, f"{opening}{draft}, and so on.{closing}{steps}")
    assert seen[0] == Commit(None)
    assert len(seen) == 1 + len(problem.proofs[0])
    assert isinstance(seen[-1], Commit)
    assert seen[-1].answer is not None
    assert seen[-1].answer.endswith(steps)
    assert VERIFIER.verify(problem, seen[-1].answer).rule_verified
    assert len(its.guide.session.state.steps) == len(problem.proofs[0])


def test_a_draft_in_a_channel_is_not_followed() -> None:
    steps = summary(PROVED[0].proofs[0])
    thoughts = f"<|channel|>analysis<|message|>{steps}<|end|><|start|>assistant"
    assert followed(watch(PROVED[0]), thoughts) == []
    seen = followed(watch(PROVED[0]), f"{thoughts}<|channel|>final<|message|>{steps}")
    assert len(seen) == len(PROVED[0].proofs[0])


@pytest.mark.parametrize("text", ["", "{}", "<summary>", "<summary>{}", "<summary>[", "<summary>[]</summary>", "[{}]"])
def test_there_may_be_no_step(text: str) -> None:
    assert followed(watch(PROVED[0]), text) == []


BLANKS = ("", " ", "\n", "\t", "\u00a0", "\f", "\u2028", "x")
FENCES = ("", "```\n", "```json\n", "```json\r\n", "\n```JSON  \n", "```a b\n", "```é\n", "````\n", "\u00a0```json\n")
ELEMENT = '{"id": "%s", "dependencies": ["h1"], "conclusion": "p", "rule": "MODUS_PONENS"}'


@given(
    st.sampled_from(BLANKS),
    st.sampled_from(FENCES),
    st.sampled_from(BLANKS),
    st.sampled_from(BLANKS),
    st.lists(st.sampled_from([",", ", ", "\n,\n", ",,", " ", "", ",\u00a0", "\f,", "];", ",1,"]), max_size=3),
)
def test_what_is_kept_is_what_the_reader_reads(
    before: str, fence: str, after: str, inside: str, separators: list[str]
) -> None:
    elements = [ELEMENT % f"s{number}" for number in range(len(separators) + 1)]
    array = "".join(part for pair in zip(elements, [*separators, ""], strict=True) for part in pair)
    text = f"<summary>{before}{fence}{after}[{inside}{array}"
    its = watch(PROVED[0], tries=0)
    kept = [seen for seen in followed(its, text) if isinstance(seen, Commit)]
    if its.start is not None:
        closing = "\n```\n</summary>" if "`" in text else "</summary>"
        trace = read_completion(f"{text[: its.start]}]{closing}")
        assert trace.parsed
        assert len(trace.actions) == len(kept)
    whole = read_completion(f"{text}]</summary>" if not fence else f"{text}]\n```</summary>")
    if whole.parsed:
        assert len(kept) == len(whole.actions)
    else:
        assert len(kept) < len(elements) + separators.count(",1,")


@pytest.mark.parametrize("separator", [" ", ",,", ", ,", ",]", "x"])
def test_a_wrong_separator_is_taken_back(separator: str) -> None:
    text = f"<summary>[{ELEMENT % 's1'}{separator}{ELEMENT % 's2'}"
    its = watch(PROVED[0], tries=0)
    first, second = followed(its, text)
    assert isinstance(first, Commit)
    assert isinstance(second, Rollback)
    assert [finding.code for finding in second.findings] == [Code.MALFORMED]
    assert second.over
    assert text[: its.start] == f"<summary>[{ELEMENT % 's1'}"
