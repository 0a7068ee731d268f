"""Isabelle text: it can be read back, so no two formulas share a text, and no name can break out of its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.errors import SignatureError
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.signature import FunctionType, Signature, mangle
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    App,
    Atom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Var,
    Xor,
    atom,
    const,
)
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.render.isabelle import countermodel_theory, formula_text, proved, query_theory, variable_name
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.names import unmangle

hostile_signatures = strategies.signatures(symbols=strategies.names())

HOSTILE = (
    "sorry",
    "axiomatization",
    "end",
    "∧",
    '"',
    "a\nend\n",
    "\\<close>",
    "*)",
    "x_",
    "__",
    "'a",
    "?x",
    "n" * 10_000,
)


# -- a reader that shares nothing with the renderer -------------------------------------------------------------------

Expression: TypeAlias = "str | list[Expression]"

_BINARY: dict[str, type[And | Or | Xor | Implies | Iff]] = {
    r"\<and>": And,
    r"\<or>": Or,
    r"\<noteq>": Xor,
    r"\<longrightarrow>": Implies,
    r"\<longleftrightarrow>": Iff,
}
_QUANTIFIERS: dict[str, type[ForAll | Exists]] = {r"\<forall>": ForAll, r"\<exists>": Exists}
_IDENTIFIER = r"[a-z](?:[A-Za-z0-9_']*[A-Za-z0-9])?"
_TOKEN = re.compile(rf"\\<[a-z]+>|'?{_IDENTIFIER}|True|False|::|[().=]")


def read_formula(text: str) -> Formula:
    """The formula that is all of a text of type ``bool``."""
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == text.replace(" ", "")
    formula = _formula(_expression(tokens))
    assert not tokens, "text after the formula"
    return formula


def _expression(tokens: list[str]) -> Expression:
    """The next token, or the list of all that its parentheses hold."""
    if (token := tokens.pop(0)) != "(":
        return token
    parts: list[Expression] = []
    while tokens[0] != ")":
        parts.append(_expression(tokens))
    tokens.pop(0)
    return parts


def _formula(expression: Expression) -> Formula:
    match expression:
        case "True":
            return TOP
        case "False":
            return BOTTOM
        case str(name):
            return Atom(unmangle(name, "p"), ())
        case [r"\<not>", body]:
            return Not(_formula(body))
        case [r"\<forall>" | r"\<exists>" as quantifier, str(name), "::", sort, ".", body]:
            variable = _variable(name)
            assert sort == f"'{mangle(variable.sort, 's')}"
            return _QUANTIFIERS[quantifier](variable, _formula(body))
        case [left, "=", right]:
            return Eq(_term(left), _term(right))
        case [left, str(connective), right] if connective in _BINARY:
            return _BINARY[connective](_formula(left), _formula(right))
        case [str(name), _, *_]:
            return Atom(unmangle(name, "p"), tuple(map(_term, expression[1:])))
    raise AssertionError(f"no formula: {expression}")


def _term(expression: Expression) -> Term:
    match expression:
        case str(name) if "'" in name:
            return _variable(name)
        case str(name):
            return const(f"␣{name[1:]}" if name.startswith("z") else unmangle(name, "f"))
        case [str(name), _, *_]:
            return App(unmangle(name, "f"), tuple(map(_term, expression[1:])))
    raise AssertionError(f"no term: {expression}")


def _variable(name: str) -> Var:
    own, sort = name.split("'")
    return Var(f"␣{own[1:]}" if own.startswith("z") else unmangle(own, "v"), unmangle(sort, "s"))


def read_type(text: str) -> list[str]:
    """The sorts of arguments and result of a type; ``bool`` is the empty name."""
    return ["" if part == "bool" else unmangle(part, "'s") for part in text.split(r" \<Rightarrow> ")]


def read_statement(text: str) -> tuple[Query, Signature]:
    """The query and the types of a lemma that is all of ``text``."""
    head, *lines, shown = text.splitlines()
    assert head == "lemma q:"
    clauses: dict[str, list[tuple[str, str]]] = {"fixes": [], "assumes": []}
    keyword = ""
    for line in lines:
        keyword = line.split()[0] if line.startswith("  ") and line[2] != " " else keyword
        item = re.fullmatch(rf'  (?:{keyword}|  and) ({_IDENTIFIER})( ::|:) "([^"]*)"', line)
        assert item
        assert item[2] == (" ::" if keyword == "fixes" else ":")
        clauses[keyword].append((item[1], item[3]))
    assert [name for name, _ in clauses["assumes"]] == [f"d{number + 1}" for number in range(len(clauses["assumes"]))]
    types = {name: read_type(text) for name, text in clauses["fixes"]}
    predicates = {unmangle(name, "p"): tuple(type_[:-1]) for name, type_ in types.items() if type_[-1] == ""}
    functions = {
        unmangle(name, "f"): FunctionType(tuple(type_[:-1]), type_[-1]) for name, type_ in types.items() if type_[-1]
    }
    conclusion = re.fullmatch(r'  shows "([^"]*)"', shown)
    assert conclusion
    query = Query(tuple(read_formula(formula) for _, formula in clauses["assumes"]), read_formula(conclusion[1]))
    return query, Signature(predicates, functions)


def statement_of(theory: str, name: str) -> str:
    """The statement of the one lemma of a theory, when all else in it is as it should be."""
    begin, end = f"theory {name}\n  imports Main\nbegin\n\n", f"\n{gate(name, 'q')}\nend\n"
    assert theory.startswith(begin)
    assert theory.endswith(end)
    statement, proof = theory[len(begin) : -len(end)].rsplit("\n  ", 1)
    assert re.fullmatch(r"(using( d\d+)+ )?by blast\n", proof)
    return f"{statement}\n"


def gate(theory: str, lemma: str) -> str:
    """The command behind a lemma that fails if an oracle or an axiom made it."""
    return rf"""ML \<open>
  val oracles = Thm_Deps.all_oracles [@{{thm {lemma}}}];
  val _ = null oracles orelse error ("ORACLES: " ^ commas (map (#1 o #1) oracles));
  val axioms = length (Theory.all_axioms_of @{{theory}}) - length (Theory.all_axioms_of @{{theory Main}});
  val _ = axioms = 0 orelse error ("AXIOMS: " ^ string_of_int axioms);
  val _ = writeln "PROVED {theory}.{lemma}";
\<close>
"""


# -- properties -------------------------------------------------------------------------------------------------------


@given(hostile_signatures.flatmap(strategies.formulas))
def test_text_reads_back(formula: Formula) -> None:
    text = formula_text(formula)
    assert text.isascii()
    assert read_formula(text) is formula
    assert read_formula(formula_text(alpha_normal(formula))) is alpha_normal(formula)


@given(strategies.signatures().flatmap(lambda s: st.lists(strategies.formulas(s, max_size=6), min_size=2, max_size=8)))
def test_different_alpha_normal_forms_have_different_texts(formulas: Sequence[Formula]) -> None:
    normal = set(map(alpha_normal, formulas))
    assert len(set(map(formula_text, normal))) == len(normal)


@given(hostile_signatures.flatmap(strategies.queries))
def test_statements_read_back_with_their_types(query: Query) -> None:
    read, signature = read_statement(statement_of(query_theory(query, "T"), "T"))
    expected = Signature.infer(query.formulas)
    assert read == query
    assert (signature.predicates, signature.functions) == (expected.predicates, expected.functions)


@given(hostile_signatures.flatmap(strategies.queries))
def test_the_search_for_a_countermodel_asks_one_implication(query: Query) -> None:
    theory = countermodel_theory(query, "T", max_size=7, seconds=3)
    begin, end = (
        "theory T\n  imports Main\nbegin\n\n",
        "  nitpick [expect = genuine, card = 1-7, timeout = 3]\n  oops\n\nend\n",
    )
    assert theory.startswith(begin)
    assert theory.endswith(end)
    read, _ = read_statement(theory[len(begin) : -len(end)])
    assert read.dependencies == ()
    formula, dependencies = read.conclusion, []
    for _ in query.dependencies:
        assert isinstance(formula, Implies)
        dependencies.append(formula.left)
        formula = formula.right
    assert Query(tuple(dependencies), formula) == query


# -- names ------------------------------------------------------------------------------------------------------------


@given(strategies.names(), strategies.names())
def test_identifiers_are_what_isabelle_takes(name: str, sort: str) -> None:
    for identifier in (mangle(name, "p"), mangle(name, "f"), variable_name(Var(name, sort))):
        assert re.fullmatch(_IDENTIFIER, identifier)
        assert "''" not in identifier


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_inside_their_place(name: str) -> None:
    x = Var(name, name)
    query = Query((ForAll(x, atom(name, x, App(f"{name} of", (x,)))),), Exists(x, Eq(x, const(f"one {name}"))))
    theory = query_theory(query, "T")
    assert theory.isascii()
    assert read_statement(statement_of(theory, "T"))[0] == query


def test_variables_of_one_name_and_two_sorts_differ() -> None:
    cat, dog = Var("x", "Cat"), Var("x", "Dog")
    assert formula_text(ForAll(cat, Exists(dog, atom("Chases", dog, cat)))) == (
        r"(\<forall>v_x's_Cat::'s_Cat. (\<exists>v_x's_Dog::'s_Dog. (p_Chases v_x's_Dog v_x's_Cat)))"
    )


@pytest.mark.parametrize("name", ["", "1st", "a b", "T_", "_T", "Ü", 'T"', "T\n", "T'", "A.B"])
def test_theory_names_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="is not a theory name"):
        query_theory(RULE, name)


# -- worked examples --------------------------------------------------------------------------------------------------

RULE = Query((parse_formula("∀x:E (cat(x) → owner(x) = tom)"),), parse_formula("¬dog(tom)"))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("a ∧ b", r"(p_a \<and> p_b)"),
        ("a ∨ b", r"(p_a \<or> p_b)"),
        ("a ⊕ b", r"(p_a \<noteq> p_b)"),
        ("a → b", r"(p_a \<longrightarrow> p_b)"),
        ("a ↔ b", r"(p_a \<longleftrightarrow> p_b)"),
        ("¬a", r"(\<not> p_a)"),
        ("a → (b → c)", r"(p_a \<longrightarrow> (p_b \<longrightarrow> p_c))"),
        ("likes(tom, mother(ann))", "(p_likes f_tom (f_mother f_ann))"),
        ("tom = ann", "(f_tom = f_ann)"),
        ("∃x:Person likes(x, x)", r"(\<exists>v_x's_Person::'s_Person. (p_likes v_x's_Person v_x's_Person))"),
        ('∀"x" ¬rains', r"(\<forall>v_x's_Entity::'s_Entity. (\<not> p_rains))"),
    ],
)
def test_terms(formula: str, expected: str) -> None:
    assert formula_text(parse_formula(formula)) == expected


def test_truth_values() -> None:
    assert (formula_text(TOP), formula_text(BOTTOM)) == ("True", "False")


def test_a_theory() -> None:
    assert query_theory(RULE, "Cats", proof="by metis") == (
        r"""theory Cats
  imports Main
begin

lemma q:
  fixes p_cat :: "'s_E \<Rightarrow> bool"
    and p_dog :: "'s_Entity \<Rightarrow> bool"
    and f_owner :: "'s_E \<Rightarrow> 's_Entity"
    and f_tom :: "'s_Entity"
  assumes d1: "(\<forall>v_x's_E::'s_E. ((p_cat v_x's_E) \<longrightarrow> ((f_owner v_x's_E) = f_tom)))"
  shows "(\<not> (p_dog f_tom))"
  using d1 by metis

"""
        + gate("Cats", "q")
        + "\nend\n"
    )


def test_the_search_for_a_countermodel() -> None:
    query = Query((atom("p"), TOP), atom("q"))
    assert countermodel_theory(query, "T") == (
        r"""theory T
  imports Main
begin

lemma q:
  fixes p_p :: "bool"
    and p_q :: "bool"
  shows "(p_p \<longrightarrow> (True \<longrightarrow> p_q))"
  nitpick [expect = genuine, card = 1-10, timeout = 30]
  oops

end
"""
    )


def test_what_the_gate_writes() -> None:
    assert f'writeln "{proved("T")}"' in query_theory(RULE, "T")


def test_sorts_of_their_own() -> None:
    person = Var("x", "Person")
    _, signature = read_statement(
        statement_of(query_theory(Query((), ForAll(person, atom("at", person, const("rome")))), "T"), "T")
    )
    assert signature.predicates == {"at": ("Person", ENTITY)}
    assert signature.functions == {"rome": FunctionType((), ENTITY)}


def test_a_symbol_that_is_used_in_two_ways() -> None:
    for theory in (query_theory, countermodel_theory):
        with pytest.raises(SignatureError):
            theory(Query((atom("p"),), atom("p", const("a"))), "T")


def test_deep_formulas() -> None:
    formula: Formula = atom("p")
    for _ in range(5_000):
        formula = Not(formula)
    assert formula_text(formula).count(r"\<not>") == 5_000
