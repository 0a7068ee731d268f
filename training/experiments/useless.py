"""Useless steps: put into proofs that a warm-up learns from, and found in proofs that a model has written.

In: a proof, or the report on a completion. Out: the proof with true steps that its answer does not need, or the number
of steps without which the answer is as well proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

from proof_r1_formal import Problem, ReferenceStep, TraceReport, Verifier, parse_formula, show
from proof_r1_formal.generate import summary
from proof_r1_formal.kernel.syntax import And, Atom, Formula, Not
from training.edits import without
from training.experiments.slips import Proof, numbered


def with_useless_steps(problem: Problem, proof: Sequence[ReferenceStep], chance: float, source: Random) -> Proof:
    """The proof with true steps that its answer does not depend on.

    A useless step is the next one of another proof of the problem. If there is none, it is a conjunction of two known
    literals.

    Args:
        problem: what is proved.
        proof: the terminal step included.
        chance: of a useless step before each step; after a useless step, of another one.
        source: of random numbers.
    """
    known = {premise.id: premise.formula for premise in problem.premises if _is_literal(premise.formula)}
    conclusions = {step.id: parse_formula(step.conclusion) for step in proof}
    stated = {_parts(formula) for formula in [*conclusions.values(), *[p.formula for p in problem.premises]]}
    detours = [_renamed(other) for other in problem.proofs if tuple(other) != tuple(proof)]
    padded: list[ReferenceStep] = []
    for step in proof:
        while source.random() < chance:
            fresh = [d.pop(0) for d in detours if d][:1] or [
                ReferenceStep(f"useless{len(padded)}", (one, other), show(both), "CONJUNCTION_INTRODUCTION")
                for one, other in combinations(known, 2)
                if _parts(both := And(known[one], known[other])) not in stated
            ]
            if not fresh:
                break
            padded.append(source.choice(fresh))
            stated.add(_parts(parse_formula(padded[-1].conclusion)))
        padded.append(step)
        if _is_literal(conclusions[step.id]):
            known[step.id] = conclusions[step.id]
    return numbered(padded)


def _renamed(proof: Sequence[ReferenceStep]) -> list[ReferenceStep]:
    """The steps before the goal is concluded, under ids of their own."""
    names = {step.id: f"other{step.id}" for step in proof}
    return [
        replace(step, id=names[step.id], dependencies=tuple([names.get(name, name) for name in step.dependencies]))
        for step in proof[:-2]
    ]


def _is_literal(formula: Formula) -> bool:
    return isinstance(formula.body if isinstance(formula, Not) else formula, Atom)


def _parts(formula: Formula) -> frozenset[Formula]:
    """The sides of a conjunction, in no order; of another formula, itself."""
    return frozenset((formula.left, formula.right) if isinstance(formula, And) else (formula,))


def droppable(problem: Problem, report: TraceReport, atomic: Verifier) -> int | None:
    """How many steps a right answer can do without, used ones among them; None if it is not proved in single steps.

    From the last to the first, each step is left out, and steps that depend on it depend on what it depends on. If the
    answer is still right and rule-verified, the step stays out. Several smaller sets may do; this is the size of one.

    Args:
        problem: that the report is about.
        report: on a completion.
        atomic: an atomic verifier. Another one accepts two steps merged into one, so that most steps are droppable. It
            decides whether the answer is proved in single steps.
    """
    steps = [
        ReferenceStep(step.id, step.dependencies, step.conclusion, step.declared_rule)
        for step in report.actions
        if step.id is not None and step.conclusion is not None and step.declared_rule is not None
    ]
    if not (report.answer_correct and report.rule_verified and _proves(problem, steps, atomic)):
        return None
    before = len(steps)
    for place in reversed(range(before - 1)):  # the last one binds the answer
        fewer = [without(step, steps[place]) for step in (*steps[:place], *steps[place + 1 :])]
        if _proves(problem, fewer, atomic):
            steps = fewer
    return before - len(steps)


def _proves(problem: Problem, steps: Sequence[ReferenceStep], verifier: Verifier) -> bool:
    report = verifier.verify(problem, summary(steps))
    return report.answer_correct is True and report.rule_verified
