"""Mutation testing: which small faults in the trusted modules do the tests notice?

In: the modules of ``TESTS``, each with the quick tests that guard it. Every mutant is one edit of one module, applied
to a copy of the project in a temporary folder, where tests run until the first failure: the quickest that execute its
line (:mod:`studies.bench.lines`), those of its module, and the others that execute its line. A mutant that is listed in
``docs/mutants.toml`` meets no others. Out: ``docs/mutants-trusted.json`` with the outcome of each module, from which
the page ``docs/mutants.md`` is written, and status 1 unless every mutant that survives is in ``docs/mutants.toml``,
with the reason, and every mutant there survives.

``python -m studies.bench.mutation`` runs the modules that have changed since their outcome was recorded; with names of
modules (``checker.py``) it runs these. A run that is stopped keeps the modules that are done, and with ``--known FILE``
the mutants that were noticed.

One module, because a fault, its place and its test run share the pieces of the source.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import contextlib
import hashlib
import json
import multiprocessing
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor, ThreadPoolExecutor
from importlib.metadata import version
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from studies.bench.lines import VARIABLE, Lines, read, union
from studies.bench.mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "mutants.md"
LISTED = "[mutants.toml](mutants.toml) lists each of these faults, as the old and the new line."
SAMPLE = "## Around the trusted modules: a sample"
"""The heading of the other part of the page, which `studies.bench.surroundings` writes."""
JUSTIFIED = ROOT / "docs" / "mutants.toml"
RECORDS = ROOT / "docs" / "mutants-trusted.json"
COPIED = (
    "proof_r1_formal",
    "tests",
    "grammars",
    "theories",
    "examples",
    "training",
    "pyproject.toml",
    "check_bundle.py",
    "docs/rules.md",
    "studies/bench/lines.py",
)

PROOF_CHECKER = (
    "kernel/test_checker.py",
    "kernel/test_checker_blocks.py",
    "kernel/test_checker_theorems.py",
)
RULE_CHECK = (
    *("rules/test_check.py", "rules/test_check_budget.py", "rules/test_check_premises.py", "rules/test_complete.py"),
    *("rules/test_catalogue.py", "rules/test_theorems.py"),
)
VERIFICATION = ("proof/test_verify.py", "proof/test_verify_answer.py", "proof/test_verify_budget.py")
VERIFIER = (
    "proof/test_case_studies.py",
    "assistants/test_certify.py",
    "proof/test_evidence.py",
    *VERIFICATION,
    "proof/test_sorts.py",
    "proof/test_session.py",
)
TESTS: Mapping[str, tuple[str, ...]] = {
    "proof_r1_formal/kernel/model.py": ("kernel/test_model.py",),
    "proof_r1_formal/engine/truth_table.py": ("engine/test_truth_table.py",),
    "proof_r1_formal/kernel/signed.py": ("kernel/test_term.py", *PROOF_CHECKER),
    "proof_r1_formal/kernel/term.py": ("kernel/test_term.py", *PROOF_CHECKER),
    "proof_r1_formal/kernel/checker.py": (*PROOF_CHECKER, "rules/test_theorems.py"),
    "proof_r1_formal/kernel/answer.py": ("kernel/test_answer.py",),
    "proof_r1_formal/rules/check.py": ("proof/test_case_studies.py", *RULE_CHECK),
    "proof_r1_formal/rules/matching.py": ("rules/test_matching.py", "kernel/test_pattern.py", *RULE_CHECK),
    "proof_r1_formal/rules/forms.py": ("rules/test_forms.py", *RULE_CHECK),
    "proof_r1_formal/proof/answer.py": (
        "proof/test_answer_findings.py",
        "proof/test_answer.py",
        *VERIFICATION,
    ),
    "proof_r1_formal/proof/context.py": (*VERIFIER, "test_python_api.py"),
    "proof_r1_formal/proof/step.py": ("proof/test_progress.py", *VERIFIER),
    "proof_r1_formal/proof/session.py": ("proof/test_session.py", "proof/test_answer.py", *VERIFIER[:-1]),
    "proof_r1_formal/proof/verify.py": (*VERIFIER, "test_python_api.py"),
    "proof_r1_formal/proof/closure.py": ("proof/test_closure.py",),
}
"""Mutated module -> test files under ``tests``, in the order in which they run: those that are quick to fail first."""

WORK = 120
"""The limit of one run of tests, in CPU seconds of a process; a mutant that exceeds it counts as noticed."""
SECONDS, TIMES = 300.0, 20
"""The time limit of a run: these seconds, plus this many times the seconds that its tests take without a mutant."""
WHOLE = 7200.0
"""The time limit of a run of tests without a fault, in seconds."""
PASSED, FAILED = 100, 101
"""The status of a run: 100 and pytest's own; 1, too, may be Python's, of a process that broke before."""


# -- a copy of the project --------------------------------------------------------------------------------------------


class Sandbox:
    """A copy of the project in a folder, whose modules can be replaced and whose tests can be run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._output = folder / "output.txt"
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, folder / name)
        with (folder / "tests" / "conftest.py").open("a", encoding="utf-8") as conftest:
            # a failure is all that is wanted, not the smallest example of it
            conftest.write(
                "\nfrom hypothesis import Phase\n"
                "settings.register_profile('mutants', settings.get_profile('deterministic'),"
                " phases=[Phase.explicit, Phase.generate])\n"
                "settings.load_profile('mutants')\n"
            )
        compileall.compile_dir(folder / "proof_r1_formal", quiet=1)

    def run(
        self,
        module: str,
        text: str,
        tests: Sequence[str],
        *,
        seconds: float = SECONDS,
        work: int | None = None,
        python: Path | None = None,
    ) -> int | None:
        """The status of the tests with the module's text replaced; None if they do not end in that time.

        Args:
            module: its path in the project.
            text: what it holds during the run.
            tests: arguments of pytest: files below ``tests``, also with the name of a test, and options.
            seconds: the time limit.
            work: a limit of CPU seconds for each process, which does not depend on what else the machine does.
            python: the program of another environment; the tests run there.
        """
        path = self._folder / module
        original = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            return self._run(["-x", *tests], seconds, work, python)
        finally:
            path.write_text(original, encoding="utf-8")

    def lines(self, tests: Sequence[str], patterns: Sequence[str], *, python: Path | None = None) -> Lines:
        """Run tests to their end, without a fault, and see which lines they execute.

        Args:
            tests: arguments of pytest, as for :meth:`run`.
            patterns: paths of the modules that are looked at; ``*`` stands for anything.
            python: the program of another environment; the tests run there.

        Raises:
            RuntimeError: the tests did not end; the message is their output.
        """
        out = self._folder / "lines.json"
        variables = {VARIABLE: "\n".join([str(out), *(str(self._folder / pattern) for pattern in patterns)])}
        out.unlink(missing_ok=True)
        self._run(["-p", "studies.bench.lines", *tests], WHOLE, None, python, variables)
        if not out.exists():
            raise RuntimeError(self.output())
        return read(out)

    def _run(
        self,
        tests: Sequence[str],
        seconds: float,
        work: int | None,
        python: Path | None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> int | None:
        self._output.write_text("")
        variables = {**_environment(self._folder), **variables}
        if python is not None:
            return self._run_with(python, tests, seconds, work, variables)
        process = _PROCESSES.Process(target=_run_tests, args=(self._folder, self._output, tests, variables))
        process.start()
        assert process.pid is not None
        _limit(process.pid, work)
        try:
            process.join(seconds)
            return None if process.exitcode == -signal.SIGXCPU else process.exitcode
        finally:
            if process.exitcode is None and process.pid is not None:
                os.killpg(process.pid, signal.SIGKILL)
                process.join()
            process.close()

    def _run_with(
        self, python: Path, tests: Sequence[str], seconds: float, work: int | None, variables: Mapping[str, str]
    ) -> int | None:
        """The status of the tests in another environment, whose libraries may warn."""
        command = [str(python), "-m", "pytest", *_OPTIONS, "-W", "default", *_arguments(tests)]
        environment = {**os.environ, **variables}
        with (
            self._output.open("wb") as file,
            subprocess.Popen(
                command,
                cwd=self._folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            ) as process,
        ):
            _limit(process.pid, work)
            try:
                status = process.wait(seconds)
                return None if status == -signal.SIGXCPU else PASSED + status
            except subprocess.TimeoutExpired:
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):  # what the tests started ends with them
                    os.killpg(process.pid, signal.SIGKILL)

    def output(self) -> str:
        """The output of the last run."""
        return self._output.read_text(encoding="utf-8", errors="replace")


