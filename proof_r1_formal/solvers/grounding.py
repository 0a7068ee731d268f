"""From signed formulas to finitely many ground ones: the effectively propositional (EPR) class.

In: closed formulas with the truth values that they shall have. Out: a :class:`Grounding`, which says what stands for
each quantified formula, or an :class:`OutsideError` with a named reason. A quantified formula is *strong* where its
truth asks for an element (a true ∃, a false ∀), *weak* otherwise. In the class every strong one is closed, so one new
constant is its witness, and no function is applied to a variable, so the ground terms at hand are elements enough: the
formulas have a common model exactly if their ground instances have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from proof_r1_formal.logic.signature import Signature
from proof_r1_formal.logic.symbols import symbols
from proof_r1_formal.logic.syntax import (
    ENTITY,
    App,
    Atom,
    Bottom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Quantified,
    Term,
    Top,
    Var,
    Xor,
)
from proof_r1_formal.logic.transform import (
    free_variables,
    functions_within,
    instantiate,
    subformulas,
    subterms,
    terms,
)

Signed: TypeAlias = tuple[Formula, bool]
"""A formula and the truth value it shall have."""

MAX_WITNESSES = 64
_LONG = 32
"""How many symbols of a formula are free; more cost in proportion."""


class OutsideError(Exception):
    """The formulas are not in the class, or their grounding would be too large; the message says why."""


class Grounding:
    """What stands for quantified formulas.

    Args:
        formulas: closed, alpha-normal, each with the value it shall have.
        terms: more ground terms, by sort, to instantiate by.

    Attributes:
        terms: ground terms by sort, witnesses among them; each sort that is quantified over has one.

    Raises:
        OutsideError: the formulas are not in the class.
    """

    def __init__(self, formulas: Sequence[Signed], *, terms: Mapping[str, Iterable[Term]] | None = None) -> None:
        self.terms: dict[str, dict[Term, None]] = {sort: dict.fromkeys(found) for sort, found in (terms or {}).items()}
        self._witnesses: dict[Signed, App] = {}
        self._taken = {name for formula, _ in formulas for name in symbols(formula).functions}
        self._taken |= {name for found in self.terms.values() for term in found for name in functions_within(term)}
        self._result_sorts: dict[str, str] = {}
        if not all(symbols(formula).sorts <= {ENTITY} for formula, _ in formulas):
            types = Signature.infer([formula for formula, _ in formulas]).functions
            self._result_sorts = {name: type_.result for name, type_ in types.items()}
        seen: set[Signed] = set()
        pending = list(reversed(formulas))
        while pending:
            signed = pending.pop()
            if signed not in seen:
                seen.add(signed)
                pending += self._parts(*signed)
        for sort, found in self.terms.items():
            if not found:
                found[self._new(f"␣e{sort}")] = None

    def parts(self, formula: Quantified, sign: bool) -> list[Formula]:
        """The closed formulas that all have the value ``sign`` where ``formula`` has it: instances, or a witness's one.

        Args:
            formula: closed; where it is strong with that sign, it is among or inside the formulas that were given.
            sign: the value that it shall have.
        """
        if isinstance(formula, ForAll) == sign:
            return [instantiate(formula, term) for term in self.terms[formula.variable.sort]]
        return [instantiate(formula, self._witnesses[formula, sign])]

    def price(self, formula: Quantified, sign: bool) -> int:
        """How much work :meth:`parts` is: one for each instance, more if it is long."""
        instances = len(self.terms[formula.variable.sort]) if isinstance(formula, ForAll) == sign else 1
        return instances * (_length(formula.body) // _LONG)

    def _parts(self, formula: Formula, sign: bool) -> list[Signed]:
        """What to look at next, inside a formula that shall have that value; finds witnesses on the way."""
        match formula:
            case Top() | Bottom():
                return []
            case Atom(_, arguments):
                self._note(arguments)
                return []
            case Eq(left, right):
                self._note((left, right))
                return []
            case Not(body):
                return [(body, not sign)]
            case ForAll(variable, body) | Exists(variable, body):
                if isinstance(formula, ForAll) == sign:
                    self.terms.setdefault(variable.sort, {})
                    return [(body, sign)]
                if free_variables(formula):
                    raise OutsideError("∃ in the scope of ∀, once negations are moved inward")
                return [(instantiate(formula, self._witness(formula, sign)), sign)]
            case Implies(left, right):
                return [(right, sign), (left, not sign)]
            case Xor(left, right) | Iff(left, right):
                return [(right, True), (right, False), (left, True), (left, False)]
            case _:
                return [(formula.right, sign), (formula.left, sign)]

    def _witness(self, formula: Quantified, sign: bool) -> App:
        witness = self._witnesses.get((formula, sign))
        if witness is None:
            if len(self._witnesses) >= MAX_WITNESSES:
                raise OutsideError(f"more than {MAX_WITNESSES} witnesses")
            witness = self._witnesses[formula, sign] = self._new(f"␣w{len(self._witnesses)}")
            self._result_sorts[witness.function] = formula.variable.sort
            self.terms.setdefault(formula.variable.sort, {})[witness] = None
        return witness

    def _note(self, arguments: tuple[Term, ...]) -> None:
        """Bring in the ground terms among and inside the arguments."""
        for argument in arguments:
            if isinstance(argument, App):
                for part in subterms(argument):
                    if isinstance(part, Var):
                        raise OutsideError("a function of a variable")
                    sort = self._result_sorts.get(part.function, ENTITY)
                    self.terms.setdefault(sort, {})[part] = None

    def _new(self, name: str) -> App:
        while name in self._taken:
            name += "␣"
        self._taken.add(name)
        return App(name, ())


@lru_cache(maxsize=1 << 14)
def _length(formula: Formula) -> int:
    """How many symbols it has, terms included."""
    return sum(1 for _ in subformulas(formula)) + sum(1 for _ in terms(formula))
