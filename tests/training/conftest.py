"""A small policy that has learned the examples by heart, made once for all tests of the engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from rich.console import Console

from proof_r1_formal import Problem, read_problems
from proof_r1_formal.cli import main
from training.common.display import Display
from training.common.tasks import Task, make_tasks
from training.config import Config, read_config
from training.local.model import Policy, load_policy
from training.local.trainer import train

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "problems.jsonl"

WARM_UP = f"""
method: sft
output: OUTPUT
tensorboard: false
model:
  scratch: {{vocabulary: 560, layers: 2, heads: 2, width: 48, hidden: 96}}
  lora: null
  dtype: float32
  device: cpu
  threads: 1
data: {{train: [{EXAMPLES}], evaluation: [{EXAMPLES}], prompt: short, epochs: 1000}}
rollout: {{samples: 4, temperature: 1.0, top_p: 1.0, max_prompt_tokens: 512, max_response_tokens: 256, parallel: 32}}
batch: {{problems: 4, mini: 4, micro: 8}}
optimiser: {{steps: 60, learning_rate: 5e-3}}
evaluation: {{every: 0, at_start: false, problems: 6, samples: 2, temperature: 1.0, top_p: 1.0}}
checkpoint: {{every: 0}}
"""


@pytest.fixture(scope="session")
def warmed_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the run that taught the examples; the policy is in its folder ``model``."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("warm-up")
    file = folder / "config.yaml"
    file.write_text(WARM_UP)
    with Display(Console(quiet=True)) as display:
        finished = train(read_config(file, [f"output={folder / 'run'}"]), display)
    assert finished.model is not None
    return folder / "run"


@pytest.fixture(scope="session")
def configured(warmed_up: Path) -> Callable[[Path], Config]:
    """Makes a run of three steps of ``proof_r1`` from that policy, in a folder."""

    def run_in(folder: Path) -> Config:
        file = folder / "given.yaml"
        file.write_text(WARM_UP)
        changes = [
            "method=proof_r1",
            f"output={folder / 'run'}",
            "model.scratch=null",
            f"model.path={warmed_up / 'model'}",
            "batch={problems: 3, mini: 3, micro: 4}",
            "optimiser={steps: 3, learning_rate: 1e-3}",
            "evaluation.every=2",
            "checkpoint.every=1",
        ]
        return read_config(file, changes)

    return run_in


@pytest.fixture
def config(configured: Callable[[Path], Config], tmp_path: Path) -> Config:
    """That run, in a folder of its own."""
    return configured(tmp_path)


@pytest.fixture
def policy(config: Config, warmed_up: Path) -> Policy:
    """That policy, with a frozen reference."""
    return load_policy(config.model, warmed_up / "model")


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def proof_r1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process, which has imported PyTorch already; gives what a process would."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # main() sets it

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["proof-r1", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return subprocess.CompletedProcess(arguments, code if isinstance(code, int) else 0, *capsys.readouterr())

    return run


@pytest.fixture
def display() -> Display:
    """Says nothing."""
    return Display(Console(quiet=True))


@pytest.fixture
def problems() -> list[Problem]:
    """The examples, all of which have an answer and a proof but one."""
    return list(read_problems(EXAMPLES).values())


@pytest.fixture
def tasks(policy: Policy, config: Config, problems: list[Problem]) -> tuple[Task, ...]:
    """The examples as tasks."""
    return make_tasks(problems, policy.tokenizer, config.data, max_prompt_tokens=512).tasks
