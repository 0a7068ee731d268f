"""Ways of earning more for the same proof, measured with the real verifier and the real credit.

An attack stands in place of an honest rollout of the group of ``studies.reward_search``. What it earns in all, over all
its tokens, is compared with what the honest one earned there. The first table of ``docs/training.md`` holds these
attacks: run this file to print it. ``studies.reward_search`` finds more.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proof_r1_formal import ReferenceStep
from proof_r1_formal.credit.presets import PRESETS, standing
from proof_r1_formal.credit.terms import CreditSettings, PresetName
from studies.reward_edits import FORMS, Draft, edits, step
from studies.reward_search import (
    ANSWER,
    CLEVER,
    EITHER,
    HONEST,
    LEAP,
    READS,
    TOLERANCE,
    WRONG_ANSWER,
    Kind,
    earned,
    first_batch,
    gain,
    improves,
    uneven,
    verified,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "training.md"
SETTINGS: dict[PresetName, CreditSettings] = {name: CreditSettings(preset=name) for name in PRESETS}


@dataclass(frozen=True, slots=True)
class Attack:
    """A completion, the kind of the honest rollout in whose place it stands, and whether its baselines are uneven."""

    name: str
    completion: str
    kind: Kind = Kind.RIGHT
    uneven: bool = False

    def gain(self, preset: PresetName) -> float:
        settings = SETTINGS[preset]
        baselines = uneven(settings) if self.uneven else first_batch(settings)
        return gain(self.completion, self.kind, settings, baselines)


def either_steps(count: int) -> tuple[ReferenceStep, ...]:
    """True and useless steps ``A ⊕ tired(ann)``, of different A."""
    known = ("student(ann)", "h2"), ("student(bob)", "h5"), ("(¬∀x tired(x))", "h6"), ("(∃x student(x))", "h2")
    return tuple(
        [
            step(f"x{n}", f"{name} h4", f"{formula} ⊕ tired(ann)", "EXCLUSIVE_DISJUNCTION_INTRODUCTION")
            for n, (formula, name) in enumerate(known[:count])
        ]
    )


def both_steps() -> tuple[ReferenceStep, ...]:
    """Twenty true and useless steps, each a conjunction of other premises."""
    (padded,) = [draft.steps for draft in edits(HONEST[Kind.RIGHT]) if draft.edits == ("20 × ∧ at the end",)]
    return padded[len(HONEST[Kind.RIGHT].steps) :]


NAMED: dict[str, tuple[ReferenceStep, ...]] = {
    "READS": (READS,),
    "EITHER": (EITHER,),
    "CLEVER": (CLEVER,),
    "ANSWER": (ANSWER,),
    "LEAP": (LEAP,),
    "WRONG_ANSWER": (WRONG_ANSWER,),
    "BOB": (step("j1", "h1 h5", "reads(bob)", "IMPLICATION_ELIMINATION"),),
    "BOTH": both_steps(),
    "USELESS": either_steps(4),
}


def parsed(part: str) -> tuple[ReferenceStep, ...]:
    """The steps of a name, or one step: ``s1: h1 h2 ⊢ reads(ann) by IMPLICATION_ELIMINATION``."""
    if part in NAMED:
        return NAMED[part]
    found = re.fullmatch(r"(\S*): (.*) ?⊢ (.*) by (\w+)", part)
    assert found is not None, part
    return (step(*found.groups()),)


def attacks(text: str) -> Iterator[Attack]:
    """The attacks of a text: a line with the name and sometimes the form or the baselines, then the steps, indented."""
    for head, lines in re.findall(r"(\S.*)\n((?: .*\n)+)", text):
        name, _, how = head.partition(" | ")
        steps = [one for part in " ".join(lines.split()).split("; ") for one in parsed(part)]
        kind = Kind.WRONG if name.startswith("wrong, ") else Kind.RIGHT
        draft = Draft(tuple(steps), how if how in FORMS else "summary")
        yield Attack(name, draft.completion, kind, how == "uneven baselines")


ATTACKS = tuple(
    attacks(
        """
a verified step again, as ¬¬A
    READS; j1: s1 ⊢ ¬¬reads(ann) by CONJUNCTION_ELIMINATION; EITHER; CLEVER; ANSWER
