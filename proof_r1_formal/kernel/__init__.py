"""The base of all verdicts: formulas, finite structures, proof terms, their checkers. It imports no other room."""
