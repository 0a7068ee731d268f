"""What the search for proofs knows: classes of equivalent formulas, and spines by kind."""

from __future__ import annotations

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.generate.classes import SOLVER_STEPS, Classes
from proof_r1_formal.generate.openings import Spines
from proof_r1_formal.kernel.syntax import And, Atom, Implies, Not, conjunction
from proof_r1_formal.rules.spine import Element
from proof_r1_formal.text.parse import parse_formula


def test_equivalent_formulas_share_a_number() -> None:
    classes = Classes(Oracle(Answers(get_solver("embedded"), tables=True)), lambda _: None)
    ground = [classes.of(parse_formula(text)) for text in ("P(a) → Q(a)", "¬Q(a) → ¬P(a)", "Q(a) → P(a)")]
    quantified = [classes.of(parse_formula(text)) for text in ('∀"x" P(a)', "P(a)", "¬∃x ¬P(x)", "∀y P(y)")]
    assert ground[0] == ground[1] != ground[2]
    assert quantified[0] == quantified[1] != quantified[2] == quantified[3]


def test_a_class_is_charged_for_what_its_questions_cost() -> None:
    oracle = Oracle(Answers(get_solver("embedded"), tables=True))
    spent: list[int] = []
    classes = Classes(oracle, spent.append)
    one, other = (parse_formula(f"∀x (P(x) ∧ {text})") for text in ("(Q(x) ∨ R(x))", "¬(¬Q(x) ∧ ¬R(x))"))
    assert classes.of(one) == classes.of(other)
    cost = oracle.equivalent(one, other).steps
    assert cost >= SOLVER_STEPS
    assert spent[-1] == cost // SOLVER_STEPS


def test_spines_are_found_by_kind_and_number() -> None:
    spines = Spines()
    p, q = parse_formula("P(a)"), parse_formula("Q(a)")
    rule = Implies(p, q)
    spines.add([Element(both := conjunction((p, rule))), Element(p), Element(rule)])
    spines.add([Element(Not(q))])
    spines.add([Element(rule)])
    assert list(spines.of_kind(Implies, range(3))) == [(0, [Element(rule)]), (2, [Element(rule)])]
    assert list(spines.of_kind(Implies, range(1, 2))) == []
    assert list(spines.of_kind(None, range(1, 3))) == [(1, [Element(Not(q))]), (2, [Element(rule)])]
    assert (list(spines.of_kind(And, range(3))), list(spines.of_kind(Atom, range(3)))) == (
        [(0, [Element(both)])],
        [(0, [Element(p)])],
    )
    assert spines.of(1) == [Element(Not(q))]
