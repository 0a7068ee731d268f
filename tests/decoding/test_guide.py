"""Verification of a text that grows: which steps stay, which are taken back, and where the summary begins."""

from __future__ import annotations

import pytest

from proof_r1_formal import Problem, Verifier, read_problems
from proof_r1_formal.decoding.guide import Guide, Kept, TakenBack, Watch
from proof_r1_formal.generate import completion, summary
from proof_r1_formal.proof.report import Code
from proof_r1_formal.proof.session import VerifierSession
from tests.decoding.conftest import EXAMPLES

VERIFIER = Verifier(evaluation=False)
PROVED = [problem for problem in read_problems(EXAMPLES).values() if problem.proofs]


def watch(problem: Problem, *, tries: int = 4, keep: bool = True) -> Watch:
    return Watch(Guide(VerifierSession(problem, VERIFIER), tries=tries, keep=keep))


def followed(watch: Watch, text: str) -> list[Kept | TakenBack]:
    """What is seen of a text that comes one character at a time."""
    found: list[Kept | TakenBack] = []
    for end in range(1, len(text) + 1):
        while (seen := watch.look(text[:end])) is not None:
            found.append(seen)
            if isinstance(seen, TakenBack):
                return found
    return found


@pytest.mark.parametrize("problem", PROVED, ids=lambda problem: str(problem.id))
def test_a_right_proof_stays_and_ends_with_its_answer(problem: Problem) -> None:
    text = completion(problem, problem.proofs[0])
    for given, whole in (
        (text, text),
        (text.replace("<summary>", "<summary>\n```json\n"), text.replace("<summary>", "<summary>\n```json\n")),
    ):
        *steps, last = followed(watch(problem), given)
        assert steps == [Kept(None)] * (len(problem.proofs[0]) - 1)
        assert isinstance(last, Kept)
        assert last.answer is not None
        assert last.answer == whole.replace("]</summary>", "]\n```\n</summary>" if "```" in whole else "]</summary>")
        assert VERIFIER.verify(problem, last.answer).rule_verified


def test_a_step_that_fails_is_taken_back_with_its_reason() -> None:
    problem = PROVED[0]
    wrong = summary(problem.proofs[0]).replace('"conclusion": "', '"conclusion": "¬', 1)
    its = watch(problem, tries=1, keep=False)
    (seen,) = followed(its, wrong)
    assert isinstance(seen, TakenBack)
    assert wrong[seen.begin] == "{"
    assert wrong[seen.end - 1] == "}"
    assert seen.findings[0].code is Code.NOT_ENTAILED
    assert "the dependencies do not entail the conclusion" in seen.remark
    assert not seen.over
    assert its.guide.session.state.steps == ()
    (again,) = followed(its, wrong)
    assert isinstance(again, TakenBack)
    assert again.over


def test_a_step_that_fails_too_often_stays() -> None:
    problem = PROVED[0]
    wrong = summary(problem.proofs[0]).replace('"conclusion": "', '"conclusion": "¬', 1)
    its = watch(problem, tries=1)
    assert isinstance(followed(its, wrong)[0], TakenBack)
    assert followed(its, wrong)[0] == Kept(None)


def test_a_draft_in_thoughts_is_followed_and_forgotten() -> None:
    problem = PROVED[0]
    steps = summary(problem.proofs[0])
    draft = steps[: steps.index("}") + 1]
    its = watch(problem)
    seen = followed(its, f"<think>{draft}, and so on.</think>{steps}")
    assert seen[0] == Kept(None)
    assert len(seen) == 1 + len(problem.proofs[0])
    assert isinstance(seen[-1], Kept)
    assert seen[-1].answer is not None
    assert seen[-1].answer.endswith(steps)
    assert VERIFIER.verify(problem, seen[-1].answer).rule_verified
    assert len(its.guide.session.state.steps) == len(problem.proofs[0])


@pytest.mark.parametrize("text", ["", "{}", "<summary>", "<summary>{}", "<summary>[", "<summary>[]</summary>", "[{}]"])
def test_there_may_be_no_step(text: str) -> None:
    assert followed(watch(PROVED[0]), text) == []
