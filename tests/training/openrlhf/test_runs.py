"""Whole runs: real Ray, vLLM and DeepSpeed, without GPUs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from bench.cluster import descendants
from proof_r1_formal import Completion, Verifier, read_completions, read_problems
from proof_r1_formal.models.prompts import short_question
from tests.patience import PATIENCE
from training.common.logs import EvaluationRecord, StepRecord, read_log
from training.common.tokenizer import load_tokenizer
from training.config import Config, read_config
from training.credit import Baselines
from training.openrlhf import job as jobs
from training.pieces import TokenPieces

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.slow


FASTER = ("optimiser.learning_rate=1.5e-2", "evaluation.problems=64")
"""So that the policy answers otherwise after two steps."""


def steps(config: Config) -> list[StepRecord]:
    return [one for one in read_log(Path(config.output) / "log.jsonl") if isinstance(one, StepRecord)]


def assert_right(step: StepRecord) -> None:
    """Most completions have actions, engine and policy agree, and there is something to learn."""
    assert step.parsed > 0.5
    assert abs(step.vllm_kl) < 1e-2
    assert step.gradient_norm > 0.0


def assert_learned(config: Config) -> None:
    """Every step of the run was right, and all weights moved."""
    told = steps(config)
    assert [one.step for one in told] == list(range(1, config.optimiser.steps + 1))
    for one in told:
        assert_right(one)
    weights = load_file(Path(config.output) / "model" / "adapter_model.safetensors")
    moved = [weight for name, weight in weights.items() if "lora_B" in name]  # they start as zeros
    assert moved
    assert all(weight.abs().max() > 0.0 for weight in moved)


# A run takes a minute, mostly for starting processes, so each test of a run is one of another method, too.


def test_two_steps(given: Path) -> None:
    changes = ["method=proof_r1", *FASTER]
    command = [str(BIN / "proof-r1"), "train", "--engine", "openrlhf", "--config", str(given), *changes]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    config = read_config(given, changes)
    assert_learned(config)
    assert any(one.baselines[rule] != 0.5 for one in steps(config) for rule in one.baselines)
    assert_saved(config)


def assert_saved(config: Config) -> None:
    """The adapter that was saved makes ``transformers`` write what the engine wrote with the last weights."""
    records = [one for one in read_log(Path(config.output) / "log.jsonl") if isinstance(one, EvaluationRecord)]
    assert [one.step for one in records] == [config.optimiser.steps]
    lines = read_completions(Path(config.output) / "evaluations" / f"step-{config.optimiser.steps:08}.jsonl")
    answers = [line for line in lines if isinstance(line, Completion)]
    assert len(answers) == config.evaluation.problems
    problems = read_problems(config.data.evaluation[0])
    assert config.model.path is not None
    base = AutoModelForCausalLM.from_pretrained(config.model.path, dtype=torch.bfloat16)
    policy = PeftModel.from_pretrained(base, str(Path(config.output) / "model"))
    tokenizer = load_tokenizer(Path(config.output) / "model")
    pieces = TokenPieces(tokenizer.backend_tokenizer.to_str())

    def written(answer: Completion) -> str:
        prompt = tokenizer.encode(short_question(problems[answer.problem_id]), add_special_tokens=False)
        limit = config.rollout.max_response_tokens
        ids = policy.generate(torch.tensor([prompt]), max_new_tokens=limit, do_sample=False)[0, len(prompt) :]
        return pieces.read(ids.tolist()).text

    same = sum([written(answer) == answer.completion for answer in answers])
    with policy.disable_adapter():
        before = sum([written(answer) == answer.completion for answer in answers])
    assert same >= 0.9 * len(answers)  # two tokens can be as likely as each other in bfloat16
    assert before < same - 4  # so the engine had the last weights


def test_imitation(given: Path) -> None:
    changes = ["method=sft", "batch={problems: 8, mini: 4, micro: 4}", "data.evaluation=[]"]
    command = [sys.executable, "-m", "training.openrlhf", "--config", str(given), *changes]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    weights = load_file(Path(read_config(given).output) / "model" / "adapter_model.safetensors")
    assert any(weight.abs().max() > 0.0 for name, weight in weights.items() if "lora_B" in name)


def test_a_run_of_prosfi_that_is_told_to_end_leaves_no_process_behind(given: Path) -> None:
    command = [str(BIN / "proof-r1"), "train", "--engine", "openrlhf", "--config", str(given), "method=prosfi"]
    config = read_config(given, ["method=prosfi"])
    log = Path(config.output) / "log.jsonl"
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while run.poll() is None and not (log.exists() and log.read_bytes()):
        time.sleep(0.5)
    started = [process for process, _ in descendants(run.pid)]
    run.terminate()
    assert run.wait(PATIENCE) != 0
    assert len(started) > 5
    assert_right(steps(config)[0])
    deadline = time.monotonic() + PATIENCE
    while left := [process for process in started if Path(f"/proc/{process}").exists()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.5)


# -- jobs -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a Ray cluster on this machine, whose GPUs are names."""
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    start = [str(BIN / "ray"), "start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={ports[0]}"]
    options = ["--num-cpus=6", "--num-gpus=2", "--object-store-memory=500000000", f"--dashboard-port={ports[1]}"]
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    head = subprocess.Popen(
        [*start, *options, "--disable-usage-stats"], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert head.stdout is not None
    try:
        assert any("Ray runtime started" in line for line in head.stdout)
        yield f"http://127.0.0.1:{ports[1]}"
    finally:
        head.terminate()
        head.wait()


class Enough(Exception):  # noqa: N818 (it is no error: the log says what was waited for)
    pass


def test_a_job_that_was_lost_goes_on_from_its_checkpoint(cluster: str, given: Path) -> None:
    changes = ["optimiser.steps=3", "evaluation.every=1"]
    config = read_config(given, changes)
    train = [str(BIN / "proof-r1"), "train", "--engine", "openrlhf", "--address", cluster]

    def show(piece: str) -> None:
        if "Global step 2" in piece:  # so the checkpoint of step 1 is there
            raise Enough

    command = [*train, "--no-wait", "--config", str(given), *changes]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    with pytest.raises(Enough):
        jobs.follow(first, cluster, show)
    subprocess.run([*train, "--stop", first], cwd=ROOT, check=True)
    with pytest.raises(jobs.JobError, match="stopped"):
        jobs.follow(first, cluster, lambda _: None)
    with pytest.raises(jobs.JobError, match="has ended"):
        jobs.stop(first, cluster)
    run = Path(config.output)
    kept = [run / "log.jsonl", run / "rollouts" / "step-00000001.jsonl", run / "evaluations" / "step-00000001.jsonl"]
    before = [path.read_bytes() for path in kept]
    told: list[str] = []
    jobs.follow(jobs.submit(config, cluster), cluster, told.append)
    assert "Global step 1:" not in "".join(told)
    log, *others = [path.read_bytes() for path in kept]
    assert log.splitlines()[:2] == before[0].splitlines()[:2]  # the step and its evaluation, seconds and all
    assert others == before[1:]
    assert_learned(config)
    evaluated = [one.step for one in read_log(run / "log.jsonl") if isinstance(one, EvaluationRecord)]
    assert evaluated == [1, 2, 3]
    one, two, _ = steps(config)
    assert one.baselines != two.baselines == pytest.approx(baselines_after(one, run / "rollouts", config))
    told.clear()
    jobs.follow(jobs.submit(config, cluster), cluster, told.append)
    assert "Global step" not in "".join(told)  # it has ended, and stays as it is
    assert (run / "log.jsonl").read_bytes().splitlines()[:2] == log.splitlines()[:2]
    assert len(steps(config)) == 3


def baselines_after(step: StepRecord, rollouts: Path, config: Config) -> dict[str, float]:
    """The moving averages after the next step, from what was sampled in it."""
    problems = read_problems(config.data.train[0])
    sampled = read_completions(rollouts / f"step-{step.step + 1:08}.jsonl")
    verifier = Verifier(evaluation=False)
    reports = [verifier.verify(problems[o.problem_id], o.completion) for o in sampled if isinstance(o, Completion)]
    return dict(Baselines(step.baselines).after(reports, config.credit).averages)


def test_the_plain_command_of_ray_with_grpo(cluster: str, given: Path) -> None:
    entry = ["python", "-m", "training.openrlhf", "--config", str(given), "method=grpo"]
    command = [str(BIN / "ray"), "job", "submit", "--address", cluster, "--working-dir", str(ROOT), "--", *entry]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert_learned(read_config(given, ["method=grpo"]))
