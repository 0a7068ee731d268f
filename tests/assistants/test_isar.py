"""Isabelle/HOL: what the theories say, and certificates as Isar proofs.

A reader of the fragment of Isabelle that they are written in stands in for Isabelle where there is none: terms by
Isabelle's priorities, structured proofs, and ``rule`` with ``where`` and ``OF`` as matching against lemmas as the
theory files state them. It shares nothing with what writes certificates but formulas and substitution.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import assume, given, settings

from proof_r1_formal.assistants import isar
from proof_r1_formal.assistants.certificate import ANSWER, Certificate, CertifiedStep
from proof_r1_formal.assistants.isabelle import theory_of
from proof_r1_formal.data.problem import Premise, Problem, three_way_options
from proof_r1_formal.errors import ProofError
from proof_r1_formal.evidence.checker import check
from proof_r1_formal.evidence.lemmas import elimination, lemma_of_introduction, written
from proof_r1_formal.evidence.term import (
    TRUTH_TABLES,
    Absurd,
    Contradiction,
    Instance,
    Proof,
    Repeat,
    Signed,
    Suppose,
    Witness,
)
from proof_r1_formal.logic.model import Structure
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.query import Query
from proof_r1_formal.logic.signature import FunctionType, Signature, mangle
from proof_r1_formal.logic.symbols import symbols
from proof_r1_formal.logic.syntax import (
    BOTTOM,
    ENTITY,
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
from proof_r1_formal.logic.transform import alpha_equivalent, alpha_normal, instantiate, substitute
from proof_r1_formal.proof.certify import certify
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import isabelle
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.check import Match, check_rule
from proof_r1_formal.rules.schema import Rule, Schema
from proof_r1_formal.rules.theorems import instance_proof
from proof_r1_formal.search.prover import search
from proof_r1_formal.solvers.embedded import EmbeddedSolver
from proof_r1_formal.solvers.oracle import Oracle
from proof_r1_formal.testing import strategies
from tests.assistants.isabelle_terms import (
    IDENTIFIER,
    LEMMA,
    PROBLEM,
    SCHEMATIC,
    Reader,
    formula_of,
    read_formula,
    term_of,
)
from tests.builders import question
from tests.names import unmangle

THEORIES = resource("theories") / "isabelle"
LEAN = resource("theories") / "lean" / "ProofR1"


# -- lemmas -----------------------------------------------------------------------------------------------------------


class Lemma(NamedTuple):
    """Premises and a conclusion; names that begin with ``SCHEMATIC`` stand for anything."""

    premises: tuple[Formula, ...]
    conclusion: Formula


def read_lemma(text: str) -> Lemma:
    expression, premises = Reader(text).whole(), []
    while expression.head == r"\<Longrightarrow>":
        premise, expression = expression.parts
        premises.append(formula_of(premise, LEMMA, {}))
    return Lemma(tuple(premises), formula_of(expression, LEMMA, {}))


_LEMMA = re.compile(r'^lemma (\w+):\s+"([^"]*)" by (\w+)$', re.MULTILINE)


def lemmas_of(theory: str) -> dict[str, Lemma]:
    return {name: read_lemma(text) for name, text, _ in _LEMMA.findall((THEORIES / f"{theory}.thy").read_text())}


LOGIC, SCHEMATA = lemmas_of("Proof_R1_Logic"), lemmas_of("Proof_R1_Schemata")
HOL = {
    "TrueI": "True",
    "FalseE": r"False \<Longrightarrow> P",
    "notE": r"\<not> P \<Longrightarrow> P \<Longrightarrow> R",
    "refl": "t = t",
}
"""Lemmas of Main, as Isabelle states them."""
KNOWN = {**LOGIC, **SCHEMATA, **{name: read_lemma(text) for name, text in HOL.items()}}


def schematic(formula: Formula) -> bool:
    return any(name.startswith(SCHEMATIC) for name, _ in symbols(formula).uses)


class Lambda(NamedTuple):
    variables: tuple[Var, ...]
    body: Formula


Values: TypeAlias = dict[str, "Lambda | Term"]


def filled(pattern: Formula, values: Values) -> Formula:
    """The pattern with what some of its variables stand for."""
    match pattern:
        case Atom(name, arguments):
            given_ = [filled_term(each, values) for each in arguments]
            value = values.get(name)
            if value is None:
                return Atom(name, tuple(given_))
            assert isinstance(value, Lambda)
            assert len(value.variables) == len(given_)
            return substitute(value.body, dict(zip(value.variables, given_, strict=True)))
        case Eq(left, right):
            return Eq(filled_term(left, values), filled_term(right, values))
        case Not(body):
            return Not(filled(body, values))
        case ForAll(variable, body) | Exists(variable, body):
            sorts = {v.sort for value in values.values() if isinstance(value, Lambda) for v in value.variables}
            assert len(sorts) <= 1
            actual = Var(variable.name, sorts.pop() if sorts else variable.sort)
            return type(pattern)(actual, filled(substitute(body, {variable: actual}), values))
        case And() | Or() | Xor() | Implies() | Iff():
            return type(pattern)(filled(pattern.left, values), filled(pattern.right, values))
    return pattern


def filled_term(term: Term, values: Values) -> Term:
    value = values.get(term.function) if isinstance(term, App) else None
    assert not isinstance(value, Lambda)
    return term if value is None else value


def fits(pattern: Formula, formula: Formula) -> Values:
    """What a pattern's variables stand for where it is the formula; only those without arguments may be left."""
    match pattern, formula:
        case Atom(name, ()), _ if name.startswith(SCHEMATIC):
            return {name: Lambda((), formula)}
        case _ if not schematic(pattern):
            assert alpha_equivalent(pattern, formula), f"{pattern} is not {formula}"
            return {}
        case Eq(App(left, ()), App(right, ())), Eq(one, other) if left == right:
            assert one is other
            return {left: one}
        case Not(inner), Not(body):
            return fits(inner, body)
        case ((And() | Or() | Xor() | Implies() | Iff()), (And() | Or() | Xor() | Implies() | Iff())):
            assert type(pattern) is type(formula)
            values = fits(pattern.left, formula.left)
            return {**values, **fits(filled(pattern.right, values), formula.right)}
    raise AssertionError(f"{pattern} does not fit {formula} without more instantiations")


