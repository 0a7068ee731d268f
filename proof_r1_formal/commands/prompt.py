"""``prompt`` and ``grammar``: the messages that ask a model for a proof, and the grammar of its answers."""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeAlias

import typer

from proof_r1_formal.commands import common, problem_files
from proof_r1_formal.decoding.grammar import STEPS, completion_grammar
from proof_r1_formal.models.prompts import PromptSet, messages
from proof_r1_formal.proof.trajectory import Thinking
from proof_r1_formal.rules.catalogue import catalogue

Dialect: TypeAlias = Literal["llguidance", "gbnf", "json-schema"]
"""Notation of the grammar."""


def prompt(
    problems: common.ProblemsOption,
    id: Annotated[str, typer.Option("--id", help="Id of the problem.", show_default=False)],  # noqa: A002
    rules: common.RulesOption = "train",
    thinking: Annotated[
        Thinking,
        typer.Option("--thinking", help="Whether the prompt asks for <think>, or the model thinks in its own format."),
    ] = "explicit",
    prompts: Annotated[
        PromptSet,
        typer.Option("--prompts", help="This package's messages, the paper's, or the text of a training without chat."),
    ] = "default",
    to: Annotated[Literal["text", "json"], typer.Option("--to", help="Print text, or one JSON array.")] = "text",
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
) -> None:
    """Print the messages that ask a model to solve a problem."""
    known = problem_files.read_problem_file(problems, format, notation=notation)
    chat = messages(
        problem_files.problem_of(problems, known, id), rules=catalogue(rules), thinking=thinking, prompts=prompts
    )
    if to == "json":
        common.write(json.dumps(chat, ensure_ascii=False))
    else:
        common.write("\n\n".join([f"[{message['role']}]\n{message['content']}" for message in chat]))


def grammar(
    problems: common.ProblemsOption,
    id: Annotated[str, typer.Option("--id", help="Id of the problem.", show_default=False)],  # noqa: A002
    to: Annotated[Dialect, typer.Option("--to", help="Notation of the grammar.")] = "llguidance",
    rules: common.RulesOption = "train",
    steps: Annotated[
        int, typer.Option("--steps", min=1, max=1_000, help="Largest number of steps before the binding.")
    ] = STEPS,
    thoughts: Annotated[
        bool, typer.Option("--thoughts", help="Allow free text before <summary> (llguidance).")
    ] = False,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
) -> None:
    """Write the grammar of answers to one problem.

    An answer uses its symbols, ids and rules, each id once.
    """
    if thoughts and to != "llguidance":
        common.fail(f"--thoughts has no effect on {to}: leave it out, or use --to llguidance")
    problem = problem_files.problem_of(
        problems, problem_files.read_problem_file(problems, format, notation=notation), id
    )
    found = completion_grammar(problem, catalogue(rules), steps=steps)
    match to:
        case "llguidance":
            text = found.to_llguidance(thoughts=thoughts)
        case "gbnf":
            text = found.to_gbnf()
        case "json-schema":
            text = json.dumps(found.to_json_schema(), ensure_ascii=False, indent=2)
    common.write(text.removesuffix("\n"))
