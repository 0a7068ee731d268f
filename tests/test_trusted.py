"""The trusted modules: what the default verdicts rest on is a closed list, down to the last import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "proof_r1_formal"

TRUSTED = {
    "evidence.checker": "accepts the proof behind a yes",
    "evidence.signed": "says what a line of a proof states",
    "evidence.term": "says what a proof is",
    "logic.model": "evaluates the structure behind a no",
    "logic.pattern": "instances of theorems",
    "logic.signature": "symbols have one arity and one kind",
    "logic.symbols": "the symbols of a formula",
    "logic.syntax": "formulas",
    "logic.transform": "substitution and equality up to bound names",
}
"""The modules that decide whether evidence holds, and what each of them is trusted for."""
HARMLESS = {"compiling", "errors", "unicode"}
"""What they may import besides: these make no decision."""
DISPLAY = {"__str__", "__rich__", "_repr_html_"}
"""Methods that show an object to people, and decide nothing; what they import does not count."""
LIBRARIES = {"msgspec"}
"""The libraries that they may import, beside Python's own."""


def imports(source: str, name: str) -> Iterator[str]:
    """Every module that a module imports outside the display of objects; relative imports are resolved."""
    for node in _nodes(ast.parse(source)):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names, level):
                package = name.split(".")[:-level] if level else []
                base = ".".join([*package, *([module] if module else [])])
                within = ROOT.joinpath(*base.split("."))
                yield from (f"{base}.{alias.name}" if within.is_dir() else base for alias in names)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) if name in DISPLAY:
                continue
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                continue
        yield node
        yield from _nodes(node)


def foreign(name: str, source: str) -> set[str]:
    """What a trusted module imports and should not."""
    allowed = {f"{PACKAGE}.{each}" for each in TRUSTED.keys() | HARMLESS}
    found = set()
    for imported in imports(source, f"{PACKAGE}.{name}"):
        top = imported.partition(".")[0]
        if imported not in allowed if top == PACKAGE else not _is_known(top):
            found.add(imported)
    return found


def _is_known(library: str) -> bool:
    return library in sys.stdlib_module_names or library in LIBRARIES


@pytest.mark.parametrize("name", sorted(TRUSTED.keys() | HARMLESS))
def test_trusted_modules_import_trusted_modules_only(name: str) -> None:
    source = ROOT.joinpath(PACKAGE, *name.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    assert foreign(name, source) == set()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from proof_r1_formal.solvers.base import Query", {"proof_r1_formal.solvers.base"}),
        ("from proof_r1_formal.logic import parse", {"proof_r1_formal.logic.parse"}),
        ("from ..solvers import z3", {"proof_r1_formal.solvers.z3"}),
        ("def f():\n    import z3", {"z3"}),
        ("import msgspec, ast\nfrom proof_r1_formal.logic import syntax", set()),
        ("from . import term", set()),
        ("class A:\n    def __str__(self):\n        from proof_r1_formal.logic import show", set()),
        (
            "class A:\n    def __eq__(self, other):\n        from proof_r1_formal.logic import show",
            {"proof_r1_formal.logic.show"},
        ),
    ],
)
def test_the_check_sees_every_import(line: str, found: set[str]) -> None:
    assert foreign("evidence.checker", line) == found


def test_no_trusted_module_is_left_over() -> None:
    reached, todo = set(), ["evidence.checker", "logic.model"]
    while todo:
        name = todo.pop()
        reached.add(name)
        source = ROOT.joinpath(PACKAGE, *name.split(".")).with_suffix(".py").read_text(encoding="utf-8")
        inner = {each.removeprefix(f"{PACKAGE}.") for each in imports(source, f"{PACKAGE}.{name}")}
        todo += [each for each in inner & TRUSTED.keys() if each not in reached]
    assert reached == TRUSTED.keys()


def test_the_documentation_lists_the_trusted_modules() -> None:
    text = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert [name for name in TRUSTED if f"`{name.replace('.', '/')}.py`" not in text] == []
