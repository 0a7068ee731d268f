"""The engines, by name: where work is done. :mod:`proof_r1_formal.workers` has the work, and takes long to import."""

PROCESSES, RAY = "processes", "ray"
"""Children of this process, and workers of a Ray cluster."""

ALLOCATIONS_PER_COLLECTION = 50_000
"""New objects per run of Python's cyclic garbage collector, in programs and workers of our own. With Python's default,
700, it takes a fifth of the time of verification."""
