"""Lean text: it can be read back, so no two formulas share a text; no name breaks out of its place; Lean reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.assistants.lean import LeanKernel, LeanTheorem, foreign_word
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.signature import FunctionType, Signature, mangle
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    App,
    Atom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Var,
    Xor,
    atom,
    const,
)
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.render import lean as render
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.names import unmangle

hostile_signatures = strategies.signatures(symbols=strategies.names())

HOSTILE = (
    *("sorry", "fun", "∧", "→", '"', "'", "«", "a\nend ProofR1\n", "--", "/-", "-/", "#exit", "x.y", "'s_A", "True"),
    "n" * 10_000,
)


# -- a reader that shares nothing with the renderer -------------------------------------------------------------------

Expression: TypeAlias = "str | list[Expression]"

_BINARY: dict[str, type[And | Or | Xor | Iff]] = {"And": And, "Or": Or, "ProofR1.Xor": Xor, "Iff": Iff}
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9_']*(?:\.[A-Za-z]+)?|=>|[()∀→:,]")


def tokens_of(text: str) -> list[str]:
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == re.sub(r"[ \n]", "", text)
    return tokens


def read_formula(text: str) -> Formula:
    """The formula that is all of ``text``."""
    tokens = tokens_of(text)
    formula = _formula(_expression(tokens))
    assert not tokens, "text after the formula"
    return formula


def _expression(tokens: list[str]) -> Expression:
    """The next token, or the list of all that its parentheses hold."""
    if (token := tokens.pop(0)) != "(":
        return token
    parts: list[Expression] = []
    while tokens[0] != ")":
        parts.append(_expression(tokens))
    tokens.pop(0)
    return parts


def _formula(expression: Expression) -> Formula:
    match expression:
        case "True":
            return TOP
        case "False":
            return BOTTOM
        case str(name):
            return Atom(unmangle(name, "p"), ())
        case ["Not", body]:
            return Not(_formula(body))
        case ["Eq", left, right]:
            return Eq(_term(left), _term(right))
        case [str(connective), left, right] if connective in _BINARY:
            return _BINARY[connective](_formula(left), _formula(right))
        case [left, "→", right]:
            return Implies(_formula(left), _formula(right))
        case ["∀", str(name), ":", sort, ",", body]:
            return ForAll(_bound(name, sort), _formula(body))
        case ["Exists", "fun", str(name), ":", sort, "=>", body]:
            return Exists(_bound(name, sort), _formula(body))
        case [str(name), _, *_]:
            return Atom(unmangle(name, "p"), tuple(map(_term, expression[1:])))
    raise AssertionError(f"no formula: {expression}")


def _term(expression: Expression) -> Term:
    match expression:
        case str(name) if re.match(r"x_|z[0-9]+(?:'|$)", name):
            return _variable(name)
        case str(name):
            return const(_function(name))
        case [str(name), _, *_]:
            return App(_function(name), tuple(map(_term, expression[1:])))
    raise AssertionError(f"no term: {expression}")


def _function(name: str) -> str:
    return f"␣{name[1:]}" if name.startswith("z") else unmangle(name, "f")


def _variable(name: str) -> Var:
    own, _, sort = name.partition("'")
    return Var(f"␣{own[1:]}" if own.startswith("z") else unmangle(own, "x"), unmangle(sort, "s") if sort else ENTITY)


def _bound(name: str, sort: Expression) -> Var:
    variable = _variable(name)
    assert sort == mangle(variable.sort, "s")
    return variable


def read_entailment(text: str) -> tuple[Query, Signature]:
    """The query that a statement is about, and the symbols that it binds; each sort must have its element."""
    head, body = re.split(r",\s+", text, maxsplit=1)
    sorts: list[str] = []
    elements: list[tuple[str, str]] = []
    predicates: dict[str, tuple[str, ...]] = {}
    functions: dict[str, FunctionType] = {}
    binders = re.findall(r"\(([^()]*)\)", head)
    assert head == " ".join(["∀", *[f"({binder})" for binder in binders]])
    for binder in binders:
        name, type_ = binder.split(" : ")
        *arguments, result = type_.split(" → ")
        types = tuple([unmangle(sort, "s") for sort in arguments])
        if result == "Prop":
            predicates[unmangle(name, "p")] = types
        elif result == "Type":
            sorts.append(unmangle(name, "s"))
        elif name.startswith("i_"):
            elements.append((unmangle(name, "i"), unmangle(result, "s")))
        else:
            functions[_function(name)] = FunctionType(types, unmangle(result, "s"))
    assert elements == [(sort, sort) for sort in sorts]
    tokens, formulas = tokens_of(body), []
    while tokens:
        formulas.append(_formula(_expression(tokens)))
        assert not tokens or tokens.pop(0) == "→"
    return Query(tuple(formulas[:-1]), formulas[-1]), Signature(predicates, functions, tuple(sorts))


# -- properties -------------------------------------------------------------------------------------------------------


@given(hostile_signatures.flatmap(strategies.formulas))
def test_text_reads_back(formula: Formula) -> None:
    assert read_formula(render.formula(formula)) is formula
    assert read_formula(render.formula(alpha_normal(formula))) is alpha_normal(formula)


@given(hostile_signatures.flatmap(strategies.queries))
def test_entailments_read_back_with_their_types(query: Query) -> None:
    text = render.entailment(query.dependencies, query.conclusion)
    assert read_entailment(text) == (query, Signature.infer(query.formulas))
    assert foreign_word(LeanTheorem(f": {text}", "h")) is None


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_inside_their_place(name: str) -> None:
    query = hostile_query(name)
    text = render.entailment(query.dependencies, query.conclusion)
    assert read_entailment(text)[0] == query
    assert foreign_word(LeanTheorem(f": {text}", "h")) is None


def hostile_query(name: str) -> Query:
    x = Var(name, name)
    fact = ForAll(x, atom(name, x, App(f"{name} of", (x,))))
    return Query((fact,), Exists(x, Eq(x, const(f"one {name}"))))


# -- Lean itself ------------------------------------------------------------------------------------------------------


def itself(formula: Formula) -> LeanTheorem:
    """The theorem that the formula entails itself."""
    binders = render.binders(Signature.infer((formula,)))
    return LeanTheorem(f": {render.entailment([formula], formula)}", f"fun {'_ ' * len(binders)}h => h")


@settings(max_examples=10)
@given(formulas=st.lists(hostile_signatures.flatmap(strategies.formulas), min_size=10, max_size=30))
def test_lean_reads_every_formula(lean: LeanKernel, formulas: Sequence[Formula]) -> None:
    for judgement in lean.check([itself(formula) for formula in formulas]):
        assert judgement.accepted, judgement.reason
        assert judgement.axioms == ()


def test_lean_reads_hostile_names(lean: LeanKernel) -> None:
    queries = map(hostile_query, HOSTILE)
    judgements = lean.check([itself(Implies(query.dependencies[0], query.conclusion)) for query in queries])
    assert [judgement.reason for judgement in judgements] == [""] * len(HOSTILE)


def test_lean_tells_formulas_apart(lean: LeanKernel) -> None:
    statement = render.entailment([atom("p")], atom("q"))
    assert not lean.check([LeanTheorem(f": {statement}", "fun _ _ _ _ h => h")])[0].accepted


# -- worked examples --------------------------------------------------------------------------------------------------


def test_names_of_the_package_itself() -> None:
    x = Var("␣0", ENTITY)
    assert render.formula(ForAll(x, atom("p", x, const("␣c1")))) == "(∀ z0 : s_Entity, (p_p z0 zc1))"
    assert render.variable_name(Var("␣0", "Cat")) == "z0's_Cat"


def test_an_entailment_of_several_sorts() -> None:
    premise = parse_formula("∀x:Person (home(x) = rome → happy(x))")
    assert render.entailment([premise], parse_formula("rains")) == (
        "∀ (s_Person : Type) (i_Person : s_Person) (s_Entity : Type) (i_Entity : s_Entity) "
        "(p_happy : s_Person → Prop) (p_rains : Prop) (f_home : s_Person → s_Entity) (f_rome : s_Entity),\n"
        "    (∀ x_x's_Person : s_Person, ((Eq (f_home x_x's_Person) f_rome) → (p_happy x_x's_Person))) →\n    p_rains"
    )


def test_a_schema_of_propositions_has_no_types() -> None:
    patterns = [parse_formula("A ∨ B"), parse_formula("¬A")]
    assert render.schema_statement(patterns, parse_formula("B")) == (
        "∀ (p_A : Prop) (p_B : Prop), (Or p_A p_B) → (Not p_A) → p_B"
    )
