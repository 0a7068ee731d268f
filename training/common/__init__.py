"""Shared parts of both engines: prompts and their order, verification, records, evaluation, the initial model."""
