"""Readers of text from outside take time linear in the text: twice the text costs about twice the steps, at most.

Steps are counted: the lines of Python that run, and what ``count`` and ``index`` of lists look at. Regular expressions
run in C, which counts nothing: they get texts so long that a pattern of quadratic time is far from quick.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from time import process_time
from types import FrameType
from typing import Any

import pytest

import proof_r1_formal
from proof_r1_formal.data.completions import _Reader
from proof_r1_formal.data.english import parse_english, sentences
from proof_r1_formal.data.native import from_json
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.proof.action import count_actions, read_completion
from proof_r1_formal.text.parse import parse_formula

SIZE = 100_000
"""Characters of the longest texts."""
ROOM = 2.5
"""How many times the steps a text of twice the length may take."""

TOKENS = (
    *(" ", "\n", "\t", "\r\n", "\u2003", "`", "```", "```\n", "\n```", "``` ", "a", "0", '"', "\\", '\\"', "é"),
    *("[", "]", "{", "}", ",", ":", "[[", "{}", "{},", "[],", "1,", '"a",', '{"a":', '"a": 1,', '"\\ud800",', "NaN,"),
    *("<summary>", "</summary>", "<think>", "</think>", "<summary></summary>", "</summary></think><summary>"),
    *('{"id": "a", "dependencies": ["a"], "conclusion": "p", "rule": "r"},', '{"id": "a", "id": "a"},'),
    *("<", "</", "\ud800", "\u00a0", '{"a":\u00a01},', '"a":\u00a0[],', '{"\u00a0', "[/THINK]", "<|channel|>analysis"),
)
FORMULA_TOKENS = (
    *("(", ")", "((", "()", "P(", "P(a,", "f(a ", "(and ", "(forall (x) ", "a", "P ", "P(a) ∧ ", "a = b ∧ "),
    *("¬", "-", "→"),
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
    "a line of completions": lambda text: _Reader(None).read(1, completion_line(text)),
    "a line that is no JSON": lambda text: _Reader(None).read(
        1, f'{{"completion": "", {text}}}'.encode("utf-8", "replace")
    ),
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

METHODS = ("match", "fullmatch", "search")
PREFIXES = ("```\n", "a", "1)", "(", '"', "\\")
"""What a pattern may begin with before it meets a token again and again."""


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


LONG = 100_000
"""Characters of a text for regular expressions: a linear pattern needs milliseconds for it, a quadratic one seconds."""
QUICK = 0.05
"""CPU seconds that no pattern of quadratic time keeps to; if one takes longer, its growth decides."""


def match(pattern: str, flags: int, method: str, text: str) -> float:
    """Match, or search for the first match; the CPU seconds that it takes."""
    search = getattr(re.compile(pattern, flags), method if method in METHODS else "search")
    start = process_time()
    search(text)
    return process_time() - start


def is_linear(pattern: str, flags: int, method: str, prefix: str, token: str, length: int = LONG) -> bool:
    """Whether a pattern is quick on a text of a token, or takes less than eight times as long as on a quarter of it.

    On four times the text, linear time is four times as long and quadratic time 16 times.
    """
    quarter, whole = (f"{prefix}{token * (size // len(token))}\0" for size in (length // 4, length))
    seconds = match(pattern, flags, method, whole)
    return seconds < QUICK or seconds < 8 * match(pattern, flags, method, quarter)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("place", "pattern", "flags", "method"),
    sorted({use[1:]: use for use in sorted(patterns(), reverse=True)}.values()),
)
def test_regular_expressions_match_in_linear_time(place: str, pattern: str, flags: int, method: str) -> None:
    """Each once, with the first place that uses it. A pattern of more than quadratic time meets the time limit."""
    for prefix, token in [*[("", token) for token in (*TOKENS, *FORMULA_TOKENS)], *product(PREFIXES, " \na.")]:
        assert is_linear(pattern, flags, method, prefix, token), f"{place}: {pattern!r} on {prefix!r} and {token!r} …"


@pytest.mark.parametrize(
    ("pattern", "prefix", "token"),
    [(r"\s*```[A-Za-z0-9]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", "```\n", " "), (r"[a-z]+!", "", "a")],
    ids=["two ways", "no start"],
)
def test_a_pattern_of_quadratic_time_is_found(pattern: str, prefix: str, token: str) -> None:
    """The one by which fences were found before, where white space may be matched in two ways, and the plainest one."""
    assert not is_linear(pattern, re.DOTALL, "search", prefix, token, LONG // 4)
