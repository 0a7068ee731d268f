"""The training methods, and the credit of the tokens of a batch under each.

In: a method and the verified rollouts of a batch, problem by problem. Out: for each rollout the advantages of its
tokens, and its units in the divisor of the loss of its mini-batch. All methods share prompts, data, warm-up, loss and
evaluation.

| method | learns from |
|---|---|
| ``sft`` | verified trajectories, by cross-entropy |
| ``grpo`` | the answer: one reward per rollout, relative to its group, on every token |
| ``prosfi`` | the answer, whether it is verified, and whether all steps are entailed, likewise |
| ``expert_iteration`` | its own rollouts that pass all checks, with advantage 1 on every token of them |
| ``proof_r1`` | per action: its verdicts, and the answer if the answer depends on it |
| ``no_verification`` | ``proof_r1`` without the verdicts |
| ``no_closure`` | ``proof_r1`` with the answer credited to all actions |
| ``taught`` | at its first wrong step, the steps by which a prover goes on: imitation on its own prefix |
| ``proof_r1_taught`` | ``proof_r1``, with one corrected rollout as a further member of each group |
| ``contrast`` | its first wrong action against the prover's action from the same prefix |

The last three take a prover's corrections (``credit.corrections``). A corrected rollout replaces a row of the batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias, assert_never

import msgspec

from proof_r1_formal import ProofR1Error, TraceReport
from proof_r1_formal.credit.align import Alignment, align, whole
from proof_r1_formal.credit.corrections import CorrectedRollout
from proof_r1_formal.credit.pieces import TokenText
from proof_r1_formal.credit.presets import PRESETS, Group
from proof_r1_formal.credit.terms import Baselines, Credit, CreditSettings, group_relative, with_uncertain
from proof_r1_formal.proof.report import Reward, answer_reward, sound_answer_reward

# -- methods ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Imitation:
    """Cross-entropy on verified trajectories, without rollouts."""

    name: str


@dataclass(frozen=True, slots=True)
class WholeTrajectory:
    """One reward per rollout; its distance from the group's mean is the advantage of every token.

    Attributes:
        relative: whether to subtract the mean of the group and divide by the standard deviation.
    """

    name: str
    reward: Reward
    relative: bool = True


@dataclass(frozen=True, slots=True)
class PerAction:
    """An advantage per action, see ``proof_r1_formal.credit.presets``.

    Attributes:
        verification: whether an action earns a verification term.
        closure: whether only actions of the closure earn the outcome term.
        taught: whether a corrected rollout joins each group. It takes the row of the rollout that it corrects.
    """

    name: str
    verification: bool = True
    closure: bool = True
    taught: bool = False


@dataclass(frozen=True, slots=True)
class Teaching:
    """Imitation of an expert on the model's own prefixes, as in DAgger (Ross et al. 2011, arXiv:1011.0686).

    A rollout with a flaw is replaced by its correction, in which the tokens of the expert have advantage 1. All tokens
    of a flawless rollout have advantage 1, because the expert would have accepted each of its steps.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Contrasting:
    """The first wrong action against the expert's action from the same prefix.

    Two flawed rollouts of a group make a pair. In the first, the tokens of the first wrong action have advantage -1/2.
    Its correction replaces the second, and the tokens of the expert's first action there have 1/2. At the first update
    after sampling, this is the gradient of the preference loss -log sigmoid(m). There m is the log-ratio of the
    expert's action to the wrong one, less the same of the policy that sampled (DPO with beta 1, arXiv:2305.18290).
    """

    name: str


def _flawless_reward(report: TraceReport) -> float:
    """1.0 for a right and verified answer whose actions all pass all checks, else 0."""
    right = report.answer_correct is True and report.verified
    return float(right and all(step.signal == 1.0 for step in report.actions))


Method: TypeAlias = Imitation | WholeTrajectory | PerAction | Teaching | Contrasting

_METHODS: tuple[Method, ...] = (
    Imitation("sft"),
    WholeTrajectory("grpo", answer_reward),
    WholeTrajectory("prosfi", sound_answer_reward),
    WholeTrajectory("expert_iteration", _flawless_reward, relative=False),
    PerAction("proof_r1"),
    PerAction("no_verification", verification=False),
    PerAction("no_closure", closure=False),
    Teaching("taught"),
    PerAction("proof_r1_taught", taught=True),
    Contrasting("contrast"),
)
METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _METHODS})
"""The methods by name."""