# -- proofs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """What is known at a place of a proof."""

    signature: Signature
    facts: Mapping[str, Formula] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)

    def with_fact(self, name: str, formula: Formula) -> Scope:
        assert re.fullmatch(IDENTIFIER, name)
        assert name not in self.facts, f"{name} is there twice"
        assert name not in KNOWN
        return Scope(self.signature, {**self.facts, name: formula}, self.constants)

    def with_constant(self, name: str, sort: str) -> Scope:
        assert name not in self.constants, f"{name} is not new"
        assert name not in self.signature.functions
        return Scope(self.signature, self.facts, {**self.constants, name: sort})

    def typed(self, formula: Formula, bound: Iterable[Var] = ()) -> Formula:
        """The formula, if its symbols are there and its terms have the sorts that they should have."""
        match formula:
            case Atom(predicate, arguments):
                sorts = self.signature.predicates[predicate]
                assert tuple(self.sort(each, bound) for each in arguments) == sorts
            case Eq(left, right):
                assert self.sort(left, bound) == self.sort(right, bound)
            case Not(body):
                self.typed(body, bound)
            case ForAll(variable, body) | Exists(variable, body):
                self.typed(body, (*bound, variable))
            case And() | Or() | Xor() | Implies() | Iff():
                self.typed(formula.left, bound)
                self.typed(formula.right, bound)
        return formula

    def sort(self, term: Term, bound: Iterable[Var] = ()) -> str:
        match term:
            case Var():
                assert term in bound
                return term.sort
            case App(name, ()) if name in self.constants:
                return self.constants[name]
        type_ = self.signature.functions[term.function]
        assert tuple(self.sort(each, bound) for each in term.arguments) == type_.arguments
        return type_.result

    def formula(self, text: str) -> Formula:
        return self.typed(read_formula(text))


_FACT_TOKEN = re.compile(r'"[^"]*"|\w+|[\[\],=]')


class FactReader:
    """Reads and applies ``lemma[where P="…" and t="…", OF fact fact]``."""

    def __init__(self, text: str, scope: Scope) -> None:
        self._tokens: list[str] = _FACT_TOKEN.findall(text)
        self._scope = scope
        assert "".join(self._tokens) == re.sub(r"\s(?=[^\"]*(\"[^\"]*\"[^\"]*)*$)", "", text), f"no fact: {text}"

    def whole(self) -> Lemma:
        read = self._fact()
        assert not self._tokens, f"left over: {self._tokens}"
        return read

    def _next(self, *expected: str) -> str:
        token = self._tokens.pop(0)
        assert not expected or token in expected, f"{token} in place of {expected}"
        return token

    def _fact(self) -> Lemma:
        name = self._next()
        fact = self._scope.facts.get(name)
        lemma = KNOWN[name] if fact is None else Lemma((), fact)
        if self._tokens and self._tokens[0] == "[":
            self._next("[")
            kind = self._next("where", "OF")
            if kind == "where":
                lemma = self._instantiated(lemma)
                kind = self._next(",", "]")
                kind = kind if kind == "]" else self._next("OF")
            if kind == "OF":
                while self._tokens[0] != "]":
                    lemma = self._applied(lemma)
                self._next("]")
        return lemma

    def _instantiated(self, lemma: Lemma) -> Lemma:
        values: Values = {}
        sorts: set[str] = set()
        variables = {name: use for part in (*lemma.premises, lemma.conclusion) for name, use in symbols(part).uses}
        while True:
            name = f"{SCHEMATIC}{self._next()}"
            self._next("=")
            expression, bound = Reader(self._next()[1:-1]).whole(), dict[str, Var]()
            kind, arity = variables.pop(name)
            while expression.head == r"\<lambda>":
                bound[expression.name] = PROBLEM.variable(expression.name, expression.sort)
                (expression,) = expression.parts
            assert len(bound) == (arity if kind == "predicate" else 0)
            if kind == "predicate":
                body = formula_of(expression, PROBLEM, bound)
                values[name] = Lambda(tuple(bound.values()), self._scope.typed(body, bound.values()))
            else:
                term = term_of(expression, PROBLEM, {})
                values[name] = term
                sorts.add(self._scope.sort(term))
            sorts |= {variable.sort for variable in bound.values()}
            if self._tokens[0] != "and":
                break
            self._next("and")
        assert len(sorts) <= 1, "a lemma is used with two types for one"
        return Lemma(tuple(filled(part, values) for part in lemma.premises), filled(lemma.conclusion, values))

    def _applied(self, lemma: Lemma) -> Lemma:
        given_ = self._fact()
        assert not given_.premises
        assert not schematic(given_.conclusion)
        first, *rest = lemma.premises
        values = fits(first, given_.conclusion)
        return Lemma(tuple(filled(part, values) for part in rest), filled(lemma.conclusion, values))


