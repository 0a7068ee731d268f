"""The trusted modules: what the default verdicts rest on is a closed list, down to the last import."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from proof_r1_formal.assistants.lean import AXIOMS, LeanKernel
from proof_r1_formal.assistants.theories import check_schemata
from proof_r1_formal.rules.catalogue import COMPLETE
from tests.build import ROOT

PACKAGE = "proof_r1_formal"

TRUSTED = {f"kernel.{path.stem}" for path in (ROOT / PACKAGE / "kernel").glob("*.py") if path.stem != "__init__"}
"""The modules that decide whether evidence holds."""
MOST_LINES = 2_700
"""A kernel that can be read in one sitting."""
LIBRARIES = {"msgspec", "mypy_extensions"}
"""The libraries that they may import, beside Python's own; the second for the type checker only."""


def imports(source: str, name: str) -> Iterator[str]:
    """Every module that a module imports anywhere; relative imports are resolved."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names, level):
                package = name.split(".")[:-level] if level else []
                base = ".".join([*package, *([module] if module else [])])
                within = ROOT.joinpath(*base.split("."))
                yield from (f"{base}.{alias.name}" if within.is_dir() else base for alias in names)


def foreign(name: str, source: str) -> set[str]:
    """What a trusted module imports and should not."""
    allowed = {f"{PACKAGE}.{each}" for each in TRUSTED}
    found = set()
    for imported in imports(source, f"{PACKAGE}.{name}"):
        top = imported.partition(".")[0]
        if imported not in allowed if top == PACKAGE else not _is_known(top):
            found.add(imported)
    return found


def _is_known(library: str) -> bool:
    return library in sys.stdlib_module_names or library in LIBRARIES


@pytest.mark.parametrize("name", sorted(TRUSTED))
def test_trusted_modules_import_trusted_modules_only(name: str) -> None:
    source = ROOT.joinpath(PACKAGE, *name.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    assert foreign(name, source) == set()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from proof_r1_formal.engine.oracle import Oracle", {"proof_r1_formal.engine.oracle"}),
        ("from proof_r1_formal.text import parse", {"proof_r1_formal.text.parse"}),
        ("from ..engine import z3", {"proof_r1_formal.engine.z3"}),
        ("def f():\n    import z3", {"z3"}),
        ("import msgspec, ast\nfrom proof_r1_formal.kernel import syntax", set()),
        ("from . import term", set()),
        ("from proof_r1_formal.errors import ProofError", {"proof_r1_formal.errors"}),
        ("if TYPE_CHECKING:\n    from rich.text import Text", {"rich.text"}),
        (
            "class A:\n    def __str__(self):\n        from proof_r1_formal.text import show",
            {"proof_r1_formal.text.show"},
        ),
    ],
)
def test_the_check_sees_every_import(line: str, found: set[str]) -> None:
    assert foreign("kernel.checker", line) == found


def test_the_kernel_works_alone() -> None:
    names = ", ".join(f"{PACKAGE}.{name}" for name in sorted(TRUSTED))
    program = f"""
import sys, {names}
from proof_r1_formal.kernel.syntax import And, atom, const
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.term import Eliminate
formula = And(atom("cat", const("tom")), atom("pet", const("tom")))
check((Eliminate(0, "left"),), (formula,), formula.left)
assert str(formula) == formula._repr_html_() == repr(formula)
print(*[name for name in sys.modules if name.startswith("{PACKAGE}.")])
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.removeprefix(f"{PACKAGE}.") for name in ran.stdout.split()}
    assert loaded - TRUSTED == {"kernel", "version"}


def test_the_kernel_has_no_circles_and_few_lines() -> None:
    known = {}
    for name in TRUSTED:
        source = ROOT.joinpath(PACKAGE, *name.split(".")).with_suffix(".py").read_text(encoding="utf-8")
        known[name] = {each.removeprefix(f"{PACKAGE}.") for each in imports(source, f"{PACKAGE}.{name}")} & TRUSTED
    while known:
        leaves = {name for name, below in known.items() if not below & known.keys()}
        assert leaves, f"these import each other: {sorted(known)}"
        known = {name: below for name, below in known.items() if name not in leaves}
    lines = [path.read_text("utf-8").count("\n") for path in (ROOT / PACKAGE / "kernel").glob("*.py")]
    assert sum(lines) <= MOST_LINES


def test_the_documentation_lists_the_kernel() -> None:
    text = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert [name for name in TRUSTED if f"`{name.replace('.', '/')}.py`" not in text] == []
    lines = sum(path.read_text("utf-8").count("\n") for path in (ROOT / PACKAGE / "kernel").glob("*.py"))
    assert f"about {round(lines, -2):,} lines" in text


def test_the_lines_to_read_for_a_verdict_are_counted() -> None:
    text = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]*\| ((?:`[\w/.]+`(?:, )?)+) \| ([\d,]+) \|$", text, re.MULTILINE)
    assert len(rows) == 7
    for files, said in rows:
        paths = [
            ROOT / file if (ROOT / file).exists() else ROOT / PACKAGE / file for file in re.findall(r"`(.*?)`", files)
        ]
        lines = sum(path.read_text("utf-8").count("\n") for path in paths)
        assert abs(lines - int(said.replace(",", ""))) <= 0.07 * lines, f"{files}: {lines}"


def test_the_classical_schemata_are_named(lean: LeanKernel) -> None:
    text = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    names = re.search(r"`propext`, `Classical\.choice` and `Quot\.sound`: ((?:`\w+`,?\s)*`\w+`)\.", text)
    axioms = {name: judgement.axioms for name, judgement in check_schemata(lean, COMPLETE).items()}
    assert names
    assert re.findall(r"`(\w+)`", names[1]) == [name for name in axioms if axioms[name]]
    assert f"Of the {len(axioms)} theorems, {sum(not each for each in axioms.values())} use no axiom" in text
    assert {frozenset(each) for each in axioms.values()} == {frozenset(), AXIOMS}


def test_the_two_checkers_never_differed() -> None:
    text = " ".join((ROOT / "docs" / "trust.md").read_text(encoding="utf-8").split())
    proofs = json.loads((ROOT / "docs" / "checkers.json").read_text(encoding="utf-8"))["proofs"]
    accepted, rejected, unwritable, different = (
        sum(each[kind] for each in proofs.values()) for kind in proofs["golden"]
    )
    assert different == 0
    total = accepted + rejected + unwritable
    assert f"of {total:,} proofs, both accepted {accepted:,} and both rejected {rejected:,}" in text
    assert f"The other {unwritable:,} were" in text
    sizes = {name: f"{sum(each.values()):,}" for name, each in proofs.items()}
    assert f"{sizes['forged']} forged" in text
    assert f"({sizes['generated']} proofs)" in text
    assert f"reference proofs of ProverQA ({sizes['golden']})" in text
