"""verl's own reward managers, old and new, with our function loaded as its configuration names it."""

from __future__ import annotations

import asyncio
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.integrations.verl import DATA_SOURCE, rows

pytest.importorskip("verl", reason="verl is not installed: make test-integrations")
pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def compute_score() -> Any:
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import get_custom_reward_fn

    custom = {
        "path": "pkg://proof_r1_formal.integrations.verl",
        "name": "compute_score",
        "reward_kwargs": {"reward": "sound"},
    }
    return get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": custom}}))


@pytest.fixture(scope="module")
def batch(known: list[Any], tokenizer: Any) -> Any:
    """A right rollout, one with the same answer and the proof of another problem, and one that says nothing."""
    import numpy
    import torch
    from verl import DataProto

    texts = [known[0].right, known[1].right, "I do not know."]
    responses = [[*tokenizer(text)["input_ids"], tokenizer.eos_token_id] for text in texts]
    width = max(map(len, responses))
    padded = [ids + [tokenizer.pad_token_id] * (width - len(ids)) for ids in responses]
    prompt = torch.full((3, 4), 5)
    mask = torch.tensor([[1] * 4 + [1] * len(ids) + [0] * (width - len(ids)) for ids in responses])
    row: Any = next(rows([known[0].problem]))
    return DataProto.from_dict(
        tensors={"prompts": prompt, "responses": torch.tensor(padded), "attention_mask": mask},
        non_tensors={
            name: numpy.array([copy(row[name]) for _ in range(3)], dtype=object)
            for name in ("data_source", "reward_model", "extra_info")
        },
    )


def test_the_reward_manager_puts_rewards_on_last_tokens(compute_score: Any, batch: Any, tokenizer: Any) -> None:
    from verl.workers.reward_manager.naive import NaiveRewardManager

    manager = NaiveRewardManager(tokenizer, num_examine=0, compute_score=compute_score)
    result = manager(batch, return_dict=True)
    rewards = result["reward_tensor"]
    assert rewards.sum(dim=1).tolist() == pytest.approx([1.0, 0.3, 0.0])
    lengths = batch.batch["attention_mask"][:, 4:].sum(dim=1)
    assert rewards[0, lengths[0] - 1] == 1.0
    assert list(result["reward_extra_info"]["right"]) == [1.0, 1.0, 0.0]
    assert list(result["reward_extra_info"]["parsed"]) == [1.0, 1.0, 0.0]


def test_the_reward_loop_scores_rollouts_at_the_same_time(compute_score: Any, batch: Any, tokenizer: Any) -> None:
    from omegaconf import OmegaConf
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

    async def scored() -> list[Any]:
        manager = NaiveRewardManager(OmegaConf.create({}), tokenizer, compute_score)
        return await asyncio.gather(*[manager.run_single(batch[i : i + 1]) for i in (0, 1, 2) * 4])

    results = asyncio.run(scored())
    assert [result["reward_score"] for result in results] == [1.0, 0.3, 0.0] * 4


def test_rows_are_what_verl_reads(known: list[Any], tmp_path: Path) -> None:
    from datasets import Dataset, load_dataset

    path = tmp_path / "train.parquet"
    Dataset.from_list(list(rows([one.problem for one in known]))).to_parquet(str(path))
    back = load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert back["data_source"][0] == DATA_SOURCE
    assert [message["role"] for message in back["prompt"][0]] == ["system", "user"]
    assert back["reward_model"][0] == {"style": "rule", "ground_truth": known[0].record}
