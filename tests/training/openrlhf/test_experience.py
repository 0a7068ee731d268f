"""From sampled token ids to advantages, through OpenRLHF's own parts: those of ``CreditAssigner``, token by token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from without_gpu import install

from proof_r1_formal.credit.assigner import CreditAssigner

install()

from openrlhf.trainer.ppo_utils.replay_buffer import NaiveReplayBuffer  # noqa: E402 (only once it can be imported)
from rollouts import SAMPLES, Case, make_case  # noqa: E402

from training.openrlhf.task import Task  # noqa: E402


@pytest.fixture
def case(given: Path, problems: Path, warmed_up: Path, parse: Callable[..., Any]) -> Case:
    return make_case(parse(given, "--rollout.micro_batch_size", "2"), problems, warmed_up)


@pytest.mark.parametrize(("method", "preset"), [("proof_r1", "paper"), ("proof_r1", "hardened"), ("grpo", "paper")])
def test_advantages_are_those_of_the_assigner(method: str, preset: str, case: Case) -> None:
    case.args.proof_r1.method, case.args.proof_r1.preset = method, preset
    maker = case.maker()
    experiences = case.experiences(maker, case.responses(Task("", preset=preset, workers=0)))
    expected = CreditAssigner(case.tokenizer, method=method, preset=preset, workers=0)  # type: ignore[arg-type]
    credit = expected.credit(case.asked, case.answers, SAMPLES)
    assert maker.assigner.state_dict() == expected.state_dict()
    buffer = NaiveReplayBuffer(len(case.answers))
    for one in experiences:
        buffer.append(one)
    batch = buffer.collate_fn(buffer.items)
    scale = sum(map(len, case.answers)) / credit.divisor
    assert maker.kl_ctl.value == pytest.approx(0.001 * sum(map(len, case.answers)) / len(case.answers))
    for row, (ids, earned) in enumerate(zip(case.answers, credit.advantages, strict=True)):
        sequence = batch.sequences[row][batch.attention_mask[row].bool()]
        assert sequence[-len(ids) :].tolist() == ids
        found = batch.advantages[row][batch.action_mask[row].bool()]
        assert found.tolist() == pytest.approx([one * scale for one in earned], rel=1e-6, abs=1e-7)
        assert (batch.advantages[row][~batch.action_mask[row].bool()] == 0.0).all()
        # column j is about token j + 1: the action mask begins one column before the first sampled token
        assert int(batch.action_mask[row].nonzero()[0]) + 1 == int(batch.attention_mask[row].sum()) - len(ids)
    assert (batch.advantages > 0.0).any() and (batch.advantages < 0.0).any()


def test_the_order_of_batches_does_not_matter(case: Case) -> None:
    first, second = case.maker(), case.maker()
    ordered = case.experiences(first)
    for one, labels in zip(ordered, labels_of(case, second), strict=True):
        one.labels = labels
    again = second.compute_advantages_and_returns(ordered[::-1])[::-1]
    assert second.assigner.state_dict() == first.assigner.state_dict()
    assert first.credit is not None and second.credit is not None
    assert first.credit.advantages == second.credit.advantages
    assert all((one.advantages == other.advantages).all() for one, other in zip(ordered, again, strict=True))


def labels_of(case: Case, maker: Any) -> list[list[Any]]:
    """The rollouts of each experience."""
    rollouts = maker.assigner.verify(case.asked, case.answers)
    return [rollouts[number : number + 2] for number in range(0, len(rollouts), 2)]


def test_a_completion_that_is_not_verified_costs_itself(case: Case) -> None:
    case.answers[0] = [*case.answers[0], len(case.tokenizer) + 5]  # an id without a token
    maker = case.maker()
    first, second, *_ = [row for one in case.experiences(maker) for row in one.advantages.abs().sum(-1)]
    assert maker.credit is not None and maker.credit.broken == 1
    assert first == 0.0 < second


def test_statistics_of_openrlhf_say_who_is_right(case: Case) -> None:
    found = [one["reward"] for one in case.responses()]
    assert found[0] == 1.0 and found[3] == 0.0
    assert torch.tensor(found).unique().numel() == 2
