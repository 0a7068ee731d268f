"""Every notation of the table in ``docs/parsing.md``: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import get_args
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    And,
    Binary,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Xor,
    atom,
    const,
)
from proof_r1_formal.testing.strategies import formulas, plain_names, signatures
from proof_r1_formal.text.conventions import NotationName
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests.text.notations import CASES, Case, table

PAGE = Path(__file__).parents[2] / "docs" / "parsing.md"
SMALL = signatures(symbols=plain_names(), max_sorts=1).flatmap(lambda signature: formulas(signature, max_size=8))
NAMED = [name for name in get_args(NotationName) if name != "auto"]


@pytest.mark.parametrize("case", CASES, ids=[case.texts[0] for case in CASES])
def test_a_notation_has_the_documented_reading(case: Case) -> None:
    for text in case.texts:
        if case.reading is None:
            with pytest.raises(ParseError):
                parse_formula(text, notation=case.named)
        else:
            assert show(parse_formula(text, notation=case.named)) == case.reading, text


def test_the_page_has_the_table_of_these_cases() -> None:
    assert table() in PAGE.read_text(encoding="utf-8"), "write it with `python -m tests.text.notations`"


# -- calls ------------------------------------------------------------------------------------------------------------

_CALLS: dict[type[Formula], str] = {And: "And", Or: "Or", Xor: "Xor", Implies: "Implies", Iff: "Iff"}


def called(formula: Formula) -> str:
    """The formula with a call for every connective and quantifier, as Z3's Python interface writes it."""
    match formula:
        case Not(body):
            return f"Not({called(body)})"
        case Binary():
            return f"{_CALLS[type(formula)]}({called(formula.left)}, {called(formula.right)})"
        case ForAll(variable, body) | Exists(variable, body):
            name = variable.name if variable in body.free else f'"{variable.name}"'
            return f"{type(formula).__name__}({name}, {called(body)})"
    return show(formula)


@given(SMALL)
def test_a_formula_of_calls_is_the_formula_of_signs(formula: Formula) -> None:
    shown = parse_formula(show(formula))
    assert parse_formula(called(shown)) is shown


@given(SMALL, SMALL, st.sampled_from(["And", "OR", "implies", "Xor"]))
def test_a_call_ends_where_its_parentheses_do(left: Formula, right: Formula, word: str) -> None:
    text = f"{word}({show(left)}, {show(right)})"
    try:
        read = parse_formula(f"¬{text} ∨ AA")
    except ParseError as error:  # ∀x p, …
        assert "may bind" in error.problem
    else:
        assert read is parse_formula(f"¬(({show(left)}) {word} ({show(right)})) ∨ AA")


# -- brackets and LaTeX -----------------------------------------------------------------------------------------------


@given(SMALL, st.sampled_from(["[ ]", "{ }", "（ ）", r"\left( \right)", r"\bigl[ \bigr]", r"\{ \}"]))
def test_brackets_are_parentheses(formula: Formula, kind: str) -> None:
    opens, closes = kind.split()
    text = show(formula)
    assert parse_formula(f"¬{opens}{text}{closes} → AA") is parse_formula(f"¬({text}) → AA")
    other = "]" if closes[-1] in ")）" else ")"
    for wrong in (f"{opens}{text}", f"{text}{closes}", f"{opens}{text}{other} ∧ AA"):
        with pytest.raises(ParseError):
            parse_formula(wrong)


@given(SMALL)
def test_signs_of_latex_around_a_formula_do_not_move_errors(formula: Formula) -> None:
    text = show(formula)
    for opens, closes in (("$", "$"), ("$$", "$$"), (r"\(", r"\)"), (r"\[", r"\]")):
        assert parse_formula(f" {opens} {text}{closes}\n") is parse_formula(text)
        with pytest.raises(ParseError) as caught:
            parse_formula(f"{opens}{text} # {closes}")
        assert caught.value.location.offset == len(opens) + len(text) + 1


# -- quotes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "name"), [("‘Ann’s cat’(tom)", "Ann’s cat"), ("“don't”(tom)", "don't")])
def test_an_apostrophe_does_not_end_a_name_in_quotes(text: str, name: str) -> None:
    assert parse_formula(text) is atom(name, const("tom"))


@pytest.mark.parametrize("text", ["likes(tom, “1,000”)", "‘a • b’ → ‘c’", "„E.T.“(tom)"])
def test_a_name_in_typographic_quotes_is_that_in_double_quotes(text: str) -> None:
    assert parse_formula(text) is parse_formula(text.translate(dict.fromkeys(map(ord, "“”„‘’"), '"')))


