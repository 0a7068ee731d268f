"""A reader and evaluator of SMT-LIB terms that shares nothing with what writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from proof_r1_formal.kernel.model import Element, Structure
from tests.names import unmangle

Expression: TypeAlias = "str | list[Expression]"


def read(text: str) -> Expression:
    """The S-expression that is all of ``text``."""

    def one(tokens: Iterator[str]) -> Expression | None:
        token = next(tokens)
        if token == ")":
            return None
        if token != "(":
            return token
        parts: list[Expression] = []
        while (part := one(tokens)) is not None:
            parts.append(part)
        return parts

    tokens = iter(re.findall(r"[()]|[^()\s]+", text))
    expression = one(tokens)
    assert expression is not None
    assert next(tokens, None) is None, "text after the term"
    return expression


def meaning(expression: Expression, structure: Structure, values: Mapping[str, Element]) -> int:
    """The value of an SMT-LIB term: an element, or a truth value as 0 or 1."""
    match expression:
        case "true" | "false":
            return int(expression == "true")
        case str() if expression in values:
            return values[expression]
        case str():
            return applied(expression, (), structure)
        case ["not", body]:
            return 1 - meaning(body, structure, values)
        case ["and" | "or" | "xor" | "=>" | "=" as operator, first, second]:
            left, right = meaning(first, structure, values), meaning(second, structure, values)
            table = {"and": left and right, "or": left or right, "xor": left != right, "=>": not left or right}
            return int(left == right if operator == "=" else bool(table[operator]))
        case ["forall" | "exists" as quantifier, [[str(variable), str(sort)]], body]:
            domain = range(structure.domains[unmangle(sort, "s")])
            found = [meaning(body, structure, {**values, variable: element}) for element in domain]
            return int(all(found) if quantifier == "forall" else any(found))
        case [str(symbol), *arguments]:
            return applied(symbol, tuple(meaning(each, structure, values) for each in arguments), structure)
    raise AssertionError(f"no SMT-LIB term: {expression}")


def applied(symbol: str, arguments: tuple[Element, ...], structure: Structure) -> int:
    if symbol.startswith("p_"):
        return int(arguments in structure.predicates[unmangle(symbol, "p")])
    return structure.functions[unmangle(symbol, "f")][arguments]
