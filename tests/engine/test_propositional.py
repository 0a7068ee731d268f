"""Truth tables and clauses against trying every assignment; what stands for quantifiers, equality, budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine import propositional
from proof_r1_formal.engine.grounding import Grounding, Signed
from proof_r1_formal.engine.propositional import BUDGET, Assignment, Clauses, TruthTable
from proof_r1_formal.engine.solver import BudgetSpentError
from proof_r1_formal.engine.truth_table import TooManyAtomsError
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.syntax import BOTTOM, ENTITY, TOP, And, Eq, ForAll, Formula, Or, atom, const, var
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.text.parse import parse_formula
from tests.build import compound, pigeons


def by_clauses(formulas: Sequence[Signed], budget: int = BUDGET) -> Assignment | None:
    """The answer of the SAT solver, whatever the number of atoms."""
    return Clauses(Grounding(formulas), budget).satisfying_assignment(formulas)


def by_table(formulas: Sequence[Signed], budget: int = BUDGET) -> Assignment | None:
    return TruthTable(Grounding(formulas), budget=budget).satisfying_assignment(formulas)


each_path = pytest.mark.parametrize("path", [by_table, by_clauses])


def read(*texts: str) -> list[Signed]:
    return [(alpha_normal(parse_formula(text)), True) for text in texts]


# -- against trying everything ----------------------------------------------------------------------------------------


def worlds(count: int) -> Iterator[Structure]:
    """The assignments of ``p0``, ``p1``, … as structures."""
    for values in product((False, True), repeat=count):
        yield Structure({ENTITY: 1}, {f"p{n}": frozenset({()} if value else ()) for n, value in enumerate(values)})


def world(assignment: Assignment, count: int) -> Structure:
    return Structure(
        {ENTITY: 1}, {f"p{n}": frozenset({()} if assignment.get(atom(f"p{n}"), False) else ()) for n in range(count)}
    )


def propositions(count: int) -> st.SearchStrategy[Formula]:
    """Formulas over ``p0``, ``p1``, … and the truth values."""
    atoms = st.sampled_from([atom(f"p{number}") for number in range(count)])
    return st.recursive(atoms | st.sampled_from((TOP, BOTTOM)), compound, max_leaves=40)


def signed(count: int) -> st.SearchStrategy[list[Signed]]:
    return st.lists(st.tuples(propositions(count), st.booleans()), min_size=1, max_size=4)


def holds(formulas: Sequence[Signed], structure: Structure) -> bool:
    return all(evaluate(formula, structure) == sign for formula, sign in formulas)


@each_path
@settings(max_examples=150)
@given(formulas=signed(5))
def test_an_assignment_is_found_exactly_if_there_is_one(
    path: Callable[[Sequence[Signed]], Assignment | None], formulas: list[Signed]
) -> None:
    assignment = path(formulas)
    if assignment is None:
        assert not any(holds(formulas, structure) for structure in worlds(5))
    else:
        assert holds(formulas, world(assignment, 5))


@given(propositions(6), st.booleans())
def test_a_truth_table_has_a_bit_for_each_assignment(formula: Formula, sign: bool) -> None:
    """The atom of index k is true in the assignments whose number has bit k."""
    table = TruthTable(Grounding([(formula, sign)]))
    order = [table.truth(atom(f"p{number}"), True) for number in range(6)]
    truth = table.truth(formula, sign)
    for number in range(64):
        predicates = {f"p{n}": frozenset({()} if column >> number & 1 else ()) for n, column in enumerate(order)}
        assert bool(truth >> number & 1) == (evaluate(formula, Structure({ENTITY: 1}, predicates)) == sign)


# -- equality, by the laws that are added -----------------------------------------------------------------------------

LETTERS = "abcd"


def partitions() -> Iterator[tuple[int, ...]]:
    """Every way in which four constants can be equal, as an element for each."""
    for elements in product(range(4), repeat=4):
        if all(element <= max(elements[:index], default=-1) + 1 for index, element in enumerate(elements)):
            yield elements


def equality_worlds() -> Iterator[Structure]:
    for elements in partitions():
        constants: dict[str, dict[tuple[int, ...], int]] = {
            letter: {(): element} for letter, element in zip(LETTERS, elements, strict=True)
        }
        for marks in product((False, True), repeat=max(elements) + 1):
            marked = frozenset({(element,) for element, mark in enumerate(marks) if mark})
            yield Structure({ENTITY: max(elements) + 1}, {"p": marked}, constants)


TERMS = st.sampled_from([const(letter) for letter in LETTERS])


@each_path
@settings(max_examples=100)
@given(
    formulas=st.lists(
        st.tuples(
            st.recursive(st.builds(Eq, TERMS, TERMS) | TERMS.map(lambda term: atom("p", term)), compound, max_leaves=4),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_equations_are_an_equality(
    path: Callable[[Sequence[Signed]], Assignment | None], formulas: list[Signed]
) -> None:
    try:
        assignment = path(formulas)
    except TooManyAtomsError:
        assignment = by_clauses(formulas)
    assert (assignment is not None) == any(holds(formulas, structure) for structure in equality_worlds())


# -- quantifiers, by what stands for them -----------------------------------------------------------------------------


def test_weak_and_strong_quantifiers() -> None:
    (all_cats, _), *_ = formulas = read("∀x cat(x)", "dog(tom)", "dog(rex)")
    grounding = Grounding([*formulas, (all_cats, False)])
    table = TruthTable(grounding)
    cats = [table.truth(atom("cat", term), True) for term in grounding.terms[ENTITY]]
    assert len(cats) == 3
    assert table.truth(all_cats, True) == cats[0] & cats[1] & cats[2]
    assert table.truth(all_cats, False) in [table.every ^ cat for cat in cats]


# -- budgets ----------------------------------------------------------------------------------------------------------

DIFFERENT = "p → ((q ∧ ¬r) → p)"  # itself, p, (…) → p, q ∧ ¬r, q, r; a clause for each sign that is needed


def test_the_budget_counts_each_formula_once() -> None:
    formulas = read(DIFFERENT)
    repeated = [*formulas, *formulas, *[(formula, False) for formula, _ in formulas]]
    assert by_table(repeated, budget=6) is None
    with pytest.raises(BudgetSpentError, match="more than 5 ground formulas"):
        by_table(formulas, budget=5)


@each_path
def test_instances_are_counted(path: Callable[[Sequence[Signed]], Assignment | None]) -> None:
    """Sixteen quantifiers over two constants have 2^16 instances of the body."""
    formula: Formula = And(Eq(var("x0"), const("a")), Eq(var("x15"), const("b")))
    for number in range(1, 15):
        formula = Or(formula, Eq(var(f"x{number}"), const("a")))
    for number in range(16):
        formula = ForAll(var(f"x{number}"), formula)
    with pytest.raises(BudgetSpentError, match=f"more than {BUDGET} ground formulas"):
        path([(alpha_normal(formula), True)])


def test_conflicts_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    formulas = [(formula, True) for formula in pigeons(7, 6).dependencies]
    assert by_clauses(formulas) is None
    monkeypatch.setattr(propositional, "CONFLICTS", 20)
    with pytest.raises(BudgetSpentError, match="more than 20 conflicts in the SAT solver"):
        by_clauses(formulas)
    with pytest.raises(BudgetSpentError, match="more than 10 conflicts in the SAT solver"):
        by_clauses(formulas, budget=BUDGET // 2)
