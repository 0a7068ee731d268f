"""A text is a string that UTF-8 can encode. Python and JSON strings may also hold half of a surrogate pair, which is
not a character. Each reader of text from outside asks :func:`is_text` once, where it enters."""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")  # Python joins whole pairs, so any surrogate that is left is half of one


def is_text(string: str) -> bool:
    """Whether UTF-8 can encode the string: it holds no half of a surrogate pair.

    >>> [is_text(string) for string in ("é", "\\U0001f408", "\\ud83d")]
    [True, True, False]
    """
    return string.isascii() or _HALF.search(string) is None
