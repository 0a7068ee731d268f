"""Mutation testing: which small faults in the trusted modules do the tests notice?

In: the modules of ``TESTS``, each with the quick tests that guard it. Every mutant is one edit of one module, applied
to a copy of the project in a temporary folder, where those tests run until the first failure. Out: the page
``docs/mutants.md``, and status 1 unless every mutant that survives is in ``docs/mutants.toml``, with the reason, and
every mutant there survives.

``python -m bench.mutation`` writes the page; with names of modules (``checker.py``), it prints their survivors only.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import hashlib
import json
import multiprocessing
import os
import platform
import shutil
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "mutants.md"
LISTED = "[mutants.toml](mutants.toml) lists each of these faults, as the old and the new line."
JUSTIFIED = ROOT / "docs" / "mutants.toml"
COPIED = ("proof_r1_formal", "tests", "grammars", "theories", "examples", "pyproject.toml", "check_bundle.py")

VERIFIER = (
    "proof/test_case_studies.py",
    "proof/test_certify.py",
    "proof/test_evidence.py",
    "proof/test_verify.py",
    "proof/test_sorts.py",
    "proof/test_session.py",
)
TESTS: Mapping[str, tuple[str, ...]] = {
    "proof_r1_formal/logic/model.py": ("logic/test_model.py",),
    "proof_r1_formal/evidence/term.py": ("evidence/test_term.py", "evidence/test_checker.py"),
    "proof_r1_formal/evidence/checker.py": ("evidence/test_checker.py", "rules/test_theorems.py"),
    "proof_r1_formal/rules/check.py": ("proof/test_case_studies.py", "rules/test_check.py"),
    "proof_r1_formal/rules/spine.py": ("rules/test_check.py",),
    "proof_r1_formal/rules/forms.py": ("rules/test_forms.py", "rules/test_check.py"),
    "proof_r1_formal/proof/answer.py": (
        "proof/test_answer_findings.py",
        "proof/test_answer.py",
        "proof/test_verify.py",
    ),
    "proof_r1_formal/proof/judge.py": VERIFIER,
    "proof_r1_formal/proof/context.py": VERIFIER,
    "proof_r1_formal/proof/step.py": VERIFIER,
    "proof_r1_formal/proof/session.py": ("proof/test_session.py", "proof/test_answer.py", *VERIFIER[:-1]),
    "proof_r1_formal/proof/closure.py": ("proof/test_closure.py",),
}
"""Mutated module -> test files under ``tests``, in the order in which they run: those that are quick to fail first."""

SECONDS = 120.0
"""The time limit of one run of tests; a mutant that exceeds it is killed (as far as we know, it does not end)."""
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

    def run(self, module: str, text: str, tests: Sequence[str], *, seconds: float = SECONDS) -> int | None:
        """The status of the tests with the module's text replaced; None if they do not end in that time."""
        path = self._folder / module
        original = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        self._output.write_text("")
        process = _PROCESSES.Process(target=_run_tests, args=(self._folder, self._output, tests))
        process.start()
        try:
            process.join(seconds)
            return process.exitcode
        finally:
            if process.exitcode is None and process.pid is not None:
                os.killpg(process.pid, signal.SIGKILL)
                process.join()
            process.close()
            path.write_text(original, encoding="utf-8")

    def output(self) -> str:
        """What the last run wrote."""
        return self._output.read_text(encoding="utf-8", errors="replace")


_PROCESSES = multiprocessing.get_context("forkserver")  # what never changes is imported once, and not with each mutant
_PROCESSES.set_forkserver_preload(["pytest", "hypothesis.strategies", "lark", "msgspec", "networkx", "typer", "z3"])


