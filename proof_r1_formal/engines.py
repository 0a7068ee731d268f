"""The engines, by name: where work is done. :mod:`proof_r1_formal.workers` has the work, and takes long to import."""

PROCESSES, RAY = "processes", "ray"
"""Children of this process, and workers of a Ray cluster."""
