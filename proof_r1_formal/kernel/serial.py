"""Terms, formulas, proof terms and structures as plain JSON values, and back.

A variable is ``["var", name, sort]``, a function applied to terms ``["app", name, argument, …]``, and if it names its
sort ``["sorted", sort, ["app", …]]``. An atom is ``["atom", predicate, argument, …]``; anything else begins with the
name of its connective: ``["not", A]``, ``["implies", A, B]``, ``["forall", ["var", "x", "Entity"], A]``. Unlike text,
this needs no grammar to be read. A line of a proof is an object whose ``line`` names its kind. Theorems, and proofs
that apply them, have no such format.
"""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never, get_args

import msgspec

from proof_r1_formal.kernel.errors import ProofR1Error
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    TOP,
    And,
    App,
    Atom,
    Bottom,
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
    Top,
    Var,
    Xor,
)
from proof_r1_formal.kernel.term import Apply, Line, Proof

Data: TypeAlias = "str | int | list[Data] | dict[str, Data] | None"

_CONNECTIVES: dict[str, type[Connective]] = {"and": And, "or": Or, "xor": Xor, "implies": Implies, "iff": Iff}
_QUANTIFIERS: dict[str, type[Quantified]] = {"forall": ForAll, "exists": Exists}
_NAMES: dict[type[Formula], str] = {kind: name for name, kind in (*_CONNECTIVES.items(), *_QUANTIFIERS.items())}


def _term_to_data(term: Term) -> Data:
    """The term as a JSON value."""
    if isinstance(term, Var):
        return ["var", term.name, term.sort]
    applied: Data = ["app", term.function, *[_term_to_data(argument) for argument in term.arguments]]
    return applied if term.sort is None else ["sorted", term.sort, applied]


def to_data(formula: Formula) -> Data:
    """The formula as a JSON value."""
    match formula:
        case Top():
            return ["top"]
        case Bottom():
            return ["bottom"]
        case Atom(predicate, arguments):
            return ["atom", predicate, *[_term_to_data(argument) for argument in arguments]]
        case Eq(left, right):
            return ["equal", _term_to_data(left), _term_to_data(right)]
        case Not(body):
            return ["not", to_data(body)]
        case And() | Or() | Xor() | Implies() | Iff():
            return [_NAMES[type(formula)], to_data(formula.left), to_data(formula.right)]
        case ForAll(variable, body) | Exists(variable, body):
            return [_NAMES[type(formula)], _term_to_data(variable), to_data(body)]
    assert_never(formula)


def _term_from_data(data: Data) -> Term:
    """The term of a JSON value.

    Raises:
        ProofR1Error: the value is not a term.
    """
    match data:
        case ["var", str(name), str(sort)]:
            return Var(name, sort)
        case ["app", str(function), *arguments]:
            return App(function, tuple([_term_from_data(argument) for argument in arguments]))
        case ["sorted", str(sort), ["app", str(function), *arguments]]:
            return App(function, tuple([_term_from_data(argument) for argument in arguments]), sort)
    raise ProofR1Error(f"no term: {str(data)[:80]}")


def from_data(data: Data) -> Formula:
    """The formula of a JSON value.

    Raises:
        ProofR1Error: the value is not a formula.
    """
    match data:
        case ["top"]:
            return TOP
        case ["bottom"]:
            return BOTTOM
        case ["atom", str(predicate), *arguments]:
            return Atom(predicate, tuple([_term_from_data(argument) for argument in arguments]))
        case ["equal", left, right]:
            return Eq(_term_from_data(left), _term_from_data(right))
        case ["not", body]:
            return Not(from_data(body))
        case [str(name), left, right] if name in _CONNECTIVES:
            return _CONNECTIVES[name](from_data(left), from_data(right))
        case [str(name), binder, body] if name in _QUANTIFIERS:
            variable = _term_from_data(binder)
            if isinstance(variable, Var):
                return _QUANTIFIERS[name](variable, from_data(body))
    raise ProofR1Error(f"no formula: {str(data)[:80]}")


# -- proofs and structures --------------------------------------------------------------------------------------------

_KINDS: dict[str, Any] = {kind.__name__: kind for kind in get_args(Line) if kind is not Apply}


def proof_to_data(proof: Proof) -> Data:
    """The proof as a JSON value.

    Raises:
        ProofR1Error: it applies a theorem.
    """
    return [_line_to_data(line) for line in proof]


def _line_to_data(line: Line) -> Data:
    if isinstance(line, Apply):
        raise ProofR1Error(f"a proof that applies the theorem {line.theorem.name} cannot be written")
    data: dict[str, Data] = {"line": type(line).__name__}
    for field in line.__struct_fields__:
        value = getattr(line, field)
        match field:
            case "formula":
                data[field] = to_data(value)
            case "term" | "constant":
                data[field] = _term_to_data(value)
            case "block":
                data[field] = proof_to_data(value)
            case "premises":
                data[field] = list(value)
            case _:
                data[field] = value
    return data


def proof_from_data(data: Data) -> Proof:
    """The proof of a JSON value, which is not checked here.

    Raises:
        ProofR1Error: the value is not a proof.
    """
    if not isinstance(data, list):
        raise ProofR1Error("a proof is a list of lines")
    return tuple([_line_from_data(line) for line in data])


def _line_from_data(data: Data) -> Line:
    kind = _KINDS.get(str(data.get("line"))) if isinstance(data, dict) else None
    if not isinstance(data, dict) or kind is None or data.keys() != {"line", *kind.__struct_fields__}:
        raise ProofR1Error(f"no line of a proof: {str(data)[:80]}")
    line: Line = kind(*[_field_from_data(field, data[field]) for field in kind.__struct_fields__])
    return line


def _field_from_data(field: str, data: Data) -> Any:
    match field, data:
        case "formula", _:
            return from_data(data)
        case (("term" | "constant"), _):
            return _term_from_data(data)
        case "block", _:
            return proof_from_data(data)
        case "premises", list() if all(type(number) is int for number in data):
            return tuple(data)
        case "side", ("left" | "right"):
            return data
        case "other", None:
            return None
        case (("premise" | "main" | "other" | "first" | "second"), int()) if type(data) is int:
            return data
    raise ProofR1Error(f"no {field} of a line: {str(data)[:80]}")


class _Tables(msgspec.Struct):
    domains: dict[str, int]
    predicates: dict[str, list[tuple[int, ...]]]
    functions: dict[str, list[tuple[tuple[int, ...], int]]]


def structure_to_data(structure: Structure) -> Data:
    """The structure as a JSON value: sizes of the domains, rows of predicates, rows and values of functions."""
    predicates = {name: sorted(rows) for name, rows in structure.predicates.items()}
    functions = {name: sorted(table.items()) for name, table in structure.functions.items()}
    data: Data = msgspec.to_builtins(_Tables(dict(structure.domains), predicates, functions), builtin_types=())
    return data


def structure_from_data(data: Data) -> Structure:
    """The structure of a JSON value.

    Raises:
        ProofR1Error: the value is not a structure.
    """
    try:
        tables = msgspec.convert(data, _Tables)
    except msgspec.ValidationError as error:
        raise ProofR1Error(f"no structure: {error}") from error
    predicates = {name: frozenset(rows) for name, rows in tables.predicates.items()}
    return Structure(tables.domains, predicates, {name: dict(rows) for name, rows in tables.functions.items()})
