"""OpenRLHF's reward function, and rows of the files that it trains on.

``--reward.remote_url`` names either the ``/get_reward`` of ``proof-r1 serve``, or a Python file with a ``reward_func``,
such as this module. OpenRLHF sends prompt and completion in one text, and the row's ``label``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import require_equal_lengths
from proof_r1_formal.integrations.scoring import Row, Scorer
from proof_r1_formal.models.prompts import messages
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue
from proof_r1_formal.serve.openrlhf import completion_of, reply


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[str]) -> dict[str, object]:
    """The rewards of rollouts (``sound``, with the catalogue ``train``), in OpenRLHF's format.

    Args:
        queries: prompt and completion of each.
        prompts: the prompt of each.
        labels: the problem of each, as its record in JSON.

    Raises:
        ValueError: a query does not contain its prompt, or there are not equally many of each.
    """
    require_equal_lengths(queries=queries, prompts=prompts, labels=labels)
    completions = [completion_of(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    return reply(_scorer()(labels, completions))


_scorer = cache(Scorer)


def rows(problems: Iterable[Problem], *, rules: RuleSystem = "train") -> Iterator[Row]:
    """The rows of problems for OpenRLHF's JSON Lines: the chat under ``input``, the problem under ``label``."""
    for problem in problems:
        yield {"input": messages(problem, rules=catalogue(rules)), "label": to_json(problem)}
