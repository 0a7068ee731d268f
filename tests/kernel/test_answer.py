"""Which queries can be asked, what counts as a countermodel, and what makes an answer checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.solver import MAX_DEPTH, checked_signature
from proof_r1_formal.errors import StructureError
from proof_r1_formal.kernel.answer import (
    MAX_EVALUATION,
    Answer,
    Confirmation,
    Entailed,
    Query,
    Reason,
    Refuted,
    TooLargeError,
    Unknown,
    checking_steps,
    confirm,
    confirm_by,
    is_countermodel,
    refutes,
)
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import ENTITY, App, Formula, Not, Var, atom, const, var
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.build import nested, nested_terms, sequent
from tests.solvers import reason_of


@given(strategies.queries())
def test_a_generated_query_has_its_signature(query: Query) -> None:
    assert checked_signature(query) == Signature.infer(query.formulas)


@given(
    strategies.queries().flatmap(
        lambda query: st.tuples(st.just(query), strategies.structures(Signature.infer(query.assertions)))
    )
)
def test_a_countermodel_makes_all_assertions_true(pair: tuple[Query, Structure]) -> None:
    query, structure = pair
    assert is_countermodel(query, structure) == all(evaluate(formula, structure) for formula in query.assertions)


def test_countermodels_of_one_query() -> None:
    query = sequent("cat(tom) ∨ dog(tom)", "cat(tom)")
    tom: dict[str, dict[tuple[int, ...], int]] = {"tom": {(): 0}}
    one = frozenset({(0,)})
    none: frozenset[tuple[int, ...]] = frozenset()
    assert is_countermodel(query, Structure({"Entity": 1}, {"cat": none, "dog": one}, tom))
    assert not is_countermodel(query, Structure({"Entity": 1}, {"cat": one, "dog": one}, tom))
    assert not is_countermodel(query, Structure({"Entity": 1}, {"cat": none, "dog": none}, tom))
    with pytest.raises(StructureError, match="dog"):
        is_countermodel(query, Structure({"Entity": 1}, {"cat": none}, tom))


def nested_negations(depth: int) -> Formula:
    return nested(Not, atom("p"), depth - 1)


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        (Query((atom("p", var("x")),), atom("q")), "variable 'x' is free"),
        (Query((), atom("p", App("f", (var("y"),)))), "variable 'y' is free"),
        (Query((parse_formula("∀x p(x)"),), atom("p", Var("x", "Other"))), "variable 'x' is free"),
        (sequent("p(a)", "p(a, b)"), "'p' is used as a predicate of 1 argument and as a predicate of 2 arguments"),
        (sequent("p(f(f))", "q"), "'f' is used as a function of 1 argument and as a constant"),
        (sequent("∀x:A p(x)", "∀x:B p(x)"), "'p' is used as taking sort A and as taking sort B"),
        (Query((), nested_negations(MAX_DEPTH + 1)), "a formula is nested deeper than 300"),
        (Query((nested_terms(5_000),), atom("p", const("a"))), "a formula is nested deeper than 300"),
    ],
)
def test_queries_that_cannot_be_asked(query: Query, detail: str) -> None:
    assert checked_signature(query) == Unknown(Reason.UNSUPPORTED, detail)


@pytest.mark.parametrize("nested", [nested_negations, nested_terms])
def test_the_deepest_query_can_be_asked_and_evaluated(nested: Callable[[int], Formula]) -> None:
    query = Query((), nested(MAX_DEPTH))
    signature = checked_signature(query)
    assert isinstance(signature, Signature)
    structure = Structure(
        {"Entity": 1},
        {name: frozenset() for name in signature.predicates},
        {name: {(0,) * len(type_.arguments): 0} for name, type_ in signature.functions.items()},
    )
    assert is_countermodel(query, structure) == (nested is nested_terms)


@pytest.mark.parametrize(
    ("predicates", "functions", "message"),
    [
        ({"P": [(0,)]}, {"c": {(): 1}}, "a value of 'c' is not an element of the domain of sort 'Person'"),
        ({"P": [(0,)]}, {"c": {(): 8}}, "a value of 'c' is not an element of the domain of sort 'Person'"),
        ({"P": [(0,), (1,)]}, {"c": {(): 0}}, "a tuple of 'P' does not have 1 elements of its sorts"),
        ({"P": [(0, 0)]}, {"c": {(): 0}}, "a tuple of 'P' does not have 1 elements of its sorts"),
        ({"P": [()]}, {"c": {(): 0}}, "a tuple of 'P' does not have 1 elements of its sorts"),
        ({}, {"c": {(): 0}}, "does not interpret predicate 'P'"),
        ({"P": [(0,)]}, {}, "does not interpret 'c' at all elements"),
        ({"P": [(0,)]}, {"c": {(0,): 0}}, "does not interpret 'c' at all elements"),
    ],
)
def test_countermodels_keep_to_the_sorts(
    predicates: dict[str, list[tuple[int, ...]]], functions: dict[str, dict[tuple[int, ...], int]], message: str
) -> None:
    """∀ does not see a value outside, so ∀x P(x) would not give P(c)."""
    query = Query((parse_formula("∀x:Person P(x)"), parse_formula("∀x Q(x)")), parse_formula("P(c)"))
    rows = {name: frozenset(found) for name, found in predicates.items()} | {"Q": frozenset()}
    with pytest.raises(StructureError, match=message):
        is_countermodel(query, Structure({"Person": 1, "Entity": 9}, rows, functions))


def test_functions_of_countermodels_are_total() -> None:
    query = Query((parse_formula("∀x:Person P(f(x))"),), parse_formula("∃x:Dog Q(x)"))
    tables = {"P": frozenset[tuple[int, ...]]({(0,)}), "Q": frozenset[tuple[int, ...]]()}
    total: dict[str, dict[tuple[int, ...], int]] = {"f": {(n,): 0 for n in range(3)}}
    assert is_countermodel(query, Structure({"Entity": 1, "Person": 3, "Dog": 2}, tables, total))
    with pytest.raises(StructureError, match="does not interpret 'f' at all elements"):
        is_countermodel(query, Structure({"Entity": 1, "Person": 3, "Dog": 2}, tables, {"f": {(0,): 0, (1,): 0}}))


def test_values_of_functions_are_elements_of_their_sort() -> None:
    """The first value is one, the last is not."""
    query = Query((parse_formula("∀x:Person ∃y:Dog (f(x) = y)"),), parse_formula("∃x:Dog Q(x)"))
    values: dict[str, dict[tuple[int, ...], int]] = {"f": {(0,): 0, (1,): 1}}
    with pytest.raises(StructureError, match="a value of 'f' is not an element of the domain of sort 'Dog'"):
        is_countermodel(query, Structure({"Person": 2, "Dog": 1}, {"Q": frozenset()}, values))


@pytest.mark.parametrize(
    ("conclusion", "message"),
    [
        ("∃x:Dog Q(x)", "a tuple of 'Q' does not have 1 elements of its sorts"),
        ("∃x:Dog (x = d ∧ Q(x))", "the structure has no domain for sort 'Dog'"),
        ("∃x:Dog P(d(x))", "the structure has no domain for sort 'Dog'"),
    ],
)
def test_every_sort_has_a_domain(conclusion: str, message: str) -> None:
    query = Query((parse_formula("∃x:Person P(x)"),), parse_formula(conclusion))
    rows = {"P": frozenset({(0,)}), "Q": frozenset({(0,)})}
    functions: dict[str, dict[tuple[int, ...], int]] = {"d": {(): 0}}
    with pytest.raises(StructureError, match=message):
        refutes(query, Structure({"Person": 1}, rows, functions), Signature.infer(query.formulas))


@pytest.mark.parametrize(
    ("query", "domains"),
    [
        (sequent("∀x ∃y r(x,y)", "p"), {"Entity": 1_000}),
        (sequent("∀x q(x)", "p"), {"Entity": 2**60}),
        (sequent("p ∨ p", "p"), {"Entity": 2**60}),
    ],
)
def test_a_countermodel_that_takes_too_long_to_check_is_refused(query: Query, domains: dict[str, int]) -> None:
    structure = Structure(domains, {name: frozenset() for name in "pqr"})
    with pytest.raises(TooLargeError, match="more than 500000 steps"):
        is_countermodel(query, structure)
    assert reason_of(confirm(query, Refuted(structure)).answer) is Reason.BUDGET


def test_the_price_of_checking_a_countermodel_is_what_is_visited() -> None:
    rows = {name: frozenset[tuple[int, ...]]() for name in "pq"}
    assert checking_steps(sequent("p ∨ p", "p"), Structure({}, rows)) == 1 + 1 + 3
    assert checking_steps(sequent("∀x q(x)", "¬p"), Structure({"Entity": 10}, rows)) == 1 + 2 + 11
    most = {"Entity": MAX_EVALUATION}
    assert checking_steps(sequent("p ∨ p", "p"), Structure(most, rows)) == 5
    assert checking_steps(sequent("∀x q(x)", "p"), Structure({"Entity": MAX_EVALUATION - 3}, rows)) == MAX_EVALUATION
    for elements in (MAX_EVALUATION - 2, MAX_EVALUATION + 1):
        with pytest.raises(TooLargeError):
            checking_steps(sequent("∀x q(x)", "p"), Structure({"Entity": elements}, rows))
    with pytest.raises(TooLargeError):
        checking_steps(sequent("p ∨ p", "p"), Structure({"Entity": MAX_EVALUATION + 1}, rows))


def test_a_structure_without_domains_refutes_propositions() -> None:
    p, q = parse_formula("p"), parse_formula("q")
    assert is_countermodel(Query((p,), q), Structure({}, {"p": frozenset({()}), "q": frozenset()}))


# -- evidence: nothing but a proof or a countermodel that holds makes an answer checked --------------------------------


FOLLOWS, OTHER = sequent("P(a); P(a) → Q(a) ⊢ Q(a)"), sequent("P(a) → Q(a); P(a) ⊢ Q(a)")
FAILS = sequent("P(a) ∨ Q(a) ⊢ Q(a)")


@dataclass(frozen=True)
class Saying:
    """A kernel that gives one judgement for every answer, also for an answer without evidence."""

    accepted: bool
    reason: str = "it does not compile"

    def judge(self, query: Query, answer: Answer) -> Saying:
        assert (type(query), type(answer) in (Entailed, Refuted)) == (Query, True)
        return self


class Silent:
    """A kernel that cannot be given any evidence."""

    def judge(self, query: Query, answer: Answer) -> None:
        return None


def answer_to(query: Query) -> Answer:
    """The embedded engine's answer, with its evidence."""
    return EmbeddedSolver().decide(query)


