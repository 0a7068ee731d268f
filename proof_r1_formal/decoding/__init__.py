"""The contract of an answer while the answer is written: grammars, token masks, and verification of each step."""
