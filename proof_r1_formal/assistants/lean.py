"""The Lean kernel. In: theorems. Out: its judgement on each.

Lean is the named program, or the first of ``assistants.lean_program`` that accepts the theory. The theory is compiled
once per Lean and content, into a folder that appears completely or not at all, with the SHA-256 of each file.

A theorem counts as accepted only if Lean ends properly, says nothing but information, nothing falls inside the
theorem's lines, and exactly one report of its axioms stands on the line that asked for it, naming no axiom but those of
classical logic. The text may contain only words that this package writes; any other text is rejected before Lean reads
it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from proof_r1_formal.assistants.lean_program import HINT, MINIMUM, candidates, program_of, theory_folder
from proof_r1_formal.errors import SolverError
from proof_r1_formal.outputs import write_output
from proof_r1_formal.render.lean import NAMESPACE

AXIOMS = frozenset({"propext", "Classical.choice", "Quot.sound"})
"""The allowed axioms, from which Lean derives classical logic."""
BATCH = 1000
"""Number of theorems in a file."""
SECONDS = 30.0
SECONDS_EACH = 0.5
_SECONDS_PER_KIB = 0.5
"""The time limit of a run: for the start, for each theorem, for each KiB of text. A run beyond it accepts nothing."""
_MEMORY_MIB = 4096

_CHECKER = ("Data", "Syntax", "Semantics", "Proof", "Soundness", "Trace", "Numbers", "Finite")
MODULES = (
    *("ProofR1/Logic", "ProofR1/Schemata", "ProofR1/Closure", "ProofR1/Domains"),
    *(f"ProofR1/Checker/{module}" for module in _CHECKER),
    "ProofR1",
)
"""The files of the theory, each after those that it imports."""
_OPTIONS = ("--json", "-DElab.async=false", "-DmaxErrors=0", "-Dlinter.all=false", "-DmaxRecDepth=20000")
HEADER = ("import ProofR1", "set_option autoImplicit false")


class Definition(NamedTuple):
    """A definition that theorems use: its name, its type and its value."""

    name: str
    type: str
    value: str

    def text(self) -> str:
        """The definition as a command."""
        return f"def {self.name} : {self.type} := {self.value}"


class LeanTheorem(NamedTuple):
    """A theorem without its name: binders and ``: proposition``, and the term that proves it.

    The legend says in a certificate's file what the numbers in it are; Lean does not read it. ``own`` says that a user
    has written the proof. The definitions stand before it.
    """

    statement: str
    proof: str
    legend: str = ""
    own: bool = False
    definitions: tuple[Definition, ...] = ()

    def text(self, name: str) -> str:
        """The theorem as a command."""
        return f"theorem {name} {self.statement} :=\n  {self.proof}"


class Judgement(NamedTuple):
    """The judgement of the kernel on a theorem: the reason of a rejection, or the axioms of the proof.

    The line is that of the error, counted from 0, if Lean named one. ``false``: an evaluation does not give ``true``.
    """

    accepted: bool
    reason: str = ""
    axioms: tuple[str, ...] = ()
    line: int | None = None
    false: bool = False


class _Position(msgspec.Struct):
    line: int


class _Message(msgspec.Struct):
    severity: str
    data: str
    pos: _Position


_MESSAGE = msgspec.json.Decoder(_Message)


class LeanKernel:
    """A Lean program with the compiled theory.

    Args:
        command: to run; arguments of ``lean`` follow.
        mini: whether it requires the small ``Init``.
        cache: folder for compiled theories.
        place: where it was found, for messages.
        passed_over: why others that were found before it cannot be used.

    Raises:
        SolverError: it is not Lean 4, is too old, or does not accept the theory.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        mini: bool,
        cache: Path | None = None,
        place: str = "",
        passed_over: Sequence[str] = (),
    ) -> None:
        self._command = tuple(command)
        self._mini = mini
        self.place = place or self._command[0]
        self.passed_over = tuple(passed_over)
        self.version = self._version()
        self._theory = self._compile_theory(_default_cache() if cache is None else cache)

    @classmethod
    def find(cls, program: str | None = None, *, cache: Path | None = None) -> Self | None:
        """The installed Lean, or None.

        Args:
            program: path or name of a Lean program, or ``wheel``; if None, the first that can be used is taken.
            cache: folder for compiled theories; by default the user's cache folder.

        Raises:
            SolverError: the named program does not exist or cannot be used; or none of those found can.
        """
        faults: list[str] = []
        for name in candidates(program):
            try:
                place, command, mini = program_of(name)
                return cls(command, mini=mini, cache=cache, place=place, passed_over=faults)
            except SolverError as error:
                if program is not None:
                    raise
                faults.append(f"{name}: {error.problem}")
        if faults:
            raise SolverError("lean", f"no Lean that was found can be used. {'; '.join(faults)}. {HINT}")
        return None

    def check(self, theorems: Sequence[LeanTheorem]) -> list[Judgement]:
        """The kernel's judgement on each theorem."""
        judgements: list[Judgement] = []
        for start in range(0, len(theorems), BATCH):
            judgements += self._check(theorems[start : start + BATCH])
        return judgements

    # -- one file -----------------------------------------------------------------------------------------------------

    def _check(self, theorems: Sequence[LeanTheorem]) -> list[Judgement]:
        refused = {n: word for n, theorem in enumerate(theorems) if (word := foreign_word(theorem)) is not None}
        judged = iter(self._judge([t for n, t in enumerate(theorems) if n not in refused and not t.own]))
        judgements: list[Judgement] = []
        for number, theorem in enumerate(theorems):
            if number in refused and theorem.own:
                judgements.append(Judgement(False, f"a proof of your own cannot contain {refused[number]!r}"))
            elif number in refused:
                reason = f"the text has {refused[number]!r}, which this package does not write"
                judgements.append(Judgement(False, reason))
            else:  # a proof of a user has a file for itself
                judgements += self._judge([theorem]) if theorem.own else [next(judged)]
        return judgements

    def _judge(self, theorems: Sequence[LeanTheorem]) -> list[Judgement]:
        if not theorems:
            return []
        lines = list(HEADER)
        spans: list[tuple[int, int]] = []
        for number, theorem in enumerate(theorems):
            if theorem.definitions:
                lines += [f"namespace n{number}", "noncomputable section"]
            first = len(lines) + 1
            lines += [each.text() for each in theorem.definitions]
            lines += [*theorem.text(f"t{number}").split("\n"), f"#print axioms t{number}"]
            spans.append((first, len(lines)))
            if theorem.definitions:
                lines += ["end", f"end n{number}"]
        with tempfile.TemporaryDirectory(prefix="proof-r1-") as folder:
            file = Path(folder) / "Theorems.lean"
            text = ("\n".join(lines) + "\n").encode()
            write_output(file, text)
            seconds = SECONDS + SECONDS_EACH * len(theorems) + _SECONDS_PER_KIB * len(text) / 1024
            try:
                run = self._run([*_OPTIONS, "-M", str(_MEMORY_MIB), str(file)], self._theory, seconds)
                judgements = _judgements(run, spans)
            except subprocess.TimeoutExpired:
                judgements = "Lean ran out of time"
        if isinstance(judgements, list):
            return judgements
        if len(theorems) == 1:
            return [Judgement(False, judgements)]
        half = len(theorems) // 2  # one of them breaks Lean, and the others must not fail with it
        return self._judge(theorems[:half]) + self._judge(theorems[half:])

    def _version(self) -> str:
        """Name and version, with the commit if Lean says it."""
        try:
            run = self._run(["--version"], None, 60.0)
        except subprocess.TimeoutExpired as error:
            raise SolverError("lean", "it does not say its version within a minute") from error
        said = (run.stdout + run.stderr).decode("utf-8", "replace").strip()
        version = re.search(r"version (4\.(\d+)[\w.-]*)(?:.*commit (\w+))?", run.stdout.decode("utf-8", "replace"))
        if version is None:
            raise SolverError("lean", f"this is not Lean 4: it says {said[:400]!r}")
        if (4, int(version[2])) < MINIMUM:
            needed = ".".join(map(str, MINIMUM))
            raise SolverError("lean", f"this is Lean {version[1]}; the theory needs {needed} or newer")
        return f"Lean {version[1]}" + (f" ({version[3][:12]})" if version[3] else "")

    def _run(self, arguments: list[str], theory: Path | None, seconds: float) -> subprocess.CompletedProcess[bytes]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "ELAN_HOME") if name in os.environ}
        environment = kept if theory is None else {**kept, "LEAN_PATH": str(theory)}
        try:
            return subprocess.run(
                [*self._command, *arguments],
                env=environment,
                cwd=tempfile.gettempdir(),
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except OSError as error:
            raise SolverError("lean", f"it cannot be started: {error.strerror}") from error

    # -- the theory ---------------------------------------------------------------------------------------------------

    @cached_property
    def _sources(self) -> dict[str, Path]:
        folder = theory_folder()
        init = {"Init": folder / "mini" / "Init.lean"} if self._mini else {}
        return {**init, **{module: folder / f"{module}.lean" for module in MODULES}}

    def _compile_theory(self, cache: Path) -> Path:
        """The folder of the compiled theory; compiled now if it is not there."""
        digest = hashlib.sha256("\0".join([self.version, *self._command]).encode())
        for module, source in self._sources.items():
            digest.update(f"\0{module}\0".encode() + source.read_bytes())
        target = cache / f"lean-{digest.hexdigest()[:24]}"
        if _is_whole(target):
            return target
        try:
            cache.mkdir(parents=True, exist_ok=True)
            building = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
        except OSError as error:
            raise SolverError("lean", f"the theory cannot be compiled into {cache}: {error.strerror}") from error
        try:
            for module, source in self._sources.items():
                self._compile(building, module, source)
            (building / _SUMS).write_text(_sums(building), encoding="utf-8")
            shutil.rmtree(target, ignore_errors=True)  # there, but changed since it was compiled
            building.rename(target)
        except OSError as error:
            if not _is_whole(target):  # else somebody was faster
                raise SolverError("lean", f"the theory cannot be compiled into {cache}: {error.strerror}") from error
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return target

    def _compile(self, folder: Path, module: str, source: Path) -> None:
        output = folder / f"{module}.olean"
        output.parent.mkdir(parents=True, exist_ok=True)
        try:
            root = source.parents[module.count("/")]
            run = self._run([f"--root={root}", "-o", str(output), str(source)], folder, 300.0)
        except subprocess.TimeoutExpired as error:
            raise SolverError("lean", f"compiling {module} ran out of time") from error
        if run.returncode or run.stdout.strip() or not output.is_file():
            said = (run.stdout + run.stderr).decode("utf-8", "replace")[:2000]
            raise SolverError("lean", f"{self.version} does not accept the theory {module}: {said}")


_SUMS = "SHA256SUMS"


def _sums(folder: Path) -> str:
    """The SHA-256 of each compiled file in the folder, as ``sha256sum`` writes it."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != _SUMS)
    sums = [(hashlib.sha256(file.read_bytes()).hexdigest(), file.relative_to(folder).as_posix()) for file in files]
    return "".join([f"{digest}  {name}\n" for digest, name in sums])


def _is_whole(folder: Path) -> bool:
    """Whether the compiled theory is as it was written."""
    try:
        return (folder / _SUMS).read_text(encoding="utf-8") == _sums(folder)
    except (OSError, UnicodeDecodeError):
        return False


def _default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "proof-r1-formal"


# -- what is read and what is written ---------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W\d][\w'.]*|[^\s\w]|\d+|\s")
_OURS = re.compile(
    r"[psfixt]_[A-Za-z0-9_]+('s_[A-Za-z0-9_]+)?|z[0-9a-z]+('s_[A-Za-z0-9_]+)?|[hd]_[A-Za-z0-9_]+|[hax]\d+|all|a|e|h|_"
    rf"|{NAMESPACE}\.[A-Za-z0-9_.]+|Not|And|Or|Iff|Eq|Exists|True|False|Type|Prop|Nat|List|fun|have|motive|absurd|P"
    r"|True\.intro|False\.elim|Exists\.intro|Exists\.elim|Eq\.refl|Eq\.ndrec|Eq\.symm|[A-Z]|[a-z]|[():=>,→∀\n ]|\d+"
    r"|[.⟨⟩]|nil|cons|var|app|top|bottom|atom|equal|not|binary|and|or|xor|implies|iff|forAll|exist|done|line|witness"
    r"|arbitrary|suppose|absurd|again|eliminate|introduce|instantiate|generalise|contradiction|truth|reflexivity|leibniz"
    r"|apply|one|upTo|value|cases|true|false|rfl|by|decide|[+]|kernel|sorts|premises|goal|problem"
)


# fmt: off
FORBIDDEN = frozenset({
    "abbrev", "admit", "attribute", "axiom", "builtin_initialize", "by", "by_elab", "class", "coinductive",
    "decreasing_by", "def", "deriving", "do", "elab", "elab_rules", "end", "eval", "example", "export", "extern",
    "implemented_by", "import", "include", "include_str", "inductive", "infix", "infixl", "infixr", "init_quot",
    "initialize", "instance", "local", "macro", "macro_rules", "meta", "module", "mutual", "namespace", "native_decide",
    "noncomputable", "nonrec", "notation", "omit", "opaque", "open", "partial", "postfix", "prefix", "prelude",
    "private", "protected", "public", "rec", "run_cmd", "run_elab", "run_meta", "run_tac", "scoped", "seal", "section",
    "set_option", "simproc", "sorry", "structure", "suppress_compilation", "syntax", "termination_by", "theorem",
    "universe", "unsafe", "unseal", "variable", "where", "@[",
})
# fmt: on
"""What a proof of a user cannot contain: what begins a command, a declaration, an attribute, an option or a tactic."""
_TERM_SIGNS = frozenset("_.'()[]{}⟨⟩,:;=<>→←↔∀∃∧∨¬≠≤≥×·λ↦▸|@? \n")
_TERM_WORD = re.compile(r"@\[|[^\W\d][\w'.!?]*|->|\d+|.", re.DOTALL)


def foreign_word(theorem: LeanTheorem) -> str | None:
    """The first word of a theorem that this package never writes, or that a proof of a user cannot contain; or None."""
    defined = [part for each in theorem.definitions for part in (each.name, each.type, each.value)]
    for text in (theorem.statement, *(() if theorem.own else (theorem.proof,)), *defined):
        for word in _WORD.findall(text):
            if not _OURS.fullmatch(word):
                return str(word)
    for word in _TERM_WORD.findall(theorem.proof) if theorem.own else ():
        known = word[0].isalnum() or word[0] == "_" or word in _TERM_SIGNS or word == "->"
        if not known or word in FORBIDDEN or word.partition(".")[0] in FORBIDDEN:
            return str(word)
    return None


_DECIDE = re.compile(r"tactic [`']decide[`'] ", re.IGNORECASE)  # a full Lean's error for a failed evaluation


def _judgements(run: subprocess.CompletedProcess[bytes], spans: Sequence[tuple[int, int]]) -> list[Judgement] | str:
    """A judgement for each span of lines (the last being ``#print axioms``), or why the run says nothing."""
    messages: list[_Message] = []
    for line in run.stdout.splitlines():
        try:
            messages.append(_MESSAGE.decode(line.decode("utf-8")))  # msgspec lets bad bytes pass in what it skips
        except (msgspec.DecodeError, UnicodeDecodeError):
            return f"Lean wrote a line that is not a message: {line[:200].decode('utf-8', 'replace')}"
    faults = [message for message in messages if message.severity != "information"]
    failed = any(message.severity == "error" for message in faults)
    if run.returncode not in (0, 1) or (run.returncode == 1) != failed:
        return f"Lean did not finish: {run.stderr[:200].decode('utf-8', 'replace')}"
    if any(not any(first <= m.pos.line <= last for first, last in spans) for m in messages):
        return "Lean said something about no theorem"
    return [_judgement(number, first, last, messages) for number, (first, last) in enumerate(spans)]


def _judgement(number: int, first: int, last: int, messages: Sequence[_Message]) -> Judgement:
    mine = [message for message in messages if first <= message.pos.line <= last]
    fault = next((message for message in mine if message.severity != "information"), None)
    if fault is not None:
        # If an evaluation does not give true, the wheel's Lean prints no error but that its report has no theorem.
        if fault.pos.line == last or _DECIDE.match(fault.data):
            return Judgement(False, "an evaluation in its proof does not give true", false=True)
        return Judgement(False, fault.data, line=fault.pos.line - first)
    if len(mine) != 1 or mine[0].pos.line != last:
        return Judgement(False, "there is not exactly one report of axioms, on the line that asked for it")
    said = rf"'(?:n{number}\.)?t{number}' (?:does not depend on any axioms|depends on axioms: \[(.*)\])"
    report = re.fullmatch(said, mine[0].data, re.DOTALL)
    if report is None:
        return Judgement(False, f"the report of axioms says {mine[0].data[:200]!r}")
    axioms = tuple(sorted({axiom.strip() for axiom in (report[1] or "").split(",") if axiom.strip()}))
    foreign = sorted(set(axioms) - AXIOMS)
    if foreign:
        return Judgement(False, f"the proof depends on the axioms {', '.join(foreign)}", axioms)
    return Judgement(True, "", axioms)
