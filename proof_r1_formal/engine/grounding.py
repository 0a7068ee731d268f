"""From signed formulas to finitely many ground ones: the effectively propositional (EPR) class, and small domains.

In: closed formulas with the truth values that they must have. Out: a :class:`Grounding`, which says what stands for
each quantified formula, or an :class:`OutsideError` with a named reason. A quantified formula is *strong* where its
truth asks for an element (a true ∃, a false ∀), *weak* otherwise. In the class every strong one is closed, so one new
constant is its witness, and no function is applied to a variable, so the ground terms at hand are elements enough: the
formulas have a common model exactly if their ground instances have one.

Outside the class a :class:`SmallDomain` lets quantifiers range over the constants and some new elements. A model of its
ground formulas is a model of the formulas; if there is none, larger domains may still have one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product
from math import prod
from typing import Final, NamedTuple, TypeAlias

from proof_r1_formal.engine.congruence import arguments_of
from proof_r1_formal.engine.solver import instance_price
from proof_r1_formal.kernel.signature import Signature, symbols
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    And,
    App,
    Atom,
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
    Xor,
)
from proof_r1_formal.kernel.transform import functions_within, instantiate, terms

Signed: TypeAlias = tuple[Formula, bool]
"""A formula and the truth value it shall have."""

MAX_WITNESSES: Final = 64
_MAX_EQUATIONS: Final = 1_000
"""The most equations between a function's value and an element, in all laws of a small domain."""


class OutsideError(Exception):
    """The formulas are not in the class, or their grounding would be too large; ``looked_at``: what it cost to tell."""

    def __init__(self, reason: str, looked_at: int) -> None:
        super().__init__(reason)
        self.looked_at = looked_at


class Grounding:
    """Ground formulas that stand for quantified ones.

    Args:
        formulas: closed, alpha-normal, each with the value it must have.

    Attributes:
        terms: ground terms by sort, witnesses among them; each sort that is quantified over has one.
        looked_at: what the instances by witnesses cost, in ground formulas.

    Raises:
        OutsideError: the formulas are not in the class.
    """

    def __init__(self, formulas: Sequence[Signed]) -> None:
        self.terms: dict[str, dict[Term, None]] = {}
        self.looked_at = 0
        self._witnesses: dict[Signed, App] = {}
        self._formulas = formulas
        self._taken: set[str] | None = None
        self._result_sorts: dict[str, str] = {}
        for formula, _ in formulas:
            if symbols(formula).sorts:
                types = Signature.infer([each for each, _ in formulas]).functions
                self._result_sorts = {name: type_.result for name, type_ in types.items()}
                break
        pending = list(reversed(formulas))
        while pending:
            self._enter(*pending.pop(), pending)
        for sort, found in self.terms.items():
            if not found:
                found[self._new(f"␣e{sort}")] = None

    def _enter(self, formula: Formula, sign: bool, pending: list[Signed]) -> None:
        """Bring in the terms of a formula, and witnesses of its strong parts, whose instances are pending."""
        for term in symbols(formula).ground_terms:
            self.terms.setdefault(self._result_sorts.get(term.function, ENTITY), {})[term] = None
        if not formula.quantifiers:
            return
        needs = _needs(formula, sign)
        if needs.outside:
            raise OutsideError(needs.outside, self.looked_at)
        for sort in needs.weak:
            self.terms.setdefault(sort, {})
        for strong, value in needs.strong:
            if (strong, value) not in self._witnesses:
                pending.append((instantiate(strong, self._witness(strong, value)), value))

    def parts(self, formula: Quantified, sign: bool) -> list[Formula]:
        """The closed formulas that stand for a closed one: its instances, or where it is strong that by its witness.

        All of them have the value ``sign`` where a weak formula has it, and one of them where a strong one has it. A
        strong one must be among or inside the formulas that were given.
        """
        return [instantiate(formula, term) for term in self._range(formula, sign)]

    def price(self, formula: Quantified, sign: bool) -> int:
        """How much work :meth:`parts` is: one for each instance, more if it is long."""
        return len(self._range(formula, sign)) * instance_price(formula)

    def _range(self, formula: Quantified, sign: bool) -> Collection[Term]:
        """The values of the variable in the parts."""
        weak = isinstance(formula, ForAll) == sign
        return self.terms[formula.variable.sort] if weak else (self._witnesses[formula, sign],)

    def _witness(self, formula: Quantified, sign: bool) -> App:
        if len(self._witnesses) >= MAX_WITNESSES:
            raise OutsideError(f"more than {MAX_WITNESSES} witnesses", self.looked_at)
        witness = self._witnesses[formula, sign] = self._new(f"␣w{len(self._witnesses)}")
        self._result_sorts[witness.function] = formula.variable.sort
        self.looked_at += instance_price(formula)
        self.terms.setdefault(formula.variable.sort, {})[witness] = None
        return witness

    def _new(self, name: str) -> App:
        if self._taken is None:
            self._taken = {name for formula, _ in self._formulas for name in symbols(formula).functions}
            self._taken |= {name for found in self.terms.values() for term in found for name in functions_within(term)}
        while name in self._taken:
            name += "␣"
        self._taken.add(name)
        return App(name, ())


