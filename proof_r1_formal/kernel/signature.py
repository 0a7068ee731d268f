"""The symbols of formulas with their arities and sorts, and names that other systems accept.

In: formulas. Out: the :class:`Symbols` of one, gathered in one pass and remembered; of several a :class:`Signature`, or
a :class:`SignatureError` that names both uses of a symbol that clash.

Predicates and terms are two namespaces: ``Tiger(Tiger)`` has a predicate and a constant of one name, which have nothing
to do with each other. Functions and constants are one namespace. A name is not a predicate and a function with
arguments: beside ``P(a)``, ``P(a) = b`` means something else than its writer believes.

Sorts are inferred: variables declare one. Every argument place, constant and function result takes the sort of what
meets it; what meets nothing sorted is of the default sort. ``likes(x, rome)`` under ``∀x:Person`` makes the first place
of ``likes`` a Person. What is inferred from many formulas is written into one by :meth:`SignatureBuilder.sorted`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, TypeAlias, assert_never

import msgspec

from proof_r1_formal.kernel.errors import SignatureError
from proof_r1_formal.kernel.syntax import (
    ENTITY,
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
from proof_r1_formal.kernel.transform import map_terms, subformulas

Use: TypeAlias = tuple[Literal["predicate", "function", "constant"], int]
"""A way to use a name: its role, and the number of its arguments."""


class Symbols(msgspec.Struct, frozen=True, gc=False):
    """The contents of a formula, in order of first occurrence.

    Attributes:
        uses: each name with its kind and arity, as keys; one that is used in two ways is there twice.
        ground_terms: the terms without variables, each once, arguments before what they are arguments of.
        sorts: those of quantified variables and of terms that name theirs, without the default sort.
    """

    uses: Mapping[tuple[str, Use], None]
    ground_terms: tuple[App, ...]
    sorts: frozenset[str]

    @property
    def functions(self) -> frozenset[str]:
        """The names of functions and constants."""
        return frozenset([name for name, (kind, _) in self.uses if kind != "predicate"])


_CONSTANT: Final[Use] = ("constant", 0)
_NO_SORTS: Final[frozenset[str]] = frozenset()


def symbols(formula: Formula) -> Symbols:
    """The contents of the formula."""
    known: Symbols | None = formula.memo.get("symbols")  # not by ``once``, to save a call: it is asked often
    if known is None:
        known = formula.memo["symbols"] = _symbols(formula)
    return known


def _symbols(formula: Formula) -> Symbols:
    core = formula
    while isinstance(core, Not) or (isinstance(core, Binder) and core.variable.sort == ENTITY):
        core = core.body
    if core is not formula:
        return symbols(core)
    uses: dict[tuple[str, Use], None] = {}
    ground: list[App] = []
    sorts: list[str] = []
    pending: list[Formula] = [core]
    while pending:
        part = pending.pop()
        if isinstance(part, Atom):
            uses[part.predicate, ("predicate", len(part.arguments))] = None
            for argument in part.arguments:
                if isinstance(argument, App):
                    if argument.arguments or argument.sort is not None:
                        _visit(argument, uses, ground, sorts)
                    else:
                        uses[argument.function, _CONSTANT] = None
                        ground.append(argument)
        elif isinstance(part, Binary):
            pending += (part.right, part.left)
        elif isinstance(part, Not):
            pending.append(part.body)
        elif isinstance(part, Binder):
            sorts.append(part.variable.sort)
            pending.append(part.body)
        elif isinstance(part, Eq):
            for side in (part.left, part.right):
                if isinstance(side, App):
                    _visit(side, uses, ground, sorts)
    terms = tuple(dict.fromkeys(ground)) if len(ground) > 1 else tuple(ground)
    return Symbols(uses, terms, frozenset(sorts) - {ENTITY} if sorts else _NO_SORTS)


def _visit(term: App, uses: dict[tuple[str, Use], None], ground: list[App], sorts: list[str]) -> None:
    """Enter the symbols of a term that is not a variable."""
    uses[term.function, ("function" if term.arguments else "constant", len(term.arguments))] = None
    if term.sort is not None:
        sorts.append(term.sort)
    for argument in term.arguments:
        if isinstance(argument, App):
            _visit(argument, uses, ground, sorts)
    if not term.free:
        ground.append(term)


# -- signatures --------------------------------------------------------------------------------------------------------


class FunctionType(msgspec.Struct, frozen=True):
    """Argument sorts and result sort of a function; a constant has no arguments."""

    arguments: tuple[str, ...]
    result: str


class Signature(msgspec.Struct, frozen=True):
    """Sorts, predicates and functions (constants among them), each in order of first use.

    Attributes:
        predicates: name -> sorts of its arguments.
        functions: name -> its type.
        sorts: the sorts that occur; the default sort alone if none does.
    """

    predicates: Mapping[str, tuple[str, ...]] = {}
    functions: Mapping[str, FunctionType] = {}
    sorts: tuple[str, ...] = (ENTITY,)

    @classmethod
    def infer(cls, formulas: Iterable[Formula]) -> Signature:
        """Collect the symbols of ``formulas``.

        Raises:
            SignatureError: a predicate, or a function or constant, is used with two arities or with two sorts.
        """
        return SignatureBuilder(formulas).signature()


_Symbol: TypeAlias = tuple[bool, str]
"""Whether it is a predicate, and its name."""


class SignatureBuilder:
    """Collects symbols: union-find over the sorted places of symbols.

    A place is ``(symbol, index)``, a symbol being ``(whether it is a predicate, name)``; index -1 is the result of a
    function. As long as all variables are of the default sort, so is every place, and nothing is united.

    Args:
        formulas: whose symbols are collected.

    Attributes:
        one_sort: whether the default sort is the only one.

    Raises:
        SignatureError: a predicate, or a function or constant, is used with two arities or with two sorts.
    """

    def __init__(self, formulas: Iterable[Formula] = ()) -> None:
        self._formulas = dict.fromkeys(formulas)
        self._uses: dict[tuple[str, Use], None] = {}
        self.one_sort = True
        self._parent: dict[object, object] = {}
        self._sort: dict[object, str] = {}
        self._sorts: dict[str, None] = {}
        self._collect(self._formulas)

    def extend(self, formula: Formula) -> SignatureBuilder:
        """A copy that knows the symbols of ``formula`` too, or this one if it does already; this one stays as it is.

        Raises:
            SignatureError: a symbol of the formula clashes with what is known.
        """
        found = symbols(formula)
        if formula in self._formulas or (self.one_sort and not found.sorts and found.uses.keys() <= self._uses.keys()):
            return self
        copy = SignatureBuilder()
        copy._formulas.update(self._formulas)
        copy._uses.update(self._uses)
        copy.one_sort = self.one_sort
        copy._parent.update(self._parent)
        copy._sort.update(self._sort)
        copy._sorts.update(self._sorts)
        copy._formulas[formula] = None
        copy._collect((formula,))
        grown = [len(each) for each in (copy._uses, copy._parent, copy._sorts)]
        return self if grown == [len(each) for each in (self._uses, self._parent, self._sorts)] else copy

    def _collect(self, formulas: Collection[Formula]) -> None:
        """Collect the symbols of new formulas; after an error the builder is of no more use."""
        one_sort = self.one_sort
        for formula in formulas:
            found = symbols(formula)
            self._uses.update(found.uses)
            one_sort = one_sort and not found.sorts
        _require_one_use(self._uses)
        if not one_sort:
            for formula in self._formulas if self.one_sort else formulas:
                self._unify_places(formula)
            self.one_sort = False

    def _unify_places(self, formula: Formula) -> None:
        for part in subformulas(formula):
            match part:
                case Atom(predicate, arguments):
                    self._arguments((True, predicate), arguments)
                case Eq(left, right):
                    self._unify(self._place(left), self._place(right), "=")
                case ForAll(variable, _) | Exists(variable, _):
                    self._sorts.setdefault(variable.sort)
                case _:
                    pass

    def _arguments(self, symbol: _Symbol, arguments: tuple[Term, ...]) -> None:
        for index, argument in enumerate(arguments):
            self._unify((symbol, index), self._place(argument), symbol[1])

    def _place(self, term: Term) -> object:
        match term:
            case Var(_, sort):
                place = ("sort of variable", sort)
                self._sort[self._find(place)] = sort
                self._sorts.setdefault(sort)
                return place
            case App(function, arguments):
                self._arguments((False, function), arguments)
                result = ((False, function), -1)
                if term.sort is not None:
                    self._unify(self._place(Var("", term.sort)), result, function)
                return result
        assert_never(term)

    def _find(self, place: object) -> object:
        while (parent := self._parent.get(place, place)) != place:
            place = parent
        return place

    def _unify(self, first: object, second: object, symbol: str) -> None:
        a, b = self._find(first), self._find(second)
        if a == b:
            return
        sort_a, sort_b = self._sort.get(a), self._sort.get(b)
        if sort_a is not None and sort_b is not None and sort_a != sort_b:
            raise SignatureError(symbol, f"taking sort {sort_a}", f"taking sort {sort_b}")
        self._parent[b] = a
        if sort_b is not None:
            self._sort[a] = sort_b

    def _sort_of(self, place: object) -> str:
        return self._sort.get(self._find(place), ENTITY)

    def signature(self) -> Signature:
        """The signature so far; places without a sort are of the default sort."""
        predicates: dict[str, tuple[str, ...]] = {}
        functions: dict[str, FunctionType] = {}
        for name, (kind, arity) in self._uses:
            places = (ENTITY,) * arity if self.one_sort else self._sorts_of((kind == "predicate", name), arity)
            if kind == "predicate":
                predicates[name] = places
            else:
                functions[name] = FunctionType(places, ENTITY if self.one_sort else self._sort_of(((False, name), -1)))
        if self.one_sort:
            return Signature(predicates, functions)
        sorts = dict.fromkeys(self._sorts)
        for places in predicates.values():
            sorts.update(dict.fromkeys(places))
        for type_ in functions.values():
            sorts.update(dict.fromkeys((*type_.arguments, type_.result)))
        return Signature(predicates, functions, tuple(sorts) or (ENTITY,))

    def _sorts_of(self, symbol: _Symbol, arity: int) -> tuple[str, ...]:
        return tuple([self._sort_of((symbol, index)) for index in range(arity)])

    def sorted(self, formula: Formula) -> Formula:
        """A formula whose symbols are known, every term naming its sort if there is any sort but the default one.

        Such formulas mean the same in any company: what is inferred from some of them is what all of them say.
        """
        if self.one_sort:
            return formula

        def named(term: Term) -> Term:
            if isinstance(term, Var):
                return term
            return App(term.function, tuple(map(named, term.arguments)), self._sort_of(((False, term.function), -1)))

        return map_terms(formula, named)


def ground_terms(formulas: Iterable[Formula]) -> dict[str, tuple[Term, ...]]:
    """The terms without variables in the formulas by sort, each once, in order of first occurrence.

    Raises:
        SignatureError: formulas with sorts of their own use a symbol in two ways.
    """
    formulas = tuple(formulas)
    terms: dict[App, None] = {}
    one_sort = True
    for formula in formulas:
        found = symbols(formula)
        terms.update(dict.fromkeys(found.ground_terms))
        one_sort = one_sort and not found.sorts
    if one_sort:
        return {ENTITY: tuple(terms)} if terms else {}
    functions = Signature.infer(formulas).functions
    by_sort: dict[str, list[Term]] = {}
    for term in terms:
        by_sort.setdefault(functions[term.function].result, []).append(term)
    return {sort: tuple(terms_) for sort, terms_ in by_sort.items()}


def _require_one_use(uses: Mapping[tuple[str, Use], None]) -> None:
    """Check that no predicate, and no function or constant, is used in two ways."""
    if len(dict(uses.keys())) == len(uses):  # each name has one use
        return
    known: dict[_Symbol, Use] = {}
    for name, use in uses:
        first = known.setdefault((use[0] == "predicate", name), use)
        other = known.get((use[0] != "predicate", name))
        if other is not None and "function" in (use[0], other[0]):
            first = other  # P(a) and P(a) = b
        if first != use:
            raise SignatureError(name, _describe(*first), _describe(*use))


def _describe(kind: str, arity: int) -> str:
    if not arity:
        return "a constant" if kind == "constant" else "a proposition"
    return f"a {kind} of {arity} argument{'' if arity == 1 else 's'}"


# -- names for other systems ------------------------------------------------------------------------------------------

_PLAIN: Final = re.compile(r"[A-Za-z0-9_]*")


def mangle(name: str, prefix: str) -> str:
    """An identifier of ASCII letters, digits and ``_`` for ``name``, and for no other name.

    The result is ``<prefix>_<body>``, so it never starts with a digit, and is not a keyword of a system whose keywords
    have another form. In the body every character outside ``[A-Za-z0-9_]`` becomes ``_0<hex code point>z``; so does a
    ``_`` that is last or stands before ``0``.

    >>> mangle("loves_wildlife", "p"), mangle("Ślęża's", "c")
    ('p_loves_wildlife', 'c__015azl_0119z_017cza_027zs')
    """
    if _PLAIN.fullmatch(name) and "_0" not in name and not name.endswith("_"):
        return f"{prefix}_{name}"
    body = []
    for index, char in enumerate(name):
        plain = char.isascii() and (char.isalnum() or char == "_")
        if not plain or (char == "_" and name[index + 1 : index + 2] in ("", "0")):
            body.append(f"_0{ord(char):x}z")
        else:
            body.append(char)
    return f"{prefix}_{''.join(body)}"
