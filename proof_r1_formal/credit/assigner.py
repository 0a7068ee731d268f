"""Credit for a trainer: problems and token ids to an advantage per token. An adapter needs this object only.

In: for each completion of a batch its problem and the ids of its tokens. Out: a :class:`BatchCredit`. Between the two,
the bytes of the tokens are verified as one text, never a decoded one, so each advantage stands at the tokens that
earned it. The state between batches is the moving average of the signals of each rule.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from threading import Lock
from types import MappingProxyType
from typing import Any, Protocol, Self, TypeAlias

from proof_r1_formal.credit.align import Alignment
from proof_r1_formal.credit.corrections import CorrectedRollout, CorrectedText, Encode, corrected_rollout
from proof_r1_formal.credit.diagnostics import batch_metrics
from proof_r1_formal.credit.methods import (
    Method,
    Rollout,
    aligned_rollout,
    credit_batch,
    divisor,
    needs_corrections,
    rollout_method,
    rollout_of,
)
from proof_r1_formal.credit.pieces import TokenizerError, TokenPieces, TokenText
from proof_r1_formal.credit.silence import SilenceWatch
from proof_r1_formal.credit.terms import Baselines, CreditSettings, PresetName
from proof_r1_formal.credit.workers import Checked, Corrected, Workers, attempt, attempt_correction, nothing, prover_of
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ProofR1Error, require_equal_lengths
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue

LOG = logging.getLogger(__name__)


class _Backend(Protocol):
    def to_str(self) -> str: ...


class FastTokenizer(Protocol):
    """A tokenizer of ``transformers`` that is made of one of ``tokenizers``."""

    @property
    def backend_tokenizer(self) -> _Backend: ...


Tokenizer: TypeAlias = FastTokenizer | str | bytes
"""A fast tokenizer, or the text of its ``tokenizer.json``."""


@dataclass(frozen=True, slots=True)
class BatchCredit:
    """The credit of a batch of B completions.

    Attributes:
        advantages: B tuples, each with an advantage for every token of its completion. A completion without tokens has
            one: that of the end-of-text token, which its trainer took off.
        divisor: N_B. The policy loss of the batch is the sum of the surrogate over all tokens, divided by it.
        reports: B reports.
        broken: how many completions broke their verification (an id without a token; a worker that fails, dies or
            hangs). They count as wrong.
        metrics: means over the batch for a trainer's log, by name; and ``unverified``, the number of completions that
            could not be verified because no worker can be started, or were never sampled. They earn nothing, do not
            count in their groups, and are in no mean.
        replaced: B tuples of token ids, or None. Under a method with corrections, a tuple is the row that the trainer
            puts in the place of the completion; the advantages are those of its tokens.
    """

    advantages: tuple[tuple[float, ...], ...]
    divisor: int
    reports: tuple[TraceReport, ...]
    broken: int
    metrics: Mapping[str, float]
    replaced: tuple[tuple[int, ...] | None, ...]


class CreditAssigner:
    """Verifies completions and credits their tokens. Use it in a ``with`` statement, or call :meth:`close`.

    Args:
        tokenizer: of the model.
        method: a name in ``credit.methods.METHODS``; one that learns from rollouts.
        preset: of the formulas, see ``credit.presets``; or ``settings`` for all constants.
        rules: name of the rule catalogue.
        settings: the constants of the formulas; the paper's if None.
        workers: processes that verify; with 0 this process verifies, without a time limit.
        timeout: seconds of one completion in a worker; a completion that takes longer counts as wrong.
        max_tokens: no correction is longer than this, its kept part included.
        replaces_rows: whether the trainer puts the rows of ``BatchCredit.replaced`` in the place of completions.
            Without it, a method with corrections is refused.

    Raises:
        ProofR1Error: an unknown method or one without rollouts, an unknown preset or catalogue, or a tokenizer whose
            tokens have no bytes. A method with corrections needs the tokenizer itself, with an end of text.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        method: str = "proof_r1",
        preset: PresetName | None = None,
        rules: RuleSystem = "train",
        settings: CreditSettings | None = None,
        workers: int = 1,
        timeout: float = 60.0,
        max_tokens: int | None = None,
        replaces_rows: bool = False,
    ) -> None:
        if preset is not None and settings is not None:
            raise ProofR1Error("give a preset or settings, not both: settings name their preset")
        self._settings = settings or CreditSettings(preset=preset or "paper")
        self._method = named = rollout_method(method, self._settings.preset)
        if needs_corrections(named) and not replaces_rows:
            advice = "use ProofTrainer (integrations.trl), or a trainer that does so and says replaces_rows=True"
            raise ProofR1Error(f"method {method!r} replaces rows of the batch, which this trainer does not; {advice}")
        self._corrections = _Corrections.of(named, tokenizer, max_tokens) if needs_corrections(named) else None
        if not isinstance(tokenizer, str | bytes):
            if not hasattr(tokenizer, "backend_tokenizer"):
                name = type(tokenizer).__name__
                advice = "load the fast tokenizer of the model"
                raise ProofR1Error(f"{name} does not say which bytes its tokens are; {advice}")
            tokenizer = tokenizer.backend_tokenizer.to_str()
        self._pieces = TokenPieces(tokenizer)
        self._baselines = Baselines.start(catalogue(rules), self._settings)
        self._verification = Settings(rules=rules, evaluation=False)
        corrects = self._corrections is not None
        opening = Workers(self._verification, count=workers, timeout=timeout, corrects=corrects) if workers else None
        self._opening = opening
        self._open = ExitStack()
        self._starting = Lock()  # an agent verifies in several threads
        self._workers: Workers | None = None
        self._told = False
        self._silence = SilenceWatch(corrects=self.corrects)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker processes. The next batch starts them again."""
        self._open.close()
        self._workers = None

    # -- a batch ------------------------------------------------------------------------------------------------------

    def credit(
        self, problems: Sequence[Problem], completion_ids: Sequence[Sequence[int]], group_size: int
    ) -> BatchCredit:
        """The credit of a batch, after which the averages of the rules are those for the next batch.

        Args:
            problems: B problems, one for each completion.
            completion_ids: B completions: the ids of the tokens that were sampled, end of text included, without
                padding.
            group_size: K; each K consecutive completions answer the same problem.

        Raises:
            ValueError: the lengths differ, or a group has two problems.
        """
        return self.assign(self.verify(problems, completion_ids), group_size)

    def verify(
        self,
        problems: Sequence[Problem],
        completion_ids: Sequence[Sequence[int]],
        *,
        openings: Sequence[str] | None = None,
        correct: bool = True,
    ) -> list[Rollout]:
        """The first half of :meth:`credit`: for a trainer in several processes, each with a part of the batch.

        ``openings``: for each completion the text that it continues, such as the first steps of a proof; they are
        verified with it, have no credit, and are in no average. A method with corrections takes none. ``correct``:
        whether such a method corrects the completions; an evaluation does not need it.

        Rollouts are plain data that can be sent to the other processes. A completion that makes its worker fail, die or
        hang, or that has an id without a token (the vocabulary of some models is padded), counts as one without an
        answer; it does not stop the others.
        """
        require_equal_lengths(problems=problems, completion_ids=completion_ids)
        openings = openings or [""] * len(problems)
        require_equal_lengths(problems=problems, openings=openings)
        if self.corrects and any(openings):
            raise ValueError("a method with corrections starts from the model's own steps; leave out openings")
        asked = list(map(self._ask, problems, completion_ids, openings))
        rollouts = [wait() for wait in asked]
        if self._corrections is None or not correct:
            return rollouts
        corrections = list(map(self._ask_correction, problems, completion_ids, rollouts))
        return [wait() for wait in corrections]

    def _ask(self, problem: Problem, ids: Sequence[int], opening: str) -> Callable[[], Rollout]:
        """Begin to verify; the function waits for the report."""
        missing = nothing(problem, 0, self._verification)
        try:
            text = self._pieces.read(ids) if ids else TokenText((b"",))
        except TokenizerError as error:
            silence, reason = TokenText((b"",) * len(ids)), str(error)
            return lambda: rollout_of(missing, silence, self._settings, failure=reason)
        if opened := bool(opening):
            text = TokenText((opening.encode(), *text.pieces))
        if self._opening is None:

            def verify() -> Rollout:
                found = attempt(problem, text.text, self._verifier)
                checked = Checked(missing, 0.0, found) if isinstance(found, str) else found
                return self._rollout(text, checked, opened=opened)

            return verify
        with self._starting:
            if self._workers is None:
                self._workers = self._open.enter_context(self._opening)
        asked = self._workers.verify(problem, text.text)
        return lambda: self._rollout(text, asked.result(), opened=opened)

    def _rollout(self, text: TokenText, found: Checked, *, opened: bool) -> Rollout:
        report, settings = found.report, self._settings
        return rollout_of(report, text, settings, verified=found.caused, failure=found.failure, opened=opened)

    def _ask_correction(self, problem: Problem, ids: Sequence[int], rollout: Rollout) -> Callable[[], Rollout]:
        """Begin to correct; the function waits for the rollout with its correction."""
        if rollout.failure is not None:
            return lambda: rollout
        text = self._pieces.read(ids)

        def settled(found: Corrected) -> Rollout:
            assert self._corrections is not None
            corrected = self._corrections.rollout(ids, text, found.text, self._pieces)
            return replace(rollout, corrected=corrected, correcting=found.seconds)

        if self._workers is None:
            return lambda: settled(attempt_correction(problem, text.text, rollout.report, self._prover))
        asked = self._workers.correct(problem, text.text, rollout.report)
        return lambda: settled(asked.result())

    @cached_property
    def _prover(self) -> Prover:
        return prover_of(self._verifier)

    @cached_property
    def _verifier(self) -> Verifier:
        return self._verification.verifier()

    def missing(self, problem: Problem) -> Rollout:
        """The place in its group of a completion that was never sampled: no credit, and no part in the group."""
        return rollout_of(nothing(problem, 0, self._verification), TokenText(()), self._settings, verified=False)

    def turns(self, report: TraceReport, alignment: Alignment, mask: Sequence[int]) -> Rollout:
        """The rollout of an environment of several turns: its report, and the tokens of its steps.

        :func:`~proof_r1_formal.integrations.environments.align_turns` gives the alignment. ``mask``: for each token
        whether the model wrote it (1), or a tool (0).
        """
        return aligned_rollout(report, alignment, self._settings, own=mask)

    def assign(self, rollouts: Sequence[Rollout], group_size: int) -> BatchCredit:
        """The second half of :meth:`credit`: the credit of verified rollouts.

        Processes that call it with the same rollouts in the same order have the same averages after it.

        Args:
            rollouts: of the whole batch, group by group.
            group_size: K.

        Raises:
            ValueError: the rollouts do not make groups of K, or a group has two problems.
        """
        if group_size < 1 or len(rollouts) % group_size:
            raise ValueError(f"{len(rollouts)} completions do not make groups of {group_size}")
        groups = [rollouts[start : start + group_size] for start in range(0, len(rollouts), group_size)]
        for number, group in enumerate(groups):
            if len(asked := {one.report.problem_id for one in group}) > 1:
                raise ValueError(f"group {number} has completions of several problems: {', '.join(sorted(asked))}")
        earned = credit_batch(self._method, groups, self._baselines, self._settings)
        self._baselines = earned.baselines
        credits_ = list(chain.from_iterable(earned.groups))
        reports = tuple([one.report for one in rollouts])
        silent = sum([not any(chain.from_iterable([one.advantages for one in group])) for group in earned.groups])
        self._notice(rollouts, silent=silent == len(groups))
        return BatchCredit(
            advantages=tuple([one.advantages for one in credits_]),
            divisor=divisor(credits_),
            reports=reports,
            broken=sum([one.verified and one.failure is not None for one in rollouts]),
            metrics=batch_metrics([one.own for one in rollouts if one.verified])
            | {
                "silent_groups": silent / max(1, len(groups)),
                "unverified": float(sum([not one.verified for one in rollouts])),
            }
            | self._noted(rollouts),
            replaced=tuple([one.replaced for one in credits_]),
        )

    def _notice(self, rollouts: Sequence[Rollout], *, silent: bool) -> None:
        """Log once that no completion of a batch parses, often a fault of the prompt or of the tokenizer.

        Log once, too, that the first batches taught nothing; ``silent``: no group of this one has credit.
        """
        if said := self._silence.notice(rollouts, silent=silent):
            LOG.warning("%s", said)
        if self._told or not rollouts or any(one.report.parsed for one in rollouts):
            return
        self._told = True
        reason = next((f"; the first failure: {one.failure}" for one in rollouts if one.failure), "")
        LOG.warning(
            "no completion of a batch of %d has a summary that parses, so none earns anything for a step%s; look at "
            "their texts, and at how the tokenizer writes <summary>",
            len(rollouts),
            reason,
        )

    @property
    def corrects(self) -> bool:
        """Whether the method takes corrections, so that rows of the batch may be replaced."""
        return self._corrections is not None

    def _noted(self, rollouts: Sequence[Rollout]) -> dict[str, float]:
        """Of corrections: shares of rollouts, means, and the processor time for one rollout."""
        if self._corrections is None:
            return {}
        count, made = max(1, len(rollouts)), [one.corrected for one in rollouts if one.corrected is not None]
        return {
            "corrected": len(made) / count,
            "kept_actions": sum([one.accepted for one in made]) / max(1, len(made)),
            "expert_tokens": sum([len(one.ids) - one.start for one in made]) / max(1, len(made)),
            "correction_seconds": sum([one.correcting for one in rollouts]) / count,
        }

    # -- state --------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, float]:
        """The moving average of each rule's signals, to be stored in a checkpoint as JSON."""
        return dict(self._baselines.averages)

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Resume from a checkpoint.

        Raises:
            ProofR1Error: the averages are those of another rule catalogue.
        """
        if differing := self._baselines.averages.keys() ^ state.keys():
            raise ProofR1Error(f"the checkpoint was made with other rules; the first that differs is {min(differing)}")
        self._baselines = Baselines(MappingProxyType({rule: float(value) for rule, value in state.items()}))


@dataclass(frozen=True, slots=True)
class _Corrections:
    """Makes corrections of tokens: how texts are encoded, the id that ends one, and the greatest length of a row."""

    encode: Encode
    end: int
    max_tokens: int | None

    @classmethod
    def of(cls, method: Method, tokenizer: Any, max_tokens: int | None) -> _Corrections:
        end = getattr(tokenizer, "eos_token_id", None)
        if end is None or not hasattr(tokenizer, "backend_tokenizer"):
            raise ProofR1Error(
                f"method {method.name!r} encodes corrections; give the model's fast tokenizer, with an eos_token"
            )
        backend = tokenizer.backend_tokenizer
        return cls(lambda text: backend.encode(text, add_special_tokens=False).ids, end, max_tokens)

    def rollout(
        self, ids: Sequence[int], text: TokenText, corrected: CorrectedText | None, pieces: TokenPieces
    ) -> CorrectedRollout | None:
        if corrected is None:
            return None
        made = corrected_rollout(ids, text, corrected, pieces, self.encode, self.end)
        too_long = made is not None and self.max_tokens is not None and len(made.ids) > self.max_tokens
        return None if too_long else made
