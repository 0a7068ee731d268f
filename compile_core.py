"""Compile the core: ``python compile_core.py FOLDER [0|1|2|3]``, with the level of optimisation, 3 by default.

In: the package and its examples beside this file; mypy, setuptools, msgspec and a C compiler. Out: a copy of the
package in FOLDER whose core is compiled, with the sources beside it. ``hatch_build.py`` puts the extension modules into
a wheel.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

PACKAGE = "proof_r1_formal"
CORE = {
    "kernel": "answer checker model pattern signature signed syntax transform",
    "text": "equivalence parse show",
    "engine": "congruence countermodel embedded facts finite grounding herbrand oracle planned propagation "
    "propositional prover tableau truth_table",
    "rules": "check forms matching",
    "proof": "action answer closure context session step verify",
    "generate": "shape",
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
EXAMPLES = """
import sys
from pathlib import Path
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import read_completions
from proof_r1_formal.proof.verify import Verifier

folder = Path(sys.argv[1])
problems = read_problems(folder / "problems.jsonl")
verifier = Verifier()
for completion in read_completions(folder / "completions.jsonl"):
    verifier.verify(problems[completion.problem_id], completion.completion)
"""
"""A program that verifies the examples."""
COUNT, USE_COUNTS = "-fprofile-generate", "-fprofile-use -fprofile-partial-training -Wno-missing-profile"
"""Options of GCC: count which branches run, and optimise for the counts, but what did not run as without any."""


def compile_core(folder: Path, level: str = "3") -> None:
    """Copy the package and its data files to a folder, and compile its core there.

    If it is optimised and the compiler is GCC, it is compiled twice, the second time for the branches that verifying
    the examples took (profile-guided optimisation).
    """
    from mypyc.build import mypycify

    root = Path(__file__).resolve().parent
    for name in (PACKAGE, "grammars", "theories"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    os.chdir(folder)
    nodes = Path(PACKAGE, "kernel", "syntax.py")
    source = nodes.read_text(encoding="utf-8")
    for union, base in BASES.items():
        source, found = re.subn(rf"^({union}: TypeAlias =) .*", rf"\1 {base}", source, flags=re.MULTILINE)
        assert found == 1, f"the union {union} is written otherwise"
    nodes.write_text(source, encoding="utf-8")
    Path("mypy.ini").write_text(SETTINGS)
    modules = [f"{PACKAGE}/{room}/{name}.py" for room, names in CORE.items() for name in names.split()]
    extensions = mypycify(["--config-file", "mypy.ini", *modules], opt_level=level, debug_level="0", group_name=PACKAGE)
    if level == "0" or not _is_gcc():
        _build(extensions)
        return
    _build(extensions, COUNT)
    program = [sys.executable, "-P", "-c", EXAMPLES, str(root / "examples")]
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])  # pip puts what a build needs there
    subprocess.run(program, check=True, env={**os.environ, "PYTHONPATH": path})
    assert list(folder.rglob("*.gcda")), "the examples left no counts, which the compiler would not mention"
    _build(extensions, USE_COUNTS)


def _build(extensions: list[Any], options: str = "") -> None:
    """Compile the extension modules beside their sources, with more options."""
    from setuptools import setup

    given = os.environ.get("CFLAGS", "")
    os.environ["CFLAGS"] = f"{given} {options}"
    arguments = ["-q", "build_ext", "--inplace", "--force", f"-j{os.cpu_count() or 1}"]
    setup(name=PACKAGE, packages=[], ext_modules=extensions, script_args=arguments)
    os.environ["CFLAGS"] = given


def _is_gcc() -> bool:
    """Whether the C compiler is GCC."""
    compiler = shutil.which(shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0])
    if compiler is None:
        return False
    said = subprocess.run([compiler, "--version"], check=False, capture_output=True, text=True)
    return "Free Software Foundation" in said.stdout


if __name__ == "__main__":
    compile_core(Path(sys.argv[1]).resolve(), *sys.argv[2:])
