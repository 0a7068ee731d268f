"""The two engines side by side: ten steps from one small model on the same problems, by each, with a few seeds.

``make engines`` runs it, as the engines have environments of their own. Out: a table and curves in ``docs/engines``.
What is done already is not done again.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from statistics import fmean

from training.common.logs import Record, StepRecord, read_log
from training.config import Config, read_config
from training.diagnostics import Panel, band, draw_panels, step_curve
from training.experiments.problems import write_one_step

HERE = Path(__file__).resolve().parent
WARM_UP, RUN = HERE / "engines-warm-up.yaml", HERE / "engines-run.yaml"
LONGER = ("optimiser.steps=10", "batch={problems: 8, mini: 8, micro: 16, epochs: 2}", "rollout.samples=8")
"""What the comparison changes in the run, which is as short as a test of it should be."""
SHOWN: Mapping[str, Callable[[StepRecord], float]] = {
    "signal": lambda step: step.signal,
    "FVR": lambda step: step.fvr,
    "RVR": lambda step: step.rvr,
    "KL": lambda step: step.kl,
}

Logs = Mapping[str, Sequence[Sequence[Record]]]
"""Engine -> the logs of its runs, by seed."""


def runs(programs: Mapping[str, str], seeds: Sequence[int]) -> Logs:
    """The logs of the runs, which are made where they are not there.

    Args:
        programs: ``proof-r1`` in the environment of each engine.
        seeds: one run of each engine for each.
    """
    warm_up = read_config(WARM_UP)
    if not Path(warm_up.data.train[0]).exists():
        write_one_step(Path(warm_up.data.train[0]))
    _train(programs["local"], "local", WARM_UP, ())
    return {engine: [_log(program, engine, seed) for seed in seeds] for engine, program in programs.items()}


def _log(program: str, engine: str, seed: int) -> list[Record]:
    changes = (*LONGER, f"seed={seed}", f"output=out/engines/{engine}-{seed}")
    return list(read_log(Path(_train(program, engine, RUN, changes).output) / "log.jsonl"))


def _train(program: str, engine: str, file: Path, changes: Sequence[str]) -> Config:
    config = read_config(file, changes)
    if not (Path(config.output) / "model").exists():
        subprocess.run([program, "train", "--engine", engine, "--config", str(file), *changes], check=True)
    return config


def table(logs: Logs) -> Iterator[str]:
    """Means over the seeds, step by step, in Markdown."""
    columns = [(name, engine) for name in SHOWN for engine in logs]
    yield "| step | " + " | ".join([f"{name}, {engine}" for name, engine in columns]) + " |"
    yield "|---" * (1 + len(columns)) + "|"
    curves = {(name, engine): [step_curve(log, SHOWN[name]) for log in logs[engine]] for name, engine in columns}
    for step in curves[columns[0]][0]:
        cells = [f"{fmean([curve[step] for curve in curves[column]]):.3f}" for column in columns]
        yield f"| {step} | {' | '.join(cells)} |"


def report(logs: Logs, seeds: Sequence[int], folder: Path) -> None:
    """Write the table and the curves."""
    folder.mkdir(parents=True, exist_ok=True)
    panels = [
        Panel(
            name, unit, {engine: band([step_curve(log, SHOWN[name]) for log in each]) for engine, each in logs.items()}
        )
        for name, unit in zip(SHOWN, ("mean of actions", "share", "share", "nats per rollout"), strict=True)
    ]
    draw_panels(panels, folder / "engines.png")
    steps = [one for log in logs["openrlhf"] for one in log if isinstance(one, StepRecord)]
    mismatch = max(abs(one.vllm_kl) for one in steps)
    names, system = ", ".join(map(str, seeds)), f"Python {platform.python_version()}, torch {version('torch')}"
    lines = [
        "# The two engines side by side",
        "",
        f"Made by `make engines`: means over seeds {names}; {cpu_count()} cores, {system}.",
        "",
        f"![Signal, FVR, RVR and KL over the steps of each engine]({folder.name}/engines.png)",
        "",
        *table(logs),
        "",
        f"In no step is the mean log-probability of vLLM's tokens further than {mismatch:.4f} from the policy's.",
    ]
    folder.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Run and report."""
    parser = ArgumentParser(prog="python -m training.experiments.engines")
    parser.add_argument("--openrlhf", required=True, help="proof-r1 in the environment of the engine openrlhf")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("docs/engines"))
    given = parser.parse_args()
    programs = {"local": str(Path(sys.executable).with_name("proof-r1")), "openrlhf": given.openrlhf}
    report(runs(programs, given.seeds), given.seeds, given.out)


if __name__ == "__main__":
    main()
