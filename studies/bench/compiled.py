"""Measures the compiled core, and writes ``docs/compiled.json``: ``python -m studies.bench.compiled FOLDER_OF_DATA``.

In: the benchmark data and a C compiler. The compiled and the interpreted core verify the same completions; on the small
sets they also compete with the baseline of ``verification``, which sends every question to a fresh z3py solver.
Each contestant has a process of its own, which starts cold. They take turns, block by block, so the load of the machine
falls on all alike. Times are CPU seconds, medians of the rounds. The reports of both cores must be the same bytes.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from proof_r1_formal.executors import ALLOCATIONS_PER_COLLECTION
from proof_r1_formal.kernel.compiling import is_compiled
from proof_r1_formal.proof.verify import Verifier
from studies.bench.baselines import FreshZ3
from studies.bench.cold import forget
from studies.bench.traces import Sample, fourth_of_problems, reference_traces, rollouts
from studies.bench.verification import TURNS, EveryQuestion, ForgetfulVerifier, compared, machine

ROOT = Path(__file__).resolve().parents[2]
BASELINE = f"every question to {FreshZ3.name}"
CORES = ("interpreted", "compiled")
SETS = {
    "distinct_traces": (BASELINE, *CORES),
    "8_rollouts_of_every_fourth_problem": (BASELINE, *CORES),
    "reference_traces": CORES,
    "8_rollouts": CORES,
}
"""The problems that are verified, and the verifier."""


def samples(name: str, data: Path) -> list[Sample]:
    """The traces of a set; the small sets are those of ``studies.bench.verification``."""
    traces = reference_traces(data)
    match name:
        case "distinct_traces":
            return traces[::3]
        case "8_rollouts_of_every_fourth_problem":
            return fourth_of_problems(rollouts(traces, seed=1))
        case "8_rollouts":
            return rollouts(traces, seed=1)
        case _:
            return traces


def work(who: str, name: str, data: Path) -> None:
    """Verify a block for each line of the input, and print its CPU seconds and the digest of all reports so far."""
    assert is_compiled() == (who == "compiled"), f"the {who} core is not the one that runs"
    todo, verifier, digest = samples(name, data), Verifier(), hashlib.sha256()
    if who == BASELINE:
        verifier = ForgetfulVerifier(FreshZ3(), EveryQuestion(FreshZ3()))
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
    forget()
    block = -(-len(todo) // TURNS)
    for line in sys.stdin:
        first = int(line) * block
        start = time.process_time()
        reports = [verifier.verify(sample.problem, sample.completion) for sample in todo[first : first + block]]
        seconds = time.process_time() - start
        digest.update(b"\n".join(map(msgspec.json.encode, reports)))
        sys.stdout.write(f"{seconds} {digest.hexdigest()}\n")
        sys.stdout.flush()


def race(name: str, data: Path, compiled: Path) -> dict[str, float]:
    """The CPU seconds of each contestant for a whole set, in one round.

    Args:
        name: of the set.
        data: the benchmark data.
        compiled: the folder with the compiled package.
    """
    racing = {}
    for who in SETS[name]:
        folders = [str(compiled), str(ROOT)] if who == "compiled" else [str(ROOT)]
        racing[who] = subprocess.Popen(
            [sys.executable, "-P", "-m", "studies.bench.compiled", str(data), "--work", who, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        )
    spent = dict.fromkeys(racing, 0.0)
    for turn in range(TURNS):
        digests = {}
        for who, process in racing.items():
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{turn}\n")
            process.stdin.flush()
            seconds, digests[who] = process.stdout.readline().split()
            spent[who] += float(seconds)
        assert len({digests[core] for core in CORES}) == 1, "the reports differ"
    for process in racing.values():
        process.communicate()
    return spent


def main() -> None:
    """Compile the core, measure, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of benchmark data")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/compiled.json")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--work", nargs=2, metavar=("WHO", "SET"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        who, name = options.work
        work(who, name, options.data)
        return
    result = {"machine": machine()}
    with TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run([sys.executable, str(ROOT / "compile_core.py"), made], check=True, stdout=subprocess.DEVNULL)
        for name, contestants in SETS.items():
            rounds = [race(name, options.data, folder) for _ in range(options.rounds)]
            seconds = {who: [spent[who] for spent in rounds] for who in contestants}
            count = len(samples(name, options.data))
            result[name] = {"traces": count, "rows": compared(seconds, count, contestants[0])}
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
