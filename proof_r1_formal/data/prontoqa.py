"""PrOntoQA records to problems: an ontology, a fact and a statement in templated English.

A record has ``id``, ``context``, ``question`` ("… true or false?" and the statement), ``options`` (``"A) True"``,
``"B) False"``), ``answer`` (a letter) and perhaps ``explanation``, a chain of thought: premises as they are used, and
behind each pair of a known fact and a rule what follows. It becomes the reference proof, if it has that shape.
Sentences become h1, h2, …; the id of the problem is ``<stem>/<id>``. Nothing is unknown here: there are two options.
"""

from __future__ import annotations

from proof_r1_formal.data.draft import Draft, Origin, asks, describe_member
from proof_r1_formal.data.problem import GOAL_UNCERTAIN, Premise, Problem, ReferenceStep, Rejected, three_way_options
from proof_r1_formal.data.records import JsonObject
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show

QUESTION = "Is the following statement true or false?"
_RULE = "IMPLICATION_ELIMINATION"


def recognises(record: JsonObject) -> bool:
    """Whether the record is one of this format: other datasets have the same keys, and ask something else."""
    return asks(record, QUESTION)


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    goal = draft.asked(record, QUESTION)
    options = tuple(o for o in three_way_options(goal) if o.id != GOAL_UNCERTAIN) if goal is not None else ()
    premises = draft.story(record, "context")
    answer = draft.lettered_answer(record, options)
    return draft.finish(
        Problem(
            id=f"{origin.stem}/{draft.identifier(record, 'id')}",
            premises=premises,
            options=options,
            answer=answer,
            question=draft.text(record, "question"),
            proofs=_proofs(draft, record, premises, answer),
        )
    )


def _proofs(
    draft: Draft, record: JsonObject, premises: tuple[Premise, ...], answer: str | None
) -> tuple[tuple[ReferenceStep, ...], ...]:
    if "explanation" not in record or answer is None:
        return ()
    explanation = record.get("explanation")
    if not isinstance(explanation, list) or not all(isinstance(sentence, str) for sentence in explanation):
        draft.note(
            f"'explanation' is left out: it must be an array of texts; it is {describe_member(record, 'explanation')}"
        )
        return ()
    thoughts = [draft.sentence(f"sentence {n} of the explanation", str(text)) for n, text in enumerate(explanation, 1)]
    steps = _steps([thought for thought in thoughts if thought is not None], premises)
    if steps is None:
        draft.note("'explanation' is left out: it does not derive each sentence from two before it")
        return ()
    last = steps[-1]
    return ((*steps, ReferenceStep(answer, (last.id,), last.conclusion, GOAL_BINDING)),)


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
