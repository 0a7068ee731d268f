"""The direct agent: one question, whose reply is the completion."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.models.chat import Model, Sampling
from proof_r1_formal.models.constrain import Constraint
from proof_r1_formal.models.prompts import PromptSet, messages
from proof_r1_formal.rules.schema import Catalogue


@dataclass(frozen=True, slots=True)
class Direct:
    """Asks for the proof.

    Attributes:
        rules: that the proof may name.
        sampling: of the reply.
        prompts: in which format problems are written.
        constraint: on the form of the reply, if any.
    """

    rules: Catalogue
    sampling: Sampling
    prompts: PromptSet = "default"
    constraint: Constraint | None = None

    async def solve(self, problem: Problem, model: Model) -> str:
        """See :class:`~proof_r1_formal.models.agents.Agent`."""
        chat = messages(problem, rules=self.rules, thinking=self.sampling.thinking, prompts=self.prompts)
        if self.constraint is None:
            return (await model.reply(chat, self.sampling)).text
        reply = await model.reply(chat, replace(self.sampling, form=self.constraint.form(problem)))
        return self.constraint.completion(reply.text)
