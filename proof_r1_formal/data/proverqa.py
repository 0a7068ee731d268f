"""ProverQA records to problems, with or without reference proofs.

A record has ``id``, ``nl2fol`` (English sentence -> formula, in the order of the premises), ``conclusion_fol``,
``question``, ``options`` (``"A) True"`` …) and ``answer`` (a letter); it may have ``difficulty`` and
``canonical_proofs``. Premises become h1, h2, …; the id of the problem is ``<difficulty>/<id>``, or ``<stem>/<id>``
without a difficulty.
"""

from __future__ import annotations

import msgspec

from proof_r1_formal.data.draft import Draft, Origin, StepRecord, describe_member, reference_proofs
from proof_r1_formal.data.problem import Premise, Problem, ReferenceStep, Rejected, three_way_options
from proof_r1_formal.data.records import BadJsonError, Json, JsonObject, plain

DIFFICULTIES = ("easy", "medium", "hard")


class _Proof(msgspec.Struct):
    steps: tuple[StepRecord, ...]


def recognises(record: JsonObject) -> bool:
    """Whether the keys of the record are those of this format."""
    return "nl2fol" in record or "conclusion_fol" in record


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    group, difficulty = origin.stem, origin.stem if origin.stem in DIFFICULTIES else ""
    if "difficulty" in record:
        difficulty = draft.text(record, "difficulty")
        group = difficulty or group
    premises = _premises(draft, record)
    goal = draft.formula("the goal (conclusion_fol)", record.get("conclusion_fol"))
    options = () if goal is None else three_way_options(goal)
    return draft.finish(
        Problem(
            id=f"{group}/{draft.identifier(record, 'id')}",
            premises=premises,
            options=options,
            answer=draft.letter_answer(record, options),
            question=draft.text(record, "question"),
            difficulty=difficulty,
            proofs=_proofs(draft, record.get("canonical_proofs")),
        )
    )


def _premises(draft: Draft, record: JsonObject) -> tuple[Premise, ...]:
    table = record.get("nl2fol")
    if not isinstance(table, JsonObject):
        draft.reject(f"'nl2fol' must be an object from English to formulas; it is {describe_member(record, 'nl2fol')}")
        return ()
    for key in table.repeats():
        draft.note(f"'nl2fol' has {key!r} more than once; every occurrence is a premise")
    return draft.premises(table.members)


def _proofs(draft: Draft, value: Json) -> tuple[tuple[ReferenceStep, ...], ...]:
    if value is None:
        return ()
    try:
        proofs = msgspec.convert(plain(value), tuple[_Proof, ...])
    except (BadJsonError, msgspec.ValidationError) as error:
        draft.note(f"'canonical_proofs' is left out: {error}")
        return ()
    return reference_proofs(proof.steps for proof in proofs)
