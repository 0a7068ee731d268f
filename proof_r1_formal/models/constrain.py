"""Holds answers to their form: by masks on the tokens of a model in a folder, or by what an endpoint offers.

In: a problem. Out: the :class:`~proof_r1_formal.models.chat.Form` of the reply, and the completion that a reply is. An
endpoint is asked for one fixed word under each constraint that it might know; the first that brings the word is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.decoding.grammar import CompletionGrammar, completion_grammar
from proof_r1_formal.decoding.guide import Feedback, Guide
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.models.chat import CallError, Form, Message, Model, Sampling
from proof_r1_formal.proof.judge import Judge
from proof_r1_formal.proof.session import VerifierSession
from proof_r1_formal.rules.schema import Catalogue

Constrain: TypeAlias = Literal["auto", "json", "grammar", "off"]
"""What answers are held to: a grammar, a JSON Schema, the stricter of the two that is offered, or nothing."""
_WORD = "proof-r1"
_PROBE: tuple[Message, ...] = ({"role": "user", "content": "Say hello."},)
_PROBE_TOKENS = 1024


class Constraint(Protocol):
    """Holds answers to their form."""

    def form(self, problem: Problem) -> Form:
        """What the reply to the question of a problem is held to.

        Raises:
            CallError: the form cannot be made for the problem.
        """

    def completion(self, text: str) -> str:
        """The completion that a reply is."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """How steps are verified while they are written; see :class:`~proof_r1_formal.decoding.guide.Guide`.

    Attributes:
        beam: see :class:`~proof_r1_formal.decoding.sampler.DecodingRequest`.
    """

    judge: Judge
    tries: int = 4
    feedback: Feedback = "none"
    beam: int = 1

    def guide(self, problem: Problem) -> Guide:
        """What verifies the steps of one completion.

        Raises:
            CallError: the problem uses a symbol in two ways.
        """
        try:
            return Guide(VerifierSession(problem, self.judge), tries=self.tries, feedback=self.feedback)
        except ProofR1Error as error:
            raise CallError(str(error), again=False) from error


@dataclass(frozen=True, slots=True)
class Masks:
    """Holds a model in a folder to the grammar of answers, with any thoughts before it.

    Attributes:
        rules: that the steps may name.
        constrained: whether there is a grammar at all.
        guidance: how steps are verified; they are not if None.
    """

    rules: Catalogue
    constrained: bool = True
    guidance: Guidance | None = None

    def form(self, problem: Problem) -> Form:
        """See :class:`Constraint`."""
        key = ["grammar"] if self.constrained else []
        grammar = grammar_of(problem, self.rules).to_llguidance(thoughts=True) if self.constrained else None
        if (guidance := self.guidance) is None:
            return Form(" ".join(key), grammar=grammar)
        key += ["guided", str(guidance.tries), guidance.feedback]
        key += ["beam", str(guidance.beam)] if guidance.beam > 1 else []
        return Form(" ".join(key), grammar=grammar, guide=lambda: guidance.guide(problem), beam=guidance.beam)

    def completion(self, text: str) -> str:
        """See :class:`Constraint`."""
        return text


def grammar_of(problem: Problem, rules: Catalogue) -> CompletionGrammar:
    """See :func:`~proof_r1_formal.decoding.grammar.completion_grammar`.

    Raises:
        CallError: there is none.
    """
    try:
        return completion_grammar(problem, rules)
    except ProofR1Error as error:
        raise CallError(str(error), again=False) from error


# -- endpoints --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Offer:
    """A field of requests by which an endpoint takes what a reply must be.

    Attributes:
        name: of the field.
        kind: what it takes.
        value: of the field, for a grammar in GBNF or for a JSON Schema of an object.
    """

    name: str
    kind: Literal["grammar", "json"]
    value: Callable[[str | Mapping[str, object]], object]


OFFERS = (
    Offer("structured_outputs", "grammar", lambda grammar: {"grammar": grammar}),  # vLLM
    Offer("grammar", "grammar", lambda grammar: grammar),  # llama.cpp
    Offer("ebnf", "grammar", lambda grammar: grammar),  # SGLang
    Offer(
        "response_format",
        "json",
        lambda schema: {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}},
    ),
)
"""In the order in which they are tried: grammars say more."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Holds a model behind an endpoint to what the endpoint offers.

    Attributes:
        offer: that it uses.
        rules: that the steps may name.
        thoughts: whether an answer in JSON has its thoughts in front; a grammar always allows them.
    """

    offer: Offer
    rules: Catalogue
    thoughts: bool

    def form(self, problem: Problem) -> Form:
        """See :class:`Constraint`."""
        grammar = grammar_of(problem, self.rules)
        what: str | Mapping[str, object] = grammar.to_gbnf(thoughts=True)
        if self.offer.kind == "json":
            texts = {"thoughts": {"type": "string"}} if self.thoughts else {}
            what = _object({**texts, "summary": grammar.actions})
        return Form(self.offer.name, fields={self.offer.name: self.offer.value(what)})

    def completion(self, text: str) -> str:
        """See :class:`Constraint`; a reply that is not such a JSON object is the completion itself."""
        if self.offer.kind == "grammar":
            return text
        before, end, body = text.rpartition("</think>")
        try:
            value = json.loads(body, object_pairs_hook=_once)
        except (ValueError, RecursionError):
            return text
        if not isinstance(value, dict) or not isinstance(value.get("summary"), list):
            return text
        thoughts = value.get("thoughts")
        if isinstance(thoughts, str):
            before, end = f"{before}{end}<think>\n{thoughts}\n", "</think>"
        actions = json.dumps(value["summary"], ensure_ascii=False).replace("<", "\\u003c")
        return f"{before}{end}{chr(10) * 2 if end else ''}<summary>{actions}</summary>"


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON no key of which is there twice; what hides one would hide a fault of the answer."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


async def find_offer(
    model: Model, wanted: Literal["auto", "json", "grammar"], sampling: Sampling, *, plain: bool = False
) -> Offer | None:
    """The first constraint that a model keeps to, if there is one.

    Each is tried by a short call that no journal has.

    Args:
        model: behind an endpoint.
        wanted: which constraints are tried.
        sampling: of replies.
        plain: whether the endpoint gets one text in place of messages.

    Raises:
        ModelError: the model cannot be used.
    """
    for offer in OFFERS:
        if wanted in ("auto", offer.kind) and await _keeps(model, offer, sampling, plain):
            return offer
    return None


async def _keeps(model: Model, offer: Offer, sampling: Sampling, plain: bool) -> bool:
    schema = _object({"word": {"enum": [_WORD]}})
    value = offer.value(schema if offer.kind == "json" else f'root ::= "{_WORD}"\n')
    form = Form("", fields={offer.name: value}, plain=plain)
    tokens = min(sampling.max_tokens, _PROBE_TOKENS)
    try:
        reply = await model.reply(_PROBE, replace(sampling, max_tokens=tokens, form=form))
    except CallError:  # it refuses the field
        return False
    said = reply.text.rpartition("</think>")[2].strip()
    if offer.kind == "grammar":
        return said == _WORD
    try:
        return bool(json.loads(said) == {"word": _WORD})
    except (ValueError, RecursionError):
        return False
