"""Padding of packed sequences, which nothing may call without flash-attn."""

from __future__ import annotations


def absent(*_: object, **__: object) -> None:
    """Refuse the call."""
    raise RuntimeError("flash-attn is not installed: packing and ring attention need it")


index_first_axis = pad_input = unpad_input = rearrange = absent
