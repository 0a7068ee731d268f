"""The log: what is written is read, for people, too."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from proof_r1_formal import ProofR1Error
from training.common.display import Display, summary
from training.common.logs import EvaluationRecord, ImitationRecord, Log, Record, Score, Seconds, read_log

pytestmark = pytest.mark.usefixtures("closed")

NAMES = ("Avg", "Pass", "FVR", "RVR", "Right and verified", "RGD")


def imitation(step: int) -> ImitationRecord:
    return ImitationRecord(
        step=step,
        epoch=0,
        learning_rate=1e-3,
        demonstrations=8,
        left_out=1,
        tokens=100,
        loss=1.0 / step,
        gradient_norm=2.0,
        seconds=Seconds(update=0.5, total=1.0),
        memory=0.0,
    )


EVALUATION = EvaluationRecord(
    step=2,
    problems=3,
    samples=1,
    scores={name: Score(0.25, None) for name in NAMES},
    signal=0.5,
    actions=2.0,
    closure=1.0,
    broken=0,
    tokens=40.0,
    seconds=1.5,
)
RECORDS: tuple[Record, ...] = (imitation(1), imitation(2), EVALUATION)


def write(folder: Path, records: tuple[Record, ...], *, size: int = 0, step: int = 0) -> list[int]:
    """Write records; returns the size of the log after each."""
    with Log(folder, size=size, step=step, tensorboard=True) as log:
        sizes = []
        for record in records:
            log.write(record)
            sizes.append(log.size)
        return sizes


def test_records_are_read_back(tmp_path: Path) -> None:
    write(tmp_path, RECORDS)
    assert tuple(read_log(tmp_path / "log.jsonl")) == RECORDS


def test_what_is_after_a_checkpoint_is_told_again(tmp_path: Path) -> None:
    first, *_ = write(tmp_path, RECORDS)
    write(tmp_path, (imitation(2), imitation(3)), size=first, step=1)
    assert [record.step for record in read_log(tmp_path / "log.jsonl")] == [1, 2, 3]


def test_tensorboard_has_the_numbers(tmp_path: Path) -> None:
    write(tmp_path, RECORDS)
    board = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in board.Scalars("imitation/loss")] == [(1, 1.0), (2, 0.5)]
    assert [(event.step, event.value) for event in board.Scalars("evaluation/scores/RVR/value")] == [(2, 0.25)]
    assert "imitation/seconds/update" in board.Tags()["scalars"]


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    with pytest.raises(ProofR1Error, match="cannot be read"):
        list(read_log(file))
    file.write_text('{"kind": "nothing"}\n')
    with pytest.raises(ProofR1Error, match="line 1: this is not a record"):
        list(read_log(file))


@pytest.mark.parametrize("terminal", [True, False])
def test_people_see_steps_and_scores(terminal: bool) -> None:
    console = Console(record=True, width=200, force_terminal=terminal, file=StringIO())
    with Display(console) as display:
        display.start("sft", done=0, total=2)
        for record in RECORDS:
            display.show(record)
    said = console.export_text()
    assert "evaluation after 2 steps: Avg 0.250" in said
    assert "loss 0.500, 8 demonstrations" in said


def test_summaries() -> None:
    assert summary(imitation(2)) == "step 2: loss 0.500, 8 demonstrations, 1.0 s"
