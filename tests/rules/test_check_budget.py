"""What rule checks cost, and what is undecided: questions without an answer, and checks out of budget."""

from __future__ import annotations

import gc

import pytest

from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.kernel.answer import Answer, Query, Reason, Unknown
from proof_r1_formal.rules import matching
from proof_r1_formal.rules.catalogue import FOLIO, TRAIN
from proof_r1_formal.rules.check import CHECK_BUDGET, Match, NoMatch, Undecided, check_rule
from proof_r1_formal.text.parse import parse_formula
from tests.rules.steps import ORACLE, SHORT, check, read
from tests.solvers import SILENT


def test_an_undecided_question_is_never_an_acceptance() -> None:
    rule = TRAIN.find("IMPLICATION_ELIMINATION")
    assert rule is not None
    formulas = (parse_formula("A ∧ B → C"), parse_formula("A"), parse_formula("B"))
    assert isinstance(check_rule(rule, formulas, parse_formula("C"), Oracle(Answers(SILENT))), Undecided)


def test_the_first_of_several_open_questions_is_told() -> None:
    rule = TRAIN.find("DISJUNCTIVE_SYLLOGISM")
    assert rule is not None
    many = " ∨ ".join(f"B{n}" for n in range(12))
    never_all = " ∧ ".join(f"A{n}" for n in range(24))
    formulas = (parse_formula(many), parse_formula("D ∨ E"), parse_formula("¬D"))
    result = check_rule(rule, formulas, parse_formula(f"E ∨ {never_all}"), Oracle(Answers(SILENT)))
    assert result == Undecided("a conjunction or disjunction has too many parts to be split in every way")


@pytest.mark.parametrize(
    ("reasons", "broken"),
    [
        ([Reason.BROKEN], True),
        ([Reason.BUDGET], False),
        ([Reason.BROKEN, Reason.BUDGET], True),
        ([Reason.BUDGET, Reason.BROKEN], False),
    ],
)
def test_a_broken_solver_is_told_from_a_hard_question(reasons: list[Reason], broken: bool) -> None:
    """Each of the two implications asks whether the conjunction of the facts is its condition."""
    rule = TRAIN.find("IMPLICATION_ELIMINATION")
    assert rule is not None
    formulas = tuple(map(parse_formula, ("A ∧ B → C", "B ∧ A → C", "A", "B")))
    oracle = Oracle(Answers(Failing(reasons)))
    found = check_rule(rule, formulas, parse_formula("C"), oracle)
    assert isinstance(found, Undecided)
    assert found.broken == broken
    assert found.reason == f"a question of the rule stayed undecided ({reasons[0]})"


class Failing:
    """A solver that decides nothing, for one reason after another; the last one stays."""

    name = "failing"

    def __init__(self, reasons: list[Reason]) -> None:
        self._reasons = list(reasons)

    def decide(self, _query: Query) -> Answer:
        return Unknown(self._reasons.pop(0) if len(self._reasons) > 1 else self._reasons[0])


def test_whether_a_principal_premise_is_trivial_may_stay_open() -> None:
    rule = TRAIN.find("IMPLICATION_ELIMINATION")
    assert rule is not None
    never_all = " ∧ ".join(f"A{n}" for n in range(24))  # false in every fixed structure
    formulas = (parse_formula(f"{never_all} → B"), parse_formula(never_all))
    result = check_rule(rule, formulas, parse_formula("B"), Oracle(Answers(SILENT)))
    assert result == Undecided("whether a premise is a tautology stayed undecided")


def test_costly_steps_end_undecided_within_their_budget() -> None:
    facts = " ∧ ".join(f"K(c{n})" for n in range(40))
    chain = "∀x ∀y ∀z (P(x, y) ∧ P(y, z) → P(x, z))"
    dependencies = tuple(map(parse_formula, (facts, chain, "P(c0, c1)", "∀x ∀y (P(x, y) → Q(y, x))")))
    for rule in FOLIO.rules:
        result = check_rule(rule, dependencies, parse_formula("Q(c9, c9)"), ORACLE)
        assert not isinstance(result, Match)
    spent = check_rule(FOLIO.rules[0], dependencies, parse_formula("Q(c1, c0)"), ORACLE, budget=10)
    assert isinstance(spent, Undecided)


