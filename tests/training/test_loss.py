"""The loss: against the objective written out, finite differences, and every way of cutting a mini-batch."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from training.config import LossSettings
from training.loss import Loss, imitation_loss, policy_loss

PAPER = LossSettings()
STRONG = LossSettings(kl_weight=0.7)


def number(tensor: Tensor) -> float:
    return float(tensor.detach())


class Batch:
    """Random tensors of a mini-batch with uneven lengths and ratios on both sides of every clip."""

    def __init__(self, seed: int, rollouts: int = 4, length: int = 7) -> None:
        source = torch.Generator().manual_seed(seed)

        def normal(scale: float) -> Tensor:
            return scale * torch.randn(rollouts, length, generator=source, dtype=torch.float64)

        self.log_probs = (-2.0 + normal(1.0)).requires_grad_()
        self.old = self.log_probs.detach() + normal(0.6)
        self.reference = self.log_probs.detach() + normal(0.5)
        self.advantages = normal(2.0) * (torch.rand(rollouts, length, generator=source) > 0.3)
        lengths = torch.randint(1, length + 1, (rollouts, 1), generator=source)
        self.mask = torch.arange(length)[None, :] < lengths

    def loss(self, rows: slice = slice(None), settings: LossSettings = STRONG, divisor: float = 5.0) -> Loss:
        return policy_loss(
            self.log_probs[rows],
            self.old[rows],
            self.reference[rows],
            self.advantages[rows],
            self.mask[rows],
            divisor=divisor,
            rollouts=len(self.log_probs),
            settings=settings,
        )


def one(log_ratio: float, advantage: float, *, to_reference: float = 0.0, settings: LossSettings = PAPER) -> Loss:
    """The loss of one token."""
    log_prob = torch.tensor([[-1.0]], dtype=torch.float64, requires_grad=True)
    return policy_loss(
        log_prob,
        torch.tensor([[-1.0 - log_ratio]], dtype=torch.float64),
        torch.tensor([[-1.0 + to_reference]], dtype=torch.float64),
        torch.tensor([[advantage]], dtype=torch.float64),
        torch.tensor([[True]]),
        divisor=1,
        rollouts=1,
        settings=settings,
    )


def written_out(batch: Batch, settings: LossSettings, divisor: float) -> float:
    """The objective token by token, in plain Python."""
    total = 0.0
    rollouts, length = batch.log_probs.shape
    for k in range(rollouts):
        for j in range(length):
            if not batch.mask[k, j]:
                continue
            p, old, q, a = (number(t[k, j]) for t in (batch.log_probs, batch.old, batch.reference, batch.advantages))
            ratio = math.exp(p - old)
            surrogate = min(ratio * a, min(max(ratio, 1 - settings.clip_low), 1 + settings.clip_high) * a)
            if a < 0:
                surrogate = max(surrogate, settings.dual_clip * a)
            total -= surrogate / divisor
            total += settings.kl_weight / rollouts * (math.exp(q - p) - (q - p) - 1)
    return total


@pytest.mark.parametrize(
    ("ratio", "advantage", "surrogate"),
    [
        (1.0, 2.0, 2.0),
        (1.5, 2.0, 2.56),  # 1.28 × 2
        (0.5, 2.0, 1.0),  # no clip: it is worse already
        (0.5, -2.0, -1.6),  # 0.80 × -2
        (1.5, -2.0, -3.0),
        (4.0, -2.0, -6.0),  # dual clip, 3 × -2
        (1.2799, 1.0, 1.2799),
        (7.0, 0.0, 0.0),
    ],
)
def test_the_surrogate_by_hand(ratio: float, advantage: float, surrogate: float) -> None:
    assert number(one(math.log(ratio), advantage).value) == pytest.approx(-surrogate)


@pytest.mark.parametrize(
    ("ratio", "advantage", "stopped"),
    [(1.5, 1.0, True), (0.5, 1.0, False), (0.5, -1.0, True), (1.5, -1.0, False), (4.0, -1.0, True), (1.1, 1.0, False)],
)
def test_clipping_stops_the_gradient_and_is_counted(ratio: float, advantage: float, stopped: bool) -> None:
    loss = one(math.log(ratio), advantage, settings=LossSettings(kl_weight=0.0))
    assert int(loss.clipped) == stopped


def test_the_distance_from_the_reference_by_hand() -> None:
    loss = one(0.0, 0.0, to_reference=math.log(2.0), settings=LossSettings(kl_weight=0.5))
    assert number(loss.kl) == pytest.approx(2 - math.log(2) - 1)
    assert number(loss.value) == pytest.approx(0.5 * (1 - math.log(2)))
    assert number(one(0.3, 0.0).kl) == 0.0


@given(st.integers(0, 10_000), st.sampled_from([PAPER, STRONG]), st.sampled_from([1.0, 5.0, 64.0]))
def test_the_loss_is_the_objective_written_out(seed: int, settings: LossSettings, divisor: float) -> None:
    batch = Batch(seed)
    expected = written_out(batch, settings, divisor)
    assert number(batch.loss(settings=settings, divisor=divisor).value) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_those_of_finite_differences(seed: int) -> None:
    batch = Batch(seed)
    (gradient,) = torch.autograd.grad(batch.loss().value, batch.log_probs)
    step = 1e-6
    for k in range(gradient.shape[0]):
        for j in range(gradient.shape[1]):
            values = []
            for sign in (1.0, -1.0):
                moved = Batch(seed)
                with torch.no_grad():
                    moved.log_probs[k, j] += sign * step
                values.append(number(moved.loss().value))
            assert float(gradient[k, j]) == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-7)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_losses_of_micro_batches_add_up(seed: int, size: int) -> None:
    batch = Batch(seed)
    parts = [batch.loss(slice(start, start + size)) for start in range(0, 4, size)]
    whole = batch.loss()
    summed = torch.stack([part.value for part in parts]).sum()
    assert number(summed) == pytest.approx(number(whole.value), rel=1e-12, abs=1e-12)
    assert sum(int(part.clipped) for part in parts) == int(whole.clipped)
    (expected,) = torch.autograd.grad(whole.value, batch.log_probs)
    (accumulated,) = torch.autograd.grad(summed, batch.log_probs)
    torch.testing.assert_close(accumulated, expected)


@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_padding_and_the_order_of_rollouts_do_not_show(seed: int, order: list[int]) -> None:
    batch, changed = Batch(seed), Batch(seed)
    garbage = torch.tensor([math.inf, -math.inf, math.nan, 1e300] * 7, dtype=torch.float64).reshape(4, 7)
    with torch.no_grad():
        for tensor in (changed.log_probs, changed.old, changed.reference, changed.advantages):
            tensor[~batch.mask] = garbage[~batch.mask]
            tensor.copy_(tensor[order].clone())
    changed.mask = batch.mask[order]
    expected, got = batch.loss(), changed.loss()
    assert number(got.value) == pytest.approx(number(expected.value), rel=1e-12, abs=1e-12)
    (plain,) = torch.autograd.grad(expected.value, batch.log_probs)
    (padded,) = torch.autograd.grad(got.value, changed.log_probs)
    torch.testing.assert_close(padded, plain[order])
    assert not padded[~changed.mask].any()


def test_no_ratio_makes_a_gradient_that_is_no_number() -> None:
    for log_ratio in (200.0, -200.0, 2000.0):
        for advantage in (1.0, -1.0, 0.0):
            log_prob = torch.zeros(1, 1, requires_grad=True)
            old = torch.full((1, 1), -log_ratio)
            loss = policy_loss(
                log_prob,
                old,
                torch.zeros(1, 1),
                torch.full((1, 1), advantage),
                torch.ones(1, 1, dtype=torch.bool),
                divisor=1,
                rollouts=1,
                settings=PAPER,
            )
            (gradient,) = torch.autograd.grad(loss.value, log_prob)
            assert gradient.isfinite().all()


def test_imitation_is_the_mean_over_the_tokens_of_a_mini_batch() -> None:
    batch = Batch(0)
    count = int(batch.mask.sum())
    loss = imitation_loss(batch.log_probs, batch.mask, divisor=count)
    assert number(loss) == pytest.approx(-number(batch.log_probs[batch.mask].mean()))
    (gradient,) = torch.autograd.grad(loss, batch.log_probs)
    torch.testing.assert_close(gradient, -batch.mask.double() / count)
