"""Audits of solvers: whether they give the same answers to the same questions."""
