"""Training language models with the verdicts and closures of ``proof_r1_formal``; run from a checkout.

The algorithm (``pieces``, ``align``, ``credit``, ``methods``, ``loss``) knows no engine. An engine samples
completions, has them verified and updates the weights; ``docs/training.md`` says what it calls.
"""