def rollout_method(name: str, preset: str) -> Method:
    """The method of that name, which learns from rollouts, by the preset of that name.

    Raises:
        ProofR1Error: an unknown method or one without rollouts, or an unknown preset.
    """
    named = METHODS.get(name)
    if named is None or isinstance(named, Imitation):
        names = ", ".join([each for each, one in METHODS.items() if not isinstance(one, Imitation)])
        raise ProofR1Error(f"no method that learns from rollouts is named {name!r}; there are {names}")
    if preset not in PRESETS:
        raise ProofR1Error(f"no preset is named {preset!r}; there are {', '.join(PRESETS)}")
    return named


def needs_corrections(method: Method) -> bool:
    """Whether the method takes a prover's corrections of rollouts."""
    return isinstance(method, Teaching | Contrasting) or (isinstance(method, PerAction) and method.taught)


# -- a batch ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rollout:
    """A verified completion: the report, and the tokens of its actions.

    Attributes:
        report: on the completion.
        alignment: of actions with tokens; of the whole text if no action has a token and the preset credits the text.
        verified: False if it could not be verified for a reason that no completion can cause; the report is
            meaningless.
        failure: why the completion has no report of its own, if it has none: it counts as wrong.
        corrected: the corrected rollout, where the method asks for it and something is wrong.
        correcting: seconds of processor time that the prover took.
        opening: number of first actions that were given to the model.
    """

    report: TraceReport
    alignment: Alignment
    verified: bool = True
    failure: str | None = None
    corrected: CorrectedRollout | None = None
    correcting: float = 0.0
    opening: int = 0

    @property
    def own(self) -> TraceReport:
        """The report without the actions that were given, which say nothing of the model."""
        return msgspec.structs.replace(self.report, actions=self.report.actions[self.opening :])


def rollout_of(
    report: TraceReport,
    completion: TokenText,
    settings: CreditSettings,
    *,
    verified: bool = True,
    failure: str | None = None,
    opened: bool = False,
) -> Rollout:
    """The rollout of a completion and of the report on its text; see :class:`Rollout`.

    With ``opened`` the first piece of the completion is a text that was given to the model: it belongs to no token.

    Some presets give a rollout a total, whatever its text is. All tokens carry it if no action has a token; the end of
    the text is a token, too.
    """
    alignment = align(completion, [step.span for step in report.actions])
    if not opened:
        return aligned_rollout(report, alignment, settings, verified=verified, failure=failure)
    rollout = aligned_rollout(report, alignment.without_first(), settings, verified=verified, failure=failure)
    end = len(completion.pieces[0])
    return replace(rollout, opening=sum([completion.byte_offset(step.span[1]) <= end for step in report.actions]))


def aligned_rollout(
    report: TraceReport,
    alignment: Alignment,
    settings: CreditSettings,
    *,
    own: Sequence[int] | None = None,
    verified: bool = True,
    failure: str | None = None,
) -> Rollout:
    """The rollout of a report and of the tokens of its actions; see :func:`rollout_of`.

    ``own``: for each token whether the model wrote it (1) or an environment (0), which the loss leaves out; None if the
    model wrote all.
    """
    report = with_uncertain(report, settings)
    if PRESETS[settings.preset].credits_text and not any(alignment.mapped):
        # A total on tokens that the loss leaves out would be lost, and long replies of tools a way out.
        alignment = whole([1] * len(alignment.owners) if own is None else own, max(1, len(report.actions)))
    return Rollout(report, alignment, verified, failure)


@dataclass(frozen=True, slots=True)
class TokenCredit:
    """The credit of a rollout.

    Attributes:
        advantages: one per token of the completion, or of the row that replaces it.
        units: of the rollout in the divisor of the loss: its mapped actions, or 1 if the rollout is credited as a
            whole.
        actions: the credit of the actions, under a method with credit per action.
        replaced: the tokens of the corrected rollout that replaces the completion in the batch, if one does.
    """

    advantages: tuple[float, ...]
    units: int
    actions: Credit | None = None
    replaced: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class GroupCredits:
    """The credit of the rollouts of a batch, group by group, and the baselines for the next batch."""

    groups: tuple[tuple[TokenCredit, ...], ...]
    baselines: Baselines


