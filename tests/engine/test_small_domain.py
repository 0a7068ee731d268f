"""Countermodels in small domains, for queries outside the effectively propositional class: found if they are small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine import propositional
from proof_r1_formal.engine.congruence import simplify
from proof_r1_formal.engine.finite import refuted_in_small_domain
from proof_r1_formal.kernel.answer import Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY, Atom, Eq
from proof_r1_formal.kernel.transform import terms
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.build import sequent
from tests.finite import SMALL, SMALL_STRUCTURES, refuted_by, small_structures
from tests.solvers import FiniteSolver, assert_refuted, model_of

SOLVER = FiniteSolver()


FUNCTIONS = Signature(
    {"p": (ENTITY,), "q": (ENTITY,)}, {"a": FunctionType((), ENTITY), "f": FunctionType((ENTITY,), ENTITY)}
)


STRUCTURES = tuple(small_structures(FUNCTIONS))


@pytest.mark.parametrize(
    ("signature", "structures"), [(SMALL, SMALL_STRUCTURES), (FUNCTIONS, STRUCTURES)], ids=["sorts", "functions"]
)
@settings(max_examples=120)
@given(data=st.data())
def test_small_structures_refute_in_small_domains(
    signature: Signature, structures: Sequence[Structure], data: st.DataObject
) -> None:
    """If one of the structures is a countermodel, there is one in a small domain; what is found is one."""
    query = data.draw(strategies.queries(signature))
    answer = refuted_in_small_domain(query, Signature.infer(query.formulas))
    if isinstance(answer, Refuted):
        assert_refuted(query, answer)
    elif answer != Unknown(Reason.BUDGET, "more than 5000 ground formulas"):
        assert answer == Unknown(Reason.INCOMPLETE, "no countermodel in a small domain")
        assert not refuted_by(query, structures)


@pytest.mark.parametrize(
    ("query", "elements"),
    [
        (sequent("∀x ∃y r(x, y)", "∃y r(y, y)"), {ENTITY: 2}),
        (sequent("∀x ∃y (r(x, y) ∧ ¬(x = y))", "∀x ∀y (r(x, y) → r(y, x))"), {ENTITY: 3}),
        (sequent("∀x:Person ∃y:Town lives(x, y)", "∃y:Town ∀x:Person lives(x, y)"), {"Person": 2, "Town": 2}),
        (sequent("∀x ¬(f(x) = x)", "∀x f(f(x)) = x"), {ENTITY: 3}),
        (
            sequent(
                *[f"∃x n{i}(x)" for i in range(5)],
                *[f"∀x ¬(n{i}(x) ∧ n{j}(x))" for i in range(5) for j in range(i)],
                "∀x ∃y r(x, y)",
                "∃x r(x, x)",
            ),
            {ENTITY: 5},
        ),
    ],
)
def test_the_first_small_domain_is_taken(query: Query, elements: Mapping[str, int]) -> None:
    assert isinstance(SOLVER.decide(query), Unknown)
    answer = refuted_in_small_domain(query, Signature.infer(query.formulas))
    assert_refuted(query, answer)
    assert model_of(answer).domains == elements


def test_a_query_with_too_many_ground_formulas_is_left() -> None:
    variables = "".join(f"∀x{number} " for number in range(8))
    body = "r(x0, x7) ∨ " + " ∨ ".join(f"r(x{number}, x{number + 1})" for number in range(7))
    query = sequent(f"{variables}({body})", "∀x ∃y ¬r(x, y)", "∃x r(x, x)", "r(a, b) ∧ r(b, c)")
    answer = refuted_in_small_domain(query, Signature.infer(query.formulas))
    assert answer == Unknown(Reason.BUDGET, "more than 5000 ground formulas")
    assert 25_000 <= answer.steps <= 60_000


def test_constants_of_other_sorts_make_no_deep_formula() -> None:
    query = sequent("∀x:Person f(x) = c0", f"q({', '.join(f'c{number}' for number in range(500))})")
    answer = refuted_in_small_domain(query, Signature.infer(query.formulas))
    assert answer == Unknown(Reason.BUDGET, "more than 5000 ground formulas")


@pytest.mark.parametrize("constants", [50, 500])
def test_applying_equations_to_long_atoms_is_paid(constants: int, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = 0

    def counted(atom: Atom | Eq, equation: Eq) -> tuple[Atom | Eq, ...]:
        nonlocal changed
        changed += sum(1 for _ in terms(atom))
        return simplify(atom, equation)

    monkeypatch.setattr(propositional, "simplify", counted)
    long = f"q({', '.join(f'c{number}' for number in range(constants))})"
    answer = SOLVER.decide(sequent("∀x (x = a ∨ p(a, x))", long, "r(a)"))
    assert 0 < changed <= 16 * answer.steps


def test_the_price_of_small_domains_counts_values_of_functions() -> None:
    query = sequent("∀x ¬(f(x) = x)", "∀x f(f(x)) = x")
    answer = refuted_in_small_domain(query, Signature.infer(query.formulas))
    assert answer.steps == 3_074  # of which 5 × (4 + 1 + 4 + 9) for f, in domains of 0, 1, 2 and 3 elements


def test_functions_of_many_arguments_are_left_to_others() -> None:
    arguments = "x0, x1, x2, x3, x4, x5, x6, x7, x8, x9"
    query = sequent(
        " ".join(f"∀{name.strip()}" for name in arguments.split(",")) + f" p(f({arguments}))", "∀x ∃y r(x, y)"
    )
    answer = refuted_in_small_domain(query, Signature.infer(query.formulas))
    assert isinstance(answer, Refuted)  # by one element
    harder = Query((*query.dependencies, *sequent("∀x ∃y r(x, y)", "⊥").dependencies), parse_formula("∃x r(x, x)"))
    answer = refuted_in_small_domain(harder, Signature.infer(harder.formulas))
    assert answer == Unknown(Reason.INCOMPLETE, "no countermodel in a small domain")
