"""Vocabularies: the names of people and the predicates that generated problems are about, each with its English.

Predicates come in themes, so that the sentences of one problem belong together; a few traits fit every theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

from proof_r1_formal.data.inflection import third_person

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A property of a person: a verb in its base form (``be`` or another), and the rest of the phrase."""

    verb: str
    rest: str

    @property
    def symbol(self) -> str:
        """Its name in formulas: ``waters_young_trees``, ``is_patient``."""
        return self.phrase().replace(" ", "_").replace("-", "_")

    def phrase(self, *, plural: bool = False, negated: bool = False) -> str:
        """``waters young trees``, ``do not water young trees``, ``is not patient`` …"""
        if self.verb == "be":
            verb = "are" if plural else "is"
            verb = f"{verb} not" if negated else verb
        elif negated:
            verb = f"{'do' if plural else 'does'} not {self.verb}"
        else:
            verb = self.verb if plural else third_person(self.verb)
        return f"{verb} {self.rest}"


@dataclass(frozen=True, slots=True)
class Person:
    """A name and the pronoun that goes with it."""

    name: str
    pronoun: str


@dataclass(frozen=True)
class Vocabulary:
    """The people and predicates of problems.

    Attributes:
        people: with different names.
        themes: groups of predicates; no symbol is in two of them.
        traits: predicates that fit every theme.
    """

    people: tuple[Person, ...]
    themes: tuple[tuple[Predicate, ...], ...]
    traits: tuple[Predicate, ...]

    @cached_property
    def predicates(self) -> dict[str, Predicate]:
        """All predicates by their symbols."""
        return {predicate.symbol: predicate for group in (*self.themes, self.traits) for predicate in group}

    @cached_property
    def pronouns(self) -> dict[str, str]:
        """The pronoun of each name."""
        return {person.name: person.pronoun for person in self.people}

    def split(self) -> tuple[Vocabulary, Vocabulary]:
        """Two vocabularies that share no name and no predicate, three quarters and one quarter of this one."""
        first, second = (
            Vocabulary(
                tuple(_part(self.people, rest=rest)),
                tuple(tuple(_part(theme, rest=rest)) for theme in self.themes),
                tuple(_part(self.traits, rest=rest)),
            )
            for rest in (False, True)
        )
        return first, second


def _part(items: Iterable[_T], *, rest: bool) -> list[_T]:
    """Every fourth item, or all the others."""
    return [item for index, item in enumerate(items) if (index % 4 == 3) == rest]


def _theme(verbs: str, objects: str, roles: str) -> tuple[Predicate, ...]:
    acts = [Predicate(verb, thing) for thing in objects.split(", ") for verb in verbs.split(", ")]
    return (*acts, *[Predicate("be", role) for role in roles.split(", ")])


_SHE = """
Ada Beatrix Carla Delia Edith Flora Greta Hanna Ilse Jola Kira Lotte Mira Nadia Olga Paula Quirina Rosa Selma Tessa
Ursula Viola Wanda Xenia Yara Zelda Amina Bruna Celeste Dora Elin Frida Ginevra Hedda Ivana Josefa Katya Leonie Malin
Noemi Oda Petra Ronja Sunniva Thea Ulla Vera Wilma Ylva Zora
"""
_HE = """
Anton Boris Casimir Dario Emil Fabio Gustav Hugo Ivo Jonas Kaspar Linus Marek Nils Oskar Pavel Quentin Ruben Stellan
Tomas Ulrich Viktor Walter Xaver Yannick Zeno Arvid Bela Corin Dietmar Egon Florin Goran Henrik Igor Jarek Kuno Lorenz
Matteo Nestor Ole Piotr Rasmus Sandor Timo Urban Veit Wenzel Yorick Zoltan
"""

_TRAITS = """
patient curious generous punctual thrifty cheerful modest brave tidy witty stubborn gentle careful well-read
quick-witted self-taught ambitious honest restless calm observant humble inventive loyal
"""

_HABITS = (
    "wake up early, walk to work, keep a diary, travel by train, sing in the evening, speak three languages, "
    "live by the river, work at night, trust old friends, learn from mistakes, win local prizes, ask good questions"
)

VOCABULARY = Vocabulary(
    people=tuple(
        Person(name, pronoun)
        for pair in zip(_SHE.split(), _HE.split(), strict=True)
        for name, pronoun in zip(pair, ("she", "he"), strict=True)
    ),
    themes=(
        _theme(
            "water, plant, sell, sketch, study",
            "wild roses, young trees, kitchen herbs, rare orchids, tall grasses, climbing beans, winter squash",
            "a gardener, a seed collector, a member of the garden club, an expert on soils, a beekeeper",
        ),
        _theme(
            "play, compose, record, teach, arrange",
            "string quartets, folk songs, slow waltzes, film scores, church hymns, jazz ballads, opera arias",
            "a cellist, a choir member, a concert regular, a student of harmony, a piano tuner",
        ),
        _theme(
            "bake, taste, serve, order, praise",
            "rye bread, lemon tarts, almond cakes, onion soup, pickled plums, goat cheese, mushroom pies",
            "a pastry cook, a food critic, a guest of the inn, a market vendor, a keeper of old recipes",
        ),
        _theme(
            "sail, repair, paint, race, inspect",
            "fishing boats, old ferries, wooden rafts, harbor tugs, river barges, small yachts, rescue boats",
            "a harbor pilot, a boat builder, a strong swimmer, a lighthouse keeper, a member of the crew",
        ),
        _theme(
            "read, translate, collect, review, bind",
            "travel diaries, epic poems, ghost stories, court records, old almanacs, nature essays, stage plays",
            "a librarian, a novelist, a patron of the archive, a proofreader, a bookshop owner",
        ),
        _theme(
            "carve, polish, design, restore, lend",
            "oak chairs, brass clocks, glass lamps, stone bowls, silver rings, leather bags, music boxes",
            "a carpenter, a silversmith, an apprentice, a workshop owner, a judge of fine craft",
        ),
        _theme(
            "observe, photograph, count, track, feed",
            "barn owls, mountain goats, river otters, gray wolves, garden snails, wild geese, marsh frogs",
            "a park ranger, a bird watcher, a field biologist, a nature guide, a friend of the reserve",
        ),
        _theme(
            "explain, measure, predict, simulate, chart",
            "ocean tides, solar flares, cloud patterns, meteor showers, river floods, air currents, moon phases",
            "an astronomer, a science teacher, a weather observer, a data analyst, a mapmaker",
        ),
    ),
    traits=(
        *[Predicate("be", trait) for trait in _TRAITS.split()],
        *[Predicate(verb, rest) for verb, _, rest in (habit.partition(" ") for habit in _HABITS.split(", "))],
    ),
)
"""The vocabulary of the package."""

VocabularyName: TypeAlias = Literal["all", "seen", "unseen"]
"""The vocabulary of the package, or three quarters or the other quarter of it."""

VOCABULARIES: Mapping[VocabularyName, Vocabulary] = MappingProxyType(
    {"all": VOCABULARY, "seen": VOCABULARY.split()[0], "unseen": VOCABULARY.split()[1]}
)
