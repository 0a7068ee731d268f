"""Runs that are refused before they start, and the log of a job, followed over a lost connection."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from ray.dashboard.modules.job.common import JobInfo
from ray.job_submission import JobStatus
from rich.console import Console

from training.common.display import Display
from training.config import ConfigError, read_config
from training.openrlhf import __main__ as start
from training.openrlhf import job as jobs
from training.openrlhf import reinforcement
from training.openrlhf.flags import Place


class Connections:
    """A cluster that lets go of who follows: each connection tells the log from its start, as far as it is written.

    Args:
        told: what comes over each connection, in pieces.
        ends: how the job has ended after the last.
    """

    def __init__(self, told: list[list[str]], ends: JobStatus) -> None:
        self._told: Iterator[list[str]] = iter(told)
        self._left, self._ends = len(told), ends

    async def tail_job_logs(self, job: str) -> AsyncIterator[str]:
        self._left -= 1
        for piece in next(self._told):
            yield piece

    def get_job_info(self, job: str) -> JobInfo:
        return JobInfo(status=JobStatus.RUNNING if self._left else self._ends, entrypoint=job)


def test_a_log_is_followed_over_lost_connections_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Connections([["one\n", "two"], ["one\n"], ["one\ntwo\n", "three\n"]], JobStatus.SUCCEEDED)
    monkeypatch.setattr(jobs, "_client", lambda _: cluster)
    monkeypatch.setattr(jobs, "AGAIN", 0.0)
    shown: list[str] = []
    jobs.follow("job", "http://127.0.0.1:1", shown.append)
    assert shown == ["one\n", "two", "\n", "three\n"]


def test_how_a_job_ended_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_client", lambda _: Connections([[]], JobStatus.FAILED))
    with pytest.raises(jobs.JobError, match=r"failed.*resumes from the latest checkpoint"):
        jobs.follow("job", "http://127.0.0.1:1", print)


def test_a_folder_has_one_run_at_a_time(given: Path) -> None:
    config = read_config(given)
    with start.claimed(config) as file:
        assert read_config(file) == config
        with pytest.raises(ConfigError, match="a run is going on"), start.claimed(config):
            pass
    with start.claimed(config):  # it goes on
        pass
    fresh = read_config(given, ["checkpoint.resume=false"])
    with pytest.raises(ConfigError, match="holds a run already"), start.claimed(fresh):
        pass


@pytest.mark.parametrize(("done", "goes_on"), [(None, True), (1, True), (2, False), (3, False)])
def test_a_run_goes_on_unless_it_has_ended(
    done: int | None, goes_on: bool, given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = read_config(given)
    ended = Place(Path(config.output)).ended
    if done is not None:
        ended.parent.mkdir(parents=True)
        ended.write_text(str(done))
    started: list[str] = []
    monkeypatch.setattr(reinforcement, "_compose", lambda *_, **__: None)
    monkeypatch.setattr(reinforcement, "_connect", lambda *_, **__: None)
    monkeypatch.setattr("runpy.run_module", lambda entry, run_name: started.append(entry))
    monkeypatch.setattr(sys, "argv", [])
    with Display(Console(quiet=True)) as display:
        start.run(config, display)
    assert started == [reinforcement.ENTRY] * goes_on
    assert int(ended.read_text()) == max(2, done or 0)


def test_a_job_without_a_lasting_folder_is_refused(given: Path) -> None:
    with pytest.raises(ConfigError, match="absolute"):
        jobs.submit(read_config(given, ["output=out/run"]), "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("here", "changes", "message"),
    [
        (1, ["model.device=cpu"], "use auto"),
        (0, ["model.device=cuda"], "it takes 2 GPUs, and this machine has 0"),
        (1, ["model.device=auto"], "it takes 2 GPUs, and this machine has 1"),
        (
            1,
            ["model.device=auto", "method=sft", "cluster.gpus=2", "batch.micro=1"],
            "it takes 2 GPUs, and this machine has 1",
        ),
        (8, ["model.device=auto", "cluster.nodes=2", "batch.micro=1"], "several machines"),
    ],
)
def test_a_run_for_another_machine_is_refused(
    here: int, changes: list[str], message: str, given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "gpus", lambda: here)
    with Display(Console(quiet=True)) as display, pytest.raises(ConfigError, match=message):
        start.run(read_config(given, changes), display)


def test_without_a_cluster_it_says_so(given: Path) -> None:
    with pytest.raises(jobs.JobError, match="no Ray cluster"):
        jobs.submit(read_config(given), "http://127.0.0.1:1")
