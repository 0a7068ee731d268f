"""The log of a run: one JSON object per line in ``log.jsonl``, and the same numbers for TensorBoard.

A line is a :class:`StepRecord`, an :class:`ImitationRecord` or an :class:`EvaluationRecord`; its ``kind`` says which.
:func:`read_log` reads them back. Their attributes are documented here.

A run that resumes from a checkpoint truncates the log to it, so every step is logged once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import msgspec
from torch.utils.tensorboard import SummaryWriter

from proof_r1_formal import ProofR1Error
from proof_r1_formal.outputs import writing


class Seconds(msgspec.Struct, frozen=True, kw_only=True):
    """Wall-clock seconds of the parts of a step.

    Attributes:
        rollout: sampling.
        reference: log-probabilities under the reference policy, and before the first update if there are several.
        verification: waiting for the remaining reports.
        update: passes forward and back, and the optimiser.
        total: of the step, with all other work (data, credit, files).
    """

    rollout: float = 0.0
    reference: float = 0.0
    verification: float = 0.0
    update: float = 0.0
    total: float = 0.0


class StepRecord(msgspec.Struct, frozen=True, kw_only=True, tag="step", tag_field="kind"):
    """A step of a method that learns from rollouts. Shares and means are over the rollouts of the step.

    Attributes:
        step: its number, from 1.
        epoch: the pass over the problems, from 0.
        learning_rate: of the step.
        problems, rollouts: how many.
        reward: mean of the method's reward; for per-action methods 1 for an eligible rollout with the right answer.
        parsed, answered, correct, verified: share with a summary that is read, with a chosen option, with the right
            one, and with the right one and an entailed closure (of those problems that count in the metrics).
        eligible: share that takes part in the outcome.
        signal: mean over actions.
        signals: share of actions with signal 0.0, 0.1, 0.3 and 1.0.
        fvr, rvr: as in evaluation, over the rollouts.
        actions, closure: mean number of actions, and of those in the closure.
        padding: mean number of entailed actions outside the used closure; 0 in older logs.
        useless: mean number of those that pass all four checks; 0 in older logs.
        error_global, error_by_rule: error of one baseline of signals, and of one per rule, cross-validated over the
            problems of the step (``training.centring``); 0 in older logs.
        leaps: share whose step to the answer is itself a wrong one (``credit.terms.is_leap``); 0 in older logs.
        mapped, unmapped: number of actions with tokens, and without.
        units: N_B, the divisor of the loss if all rollouts were one mini-batch.
        positive, negative: sums of the positive and of the negative advantages of all tokens.
        silent: share of problems whose rollouts get no advantage at all.
        failed: problems without a right rollout; put_back: those of them that come again.
        broken: completions that could not be verified.
        tokens: mean length of a completion; cut: share that did not end by itself.
        entropy: of the policy that sampled, in nats per token, at the temperature of the log-probabilities.
        kl: to the reference policy, in nats per rollout (k3, summed over tokens), before the updates.
        loss: mean over the updates; policy_loss: without the KL term.
        clip_fraction: share of tokens with an advantage at which clipping stops the gradient.
        gradient_norm: mean over the updates, before clipping.
        baselines: of the rules, after the step.
        seconds: wall-clock time of its parts.
        verification_seconds: processor time of verification, in other processes.
        verification_share: that, divided by ``seconds.total``.
        memory: most GiB of GPU memory used so far; 0 on a CPU.
        vllm_kl: mean log-probability of sampled tokens under the engine minus that under the policy, in nats per token;
            0 if the policy itself samples.
    """

    step: int
    epoch: int
    learning_rate: float
    problems: int
    rollouts: int
    reward: float
    parsed: float
    answered: float
    correct: float
    verified: float
    eligible: float
    signal: float
    signals: dict[str, float]
    fvr: float
    rvr: float
    actions: float
    closure: float
    mapped: int
    unmapped: int
    units: int
    positive: float
    negative: float
    silent: float
    failed: int
    put_back: int
    broken: int
    tokens: float
    cut: float
    entropy: float
    kl: float
    loss: float
    policy_loss: float
    clip_fraction: float
    gradient_norm: float
    baselines: dict[str, float]
    seconds: Seconds
    verification_seconds: float
    verification_share: float
    memory: float
    vllm_kl: float = 0.0
    padding: float = 0.0
    useless: float = 0.0
    leaps: float = 0.0
    error_global: float = 0.0
    error_by_rule: float = 0.0


class ImitationRecord(msgspec.Struct, frozen=True, kw_only=True, tag="imitation", tag_field="kind"):
    """A step of ``sft``.

    Attributes:
        step, epoch, learning_rate: as above.
        demonstrations: number of demonstrations of the step.
        left_out: number of demonstrations that failed a check or are too long.
        tokens: of their completions.
        loss: mean over those tokens, in nats.
        gradient_norm: mean over the updates, before clipping.
        seconds: as above.
        memory: as above.
    """

    step: int
    epoch: int
    learning_rate: float
    demonstrations: int
    left_out: int
    tokens: int
    loss: float
    gradient_norm: float
    seconds: Seconds
    memory: float


class Score(msgspec.Struct, frozen=True):
    """A score, see ``proof_r1_formal.evaluation.measures.Estimate``.

    Attributes:
        value: of the score.
        spread: None for a single sample.
        interval: of 95 %, by bootstrap over problems; None in older logs, and where too few draws define the score.
    """

    value: float
    spread: float | None
    interval: tuple[float, float] | None = None


class EvaluationRecord(msgspec.Struct, frozen=True, kw_only=True, tag="evaluation", tag_field="kind"):
    """Scores of the policy after a step.

    Attributes:
        step: number of steps that were done; 0 before the first.
        problems, samples: how many.
        scores: by name (``Avg``, ``Pass``, ``FVR``, ``RVR``, ``RGD``, ``Right and verified``, …).
        signal: mean over actions.
        actions, closure: mean number of actions, and of those in the closure.
        broken: completions that could not be verified.
        tokens: mean length of a completion.
        seconds: it took.
    """

    step: int
    problems: int
    samples: int
    scores: dict[str, Score]
    signal: float
    actions: float
    closure: float
    broken: int
    tokens: float
    seconds: float


Record: TypeAlias = StepRecord | ImitationRecord | EvaluationRecord

_DECODER = msgspec.json.Decoder(Record)


def read_log(path: Path) -> Iterator[Record]:
    """The records of a log.

    Raises:
        ProofR1Error: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield _DECODER.decode(line)
                except msgspec.DecodeError as error:
                    raise ProofR1Error(f"{path}, line {number}: this is not a record: {error}") from error
    except OSError as error:
        raise ProofR1Error(f"{path}: the log cannot be read: {error.strerror}") from error


