"""TRL's own trainer, with our reward function and our data set, for two steps of a model that knows some answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.integrations.datasets import problems_dataset
from proof_r1_formal.integrations.rewards import reward_function

pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")
pytestmark = pytest.mark.integration


def test_grpo_is_rewarded_by_the_verifier(known: list[Any], taught: Path, tokenizer: Any, tmp_path: Path) -> None:
    import torch
    from transformers import LlamaForCausalLM
    from trl import GRPOConfig, GRPOTrainer

    torch.manual_seed(0)
    torch.set_num_threads(1)  # for a model this small, more wait for each other
    rows = problems_dataset([one.problem for one in known[:2]], prompt="question")
    rows = rows.map(lambda row: {"prompt": row["prompt"].removesuffix("\n\n")})  # as the model was taught
    model = LlamaForCausalLM.from_pretrained(taught)

    function = reward_function("sound")
    given: list[list[float]] = []

    def noted(**columns: Any) -> list[float]:
        rewards = function(**columns)
        given.append([reward for reward in rewards if reward is not None])
        return given[-1]

    noted.__name__ = function.__name__
    arguments = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=200,
        temperature=0.2,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
    )
    trainer = GRPOTrainer(model, noted, args=arguments, train_dataset=rows, processing_class=tokenizer)
    trainer.train()

    logged = [entry["rewards/proof_r1_sound/mean"] for entry in trainer.state.log_history[:2]]
    assert logged == pytest.approx([sum(rewards) / len(rewards) for rewards in given], abs=1e-3)
    assert [len(rewards) for rewards in given] == [4, 4]
    for rewards in given:  # one of the two problems is known by heart, and of the other nothing
        assert max(rewards) == 1.0
        assert min(rewards) < 1.0


def test_the_example_trains(tmp_path: Path) -> None:
    program = Path(__file__).resolve().parents[2] / "examples" / "train_trl.py"
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("mean signal of the actions of the last logged batch: 0.")