def rule(text: str, goal: Formula, scope: Scope) -> tuple[Formula, ...]:
    """What is left to show after applying a rule to a goal."""
    premises, conclusion = FactReader(text, scope).whole()
    values = fits(conclusion, goal)
    left = tuple(filled(part, values) for part in premises)
    assert not any(map(schematic, left))
    return left


class ProofReader:
    """Reads and checks the lines of a structured proof."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self.statements: list[Formula] = []

    def _next(self, pattern: str) -> re.Match[str]:
        found = re.fullmatch(pattern, self.lines.pop(0).strip())
        assert found, f"no {pattern}"
        return found

    def proof(self, goal: Formula, scope: Scope) -> None:
        """The proof of a goal, whole."""
        if self.lines[0].strip().startswith("by "):
            assert rule(self._next(r"by \(rule (.*)\)")[1], goal, scope) == ()
            return
        method = self._next(r"proof (-|\(rule .*\))")[1]
        name = method.removeprefix("(rule ").removesuffix(")")
        match name, goal:
            case "-", _:
                self._steps(goal, scope, scope)
            case "impI", Implies(left, right):
                self._steps(right, self._assumed(left, scope), scope)
            case "notI", Not(body):
                self._steps(BOTTOM, self._assumed(body, scope), scope)
            case "ccontr", _:
                self._steps(BOTTOM, self._assumed(Not(goal), scope), scope)
            case "allI", ForAll(variable, _):
                constant, inside = self._fixed(scope)
                assert inside.constants[constant] == variable.sort
                self._steps(instantiate(goal, const(constant)), inside, inside)
            case _:
                (left_,) = rule(name, goal, scope)
                self._steps(left_, scope, scope)
        self._next("qed")

    def _assumed(self, formula: Formula, scope: Scope) -> Scope:
        name, text = self._next(r'assume (\w+): "(.*)"').groups()
        assert alpha_equivalent(scope.formula(text), formula), "what is assumed is not what may be"
        return scope.with_fact(name, formula)

    def _fixed(self, scope: Scope) -> tuple[str, Scope]:
        name, sort = self._next(r'fix (\w+) :: "(.*)"').groups()
        constant = PROBLEM.function(name)
        return constant, scope.with_constant(constant, unmangle(sort, "'s"))

    def _steps(self, goal: Formula, scope: Scope, outside: Scope) -> None:
        """Lines up to what shows the goal, which may be about what there is outside only."""
        while True:
            line = self.lines[0].strip()
            match line.split()[0]:
                case "fix":
                    _, scope = self._fixed(scope)
                case "have":
                    name, text = self._next(r'have (\w+): "(.*)"').groups()
                    formula = scope.formula(text)
                    self.statements.append(formula)
                    self.proof(formula, scope)
                    scope = scope.with_fact(name, formula)
                case "obtain":
                    name, sort, label, text = self._next(r'obtain (\w+) :: "(.*)" where (\w+): "(.*)"').groups()
                    constant = PROBLEM.function(name)
                    known = FactReader(self._next(r"by \(rule exE\[OF (.*)\]\)")[1], scope).whole()
                    assert not known.premises
                    assert isinstance(known.conclusion, Exists)
                    assert unmangle(sort, "'s") == known.conclusion.variable.sort
                    scope = scope.with_constant(constant, unmangle(sort, "'s"))
                    formula = scope.formula(text)
                    assert alpha_equivalent(formula, instantiate(known.conclusion, const(constant)))
                    scope = scope.with_fact(label, formula)
                case "show":
                    text = self._next(r'show (\?thesis|".*")')[1]
                    shown = goal if text == "?thesis" else outside.formula(text[1:-1])
                    assert alpha_equivalent(shown, goal), "what is shown is not the goal"
                    self.proof(goal, scope)
                    return
                case _:
                    raise AssertionError(f"no line of a proof: {line}")


class Answer(NamedTuple):
    """What a theory's theorem says, and the formulas that its steps are."""

    signature: Signature
    premises: dict[str, Formula]
    conclusion: Formula
    statements: list[Formula]


