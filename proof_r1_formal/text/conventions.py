"""Conventions of notations where they differ: how far a quantifier reaches, and how → groups.

In: the name of a notation. Out: its :class:`Convention`. The notation ``auto`` has none of its own: it refuses a text
that conventions read as formulas that are not equivalent. Who knows where a file comes from names its
notation.
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
        own: what no other notation has: ``(x)`` for ∀x, ``Fx`` for F(x), ``<=`` for ←, ``|-`` for ∨ ¬, a comma that
            ends variables.
        variables: a pattern of the names that are variables everywhere, so that a quantifier must bind them.
    """

    reaches: tuple[Reach, ...]
    implies: tuple[Grouping, ...]
    own: frozenset[str] = frozenset()
    variables: str | None = None


NotationName: TypeAlias = Literal["auto", "lean", "nltk", "prover9", "textbook", "tptp"]
"""Where conventions clash, ``auto`` has none and refuses the text. The others are described in ``docs/parsing.md``."""

_EITHER: tuple[Grouping, ...] = ("right", "left")
NOTATIONS: Mapping[NotationName, Convention] = MappingProxyType(
    {
        "auto": Convention(("usual", "short", "long"), _EITHER),
        "lean": Convention(("usual",), ("right",), frozenset({"∀x,"})),
        "nltk": Convention(("tight",), ("left",)),
        "prover9": Convention(("tight",), _EITHER, frozenset({"|-"}), r"[u-z]\w*"),
        "textbook": Convention(("tight",), _EITHER, frozenset({"(x)", "Fx"}), r"[u-z](?:_?\d+)?"),
        "tptp": Convention(("tight",), _EITHER, frozenset({"<="}), r"[A-Z]\w*"),
    }
)
