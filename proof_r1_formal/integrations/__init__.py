"""Adapters for trainers and evaluations: reward functions, scorers and data in their formats.

Each module is for one framework; import it only if that framework is installed. A problem is passed as one string, its
record in JSON (``data.native.to_json``), because datasets and trainers handle strings best. The adapters share
``scoring`` and ``runs``; credit per action comes from ``credit.assigner``. OpenRLHF with credit per action is
``training.openrlhf``, and its protocol for rewards ``serve.openrlhf``.
"""
