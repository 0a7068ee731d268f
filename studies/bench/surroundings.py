"""Mutation testing around the trusted modules: a sample of the small faults in credit, evaluation, adapters, readers
and commands.

In: the modules of :mod:`studies.bench.related`, each with its related tests. A hash of the seed and the fault decides
whether a mutant is in the sample, and its place. They are planted one at a time in a copy of the project. Out: a line
for each in ``docs/mutants-sample.jsonl``, and from these lines the second part of ``docs/mutants.md``. Stop it at any
time: repeat the command, and it continues. Because of the order, any number of the first faults is a sample, too.

``python -m studies.bench.surroundings``; ``--again`` runs once more the faults that no test noticed. With names of
modules (``terms.py``) it plants the faults of these only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from studies.bench.lines import Lines
from studies.bench.mutants import Mutant, mutants
from studies.bench.mutation import (
    PAGE,
    ROOT,
    SAMPLE,
    WORK,
    Fault,
    Sandbox,
    gaps,
    justified,
    plant,
    preload,
    reasons,
    see,
)
from studies.bench.related import PROGRAMS, RELATED, Environment

RECORDS = ROOT / "docs" / "mutants-sample.jsonl"
SEED = 1
"""Tests were written for faults of the sample with seed 0 before it was run, so it would give no estimate."""
SHARE = 0.06


# -- the sample -------------------------------------------------------------------------------------------------------


class Planted(NamedTuple):
    """A mutant of a module. ``number`` counts the mutants of the module with the same operator and lines before it."""

    module: str
    mutant: Mutant
    number: int

    def key(self) -> tuple[str, str, str, str, int]:
        """What identifies it, also after edits of other lines."""
        return self.module, self.mutant.operator, self.mutant.old, self.mutant.new, self.number


def sample(modules: Iterable[str], *, share: float, seed: int) -> list[Planted]:
    """The mutants of the modules that are in the sample, in its order.

    A hash of the seed and the fault is a number between 0 and 1. The fault is in the sample if it is less than the
    share, and the smallest number comes first: whether a fault is in it does not depend on other faults or modules.
    """

    def place(planted: Planted) -> float:
        return int.from_bytes(hashlib.sha256(json.dumps([seed, *planted.key()]).encode()).digest()) / 2**256

    places = {planted.key(): (place(planted), planted) for module in modules for planted in planted_in(module)}
    return [planted for where, planted in sorted(places.values(), key=itemgetter(0)) if where < share]


def planted_in(module: str) -> Iterator[Planted]:
    """All mutants of a module."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for mutant in mutants((ROOT / module).read_text(encoding="utf-8")):
        name = mutant.operator, mutant.old, mutant.new
        yield Planted(module, mutant, seen[name])
        seen[name] += 1


