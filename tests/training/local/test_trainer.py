"""Runs: from a warm-up to a trained model, stopped, killed and gone on, with hostile completions in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import msgspec
import pytest
import torch
from msgspec import structs
from rich.console import Console

from proof_r1_formal import (
    Completion,
    Problem,
    ProofR1Error,
    ReferenceStep,
    Settings,
    read_completions,
    read_problems,
    write_problems,
)
from proof_r1_formal.credit.methods import METHODS, credit_batch, rollout_of
from proof_r1_formal.credit.terms import Baselines, is_flawless
from proof_r1_formal.credit.verification import Workers
from proof_r1_formal.generate import summary
from training.common.display import Display
from training.common.logs import EvaluationRecord, ImitationRecord, Record, Seconds, StepRecord, read_log
from training.common.tasks import Demonstration, Task
from training.config import Config, ConfigError, Lora, with_overrides, write_config
from training.local import reinforcement
from training.local.imitation import ImitationLearner
from training.local.model import Policy, load_policy
from training.local.reinforcement import ReinforcementLearner
from training.local.sampling import Sample
from training.local.trainer import evaluate, train
from training.local.update import make_optimiser

ROOT = Path(__file__).resolve().parents[3]
PROOF_R1 = (sys.executable, "-c", "from proof_r1_formal.cli import main; main()")


def records(config: Config) -> list[Record]:
    """What a run logged, without what the machine decides."""
    return [_plain(record) for record in read_log(Path(config.output) / "log.jsonl")]


def _plain(record: Record) -> Record:
    match record:
        case StepRecord():
            return structs.replace(record, seconds=Seconds(), verification_seconds=0.0, verification_share=0.0)
        case ImitationRecord():
            return structs.replace(record, seconds=Seconds())
        case EvaluationRecord():
            return structs.replace(record, seconds=0.0)


@pytest.fixture(scope="module")
def whole(configured: Callable[[Path], Config], tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A run that nothing has happened to, to its end."""
    config = configured(tmp_path_factory.mktemp("whole"))
    with Display(Console(quiet=True)) as display:
        train(config, display)
    return config


def after(steps: int) -> Callable[[], bool]:
    """Asks to stop after so many steps."""
    asked = count()
    return lambda: next(asked) >= steps


# -- whole runs -------------------------------------------------------------------------------------------------------


def test_losses_divide_logits_by_the_temperature_of_sampling_unless_told_otherwise(
    config: Config, display: Display
) -> None:
    def entropy(name: str, **changes: object) -> float:
        rollout = structs.replace(config.rollout, **changes)
        optimiser = structs.replace(config.optimiser, steps=1)
        run = structs.replace(config, output=f"{config.output}-{name}", rollout=rollout, optimiser=optimiser)
        train(run, display)
        (step,) = [record for record in records(run) if isinstance(record, StepRecord)]
        return step.entropy

    sampling, one = entropy("a", temperature=0.5), entropy("b", temperature=0.5, logprob_temperature=1)
    assert sampling < 0.8 * one  # of the same completions
    assert entropy("c", logprob_temperature=1) == entropy("d")  # sampled at temperature 1


def test_the_warm_up_teaches_the_examples(warmed_up: Path) -> None:
    *steps, score = read_log(warmed_up / "log.jsonl")
    losses = [step.loss for step in steps if isinstance(step, ImitationRecord)]
    assert len(losses) == 60
    assert losses[-1] < 0.2 < losses[0] / 10
    assert isinstance(score, EvaluationRecord)
    assert score.scores["Parsed"].value > 0.4


@pytest.mark.parametrize("method", ["grpo", "prosfi", "proof_r1", "no_verification", "no_closure"])
def test_every_method_learns_from_rollouts(config: Config, display: Display, method: str) -> None:
    config = structs.replace(config, method=method)
    finished = train(config, display)
    steps = [record for record in records(config) if isinstance(record, StepRecord)]
    scores = [record for record in records(config) if isinstance(record, EvaluationRecord)]
    assert [step.step for step in steps] == [1, 2, 3]
    assert [score.step for score in scores] == [2, 3]
    for step in steps:
        assert (step.problems, step.rollouts) == (3, 12)
        assert sum(step.signals.values()) == pytest.approx(1.0)
        assert step.mapped + step.unmapped == round(step.actions * 12)
    assert steps[0].kl == pytest.approx(0.0, abs=1e-4)
    learned = any(step.kl > 1e-4 for step in steps[1:])
    assert learned == any(step.positive > 0.0 for step in steps[:-1])
    assert learned or method == "no_verification"  # what can be read is all right after this warm-up: nothing to learn
    assert finished.model is not None
    assert load_policy(config.model, finished.model).trained().keys()
    moved = any(step.baselines["GOAL_BINDING"] != 0.5 for step in steps)
    assert moved == method.startswith(("proof", "no_"))


