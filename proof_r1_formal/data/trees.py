"""Texts to trees by the grammars of statements and sentences, with errors that show the place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from proof_r1_formal.errors import ParseError
from proof_r1_formal.resources import resource


@cache
def _parser(grammar: str, lexer: Literal["basic", "contextual"]) -> Lark:
    text = (resource("grammars") / f"{grammar}.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer=lexer, maybe_placeholders=False)


def tree_of(
    grammar: Literal["english", "tptp", "prover9"],
    text: str,
    *,
    most: int,
    kind: str = "statement",
    words: Mapping[str, str] | None = None,
) -> Tree[Token]:
    """The tree of a text.

    Args:
        grammar: of ``grammars``.
        text: of a statement or sentence.
        most: the most characters that are read.
        kind: what the text is, for errors.
        words: for the tokens of the grammar, what errors say was expected.

    Raises:
        ParseError: the grammar does not accept the text, or it is too long.
    """
    if len(text) > most:
        raise ParseError(text, most, f"a {kind} of {len(text)} characters; the maximum is {most}")
    try:
        return _parser(grammar, "contextual" if words is None else "basic").parse(text)
    except UnexpectedCharacters as error:
        offset = error.pos_in_stream or 0
        found = re.match(r"[\w-]+|.", text[offset : offset + 40], re.DOTALL)
        shown = found[0] if found is not None else ""
        shown = repr(shown) if shown.isprintable() else f"U+{ord(shown[0]):04X}"
        raise ParseError(text, offset, f"unexpected {shown}") from None
    except UnexpectedToken as error:
        token: Token = error.token
        expected = tuple(sorted({words[name] for name in error.accepts or error.expected})) if words else ()
        if token.type == "$END":
            raise ParseError(text, len(text), f"the {kind} ends too early", expected=expected) from None
        raise ParseError(text, token.start_pos or 0, f"unexpected {str(token)[:40]!r}", expected=expected) from None
