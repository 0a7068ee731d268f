"""Substitution, normal forms: properties against the reference evaluator."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.errors import SignatureError
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.signature import FunctionType, Signature, SignatureBuilder, mangle
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    And,
    Atom,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Not,
    Or,
    Top,
    atom,
    const,
    var,
)
from proof_r1_formal.kernel.transform import alpha_equivalent, alpha_normal, subformulas, substitute
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.equivalence import operands, regroup
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests.names import unmangle

SIGNATURE = Signature(
    {"P": (ENTITY,), "Q": (ENTITY,), "R": (ENTITY, ENTITY), "A": ()},
    {"a": FunctionType((), ENTITY), "b": FunctionType((), ENTITY), "f": FunctionType((ENTITY,), ENTITY)},
)
FORMULAS = strategies.formulas(SIGNATURE)
STRUCTURES = strategies.structures(SIGNATURE, max_elements=2)


# -- transformations --------------------------------------------------------------------------------------------------


@given(FORMULAS, STRUCTURES)
def test_normal_forms_mean_the_same(formula: Formula, structure: Structure) -> None:
    value = evaluate(formula, structure)
    assert evaluate(regroup(formula), structure) == value
    assert evaluate(alpha_normal(formula), structure) == value


@given(FORMULAS)
def test_the_parts_of_a_normal_formula_are_normal(formula: Formula) -> None:
    assert all(alpha_normal(part) is part for part in subformulas(alpha_normal(formula)))


@given(FORMULAS, st.randoms(use_true_random=False))
def test_regrouping_keeps_the_representative(formula: Formula, rng: random.Random) -> None:
    def scrambled(part: Formula) -> Formula:
        match part:
            case And() | Or():
                parts = [scrambled(f) for f in operands(part, type(part))]
                rng.shuffle(parts)
                while len(parts) > 1:
                    right = parts.pop(rng.randrange(len(parts)))
                    left = parts.pop(rng.randrange(len(parts)))
                    parts.append(type(part)(left, right))
                return parts[0]
            case Top() | Bottom() | Atom() | Eq():
                return part
            case Not(body):
                return Not(scrambled(body))
            case ForAll(variable, body) | Exists(variable, body):
                renamed = var(f"{variable.name}{rng.randrange(1000)}", variable.sort)
                if renamed in body.free:
                    renamed = variable
                return type(part)(renamed, scrambled(substitute(body, {variable: renamed})))
            case _:
                return type(part)(scrambled(part.left), scrambled(part.right))

    assert regroup(scrambled(formula)) is regroup(formula)


def test_substitution_does_not_capture() -> None:
    x, y = var("x"), var("y")
    formula = ForAll(y, Atom("R", (x, y)))
    result = substitute(formula, {x: y})
    assert result.free == {y}
    assert alpha_equivalent(result, ForAll(var("z"), Atom("R", (y, var("z")))))
    assert substitute(formula, {y: x}) is formula


def test_alpha_equivalence() -> None:
    def same(first: str, second: str) -> bool:
        return alpha_equivalent(parse_formula(first), parse_formula(second))

    assert same("∀x ∃y R(x, y)", "∀y ∃x R(y, x)")
    assert same("∀x (P(x) ∧ ∃x Q(x))", "∀x (P(x) ∧ ∃y Q(y))")
    assert not same("∀x ∃y R(x, y)", "∀x ∃y R(y, x)")
    assert not same("∀x:A P(x)", "∀x:B P(x)")


def test_substitution_leaves_a_bound_variable_of_the_same_name() -> None:
    """Also where another variable is replaced below its quantifier."""
    x, y = var("x"), var("y")
    formula = And(atom("P", x), ForAll(x, atom("R", x, y)))
    expected = And(atom("P", const("a")), ForAll(x, atom("R", x, const("b"))))
    assert substitute(formula, {x: const("a"), y: const("b")}) == expected


def test_normal_names_capture_nothing() -> None:
    x, y = var("x"), var("y")
    short = parse_formula("∀x (P(x) → Q(x))")
    assert alpha_normal(short) is short is alpha_normal(parse_formula("∀y (P(y) → Q(y))"))
    nested = parse_formula("∀x ∃y R(x, y)")
    assert alpha_normal(nested) is ForAll(var("␣1"), Exists(x, atom("R", var("␣1"), x)))
    beside_free = Exists(y, atom("R", x, y))
    assert alpha_normal(beside_free) is Exists(var("␣0"), atom("R", x, var("␣0")))
    assert alpha_normal(Exists(x, atom("R", y, x))) is Exists(x, atom("R", y, x))
    assert not alpha_equivalent(beside_free, Exists(x, atom("R", x, x)))


def test_show_renames_what_the_convention_cannot_say() -> None:
    x = var("x")
    for formula in (
        And(ForAll(x, Atom("P", (x,))), Atom("Q", (const("x"),))),
        ForAll(x, Exists(var("x", "Person"), And(Atom("P", (x,)), Atom("Q", (var("x", "Person"),))))),
    ):
        assert alpha_equivalent(parse_formula(show(formula)), formula)


# -- signature and names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "first", "second"),
    [
        (["P(a)", "P(a, b)"], "a predicate of 1 argument", "a predicate of 2 arguments"),
        (["P(f(a))", "Q(f)"], "a function of 1 argument", "a constant"),
        (["∀x:A P(x)", "∀x:B P(x)"], "taking sort A", "taking sort B"),
        (["∀x:A P(x) ∧ P(c)", "∀y:B Q(y) ∧ Q(c)"], "taking sort B", "taking sort A"),
    ],
)
def test_clashes_name_both_uses(texts: list[str], first: str, second: str) -> None:
    with pytest.raises(SignatureError) as caught:
        Signature.infer(map(parse_formula, texts))
    assert {caught.value.first, caught.value.second} == {first, second}
    assert pickle.loads(pickle.dumps(caught.value)).name == caught.value.name


def test_sorts_are_inferred() -> None:
    signature = Signature.infer([parse_formula("∀x:Person (likes(x, rome) → x = boss(rome))")])
    assert signature.predicates == {"likes": ("Person", ENTITY)}
    assert signature.functions == {"rome": FunctionType((), ENTITY), "boss": FunctionType((ENTITY,), "Person")}


def test_extending_a_builder_leaves_it_as_it_was() -> None:
    builder = SignatureBuilder([parse_formula("P(a)")])
    before = builder.signature()
    with pytest.raises(SignatureError):
        builder.extend(parse_formula("Q(b) ∧ P(a, b)"))
    assert builder.extend(parse_formula("Q(b)")).signature().predicates.keys() == {"P", "Q"}
    assert builder.signature() == before


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("wise(ann) → cat(tom)", False),
        ("∃x:Person wise(x)", False),
        ("wise(tom)", True),  # tom is a Person
        ('∀"x":Animal cat(tom)', True),  # a sort
        ("cold ∧ new(ann)", True),
        ("cold", True),
    ],
)
def test_a_builder_is_copied_for_what_it_does_not_know(text: str, new: bool) -> None:
    builder = SignatureBuilder(map(parse_formula, ["∀x:Person wise(x)", "wise(ann)", "cat(tom)"]))
    extended = builder.extend(parse_formula(text))
    assert (extended is not builder) == new
    assert (extended.signature() != builder.signature()) == new


@given(st.text(min_size=1, max_size=12) | st.text(alphabet="_0z1a", min_size=1, max_size=12), st.sampled_from("pfsv"))
def test_mangling_is_undone_and_safe(name: str, prefix: str) -> None:
    mangled = mangle(name, prefix)
    assert unmangle(mangled, prefix) == name
    assert mangled.isascii()
    assert mangled.replace("_", "").isalnum()
    assert not mangled.endswith("_")


@given(st.lists(st.text(alphabet="_0z5fa", max_size=6), min_size=2, max_size=2, unique=True))
def test_mangling_is_injective(names: list[str]) -> None:
    assert mangle(names[0], "p") != mangle(names[1], "p")
