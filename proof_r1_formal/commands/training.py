"""``train``: trains a model with credit per action, in TRL (extra ``train``)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from proof_r1_formal.commands.common import fail, log, write

_NEEDED = ("torch", "transformers", "trl", "peft", "yaml")


def train(
    config: Annotated[Path, typer.Option("--config", help="Configuration, such as examples/trl/learn.yaml.")],
    changes: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Changes to fields of the configuration.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with an error, before any work, if a problem cannot be used.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show data, updates, memory and time of the run."),
    ] = False,
) -> None:
    """Train a model by a method on problems.

    A stopped or killed run resumes from its latest checkpoint when the command is repeated. Training on a cluster is
    another program: see the page Training on a cluster.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        fail(f"training requires {', '.join(missing)}: pip install 'proof-r1-formal[train]'")
    from proof_r1_formal.integrations.trl_plan import describe
    from proof_r1_formal.integrations.trl_run import read_run
    from proof_r1_formal.integrations.trl_run import train as train_in_trl

    flags = ["--strict", "true"] if strict else []
    for change in changes or []:
        name, equals, value = change.partition("=")
        if not equals:
            raise typer.BadParameter(f"{change!r} is not of the form key=value", param_hint="[KEY=VALUE]...")
        flags += [f"--{name}", value]
    run = read_run(config, flags)
    if dry_run:
        for line in describe(run):
            write(line)
        return
    for line in run.lines:
        log(line)
    log(f"the model is in {train_in_trl(run)}")
