"""The formats of thoughts: completions with a draft among the thoughts, and the answer after them.

``table()`` is the table of ``docs/prompts.md``; ``python -m tests.proof.thoughts`` prints it.
"""

from __future__ import annotations

import sys
from typing import NamedTuple


class Case(NamedTuple):
    """A format.

    Attributes:
        models: that write so.
        opening: before the thoughts.
        between: the thoughts and the answer.
    """

    models: str
    opening: str
    between: str


CASES = (
    Case("the contract above; DeepSeek, Qwen, GLM, Olmo, Phi and most others", "<think>", "</think>"),
    Case("prompts that ask for it", "<thinking>", "</thinking>"),
    Case("prompts that ask for it", "<reasoning>", "</reasoning>"),
    Case("EXAONE Deep", "<thought>", "</thought>"),
    Case("Mistral", "[THINK]", "[/THINK]"),
    Case("Seed-OSS", "<seed:think>", "</seed:think>"),
    Case("MiniMax M3", "<mm:think>", "</mm:think>"),
    Case("Kimi-VL", "◁think▷", "◁/think▷"),
    Case("Command A Reasoning", "<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    Case("Gemma 4", "<|channel>thought\n", "<channel|>"),
    Case("Granite", "Here is my thought process:", "Here is my response:"),
    Case(
        "gpt-oss (harmony)",
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    Case("gpt-oss, decoded without special tokens", "analysis", "assistantfinal"),
)


def table() -> str:
    """The table of ``docs/prompts.md``."""
    lines = ["| models | thoughts |", "|---|---|"]
    for case in CASES:
        cell = f"`{case.opening.strip()}…{case.between}`".replace("|", "\\|")
        lines.append(f"| {case.models} | {cell} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
