"""The command ``proof-r1``: the names of the commands of ``commands/``, each of which is imported when it is called.

Exit status: 0 ok, 1 the answer is "no" or something could not be checked, 2 wrong use or unreadable input. Errors are
one clear paragraph on standard error; ``--debug`` shows where they come from.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, Final

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.executors import ALLOCATIONS_PER_COLLECTION
from proof_r1_formal.version import __version__

COMMANDS: Final = {
    "verify": ("traces", "Verify completions; write one report per completion, in order."),
    "show": ("traces", "Show the verdicts on one problem's completions, with reasons."),
    "evaluate": ("evaluation", "Verify completions, and show metrics and errors."),
    "report": ("page", "Verify completions, and write them as one HTML file."),
    "certify": ("theorems", "Turn answers into theorems that a kernel checks."),
    "parse": ("formulas", "Print a formula or English sentences in another notation."),
    "translate": ("problems", "Convert problems to the package's own format."),
    "generate": ("problems", "Generate problems with certified answers."),
    "gym": ("gym", "Make problems of tasks of reasoning-gym, and compare its scorers with checked evidence."),
    "dataset": ("dataset", "Write problems as a data set with a card."),
    "export": ("export", "Write problems or verified answers for other systems."),
    "prove": ("proofs", "Find short proofs of answers, or countermodels if Uncertain."),
    "prompt": ("prompt", "Print the messages that ask a model to solve a problem."),
    "grammar": ("prompt", "Write the grammar of answers to one problem."),
    "best": ("evaluation", "Select one completion per problem by evidence, or by vote."),
    "train": ("training", "Train a model by a method on problems."),
    "soundness": ("soundness", "Search for invalid steps that the verifier accepts."),
    "theories": ("theorems", "Check the rule schemata as theorems of Lean and Isabelle."),
    "rules": ("about", "List the rules, or show one with its schemata and an example."),
    "doctor": ("about", "List solvers, proof assistants, libraries and accelerators, and what is missing."),
    "serve": ("service", "Verify over HTTP until interrupted."),
    "mcp": ("service", "Offer tools that check proofs to agents, over MCP."),
}
"""Name of a command -> its module in ``commands/``, and the first sentence of its help. Grouped by ``GROUPS``."""

GROUPS: Final = {
    "Verify": ("verify", "show", "evaluate", "report", "certify"),
    "Data": ("parse", "translate", "generate", "gym", "prove", "dataset", "export"),
    "Models": ("prompt", "grammar", "best", "train"),
    "Trust": ("soundness", "theories", "rules", "doctor"),
    "Service": ("serve", "mcp"),
}
"""Heading in the help -> the commands under it."""

_FILES: Final = "files"
_METAVARS: Final = {"path": "PATH", "int": "N", "int range": "N", "float range": "X", "str": "TEXT", "choice": "NAME"}
"""Type of an option -> what its help calls the value."""


def command(name: str) -> Any:
    """The command of a name, with its options; imports its module."""
    function = getattr(import_module(f"proof_r1_formal.commands.{COMMANDS[name][0]}"), name)
    if isinstance(function, typer.Typer):
        found = typer.main.get_command(function)
    else:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(name)(function)
        found = typer.main.get_command(alone)
    _prepare(found)
    return found


def _prepare(command: Any) -> None:
    """Name the values of options as manuals do, ``N`` and not ``<int range>``; refuse an option that is repeated.

    A command that reads problems takes their files by place, too.
    """
    for inner in getattr(command, "commands", {}).values():
        _prepare(inner)
    parse = command.parse_args
    option = next((each for each in command.params if each.name == "problems"), None)
    if option is not None:
        command.params.insert(0, _files_by_place(several=option.multiple))

    def parse_args(ctx: Any, args: list[str]) -> Any:
        if option is not None:
            given = command.make_parser(ctx).parse_args(list(args))[0].get(_FILES) or ()
            args = [*[part for file in given for part in (option.opts[-1], file)], *args]
        _refuse_repeats(command, args)
        return parse(ctx, args)

    command.parse_args = parse_args
    for parameter in command.params:
        if isinstance(parameter, TyperOption) and not parameter.is_flag and parameter.metavar is None:
            parameter.metavar = _METAVARS[parameter.type.name]
            if choices := getattr(parameter.type, "choices", ()):
                parameter.help = f"{(parameter.help or '').removesuffix('.')} ({', '.join(choices)})."


def _files_by_place(*, several: bool) -> TyperArgument:
    """The argument of files that stand for the option ``--problems``."""
    return TyperArgument(
        param_decls=[_FILES],
        nargs=-1,
        required=False,
        expose_value=False,
        metavar="[FILE]..." if several else "[FILE]",
        help=f"{'Files' if several else 'File'} of problems, the same as --problems.",
    )


def _refuse_repeats(command: Any, args: list[str]) -> None:
    """End with an error if an option with one value has two: the parser would drop the first without a word."""
    for option in command.params:
        if isinstance(option, TyperOption) and not (option.is_flag or option.multiple):
            starts = tuple([f"{name}=" if name.startswith("--") else name for name in option.opts])
            count = sum(argument in option.opts or argument.startswith(starts) for argument in args)
            if count > 1:
                raise typer.BadParameter(f"it is given {count} times, and it takes one value", param=option)


class _Commands(TyperGroup):
    """Holds a stand-in for each command, which help and completion list, and puts the command itself in its place."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, args)
        return name, found if name is None else command(name), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.stderr.write("interrupted\n")
            raise typer.Exit(130) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<10}", COMMANDS[name][1]) for name in names])


