"""Text to formulas, through ``grammars/infix.lark`` and ``grammars/prefix.lark``: the specification of the notations.

In: text in any notation of the design (Unicode, ASCII, LaTeX, juxtaposition, S-expressions). Out: a closed formula, or
a :class:`~proof_r1_formal.errors.ParseError` that says where, what was expected, and shows a caret.

Four stages: the lexer splits the text into tokens; ``logic.readings`` refuses those with two plausible readings;
``logic.scopes`` makes the reach of every quantifier explicit with parentheses; the LALR parser builds a tree, which
:class:`_Resolver` turns into a formula, deciding which names are variables. The number of tokens and their nesting are
bounded.
"""

from __future__ import annotations

import re
from functools import cache, reduce
from itertools import pairwise
from typing import Any, Literal

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

from proof_r1_formal.errors import ParseError
from proof_r1_formal.logic.readings import (
    AmbiguousError,
    is_universal,
    require_no_list_marker,
    unquoted,
)
from proof_r1_formal.logic.repair import QUOTED, ScopeError, TwoReadingsError
from proof_r1_formal.logic.scopes import (
    INSERTED,
    MAX_DEPTH,
    InfixTokens,
    PrefixTokens,
    TooMuchError,
    read_binder,
)
from proof_r1_formal.logic.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    App,
    Atom,
    Connective,
    Eq,
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
from proof_r1_formal.resources import resource


def parse_by_grammar(text: str) -> Formula:
    """Read one formula in any notation, and say what is wrong where there is none.

    Raises:
        ParseError: the text is not a formula, or has two plausible readings.
    """
    if not text.strip():
        raise ParseError(text, 0, "an empty formula")
    unnamed = QUOTED.sub('""', text)  # a name may hold anything
    prefix = unnamed.lstrip().startswith("(") and _LOOKS_PREFIX.search(unnamed) is not None
    try:
        require_no_list_marker(text)
        tree = _parser("prefix" if prefix else "infix").parse(text)
    except UnexpectedCharacters as error:
        offset = error.pos_in_stream or 0
        raise ParseError(text, offset, _unexpected_character(text, offset)) from None
    except UnexpectedToken as error:
        raise _unexpected_token(text, error) from None
    except AmbiguousError as error:
        raise TwoReadingsError(text, error.offset, error.problem) from None
    except TooMuchError as error:
        raise ParseError(text, error.token.start_pos or 0, str(error)) from None
    except UnexpectedEOF:
        raise ParseError(text, len(text), "the formula ends too early") from None
    return _Resolver(text).formula(tree)


# An opening parenthesis directly before a binary operator, or a quantifier with its variables in parentheses.
_LOOKS_PREFIX = re.compile(
    r"""(?<![\w"'’])\(\s*(?:(?ai:and|or|xor|implies|iff)(?!\w)|(?ai:distinct)\s+[\w(]|[∧∨⊕→↔=≠]|->|<->
    |(?ai:forall|exists|all|some|∀|∃)\s*\()""",
    re.VERBOSE,
)


@cache
def _parser(notation: Literal["infix", "prefix"]) -> Lark:
    grammar = (resource("grammars") / f"{notation}.lark").read_text(encoding="utf-8")
    postlex = InfixTokens() if notation == "infix" else PrefixTokens()
    return Lark(grammar, parser="lalr", lexer="basic", postlex=postlex, maybe_placeholders=False)


# -- trees to formulas ------------------------------------------------------------------------------------------------

_BINARY: dict[str, type[Connective]] = {
    **dict.fromkeys(("and", "and_", "∧"), And),
    **dict.fromkeys(("or", "or_", "∨"), Or),
    **dict.fromkeys(("xor", "⊕"), Xor),
    **dict.fromkeys(("implies", "->", "=>", "→"), Implies),
    **dict.fromkeys(("iff", "<->", "<=>", "↔"), Iff),
}
"""By the rule of the infix grammar, and as an S-expression writes it in lower case -> the connective."""


