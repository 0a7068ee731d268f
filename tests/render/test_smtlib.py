"""SMT-LIB text: it means what the formula means, Z3 and cvc5 read it, and no name can break it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.errors import ParseError, SignatureError
from proof_r1_formal.kernel.model import Element, Structure, evaluate
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import BOTTOM, TOP, Eq, Exists, ForAll, Formula, Not, Var, atom, const
from proof_r1_formal.render.smtlib import declarations, logic_of, script, term
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.names import unmangle

Expression: TypeAlias = "str | list[Expression]"

hostile_signatures = strategies.signatures(symbols=strategies.names())


# -- a reader of SMT-LIB terms that shares nothing with the renderer --------------------------------------------------


def read(text: str) -> Expression:
    """The S-expression that is all of ``text``."""

    def one(tokens: Iterator[str]) -> Expression | None:
        token = next(tokens)
        if token == ")":
            return None
        if token != "(":
            return token
        parts: list[Expression] = []
        while (part := one(tokens)) is not None:
            parts.append(part)
        return parts

    tokens = iter(re.findall(r"[()]|[^()\s]+", text))
    expression = one(tokens)
    assert expression is not None
    assert next(tokens, None) is None, "text after the term"
    return expression


def meaning(expression: Expression, structure: Structure, values: Mapping[str, Element]) -> int:
    """The value of an SMT-LIB term: an element, or a truth value as 0 or 1."""
    match expression:
        case "true" | "false":
            return int(expression == "true")
        case str() if expression in values:
            return values[expression]
        case str():
            return applied(expression, (), structure)
        case ["not", body]:
            return 1 - meaning(body, structure, values)
        case ["and" | "or" | "xor" | "=>" | "=" as operator, first, second]:
            left, right = meaning(first, structure, values), meaning(second, structure, values)
            table = {"and": left and right, "or": left or right, "xor": left != right, "=>": not left or right}
            return int(left == right if operator == "=" else bool(table[operator]))
        case ["forall" | "exists" as quantifier, [[str(variable), str(sort)]], body]:
            domain = range(structure.domains[unmangle(sort, "s")])
            found = [meaning(body, structure, {**values, variable: element}) for element in domain]
            return int(all(found) if quantifier == "forall" else any(found))
        case [str(symbol), *arguments]:
            return applied(symbol, tuple(meaning(each, structure, values) for each in arguments), structure)
    raise AssertionError(f"no SMT-LIB term: {expression}")


def applied(symbol: str, arguments: tuple[Element, ...], structure: Structure) -> int:
    if symbol.startswith("p_"):
        return int(arguments in structure.predicates[unmangle(symbol, "p")])
    return structure.functions[unmangle(symbol, "f")][arguments]


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


@pytest.mark.shared
def test_z3_and_cvc5_read_real_problems(shared_data: Path) -> None:
    read_scripts = 0
    for name in ("easy", "medium", "hard"):
        for record in islice(json.loads((shared_data / "proverqa" / f"{name}.json").read_text()), 0, None, 10):
            try:
                formulas = [parse_formula(text) for text in (*record["nl2fol"].values(), record["conclusion_fol"])]
                text = script(formulas)
            except (ParseError, SignatureError):
                continue
            read_by_z3(text)
            assert read_by_cvc5(text)
            read_scripts += 1
    assert read_scripts > 80


# -- worked examples --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("a ∧ b", "(and p_a p_b)"),
        ("a ∨ b", "(or p_a p_b)"),
        ("a ⊕ b", "(xor p_a p_b)"),
        ("a → b", "(=> p_a p_b)"),
        ("a ↔ b", "(= p_a p_b)"),
        ("¬a", "(not p_a)"),
        ("a → (b → c)", "(=> p_a (=> p_b p_c))"),
        ("likes(tom, mother(ann))", "(p_likes f_tom (f_mother f_ann))"),
        ("tom = ann", "(= f_tom f_ann)"),
        ("∃x:Person likes(x, x)", "(exists ((v_x.s_Person s_Person)) (p_likes v_x.s_Person v_x.s_Person))"),
    ],
)
def test_terms(formula: str, expected: str) -> None:
    assert term(parse_formula(formula)) == expected


def test_truth_values() -> None:
    assert (term(TOP), term(BOTTOM)) == ("true", "false")


def test_variables_of_one_name_and_two_sorts_differ() -> None:
    cat, dog = Var("x", "Cat"), Var("x", "Dog")
    formula = ForAll(cat, Exists(dog, atom("Chases", dog, cat)))
    assert term(formula) == ("(forall ((v_x.s_Cat s_Cat)) (exists ((v_x.s_Dog s_Dog)) (p_Chases v_x.s_Dog v_x.s_Cat)))")


def test_names_of_sorts_and_variables_stay_apart() -> None:
    first, second = Var("x.s_A", "B"), Var("x", "A.s_B")
    assert term(ForAll(first, Eq(first, first))) != term(ForAll(second, Eq(second, second)))


def test_an_inner_quantifier_hides_an_outer_one() -> None:
    formula = parse_formula("∀x:S (p(x) ∧ ∃x:S q(x))")
    assert term(formula) == "(forall ((v_x.s_S s_S)) (and (p_p v_x.s_S) (exists ((v_x.s_S s_S)) (p_q v_x.s_S))))"


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


def test_a_symbol_used_in_two_ways_is_refused() -> None:
    with pytest.raises(SignatureError, match="predicate of 1 argument"):
        script((atom("p"), atom("p", const("a"))))


def test_nesting_is_no_limit() -> None:
    formula: Formula = atom("p")
    for _ in range(5_000):
        formula = Not(formula)
    assert term(formula).count("(not ") == 5_000


def test_sorts_without_symbols_are_declared() -> None:
    assert declarations(Signature.infer([parse_formula('∀"x":Ghost ⊥')])) == ["(declare-sort s_Ghost 0)"]
