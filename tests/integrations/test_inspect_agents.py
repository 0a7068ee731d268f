"""The agents as Inspect runs them: each branch with its mock model, and the command with a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from proof_r1_formal import Problem
from proof_r1_formal.data.native import to_json
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.models.prompts import messages
from proof_r1_formal.proof.action import read_completion
from tests.models.agent_replies import AGREED, BAD, GOOD, NO, PROBLEM, STEP, YES, kind, solution, unless
from tests.patience import PATIENCE
from tests.scripted import Act, Body, Script, serving

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: make test-openrlhf")
pytestmark = pytest.mark.integration

EMPTY = "<summary>[\n\n]</summary>"
Answer = Callable[[str, str], str]
"""From the kind of a request and its last message to a reply."""


class Scripted:
    """A mock model that replies by what it is asked for, and remembers the chats."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.chats: list[list[dict[str, str]]] = []
        self.temperatures: list[float | None] = []
        self.schemas: list[Any] = []

    def reply(self, asked: list[Any], _tools: object, _choice: object, config: Any) -> Any:
        from inspect_ai.model import ModelOutput, ModelUsage

        self.chats.append([{"role": one.role, "content": one.text} for one in asked])
        self.temperatures.append(config.temperature)
        self.schemas.append(config.response_schema)
        text = self.answer(kind(asked[0].text), asked[-1].text)
        stop = "content_filter" if text.startswith("I refuse") else "stop"
        made = ModelOutput.from_content("scripted", text, stop_reason=stop)
        usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return made.model_copy(update={"usage": usage})

    def model(self) -> Any:
        from inspect_ai.model import get_model

        return get_model("mockllm/model", custom_outputs=self.reply, memoize=False)

    def kinds(self) -> Counter[str]:
        return Counter([kind(chat[0]["content"]) for chat in self.chats])


def in_turn(**replies: list[str] | Callable[[str], str]) -> Answer:
    """Replies to each kind of request: one after the other, or computed from the last message."""
    waiting: dict[str, Iterator[str]] = {name: iter(one) for name, one in replies.items() if isinstance(one, list)}
    given = {name: one for name, one in replies.items() if not isinstance(one, list)}
    return lambda of, user: given[of](user) if of in given else next(waiting[of])


def ran(
    folder: Path, agent: Any, answer: Answer, *, problem: Problem = PROBLEM, **options: Any
) -> tuple[Any, Scripted]:
    """The sample of one problem after the agent, and the model it asked."""
    from inspect_ai import eval as run

    from proof_r1_formal.integrations.inspect import proof

    file = folder / "pets.jsonl"
    file.write_text(to_json(problem) + "\n", encoding="utf-8")
    scripted = Scripted(answer)
    [log] = run(
        proof(str(file)), solver=agent, model=scripted.model(), log_dir=str(folder / "logs"), display="none", **options
    )
    assert log.status == "success", log.error
    [sample] = log.samples
    return sample, scripted


# -- Graph of Verification --------------------------------------------------------------------------------------------


def verified(
    folder: Path, solutions: list[str], verdicts: Callable[[str], str], **settings: Any
) -> tuple[str, Scripted]:
    """The solution that is selected, and the model; the metadata count the calls."""
    from proof_r1_formal.integrations.inspect import graph_of_verification

    agent = graph_of_verification(candidates=len(solutions), **settings)
    sample, model = ran(folder, agent, in_turn(proof=solutions, verification=verdicts))
    assert sample.metadata["calls"] == len(model.chats)
    assert [message.role for message in sample.messages] == ["system", "user", "assistant"]
    assert sample.messages[-1].text == sample.output.completion
    return sample.output.completion, model


def test_the_answer_that_passes_most_often_is_selected(tmp_path: Path) -> None:
    other = solution("h_goal_uncertain", STEP)
    selected, model = verified(tmp_path, [other, GOOD, GOOD.replace("s1", "t1")], unless())
    assert selected == GOOD
    assert model.kinds() == {"proof": 3, "verification": 6}
    assert Counter(model.temperatures) == {None: 3, 0.0: 6}


def test_judgements_are_held_to_a_schema_on_request(tmp_path: Path) -> None:
    _, model = verified(tmp_path, [GOOD], lambda _: YES, schema=True)
    asked, *judged = model.schemas
    assert asked is None and len(judged) == 2
    validator = jsonschema.Draft202012Validator(judged[0].json_schema.model_dump(exclude_none=True))
    replies: list[object] = [{"valid": True}, {"valid": "yes"}, {}, [], {"valid": True, "why": "so"}]
    assert [validator.is_valid(one) for one in replies] == [True, False, False, False, False]
    _, model = verified(tmp_path, [GOOD], lambda _: YES)
    assert model.schemas == [None] * 3


def test_a_frequent_answer_that_does_not_pass_is_not_selected(tmp_path: Path) -> None:
    selected, model = verified(tmp_path, [BAD, BAD, GOOD], unless("¬dog"))
    assert selected == GOOD
    assert model.kinds() == {"proof": 3, "verification": 1 + 1 + 2}  # the first block that fails is the last


