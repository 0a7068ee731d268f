"""English of generated problems: every formula has a sentence, no two formulas share one, and grammar is kept."""

from __future__ import annotations

import re
from itertools import islice
from random import Random

import pytest

from proof_r1_formal.errors import EnglishError
from proof_r1_formal.generate import GeneratorSettings, generate_problems
from proof_r1_formal.generate.problems import System
from proof_r1_formal.generate.sentences import Writer
from proof_r1_formal.generate.vocabulary import VOCABULARY
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.text.parse import parse_formula

QUESTION = "Is the following statement true, false or uncertain? "


@pytest.mark.parametrize("system", ["train", "folio"])
def test_a_sentence_says_one_whole_formula(system: System) -> None:
    said: dict[str, object] = {}
    for generated in islice(generate_problems(GeneratorSettings(seed=1, system=system)), 150):
        problem = generated.problem
        assert problem.question.startswith(QUESTION)
        texts = [(premise.text, premise.formula) for premise in problem.premises]
        for text, formula in (*texts, (problem.question.removeprefix(QUESTION), problem.options[0].formula)):
            assert said.setdefault(text, formula) is formula, text
            assert re.fullmatch(r"[A-Z][A-Za-z ,()-]*\.", text), text
            assert "  " not in text
            for name, (kind, _) in symbols(formula).uses:
                wanted = VOCABULARY.predicates[name].rest if kind == "predicate" else name
                assert wanted in text


@pytest.mark.parametrize(
    ("formula", "ways"),
    [
        ("is_patient(Ada)", {"Ada is patient."}),
        (
            "is_patient(Emil) ∧ is_calm(Emil) → plays_folk_songs(Emil)",
            {
                "If Emil is patient and is calm, then he plays folk songs.",
                "Whenever Emil is patient and is calm, he plays folk songs.",
                "If Emil both is patient and is calm, then he plays folk songs.",
                "Whenever Emil both is patient and is calm, he plays folk songs.",
            },
        ),
        (
            "∀x (wakes_up_early(x) → is_calm(x))",
            {
                "If someone wakes up early, then they are calm.",
                "Whenever someone wakes up early, they are calm.",
                "Everyone who wakes up early is calm.",
                "Anyone who wakes up early is calm.",
            },
        ),
        ("∀x ¬is_calm(x)", {"No one is calm."}),
        ("¬∀x (is_calm(x) → is_brave(x))", {"Not everyone who is calm is brave."}),
        ("∃x ¬is_calm(x)", {"Someone is not calm.", "At least one person is not calm."}),
        ("∃x (is_calm(x) ∧ is_brave(Ada))", {"Someone is calm, and Ada is brave."}),
        ("¬(is_calm(Ada) ∨ is_brave(Ada))", {"It is not the case that Ada is calm or is brave (or both)."}),
    ],
)
def test_ways_to_say_a_formula(formula: str, ways: set[str]) -> None:
    writer = Writer(VOCABULARY, Random(0))
    assert {writer.sentence(parse_formula(formula)) for _ in range(200)} == ways


def test_what_is_never_generated_has_no_sentence() -> None:
    writer = Writer(VOCABULARY, Random(0))
    with pytest.raises(EnglishError):
        writer.sentence(parse_formula("is_calm(Ada) ∧ (is_brave(Ada) ↔ is_patient(Ada))"))


def test_symbols_of_the_vocabulary_are_names_and_differ() -> None:
    groups = (*VOCABULARY.themes, VOCABULARY.traits)
    assert len(VOCABULARY.predicates) == sum(map(len, groups))
    assert len(VOCABULARY.pronouns) == len(VOCABULARY.people)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", symbol) for symbol in VOCABULARY.predicates)
