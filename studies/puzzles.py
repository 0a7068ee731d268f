"""Puzzles with one solution: zebras, and knights and knaves; drawn by a seed, and solved by trying everything.

In: a size and a seed. Out: a problem whose premises entail its claim. The claim is a fact of the solution that no clue
states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product
from random import Random
from typing import TypeAlias

from proof_r1_formal.data.problem import Option, Premise, Problem
from proof_r1_formal.text.parse import parse_formula

_ATTRIBUTES = (
    ("norwegian", "english", "spanish", "danish"),
    ("red", "green", "blue", "white"),
    ("dog", "cat", "bird", "zebra"),
)
_Street: TypeAlias = tuple[tuple[int, ...], ...]
"""For each kind of value the house of each, from 0."""
_Clue: TypeAlias = tuple[str, Callable[[_Street], bool]]
_PERSONS = ("ann", "bob", "cat", "dan", "eve", "fay")


def entailed(name: str, premises: Iterable[str], conclusion: str) -> Problem:
    """The problem whose one claim is the conclusion."""
    given = [Premise(f"h{number}", parse_formula(text)) for number, text in enumerate(premises, 1)]
    return Problem(name, tuple(given), (Option("goal", "True", parse_formula(conclusion)),), answer="goal")


# -- zebras -----------------------------------------------------------------------------------------------------------


def zebra(houses: int, seed: int) -> Problem:
    """A street of houses, each with an owner, a colour and a pet; where is the last owner?"""
    draw = Random(f"zebra {houses} {seed}")
    kinds = [values[:houses] for values in _ATTRIBUTES]
    streets = list(product(permutations(range(houses)), repeat=len(kinds)))
    solution = draw.choice(streets)
    place = {value: solution[kind][n] for kind, values in enumerate(kinds) for n, value in enumerate(values)}
    of_kind = {value: (kind, n) for kind, values in enumerate(kinds) for n, value in enumerate(values)}

    def at(value: str, street: _Street) -> int:
        kind, number = of_kind[value]
        return street[kind][number]

    def same(one: str, other: str) -> _Clue:
        return f"∀x ({one}(x) → {other}(x))", lambda street: at(one, street) == at(other, street)

    def before(one: str, other: str) -> _Clue:
        cases = " ∨ ".join(f"({one}(h{n}) ∧ {other}(h{n + 1}))" for n in range(1, houses))
        return cases, lambda street: at(other, street) == at(one, street) + 1

    def elsewhere(value: str, number: int) -> _Clue:
        return f"¬{value}(h{number + 1})", lambda street: at(value, street) != number

    clues: list[_Clue] = []
    for one, other in product(place, repeat=2):
        if of_kind[one][0] < of_kind[other][0] and place[one] == place[other]:
            clues.append(same(one, other))
        if place[other] == place[one] + 1:
            clues.append(before(one, other))
    clues += [elsewhere(value, (number + 1) % houses) for value, number in place.items()]
    draw.shuffle(clues)
    chosen: list[str] = []
    left = streets
    for text, holds in clues:
        fewer = [street for street in left if holds(street)]
        if len(fewer) < len(left):
            chosen.append(text)
            left = fewer
        if len(left) == 1:
            break
    last = kinds[0][-1]
    return entailed(f"zebra/{houses}/{seed}", (*_street(kinds, houses), *chosen), f"{last}(h{place[last] + 1})")


def _street(kinds: list[tuple[str, ...]], houses: int) -> Iterator[str]:
    """Each value is at one house, and each house has one value of each kind."""
    names = [f"h{number}" for number in range(1, houses + 1)]
    for values in kinds:
        for value in values:
            yield " ∨ ".join(f"{value}({name})" for name in names)
        for name in names:
            yield " ∨ ".join(f"{value}({name})" for value in values)
        for n, one in enumerate(values):
            for other in values[n + 1 :]:
                yield f"∀x ({one}(x) → ¬{other}(x))"


# -- knights and knaves -----------------------------------------------------------------------------------------------


_World: TypeAlias = dict[str, bool]
_Said: TypeAlias = tuple[str, Callable[[_World], bool]]


def knights(persons: int, seed: int) -> Problem:
    """Each person says something about two others; is the last one a knight, who tells the truth, or a knave?"""
    draw = Random(f"knights {persons} {seed}")
    names = _PERSONS[:persons]
    worlds = [dict(zip(names, values, strict=True)) for values in product((False, True), repeat=persons)]
    while True:
        said = {name: _statement(draw, [other for other in names if other != name]) for name in names}
        fitting = [world for world in worlds if all(world[name] == said[name][1](world) for name in names)]
        if len(fitting) == 1:
            break
    last = names[-1]
    premises = [f"knight({name}) ↔ ({said[name][0]})" for name in names]
    return entailed(f"knights/{persons}/{seed}", premises, f"{'' if fitting[0][last] else '¬'}knight({last})")


def _statement(draw: Random, others: list[str]) -> _Said:
    """What somebody says, and whether it is true in a world."""
    one, other = draw.sample(others, 2)
    a, b = f"knight({one})", f"knight({other})"
    forms: list[_Said] = [
        (f"¬{a}", lambda world: not world[one]),
        (f"{a} ↔ {b}", lambda world: world[one] == world[other]),
        (f"{a} ∧ ¬{b}", lambda world: world[one] and not world[other]),
        (f"{a} ∨ ¬{b}", lambda world: world[one] or not world[other]),
        (f"{a} ⊕ {b}", lambda world: world[one] != world[other]),
        (f"{a} → {b}", lambda world: not world[one] or world[other]),
    ]
    return draw.choice(forms)
