"""TPTP text: it can be read back, so no two formulas share a text, no name breaks out of its place, and E agrees."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from proof_r1_formal.kernel.signature import FunctionType, Signature
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
)
from proof_r1_formal.render.tptp import formula_text, problem
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.names import unmangle
from tests.patience import PATIENCE
from tests.solvers import FiniteSolver

hostile_signatures = strategies.signatures(symbols=strategies.names())


# -- a reader that shares nothing with the renderer -------------------------------------------------------------------

_BINARY: dict[str, type[And | Or | Xor | Implies | Iff]] = {"&": And, "|": Or, "<~>": Xor, "=>": Implies, "<=>": Iff}
_QUANTIFIERS: dict[str, type[ForAll | Exists]] = {"!": ForAll, "?": Exists}
_TRUTH: dict[str, Formula] = {"$true": TOP, "$false": BOTTOM}
_WORD = r"[A-Za-z$][A-Za-z0-9_]*"
_TOKEN = re.compile(rf"{_WORD}|<=>|<~>|=>|!=|[!?~&|=()\[\]:,.*>]")


class Reader:
    """Recursive descent over the tokens of a text; a variable has the sort that its name says."""

    def __init__(self, text: str, *, typed: bool) -> None:
        self.tokens = _TOKEN.findall(text)
        assert "".join(self.tokens) == re.sub(r"[ \n]", "", text)
        self.tokens.reverse()
        self.typed = typed

    def take(self, *expected: str) -> str:
        token: str = self.tokens.pop()
        assert not expected or token in expected, f"{token!r} in place of {expected}"
        return token

    def formula(self) -> Formula:
        token = self.take()
        if token == "~":
            return Not(self.formula())
        if token != "(":
            return _TRUTH[token] if token in _TRUTH else Atom(unmangle(token, "p"), self.arguments())
        if self.tokens[-1] in _QUANTIFIERS:
            quantifier = _QUANTIFIERS[self.take()]
            self.take("[")
            variable = read_variable(self.take())
            if self.typed:
                self.take(":")
                assert unmangle(self.take(), "s") == variable.sort
            self.take("]")
            self.take(":")
            result: Formula = quantifier(variable, self.formula())
        elif re.match("[fV]_", self.tokens[-1]):
            left, sign, right = self.term(), self.take("=", "!="), self.term()
            result = Eq(left, right) if sign == "=" else Not(Eq(left, right))
        else:
            first = self.formula()
            result = _BINARY[self.take()](first, self.formula())
        self.take(")")
        return result

    def arguments(self) -> tuple[Term, ...]:
        if self.tokens[-1:] != ["("]:
            return ()
        self.take("(")
        found = [self.term()]
        while self.take(",", ")") == ",":
            found.append(self.term())
        return tuple(found)

    def term(self) -> Term:
        name = self.take()
        return read_variable(name) if name.startswith("V_") else App(unmangle(name, "f"), self.arguments())

    def type(self) -> tuple[str, ...]:
        """Sorts of arguments and result; ``$o`` is the empty name."""
        many = self.tokens[-1] == "("
        found = []
        while (token := self.take()) != ".":
            if re.match(_WORD, token):
                found.append("" if token == "$o" else unmangle(token, "s"))
            if many and token == ")":
                self.take(">")
        return tuple(found)


def read_formula(text: str, *, typed: bool = False) -> Formula:
    """The formula that is all of ``text``."""
    reader = Reader(text, typed=typed)
    formula = reader.formula()
    assert not reader.tokens, "text after the formula"
    return formula


def read_variable(name: str) -> Var:
    own, _, sort = name.partition("_0s_")
    return Var(unmangle(own, "V"), unmangle(f"s_{sort}", "s") if sort else ENTITY)


def read_problem(text: str) -> tuple[Query, Signature | None]:
    """The query and, of a typed problem, its declarations."""
    language = text[:3]
    sorts: list[str] = []
    types: dict[str, tuple[str, ...]] = {}
    formulas: list[tuple[str, str, Formula]] = []
    for line in text.splitlines():
        found = re.fullmatch(rf"{language}\(({_WORD}), (\w+), (.*)\)\.", line)
        assert found
        name, role, content = found.groups()
        if role != "type":
            formulas.append((name, role, read_formula(content, typed=language == "tff")))
        elif content == f"{name}: $tType":
            sorts.append(unmangle(name, "s"))
        else:
            assert content.startswith(f"{name}: ")
            types[name] = Reader(f"{content[len(name) + 2 :]} .", typed=True).type()
    *axioms, (goal, conjecture, conclusion) = formulas
    assert (goal, conjecture) == ("goal", "conjecture")
    assert [each[:2] for each in axioms] == [(f"h{number}", "axiom") for number in range(1, len(formulas))]
    query = Query(tuple(formula for *_, formula in axioms), conclusion)
    if language == "fof":
        assert not sorts
        assert not types
        return query, None
    predicates = {unmangle(name, "p"): type_[:-1] for name, type_ in types.items() if type_[-1] == ""}
    functions = {unmangle(name, "f"): FunctionType(type_[:-1], type_[-1]) for name, type_ in types.items() if type_[-1]}
    return query, Signature(predicates, functions, tuple(sorts))


# -- properties -------------------------------------------------------------------------------------------------------


@given(hostile_signatures.flatmap(strategies.formulas), st.booleans())
def test_text_reads_back(formula: Formula, typed: bool) -> None:
    text = formula_text(formula, typed=typed)
    assert text.isascii()
    assert read_formula(text, typed=typed) is formula


@given(hostile_signatures.flatmap(strategies.queries))
def test_problems_read_back_with_their_types(query: Query) -> None:
    read, signature = read_problem(problem(query))
    expected = Signature.infer(query.formulas)
    assert read == query
    assert signature == (expected if len(expected.sorts) > 1 else None)


# -- another reader ---------------------------------------------------------------------------------------------------

STATUS = {"Theorem": Entailed, "ContradictoryAxioms": Entailed, "CounterSatisfiable": Refuted, "ResourceOut": None}


def status_by_e(text: str) -> str:
    """The SZS status that E gives; the test is skipped where E is not installed."""
    program = shutil.which("eprover")
    if program is None:
        pytest.skip("E is not installed (apt install eprover)")
    command = [program, "--auto", "--silent", "--cpu-limit=10", "--processed-clauses-limit=2000"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE, check=False)
    found = re.search(r"# SZS status (\w+)", run.stdout)
    assert found, run.stdout + run.stderr
    return found[1]


@settings(max_examples=60)
@given(hostile_signatures.flatmap(strategies.queries))
def test_e_reads_problems_and_says_what_the_engine_says(query: Query) -> None:
    said, answer = STATUS[status_by_e(problem(query))], FiniteSolver().decide(query)
    if said is not None and isinstance(answer, Entailed | Refuted):
        assert isinstance(answer, said)


def test_e_keeps_sorts_apart() -> None:
    one_cat = parse_formula("∀x:Cat ∀y:Cat x = y")
    assert status_by_e(problem(Query((one_cat,), parse_formula("∃x:Dog ∀y:Dog x = y")))) == "CounterSatisfiable"
    assert status_by_e(problem(Query((one_cat,), parse_formula("∃x:Cat ∀y:Cat x = y")))) == "Theorem"


# -- worked examples --------------------------------------------------------------------------------------------------


def test_a_problem_of_several_sorts() -> None:
    premises = ("∀x:Person (likes(x, rome) ⊕ rains)", "∀p:Person ¬(home(p) = rome)", "∀p:Person ∃y owns(p, y)")
    assert problem(Query(tuple(map(parse_formula, premises)), parse_formula("¬rains"))).splitlines() == [
        "tff(s_Person, type, s_Person: $tType).",
        "tff(s_Entity, type, s_Entity: $tType).",
        "tff(p_likes, type, p_likes: (s_Person * s_Entity) > $o).",
        "tff(p_rains, type, p_rains: $o).",
        "tff(p_owns, type, p_owns: (s_Person * s_Entity) > $o).",
        "tff(f_rome, type, f_rome: s_Entity).",
        "tff(f_home, type, f_home: s_Person > s_Entity).",
        "tff(h1, axiom, (! [V_x_0s_Person: s_Person] : (p_likes(V_x_0s_Person, f_rome) <~> p_rains))).",
        "tff(h2, axiom, (! [V_p_0s_Person: s_Person] : (f_home(V_p_0s_Person) != f_rome))).",
        "tff(h3, axiom, (! [V_p_0s_Person: s_Person] : (? [V_y: s_Entity] : p_owns(V_p_0s_Person, V_y)))).",
        "tff(goal, conjecture, ~ p_rains).",
    ]


def test_one_sort_of_whatever_name_needs_no_types() -> None:
    assert problem(Query((), parse_formula("∀x:Cat ∃y:Cat x = y"))) == (
        "fof(goal, conjecture, (! [V_x_0s_Cat] : (? [V_y_0s_Cat] : (V_x_0s_Cat = V_y_0s_Cat)))).\n"
    )
