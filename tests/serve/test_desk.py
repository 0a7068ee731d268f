"""Jobs: their results are what the library says, and nothing that a client writes makes one fail otherwise."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.serve.desk import certify, do, reward, verify
from proof_r1_formal.serve.messages import RefusalError
from tests.build import completion
from tests.serve.asking import RECORD


def actions(count: int) -> str:
    return completion(*[{"id": f"s{number}"} for number in range(count)])


def test_the_number_of_actions_is_bounded() -> None:
    assert verify(RECORD, actions(3), most=3)
    assert verify(RECORD, "a, b, c, d, e, f" + actions(3), most=3)
    for job in (
        lambda: verify(RECORD, actions(4), most=3),
        lambda: reward(RECORD, actions(4), rules="train", reward="sound", most=3),
        lambda: certify(RECORD, actions(4), rules="train", by_kernel=False, most=3),
    ):
        with pytest.raises(RefusalError) as refused:
            do(job)
        sent = pickle.loads(pickle.dumps(refused.value))
        assert (sent.status, sent.code) == (422, "too_many_actions")
        assert sent.message == "a completion of 4 actions; at most 3 are checked"


def test_a_fault_of_ours_is_in_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        do(lambda: 1 // 0)
    assert "test_desk.py" in capfd.readouterr().err


@given(st.text(), st.text())
def test_any_text_has_a_result(problem: str, actions: str) -> None:
    text = f"<summary>{actions}</summary>"
    assert verify(RECORD, text, rules="folio", evaluation=False)
    with pytest.raises(ProofR1Error):
        verify(problem, text)
