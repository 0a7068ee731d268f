"""The reference evaluator: each connective by its table, quantifiers by what they range over, and what it refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.errors import ProofR1Error, StructureError
from proof_r1_formal.kernel.model import Structure, evaluate, evaluation_steps, value_of
from proof_r1_formal.kernel.serial import Data, structure_from_data
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    And,
    App,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Top,
    Var,
    Xor,
    atom,
    const,
    var,
)
from proof_r1_formal.kernel.transform import instantiate
from proof_r1_formal.testing.strategies import formulas, structures
from proof_r1_formal.text.parse import parse_formula

X, Y = var("x"), var("y")


@pytest.mark.parametrize(
    ("text", "table"),  # of p q = 00 01 10 11
    [
        ("p ∧ q", "0001"),
        ("p ∨ q", "0111"),
        ("p ⊕ q", "0110"),
        ("p → q", "1101"),
        ("p ↔ q", "1001"),
        ("¬p", "1100"),
        ("⊤", "1111"),
        ("⊥", "0000"),
        ("p", "0011"),
    ],
)
def test_tables(text: str, table: str) -> None:
    for row, expected in zip((0, 1, 2, 3), table, strict=True):
        truth = {"p": frozenset([()] * (row >> 1)), "q": frozenset([()] * (row & 1))}
        assert evaluate(parse_formula(text), Structure({}, truth)) is (expected == "1")


# 0 and 1 are persons, 0 likes 1, 1 likes 0 and 1; the father of 0 is 1, that of 1 is 1; there is one dog
PEOPLE = Structure(
    {ENTITY: 2, "Dog": 1, "Cat": 3},
    {"likes": frozenset({(0, 1), (1, 0), (1, 1)}), "tall": frozenset({(1,)}), "owns": frozenset({(1, 0)})},
    {
        "ann": {(): 0},
        "bob": {(): 1},
        "father": {(0,): 1, (1,): 1},
        "heir": {(0, 1): 0, (1, 0): 1, (0, 0): 0, (1, 1): 1},
    },
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("likes(ann, bob)", True),
        ("likes(ann, ann)", False),
        ("tall(bob)", True),
        ("tall(father(ann))", True),
        ("tall(heir(ann, bob))", False),
        ("tall(heir(bob, ann))", True),
        ("tall(father(father(ann)))", True),
        ("ann = bob", False),
        ("father(ann) = bob", True),
        ("bob = father(bob)", True),
        ("∀x tall(x)", False),
        ("∀x ¬tall(x)", False),
        ("∀x x = ann", False),
        ("∃x x = bob", True),
        ("∃x tall(x)", True),
        ("∀x tall(father(x))", True),
        ("∃x likes(x, ann) ∧ ¬tall(ann)", True),
        ("∀x ∃y likes(x, y)", True),
        ("∃y ∀x likes(x, y)", True),
        ("∃x ∀y likes(x, y)", True),
        ("∀x ∀y likes(x, y)", False),
        ("∃x ∃y ¬likes(x, y)", True),
        ('∀"x" ∃x tall(x)', True),  # the inner quantifier's variable is meant
        ('∃"x" ∀x tall(x)', False),
        ("∀x ((∃x ¬tall(x)) ∧ (tall(x) ∨ ¬tall(x)))", True),
        ("∃x:Dog owns(bob, x)", True),
        ("∀x:Dog owns(bob, x)", True),
        ("∃x:Dog owns(ann, x)", False),
        ("∃x:Cat ∃y:Cat ∃z:Cat (¬x = y ∧ ¬x = z ∧ ¬y = z)", True),
        ("∃x ∃y ∃z (¬x = y ∧ ¬x = z ∧ ¬y = z)", False),
    ],
)
def test_worked_examples(text: str, expected: bool) -> None:
    assert evaluate(parse_formula(text), PEOPLE) is expected


@pytest.mark.parametrize("text", ["{0} ∧ {1}", "{1} ∨ ¬{0}", "{0} ⊕ {1}", "{0} → {1}", "{0} ↔ {1}", "¬{1}"])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_both_sides_read_the_assignment(text: str, x: int, y: int) -> None:
    named = parse_formula(text.format(*["tall(ann)" if element == 0 else "tall(bob)" for element in (x, y)]))
    closed = parse_formula(f'∀"x" ∀"y" ({text.format("tall(x)", "tall(y)")})')
    assert isinstance(closed, ForAll)
    assert isinstance(closed.body, ForAll)
    assert evaluate(closed.body.body, PEOPLE, {X: x, Y: y}) is evaluate(named, PEOPLE)


def test_free_variables_are_read_from_the_assignment() -> None:
    assert evaluate(atom("likes", X, Y), PEOPLE, {X: 0, Y: 1}) is True
    assert evaluate(atom("likes", X, Y), PEOPLE, {X: 0, Y: 0}) is False
    assert evaluate(ForAll(X, atom("likes", X, Y)), PEOPLE, {X: 7, Y: 1}) is True  # that x is another one
    assert evaluate(Exists(X, atom("likes", Y, X)), PEOPLE, {X: 7, Y: 0}) is True
    assert evaluate(Exists(X, Not(atom("likes", X, Y))), PEOPLE, {Y: 1}) is False
    assert value_of(App("father", (X,)), PEOPLE, {X: 0}) == 1


def test_an_assignment_is_left_as_it_was() -> None:
    assignment = {X: 0, Y: 1}
    evaluate(ForAll(X, Exists(Y, atom("likes", X, Y))), PEOPLE, assignment)
    assert assignment == {X: 0, Y: 1}


def test_variables_of_one_name_and_two_sorts_are_two() -> None:
    dog = Var("x", "Dog")
    both = ForAll(X, Exists(dog, Or(atom("tall", X), Not(atom("owns", X, dog)))))
    assert evaluate(both, PEOPLE) is True
    with pytest.raises(StructureError, match="variable 'x' has no value"):
        evaluate(atom("tall", X), PEOPLE, {dog: 1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("short(ann)", "predicate 'short'"),
        ("tall(eve)", r"'eve' at \(\)"),
        ("tall(mother(ann))", r"'mother' at \(0,\)"),
        ("tall(father(ann, bob))", r"'father' at \(0, 1\)"),
        ("eve = ann", "'eve'"),
        ("ann = eve", "'eve'"),
        ("∀x:Bird tall(x)", "sort 'Bird'"),
        ("∃x:Bird tall(x)", "sort 'Bird'"),
        ("likes(ann, eve)", "'eve'"),
    ],
)
def test_what_is_not_interpreted_has_no_value(text: str, message: str) -> None:
    with pytest.raises(StructureError, match=message):
        evaluate(parse_formula(text), PEOPLE)


def test_a_variable_without_a_value_is_refused() -> None:
    with pytest.raises(StructureError, match="variable 'x' has no value"):
        evaluate(atom("tall", X), PEOPLE)
    with pytest.raises(StructureError, match="variable 'x' has no value"):
        value_of(App("father", (X,)), PEOPLE, {Y: 0})


@pytest.mark.parametrize("size", [0, -1])
def test_domains_are_not_empty(size: int) -> None:
    with pytest.raises(StructureError, match="sort 'Dog' has no element"):
        Structure({ENTITY: 1, "Dog": size})
    assert evaluate(parse_formula("∃x x = x"), Structure({ENTITY: 1}))


ROW: tuple[int, ...] = (0, 1)
WRONG: dict[str, tuple[Any, Any, Any, str]] = {
    "half an element": ({ENTITY: 2}, {}, {"a": {(): 0.5}}, "0.5, in the table of 'a', is not an element"),
    "a whole float": ({ENTITY: 2}, {}, {"a": {(): 1.0}}, "1.0, in the table of 'a', is not an element"),
    "True as a value": ({ENTITY: 2}, {}, {"a": {(): True}}, "True, in the table of 'a', is not an element"),
    "True as an argument": ({ENTITY: 2}, {}, {"f": {(0,): 0, (True,): 0}}, "True, in the table of 'f'"),
    "True in a tuple": ({ENTITY: 2}, {"P": frozenset({(True,)})}, {}, "True, in the table of 'P'"),
    "a text": ({ENTITY: 2}, {"P": frozenset({("0",)})}, {}, "'0', in the table of 'P'"),
    "nothing": ({ENTITY: 2}, {}, {"a": {(): None}}, "None, in the table of 'a'"),
    "a negative element": ({ENTITY: 2}, {"P": frozenset({(-1,)})}, {}, "-1, in the table of 'P'"),
    "a negative element beside another": ({ENTITY: 2}, {"P": frozenset({(-1,), (1,)})}, {}, "-1, in the table of 'P'"),
    "a value out of the domain": ({ENTITY: 2}, {}, {"a": {(): 2}}, "2, in the table of 'a'"),
    "an element out of the domain": ({ENTITY: 2}, {"P": frozenset({(0,), (2,)})}, {}, "2, in the table of 'P'"),
    "an element without a domain": ({}, {"P": frozenset({(0,)})}, {}, "0, in the table of 'P'"),
    "no value": ({ENTITY: 2}, {}, {"a": {}}, "'a' must have a value"),
    "no value of one element": ({ENTITY: 2}, {}, {"f": {(1,): 0}}, "'f' must have a value"),
    "no value of the last element": ({ENTITY: 2}, {}, {"f": {(0,): 0}}, "'f' must have a value"),
    "no value of one pair": ({ENTITY: 2}, {}, {"f": {(0, 0): 0, (0, 1): 0, (1, 1): 0}}, "'f' must have a value"),
    "tuples of two lengths": ({ENTITY: 2}, {"P": frozenset({(0,), ROW})}, {}, "'P' must have one length"),
    "arguments of two lengths": ({ENTITY: 2}, {}, {"f": {(): 0, (0,): 0}}, "'f' must have one length"),
    "an argument that is no tuple": ({ENTITY: 2}, {}, {"f": {0: 0, 1: 0}}, "0, in the table of 'f', must be a tuple"),
    "rows in a list": ({ENTITY: 2}, {"P": [(0,)]}, {}, "must be a frozenset, not list"),
    "half a domain": ({ENTITY: 1.5}, {}, {}, "has 1.5 elements; the number must be an int"),
    "a domain of True": ({ENTITY: True}, {}, {}, "has True elements"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_structure_is_checked_when_it_is_made(case: str) -> None:
    domains, predicates, functions, message = WRONG[case]
    with pytest.raises(StructureError, match=re.escape(message)):
        Structure(domains, predicates, functions)


def test_a_structure_from_json_is_checked_like_any_other() -> None:
    data: Data = {"domains": {"Entity": 2}, "predicates": {}, "functions": {"f": [[[0], 1]]}}
    with pytest.raises(StructureError, match="'f' must have a value"):
        structure_from_data(data)
    for value in (0.5, True, "0", None):
        with pytest.raises(ProofR1Error):
            structure_from_data({"domains": {"Entity": 2}, "predicates": {}, "functions": {"a": [[[], value]]}})  # type: ignore[list-item]


def expanded(formula: Formula, structure: Structure) -> Formula:
    """The formula without quantifiers: the conjunction or disjunction of its instances by names of elements."""
    match formula:
        case ForAll(variable, _) | Exists(variable, _):
            names = [const(f"␣{element}") for element in range(structure.domains[variable.sort])]
            parts = [expanded(instantiate(formula, name), structure) for name in names]
            whole = parts[0]
            for part in parts[1:]:
                whole = And(whole, part) if isinstance(formula, ForAll) else Or(whole, part)
            return whole
        case Not(body):
            return Not(expanded(body, structure))
        case And() | Or() | Xor() | Implies() | Iff():
            return type(formula)(expanded(formula.left, structure), expanded(formula.right, structure))
        case _:
            return formula


@given(st.data())
def test_a_quantifier_is_all_or_some_of_its_instances(data: st.DataObject) -> None:
    formula = data.draw(formulas())
    structure = data.draw(structures(Signature.infer((formula,))))
    functions = dict(structure.functions)
    functions |= {f"␣{element}": {(): element} for element in range(max(structure.domains.values()))}
    larger = Structure(structure.domains, structure.predicates, functions)
    assert evaluate(formula, structure) is evaluate(expanded(formula, larger), larger)


STEPS = {
    "⊤": 1,
    "⊥": 1,
    "P(a)": 1,
    "a = b": 1,
    "¬¬P(a)": 3,
    "P(a) ∧ P(b)": 3,
    "P(a) ∨ P(b)": 3,
    "P(a) ⊕ P(b)": 3,
    "P(a) → P(b)": 3,
    "P(a) ↔ ¬P(b)": 4,
    "∀x P(x)": 1 + 3,
    "∃x (P(x) ∧ ¬P(x))": 1 + 3 * 4,
    "∀x (P(x) → ∃y (x = y ∨ P(y)))": 1 + 3 * (1 + 1 + 1 + 3 * 3),
    "¬∀x P(x)": 1 + 4,
    "∀x P(x) ∧ ∃y P(y)": 1 + 4 + 4,
    "∀x P(x) ∨ ∃y P(y)": 1 + 4 + 4,
    "(∀x P(x)) → ∃y P(y)": 1 + 4 + 4,
    '(∀"x" ⊤) ⊕ ∃"y" ⊥': 1 + 4 + 4,
    "(∀x P(x)) ↔ ∃y P(y)": 1 + 4 + 4,
}
"""Formula -> how many subformulas an evaluation visits at most where the domain has 3 elements."""


@pytest.mark.parametrize("text", STEPS)
def test_subformulas_count_once_per_value(text: str) -> None:
    assert evaluation_steps(parse_formula(text), Structure({ENTITY: 3})) == STEPS[text]


def test_steps_cannot_be_counted_without_the_domain_of_a_sort() -> None:
    with pytest.raises(StructureError, match="no domain for sort"):
        evaluation_steps(ForAll(Var("x", "Dog"), Top()), Structure({ENTITY: 3}))
