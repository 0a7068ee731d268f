"""Files of certificates: Lean reads each by itself and all together, and they say what they are about."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.assistants.certificate import AnyCertificate, Certificate, Style
from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.assistants.lean import MODULES, LeanKernel
from proof_r1_formal.assistants.lean_file import PACKAGE, Package, file_stem, lean_file, write_package
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import DataError
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import isabelle
from tests.build import example_answers

HOSTILE = "x\naxiom oops : False -/ /- \r\u2028\u202eé"


def certificates() -> list[tuple[AnyCertificate, Problem, int]]:
    """Those of the examples."""
    asked = example_answers()
    found = [(certify(Verifier(), problem, c.completion).certificate, problem, c.sample) for problem, c in asked]
    return [(certificate, problem, sample) for certificate, problem, sample in found if certificate is not None]


def read(lean: LeanKernel, root: Path, module: str, known: Path) -> list[str]:
    """What Lean says of a module, with its linters; it becomes one of those in the folder that it imports from."""
    compiled = known / f"{module}.olean"
    compiled.parent.mkdir(exist_ok=True)
    run = lean._run(["--json", f"--root={root}", "-o", str(compiled), str(root / f"{module}.lean")], known, 120.0)
    said = [json.loads(line) for line in run.stdout.splitlines()]
    assert [message["data"] for message in said if message["severity"] != "information"] == []
    assert run.returncode == 0, run.stderr
    return [message["data"] for message in said]


def test_a_package_of_certificates_builds(lean: LeanKernel, tmp_path: Path) -> None:
    found = {f"{PACKAGE}/{file_stem(each[1].id, each[2])}": each for each in certificates()[:6]}
    package, built = tmp_path / "package", tmp_path / "built"
    (package / PACKAGE).mkdir(parents=True)
    for module, (certificate, problem, sample) in found.items():
        text = lean_file(certificate, replace(problem, question=HOSTILE), sample)
        (package / f"{module}.lean").write_text(text, encoding="utf-8")
    write_package(package, {module.removeprefix(f"{PACKAGE}/"): HOSTILE for module in found})
    shutil.copytree(lean._theory, built)
    reports = [said for module in found for said in read(lean, package, module, built)]
    assert len(reports) == 2 * len(found)
    assert reports[0] == "'Garden_1_0.answer' does not depend on any axioms"
    assert read(lean, package, PACKAGE, built) == []  # it imports them all
    assert all((package / f"{module}.lean").is_file() for module in MODULES)
    libraries = tomllib.loads((package / "lakefile.toml").read_text(encoding="utf-8"))["lean_lib"]
    assert [library["name"] for library in libraries] == ["ProofR1", PACKAGE]
    assert (package / "lean-toolchain").read_text() == "leanprover/lean4:v4.35.0\n"


def test_packages_with_names_of_their_own_build_in_one_project(lean: LeanKernel, tmp_path: Path) -> None:
    """Both answer the same problem and require the same theory, as in a Lake project that requires both."""
    certificate, problem, sample = certificates()[0]
    stem, built = file_stem(problem.id, sample), tmp_path / "built"
    shutil.copytree(lean._theory, built)
    theory = tmp_path / "theory"
    theory.mkdir()
    (theory / "lakefile.toml").write_text('name = "ProofR1"\n', encoding="utf-8")
    for name in ("Mine", "Yours"):
        package = Package(name, require=str(theory))
        folder = tmp_path / name
        (folder / name).mkdir(parents=True)
        text = lean_file(certificate, problem, sample, package=package)
        (folder / name / f"{stem}.lean").write_text(text, encoding="utf-8")
        write_package(folder, {stem: problem.question}, package)
        assert not (folder / "ProofR1.lean").exists()
        lake = tomllib.loads((folder / "lakefile.toml").read_text(encoding="utf-8"))
        assert (lake["name"], lake["defaultTargets"], lake["lean_lib"]) == (name, [name], [{"name": name}])
        assert lake["require"] == [{"name": "ProofR1", "path": "../theory"}]
        read(lean, folder, f"{name}/{stem}", built)
        read(lean, folder, name, built)
    both = f"import Mine\nimport Yours\n#print axioms Mine.{stem}.answer\n#print axioms Yours.{stem}.answer\n"
    (tmp_path / "Both.lean").write_text(both, encoding="utf-8")
    assert len(read(lean, tmp_path, "Both", built)) == 2


def test_names_of_packages_and_places_of_the_theory() -> None:
    for wrong in ("", "mine", "ProofR1", "Lean", "My_Proofs", "A b", "Ä", "A\n"):
        with pytest.raises(ValueError, match="is not a name: a capital"):
            Package(wrong)
    url = 'https://example.org/a"b.git'
    lake = tomllib.loads(Package("Mine", require=url).lakefile(Path()))
    assert lake["require"] == [{"name": "ProofR1", "git": url, "subDir": "theories/lean"}]
    with pytest.raises(DataError, match="it has no lakefile"):
        Package("Mine", require="no/such/folder").lakefile(Path())
    assert [Package().session, Package("Mine").session] == ["Proof_R1_Certificates", "Proof_R1_Mine"]


@pytest.mark.parametrize(("style", "lines"), [("shallow", 520), ("reflect", 2300)])
def test_a_standalone_file_needs_no_theory(lean: LeanKernel, tmp_path: Path, style: Style, lines: int) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    for file in lean._theory.glob("Init.*"):
        shutil.copy(file, alone)
    for certificate, problem, sample in [certificates()[number] for number in (2, 5)]:  # an answer, and an open one
        text = lean_file(certificate, problem, sample, style=style, standalone=True)
        assert "import" not in text
        assert text.count("\n") < lines
        (tmp_path / "File.lean").write_text(text, encoding="utf-8")
        both = style == "reflect" and isinstance(certificate, Certificate)  # one theorem states two things
        assert len(read(lean, tmp_path, "File", alone)) == (1 if both else 2)


def test_premises_have_their_sentences_beside_them() -> None:
    certificate, problem, _ = certificates()[2]
    lines = lean_file(certificate, problem).splitlines()
    at = lines.index("  (h_h2 : (p_has_rake f_Tilo))")
    assert lines[at - 1] == "  -- h2: has_rake(Tilo) “Tilo has a rake.”"
    assert lines[lines.index("  : (Not (p_prunes_hedge f_Tilo)) :=") - 1] == "  -- the answer: ¬prunes_hedge(Tilo)"
    assert [len([line for line in lines if f"-- {p.id}: " in line]) for p in problem.premises] == [2, 2, 2, 2, 1]
    reflected = lean_file(certificate, problem, style="reflect").splitlines()
    assert [line for line in reflected if "-- h5: " in line] == ["-- h5: has_rake(Ute) “Ute has a rake.”"]
    assert reflected[reflected.index("-- h5: has_rake(Ute) “Ute has a rake.”") + 1].startswith("def h_h5 : ")
    assert reflected[reflected.index("-- the answer: ¬prunes_hedge(Tilo)") + 1].startswith("def goal : ")
    assert [line.split(" ")[1] for line in reflected if line.startswith("theorem ")] == ["answer_sound"]
    assert len([line for line in reflected if " : Nat := " in line]) == 7


@pytest.mark.parametrize("style", ["shallow", "reflect"])
def test_no_text_of_a_problem_leaves_its_comment(style: Style) -> None:
    for certificate, problem, _ in certificates():
        premises = tuple([replace(premise, text=HOSTILE, source=HOSTILE) for premise in problem.premises])
        text = lean_file(certificate, replace(problem, question=HOSTILE, premises=premises), style=style)
        said = [line.strip() for line in text.split("\n") if "oops" in line]
        assert len(said) > len(premises)
        assert all(re.match(r"-- .*x\\naxiom oops : False -/ /- \\r\\u2028\\u202eé", line) for line in said)
        assert not set(text) & {"\r", "\u2028", "\u202e"}


def test_ids_of_steps_stay_in_their_comment() -> None:
    certificate, problem, _ = certificates()[0]
    assert isinstance(certificate, Certificate)
    *steps, last = certificate.steps
    changed = replace(certificate, steps=(*steps, replace(last, id=HOSTILE)))
    lines = lean_file(changed, problem, style="reflect").split("\n")
    assert [line[:3] for line in lines if "oops" in line] == ["-- "]


@given(st.lists(st.tuples(st.text(min_size=1) | st.sampled_from(("a/1", "A/1", "a_1", "a/1/0")), st.integers(0, 2))))
def test_names_of_certificates_differ(answers: list[tuple[str, int]]) -> None:
    names = {answer: file_stem(*answer) for answer in answers}
    assert len({name.casefold() for name in names.values()}) == len(names)
    for name in names.values():
        assert re.fullmatch(r"[A-Z][A-Za-z0-9_]*_[0-9]+", name)
        assert isabelle.theory(name).startswith(f"theory {name}\n")


def test_a_name_that_looks_like_one_with_a_hash_has_its_own() -> None:
    marked = file_stem("A", 0).removesuffix("_0").lower().replace("_", "/")
    assert file_stem(marked, 0) != file_stem("A", 0)
    assert file_stem("garden/2", 1) == "Garden_2_1"
