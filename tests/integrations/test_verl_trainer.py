"""verl's trainer with an advantage for every token: verl's own configuration, queue and loss, without a GPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations.verl import DATA_SOURCE, rows

pytest.importorskip("transfer_queue", reason="verl is not installed: make test-integrations")
pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.filterwarnings("default")]

SAMPLES = 3


def configured(*changes: str) -> Any:
    """verl's configuration with those of the documentation, and further changes."""
    from hydra import compose, initialize_config_module

    ours = [
        "trainer.v1.trainer_mode=proof_r1",
        "data.train_batch_size=2",
        "actor_rollout_ref.actor.ppo_mini_batch_size=2",
        "actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-sum",
        "actor_rollout_ref.actor.use_kl_loss=true",
        "actor_rollout_ref.actor.clip_ratio_high=0.28",
        "critic.enable=false",
        f"actor_rollout_ref.rollout.n={SAMPLES}",
        "+proof_r1.preset=hardened",
        "+proof_r1.workers=0",
    ]
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=[*ours, *changes])


@pytest.fixture(scope="module")
def queue() -> Iterator[Any]:
    """verl's queue, on a private Ray."""
    import ray
    import transfer_queue

    ray.init("local", num_cpus=32, include_dashboard=False, object_store_memory=100_000_000)
    transfer_queue.init(configured().transfer_queue)
    yield transfer_queue
    transfer_queue.close()
    ray.shutdown()


@pytest.fixture
def trainer(tokenizer: Any, tmp_path: Path) -> Any:
    """The trainer as verl makes it, without its workers on GPUs."""
    from verl.trainer.ppo.v1 import get_trainer_cls

    import proof_r1_formal.integrations.verl_trainer  # noqa: F401 (as VERL_USE_EXTERNAL_MODULES does)

    made = get_trainer_cls("proof_r1")(configured(f"trainer.default_local_dir={tmp_path}"))
    made.tokenizer = tokenizer
    return made


@pytest.fixture
def answers(known: list[Any], tokenizer: Any) -> list[tuple[Any, list[int]]]:
    """Three answers to each of two problems, those of a problem apart, as verl balances them."""
    end = [tokenizer.eos_token_id]
    texts = {
        0: (known[0].right, known[1].right, "I do not know."),
        1: (known[1].right, known[1].right[:200], known[0].right),
    }
    both = [(known[number], [*tokenizer(text)["input_ids"], *end]) for number in (0, 1) for text in texts[number]]
    return [both[number] for number in (0, 3, 1, 4, 5, 2)]


def put(queue: Any, answers: list[tuple[Any, list[int]]], source: str = DATA_SOURCE, tools: int = 0) -> Any:
    """The answers in verl's queue, as its agent loops store them; of each, some tokens are those of tools."""
    import torch
    from transfer_queue import KVBatchMeta
    from verl.utils.tensordict_utils import list_of_dict_to_tensordict

    keys, fields = [], []
    for number, (one, ids) in enumerate(answers):
        keys.append(f"{one.problem.id}_{number}_0")
        row: Any = next(iter(rows([one.problem])))
        fields.append(
            {
                "uid": one.problem.id,
                "data_source": source,
                "reward_model": row["reward_model"],
                "responses": torch.tensor(ids),
                "response_mask": torch.tensor([*[0] * tools, *[1] * (len(ids) - tools)]),
            }
        )
    queue.kv_batch_put(
        keys=keys, fields=list_of_dict_to_tensordict(fields), tags=[{} for _ in keys], partition_id="train"
    )
    return KVBatchMeta(partition_id="train", keys=keys, tags=[{} for _ in keys])


def test_advantages_and_loss_are_those_of_the_method(
    queue: Any, trainer: Any, tokenizer: Any, answers: list[tuple[Any, list[int]]]
) -> None:
    import torch
    from omegaconf import OmegaConf
    from verl.trainer.ppo.core_algos import agg_loss, compute_policy_loss_vanilla, kl_penalty

    from studies.policy_loss import policy_loss

    batch, metrics = put(queue, answers), dict[str, float]()
    trainer._compute_advantage(batch, metrics)
    stored = queue.kv_batch_get(keys=batch.keys, partition_id="train", select_fields=["advantages", "responses"])
    found = [one.tolist() for one in stored["advantages"].unbind()]

    order = [0, 2, 5, 1, 3, 4]  # the groups, as verl's keys have them
    expected = CreditAssigner(tokenizer, preset="hardened", workers=0)
    credit = expected.credit([answers[row][0].problem for row in order], [answers[row][1] for row in order], SAMPLES)
    assert trainer.assigner.state_dict() == expected.state_dict()
    assert metrics["proof/RVR"] == credit.metrics["RVR"]
    scale = len(answers) / credit.divisor
    for row, earned in zip(order, credit.advantages, strict=True):
        assert len(found[row]) == len(answers[row][1])
        assert found[row] == pytest.approx([one * scale for one in earned], rel=1e-6, abs=1e-7)
    assert any(one > 0 for row in found for one in row) and any(one < 0 for row in found for one in row)

    pad = torch.nn.utils.rnn.pad_sequence
    mask = pad([torch.ones(len(row)) for row in found], batch_first=True).bool()
    source = torch.Generator().manual_seed(0)
    old = -1.0 + 0.5 * torch.randn(mask.shape, generator=source)
    now = (old + 0.4 * torch.randn(mask.shape, generator=source)).requires_grad_()
    reference = old + 0.5 * torch.randn(mask.shape, generator=source)  # verl cuts k3 at 10, beyond these
    config = trainer.config.actor_rollout_ref.actor
    settings = OmegaConf.create({**config, "global_batch_info": {}})
    theirs, _ = compute_policy_loss_vanilla(
        old, now, pad([torch.tensor(row) for row in found], batch_first=True), mask, config.loss_agg_mode, settings
    )
    kl = agg_loss(kl_penalty(now, reference, config.kl_loss_type), mask, config.loss_agg_mode)
    (gradient,) = torch.autograd.grad(theirs + config.kl_loss_coef * kl, now)
    plain = [torch.zeros(0)] * len(found)
    for row, earned in zip(order, credit.advantages, strict=True):
        plain[row] = torch.tensor(earned)
    ours = policy_loss(now, old, reference, pad(plain, batch_first=True), mask, divisor=credit.divisor, kl_weight=0.001)
    (wanted,) = torch.autograd.grad(ours, now)
    assert (theirs + config.kl_loss_coef * kl).item() == pytest.approx(ours.item(), abs=1e-6)
    assert wanted.abs().max() > 1e-3
    assert (gradient - wanted).abs().max() < 1e-6


