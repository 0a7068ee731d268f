"""The exceptions that the kernel raises, and their root, from which all exceptions of the package derive.

Evidence that does not hold is an exception here, which ``kernel.answer`` turns into an answer.
"""

from __future__ import annotations


class ProofR1Error(Exception):
    """Root of every exception that this package raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        kind = type(self)
        return kind.__new__, (kind, *self.args), vars(self)  # not by __init__: args is the message alone


class SignatureError(ProofR1Error):
    """A predicate, or a function or constant, used in two ways (two arities or two sorts)."""

    def __init__(self, name: str, first: str, second: str) -> None:
        self.name, self.first, self.second = name, first, second
        super().__init__(f"{name!r} is used as {first} and as {second}")


class StructureError(ProofR1Error):
    """A structure that does not interpret all symbols of a formula, or that is not well formed."""


class CatalogueError(ProofR1Error):
    """A rule catalogue that is not well formed, or a request for a rule that it does not contain."""


class ProofError(ProofR1Error):
    """A proof term that does not prove its claim."""
