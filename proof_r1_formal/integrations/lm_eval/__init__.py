"""A task of lm-evaluation-harness. The folder of this module is for its option ``--include_path``.

The harness reads ``proof_r1.yaml``, which names the functions of ``task.py``.
"""
