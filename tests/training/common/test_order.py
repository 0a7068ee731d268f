"""The order of items: passes, items that come again, and going on from a position."""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from training.common.order import Order, Position

orders = st.builds(Order, st.integers(1, 12), st.integers(0, 5), st.integers(1, 3), st.integers(0, 2))


def all_batches(order: Order, size: int, failing: frozenset[int] = frozenset()) -> list[tuple[int, ...]]:
    """Every batch, when these items always come again."""
    position = Position()
    batches: list[tuple[int, ...]] = []
    while True:
        items, position = order.take(position, size)
        if not items:
            return batches
        batches.append(items)
        position = order.put_back(position, tuple(item for item in items if item in failing))


@given(orders, st.integers(1, 5))
def test_each_pass_has_every_item_once(order: Order, size: int) -> None:
    batches = all_batches(order, size)
    items = [item for batch in batches for item in batch]
    assert [len(batch) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    for epoch in range(order.epochs):
        assert sorted(items[epoch * order.count : (epoch + 1) * order.count]) == list(range(order.count))


@given(orders, st.integers(1, 5), st.frozensets(st.integers(0, 11)))
def test_items_come_again_as_often_as_they_may(order: Order, size: int, failing: frozenset[int]) -> None:
    counted = Counter(item for batch in all_batches(order, size, failing) for item in batch)
    for item in range(order.count):
        most = order.epochs * (1 + order.retries) if item in failing else order.epochs
        if order.epochs == 1:
            assert counted[item] == most
        else:  # a batch across two passes puts an item of the first back into the second
            assert order.epochs <= counted[item] <= most


@given(orders, st.integers(1, 5), st.frozensets(st.integers(0, 11)))
def test_a_position_survives_a_checkpoint(order: Order, size: int, failing: frozenset[int]) -> None:
    position = Position()
    for _ in range(20):
        items, position = order.take(position, size)
        position = order.put_back(position, tuple(item for item in items if item in failing))
        assert msgspec.json.decode(msgspec.json.encode(position), type=Position) == position


def test_seeds_give_other_orders() -> None:
    assert all_batches(Order(50, 1, 1), 50) != all_batches(Order(50, 2, 1), 50)
    first, second = all_batches(Order(50, 1, 2), 50)
    assert first != second


def test_items_that_come_again_come_last() -> None:
    order = Order(4, 0, 1, retries=1)
    batches = all_batches(order, 2, frozenset({0, 1, 2, 3}))
    assert len(batches) == 4
    assert sorted(batches[0] + batches[1]) == sorted(batches[2] + batches[3]) == [0, 1, 2, 3]
