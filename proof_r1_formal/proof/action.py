"""A model's completion to proof actions, each with its exact place in the text.

In: the text of a completion: free text, then ``<summary>[ … ]</summary>``. Out: a :class:`Trace`. This module does not
know the problem: ``proof.step`` finds ids and symbols that clash with it.

The summary is the first one after the thoughts (``proof.thoughts``); its array may stand in a Markdown fence. It is
*parsed* if it is closed and holds one JSON array and nothing else. Elements are read one at a time, so each keeps its
span. The work is linear in the text, and what is read depends on the text alone: ``check_bundle.py`` reads it again by
the same rule.

One module, because the summary, its array and its elements share how characters are counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from json import JSONDecodeError, JSONDecoder
from typing import Annotated, Any, Final, TypeAlias, TypeGuard

import msgspec
from msgspec import structs

from proof_r1_formal.errors import ParseError, is_text
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.report import Code, Finding
from proof_r1_formal.proof.thoughts import after_thoughts
from proof_r1_formal.text.parse import parse_formula

MAX_DEPENDENCIES: Final = 4
"""The most dependencies that an action may list, repeats counted."""
MAX_NESTING: Final = 64
"""The deepest nesting of arrays and objects in an element of the summary's array."""

_REMEMBERED: Final = 1 << 12
_REMEMBERED_LENGTH: Final = 400  # in characters: longer objects are rare, and not remembered

FIELDS: Final = ("id", "dependencies", "conclusion", "rule")
_FIELDS: Final = frozenset(FIELDS)


class NotAnArrayError(Exception):
    """The summary does not hold one JSON array; the message says why."""


class Action(msgspec.Struct, frozen=True, gc=False):
    """One element of the summary's array.

    Attributes:
        span: character offsets [start, end) in the completion.
        id: as written; None if it is missing or not a non-empty string.
        dependencies: the distinct ones in order, as far as they are strings.
        conclusion: as written; None if it is missing or not a string.
        formula: the conclusion, if it parses.
        rule: as written; None if it is missing or not a string.
        findings: why the element is not well formed; empty if it is.
    """

    span: tuple[int, int]
    id: str | None = None
    dependencies: tuple[str, ...] = ()
    conclusion: str | None = None
    formula: Formula | None = None
    rule: str | None = None
    findings: tuple[Finding, ...] = ()


class Trace(msgspec.Struct, frozen=True):
    """The actions of a completion.

    Attributes:
        parsed: whether the summary is one JSON array and nothing else.
        actions: in order; a completion that is not parsed has one action that is MALFORMED.
    """

    parsed: bool
    actions: tuple[Action, ...]


def read_completion(text: str) -> Trace:
    """Read the actions of a completion. Any text is accepted."""
    found = _summary(text)
    return found if isinstance(found, Trace) else Trace(True, tuple([_action(*element) for element in found]))


def read_action(text: str, start: int = 0) -> Action | None:
    """Read the action whose element of the summary's array starts at a character.

    Returns:
        The action as :func:`read_completion` reads it; None if no whole JSON value starts there.
    """
    try:
        value, stop = _value(text, start)
    except NotAnArrayError:
        return None
    return _action((start, stop), value)


def array_start(text: str, start: int) -> tuple[int, bool] | None:
    """Where the elements of a summary begin, in a text that may go on.

    Args:
        text: so far.
        start: the character after ``<summary>``.

    Returns:
        The character after ``[``, and whether the array is in a Markdown fence; None if the array has not begun.
    """
    fence = _FENCE_OPENING.match(text, start)
    found = _OPENING.match(text, start if fence is None else fence.end())
    return None if found is None else (text.index("[", found.start()) + 1, fence is not None)


def next_action(text: str, position: int, *, first: bool) -> Action | None:
    """The action of the next element of an array, in a text that may go on.

    Args:
        text: so far.
        position: the character after ``[``, or after the previous element.
        first: whether there is no previous element.

    Returns:
        The action as :func:`read_completion` reads it; None if no whole JSON value is there yet, or the array ends.

    Raises:
        NotAnArrayError: whatever follows, :func:`read_completion` does not read the text as an array.
    """
    found = _NEXT.match(text, position)
    assert found is not None  # the pattern matches the empty string
    begin = found.end()
    if found[1] == "]" or begin == len(text):
        return None
    if found[1] != ("" if first else ","):
        raise NotAnArrayError("',' is missing between two elements" if not first else "',' stands before an element")
    if text[begin] in ",]":
        raise NotAnArrayError("an element is missing after ','")
    return read_action(text, begin)


