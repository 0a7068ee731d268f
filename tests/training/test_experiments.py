"""The experiment in miniature: its data, its tables on numbers worked out by hand, and all of it from end to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import msgspec
import pytest
import torch

from proof_r1_formal import FOLIO, Completion, ReferenceStep, Settings, read_completions, read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.generate import summary
from proof_r1_formal.metrics.measures import Estimate, Measure
from proof_r1_formal.models.prompts import short_question
from training.common.logs import ImitationRecord, StepRecord, read_log
from training.config import ConfigError, read_config
from training.experiments.plan import (
    HELD_OUT,
    SEEN,
    STUDIES,
    UNSEEN,
    Experiment,
    Sizes,
    draws,
    read_experiment,
)
from training.experiments.problems import write_draws, write_reading, write_sloppy
from training.experiments.report import COLUMNS, estimate, gains, table, write_report
from training.experiments.runs import GROUPS, Scored, next_model, read_scores, train_quietly, trained_policy
from training.experiments.slips import sloppy
from training.experiments.tiny import run
from training.local.model import load_policy

CONFIGS = Path(__file__).resolve().parents[2] / "training" / "configs"
SIZES = Sizes(
    clean=24,
    sloppy=12,
    recitals=0.5,
    slips=0.5,
    round_steps=1,
    rounds=1,
    parsed=0.0,
    rvr=(0.0, 1.0),
    learning=6,
    held_out=2,
    seeds=(0,),
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_draws(draws(SIZES), tmp_path_factory.mktemp("problems"))


@pytest.fixture(scope="module")
def clean(files: dict[str, Path]) -> tuple[Problem, ...]:
    return tuple(read_problems(files["clean"]).values())


# -- problems ---------------------------------------------------------------------------------------------------------


def symbols(path: Path) -> set[str]:
    signatures = [problem.signature() for problem in read_problems(path).values()]
    return {name for signature in signatures for name in (*signature.predicates, *signature.functions)}


def test_every_file_has_its_problems(files: dict[str, Path]) -> None:
    counts = {name: len(read_problems(path)) for name, path in files.items()}
    assert counts == {"clean": 24, "sloppy": 12, "noise": 6, "transfer": 6, "watched": 2, **dict.fromkeys(HELD_OUT, 2)}


def test_no_id_is_in_two_files(files: dict[str, Path]) -> None:
    ids = [problem for path in files.values() for problem in read_problems(path)]
    assert len(ids) == len(set(ids))


def test_held_out_problems_say_what_set_they_are_of(files: dict[str, Path]) -> None:
    for name in HELD_OUT:
        assert {problem.difficulty for problem in read_problems(files[name]).values()} == {name}
    assert {name for sets in GROUPS.values() for name in sets} == set(HELD_OUT)


def test_names_of_the_transfer_were_not_in_the_warm_up(files: dict[str, Path]) -> None:
    warm = symbols(files["clean"]) | symbols(files["sloppy"]) | symbols(files["noise"])
    assert warm.isdisjoint(symbols(files["names"]))
    assert warm <= {p.symbol for theme in SEEN.themes for p in theme} | {person.name for person in SEEN.people}
    assert not {p.symbol for theme in SEEN.themes for p in theme} & {p.symbol for theme in UNSEEN.themes for p in theme}


def test_rules_of_the_transfer_were_not_in_the_warm_up(files: dict[str, Path]) -> None:
    def rules(name: str) -> list[set[str]]:
        return [{step.rule for step in p.proofs[0]} for p in read_problems(files[name]).values()]

    warm = set().union(*rules("clean"), *rules("sloppy"))
    assert all(proof - warm for proof in rules("folio"))


def test_what_is_there_is_not_drawn_again(files: dict[str, Path]) -> None:
    before = {name: path.stat().st_mtime_ns for name, path in files.items()}
    again = write_draws(draws(SIZES), files["clean"].parent)
    assert {name: path.stat().st_mtime_ns for name, path in again.items()} == before


def test_premises_come_in_the_order_in_which_the_proof_uses_them(clean: tuple[Problem, ...]) -> None:
    for problem in clean:
        names = {premise.id for premise in problem.premises}
        used = list(dict.fromkeys([n for step in problem.proofs[0] for n in step.dependencies if n in names]))
        assert used == sorted(used, key=lambda name: int(name[1:]))
        assert [premise.id for premise in problem.premises] == [f"h{n}" for n in range(1, len(names) + 1)]


def test_proofs_still_hold(clean: tuple[Problem, ...]) -> None:
    verifier = Settings(rules="folio").verifier()
    for problem in clean:
        report = verifier.verify(problem, summary(problem.proofs[0]))
        assert report.answer_correct
        assert all(action.signal == 1.0 for action in report.actions)


def test_reading_is_recitals_and_proofs(clean: tuple[Problem, ...], tmp_path: Path) -> None:
    write_reading(clean, 0.5, tmp_path / "reading.jsonl")
    answers = {
        a.problem_id: a.completion for a in read_completions(tmp_path / "reading.jsonl") if isinstance(a, Completion)
    }
    proofs = [p for p in clean if answers[p.id] == summary(p.proofs[0])]
    recitals = [p for p in clean if sorted(answers[p.id].splitlines()) == sorted(short_question(p).split("\n")[:-2])]
    assert len(proofs) + len(recitals) == len(clean)
    assert min(len(proofs), len(recitals)) > 0


# -- slips ------------------------------------------------------------------------------------------------------------


def test_without_a_chance_nothing_slips(clean: tuple[Problem, ...]) -> None:
    for problem in clean:
        assert sloppy(problem, problem.proofs[0], FOLIO, 0.0, Random(0)) == problem.proofs[0]


def test_slips_leave_the_answer_and_the_form(clean: tuple[Problem, ...]) -> None:
    verifier = Settings(rules="folio").verifier()
    changed = 0
    for problem in clean:
        proof = sloppy(problem, problem.proofs[0], FOLIO, 1.0, Random(problem.id))
        changed += proof != problem.proofs[0]
        assert proof[-1].id == problem.answer
        assert [step.id for step in proof[:-1]] == [f"s{number}" for number in range(1, len(proof))]
        assert all(step.dependencies and len(set(step.dependencies)) == len(step.dependencies) for step in proof)
        report = verifier.verify(problem, summary(proof))
        assert report.parsed
        assert report.answer_correct
        assert all(action.schema for action in report.actions)
    assert changed > 0.6 * len(clean)


def test_a_skipped_step_leaves_what_it_rests_on(clean: tuple[Problem, ...]) -> None:
    proof = (
        ReferenceStep("s1", ("h1", "h2"), "is_mild(Ada)", "IMPLICATION_ELIMINATION"),
        ReferenceStep("s2", ("h3", "s1"), "is_calm(Ada)", "IMPLICATION_ELIMINATION"),
        ReferenceStep("h_goal_true", ("s2",), "is_calm(Ada)", "GOAL_BINDING"),
    )
    drawn = [sloppy(clean[0], proof, FOLIO, 0.3, Random(seed)) for seed in range(200)]
    skipped = replace(proof[1], id="s1", dependencies=("h3", "h1", "h2"))
    assert (skipped, replace(proof[2], dependencies=("s1",))) in drawn
    assert all(slipped[-2].conclusion == "is_calm(Ada)" for slipped in drawn)  # what is bound is kept


def test_sloppy_proofs_are_sloppy_in_the_verifiers_eyes(clean: tuple[Problem, ...], tmp_path: Path) -> None:
    write_sloppy(clean, FOLIO, 0.5, tmp_path / "sloppy.jsonl")
    verifier = Settings(rules="folio").verifier()
    lines = list(read_completions(tmp_path / "sloppy.jsonl"))
    assert len(lines) == len(clean)
    steps = [
        action.rule
        for problem, line in zip(clean, lines, strict=True)
        if isinstance(line, Completion)
        for action in verifier.verify(problem, line.completion).actions
        if not action.terminal
    ]
    assert 0.2 < sum(steps) / len(steps) < 0.8


# -- tables -----------------------------------------------------------------------------------------------------------


def scored(fvr: float, rvr: float) -> dict[str, dict[str, Scored]]:
    measures = {str(measure): 0.0 for measure in Measure} | {"FVR": fvr, "RVR": rvr}
    return {"sampled": {"easy to hard": Scored(measures, actions=3.0, closure=2.0, entropy=0.5, tokens=40.0)}}


RESULTS = {
    "warm-up": [scored(0.5, 0.25)],
    "grpo": [scored(0.5, 0.25), scored(0.75, 0.5)],
    "proof_r1": [scored(1, 0.75)],
}


def test_mean_and_deviation_over_seeds() -> None:
    assert estimate([1.0, 3.0]) == Estimate(2.0, 4.0, 2.0, 2**0.5)
    assert estimate([1.0]).spread is None


def test_the_table_has_a_row_for_each_method() -> None:
    made = table("x", RESULTS, "sampled", "easy to hard")
    assert [row[0] for row in made.rows] == ["warm-up", "grpo", "proof_r1"]
    place = 1 + [column.name for column in COLUMNS].index("RVR (%)")
    assert made.rows[1][place] == estimate([0.25, 0.5])


def test_gains_are_points_between_means() -> None:
    assert gains(RESULTS) == {
        "FVR above the warm-up": 50.0,
        "RVR above the warm-up": 50.0,
        "RVR above grpo": 37.5,
    }


# -- configurations ---------------------------------------------------------------------------------------------------


def test_the_configurations_can_be_read() -> None:
    for name in ("tiny", "small"):
        experiment = read_experiment(CONFIGS.parent / "experiments" / f"{name}.yaml")
        assert experiment.sizes.seeds == (0, 1, 2)
        assert experiment.methods.batch.problems * experiment.methods.rollout.samples == 64


def test_a_wrong_configuration_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("output: x\n")
    with pytest.raises(ConfigError, match="missing required field"):
        read_experiment(tmp_path / "x.yaml")


# -- all of it --------------------------------------------------------------------------------------------------------


def miniature(output: Path, *changes: str) -> Experiment:
    config = read_config(
        CONFIGS / "tiny.yaml",
        [
            "model.scratch={vocabulary: 800, layers: 1, heads: 2, width: 16, hidden: 16}",
            "data.prompt=short",
            "data.rules=folio",
            "rollout.samples=2",
            "rollout.max_response_tokens=24",
            "rollout.max_prompt_tokens=500",
            "batch.mini=2",
            "optimiser.steps=2",
            "evaluation.samples=1",
            "tensorboard=false",
            *changes,
        ],
    )
    # sft leaves out demonstrations that are longer than what may be sampled
    long = msgspec.structs.replace(config.rollout, max_response_tokens=500)
    warm = msgspec.structs.replace(config, method="sft", rollout=long)
    return Experiment(
        output=str(output),
        sizes=SIZES,
        reading=warm,
        clean=warm,
        noisy=warm,
        methods=config,
        compared=("sft", "proof_r1"),
    )


def test_a_run_starts_from_what_adapters_made_of_the_last_one(tmp_path: Path, files: dict[str, Path]) -> None:
    experiment = miniature(tmp_path, "model.lora={rank: 2}", f"data.train=[{files['clean']}]", "data.evaluation=[]")
    config = msgspec.structs.replace(experiment.clean, output=str(tmp_path / "run"))
    train_quietly(config)
    steps = [record for record in read_log(tmp_path / "run" / "log.jsonl") if isinstance(record, ImitationRecord)]
    assert [record.demonstrations for record in steps] == [2, 2]
    trained, _ = trained_policy(config)
    following = next_model(config)
    assert following.path == str(tmp_path / "run" / "merged")
    merged = load_policy(msgspec.structs.replace(following, lora=None), following.path, reference=False)
    ids = torch.arange(300, 340)[None]
    with torch.no_grad():
        assert trained.adapted is not None
        torch.testing.assert_close(merged.model(ids).logits, trained.adapted(ids).logits)
        with trained.adapted.disable_adapter():
            assert not torch.equal(merged.model(ids).logits, trained.model(ids).logits)


@pytest.mark.slow
def test_from_problems_to_figures_and_nothing_twice(tmp_path: Path) -> None:
    experiment = miniature(tmp_path / "out")
    said: list[str] = []
    starts = run(experiment, jobs=1, threads=1, log=said.append)
    for study in STUDIES:
        for name in ("sft-0", "proof_r1-0"):
            scores = read_scores(tmp_path / "out" / study / name)
            assert set(scores) == {"greedy", "sampled"}
            assert set(scores["greedy"]) == set(GROUPS)
        steps = [
            r for r in read_log(tmp_path / "out" / study / "proof_r1-0" / "log.jsonl") if isinstance(r, StepRecord)
        ]
        assert [record.step for record in steps] == [1, 2]

    written = write_report(experiment, {study: starts[study].config for study in STUDIES}, tmp_path / "report")
    assert {path.suffix for path in written} == {".md", ".png"}
    assert all(path.stat().st_size for path in written)
    text = (tmp_path / "report" / "tiny.md").read_text()
    assert text.count("| proof\\_r1 |") == len(STUDIES) * 2 * len(GROUPS)

    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("scores.json")}
    said.clear()
    run(experiment, jobs=1, threads=1, log=said.append)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("scores.json")} == before
    assert any("0 of them to do" in line for line in said)
