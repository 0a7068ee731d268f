"""Whether a run learns anything in its first batches, and if not, why.

In: the rollouts of each batch and whether any of its groups had credit. Out: once, a sentence for the trainer's log.
A model that solves nothing, or everything, gives each member of a group the same, so no token has an advantage. Such a
run looks healthy for hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from proof_r1_formal.credit.methods import Rollout

FIRST_BATCHES = 5
"""How many batches without credit, counted from the first of a run, are worth a warning."""


class SilenceWatch:
    """Watches the first batches of a run; it says something at most once.

    Args:
        corrects: whether the method learns from corrections.
        batches: how many batches to wait.
    """

    def __init__(self, *, corrects: bool, batches: int = FIRST_BATCHES) -> None:
        self._corrects = corrects
        self._left = self._batches = batches
        self._seen: Counter[str] = Counter()

    def notice(self, rollouts: Sequence[Rollout], *, silent: bool) -> str | None:
        """Take a batch into account.

        ``silent``: no group has credit. Returns what to log if this is the last of the first batches and none of them
        taught anything, else None.
        """
        if not self._left or not rollouts:
            return None
        if not silent:
            self._left = 0
            return None
        self._left -= 1
        for one in rollouts:
            self._seen["all"] += 1
            self._seen["verified"] += one.verified
            self._seen["parsed"] += one.report.parsed
            self._seen["right"] += one.report.answer_correct is True
            self._seen["flawless"] += one.report.answer_correct is True and one.report.rule_verified
            self._seen["corrected"] += one.corrected is not None
        if self._left:
            return None
        count = self._seen["all"]
        return f"the first {self._batches} batches ({count} completions) taught the model nothing: {self._reason()}"

    def _reason(self) -> str:
        seen = self._seen
        if not seen["verified"]:
            return "no completion could be verified, because no worker process starts; see the messages above"
        if not seen["parsed"]:
            return (
                "no completion has a summary that parses. Warm the model up with method: sft; if completions are cut "
                "off, raise max_completion_length; look at how the tokenizer writes <summary>"
            )
        if seen["flawless"] == seen["all"]:
            return "every completion is right and rule-verified. Give harder problems"
        if self._corrects and not seen["corrected"]:
            return (
                "the prover corrected no completion. Raise max_completion_length, and see with proof-r1 prove which "
                "of the problems it can prove"
            )
        if not seen["right"]:
            return (
                f"{seen['parsed']} of them parse, but none selects the right option. Warm the model up with method: "
                "sft, give easier problems, or set curriculum"
            )
        return (
            "the completions of each group earn the same. Raise num_generations or temperature, or give problems that "
            "the model solves sometimes"
        )
