"""Hypothesis strategies for everything that ``logic`` is about, for queries and for schemata.

Needs only ``hypothesis`` beside the package. Formulas are closed, sorted as their signature says, and keep the scoping
convention of the grammars (no name is a variable here and a symbol there), so every one of them can be written and read
back. Everything shrinks: towards plain names, few symbols, small domains, atoms.

One module, because the strategies draw from each other.

>>> from hypothesis import given
>>> from proof_r1_formal.kernel.model import evaluate
>>> from proof_r1_formal.kernel.syntax import Not
>>> @given(signatures().flatmap(lambda s: st.tuples(formulas(s), structures(s))))
... def negation_flips(pair):
...     formula, structure = pair
...     assert evaluate(Not(formula), structure) != evaluate(formula, structure)
>>> negation_flips()
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TypeVar

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import FunctionType, Signature, symbols
from proof_r1_formal.kernel.syntax import ENTITY, Formula, Term, Var
from proof_r1_formal.rules.schema import Schema
from proof_r1_formal.testing.formulas import QUANTIFIERS, Formulas, Vocabulary, structure
from proof_r1_formal.text.show import WORDS

_PLAIN = ("P", "Q", "R", "likes", "is_kind", "a", "b", "Bob", "rome", "f", "g", "mother", "Person", "S1", "p_q", "c3")
_HOSTILE = (
    *("and", "OR", "not", "forall", "SOME", "true", "nota", "xorish", "order", "not-known", "and.b", "iff'", "x_1"),
    *("v", "Λ", "is", "the", "If", "in", "doesn't", "distinct", "Not", "ForAll", "birds", "xCat", "a b", "(= a b)"),
    *("∧", "¬", "∀x", "⊤", "->", "=", "(", ")", "(and", ",", ".", ":", "x.", "x:Dog", " ", "\n", "\0", "e\u0301"),
    *('"', "\\", '\\"', "'", "O'Brien", "’", "7up", "3.14", "a.b", "a-b", "-a", "_", "_0", "a_0b", "a_", "\\land"),
    *("Ślęża", "猫", "🐈", "é", "\u202e", "\u2028", "|", "#", "sort", "Entity", "assert", "theorem", "sorry"),
)
_T = TypeVar("_T")
_LETTERS = ("x", "y", "z", "x1", "x_1", "X", "u", "v", "w", "t")


# -- names and signatures ---------------------------------------------------------------------------------------------


@cache
def plain_names() -> SearchStrategy[str]:
    """Names that no notation has to quote: ``is_kind``, ``Bob``, ``c3``."""
    regular = st.from_regex(r"[a-zA-Z][a-z0-9_]{0,5}", fullmatch=True).filter(lambda name: name.lower() not in WORDS)
    return st.sampled_from(_PLAIN) | regular


@cache
def hostile_names() -> SearchStrategy[str]:
    """Names that a notation or a target system may trip over: quotes, keywords, operators, digits first, any Unicode.

    None starts with ``␣``: those are the package's own.
    """
    return st.sampled_from(_HOSTILE) | st.text(min_size=1, max_size=8).filter(lambda name: not name.startswith("␣"))


def names() -> SearchStrategy[str]:
    """Plain names and hostile ones."""
    return plain_names() | hostile_names()


def signatures(
    *,
    symbols: SearchStrategy[str] | None = None,
    max_sorts: int = 2,
    max_predicates: int = 4,
    max_arity: int = 2,
    max_constants: int = 3,
    max_functions: int = 1,
) -> SearchStrategy[Signature]:
    """Signatures with at least one predicate. A sort may be without constants.

    A predicate and a constant may have one name: they are different symbols.

    Args:
        symbols: names of sorts, predicates and functions; plain ones if None.
        max_sorts: 1 gives the default sort alone.
        max_predicates: at least 1.
        max_arity: of predicates and of functions.
        max_constants: over all sorts.
        max_functions: of at least one argument.
    """
    named = plain_names() if symbols is None else symbols
    others = st.lists(named.filter(lambda name: name != ENTITY), max_size=max_sorts - 1, unique=True)

    reused = named | st.integers(0, max_predicates)  # the name of a predicate, by its number

    @cache  # a strategy costs more to make than to draw from
    def kinds(
        sorts: tuple[str, ...],
    ) -> SearchStrategy[tuple[dict[str, list[str]], dict[str | int, str], dict[str, tuple[list[str], str]]]]:
        """Predicates, constants and functions by name."""
        sort = _one_of(sorts)
        function = st.tuples(st.lists(sort, min_size=1, max_size=max_arity), sort)
        return st.tuples(
            st.dictionaries(named, st.lists(sort, max_size=max_arity), min_size=1, max_size=max_predicates),
            st.dictionaries(reused, sort, max_size=max_constants),
            st.dictionaries(named, function, max_size=max_functions),
        )

    @st.composite
    def drawn(draw: DrawFn) -> Signature:
        sorts = (ENTITY, *draw(others))
        predicates, constants, functions = draw(kinds(sorts))
        known = list(predicates)
        of_sorts = {known[n % len(known)] if isinstance(n, int) else n: sort for n, sort in constants.items()}
        own = {name: kind for name, kind in functions.items() if name not in {*predicates, *of_sorts}}
        return Signature(
            {name: tuple(arguments) for name, arguments in predicates.items()},
            {name: FunctionType((), sort) for name, sort in of_sorts.items()}
            | {name: FunctionType(tuple(arguments), result) for name, (arguments, result) in own.items()},
            sorts,
        )

    return drawn()


_sampled = lru_cache(4096)(st.sampled_from)


def _one_of(options: tuple[_T, ...]) -> SearchStrategy[_T]:
    """One of a few values; a strategy costs more to make than to draw from."""
    made: SearchStrategy[_T] = _sampled(options)
    return made


# -- terms and formulas -----------------------------------------------------------------------------------------------


class _Choices:
    """Hypothesis as a source of choices."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw

    def choice(self, options: Sequence[_T], /) -> _T:
        return self._draw(_one_of(tuple(options)))

    def randint(self, least: int, most: int, /) -> int:
        return self._draw(_between(least, most))


