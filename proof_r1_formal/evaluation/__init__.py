"""Metrics of models from verdicts on completions, and studies of systems on data sets: scores, tables, pictures."""
