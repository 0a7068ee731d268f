"""Traces from a seed: honest proofs, the same with a fault, and attempts to have a false answer verified.

In: a source of random numbers. Out: :class:`DrawnTrace`, a problem with a completion. No attack knows how the verifier
works: each changes the problem, the list of actions, the last action or the text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import TypeAlias

from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, Option, Premise, Problem, three_way_options
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import BOTTOM, TOP, And, Formula, Implies, Not, Or, Xor
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.testing.generate import Chain, Generator
from proof_r1_formal.text.show import show

Record: TypeAlias = dict[str, object]
"""An element of a summary."""


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
            proof = Chain((*query.dependencies, self._generator.formula()), ())
            goal: Formula = query.conclusion
        else:
            proof = self._proof()
            goal = proof.steps[-1][2]
        problem = _problem(proof.premises, goal)
        actions = [_record(f"s{n}", names, formula, rule) for n, (rule, names, formula) in enumerate(proof.steps, 1)]
        if actions:
            self._bind(actions, problem)
        match kind:
            case Kind.HONEST:
                return DrawnTrace(kind, problem, _written(actions))
            case Kind.CORRUPTED:
                self._corrupt(actions, problem)
                return DrawnTrace(kind, problem, _written(actions))
            case Kind.ADVERSARIAL:
                return self._attack(problem, goal, actions)

    def _proof(self) -> Chain:
        """A proof, mostly from premises that do not contradict each other."""
        for _ in range(4):
            proof = self._generator.chain(self._rules.rules, self._source.randint(1, 3))
            if not isinstance(self._solver.decide(Query(proof.premises, BOTTOM)), Entailed):
                break
        return proof

    # -- honest and corrupted -----------------------------------------------------------------------------------------

    def _bind(self, actions: list[Record], problem: Problem) -> None:
        """The last action states the option that follows: it binds it, or it is the last inference itself."""
        option = problem.option(problem.answer)
        assert option is not None
        if self._source.random() < 0.2:
            actions[-1]["id"] = option.id
        else:
            actions.append(_record(option.id, [f"s{len(actions)}"], option.formula, GOAL_BINDING))

    def _corrupt(self, actions: list[Record], problem: Problem) -> None:
        """One fault in one action; it may do no harm."""
        source = self._source
        place = source.randrange(len(actions))
        action = actions[place]
        match source.randrange(9):
            case 0:
                del actions[place]
            case 1:
                action["dependencies"] = self._some(_names(action), source.randrange(len(_names(action)) + 1))
            case 2:
                action["dependencies"] = [source.choice(self._known(actions, problem)), *_names(action)[1:]]
            case 3:
                action["conclusion"] = show(self._generator.changed(self._formula(problem)))
            case 4:
                action["conclusion"] = f"¬({action['conclusion']})"
            case 5:
                action["rule"] = source.choice(self._names)
            case 6:
                action["id"] = source.choice(self._known(actions, problem))
            case 7:
                other = source.randrange(len(actions))
                actions[place], actions[other] = actions[other], action
            case _:
                action["conclusion"] = f"{action['conclusion']} ∨ {show(self._formula(problem))}"

    # -- adversarial --------------------------------------------------------------------------------------------------

    def _attack(self, problem: Problem, goal: Formula, actions: list[Record]) -> DrawnTrace:
        source = self._source
        problem = self._other_problem(problem, goal)
        for _ in range(source.randrange(3)):
            self._insert(actions, problem)
        if actions and source.random() < 0.3:
            self._corrupt(actions, problem)
        if actions and source.random() < 0.5:
            del actions[-1]
        actions.append(self._ending(actions, problem))
        return DrawnTrace(Kind.ADVERSARIAL, problem, self._text(actions))

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
        formulas = [goal, Not(goal), generator.formula(), generator.changed(goal)]
        labels = source.sample(("A", "B", "True", "False", "Uncertain"), 3)
        options = tuple([Option(f"o{n}", label, source.choice(formulas)) for n, label in enumerate(labels, 1)])
        return Problem("drawn/1", _named(premises), options, source.choice([None, "o1", "o2", "o3"]))

    def _insert(self, actions: list[Record], problem: Problem) -> None:
        """Another action somewhere; the later ones may be made to rest on it."""
        source = self._source
        place = source.randrange(len(actions) + 1)
        known = self._known(actions, problem) or ["nothing"]
        name = source.choice((f"t{len(actions)}", source.choice(known), source.choice(problem.options).id))
        wanted = [*known, name, "nothing"]
        formula = source.choice((self._formula(problem), source.choice(problem.options).formula, TOP))
        actions.insert(
            place, _record(name, self._some(wanted, source.randrange(4)), formula, source.choice(self._names))
        )
        for action in actions[place + 1 :]:
            if source.random() < 0.3:
                action["dependencies"] = [name, *_names(action)][:MAX_DEPENDENCIES]

    def _ending(self, actions: list[Record], problem: Problem) -> Record:
        """The last action: it names an option, and states one thing or another."""
        source = self._source
        answer = problem.option(problem.answer)
        option = source.choice(problem.options) if answer is None or source.random() < 0.6 else answer
        last = actions[-1] if actions else None
        stated = self._statement(option, problem)
        if last is not None and source.random() < 0.2:
            stated = str(last["conclusion"])
        names = source.choice(
            (
                [],
                [] if last is None else [str(last["id"])],
                [premise.id for premise in problem.premises][:MAX_DEPENDENCIES],
                self._some([*self._known(actions, problem), option.id, "nothing"], source.randrange(5)),
            )
        )
        name = option.id if source.random() < 0.9 else source.choice(["goal", "s1", option.id.upper(), f"{option.id} "])
        rule = GOAL_BINDING if source.random() < 0.5 else source.choice(self._names)
        return {"id": name, "dependencies": names, "conclusion": stated, "rule": rule}

    def _statement(self, option: Option, problem: Problem) -> str:
        """What the last action states: the option's formula, the same in other words, or something else."""
        source, formula = self._source, option.formula
        other = self._formula(problem)
        same = (
            formula,
            Not(Not(formula)),
            And(formula, Or(formula, other)),
            Xor(formula, BOTTOM),
            Implies(TOP, formula),
        )
        if source.random() < 0.5:
            return show(source.choice(same), source.choice(("unicode", "ascii", "prefix")))
        others = (TOP, BOTTOM, Not(formula), other, Or(formula, other), Or(formula, Not(formula)), And(other, formula))
        return show(source.choice((*others, self._generator.changed(formula), source.choice(problem.options).formula)))

    def _text(self, actions: list[Record]) -> str:
        """The completion; sometimes with a draft, a second summary or a repeated key, or truncated."""
        source, text = self._source, _written(actions)
        draft = _written(actions[:-1] or actions)
        match source.randrange(16):
            case 0:
                return f"<think>{draft}</think>{text}"
            case 1:
                return f"{text}{draft}"
            case 2:
                return f"{draft}{text}"
            case 3:
                return text.replace('"conclusion":', '"conclusion": "⊤", "conclusion":', 1)
            case 4:
                return text[: source.randrange(len(text))]
            case _:
                return text

    # -- pieces -------------------------------------------------------------------------------------------------------

    def _known(self, actions: list[Record], problem: Problem) -> list[str]:
        return [*[premise.id for premise in problem.premises], *[str(action["id"]) for action in actions]]

    def _some(self, names: Sequence[str], number: int) -> list[str]:
        return self._source.sample(list(names), min(number, len(names)))

    def _formula(self, problem: Problem) -> Formula:
        """A formula of the problem, or a new one over its symbols."""
        return self._source.choice((*problem.formulas(), self._generator.formula()))


def _names(action: Record) -> list[str]:
    names = action["dependencies"]
    assert isinstance(names, list)
    return names


def _record(name: str, dependencies: Sequence[str], conclusion: Formula, rule: str) -> Record:
    return {"id": name, "dependencies": [*dependencies], "conclusion": show(conclusion), "rule": rule}


def _problem(premises: Sequence[Formula], goal: Formula) -> Problem:
    """A three-way problem; as in the datasets, the goal has no negation in front, and the right answer says so."""
    answer = GOAL_TRUE
    while isinstance(goal, Not):
        goal, answer = goal.body, GOAL_FALSE if answer == GOAL_TRUE else GOAL_TRUE
    return Problem("drawn/1", _named(premises), three_way_options(goal), answer)


def _named(premises: Sequence[Formula]) -> tuple[Premise, ...]:
    return tuple([Premise(f"h{number}", formula) for number, formula in enumerate(premises, 1)])


def _written(actions: Sequence[Record]) -> str:
    return f"<summary>{json.dumps(actions, ensure_ascii=False)}</summary>"