def read_theory(text: str, name: str) -> Answer:
    """The theorem of a certificate, read and checked; anything that is not as it should be is an AssertionError."""
    begin = f"theory {name}\n  imports Proof_R1\nbegin\n\ntheorem answer:\n"
    end = f"\n{isabelle.gate(name, 'answer', imports='Proof_R1')}\nend\n"
    assert text.isascii()
    assert text.startswith(begin)
    assert text.endswith(end)
    lines = text[len(begin) : -len(end)].splitlines()
    clauses: dict[str, dict[str, str]] = {"fixes": {}, "assumes": {}}
    keyword = ""
    while not (line := lines.pop(0)).startswith("  shows "):
        item = re.fullmatch(rf'  (fixes|assumes|  and) ({IDENTIFIER})( ::|:) "([^"]*)"', line)
        assert item
        keyword = item[1] if item[1] in clauses else keyword
        assert item[2] not in clauses[keyword]
        clauses[keyword][item[2]] = item[4]
    types = {n: [s and unmangle(s, "'s") for s in types_of(t)] for n, t in clauses["fixes"].items()}
    signature = Signature(
        {unmangle(n, "p"): tuple(t[:-1]) for n, t in types.items() if not t[-1]},
        {unmangle(n, "f"): FunctionType(tuple(t[:-1]), t[-1]) for n, t in types.items() if t[-1]},
    )
    scope = Scope(signature)
    goal = scope.formula(line.removeprefix('  shows "').removesuffix('"'))
    premises = {n: scope.formula(t) for n, t in clauses["assumes"].items()}
    for label, formula in premises.items():
        scope = scope.with_fact(label, formula)
    reader = ProofReader(lines)
    reader.proof(goal, scope)
    assert not reader.lines, "text after the proof"
    return Answer(signature, premises, goal, reader.statements)


def types_of(text: str) -> list[str]:
    """Argument types and result type; ``bool`` is empty."""
    return ["" if part == "bool" else part for part in text.split(r" \<Rightarrow> ")]


# -- certificates -----------------------------------------------------------------------------------------------------


def certificate(premises: Mapping[str, Formula], *steps: CertifiedStep) -> Certificate:
    return Certificate(premises, steps[-1].formula, steps, Structure({ENTITY: 1}))


def one_step(query: Query, proof: Proof, names: Sequence[str] = ()) -> Certificate:
    names = names or [f"p{number}" for number in range(len(query.dependencies))]
    step = CertifiedStep("s1", tuple(names), query.conclusion, proof)
    return certificate(dict(zip(names, query.dependencies, strict=True)), step)


def answer_theory(checked: Certificate, name: str) -> str:
    """The theory of the answer alone; ``test_isabelle_model`` reads the other theorems."""
    return theory_of({ANSWER: isar.answer(checked)}, name)


def assert_reads(checked: Certificate) -> Answer:
    """The certificate's theory, read, checked and compared with the certificate."""
    answer = read_theory(answer_theory(checked, "Answer"), "Answer")
    used = {name for step in checked.steps for name in step.dependencies}
    assert answer.premises == {mangle(n, "h"): f for n, f in checked.premises.items() if n in used}
    assert answer.conclusion is checked.goal
    statements = iter(answer.statements)
    assert all(any(said is step.formula for said in statements) for step in checked.steps)  # in their order
    return answer


def proved(query: Query, budget: int = 20_000) -> Proof:
    proof = search(query.dependencies, query.conclusion, budget=budget).proof
    assert proof is not None
    check(proof, query.dependencies, query.conclusion)
    return proof


@settings(max_examples=300)
@given(strategies.queries())
def test_certificates_of_generated_proofs(query: Query) -> None:
    proof = search(query.dependencies, query.conclusion, budget=2_000).proof
    assume(proof is not None)
    assert proof is not None
    assert_reads(one_step(query, proof))


@settings(max_examples=150)
@given(strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries))
def test_certificates_with_hostile_names(query: Query) -> None:
    proof = search(query.dependencies, query.conclusion, budget=2_000).proof
    assume(proof is not None)
    assert proof is not None
    assert_reads(one_step(query, proof))


