"""Operations on formulas that keep or relate their meaning: parts, substitution, renaming, alpha-equivalence.

All functions are pure, and linear in the size of their result unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias, assert_never

from proof_r1_formal.kernel.syntax import (
    And,
    App,
    Atom,
    Binary,
    Binder,
    Bottom,
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
    Top,
    Var,
    Xor,
    once,
)

Substitution: TypeAlias = Mapping[Var, Term]

_INSTANCES: Final = 1 << 10
"""How many instances a quantified formula keeps."""


# -- traversal --------------------------------------------------------------------------------------------------------


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and everything inside it, in pre-order (repeats included)."""
    stack = [formula]
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, Binary):
            stack.append(current.right)
            stack.append(current.left)
        elif isinstance(current, (Not, Binder)):
            stack.append(current.body)


def terms(formula: Formula) -> Iterator[Term]:
    """Every term inside the formula, arguments of terms included, left to right (repeats included)."""
    for part in subformulas(formula):
        if isinstance(part, Atom):
            for argument in part.arguments:
                yield from subterms(argument)
        elif isinstance(part, Eq):
            yield from subterms(part.left)
            yield from subterms(part.right)


def subterms(root: Term) -> Iterator[Term]:
    """The term and everything inside it, left to right (repeats included)."""
    stack = [root]
    while stack:
        term = stack.pop()
        yield term
        if isinstance(term, App):
            stack.extend(reversed(term.arguments))


@once
def functions_within(term: Term) -> tuple[str, ...]:
    """The names of the functions of a term, constants among them (repeats included)."""
    return tuple([part.function for part in subterms(term) if isinstance(part, App)])


def constants(formula: Formula) -> tuple[App, ...]:
    """The constants of the formula, each once, in order of first occurrence."""
    return tuple(dict.fromkeys(t for t in terms(formula) if isinstance(t, App) and not t.arguments))


# -- substitution and alpha-equivalence -------------------------------------------------------------------------------


def substitute_term(term: Term, substitution: Substitution) -> Term:
    """The term with variables replaced."""
    if isinstance(term, Var):
        return substitution.get(term, term)
    return term.on(tuple([substitute_term(a, substitution) for a in term.arguments])) if term.free else term


def substitute(formula: Formula, substitution: Substitution) -> Formula:
    """The formula with free variables replaced, bound variables renamed where they would capture."""
    if formula.free.isdisjoint(substitution):
        return formula
    if isinstance(formula, Atom):
        return Atom(formula.predicate, tuple([substitute_term(a, substitution) for a in formula.arguments]))
    if isinstance(formula, Binary):
        return type(formula)(substitute(formula.left, substitution), substitute(formula.right, substitution))
    if isinstance(formula, Not):
        return Not(substitute(formula.body, substitution))
    if isinstance(formula, Eq):
        return Eq(substitute_term(formula.left, substitution), substitute_term(formula.right, substitution))
    assert isinstance(formula, Binder)  # ⊤ and ⊥ have no variables
    variable, body = formula.variable, formula.body
    inner = {v: t for v, t in substitution.items() if v in formula.free}
    incoming = frozenset[Var]().union(*[t.free for t in inner.values()])
    if variable in incoming:
        renamed = fresh_variable(variable, incoming | body.free)
        body = substitute(body, {variable: renamed})
        variable = renamed
    return type(formula)(variable, substitute(body, inner))


def instantiate(formula: Quantified, term: Term) -> Formula:
    """The body of a quantified formula with ``term`` for its variable."""
    known = formula.memo.get("instances")
    if known is None or len(known) >= _INSTANCES:
        known = formula.memo["instances"] = {}
    found: Formula | None = known.get(term)
    if found is None:
        found = known[term] = substitute(formula.body, {formula.variable: term})
    return found


def rename_term(term: Term, names: Mapping[str, str]) -> Term:
    """The term with functions, constants among them, renamed; names that are not in ``names`` stay."""
    if isinstance(term, Var):
        return term
    return term.on(tuple([rename_term(a, names) for a in term.arguments]), function=names.get(term.function))


def rename(formula: Formula, predicates: Mapping[str, str], names: Mapping[str, str]) -> Formula:
    """The formula with predicates and functions renamed; names that are not in the mappings stay."""
    return map_terms(formula, lambda term: rename_term(term, names), predicates)


def map_terms(formula: Formula, change: Callable[[Term], Term], predicates: Mapping[str, str] | None = None) -> Formula:
    """The formula with each argument of a predicate and side of an equation changed, and predicates renamed."""
    match formula:
        case Top() | Bottom():
            return formula
        case Atom(predicate, arguments):
            name = predicate if predicates is None else predicates.get(predicate, predicate)
            return Atom(name, tuple([change(argument) for argument in arguments]))
        case Eq(left, right):
            return Eq(change(left), change(right))
        case Not(body):
            return Not(map_terms(body, change, predicates))
        case And(left, right) | Or(left, right) | Xor(left, right) | Implies(left, right) | Iff(left, right):
            return type(formula)(map_terms(left, change, predicates), map_terms(right, change, predicates))
        case ForAll(variable, body) | Exists(variable, body):
            return type(formula)(variable, map_terms(body, change, predicates))
    assert_never(formula)


def fresh_variable(variable: Var, taken: frozenset[Var] | set[Var]) -> Var:
    """``variable``, or the first of x1, x2, … of its sort whose *name* no variable of ``taken`` has."""
    names = {v.name for v in taken}
    if variable.name not in names:
        return variable
    number = 1
    while f"{variable.name}{number}" in names:
        number += 1
    return Var(f"{variable.name}{number}", variable.sort)


def alpha_normal(formula: Formula) -> Formula:
    """The formula with each bound variable named by the depth of quantifiers below it.

    Equal (``is``) exactly for alpha-equivalent formulas. Subformulas of a normal formula are normal, and so are
    instances of a quantified one by ground terms. An innermost variable is named ``x``, as in most formulas, which are
    normal then. The others, and an innermost one beside a free ``x``, have names that no grammar of the package can
    write (``␣0``, ``␣1``, …), so no free variable of a text has them.
    """
    return _quantified_normal(formula) if formula.quantifiers else formula


@once
def _quantified_normal(formula: Formula) -> Formula:
    return _alpha_normal(formula, {})


def _alpha_normal(formula: Formula, renaming: dict[Var, Term]) -> Formula:
    if isinstance(formula, Binary):
        return type(formula)(_alpha_normal(formula.left, renaming), _alpha_normal(formula.right, renaming))
    if isinstance(formula, Not):
        return Not(_alpha_normal(formula.body, renaming))
    if isinstance(formula, Binder):
        variable, depth = formula.variable, formula.body.quantifiers
        free = [v.name for v in formula.free if v not in renaming]
        bound = Var(f"␣{depth}" if depth or "x" in free else "x", variable.sort)
        if bound is variable and not depth and not renaming:
            return formula
        return type(formula)(bound, _alpha_normal(formula.body, {**renaming, variable: bound}))
    return substitute(formula, renaming)


def alpha_equivalent(first: Formula, second: Formula) -> bool:
    """Whether the formulas differ in the names of bound variables only."""
    return first is second or alpha_normal(first) is alpha_normal(second)


# -- flattened views --------------------------------------------------------------------------------------------------


def negate(formula: Formula) -> Formula:
    """¬formula, without a double negation at the top."""
    return formula.body if isinstance(formula, Not) else Not(formula)
