"""Formulas that differ by equal terms: what Leibniz's law takes for A in ``t = u; A(t) ⊢ A(u)``.

In: two formulas and two terms. Out: the formula with holes that gives the first at one term and the second at the
other.
"""

from __future__ import annotations

from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import App, Atom, Binary, Binder, Eq, Formula, Not, Term, Var
from proof_r1_formal.kernel.transform import alpha_normal

_HOLE = "␣hole"


def replaced(before: Formula, after: Formula, t: Term, u: Term, sort: str) -> Lambda | None:
    """The formula with a hole where ``before`` has ``t`` and ``after`` has ``u``; None if they do not differ so.

    Args:
        before, after: closed formulas; bound names make no difference.
        t, u: terms without variables.
        sort: of both terms.
    """
    hole = Var(_HOLE, sort)
    body = _formula(alpha_normal(before), alpha_normal(after), t, u, hole)
    return None if body is None or hole not in body.free else Lambda((hole,), body)


def _formula(before: Formula, after: Formula, t: Term, u: Term, hole: Var) -> Formula | None:
    if before is after:
        return before
    match before, after:
        case Atom(name, one), Atom(other, two) if name == other and len(one) == len(two):
            arguments = _terms(one, two, t, u, hole)
            return None if arguments is None else Atom(name, arguments)
        case Eq(a, b), Eq(c, d):
            for sides in ((c, d), (d, c)):
                arguments = _terms((a, b), sides, t, u, hole)
                if arguments is not None:
                    return Eq(*arguments)
            return None
        case Not(body), Not(other):
            inside = _formula(body, other, t, u, hole)
            return None if inside is None else Not(inside)
        case Binary(left, right), Binary(first, second) if type(before) is type(after):
            former, latter = _formula(left, first, t, u, hole), _formula(right, second, t, u, hole)
            return None if former is None or latter is None else type(before)(former, latter)
        case Binder(variable, body), Binder(same, other) if type(before) is type(after) and variable is same:
            inside = _formula(body, other, t, u, hole)
            return None if inside is None else type(before)(variable, inside)
    return None


def _terms(before: tuple[Term, ...], after: tuple[Term, ...], t: Term, u: Term, hole: Var) -> tuple[Term, ...] | None:
    found = [_term(one, other, t, u, hole) for one, other in zip(before, after, strict=True)]
    terms = tuple([term for term in found if term is not None])
    return terms if len(terms) == len(found) else None


def _term(before: Term, after: Term, t: Term, u: Term, hole: Var) -> Term | None:
    if before is after:
        return before
    if before is t and after is u:
        return hole
    match before, after:
        case App(name, one), App(other, two) if name == other and len(one) == len(two):
            arguments = _terms(one, two, t, u, hole)
            return None if arguments is None else before.on(arguments)
    return None
