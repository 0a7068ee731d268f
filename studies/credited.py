"""Rollouts looked at again: the signals that their actions had, and what each term of the credit makes of them.

In: files of rollouts, or a finished run and problems. Out: what ``training.diagnostics`` and ``studies.gradients`` ask
for. Everything is verified again; the rollouts of the gradients are kept in ``gradients.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from msgspec import structs
from peft import load_peft_weights, set_peft_model_state_dict

from proof_r1_formal import Completion, Problem, ProofR1Error, Settings, catalogue, read_completions
from proof_r1_formal.credit.methods import METHODS, credit_batch, divisor, rollout_of
from proof_r1_formal.credit.terms import Baselines
from proof_r1_formal.data.completions import write_completions
from studies.gradients import CreditedRollout
from training.centring import Signal
from training.common.logs import StepRecord, read_log
from training.common.order import chunks
from training.common.start import starting_model
from training.common.tasks import make_tasks
from training.config import Config
from training.local.chance import generator_of, seed_of
from training.local.forward import Example
from training.local.model import Policy, load_policy
from training.local.sampling import Sampling, sample


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


def finished_policy(config: Config) -> Policy:
    """The policy that a run of either engine has trained, from its folder ``model``.

    Raises:
        ProofR1Error: the run has not ended, or the model cannot be used or is not that of the configuration.
    """
    folder = Path(config.output) / "model"
    if not folder.is_dir():
        raise ProofR1Error(f"{folder}: there is no trained model; let the run end")
    if config.model.lora is None:
        return load_policy(structs.replace(config.model, warm_up=None), folder, reference=False)
    policy = load_policy(config.model, starting_model(config, []), reference=False)
    assert policy.adapted is not None
    weights = load_peft_weights(str(folder), device=str(policy.device))
    unknown: list[str] = set_peft_model_state_dict(policy.adapted, weights).unexpected_keys  # type: ignore[attr-defined]
    if unknown:
        raise ProofR1Error(f"{folder}: the adapter has weights that model.lora does not name, such as {unknown[0]}")
    return policy


def last_baselines(config: Config) -> Baselines:
    """The baselines after the last step of a run; those before the first if it has none."""
    records = read_log(Path(config.output) / "log.jsonl")
    averages = [record.baselines for record in records if isinstance(record, StepRecord)][-1:]
    if averages:
        return Baselines(MappingProxyType(averages[0]))
    return Baselines.start(catalogue(config.data.rules), config.credit)


def sampled_batch(config: Config, problems: Sequence[Problem]) -> SampledBatch:
    """A mini-batch that the policy of a finished run samples, credited as ``proof_r1`` does.

    Args:
        config: of the run; without baselines of its own, they are those before the first batch.
        problems: of the mini-batch.
    """
    policy, baselines, rollout = finished_policy(config), last_baselines(config), config.rollout
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