def count_actions(text: str) -> int:
    """The number of actions that :func:`read_completion` finds; their content is not read."""
    found = _summary(text)
    return len(found.actions if isinstance(found, Trace) else found)


def _summary(text: str) -> list[_Element] | Trace:
    """The elements of the summary's array, or what stands for a summary that holds none."""
    span = summary_span(text)
    if isinstance(span, Trace):
        return span
    try:
        return _elements(text, *_strip_fence(text, *span))
    except NotAnArrayError as error:
        return _malformed_trace(span, str(error))


def summary_span(text: str) -> tuple[int, int] | Trace:
    """Where the content of the summary starts and ends, or what stands for a summary that is not there."""
    answer = after_thoughts(text)
    if answer is None:
        return _malformed_trace((0, len(text)), "there is no message in the final channel")
    opening = text.find("<summary>", answer)
    if opening < 0:
        return _malformed_trace((answer, len(text)), "there is no <summary>")
    start = opening + len("<summary>")
    end = text.find("</summary>", start)
    if end < 0:
        return _malformed_trace((start, len(text)), "the <summary> is not closed")
    return start, end


def _malformed_trace(span: tuple[int, int], problem: str) -> Trace:
    return Trace(False, (Action(span, findings=(Finding(Code.MALFORMED, problem),)),))


_Element: TypeAlias = tuple[tuple[int, int], Any]
"""The span of an element of the array, and its value."""


# -- the array --------------------------------------------------------------------------------------------------------


class _Object(msgspec.Struct, gc=False):
    """A JSON object with its keys in order, repeats included; once it was read as an action, that instead."""

    pairs: list[tuple[str, Any]]
    action: Action | None = None


_NO_PAIRS: Final[list[tuple[str, Any]]] = []

_NotEmpty: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
_Names: TypeAlias = Annotated[list[_NotEmpty], msgspec.Meta(max_length=MAX_DEPENDENCIES)]
# not a class, as the compiler would drop its options and the limits in its types
_Fields = msgspec.defstruct(
    "_Fields",
    [("id", _NotEmpty), ("dependencies", _Names), ("conclusion", _NotEmpty), ("rule", _NotEmpty)],
    forbid_unknown_fields=True,
    gc=False,
)
"""The fields of an element where nothing is wrong with them but perhaps the formula."""
_WELL_FORMED: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(_Fields)


def _refuse_constant(name: str) -> Any:
    raise NotAnArrayError(f"{name} is not JSON")


def _number(_: str) -> None:
    """Numbers are not converted: no field holds one, and Python's limit on their length depends on its settings."""


_DECODER: Final = JSONDecoder(
    object_pairs_hook=_Object, parse_int=_number, parse_float=_number, parse_constant=_refuse_constant
)
_SPACES: Final = r"\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""The spaces of Unicode, as a class of characters. Outside strings JSON has no use for them: they are blanks there."""
_SPACE: Final = re.compile(f"[{_SPACES}]")
_STRING_OR_SPACE: Final = re.compile(rf'"(?:[^"\\]|\\.)*"?|[{_SPACES}]', re.DOTALL)
_BLANK: Final = rf"[ \t\r\n{_SPACES}]*"
_OPENING: Final = re.compile(rf"{_BLANK}\[{_BLANK}(\]?){_BLANK}")
_NEXT: Final = re.compile(rf"{_BLANK}([,\]]?){_BLANK}")
_FENCE: Final = "```"
_FENCE_OPENING: Final = re.compile(r"\s*```[A-Za-z0-9]*[ \t]*\r?\n")


