"""Tools for testing with the package.

``strategies``
    Hypothesis strategies for logic: names, signatures, terms, formulas, structures, queries, schemata.
``attempts``
    Hypothesis strategies for proofs: problems, and attempts at them that are valid by construction.
``corruptions``
    Hypothesis strategies for attempts with one flaw that has a name, and for texts: other ways of writing an attempt,
    completions down to garbage.
``mutations``
    Every way to give a step of a proof a flaw that has a name, without Hypothesis.
``formulas``
    Draws formulas and structures from a source of choices, for the strategies and for the searches alike.
``soundness``
    Tries RuleCheck and the verifier on many steps from a seed, without Hypothesis.
``attack``
    Tries the checkers of proofs on forged ones, without Hypothesis.

Hypothesis comes with the extra ``test``, so nothing else here imports the first three. ``docs/testing.md`` shows how to
test a rule of your own.
"""
