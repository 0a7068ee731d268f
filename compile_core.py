"""Compile the core: ``python compile_core.py FOLDER [0|1|2|3]``, with the level of optimisation, 3 by default.

In: the package beside this file; mypy, setuptools, msgspec and a C compiler. Out: a copy of the package in FOLDER whose
core is compiled, with the sources beside it. ``hatch_build.py`` puts the extension modules into a wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

PACKAGE = "proof_r1_formal"
CORE = {
    "logic": "fingerprint model pattern plain shape show signature symbols syntax transform truth_table",
    "evidence": "checker signed",
    "search": "facts forced propagation prover tableau",
    "solvers": "base confirm countermodel embedded finite grounding one_element oracle propositional",
    "rules": "check forms matching spine",
    "proof": "action answer closure judge progress session sorts step",
}
"""The modules that are compiled, by room. A class that users derive from says so (``allow_interpreted_subclasses``)."""
BASES = {"Connective": "Binary", "Quantified": "Binder", "Formula": "_Formula"}
"""Unions of nodes, and the base classes that the compiler reads in their place, whose attributes it finds at once. It
then cannot tell that a ``match`` is exhaustive, so it does not check the arguments of ``assert_never``."""
SETTINGS = f"""
[mypy]
follow_imports = skip
ignore_missing_imports = True
disable_error_code = arg-type
[mypy-{PACKAGE}.*,msgspec.*]
follow_imports = silent
"""
"""What the compiler reads of other modules: the package's types, and those of structs."""


def compile_core(folder: Path, level: str = "3") -> None:
    """Copy the package to a folder, and compile its core there."""
    from mypyc.build import mypycify
    from setuptools import setup

    shutil.copytree(Path(__file__).parent / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    os.chdir(folder)
    nodes = Path(PACKAGE, "logic", "syntax.py")
    source = nodes.read_text(encoding="utf-8")
    for union, base in BASES.items():
        source, found = re.subn(rf"^({union}: TypeAlias =) .*", rf"\1 {base}", source, flags=re.MULTILINE)
        assert found == 1, f"the union {union} is written otherwise"
    nodes.write_text(source, encoding="utf-8")
    Path("mypy.ini").write_text(SETTINGS)
    modules = [f"{PACKAGE}/{room}/{name}.py" for room, names in CORE.items() for name in names.split()]
    extensions = mypycify(["--config-file", "mypy.ini", *modules], opt_level=level, debug_level="0", group_name=PACKAGE)
    jobs = f"-j{os.cpu_count() or 1}"
    setup(name=PACKAGE, packages=[], ext_modules=extensions, script_args=["-q", "build_ext", "--inplace", jobs])


if __name__ == "__main__":
    compile_core(Path(sys.argv[1]), *sys.argv[2:])