QUERIES = [
    "p ⊢ p",
    "q; ¬¬p ⊢ p",
    "p ⊢ ¬¬¬¬p",
    "¬¬¬p ⊢ ¬p",
    "p → q; ¬q ⊢ ¬p",
    "p ⊕ ¬¬q; ¬q ⊢ p",
    "p; ¬q ⊢ p ⊕ q",
    "p ↔ ¬p ⊢ q",
    "p ⊕ q ⊢ ¬(p ↔ q)",
    "⊢ (p ↔ (q ↔ r)) ↔ ((p ↔ q) ↔ r)",
    "p; ¬p ⊢ q",
    "p; ¬p ⊢ ¬¬q",
    "⊢ ⊤",
    "⊢ ¬⊥",
    "⊢ ((p → q) → p) → p",
    "⊢ ¬¬p → ¬¬p",
    "⊢ p ∨ ¬p",
    "∀x p ⊢ p",
    "∃x p ⊢ ∀y p",
    "∀x:Person P(x) ⊢ ∃x:Person P(x)",
    "∀x (¬¬P(x) → Q(x)); ¬Q(a) ⊢ ¬P(a)",
    "¬∀x P(x) ⊢ ∃x ¬P(x)",
    "∃x ¬P(x) ⊢ ¬∀x P(x)",
    "¬∃x ¬P(x) ⊢ ∀x P(x)",
    "∀x ¬P(x) ⊢ ¬∃x P(x)",
    "∃x ∀y R(x,y) ⊢ ∀y ∃x R(x,y)",
    "∀x (P(x) ∨ q) ⊢ ∀x P(x) ∨ q",
    "⊢ ∃x (P(x) → ∀y P(y))",
    "⊢ ¬∃x ∀y (R(x,y) ↔ ¬R(y,y))",
    "∀x:Cat ∀y:Dog R(x,y); ∃x:Dog P(x) ⊢ ∀x:Cat ∃y:Dog (R(x,y) ∧ P(y))",
    "⊢ a = a",
    "a = b ⊢ b = a",
    "a = b; P(f(f(a))) ⊢ P(f(f(b)))",
    "a = b; R(a,b) ⊢ R(b,a)",
    "f(f(f(a))) = a; f(f(f(f(f(a))))) = a ⊢ f(a) = a",
    "∀x x = a; P(a) ⊢ ∀x P(x)",
]


@pytest.mark.parametrize("text", QUERIES)
def test_certificates(text: str) -> None:
    query = question(text)
    assert_reads(one_step(query, proved(query)))


ORACLE = Oracle(EmbeddedSolver(), tables=True)


def rule_instance(rule_: Rule) -> Certificate:
    """The certificate of the rule's example, which applies the theorem of a schema."""
    dependencies = tuple(parse_formula(text) for text in rule_.example.dependencies)
    conclusion = parse_formula(rule_.example.conclusion)
    match = check_rule(rule_, dependencies, conclusion, ORACLE, terminal=True)
    assert isinstance(match, Match)
    proof = instance_proof(match, dependencies, conclusion)
    assert proof is not None
    return one_step(Query(dependencies, conclusion), proof)


@pytest.mark.parametrize("rule_", FOLIO.rules, ids=lambda each: each.name)
def test_certificates_apply_the_schemata(rule_: Rule) -> None:
    checked = rule_instance(rule_)
    assert_reads(checked)
    assert any(f"{each.isabelle}[" in answer_theory(checked, "T") for each in rule_.schemata)


