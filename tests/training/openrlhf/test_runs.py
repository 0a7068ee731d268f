"""Whole runs: real Ray, vLLM and DeepSpeed, without GPUs.

Each start of a run costs a processor minute, mostly for imports. So several tests look at one run: it is told to end in
its second step, goes on to its end, and is then given to a cluster.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from proof_r1_formal import Completion, Verifier, read_completions, read_problems
from proof_r1_formal.credit.pieces import TokenPieces
from proof_r1_formal.credit.terms import Baselines
from proof_r1_formal.models.prompts import short_question
from studies.bench.cluster import descendants
from tests.patience import PATIENCE
from training.common.logs import EvaluationRecord, StepRecord, read_log
from training.common.tokenizer import load_tokenizer
from training.config import Config, read_config
from training.openrlhf import job as jobs

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
TRAIN = (str(BIN / "proof-r1"), "train", "--engine", "openrlhf")
FASTER = ("optimiser.learning_rate=1.5e-2", "evaluation.problems=64")
"""So that the policy answers otherwise after some steps."""
AS_LIKELY = 0.25
"""The largest difference of the logits of two tokens that count as equally likely: a few roundings of bfloat16."""

pytestmark = pytest.mark.slow


def steps(config: Config) -> list[StepRecord]:
    return [one for one in read_log(Path(config.output) / "log.jsonl") if isinstance(one, StepRecord)]


def evaluations(config: Config) -> list[EvaluationRecord]:
    return [one for one in read_log(Path(config.output) / "log.jsonl") if isinstance(one, EvaluationRecord)]


def assert_right(step: StepRecord) -> None:
    """Most completions have actions, engine and policy agree, and there is something to learn."""
    assert step.parsed > 0.5
    assert abs(step.vllm_kl) < 1e-2
    assert step.gradient_norm > 0.0


def finish(command: list[str]) -> str:
    """What a command writes that must succeed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


# -- a run on this machine --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run so far.

    Attributes:
        config: of the run.
        command: that starts it, or resumes it.
        said: by the last command, on standard output.
        kept: the log, and what the first step wrote; then the contents of these files.
    """

    config: Config
    command: list[str]
    said: str

    def kept(self) -> list[bytes]:
        """The log's records of the first step and its evaluation, and the files that this step wrote."""
        folder = Path(self.config.output)
        log = b"".join((folder / "log.jsonl").read_bytes().splitlines()[:2])  # seconds and all
        return [log, *[(folder / name / "step-00000001.jsonl").read_bytes() for name in ("rollouts", "evaluations")]]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory, configured: Callable[[Path], Path]) -> tuple[Run, list[int]]:
    """A run that was told to end in its second step, and the processes that it had started."""
    folder = tmp_path_factory.mktemp("stopped")
    file, changes = configured(folder), ["optimiser.steps=3", "evaluation.every=1", *FASTER]
    command = [*TRAIN, "--config", str(file), *changes]
    with (folder / "said").open("w+") as said:
        run = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)
        while (
            run.poll() is None and "Global step 2" not in Path(said.name).read_text()
        ):  # the checkpoint of step 1 is there
            time.sleep(0.5)
        started = [process for process, _ in descendants(run.pid)]
        run.terminate()
        assert run.wait(PATIENCE) != 0, Path(said.name).read_text()[-3000:]
    return Run(read_config(file, changes), command, Path(said.name).read_text()), started


@pytest.fixture(scope="module")
def before(stopped: tuple[Run, list[int]]) -> list[bytes]:
    """What the run had kept of its first step when it was told to end."""
    return stopped[0].kept()


@pytest.fixture(scope="module")
def ended(stopped: tuple[Run, list[int]], before: list[bytes]) -> Run:
    """The same run, resumed to its end."""
    run, _ = stopped
    return replace(run, said=finish(run.command))


def test_a_run_that_is_told_to_end_leaves_no_process_behind(stopped: tuple[Run, list[int]]) -> None:
    run, started = stopped
    assert len(started) > 5
    assert_right(steps(run.config)[0])
    deadline = time.monotonic() + PATIENCE
    while left := [process for process in started if Path(f"/proc/{process}").exists()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.5)


def test_it_goes_on_from_its_checkpoint(ended: Run, before: list[bytes]) -> None:
    assert "Global step 1:" not in ended.said
    assert "Global step 3:" in ended.said
    assert ended.kept() == before
    told = steps(ended.config)
    assert [one.step for one in told] == [one.step for one in evaluations(ended.config)] == [1, 2, 3]
    for one in told:
        assert_right(one)
    weights = load_file(Path(ended.config.output) / "model" / "adapter_model.safetensors")
    moved = [weight for name, weight in weights.items() if "lora_B" in name]  # they start as zeros
    assert moved
    assert all(weight.abs().max() > 0.0 for weight in moved)


def test_its_baselines_go_on_too(ended: Run) -> None:
    one, two, _ = steps(ended.config)
    assert any(average != 0.5 for average in one.baselines.values())
    after = baselines_after(one, Path(ended.config.output) / "rollouts", ended.config)
    assert one.baselines != two.baselines == pytest.approx(after)


