"""The effectively propositional class: decided as by Z3 and by trying small structures; its traps; its worst cases."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import assert_never

import pytest
from hypothesis import given, settings

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.grounding import MAX_WITNESSES
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import (
    _NODES,
    BOTTOM,
    ENTITY,
    And,
    App,
    Atom,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Top,
    Var,
    Xor,
    atom,
    conjunction,
    const,
    drop_unused,
    var,
)
from proof_r1_formal.kernel.transform import subterms
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.build import pigeons, sequent, shown
from tests.finite import SMALL, SMALL_STRUCTURES, refuted_by
from tests.solvers import FiniteSolver, assert_refuted, model_of

SOLVER = FiniteSolver()
Z3 = get_solver("z3")


# -- against Z3, against small structures -----------------------------------------------------------------------------


def in_class(query: Query) -> bool:
    """Whether no ∃ and no function depends on a ∀, once negations are moved inward."""

    def inside(formula: Formula, positive: bool, dependent: Mapping[Var, bool]) -> bool:
        """``dependent`` tells of each variable in scope whether its value depends on a ∀."""

        def depends(terms: tuple[Term, ...]) -> bool:
            applied = [part for term in terms if isinstance(term, App) for part in subterms(term)]
            return any(dependent[part] for part in applied if isinstance(part, Var))

        match formula:
            case Top() | Bottom():
                return True
            case Atom(_, arguments):
                return not depends(arguments)
            case Eq(left, right):
                return not depends((left, right))
            case Not(body):
                return inside(body, not positive, dependent)
            case And(left, right) | Or(left, right):
                return inside(left, positive, dependent) and inside(right, positive, dependent)
            case Implies(left, right):
                return inside(left, not positive, dependent) and inside(right, positive, dependent)
            case Xor(left, right) | Iff(left, right):
                return all(inside(side, sign, dependent) for side in (left, right) for sign in (True, False))
            case ForAll(variable, body) | Exists(variable, body):
                universal = isinstance(formula, ForAll) == positive
                known = universal or not any(dependent[each] for each in formula.free)
                return known and inside(body, positive, {**dependent, variable: universal})
        assert_never(formula)

    return all(inside(formula, True, {}) for formula in query.assertions)


TWO_SORTS = Signature(
    {"p": (ENTITY,), "r": (ENTITY, "Town"), "s": (ENTITY, ENTITY), "q": ()},
    {
        "a": FunctionType((), ENTITY),
        "b": FunctionType((), ENTITY),
        "c": FunctionType((), ENTITY),
        "rome": FunctionType((), "Town"),
    },
    (ENTITY, "Town"),
)


def agree(query: Query) -> None:
    answer = SOLVER.decide(query)
    if not in_class(query):
        assert isinstance(answer, Unknown)
        assert answer.reason is Reason.UNSUPPORTED
        assert answer.detail.startswith("not effectively propositional: ")
        return
    if isinstance(answer, Unknown):  # of deep quantifiers only, one in a thousand queries
        assert answer == Unknown(Reason.BUDGET, "the countermodel is too large to be confirmed")
        assert max(f.quantifiers for f in query.assertions) >= 6
        return
    expected = Z3.decide(query)
    assert type(answer) is type(expected)
    if not isinstance(answer, Entailed):
        assert_refuted(query, answer)


FUNCTIONS = Signature(
    {"p": (ENTITY,)}, {name: FunctionType((), ENTITY) for name in "abc"} | {"f": FunctionType((ENTITY,), ENTITY)}
)


@settings(max_examples=800)
@given(
    strategies.queries(TWO_SORTS)
    | strategies.queries(TWO_SORTS, equality=False, max_size=12)
    | strategies.queries(FUNCTIONS, max_size=10)
    | strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries)
)
def test_answers_are_those_of_z3_inside_the_class(query: Query) -> None:
    agree(query)


@settings(max_examples=120)
@given(strategies.queries(SMALL))
def test_what_a_small_structure_refutes_is_not_entailed(query: Query) -> None:
    if isinstance(SOLVER.decide(query), Entailed):
        assert not refuted_by(query, SMALL_STRUCTURES)


# -- traps ------------------------------------------------------------------------------------------------------------

ENTAILED = [
    # masks of quantified formulas
    sequent("∀x p(x)", "∀x (p(x) ∨ q(x))"),
    sequent("∀x p(x) ↔ ∀x q(x)", "∀x p(x)", "q(a)"),
    sequent("∀x p(x) ⊕ ∀x q(x)", "∀x p(x)", "∃x ¬q(x)"),
    sequent("(∀x p(x)) ↔ ∀y p(y)"),
    # a quantifier of either sign, inside and beside others
    sequent("∃x p(x) → ∀x q(x)", "p(a)", "q(b)"),
    sequent("∃x ∀y r(x, y)", "∃x r(x, x)"),
    # a dummy where there is no constant
    sequent("∀x p(x)", "∃x p(x)"),
    sequent("∀x:Ghost p(x)", "∀x:Town q(x)", "∃x:Ghost p(x) ∧ ∃x:Town q(x)"),
    sequent("∃x (p(x) → ∀y p(y))"),  # the drinker
    # equality
    sequent("a = b", "b = c", "a = c"),
    sequent("c = a", "c = b", "p(a)", "p(b)"),
    sequent("a = b", "f(a) = c", "f(b) = c"),
    sequent("f(f(f(a))) = a", "f(f(f(f(f(a))))) = a", "f(a) = a"),
    sequent("∀x (x = a ∨ x = b)", "p(a) ∧ p(b)", "p(c)"),
    sequent("∀x (x = a ∨ x = b)", "¬(c = d) ∧ ¬(c = e) ∧ ¬(d = e)", "⊥"),
    sequent("∀x x = x"),
    # ⊥, propositions
    sequent("⊥", "p"),
    sequent("(p ⊕ q) ⊕ r", "p ⊕ (q ⊕ r)"),
]
REFUTED = [
    # masks of quantified formulas: without constants they have one instance each
    sequent("∀x p(x) ∨ ∀x q(x)"),
    sequent("∀x p(x) ↔ ∃x p(x)"),
    sequent("∀x p(x) ↔ ∀x q(x)", "p(a)", "q(a)"),
    # a constant of its own for each goal ∀, and for each ∃
    sequent("∀x p(x) ∨ ∀x ¬p(x)"),
    sequent("∀x r(x, x)", "∀x ∀y r(x, y)"),
    sequent("∃x p(x)", "∃x ¬p(x)", "∀x ∀y x = y"),
    sequent("∀x:Ghost p(x)", "∃x:Town q(x)"),
    # constants need neither be equal nor differ
    sequent("¬(a = b)"),
    sequent("a = b"),
    sequent("f(a) = f(b)", "a = b"),
    sequent("∀x (x = a ∨ x = b)", "p(a)", "p(c)"),
]


@pytest.mark.parametrize("query", ENTAILED, ids=shown)
def test_entailed(query: Query) -> None:
    assert SOLVER.decide(query) == Entailed()


@pytest.mark.parametrize("query", REFUTED, ids=shown)
def test_refuted(query: Query) -> None:
    assert_refuted(query, SOLVER.decide(query))


def test_no_more_elements_than_are_needed() -> None:
    assert SOLVER.decide(sequent("p", "q")) == Refuted(
        Structure({ENTITY: 1}, {"p": frozenset({()}), "q": frozenset()}, {})
    )
    assert model_of(SOLVER.decide(sequent("∃x p(x)", "∀x p(x)"))).domains == {ENTITY: 2}


def test_equal_constants_are_one_element_and_others_may_be_two() -> None:
    model = model_of(SOLVER.decide(sequent("a = b", "¬(b = c)", "p(a) ∧ ¬p(c)", "q(b)")))
    elements = [model.functions[name][()] for name in "abc"]
    assert elements[0] == elements[1] != elements[2]


@pytest.mark.parametrize("quantifiers", ["∀x ∀y ∀x", "∃x ∃y ∃x", "∀x ∃y ∀x ∃y", "∃x ∀y ∃x ∀y"])
@pytest.mark.parametrize("body", ["p", "p(a)", "a = b", "⊤"])
def test_vacuous_quantifiers_change_nothing(quantifiers: str, body: str) -> None:
    vacuous = f"{quantifiers} ({body})".replace("x", '"x"').replace("y", '"y"')
    assert SOLVER.decide(sequent(vacuous, body)) == Entailed()
    assert SOLVER.decide(sequent(body, vacuous)) == Entailed()
    assert type(SOLVER.decide(sequent(vacuous))) is type(SOLVER.decide(sequent(body)))


def test_names_of_the_engine_are_not_mistaken_for_its_own() -> None:
    """Witnesses and dummies get names of their own, also where somebody uses names such as theirs."""
    for name in ("␣w0", "␣w1", "␣eEntity", "␣w0␣"):
        known = atom("p", const(name))
        assert_refuted(query := Query((known,), parse_formula("∀x p(x)")), SOLVER.decide(query))
        assert_refuted(query := Query((parse_formula("∃x p(x)"),), known), SOLVER.decide(query))
        free = Query((parse_formula("∃x p(x)"), Not(known)), parse_formula("∀x p(x)"))
        assert_refuted(free, SOLVER.decide(free))
    assert SOLVER.decide(Query((parse_formula("∀x p(x)"),), atom("p", const("␣eEntity")))) == Entailed()


# -- outside the class ------------------------------------------------------------------------------------------------

SCOPE = "not effectively propositional: ∃ in the scope of ∀, once negations are moved inward"
FUNCTION = "not effectively propositional: a function of a variable"


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        (sequent("∀x ∃y r(x, y)", "p"), SCOPE),
        (sequent("p", "∃x ∀y r(x, y)"), SCOPE),
        (sequent("¬∃x ∀y r(x, y)", "p"), SCOPE),
        (sequent("∀x (p(x) ↔ ∃y r(x, y))", "q"), SCOPE),
        (sequent("∀x ((∀y r(x, y)) → p(x))", "q"), SCOPE),
        (sequent("∀x p(f(x))", "q"), FUNCTION),
        (sequent("p", "∃x f(x) = x"), FUNCTION),
        (sequent("∀x (p(x) → r(x, f(f(x))))", "q"), FUNCTION),
        (
            sequent(" ∧ ".join(f"∃x p{number}(x)" for number in range(MAX_WITNESSES + 1)), "⊥"),
            f"not effectively propositional: more than {MAX_WITNESSES} witnesses",
        ),
        (sequent("p(a)", "p(a, b)"), "'p' is used as a predicate of 1 argument and as a predicate of 2 arguments"),
        (Query((), atom("p", var("x"))), "variable 'x' is free"),
    ],
)
def test_outside_the_class_the_reason_is_named(query: Query, detail: str) -> None:
    assert SOLVER.decide(query) == Unknown(Reason.UNSUPPORTED, detail)


@pytest.mark.parametrize(
    "query",
    [
        sequent("∀x (p(x) → ∃y q(y))", "⊥"),
        sequent("∃x ∀y r(x, y) ∧ ∀x (p(x) → ∃y q(y))", "p(a)", "∃y q(y)"),
        sequent("∃x p(f(x))", "∃x p(x)"),
        sequent("∃x ∃y ∀z (r(x, z) ∧ r(y, z))", "p"),
    ],
    ids=shown,
)
def test_what_looks_outside_and_is_inside(query: Query) -> None:
    assert in_class(query)
    assert type(SOLVER.decide(query)) is type(Z3.decide(query))


# -- worst cases ------------------------------------------------------------------------------------------------------


def exclusive(*numbers: int) -> Formula:
    result: Formula = atom(f"p{numbers[0]}")
    for number in numbers[1:]:
        result = Xor(result, atom(f"p{number}"))
    return result


def joined(*texts: str) -> Formula:
    return conjunction(tuple(map(parse_formula, texts)))


SHUFFLED = [number * 7 % 30 for number in range(30)]
TRANSITIVE = parse_formula("∀x ∀y ∀z (r(x, y) ∧ r(y, z) → r(x, z))")
CHAIN = joined(*[f"r(c{number}, c{number + 1})" for number in range(39)])
LADDER = joined(*[f"p{number} → p{number + 1}" for number in range(199)])

HOSTILE: Mapping[str, tuple[Query, type[Answer]]] = {
    "40 constants, three ∀, entailed": (Query((TRANSITIVE, CHAIN), parse_formula("r(c0, c39)")), Entailed),
    "40 constants, three ∀, refuted": (Query((TRANSITIVE, CHAIN), parse_formula("r(c39, c0)")), Refuted),
    "200 atoms, entailed": (Query((LADDER, atom("p0")), atom("p199")), Entailed),
    "200 atoms, refuted": (Query((LADDER, atom("p1")), atom("p0")), Refuted),
    "8 pigeons in 7 holes": (Query((conjunction(pigeons(8, 7).dependencies),), BOTTOM), Entailed),
    "8 pigeons in 8 holes": (Query((conjunction(pigeons(8, 8).dependencies),), BOTTOM), Refuted),
    "a chain of 30 ⊕, shuffled": (Query((exclusive(*range(30)),), exclusive(*SHUFFLED)), Entailed),
    "a chain of 30 ⊕, shortened": (Query((exclusive(*range(30)),), exclusive(*range(29))), Refuted),
    "a pigeon for each of 8 elements": (
        Query(
            (
                parse_formula(f"∀x ({' ∨ '.join(f'x = h{number}' for number in range(7))})"),
                joined(*[f"¬(p{i} = p{k})" for i, k in combinations(range(8), 2)]),
            ),
            BOTTOM,
        ),
        Entailed,
    ),
}


@pytest.mark.parametrize(("query", "right"), HOSTILE.values(), ids=HOSTILE)
def test_the_worst_cases_are_decided_rightly_or_cost_too_much(query: Query, right: type[Answer]) -> None:
    answer = SOLVER.decide(query)
    if isinstance(answer, Unknown):
        assert answer.reason is Reason.BUDGET
    else:
        assert isinstance(answer, right)


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("40 constants, three ∀, entailed", "more than 50000 ground formulas"),
        ("a chain of 30 ⊕, shuffled", "more than 8000000 propagations in the SAT solver"),
    ],
)
def test_budgets_say_what_was_too_much(name: str, detail: str) -> None:
    assert SOLVER.decide(HOSTILE[name][0]) == Unknown(Reason.BUDGET, detail)


def test_a_countermodel_that_is_too_large_is_not_given() -> None:
    """∀x1 … ∀x20 p in a domain of two: the grounding is one instance, the evaluation a million steps."""
    formula: Formula = atom("p")
    for number in range(20):
        formula = ForAll(var(f"x{number}"), formula)
    query = Query((formula, parse_formula("q(a) ∧ ¬q(b)")), atom("r"))
    assert SOLVER.decide(query) == Unknown(Reason.BUDGET, "the countermodel is too large to be confirmed")


def test_a_decided_formula_is_not_held() -> None:
    """What is cached with a formula must not hold it, or the table of nodes keeps it for good."""
    x = var("x")
    formula = Exists(x, atom("freed", x))
    key = (Exists, x, formula.body)
    assert isinstance(SOLVER.decide(Query((formula,), atom("freed", const("a")))), Refuted)
    drop_unused()
    assert _NODES[key] is formula
    del formula
    drop_unused()
    assert key not in _NODES
