"""Formulas and structures from a source of choices: a seeded ``random.Random``, or Hypothesis (``strategies``).

In: a source and a vocabulary. Out: terms, formulas and structures over it. What is drawn depends on the source only.
Of the options of a choice the first is the simplest, because Hypothesis shrinks towards it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol, TypeVar

from proof_r1_formal.data.problem import Premise
from proof_r1_formal.kernel.model import Element, Structure
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.signature import Signature, symbols
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    App,
    Atom,
    Binary,
    Binder,
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
from proof_r1_formal.text.names import is_textbook_atom

CONNECTIVES: tuple[type[Connective], ...] = (And, Or, Xor, Implies, Iff)  # compiled, the alias has no members
QUANTIFIERS: tuple[type[Quantified], ...] = (ForAll, Exists)
T = TypeVar("T")


class Source(Protocol):
    """Where choices come from. ``random.Random`` is one."""

    def choice(self, options: Sequence[T], /) -> T:
        """One of the options."""

    def randint(self, least: int, most: int, /) -> int:
        """A number from ``least`` to ``most``."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The symbols of formulas. Two symbols may have one name.

    Attributes:
        predicates: names, each with the sorts of its arguments.
        functions: names, each with the sorts of its arguments and its own; constants have no arguments.
        variables, sorts: names of bound variables, and their sorts.
        parts: kinds of formulas without parts, each as often as it is here: an atom, an equation, ⊤ or ⊥.
    """

    predicates: tuple[tuple[str, tuple[str, ...]], ...]
    functions: tuple[tuple[str, tuple[str, ...], str], ...]
    variables: tuple[str, ...] = ("x", "y", "z")
    sorts: tuple[str, ...] = (ENTITY,)
    parts: tuple[str, ...] = ("atom", "atom", "atom", "=", "truth")

    @classmethod
    def of(
        cls, signature: Signature, variables: Iterable[str] = ("x", "y", "z"), *, equality: bool = True
    ) -> Vocabulary:
        """The symbols of a signature, and the variables that are not symbols, nor arguments in a textbook's ``Fx``."""
        variables = tuple(variables)
        taken = {*signature.predicates, *signature.functions}
        taken.update(*[name[1:] for name in signature.predicates if is_textbook_atom(name, variables)])
        return cls(
            tuple(signature.predicates.items()),
            tuple([(name, kind.arguments, kind.result) for name, kind in signature.functions.items()]),
            tuple([name for name in variables if name not in taken]),
            signature.sorts,
            ("atom", "atom", "atom", *["="] * equality, "truth"),
        )