COSTS = [
    ("IE", "A → B; A |- B", 43),
    ("DS", "A ∨ B; ¬A |- B", 43),
    ("XOI", "A; ¬B |- A ⊕ B", 43),
    ("CI", "A; B |- A ∧ B", 3),
    ("CI", "A; B |- A ∧ C", 8),
    ("CI", "A ∧ B; C |- B ∧ C ∧ A", 3),
    ("CE", "A ∧ A ∧ B |- B", 27),
    ("CE", "C ∧ (A → B); A |- C", 23),
    ("CE", "(A → B) ∧ (C → D ∧ E); A |- B", 69),
    ("CE", "(A → B) ∧ (C → D ∧ (A → G)); A; C |- E", 118),
    ("CE", "A ∧ (A ∧ B) |- C", 36),
    ("CE", "B ∧ (A → B); A |- C", 44),
    ("UE", "∀x P(x); Q(b) ∧ Q(c) |- P(c)", 25),
    ("UE", "∀x P(x) |- P(b)", 24),
    ("UE", f"∀x R({', '.join('x' * 14)}) |- R({', '.join('b' * 14)})", 28),  # a long instance costs more
    ("CE", f"R({', '.join('b' * 14)}) ∧ B |- B", 25),  # and is none here
    ("EI", "R(a, a); P(a) |- ∃x (R(x, x) ∧ P(x))", 4),
    ("EI", "R(a, b) |- ∃x ∃y R(x, y)", 10),
    ("UIC", "∀x (P(x) → Q(x)); ∀x (Q(x) → R(x)); ∀x (R(x) → S(x)) |- ∀x (P(x) → S(x))", 68),
]
"""What checks cost. Another search may cost something else; then verdicts near the budget change, too."""


class Charged(Oracle):
    """Notes what it is charged."""

    def __init__(self) -> None:
        super().__init__(ORACLE.answers)
        self.charges: list[int] = []

    def charge(self, steps: int) -> None:
        self.charges.append(steps)


def test_checks_leave_nothing_to_the_garbage_collector() -> None:
    """Collecting the cycles of each step took a fifth of the time of a trace. Other threads may leave cycles, too."""
    for short, step, _ in COSTS:
        check(short, step)  # which makes what is made once
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for short, step, _ in COSTS:
            check(short, step)
        gc.collect()
        modules = [getattr(thing, "__module__", None) for thing in gc.garbage]
        assert not [module for module in modules if module is not None and module.startswith("proof_r1_formal")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def test_what_checks_cost() -> None:
    """Just enough is enough; one less leaves the step undecided. The charge does not depend on the budget."""
    for short, step, cost in COSTS:
        rule = FOLIO.find(SHORT[short])
        assert rule is not None
        dependencies, conclusion = read(step)
        oracle = Charged()
        result = check_rule(rule, dependencies, conclusion, oracle)
        charged = oracle.charges[-1]
        assert charged >= cost, step
        check_rule(rule, dependencies, conclusion, oracle, budget=charged)
        assert oracle.charges[-1] == charged, step
        assert (step, check_rule(rule, dependencies, conclusion, ORACLE, budget=cost)) == (step, result)
        assert (step, check_rule(rule, dependencies, conclusion, ORACLE, budget=cost - 1)) == (step, Undecided(SPENT))


def test_plain_parts_need_no_question_about_antecedents() -> None:
    rule = TRAIN.find("IMPLICATION_ELIMINATION")
    assert rule is not None
    dependencies, conclusion = read("A ∨ B → C; A |- C")
    oracle = Charged()
    result = check_rule(rule, dependencies, conclusion, oracle)
    assert isinstance(result, Match)
    assert (result.unstated, oracle.charges[-1]) == ((), 47)


SPENT = "the budget of the rule check is spent"


def test_spines_are_looked_at_up_to_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    step = "(A → B) ∧ (C ∧ D) |- D"  # five elements: itself, two, two; of which one is not an instance of A ∧ B
    monkeypatch.setattr(matching, "SPINE_BUDGET", 5)
    assert check("UE", step) == NoMatch()
    monkeypatch.setattr(matching, "SPINE_BUDGET", 4)
    assert check("UE", step) == Undecided("a dependency has more than 4 parts and instances")
    assert isinstance(check("IE", "D ∧ (C ∧ (A → B)); A |- B"), Undecided)


def test_too_many_parts_leave_the_check_open() -> None:
    many = " ∨ ".join(f"A{i}" for i in range(12))
    assert isinstance(check("DS", f"{many}; ¬A0 |- {many.removeprefix('A0 ∨ ')}"), Undecided)
    assert isinstance(check("CI", f"B; C |- {many.replace('∨', '∧')}"), Undecided)


def test_the_search_for_stated_premises_is_charged() -> None:
    rule = TRAIN.find("IMPLICATION_ELIMINATION")
    assert rule is not None
    dependencies, goal = tuple(map(parse_formula, ("A → B", "B → C", "A"))), parse_formula("C")
    results = [check_rule(rule, dependencies, goal, ORACLE, budget=budget) for budget in range(200)]
    enough = next(budget for budget, result in enumerate(results) if isinstance(result, Match))
    assert all(isinstance(result, Match) for result in results[enough:])
    charged = []
    for budget in (enough, CHECK_BUDGET):
        metered = ORACLE.with_budget(CHECK_BUDGET, "test")
        check_rule(rule, dependencies, goal, metered, budget=budget)
        charged.append(metered.charged)
    assert charged[0] < charged[1]