PREMISES = (
    "helps(alonzo) ⊕ harms(alonzo)",
    "compassion(alonzo)",
    "wildlife(alonzo)",
    "∀x (wildlife(x) ∧ care(x) → helps(x))",
    "∀x (empathy(x) ∨ compassion(x) → care(x))",
)
STEPS = (
    ("s1", ["p2", "p5"], "care(alonzo)", "IMPLICATION_ELIMINATION"),
    ("s2", ["p3", "s1"], "wildlife(alonzo) ∧ care(alonzo)", "CONJUNCTION_INTRODUCTION"),
    ("s3", ["p4", "s2"], "helps(alonzo)", "IMPLICATION_ELIMINATION"),
    ("s4", ["p1", "s3"], "¬harms(alonzo)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
    ("h_goal_false", ["s4"], "¬harms(alonzo)", "GOAL_BINDING"),
)


def certified_trace() -> Certificate:
    premises = tuple(Premise(f"p{n}", parse_formula(text)) for n, text in enumerate(PREMISES, 1))
    problem = Problem("alonzo", premises, three_way_options(parse_formula("harms(alonzo)")), "h_goal_false")
    actions = [{"id": i, "dependencies": d, "conclusion": c, "rule": r} for i, d, c, r in STEPS]
    found = certify(Verifier(), problem, f"<summary>{json.dumps(actions)}</summary>").certificate
    assert isinstance(found, Certificate)
    return found


def test_the_certificate_of_a_trace() -> None:
    answer = assert_reads(certified_trace())
    assert list(answer.premises) == ["h_p1", "h_p2", "h_p3", "h_p4", "h_p5"]
    assert answer_theory(certified_trace(), "Alonzo").split("proof -\n", 1)[1].split("\nML ")[0] == (
        r"""  have d_s1: "(p_care f_alonzo)"
  proof -
    have h1: "(((p_empathy f_alonzo) \<or> (p_compassion f_alonzo)) \<longrightarrow> (p_care f_alonzo))"
      by (rule universal_elimination[where A="\<lambda>v_x's_Entity::'s_Entity. (((p_empathy v_x's_Entity) \<or> """
        r"""(p_compassion v_x's_Entity)) \<longrightarrow> (p_care v_x's_Entity))" and t="f_alonzo", OF h_p5])
    have h2: "((p_empathy f_alonzo) \<or> (p_compassion f_alonzo))"
      by (rule or_of_any_true[OF h_p2])
    show "(p_care f_alonzo)"
      by (rule implication_elimination[where A="((p_empathy f_alonzo) \<or> (p_compassion f_alonzo))" and """
        r"""B="(p_care f_alonzo)", OF h1 h2])
  qed
  have d_s2: "((p_wildlife f_alonzo) \<and> (p_care f_alonzo))"
    by (rule conjunction_introduction[where A="(p_wildlife f_alonzo)" and B="(p_care f_alonzo)", OF h_p3 d_s1])
  have d_s3: "(p_helps f_alonzo)"
  proof -
    have h1: "(((p_wildlife f_alonzo) \<and> (p_care f_alonzo)) \<longrightarrow> (p_helps f_alonzo))"
      by (rule universal_elimination[where A="\<lambda>v_x's_Entity::'s_Entity. (((p_wildlife v_x's_Entity) \<and> """
        r"""(p_care v_x's_Entity)) \<longrightarrow> (p_helps v_x's_Entity))" and t="f_alonzo", OF h_p4])
    show "(p_helps f_alonzo)"
      by (rule implication_elimination[where A="((p_wildlife f_alonzo) \<and> (p_care f_alonzo))" and """
        r"""B="(p_helps f_alonzo)", OF h1 d_s2])
  qed
  have d_s4: "(\<not> (p_harms f_alonzo))"
    by (rule xor_elimination_left[where A="(p_helps f_alonzo)" and B="(p_harms f_alonzo)", OF h_p1 d_s3])
  have d_h_goal_false: "(\<not> (p_harms f_alonzo))"
    by (rule goal_binding[where A="(\<not> (p_harms f_alonzo))", OF d_s4])
  show ?thesis
    by (rule d_h_goal_false)
qed
"""
    )


HOSTILE = ("sorry", 'x"', "a\nend\n", r"\<close>", "*)", "x_", "'a", "?thesis", "h1", "OF", "␣goal", "d_", "∀")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ids_stay_in_their_place(name: str) -> None:
    fact, rule_ = atom(f"{name}.", const(f"{name},")), ForAll(Var(name, name), atom(name, Var(name, name)))
    first = CertifiedStep(name, (f"{name} 0",), fact, (Repeat(0),))
    last = CertifiedStep(
        f"{name} 1", (name, f"{name} 2"), And(rule_, fact), proved(Query((fact, rule_), And(rule_, fact)))
    )
    assert_reads(certificate({f"{name} 0": fact, f"{name} 2": rule_, "unused": BOTTOM}, first, last))


@pytest.mark.parametrize("name", ["", "1st", "a b", "T_", 'T"', "A.B"])
def test_theory_names_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="is not a theory name"):
        answer_theory(certified_trace(), name)


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("p ⊢ q", ()),
        ("p ⊢ q", (Instance(0, const("a")),)),
        ("p ⊢ q", (Witness(0, const("c")), Repeat(1))),
        ("∀x P(x) ⊢ P(a)", (Instance(0, Var("x", ENTITY)),)),
    ],
)
def test_what_is_no_proof(text: str, proof: Proof) -> None:
    with pytest.raises(ProofError):
        answer_theory(one_step(question(text), proof), "T")


# -- the reader is not credulous --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("p ⊢ q", (Repeat(0),)),
        ("p; q ⊢ r", (Contradiction(0, 1),)),
        ("q ⊢ p → q", (Suppose(Implies(atom("p"), atom("q")), (Repeat(1),)),)),
        ("p ⊢ ¬p", (Absurd(parse_formula("p"), (Contradiction(0, 1),)),)),
        ("∃x P(x) ⊢ P(a)", (Witness(0, const("a")), Repeat(1))),
        ("∃x P(x) ⊢ P(a)", (Witness(0, const("c")), Repeat(1))),
    ],
)
def test_a_wrong_proof_is_not_read(text: str, proof: Proof) -> None:
    query = question(text)
    with pytest.raises(ProofError):
        check(proof, query.dependencies, query.conclusion)
    written = answer_theory(one_step(query, proof), "T")
    with pytest.raises((AssertionError, KeyError)):
        read_theory(written, "T")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("or_of_any_true[OF h_p2]", "or_of_true_any[OF h_p2]"),
        ("or_of_any_true[OF h_p2]", "or_of_any_true[OF h_p3]"),
        ("or_of_any_true[OF h_p2]", "or_of_any_true[OF h7]"),
        ("or_of_any_true[OF h_p2]", "or_of_any_true"),
        ("or_of_any_true[OF h_p2]", "disjI2[OF h_p2]"),
        ("OF h_p3 d_s1", "OF d_s1 h_p3"),
        ("OF h_p3 d_s1", "OF h_p3"),
        ('t="f_alonzo", OF h_p5', 't="f_bob", OF h_p5'),
        ('have d_s4: "(\\<not> (p_harms f_alonzo))"', 'have d_s4: "(p_harms f_alonzo)"'),
        ('  shows "(\\<not> (p_harms f_alonzo))"', '  shows "(p_harms f_alonzo)"'),
        ("    by (rule xor_elimination_left", "    by (rule xor_elimination_right"),
        ("  qed\n  have d_s2", "  have d_s2"),
        ("  show ?thesis\n", "  show ?thesis\n  qed\n"),
        ("by (rule d_h_goal_false)", "by blast"),
        ("by (rule d_h_goal_false)", "sorry"),
        ("by (rule d_h_goal_false)", "by (rule h1)"),
    ],
)
def test_changed_certificates_are_not_read(old: str, new: str) -> None:
    text = answer_theory(certified_trace(), "T")
    assert old in text
    with pytest.raises((AssertionError, KeyError, ValueError, IndexError)):
        read_theory(text.replace(old, new, 1), "T")


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("∀x P(x) ⊢ ∀y (P(y) ∨ q)", r'fix (\w+) :: "([^"]*)"', ""),
        ("∃x P(x); ∀x (P(x) → q) ⊢ q", r'obtain (\w+) :: "([^"]*)" where h1: "[^"]*"\s*by [^\n]*', r'fix \1 :: "\2"'),
        ("p → q ⊢ ¬q → ¬p", r'assume h1: "[^"]*"', 'assume h1: "False"'),
        ("a = b; R(a,b) ⊢ R(b,a)", 's="f_a" and t="f_b"', 's="f_b" and t="f_a"'),
    ],
)
def test_changed_blocks_are_not_read(text: str, old: str, new: str) -> None:
    query = question(text)
    written = answer_theory(one_step(query, proved(query)), "T")
    changed = re.sub(old, new, written)
    assert changed != written
    with pytest.raises((AssertionError, KeyError, ValueError, IndexError)):
        read_theory(changed, "T")