def _strip_fence(text: str, start: int, end: int) -> tuple[int, int]:
    """The text between the first and the last line of a Markdown fence, if there is one around everything."""
    opening = _FENCE_OPENING.match(text, start, end)
    last = start + len(text[start:end].rstrip()) - len(_FENCE)
    fenced = opening is not None and opening.end() <= last and text.startswith(_FENCE, last, end)
    return (opening.end(), last) if opening is not None and fenced else (start, end)


def _elements(text: str, start: int, end: int) -> list[_Element]:
    """The elements of the one array between ``start`` and ``end``, with their spans."""
    inside = text[:end]  # so that no value reaches past the end
    found = _OPENING.match(inside, start)
    if found is None:
        first = start + len(inside[start:]) - len(inside[start:].lstrip())
        raise NotAnArrayError(f"the summary does not start with '['{_odd(inside, first)}")
    elements: list[_Element] = []
    while found[1] != "]":
        position = found.end()
        value, stop = _value(inside, position)
        elements.append(((position, stop), value))
        found = _NEXT.match(inside, stop)
        assert found is not None  # the pattern matches the empty string
        if not found[1]:
            place = f"at character {found.end()} of the completion{_odd(inside, found.end())}"
            raise NotAnArrayError(f"',' or ']' was expected {place}")
    if found.end() != end:
        raise NotAnArrayError("there is more in the summary than one array")
    return elements


def _value(text: str, position: int) -> tuple[Any, int]:
    """The JSON value that starts at a character, and where it ends."""
    if text.startswith("{", position):
        stop = text.find("}", position, position + _REMEMBERED_LENGTH) + 1
        known = _object(text[position:stop]) if stop else None
        if known is not None:
            return known, stop
    return _scan(text, position)


@lru_cache(maxsize=_REMEMBERED)
def _object(text: str) -> _Object | None:
    """The JSON object that a text is, whose last character is its first ``}``, or None."""
    try:
        fields = _WELL_FORMED.decode(text)
        strings = 7 + len(fields.dependencies)  # four keys, three values, and the dependencies
        if text.count('"') == 2 * strings and "\\" not in text:  # so no key is there twice
            return _Object(_NO_PAIRS, _read_fields(len(text), fields))
    except (msgspec.DecodeError, UnicodeEncodeError):
        pass  # the pairs tell what is wrong
    try:
        return _scan(text, 0)[0]  # type: ignore[no-any-return]
    except NotAnArrayError:
        return None


def _scan(text: str, position: int) -> tuple[Any, int]:
    try:
        value, stop = _DECODER.raw_decode(text, position)
    except RecursionError:
        raise NotAnArrayError(_TOO_DEEP) from None
    except JSONDecodeError as error:
        value, stop = _scan_with_spaces(text, position, error.pos)
    brackets = text.count("[", position, stop) + text.count("{", position, stop)
    if brackets > MAX_NESTING and _nesting(value) > MAX_NESTING:
        raise NotAnArrayError(_TOO_DEEP)
    return value, stop


def _scan_with_spaces(text: str, position: int, failed: int) -> tuple[Any, int]:
    """The value, if it is one with blanks for the spaces outside its strings. The work is linear in its length.

    ``failed``: where it stops being one without them.
    """
    width = 2 * (failed - position) + 64
    while _SPACE.search(text, position, position + width):
        part = _STRING_OR_SPACE.sub(_blank, text[position : position + width])
        try:
            value, stop = _DECODER.raw_decode(part)
        except RecursionError:
            raise NotAnArrayError(_TOO_DEEP) from None
        except JSONDecodeError as error:
            if position + width >= len(text):
                failed = position + error.pos
                break
            width *= 2
        else:
            return value, position + stop
    raise NotAnArrayError(f"no JSON value at character {failed} of the completion{_odd(text, failed)}") from None


