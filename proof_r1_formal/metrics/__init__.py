"""Metrics of models from verdicts on completions: scores, estimates, tables and pictures."""