def _run_tests(folder: Path, output: Path, tests: Sequence[str]) -> None:
    """End this process with the status of the tests; what they write goes to a file."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    written = os.open(output, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(written, stream)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True  # else a mutant of the same size and second might be taken for another
    import pytest

    options = [
        "-x",
        "-q",
        "-m",
        "not slow",
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:doctest",
        "-p",
        "no:logging",
    ]
    status = pytest.main([*options, "-o", "addopts=--import-mode=importlib", *[f"tests/{t}" for t in tests]])
    sys.stdout.flush()
    os._exit(PASSED + status)  # at once: some thread of a mutant may never end


# -- mutants ----------------------------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """An edit of a module.

    Attributes:
        operator: what kind of fault it plants.
        line: where, counted from 1.
        old, new: the lines that it changes, with the white space squeezed.
        text: the whole module after it.
    """

    operator: str
    line: int
    old: str
    new: str
    text: str


_OPPOSITES: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_NEIGHBOURS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OPERATORS: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES = {"all": "any", "any": "all", "min": "max", "max": "min"}
_SIDES = {"left": "right", "right": "left"}
_NOT_UNWRAPPED = {"len", "isinstance", "all", "any", "range", "enumerate", "zip", "str", "map", "iter", "next", "max"}
_NOT_UNWRAPPED |= {"min", "permutations", "tuple", "dict", "list", "set", "frozenset", "super", "type", "id"}


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module's text, without repeats, in the order of the text."""
    seen = {ast.dump(ast.parse(source))}
    found = sorted(_Edits(source).all(), key=lambda edit: (edit.start, edit.end, edit.operator, edit.new))
    lines = source.splitlines()
    for operator, start, end, new in found:
        text = source[:start] + new + source[end:]
        tree = ast.dump(ast.parse(text))
        if tree in seen:
            continue
        seen.add(tree)
        first, last = source.count("\n", 0, start), source.count("\n", 0, end)
        before, after = lines[first : last + 1], text.splitlines()[first : first + new.count("\n") + 1]
        yield Mutant(operator, first + 1, _squeezed("\n".join(before)), _squeezed("\n".join(after)), text)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


class _Edit(NamedTuple):
    operator: str
    start: int
    end: int
    new: str


