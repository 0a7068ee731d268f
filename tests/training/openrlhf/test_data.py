"""What a run reads: demonstrations that fit."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from training.common.display import Display
from training.common.tokenizer import load_tokenizer
from training.config import read_config
from training.openrlhf.data import prepare


def test_demonstrations_that_would_be_cut_are_left_out(given: Path, tmp_path: Path) -> None:
    def taught(limit: int) -> list[int]:
        changes = [f"rollout.max_response_tokens={limit}", f"output={tmp_path / str(limit)}", "data.checked=false"]
        config = read_config(given, ["method=sft", "data.epochs=1", "optimiser.steps=1000", *changes])
        with Display(Console(quiet=True)) as display:
            prepared = prepare(config, display)
        tokenizer = load_tokenizer(prepared.model)
        lines = (tmp_path / str(limit) / "openrlhf" / "train.jsonl").read_text(encoding="utf-8").splitlines()
        return sorted(len(tokenizer.encode(json.loads(line)["response"], add_special_tokens=False)) for line in lines)

    lengths = taught(1000)
    limit = lengths[len(lengths) // 2]
    shorter = taught(limit)
    assert len(shorter) < len(lengths)
    assert shorter[-1] == limit
