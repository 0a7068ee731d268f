"""The MCP server, asked by the SDK's own client: in process, over standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.integrations.mcp import build
from proof_r1_formal.integrations.mcp_tools import MAX_STEPS, MAX_TEXT, _bounded
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.serve import desk
from proof_r1_formal.workers import Limits
from proof_r1_formal.workers.pool import Pool, WorkerPool
from proof_r1_formal.workers.processes import BACKEND
from tests.build import action, completion, problem
from tests.patience import PATIENCE

_T = TypeVar("_T")

PREMISES = ["∀x (cat(x) → animal(x))", "cat(tom)"]
STEP = action("s1", "animal(tom)", "h1", "h2")
WRONG = {**STEP, "conclusion": "dog(tom)"}
QUESTION: dict[str, Any] = {"premises": PREMISES, "goal": "animal(tom)"}
TOOLS = ["certify", "check_proof", "check_step", "countermodel", "parse_formula", "prove"]
PROGRAM = str(Path(sys.executable).with_name("proof-r1"))


def with_client(use: Callable[[Client], Awaitable[_T]], server: Any = None) -> _T:
    async def main() -> _T:
        async with Client(build(WorkerPool()) if server is None else server, read_timeout_seconds=PATIENCE) as client:
            return await use(client)

    return asyncio.run(main())


def call(tool: str, server: Any = None, **arguments: Any) -> tuple[Any, str]:
    """The typed result of a tool, None for an error, and its text. The result fits the schema that the tool states."""

    async def use(client: Client) -> tuple[Any, str]:
        schemas = {one.name: one.output_schema for one in (await client.list_tools()).tools}
        reply = await client.call_tool(tool, arguments)
        [content] = reply.content
        assert isinstance(content, TextContent)
        if reply.is_error:
            return None, content.text
        assert schemas[tool] is not None
        jsonschema.validate(reply.structured_content, schemas[tool])
        return reply.structured_content, content.text

    return with_client(use, server)


def problem_of(goal: str) -> Problem:
    return problem(*PREMISES, goal=goal, answer=None, id="question")


def test_the_server_offers_typed_tools_that_change_nothing() -> None:
    async def use(client: Client) -> list[Any]:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in with_client(use)}
    assert sorted(tools) == TOOLS
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema
        assert tool.annotations.read_only_hint
        assert all("description" in field or "$ref" in field for field in tool.input_schema["properties"].values())


def test_a_right_proof_is_rule_verified() -> None:
    result, text = call("check_proof", **QUESTION, steps=[STEP], answer="True")
    assert (result["verified"], result["rule_verified"], result["answer"]) == (True, True, "True")
    assert result["first_failing"] is None
    assert [step["accepted"] for step in result["steps"]] == [True, True]
    assert text.splitlines()[0] == "The proof answers True: rule-verified."


def test_the_cost_is_that_of_the_verifier() -> None:
    result, _ = call("check_proof", **QUESTION, steps=[STEP])
    assert result["cost"] == Verifier().cost(problem_of("animal(tom)"), completion(STEP))


def test_a_wrong_step_is_named_with_its_reason_and_a_countermodel() -> None:
    result, text = call("check_proof", **QUESTION, steps=[WRONG], answer="True")
    assert (result["verified"], result["first_failing"]) == (False, "s1")
    assert result["steps"][0]["reasons"][0]["code"] == "NOT_ENTAILED"
    assert "true atoms: cat(0), animal(0)" in result["steps"][0]["countermodel"]
    assert "s1: fails entailment, rule" in text
    assert "NOT_ENTAILED: the dependencies do not entail the conclusion" in text


def test_an_uncertain_answer_is_verified_without_steps() -> None:
    result, _ = call("check_proof", premises=PREMISES, goal="dog(tom)", steps=[], answer="Uncertain")
    assert (result["verified"], result["answer"], result["first_failing"]) == (True, "Uncertain", None)
    wrong, _ = call("check_proof", **QUESTION, steps=[STEP], answer="Uncertain")
    assert wrong["verified"] is False
    assert "NOT_UNCERTAIN" in [reason["code"] for reason in wrong["reasons"]]


def test_a_step_is_checked_after_those_before_it() -> None:
    second = action("s2", "animal(tom) ∧ cat(tom)", "s1", "h2", rule="CONJUNCTION_INTRODUCTION")
    result, _ = call("check_step", **QUESTION, steps=[STEP], step=second)
    assert result["step"]["accepted"]
    assert result["usable"] == ["h1", "h2", "s1"]
    refused, _ = call("check_step", **QUESTION, steps=[WRONG], step=second)
    assert refused["usable"] == ["h1", "h2"]
    assert refused["step"]["reasons"][0]["code"] == "UNTRUSTED_DEPENDENCY"


@pytest.mark.parametrize(("goal", "answer"), [("animal(tom)", "True"), ("¬animal(tom)", "False")])
def test_a_proof_that_is_found_is_accepted(goal: str, answer: str) -> None:
    found, text = call("prove", premises=PREMISES, goal=goal)
    assert (found["result"], found["answer"]) == ("proved", answer)
    assert f"the answer is {answer}" in text
    checked, _ = call("check_proof", premises=PREMISES, goal=goal, steps=found["steps"])
    assert checked["rule_verified"]


def test_an_open_goal_has_two_countermodels() -> None:
    found, text = call("prove", premises=PREMISES, goal="dog(tom)")
    assert found["result"] == "uncertain"
    assert sorted(found["countermodels"]) == ["False", "True"]
    assert text.startswith("Uncertain")


def test_a_countermodel_refutes_the_entailment() -> None:
    found, text = call("countermodel", premises=PREMISES, conclusion="dog(tom)")
    assert found["result"] == "countermodel"
    assert found["model"] in text
    assert found["predicates"]["cat"] == [[0]]
    assert found["predicates"]["dog"] == []
    entailed, _ = call("countermodel", premises=PREMISES, conclusion="animal(tom)")
    assert (entailed["result"], entailed["model"]) == ("entailed", None)


def test_a_spent_budget_decides_nothing() -> None:
    found, text = call("countermodel", premises=PREMISES, conclusion="animal(tom)", budget=1)
    assert found["result"] == "undecided"
    assert "the question's budget of 1 steps is spent" in text
    gave_up, why = call("prove", **QUESTION, budget=1)
    assert gave_up["result"] == "gave up"
    assert "the budget is spent" in why


def test_a_search_says_what_it_cost() -> None:
    for goal in ("animal(tom)", "dog(tom)"):
        found, _ = call("prove", premises=PREMISES, goal=goal)
        assert found["cost"] == Prover().prove(problem_of(goal)).cost > 0
    gave_up, _ = call("prove", **QUESTION, budget=1)
    assert 0 < gave_up["cost"] < found["cost"]


def test_a_formula_is_read_with_its_symbols() -> None:
    result, text = call("parse_formula", formula="all x. (P(x) -> Q(x))")
    assert text == result["formula"] == "∀x (P(x) → Q(x))"
    assert result["predicates"] == ["P", "Q"]
    repaired, words = call("parse_formula", formula="P(a))", repair=True)
    assert (repaired["formula"], len(repaired["repairs"])) == ("P(a)", 1)
    assert f"repaired: {repaired['repairs'][0]}" in words


def test_a_certificate_is_made_of_a_verified_proof_only() -> None:
    result, text = call("certify", **QUESTION, steps=[STEP], answer="True")
    assert result["certificate"]
    assert result["is_theorem"] is None
    assert "theorem answer" in result["lean"]
    assert result["isabelle"].startswith("theory")
    assert text.startswith("A certificate that no kernel has checked")
    refused, why = call("certify", **QUESTION, steps=[WRONG], answer="True")
    assert (refused["certificate"], refused["lean"]) == (False, None)
    assert refused["reason"] in why


@pytest.mark.parametrize(("goal", "steps", "answer"), [("animal(tom)", [STEP], "True"), ("dog(tom)", [], "Uncertain")])
def test_leans_kernel_judges_a_certificate(
    goal: str, steps: list[dict[str, Any]], answer: str, lean: LeanKernel
) -> None:
    result, text = call("certify", premises=PREMISES, goal=goal, steps=steps, answer=answer, kernel=True)
    assert (result["is_theorem"], result["kernel"], result["faults"]) == (True, lean.version, [])
    assert text.startswith(f"{lean.version} accepts the answer.")


def test_a_kernel_that_is_not_here_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "_kernel", lambda: None)
    result, text = call("certify", **QUESTION, steps=[STEP], answer="True", kernel=True)
    assert result is None
    assert "there is no Lean here" in text


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("prove", {"premises": ["P(", "Q)"], "goal": "R"}, "premise h2: unexpected ')'"),
        ("prove", {"premises": [], "goal": "P("}, "the goal cannot be read"),
        ("prove", {"premises": ["P(a)", "P"], "goal": "P(a)"}, "premise h2: 'P' is used as"),
        ("prove", {**QUESTION, "budget": 10**9}, "less than or equal to 100000"),
        ("countermodel", {"premises": [], "conclusion": "P" * (MAX_TEXT + 1)}, "at most 8192 characters"),
        ("check_proof", {**QUESTION, "steps": [STEP] * 257}, "at most 256 items"),
        ("check_proof", {**QUESTION, "steps": [{**STEP, "rule": "R" * 9999}]}, "at most 8192"),
        ("check_proof", {**QUESTION, "steps": [{**STEP, "id": "h_goal_true"}], "answer": "True"}, "states an answer"),
        ("parse_formula", {"formula": "P(a"}, "ends too early at line 1, column 4"),
        ("parse_formula", {"formula": "P(a)", "notation": "none such"}, "notation"),
    ],
)
def test_an_unusable_question_is_an_error_that_says_why(tool: str, arguments: dict[str, Any], says: str) -> None:
    result, text = call(tool, **arguments)
    assert result is None
    assert says in text


@pytest.mark.parametrize(
    ("tool", "arguments", "unknown", "known"),
    [
        ("prove", {**QUESTION, "catalogue": "complete"}, "'catalogue'", "premises, goal, budget, rules"),
        ("check_proof", {**QUESTION, "steps": [STEP], "answr": "True"}, "'answr'", "steps, answer, rules"),
        ("check_proof", {**QUESTION, "steps": [{**STEP, "ruel": "X"}]}, "'ruel'", "id, dependencies, conclusion, rule"),
        ("check_proof", {**QUESTION, "steps": json.dumps([{**STEP, "why": ""}])}, "'why'", "conclusion, rule"),
        ("check_step", {**QUESTION, "steps": [], "step": {**STEP, "a": 1, "b": 2}}, "'a', 'b'", "conclusion, rule"),
        ("check_step", {**QUESTION, "steps": [], "step": STEP, "answer": "True"}, "'answer'", "steps, step, rules"),
        ("countermodel", {"premises": [], "conclusion": "P(a)", "rules": "train"}, "'rules'", "conclusion, budget"),
        ("parse_formula", {"formula": "P(a)", "repairs": True}, "'repairs'", "formula, notation, repair"),
        ("certify", {**QUESTION, "steps": [STEP], "style": "reflect"}, "'style'", "answer, kernel, rules"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_known_ones(
    tool: str, arguments: dict[str, Any], unknown: str, known: str
) -> None:
    result, text = call(tool, **arguments)
    assert result is None
    assert re.search(f"unknown names? {unknown}; the names here are .*{known}", text)


def test_the_schemas_of_arguments_allow_no_unknown_names() -> None:
    async def use(client: Client) -> list[Any]:
        return (await client.list_tools()).tools

    for tool in with_client(use):
        objects = [tool.input_schema, *tool.input_schema.get("$defs", {}).values()]
        assert [each["additionalProperties"] for each in objects if "properties" in each] == [False] * len(objects)


def test_a_call_that_takes_too_long_is_an_error() -> None:
    pool = Pool(BACKEND, 1, Limits(timeout=1e-3))
    pool.start()
    try:
        result, text = call("prove", build(pool), **QUESTION)
    finally:
        pool.close()
    assert result is None
    assert "0.001" in text


def test_an_agent_asks_the_command_over_standard_input() -> None:
    program = StdioServerParameters(command=PROGRAM, args=["mcp"], env=dict(os.environ))
    result, _ = call("check_proof", program, **QUESTION, steps=[STEP], answer="True")
    assert result["rule_verified"]


def workers(process: int) -> set[int]:
    """The ids of the processes that a process started."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return {int(child) for children in threads for child in children.read_text().split()}


