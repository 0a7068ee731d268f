"""Isabelle text: it can be read back, so no two formulas share a text, and no name can break out of its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Formula, Implies
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.render.isabelle import countermodel_theory, formula_text, query_theory
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.assistants.isabelle_terms import read_formula, read_statement

hostile_signatures = strategies.signatures(symbols=strategies.names())


def read_lemma(text: str) -> tuple[Query, Signature]:
    """The query and the types of a lemma that is all of ``text``."""
    head, *lines = text.splitlines()
    assert head == "lemma q:"
    signature, assumptions, shown = read_statement(lines)
    assert not lines
    assert list(assumptions) == [f"d{number}" for number in range(1, len(assumptions) + 1)]
    return Query(tuple(map(read_formula, assumptions.values())), read_formula(shown)), signature


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


@given(hostile_signatures.flatmap(strategies.queries))
def test_statements_read_back_with_their_types(query: Query) -> None:
    read, signature = read_lemma(statement_of(query_theory(query, "T"), "T"))
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
    read, _ = read_lemma(theory[len(begin) : -len(end)])
    assert read.dependencies == ()
    formula, dependencies = read.conclusion, []
    for _ in query.dependencies:
        assert isinstance(formula, Implies)
        dependencies.append(formula.left)
        formula = formula.right
    assert Query(tuple(dependencies), formula) == query


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "1st", "a b", "T_", "_T", "Ü", 'T"', "T\n", "T'", "A.B"])
def test_theory_names_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="is not a theory name"):
        query_theory(RULE, name)


# -- worked examples --------------------------------------------------------------------------------------------------

RULE = Query((parse_formula("∀x:E (cat(x) → owner(x) = tom)"),), parse_formula("¬dog(tom)"))


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
