"""The checker of proof terms: the default trusted "yes".

In: a proof, the premises, and the claimed conclusion. Out: the premises that it uses, or a :class:`ProofError` that
names the invalid line. The checker performs no search, uses no solver and only the inference rules of
``kernel.term``, and takes time linear in the size of the proof. Formulas are compared up to the names of bound
variables.

One module, so that everything that a "yes" depends on can be read from top to bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Literal, assert_never
from weakref import WeakKeyDictionary

from proof_r1_formal.kernel.errors import CatalogueError, ProofError, SignatureError
from proof_r1_formal.kernel.pattern import Lambda, Substitution, instance, require_letters
from proof_r1_formal.kernel.signature import Signature, symbols
from proof_r1_formal.kernel.signed import FALSUM, TRUTH_TABLES, Signed, sides, signed
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    TOP,
    App,
    Atom,
    Binary,
    Binder,
    Bottom,
    Connective,
    Eq,
    Exists,
    ForAll,
    Formula,
    Implies,
    Quantified,
    Term,
    Top,
    Var,
)
from proof_r1_formal.kernel.term import (
    Absurd,
    Apply,
    Arbitrary,
    Block,
    Contradiction,
    Eliminate,
    Generalise,
    Instance,
    Introduce,
    Leibniz,
    Line,
    Proof,
    Reflexivity,
    Repeat,
    Suppose,
    Theorem,
    Truth,
    Witness,
)
from proof_r1_formal.kernel.transform import alpha_normal, instantiate, subformulas, subterms

MAX_DEPTH: Final = 200
"""Maximum nesting of blocks."""
MAX_HEIGHT: Final = 500
"""Maximum nesting of the formulas of a proof: the limit of solvers, and room for combinations."""

_PLACES: Final = ("left side", "right side", "formula")


def _where(rows: Sequence[tuple[bool, bool, bool]]) -> list[list[int]]:
    """Place -> value -> the rows of a truth table that have the value at the place, as bits."""
    return [
        [sum((row[place] == value) << n for n, row in enumerate(rows)) for value in (False, True)] for place in range(3)
    ]


_WHERE: Final = {kind: _where(rows) for kind, rows in TRUTH_TABLES.items()}

_proved = WeakKeyDictionary[Theorem, frozenset[str]]()
"""Theorems whose proofs were checked in this process -> the names of the variables that they quantify."""


def check(proof: Proof, premises: Sequence[Formula], conclusion: Formula) -> frozenset[int]:
    """Check that ``proof`` derives the conclusion from the premises. Returns the numbers of the premises that it uses.

    Args:
        proof: its lines.
        premises: closed formulas, numbered from 0.
        conclusion: a closed formula.

    Raises:
        ProofError: a line does not follow, or the last line is not the conclusion.
    """
    says, used = shown(proof, premises, conclusion)
    if says not in (signed(conclusion), FALSUM):
        raise ProofError("the last line is not the conclusion")
    return used


def shown(proof: Proof, premises: Sequence[Formula], known: Formula = TOP) -> tuple[Signed, frozenset[int]]:
    """The statement of the last line of a proof, and the numbers of the premises that its lines use.

    Args:
        proof: its lines.
        premises: closed formulas, numbered from 0.
        known: a closed formula whose constants do not count as new.

    Raises:
        ProofError: a line does not follow.
    """
    try:
        checker = _Checker(premises, known)
        return checker.last(proof), frozenset(checker.used)
    except RecursionError:
        raise ProofError("a formula of the proof is nested too deeply") from None
    except TypeError as error:  # compiled, a function refuses what is of another type
        raise ProofError(f"a part of a line has the wrong type: {error}") from None


def constant_sorts(proof: Proof, premises: Sequence[Formula], conclusion: Formula) -> dict[str, str]:
    """The sorts of the constants that a proof brings in, as far as its lines say them and follow.

    Raises:
        ProofError: the claim is not one of closed formulas.
    """
    checker = _Checker(premises, conclusion)
    with suppress(ProofError, RecursionError, TypeError):
        checker.last(proof)
    return checker.sorts


class _Checker:
    """The lines that hold at the current place, and the constants and sorts known so far."""

    def __init__(self, premises: Sequence[Formula], conclusion: Formula) -> None:
        self.used: set[int] = set()
        self._premises = len(premises)
        self._claim = claim = (*premises, conclusion)
        self._taken: set[str] = set()  # names that no new constant may have, with those of the formulas below
        self._untaken: list[Formula] = [*claim]
        self._given: frozenset[str] | None = None
        self._depth = 0
        self._signature: Signature | None = None
        self.sorts: dict[str, str] = {}
        for formula in claim:
            if formula.free:
                raise ProofError("a premise or the conclusion has a free variable")
            if formula.height > MAX_HEIGHT:
                raise ProofError("a premise or the conclusion is nested too deeply")
        if [formula for formula in claim if symbols(formula).sorts]:
            try:
                self._signature = Signature.infer(claim)
            except SignatureError as error:
                raise ProofError(str(error)) from error
        self._lines = [signed(formula) for formula in premises]

    def last(self, block: Block) -> Signed:
        """The last line of a sequence of lines, each checked and added."""
        if not block:
            raise ProofError("there are no lines")
        for line in block:
            self._lines.append(self._conclusion(line))
        return self._lines[-1]

    def _line(self, number: int) -> Signed:
        if not 0 <= number < len(self._lines):
            raise ProofError(f"there is no line {number} at this place")
        if number < self._premises:
            self.used.add(number)
        return self._lines[number]

    def _conclusion(self, line: Line) -> Signed:
        """The statement of the line, if it follows."""
        if isinstance(line, Eliminate):
            other = None if line.other is None else self._line(line.other)
            return _eliminate(self._line(line.main), line.side, other)
        if isinstance(line, Repeat):
            return self._line(line.premise)
        if isinstance(line, Instance):
            shown = self._line(line.main)
            if not isinstance(shown.formula, ForAll if shown.sign else Exists):
                raise ProofError("an instance of neither a true ∀ nor a false ∃")
            return self._instance(shown.formula, self._term(line.term, shown.formula), shown.sign)
        if isinstance(line, Contradiction):
            if self._line(line.first) != self._line(line.second).opposite():
                raise ProofError("a contradiction of lines that do not contradict each other")
            return FALSUM
        if isinstance(line, Introduce):
            return _introduce(self._formula(line.formula), [self._line(number) for number in line.premises])
        match line:
            case Witness(main, constant):
                shown = self._line(main)
                if not isinstance(shown.formula, Exists if shown.sign else ForAll):
                    raise ProofError("a witness of neither a true ∃ nor a false ∀")
                return self._instance(shown.formula, self._new(constant, shown.formula), shown.sign)
            case Generalise(formula, premise, term):
                quantified = self._require_quantified(formula)
                sign = isinstance(quantified, Exists)
                self._expect(self._line(premise), self._instance(quantified, self._term(term, quantified), sign))
                return Signed(quantified, sign)
            case Arbitrary(formula, constant, block):
                quantified = self._require_quantified(formula)
                sign = isinstance(quantified, ForAll)
                goal = self._instance(quantified, self._new(constant, quantified), sign)
                self._expect(self._block((), block), goal, FALSUM)
                return Signed(quantified, sign)
            case Suppose(formula, block):
                implication = self._formula(formula)
                if not isinstance(implication, Implies):
                    raise ProofError("only an implication is shown by supposing its left side")
                shown = self._block((signed(implication.left),), block)
                self._expect(shown, signed(implication.right), FALSUM)
                return Signed(implication, True)
            case Absurd(formula, block):
                supposed = signed(self._formula(formula))
                self._expect(self._block((supposed,), block), FALSUM)
                return supposed.opposite()
            case Truth(formula):
                if not isinstance(formula, Top | Bottom):
                    raise ProofError("only ⊤ and ⊥ have a truth value of their own")
                return Signed(formula, isinstance(formula, Top))
            case Reflexivity(term):
                self._note(term)
                return Signed(Eq(term, term), True)
            case Leibniz(formula):
                return Signed(self._leibniz(self._formula(formula)), True)
            case Apply(theorem, substitution, premises):
                return self._apply(theorem, substitution, premises)
        assert_never(line)

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _block(self, assumptions: tuple[Signed, ...], block: Block) -> Signed:
        """The statement of the block under the assumptions; then its lines are gone, and its constants stay taken."""
        outside = len(self._lines)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ProofError(f"blocks are nested deeper than {MAX_DEPTH}")
        self._lines.extend(assumptions)
        shown = self.last(block)
        self._depth -= 1
        del self._lines[outside:]
        return shown

    @staticmethod
    def _expect(shown: Signed, *wanted: Signed) -> None:
        if shown not in wanted:
            raise ProofError("a line or block does not show what the rule needs")

    # -- quantifiers --------------------------------------------------------------------------------------------------

    @staticmethod
    def _instance(quantified: Quantified, term: Term, sign: bool) -> Signed:
        part = signed(instantiate(quantified, term))
        return part if sign else part.opposite()

    def _new(self, constant: App, quantified: Quantified) -> App:
        is_plain = isinstance(constant, App) and not constant.arguments and constant.sort is None
        while self._untaken:
            self._taken |= symbols(self._untaken.pop()).functions
        if not is_plain or constant.function in self._taken:
            raise ProofError(f"{constant.function if isinstance(constant, App) else constant!r} is not a new constant")
        self._taken.add(constant.function)
        self.sorts[constant.function] = quantified.variable.sort
        return constant

    def _term(self, term: Term, quantified: Quantified) -> Term:
        """The term, if it is ground and of the sort of the quantifier's variable; a new constant is of any one sort."""
        self._note(term)
        if self._sort(term, quantified.variable.sort) != quantified.variable.sort:
            raise ProofError("a term is not of the sort of the variable")
        return term

    def _sort(self, term: Term, wanted: str) -> str:
        """The sort of a ground term. A constant that the claim does not have gets the sort wanted of it first."""
        assert isinstance(term, App)
        if term.arguments and not self._is_given(term.function):
            raise ProofError("a proof cannot bring in functions")
        if self._signature is None:
            places, sort = (ENTITY,) * len(term.arguments), ENTITY
        elif self._is_given(term.function):
            type_ = self._signature.functions[term.function]
            places, sort = type_.arguments, type_.result
        else:
            places, sort = (), self.sorts.setdefault(term.function, wanted)
        if len(places) != len(term.arguments):
            raise ProofError("a term has another number of arguments")
        if places and any(self._sort(a, s) != s for a, s in zip(term.arguments, places, strict=True)):
            raise ProofError("a term has an argument of another sort")
        if term.sort not in (None, sort):
            raise ProofError("a term names another sort than its own")
        return sort

    def _is_given(self, function: str) -> bool:
        """Whether a premise or the conclusion has the function or constant."""
        if self._given is None:
            self._given = frozenset[str]().union(*[symbols(formula).functions for formula in self._claim])
        return function in self._given

    def _note(self, term: Term) -> None:
        """Take the names of a term's constants; a term has no variables."""
        if term.height > MAX_HEIGHT:
            raise ProofError("a term is nested too deeply")
        for part in subterms(term):
            if isinstance(part, Var):
                raise ProofError("a term has a variable")
            self._taken.add(part.function)

    # -- formulas that a line brings in -------------------------------------------------------------------------------

    def _formula(self, formula: Formula) -> Formula:
        if formula.free:
            raise ProofError("a formula has a free variable")
        self._bring_in(formula)
        return alpha_normal(formula)

    def _bring_in(self, formula: Formula) -> None:
        """Take the names of a formula's constants; where the claim has one sort, it has no other."""
        if formula.height > MAX_HEIGHT:
            raise ProofError("a formula of the proof is nested too deeply")
        if self._signature is None and symbols(formula).sorts:
            raise ProofError("a formula has a sort that the premises and the conclusion do not have")
        self._untaken.append(formula)

    def _require_quantified(self, formula: Formula) -> Quantified:
        normal = self._formula(formula)
        if not isinstance(normal, Binder):
            raise ProofError("the formula is not quantified")
        return normal

    @staticmethod
    def _leibniz(formula: Formula) -> Formula:
        match formula:
            case Implies(Eq(left, right), Implies(before, after)) if _differ_by(left, right, before, after):
                return formula
        raise ProofError("no instance of Leibniz's law")

    def _apply(self, theorem: Theorem, substitution: Substitution, premises: tuple[int, ...]) -> Signed:
        """The conclusion of an instance of a theorem.

        Everything that the instance brings in is closed: formulas have no free variables but their holes, terms have
        no variables. The letters of a theorem differ from its bound variables. So nothing can be captured, and every
        line of a proof is a closed formula.
        """
        values = dict(substitution)
        binders = _proved.get(theorem)
        if binders is None:
            binders = _proved[theorem] = _prove(theorem)
        sorts = {ENTITY for name in binders if not isinstance(values.get(name), Var)}
        for name, value in values.items():
            match value:
                case Lambda(variables, body):
                    if value.free:
                        raise ProofError("a formula with holes has other free variables")
                    self._bring_in(body)
                    sorts.update([variable.sort for variable in variables])
                case Var():
                    if value.name != name or name not in binders:
                        raise ProofError("of a theorem's variables only the sort may change")
                    sorts.add(value.sort)
                case term:
                    self._note(term)
                    sorts.add(self._sort(term, ENTITY))
        if len(sorts) > 1:
            raise ProofError("a theorem is used with more than one sort")
        if self._signature is None and sorts - {ENTITY}:
            raise ProofError("a theorem is used with a sort that the premises and the conclusion do not have")
        try:
            wanted = [signed(instance(pattern, values)) for pattern in theorem.premises]
            shown = signed(instance(theorem.conclusion, values))
        except CatalogueError as error:
            raise ProofError(str(error)) from error
        if [self._line(number) for number in premises] != wanted:
            raise ProofError(f"the premises are not those of the theorem {theorem.name}")
        return shown


