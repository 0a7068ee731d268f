"""ProofWriter records to problems: a theory and a statement in templated English, in three forms.

* The original: ``id``, ``theory`` and ``questions``, an object of objects with ``question`` and ``answer`` (``true``,
  ``false`` or ``"Unknown"``). Each question is a problem.
* That of the Hub, one question each: ``id``, ``theory``, ``question`` and ``answer``.
* With options: ``id``, ``context`` (the theory), ``question`` ("… true, false, or unknown?" and the statement),
  ``options`` (``"A) True"`` …) and ``answer`` (a letter).

Sentences become h1, h2, …; the id of the problem is ``<stem>/<id>``, and ``<stem>/<id>_<question>`` in the original.
A label counts only in an open world (OWA, in the id): in a closed one, what cannot be shown is called false. Records
of NatLang, which people paraphrased, are rejected unless all of their sentences are templated English.
"""

from __future__ import annotations

from collections.abc import Iterable

from proof_r1_formal.data.draft import Draft, Origin, asks, questions
from proof_r1_formal.data.problem import Problem, Rejected, three_way_options
from proof_r1_formal.data.records import JsonObject

QUESTION = "is the following statement true, false, or unknown?"
KEYS = f"theory, question or questions; or context, question '… {QUESTION}'"


def recognises(record: JsonObject) -> bool:
    """Whether the record is one of this format: other datasets have the same keys, and ask something else."""
    return ("theory" in record and ("questions" in record or "question" in record)) or asks(record, QUESTION)


def parts(record: JsonObject) -> Iterable[JsonObject]:
    """The record of each question."""
    return questions(record, ("theory",)) if "questions" in record else (record,)


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    number = draft.identifier(record, "id")
    theory = "theory" if "theory" in record else "context"
    goal = draft.asked(record, QUESTION) if theory == "context" else draft.statement(record, "question")
    options = () if goal is None else three_way_options(goal)
    answer = None
    if theory == "context":
        answer = draft.lettered_answer(record, options)
    elif "OWA" in number:
        answer = draft.labelled_answer(record, "answer", options)
    else:
        draft.closed_world("'answer'")
    return draft.finish(
        Problem(
            id=f"{origin.stem}/{number}",
            premises=draft.story(record, theory),
            options=options,
            answer=answer,
            question=draft.text(record, "question"),
        )
    )