app = typer.Typer(
    name="proof-r1",
    help="Check the proofs that language models write, step by step, in first-order logic.",
    cls=_Commands,
    context_settings={"max_content_width": 120, "help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,  # with it, help alone takes longer than to verify a trace
    pretty_exceptions_enable=False,
    add_completion=True,
)
for _name, (_, _help) in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    del debug  # read from the command line by main(), which also sees errors of the parser
    if version:
        typer.echo(f"proof-r1-formal {__version__}")
        raise typer.Exit


def _with_address(arguments: list[str]) -> list[str]:
    """The arguments, ``--ray`` without an address as ``--ray=``: an option's value can be empty, but not left out."""
    following = [*arguments, "-"][1:]
    return [
        "--ray=" if argument == "--ray" and after.startswith("-") else argument
        for argument, after in zip(arguments, following, strict=True)
    ]


def _hold_closed_streams() -> None:
    """Put what can neither be read nor written in the place of closed streams, so that no file gets their numbers."""
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)


def _drop_output() -> None:
    """Let nothing more be written to a standard output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt_again(ignored: Any) -> None:
    """Python ignores exceptions in finalizers, of Z3's objects too, and with them Ctrl-C: repeat it."""
    if not isinstance(ignored.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)
        return
    from signal import SIGINT, pthread_kill
    from threading import Timer, main_thread

    again = Timer(0.01, pthread_kill, (main_thread().ident, SIGINT))  # not here, where it would be ignored again
    again.daemon = True
    again.start()


def main() -> None:
    """Run the command line."""
    _hold_closed_streams()
    if os.environ.get("COLUMNS") == "0":  # of a terminal that does not know its width; Rich would print nothing
        del os.environ["COLUMNS"]
    sys.unraisablehook = _interrupt_again
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)
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
        from proof_r1_formal.commands.common import complain
        from proof_r1_formal.outputs import NO_ROOM, unwritable

        if isinstance(error, OSError):  # all files are written by functions that raise DataError
            _drop_output()
            if error.errno in NO_ROOM and error.filename is None:
                error = unwritable("standard output", error)
        complain(f"error: {error}")
        sys.exit(2)


if __name__ == "__main__":
    main()
