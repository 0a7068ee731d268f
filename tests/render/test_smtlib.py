"""SMT-LIB text: it means what the formula means, Z3 and cvc5 read it, and no name can break it."""

from __future__ import annotations

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Eq, ForAll, Formula, Not, Var, atom, const
from proof_r1_formal.render.smtlib import logic_of, script, term
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.render.smtlib_reader import meaning, read

hostile_signatures = strategies.signatures(symbols=strategies.names())


@given(hostile_signatures.flatmap(lambda s: st.tuples(strategies.formulas(s), strategies.structures(s))))
def test_the_text_means_what_the_formula_means(pair: tuple[Formula, Structure]) -> None:
    formula, structure = pair
    assert meaning(read(term(formula)), structure, {}) == evaluate(formula, structure)


# -- other readers ----------------------------------------------------------------------------------------------------


def read_by_z3(text: str) -> None:
    """Raises if Z3 does not read the text."""
    z3.SimpleSolver(ctx=z3.Context()).from_string(text)


def read_by_cvc5(text: str) -> list[str]:
    """The symbols that cvc5 knows after reading; every command must pass."""
    cvc5 = pytest.importorskip("cvc5", reason="cvc5 is not installed (the extra [solvers])")
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("parse-only", "true")
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "text")
    while not (command := parser.nextCommand()).isNull():
        if command.getCommandName() != "check-sat":
            assert command.invoke(solver, symbols) == ""
    return [declared.getSymbol() for declared in (*symbols.getDeclaredTerms(), *symbols.getDeclaredSorts())]


@given(hostile_signatures.flatmap(lambda s: st.lists(strategies.formulas(s), max_size=4)))
def test_z3_and_cvc5_read_the_script(formulas: list[Formula]) -> None:
    text = script(formulas)
    signature = Signature.infer(formulas)
    assert text.isascii()
    read_by_z3(text)
    names = read_by_cvc5(text)
    assert len(names) == len(set(names)) == len(signature.predicates) + len(signature.functions) + len(signature.sorts)


# -- worked examples --------------------------------------------------------------------------------------------------


def test_names_of_sorts_and_variables_stay_apart() -> None:
    first, second = Var("x.s_A", "B"), Var("x", "A.s_B")
    assert term(ForAll(first, Eq(first, first))) != term(ForAll(second, Eq(second, second)))


def test_script_with_sorts_and_functions() -> None:
    person = Var("x", "Person")
    formulas: list[Formula] = [ForAll(person, atom("likes", person, const("rome"))), Not(atom("rains"))]
    assert script(formulas).splitlines() == [
        "(set-logic UF)",
        "(declare-sort s_Person 0)",
        "(declare-sort s_Entity 0)",
        "(declare-fun p_likes (s_Person s_Entity) Bool)",
        "(declare-fun p_rains () Bool)",
        "(declare-fun f_rome () s_Entity)",
        "(assert (forall ((v_x.s_Person s_Person)) (p_likes v_x.s_Person f_rome)))",
        "(assert (not p_rains))",
        "(check-sat)",
    ]


def test_the_logic_is_free_of_quantifiers_where_the_formulas_are() -> None:
    assert logic_of([parse_formula("p(a) ∧ f(a) = b")]) == "QF_UF"
    assert logic_of([parse_formula("p(a)"), parse_formula("¬∃x p(x)")]) == "UF"
    assert logic_of([]) == "QF_UF"


def test_hostile_names_become_plain_symbols() -> None:
    assert term(atom("assert) (check-sat", const("|"), const("Ślęża"))) == (
        "(p_assert_029z_020z_028zcheck_02dzsat f__07cz f__015azl_0119z_017cza)"
    )
