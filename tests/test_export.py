"""Exports: an independent tool reads each back, and finds what was verified."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proof_r1_formal.assistants.certificate import Certificate
from proof_r1_formal.assistants.certify import Certification, certify
from proof_r1_formal.assistants.isar import isar_theory
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_file import file_stem, lean_file
from proof_r1_formal.cli import app
from proof_r1_formal.data.completions import Completion, encode
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import isabelle
from proof_r1_formal.render.lean import entailment
from proof_r1_formal.report.fitch import Row, derivation
from proof_r1_formal.report.layout import math, plain
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests import build
from tests.build import completion, example_completions, example_problems
from tests.patience import PATIENCE
from tests.render.test_tptp import status_by_e
from tests.report.test_fitch import require_rows_follow

NAME = json.dumps("Bo’s “50%_off” {\\}~^#&$ 中 ž é")
ASKED = "∃x:Person ∃y:Dog knows(x, y)"
ODD = build.problem(
    ("p two", f"∀x:Person (likes(x, {NAME}) → ∃y:Dog knows(x, y))"),
    ("h1", f"∃x:Person likes(x, {NAME})"),
    ("h3", "rains"),
    options={"Yes 1": ASKED, "no": "¬rains"},
    answer=None,
    id="odd 中/1",
)
PROBLEMS = {**example_problems(), ODD.id: ODD}
ANSWERS = example_completions()
ANSWERS.append(Completion(problem_id=ODD.id, completion=completion(("Yes 1", ["h1", "p two"], ASKED, "GOAL_BINDING"))))


def exported(to: str, folder: Path, *, answers: bool = True) -> dict[str, str]:
    """The text of each file, by its name without the suffix."""
    write_problems(folder / "problems.jsonl", PROBLEMS.values())
    (folder / "completions.jsonl").write_bytes(b"\n".join(map(encode, ANSWERS)))
    chosen = ["-c", str(folder / "completions.jsonl")] if answers else []
    arguments = ["export", "-p", str(folder / "problems.jsonl"), *chosen, "--to", to, "-o", str(folder / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == answers, result.output  # some of the answers have no file
    return {file.stem: file.read_text("utf-8") for file in (folder / "out").iterdir()}


@cache
def certified() -> dict[str, Certification]:
    """What certifying the answers gives, by the name of the file."""
    verifier = Verifier()
    return {
        file_stem(c.problem_id, c.sample): certify(verifier, PROBLEMS[c.problem_id], c.completion, sample=c.sample)
        for c in ANSWERS
    }


def proofs() -> dict[str, Certificate]:
    return {stem: c.certificate for stem, c in certified().items() if isinstance(c.certificate, Certificate)}


def questions() -> dict[str, Query]:
    return {
        file_stem(f"{problem.id}/{option.id}", 0): Query(tuple([p.formula for p in problem.premises]), option.formula)
        for problem in PROBLEMS.values()
        for option in problem.options
        if option.label != "Uncertain"
    }


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def run(*command: str | Path, folder: Path | None = None) -> str:
    """What a program writes."""
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


# -- TPTP and SMT-LIB -------------------------------------------------------------------------------------------------

_ANNOTATED = r"(?:fof|tff)\((\w+), (\w+), (.*?)(?:, inference\(consequence, \[status\(thm\)\], \[([\w, ]*)\]\))?\)\."


def test_each_step_of_a_derivation_is_a_theorem_for_e(tmp_path: Path) -> None:
    texts = exported("tptp", tmp_path)
    assert texts.keys() == proofs().keys()
    for stem, text in texts.items():
        assert status_by_e(text) == "Theorem"
        types = [line for line in text.splitlines() if ", type, " in line]
        language = "tff" if types else "fof"
        found = {
            name: (role, formula, parents)
            for name, role, formula, parents in re.findall(f"^{_ANNOTATED}$", text, re.MULTILINE)
            if role != "type"
        }
        steps = [name for name, (role, _, _) in found.items() if role == "plain"]
        assert len(steps) == len(proofs()[stem].steps)
        assert found[steps[-1]][1] == found["goal"][1]
        for step in steps:
            parents = found[step][2].split(", ")
            assert set(parents) <= set(list(found)[: list(found).index(step)]) - {"goal"}
            given_ = [f"{language}({name}, axiom, {found[name][1]})." for name in parents]
            asked = f"{language}(asked, conjecture, {found[step][1]})."
            assert status_by_e("\n".join([*types, *given_, asked])) == "Theorem"


def test_the_premises_of_an_answer_are_an_unsat_core_for_cvc5(tmp_path: Path) -> None:
    texts = exported("smt2", tmp_path)
    assert texts.keys() == proofs().keys()
    for stem, text in texts.items():
        said, core = run(program("cvc5"), tmp_path / "out" / f"{stem}.smt2").split("\n", 1)
        names = re.findall(r":named (\w+)\)\)", text)
        assert said == "unsat"
        assert set(core.strip("()\n").split()) <= set(names)
        used = {each for step in proofs()[stem].steps for each in step.dependencies}
        assert len(names) == len(used & proofs()[stem].premises.keys()) + 1
    assert "; not used: h3" in texts[file_stem(ODD.id, 0)]


def test_questions_have_the_answers_of_the_examples(tmp_path: Path) -> None:
    asked = exported("tptp", tmp_path, answers=False)
    assert asked.keys() == questions().keys()
    (tmp_path / "smt2").mkdir()
    exported("smt2", tmp_path / "smt2", answers=False)
    for problem in PROBLEMS.values():
        for option in problem.options:
            if option.label != "Uncertain" and problem.answer is not None:
                stem = file_stem(f"{problem.id}/{option.id}", 0)
                right = option.id == problem.answer
                assert status_by_e(asked[stem]) == ("Theorem" if right else "CounterSatisfiable")
                said = subprocess.run(
                    [program("cvc5"), "--finite-model-find", tmp_path / "smt2" / "out" / f"{stem}.smt2"],
                    capture_output=True,
                    text=True,
                    timeout=PATIENCE,
                    check=False,
                ).stdout
                assert said.split()[0] == ("unsat" if right else "sat")


# -- Lean and Isabelle ------------------------------------------------------------------------------------------------


def test_answers_for_lean_and_isabelle_are_their_certificates(tmp_path: Path) -> None:
    certificates = {stem: c.certificate for stem, c in certified().items() if c.certificate is not None}
    answers = {file_stem(c.problem_id, c.sample): (PROBLEMS[c.problem_id], c.sample) for c in ANSWERS}
    texts = {stem: lean_file(each, *answers[stem]) for stem, each in certificates.items()}
    assert exported("lean", tmp_path) == texts
    shutil.rmtree(tmp_path / "out")
    assert exported("isabelle", tmp_path) == {stem: isar_theory(each, stem) for stem, each in certificates.items()}


def test_lean_reads_a_question_as_a_proposition(lean: LeanKernel, tmp_path: Path) -> None:
    """One file can import them all, because each has a namespace of its own."""
    texts = exported("lean", tmp_path, answers=False)
    shutil.copytree(lean._theory, tmp_path / "built")
    (tmp_path / "out" / "All.lean").write_text("".join([f"import {stem}\n" for stem in texts]), encoding="utf-8")
    for stem in (*texts, "All"):
        compiled, source = tmp_path / "built" / f"{stem}.olean", tmp_path / "out" / f"{stem}.lean"
        said = lean._run([f"--root={source.parent}", "-o", str(compiled), str(source)], tmp_path / "built", PATIENCE)
        assert (said.returncode, said.stdout) == (0, b"")
    for stem, text in texts.items():
        statement = entailment(questions()[stem].dependencies, questions()[stem].conclusion)
        assert text.endswith(f"namespace {stem}\n\ndef Statement : Prop :=\n  {statement}\n\nend {stem}\n")


def test_a_question_for_isabelle_is_that_of_the_solver(tmp_path: Path) -> None:
    for stem, text in exported("isabelle", tmp_path, answers=False).items():
        statement = re.split(r"  (?:using|by) ", isabelle.query_theory(questions()[stem], stem))[0]
        labelled = re.sub(r"\b(?:d\d+|h_\w+): ", "d: ", text)
        assert labelled == f"{re.sub(r'd[0-9]+: ', 'd: ', statement).replace('lemma q', 'lemma answer')}  oops\n\nend\n"


# -- for people -------------------------------------------------------------------------------------------------------


def test_the_text_of_a_proof_reads_back_as_its_rows(tmp_path: Path) -> None:
    texts = exported("fitch", tmp_path)
    assert texts.keys() == proofs().keys()
    for stem, text in texts.items():
        certificate = proofs()[stem]
        steps = [(step.id, step.dependencies, step.formula, step.proof) for step in certificate.steps]
        used = {id_: f for id_, f in certificate.premises.items() if any(id_ in step[1] for step in steps)}
        rows = read_rows(text.split("\n", 1)[1])
        assert rows == derivation(used, steps)
        require_rows_follow(rows, len(used))
        assert rows[-1].text == show(certificate.goal)


def test_an_exported_question_for_people_ends_with_its_goal(tmp_path: Path) -> None:
    """The goal stands on the level of the premises, and no row says that it is proved."""
    texts = exported("fitch", tmp_path, answers=False)
    assert texts.keys() == questions().keys()
    for stem, text in texts.items():
        asked = questions()[stem]
        rows = read_rows(text.split("\n", 1)[1])
        *given, goal = rows
        assert [row.text for row in given] == [show(formula) for formula in asked.dependencies]
        assert goal == Row(len(rows), 0, show(asked.conclusion), "to prove")


def read_rows(text: str) -> tuple[Row, ...]:
    """The rows of a laid-out proof, and under each assumption and the last premise, a line."""
    rows: list[Row] = []
    for line in text.splitlines():
        if line.endswith("├─"):
            assert rows[-1].depth == line.count("│"), "the line belongs to the row above"
            continue
        found = re.fullmatch(
            r" *(\d*) ((?:│ )+)(\[?)(.*?)\]?  +(\S.*?)((?: \d+(?:, \d+)*)?)(?:(?:,)? (\d+)–(\d+))?", line
        )
        assert found, line
        number, bars, _, shown, reason, uses, first, last = found.groups()
        block = (int(first), int(last)) if first else None
        numbers = tuple(map(int, re.findall(r"\d+", uses)))
        rows.append(Row(int(number or 0), len(bars) // 2 - 1, shown, reason, numbers, block))
    return tuple(rows)


def test_latex_compiles(tmp_path: Path) -> None:
    for answers in (True, False):
        for stem in exported("latex", tmp_path, answers=answers):
            if stem.startswith(("Odd", "Garden_1")):
                command = ("-interaction=nonstopmode", "-halt-on-error", f"{stem}.tex")
                assert "Output written" in run(program("pdflatex"), *command, folder=tmp_path / "out")
        shutil.rmtree(tmp_path / "out")


def test_a_formula_in_latex_has_its_signs_escaped() -> None:
    name = json.dumps("50%_off {\\}~^#&$ é")
    formula = parse_formula(f"¬likes(x, {name}) ∧ ∃y p_1(y)")
    quoted = r'\textit{"50\%\_off \{\textbackslash{}\textbackslash{}\}\~{}\^{}\#\&\$ \textbackslash{}u00e9"}'
    first, second = r"\lnot \textit{likes}(\textit{x},\ ", r")\land \exists \textit{y}\ \textit{p\_1}(\textit{y})"
    assert math(show(formula)) == f"{first}{quoted}{second}"


def test_a_long_formula_moves_its_own_reason_only() -> None:
    rows = (Row(1, 0, "p", "h1"), Row(2, 0, "q" * 100, "h2"))
    assert [line.index("h") for line in plain(rows, premises=2).splitlines()[:2]] == [82, 106]
