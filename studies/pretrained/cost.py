"""The cost of a step of ``ProofTrainer`` on one thread of a CPU, with each prompt passed once or with each completion.

``python -m studies.pretrained.cost MODEL PROBLEMS`` runs two generation batches of 4 problems × 8 completions both
ways, each in a process of its own, and prints the CPU seconds of the second batch: two passes over it, sampling and
verification included, without the start. Both use the attention of ``studies.pretrained.speed``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from proof_r1_formal import read_problems
from proof_r1_formal.integrations.datasets import problems_dataset
from studies.pretrained.speed import GROUPED, fast_bfloat16, register

WAYS = ("shared", "each")
PROBLEMS, SAMPLES, PROMPT, ANSWER = 4, 8, 640, 224


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.pretrained.cost")
    parser.add_argument("model", type=Path)
    parser.add_argument("problems", type=Path)
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--micro", type=int, default=8)
    given = parser.parse_args()
    if given.way:
        torch.set_num_threads(1)
        torch.manual_seed(0)
        register()
        seconds = _step(given.model, given.problems, given.micro, shared=given.way == "shared")
        sys.stdout.write(json.dumps({given.way: seconds}) + "\n")
        return
    for way in WAYS:
        command = [sys.executable, "-m", "studies.pretrained.cost", *map(str, (given.model, given.problems))]
        subprocess.run([*command, "--way", way, "--micro", str(given.micro)], check=True)


def _step(model: Path, problems: Path, micro: int, *, shared: bool) -> float:
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback

    from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer

    times: list[float] = []

    class Clock(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            times.append(time.process_time())

    rows = problems_dataset(islice(read_problems(problems).values(), 8 * PROBLEMS), prompt="question")
    with tempfile.TemporaryDirectory() as folder:
        settings = ProofConfig(
            output_dir=folder,
            max_steps=4,
            per_device_train_batch_size=micro,
            gradient_accumulation_steps=PROBLEMS * SAMPLES // micro,
            num_generations=SAMPLES,
            max_completion_length=ANSWER,
            learning_rate=1e-6,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=fast_bfloat16(),
            gradient_checkpointing=False,
            share_prompts=shared,
            disable_dropout=True,
        )
        policy = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, attn_implementation=GROUPED)
        trainer = ProofTrainer(
            policy,
            args=settings,
            train_dataset=rows,
            processing_class=AutoTokenizer.from_pretrained(model),
            callbacks=[Clock()],
        )
        if trainer.ref_model is not None:
            trainer.ref_model.set_attn_implementation(GROUPED)
        trainer.train()
    return times[3] - times[1]  # two passes over each generation batch


if __name__ == "__main__":
    main()
