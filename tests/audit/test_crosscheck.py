"""The audit of backends: exact tables of a worked example, a liar, interrupted and parallel runs, hostile text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

import pytest

from proof_r1_formal.audit.audit_files import audit_tables, disagreement_lines, pictures, write_audit
from proof_r1_formal.audit.backends import Backend, Outcome, ask
from proof_r1_formal.audit.crosscheck import Audit, crosscheck
from proof_r1_formal.audit.local_check import Fault, local_checks
from proof_r1_formal.audit.shrink import smaller
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Premise, Problem, three_way_options
from proof_r1_formal.engine import get_solver
from proof_r1_formal.errors import DataError, ProofR1Error, SolverError
from proof_r1_formal.evaluation.heatmap import heatmap
from proof_r1_formal.evaluation.tables import Cell, Table
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import Exists, ForAll, Xor
from proof_r1_formal.kernel.transform import subformulas
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests.builders import action

PREMISES = ("cat(tom) ⊕ dog(tom)", "∀x (barks(x) → dog(x))", "barks(tom)")
PETS = Problem(
    id="pets/1",
    premises=tuple(Premise(f"h{n}", parse_formula(text)) for n, text in enumerate(PREMISES, 1)),
    options=three_way_options(parse_formula("cat(tom)")),
    answer="h_goal_false",
    difficulty="easy",
)
PROBLEMS = {PETS.id: PETS}


def completion(*actions: dict[str, object], sample: int = 0) -> Completion:
    text = f"<think>…</think><summary>{json.dumps(actions, ensure_ascii=False)}</summary>"
    return Completion(problem_id=PETS.id, sample=sample, completion=text)


RIGHT = completion(
    action("s1", "dog tom", "h2", "h3"),
    action("s2", "¬cat tom", "h1", "s1", rule="EXCLUSIVE_DISJUNCTION_ELIMINATION"),
    action("h_goal_false", "¬cat tom", "s2", rule="GOAL_BINDING"),
)
MIXED = completion(
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
    sample=1,
)


class Eager:
    """Decides what has no quantifier, as some programs do, with the embedded engine."""

    name = "eager 1"

    def decide(self, query: Query) -> Answer:
        if any(isinstance(part, ForAll | Exists) for formula in query.assertions for part in subformulas(formula)):
            return Unknown(Reason.UNSUPPORTED, "quantifiers")
        return get_solver("embedded").decide(query)


class Liar:
    """Says the opposite of the truth where an exclusive disjunction stands."""

    name = "liar 1"

    def decide(self, query: Query) -> Answer:
        answer = get_solver("embedded").decide(query)
        if not any(isinstance(part, Xor) for formula in query.assertions for part in subformulas(formula)):
            return answer
        return Refuted() if isinstance(answer, Entailed) else Entailed()


class Broken:
    """Fails on every query."""

    name = "broken 1"

    def decide(self, query: Query) -> Answer:
        raise SolverError(self.name, "is out of order")


class Counting:
    """The embedded engine, counting what it is asked."""

    name = "counting 1"
    asked: ClassVar[list[Query]] = []

    def decide(self, query: Query) -> Answer:
        self.asked.append(query)
        return get_solver("embedded").decide(query)


EMBEDDED, Z3, CVC5 = (Backend.named(name) for name in ("embedded", "z3", "cvc5"))
EAGER, LIAR, BROKEN, COUNTING = (
    Backend(type_.name.split()[0], type_, type_.name) for type_ in (Eager, Liar, Broken, Counting)
)


def rows(audit: Audit, title: str) -> list[tuple[Cell, ...]]:
    return [row for table in audit_tables(audit) if table.title == title for row in table.rows]


def counts(row: Sequence[Cell]) -> list[Cell]:
    """A row without its shares."""
    return [cell for cell in row if isinstance(cell, str | int)]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- the worked example -----------------------------------------------------------------------------------------------


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


def test_tables_of_the_worked_example(tmp_path: Path) -> None:
    audit = crosscheck(PROBLEMS, {"right": [RIGHT], "mixed": [MIXED]}, [Z3, EMBEDDED, EAGER], tmp_path)
    assert audit.queries == 7
    assert rows(audit, "Local checks") == [
        ("right", "z3", 3, 3, 0, 0, 0),
        ("right", "embedded", 3, 3, 0, 0, 3),
        ("right", "eager", 3, 2, 0, 1, 2),
        ("mixed", "z3", 11, 2, 2, 7, 2),
        ("mixed", "embedded", 11, 2, 2, 7, 4),
        ("mixed", "eager", 11, 2, 1, 8, 3),
    ]
    none = (0, 0, 0, 0, 0)
    assert rows(audit, "Other, by reason") == [
        ("right", "z3", 0, 0, 0, 0, 0, *none),
        ("right", "embedded", 0, 0, 0, 0, 0, *none),
        ("right", "eager", 1, 0, 0, 0, 0, 0, 0, 0, 1, 0),
        ("mixed", "z3", 7, 2, 1, 1, 3, *none),
        ("mixed", "embedded", 7, 2, 1, 1, 3, *none),
        ("mixed", "eager", 8, 2, 1, 1, 3, 0, 0, 0, 1, 0),
    ]
    assert [counts(row) for row in rows(audit, "z3 (rows) and embedded (columns)")] == [
        ["right", "UNSAT", 3, 0, 0],
        ["right", "SAT", 0, 0, 0],
        ["right", "Other", 0, 0, 0],
        ["mixed", "UNSAT", 2, 0, 0],
        ["mixed", "SAT", 0, 2, 0],
        ["mixed", "Other", 0, 0, 7],
    ]
    assert [counts(row) for row in rows(audit, "embedded (rows) and eager (columns)")] == [
        ["right", "UNSAT", 2, 0, 1],
        ["right", "SAT", 0, 0, 0],
        ["right", "Other", 0, 0, 0],
        ["mixed", "UNSAT", 2, 0, 0],
        ["mixed", "SAT", 0, 1, 1],
        ["mixed", "Other", 0, 0, 7],
    ]
    assert [row[2:] for row in rows(audit, "UNSAT against SAT")] == [(7, 0, 0, 0)] * 3
    rates = rows(audit, "Rates, with all checks done by one backend")
    # eager cannot decide the first step, so the two others rest on nothing; of MIXED all can decide the first step only
    assert [counts(row) for row in rates if row[1] == "easy"] == [
        ["right", "easy", "z3", 3, 3, 3, 3],
        ["right", "easy", "embedded", 3, 3, 3, 3],
        ["right", "easy", "eager", 0, 1, 0, 1],
        ["mixed", "easy", "z3", 0, 5, 0, 5],
        ["mixed", "easy", "embedded", 0, 5, 0, 5],
        ["mixed", "easy", "eager", 0, 5, 0, 5],
    ]


def test_what_the_folder_holds(tmp_path: Path) -> None:
    audit = crosscheck(PROBLEMS, {"mixed": [MIXED]}, [Z3, EMBEDDED], tmp_path)
    write_audit(audit, tmp_path)
    assert sorted(files(tmp_path)) == [
        "answers/embedded.jsonl",
        "answers/z3.jsonl",
        "queries.jsonl",
        "reports/embedded.jsonl",
        "reports/z3.jsonl",
        "steps.jsonl",
        "tables.json",
        "tables.md",
        "z3-embedded.svg",
    ]
    said = [json.loads(line) for line in (tmp_path / "answers" / "embedded.jsonl").read_text().splitlines()]
    assert said[0]["version"] == EMBEDDED.version
    assert [answer["outcome"] for answer in said[1:]] == ["SAT", "UNSAT", "SAT", "UNSAT"]
    assert said[1]["countermodel"]["predicates"] == {"cat": [], "dog": [[0]]}
    steps = [json.loads(line) for line in (tmp_path / "steps.jsonl").read_text().splitlines()]
    assert [step["query"] for step in steps] == [0, 1, *[None] * 6, 2, None, 3]
    assert steps[2]["fault"] == "unparsable formula"
    assert steps[8]["outcomes"] == {"z3": "SAT", "embedded": "SAT"}


# -- contradictions ---------------------------------------------------------------------------------------------------


def test_a_liar_is_found_and_its_reproducers_are_minimal(tmp_path: Path) -> None:
    audit = crosscheck(PROBLEMS, {"all": [RIGHT, MIXED]}, [EMBEDDED, LIAR, CVC5], tmp_path)
    assert audit.contradictions == {("embedded", "liar"): 3, ("embedded", "cvc5"): 0, ("liar", "cvc5"): 3}
    found = [(d.entailed_by, d.refuted_by, d.proved, d.countermodel, len(d.queries)) for d in audit.disagreements]
    assert found == [
        ("embedded", "liar", True, False, 2),
        ("liar", "embedded", False, True, 1),
        ("cvc5", "liar", True, False, 2),
        ("liar", "cvc5", False, True, 1),
    ]
    # ⊕ is what it lies about, and ⊕ is what is left
    left = [
        ([show(formula) for formula in d.query.dependencies], show(d.query.conclusion)) for d in audit.disagreements
    ]
    assert left == [(["⊤ ⊕ ⊤"], "⊤"), (["⊤ ⊕ ⊥"], "⊥")] * 2
    solvers = {backend.name: backend.solver() for backend in (EMBEDDED, LIAR, CVC5)}
    for disagreement in audit.disagreements:
        yes, no = solvers[disagreement.entailed_by], solvers[disagreement.refuted_by]
        for query in smaller(disagreement.query):
            assert (ask(yes, query).outcome, ask(no, query).outcome) != (Outcome.UNSAT, Outcome.SAT)
    assert [path.name for path in sorted((tmp_path / "disagreements").iterdir())] == [f"{n}.smt2" for n in (1, 2, 3, 4)]
    assert (tmp_path / "disagreements" / "1.smt2").read_text(encoding="utf-8") == (
        "; entailed, says embedded, with a checked proof\n"
        "; refuted, says liar, with no countermodel\n"
        "; what is left of: query 1, query 4\n"
        "; dependency: ⊤ ⊕ ⊤\n"
        "; conclusion: ⊤\n"
        "(set-logic QF_UF)\n(declare-sort s_Entity 0)\n(assert (xor true true))\n(assert (not true))\n(check-sat)\n"
    )
    assert next(disagreement_lines(audit)) == "1. entailed, says embedded, with a checked proof"
    rates = rows(audit, "Rates, with all checks done by one backend")
    assert len({tuple(map(str, counts(row)[3:])) for row in rates if row[2] != "liar"}) == 1
    crosscheck(PROBLEMS, {"all": [RIGHT, MIXED]}, [EMBEDDED, CVC5], tmp_path)
    assert list((tmp_path / "disagreements").iterdir()) == []  # none is left over from an earlier run


def test_a_broken_backend_is_counted_and_does_not_end_the_run(tmp_path: Path) -> None:
    audit = crosscheck(PROBLEMS, {"right": [RIGHT]}, [EMBEDDED, BROKEN], tmp_path)
    assert rows(audit, "Other, by reason")[1] == ("right", "broken", 3, 0, 0, 0, 0, 0, 0, 0, 0, 3)
    assert audit.systems["right"].pairs["embedded", "broken"] == {(Outcome.UNSAT, Outcome.OTHER): 3}


# -- interrupted, parallel --------------------------------------------------------------------------------------------


class _InterruptedError(Exception):
    pass


@pytest.mark.parametrize("after", [1, 3, 5, 9, 12])
def test_an_interrupted_run_goes_on_and_gives_the_same_files(tmp_path: Path, after: int) -> None:
    systems, backends = {"right": [RIGHT], "mixed": [MIXED]}, [COUNTING, EAGER]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    total = []
    crosscheck(PROBLEMS, systems, backends, whole, progress=lambda *told: total.append(told))
    assert len(total) == 2 * (7 + 2)

    calls = []

    def interrupt(*told: object) -> None:
        calls.append(told)
        if len(calls) == after:
            raise _InterruptedError

    with pytest.raises(_InterruptedError):
        crosscheck(PROBLEMS, systems, backends, cut, progress=interrupt)
    for path in (cut / "answers").iterdir():  # as if the machine had died in the middle of a line
        path.write_bytes(path.read_bytes() + b'{"outcome":"UNS')
    crosscheck(PROBLEMS, systems, backends, cut)
    assert files(cut) == files(whole)
    Counting.asked.clear()
    crosscheck(PROBLEMS, systems, backends, cut)
    assert Counting.asked == []


def test_answers_to_other_questions_are_not_used(tmp_path: Path) -> None:
    crosscheck(PROBLEMS, {"a": [RIGHT]}, [EMBEDDED, EAGER], tmp_path / "first")
    crosscheck(PROBLEMS, {"a": [MIXED]}, [EMBEDDED, EAGER], tmp_path / "second")
    crosscheck(PROBLEMS, {"a": [MIXED]}, [EMBEDDED, EAGER], tmp_path / "first")
    assert files(tmp_path / "first") == files(tmp_path / "second")


def test_parallel_is_serial(tmp_path: Path) -> None:
    conclusions = [f"P{n} tom → P{n % 7} tom" for n in range(40)]
    many = [completion(*[action(f"s{n}", text) for n, text in enumerate(conclusions)], sample=n) for n in range(40)]
    systems = {"many": many, "mixed": [MIXED]}
    for workers in (1, 2):
        audit = crosscheck(PROBLEMS, systems, [Z3, EMBEDDED, LIAR], tmp_path / str(workers), workers=workers)
        write_audit(audit, tmp_path / str(workers))
    assert audit.queries == 44
    assert files(tmp_path / "1") == files(tmp_path / "2")


# -- hostile input ----------------------------------------------------------------------------------------------------

HOSTILE = (
    "",
    "<summary>",
    "<summary>[",
    "</think><summary>{}</summary>",
    '<summary>[1, null, [], {}, "s"]</summary>',
    f"<summary>{'[' * 5000}</summary>",
    "\x00\ud800<summary>[\ud800]</summary>",
    json.dumps("<summary>[]</summary>"),
)


def test_hostile_completions(tmp_path: Path) -> None:
    deep = "¬" * 150 + "cat tom"
    wide = " ⊕ ".join(f"(∀x (P{n}(x) → ∃y Q{n}(x, y)))" for n in range(12))
    odd = action("s\n1", deep, "h1", "h1")
    texts = [*HOSTILE, completion(odd, action("s2", wide, "h2"), action("h1", "cat tom"), action("", "⊤")).completion]
    chosen = [Completion(problem_id=PETS.id, sample=n, completion=text) for n, text in enumerate(texts)]
    audit = crosscheck(PROBLEMS, {"hostile\n| `": chosen}, [Z3, CVC5, EMBEDDED], tmp_path, workers=2)
    write_audit(audit, tmp_path)
    assert all(found == 0 for found in audit.contradictions.values())
    assert audit.systems["hostile\n| `"].faults[Fault.DUPLICATE_ID] == 1
    assert "\n| `" not in (tmp_path / "tables.md").read_text(encoding="utf-8")


def test_no_system_and_no_completion(tmp_path: Path) -> None:
    assert crosscheck({}, {}, [EMBEDDED, EAGER], tmp_path / "none").queries == 0
    audit = crosscheck(PROBLEMS, {"empty": []}, [EMBEDDED, EAGER], tmp_path / "empty")
    write_audit(audit, tmp_path / "empty")
    assert rows(audit, "Local checks") == [("empty", "embedded", 0, 0, 0, 0, 0), ("empty", "eager", 0, 0, 0, 0, 0)]


def test_wrong_use_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProofR1Error, match="name at least 2"):
        crosscheck(PROBLEMS, {}, [EMBEDDED], tmp_path)
    with pytest.raises(ProofR1Error, match="share their files"):
        crosscheck(PROBLEMS, {}, [EMBEDDED, EMBEDDED], tmp_path)
    with pytest.raises(ProofR1Error, match="at least 1 is needed"):
        crosscheck(PROBLEMS, {}, [EMBEDDED, EAGER], tmp_path, workers=0)
    with pytest.raises(ProofR1Error, match="'pets/1'"):
        crosscheck({}, {"a": [RIGHT]}, [EMBEDDED, EAGER], tmp_path)
    with pytest.raises(SolverError):
        Backend.named("process:no-such-program")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be made"):
        crosscheck(PROBLEMS, {"a": [RIGHT]}, [EMBEDDED, EAGER], tmp_path / "file")


# -- pictures ---------------------------------------------------------------------------------------------------------


def test_a_heat_map_is_well_formed_and_shows_all_counts(tmp_path: Path) -> None:
    labels = ("UNSAT", "SAT", "Other")
    shown = {(a, b): 100 + 3 * i + j for i, a in enumerate(labels) for j, b in enumerate(labels)}
    picture = heatmap("z3", 'process:<&"x" ' + 100 * "y", labels, shown)
    texts = [element.text for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in [*map(str, shown.values())]] == [str(count) for count in shown.values()]
    assert texts[0] is not None
    assert texts[0].startswith('process:<&"x" y')
    assert "prefers-color-scheme: dark" in picture
    assert "0.0 %" in heatmap("a", "b", labels, {})


def test_there_is_a_picture_of_every_pair(tmp_path: Path) -> None:
    audit = crosscheck(PROBLEMS, {"right": [RIGHT]}, [Z3, EMBEDDED, EAGER], tmp_path)
    assert list(pictures(audit)) == ["z3-embedded.svg", "z3-eager.svg", "embedded-eager.svg"]


def test_titles_of_tables_differ(tmp_path: Path) -> None:
    tables: tuple[Table, ...] = audit_tables(crosscheck(PROBLEMS, {"r": [RIGHT]}, [Z3, EMBEDDED, EAGER], tmp_path))
    assert len({table.title for table in tables}) == len(tables)