class _Edits(ast.NodeVisitor):
    """Collects edits; nothing in messages, annotations, decorators, assertions or limits at the top of the module."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._edits: list[_Edit] = []
        self._function: ast.FunctionDef | None = None
        offset = 0
        self._starts: list[int] = []
        for line in source.splitlines(keepends=True):
            self._starts.append(offset)
            offset += len(line)
        self._starts.append(offset)
        self._lines = source.splitlines(keepends=True)

    def all(self) -> list[_Edit]:
        self.visit(ast.parse(self._source))
        return self._edits

    def _offset(self, line: int, column: int) -> int:
        """The position in the text of a place that ``ast`` counts in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _replace(self, operator: str, node: ast.expr | ast.stmt | ast.pattern, new: str) -> None:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self._offset(node.lineno, node.col_offset)
        self._edits.append(_Edit(operator, start, self._offset(node.end_lineno, node.end_col_offset), new))

    def _expression(self, operator: str, node: ast.expr, new: ast.expr) -> None:
        text = ast.unparse(new)
        plain = isinstance(new, ast.Call | ast.Name | ast.Attribute | ast.Constant | ast.Tuple)
        self._replace(operator, node, text if plain else f"({text})")

    # -- statements ---------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outside, self._function = self._function, node
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self._function = outside

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and not (isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if self._function is None and isinstance(node.value, ast.Constant | ast.BinOp):
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, float):
                self.visit(node.value)
            return
        started = self._function is not None and self._function.name == "__init__"
        if not started and not isinstance(node.targets[0], ast.Name | ast.Tuple):
            self._replace("drop statement", node, "pass")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("drop statement", node, "pass")
        other = _OPERATORS[type(node.op)]()
        self._replace("swap operator", node, ast.unparse(ast.AugAssign(node.target, other, node.value)))
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return
        if not (isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "assert_never"):
            self._replace("drop statement", node, "pass")
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace("drop statement", node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace("drop statement", node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._replace("drop statement", node, "pass")

    def visit_Delete(self, node: ast.Delete) -> None:
        self._replace("drop statement", node, "pass")

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_Return(self, node: ast.Return) -> None:
        function = self._function
        assert function is not None
        if node is not function.body[-1]:
            self._replace("drop statement", node, "pass")
        if node.value is None:
            return
        if isinstance(function.returns, ast.Name) and function.returns.id == "bool":
            self._replace("return a constant", node, "return True")
            self._replace("return a constant", node, "return False")
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self._replace("change constant", node, f"return {node.value.value + '?'!r}")
        self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._condition(node.test)
            self.visit(node.test)
        for statement in node.body:
            self.visit(statement)

    def visit_For(self, node: ast.For) -> None:
        self._replace("never loop", node.iter, "()")
        self.visit(node.iter)
        for statement in node.body:
            self.visit(statement)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        for case in node.cases:
            last = case.body[-1].end_lineno
            assert last is not None
            if len(node.cases) > 1:
                start = self._starts[case.pattern.lineno - 1]
                self._edits.append(_Edit("drop case", start, self._starts[last] - 1, ""))
            if isinstance(case.pattern, ast.MatchOr) and len(case.pattern.patterns) > 1:
                for dropped in case.pattern.patterns:
                    kept = [pattern for pattern in case.pattern.patterns if pattern is not dropped]
                    self._replace("drop alternative", case.pattern, ast.unparse(ast.MatchOr(kept)))
            if case.guard is not None:
                self._replace("change condition", case.guard, "True")
                self._condition(case.guard)
                self.visit(case.guard)
            for statement in case.body:
                self.visit(statement)

    # -- expressions --------------------------------------------------------------------------------------------------

    def _condition(self, node: ast.expr) -> None:
        """Negate it, unless that is what another operator does."""
        single = isinstance(node, ast.Compare) and type(node.ops[0]) in _OPPOSITES
        if not single and not (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            self._expression("change condition", node, ast.UnaryOp(ast.Not(), node))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._replace("change condition", condition, "True")
            self._condition(condition)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for index, operator in enumerate(node.ops):
            other = {**_OPPOSITES, **_NEIGHBOURS}[type(operator)]()
            operators = [*node.ops[:index], other, *node.ops[index + 1 :]]
            self._expression("swap comparison", node, ast.Compare(node.left, operators, node.comparators))
        choices = node.comparators[-1]
        if isinstance(choices, ast.Tuple):
            self._without_each(choices)
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Constant) and isinstance(side.value, str):
                self._replace("change constant", side, repr(side.value + "?"))
        self.generic_visit(node)

    def _without_each(self, node: ast.Tuple) -> None:
        for dropped in node.elts:
            kept = [element for element in node.elts if element is not dropped]
            self._expression("drop operand", node, ast.Tuple(kept, ast.Load()))

    def visit_Tuple(self, node: ast.Tuple) -> None:
        if len(node.elts) > 1 and any(isinstance(element, ast.Starred) for element in node.elts):
            self._without_each(node)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._expression("swap operator", node, ast.BoolOp(other, node.values))
        for dropped in node.values:
            kept = [value for value in node.values if value is not dropped]
            self._expression("drop operand", node, kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._expression("change condition", node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        types = isinstance(node.op, ast.BitOr) and ast.unparse(node.left)[0].isupper()
        if type(node.op) in _OPERATORS and not types:
            self._expression("swap operator", node, ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right))
        if isinstance(node.op, ast.BitOr):
            self._expression("drop operand", node, node.left)
            self._expression("drop operand", node, node.right)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        arguments = node.args
        plain = not any(isinstance(argument, ast.Starred) for argument in arguments[:2])
        if len(arguments) > 1 and plain and called != "isinstance":
            swapped = [arguments[1], arguments[0], *arguments[2:]]
            self._expression("swap arguments", node, ast.Call(node.func, swapped, node.keywords))
        if len(arguments) > 2:
            self._expression("drop operand", node, ast.Call(node.func, arguments[:-1], node.keywords))
        name = called.rpartition(".")[2].lstrip("_")
        function = name[:1].islower()  # what a constructor must have, it asks for
        for dropped in node.keywords if function else ():
            kept = [keyword for keyword in node.keywords if keyword is not dropped]
            self._expression("drop operand", node, ast.Call(node.func, arguments, kept))
        ours = "." not in called or called.startswith("self.")
        if arguments and plain and function and ours and called not in _NOT_UNWRAPPED:
            self._expression("skip call", node, arguments[0])
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _NAMES:
            self._replace("swap function", node, _NAMES[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _SIDES and isinstance(node.ctx, ast.Load):
            self._expression("swap sides", node, ast.Attribute(node.value, _SIDES[node.attr], ast.Load()))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("change constant", node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._replace("change constant", node, repr(node.value + 1))


# -- the campaign -----------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What became of a mutant: ``failed`` (a test failed), ``timeout``, ``broken`` (no test ran) or ``survived``."""

    module: str
    mutant: Mutant
    fate: str


def campaign(modules: Sequence[str], processes: int, known: Path | None) -> list[Outcome]:
    """Run every mutant of the modules, and write those that no test notices to the standard error.

    Args:
        modules: keys of ``TESTS``.
        processes: how many runs of tests go on at a time.
        known: a file of mutants that were killed, which are not run again; new ones are added.

    Raises:
        SystemExit: the tests do not pass without any mutant.
    """
    killed = {} if known is None or not known.exists() else dict(map(json.loads, known.read_text().splitlines()))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        free: SimpleQueue[Sandbox] = SimpleQueue()
        for number in range(processes):
            free.put(Sandbox(Path(folder) / str(number)))

        def outcome(module: str, mutant: Mutant) -> Outcome:
            key = _key(module, mutant.text)
            if key in killed:
                return Outcome(module, mutant, killed[key])
            sandbox = free.get()
            status = sandbox.run(module, mutant.text, TESTS[module])
            free.put(sandbox)
            fate = {None: "timeout", FAILED: "failed", PASSED: "survived"}.get(status, "broken")
            if fate == "survived":
                sys.stderr.write(f"{module}:{mutant.line} {mutant.operator}\n- {mutant.old}\n+ {mutant.new}\n")
            elif known is not None:
                with known.open("a") as file:
                    file.write(f"{json.dumps([key, fate])}\n")
            return Outcome(module, mutant, fate)

        sources = {module: (ROOT / module).read_text(encoding="utf-8") for module in modules}
        for module, source in sources.items():
            sandbox = free.get()
            if sandbox.run(module, source, TESTS[module]) != PASSED:
                raise SystemExit(f"the tests of {module} do not pass as it is:\n{sandbox.output()}")
            free.put(sandbox)
        with ThreadPoolExecutor(processes) as pool:
            work = [(module, mutant) for module, source in sources.items() for mutant in mutants(source)]
            return list(pool.map(lambda one: outcome(*one), work))


def _key(module: str, text: str) -> str:
    """What a killed mutant is remembered by: its code without docstrings and messages, which decide nothing."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            node.value = ""
    return hashlib.sha256(f"{module}\0{ast.dump(tree)}".encode()).hexdigest()


class Group(NamedTuple):
    """Mutants of a module that survive for one reason, as their old and new lines."""

    module: str
    why: str
    mutants: frozenset[tuple[str, str]]


def justified() -> list[Group]:
    """The mutants that are known to survive, and why that is not a gap."""
    groups = tomllib.loads(JUSTIFIED.read_text(encoding="utf-8"))["group"]
    return [Group(g["module"], g["why"], frozenset((old, new) for old, new in g["mutants"])) for g in groups]


# -- the page ---------------------------------------------------------------------------------------------------------

_HEAD = """# Mutants

`make mutants` (here: `python -m bench.mutation --processes {processes}`) plants one small fault at a time in the
modules that are trusted, in a copy of the project, and runs the quick tests of that module until the first failure. It
writes this page, and fails unless every fault is noticed or listed below with the reason
([mutants.toml](mutants.toml)). `tests/test_mutants.py` plants the worst faults in every run of the tests.

Faults of expressions: a condition is negated, an operator is replaced, an operand or keyword is dropped, or arguments
or sides are swapped. A call becomes its first argument, and a constant changes. Faults of statements: an alternative,
a `case` or a statement is dropped, a loop never runs, or a function returns a constant truth value. Not changed:
messages, annotations, decorators, assertions, the numbers of budgets and limits at the top of a module, and what
constructors are given by keyword.

Python {python}, pytest {pytest}, Hypothesis {hypothesis}. *No test ran*: the module, or the tests that use it, could
not be imported.

| module | faults | noticed by a test | no end | no test ran | not noticed | noticed |
|---|---|---|---|---|---|---|
"""


def page(outcomes: Sequence[Outcome], processes: int) -> str:
    """The page that tells of a campaign."""
    versions = {name: version(name) for name in ("pytest", "hypothesis")}
    lines = [_HEAD.format(processes=processes, python=platform.python_version(), **versions).rstrip("\n")]
    for module in [*TESTS, "all"]:
        counts = Counter(outcome.fate for outcome in outcomes if module in (outcome.module, "all"))
        total, left = counts.total(), counts["survived"]
        row = [total, counts["failed"], counts["timeout"], counts["broken"], left]
        name = f"`{module.removeprefix('proof_r1_formal/')}`" if module != "all" else "all"
        lines.append(f"| {name} | {' | '.join(f'{n:,}' for n in row)} | {(total - left) / total:.1%} |")
    lines += ["", "## Not noticed, and why", "", LISTED, "", "| module | faults | why |", "|---|---|---|"]
    survivors = {
        (outcome.module, outcome.mutant.old, outcome.mutant.new) for outcome in outcomes if outcome.fate == "survived"
    }
    for group in justified():
        count = sum((group.module, *mutant) in survivors for mutant in group.mutants)
        lines.append(
            f"| `{group.module.removeprefix('proof_r1_formal/')}` | {count} | {group.why.replace('|', chr(92) + '|')} |"
        )
    lines.append("")
    return "\n".join(lines)


def gaps(outcomes: Sequence[Outcome]) -> list[str]:
    """Survivors that are not justified, and justified mutants that do not survive."""
    survivors = {(module, mutant.old, mutant.new) for module, mutant, fate in outcomes if fate == "survived"}
    listed = {(group.module, old, new) for group in justified() for old, new in group.mutants}
    return [
        *[f"not noticed: {module}\n- {old}\n+ {new}" for module, old, new in sorted(survivors - listed)],
        *[
            f"listed, but noticed or gone: {module}\n- {old}\n+ {new}"
            for module, old, new in sorted(listed - survivors)
        ],
    ]


def main() -> int:
    """Run the campaign that the command line asks for; 1 if there are gaps."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutation")
    parser.add_argument("modules", nargs="*", help="ends of module paths; all modules, and the page, if none is given")
    parser.add_argument("--processes", type=int, default=2, help="how many runs of tests go on at a time")
    parser.add_argument("--known", type=Path, help="a file that remembers which mutants were killed")
    asked = parser.parse_args()
    modules = [module for module in TESTS if not asked.modules or module.endswith(tuple(asked.modules))]
    outcomes = campaign(modules, asked.processes, asked.known)
    if asked.modules:
        return 0
    PAGE.write_text(page(outcomes, asked.processes), encoding="utf-8")
    found = gaps(outcomes)
    sys.stderr.write("".join(f"{gap}\n" for gap in found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
