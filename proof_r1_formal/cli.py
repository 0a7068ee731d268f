"""The command ``proof-r1``: puts the commands of ``commands/`` together.

Exit status: 0 ok, 1 the answer is "no" or something could not be checked, 2 wrong use or unreadable input. Errors are
one clear paragraph on standard error; ``--debug`` shows where they come from.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer
from rich.text import Text

from proof_r1_formal.commands.about import doctor, rules
from proof_r1_formal.commands.audit import crosscheck, soundness
from proof_r1_formal.commands.common import ERR, OUT
from proof_r1_formal.commands.evaluation import best, evaluate
from proof_r1_formal.commands.formulas import parse
from proof_r1_formal.commands.models import sample
from proof_r1_formal.commands.page import report
from proof_r1_formal.commands.problems import generate, translate
from proof_r1_formal.commands.prompt import prompt
from proof_r1_formal.commands.proofs import prove
from proof_r1_formal.commands.review import review
from proof_r1_formal.commands.service import serve
from proof_r1_formal.commands.theorems import certify, theories
from proof_r1_formal.commands.traces import show, verify
from proof_r1_formal.commands.training import train
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.version import __version__

app = typer.Typer(
    name="proof-r1",
    help="Check the proofs that language models write, step by step, in first-order logic.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)
for command in (
    parse,
    translate,
    generate,
    prompt,
    sample,
    verify,
    show,
    evaluate,
    best,
    review,
    report,
    prove,
    certify,
    train,
    serve,
    soundness,
    crosscheck,
    rules,
    doctor,
):
    app.command()(command)
app.add_typer(theories, name="theories")


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    OUT.stderr = False
    del debug  # read from the command line by main(), which also sees errors of the parser
    if version:
        OUT.print(f"proof-r1-formal {__version__}")
        raise typer.Exit


def _with_address(arguments: list[str]) -> list[str]:
    """The arguments, ``--ray`` without an address as ``--ray=``: an option's value can be empty, but not left out."""
    following = [*arguments, "-"][1:]
    return [
        "--ray=" if argument == "--ray" and after.startswith("-") else argument
        for argument, after in zip(arguments, following, strict=True)
    ]


def _drop_output() -> None:
    """Let nothing more be written to a standard output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may lack characters of formulas
    try:
        try:
            app(_with_address(sys.argv[1:]))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        _drop_output()
        sys.exit(1)
    except (ProofR1Error, OSError) as error:
        if "--debug" in sys.argv:
            raise
        if isinstance(error, OSError):  # all files are opened by functions that raise DataError
            _drop_output()
        ERR.print(Text(f"error: {error}", style="red"), soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        ERR.print(Text("interrupted"))
        sys.exit(130)
