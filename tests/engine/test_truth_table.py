"""Truth tables, the semantic keys that are read off them, and fingerprints, against the reference evaluator and Z3."""

from __future__ import annotations

from functools import cache, reduce
from itertools import product
from operator import or_

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine import get_solver, truth_table
from proof_r1_formal.engine.truth_table import (
    COLUMNS,
    CONTRADICTION,
    EVERYWHERE,
    FEW_ATOMS,
    MAX_ATOMS,
    ROWS,
    TAUTOLOGY,
    WIDTH,
    SemanticKey,
    Table,
    double,
    false_everywhere,
    fingerprint_price,
    fingerprints_differ,
    fingerprints_refute,
    semantic_key,
    single,
    table_entails,
    true_everywhere,
)
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    Formula,
    Iff,
    Not,
    Or,
    atom,
    conjunction,
    disjunction,
)
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula as f
from tests.build import compound


def formulas(atoms: int) -> st.SearchStrategy[Formula]:
    """Formulas over ``p0``, ``p1``, …"""
    leaves = [*[atom(f"p{number}") for number in range(atoms)], TOP, BOTTOM]
    return st.recursive(st.sampled_from(leaves), compound, max_leaves=12)


def rows(formula: Formula, atoms: int) -> list[bool]:
    """The truth values of the formula in every world."""
    return [
        evaluate(formula, Structure({ENTITY: 1}, {f"p{n}": frozenset({()} if v else ()) for n, v in enumerate(values)}))
        for values in product((False, True), repeat=atoms)
    ]


def key(formula: Formula) -> SemanticKey:
    found = semantic_key(formula)
    assert found is not None
    return found


@settings(max_examples=400)
@given(formulas(3), formulas(3))
def test_keys_are_equal_exactly_for_equivalent_formulas(first: Formula, second: Formula) -> None:
    assert (key(first) == key(second)) == (rows(first, 3) == rows(second, 3))


@given(formulas(3))
def test_tautologies_and_contradictions_are_told_from_the_rest(formula: Formula) -> None:
    assert (key(formula) == TAUTOLOGY) == all(rows(formula, 3))
    assert (key(formula) == CONTRADICTION) == (not any(rows(formula, 3)))


@settings(max_examples=50)
@given(formulas(3), st.integers(5, MAX_ATOMS - 3))
def test_atoms_that_do_not_matter_change_nothing(formula: Formula, more: int) -> None:
    """Also where they make the table a large one."""
    idle = conjunction(tuple(Or(atom(f"q{n}"), Not(atom(f"q{n}"))) for n in range(more)))
    assert key(And(formula, idle)) == key(formula)


@pytest.mark.parametrize("count", [6, 7, 12])
def test_both_sizes_of_tables(count: int) -> None:
    atoms = tuple(atom(f"p{n}") for n in range(count))
    assert key(Not(conjunction(atoms))) == key(disjunction(tuple(map(Not, reversed(atoms)))))
    assert key(conjunction(atoms)) != key(conjunction(atoms[1:]))
    assert len(key(conjunction(atoms))[0]) == count


@pytest.mark.parametrize("text", ["∀x P(x)", "a = b", "P(a) ∧ ∃x P(x)", " ∧ ".join(f"p{n}" for n in range(13))])
def test_what_has_no_key(text: str) -> None:
    assert semantic_key(f(text)) is None


def test_equal_keys_are_found_in_a_set() -> None:
    assert len({key(f("p ∧ q")), key(f("q ∧ p")), key(f("¬(p → ¬q)"))}) == 1


def test_a_compound_formula_keeps_its_key_and_an_atom_does_not() -> None:
    both, atom = f("P(a) ∧ Q(b)"), f("P(a)")
    assert semantic_key(both) is semantic_key(both)
    assert semantic_key(atom) == ((atom,), COLUMNS[FEW_ATOMS][0])
    assert "semantic_key" not in atom.memo  # it would hold the atom itself, which would never be dropped


def test_a_small_table_fits_a_machine_word() -> None:
    assert ROWS[FEW_ATOMS] == 2**64 - 1