# -- the theories -----------------------------------------------------------------------------------------------------

FILES = sorted(THEORIES.glob("*.thy"))
ALL_SCHEMATA = [each for rule_ in FOLIO.rules for each in rule_.schemata]


def plain(formula: Formula) -> Formula:
    """A lemma's pattern as a schema's: without the mark of its variables."""
    match formula:
        case Atom(name, arguments):
            return Atom(name.removeprefix(SCHEMATIC), tuple(map(plain_term, arguments)))
        case Eq(left, right):
            return Eq(plain_term(left), plain_term(right))
        case Not(body):
            return Not(plain(body))
        case ForAll(variable, body) | Exists(variable, body):
            return type(formula)(variable, plain(body))
        case And() | Or() | Xor() | Implies() | Iff():
            return type(formula)(plain(formula.left), plain(formula.right))
    return formula


def plain_term(term: Term) -> Term:
    return App(term.function.removeprefix(SCHEMATIC), ()) if isinstance(term, App) else term


def stated(lemma: Lemma) -> tuple[tuple[Formula, ...], Formula]:
    return tuple(alpha_normal(plain(part)) for part in lemma.premises), alpha_normal(plain(lemma.conclusion))


def patterns(premises: Iterable[Formula], conclusion: Formula) -> tuple[tuple[Formula, ...], Formula]:
    return tuple(map(alpha_normal, premises)), alpha_normal(conclusion)


@pytest.mark.parametrize("schema", ALL_SCHEMATA, ids=lambda each: each.name)
def test_every_schema_is_a_lemma_that_says_the_same(schema: Schema) -> None:
    assert schema.isabelle == schema.lean
    assert stated(SCHEMATA[schema.isabelle]) == patterns((*schema.principal, *schema.minor), schema.conclusion)


def lean_theorems(module: str) -> set[str]:
    return set(re.findall(r"^theorem (\w+)", (LEAN / f"{module}.lean").read_text(), re.MULTILINE))


def test_the_lemmas_are_those_of_lean() -> None:
    assert SCHEMATA.keys() == lean_theorems("Schemata") == {each.isabelle for each in ALL_SCHEMATA}
    assert LOGIC.keys() - lean_theorems("Logic") == {"not_false", "leibniz"}  # Lean has terms in their place
    assert lean_theorems("Logic") <= LOGIC.keys()


def test_what_truth_tables_force_is_what_the_lemmas_say() -> None:
    a, b = atom("A"), atom("B")
    seen = set()
    for kind in TRUTH_TABLES:
        for whole in (True, False):
            main = Signed(kind(a, b), whole)
            for side, part, rest in (("left", a, b), ("right", b, a)):
                for value in (True, False):
                    try:
                        found = elimination(main, side, Signed(rest, value))
                    except ProofError:
                        continue
                    assert found is not None
                    seen.add(found.lemma)
                    premises, conclusion = stated(LOGIC[found.lemma])
                    assert premises == (written(main), *([] if found.other is None else [found.other]))
                    assert found.other in (None, rest if value else Not(rest))
                    assert found.conclusion == conclusion
                    assert conclusion in (part, Not(part))
        for left in (True, False, None):
            for right in (True, False, None):
                lemma = lemma_of_introduction(kind, left, right)
                if lemma is None:
                    continue
                seen.add(lemma)
                words = lemma.split("_of_")[1].split("_")
                premises, conclusion = stated(LOGIC[lemma])
                sides = [(side, word) for side, word in zip((a, b), words, strict=True) if word != "any"]
                assert premises == tuple(side if word == "true" else Not(side) for side, word in sides)
                assert conclusion in (kind(a, b), Not(kind(a, b)))
    others = {
        "not_not_elim": "¬¬A ⊢ A",
        "not_not_intro": "A ⊢ ¬¬A",
        "not_false": "⊢ ¬⊥",
        "exists_false_instance": "¬∃x P(x) ⊢ ¬P(t)",
        "forall_false_witness": "¬∀x P(x) ⊢ ∃x ¬P(x)",
        "forall_false_of_instance": "¬P(t) ⊢ ¬∀x P(x)",
        "exists_false_of_all": "∀x ¬P(x) ⊢ ¬∃x P(x)",
        "leibniz": "⊢ s = t → (P(s, t) → P(t, s))",
    }
    for name, text in others.items():
        query = question(text)
        assert stated(LOGIC[name]) == patterns(query.dependencies, query.conclusion)
    assert seen | others.keys() == LOGIC.keys()


