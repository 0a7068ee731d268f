"""The gradient of OpenRLHF's own loss with our advantages is that of the method, for any ranks and micro-batches."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from without_gpu import install

from studies.policy_loss import policy_loss

install()

from rollouts import make_case  # noqa: E402 (only once it can be imported)
from transformers import AutoModelForCausalLM  # noqa: E402

RANK = Path(__file__).with_name("rank.py")
pytestmark = pytest.mark.slow


def descend(folder: Path, ranks: int, environment: dict[str, str]) -> None:
    """One step of gradient descent by some processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    compiled = folder / "compiled"
    shared = {**environment, "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    shared["TORCH_EXTENSIONS_DIR"] = str(compiled)
    processes = [
        subprocess.Popen([sys.executable, str(RANK), str(folder)], env={**shared, "RANK": str(rank), "LOCAL_RANK": "0"})
        for rank in range(ranks)
    ]
    assert [process.wait() for process in processes] == [0] * ranks
    assert not compiled.exists()  # without GPUs, DeepSpeed needs no compiler, and no minutes for it


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_gradient_is_that_of_the_method(
    ranks: int,
    given: Path,
    problems: Path,
    warmed_up: Path,
    parse: Callable[..., Any],
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    sizes = "--rollout.batch_size 2 --train.batch_size 8 --train.micro_batch_size 2 --rollout.micro_batch_size 2"
    gpus = f"--actor.num_gpus_per_node {ranks} --ref.num_gpus_per_node {ranks}"
    flags = f"{sizes} {gpus} --train.max_epochs 1 --algo.kl.init_coef 0.05 --rollout.temperature 0.7"
    case = make_case(parse(given, *flags.split()), problems, warmed_up)
    maker = case.maker()
    experiences = case.experiences(maker)
    credit = maker.credit
    assert credit is not None

    model = AutoModelForCausalLM.from_pretrained(warmed_up, dtype=torch.float32)
    rows: dict[str, list[torch.Tensor]] = {name: [] for name in ("now", "old", "reference", "advantages")}
    earned, noise = iter(credit.advantages), torch.Generator().manual_seed(3)
    for one in experiences:
        for row in range(len(one.sequences)):
            seen, sampled = one.attention_mask[row].bool(), one.action_mask[row].bool()
            ids = one.sequences[row][seen]
            logps = (model(input_ids=ids[None]).logits[0, :-1] / 0.7).log_softmax(-1).gather(-1, ids[1:, None])[:, 0]
            now = logps[-int(sampled.sum()) :]
            one.action_log_probs[row][sampled] = now.detach() + 0.4 * torch.randn(now.shape, generator=noise)
            one.base_action_log_probs[row][sampled] = now.detach() + 0.8 * torch.randn(now.shape, generator=noise)
            rows["now"].append(now)
            rows["old"].append(one.action_log_probs[row][sampled])
            rows["reference"].append(one.base_action_log_probs[row][sampled])
            rows["advantages"].append(torch.tensor(next(earned)))
    padded = {name: torch.nn.utils.rnn.pad_sequence(values, batch_first=True) for name, values in rows.items()}
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones(len(one)) for one in rows["now"]], batch_first=True).bool()
    loss = policy_loss(
        padded["now"],
        padded["old"],
        padded["reference"],
        padded["advantages"],
        mask,
        divisor=credit.divisor,
        kl_weight=0.05,
    )
    loss.backward()

    share = len(experiences) // ranks
    parts = [experiences[rank * share : (rank + 1) * share] for rank in range(ranks)]
    torch.save((case.args, parts, str(warmed_up), maker.kl_ctl.value), tmp_path / "batch.pt")
    descend(tmp_path, ranks, environment)
    after = torch.load(tmp_path / "weights.pt")
    wanted = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
    largest = max(gradient.abs().max().item() for gradient in wanted.values())
    assert largest > 1e-2
    for name, weight in model.named_parameters():
        assert torch.allclose(weight.detach() - after[name], wanted[name], rtol=1e-3, atol=1e-5 * largest), name