def credit_batch(
    method: Method, groups: Sequence[Sequence[Rollout]], baselines: Baselines, settings: CreditSettings
) -> GroupCredits:
    """The credit of every token of a batch.

    Problems with contradictory premises earn nothing and do not change baselines, because such premises entail
    everything. The same holds for rollouts that are not ``verified``; they do not count in their group. A rollout with
    a ``failure`` counts as wrong.

    Args:
        method: one of ``METHODS``.
        groups: the rollouts of each problem.
        baselines: after the earlier batches.
        settings: the constants.

    Raises:
        ProofR1Error: the method does not learn from rollouts.
    """
    compared: list[list[Rollout]] = []
    for group in groups:
        contradictory = any(one.report.consistency == "inconsistent" for one in group)
        compared.append([] if contradictory else [one for one in group if one.verified])
    match method:
        case Imitation(name):
            raise ProofR1Error(f"method {name!r} learns from given trajectories; rollouts have no credit under it")
        case WholeTrajectory():
            credited = [_whole(method, group, settings) for group in compared]
        case PerAction():
            credited = [_per_action(method, group, baselines, settings) for group in compared]
            baselines = baselines.after([one.own for group in compared for one in group], settings)
        case Teaching():
            credited = [[_taught(one) for one in group] for group in compared]
        case Contrasting():
            credited = [_contrasted(group) for group in compared]
        case _:
            assert_never(method)
    return GroupCredits(tuple(map(_with_the_others, groups, compared, credited)), baselines)


def _with_the_others(
    group: Sequence[Rollout], compared: Sequence[Rollout], credited: Sequence[TokenCredit]
) -> tuple[TokenCredit, ...]:
    """The credit of a whole group: of those that were compared, and nothing for the others."""
    earned = {id(rollout): credit for rollout, credit in zip(compared, credited, strict=True)}
    return tuple([earned.get(id(one)) or _nothing(one) for one in group])


def divisor(credits_: Iterable[TokenCredit]) -> int:
    """N_B: the divisor of the loss of the mini-batch of these rollouts; at least 1."""
    return max(1, sum([credit.units for credit in credits_]))


def _whole(method: WholeTrajectory, group: Sequence[Rollout], settings: CreditSettings) -> list[TokenCredit]:
    rewards = tuple([method.reward(one.report) for one in group])
    earned = group_relative(rewards, settings.epsilon) if method.relative else rewards
    sizes = [len(one.alignment.owners) for one in group]
    return [TokenCredit((advantage,) * size, 1) for advantage, size in zip(earned, sizes, strict=True)]


def _per_action(
    method: PerAction, group: Sequence[Rollout], baselines: Baselines, settings: CreditSettings
) -> list[TokenCredit]:
    taught = next((n for n, one in enumerate(group) if one.corrected is not None), None) if method.taught else None
    corrected = None if taught is None else group[taught].corrected
    members = [(one.report, one.alignment) for one in group]
    if corrected is not None:
        members.append((corrected.report, corrected.alignment))
    reports, alignments = [report for report, _ in members], [alignment for _, alignment in members]
    mapped = [alignment.mapped for alignment in alignments]
    given = Group(reports, mapped, baselines, settings, verification=method.verification, closure=method.closure)
    credited = zip(alignments, PRESETS[settings.preset].credit(given), strict=True)
    found = [TokenCredit(alignment.project(credit.advantages), credit.units, credit) for alignment, credit in credited]
    if taught is not None and corrected is not None:
        found[taught] = replace(found.pop(), replaced=corrected.ids)
    return found


# -- corrections ------------------------------------------------------------------------------------------------------


def _taught(rollout: Rollout) -> TokenCredit:
    if (corrected := rollout.corrected) is not None:
        tokens = len(corrected.ids) - corrected.start
        return TokenCredit((0.0,) * corrected.start + (1.0,) * tokens, 1, replaced=corrected.ids)
    flawless = _flawless_reward(rollout.report)
    return TokenCredit((flawless,) * len(rollout.alignment.owners), int(flawless))


def _contrasted(group: Sequence[Rollout]) -> list[TokenCredit]:
    found = [_nothing(one) for one in group]
    flawed = [number for number, one in enumerate(group) if one.corrected is not None]
    for wrong, replaced in zip(flawed[::2], flawed[1::2], strict=False):
        rollout = group[wrong]
        assert rollout.corrected is not None
        better = rollout.corrected
        found[wrong] = TokenCredit(_marks(_first_wrong(rollout, better), -0.5), 1)
        chosen = [owner == better.accepted for owner in better.alignment.owners]
        found[replaced] = TokenCredit(_marks(chosen, 0.5), 0, replaced=better.ids)
    return found


def _first_wrong(rollout: Rollout, better: CorrectedRollout) -> list[bool]:
    """The tokens of the first wrong action; all later tokens where there is no such action."""
    owners, action = rollout.alignment.owners, better.accepted
    there = rollout.report.parsed and action < len(rollout.report.actions)
    return [owner == action if there else place >= better.start for place, owner in enumerate(owners)]


def _marks(tokens: Iterable[bool], advantage: float) -> tuple[float, ...]:
    return tuple([advantage if marked else 0.0 for marked in tokens])


def _nothing(rollout: Rollout) -> TokenCredit:
    return TokenCredit((0.0,) * len(rollout.alignment.owners), 0)
