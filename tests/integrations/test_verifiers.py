"""The environment as ``verifiers`` loads it, and traces that its own classes hold."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import write_problems
from proof_r1_formal.integrations.scoring import Scorer
from proof_r1_formal.proof.rewards import Scored

pytest.importorskip("verifiers", reason="verifiers is not installed: make test-integrations")
pytestmark = pytest.mark.integration


MODULE = """from proof_r1_formal.integrations.verifiers import ProofTaskset

__all__ = ["ProofTaskset"]
"""
"""What a project holds that uses the environment: verifiers looks for a module of the environment's name."""


@pytest.fixture
def taskset(known: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from verifiers.v1.utils.loaders import load_taskset, taskset_config_type

    (tmp_path / "proof_r1.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    write_problems(tmp_path / "problems.jsonl", [one.problem for one in known])
    return load_taskset(taskset_config_type("proof-r1")(id="proof-r1", problems=tmp_path / "problems.jsonl"))


def test_there_is_a_task_for_each_problem(taskset: Any, known: list[Any]) -> None:
    tasks = list(taskset)
    assert [task.data.id for task in tasks] == [one.problem.id for one in known]
    assert "Options:" in tasks[0].data.prompt
    assert "<summary>" in tasks[0].data.system_prompt


@pytest.mark.parametrize(("answer", "reward", "right"), [(0, 1.0, 1.0), (1, 0.3, 1.0), (None, 0.0, 0.0)])
def test_a_task_rewards_what_the_model_answers(
    taskset: Any, known: list[Any], answer: int | None, reward: float, right: float
) -> None:
    import verifiers.v1 as vf

    task = next(iter(taskset))
    trace = vf.Trace(
        task=vf.TraceTask(type="ProofTask", data=task.data),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        root_reply="no idea" if answer is None else known[answer].right,
    )
    asyncio.run(task.score(trace))
    assert trace.reward == pytest.approx(reward)
    assert trace.metrics == {"right": right}


def test_a_reply_is_verified_once_and_beside_the_event_loop(
    taskset: Any, known: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import verifiers.v1 as vf

    threads = []
    verify = Scorer.__call__

    def noted(self: Scorer, problems: Sequence[str], completions: Sequence[str]) -> list[Scored]:
        threads.append(threading.current_thread())
        return verify(self, problems, completions)

    monkeypatch.setattr(Scorer, "__call__", noted)
    task = next(iter(taskset))
    trace = vf.Trace(
        task=vf.TraceTask(type="ProofTask", data=task.data),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        root_reply=known[0].right,
    )
    asyncio.run(task.score(trace))
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
