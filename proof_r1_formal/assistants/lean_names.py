"""Short names in a file for Lean: ``cat`` in place of ``p_cat`` wherever nothing else in the file has that name.

In: the text of theorems and definitions as they were checked, whose names say their kind by a prefix. Out: the same
text with other names. No two names become one, so only the names of bound variables and of definitions differ. Comments
of a whole line stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from proof_r1_formal.assistants.lean import FORBIDDEN

WORD = re.compile(r"[^\W\d][\w'.]*")
"""A name, or a word of Lean."""
_KINDS = "psfhdxit"
"""The prefixes, the most important first: of two names that could be ``cat``, the first becomes it."""
_PREFIXED = re.compile(rf"(?P<kind>[{_KINDS}])_(?P<name>[A-Za-z][A-Za-z0-9_]*)(?:'s_\w+)?")
_KEPT = re.compile(r"[a-z]_.*|.*_0[0-9a-f]+z.*|z[0-9].*")
"""What could be another name with a prefix, has a letter that Lean does not read, or is one that the package makes."""
KEYWORDS = FORBIDDEN | {
    *("assume", "at", "break", "calc", "catch", "continue", "decide", "decreasing_with", "else", "exists", "finally"),
    *("for", "forall", "from", "fun", "generalizing", "have", "haveI", "hiding", "if", "in", "lemma", "let", "letI"),
    *("let_fun", "match", "match_expr", "mut", "nofun", "nomatch", "obtain", "renaming", "repeat", "return", "show"),
    *("sorryAx", "suffices", "then", "throw", "try", "unless", "using", "while", "with", "Prop", "Sort", "Type"),
}
"""Words that cannot be names in Lean, and a few that a reader could take for more than a name."""


def short_names(text: str) -> str:
    """The text with short names.

    >>> short_names("theorem t (p_cat : s_Entity → Prop) (f_cat : s_Entity) (p_if : Prop) : (p_cat f_cat) := x")
    'theorem t (cat : Entity → Prop) (f_cat : Entity) (p_if : Prop) : (cat f_cat) := x'
    """
    lines = text.split("\n")
    code = [not line.lstrip().startswith(("--", "/--")) for line in lines]
    names = _names(word for line, said in zip(lines, code, strict=True) if said for word in WORD.findall(line))

    def renamed(word: re.Match[str]) -> str:
        return names.get(word[0], word[0])

    return "\n".join([WORD.sub(renamed, line) if said else line for line, said in zip(lines, code, strict=True)])


def _names(words: Iterable[str]) -> dict[str, str]:
    """The short name of each name that has one."""
    every = dict.fromkeys(words)
    taken = {part for word in every for part in word.split(".")} | KEYWORDS
    found: dict[str, str] = {}
    prefixed = [match for word in every if (match := _PREFIXED.fullmatch(word))]
    for match in sorted(prefixed, key=lambda match: _KINDS.index(match["kind"])):
        name = match["name"]
        if name not in taken and not _KEPT.fullmatch(name):
            found[match[0]] = name
            taken.add(name)
    return found
