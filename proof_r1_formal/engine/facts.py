"""The facts of a tableau, why they hold, and the scopes in which they hold."""

from __future__ import annotations

from dataclasses import dataclass

from proof_r1_formal.kernel.signed import Signed
from proof_r1_formal.kernel.term import Line


@dataclass(slots=True, eq=False)
class Scope:
    """A block that is being shown: the facts that its supposition or arbitrary constant holds up."""

    depth: int


@dataclass(slots=True, eq=False)
class Fact:
    """A signed formula that holds in a scope, with what it follows from.

    Attributes:
        scope: the outermost scope in which all it follows from holds.
        serial: facts are numbered as they come.
        premises: the facts it follows from; of a block, what it shows.
        line: how it follows, without the numbers of its premises; for a premise its number; None for what is supposed.
        inner: the scope of its block, if it has one.
    """

    what: Signed
    scope: Scope
    serial: int
    premises: tuple[Fact, ...]
    line: Line | int | None
    inner: Scope | None

    def rests_on(self, *, within: int = 0) -> set[Fact]:
        """The fact and all it follows from; not what those follow from that are of a scope of less depth than given."""
        found = {self}
        pending = [self]
        while pending:
            fact = pending.pop()
            if fact.scope.depth >= within:
                new = [premise for premise in fact.premises if premise not in found]
                found.update(new)
                pending.extend(new)
        return found