class _Resolver:
    """Builds the formula of a parse tree, deciding which names are variables."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._bound: set[str] = set()
        self._constants: dict[str, Token] = {}  # first use of each name as a constant

    def formula(self, tree: Tree[Token]) -> Formula:
        formula = self._formula(tree, {}, 0)
        for name in self._constants:
            if name in self._bound:
                raise ScopeError(
                    self._text,
                    self._constants[name].start_pos or 0,
                    f"{name!r} stands outside the scope of its quantifier",
                    name,
                )
        return formula

    def _formula(self, tree: Tree[Token], scope: dict[str, Var], depth: int) -> Formula:
        if depth > MAX_DEPTH:
            raise ParseError(self._text, _start(tree), f"a formula nested deeper than {MAX_DEPTH} levels")
        parts: list[Any] = tree.children
        rule = str(tree.data)
        if rule in ("application", "enclosed"):
            name = unquoted(parts[0].value)
            if name in scope:
                raise ParseError(self._text, parts[0].start_pos, f"variable {name!r} is used as a predicate")
            return Atom(name, self._arguments(parts, scope, depth))
        if rule in _BINARY:
            return _BINARY[rule](self._formula(parts[0], scope, depth + 1), self._formula(parts[1], scope, depth + 1))
        if rule == "chain":
            connective = _BINARY[parts[0].value.lower()]
            self._require_separate(parts)
            if len(parts) > 3:
                return self._chain(connective, parts, scope, depth)
            # one frame per level, so that the deepest formula fits the stack
            return connective(self._formula(parts[1], scope, depth + 1), self._formula(parts[2], scope, depth + 1))
        match rule:
            case "not_":
                return Not(self._formula(parts[-1], scope, depth + 1))
            case "quantified":
                return self._quantified(parts, scope, depth)
            case "equal" | "unequal":
                *_, left, right = parts
                equality = Eq(self._term(left, scope, depth + 1), self._term(right, scope, depth + 1))
                negated = rule == "unequal" or (len(parts) == 3 and parts[0] != "=")
                return Not(equality) if negated else equality
            case "top":
                return TOP
            case "bottom":
                return BOTTOM
        raise AssertionError(f"grammar rule {rule} has no meaning")

    def _quantified(self, parts: list[Any], scope: dict[str, Var], depth: int) -> Formula:
        if len(parts) == 2:
            binder = read_binder(parts[0].value)
            quantifier, variables = binder.quantifier, binder.variables
        else:
            quantifier = ForAll if is_universal(parts[0].value) else Exists
            variables = _prefix_variables(parts[1])
        self._bound.update(v.name for v in variables)
        inner = {**scope, **{v.name: v for v in variables}}
        body = self._formula(parts[-1], inner, depth + len(variables))
        for variable in reversed(variables):
            body = quantifier(variable, body)
        return body

    def _chain(self, connective: type[Connective], parts: list[Any], scope: dict[str, Var], depth: int) -> Formula:
        """An S-expression of three or more operands: → nests to the right, everything else to the left."""
        deepest = depth + len(parts) - 2
        if deepest > MAX_DEPTH:
            raise ParseError(self._text, parts[0].start_pos, f"a formula nested deeper than {MAX_DEPTH} levels")
        operands = [self._formula(part, scope, deepest) for part in parts[1:]]
        if connective is Implies:
            return reduce(lambda right, left: Implies(left, right), reversed(operands))
        return reduce(connective, operands)

    def _require_separate(self, parts: list[Any]) -> None:
        """Refuse ``(and P (a))``, which may be meant as a conjunction of one application."""
        for part, following in pairwise(parts[1:]):
            if part.data == "application" and len(part.children) == 1 and following.data == "enclosed":
                name, inside = part.children[0], following.children[0]
                raise TwoReadingsError(
                    self._text,
                    name.start_pos,
                    f"'{name} ({inside})' may be the propositions {str(name)!r} and {str(inside)!r}, written without "
                    f"parentheses, or the predicate {str(name)!r} of {str(inside)!r}, written '({name} {inside})'",
                )

    def _arguments(self, parts: list[Any], scope: dict[str, Var], depth: int) -> tuple[Term, ...]:
        head = parts[0]
        if len(parts) == 2 and parts[1].data == "group":
            return tuple([self._term(part, scope, depth + 1) for part in parts[1].children])
        if head.type == "CALL" and len(parts) > 1:
            raise ParseError(self._text, _start(parts[2]), "a connective is missing behind the arguments")
        arguments: list[Term] = []
        for part in parts[1:]:
            if part.data == "group":
                if len(part.children) != 1:
                    offset = _start(part) if part.children else self._empty_parentheses(head.end_pos)
                    raise ParseError(self._text, offset, "one argument in parentheses was expected")
                part = part.children[0]
            arguments.append(self._term(part, scope, depth + 1))
        return tuple(arguments)

    def _empty_parentheses(self, start: int) -> int:
        found = re.compile(r"\(\s*\)").search(self._text, start)
        return start if found is None else found.start()

    def _term(self, tree: Tree[Token], scope: dict[str, Var], depth: int) -> Term:
        if depth > MAX_DEPTH:
            raise ParseError(self._text, _start(tree), f"a term nested deeper than {MAX_DEPTH} levels")
        parts: list[Any] = tree.children
        head = parts[0]
        if tree.data == "truth_word" and not head.value.isalpha():
            raise ParseError(self._text, head.start_pos, f"{head.value!r} is not a term")
        name = unquoted(head.value)
        if len(parts) == 1:
            if name in scope:
                return scope[name]
            self._constants.setdefault(name, head)
            return App(name, ())
        if name in scope:
            raise ParseError(self._text, head.start_pos, f"variable {name!r} is used as a function")
        if tree.data == "term":  # prefix notation
            return App(name, tuple([self._term(part, scope, depth + 1) for part in parts[1:]]))
        return App(name, self._arguments(parts, scope, depth))


def _prefix_variables(binders: Tree[Token]) -> tuple[Var, ...]:
    variables = []
    for binding in binders.children:
        name, *sort = [str(token) for token in (binding.children if isinstance(binding, Tree) else [binding])]
        variables.append(Var(unquoted(name), unquoted(sort[0]) if sort else ENTITY))
    return tuple(variables)


def _start(tree: Tree[Token]) -> int:
    """The offset of the first token of a tree."""
    node: Any = tree
    while isinstance(node, Tree) and node.children:
        node = node.children[0]
    return node.start_pos or 0 if isinstance(node, Token) else 0


# -- errors -----------------------------------------------------------------------------------------------------------


_DESCRIPTIONS = {
    "_LPAR": "'('",
    "_RPAR": "')'",
    "_COMMA": "','",
    "_NOT": "'¬'",
    "NOT": "'¬'",
    "NAME": "a name",
    "CALL": "a name",
    "BINDER": "a quantifier",
    "QUANTIFIER": "a quantifier",
    "TOP": "'⊤'",
    "BOTTOM": "'⊥'",
    "CHAIN": "a connective",
    "EQUALITY": "'='",
    "$END": "the end",
    **dict.fromkeys(("_IFF", "_IMPLIES", "_OR", "_XOR", "_AND"), "a connective"),
    **dict.fromkeys(("_EQ", "_NEQ"), "'='"),
}


def _unexpected_character(text: str, offset: int) -> str:
    char = text[offset : offset + 1]
    if char == '"':
        return "a name in quotes that is empty, does not end, or holds a control character or half of a surrogate pair"
    if quantifier := re.compile(r"[∀∃]|\\forall|\\exists").match(text, offset):
        return f"{quantifier[0]!r} is not followed by the name of a variable"
    shown = repr(char) if char.isprintable() else f"U+{ord(char):04X}"
    return f"unexpected character {shown}"


def _unexpected_token(text: str, error: UnexpectedToken) -> ParseError:
    token: Token = error.token
    ends = token.type == "$END" or token.value == INSERTED
    offset = len(text) if ends else token.start_pos or 0
    names = set(error.accepts or error.expected)
    if "_NOT" not in names:  # a term is expected: that `true` is a name there needs no mention
        names -= {"TOP", "BOTTOM"}
    expected = tuple(sorted({_DESCRIPTIONS.get(name, name) for name in names}))
    found = "the formula ends too early" if ends else f"unexpected {str(token.value)[:40]!r}"
    return ParseError(text, offset, found, expected=expected)
