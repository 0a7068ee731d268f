"""Readers of text from outside take time linear in the text: twice the text costs about twice the steps, at most.

Steps are counted, so that no clock is asked: the lines of Python that run, what ``count`` and ``index`` of lists look
at, and, for regular expressions, the attempts of a backtracking matcher.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import re._compiler as compiler  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import proof_r1_formal
from proof_r1_formal.data.completions import _read_line
from proof_r1_formal.data.english import parse_english, sentences
from proof_r1_formal.data.native import from_json
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.proof.action import count_actions, read_completion
from proof_r1_formal.text.parse import parse_formula

SIZE = 100_000
"""Characters of the longest texts."""
SHORTEST = 128
"""Characters of the shortest ones."""
ROOM = 2.5
"""How many times the steps a text of twice the length may take."""

TOKENS = (
    *(" ", "\n", "\t", "\r\n", "\u2003", "`", "```", "```\n", "\n```", "``` ", "a", "0", '"', "\\", '\\"', "é", "\ud800"),
    *("[", "]", "{", "}", ",", ":", "[[", "{}", "{},", "[],", "1,", '"a",', '{"a":', '"a": 1,', '"\\ud800",', "NaN,"),
    *("<summary>", "</summary>", "<think>", "</think>", "<summary></summary>", "<", "</", "</summary></think><summary>"),
    *('{"id": "a", "dependencies": ["a"], "conclusion": "p", "rule": "r"},', '{"id": "a", "id": "a"},'),
)
FORMULA_TOKENS = (
    *("(", ")", "((", "()", "P(", "P(a,", "f(a ", "(and ", "(forall (x) ", "a", "P ", "P(a) ∧ ", "a = b ∧ ", "¬", "-", "→"),
    *("∀x ", "∀x. ", "∀x:S ", "all x ", "∀x y. ", "∀x y ", "∀x P(a) ∧ ", "∀x P(x) ∧ ", "∀x P(x) → Q(x) ∧ ", "∃y ∀x "),
    *('"', '"a', '""', '"\\"', "\\", "\\forall ", "'", ",", ".", " ", "\n", ": ", "x.", "x-", "1.", "^", "<-"),
)


def steps(work: Callable[[], object]) -> int:
    """How many steps some work takes, whatever becomes of it."""
    taken = 0

    def lines(_: FrameType, event: str, __: Any) -> Any:
        nonlocal taken
        taken += event == "line"
        return lines

    def calls(_: FrameType, event: str, called: Any) -> None:
        nonlocal taken
        if event == "c_call" and called.__name__ in ("count", "index") and isinstance(called.__self__, list | tuple):
            taken += len(called.__self__)

    sys.settrace(lines)
    sys.setprofile(calls)
    try:
        work()
    except (ProofR1Error, ValueError):
        pass
    finally:
        sys.settrace(None)
        sys.setprofile(None)
    return taken


def repeated(token: str, size: int) -> tuple[str, str]:
    """Two texts of a token: one of half the size or four tokens, and one that is twice as long."""
    count = max(4, size // len(token) // 2)
    return token * count, token * 2 * count


def completion_line(text: str) -> bytes:
    return json.dumps({"problem_id": "a", "completion": text}).encode("ascii")


READERS: dict[str, Callable[[str], object]] = {
    "a completion": read_completion,
    "a summary": lambda text: read_completion(f"<summary>{text}</summary>"),
    "a fenced summary": lambda text: read_completion(f"<summary>```\n{text}```</summary>"),
    "an array": lambda text: read_completion(f"<summary>[{text}]</summary>"),
    "an element": lambda text: read_completion(f"<summary>[{{{text}}}]</summary>"),
    "dependencies": lambda text: read_completion(f'<summary>[{{"dependencies": [{text}]}}]</summary>'),
    "the number of actions": lambda text: count_actions(f"<summary>[{text}]</summary>"),
    "a line of completions": lambda text: _read_line(1, completion_line(text)),
    "a line that is no JSON": lambda text: _read_line(1, f'{{"completion": "", {text}}}'.encode("utf-8", "replace")),
    "a problem": lambda text: from_json(f'{{"id": "a", "premises": [], "options": [], "notes": [{text}]}}'),
    "the keys of a problem": lambda text: from_json(f"{{{text}}}"),
    "sentences": sentences,
    "a sentence": parse_english,
}


@pytest.mark.parametrize("reader", READERS)
def test_reading_takes_linear_time(reader: str) -> None:
    for token in TOKENS:
        half, whole = (steps(partial(READERS[reader], text)) for text in repeated(token, SIZE))
        assert whole <= ROOM * half + SIZE // 10, f"{reader} of {token!r}: {half} steps, then {whole}"


@pytest.mark.parametrize("keys", ["different", "equal"])
def test_repeated_keys_are_found_in_linear_time(keys: str) -> None:
    def record(count: int) -> str:
        return ", ".join(f'"k{number if keys == "different" else 0}": 1' for number in range(count))

    for reader in ("an element", "the keys of a problem", "a line that is no JSON"):
        half, whole = (steps(partial(READERS[reader], record(count))) for count in (4_000, 8_000))
        assert whole <= ROOM * half, f"{half} steps, then {whole}"


READ: dict[bool, Callable[[str], object]] = {False: parse_formula, True: lambda text: parse_formula(text, repair=True)}


@pytest.mark.parametrize("repair", [False, True])
def test_formulas_are_read_in_linear_time(repair: bool) -> None:
    """Shorter ones, as a formula that is too long for the parser is not read."""
    for token in FORMULA_TOKENS:
        half, whole = (steps(partial(READ[repair], f"{text}p")) for text in repeated(token, 4_000))
        assert whole <= ROOM * half + 1_000, f"a formula of {token!r}: {half} steps, then {whole}"


# -- regular expressions ----------------------------------------------------------------------------------------------

METHODS = {"match": (True, False), "fullmatch": (True, True), "search": (False, False)}
"""Whether a method looks at the start of the text only, and whether the match must reach the end."""


def patterns() -> Iterator[tuple[str, str, int, str]]:
    """Place, pattern, flags and method of every use of a regular expression in the package."""
    for module in pkgutil.walk_packages(proof_r1_formal.__path__, "proof_r1_formal."):
        path = Path(str(module.module_finder.path), f"{module.name.rpartition('.')[2]}.py")  # type: ignore[union-attr]
        if module.ispkg or "re." not in (source := path.read_text(encoding="utf-8")):
            continue
        for call in ast.walk(ast.parse(source)):
            match call:
                case ast.Call(ast.Attribute(_, method)) if method not in USES:
                    pass
                case ast.Call(ast.Attribute(ast.Name("re"), method), [ast.Constant(str(pattern)), *_]):
                    yield module.name, pattern, 0, method
                case ast.Call(ast.Attribute(ast.Name(name), method)) if name.isupper() and name not in WELL_FORMED:
                    found = getattr(importlib.import_module(module.name), name, None)
                    if isinstance(found, re.Pattern):
                        yield f"{module.name}.{name}", found.pattern, found.flags, method


WELL_FORMED = ("_BINDER_PART",)
"""Patterns that look at tokens only, in which the lexer has closed every quote."""
USES = (*METHODS, "findall", "finditer", "sub", "split")


class Backtracking:
    """A matcher for Python's parsed patterns that counts how often it tries an item of a pattern at a place."""

    def __init__(self, pattern: str, flags: int, text: str) -> None:
        self.steps = 0
        self._text, self._flags = text, flags
        parsed = parser.parse(pattern, flags)
        self._items, self._state = list(parsed), parsed.state
        self._one: dict[str, re.Pattern[str]] = {}

    def ends(self, start: int) -> Iterator[int]:
        """Where the matches that begin at a place end."""
        return self._ends(self._items, start)

    def run(self, *, at_start: bool, to_end: bool) -> int:
        """The steps of a match, or of the search for the first one."""
        for start in range(1 if at_start else len(self._text) + 1):
            if any(end == len(self._text) or not to_end for end in self._ends(self._items, start)):
                break
        return self.steps

    def _ends(self, items: list[Any], place: int) -> Iterator[int]:
        if not items:
            yield place
            return
        kind, of = items[0]
        for middle in self._item(kind, of, place):
            yield from self._ends(items[1:], middle)

    def _item(self, kind: Any, of: Any, place: int) -> Iterator[int]:
        self.steps += 1
        match str(kind):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                yield from self._repeat(list(of[2]), of[0], of[1], place, lazy=str(kind) == "MIN_REPEAT")
            case "SUBPATTERN":
                yield from self._ends(list(of[3]), place)
            case "BRANCH":
                for branch in of[1]:
                    yield from self._ends(list(branch), place)
            case "ASSERT" | "ASSERT_NOT":
                start = place if of[0] > 0 else place - of[1].getwidth()[0]
                holds = start >= 0 and any(True for _ in self._ends(list(of[1]), start))
                yield from [place] if holds == (str(kind) == "ASSERT") else []
            case "AT":
                yield from [place] if self._compiled(kind, of).match(self._text, place) else []
            case _:
                yield from [place + 1] if self._compiled(kind, of).match(self._text, place) else []

    def _repeat(self, items: list[Any], least: int, most: int, place: int, *, lazy: bool) -> Iterator[int]:
        if lazy and least <= 0:
            yield place
        if most > 0:
            for middle in self._ends(items, place):
                if middle > place:
                    yield from self._repeat(items, least - 1, most - 1, middle, lazy=lazy)
        if not lazy and least <= 0:
            yield place

    def _compiled(self, kind: Any, of: Any) -> re.Pattern[str]:
        """The pattern of one item, which matches one character or none."""
        key = f"{kind} {of!r}"
        if key not in self._one:
            self._one[key] = compiler.compile(parser.SubPattern(self._state, [(kind, of)]), self._flags)
        return self._one[key]


