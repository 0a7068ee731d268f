"""A step of ``sft``: demonstrations, verified, to an update of the weights.

Demonstrations of the next step are verified while the device learns from those of this one. One that fails any check is
left out and counted; that is not asked of demonstrations that are to be taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

import torch

from proof_r1_formal.credit.terms import is_flawless
from proof_r1_formal.credit.verification import Checked, Workers
from training.common.logs import ImitationRecord
from training.common.order import Order
from training.common.tasks import Demonstration
from training.config import Config
from training.local.chance import seed_of
from training.local.clock import Stopwatch
from training.local.forward import Example
from training.local.model import Policy
from training.local.update import Imitated, imitate


class ImitationLearner:
    """Learns from demonstrations.

    Args:
        policy: is changed.
        optimiser: of it.
        demonstrations: of which each item of the order is one.
        config: of the run.
        workers: verify.
    """

    def __init__(
        self,
        policy: Policy,
        optimiser: torch.optim.Optimizer,
        demonstrations: Sequence[Demonstration],
        config: Config,
        workers: Workers,
    ) -> None:
        self._policy, self._optimiser, self._config = policy, optimiser, config
        self._demonstrations, self._workers = demonstrations, workers
        self._asked: dict[int, Future[Checked]] = {}
        self._passed: dict[int, bool] = {}
        self.order = Order(len(demonstrations), config.seed, config.data.epochs)
        self.baselines: dict[str, float] = {}

    def step(
        self, step: int, items: tuple[int, ...], upcoming: tuple[int, ...], *, epoch: int, rate: float
    ) -> tuple[ImitationRecord, tuple[int, ...]]:
        """Learn from some demonstrations.

        Args:
            step: its number, from 1.
            items: which demonstrations.
            upcoming: those of the next step.
            epoch: the pass that they are from.
            rate: the learning rate, for the record.

        Returns:
            What happened; and the items to be put back, of which there are none.
        """
        watch = Stopwatch(self._policy.device)
        torch.manual_seed(seed_of(self._config.seed, "imitation", step))
        self._ask(items)
        with watch.part("verification"):
            good = [item for item in items if self._passes(item)]
        self._ask(upcoming)
        examples = [self._example(item) for item in good]
        longest = self._config.rollout.max_response_tokens
        examples = [example for example in examples if len(example.response) <= longest]
        done = Imitated(0.0, 0, 0.0)
        if examples:
            with watch.part("update"):
                done = imitate(
                    self._policy,
                    self._optimiser,
                    examples,
                    batch=self._config.batch,
                    max_gradient_norm=self._config.optimiser.max_gradient_norm,
                )
        record = ImitationRecord(
            step=step,
            epoch=epoch,
            learning_rate=rate,
            demonstrations=len(examples),
            left_out=len(items) - len(examples),
            tokens=done.tokens,
            loss=done.loss,
            gradient_norm=done.gradient_norm,
            seconds=watch.seconds(),
            memory=watch.memory(),
        )
        return record, ()

    def _ask(self, items: Sequence[int]) -> None:
        """Have demonstrations verified that were not yet."""
        if self._config.data.checked:
            for item in set(items) - self._asked.keys() - self._passed.keys():
                one = self._demonstrations[item]
                self._asked[item] = self._workers.verify(one.task.problem, one.answer)

    def _passes(self, item: int) -> bool:
        if not self._config.data.checked:
            return True
        if item in self._asked:
            self._passed[item] = is_flawless(self._asked.pop(item).result().report)
        return self._passed[item]

    def _example(self, item: int) -> Example:
        """The demonstration in tokens; the last one ends the text."""
        one, tokenizer = self._demonstrations[item], self._policy.tokenizer
        answer = tokenizer.encode(one.answer, add_special_tokens=False)
        end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        return Example(one.task.prompt, (*answer, *end))
