"""Hypothesis strategies for everything that ``logic`` is about, for queries and for schemata.

Needs only ``hypothesis`` beside the package. Formulas are closed, sorted as their signature says, and keep the scoping
convention of the grammars (no name is a variable here and a symbol there), so every one of them can be written and read
back. Everything shrinks: towards plain names, few symbols, small domains, atoms.

>>> from hypothesis import given
>>> from proof_r1_formal.logic.model import evaluate
>>> @given(signatures().flatmap(lambda s: st.tuples(formulas(s), structures(s))))
... def negation_flips(pair):
...     formula, structure = pair
...     assert evaluate(Not(formula), structure) != evaluate(formula, structure)
>>> negation_flips()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from proof_r1_formal.logic.model import Element, Structure
from proof_r1_formal.logic.show import WORDS
from proof_r1_formal.logic.signature import FunctionType, Signature
from proof_r1_formal.logic.symbols import symbols
from proof_r1_formal.logic.syntax import (
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
from proof_r1_formal.rules.schema import Schema
from proof_r1_formal.solvers.base import Query

_PLAIN = ("P", "Q", "R", "likes", "is_kind", "a", "b", "Bob", "rome", "f", "g", "mother", "Person", "S1", "p_q", "c3")
_HOSTILE = (
    *("and", "OR", "not", "forall", "SOME", "true", "nota", "xorish", "order", "not-known", "and.b", "iff'", "x_1"),
    *(
        "∧",
        "¬",
        "∀x",
        "⊤",
        "->",
        "=",
        "(",
        ")",
        "(and",
        "(= a b)",
        ",",
        ".",
        ":",
        "x.",
        "x:Dog",
        "a b",
        " ",
        "\n",
        "\0",
    ),
    *('"', "\\", '\\"', "'", "O'Brien", "’", "7up", "3.14", "a.b", "a-b", "-a", "_", "_0", "a_0b", "a_", "\\land"),
    *(
        "Ślęża",
        "猫",
        "🐈",
        "é",
        "e\u0301",
        "\u202e",
        "\u2028",
        "|",
        "#",
        "sort",
        "Entity",
        "assert",
        "theorem",
        "sorry",
    ),
)


_LETTERS = ("x", "y", "z", "x1", "x_1", "X", "u", "v", "w", "t")
_TRUTH: tuple[Formula, ...] = (TOP, BOTTOM)
_BINARY: tuple[type[Connective], ...] = (And, Or, Implies, Iff, Xor)
_QUANTIFIERS: tuple[type[Quantified], ...] = (ForAll, Exists)


# -- names and signatures ---------------------------------------------------------------------------------------------


def plain_names() -> SearchStrategy[str]:
    """Names that no notation has to quote: ``is_kind``, ``Bob``, ``c3``."""
    regular = st.from_regex(r"[a-zA-Z][a-z0-9_]{0,5}", fullmatch=True).filter(lambda name: name.lower() not in WORDS)
    return st.sampled_from(_PLAIN) | regular


def hostile_names() -> SearchStrategy[str]:
    """Names that a notation or a target system may trip over: quotes, keywords, operators, digits first, any Unicode.

    None starts with ``␣``: those are the package's own.
    """
    return st.sampled_from(_HOSTILE) | st.text(min_size=1, max_size=8).filter(lambda name: not name.startswith("␣"))


def names() -> SearchStrategy[str]:
    """Plain names and hostile ones."""
    return plain_names() | hostile_names()


@st.composite
def signatures(
    draw: DrawFn,
    *,
    symbols: SearchStrategy[str] | None = None,
    max_sorts: int = 2,
    max_predicates: int = 4,
    max_arity: int = 2,
    max_constants: int = 3,
    max_functions: int = 1,
) -> Signature:
    """Signatures with at least one predicate. A sort may be without constants.

    A predicate and a constant or function may have one name: they are different symbols.

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
    sorts = (ENTITY, *draw(others))
    sort = st.sampled_from(sorts)
    predicates = draw(st.lists(st.lists(sort, max_size=max_arity), min_size=1, max_size=max_predicates))
    constants = draw(st.lists(sort, max_size=max_constants))
    functions = draw(st.lists(st.tuples(st.lists(sort, min_size=1, max_size=max_arity), sort), max_size=max_functions))

    def names(among: SearchStrategy[str], count: int) -> list[str]:
        return draw(st.lists(among, min_size=count, max_size=count, unique=True))

    predicate_names = names(named, len(predicates))
    unused = iter(names(named | st.sampled_from(predicate_names), len(constants) + len(functions)))
    return Signature(
        {name: tuple(arguments) for name, arguments in zip(predicate_names, predicates, strict=True)},
        {next(unused): FunctionType((), result) for result in constants}
        | {next(unused): FunctionType(tuple(arguments), result) for arguments, result in functions},
        sorts,
    )


# -- terms and formulas -----------------------------------------------------------------------------------------------


@st.composite
def terms(
    draw: DrawFn, signature: Signature, sort: str = ENTITY, *, variables: Iterable[Var] = (), max_depth: int = 2
) -> Term:
    """Terms of a sort over ``signature`` and ``variables``, of at most ``max_depth`` levels."""
    levels = _Levels(signature, variables, max_depth)
    if sort not in levels.sorts:
        reject()
    return levels.term(draw, sort, max_depth)


