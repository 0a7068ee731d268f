"""Openings: steps that a rule catalogue allows from known formulas, with the formulas that they still require.

In: the schemata of a catalogue, and formulas that are known or wanted. Out: an :class:`Opening` for each way to fit a
schema to them. This module contains no special case for any rule. RuleCheck's functions match known formulas with
principal patterns, and wanted formulas with conclusions. An opening is a proposal that RuleCheck may reject.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from proof_r1_formal.kernel.pattern import Lambda, Substitution, instance
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import (
    And,
    Atom,
    Bottom,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Top,
    Xor,
)
from proof_r1_formal.kernel.transform import negate
from proof_r1_formal.rules.forms import conjunctive_parts
from proof_r1_formal.rules.matching import Element, matches, spine_parts
from proof_r1_formal.rules.schema import Catalogue, Condition, Schema

MAX_ELEMENTS = 200
"""The most spine elements of a formula that are looked at, and those that the last of them give."""

Terms: TypeAlias = Mapping[str, tuple[Term, ...]]
"""The ground terms of a problem by sort."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A step by a rule, with the formulas that it still requires.

    Attributes:
        principal: numbers of the known formulas in which its principal premises are anchored.
        needs: what its other dependencies must entail.
        own: what must be among its other dependencies, each by itself; a conjunction may be there in parts.
        said: what must be in the spine of one of its other dependencies.
    """

    rule: str
    principal: tuple[int, ...]
    needs: tuple[Formula, ...]
    own: tuple[Formula, ...]
    conclusion: Formula
    said: tuple[Formula, ...] = ()


def elements(formula: Formula, terms: Terms) -> tuple[Element, ...]:
    """The spine of a known formula, the formula first, each element by the shortest way to it."""
    found = {formula: Element(formula)}
    frontier = [Element(formula)]
    while frontier and len(found) < MAX_ELEMENTS:
        grown: list[Element] = []
        for element in frontier:
            found_parts = spine_parts(element.formula, lambda sort: terms.get(sort, ()))
            parts = [Element(part, element.antecedents) for part in found_parts]
            if isinstance(element.formula, Implies):
                parts.append(Element(element.formula.right, (*element.antecedents, element.formula.left)))
            for part in parts:
                if part.formula not in found:
                    found[part.formula] = part
                    grown.append(part)
        frontier = grown
    return tuple(found.values())


class Spines:
    """The spines of the known formulas, their elements by kind of formula."""

    def __init__(self) -> None:
        self._elements: list[dict[type[Formula] | None, list[Element]]] = []
        self._having: defaultdict[type[Formula] | None, list[int]] = defaultdict(list)

    def add(self, spine: Sequence[Element]) -> None:
        """Add the spine of the next formula."""
        kinds: dict[type[Formula] | None, list[Element]] = {None: list(spine)}
        for element in spine:
            kinds.setdefault(type(element.formula), []).append(element)
        for kind in kinds:
            self._having[kind].append(len(self._elements))
        self._elements.append(kinds)

    def of(self, number: int) -> Sequence[Element]:
        """The spine of the formula of a number."""
        return self._elements[number][None]

    def of_kind(self, kind: type[Formula] | None, numbers: range) -> Iterator[tuple[int, Sequence[Element]]]:
        """The elements that are formulas of a kind (None: of any), by those of the numbers whose formulas have some."""
        having = self._having[kind]
        for number in having[bisect_left(having, numbers.start) : bisect_left(having, numbers.stop)]:
            yield number, self._elements[number][kind]


class Schemata:
    """The schemata of a catalogue that infer: those that take known formulas apart, and those that build wanted ones.

    A schema *builds* if it has no principal premise, or if its conclusion is larger than each of them and has all
    letters: it would go on for ever, so it is tried for what is wanted only.

    Args:
        rules: the catalogue.
        stepwise: whether a schema without minor premises is kept from what stands behind an antecedent, so that a
            conclusion is drawn first and taken apart then.
    """

    def __init__(self, rules: Catalogue, *, stepwise: bool) -> None:
        schemata = [(rule.name, schema) for rule in rules.rules for schema in rule.schemata]
        inferring = [(rule, schema) for rule, schema in schemata if Condition.TERMINAL not in schema.conditions]
        self._building = [(rule, schema) for rule, schema in inferring if _builds(schema)]
        self._parting = [(rule, schema) for rule, schema in inferring if not _builds(schema)]
        self._stepwise = stepwise

    def building(self, wanted: Formula, terms: Terms) -> Iterator[Opening]:
        """The openings that conclude a formula as it is written."""
        for rule, schema in self._building:
            for matched in matches(schema.conclusion, wanted):
                for substitution in _with_terms(schema, matched, terms):
                    principal = tuple([instance(pattern, substitution) for pattern in schema.principal])
                    minor = tuple([instance(pattern, substitution) for pattern in schema.minor])
                    if Condition.OWN_DEPENDENCIES in schema.conditions:
                        yield Opening(rule, (), (), (*principal, *minor), wanted)
                    elif Condition.STATED in schema.conditions:  # in parts, but a disjunction only as it is
                        parts = [part for formula in minor for part in conjunctive_parts(formula)]
                        whole = [p for p in parts if isinstance(p, Or | Implies | Not) and len(cases(p)) > 1]
                        needs = tuple([part for part in parts if part not in whole])
                        yield Opening(rule, (), needs, principal, wanted, said=tuple(whole))
                        yield Opening(rule, (), (), (*principal, *minor), wanted)
                    else:
                        yield Opening(rule, (), minor, principal, wanted)

    def parting(self, number: int, known: Spines, terms: Terms, spend: Callable[[], None]) -> Iterator[Opening]:
        """The openings with a known formula among those in which their principal premises are anchored.

        The numbers of the others are smaller. ``spend`` is called for each element that is tried.
        """

        def anchored(patterns: tuple[Formula, ...], place: int, so_far: _Anchored) -> Iterator[_Anchored]:
            """Every way to anchor the other patterns, the one at ``place`` in the known formula of the number."""
            position = len(so_far.numbers)
            if position == len(patterns):
                yield so_far
                return
            pattern = patterns[position]
            among = range(number, number + 1) if position == place else range(number + 1)
            kind = None if isinstance(pattern, Atom) else type(pattern)  # a letter matches any formula
            for candidate, spine in known.of_kind(kind, among):
                if candidate in so_far.numbers or (position < place and candidate == number):
                    continue
                for element in spine:
                    spend()
                    for substitution in matches(pattern, element.formula, so_far.substitution):
                        antecedents = (*so_far.antecedents, *element.antecedents)
                        longer = _Anchored((*so_far.numbers, candidate), antecedents, substitution)
                        yield from anchored(patterns, place, longer)

        for rule, schema in self._parting:
            whole = self._stepwise and not schema.minor
            for place in range(len(schema.principal)):
                for found in anchored(schema.principal, place, _Anchored()):
                    if whole and found.antecedents:
                        continue
                    for substitution in _with_terms(schema, found.substitution, terms):
                        minor = [instance(pattern, substitution) for pattern in schema.minor]
                        conclusion = instance(schema.conclusion, substitution)
                        if Condition.SYNTACTIC not in schema.conditions:
                            conclusion = plain(conclusion)
                        yield Opening(rule, found.numbers, (*found.antecedents, *minor), (), conclusion)


@dataclass(frozen=True, slots=True)
class _Anchored:
    """Principal patterns found in known formulas, a different one each."""

    numbers: tuple[int, ...] = ()
    antecedents: tuple[Formula, ...] = ()
    substitution: Substitution = field(default_factory=dict)


def _builds(schema: Schema) -> bool:
    if not schema.principal:
        return True
    letters = {name for name, _ in symbols(schema.conclusion).uses}
    larger = schema.conclusion.size > max(pattern.size for pattern in schema.principal)
    return larger and all(name in letters for premise in schema.premises for name, _ in symbols(premise).uses)


def _with_terms(schema: Schema, substitution: Substitution, terms: Terms) -> Iterator[Substitution]:
    """The substitution with every choice for the term that it leaves open."""
    names = schema.open_terms
    if not names:
        yield substitution
        return
    (name,) = names  # a catalogue refuses a schema with more
    sorts = {v.sort for value in substitution.values() if isinstance(value, Lambda) for v in value.variables}
    for sort in sorted(sorts):
        for term in terms.get(sort, ()):
            yield {**substitution, name: term}


# -- formulas in other words ------------------------------------------------------------------------------------------


def plain(formula: Formula) -> Formula:
    """The formula without double negations in front."""
    while isinstance(formula, Not) and isinstance(formula.body, Not):
        formula = formula.body.body
    return formula


def _in_parts(formula: Formula) -> Formula:
    """The formula as ∧, ∨ or ⊕ of other formulas, if it has two parts."""
    match formula:
        case Implies(left, right):
            return Or(negate(left), right)
        case Iff(left, right) | Not(Xor(left, right)):
            return Xor(left, negate(right))
        case Not(Iff(left, right)):
            return Xor(left, right)
        case Not(And(left, right)):
            return Or(negate(left), negate(right))
        case Not(Or(left, right)):
            return And(negate(left), negate(right))
        case Not(Implies(left, right)):
            return And(left, negate(right))
        case _:
            return formula


@lru_cache(maxsize=1 << 16)
def cases(formula: Formula) -> tuple[tuple[Formula, ...], ...]:
    """The ways in which parts make a formula true: it is true where all formulas of one of them are."""
    match _in_parts(formula):
        case Top() | Not(Bottom()):
            return ((),)
        case And(left, right):
            return ((left, right),)
        case Or(left, right):
            return ((left,), (right,))
        case Xor(left, right):
            return ((left, negate(right)), (negate(left), right))
        case Not(Not(body)):
            return ((body,),)
        case _:
            return ()


def introducible(formula: Formula) -> tuple[Formula, ...]:
    """The formula in words that a rule may introduce: as ∧, as ⊕, as ↔, or as it is.

    No rule of the method introduces ∨ or →. But A ∨ B is A ⊕ (¬A ∧ B), which ¬A and B state, and it is B ⊕ (¬B ∧ A).
    """
    match formula:
        case Not(Not(body)):
            return introducible(body)
        case Not(ForAll(variable, body)):
            return formula, Exists(variable, negate(body))
        case Iff():
            return formula, _in_parts(formula)
        case Not(Iff()):
            return (formula,)
        case Not(Xor(left, right)):
            return _in_parts(formula), Iff(left, right)
    match _in_parts(formula):
        case Or(left, right):
            return Xor(left, And(negate(left), right)), Xor(right, And(negate(right), left))
        case said:
            return (said,)