@pytest.mark.parametrize(
    ("text", "offset", "problem"),
    [
        ('likes(tom, “ice cream")', 11, "'“' (left double quotation mark)"),
        ("likes(tom, ‘ice cream)", 11, "'‘' (left single quotation mark)"),
        ("likes(tom, `ice cream`)", 11, "'`' (grave accent)"),
        ("(and “P” Q)", 5, "'“' (left double quotation mark)"),
    ],
)
def test_a_quote_that_is_not_read_is_named(text: str, offset: int, problem: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_formula(text)
    assert caught.value.location.offset == offset
    assert caught.value.problem == f"unexpected {problem}; a name in quotes is written '\"…\"'"


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Schrödinger", "Ångström", "नमस्ते", "สวัสดี", "Việt"])
def test_names_are_the_same_in_every_normal_form(name: str) -> None:
    wanted = atom(normalize("NFC", name), const(normalize("NFC", name)))
    for written in (normalize("NFC", name), normalize("NFD", name)):
        assert parse_formula(f"{written}({written})") is wanted
        assert parse_formula(f"∀{written} P({written})") is parse_formula(f"∀{name} P({name})")
    assert parse_formula(show(wanted)) is wanted
    assert normalize("NFC", name) in show(wanted)


@pytest.mark.parametrize("text", ["P(a\ufe0f)", "P(a\u200d)", "\u0301P(a)", "P ∨\u0332 Q", "P(a\u034f)"])
def test_marks_that_nobody_sees_are_not_part_of_a_name(text: str) -> None:
    with pytest.raises(ParseError):
        parse_formula(text)


def test_names_in_quotes_hold_anything() -> None:
    assert parse_formula(r"'a\'b (and \\ ∧'(c)", notation="tptp") is atom(r"a'b (and \ ∧", const("c"))
    assert parse_formula("('and [b' ∧ P)") is parse_formula('("and [b" ∧ P)')
    assert parse_formula('"e\u0301"(a)') is atom("e\u0301", const("a"))  # as written
    for formula in (atom("e\u0301"), atom("c++"), atom("-1", const("-1")), atom("P", const("'x'"))):
        assert parse_formula(show(formula)) is formula


# -- exactly one ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [(), (0,), (0, 1), (0, 1, 2)])
def test_exactly_one_is_true_where_one_element_is(held: tuple[int, ...]) -> None:
    structure = Structure({ENTITY: 3}, {"P": frozenset((each,) for each in held)})
    assert evaluate(parse_formula("∃!x P(x)"), structure) is (len(held) == 1)
    assert evaluate(parse_formula("∄x P(x)"), structure) is (not held)


def test_the_name_of_the_one_is_not_taken() -> None:
    assert show(parse_formula("∀x1 ∃!x R(x, x1)")) == "∀x1 ∃x2 ∀x (R(x, x1) ↔ x = x2)"
    nested = "".join(f"∃!x{n}. " for n in range(1, 40)) + f"P({', '.join(f'x{n}' for n in range(1, 40))})"
    formula = parse_formula(nested)
    assert parse_formula(show(formula)) is formula


# -- named notations --------------------------------------------------------------------------------------------------


@given(SMALL, st.sampled_from(NAMED))
def test_a_named_notation_reads_what_has_one_reading(formula: Formula, name: NotationName) -> None:
    """Or it refuses the text; only textbooks read short names as atoms."""
    text = show(formula)
    try:
        assert parse_formula(text, notation=name) is parse_formula(text)
    except ParseError:
        assert name != "lean"


@given(
    st.text(max_size=40) | st.text(alphabet="∀∃!?x.X ,:[](){}$\\'\"′+PQ-<=>~&|a→∧∨⊕↔¬", max_size=40),
    st.sampled_from(get_args(NotationName)),
)
def test_any_text_in_any_notation_is_read_or_refused(text: str, name: NotationName) -> None:
    for repair in (False, True):
        try:
            parse_formula(text, notation=name, repair=repair)
        except ParseError as error:
            assert 0 <= error.location.offset <= len(text)


# -- repair -----------------------------------------------------------------------------------------------------------

_TIGHT = [text[1:-1].strip() for case in CASES if case.notation in "∧∨⊕→←" for text in case.texts]


@pytest.mark.parametrize("sign", _TIGHT)
def test_repair_knows_every_connective(sign: str) -> None:
    with pytest.raises(ParseError, match="may be repaired to"):
        parse_formula(f"P(a) ↔ Q(a)) {sign} R(a)", repair=True)


@pytest.mark.parametrize(
    ("text", "meaning", "marker"),
    [
        ("1. P(a) ∧ Q(a)", "P(a) ∧ Q(a)", "1."),
        ("- 1. P(a)", "P(a)", "- 1."),
        (r"3. \(P(a) \land Q(a)\)", "P(a) ∧ Q(a)", "3."),
        ("• ∀x P(x)", "∀x P(x)", "•"),
    ],
)
def test_repair_drops_list_markers_with_a_note(text: str, meaning: str, marker: str) -> None:
    repaired = parse_formula(text, repair=True)
    assert repaired.formula is parse_formula(meaning)
    assert repaired.repairs == (f"dropped the list marker {marker!r} at the beginning",)


@pytest.mark.parametrize("text", ["- P(a)", "1. - P(a)", "- - P(a)", "• − P(a)", "1. Birds fly", "1. "])
def test_repair_does_not_take_a_negation_for_a_marker(text: str) -> None:
    with pytest.raises(ParseError):
        parse_formula(text, repair=True)
