"""What a run will cost, before it starts: sizes that are known, and the work and the time that follow from them.

Work is counted as usual: 2 N operations for a token forward, N being the number of weights without those of the input
embedding, twice that for a way back through all weights, and attention left out. The time is what that work takes at
the speed at which the device multiplies matrices, so no run is faster; sampling is far from that speed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import torch

from proof_r1_formal.credit.methods import METHODS, Imitation
from training.common.display import Display
from training.common.sizes import shape, sizes
from training.common.start import make_model
from training.common.tasks import demonstrations, make_tasks, read_files, sample_texts, training_problems
from training.common.tokenizer import load_tokenizer
from training.config import Config, ConfigError
from training.local.model import choose_device

ANSWERS = 200
"""The number of reference answers whose mean length is taken for the length of an answer."""
SIZE = 2048
"""Rows of the matrices that are multiplied to measure the device."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will cost.

    Attributes:
        problems, evaluation_problems: usable ones.
        prompt: mean tokens of a prompt; answer: of a reference answer, or the limit where there is none.
        parameters, trained: weights of the model, and of what is trained.
        memory: bytes of weights, their copies, gradients and the optimiser; activations come on top.
        steps: that there will be; cap: what makes them fewer than ``optimiser.steps``, or nothing.
        step_work, evaluation_work: operations of a step, and of one evaluation.
        evaluations: that there will be.
        speed: operations per second of the device on matrices.
    """

    problems: int
    evaluation_problems: int
    prompt: float
    answer: float
    parameters: int
    trained: int
    memory: int
    steps: int
    cap: str
    step_work: float
    evaluation_work: float
    evaluations: int
    speed: float

    @property
    def seconds(self) -> float:
        """The least time that the whole run can take."""
        return (self.steps * self.step_work + self.evaluations * self.evaluation_work) / self.speed

    def lines(self) -> Iterator[str]:
        """For people."""
        yield f"{self.problems} problems to train on, {self.evaluation_problems} to score on"
        yield f"a prompt has {self.prompt:.0f} tokens, an answer about {self.answer:.0f}"
        yield f"{self.parameters:,} weights, {self.trained:,} of them trained"
        size = f"{self.memory / 2**30:.2f} GiB" if self.memory >= 2**30 else f"{self.memory / 2**20:.0f} MiB"
        yield f"{size} of memory, activations not counted"
        yield f"{self.steps} steps{self.cap} of {self.step_work:.1e} operations"
        yield f"{self.evaluations} evaluations of {self.evaluation_work:.1e} operations"
        time = f"{self.seconds / 60:.1f} minutes" if self.seconds >= 60 else f"{self.seconds:.1g} seconds"
        yield f"at least {time}, at {self.speed:.1e} operations a second of this device"


def bounds(config: Config) -> Iterator[str]:
    """What the configuration alone says of the cost, for people: all sequences have their longest length."""
    batch, rollout, steps = config.batch, config.rollout, config.optimiser.steps
    imitation = isinstance(METHODS[config.method], Imitation)
    completions = batch.problems * (1 if imitation else rollout.samples)
    tokens = completions * rollout.max_response_tokens
    made = "demonstrations" if imitation else "completions"
    yield f"at most {steps} steps of {completions} {made} with {rollout.max_response_tokens} tokens each:"
    yield f"at most {tokens:,} tokens of {made} a step, and {steps * tokens:.1e} in all"


def missing(config: Config) -> tuple[str, ...]:
    """The files and folders that the configuration names and that are not there, each with its key."""
    data, model = config.data, config.model
    named = [
        *[("data.train", path) for path in data.train],
        *[("data.evaluation", path) for path in data.evaluation],
        *[("data.demonstrations", path) for path in data.demonstrations],
        *[("model.warm_up", path) for path in (model.warm_up,) if path is not None],
    ]
    absent = [(key, path) for key, path in named if not Path(path).exists()]
    if model.path is not None and shape(model.path) is None:
        absent.append(("model.path", model.path))
    return tuple([f"{key}: {path}" for key, path in absent])


def estimate(config: Config, display: Display) -> Estimate:
    """Estimate the cost of a run; nothing is written.

    Args:
        config: of the run.
        display: logs the problems that are left out.

    Raises:
        ProofR1Error: what the configuration names cannot be used.
    """
    device = choose_device(config.model)
    problems = training_problems(config, display)
    with TemporaryDirectory(prefix="proof-r1-") as scratch:
        folder: str | Path | None = config.model.path
        if config.model.scratch is not None:
            folder = scratch
            make_model(config.model.scratch, sample_texts(problems, config.data), Path(scratch), seed=config.seed)
        assert folder is not None  # one of the two is there
        tokenizer = load_tokenizer(folder)
        parameters, embedding, trained = sizes(config, folder)
    limit = config.rollout.max_prompt_tokens
    tasks = make_tasks(problems, tokenizer, config.data, max_prompt_tokens=limit).tasks
    if not tasks:
        raise ConfigError("data.train", "there is no problem to train on")
    proved = [task for task in tasks if task.problem.proofs][:ANSWERS]
    answer = float(config.rollout.max_response_tokens)
    if proved:
        given = demonstrations(proved, tokenizer, config, display) if not config.data.demonstrations else []
        answer = fmean([len(tokenizer.encode(one.answer)) for one in given]) if given else answer
    prompt = fmean([len(task.prompt) for task in tasks])
    scored = len(list(read_files(config.data.evaluation, config.data, display))[: config.evaluation.problems])
    forward = 2.0 * (parameters - embedding)
    back = 2 * forward if config.model.lora is None else forward
    again = forward if config.model.gradient_checkpointing else 0.0
    samples = config.rollout.samples
    imitation = isinstance(METHODS[config.method], Imitation)
    if imitation:
        items = len(demonstrations(tasks, tokenizer, config, display))
        step_work = config.batch.problems * (prompt + answer) * (forward + back + again)
    else:
        items = len(tasks)
        shared = samples if config.model.gradient_checkpointing else 1
        read = config.batch.problems * (samples * answer + prompt)
        passed = config.batch.problems * (samples * answer + shared * prompt)
        step_work = (read + passed) * forward + config.batch.epochs * passed * (forward + back + again)
    steps = min(config.optimiser.steps, -(-items * config.data.epochs // config.batch.problems))
    cap = ""
    if steps < config.optimiser.steps:
        cap = f" (not optimiser.steps={config.optimiser.steps}: data.epochs={config.data.epochs} allows no more)"
    every = config.evaluation.every
    return Estimate(
        problems=len(tasks),
        evaluation_problems=scored,
        prompt=prompt,
        answer=answer,
        parameters=parameters,
        trained=trained,
        memory=_memory(config, parameters, trained, reference=not imitation),
        steps=steps,
        cap=cap,
        step_work=step_work,
        evaluation_work=scored * (prompt + config.evaluation.samples * answer) * forward,
        evaluations=(1 + int(config.evaluation.at_start) + ((steps - 1) // every if every else 0)) if scored else 0,
        speed=_speed(device, torch.bfloat16 if config.model.dtype == "bfloat16" else torch.float32),
    )


def _memory(config: Config, parameters: int, trained: int, *, reference: bool) -> int:
    """Bytes: what is trained has its weight, its gradient and two averages of AdamW, all in float32, as is its copy."""
    size = 2 if config.model.dtype == "bfloat16" and config.model.lora is not None else 4
    frozen = parameters if config.model.lora is not None or reference else 0
    return frozen * size + trained * 4 * 4


def _speed(device: torch.device, dtype: torch.dtype) -> float:
    """Operations per second on matrices."""
    matrix = torch.ones((SIZE, SIZE), device=device, dtype=dtype)
    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        (matrix @ matrix)[0, 0].item()  # waits for a GPU
        best = max(best, 2.0 * SIZE**3 / (time.perf_counter() - start))
    return best
