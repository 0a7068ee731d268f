"""Audits of solvers: comparison of their answers to the same questions."""
