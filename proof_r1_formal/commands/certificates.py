"""Certificates that commands write and check: files of theorems, and the judgements of a kernel on them.

In: certificates of problems, with or without completions. Out: a Lake package or complete files for Lean, if wanted a
session for Isabelle, and a line for each certificate that says what the kernel finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, assert_never

import typer
from rich.text import Text

from proof_r1_formal.assistants import isabelle
from proof_r1_formal.assistants.certificate import (
    ANSWER,
    GOAL_FAILS,
    NEGATION_FAILS,
    AnyCertificate,
    Certificate,
    Style,
)
from proof_r1_formal.assistants.certify import certify_verified, faults_of, is_theorem, judge
from proof_r1_formal.assistants.engine_certificate import NoCertificate, certify_problem
from proof_r1_formal.assistants.isabelle import IsabelleKernel, write_session
from proof_r1_formal.assistants.isar import isar_theory
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_file import TOO_LARGE, Package, file_stem, lean_file, write_package
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.commands import common
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.generate.synthesize import Proved, Result
from proof_r1_formal.outputs import check_folder, write_output
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier

KernelName: TypeAlias = Literal["lean", "isabelle", "none"]
KernelOption = Annotated[KernelName, typer.Option("--kernel", help="Kernel that checks theorems.")]
NameOption = Annotated[
    str, typer.Option("--name", help="Name of the package, its library and the session; a word with a capital.")
]
RequireOption = Annotated[
    str | None,
    typer.Option(
        "--require",
        metavar="PATH|URL",
        help="Require the theory from a folder or a git repository; by default it is copied.",
        show_default=False,
    ),
]
IsabelleOption = Annotated[
    bool, typer.Option("--isabelle", help="Also write the theorems as a session for `isabelle build -D`.")
]
ShortNamesOption = Annotated[
    bool,
    typer.Option(
        "--short-names",
        help="Write names for Lean without the prefixes of their kinds, except where two would be the same.",
    ),
]
_CHUNK = 64  # certificates that a kernel is given at a time


class Files:
    """The files of certificates: for Lean, each complete or all in a package; if wanted, a session of Isabelle."""

    def __init__(
        self, folder: Path, package: Package, style: Style, *, standalone: bool, isabelle: bool, short: bool
    ) -> None:
        self._folder, self._package, self._style, self._standalone = folder, package, style, standalone
        self._short = short
        self._index: dict[str, str] = {}
        self._theories: dict[str, str] | None = {} if isabelle else None
        if not standalone:
            check_folder(folder / package.name)

    def add(self, certificate: AnyCertificate, problem: Problem, sample: int = 0) -> None:
        """Write a certificate for Lean, and keep its theory until the session is written."""
        stem = file_stem(problem.id, sample)
        package = None if self._standalone else self._package
        text = lean_file(
            *(certificate, problem, sample),
            style=self._style,
            standalone=self._standalone,
            short=self._short,
            package=package,
        )
        write_output(self._folder / ("" if package is None else package.name) / f"{stem}.lean", text.encode())
        self._index[stem] = f"{problem.id}, sample {sample}. {problem.question}"
        if self._theories is not None:
            self._theories[stem] = isar_theory(certificate, stem, problem=problem)

    def finish(self) -> None:
        """Write the package and the session, if there is something in them."""
        if self._index and not self._standalone:
            write_package(self._folder, self._index, self._package)
        if self._theories:
            write_session(self._folder, self._package.session, self._theories)


class Theorems:
    """Theorems of problems without completions: by the proof that a search found, else by the engine's evidence.

    Attributes:
        counts: of certificates, by what the kernel says.
        without: the problems that have no theorem.
    """

    def __init__(
        self, verifier: Verifier, kernel: LeanKernel | IsabelleKernel | None, files: Files | None, style: Style
    ) -> None:
        self._verifier, self._kernel, self._files, self._style = verifier, kernel, files, style
        self._waiting: list[tuple[Problem, AnyCertificate, str]] = []
        self.counts: Counter[str] = Counter()
        self.without = 0

    def add(self, problem: Problem, result: Result) -> None:
        """Certify a problem, given what the search found."""
        found: AnyCertificate | NoCertificate | None = None
        by = "by the engine"
        if isinstance(result, Proved):
            found = certify_verified(self._verifier, problem, summary(result.steps), result.report).certificate
            by = f"by rules, {common.count_of(len(result.steps) - 1, 'step')}"
        if found is None:
            found, by = certify_problem(self._verifier, problem), "by the engine"
        if isinstance(found, NoCertificate):
            self.counts["no certificate"] += 1
            self.without += 1
            common.OUT.print(Text(f"{problem.id}: no certificate: {found.reason}"), soft_wrap=True)
            return
        if self._files is not None:
            self._files.add(found, problem)
        self._waiting.append((problem, found, by))
        if len(self._waiting) == _CHUNK:
            self._judge()

    def finish(self) -> None:
        """Judge and write what is left."""
        self._judge()
        if self._files is not None:
            self._files.finish()

    def _judge(self) -> None:
        judged = judge([certificate for _, certificate, _ in self._waiting], self._kernel, self._style)
        for (problem, certificate, by), judgements in zip(self._waiting, judged, strict=True):
            faults = list(faults_of(certificate, judgements, self._style))
            theorem = is_theorem(certificate, judgements)
            word = verdict_word(self._kernel, theorem=theorem, faults=faults)
            self.counts[word] += 1
            self.without += not theorem and self._kernel is not None
            names = ", ".join(certificate.required)
            notes = [f"{problem.id}: {word}: {names}, {by}", *faults]
            if isinstance(certificate, Certificate) and certificate.model is None and certificate.label == ANSWER:
                notes.append("whether the premises have a model is undecided")
            if certificate.required == (GOAL_FAILS,):
                notes.append("whether the negation of the goal follows is undecided")
            if certificate.required == (NEGATION_FAILS,):
                notes.append("whether the goal follows is undecided")
            common.write("; ".join(notes))
        self._waiting.clear()


def verdict_word(kernel: object, *, theorem: bool, faults: list[str]) -> str:
    """What a command calls a certificate."""
    unchecked = "certificate, not checked" if kernel is None else TOO_LARGE
    return "theorem" if theorem else "not accepted" if faults else unchecked


def refuse_without(needed: str, given: Mapping[str, bool]) -> None:
    """End with an error if an option is given that has an effect only with another, which is not given."""
    for option, is_given in given.items():
        if is_given:
            common.fail(f"{option} has no effect without {needed}: add it, or leave out {option}")


def package_of(name: str, require: str | None, folder: Path) -> Package:
    """The package of the options in a folder; ends with an error if its name, or the folder to require, is not one."""
    try:
        package = Package(name, require)
    except ValueError as error:
        common.fail(f"--name: {error}")
    package.lakefile(folder)  # raises now what it would raise after the work
    return package


def find_kernel(name: KernelName, lean_program: str | None = None) -> LeanKernel | IsabelleKernel | None:
    """The kernel of that name; ends with an error if it is not installed."""
    match name:
        case "lean":
            return find_lean(lean_program)
        case "isabelle":
            return find_isabelle()
        case "none":
            return None
    assert_never(name)


def find_lean(program: str | None) -> LeanKernel:
    """The Lean that is found; ends with an error if there is none."""
    kernel = LeanKernel.find(program)
    if kernel is None:
        common.fail(f"Lean was not found, so no theorem can be checked; {HINT}")
    for fault in kernel.passed_over:
        common.log(f"not used: {fault}")
    return kernel


def find_isabelle() -> IsabelleKernel:
    """The Isabelle on PATH; ends with an error if there is none."""
    kernel = IsabelleKernel.find()
    if kernel is None:
        common.fail(f"isabelle was not found on PATH, so no theorem can be checked; {isabelle.HINT}")
    return kernel
