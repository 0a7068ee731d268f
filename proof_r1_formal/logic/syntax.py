"""The abstract syntax of many-sorted first-order logic with equality.

Nodes are immutable and *interned* (hash-consed): building a node that exists gives the same object, so equality is
identity, hashing is free, and nodes are good dictionary keys. The table of nodes holds weak references, so a node lives
as long as something uses it. Binary connectives stay binary, as written; flattened views are in ``logic.transform``.
Names are arbitrary non-empty strings; ``logic.show`` quotes those that need it.

What follows from a node alone is computed once: eagerly what every node needs, and on first use what few need, by the
function that defines it (``symbols``, ``alpha_normal``, …), which keeps its result in the node's ``memo``.

Variables carry a sort. Sorts of predicates, functions and constants follow from their uses (``logic.signature``),
unless a term names its own, as those do in the formulas of a problem with several sorts. Domains are non-empty.

One module, because all nodes share one table and the way in which they are made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import reduce, wraps
from html import escape
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar
from weakref import ref

if TYPE_CHECKING:
    from rich.text import Text

ENTITY = "Entity"
"""The default sort."""

_T = TypeVar("_T", bound="Node")
_R = TypeVar("_R")


class _Entry(ref[Any]):
    """A node in the table, and its key there."""

    __slots__ = ("key",)

    key: tuple[Any, ...]


_NODES: dict[tuple[Any, ...], _Entry] = {}
_LOCK = threading.RLock()  # the death of a node may fall into the making of another
_CLOSED: frozenset[Any] = frozenset()


class Node:
    """Base of terms and formulas.

    Attributes:
        free: the variables that occur free.
        height: how deep the node is nested, terms included; 1 for a constant.
        memo: what functions of the node alone keep: name of the function -> result.
    """

    __slots__ = ("__weakref__", "free", "height", "memo")

    free: frozenset[Var]
    height: int
    memo: dict[str, Any]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable; its {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable; its {name!r} cannot be deleted")

    def __repr__(self) -> str:
        fields = [f"{name}={getattr(self, name)!r}" for name in _names(self)]
        return f"{type(self).__name__}({', '.join(fields)})"

    def __str__(self) -> str:
        from proof_r1_formal.logic.show import text_of  # it is written in terms of this module

        return text_of(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple([getattr(self, name) for name in _names(self)])

    def __copy__(self: _T) -> _T:
        return self

    def __deepcopy__(self: _T, memo: object) -> _T:
        return self


def _names(node: Node) -> tuple[str, ...]:
    """The names of a node's parts."""
    return type(node).__match_args__  # type: ignore[attr-defined,no-any-return]  # each class states its own


def _forget(entry: _Entry) -> None:
    with _LOCK:
        if _NODES.get(entry.key) is entry:
            del _NODES[entry.key]


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
        memo[name] = _ITSELF if found is node else found  # a node that held itself would not be freed at once
        return found

    return remembering


_ITSELF = object()


def _setter(cls: type, name: str) -> Callable[[object, object], None]:
    """What sets a slot, for the one who makes the node."""
    return cls.__dict__[name].__set__  # type: ignore[no-any-return]


_set_free, _set_height, _set_memo = [_setter(Node, name) for name in ("free", "height", "memo")]


# -- terms ------------------------------------------------------------------------------------------------------------


class Var(Node):
    """A variable of a sort: ``Var("x", ENTITY)``."""

    __slots__ = ("name", "sort")
    __match_args__ = ("name", "sort")

    name: str
    sort: str

    @property
    def free(self) -> frozenset[Var]:  # type: ignore[override]  # made when it is asked for: no variable holds itself
        """The variable itself."""
        return frozenset((self,))

    def __new__(cls, name: str, sort: str) -> Var:
        key = (Var, name, sort)
        found = _NODES.get(key)
        node: Var | None = None if found is None else found()
        return _new_variable(key) if node is None else node


class App(Node):
    """A function applied to terms; a constant is an application to no terms: ``App("socrates", ())``.

    Its ``sort`` is given only where it shall not follow from the formula around it (``SignatureBuilder.sorted``).
    """

    __slots__ = ("arguments", "function", "sort")
    __match_args__ = ("function", "arguments", "sort")

    function: str
    arguments: tuple[Term, ...]
    sort: str | None

    def __new__(cls, function: str, arguments: tuple[Term, ...], sort: str | None = None) -> App:
        key = (App, function, arguments, sort)
        found = _NODES.get(key)
        node: App | None = None if found is None else found()
        return _new_application(key) if node is None else node

    def on(self, arguments: tuple[Term, ...], *, function: str | None = None) -> App:
        """The term with other arguments, and another function if one is named."""
        return App(self.function if function is None else function, arguments, self.sort)


