"""Three steps of verl with our trainer, of all weights or of adapters.

    python -m studies.card.verl_run FOLDER [RANK OF ADAPTERS]

Out: ``FOLDER/found.json``, from verl's own log of each step.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from proof_r1_formal import read_problems
from studies.card.found import Check, Found
from studies.card.settings import GROUPS, SAMPLES, UPDATES, verl

MODEL, PROBLEMS = Path("out/pretrained/model").absolute(), Path("out/gpu/problems.jsonl").absolute()
OURS = {"VERL_USE_EXTERNAL_MODULES": "proof_r1_formal.integrations.verl_trainer"}


def write_rows(problems: Path, file: Path) -> None:
    """The problems as verl reads them."""
    from datasets import Dataset

    from proof_r1_formal.integrations.verl import rows

    file.parent.mkdir(parents=True, exist_ok=True)
    Dataset.from_list(list(rows(read_problems(problems).values()))).to_parquet(str(file))


def judge(steps: Sequence[Mapping[str, float]], *, flash: bool) -> Found:
    """What verl's log of each step says."""

    def column(name: str) -> list[float]:
        return [step[name] for step in steps if name in step]

    nothing = float("nan")
    checks = {
        "steps": Check(len(column("actor/pg_loss")), low=UPDATES, high=UPDATES),
        "least gradient": Check(min(column("actor/grad_norm"), default=nothing), low=1e-8),
        "steps with signals": Check(len(column("proof/signal")), low=UPDATES),
        "broken": Check(sum(column("proof/broken")), high=0.0),
        "engine and policy differ": Check(max(column("training/rollout_probs_diff_mean"), default=nothing), high=0.02),
    }
    seconds, sampling = column("timing_s/step"), column("timing_s/gen")
    lengths = column("response_length/mean")
    numbers: dict[str, float | None] = {
        "seconds per step": seconds[-1] if seconds else None,
        "seconds of verification per step": column("timing_s/adv")[-1] if column("timing_s/adv") else None,
        "completions per step": float(GROUPS * SAMPLES),
        "allocated GiB": max(
            (value for step in steps for name, value in step.items() if name.endswith("max_memory_allocated_gb")),
            default=None,
        ),
    }
    if seconds and lengths:
        numbers["tokens per second"] = lengths[-1] * GROUPS * SAMPLES / seconds[-1]
    if sampling and lengths:
        numbers["tokens sampled per second"] = lengths[-1] * GROUPS * SAMPLES / sampling[-1]
    return Found(checks, numbers, [] if flash else ["flash-attn is not installed: padding was not removed"])


def main() -> None:
    """Run, and write what was found."""
    folder = Path(sys.argv[1]).absolute()
    lora = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    flash = find_spec("flash_attn") is not None
    rows, log = folder / "rows.parquet", folder / "log.jsonl"
    write_rows(PROBLEMS, rows)
    overrides = verl(MODEL, rows, folder / "run", lora=lora, flash=flash)
    environment = {**os.environ, **OURS, "VERL_FILE_LOGGER_PATH": str(log)}
    subprocess.run([sys.executable, "-m", "verl.trainer.main_ppo", *overrides], env=environment, check=True)
    steps = [json.loads(line)["data"] for line in log.read_text().splitlines()]
    judge(steps, flash=flash).write(folder)


if __name__ == "__main__":
    main()