def _blank(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else " "


def _odd(text: str, position: int) -> str:
    """The name of a character that is unusual where JSON stands: a typographic quote, an invisible sign."""
    char = text[position : position + 1]
    return "" if char.isascii() else f": U+{ord(char):04X} ({unicodedata.name(char, 'without a name').lower()})"


def _nesting(value: Any) -> int:
    """How many arrays and objects are nested in each other, at the deepest place."""
    deepest, stack = 0, [(value, 1)]
    while stack:
        current, depth = stack.pop()
        if isinstance(current, list | _Object):
            deepest = max(deepest, depth)
            inside = current if isinstance(current, list) else [part for _, part in current.pairs]
            stack += [(part, depth + 1) for part in inside]
    return deepest


_TOO_DEEP: Final = f"a JSON value is nested deeper than {MAX_NESTING} levels"


# -- one element ------------------------------------------------------------------------------------------------------


def _action(span: tuple[int, int], value: Any) -> Action:
    if not isinstance(value, _Object):
        return Action(span, findings=(Finding(Code.NOT_AN_OBJECT, "the element is not a JSON object"),))
    pairs, action = value.pairs, value.action  # in this order, as another thread may read the object now
    if action is None:
        action = value.action = _read(span, pairs)
        value.pairs = _NO_PAIRS
    return action if action.span == span else structs.replace(action, span=span)


def _read(span: tuple[int, int], pairs: list[tuple[str, Any]]) -> Action:
    """The action that an object is."""
    fields = dict(reversed(pairs))  # of a repeated key, the first value
    findings = [] if len(pairs) == len(FIELDS) and fields.keys() == _FIELDS else _wrong_keys(pairs, fields)
    conclusion = _text(fields, "conclusion", findings)
    return Action(
        span=span,
        id=_text(fields, "id", findings),
        dependencies=_dependencies(fields, findings),
        conclusion=conclusion,
        formula=_formula(conclusion, findings),
        rule=_text(fields, "rule", findings),
        findings=tuple(findings),
    )


def _read_fields(length: int, fields: Any) -> Action:
    """The action that an object is whose fields are as they should be; its span is that of its text alone."""
    findings: list[Finding] = []
    formula = _formula(fields.conclusion, findings)
    dependencies = tuple(dict.fromkeys(fields.dependencies))
    return Action((0, length), fields.id, dependencies, fields.conclusion, formula, fields.rule, tuple(findings))


def _wrong_keys(pairs: list[tuple[str, Any]], fields: dict[str, Any]) -> list[Finding]:
    """Keys that are there twice, are missing, or are not fields."""
    counts = Counter([key for key, _ in pairs])
    extra, listed = [key for key in fields if key not in _FIELDS], ", ".join(FIELDS)
    return [
        *[Finding(Code.DUPLICATE_KEY, f"field {key!r} is there twice") for key in fields if counts[key] > 1],
        *[Finding(Code.MISSING_FIELD, f"field {key!r} is missing") for key in FIELDS if key not in fields],
        *[Finding(Code.EXTRA_FIELD, f"field {key!r} is not one of {listed}") for key in extra],
    ]


def _text(fields: dict[str, Any], key: str, findings: list[Finding]) -> str | None:
    value = fields.get(key)
    if _is_text(value):
        return value
    if key in fields:
        findings.append(Finding(Code.WRONG_TYPE, f"field {key!r} must be {_WANTED}"))
    return None


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value != "" and is_text(value)


_WANTED: Final = "a non-empty string without halves of surrogate pairs"


def _dependencies(fields: dict[str, Any], findings: list[Finding]) -> tuple[str, ...]:
    value = fields.get("dependencies", [])
    listed = value if isinstance(value, list) else []
    names = [name for name in listed if _is_text(name)]
    if not isinstance(value, list):
        findings.append(Finding(Code.NOT_A_LIST, "field 'dependencies' must be a list of names"))
    if len(names) < len(listed):
        findings.append(Finding(Code.WRONG_TYPE, f"each item of field 'dependencies' must be {_WANTED}"))
    if len(listed) > MAX_DEPENDENCIES:
        problem = f"{len(listed)} dependencies are listed; at most {MAX_DEPENDENCIES} are allowed"
        findings.append(Finding(Code.TOO_MANY_DEPENDENCIES, problem))
    return tuple(dict.fromkeys(names))


def _formula(conclusion: str | None, findings: list[Finding]) -> Formula | None:
    if conclusion is None:
        return None
    try:
        return parse_formula(conclusion)
    except ParseError as error:
        findings.append(Finding(Code.UNPARSABLE_CONCLUSION, f"the conclusion is not a formula: {error.summary}"))
        return None
