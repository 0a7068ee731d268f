"""Proofs as JSON by Inspect's ``response_schema``, for endpoints that know JSON Schema and no grammar.

``inspect eval proof_r1_formal/proof -T problems=FILE --solver proof_r1_formal/prove_as_json`` runs it. In: a sample
with the messages that ask for a proof. Out: a completion whose summary is the array that the model wrote. The schema is
that of ``CompletionGrammar.to_json_schema``, inside an object, because endpoints take objects only. Inspect's schemas
have no numbers of elements, so an endpoint may exceed those. Importing this module requires ``inspect_ai``.
"""

from __future__ import annotations

import json

from inspect_ai.model import ChatMessageUser, ResponseSchema
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema

from proof_r1_formal.decoding.grammar import completion_grammar
from proof_r1_formal.integrations.scoring import problem_of
from proof_r1_formal.models.replies import json_object
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue

STEPS = "steps"
"""The key of the array in the object that the model writes."""
_REQUEST = 'Write no thoughts: answer with one JSON object {"steps": […]}, whose array is that of the summary.'


@solver
def prove_as_json(rules: RuleSystem = "train") -> Solver:
    """Ask for a proof as a JSON object, held to the schema of the problem.

    Args:
        rules: name of the rule catalogue.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        problem = problem_of(state.metadata["problem"])
        actions = dict(completion_grammar(problem, catalogue(rules)).actions)
        schema = JSONSchema(
            type="object", properties={STEPS: JSONSchema(**actions)}, required=[STEPS], additionalProperties=False
        )
        state.messages.append(ChatMessageUser(content=_REQUEST))
        state = await generate(state, response_schema=ResponseSchema(name="proof", json_schema=schema, strict=True))
        state.output.completion = completion_of(state.output.completion)
        return state

    return solve


def completion_of(reply: str) -> str:
    """The completion of a reply; a reply without an array of steps stays as it is, so it is not parsed.

    >>> completion_of('{"steps": [{"id": "s1"}]}')
    '<summary>[\\n{"id": "s1"}\\n]</summary>'
    >>> completion_of("I do not know.")
    'I do not know.'
    """
    steps = (json_object(reply) or {}).get(STEPS)
    if not isinstance(steps, list):
        return reply
    elements = ",\n".join([json.dumps(step, ensure_ascii=False).replace("<", "\\u003c") for step in steps])
    return f"<summary>[\n{elements}\n]</summary>"
