"""Advantages of ``proof_r1_formal.credit.methods`` for OpenRLHF's experiences.

In: experiences with the sampled token ids and, as labels, the agent's verdicts (``agent.VerifiedLabel``). Out: the
same experiences with ``advantages``, nonzero on the tokens of actions only. Their ``info`` holds what each rollout adds
to the divisor of the loss. The process that controls the run keeps the baselines of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import msgspec
import torch
from msgspec import structs
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
from torch import Tensor

from proof_r1_formal import catalogue
from proof_r1_formal.credit.methods import METHODS, GroupCredits, credit_batch, rollout_of
from proof_r1_formal.credit.pieces import TokenPieces
from proof_r1_formal.credit.terms import Baselines
from proof_r1_formal.data.native import from_json
from training.common.order import chunks
from training.common.outcomes import ScoredRollout
from training.common.tokenizer import load_tokenizer
from training.config import Config
from training.openrlhf.agent import VerifiedLabel

UNITS = "units"
"""In ``info``: what a rollout adds to the number by which the loss of its mini-batch is divided."""


@dataclass(frozen=True, slots=True)
class Row:
    """A rollout in a batch of experiences.

    Attributes:
        experience: the batch.
        number: of the rollout in it.
    """

    experience: Experience
    number: int

    @property
    def sampled(self) -> Tensor:
        """Which columns of tensors over actions are tokens that were sampled: column j is about token j + 1."""
        columns: Tensor = self.experience.action_mask[self.number].bool()
        return columns

    @property
    def ids(self) -> list[int]:
        """The tokens that were sampled."""
        after_the_first = self.experience.sequences[self.number, 1:]
        sampled: list[int] = after_the_first[self.sampled].tolist()
        return sampled


@dataclass(frozen=True, slots=True)
class Made:
    """The results of the rollouts of a step, before the updates.

    Attributes:
        groups: the rollouts of each problem.
        credit: what they earn.
        kl: to the reference policy, in nats per rollout (k3, summed over tokens).
        surprise: mean of -log p over the tokens, which estimates the policy's entropy.
        mismatch: mean over the tokens of what the engine's log-probabilities are above the policy's.
    """

    groups: tuple[tuple[ScoredRollout, ...], ...]
    credit: GroupCredits
    kl: float
    surprise: float
    mismatch: float


def pieces_of(model: str) -> TokenPieces:
    """What the tokens of a model say, as its ``tokenizer.json`` has it."""
    return TokenPieces(load_tokenizer(model).backend_tokenizer.to_str())


def rows_of(experiences: Sequence[Experience]) -> list[Row]:
    """The rollouts of some batches in the order in which they were sampled: those of a problem stand together."""
    placed = [
        (index, Row(experience, number)) for experience in experiences for number, index in enumerate(experience.index)
    ]
    return [row for _, row in sorted(placed, key=lambda pair: pair[0])]


def scored_rollout(row: Row, number: int, pieces: TokenPieces, config: Config) -> ScoredRollout:
    """A rollout as credit takes it.

    Args:
        row: the rollout.
        number: of the sample.
        pieces: of the tokenizer.
        config: of the run.
    """
    label = msgspec.json.decode(row.experience.labels[row.number], type=VerifiedLabel)
    checked = structs.replace(label, report=structs.replace(label.report, sample=number)).checked
    text = pieces.read(row.ids)
    return ScoredRollout(
        problem=from_json(label.problem),
        number=number,
        text=text.text,
        tokens=len(text.pieces),
        ended=not row.experience.truncated[row.number].item(),
        checked=checked,
        rollout=rollout_of(checked.report, text, config.credit, verified=checked.failure is None),
    )


class ProofExperienceMaker(RemoteExperienceMaker):
    """Makes experiences; the advantages are ours, all else is OpenRLHF's.

    Its arguments are OpenRLHF's; the strategy holds the configuration.
    """

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)
        self._config: Config = self.strategy.config
        self._pieces = pieces_of(self.args.actor.model_name_or_path)
        self._baselines = Baselines.start(catalogue(self._config.data.rules), self._config.credit)
        self.made: Made | None = None

    @property
    def baselines(self) -> dict[str, float]:
        """The moving averages of the rules."""
        return dict(self._baselines.averages)

    @baselines.setter
    def baselines(self, averages: Mapping[str, float]) -> None:
        self._baselines = Baselines(MappingProxyType(dict(averages)))

    @torch.no_grad()
    def compute_advantages_and_returns(self, experiences: list[Experience]) -> list[Experience]:
        """The experiences with what their tokens earn; stores the results of the rollouts in ``made``."""
        config = self._config
        rows = rows_of(experiences)
        grouped = list(chunks(rows, config.rollout.samples))
        groups = tuple(
            [tuple([scored_rollout(row, n, self._pieces, config) for n, row in enumerate(group)]) for group in grouped]
        )
        credit = credit_batch(
            METHODS[config.method], [[one.rollout for one in group] for group in groups], self._baselines, config.credit
        )
        for experience in experiences:
            experience.advantages = torch.zeros_like(experience.action_mask, dtype=torch.float32)
            experience.info[UNITS] = torch.zeros(len(experience.index))
            experience.kl = None  # as OpenRLHF's own advantages leave it
        for row, earned in zip(rows, [one for group in credit.groups for one in group], strict=True):
            row.experience.advantages[row.number, row.sampled] = torch.tensor(earned.advantages)
            row.experience.info[UNITS][row.number] = earned.units
        self._baselines = credit.baselines
        self.made = Made(groups, credit, *_distances(experiences))
        return experiences


def _distances(experiences: Sequence[Experience]) -> tuple[float, float, float]:
    """See :class:`Made`: ``kl``, ``surprise`` and ``mismatch``."""
    kl = surprise = mismatch = tokens = rollouts = 0.0
    for one in experiences:
        mask, now = one.action_mask.bool(), one.action_log_probs.float()
        tokens += mask.sum().item()
        rollouts += len(mask)
        surprise -= now[mask].sum().item()
        mismatch += (one.rollout_log_probs.float() - now)[mask].sum().item()
        if one.base_action_log_probs is not None:
            to_reference = (one.base_action_log_probs.float() - now)[mask]
            kl += (torch.expm1(to_reference) - to_reference).sum().item()
    return kl / rollouts, surprise / tokens, mismatch / tokens
