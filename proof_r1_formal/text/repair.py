"""Repair of formulas with faults whose repairs all mean the same: parentheses, and what stands after the formula.

In: a text and the parser. Out: the formula and what was changed, or the parser's error. No connective, negation,
quantifier, name or argument of the formula is dropped. Repair never chooses: a text with two plausible readings is not
repaired, nor one with two repairs that may differ in meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.text.conventions import NotationName
from proof_r1_formal.text.equivalence import surely_equivalent
from proof_r1_formal.text.readings import list_markers
from proof_r1_formal.text.show import show

Parser: TypeAlias = Callable[[str, NotationName], Formula]


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
QUOTED = re.compile(
    r""""(?:[^"\\]|\\.)*\\?(?:"|\Z)|(?<![\w'’])'(?:[^'\\]|\\.)*\\?(?:'|\Z)"""
    r"""|[“„”][^“”]*(?:[“”]|\Z)|«[^»]*(?:»|\Z)|‘(?:[^’]|’(?=\w))*(?:’|\Z)""",
    re.DOTALL,
)
_MAX_REPAIRS = 8
_MAX_LENGTH = 1_000
"""The longest text whose parentheses are repaired."""
_MAX_UNMATCHED = 8
"""The most unmatched parentheses that are repaired."""
_MAX_TRIES = 500
"""The most ways to repair them that are tried; if there are more, the text is not repaired."""
_SHOWN = 160  # characters of a formula in a message
_JUNK = " \t\r\n.,;:。，；："
_SIGN = re.compile(r"[()¬~∧&⊕^∨|→⇒↔⇔≡=≠∀∃\\]|->")  # a text without any is prose rather than a formula with a fault
_REMARK = re.compile(r"(?<=\))\s*([^\W\d_]+)\s*:[\w\s'’.,;-]*\Z")  # after a formula: ``… Never: at no time``
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")  # of a name: Never and Exercises in NeverExercises
_START = re.compile(r"(?<![\w'’.\-])(?=[\w(¬~!∀∃\\\"-])")  # of a formula
_END = re.compile(r"(?<=[\w)\]}'’\"])(?![\w'’(\"])")
_BETWEEN = (
    r"[∧⋀&⊕⊻^∨⋁|→⟶⇒⟹⊃↔⟷⇔⟺≡≢⇎↮←⟵⇐⟸=≠·•⋅∙]|[-–—]+>|<[-=~]|!=|/\\|\\[/&]|\\(?:land|wedge|lor|vee|oplus|veebar|to|implies"
    r"|impliedby|supset|iff|equiv|cdot|neq?|n?(?:long|Long)?(?:left|Left)?(?:right|Right)?arrow)(?![A-Za-z])"
    r"|(?<!\w)(?ai:and|or|xor|implies|iff)(?!\w)"
)
"""A connective between formulas, or an equality."""
_GOES_ON = re.compile(rf"[\s)\]}}]*(?:\Z|,|{_BETWEEN})")
"""The text after a ``)`` that may be dropped or added: nothing that would become an argument, or stop being one."""
_OPERATOR_WORD = re.compile(r"(?<!\w)(?ai:and|or|xor|implies|iff|not)\Z")
_CONNECTIVE = re.compile(rf"{_BETWEEN}|[∀∃\\]|(?<!\w)(?ai:all|exists|forall|some)(?!\w)")
_SIZED = re.compile(r"\\(?:left|right|[bB]igg?[lr]?)\s*[\\()\[\]{}]")
"""A parenthesis of LaTeX, which is more than one sign."""


def both(first: Formula, second: Formula) -> str:
    """Two readings, for a message."""
    texts = [show(formula) for formula in (first, second)]
    return " or ".join([f"'{text}'" if len(text) <= _SHOWN else f"'{text[:_SHOWN]}…'" for text in texts])


def repaired(text: str, parse: Parser, notation: NotationName) -> Repaired:
    """Parse, repairing the text step by step.

    Args:
        text: a formula with faults.
        parse: the parser of texts without any.
        notation: in which the text is written.

    Raises:
        ParseError: that of the unrepaired text, if no repairs make it a formula; or two repairs that differ.
    """
    repairs: list[str] = []
    first_error: ParseError | None = None
    for _ in range(_MAX_REPAIRS):
        try:
            return Repaired(parse(text, notation), tuple(repairs))
        except ParseError as error:
            first_error = first_error or error
            step = _step(text, error)
            if step is None:
                break
            text, what = step
            repairs.append(what)
    assert first_error is not None
    if not isinstance(first_error, TwoReadingsError) and _SIGN.search(_mask_quotes(text)):
        balanced = _balance(text, parse, notation)
        if balanced is not None:
            return Repaired(balanced.formula, (*repairs, *balanced.repairs))
    raise first_error


def _mask_quotes(text: str) -> str:
    """The text, as long, with letters for what stands in quotes."""
    return QUOTED.sub(lambda name: "_" * len(name[0]), text)


