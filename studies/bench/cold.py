"""A cold start: what a measurement needs before each contestant."""

from __future__ import annotations

import gc
import sys

import pysat.solvers  # noqa: F401 (z3 is imported before its contestants are measured, so this is, too)

from proof_r1_formal.kernel import syntax


def forget() -> None:
    """Empty every cache of the package, drop unused formulas and clear the memos of the others: as in a new process.

    The collector then leaves the benchmark's own objects alone, which a program that only verifies would not have.
    """
    clear_caches()
    gc.unfreeze()
    gc.collect()
    syntax.drop_unused()
    for node in syntax._NODES.values():
        node.memo.clear()
    gc.freeze()


def clear_caches() -> None:
    """Empty the caches of the functions of the package's modules."""
    for name, module in list(sys.modules.items()):
        if name.startswith("proof_r1_formal."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
