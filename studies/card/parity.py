"""The losses of three trainers against the formulas, on a card or a CPU, in float32.

    python -m studies.card.parity LIBRARY FOLDER [DEVICE]

LIBRARY is ``openrlhf``, ``trl`` or ``verl``. In: random log-probabilities with ratios on both sides of each clip, and
advantages of both signs. Out: in ``FOLDER/found.json`` how far the library's loss, and its gradient, are from those of
``studies.policy_loss``, which writes the formulas out. For TRL they come from a batch of ``ProofTrainer``, and its
advantages are compared with those of a second ``CreditAssigner``, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from studies.card.found import Check, Found
from studies.policy_loss import policy_loss

ROLLOUTS, TOKENS = 32, 256
DIVISOR, KL_WEIGHT = 150.0, 0.05
BOUND = 2e-6
"""Of the difference of losses, and of gradients relative to the largest."""


@dataclass(frozen=True)
class Batch:
    """Log-probabilities, advantages and the mask, each rollouts × tokens."""

    now: Tensor
    old: Tensor
    reference: Tensor
    advantages: Tensor
    mask: Tensor


def random_batch(device: str) -> Batch:
    """The same numbers on every device; log-ratios stay within the limits of OpenRLHF and verl."""
    source = torch.Generator().manual_seed(0)
    shape = ROLLOUTS, TOKENS
    old = -1.0 + 0.5 * torch.randn(shape, generator=source)
    now = old + 0.4 * torch.randn(shape, generator=source)
    reference = now + 0.4 * torch.randn(shape, generator=source)
    advantages = torch.randn(shape, generator=source)
    lengths = torch.randint(TOKENS // 4, TOKENS + 1, (ROLLOUTS, 1), generator=source)
    mask = torch.arange(TOKENS) < lengths
    return Batch(now.to(device).requires_grad_(), *[x.to(device) for x in (old, reference, advantages, mask)])


def compare(batch: Batch, loss: Tensor) -> dict[str, Check]:
    """A library's loss of a batch against the formulas."""
    (gradient,) = torch.autograd.grad(loss, batch.now)
    ours = policy_loss(
        batch.now, batch.old, batch.reference, batch.advantages, batch.mask, divisor=DIVISOR, kl_weight=KL_WEIGHT
    )
    (wanted,) = torch.autograd.grad(ours, batch.now)
    return errors(loss, ours, gradient, wanted)


def errors(loss: Tensor, ours: Tensor, gradient: Tensor, wanted: Tensor) -> dict[str, Check]:
    """How far a loss and a gradient are from those of the formulas."""
    largest = wanted.abs().max().item()
    return {
        "loss": Check(abs(loss.item() - ours.item()), high=BOUND * max(1.0, abs(ours.item()))),
        "gradient": Check((gradient - wanted).abs().max().item(), high=BOUND * max(1.0, largest)),
        "largest gradient": Check(largest, low=1e-4),
    }


def openrlhf(batch: Batch) -> Tensor:
    """OpenRLHF's loss as its trainer adds it up, with the scaling of ``training.openrlhf.controller``."""
    from openrlhf.models import PolicyLoss
    from openrlhf.models.loss import aggregate_loss
    from openrlhf.models.utils import compute_approx_kl

    tokens = batch.mask.sum().item()
    policy = PolicyLoss(clip_eps_low=0.2, clip_eps_high=0.28, dual_clip=3.0)
    loss, *_ = policy(batch.now, batch.old, batch.advantages * (tokens / DIVISOR), action_mask=batch.mask)
    kl = compute_approx_kl(batch.now, batch.reference, kl_estimator="k3")
    return loss + aggregate_loss(kl, batch.mask) * (KL_WEIGHT * tokens / ROLLOUTS)  # type: ignore[no-any-return]


def verl(batch: Batch) -> Tensor:
    """verl's loss with the settings that our trainer requires."""
    from omegaconf import OmegaConf
    from verl.trainer.ppo.core_algos import agg_loss, compute_policy_loss_vanilla, kl_penalty

    mode = "seq-mean-token-sum"
    given = {"clip_ratio": 0.2, "clip_ratio_low": 0.2, "clip_ratio_high": 0.28, "clip_ratio_c": 3.0}
    settings = OmegaConf.create({**given, "loss_agg_mode": mode, "global_batch_info": {}})
    scaled = batch.advantages * (ROLLOUTS / DIVISOR)
    loss, _ = compute_policy_loss_vanilla(batch.old, batch.now, scaled, batch.mask, mode, settings)
    kl = agg_loss(kl_penalty(batch.now, batch.reference, "low_var_kl"), batch.mask, mode)
    return loss + KL_WEIGHT * kl  # type: ignore[no-any-return]


