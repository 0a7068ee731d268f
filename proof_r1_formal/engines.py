"""Where work is done: the names of the engines, apart from :mod:`proof_r1_formal.workers`, which takes long to import."""

PROCESSES, RAY = "processes", "ray"
"""Children of this process, and workers of a Ray cluster."""