Term: TypeAlias = Var | App


# -- formulas ---------------------------------------------------------------------------------------------------------


class _Formula(Node):
    """Base of formulas.

    Attributes:
        quantifiers: how deep quantifiers are nested; 0 without any.
        size: the number of subformulas, repeats included.
    """

    __slots__ = ("quantifiers", "size")

    quantifiers: int
    size: int

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text(str(self))

    def _repr_html_(self) -> str:
        return f"<code>{escape(str(self))}</code>"


class Top(_Formula):
    """⊤, true in every structure."""

    __slots__ = ()
    __match_args__ = ()

    def __new__(cls) -> Top:
        return TOP


class Bottom(_Formula):
    """⊥, false in every structure."""

    __slots__ = ()
    __match_args__ = ()

    def __new__(cls) -> Bottom:
        return BOTTOM


class Atom(_Formula):
    """A predicate applied to terms; a proposition is a predicate applied to none."""

    __slots__ = ("arguments", "predicate")
    __match_args__ = ("predicate", "arguments")

    predicate: str
    arguments: tuple[Term, ...]

    def __new__(cls, predicate: str, arguments: tuple[Term, ...]) -> Atom:
        key = (Atom, predicate, arguments)
        found = _NODES.get(key)
        node: Atom | None = None if found is None else found()
        return _new_atom(key) if node is None else node


class Eq(_Formula):
    """``left = right``."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")

    left: Term
    right: Term

    def __new__(cls, left: Term, right: Term) -> Eq:
        key = (Eq, left, right)
        found = _NODES.get(key)
        node: Eq | None = None if found is None else found()
        return _new_equation(key) if node is None else node


class Not(_Formula):
    """¬body."""

    __slots__ = ("body",)
    __match_args__ = ("body",)

    body: Formula

    def __new__(cls, body: Formula) -> Not:
        key = (Not, body)
        found = _NODES.get(key)
        node: Not | None = None if found is None else found()
        return _new_negation(key) if node is None else node


class Binary(_Formula):
    """Base of the binary connectives."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")

    left: Formula
    right: Formula

    def __new__(cls: type[_T], left: Formula, right: Formula) -> _T:
        key = (cls, left, right)
        found = _NODES.get(key)
        node: _T | None = None if found is None else found()
        return _new_binary(key) if node is None else node


class And(Binary):
    """left ∧ right."""

    __slots__ = ()
    __match_args__ = ("left", "right")


class Or(Binary):
    """left ∨ right."""

    __slots__ = ()
    __match_args__ = ("left", "right")


class Xor(Binary):
    """left ⊕ right, exactly one of the two."""

    __slots__ = ()
    __match_args__ = ("left", "right")


class Implies(Binary):
    """left → right."""

    __slots__ = ()
    __match_args__ = ("left", "right")


class Iff(Binary):
    """left ↔ right."""

    __slots__ = ()
    __match_args__ = ("left", "right")


class Binder(_Formula):
    """Base of the quantified formulas, which bind a variable."""

    __slots__ = ("body", "variable")
    __match_args__ = ("variable", "body")

    variable: Var
    body: Formula

    def __new__(cls: type[_T], variable: Var, body: Formula) -> _T:
        key = (cls, variable, body)
        found = _NODES.get(key)
        node: _T | None = None if found is None else found()
        return _new_quantified(key) if node is None else node


class ForAll(Binder):
    """∀variable body."""

    __slots__ = ()
    __match_args__ = ("variable", "body")


class Exists(Binder):
    """∃variable body."""

    __slots__ = ()
    __match_args__ = ("variable", "body")


Connective: TypeAlias = And | Or | Xor | Implies | Iff
Quantified: TypeAlias = ForAll | Exists
Formula: TypeAlias = Top | Bottom | Atom | Eq | Not | Connective | Quantified


# -- making nodes -----------------------------------------------------------------------------------------------------

