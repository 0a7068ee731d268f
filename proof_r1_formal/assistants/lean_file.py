"""Files of certificates for Lean, alone or as a Lake package.

In: certificates with the problems that they answer. Out: the text of a file, which imports the theory or contains it;
or a folder that ``lake build`` builds, with the theory, an index and a file for each certificate.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from proof_r1_formal.assistants.certificate import ANSWER_SOUND, MEANING, AnyCertificate, Certificate, Style
from proof_r1_formal.assistants.lean import HEADER, MODULES, Definition, LeanTheorem
from proof_r1_formal.assistants.lean_names import short_names
from proof_r1_formal.assistants.lean_program import theory_folder
from proof_r1_formal.assistants.reflection import GOAL, premise_name
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import DataError
from proof_r1_formal.outputs import write_output
from proof_r1_formal.render import lean
from proof_r1_formal.text.show import show
from proof_r1_formal.version import __version__

PACKAGE = "Certificates"
"""The library of the certificates in a package, and the folder of their files, unless it has another name."""
TOO_LARGE = "no theorem, because a model is too large for one"

_OPTIONS = ("set_option autoImplicit false", "set_option linter.unusedVariables false")
"""All symbols of a problem are bound in each theorem, used or not."""
_LIBRARY = re.compile(r"[A-Z][A-Za-z0-9]*")
_TAKEN = frozenset({lean.NAMESPACE, f"{lean.NAMESPACE}Test", "Init", "Lake", "Lean", "Std", "Main"})
_PLAIN_ID = re.compile(r"(?!.*/x[0-9a-f]{16}$)[a-z][a-z0-9]*(/[a-z0-9]+)*")
_MODULE = re.compile(r"^(module|@\[expose\] public section)\n|^public (?=import )", re.MULTILINE)
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_MAX_NAME = 100  # characters


@dataclass(frozen=True, slots=True)
class Package:
    """A package of certificates.

    Attributes:
        name: of its library. Packages of different names can live in one project.
        require: the folder or the git repository of the theory, if the package does not contain it. Two packages that
            contain it cannot live in one project.

    Raises:
        ValueError: the name is not one.
    """

    name: str = PACKAGE
    require: str | None = None

    def __post_init__(self) -> None:
        if not _LIBRARY.fullmatch(self.name) or self.name in _TAKEN:
            taken = ", ".join(sorted(_TAKEN))
            raise ValueError(f"{self.name!r} is not a name: a capital, then letters and digits; not {taken}")

    @property
    def session(self) -> str:
        """The name of the session for Isabelle."""
        return f"Proof_R1_{self.name}"

    def namespace(self, stem: str) -> str:
        """The namespace of a certificate; unless the package has the usual name, it begins with the package's."""
        return stem if self.name == PACKAGE else f"{self.name}.{stem}"

    def lakefile(self, folder: Path) -> str:
        """The text of ``lakefile.toml`` for the package in a folder.

        Raises:
            DataError: the folder to require has no lakefile.
        """
        library = f'[[lean_lib]]\nname = "{lean.NAMESPACE}"\n'
        if self.require is not None:
            library = f'[[require]]\nname = "{lean.NAMESPACE}"\n{_source(self.require, folder)}'
        name = self.name if self.name != PACKAGE else PACKAGE.lower()
        head = f'name = "{name}"\nversion = "{__version__}"\ndefaultTargets = ["{self.name}"]\n'
        return f'{head}\n{library}\n[[lean_lib]]\nname = "{self.name}"\n'


def _source(place: str, folder: Path) -> str:
    """Where Lake finds the theory: a git repository with it, or a folder, relative to the package."""
    if "://" in place or place.startswith("git@"):
        return f'git = {json.dumps(place)}\nsubDir = "theories/lean"\n'
    if not (Path(place) / "lakefile.toml").is_file():
        raise DataError(place, "this is not the folder of the theory, theories/lean: it has no lakefile.toml")
    return f"path = {json.dumps(Path(os.path.relpath(place, folder)).as_posix())}\n"


def file_stem(problem_id: str, sample: int) -> str:
    """The name of a certificate: of its files, its namespace in Lean and its Isabelle theory.

    Different answers have different names, even where case does not count. An id that has more than lower-case letters,
    digits and ``/`` is marked by a hash.

    >>> file_stem("garden/2", 0), file_stem("Garden 2", 0)
    ('Garden_2_0', 'Garden_2_xda112c592cc5ef25_0')
    """
    words = "_".join(re.findall(r"[A-Za-z0-9]+", problem_id))
    if not _PLAIN_ID.fullmatch(problem_id) or len(problem_id) > _MAX_NAME:
        letter = "" if words[:1].isalpha() else "P"
        words = f"{letter}{words[:_MAX_NAME]}_x{hashlib.sha256(problem_id.encode()).hexdigest()[:16]}"
    return f"{words[0].upper()}{words[1:]}_{sample}"


