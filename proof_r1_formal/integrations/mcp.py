"""An MCP server: an agent checks its reasoning while it reasons. Requires the extra ``mcp``.

In: a pool of workers. Out: a server of the ``mcp`` SDK with six tools. Each returns a typed result, and its reasons as
text for the model. The work is done by :mod:`~proof_r1_formal.integrations.mcp_tools` in a worker, which has a timeout.
What an agent gave and cannot be used is an error of the tool, with a sentence that says what to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, TypeAlias

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from proof_r1_formal.data.problem import ReferenceStep
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations import mcp_tools
from proof_r1_formal.integrations.mcp_results import (
    Answered,
    Certified,
    Entailment,
    ParsedFormula,
    ProofCheck,
    ProofFound,
    StepVerdict,
)
from proof_r1_formal.integrations.mcp_tools import (
    MAX_PREMISES,
    MAX_STEPS,
    MAX_TEXT,
    PROOF_BUDGET,
    QUESTION_BUDGET,
    AnswerLabel,
)
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.serve import desk
from proof_r1_formal.text.conventions import NotationName
from proof_r1_formal.version import __version__
from proof_r1_formal.workers.pool import WorkerPool

_INSTRUCTIONS = (
    "Check proofs in first-order logic. Write premises and a goal as formulas, such as ∀x (cat(x) → animal(x)); the "
    "premises get the ids h1, h2, … A step has an id, the ids of at most four dependencies, a conclusion and the name "
    "of a rule, such as MODUS_PONENS. Use check_step while you reason, and check_proof with `answer` at the end. "
    "A verdict is true only if its evidence was rechecked; undecided is not no."
)
"""What the server tells the model."""


class _OnlyKnown(BaseModel):
    """An object of an agent, which has no other fields than these: one that is dropped may be a word misspelt."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: object) -> object:
        names = [field.alias or name for name, field in cls.model_fields.items()]
        if isinstance(given, dict) and (unknown := [name for name in given if name not in names]):
            shown = ", ".join([repr(name) for name in unknown])
            raise ValueError(f"unknown name{'s' * (len(unknown) > 1)} {shown}; the names here are {', '.join(names)}")
        return given


class Step(_OnlyKnown):
    """A step of a proof, as an agent writes it."""

    id: str
    dependencies: tuple[str, ...]
    conclusion: str
    rule: str

    def reference(self) -> ReferenceStep:
        """The step as the work of the tools takes it."""
        return ReferenceStep(self.id, self.dependencies, self.conclusion, self.rule)


_Formula: TypeAlias = Annotated[str, Field(max_length=MAX_TEXT)]
Premises: TypeAlias = Annotated[
    list[_Formula], Field(max_length=MAX_PREMISES, description="Formulas; they get the ids h1, h2, …")
]
Goal: TypeAlias = Annotated[_Formula, Field(description="The formula in question.")]
Steps: TypeAlias = Annotated[list[Step], Field(max_length=MAX_STEPS, description="Steps of the proof, in order.")]
Rules: TypeAlias = Annotated[RuleSystem, Field(description="Rule catalogue.")]
Answer: TypeAlias = Annotated[
    AnswerLabel | None,
    Field(description="Adds the last step, which states this answer and depends on the last of the steps."),
]
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


class Tools:
    """The tools; a worker of the pool does the work of a call. Their docstrings are what the model reads."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    async def _ask(self, job: Callable[[], Answered[Any]]) -> CallToolResult:
        try:
            found = await asyncio.wrap_future(self._pool.submit(desk.do, job))
        except ProofR1Error as error:
            raise ToolError(f"{error}") from None
        return CallToolResult(content=[TextContent(text=found.text)], structured_content=asdict(found.result))

    async def check_proof(
        self, premises: Premises, goal: Goal, steps: Steps, answer: Answer = None, rules: Rules = "train"
    ) -> Annotated[CallToolResult, ProofCheck]:
        """Check every step of a proof and its answer; name the first step that fails a check, and say why."""
        return await self._ask(partial(mcp_tools.check_proof, premises, goal, _references(steps), answer, rules))

    async def check_step(
        self,
        premises: Premises,
        goal: Goal,
        steps: Steps,
        step: Annotated[Step, Field(description="The step to be checked after them.")],
        rules: Rules = "train",
    ) -> Annotated[CallToolResult, StepVerdict]:
        """Check one step after the steps before it: form, entailment, rule and progress."""
        return await self._ask(
            partial(mcp_tools.check_step, premises, goal, _references(steps), step.reference(), rules)
        )

    async def prove(
        self,
        premises: Premises,
        goal: Goal,
        budget: Annotated[int, Field(ge=1, le=PROOF_BUDGET, description="Most steps of the search.")] = PROOF_BUDGET,
        rules: Rules = "train",
    ) -> Annotated[CallToolResult, ProofFound]:
        """Search for a short proof of the goal or its negation, or for two countermodels if neither follows."""
        return await self._ask(partial(mcp_tools.prove, premises, goal, budget, rules))

    async def countermodel(
        self,
        premises: Premises,
        conclusion: Annotated[_Formula, Field(description="The formula that may not follow.")],
        budget: Annotated[
            int, Field(ge=1, le=QUESTION_BUDGET, description="Most steps of the question.")
        ] = QUESTION_BUDGET,
    ) -> Annotated[CallToolResult, Entailment]:
        """Search for a finite structure in which the premises hold and the conclusion does not."""
        return await self._ask(partial(mcp_tools.countermodel, premises, conclusion, budget))

    async def parse_formula(
        self,
        formula: Annotated[_Formula, Field(description="A formula in any notation.")],
        notation: Annotated[NotationName, Field(description="Its conventions, where notations clash.")] = "auto",
        repair: Annotated[bool, Field(description="Repair slips, and name the repairs.")] = False,
    ) -> Annotated[CallToolResult, ParsedFormula]:
        """Read a formula. A text with two readings is refused with both."""
        return await self._ask(partial(mcp_tools.parse_formula, formula, notation, repair))

    async def certify(
        self,
        premises: Premises,
        goal: Goal,
        steps: Steps,
        answer: Answer = None,
        kernel: Annotated[bool, Field(description="Have Lean's kernel check the theorem.")] = False,
        rules: Rules = "train",
    ) -> Annotated[CallToolResult, Certified]:
        """Turn a verified answer into a theorem for Lean and Isabelle."""
        return await self._ask(partial(mcp_tools.certify, premises, goal, _references(steps), answer, kernel, rules))


def build(pool: WorkerPool) -> MCPServer:
    """The server. The pool does the work; whoever started it closes it."""
    tools = Tools(pool)
    functions: tuple[Callable[..., Any], ...] = (
        tools.check_proof,
        tools.check_step,
        tools.prove,
        tools.countermodel,
        tools.parse_formula,
        tools.certify,
    )
    return MCPServer(
        "proof-r1",
        title="proof-r1-formal",
        instructions=_INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        tools=list(map(_tool, functions)),
    )


def _references(steps: Sequence[Step]) -> tuple[ReferenceStep, ...]:
    return tuple([step.reference() for step in steps])


def _tool(function: Callable[..., Any]) -> Tool:
    """A tool that refuses unknown arguments; the SDK drops them."""
    tool = Tool.from_function(function, annotations=_READ_ONLY, structured_output=True)
    known = tool.fn_metadata.arg_model
    bases: Any = (_OnlyKnown, known)
    tool.fn_metadata.arg_model = create_model(known.__name__, __base__=bases)
    tool.parameters = tool.fn_metadata.arg_model.model_json_schema(by_alias=True)
    return tool