class SmallDomain(Grounding):
    """Quantifiers that range over the constants and some new elements, some of which may be equal.

    Args:
        formulas, signature: as in :class:`Grounding`, and their symbols.
        new: how many new elements each sort has.

    Attributes:
        laws: formulas that must be true as well: the value of each function at elements is an element.

    Raises:
        OutsideError: functions would need too many values, or a sort has no element.
    """

    def __init__(self, formulas: Sequence[Signed], signature: Signature, new: int) -> None:
        self.looked_at = 0
        self._formulas = formulas
        self._taken = None
        self.terms = {sort: {} for sort in signature.sorts}
        written = {term.function: term for formula, _ in formulas for term in terms(formula) if isinstance(term, App)}
        self.looked_at += len(written)
        applied = {name: type_ for name, type_ in signature.functions.items() if type_.arguments}
        for name, type_ in signature.functions.items():
            if name not in applied:
                self.terms[type_.result][written[name]] = None
        for found in self.terms.values():
            found.update({self._new(f"␣n{number}"): None for number in range(new)})
        self._elements = {sort: list(found) for sort, found in self.terms.items()}
        sizes = {sort: len(found) for sort, found in self._elements.items()}
        equations = sum([prod([sizes[s] for s in (*type_.arguments, type_.result)]) for type_ in applied.values()])
        if equations > _MAX_EQUATIONS or not all(sizes.values()):
            raise OutsideError("a domain without elements, or with too many values of functions", self.looked_at)
        self.looked_at += equations
        self.laws: list[Formula] = []
        for name, type_ in applied.items():
            for arguments in product(*[self._elements[sort] for sort in type_.arguments]):
                value = written[name].on(arguments)
                self.laws.append(_any_of([Eq(value, element) for element in self._elements[type_.result]]))
                self.terms[type_.result][value] = None

    def _range(self, formula: Quantified, _sign: bool) -> Collection[Term]:
        return self._elements[formula.variable.sort]


def _any_of(formulas: list[Formula]) -> Formula:
    """The disjunction, as flat as a binary one can be, so that no recursion is deep."""
    half = len(formulas) // 2
    return Or(_any_of(formulas[:half]), _any_of(formulas[half:])) if half else formulas[0]


class _Needs(NamedTuple):
    """The values that the parts of a formula need so that it has a given value."""

    strong: tuple[tuple[Quantified, bool], ...]  # but for those inside of others; each needs a witness
    weak: tuple[str, ...]  # the sorts of its weak quantifiers
    outside: str  # why the formula is not in the class; empty if it is


def _needs(formula: Formula, sign: bool) -> _Needs:
    key = "needs if true" if sign else "needs if false"
    found: _Needs | None = formula.memo.get(key)
    if found is None:
        found = _found_needs(formula, sign)
        if (formula, sign) not in found.strong:  # it would hold itself
            formula.memo[key] = found
    return found


def _found_needs(formula: Formula, sign: bool) -> _Needs:
    strong: dict[tuple[Quantified, bool], None] = {}
    weak: dict[str, None] = {}
    pending = [(formula, sign)]
    seen = set(pending)
    while pending:
        part, value = pending.pop()
        inside: tuple[Signed, ...] = ()
        match part:
            case Atom() | Eq():
                if any(isinstance(argument, App) and argument.free for argument in arguments_of(part)):
                    return _Needs((), (), "a function of a variable")
            case Not(body):
                inside = ((body, not value),)
            case ForAll(variable, body) | Exists(variable, body):
                if isinstance(part, ForAll) == value:
                    weak[variable.sort] = None
                    inside = ((body, value),)
                elif part.free:
                    return _Needs((), (), "∃ in the scope of ∀, once negations are moved inward")
                else:
                    strong[part, value] = None
            case Implies(left, right):
                inside = ((right, value), (left, not value))
            case Xor(left, right) | Iff(left, right):
                inside = ((right, True), (right, False), (left, True), (left, False))
            case And() | Or():
                inside = ((part.right, value), (part.left, value))
        for signed in inside:
            if signed not in seen:
                seen.add(signed)
                pending.append(signed)
    return _Needs(tuple(strong), tuple(weak), "")