def lean_file(
    certificate: AnyCertificate,
    problem: Problem,
    sample: int = 0,
    *,
    style: Style = "shallow",
    standalone: bool = False,
    short: bool = False,
    package: Package | None = None,
) -> str:
    """A Lean file that states and proves a certificate's theorems, in a namespace of their own.

    Beside each premise, a comment has its sentence and its formula as the problem has them. The sample is the number of
    the answer to the problem. A standalone file contains the theory, which others import. With ``short`` names, see
    :mod:`~proof_r1_formal.assistants.lean_names`. The package is the one that has the file.
    """
    name = (package or Package()).namespace(file_stem(problem.id, sample))
    theorems = certificate.theorems(style)
    definitions = dict.fromkeys(each for theorem in theorems.values() for each in theorem.definitions)
    texts = [_definitions(definitions, certificate, problem)] if definitions else []
    for label in expected(certificate, theorems):
        if label in theorems:
            texts.append(f"/-- {MEANING[label]} -/\n{_text(label, theorems[label], _notes(certificate, problem))}")
            texts[-1] += f"\n#print axioms {label}"
        else:
            texts.append(f"-- {label}: {MEANING[label]} This file does not prove it, because a model is too large.")
    about = _comment(f"{problem.id}, sample {sample}. {problem.question}")
    stated = "\n\n".join(texts)
    body = f"{about}\nnamespace {name}\n\n{short_names(stated) if short else stated}\n\nend {name}"
    theory = _theory(checker=f"{lean.NAMESPACE}.Checker" in body) if standalone else ""
    top = ["-- This file is complete: it needs nothing but Lean 4.", *_OPTIONS, "", theory]
    return "\n".join([*(top if standalone else [HEADER[0], *_OPTIONS, ""]), body, ""])


def expected(certificate: AnyCertificate, theorems: Collection[str]) -> list[str]:
    """The names of the theorems that a certificate has unless a model is too large, given those that it has."""
    if ANSWER_SOUND in theorems:
        return [ANSWER_SOUND]
    return list(dict.fromkeys((*certificate.required, *certificate.refuted())))


def write_package(folder: Path, certificates: Mapping[str, str], package: Package | None = None) -> None:
    """Write what Lean's build tool needs beside the files of certificates: the theory, the index, the release of Lean.

    Args:
        folder: of the package; the files are in its folder with the library's name.
        certificates: the name of each file, without the suffix -> what the index says of it.
        package: its name, and where the theory is; by default ``Certificates``, with the theory in it.

    Raises:
        DataError: a file cannot be written, or the folder to require is not the theory.
    """
    package = package or Package()
    index = [f"import {package.name}.{name} {_comment(about)}" for name, about in certificates.items()]
    files: dict[str, bytes] = {}
    if package.require is None:
        files = {f"{module}.lean": (theory_folder() / f"{module}.lean").read_bytes() for module in MODULES}
    files["lakefile.toml"] = package.lakefile(folder).encode()
    files[f"{package.name}.lean"] = "".join([f"{line}\n" for line in index]).encode()
    files["lean-toolchain"] = (theory_folder() / "lean-toolchain").read_bytes()
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_output(folder / name, content)


def plain(source: str) -> str:
    """A file of the theory without what makes it a ``module``."""
    return _MODULE.sub("", source)


def _theory(*, checker: bool) -> str:
    """The text of the theory, with Lean's own checker of proofs only where it is needed."""
    modules = [module for module in MODULES if checker or "/Checker/" not in module]
    texts = [(theory_folder() / f"{module}.lean").read_text(encoding="utf-8") for module in modules]
    return "\n".join([_IMPORT.sub("", plain(text)) for text in texts])


def _premise_note(certificate: AnyCertificate, problem: Problem) -> dict[str, str]:
    """By id: the formula of a premise as the problem has it, and its sentence."""
    said = {each.id: f" “{each.text}”" if each.text else "" for each in problem.premises}
    shown = {each.id: each.source or show(each.formula) for each in problem.premises}
    return {id_: _comment(f"{id_}: {shown[id_]}{said[id_]}") for id_ in certificate.premises}


def _goal_note(certificate: AnyCertificate) -> str:
    name = "the answer" if isinstance(certificate, Certificate) else "the goal"
    return _comment(f"{name}: {show(certificate.goal)}")


def _definitions(definitions: Collection[Definition], certificate: AnyCertificate, problem: Problem) -> str:
    """The symbols by number, and the premises and the goal, each below what the problem says there."""
    notes = {premise_name(id_): note for id_, note in _premise_note(certificate, problem).items()}
    notes[GOAL] = _goal_note(certificate)
    lines = ["-- The problem; its symbols are numbers of their kind.", "noncomputable section"]
    for each in definitions:
        lines += [*([notes[each.name]] if each.name in notes else []), each.text()]
    return "\n".join([*lines, "end"])


def _notes(certificate: AnyCertificate, problem: Problem) -> dict[str, list[str]]:
    """A formula as it stands in a shallow statement -> what the problem says there."""
    notes: dict[str, list[str]] = {}
    for id_, note in _premise_note(certificate, problem).items():
        notes.setdefault(lean.formula(certificate.premises[id_]), []).append(note)
    notes[f": {lean.formula(certificate.goal)}"] = [_goal_note(certificate)]
    return notes


def _text(label: str, theorem: LeanTheorem, notes: Mapping[str, list[str]]) -> str:
    """A theorem with the notes in its statement; its legend stands above it."""
    if theorem.definitions or theorem.legend:
        return "\n".join([*([_comment(theorem.legend)] if theorem.legend else []), theorem.text(label)])
    lines: list[str] = []
    for line in theorem.statement.split("\n"):
        shown = line.strip().removesuffix(" →")
        found = notes.get(shown, notes.get(shown.partition(" : ")[2][:-1], []))
        lines += [*[line[: len(line) - len(line.lstrip())] + note for note in found], line]
    return theorem._replace(statement="\n".join(lines)).text(label)


def _comment(text: str) -> str:
    """A comment of one line, whatever the text contains."""
    return "-- " + "".join([c if c.isprintable() else ascii(c)[1:-1] for c in text]).strip()
