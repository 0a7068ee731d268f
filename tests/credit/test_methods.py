"""Methods: what tokens earn under each, from real reports on the examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from msgspec import structs

from proof_r1_formal import TRAIN, Verifier
from proof_r1_formal.credit.methods import (
    METHODS,
    GroupCredits,
    Rollout,
    TokenCredit,
    credit_batch,
    divisor,
    rollout_of,
)
from proof_r1_formal.credit.pieces import TokenText
from proof_r1_formal.credit.terms import Baselines, CreditSettings, PresetName
from proof_r1_formal.proof.report import answer_reward, sound_answer_reward
from tests.build import completion, example_answers, example_problems

PAPER = CreditSettings()
START = Baselines.start(TRAIN, PAPER)


def tokens(text: str) -> TokenText:
    """The text in tokens of five bytes, characters cut where they fall."""
    data = text.encode()
    return TokenText(tuple([data[start : start + 5] for start in range(0, len(data), 5)]))


@cache
def groups() -> tuple[tuple[Rollout, ...], ...]:
    """The completions of the examples, verified, problem by problem."""
    verifier = Verifier(evaluation=False)
    made: dict[str, list[Rollout]] = {}
    for problem, one in example_answers():
        text = tokens(one.completion)
        report = verifier.verify(problem, text.text, sample=one.sample)
        made.setdefault(problem.id, []).append(rollout_of(report, text, PAPER))
    return tuple([tuple(group) for group in made.values()])


def credited(name: str, batch: Sequence[Sequence[Rollout]] | None = None) -> GroupCredits:
    return credit_batch(METHODS[name], groups() if batch is None else batch, START, PAPER)


def test_rewards_of_whole_trajectories() -> None:
    reports = [rollout.report for group in groups() for rollout in group]
    unread = next(report for report in reports if not report.parsed)
    sound = next(r for r in reports if r.answer_correct and all(step.semantic for step in r.actions))
    unsound = next(r for r in reports if r.answer_correct and not all(step.semantic for step in r.actions))
    wrong = structs.replace(sound, answer_correct=False)
    cases = [unread, structs.replace(unread, answer_correct=True), wrong, unsound, sound]
    assert [answer_reward(report) for report in cases] == [0.0, 0.0, 0.1, 1.0, 1.0]
    assert [sound_answer_reward(report) for report in cases] == [0.0, 0.0, 0.1, 0.3, 1.0]


@pytest.mark.parametrize("name", ["grpo", "prosfi"])
def test_whole_trajectories_earn_the_same_on_every_token(name: str) -> None:
    reward = {"grpo": answer_reward, "prosfi": sound_answer_reward}[name]
    for group, earned in zip(groups(), credited(name).groups, strict=True):
        rewards = [reward(rollout.report) for rollout in group]
        mean = sum(rewards) / len(rewards)
        deviation = math.sqrt(sum((r - mean) ** 2 for r in rewards) / len(rewards))
        for rollout, one, r in zip(group, earned, rewards, strict=True):
            assert one.units == 1
            assert len(one.advantages) == len(rollout.alignment.owners)
            assert one.advantages == pytest.approx(((r - mean) / (deviation + 1e-6),) * len(one.advantages))


@pytest.mark.parametrize("name", ["proof_r1", "no_verification", "no_closure"])
def test_tokens_of_an_action_share_its_advantage(name: str) -> None:
    for group, earned in zip(groups(), credited(name).groups, strict=True):
        for rollout, one in zip(group, earned, strict=True):
            assert one.actions is not None
            assert one.units == sum(rollout.alignment.mapped)
            mapped = [a for a, flag in zip(one.actions.advantages, rollout.alignment.mapped, strict=True) if flag]
            assert sum(one.advantages) == pytest.approx(sum(mapped))
            inside = [owner >= 0 for owner in rollout.alignment.owners]
            assert not any(a for a, spanned in zip(one.advantages, inside, strict=True) if not spanned)


def test_the_ablations_leave_out_what_they_say() -> None:
    everyone = [rollout for group in groups() for rollout in group]
    mixed = [  # as if of one problem, and every other one wrong
        replace(rollout, report=structs.replace(rollout.report, answer_correct=number % 2 == 0))
        for number, rollout in enumerate(everyone)
    ]
    full, unverified, unmasked = [
        [one.actions for one in credited(name, [mixed]).groups[0]]
        for name in ("proof_r1", "no_verification", "no_closure")
    ]
    for whole, without_verdicts, without_mask in zip(full, unverified, unmasked, strict=True):
        assert whole is not None and without_verdicts is not None and without_mask is not None
        assert without_verdicts.outcome == whole.outcome
        assert without_mask.verification == whole.verification
        assert not any(without_verdicts.verification)
        assert all(o in (0.0, m) for o, m in zip(whole.outcome, without_mask.outcome, strict=True))
    assert full != unverified
    assert full != unmasked


@pytest.mark.parametrize("name", ["grpo", "prosfi", "proof_r1", "no_verification", "no_closure"])
def test_what_a_group_earns_depends_on_it_and_on_the_past_only(name: str) -> None:
    together = credited(name)
    for group, earned in zip(groups(), together.groups, strict=True):
        assert credited(name, [group]).groups == (earned,)
    assert credited(name, groups()[::-1]).groups == together.groups[::-1]
    assert credited(name, groups()[::-1]).baselines == together.baselines


def test_baselines_move_after_the_batch() -> None:
    first = credited("proof_r1")
    assert first.baselines == START.after([r.report for group in groups() for r in group], PAPER)
    assert first.baselines != START
    assert credit_batch(METHODS["proof_r1"], groups(), first.baselines, PAPER).groups != first.groups
    assert credited("grpo").baselines is START


@pytest.mark.parametrize("name", ["grpo", "prosfi", "proof_r1", "no_verification", "no_closure"])
def test_unverified_rollouts_earn_nothing_and_change_nothing(name: str) -> None:
    batch = [(*group, replace(group[0], verified=False)) for group in groups()]
    after = credited(name, batch)
    assert [group[:-1] for group in after.groups] == list(credited(name).groups)
    assert after.baselines == credited(name).baselines
    for group, earned in zip(batch, after.groups, strict=True):
        assert earned[-1] == TokenCredit((0.0,) * len(group[0].alignment.owners), 0)
    alone = credited(name, [[batch[0][-1]]])
    assert (alone.groups, alone.baselines) == ((after.groups[0][-1:],), START)


def test_imitation_has_no_rollouts() -> None:
    with pytest.raises(Exception, match="'sft' learns from given trajectories"):
        credited("sft")


def test_the_divisor_counts_mapped_actions() -> None:
    batch = [one for group in credited("proof_r1").groups for one in group]
    assert divisor(batch) == sum(sum(r.alignment.mapped) for group in groups() for r in group)
    assert divisor(one for group in credited("grpo").groups for one in group) == len(batch)
    assert divisor([]) == 1


@pytest.mark.parametrize("preset", ["shared", "hardened", "strict"])
def test_a_summary_without_actions_is_credited_by_its_whole_text(preset: PresetName) -> None:
    problem = next(iter(example_problems().values()))
    text = tokens("<think>∧</think><summary>[]</summary>")
    report = Verifier(evaluation=False).verify(problem, text.text)
    assert report.parsed
    assert rollout_of(report, text, PAPER).alignment.sizes == ()
    settings = CreditSettings(preset=preset)
    judged = rollout_of(report, text, settings)
    assert judged.alignment.sizes == (len(text.pieces),)
    group = [judged, *groups()[0]]
    earned = credit_batch(METHODS["proof_r1"], [group], START, settings).groups[0][0]
    assert sum(earned.advantages) < 0.0
    assert len(set(earned.advantages)) == 1


Step = tuple[str, list[str], str, str]
BINDING: Step = ("h_goal_uncertain", ["h1"], "sings(Mara)", "GOAL_BINDING")
ELIMINATION = "IMPLICATION_ELIMINATION"


@pytest.mark.parametrize(
    ("problem", "steps", "signal"),
    [
        ("garden/4", [BINDING], 1.0),
        ("garden/4", [(*BINDING[:3], ELIMINATION)], 0.1),  # it would earn λ_v
        ("garden/4", [("h_goal_uncertain", ["h1"], "happy(Mara)", "GOAL_BINDING")], 0.1),  # not the option's formula
        ("garden/4", [("s1", ["h1"], "sings(Mara)", ELIMINATION), BINDING], 1.0),
        ("garden/4", [("h_goal_true", *BINDING[1:])], 0.1),
        ("animals/1", [("h_goal_uncertain", ["h1"], "nocturnal(Pip)", "GOAL_BINDING")], 0.1),  # it is entailed: refuted
    ],
)
def test_the_signal_of_a_verified_uncertain_is_a_setting(problem: str, steps: list[Step], signal: float) -> None:
    problems = example_problems()
    answer = completion(*steps)
    report = Verifier(evaluation=False).verify(problems[problem], answer)
    text = tokens(answer)
    by_default = rollout_of(report, text, PAPER)
    assert by_default.report is report
    assert report.actions[-1].signal < 1.0
    verified = rollout_of(report, text, CreditSettings(uncertain="verified"))
    assert verified.report.actions[-1].signal == pytest.approx(max(signal, report.actions[-1].signal))
    assert verified.report.actions[:-1] == report.actions[:-1]
    assert (verified.report != report) is (signal == 1.0)