LOSSES: Mapping[str, Callable[[Batch], Tensor]] = {"openrlhf": openrlhf, "verl": verl}


# -- TRL --------------------------------------------------------------------------------------------------------------


def trl(folder: Path, device: str, model: Path, problems: Path) -> dict[str, Check]:
    """The loss, its gradient and the advantages of a batch of ``ProofTrainer``."""
    from trl import GRPOTrainer

    from studies.card.trl_run import make_trainer

    torch.manual_seed(0)
    plain: dict[str, Any] = {"bf16": False, "kl_weight": 0.001, "max_completion_length": 48, "temperature": 1.0}
    made = make_trainer("plain", model, problems, folder, cpu=device == "cpu", **plain, verification_workers=0)
    sampled: list[list[int]] = []
    generate = GRPOTrainer._generate

    def noted(self: Any, prompts: list[Any]) -> Any:
        found = generate(self, prompts)
        sampled.extend(map(list, found[1]))
        return found

    before = made.assigner.state_dict()
    made.model.train()
    rows = next(iter(made.get_train_dataloader()))
    GRPOTrainer._generate = noted
    try:
        output = made._generate_and_score_completions(rows)
    finally:
        GRPOTrainer._generate = generate
    made.current_gradient_accumulation_steps = 1  # all in one micro-batch
    whole = torch.cat([output["prompt_ids"], output["completion_ids"]], 1)
    seen = torch.cat([output["prompt_mask"], output["completion_mask"]], 1)
    mask, length = output["completion_mask"].bool(), output["completion_ids"].size(1)
    scored = made._get_per_token_logps_and_entropies
    with torch.no_grad():
        old = scored(made.model, whole, seen, length)[0]
        old = old + 0.3 * torch.randn(old.shape, generator=torch.Generator().manual_seed(1)).to(old.device)
    theirs = made._compute_loss(made.model, output | {"old_per_token_logps": old})
    theirs.backward()
    gradient = torch.cat([one.grad.flatten() for one in made.model.parameters()])
    made.model.zero_grad()

    wanted, divisor = credit(made, before, rows, sampled, output["advantages"])
    now = scored(made.model, whole, seen, length)[0]
    reference = output.get("ref_per_token_logps")
    reference = now.detach() if reference is None else reference
    ours = policy_loss(now, old, reference, wanted, mask, divisor=divisor, kl_weight=made.args.kl_weight)
    ours.backward()
    expected = torch.cat([one.grad.flatten() for one in made.model.parameters()])
    scale = len(sampled) * made.max_completion_length / divisor
    far = (output["advantages"] - wanted * scale).abs().max().item()
    return {
        **errors(theirs, ours, gradient, expected),
        "advantages": Check(far, high=1e-6 * scale),
        "largest advantage": Check(wanted.abs().max().item(), low=1e-3),
    }


def credit(
    made: Any, before: Mapping[str, float], rows: list[Any], sampled: list[list[int]], like: Tensor
) -> tuple[Tensor, float]:
    """The advantages of a second assigner for what was sampled, in the shape and on the device of others, and N_B."""
    from proof_r1_formal.integrations.scoring import problem_of

    with made.args.assigner(made.processing_class) as second:
        second.load_state_dict(dict(before))
        given = second.credit([problem_of(row["problem"]) for row in rows], sampled, made.num_generations)
    advantages = torch.zeros(like.shape)
    for row, one in enumerate(given.advantages):
        advantages[row, : len(one)] = torch.tensor(one)
    return advantages.to(like.device), given.divisor


def main() -> None:
    """Compare one library, and write what was found."""
    library, folder, *others = sys.argv[1:]
    device = others[0] if others else "cuda"
    torch.backends.cuda.matmul.allow_tf32 = False
    where = SimpleNamespace(model=Path("out/pretrained/model"), problems=Path("out/gpu/problems.jsonl"))
    if library == "trl":
        checks = trl(Path(folder), device, where.model, where.problems)
    else:
        batch = random_batch(device)
        checks = compare(batch, LOSSES[library](batch))
    Found(checks).write(Path(folder))


if __name__ == "__main__":
    main()
