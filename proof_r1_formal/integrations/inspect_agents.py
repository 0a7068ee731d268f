"""The training-free agents of the paper as solvers of Inspect, for the task ``proof_r1_formal/proof``.

``inspect eval proof_r1_formal/proof -T problems=FILE --solver proof_r1_formal/logic_agent`` runs one of them, and
``proof_r1_formal/graph_of_verification`` the other. In: a sample with the messages that ask for a proof. Out: the
completion that the agent selects. Neither knows the right answer or asks the verifier. Inspect's log has each call, and
the metadata of a sample count them (``calls``). Importing this module requires ``inspect_ai``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import anyio
import anyio.to_thread
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.model._generate_config import active_generate_config  # the only way to what --cache gave
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema, collect

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations.scoring import problem_of
from proof_r1_formal.models.graph_of_verification import Verified, graph_of, is_valid, judgement, select
from proof_r1_formal.models.logic_agent import combine, deduce, formalisation, reflection, request, views
from proof_r1_formal.models.prompts import Message
from proof_r1_formal.proof.action import Action

CALLS = "calls"
"""The key in the metadata of a sample with the number of calls of models, where messages do not show them all."""
VERIFIER = "verifier"
"""The role of the model that judges steps, for ``--model-role``; without one it is the model that writes them."""

_VALID = JSONSchema(
    type="object", properties={"valid": JSONSchema(type="boolean")}, required=["valid"], additionalProperties=False
)
"""What a judgement is held to, on request."""


def chat_of(messages: Sequence[Message]) -> list[ChatMessage]:
    """Messages of this package as Inspect's."""
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    return [kinds[message["role"]](content=message["content"]) for message in messages]


def _select(state: TaskState, output: ModelOutput, calls: int) -> TaskState:
    """The state with the selected completion."""
    state.output = output
    state.messages.append(output.message)
    state.metadata[CALLS] = calls
    return state


# -- LogicAgent -------------------------------------------------------------------------------------------------------


@solver
def logic_agent(engine: str = "embedded") -> Solver:
    """LogicAgent: views of the claim, a symbolic solver, a reflection, a proof; see ``models.logic_agent``.

    It makes a call for each view (four for a claim), one for the reflection, and one for the proof.

    Args:
        engine: the symbolic solver, a name for ``get_solver``.

    Raises:
        SolverError: there is no solver of this name, or it is not installed.
    """
    deciding, alone = get_solver(engine), anyio.CapacityLimiter(1)  # no solver is made for several threads

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate  # it would add each call to the messages of the proof
        problem, model = problem_of(state.metadata["problem"]), get_model()
        angles = views(problem)
        replies = await collect(*[model.generate(chat_of(formalisation(problem, view))) for view in angles])
        deductions = [
            await anyio.to_thread.run_sync(deduce, view, reply.completion, deciding, limiter=alone)
            for view, reply in zip(angles, replies, strict=True)
        ]
        symbolic = combine(deductions)
        thought = await model.generate(chat_of(reflection(problem, deductions, symbolic)))
        asked = state.user_prompt
        asked.text = asked.text + request(problem, thought.completion, symbolic)
        return _select(state, await model.generate(state.messages), len(angles) + 2)

    return solve


# -- Graph of Verification --------------------------------------------------------------------------------------------


@solver
def graph_of_verification(candidates: int = 3, granularity: int = 1, schema: bool = False) -> Solver:
    """Graph of Verification: several solutions, each judged along its graph; see ``models.graph_of_verification``.

    It makes a call for each solution, and for each block of a solution up to the first that does not pass.

    Args:
        candidates: how many solutions.
        granularity: steps in a block; 0 for the whole solution.
        schema: whether the endpoint holds judgements to a JSON Schema. A small model writes prose otherwise, which
            accepts nothing.

    Raises:
        ProofR1Error: there is no candidate, or the granularity is negative.
    """
    if candidates < 1 or granularity < 0:
        raise ProofR1Error(
            f"candidates={candidates}, granularity={granularity}: at least 1 candidate, and blocks of at least 1 step, "
            "or 0 for the whole solution"
        )
    held = ResponseSchema(name="judgement", json_schema=_VALID, strict=True) if schema else None
    judging = GenerateConfig(temperature=0.0, response_schema=held)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate  # it would add each candidate to the messages
        problem, model = problem_of(state.metadata["problem"]), get_model()
        outputs = await collect(
            *[model.generate(state.messages, config=_cached_apart(number)) for number in range(candidates)]
        )
        judged = await collect(*[_verify(problem, one.completion, granularity or None, judging) for one in outputs])
        chosen = select([verified for verified, _ in judged])
        output = next(one for one in outputs if one.completion == chosen.completion)
        return _select(state, output, candidates + sum([calls for _, calls in judged]))

    return solve


async def _verify(
    problem: Problem, completion: str, granularity: int | None, judging: GenerateConfig
) -> tuple[Verified, int]:
    """A solution after its verification by the model, and the calls that it took."""
    graph, model = graph_of(problem, completion, granularity), get_model(role=VERIFIER)
    passed: list[Action] = []
    for number, block in enumerate(graph.blocks):
        reply = await model.generate(chat_of(judgement(problem, block, passed)), config=judging)
        if not is_valid(reply.completion):
            return Verified(completion, graph.answer, Fraction(number, len(graph.blocks))), number + 1
        passed += block
    return Verified(completion, graph.answer, Fraction(bool(passed))), len(graph.blocks)


def _cached_apart(number: int) -> GenerateConfig:
    """The cache's policy for a candidate: with one entry for all, a cache would make all candidates equal."""
    given = get_model().config.merge(active_generate_config()).cache
    if not given:
        return GenerateConfig()
    policy = given if isinstance(given, CachePolicy) else CachePolicy()
    return GenerateConfig(cache=policy.model_copy(update={"scopes": policy.scopes | {"candidate": str(number)}}))