@pytest.mark.parametrize(("place", "pattern", "flags", "method"), sorted({*patterns()}))
def test_regular_expressions_match_in_linear_time(place: str, pattern: str, flags: int, method: str) -> None:
    at_start, to_end = METHODS.get(method, METHODS["search"])
    behind = [
        (prefix, token) for prefix in ("```\n", "a", "1)", "(", '"', "\\") for token in (" ", "\n", "a", "```", ".")
    ]
    for prefix, token in [*[("", token) for token in (*TOKENS, *FORMULA_TOKENS)], *behind]:
        half, whole = (
            Backtracking(pattern, flags, f"{prefix}{text}\0").run(at_start=at_start, to_end=to_end)
            for text in repeated(token, SHORTEST)
        )
        what = f"{prefix!r} and {token!r} repeated"
        assert whole <= ROOM * half + SHORTEST, f"{place}, {method} of {what}: {half} steps, then {whole}"


def test_the_matcher_counts_what_takes_quadratic_time() -> None:
    """The pattern by which fences were found before: white space may be matched in two ways."""
    fence = r"\s*```[A-Za-z0-9]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*"
    texts = (f"```\n{' ' * size}" for size in (SHORTEST, 2 * SHORTEST))
    half, whole = (Backtracking(fence, re.DOTALL, text).run(at_start=True, to_end=True) for text in texts)
    assert whole > 3 * half


def test_the_matcher_agrees_with_pythons() -> None:
    for place, pattern, flags, _ in patterns():
        for token in TOKENS:
            text = f"{repeated(token, 12)[0]}a) b"
            found = Backtracking(pattern, flags, text)
            assert any(True for _ in found.ends(0)) == bool(re.compile(pattern, flags).match(text)), place
