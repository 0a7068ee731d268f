"""Random formulas whose names clash and whose variables are sometimes free, for attacks on what handles formulas.

In: a source of random numbers. Out: terms, formulas and changed formulas. The names of predicates, constants,
functions, variables and sorts come from one small pool in half of the vocabularies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.pattern import Lambda, Substitution
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    App,
    Atom,
    Binary,
    Binder,
    Eq,
    Exists,
    ForAll,
    Formula,
    Not,
    Term,
    Var,
)
from proof_r1_formal.kernel.transform import map_terms, substitute
from proof_r1_formal.testing.generate import CONNECTIVES, mapped

POOL = ("a", "b", "A", "t", "x", "y", "Entity", "␣0", "␣1", "␣c0")
"""Names of everything, where names clash; ``␣0`` and ``␣c0`` are those that the package gives to its own."""


@dataclass(frozen=True, slots=True)
class Words:
    """What the formulas of one example are made of: symbols with the sorts of their arguments, and variables."""

    predicates: tuple[tuple[str, tuple[str, ...]], ...]
    constants: tuple[tuple[str, str], ...]
    functions: tuple[tuple[str, str, str], ...]
    variables: tuple[str, ...]
    sorts: tuple[str, ...]

    @classmethod
    def drawn(cls, source: Random, *, sorts: tuple[str, ...] = ()) -> Words:
        """A vocabulary; the sorts are drawn too unless they are given."""
        names = source.random() < 0.5
        sorts = sorts or source.choice([(ENTITY,), (ENTITY,), (ENTITY,), (ENTITY, "Person"), (ENTITY, "x")])

        def name(plain: str) -> str:
            return source.choice(POOL) if names else plain

        arities = (0, 0, 1, 1, 2)
        return cls(
            tuple((name(n), tuple(source.choices(sorts, k=k))) for n, k in zip("pqPQR", arities, strict=True)),
            tuple((name(n), source.choice(sorts)) for n in "ab"),
            tuple((name(n), source.choice(sorts), source.choice(sorts)) for n in "f"),
            tuple(name(n) for n in "xyz"),
            sorts,
        )


class HostileFormulas:
    """Draws terms and formulas over one vocabulary at a time.

    Args:
        source: of random numbers.
    """

    def __init__(self, source: Random) -> None:
        self._source = source
        self.words = Words.drawn(source)
        self.oddity = 0.06
        """How often to draw something that may not stand there."""

    def odd(self) -> bool:
        """Whether to draw something that may not stand there."""
        return self._source.random() < self.oddity

    def variable(self) -> Var:
        """A variable of the vocabulary, of any of its sorts."""
        return Var(self._source.choice(self.words.variables), self._source.choice(self.words.sorts))

    def term(self, scope: Sequence[Var] = (), sort: str | None = None) -> Term:
        """A term, mostly of the sort, with variables in scope."""
        source, words = self._source, self.words
        choice = source.random()
        fitting = [variable for variable in scope if sort in (None, variable.sort)]
        if fitting and choice < 0.6:
            return source.choice(fitting)
        if self.odd():
            return source.choice(
                (self.variable(), Var("␣0", ENTITY), App(source.choice(POOL), (), source.choice(words.sorts)))
            )
        functions = [each for each in words.functions if sort in (None, each[2])]
        if functions and choice > 0.92:
            name, argument, _ = source.choice(functions)
            return App(name, (self.term(scope, argument),))
        names = [name for name, of in words.constants if sort in (None, of)]
        return App(source.choice(names or ["n"]), ())

    def single(self) -> ForAll:
        """That a sort has one element only, a constant: what it says must not be said of another sort."""
        name, sort = self._source.choice(self.words.constants)
        variable = Var(self._source.choice(self.words.variables), sort)
        return ForAll(variable, Eq(variable, App(name, ())))

    def formula(self, size: int, scope: tuple[Var, ...] = (), *, pattern: bool = False) -> Formula:
        """A formula of at most ``size`` connectives, quantifiers and atoms; a pattern has no equations and no ⊤."""
        source = self._source
        choice = source.random()
        if size < 2:
            if not pattern and choice < 0.15:
                sort = source.choice(self.words.sorts)
                return Eq(self.term(scope, sort), self.term(scope, sort))
            if not pattern and choice < 0.2:
                return source.choice((TOP, BOTTOM))
            name, sorts = source.choice(self.words.predicates)
            return Atom(name, tuple([self.term(scope, sort) for sort in sorts]))
        if choice < 0.2:
            return Not(self.formula(size - 1, scope, pattern=pattern))
        if choice < 0.55:
            variable = self.variable()
            body = self.formula(size - 1, (*scope, variable), pattern=pattern)
            return source.choice((ForAll, Exists))(variable, body)
        left, right = (self.formula(part, scope, pattern=pattern) for part in (size // 2, size - 1 - size // 2))
        return source.choice(CONNECTIVES)(left, right)

    def renamed(self, formula: Formula) -> Formula:
        """The formula with other names for its variables, whatever that captures."""
        used = ("␣0", "␣1", "␣2", *self.words.variables)
        names = {name: self._source.choice(self.words.variables) for name in used}

        def term(part: Term) -> Term:
            if isinstance(part, Var):
                return Var(names.get(part.name, part.name), part.sort)
            return part.on(tuple(map(term, part.arguments)))

        def visit(part: Formula) -> Formula:
            match part:
                case Binder():
                    name, sort = part.variable.name, part.variable.sort
                    return type(part)(Var(names.get(name, name), sort), visit(part.body))
                case Not() | Binary():
                    return mapped(part, visit)
                case _:
                    return map_terms(part, term)

        return visit(formula)

    def abstracted(self, formula: Formula, term: Term, variable: Var, share: float) -> Formula:
        """The formula with a variable for a term in a share of the places, whatever that captures."""

        def visit(part: Term) -> Term:
            if part is term and self._source.random() < share:
                return variable
            return part.on(tuple(map(visit, part.arguments))) if isinstance(part, App) else part

        return map_terms(formula, visit)


def replace_variable(term: Term, variable: Var, value: Term) -> Term:
    """The term with a value for a variable."""
    if term is variable:
        return value
    if isinstance(term, App):
        return term.on(tuple([replace_variable(argument, variable, value) for argument in term.arguments]))
    return term


def capturing_instance(pattern: Formula, substitution: Substitution) -> Formula:
    """An instance in which quantifiers of the pattern bind variables of what its letters stand for.

    Raises:
        CatalogueError: the substitution does not bind a letter.
    """

    def term(part: Term, bound: Mapping[Var, Var]) -> Term:
        value = bound.get(part, part) if isinstance(part, Var) else substitution.get(part.function, part)
        if isinstance(value, Lambda):
            raise CatalogueError("no term")
        return value

    def visit(part: Formula, bound: Mapping[Var, Var]) -> Formula:
        match part:
            case Atom(name, arguments):
                function = substitution.get(name)
                if not isinstance(function, Lambda) or len(function.variables) != len(arguments):
                    raise CatalogueError(name)
                values = [term(argument, bound) for argument in arguments]
                return substitute(function.body, dict(zip(function.variables, values, strict=True)))
            case Not() | Binary():
                return mapped(part, lambda inner: visit(inner, bound))
            case ForAll(variable, body) | Exists(variable, body):
                named = substitution.get(variable.name)
                actual = named if isinstance(named, Var) else variable
                return type(part)(actual, visit(body, {**bound, variable: actual}))
            case _:
                raise CatalogueError("no pattern")

    return visit(pattern, {})
