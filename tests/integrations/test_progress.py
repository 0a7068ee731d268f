"""The line of progress: what it shows, and what it says of a run that was resumed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("transformers", reason="transformers is not installed")
progress = pytest.importorskip("proof_r1_formal.integrations.progress")

VERDICTS = {"loss": 0.1, "proof/right": 0.12, "proof/verified": 0.095, "proof/RVR": 0.4182, "num_tokens": 5240}


def test_a_line_shows_verdicts_speed_and_time() -> None:
    line = progress.progress_line(40, 100, VERDICTS, speed=1310.4, left=180)
    assert line == "update 40 of 100: right 12.0 %, verified 9.5 %, RVR 41.8 %, 1,310 tokens/s, 3 min left"


def test_a_line_without_verdicts_shows_the_loss() -> None:
    line = progress.progress_line(1, 2250, {"loss": "1.23456"}, speed=None, left=None)
    assert line == "update 1 of 2,250: loss 1.235"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (9000, "2.5 h")]
)
def test_times_are_in_words(seconds: float, words: str) -> None:
    assert progress.duration(seconds) == words


def lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], first: int, *entries: tuple[int, int, int]
) -> list[str]:
    """The lines of a run from an update on; an entry is a time, an update and a number of tokens."""
    now = 0.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    state = SimpleNamespace(global_step=first, max_steps=10, is_world_process_zero=True)
    line = progress.ProgressLine()
    line.on_train_begin(None, state, None)
    for now, state.global_step, tokens in entries:  # noqa: B007 (the clock reads it)
        line.on_log(None, state, None, logs=VERDICTS | {"num_tokens": tokens})
        line.on_log(None, state, None, logs={"eval_loss": 1.0})
    return [text.split("%, ")[-1] for text in capsys.readouterr().err.splitlines() if text]


def test_speed_and_time_count_from_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = lines(monkeypatch, capsys, 0, (10, 2, 1000), (20, 4, 3000))
    assert shown == ["100 tokens/s, 40 s left", "150 tokens/s, 30 s left"]


def test_a_resumed_run_counts_what_it_did_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = lines(monkeypatch, capsys, 5, (10, 6, 9000), (20, 7, 9500))
    assert shown == ["40 s left", "50 tokens/s, 30 s left"]