# -- its outcomes -----------------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """The outcome of a planted fault, as a line of the file.

    Attributes:
        module, operator, old, new, number: which one it is.
        fate: ``failed`` (a test failed), ``timeout``, ``broken`` (no test ran) or ``survived``, when it ran last.
        first: the same when it ran first.
    """

    module: str
    operator: str
    old: str
    new: str
    number: int
    fate: str
    first: str

    def key(self) -> tuple[str, str, str, str, int]:
        """See :class:`Planted`."""
        return self[:5]


def read_records(path: Path = RECORDS) -> list[Record]:
    """The outcomes of the faults of a file, in the order of the first runs; the last line of a fault counts."""
    if not path.exists():
        return []
    read = [Record(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return list({record.key(): record for record in read}.values())


class Campaign:
    """Plants faults in copies of the project, and adds a line to the file of records after each.

    A fault meets its tests in the order of :meth:`studies.bench.lines.Lines.rounds`.

    Args:
        sandboxes: the copies; as many runs of tests go on at a time.
        environments: the folder that has the other environments.
        path: the file of records.
    """

    def __init__(self, sandboxes: Sequence[Sandbox], environments: Path, path: Path) -> None:
        self._environments, self._path = environments, path
        self._pool = ThreadPoolExecutor(len(sandboxes))
        self._free: SimpleQueue[Sandbox] = SimpleQueue()
        for sandbox in sandboxes:
            self._free.put(sandbox)

    def run(self, planted: Iterable[Planted], *, again: bool = False) -> int:
        """Plant the faults that have no outcome yet; with ``again``, also those that were not noticed.

        Returns:
            how many cannot be planted, as the environment of their tests is absent or has no tests that pass.
        """
        outcomes = {record.key(): record for record in read_records(self._path)}
        wanted = [
            one
            for one in planted
            if (before := outcomes.get(one.key())) is None or (again and before.fate == "survived")
        ]
        modules: dict[Environment, list[str]] = {}
        for module in dict.fromkeys(one.module for one in wanted):
            modules.setdefault(RELATED[module].environment, []).append(module)
        lines = {environment: self._lines(environment, of) for environment, of in modules.items()}

        def fate(one: Planted) -> str | None:
            known = lines[RELATED[one.module].environment]
            return None if known is None else self._fate(one, known)

        impossible = 0
        for one, found in zip(wanted, self._pool.map(fate, wanted), strict=True):
            if found is None:
                impossible += 1
                continue
            before = outcomes.get(one.key())
            record = Record(*one.key(), found, found if before is None else before.first)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record._asdict(), ensure_ascii=False) + "\n")
            if found == "survived":
                sys.stderr.write(f"{one.module}:{one.mutant.line} {record.operator}\n- {record.old}\n+ {record.new}\n")
        return impossible

    def _lines(self, environment: Environment, modules: Sequence[str]) -> Lines | None:
        """What the related tests of the modules execute; None, with a message, where they cannot run."""
        python = self._python(environment)
        if python is not None and not python.exists():
            sys.stderr.write(f"there is no {python}\n")
            return None
        marked = [RELATED[module].tests for module in modules if "-m" in RELATED[module].tests]
        all_tests = {test for module in modules for test in RELATED[module].tests if test.endswith(".py")}
        files = sorted(all_tests.difference(*marked))
        count = self._free.qsize()
        patterns = sorted({f"{module.rpartition('/')[0]}/*" for module in modules})
        parts = [*marked, *(files[start::count] for start in range(count))]
        lines = see(parts, patterns, self._free, self._pool, python=python)
        sys.stderr.write("".join(f"left out, as it does not pass without a fault: {test}\n" for test in lines.failed))
        return lines

    def _fate(self, one: Planted, lines: Lines) -> str:
        related = RELATED[one.module]
        sandbox = self._free.get()
        try:
            python = self._python(related.environment)
            return plant(sandbox, one.module, one.mutant, related.tests, lines, python=python).fate
        finally:
            self._free.put(sandbox)

    def _python(self, environment: Environment) -> Path | None:
        return self._environments / PROGRAMS[environment] if PROGRAMS[environment] else None


# -- the page ---------------------------------------------------------------------------------------------------------

_HEAD = """
The second part of `make mutants` (`python -m studies.bench.surroundings`) plants the same kinds of faults in `credit/`,
`evaluation/`, `integrations/`, `report/bundle.py`, `data/` and `commands/`. A fault meets the quickest tests that
execute its line, then those that are listed for its module, and then the others that execute its line: without the slow
ones, in the environment that has their libraries. It is a sample: a hash of the seed and the fault decides which faults
are in it. [mutants-sample.jsonl](mutants-sample.jsonl) has a line for each that was run. *No end*: the tests exceeded
{work} seconds of work, or waited for more than 300 seconds and twenty times their usual time. *At first*: the share
noticed when the fault ran first, before tests were added for the faults that no test noticed. It is an estimate for all
faults of the room. The share now is not, because the added tests look at faults of this sample.