class Formulas:
    """Draws terms and formulas; the vocabulary may be exchanged between two of them."""

    compounds: tuple[str, ...] = ("not", "quantified", "quantified", "binary", "binary", "binary")
    """Kinds of formulas with parts, each as often as it is here."""
    shadowing = False
    """Whether a variable stays in scope within a quantifier with a variable of its name."""

    def __init__(self, source: Source, vocabulary: Vocabulary) -> None:
        self.source = source
        self.vocabulary = vocabulary

    def variable(self) -> Var:
        """A variable of any sort."""
        return Var(self.source.choice(self.vocabulary.variables), self.source.choice(self.vocabulary.sorts))

    def sorts(self, scope: Sequence[Var], depth: int) -> frozenset[str]:
        """The sorts of terms of at most ``depth`` levels, with variables in scope."""
        below = self.sorts(scope, depth - 1) if depth else frozenset[str]()
        functions = [result for _, needed, result in self.vocabulary.functions if depth and below.issuperset(needed)]
        return below.union([variable.sort for variable in scope if depth], functions)

    def term(self, sort: str, scope: Sequence[Var] = (), depth: int = 2) -> Term:
        """A term of a sort that has one (:meth:`sorts`), with variables in scope."""
        below = self.sorts(scope, depth - 1)
        heads: list[Var | tuple[str, tuple[str, ...]]] = [v for v in scope if v.sort == sort for _ in range(2)]
        heads += [
            (name, of) for name, of, result in self.vocabulary.functions if result == sort and below.issuperset(of)
        ]
        head = self.source.choice(heads)
        if isinstance(head, Var):
            return head
        return App(head[0], tuple([self.term(each, scope, depth - 1) for each in head[1]]))

    def formula(self, size: int, scope: tuple[Var, ...] = ()) -> Formula:
        """A formula of at most ``size`` connectives, quantifiers, atoms and truth values, with variables in scope."""
        source = self.source
        if size < 2:
            return self._part(scope)
        match source.choice([kind for kind in self.compounds if size > 2 or kind != "binary"]):
            case "not":
                return Not(self.formula(size - 1, scope))
            case "quantified":
                quantifier, variable = source.choice(QUANTIFIERS), self.variable()
                others = [other for other in scope if self.shadowing or other.name != variable.name]
                return quantifier(variable, self.formula(size - 1, (variable, *others)))
        connective, left = source.choice(CONNECTIVES), source.randint(1, size - 2)
        return connective(self.formula(left, scope), self.formula(size - 1 - left, scope))

    def _part(self, scope: tuple[Var, ...]) -> Formula:
        sorts = self.sorts(scope, 2)
        predicates = [each for each in self.vocabulary.predicates if sorts.issuperset(each[1])]
        possible = {"atom": bool(predicates), "=": bool(sorts), "truth": True}
        kinds = [kind for kind in self.vocabulary.parts if possible[kind]]
        match self.source.choice(kinds or ["truth"]):
            case "atom":
                name, needed = self.source.choice(predicates)
                return Atom(name, tuple([self.term(sort, scope) for sort in needed]))
            case "=":
                sort = self.source.choice(sorted(sorts))
                return Eq(self.term(sort, scope), self.term(sort, scope))
        return self.source.choice(_TRUTH)


_TRUTH: tuple[Formula, ...] = (TOP, BOTTOM)


def structure(source: Source, signature: Signature, domains: Mapping[str, int]) -> Structure:
    """A structure whose sorts have these numbers of elements."""

    def rows(sorts: tuple[str, ...]) -> list[tuple[Element, ...]]:
        return list(product(*[range(domains[sort]) for sort in sorts]))

    predicates = {
        name: frozenset([row for row in rows(sorts) if source.choice((False, True))])
        for name, sorts in signature.predicates.items()
    }
    functions = {
        name: {row: source.randint(0, domains[kind.result] - 1) for row in rows(kind.arguments)}
        for name, kind in signature.functions.items()
    }
    return Structure(domains, predicates, functions)


# -- made from formulas -----------------------------------------------------------------------------------------------


def numbered(premises: Sequence[Formula]) -> tuple[Premise, ...]:
    """The premises h1, h2, …"""
    return tuple([Premise(f"h{number}", formula) for number, formula in enumerate(premises, 1)])


def mapped(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """The formula with its immediate parts changed."""
    match formula:
        case Not(body):
            return Not(change(body))
        case Binder():
            return type(formula)(formula.variable, change(formula.body))
        case Binary():
            return type(formula)(change(formula.left), change(formula.right))
        case _:
            return formula


def letters(
    patterns: Iterable[Formula],
    body: Callable[[str, tuple[Var, ...]], Formula],
    term: Callable[[], Term],
    sort: str = ENTITY,
) -> dict[str, Lambda | Term]:
    """Something for each letter of the patterns: a body with free variables of a sort for its arguments, or a term."""
    values: dict[str, Lambda | Term] = {}
    for name, (kind, arity) in dict.fromkeys(use for pattern in patterns for use in symbols(pattern).uses):
        holes = tuple([Var(f"␣h{number}", sort) for number in range(arity)])
        values[name] = Lambda(holes, body(name, holes)) if kind == "predicate" else term()
    return values
