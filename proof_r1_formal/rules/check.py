"""RuleCheck: is a step an instance of the rule it names?

In: a rule, the formulas of the dependencies, the conclusion, and an oracle for entailment. Out: the instance
(:class:`Match`), that there is none (:class:`NoMatch`), or that a question it hangs on stayed open
(:class:`Undecided`).

Read literally, "the dependencies entail the premises of an instance" accepts every entailed step under nearly every
rule (A := ⊤ and B := the conclusion make it an implication elimination). So principal premises are *anchored*: each
must be a spine element of a dependency of its own; see :class:`_Spine`. Minor premises need only be entailed by the
others. The conclusion must be equivalent to the instance's, as plain logic, never under the dependencies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

from proof_r1_formal.logic.pattern import Lambda, Substitution, instance
from proof_r1_formal.logic.signature import ground_terms
from proof_r1_formal.logic.syntax import And, App, ForAll, Formula, Iff, Implies, Not, Or, Term
from proof_r1_formal.logic.transform import conjuncts, instantiate, regrouped, terms
from proof_r1_formal.rules.matching import matches
from proof_r1_formal.rules.schema import Condition, Rule, Schema
from proof_r1_formal.solvers.base import Answer, Entailed, Unknown
from proof_r1_formal.solvers.oracle import Assuming, Oracle

SPINE_BUDGET = 1_000
"""The most spine elements of a dependency that are looked at."""
CHECK_BUDGET = 10_000
"""What one check may spend: 1 for each candidate looked at, ``QUESTION`` for each question of entailment."""
TRACE_BUDGET = 400_000
"""What all checks of a trace may spend together."""
QUESTION = 20
"""The price of a question of entailment."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a principal premise comes from: the index of a dependency, and the element of its spine."""

    dependency: int
    element: Formula


