"""Sampling, agents, repair and review against ``transformers serve``, a server of others, with a model of noise."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner, Result

from proof_r1_formal import Completion, read_completions, read_problems
from proof_r1_formal.cli import app
from tests.patience import PATIENCE

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROBLEMS = EXAMPLES / "problems.jsonl"
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """A server on this machine, as the options that name it and its model."""
    folder = copytree(tiny_model, tmp_path_factory.mktemp("served") / "tiny")
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "from transformers.cli.transformers import main; main()"
    command = [sys.executable, "-c", code, "serve", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder.parent / "hub")}
    log = folder.parent / "log"
    with log.open("wb") as said:
        process = subprocess.Popen([*command, "--device", "cpu"], env=environment, stdout=said, stderr=said)
    try:
        _wait(f"http://127.0.0.1:{port}/health", process, log)
        # it does not know of stream_options; it lists only models of the hub, so this one is named
        yield ("--model", f"http://127.0.0.1:{port}/v1", "--name", str(folder), "--extra", '{"stream_options": null}')
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urlopen(url):
                return
        except URLError:
            assert process.poll() is None and time.monotonic() < end, log.read_text(errors="replace")
            time.sleep(0.1)


def run(command: str, served: tuple[str, ...], *arguments: str) -> Result:
    return CliRunner().invoke(app, [command, "--problems", str(PROBLEMS), *served, "--max-tokens", "6", *arguments])


@pytest.mark.parametrize("method", ["direct", "logic-agent", "graph-of-verification"])
def test_every_method_solves_and_repairs(method: str, served: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    result = run("sample", served, "--out", str(out), "--k", "1", "--method", method, "--repair")
    assert result.exit_code == 0, result.output
    found = [one for one in read_completions(out) if isinstance(one, Completion)]
    assert [one.problem_id for one in found] == list(read_problems(PROBLEMS))
    calls = {"direct": 1, "logic-agent": 6, "graph-of-verification": 3}[method]
    for one in found:
        assert one.completion
        assert one.cost is not None
        assert one.cost.calls == calls + 1  # noise needs repair
        assert one.cost.tokens == 6 * one.cost.calls
        assert one.cost.prompt_tokens and one.cost.seconds


def test_guided_sampling_continues_a_text(served: tuple[str, ...], tmp_path: Path) -> None:
    """This server has a template, and continues no message."""
    out = tmp_path / "c.jsonl"
    result = run("sample", served, "--out", str(out), "--k", "1", "--method", "guided")
    assert result.exit_code == 0, result.output
    assert "guided by continuing answers through /completions" in result.output
    found = [one for one in read_completions(out) if isinstance(one, Completion)]
    assert [one.problem_id for one in found] == list(read_problems(PROBLEMS))
    for one in found:
        assert one.cost is not None
        assert one.cost.tokens is not None
        assert 1 <= one.cost.tokens <= 6


def test_what_the_server_offers_is_found(served: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    result = run("sample", served, "--out", str(out), "--k", "1", "--constrain", "auto")
    assert result.exit_code == 0, result.output
    assert "the endpoint keeps to no constraint that is known here" in result.output


def test_a_review_writes_what_came_of_every_step(served: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "review"
    completions = str(EXAMPLES / "completions.jsonl")
    result = run("review", served, "--completions", completions, "--out", str(out), "--n", "4")
    assert result.exit_code == 1, result.output  # noise judges nothing
    assert "0 of 4 steps were judged" in result.output
    judged = [json.loads(line) for line in (out / "judgements.jsonl").read_text("ascii").splitlines()]
    assert [(one["judgement"], one["reason"]) for one in judged] == [(None, "the reply holds no judgement")] * 4
    assert len((out / "calls.jsonl").read_text("ascii").splitlines()) == 4
