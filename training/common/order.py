"""The order of items: a new order for each pass; items that are put back come again at its end.

A :class:`Position` in the data is plain data, stored in checkpoints. With the same seed, equal positions lead to equal
items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

import msgspec

_T = TypeVar("_T")


class Position(msgspec.Struct, frozen=True):
    """The position of a run in its data.

    Attributes:
        epoch: the pass, from 0.
        taken: number of items taken in this pass, without those that were put back.
        again: items that wait for another attempt.
        tries: item -> number of times that it was put back in this pass.
    """

    epoch: int = 0
    taken: int = 0
    again: tuple[int, ...] = ()
    tries: dict[int, int] = {}


@dataclass(frozen=True, slots=True)
class Order:
    """The order of items 0 … count - 1.

    Attributes:
        count: number of items.
        seed: of the orders.
        epochs: passes over all items.
        retries: maximum number of times that an item can be put back in each pass.
    """

    count: int
    seed: int
    epochs: int
    retries: int = 0

    def take(self, position: Position, number: int) -> tuple[tuple[int, ...], Position]:
        """The next items, also across the end of a pass; fewer at the end of the last pass."""
        items: list[int] = []
        while len(items) < number:
            missing = number - len(items)
            if position.taken < self.count:
                fresh = self._pass(position.epoch)[position.taken : position.taken + missing]
                items += fresh
                position = msgspec.structs.replace(position, taken=position.taken + len(fresh))
            elif position.again:
                items += position.again[:missing]
                position = msgspec.structs.replace(position, again=position.again[missing:])
            elif position.epoch + 1 < self.epochs:
                kept = {item: tries for item, tries in position.tries.items() if item in items}  # not decided yet
                position = Position(epoch=position.epoch + 1, tries=kept)
            else:
                break
        return tuple(items), position

    def put_back(self, position: Position, items: tuple[int, ...]) -> Position:
        """The position after putting back these items, which were just taken. Items without remaining attempts are
        dropped."""
        allowed = [item for item in items if position.tries.get(item, 0) < self.retries]
        tries = position.tries | {item: position.tries.get(item, 0) + 1 for item in allowed}
        return msgspec.structs.replace(position, again=(*position.again, *allowed), tries=tries)

    def _pass(self, epoch: int) -> list[int]:
        return Random(f"order {self.seed} {epoch}").sample(range(self.count), self.count)


def chunks(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """The items in stretches of a size; the last may be shorter."""
    return (items[start : start + size] for start in range(0, len(items), size))
