"""A search for undeserved rewards: edits of honest rollouts, with the real verifier, tokens and credit.

In: presets of credit. Out: for each kind of honest rollout the best edit, and its gain over the honest rollout. The
search covers all single edits, then pairs drawn from a seed. ``python -m studies.reward_search`` prints the table of
``docs/training.md``. ``--pairs N`` sets the number of pairs. The exit status is 1 if an edit pays under ``hardened``.

An edit is an improvement, not an attack, if its rollout newly proves the right answer, proves it by the rules, or keeps
the contract. Every other edit that earns more than the honest rollout is an attack.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain
from math import fsum
from random import Random
from types import MappingProxyType

from proof_r1_formal import FOLIO, Settings, TraceReport, Verifier
from proof_r1_formal.credit.methods import METHODS, Rollout, credit_batch, rollout_of
from proof_r1_formal.credit.pieces import TokenText
from proof_r1_formal.credit.presets import PRESETS
from proof_r1_formal.credit.terms import Baselines, CreditSettings, PresetName, is_eligible
from proof_r1_formal.credit.workers import nothing
from studies.reward_edits import PROBLEM, WORD, Draft, Fault, edits, step

# -- honest rollouts --------------------------------------------------------------------------------------------------

READS = step("s1", "h1 h2", "reads(ann)", "IMPLICATION_ELIMINATION")
EITHER = step("s2", "s1 h3", "clever(ann) ⊕ tired(ann)", "IMPLICATION_ELIMINATION")
CLEVER = step("s3", "s2 h4", "clever(ann)", "EXCLUSIVE_DISJUNCTION_ELIMINATION")
ANSWER = step("h_goal_true", "s3", "clever(ann)", "GOAL_BINDING")
MISNAMED = step("s2", "s1 h3", "clever(ann) ⊕ tired(ann)", "MODUS_TOLLENS")
LEAP = step("s3", "s2", "¬clever(ann)", "EXCLUSIVE_DISJUNCTION_ELIMINATION")
WRONG_ANSWER = step("h_goal_false", "s3", "¬clever(ann)", "GOAL_BINDING")
GUESS = step("s3", "s2", "clever(ann)", "EXCLUSIVE_DISJUNCTION_ELIMINATION")


class Kind(StrEnum):
    """Honest rollouts that differ in what they achieve."""

    RIGHT = "right: a proof"
    MISNAMED = "right: a proof with a step under the wrong rule"
    LUCKY = "right: two true steps and a leap to the right option"
    WRONG = "wrong: two true steps and a leap to the wrong option"
    SILENT = "no answer: two true steps"
    CUT = "no summary: cut off"


HONEST: Mapping[Kind, Draft] = MappingProxyType(
    {
        Kind.RIGHT: Draft((READS, EITHER, CLEVER, ANSWER)),
        Kind.MISNAMED: Draft((READS, MISNAMED, CLEVER, ANSWER)),
        Kind.LUCKY: Draft((READS, EITHER, GUESS, ANSWER)),
        Kind.WRONG: Draft((READS, EITHER, LEAP, WRONG_ANSWER)),
        Kind.SILENT: Draft((READS, EITHER)),
        Kind.CUT: Draft((READS, EITHER), "open summary"),
    }
)
"""The honest rollout of each kind."""

GROUP = (*[Kind.RIGHT] * 3, *[Kind.WRONG] * 4, Kind.CUT)
"""The kinds of the eight rollouts of a group."""


def place_of(kind: Kind) -> int:
    """The place of a rollout of a kind in the group: that of a right or of a wrong rollout."""
    return GROUP.index(Kind.RIGHT if kind in (Kind.RIGHT, Kind.MISNAMED) else Kind.WRONG)


# -- what a rollout earns ---------------------------------------------------------------------------------------------

_VERIFIER = Verifier(rules=FOLIO, evaluation=False)


@cache
def verified(completion: str, fault: Fault | None = None) -> TraceReport:
    """The report on a completion for the problem."""
    if fault is not None:
        return nothing(PROBLEM, 0, Settings(rules="folio", evaluation=False))
    return _VERIFIER.verify(PROBLEM, completion)


@cache
def tokens(completion: str) -> TokenText:
    """The completion in tokens, words and signs, and the token that ends it."""
    return TokenText((*[word.encode() for word in WORD.findall(completion)], b""))


def _rollout(completion: str, settings: CreditSettings, fault: Fault | None = None) -> Rollout:
    return rollout_of(verified(completion, fault), tokens(completion), settings, failure=fault)


def honest_group(settings: CreditSettings) -> list[Rollout]:
    """The group of honest rollouts."""
    return [_rollout(HONEST[kind].completion, settings) for kind in GROUP]


def first_batch(settings: CreditSettings) -> Baselines:
    """The baselines before the first batch: all rules alike."""
    return Baselines.start(FOLIO, settings)


def uneven(settings: CreditSettings) -> Baselines:
    """Baselines of a later batch: the rules of the proof at the upper bound, all others at the lower one."""
    used = {one.rule for one in HONEST[Kind.RIGHT].steps}
    names = first_batch(settings).averages
    return Baselines({name: settings.baseline_max if name in used else settings.baseline_min for name in names})


def earned(
    completion: str,
    kind: Kind,
    settings: CreditSettings,
    baselines: Baselines,
    *,
    fault: Fault | None = None,
) -> float:
    """The credit of all tokens of a completion in the group, in place of an honest rollout of the kind.

    Args:
        completion: of the rollout.
        kind: of the honest rollout that it replaces.
        settings: of the credit.
        baselines: of the rules.
        fault: what in the completion breaks its verification.
    """
    return _earned(_rollout(completion, settings, fault), kind, settings, baselines, honest_group(settings))


def _earned(
    rollout: Rollout, kind: Kind, settings: CreditSettings, baselines: Baselines, group: Sequence[Rollout]
) -> float:
    """The credit of a rollout in the honest group."""
    rollouts = list(group)
    place = place_of(kind)
    rollouts[place] = rollout
    ((*credited,),) = credit_batch(METHODS["proof_r1"], [rollouts], baselines, settings).groups
    return fsum(credited[place].advantages)


def gain(completion: str, kind: Kind, settings: CreditSettings, baselines: Baselines) -> float:
    """How much more a completion earns than the honest rollout of its kind."""
    honest = earned(HONEST[kind].completion, kind, settings, baselines)
    return earned(completion, kind, settings, baselines) - honest


def improves(report: TraceReport, honest: TraceReport) -> bool:
    """Whether a rollout is an improvement: a new proof, a new proof by the rules, or newly within the contract."""
    return any(new and not old for new, old in zip(_achieved(report), _achieved(honest), strict=True))


def _achieved(report: TraceReport) -> tuple[bool, bool, bool]:
    contract = bool(report.actions) and is_eligible(report)
    proved = contract and report.answer_correct is True and report.verified
    closure = [one for one in report.actions if one.in_closure]
    return contract, proved, proved and all(one.rule and one.progress for one in closure)


# -- the search -------------------------------------------------------------------------------------------------------

TOLERANCE = 1e-9
"""Tolerance of sums of floats."""


@dataclass(frozen=True, slots=True)
class Found:
    """The best attack that was found.

    Attributes:
        kind: of the honest rollout.
        preset: of the credit.
        edits: of the honest rollout; empty if no attack earns more.
        gain: advantage over the honest rollout, summed over the tokens.
        attacks: number of different completions, without improvements.
        improvements: number of improvements, which are left out.
    """

    kind: Kind
    preset: PresetName
    edits: tuple[str, ...]
    gain: float
    attacks: int
    improvements: int


def search(kind: Kind, presets: Sequence[PresetName], *, pairs: int = 0, seed: int = 0) -> tuple[Found, ...]:
    """The best attack on each preset, over the baselines of the first batch and uneven ones.

    Args:
        kind: of the honest rollout that is edited.
        presets: of the credit.
        pairs: number of pairs of edits, in addition to all single edits.
        seed: of the draw.
    """
    honest = verified(HONEST[kind].completion)
    drafts = [(draft, draft.completion) for draft in _drafts(HONEST[kind], pairs, Random(f"{seed}/{kind}"))]
    attacks = [(draft, text) for draft, text in drafts if not improves(verified(text, draft.fault), honest)]
    found = []
    for preset in presets:
        settings, honestly = CreditSettings(preset=preset), HONEST[kind].completion
        group, standards = honest_group(settings), (first_batch(settings), uneven(settings))
        rollouts = [(draft, _rollout(text, settings, draft.fault)) for draft, text in attacks]
        best, name = 0.0, tuple[str, ...]()
        for baselines in standards:
            standard = earned(honestly, kind, settings, baselines)
            for draft, rollout in rollouts:
                more = _earned(rollout, kind, settings, baselines, group) - standard
                if more > best + TOLERANCE:
                    best, name = more, draft.edits
        found.append(Found(kind, preset, name, best, len(attacks), len(drafts) - len(attacks)))
    return tuple(found)


def _drafts(honest: Draft, pairs: int, random: Random) -> Iterator[Draft]:
    """Every single edit, and pairs of edits, each completion once."""
    seen = {(honest.completion, honest.fault)}
    single = list(edits(honest))
    pair = (random.choice(list(edits(random.choice(single)))) for _ in range(pairs))
    for draft in chain(single, pair):
        if (key := (draft.completion, draft.fault)) not in seen:
            seen.add(key)
            yield draft


def table(results: Sequence[Sequence[Found]]) -> str:
    """The best attacks as a table in Markdown: a row for each kind, a column for each preset."""
    presets = [one.preset for one in results[0]]
    lines = [
        f"| honest rollout | tried | {' | '.join([f'`{name}`' for name in presets])} |",
        f"| --- | ---: | {' | '.join(['---'] * len(presets))} |",
    ]
    for found in results:
        cells = [f"{one.gain:+.2f}: {'; '.join(one.edits)}" if one.edits else "0" for one in found]
        lines.append(f"| {found[0].kind} | {found[0].attacks:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table and the number of attacks. Returns 1 if an attack pays under ``hardened`` or ``strict``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=0, help="pairs of edits to draw for each kind of rollout")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    options = parser.parse_args()
    results = [search(kind, tuple(PRESETS), pairs=options.pairs, seed=options.seed) for kind in Kind]
    attacks, improvements = (sum(getattr(found[0], name) for found in results) for name in ("attacks", "improvements"))
    sys.stdout.write(f"{table(results)}\n\n{attacks:,} attacks, {improvements:,} improvements left out\n")
    return int(any(one.preset in ("hardened", "strict") and one.edits for found in results for one in found))


if __name__ == "__main__":
    sys.exit(main())
