"""Tools for testing with the package.

``strategies``
    Hypothesis strategies for logic: names, signatures, terms, formulas, structures, queries.
``traces``
    Hypothesis strategies for proofs: problems, attempts at them that are valid by construction, the same with one flaw
    that has a name, other ways of writing them, completions down to garbage, rule schemata.
``soundness``
    Tries RuleCheck and the verifier on many steps from a seed, without Hypothesis.

Hypothesis comes with the extra ``test``, so nothing here imports the first two. ``docs/testing.md`` shows how to test a
rule of one's own.
"""