class _Parts(Formulas):
    """Draws each part of a formula by a strategy of its own, so that an example can shrink to a part of it."""

    def __init__(self, draw: DrawFn, vocabulary: Vocabulary) -> None:
        super().__init__(_Choices(draw), vocabulary)
        self._draw = draw

    def formula(self, size: int, scope: tuple[Var, ...] = ()) -> Formula:
        return self._draw(_sized(self.vocabulary, size, scope))

    def whole(self, size: int, scope: tuple[Var, ...]) -> Formula:
        return super().formula(size, scope)


@st.composite
def _formulas(draw: DrawFn, vocabulary: Vocabulary, size: int, scope: tuple[Var, ...]) -> Formula:
    return _Parts(draw, vocabulary).whole(size, scope)


_sized = lru_cache(4096)(_formulas)


@st.composite
def terms(
    draw: DrawFn, signature: Signature, sort: str = ENTITY, *, variables: Iterable[Var] = (), max_depth: int = 2
) -> Term:
    """Terms of a sort over ``signature`` and ``variables``, of at most ``max_depth`` levels."""
    drawer, scope = Formulas(_Choices(draw), Vocabulary.of(signature)), tuple(variables)
    return drawer.term(sort, scope, max_depth) if sort in drawer.sorts(scope, max_depth) else reject()


def formulas(
    signature: Signature | None = None,
    *,
    equality: bool = True,
    max_size: int = 12,
    variables: Iterable[str] = _LETTERS,
    free: tuple[Var, ...] = (),
) -> SearchStrategy[Formula]:
    """Formulas, by default closed.

    Args:
        signature: the symbols that may occur; a drawn one if None.
        equality: whether ``=`` may occur.
        max_size: the most connectives, quantifiers, atoms and truth values.
        variables: names for bound variables, those of ``signature`` left out.
        free: variables that may occur free.
    """
    if signature is None:
        return signatures().flatmap(
            lambda drawn: formulas(drawn, equality=equality, max_size=max_size, variables=variables, free=free)
        )
    vocabulary = Vocabulary.of(signature, variables, equality=equality)
    if not vocabulary.variables:
        return st.nothing()
    return _between(1, max_size).flatmap(lambda size: _sized(vocabulary, size, free))


@cache
def _between(least: int, most: int) -> SearchStrategy[int]:
    return st.integers(least, most)


# -- structures and queries -------------------------------------------------------------------------------------------


@st.composite
def structures(draw: DrawFn, signature: Signature, *, max_elements: int = 3) -> Structure:
    """Structures that interpret everything in ``signature``, each sort by 1 to ``max_elements`` elements."""
    domains = {sort: draw(_between(1, max_elements)) for sort in signature.sorts}
    return structure(_Choices(draw), signature, domains)


def queries(
    signature: Signature | None = None, *, equality: bool = True, max_dependencies: int = 3, max_size: int = 8
) -> SearchStrategy[Query]:
    """Queries over one signature (a drawn one if None), entailed and refuted ones mixed.

    Args:
        signature: the symbols that may occur.
        equality: whether ``=`` may occur.
        max_dependencies: dependencies per query.
        max_size: of each formula, as in :func:`formulas`.
    """
    if signature is None:
        return signatures().flatmap(
            lambda drawn: queries(drawn, equality=equality, max_dependencies=max_dependencies, max_size=max_size)
        )
    formula = formulas(signature, equality=equality, max_size=max_size)
    return st.builds(Query, st.lists(formula, max_size=max_dependencies).map(tuple), formula)


# -- schemata ---------------------------------------------------------------------------------------------------------

_BOUND = Var("x", ENTITY)


@st.composite
def schemata(draw: DrawFn, *, max_size: int = 4) -> Schema:
    """Schemata with one to three premises, sound and unsound ones mixed; all about letters, or all under quantifiers.

    Args:
        max_size: of each pattern.
    """
    bound = draw(st.sampled_from(((), (_BOUND,))))

    def pattern(letters: Sequence[str]) -> Formula:
        vocabulary = Vocabulary(tuple([(letter, (ENTITY,) * len(bound)) for letter in letters]), (), parts=("atom",))
        drawer = _Patterns(_Choices(draw), vocabulary)
        body = drawer.formula(draw(_between(1, 2 * max_size)), bound)
        return draw(_one_of(QUANTIFIERS))(_BOUND, body) if bound else body

    principal = tuple([pattern("ABC") for _ in range(draw(st.integers(1, 2)))])
    known = sorted({name for part in principal for name, _ in symbols(part).uses})
    return Schema("drawn", principal, tuple([pattern(known) for _ in range(draw(st.integers(0, 1)))]), pattern(known))


class _Patterns(Formulas):
    compounds = ("not", "binary", "binary", "binary")
