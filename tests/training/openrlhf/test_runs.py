"""Whole runs: real Ray, vLLM and DeepSpeed, without GPUs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from proof_r1_formal import Completion, read_completions, read_problems
from proof_r1_formal.models.prompts import short_question
from training.config import Config, ConfigError, read_config
from training.local.logs import EvaluationRecord, StepRecord, read_log
from training.local.model import load_tokenizer
from training.openrlhf import job as jobs
from training.pieces import TokenPieces

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.slow


def steps(config: Config) -> list[StepRecord]:
    return [one for one in read_log(Path(config.output) / "log.jsonl") if isinstance(one, StepRecord)]


def assert_learned(config: Config) -> None:
    """The run did what it should: most completions have actions, weights moved, engine and policy agree."""
    told = steps(config)
    assert [one.step for one in told] == list(range(1, config.optimiser.steps + 1))
    for one in told:
        assert one.mapped >= one.rollouts / 2
        assert abs(one.vllm_kl) < 1e-2
        assert one.gradient_norm > 0.0
    weights = load_file(Path(config.output) / "model" / "adapter_model.safetensors")
    moved = [weight for name, weight in weights.items() if "lora_B" in name]  # they start as zeros
    assert moved
    assert all(weight.abs().max() > 0.0 for weight in moved)


@pytest.mark.parametrize("method", ["proof_r1", "grpo", "prosfi"])
def test_two_steps(method: str, given: Path) -> None:
    command = [str(BIN / "proof-r1"), "train", "--engine", "openrlhf", "--config", str(given), f"method={method}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    config = read_config(given, [f"method={method}"])
    assert_learned(config)
    if method == "proof_r1":
        assert any(one.baselines[rule] != 0.5 for one in steps(config) for rule in one.baselines)
        assert_saved(config)


def assert_saved(config: Config) -> None:
    """The adapter that was saved makes ``transformers`` write what the engine wrote with the last weights."""
    records = [one for one in read_log(Path(config.output) / "log.jsonl") if isinstance(one, EvaluationRecord)]
    assert [one.step for one in records] == [config.optimiser.steps]
    lines = read_completions(Path(config.output) / "evaluations" / f"step-{config.optimiser.steps:08}.jsonl")
    answers = [line for line in lines if isinstance(line, Completion)]
    assert len(answers) == config.evaluation.problems
    problems = read_problems(config.data.evaluation[0]).problems
    assert config.model.path is not None
    base = AutoModelForCausalLM.from_pretrained(config.model.path, dtype=torch.bfloat16)
    policy = PeftModel.from_pretrained(base, str(Path(config.output) / "model"))
    tokenizer = load_tokenizer(Path(config.output) / "model")
    pieces = TokenPieces(tokenizer.backend_tokenizer.to_str())
    same = 0
    for answer in answers:
        prompt = tokenizer.encode(short_question(problems[answer.problem_id]), add_special_tokens=False)
        limit = config.rollout.max_response_tokens
        ids = policy.generate(torch.tensor([prompt]), max_new_tokens=limit, do_sample=False)[0, len(prompt) :]
        same += pieces.read(ids.tolist()).text == answer.completion
    assert same >= len(answers) - 1  # two tokens can be as likely as each other in bfloat16


def test_imitation(given: Path) -> None:
    changes = ["method=sft", "batch={problems: 8, mini: 4, micro: 4}", "data.evaluation=[]"]
    command = [sys.executable, "-m", "training.openrlhf", "--config", str(given), *changes]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    weights = load_file(Path(read_config(given).output) / "model" / "adapter_model.safetensors")
    assert any(weight.abs().max() > 0.0 for name, weight in weights.items() if "lora_B" in name)


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
    config = read_config(given, ["optimiser.steps=3"])

    def show(piece: str) -> None:
        if "Global step 2" in piece:  # so the checkpoint of step 1 is there
            raise Enough

    first = jobs.submit(config, cluster)
    with pytest.raises(Enough):
        jobs.follow(first, cluster, show)
    jobs.stop(first, cluster)
    with pytest.raises(jobs.JobError, match="stopped"):
        jobs.follow(first, cluster, lambda _: None)
    done = jobs.submit(config, cluster)
    jobs.follow(done, cluster, lambda _: None)
    assert_learned(config)
    assert steps(config)[0].baselines != steps(config)[1].baselines


def test_the_plain_command_of_ray(cluster: str, given: Path) -> None:
    entry = ["python", "-m", "training.openrlhf", "--config", str(given)]
    command = [str(BIN / "ray"), "job", "submit", "--address", cluster, "--working-dir", str(ROOT), "--", *entry]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert_learned(read_config(given))


def test_a_job_without_a_lasting_folder_is_refused(given: Path) -> None:
    with pytest.raises(ConfigError, match="absolute"):
        jobs.submit(read_config(given, ["output=out/run"]), "http://127.0.0.1:1")


def test_without_a_cluster_it_says_so(given: Path) -> None:
    with pytest.raises(jobs.JobError, match="no Ray cluster"):
        jobs.submit(read_config(given), "http://127.0.0.1:1")
