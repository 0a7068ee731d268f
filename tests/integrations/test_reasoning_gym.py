"""reasoning-gym itself: its scorers beside checked evidence, and our problems as one of its datasets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed: make test-integrations")

import reasoning_gym as gym

from proof_r1_formal import COMPLETE, Problem, ProofR1Error, Verifier, read_problems
from proof_r1_formal.data.native import from_json
from proof_r1_formal.data.problem import Rejected
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.integrations.reasoning_gym import NAME, ProofConfig
from proof_r1_formal.integrations.reasoning_gym_agreement import judge

pytestmark = pytest.mark.integration

FEW = {"propositional_logic": 40, "syllogism": 60, "knights_knaves": 15, "zebra_puzzles": 2, "circuit_logic": 15}
"""Task -> entries that are compared here; ``make gym`` compares 1,000 of each."""


def has_undistributed_middle(entry: dict[str, Any]) -> bool:
    """Whether neither premise of a syllogism speaks of all things of the middle term, so that nothing follows."""
    first, second = entry["metadata"]["premise1"], entry["metadata"]["premise2"]
    distributed = first.startswith("No") or " are not " in first or not second.startswith("Some")
    return entry["metadata"]["type"] == "syllogism" and not distributed


@pytest.mark.parametrize("task", FEW)
def test_the_scorer_accepts_what_evidence_shows(task: str) -> None:
    prover = Prover(Verifier(rules=COMPLETE), budget=5_000)
    dataset = gym.create_dataset(task, seed=11, size=FEW[task])
    usable = 0
    for number in range(FEW[task]):
        entry = dataset[number]
        found = judge(entry, number, dataset.score_answer, prover, with_proof=number < 4)
        fallacy = task == "syllogism" and entry["answer"] == "Yes" and has_undistributed_middle(entry)
        assert found.agreement == ("differ" if fallacy else "agree")
        if isinstance(found.problem, Problem):
            usable += 1
            assert len(found.problem.proofs) == (number < 4 and found.problem.answer not in (None, "h_goal_uncertain"))
    assert usable > FEW[task] / 2


def test_an_entry_that_contradicts_itself_is_rejected_by_its_number() -> None:
    entry = gym.create_dataset("propositional_logic", seed=1, size=1)[0]
    entry["metadata"]["premises"] = ["P", "¬P"]
    found = judge(entry, 7, lambda _answer, _entry: 1.0, Prover(Verifier(rules=COMPLETE), budget=5_000))
    assert isinstance(found.problem, Rejected)
    assert (found.problem.line, found.problem.reasons) == (8, ("the premises contradict each other",))


def test_settings_change_the_puzzles() -> None:
    small = gym.create_dataset("zebra_puzzles", seed=2, size=1, num_people=2, num_characteristics=7)
    found = judge(small[0], 0, small.score_answer, Prover(Verifier(rules=COMPLETE), budget=5_000))
    assert found.agreement == "agree"
    assert isinstance(found.problem, Problem)
    assert len(found.problem.options) == 2


# -- our dataset ------------------------------------------------------------------------------------------------------


def test_our_dataset_is_one_of_the_library() -> None:
    dataset = gym.create_dataset(NAME, seed=3, size=6, max_steps=3)
    entries = list(dataset)
    assert entries == [dataset[number] for number in range(6)]
    labels = set()
    for number, entry in enumerate(entries):
        problem = from_json(entry["metadata"]["problem"])
        assert not problem.is_uncertain
        labels.add(problem.answer)
        assert (entry["metadata"]["source_dataset"], entry["metadata"]["source_index"]) == (NAME, number)
        assert problem.question in entry["question"]
        assert dataset.score_answer(entry["answer"], entry) == 1.0
        other = next(option.id for option in problem.options if option.id != problem.answer)
        assert dataset.score_answer(entry["answer"].replace(f'"{problem.answer}"', f'"{other}"'), entry) < 0.3
        assert dataset.score_answer(problem.answer, entry) == dataset.score_answer(None, entry) == 0.0
    assert len(labels) > 1


def test_an_answer_uncertain_is_asked_for_and_scores_little() -> None:
    [entry] = gym.create_dataset(NAME, seed=3, size=1, answers=["Uncertain"])
    assert from_json(entry["metadata"]["problem"]).is_uncertain
    assert ProofConfig(answers=("Uncertain",)).answers == ("Uncertain",)
    dataset = gym.create_dataset(NAME, seed=3, size=1)
    assert dataset.score_answer(entry["answer"], entry) == 0.3
    with pytest.raises(ProofR1Error, match="those asked for are: 'Perhaps'"):
        gym.create_dataset(NAME, answers=["Perhaps"])


def test_a_mixture_has_our_dataset() -> None:
    from reasoning_gym.composite import DatasetSpec

    specs = [DatasetSpec(name=name, weight=1, config={}) for name in (NAME, "syllogism")]
    mixture = gym.create_dataset("composite", seed=1, size=8, datasets=specs)
    entries = [mixture[number] for number in range(8)]
    ours = [entry for entry in entries if entry["metadata"]["source_dataset"] == NAME]
    assert 0 < len(ours) < 8
    assert [mixture.score_answer(entry["answer"], entry) for entry in entries] == [1.0] * 8


def test_the_curriculum_makes_proofs_longer() -> None:
    curriculum = gym.factory.create_curriculum(NAME)
    first = curriculum.generate_configuration({"seed": 1})
    curriculum.increment_attr_level("steps")
    assert isinstance(first, ProofConfig)
    assert curriculum.generate_configuration({"seed": 1}).max_steps > first.max_steps


@pytest.mark.parametrize(
    ("settings", "error"), [({"min_steps": 3, "max_steps": 2}, ProofR1Error), ({"reward": "gold"}, ValueError)]
)
def test_wrong_settings_are_refused(settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=r"reversed|unknown reward"):
        gym.create_dataset(NAME, **settings)


# -- the command ------------------------------------------------------------------------------------------------------


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "proof_r1_formal", "gym", *arguments]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def test_the_command_counts_the_entries_that_are_no_problems(tmp_path: Path) -> None:
    path, table = tmp_path / "gym.jsonl", tmp_path / "table.json"
    done = command("propositional_logic", "--n", "30", "--seed", "11", "--json", str(table), "-o", str(path))
    assert done.returncode == 0, done.stderr
    [[row]] = [found["rows"] for found in json.loads(table.read_bytes())]
    assert (row["entries"], row["agree"], row["differ"], row["undecided"]) == (30, 30, 0, 0)
    assert 0 < row["left out"] == 30 - len(read_problems(path))


def test_the_command_writes_problems_with_their_proofs(tmp_path: Path) -> None:
    path = tmp_path / "gym.jsonl"
    asked = ("knights_knaves", "syllogism", "--n", "3", "--seed", "1", "--with-proofs", "-o", str(path))
    done = command(*asked)
    assert done.returncode == 0, done.stderr
    assert "knights_knaves" in done.stdout
    written = path.read_bytes()
    assert json.loads(written.splitlines()[0])["id"] == "knights_knaves/0"
    problems = read_problems(path)
    assert len(problems) == 6
    assert any(problem.proofs for problem in problems.values())
    assert command(*asked).returncode == 0
    assert path.read_bytes() == written


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sudoku",), "'sudoku' is not a task that is read"),
        (("syllogism", "--set", "invalid_ratio=2"), "reasoning-gym refuses the settings of syllogism"),
        (("syllogism", "--set", "n_people=2"), "reasoning-gym refuses the settings of syllogism"),
    ],
)
def test_the_command_refuses_what_cannot_be_made(arguments: tuple[str, ...], says: str) -> None:
    refused = command(*arguments)
    assert refused.returncode == 2
    assert says in refused.stderr
