"""A run from one file: ``proof-r1 train``, first a warm-up, then reinforcement learning from its model."""

from __future__ import annotations

import fcntl
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proof_r1_formal import ProofR1Error, write_problems
from proof_r1_formal.evaluation.drawing import can_draw
from tests.build import ROOT, Run

pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")
pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]

WARM_UP = """
method: sft
prompt: question
max_steps: 2
per_device_train_batch_size: 2
report_to: none
"""
LEARN = """
method: proof_r1
preset: hardened
prompt: question
max_steps: 2
per_device_train_batch_size: 4
num_generations: 2
max_completion_length: 24
report_to: none
logging_steps: 1
save_steps: 2
"""


@pytest.fixture
def files(known: list[Any], taught: Path, tmp_path: Path) -> Path:
    """A folder with both configurations and their problems, one of which cannot be read."""
    write_problems(tmp_path / "problems.jsonl", [one.problem for one in known])
    with (tmp_path / "problems.jsonl").open("a") as file:
        file.write('{"id": "broken"}\n')
    for name, text, model in (("warm-up", WARM_UP, taught), ("learn", LEARN, tmp_path / "warm-up" / "model")):
        more = {"model_name_or_path": str(model), "output_dir": str(tmp_path / name)}
        more |= {"problems": [str(tmp_path / "problems.jsonl")]}  # type: ignore[dict-item]
        lines = [f"{key}: {json.dumps(value)}" for key, value in more.items()]
        (tmp_path / f"{name}.yaml").write_text("\n".join([text, *lines]))
    return tmp_path