def test_the_furthest_is_selected_where_none_passes(tmp_path: Path) -> None:
    selected, model = verified(tmp_path, ["nonsense", BAD, GOOD], unless("¬dog", "h_goal"))
    assert selected == GOOD
    assert model.kinds() == {"proof": 3, "verification": 0 + 1 + 2}


@pytest.mark.parametrize("judgement", ["", "I refuse to judge.", "valid", YES + NO])
def test_an_unclear_judgement_passes_nothing(tmp_path: Path, judgement: str) -> None:
    selected, model = verified(tmp_path, [GOOD, "I refuse to answer."], lambda user: judgement)
    assert selected == GOOD  # the first of two that came nowhere
    assert model.kinds() == {"proof": 2, "verification": 1}


@pytest.mark.parametrize(("granularity", "calls"), [(1, 2), (2, 1), (0, 1)])
def test_a_call_judges_a_block(tmp_path: Path, granularity: int, calls: int) -> None:
    _, model = verified(tmp_path, [GOOD], unless(), granularity=granularity)
    assert model.kinds()["verification"] == calls


def test_candidates_differ_when_replies_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from proof_r1_formal.integrations.inspect import graph_of_verification

    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    agent, answer = graph_of_verification(candidates=2), in_turn(proof=[BAD, GOOD], verification=unless("¬dog"))
    sample, model = ran(tmp_path, agent, answer, cache=True)
    assert sample.output.completion == GOOD
    again, silent = ran(tmp_path, agent, answer, cache=True)
    assert (again.output.completion, silent.chats) == (GOOD, [])
    assert model.kinds() == {"proof": 2, "verification": 3}


def test_another_model_can_judge(tmp_path: Path) -> None:
    from proof_r1_formal.integrations.inspect import graph_of_verification

    judge = Scripted(in_turn(verification=unless()))
    roles = {"verifier": judge.model()}
    agent = graph_of_verification(candidates=1)
    _, model = ran(tmp_path, agent, in_turn(proof=[GOOD]), model_roles=roles)
    assert (model.kinds(), judge.kinds()) == ({"proof": 1}, {"verification": 2})


def test_settings_that_leave_nothing_to_do_are_refused() -> None:
    from proof_r1_formal.integrations.inspect import graph_of_verification

    for settings in ({"candidates": 0}, {"granularity": -1}):
        with pytest.raises(ProofR1Error, match=r"at least 1"):
            graph_of_verification(**settings)


# -- LogicAgent -------------------------------------------------------------------------------------------------------


def solved(folder: Path, views: list[str], reflection: str, proof: str = GOOD) -> tuple[Any, Scripted]:
    """The sample after LogicAgent, when views and the reflection come out so."""
    from proof_r1_formal.integrations.inspect import logic_agent

    sample, model = ran(folder, logic_agent(), in_turn(formalisation=views, reflection=[reflection], proof=[proof]))
    assert model.kinds() == {"formalisation": 4, "reflection": 1, "proof": 1}
    assert sample.metadata["calls"] == 6
    assert [message.role for message in sample.messages] == ["system", "user", "assistant"]
    return sample, model


def decided(model: Scripted) -> str | None:
    """The option that the request for the proof names."""
    _, found, after = model.chats[-1][-1]["content"].partition("You have decided for ")
    return after.split(".")[0] if found else None


def test_the_solver_decides_and_the_reflection_confirms(tmp_path: Path) -> None:
    sample, model = solved(tmp_path, AGREED, '{"answer": "h_goal_true", "reason": "Tom barks."}')
    assert decided(model) == "h_goal_true"
    seen = model.chats[4][1]["content"]
    assert "Together they speak for h_goal_true." in seen
    assert seen.count("solver: the premises entail it\n") == 2
    assert seen.count("solver: the premises entail its negation") == 2
    assert sample.scores["verifier"].value["rule_verified"] == 1


def test_the_reflection_changes_the_answer(tmp_path: Path) -> None:
    _, model = solved(tmp_path, AGREED, 'No. {"answer": "h_goal_uncertain", "reason": "h1 says something else."}')
    assert decided(model) == "h_goal_uncertain"


@pytest.mark.parametrize("reflection", ["I cannot say.", "I refuse to look.", '{"answer": "h_goal"}'])
def test_an_unclear_reflection_changes_nothing(tmp_path: Path, reflection: str) -> None:
    _, model = solved(tmp_path, AGREED, reflection)
    assert decided(model) == "h_goal_true"


def test_without_a_symbolic_answer_the_reflection_decides(tmp_path: Path) -> None:
    _, model = solved(tmp_path, ["nonsense", "I refuse.", "", "{}"], '{"answer": "h_goal_false"}')
    assert decided(model) == "h_goal_false"
    assert "The solver gives no answer." in model.chats[4][1]["content"]


def test_without_any_answer_the_proof_decides(tmp_path: Path) -> None:
    _, model = solved(tmp_path, ["nonsense"] * 4, "I cannot say.")
    assert model.chats[-1] == messages(PROBLEM)


