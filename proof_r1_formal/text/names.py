"""Names that may stand for something else: a connective, a quantifier, a variable, two names.

In: a name of a formula and what stands around it. Out: what is unclear about it, for the error of a strict reader, or
nothing. A name in double quotes is never unclear.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from unicodedata import category, normalize

TURNED_LETTERS = "ƎǝⱻᴲⱯɐᗄꓯ"
"""Letters that people type for a quantifier."""
_SAME_LOOK = str.maketrans(
    "асеорхуіјѕһԁԛԝАВЕКМНОРСТХУІЈЅονικχαργιΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑ", "aceopxyijshdqwABEKMHOPCTXYIJSovikxapyiABEZHIKMNOPTYXia"
)
"""Cyrillic, Greek and other letters that look like Latin ones."""


_INVISIBLE = frozenset(
    {0x34F, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
)
"""Marks that nobody sees."""


def strip_marks(text: str) -> str:
    """The text, as long, with ``_`` for the combining marks of letters, which ``\\w`` does not match."""
    marks = {char for char in set(text) if category(char) in ("Mn", "Mc") and ord(char) not in _INVISIBLE}
    chars: list[str] = []
    for char in text if marks else ():
        chars.append("_" if char in marks and chars and (chars[-1].isalnum() or chars[-1] == "_") else char)
    return "".join(chars) or text


def unquote(name: str) -> str:
    """The name of a NAME token, which may be written in quotes, or with LaTeX's ``\\_`` and ``_{1}``; in NFC if not."""
    if name[0] == '"':
        return str(json.loads(name))
    if name.isascii() and "\\" not in name and "{" not in name:
        return str(name)
    return normalize("NFC", _LATEX.sub(r"_\1", name).replace("′", "'"))


_LATEX = re.compile(r"\\_|_\{(\w+)\}")


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONNECTIVE_WORDS = words_of(
    "conj disj equiv equivalence equivalent ex exist foreach for_all if iff imp impl implication imply ite lnot lxor "
    "nand neg negation nor only_if unless xnor"
)
"""Words for connectives and quantifiers, in any case, that no rule of a grammar has, and no symbols with arguments."""
INFIX_WORDS = CONNECTIVE_WORDS | words_of(
    "although because but cap cup else entails equals hence land leftrightarrow lor oplus otimes provided "
    "rightarrow since so then therefore though to vee wedge when whenever while"
)
"""Words, in any case, that are not between two other names."""

SIMPLE_VARIABLE = re.compile(r"[^\W\d_](?:_?\d+)?['’]*")
"""A letter with or without a number: nobody takes such a name for a variable and a predicate."""


def resembles(name: str, variable: str) -> bool:
    """Whether a name may be one more variable beside another: a letter, perhaps with a number, in the same case."""
    return SIMPLE_VARIABLE.fullmatch(name) is not None and name[0].isupper() == variable[0].isupper()


JOINED_LETTERS = re.compile(r"([A-Z])v([A-Z])")
JOINED_ATOMS = re.compile(r"([A-Z][a-z]*?)v([A-Z][a-z]*)")
"""Two propositions, or atoms of a textbook, with a letter for ∨ between them."""

DECIMAL = re.compile(r"\d\.\d")


def unclear_symbol(written: str, names: Collection[str], *, of_variable: bool) -> str | None:
    """The reason why a name that stands for a predicate or a function is unclear; None if it is clear.

    Args:
        written: the name as written.
        names: of the constants among its arguments, and within these.
        of_variable: whether a variable is among its arguments, which connectives do not take.
    """
    if written[0] == '"':
        return None
    if "." in written and not DECIMAL.search(written):
        return dotted(written)
    if written.lower() in CONNECTIVE_WORDS and not of_variable:
        return f"{written!r} may be a connective or quantifier, which has a sign, or a name, written '\"{written}\"'"
    if written[0] in TURNED_LETTERS or (written[0] in "EA" and written[1:] in names):
        meant = f"{written!r} may be a quantifier and a variable, written '∃x' or '∀x'"
        return f"{meant}, or a name, written '\"{written}\"'"
    return placeholder(written)


def placeholder(written: str) -> str | None:
    """The reason why a name of underscores alone, as written, is unclear; None for other names."""
    if written.strip("_"):
        return None
    return f"{written!r} may be a name, written '\"{written}\"', or stand for something that is left open"


def dotted(name: str) -> str:
    left, _, right = name.partition(".")
    return (
        f"{name!r} may be one name, written '\"{name}\"', or {left!r}, a dot and {right!r}, with a blank between them"
    )


def is_textbook_atom(name: str, variables: Collection[str]) -> bool:
    """Whether a proposition may be a predicate and its arguments, all of them variables: ``Fx``, ``Rxy``."""
    return len(name) > 1 and name[0].isupper() and all(letter in variables for letter in name[1:])


def look(name: str) -> str:
    """The name as a reader may take it who does not tell cases, alphabets and styles of letters apart, nor ``x-1``
    from ``x`` and 1.
    """
    return _STEM_END.split(name if name.isascii() else latin(name), 1)[0].lower()


def latin(name: str) -> str:
    """The name in Latin letters, where others look like these."""
    return normalize("NFKC", name).translate(_SAME_LOOK)


_STEM_END = re.compile(r"(?<=\w)[-+.'’]")
