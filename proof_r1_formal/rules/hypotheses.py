"""A step under hypotheses: what it says of arbitrary elements, given what it supposes.

In: the dependencies and the conclusion of a step. Out: its :class:`Reading` objects. A conclusion ``∀x (H → C)`` says C
of an arbitrary element, supposing H. So it may be drawn as C is drawn from the dependencies and H: this is → and ∀
introduction (the deduction theorem), and ``under_hypotheses`` is the theorem that says so in ``theories/``. No action
needs an open assumption, and each conclusion is a closed formula that its dependencies entail.

A dependency ``∀x (H → P)`` is read the same way, as P. Hypotheses that the step has not stay: ``∀x (H ∧ A → P)`` is
read as ``A → P``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Final

import msgspec

from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import ENTITY, App, ForAll, Formula, Implies, Var, conjunction
from proof_r1_formal.kernel.transform import instantiate, substitute
from proof_r1_formal.rules.forms import conjunctive_parts, normal_form

_MAX_LEVELS: Final = 12
"""The most quantifiers and antecedents that are taken off a conclusion."""
_MAX_ALIGNMENTS: Final = 60
"""The most ways in which the variables of a dependency are read as those of the conclusion."""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A step under hypotheses, as the step that it is at arbitrary elements.

    Attributes:
        constants: the arbitrary elements.
        hypotheses: what is supposed of them, in parts.
        dependencies: for each dependency what it says under the hypotheses, the likeliest reading first; at least one.
        conclusion: what is concluded of them.
    """

    constants: tuple[App, ...]
    hypotheses: tuple[Formula, ...]
    dependencies: tuple[tuple[Formula, ...], ...]
    conclusion: Formula


def readings(dependencies: Sequence[Formula], conclusion: Formula) -> Iterator[Reading]:
    """The readings of a step, those with fewer hypotheses and elements first; whole blocks of ∀ go before parts."""
    return iter(sorted(_levels(dependencies, conclusion), key=lambda reading: isinstance(reading.conclusion, ForAll)))


def _levels(dependencies: Sequence[Formula], conclusion: Formula) -> Iterator[Reading]:
    taken = {name for formula in (*dependencies, conclusion) for name, _ in symbols(formula).uses}
    constants: list[App] = []
    sorts: list[str] = []
    hypotheses: list[Formula] = []
    current = conclusion
    for _ in range(_MAX_LEVELS):
        match current:
            case ForAll(variable, _) as universal:
                name = variable.name
                while name in taken:
                    name += "'"
                taken.add(name)
                constant = App(name, (), None if variable.sort == ENTITY else variable.sort)
                constants.append(constant)
                sorts.append(variable.sort)
                current = instantiate(universal, constant)
            case Implies(left, right):
                hypotheses += conjunctive_parts(left)
                current = right
            case _:
                return
        elements = tuple(zip(constants, sorts, strict=True))
        supposed = frozenset(map(normal_form, hypotheses))
        read = tuple([_readings_of(formula, elements, supposed) for formula in dependencies])
        yield Reading(tuple(constants), tuple(hypotheses), read, current)


def _readings_of(
    formula: Formula, elements: Sequence[tuple[App, str]], supposed: frozenset[Formula]
) -> tuple[Formula, ...]:
    """What a dependency says under the hypotheses; itself if it says nothing of them or of the elements."""
    variables: list[Var] = []
    body = formula
    while isinstance(body, ForAll) and body.variable not in variables:
        variables.append(body.variable)
        body = body.body
    found: dict[Formula, tuple[int, int]] = {}
    for number, chosen in enumerate(_alignments(variables, elements)):
        if number == _MAX_ALIGNMENTS:
            break
        rest, used = _without(substitute(body, dict(chosen)), supposed)
        if used or chosen:
            for variable in reversed(variables):
                if variable not in chosen:
                    rest = ForAll(variable, rest)
            found[rest] = max(found.get(rest, (0, 0)), (used, len(chosen)))
    best = max(found.values(), default=(0, 0))
    return tuple([reading for reading, merit in found.items() if merit == best]) or (formula,)


def _alignments(variables: Sequence[Var], elements: Sequence[tuple[App, str]]) -> Iterator[dict[Var, App]]:
    """The ways to read some variables as some elements of their sorts, in their order, the most variables first."""
    for size in range(min(len(variables), len(elements)), -1, -1):
        for some, chosen in product(combinations(variables, size), combinations(elements, size)):
            if all(variable.sort == sort for variable, (_, sort) in zip(some, chosen, strict=True)):
                yield {variable: constant for variable, (constant, _) in zip(some, chosen, strict=True)}


def _without(formula: Formula, supposed: frozenset[Formula]) -> tuple[Formula, int]:
    """The formula without antecedents that are supposed, and how many these are."""
    if not isinstance(formula, Implies):
        return formula, 0
    parts = conjunctive_parts(formula.left)
    left = tuple([part for part in parts if normal_form(part) not in supposed])
    rest, used = _without(formula.right, supposed)
    used += len(parts) - len(left)
    if not left:
        return rest, used
    antecedent = formula.left if len(left) == len(parts) else conjunction(left)
    return Implies(antecedent, rest), used
