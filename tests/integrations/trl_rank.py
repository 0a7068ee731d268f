"""One of two processes that train with TRL: ``trl_rank.py MODEL PROBLEMS OUT``; it writes what it credited to OUT."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset

from proof_r1_formal import read_problems
from proof_r1_formal.data.native import to_json
from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer
from proof_r1_formal.models.prompts import question


class Watched(ProofTrainer):
    """Keeps the first generation batch."""

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        if not hasattr(self, "first"):
            rows = zip(output["completion_ids"], output["completion_mask"].bool(), strict=True)
            self.first = {
                "names": [row["id"] for row in inputs],
                "ids": [ids[keep].tolist() for ids, keep in rows],
                "advantages": output["advantages"].tolist(),
                "state": self.assigner.state_dict(),
            }
        return output


def main(model: str, problems: str, out: str) -> None:
    torch.set_num_threads(1)
    known = read_problems(problems)
    rows = Dataset.from_list([{"id": p.id, "prompt": question(p), "problem": to_json(p)} for p in known.values()])
    args = ProofConfig(
        output_dir=str(Path(out) / "run"),
        max_steps=2,
        per_device_train_batch_size=2,
        per_device_eval_batch_size=4,
        num_generations_eval=2,
        gradient_accumulation_steps=3,
        num_generations=4,
        max_completion_length=200,
        temperature=0.3,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
        verification_workers=0,
    )
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    trainer = Watched(model, args=args, train_dataset=rows, eval_dataset=rows, processing_class=tokenizer)
    trainer.train()
    scores = trainer.evaluate()  # of 6 completions in batches of 4 for each process
    policy = trainer.accelerator.unwrap_model(trainer.model)
    weights = torch.cat([one.detach().flatten() for one in policy.parameters()])
    rank = trainer.accelerator.process_index
    evaluated = {
        "eval": {name: scores[name] for name in ("eval_avg", "eval_pass")},
        "judged": [(one.problem_id, one.answer_correct) for one in trainer._reports],
    }
    torch.save(trainer.first | {"weights": weights, **evaluated}, Path(out) / f"rank-{rank}.pt")
    trainer.accelerator.wait_for_everyone()
    trainer.accelerator.end_training()  # else gloo may abort a rank whose peer is gone


if __name__ == "__main__":
    main(*sys.argv[1:])
