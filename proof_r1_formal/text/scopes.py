"""The tokens of a formula, with the reach of every quantifier made explicit.

In: the tokens of the formula, and how far quantifiers reach (``text.conventions``). Out: the tokens for the parser, in
which a quantifier that reaches further than the next complete formula has parentheses around its scope, so that
``grammars/infix.lark`` can let every quantifier bind tight.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from lark import Token

from proof_r1_formal.text.binders import read_binder
from proof_r1_formal.text.conventions import Reach
from proof_r1_formal.text.names import unquote
from proof_r1_formal.text.readings import Scope
from proof_r1_formal.text.spellings import EQUALITY

_SORT = re.compile(r"[:：](?:\s|\\[,;:! ])*([^:：.。,，()]+)\Z")
INSERTED = ""
"""The text of a ``)`` that stands at the end of the formula although nobody wrote it."""


_APPLICATION = frozenset({"NAME", "CALL", "_LPAR"})


def scopes(tokens: Sequence[Token], reach: Reach) -> Mapping[int, Scope]:
    """The scope of each quantifier of an infix formula, by its index."""
    ends, far = _reaches(tokens, reach)
    return {i: Scope(tokens[i].value, read_binder(tokens[i].value).written, end, i in far) for i, end in ends.items()}


def bracket(tokens: Sequence[Token], scopes: Mapping[int, Scope]) -> Iterator[Token]:
    """The tokens with parentheses around the scopes that are longer than the next complete formula."""
    opened = [0] * (len(tokens) + 1)
    for scope in scopes.values():
        opened[scope.end] += scope.far
    for index, token in enumerate(tokens):
        for _ in range(opened[index]):
            yield Token.new_borrow_pos("_RPAR", token.value, token)
        yield token
        if index in scopes and scopes[index].far:
            yield Token.new_borrow_pos("_LPAR", "(", token)
    if sum((token.type == "_LPAR") - (token.type == "_RPAR") for token in tokens) > 0:
        return  # not a place for them: the formula ends inside parentheses
    for _ in range(opened[len(tokens)]):
        yield Token.new_borrow_pos("_RPAR", INSERTED, tokens[-1])


def such_that(tokens: Sequence[Token]) -> list[Token] | None:
    """The tokens with ``∃x: P`` read as "an x such that P", where they may also say that x is of the sort P.

    That may be if a blank follows the colon, or ``(`` the name after it, and no dot ends the variables.
    """
    changed: list[Token] = []
    for index, token in enumerate(tokens):
        sort = _SORT.search(token.value) if token.type == "BINDER" else None
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        called = following is not None and following.type == "_LPAR" and following.start_pos == token.end_pos
        if sort is None or not (called or sort[0][1].isspace()):
            changed.append(token)
            continue
        start = (token.start_pos or 0) + sort.start(1)
        binder = token.value[: sort.start() + 1]
        changed.append(Token("BINDER", binder, token.start_pos, token.line, token.column, end_pos=start))
        kind = "CALL" if called else "NAME"
        column = (token.column or 0) + sort.start(1)
        changed.append(Token(kind, sort[1], start, token.line, column, end_pos=token.end_pos))
    return changed if len(changed) > len(tokens) else None


def _reaches(tokens: Sequence[Token], reach: Reach) -> tuple[dict[int, int], dict[int, int]]:
    """For each quantifier the index after its scope, and the same for those only that need parentheses for it."""
    ends: dict[int, int] = {}
    far: dict[int, int] = {}
    if not any(token.type == "BINDER" for token in tokens):
        return ends, far
    closing, group_end = _groups(tokens)
    bound: dict[str, list[int]] = {}  # the quantifiers of each name; from the right
    free: dict[str, list[int]] = {}  # where each name stands outside quantifiers that bind it; from the right
    for index in reversed(range(len(tokens))):  # inner and later quantifiers first
        if tokens[index].type == "NAME":
            free.setdefault(unquote(tokens[index].value), []).append(index)
        if tokens[index].type != "BINDER":
            continue
        binder = read_binder(tokens[index].value)
        end = _complete(tokens, index + 1, closing, ends)
        names = [variable.name for variable in binder.variables]
        further = reach == "long" and not _encloses(tokens, index, closing)
        extends = (
            (binder.far and reach in ("usual", "long"))
            or (reach != "tight" and _among(names, free, end, group_end[index]))
            or (further and not _among(names, bound, end, group_end[index]))
        )
        if extends:
            end = far[index] = group_end[index]
        ends[index] = end
        for name in names:
            bound.setdefault(name, []).append(index)
            while free.get(name) and free[name][-1] < end:
                free[name].pop()
    return ends, far


def _encloses(tokens: Sequence[Token], index: int, closing: Mapping[int, int]) -> bool:
    """Whether parentheses show the scope of a quantifier: directly after negations and other quantifiers."""
    while index < len(tokens) and tokens[index].type in ("_NOT", "BINDER"):
        index += 1
    if index == len(tokens) or tokens[index].type != "_LPAR":
        return False
    end = closing.get(index, len(tokens)) + 1
    return end >= len(tokens) or tokens[end].type not in EQUALITY


def _groups(tokens: Sequence[Token]) -> tuple[dict[int, int], list[int]]:
    """For each ``(`` the index of its ``)``; for each token the index where its parentheses end."""
    count = len(tokens)
    closing: dict[int, int] = {}
    group_end = [count] * count
    open_at: list[int] = []
    members: list[list[int]] = [[]]
    for index, token in enumerate(tokens):
        if token.type == "_RPAR":
            for member in members[-1]:
                group_end[member] = index
            if open_at:
                closing[open_at.pop()] = index
                members.pop()
            else:  # a surplus one
                members[-1] = []
        members[-1].append(index)
        if token.type == "_LPAR":
            open_at.append(index)
            members.append([])
    return closing, group_end


def _complete(tokens: Sequence[Token], start: int, closing: dict[int, int], ends: dict[int, int]) -> int:
    """The index after the shortest complete formula that starts at ``start`` (``start`` if none does)."""
    index = start
    while index < len(tokens) and tokens[index].type == "_NOT":
        index += 1
    if index == len(tokens):
        return index
    match tokens[index].type:
        case "BINDER":
            return ends[index]
        case "_LPAR" | "NAME" | "CALL":
            if tokens[index].type == "_LPAR":
                end = closing.get(index, len(tokens) - 1) + 1
            else:
                end = _application_end(tokens, index, closing)
            is_side = end < len(tokens) and tokens[end].type in EQUALITY
            return _application_end(tokens, end + 1, closing) if is_side else end
        case "TOP" | "BOTTOM":
            return index + 1
        case _:
            return index


def _application_end(tokens: Sequence[Token], index: int, closing: dict[int, int]) -> int:
    while index < len(tokens) and tokens[index].type in _APPLICATION:
        index = closing.get(index, len(tokens) - 1) + 1 if tokens[index].type == "_LPAR" else index + 1
    return index


def _among(names: Sequence[str], places: Mapping[str, list[int]], start: int, end: int) -> bool:
    """Whether one of the names has a place, the largest being first, between ``start`` and ``end``."""
    for name in names:
        found = places.get(name, [])
        after = bisect_right(found, -start, key=lambda index: -index)
        if after > 0 and found[after - 1] < end:
            return True
    return False
