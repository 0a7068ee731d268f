"""Lines of a proof term as closed formulas: what a line says of new constants, given what it supposes.

In: a statement, the suppositions that it rests on, the constants that the proof brought in. Out: the closed formula
``∀x (H → C)``, with bound variables that are easy to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Final

from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import ENTITY, Binary, Binder, ForAll, Formula, Implies, Not, Term, Var, conjunction
from proof_r1_formal.kernel.transform import functions_within, map_terms, substitute

_NAMES: Final = ("x", "y", "z", "u", "v", "w")


def closed(
    statement: Formula, suppositions: Sequence[Formula], sorts: Mapping[str, str], taken: frozenset[str]
) -> Formula:
    """The closed formula that a line says.

    Args:
        statement: of the line.
        suppositions: those that it rests on.
        sorts: of constants that the proof brought in, by name; others are of the default sort.
        taken: names of the problem, which no variable gets. Constants with other names become variables.
    """
    body = Implies(conjunction(tuple(suppositions)), statement) if suppositions else statement
    new = sorted([name for name in symbols(body).functions if name not in taken], key=lambda name: (len(name), name))
    variables = {name: Var(f"␣{name}", sorts.get(name, ENTITY)) for name in new}
    body = map_terms(body, lambda term: _with_variables(term, variables))
    for variable in reversed(variables.values()):
        body = ForAll(variable, body)
    return readable(body, taken)


def _with_variables(term: Term, variables: Mapping[str, Var]) -> Term:
    if isinstance(term, Var) or not any(name in variables for name in functions_within(term)):
        return term
    if not term.arguments:
        return variables[term.function]
    return term.on(tuple([_with_variables(argument, variables) for argument in term.arguments]))


def readable(formula: Formula, taken: frozenset[str], around: frozenset[str] = frozenset()) -> Formula:
    """The formula with bound variables named x, y, z, …; no name is one of the problem, or bound around its place."""
    if isinstance(formula, Not):
        return Not(readable(formula.body, taken, around))
    if isinstance(formula, Binary):
        return type(formula)(readable(formula.left, taken, around), readable(formula.right, taken, around))
    if isinstance(formula, Binder):
        numbered = (f"x{number}" for number in count(1))
        name = next(each for each in chain(_NAMES, numbered) if each not in taken and each not in around)
        variable = Var(name, formula.variable.sort)
        body = substitute(formula.body, {formula.variable: variable})
        return type(formula)(variable, readable(body, taken, around | {name}))
    return formula
