"""Problems of TPTP and Prover9: what they mean by their own rules, and what is refused, with its line."""

from __future__ import annotations

import re
import shutil
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from proof_r1_formal.data import prover9, read_problems
from proof_r1_formal.data.problem import GOAL_TRUE, ProblemSet
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.errors import DataError
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.syntax import And, Formula, Iff, Implies, Or, Xor
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.render.notation import Notation, infix, text_of
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests.data.files import write


def read(folder: Path, text: str, name: str = "any.p") -> ProblemSet:
    return read_problems(write(folder, text, name))


def goal_of(found: ProblemSet) -> Formula:
    assert found.rejected == ()
    (problem,) = found.values()
    return problem.options[0].formula


def reason(found: ProblemSet) -> str:
    assert len(found) == 0
    (rejected,) = found.rejected
    return "\n".join(rejected.reasons)


# -- properties -------------------------------------------------------------------------------------------------------


def notation(quote: str, signs: tuple[str, str, str, str], connectives: dict[type, tuple[str, str, str]]) -> Notation:
    """A notation with all names in quotes; ``signs`` are ⊤, ⊥ and how quantifiers begin, with a place for a name."""

    def name(text: str) -> str:
        if quote == '"' and text.isalnum():
            return text
        return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote

    return Notation(
        top=signs[0],
        bottom=signs[1],
        predicate=name,
        function=name,
        variable=lambda variable: variable.name.upper(),
        applied=lambda symbol: (f"{symbol}(", ",", ")"),
        equation=("(", " = ", ")"),
        negation=("~(" if quote == "'" else "-(", ")"),
        connectives=connectives,
        universal=lambda variable: (signs[2].format(variable.name.upper()), ")"),
        existential=lambda variable: (signs[3].format(variable.name.upper()), ")"),
    )


TPTP = notation(
    "'",
    ("$true", "$false", "(! [{}] : ", "(? [{}] : "),
    infix({And: "&", Or: "|", Xor: "<~>", Implies: "=>", Iff: "<=>"}),
)
PROVER9 = notation(
    '"',
    ("$T", "$F", "(all {} ", "(exists {} "),
    {**infix({And: "&", Or: "|", Implies: "->", Iff: "<->"}), Xor: ("-((", " <-> ", "))")},
)
SYMBOLS = {"p", "q", "Likes", "the dog", "e", "is a . b", "%"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60)
@given(
    strategies.signatures(max_sorts=1, symbols=st.sampled_from(sorted(SYMBOLS))).flatmap(
        lambda signature: strategies.formulas(signature, variables=("y", "z1"))
    ),
    st.booleans(),
)
def test_what_is_written_reads_back_the_same(tmp_path: Path, formula: Formula, prover9: bool) -> None:
    text = text_of(formula, PROVER9 if prover9 else TPTP)
    whole = f"formulas(goals). {text}. end_of_list." if prover9 else f"fof(g, conjecture, {text}). % {text}."
    assert text_of(goal_of(read(tmp_path, whole)), PROVER9 if prover9 else TPTP) == text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            (
                *("fof(", "cnf(", "a,", "axiom,", "conjecture,", "p", "X", "(", ")", ")).", ".", "~", "&", "=>"),
                *("![X]:", "formulas(goals).", "formulas(sos).", "end_of_list.", "all x", "-", "->", "'", '"', "%"),
                *("/*", "\n", "*"),
            )
        ),
        max_size=25,
    ).map(" ".join),
    st.sampled_from(["tptp", "prover9"]),
)
@example("formulas(goals). . end_of_list.", "prover9")
@example(".", "tptp")
def test_any_text_is_read_or_refused(tmp_path: Path, text: str, format_: str) -> None:
    found = read_problems(write(tmp_path, text), format=format_)  # type: ignore[arg-type]
    assert len(found) + len(found.rejected) >= 1
    assert all(each.reasons for each in found.rejected)


# -- formulas ---------------------------------------------------------------------------------------------------------


