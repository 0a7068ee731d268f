"""Tests of the engine ``openrlhf``, in the environment that ``make setup-openrlhf`` makes: ``make test-openrlhf``.

Elsewhere nothing here is collected, and nothing here imports what only that environment has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import Problem, read_problems, write_problems
from proof_r1_formal.generate import GeneratorSettings, generate_problems, summary
from proof_r1_formal.generate.vocabulary import Person, Predicate, Vocabulary
from proof_r1_formal.models.prompts import text_prompt
from tests.build import save, teach, tiny_model

collect_ignore_glob = [] if find_spec("openrlhf") else ["*.py"]
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # the modules without_gpu… have names of their own in Ray's workers
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
    known = read_problems(problems).values()
    pairs = [(text_prompt(one, english=False), summary(proof)) for one in known for proof in one.proofs]
    folder = tmp_path_factory.mktemp("warm-up") / "model"
    texts = [text for pair in pairs for text in pair]
    model, tokenizer = tiny_model(folder, texts, vocabulary=768, width=64, hidden=256, family="Llama")
    assert teach(model, tokenizer, pairs, steps=150, rate=5e-3, size=16) < 0.3
    save(model, tokenizer, folder)
    return folder


@pytest.fixture(scope="session")
def configured(problems: Path, warmed_up: Path) -> Callable[[Path], Path]:
    """Writes the configuration of three steps from that model to a folder, where the run is, too."""

    def written(folder: Path) -> Path:
        text = (HERE / "run.yaml").read_text().replace("PROBLEMS", str(problems)).replace("MODEL", str(warmed_up))
        file = folder / "config.yaml"
        file.write_text(text.replace("OUTPUT", str(folder / "run")))
        return file

    return written


@pytest.fixture
def given(tmp_path: Path, configured: Callable[[Path], Path]) -> Path:
    """The configuration in a folder of its own."""
    return configured(tmp_path)


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """In which ``python -m without_gpu`` and what it starts find their modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parents[2])])}


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What OpenRLHF makes of a configuration and further flags, up to where Ray would start."""

    def reading(file: Path, *flags: str, say: Callable[[str], None] = lambda line: None) -> Any:
        from without_gpu import install

        install()
        import ray
        from openrlhf.utils import config

        from training.openrlhf.__main__ import read_settings, run

        taken: list[Any] = []
        hierarchize = config.hierarchize

        def take(flat: Any) -> Any:
            taken.append(hierarchize(flat))
            return taken[0]

        monkeypatch.setattr(config, "hierarchize", take)
        monkeypatch.setattr(ray, "init", ray.init)  # put back afterwards
        monkeypatch.setattr(sys, "argv", sys.argv)
        settings, of_file = read_settings(file)
        run(settings, [*of_file, *flags], say=say, dry=True)
        (found,) = taken
        return found

    return reading
