"""Files of certificates for Lean, alone or as a Lake package.

In: certificates with the problems that they answer. Out: the text of a file, which imports the theory or contains it;
or a folder that ``lake build`` builds, with the theory, an index and a file for each certificate.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from proof_r1_formal.assistants.certificate import (
    ANSWER,
    ANSWER_SOUND,
    MEANING,
    AnyCertificate,
    Certificate,
    Style,
)
from proof_r1_formal.assistants.lean import HEADER, MODULES, Definition, LeanTheorem
from proof_r1_formal.assistants.lean_program import theory_folder
from proof_r1_formal.assistants.reflection import GOAL, premise_name
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.outputs import write_output
from proof_r1_formal.render import lean
from proof_r1_formal.text.show import show

PACKAGE = "Certificates"
"""The library of the certificates in a package, and the folder of their files."""
TOO_LARGE = "no theorem, because a model is too large for one"

_OPTIONS = ("set_option autoImplicit false", "set_option linter.unusedVariables false")
"""All symbols of a problem are bound in each theorem, used or not."""
_LAKEFILE = f"""name = "certificates"
defaultTargets = ["{PACKAGE}"]

[[lean_lib]]
name = "{lean.NAMESPACE}"

[[lean_lib]]
name = "{PACKAGE}"
"""
_PLAIN_ID = re.compile(r"(?!.*/x[0-9a-f]{16}$)[a-z][a-z0-9]*(/[a-z0-9]+)*")
_MODULE = re.compile(r"^(module|@\[expose\] public section)\n|^public (?=import )", re.MULTILINE)
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_MAX_NAME = 100  # characters


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
) -> str:
    """A Lean file that states and proves a certificate's theorems, in a namespace of their own.

    Beside each premise, a comment has its sentence and its formula as the problem has them. The sample is the number of
    the answer to the problem. A standalone file contains the theory, which others import.
    """
    name = file_stem(problem.id, sample)
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
    body = "\n\n".join([f"{about}\nnamespace {name}", *texts, f"end {name}"])
    theory = _theory(checker=f"{lean.NAMESPACE}.Checker" in body) if standalone else ""
    top = ["-- This file is complete: it needs nothing but Lean 4.", *_OPTIONS, "", theory]
    return "\n".join([*(top if standalone else [HEADER[0], *_OPTIONS, ""]), body, ""])


def expected(certificate: AnyCertificate, theorems: Collection[str]) -> list[str]:
    """The names of the theorems that a certificate has unless a model is too large, given those that it has."""
    if ANSWER_SOUND in theorems:
        return [ANSWER_SOUND]
    return [*([ANSWER] if isinstance(certificate, Certificate) else []), *certificate.refuted()]


def write_package(folder: Path, certificates: Mapping[str, str]) -> None:
    """Write what Lean's build tool needs beside the files of certificates: the theory, the index, the release of Lean.

    Args:
        folder: of the package; the files are in its folder ``Certificates``.
        certificates: the name of each file, without the suffix -> what the index says of it.
    """
    index = [f"import {PACKAGE}.{name} {_comment(about)}" for name, about in certificates.items()]
    files = {f"{module}.lean": (theory_folder() / f"{module}.lean").read_bytes() for module in MODULES}
    files |= {"lakefile.toml": _LAKEFILE.encode(), f"{PACKAGE}.lean": "".join([f"{line}\n" for line in index]).encode()}
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
    lines = ["-- The symbols of the problem, as numbers of their kind.", "noncomputable section"]
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
