"""The abstract syntax of many-sorted first-order logic with equality.

Nodes are immutable and *interned* (hash-consed): building a node that exists gives the same object, so equality is
identity, hashing is free, and nodes are good dictionary keys. Each time the table of nodes has grown by a quarter, it
drops those that nothing else refers to (:func:`drop_unused`); it does not hold them weakly, because compiled classes
cannot be held so. Binary connectives stay binary, as written; flattened views are in ``text.equivalence``. Names are
arbitrary non-empty strings. The kernel writes no formula as text: ``text.show`` does, see :func:`register_display`.

What follows from a node alone is computed once: eagerly what every node needs, and on first use what few need, by the
function that defines it (``symbols``, ``alpha_normal``, …), which keeps its result in the node's ``memo``.

Variables carry a sort. Sorts of predicates, functions and constants follow from their uses (``kernel.signature``),
unless a term names its own, as those do in the formulas of a problem with several sorts. Domains are non-empty.

One module, because all nodes share one table and the way in which they are made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import reduce, wraps
from sys import getrefcount, maxsize
from typing import Any, ClassVar, Final, NoReturn, Self, TypeAlias, TypeVar

ENTITY: Final = "Entity"
"""The default sort."""

_T = TypeVar("_T", bound="Node")
_R = TypeVar("_R")


_NODES: Final[dict[tuple[Any, ...], Any]] = {}
"""The table: class and parts of a node -> the node."""
_FEW: Final = 1 << 14
"""How many nodes may be in the table without a search for unused ones."""
_LOCK: Final = threading.RLock()  # garbage collection may make a node while another is entered
_CLOSED: Final[frozenset[Any]] = frozenset()


class Node:
    """Base of terms and formulas.

    Attributes:
        height: how deep the node is nested, terms included; 1 for a constant.
        memo: what functions of the node alone keep: name of the function -> result.
    """

    __slots__ = ("height", "memo")

    height: int
    memo: dict[str, Any]

    def _describe(self, height: int) -> None:
        object.__setattr__(self, "height", height)
        object.__setattr__(self, "memo", {})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable; its {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable; its {name!r} cannot be deleted")

    def __repr__(self) -> str:
        fields = [f"{name}={getattr(self, name)!r}" for name in _names(self)]
        return f"{type(self).__name__}({', '.join(fields)})"

    def __str__(self) -> str:
        text: str = _DISPLAY["text"](self)
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple([getattr(self, name) for name in _names(self)])

    def __copy__(self: _T) -> _T:
        return self

    def __deepcopy__(self: _T, memo: object) -> _T:
        return self


def _names(node: Node) -> tuple[str, ...]:
    """The names of a node's parts."""
    return type(node).__match_args__  # type: ignore[attr-defined,no-any-return]  # each class of a node has its own


def once(function: Callable[[_T], _R]) -> Callable[[_T], _R]:
    """The function of a node alone, whose result each node keeps from the first call on."""
    name = function.__qualname__

    @wraps(function)
    def remembering(node: _T) -> _R:
        memo = node.memo
        if name in memo:
            known = memo[name]
            return node if known is _ITSELF else known  # type: ignore[return-value]
        found = function(node)
        memo[name] = _ITSELF if found is node else found  # a node that held itself would never be dropped
        return found

    return remembering


_ITSELF: Final = object()


_DISPLAY: Final[dict[str, Callable[[Any], Any]]] = dict.fromkeys(("text", "rich", "html"), repr)
"""How nodes are shown to people: in which form -> the function that makes it."""


def register_display(*, text: Callable[[Any], str], rich: Callable[[Any], Any], html: Callable[[Any], str]) -> None:
    """Let other modules show nodes to people: as ``str``, in terminals and in notebooks; before that, by ``repr``.

    No verdict depends on what they show.
    """
    _DISPLAY.update(text=text, rich=rich, html=html)


# -- terms ------------------------------------------------------------------------------------------------------------


class Var(Node):
    """A variable of a sort: ``Var("x", ENTITY)``."""

    __slots__ = ("name", "sort")
    __match_args__: ClassVar = ("name", "sort")

    name: str
    sort: str

    @property
    def free(self) -> frozenset[Var]:  # made when it is asked for: no variable holds itself
        """The variables that occur free: itself."""
        return frozenset((self,))

    def __new__(cls, name: str, sort: str) -> Var:
        key = (Var, name, sort)
        found: Var | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        object.__setattr__(node, "name", name)
        object.__setattr__(node, "sort", sort)
        node._describe(1)
        return _enter(key, node)


