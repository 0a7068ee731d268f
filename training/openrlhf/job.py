"""A run as a job of a Ray cluster: handed over, watched, stopped.

In: a configuration, and the address of the cluster's dashboard. Out: the id of a job. What travels is the code, the
configuration as it is resolved, and those of its files that have relative paths; models and the run's own folder are on
a disk that the nodes share.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from proof_r1_formal import ProofR1Error
from training.config import Config, ConfigError, write_config

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

ROOT = Path(__file__).resolve().parents[2]
CODE = ("proof_r1_formal", "training", "grammars", "theories")
CONFIG = "config.yaml"
AGAIN = 2.0
"""Seconds before a log is asked for again."""
ENTRY = ("python", "-m", "training.openrlhf", "--config", CONFIG)


class JobError(ProofR1Error):
    """A job that cannot be handed over or found, or did not succeed."""


def submit(config: Config, address: str) -> str:
    """Hand a run over.

    Args:
        config: of the run.
        address: of the dashboard, ``http://HOST:8265``.

    Returns:
        The id of the job.

    Raises:
        ConfigError: the output folder would be lost with the job.
        JobError: the cluster cannot be reached.
    """
    if not Path(config.output).is_absolute():
        raise ConfigError("output", "for a job, give an absolute path that all nodes share")
    client = _client(address)
    gpus = config.cluster.gpus if config.method == "sft" and config.model.device != "cpu" else None
    with TemporaryDirectory() as folder:
        _pack(config, Path(folder))
        try:
            job: str = client.submit_job(
                entrypoint=" ".join(ENTRY),
                entrypoint_num_gpus=gpus,  # others leave the GPUs to their actors
                runtime_env={"working_dir": folder},
                metadata={"method": config.method, "output": config.output},
            )
        except RuntimeError as error:
            raise JobError(f"{address}: the job cannot be handed over: {error}") from error
    return job


def follow(job: str, address: str, show: Callable[[str], object]) -> None:
    """Show the log of a job until it ends.

    Args:
        job: its id.
        address: of the dashboard.
        show: is given the log in pieces.

    Raises:
        JobError: it did not succeed, or there is no such job.
    """
    from aiohttp import ClientError

    client = _client(address)
    shown = 0

    async def tail() -> None:
        nonlocal shown
        seen = 0  # it tells all from the start again
        async for piece in client.tail_job_logs(job):
            seen += len(piece)
            if new := piece[max(0, len(piece) - max(0, seen - shown)) :]:
                show(new)
        shown = max(shown, seen)

    try:
        asyncio.run(tail())
        while not (info := client.get_job_info(job)).status.is_terminal():  # the connection was lost, the job was not
            time.sleep(AGAIN)
            asyncio.run(tail())
    except (RuntimeError, OSError, ClientError) as error:
        raise JobError(f"{job}: it cannot be followed any more, and may be going on: {error}") from error
    if info.status != "SUCCEEDED":
        ended = f"{job}: {info.status.lower()}: {info.message}"
        raise JobError(f"{ended}; the same command resumes from the latest checkpoint")


def stop(job: str, address: str) -> None:
    """Stop a job.

    Raises:
        JobError: there is no such job, or it has ended.
    """
    try:
        stopping = _client(address).stop_job(job)
    except (RuntimeError, OSError) as error:
        raise JobError(f"{job}: it cannot be stopped: {error}") from error
    if not stopping:
        raise JobError(f"{job}: it has ended already")


def _client(address: str) -> JobSubmissionClient:
    from ray.job_submission import JobSubmissionClient

    try:
        return JobSubmissionClient(address)
    except (ConnectionError, RuntimeError) as error:
        raise JobError(f"{address}: no Ray cluster answers there: {error}") from error


def _pack(config: Config, folder: Path) -> None:
    """Put what travels into a folder."""
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in CODE:
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    (folder / CONFIG).write_text(write_config(config), encoding="utf-8")
    for name in (*config.data.train, *config.data.evaluation, *config.data.demonstrations):
        path = Path(name)
        if not path.is_absolute() and ".." not in path.parts and path.is_file():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / path)
