"""Irregular forms of English words, one by one, and the shortest words."""

from __future__ import annotations

import pytest

from proof_r1_formal.data.inflection import plain_form, singular, third_person

IRREGULAR = (
    *("men man", "women woman", "children child", "people person", "mice mouse", "geese goose", "feet foot"),
    *("teeth tooth", "oxen ox", "sheep sheep", "fish fish", "deer deer", "wolves wolf", "knives knife", "elves elf"),
    *("leaves leaf", "thieves thief", "calves calf", "shoes shoe", "toes toe", "pies pie", "movies movie"),
)


@pytest.mark.parametrize("pair", IRREGULAR)
def test_irregular_nouns(pair: str) -> None:
    plural, noun = pair.split()
    assert singular(plural) == noun


@pytest.mark.parametrize(
    ("plural", "noun"),
    [
        ("ads", "ad"),
        ("as", None),
        ("s", None),
        ("gas", "ga"),
        ("bus", None),
        ("axis", None),
        ("glass", None),
        ("skies", "sky"),
        ("boxes", "box"),
        ("quizzes", "quizz"),
        ("churches", "church"),
        ("heroes", "hero"),
        ("kisses", "kiss"),
        ("houses", "house"),
        ("roses", "rose"),
        ("causes", "cause"),
    ],
)
def test_endings_of_nouns(plural: str, noun: str | None) -> None:
    assert singular(plural) == noun


@pytest.mark.parametrize(
    ("third", "plain"),
    [("has", "have"), ("dies", "die"), ("flies", "fly"), ("goes", "go"), ("plays", "play"), ("is", None), ("s", None)],
)
def test_forms_of_verbs(third: str, plain: str | None) -> None:
    assert plain_form(third) == plain
    if plain is not None:
        assert third_person(plain) == third
