"""The decision procedure for effectively propositional queries (∃*∀* once negations are moved inward), with equality.
For other queries, a search for countermodels in small domains.

In: a query. Out: an answer; ``Refuted`` with a countermodel that the reference evaluator confirms. What it decides, it
decides by ground instances alone. ``Unknown`` says why it does not: the query is outside the class, or costs too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Final

from proof_r1_formal.engine.congruence import Congruence
from proof_r1_formal.engine.countermodel import MAX_ENTRIES, confirm_structure
from proof_r1_formal.engine.grounding import Grounding, OutsideError, Signed, SmallDomain
from proof_r1_formal.engine.propositional import BUDGET, GROUND_PRICE, Assignment, Clauses, TruthTable
from proof_r1_formal.engine.solver import BudgetSpentError
from proof_r1_formal.engine.truth_table import FEW_ATOMS, MAX_ATOMS, TooManyAtomsError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Unknown
from proof_r1_formal.kernel.model import Element, Structure
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import App, Atom, Eq, Term
from proof_r1_formal.kernel.transform import alpha_normal

_SMALL_BUDGET: Final = 5_000
"""The most ground formulas that are looked at in one small domain."""
_NEW_ELEMENTS: Final = (0, 1, 2, 3, 5, 8)
"""How many elements each sort has in the small domains that are tried, besides its constants."""


def decide_finite(query: Query, signature: Signature, steps: int = 0) -> Answer:
    """The answer for a query in the class, which has that signature; steps that it cost before are in the price."""
    formulas = _signed_formulas(query)
    try:
        grounding = Grounding(formulas)
    except OutsideError as error:
        steps += GROUND_PRICE * error.looked_at
        return Unknown(Reason.UNSUPPORTED, f"not effectively propositional: {error}", steps)
    return _decide(query, signature, formulas, grounding, steps, BUDGET)


def refuted_in_small_domain(query: Query, signature: Signature, steps: int = 0) -> Answer:
    """``Refuted`` with a countermodel in a small domain, or ``Unknown``; the arguments are as in :func:`decide_finite`.

    One that is large enough has a countermodel if any structure with as few elements is one.
    """
    formulas = _signed_formulas(query)
    for new in _NEW_ELEMENTS:
        try:
            domain = SmallDomain(formulas, signature, new)
        except OutsideError as error:
            steps += GROUND_PRICE * error.looked_at
            if new:
                break  # larger domains are outside, too
            continue
        laws = [(law, True) for law in domain.laws]
        answer = _decide(query, signature, [*formulas, *laws], domain, steps, _SMALL_BUDGET)
        if not isinstance(answer, Entailed):
            return answer
        steps = answer.steps
    return Unknown(Reason.INCOMPLETE, "no countermodel in a small domain", steps)


def _signed_formulas(query: Query) -> list[Signed]:
    formulas = [(alpha_normal(formula), True) for formula in query.dependencies]
    return [*formulas, (alpha_normal(query.conclusion), False)]


def _decide(
    query: Query, signature: Signature, formulas: Sequence[Signed], grounding: Grounding, steps: int, budget: int
) -> Answer:
    """``Refuted`` if what stands for the formulas has a model, otherwise ``Entailed``.

    It is found in the smallest truth table that has room for the ground atoms, or as clauses.
    """
    steps += GROUND_PRICE * grounding.looked_at
    for width in (FEW_ATOMS, MAX_ATOMS, None):
        procedure = Clauses(grounding, budget) if width is None else TruthTable(grounding, width, budget)
        try:
            assignment = procedure.satisfying_assignment(formulas)
        except TooManyAtomsError:
            steps += procedure.steps
            continue
        except BudgetSpentError as error:
            return Unknown(Reason.BUDGET, str(error), steps + procedure.steps)
        steps += procedure.steps
        if assignment is None:
            return Entailed(steps=steps)
        structure = _structure(signature, grounding, assignment)
        answer = None if structure is None else confirm_structure(query, structure, signature, steps)
        return answer or Unknown(Reason.BUDGET, "the countermodel is too large to be confirmed", steps)
    raise AssertionError("clauses have room for all atoms")


_NOWHERE: Final[frozenset[tuple[Element, ...]]] = frozenset()


def _structure(signature: Signature, grounding: Grounding, assignment: Assignment) -> Structure | None:
    """The structure whose elements are the ground terms, equal ones being one; None if its tables are large."""
    true = [atom for atom, value in assignment.items() if value]
    classes = Congruence([term for terms in grounding.terms.values() for term in terms])
    if [classes.unite(atom.left, atom.right) for atom in true if isinstance(atom, Eq)]:
        classes.close()
    element: dict[Term, Element] = {}
    domains = dict.fromkeys(signature.sorts, 1)
    for sort, terms in grounding.terms.items():
        numbers: dict[Term, Element] = {}
        for term in terms:
            element[term] = numbers.setdefault(classes.find(term), len(numbers))
        domains[sort] = max(1, len(numbers))
    types = signature.functions
    if sum([prod([domains[sort] for sort in type_.arguments]) for type_ in types.values()]) > MAX_ENTRIES:
        return None
    tables: dict[str, dict[tuple[Element, ...], Element]] = {
        name: dict.fromkeys(product(*[range(domains[sort]) for sort in type_.arguments]), 0)
        for name, type_ in types.items()
    }
    for term, number in element.items():
        if isinstance(term, App) and term.function in tables:
            tables[term.function][tuple([element[argument] for argument in term.arguments])] = number
    rows: dict[str, set[tuple[Element, ...]]] = {name: set() for name in signature.predicates}
    for atom in true:
        if isinstance(atom, Atom) and element.keys() >= {*atom.arguments}:
            rows[atom.predicate].add(tuple([element[argument] for argument in atom.arguments]))
    return Structure(domains, {name: frozenset(found) if found else _NOWHERE for name, found in rows.items()}, tables)
