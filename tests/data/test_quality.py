"""Slips in names: each kind is found, nothing else is, and the documented counts are those of the data."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Option, Premise, Problem
from proof_r1_formal.data.quality import SPELLINGS, Oddity, OddityKind, _likeness, _near, oddities, tell
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.transform import rename
from proof_r1_formal.proof.labels import CONTRADICTORY, answer_by
from tests import build
from tests.data.files import only_problem, write

Part = TypeVar("Part", Premise, Option)
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "data-quality.md"


def found(*texts: str) -> list[tuple[OddityKind, tuple[str, ...]]]:
    """The oddities of premises and, last, a goal, without names used once."""
    *premises, goal = texts
    return [(o.kind, o.names) for o in odd(build.problem(*premises, goal=goal)) if o.kind is not OddityKind.ONCE]


def odd(asked: Problem) -> list[Oddity]:
    return list(oddities(asked, asked.signature()))


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("Team", "team", OddityKind.CASE),
        ("PhDGraduate", "PhdGraduate", OddityKind.CASE),
        ("Élise", "Elise", OddityKind.DIACRITICS),
        ("naïve", "Naive", OddityKind.DIACRITICS),
        ("scope", "sсope", OddityKind.SCRIPT),
        ("Meeting", "Meetings", OddityKind.LETTER),
        ("Biodegradable", "Bioegradable", OddityKind.LETTER),
        ("Rounded", "Roundel", OddityKind.LETTER),
        ("stephenCurry", "StephenCury", OddityKind.LETTER),
        ("plan1", "plan2", None),
        ("Ryatt", "Wyatt", None),
        ("cats", "cat", None),
        ("runner", "running", None),
        ("abcde", "abced", None),
    ],
)
def test_two_names_that_may_be_one(one: str, other: str, code: OddityKind | None) -> None:
    pair = tuple(sorted((one, other)))
    expected = [] if code is None else [(code, pair)]
    assert found(f"{one}(a)", f"{other}(a)", "P(a)") == expected
    assert found(f"P({one})", f"P({other})") == expected
    assert found(f"{one}(a)", f"P({other})") == []


@given(st.lists(st.text("aAbéс1", min_size=4, max_size=7), max_size=6, unique=True))
def test_all_pairs_that_are_alike_are_found(names: list[str]) -> None:
    pairs = [pair for pair in combinations(sorted(names), 2) if _likeness(*pair) is not None]
    assert [pair for pair in _near(names) if _likeness(*pair) is not None] == pairs


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ryatt", "Wyatt"), ("plan1", "plan2"), ("plans", "plan2"), ("planes", "plan2s"), ("a" * 80, "a" * 79 + "b")],
)
def test_another_first_letter_or_digit_makes_another_name(one: str, other: str) -> None:
    assert _likeness(one, other) is None
    assert _likeness(other, one) is None


def test_the_work_grows_with_the_names() -> None:
    counts = [len(_near(f"{kind}{number}" for number in range(2_000))) for kind in ("pred", "P")]
    assert max(counts) == 0


def test_a_lost_quantifier() -> None:
    assert found("∀n Cat(n)", "Dog(n)") == [(OddityKind.STRAY, ("n",))]
    assert odd(build.problem("∀n Cat(n)", "Cat(n)", goal="Dog(x)"))[:2] == [
        Oddity(OddityKind.STRAY, ("n",), "premise h2"),
        Oddity(OddityKind.UNBOUND, ("x",), "the goal"),
    ]
    assert found("Cat(x) → Dog(x)", "Cat(tom)") == [(OddityKind.UNBOUND, ("x",))]
    assert found("∀x Cat(x)", "Cat(a)") == []


def test_a_predicate_used_once() -> None:
    asked = build.problem("P(a) ∧ Q(a) ∧ P(b)", goal="R(a)")
    assert [oddity.names for oddity in odd(asked)] == [("Q",), ("R",)]


def test_readers_note_all_but_names_used_once(tmp_path: Path) -> None:
    record = {"premises-FOL": ["Team(bo)", "Won(x)"], "premises": ["", ""], "conclusion-FOL": "team(bo)"}
    problem = only_problem(write(tmp_path, {**record, "conclusion": "", "label": "True"}))
    assert problem.notes == (
        "the symbols 'Team' and 'team' differ only in case",
        "premise h2: no quantifier binds 'x', which looks like a variable",
    )
    assert tell(Oddity(OddityKind.ONCE, ("Won",))) == "the predicate 'Won' occurs once"


# -- real data --------------------------------------------------------------------------------------------------------

FILES = {
    "FOLIO v0 validation": "folio/folio_v0_validation.jsonl",
    "FOLIO v2 train, first 400": "folio/folio_v2_train_first400.jsonl",
    "ProverQA easy": "proverqa/easy.json",
    "ProverQA medium": "proverqa/medium.json",
    "ProverQA hard": "proverqa/hard.json",
    "ProofWriter": "proofwriter/logiclm_dev.json",
}


def one_name(problem: Problem) -> Problem:
    """The problem with one name in place of each pair."""
    found = (oddity for oddity in oddities(problem, problem.signature()) if oddity.kind in SPELLINGS)
    pairs = {oddity.names[0]: oddity.names[1] for oddity in found}

    def renamed(part: Part) -> Part:
        return replace(part, formula=rename(part.formula, pairs, pairs))

    return replace(
        problem, premises=tuple(map(renamed, problem.premises)), options=tuple(map(renamed, problem.options))
    )


def row(name: str, path: Path) -> str:
    """The line of the document about a file."""
    found, solver = read_problems(path), EmbeddedSolver()
    count: Counter[str | tuple[str, bool]] = Counter()
    for problem in found.values():
        answer = answer_by(solver, problem)
        agrees = answer == problem.answer
        kinds = {oddity.kind for oddity in oddities(problem, problem.signature())}
        count["agrees", agrees] += 1
        count["lost", agrees] += not kinds.isdisjoint({OddityKind.STRAY, OddityKind.UNBOUND})
        count["contradictory"] += answer == CONTRADICTORY
        if not kinds.isdisjoint(SPELLINGS):
            count["pair", agrees] += 1
            count["changed", agrees] += (answer_by(solver, one_name(problem)) == problem.answer) != agrees

    def part(kind: str, *, agrees: bool) -> str:
        whole = count["agrees", agrees]
        return f"{count[kind, agrees]} ({100 * count[kind, agrees] / whole:.0f} %)" if whole else "–"

    cells = (
        *(name, len(found), len(found.rejected), count["agrees", True], count["agrees", False]),
        *(part(kind, agrees=agrees) for kind in ("pair", "lost") for agrees in (True, False)),
        *(count["contradictory"], f"{count['changed', False]}, {count['changed', True]}"),
    )
    return f"| {' | '.join(map(str, cells))} |"


@pytest.mark.shared
@pytest.mark.parametrize(("name", "path"), FILES.items())
def test_the_document_has_the_numbers_of_the_data(shared_data: Path, name: str, path: str) -> None:
    assert row(name, shared_data / path) in DOCUMENT.read_text(encoding="utf-8").splitlines()