FORMULAS_OF_TPTP: tuple[tuple[str, str | None], ...] = (
    ("! [X,Y] : p(X,Y) & q", "(∀x ∀y p(x, y)) ∧ q"),
    ("![X]:~p(X)=>q", "(∀x ¬p(x)) → q"),
    ("p <= q", "q → p"),
    ("p ~| q", "¬(p ∨ q)"),
    ("f(a) != b | $false", "¬(f(a) = b) ∨ ⊥"),
    ("'p'(a) & p('a') & p('it''s')", None),
    (r"p('it\'s a.b')", '"p"("it\'s a.b")'),
    ("p & q | r", None),
    ("p(X)", None),
    ("? [X] : X", None),
    ("p(1)", None),
    ("$less(a, b)", None),
    ("! [X] : (p(X) & ! [X] : q(X))", "∀x (p(x) ∧ ∀y q(y))"),
    ("p(f(X)) @ q", None),
)


@pytest.mark.parametrize(("text", "formula"), FORMULAS_OF_TPTP)
def test_formulas_of_tptp(tmp_path: Path, text: str, formula: str | None) -> None:
    found = read(tmp_path, f"fof(g, conjecture, {text}, file('x.p', g), [status(thm), 1.5]).")
    if formula is None:
        assert reason(found).startswith("line 1: ")
    else:
        assert alpha_equivalent(goal_of(found), parse_formula(formula))


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("all x (p(x) -> q(x)) # label(rule)", "∀x (p(x) → q(x))"),
        ("all x p(x) -> q(a)", "(∀x p(x)) → q(a)"),
        ("exists x all y r(x,y) & p(a)", "(∃x ∀y r(x, y)) ∧ p(a)"),
        ("-p(a) | q(a) & p(b)", "¬p(a) ∨ q(a) ∧ p(b)"),
        ("p(a) | q(a) | p(b)", "p(a) ∨ (q(a) ∨ p(b))"),
        ("p(a) -> q(a) -> p(b)", None),
        ("p(x) -> p(y)", "∀x ∀y (p(x) → p(y))"),
        ("p(tom) & p(zoe)", "∀zoe (p(tom) ∧ p(zoe))"),
        ("-a = b", '"-"(a) = b'),
        ("-(a = b)", "¬(a = b)"),
        ("a != b", "¬(a = b)"),
        ("a * (b + c)' = e", '"*"(a, "\'"("+"(b, c))) = e'),
        ("$T & -$F", "⊤ ∧ ¬⊥"),
        ("x", None),
        ("p(a & b)", None),
        ("a + b", None),
        ("(p(a)) = b", "p(a) = b"),
        ("all x x(a)", None),
        ("~p(a)", None),
        ("p($a)", None),
        ("p(0) & p(1)", None),
        ('p("a b") & q("a")', 'p("a b") ∧ q("\\"a\\"")'),
    ],
)
def test_formulas_of_prover9(tmp_path: Path, text: str, formula: str | None) -> None:
    found = read(tmp_path, f"formulas(goals).\n {text}.\nend_of_list.\n", "any.in")
    if formula is None:
        assert reason(found).startswith("line 2: ")
    else:
        assert alpha_equivalent(goal_of(found), parse_formula(formula))


def test_e_reads_formulas_of_tptp_as_we_do(tmp_path: Path) -> None:
    program = shutil.which("eprover")
    if program is None:
        pytest.skip("E is not installed (apt install eprover)")
    for text, formula in FORMULAS_OF_TPTP:
        if formula is not None:
            shown = re.sub(r"'([a-z]+)'", r"\1", text_of(parse_formula(formula), TPTP))
            problem = f"fof(g, conjecture, ({text}) <=> ({shown}))."
            run = subprocess.run([program, "--auto", "-s"], input=problem, capture_output=True, text=True, check=False)
            assert "# SZS status Theorem" in run.stdout, text


# -- files ------------------------------------------------------------------------------------------------------------

PUZZLE = """\
% Status   : Theorem  (see p. 3)
/* Nothing. is read. here */
fof(rule, axiom, ! [X] :
    (cat(X) => tame(X))).
fof(fact, hypothesis, cat('Tom %')).
fof(goal, conjecture, ? [X] : tame(X), introduced(definition)).
"""
CLAUSES = """\
cnf(rule, axiom, ~ cat(X) | tame(X)).
cnf(fact, axiom, (cat(tom))).
cnf(one, negated_conjecture, ~ tame(X) | rare(X)).
cnf(two, negated_conjecture, ~ rare(tom)).
"""
GROUP = """\
set(prolog_style_variables).   assign(max_seconds, 60).
if(Mace4). set(print_models). end_if.
formulas(assumptions).  % x. y.
  e * X = X.   X' * X = e.
%BEGIN no. END%
  all x (cat(x) -> tame(x)) # label("a.b").
end_of_list.
formulas(hints). e = e. end_of_list.  list(weights). weight(e) = 1. end_of_list.
formulas(goals).
  X = X.
  cat(tom) -> tame(tom).
end_of_list.
"""


