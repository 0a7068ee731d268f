"""Runs: a configuration to a trained model, and a model to scores on problems that it has not seen.

What is done leaves a file: the engine's ``model/``, and ``scores.json`` when a run has been scored. A run that was
stopped resumes from its latest checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec
import torch
from msgspec import structs
from rich.console import Console

from proof_r1_formal import Completion, Problem, Settings, TraceReport, evaluate_metrics
from proof_r1_formal.data.completions import write_completions
from proof_r1_formal.metrics.measures import Measure
from training.common.display import Display
from training.common.folders import write_folder
from training.common.logs import EvaluationRecord, read_log
from training.common.order import chunks
from training.common.start import starting_model
from training.common.tasks import make_tasks, read_files
from training.config import Config, Model
from training.local import checkpoint
from training.local.chance import generator_of, seed_of
from training.local.checkpoint import State
from training.local.forward import Example, log_probs, rows_of
from training.local.model import Policy, load_policy
from training.local.sampling import Sampling, sample
from training.local.trainer import train

DECODINGS: Mapping[str, tuple[float, int]] = {"greedy": (0.0, 1), "sampled": (1.0, 3)}
"""Temperature and number of samples."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "easy": ("easy",),
    "medium": ("medium",),
    "hard": ("hard",),
    "easy to hard": ("easy", "medium", "hard"),
    "names": ("names",),
    "folio": ("folio",),
}
"""What scores are given for, and the sets of problems in it."""


class Scored(msgspec.Struct, frozen=True):
    """How a policy did on some problems, decoded in one way.

    Attributes:
        measures: by name, see ``proof_r1_formal.evaluate_metrics``.
        actions, closure: mean number of actions, and of those in the closure.
        entropy: of the policy over its own completions, in nats per token.
        tokens: mean length of a completion.
    """

    measures: dict[str, float]
    actions: float
    closure: float
    entropy: float
    tokens: float


Scores = dict[str, dict[str, Scored]]
"""Decoding -> group -> scores."""


@dataclass(frozen=True, slots=True)
class Task:
    """A run: train as configured, then score.

    Attributes:
        config: of the run; its output is where everything is left.
        held_out: the files of problems to score on.
    """

    config: Config
    held_out: tuple[Path, ...]

    @property
    def folder(self) -> Path:
        """Of the run."""
        return Path(self.config.output)

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return (self.folder / "scores.json").exists()


def perform(task: Task) -> Path:
    """Train and score; returns the folder of the run."""
    if not (task.folder / "model").exists():
        train_quietly(task.config)
    if not task.done:
        score(task.config, task.held_out)
    return task.folder


def train_quietly(config: Config) -> None:
    """Train, and leave what a terminal would show in ``console.txt``."""
    folder = Path(config.output)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "console.txt").open("a", encoding="utf-8") as file, Display(Console(file=file)) as display:
        train(config, display)


def evaluation_at_the_end(config: Config) -> EvaluationRecord:
    """The evaluation after the last step of a finished run."""
    records = [r for r in read_log(Path(config.output) / "log.jsonl") if isinstance(r, EvaluationRecord)]
    return next(record for record in records if record.step == config.optimiser.steps)


# -- models -----------------------------------------------------------------------------------------------------------


def trained_policy(config: Config) -> tuple[Policy, State]:
    """The policy that a finished run has trained, and where the run was."""
    latest = checkpoint.latest(Path(config.output) / "checkpoints")
    assert latest is not None  # a finished run has one
    policy = load_policy(config.model, starting_model(config, []), reference=False)
    checkpoint.restore(latest, policy)
    return policy, checkpoint.read_state(latest)


def next_model(config: Config) -> Model:
    """The model of a run that starts where a finished one has ended; adapters are merged into the weights first."""
    folder = Path(config.output) / "model"
    if config.model.lora is not None:
        folder = Path(config.output) / "merged"
        if not folder.exists():
            policy, _ = trained_policy(config)
            assert policy.adapted is not None
            write_folder(folder, lambda new: _save_merged(policy, new))
    return structs.replace(config.model, path=str(folder), scratch=None, warm_up=None)