def _step(text: str, error: ParseError) -> tuple[str, str] | None:
    """The text with one thing repaired, and what it was; nothing that carries meaning is dropped."""
    if isinstance(error, UnusedVariableError) and error.name is not None:
        start, name = error.location.offset, error.name
        changed = f"{text[:start]}{json.dumps(name)}{text[start + len(name) :]}"
        return changed, f"read {name!r} as a variable that its quantifier binds in vain"
    unnamed = _mask_quotes(text)
    if (markers := list_markers(text)) and _SIGN.search(unnamed, len(markers)):
        return text[len(markers) :], f"dropped the list marker {markers.strip()!r} at the beginning"
    if isinstance(error, TwoReadingsError) or not _SIGN.search(unnamed):
        return None
    stripped = unnamed.rstrip(_JUNK)
    if stripped != unnamed.rstrip():
        return text[: len(stripped)], f"dropped {text[len(stripped) :].strip()!r} at the end"
    remark = _REMARK.search(unnamed)
    if remark is not None and remark[1].lower() in map(str.lower, _PART.findall(unnamed, 0, remark.start())):
        said = text[remark.start() :].strip()[:60]  # it explains a word of the formula, so it is not a condition
        return text[: remark.start()], f"dropped the remark {said!r} at the end"
    return None


# -- parentheses ------------------------------------------------------------------------------------------------------


def _balance(text: str, parse: Parser, notation: NotationName) -> Repaired | None:
    """The formula of the text with the fewest parentheses dropped or added; an error if two ways to do so differ."""
    surplus, missing = _unmatched_places(_mask_quotes(text))
    if not 0 < len(surplus) + len(missing) <= _MAX_UNMATCHED or len(text) > _MAX_LENGTH or _SIZED.search(text):
        return None
    found: Formula | None = None
    kept = True
    pending, seen = [text], {text}
    while pending:
        current = pending.pop()
        # Where a ) is missing and another one is surplus, it stands in the wrong place: no ( is one too many.
        changed = [each for each in dict.fromkeys(_edits(current, drop=not surplus)) if each not in seen]
        seen.update(changed)
        if len(seen) > _MAX_TRIES:
            return None
        pending += reversed(changed)
        formula = None if any(_unmatched_places(_mask_quotes(current))) else _formula(current, parse, notation)
        if found is None:
            found, kept = formula, _opened(current) >= _opened(text)
        elif formula is not None and not surely_equivalent(found, formula):
            problem = f"may be repaired to {both(found, formula)}; write the parentheses"
            raise TwoReadingsError(text, (surplus or missing)[0], problem)
    if found is None or not kept:  # a ( is dropped only where that says the same
        return None
    dropped = [f"dropped {len(surplus)} surplus ')'"] if surplus else []
    added = [f"added {len(missing)} missing ')'"] if missing else []
    return Repaired(found, (*dropped, *added))


def _opened(text: str) -> int:
    return text.count("(") + text.count("（")


def _formula(text: str, parse: Parser, notation: NotationName) -> Formula | None:
    """The formula of a text, if no variable stands after the scope that parentheses give its quantifier."""
    try:
        parse(text, "nltk")
        return parse(text, notation)
    except ParseError:
        return None


def _unmatched_places(unnamed: str) -> tuple[list[int], list[int]]:
    """The places of every ``)`` and of every ``(`` without the other one."""
    surplus: list[int] = []
    opened: list[int] = []
    for offset, char in enumerate(unnamed):
        if char in "(（":
            opened.append(offset)
        elif char in ")）" and opened:
            opened.pop()
        elif char in ")）":
            surplus.append(offset)
    return surplus, opened


def _edits(text: str, *, drop: bool) -> Iterator[str]:
    """The texts in which one parenthesis less is unmatched, the simplest first; ``drop``: also without a ``(``."""
    unnamed = _mask_quotes(text)
    surplus, missing = _unmatched_places(unnamed)
    if surplus:
        for offset in reversed(range(surplus[0] + 1)):
            if unnamed[offset] in ")）" and _GOES_ON.match(unnamed, offset + 1):
                yield text[:offset] + text[offset + 1 :]
        for start in _START.finditer(unnamed, 0, surplus[0]):
            if _deserves_parentheses(unnamed[start.start() : surplus[0]]):
                yield f"{text[: start.start()]}({text[start.start() :]}"
    elif missing:
        yield f"{text})"
        for end in _END.finditer(unnamed, missing[-1]):
            before = unnamed[: end.start()]
            if _GOES_ON.match(unnamed, end.start()) and _deserves_parentheses(
                before[_unmatched_places(before)[1][-1] + 1 :]
            ):
                yield f"{text[: end.start()]}){text[end.start() :]}"
        for offset in missing if drop else ():
            if not _may_be_applied(unnamed[:offset].rstrip()):
                yield text[:offset] + text[offset + 1 :]


def _may_be_applied(text: str) -> bool:
    """Whether a ``(`` after the text may begin arguments: it ends with a name or with arguments."""
    last = text[-1:]
    return (last.isalnum() or (last != "" and last in "_'’)]}\"")) and not _OPERATOR_WORD.search(text[-8:])


def _deserves_parentheses(unnamed: str) -> bool:
    """Whether somebody would put parentheses around the text, up to a surplus ``)``: it is more than an atom."""
    depth = 0
    for offset, char in enumerate(unnamed):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
        if depth == 0 and _CONNECTIVE.match(unnamed, offset):
            return True
    return False
