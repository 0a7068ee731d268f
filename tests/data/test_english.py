"""Templated English: sentences mean what the documents say, the way back is exact, and everything else is refused."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proof_r1_formal.data.english import MAX_SENTENCE, parse_english, sentences
from proof_r1_formal.data.inflection import plain_form, third_person
from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.syntax import Exists, ForAll, Formula, Implies, Not, Term, atom, conjunction, const, var
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests.data.english_writer import write_english

NOUNS = frozenset({"cat", "wumpus", "ostrich", "animal"})
VERBS = frozenset({"barks", "flies"})

# -- properties -------------------------------------------------------------------------------------------------------

_open = st.from_regex(r"z[a-z]{1,6}", fullmatch=True)  # no reserved word begins with z
_states = st.sampled_from(["red", "well-known", "on", "can_fly", *NOUNS, *VERBS]) | _open
_relations = st.sampled_from(["chases", "sees", "has", "goes_to", "is_in", "can_see", "can_run_through"])
_relations |= _open.map(third_person)
_names = st.sampled_from(["Bob", "Bob_Smith", "the_cat", "the_bald_eagle"]) | _open.map(lambda word: f"the_{word}")
_X = var("y")


@st.composite
def literals(draw: st.DrawFn, terms: st.SearchStrategy[Term], *, first: Term | None = None) -> Formula:
    """A literal; ``first`` is its subject if it is given."""
    subject = draw(terms) if first is None else first
    said = draw(
        st.one_of(_states.map(lambda p: atom(p, subject)), st.builds(atom, _relations, st.just(subject), terms))
    )
    return Not(said) if draw(st.booleans()) else said


@st.composite
def fragment(draw: st.DrawFn) -> Formula:
    """A formula that a sentence says: facts, ground rules, rules about anything, what everything is, what there is."""
    named: st.SearchStrategy[Term] = _names.map(const)
    anything = named | st.just(_X)

    def several(terms: st.SearchStrategy[Term], *, about: Term | None = None, only: bool = False) -> Formula:
        first = draw(literals(terms, first=about))
        return conjunction((first, *draw(st.lists(literals(terms, first=about if only else None), max_size=3))))

    match draw(st.sampled_from(["facts", "rule", "any", "every", "some"])):
        case "facts":
            return several(named)
        case "rule":
            return Implies(several(named), several(named))
        case "any":
            return ForAll(_X, Implies(several(anything, about=_X), several(anything)))
        case "every":
            return ForAll(_X, several(anything, about=_X, only=True))
        case _:
            return Exists(_X, several(anything, about=_X))


@given(fragment())
def test_what_is_written_reads_back_equal(formula: Formula) -> None:
    text = write_english(formula, nouns=NOUNS, verbs=VERBS)
    assert alpha_equivalent(parse_english(text), formula), text


_WORDS = (
    "If then and not is are does do can cannot The the a an Every All No all something someone it they them things "
    "people Everything Nothing Bob red cold cat cats eagle likes like on through or that Red Cats"
)
_soup = st.lists(st.sampled_from([*_WORDS.split(), ", a", ", and", ",", "."]), max_size=14).map(" ".join)
_SLOTS = {
    "who": ("Bob", "the cat", "something", "someone", "it", "the bald eagle"),
    "what": ("is red", "is not a cat", "likes Bob", "does not see it", "can fly", "barks", "is on the cat", "are red"),
    "kind": ("Every cat", "All red things", "Red, cold people", "Cats", "No cats", "Everything", "A red cat"),
    "of": ("is red", "are red", "are cats", "like Bob", "likes it", "do not bark", "cannot fly"),
}
_TEMPLATES = (
    *("If {who} {what} then {who} {what}.", "If {who} {what} and {who} {what} then {who} {what} and {what}."),
    *("{who} {what} and {what}", "{kind} {of} and {of}.", "{kind} {of}", "{kind} {of} and it {what}"),
)


@st.composite
def _filled(draw: st.DrawFn) -> str:
    """A template with what may or may not fit together."""
    text = draw(st.sampled_from(_TEMPLATES))
    while slot := re.search(r"\{(\w+)\}", text):
        text = text.replace(slot[0], draw(st.sampled_from(_SLOTS[slot[1]])), 1)
    return text[:1].upper() + text[1:]


@given(_soup | _filled() | st.text(max_size=40) | st.binary(max_size=40))
@example("\ud800")
@example("Bob is \0")
@example("Red" * 330)
@example("Red, " * 190)
@example("If " * 300)
def test_every_text_is_read_or_refused_with_its_place(text: str | bytes) -> None:
    sentence = text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
    try:
        formula = parse_english(sentence)
    except ParseError as error:
        assert error.text == sentence
        assert 0 <= error.location.offset <= len(sentence)
        assert error.problem
        assert "\n" not in error.problem
    else:
        assert not formula.free
        assert alpha_equivalent(parse_formula(show(formula)), formula)


def test_a_long_sentence_is_read_up_to_a_bound() -> None:
    text = "Bob is red" + " and red" * 120
    assert parse_formula(show(parse_english(text))) is parse_english(text)
    for longer in (text + " and red" * 5, "a" * MAX_SENTENCE * 100):
        with pytest.raises(ParseError, match="the maximum is"):
            parse_english(longer + " " * (MAX_SENTENCE + 1))
    assert parse_english(text.ljust(MAX_SENTENCE)) is parse_english(text)


@given(st.lists(st.from_regex(r"[A-Z][a-z ,]{0,20}[a-z]\.", fullmatch=True), max_size=5))
def test_a_text_is_cut_into_its_sentences(told: list[str]) -> None:
    assert sentences("  ".join(told)) == tuple(told)
    assert sentences("\n".join(told).rstrip(".")) == (*told[:-1], *(t.rstrip(".") for t in told[-1:]))


@given(st.from_regex(r"[a-z]{2,8}", fullmatch=True))
def test_a_verb_has_a_plain_form(word: str) -> None:
    third = third_person(word)
    plain = plain_form(third)
    assert plain is not None
    assert third_person(plain) == third


# -- worked examples --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "formula"),
    [
        # ProofWriter
        ("The lion does not like the bald eagle.", "¬likes(the_lion, the_bald_eagle)"),
        ("Red, cold things are round.", "∀x (red(x) ∧ cold(x) → round(x))"),
        ("All young, blue people are not green.", "∀x (young(x) ∧ blue(x) → ¬green(x))"),
        ("If something is quiet and not red then it is not white.", "∀x (quiet(x) ∧ ¬red(x) → ¬white(x))"),
        ("If someone is kind then they chase the dog.", "∀x (kind(x) → chases(x, the_dog))"),
        ("If someone sees the cat and they are not green then they see the cow.",
         "∀x (sees(x, the_cat) ∧ ¬green(x) → sees(x, the_cow))"),
        ("If Bob is kind and Bob is blue then Bob is not green.", "kind(Bob) ∧ blue(Bob) → ¬green(Bob)"),
        # RuleTaker
        ("If someone is a bird and not wounded then they can fly.", "∀x (bird(x) ∧ ¬wounded(x) → can_fly(x))"),
        ("If someone is an ostrich then they are abnormal and they cannot fly.",
         "∀x (ostrich(x) → abnormal(x) ∧ ¬can_fly(x))"),
        ("Bill can not fly.", "¬can_fly(Bill)"),
        ("The circuit does not have the switch.", "¬has(the_circuit, the_switch)"),
        ("If the circuit has the switch and the switch is on then the circuit is complete.",
         "has(the_circuit, the_switch) ∧ on(the_switch) → complete(the_circuit)"),
        ("If the circuit is complete then the current runs through the light bulb.",
         "complete(the_circuit) → runs_through(the_current, the_light_bulb)"),
        ("The cat is in the house.", "is_in(the_cat, the_house)"),
        # PrOntoQA
        ("Each zumpus is not bitter.", "∀x (zumpus(x) → ¬bitter(x))"),
        ("A cat is a feline.", "∀x (cat(x) → feline(x))"),
        ("No cats are dogs.", "∀x (cat(x) → ¬dog(x))"),
        ("Painted ladies are butterflies.", "∀x (painted(x) ∧ lady(x) → butterfly(x))"),
        # PrOntoQA-OOD
        ("Everything that is a vumpus, a sterpus, and a numpus is a gorpus.",
         "∀x (vumpus(x) ∧ sterpus(x) ∧ numpus(x) → gorpus(x))"),
        ("Everything that is a vumpus or a sterpus or a numpus is a gorpus.",
         "∀x (vumpus(x) ∨ sterpus(x) ∨ numpus(x) → gorpus(x))"),
        ("Every impus is a yumpus, a tumpus, or a grimpus.", "∀x (impus(x) → yumpus(x) ∨ tumpus(x) ∨ grimpus(x))"),
        ("Wumpuses are yumpuses, dumpuses, and rompuses.", "∀x (wumpus(x) → yumpus(x) ∧ dumpus(x) ∧ rompus(x))"),
        ("Rex is a red cat or a dog.", "red(Rex) ∧ cat(Rex) ∨ dog(Rex)"),
        ("If Rex is a cat or a dog then Rex is a pet.", "cat(Rex) ∨ dog(Rex) → pet(Rex)"),
        ("Nothing that is a vumpus or a sterpus is red.", "∀x (vumpus(x) ∨ sterpus(x) → ¬red(x))"),
        # beyond these, by the same words
        ("Something is red and it barks.", "∃x (red(x) ∧ barks(x))"),
        ("If Bob is red then something likes the cat.", "red(Bob) → ∃x likes(x, the_cat)"),
        ("If Bob likes someone then they are happy.", "∀x (likes(Bob, x) → happy(x))"),
        ("All red cats like Bob Smith and do not see the dog.",
         "∀x (red(x) ∧ cat(x) → likes(x, Bob_Smith) ∧ ¬sees(x, the_dog))"),
        ("Bob is red, and likes the cat.", "red(Bob) ∧ likes(Bob, the_cat)"),
        ("Élise likes the café-au-lait.", "likes(Élise, the_café-au-lait)"),
        ("Noble things are red.", "∀x (noble(x) → red(x))"),
    ],
)  # fmt: skip
def test_sentences(sentence: str, formula: str) -> None:
    assert show(parse_english(sentence)) == show(parse_formula(formula))


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "column", "told"),
    [
        ("", 1, "empty"),
        ("Bob is red or cold.", 12, "unexpected 'or', which joins nouns only"),
        ("Cats are kind or sharp.", 15, "unexpected 'or', which joins nouns only"),
        ("Cats are kind or dogs.", 15, "unexpected 'or', which joins nouns only"),
        ("Bob is a cat or kind.", 14, "unexpected 'or', which joins nouns only"),
        ("Bob is cats or dogs.", 13, "unexpected 'or', which joins nouns only"),
        ("Bob is not a cat or a dog.", 18, "unexpected 'or'"),
        ("Bob is a cat, red, or a dog.", 15, "two ways"),
        ("Bob is a cat or a dog and a pet.", 19, "two ways"),
        ("If something is a cat or a dog and it is red then it is a pet.", 28, "two ways"),
        ("Bob is a cat or Al is a dog.", 17, "unexpected 'Al'"),
        ("Everything that is not a cat is a dog.", 20, "unexpected 'not'"),
        ("Bob isn't red.", 8, 'unexpected "\'"'),
        ("Bob is 猫.", 8, "unexpected '猫'"),
        ("Bob is", 7, "ends too early"),
        ("bob is red.", 1, "unexpected 'bob'"),
        ("Bob is red. Al is red.", 13, "unexpected 'Al'"),
        ("If Bob is red.", 14, "expected 'then'"),
        ("It is red.", 1, "the referent of 'It' is unclear"),
        ("If something is red and something is cold then it is big.", 25, "a second thing"),
        ("Every cat likes something.", 17, "a second thing"),
        ("Every cat is red and Bob is cold.", 22, "needs a separate sentence"),
        ("No cat is red and cold.", 19, "two ways"),
        ("All red are cold.", 5, "'red' is not a plural"),
        ("Each things is red.", 1, "number"),
        ("Bob does not likes Al.", 14, "plain"),
        ("Bob likes the cat and red.", 23, "a verb is missing"),
        ("Every barks.", 1, "missing"),
        ("The cat are red.", 9, "'are' does not agree with its subject"),
        ("All cats is red.", 10, "'is' does not agree with its subject"),
        ("All cats does not bark.", 10, "'does' does not agree with its subject"),
        ("The cat do not bark.", 9, "'do' does not agree with its subject"),
        ("People who are red are cold.", 8, "unexpected 'who'"),
    ],
)
def test_what_is_no_sentence_is_refused_with_the_place(sentence: str, column: int, told: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_english(sentence)
    assert told in caught.value.summary
    assert caught.value.location.column == column
    assert str(caught.value).endswith(f"\n  {' ' * (column - 1)}^")


PLACES = (
    *("{} cats are red.", "{} Bob is red.", "{} is red.", "Bob {} is red.", "Bob is {}.", "Red {} cats are cold."),
    *("Bob likes {}.", "Bob likes Al {}.", "The {} cat is red.", "If {} is red then Bob is red."),
)
REFUSED = "but either except few half less many most neither none nor only or rarely several some than three unless who"


@pytest.mark.parametrize("spelled", [str.lower, str.upper, str.title])
@pytest.mark.parametrize("word", REFUSED.split())
def test_a_word_without_a_form_is_refused_wherever_it_stands(word: str, spelled: Callable[[str], str]) -> None:
    for place in PLACES:
        with pytest.raises(ParseError):
            parse_english(place.format(spelled(word)))


def test_an_error_shows_the_beginning_of_a_long_word() -> None:
    with pytest.raises(ParseError, match=f"unexpected '{'ж' * 40}' at"):
        parse_english(f"Rex is {'ж' * 41}.")