def test_constrained_rollouts_keep_to_the_contract(config: Config, display: Display) -> None:
    pytest.importorskip("llguidance", reason="llguidance is not installed (the extra [decoding])")
    changes = ["rollout.temperature=3.0", "rollout.max_response_tokens=600", "optimiser.steps=1", "evaluation.every=0"]
    broken: list[float] = []  # share of completions that ended and are not parsed
    for constrain in ("true", "false"):
        changed = with_overrides(
            config, [*changes, f"rollout.constrain={constrain}", f"output={config.output}-{constrain}"]
        )
        train(changed, display)
        (step,) = [record for record in records(changed) if isinstance(record, StepRecord)]
        broken.append(1.0 - step.cut - step.parsed)
        assert step.kl == pytest.approx(0.0, abs=1e-4)
    assert broken[0] == pytest.approx(0.0)
    assert broken[1] > 0.1


def test_adapters_are_trained_in_bfloat16(config: Config, display: Display) -> None:
    model = structs.replace(config.model, lora=Lora(rank=4, alpha=8, dropout=0.1), dtype="bfloat16")
    finished = train(structs.replace(config, model=model), display)
    steps = [record for record in records(config) if isinstance(record, StepRecord)]
    assert steps[0].kl == pytest.approx(0.0, abs=1e-2)
    assert steps[-1].kl > steps[0].kl
    assert finished.model is not None
    assert (finished.model / "adapter_model.safetensors").exists()


def test_a_run_that_was_stopped_goes_on_to_the_same_result(config: Config, display: Display, whole: Config) -> None:
    for steps in (1, 1, 3):
        stopped = train(config, display, stopping=after(steps))
        assert (stopped.model is None) == (steps == 1)
    assert records(config) == records(whole)
    weights = [Path(run.output) / "model" / "model.safetensors" for run in (config, whole)]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_a_log_that_is_ahead_of_the_checkpoint_is_cut(config: Config, display: Display, whole: Config) -> None:
    train(config, display, stopping=after(1))
    log = Path(config.output) / "log.jsonl"
    told = records(config)
    with log.open("ab") as file:
        file.write(log.read_bytes() + b'{"kind": "st')  # killed in the middle of a line
    train(config, display)
    assert records(config)[: len(told)] == told
    assert records(config) == records(whole)


def test_evaluation_alone(config: Config, display: Display) -> None:
    before = evaluate(config, display)
    assert before.step == 0
    train(config, display)
    again = evaluate(config, display)
    assert _plain(again) == records(config)[-1]
    written = list(read_completions(Path(config.output) / "evaluations" / "step-00000003.jsonl"))
    assert len(written) == 12
    assert all(isinstance(line, Completion) for line in written)


def test_a_finished_run_is_not_made_again(config: Config, display: Display) -> None:
    train(config, display)
    told = records(config)
    assert train(config, display).step == 3
    assert records(config) == told
    longer = structs.replace(config, optimiser=structs.replace(config.optimiser, steps=4))
    assert train(longer, display).step == 4


def test_problems_without_a_right_answer_come_again(config: Config, display: Display) -> None:
    retrying = structs.replace(
        config,
        rollout=structs.replace(config.rollout, retries=1, max_response_tokens=5),  # too short for any answer
        data=structs.replace(config.data, epochs=1),
        optimiser=structs.replace(config.optimiser, steps=100),
        checkpoint=structs.replace(config.checkpoint, every=0),
    )
    train(retrying, display)
    steps = [record for record in records(retrying) if isinstance(record, StepRecord)]
    count_of = len([p for p in read_problems(config.data.train[0]).values() if _trainable(p)])
    assert sum(step.problems for step in steps) == 2 * count_of
    assert sum(step.put_back for step in steps) == count_of
    assert all(step.failed == step.problems and step.cut == 1.0 for step in steps)


