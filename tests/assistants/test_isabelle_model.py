"""Countermodels as Isabelle theorems: a reader evaluates them and agrees with the reference evaluator.

The reader stands in for Isabelle's simplifier: it takes the types' elements from the theory file, the symbols from what
``exI`` is given, and computes the statement's value. It shares nothing with the writer but the syntax of formulas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proof_r1_formal.assistants.certificate import OpenCertificate
from proof_r1_formal.assistants.isabelle import IsabelleTheorem
from proof_r1_formal.assistants.isabelle_model import refutation
from proof_r1_formal.assistants.isar import isar_theorems, isar_theory
from proof_r1_formal.assistants.small_models import MAX_ATOMS, MAX_ELEMENTS, MAX_VALUES
from proof_r1_formal.errors import StructureError
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import ENTITY, Formula, Not, Var
from proof_r1_formal.render import isabelle
from proof_r1_formal.resources import resource
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.assistants.isabelle_terms import Expression, Names, Reader, formula_of

DOMAINS_FILE = (resource("theories") / "isabelle" / "Proof_R1_Domains.thy").read_text(encoding="utf-8")
DATATYPES = re.findall(r"^datatype (\w+) = (.*)$", DOMAINS_FILE, re.MULTILINE)
DOMAINS = {name: tuple(elements.split(" | ")) for name, elements in DATATYPES}

Value: TypeAlias = "bool | str | Callable[..., bool | str]"


# -- the reader -------------------------------------------------------------------------------------------------------


class Refutation(NamedTuple):
    """A theorem as read.

    Attributes:
        types: the type of each symbol.
        claims: the formulas of the conjunction.
        domains: the type of each sort, by its variables.
        holds: whether the statement is true with the witnesses of the proof.
    """

    types: dict[str, str]
    claims: tuple[Formula, ...]
    domains: dict[str, str]
    holds: bool


@dataclass(frozen=True)
class Typed(Names):
    """Names whose variables have a type of the domains for their sort."""

    domains: dict[str, str] = field(default_factory=dict)

    def variable(self, name: str, sort: str) -> Var:
        found = super().variable(name, f"'{name.split(chr(39))[1]}")
        assert self.domains.setdefault(found.sort, sort) == sort, "a sort has two types"
        return found


def read(theorem: IsabelleTheorem, claims: int) -> Refutation:
    """The theorem, whose conjunction has so many parts; anything that is not as it should be is an AssertionError."""
    found = re.fullmatch(
        r'  "(?:\\<exists>((?:\(\w+ :: [^()]*\)(?:\n     )?)+)\.\n     )?([^"]*)"\n', theorem.statement
    )
    assert found, theorem.statement
    types = dict(re.findall(r"\((\w+) :: ([^()]*)\)", found[1] or ""))
    assert "\n     ".join(f"({name} :: {type_})" for name, type_ in types.items()) == (found[1] or "")
    body = Reader(found[2]).whole()
    steps = re.fullmatch(
        r"  by \(((?:rule exI\[where x = \"[^\"]*\"\],\n      )*)(simp add: [\w ]+)\)\n", theorem.proof
    )
    assert steps, theorem.proof
    given_ = re.findall(r'where x = "([^"]*)"', steps[1])
    symbols = {name: witness(text, type_) for (name, type_), text in zip(types.items(), given_, strict=True)}
    elements: dict[str, Value] = {element: element for domain in DOMAINS.values() for element in domain}
    names, parts, rest = Typed(), [], body
    for _ in range(claims - 1):
        assert rest.head == r"\<and>"
        part, rest = rest.parts
        parts.append(part)
    formulas = tuple(formula_of(part, names, {}) for part in (*parts, rest))
    used = {*names.domains.values(), *re.findall(r"dom\d", " ".join(types.values()))}
    known = set(steps[2].split()[2:])
    assert {f"{domain}_{kind}" for domain in used for kind in ("all", "ex")} <= known, "simp lacks a lemma of a domain"
    assert known <= {f"{domain}_{kind}" for domain in DOMAINS for kind in ("all", "ex")}
    return Refutation(types, formulas, names.domains, bool(value(body, {**elements, **symbols})))


def value(expression: Expression, known: Mapping[str, Value]) -> Value:
    match expression:
        case Expression("True" | "False" as word, ()):
            return word == "True"
        case Expression(r"\<not>", (body,)):
            return not value(body, known)
        case Expression(r"\<forall>" | r"\<exists>" as binder, (body,), name, type_):
            values = [bool(value(body, {**known, name: element})) for element in DOMAINS[type_]]
            return all(values) if binder == r"\<forall>" else any(values)
        case Expression(operator, (left, right)) if operator.startswith("\\") or operator == "=":
            one, other = value(left, known), value(right, known)
            return {
                "=": one == other,
                r"\<noteq>": one != other,
                r"\<and>": one and other,
                r"\<or>": one or other,
                r"\<longrightarrow>": not one or other,
                r"\<longleftrightarrow>": one == other,
            }[operator]
        case Expression(name, ()):
            return known[name]
    function = known[expression.head]
    assert callable(function)
    return function(*[value(part, known) for part in expression.parts])


def witness(text: str, type_: str) -> Value:
    """What ``exI`` is given for a symbol of a type."""
    *arguments, result = type_.split(r" \<Rightarrow> ")
    bound = " ".join(f"(a{n} :: {argument})" for n, argument in enumerate(arguments))
    opening = rf"\<lambda>{bound}. " if bound else ""
    assert text.startswith(opening)
    body = text[len(opening) :]
    if not arguments:
        assert body in (("True", "False") if result == "bool" else DOMAINS[result])
        return body == "True" if result == "bool" else body
    if result != "bool":
        return cases(body, arguments, result)
    rows = list(product(*[DOMAINS[argument] for argument in arguments]))
    shown = {row: f"({', '.join(row)})" if len(row) > 1 else row[0] for row in rows}
    names = [f"a{n}" for n in range(len(arguments))]
    left = f"({', '.join(names)})" if len(names) > 1 else names[0]
    table = {row for row in rows if re.search(rf"[{{ ]{re.escape(shown[row])}[,}}]", body)}
    assert body == rf"{left} \<in> {{{', '.join(shown[row] for row in rows if row in table)}}}"
    return lambda *row: row in table


def cases(text: str, arguments: Sequence[str], result: str) -> Callable[..., str]:
    tokens = re.findall(r"\(case|of|\)|\||\\<Rightarrow>|a\d|D\d_\d", text)
    table: dict[tuple[str, ...], str] = {}

    def branch(row: tuple[str, ...]) -> None:
        if len(row) == len(arguments):
            table[row] = tokens.pop(0)
            assert table[row] in DOMAINS[result]
            return
        assert [tokens.pop(0) for _ in range(3)] == ["(case", f"a{len(row)}", "of"]
        for element in DOMAINS[arguments[len(row)]]:
            assert [tokens.pop(0) for _ in range(2)] == [element, r"\<Rightarrow>"]
            branch((*row, element))
            assert tokens.pop(0) == (")" if element == DOMAINS[arguments[len(row)]][-1] else "|")

    branch(())
    assert not tokens
    return lambda *row: table[row]


# -- what is written --------------------------------------------------------------------------------------------------


PREMISES = (parse_formula("∀x ∃y likes(x, y)"), parse_formula("cat(tom) ⊕ cat(father(tom))"))
GOAL = parse_formula("∃y ∀x likes(x, y)")
COUNTERMODEL = Structure(
    {ENTITY: 2},
    {"likes": frozenset({(0, 0), (1, 1)}), "cat": frozenset({(1,)})},
    {"father": {(0,): 1, (1,): 1}, "tom": {(): 0}},
)


def test_the_theorem_of_a_countermodel() -> None:
    theorem = refutation(PREMISES, GOAL, COUNTERMODEL)
    assert theorem is not None
    assert (
        theorem.text("goal_fails")
        == r"""theorem goal_fails:
  "\<exists>(p_likes :: dom2 \<Rightarrow> dom2 \<Rightarrow> bool)
     (p_cat :: dom2 \<Rightarrow> bool)
     (f_tom :: dom2)
     (f_father :: dom2 \<Rightarrow> dom2).
     (\<forall>v_x's_Entity::dom2. (\<exists>v_y's_Entity::dom2. (p_likes v_x's_Entity v_y's_Entity)))
     \<and> ((p_cat f_tom) \<noteq> (p_cat (f_father f_tom)))
     \<and> (\<not> (\<exists>v_y's_Entity::dom2. (\<forall>v_x's_Entity::dom2. (p_likes v_x's_Entity v_y's_Entity))))"
  by (rule exI[where x = "\<lambda>(a0 :: dom2) (a1 :: dom2). (a0, a1) \<in> {(D2_0, D2_0), (D2_1, D2_1)}"],
      rule exI[where x = "\<lambda>(a0 :: dom2). a0 \<in> {D2_1}"],
      rule exI[where x = "D2_0"],
      rule exI[where x = "\<lambda>(a0 :: dom2). (case a0 of D2_0 \<Rightarrow> D2_1 | D2_1 \<Rightarrow> D2_1)"],
      simp add: dom2_all dom2_ex)
