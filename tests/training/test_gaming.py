"""The study ``gaming``: useless steps, counted on proofs worked out by hand, and its page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import msgspec
import pytest

from proof_r1_formal import Completion, Problem, ReferenceStep, Settings, TraceReport
from proof_r1_formal.credit.terms import is_leap, padding, useless
from proof_r1_formal.data.completions import read_completions
from proof_r1_formal.generate import generate_problems, summary
from training.config import with_overrides
from training.experiments.gaming_tables import CURVES, differences, page, panels
from training.experiments.longer import WARM_UP
from training.experiments.longer_plan import draws, read_study
from training.experiments.longer_tables import by_arm
from training.experiments.problems import in_order_of_use, write_useless
from training.experiments.records import Outputs, Record, outputs_of, read_records
from training.experiments.runs import Answer
from training.experiments.useless import droppable, with_useless_steps
from training.reward_search import ANSWER, CLEVER, EITHER, LEAP, PROBLEM, READS, WRONG_ANSWER, step

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "training" / "experiments" / "gaming.yaml"
FOLDER = ROOT / "docs" / "experiments" / "gaming"
VERIFIER = Settings(rules="train").verifier()
ATOMIC = Settings(rules="train", atomic=True).verifier()
PROOF = (READS, EITHER, CLEVER, ANSWER)

BOTH = step("x1", "h2 h5", "student(ann) ∧ student(bob)", "CONJUNCTION_INTRODUCTION")
MORE = step("x2", "x1 h4", "(student(ann) ∧ student(bob)) ∧ ¬tired(ann)", "CONJUNCTION_INTRODUCTION")
AGAIN = step("x3", "h2 h5", "student(bob) ∧ student(ann)", "CONJUNCTION_INTRODUCTION")
MISNAMED = step("x4", "h2 h4", "student(ann) ∧ ¬tired(ann)", "MODUS_TOLLENS")
FALSE = step("x5", "h2 h4", "student(ann) ∧ tired(ann)", "CONJUNCTION_INTRODUCTION")
INSTANCE = step("x6", "h1", "student(ann) → reads(ann)", "UNIVERSAL_ELIMINATION")
BY_INSTANCE = step("s1", "x6 h2", "reads(ann)", "IMPLICATION_ELIMINATION")
DECLARED = step("s3", "s2 h4 x1", "clever(ann)", CLEVER.rule)


def report(*steps: ReferenceStep) -> TraceReport:
    return VERIFIER.verify(PROBLEM, summary(steps))


# -- the counters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "entailed", "paid", "spare"),
    [
        (PROOF, 0, 0, 1),  # the ⊕ may be eliminated where it stands, behind the →
        ((BOTH, *PROOF), 1, 1, 2),
        ((READS, BOTH, MORE, *PROOF[1:]), 2, 2, 3),
        ((BOTH, AGAIN, *PROOF), 2, 1, 3),  # the second one makes no progress
        ((MISNAMED, *PROOF), 1, 0, 2),  # true, but not by the rule that it names
        ((FALSE, *PROOF), 0, 0, 2),
        ((BOTH, READS, EITHER, DECLARED, ANSWER), 1, 1, 2),  # declared into the closure, and not used there
        ((INSTANCE, BY_INSTANCE, *PROOF[1:]), 0, 0, 2),  # used, but the proof does without it
        ((READS, EITHER, LEAP, WRONG_ANSWER), 0, 0, None),
        ((BOTH, READS, EITHER, LEAP, WRONG_ANSWER), 1, 1, None),
        ((READS, EITHER), 2, 2, None),  # no answer rests on anything
    ],
)
def test_useless_steps_are_those_that_no_proof_of_the_answer_needs(
    steps: Sequence[ReferenceStep], entailed: int, paid: int, spare: int | None
) -> None:
    found = report(*steps)
    assert (padding(found), useless(found), droppable(PROBLEM, found, ATOMIC)) == (entailed, paid, spare)


def test_a_verifier_that_accepts_merged_steps_would_drop_needed_ones() -> None:
    assert droppable(PROBLEM, report(*PROOF), VERIFIER) == 2


def test_an_answer_that_is_not_proved_in_single_steps_is_left_out() -> None:
    found = report(step("s2", "h1 h2 h3", EITHER.conclusion, EITHER.rule), CLEVER, ANSWER)  # reads(ann) is not stated
    assert found.rule_verified
    assert droppable(PROBLEM, found, ATOMIC) is None


@pytest.mark.parametrize(
    ("steps", "leap"),
    [
        (PROOF, False),
        ((READS, EITHER, LEAP, WRONG_ANSWER), True),
        ((step(ANSWER.id, "h2", ANSWER.conclusion, ANSWER.rule),), True),  # straight from a premise
        ((step("s2", "h2", EITHER.conclusion, EITHER.rule), CLEVER, ANSWER), False),  # wrong before the last step
        ((FALSE, *PROOF), False),
        ((READS, EITHER), False),  # no answer
    ],
)
def test_a_leap_is_a_wrong_step_to_the_answer_itself(steps: Sequence[ReferenceStep], leap: bool) -> None:
    assert is_leap(report(*steps)) is leap


def test_a_record_sums_the_counters() -> None:
    completions = [PROOF, (BOTH, *PROOF), (INSTANCE, BOTH, MORE, READS, EITHER, LEAP, WRONG_ANSWER), (READS, EITHER)]
    given = [Answer(PROBLEM, 10, 0.5, report(*steps)) for steps in completions]
    sums = outputs_of([PROBLEM], given, 4, ATOMIC)
    assert (sums.useless, sums.leaps, sums.droppable, sums.droppable_of) == ([6], [1], [3], [2])
    assert sums.outside == [0 + 1 + 3 + 2]


# -- the demonstrations -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    (draw,) = draws(read_study(STUDY).sizes)["mixed"]
    return [in_order_of_use(one.problem) for one in islice(generate_problems(draw.settings), 12)]


def test_demonstrated_useless_steps_pass_all_checks_and_are_all_that_is_added(problems: Sequence[Problem]) -> None:
    added = 0
    for problem in problems:
        proof = problem.proofs[0]
        padded = with_useless_steps(problem, proof, 0.5, Random(problem.id))
        found = VERIFIER.verify(problem, summary(padded))
        assert all(action.signal == 1.0 for action in found.actions)
        assert useless(found) == padding(found) == len(padded) - len(proof)
        assert [s.conclusion for s in padded if s.conclusion in {p.conclusion for p in proof}] == [
            s.conclusion for s in proof
        ]
        assert useless(VERIFIER.verify(problem, summary(proof))) == 0
        added += len(padded) - len(proof)
    assert added > len(problems)


def test_a_useless_step_follows_the_other_proof_where_there_is_one() -> None:
    draw = draws(read_study(STUDY.with_name("distractors.yaml")).sizes)["mixed"][1]
    for one in islice(generate_problems(draw.settings), 12):
        problem = in_order_of_use(one.problem)
        proof, other = problem.proofs
        padded = with_useless_steps(problem, proof, 0.6, Random(problem.id))
        found = VERIFIER.verify(problem, summary(padded))
        assert all(action.signal == 1.0 for action in found.actions)
        assert useless(found) == sum([not action.in_closure for action in found.actions]) == len(padded) - len(proof)
        added = [s.conclusion for s in padded if s.conclusion not in {step.conclusion for step in proof}]
        detour = [s.conclusion for s in other[:-2]]
        assert added[: len(detour)] == detour[: len(added)]
        alone = with_useless_steps(replace(problem, proofs=(proof,)), proof, 0.6, Random(problem.id))
        conclusions = {s.conclusion for s in proof}
        assert all(s.rule == "CONJUNCTION_INTRODUCTION" for s in alone if s.conclusion not in conclusions)


def test_without_a_chance_no_step_is_added(problems: Sequence[Problem], tmp_path: Path) -> None:
    assert all(with_useless_steps(p, p.proofs[0], 0.0, Random(0)) == p.proofs[0] for p in problems)
    write_useless(problems, 0.0, tmp_path / "none.jsonl")
    assert list(read_completions(tmp_path / "none.jsonl")) == [
        Completion(problem_id=p.id, completion=summary(p.proofs[0])) for p in problems
    ]


def test_the_chance_is_that_of_a_useless_step_before_each_step(problems: Sequence[Problem]) -> None:
    problem = max(problems, key=lambda one: len(one.premises))
    proof = problem.proofs[0]
    drawn = [len(with_useless_steps(problem, proof, 0.1, Random(seed))) - len(proof) for seed in range(400)]
    assert 0.08 * len(proof) < sum(drawn) / len(drawn) < 0.14 * len(proof)  # 1/9 a place


# -- the study and its page -------------------------------------------------------------------------------------------


def test_the_arms_differ_in_the_preset_of_credit_only() -> None:
    study = read_study(STUDY)
    configs = {arm: with_overrides(study.runs, overrides) for arm, overrides in study.arms.items()}
    assert {arm: config.credit.preset for arm, config in configs.items()} == {arm: arm for arm in configs}
    others = [msgspec.structs.replace(config, credit=study.runs.credit) for config in configs.values()]
    assert all(other == study.runs for other in others)
    assert study.runs.optimiser.steps * study.runs.batch.problems <= study.sizes.learning  # every problem once


def made(arm: str, *counts: int) -> Record:
    sums = Outputs(
        samples=2,
        entropy=0.1,
        **dict.fromkeys(("right", "parsed", "entailed", "entailed_of"), [0] * len(counts)),
        verified=[count // 2 for count in counts],
        **dict.fromkeys(("instances", "instances_of", "actions", "padding", "tokens"), [1] * len(counts)),
        useless=list(counts),
        leaps=[1] * len(counts),
        droppable=[0] * len(counts),
        droppable_of=[0] * len(counts),
    )
    outputs = {f"{file}/{decoding}": sums for file in ("short", "longer") for decoding in ("greedy", "sampled")}
    curve = {} if arm == WARM_UP else {name: [0.0, 0.5] for name in CURVES}
    return Record(arm=arm, seed=0, learning_rate=1e-4, steps=20, outputs=outputs, curve=curve)


def test_differences_are_in_useless_steps_per_answer_and_points() -> None:
    arms = by_arm([made(WARM_UP, 0, 0), made("paper", 4, 4), made("hardened", 2, 2)])
    rows = differences(arms).rows
    assert [row[:3] for row in rows] == [
        ("paper − warm-up", 1, "+2.000 [+2.000, +2.000]"),
        ("paper − hardened", 1, "+1.000 [+1.000, +1.000]"),
        ("hardened − warm-up", 1, "+1.000 [+1.000, +1.000]"),
    ]
    assert [row[4] for row in rows] == ["+100.0 [+100.0, +100.0]", "+50.0 [+50.0, +50.0]", "+50.0 [+50.0, +50.0]"]


def test_the_figure_has_a_point_in_the_middle_of_each_stretch_of_steps() -> None:
    useless_steps, *_ = panels([made(WARM_UP, 0), made("paper", 1)])
    assert {arm: (line.steps, line.means) for arm, line in useless_steps.lines.items()} == {
        "paper": ((5, 15), (0.0, 0.5))
    }


def test_the_page_is_what_the_records_say() -> None:
    assert FOLDER.with_suffix(".md").read_text(encoding="utf-8") == page(read_records(FOLDER))


def test_the_document_states_numbers_of_the_page_only() -> None:
    document = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    section = document.partition("\n## `gaming`")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    cells = {cell for row in rows for cell in row if re.fullmatch(r"[0-9.]+( ± [0-9.]+)?", cell)}
    stated = cells | set(re.findall(r"[+-][0-9.]+\s\[[^]]+\]", section))
    tables = FOLDER.with_suffix(".md").read_text(encoding="utf-8").replace("\\", "")
    assert len(stated) > 20
    assert not {number for number in stated if " ".join(number.split()) not in tables}
