"""Sloppy proofs: proofs whose steps were each left as they are, or given a slip at random.

In: a proof, a chance and a source of random numbers. Out: the proof with slips: another rule is named, a dependency is
left out or is another one, or an earlier step is skipped. Nothing is verified here, as no proof is meant to be wrong in
a certain way: that is what near misses are for (``proof_r1_formal.generate``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from proof_r1_formal import GOAL_BINDING, MAX_DEPENDENCIES, Catalogue, Problem, ReferenceStep

Proof = tuple[ReferenceStep, ...]


def sloppy(problem: Problem, proof: Sequence[ReferenceStep], rules: Catalogue, chance: float, source: Random) -> Proof:
    """The proof with slips. The terminal step changes only in its dependencies.

    Args:
        problem: what is proved.
        proof: the terminal step included.
        rules: from which another rule is named.
        chance: of a slip, for each step.
        source: of random numbers.
    """
    names = [rule.name for rule in rules.rules if rule.name != GOAL_BINDING]
    kept: list[ReferenceStep] = []
    skipped: dict[str, tuple[str, ...]] = {}
    for step in proof:
        merged = tuple(dict.fromkeys([d for name in step.dependencies for d in skipped.get(name, (name,))]))
        step = replace(step, dependencies=merged[:MAX_DEPENDENCIES])
        if step.rule == GOAL_BINDING or source.random() >= chance:
            kept.append(step)
            continue
        match source.choice(("rule", "rule", "dropped", "other", "skipped")):
            case "rule":
                kept.append(replace(step, rule=source.choice([name for name in names if name != step.rule])))
            case "dropped" if len(step.dependencies) > 1:
                left_out = source.choice(step.dependencies)
                kept.append(replace(step, dependencies=tuple([d for d in step.dependencies if d != left_out])))
            case "skipped" if any(step.id in later.dependencies and later.rule != GOAL_BINDING for later in proof):
                skipped[step.id] = step.dependencies
            case _:
                kept.append(_with_another(problem, step, kept, source))
    return numbered(kept)


def numbered(proof: Sequence[ReferenceStep]) -> Proof:
    """The proof without gaps in its ids: only what is wrong with its steps is to be learned."""
    inner = [step.id for step in proof if step.rule != GOAL_BINDING]
    new = {old: f"s{number}" for number, old in enumerate(inner, 1)}
    return tuple(
        [
            replace(step, id=new.get(step.id, step.id), dependencies=tuple([new.get(d, d) for d in step.dependencies]))
            for step in proof
        ]
    )


def _with_another(
    problem: Problem, step: ReferenceStep, earlier: Sequence[ReferenceStep], source: Random
) -> ReferenceStep:
    """One dependency replaced by another premise or earlier step; the step as it is if there is none."""
    known = [premise.id for premise in problem.premises] + [before.id for before in earlier]
    others = [name for name in known if name not in step.dependencies]
    if not others:
        return step
    place = source.randrange(len(step.dependencies))
    changed = list(step.dependencies)
    changed[place] = source.choice(others)
    return replace(step, dependencies=tuple(changed))
