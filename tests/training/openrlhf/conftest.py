"""Tests of the engine ``openrlhf``, in the environment that ``make setup-openrlhf`` makes: ``make test-openrlhf``.

Elsewhere nothing here is collected, and nothing here imports what only that environment has.
"""

from __future__ import annotations

import runpy
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import pytest

from proof_r1_formal import Problem, write_problems
from proof_r1_formal.generate import GeneratorSettings, generate_problems
from proof_r1_formal.generate.vocabulary import Person, Predicate, Vocabulary

HERE = find_spec("openrlhf") is not None
collect_ignore_glob = ["engine.py", "rank.py"] if HERE else ["*.py"]

CONFIGS = Path(__file__).resolve().parent
NAMES = ("Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jo", "Kit", "Lea")
WORDS = ("able", "bold", "brave", "calm", "clever", "cool", "fair", "fit", "glad", "keen", "kind")
VOCABULARY = Vocabulary(
    people=tuple([Person(name, "they") for name in NAMES]),
    themes=(tuple([Predicate("be", word) for word in WORDS]),),
    traits=(),
)
"""Short names and predicates of one word: short sequences."""


@pytest.fixture(scope="session")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of problems that one step solves."""
    settings = GeneratorSettings(
        seed=77, steps=(1, 1), distractors=(0, 0), answers=("True", "False"), vocabulary=VOCABULARY
    )
    path = tmp_path_factory.mktemp("problems") / "one-step.jsonl"
    write_problems(path, [in_order_of_use(one.problem) for one in islice(generate_problems(settings), 160)])
    return path


def in_order_of_use(problem: Problem) -> Problem:
    """The problem without its English, its premises in the order in which its proof uses them.

    Where to look next is then a matter of where one was, which a small model learns soon.
    """
    used = list(dict.fromkeys([name for step in problem.proofs[0] for name in step.dependencies]))
    ordered = sorted(problem.premises, key=lambda one: used.index(one.id) if one.id in used else len(used))
    new = {premise.id: f"h{number}" for number, premise in enumerate(ordered, 1)}
    proofs = tuple(
        [
            tuple([replace(step, dependencies=tuple([new.get(d, d) for d in step.dependencies])) for step in proof])
            for proof in problem.proofs
        ]
    )
    premises = tuple([replace(premise, id=new[premise.id], text="") for premise in ordered])
    return replace(problem, premises=premises, question="", proofs=proofs)


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
            read_config(CONFIGS / "warm-up.yaml", [f"output={output}", f"data.train=[{problems}]"]), display
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
        file.write_text(write_config(read_config(CONFIGS / "run.yaml", changes)))
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
