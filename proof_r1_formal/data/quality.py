"""Likely slips in the names of a problem: two spellings of one name, a lost quantifier, a name used once.

In: a problem. Out: its :class:`Oddity` objects, each with its code, the names, and where that matters the place. They
are guesses about the data, change no verdict, and leave nothing out; :func:`tell` makes a sentence of one. Readers add
all but :data:`OddityKind.ONCE` to the notes of a problem, and ``proof-r1 translate --check`` counts them
(``docs/data-quality.md``).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from unicodedata import combining, normalize

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Atom, Binder, Formula
from proof_r1_formal.kernel.transform import constants, subformulas
from proof_r1_formal.text.names import latin

SHORTEST = 5
"""The shortest names that are compared letter by letter, from the second on: ``Ryatt`` and ``Wyatt`` are two people."""
_LONGEST = 64
"""How many letters of a name are compared one by one."""
_VARIABLE = re.compile(r"[u-z]\d?")


class OddityKind(StrEnum):
    """Kinds of oddities; the values are the words that tables show."""

    SCRIPT = "names in look-alike letters"
    CASE = "names that differ in case"
    DIACRITICS = "names that differ in diacritics"
    LETTER = "names that differ in one letter"
    STRAY = "constant, elsewhere a variable"
    UNBOUND = "constant named like a variable"
    ONCE = "predicate used once"


SPELLINGS = (OddityKind.SCRIPT, OddityKind.CASE, OddityKind.DIACRITICS, OddityKind.LETTER)
"""Kinds of two spellings of what may be one name."""
NOTED = tuple([code for code in OddityKind if code is not OddityKind.ONCE])
"""Kinds that readers of datasets note. The package's own files read back as written, so only the first is noted."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """An oddity: its kind, the names that it is about, and the premise or goal in which they stand, if it is one."""

    kind: OddityKind
    names: tuple[str, ...]
    place: str = ""


def tell(oddity: Oddity) -> str:
    """The sentence that tells an oddity."""
    names = " and ".join(map(repr, oddity.names))
    match oddity.kind:
        case OddityKind.SCRIPT:
            return f"the symbols {names} look the same in other letters"
        case OddityKind.CASE | OddityKind.DIACRITICS | OddityKind.LETTER:
            return f"the symbols {names} differ only in {oddity.kind.value.partition(' differ in ')[2]}"
        case OddityKind.STRAY:
            return f"{oddity.place}: {names} is a constant here but a variable in another formula"
        case OddityKind.UNBOUND:
            return f"{oddity.place}: no quantifier binds {names}, which looks like a variable"
        case OddityKind.ONCE:
            return f"the predicate {names} occurs once"


def oddities(problem: Problem, signature: Signature) -> Iterator[Oddity]:
    """The oddities of a problem whose symbols are ``signature``."""
    for names in (signature.predicates, signature.functions):
        for pair in _near(names):
            if (code := _likeness(*pair)) is not None:
                yield Oddity(code, pair)
    yield from _free_variables(problem)
    yield from _used_once(problem)


def _places(problem: Problem) -> list[tuple[str, Formula]]:
    """The formulas of premises and the goal, which is that of the first option, with their places."""
    premises = [(f"premise {premise.id}", premise.formula) for premise in problem.premises]
    return premises + [("the goal", option.formula) for option in problem.options[:1]]


def _free_variables(problem: Problem) -> Iterator[Oddity]:
    """Constants that were meant as variables: mostly lost quantifiers."""
    places = _places(problem)
    bound = {part.variable.name for _, formula in places for part in subformulas(formula) if isinstance(part, Binder)}
    for place, formula in places:
        for name in dict.fromkeys([constant.function for constant in constants(formula)]):
            if name in bound:
                yield Oddity(OddityKind.STRAY, (name,), place)
            elif _VARIABLE.fullmatch(name):
                yield Oddity(OddityKind.UNBOUND, (name,), place)


def _used_once(problem: Problem) -> Iterator[Oddity]:
    parts = (part for _, formula in _places(problem) for part in subformulas(formula))
    for name, count in sorted(Counter(part.predicate for part in parts if isinstance(part, Atom)).items()):
        if count == 1:
            yield Oddity(OddityKind.ONCE, (name,))


def _near(names: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of names that may be alike, found without a look at all pairs: they share a text without one letter."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        plain = _plain(latin(name))
        letters = [place for place in range(1, min(len(plain), _LONGEST)) if plain[place].isalpha()]
        for key in {plain, *[plain[:place] + plain[place + 1 :] for place in letters]}:
            groups[key].append(name)
    return sorted({pair for group in groups.values() for pair in combinations(group, 2)})


def _likeness(one: str, other: str) -> OddityKind | None:
    """How two names are alike; None if they are not."""
    if latin(one) == latin(other):
        return OddityKind.SCRIPT
    if one.casefold() == other.casefold():
        return OddityKind.CASE
    first, second = _plain(one), _plain(other)
    if first == second:
        return OddityKind.DIACRITICS
    return OddityKind.LETTER if min(len(first), len(second)) >= SHORTEST and _one_letter_apart(first, second) else None


def _plain(name: str) -> str:
    """The name in lower case and without diacritics."""
    return "".join([letter for letter in normalize("NFKD", name.casefold()) if not combining(letter)])


def _one_letter_apart(one: str, other: str) -> bool:
    """Whether one letter, and no digit, is added, missing or another."""
    short, long = sorted((one, other), key=len)
    place = next((n for n, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    same_length = len(short) == len(long)
    letters = long[place] + (short[place] if same_length else "")
    return 0 < place < _LONGEST and letters.isalpha() and short[place + same_length :] == long[place + 1 :]
