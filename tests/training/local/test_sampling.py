"""Sampling: what is drawn, how it ends, and that a batch draws as each alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal import ProofR1Error, Verifier
from proof_r1_formal.decoding.grammar import completion_grammar
from proof_r1_formal.decoding.masks import Mask, mask_tokens
from training.common.tasks import Task
from training.config import Batch
from training.local.chance import generator_of
from training.local.forward import Example, log_probs
from training.local.model import Policy
from training.local.sampling import END, Sample, Sampling, choose, sample
from training.local.update import prepare

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


# -- under a grammar --------------------------------------------------------------------------------------------------


def grammars(tasks: tuple[Task, ...]) -> list[str | None]:
    """Of the answers; the last is free."""
    return [*[completion_grammar(task.problem, steps=4).to_llguidance() for task in tasks[:-1]], None]


def held(policy: Policy, tasks: tuple[Task, ...], settings: Sampling = SETTINGS) -> list[Sample]:
    pytest.importorskip("llguidance", reason="llguidance is not installed (the extra [decoding])")
    prompts = [task.prompt for task in tasks]
    return sample(policy, prompts, settings, generator_of(0, CPU), grammars=grammars(tasks))


def test_a_grammar_holds_completions_to_the_contract(policy: Policy, tasks: tuple[Task, ...]) -> None:
    """At a high temperature, at which the policy alone breaks it."""
    hot = replace(SETTINGS, temperature=3.0, max_tokens=600)

    def valid(found: list[Sample]) -> list[bool]:
        reports = [Verifier().verify(tasks[one.prompt].problem, policy.pieces.read(one.ids).text) for one in found]
        return [report.parsed and all(step.schema for step in report.actions) for report in reports]

    found = [one for one in held(policy, tasks, hot) if one.ended and one.prompt < len(tasks) - 1]
    assert len(found) > len(tasks)
    assert all(valid(found))
    assert not all(valid(drawn(policy, tasks, hot)))
    assert found[0] not in drawn(policy, tasks, hot)


def test_a_grammar_changes_nothing_for_those_without_one(policy: Policy, tasks: tuple[Task, ...]) -> None:
    last = len(tasks) - 1
    free = [one for one in drawn(policy, tasks) if one.prompt == last]
    assert [one for one in held(policy, tasks) if one.prompt == last] == free


def test_the_ratio_of_constrained_rollouts_is_one_before_the_first_update(
    policy: Policy, tasks: tuple[Task, ...]
) -> None:
    """The policy's own probabilities are compared, not those under the grammar, which are others."""
    settings = replace(SETTINGS, temperature=1.5, samples=2)
    found = [one for one in held(policy, tasks, settings) if one.prompt < 2]
    groups = [[Example(tasks[one.prompt].prompt, one.ids) for one in found if one.prompt == p] for p in range(2)]
    first, second = prepare(policy, groups, Batch(problems=2, mini=1, micro=2, epochs=1))
    assert first[0].old is None  # the first pass of the update is compared with itself
    assert second[0].old is not None
    now, _ = log_probs(policy.model, second[0].rows, share=policy.share)
    ratios = (now - second[0].old).exp()[second[0].rows.mask]
    torch.testing.assert_close(ratios, torch.ones_like(ratios), rtol=1e-5, atol=0.0)
    torch.testing.assert_close(second[0].old, second[0].reference)
    under = under_grammar(policy, tasks[1], groups[1][0].response)
    assert not torch.allclose(under, now[0, : len(under)], atol=1e-2)
    assert bool((under >= now[0, : len(under)] - 1e-4).all())  # what is ruled out leaves more for the rest


def under_grammar(policy: Policy, task: Task, ids: tuple[int, ...]) -> torch.Tensor:
    """The log-probabilities with which a completion was drawn, but for the temperature."""
    grammar = grammars((task, task))[0]
    assert grammar is not None
    mask = Mask(mask_tokens(policy.tokenizer, len(policy.unspoken())), grammar)
    with torch.no_grad():
        logits = policy.model(input_ids=torch.tensor([[*task.prompt, *ids]])).logits[0, len(task.prompt) - 1 : -1]
    found = []
    for token, its in zip(ids, logits, strict=True):
        allowed = torch.from_numpy(mask.allowed(len(its)))
        found.append(its.masked_fill(~allowed, float("-inf")).log_softmax(-1)[token])
        mask.add(token)
    return torch.stack(found)
