"""The environment as ``verifiers`` loads it, and traces that its own classes hold."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import write_problems
from proof_r1_formal.integrations.scoring import Scorer
from proof_r1_formal.models.repair import complaint
from proof_r1_formal.proof.report import Scored, TraceReport
from tests.integrations.replies import replying
from tests.scripted import serving

pytest.importorskip("verifiers", reason="verifiers is not installed: make test-integrations")
pytestmark = pytest.mark.integration


MODULE = """from proof_r1_formal.integrations.verifiers import ProofEnv, ProofTaskset

__all__ = ["ProofEnv", "ProofTaskset"]
"""
"""What a project holds that uses the environment: verifiers looks for a module of the environment's name."""


@pytest.fixture
def problems(known: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the problems, in a project with the environment."""
    (tmp_path / "proof_r1.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    write_problems(tmp_path / "problems.jsonl", [one.problem for one in known])
    return tmp_path / "problems.jsonl"


@pytest.fixture
def taskset(problems: Path) -> Any:
    from verifiers.v1.utils.loaders import load_taskset, taskset_config_type

    return load_taskset(taskset_config_type("proof-r1")(id="proof-r1", problems=problems))


def test_there_is_a_task_for_each_problem(taskset: Any, known: list[Any]) -> None:
    tasks = list(taskset)
    assert [task.data.id for task in tasks] == [one.problem.id for one in known]
    assert "Options:" in tasks[0].data.prompt
    assert "<summary>" in tasks[0].data.system_prompt


def answered(task: Any, reply: str) -> Any:
    """The trace of a task with this reply."""
    import verifiers.v1 as vf

    asked, agent = vf.TraceTask(type="ProofTask", data=task.data), vf.AgentInfo(config=vf.AgentConfig())
    return vf.Trace(task=asked, agent=agent, root_reply=reply)


@pytest.mark.parametrize(("answer", "reward", "right"), [(0, 1.0, 1.0), (1, 0.3, 1.0), (None, 0.0, 0.0)])
def test_a_task_rewards_what_the_model_answers(
    taskset: Any, known: list[Any], answer: int | None, reward: float, right: float
) -> None:
    task = next(iter(taskset))
    trace = answered(task, "no idea" if answer is None else known[answer].right)
    asyncio.run(task.score(trace))
    assert trace.reward == pytest.approx(reward)
    assert trace.metrics == {"right": right}


def test_a_reply_is_verified_once_and_beside_the_event_loop(
    taskset: Any, known: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    verify = Scorer.__call__

    def noted(self: Scorer, problems: Sequence[str], completions: Sequence[str]) -> list[Scored]:
        threads.append(threading.current_thread())
        return verify(self, problems, completions)

    monkeypatch.setattr(Scorer, "__call__", noted)
    task = next(iter(taskset))
    asyncio.run(task.score(answered(task, known[0].right)))
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


# -- several turns ----------------------------------------------------------------------------------------------------


def told(report: TraceReport) -> dict[str, str]:
    """The message with the findings of a report."""
    return {"role": "user", "content": complaint(report)}


HARNESS = """import verifiers.v1 as vf
from openai import AsyncOpenAI

__all__ = ["Asking"]


class Asking(vf.Harness[vf.HarnessConfig]):
    APPENDS_SYSTEM_PROMPT = SUPPORTS_RESUME = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        system, asked = self.resolve_prompt(data)
        if isinstance(asked, str):
            asked = [vf.UserMessage(content=asked)]
        chat = [{"role": one.role, "content": one.content} for one in (vf.SystemMessage(content=system), *asked)]
        async with AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            await client.chat.completions.create(model=ctx.model, messages=chat)
        return vf.ProgramResult(0, "", "")
"""
"""Does what the library's harness ``null`` does in a program that it installs with uv: asks the model once a turn."""


@pytest.fixture
def play(problems: Path) -> Callable[..., tuple[Any, list[Any]]]:
    """Plays an episode on the first problem with a server that gives these answers, as the library does."""
    import verifiers.v1 as vf

    (problems.parent / "asking.py").write_text(HARNESS)

    def played(answers: Sequence[str], **settings: Any) -> tuple[Any, list[Any]]:
        given = iter(answers)

        async def run(url: str) -> Any:
            agent = {"harness": {"id": "asking"}, "runtime": {"type": "subprocess"}}
            chosen = {"taskset": {"id": "proof-r1", "problems": problems}, "agent": agent, **settings}
            environment = vf.load_environment(vf.resolve_env_config(chosen))
            client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
            async with environment.serving():
                return await environment.run_episode(
                    next(iter(environment.taskset)), vf.ModelContext("scripted", client)
                )

        script = replying(lambda _: next(given))
        with serving(script) as url:
            episode = asyncio.run(run(url))
        assert episode.ok, episode.errors + [error for trace in episode.traces for error in trace.errors]
        [trace] = episode.traces
        return trace, [body["messages"] for body in script.asked]

    return played


def test_the_model_answers_again_until_all_checks_pass(play: Callable[..., Any], known: list[Any]) -> None:
    trace, asked = play(["no idea", known[0].right, "nobody asks for this"], turns=3)
    assert (trace.reward, trace.metrics["right"], trace.num_turns) == (1, 1, 2)
    assert [one["role"] for one in asked[1]] == ["system", "user", "assistant", "user"]
    report = Scorer().report(known[0].record, "no idea")
    assert asked[1] == [*asked[0], {"role": "assistant", "content": "no idea"}, told(report)]


def test_the_last_answer_is_rewarded_when_the_turns_are_used_up(play: Callable[..., Any], known: list[Any]) -> None:
    unverified = known[1].right  # a proof of another problem, with the right option
    trace, asked = play(["no idea", unverified, known[0].right], turns=2)
    assert (trace.reward, trace.metrics["right"], trace.num_turns, len(asked)) == (0.3, 1, 2, 2)
    assert trace.stop_condition == "user_closed"


def test_one_turn_is_the_default(play: Callable[..., Any], known: list[Any]) -> None:
    trace, asked = play(["no idea", known[0].right])
    assert (trace.reward, len(asked), trace.stop_condition) == (0, 1, "agent_completed")


def test_a_limit_of_the_agent_ends_the_episode(play: Callable[..., Any], known: list[Any]) -> None:
    agent = {"harness": {"id": "asking"}, "runtime": {"type": "subprocess"}, "max_turns": 1}
    trace, asked = play(["no idea", known[0].right], turns=3, agent=agent)
    assert (trace.reward, len(asked), trace.stop_condition) == (0, 1, "max_turns")
