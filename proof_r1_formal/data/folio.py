"""FOLIO records to problems, of version 0 (lists of premises) and version 2 (premises joined by newlines).

A record has ``premises`` and ``premises-FOL``, ``conclusion`` and ``conclusion-FOL``, and ``label``; version 2 also
has ``example_id``. In a table, a list is a text as JSON or Python writes it. The id of the problem is
``<stem>/<example_id>``, or ``<stem>/<line>`` where the file has no ids. The data is noisy: formulas are repaired unless
that is turned off, and the notes say what was repaired.
"""

from __future__ import annotations

import ast
import re

from proof_r1_formal.data.draft import Draft, Origin, describe_member
from proof_r1_formal.data.problem import Premise, Problem, Rejected, three_way_options
from proof_r1_formal.data.records import BadJsonError, Json, JsonObject, decode

_LIST = re.compile(r"""\[\s*['"\]]""")
"""The beginning of a list of texts."""


def recognises(record: JsonObject) -> bool:
    """Whether the keys of the record are those of this format."""
    return "premises-FOL" in record or "conclusion-FOL" in record


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    number = draft.identifier(record, "example_id") if "example_id" in record else str(origin.line)
    premises = _premises(draft, record)
    question = draft.text(record, "conclusion")
    goal = draft.formula("the goal (conclusion-FOL)", record.get("conclusion-FOL"))
    options = () if goal is None else three_way_options(goal)
    return draft.finish(
        Problem(
            id=f"{origin.stem}/{number}",
            premises=premises,
            options=options,
            answer=draft.label_answer(record, "label", options),
            question=question,
        )
    )


def _premises(draft: Draft, record: JsonObject) -> tuple[Premise, ...]:
    formulas = _items(draft, record, "premises-FOL")
    if formulas is None:
        what = describe_member(record, "premises-FOL")
        cell = " that begins with '[' and is not a list of JSON or Python" if what == "a text" else ""
        draft.reject(f"'premises-FOL' must be an array or a text; it is {what}{cell}")
        return ()
    english = [item for item in _items(draft, record, "premises") or [] if isinstance(item, str)]
    if len(english) != len(formulas):
        # Which sentence belongs to which formula is unknown; a wrong pair would be worse than none.
        draft.note(f"{len(english)} premises in English but {len(formulas)} formulas; the English is left out")
        english = [""] * len(formulas)
    return draft.premises(zip(english, formulas, strict=True))


def _items(draft: Draft, record: JsonObject, key: str) -> list[Json] | None:
    """The items of an array, or the lines of a text without blank ones at its ends; None for anything else."""
    value = record.get(key)
    if isinstance(value, str):
        listed = _list(value) if value.startswith("[") else None
        # A formula may begin with a bracket, too. It is one of several lines.
        if listed is not None or (value.startswith("[") and (_LIST.match(value) or "\n" not in value)):
            return listed
        lines = re.split(r"\r?\n", value)
        filled = [number for number, line in enumerate(lines) if line.strip()]
        kept = lines[filled[0] : filled[-1] + 1] if filled else []
        if len(kept) != len(lines):
            draft.note(f"{key!r} begins or ends with blank lines; they are left out")
        return [*kept]
    return value if isinstance(value, list) else None


def _list(text: str) -> list[Json] | None:
    """The texts of a list that stands in a cell of a table; None unless it is written as JSON or as Python does."""
    try:
        found: Json = decode(text)
    except BadJsonError:
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
        # Python reads the texts of NumPy, which have no comma between them, as one text.
        return found if isinstance(found, list) and repr(found) == text.strip() else None
    return found if isinstance(found, list) else None
