"""Search for a short proof: forward from the premises, the cheapest conclusion first.

In: premises, goals, the schemata of a rule catalogue, an oracle. Out: the inferences of a short proof of one of the
goals. The price of a conclusion is the number of steps below it; shared steps count once. It only grows along a proof,
so the price of a conclusion is fixed when it is first taken from the queue, and the search ends at the first goal. The
price depends on the proofs chosen for the conclusions below it, so proofs are short, but not always shortest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from heapq import heappop, heappush
from itertools import count, product
from operator import or_
from typing import TypeAlias

from proof_r1_formal.engine.oracle import QUESTION, Oracle
from proof_r1_formal.engine.solver import Budget
from proof_r1_formal.generate.classes import SOLVER_STEPS, Classes
from proof_r1_formal.generate.openings import Opening, Schemata, Spines, cases, elements, introducible
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted, confirm
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.signature import ground_terms, symbols
from proof_r1_formal.kernel.syntax import And, Atom, Exists, ForAll, Formula, Implies, Not, Xor, conjunction
from proof_r1_formal.kernel.transform import instantiate, negate, subformulas
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.text.equivalence import conjuncts

_MAX_SUPPORTS = 4
"""Maximum number of ways to support a formula; the cheapest are kept."""


@dataclass(frozen=True, slots=True)
class Inference:
    """A step between known formulas, by number: the premises in order, then the conclusion."""

    rule: str
    dependencies: tuple[int, ...]
    conclusion: Formula


Refusal: TypeAlias = tuple[str, frozenset[Formula], Formula]
"""A rejected step: its rule, dependencies and conclusion."""


@dataclass(frozen=True, slots=True)
class _Support:
    """Known formulas that entail something, and the steps below them as bits."""

    numbers: frozenset[int] = frozenset()
    steps: int = 0

    @property
    def price(self) -> tuple[int, int]:
        return self.steps.bit_count(), len(self.numbers)


class Search:
    """One search.

    Args:
        premises, goals: closed formulas.
        schemata: of the rules that steps may use.
        oracle: says which formulas are equivalent.
        budget: of steps, shared with other searches for the same problem: 1 for each element or combination,
            ``QUESTION`` for each question, and a share of what its answer cost the solver.
        stepwise: whether a ∧ or ⊕ that a step needs must be known, and not only its parts; and whether the parts of
            a known ∧ must be concluded before they are used.
        stretched: whether to ask the oracle where the parts of known formulas do not tell that a step's needs are met.
        refused: rejected steps, which are not repeated.

    Raises:
        BudgetSpentError: the premises alone exceed the budget.
    """

    def __init__(
        self,
        premises: Sequence[Formula],
        goals: Sequence[Formula],
        schemata: Schemata,
        oracle: Oracle,
        budget: Budget,
        *,
        stepwise: bool = False,
        stretched: bool = False,
        refused: Set[Refusal] = frozenset(),
    ) -> None:
        self._premises = tuple(premises)
        self._schemata = schemata
        self._oracle = oracle
        self._budget = budget
        self._stepwise = stepwise
        self._stretched = stretched
        self._refused = refused
        self._terms = ground_terms((*premises, *goals))
        self._classes = Classes(oracle, self._budget.spend)
        self._goals = {self._classes.of(goal) for goal in goals}
        self._formulas: list[Formula] = []
        self._spines = Spines()
        self._steps: list[int] = []  # for each known formula the steps of its proof, as bits
        self._inferences: dict[int, Inference] = {}
        self._known: dict[int, list[int]] = defaultdict(list)  # class -> the known formulas of it
        self._saying: dict[int, list[int]] = defaultdict(list)  # class -> known formulas that say it by themselves
        self._openings: list[Opening] = []
        self._waiting: dict[object, list[Opening]] = defaultdict(list)  # what occurs in a need -> openings with it
        self._supports: dict[Formula, list[_Support]] = {}  # forgotten whenever something is settled
        self._models: list[Structure] = []
        self._queue: list[tuple[int, int, int, Inference, int]] = []
        self._ticket = count()
        for formula in self._premises:
            self._settle(formula, 0)
        for wanted in self._wanted(goals):
            for opening in schemata.building(wanted, self._terms):
                self._open(opening)
        for number in range(len(self._premises)):
            self._take_apart(number)

    def run(self) -> int | None:
        """The number of the first goal found; None if the rules lead to no goal.

        Raises:
            BudgetSpentError: the budget ended before a decision.
        """
        for number, formula in enumerate(self._premises):
            if self._classes.of(formula) in self._goals:
                return number
        while self._queue or (self._stretched and self._stretch()):
            *_, inference, steps = heappop(self._queue)
            if self._is_known(inference.conclusion):
                continue
            number = len(self._formulas)
            self._inferences[number] = inference
            self._settle(inference.conclusion, steps | 1 << number)
            if self._classes.of(inference.conclusion) in self._goals:
                return number
            self._take_apart(number)
            self._wake(number)
        return None

    def proof(self, number: int) -> Iterator[tuple[int, Inference]]:
        """The inferences that a known formula depends on, its own last, each with its number."""
        for below, inference in self._inferences.items():
            if self._steps[number] >> below & 1:
                yield below, inference

    def states(self, number: int, formula: Formula) -> bool:
        """Whether a known formula is equivalent to another formula."""
        return self._classes.of(self._formulas[number]) == self._classes.of(formula)

    def refusal(self, inference: Inference) -> Refusal:
        """The step as formulas, because each search numbers formulas differently."""
        return inference.rule, frozenset([self._formulas[n] for n in inference.dependencies]), inference.conclusion

    # -- known formulas -----------------------------------------------------------------------------------------------

    def _settle(self, formula: Formula, steps: int) -> None:
        number = len(self._formulas)
        spine = elements(formula, self._terms)
        self._formulas.append(formula)
        self._spines.add(spine)
        self._steps.append(steps)
        self._known[self._classes.of(formula)].append(number)
        for element in spine[:1] if self._stepwise and isinstance(formula, And) else spine:
            if not element.antecedents:
                self._saying[self._classes.of(element.formula)].append(number)
        self._supports.clear()

    def _is_known(self, formula: Formula) -> bool:
        """Whether it would say nothing new, nor let a quantifier be used that a negation stood before."""
        sign = _quantifier(formula)
        return any(
            sign is None or _quantifier(self._formulas[n]) == sign
            for n in self._known.get(self._classes.of(formula), ())
        )

    def _take_apart(self, number: int) -> None:
        for opening in self._schemata.parting(number, self._spines, self._terms, self._budget.spend):
            if not self._is_known(opening.conclusion):
                self._open(opening)

    def _open(self, opening: Opening) -> None:
        self._openings.append(opening)
        for need in (*opening.needs, *opening.own, *opening.said):
            for sign in _signs(need):
                self._waiting[sign].append(opening)
        self._offer(opening)

    def _wake(self, number: int) -> None:
        """Look again at the openings that a new formula may be of use to."""
        said = [element.formula for element in self._spines.of(number) if not element.antecedents]
        signs = dict.fromkeys(sign for formula in said for sign in _signs(formula, known=True))
        woken = {id(opening): opening for sign in signs for opening in self._waiting.get(sign, ())}
        for opening in woken.values():
            self._offer(opening)

    def _offer(self, opening: Opening) -> None:
        """Put the cheapest inference that the opening allows into the queue."""
        if self._is_known(opening.conclusion):
            return
        for support in self._met(opening):
            if self._push(opening, sorted(support.numbers)):
                return

    def _push(self, opening: Opening, others: Iterable[int]) -> bool:
        inference = Inference(opening.rule, (*opening.principal, *others), opening.conclusion)
        if self._refused and self.refusal(inference) in self._refused:
            return False
        steps = self._steps_of(inference.dependencies)
        price = (steps.bit_count(), len(inference.dependencies), next(self._ticket))
        heappush(self._queue, (*price, inference, steps))
        return True

    def _steps_of(self, numbers: Iterable[int]) -> int:
        return reduce(or_, [self._steps[number] for number in numbers], 0)

    # -- what known formulas entail -----------------------------------------------------------------------------------

    def _met(self, opening: Opening) -> list[_Support]:
        """The known formulas that meet the needs of an opening, the cheapest first."""
        room = MAX_DEPENDENCIES - len(opening.principal)
        found = [_Support(steps=self._steps_of(opening.principal))]
        for need in opening.own:
            found = self._joined(found, self._known_itself(need), room, opening.principal, apart=True)
        for need in opening.said:
            found = self._joined(found, self._saying_it(need), room, opening.principal)
        for need in opening.needs:
            found = self._joined(found, self._support(need), room, opening.principal)
        return found

    def _joined(
        self,
        first: Iterable[_Support],
        second: Iterable[_Support],
        room: int,
        excluded: tuple[int, ...] = (),
        *,
        apart: bool = False,
    ) -> list[_Support]:
        """The cheapest unions, of no more formulas than there is room for, and of different ones if they are apart."""
        found: dict[frozenset[int], _Support] = {}
        for one, other in product(first, second):
            self._budget.spend()
            numbers = one.numbers | other.numbers
            if apart and len(numbers) < len(one.numbers) + len(other.numbers):
                continue
            if len(numbers) <= room and numbers.isdisjoint(excluded):
                found[numbers] = _Support(numbers, one.steps | other.steps)
        return sorted(found.values(), key=lambda support: support.price)[:_MAX_SUPPORTS]

    def _known_itself(self, formula: Formula) -> list[_Support]:
        """The known formula that is equivalent, or those that are equivalent to its conjuncts."""
        found: list[_Support] = []
        for parts in dict.fromkeys(((formula,), conjuncts(formula))):
            numbers = [known[0] for known in (self._known.get(self._classes.of(part)) for part in parts) if known]
            if len(numbers) == len(parts):
                found.append(_Support(frozenset(numbers), self._steps_of(numbers)))
        return found

    def _saying_it(self, formula: Formula) -> list[_Support]:
        """The known formulas whose spine has the formula."""
        saying = self._saying.get(self._classes.of(formula), ())
        return [_Support(frozenset((number,)), self._steps[number]) for number in saying]

    def _support(self, formula: Formula) -> list[_Support]:
        """The cheapest sets of known formulas whose parts make the formula true."""
        known = self._supports.get(formula)
        if known is None:
            found = self._saying_it(formula)
            for parts in self._cases(formula):
                joined = [_Support()]
                for part in parts:
                    joined = self._joined(joined, self._support(part), MAX_DEPENDENCIES)
                found += joined
            best = {support.numbers: support for support in sorted(found, key=lambda support: support.price)}
            known = self._supports[formula] = list(best.values())[:_MAX_SUPPORTS]
        return known

    def _cases(self, formula: Formula) -> Iterator[tuple[Formula, ...]]:
        match formula:
            case And() | Xor() if self._stepwise:
                return
            case Exists(variable, _):
                for term in self._terms.get(variable.sort, ()):
                    yield (instantiate(formula, term),)
            case Not(ForAll(variable, _) as universal):
                for term in self._terms.get(variable.sort, ()):
                    yield (negate(instantiate(universal, term)),)
            case _:
                yield from cases(formula)

    def _stretch(self) -> bool:
        """Find an opening whose needs known formulas meet in a way that only a proof shows; whether there is one.

        An opening without a principal premise is left out: all that its step would show is that its conclusion is
        entailed. What is known follows from the premises, so needs that do not will never be met, and their opening is
        dropped; a model of the premises in which they are false tells so without a question.
        """
        for opening in list(self._openings):
            if not opening.principal or self._is_known(opening.conclusion):
                self._openings.remove(opening)
                continue
            need = conjunction(opening.needs)
            if not self._follows(need):
                self._openings.remove(opening)
                continue
            others = [number for number in range(len(self._formulas)) if number not in opening.principal]
            query = Query(tuple([self._formulas[number] for number in others]), need)
            used = confirm(query, self._asked(query)).used
            fits = used is not None and len(used) + len(opening.principal) <= MAX_DEPENDENCIES
            if used is not None and fits and self._push(opening, [others[index] for index in sorted(used)]):
                self._openings.remove(opening)
                return True
        return False

    def _asked(self, query: Query) -> Answer:
        """The answer to a question, paid from the budget."""
        self._budget.spend(QUESTION)
        answer = self._oracle.entails(query.dependencies, query.conclusion)
        self._budget.spend(answer.steps // SOLVER_STEPS)
        return answer

    def _follows(self, formula: Formula) -> bool:
        for model in self._models:
            if _interprets(model, formula) and not evaluate(formula, model):
                return False
        answer = self._asked(Query(self._premises, formula))
        if isinstance(answer, Refuted) and answer.model is not None:
            self._models.append(answer.model)
        return isinstance(answer, Entailed)

    # -- what is wanted -----------------------------------------------------------------------------------------------

    def _wanted(self, goals: Iterable[Formula]) -> Iterator[Formula]:
        """The formulas for which building schemata are tried: the parts of goals, and stepwise the needs of steps."""
        pending = list(goals)
        if self._stepwise:
            spines = self._spines.of_kind(Implies, range(len(self._formulas)))
            implications = [e.formula for _, spine in spines for e in spine if isinstance(e.formula, Implies)]
            pending += [i.left for i in implications if isinstance(i.left, And | Xor)]
        seen: set[Formula] = set()
        while pending:
            formula = pending.pop()
            if formula in seen:
                continue
            seen.add(formula)
            for said in introducible(formula):
                yield said
                match said:
                    case And(left, right) | Xor(left, right):
                        pending += (right, left)
                    case Exists(variable, _):
                        pending += [instantiate(said, term) for term in self._terms.get(variable.sort, ())]
                    case _:
                        pass


def _signs(formula: Formula, *, known: bool = False) -> set[Atom | str]:
    """The signs that a known formula may meet a need: a ground atom of both, or else a predicate."""
    atoms = [part for part in subformulas(formula) if isinstance(part, Atom)]
    return {atom for atom in atoms if not atom.free} | {atom.predicate for atom in atoms if known or atom.free}


def _quantifier(formula: Formula) -> str | None:
    """The outermost sign, if it is a quantifier or the negation of one."""
    negated = isinstance(formula, Not)
    inner = formula.body if isinstance(formula, Not) else formula
    return f"{'¬' * negated}{type(inner).__name__}" if isinstance(inner, ForAll | Exists) else None


def _interprets(model: Structure, formula: Formula) -> bool:
    used = symbols(formula)
    predicates = {name for name, (kind, _) in used.uses if kind == "predicate"}
    needs = ((model.predicates, predicates), (model.functions, used.functions), (model.domains, used.sorts))
    return all(table.keys() >= names for table, names in needs)