@pytest.mark.parametrize(("memory", "replaced"), [("1", True), ("4096", False)])
def test_an_agent_asks_the_command_over_http(memory: str, replaced: bool) -> None:
    command = [PROGRAM, "mcp", "--port", "0", "--worker-memory", memory]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    try:
        found = re.fullmatch(r"running on (http://127\.0\.0\.1:\d+/mcp)\n", process.stderr.readline())
        assert found is not None
        result, _ = call("countermodel", found[1], premises=PREMISES, conclusion="dog(tom)")
        assert result["result"] == "countermodel"
        before = workers(process.pid)
        for _ in range(2):  # by then, the worker of the first call is gone if it was too large
            call("countermodel", found[1], premises=PREMISES, conclusion="dog(tom)")
        assert (before & workers(process.pid) == set()) == replaced
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read() == "stopped\n"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()


def test_contradictory_premises_are_said_to_be_so() -> None:
    result, text = call("countermodel", premises=["cat(tom)", "¬cat(tom)"], conclusion="dog(tom)")
    assert (result["result"], text) == ("entailed", "The premises contradict each other, so they entail everything.")
    _, text = call("countermodel", premises=["cat(tom)"], conclusion="cat(tom)")
    assert text == "The premises entail it."


def test_the_step_of_an_answer_counts() -> None:
    given = (ReferenceStep("s", ("h1",), "P(a)", "REITERATION"),)
    assert _bounded(given * MAX_STEPS) == given * MAX_STEPS
    with pytest.raises(ProofR1Error, match=f"{MAX_STEPS + 1} steps; at most {MAX_STEPS} are checked"):
        _bounded(given * (MAX_STEPS + 1))