def test_an_equation_and_its_mirror_image_share_a_column() -> None:
    table = Table()
    assert (table.ground(f("a = a")), table.equations) == (table.every, False)
    assert table.ground(f("a = b")) == table.ground(f("b = a")) != table.ground(f("a = c"))
    assert (len(table.atoms), table.equations) == (2, True)


def test_an_equation_of_a_term_with_itself_is_a_tautology() -> None:
    assert key(f("a = a ∧ p")) == key(f("p"))


@settings(max_examples=400)
@given(st.lists(formulas(3), max_size=3), formulas(3))
def test_a_table_tells_what_formulas_entail(dependencies: list[Formula], conclusion: Formula) -> None:
    given_rows = zip(*[rows(formula, 3) for formula in (*dependencies, conclusion)], strict=True)
    assert table_entails(dependencies, conclusion) == all(row[-1] for row in given_rows if all(row[:-1]))


FULL = " ∧ ".join(f"p{n}" for n in range(MAX_ATOMS))


@pytest.mark.parametrize(
    ("dependency", "conclusion"),
    [("∀x P(x)", "P(a)"), ("P(a)", "∃x P(x)"), ("a = b", "P(a)"), ("P(a)", "a = b"), (FULL, "q")],
)
def test_no_table_for_quantifiers_equations_and_many_atoms(dependency: str, conclusion: str) -> None:
    assert table_entails([f(dependency)], f(conclusion)) is None


# -- fingerprints -----------------------------------------------------------------------------------------------------


SYMBOLS = Signature(
    {"P": (ENTITY,), "Q": (ENTITY,), "R": (ENTITY, ENTITY), "A": ()},
    {"a": FunctionType((), ENTITY), "b": FunctionType((), ENTITY), "f": FunctionType((ENTITY,), ENTITY)},
)
FORMULAS = strategies.formulas(SYMBOLS)
NUMBERS = (0, 1, 40, WIDTH - 1)
"""Of the structures that are written out."""


@cache
def structure(number: int, size: int) -> Structure:
    """One of the fixed structures, from the tables of its symbols."""

    def bit(kind: str, name: str, elements: tuple[int, ...]) -> int:
        return truth_table._random_bits(f"{kind} of one" if size == 1 else kind, name, elements) >> number & 1

    tables: dict[str, frozenset[tuple[int, ...]]] = {}
    for name, sorts in SYMBOLS.predicates.items():
        tuples = product(range(size), repeat=len(sorts))
        tables[name] = frozenset(each for each in tuples if bit("predicate", name, each))
    functions = {
        name: {
            each: bit("function", name, each) if size > 1 else 0
            for each in product(range(size), repeat=len(type_.arguments))
        }
        for name, type_ in SYMBOLS.functions.items()
    }
    return Structure({ENTITY: size}, tables, functions)


@given(FORMULAS)
@example(f("⊥"))
@example(f("⊤"))
@example(f("R(a, f(b)) ∧ ¬(f(a) = b)"))
@example(f("∃x (P(f(x)) ∧ ∀y R(y, x))"))
@example(f("∀x ∃y (R(f(x), y) ∧ ¬(x = y))"))
def test_a_fingerprint_is_the_truth_in_each_structure(formula: Formula) -> None:
    for bits, size in ((single(formula), 1), (double(formula), 2)):
        if bits is not None:
            found = [bits >> number & 1 for number in NUMBERS]
            assert found == [evaluate(formula, structure(number, size)) for number in NUMBERS]


@given(FORMULAS, FORMULAS)
def test_different_fingerprints_are_different_meanings(first: Formula, second: Formula) -> None:
    if fingerprints_differ(first, second):
        assert get_solver("z3").decide(Query((), Iff(first, second))) != Entailed()
    assert single(And(first, second)) == single(first) & single(second)
    assert single(Not(first)) == EVERYWHERE ^ single(first)
    one, other = double(first), double(second)
    assume(one is not None and other is not None)  # quantifiers may be nested too deep
    assert one is not None
    assert other is not None
    assert double(And(first, second)) == one & other
    assert double(Not(first)) == EVERYWHERE ^ one
    assert fingerprints_differ(first, second) == ((single(first), one) != (single(second), other))


