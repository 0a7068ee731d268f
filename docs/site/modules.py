"""``modules.md``: every module of the package with its first sentence, and for each room when one needs it.

``python docs/site/modules.py`` writes ``docs/modules.md`` from the docstrings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from roles import plain

DOCS = Path(__file__).resolve().parent.parent
PACKAGE = DOCS.parent / "proof_r1_formal"
PAGE = DOCS / "modules.md"
HEAD = """\
# Modules

Each folder of `proof_r1_formal` is a room. On this page, a room stands below the rooms that it imports. The page says
when you need a room, and what each of its modules does. [Python API](api.md) describes what `import proof_r1_formal`
offers, and the pages after it what other modules offer.
"""
ROOMS = {
    "kernel": "build formulas, evaluate them in structures, check proof terms, or ask what a verdict rests on",
    "render": "pass formulas or queries to another system: SMT-LIB, TPTP, Lean, Isabelle/HOL",
    "text": "read formulas as people and models write them, or print them",
    "workers": "run functions in other processes or on a Ray cluster, with limits of time and memory",
    "engine": "ask whether premises entail a conclusion: the embedded engine, Z3, cvc5, another program, Isabelle",
    "rules": "add a rule or a catalogue of your own, or ask whether one step is an instance of a rule",
    "data": "read problems and completions from files, or add a dataset",
    "proof": "verify completions, one or many, or step by step, and read the reports",
    "assistants": "want Lean or Isabelle to check answers and rules",
    "decoding": "restrict a model to well-formed answers while it writes, or verify each step at once",
    "generate": "generate problems with proofs, search for proofs, or continue a proof after its first wrong step",
    "models": "write prompts for a model, or ask it to repair its proof",
    "evaluation": "compute metrics of completions, compare systems, or draw tables and pictures",
    "serve": "verify over HTTP",
    "credit": "turn reports into advantages of actions and tokens, in a trainer that has no adapter here",
    "report": "show verified proofs to people, or pass on all their evidence, to be checked without this package",
    "testing": "test a rule, a checker or a reward of your own",
    "integrations": "train or evaluate with TRL, verl, OpenRLHF, verifiers, Inspect or a gym, or serve agents over MCP",
    "commands": "change a command of `proof-r1`",
}
"""The rooms from the ground up, and when one needs them: when one does what stands here."""


def modules(room: str) -> Iterator[Path]:
    """The public modules of a room, by name."""
    for path in sorted(PACKAGE.joinpath(room).rglob("*.py")):
        if not any(part.startswith("_") for part in path.relative_to(PACKAGE).parts):
            yield path


def text() -> str:
    """The page."""
    alone = "Modules outside of rooms", "A program of your own needs `errors` alone."
    parts = [
        HEAD,
        *(_section(f"`{room}`", f"You need it when you {when}.", modules(room)) for room, when in ROOMS.items()),
    ]
    return "\n".join([*parts, _section(*alone, (path for path in modules("") if path.parent == PACKAGE))])


def _section(heading: str, when: str, listed: Iterator[Path]) -> str:
    rows = [f"| `{'.'.join(path.relative_to(PACKAGE).with_suffix('').parts)}` | {_first(path)} |" for path in listed]
    return "\n".join([f"## {heading}", "", when, "", "| module | what it does |", "|---|---|", *rows, ""])


def _first(path: Path) -> str:
    """The first paragraph of the docstring, in Markdown."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring is not None, f"{path} has no docstring"
    first = " ".join(docstring.partition("\n\n")[0].split())
    return re.sub("``+", "`", plain(first)).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
