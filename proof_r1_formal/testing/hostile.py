"""Random formulas whose names clash and whose variables are sometimes free, for attacks on what handles formulas.

In: a source of random numbers. Out: terms, formulas and changed formulas. The names of predicates, constants,
functions, variables and sorts come from one small pool in half of the vocabularies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.pattern import Lambda, Substitution
from proof_r1_formal.kernel.syntax import ENTITY, App, Atom, Binary, Binder, Eq, ForAll, Formula, Not, Term, Var
from proof_r1_formal.kernel.transform import map_terms, substitute
from proof_r1_formal.testing.formulas import Formulas, Vocabulary, mapped

POOL = ("a", "b", "A", "t", "x", "y", "Entity", "␣0", "␣1", "␣c0")
"""Names of everything, where names clash; ``␣0`` and ``␣c0`` are those that the package gives to its own."""


def hostile_vocabulary(source: Random, *, patterns: bool = False) -> Vocabulary:
    """A vocabulary; for patterns, of the default sort and without equations, ⊤ and ⊥."""
    names = source.random() < 0.5
    sorts = (ENTITY,) if patterns else source.choice([*[(ENTITY,)] * 3, (ENTITY, "Person"), (ENTITY, "x")])

    def name(plain: str) -> str:
        return source.choice(POOL) if names else plain

    predicates = [(name(n), tuple(source.choices(sorts, k=k))) for n, k in zip("pqPQR", (0, 0, 1, 1, 2), strict=True)]
    constants = [(name(n), (), source.choice(sorts)) for n in "ab"]
    function = (name("f"), (source.choice(sorts),), source.choice(sorts))
    parts = ("atom",) if patterns else (*["atom"] * 16, *["="] * 3, "truth")
    return Vocabulary(tuple(predicates), (*constants, function), tuple(name(n) for n in "xyz"), sorts, parts)


class HostileFormulas(Formulas):
    """Draws terms and formulas over one vocabulary at a time."""

    shadowing = True

    def __init__(self, source: Random) -> None:
        super().__init__(source, hostile_vocabulary(source))
        self.random = source
        self.oddity = 0.06
        """How often to draw something that may not stand there."""

    def odd(self) -> bool:
        """Whether to draw something that may not stand there."""
        return self.chance(self.oddity)

    def chance(self, share: float) -> bool:
        """True in this share of draws."""
        return self.random.random() < share

    def term(self, sort: str, scope: Sequence[Var] = (), depth: int = 2) -> Term:
        """A term, mostly of the sort, with variables in scope."""
        if self.odd():
            constant = App(self.random.choice(POOL), (), self.random.choice(self.vocabulary.sorts))
            return self.random.choice((self.variable(), Var("␣0", ENTITY), constant))
        return super().term(sort, scope, depth) if sort in self.sorts(scope, depth) else App("n", ())

    def any_term(self) -> Term:
        """A closed term of any sort."""
        return self.term(self.random.choice(self.vocabulary.sorts))

    def constants(self) -> list[tuple[str, str]]:
        """The constants of the vocabulary, with their sorts."""
        return [(name, sort) for name, needed, sort in self.vocabulary.functions if not needed]

    def single(self) -> ForAll:
        """A formula: a sort has one element only, a constant. It must not be read as being about another sort."""
        name, sort = self.random.choice(self.constants())
        variable = Var(self.random.choice(self.vocabulary.variables), sort)
        return ForAll(variable, Eq(variable, App(name, ())))

    def renamed(self, formula: Formula) -> Formula:
        """The formula with other names for its variables, whatever that captures."""
        variables = self.vocabulary.variables
        names = {name: self.random.choice(variables) for name in ("␣0", "␣1", "␣2", *variables)}

        def term(part: Term) -> Term:
            if isinstance(part, Var):
                return Var(names.get(part.name, part.name), part.sort)
            return part.on(tuple(map(term, part.arguments)))

        def visit(part: Formula) -> Formula:
            if isinstance(part, Binder):
                name, sort = part.variable.name, part.variable.sort
                return type(part)(Var(names.get(name, name), sort), visit(part.body))
            return mapped(part, visit) if isinstance(part, Not | Binary) else map_terms(part, term)

        return visit(formula)

    def abstracted(self, formula: Formula, term: Term, variable: Var, share: float) -> Formula:
        """The formula with a variable for a term in a share of the places, whatever that captures."""

        def visit(part: Term) -> Term:
            if part is term and self.chance(share):
                return variable
            return part.on(tuple(map(visit, part.arguments))) if isinstance(part, App) else part

        return map_terms(formula, visit)


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
            case Binder(variable, body):
                named = substitution.get(variable.name)
                actual = named if isinstance(named, Var) else variable
                return type(part)(actual, visit(body, {**bound, variable: actual}))
            case _:
                raise CatalogueError("no pattern")

    return visit(pattern, {})
