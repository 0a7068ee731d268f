"""Proofs for people: every row follows from the rows that it names, as the embedded engine sees it, not the proof."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.prover import search
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.syntax import Formula, Implies
from proof_r1_formal.kernel.term import Contradiction
from proof_r1_formal.report.fitch import Row, derivation, fitch
from proof_r1_formal.text.parse import parse_formula

STEPS = [
    (("∀x (A(x) ∨ B(x) → C(x))", "∃x A(x)"), "∃x C(x)"),
    (("∀x (A(x) → B(x))", "∀x (B(x) → C(x))"), "∀x (A(x) → C(x))"),
    (("A(a) ∨ B(a)", "A(a) → C(a)", "B(a) → C(a)"), "C(a)"),
    (("a = b", "P(a)"), "P(b)"),
    (("¬∀x ∃y R(x, y)",), "∃x ∀y ¬R(x, y)"),
    (("P(a) ⊕ Q(a)", "¬¬P(a)"), "¬Q(a)"),
    (("P(a)", "¬Q(a)"), "P(a) ⊕ Q(a)"),
    (("A(a) ↔ B(a)", "¬B(a)"), "¬A(a)"),
    (("¬∃x A(x)",), "∀x ¬A(x)"),
    (("A(a)", "¬A(a)"), "B(b)"),
    ((), "A(a) ∨ ¬A(a)"),
    ((), "∀x (A(x) → A(x))"),
    ((), "⊤"),
]


CLASH = (Contradiction(0, 1),)


def rows_of(premises: tuple[str, ...], conclusion: str) -> tuple[Row, ...]:
    given = [parse_formula(text) for text in premises]
    proof = search(given, parse_formula(conclusion)).proof
    assert proof is not None
    return fitch(proof, [(f"h{number}", formula) for number, formula in enumerate(given, 1)])


def entails(premises: list[Formula], conclusion: Formula) -> bool:
    return isinstance(EmbeddedSolver().decide(Query(tuple(premises), conclusion)), Entailed)


def shown_by(block: list[Row]) -> Formula:
    """What a block says as a formula: its last line, under its assumption, of all things that it fixes."""
    numbered = [row for row in block if row.number]
    shown = parse_formula(numbered[-1].text)
    if numbered[0].reason == "assumption":
        shown = Implies(parse_formula(numbered[0].text), shown)
    return shown


def require_rows_follow(rows: Sequence[Row], premises: int) -> None:
    """Fail unless each row after the premises follows from the rows and the block that it names."""
    text = {row.number: row.text for row in rows if row.number}
    for row in rows[premises:]:
        assert all(use < row.number for use in row.uses)
        if not row.number or row.reason == "assumption" or "witness" in row.reason:
            continue
        used = [parse_formula(text[number]) for number in row.uses]
        if row.block is not None:
            first, last = row.block
            block = [r for r in rows if first <= r.number <= last]
            depths = {r.number: r.depth for r in block}
            assert depths[last] == row.depth + 1
            if row.reason.endswith("∀ introduction"):
                constant = next(r.text for r in rows if not r.number and r.depth == row.depth + 1)
                everywhere = re.sub(rf"\b{constant}\b", "x", text[last])
                used = [parse_formula(f"∀x ({everywhere})")]
            else:
                used = [shown_by(block)]
        assert entails(used, parse_formula(row.text)), row


@pytest.mark.parametrize(("premises", "conclusion"), STEPS, ids=[conclusion for _, conclusion in STEPS])
def test_every_row_follows_from_the_rows_that_it_names(premises: tuple[str, ...], conclusion: str) -> None:
    rows = rows_of(premises, conclusion)
    text = {row.number: row.text for row in rows if row.number}
    assert [row.number for row in rows if row.number] == list(range(1, len(text) + 1))
    assert [row.text for row in rows[: len(premises)]] == list(premises)
    assert entails([], parse_formula(f"({rows[-1].text}) ↔ ({conclusion})")) or rows[-1].text == "⊥"
    require_rows_follow(rows, len(premises))
    assert rows[-1].depth == 0
    assert all(later.depth - earlier.depth <= 1 for earlier, later in pairwise(rows))
    assert "␣" not in "".join(row.text + row.reason for row in rows), "names of the package are not shown"


def test_a_name_that_is_taken_is_not_given_again() -> None:
    rows = rows_of(("∃x A(x)", "∀x (A(x) → B(x, c1))"), "∃x B(x, c1)")
    assert any("c2" in row.text for row in rows)
    assert entails([parse_formula(rows[0].text), parse_formula(rows[1].text)], parse_formula(rows[-1].text))


def test_a_proof_by_cases_reads_as_expected() -> None:
    rows = rows_of(("A(a) ∨ B(a)", "A(a) → C(a)", "B(a) → C(a)"), "C(a)")
    assert rows[3] == Row(4, 1, "¬C(a)", "assumption")
    assert rows[-1] == Row(9, 0, "C(a)", "reductio ad absurdum", (), (4, 8))


def test_a_name_of_the_conclusion_is_not_taken() -> None:
    rows = rows_of(("∃x (q(x) ∧ r(x))",), "(q(c1) → ∃x q(x)) ∧ ∃x r(x)")
    [witness] = [row for row in rows if "witness" in row.reason]
    assert witness.text == "q(c2) ∧ r(c2)"
    assert [row.text for row in rows if row.reason == "assumption"] == ["q(c1)"]


def test_the_steps_of_an_answer_are_one_proof() -> None:
    """Each step names its own constants, a contradiction becomes what the step concludes, and all rows follow."""
    given = {"h1": "∃x A(x)", "h2": "∀x (A(x) → B(x, c1))", "h3": "¬∃x D(x)"}
    told = [("s1", ("h1", "h2"), "∃x B(x, c1)"), ("s2", ("h1",), "∃x A(x)"), ("s3", ("s1", "s2", "h3"), "¬∀x D(x)")]
    premises = {id_: parse_formula(text) for id_, text in given.items()}
    known, steps = dict(premises), []
    for id_, dependencies, text in [*told, ("s4", ("h1", "h2"), "∃x B(x, c1)")]:
        known[id_] = parse_formula(text)
        proof = search([known[each] for each in dependencies], known[id_]).proof
        assert proof is not None
        steps.append((id_, dependencies, known[id_], proof))
    rows = derivation(premises, steps)
    require_rows_follow(rows, len(premises))
    assert [row.text for row in rows[:3]] == list(given.values())
    shown = {row.reason.split(": ")[0]: row.text for row in rows if row.reason.startswith("s")}
    assert shown == {**{id_: text for id_, _, text in told}, "s4": "∃x B(x, c1)"}
    witnesses = [row.text for row in rows if "witness" in row.reason]
    assert len(witnesses) == len(set(witnesses)) >= 2
    absurd = derivation({"p": parse_formula("P"), "n": parse_formula("¬P")}, [("s", ("p", "n"), known["s1"], CLASH)])
    assert [row.reason for row in absurd[2:]] == ["contradiction", "s: ⊥ elimination"]
    assert [row.uses for row in absurd[2:]] == [(1, 2), (3,)]
