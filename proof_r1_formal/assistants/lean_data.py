"""Claims and proofs as data of ``theories/lean/ProofR1/Checker``, for Lean's own checker.

In: formulas and proof terms. Out: trees, which ``assistants.lean_tree`` writes as constructors or as numbers. Symbols
and sorts become numbers (:class:`Numbers`), bound variables the number of quantifiers between, line numbers how many
lines ago.

What ``kernel.checker`` refuses for how it is written (open formulas, two sorts for one theorem, sorts that the claim
does not have) cannot be written as data, and is refused here. Whether a line follows is left to Lean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from proof_r1_formal.assistants.lean import Definition
from proof_r1_formal.assistants.lean_tree import FALSE, TRUE, Block, Node, Symbol, Terms, Tree, Word
from proof_r1_formal.engine.lines import theorems_of
from proof_r1_formal.errors import CatalogueError, ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.checker import constant_sorts
from proof_r1_formal.kernel.pattern import Lambda, require_letters
from proof_r1_formal.kernel.signature import FunctionType, Signature, symbols
from proof_r1_formal.kernel.syntax import (
    ENTITY,
    App,
    Atom,
    Binary,
    Binder,
    Bottom,
    Eq,
    ForAll,
    Formula,
    Not,
    Term,
    Top,
    Var,
)
from proof_r1_formal.kernel.transform import subformulas
from proof_r1_formal.render import lean


class Numbers:
    """The numbers of the symbols and sorts of a claim, or of all of a trace, and of the constants that proofs bring in.

    A function counts as another one where it names its sort, as ``kernel.checker`` tells the two apart.

    Args:
        formulas: of the claim.
        named: whether data have names in the place of numbers; :meth:`definitions` says which number each is.

    Attributes:
        many_sorted: whether the claim has another sort than the default one.
        own: the constants that are not of the claim, among those that were written.
        sorts, predicates, functions: name (of a function, with the sort that it names) -> number.

    Raises:
        SignatureError: formulas with sorts use a symbol in two ways.
    """

    def __init__(self, formulas: Sequence[Formula], *, named: bool = False) -> None:
        self._named = named
        self.many_sorted = any(symbols(each).sorts for each in formulas)
        self._functions = Signature.infer(formulas).functions if self.many_sorted else {}
        self._given = frozenset[str]().union(*[symbols(each).functions for each in formulas])
        self._arities: dict[tuple[str, str | None, int], None] = {}
        self.own: dict[tuple[str, str | None], None] = {}
        self.sorts: dict[str, int] = {ENTITY: 0}
        self.predicates: dict[str, int] = {}
        self.functions: dict[tuple[str, str | None], int] = {}

    def sort(self, name: str) -> Symbol:
        """The number of a sort."""
        if name != ENTITY and not self.many_sorted:
            raise ProofError("a formula has a sort that the premises and the conclusion do not have")
        number = self.sorts.setdefault(name, len(self.sorts))
        return self._symbol(number, lean.sort_name(name))

    def predicate(self, name: str) -> Symbol:
        """The number of a predicate."""
        number = self.predicates.setdefault(name, len(self.predicates))
        return self._symbol(number, lean.predicate_name(name))

    def function(self, term: App) -> Symbol:
        """The number of a term's outermost function."""
        key = term.function, term.sort
        if term.function in self._given:
            self._arities[*key, len(term.arguments)] = None
        elif not term.arguments:
            self.own[key] = None
        self.functions.setdefault(key, len(self.functions))
        return self._function(key)

    def _function(self, key: tuple[str, str | None]) -> Symbol:
        name, sort = key
        shown = lean.function_name(name) + ("" if sort is None else f"'{lean.sort_name(sort)}")
        return self._symbol(self.functions[key], shown)

    def _symbol(self, number: int, name: str) -> Symbol:
        return Symbol(number, name if self._named else None)

    def definitions(self) -> tuple[Definition, ...]:
        """The names as numbers, for all that was written so far."""
        symbols_ = [*map(self.sort, self.sorts), *map(self.predicate, self.predicates)]
        symbols_ += map(self._function, self.functions)
        return tuple([Definition(each.name or "", "Nat", str(each.number)) for each in symbols_])

    def declarations(self) -> list[Tree]:
        """The sorts of the functions of the claim that were written so far."""
        found: list[Tree] = []
        for name, sort, arity in self._arities:
            type_ = self._functions.get(name, FunctionType((ENTITY,) * arity, ENTITY))
            if len(type_.arguments) == arity and sort in (None, type_.result):
                places: list[Tree] = [self.sort(place) for place in type_.arguments]
                found.append((self._function((name, sort)), places, self.sort(type_.result)))
        return found

    def constants(self, sorts: Mapping[str, str]) -> list[Tree]:
        """The constants that are not of the claim, each with its sort; the default one if it is not known."""
        found = [(self._function(key), key[1], sorts.get(key[0], ENTITY)) for key in self.own]
        return [(symbol, self.sort(sort)) for symbol, named, sort in found if named in (None, sort)]

    def legend(self) -> str:
        """Which name each number is, on one line of ASCII."""
        named = [*self.sorts.items()], [*self.predicates.items()], [(f, n) for (f, _), n in self.functions.items()]
        kinds = zip(("sort", "predicate", "function"), named, strict=True)
        return "; ".join([f"{kind} {number}: {ascii(name)[1:-1]}" for kind, each in kinds for name, number in each])


