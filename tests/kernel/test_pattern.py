"""Instances of patterns: no quantifier of a pattern binds a variable of what the pattern's letters stand for."""

from __future__ import annotations

from itertools import product

import pytest

from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.pattern import Lambda, Substitution, instance, require_letters
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    TOP,
    App,
    Exists,
    ForAll,
    Formula,
    Term,
    Var,
    atom,
    conjunction,
    const,
    var,
)
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.rules.matching import MAX_OPERANDS, matches
from proof_r1_formal.rules.schema import Catalogue, Example, Rule, schema
from proof_r1_formal.text.parse import parse_formula

X, Y, Z = var("x"), var("y"), var("z")
R_XY = Lambda((X, Y), atom("R", X, Y))


def relation(first: Term, second: Term) -> Formula:
    return atom("R", first, second)


@pytest.mark.parametrize(
    ("pattern", "substitution", "expected"),
    [
        # a formula that is free in the variable that the pattern binds
        (ForAll(X, atom("A")), {"A": Lambda((), atom("P", X))}, ForAll(Z, atom("P", X))),
        (ForAll(X, atom("A")), {"A": Lambda((), atom("P", Y)), "x": Y}, ForAll(Z, atom("P", Y))),
        (ForAll(X, atom("A", X)), {"A": Lambda((Z,), relation(Z, X))}, ForAll(Y, relation(Y, X))),
        # a term that has that variable
        (ForAll(X, atom("A", X, const("t"))), {"A": R_XY, "t": X}, ForAll(Z, relation(Z, X))),
        (ForAll(X, atom("A", X, const("t"))), {"A": R_XY, "t": App("f", (X,))}, ForAll(Z, relation(Z, App("f", (X,))))),
        # two variables of the pattern that get one name
        (ForAll(X, Exists(Y, atom("A", X, Y))), {"A": R_XY, "x": Z, "y": Z}, ForAll(X, Exists(Y, relation(X, Y)))),
        (ForAll(X, Exists(Y, atom("A", X, Y))), {"A": R_XY, "x": Y}, ForAll(X, Exists(Y, relation(X, Y)))),
        (ForAll(X, Exists(X, atom("A", X, X))), {"A": R_XY}, ForAll(X, Exists(Y, relation(Y, Y)))),
        # a quantifier of the value, whose variable the pattern passes in
        (ForAll(X, atom("A", X)), {"A": Lambda((Y,), Exists(X, relation(X, Y)))}, ForAll(Z, Exists(Y, relation(Y, Z)))),
        # a hole of the same name as a variable of the pattern, and one that is there twice
        (ForAll(X, ForAll(Y, atom("A", Y, X))), {"A": R_XY}, ForAll(Z, ForAll(X, relation(X, Z)))),
        (
            ForAll(X, Exists(Y, atom("A", X, Y))),
            {"A": Lambda((Z, Z), relation(Z, Z))},
            ForAll(X, Exists(Y, relation(Y, Y))),
        ),
    ],
)
def test_no_variable_is_captured(pattern: Formula, substitution: Substitution, expected: Formula) -> None:
    made = instance(pattern, substitution)
    assert alpha_equivalent(made, expected), made
    assert made.free == expected.free


@pytest.mark.parametrize("quantifiers", list(product((ForAll, Exists), repeat=2)))
@pytest.mark.parametrize("arguments", list(product("xy", repeat=2)))
@pytest.mark.parametrize(
    "formula", ['∀"z" ∃z R(z, z)', '∃"z" ∀z R(z, z)', '∀"z" ∀z R(z, z)', '∃"z" ∃z R(z, z)', "∃z ∀y R(z,y)"]
)
def test_a_match_gives_the_formula_back(
    quantifiers: tuple[type[ForAll | Exists], ...], arguments: tuple[str, str], formula: str
) -> None:
    """Whatever the names of the formula's bound variables, the instance is the formula."""
    outer, inner = quantifiers
    pattern = outer(X, inner(Y, atom("A", *map(var, arguments))))
    for substitution in matches(pattern, parse_formula(formula)):
        assert alpha_equivalent(instance(pattern, substitution), parse_formula(formula))


def test_quantifiers_of_one_name_keep_their_order() -> None:
    """∃z ∀z R(z,z) says ∀z R(z,z), which ∃x ∀y A(x,y) ⊢ ∃y ∀x A(y,x) must not turn into ∃z ∀_ R(z,z)."""
    formula = parse_formula('∃"z" ∀z R(z, z)')
    (substitution,) = matches(parse_formula("∃x ∀y A(y,x)"), formula)
    structure = Structure({ENTITY: 2}, {"R": frozenset({(0, 0)})})
    assert not evaluate(formula, structure)
    assert not evaluate(instance(parse_formula("∃y ∀x A(x,y)"), substitution), structure)


