"""Repair of formulas with faults that have one plausible repair: parentheses, scopes, what stands behind the formula.

In: a text and the strict parser. Out: the formula and what was changed, or the parser's error. No connective, negation,
quantifier, name or argument of the formula is dropped, and a text with two plausible readings is not repaired.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from proof_r1_formal.errors import ParseError
from proof_r1_formal.logic.readings import RESERVED_WORDS
from proof_r1_formal.logic.syntax import Formula


@dataclass(frozen=True, slots=True)
class Repaired:
    """A formula and what was changed in its text so that it parses (nothing: the text was fine)."""

    formula: Formula
    repairs: tuple[str, ...]


class TwoReadingsError(ParseError):
    """A text with two plausible readings, which repair must not choose between."""


class UnusedVariableError(TwoReadingsError):
    """A variable that does not occur in its scope; ``name``: of the variable, if no other name can be meant."""

    def __init__(self, text: str, offset: int, problem: str, name: str | None) -> None:
        super().__init__(text, offset, problem)
        self.name = name


# A name in quotes, or one that does not end: what follows an opening quote always matches, so the work is linear.
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*\\?(?:"|\Z)', re.DOTALL)
_MAX_REPAIRS = 8
_JUNK = " \t\r\n.,;:"
_SIGN = re.compile(r"[()¬~∧&⊕^∨|→⇒↔⇔≡=≠∀∃\\]|->")  # a text without any is prose rather than a formula with a fault
_REMARK = re.compile(r"(?<=\))\s*([^\W\d_]+)\s*:[\w\s'’.,;-]*\Z")  # behind a formula: ``… Never: at no time``
_PARENTHESES = re.compile(r"\)[\s)]*")
_GOES_ON = re.compile(r"(?:\Z|[∧&⊕⊻^∨|→⟶⇒⟹⊃↔⟷⇔⟺≡=≠,]|->|<->|!=|(?ai:and|or|xor|implies|iff)(?!\w))")


def repaired(text: str, parse: Callable[[str], Formula]) -> Repaired:
    """Parse, repairing the text step by step.

    Args:
        text: a formula with faults.
        parse: the strict parser.

    Raises:
        ParseError: that of the unrepaired text, if no repairs make it a formula.
    """
    repairs: list[str] = []
    current = text
    first_error: ParseError | None = None
    for _ in range(_MAX_REPAIRS):
        try:
            return Repaired(parse(current), tuple(repairs))
        except ParseError as error:
            first_error = first_error or error
            step = _repair_step(current, error)
            if step is None:
                break
            current, what = step
            repairs.append(what)
    assert first_error is not None
    raise first_error


def _repair_step(text: str, error: ParseError) -> tuple[str, str] | None:
    """The text with one thing repaired, and what it was; nothing that carries meaning is dropped."""
    unnamed = QUOTED.sub(lambda name: "_" * len(name[0]), text)
    if isinstance(error, UnusedVariableError) and error.name is not None:
        start, name = error.location.offset, error.name
        changed = f"{text[:start]}{json.dumps(name)}{text[start + len(name) :]}"
        return changed, f"read {name!r} as a variable that its quantifier binds in vain"
    if isinstance(error, TwoReadingsError) or not _SIGN.search(unnamed):
        return None
    stripped = unnamed.rstrip(_JUNK)
    if stripped != unnamed.rstrip():
        return text[: len(stripped)], f"dropped {text[len(stripped) :].strip()!r} at the end"
    remark = _REMARK.search(unnamed)
    if remark is not None and remark[1].lower() not in RESERVED_WORDS:
        return text[: remark.start()], f"dropped the remark {text[remark.start() :].strip()[:60]!r} at the end"
    return _balanced(text, unnamed)


def _balanced(text: str, unnamed: str) -> tuple[str, str] | None:
    """The text without surplus ``)``, or with the missing ones; None if a part would be joined to what follows."""
    depth, surplus = 0, set[int]()
    for offset, char in enumerate(unnamed):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            surplus.add(offset)
            depth = 0
    if surplus:
        runs = _PARENTHESES.finditer(unnamed)
        if any(not _GOES_ON.match(unnamed, run.end()) for run in runs if not surplus.isdisjoint(range(*run.span()))):
            return None
        kept = "".join(char for offset, char in enumerate(text) if offset not in surplus)
        return kept, f"dropped {len(surplus)} surplus ')'"
    return (text + ")" * depth, f"added {depth} missing ')' at the end") if depth > 0 else None
