"""Tests of the engine ``openrlhf``, in the environment that ``make setup-openrlhf`` makes: ``make test-openrlhf``.

Elsewhere nothing here is collected, and nothing here imports what only that environment has.
"""

from __future__ import annotations

import runpy
import sys
from argparse import Namespace
from collections.abc import Callable
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import pytest

HERE = find_spec("openrlhf") is not None
collect_ignore_glob = ["engine.py", "rank.py"] if HERE else ["*.py"]

ROOT = Path(__file__).resolve().parents[3]

WARM_UP = """
method: sft
output: OUTPUT
tensorboard: false
model:
  scratch: {vocabulary: 768, layers: 2, heads: 2, width: 64, hidden: 256}
  lora: null
  dtype: float32
  device: cpu
  threads: 1
data: {train: [PROBLEMS], prompt: short, epochs: 1000, checked: false}
rollout: {max_prompt_tokens: 192, max_response_tokens: 64}
batch: {problems: 16, mini: 16, micro: 16}
optimiser: {steps: 150, learning_rate: 5e-3, warm_up_steps: 20, betas: [0.9, 0.98]}
evaluation: {every: 0, at_start: false}
checkpoint: {every: 0}
"""

RUN = """
method: proof_r1
output: OUTPUT
tensorboard: true
model: {path: MODEL, lora: {rank: 8, alpha: 16}, device: cpu}
data: {train: [PROBLEMS], evaluation: [PROBLEMS], prompt: short, epochs: 10}
rollout:
  {samples: 4, temperature: 1.0, top_p: 1.0, max_prompt_tokens: 192, max_response_tokens: 64, parallel: 32}
batch: {problems: 4, mini: 4, micro: 4, epochs: 2}
optimiser: {steps: 2, learning_rate: 1e-3}
evaluation: {every: 0, at_start: false, problems: 8, samples: 1, temperature: 0.0, top_p: 1.0}
checkpoint: {every: 1}
cluster: {gpus: 1, engines: 1, together: false, memory: 0.1, attention: sdpa, packing: false}
"""


@pytest.fixture(scope="session")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of problems that one step solves."""
    from proof_r1_formal import write_problems
    from proof_r1_formal.data.problem import FALSE, TRUE
    from proof_r1_formal.generate import GeneratorSettings, generate_problems
    from training.experiments.plan import SEEN
    from training.experiments.problems import in_order_of_use

    settings = GeneratorSettings(seed=77, steps=(1, 1), distractors=(0, 0), answers=(TRUE, FALSE), vocabulary=SEEN)
    path = tmp_path_factory.mktemp("problems") / "one-step.jsonl"
    write_problems(path, [in_order_of_use(one.problem) for one in islice(generate_problems(settings), 160)])
    return path


@pytest.fixture(scope="session")
def warmed_up(tmp_path_factory: pytest.TempPathFactory, problems: Path) -> Path:
    """The folder of a small model that has learned these problems well enough to be read."""
    import torch
    from rich.console import Console

    from training.config import read_config
    from training.local.display import Display
    from training.local.trainer import train

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("warm-up")
    file = folder / "config.yaml"
    file.write_text(WARM_UP.replace("PROBLEMS", str(problems)).replace("OUTPUT", str(folder / "run")))
    with Display(Console(quiet=True)) as display:
        finished = train(read_config(file), display)
    assert finished.model is not None
    return finished.model


@pytest.fixture
def given(tmp_path: Path, problems: Path, warmed_up: Path) -> Path:
    """The configuration of two steps from that model, in a folder of its own."""
    text = RUN.replace("MODEL", str(warmed_up)).replace("PROBLEMS", str(problems))
    file = tmp_path / "config.yaml"
    file.write_text(text.replace("OUTPUT", str(tmp_path / "run")))
    return file


class _Parsed(Exception):  # noqa: N818 (it is no error: OpenRLHF has come as far as it should)
    def __init__(self, arguments: Namespace) -> None:
        self.arguments = arguments
        super().__init__()


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], Namespace]:
    """OpenRLHF's own reading of its command line, with all that it checks before it starts."""

    def reading(command: list[str]) -> Namespace:
        from training.openrlhf.cpu import install

        install()
        import openrlhf.utils
        import ray

        def stop(arguments: Namespace) -> None:
            raise _Parsed(arguments)

        monkeypatch.setattr(ray, "is_initialized", lambda: True)
        monkeypatch.setattr(openrlhf.utils, "get_strategy", stop)
        _, _, module, *flags = command
        monkeypatch.setattr(sys, "argv", [module, *flags])
        with pytest.raises(_Parsed) as found:
            runpy.run_module(module, run_name="__main__")
        return found.value.arguments

    return reading
