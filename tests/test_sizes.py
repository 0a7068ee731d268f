"""No module or function is long without a reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.build import ROOT

SOURCES = [
    path for folder in ("proof_r1_formal", "training", "studies") for path in sorted((ROOT / folder).rglob("*.py"))
]
SOURCES.append(ROOT / "check_bundle.py")

MODULE = 400
"""The most lines of a module whose docstring gives no reason for more."""
FUNCTION = 60
"""The most lines of the body of a function; its signature and its docstring do not count."""
REASONS = ("\nOne module, ", "\nOne file, ")


def long_functions(source: str) -> dict[str, int]:
    """The functions whose bodies are too long, with their numbers of lines."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = 1 + (body[-1].end_lineno or 0) - body[0].lineno if body else 0
            if lines > FUNCTION:
                found[node.name] = lines
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_long_module_says_why_and_no_function_is_long(path: Path) -> None:
    source = path.read_text()
    docstring = ast.get_docstring(ast.parse(source)) or ""
    assert source.count("\n") <= MODULE or any(reason in docstring for reason in REASONS)
    assert long_functions(source) == {}


def test_a_long_function_is_found() -> None:
    body = "    x = 1\n"
    assert long_functions(f'def f():\n    """Doc."""\n{body * FUNCTION}') == {}
    assert long_functions(f"def f():\n{body * (FUNCTION + 1)}") == {"f": FUNCTION + 1}
