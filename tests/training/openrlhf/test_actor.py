"""The gradient of the policy's processes is the local engine's, whatever the ranks and micro-batches."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from msgspec import structs
from torch import Tensor

from proof_r1_formal.credit.methods import TokenCredit
from training.common.order import chunks
from training.config import Config, read_config
from training.local.forward import Example, log_probs, pad, rows_of
from training.local.model import load_policy
from training.local.update import Micro, update
from training.openrlhf.cpu import install
from training.openrlhf.flags import command

install()

from openrlhf.trainer.ppo_utils.experience import Experience  # noqa: E402 (only once it can be imported)

from training.openrlhf.experience import UNITS  # noqa: E402

RANK = Path(__file__).with_name("rank.py")
ROLLOUTS = 8
pytestmark = pytest.mark.slow


class Batch:
    """Rollouts of uneven lengths with log-probabilities away from the policy's, and any advantages."""

    def __init__(self, config: Config, model: Path) -> None:
        generator = torch.Generator().manual_seed(3)
        self.policy = load_policy(config.model, model)
        numbers = [tuple(torch.randint(2, 300, (20,), generator=generator).tolist()) for _ in range(ROLLOUTS)]
        self.examples = [Example(ids[: 3 + n % 4], ids[3 + n % 4 : 8 + 3 * (n % 5)]) for n, ids in enumerate(numbers)]
        rows = rows_of(self.examples, torch.device("cpu"))
        with torch.no_grad():
            now, _ = log_probs(self.policy.model, rows)
        self.mask = rows.mask

        def beside(spread: float) -> Tensor:
            return now + spread * torch.randn(now.shape, generator=generator)

        self.old, self.reference = beside(0.4), beside(0.8)
        self.advantages = torch.randn(now.shape, generator=generator).round(decimals=3) * self.mask
        self.units = [1 + n % 3 for n in range(ROLLOUTS)]

    def length(self, row: int) -> int:
        return len(self.examples[row].response)

    def gradient(self, config: Config) -> dict[str, Tensor]:
        """That of the local engine."""
        micros = []
        for rows in chunks(range(ROLLOUTS), config.batch.micro):
            part = rows_of([self.examples[row] for row in rows], torch.device("cpu"))
            width = part.mask.shape[1]
            micros.append(Micro(part, self.reference[list(rows), :width], self.old[list(rows), :width]))
        credit = [
            TokenCredit(tuple(self.advantages[row, : self.length(row)].tolist()), self.units[row])
            for row in range(ROLLOUTS)
        ]
        before = {name: weight.detach().clone() for name, weight in self.policy.trained().items()}
        descent = torch.optim.SGD(self.policy.trained().values(), lr=1.0)
        mini = list(chunks(credit, config.rollout.samples))
        update(self.policy, descent, [micros], mini, batch=config.batch, loss=config.loss, max_gradient_norm=1e9)
        return {name: before[name] - weight.detach() for name, weight in self.policy.trained().items()}

    def experiences(self, rows: Sequence[int]) -> Experience:
        """Some rollouts as OpenRLHF has them."""
        sequences, attended = pad(
            [(*self.examples[row].prompt, *self.examples[row].response) for row in rows], torch.device("cpu")
        )
        width = sequences.shape[1] - 1
        mask = torch.zeros(len(rows), width)
        tensors = {name: torch.zeros(len(rows), width) for name in ("old", "reference", "advantages")}
        for place, row in enumerate(rows):
            start, length = len(self.examples[row].prompt) - 1, self.length(row)
            mask[place, start : start + length] = 1
            for name, tensor in tensors.items():
                tensor[place, start : start + length] = getattr(self, name)[row, :length]
        return Experience(
            sequences=sequences,
            attention_mask=attended.long(),
            action_mask=mask,
            action_log_probs=tensors["old"],
            base_action_log_probs=tensors["reference"],
            rollout_log_probs=tensors["old"],
            advantages=tensors["advantages"],
            index=list(rows),
            info={UNITS: torch.tensor([float(self.units[row]) for row in rows])},
        )


@pytest.fixture
def batch(given: Path, warmed_up: Path) -> tuple[Config, Batch]:
    """The rollouts of a mini-batch of two problems."""
    config = read_config(given, ["batch={problems: 2, mini: 2, micro: 2, epochs: 1}", "loss.kl_weight=0.05"])
    local = structs.replace(config.model, lora=None, dtype="float32")
    return config, Batch(structs.replace(config, model=local), warmed_up)


def descend(ranks: int, parts: list[list[Experience]], config: Config, arguments: Namespace, folder: Path) -> None:
    """One step of gradient descent by some processes."""
    torch.save((arguments, config, parts, config.model.path), folder / "batch.pt")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    compiled = folder / "compiled"
    shared = {**os.environ, "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    shared["TORCH_EXTENSIONS_DIR"] = str(compiled)
    processes = [
        subprocess.Popen([sys.executable, str(RANK), str(folder)], env={**shared, "RANK": str(rank), "LOCAL_RANK": "0"})
        for rank in range(ranks)
    ]
    assert [process.wait() for process in processes] == [0] * ranks
    assert not compiled.exists()  # without GPUs, DeepSpeed needs no compiler, and no minutes for it


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_gradient_is_that_of_the_local_engine(
    ranks: int, batch: tuple[Config, Batch], parse: Callable[[list[str]], Namespace], tmp_path: Path
) -> None:
    config, rollouts = batch
    several = structs.replace(config, cluster=structs.replace(config.cluster, gpus=ranks))
    size = ROLLOUTS // ranks
    parts = [
        [rollouts.experiences(range(first, first + 2)) for first in range(rank * size, (rank + 1) * size, 2)]
        for rank in range(ranks)
    ]
    before = {name: weight.detach().clone() for name, weight in rollouts.policy.trained().items()}
    descend(ranks, parts, several, parse(command(several)), tmp_path)
    after = torch.load(tmp_path / "weights.pt")
    wanted = rollouts.gradient(config)
    largest = max(gradient.abs().max().item() for gradient in wanted.values())
    assert largest > 1e-3
    for name, gradient in wanted.items():
        assert torch.allclose(before[name] - after[name], gradient, rtol=1e-3, atol=1e-5 * largest), name
