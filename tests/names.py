"""The names of a problem, from the identifiers that other systems get for them."""

from __future__ import annotations

import re


def unmangle(identifier: str, prefix: str) -> str:
    """The name that ``kernel.signature.mangle`` made the identifier from."""
    if not identifier.startswith(f"{prefix}_"):
        raise ValueError(f"{identifier!r} does not start with {prefix}_")
    return re.sub(r"_0([0-9a-f]+)z", lambda match: chr(int(match[1], 16)), identifier[len(prefix) + 1 :])