# -- formulas ---------------------------------------------------------------------------------------------------------


def _term_data(term: Term, numbers: Numbers, scope: tuple[Var, ...] = ()) -> Node:
    """The term as data; the innermost variable stands first in the scope."""
    if isinstance(term, Var):
        if term not in scope:
            raise ProofError("a formula or a term has a free variable")
        return Node("var", (scope.index(term),))
    return Node("app", (numbers.function(term), _terms_data(term.arguments, numbers, scope)))


def _terms_data(terms: Sequence[Term], numbers: Numbers, scope: tuple[Var, ...] = ()) -> Terms:
    """The terms as data."""
    return Terms(tuple([_term_data(term, numbers, scope) for term in terms]))


def formula_data(formula: Formula, numbers: Numbers, scope: tuple[Var, ...] = ()) -> Node:
    """The formula as data; the innermost variable stands first in the scope."""
    match formula:
        case Top():
            return Node("top")
        case Bottom():
            return Node("bottom")
        case Atom(predicate, arguments):
            return Node("atom", (numbers.predicate(predicate), _terms_data(arguments, numbers, scope)))
        case Eq(left, right):
            return Node("equal", (_term_data(left, numbers, scope), _term_data(right, numbers, scope)))
        case Not(body):
            return Node("not", (formula_data(body, numbers, scope),))
        case Binary(left, right):
            sides = (formula_data(left, numbers, scope), formula_data(right, numbers, scope))
            return Node("binary", (Word(f".{type(formula).__name__.lower()}"), *sides))
    assert isinstance(formula, Binder)
    kind, inside = "forAll" if isinstance(formula, ForAll) else "exist", (formula.variable, *scope)
    return Node(kind, (numbers.sort(formula.variable.sort), formula_data(formula.body, numbers, inside)))


def claim_data(premises: Sequence[Formula], conclusion: Formula, numbers: Numbers) -> Tree:
    """The claim that the premises entail the conclusion. Made after its proof, it declares what the proof names."""
    given: list[Tree] = [formula_data(premise, numbers) for premise in premises]
    says = formula_data(conclusion, numbers)
    return numbers.declarations(), given, says


# -- proofs -----------------------------------------------------------------------------------------------------------


class Lemmas:
    """The theorems that proofs apply, each after those that its own proof applies.

    Attributes:
        data: the theorems.
    """

    def __init__(self, proofs: Iterable[t.Proof]) -> None:
        self._places: dict[t.Theorem, int] = {}
        self._numbers: list[Numbers] = []
        self.data: list[Tree] = []
        for proof in proofs:
            for theorem in theorems_of(proof, lambda theorem: theorem not in self._places):
                self._add(theorem)

    def _add(self, theorem: t.Theorem) -> None:
        patterns = (*theorem.premises, theorem.conclusion)
        try:
            require_letters(patterns)
        except CatalogueError as error:
            raise ProofError(str(error)) from error
        numbers = Numbers(patterns)
        if numbers.many_sorted:
            raise ProofError("a theorem is stated about the default sort")
        derivation = derivation_data(theorem.proof, theorem.premises, theorem.conclusion, numbers, self)
        self.data.append((claim_data(theorem.premises, theorem.conclusion, numbers), derivation))
        self._places[theorem] = len(self._numbers)
        self._numbers.append(numbers)

    def find(self, theorem: t.Theorem) -> tuple[int, Numbers]:
        """How many theorems ago it was, and the numbers of its letters."""
        place = self._places[theorem]
        return len(self._numbers) - 1 - place, self._numbers[place]


def proof_data(proof: t.Proof, premises: Sequence[Formula], conclusion: Formula, numbers: Numbers) -> Tree:
    """The proof as data, with the theorems that it applies.

    Raises:
        ProofError: it cannot be written as data.
    """
    lemmas = Lemmas([proof])
    derivation = derivation_data(proof, premises, conclusion, numbers, lemmas)
    return lemmas.data, derivation


def derivation_data(
    proof: t.Proof, premises: Sequence[Formula], conclusion: Formula, numbers: Numbers, lemmas: Lemmas
) -> Tree:
    """The lines of a proof as data, with the sorts of the constants that they bring in.

    Args:
        premises, conclusion: what the proof claims; they say which constants are its own.
        numbers: of the claim, or of all claims of a trace.
        lemmas: the theorems that its lines apply.

    Raises:
        ProofError: it cannot be written as data.
    """
    numbers.own.clear()
    lines = _Writer(numbers, lemmas).block(proof, len(premises))
    return numbers.constants(constant_sorts(proof, premises, conclusion)), lines