def started(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``proof-r1 train`` in a process of its own, which takes seconds to import PyTorch and TRL."""
    command = [sys.executable, "-m", "proof_r1_formal", "train", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_two_files_train_a_model(run: Run, files: Path) -> None:
    """The warm-up and the continued run are processes of their own: the latter knows nothing but the folder."""
    warmed = started(files, "--config", "warm-up.yaml")
    assert warmed.returncode == 0, warmed.stderr[-2000:]
    assert "3 demonstrations; prompts of" in warmed.stderr
    assert "1 left out: cannot be read (" in warmed.stderr
    assert (files / "warm-up" / "model" / "tokenizer.json").exists()

    planned = run("train", "--config", "learn.yaml", "--dry-run", folder=files)
    assert planned.status == 0, planned.stderr[-2000:]
    assert planned.stdout.startswith("3 problems; prompts of")
    assert (
        "a generation batch has 2 problems × 2 completions\n2 updates; the data allow 6 in 3 epochs\n" in planned.stdout
    )
    assert "GiB with gradients and Adam" in planned.stdout
    assert not (files / "learn").exists()

    done = run("train", "--config", "learn.yaml", folder=files)
    assert done.status == 0, done.stderr[-2000:]
    assert "proof/signal" in done.stdout
    assert re.search(r"\rupdate 1 of 2: right \d+\.\d %, verified \d.*tokens/s, \d+ s left$", done.stderr, re.MULTILINE)
    assert (files / "learn" / "model" / "model.safetensors").exists()
    again = started(files, "--config", "learn.yaml", "max_steps=4")
    assert again.returncode == 0, again.stderr[-2000:]
    state = json.loads((files / "learn" / "checkpoint-4" / "trainer_state.json").read_text())
    assert [entry["step"] for entry in state["log_history"]] == [1, 2, 3, 4]
    assert re.findall(r"^update (\d) of 4: ", again.stderr, re.MULTILINE) == ["3", "4"]  # it resumed
    drawn = sorted(path.name for path in (files / "learn").glob("curves/*"))
    themes = [f"training{theme}.{kind}" for theme in ("", "-dark") for kind in ("svg", "png")]
    assert drawn == (sorted(themes) if can_draw() else [])
    if drawn:
        curves = (files / "learn" / "curves" / "training.svg").read_text(encoding="utf-8")
        for label in (
            "right (share of completions)",
            "shares of signals",
            "KL to the reference (nats)",
            "silent groups (share)",
            "entropy",
        ):
            assert label in curves


def test_a_dry_run_says_its_plan_and_writes_nothing(files: Path) -> None:
    from proof_r1_formal.cli import app

    done = CliRunner().invoke(app, ["train", "--config", str(files / "warm-up.yaml"), "--dry-run", "max_steps=3"])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("3 demonstrations; prompts of")
    assert "\n3 updates; " in done.stdout
    assert not (files / "warm-up").exists()


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("warm-up", ["--prompt", "long"], "prompt must be one of full, paper, question, short, and is 'long'"),
        ("warm-up", ["--strict", "true"], "a problem cannot be used, and strict is set"),
        ("warm-up", ["--max_prompt_tokens", "3"], "3 left out: the prompt is longer than 3 tokens"),
        ("warm-up", ["--problems", "problems.jsonl", "problems.jsonl"], "is in another file, too"),
        ("learn", ["--loss_type", "dapo"], "loss_type must be 'dr_grpo' and is 'dapo'"),
        ("learn", ["--model_name_or_path", "MODEL", "--method", "gropo"], "no method that learns from rollouts"),
        ("learn", ["--model_name_or_path", "MODEL", "--preset", "hard"], "no preset is named 'hard'"),
        ("learn", ["--model_name_or_path", "MODEL", "--rules", "all"], "'all'"),
        ("learn", [], "no tokenizer can be loaded"),
        ("none", [], "No such file"),
    ],
)
def test_wrong_files_are_said(
    files: Path, taught: Path, file: str, change: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    from proof_r1_formal.integrations.trl_run import read_run

    with pytest.raises(ProofR1Error) as refused:
        read_run(files / f"{file}.yaml", [str(taught) if word == "MODEL" else word for word in change])
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("learn", ["method=nope"], "no method that learns from rollouts is named 'nope'"),
        ("learn", ["preset=nope"], "no preset is named 'nope'"),
        ("learn", ["rules=nope"], "no rule catalogue 'nope'"),
        ("warm-up", ["rules=nope"], "no rule catalogue 'nope'"),
        ("learn", ["prompt=nope"], "prompt must be one of full, paper, question, short, and is 'nope'"),
        ("learn", ["problems=nope.jsonl"], "nope.jsonl: the file cannot be read: No such file or directory"),
        ("learn", ["evaluation=."], ".: the file cannot be read: Is a directory"),
    ],
)
def test_names_and_files_are_checked_before_the_tokenizer_is_loaded(
    files: Path, file: str, changes: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tokenizer of the Hub is asked for over the network."""
    from proof_r1_formal.cli import app
    from proof_r1_formal.integrations import trl_run

    def load(model: str) -> Any:
        raise AssertionError(f"the tokenizer of {model} is loaded")

    monkeypatch.chdir(files)
    monkeypatch.setattr(trl_run, "load_tokenizer", load)
    arguments = ["train", "--config", f"{file}.yaml", "model_name_or_path=some/model", *changes]
    refused = CliRunner().invoke(app, arguments).exception
    assert isinstance(refused, ProofR1Error)
    assert str(refused).startswith(message)


def test_a_wrong_value_is_one_error_with_its_field(files: Path, run: Run) -> None:
    done = run("train", "--config", "learn.yaml", "learning_rate=abc", folder=files)
    assert done.status == 2
    assert done.stderr.splitlines()[-1] == "error: learning_rate: invalid float value: 'abc'"
    assert "usage" not in done.stdout + done.stderr
    file = files / "learn.yaml"
    text = file.read_text()
    file.write_text(f"{text}\nsave_total_limit: many\n")
    done = run("train", "--config", "learn.yaml", folder=files)
    assert done.stderr.splitlines()[-1] == "error: learn.yaml: save_total_limit: invalid int value: 'many'"
    file.write_text(re.sub("^problems.*", "", text, flags=re.MULTILINE))
    done = run("train", "--config", "learn.yaml", folder=files)
    assert "learn.yaml: the following arguments are required: --problems" in done.stderr
    assert "usage" not in done.stderr


def test_an_unknown_field_is_an_error(files: Path) -> None:
    from proof_r1_formal.integrations.trl_run import read_run

    file = files / "learn.yaml"
    file.write_text(file.read_text() + "\nlearning_rat: 1\n")
    with pytest.raises(ProofR1Error, match="learning_rat"):
        read_run(file, [])


def test_a_change_of_the_method_counts(files: Path, taught: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of the method sft, which has other settings."""
    from proof_r1_formal.integrations.trl import ProofConfig
    from proof_r1_formal.integrations.trl_run import read_run

    monkeypatch.chdir(files)
    changes = ["--model_name_or_path", str(taught), "--method", "sft", "--method", "proof_r1", "--num_generations", "2"]
    settings = read_run(files / "warm-up.yaml", changes).settings
    assert isinstance(settings, ProofConfig)
    assert settings.method == "proof_r1"


def test_two_runs_in_one_folder_are_refused(run: Run, files: Path) -> None:
    (files / "warm-up").mkdir()
    with (files / "warm-up" / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run("train", "--config", "warm-up.yaml", folder=files)
    assert done.status == 2
    assert "run.lock: another run is writing this file; wait for it, or name another output" in done.stderr


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "examples" / "trl").glob("*.yaml")))
def test_the_example_files_can_be_used(
    name: str, taught: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proof_r1_formal.integrations.trl_plan import describe
    from proof_r1_formal.integrations.trl_run import read_run

    monkeypatch.chdir(ROOT)
    here = ["--model_name_or_path", str(taught), "--output_dir", str(tmp_path)]
    here += [word for field in ("problems", "evaluation") for word in (f"--{field}", "examples/problems.jsonl")]
    lines = list(describe(read_run(ROOT / "examples" / "trl" / f"{name}.yaml", [*here, "--max_prompt_tokens", "2000"])))
    assert any("TFLOP an update" in line for line in lines)
    assert any("of the adapter are trained" in line for line in lines) == name.endswith("lora")
    assert lines[0].startswith("6 demonstrations; " if name.startswith("warm-up") else "6 problems; ")
    assert sum(line.startswith(lines[0][:10]) for line in lines) == 2, "those of training, and those of evaluation"
    assert lines[-1].startswith(tuple("0123456789")) and " in all" in lines[-1], "the measured time"


@pytest.mark.parametrize(("dtype", "gradients"), [("float32", 16), ("float16", 14), ("bfloat16", 14)])
def test_the_memory_of_a_plan_by_hand(
    dtype: str, gradients: int, files: Path, taught: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes of each weight: Adam's two averages and the gradient in float32, and the weight itself."""
    from transformers import LlamaConfig

    from proof_r1_formal.integrations.trl_plan import _memory
    from proof_r1_formal.integrations.trl_run import read_run

    monkeypatch.chdir(files)
    change = ["--model_name_or_path", str(taught), "--dtype", dtype, "--gradient_accumulation_steps", "3"]
    run = read_run(files / "learn.yaml", [*change, "--max_completion_length", "512"])
    config = LlamaConfig(
        num_hidden_layers=16, num_attention_heads=8, num_key_value_heads=2, hidden_size=1024, vocab_size=2**17
    )
    weights, reference, cache, logits = list(_memory(run, config, 2**30, 2**30, 1024))
    assert weights.endswith(f" weights: {gradients}.0 GiB with gradients and Adam in float32")
    assert reference.startswith("4.0 GiB of the reference model")
    # keys and values: 16 layers, 2 heads of 128 numbers of 4 bytes, 1,024 tokens of 4 · 3 rows
    assert cache.startswith(f"{2 * 16 * 2 * 128 * 4 * 1024 * 12 / 2**30:.1f} GiB of keys and values for 1024 tokens")
    assert logits == "2.0 GiB of logits and their gradient for 4 rows of 512 tokens"


@pytest.mark.parametrize(
    ("trained", "checkpointing", "operations"), [(10**9, "false", 24), (10**9, "true", 32), (10**6, "false", 16)]
)
def test_the_operations_of_a_plan_by_hand(
    trained: int, checkpointing: str, operations: int, files: Path, taught: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two for each of 10⁹ weights and 4,000 tokens, in three passes; with checkpointing four, for an adapter two."""
    from proof_r1_formal.integrations.trl_plan import _arithmetic
    from proof_r1_formal.integrations.trl_run import read_run

    monkeypatch.chdir(files)
    change = ["--model_name_or_path", str(taught), "--gradient_checkpointing", checkpointing]
    said = _arithmetic(read_run(files / "learn.yaml", change), 10**9, trained, 1000, 4)
    assert said.startswith(f"{operations} TFLOP an update for each process, ")


def test_a_machine_without_an_accelerator_trains_on_its_cpu(
    files: Path, taught: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In float32, unless the file or a change says otherwise."""
    import torch

    from proof_r1_formal.integrations.trl_run import read_run

    monkeypatch.chdir(files)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    run = read_run(files / "learn.yaml", ["--model_name_or_path", str(taught)])
    assert (run.settings.use_cpu, run.settings.bf16) == (True, False)
    for name in ("warm-up", "learn"):
        file = files / f"{name}.yaml"
        file.write_text(f"{file.read_text()}\nbf16: true\n")
        assert read_run(file, ["--model_name_or_path", str(taught)]).settings.bf16
    run = read_run(files / "learn.yaml", ["--model_name_or_path", str(taught), "--bf16", "false"])
    assert not run.settings.bf16
