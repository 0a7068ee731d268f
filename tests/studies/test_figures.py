"""The method's figures of a study: the numbers that they show, systems without answers, names that matplotlib reads."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from proof_r1_formal.data.completions import Completion, write_completions
from proof_r1_formal.errors import DataError
from proof_r1_formal.evaluation.definition import Key, read_study
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.study_tables import Results
from studies import figures

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ALL, SILENT = Key("$x_{$", "<b>", "all"), Key("$x_{$", "<b>", "silent")
SYSTEM = "[[systems]]\nbackbone = '<b>'\nmethod = '{0}'\ncompletions = {{ '$x_{{$' = '{1}' }}\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The examples, and a system that never answers; the data set has a name that TeX would not read."""
    write_completions(tmp_path / "silent.jsonl", [Completion(problem_id="garden/1", completion="I do not know.")])
    systems = SYSTEM.format("all", EXAMPLES / "completions.jsonl") + SYSTEM.format("silent", "silent.jsonl")
    path = tmp_path / "study.toml"
    path.write_text(f"[datasets.'$x_{{$']\nproblems = '{EXAMPLES / 'problems.jsonl'}'\n{systems}", encoding="utf-8")
    return path


def test_the_numbers_are_those_of_the_scores(study: Path) -> None:
    results: Results = figures.assessments(read_study(study))
    group = results[ALL].metrics.overall
    answers, steps = figures.answer_shares(group), figures.step_shares(group)
    assert [sum(answers.values()), sum(steps.values())] == pytest.approx([100, 100])
    assert answers["wrong or none"] == pytest.approx(100 * (1 - group.scores[Measure.AVG].value))
    by_rules = group.scores[Measure.RULE_VERIFIED].value
    assert answers["right, every step an instance of its rule"] == pytest.approx(100 * by_rules)
    assert figures.length_ratios(results) == {ALL: group.scores[Measure.LENGTH_RATIO].value, SILENT: 0.0}
    assert [rvr.value for rvr, _ in figures.points(results).values()][1:] == [0.0]  # as the paper defines


def test_the_command_draws_each_figure_twice(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["figures", str(study), str(study.parent / "out")])
    figures.main()
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert {path.stem for path in paths} == {"accuracy-rvr", "shares", "length-ratios", "confusion-1-b-all"}
    for path in paths:
        assert path.read_bytes().startswith(b"\x89PNG" if path.suffix == ".png" else b"%PDF")


def test_a_line_that_is_no_completion_of_the_study_is_refused(study: Path) -> None:
    (study.parent / "silent.jsonl").write_text('{"problem_id": "other", "completion": ""}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 1: 'other' is not a usable problem"):
        figures.assessments(read_study(study))
