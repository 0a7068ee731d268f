"""Text to formulas: :func:`parse_formula`.

The usual notation is read in one pass by ``text.plain``. Every other notation, and every error, goes through the
Lark grammars of ``text.grammar``, which are loaded when a text needs them. Input is bounded (length, tokens, nesting),
so no text can exhaust time or the stack.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, overload

from proof_r1_formal.errors import ParseError, require_type
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.text.conventions import NOTATIONS, NotationName
from proof_r1_formal.text.plain import read_plain
from proof_r1_formal.text.repair import Repaired, repaired

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
