"""Isabelle as a kernel: what its builds say of theories; with a program in its place, as it is not here."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from proof_r1_formal.assistants import isabelle as isabelle_module
from proof_r1_formal.assistants.isabelle import IsabelleKernel
from proof_r1_formal.assistants.theories import check_schemata_in_isabelle, manifest_of, schema_theory, with_isabelle
from proof_r1_formal.errors import SolverError
from proof_r1_formal.render import isabelle as render
from proof_r1_formal.rules.catalogue import FOLIO

pytestmark = pytest.mark.usefixtures("closed")

PRETENDER = """#!{python}
import pathlib, sys

if sys.argv[1:] == ["version"]:
    print("Isabelle2099")
    sys.exit(0)
assert sys.argv[1:4] == ["build", "-c", "-D"], sys.argv
folder = pathlib.Path(sys.argv[4])
root = (folder / "ROOT").read_text()
assert root.startswith("session Proof_R1_Check = HOL +\\n  description "), root
assert (folder / "document" / "root.tex").is_file()
assert (folder / "Proof_R1.thy").is_file()
for name in root.partition("  theories\\n")[2].partition("  document_files")[0].split():
    text = (folder / (name + ".thy")).read_text()
    while "Hang" in text:
        pass
    if "Fails" in text:
        print("Building Proof_R1_Check ...")
        print("*** Failed to finish proof")
        print("*** At command 'by'")
        print("WARNING: a Java machine that says much " * 100, file=sys.stderr)
        sys.exit(1)
"""


@pytest.fixture
def pretender(tmp_path: Path) -> IsabelleKernel:
    program = tmp_path / "isabelle"
    program.write_text(PRETENDER.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    found = IsabelleKernel.find(str(program))
    assert found is not None
    return found


def test_who_fails_is_found_and_the_others_are_accepted(
    pretender: IsabelleKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isabelle_module, "SECONDS", 2.0)
    monkeypatch.setattr(isabelle_module, "SECONDS_EACH", 0.0)
    theories = {f"T{n}": word for n, word in enumerate(("good", "Fails", "good", "Hang", "good"))}
    judgements = pretender.check(theories)
    assert pretender.version == "Isabelle2099"
    assert [judgements[name].accepted for name in theories] == [True, False, True, False, True]
    assert judgements["T1"].reason == "Isabelle does not build it: Failed to finish proof\nAt command 'by'"
    assert judgements["T3"].reason == "Isabelle ran out of time"
    assert pretender.check({}) == {}


def test_every_schema_has_a_theory_with_a_gate(pretender: IsabelleKernel) -> None:
    judgements = check_schemata_in_isabelle(pretender, FOLIO)
    assert len(judgements) == sum(len(rule.schemata) for rule in FOLIO.rules)
    assert all(judgement.accepted for judgement in judgements.values())
    for rule in FOLIO.rules:
        for schema in rule.schemata:
            text = schema_theory(schema, "Schema")
            assert f"by (rule {schema.isabelle}[" in text
            assert render.schema_statement(schema.premises, schema.conclusion) in text
            assert "Thm_Deps.all_oracles [@{thm again}]" in text
    manifest = with_isabelle(manifest_of(FOLIO, "Lean", judgements), FOLIO, judgements)
    assert {entry.isabelle for entry in manifest.schemata.values()} == {
        schema.isabelle for rule in FOLIO.rules for schema in rule.schemata
    }


def test_what_does_not_say_its_version_is_no_isabelle(tmp_path: Path) -> None:
    program = tmp_path / "isabelle"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit(3)\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(SolverError, match="does not say its version"):
        IsabelleKernel.find(str(program))
    assert IsabelleKernel.find(str(tmp_path / "nowhere")) is None