@pytest.mark.parametrize("name", [*LOGIC, *SCHEMATA])
def test_every_lemma_has_a_proof_in_the_calculus(name: str) -> None:
    premises, conclusion = stated((LOGIC | SCHEMATA)[name])
    assert not any(formula.free for formula in (*premises, conclusion))
    proved(Query(premises, conclusion))


def test_the_theories_are_of_one_piece() -> None:
    root = re.fullmatch(r"session Proof_R1 = HOL \+\n  theories\n    (\w+)\n", (THEORIES / "ROOT").read_text())
    assert root
    imported = {root[1]}
    for file in FILES:
        head = re.match(r"theory (\w+)\n  imports ([\w ]+)\nbegin\n", file.read_text())
        assert head
        assert head[1] == file.stem
        assert file.read_text().endswith("\nend\n")
        assert file.read_text().isascii()
        imported |= set(head[2].split())
    assert imported - {"Main"} == {file.stem for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_is_taken_on_trust(file: Path) -> None:
    text = file.read_text()
    words = set(re.findall(r"\w+", re.sub(r"\\<open>.*?\\<close>", "", text.split("\nML ")[0], flags=re.DOTALL)))
    assert not words & {"axiomatization", "oracle", "sorry", "oops", "typedecl", "consts", "eval", "code", "ML_file"}
    names = re.findall(r"^(?:lemma|theorem) (\w+)", text, re.MULTILINE)
    gates = re.findall(r"@\{thms([^}]*)\}", text)
    assert text.count("lemma ") + text.count("theorem ") >= len(names)
    assert [name for gate in gates for name in gate.split()] == names
    assert len(gates) == (1 if names else 0)


def test_what_the_lemmas_are_proved_by() -> None:
    found = [(name, method) for file in FILES for name, _, method in _LEMMA.findall(file.read_text())]
    assert {name: method for name, method in found if method != "blast"} == {
        "goal_binding": "assumption",
        "leibniz": "auto",
    }
    assert {name for name, _ in found} == LOGIC.keys() | SCHEMATA.keys()


# -- Isabelle itself --------------------------------------------------------------------------------------------------


def build(folder: Path) -> None:
    program = shutil.which("isabelle")
    if program is None:
        pytest.skip("Isabelle is not on PATH; get it at https://isabelle.in.tum.de")
    done = subprocess.run([program, "build", "-v", "-D", str(folder)], capture_output=True, text=True, timeout=1_800)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.isabelle
def test_isabelle_builds_the_theories() -> None:
    build(THEORIES)


@pytest.mark.isabelle
def test_isabelle_accepts_schemata_and_certificates(tmp_path: Path) -> None:
    for file in FILES:
        shutil.copy(file, tmp_path)
    certificates = [one_step(question(text), proved(question(text))) for text in QUERIES]
    certificates += [*map(rule_instance, FOLIO.rules), certified_trace()]
    theories = {f"Answer{n}": answer_theory(each, f"Answer{n}") for n, each in enumerate(certificates)}
    lemmas = [
        f"lemma {each.name}_again:\n"
        + isabelle.schema_statement((*each.principal, *each.minor), each.conclusion)
        + f"  by (rule {each.isabelle}[{schema_instance(each)}])\n"
        for each in ALL_SCHEMATA
    ]
    theories["Again"] = isabelle.theory("Again", *lemmas, imports="Proof_R1")
    for name, text in theories.items():
        (tmp_path / f"{name}.thy").write_text(text)
    names = "".join(f"    {name}\n" for name in theories)
    (tmp_path / "ROOT").write_text(f"session Proof_R1_Answers = HOL +\n  theories\n{names}")
    build(tmp_path)


def schema_instance(schema: Schema) -> str:
    premises = (*schema.principal, *schema.minor)
    signature = Signature.infer((*premises, schema.conclusion))
    where = [f'{name}="{isabelle.predicate_name(name)}"' for name in signature.predicates]
    where += [f'{name}="{isabelle.function_name(name)}"' for name in signature.functions]
    return f"where {' and '.join(where)}, OF {' '.join(f'd{n}' for n in range(1, len(premises) + 1))}"