def _prove(theorem: Theorem) -> frozenset[str]:
    """The names of the variables that a theorem's patterns quantify.

    Raises:
        ProofError: its proof does not hold; or its patterns have another sort than the default one, or use a name in
            two ways.
    """
    patterns = (*theorem.premises, theorem.conclusion)
    try:
        require_letters(patterns)
    except CatalogueError as error:
        raise ProofError(f"the theorem {theorem.name}: {error}") from error
    parts = [part for pattern in patterns for part in subformulas(pattern)]
    variables = {part.variable for part in parts if isinstance(part, Binder)}
    if any(variable.sort != ENTITY for variable in variables):
        raise ProofError("a theorem is stated about the default sort")
    check(theorem.proof, theorem.premises, theorem.conclusion)
    return frozenset([variable.name for variable in variables])


# -- truth tables -----------------------------------------------------------------------------------------------------


def _eliminate(main: Signed, side: Literal["left", "right"], other: Signed | None) -> Signed:
    formula = main.formula
    if not isinstance(formula, Binary):
        raise ProofError("only binary formulas have sides")
    rows = _WHERE[type(formula)][2][main.sign]
    if other is not None:
        rows &= _rows(formula, other)
    place = 0 if side == "left" else 1
    part = sides(formula)[place]
    return Signed(part.formula, _value(formula, rows, place) == part.sign)


