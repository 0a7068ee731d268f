"""Where the thoughts of a completion end, in the formats in which models think.

In: the text of a completion, whose thoughts may have begun in the prompt. Out: the character after them. A draft of the
answer among the thoughts does not count, so a reader looks for the answer from there on. The marks are those of the
parsers for reasoning in vLLM 0.29 and of the models' chat templates.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class ThoughtFormat(NamedTuple):
    """How thoughts are written.

    Attributes:
        models: that write so.
        opening: the mark before thoughts, which may stand in the prompt.
        closing: the mark after them.
        answer: what stands between thoughts and answer; the mark ``closing`` begins or ends it.
    """

    models: str
    opening: str
    closing: str
    answer: str


def _tags(models: str, opening: str, closing: str) -> ThoughtFormat:
    return ThoughtFormat(models, opening, closing, closing)


FORMATS: Final = (
    _tags("the contract of the prompts; DeepSeek, Qwen, GLM, Olmo, Phi and most others", "<think>", "</think>"),
    _tags("prompts that ask for it", "<thinking>", "</thinking>"),
    _tags("EXAONE Deep", "<thought>", "</thought>"),
    _tags("prompts that ask for it", "<reasoning>", "</reasoning>"),
    _tags("Mistral", "[THINK]", "[/THINK]"),
    _tags("Seed-OSS", "<seed:think>", "</seed:think>"),
    _tags("MiniMax M3", "<mm:think>", "</mm:think>"),
    _tags("Kimi-VL", "◁think▷", "◁/think▷"),
    _tags("Command A Reasoning", "<|START_THINKING|>", "<|END_THINKING|>"),
    _tags("Gemma 4", "<|channel>thought", "<channel|>"),
    _tags("Granite", "Here is my thought process:", "Here is my response:"),
    ThoughtFormat(
        "gpt-oss (harmony)",
        "<|channel|>analysis",
        "<|channel|>final",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    _tags("gpt-oss, decoded without special tokens", "analysis", "assistantfinal"),
)
"""The formats that are known. A text in another one has no thoughts for the reader."""

_CLOSING: Final = tuple([each.closing for each in FORMATS])
_CHANNEL: Final = "<|channel|>analysis"


def after_thoughts(text: str) -> int | None:
    """The character after the last mark that ends thoughts; 0 if there is none.

    Thoughts that do not end are not told from an answer, so 0 stands for these, too. Where a message has a channel,
    they are: None stands for a text in which no message is the final one.

    >>> text = "[THINK]<summary>[]</summary>?[/THINK]<summary>[]</summary>"
    >>> text[after_thoughts(text):]
    '<summary>[]</summary>'
    """
    ends = [place + len(mark) for mark in _CLOSING if (place := text.rfind(mark)) >= 0]
    return max(ends) if ends else None if _CHANNEL in text else 0


def end_of_thoughts(text: str) -> str:
    """The text that ends the thoughts with which a text begins; empty if it begins with none, or they have ended."""
    begins = text.lstrip()
    known = [each for each in FORMATS if begins.startswith(each.opening) and each.closing not in text]
    return known[0].answer if known else ""
