"""Sampling: what is drawn, how it ends, and that a batch draws as each alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal import ProofR1Error
from training.local.chance import generator_of
from training.local.model import Policy
from training.local.sampling import END, Sample, Sampling, choose, sample
from training.local.tasks import Task

SETTINGS = Sampling(samples=3, temperature=1.0, top_p=1.0, max_tokens=120, parallel=64)
CPU = torch.device("cpu")


def drawn(policy: Policy, tasks: tuple[Task, ...], settings: Sampling = SETTINGS, seed: int = 0) -> list[Sample]:
    return sample(policy, [task.prompt for task in tasks], settings, generator_of(seed, CPU))


def test_one_completion_for_each_prompt_and_number(policy: Policy, tasks: tuple[Task, ...]) -> None:
    told: list[Sample] = []
    prompts = [task.prompt for task in tasks]
    found = sample(policy, prompts, SETTINGS, generator_of(0, CPU), ended=told.append)
    assert [(one.prompt, one.number) for one in found] == [(p, k) for p in range(len(tasks)) for k in range(3)]
    assert sorted(told, key=lambda one: (one.prompt, one.number)) == found
    assert [len(one.ids) for one in told] == sorted(len(one.ids) for one in told)  # told as they end
    assert drawn(policy, tasks) == found
    assert drawn(policy, tasks, seed=1) != found


def test_completions_end_where_they_should(policy: Policy, tasks: tuple[Task, ...]) -> None:
    found = drawn(policy, tasks)
    assert any(one.ended for one in found)
    for one in found:
        text = policy.pieces.read(one.ids).text.encode()
        before = policy.pieces.read(one.ids[:-1]).text.encode()
        stops = END in text or one.ids[-1] in policy.stops()
        assert one.ended == stops
        assert END not in before and not policy.stops() & set(one.ids[:-1])
        assert one.ended or len(one.ids) == SETTINGS.max_tokens
    short = drawn(policy, tasks, replace(SETTINGS, max_tokens=4))
    assert all(len(one.ids) == 4 and not one.ended for one in short)


def test_the_likeliest_tokens_are_those_of_the_plain_model(policy: Policy, tasks: tuple[Task, ...]) -> None:
    greedy = replace(SETTINGS, samples=1, temperature=0.0)
    for task, one in zip(tasks, drawn(policy, tasks, greedy), strict=True):
        ids = torch.tensor([[*task.prompt, *one.ids]])
        with torch.no_grad():
            logits = policy.model(input_ids=ids).logits[0, len(task.prompt) - 1 : -1]
        chosen = logits[torch.arange(len(one.ids)), torch.tensor(one.ids)]
        assert (logits.max(-1).values - chosen).max() < 1e-4


def test_completions_at_once_or_one_after_the_other(policy: Policy, tasks: tuple[Task, ...]) -> None:
    greedy = replace(SETTINGS, samples=2, temperature=0.0)
    assert drawn(policy, tasks, replace(greedy, parallel=2)) == drawn(policy, tasks, greedy)


def test_rows_without_a_token_are_never_drawn(policy: Policy, tasks: tuple[Task, ...]) -> None:
    policy.model.resize_token_embeddings(policy.model.config.vocab_size + 500, mean_resizing=False)
    assert policy.unspoken().sum() == 500
    found = drawn(policy, tasks, replace(SETTINGS, temperature=50.0, max_tokens=20))
    assert max(max(one.ids) for one in found) < len(policy.tokenizer)


def test_a_policy_that_diverged_is_told_of(policy: Policy, tasks: tuple[Task, ...]) -> None:
    with torch.no_grad():
        policy.model.get_decoder().norm.weight.fill_(float("nan"))
    with pytest.raises(ProofR1Error, match="diverged"):
        drawn(policy, tasks)


# -- one token --------------------------------------------------------------------------------------------------------

logit_rows = st.lists(st.floats(-8, 8, width=32), min_size=2, max_size=9)


def shares(logits: list[float], *, temperature: float, top_p: float, grid: int = 4000) -> torch.Tensor:
    """How often each token is chosen for chances spread evenly."""
    chances = (torch.arange(grid) + 0.5) / grid
    tokens = choose(torch.tensor([logits] * grid), chances, temperature=temperature, top_p=top_p)
    return torch.bincount(tokens, minlength=len(logits)) / grid


@given(logit_rows, st.floats(0.3, 3.0))
def test_tokens_are_chosen_by_their_probability(logits: list[float], temperature: float) -> None:
    expected = torch.softmax(torch.tensor(logits) / temperature, -1)
    torch.testing.assert_close(shares(logits, temperature=temperature, top_p=1.0), expected, atol=2e-3, rtol=0.0)


@given(logit_rows, st.floats(0.05, 0.99))
def test_top_p_keeps_the_fewest_tokens_that_suffice(logits: list[float], top_p: float) -> None:
    probabilities = torch.softmax(torch.tensor(logits), -1)
    order = probabilities.argsort(descending=True, stable=True).tolist()
    kept: list[int] = []
    total = 0.0
    while total < top_p - 1e-5 and len(kept) < len(logits):
        kept.append(order[len(kept)])
        total += float(probabilities[kept[-1]])
    expected = torch.zeros(len(logits))
    expected[kept] = probabilities[kept] / total
    if abs(total - top_p) > 1e-4:  # else rounding decides about the last one
        torch.testing.assert_close(shares(logits, temperature=1.0, top_p=top_p), expected, atol=2e-3, rtol=0.0)


@given(st.integers(0, 5), st.floats(0.0, 1.0, width=32, exclude_max=True))
def test_impossible_tokens_are_never_chosen(possible: int, chance: float) -> None:
    logits = torch.full((1, 6), float("-inf"))
    logits[0, possible] = 0.0
    for top_p in (1.0, 0.5):
        assert choose(logits, torch.tensor([chance]), temperature=1.0, top_p=top_p).tolist() == [possible]
