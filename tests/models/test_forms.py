"""``sample --constrain`` and ``--method guided`` with a model in a folder that only knows how answers begin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from proof_r1_formal import Completion, Verifier, read_completions, read_problems
from proof_r1_formal.cli import app
from proof_r1_formal.errors import ProofR1Error
from tests.tiny_model import make_model, save

pytest.importorskip("llguidance", reason="llguidance is not installed (the extra [decoding])")
PROBLEMS = Path(__file__).resolve().parents[2] / "examples" / "problems.jsonl"
KNOWN = read_problems(PROBLEMS)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def beginner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that begins each answer with ``<summary>[`` and goes on at random."""
    import torch

    folder = tmp_path_factory.mktemp("beginner")
    texts = [*PROBLEMS.read_text(encoding="utf-8").splitlines(), *["\n\n<summary>["] * 200]
    model, tokenizer = make_model(folder, texts, vocabulary=400, width=32, hidden=64, layers=1)
    mixing = model.get_parameter("model.layers.0.self_attn.o_proj.weight")
    with torch.no_grad():  # each token depends on the one before it alone: that is soon learned
        mixing.zero_()
    ids = torch.tensor([tokenizer.encode("\n<summary>[")])
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.02)
    for _ in range(60):
        logits = model(input_ids=ids).logits[0, :-1]
        loss = torch.nn.functional.cross_entropy(logits, ids[0, 1:])
        loss.backward()
        mixing.grad = None
        optimiser.step()
        optimiser.zero_grad()
    assert loss.item() < 0.02
    save(model, tokenizer, folder)
    return folder


def sample(model: Path, out: Path, *arguments: str) -> Result:
    command = ["sample", "--problems", str(PROBLEMS), "--model", str(model), "--out", str(out), "--k", "2"]
    return CliRunner().invoke(app, [*command, "--temperature", "1", "--top-p", "1", "--max-tokens", "700", *arguments])


def read(path: Path) -> list[Completion]:
    return [one for one in read_completions(path) if isinstance(one, Completion)]


def calls(path: Path) -> list[dict[str, object]]:
    lines = path.with_name("c.calls.jsonl").read_text("ascii").splitlines()
    return [json.loads(line)["reply"] for line in lines]


def test_answers_keep_to_the_form(beginner: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    result = sample(beginner, out, "--constrain", "auto")
    assert result.exit_code == 0, result.output
    ended = [one for one in read(out) if one.completion.endswith("</summary>")]
    assert len(ended) > len(KNOWN)
    assert sum(reply["finish"] == "stop" for reply in calls(out)) == len(ended)
    for one in ended:
        report = Verifier().verify(KNOWN[one.problem_id], one.completion)
        assert report.parsed
        assert all(step.schema for step in report.actions)
    assert sample(beginner, tmp_path / "d.jsonl").exit_code == 0
    free = [Verifier().verify(KNOWN[one.problem_id], one.completion) for one in read(tmp_path / "d.jsonl")]
    assert not any(report.parsed for report in free)


@pytest.mark.parametrize(("feedback", "beam"), [("none", "1"), ("finding", "1"), ("none", "2")])
def test_a_guided_run_that_is_killed_goes_on_exactly(feedback: str, beam: str, beginner: Path, tmp_path: Path) -> None:
    """The journal is cut in the middle of a line, as a kill leaves it; then others are answered together."""
    out = tmp_path / "c.jsonl"
    arguments = ("--method", "guided", "--tries", "2", "--feedback", feedback, "--beam", beam)
    result = sample(beginner, out, *arguments, "--concurrency", "6")
    assert result.exit_code == 0, result.output
    first, journal = read(out), tmp_path / "c.calls.jsonl"
    replies = calls(out)
    assert any(reply.get("trials") for reply in replies)
    for one in first:
        assert one.cost is not None
        assert one.cost.tokens is not None
        assert one.cost.tokens <= 700
    taken = [trial for reply in replies for trial in reply.get("trials", [])]  # type: ignore[attr-defined]
    assert all(trial["tokens"] > 0 and trial["findings"] for trial in taken)
    data = journal.read_bytes()
    journal.write_bytes(data[: data.index(b"\n", len(data) // 2) + 100])
    out.unlink()
    again = sample(beginner, out, *arguments, "--concurrency", "3")
    assert again.exit_code == 0, again.output
    assert "stored replies were reused" in again.output
    assert [one.completion for one in read(out)] == [one.completion for one in first]
    tokens = [[one.cost.tokens for one in some if one.cost is not None] for some in (read(out), first)]
    assert tokens[0] == tokens[1]


def test_a_json_schema_is_for_endpoints(beginner: Path, tmp_path: Path) -> None:
    with pytest.raises(ProofR1Error, match="use --constrain grammar"):
        raise sample(beginner, tmp_path / "c.jsonl", "--constrain", "json").exception or AssertionError
