"""A reader of the fragment of Isabelle that theories and certificates are written in.

It stands in for Isabelle where there is none: terms by Isabelle's priorities, structured proofs, and ``rule`` with
``where`` and ``OF`` as matching against lemmas as the theory files state them. It shares nothing with what writes
certificates but formulas and substitution.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from proof_r1_formal.kernel.signature import Signature, symbols
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
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
    const,
)
from proof_r1_formal.kernel.transform import alpha_equivalent, instantiate, substitute
from proof_r1_formal.render import isabelle
from proof_r1_formal.resources import resource
from tests.assistants.isabelle_terms import (
    IDENTIFIER,
    LEMMA,
    PROBLEM,
    SCHEMATIC,
    Reader,
    formula_of,
    read_formula,
    read_statement,
    term_of,
)
from tests.names import unmangle

THEORIES = resource("theories") / "isabelle"


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
    signature, assumptions, shown = read_statement(lines)
    scope = Scope(signature)
    goal = scope.formula(shown)
    premises = {label: scope.formula(assumption) for label, assumption in assumptions.items()}
    for label, formula in premises.items():
        scope = scope.with_fact(label, formula)
    reader = ProofReader(lines)
    reader.proof(goal, scope)
    assert not reader.lines, "text after the proof"
    return Answer(signature, premises, goal, reader.statements)