"""
    )
    assert read(theorem, 3).holds


@st.composite
def claims(draw: st.DrawFn) -> tuple[tuple[Formula, ...], Formula, Structure]:
    """Formulas and a structure for their symbols, which makes them true or false as it comes."""
    signature = draw(strategies.signatures(symbols=strategies.names()))
    formulas = draw(st.lists(strategies.formulas(signature), min_size=1, max_size=4))
    inferred = Signature.infer(formulas)
    assume(inferred.functions.items() <= signature.functions.items())  # a constant may be left without a sort
    assume(inferred.predicates.items() <= signature.predicates.items())
    structure = draw(strategies.structures(signature, max_elements=MAX_ELEMENTS))
    if draw(st.booleans()):  # a countermodel; otherwise nearly none is
        formulas = [formula if evaluate(formula, structure) else Not(formula) for formula in formulas]
        formulas[-1] = Not(formulas[-1])
    return tuple(formulas[:-1]), formulas[-1], structure


@settings(max_examples=300)
@given(claims())
def test_the_theorem_holds_exactly_for_countermodels(drawn: tuple[tuple[Formula, ...], Formula, Structure]) -> None:
    premises, conclusion, structure = drawn
    theorem = refutation(premises, conclusion, structure)
    assume(theorem is not None)
    assert theorem is not None
    found = read(theorem, len(premises) + 1)
    assert found.claims == (*premises, Not(conclusion))
    assert found.domains.items() <= {sort: f"dom{n}" for sort, n in structure.domains.items()}.items()
    expected = all(evaluate(each, structure) for each in premises) and not evaluate(conclusion, structure)
    assert found.holds == expected
    assert theorem.text("t").isascii()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{(D2_0, D2_0), (D2_1, D2_1)}", "{(D2_0, D2_0)}"),
        ("{(D2_0, D2_0), (D2_1, D2_1)}", "{}"),
        ('x = "D2_0"', 'x = "D2_1"'),
        ("D2_0 \\<Rightarrow> D2_1", "D2_0 \\<Rightarrow> D2_0"),
        ("\\<noteq>", "\\<longleftrightarrow>"),
        ("simp add: dom2_all dom2_ex", "simp add: dom2_all"),
        ("simp add: dom2_all dom2_ex", "sorry"),
        (", (D2_1, D2_1)", ", (D2_1)"),
    ],
)
def test_changed_theorems_are_not_true(old: str, new: str) -> None:
    theorem = refutation(PREMISES, GOAL, COUNTERMODEL)
    assert theorem is not None
    changed = IsabelleTheorem(theorem.statement.replace(old, new), theorem.proof.replace(old, new))
    assert changed != theorem
    try:
        held = read(changed, 3).holds
    except (AssertionError, KeyError):
        held = False
    assert not held


def test_structures_beyond_the_bounds_are_no_theorems() -> None:
    def of(elements: int, arity: int) -> IsabelleTheorem | None:
        atom = parse_formula(f"∃x P({', '.join(['x'] * arity)})")
        return refutation([], atom, Structure({ENTITY: elements}, {"P": frozenset()}))

    def table_of(elements: int, arity: int) -> IsabelleTheorem | None:
        equation = parse_formula(f"∃x f({', '.join(['x'] * arity)}) = x")
        values = dict.fromkeys(product(range(elements), repeat=arity), 0)
        return refutation([], Not(equation), Structure({ENTITY: elements}, {}, {"f": values}))

    assert MAX_ELEMENTS == 4
    assert (MAX_ATOMS, MAX_VALUES) == (128, 256)
    assert of(4, 3) is not None
    assert of(2, 7) is not None
    assert of(5, 1) is None
    assert of(4, 4) is None
    assert table_of(4, 4) is not None
    assert table_of(4, 5) is None
    deep = parse_formula("".join(f'∀"x{n}" ' for n in range(8)) + 'P("x0")')  # 4⁸ instances
    assert refutation([], deep, Structure({ENTITY: 4}, {"P": frozenset()})) is None
    with pytest.raises((StructureError, KeyError)):
        refutation([], parse_formula("P(a)"), Structure({ENTITY: 1}))


def test_an_open_answer_has_two_theorems() -> None:
    premises = {"h1": parse_formula("cat(tom)")}
    goal = parse_formula("loud(tom)")
    quiet, loud = (
        Structure({ENTITY: 1}, {"cat": frozenset({(0,)}), "loud": rows}, {"tom": {(): 0}})
        for rows in (frozenset[tuple[int, ...]](), frozenset({(0,)}))
    )
    certificate = OpenCertificate(premises, goal, quiet, loud)
    theorems = isar_theorems(certificate)
    assert list(theorems) == ["goal_fails", "negation_fails"]
    assert [read(theorem, 2).holds for theorem in theorems.values()] == [True, True]
    swapped = isar_theorems(OpenCertificate(premises, goal, loud, quiet))
    assert [read(theorem, 2).holds for theorem in swapped.values()] == [False, False]
    text = isar_theory(certificate, "Open")
    for name, theorem in theorems.items():
        assert theorem.text(name) in text
        assert isabelle.gate("Open", name, imports="Proof_R1") in text


# -- the domains ------------------------------------------------------------------------------------------------------


def test_the_domains_have_their_sizes_and_their_lemmas_say_so() -> None:
    assert {name: len(elements) for name, elements in DOMAINS.items()} == {f"dom{n}": n for n in range(1, 5)}
    assert len({element for elements in DOMAINS.values() for element in elements}) == 10
    for name, elements in DOMAINS.items():
        for kind, binder, joined in (("all", "forall", r" \<and> "), ("ex", "exists", r" \<or> ")):
            spelled = joined.join(f"P {element}" for element in elements)
            lemma = rf'lemma {name}_{kind}: "(\<{binder}>x::{name}. P x) \<longleftrightarrow> {spelled}"'
            assert lemma in DOMAINS_FILE.splitlines()