def test_the_proof_binds_the_answer_whatever_was_decided(tmp_path: Path) -> None:
    sample, _ = solved(tmp_path, AGREED, "?", BAD)
    assert read_completion(sample.output.completion).actions[-1].id == "h_goal_false"
    assert sample.scores["verifier"].value["right"] == 0


# -- answers as JSON --------------------------------------------------------------------------------------------------


def as_object(completion: str) -> str:
    """A completion as a model writes it that is held to a schema."""
    array = completion.removeprefix("<summary>").removesuffix("</summary>")
    return f'{{"steps": {array}}}'


@pytest.mark.parametrize(
    ("reply", "completion"),
    [(as_object(GOOD), GOOD), ("I refuse.", "I refuse."), ('{"steps": 3}', '{"steps": 3}'), ('{"steps": []}', EMPTY)],
)
def test_an_answer_as_json_becomes_a_completion(tmp_path: Path, reply: str, completion: str) -> None:
    from proof_r1_formal.integrations.inspect import prove_as_json

    sample, model = ran(tmp_path, prove_as_json(), in_turn(proof=[reply]))
    assert sample.output.completion == completion
    assert sample.scores["verifier"].value["rule_verified"] == (completion == GOOD)
    schema = model.schemas[0].json_schema.model_dump(exclude_none=True)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(json.loads(as_object(GOOD)))
    assert not validator.is_valid(json.loads(as_object(GOOD.replace("IMPLICATION_ELIMINATION", "NONSENSE"))))
    assert not validator.is_valid(json.loads(as_object(GOOD.replace('"h1"', '"h9"'))))


# -- both -------------------------------------------------------------------------------------------------------------


def agents() -> list[Any]:
    from proof_r1_formal.integrations.inspect import graph_of_verification, logic_agent

    return [logic_agent(), graph_of_verification()]


def obliging(of: str, user: str) -> str:
    """A reply to each kind of request that goes on."""
    return {"proof": GOOD, "verification": YES, "formalisation": AGREED[0], "reflection": "?"}[of]


@pytest.mark.parametrize("number", [0, 1])
def test_no_agent_is_told_the_answer(tmp_path: Path, number: int) -> None:
    """What is asked does not depend on it."""
    asked = []
    for answer in ("h_goal_true", "h_goal_false", None):
        problem = replace(PROBLEM, answer=answer, proofs=((STEP,),))
        _, model = ran(tmp_path, agents()[number], obliging, problem=problem)
        asked.append(model.chats)
    assert asked[0] == asked[1] == asked[2]


@pytest.mark.parametrize(("number", "calls"), [(0, 6), (1, 9)])
def test_a_completion_costs_all_calls_of_the_agent(tmp_path: Path, number: int, calls: int) -> None:
    from inspect_ai.log import list_eval_logs

    from proof_r1_formal.integrations.inspect import completions

    ran(tmp_path, agents()[number], obliging)
    [log] = list_eval_logs(str(tmp_path / "logs"))
    [one] = completions(log.name)
    assert one.completion == GOOD
    assert one.cost is not None
    assert (one.cost.calls, one.cost.tokens, one.cost.prompt_tokens) == (calls, 10 * calls, 100 * calls)
    assert one.cost.seconds is not None


def test_an_error_of_a_call_is_the_error_of_the_sample(tmp_path: Path) -> None:
    def fail(of: str, user: str) -> str:
        raise RuntimeError("the model is away")

    for agent in agents():
        with pytest.raises(AssertionError, match="the model is away"):
            ran(tmp_path, agent, fail)


@pytest.mark.parametrize("agent", ["logic_agent", "graph_of_verification"])
def test_the_command_runs_an_agent(tmp_path: Path, agent: str) -> None:
    from inspect_ai.log import list_eval_logs, read_eval_log

    def act(body: Body) -> Act:
        text = obliging(kind(body["messages"][0]["content"]), body["messages"][-1]["content"])
        message = {"role": "assistant", "content": text}
        return lambda handler: handler.whole(message, index=0, finish_reason="stop")

    (tmp_path / "P.jsonl").write_text(to_json(PROBLEM) + "\n", encoding="utf-8")
    task = ("proof_r1_formal/proof", "-T", "problems=P.jsonl", "--solver", f"proof_r1_formal/{agent}")
    shown = ("--display", "plain", "--log-dir", "logs")
    with serving(Script(act)) as url:
        done = subprocess.run(
            [sys.executable, "-m", "inspect_ai", "eval", *task, *shown, "--model", "openai-api/local/scripted"],
            cwd=tmp_path,
            env=os.environ | {"LOCAL_BASE_URL": url, "LOCAL_API_KEY": "none"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = list_eval_logs(str(tmp_path / "logs"))
    log = read_eval_log(file)
    assert (log.status, log.eval.solver) == ("success", f"proof_r1_formal/{agent}"), log.error
    assert [sample.scores["verifier"].value["rule_verified"] for sample in log.samples] == [1]
