"""The Isabelle theories state what the schemata and the Lean theorems state, and Isabelle builds them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from proof_r1_formal.assistants.isabelle import root, write_session
from proof_r1_formal.assistants.theories import schema_theory
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.transform import alpha_normal, rename
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO, catalogue
from proof_r1_formal.rules.schema import Schema
from tests.assistants.isabelle_terms import SCHEMATIC
from tests.assistants.isar_certificates import QUERIES, answer_theory, certified_trace, one_step, proved, rule_instance
from tests.assistants.isar_reader import LOGIC, SCHEMATA, THEORIES, Lemma, read_theory
from tests.build import sequent

LEAN = resource("theories") / "lean" / "ProofR1"
OWN = Path(__file__).resolve().parents[2] / "examples" / "own.toml"


# -- the theories -----------------------------------------------------------------------------------------------------

FILES = sorted(THEORIES.glob("*.thy"))
ALL_SCHEMATA = [each for rule_ in COMPLETE.rules for each in rule_.schemata]


def plain(formula: Formula) -> Formula:
    """A lemma's pattern as a schema's: without the mark of its variables."""
    names = {name: name.removeprefix(SCHEMATIC) for name, _ in symbols(formula).uses}
    return rename(formula, names, names)


def stated(lemma: Lemma) -> tuple[tuple[Formula, ...], Formula]:
    return tuple(alpha_normal(plain(part)) for part in lemma.premises), alpha_normal(plain(lemma.conclusion))


def patterns(premises: Iterable[Formula], conclusion: Formula) -> tuple[tuple[Formula, ...], Formula]:
    return tuple(map(alpha_normal, premises)), alpha_normal(conclusion)


@pytest.mark.parametrize("schema", ALL_SCHEMATA, ids=lambda each: each.name)
def test_every_schema_is_a_lemma_that_says_the_same(schema: Schema) -> None:
    assert schema.isabelle == schema.lean
    assert stated(SCHEMATA[schema.isabelle]) == patterns(schema.premises, schema.conclusion)


def lean_theorems(module: str) -> set[str]:
    return set(re.findall(r"^theorem (\w+)\b(?! [a-z])", (LEAN / f"{module}.lean").read_text(), re.MULTILINE))


def test_the_lemmas_are_those_of_lean() -> None:
    assert SCHEMATA.keys() == lean_theorems("Schemata") == {each.isabelle for each in ALL_SCHEMATA}
    assert LOGIC.keys() - lean_theorems("Logic") == {"not_false", "leibniz"}  # Lean has terms in their place
    assert lean_theorems("Logic") <= LOGIC.keys()


@pytest.mark.parametrize("name", [*LOGIC, *SCHEMATA])
def test_every_lemma_has_a_proof_in_the_calculus(name: str) -> None:
    premises, conclusion = stated((LOGIC | SCHEMATA)[name])
    assert not any(formula.free for formula in (*premises, conclusion))
    proved(Query(premises, conclusion))


def test_the_theories_are_of_one_piece() -> None:
    text = (THEORIES / "ROOT").read_text()
    (description,) = re.findall(r"description \\<open>(.*)\\<close>", text)
    assert text == root("Proof_R1", description, ["Proof_R1"])
    assert (THEORIES / "document" / "root.tex").is_file()
    imported = {"Proof_R1"}
    for file in FILES:
        head = re.match(r"theory (\w+)\n  imports ([\w ]+)\nbegin\n", file.read_text())
        assert head
        assert head[1] == file.stem
        assert file.read_text().endswith("\nend\n")
        assert file.read_text().isascii()
        imported |= set(head[2].split())
    assert imported - {"Main"} == {file.stem for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_is_taken_on_trust(file: Path) -> None:
    text = file.read_text()
    words = set(re.findall(r"\w+", re.sub(r"\\<open>.*?\\<close>", "", text.split("\nML ")[0], flags=re.DOTALL)))
    assert not words & {"axiomatization", "oracle", "sorry", "oops", "typedecl", "consts", "eval", "code", "ML_file"}
    names = re.findall(r"^(?:lemma|theorem) (\w+)", text, re.MULTILINE)
    gates = re.findall(r"@\{thms([^}]*)\}", text)
    assert text.count("lemma ") + text.count("theorem ") >= len(names)
    assert [name for gate in gates for name in gate.split()] == names
    assert len(gates) == (1 if names else 0)


def test_schemata_of_ones_own_have_structured_proofs() -> None:
    """No lemma of the theory says what they say, so the proof that is found is written down."""
    for rule in catalogue(str(OWN)).rules:
        for schema in rule.schemata:
            if schema.name in SCHEMATA:
                continue
            read = read_theory(schema_theory(schema, "Own").replace("again", "answer"), "Own")
            shown = patterns(read.premises.values(), read.conclusion)
            assert shown == patterns(schema.premises, schema.conclusion)


# -- Isabelle itself --------------------------------------------------------------------------------------------------


def build(folder: Path) -> None:
    program = shutil.which("isabelle")
    if program is None:
        pytest.skip("Isabelle is not on PATH; get it at https://isabelle.in.tum.de")
    done = subprocess.run([program, "build", "-v", "-D", str(folder)], capture_output=True, text=True, timeout=1_800)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.isabelle
def test_isabelle_builds_the_theories() -> None:
    build(THEORIES)


@pytest.mark.isabelle
def test_isabelle_accepts_schemata_and_certificates(tmp_path: Path) -> None:
    certificates = [one_step(sequent(text), proved(sequent(text))) for text in QUERIES]
    certificates += [*map(rule_instance, FOLIO.rules), certified_trace()]
    theories = {f"Answer{n}": answer_theory(each, f"Answer{n}") for n, each in enumerate(certificates)}
    theories |= {f"Schema{n}": schema_theory(schema, f"Schema{n}") for n, schema in enumerate(ALL_SCHEMATA)}
    write_session(tmp_path, "Proof_R1_Answers", theories)
    build(tmp_path)
