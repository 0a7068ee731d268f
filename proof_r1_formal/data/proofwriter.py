"""ProofWriter records (open world) to problems: a theory and a statement in templated English.

A record has ``id``, ``context`` (the theory), ``question`` ("… true, false, or unknown?" and the statement),
``options`` (``"A) True"`` …) and ``answer`` (a letter). Sentences become h1, h2, …; the id of the problem is
``<stem>/<id>``.
"""

from __future__ import annotations

from proof_r1_formal.data.draft import Draft, Origin, asks
from proof_r1_formal.data.problem import Problem, Rejected, three_way_options
from proof_r1_formal.data.records import JsonObject

QUESTION = "is the following statement true, false, or unknown?"


def recognises(record: JsonObject) -> bool:
    """Whether the record is one of this format: other datasets have the same keys, and ask something else."""
    return asks(record, QUESTION)


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    goal = draft.asked(record, QUESTION)
    options = () if goal is None else three_way_options(goal)
    return draft.finish(
        Problem(
            id=f"{origin.stem}/{draft.identifier(record, 'id')}",
            premises=draft.story(record, "context"),
            options=options,
            answer=draft.lettered_answer(record, options),
            question=draft.text(record, "question"),
        )
    )
