"""Credit: each formula on numbers worked out by hand, invariances, and equality with the objective written out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from proof_r1_formal import GOAL_BINDING, INVALID_RULE, TRAIN, StepReport, TraceReport
from proof_r1_formal.credit.presets import FLAWED, PRESETS, UNPROVED, Group, eligible_outcomes, standing
from proof_r1_formal.credit.terms import Baselines, Credit, CreditSettings, PresetName, binds, is_eligible, used_closure
from tests.build import STEP, TRACE

PAPER = CreditSettings()
SHARED = CreditSettings(preset="shared")
HARDENED = CreditSettings(preset="hardened")
STRICT = CreditSettings(preset="strict")
START = Baselines.start(TRAIN, PAPER)
ELIMINATION, TOLLENS = "IMPLICATION_ELIMINATION", "MODUS_TOLLENS"


def action(
    signal: float, rule: str | None = ELIMINATION, *, inside: bool = True, terminal: bool = False, name: str = "s"
) -> StepReport:
    """A report in which the verdicts are those that the signal stands for."""
    return structs.replace(
        STEP,
        id=name,
        declared_rule=rule,
        schema=signal > 0.0,
        semantic=signal > 0.1,
        rule=signal == 1.0,
        progress=signal == 1.0,
        in_closure=inside,
        terminal=terminal,
        signal=signal,
    )


def binding(signal: float = 1.0) -> StepReport:
    return action(signal, GOAL_BINDING, terminal=True, name="h_goal_true")


def rollout(
    *actions: StepReport, right: bool | None = True, parsed: bool = True, verified: bool | None = None
) -> TraceReport:
    """The answer is verified if the last action is, unless it is said otherwise; ``right`` is None without a label."""
    holds = bool(actions) and actions[-1].signal == 1.0 if verified is None else verified
    return structs.replace(
        TRACE,
        parsed=parsed,
        answer="h_goal_true" if right else "h_goal_false",
        answer_correct=right,
        actions=actions,
        verified=holds,
        rule_verified=holds,
    )


MALFORMED = structs.replace(rollout(action(0.0, None, inside=False), right=False, parsed=False), answer=None)


def all_mapped(reports: Sequence[TraceReport], preset: PresetName = "paper") -> list[list[bool]]:
    """Every action has tokens, and so has a text without actions if the preset credits it."""
    return [[True] * (len(report.actions) or PRESETS[preset].credits_text) for report in reports]


def group_credit(
    reports: Sequence[TraceReport],
    mapped: Sequence[Sequence[bool]],
    baselines: Baselines,
    settings: CreditSettings,
    **ablation: bool,
) -> tuple[Credit, ...]:
    return PRESETS[settings.preset].credit(Group(reports, mapped, baselines, settings, **ablation))


def credit(*reports: TraceReport, settings: CreditSettings = PAPER, **ablation: bool) -> tuple[Credit, ...]:
    return group_credit(reports, all_mapped(reports, settings.preset), START, settings, **ablation)


# -- formulas, by hand ------------------------------------------------------------------------------------------------


def test_an_action_earns_its_signal_less_the_baseline() -> None:
    (earned,) = credit(rollout(action(1.0), action(1.0), binding()))
    assert earned.verification == (1.5, 1.5, 0.5)  # 3 (1 - 0.5) twice, then 1 (1 - 0.5)
    assert earned.outcome == (0.0, 0.0, 0.0)  # one rollout agrees with itself
    assert earned.units == 3


def test_a_baseline_moves_by_the_mean_signal_of_its_rule() -> None:
    batch = [rollout(action(1.0), action(0.3), action(0.1, "NONSENSE")), rollout(action(0.1), action(0.0, None))]
    moved = START.after(batch, PAPER)
    assert moved.averages[ELIMINATION] == pytest.approx(0.9 * 0.5 + 0.1 * (1.0 + 0.3 + 0.1) / 3)
    assert moved.averages[INVALID_RULE] == pytest.approx(0.9 * 0.5 + 0.1 * (0.1 + 0.0) / 2)
    assert moved.averages[TOLLENS] == 0.5
    assert moved.averages.keys() == START.averages.keys()


def test_what_breaks_the_contract_has_no_outcome() -> None:
    right, wrong = rollout(action(1.0)), rollout(action(1.0), right=False)
    broken = rollout(action(0.0), action(1.0))
    assert [is_eligible(report) for report in (right, broken, MALFORMED)] == [True, False, False]
    assert not is_eligible(structs.replace(right, parsed=False))
    expected = (1.0, 0.0, -1.0, 0.0)
    assert eligible_outcomes([right, broken, wrong, MALFORMED], PAPER) == pytest.approx(expected, abs=1e-5)
    third = math.sqrt(3)
    shared = (third, -1 / third, -1 / third, -1 / third)  # one of four is right
    used = [structs.replace(report, used_closure=("s",)) for report in (right, broken, wrong, MALFORMED)]
    earned = credit(*used, settings=SHARED)
    assert [sum(one.outcome) for one in earned] == pytest.approx(shared, abs=1e-5)


def test_negative_mass_is_scaled_to_the_positive() -> None:
    # positive 1.5; negative 3 (0.4 + 0.4 + 0.2) = 3.0, so negatives are halved
    (earned,) = credit(rollout(action(1.0), action(0.1), action(0.1), action(0.3)))
    assert earned.verification == pytest.approx((1.5, -0.6, -0.6, -0.3))


def test_without_positive_mass_a_tenth_is_left() -> None:
    (earned,) = credit(rollout(action(0.1), action(0.3)))
    assert earned.verification == pytest.approx((-0.12, -0.06))
    assert credit(MALFORMED)[0].verification == pytest.approx((0.25 * 3 * -0.5 * 0.1,))


def test_only_a_verified_terminal_binding_binds() -> None:
    assert binds(binding())
    assert not binds(binding(0.1))
    assert not binds(action(1.0, GOAL_BINDING))  # not the terminal action
    assert not binds(action(1.0, terminal=True))  # not the rule


def test_the_used_closure_is_that_of_the_report() -> None:
    report = structs.replace(rollout(action(1.0, name="s1"), action(1.0, name="s2")), used_closure=("h1", "s2"))
    assert used_closure(report) == (False, True)


PROOF = structs.replace(
    rollout(
        action(1.0, name="s1"),
        action(1.0, name="s2"),
        action(1.0, name="j1", inside=False),
        action(0.1, name="j2", inside=False),
        binding(),
    ),
    used_closure=("s1", "s2", "h_goal_true"),
)


def test_shared_gives_the_inferences_of_the_answer_one_unit() -> None:
    (earned,) = credit(PROOF, settings=SHARED)
    assert earned.verification == pytest.approx((0.75, 0.75, 0.0, -0.6, 0.5))
    assert earned.units == 1


def test_shared_credits_rollouts_without_an_answer() -> None:
    dodging = structs.replace(rollout(action(1.0, inside=False), action(1.0, inside=False), right=False), answer=None)
    _, earned, malformed = credit(rollout(action(1.0)), dodging, MALFORMED, settings=SHARED)
    assert earned.outcome == pytest.approx((-math.sqrt(0.5),) * 2, abs=1e-5)
    assert malformed.outcome == pytest.approx((-math.sqrt(0.5),), abs=1e-5)


# -- hardened ---------------------------------------------------------------------------------------------------------


def test_the_standing_of_a_rollout() -> None:
    proved = rollout(action(1.0), binding())
    assert standing(proved) == 1.0
    assert standing(rollout(action(0.3), binding())) == 0.3
    assert standing(rollout(action(0.3), binding()), flawed=UNPROVED) == UNPROVED
    assert standing(rollout(action(0.3, inside=False), binding())) == 1.0  # the answer does not rest on it
    assert standing(structs.replace(proved, verified=False)) == 0.1
    assert standing(structs.replace(proved, answer_correct=False)) == 0.1
    assert standing(structs.replace(proved, answer=None, answer_correct=False)) == 0.1
    assert [standing(report) for report in (MALFORMED, rollout(), rollout(action(0.0), binding()))] == [0.0] * 3
    uncertain = rollout(action(1.0), binding(0.1), verified=True)  # by two countermodels; the binding is not entailed
    assert standing(uncertain) == 0.3


def test_hardened_divides_a_total_among_actions() -> None:
    wrong = structs.replace(
        rollout(action(1.0, name="s1"), action(0.1, name="s2"), right=False), used_closure=("s1", "s2")
    )
    proof, other = credit(PROOF, wrong, settings=HARDENED)
    # standings 1 and 0.1, mean 0.55: totals 3 (1 - 0.55) and 3 (0.1 - 0.55); outcomes ±1
    assert sum(proof.verification) == pytest.approx(1.35)
    assert sum(other.verification) == pytest.approx(-1.35)
    assert (sum(proof.outcome), sum(other.outcome)) == pytest.approx((1.0, -1.0), abs=1e-5)
    # j2 bears its own -1.2 / 5; the three of the proof share 1.35 + 0.24, ± what differs from the mean 3.5 / 3
    remainder, mean = 1.35 + 0.24, 3.5 / 3
    parts = [(remainder + own - mean) / 3 for own in (1.5, 1.5, 0.5)]
    assert proof.verification == pytest.approx((parts[0], parts[1], 0.0, -0.24, parts[2]))
    assert proof.outcome == pytest.approx((1 / 3, 1 / 3, 0.0, 0.0, 1 / 3), abs=1e-5)
    assert other.verification == pytest.approx(((-1.35 + 1.35) / 2, (-1.35 - 1.35) / 2))
    assert (proof.units, other.units) == (1, 1)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_group_of_which_no_rollout_is_compared_earns_nothing(preset: PresetName) -> None:
    assert credit(settings=CreditSettings(preset=preset)) == ()


# -- properties -------------------------------------------------------------------------------------------------------

SETTINGS = st.sampled_from([PAPER, SHARED, HARDENED, STRICT])
BY_STANDING = st.sampled_from([HARDENED, STRICT])
RULES = st.sampled_from([ELIMINATION, TOLLENS, "NONSENSE", None])
ACTIONS = st.builds(action, st.sampled_from([0.0, 0.1, 0.3, 1.0]), RULES, inside=st.booleans())
BASELINES = st.builds(
    lambda values: Baselines(dict(zip(START.averages, values, strict=True))),
    st.lists(st.floats(0, 1), min_size=len(START.averages), max_size=len(START.averages)),
)


@st.composite
def traces(draw: st.DrawFn) -> TraceReport:
    if draw(st.integers(0, 5)) == 0:
        return MALFORMED
    actions = draw(st.lists(ACTIONS, max_size=5))
    ends = draw(st.booleans())
    if actions and ends:
        actions[-1] = binding(draw(st.sampled_from([0.1, 1.0])))
    named = [structs.replace(step, id=f"s{number}") for number, step in enumerate(actions)]
    used = tuple([step.id for step in named if step.id is not None and step.in_closure and draw(st.booleans())])
    found = rollout(*named, right=draw(st.sampled_from([True, False, None])), verified=draw(st.booleans()))
    silent = draw(st.integers(0, 4)) == 0
    answer = {"answer": None, "answer_correct": None if found.answer_correct is None else False} if silent else {}
    return structs.replace(found, used_closure=used, **answer)


GROUPS = st.lists(traces(), min_size=1, max_size=8)


@given(GROUPS, BASELINES, SETTINGS, st.permutations(range(8)))
def test_the_order_of_rollouts_does_not_show(
    reports: list[TraceReport], baselines: Baselines, settings: CreditSettings, permutation: list[int]
) -> None:
    order = [index for index in permutation if index < len(reports)]
    straight = group_credit(reports, all_mapped(reports, settings.preset), baselines, settings)
    shuffled = [reports[index] for index in order]
    again = group_credit(shuffled, all_mapped(shuffled, settings.preset), baselines, settings)
    assert again == tuple([straight[i] for i in order])
    assert baselines.after(reports, settings) == baselines.after(shuffled, settings)


@given(GROUPS, BASELINES, BY_STANDING)
def test_under_hardened_a_rollout_earns_by_its_standing(
    reports: list[TraceReport], baselines: Baselines, settings: CreditSettings
) -> None:
    """Equal standings earn equal sums whatever the actions are, and a higher standing never earns less."""
    credits_ = group_credit(reports, all_mapped(reports, settings.preset), baselines, settings)
    flawed = UNPROVED if settings is STRICT else FLAWED
    earned = [(standing(report, flawed), sum(one.advantages)) for report, one in zip(reports, credits_, strict=True)]
    for own, total in earned:
        for other, less in earned:
            assert own != other or total == pytest.approx(less, abs=1e-9)
            assert own <= other or total >= less - 1e-9
    assert sum(total for _, total in earned) == pytest.approx(0.0, abs=1e-4)


@given(GROUPS, BASELINES, BY_STANDING)
def test_hardened_pays_no_action_beside_the_answer(
    reports: list[TraceReport], baselines: Baselines, settings: CreditSettings
) -> None:
    credits_ = group_credit(reports, all_mapped(reports, settings.preset), baselines, settings)
    for report, one in zip(reports, credits_, strict=True):
        inside = used_closure(report)
        if any(inside):
            assert all(a <= 0.0 for a, i in zip(one.advantages, inside, strict=True) if not i)


@given(GROUPS, BASELINES, BY_STANDING)
def test_hardened_bounds_unequal_shares(
    reports: list[TraceReport], baselines: Baselines, settings: CreditSettings
) -> None:
    """However many true steps are put into the closure; the bound of ``docs/training.md``."""
    bound = 3 * (0.9 + 0.4) / 4
    credits_ = group_credit(reports, all_mapped(reports, settings.preset), baselines, settings)
    for report, one in zip(reports, credits_, strict=True):
        inside = used_closure(report)
        if is_eligible(report) and any(inside):
            shares = [term for term, i in zip(one.verification, inside, strict=True) if i]
            mean = sum(shares) / len(shares)
            assert sum(share - mean for share in shares if share > mean) <= bound + 1e-9


@given(GROUPS, BASELINES, BY_STANDING, st.data())
def test_hardened_totals_reach_the_tokens(
    reports: list[TraceReport], baselines: Baselines, settings: CreditSettings, data: st.DataObject
) -> None:
    mapped = [[data.draw(st.booleans()) for _ in flags] for flags in all_mapped(reports, settings.preset)]
    whole = group_credit(reports, all_mapped(reports, settings.preset), baselines, settings)
    for full, one, flags in zip(whole, group_credit(reports, mapped, baselines, settings), mapped, strict=True):
        assert all(a == 0.0 for a, flag in zip(one.advantages, flags, strict=True) if not flag)
        if any(flags):
            assert sum(one.advantages) == pytest.approx(sum(full.advantages), abs=1e-9)


def own_terms(
    reports: Sequence[TraceReport], baselines: Baselines, mapped: Sequence[Sequence[bool]], *, text: bool
) -> list[list[float]]:
    """The verification terms of ``paper`` and ``shared``, formula by formula and with no regard to speed.

    With ``text`` a rollout without actions has a term, that of an action with signal 0 and without a rule.
    """

    def above(rule: str | None, signal: float) -> float:
        known = rule in {one.name for one in TRAIN.rules}
        return signal - max(0.3, min(0.7, baselines.averages[str(rule) if known else INVALID_RULE]))

    solved = any(r.answer_correct and r.parsed and all(a.schema for a in r.actions) for r in reports)
    w = 1.0 if solved else 0.25
    terms = []
    for report in reports:
        bound = [step.terminal and step.declared_rule == GOAL_BINDING and step.progress for step in report.actions]
        row = [
            w * (1.0 if of else 3.0) * above(step.declared_rule, step.signal)
            for of, step in zip(bound, report.actions, strict=True)
        ]
        terms.append(row or [w * 3.0 * above(None, 0.0)] * text)
    counted = [t for row, flags in zip(terms, mapped, strict=True) for t, flag in zip(row, flags, strict=True) if flag]
    positive, negative = sum(t for t in counted if t > 0), sum(-t for t in counted if t < 0)
    scale = 0.1 if positive == 0 else min(1.0, positive / negative) if negative else 1.0
    return [[t * scale if t < 0 else t for t in row] for row in terms]


def written_out(reports: Sequence[TraceReport], baselines: Baselines, mapped: list[list[bool]]) -> list[list[float]]:
    """The paper's objective once more."""
    eligible = [k for k, r in enumerate(reports) if r.parsed and all(a.schema for a in r.actions)]
    reward = {k: float(bool(reports[k].answer_correct)) for k in eligible}
    mean = sum(reward.values()) / len(eligible) if eligible else 0.0
    deviation = math.sqrt(sum((value - mean) ** 2 for value in reward.values()) / len(eligible)) if eligible else 0.0
    outcome = {k: (reward[k] - mean) / (deviation + 1e-6) if len(set(reward.values())) > 1 else 0.0 for k in eligible}
    terms = own_terms(reports, baselines, mapped, text=False)
    return [
        [
            term + (outcome.get(k, 0.0) if step.in_closure else 0.0)
            for step, term in zip(report.actions, terms[k], strict=True)
        ]
        for k, report in enumerate(reports)
    ]