A ∧ B, (A ∧ B) ∧ A and B ∧ A of known A and B
    READS; j1: s1 h2 ⊢ reads(ann) ∧ student(ann) by CONJUNCTION_INTRODUCTION;
    j2: j1 s1 ⊢ (reads(ann) ∧ student(ann)) ∧ reads(ann) by CONJUNCTION_INTRODUCTION;
    j3: s1 h2 ⊢ student(ann) ∧ reads(ann) by CONJUNCTION_INTRODUCTION; EITHER; CLEVER; ANSWER
A ∧ B of known A and B
    READS; j1: s1 h2 ⊢ reads(ann) ∧ student(ann) by CONJUNCTION_INTRODUCTION; EITHER; CLEVER; ANSWER
a premise again
    READS; j1: h2 ⊢ student(ann) by CONJUNCTION_ELIMINATION; EITHER; CLEVER; ANSWER
a tautology
    READS; j1: s1 ⊢ tired(bob) ∨ ¬tired(bob) by DISJUNCTIVE_SYLLOGISM; EITHER; CLEVER; ANSWER
¬∀ to ∃¬ and back, twice
    READS; j1: h6 ⊢ ∃x ¬tired(x) by QUANTIFIER_NEGATION; j2: j1 ⊢ ¬∀x tired(x) by QUANTIFIER_NEGATION;
    j3: j2 ⊢ ∃x ¬tired(x) by QUANTIFIER_NEGATION; j4: j3 ⊢ ¬∀x tired(x) by QUANTIFIER_NEGATION; EITHER; CLEVER; ANSWER
¬∀ to ∃¬ and back, once
    READS; j1: h6 ⊢ ∃x ¬tired(x) by QUANTIFIER_NEGATION; j2: j1 ⊢ ¬∀x tired(x) by QUANTIFIER_NEGATION; EITHER;
    CLEVER; ANSWER
binding straight from the premises
    h_goal_true: h1 h2 h3 h4 ⊢ clever(ann) by GOAL_BINDING
dependencies that are not needed
    s1: h1 h2 h5 h6 ⊢ reads(ann) by IMPLICATION_ELIMINATION;
    s2: s1 h3 h5 h6 ⊢ clever(ann) ⊕ tired(ann) by IMPLICATION_ELIMINATION;
    s3: s2 h4 h5 h6 ⊢ clever(ann) by EXCLUSIVE_DISJUNCTION_ELIMINATION; ANSWER
a true step beside the proof
    READS; BOB; EITHER; CLEVER; ANSWER
a true step beside the proof, declared into the closure
    READS; BOB; EITHER; s3: s2 h4 j1 ⊢ clever(ann) by EXCLUSIVE_DISJUNCTION_ELIMINATION; ANSWER
a wrong step declared into the closure
    READS; EITHER; CLEVER; j1: s1 ⊢ tired(bob) by IMPLICATION_ELIMINATION;
    h_goal_true: s3 j1 ⊢ clever(ann) by GOAL_BINDING
one step split into two
    s0: h1 ⊢ student(ann) → reads(ann) by UNIVERSAL_ELIMINATION; s1: s0 h2 ⊢ reads(ann) by IMPLICATION_ELIMINATION;
    EITHER; CLEVER; ANSWER
one step by way of three more that the proof uses
    READS; d1: s1 h2 ⊢ reads(ann) ∧ student(ann) by CONJUNCTION_INTRODUCTION;
    d2: d1 h5 ⊢ (reads(ann) ∧ student(ann)) ∧ student(bob) by CONJUNCTION_INTRODUCTION;
    d3: d2 h4 ⊢ (reads(ann) ∧ student(ann) ∧ student(bob)) ∧ ¬tired(ann) by CONJUNCTION_INTRODUCTION;
    s2: d3 h3 ⊢ clever(ann) ⊕ tired(ann) by IMPLICATION_ELIMINATION; CLEVER; ANSWER
wrong, with a schema error on purpose
    READS; EITHER; LEAP; : s3 ⊢ ¬clever(ann) by GOAL_BINDING
wrong, with one more action that breaks the contract
    READS; EITHER; LEAP; h1: s1 ⊢ reads(ann) by IMPLICATION_ELIMINATION; WRONG_ANSWER
wrong, without a summary | no summary
    READS; EITHER; LEAP; WRONG_ANSWER
wrong, with an empty summary | empty summary
    READS; EITHER; LEAP; WRONG_ANSWER
wrong, without an answer
    READS; EITHER; LEAP
wrong, with a true step beside it
    READS; BOB; EITHER; LEAP; WRONG_ANSWER
