"""The rooms of the package: imports lead downwards, and no two rooms or modules import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import proof_r1_formal

PACKAGE = Path(proof_r1_formal.__file__).resolve().parent
FLOORS = (
    {"kernel", "executors", "resources", "version"},
    {"errors", "render"},
    {"outputs", "text", "workers"},
    {"engine"},
    {"rules"},
    {"data"},
    {"proof"},
    {"assistants", "decoding", "generate", "models"},
    {"evaluation", "serve"},
    {"credit", "report", "testing"},
    {"integrations"},
    {"commands"},
    {"cli"},
    {"__main__"},
)
"""The rooms (folders, and modules outside of folders) from the ground up; a room imports from lower floors only."""
NEVER = {"proof": {"assistants", "render"}, "credit": {"integrations"}}
"""What a room must not import, wherever that stands."""


def modules() -> dict[str, str]:
    """The source of each module, by its name without that of the package; a folder's ``__init__`` has the folder's."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if parts:
            found[".".join(parts)] = path.read_text(encoding="utf-8")
    return found


SOURCES = modules()


def imported(source: str) -> Iterator[str]:
    """The modules of the package that a source imports anywhere, also in functions and for the type checker."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                full = [alias.name for alias in names]
            case ast.ImportFrom(str(module), names, 0):
                full = [f"{module}.{alias.name}" for alias in names]
            case ast.ImportFrom(_, _, level) if level:
                raise AssertionError("a relative import")
            case _:
                continue
        for name in full:
            root, _, rest = name.partition(".")
            if root == PACKAGE.name and rest:
                yield _module_of(rest)


def _module_of(name: str) -> str:
    """The module of what is imported: itself, the one that defines it, or for a name of the package its module."""
    if name in SOURCES:
        return name
    module, _, attribute = name.rpartition(".")
    return module or proof_r1_formal._MODULE_OF.get(attribute, "version")


ARROWS = {name: {found for found in imported(source) if found != name} for name, source in SOURCES.items()}


def rooms(arrows: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The rooms that each room imports from."""
    found: dict[str, set[str]] = {}
    for name, targets in arrows.items():
        room = name.partition(".")[0]
        found.setdefault(room, set()).update({target.partition(".")[0] for target in targets} - {room})
    return found


def upward(arrows: Mapping[str, set[str]]) -> list[str]:
    """The imports from a room to one that is not on a lower floor."""
    floor_of = {room: floor for floor, names in enumerate(FLOORS) for room in names}
    return [
        f"{room} imports {target}"
        for room, targets in sorted(rooms(arrows).items())
        for target in sorted(targets)
        if floor_of[target] >= floor_of[room] or target in NEVER.get(room, set())
    ]


def circle(arrows: Mapping[str, set[str]]) -> set[str]:
    """The modules that lie on circles of imports, or between two circles."""
    rest = {name: set(targets) for name, targets in arrows.items()}
    while True:
        inside = set[str]().union(*rest.values())
        left = {name: targets & rest.keys() for name, targets in rest.items() if targets & rest.keys()}
        left = {name: targets for name, targets in left.items() if name in inside}
        if left == rest:
            return set(rest)
        rest = left


def test_every_room_has_a_floor() -> None:
    assert sorted(room for names in FLOORS for room in names) == sorted(rooms(ARROWS))


def test_imports_lead_downwards() -> None:
    assert upward(ARROWS) == []


def test_no_modules_import_each_other() -> None:
    assert circle(ARROWS) == set()


@pytest.mark.parametrize(
    ("module", "line", "found"),
    [
        ("kernel.syntax", "def f():\n    from proof_r1_formal.text.show import show", ["kernel imports text"]),
        ("proof.batch", "from proof_r1_formal.assistants.lean import LeanKernel", ["proof imports assistants"]),
        ("proof.batch", "from proof_r1_formal.render import lean", ["proof imports render"]),
        ("text.show", "if TYPE_CHECKING:\n    import proof_r1_formal.render.lean", []),
        ("engine.z3", "from proof_r1_formal import Verifier", ["engine imports proof"]),
        ("render.lean", "from proof_r1_formal.errors import ProofError", ["render imports errors"]),
    ],
)
def test_the_check_sees_an_import(module: str, line: str, found: list[str]) -> None:
    assert upward({**ARROWS, module: ARROWS[module] | set(imported(line))}) == found


def test_the_check_sees_a_circle() -> None:
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str]()}
    assert circle(arrows) == {"b", "c"}
    assert circle({**arrows, "c": {"d"}}) == set()
