"""Proof terms and structures as plain JSON values, and back.

A line is an object whose ``line`` names its kind; formulas and terms have the format of ``logic.serial``. Theorems, and
proofs that apply them, have no such format.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evidence.term import Apply, Line, Proof
from proof_r1_formal.logic.model import Structure
from proof_r1_formal.logic.serial import Data, from_data, term_from_data, term_to_data, to_data

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
                data[field] = term_to_data(value)
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
        ProofR1Error: it is none.
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
            return term_from_data(data)
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
        ProofR1Error: it is none.
    """
    try:
        tables = msgspec.convert(data, _Tables)
    except msgspec.ValidationError as error:
        raise ProofR1Error(f"no structure: {error}") from error
    predicates = {name: frozenset(rows) for name, rows in tables.predicates.items()}
    return Structure(tables.domains, predicates, {name: dict(rows) for name, rows in tables.functions.items()})
