"""Text to formulas: :func:`parse_formula`.

The usual notation, in which models write nearly all conclusions, is read in one pass. Every other notation, and every
error, goes through the Lark grammars of ``text.grammar``, which are loaded when a text needs them. Input is bounded
(length, tokens, nesting), so no text can exhaust time or the stack.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, overload

from proof_r1_formal.errors import ParseError, require_type
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    And,
    App,
    Atom,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Var,
    Xor,
)
from proof_r1_formal.text.conventions import NOTATIONS, NotationName
from proof_r1_formal.text.names import INFIX_WORDS, JOINED_LETTERS, SIMPLE_VARIABLE
from proof_r1_formal.text.readings import LOOK_ALIKES, PROSE_ANYWHERE, PROSE_FIRST, PROSE_INSIDE, RESERVED_WORDS
from proof_r1_formal.text.repair import Repaired, repaired

PLAIN_LENGTH: Final = 1_000
PLAIN_DEPTH: Final = 50
"""Longer and deeper texts are left to the grammar."""

_NAME: Final = r"[^\W_]\w*"
_TOKEN: Final = re.compile(
    rf"{_NAME}(?:\({_NAME}(?:, {_NAME}|,(?!\d){_NAME})*\)|(?: {_NAME})*)"
    rf"|[∀∃]\w+(?= ?\(| [∀∃¬]| \w+\()|[^ ]",
    re.ASCII,
)
"""An atom, a quantifier with its variable, or a sign; any other sign is unusual."""
_UNUSUAL: Final = (
    frozenset(map(str.lower, LOOK_ALIKES)) | INFIX_WORDS | RESERVED_WORDS | PROSE_FIRST | PROSE_ANYWHERE | PROSE_INSIDE
)
_CONNECTIVES: Final[Mapping[str, tuple[int, type[And | Or | Xor | Implies | Iff]]]] = {
    "↔": (1, Iff),
    "→": (2, Implies),
    "∨": (3, Or),
    "⊕": (4, Xor),
    "∧": (5, And),
}
_BEHIND: Final = frozenset((*_CONNECTIVES, ")", ""))
"""The tokens that may follow an atom; the empty token is the end of the text."""
_RIGHT: Final = 2
"""The binding strength of →, which groups to the right."""


class _UnusualError(Exception):
    """The text has something that is left to the grammar."""


def read_plain(text: str) -> Formula | None:
    """The formula that the grammar reads, if the text is in the usual notation throughout; else None.

    Usual are Unicode connectives, ``∀x (…)``, ``∀x ¬…``, ``∃x ∀y …`` and, at the end, ``∃x P(x)`` with a letter for a
    variable that occurs there, ``P(a, b)``, ``P a b`` and ``P``, with names in ASCII. A text with anything unusual is
    left to the grammar, its rules of ambiguity and its errors. A test holds the two parsers equal.
    """
    if len(text) > PLAIN_LENGTH:
        return None
    try:
        return _Reader(_TOKEN.findall(text)).formula()
    except _UnusualError:
        return None


class _Reader:
    """Reads tokens by precedence climbing."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._next = 0
        self._bound: list[str] = []
        self._free: list[str] = []

    def formula(self) -> Formula:
        """The formula of all tokens. Behind a list marker, as in ``a) P(b)``, tokens are left over."""
        found = self._connectives(1, {}, 0)
        free = [name.lower() for name in self._free]
        if self._tokens[self._next] or not _UNUSUAL.isdisjoint(free):
            raise _UnusualError
        if self._bound:
            bound = {name.lower() for name in self._bound}
            if not (bound.isdisjoint(free) and bound.isdisjoint(_UNUSUAL)):
                raise _UnusualError
        return found

    def _connectives(self, weakest: int, scope: Mapping[str, Var], depth: int) -> Formula:
        """A formula whose outermost connectives bind at least as tight as ``weakest``."""
        left = self._unary(scope, depth + 1)
        while True:
            strength, connective = _CONNECTIVES.get(self._tokens[self._next], (0, None))
            if connective is None or strength < weakest:
                return left
            if strength == weakest == _RIGHT:  # mostly A → B → C, which some notations group to the left
                raise _UnusualError
            self._next += 1
            right = self._connectives(strength if strength == _RIGHT else strength + 1, scope, depth + 1)
            left = connective(left, right)

    def _unary(self, scope: Mapping[str, Var], depth: int) -> Formula:
        token = self._tokens[self._next]
        if not token or depth > PLAIN_DEPTH:
            raise _UnusualError
        self._next += 1
        if token == "¬":
            return Not(self._unary(scope, depth + 1))
        if token != "(":
            return self._quantify(token, scope, depth) if token[0] in "∀∃" else self._atom(token, scope)
        inside = self._connectives(1, scope, depth)
        if self._tokens[self._next] != ")":
            raise _UnusualError
        self._next += 1
        return inside

    def _quantify(self, token: str, scope: Mapping[str, Var], depth: int) -> Formula:
        name = token[1:]
        if name in scope or not SIMPLE_VARIABLE.fullmatch(name):
            raise _UnusualError
        variable = Var(name, ENTITY)
        self._bound.append(name)
        body = self._unary({**scope, name: variable}, depth + 1)
        if variable not in body.free:
            raise _UnusualError
        if self._tokens[self._next] in _CONNECTIVES and self._tokens[self._next - 1] != ")":
            raise _UnusualError  # some notations let the scope reach further
        return ForAll(variable, body) if token[0] == "∀" else Exists(variable, body)

    def _atom(self, token: str, scope: Mapping[str, Var]) -> Formula:
        if self._tokens[self._next] not in _BEHIND or not token[0].isalnum():
            raise _UnusualError
        names = (token[:-1].replace("(", " ").replace(",", " ") if token[-1] == ")" else token).split()
        head = names[0]
        if head in scope or (head[0] in "EA" and head[1:] in names):  # Ex(…, x, …) may be a quantifier
            raise _UnusualError
        self._free.append(head)
        if len(names) == 1 and (any(name.lower() in head.lower() for name in scope) or JOINED_LETTERS.fullmatch(head)):
            raise _UnusualError
        arguments: list[Term] = []
        for name in names[1:]:
            variable = scope.get(name)
            if variable is None:
                self._free.append(name)
            arguments.append(App(name, ()) if variable is None else variable)
        return Atom(head, tuple(arguments))


