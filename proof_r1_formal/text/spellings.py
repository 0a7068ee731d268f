"""Tokens as other notations spell them, brought to those of ``grammars/infix.lark``.

In: the tokens of the lexer. Out: tokens with the same places, bounded in number and nesting, in which calls
(``And(A, B)``, ``ForAll(x, A)``) are infix, quantifiers stand without parentheses (``(∀x)(…)``), and names in single
quotes or LaTeX's ``\\text{…}`` are plain or in double quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from lark import Token
from lark.lark import PostLex

from proof_r1_formal.text.binders import read_binder
from proof_r1_formal.text.conventions import Convention
from proof_r1_formal.text.names import unmarked
from proof_r1_formal.text.readings import QUANTIFIER_WORDS, AmbiguousError

MAX_TOKENS = 5_000
"""The most tokens a formula may have."""
MAX_DEPTH = 256
"""The deepest nesting of connectives, quantifiers, terms and parentheses."""
EQUALITY = ("_EQ", "_NEQ")
_BINARY = ("_IFF", "_NOT_IFF", "_IMPLIES", "_IMPLIED", "_OR", "_XOR", "_AND")
_TWO = {
    "_IFF": "be a chain or say that all of them are equivalent",
    "_IMPLIES": "group them to the right or to the left",
    "_XOR": "say that an odd number of them holds, or one alone",
}
"""Calls of two formulas: what they may mean with more."""
_OPENS_OPERAND = frozenset((*_BINARY, "_NOT", "BINDER", "_LPAR", "_COMMA"))
"""What a formula may follow."""
_NUMBER = re.compile(r"\d[\d.]*")
_MATH = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_CLOSING = {"(": ")）", "（": ")）", "[": "]", "{": "}"}


class InvalidTokenError(Exception):
    """What is wrong with ``token``."""

    def __init__(self, token: Token, problem: str) -> None:
        super().__init__(problem)
        self.token = token


def for_lexer(text: str) -> str:
    """The text, as long, without LaTeX's signs around a formula, and with ``_`` for combining marks in names."""
    stripped = text.strip()
    for opens, closes in _MATH:
        if stripped.startswith(opens) and stripped.endswith(closes) and len(stripped) > len(opens + closes):
            inside = stripped[len(opens) : -len(closes)]
            text = f"{' ' * (text.index(opens) + len(opens))}{inside}".ljust(len(text))
            break
    return unmarked(text)


class Tokens(PostLex):
    """Lets the tokens of the lexer through, after counting them and the depth of their parentheses."""

    always_accept = ("GLUED", "CALL")  # kept by the lexer although no rule of a grammar has them

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        yield from _bounded(stream)


def _bounded(stream: Iterator[Token]) -> list[Token]:
    """The tokens, counted, and so is the depth of their parentheses, each of which closes one of its kind.

    Raises:
        InvalidTokenError: there are too many, or ``]`` closes ``(``.
    """
    tokens: list[Token] = []
    opened: list[str] = []
    for token in stream:
        if len(tokens) == MAX_TOKENS:
            raise InvalidTokenError(token, f"more than {MAX_TOKENS} tokens")
        if token.type == "_LPAR":
            opened.append(token.value[-1])
            if len(opened) > MAX_DEPTH:
                raise InvalidTokenError(token, f"parentheses nested deeper than {MAX_DEPTH}")
            if token.value[-1] in "[{" and tokens and tokens[-1].type in ("NAME", "CALL"):
                raise InvalidTokenError(token, f"{str(token)!r} groups formulas; arguments stand in '(' and ')'")
        elif token.type == "_RPAR" and opened:
            kind = opened.pop()
            if token.value[-1] not in _CLOSING[kind]:
                raise InvalidTokenError(token, f"{str(token)!r} where {_CLOSING[kind][0]!r} has to close {kind!r}")
        tokens.append(token)
    return tokens


