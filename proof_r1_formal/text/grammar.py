"""Text to formulas, through ``grammars/infix.lark`` and ``grammars/prefix.lark``: the specification of the notations.

In: text in any notation of the design (Unicode, ASCII, LaTeX, juxtaposition, S-expressions). Out: a closed formula, or
a :class:`~proof_r1_formal.errors.ParseError` that says where, what was expected, and shows a caret.

Six stages: the lexer splits the text into tokens; ``text.spellings`` brings calls and other spellings to infix;
``text.readings`` refuses tokens with two plausible readings; ``text.scopes`` makes the reach of every quantifier
explicit with parentheses; the LALR parser builds a tree, which
``text.resolver`` turns into a formula. The last three are done for each convention (``text.conventions``), and the
text is refused if they lead to different meanings. The number of tokens and their nesting are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal
from unicodedata import category
from unicodedata import name as char_name

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.resources import resource
from proof_r1_formal.text.conventions import NOTATIONS, Convention
from proof_r1_formal.text.equivalence import surely_equivalent
from proof_r1_formal.text.readings import (
    AmbiguousError,
    require_clear_characters,
    require_no_list_marker,
    require_one_reading,
    require_prefix_notation,
)
from proof_r1_formal.text.repair import QUOTED, TwoReadingsError, both
from proof_r1_formal.text.resolver import Resolver
from proof_r1_formal.text.scopes import INSERTED, bracket, scopes, such_that
from proof_r1_formal.text.spellings import InvalidTokenError, Tokens, for_lexer, usual


def parse_by_grammar(text: str, convention: Convention = NOTATIONS["auto"]) -> Formula:
    """Read one formula in any notation, and say what is wrong where there is none.

    Raises:
        ParseError: the text is not a formula, or has two plausible readings.
    """
    if not text.strip():
        raise ParseError(text, 0, "an empty formula")
    unnamed = QUOTED.sub(lambda name: f'"{"_" * (len(name[0]) - 2)}"', text)  # a name may hold anything
    try:
        require_clear_characters(unnamed)
        require_no_list_marker(text)
        if unnamed.lstrip().startswith("(") and "," not in unnamed and _LOOKS_PREFIX.search(unnamed) is not None:
            tokens = _tokens(text, "prefix")
            require_prefix_notation(tokens)
            return Resolver(text, "right", convention).formula(_tree(text, "prefix", tokens))
        return _only(text, _infix_readings(text, convention))
    except AmbiguousError as error:
        raise TwoReadingsError(text, error.offset, error.problem) from None
    except InvalidTokenError as error:
        raise ParseError(text, error.token.start_pos or 0, str(error)) from None


def _infix_readings(text: str, convention: Convention) -> Mapping[Formula, int]:
    """The readings of a formula, each with the place that makes it another one than the first; at least one."""
    found: dict[Formula, int] = {}
    tokens = usual(_tokens(text, "infix"), convention)
    problem: ParseError | AmbiguousError | None = None
    for variant in (tokens, such_that(tokens)):
        if variant is not None:
            try:
                for formula, place in _readings(text, variant, convention).items():
                    found.setdefault(formula, place)
            except (ParseError, AmbiguousError) as error:
                problem = problem or error
    if not found:
        assert problem is not None
        raise problem
    return found


def _readings(text: str, tokens: list[Token], convention: Convention) -> dict[Formula, int]:
    found: dict[Formula, int] = {}
    seen: list[dict[int, int]] = []  # where each scope ends
    for reach in convention.reaches:
        within = scopes(tokens, reach)
        ends = {index: scope.end for index, scope in within.items()}
        if ends in seen:
            continue
        if not seen:
            require_one_reading(tokens, within, convention.own)
        seen.append(ends)
        place = min((index for index, end in ends.items() if seen[0][index] != end), default=0)
        try:
            tree = _tree(text, "infix", bracket(tokens, within))
            for grouping in convention.implies:
                resolver = Resolver(text, grouping, convention)
                formula = resolver.formula(tree)
                found.setdefault(formula, resolver.chain or tokens[place].start_pos or 0)
                if resolver.chain is None:
                    break
        except ParseError:
            if not found:
                raise
    return found


def _only(text: str, readings: Mapping[Formula, int]) -> Formula:
    """The formula, if all readings mean the same."""
    first, *others = readings
    for other in others:
        if not surely_equivalent(first, other):
            problem = f"may be read as {both(first, other)}, because notations differ; write one of them"
            raise TwoReadingsError(text, readings[other], problem)
    return first


# An opening parenthesis directly before a binary operator, or a quantifier with its variables in parentheses.
_LOOKS_PREFIX = re.compile(
    r"""(?<![\w"'’])\(\s*(?:(?ai:and|or|xor|implies|iff)(?!\w)|(?ai:distinct)\s+[\w(]|[∧∨⊕→↔=≠]|->|<->
    |(?ai:forall|exists|all|some|∀|∃)\s*\()""",
    re.VERBOSE,
)


@cache
def _parser(notation: Literal["infix", "prefix"]) -> Lark:
    grammar = (resource("grammars") / f"{notation}.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="basic", postlex=Tokens(), maybe_placeholders=False)


def _tokens(text: str, notation: Literal["infix", "prefix"]) -> list[Token]:
    plain = for_lexer(text)
    parser: Any = _parser(notation).parse_interactive(plain)  # Lark's interactive parser has few types
    try:
        tokens: list[Token] = list(parser.lexer_thread.lex(parser.parser_state))
    except UnexpectedCharacters as error:
        offset = error.pos_in_stream or 0
        raise ParseError(text, offset, _unexpected_character(text, offset)) from None
    return tokens if plain == text else [each.update(value=text[each.start_pos : each.end_pos]) for each in tokens]


def _tree(text: str, notation: Literal["infix", "prefix"], tokens: Iterable[Token]) -> Tree[Token]:
    parser: Any = _parser(notation).parse_interactive()
    last = None
    try:
        for last in tokens:
            parser.feed_token(last)
        tree: Tree[Token] = parser.feed_eof(last)
    except UnexpectedToken as error:
        raise _unexpected_token(text, error, parser.accepts()) from None
    return tree


# -- errors -----------------------------------------------------------------------------------------------------------


_DESCRIPTIONS = {
    "_LPAR": "'('",
    "_RPAR": "')'",
    "_COMMA": "','",
    "TOP": "'⊤'",
    "BOTTOM": "'⊥'",
    "$END": "the end",
    **dict.fromkeys(("_NOT", "NOT"), "'¬'"),
    **dict.fromkeys(("NAME", "CALL"), "a name"),
    **dict.fromkeys(("BINDER", "QUANTIFIER"), "a quantifier"),
    **dict.fromkeys(("_IFF", "_NOT_IFF", "_IMPLIES", "_IMPLIED", "_OR", "_XOR", "_AND", "CHAIN"), "a connective"),
    **dict.fromkeys(("_EQ", "_NEQ", "EQUALITY"), "'='"),
}


def _unexpected_character(text: str, offset: int) -> str:
    char = text[offset : offset + 1]
    if char and char in "\"'":
        return "a name in quotes that is empty, does not end, or holds a control character or half of a surrogate pair"
    if char and (category(char) in ("Pi", "Pf") or char in "„‚＂`´"):
        return f"unexpected {char!r} ({char_name(char).lower()}); a name in quotes is written '\"…\"'"
    if quantifier := re.compile(r"[∀∃]|\\forall|\\exists").match(text, offset):
        return f"{quantifier[0]!r} is not followed by the name of a variable"
    if char and char in "<>≤≥∈∉⊂⊆":
        return f"unexpected character {char!r}: comparison and membership are predicates, as in 'greater(x, 9)'"
    return f"unexpected character {repr(char) if char.isprintable() else f'U+{ord(char):04X}'}"


def _unexpected_token(text: str, error: UnexpectedToken, accepts: set[str]) -> ParseError:
    token: Token = error.token
    ends = token.type == "$END" or token.value == INSERTED
    offset = len(text) if ends else token.start_pos or 0
    names = set(accepts or error.expected)
    if "_NOT" not in names:  # a term is expected: that `true` is a name there needs no mention
        names -= {"TOP", "BOTTOM"}
    expected = tuple(sorted({_DESCRIPTIONS.get(name, name) for name in names}))
    found = "the formula ends too early" if ends else f"unexpected {str(token.value)[:40]!r}"
    if token.type == "_LPAR" and token.value in ("[", "{"):
        found += " (a list or a set is not a term)"
    return ParseError(text, offset, found, expected=expected)