class _Writer:
    """Writes blocks."""

    def __init__(self, numbers: Numbers, lemmas: Lemmas) -> None:
        self._numbers = numbers
        self._lemmas = lemmas

    def block(self, block: t.Block, count: int) -> Block:
        """The lines of a block, before which there are some lines."""
        return Block(tuple([self._line(line, count + number) for number, line in enumerate(block)]))

    def _line(self, line: t.Line, count: int) -> Node:
        """A line without the rest of its block."""

        def ago(number: int) -> int:
            return count - 1 - number if 0 <= number < count else count  # Lean finds no line so long ago

        def all_ago(given: Iterable[int]) -> list[Tree]:
            return [ago(number) for number in given]

        match line:
            case t.Witness(main, constant):
                return Node("witness", (ago(main), self._constant(constant)))
            case t.Arbitrary(formula, constant, block):
                return Node("arbitrary", (self._formula(formula), self._constant(constant), self.block(block, count)))
            case t.Suppose(formula, block) | t.Absurd(formula, block):
                kind = "suppose" if isinstance(line, t.Suppose) else "absurd"
                return Node(kind, (self._formula(formula), self.block(block, count + 1)))
            case t.Repeat(premise):
                return Node("again", (ago(premise),))
            case t.Eliminate(main, side, other):
                left = TRUE if side == "left" else FALSE
                return Node("eliminate", (ago(main), left, all_ago(() if other is None else (other,))))
            case t.Introduce(formula, premises):
                return Node("introduce", (self._formula(formula), all_ago(premises)))
            case t.Instance(main, term):
                return Node("instantiate", (ago(main), _term_data(term, self._numbers)))
            case t.Generalise(formula, premise, term):
                return Node("generalise", (self._formula(formula), ago(premise), _term_data(term, self._numbers)))
            case t.Contradiction(first, second):
                return Node("contradiction", (ago(first), ago(second)))
            case t.Truth(formula) | t.Leibniz(formula):
                return Node("truth" if isinstance(line, t.Truth) else "leibniz", (self._formula(formula),))
            case t.Reflexivity(term):
                return Node("reflexivity", (_term_data(term, self._numbers),))
            case t.Apply(theorem, substitution, premises):
                number, letters = self._lemmas.find(theorem)
                return Node("apply", (number, self._values(theorem, letters, substitution), all_ago(premises)))
            case _:
                assert_never(line)

    def _formula(self, formula: Formula) -> Node:
        return formula_data(formula, self._numbers)

    def _constant(self, constant: App) -> Symbol:
        if not isinstance(constant, App) or constant.arguments or constant.sort is not None:
            raise ProofError(f"{constant!r} is not a new constant")
        return self._numbers.function(constant)

    def _values(self, theorem: t.Theorem, letters: Numbers, substitution: Mapping[str, Lambda | Term]) -> Tree:
        """The values of the letters of a theorem."""
        patterns = (*theorem.premises, theorem.conclusion)
        parts = [part for pattern in patterns for part in subformulas(pattern)]
        binders = {part.variable.name for part in parts if isinstance(part, Binder)}
        if not all(isinstance(part, Atom | Eq | Not | Binary | Binder) for part in parts):
            raise ProofError("a pattern of a theorem has ⊤ or ⊥")
        for name, (kind, arity) in dict.fromkeys(use for pattern in patterns for use in symbols(pattern).uses):
            value = substitution.get(name)
            is_formula = isinstance(value, Lambda) and kind == "predicate" and len(value.variables) == arity
            if not is_formula and (kind != "constant" or value is None or isinstance(value, Lambda)):
                raise ProofError(f"the substitution does not bind pattern variable {name!r}")
        sorts = {ENTITY for name in binders if not isinstance(substitution.get(name), Var)}
        predicates: list[Tree] = []
        constants: list[Tree] = []
        for name, value in substitution.items():
            match value:
                case Lambda(variables, body):
                    holes = {variable: place for place, variable in enumerate(variables)}  # of two, the last counts
                    scope = [Var("", f"␣{place}") for place in range(len(variables))]
                    for variable, place in holes.items():
                        scope[place] = variable
                    predicates.append((letters.predicate(name), formula_data(body, self._numbers, tuple(scope))))
                    sorts.update([variable.sort for variable in variables])
                case Var():
                    if value.name != name or name not in binders:
                        raise ProofError("of a theorem's variables only the sort may change")
                    sorts.add(value.sort)
                case term:
                    constants.append((letters.function(App(name, ())), _term_data(term, self._numbers)))
        if len(sorts) > 1:
            raise ProofError("a theorem is used with more than one sort")
        sort = self._numbers.sort(sorts.pop() if sorts else ENTITY)
        return sort, predicates, constants
