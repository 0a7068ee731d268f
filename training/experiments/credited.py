"""Rollouts looked at again: the signals that their actions had, and what each term of the credit makes of them.

In: files of rollouts, or a finished run and problems. Out: what ``training.diagnostics`` and ``training.gradients`` ask
for. Everything is verified again; the rollouts of the gradients are kept in ``gradients.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from proof_r1_formal import Completion, Problem, ProofR1Error, Settings, catalogue, read_completions
from proof_r1_formal.data.completions import write_completions
from training.common.order import chunks
from training.common.tasks import make_tasks
from training.config import Config
from training.credit import Baselines
from training.diagnostics import Signal
from training.experiments.runs import trained_policy
from training.gradients import CreditedRollout
from training.local.chance import generator_of, seed_of
from training.local.forward import Example
from training.local.model import Policy
from training.local.sampling import Sampling, sample
from training.methods import METHODS, credit_batch, divisor, rollout_of


def signals_of(files: Iterable[Path], problems: Mapping[str, Problem], config: Config) -> list[list[Signal]]:
    """The rule and the signal of every action, problem by problem of each step.

    Args:
        files: rollouts, one file for each step.
        problems: that they are about, by id.
        config: of the run.

    Raises:
        ProofR1Error: a line is not a rollout.
    """
    verifier = Settings(rules=config.data.rules, evaluation=False).verifier()
    baselines = Baselines.start(catalogue(config.data.rules), config.credit)
    groups: dict[tuple[Path, str], list[Signal]] = {}
    for file in files:
        for line in read_completions(file):
            if not isinstance(line, Completion):
                raise ProofR1Error(f"{file}, line {line.line}: {line.problem}")
            report = verifier.verify(problems[line.problem_id], line.completion)
            signals = [(baselines.bucket(action.declared_rule), action.signal) for action in report.actions]
            groups.setdefault((file, line.problem_id), []).extend(signals)
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class SampledBatch:
    """A mini-batch of rollouts with the policy that sampled them, and N_B."""

    policy: Policy
    rollouts: tuple[CreditedRollout, ...]
    divisor: int


def sampled_batch(config: Config, problems: Sequence[Problem]) -> SampledBatch:
    """A mini-batch that the policy of a finished run samples, credited as ``proof_r1`` does.

    Args:
        config: of the run; without baselines of its own, they are those before the first batch.
        problems: of the mini-batch.
    """
    policy, state = trained_policy(config)
    rollout, rules = config.rollout, catalogue(config.data.rules)
    averages = MappingProxyType(state.baselines)
    baselines = Baselines(averages) if averages else Baselines.start(rules, config.credit)
    tasks = make_tasks(problems, policy.tokenizer, config.data, max_prompt_tokens=rollout.max_prompt_tokens).tasks
    sampling = Sampling(
        rollout.samples, rollout.temperature, rollout.top_p, rollout.max_response_tokens, rollout.parallel
    )
    generator = generator_of(seed_of(config.seed, "gradients"), policy.device)
    drawn = sample(policy, [task.prompt for task in tasks], sampling, generator)
    texts = [policy.pieces.read(one.ids) for one in drawn]
    verifier = Settings(rules=config.data.rules, evaluation=False).verifier()
    about = [tasks[one.prompt] for one in drawn]
    rollouts = [
        rollout_of(verifier.verify(task.problem, text.text), text, config.credit)
        for task, text in zip(about, texts, strict=True)
    ]
    write_completions(
        Path(config.output) / "gradients.jsonl",
        [
            Completion(problem_id=task.problem.id, sample=one.number, completion=text.text)
            for task, one, text in zip(about, drawn, texts, strict=True)
        ],
    )
    batch = credit_batch(METHODS["proof_r1"], list(chunks(rollouts, rollout.samples)), baselines, config.credit)
    credits_ = [credit for group in batch.groups for credit in group]
    credited = [
        CreditedRollout.of(Example(task.prompt, one.ids), rollout_, credit)
        for task, one, rollout_, credit in zip(about, drawn, rollouts, credits_, strict=True)
    ]
    return SampledBatch(policy, tuple(credited), divisor(credits_))
