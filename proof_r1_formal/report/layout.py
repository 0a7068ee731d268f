r"""Proofs in the manner of Fitch, laid out: as plain text, and as a document for LaTeX.

In: the rows of ``report.fitch``. Out: text with a bar for each block, formula and reason side by side. The document
needs no package, so every LaTeX compiles it; characters that the standard fonts lack stand there as ``U+4E2D``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from proof_r1_formal.report.fitch import Row

_WIDTH = 80  # the column where reasons begin at the latest, but for longer formulas

_SYMBOLS = {
    "⊤": r"\top", "⊥": r"\bot", "¬": r"\lnot", "∧": r"\land", "∨": r"\lor", "⊕": r"\oplus", "→": r"\to",
    "↔": r"\leftrightarrow", "∀": r"\forall", "∃": r"\exists",
}  # fmt: skip
_ESCAPED = {each: rf"\{each}" for each in "#$%&_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}
_KNOWN = "–ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ"
_TOKEN = re.compile(
    r"(?P<operator> [∧∨⊕→↔=] )|(?P<symbol>[⊤⊥¬∧∨⊕→↔∀∃])|(?P<space> )"
    r'|(?P<name>"(?:[^"\\]|\\.)*"|[^\s⊤⊥¬∧∨⊕→↔∀∃(),="]+)|.'
)

_PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\setlength{\parindent}{0pt}
\newcommand{\bars}[1]{\ifnum#1>0 \vrule\hspace{1em}\bars{\numexpr#1-1\relax}\fi}
\newcommand{\row}[4]{\par\hangindent=6em\makebox[2em][r]{#1}\quad\strut\bars{#2}$#3$\hfill\hspace*{1em}\mbox{\small #4}}
\begin{document}
"""


def plain(rows: Sequence[Row], *, premises: int) -> str:
    """The rows of a proof as text; the first ones are premises.

    >>> rows = (Row(1, 0, "p ∧ q", "h1"), Row(2, 0, "p", "s1: ∧ elimination", (1,)))
    >>> print(plain(rows, premises=1), end="")
    1 │ p ∧ q  h1
      ├─
    2 │ p      s1: ∧ elimination 1
    """
    width = len(str(max([row.number for row in rows], default=0)))
    left = [f"{row.number or '':>{width}} {'│ ' * (row.depth + 1)}{_what(row)}" for row in rows]
    column = min(max(map(len, left), default=0), _WIDTH)
    lines = []
    for place, (row, text) in enumerate(zip(rows, left, strict=True), 1):
        lines.append(f"{text:<{column}}  {_why(row)}".rstrip())
        if place == premises or row.reason == "assumption":
            lines.append(f"{'':>{width}} {'│ ' * row.depth}├─")
    return "\n".join(lines) + "\n"


def latex(rows: Iterable[Row], title: str) -> str:
    """The rows of a proof as a document for LaTeX, with a title above."""
    lines = [
        rf"\row{{{row.number or ''}}}{{{row.depth + 1}}}{{{math(_what(row))}}}{{{_reason(_why(row))}}}" for row in rows
    ]
    return "\n".join([f"{_PREAMBLE}\\section*{{{_word(title)}}}", *lines, r"\end{document}", ""])


def math(text: str) -> str:
    r"""The text of a formula for LaTeX's math mode.

    >>> print(math("∀x (is_cat(x) → shy(x))"))
    \forall \textit{x}\ (\textit{is\_cat}(\textit{x})\to \textit{shy}(\textit{x}))
    """

    def written(token: re.Match[str]) -> str:
        match token.lastgroup:
            case "operator" | "symbol":
                symbol = token[0].strip()
                return f"{_SYMBOLS[symbol]} " if symbol in _SYMBOLS else symbol
            case "space":
                return "\\ "
            case "name":
                return rf"\textit{{{_word(token[0])}}}"
        return token[0]

    return _TOKEN.sub(written, text)


def _reason(text: str) -> str:
    """A reason: words, numbers, and symbols of formulas between them."""
    return "".join([f"${_SYMBOLS[each]}$" if each in _SYMBOLS else _word(each) for each in text])


def _word(text: str) -> str:
    """The text as LaTeX text."""
    codes = {each: rf"\texttt{{U+{ord(each):04X}}}" for each in text if not (each.isascii() and each.isprintable())}
    return "".join([each if each in _KNOWN else _ESCAPED.get(each) or codes.get(each, each) for each in text])


def _what(row: Row) -> str:
    return row.text if row.number else f"[{row.text}]"


def _why(row: Row) -> str:
    block = [] if row.block is None else ["–".join(map(str, row.block))]
    return " ".join([row.reason, ", ".join([*map(str, row.uses), *block])]).strip()
