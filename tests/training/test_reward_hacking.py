"""Ways of earning more for the same proof, measured with the real verifier and the real credit.

A group of eight rollouts is fixed: three that prove the answer, four that are wrong, one that breaks off. An attack
stands in place of one of them; what it earns in all, over all its tokens, is compared with what the honest rollout
earned there. ``docs/training.md`` holds the table: run this file to print it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from proof_r1_formal import (
    FOLIO,
    Premise,
    Problem,
    ReferenceStep,
    TraceReport,
    Verifier,
    parse_formula,
    three_way_options,
)
from proof_r1_formal.generate import summary
from training.credit import Baselines, CreditSettings
from training.methods import METHODS, credit_batch, rollout_of
from training.pieces import TokenText

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "training.md"

PREMISES = (
    "∀x (student(x) → reads(x))",
    "student(ann)",
    "reads(ann) → (clever(ann) ⊕ tired(ann))",
    "¬tired(ann)",
    "student(bob)",
    "¬∀x tired(x)",
)
PROBLEM = Problem(
    "clever/1",
    tuple([Premise(f"h{number}", parse_formula(text)) for number, text in enumerate(PREMISES, 1)]),
    three_way_options(parse_formula("clever(ann)")),
    "h_goal_true",
)
VERIFIER = Verifier(rules=FOLIO, evaluation=False)


def step(name: str, dependencies: str, conclusion: str, rule: str) -> ReferenceStep:
    return ReferenceStep(name, tuple(dependencies.split()), conclusion, rule)


READS = step("s1", "h1 h2", "reads(ann)", "IMPLICATION_ELIMINATION")
EITHER = step("s2", "s1 h3", "clever(ann) ⊕ tired(ann)", "IMPLICATION_ELIMINATION")
CLEVER = step("s3", "s2 h4", "clever(ann)", "EXCLUSIVE_DISJUNCTION_ELIMINATION")
ANSWER = step("h_goal_true", "s3", "clever(ann)", "GOAL_BINDING")
BOB = step("j1", "h1 h5", "reads(bob)", "IMPLICATION_ELIMINATION")
RIGHT = (READS, EITHER, CLEVER, ANSWER)
LEAP = step("s3", "s2", "¬clever(ann)", "EXCLUSIVE_DISJUNCTION_ELIMINATION")
WRONG = (READS, EITHER, LEAP, step("h_goal_false", "s3", "¬clever(ann)", "GOAL_BINDING"))


def written(steps: Sequence[ReferenceStep]) -> str:
    """A completion with thoughts."""
    return f"<think>{' '.join(step.conclusion for step in steps)}</think>\n{summary(steps)}"


@dataclass(frozen=True, slots=True)
class Attack:
    """A completion, and whether it stands in place of a right or of a wrong one."""

    name: str
    completion: str
    wrong: bool = False


def proof(name: str, *steps: ReferenceStep, wrong: bool = False) -> Attack:
    return Attack(name, written(steps), wrong)


def and_then(*junk: ReferenceStep) -> tuple[ReferenceStep, ...]:
    """The honest proof with more steps after the first one."""
    return (READS, *junk, EITHER, CLEVER, ANSWER)


ATTACKS = (
    proof("a verified step again, as ¬¬A", *and_then(step("j1", "s1", "¬¬reads(ann)", "CONJUNCTION_ELIMINATION"))),
    proof(
        "A ∧ B, (A ∧ B) ∧ A and B ∧ A of known A and B",
        *and_then(
            step("j1", "s1 h2", "reads(ann) ∧ student(ann)", "CONJUNCTION_INTRODUCTION"),
            step("j2", "j1 s1", "(reads(ann) ∧ student(ann)) ∧ reads(ann)", "CONJUNCTION_INTRODUCTION"),
            step("j3", "s1 h2", "student(ann) ∧ reads(ann)", "CONJUNCTION_INTRODUCTION"),
        ),
    ),
    proof(
        "A ∧ B of known A and B",
        *and_then(step("j1", "s1 h2", "reads(ann) ∧ student(ann)", "CONJUNCTION_INTRODUCTION")),
    ),
    proof("a premise again", *and_then(step("j1", "h2", "student(ann)", "CONJUNCTION_ELIMINATION"))),
    proof("a tautology", *and_then(step("j1", "s1", "tired(bob) ∨ ¬tired(bob)", "DISJUNCTIVE_SYLLOGISM"))),
    proof(
        "¬∀ to ∃¬ and back, twice",
        *and_then(
            step("j1", "h6", "∃x ¬tired(x)", "QUANTIFIER_NEGATION"),
            step("j2", "j1", "¬∀x tired(x)", "QUANTIFIER_NEGATION"),
            step("j3", "j2", "∃x ¬tired(x)", "QUANTIFIER_NEGATION"),
            step("j4", "j3", "¬∀x tired(x)", "QUANTIFIER_NEGATION"),
        ),
    ),
    proof(
        "¬∀ to ∃¬ and back, once",
        *and_then(
            step("j1", "h6", "∃x ¬tired(x)", "QUANTIFIER_NEGATION"),
            step("j2", "j1", "¬∀x tired(x)", "QUANTIFIER_NEGATION"),
        ),
    ),
    proof("binding straight from the premises", step("h_goal_true", "h1 h2 h3 h4", "clever(ann)", "GOAL_BINDING")),
    proof(
        "dependencies that are not needed",
        step("s1", "h1 h2 h5 h6", "reads(ann)", "IMPLICATION_ELIMINATION"),
        step("s2", "s1 h3 h5 h6", "clever(ann) ⊕ tired(ann)", "IMPLICATION_ELIMINATION"),
        step("s3", "s2 h4 h5 h6", "clever(ann)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
        ANSWER,
    ),
    proof("a true step beside the proof", *and_then(BOB)),
    proof(
        "a true step beside the proof, declared into the closure",
        READS,
        BOB,
        EITHER,
        step("s3", "s2 h4 j1", "clever(ann)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
        ANSWER,
    ),
    proof(
        "a wrong step declared into the closure",
        READS,
        EITHER,
        CLEVER,
        step("j1", "s1", "tired(bob)", "IMPLICATION_ELIMINATION"),
        step("h_goal_true", "s3 j1", "clever(ann)", "GOAL_BINDING"),
    ),
    proof(
        "one step split into two",
        step("s0", "h1", "student(ann) → reads(ann)", "UNIVERSAL_ELIMINATION"),
        step("s1", "s0 h2", "reads(ann)", "IMPLICATION_ELIMINATION"),
        EITHER,
        CLEVER,
        ANSWER,
    ),
    proof(
        "one step by way of three more that the proof uses",
        READS,
        step("d1", "s1 h2", "reads(ann) ∧ student(ann)", "CONJUNCTION_INTRODUCTION"),
        step("d2", "d1 h5", "(reads(ann) ∧ student(ann)) ∧ student(bob)", "CONJUNCTION_INTRODUCTION"),
        step("d3", "d2 h4", "(reads(ann) ∧ student(ann) ∧ student(bob)) ∧ ¬tired(ann)", "CONJUNCTION_INTRODUCTION"),
        step("s2", "d3 h3", "clever(ann) ⊕ tired(ann)", "IMPLICATION_ELIMINATION"),
        CLEVER,
        ANSWER,
    ),
    proof(
        "wrong, with a schema error on purpose",
        *WRONG[:-1],
        step("", "s3", "¬clever(ann)", "GOAL_BINDING"),
        wrong=True,
    ),
    proof(
        "wrong, with one more action that breaks the contract",
        *WRONG[:-1],
        step("h1", "s1", "reads(ann)", "IMPLICATION_ELIMINATION"),
        WRONG[-1],
        wrong=True,
    ),
    Attack("wrong, without a summary", written(WRONG).split("<summary>")[0], wrong=True),
    proof("wrong, with an empty summary", wrong=True),
    proof("wrong, without an answer", *WRONG[:-1], wrong=True),
    proof("wrong, with a true step beside it", READS, BOB, *WRONG[1:], wrong=True),
    proof(
        "wrong, with true steps declared beneath the wrong one",
        READS,
        BOB,
        EITHER,
        step("s3", "s2 j1", "¬clever(ann)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
        WRONG[-1],
        wrong=True,
    ),
)

GROUP = (*[written(RIGHT)] * 3, *[written(WRONG)] * 4, "<think>Ann reads, so")
RIGHT_ONE, WRONG_ONE = 0, 3
"""The places at which attacks stand."""

PAPER = CreditSettings()
COLUMNS = {
    "paper": PAPER,
    "`closure: used`": structs.replace(PAPER, closure="used"),
    "`total: mean`": structs.replace(PAPER, total="mean"),
    "`unanswered: wrong`": structs.replace(PAPER, unanswered="wrong"),
    "all three": structs.replace(PAPER, closure="used", total="mean", unanswered="wrong"),
}


@cache
def verified(completion: str) -> tuple[TokenText, TraceReport]:
    """A completion in tokens of one byte each, and the report on it."""
    text = TokenText(tuple([bytes([byte]) for byte in completion.encode()]))
    return text, VERIFIER.verify(PROBLEM, text.text)


def earned(completions: Sequence[str], place: int, settings: CreditSettings) -> float:
    """What one rollout of a group earns, over all its tokens, in the first batch."""
    group = [rollout_of(report, text, settings) for text, report in map(verified, completions)]
    batch = credit_batch(METHODS["proof_r1"], [group], Baselines.start(FOLIO, settings), settings)
    return sum(batch.groups[0][place].advantages)


def gain(attack: Attack, settings: CreditSettings) -> float:
    """What an attack earns more than the honest rollout in whose place it stands."""
    place = WRONG_ONE if attack.wrong else RIGHT_ONE
    attacked = [*GROUP[:place], attack.completion, *GROUP[place + 1 :]]
    return earned(attacked, place, settings) - earned(GROUP, place, settings)


@cache
def table() -> str:
    """The table of the document: what honest rollouts earn, and what attacks earn more or less than they."""
    honest = {"*honest and right, in all*": RIGHT_ONE, "*honest and wrong, in all*": WRONG_ONE}
    columns = COLUMNS.values()
    rows = [[name, *[f"{earned(GROUP, place, s):.2f}" for s in columns]] for name, place in honest.items()]
    rows += [[attack.name, *[_signed(gain(attack, s)) for s in columns]] for attack in ATTACKS]
    head = [["", *COLUMNS], ["---", *["---:"] * len(COLUMNS)]]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*head, *rows])


def _signed(number: float) -> str:
    return "0" if abs(number) < 0.005 else f"{number:+.2f}"


def gainers(settings: CreditSettings) -> set[str]:
    """The attacks that earn more than honesty."""
    return {attack.name for attack in ATTACKS if gain(attack, settings) > 1e-9}


# -- tests ------------------------------------------------------------------------------------------------------------


def test_the_honest_rollouts_are_what_they_should_be() -> None:
    right, wrong = verified(GROUP[RIGHT_ONE])[1], verified(GROUP[WRONG_ONE])[1]
    assert [step.signal for step in right.actions] == [1.0] * 4
    assert right.answer_correct
    assert [step.signal for step in wrong.actions] == [1.0, 1.0, 0.1, 0.1]
    assert not wrong.answer_correct


@pytest.mark.parametrize(
    "name",
    [
        "a verified step again, as ¬¬A",
        "a premise again",
        "a tautology",
        "binding straight from the premises",
        "dependencies that are not needed",
        "a wrong step declared into the closure",
    ],
)
@pytest.mark.parametrize("column", COLUMNS)
def test_what_never_pays(name: str, column: str) -> None:
    (attack,) = [attack for attack in ATTACKS if attack.name == name]
    assert gain(attack, COLUMNS[column]) <= 1e-9


def test_saying_a_thing_again_pays_less_than_saying_it_once() -> None:
    """What pays is A ∧ B, which is new; everything that repeats it costs."""
    gains = {attack.name: gain(attack, PAPER) for attack in ATTACKS}
    assert gains["A ∧ B, (A ∧ B) ∧ A and B ∧ A of known A and B"] < gains["A ∧ B of known A and B"]
    assert gains["¬∀ to ∃¬ and back, twice"] < gains["¬∀ to ∃¬ and back, once"]


def test_the_switches_together_close_all_but_one_attack() -> None:
    assert gainers(COLUMNS["all three"]) == {"wrong, with true steps declared beneath the wrong one"}
    assert len(gainers(PAPER)) > 10


def test_the_table_of_the_document_is_true() -> None:
    assert table() in DOCUMENT.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
