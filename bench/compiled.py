"""Measures the compiled core against the interpreted one: ``python -m bench.compiled FOLDER_OF_DATA``.

Each runs in a process of its own, which starts cold. They take turns, block by block, so the load of the machine falls
on both alike. Times are CPU seconds, medians of the rounds. The reports must be the same bytes.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from bench.traces import Sample, reference_traces, rollouts
from bench.verification import TURNS, forget
from proof_r1_formal.compiling import is_compiled
from proof_r1_formal.engines import ALLOCATIONS_PER_COLLECTION
from proof_r1_formal.proof.verify import Verifier

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ("traces", "rollouts")


def samples(name: str, data: Path) -> list[Sample]:
    """The reference traces, or the rollouts made of them."""
    traces = reference_traces(data)
    return traces if name == "traces" else rollouts(traces, 7)


def work(name: str, data: Path) -> None:
    """Verify a block for each line of the input, and print its CPU seconds and the digest of all reports so far."""
    todo, verifier, digest = samples(name, data), Verifier(), hashlib.sha256()
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
    forget()
    block = -(-len(todo) // TURNS)
    for line in sys.stdin:
        first = int(line) * block
        start = time.process_time()
        reports = [verifier.verify(sample.problem, sample.completion) for sample in todo[first : first + block]]
        seconds = time.process_time() - start
        digest.update(b"\n".join(map(msgspec.json.encode, reports)))
        sys.stdout.write(f"{is_compiled()} {seconds} {digest.hexdigest()}\n")
        sys.stdout.flush()


def race(name: str, data: Path, folders: dict[str, Path]) -> dict[str, float]:
    """The CPU seconds of each core for all samples, in one round."""
    racing = {
        core: subprocess.Popen(
            [sys.executable, "-P", "-m", "bench.compiled", str(data), "--work", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        )
        for core, folder in folders.items()
    }
    spent = dict.fromkeys(racing, 0.0)
    for turn in range(TURNS):
        digests = set()
        for core, process in racing.items():
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{turn}\n")
            process.stdin.flush()
            compiled, seconds, digest = process.stdout.readline().split()
            assert compiled == str(core == "compiled"), f"the {core} core is not the one that runs"
            spent[core] += float(seconds)
            digests.add(digest)
        assert len(digests) == 1, "the reports differ"
    for process in racing.values():
        process.communicate()
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", choices=SAMPLES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.data)
        return
    with TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run([sys.executable, str(ROOT / "compile_core.py"), made], check=True, stdout=subprocess.DEVNULL)
        for name in ("grammars", "theories"):
            shutil.copytree(ROOT / name, folder / name)
        for name in SAMPLES:
            rounds = [
                race(name, options.data, {"interpreted": ROOT, "compiled": folder}) for _ in range(options.rounds)
            ]
            medians = {core: statistics.median([spent[core] for spent in rounds]) for core in rounds[0]}
            count, gain = len(samples(name, options.data)), medians["interpreted"] / medians["compiled"]
            rates = ", ".join(f"{core} {count / seconds:,.0f}" for core, seconds in medians.items())
            sys.stdout.write(f"{name} per CPU second: {rates}; the compiled core is {gain:.2f} times as fast\n")


if __name__ == "__main__":
    main()