@pytest.mark.parametrize("plain", [Entailed(), Refuted(), Unknown(Reason.BUDGET)])
def test_answers_are_equal_whatever_they_cost(plain: Answer) -> None:
    assert plain.steps == 0
    assert plain == replace(plain, steps=7)
    assert hash(plain) == hash(replace(plain, steps=7))
    if not isinstance(plain, Unknown):
        assert plain.engine == ""
        assert plain == replace(plain, engine="tableau")


def test_a_proof_that_holds_is_checked() -> None:
    found = confirm(FOLLOWS, answer_to(FOLLOWS))
    assert (type(found.answer), found.evidence, found.checked) == (Entailed, "checked", True)
    assert found.used == frozenset({0, 1})


def test_a_countermodel_that_holds_is_checked() -> None:
    found = confirm(FAILS, answer_to(FAILS))
    assert (type(found.answer), found.evidence, found.checked, found.used) == (Refuted, "checked", True, None)


@pytest.mark.parametrize(("asked", "about"), [(FAILS, FOLLOWS), (OTHER, FOLLOWS), (FOLLOWS, FAILS)])
def test_evidence_of_another_question_is_broken(asked: Query, about: Query) -> None:
    found = confirm(asked, answer_to(about))
    assert isinstance(found.answer, Unknown)
    assert (found.answer.reason, found.evidence, found.checked) == (Reason.BROKEN, "unsupported", False)
    assert found.answer.steps == answer_to(about).steps


