"""What ``sample`` holds answers to: ``--constrain``, ``--method guided``, ``--tries`` and ``--feedback``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from proof_r1_formal.commands.common import fail, log
from proof_r1_formal.decoding.guide import Feedback
from proof_r1_formal.decoding.masks import require_llguidance
from proof_r1_formal.models.agents import Agent
from proof_r1_formal.models.agents.direct import Direct
from proof_r1_formal.models.agents.guided import Guided, continues_chats
from proof_r1_formal.models.chat import Model, Sampling
from proof_r1_formal.models.constrain import Constrain, Guidance, Masks, Offer, Offered, find_offer
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.rules.catalogue import catalogue

Unguided: TypeAlias = Literal["direct", "logic-agent", "graph-of-verification"]
Method: TypeAlias = Literal["direct", "guided", "logic-agent", "graph-of-verification"]
"""The way in which a model solves a problem."""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What answers are held to, and how; see the options of the same names."""

    constrain: Constrain
    guided: bool
    rules: str
    solver: str
    tries: int
    feedback: Feedback
    beam: int
    local: bool

    def check(self, method: Method, *, plain: bool) -> None:
        """Report options that do not go together before any cost arises."""
        if method not in ("direct", "guided") or not plain:
            fail("--constrain requires --method direct or guided, without --prompts and --repair")
        if self.local and self.constrain == "json":
            fail("--constrain json is for endpoints; use --constrain grammar for a model in a folder")
        if not self.local and self.guided and self.constrain == "json":
            fail("JSON cannot begin in the middle of an answer; use --constrain auto or grammar with --method guided")
        if self.local:
            require_llguidance()

    async def agent(self, model: Model, sampling: Sampling) -> tuple[Agent, str]:
        """The agent, and a key that identifies it and its settings; says what an endpoint does."""
        names, key = catalogue(self.rules), f"direct {self.rules}"
        guidance = None
        if self.guided:
            verifier = Settings(solver=self.solver, rules=self.rules, evaluation=False).verifier()
            guidance = Guidance(verifier, self.tries, self.feedback, self.beam)
            key = f"guided {self.rules} {self.solver}"
        if self.local:
            return Direct(names, sampling, constraint=Masks(names, self.constrain != "off", guidance)), key
        plain = False
        if self.guided:
            plain = not await continues_chats(model, sampling)
            log(f"guided by continuing answers through {'/completions' if plain else '/chat/completions'}")
        offer = await self._offer(model, sampling, plain)
        if guidance is not None:
            return Guided(names, sampling, guidance.guide, plain, offer), f"{key} {self.tries} {self.feedback}"
        if offer is None:
            return Direct(names, sampling), key
        return Direct(names, sampling, constraint=Offered(offer, names, sampling.thinking == "explicit")), key

    async def _offer(self, model: Model, sampling: Sampling, plain: bool) -> Offer | None:
        """The constraint that is used with an endpoint, if any; the command names it."""
        if self.constrain == "off":
            return None
        offer = await find_offer(model, "grammar" if self.guided else self.constrain, sampling, plain=plain)
        if offer is not None:
            log(f"constrained by the field {offer.name} of the endpoint ({offer.kind})")
        elif self.constrain == "auto":
            log("the endpoint keeps to no constraint that is known here: answers are not constrained")
        else:
            fail(f"the endpoint does not keep to a {self.constrain}; use --constrain auto or off")
        return offer
