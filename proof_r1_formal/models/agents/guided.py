"""Guided decoding of a model behind an endpoint: it writes one step at a time, and failing steps are taken back.

Each call continues the answer as far as it stays and ends with the step. It is the last message of the chat, which
vLLM and SGLang continue if asked to (``continue_final_message``), llama.cpp and Ollama without being asked; or, where
that is refused, all messages and the answer are one text (``/completions``), as for a model without a chat template.
If the endpoint takes a grammar, each call has one that begins at the end of the answer so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.decoding.grammar import STEPS, After, CompletionGrammar
from proof_r1_formal.decoding.guide import END, SUMMARY, Guide, Kept, TakenBack, Watch, in_summary
from proof_r1_formal.models.chat import CallError, Form, Message, Model, ModelError, Reply, Sampling
from proof_r1_formal.models.constrain import Offer, grammar_of
from proof_r1_formal.models.prompts import PromptSet, messages
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue

CHARACTERS = 128
"""The most characters of a token: tokenizers have tokens of that many blanks."""
_CONTINUE: dict[str, object] = {"continue_final_message": True, "add_generation_prompt": False}
_PROBE: tuple[Message, ...] = (
    {"role": "user", "content": "Count to five."},
    {"role": "assistant", "content": "One, two,"},
)


async def continues_chats(model: Model, sampling: Sampling) -> bool:
    """Whether an endpoint takes a chat whose last message is to be continued; asks it, in a short call."""
    try:
        await model.reply(_PROBE, replace(sampling, max_tokens=1, form=Form("", fields=_CONTINUE)))
    except (CallError, ModelError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Guided:
    """Asks for the proof, step by step.

    Attributes:
        rules: that the proof may name.
        sampling: of the replies; ``max_tokens`` is what a whole completion may take, steps taken back included, and it
            bounds the characters, too.
        guide: what verifies the steps of one completion.
        plain: whether the endpoint gets one text in place of messages.
        offer: the field that takes a grammar, if there is one.
        prompts: in which format problems are written.
    """

    rules: Catalogue
    sampling: Sampling
    guide: Callable[[Problem], Guide]
    plain: bool = False
    offer: Offer | None = None
    prompts: PromptSet = "default"

    async def solve(self, problem: Problem, model: Model) -> str:
        """See :class:`~proof_r1_formal.models.agents.Agent`."""
        chat = messages(problem, rules=self.rules, thinking=self.sampling.thinking, prompts=self.prompts)
        watch = Watch(self.guide(problem))
        grammar = None if self.offer is None else grammar_of(problem, self.rules)
        text = shown = ""  # what stays, and what the model is shown of the answer
        left = self.sampling.max_tokens
        while left > 0:
            stop = "}" if in_summary(text) else SUMMARY
            held = {} if grammar is None else self._held(grammar, text, watch)
            reply = await model.reply([*chat, *self._answer(shown)], self._sampling(shown, stop, left, held))
            written, over = _written(reply, stop)
            most = left * CHARACTERS
            left -= _spent(reply)
            written, over = written[:most], over or len(written) > most
            text, shown = text + written, shown + written
            while (seen := watch.look(text)) is not None:
                match seen:
                    case Kept(None):
                        continue
                    case Kept(str() as answer):
                        return answer
                    case TakenBack():
                        shown = shown[: len(shown) - (len(text) - seen.end)] + seen.remark
                        text, over = text[: watch.start], seen.over
                        shown = text if watch.guide.feedback == "none" else shown
                        break
            if grammar is not None and watch.kept and watch.kept[-1].rule == GOAL_BINDING:  # which is the last step
                text = f"{text[: watch.start]}\n]{END}"
            if over or END in text:
                break
        before, end, _ = text.partition(END)
        return before + end

    def _answer(self, shown: str) -> list[Message]:
        return [{"role": "assistant", "content": shown}] if shown or self.plain else []

    def _held(self, grammar: CompletionGrammar, text: str, watch: Watch) -> Mapping[str, object]:
        """The field that constrains the next step; none if the text so far is not in the grammar."""
        after: After = min(len(watch.kept), STEPS)
        if watch.start != len(text):
            if text and not text.endswith(SUMMARY):
                return {}
            after = "<summary>" if text else ""
        assert self.offer is not None  # the grammar was made for it
        return {self.offer.name: self.offer.value(grammar.to_gbnf(thoughts=True, after=after))}

    def _sampling(self, shown: str, stop: str, left: int, held: Mapping[str, object]) -> Sampling:
        fields = {"stop": [stop], **held, **(_CONTINUE if shown and not self.plain else {})}
        key = " ".join([f"until {stop}", *held])
        return replace(self.sampling, max_tokens=left, form=Form(key, fields=fields, plain=self.plain))


def _written(reply: Reply, stop: str) -> tuple[str, bool]:
    """What a call added to the answer, and whether nothing more comes.

    Most endpoints leave out the text that stopped them, and do not say whether it was that or the end of the answer. So
    it is put back; the next reply is empty if it was the end.
    """
    if reply.finish != "stop" or not reply.text or END in reply.text:
        return reply.text, True
    return reply.text if reply.text.endswith(stop) else reply.text + stop, False


def _spent(reply: Reply) -> int:
    """The tokens of a reply: at least one, and as many as its characters need, whatever the endpoint counts.

    If the endpoint does not count them, each character is a token.
    """
    return max(1, len(reply.text) if reply.tokens is None else reply.tokens, len(reply.text) // CHARACTERS)
