"""Tools for testing with the package; ``docs/testing.md`` shows how to test a rule of your own.

``strategies`` (logic), ``attempts`` (proofs) and ``corruptions`` (proofs with a flaw, and texts) are for Hypothesis,
which comes with the extra ``test``, so nothing else here imports them. ``soundness``, ``answers`` and ``attack`` are
searches from a seed, which need no Hypothesis.
"""
