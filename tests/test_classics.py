"""Classical problems in files of TPTP and Prover9: each becomes a theorem of Lean by one command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proof_r1_formal.assistants.certificate import AnyCertificate, Certificate, OpenCertificate
from proof_r1_formal.assistants.engine_certificate import NoCertificate, certify_problem
from proof_r1_formal.assistants.lean import LeanKernel, LeanTheorem
from proof_r1_formal.cli import app
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.kernel.syntax import Not
from proof_r1_formal.proof.verify import Verifier
from tests.assistants.test_corrupted_certificates import stated

FOLDER = Path(__file__).resolve().parent / "classics"
FILES = sorted([*FOLDER.glob("*.p"), *FOLDER.glob("*.in")])
OPEN = {"pets/loner", "loner/1"}
"""The problems whose goal does not follow."""


def certified(problem: Problem) -> AnyCertificate:
    found = certify_problem(Verifier(), problem)
    assert not isinstance(found, NoCertificate)
    return found


@pytest.fixture(scope="module")
def run(lean: LeanKernel, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], Path]:
    """What the command says of each problem, and the folder that it writes."""
    folder = tmp_path_factory.mktemp("package")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LeanKernel, "find", lambda *_: lean)
        result = CliRunner().invoke(app, ["certify", *map(str, FILES), "-o", str(folder)])
    assert result.exit_code == 0, result.output
    return dict(line.split(": ", 1) for line in result.stdout.splitlines() if ": " in line and "/" in line[:40]), folder


def test_there_are_twenty_files() -> None:
    assert len(FILES) == 20
    assert {file.suffix for file in FILES} == {".p", ".in"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_becomes_a_theorem(file: Path, run: tuple[dict[str, str], Path]) -> None:
    said, _ = run
    for name in read_problems(file):
        wanted = "goal_fails, negation_fails" if name in OPEN else "answer"
        assert said[name].startswith(f"theorem: {wanted}, by ")


def test_lean_reads_what_is_written(lean: LeanKernel, run: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    _, folder = run
    texts = [file.read_text(encoding="utf-8") for file in sorted((folder / "Certificates").glob("*.lean"))]
    assert len(texts) == sum(len(read_problems(file)) for file in FILES)
    head = texts[0].partition("\n\n")[0]
    assert all(text.startswith(head) for text in texts)
    (tmp_path / "All.lean").write_text(head + "".join([text.removeprefix(head) for text in texts]), encoding="utf-8")
    said = lean._run(["--json", str(tmp_path / "All.lean")], lean._theory, 300.0)
    messages = [json.loads(line) for line in said.stdout.splitlines()]
    assert [each["data"] for each in messages if each["severity"] != "information"] == []
    reports = [each["data"] for each in messages]
    assert len(reports) == sum(text.count("\n#print axioms ") for text in texts)
    assert all("sorryAx" not in each for each in reports)


def corrupted(certificate: AnyCertificate) -> Iterator[LeanTheorem]:
    """The proofs of a certificate under another goal, without a premise that they use, or with models exchanged."""
    match certificate:
        case Certificate(premises=premises, goal=goal, steps=steps):
            answer = certificate.answer()
            known = {name: premises[name] for step in steps for name in step.dependencies if name in premises}
            for name, formula in {**known, "": goal}.items():
                old = {**known, "": goal}
                statement = stated(answer.statement, old, {**old, name: Not(formula)})
                yield LeanTheorem(statement, answer.proof)
        case OpenCertificate(model_of_negation=one, model_of_goal=other):
            yield from replace(certificate, model_of_negation=other, model_of_goal=one).theorems().values()


def test_lean_rejects_corrupted_certificates(lean: LeanKernel) -> None:
    known = [certified(problem) for file in FILES for problem in read_problems(file).values()]
    wrong = [each for certificate in known for each in corrupted(certificate)]
    assert len(wrong) > 3 * len(FILES)
    judged = lean.check(wrong)
    assert [each.statement for each, judgement in zip(wrong, judged, strict=True) if judgement.accepted] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_corrupted_file_has_no_such_theorem(file: Path, tmp_path: Path) -> None:
    """What a proof rests on is taken away: the theorem is another one, or there is none."""
    for problem in read_problems(file).values():
        certificate = certified(problem)
        if isinstance(certificate, Certificate) and certificate.steps[0].dependencies:
            kept = tuple([p for p in problem.premises if p.id not in certificate.steps[0].dependencies])
            left = certify_problem(Verifier(), replace(problem, premises=kept))
            assert not (isinstance(left, Certificate) and left.goal is certificate.goal)
