"""Updates: what is followed does not depend on how the work is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from proof_r1_formal import ProofR1Error
from proof_r1_formal.credit.methods import TokenCredit
from training.common.outcomes import Update
from training.config import Batch, Config, LossSettings, Optimiser
from training.local.forward import Example, log_probs, pad, rows_of
from training.local.model import Policy, load_policy
from training.local.update import imitate, learning_rate, make_optimiser, prepare, update

GROUPS = [
    [Example((5, 6, 7), (9, 10, 11)), Example((5, 6, 7), (12, 13))],
    [Example((20, 21), (22, 23, 24, 25)), Example((20, 21), (22, 30))],
]
CREDITS = [
    [TokenCredit((0.5, 0.5, 0.0), 2), TokenCredit((-0.25, 0.0), 1)],
    [TokenCredit((0.0, 1.0, 1.0, 0.0), 1), TokenCredit((-0.5, -0.5), 2)],
]
LOSS = LossSettings(kl_weight=0.1)
SETTINGS = Optimiser(learning_rate=1e-2)


def learned(config: Config, batch: Batch) -> tuple[Update, dict[str, torch.Tensor]]:
    """What an update does to the policy of the tests."""
    assert config.model.path is not None
    policy = load_policy(config.model, config.model.path)
    optimiser = torch.optim.SGD(policy.trained().values(), lr=1e-2)  # AdamW makes much of the noise in small gradients
    minis = prepare(policy, GROUPS, batch)
    done = update(policy, optimiser, minis, CREDITS, batch=batch, loss=LOSS, max_gradient_norm=1e9)
    return done, {name: value.detach().clone() for name, value in policy.trained().items()}


@pytest.mark.parametrize("mini", [1, 2])
def test_the_size_of_micro_batches_changes_nothing(config: Config, mini: int) -> None:
    batch = Batch(problems=2, mini=mini, micro=1, epochs=2)
    done, weights = learned(config, batch)
    for micro in (2, 3, 4):
        other, others = learned(config, structs.replace(batch, micro=micro))
        for name in ("loss", "policy_loss", "kl", "entropy", "clip_fraction", "gradient_norm"):
            assert getattr(other, name) == pytest.approx(getattr(done, name), rel=1e-4, abs=1e-6), name
        for name, value in weights.items():
            torch.testing.assert_close(others[name], value, rtol=1e-4, atol=1e-5)


def test_the_first_gradient_is_that_of_the_objective(config: Config, policy: Policy) -> None:
    optimiser = torch.optim.SGD(policy.trained().values(), lr=1.0)
    before = {name: value.detach().clone() for name, value in policy.trained().items()}
    batch = Batch(problems=2, mini=2, micro=3, epochs=1)
    update(policy, optimiser, prepare(policy, GROUPS, batch), CREDITS, batch=batch, loss=LOSS, max_gradient_norm=1e9)
    moved = {name: before[name] - value.detach() for name, value in policy.trained().items()}
    assert config.model.path is not None
    fresh = load_policy(config.model, config.model.path)
    objective = torch.zeros(())
    for group, credits_ in zip(GROUPS, CREDITS, strict=True):
        for example, credit in zip(group, credits_, strict=True):
            found, _ = log_probs(fresh.model, rows_of([example], fresh.device), share=False)
            objective = (
                objective - (found[0] * torch.tensor(credit.advantages)).sum() / 6
            )  # N_B; ratios are 1, KL is flat
    objective.backward()
    for name, value in fresh.trained().items():
        assert value.grad is not None
        torch.testing.assert_close(moved[name], value.grad, rtol=1e-3, atol=1e-5)


def test_later_mini_batches_compare_with_the_policy_that_sampled(policy: Policy) -> None:
    batch = Batch(problems=2, mini=1, micro=2, epochs=1)
    minis = prepare(policy, GROUPS, batch)
    assert minis[0][0].old is None
    assert minis[1][0].old is not None
    torch.testing.assert_close(minis[1][0].old, minis[1][0].reference)
    update(policy, make_optimiser(policy, SETTINGS), minis, CREDITS, batch=batch, loss=LOSS, max_gradient_norm=1e9)
    after, _ = log_probs(policy.model, minis[1][0].rows)
    assert not torch.allclose(after, minis[1][0].old, atol=1e-3)


@pytest.mark.parametrize(("temperature", "right"), [(0.5, True), (1.0, False)])
def test_ratios_at_the_temperature_of_sampling_have_mean_one(policy: Policy, temperature: float, right: bool) -> None:
    """Over tokens sampled at temperature 0.5, after an update; at another temperature the mean is not 1."""
    prompt = (5, 6, 7)
    every = [Example(prompt, (token,)) for token in range(policy.model.config.vocab_size)]
    rows = rows_of(every, policy.device)
    sampling = log_probs(policy.model, rows, temperature=0.5)[0][:, 0].detach().exp()
    batch = Batch(problems=2, mini=1, micro=len(every), epochs=1)
    minis = prepare(policy, [*GROUPS[:1], every], batch, temperature=temperature)
    credits_ = [CREDITS[0], [TokenCredit((0.0,), 1)] * len(every)]
    update(policy, make_optimiser(policy, SETTINGS), minis, credits_, batch=batch, loss=LOSS, max_gradient_norm=1e9)
    (micro,) = minis[1]
    assert micro.old is not None
    ratios = (log_probs(policy.model, rows, temperature=temperature)[0] - micro.old).detach().exp()[:, 0]
    assert (ratios - 1.0).abs().max() > 0.1
    assert (abs((sampling * ratios).sum().item() - 1.0) < 1e-4) is right


def test_probabilities_follow_the_credit(policy: Policy) -> None:
    batch = Batch(problems=2, mini=2, micro=4, epochs=2)
    credits_ = [credit for group in CREDITS for credit in group]
    advantages, _ = pad([credit.advantages for credit in credits_], policy.device, dtype=torch.float32)
    rows = rows_of([example for group in GROUPS for example in group], policy.device)
    before, _ = log_probs(policy.model, rows)
    minis = prepare(policy, GROUPS, batch)
    optimiser = make_optimiser(policy, structs.replace(SETTINGS, learning_rate=1e-3))
    done = update(policy, optimiser, minis, CREDITS, batch=batch, loss=LOSS, max_gradient_norm=1.0)
    change = (log_probs(policy.model, rows)[0] - before).detach()
    assert (change * advantages).sum() > 0.1
    assert done.kl == pytest.approx(0.0, abs=1e-4)  # measured before


def test_imitation_makes_demonstrations_likelier(config: Config, policy: Policy) -> None:
    optimiser = make_optimiser(policy, SETTINGS)
    examples = [example for group in GROUPS for example in group]
    losses = [
        imitate(policy, optimiser, examples, batch=Batch(problems=4, mini=4, micro=3), max_gradient_norm=1.0).loss
        for _ in range(5)
    ]
    rows = rows_of(examples, policy.device)
    assert losses == sorted(losses, reverse=True)
    assert config.model.path is not None
    start, _ = log_probs(load_policy(config.model, config.model.path).model, rows)
    assert losses[0] == pytest.approx(-float(start.detach().sum()) / 11, rel=1e-4)


def test_divergence_is_told(policy: Policy) -> None:
    batch = Batch(problems=2, mini=2, micro=4, epochs=1)
    minis = prepare(policy, GROUPS, batch)
    bad = [[replace(c, advantages=(float("inf"),) * len(c.advantages)) for c in group] for group in CREDITS]
    with pytest.raises(ProofR1Error, match="diverged"):
        update(policy, make_optimiser(policy, SETTINGS), minis, bad, batch=batch, loss=LOSS, max_gradient_norm=1.0)


def test_learning_rates() -> None:
    constant = Optimiser(steps=10, learning_rate=1.0, warm_up_steps=2)
    assert [learning_rate(constant, step) for step in range(4)] == [0.5, 1.0, 1.0, 1.0]
    linear = Optimiser(steps=6, learning_rate=2.0, warm_up_steps=2, decay="linear")
    assert [learning_rate(linear, step) for step in range(6)] == [1.0, 2.0, 2.0, 1.5, 1.0, 0.5]
    cosine = Optimiser(steps=4, learning_rate=1.0, decay="cosine")
    assert [learning_rate(cosine, step) for step in range(4)] == pytest.approx([1.0, 0.8535534, 0.5, 0.1464466])


@given(st.integers(1, 30), st.integers(0, 30), st.sampled_from(["constant", "linear", "cosine"]))
def test_learning_rates_stay_in_range(steps: int, rising: int, decay: str) -> None:
    settings = structs.replace(Optimiser(steps=steps, learning_rate=3.0, warm_up_steps=rising), decay=decay)
    assert all(0.0 < learning_rate(settings, step) <= 3.0 for step in range(steps))