def _trainable(problem: Problem) -> bool:
    answer = problem.option(problem.answer)
    return answer is not None and answer.label != "Uncertain"


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_a_run_does_not_go_on_as_another(config: Config, display: Display, tmp_path: Path) -> None:
    train(config, display, stopping=after(1))
    with pytest.raises(ConfigError, match=r"credit\.outcome_weight, seed: differs from the run"):
        credit = structs.replace(config.credit, outcome_weight=2.0)
        train(structs.replace(config, seed=5, credit=credit), display)
    with pytest.raises(ConfigError, match="holds a run already"):
        train(structs.replace(config, checkpoint=structs.replace(config.checkpoint, resume=False)), display)
    problems = tmp_path / "problems.jsonl"
    write_problems(problems, list(read_problems(config.data.train[0]).values())[:3])
    fewer = structs.replace(config, output=str(tmp_path / "fewer"))
    train(fewer, display, stopping=after(1))
    with pytest.raises(ConfigError, match=r"data\.train: differs"):
        train(structs.replace(fewer, data=structs.replace(fewer.data, train=(str(problems),))), display)


def test_what_cannot_be_trained_is_told(config: Config, display: Display, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no problem to train on"):
        train(structs.replace(config, rollout=structs.replace(config.rollout, max_prompt_tokens=3)), display)
    with pytest.raises(ConfigError, match="the model reads 8192"):
        train(structs.replace(config, rollout=structs.replace(config.rollout, max_response_tokens=9000)), display)
    twice = structs.replace(config.data, train=config.data.train * 2)
    with pytest.raises(ProofR1Error, match="another file, too"):
        train(structs.replace(config, data=twice), display)
    bare = tmp_path / "bare.jsonl"
    write_problems(bare, [replace(p, proofs=()) for p in read_problems(config.data.train[0]).values()])
    with pytest.raises(ProofR1Error, match="no demonstration"):
        train(structs.replace(config, method="sft", data=structs.replace(config.data, train=(str(bare),))), display)


# -- demonstrations ---------------------------------------------------------------------------------------------------


def test_only_verified_demonstrations_are_learned(policy: Policy, config: Config, tasks: tuple[Task, ...]) -> None:
    task = next(task for task in tasks if task.problem.proofs)
    proof = task.problem.proofs[0]
    sloppy = _misnamed(proof)
    given = [Demonstration(task, summary(proof)), Demonstration(task, sloppy), Demonstration(task, "no answer")]
    optimiser = make_optimiser(policy, config.optimiser)
    for checked, learned in ((True, 1), (False, 3)):
        settings = structs.replace(config, method="sft", data=structs.replace(config.data, checked=checked))
        with Workers(Settings(evaluation=False)) as workers:
            learner = ImitationLearner(policy, optimiser, given, settings, workers)
            record, again = learner.step(1, (0, 1, 2), (0, 1, 2), epoch=0, rate=1e-3)
        assert (record.demonstrations, record.left_out, again) == (learned, 3 - learned, ())
    assert is_flawless(Settings(evaluation=False).verifier().verify(task.problem, summary(proof)))


def _misnamed(proof: Sequence[ReferenceStep]) -> str:
    """A proof whose first step names another rule."""
    other = "MODUS_TOLLENS" if proof[0].rule != "MODUS_TOLLENS" else "CONJUNCTION_ELIMINATION"
    return summary([replace(proof[0], rule=other), *proof[1:]])


# -- hostile completions ----------------------------------------------------------------------------------------------


def hostile(policy: Policy, limit: int) -> list[tuple[int, ...]]:
    """Completions that nobody wants, in tokens."""
    byte_tokens = {policy.pieces.piece(number): number for number in range(len(policy.tokenizer))}
    texts = [
        "garbage } ] </think> <summary> [[[{",
        "<summary>[" + "[" * limit,
        "<summary>[" + '{"id": "' * limit,
        '<summary>[{"id": "s1", "dependencies": ["h1"], "conclusion": "' + "¬" * limit,
        "<summary>[" + "{}," * limit + "{}]</summary>",
        "</summary>",
    ]
    encoded = [policy.tokenizer.encode(text, add_special_tokens=False)[:limit] for text in texts]
    broken = [byte_tokens[bytes([value])] for value in (0xFF, 0xC3, 0x28, 0xE2, 0x82, 0x00, 0xF0, 0x9F)]
    ended = sorted(policy.stops())[:1]
    return [tuple(ids) for ids in (*encoded, broken * 4, ended)]


def test_hostile_completions_cost_their_rollout_only(
    policy: Policy, config: Config, tasks: tuple[Task, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limit, task = 600, next(task for task in tasks if len(task.problem.proofs) == 1)
    honest = tuple(policy.tokenizer.encode(summary(task.problem.proofs[0]), add_special_tokens=False))
    planted = [*hostile(policy, limit), honest, honest]
    config = structs.replace(config, rollout=structs.replace(config.rollout, samples=len(planted)))

    def plant(*_: object, ended: Callable[[Sample], object], **__: object) -> list[Sample]:
        samples = [Sample(0, number, ids, len(ids) < limit) for number, ids in enumerate(planted)]
        for one in samples:
            ended(one)
        return samples

    monkeypatch.setattr(reinforcement, "sample", plant)
    with Workers(Settings(evaluation=False)) as workers:
        learner = ReinforcementLearner(
            policy, make_optimiser(policy, config.optimiser), [task], config, workers, tmp_path / "rollouts"
        )
        record, failed = learner.step(1, (0,), (), epoch=0, rate=1e-3)
    assert (record.rollouts, record.broken, failed) == (len(planted), 0, ())
    assert record.correct == pytest.approx(2 / len(planted))
    assert torch.isfinite(torch.tensor([record.loss, record.kl, record.gradient_norm])).all()
    lines = [
        msgspec.json.decode(line) for line in (tmp_path / "rollouts" / "step-00000001.jsonl").read_bytes().splitlines()
    ]
    assert all(signal == 0.0 for line in lines[:-2] for signal in line["signals"])
    for line in lines[-2:]:
        assert line["signals"] == [1.0] * len(task.problem.proofs[0])
        assert all(advantage > 0.0 for advantage in line["advantages"])


def test_five_thousand_actions_are_one_rollout(policy: Policy, config: Config, tasks: tuple[Task, ...]) -> None:
    task = next(task for task in tasks if task.problem.proofs)
    step = '{"id": "s%d", "dependencies": ["h1"], "conclusion": "on_duty(Mara)", "rule": "CONJUNCTION_ELIMINATION"}'
    flood = "<summary>[" + ",\n".join([step % number for number in range(5000)]) + "]</summary>"
    texts = [flood, summary(task.problem.proofs[0])]
    pieces = [policy.pieces.read(policy.tokenizer.encode(text, add_special_tokens=False)) for text in texts]
    with Workers(Settings(evaluation=False)) as workers:
        asked = [workers.verify(task.problem, one.text, number) for number, one in enumerate(pieces)]
        reports = [future.result().report for future in asked]
    assert len(reports[0].actions) == 5000
    rollouts = [rollout_of(report, text, config.credit) for report, text in zip(reports, pieces, strict=True)]
    start = Baselines.start(Settings().verifier().rules, config.credit)
    _, honest = credit_batch(METHODS["proof_r1"], [rollouts], start, config.credit).groups[0]
    assert honest.actions is not None
    assert min(honest.actions.advantages) > 0.0


# -- killed -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("moment", [2, 4])
def test_a_run_that_was_killed_goes_on_to_the_same_result(
    config: Config, display: Display, tmp_path: Path, whole: Config, moment: int
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(write_config(config))
    command = [*PROOF_R1, "train", "--config", str(file)]
    first = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert first.stderr is not None
    for _ in range(moment):  # a line is said for each step and each evaluation
        first.stderr.readline()
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    assert not (Path(config.output) / "model").exists()
    train(config, display)
    assert records(config) == records(whole)


@pytest.mark.slow
def test_ctrl_c_ends_a_run_with_a_checkpoint(config: Config, tmp_path: Path, whole: Config) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(write_config(structs.replace(config, checkpoint=structs.replace(config.checkpoint, every=0))))
    command = [*PROOF_R1, "train", "--config", str(file)]
    first = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert first.stderr is not None
    first.stderr.readline()
    os.kill(first.pid, signal.SIGINT)
    _, said = first.communicate()
    assert first.returncode == 130, said
    assert "repeat the command to resume" in said
    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert second.returncode == 0, second.stderr
    assert records(config) == records(whole)
