"""The audit: exact tables of a worked example, programs that lie or end, hostile completions, and the page."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from proof_r1_formal.errors import ProofR1Error, SolverError
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.text.show import show
from studies.audit import page
from studies.audit.compare import Audit, compare, questions_of
from studies.audit.local_check import Fault, local_checks
from studies.bench.traces import Sample
from tests.build import EXAMPLES, action, completion, problem

YICES, YES = "process:yices-smt2", "process:sh -c 'cat > /dev/null; echo unsat'"
"""Programs: one that decides what has no quantifier, and one that always says yes."""

PETS = problem("cat(tom) ⊕ dog(tom)", "∀x (barks(x) → dog(x))", "barks(tom)", goal="cat(tom)", answer="h_goal_false")


def sample(*actions: dict[str, object]) -> Sample:
    return Sample(PETS, completion(*actions, thoughts="…"))


RIGHT = sample(
    action("s1", "dog tom", "h2", "h3"),
    action("s2", "¬cat tom", "h1", "s1", rule="EXCLUSIVE_DISJUNCTION_ELIMINATION"),
    action("h_goal_false", "¬cat tom", "s2", rule="GOAL_BINDING"),
)
MIXED = sample(
    action("s1", "cat tom", "h1", rule="EXCLUSIVE_DISJUNCTION_ELIMINATION"),  # refuted
    action("s2", "¬dog tom", "h1", "s1", rule="EXCLUSIVE_DISJUNCTION_ELIMINATION"),  # entailed by what was not admitted
    action("s3", "cat(tom", "h1"),  # unparsable
    action("s4", "dog(tom, tom)", "h1"),  # a symbol in two ways
    action("s2", "dog tom", "h2", "h3"),  # duplicate id
    action("s5", "dog tom", "h2", "h3", "h9"),  # missing
    action("s6", "dog tom", "s6"),  # itself
    action("s7", "dog tom", "s3"),  # an action without a formula
    action("s8", "∃x dog x", "s2"),  # the first s2: refuted
    {**action("s9", "dog tom", "h2", "h3"), "why": "because"},  # malformed
    action("h_goal_true", "cat tom", "s1", rule="GOAL_BINDING"),
)


def test_the_question_of_each_action() -> None:
    found = [check.question for check in local_checks(PETS, MIXED.completion)]
    unparsable, missing = Fault.UNPARSABLE_FORMULA, Fault.MISSING_DEPENDENCY
    assert found[2:8] == [unparsable, unparsable, Fault.DUPLICATE_ID, missing, missing, missing]
    assert found[9] is Fault.MALFORMED
    asked = [question for question in found if isinstance(question, Query)]
    assert [(*map(show, query.dependencies), show(query.conclusion)) for query in asked] == [
        ("cat(tom) ⊕ dog(tom)", "cat(tom)"),
        ("cat(tom) ⊕ dog(tom)", "cat(tom)", "¬dog(tom)"),
        ("¬dog(tom)", "∃x dog(x)"),
        ("cat(tom)", "cat(tom)"),
    ]


@pytest.fixture(scope="module")
def audit() -> Audit:
    return compare({"right": [RIGHT], "mixed": [MIXED]}, ["z3", "embedded", YICES])


def test_local_checks_of_the_worked_example(audit: Audit) -> None:
    assert page.local_table(audit).rows == (
        ("right, 3 actions", "UNSAT", 3, 3, 2),
        ("right, 3 actions", "UNSAT, with checked evidence", 0, 3, 0),
        ("right, 3 actions", "Other", 0, 0, 1),
        ("right, 3 actions", "Other: unknown, unsupported", 0, 0, 1),
        ("mixed, 11 actions", "UNSAT", 2, 2, 2),
        ("mixed, 11 actions", "UNSAT, with checked evidence", 0, 2, 0),
        ("mixed, 11 actions", "SAT", 2, 2, 1),
        ("mixed, 11 actions", "SAT, with checked evidence", 2, 2, 0),
        ("mixed, 11 actions", "Other", 7, 7, 8),
        ("mixed, 11 actions", "Other: unparsable formula", 2, 2, 2),
        ("mixed, 11 actions", "Other: duplicate id", 1, 1, 1),
        ("mixed, 11 actions", "Other: malformed", 1, 1, 1),
        ("mixed, 11 actions", "Other: missing dependency", 3, 3, 3),
        ("mixed, 11 actions", "Other: unknown, unsupported", 0, 0, 1),
    )


def test_pairs_of_the_worked_example(audit: Audit) -> None:
    assert page.pairs_table(audit).rows == (
        ("z3", "embedded", 5, 2, 7, 0, 0, 0),
        ("z3", YICES, 4, 1, 7, 2, 0, 0),
        ("embedded", YICES, 4, 1, 7, 2, 0, 0),
    )
    assert {len(one.answers) for one in audit.backends.values()} == {7}


def test_rates_of_the_worked_example(audit: Audit) -> None:
    """Yices cannot decide the first step, on which the two others rest."""
    all_, none, wrong = "100.0 % (3 / 3)", "0.0 % (0 / 1)", "0.0 % (0 / 5)"
    assert page.rates_table(audit).rows == (
        ("right", "FVR", all_, all_, none),
        ("right", "RVR", all_, all_, none),
        ("mixed", "FVR", wrong, wrong, wrong),
        ("mixed", "RVR", wrong, wrong, wrong),
    )


def test_one_process_for_each_backend_says_the_same(audit: Audit) -> None:
    assert compare({"right": [RIGHT], "mixed": [MIXED]}, ["z3", "embedded", YICES], workers=2) == audit


# -- contradictions and broken programs -------------------------------------------------------------------------------


def test_a_solver_that_always_says_yes_is_found() -> None:
    found = compare({"all": [RIGHT, MIXED]}, ["embedded", YES, "cvc5"])
    assert [row[-2:] for row in page.pairs_table(found).rows] == [(2, 2), (0, 0), (2, 2)]
    said = "embedded: SAT, with checked evidence. process:sh -c 'cat > /dev/null; echo unsat': UNSAT. "
    assert [line for line in page.contradictions(found) if line.startswith("embedded")] == [
        f"{said}cat(tom) ⊕ dog(tom) ⊢ cat(tom)",
        f"{said}¬dog(tom) ⊢ ∃x dog(x)",
    ]
    assert "    embedded: SAT, with" in page.page(found, "", [], "audit")


def test_wrong_use_is_refused() -> None:
    for names in ([], ["embedded"], ["embedded", "embedded"]):
        with pytest.raises(ProofR1Error, match="two or more different solvers"):
            compare({"right": [RIGHT]}, names)
    with pytest.raises(SolverError):
        compare({"right": [RIGHT]}, ["embedded", "process:no-such-program"])


# -- hostile input ----------------------------------------------------------------------------------------------------

HOSTILE = (
    *("", "<summary>", "</think><summary>{}</summary>", '<summary>[1, null, [], {}, "s"]</summary>'),
    *(f"<summary>{'[' * 5000}</summary>", "\x00\ud800<summary>[\ud800]</summary>"),
)


def test_hostile_completions() -> None:
    deep = "¬" * 150 + "cat tom"
    wide = " ⊕ ".join(f"(∀x (P{n}(x) → ∃y Q{n}(x, y)))" for n in range(12))
    odd = action("s\n1", deep, "h1", "h1")
    built = sample(odd, action("s2", wide, "h2"), action("h1", "cat tom"), action("", "⊤"))
    samples = [*[Sample(PETS, text) for text in HOSTILE], built]
    found = compare({"hostile\n| `": samples, "none": []}, ["z3", "embedded"])
    assert not found.contradictions(("z3", "embedded"))
    assert found.questions["hostile\n| `"].count(Fault.DUPLICATE_ID) == 1
    assert "\n| `" not in page.page(found, "", [], "audit")


# -- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_of_other_completions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("--problems", EXAMPLES / "problems.jsonl", "--completions", EXAMPLES / "completions.jsonl")
    chosen = ("--backends", "z3,embedded,process:no-such-program", "--out", tmp_path / "mine.md")
    monkeypatch.setattr(sys, "argv", ["audit", *map(str, (*files, *chosen))])
    page.main()
    text = (tmp_path / "mine.md").read_text(encoding="utf-8")
    assert text.startswith(page.HEAD)
    assert page.BENCHMARK not in text
    assert "| z3 | embedded | 38 | 3 | 1 | 0 | 0 | 0 |" in text
    assert "not here: solver process:no-such-program" in text
    assert text.endswith("![z3-embedded](mine/z3-embedded.svg)\n")
    drawn = (tmp_path / "mine" / "z3-embedded.svg").read_text(encoding="utf-8")
    assert ">38<" in drawn
    assert ">90.5 %<" in drawn  # of 42 actions


def test_each_picture_of_the_document_is_there() -> None:
    shown = re.findall(r"^!\[(.+)\]\((audit/.+\.svg)\)$", page.PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(shown) == 10  # pairs of five backends
    for _, path in shown:
        assert (page.PAGE.parent / path).is_file()


@pytest.mark.parametrize(
    ("line", "told"), [("{", "line 1: not JSON"), ('{"problem_id": "x", "completion": ""}', "line 1: 'x' is not a")]
)
def test_a_completion_that_cannot_be_used_ends_the_audit(line: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(ProofR1Error, match=told):
        page.own(EXAMPLES / "problems.jsonl", [tmp_path / "c.jsonl"])


def test_the_document_is_written_by_this_code() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.startswith(f"{page.HEAD}\n{page.BENCHMARK}")
    assert page.FOOT in text


@pytest.mark.shared
def test_the_document_counts_the_questions_of_the_benchmark_data(shared_data: Path) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    systems = page.benchmark(shared_data)
    assert {name: len(samples) for name, samples in systems.items()} == {"golden": 450, "corrupted": 900, "warm-up": 56}
    for name, questions in questions_of(systems).items():
        assert f"| {name}, {len(questions)} actions | UNSAT |" in text
        for fault, count in Counter(one for one in questions if isinstance(one, Fault)).items():
            assert f"| {name}, {len(questions)} actions | Other: {fault} | {count} | {count} |" in text
