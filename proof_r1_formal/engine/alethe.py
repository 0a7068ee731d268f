"""Proofs that cvc5 writes in Alethe, as proof terms of ``kernel.term``.

In: a query, and the text of a refutation of its assertions. Out: a proof term, or an :class:`AletheError` that says
which step has none. Each step becomes the lines that the package's own search finds for its clause, from the clauses
that it names. So no rule of Alethe is known here, only how a subproof opens and closes. A clause with free
variables is meant for all of their values; where the search does not find it, the steps after it do without. A choice
term becomes a constant of which the axiom of choice holds: one line shows it, another is its witness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

from proof_r1_formal.engine.lemmas import formula_of
from proof_r1_formal.engine.prover import search
from proof_r1_formal.engine.solver import Budget, BudgetSpentError
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.checker import shown
from proof_r1_formal.kernel.signature import Signature, symbols
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
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
)
from proof_r1_formal.kernel.term import Absurd, Line, Proof, Suppose, Witness, renumber
from proof_r1_formal.kernel.transform import alpha_normal, instantiate
from proof_r1_formal.render.smtlib import function_name, predicate_name, sort_name

BUDGET, BUDGET_EACH = 500_000, 20_000
"""Steps of the tableau for all steps of a proof, and for one."""

_TOKEN = re.compile(r'[()]|"(?:[^"]|"")*"|\|[^|]*\||[^\s()"]+')
_CONNECTIVES: dict[str, type[And | Or | Xor]] = {"and": And, "or": Or, "xor": Xor}
_Expression: TypeAlias = Any
"""A word, or a list of expressions."""
_Known: TypeAlias = dict[str, tuple[Formula, int]]
"""The name of a step -> its clause as a formula, and the number of the line that says so."""


class AletheError(ProofR1Error):
    """A text is not a proof in Alethe, or the search has no lines for one of its steps."""


def proof_of(query: Query, text: str, budget: Budget) -> Proof:
    """The proof term of a refutation of the query's assertions.

    The text is in the names of ``render.smtlib``. The budget pays the steps of the tableau, even of those in vain.

    Raises:
        AletheError: the search finds no lines for a step, or the text is something else, or the budget is spent.
    """
    try:
        return _Writer(query, _Reader(query, text), budget).proof()
    except AletheError:
        raise
    except BudgetSpentError as error:
        raise AletheError("the budget is spent") from error
    except (ProofR1Error, RecursionError, LookupError, ValueError, TypeError) as error:
        raise AletheError(f"this is not read as a proof in Alethe: {error!r}") from error


# -- from text to steps -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """A step, or an assumption, which has no rule."""

    name: str
    clause: Formula  # as a disjunction
    rule: str = ""
    premises: tuple[str, ...] = ()  # of the end of a subproof about variables, one more is the last step inside
    is_open: bool = False  # whether the clause had free variables, which are quantified
    inside: tuple[_Step, ...] = ()  # the subproof that ends here, if it has assumptions
    needs_choice: bool = False  # whether a subproof about variables ends here, which may be about choice terms


class _Reader:
    """The steps of a text."""

    def __init__(self, query: Query, text: str) -> None:
        signature = Signature.infer(query.formulas)
        self._sorts = {sort_name(name): name for name in signature.sorts}
        self._predicates = {predicate_name(name): name for name in signature.predicates}
        self._functions = {function_name(name): name for name in signature.functions}
        self._named: dict[str, Formula | Term] = {"true": TOP, "false": BOTTOM}
        self.choices: dict[Formula, App] = {}  # ∃x φ -> the constant for the choice term "an x with φ, if there is one"
        [commands] = _expressions(text)
        self.steps = self._block(iter(commands), None)

    def _block(self, commands: Iterator[_Expression], end: str | None) -> tuple[_Step, ...]:
        """The steps up to the one of a name."""
        found: list[_Step] = []
        for command in commands:
            match command:
                case ["assume", name, formula]:
                    found.append(_Step(name, self._formula(formula)))
                case ["anchor", ":step", name]:
                    *inside, last = self._block(commands, name)
                    found.append(replace(last, inside=tuple(inside)))
                case ["anchor", ":step", name, ":args", bindings]:
                    for binding in bindings:
                        self._variable(binding[1] if binding[0] == ":=" else binding)
                    *inside, last = self._block(commands, name)
                    premises = (*last.premises, *[each.name for each in inside[-1:]])
                    found += [*inside, replace(last, premises=premises, needs_choice=True)]
                case ["step", name, ["cl", *literals], ":rule", rule, *rest]:
                    fields = dict(zip(rest[::2], rest[1::2], strict=True))
                    clause = reduce(Or, [self._formula(each) for each in literals]) if literals else BOTTOM
                    variables = sorted(clause.free, key=lambda variable: variable.name)
                    clause = reduce(lambda inner, each: ForAll(each, inner), variables, clause)
                    found.append(_Step(name, clause, rule, tuple(fields.get(":premises", ())), bool(variables)))
                    if name == end:
                        break
                case _:
                    raise AletheError(f"Alethe has no such command: {command}")
        return tuple(found)

    def _variable(self, binding: _Expression) -> Var:
        name, sort = binding
        variable = Var(name, self._sorts[sort])
        self._named[name] = variable
        return variable

    def _formula(self, expression: _Expression) -> Formula:
        found = self._value(expression)
        if isinstance(found, App | Var):
            raise AletheError(f"a term stands in place of a formula: {expression}")
        return found

    def _term(self, expression: _Expression) -> Term:
        found = self._value(expression)
        if not isinstance(found, App | Var):
            raise AletheError(f"a formula stands in place of a term: {expression}")
        return found

    def _value(self, expression: _Expression) -> Formula | Term:
        match expression:
            case str() if expression in self._named:
                return self._named[expression]
            case str():
                return self._application(expression, ())
            case ["!", inner, ":named", name]:
                self._named[name] = found = self._value(inner)
                return found
            case ["forall" | "exists" as word, bindings, body]:
                variables = [self._variable(binding) for binding in bindings]
                quantifier = ForAll if word == "forall" else Exists
                return reduce(lambda inner, each: quantifier(each, inner), reversed(variables), self._formula(body))
            case ["choice", [binding], body]:
                return self._example(Exists(self._variable(binding), self._formula(body)))
            case ["not", body]:
                return Not(self._formula(body))
            case ["=", left, right]:
                one = self._value(left)
                return Eq(one, self._term(right)) if isinstance(one, App | Var) else Iff(one, self._formula(right))
            case ["and" | "or" | "xor" as word, *parts]:
                connective = _CONNECTIVES[word]
                return reduce(lambda left, right: connective(left, right), [self._formula(part) for part in parts])
            case ["=>", left, right]:
                return Implies(self._formula(left), self._formula(right))
            case ["distinct", left, right]:
                return Not(Eq(self._term(left), self._term(right)))
            case [str() as symbol, *arguments]:
                return self._application(symbol, tuple([self._term(each) for each in arguments]))
        raise AletheError(f"this is not read: {expression}")

    def _application(self, symbol: str, arguments: tuple[Term, ...]) -> Formula | Term:
        if symbol in self._predicates:
            return Atom(self._predicates[symbol], arguments)
        if symbol in self._functions:
            return App(self._functions[symbol], arguments)
        raise AletheError(f"the symbol {symbol} is not read")

    def _example(self, exists: Exists) -> App:
        if exists.free:
            raise AletheError("a choice term depends on a variable")
        return self.choices.setdefault(alpha_normal(exists), App(f"␣{len(self.choices)}choice", ()))


def _expressions(text: str) -> list[_Expression]:
    stack: list[list[_Expression]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    return stack[0]


# -- from steps to lines ----------------------------------------------------------------------------------------------


class _Writer:
    """Writes the lines of steps."""

    def __init__(self, query: Query, read: _Reader, budget: Budget) -> None:
        self._query = query
        self._read = read
        self._given = {alpha_normal(formula): number for number, formula in enumerate(query.assertions)}
        self._axioms: dict[str, tuple[Formula, int]] = {}
        self._searches = 0
        self._budget = budget

    def proof(self) -> Proof:
        """The conclusion, as its negation is refuted."""
        first = len(self._query.assertions)
        lines = self._choices(first)
        lines += self._lines(self._read.steps, {}, first + len(lines))
        return (Absurd(Not(self._query.conclusion), tuple(lines)),)

    def _choices(self, count: int) -> list[Line]:
        """The axiom of each choice term: if there is an example, the constant is one."""
        lines: list[Line] = []
        for exists, constant in self._read.choices.items():
            assert isinstance(exists, Exists)
            some = Exists(exists.variable, Implies(exists, exists.body))
            lines += self._search(some, (), "choice", count + len(lines))[0]
            lines.append(Witness(count + len(lines) - 1, constant))
            self._axioms[constant.function] = instantiate(some, constant), count + len(lines) - 1
        return lines

    def _lines(self, steps: Sequence[_Step], known: _Known, count: int) -> list[Line]:
        """The lines of steps, whose clauses become known; a number of lines hold before."""
        lines: list[Line] = []
        for step in steps:
            if not step.rule:
                known[step.name] = step.clause, self._given[alpha_normal(step.clause)]
                continue
            given = [known[name] for name in step.premises if name in known]
            if step.needs_choice:
                constants = symbols(step.clause).functions
                given += [axiom for constant, axiom in self._axioms.items() if constant in constants]
            if step.inside:
                line, implication = self._subproof(step.inside, dict(known), count + len(lines))
                given.append((implication, count + len(lines)))
                lines.append(line)
            try:
                found, says = self._search(step.clause, given, f"{step.name} ({step.rule})", count + len(lines))
            except AletheError:
                if step.is_open:
                    continue
                raise
            lines += found
            known[step.name] = says, count + len(lines) - 1
        return lines

    def _subproof(self, inside: Sequence[_Step], known: _Known, count: int) -> tuple[Suppose, Formula]:
        """The line that the assumptions of a subproof imply its last clause."""
        assumption, *rest = inside
        known[assumption.name] = assumption.clause, count
        block: list[Line]
        if rest and not rest[0].rule:
            line, says = self._subproof(rest, known, count + 1)
            block = [line]
        else:
            block = self._lines(rest, known, count + 1)
            says = known[rest[-1].name][0]
        implication = Implies(assumption.clause, says)
        return Suppose(implication, tuple(block)), implication

    def _search(
        self, clause: Formula, given: Sequence[tuple[Formula, int]], what: str, count: int
    ) -> tuple[Proof, Formula]:
        """The lines that show a clause, and what the last of them says; an equivalence is shown both ways first."""
        before: Proof = ()
        if isinstance(clause, Iff):
            for way in (Implies(clause.left, clause.right), Implies(clause.right, clause.left)):
                lines, says = self._search(way, given, what, count + len(before))
                before += lines
                given = [*given, (says, count + len(before) - 1)]
        premises = [formula for formula, _ in given]
        self._searches += 1
        most = min(BUDGET_EACH, self._budget.left)
        proof, steps = search(premises, clause, budget=most, fresh=f"␣{self._searches}c")
        self._budget.spend(steps)
        if proof is None:
            raise AletheError(f"no proof was found of the step {what}")
        says = formula_of(shown(proof, premises, clause)[0])
        return before + renumber(proof, [number for _, number in given], count + len(before)), says
