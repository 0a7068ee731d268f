"""Which tests execute which lines: what mutation testing asks before it runs the tests of a fault.

In: a run of tests with this module as a plugin of pytest (``-p``), and the variable ``VARIABLE``, which names the
modules that are looked at and the file to write. Out: that file, which :func:`read` reads. The lines come from
`coverage <https://coverage.readthedocs.io>`_, whose contexts are the tests. What a test starts in another process is
not seen.

The plugin imports nothing of this project: pytest loads it in a copy, in whichever environment the tests run.
"""

from __future__ import annotations

import ast
import json
import os
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest

VARIABLE = "LINES_OF_TESTS"
"""Its value has the file to write in its first line, and then patterns of paths of modules, one a line."""
NEAREST = 40
"""The number of tests that a fault meets first: the quickest of those that execute its line."""


def pytest_configure(config: pytest.Config) -> None:
    """Watch the tests of a process that has the variable."""
    if VARIABLE in os.environ:
        out, *patterns = os.environ[VARIABLE].splitlines()
        config.pluginmanager.register(_Watch(config.rootpath, Path(out), patterns))


class _Watch:
    def __init__(self, folder: Path, out: Path, patterns: list[str]) -> None:
        self._folder, self._out = folder, out
        self._coverage = coverage.Coverage(data_file=None, include=patterns, config_file=False)
        self._coverage.start()
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._coverage.switch_context(item.nodeid)
        start = time.perf_counter()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = round(time.perf_counter() - start, 4)
            self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        with warnings.catch_warnings(action="ignore"):  # these tests may execute no line of the modules
            data = self._coverage.get_data()
        lines = {
            str(Path(file).relative_to(self._folder)): {
                line: sorted(filter(None, tests)) for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        found = {"seconds": self._seconds, "failed": sorted(self._failed), "lines": lines}
        self._out.write_text(json.dumps(found), encoding="utf-8")


class Lines(NamedTuple):
    """What tests execute.

    Attributes:
        seconds: test -> how long it took, with the fixtures that it was the first to need.
        failed: the tests that did not pass.
        tests: module, as a path below the folder -> line -> the tests that execute it.
    """

    seconds: Mapping[str, float]
    failed: frozenset[str]
    tests: Mapping[str, Mapping[int, frozenset[str]]]

    def of(self, module: str, source: str, line: int) -> list[str]:
        """The tests that execute a line of a module, the quickest first; those that failed are not among them.

        A line that is part of a longer statement has no tests of its own, and a statement outside a function is
        executed by the first import only. So where no test executes the line, it is those of its function.

        Args:
            module: its path below the folder.
            source: its text.
            line: counted from 1.
        """
        of = self.tests.get(module, {})
        found = of.get(line) or frozenset().union(*(of.get(number, ()) for number in _body(source, line)))
        return sorted(found - self.failed, key=lambda test: (self.seconds[test], test))

    def rounds(self, module: str, source: str, line: int, tests: Sequence[str]) -> Iterator[Sequence[str]]:
        """The arguments of pytest with which a fault of a line is to be run, one list after the other.

        Args:
            module: its path below the folder.
            source: its text.
            line: counted from 1.
            tests: arguments that run between the nearest tests and the others, whether they execute the line or not.
        """
        executing = [test.removeprefix("tests/") for test in self.of(module, source, line)]
        yield executing[:NEAREST]
        yield [*(f"--deselect={test}" for test in self.failed), *tests]
        yield executing[NEAREST:]

    def time(self, names: Iterable[str]) -> float:
        """How many seconds tests took that are named one by one or by their files; other names count nothing."""
        known = set(names)
        return sum([time for test, time in self.seconds.items() if test in known or test.partition("::")[0] in known])


def _body(source: str, line: int) -> range:
    """The lines of the innermost function around a line, without its head; none outside functions."""
    functions = [
        range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return min(functions, key=len, default=range(0))


def read(path: Path) -> Lines:
    """What a run wrote."""
    found = json.loads(path.read_text(encoding="utf-8"))
    tests = {
        module: {int(line): frozenset(names) for line, names in lines.items()}
        for module, lines in found["lines"].items()
    }
    return Lines(found["seconds"], frozenset(found["failed"]), tests)


def union(parts: Iterable[Lines]) -> Lines:
    """What several runs of different tests saw."""
    seconds: dict[str, float] = {}
    tests: dict[str, dict[int, frozenset[str]]] = {}
    failed: frozenset[str] = frozenset()
    for part in parts:
        seconds |= part.seconds
        failed |= part.failed
        for module, lines in part.tests.items():
            of = tests.setdefault(module, {})
            for line, names in lines.items():
                of[line] = of.get(line, frozenset()) | names
    return Lines(seconds, failed, tests)
