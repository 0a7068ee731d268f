"""Three steps of OpenRLHF with our controller: vLLM, DeepSpeed, weights by CUDA IPC, engines that sleep.

    python -m studies.card.openrlhf_run FOLDER

Out: ``FOLDER/found.json``, from TensorBoard's events and the model at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import yaml

from studies.card.found import Check, Found
from studies.card.settings import GROUPS, SAMPLES, UPDATES, openrlhf

MODEL, PROBLEMS = Path("out/pretrained/model").absolute(), Path("out/gpu/problems.jsonl").absolute()
ABSENT = Path(__file__).with_name("without_flash_attn")
"""On the path of all processes where flash-attn is not installed."""

Scalars = Mapping[str, Sequence[tuple[float, float]]]
"""The values that TensorBoard has of a name: seconds since the epoch, and the value."""


def write_configuration(folder: Path, *, flash: bool) -> Path:
    """The file of the run, which is in the same folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(openrlhf(MODEL, PROBLEMS, (folder / "run").absolute(), flash=flash)))
    return file


def judge(scalars: Scalars, moved: float, *, flash: bool) -> Found:
    """What the values of a run say.

    Args:
        scalars: those of OpenRLHF and ours, without the folder ``train/`` in their names.
        moved: the largest change of a weight.
        flash: whether sequences were packed.
    """
    losses = [value for _, value in scalars.get("policy_loss", ())]
    signals = [value for _, value in scalars.get("proof/signal", ())]
    broken = [value for _, value in scalars.get("proof/broken", ())]
    checks = {
        "steps": Check(len(losses), low=UPDATES, high=UPDATES),
        "largest loss": Check(max(map(abs, losses), default=float("nan")), high=1e4),
        "steps with signals": Check(len(signals), low=UPDATES),
        "broken": Check(sum(broken), high=0.0),
        "largest change of a weight": Check(moved, low=1e-9),
    }
    times = [when for when, _ in scalars.get("policy_loss", ())]
    lengths = [value for _, value in scalars.get("response_length", ())]
    seconds = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None
    numbers: dict[str, float | None] = {"seconds per step": seconds}
    if seconds and lengths:
        numbers["tokens per second"] = lengths[-1] * GROUPS * SAMPLES / seconds
    notes = [] if flash else ["flash-attn is not installed: sequences were not packed"]
    return Found(checks, numbers, notes)


def read_scalars(folder: Path) -> Scalars:
    """The values in the events below a folder."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found: dict[str, list[tuple[float, float]]] = {}
    for file in sorted(folder.rglob("events.*")):
        events = EventAccumulator(str(file)).Reload()
        for name in events.Tags()["scalars"]:
            values = [(event.wall_time, event.value) for event in events.Scalars(name)]
            found.setdefault(name.removeprefix("train/"), []).extend(values)
    return found


def largest_change(before: Path, after: Path) -> float:
    """Between the weights of two folders, in the type of the second."""
    from safetensors.torch import load_file

    old = {name: one for file in before.glob("*.safetensors") for name, one in load_file(file).items()}
    new = {name: one for file in after.glob("*.safetensors") for name, one in load_file(file).items()}
    shared = sorted(old.keys() & new.keys())
    if not shared:
        return float("nan")
    return max(float((old[name].to(new[name].dtype) - new[name]).abs().max()) for name in shared)


def main() -> None:
    """Run, and write what was found."""
    folder = Path(sys.argv[1])
    flash = find_spec("flash_attn") is not None
    paths = [os.environ.get("PYTHONPATH", ""), *([] if flash else [str(ABSENT)])]
    file = write_configuration(folder, flash=flash)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    subprocess.run([sys.executable, "-m", "training.openrlhf", "--config", str(file)], env=environment, check=True)
    moved = largest_change(MODEL, folder / "run" / "model")
    judge(read_scalars(folder / "run" / "tensorboard"), moved, flash=flash).write(folder)


if __name__ == "__main__":
    main()