@given(GROUPS, BASELINES, st.data())
def test_credit_is_the_objective_written_out(
    reports: list[TraceReport], baselines: Baselines, data: st.DataObject
) -> None:
    mapped = [[data.draw(st.integers(0, 4)) > 0 for _ in report.actions] for report in reports]
    for earned, expected, flags in zip(
        group_credit(reports, mapped, baselines, PAPER), written_out(reports, baselines, mapped), mapped, strict=True
    ):
        assert earned.advantages == pytest.approx(expected, abs=1e-12)
        assert earned.units == sum(flags)


@given(GROUPS, BASELINES, st.booleans(), st.data())
def test_shared_is_what_the_document_says(
    reports: list[TraceReport], baselines: Baselines, closure: bool, data: st.DataObject
) -> None:
    """Term by term: a rollout that breaks the contract, or selects no option, is wrong with all its actions."""
    mapped = [[data.draw(st.integers(0, 4)) > 0 for _ in flags] for flags in all_mapped(reports, "shared")]
    kept = [report.parsed and all(step.schema for step in report.actions) for report in reports]
    right = [float(keeps and report.answer_correct is True) for keeps, report in zip(kept, reports, strict=True)]
    mean = sum(right) / len(right)
    deviation = math.sqrt(sum((one - mean) ** 2 for one in right) / len(right))
    outcomes = [(one - mean) / (deviation + 1e-6) if len(set(right)) > 1 else 0.0 for one in right]
    terms = own_terms(reports, baselines, mapped, text=True)
    found = group_credit(reports, mapped, baselines, SHARED, closure=closure)
    for k, (report, one) in enumerate(zip(reports, found, strict=True)):
        inside = [step.in_closure and step.id in report.used_closure for step in report.actions] or [True]
        masked = closure and kept[k] and report.answer is not None and bool(report.actions)
        ends = [step.terminal for step in report.actions] or [True]
        sharing = sum(i and m and not end for i, m, end in zip(inside, mapped[k], ends, strict=True))
        parts = [1 if end else max(1, sharing) for end in ends]
        rows = list(zip(terms[k], inside, parts, strict=True))
        assert one.verification == pytest.approx([(t if i else min(t, 0.0)) / part for t, i, part in rows])
        assert one.outcome == pytest.approx([outcomes[k] / part if i or not masked else 0.0 for _, i, part in rows])
        assert one.units == any(mapped[k])


def test_settings_out_of_range_are_refused() -> None:
    for bad in ({"epsilon": 0}, {"baseline_min": 0.8}, {"preset": "some"}, {"verification_weight": -1.0}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(bad, CreditSettings)
