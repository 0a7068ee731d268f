"""Edits of a rollout: every way in which one change of its steps, or of how they are written, gives another rollout.

In: a :class:`Draft`, the steps of a rollout and the form in which they are written. Out: named drafts, each one edit
away: a step dropped, copied, renamed, bound otherwise, made to depend on something else, split, or padded with steps
that are true and useless; the text written otherwise, cut off after any token, or such that it breaks its verification.
Edits of edits are pairs. ``studies.reward_search`` verifies and credits them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, combinations
from types import MappingProxyType
from typing import TypeAlias

from proof_r1_formal import (
    FOLIO,
    GOAL_BINDING,
    MAX_DEPENDENCIES,
    Problem,
    ReferenceStep,
    parse_formula,
    show,
    three_way_options,
)
from proof_r1_formal.kernel.syntax import ForAll, Not, Or, Xor, conjunction
from proof_r1_formal.kernel.transform import constants, instantiate
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.testing.formulas import numbered
from proof_r1_formal.testing.mutations import insert_steps, known, replace_step, rewire

PREMISES = {
    "h1": parse_formula("∀x (student(x) → reads(x))"),
    "h2": parse_formula("student(ann)"),
    "h3": parse_formula("reads(ann) → (clever(ann) ⊕ tired(ann))"),
    "h4": parse_formula("¬tired(ann)"),
    "h5": parse_formula("student(bob)"),
    "h6": parse_formula("¬∀x tired(x)"),
}
PROBLEM = Problem(
    "clever/1",
    numbered(tuple(PREMISES.values())),
    three_way_options(parse_formula("clever(ann)")),
    "h_goal_true",
)
"""The problem of all rollouts of this module."""

Steps: TypeAlias = tuple[ReferenceStep, ...]
Edit: TypeAlias = tuple[str, Steps]
"""The name of an edit, and the steps that it leaves."""

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


class Fault(StrEnum):
    """What in a completion breaks its verification."""

    UNKNOWN_ID = "an id without a token"
    BROKEN_WORKER = "a worker that breaks over it"


@dataclass(frozen=True, slots=True)
class Draft:
    """A rollout before it is text.

    Attributes:
        steps: its actions.
        form: how they are written, one of ``FORMS``.
        edits: what was done to the honest rollout, in order.
        length: number of tokens after which the text ends; None for the whole text.
        fault: what in the completion breaks its verification.
    """

    steps: Steps
    form: str = "summary"
    edits: tuple[str, ...] = ()
    length: int | None = None
    fault: Fault | None = None

    @property
    def completion(self) -> str:
        """The text: the conclusions as thoughts, then the summary."""
        thoughts = f"<think>{' '.join(step.conclusion for step in self.steps)}</think>\n"
        steps = summary(self.steps)
        parts = {"steps": steps, "open": steps.removesuffix("]</summary>"), "nothing": summary(())}
        return "".join(WORD.findall(FORMS[self.form].format(thoughts=thoughts, **parts))[: self.length])


def edits(draft: Draft) -> Iterator[Draft]:
    """All drafts that are one edit away from a rollout for the problem."""
    kinds = (_drops, _copies, _renames, _rebinds, _rewires, _splits) if draft.steps else ()
    for edit, steps in chain.from_iterable(kind(draft.steps) for kind in (*kinds, _pads)):
        yield replace(draft, steps=steps, edits=(*draft.edits, edit))
    for form in FORMS:
        if form != draft.form:
            yield replace(draft, form=form, edits=(*draft.edits, form))
    for length in range(len(WORD.findall(draft.completion))):
        yield replace(draft, length=length, edits=(*draft.edits, f"cut after {length} tokens"))
    for fault in Fault:
        yield replace(draft, fault=fault, edits=(*draft.edits, fault))


def step(name: str, dependencies: str, conclusion: str, rule: str) -> ReferenceStep:
    """An action; the dependencies are separated by blanks."""
    return ReferenceStep(name, tuple(dependencies.split()), conclusion, rule)


# -- fewer steps, the same again, other names -------------------------------------------------------------------------


def _drops(steps: Steps) -> Iterator[Edit]:
    """A step left out; steps that depend on it keep its name, or depend on what it depends on."""
    for place, gone in enumerate(steps):
        rest = replace_step(steps, place)
        yield f"drop {gone.id}", rest
        yield f"drop {gone.id}, depend on what it depends on", tuple([_without(old, gone) for old in rest])


def _without(old: ReferenceStep, gone: ReferenceStep) -> ReferenceStep:
    if gone.id not in old.dependencies:
        return old
    names = [name for name in old.dependencies if name != gone.id]
    return replace(old, dependencies=tuple(dict.fromkeys([*names, *gone.dependencies]))[:MAX_DEPENDENCIES])


def _copies(steps: Steps) -> Iterator[Edit]:
    """A step a second time, under another id, word for word or as ¬¬."""
    for place, old in enumerate(steps):
        for name, conclusion in (("copy", old.conclusion), ("copy as ¬¬", f"¬¬({old.conclusion})")):
            again = replace(old, id=f"{old.id}_{len(steps)}", conclusion=conclusion)
            yield f"{name} {old.id}", insert_steps(steps, place + 1, again)


def _renames(steps: Steps) -> Iterator[Edit]:
    """Another rule, or another id: an option's, a premise's, an earlier action's, none."""
    rules = [*[rule.name for rule in FOLIO.rules], "NO_SUCH_RULE"]
    ids = [*[option.id for option in PROBLEM.options], "h1", steps[0].id, ""]
    for place, old in enumerate(steps):
        ways = [(f"{old.id} by {rule}", replace(old, rule=rule)) for rule in rules if rule != old.rule]
        ways += [(f"id of {old.id} is {name!r}", replace(old, id=name)) for name in ids if name != old.id]
        yield from [(edit, replace_step(steps, place, other)) for edit, other in ways]


