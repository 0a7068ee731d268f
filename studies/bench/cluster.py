"""Measures verification on a private Ray cluster, and writes ``docs/ray.json``: ``python -m studies.bench.cluster``.

``proof-r1 verify`` reads the same completions, all different, in one process; with one worker and with two workers of a
cluster; and with two of which one is killed when a third of the reports is written, and one again when two thirds are.
All must write the same bytes. Rates are those after the first report: Ray takes seconds to start. Each run is watched
from outside, through ``/proc``, twice a second.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from proof_r1_formal.data.completions import Completion, write_completions
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.generate.problems import GeneratorSettings, generate_problems
from proof_r1_formal.proof.trajectory import completion
from proof_r1_formal.workers.cluster import LOCAL
from studies.bench.traces import Sample, rollouts

Json = dict[str, Any]

OUT = Path("docs/ray.json")
VERIFY = "from proof_r1_formal.cli import main; main()"
EACH = 100
"""Completions per problem."""
WORKER = b"ray::_Actor"
"""The names of Ray for the processes of :mod:`proof_r1_formal.workers.cluster`, beginning with this."""


def descendants(ancestor: int) -> Iterator[tuple[int, bytes]]:
    """The processes that a process started, and those they started, with their command lines."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(_stat(int(folder.name))[1])
        except OSError:  # it has ended
            continue
        children.setdefault(parent, []).append(int(folder.name))
    todo = [*children.get(ancestor, ())]
    while todo:
        process = todo.pop()
        todo += children.get(process, ())
        try:
            yield process, Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue


def workers_of(ancestor: int) -> list[int]:
    """The workers of clusters that a process started."""
    return [process for process, command in descendants(ancestor) if command.startswith(WORKER)]


def _stat(process: int) -> list[str]:
    """The system's line about a process, from its state on."""
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


@dataclass
class Watch:
    """The cost of a run and of its processes; Ray's own are those that are neither driver nor worker."""

    driver: int
    seconds: dict[int, float] = field(default_factory=dict)
    peaks: dict[int, float] = field(default_factory=dict)
    workers: set[int] = field(default_factory=set)

    def look(self) -> None:
        """Take what the system says now; what has ended keeps what was said last."""
        processes = dict(descendants(self.driver))
        self.workers |= {process for process, command in processes.items() if command.startswith(WORKER)}
        for process in (self.driver, *processes):
            try:
                words = _stat(process)
                status = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            self.seconds[process] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
            if "VmHWM:" in status:
                self.peaks[process] = int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def part(self, process: int) -> str:
        """Whose a process is."""
        return "driver" if process == self.driver else "workers" if process in self.workers else "ray"

    def cost(self) -> Json:
        """CPU seconds by part, those of each worker by itself, and the highest peaks of memory."""
        parts: defaultdict[str, list[int]] = defaultdict(list)
        for process in self.seconds:
            parts[self.part(process)].append(process)
        return {
            "cpu_seconds": {
                part: [round(self.seconds[process], 1) for process in processes]
                if part == "workers"
                else round(sum(self.seconds[process] for process in processes), 1)
                for part, processes in parts.items()
            },
            "peak_mib": {
                part: round(max(self.peaks.get(process, 0.0) for process in processes))
                for part, processes in parts.items()
                if part != "ray"
            },
        }


def run(folder: Path, name: str, *options: str, kill_at: tuple[float, ...] = (), size: int = 0) -> Json:
    """Verify; kill a worker whenever such a part of the bytes that are to come is written.

    Args:
        folder: has the problems and the completions.
        name: of the file of reports.
        options: of ``proof-r1 verify``.
        kill_at: parts of the whole.
        size: of the whole, in bytes.
    """
    out = folder / name
    inputs = [f"--{kind}={folder / kind}.jsonl" for kind in ("problems", "completions")]
    command = [sys.executable, "-c", VERIFY, "verify", *inputs, f"--out={out}", *options]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    watch = Watch(process.pid)
    killed: list[int] = []
    begun = 0.0
    while process.poll() is None:
        watch.look()
        begun = begun or (time.perf_counter() if _written(folder, name) else 0.0)
        if len(killed) < len(kill_at) and _written(folder, name) > kill_at[len(killed)] * size:
            killed.append(workers_of(process.pid)[0])
            os.kill(killed[-1], signal.SIGKILL)
        time.sleep(0.5)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    content = out.read_bytes()
    return {
        "run": name,
        "seconds": round(seconds, 1),
        "reports": content.count(b"\n"),
        "seconds_after_the_start": round(start + seconds - begun, 1),
        "reports_per_second": round(content.count(b"\n") / (start + seconds - begun)),
        **watch.cost(),
        "killed": len(killed),
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }


def _written(folder: Path, name: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(f".{name}.*"))


def corpus(folder: Path, count: int) -> None:
    """Write generated problems, and ``count`` different completions: right ones, and variants of them with a fault."""
    settings = GeneratorSettings(seed=1, answers=(TRUE, FALSE))
    problems = [drawn.problem for drawn in islice(generate_problems(settings), -(-count // EACH))]
    right = [Sample(problem, completion(problem, problem.proofs[0])) for problem in problems]
    texts = [(sample.problem.id, sample.completion) for sample in rollouts(right, seed=1, each=EACH)][:count]
    if len({*texts}) != count:
        raise SystemExit("two completions are the same")
    write_problems(folder / "problems.jsonl", problems)
    write_completions(
        folder / "completions.jsonl",
        [Completion(problem_id=name, sample=number, completion=text) for number, (name, text) in enumerate(texts)],
    )


def main() -> None:
    """Measure, and write the file if all runs wrote the same and workers were killed as they should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--completions", type=int, default=200_000)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    packages = ("proof-r1-formal", "ray", "z3-solver", "msgspec")
    found: Json = {
        "machine": {
            "cores": os.cpu_count(),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            "python": platform.python_version(),
            "versions": {name: version(name) for name in packages},
        },
        "completions": options.completions,
        "runs": [],
    }
    on_ray = f"--ray={LOCAL}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus(folder, options.completions)
        for title, arguments, kill_at in (
            ("one process", (), ()),
            ("Ray, one worker", (on_ray, "--workers=1"), ()),
            ("Ray, two workers", (on_ray, "--workers=2"), ()),
            ("Ray, two workers, one killed twice", (on_ray, "--workers=2"), (1 / 3, 2 / 3)),
        ):
            size = found["runs"][0]["bytes"] if found["runs"] else 0
            load = os.getloadavg()[0]
            measured = run(folder, title, *arguments, kill_at=kill_at, size=size)
            found["runs"].append({**measured, "load_before": round(load, 1)})
            sys.stderr.write(f"{found['runs'][-1]}\n")
            if measured["killed"] != len(kill_at):
                raise SystemExit(f"{title}: {measured['killed']} workers were killed")
    if len({measured["sha256"] for measured in found["runs"]}) != 1:
        raise SystemExit("the runs differ")
    _, one, two, _ = [measured["reports_per_second"] for measured in found["runs"]]
    found["two_workers_to_one"] = round(two / one, 2)
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
