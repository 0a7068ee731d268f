"""Short names in files for Lean: no two names become one, Lean reads them, and a reader finds the formulas again."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.assistants.certificate import Style
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_file import lean_file
from proof_r1_formal.assistants.lean_names import KEYWORDS, WORD, short_names
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.signature import mangle
from proof_r1_formal.kernel.syntax import Atom, const
from proof_r1_formal.render import lean as render
from proof_r1_formal.testing import strategies
from tests.assistants.test_lean_file import certificates, read
from tests.render.test_lean_render import read_entailment

ODD = (*sorted(KEYWORDS), "p_cat", "And", "h1", "x", "z0", "Entity", "id", "none")
NAMES = strategies.names() | st.sampled_from(ODD)
PREFIXED = st.tuples(NAMES, st.sampled_from("psfhdxit")).map(lambda pair: mangle(*pair))


@given(st.lists(PREFIXED | st.sampled_from(["And", "h1", "fun", "ProofR1.step", "z0", "x0", "Tom"]), max_size=9))
def test_different_names_stay_different(names: list[str]) -> None:
    found = short_names(" ".join(names)).split()
    renamed = dict(zip(names, found, strict=True))
    assert len(set(renamed.values())) == len(renamed)
    for name, short in renamed.items():
        if name != short:
            assert mangle(short, name[0]) == name
            assert short not in {*names, *KEYWORDS}
    assert short_names(" ".join(found)).split() == found


@given(strategies.signatures(symbols=NAMES).flatmap(strategies.queries))
def test_statements_read_back(query: Query) -> None:
    statement = render.entailment(query.dependencies, query.conclusion)
    short = short_names(statement)
    names = prefixed(short)
    again = WORD.sub(lambda word: names.get(word[0], word[0]), short)
    assert read_entailment(again) == read_entailment(statement)


def prefixed(statement: str) -> dict[str, str]:
    """The names that a statement binds, each with the prefix of its kind, which its type says."""
    head, body = re.split(r",\s+", statement, maxsplit=1)
    found = {}
    for name, type_ in re.findall(r"\(([^() ]+) : ([^()]*)\)", head):
        found[name] = long(name, "s" if type_ == "Type" else "p" if type_.endswith("Prop") else "f")
    for name, sort in re.findall(r"(?:∀|fun) ([^() ]+) : ([^(), ]+)", body):
        of = "" if found[sort] == "s_Entity" else f"'{found[sort]}"
        found[name] = long(name, "x", of)
    return found


def long(name: str, kind: str, sort: str = "") -> str:
    """A name with its prefix, unless it has one or is one that the package makes."""
    return name if re.match("[psfix]_|z[0-9]", name) else f"{kind}_{name}{sort}"


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("(p_cat f_tom)", "(cat tom)"),
        ("(p_Tiger f_Tiger)", "(Tiger f_Tiger)"),
        ("(p_h1 f_h) h_h1 h1 h", "(p_h1 f_h) h_h1 h1 h"),
        ("p_if p_ProofR1 p_step ProofR1.step", "p_if p_ProofR1 p_step ProofR1.step"),
        ("∀ x_x : s_Cat, x_x's_Dog", "∀ x : Cat, x_x's_Dog"),
        ("∀ x_y's_Dog : s_Dog", "∀ y : Dog"),
        ("f__015azl_0119z_017ca p_3d p_a_b p_p_q p_z0", "f__015azl_0119z_017ca p_3d p_a_b p_p_q p_z0"),
        ("p_cat\n  -- p_cat: “p_cat”\n/-- p_cat -/\np_cat", "cat\n  -- p_cat: “p_cat”\n/-- p_cat -/\ncat"),
    ],
)
def test_which_names_are_short(text: str, short: str) -> None:
    assert short_names(text) == short


@pytest.mark.parametrize("style", ["shallow", "reflect"])
def test_files_with_short_names_build(lean: LeanKernel, tmp_path: Path, style: Style) -> None:
    built = tmp_path / "built"
    shutil.copytree(lean._theory, built)
    for number in (0, 2, 5):
        certificate, problem, sample = certificates()[number]
        text = lean_file(certificate, problem, sample, style=style, short=True)
        assert not re.search(r"\b[psfd]_[A-Za-z]", text)
        (tmp_path / "File.lean").write_text(text, encoding="utf-8")
        assert read(lean, tmp_path, "File", built)


def test_lean_reads_what_is_short(lean: LeanKernel, tmp_path: Path) -> None:
    """Names of Lean's own constants become short; keywords keep their prefixes."""
    known = ("none", "id", "not", "and", "Nat", "rfl", "absurd", "Iff", "true", "trivial", "Sum", "main", "answer")
    lines = []
    for number, name in enumerate(dict.fromkeys([*known, *sorted(KEYWORDS)])):
        claim = Atom(name, (const(name),))
        statement = render.entailment([claim, Atom("other", ())], claim)
        binders = statement.partition(",")[0].removeprefix("∀ ")
        stated = f"theorem t{number} {binders} (h_h : {render.formula(claim)}) : {render.formula(claim)} := h_h"
        lines.append(short_names(stated))
        assert (f"({name} : Entity → Prop)" in lines[-1]) == (name not in KEYWORDS)
    head = ["import Init", "set_option linter.unusedVariables false"]
    (tmp_path / "Names.lean").write_text("\n".join([*head, *lines]), encoding="utf-8")
    assert read(lean, tmp_path, "Names", lean._theory) == []
