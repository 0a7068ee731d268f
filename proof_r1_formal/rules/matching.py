"""Patterns against formulas: every way in which a formula is an instance of a pattern.

In: a pattern (``rules.schema``) and a closed formula. Out: substitutions. Matching is up to

* the names of bound variables;
* regrouping and reordering of ∧, of ∨, and of ⊕ between three or more operands (a pattern ``A ∧ B`` splits a longer
  conjunction in every way);
* the order of the two sides of ↔ and of =, and of the variables of a block of ∀, or of ∃;

nothing more: no De Morgan, no double negation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Final, TypeAlias

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
)
from proof_r1_formal.kernel.transform import fresh_variable, substitute
from proof_r1_formal.text.equivalence import operands, regroup

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