class _Levels:
    """Which terms there are, level by level: the heads that can start a term of a sort."""

    def __init__(self, signature: Signature, variables: Iterable[Var], max_depth: int) -> None:
        self._heads: list[dict[str, list[tuple[Var | str, tuple[str, ...]]]]] = []
        constants = [(name, kind) for name, kind in signature.functions.items() if not kind.arguments]
        functions = [(name, kind) for name, kind in signature.functions.items() if kind.arguments]
        for _ in range(max_depth):
            heads: dict[str, list[tuple[Var | str, tuple[str, ...]]]] = {}
            for variable in variables:
                heads.setdefault(variable.sort, []).append((variable, ()))
            for name, kind in constants + functions:
                if not kind.arguments or (self._heads and self._heads[-1].keys() >= set(kind.arguments)):
                    heads.setdefault(kind.result, []).append((name, kind.arguments))
            self._heads.append(heads)
        self.sorts = self._heads[-1].keys()

    def term(self, draw: DrawFn, sort: str, depth: int) -> Term:
        head, arguments = draw(st.sampled_from(self._heads[depth - 1][sort]))
        if isinstance(head, Var):
            return head
        return App(head, tuple([self.term(draw, s, depth - 1) for s in arguments]))


def formulas(
    signature: Signature | None = None,
    *,
    equality: bool = True,
    max_size: int = 12,
    variables: SearchStrategy[str] | None = None,
    free: tuple[Var, ...] = (),
) -> SearchStrategy[Formula]:
    """Formulas, closed unless told otherwise.

    Args:
        signature: the symbols that may occur; a drawn one if None.
        equality: whether ``=`` may occur.
        max_size: the most connectives, quantifiers, atoms and truth values.
        variables: names for bound variables, those of ``signature`` left out; a few letters if None.
        free: variables that may occur free.
    """
    if signature is None:
        return signatures().flatmap(
            lambda drawn: formulas(drawn, equality=equality, max_size=max_size, variables=variables, free=free)
        )
    taken = {*signature.predicates, *signature.functions}
    if variables is None:
        variables = st.sampled_from(_LETTERS)
    binders = st.builds(Var, variables.filter(lambda name: name not in taken), st.sampled_from(signature.sorts))
    return st.integers(1, max_size).flatmap(lambda size: _formulas(signature, equality, binders, free, size))


@st.composite
def _formulas(
    draw: DrawFn,
    signature: Signature,
    equality: bool,
    binders: SearchStrategy[Var],
    scope: tuple[Var, ...],
    size: int,
) -> Formula:
    """Formulas of a size with free variables in ``scope``. One strategy per node: a node can shrink to one below it."""

    def below(scope: tuple[Var, ...], size: int) -> Formula:
        return draw(_formulas(signature, equality, binders, scope, size))

    def atom() -> Formula:
        predicate = draw(st.sampled_from(predicates))
        return Atom(predicate, tuple([levels.term(draw, s, 2) for s in signature.predicates[predicate]]))

    def equation() -> Formula:
        sort = draw(st.sampled_from(sorted(levels.sorts)))
        return Eq(levels.term(draw, sort, 2), levels.term(draw, sort, 2))

    def truth() -> Formula:
        return draw(st.sampled_from(_TRUTH))

    def negation() -> Formula:
        return Not(below(scope, size - 1))

    def binary() -> Formula:
        connective = draw(st.sampled_from(_BINARY))
        left = draw(st.integers(1, size - 2))
        return connective(below(scope, left), below(scope, size - 1 - left))

    def quantified() -> Formula:
        quantifier, variable = draw(st.sampled_from(_QUANTIFIERS)), draw(binders)
        hidden = tuple([v for v in scope if v.name != variable.name])
        return quantifier(variable, below((variable, *hidden), size - 1))

    levels = _Levels(signature, scope, 2)
    predicates = [name for name, sorts in signature.predicates.items() if levels.sorts >= set(sorts)]
    kinds: list[Callable[[], Formula]] = []
    if size == 1:
        kinds += [atom, atom, atom] if predicates else []
        kinds += [equation] if equality and levels.sorts else []
        kinds += [truth]
    else:
        kinds += [negation, quantified, quantified]
        kinds += [binary, binary, binary] if size >= 3 else []
    return draw(st.sampled_from(kinds))()


# -- structures and queries -------------------------------------------------------------------------------------------


@st.composite
def structures(draw: DrawFn, signature: Signature, *, max_elements: int = 3) -> Structure:
    """Structures that interpret everything in ``signature``, each sort by 1 to ``max_elements`` elements."""
    domains = {sort: draw(st.integers(1, max_elements)) for sort in signature.sorts}

    def tuples(sorts: tuple[str, ...]) -> list[tuple[Element, ...]]:
        return list(product(*[range(domains[sort]) for sort in sorts]))

    return Structure(
        domains,
        {
            name: frozenset(row for row in tuples(sorts) if draw(st.booleans()))
            for name, sorts in signature.predicates.items()
        },
        {
            name: {row: draw(st.integers(0, domains[kind.result] - 1)) for row in tuples(kind.arguments)}
            for name, kind in signature.functions.items()
        },
    )


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
    variables = draw(st.sampled_from(((), (_BOUND,))))

    def pattern(letters: Sequence[str]) -> Formula:
        body = draw(_patterns([Atom(letter, variables) for letter in letters], max_size))
        if not variables:
            return body
        return ForAll(_BOUND, body) if draw(st.booleans()) else Exists(_BOUND, body)

    principal = tuple([pattern("ABC") for _ in range(draw(st.integers(1, 2)))])
    known = sorted({name for part in principal for name, _ in symbols(part).uses})
    return Schema("drawn", principal, tuple([pattern(known) for _ in range(draw(st.integers(0, 1)))]), pattern(known))


def _patterns(letters: Sequence[Formula], max_size: int) -> SearchStrategy[Formula]:
    """Quantifier-free formulas over letters."""
    return st.recursive(
        st.sampled_from(letters),
        lambda inner: (
            st.builds(Not, inner) | st.one_of([st.builds(kind, inner, inner) for kind in (And, Or, Implies, Iff, Xor)])
        ),
        max_leaves=max_size,
    )