| room | faults | in the sample | run | noticed by a test | no end | no test ran | not noticed | noticed | at first |
|---|---|---|---|---|---|---|---|---|---|
"""
_LEFT = """
Faults of equal lines count once here: no test notices {left:,} of them. A reason in the table says why {justified:,}
are not gaps. The other {gaps:,} are gaps.
"""


def section(records: Sequence[Record], sizes: Mapping[str, tuple[int, int]]) -> str:
    """The part of the page about the sample.

    Args:
        records: the outcomes.
        sizes: how many faults a module has, and how many are in the sample.
    """
    lines = [SAMPLE, _HEAD.rstrip("\n").format(work=WORK)]
    for room in [*dict.fromkeys(map(_room, sizes)), "all"]:
        of = [size for module, size in sizes.items() if room in (_room(module), "all")]
        whole, planned = sum(size[0] for size in of), sum(size[1] for size in of)
        run = [record for record in records if room in (_room(record.module), "all")]
        counts = Counter(record.fate for record in run)
        left, at_first = counts["survived"], sum(record.first != "survived" for record in run)
        row = [whole, planned, len(run), counts["failed"], counts["timeout"], counts["broken"], left]
        shares = [f"{number / len(run):.1%}" if run else "–" for number in (len(run) - left, at_first)]
        name = room if room == "all" else f"`{room}`"
        lines.append(f"| {name} | {' | '.join(f'{n:,}' for n in row)} | {' | '.join(shares)} |")
    left_over = survivors(records)
    gap = len(left_over - {fault for group in justified(RELATED) for fault in group.faults()})
    lines += ["", _LEFT.format(left=len(left_over), justified=len(left_over) - gap, gaps=gap).strip("\n"), ""]
    return "\n".join([*lines, *reasons(left_over, RELATED), ""])


def _room(module: str) -> str:
    name = module.removeprefix("proof_r1_formal/")
    return name if name.startswith("report/") else name.partition("/")[0] + "/"


def survivors(records: Sequence[Record]) -> set[Fault]:
    """The faults that no test noticed."""
    return {(record.module, record.old, record.new) for record in records if record.fate == "survived"}


def main() -> int:
    """Run the sample that the command line asks for, and write its part of the page; 1 if there are gaps."""
    parser = argparse.ArgumentParser(prog="python -m studies.bench.surroundings")
    parser.add_argument("modules", nargs="*", help="ends of module paths; all modules if none is given")
    parser.add_argument("--share", type=float, default=SHARE, help="the share of the faults that are in the sample")
    parser.add_argument("--first", type=int, default=None, help="plant no more than the first so many")
    parser.add_argument("--seed", type=int, default=SEED, help="the seed of the sample")
    parser.add_argument("--again", action="store_true", help="plant once more what no test noticed")
    parser.add_argument("--records", type=Path, default=RECORDS, help="the file of the outcomes")
    parser.add_argument("--environments", type=Path, default=ROOT, help="the folder that has the other environments")
    parser.add_argument("--processes", type=int, default=2, help="how many runs of tests go on at a time")
    parser.add_argument("--tables", action="store_true", help="run nothing; write the page from the records")
    asked = parser.parse_args()
    impossible = 0
    if not asked.tables:
        modules = [module for module in RELATED if not asked.modules or module.endswith(tuple(asked.modules))]
        drawn = sample(modules, share=asked.share, seed=asked.seed)[: asked.first]
        preload("coverage", "torch", "transformers", "trl", "matplotlib.figure", "mcp", "rich.console")
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            sandboxes = [Sandbox(Path(folder) / str(number)) for number in range(asked.processes)]
            campaign = Campaign(sandboxes, asked.environments, asked.records)
            impossible = campaign.run(drawn, again=asked.again)
    if impossible:
        sys.stderr.write(f"{impossible} faults were not planted\n")
    records = read_records(asked.records)
    if asked.records == RECORDS and not asked.modules:
        text = PAGE.read_text(encoding="utf-8").partition(SAMPLE)[0].rstrip("\n")
        sizes = {
            module: (sum(1 for _ in planted_in(module)), len(sample([module], share=asked.share, seed=asked.seed)))
            for module in RELATED
        }
        PAGE.write_text(f"{text}\n\n{section(records, sizes)}", encoding="utf-8")
    found = gaps(survivors(records), RELATED)
    sys.stderr.write("".join(f"{gap}\n" for gap in found))
    return int(bool(found or impossible))


if __name__ == "__main__":
    sys.exit(main())