@dataclass(frozen=True, slots=True)
class Match:
    """The step is an instance of ``schema`` under ``substitution``.

    Attributes:
        principal: one anchor per principal premise (in a chain, one per link).
        minor: the minor premises, entailed by the dependencies that hold no anchor; with own dependencies, entailed by
            dependencies themselves.
    """

    schema: Schema
    substitution: Substitution
    principal: tuple[Anchor, ...]
    minor: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class NoMatch:
    """No schema of the rule fits."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """No fitting instance was found, but one may have been missed.

    Attributes:
        reason: what stayed open.
    """

    reason: str


RuleResult: TypeAlias = Match | NoMatch | Undecided


@dataclass(slots=True)
class Budget:
    """What is left for the checks of a trace; each check takes what it spends."""

    left: int = TRACE_BUDGET


def check_rule(
    rule: Rule,
    dependencies: tuple[Formula, ...],
    conclusion: Formula,
    oracle: Oracle,
    *,
    terminal: bool = False,
    budget: Budget | None = None,
) -> RuleResult:
    """Find an instance of ``rule`` that leads from the dependencies to the conclusion.

    Args:
        rule: its schemata are tried in order.
        dependencies: formulas of the distinct dependencies.
        conclusion: of the step.
        oracle: answers the auxiliary questions.
        terminal: whether the step is the terminal action.
        budget: shared by the checks of a trace; a fresh one if none is given.
    """
    step = _Step(dependencies, conclusion, oracle, budget or Budget())
    try:
        for schema in rule.schemata:
            if Condition.TERMINAL in schema.conditions and not terminal:
                continue
            for found in step.instances(schema):
                return found
    except _BudgetSpentError:
        return Undecided("the budget of the rule check is spent")
    return Undecided(step.open_question) if step.open_question else NoMatch()


class _BudgetSpentError(Exception):
    """The check has cost as much as it may."""


class _Step:
    """One step under check; remembers what stayed open and what is left to spend."""

    def __init__(self, dependencies: tuple[Formula, ...], conclusion: Formula, oracle: Oracle, budget: Budget) -> None:
        self.open_question = ""
        self._budget = budget
        self._dependencies = dependencies
        self._conclusion = conclusion
        self._oracle = oracle
        self._left = CHECK_BUDGET
        self._assuming: dict[tuple[Formula, ...], Assuming] = {}
        self._terms = ground_terms((*dependencies, conclusion))
        self._spines = [_Spine(index, self) for index in range(len(dependencies))]

    # -- questions ----------------------------------------------------------------------------------------------------

    def _yes(self, answer: Answer) -> bool:
        if isinstance(answer, Unknown):
            self.leave_open(f"a question of the rule stayed undecided ({answer.reason})")
        return isinstance(answer, Entailed)

    def leave_open(self, question: str) -> None:
        self.open_question = self.open_question or question

    def entailed_by_others(self, anchored: tuple[int, ...], formula: Formula) -> bool:
        """Whether the dependencies that hold none of the anchors entail the formula."""
        self._spend(QUESTION)
        others = tuple([d for index, d in enumerate(self._dependencies) if index not in anchored])
        if not others:
            return self._yes(self._oracle.valid(formula))
        if formula in others:
            return True
        assuming = self._assuming.get(others)
        if assuming is None:
            assuming = self._assuming[others] = self._oracle.assuming(others, self._terms)
        return self._yes(assuming.entail(formula))

    def dependency(self, index: int) -> Formula:
        return self._dependencies[index]

    def terms_of_sort(self, sort: str) -> tuple[Term, ...]:
        return self._terms.get(sort, ())

    def _substantial(self, premises: Iterable[Formula]) -> bool:
        """Whether no premise is a tautology or a contradiction (in doubt, it is not substantial)."""
        for premise in premises:
            self._spend(QUESTION)
            for answer in (self._oracle.valid(premise), self._oracle.contradictory(premise)):
                if isinstance(answer, Unknown):
                    self.leave_open("whether a premise is a tautology stayed undecided")
                if isinstance(answer, Entailed | Unknown):
                    return False
        return True

    # -- instances ----------------------------------------------------------------------------------------------------

    def instances(self, schema: Schema) -> Iterator[Match]:
        """The instances of the schema that this step is; usually only the first is wanted."""
        for anchors, substitution in self._anchored(schema):
            for complete in self._concluding(schema, substitution):
                if not self._substantial(anchor.element for anchor in anchors):
                    continue
                minor = tuple([instance(pattern, complete) for pattern in schema.minor])
                if self._minor_hold(schema, anchors, minor):
                    yield Match(schema, complete, anchors, minor)

    def _minor_hold(self, schema: Schema, anchors: tuple[Anchor, ...], minor: tuple[Formula, ...]) -> bool:
        if Condition.OWN_DEPENDENCIES in schema.conditions:
            parts = tuple([part for formula in minor for part in conjuncts(formula)])
            return self._covered(parts, frozenset(), len(schema.minor))
        if Condition.STATED in schema.conditions:
            return self._substantial(minor) and self._said(minor)
        anchored = tuple([anchor.dependency for anchor in anchors])
        return all(self.entailed_by_others(anchored, formula) for formula in minor)

    def _said(self, formulas: tuple[Formula, ...]) -> bool:
        """Whether each is stated, or follows from one of the others that is."""
        stated = [formula for formula in formulas if self._stated(formula)]
        return all(
            formula in stated or any(self._yes(self._oracle.entails((other,), formula)) for other in stated)
            for formula in formulas
        )

    def _stated(self, formula: Formula) -> bool:
        """Whether the formula, or each of its conjuncts, is in the spine of a dependency."""
        for spine in self._spines:
            for element in spine.elements():
                self._spend(1)
                if self._yes(self._oracle.equivalent(element, formula)):
                    return True
        parts = conjuncts(formula)
        return len(parts) > 1 and all(map(self._stated, parts))

    def _covered(self, parts: tuple[Formula, ...], used: frozenset[int], least: int) -> bool:
        """Whether unused dependencies, each once and at least ``least`` in all, are together exactly the parts."""
        self._spend(1)
        if not parts:
            return len(used) >= least
        for index, dependency in enumerate(self._dependencies):
            if index in used:
                continue
            if self._yes(self._oracle.equivalent(dependency, parts[0])):
                rest: tuple[Formula, ...] | None = parts[1:]
            else:
                rest = _without(parts, conjuncts(dependency))
            if rest is not None and self._covered(rest, used | {index}, least):
                return True
        return False

    def _concluding(self, schema: Schema, substitution: Substitution) -> Iterator[Substitution]:
        """The completions of the substitution under which the schema's conclusion is that of the step."""
        self._spend(1)
        if Condition.SYNTACTIC in schema.conditions:
            for matched in matches(schema.conclusion, self._conclusion, substitution, skipped=self._skipped):
                yield from self._with_terms(schema, matched)
            return
        for candidate in self._with_terms(schema, substitution):
            if self._yes(self._oracle.equivalent(instance(schema.conclusion, candidate), self._conclusion)):
                yield candidate

    def _with_terms(self, schema: Schema, substitution: Substitution) -> Iterator[Substitution]:
        """The substitution with every choice of terms for the term variables that it leaves open."""
        wanted = term_variables(schema)
        if not wanted:
            yield substitution
            return
        (name,) = wanted  # the catalogue's schemata have at most one
        sorts = {v.sort for value in substitution.values() if isinstance(value, Lambda) for v in value.variables}
        for sort in sorted(sorts):
            for term in self.terms_of_sort(sort):
                self._spend(1)
                yield {**substitution, name: term}

    def _skipped(self) -> None:
        self.leave_open("a conjunction or disjunction has too many parts to be split in every way")

    def _spend(self, price: int) -> None:
        self._left -= price
        self._budget.left -= price
        if self._left < 0 or self._budget.left < 0:
            raise _BudgetSpentError

    def _anchored(self, schema: Schema) -> Iterator[tuple[tuple[Anchor, ...], Substitution]]:
        """Every way to anchor the principal patterns in different dependencies."""
        if not schema.principal:
            yield (), {}
            return
        binding = Condition.TERMINAL in schema.conditions
        for order in permutations(range(len(self._dependencies)), len(schema.principal)):
            for anchors, substitution in self._anchor(schema.principal, order, (), {}, whole=binding):
                yield anchors, substitution
                if Condition.CHAIN in schema.conditions:
                    yield from self._continued(schema, anchors, substitution)

    def _anchor(
        self,
        patterns: tuple[Formula, ...],
        order: tuple[int, ...],
        anchors: tuple[Anchor, ...],
        known: Substitution,
        *,
        whole: bool = False,
    ) -> Iterator[tuple[tuple[Anchor, ...], Substitution]]:
        """``whole``: only the dependencies themselves will do, not what else is in their spines."""
        if not patterns:
            yield anchors, known
            return
        elements = iter((self._dependencies[order[0]],)) if whole else self._spines[order[0]].elements()
        for element in elements:
            self._spend(1)
            for substitution in matches(patterns[0], element, known, skipped=self._skipped):
                self._spend(1)
                anchor = Anchor(order[0], element)
                yield from self._anchor(patterns[1:], order[1:], (*anchors, anchor), substitution)

    def _continued(
        self, schema: Schema, anchors: tuple[Anchor, ...], substitution: Substitution
    ) -> Iterator[tuple[tuple[Anchor, ...], Substitution]]:
        """Use the result as the first principal premise again, with the rest anchored in unused dependencies."""
        result = instance(schema.conclusion, substitution)
        used = {anchor.dependency for anchor in anchors}
        unused = [index for index in range(len(self._dependencies)) if index not in used]
        for known in matches(schema.principal[0], result, skipped=self._skipped):
            for order in permutations(unused, len(schema.principal) - 1):
                for longer, extended in self._anchor(schema.principal[1:], order, anchors, known):
                    yield longer, extended
                    yield from self._continued(schema, longer, extended)


