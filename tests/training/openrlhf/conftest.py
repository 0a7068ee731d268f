"""Tests of the engine ``openrlhf``, in the environment that ``make setup-openrlhf`` makes: ``make test-openrlhf``.

Elsewhere nothing here is collected, and nothing here imports what only that environment has.
"""

from __future__ import annotations

import runpy
import sys
from argparse import Namespace
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = find_spec("openrlhf") is not None
collect_ignore_glob = ["engine.py", "rank.py"] if HERE else ["*.py"]

CONFIGS = Path(__file__).resolve().parents[3] / "training" / "experiments"


@pytest.fixture(scope="session")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of problems that one step solves."""
    from training.experiments.problems import write_one_step

    path = tmp_path_factory.mktemp("problems") / "one-step.jsonl"
    write_one_step(path)
    return path


@pytest.fixture(scope="session")
def warmed_up(tmp_path_factory: pytest.TempPathFactory, problems: Path) -> Path:
    """The folder of a small model that has learned these problems well enough to be read."""
    import torch
    from rich.console import Console

    from training.common.display import Display
    from training.config import read_config
    from training.local.trainer import train

    torch.set_num_threads(1)
    output = tmp_path_factory.mktemp("warm-up") / "run"
    with Display(Console(quiet=True)) as display:
        finished = train(
            read_config(CONFIGS / "engines-warm-up.yaml", [f"output={output}", f"data.train=[{problems}]"]), display
        )
    assert finished.model is not None
    return finished.model


@pytest.fixture(scope="session")
def configured(problems: Path, warmed_up: Path) -> Callable[[Path], Path]:
    """Writes the configuration of two steps from that model to a folder, where the run is, too."""

    def written(folder: Path) -> Path:
        from training.config import read_config, write_config

        places = [f"data.{name}=[{problems}]" for name in ("train", "evaluation")]
        changes = [f"output={folder / 'run'}", f"model.path={warmed_up}", *places]
        file = folder / "config.yaml"
        file.write_text(write_config(read_config(CONFIGS / "engines-run.yaml", changes)))
        return file

    return written


@pytest.fixture
def given(tmp_path: Path, configured: Callable[[Path], Path]) -> Path:
    """The configuration in a folder of its own."""
    return configured(tmp_path)


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