class Log:
    """Writes records. Use it in a ``with`` statement.

    Args:
        folder: of the run.
        size: number of bytes of the log to keep.
        step: the last step to keep.
        tensorboard: whether TensorBoard's files are written, too.
    """

    def __init__(self, folder: Path, *, size: int, step: int, tensorboard: bool) -> None:
        self._path = folder / "log.jsonl"
        with writing(self._path):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
            self._file.truncate(size)
        self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=step + 1) if tensorboard else None

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with writing(self._path):  # it writes again what could not be written
            self._file.close()
        if self._board is not None:
            with writing(self._path.with_name("tensorboard")):
                self._board.close()

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._file.tell()

    def write(self, record: Record) -> None:
        """Add a record."""
        with writing(self._path):
            self._file.write(msgspec.json.encode(record) + b"\n")
            self._file.flush()
        if self._board is not None:
            with writing(self._path.with_name("tensorboard")):
                for name, value in _numbers(msgspec.to_builtins(record), type(record).__struct_config__.tag):
                    self._board.add_scalar(name, value, record.step)


def _numbers(value: object, name: object) -> Iterator[tuple[str, float]]:
    """The numbers of a record by the path to them, except for the step."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in ("kind", "step"):
                yield from _numbers(part, f"{name}/{key}")
    elif isinstance(value, int | float):
        yield str(name), value
