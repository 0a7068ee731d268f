"""Compares the speed of two commits: ``python -m studies.bench.commits CHECKOUT FOLDER_OF_DATA``.

In: the folder of another checkout, and the benchmark data. Out: a row for each kind of work: the CPU seconds of this
commit over those of the other, the median of the rounds with the least and the greatest, and whether both did the same.
Each contestant has a process of its own, which starts cold. They take turns, block by block, so the load of the machine
falls on both alike. This file runs in both processes, with the package of one commit: it uses what both have.
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
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from proof_r1_formal import Problem, Verifier
from proof_r1_formal.data import read_problems
from proof_r1_formal.executors import ALLOCATIONS_PER_COLLECTION
from proof_r1_formal.generate.synthesize import Proved, Prover

ROOT = Path(__file__).resolve().parents[2]
TURNS = 10
"""Blocks of a round."""
SETS = {
    "ProverQA": ("proverqa/easy.json", "proverqa/medium.json", "proverqa/hard.json"),
    "PrOntoQA": ("prontoqa/logiclm_dev_first250.json",),
    "ProofWriter": ("proofwriter/logiclm_dev.json",),
}
"""Problems to prove, as files of the data."""
EACH = 120
"""Problems of a set, spread over its files."""
Work = Callable[[], bytes]
"""One item of work; the bytes are its result."""


def verifications(data: Path) -> Iterator[Work]:
    """The reference traces; the bytes are the verdicts."""
    problems = read_problems(data / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    verifier = Verifier()
    for line in (data / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        problem = problems[f"{record['difficulty']}/{record['problem_id']}"]
        yield partial(verdicts, verifier, problem, record["response"])


def verdicts(verifier: Verifier, problem: Problem, completion: str) -> bytes:
    """What the verifier finds."""
    report = verifier.verify(problem, completion)
    steps = [(step.schema, step.semantic, step.rule, step.progress, step.signal) for step in report.actions]
    return repr((report.verified, report.answer_correct, steps)).encode()


def proofs(data: Path, name: str) -> Iterator[Work]:
    """The problems of a set; the bytes are the proof, if one is found."""
    prover = Prover(Verifier())
    problems = [one for path in SETS[name] for one in read_problems(data / path).values()]
    for problem in problems[:: max(1, len(problems) // EACH)]:
        yield partial(proof, prover, problem)


def proof(prover: Prover, problem: Problem) -> bytes:
    """The steps that the prover finds, or what it says in their place."""
    found = prover.prove(problem)
    return repr(found.steps if isinstance(found, Proved) else type(found).__name__).encode()


def work(kind: str, data: Path) -> None:
    """Do a block for each line of the input, and print its CPU seconds and the digest of all results so far."""
    todo = list(verifications(data) if kind == "verify" else proofs(data, kind))
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
    digest, block = hashlib.sha256(), -(-len(todo) // TURNS)
    for line in sys.stdin:
        first = int(line) * block
        start = time.process_time()
        results = [each() for each in todo[first : first + block]]
        seconds = time.process_time() - start
        digest.update(b"\n".join(results))
        sys.stdout.write(f"{seconds} {digest.hexdigest()}\n")
        sys.stdout.flush()


def race(kind: str, data: Path, folders: list[Path]) -> tuple[list[float], bool]:
    """The CPU seconds of the package in each folder in one round, and whether all results are equal."""
    racing = [
        subprocess.Popen(
            [sys.executable, "-P", __file__, str(folder), str(data), "--work", kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(folder)},
        )
        for folder in folders
    ]
    spent, digests = [0.0] * len(racing), [""] * len(racing)
    for turn in range(TURNS):
        for place, process in enumerate(racing):
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{turn}\n")
            process.stdin.flush()
            seconds, digests[place] = process.stdout.readline().split()
            spent[place] += float(seconds)
    for process in racing:
        process.communicate()
    return spent, len(set(digests)) == 1


def main() -> None:
    """Print the ratio of each kind of work."""
    parser = argparse.ArgumentParser(prog="python -m studies.bench.commits")
    parser.add_argument("checkout", type=Path, help="folder of the other commit")
    parser.add_argument("data", type=Path, help="folder of benchmark data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", choices=("verify", *SETS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.data)
        return
    for kind in ("verify", *SETS):
        rounds = [race(kind, options.data, [ROOT, options.checkout.resolve()]) for _ in range(options.rounds)]
        ratios = sorted([own / other for (own, other), _ in rounds])
        same = "the same results" if all(equal for _, equal in rounds) else "other results"
        said = "verify" if kind == "verify" else f"prove {kind}"
        seconds = median([own for (own, _), _ in rounds])
        told = f"{median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}); {seconds:.1f} s; {same}"
        sys.stdout.write(f"{said}: {told}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
