"""Formulas as text: ``parse_formula(show(f)) is f`` for every closed formula, in every notation.

``errors`` and ``ascii`` are infix with the fewest parentheses that are safe to read; ``juxtaposed`` is ``errors``
with ``likes Bob x`` for ``likes(Bob, x)`` (the notation of the prompts); ``prefix`` is S-expressions.

The grammars hold that a name is a variable wherever a quantifier of that name is around it, and that no name is bound
in one place of a formula and constant in another. A formula that breaks this has its bound variables renamed in the
text.

With this module loaded, the text is also a formula's ``str``, and what terminals and notebooks show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, assert_never, cast
from unicodedata import is_normalized

from proof_r1_formal.errors import require_type
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    And,
    App,
    Atom,
    Binary,
    Binder,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Node,
    Not,
    Or,
    Quantified,
    Term,
    Top,
    Var,
    Xor,
    register_display,
)
from proof_r1_formal.kernel.transform import functions_within, instantiate, subformulas, subterms, terms
from proof_r1_formal.text.names import (
    CONNECTIVE_WORDS,
    INFIX_WORDS,
    JOINED_LETTERS,
    TURNED_LETTERS,
    is_textbook_atom,
    latin,
    look,
    resembles,
    strip_marks,
)
from proof_r1_formal.text.readings import (
    CONTRACTION,
    LOOK_ALIKES,
    PROSE_ANYWHERE,
    PROSE_FIRST,
    PROSE_INSIDE,
    RESERVED_WORDS,
)

if TYPE_CHECKING:
    from rich.text import Text

OutputNotation: TypeAlias = Literal["unicode", "ascii", "juxtaposed", "prefix"]

WORDS: Final = frozenset({*RESERVED_WORDS, "distinct"}) | CONNECTIVE_WORDS
"""Words that a grammar reserves or that may be connectives, in any case."""
_MISREAD: Final = frozenset(LOOK_ALIKES) | PROSE_ANYWHERE | PROSE_INSIDE

# A reserved word ends where its letters do: ``iff'`` may be a word and a quote, ``iffy`` is a name.
_NO_WORD: Final = rf"(?!(?ai:{'|'.join(sorted(WORDS))})(?!\w))(?!_+\Z|[{TURNED_LETTERS}])"
# A name with a dot might be read as the end of ``∀x y.``.
_PLAIN_NAME: Final = re.compile(rf"{_NO_WORD}\w(?:\w|['’]|-(?=\w))*")
_PLAIN_BINDER: Final = re.compile(rf"{_NO_WORD}\w(?:\w|['’])*")


SYMBOLS: Final[Mapping[type[Formula], str]] = {
    Top: "⊤",
    Bottom: "⊥",
    Eq: "=",
    Not: "¬",
    And: "∧",
    Or: "∨",
    Xor: "⊕",
    Implies: "→",
    Iff: "↔",
    ForAll: "∀",
    Exists: "∃",
}
"""The usual symbol of each kind of formula; an atom has none."""
_ASCII: Final[Mapping[type[Formula], str]] = {
    Top: "true", Bottom: "false", Eq: "=", Not: "~", And: "&", Or: "|", Xor: "xor", Implies: "->", Iff: "<->",
    ForAll: "all ", Exists: "exists ",
}  # fmt: skip
_INFIX: Final = {"unicode": SYMBOLS, "juxtaposed": SYMBOLS, "ascii": _ASCII}
_PREFIX_WORDS: Final[dict[type, str]] = {
    **_ASCII, Not: "not", And: "and", Or: "or", ForAll: "forall", Exists: "exists",
}  # fmt: skip

# Binding strength; a quantified or negated formula and an atom bind tightest.
_STRENGTH: Final[dict[type, int]] = {Iff: 1, Implies: 2, Or: 3, Xor: 4, And: 5}
_TIGHT: Final = 6


def show(formula: Formula, notation: OutputNotation = "unicode") -> str:
    """The text of a formula.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> f = parse_formula("all x. (cat(x) & ~tame(x) -> dangerous(x))")
    >>> print(show(f))
    ∀x (cat(x) ∧ ¬tame(x) → dangerous(x))
    >>> print(show(f, "juxtaposed"))
    ∀x (cat x ∧ ¬tame x → dangerous x)
    >>> print(show(f, "prefix"))
    (forall x (-> (and (cat x) (not (tame x))) (dangerous x)))
    """
    if not isinstance(formula, Node):
        require_type(formula, Node, "formula", "parse_formula() makes one from text")
    known: str | None = formula.memo.get(notation)
    if known is None:
        separated = _separate(formula) if formula.quantifiers else formula
        known = _write(separated, notation, frozenset())
        if "=" in known and (unclear := _terms_or_formulas(formula)):
            known = _write(separated, notation, unclear)
        formula.memo[notation] = known
    return known


def _write(formula: Formula, notation: OutputNotation, quoted: frozenset[str]) -> str:
    """The text of a formula, with quotes around these names where one of them begins a side of an equation."""
    if notation == "prefix":
        return _prefix(formula, quoted)
    return _infix(formula, notation, 0, quoted, last=True)


def _terms_or_formulas(formula: Formula) -> frozenset[str]:
    """The names that a side of an equation may begin with and a predicate has, with as many arguments."""
    uses = symbols(formula).uses
    return frozenset(
        [name for name, (kind, arity) in uses if kind != "predicate" and (name, ("predicate", arity)) in uses]
    )


def _side(term: Term, quoted: frozenset[str]) -> str:
    """The text of a side of an equation, which might be read as a formula."""
    text = show_term(term)
    if isinstance(term, App) and term.function in quoted and text[0] != '"':
        return _quote(term.function) + text.removeprefix(term.function)
    return text


def text_of(node: Node) -> str:
    """The text of a formula or of a term, which is its ``str``."""
    return show_term(node) if isinstance(node, (Var, App)) else show(cast("Formula", node))


def show_term(term: Term) -> str:
    """The text of a term: ``mother(x)``."""
    return _application(term.function, term.arguments) if isinstance(term, App) else _binder(term.name)


def _application(name: str, arguments: tuple[Term, ...]) -> str:
    return f"{_symbol(name, arguments)}({', '.join(map(show_term, arguments))})" if arguments else _name(name)


def _infix(formula: Formula, notation: OutputNotation, strength: int, quoted: frozenset[str], *, last: bool) -> str:
    """``last``: nothing of the same pair of parentheses follows, so that a quantifier may stand bare."""
    known: str | None = None if formula.quantifiers or quoted else formula.memo.get(notation)
    if known is not None:
        return known if _STRENGTH.get(type(formula), _TIGHT) >= strength else f"({known})"
    signs = _INFIX[notation]
    if isinstance(formula, Atom):
        if notation == "juxtaposed" and formula.arguments:
            return " ".join([_head(formula.predicate, formula.arguments), *[_argument(a) for a in formula.arguments]])
        return _application(formula.predicate, formula.arguments)
    if isinstance(formula, Not):
        if isinstance(formula.body, Eq):
            return f"{signs[Not]}({_infix(formula.body, notation, 0, quoted, last=True)})"
        return f"{signs[Not]}{_infix(formula.body, notation, _TIGHT, quoted, last=last)}"
    if isinstance(formula, Binary):
        own = _STRENGTH[type(formula)]
        closed = own >= strength  # no parentheses around this one
        left = _infix(formula.left, notation, own + isinstance(formula, Implies), quoted, last=False)
        right = _infix(formula.right, notation, own + 1, quoted, last=last or not closed)
        text = f"{left} {signs[type(formula)]} {right}"
        return text if closed else f"({text})"
    if isinstance(formula, Eq):
        return f"{_side(formula.left, quoted)} {signs[Eq]} {_side(formula.right, quoted)}"
    if not isinstance(formula, Binder):
        return signs[type(formula)]
    sort = "" if formula.variable.sort == ENTITY else f":{_binder(formula.variable.sort)}"
    body = _infix(formula.body, notation, _TIGHT, quoted, last=True)
    if notation == "juxtaposed" and _continues(formula.variable.name, formula.body):
        body = f"({body})"
    text = f"{signs[type(formula)]}{_bound(formula)}{sort} {body}"
    return text if last else f"({text})"


def _continues(variable: str, body: Formula) -> bool:
    """Whether an atom beside its arguments may continue the variables of a quantifier: ``∀x happy (mother(x))``."""
    if not isinstance(body, Atom) or not body.arguments or isinstance(body.arguments[0], Var):
        return False
    applied = any(isinstance(term, App) and term.arguments for term in body.arguments)
    return applied or resembles(body.predicate, variable)


def _argument(term: Term) -> str:
    if isinstance(term, App):
        return f"({show_term(term)})" if term.arguments else _word(term.function)
    return _binder(term.name)


def _prefix(formula: Formula, quoted: frozenset[str]) -> str:
    word = "" if isinstance(formula, Atom) else _PREFIX_WORDS[type(formula)]
    match formula:
        case Atom(predicate, ()):
            return _name(predicate)
        case Atom(predicate, arguments):
            return _prefix_term(App(predicate, arguments))
        case Eq(left, right):
            return f"({word} {_prefix_term(left, quoted)} {_prefix_term(right, quoted)})"
        case Not(body):
            return f"({word} {_prefix(body, quoted)})"
        case Binary(one, other):
            return f"({word} {_prefix(one, quoted)} {_prefix(other, quoted)})"
        case Binder(variable, body):
            name = _bound(formula)
            binder = name if variable.sort == ENTITY else f"(({name} {_binder(variable.sort)}))"
            return f"({word} {binder} {_prefix(body, quoted)})"
        case Top() | Bottom():
            return word
    assert_never(formula)


def _prefix_term(term: Term, quoted: frozenset[str] = frozenset()) -> str:
    if isinstance(term, Var):
        return _binder(term.name)
    if not term.arguments:
        return _quote(term.function) if term.function in quoted else _word(term.function)
    head = _quote(term.function) if term.function in quoted else _head(term.function, term.arguments)
    return f"({head} {' '.join([_prefix_term(a) for a in term.arguments])})"


# -- names ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def _name(name: str) -> str:
    if JOINED_LETTERS.fullmatch(name):
        return _quote(name)
    plain = _is_simple(name) or (_is_plain(name, _PLAIN_NAME) and (latin(name) == name or not latin(name).isascii()))
    return name if plain else _quote(name)


def _is_plain(name: str, pattern: re.Pattern[str]) -> bool:
    """Whether the name reads back as itself without quotes."""
    return pattern.fullmatch(strip_marks(name)) is not None and is_normalized("NFC", name)


def _is_simple(name: str) -> bool:
    """Whether the name is plain at first sight, as most are."""
    return name.isascii() and name.isidentifier() and name[0] != "_" and name.lower() not in WORDS


def _quote(name: str) -> str:
    return json.dumps(name, ensure_ascii=True)


def _word(name: str) -> str:
    """The name of a constant that stands beside other names, where some words look like prose or a connective."""
    misread = name in _MISREAD or name.lower() in INFIX_WORDS or CONTRACTION.fullmatch(name)
    return _quote(name) if misread else _name(name)


def _head(name: str, arguments: tuple[Term, ...]) -> str:
    """The name of a symbol with arguments beside it, where it might be prose or one more variable."""
    again = any(isinstance(part, App) and part.function == name for term in arguments for part in subterms(term))
    return _quote(name) if again or name == "in" or name.lower() in PROSE_FIRST else _symbol(name, arguments)


def _symbol(name: str, arguments: tuple[Term, ...]) -> str:
    """The name of a symbol with arguments, where it might be a quantifier and its variable."""
    unclear = name[0] in "EA" and any(name[1:] in functions_within(term) for term in arguments)
    return _quote(name) if unclear else _name(name)


def _bound(formula: Quantified) -> str:
    """The name of the variable of a quantifier; one that does not occur might be a mistake."""
    name = formula.variable.name
    return _binder(name) if formula.variable in formula.body.free else _quote(name)


def _binder(name: str) -> str:
    """Like ``_name`` for names of variables and sorts, where a dot ends the binder."""
    return name if _is_simple(name) or _is_plain(name, _PLAIN_BINDER) else _quote(name)


def _separate(formula: Formula) -> Formula:
    """The formula itself if no bound name clashes with a free variable, a symbol or another sort; else a renaming."""
    bound = {part.variable.name for part in subformulas(formula) if isinstance(part, Binder)}
    taken = {t.function for t in terms(formula) if isinstance(t, App)} | {v.name for v in formula.free}
    atoms = [part for part in subformulas(formula) if isinstance(part, Atom)]
    taken |= {atom.predicate for atom in atoms}
    constants = {look(t.function) for t in terms(formula) if isinstance(t, App) and not t.arguments}
    clear = bound.isdisjoint(taken) and constants.isdisjoint(map(look, bound))
    clear = clear and not any(not atom.arguments and is_textbook_atom(atom.predicate, bound) for atom in atoms)
    if clear and not _is_misread(formula, {}):
        return formula
    return rename_bound(formula, frozenset(taken | bound), _fresh_name)


def _fresh_name(name: str, taken: frozenset[str]) -> str:
    looks = frozenset(map(look, taken))
    stem = name if look(f"{name}_") != look(name) else look(name)  # after "x-1", which looks like "x", nothing counts
    number = 1  # no generator, as the compiler makes a list of one, which would have no end
    while look(f"{stem}_{number}") in looks:
        number += 1
    return f"{stem}_{number}"


def _is_misread(formula: Formula, scope: dict[str, Var]) -> bool:
    """Whether some variable stands inside a quantifier of its name and another sort, which would capture it in text."""
    match formula:
        case Not(body):
            return _is_misread(body, scope)
        case Binary(left, right):
            return _is_misread(left, scope) or _is_misread(right, scope)
        case Binder(variable, body):
            return _is_misread(body, {**scope, variable.name: variable})
        case Top() | Bottom() | Atom() | Eq():
            return any(isinstance(t, Var) and scope.get(t.name, t) is not t for t in terms(formula))
    assert_never(formula)


def rename_bound(formula: Formula, taken: frozenset[str], name: Callable[[str, frozenset[str]], str]) -> Formula:
    """The formula with other bound variables, named by their old names and those that are taken at the quantifier."""
    match formula:
        case Not(body):
            return Not(rename_bound(body, taken, name))
        case Binary(left, right):
            return type(formula)(rename_bound(left, taken, name), rename_bound(right, taken, name))
        case Binder(variable, _):
            renamed = Var(name(variable.name, taken), variable.sort)
            return type(formula)(renamed, rename_bound(instantiate(formula, renamed), taken | {renamed.name}, name))
        case Top() | Bottom() | Atom() | Eq():
            return formula
    assert_never(formula)


# -- display ----------------------------------------------------------------------------------------------------------


def _rich(formula: Formula) -> Text:
    from rich.text import Text  # in no other use of this module

    return Text(show(formula))


def _html(formula: Formula) -> str:
    return f"<code>{escape(show(formula))}</code>"


register_display(text=text_of, rich=_rich, html=_html)
