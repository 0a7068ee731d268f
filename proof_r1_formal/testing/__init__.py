"""Tools for testing with the package: Hypothesis strategies for formulas, structures and queries (extra ``test``)."""