def usual(tokens: Sequence[Token], convention: Convention) -> list[Token]:
    """The tokens of an infix formula as the grammar has them.

    Raises:
        AmbiguousError: a token has two plausible readings.
        InvalidTokenError: a call has too few or too many arguments.
    """
    named = [_named(tokens, index) for index in range(len(tokens))]
    result: list[Token] = []
    calls: list[tuple[Token, int] | None] = []  # for each open parenthesis the call that it belongs to, and the commas
    index = 0
    while index < len(named):
        token = named[index]
        following = named[index + 1].type if index + 1 < len(named) else ""
        index += 1
        begins = not result or result[-1].type in _OPENS_OPERAND
        if begins and token.type in _BINARY and following == "_LPAR":
            calls.append((token, 0))
            result += [_as("_LPAR", "(", token), named[index]]
            index += 1
            continue
        if begins and token.type == "CALL" and token.value.lower() in QUANTIFIER_WORDS:
            names, end = _bound_by_call(named, index + 1)
            if names:
                calls.append((token, -1))
                binder = f"{'∀' if token.value.lower() in ('forall', 'all') else '∃'}{' '.join(names)}"
                result += [_as("_LPAR", "(", token), _as("BINDER", binder, token), named[index]]
                index = end
                continue
        if token.type == "_LPAR":
            if begins and (binders := _in_parentheses(named, index, convention)):
                result += binders
                index += len(binders) + 1
                continue
            calls.append(None)
        elif token.type == "_RPAR" and calls:
            call = calls.pop()
            if call is not None:
                _require_operands(*call)
                result.append(token)
        elif token.type == "_COMMA" and calls and (call := calls[-1]) is not None and call[0].type in _BINARY:
            calls[-1] = (call[0], call[1] + 1)
            result += [_as("_RPAR", ")", token), _as(call[0].type, call[0].value, token), _as("_LPAR", "(", token)]
            continue
        elif token.type == "BINDER" and token.value[-1] in ",，" and " " in token.value.strip() and calls and calls[-1]:
            _require_one_variable(token)
        elif token.value == "<=" and "<=" not in convention.own:
            problem = "'<=' may be '←' (notation \"tptp\") or compare numbers; write '←', or a predicate of two names"
            raise AmbiguousError(token.start_pos or 0, problem)
        elif token.value in ("-", "−") and following == "NAME" and (number := _negative(result, token, named[index])):
            token = number
            index += 1
        result.append(token)
    return result


def _as(kind: str, value: str, token: Token) -> Token:
    return Token.new_borrow_pos(kind, value, token)


def _require_operands(call: Token, commas: int) -> None:
    if commas == 0:
        raise InvalidTokenError(call, f"'{call}(' takes two formulas, with a comma between them")
    if commas > 1 and call.type in _TWO:
        problem = f"'{call}(' of {commas + 1} formulas may {_TWO[call.type]}; write the connective between them"
        raise AmbiguousError(call.start_pos or 0, problem)


def _require_one_variable(binder: Token) -> None:
    """Refuse ``∀x p,`` in a call, where a comma also ends a formula."""
    if len(names := read_binder(binder).written) > 1:
        problem = f"{str(binder)!r} may bind {names[-1]!r}, or {names[-1]!r} is a formula; write '∀x ∀y …' or '∀x (p)'"
        raise AmbiguousError(binder.start_pos or 0, problem)


def _bound_by_call(tokens: Sequence[Token], start: int) -> tuple[list[str], int]:
    """The names between commas, perhaps in brackets, that begin the arguments of a quantifier, and where they end."""
    names: list[str] = []
    index = start
    bracket = index < len(tokens) and tokens[index].type == "_LPAR" and tokens[index].value == "["
    index += bracket
    end = start
    while index + 1 < len(tokens) and tokens[index].type == "NAME":
        names.append(str(tokens[index]))
        index += 1
        if bracket and tokens[index].type == "_RPAR":
            closed = index + 1 < len(tokens) and tokens[index + 1].type == "_COMMA"
            return (names, index + 2) if closed else ([], start)
        if tokens[index].type != "_COMMA":
            names.pop()  # it begins the formula
            break
        index += 1
        end = index
    return ([] if bracket else names), end


