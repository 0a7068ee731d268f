"""ProofWriter records to problems: a theory and a statement in templated English, in three forms.

* The original: ``id``, ``theory`` and ``questions``, an object of objects with ``question`` and ``answer`` (``true``,
  ``false`` or ``"Unknown"``). Each question is a problem.
* That of the Hub, one question each: ``id``, ``theory``, ``question`` and ``answer``.
* With options: ``id``, ``context`` (the theory), ``question`` ("… true, false, or unknown?" and the statement),
  ``options`` (``"A) True"`` …) and ``answer`` (a letter).

Sentences become h1, h2, …; the id of the problem is ``<stem>/<id>``, followed by ``_<question>`` in the original and by
``_<line>`` on the Hub, where the questions about a theory share its id. A label counts only in an open world (OWA, in
the id): in a closed one, what cannot be shown is called false. Records of NatLang, which people paraphrased, are
rejected unless all of their sentences are templated English.
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
    return questions(record, ("id", "theory")) if "questions" in record else (record,)


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    number = draft.identifier(record, "part" if "part" in record else "id")
    answer = None
    if "theory" not in record:
        theory, goal = "context", draft.question_goal(record, QUESTION)
        options = () if goal is None else three_way_options(goal)
        answer = draft.letter_answer(record, options)
    else:
        theory, goal = "theory", draft.statement(record, "question")
        options = () if goal is None else three_way_options(goal)
        if "OWA" in number:
            answer = draft.label_answer(record, "answer", options)
        else:
            draft.closed_world("'answer'")
        if "part" not in record:
            number += f"_{origin.line}"
    return draft.finish(
        Problem(
            id=f"{origin.stem}/{number}",
            premises=draft.story(record, theory),
            options=options,
            answer=answer,
            question=draft.text(record, "question"),
        )
    )
