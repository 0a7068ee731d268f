"""The reward function that verl's reward managers call, and rows of the files that verl trains on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import DataError
from proof_r1_formal.integrations.scoring import DATA_SOURCE as DATA_SOURCE
from proof_r1_formal.integrations.scoring import Row, Scorer
from proof_r1_formal.models.prompts import messages
from proof_r1_formal.proof.report import RewardName
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue
from proof_r1_formal.serve.client import Client


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: object = None,
    *,
    reward: RewardName = "sound",
    rules: RuleSystem = "train",
    service: str | None = None,
    **_: object,
) -> dict[str, float]:
    """The reward of a completion, for ``custom_reward_function``.

    Args:
        data_source: of the row, ``proof-r1``.
        extra_info: ignored.
        solution_str: the completion.
        ground_truth: the problem, as its record in JSON.
        reward, rules: see :class:`~proof_r1_formal.integrations.scoring.Scorer`.
        service: URL of a service that verifies; if None, this process verifies.

    Returns:
        The ``score``, and ``parsed``, ``right`` and ``verified`` as 0 or 1 for verl's log.

    Raises:
        DataError: the row is of another task.
    """
    del extra_info
    if data_source != DATA_SOURCE:
        advice = "choose a reward function by data_source"
        raise DataError("data_source", f"it is {data_source!r}, and this function scores {DATA_SOURCE!r}; {advice}")
    [scored] = _scorer(reward, rules, service)([ground_truth], [solution_str])
    return {
        "score": scored.reward,
        "parsed": float(scored.parsed),
        "right": float(scored.right),
        "verified": float(scored.verified),
    }


@cache
def _scorer(reward: RewardName, rules: RuleSystem, service: str | None) -> Scorer:
    return Scorer(reward, rules=rules, client=None if service is None else Client(service))


def rows(problems: Iterable[Problem], *, rules: RuleSystem = "train") -> Iterator[Row]:
    """The rows of problems for verl's Parquet files: ``Dataset.from_list(list(rows(…))).to_parquet(…)``."""
    for problem in problems:
        yield {
            "data_source": DATA_SOURCE,
            "prompt": messages(problem, rules=catalogue(rules)),
            "ability": "logic",
            "reward_model": {"style": "rule", "ground_truth": to_json(problem)},
            "extra_info": {"id": problem.id, "difficulty": problem.difficulty},
        }
