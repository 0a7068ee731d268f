"""Edits of a rollout: every way in which one change of its steps, or of how they are written, gives another rollout.

In: a :class:`Draft`, the steps of a rollout and the form in which they are written. Out: named drafts, each one edit
away: a step dropped, copied, renamed, bound otherwise, made to depend on something else, split, or padded with steps
that are true and useless; the text written otherwise, or cut off after any token. Edits of edits are pairs.
``proof_r1_formal.testing.reward_search`` verifies and credits them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations
from types import MappingProxyType

from proof_r1_formal import GOAL_BINDING, MAX_DEPENDENCIES, Catalogue, Problem, ReferenceStep, parse_formula, show
from proof_r1_formal.kernel.syntax import ForAll, Formula, Not, Or, Xor, conjunction
from proof_r1_formal.kernel.transform import constants, instantiate
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.testing.mutations import insert_steps, known, replace_step, rewire

NOWHERE = "nowhere"
"""An id that names nothing."""

FORMS: Mapping[str, str] = MappingProxyType(
    {
        "summary": "{thoughts}{steps}",
        "no summary": "{thoughts}",
        "empty summary": "{thoughts}{nothing}",
        "empty block": "{thoughts}<summary></summary>",
        "open summary": "{thoughts}{open}",
        "two summaries": "{thoughts}{steps}\n{steps}",
        "text after it": "{thoughts}{steps}\nSo it is.",
        "text before it": "{thoughts}Here it is:\n{steps}",
        "no thoughts": "{steps}",
    }
)
"""How steps are written: name -> text. ``steps`` is their summary, ``open`` the same without its end."""

WORD = re.compile(r"\s?\w+|\s|[^\w\s]")
"""A token of a completion: a word with the blank before it, a sign, or a blank."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A rollout before it is text.

    Attributes:
        steps: its actions.
        form: how they are written, one of ``FORMS``.
        edits: what was done to the honest rollout, in order.
        length: number of tokens after which the text ends; None for the whole text.
    """

    steps: tuple[ReferenceStep, ...]
    form: str = "summary"
    edits: tuple[str, ...] = ()
    length: int | None = None

    @property
    def completion(self) -> str:
        """The text: the conclusions as thoughts, then the summary."""
        return "".join(WORD.findall(self._text)[: self.length])

    @property
    def _text(self) -> str:
        thoughts = f"<think>{' '.join(step.conclusion for step in self.steps)}</think>\n"
        steps = summary(self.steps)
        parts = {"steps": steps, "open": steps.removesuffix("]</summary>"), "nothing": summary(())}
        return FORMS[self.form].format(thoughts=thoughts, **parts)

    def edited(self, edit: str, steps: Sequence[ReferenceStep]) -> Draft:
        """The draft after one more edit of its steps."""
        return replace(self, steps=tuple(steps), edits=(*self.edits, edit))

    def with_step(self, place: int, step: ReferenceStep, edit: str) -> Draft:
        """The draft with another step in place of one."""
        return self.edited(edit, replace_step(self.steps, place, step))


def edits(draft: Draft, problem: Problem, rules: Catalogue) -> Iterator[Draft]:
    """All drafts that are one edit away.

    Args:
        draft: the rollout to edit.
        problem: that it is about.
        rules: that its actions may name.
    """
    if draft.steps:
        yield from chain(_drops(draft), _copies(draft), _renames(draft, problem, rules), _rebinds(draft, problem))
        yield from chain(_rewires(draft, problem), _splits(draft, problem))
    yield from chain(_pads(draft, problem), _forms(draft), _cuts(draft))


# -- fewer steps, the same again, other names -------------------------------------------------------------------------


def _drops(draft: Draft) -> Iterator[Draft]:
    """A step left out; steps that depend on it keep its name, or depend on what it depends on."""
    for place, gone in enumerate(draft.steps):
        rest = replace_step(draft.steps, place)
        yield draft.edited(f"drop {gone.id}", rest)
        yield draft.edited(f"drop {gone.id}, depend on what it depends on", [without(step, gone) for step in rest])


def without(step: ReferenceStep, gone: ReferenceStep) -> ReferenceStep:
    if gone.id not in step.dependencies:
        return step
    names = [name for name in step.dependencies if name != gone.id]
    return replace(step, dependencies=tuple(dict.fromkeys([*names, *gone.dependencies]))[:MAX_DEPENDENCIES])


def _copies(draft: Draft) -> Iterator[Draft]:
    """A step a second time, under another id, word for word or as ¬¬."""
    for place, step in enumerate(draft.steps):
        for name, conclusion in (("copy", step.conclusion), ("copy as ¬¬", f"¬¬({step.conclusion})")):
            again = replace(step, id=f"{step.id}_{len(draft.steps)}", conclusion=conclusion)
            yield draft.edited(f"{name} {step.id}", insert_steps(draft.steps, place + 1, again))


def _renames(draft: Draft, problem: Problem, rules: Catalogue) -> Iterator[Draft]:
    """Another rule, or another id: an option's, a premise's, an earlier action's, none."""
    ids = [*[option.id for option in problem.options], problem.premises[0].id, draft.steps[0].id, ""]
    for place, step in enumerate(draft.steps):
        for rule in (*[rule.name for rule in rules.rules], "NO_SUCH_RULE"):
            if rule != step.rule:
                yield draft.with_step(place, replace(step, rule=rule), f"{step.id} by {rule}")
        for name in ids:
            if name != step.id:
                yield draft.with_step(place, replace(step, id=name), f"id of {step.id} is {name!r}")


