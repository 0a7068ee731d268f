"""What the search for proofs knows: classes of equivalent formulas, and spines by kind."""

from __future__ import annotations

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.generate.classes import SOLVER_STEPS, Classes
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
