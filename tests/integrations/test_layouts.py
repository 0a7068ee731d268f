"""Files of answers as other libraries write them: each is written by the library itself, and read here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.data.completions import BadLine, Completion, read_completions
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.proof.batch import verify_many
from tests.integrations.replies import PROBLEMS, asked_in_turn, scores_of

pytestmark = pytest.mark.integration


def completions(path: Path) -> list[Completion]:
    found = list(read_completions(path))
    assert all(isinstance(item, Completion) for item in found), found
    return [item for item in found if isinstance(item, Completion)]


def test_samples_of_the_harness_have_its_scores(tmp_path: Path) -> None:
    pytest.importorskip("lm_eval", reason="lm-eval is not installed: make test-integrations")
    from lm_eval.loggers import EvaluationTracker

    from tests.integrations.test_lm_eval import evaluated

    results = evaluated(asked_in_turn(1))
    tracker = EvaluationTracker(output_path=str(tmp_path))
    tracker.save_results_aggregated(results=results, samples=results["samples"])
    tracker.save_results_samples(task_name="proof_r1", samples=results["samples"]["proof_r1"])
    [file] = tmp_path.rglob("samples_*.jsonl")
    read = completions(file)
    assert [one.problem_id for one in read] == list(PROBLEMS)
    reports = verify_many(PROBLEMS, read)
    assert evaluate_metrics(PROBLEMS, reports).overall.scores == scores_of(1)


def line(body: Any) -> str:
    response = {"status_code": 200, "request_id": "r", "body": body.model_dump(mode="json")}
    return json.dumps({"id": "batch_req_1", "custom_id": "p", "response": response, "error": None})


def test_a_batch_of_openai_is_read(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="openai is not installed: make test-integrations")
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

    message = {"role": "assistant", "content": "x"}
    choices = [{"index": n, "message": message, "finish_reason": end} for n, end in enumerate(("stop", "length"))]
    chat = ChatCompletion.model_validate(
        {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
    )
    text = {"type": "output_text", "text": "y", "annotations": []}
    said = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    response = Response.model_validate(
        {
            "id": "r",
            "object": "response",
            "created_at": 0,
            "model": "m",
            "output": [{"id": "t", "type": "reasoning", "summary": []}, said],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "incomplete_details": {"reason": "max_output_tokens"},
        }
    )
    file = tmp_path / "batch.jsonl"
    file.write_text(f"{line(chat)}\n{line(response)}\n", encoding="utf-8")
    found = [(one.problem_id, one.sample, one.completion, one.truncated) for one in completions(file)]
    assert found == [("p", 0, "x", False), ("p", 1, "x", True), ("p", 2, "y", True)]


def test_a_batch_of_vllm_is_read(tmp_path: Path) -> None:
    pytest.importorskip("vllm", reason="vLLM is not installed: make test-openrlhf")
    from vllm.entrypoints.launchers.run_batch import BatchRequestOutput, BatchResponseData
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionResponse

    choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "length"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = ChatCompletionResponse.model_validate({"model": "m", "choices": [choice], "usage": usage})
    answer = BatchResponseData(request_id="r", body=body)
    failed = BatchResponseData(status_code=400, request_id="s", body=None)
    rows = [
        BatchRequestOutput(id="vllm-1", custom_id="p", response=answer, error=None),
        BatchRequestOutput(id="vllm-2", custom_id="q", response=failed, error="no such model"),
    ]
    file = tmp_path / "batch.jsonl"
    file.write_text("\n".join(row.model_dump_json() for row in rows), encoding="utf-8")
    [answered, refused] = read_completions(file)
    assert answered == Completion(problem_id="p", completion="x", truncated=True)
    assert isinstance(refused, BadLine)
    assert refused.problem == "the request failed: no such model"