# -- other bindings and dependencies ----------------------------------------------------------------------------------


def _rebinds(steps: Steps) -> Iterator[Edit]:
    """Another last action: any option, bound to its formula or to another one, from any one dependency or none."""
    before = steps[:-1] if steps[-1].rule == GOAL_BINDING else steps
    for option in PROBLEM.options:
        for name in ("", *known(PROBLEM, before), "nowhere", option.id):
            for conclusion in (show(option.formula), "⊤", show(PREMISES["h1"])):
                binding = step(option.id, name, conclusion, GOAL_BINDING)
                yield f"bind {option.id} to {conclusion} from {name or 'nothing'}", (*before, binding)
        if before:  # the last inference carries the id of the option
            last = replace(before[-1], id=option.id)
            yield f"{before[-1].id} as {option.id}, no binding", (*before[:-1], last)


def _rewires(steps: Steps) -> Iterator[Edit]:
    """One dependency less, one more, or none: premises, all actions, itself, and a name that is not there."""
    for place, old in enumerate(steps):
        names = old.dependencies
        ways = [(f"{old.id} without {name}", rewire(old, name)) for name in names]
        others = [name for name in (*known(PROBLEM, steps), "nowhere") if name not in names]
        if len(names) < MAX_DEPENDENCIES:
            more = [(name, replace(old, dependencies=(*names, name))) for name in others]
            ways += [(f"{old.id} depends on {name}, too", other) for name, other in more]
        if len(names) > 1:
            ways.append((f"{old.id} depends on nothing", replace(old, dependencies=())))
        yield from [(edit, replace_step(steps, place, other)) for edit, other in ways]


# -- more steps -------------------------------------------------------------------------------------------------------


def _splits(steps: Steps) -> Iterator[Edit]:
    """A step by way of another: an instance of a ∀, or the conjunction of two of its dependencies."""
    formulas = dict(PREMISES)
    new = f"d{len(steps)}"
    for place, old in enumerate(steps):
        names = old.dependencies
        usable = [name for name in names if name in formulas]
        for one, other in combinations(usable, 2):
            whole = show(conjunction((formulas[one], formulas[other])))
            both = ReferenceStep(new, (one, other), whole, "CONJUNCTION_INTRODUCTION")
            via = replace(old, dependencies=(new, *[name for name in names if name not in (one, other)]))
            yield f"{old.id} by way of {one} ∧ {other}", replace_step(steps, place, both, via)
        for name in usable:
            if isinstance(formula := formulas[name], ForAll):
                for constant in dict.fromkeys(c for premise in PREMISES.values() for c in constants(premise)):
                    body = show(instantiate(formula, constant))
                    instance = ReferenceStep(new, (name,), body, "UNIVERSAL_ELIMINATION")
                    via = replace(old, dependencies=tuple([new if d == name else d for d in names]))
                    yield f"{old.id} by way of {body}", replace_step(steps, place, instance, via)
        formulas[old.id] = parse_formula(old.conclusion)


def _pads(steps: Steps) -> Iterator[Edit]:
    """Insert steps that are true and useless at each place: alone, or also as dependencies of the next step."""
    for place in range(len(steps) + 1):
        for name, useless in USELESS.items():
            junk = [replace(one, id=f"j{place}_{number}") for number, one in enumerate(useless)]
            if place == len(steps):
                yield f"{name} at the end", (*steps, *junk)
                continue
            edit = f"{name} before {steps[place].id}"
            yield edit, insert_steps(steps, place, *junk)
            names = (*steps[place].dependencies, *[one.id for one in junk])[:MAX_DEPENDENCIES]
            cited = replace(steps[place], dependencies=names)
            yield f"{edit}, as its dependencies", replace_step(steps, place, *junk, cited)


def _useless() -> Mapping[str, Steps]:
    """Named lists of steps that follow from the premises, without ids."""
    both = [
        step(
            "",
            " ".join(names),
            show(conjunction(tuple([PREMISES[name] for name in names]))),
            "CONJUNCTION_INTRODUCTION",
        )
        for names in chain(combinations(PREMISES, 2), combinations(PREMISES, 3))
    ]
    either = [
        step("", f"{name} {denied}", show(Xor(formula, no.body)), "EXCLUSIVE_DISJUNCTION_INTRODUCTION")
        for name, formula in PREMISES.items()
        for denied, no in PREMISES.items()
        if isinstance(no, Not) and name != denied
    ]
    first = PREMISES["h1"]
    return {
        **{
            f"{count} × {name}": tuple(pool[:count])
            for name, pool in (("∧", both), ("⊕", either))
            for count in sorted({1, min(4, len(pool)), min(20, len(pool))})
        },
        "a premise again": (step("", "h1", show(first), "CONJUNCTION_ELIMINATION"),),
        "a tautology": (step("", "h1", show(Or(first, Not(first))), "DISJUNCTIVE_SYLLOGISM"),),
    }


USELESS = _useless()