def _in_parentheses(tokens: Sequence[Token], index: int, convention: Convention) -> list[Token]:
    """The quantifiers that parentheses enclose: ``(∀x)``, ``(∀x ∃y)`` and, in some notations, ``(x)``; none if none."""
    end = index
    while end < len(tokens) and tokens[end].type == "BINDER":
        end += 1
    if end == index and _UNIVERSAL.fullmatch(tokens[end] if end < len(tokens) else ""):
        behind = [token.type for token in tokens[end + 1 : end + 3]]
        if behind[:1] == ["_RPAR"] and behind[1:] and behind[1] in ("_LPAR", "NAME", "CALL", "_NOT", "BINDER"):
            name = tokens[index]
            if "(x)" in convention.own:
                return [_as("BINDER", f"∀{name}", name)]
            raise AmbiguousError(
                name.start_pos or 0,
                f"'({name})' may be '∀{name}', as some textbooks write it (notation \"textbook\"), or a formula before "
                "a missing connective",
            )
    return list(tokens[index:end]) if end < len(tokens) and tokens[end].type == "_RPAR" else []


_UNIVERSAL = re.compile(r"[u-z](?:_?\d+)?['’′]*")


def _negative(before: Sequence[Token], sign: Token, number: Token) -> Token | None:
    """The name of a negative number; None if the sign is a negation.

    Raises:
        AmbiguousError: it may be either.
    """
    if sign.end_pos != number.start_pos or not _NUMBER.fullmatch(number):
        return None
    last = before[-1].type if before else ""
    listed = last == "_LPAR" and len(before) > 1 and before[-2].type in ("NAME", "CALL")
    if last in ("_COMMA", *EQUALITY) or listed:
        return Token("NAME", f'"-{number}"', sign.start_pos, sign.line, sign.column, end_pos=number.end_pos)
    if not before or last in _OPENS_OPERAND:
        raise AmbiguousError(
            sign.start_pos or 0,
            f"'-{number}' may be a number, written '\"-{number}\"', or a negation, written '¬{number}'",
        )
    return None


# -- names ------------------------------------------------------------------------------------------------------------

_PLAIN = re.compile(r"\w(?:\w|['’]|[-.](?=\w))*")
_WORDS = {"not": "_NOT", "and": "_AND", "or": "_OR", "xor": "_XOR", "implies": "_IMPLIES", "iff": "_IFF"}
_WORDS |= {"true": "TOP", "false": "BOTTOM"}


def _named(tokens: Sequence[Token], index: int) -> Token:
    """The token, a name in double quotes or plain, or the connective that ``\\text{and}`` is.

    Raises:
        AmbiguousError: a name in single quotes, or of several words, stands beside another one, as in prose.
    """
    token = tokens[index]
    if token.type not in ("NAME", "CALL") or token.value[0] not in "'\\":
        return token
    if token.value[0] == "'":
        name = re.sub(r"\\(.)", r"\1", token.value[1:-1])
    else:
        name = " ".join(token.value[token.value.index("{") + 1 : -1].replace("\\_", "_").split())
        if _PLAIN.fullmatch(name):
            return token.update(type=_WORDS.get(name.lower(), token.type), value=name)
    before = tokens[index - 1].type if index else ""
    behind = tokens[index + 1].type if index + 1 < len(tokens) else ""
    if before in ("NAME", "_RPAR") or (token.type == "NAME" and behind in ("NAME", "CALL", "_LPAR")):
        raise AmbiguousError(
            token.start_pos or 0,
            f"{str(token)!r} may be a remark, which is not part of a formula, or a name, written {json.dumps(name)!r}",
        )
    return token.update(value=json.dumps(name, ensure_ascii=False))