def baselines_after(step: StepRecord, rollouts: Path, config: Config) -> dict[str, float]:
    """The moving averages after the next step, from what was sampled in it."""
    problems = read_problems(config.data.train[0])
    sampled = read_completions(rollouts / f"step-{step.step + 1:08}.jsonl")
    verifier = Verifier(evaluation=False)
    reports = [verifier.verify(problems[o.problem_id], o.completion) for o in sampled if isinstance(o, Completion)]
    return dict(Baselines(step.baselines).after(reports, config.credit).averages)


def test_the_adapter_that_was_saved_writes_what_the_engine_wrote_with_the_last_weights(ended: Run) -> None:
    config = ended.config
    lines = read_completions(Path(config.output) / "evaluations" / f"step-{config.optimiser.steps:08}.jsonl")
    answers = [line for line in lines if isinstance(line, Completion)]
    assert len(answers) == config.evaluation.problems
    problems = read_problems(config.data.evaluation[0])
    assert config.model.path is not None
    base = AutoModelForCausalLM.from_pretrained(config.model.path, dtype=torch.bfloat16)
    policy = PeftModel.from_pretrained(base, str(Path(config.output) / "model"))
    tokenizer = load_tokenizer(Path(config.output) / "model")
    pieces = TokenPieces(tokenizer.backend_tokenizer.to_str())

    def is_written(answer: Completion) -> bool:
        """Whether the policy writes the answer, up to where its two most likely tokens are as likely as each other."""
        prompt = tokenizer.encode(short_question(problems[answer.problem_id]), add_special_tokens=False)
        limit = config.rollout.max_response_tokens
        done = policy.generate(
            torch.tensor([prompt]),
            max_new_tokens=limit,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
        ids = done.sequences[0, len(prompt) :].tolist()
        if pieces.read(ids).text == answer.completion:
            return True
        lengths = range(1, len(ids) + 1)
        first = next((n for n in lengths if not answer.completion.startswith(pieces.read(ids[:n]).text)), len(ids))
        best, second = done.logits[first - 1][0].float().topk(2).values.tolist()
        return bool(best - second <= AS_LIKELY)

    same = sum(map(is_written, answers))
    with policy.disable_adapter():
        without = sum(map(is_written, answers))
    assert same >= 0.9 * len(answers)
    assert without < same - 4  # so the engine had the last weights


def test_imitation(given: Path) -> None:
    changes = ["method=sft", "batch={problems: 8, mini: 4, micro: 4}", "data.evaluation=[]"]
    finish([sys.executable, "-m", "training.openrlhf", "--config", str(given), *changes])
    weights = load_file(Path(read_config(given).output) / "model" / "adapter_model.safetensors")
    assert any(weight.abs().max() > 0.0 for name, weight in weights.items() if "lora_B" in name)


# -- jobs -------------------------------------------------------------------------------------------------------------


HEAD = """
import ray.scripts.scripts as ray
ray.get_ray_client_dependency_error = lambda: "not wanted"
ray.main()
"""
"""Runs ``ray`` without Ray's client server, which ends the cluster where it takes over 30 s to start."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a Ray cluster on this machine, whose GPUs are names."""
    ports = []
    for _ in range(3):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    start = [sys.executable, "-c", HEAD, "start", "--head", "--block", "--node-ip-address=127.0.0.1"]
    listening = [f"--port={ports[0]}", f"--dashboard-port={ports[1]}", f"--dashboard-agent-listen-port={ports[2]}"]
    sizes = ["--num-cpus=6", "--num-gpus=2", "--object-store-memory=500000000", "--disable-usage-stats"]
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "RAY_DASHBOARD_STARTUP_TIMEOUT_S": f"{PATIENCE:.0f}",
    }
    head = subprocess.Popen([*start, *listening, *sizes], env=environment, stdout=subprocess.PIPE, text=True)
    assert head.stdout is not None
    try:
        assert any("Ray runtime started" in line for line in head.stdout)
        yield f"http://127.0.0.1:{ports[1]}"
    finally:
        head.terminate()
        head.wait()
        head.stdout.close()


class Enough(Exception):  # noqa: N818 (it is no error: the log says what was waited for)
    pass


def test_a_job_of_grpo_without_a_reference_is_handed_over_followed_and_stopped(cluster: str, given: Path) -> None:
    train, changes = [*TRAIN, "--address", cluster], ["method=grpo", "loss.kl_weight=0"]

    def show(piece: str) -> None:
        if "Global step 1" in piece:
            raise Enough

    job = finish([*train, "--no-wait", "--config", str(given), *changes]).strip()
    with pytest.raises(Enough):
        jobs.follow(job, cluster, show)
    finish([*train, "--stop", job])
    with pytest.raises(jobs.JobError, match="stopped"):
        jobs.follow(job, cluster, lambda _: None)
    with pytest.raises(jobs.JobError, match="has ended"):
        jobs.stop(job, cluster)
    assert_right(steps(read_config(given, changes))[0])


def test_the_plain_command_of_ray_leaves_a_run_that_has_ended_as_it_is(
    cluster: str, ended: Run, tmp_path: Path
) -> None:
    for name in jobs.CODE:  # not the checkout itself: Ray refuses a folder to which another test writes meanwhile
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    log = Path(ended.config.output) / "log.jsonl"
    before = log.read_bytes()
    _, _, _, _, *given = ended.command
    entry = ["python", "-m", "training.openrlhf", *given]
    said = finish(
        [str(BIN / "ray"), "job", "submit", "--address", cluster, "--working-dir", str(tmp_path), "--", *entry]
    )
    assert "Global step" not in said
    assert log.read_bytes() == before