_PROCESSES = multiprocessing.get_context("forkserver")  # what never changes is imported once, and not with each mutant
_PRELOADED = ("pytest", "hypothesis.strategies", "lark", "msgspec", "networkx", "typer", "z3")
_PROCESSES.set_forkserver_preload([*_PRELOADED])


def preload(*modules: str) -> None:
    """Let all runs of tests share the import of further modules, where they are installed; call it before any run."""
    _PROCESSES.set_forkserver_preload([*_PRELOADED, *modules])


_OPTIONS = (
    *("-q", "-m", "not slow", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:doctest"),
    *("-o", "addopts=--import-mode=importlib"),
)


def _limit(process: int, work: int | None) -> None:
    """Let the system end a process, and each that it starts, after so many seconds of its own work."""
    if work is not None:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_CPU, (work, work + 60))


def _arguments(tests: Sequence[str]) -> list[str]:
    return [test if test.startswith("-") or ".py" not in test else f"tests/{test}" for test in tests]


def _environment(folder: Path) -> dict[str, str]:
    """Variables for the processes that tests start: they import the copy, too, and write no bytecode of a mutant."""
    return {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def _run_tests(folder: Path, output: Path, tests: Sequence[str], variables: Mapping[str, str]) -> None:
    """End this process with the status of the tests; what they write goes to a file."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    written = os.open(output, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(written, stream)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True  # else a mutant of the same size and second might be taken for another
    os.environ.update(variables)
    import pytest

    status = pytest.main([*_OPTIONS, *_arguments(tests)])
    sys.stdout.flush()
    os._exit(PASSED + status)  # at once: some thread of a mutant may never end


# -- the campaign -----------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """The outcome of a mutant: ``failed`` (a test failed), ``timeout``, ``broken`` (no test ran) or ``survived``."""

    module: str
    mutant: Mutant
    fate: str


def plant(
    sandbox: Sandbox,
    module: str,
    mutant: Mutant,
    tests: Sequence[str],
    lines: Lines,
    *,
    rounds: int | None = None,
    python: Path | None = None,
) -> Outcome:
    """Run the tests that may notice a mutant, in the order of :meth:`Lines.rounds`, until one does.

    Args:
        sandbox: a copy of the project.
        module: the path of the module in it.
        mutant: the fault.
        tests: arguments of pytest, which run whether they execute the line or not.
        lines: which lines the tests execute without the fault.
        rounds: the most rounds to run.
        python: the program of another environment; the tests run there.
    """
    source = (ROOT / module).read_text(encoding="utf-8")
    status: int | None = PASSED
    for names in islice(lines.rounds(module, source, mutant.line, tests), rounds):
        if status == PASSED and names:
            seconds = SECONDS + TIMES * lines.time(f"tests/{name}" for name in names)
            status = sandbox.run(module, mutant.text, names, seconds=seconds, work=WORK, python=python)
    return Outcome(module, mutant, {None: "timeout", FAILED: "failed", PASSED: "survived"}.get(status, "broken"))


def campaign(modules: Sequence[str], processes: int, known: Path | None) -> Iterator[tuple[str, list[Outcome]]]:
    """The outcomes of every mutant of the modules, module by module; those that no test notices go to standard error.

    Args:
        modules: keys of ``TESTS``.
        processes: how many runs of tests go on at a time.
        known: a file of mutants that were killed, which are not run again; new ones are added.

    Raises:
        SystemExit: the tests do not pass without any mutant.
    """
    killed = {} if known is None or not known.exists() else dict(map(json.loads, known.read_text().splitlines()))
    listed = {fault for group in justified(TESTS) for fault in group.faults()}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(processes) as pool:
        free: SimpleQueue[Sandbox] = SimpleQueue()
        for number in range(processes):
            free.put(Sandbox(Path(folder) / str(number)))
        lines = _lines(modules, free, pool)

        def outcome(module: str, mutant: Mutant) -> Outcome:
            key = _key(module, mutant.text)
            if key in killed:
                return Outcome(module, mutant, killed[key])
            rounds = 2 if (module, mutant.old, mutant.new) in listed else None
            sandbox = free.get()
            found = plant(sandbox, module, mutant, TESTS[module], lines, rounds=rounds)
            free.put(sandbox)
            if found.fate == "survived":
                sys.stderr.write(f"{module}:{mutant.line} {mutant.operator}\n- {mutant.old}\n+ {mutant.new}\n")
            elif known is not None:
                with known.open("a") as file:
                    file.write(f"{json.dumps([key, found.fate])}\n")
            return found

        work = [(module, one) for module in modules for one in mutants((ROOT / module).read_text(encoding="utf-8"))]
        outcomes = pool.map(lambda one: outcome(*one), work)
        for module, of in groupby(outcomes, attrgetter("module")):
            yield module, list(of)


def _lines(modules: Sequence[str], free: SimpleQueue[Sandbox], pool: Executor) -> Lines:
    """What all tests execute of the modules."""
    files = sorted({test for tests in TESTS.values() for test in tests})
    lines = see([files[start :: free.qsize()] for start in range(free.qsize())], modules, free, pool)
    if lines.failed:
        raise SystemExit("these tests do not pass without a mutant:\n" + "\n".join(sorted(lines.failed)))
    return lines


def see(
    parts: Iterable[Sequence[str]],
    patterns: Sequence[str],
    free: SimpleQueue[Sandbox],
    pool: Executor,
    *,
    python: Path | None = None,
) -> Lines:
    """What tests execute, some in each run; the runs share the sandboxes. See :meth:`Sandbox.lines`."""

    def run(part: Sequence[str]) -> Lines:
        sandbox = free.get()
        try:
            return sandbox.lines(part, patterns, python=python)
        finally:
            free.put(sandbox)

    return union(pool.map(run, [part for part in parts if part]))


def _key(module: str, text: str) -> str:
    """A digest of code without docstrings and messages, which decide nothing."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            node.value = ""
    return hashlib.sha256(f"{module}\0{ast.dump(tree)}".encode()).hexdigest()


class Record(NamedTuple):
    """The outcomes of the mutants of a module.

    Attributes:
        code: a digest of its code, without docstrings and messages.
        fates: how many mutants had each fate.
        survivors: the old and the new lines of those that no test noticed.
    """

    code: str
    fates: dict[str, int]
    survivors: list[tuple[str, str]]


def record(module: str, outcomes: Sequence[Outcome]) -> Record:
    """What is kept of a run of a module."""
    left = sorted({(mutant.old, mutant.new) for _, mutant, fate in outcomes if fate == "survived"})
    return Record(digest(module), dict(sorted(Counter(each.fate for each in outcomes).items())), left)


def digest(module: str) -> str:
    """The digest of the code of a module as it is now."""
    return _key(module, (ROOT / module).read_text(encoding="utf-8"))


def read_records(path: Path = RECORDS) -> dict[str, Record]:
    """The records of the modules that still are in ``TESTS``, in its order."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {
        module: Record(found[module]["code"], found[module]["fates"], list(map(tuple, found[module]["survivors"])))
        for module in TESTS
        if module in found
    }


def write_records(records: Mapping[str, Record], path: Path = RECORDS) -> None:
    """Write the records as JSON, in the order of ``TESTS``."""
    kept = {module: records[module]._asdict() for module in TESTS if module in records}
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


class Group(NamedTuple):
    """Mutants of a module that survive for one reason, as their old and new lines."""

    module: str
    why: str
    mutants: frozenset[tuple[str, str]]

    def faults(self) -> set[tuple[str, str, str]]:
        """The mutants with their module."""
        return {(self.module, old, new) for old, new in self.mutants}


def justified(modules: Collection[str]) -> list[Group]:
    """The mutants of the modules that are known to survive, and why that is not a gap."""
    groups = tomllib.loads(JUSTIFIED.read_text(encoding="utf-8"))["group"]
    read = [Group(g["module"], g["why"], frozenset((old, new) for old, new in g["mutants"])) for g in groups]
    return [group for group in read if group.module in modules]


# -- the page ---------------------------------------------------------------------------------------------------------

_HEAD = """# Mutants

`make mutants` (`python -m studies.bench.mutation`) plants one small fault at a time in the modules of the table below,
in a copy of the project, and runs tests until the first failure. The quickest tests that execute its line come first,
then the tests of its module, then the others that execute its line; a fault that is listed below meets no others. It
writes [the outcomes](mutants-trusted.json) and this page, and fails unless every fault is noticed or listed below with
the reason ([mutants.toml](mutants.toml)). `tests/test_mutants.py` plants the worst faults in every run of the tests.

Faults of expressions: a condition is negated, an operator is replaced, an operand or keyword is dropped, or arguments
or sides are swapped. A call becomes its first argument, and a constant changes. Faults of statements: an alternative,
a `case` or a statement is dropped, a loop never runs, or a function returns a constant truth value. Not changed:
messages, annotations, decorators, assertions, the numbers of budgets and limits at the top of a module, and what
constructors are given by keyword.

Python {python}, pytest {pytest}, Hypothesis {hypothesis}. *No end*: the tests exceeded 120
seconds of work, or waited for more than 300 seconds and twenty times their usual time. *No test ran*: the module, or
the tests that use it, could not be imported. Both count as noticed.

| module | faults | noticed by a test | no end | no test ran | not noticed | noticed |
|---|---|---|---|---|---|---|
"""


_STAR = "\\* The module has changed since this run."


def page(records: Mapping[str, Record]) -> str:
    """The page that tells of the records."""
    versions = {name: version(name) for name in ("pytest", "hypothesis")}
    lines = [_HEAD.format(python=platform.python_version(), **versions).rstrip("\n")]
    every = Counter[str]()
    changed = {module for module, one in records.items() if one.code != digest(module)}
    for module, one in records.items():
        star = " \\*" if module in changed else ""
        lines.append(_row(f"`{module.removeprefix('proof_r1_formal/')}`{star}", one.fates))
        every.update(one.fates)
    lines.append(_row("all", every))
    lines += ["", _STAR] if changed else []
    missing = [f"`{module.removeprefix('proof_r1_formal/')}`" for module in TESTS if module not in records]
    lines += ["", f"The campaign has still to run {', '.join(missing)}."] if missing else []
    return "\n".join([*lines, "", "## Not noticed, and why", "", LISTED, "", *reasons(survivors(records), records), ""])


def _row(name: str, fates: Mapping[str, int]) -> str:
    total, left = sum(fates.values()), fates.get("survived", 0)
    row = [total, *[fates.get(fate, 0) for fate in ("failed", "timeout", "broken")], left]
    return f"| {name} | {' | '.join(f'{n:,}' for n in row)} | {(total - left) / total:.1%} |"


Fault: TypeAlias = tuple[str, str, str]
"""A module, and the old and the new lines of a fault of it."""


def survivors(records: Mapping[str, Record]) -> set[Fault]:
    """The faults that no test noticed."""
    return {(module, old, new) for module, one in records.items() for old, new in one.survivors}


def reasons(left: Set[Fault], modules: Collection[str]) -> list[str]:
    """The table of the reasons in ``docs/mutants.toml`` for the faults that are left in these modules."""
    lines = ["| module | faults | why |", "|---|---|---|"]
    for group in justified(modules):
        count = len(group.faults() & left)
        why = group.why.replace("|", "\\|")
        lines.append(f"| `{group.module.removeprefix('proof_r1_formal/')}` | {count} | {why} |")
    return lines


def gaps(left: Set[Fault], modules: Collection[str]) -> list[str]:
    """Faults that are left without a reason, and reasons for faults of these modules that are not left."""
    listed = {fault for group in justified(modules) for fault in group.faults()}
    return [
        *[f"not noticed: {module}\n- {old}\n+ {new}" for module, old, new in sorted(left - listed)],
        *[f"listed, but noticed or gone: {module}\n- {old}\n+ {new}" for module, old, new in sorted(listed - left)],
    ]


def main() -> int:
    """Run the campaign that the command line asks for; 1 if there are gaps."""
    parser = argparse.ArgumentParser(prog="python -m studies.bench.mutation")
    parser.add_argument("modules", nargs="*", help="ends of module paths; those that have changed, if none is given")
    parser.add_argument("--processes", type=int, default=2, help="how many runs of tests go on at a time")
    parser.add_argument("--known", type=Path, help="a file that remembers which mutants were killed")
    asked = parser.parse_args()
    records = read_records()
    changed = [module for module in TESTS if module not in records or records[module].code != digest(module)]
    modules = [module for module in TESTS if module.endswith(tuple(asked.modules))] if asked.modules else changed
    for module, outcomes in campaign(modules, asked.processes, asked.known) if modules else ():
        records[module] = record(module, outcomes)
        write_records(records)
        _, heading, sample = PAGE.read_text(encoding="utf-8").partition(SAMPLE)
        PAGE.write_text("\n".join([page(read_records()), f"{heading}{sample}"]), encoding="utf-8")
    found = gaps(survivors(records), records)
    sys.stderr.write("".join(f"{gap}\n" for gap in found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