@given(FORMULAS, FORMULAS, FORMULAS)
def test_what_a_fingerprint_refutes_is_not_entailed(first: Formula, second: Formula, third: Formula) -> None:
    if fingerprints_refute((first, second), third):
        assert get_solver("z3").decide(Query((first, second), third)) != Entailed()
    assert not fingerprints_refute((first, third), third)
    assert not fingerprints_refute((first, Not(first)), third)


def test_a_structure_of_two_elements_refutes_a_swap_of_quantifiers() -> None:
    swapped = f("∀x ∃y R(x, y)"), f("∃y ∀x R(x, y)")
    assert fingerprints_refute(swapped[:1], swapped[1])
    assert not fingerprints_refute(swapped[1:], swapped[0])
    deep = f("".join([f'∀"{name}" ' for name in "abcdefghijkl"]) + "(P(a) & P(b))")  # not evaluated in two elements
    assert not fingerprints_refute((deep, swapped[0]), swapped[1])
    assert fingerprints_refute((deep, swapped[0]), f("Q(c)"))


@given(FORMULAS)
def test_a_valid_formula_is_true_everywhere(formula: Formula) -> None:
    assert true_everywhere(Or(formula, Not(formula)))
    assert false_everywhere(And(formula, Not(formula)))


def test_large_formulas_are_evaluated_in_one_element_only() -> None:
    constants = ", ".join(f"c{n}" for n in range(14))
    many = "a b c d e f g h i j k l"
    for text in (f"forall {many}. R({many.replace(' ', ', ')})", f"P({constants})", f"P(f({constants}))"):
        assert double(f(text)) is None
    deep = f("".join([f'∀"{name}" ' for name in many.split()]) + "(P(a) & P(b))")
    assert double(deep) is None
    assert single(deep) == single(f("P(c)"))
    assert fingerprints_differ(deep, f("Q(c)"))
    for first, second in ((deep, f("∀x P(x)")), (f("∀x P(x)"), deep)):
        assert not fingerprints_differ(first, second)
    assert (true_everywhere(deep), false_everywhere(deep)) == (False, False)
    assert true_everywhere(Or(deep, Not(deep)))
    assert false_everywhere(And(deep, Not(deep)))


def test_two_elements_tell_more_than_one() -> None:
    alike = f("∀x ∀y (P(x) → P(y))")
    assert (single(alike), true_everywhere(alike)) == (EVERYWHERE, False)
    assert (single(Not(alike)), false_everywhere(Not(alike))) == (0, False)


def test_every_structure_makes_something_true() -> None:
    assert EVERYWHERE.bit_count() == WIDTH
    assert reduce(or_, [single(f(f"A{number}")) for number in range(40)]) == EVERYWHERE


@pytest.mark.parametrize(
    ("text", "visits"),
    [
        ("A", 2),
        ("P(a)", 5),
        ("P(f(a))", 8),
        ("R(a, b)", 9),
        ("a = b", 5),
        ("¬A", 3),
        ("A ∧ P(a)", 8),
        ("P(a) → A", 8),
        ("∀x P(x)", 7),
        ("∃x ∀y R(x, y)", 19),
    ],
)
def test_the_price_of_a_fingerprint_is_an_eighth_of_what_is_read(text: str, visits: int) -> None:
    part = f(text)
    for _ in range(3):
        part = And(part, part)
    assert fingerprint_price(part) == visits  # and seven eighths for the conjunctions


def test_what_is_read_is_bounded() -> None:
    most = Not(f("".join([f'∀"x{n}" ' for n in range(12)]) + "P(x0)"))
    assert double(most) is not None
    assert double(Not(most)) is None
    assert fingerprint_price(most) == fingerprint_price(And(most, most)) == 2048


def test_ten_nested_quantifiers_are_told_from_fewer() -> None:
    """A bound variable denotes one element, so its place in the table of a predicate is known."""
    names = "a b c d e f g h i j"
    deep = f(f"forall {names}. R({names.replace(' ', ', ')})")
    assert double(deep) is not None
    assert fingerprints_differ(deep, f("R(o, o, o, o, o, o, o, o, o, o)"))
