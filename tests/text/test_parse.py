"""Text to formulas and back: round trips, worked examples with exact errors, hostile text, real benchmark data."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings

from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.syntax import Eq, ForAll, Formula, Not, atom, const, var
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import MAX_LENGTH, _parse_cached, parse_formula
from proof_r1_formal.text.show import OutputNotation, show
from proof_r1_formal.text.spellings import MAX_DEPTH

WRITTEN: tuple[OutputNotation, ...] = get_args(OutputNotation)


def reads_back(formula: Formula) -> None:
    for notation in WRITTEN:
        assert parse_formula(show(formula, notation)) is formula


@settings(max_examples=1_000)
@given(strategies.formulas())
def test_what_is_shown_reads_back_in_every_notation(formula: Formula) -> None:
    reads_back(formula)


@pytest.mark.long
@settings(max_examples=20_000)
@given(strategies.formulas())
def test_shown_formulas_read_back_in_every_notation(formula: Formula) -> None:
    reads_back(formula)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        # precedence, tightest first: ¬ ∧ ⊕ ∨ → ↔
        ("¬A ∧ B ⊕ C ∨ D → E ↔ F", "((((((¬A) ∧ B) ⊕ C) ∨ D) → E) ↔ F)"),
        ("A ∧ B ∧ C", "(A ∧ B) ∧ C"),
        ("A ↔ B ↔ C", "(A ↔ B) ↔ C"),
        # a quantifier takes the next complete formula, unless its variable would be free further right
        ("∀x (P(x)) → A", "(∀x P(x)) → A"),
        ("∀x (P(x)) → Q(x)", "∀x (P(x) → Q(x))"),
        ("(A ∧ ∀x P(x) → Q(x)) ∨ B", "(A ∧ (∀x (P(x) → Q(x)))) ∨ B"),
        ("∃x P(x) → ∃x Q(x)", "(∃x P(x)) → (∃x Q(x))"),
        ("∀x P(x) → ∃y R(x, y)", "∀x (P(x) → ∃y R(x, y))"),
        ("∀x ∀y R(x, y) → S(y)", "∀x ∀y (R(x, y) → S(y))"),
        ("∀x x = a ∨ P(x)", "∀x ((x = a) ∨ P(x))"),
        # with a dot or comma it always reaches to the end of its parentheses
        ("∀x. P(x) ∧ A", "∀x (P(x) ∧ A)"),
        ("(∃x. P(x) ∧ A) ∨ B", "(∃x (P(x) ∧ A)) ∨ B"),
        ("forall x y.R(x, y)", "∀x ∀y R(x, y)"),
        ("∀x1.P(x1)", "∀x1 P(x1)"),
        ("∀x costs x 1.5", "∀x costs(x, 1.5)"),  # unless it is that of a number
        # spellings
        ("all x.(P(x) -> ~Q(x) | R(x) & S(x) xor T(x))", "∀x (P(x) → (¬Q(x) ∨ ((R(x) ∧ S(x)) ⊕ T(x))))"),
        (r"\forall x \, (P(x) \land \neg Q(x) \to R(x))", "∀x (P(x) ∧ ¬Q(x) → R(x))"),
        # application by juxtaposition
        ("is_kind Bob ∧ ¬likes Bob Ann", "is_kind(Bob) ∧ ¬likes(Bob, Ann)"),
        ("(P a)", "P(a)"),
        ("P()", "P"),
        ("P(a, false)", 'P(a, "false")'),  # an argument is never a truth value
        ("P(all, Some)", 'P("all", "Some")'),  # nor a quantifier
        ("P(distinct)", 'P("distinct")'),
        ("(distinct ∧ P) → Q", '("distinct" ∧ P) → Q'),
        ("Tiger(Tiger)", '"Tiger"("Tiger")'),
        # words in any case
        ("Forall x P(x) And ForAll y. Q(y)", "∀x P(x) ∧ ∀y Q(y)"),
        ("A Or B Xor C Implies D Iff False", "A ∨ B ⊕ C → D ↔ ⊥"),
        ('EXISTS "x". True', '∃"x" ⊤'),
        ("(Forall x (Implies (P x) (NOT (Q x))))", "∀x (P(x) → ¬Q(x))"),
        ("(And(P a)(Q b))", "P(a) ∧ Q(b)"),
        ("(and (P) (Q))", "P ∧ Q"),
        ("(p) implies q", "p → q"),
        # one reading, although it looks like the rejected ones of tests/text/test_readings.py
        ("P (f a) b (f c)", "P(f(a), b, f(c))"),
        ("∀v likes v (mother v)", "∀v likes(v, mother(v))"),
        ("likes tom v", "likes(tom, v)"),
        ("∃city In(tom, city)", "∃city In(tom, city)"),
        ("∀x1 ∀x_2 P(x1, x_2)", "∀x1 ∀x_2 P(x1, x_2)"),
        ("all-time(x)", '"all-time"(x)'),
        ("-P(a)", "¬P(a)"),
        ('∀"x" Tiger(Tiger)', '∀"x" "Tiger" Tiger'),
        ("∀x: Cat(x) → Dog(x)", "∀x (Cat(x) → Dog(x))"),  # such that
        ("∀x: cat x → dog x", "∀x (cat(x) → dog(x))"),
        ("P(a) ∧\n  Q(a)", "P(a) ∧ Q(a)"),
        ("ValuedAt(yale, 42.3billion)", 'ValuedAt(yale, "42.3billion")'),
        ("∃x Equivalent(x, tom)", '∃x "Equivalent"(x, tom)'),  # connectives take no variable
        ("A ↔ B → C", "A ↔ (B → C)"),
        # operators only as whole words
        ("order a ∧ nota b ∨ xorish c", "order(a) ∧ nota(b) ∨ xorish(c)"),
        ("someone(a) ∧ allied(a)", "(someone(a)) ∧ (allied(a))"),
        # names
        ("Five-Story(l-2021)", '"Five-Story"("l-2021")'),
        ("P(mr.smith, o'neil)", '"P"("mr.smith", "o\'neil")'),
        # S-expressions
        ("(forall ((x Person) y) (R x y))", "∀x:Person ∀y R(x, y)"),
        ("(-> A B C)", "A → (B → C)"),
        ("∀x:Person loves(x, rome)", "all x : Person . loves(x, rome)"),
    ],
)
def test_two_spellings_of_one_formula(text: str, same: str) -> None:
    assert parse_formula(text) is parse_formula(same)


def test_a_name_is_a_variable_exactly_where_it_is_bound() -> None:
    assert parse_formula("P(x)") is atom("P", const("x"))
    bound = parse_formula("∀x (P(x) ∧ ∃x Q(x))")
    assert alpha_equivalent(bound, parse_formula("∀y (P(y) ∧ ∃z Q(z))"))
    assert parse_formula("∀x:Person P(x)").variable is var("x", "Person")  # type: ignore[union-attr]


_OUTSIDE = (
    "'x' stands outside the scope of its quantifier: put parentheses around the whole scope, or give the constant "
    "another name"
)


@pytest.mark.parametrize(
    ("text", "line", "column", "problem", "expected"),
    [
        ("", 1, 1, "an empty formula", ()),
        ("P(a", 1, 4, "the formula ends too early", ("')'", "','")),
        ("P(a))", 1, 5, "unexpected ')'", ("a connective", "the end")),
        ("A ∧\n∨ B", 2, 1, "unexpected '∨'", ("'('", "'¬'", "'⊤'", "'⊥'", "a name", "a quantifier")),
        ("P(a) # Q", 1, 6, "unexpected character '#'", ()),
        ("P ∧ ∃.x P(x)", 1, 5, "'∃' is not followed by the name of a variable", ()),
        ("∀(x) P(x)", 1, 1, "'∀' is not followed by the name of a variable", ()),
        ("P(a)\0", 1, 5, "unexpected character U+0000", ()),
        ("P(a) ∧", 1, 7, "the formula ends too early", ("'('", "'¬'", "'⊤'", "'⊥'", "a name", "a quantifier")),
        ("all x. P(x) ->\n", 2, 1, "the formula ends too early", ("'('", "'¬'", "a name")),
        ("(∀x. P(x) → ) ∧ Q", 1, 13, "unexpected ')'", ("'('", "'¬'", "a name")),
        ("∀x. P(x)) ∧ Q", 1, 9, "unexpected ')'", ("a connective", "the end")),
        ("P a ()", 1, 5, "one argument in parentheses was expected", ()),
        ("P(a) Q(b)", 1, 6, "a connective is missing after the arguments", ()),
        ("Q(x) ∧ ∀x P(x)", 1, 3, _OUTSIDE, ()),
        ("∀x x(a)", 1, 4, "variable 'x' is used as a predicate", ()),
        ("∀x P(x(a))", 1, 6, "variable 'x' is used as a function", ()),
    ],
)
def test_errors_say_where_and_what(text: str, line: int, column: int, problem: str, expected: tuple[str, ...]) -> None:
    with pytest.raises(ParseError) as caught:
        parse_formula(text)
    error = caught.value
    assert (error.location.line, error.location.column) == (line, column)
    assert error.problem == problem
    assert set(expected) <= set(error.expected)
    shown = str(error).split("\n")
    if text:
        assert shown[2].index("^") - 2 == column - 1 if len(text) < 60 else True


# -- hostile ----------------------------------------------------------------------------------------------------------

HOSTILE = {
    "a megabyte of parentheses": "(" * 1_000_000,
    "as many as are read": "(" * MAX_LENGTH,
    "deep parentheses": "(" * 300 + "A" + ")" * 300,
    "deep negation": "¬" * 300 + "A",
    "deep terms": "P(" + "f(" * 300 + "a" + ")" * 302,
    "deep quantifiers": "".join(f"∀x{n} " for n in range(300)) + "A",
    "ten thousand dots": "∀x. " * 4_000 + "A",
    "left chain": " ∧ ".join(["A"] * 300),
    "right chain": " → ".join(["A"] * 300),
    "prefix chain": f"(and {' '.join(['A'] * 300)})",
    "deep prefix": "(not " * 300 + "A" + ")" * 300,
    "many tokens": " ∧ ".join(["A"] * 4_000),
    "null bytes": "\0" * 100,
    "a lone surrogate": "P(\ud800)",
    "only operators": "∧∨→",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_a_clear_error(name: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_formula(HOSTILE[name])
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("text", ["¬" * (MAX_DEPTH - 1) + "A", " ∧ ".join(["A"] * MAX_DEPTH)])
def test_the_deepest_formula_works_with_half_the_stack_in_use(text: str) -> None:
    def at(depth: int) -> Formula:
        if depth:
            return at(depth - 1)
        formula = parse_formula(text)
        assert all(parse_formula(show(formula, notation)) is formula for notation in WRITTEN)
        return formula

    at(sys.getrecursionlimit() // 3)


# -- repair -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meaning", "repairs"),
    [
        ("P(a)", "P(a)", ()),
        ("P(a) ∧ Q(a))", "P(a) ∧ Q(a)", ("dropped 1 surplus ')'",)),
        ("(P(a) ∧ (Q(a)", "P(a) ∧ Q(a)", ("added 2 missing ')'",)),
        ("(" * 8 + "P(a)", "P(a)", ("added 8 missing ')'",)),
        ("∀x (P(x) → (Q(x) ∨ R(x))", "∀x (P(x) → Q(x) ∨ R(x))", ("added 1 missing ')'",)),
        (
            "P(a)) ∨ Q(a) → ¬(R(a) ∧ P(a)",
            "P(a) ∨ Q(a) → ¬(R(a) ∧ P(a))",
            ("dropped 1 surplus ')'", "added 1 missing ')'"),
        ),
        ("∀x (P(x)) → Q(x))", "∀x (P(x) → Q(x))", ("dropped 1 surplus ')'",)),
        ("P(a).", "P(a)", ("dropped '.' at the end",)),
        ("¬NeverRuns(a) Never: a remark", "¬NeverRuns(a)", ("dropped the remark 'Never: a remark' at the end",)),
        ("∀x ∃x P(x)", '∀"x" ∃x P(x)', ("read 'x' as a variable that its quantifier binds in vain",)),
        ("(forall (x y) (P x))", '∀x ∀"y" P(x)', ("read 'y' as a variable that its quantifier binds in vain",)),
        ("∀x ∀y Q(x)", '∀x ∀"y" Q(x)', ("read 'y' as a variable that its quantifier binds in vain",)),
    ],
)
def test_repairs_are_told(text: str, meaning: str, repairs: tuple[str, ...]) -> None:
    repaired = parse_formula(text, repair=True)
    assert repaired.formula is parse_formula(meaning)
    assert repaired.repairs == repairs
    if repairs:
        with pytest.raises(ParseError):
            parse_formula(text)


@pytest.mark.parametrize(
    "text",
    [
        "P(a) ∧ ",
        "P(a, ∃x Q(x))",
        "P(a) > 3",
        "∀x (P(x), Q(x) → R(x))",
        "",
        "P(a) not",
        "P(a) Not: known",
        "P(a) if: Q",
        "P(a) ∧ Q(a) unless: it rains",
        "P(x) ∧ ∀x Q(x)",
        "P(a) ⊥",
        r"P(a) \to Q(a)\right) \land R(a)",
        "A) likes(a, b)",
        "P(a) ∧ Q) b",
        "Some pets do not have fur.",
        "Ron ∉ Lizard",
        "x ≤ 1500 ∧ P(x) ≤",
        "(" * 9 + "P(a)",
    ],
)
def test_repair_never_drops_a_part_of_the_formula(text: str) -> None:
    with pytest.raises(ParseError):
        parse_formula(text, repair=True)


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("P(a) → Q(a)) ∧ R(a)", "P(a) → Q(a) ∧ R(a)", "(P(a) → Q(a)) ∧ R(a)"),
        ("¬(P(a) ∧ Q(a) → R(a)", "¬(P(a) ∧ Q(a) → R(a))", "¬(P(a) ∧ Q(a)) → R(a)"),
        ("¬(P(a) ∧ Q(a)", "¬(P(a) ∧ Q(a))", "¬P(a) ∧ Q(a)"),
        ("P(a) ∧ (Q(a) ∨ R(a)", "P(a) ∧ (Q(a) ∨ R(a))", "P(a) ∧ Q(a) ∨ R(a)"),
        ("P(a) and (Q(a) or R(a)", "P(a) ∧ (Q(a) ∨ R(a))", "P(a) ∧ Q(a) ∨ R(a)"),
        ("¬P(a) ∧ Q(a))", "¬P(a) ∧ Q(a)", "¬(P(a) ∧ Q(a))"),
        ("¬([P(a) ∧ Q(a)] → R(a)", "¬(P(a) ∧ Q(a) → R(a))", "¬(P(a) ∧ Q(a)) → R(a)"),
        ("∀x (P(x) → Q(x)) ∧ R(x))", "∀x (P(x) → Q(x) ∧ R(x))", "∀x ((P(x) → Q(x)) ∧ R(x))"),
        ("P(a) ∨ (Q(a) → R(a)) ∧ S(a))", "P(a) ∨ (Q(a) → R(a) ∧ S(a))", "P(a) ∨ (Q(a) → R(a)) ∧ S(a)"),
    ],
)
def test_repair_does_not_choose_between_meanings(text: str, first: str, second: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_formula(text, repair=True)
    assert "may be repaired to" in caught.value.problem
    for reading in (first, second):
        assert f"'{reading}'" in caught.value.problem
        assert parse_formula(reading)


def test_repair_stops_trying_after_a_number_of_ways() -> None:
    with pytest.raises(ParseError):
        parse_formula("(" * 40 + " ∧ ".join(["P(a)"] * 40), repair=True)


@pytest.mark.parametrize(
    ("text", "lean", "nltk"),
    [
        ("all x.P(x) -> Q(a)", "∀x (P(x) → Q(a))", "(∀x P(x)) → Q(a)"),
        ("A -> B -> C", "A → (B → C)", "(A → B) → C"),
        ("∃x P(x) ↔ A", "(∃x P(x)) ↔ A", "(∃x P(x)) ↔ A"),
        ("¬exists x. P(x) & A", "¬∃x (P(x) ∧ A)", "¬(∃x P(x)) ∧ A"),
    ],
)
def test_a_named_notation_settles_its_conventions(text: str, lean: str, nltk: str) -> None:
    assert parse_formula(text, notation="lean") is parse_formula(lean)
    assert parse_formula(text, notation="nltk") is parse_formula(nltk)
    assert parse_formula(text, notation="nltk", repair=True).formula is parse_formula(nltk)
    with pytest.raises(ParseError):
        parse_formula(text)
    with pytest.raises(ParseError):
        parse_formula("all x.P(x) -> Q(x)", notation="nltk")  # there the last x is free


# -- real data --------------------------------------------------------------------------------------------------------


def _folio(path: Path) -> list[str]:
    texts = []
    for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        premises = record["premises-FOL"]
        texts += premises if isinstance(premises, list) else [t for t in premises.split("\n") if t.strip()]
        texts.append(record["conclusion-FOL"])
    return texts


def _proverqa(records: list[Any]) -> list[str]:
    texts = []
    for record in records:
        texts += [*record["nl2fol"].values(), record["conclusion_fol"]]
        texts += [step["conclusion"] for proof in record.get("canonical_proofs", ()) for step in proof["steps"]]
    return texts


def _written_formulas(path: Path) -> list[str]:
    """The formulas of Logic-LM's programs (``formula ::: English``), or of LINC's samples (``FOL:`` lines)."""
    outputs: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(outputs[0], list):
        lines = [line for samples in outputs for sample in samples for line in sample.splitlines()]
        return [line.removeprefix("FOL:").strip() for line in lines if line.startswith("FOL:")]
    programs = [program.split("Premises:")[-1] for record in outputs for program in record["raw_logic_programs"]]
    return [line.split(":::")[0].strip() for program in programs for line in program.splitlines() if ":::" in line]


def _conclusions(path: Path) -> list[str]:
    texts = []
    for line in path.read_text(encoding="utf-8").splitlines():
        response = json.loads(line)["response"]
        summary = response[response.index("<summary>") + len("<summary>") : response.index("</summary>")]
        texts += [action["conclusion"] for action in json.loads(summary) if "conclusion" in action]
    return texts


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


DATA: dict[str, Callable[[Path], list[str]]] = {
    "ProverQA easy, medium, hard": lambda data: [
        text
        for name in ("easy", "medium", "hard")
        for text in _proverqa(json.loads((data / "proverqa" / f"{name}.json").read_text(encoding="utf-8")))
    ],
    "ProverQA with reference proofs": lambda data: _proverqa(
        _lines(data / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    ),
    "completions of the reference replay": lambda data: _conclusions(data / "reference_verdicts.jsonl"),
    "FOLIO v0 validation": lambda data: _folio(data / "folio" / "folio_v0_validation.jsonl"),
    "FOLIO v2 train (first 400)": lambda data: _folio(data / "folio" / "folio_v2_train_first400.jsonl"),
    "GPT-4 on FOLIO (Logic-LM)": lambda data: _written_formulas(data / "llm_outputs" / "logiclm_FOLIO_dev_gpt-4.json"),
    "GPT-4 on FOLIO (LINC)": lambda data: _written_formulas(
        data / "llm_outputs" / "linc_gpt-4-0613_folio-neurosymbolic-8shot_generations_raw.json"
    ),
    "Llama-3-8B on FOLIO": lambda data: _written_formulas(
        data / "llm_outputs" / "nsombekke_FOLIO_dev_Meta-Llama-3-8B.json"
    ),
    "Qwen2.5-7B on FOLIO": lambda data: _written_formulas(
        data / "llm_outputs" / "wernerolaf_FOLIO_train_Qwen2.5-7B-Instruct_first300.json"
    ),
}
"""Every set of formulas in the table of ``docs/parsing.md``."""


@pytest.mark.shared
@pytest.mark.parametrize("name", DATA)
def test_the_documented_number_of_formulas_is_read(shared_data: Path, name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "parsing.md").read_text(encoding="utf-8")
    texts = DATA[name](shared_data)
    failures: list[str] = []
    counts = [f"{len(texts):,}"]
    for repair in (False, True):
        read = 0
        for text in texts:
            try:
                _ = parse_formula(text, repair=True) if repair else parse_formula(text)
                read += 1
            except ParseError as error:
                failures.append(f"{text[:100]}: {error.summary}")
        counts.append(f"{read:,}")
    (row,) = [line.split(" | ") for line in page.splitlines() if line.startswith(f"| {name} | ")]
    assert [row[1], row[4], row[5].removesuffix(" |")] == counts, failures


ODD_NAMES = (
    *("a.b", "1.5", "b.1", "q-1.5"),  # a dot is not the end of a binder
    *("(and", "(-> a b)", "(forall (x", '(xor"', "\\(and", "(=", "(∀ ("),  # no prefix notation begins
    *("iff'", "AND’", "not-known", "or.x", "all'", "true'", "iffy", "nota'", "TRUE_1"),  # reserved words begin so
)


@pytest.mark.parametrize("notation", WRITTEN)
@pytest.mark.parametrize("name", ODD_NAMES)
def test_what_looks_like_a_sign_is_read_back_as_a_name(name: str, notation: OutputNotation) -> None:
    x, constant = var("x"), atom("P", const(name), const("b"))
    bodies: list[Formula] = [atom(name, x), atom("P", x, const(name)), atom(name), Eq(const(name), x)]
    closed: list[Formula] = [atom(name), constant, Not(constant), ForAll(var(name), atom("P", var(name)))]
    for formula in (*closed, *[ForAll(x, body) for body in bodies]):
        assert parse_formula(show(formula, notation)) is formula


@pytest.mark.parametrize(
    ("text", "juxtaposed"),
    [
        ('P(a) ∧ "P"(a) = b', 'P a ∧ "P"(a) = b'),
        ('p ∧ ¬(q = "p")', 'p ∧ ¬(q = "p")'),
        ("P(a) ∧ P = b", "P a ∧ P = b"),
        ('∀x (P(x) → b = "P"(f(x)))', '∀x (P x → b = "P"(f(x)))'),
        ("∀x happy(mother(x))", "∀x (happy (mother(x)))"),
        ("∀x likes(tom, mother(x))", "∀x (likes tom (mother(x)))"),
        ("∀x likes(x, mother(x))", "∀x likes x (mother(x))"),
        ("∀x p(a, x)", "∀x (p a x)"),
        ("∀x P(a, x)", "∀x P a x"),
    ],
)
def test_what_has_two_readings_is_shown_with_one(text: str, juxtaposed: str) -> None:
    formula = parse_formula(text)
    assert (show(formula), show(formula, "juxtaposed")) == (text, juxtaposed)
    reads_back(formula)


def test_long_texts_are_not_remembered() -> None:
    before = _parse_cached.cache_info().currsize
    for number in range(10):
        parse_formula(" & ".join(f"long{number}_{part}(tom)" for part in range(20)))
    assert _parse_cached.cache_info().currsize == before
