"""Types of TFF to sorts: each declared type is a sort, and ``$i`` is the default one.

In: the trees of ``tff(name, type, symbol: type).`` and the formulas of a file. Out: sorts of variables, errors where a
symbol is used against its declaration, and statements of the types that the formulas themselves leave open.

Both sides mean the same: every type is a domain of its own, which is not empty. So no predicate has to stand for a
type. The text of a formula has the sorts of variables only, and all other sorts are inferred from it. Where ``tom``
meets no variable, the statement ``∃y:cat y = tom`` says its type. It holds in every structure of these types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Any

from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY, App, Atom, Eq, Exists, ForAll, Formula, Term, Var, var
from proof_r1_formal.kernel.transform import subformulas

_DEFINED: Mapping[str, str] = MappingProxyType({"$i": ENTITY})
_BOOLEAN, _TYPE = "$o", "$tType"

Refuse = Callable[[Any, str], ParseError]
"""Makes the error at a token."""


class Types:
    """The types of a file, and those of its symbols. A symbol without a declaration has the types of FOF."""

    def __init__(self) -> None:
        self._sorts: set[str] = set()
        self._predicates: dict[str, tuple[str, ...]] = {}
        self._functions: dict[str, FunctionType] = {}

    @property
    def any(self) -> bool:
        """Whether something is declared."""
        return bool(self._sorts or self._predicates or self._functions)

    def declare(self, symbol: str, type_: Any, name: Callable[[Any], str], refuse: Refuse) -> None:
        """Add a declaration.

        Args:
            symbol: that is declared.
            type_: the tree of its type, or a token if it is a name.
            name: the name of a token.
            refuse: makes the error at a token.

        Raises:
            ParseError: the type is not read, or the symbol has another one.
        """
        while not isinstance(type_, str) and type_.data == "group" and len(type_.children) == 1:
            (type_,) = type_.children
        if type_ == _TYPE:
            if symbol == ENTITY:
                raise refuse(type_, f"the type {ENTITY!r} has the name of the default sort; rename it")
            self._sorts.add(symbol)
            return
        if not isinstance(type_, str) and type_.data == "group":
            raise refuse(type_.children[0], "a product of types is the type of no symbol")
        places: list[Any] = [type_] if isinstance(type_, str) else [*type_.children]
        first: Any = places[0]
        if not isinstance(first, str):
            places = [*first.children, *places[1:]]
        *arguments, result = places
        sorts = tuple([self.sort(each, name, refuse) for each in arguments])
        if result == _BOOLEAN:
            new = self._predicates.setdefault(symbol, sorts) == sorts and symbol not in self._functions
        else:
            function = FunctionType(sorts, self.sort(result, name, refuse))
            new = self._functions.setdefault(symbol, function) == function and symbol not in self._predicates
        if not new:
            raise refuse(result, f"{symbol!r} has two types")

    def sort(self, token: Any, name: Callable[[Any], str], refuse: Refuse) -> str:
        """The sort of a type's name.

        Raises:
            ParseError: the type is not declared before, or not read.
        """
        if token.type == "DOLLAR":
            if token not in _DEFINED:
                raise refuse(token, f"the type {str(token)!r} is not read here; known are $i and declared types")
            return _DEFINED[token]
        if name(token) not in self._sorts:
            raise refuse(token, f"the type {name(token)!r} is not declared before")
        return name(token)

    def check(self, formula: Formula) -> str | None:
        """How a formula uses a symbol against its declaration; None if it does not."""
        if not self.any:
            return None
        for part in subformulas(formula):
            match part:
                case Atom(predicate, arguments):
                    places = self._predicates.get(predicate)
                    if places is None and predicate in self._functions:
                        return f"{predicate!r} is declared as a function"
                    wrong = self._arguments(predicate, arguments, places)
                case Eq(left, right):
                    wrong = self._term(left) or self._term(right)
                    if wrong is None and (one := self._sort_of(left)) != (other := self._sort_of(right)):
                        wrong = f"the sides of an equation are of the types {_shown(one)} and {_shown(other)}"
                case _:
                    continue
            if wrong is not None:
                return wrong
        return None

    def _arguments(self, symbol: str, arguments: Sequence[Term], places: Sequence[str] | None) -> str | None:
        places = (ENTITY,) * len(arguments) if places is None else places
        if len(places) != len(arguments):
            return f"{symbol!r} has {len(arguments)} arguments, and {len(places)} are declared"
        for number, (argument, sort) in enumerate(zip(arguments, places, strict=True), 1):
            found = self._sort_of(argument)
            if found != sort:
                return f"argument {number} of {symbol!r} is of the type {_shown(found)}, and {_shown(sort)} is declared"
        return next(filter(None, map(self._term, arguments)), None)

    def _term(self, term: Term) -> str | None:
        if isinstance(term, Var):
            return None
        if term.function in self._predicates:
            return f"{term.function!r} is declared as a predicate"
        return self._arguments(term.function, term.arguments, self._type_of(term).arguments)

    def _sort_of(self, term: Term) -> str:
        return term.sort if isinstance(term, Var) else self._type_of(term).result

    def _type_of(self, term: App) -> FunctionType:
        found = self._functions.get(term.function)
        return FunctionType((ENTITY,) * len(term.arguments), ENTITY) if found is None else found

    def statements(self, formulas: Sequence[Formula]) -> list[Formula]:
        """For each symbol whose types do not follow from the formulas, a statement that has them.

        Raises:
            SignatureError: the formulas use a symbol in two ways.
        """
        if not self.any:
            return []
        inferred = Signature.infer(formulas).functions
        return [
            _stated(name, type_)
            for name, type_ in self._functions.items()
            if name in inferred and inferred[name] != type_
        ]


def _stated(name: str, type_: FunctionType) -> Formula:
    """``∀x1:A … ∃y:B y = f(x1, …)``."""
    arguments = [var(f"x{number}", sort) for number, sort in enumerate(type_.arguments, 1)]
    value = var("y", type_.result)
    inner: Formula = Exists(value, Eq(value, App(name, tuple(arguments))))
    return reduce(lambda body, variable: ForAll(variable, body), reversed(arguments), inner)


def _shown(sort: str) -> str:
    return "$i" if sort == ENTITY else repr(sort)
