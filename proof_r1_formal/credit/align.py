"""Alignment of actions with tokens: the tokens of each action, and the advantage of each token.

In: the tokens of a completion and the spans of its actions in characters. Out: an :class:`Alignment`, the matrix

    M[j, t] = 1[token j belongs to action t] / |tokens of t|

stored as one number per token. A token belongs to the action that covers it. A token across a boundary belongs to the
action that has most of its bytes, or to the first of two with equally many.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from proof_r1_formal.credit.pieces import TokenText

NOBODY = -1
"""The owner of a token that belongs to no action."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which token belongs to which action.

    Attributes:
        owners: for each token the index of its action, or ``NOBODY``.
        sizes: for each action the number of its tokens; 0 if it is unmapped.
    """

    owners: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def mapped(self) -> tuple[bool, ...]:
        """Which actions have tokens."""
        return tuple([size > 0 for size in self.sizes])

    def without_first(self) -> Alignment:
        """The alignment of all tokens but the first."""
        first, *owners = self.owners
        sizes = [size - (action == first) for action, size in enumerate(self.sizes)]
        return Alignment(tuple(owners), tuple(sizes))

    def project(self, advantages: Sequence[float]) -> tuple[float, ...]:
        """The advantage of each token, M A: the tokens of an action share its advantage, other tokens have 0."""
        shares = [a / size if size else 0.0 for a, size in zip(advantages, self.sizes, strict=True)]
        shares.append(0.0)  # that of NOBODY, the last one
        return tuple([shares[owner] for owner in self.owners])


def whole(own: Sequence[object], actions: int) -> Alignment:
    """The alignment in which all tokens belong to the first action: for a total that no action's own token can carry.

    ``own`` says of each token whether the model wrote it; others belong to no action. ``actions`` is a number, at
    least 1.
    """
    owners = tuple([0 if one else NOBODY for one in own])
    return Alignment(owners, (owners.count(0), *[0] * (actions - 1)))


def align(completion: TokenText, spans: Sequence[tuple[int, int]]) -> Alignment:
    """Find the tokens of each action, whose spans are character offsets [start, end), in order and without overlap."""
    ends = completion.ends
    owners = [NOBODY] * len(ends)
    most = [0] * len(ends)
    for action, (first, last) in enumerate(spans):
        start, stop = completion.byte_offset(first), completion.byte_offset(last)
        for token in range(bisect_right(ends, start), len(ends)):
            begin = ends[token - 1] if token else 0
            if begin >= stop:
                break
            covered = min(ends[token], stop) - max(begin, start)
            if covered > most[token]:
                owners[token], most[token] = action, covered
    sizes = [0] * (len(spans) + 1)
    for owner in owners:
        sizes[owner] += 1
    return Alignment(tuple(owners), tuple(sizes[:-1]))
