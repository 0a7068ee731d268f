"""What a run reads: its prompts or demonstrations in the order in which it takes them, and the model to start from.

In: a configuration. Out: files in the run's folder, and a :class:`Prepared`. The order is that of the local engine,
with all epochs in one file, so both engines see the same problems in the same steps. OpenRLHF learns in whole steps:
what is left of the last epoch and fills none is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
from transformers import PreTrainedTokenizerFast

from proof_r1_formal import Problem, Settings
from proof_r1_formal.credit.terms import is_flawless
from proof_r1_formal.credit.verification import Workers
from proof_r1_formal.data.native import to_json
from proof_r1_formal.outputs import write_output
from training.common.display import Display
from training.common.order import Order, Position
from training.common.start import starting_model
from training.common.tasks import (
    Demonstration,
    Task,
    chat_of,
    demonstrations,
    log_left_out,
    make_tasks,
    prompt_text,
    read_files,
    training_problems,
)
from training.common.tokenizer import load_tokenizer
from training.config import Config, ConfigError
from training.merge import write_merged
from training.openrlhf.flags import Place

_T = TypeVar("_T")


class PromptLabel(msgspec.Struct, frozen=True):
    """The label of a prompt: what its completions are verified against.

    Attributes:
        problem: as JSON.
        evaluation: whether the chosen option is found as evaluation finds it.
    """

    problem: str
    evaluation: bool


class _Prompt(msgspec.Struct, frozen=True):
    prompt: str
    label: str


class _Demonstration(msgspec.Struct, frozen=True):
    prompt: str
    response: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is there before a run starts.

    Attributes:
        model: folder of the policy to start from.
        items: that there are to learn from.
        steps: that there will be.
    """

    model: Path
    items: int
    steps: int


def prepare(config: Config, display: Display) -> Prepared:
    """Write what a run reads.

    Args:
        config: of the run.
        display: logs how many problems are left out.

    Raises:
        ProofR1Error: what the configuration names cannot be used.
    """
    place = Place(Path(config.output))
    problems = training_problems(config, display)
    model = _model(config, problems).absolute()  # workers may be elsewhere
    tokenizer = load_tokenizer(model)
    tasks = _tasks(problems, tokenizer, config, display)
    place.prompts.parent.mkdir(parents=True, exist_ok=True)
    if config.method == "sft":
        given = demonstrations(tasks, tokenizer, config, display)
        good = _verified(_short_enough(given, tokenizer, config, display), config, display)
        taught = _in_order(good, config)
        _write(place.prompts, [_demonstration(one, tokenizer, config) for one in taught])
        return Prepared(model, len(good), len(taught) // config.batch.problems)
    learned = _in_order(tasks, config)
    _write(place.prompts, [_prompt(task, tokenizer, config, evaluation=False) for task in learned])
    scored = list(read_files(config.data.evaluation, config.data, display).values())[: config.evaluation.problems]
    asked = _tasks(scored, tokenizer, config, display)
    _write(place.evaluation, [_prompt(task, tokenizer, config, evaluation=True) for task in asked])
    return Prepared(model, len(tasks), len(learned) // config.batch.problems)


def _model(config: Config, problems: list[Problem]) -> Path:
    """The folder of the model: made, merged with the adapter of its warm-up, or the one that is named."""
    start = Path(starting_model(config, problems))
    if config.model.warm_up is None:
        return start
    folder = Path(config.output) / "initial"
    if not folder.exists():
        write_merged(config.model, start, folder)
    return folder


def _tasks(
    problems: Sequence[Problem], tokenizer: PreTrainedTokenizerFast, config: Config, display: Display
) -> tuple[Task, ...]:
    made = make_tasks(problems, tokenizer, config.data, max_prompt_tokens=config.rollout.max_prompt_tokens)
    log_left_out(made.left_out, "prompts", display)
    return made.tasks


def _in_order(items: Sequence[_T], config: Config) -> list[_T]:
    """The items as the steps take them.

    Raises:
        ConfigError: there are not enough for a step.
    """
    order, size = Order(len(items), config.seed, config.data.epochs), config.batch.problems
    steps = min(config.optimiser.steps, len(items) * config.data.epochs // size)
    if steps == 0:
        raise ConfigError("data.train", f"there are {len(items)} items to learn from, and a step takes {size}")
    chosen, _ = order.take(Position(), steps * size)
    return [items[item] for item in chosen]


def _short_enough(
    given: Sequence[Demonstration], tokenizer: PreTrainedTokenizerFast, config: Config, display: Display
) -> list[Demonstration]:
    """The demonstrations that end within the tokens of a response; OpenRLHF would teach the others to break off."""
    longest = config.rollout.max_response_tokens - 1  # and the end
    short = [one for one in given if len(tokenizer.encode(one.answer, add_special_tokens=False)) <= longest]
    log_left_out(Counter({"it is too long": len(given) - len(short)}), "demonstrations", display)
    return short


def _verified(given: Sequence[Demonstration], config: Config, display: Display) -> list[Demonstration]:
    """The demonstrations that pass every check, or all if they are to be taken as they are."""
    if not config.data.checked:
        return list(given)
    settings = Settings(rules=config.data.rules, evaluation=False)
    with Workers(settings, count=config.rollout.workers, timeout=config.rollout.timeout) as workers:
        checks = [workers.verify(one.task.problem, one.answer) for one in given]
        good = [one for one, check in zip(given, checks, strict=True) if is_flawless(check.result().report)]
    log_left_out(Counter({"a check fails": len(given) - len(good)}), "demonstrations", display)
    return good


def _prompt(task: Task, tokenizer: PreTrainedTokenizerFast, config: Config, *, evaluation: bool) -> _Prompt:
    label = PromptLabel(to_json(task.problem), evaluation)
    text = prompt_text(task.problem, config.data, chat_of(tokenizer, config.data))
    return _Prompt(text, msgspec.json.encode(label).decode())


def _demonstration(one: Demonstration, tokenizer: PreTrainedTokenizerFast, config: Config) -> _Demonstration:
    text = prompt_text(one.task.problem, config.data, chat_of(tokenizer, config.data))
    # without its own end, OpenRLHF would put a space before the one that it adds
    return _Demonstration(text, f"{one.answer}{tokenizer.eos_token or ''}")


def _write(path: Path, rows: Iterable[msgspec.Struct]) -> None:
    write_output(path, b"".join([msgspec.json.encode(row) + b"\n" for row in rows]))