def test_the_name_of_a_goal_may_be_in_quotes(tmp_path: Path) -> None:
    found = read(tmp_path, r"fof('the goal', conjecture, p). fof('it\'s', conjecture, q).")
    assert list(found) == ["any/the goal", "any/it's"]


def test_a_problem_of_tptp(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, PUZZLE).values()
    assert (problem.id, problem.answer, problem.notes) == ("any/goal", GOAL_TRUE, ())
    assert [(p.id, show(p.formula)) for p in problem.premises] == [
        ("h1", "∀X (cat(X) → tame(X))"),
        ("h2", 'cat("Tom %")'),
    ]
    assert show(problem.options[0].formula) == "∃X tame(X)"


@pytest.mark.parametrize(
    ("status", "text", "answer"),
    [
        ("Theorem", PUZZLE, GOAL_TRUE),
        ("Unsatisfiable", PUZZLE, None),
        ("Unsatisfiable", CLAUSES, GOAL_TRUE),
        ("Satisfiable", CLAUSES, None),
    ],
)
def test_a_status_is_the_answer_only_to_what_it_is_about(
    tmp_path: Path, status: str, text: str, answer: str | None
) -> None:
    (problem,) = read(tmp_path, f"% Status   : {status}\n{text}").values()
    assert problem.answer == answer


def test_clauses_ask_for_what_refutes_them(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, CLAUSES).values()
    assert show(problem.premises[0].formula) == "∀X (¬cat(X) ∨ tame(X))"
    assert show(problem.options[0].formula) == "¬((∀X (¬tame(X) ∨ rare(X))) ∧ ¬rare(tom))"
    query = Query(tuple(premise.formula for premise in problem.premises), problem.options[0].formula)
    assert isinstance(EmbeddedSolver().decide(query), Entailed)


def test_each_goal_of_prover9_is_a_problem(tmp_path: Path) -> None:
    first, second = read(tmp_path, GROUP, "any.in").values()
    assert (first.id, second.id, first.answer) == ("any/1", "any/2", None)
    assert [show(premise.formula) for premise in first.premises] == [
        '∀X "*"(e, X) = X',
        '∀X "*"("\'"(X), X) = e',
        "∀x (cat(x) → tame(x))",
    ]
    assert [show(each.options[0].formula) for each in (first, second)] == ["∀X X = X", "cat(tom) → tame(tom)"]
    assert any(note.startswith("commands that guide the search are left out (6): assign(") for note in first.notes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "% c.\n\ninclude('Axioms/none.ax').\nfof(g, conjecture, p).",
            "line 3: include: there is no file 'Axioms",
        ),
        ("include('a\0b').\nfof(g, conjecture, p).", "line 1: include: there is no file"),
        ("include(any).\nfof(g, conjecture, p).", "line 1: this is 'include'; supported are fof, cnf, tff"),
        ("thf(g, conjecture, p).", "line 1: this is 'thf'; supported are fof, cnf, tff"),
        ("fof(g, conjecture, p).\nfof(t, plain, q).", "line 2: the role 'plain' is not read"),
        ("fof(g, conjecture, p).\nfof(n, negated_conjecture, ~ p).", "line 2: a file has a conjecture or"),
        ("fof(g, conjecture, p", "line 1: no dot ends the statement"),
        ("fof(g, conjecture,\n p &).", "line 2: unexpected ')' in ' p &)'"),
        ("fof(g, conjecture, p). fof(a, axiom, 'open).", "line 1: no dot ends the statement"),
        ("cnf(g, negated_conjecture, p & q).", "a clause of cnf consists of literals"),
        ("cnf(g, negated_conjecture, ~ ~ p).", "a clause of cnf negates atoms only"),
        ("fof(g, conjecture, p(a) & p(a, b)).", "'p' is used as a predicate of"),
        ("".join(f"cnf(c{n}, axiom, p{n}).\n" for n in range(300)), "line 1: a claim about more formulas than"),
        ("".join(f"cnf(c{n}, negated_conjecture, p{n}).\n" for n in range(300)), "a claim about more formulas than"),
        (f"fof(g, conjecture, {'~' * 9_000} p).", "nested deeper than 256 levels"),
        (f"fof(g, conjecture, p{' & p' * 3_000}).", "nested deeper than 256 levels"),
        (f"fof(g, conjecture, p{' & p' * 9_000}).", "the maximum is 20000"),
        ("formulas(sos). end_of_list.", "the file has no formula: it has no question"),
        ("op(400, infix, and).\nformulas(goals). p(a). end_of_list.", "line 1: 'op(400, infix, and)' changes how"),
        ("formulas(goals). p(a). end_of_list. set(prolog_style_variables).", "changes how formulas are read"),
        (
            "list(distinct). [a,b]. end_of_list. formulas(goals). p(a). end_of_list.",
            "'list(distinct)' is not read; known are",
        ),
    ],
)
def test_what_is_refused_in_a_file(tmp_path: Path, text: str, told: str) -> None:
    assert told in reason(read(tmp_path, text))


