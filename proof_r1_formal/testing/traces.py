"""Traces from a seed: honest proofs, the same with a fault, and attempts to have a false answer verified.

In: a source of random numbers. Out: :class:`DrawnTrace`, a problem with a completion. No attack knows how the verifier
works: each changes the problem, the list of actions, the last action or the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import TypeAlias

from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, Option, Problem, ReferenceStep, three_way_options
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.syntax import BOTTOM, TOP, And, Formula, Implies, Not, Or, Xor
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.testing.formulas import numbered
from proof_r1_formal.testing.generate import Chain, Generator
from proof_r1_formal.testing.mutations import Flaw, flawed, insert_steps, known, replace_step
from proof_r1_formal.text.show import show

Steps: TypeAlias = tuple[ReferenceStep, ...]
"""The actions of a trace."""


class Kind(StrEnum):
    """How a trace is made."""

    HONEST = "honest"
    CORRUPTED = "corrupted"
    ADVERSARIAL = "adversarial"


@dataclass(frozen=True, slots=True)
class DrawnTrace:
    """A problem and a completion, and how they were made."""

    kind: Kind
    problem: Problem
    completion: str


class TraceGenerator:
    """Draws traces.

    Args:
        source: of random numbers.
        rules: that actions name.
    """

    def __init__(self, source: Random, rules: Catalogue) -> None:
        self._source = source
        self._generator = Generator(source, size=6)
        self._rules = rules
        self._solver = EmbeddedSolver()  # it only says which proofs are worth an attempt
        self._names = [*[rule.name for rule in rules.rules], "NO_SUCH_RULE"]

    def draw(self) -> DrawnTrace:
        """The next trace."""
        source = self._source
        kind = source.choices(list(Kind), (3, 3, 6))[0]
        if kind is Kind.ADVERSARIAL and source.random() < 0.25:
            query = self._generator.query()
            proof = Chain((*query.dependencies, self._generator.small_formula()), ())
            goal: Formula = query.conclusion
        else:
            proof = self._proof()
            goal = proof.steps[-1].conclusion
        problem = _problem(proof.premises, goal)
        steps = tuple([ReferenceStep(s.id, s.dependencies, show(s.conclusion), s.rule) for s in proof.steps])
        if steps:
            steps = self._bound(steps, problem)
        if kind is Kind.ADVERSARIAL:
            return self._attack(problem, goal, steps)
        return DrawnTrace(kind, problem, summary(steps if kind is Kind.HONEST else self._corrupted(steps, problem)))

    def _proof(self) -> Chain:
        """A proof, mostly from premises that do not contradict each other."""
        for _ in range(4):
            proof = self._generator.chain(self._rules.rules, self._source.randint(1, 3))
            if not isinstance(self._solver.decide(Query(proof.premises, BOTTOM)), Entailed):
                break
        return proof

    # -- honest and corrupted -----------------------------------------------------------------------------------------

    def _bound(self, steps: Steps, problem: Problem) -> Steps:
        """The last action states the option that follows: it binds it, or it is the last inference itself."""
        option = problem.option(problem.answer)
        assert option is not None
        if self._source.random() < 0.2:
            return (*steps[:-1], replace(steps[-1], id=option.id))
        return (*steps, ReferenceStep(option.id, (steps[-1].id,), show(option.formula), GOAL_BINDING))

    def _corrupted(self, steps: Steps, problem: Problem) -> Steps:
        """One fault in one action; it may do no harm."""
        source, index = self._source, self._source.randrange(len(steps))
        step, other = steps[index], source.randrange(len(steps))
        match source.randrange(8):
            case 0:
                return replace_step(steps, index)
            case 1:
                return replace_step(replace_step(steps, index, steps[other]), other, step)
            case 2:
                step = replace(step, dependencies=self._some(step.dependencies, source.randrange(3)))
            case 3:
                step = replace(step, conclusion=show(self._generator.changed(self._formula(problem))))
            case _:
                choices = list(flawed(problem, steps, index, source.choice(list(Flaw)), self._rules))
                return source.choice(choices) if choices else steps
        return replace_step(steps, index, step)

    # -- adversarial --------------------------------------------------------------------------------------------------

    def _attack(self, problem: Problem, goal: Formula, steps: Steps) -> DrawnTrace:
        source = self._source
        problem = self._other_problem(problem, goal)
        for _ in range(source.randrange(3)):
            steps = self._longer(steps, problem)
        if steps and source.random() < 0.3:
            steps = self._corrupted(steps, problem)
        if source.random() < 0.5:
            steps = steps[:-1]
        return DrawnTrace(Kind.ADVERSARIAL, problem, self._text((*steps, self._ending(steps, problem))))

    def _other_problem(self, problem: Problem, goal: Formula) -> Problem:
        """The problem with another goal, other options, or premises that contradict each other."""
        source, generator = self._source, self._generator
        premises = [premise.formula for premise in problem.premises]
        match source.randrange(8):
            case 0 if premises:
                premises.append(Not(source.choice(premises)))
            case 1:
                premises.append(self._formula(problem))
            case 2 if premises:
                del premises[source.randrange(len(premises))]
            case 3:
                goal = generator.changed(goal)
            case 4:
                goal = source.choice((TOP, BOTTOM, Or(goal, Not(goal)), And(goal, self._formula(problem))))
            case 5:
                return self._choices(premises, goal)
            case _:
                goal = source.choice((goal, self._formula(problem)))
        return _problem(premises, goal)

    def _choices(self, premises: Sequence[Formula], goal: Formula) -> Problem:
        """A problem whose options have formulas of their own; two may be the same, and any may be called Uncertain."""
        source, generator = self._source, self._generator
        formulas = [goal, Not(goal), generator.small_formula(), generator.changed(goal)]
        labels = source.sample(("A", "B", "True", "False", "Uncertain"), 3)
        options = tuple([Option(f"o{n}", label, source.choice(formulas)) for n, label in enumerate(labels, 1)])
        return Problem("drawn/1", numbered(premises), options, source.choice([None, "o1", "o2", "o3"]))

    def _longer(self, steps: Steps, problem: Problem) -> Steps:
        """Another action somewhere; the later ones may be made to rest on it."""
        source, place = self._source, self._source.randrange(len(steps) + 1)
        names = known(problem, steps) or ["nothing"]
        name = source.choice((f"t{len(steps)}", source.choice(names), source.choice(problem.options).id))
        wanted = self._some([*names, name, "nothing"], source.randrange(4))
        formula = source.choice((self._formula(problem), source.choice(problem.options).formula, TOP))
        later = [
            replace(step, dependencies=(name, *step.dependencies)[:MAX_DEPENDENCIES]) if source.random() < 0.3 else step
            for step in steps[place:]
        ]
        new = ReferenceStep(name, wanted, show(formula), source.choice(self._names))
        return insert_steps((*steps[:place], *later), place, new)

    def _ending(self, steps: Steps, problem: Problem) -> ReferenceStep:
        """The last action: it names an option, and states one thing or another."""
        source = self._source
        answer = problem.option(problem.answer)
        option = source.choice(problem.options) if answer is None or source.random() < 0.6 else answer
        stated = steps[-1].conclusion if steps and source.random() < 0.2 else self._statement(option, problem)
        last, premises = tuple([step.id for step in steps[-1:]]), tuple(known(problem, ()))[:MAX_DEPENDENCIES]
        some = self._some([*known(problem, steps), option.id, "nothing"], source.randrange(5))
        names = source.choice(((), last, premises, some))
        name = option.id if source.random() < 0.9 else source.choice(["goal", "s1", option.id.upper(), f"{option.id} "])
        return ReferenceStep(name, names, stated, GOAL_BINDING if source.random() < 0.5 else source.choice(self._names))

    def _statement(self, option: Option, problem: Problem) -> str:
        """The conclusion of the last action: the option's formula, the same in other words, or something else."""
        source, formula = self._source, option.formula
        other = self._formula(problem)
        same = formula, Not(Not(formula)), And(formula, Or(formula, other)), Xor(formula, BOTTOM), Implies(TOP, formula)
        if source.random() < 0.5:
            return show(source.choice(same), source.choice(("unicode", "ascii", "prefix")))
        others = (TOP, BOTTOM, Not(formula), other, Or(formula, other), Or(formula, Not(formula)), And(other, formula))
        return show(source.choice((*others, self._generator.changed(formula), source.choice(problem.options).formula)))

    def _text(self, steps: Steps) -> str:
        """The completion; sometimes with a draft, a second summary or a repeated key, or truncated."""
        source, text, draft = self._source, summary(steps), summary(steps[:-1] or steps)
        repeated = text.replace('"conclusion":', '"conclusion": "⊤", "conclusion":', 1)
        part = text[: source.randrange(len(text))]
        odd = (f"<think>{draft}</think>{text}", f"{text}{draft}", f"{draft}{text}", repeated, part)
        return source.choice(odd) if source.random() < 0.3 else text

    # -- pieces -------------------------------------------------------------------------------------------------------

    def _some(self, names: Sequence[str], number: int) -> tuple[str, ...]:
        return tuple(self._source.sample(names, min(number, len(names))))

    def _formula(self, problem: Problem) -> Formula:
        """A formula of the problem, or a new one over its symbols."""
        return self._source.choice((*problem.formulas(), self._generator.small_formula()))


def _problem(premises: Sequence[Formula], goal: Formula) -> Problem:
    """A three-way problem; as in the datasets, the goal has no negation in front, and the right answer says so."""
    answer = GOAL_TRUE
    while isinstance(goal, Not):
        goal, answer = goal.body, GOAL_FALSE if answer == GOAL_TRUE else GOAL_TRUE
    return Problem("drawn/1", numbered(premises), three_way_options(goal), answer)
