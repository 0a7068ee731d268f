"""Random numbers that depend on a seed, a purpose and a number only."""

from __future__ import annotations

from hashlib import sha256

import torch


def seed_of(seed: int, purpose: str, number: int = 0) -> int:
    """A seed for one purpose."""
    return int.from_bytes(sha256(f"{seed} {purpose} {number}".encode()).digest()[:8]) >> 1


def generator_of(seed: int, device: torch.device) -> torch.Generator:
    """A generator on a device."""
    return torch.Generator(device).manual_seed(seed)
