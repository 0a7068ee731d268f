"""What a verdict rests on: formulas, finite structures, proof terms, their checkers. It imports no other room."""