def test_a_countermodel_that_is_too_large_to_check_stays_open() -> None:
    query = sequent("∀x ∀y ∀z R(x, y, z) ⊢ P(a)")
    large = Structure({ENTITY: 100}, {"R": frozenset(), "P": frozenset()}, {"a": {(): 0}})
    found = confirm(query, Refuted(large, steps=7))
    assert isinstance(found.answer, Unknown)
    assert (found.answer.reason, found.answer.steps, found.evidence) == (Reason.BUDGET, 7, "unsupported")
    assert "500000 steps" in found.answer.detail


def test_a_countermodel_that_leaves_a_symbol_open_is_broken() -> None:
    found = confirm(FAILS, Refuted(Structure({ENTITY: 1}, {"P": frozenset()}, {"a": {(): 0}}), steps=7))
    assert isinstance(found.answer, Unknown)
    assert (found.answer.reason, found.answer.steps, found.evidence) == (Reason.BROKEN, 7, "unsupported")
    assert found.answer.detail == (
        "the solver's countermodel does not hold: the structure does not interpret predicate 'Q'"
    )


@pytest.mark.parametrize("query", [FOLLOWS, FAILS])
def test_an_answer_without_evidence_is_unsupported(query: Query) -> None:
    bare = Entailed() if isinstance(answer_to(query), Entailed) else Refuted()
    found = confirm(query, bare)
    assert (found.answer, found.evidence, found.checked) == (bare, "unsupported", False)
    for kernel in (Saying(accepted=True), Saying(accepted=False)):
        assert confirm_by(kernel, query, found) == found  # no kernel has seen evidence, whatever it says


@pytest.mark.parametrize("query", [FOLLOWS, FAILS])
@pytest.mark.parametrize("evidence", ["checked", "kernel"])
def test_a_kernel_has_the_last_word(query: Query, evidence: Literal["checked", "kernel"]) -> None:
    found = structs.replace(confirm(query, answer_to(query)), evidence=evidence)
    assert confirm_by(Silent(), query, found) == found
    assert confirm_by(Saying(accepted=True), query, found) == Confirmation(found.answer, "kernel", found.used)
    refused = confirm_by(Saying(accepted=False), query, found)
    assert isinstance(refused.answer, Unknown)
    assert (refused.answer.reason, refused.evidence) == (Reason.BROKEN, "unsupported")
    assert "it does not compile" in refused.answer.detail
