"""Random formulas, queries and steps from a seed: many, fast, without Hypothesis and without shrinking.

In: a source of random numbers. Out: formulas over a small vocabulary, drawn for each example; queries;
steps that are instances of rule schemata, near to one, or made from patterns. What is drawn depends on the source only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from proof_r1_formal.data.problem import Premise
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.kernel.pattern import Lambda, instance
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.symbols import symbols
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    App,
    Atom,
    Binary,
    Binder,
    Connective,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Var,
    Xor,
)
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.rules.schema import GOAL_BINDING, Rule, Schema
from proof_r1_formal.testing.mutations import Step

CONNECTIVES: tuple[type[Connective], ...] = (And, Or, Xor, Implies, Iff)  # compiled, the alias has no members


@dataclass(frozen=True, slots=True)
class Chain:
    """A proof from premises h1, h2, …"""

    premises: tuple[Formula, ...]
    steps: tuple[Step, ...]


def numbered(premises: Sequence[Formula]) -> tuple[Premise, ...]:
    """The premises h1, h2, …"""
    return tuple([Premise(f"h{number}", formula) for number, formula in enumerate(premises, 1)])


def mapped(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """The formula with its immediate parts changed."""
    match formula:
        case Not(body):
            return Not(change(body))
        case Binder():
            return type(formula)(formula.variable, change(formula.body))
        case Binary():
            return type(formula)(change(formula.left), change(formula.right))
        case _:
            return formula


def letters(
    patterns: Iterable[Formula], body: Callable[[str, tuple[Var, ...]], Formula], term: Callable[[], Term]
) -> dict[str, Lambda | Term]:
    """Something for each letter of the patterns: a body with free variables for its arguments, or a term."""
    values: dict[str, Lambda | Term] = {}
    for name, (kind, arity) in dict.fromkeys(use for pattern in patterns for use in symbols(pattern).uses):
        holes = tuple([Var(f"␣h{number}", ENTITY) for number in range(arity)])
        values[name] = Lambda(holes, body(name, holes)) if kind == "predicate" else term()
    return values


class Generator:
    """Draws formulas, queries and steps.

    Args:
        source: of random numbers.
        size: about how many connectives, quantifiers and atoms the drawn formulas have at most.
    """

    def __init__(self, source: Random, *, size: int = 8) -> None:
        self._source = source
        self._size = size
        self._predicates: list[tuple[str, int]] = []
        self._constants: list[str] = []
        self._functions: list[tuple[str, int]] = []
        self._equality = False
        self._sorts: tuple[str, ...] = (ENTITY,)

    def _vocabulary(self, *, many_sorted: bool = True, functions: bool = True) -> None:
        """Draw the symbols of the next example."""
        source = self._source
        self._predicates = [(name, source.randrange(3)) for name in "PQRS"[: source.randint(1, 4)]]
        self._constants = list("abc"[: source.randint(1, 3)])
        self._functions = [("f", 1)] if functions and source.random() < 0.1 else []
        self._equality = source.random() < 0.2
        self._sorts = (ENTITY, "Person") if many_sorted and source.random() < 0.1 else (ENTITY,)

    # -- formulas and queries -----------------------------------------------------------------------------------------

    def query(self) -> Query:
        """Up to three dependencies and a conclusion over one vocabulary; many are in the EPR class, some are not."""
        self._vocabulary()
        source = self._source
        dependencies = tuple([self._formula(source.randint(1, self._size + 1)) for _ in range(source.randrange(4))])
        return Query(dependencies, self._formula(source.randint(1, max(1, self._size - 1))))

    def _formula(self, size: int, scope: tuple[Var, ...] = ()) -> Formula:
        source = self._source
        choice = source.random()
        if size <= 1:
            if self._equality and choice < 0.3:
                return Eq(self._term(scope), self._term(scope))
            if choice > 0.98:
                return source.choice((TOP, BOTTOM))
            name, arity = source.choice(self._predicates)
            return Atom(name, tuple([self._term(scope) for _ in range(arity)]))
        if size == 2 or choice < 0.15:
            return Not(self._formula(size - 1, scope))
        if choice < 0.5:
            variable = Var("xyz"[len(scope) % 3], source.choice(self._sorts))
            inner = (*[other for other in scope if other.name != variable.name], variable)
            return source.choice((ForAll, Exists))(variable, self._formula(size - 1, inner))
        connective = source.choice(CONNECTIVES)
        left = source.randint(1, size - 2)
        return connective(self._formula(left, scope), self._formula(size - 1 - left, scope))

    def _term(self, scope: tuple[Var, ...]) -> Term:
        source = self._source
        if self._functions and source.random() < 0.3:
            name, arity = source.choice(self._functions)
            return App(name, tuple([self._term(scope) for _ in range(arity)]))
        if scope and source.random() < 0.7:
            return source.choice(scope)
        return App(source.choice(self._constants), ())

    # -- steps --------------------------------------------------------------------------------------------------------

    def formula(self) -> Formula:
        """A formula over the vocabulary of the last example."""
        return self._formula(self._source.randint(1, self._size // 2))

    def chain(self, rules: Sequence[Rule], length: int) -> Chain:
        """A proof over one vocabulary: instances of schemata, joined by implications and conjunctions.

        Args:
            rules: whose schemata the steps are instances of, but for GOAL_BINDING.
            length: number of steps, at least 1.
        """
        self._vocabulary(many_sorted=False)
        schemata = [(rule.name, schema) for rule in rules if rule.name != GOAL_BINDING for schema in rule.schemata]
        premises: list[Formula] = []
        steps: list[Step] = []

        def premise(formula: Formula) -> str:
            premises.append(formula)
            return f"h{len(premises)}"

        for number in range(1, length + 1):
            name, before, choice = f"s{number}", f"s{number - 1}", self._source.random()
            if steps and choice < 0.4:
                conclusion = self.formula()
                needed = (before, premise(Implies(steps[-1].conclusion, conclusion)))
                steps.append(Step(name, needed, conclusion, "IMPLICATION_ELIMINATION"))
            elif steps and choice < 0.6:
                other = self.formula()
                both = And(steps[-1].conclusion, other)
                steps.append(Step(name, (before, premise(other)), both, "CONJUNCTION_INTRODUCTION"))
            else:
                rule, schema = self._source.choice(schemata)
                drawn, conclusion = self._instantiated(schema.premises, schema.conclusion)
                steps.append(Step(name, tuple([premise(formula) for formula in drawn]), conclusion, rule))
        return Chain(tuple(premises), tuple(steps))

    def instance(self, schema: Schema) -> Query:
        """A step that is an instance of the schema, its principal premises sometimes inside something larger."""
        self._vocabulary(many_sorted=False)
        premises, conclusion = self._instantiated(schema.premises, schema.conclusion)
        dependencies = list(premises)
        for place in range(len(schema.principal)):
            if self._source.random() < 0.3 and len(dependencies) < MAX_DEPENDENCIES:
                self._wrap(dependencies, place)
        self._source.shuffle(dependencies)
        return Query(tuple(dependencies), conclusion)

    def non_instance(self, premises: tuple[Formula, ...], conclusion: Formula) -> Query:
        """The step that patterns make when each letter stands for an atom of its own."""
        source = self._source

        def atom(name: str, holes: tuple[Var, ...]) -> Formula:
            extra = [App(source.choice("abc"), ()) for _ in range(source.randrange(2))]
            return Atom(f"{name}{source.choice(('', '1', '_of', 's'))}", (*holes, *extra))

        values = letters((*premises, conclusion), atom, lambda: App(source.choice("abc"), ()))
        dependencies = [instance(premise, values) for premise in premises]
        source.shuffle(dependencies)
        return Query(tuple(dependencies), instance(conclusion, values))

    def neighbour(self, step: Query) -> Query:
        """A step with one thing changed: a premise gone, two exchanged, something negated, a connective replaced."""
        source = self._source
        dependencies = list(step.dependencies)
        conclusion = step.conclusion
        place = source.randrange(len(dependencies)) if dependencies else None
        match source.randrange(6):
            case 0 if place is not None:
                del dependencies[place]
            case 1 if place is not None:
                dependencies[place], conclusion = conclusion, dependencies[place]
            case 2 if place is not None:
                dependencies[place] = self.changed(dependencies[place])
            case 3:
                conclusion = Not(conclusion)
            case 4:
                conclusion = self._formula(source.randint(1, 3))
            case _:
                conclusion = self.changed(conclusion)
        return Query(tuple(dependencies), conclusion)

    def _instantiated(self, premises: tuple[Formula, ...], conclusion: Formula) -> tuple[list[Formula], Formula]:
        """Instances of patterns by one substitution; drawn again until the symbols have one use each."""
        source, patterns = self._source, (*premises, conclusion)
        while True:
            values = letters(
                patterns,
                lambda _, holes: self._formula(source.randint(1, self._size // 2), holes),
                lambda: App(source.choice(self._constants), ()),
            )
            formulas = [instance(pattern, values) for pattern in patterns]
            try:
                Signature.infer(formulas)
            except ProofR1Error:
                continue
            return formulas[:-1], formulas[-1]

    def _wrap(self, dependencies: list[Formula], place: int) -> None:
        """Put a premise inside what it can be taken out of again."""
        premise, source = dependencies[place], self._source
        other = self._formula(source.randint(1, 2))
        match source.randrange(5):
            case 0:
                dependencies[place] = And(premise, other)
            case 1:
                dependencies[place] = And(other, premise)
            case 2:
                dependencies[place] = Not(Not(premise))
            case 3:
                variable = Var("g", ENTITY)
                dependencies[place] = ForAll(variable, And(premise, self._formula(source.randint(1, 2), (variable,))))
            case _:
                dependencies[place] = Implies(other, premise)
                dependencies.append(other)

    def changed(self, formula: Formula) -> Formula:
        """The formula with a connective, a quantifier or a sign changed somewhere."""
        source = self._source
        if source.random() < 0.2:
            return Not(formula)
        match formula:
            case Not(body):
                return body if source.random() < 0.5 else Not(self.changed(body))
            case ForAll(variable, body) | Exists(variable, body):
                if source.random() < 0.5:
                    return (Exists if isinstance(formula, ForAll) else ForAll)(variable, body)
                return type(formula)(variable, self.changed(body))
            case Binary():
                match source.randrange(4):
                    case 0:
                        return source.choice(CONNECTIVES)(formula.left, formula.right)
                    case 1:
                        return type(formula)(formula.right, formula.left)
                    case 2:
                        return type(formula)(self.changed(formula.left), formula.right)
                    case _:
                        return type(formula)(formula.left, self.changed(formula.right))
            case _:
                return Not(formula)