def test_rows_of_other_tasks_and_tool_tokens_are_refused(
    queue: Any, trainer: Any, answers: list[tuple[Any, list[int]]]
) -> None:
    with pytest.raises(ProofR1Error, match="rows of 'gsm8k' are in the batch"):
        trainer._compute_advantage(put(queue, answers[:1], source="gsm8k"), {})
    with pytest.raises(ProofR1Error, match="tokens of tools"):
        trainer._compute_advantage(put(queue, answers[1:2], tools=2), {})
    with pytest.raises(ProofR1Error, match=r"has 4 responses, more than rollout\.n=3"):
        trainer._compute_advantage(put(queue, answers[:1] * 4), {})


def test_a_session_that_fails_has_no_part_in_its_group(
    queue: Any,
    trainer: Any,
    tokenizer: Any,
    answers: list[tuple[Any, list[int]]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """verl fills up the batch itself, as it does before it balances one."""
    from verl.trainer.ppo.padding_utils import upsample_batch_to_divisible_size

    sampled = answers[:4]  # two of three to each problem
    batch, metrics = put(queue, sampled), dict[str, float]()
    batch = upsample_batch_to_divisible_size(batch, 2 * SAMPLES, tokenizer.eos_token_id)
    assert len(batch.keys) == 6
    batch.reorder([5, 0, 1, 4, 2, 3])
    with caplog.at_level("WARNING"):
        trainer._compute_advantage(batch, metrics)
    stored = queue.kv_batch_get(keys=batch.keys, partition_id="train", select_fields=["advantages", "responses"])
    rows = [one.tolist() for one in stored["advantages"].unbind()]
    assert [len(row) for row in rows] == [len(one) for one in stored["responses"].unbind()]
    found = {row: rows[place] for place, row in enumerate([5, 0, 1, 4, 2, 3])}
    assert not any(found[4] + found[5])

    order = [0, 2, 1, 3]
    expected = CreditAssigner(tokenizer, preset="hardened", workers=0)
    credit = expected.credit([sampled[row][0].problem for row in order], [sampled[row][1] for row in order], 2)
    for row, earned in zip(order, credit.advantages, strict=True):  # verl divides by the 6 rows of a full batch
        assert found[row] == pytest.approx([one * 6 / credit.divisor for one in earned], rel=1e-6, abs=1e-7)
    assert any(one != 0 for earned in credit.advantages for one in earned)
    assert trainer.assigner.state_dict() == expected.state_dict()
    assert metrics["proof/unverified"] == 2
    assert metrics["proof/right"] == credit.metrics["right"]
    told = [message for message in caplog.messages if "1 of 3 sessions gave no response" in message]
    assert [one.problem.id in told[place] for place, (one, _) in enumerate(sampled[:2])] == [True, True]


def test_checkpoints_hold_the_averages(trainer: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

    monkeypatch.setattr(PPOTrainerSync, "_save_checkpoint", lambda self: None)  # the weights are on GPUs
    monkeypatch.setattr(PPOTrainerSync, "_load_checkpoint", lambda self: None)
    trainer.global_steps = 7
    state = dict.fromkeys(trainer.assigner.state_dict(), 0.625)
    trainer.assigner.load_state_dict(state)
    trainer._save_checkpoint()
    assert json.loads((tmp_path / "global_step_7" / "proof_r1.json").read_text()) == state
    trainer.assigner.load_state_dict(dict.fromkeys(state, 0.5))
    trainer._load_checkpoint()
    assert trainer.assigner.state_dict() == state


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("actor_rollout_ref.actor.loss_agg_mode=token-mean", "divides by B alone"),
        ("actor_rollout_ref.actor.ppo_mini_batch_size=1", "of the whole batch"),
        ("+proof_r1.presett=paper", "proof_r1.presett is not known; there are method, preset"),
        ("critic.enable=true", "without a critic"),
        ("algorithm.use_kl_in_reward=true", "rewards are not used"),
        ("actor_rollout_ref.actor.kl_loss_type=kl", "estimated by k3"),
        ("algorithm.rollout_correction.rollout_is=token", "weighs tokens"),
        ("algorithm.rollout_correction.rollout_rs=token_k1", "leaves out tokens"),
    ],
)
def test_settings_with_another_loss_are_refused(change: str, reason: str) -> None:
    from proof_r1_formal.integrations.verl_trainer import ProofTrainer

    with pytest.raises(ProofR1Error, match=reason):
        ProofTrainer(configured(change))
