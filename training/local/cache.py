"""A cache of keys and values with room ahead.

The one of ``transformers`` copies all it holds for each new token; that is half of the time of sampling on a CPU.
"""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

ROOM = 128
"""For how many tokens room is made at a time."""


class RoomyLayer(DynamicLayer):
    """The keys and values of one layer, at the front of tensors that are longer. Not for gradients."""

    def __init__(self) -> None:
        DynamicLayer.__init__(self)
        self.length = 0

    def update(self, key_states: Tensor, value_states: Tensor, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        """Add those of new tokens; returns all."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.key_room, self.value_room = key_states[:, :, :0], value_states[:, :, :0]
        end = self.length + key_states.shape[-2]
        if end > self.key_room.shape[-2]:
            self.key_room, self.value_room = self._roomier(self.key_room, end), self._roomier(self.value_room, end)
        self.key_room[:, :, self.length : end] = key_states
        self.value_room[:, :, self.length : end] = value_states
        self.length = end
        return self._show()

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep these rows of the batch, in this order; a row may be kept more than once."""
        self.key_room, self.value_room = self.key_room[indices], self.value_room[indices]
        self._show()

    def _show(self) -> tuple[Tensor, Tensor]:
        keys, values = self.key_room[:, :, : self.length], self.value_room[:, :, : self.length]
        self.keys, self.values = keys, values
        return keys, values

    def _roomier(self, room: Tensor, needed: int) -> Tensor:
        rows, heads, _, size = room.shape
        larger = torch.empty((rows, heads, needed + ROOM, size), dtype=room.dtype, device=room.device)
        larger[:, :, : self.length] = room[:, :, : self.length]
        return larger


def roomy_cache(model: PreTrainedModel) -> DynamicCache:
    """An empty cache for sampling from a model; layers of other kinds (a sliding window) are left as they are."""
    cache = DynamicCache(config=model.config)
    for place, layer in enumerate(cache.layers):
        if type(layer) is DynamicLayer:
            cache.layers[place] = RoomyLayer()
    return cache