MAX_LENGTH = 20_000
"""The longest text that is read, in characters."""

_CACHED_LENGTH = 200  # longer texts are rare, and not memoised: a formula takes some 70 bytes per character
_CACHED_TEXTS = 1 << 13


@overload
def parse_formula(text: str, *, repair: Literal[False] = False, notation: NotationName = "auto") -> Formula: ...
@overload
def parse_formula(text: str, *, repair: Literal[True], notation: NotationName = "auto") -> Repaired: ...
def parse_formula(text: str, *, repair: bool = False, notation: NotationName = "auto") -> Formula | Repaired:
    """Read one formula.

    Args:
        text: a formula in infix or prefix notation.
        repair: also accept unbalanced parentheses, variables without use, and punctuation or a remark after the
            formula, and return what was repaired. For noisy datasets; never for scoring a model.
        notation: whose conventions say what a text means that notations read differently; ``auto`` refuses it.

    Raises:
        ParseError: the text is not a formula, or has two plausible readings or repairs.

    >>> parse_formula("∀x (cat(x) → animal(x))") is parse_formula("(forall y (-> (cat y) (animal y)))")
    False
    >>> parse_formula("cat tom & ~dog(tom)") is parse_formula("cat(tom) ∧ ¬dog(tom)")
    True
    >>> parse_formula("(cat(tom)", repair=True).repairs
    ("added 1 missing ')'",)
    >>> print(parse_formula("all x.P(x) -> Q(a)", notation="nltk"))
    (∀x P(x)) → Q(a)
    """
    require_type(text, str, "text", "show() makes text from a formula")
    if repair and len(text) <= MAX_LENGTH:
        return repaired(text, lambda each, convention: parse_formula(each, notation=convention), notation)
    return _parse_cached(text) if notation == "auto" and len(text) <= _CACHED_LENGTH else _parse(text, notation)


def _parse(text: str, notation: NotationName = "auto") -> Formula:
    formula = read_plain(text) if NOTATIONS[notation].variables is None else None
    if formula is not None:
        return formula
    if len(text) > MAX_LENGTH:
        raise ParseError(text, MAX_LENGTH, f"a formula of {len(text)} characters; at most {MAX_LENGTH} are read")
    from proof_r1_formal.text.grammar import parse_by_grammar

    return parse_by_grammar(text, NOTATIONS[notation])


_parse_cached = lru_cache(maxsize=_CACHED_TEXTS)(_parse)
