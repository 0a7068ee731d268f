"""``train``: trains a model with the verdicts, in TRL (extra ``train``), or by the engines of a checkout."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from proof_r1_formal.commands.common import ERR, counted, fail, log, write

if TYPE_CHECKING:
    from training.config import Config

STDERR = 2
"""The file descriptor."""
INTERRUPTED = 130
"""Exit status of a run that was asked to stop."""


def train(
    config: Annotated[
        Path | None, typer.Option("--config", help="Configuration file of the engine.", show_default=False)
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="Changes to the configuration: key=value or key.sub=value."),
    ] = None,
    engine: Annotated[
        Literal["trl", "local", "openrlhf"],
        typer.Option("--engine", help="TRL, this project's own for CPUs (checkout), or OpenRLHF on Ray (checkout)."),
    ] = "local",
    strict: Annotated[
        bool, typer.Option("--strict", help="End with an error, before any work, if a problem cannot be used.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the configuration and the estimated cost of the run.")
    ] = False,
    resume: Annotated[
        bool | None,
        typer.Option("--resume/--no-resume", help="Resume from the latest checkpoint.", show_default="as configured"),
    ] = None,
    only_evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Only evaluate the latest checkpoint, or the initial model.")
    ] = False,
    address: Annotated[
        str | None,
        typer.Option("--address", help="Dashboard of a Ray cluster, http://HOST:8265 (openrlhf).", show_default="none"),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Follow the job on the cluster until it ends (openrlhf).")
    ] = True,
    stop: Annotated[
        str | None,
        typer.Option("--stop", metavar="JOB", help="Stop a job on the cluster (openrlhf).", show_default=False),
    ] = None,
) -> None:
    """Train a model by a method on problems.

    A stopped or killed run resumes from its latest checkpoint.
    """
    if engine != "openrlhf" and (address is not None or stop is not None):
        fail("--address and --stop are for jobs on a cluster: they require --engine openrlhf")
    if engine == "trl" and (resume is not None or only_evaluate):
        fail("--resume, --no-resume and --evaluate are for --engine local; trl resumes from a checkpoint in output_dir")
    _check_installation("local" if dry_run else engine)  # what is shown needs no OpenRLHF
    if stop is not None:
        _stop(stop, address)
        return
    if config is None:
        raise typer.BadParameter(
            "a run needs a configuration, such as training/configs/tiny.yaml", param_hint="--config"
        )
    if engine == "trl":
        _train_in_trl(config, changes or [], strict=strict, dry_run=dry_run)
        return
    from training.config import read_config, write_config

    changes = [
        *(changes or []),
        *(["data.strict=true"] if strict else []),
        *([] if resume is None else [f"checkpoint.resume={str(resume).lower()}"]),
    ]
    settings = read_config(config, changes)
    if engine == "openrlhf":
        if only_evaluate:
            fail("--evaluate requires the local engine; give it the model that OpenRLHF trained (docs/cluster.md)")
        if dry_run:
            _show_for_ray(settings)
        elif address is not None:
            _submit(settings, address, wait=wait)
        else:  # this process becomes the run, so that signals reach it
            os.execv(sys.executable, [sys.executable, "-m", "training.openrlhf", "--config", str(config), *changes])
        return

    from training.common.display import Display
    from training.local.estimate import bounds, estimate, missing
    from training.local.trainer import evaluate, train

    with Display(ERR) as display:
        if dry_run:
            write(write_config(settings))
            _write_all(bounds(settings))
            absent = missing(settings)
            _write_all([f"missing: {one}" for one in absent] or estimate(settings, display).lines())
            return
        if only_evaluate:
            evaluate(settings, display)
            return
        with _stopping_gently() as stopping:
            finished = train(settings, display, stopping=stopping)
    if finished.model is None:
        log(f"stopped after step {finished.step}; repeat the command to resume")
        raise typer.Exit(INTERRUPTED)
    log(f"{counted(finished.step, 'step')}; the model is in {finished.model}")


def _train_in_trl(file: Path, changes: Iterable[str], *, strict: bool, dry_run: bool) -> None:
    from proof_r1_formal.integrations.trl_run import describe, read_run, train

    flags = []
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise typer.BadParameter(f"{change!r} is not of the form key=value", param_hint="[KEY=VALUE]...")
        flags += [f"--{name}", value]
    run = read_run(file, [*flags, *(["--strict", "true"] if strict else [])])
    if dry_run:
        _write_all(describe(run))
        return
    for line in run.lines:
        log(line)
    log(f"the model is in {train(run)}")


def _show_for_ray(config: Config) -> None:
    """Print the command line of OpenRLHF, and the memory of each GPU if the model is on this machine."""
    from training.config import write_config
    from training.local.estimate import bounds, missing
    from training.openrlhf.flags import command
    from training.openrlhf.memory import check_memory

    write(write_config(config))
    write(shlex.join(command(config)))
    _write_all(bounds(config))
    found = check_memory(config)
    _write_all(["The model is not on this machine: memory is unknown."] if found is None else found.lines())
    _write_all([f"missing: {one}" for one in missing(config)])


def _write_all(lines: Iterable[str]) -> None:
    for line in lines:
        write(line)


def _submit(config: Config, address: str, *, wait: bool) -> None:
    """Train with OpenRLHF as a job on a cluster."""
    from training.openrlhf.job import follow, submit

    job = submit(config, address)
    write(job)
    if not wait:
        log(f"submitted; proof-r1 train --engine openrlhf --address {address} --stop {job} stops it")
        return
    try:
        follow(job, address, sys.stdout.write)
    except KeyboardInterrupt:
        _stop(job, address)
        raise typer.Exit(INTERRUPTED) from None


def _stop(job: str, address: str | None) -> None:
    from training.openrlhf.job import stop

    if address is None:
        fail("--stop requires the --address of the cluster")
    stop(job, address)
    log(f"{job}: stop requested; the same run resumes from its latest checkpoint")


NEEDED: Mapping[str, tuple[str, ...]] = {
    "trl": ("torch", "transformers", "trl", "peft", "yaml"),
    "local": ("torch", "transformers", "peft", "yaml", "tensorboard"),
    "openrlhf": ("torch", "transformers", "peft", "yaml", "tensorboard", "ray", "openrlhf"),
}


def _check_installation(engine: str) -> None:
    """Report missing packages; the package itself does not install them."""
    if engine != "trl" and (find_spec("training") is None or find_spec("training.local") is None):
        fail(
            f"the engine {engine} is not part of the installed package: use --engine trl, or get a checkout of the "
            "project and install it there with pip install -e '.[train]'"
        )
    missing = [name for name in NEEDED[engine] if find_spec(name) is None]
    if missing and engine == "openrlhf":
        fail(f"this engine requires {', '.join(missing)}: make setup-openrlhf, or see docs/cluster.md")
    if missing:
        fail(f"training requires {', '.join(missing)}: pip install 'proof-r1-formal[train]'")


@contextmanager
def _stopping_gently() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C or SIGTERM ends the run after its step, with a checkpoint; the second ends it at once."""
    asked = False

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        # not log(): the signal may interrupt a write to the same stream, which is not reentrant
        os.write(STDERR, b"stopping after this step; interrupt again to stop at once\n")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
