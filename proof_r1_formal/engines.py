"""The engines, by name: where work is done; and how rarely their processes collect garbage.

:mod:`proof_r1_formal.workers` runs the work, and takes long to import.
"""

PROCESSES, RAY = "processes", "ray"
"""Children of this process, and workers of a Ray cluster."""

ALLOCATIONS_PER_COLLECTION = 50_000
"""New objects per run of Python's cyclic garbage collector, in the command line and its workers. Python's default,
700, slows verification, which keeps many small objects."""
