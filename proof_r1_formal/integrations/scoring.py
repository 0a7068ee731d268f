"""Rewards of completions, in this process or by a service: the shared part of all adapters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

from proof_r1_formal.credit.workers import attempt, nothing
from proof_r1_formal.data.native import from_json
from proof_r1_formal.errors import DataError, require_equal_lengths
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import RewardName, Scored, TraceReport, reward_named, score
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue
from proof_r1_formal.serve.client import Client

Row: TypeAlias = dict[str, object]
"""A row of a data set, in JSON's types."""

DATA_SOURCE = "proof-r1"
"""The ``data_source`` of rows of this task, in data sets of several tasks."""

problem_of = lru_cache(256)(from_json)
"""The problem of a record in JSON; the last ones are remembered."""


class Scorer:
    """Computes the rewards of training. Several threads may share it.

    Args:
        reward: name of the reward, see :mod:`proof_r1_formal.proof.report`.
        rules: name of the rule catalogue.
        client: of a service that verifies; if None, this process verifies.

    Raises:
        ValueError: no reward has this name.
        CatalogueError: no rule catalogue has this name.
    """

    def __init__(
        self, reward: RewardName = "sound", *, rules: RuleSystem = "train", client: Client | None = None
    ) -> None:
        reward_named(reward)
        catalogue(rules)
        self.reward = reward
        self._rules = rules
        self._client = client

    @cached_property
    def _settings(self) -> Settings:
        return Settings(rules=self._rules, evaluation=False)

    @cached_property
    def _verifier(self) -> Verifier:
        return self._settings.verifier()

    def __call__(self, problems: Sequence[str], completions: Sequence[str]) -> list[Scored]:
        """The rewards of completions.

        Args:
            problems: the problem of each completion, as its record in JSON (or its id, where a service knows it).
            completions: the model's answers.

        Raises:
            DataError: a text is not a problem, or a row has none.
            ServiceError: the service does not answer.
            ValueError: there are not as many problems as completions.
        """
        require_equal_lengths(problems=problems, completions=completions)
        for number, problem in enumerate(problems):
            if not isinstance(problem, str) or not problem:  # trainers pass on whatever a column holds
                advice = "give rows of other tasks to another reward function"
                raise DataError(f"row {number}", f"it has no problem but {problem!r}; {advice}")
        if self._client is not None:
            return self._client.score(problems, completions, reward=self.reward, rules=self._rules)
        return [
            score(self.report(problem, completion), self.reward)
            for problem, completion in zip(problems, completions, strict=True)
        ]

    def report(self, problem: str, completion: str) -> TraceReport:
        """The report of this process on a completion of a problem, its record in JSON.

        A completion that makes the verifier fail has a report without actions: an error would take it out of its group.

        Raises:
            DataError: the text is not a problem.
        """
        asked = problem_of(problem)
        found = attempt(asked, completion, self._verifier)
        return nothing(asked, 0, self._settings) if isinstance(found, str) else found.report