# -- other bindings and dependencies ----------------------------------------------------------------------------------


def _rebinds(draft: Draft, problem: Problem) -> Iterator[Draft]:
    """Another last action: any option, bound to its formula or to another one, from any one dependency or none."""
    before = draft.steps[:-1] if draft.steps[-1].rule == GOAL_BINDING else draft.steps
    names: list[str | None] = [None, *known(problem, before), NOWHERE]
    for option in problem.options:
        formulas = [show(option.formula), "⊤", show(problem.premises[0].formula)]
        for name in [*names, option.id]:
            for conclusion in formulas:
                binding = ReferenceStep(option.id, () if name is None else (name,), conclusion, GOAL_BINDING)
                edit = f"bind {option.id} to {conclusion} from {name or 'nothing'}"
                yield draft.edited(edit, [*before, binding])
        if before:  # the last inference carries the id of the option
            last = replace(before[-1], id=option.id)
            yield draft.edited(f"{before[-1].id} as {option.id}, no binding", [*before[:-1], last])


def _rewires(draft: Draft, problem: Problem) -> Iterator[Draft]:
    """One dependency less, one more, or none: premises, all actions, itself, and a name that is not there."""
    everything = [*known(problem, draft.steps), NOWHERE]
    for place, step in enumerate(draft.steps):
        for name in step.dependencies:
            yield draft.with_step(place, rewire(step, name), f"{step.id} without {name}")
        for name in everything:
            if name not in step.dependencies and len(step.dependencies) < MAX_DEPENDENCIES:
                more = replace(step, dependencies=(*step.dependencies, name))
                yield draft.with_step(place, more, f"{step.id} depends on {name}, too")
        if len(step.dependencies) > 1:
            yield draft.with_step(place, replace(step, dependencies=()), f"{step.id} depends on nothing")


# -- more steps -------------------------------------------------------------------------------------------------------


