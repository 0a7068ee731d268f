"""Conventions of notations where they differ: how far a quantifier reaches, and how → groups.

In: the name of a notation. Out: its :class:`Convention`. A strict reader has none of its own: it refuses a text that
conventions read as formulas that are not equivalent. Who knows where a file comes from names its notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Reach: TypeAlias = Literal["usual", "short", "long", "tight"]
"""How far a quantifier reaches:

* ``tight``: over the next complete formula;
* ``short``: so far, or to the end of its parentheses if its variable would otherwise be free there;
* ``usual``: as ``short``, and to the end of its parentheses if it is written with a dot, comma or colon;
* ``long``: as ``usual``, and to the end of its parentheses unless a formula in parentheses follows, or its variable is
  bound again there.
"""
Grouping: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Convention:
    """How to read what notations read differently.

    Attributes:
        reaches: the ways in which quantifiers may reach. Texts to which they give different meanings are refused.
        implies: the ways in which ``A → B → C`` may group.
    """

    reaches: tuple[Reach, ...]
    implies: tuple[Grouping, ...]


NotationName: TypeAlias = Literal["strict", "lean", "nltk"]
"""``strict``: no convention. ``lean``: the scope of a dot or comma reaches to the end, and → groups to the right.
``nltk``: quantifiers bind tight, also with a dot, and → groups to the left."""

NOTATIONS: Mapping[NotationName, Convention] = MappingProxyType(
    {
        "strict": Convention(("usual", "short", "long"), ("right", "left")),
        "lean": Convention(("usual",), ("right",)),
        "nltk": Convention(("tight",), ("left",)),
    }
)
