"""The executors, by name: where work is done; and how rarely their processes collect garbage.

:mod:`proof_r1_formal.workers` runs the work, and takes long to import.
"""

PROCESSES, RAY = "processes", "ray"
"""Children of this process, and workers of a Ray cluster."""

ALLOCATIONS_PER_COLLECTION = 200_000
"""New objects per run of Python's cyclic garbage collector, in the command line and its workers. Verification makes
hardly any cycles, and keeps many small objects: collections at Python's default of 700 take 6 to 10 % of its time."""
