"""``train``: teach a model with the verdicts; needs the checkout of the project and its extra ``train``."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Annotated, Literal

import typer

from proof_r1_formal.commands.common import ERR, fail, say, write

STDERR = 2
"""The file descriptor."""
INTERRUPTED = 130
"""Exit status of a run that was asked to stop."""


def train(
    config: Annotated[Path, typer.Option("--config", help="Configuration, see training/configs.", show_default=False)],
    changes: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Changes to it: key=value or key.sub=value.")
    ] = None,
    engine: Annotated[Literal["local"], typer.Option("--engine", help="What trains.")] = "local",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the configuration and what the run will cost.")
    ] = False,
    resume: Annotated[
        bool | None,
        typer.Option("--resume/--no-resume", help="Go on from the latest checkpoint.", show_default="as configured"),
    ] = None,
    only_evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Only score the latest checkpoint, or the model to start from.")
    ] = False,
) -> None:
    """Train a model by a method on problems. A run that was stopped or killed goes on to the same result."""
    del engine  # there is one
    _check_installation()
    from training.config import read_config, write_config

    changes = [*(changes or []), *([] if resume is None else [f"checkpoint.resume={str(resume).lower()}"])]
    settings = read_config(config, changes)

    from training.local.display import Display
    from training.local.estimate import estimate
    from training.local.trainer import evaluate, train

    with Display(ERR) as display:
        if dry_run:
            write(write_config(settings))
            for line in estimate(settings, display).lines():
                write(line)
            return
        if only_evaluate:
            evaluate(settings, display)
            return
        with _stopping_gently() as stopping:
            finished = train(settings, display, stopping=stopping)
    if finished.model is None:
        say(f"stopped after step {finished.step}; the same command goes on from there")
        raise typer.Exit(INTERRUPTED)
    say(f"{finished.step} steps; the model is in {finished.model}")


def _check_installation() -> None:
    """Say what is missing; the package itself does not bring what trains."""
    if find_spec("training") is None or find_spec("training.local") is None:
        fail(
            "training is not part of the installed package: get a checkout of the project and install it there with "
            "pip install -e '.[train]'"
        )
    missing = [name for name in ("torch", "transformers", "peft", "yaml", "tensorboard") if find_spec(name) is None]
    if missing:
        fail(f"training needs {', '.join(missing)}: pip install -e '.[train]' in the checkout of the project")


@contextmanager
def _stopping_gently() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C (or request to terminate) ends the run after its step, with a checkpoint; the second at once."""
    asked = False

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        # not say(): the signal may have come while something is being said, and a stream cannot be written to twice
        os.write(STDERR, b"stopping after this step; once more to stop at once\n")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