def _save_merged(policy: Policy, folder: Path) -> None:
    assert policy.adapted is not None
    policy.adapted.merge_and_unload().save_pretrained(folder)
    policy.tokenizer.save_pretrained(folder)


# -- scoring ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion on a held-out problem, and what it was found to be."""

    problem: Problem
    tokens: int
    entropy: float
    report: TraceReport


def score(config: Config, files: Sequence[Path]) -> Scores:
    """Score what a finished run has trained; writes ``scores.json`` and the completions.

    Args:
        config: of the run.
        files: of problems; their difficulty names the set that they are of.
    """
    folder = Path(config.output)
    policy, _ = trained_policy(config)
    problems = list(read_files(list(map(str, files)), config.data, Display(Console(stderr=True))).values())
    found: Scores = {}
    for decoding, (temperature, samples) in DECODINGS.items():
        given = answers(policy, problems, config, temperature, samples, folder / "held-out" / f"{decoding}.jsonl")
        found[decoding] = {
            group: _scored([answer for answer in given if answer.problem.difficulty in sets])
            for group, sets in GROUPS.items()
        }
    new = folder / ".scores.json.new"
    new.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1))
    new.rename(folder / "scores.json")
    return found


def read_scores(folder: Path) -> Scores:
    """The scores of a run that is done."""
    return msgspec.json.decode((folder / "scores.json").read_bytes(), type=Scores)


def answers(
    policy: Policy, problems: Sequence[Problem], config: Config, temperature: float, samples: int, path: Path
) -> list[Answer]:
    """Sample completions, verify them and keep them.

    Args:
        policy: answers.
        problems: that are asked; those whose prompt is too long are left out.
        config: of the run, for the prompt and for the sizes.
        temperature, samples: of sampling.
        path: of the file of completions.
    """
    tasks = make_tasks(
        problems, policy.tokenizer, config.data, max_prompt_tokens=config.rollout.max_prompt_tokens
    ).tasks
    rollout = config.rollout
    sampling = Sampling(samples, temperature, 1.0, rollout.max_response_tokens, rollout.parallel)
    generator = generator_of(seed_of(0, "held-out"), policy.device)
    drawn = sample(policy, [task.prompt for task in tasks], sampling, generator)
    examples = [Example(tasks[one.prompt].prompt, one.ids) for one in drawn]
    texts = [policy.pieces.read(one.ids).text for one in drawn]
    entropies = list(_entropies(policy, examples, config.batch.micro))
    verifier = Settings(rules=config.data.rules).verifier()
    reports = [
        verifier.verify(tasks[one.prompt].problem, text, sample=one.number)
        for one, text in zip(drawn, texts, strict=True)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_completions(
        path,
        [
            Completion(problem_id=tasks[one.prompt].problem.id, sample=one.number, completion=text)
            for one, text in zip(drawn, texts, strict=True)
        ],
    )
    return [
        Answer(tasks[one.prompt].problem, len(one.ids), entropy, report)
        for one, entropy, report in zip(drawn, entropies, reports, strict=True)
    ]


def _entropies(policy: Policy, examples: Sequence[Example], size: int) -> Iterable[float]:
    """The entropy over each completion, summed over tokens."""
    with torch.no_grad(), policy.precision():
        for chunk in chunks(examples, size):
            rows = rows_of(chunk, policy.device)
            yield from log_probs(policy.model, rows, share=policy.share)[1].sum(-1).tolist()


def _scored(answers: Sequence[Answer]) -> Scored:
    reports = [answer.report for answer in answers]
    actions = [action for report in reports for action in report.actions]
    scores = evaluate_metrics({answer.problem.id: answer.problem for answer in answers}, reports).overall.scores
    tokens = [answer.tokens for answer in answers]
    return Scored(
        measures={str(measure): scores[measure].value for measure in Measure},
        actions=len(actions) / len(reports),
        closure=sum([action.in_closure for action in actions]) / len(reports),
        entropy=sum([answer.entropy for answer in answers]) / sum(tokens),
        tokens=fmean(tokens),
    )
