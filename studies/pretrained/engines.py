"""What a step of reinforcement learning costs on one thread: ``ProofTrainer`` in TRL beside the engine of this project.

``python -m studies.pretrained.engines MODEL PROBLEMS`` runs two generation batches of 4 problems × 8 completions with
each engine, in a process of its own, and prints the CPU seconds of the second batch: two passes over it, sampling and
verification included, without the start. Both use the attention of
``studies.pretrained.attention``.
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
from unittest import mock

import torch

from proof_r1_formal import read_problems
from proof_r1_formal.data.native import to_json
from proof_r1_formal.models.prompts import question
from studies.pretrained.attention import GROUPED, register

ENGINES = ("local", "trl")
PROBLEMS, SAMPLES, PROMPT, ANSWER = 4, 8, 640, 224


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.pretrained.engines")
    parser.add_argument("model", type=Path)
    parser.add_argument("problems", type=Path)
    parser.add_argument("--engine", choices=ENGINES)
    parser.add_argument("--micro", type=int, default=8)
    given = parser.parse_args()
    if given.engine:
        torch.set_num_threads(1)
        torch.manual_seed(0)
        register()
        run = _local if given.engine == "local" else _trl
        sys.stdout.write(json.dumps({given.engine: run(given.model, given.problems, given.micro)}) + "\n")
        return
    for engine in ENGINES:
        command = [sys.executable, "-m", "studies.pretrained.engines", *map(str, (given.model, given.problems))]
        subprocess.run([*command, "--engine", engine, "--micro", str(given.micro)], check=True)


def _local(model: Path, problems: Path, micro: int) -> float:
    from rich.console import Console
    from transformers import AutoModelForCausalLM

    from training.common.display import Display
    from training.config import read_config
    from training.local.trainer import train

    loaded = AutoModelForCausalLM.from_pretrained

    def grouped(*args: Any, **options: Any) -> Any:
        return loaded(*args, **options | {"attn_implementation": GROUPED})

    times: list[float] = []

    def stopping() -> bool:  # asked before each step
        times.append(time.process_time())
        return False

    loading = mock.patch.object(AutoModelForCausalLM, "from_pretrained", grouped)
    with loading, tempfile.TemporaryDirectory() as folder, Display(Console(quiet=True)) as display:
        file = Path(folder) / "config.yaml"
        file.write_text(
            f"""
method: proof_r1
output: {folder}/run
tensorboard: false
model: {{path: {model}, lora: null, dtype: float32, device: cpu, threads: 1}}
data: {{train: [{problems}], evaluation: [{problems}], prompt: question, epochs: 100}}
rollout:
  {{samples: {SAMPLES}, temperature: 1.0, top_p: 1.0, max_prompt_tokens: {PROMPT}, max_response_tokens: {ANSWER}}}
batch: {{problems: {PROBLEMS}, mini: {PROBLEMS}, micro: {micro}, epochs: 2}}
optimiser: {{steps: 3, learning_rate: 1e-6}}
evaluation: {{every: 0, at_start: false}}
checkpoint: {{every: 0}}
"""
        )
        train(read_config(file, []), display, stopping=stopping)
    return times[2] - times[1]


def _trl(model: Path, problems: Path, micro: int) -> float:
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback

    from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer

    times: list[float] = []

    class Clock(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            times.append(time.process_time())

    known = islice(read_problems(problems).values(), 8 * PROBLEMS)
    rows = [{"id": one.id, "prompt": f"{question(one)}\n\n", "problem": to_json(one)} for one in known]
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
            bf16=False,
            gradient_checkpointing=False,
            share_prompts=True,
            disable_dropout=True,
        )
        policy = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, attn_implementation=GROUPED)
        trainer = ProofTrainer(
            policy,
            args=settings,
            train_dataset=Dataset.from_list(rows),
            processing_class=AutoTokenizer.from_pretrained(model),
            callbacks=[Clock()],
        )
        if trainer.ref_model is not None:
            trainer.ref_model.set_attn_implementation(GROUPED)
        trainer.train()
    return times[3] - times[1]  # two passes over each generation batch


if __name__ == "__main__":
    main()
