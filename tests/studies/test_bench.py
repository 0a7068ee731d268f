"""``make bench`` on made traces: what it writes, and that one measurement leaves the others as they are."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proof_r1_formal import write_problems
from studies.bench.traces import generated
from studies.bench.verification import main

TRACES = [generated(actions=actions) for actions in (3, 5)]


@pytest.fixture
def collector() -> Iterator[None]:
    """The program sets how often garbage is collected, for all that it compares."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The traces as the folder of benchmark data has them."""
    (tmp_path / "llm_outputs").mkdir()
    file = tmp_path / "llm_outputs" / "docailab_proverqa_golden_450.jsonl"
    write_problems(file, [one.problem for one in TRACES])
    lines = []
    for one in TRACES:
        difficulty, _, number = one.problem.id.partition("/")
        record = {"difficulty": difficulty, "problem_id": number, "response": one.completion, "kind": "golden"}
        lines.append(json.dumps(record) + "\n")
    (tmp_path / "reference_verdicts.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def test_one_measurement_is_written_and_the_others_stay(
    data: Path, tmp_path: Path, collector: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "performance.json"
    out.write_text('{"kernel_evidence": "of before"}', encoding="utf-8")
    options = ("--out", str(out), "--rounds", "1", "--only", "throughput_reference_traces")
    monkeypatch.setattr(sys, "argv", ["bench", str(data), *options])
    main()
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["kernel_evidence"] == "of before"
    found = written["throughput_reference_traces"]
    assert (found["traces"], found["actions"]) == (2, 3 + 1 + 5 + 1)
    assert 0 < found["share_of_reading_and_parsing"] < 1
