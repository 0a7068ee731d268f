"""PrOntoQA records to problems: an ontology, a fact and a statement in templated English, in two forms.

* The original, also of PrOntoQA-OOD: an object of examples, each with a ``test_example`` of ``question`` (the
  ontology), ``query`` (``True or false: …`` or ``Prove: …``), ``chain_of_thought`` and perhaps ``answer``. Each example
  is a problem; a note counts its examples in context, which are left out.
* With options: ``id``, ``context``, ``question`` ("… true or false?" and the statement), ``options`` (``"A) True"``,
  ``"B) False"``), ``answer`` (a letter) and perhaps ``explanation``.

The chain of thought, or explanation, has premises as they are used, and after each pair of a known fact and a rule
what follows. It becomes the reference proof, if it has that shape. Sentences become h1, h2, …; the id of the problem is
``<stem>/<id>``. Nothing is unknown here: there are two options.
"""

from __future__ import annotations

from collections.abc import Iterable

from proof_r1_formal.data.draft import Draft, Origin, asks, describe_member
from proof_r1_formal.data.problem import (
    GOAL_TRUE,
    GOAL_UNCERTAIN,
    Premise,
    Problem,
    ReferenceStep,
    Rejected,
    three_way_options,
)
from proof_r1_formal.data.records import Json, JsonObject
from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show

QUESTION = "Is the following statement true or false?"
KEYS = f"examples with test_example; or context, question '{QUESTION}'"
_PROVE = "Prove:"
_QUERIES = ("True or false:", _PROVE)
_OTHERS = "examples in context"
_RULE = "IMPLICATION_ELIMINATION"


def recognises(record: JsonObject) -> bool:
    """Whether the record is one of this format: other datasets have the same keys, and ask something else."""
    original = any(_is_example(value) for _, value in record.members) or _query(record) is not None
    return original or asks(record, QUESTION)


def parts(record: JsonObject) -> Iterable[JsonObject]:
    """The test example of each example, with its id and the number of the others."""
    if not any(_is_example(value) for _, value in record.members):
        return (record,)
    found = []
    for key, example in record.members:
        test = example.get("test_example") if isinstance(example, JsonObject) else None
        others = len(example.members) - 1 if isinstance(example, JsonObject) else 0
        known = test.members if isinstance(test, JsonObject) else ()
        found.append(JsonObject((("id", key), *known, (_OTHERS, others))))
    return found


def _is_example(value: Json) -> bool:
    return isinstance(value, JsonObject) and "test_example" in value


def _query(record: JsonObject) -> tuple[str, str] | None:
    """How the query of a record begins, and the sentence after it."""
    text = record.get("query")
    for start in _QUERIES:
        if isinstance(text, str) and text.startswith(start):
            return start, text.removeprefix(start)
    return None


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    original, query = "query" in record, _query(record)
    if not original:
        goal = draft.question_goal(record, QUESTION)
    elif query is None:
        draft.reject(
            f"'query' must be one of {' '.join(_QUERIES)} and a sentence; it is {describe_member(record, 'query')}"
        )
        goal = None
    else:
        goal = draft.sentence("the goal (query)", query[1].strip())
    options = tuple(o for o in three_way_options(goal) if o.id != GOAL_UNCERTAIN) if goal is not None else ()
    premises = draft.story(record, "question" if original else "context")
    if not original:
        answer = draft.letter_answer(record, options)
    elif query is not None and query[0] == _PROVE and "answer" not in record:
        answer = GOAL_TRUE
    else:
        answer = draft.label_answer(record, "answer", options)
    if others := record.get(_OTHERS):
        draft.note(f"examples in context are left out ({others})")
    return draft.finish(
        Problem(
            id=f"{origin.stem}/{draft.identifier(record, 'id')}",
            premises=premises,
            options=options,
            answer=answer,
            question=draft.text(record, "query" if original else "question"),
            proofs=_proofs(draft, record, "chain_of_thought" if original else "explanation", premises, answer),
        )
    )


def _proofs(
    draft: Draft, record: JsonObject, key: str, premises: tuple[Premise, ...], answer: str | None
) -> tuple[tuple[ReferenceStep, ...], ...]:
    if key not in record or answer is None:
        return ()
    from proof_r1_formal.data.english import parse_english  # it loads a grammar

    explanation = record.get(key)
    if not isinstance(explanation, list) or not all(isinstance(sentence, str) for sentence in explanation):
        draft.note(f"{key!r} is left out: it must be an array of texts; it is {describe_member(record, key)}")
        return ()
    thoughts = []
    for number, sentence in enumerate(explanation, 1):
        try:
            thoughts.append(parse_english(str(sentence)))
        except ParseError as error:
            draft.note(f"{key!r} is left out: sentence {number}: {error.summary}")
            return ()
    steps = _steps(thoughts, premises)
    if steps is None:
        draft.note(f"{key!r} is left out: it does not derive each sentence from two before it")
        return ()
    return ((*steps, ReferenceStep(answer, (steps[-1].id,), steps[-1].conclusion, GOAL_BINDING)),)


def _steps(thoughts: list[Formula], premises: tuple[Premise, ...]) -> list[ReferenceStep] | None:
    """The steps of a chain of thought; None if it is not a derivation."""
    known = {premise.formula: premise.id for premise in premises}
    before: list[str] = []  # the thoughts since the last step, including that step
    steps: list[ReferenceStep] = []
    for thought in thoughts:
        if thought in known:
            before.append(known[thought])
        elif len(before) != 2:
            return None
        else:
            step = ReferenceStep(f"s{len(steps) + 1}", (before[1], before[0]), show(thought), _RULE)
            steps.append(step)
            known[thought] = step.id
            before = [step.id]
    return steps if steps and len(before) == 1 else None