class App(Node):
    """A function applied to terms; a constant is an application to no terms: ``App("socrates", ())``.

    Its ``sort`` is given only where it must not follow from the formula around it (``SignatureBuilder.sorted``).

    Attributes:
        free: the variables that occur free.
    """

    __slots__ = ("arguments", "free", "function", "sort")
    __match_args__: ClassVar = ("function", "arguments", "sort")

    free: frozenset[Var]
    function: str
    arguments: tuple[Term, ...]
    sort: str | None

    def __new__(cls, function: str, arguments: tuple[Term, ...], sort: str | None = None) -> App:
        key = (App, function, arguments, sort)
        found: App | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        object.__setattr__(node, "function", function)
        object.__setattr__(node, "arguments", arguments)
        object.__setattr__(node, "sort", sort)
        object.__setattr__(node, "free", _free_in(arguments))
        node._describe(_height_of(arguments))
        return _enter(key, node)

    def on(self, arguments: tuple[Term, ...], *, function: str | None = None) -> App:
        """The term with other arguments, and another function if one is named."""
        return App(self.function if function is None else function, arguments, self.sort)


Term: TypeAlias = Var | App


# -- formulas ---------------------------------------------------------------------------------------------------------


class _Formula(Node):
    """Base of formulas.

    Attributes:
        free: the variables that occur free.
        quantifiers: how deep quantifiers are nested; 0 without any.
        size: the number of subformulas, repeats included.
    """

    __slots__ = ("free", "quantifiers", "size")

    free: frozenset[Var]
    quantifiers: int
    size: int

    def _describe_formula(self, free: frozenset[Var], height: int, quantifiers: int, size: int) -> None:
        self._describe(height)
        object.__setattr__(self, "free", free)
        object.__setattr__(self, "quantifiers", quantifiers)
        object.__setattr__(self, "size", size)

    def __rich__(self) -> Any:
        return _DISPLAY["rich"](self)

    def _repr_html_(self) -> str:
        markup: str = _DISPLAY["html"](self)
        return markup


class Top(_Formula):
    """⊤, true in every structure."""

    __slots__ = ()
    __match_args__: ClassVar = ()

    def __new__(cls) -> Top:
        key = (Top,)
        found: Top | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        node._describe_formula(_CLOSED, 1, 0, 1)
        return _enter(key, node)


class Bottom(_Formula):
    """⊥, false in every structure."""

    __slots__ = ()
    __match_args__: ClassVar = ()

    def __new__(cls) -> Bottom:
        key = (Bottom,)
        found: Bottom | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        node._describe_formula(_CLOSED, 1, 0, 1)
        return _enter(key, node)


class Atom(_Formula):
    """A predicate applied to terms; a proposition is a predicate applied to none."""

    __slots__ = ("arguments", "predicate")
    __match_args__: ClassVar = ("predicate", "arguments")

    predicate: str
    arguments: tuple[Term, ...]

    def __new__(cls, predicate: str, arguments: tuple[Term, ...]) -> Atom:
        key = (Atom, predicate, arguments)
        found: Atom | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        object.__setattr__(node, "predicate", predicate)
        object.__setattr__(node, "arguments", arguments)
        node._describe_formula(_free_in(arguments), _height_of(arguments), 0, 1)
        return _enter(key, node)


class Eq(_Formula):
    """``left = right``."""

    __slots__ = ("left", "right")
    __match_args__: ClassVar = ("left", "right")

    left: Term
    right: Term

    def __new__(cls, left: Term, right: Term) -> Eq:
        key = (Eq, left, right)
        found: Eq | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        object.__setattr__(node, "left", left)
        object.__setattr__(node, "right", right)
        node._describe_formula(_free_in((left, right)), _height_of((left, right)), 0, 1)
        return _enter(key, node)


class Not(_Formula):
    """¬body."""

    __slots__ = ("body",)
    __match_args__: ClassVar = ("body",)

    body: Formula

    def __new__(cls, body: Formula) -> Not:
        key = (Not, body)
        found: Not | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        object.__setattr__(node, "body", body)
        node._describe_formula(body.free, body.height + 1, body.quantifiers, body.size + 1)
        return _enter(key, node)


class Binary(_Formula):
    """Base of the binary connectives."""

    __slots__ = ("left", "right")
    __match_args__: ClassVar = ("left", "right")

    left: Formula
    right: Formula

    def __new__(cls, left: Formula, right: Formula) -> Self:
        key = (cls, left, right)
        found: Self | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        object.__setattr__(node, "left", left)
        object.__setattr__(node, "right", right)
        free = left.free | right.free if left.free or right.free else _CLOSED
        height = 1 + max(left.height, right.height)
        node._describe_formula(free, height, max(left.quantifiers, right.quantifiers), left.size + right.size + 1)
        return _enter(key, node)


