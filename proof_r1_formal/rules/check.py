"""RuleCheck: is a step an instance of the rule it names?

In: a rule, the formulas of the dependencies, the conclusion, and an oracle for entailment. Out: the instance
(:class:`Match`), that there is none (:class:`NoMatch`), or that a question which decides it is undecided
(:class:`Undecided`).

Read literally, "the dependencies entail the premises of an instance" accepts every entailed step under nearly every
rule (A := ⊤ and B := the conclusion make it an implication elimination). So principal premises are *anchored*: each
must be a spine element (``rules.matching``) of a dependency of its own. Minor premises need only be entailed by the
others, or stand in the spine of an anchored one. The conclusion must be equivalent to the instance's, as plain logic,
never under the dependencies.

One module, because every part of a search for an instance reads and spends the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, permutations, product
from typing import Final, TypeAlias

import msgspec
from msgspec import structs

from proof_r1_formal.engine.oracle import QUESTION, Oracle
from proof_r1_formal.engine.solver import BudgetSpentError, instance_price
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.pattern import Lambda, Substitution, instance
from proof_r1_formal.kernel.signature import ground_terms
from proof_r1_formal.kernel.syntax import ENTITY, App, Atom, Binder, Eq, Exists, Formula, Not, Term
from proof_r1_formal.kernel.transform import instantiate
from proof_r1_formal.rules.forms import covers, is_stated, normal_form, plain_form
from proof_r1_formal.rules.hypotheses import Reading, readings
from proof_r1_formal.rules.matching import Element, Spine, matches
from proof_r1_formal.rules.replacement import replaced
from proof_r1_formal.rules.schema import Condition, Rule, Schema

CHECK_BUDGET: Final = 10_000
"""Budget of one check: 1 for each candidate, more for one from a long or deep quantified formula, and ``QUESTION`` for
each entailment question."""

_SYNTACTIC, _HEADED, _STATED, _OWN, _AS_WRITTEN, _REPLACED, _CHAIN, _TERMINAL = (
    Condition  # looking one up in its class is slow
)


_ELEMENT: Final = App("␣element", ())
"""An element of a sort that no term of a step is of, where steps may stand under hypotheses."""


class Anchor(msgspec.Struct, frozen=True, gc=False):
    """Where a principal premise comes from: the index of a dependency, and the element of its spine.

    The hypotheses of a step count on from its dependencies.

    Attributes:
        antecedents: of the implications on the way to the element; the other dependencies entail them.
    """

    dependency: int
    element: Formula
    antecedents: tuple[Formula, ...] = ()


class Match(msgspec.Struct, frozen=True, gc=False):
    """The step is an instance of ``schema`` under ``substitution``.

    Attributes:
        principal: one anchor per principal premise (in a chain, one per link).
        minor: the minor premises, entailed by the dependencies that hold no anchor, or stated by one that does; with
            own dependencies, entailed by dependencies themselves.
        unstated: the minor premises, and antecedents of the anchors, that are entailed but stated by no dependency:
            such a step merges two inferences. Empty where the budget does not suffice to tell.
        constants, hypotheses: of the reading (``rules.hypotheses``) under which it is an instance; empty without one.
    """

    schema: Schema
    substitution: Substitution
    principal: tuple[Anchor, ...]
    minor: tuple[Formula, ...]
    unstated: tuple[Formula, ...] = ()
    constants: tuple[App, ...] = ()
    hypotheses: tuple[Formula, ...] = ()


class NoMatch(msgspec.Struct, frozen=True):
    """No schema of the rule fits."""


class Undecided(msgspec.Struct, frozen=True):
    """No fitting instance was found, but one may have been missed.

    Attributes:
        reason: the undecided question.
        broken: whether it is undecided because the solver is broken.
    """

    reason: str
    broken: bool = False


RuleResult: TypeAlias = Match | NoMatch | Undecided


def check_rule(
    rule: Rule,
    dependencies: tuple[Formula, ...],
    conclusion: Formula,
    oracle: Oracle,
    *,
    terminal: bool = False,
    hypotheses: bool = False,
    plainly: bool = False,
    budget: int = CHECK_BUDGET,
) -> RuleResult:
    """Find an instance of ``rule`` that leads from the dependencies to the conclusion.

    One whose premises are stated goes before one that has :attr:`Match.unstated` premises.

    Args:
        rule: its schemata are tried in order.
        dependencies: formulas of the distinct dependencies.
        conclusion: of the step.
        oracle: answers the auxiliary questions, and is charged for what the check spends.
        terminal: whether the step is the terminal action.
        hypotheses: whether it may be an instance under hypotheses. A plain instance goes first: one that uses no
            consequent of an implication, and takes no logical truth for another in other words. Of two that are plain,
            or are not, one without hypotheses goes first.
        plainly: whether only plain instances are looked for; for steps under hypotheses.
        budget: of the check. If it ends after a first instance was found, that instance counts.
    """
    if not hypotheses or terminal:
        step = _Step(dependencies, conclusion, oracle, budget, inhabited=hypotheses)
        return _checked(rule, step, oracle, terminal=terminal)
    best: RuleResult = NoMatch()
    left = budget
    for plain, whole, reading in _attempts(dependencies, conclusion, (True,) if plainly else (True, False)):
        if (isinstance(best, Match) and not best.unstated) or left < 0:  # at 0, the next reading says that it is spent
            break
        concluded = conclusion if reading is None else reading.conclusion
        step = _Step(dependencies, concluded, oracle, left, reading, whole=whole, inhabited=True, plain=plain)
        result = _checked(rule, step, oracle, terminal=False)
        if isinstance(result, Match) and reading is not None:
            result = structs.replace(result, constants=reading.constants, hypotheses=reading.hypotheses)
        best = _better(best, result)
        left = step.left
    return best


def _attempts(
    dependencies: tuple[Formula, ...], conclusion: Formula, plain: Iterable[bool]
) -> Iterator[tuple[bool, bool, Reading | None]]:
    """The ways to look for an instance under hypotheses: whether plainly, with whole dependencies, in which reading."""
    read: tuple[Reading, ...] | None = None
    for plainly in plain:
        yield plainly, True, None
        read = tuple(readings(dependencies, conclusion)) if read is None else read
        for whole, reading in product((False, True), read):
            yield plainly, whole, reading


def _better(first: RuleResult, second: RuleResult) -> RuleResult:
    """The more informative result, the first of two alike."""

    def rank(result: RuleResult) -> int:
        if isinstance(result, Match):
            return 2 if result.unstated else 3
        return int(isinstance(result, Undecided))

    return second if rank(second) > rank(first) else first


def _checked(rule: Rule, step: _Step, oracle: Oracle, *, terminal: bool) -> RuleResult:
    """The result for a step, or for one reading of it."""
    before = step.left
    try:
        for schema in rule.schemata:
            if terminal or _TERMINAL not in schema.conditions:
                found = step.instance_of(schema)
                if found is not None:
                    return found
    except BudgetSpentError:
        return step.compound or Undecided("the budget of the rule check is spent")
    finally:
        oracle.charge(before - step.left)
    return step.compound or (Undecided(step.open_question, step.broken) if step.open_question else NoMatch())


class _Step:
    """One step under check.

    Attributes:
        compound: the first instance with unstated premises that was found.
        open_question: the first undecided question; empty without one.
        left: what is left to spend.
    """

    def __init__(
        self,
        dependencies: tuple[Formula, ...],
        conclusion: Formula,
        oracle: Oracle,
        budget: int,
        reading: Reading | None = None,
        *,
        whole: bool = True,
        inhabited: bool,
        plain: bool = False,
    ) -> None:
        self._inhabited = inhabited
        self._plain = plain  # whether spines end before the consequents, and no logical truth is proved
        self.compound: Match | None = None
        self.open_question = ""
        self.broken = False
        self.left = budget
        self._dependencies = dependencies if reading is None else (*dependencies, *reading.hypotheses)
        self._conclusion = conclusion
        self._oracle = oracle
        self._constant: dict[Formula, bool] = {}
        self._terms: Mapping[str, tuple[Term, ...]] | None = None
        self._spines = [Spine((formula,), denials=inhabited) for formula in self._dependencies]
        self._said: tuple[tuple[Formula, ...], ...] = ()  # what each dependency says under the hypotheses
        if reading is not None:
            self._said = (*reading.dependencies, *[(formula,) for formula in reading.hypotheses])
            self._spines = [
                Spine((*said, formula) if whole else said, denials=True)
                for formula, said in zip(self._dependencies, self._said, strict=True)
            ]

    # -- questions ----------------------------------------------------------------------------------------------------

    def _yes(self, answer: Answer) -> bool:
        if isinstance(answer, Unknown):
            self.broken = self.broken or (not self.open_question and answer.reason is Reason.BROKEN)
            self._leave_open(f"a question of the rule stayed undecided ({answer.reason})")
        return isinstance(answer, Entailed)

    def _leave_open(self, question: str) -> None:
        self.open_question = self.open_question or question

    def _equivalent(self, first: Formula, second: Formula) -> bool:
        """Whether the formulas are equivalent; logical truths, which all are, must say the same plainly.

        In the catalogues of the method no logical truth is a premise or makes progress, so they need no such care.
        Many formulas are compared with one ``second``, so that one is asked whether it is a logical truth.
        """
        if self._inhabited and first is not second and self._may_be_constant(second):
            if plain_form(first) is plain_form(second):
                return True
            if self._oracle.may_be_equivalent(first, second):
                if self._plain:
                    return False
                answer = self._oracle.constant(second)
                if not isinstance(answer, Refuted):
                    self._yes(answer)  # an undecided one leaves the check open
                    return False
        return self._yes(self._oracle.equivalent(first, second))

    def _may_be_constant(self, formula: Formula) -> bool:
        """See :class:`Oracle`; a step pays for each formula once."""
        if formula not in self._constant:
            self._constant[formula] = self._oracle.may_be_constant(formula)
        return self._constant[formula]

    def _entailed_by_others(self, anchored: tuple[int, ...], formula: Formula) -> bool:
        """Whether the dependencies that hold none of the anchors entail the formula."""
        self._spend(QUESTION)
        others = tuple([d for index, d in enumerate(self._dependencies) if index not in anchored])
        said = [each for index, each in enumerate(self._said) if index not in anchored]
        others = tuple(dict.fromkeys(chain(others, *said))) if said else others
        return formula in others or self._yes(self._oracle.follows(others, formula, fingerprints=self._inhabited))

    def _terms_of_sort(self, sort: str) -> tuple[Term, ...]:
        if self._terms is None:
            self._terms = ground_terms((*self._dependencies, self._conclusion))
        known = self._terms.get(sort, ())
        if self._inhabited and not known:  # domains are not empty
            return (_ELEMENT if sort == ENTITY else App(f"{_ELEMENT.function} {sort}", (), sort),)
        return known

    def _substantial(self, premises: Iterable[Formula]) -> bool:
        """Whether no premise is a tautology or a contradiction (in doubt, it is not substantial).

        Where steps may stand under hypotheses, logical truths have proofs, and one may suppose a contradiction.
        """
        if self._inhabited:
            return True
        for premise in premises:
            self._spend(QUESTION)
            answer = self._oracle.constant(premise)
            if isinstance(answer, Unknown):
                self._leave_open("whether a premise is a tautology stayed undecided")
            if not isinstance(answer, Refuted):
                return False
        return True

    # -- instances ----------------------------------------------------------------------------------------------------

    def instance_of(self, schema: Schema) -> Match | None:
        """The first instance of the schema that this step is and that has no unstated premises."""
        for order in permutations(range(len(self._dependencies)), len(schema.principal)):
            found = self._anchor(schema, schema.principal, order, (), {})
            if found is not None:
                return found
        return None

    def _anchor(
        self,
        schema: Schema,
        patterns: tuple[Formula, ...],
        order: tuple[int, ...],
        anchors: tuple[Anchor, ...],
        known: Substitution,
    ) -> Match | None:
        """An instance with the patterns anchored in the dependencies of that order, or with a chain from there."""
        if not patterns:
            found = self._complete(schema, anchors, known)
            if found is None and anchors and _CHAIN in schema.conditions:
                return self._continue(schema, anchors, known)
            return found
        pattern, index = patterns[0], order[0]
        position = 0
        while (element := self._element(index, position)) is not None:
            position += 1
            formula = element.formula
            if isinstance(pattern, Atom) or type(formula) is type(pattern):
                # an instance is made, normalised, regrouped and compared
                price = 1 + 4 * instance_price(formula) if formula.quantifiers else 1
                for substitution in matches(pattern, formula, known, skipped=self._skip):
                    self._spend(price)
                    anchored = (*anchors, Anchor(index, formula, element.antecedents))
                    found = self._anchor(schema, patterns[1:], order[1:], anchored, substitution)
                    if found is not None:
                        return found
            if _TERMINAL in schema.conditions:
                break  # the dependency itself, not what else is in its spine
        return None

    def _continue(self, schema: Schema, anchors: tuple[Anchor, ...], substitution: Substitution) -> Match | None:
        """Use the result as the first principal premise again, with the rest anchored in unused dependencies."""
        result = instance(schema.conclusion, substitution)
        used = {anchor.dependency for anchor in anchors}
        unused = [index for index in range(len(self._dependencies)) if index not in used]
        first, *others = schema.principal
        for known in matches(first, result, skipped=self._skip):
            for order in permutations(unused, len(others)):
                found = self._anchor(schema, tuple(others), order, anchors, known)
                if found is not None:
                    return found
        return None

    def _complete(self, schema: Schema, anchors: tuple[Anchor, ...], substitution: Substitution) -> Match | None:
        """The instance with these anchors, if it has no unstated premises; the first that has some is kept."""
        for complete in self._concluding(schema, substitution):
            if not self._substantial([anchor.element for anchor in anchors]):
                continue
            minor = tuple([instance(pattern, complete) for pattern in schema.minor])
            if not self._minor_hold(schema, anchors, minor):
                continue
            found = Match(schema, complete, anchors, minor)
            self.compound = self.compound or found
            unstated = self._missing(found)
            if not unstated:
                return found
            if self.compound is found:
                self.compound = structs.replace(found, unstated=unstated)
        return None

    def _missing(self, found: Match) -> tuple[Formula, ...]:
        """The formulas that an instance needs, and that the dependencies entail but state neither whole nor in parts.

        A dependency states what is in its spine behind no antecedent. Stated operands state what no rule introduces.
        """
        if _OWN in found.schema.conditions or _REPLACED in found.schema.conditions:
            return ()
        sums = _STATED in found.schema.conditions
        needed = [formula for formula in found.minor if formula not in self._dependencies]
        for anchor in found.principal:
            needed += [formula for formula in anchor.antecedents if formula not in self._dependencies]
        return tuple([f for f in needed if not is_stated(f, self._is_plainly_said, sums=sums, unruled=True)])

    def _minor_hold(self, schema: Schema, anchors: tuple[Anchor, ...], minor: tuple[Formula, ...]) -> bool:
        if _REPLACED in schema.conditions:  # found among what is said
            return True
        if _AS_WRITTEN in schema.conditions:
            written = tuple(self._instances_of_exists(minor))
            for dependencies in self._said_together():
                given = tuple(map(normal_form, dependencies))
                if any(covers(tuple(map(normal_form, formulas)), given, self._never) for formulas in written):
                    return True
            return False
        if _OWN in schema.conditions:
            return any(covers(minor, given, self._is) for given in self._said_together())
        if _STATED in schema.conditions:
            if not self._substantial(minor):
                return False
            return all(is_stated(formula, self._is_said, sums=True, unruled=False) for formula in minor)
        anchored = tuple([anchor.dependency for anchor in anchors])
        return all(self._entailed_by_others(anchored, formula) or self._is_said(formula, anchored) for formula in minor)

    def _said_together(self) -> Iterator[tuple[Formula, ...]]:
        """The dependencies, or every choice of what each of them says under the hypotheses."""
        if not self._said:
            yield self._dependencies
            return
        for chosen in product(*self._said):
            self._spend(1)
            yield chosen

    def _is_said(self, formula: Formula, of: Sequence[int] | None = None, *, plainly: bool = False) -> bool:
        """Whether the formula is in the spine of a dependency, or of one of some.

        A minor premise may also be stated by the dependency that holds a principal one.
        """
        places = range(len(self._dependencies)) if of is None else of
        self._spend(1)
        if formula in [self._dependencies[index] for index in places]:
            return True
        for index in places:
            position = 0
            while (element := self._element(index, position, plainly=plainly)) is not None:
                if self._equivalent(element.formula, formula):
                    return True
                position += 1
        return False

    def _is_plainly_said(self, formula: Formula) -> bool:
        """Whether it is there behind no antecedent."""
        return self._is_said(formula, plainly=True)

    def _element(self, index: int, position: int, *, plainly: bool = False) -> Element | None:
        """The element at a position of a dependency's spine, at 1; None behind the last.

        Args:
            index: of the dependency.
            position: from 0 on, each after the ones before it.
            plainly: whether an element behind an antecedent is one behind the last.
        """
        spine = self._spines[index]
        if position == len(spine.elements) and (spine.complete or not self._grown(index, plainly=plainly)):
            return None
        element = spine.elements[position]
        if plainly and element.antecedents:
            return None
        self._spend(1)
        return element

    def _grown(self, index: int, *, plainly: bool) -> list[Element]:
        """The elements of the spine of a dependency that are found next."""
        spine = self._spines[index]
        found = spine.grow_parts(self._terms_of_sort)
        if not (found or plainly or self._plain):
            found = spine.grow_consequents(lambda antecedent: self._entailed_by_others((index,), antecedent))
        self._leave_open(spine.open_question)
        return found

    def _is(self, element: Formula, formula: Formula) -> bool:
        self._spend(1)
        return self._equivalent(element, formula)

    def _never(self, _part: Formula, _formula: Formula) -> bool:
        self._spend(1)
        return False

    def _instances_of_exists(self, formulas: tuple[Formula, ...]) -> Iterator[tuple[Formula, ...]]:
        """The formulas; where there is but one, and ∃ stands in front, also its instances, and those of these."""
        yield formulas
        match formulas:
            case (Exists(variable, _) as existential,):
                for term in self._terms_of_sort(variable.sort):
                    self._spend(1)
                    yield from self._instances_of_exists((instantiate(existential, term),))

    def _concluding(self, schema: Schema, substitution: Substitution) -> Iterable[Substitution]:
        """The completions of the substitution under which the schema's conclusion is that of the step."""
        self._spend(1)
        if _REPLACED in schema.conditions:
            return self._replacing(schema, substitution)
        if _SYNTACTIC in schema.conditions:
            found = matches(schema.conclusion, self._conclusion, substitution, skipped=self._skip)
            return [candidate for matched in found for candidate in self._with_terms(schema, matched)]
        if not schema.open_terms:
            return (substitution,) if self._concludes(schema, substitution) else ()
        return filter(partial(self._concludes, schema), self._with_terms(schema, substitution))

    def _replacing(self, schema: Schema, substitution: Substitution) -> Iterator[Substitution]:
        """The substitutions under which the step replaces a term by an equal one, or tells two terms apart."""
        conclusion = self._conclusion
        equations: Iterable[Substitution] = (substitution,)
        if not schema.principal:
            equations = matches(schema.conclusion, conclusion, substitution, skipped=self._skip)
        letter = schema.minor[0]
        assert isinstance(letter, Atom)
        for known in equations:
            t, u = [known[name] for name in schema.open_terms]
            assert isinstance(t, App) and isinstance(u, App)
            sort = next((s for s in self._sorts() if t in self._terms_of_sort(s)), ENTITY)
            said = self._everything_said()
            pairs: Iterable[tuple[Formula, Formula]] = product(said, (conclusion,))
            if not schema.principal:
                pairs = ((one, other.body) for one in said for other in said if isinstance(other, Not))
            elif isinstance(conclusion, Eq):
                pairs = (*pairs, *[(Eq(side, side), conclusion) for side in (conclusion.left, conclusion.right)])
            for before, after in pairs:
                self._spend(1)
                found = replaced(before, after, t, u, sort)
                if found is not None:
                    yield {**known, letter.predicate: found}

    def _sorts(self) -> tuple[str, ...]:
        self._terms_of_sort(ENTITY)
        return tuple(self._terms or ())

    def _everything_said(self) -> tuple[Formula, ...]:
        """The elements of all spines that are behind no antecedent."""
        found: dict[Formula, None] = {}
        for index in range(len(self._dependencies)):
            position = 0
            while (element := self._element(index, position, plainly=True)) is not None:
                found[element.formula] = None
                position += 1
        return tuple(found)

    def _concludes(self, schema: Schema, candidate: Substitution) -> bool:
        """Whether the schema's conclusion, complete, is that of the step."""
        concluded = instance(schema.conclusion, candidate)
        if _HEADED in schema.conditions:
            same_head = _same_head(concluded, self._conclusion)
            return same_head and normal_form(concluded) is normal_form(self._conclusion)
        return self._equivalent(concluded, self._conclusion)

    def _with_terms(self, schema: Schema, substitution: Substitution) -> Iterator[Substitution]:
        """The substitution with every choice of a term for the term variable that it leaves open."""
        names = [name for name in schema.open_terms if name not in substitution]
        if not names:
            yield substitution
            return
        (name,) = names  # a catalogue's schemata have at most one
        sorts = {v.sort for value in substitution.values() if isinstance(value, Lambda) for v in value.variables}
        for sort in sorted(sorts):
            for term in self._terms_of_sort(sort):
                self._spend(1)
                yield {**substitution, name: term}

    def _skip(self) -> None:
        self._leave_open("a conjunction or disjunction has too many parts to be split in every way")

    def _spend(self, price: int) -> None:
        self.left -= price
        if self.left < 0:
            raise BudgetSpentError


def _same_head(first: Formula, second: Formula) -> bool:
    """Whether both formulas are ∀, ∃, ¬∀ or ¬∃."""
    while isinstance(first, Not) and isinstance(second, Not):
        first, second = first.body, second.body
    return isinstance(first, Binder) and type(first) is type(second)