class _Spine:
    """The spine of a dependency: what it says without case distinction.

    It holds the dependency itself; instances of a leading ∀ by the terms of the step; the conjuncts; both directions of
    ↔; what ¬¬, ¬∨ and ¬→ give; and, after all of these, the consequents of implications whose antecedents the *other*
    dependencies entail.
    """

    def __init__(self, index: int, step: _Step) -> None:
        self._index = index
        self._step = step
        self._found: list[Formula] = []
        self._source = self._generate()

    def elements(self) -> Iterator[Formula]:
        """The elements in order; they are found once and remembered."""
        position = 0
        while True:
            while position < len(self._found):
                yield self._found[position]
                position += 1
            element = next(self._source, None)
            if element is None:
                return
            self._found.append(element)

    def _generate(self) -> Iterator[Formula]:
        seen = {self._step.dependency(self._index): None}
        implications: list[Implies] = []
        frontier = list(seen)
        while frontier:
            yield from frontier
            implications.extend(element for element in frontier if isinstance(element, Implies))
            grown = dict.fromkeys(
                part
                for element in frontier
                for part in spine_parts(element, self._step.terms_of_sort)
                if part not in seen
            )
            if not grown:  # only now, with nothing else left, ask which implications are active
                active = [i for i in implications if self._step.entailed_by_others((self._index,), i.left)]
                implications = [i for i in implications if i not in active]
                grown = dict.fromkeys(i.right for i in active if i.right not in seen)
            seen.update(grown)
            frontier = list(grown)
            if len(seen) > SPINE_BUDGET:
                self._step.leave_open(f"a dependency has more than {SPINE_BUDGET} parts and instances")
                return


def spine_parts(element: Formula, terms_of_sort: Callable[[str], Iterable[Term]]) -> Iterator[Formula]:
    """What is in the spine of a dependency because ``element`` is, but for consequents of implications.

    Args:
        element: of the spine.
        terms_of_sort: the terms by which a leading ∀ of a sort is instantiated.
    """
    match element:
        case ForAll(variable, _):
            for term in terms_of_sort(variable.sort):
                yield instantiate(element, term)
        case And(left, right):
            yield left
            yield right
        case Iff(left, right):
            yield Implies(left, right)
            yield Implies(right, left)
        case Not(Not(body)):
            yield body
        case Not(Or(left, right)):
            yield Not(left)
            yield Not(right)
        case Not(Implies(left, right)):
            yield left
            yield Not(right)
        case _:
            return


def _without(parts: tuple[Formula, ...], removed: tuple[Formula, ...]) -> tuple[Formula, ...] | None:
    """The parts without the removed ones, compared up to bound names and regrouping; None if one is not among them."""
    keys = [regrouped(part) for part in parts]
    rest = list(parts)
    for formula in removed:
        key = regrouped(formula)
        if key not in keys:
            return None
        position = keys.index(key)
        del keys[position], rest[position]
    return tuple(rest)


def term_variables(schema: Schema) -> tuple[str, ...]:
    """The names of the schema's term variables: the constants of its patterns."""
    patterns = (*schema.principal, *schema.minor, schema.conclusion)
    return tuple(dict.fromkeys(t.function for p in patterns for t in terms(p) if isinstance(t, App)))