_set_name, _set_sort = _setter(Var, "name"), _setter(Var, "sort")
_set_function, _set_inside, _set_own_sort = [_setter(App, name) for name in ("function", "arguments", "sort")]
_set_quantifiers, _set_size = _setter(_Formula, "quantifiers"), _setter(_Formula, "size")
_set_predicate, _set_arguments = _setter(Atom, "predicate"), _setter(Atom, "arguments")
_set_first, _set_second = _setter(Eq, "left"), _setter(Eq, "right")
_set_negated = _setter(Not, "body")
_set_left, _set_right = _setter(Binary, "left"), _setter(Binary, "right")
_set_variable, _set_body = _setter(Binder, "variable"), _setter(Binder, "body")


def _interned(key: tuple[Any, ...], node: Any) -> Any:
    """The node of the key: this one, unless another thread has made it in the meantime."""
    with _LOCK:
        found = _NODES.get(key)
        known = None if found is None else found()
        if known is not None:
            return known
        entry = _NODES[key] = _Entry(node, _forget)
        entry.key = key
        return node


def _described(node: Any, free: frozenset[Var], height: int) -> None:
    _set_free(node, free)
    _set_height(node, height)
    _set_memo(node, {})


def _described_formula(node: Any, free: frozenset[Var], height: int, quantifiers: int, size: int) -> None:
    _set_free(node, free)
    _set_height(node, height)
    _set_memo(node, {})
    _set_quantifiers(node, quantifiers)
    _set_size(node, size)


def _new_variable(key: tuple[Any, ...]) -> Any:
    node = object.__new__(Var)
    _set_name(node, key[1])
    _set_sort(node, key[2])
    _described(node, _CLOSED, 1)
    return _interned(key, node)


def _free_in(arguments: tuple[Term, ...]) -> frozenset[Var]:
    variables = frozenset([argument for argument in arguments if isinstance(argument, Var)])
    inside = [argument.free for argument in arguments if isinstance(argument, App) and argument.free]
    return variables.union(*inside) if inside else variables


def _height_of(arguments: tuple[Term, ...]) -> int:
    return 1 + max([argument.height for argument in arguments]) if arguments else 1


def _new_application(key: tuple[Any, ...]) -> Any:
    node = object.__new__(App)
    _set_function(node, key[1])
    _set_inside(node, key[2])
    _set_own_sort(node, key[3])
    _described(node, _free_in(key[2]), _height_of(key[2]))
    return _interned(key, node)


def _new_atom(key: tuple[Any, ...]) -> Any:
    node = object.__new__(Atom)
    _set_predicate(node, key[1])
    _set_arguments(node, key[2])
    _described_formula(node, _free_in(key[2]), _height_of(key[2]), 0, 1)
    return _interned(key, node)


def _new_equation(key: tuple[Any, ...]) -> Any:
    node = object.__new__(Eq)
    _set_first(node, key[1])
    _set_second(node, key[2])
    _described_formula(node, _free_in(key[1:]), _height_of(key[1:]), 0, 1)
    return _interned(key, node)


def _new_negation(key: tuple[Any, ...]) -> Any:
    body = key[1]
    node = object.__new__(Not)
    _set_negated(node, body)
    _described_formula(node, body.free, body.height + 1, body.quantifiers, body.size + 1)
    return _interned(key, node)


def _new_binary(key: tuple[Any, ...]) -> Any:
    cls, left, right = key
    node = object.__new__(cls)
    _set_left(node, left)
    _set_right(node, right)
    free = left.free | right.free if left.free or right.free else _CLOSED
    height = max(right.height, left.height)
    quantifiers = max(right.quantifiers, left.quantifiers)
    _described_formula(node, free, height + 1, quantifiers, left.size + right.size + 1)
    return _interned(key, node)


def _new_quantified(key: tuple[Any, ...]) -> Any:
    cls, variable, body = key
    node = object.__new__(cls)
    _set_variable(node, variable)
    _set_body(node, body)
    _described_formula(node, body.free - {variable}, body.height + 1, body.quantifiers + 1, body.size + 1)
    return _interned(key, node)


def _constant_formula(cls: type[_T]) -> _T:
    node = object.__new__(cls)
    _described_formula(node, _CLOSED, 1, 0, 1)
    return node


TOP = _constant_formula(Top)
BOTTOM = _constant_formula(Bottom)


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
