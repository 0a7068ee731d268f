"""The spine of a dependency, and every way in which a formula is an instance of a pattern.

The *spine* is what a dependency says without case distinction, in elements: the formula itself; instances of a leading
∀, and of a leading ¬∃, by the terms of the step; the conjuncts; both directions of ↔; what ¬¬, ¬∨ and ¬→ give; and,
after all of these, the consequents of implications whose antecedents hold. A pattern is *matched* with an element.

In: a formula, the terms of the step, and who can tell which antecedents hold. Out: its :class:`Element` objects.
In: a pattern (``rules.schema``) and a closed formula. Out: substitutions. Matching is up to

* the names of bound variables;
* regrouping and reordering of ∧, of ∨, and of ⊕ between three or more operands (a pattern ``A ∧ B`` splits a longer
  conjunction in every way);
* the order of the two sides of ↔ and of =, and of the variables of a block of ∀, or of ∃;

nothing more: no De Morgan, no double negation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Final, TypeAlias

import msgspec

from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.pattern import Lambda, Substitution
from proof_r1_formal.kernel.syntax import (
    And,
    App,
    Atom,
    Binary,
    Binder,
    Connective,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Term,
    Var,
    Xor,
    conjunction,
)
from proof_r1_formal.kernel.transform import fresh_variable, instantiate, substitute
from proof_r1_formal.text.equivalence import conjuncts, operands, regroup

# -- the spine ---------------------------------------------------------------------------------------------------------


SPINE_BUDGET = 1_000
"""The most spine elements of a dependency that are looked at."""


class Element(msgspec.Struct, frozen=True, gc=False):
    """A spine element, and the antecedents of the implications on the way to it, the outermost first."""

    formula: Formula
    antecedents: tuple[Formula, ...] = ()


class Spine:
    """The spine of a dependency, found on demand and remembered.

    Args:
        formulas: whose spine it is: a dependency, or what it says under the hypotheses of a step.
        denials: whether ¬(A ∧ B) counts as A → ¬B and as B → ¬A; where steps may stand under hypotheses, it does.

    Attributes:
        elements: those found so far; those behind antecedents come last.
        complete: whether all elements are found.
        open_question: why there may be more of them than are ever found; empty without a reason.
    """

    def __init__(self, formulas: Iterable[Formula], *, denials: bool = False) -> None:
        self.elements = [Element(formula) for formula in dict.fromkeys(formulas)]
        self.complete = all(isinstance(element.formula, Atom) for element in self.elements)
        self.open_question = ""
        self._denials = denials
        self._frontier = self.elements  # the last of them, whose parts are not found yet
        self._implications: list[Element] = []  # whose antecedents were not asked about
        self._seen = {element.formula for element in self.elements}

    def grow_parts(self, terms_of_sort: Callable[[str], Iterable[Term]]) -> list[Element]:
        """Find the parts of the last elements; those that are new.

        Args:
            terms_of_sort: the terms by which leading quantifiers are instantiated.
        """
        found: list[Element] = []
        for element in self._frontier:
            if isinstance(element.formula, Implies):
                self._implications.append(element)
            for part in spine_parts(element.formula, terms_of_sort):
                self._enter(part, element.antecedents, found)
            for part in denied(element.formula) if self._denials else ():
                self._enter(part, element.antecedents, found)
        return self._grown(found)

    def grow_consequents(self, holds: Callable[[Formula], bool]) -> list[Element]:
        """Find the consequents of implications whose antecedents hold; those that are new.

        Args:
            holds: whether an antecedent holds.
        """
        found: list[Element] = []
        for element in self._implications:
            assert isinstance(element.formula, Implies)
            antecedent, consequent = element.formula.left, element.formula.right
            if holds(antecedent):
                self._enter(consequent, (*element.antecedents, antecedent), found)
        self._implications = []
        self.complete = not found
        return self._grown(found)

    def _grown(self, found: list[Element]) -> list[Element]:
        if len(self._seen) > SPINE_BUDGET:
            self.open_question = f"a dependency has more than {SPINE_BUDGET} parts and instances"
            found, self._implications = [], []
        self._frontier = found
        self.elements += found
        return found

    def _enter(self, formula: Formula, antecedents: tuple[Formula, ...], found: list[Element]) -> None:
        if formula not in self._seen:
            self._seen.add(formula)
            found.append(Element(formula, antecedents))


def spine_parts(element: Formula, terms_of_sort: Callable[[str], Iterable[Term]]) -> tuple[Formula, ...]:
    """The formulas that are in the spine of a dependency because ``element`` is, except consequents of implications.

    Args:
        element: of the spine.
        terms_of_sort: the terms by which a leading quantifier of a sort is instantiated.
    """
    if isinstance(element, And):
        return element.left, element.right
    if isinstance(element, ForAll):
        return tuple([instantiate(element, term) for term in terms_of_sort(element.variable.sort)])
    if isinstance(element, Iff):
        return Implies(element.left, element.right), Implies(element.right, element.left)
    if not isinstance(element, Not):
        return ()
    match element.body:
        case Not(body):
            return (body,)
        case Or(left, right):
            return Not(left), Not(right)
        case Implies(left, right):
            return left, Not(right)
        case Exists(variable, _) as existential:
            return tuple([Not(instantiate(existential, term)) for term in terms_of_sort(variable.sort)])
        case _:
            return ()


def denied(element: Formula) -> tuple[Formula, ...]:
    """The implications that ¬(A ∧ B) says: from all conjuncts but one to the negation of that one."""
    match element:
        case Not(And() as body):
            parts = conjuncts(body)
            pairs = [(tuple([p for p in parts if p is not part]), part) for part in dict.fromkeys(parts)]
            return tuple([Implies(conjunction(rest), Not(part)) for rest, part in pairs if rest])
        case _:
            return ()


# -- instances of patterns ---------------------------------------------------------------------------------------------


MAX_OPERANDS: Final = 10
"""Conjunctions and disjunctions of more operands are not split; :func:`matches` tells its caller through
``skipped``."""


def matches(
    pattern: Formula,
    formula: Formula,
    substitution: Substitution | None = None,
    *,
    skipped: Callable[[], None] = lambda: None,
) -> list[Found]:
    """The substitutions, extending the given one, under which ``pattern`` is ``formula``.

    Args:
        pattern: its predicates stand for formulas; a pattern variable that occurs twice stands for one formula.
        formula: a closed formula.
        substitution: what pattern variables are already known to be.
        skipped: called when a split was not tried because there are too many.
    """
    return _match(pattern, formula, (), dict(substitution or {}), skipped)


Found: TypeAlias = dict[str, Lambda | Term]
_Bound: TypeAlias = tuple[tuple[Var, Var], ...]
"""Variables bound around the current place: in the pattern and in the formula."""


def _match(
    pattern: Formula, formula: Formula, bound: _Bound, substitution: Found, skipped: Callable[[], None]
) -> list[Found]:
    if isinstance(pattern, Atom):
        if bound or pattern.arguments or pattern.predicate in substitution:
            return _bind(pattern, formula, bound, substitution)
        return [{**substitution, pattern.predicate: Lambda((), formula)}]
    result: list[Found] = []
    if isinstance(pattern, Binary):
        for one, other in _sides(pattern, formula, skipped):
            for partial in _match(pattern.left, one, bound, substitution, skipped):
                result += _match(pattern.right, other, bound, partial, skipped)
    elif isinstance(pattern, Not):
        return _match(pattern.body, formula.body, bound, substitution, skipped) if isinstance(formula, Not) else []
    elif isinstance(pattern, Binder):
        variable = pattern.variable
        for first, rest in _heads(type(pattern), formula):
            known = substitution.get(variable.name, first)
            if isinstance(known, Var) and known.sort == first.sort:
                actual = fresh_variable(first, {v for _, v in bound})  # ∃x ∀x R(x,x) is ∃y ∀x R(x,x)
                inside = rest if actual is first else substitute(rest, {first: actual})
                inner = (*bound, (variable, actual))
                result += _match(pattern.body, inside, inner, {**substitution, variable.name: known}, skipped)
    elif isinstance(pattern, Eq):
        if isinstance(formula, Eq) and not formula.free:
            for first_term, last_term in ((formula.left, formula.right), (formula.right, formula.left)):
                for partial in _bind_term(pattern.left, first_term, substitution):
                    result += _bind_term(pattern.right, last_term, partial)
    else:
        raise CatalogueError(f"a pattern cannot contain {type(pattern).__name__}")
    return result


def _sides(pattern: Connective, formula: Formula, skipped: Callable[[], None]) -> Sequence[tuple[Formula, Formula]]:
    """The two sides of a binary formula in every order and grouping that says the same; none of another formula."""
    if type(formula) is not type(pattern):
        return ()
    if isinstance(formula, Xor):
        nested = isinstance(formula.left, Xor) or isinstance(formula.right, Xor)
        return _splits(formula, skipped) if nested else ((formula.left, formula.right),)
    if isinstance(formula, Implies):
        return ((formula.left, formula.right),)
    if isinstance(formula, (And, Or)):
        return _splits(formula, skipped)
    assert isinstance(formula, Iff)
    return (formula.left, formula.right), (formula.right, formula.left)


def _heads(quantifier: type[Quantified], formula: Formula) -> Iterator[tuple[Var, Formula]]:
    """Each variable of the block of quantifiers in front of the formula, with what is under it if it comes first."""
    block: list[Var] = []
    while isinstance(formula, quantifier) and formula.variable.name not in {variable.name for variable in block}:
        block.append(formula.variable)
        formula = formula.body
    for variable in block:
        rest = formula
        for other in reversed(block):
            if other is not variable:
                rest = quantifier(other, rest)
        yield variable, rest


_DIVISIONS: Final = [sorted(range(1, (1 << count) - 1), key=int.bit_count) for count in range(1, MAX_OPERANDS + 1)]
"""For each number of operands, from 1 on, the bits of those in the first part, small parts first."""


def _splits(formula: And | Or | Xor, skipped: Callable[[], None]) -> Sequence[tuple[Formula, Formula]]:
    """Every division of the operands into two non-empty parts, small first parts first."""
    join = type(formula)
    parts = operands(formula, join)
    count = len(parts)
    if count == 2:
        one, other = parts
        return (one, other), (other, one)
    if count > MAX_OPERANDS:
        skipped()
        return ()
    return [
        (
            reduce(join, [f for i, f in enumerate(parts) if mask >> i & 1]),
            reduce(join, [f for i, f in enumerate(parts) if not mask >> i & 1]),
        )
        for mask in _DIVISIONS[count - 1]
    ]


def _bind(letter: Atom, formula: Formula, bound: _Bound, substitution: Found) -> list[Found]:
    """The substitution with the letter, and its arguments, standing for ``formula``; none if it cannot."""
    name, arguments = letter.predicate, letter.arguments
    partner = dict(bound)
    variables = tuple([partner[a] for a in arguments if isinstance(a, Var)])
    if len(variables) != len(arguments):
        raise CatalogueError(f"a pattern that is matched may apply {name!r} to bound variables only")
    foreign = {v for _, v in bound} - set(variables)
    if foreign and not foreign.isdisjoint(formula.free):
        return []
    new = Lambda(variables, formula)
    known = substitution.get(name)
    if known is None:
        return [{**substitution, name: new}]
    return [substitution] if isinstance(known, Lambda) and _close(known) is _close(new) else []


def _bind_term(letter: Term, term: Term, substitution: Found) -> list[Found]:
    """The substitution with the letter standing for a term without variables; none if it stands for another."""
    if not isinstance(letter, App) or letter.arguments:
        raise CatalogueError("a pattern equates letters for terms only")
    known = substitution.get(letter.function)
    if known is None:
        return [{**substitution, letter.function: term}]
    return [substitution] if known is term else []


def _close(function: Lambda) -> Formula:
    """A representative of a formula with holes, up to bound names and regrouping."""
    body = function.body
    for variable in reversed(function.variables):
        body = ForAll(variable, body)
    return regroup(body)