def found(pattern: str, formula: Formula, known: Substitution | None = None) -> list[dict[str, str]]:
    """The substitutions as text."""
    matched = matches(parse_formula(pattern), formula, known)
    return [{name: str(v.body if isinstance(v, Lambda) else v) for name, v in one.items()} for one in matched]


BLOCK = [("y", "zw"), ("z", "yw"), ("w", "yz")]
"""Each variable of a block, and those that stay behind it."""


@pytest.mark.parametrize(
    ("pattern", "formula", "known", "expected"),
    [
        ("B → C", "Q → R", {"B": "Q"}, [{"B": "Q", "C": "R"}]),
        ("B → C", "P → R", {"B": "Q"}, []),
        ("A → A", "P → P", {}, [{"A": "P"}]),
        ("A → A", "P → Q", {}, []),
        ("∀x (A(x) → A(x))", "∀y (P(y) → P(y))", {}, [{"x": "y", "A": "P(y)"}]),
        ("∀x (A(x) → A(x))", "∀y (P(y) → Q(y))", {}, []),
        ("∃x A(x)", "∃y ∃z ∃w R(y, z, w)", {}, [{"x": v, "A": f"∃{r[0]} ∃{r[1]} R(y, z, w)"} for v, r in BLOCK]),
        ("∀x A(x)", '∀"y" ∀y P(y)', {}, [{"x": "y", "A": "∀y P(y)"}]),
    ],
)
def test_a_letter_stands_for_one_formula(
    pattern: str, formula: str, known: dict[str, str], expected: list[dict[str, str]]
) -> None:
    given = {name: Lambda((), parse_formula(text)) for name, text in known.items()}
    assert found(pattern, parse_formula(formula), given) == expected


def test_a_bound_variable_stands_for_variables_of_one_sort() -> None:
    person = Var("x", "Person")
    formula = ForAll(person, atom("P", person))
    assert found("∀x A(x)", formula, {"x": Var("y", "Person")}) == [{"x": "y", "A": "P(x)"}]
    assert found("∀x A(x)", formula, {"x": Y}) == found("∀x A(x)", formula, {"x": const("a")}) == []


def test_a_name_of_another_kind_fits_nothing() -> None:
    assert found("∀x A(x)", parse_formula("∀x P(x)"), {"x": Lambda((), atom("P"))}) == []
    assert found("A", atom("P"), {"A": const("a")}) == []


def test_conjunctions_are_split_up_to_ten_operands() -> None:
    skipped: list[str] = []
    parts = tuple([atom(f"P{number}") for number in range(MAX_OPERANDS + 1)])
    for count, divisions in [(MAX_OPERANDS, 2**MAX_OPERANDS - 2), (MAX_OPERANDS + 1, 0)]:
        formula = conjunction(parts[:count])
        assert len(matches(parse_formula("A ∧ B"), formula, skipped=lambda: skipped.append("once"))) == divisions
    assert skipped == ["once"]


def test_a_letter_that_is_matched_applies_to_bound_variables() -> None:
    with pytest.raises(CatalogueError, match="may apply 'A' to bound variables only"):
        matches(parse_formula("A(t)"), parse_formula("P(a)"))


def test_a_pattern_has_no_truth_values() -> None:
    with pytest.raises(CatalogueError, match="a pattern cannot contain Top"):
        matches(TOP, TOP)


@pytest.mark.parametrize(
    "patterns",
    [("∀x A(x)", "A(x)"), ("A(x)", '∃"x" B'), ("A", "A(t)"), ("A(B)", "B"), ("∀x A(x)", "x"), ("A(f(t))", "B(f)")],
)
def test_a_name_has_one_use_in_patterns(patterns: tuple[str, ...]) -> None:
    with pytest.raises(CatalogueError, match="in two ways"):
        require_letters(map(parse_formula, patterns))


def test_a_catalogue_refuses_a_schema_with_a_letter_of_two_uses() -> None:
    captured = Rule("CAPTURED", "", (schema("captured", "∀x A(x)", "", "A(x)"),), Example((), ""))
    with pytest.raises(CatalogueError, match="catalogue own: schema 'captured': patterns use 'x' in two ways"):
        Catalogue("own", (captured,), unchecked=True)


def test_a_variable_of_another_sort_and_the_same_name_is_another() -> None:
    person = Var("x", "Person")
    made = instance(ForAll(X, atom("A")), {"A": Lambda((), atom("P", person))})
    assert made.free == {person}
