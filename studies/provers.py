"""Pelletier's problems for other provers: ``python -m studies.provers`` writes a table of ``docs/pelletier.md``.

In: the problems of ``pelletier.toml`` as files, TPTP for the embedded engine and E, SMT-LIB for cvc5 and Z3. Out: which
of them each prover proves, and the CPU seconds of its process, one for each problem. The engine's process also checks
its proof, and its seconds include Python's start. What the others say is believed.

``python -m studies.provers FILE`` is that process of the engine.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from proof_r1_formal.data import read_problems
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Entailed, Query, confirm
from proof_r1_formal.kernel.syntax import Not
from proof_r1_formal.render import smtlib, tptp
from studies.pelletier import PAGE, sequents

OTHERS = (
    ("eprover", ("--auto", "--silent"), ".p"),
    ("cvc5", ("--full-saturate-quant",), ".smt2"),  # without it, cvc5 gives up where E-matching finds no instance
    ("z3", (), ".smt2"),
)
"""Program, options and the ending of its files."""
LIMIT = 20
"""CPU seconds of a process."""
PROVED = re.compile(r"^(?:# SZS status (?:Theorem|ContradictoryAxioms)|unsat|proved)$", re.MULTILINE)
HEAD = "| prover | proved | median CPU | slowest proved | not proved |\n|:--|--:|--:|--:|:--|\n"


class Contestant(NamedTuple):
    """A prover: its name, its command, and the ending of the files that it reads."""

    name: str
    command: tuple[str, ...]
    suffix: str


class Attempt(NamedTuple):
    """Whether a prover proves a problem, and its CPU seconds."""

    proved: bool
    seconds: float


def contestants() -> list[Contestant]:
    """The provers that are installed; the engine is always one."""
    found = [Contestant("the engine", (sys.executable, "-m", "studies.provers"), ".p")]
    for name, options, suffix in OTHERS:
        program = shutil.which(name)
        if program is None:
            sys.stderr.write(f"{name} is not installed, so the table has no row for it\n")
        else:
            said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
            version = re.search(r"\d+(?:\.\d+)+", said)
            shown = "E" if name == "eprover" else name.replace("z3", "Z3")
            found.append(Contestant(f"{shown} {version[0] if version else ''}", (program, *options), suffix))
    return found


def write_files(folder: Path) -> list[int]:
    """Write each problem in both formats, named by its number. Returns the numbers."""
    numbers = []
    for sequent in sequents():
        query = sequent.query
        (folder / f"{sequent.number}.p").write_text(tptp.problem(query), encoding="utf-8")
        script = smtlib.script((*query.dependencies, Not(query.conclusion)))
        (folder / f"{sequent.number}.smt2").write_text(script, encoding="utf-8")
        numbers.append(sequent.number)
    return numbers


def attempt(contestant: Contestant, stem: Path) -> Attempt:
    """Let a prover try a problem in a process of its own."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [*contestant.command, str(stem.with_suffix(contestant.suffix))]
    said = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Attempt(PROVED.search(said) is not None, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def rows(found: dict[str, dict[int, Attempt]]) -> Iterator[str]:
    """The table's rows: prover -> number of a problem -> attempt."""
    for name, attempts in found.items():
        seconds = [one.seconds for one in attempts.values() if one.proved]
        left = ", ".join([str(number) for number, one in attempts.items() if not one.proved])
        yield f"| {name} | {len(seconds)} | {median(seconds):.2f} s | {max(seconds):.1f} s | {left} |"


def write(lines: Sequence[str]) -> None:
    """Put the table into the page in place of the one that is there."""
    before, head, rest = PAGE.read_text(encoding="utf-8").partition(HEAD)
    _, end, after = rest.partition("\n\n")
    PAGE.write_text("".join([before, head, "\n".join(lines), end, after]), encoding="utf-8")


def decide(path: Path) -> None:
    """Print whether the engine proves the claim of a file, by a proof that the proof checker accepts."""
    (problem,) = read_problems(path).values()
    query = Query(tuple([premise.formula for premise in problem.premises]), problem.options[0].formula)
    found = confirm(query, EmbeddedSolver().decide(query))
    sys.stdout.write("proved\n" if isinstance(found.answer, Entailed) and found.checked else "not proved\n")


def main() -> None:
    """Decide the file that is given; without one, let all provers try all problems."""
    parser = argparse.ArgumentParser(prog="python -m studies.provers")
    parser.add_argument("file", type=Path, nargs="?")
    if (path := parser.parse_args().file) is not None:
        decide(path)
        return
    provers = contestants()
    found: dict[str, dict[int, Attempt]] = {each.name: {} for each in provers}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in write_files(folder):
            for each in provers:
                found[each.name][number] = attempt(each, folder / str(number))
                sys.stderr.write(f"{number} {each.name}: {found[each.name][number]}\n")
    write(list(rows(found)))


if __name__ == "__main__":
    main()
