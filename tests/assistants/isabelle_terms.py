"""A reader of Isabelle's terms, as far as this package writes them; it shares only the syntax with the writer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    App,
    Atom,
    Connective,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Term,
    Var,
    Xor,
)
from tests.names import unmangle


class Expression(NamedTuple):
    """What a term consists of.

    Attributes:
        head: an identifier that is applied to the parts, an operator between them, or a binder before its body.
        parts: arguments, sides, or the body.
        name, sort: of the variable that a binder binds.
    """

    head: str
    parts: tuple[Expression, ...] = ()
    name: str = ""
    sort: str = ""


_OPERATORS = {  # priority, and those of the sides
    "=": (50, 50, 51),
    r"\<noteq>": (50, 50, 51),
    r"\<and>": (35, 36, 35),
    r"\<or>": (30, 31, 30),
    r"\<longrightarrow>": (25, 26, 25),
    r"\<longleftrightarrow>": (25, 26, 26),
    r"\<Longrightarrow>": (1, 2, 1),
}
_CONNECTIVES: dict[str, type[Connective]] = {
    r"\<and>": And,
    r"\<or>": Or,
    r"\<noteq>": Xor,
    r"\<longrightarrow>": Implies,
    r"\<longleftrightarrow>": Iff,
}
_QUANTIFIERS: dict[str, type[Quantified]] = {r"\<forall>": ForAll, r"\<exists>": Exists}
_BINDERS = (*_QUANTIFIERS, r"\<lambda>")
IDENTIFIER = r"[A-Za-z](?:[A-Za-z0-9_']*[A-Za-z0-9])?"
_TOKEN = re.compile(rf"\\<[A-Za-z]+>|'?{IDENTIFIER}|::|[().=]")


class Reader:
    """Reads one term."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = _TOKEN.findall(text)
        assert "".join(self._tokens) == re.sub(r"\s", "", text), f"no term: {text}"

    def whole(self) -> Expression:
        read = self._expression(0)
        assert not self._tokens, f"left over: {self._tokens}"
        return read

    def _next(self, *expected: str) -> str:
        token = self._tokens.pop(0)
        assert not expected or token in expected, f"{token} in place of {expected}"
        return token

    def _expression(self, least: int) -> Expression:
        token = self._tokens[0]
        if token in _BINDERS:
            assert least <= 10, "a quantifier inside needs parentheses"
            self._next()
            name, sort = self._next(), ""
            if self._tokens[0] == "::":
                self._next("::")
                sort = self._next()
            self._next(".")
            left = Expression(token, (self._expression(10 if token != r"\<lambda>" else 3),), name, sort)
        elif token == r"\<not>":
            assert least <= 40
            self._next()
            left = Expression(token, (self._expression(40),))
        else:
            left = self._atom()
            while self._tokens and (self._tokens[0] == "(" or re.fullmatch(IDENTIFIER, self._tokens[0])):
                assert re.fullmatch(IDENTIFIER, left.head), "only a symbol is applied to anything"
                left = Expression(left.head, (*left.parts, self._atom()))
        while self._tokens and (found := _OPERATORS.get(self._tokens[0])) and found[0] >= least:
            left = Expression(self._next(), (left, self._expression(found[2])))
        return left

    def _atom(self) -> Expression:
        if self._tokens[0] == "(":
            self._next()
            inside = self._expression(0)
            self._next(")")
            return inside
        name = self._next()
        assert re.fullmatch(IDENTIFIER, name)
        return Expression(name)


SCHEMATIC = "␣?"
"""How the names of a lemma's variables begin; no other name begins so."""


@dataclass(frozen=True)
class Names:
    """How identifiers are read: those of certificates stand for names of the problem, those of lemmas for anything."""

    schematic: bool = False

    def predicate(self, name: str) -> str:
        return f"{SCHEMATIC}{name}" if self.schematic else unmangle(name, "p")

    def function(self, name: str) -> str:
        if self.schematic:
            return f"{SCHEMATIC}{name}"
        return f"␣{name[1:]}" if re.fullmatch(r"z[0-9]*[a-z][a-z0-9]*", name) else unmangle(name, "f")

    def variable(self, name: str, sort: str) -> Var:
        if self.schematic:
            assert not sort
            return Var(name, ENTITY)
        own, of = name.split("'")
        assert sort == f"'{of}", "a variable's name and type do not fit"
        return Var(f"␣{own[1:]}" if re.fullmatch(r"z[0-9]+", own) else unmangle(own, "v"), unmangle(of, "s"))


PROBLEM, LEMMA = Names(), Names(schematic=True)


def formula_of(expression: Expression, names: Names, bound: Mapping[str, Var]) -> Formula:
    match expression:
        case Expression("True", ()):
            return TOP
        case Expression("False", ()):
            return BOTTOM
        case Expression(r"\<not>", (body,)):
            return Not(formula_of(body, names, bound))
        case Expression(r"\<forall>" | r"\<exists>" as binder, (body,), name, sort):
            variable = names.variable(name, sort)
            return _QUANTIFIERS[binder](variable, formula_of(body, names, {**bound, name: variable}))
        case Expression("=", (left, right)):
            return Eq(term_of(left, names, bound), term_of(right, names, bound))
        case Expression(operator, (left, right)) if operator in _CONNECTIVES:
            return _CONNECTIVES[operator](formula_of(left, names, bound), formula_of(right, names, bound))
        case Expression(name, arguments) if re.fullmatch(IDENTIFIER, name):
            return Atom(names.predicate(name), tuple(term_of(each, names, bound) for each in arguments))
    raise AssertionError(f"no formula: {expression}")


def term_of(expression: Expression, names: Names, bound: Mapping[str, Var]) -> Term:
    assert re.fullmatch(IDENTIFIER, expression.head), f"no term: {expression}"
    if expression.head in bound:
        assert not expression.parts
        return bound[expression.head]
    return App(names.function(expression.head), tuple(term_of(each, names, bound) for each in expression.parts))


def read_formula(text: str) -> Formula:
    """A formula of a certificate."""
    return formula_of(Reader(text).whole(), PROBLEM, {})


def read_statement(lines: list[str]) -> tuple[Signature, dict[str, str], str]:
    """The types of the symbols, the assumptions by name, and what is shown; the lines that say so are taken away."""
    clauses: dict[str, dict[str, str]] = {"fixes": {}, "assumes": {}}
    keyword = ""
    while not (line := lines.pop(0)).startswith("  shows "):
        item = re.fullmatch(rf'  (fixes|assumes|  and) ({IDENTIFIER})( ::|:) "([^"]*)"', line)
        assert item
        keyword = item[1] if item[1] in clauses else keyword
        assert item[2] not in clauses[keyword]
        assert item[3] == (" ::" if keyword == "fixes" else ":")
        clauses[keyword][item[2]] = item[4]
    types = {name: [_sort(part) for part in text.split(r" \<Rightarrow> ")] for name, text in clauses["fixes"].items()}
    signature = Signature(
        {unmangle(name, "p"): tuple(sorts[:-1]) for name, sorts in types.items() if not sorts[-1]},
        {unmangle(name, "f"): FunctionType(tuple(sorts[:-1]), sorts[-1]) for name, sorts in types.items() if sorts[-1]},
    )
    shown = re.fullmatch(r'  shows "([^"]*)"', line)
    assert shown
    return signature, clauses["assumes"], shown[1]


def _sort(type_: str) -> str:
    """The sort of a type; ``bool`` is empty."""
    return "" if type_ == "bool" else unmangle(type_, "'s")