class And(Binary):
    """left ∧ right."""

    __slots__ = ()
    __match_args__: ClassVar = ("left", "right")


class Or(Binary):
    """left ∨ right."""

    __slots__ = ()
    __match_args__: ClassVar = ("left", "right")


class Xor(Binary):
    """left ⊕ right, exactly one of the two."""

    __slots__ = ()
    __match_args__: ClassVar = ("left", "right")


class Implies(Binary):
    """left → right."""

    __slots__ = ()
    __match_args__: ClassVar = ("left", "right")


class Iff(Binary):
    """left ↔ right."""

    __slots__ = ()
    __match_args__: ClassVar = ("left", "right")


class Binder(_Formula):
    """Base of the quantified formulas, which bind a variable."""

    __slots__ = ("body", "variable")
    __match_args__: ClassVar = ("variable", "body")

    variable: Var
    body: Formula

    def __new__(cls, variable: Var, body: Formula) -> Self:
        key = (cls, variable, body)
        found: Self | None = _NODES.get(key)
        if found is not None:
            return found
        node = object.__new__(cls)
        object.__setattr__(node, "variable", variable)
        object.__setattr__(node, "body", body)
        node._describe_formula(body.free - {variable}, body.height + 1, body.quantifiers + 1, body.size + 1)
        return _enter(key, node)


class ForAll(Binder):
    """∀variable body."""

    __slots__ = ()
    __match_args__: ClassVar = ("variable", "body")


class Exists(Binder):
    """∃variable body."""

    __slots__ = ()
    __match_args__: ClassVar = ("variable", "body")


Connective: TypeAlias = And | Or | Xor | Implies | Iff
Quantified: TypeAlias = ForAll | Exists
Formula: TypeAlias = Top | Bottom | Atom | Eq | Not | Connective | Quantified


# -- the table of nodes -----------------------------------------------------------------------------------------------

_limit = _FEW  # how many nodes may be in the table before unused ones are dropped


def _enter(key: tuple[Any, ...], node: _T) -> _T:
    """The node of the key: this one, unless another thread has entered one in the meantime."""
    with _LOCK:
        if len(_NODES) >= _limit:
            drop_unused()
        return _NODES.setdefault(key, node)  # type: ignore[no-any-return]


def drop_unused() -> None:
    """Remove the nodes from the table that nothing else refers to.

    Other threads may read the table meanwhile, but not enter nodes.
    """
    global _limit
    with _LOCK:
        _limit = maxsize
        try:
            node: Any = object()
            unused = getrefcount(node) + 1  # that of the table
            keys = list(_NODES)
            while keys:  # parents before their parts, which are older
                key = keys.pop()
                node = _NODES[key]
                if getrefcount(node) == unused:
                    del _NODES[key]
                    if getrefcount(node) == unused:  # another thread read it from the table just before
                        _NODES[key] = node
        finally:
            _limit = max(_FEW, len(_NODES) * 5 // 4)


def _free_in(arguments: tuple[Term, ...]) -> frozenset[Var]:
    variables = frozenset([argument for argument in arguments if isinstance(argument, Var)])
    inside = [argument.free for argument in arguments if isinstance(argument, App) and argument.free]
    return variables.union(*inside) if inside else variables


def _height_of(arguments: tuple[Term, ...]) -> int:
    return 1 + max([argument.height for argument in arguments]) if arguments else 1


TOP: Final = Top()
BOTTOM: Final = Bottom()


# -- short constructors -----------------------------------------------------------------------------------------------


def var(name: str, sort: str = ENTITY) -> Var:
    """A variable, of the default sort unless told otherwise."""
    return Var(name, sort)


def const(name: str) -> App:
    """A constant."""
    return App(name, ())


def atom(predicate: str, *arguments: Term) -> Atom:
    """``predicate(arguments…)``."""
    return Atom(predicate, arguments)


def conjunction(formulas: tuple[Formula, ...]) -> Formula:
    """The left-nested ∧ of the formulas; ⊤ of none."""
    return reduce(And, formulas) if formulas else TOP


def disjunction(formulas: tuple[Formula, ...]) -> Formula:
    """The left-nested ∨ of the formulas; ⊥ of none."""
    return reduce(Or, formulas) if formulas else BOTTOM
