"""Forms of English verbs and nouns. In: a word in lower case. Out: another form of it.

English does not spell its forms so that they can be undone without a dictionary ("wumpuses", "horses"). The rules here
are right for most words; what they get wrong they get wrong in the same way every time.
"""

from __future__ import annotations

import re

_THIRD = {"have": "has"}
_IRREGULAR = (
    *("men man", "women woman", "children child", "people person", "mice mouse", "geese goose", "feet foot"),
    *("teeth tooth", "oxen ox", "sheep sheep", "fish fish", "deer deer", "wolves wolf", "knives knife", "elves elf"),
    *("leaves leaf", "thieves thief", "calves calf", "shoes shoe", "toes toe", "pies pie", "movies movie"),
)
_SINGULAR = {pair.split()[0]: pair.split()[1] for pair in _IRREGULAR}


def third_person(plain: str) -> str:
    """The form of a verb behind "it": ``chase`` to ``chases``, ``carry`` to ``carries``, ``go`` to ``goes``."""
    if plain in _THIRD:
        return _THIRD[plain]
    if re.search(r"[^aeiou]y$", plain):
        return f"{plain[:-1]}ies"
    return f"{plain}es" if re.search(r"(?:s|x|z|ch|sh|o)$", plain) else f"{plain}s"


def plain_form(third: str) -> str | None:
    """A verb of which that is the form behind "it", or None.

    >>> plain_form("chases"), plain_form("carries"), plain_form("kisses"), plain_form("green")
    ('chase', 'carry', 'kiss', None)
    """
    with_es = re.search(r"(?:ss|x|zz|ch|sh|o)es$", third) is not None
    shorter = (third[:-2], third[:-1]) if with_es else (third[:-1], third[:-2])
    irregular = [plain for plain, form in _THIRD.items() if form == third]
    with_y = [f"{third[:-3]}y"] if len(third) > 4 else []  # ``flies``, but not ``dies``
    candidates = (*irregular, *with_y, *shorter)
    return next((plain for plain in candidates if len(plain) > 1 and third_person(plain) == third), None)


def singular(plural: str) -> str | None:
    """The noun of which that looks like the plural; None for a word that does not (``nervous``, ``glass``, ``red``).

    >>> singular("wumpuses"), singular("horses"), singular("houses"), singular("berries"), singular("nervous")
    ('wumpus', 'horse', 'house', 'berry', None)
    """
    if plural in _SINGULAR:
        return _SINGULAR[plural]
    if not re.search(r"[^siu]s$", plural) or len(plural) < 3:
        return None
    if plural.endswith("ies"):
        return f"{plural[:-3]}y"
    drops_es = re.search(r"(?:ss|x|zz|ch|sh|[^aeiou]o|(?<![oa])us)es$", plural)
    return plural[:-2] if drops_es else plural[:-1]
