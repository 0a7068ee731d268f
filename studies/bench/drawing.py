"""How many actions a second of CPU time is drawn and verified: by the soundness search, and by Hypothesis's strategies.

``python -m studies.bench.drawing`` prints both and their ratio, measured in one run, one after the other.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from random import Random

from hypothesis import HealthCheck, Phase, given, settings

from proof_r1_formal import FOLIO, Verifier
from proof_r1_formal.testing.attempts import Attempt, valid_attempts
from proof_r1_formal.testing.corruptions import Corrupted, corrupted_attempts
from proof_r1_formal.testing.traces import TraceGenerator

TRACES = 1_000


def search(verifier: Verifier) -> int:
    """Verify traces as the search draws them. Returns their number of actions."""
    drawn = TraceGenerator(Random(0), FOLIO)
    traces = [drawn.draw() for _ in range(TRACES)]
    return sum([len(verifier.verify(trace.problem, trace.completion).actions) for trace in traces])


def strategies(verifier: Verifier) -> int:
    """Verify attempts as the strategies draw them. Returns their number of actions."""
    actions = 0

    @settings(
        max_examples=TRACES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(valid_attempts(FOLIO) | corrupted_attempts(valid_attempts(FOLIO)))
    def attempts(drawn: Attempt | Corrupted) -> None:
        nonlocal actions
        problem = drawn.problem if isinstance(drawn, Attempt) else drawn.attempt.problem
        actions += len(verifier.verify(problem, drawn.completion).actions)

    attempts()
    return actions


def rate(count: Callable[[Verifier], int]) -> float:
    """Actions a second of CPU time."""
    start = time.process_time()
    return count(Verifier(rules=FOLIO)) / (time.process_time() - start)


def main() -> None:
    own, drawn = rate(search), rate(strategies)
    sys.stdout.write(f"search {own:.0f}, strategies {drawn:.0f} actions a second; ratio {own / drawn:.1f}\n")


if __name__ == "__main__":
    main()
