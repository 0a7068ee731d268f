"""No completion text stops a run: half of a surrogate pair, control characters and escapes are findings, not errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from typer.testing import CliRunner

from proof_r1_formal.cli import app
from proof_r1_formal.data.completions import Completion, write_completions
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.proof.action import FIELDS
from proof_r1_formal.proof.report import Code, decode
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.text.parse import parse_formula
from tests.build import completion, problem

PROBLEM = problem("p(a)", "p(a) → q(a)", goal="q(a)")
VERIFIER = Verifier()
HALF = '"\\ud800"'
"""A name in quotes that is written with an escape: the text of the conclusion is ASCII."""


def summary(*conclusions: str, raw: bool = False) -> str:
    """A right proof whose answer also rests on a disjunction with each conclusion."""
    steps = [(f"s{n}", ["h1"], text, "DISJUNCTION_INTRODUCTION") for n, text in enumerate(conclusions, 1)]
    names = ["h1", "h2", *[name for name, *_ in steps]][:4]
    steps.append(("h_goal_true", names, "q(a)", "GOAL_BINDING"))
    return completion(*steps, thoughts="\ud800", escaped=not raw)


anything = st.text(st.characters(exclude_categories=()), max_size=12)
"""Any string that Python can hold: halves of surrogate pairs, control characters, characters outside of the BMP."""


@st.composite
def completions(draw: DrawFn) -> str:
    """Proofs with any names and fields, summaries with any JSON, and any text."""
    names = st.builds(lambda name, ascii_: json.dumps(name, ensure_ascii=ascii_), anything, st.booleans())
    conclusions = st.builds("p(a) ∨ {}({})".format, names, names) | names | anything
    proofs = st.builds(lambda found, raw: summary(*found, raw=raw), st.lists(conclusions, max_size=3), st.booleans())
    fields = st.sampled_from(FIELDS) | anything
    value = st.recursive(anything | st.none() | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=4)
    records = st.lists(st.dictionaries(fields, value, max_size=5), max_size=3)
    return draw(proofs | records.map(lambda found: completion(*found)) | anything)


# -- the class: names that cannot be written --------------------------------------------------------------------------


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("conclusion", [f"{HALF}(a)", "\ud800(a)", '"\ud800"(a)', 'p("\\udc00")', '∀"\\uDBFF". p(a)'])
def test_half_of_a_surrogate_pair_in_a_conclusion_is_a_finding(conclusion: str, raw: bool) -> None:
    report = VERIFIER.verify(PROBLEM, summary(conclusion, raw=raw))
    step, last = report.actions
    assert [finding.code for finding in step.findings] in ([Code.UNPARSABLE_CONCLUSION], [Code.WRONG_TYPE])
    assert not step.schema
    assert last.schema
    assert report.answer == "h_goal_true"


def test_a_whole_pair_is_a_character() -> None:
    assert parse_formula('"\\ud83d\\udc08"(a)') is parse_formula('"🐈"(a)')


# -- the property -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("any")
    write_problems(path / "problems.jsonl", [PROBLEM])
    return path


def run(*arguments: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, result.exception) == (0, None), result.output


@settings(max_examples=15)
@given(st.lists(completions(), min_size=1, max_size=12))
@example([summary(f"{HALF}(a)"), "\ud800", "\0\x1b[2J", "<summary>[" + "[" * 100_000])
def test_no_completion_text_stops_a_command(folder: Path, texts: list[str]) -> None:
    path = folder / "completions.jsonl"
    write_completions(path, [Completion(problem_id=PROBLEM.id, sample=n, completion=t) for n, t in enumerate(texts)])
    inputs = ("--problems", str(folder / "problems.jsonl"), "--completions", str(path))
    for out in folder.glob("*.out"):
        out.unlink()
    run("verify", *inputs, "--out", str(folder / "reports.out"))
    reports = [decode(line) for line in (folder / "reports.out").read_bytes().splitlines()]
    assert [report.sample for report in reports] == [*range(len(texts))]
    assert [report.actions for report in reports] == [VERIFIER.verify(PROBLEM, text).actions for text in texts]
    run("show", *inputs, "--id", PROBLEM.id)
    run("report", *inputs, "--out", str(folder / "page.out"))
    run("certify", *inputs, "--kernel", "none", "--out", str(folder / "proofs"), "--bundle", str(folder / "b.out"))
    run("best", *inputs, "--out", str(folder / "best.out"))
    run("evaluate", *inputs, "--json", str(folder / "t.out"), "--markdown", str(folder / "m.out"))
