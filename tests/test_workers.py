"""Work in processes: results in order, tasks taken only a little ahead, and clear errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count, islice

import pytest

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.workers import in_order

pytestmark = pytest.mark.usefixtures("closed")

_started = ""


def start() -> None:
    global _started
    _started = "started"


def square(number: int) -> int:
    return number * number


def state(number: int) -> str:
    return f"{_started} {number}"


def die(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number


def refuse(number: int) -> int:
    raise ProofR1Error(f"not {number}")


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_order_of_tasks_without_end(workers: int) -> None:
    taken = []

    def tasks() -> Iterator[int]:
        for number in count():
            taken.append(number)
            yield number

    results = in_order(square, tasks(), workers)
    assert list(islice(results, 50)) == [number * number for number in range(50)]
    assert len(taken) <= 50 + 2 * workers
    assert list(in_order(square, [], workers)) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_every_process_is_started(workers: int) -> None:
    results = in_order(state, range(3), workers, starter=start)
    assert list(results) == ["started 0", "started 1", "started 2"]


def test_errors_are_told() -> None:
    with pytest.raises(ProofR1Error, match="0 workers"):
        in_order(square, [], 0)
    for workers in (1, 2):
        with pytest.raises(ProofR1Error, match="not 7"):
            list(in_order(refuse, [7], workers))
    with pytest.raises(ProofR1Error, match="a worker process died"):
        list(in_order(die, range(9), 2))
