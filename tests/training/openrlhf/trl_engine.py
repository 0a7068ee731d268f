"""A run of ``ProofTrainer`` with another engine: ``python trl_engine.py ENGINE MODEL PROBLEMS OUT``.

ENGINE is ``plain``, ``vllm`` (in the process of the trainer) or ``deepspeed``. Out: for each update the loss, and for
each batch of rollouts how far the log-probabilities of the engine are from those of the policy.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from without_gpu import ENVIRONMENT

os.environ.update(ENVIRONMENT)

import torch
from transformers import AutoTokenizer
from trl.generation.vllm_generation import VLLMGeneration

from proof_r1_formal import read_problems
from proof_r1_formal.integrations.datasets import problems_dataset
from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer

UPDATES = 4
DEEPSPEED = {
    "zero_optimization": {"stage": 2},
    "zero_force_ds_cpu_optimizer": False,
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "train_batch_size": "auto",
    "gradient_clipping": "auto",
}


def send_weights(generation: Any) -> None:
    """TRL's ``sync_weights``, for layers of CPUs, which repack their weights: all at once, by vLLM's own reload."""
    weights = [(name, weight.detach().clone()) for name, weight in generation._iter_named_params()]
    runner = generation.llm.llm_engine.model_executor.driver_worker.model_runner
    runner.reload_weights(weights_iterator=iter(weights))
    generation.llm.reset_prefix_cache()


class Watched(ProofTrainer):
    """Keeps how the engine and the policy differ, and how far the credit is from zero."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.differences: list[float] = []
        self.credited: list[float] = []

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        self.credited.append(float(output["advantages"].abs().max()))
        if (sampled := output.get("sampling_per_token_logps")) is not None:
            mask = output["completion_mask"].bool()
            self.differences.append(float((output["old_per_token_logps"] - sampled)[mask].abs().mean()))
        return output


def main(engine: str, model: str, problems: str, out: str) -> None:
    torch.set_num_threads(1)
    VLLMGeneration.sync_weights = send_weights
    settings = ProofConfig(
        output_dir=out,
        max_steps=UPDATES,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        num_generations=4,
        max_completion_length=64,
        learning_rate=1e-3,
        lr_scheduler_type="constant",
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        use_vllm=engine == "vllm",
        vllm_mode="colocate",
        deepspeed=DEEPSPEED if engine == "deepspeed" else None,
        verification_workers=0,
    )
    trainer = Watched(
        model,
        args=settings,
        train_dataset=problems_dataset(read_problems(problems).values(), prompt="short"),
        processing_class=AutoTokenizer.from_pretrained(model),
    )
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    found = {"losses": losses, "differences": trainer.differences, "credited": trainer.credited}
    (Path(out) / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
