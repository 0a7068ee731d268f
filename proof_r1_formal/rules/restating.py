"""Schemata of a user's own catalogue whose steps can never be progress.

In: a catalogue. Out: a sentence for each schema whose conclusion is equivalent to one of its premises, or a logical
truth. Its instances are entailed, and pass RuleCheck. But ProofCheck finds no progress in them, so no such step counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.rules.catalogue import COMPLETE
from proof_r1_formal.rules.schema import Catalogue


def restating_schemata(catalogue: Catalogue) -> Iterator[str]:
    """What is to be said of such schemata, in rules that are not the package's."""
    oracle = Oracle(Answers(EmbeddedSolver(), tables=True))
    for rule in catalogue.rules:
        if rule in COMPLETE.rules:
            continue
        for schema in rule.schemata:
            if isinstance(oracle.valid(schema.conclusion), Entailed):
                yield f"{schema.name}: its conclusion is a logical truth, so a step by it is never progress"
                continue
            for premise in schema.premises:
                if isinstance(oracle.equivalent(premise, schema.conclusion), Entailed):
                    yield (
                        f"{schema.name}: its conclusion is equivalent to the premise {premise}, "
                        "so a step by it is never progress"
                    )
                    break
