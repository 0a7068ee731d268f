"""``prompt``: the messages that ask a model for a proof."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from proof_r1_formal.commands import common
from proof_r1_formal.models.prompts import PromptSet, messages
from proof_r1_formal.proof.trajectory import Thinking
from proof_r1_formal.rules.catalogue import catalogue


def prompt(
    problems: common.ProblemsOption,
    id: Annotated[str, typer.Option("--id", help="Id of the problem.", show_default=False)],  # noqa: A002
    rules: common.RulesOption = "train",
    thinking: Annotated[
        Thinking,
        typer.Option("--thinking", help="Whether the prompt asks for <think>, or the model thinks in its own format."),
    ] = "explicit",
    prompts: Annotated[
        PromptSet, typer.Option("--prompts", help="Whose messages: this package's, or the paper's.")
    ] = "default",
    to: Annotated[Literal["text", "json"], typer.Option("--to", help="Print text, or one JSON array.")] = "text",
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
) -> None:
    """Print the messages that ask a model to solve a problem."""
    known = common.read_problem_file(problems, format, notation=notation)
    chat = messages(common.problem_of(problems, known, id), rules=catalogue(rules), thinking=thinking, prompts=prompts)
    if to == "json":
        common.write(json.dumps(chat, ensure_ascii=False))
    else:
        common.write("\n\n".join([f"[{message['role']}]\n{message['content']}" for message in chat]))