wrong, with true steps declared beneath the wrong one
    READS; BOB; EITHER; s3: s2 j1 ⊢ ¬clever(ann) by EXCLUSIVE_DISJUNCTION_ELIMINATION; WRONG_ANSWER
twenty useless steps beside the proof
    READS; BOTH; EITHER; CLEVER; ANSWER
the last inference has the option's id
    READS; EITHER; h_goal_true: s2 h4 ⊢ clever(ann) by EXCLUSIVE_DISJUNCTION_ELIMINATION
one step split in two, one under a rule with a low baseline | uneven baselines
    s0: h1 ⊢ student(ann) → reads(ann) by UNIVERSAL_ELIMINATION; s1: s0 h2 ⊢ reads(ann) by IMPLICATION_ELIMINATION;
    EITHER; CLEVER; ANSWER
wrong, with the leap left out
    READS; EITHER; h_goal_false: s2 ⊢ ¬clever(ann) by GOAL_BINDING
wrong, binding without dependencies
    h_goal_false:  ⊢ ¬clever(ann) by GOAL_BINDING
wrong, one true step that has the option's id
    h_goal_true: h1 h2 ⊢ reads(ann) by IMPLICATION_ELIMINATION
wrong, binding ⊤
    h_goal_true:  ⊢ ⊤ by GOAL_BINDING
wrong, binding Uncertain to a premise
    h_goal_uncertain: h2 ⊢ student(ann) by GOAL_BINDING
wrong, a guess of the right option
    READS; EITHER; h_goal_true: s2 ⊢ clever(ann) by GOAL_BINDING
wrong, four useless ⊕ steps and a guess
    USELESS; h_goal_true:  ⊢ clever(ann) by GOAL_BINDING
wrong, the leap depends on a name that is not there
    READS; EITHER; s3: s2 s9 ⊢ ¬clever(ann) by EXCLUSIVE_DISJUNCTION_ELIMINATION; WRONG_ANSWER
"""
    )
)


@cache
def table() -> str:
    """The first table of the document: what honest rollouts earn, and what attacks earn more or less than they."""
    rows = [
        [f"*honest and {name}, in all*", *[f"{_honest(kind, preset):.2f}" for preset in PRESETS]]
        for name, kind in (("right", Kind.RIGHT), ("wrong", Kind.WRONG))
    ]
    rows += [[attack.name, *[_signed(attack.gain(preset)) for preset in PRESETS]] for attack in ATTACKS]
    head = [["", *[f"`{name}`" for name in PRESETS]], ["---", *["---:"] * len(PRESETS)]]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*head, *rows])


def _honest(kind: Kind, preset: PresetName) -> float:
    return earned(HONEST[kind].completion, kind, SETTINGS[preset], first_batch(SETTINGS[preset]))


def _signed(number: float) -> str:
    return "0" if abs(number) < 0.005 else f"{number:+.2f}"


def gainers(preset: PresetName) -> set[str]:
    """The attacks that earn more than honesty."""
    return {attack.name for attack in ATTACKS if attack.gain(preset) > TOLERANCE}


# -- tests ------------------------------------------------------------------------------------------------------------


def test_the_honest_rollouts_are_what_they_should_be() -> None:
    """Of each kind: whether the answer is right, its standing, and the signals of its actions."""
    reports = {kind: verified(draft.completion) for kind, draft in HONEST.items()}
    found = {
        kind: (bool(report.answer_correct), standing(report), [action.signal for action in report.actions])
        for kind, report in reports.items()
    }
    assert found == {
        Kind.RIGHT: (True, 1.0, [1.0] * 4),
        Kind.MISNAMED: (True, 0.3, [1.0, 0.3, 0.3, 0.3]),
        Kind.LUCKY: (True, 0.1, [1.0, 1.0, 0.1, 0.1]),
        Kind.WRONG: (False, 0.1, [1.0, 1.0, 0.1, 0.1]),
        Kind.SILENT: (False, 0.1, [1.0, 1.0]),
        Kind.CUT: (False, 0.0, [0.0]),
    }


def test_no_attack_pays_under_hardened_or_strict() -> None:
    assert gainers("hardened") == gainers("strict") == set()
    assert len(gainers("paper")) > 15
    assert len(gainers("shared")) > 5


def test_no_attack_is_an_improvement() -> None:
    for attack in ATTACKS:
        assert not improves(verified(attack.completion), verified(HONEST[attack.kind].completion)), attack.name


def test_the_table_of_the_document_is_true() -> None:
    assert table() in DOCUMENT.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