def _introduce(formula: Formula, premises: Sequence[Signed]) -> Signed:
    if not isinstance(formula, Binary):
        raise ProofError("only binary formulas are introduced from their sides")
    rows = 0b1111
    for premise in premises:
        rows &= _rows(formula, premise)
    return Signed(formula, _value(formula, rows, 2))


def _rows(formula: Connective, side: Signed) -> int:
    """The rows of the truth table in which a signed formula holds, which is one of the sides."""
    left, right = sides(formula)
    where = _WHERE[type(formula)]
    in_left = where[0][side.sign == left.sign]
    if side.formula is not right.formula:
        if side.formula is not left.formula:
            raise ProofError("a premise is not a side of the formula")
        return in_left
    in_right = where[1][side.sign == right.sign]
    return in_left & in_right if side.formula is left.formula else in_right


def _value(formula: Connective, rows: int, place: int) -> bool:
    """The value at a place in all of the rows, of which there is one."""
    false, true = _WHERE[type(formula)][place]
    if not rows or (rows & false and rows & true):
        raise ProofError(f"the value of the {_PLACES[place]} is not determined")
    return not rows & false


def _differ_by(left: Term, right: Term, before: Formula | Term, after: Formula | Term) -> bool:
    """Whether the two are the same but for ``left`` and ``right``, both ground, standing for each other."""
    pending = [(before, after)]
    while pending:
        one, other = pending.pop()
        if one is other or (one, other) in ((left, right), (right, left)):
            continue
        match one, other:
            case (Atom(p, a), Atom(q, b)) | (App(p, a), App(q, b)) if p == q and len(a) == len(b):
                pending.extend(zip(a, b, strict=True))
            case (Eq(a, b), Eq(c, d)):
                pending += ((a, c), (b, d))
            case _:
                return False
    return True