@pytest.mark.parametrize("letter", string.ascii_lowercase)
def test_free_names_from_u_to_z_are_variables(tmp_path: Path, letter: str) -> None:
    found = read(tmp_path, f"formulas(goals). p({letter}) & q({letter}1). end_of_list.", "any.in")
    free = f"∀{letter} ∀{letter}1 " if letter >= "u" else ""
    assert alpha_equivalent(goal_of(found), parse_formula(f"{free}(p({letter}) ∧ q({letter}1))"))
    prolog = f"set(prolog_style_variables). formulas(goals). p({letter}) & q({letter.upper()}). end_of_list."
    expected = parse_formula(f"∀x9 (p({letter}) ∧ q(x9))")
    assert alpha_equivalent(goal_of(read(tmp_path, prolog, "any.in")), expected)


def test_notes_of_what_a_reader_might_miss(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, "formulas(goals). likes(zoe, x).", "any.in").values()
    assert problem.notes == (
        "no end_of_list ends the last list",
        "free names that begin with u to z are variables in Prover9: zoe",
    )
    (problem,) = read(tmp_path, "% Status : CounterSatisfiable\nfof(g, conjecture, p).").values()
    assert problem.notes == (
        "the status 'CounterSatisfiable' does not tell the answer, which may be False or Uncertain",
    )


def test_a_text_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not UTF-8"):
        read_problems(write(tmp_path, b"fof(g, conjecture, p\xe9)."), format="tptp")


def test_these_files_have_one_notation_and_no_repair(tmp_path: Path) -> None:
    file = write(tmp_path, "fof(a, axiom, p).\nfof(c, conjecture, p).\n", "p.p")
    assert [*read_problems(file, notation="tptp")] == [*read_problems(file)] == ["p/c"]
    for refused in ({"notation": "textbook"}, {"repair": True}):
        with pytest.raises(DataError, match="tptp has a grammar of its own"):
            read_problems(file, **refused)


def test_numbers_are_refused_where_the_last_of_them_stands(tmp_path: Path) -> None:
    lines = ["formulas(assumptions).", "  p(1).", "  q(2).", "  r(a).", "  s(3).", "end_of_list."]
    (tmp_path / "n.in").write_text("\n".join([*lines, "formulas(goals).", "  p(a).", "end_of_list.", ""]))
    [rejected] = read_problems(tmp_path / "n.in").rejected
    assert [reason.partition(" are constants")[0] for reason in rejected.reasons] == ["line 5: the numbers 1, 2, 3"]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("set(auto).\nformulas(sos).\n", True),
        ("% a comment\nlist(usable).\n", True),
        ("set(auto).\n", False),
        ("some text, then formulas(sos).\n", False),
    ],
)
def test_an_input_of_prover9_begins_like_one_and_has_a_list(text: str, is_one: bool) -> None:
    assert prover9.recognises(text) is is_one
