"""Tokens as other notations spell them, brought to those of ``grammars/infix.lark``.

In: the tokens of the lexer. Out: tokens with the same places, bounded in number and nesting, in which calls
(``And(A, B)``, ``ForAll(x, A)``) are infix, quantifiers stand without parentheses (``(∀x)(…)``), and names in other
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
from proof_r1_formal.text.names import strip_marks
from proof_r1_formal.text.readings import QUANTIFIER_WORDS, ambiguous, is_universal

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
"""The tokens that a formula may follow."""
_MATH = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_CLOSING = {"(": ")）", "（": ")）", "[": "]", "{": "}"}


class InvalidTokenError(Exception):
    """The error at ``token``."""

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
    return text if text.isascii() else strip_marks(text)


class Tokens(PostLex):
    """Lets the tokens of the lexer through, unless there are too many, or parentheses are too deep or do not match."""

    always_accept = ("GLUED", "CALL")  # kept by the lexer although no rule of a grammar has them

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        opened: list[str] = []
        before = ""
        for number, token in enumerate(stream):
            if number == MAX_TOKENS:
                raise InvalidTokenError(token, f"more than {MAX_TOKENS} tokens")
            if token.type == "_LPAR":
                opened.append(token.value[-1])
                if len(opened) > MAX_DEPTH:
                    raise InvalidTokenError(token, f"parentheses nested deeper than {MAX_DEPTH}")
                if token.value[-1] in "[{" and before in ("NAME", "CALL"):
                    raise InvalidTokenError(token, f"{str(token)!r} groups formulas; arguments stand in '(' and ')'")
            elif token.type == "_RPAR" and opened:
                kind = opened.pop()
                if token.value[-1] not in _CLOSING[kind]:
                    raise InvalidTokenError(token, f"{str(token)!r} where {_CLOSING[kind][0]!r} has to close {kind!r}")
            before = token.type
            yield token


def usual(tokens: Sequence[Token], convention: Convention) -> list[Token]:
    """The tokens of an infix formula as the grammar has them.

    Raises:
        AmbiguousError: a token has two plausible readings.
        InvalidTokenError: a call has too few arguments.
    """
    named = [
        _name_token(tokens, index, convention) if token.value[0] in _OTHER_QUOTES else token
        for index, token in enumerate(tokens)
    ]
    return _with_clear_signs(_without_calls(_without_parentheses(named, convention)), convention)


def _begins(before: Sequence[Token]) -> bool:
    """Whether a formula can begin after the tokens."""
    return not before or before[-1].type in _OPENS_OPERAND


def _without_parentheses(tokens: Sequence[Token], convention: Convention) -> list[Token]:
    """``(∀x)`` without parentheses."""
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        enclosed = tokens[index].type == "_LPAR" and _begins(result)
        binders = _in_parentheses(tokens, index + 1, convention) if enclosed else []
        result += binders or [tokens[index]]
        index += len(binders) + 2 if binders else 1
    return result


def _without_calls(tokens: Sequence[Token]) -> list[Token]:
    """``And(A, B)`` as ``((A) ∧ (B))``, and ``ForAll(x, A)`` as ``(∀x (A))``."""
    result: list[Token] = []
    opened: list[tuple[Token, int] | None] = []  # for each open parenthesis the call that it belongs to, and the commas
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        call = opened[-1] if opened else None
        if token.type == "_LPAR":
            opened.append(None)
        elif token.type == "_RPAR" and opened:
            if opened.pop() and call is not None:
                _require_operands(*call)
                result.append(token)
        elif token.type in _BINARY and _begins(result) and tokens[index : index + 1] and tokens[index].type == "_LPAR":
            opened.append((token, 0))
            result.append(_as("_LPAR", "(", token))
            token = tokens[index]
            index += 1
        elif token.type == "CALL" and token.value.lower() in QUANTIFIER_WORDS and _begins(result):
            names, end = _bound_by_call(tokens, index + 1)
            if names:
                opened.append((token, 1))
                binder = f"{'∀' if is_universal(token) else '∃'}{' '.join(names)}"
                result += [_as("_LPAR", "(", token), _as("BINDER", binder, token)]
                token, index = tokens[index], end
        elif call is not None and token.type == "_COMMA" and call[0].type in _BINARY:
            opened[-1] = (call[0], call[1] + 1)
            result += [_as("_RPAR", ")", token), _as(call[0].type, call[0].value, token)]
            token = _as("_LPAR", "(", token)
        elif call is not None and token.type == "BINDER" and token.value[-1] in ",，":
            _require_one_variable(token)
        result.append(token)
    return result


def _require_operands(call: Token, commas: int) -> None:
    if commas == 0:
        raise InvalidTokenError(call, f"'{call}(' takes two formulas, with a comma between them")
    if commas > 1 and call.type in _TWO:
        problem = f"'{call}(' of {commas + 1} formulas may {_TWO[call.type]}; write the connective between them"
        raise ambiguous(call, problem)


def _require_one_variable(binder: Token) -> None:
    """Refuse ``∀x p,`` in a call, where a comma also ends a formula."""
    if len(names := read_binder(binder).written) > 1:
        problem = f"{str(binder)!r} may bind {names[-1]!r}, or {names[-1]!r} is a formula; write '∀x ∀y …' or '∀x (p)'"
        raise ambiguous(binder, problem)


def _bound_by_call(tokens: Sequence[Token], start: int) -> tuple[list[str], int]:
    """The names, perhaps in brackets, that a call of a quantifier binds, and where its formula begins."""
    first = start + (tokens[start].value == "[")
    end = first
    while [token.type for token in tokens[end : end + 2]] == ["NAME", "_COMMA"]:
        end += 2
    names = [str(token) for token in tokens[first:end:2]]
    if first == start:
        return names, end
    closed = [token.type for token in tokens[end : end + 3]] == ["NAME", "_RPAR", "_COMMA"]
    return ([*names, str(tokens[end])], end + 3) if closed else ([], start)


def _in_parentheses(tokens: Sequence[Token], start: int, convention: Convention) -> list[Token]:
    """The quantifiers that parentheses enclose: ``(∀x)``, ``(∀x ∃y)`` and, in some notations, ``(x)``; none if none."""
    end = start
    while end < len(tokens) and tokens[end].type == "BINDER":
        end += 1
    if end > start:
        return list(tokens[start:end]) if end < len(tokens) and tokens[end].type == "_RPAR" else []
    kinds = [token.type for token in tokens[start : start + 3]]
    if kinds[:2] != ["NAME", "_RPAR"] or kinds[2:] not in _FORMULA_STARTS or not _UNIVERSAL.fullmatch(tokens[start]):
        return []
    name = tokens[start]
    if "(x)" in convention.own:
        return [_as("BINDER", f"∀{name}", name)]
    quantifier = f"'∀{name}', as textbooks write it (notation \"textbook\")"
    raise ambiguous(name, f"'({name})' may be {quantifier}, or a formula before a missing connective")


_UNIVERSAL = re.compile(r"[u-z](?:_?\d+)?['’′]*")
_FORMULA_STARTS = (["_LPAR"], ["NAME"], ["CALL"], ["_NOT"], ["BINDER"])


def _as(kind: str, value: str, token: Token) -> Token:
    return Token.new_borrow_pos(kind, value, token)


# -- signs of arithmetic ----------------------------------------------------------------------------------------------

_DOT = re.compile(r"[·•⋅∙]|\\cdot")
_NUMBER = re.compile(r"\d[\d.]*")


def _with_clear_signs(tokens: Sequence[Token], convention: Convention) -> list[Token]:
    """The tokens with ``-1`` as a name in a list of arguments and beside ``=``; refuses what may be about numbers."""
    result: list[Token] = []
    for index, token in enumerate(tokens):
        if token.type == "_IMPLIED" and "<=" not in convention.own:
            following = tokens[index + 1 : index + 2]
            if token.value == "<=" or (token.value == "<-" and following and _NUMBER.fullmatch(following[0])):
                raise ambiguous(token, f"{str(token)!r} may be '←', or compare numbers, as in 'less(a, b)'")
        elif _DOT.fullmatch(token) and "Fx" not in convention.own and _beside_equality(tokens, index):
            raise ambiguous(token, f"{str(token)!r} may be '∧', or multiply numbers, as in 'times(a, b)'")
        if result and result[-1].value in ("-", "−") and (number := _negative(result, token)):
            result[-1] = number
        else:
            result.append(token)
    return result


def _beside_equality(tokens: Sequence[Token], index: int) -> bool:
    """Whether a term and an equality stand before or after a place."""
    for places in (range(index + 1, len(tokens)), range(index - 1, -1, -1)):
        depth = 0
        for place in places:
            kind = tokens[place].type
            depth += (kind == "_LPAR") - (kind == "_RPAR")
            if not depth and kind not in ("NAME", "CALL", "_LPAR", "_RPAR"):
                if kind in EQUALITY:
                    return True
                break
    return False


def _negative(before: Sequence[Token], number: Token) -> Token | None:
    """The name of a negative number, whose sign is the last token before; None if that is a negation."""
    *_, sign = before
    if sign.end_pos != number.start_pos or number.type != "NAME" or not _NUMBER.fullmatch(number):
        return None
    last = before[-2].type if len(before) > 1 else ""
    listed = last == "_LPAR" and len(before) > 2 and before[-3].type in ("NAME", "CALL")
    if last in ("_COMMA", *EQUALITY) or listed:
        return Token("NAME", f'"-{number}"', sign.start_pos, sign.line, sign.column, end_pos=number.end_pos)
    problem = f"'-{number}' may be a number, written '\"-{number}\"', or a negation, written '¬{number}'"
    raise ambiguous(sign, problem)


# -- names ------------------------------------------------------------------------------------------------------------

_PLAIN = re.compile(r"\w(?:\w|['’]|[-.](?=\w))*")
_OTHER_QUOTES = "'\\“‘„”«"
"""What names begin with that are neither plain nor in double quotes."""
_SIGN = re.compile(r"[()∧∨⊕→↔¬∀∃=&|~<>\\]")  # of a formula that somebody put in quotes
_WORDS = {"not": "_NOT", "and": "_AND", "or": "_OR", "xor": "_XOR", "implies": "_IMPLIES", "iff": "_IFF"}
_WORDS |= {"true": "TOP", "false": "BOTTOM"}


def _name_token(tokens: Sequence[Token], index: int, convention: Convention) -> Token:
    """The token, a name in double quotes or plain, or the connective that ``\\text{and}`` is.

    Refuses names in single or typographic quotes, or of several words, that may be a formula or a remark.
    """
    token = tokens[index]
    if token.type not in ("NAME", "CALL"):
        return token
    if token.value[0] == "'":
        name = re.sub(r"\\(.)", r"\1", token.value[1:-1])
    elif token.value[0] != "\\":
        name = token.value[1:-1]
    else:
        name = " ".join(token.value[token.value.index("{") + 1 : -1].replace("\\_", "_").split())
        if _PLAIN.fullmatch(name):
            return token.update(type=_WORDS.get(name.lower(), token.type), value=name)
    before = tokens[index - 1].type if index else ""
    after = tokens[index + 1].type if index + 1 < len(tokens) else ""
    in_row = before in ("NAME", "_RPAR") or (token.type == "NAME" and after in ("NAME", "CALL", "_LPAR"))
    if in_row or ("<=" not in convention.own and _SIGN.search(name)):
        quoted = json.dumps(name, ensure_ascii=False)
        raise ambiguous(token, f"{str(token)!r} may be a name, written '{quoted}', or not a part of the formula")
    return token.update(value=json.dumps(name, ensure_ascii=False))
