"""RuleTaker records to problems: a context and a statement in templated English, of a closed world.

* The original: ``id``, ``context`` and ``questions``, an array of objects with ``id``, ``text`` and ``label``. Each
  question is a problem.
* That of the Hub, one question each: ``context``, ``question`` and ``label`` (``entailment`` or ``not entailment``).

Sentences become h1, h2, …; the id of the problem is ``<stem>/<id of the question>``, or ``<stem>/<line>`` without one.
The answers are unknown: RuleTaker calls false what cannot be shown, even if it is true in other models of the theory.
"""

from __future__ import annotations

from collections.abc import Iterable

from proof_r1_formal.data.draft import Draft, Origin, questions
from proof_r1_formal.data.problem import Problem, Rejected, three_way_options
from proof_r1_formal.data.records import JsonObject

KEYS = "context, questions; or context, question, label"
_LABELS = ("entailment", "not entailment")


def recognises(record: JsonObject) -> bool:
    """Whether the record is one of this format: other datasets have a context and questions, and other labels."""
    return "context" in record and (isinstance(record.get("questions"), list) or record.get("label") in _LABELS)


def parts(record: JsonObject) -> Iterable[JsonObject]:
    """The record of each question."""
    return questions(record, ("context",)) if "questions" in record else (record,)


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    number = draft.identifier(record, "id") if "id" in record else str(origin.line)
    key = "text" if "text" in record else "question"
    goal = draft.statement(record, key)
    draft.closed_world("'label'")
    return draft.finish(
        Problem(
            id=f"{origin.stem}/{number}",
            premises=draft.story(record, "context"),
            options=() if goal is None else three_way_options(goal),
            question=draft.text(record, key),
        )
    )
