"""Random queries and steps from a seed: many, fast, without Hypothesis and without shrinking.

In: a source of random numbers. Out: queries, and steps that are instances of rule schemata, near to one, or made from
patterns. What is drawn depends on the source only.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.pattern import instance
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import ENTITY, And, App, Atom, Binary, Exists, ForAll, Formula, Implies, Not, Var
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.rules.schema import GOAL_BINDING, Rule, Schema
from proof_r1_formal.testing.formulas import CONNECTIVES, Formulas, Vocabulary, letters
from proof_r1_formal.testing.mutations import Step


class Chain(NamedTuple):
    """A proof from premises h1, h2, …"""

    premises: tuple[Formula, ...]
    steps: tuple[Step, ...]


class Generator(Formulas):
    """Draws queries and steps, each over a vocabulary of its own.

    The drawn formulas have about ``size`` connectives, quantifiers and atoms at most.
    """

    compounds = ("not", "not", "not", "quantified", "quantified", *["binary"] * 4)  # quantifiers make questions hard

    def __init__(self, source: Random, *, size: int = 8) -> None:
        super().__init__(source, _vocabulary(source))
        self._source = source
        self._size = size

    def query(self) -> Query:
        """Up to three dependencies and a conclusion over one vocabulary; many are in the EPR class, some are not."""
        self.vocabulary = _vocabulary(self._source, many_sorted=True)
        source = self._source
        dependencies = tuple([self.formula(source.randint(1, self._size + 1)) for _ in range(source.randrange(4))])
        return Query(dependencies, self.formula(source.randint(1, max(1, self._size - 1))))

    def small_formula(self) -> Formula:
        """A formula over the vocabulary of the last example."""
        return self.formula(self._source.randint(1, self._size // 2))

    def chain(self, rules: Sequence[Rule], length: int) -> Chain:
        """A proof of one step or more: instances of the rules' schemata, joined by implications and conjunctions."""
        self.vocabulary = _vocabulary(self._source)
        schemata = [(rule.name, schema) for rule in rules if rule.name != GOAL_BINDING for schema in rule.schemata]
        premises: list[Formula] = []
        steps: list[Step] = []

        def premise(formula: Formula) -> str:
            premises.append(formula)
            return f"h{len(premises)}"

        for number in range(1, length + 1):
            name, before, choice = f"s{number}", f"s{number - 1}", self._source.random()
            if steps and choice < 0.4:
                conclusion = self.small_formula()
                needed = (before, premise(Implies(steps[-1].conclusion, conclusion)))
                steps.append(Step(name, needed, conclusion, "IMPLICATION_ELIMINATION"))
            elif steps and choice < 0.6:
                other = self.small_formula()
                both = And(steps[-1].conclusion, other)
                steps.append(Step(name, (before, premise(other)), both, "CONJUNCTION_INTRODUCTION"))
            else:
                rule, schema = self._source.choice(schemata)
                drawn, conclusion = self._instantiated(schema.premises, schema.conclusion)
                steps.append(Step(name, tuple([premise(formula) for formula in drawn]), conclusion, rule))
        return Chain(tuple(premises), tuple(steps))

    def instance(self, schema: Schema) -> Query:
        """A step that is an instance of the schema, its principal premises sometimes inside something larger."""
        self.vocabulary = _vocabulary(self._source)
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
                conclusion = self.formula(source.randint(1, 3))
            case _:
                conclusion = self.changed(conclusion)
        return Query(tuple(dependencies), conclusion)

    def _instantiated(self, premises: tuple[Formula, ...], conclusion: Formula) -> tuple[list[Formula], Formula]:
        """Instances of patterns by one substitution; drawn again until the symbols have one use each."""
        source, patterns = self._source, (*premises, conclusion)
        while True:
            values = letters(
                patterns,
                lambda _, holes: self.formula(source.randint(1, self._size // 2), holes),
                lambda: self.term(ENTITY),
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
        other = self.formula(source.randint(1, 2))
        match source.randrange(5):
            case 0:
                whole: Formula = And(premise, other)
            case 1:
                whole = And(other, premise)
            case 2:
                whole = Not(Not(premise))
            case 3:
                variable = Var("g", ENTITY)
                whole = ForAll(variable, And(premise, self.formula(source.randint(1, 2), (variable,))))
            case _:
                whole = Implies(other, premise)
                dependencies.append(other)
        dependencies[place] = whole

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
                kind, other, left, right = type(formula), source.choice(CONNECTIVES), formula.left, formula.right
                changed = kind(self.changed(left), right), kind(left, self.changed(right))
                return source.choice((*changed, kind(right, left), other(left, right)))
            case _:
                return Not(formula)


def _vocabulary(source: Random, *, many_sorted: bool = False) -> Vocabulary:
    """A few symbols."""
    sorts = (ENTITY, "Person") if many_sorted and source.random() < 0.1 else (ENTITY,)
    predicates = [
        (name, tuple(source.choices(sorts, k=source.randrange(3)))) for name in "PQRS"[: source.randint(1, 4)]
    ]
    constants = [(name, (), source.choice(sorts)) for name in "abc"[: source.randint(1, 3)]]
    functions = [("f", (ENTITY,), ENTITY)] if source.random() < 0.1 else []
    equations = 8 if source.random() < 0.2 else 0
    parts = (*["atom"] * 20, *["="] * equations, "truth")
    return Vocabulary(tuple(predicates), (*constants, *functions), sorts=sorts, parts=parts)