def _splits(draft: Draft, problem: Problem) -> Iterator[Draft]:
    """A step by way of another: an instance of a ∀, or the conjunction of two of its dependencies."""
    formulas = {premise.id: premise.formula for premise in problem.premises}
    for place, step in enumerate(draft.steps):
        usable = [name for name in step.dependencies if name in formulas]
        new = f"d{len(draft.steps)}"
        for one, other in combinations(usable, 2):
            whole = show(conjunction((formulas[one], formulas[other])))
            both = ReferenceStep(new, (one, other), whole, "CONJUNCTION_INTRODUCTION")
            rest = [name for name in step.dependencies if name not in (one, other)]
            via = replace(step, dependencies=(new, *rest))
            yield draft.edited(f"{step.id} by way of {one} ∧ {other}", replace_step(draft.steps, place, both, via))
        for name in usable:
            if isinstance(formula := formulas[name], ForAll):
                for constant in dict.fromkeys(c for premise in problem.premises for c in constants(premise.formula)):
                    body = show(instantiate(formula, constant))
                    instance = ReferenceStep(new, (name,), body, "UNIVERSAL_ELIMINATION")
                    via = replace(step, dependencies=tuple([new if d == name else d for d in step.dependencies]))
                    yield draft.edited(f"{step.id} by way of {body}", replace_step(draft.steps, place, instance, via))
        formulas[step.id] = parse_formula(step.conclusion)


def _pads(draft: Draft, problem: Problem) -> Iterator[Draft]:
    """Steps that are true and useless at each place: alone, or as dependencies of the step behind them as well."""
    for place in range(len(draft.steps) + 1):
        for name, useless in _useless(problem):
            junk = [replace(step, id=f"j{place}_{number}") for number, step in enumerate(useless)]
            padded = insert_steps(draft.steps, place, *junk)
            where = f"before {draft.steps[place].id}" if place < len(draft.steps) else "at the end"
            yield draft.edited(f"{name} {where}", padded)
            if place < len(draft.steps):
                names = (*draft.steps[place].dependencies, *[one.id for one in junk])[:MAX_DEPENDENCIES]
                cited = replace(draft.steps[place], dependencies=names)
                yield draft.edited(
                    f"{name} {where}, as its dependencies", replace_step(draft.steps, place, *junk, cited)
                )


@lru_cache(maxsize=16)
def _useless(problem: Problem) -> tuple[tuple[str, tuple[ReferenceStep, ...]], ...]:
    """Named lists of steps that follow from the premises, without ids."""
    premises = [(premise.id, premise.formula) for premise in problem.premises]

    def step(names: tuple[str, ...], conclusion: Formula, rule: str) -> ReferenceStep:
        return ReferenceStep("", names, show(conclusion), rule)

    both = [
        step(
            tuple([name for name, _ in chosen]), conjunction(tuple([f for _, f in chosen])), "CONJUNCTION_INTRODUCTION"
        )
        for chosen in chain(combinations(premises, 2), combinations(premises, 3))
    ]
    either = [
        step((name, denied), Xor(formula, negation.body), "EXCLUSIVE_DISJUNCTION_INTRODUCTION")
        for name, formula in premises
        for denied, negation in premises
        if isinstance(negation, Not) and name != denied
    ]
    first, formula = premises[0]
    return (
        *[
            (f"{count} × {name}", tuple(pool[:count]))
            for name, pool in (("∧", both), ("⊕", either))
            for count in sorted({1, min(4, len(pool)), min(20, len(pool))} - {0})
        ],
        ("a premise again", (step((first,), formula, "CONJUNCTION_ELIMINATION"),)),
        ("a tautology", (step((first,), Or(formula, Not(formula)), "DISJUNCTIVE_SYLLOGISM"),)),
    )


def _forms(draft: Draft) -> Iterator[Draft]:
    """The same steps, written otherwise."""
    for form in FORMS:
        if form != draft.form:
            yield replace(draft, form=form, edits=(*draft.edits, form))


def _cuts(draft: Draft) -> Iterator[Draft]:
    """The text cut off after each of its tokens, and before the first."""
    for length in range(len(WORD.findall(draft.completion))):
        yield replace(draft, length=length, edits=(*draft.edits, f"cut after {length} tokens"))
