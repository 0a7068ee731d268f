"""The evaluation as Inspect runs it: with its own mock model, and from its command line with a server."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import Problem, read_completions, verify, verify_many
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.native import to_json
from proof_r1_formal.decoding.grammar import completion_grammar
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.measures import Estimate, Measure
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.models.prompts import messages, question
from proof_r1_formal.models.repair import complaint
from proof_r1_formal.rules.catalogue import catalogue
from tests.build import EXAMPLES
from tests.integrations.replies import PROBLEMS, answers, asked_in_turn, replying, scores_of
from tests.patience import PATIENCE
from tests.scripted import serving

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: make test-openrlhf")
pytestmark = pytest.mark.integration

EPOCHS = 3
VALUES = {"right": Measure.AVG, "verified": Measure.VERIFIED, "rule_verified": Measure.RULE_VERIFIED}


def evaluated(
    folder: Path,
    answer: Callable[[str], str],
    *,
    file: Path = EXAMPLES / "problems.jsonl",
    epochs: Any = None,
    status: str = "success",
    bodies: list[Any] | None = None,
    extra_body: dict[str, object] | None = None,
    on_error: Mapping[str, bool] | None = None,
    **settings: Any,
) -> Any:
    """The log of an evaluation with the mock model; ``bodies`` gets the fields that each request would have."""
    from inspect_ai import eval as run
    from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model

    from proof_r1_formal.integrations.inspect import proof

    def reply(asked: list[Any], _tools: object, _choice: object, config: GenerateConfig) -> ModelOutput:
        if bodies is not None:
            bodies.append(config.extra_body)
        made = ModelOutput.from_content("scripted", answer(asked[-1].text))
        return made.model_copy(update={"usage": ModelUsage()})  # or Inspect would fetch a tokenizer, to count

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    task = proof(str(file), **settings)
    [log] = run(
        task,
        model=model,
        epochs=epochs,
        log_dir=str(folder),
        display="none",
        extra_body=extra_body,
        **(on_error or {}),
    )
    assert log.status == status, log.error
    return log


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from inspect_ai import Epochs

    epochs = Epochs(EPOCHS, ["mean", "pass_at_3"])
    return evaluated(tmp_path_factory.mktemp("logs"), asked_in_turn(EPOCHS), epochs=epochs)


@pytest.fixture(scope="module")
def scores() -> Mapping[Measure, Estimate]:
    """What this package's own evaluation says of the same answers."""
    return scores_of(EPOCHS)


def values(log: Any, name: str, reducer: str | None) -> dict[str, float]:
    found = [one for one in log.results.scores if (one.name, one.reducer) == (name, reducer)]
    return {key: metric.value for key, metric in found[-1].metrics.items()}


@pytest.mark.parametrize("thinking", ["explicit", "native"])
@pytest.mark.parametrize("rules", ["train", "folio", "complete"])
def test_each_problem_is_asked_with_the_prompt_of_its_rules(rules: Any, thinking: Any) -> None:
    from proof_r1_formal.integrations.inspect import proof

    task = proof(str(EXAMPLES / "problems.jsonl"), rules, thinking=thinking)
    for sample, problem in zip(task.dataset, PROBLEMS.values(), strict=True):
        expected = messages(problem, rules=catalogue(rules), prompts="default", thinking=thinking)
        assert [(one.role, one.text) for one in sample.input] == [(one["role"], one["content"]) for one in expected]


def test_rates_are_quotients_of_sums_over_all_epochs(log: Any, scores: Mapping[Measure, Estimate]) -> None:
    found = values(log, "verifier", None)
    assert (found["FVR"], found["RVR"], found["Parsed"]) == (30 / 32, 26 / 31, 9 / 18)
    assert found == {"Uncertain right": 1 / 3} | {
        str(one): scores[one].value
        for one in (Measure.FVR, Measure.STRICT_FVR, Measure.RVR, Measure.STRICT_RVR, Measure.PARSED, Measure.RGD)
    }


@pytest.mark.parametrize(("value", "measure"), VALUES.items())
def test_means_are_shares_of_answers(
    log: Any, scores: Mapping[Measure, Estimate], value: str, measure: Measure
) -> None:
    assert values(log, value, "mean")["mean"] == pytest.approx(scores[measure].value)
    assert values(log, "right", "pass_at_3")["mean"] == scores[Measure.PASS].value == 5 / 6


def test_an_uncertain_label_is_counted_apart(log: Any) -> None:
    [name] = [name for name, problem in PROBLEMS.items() if problem.is_uncertain]
    [first, *_] = [sample.scores["verifier"] for sample in log.samples if sample.id == name]
    assert first.reason == "label is Uncertain (counted apart)"
    assert all(math.isnan(value) for value in first.value.values())
    assert {one.unscored_samples for one in log.results.scores if one.name == "right"} == {1}


@pytest.mark.parametrize(
    ("name", "epoch", "value", "reason", "shown"),
    [
        ("garden/2", 1, (1, 1, 1), None, "right, rule-verified."),
        ("garden/1", 1, (0, 0, 0), "invalid_response_format", "MALFORMED: there is no <summary>"),
    ],
)
def test_a_score_explains_itself(
    log: Any, name: str, epoch: int, value: tuple[int, ...], reason: str | None, shown: str
) -> None:
    [sample] = [one for one in log.samples if (one.id, one.epoch) == (name, epoch)]
    score = sample.scores["verifier"]
    assert tuple(score.value.values()) == value
    assert score.reason == reason
    assert shown in score.explanation
    assert score.answer == score.metadata["report"]["answer"]
    assert score.metadata["report"]["sample"] == epoch - 1


def test_a_sample_asks_with_the_package_s_messages(log: Any) -> None:
    asked = {sample.id: [{"role": one.role, "content": one.text} for one in sample.input] for sample in log.samples}
    assert asked == {name: messages(problem) for name, problem in PROBLEMS.items()}


# -- turns, grammars and logs -----------------------------------------------------------------------------------------


def one_problem(folder: Path) -> tuple[Problem, Path, str]:
    """A problem, its file and a completion that proves its answer."""
    problem = PROBLEMS["garden/2"]
    file = folder / "one.jsonl"
    file.write_text(to_json(problem) + "\n", encoding="utf-8")
    return problem, file, answers(EPOCHS)["garden/2"][0]


def test_a_model_answers_again_while_a_check_fails(tmp_path: Path) -> None:
    problem, file, right = one_problem(tmp_path)
    said = iter(["no proof", right])
    asked: list[str] = []

    def answer(text: str) -> str:
        asked.append(text)
        return next(said)

    [sample] = evaluated(tmp_path, answer, file=file, turns=3).samples
    assert asked == [question(problem), complaint(verify(problem, "no proof"))]
    assert [message.role for message in sample.messages] == ["system", "user", "assistant", "user", "assistant"]
    assert sample.scores["verifier"].value["rule_verified"] == 1


@pytest.mark.parametrize(
    ("constrain", "field"),
    [
        ("vllm", lambda body: body["structured_outputs"]["grammar"]),
        ("llama.cpp", itemgetter("grammar")),
        ("sglang", itemgetter("ebnf")),
    ],
)
def test_a_request_has_the_grammar_of_its_problem(tmp_path: Path, constrain: str, field: Callable[[Any], str]) -> None:
    problem, file, right = one_problem(tmp_path)
    bodies: list[Any] = []
    evaluated(tmp_path, lambda _: right, file=file, constrain=constrain, bodies=bodies, extra_body={"top_k": 5})
    assert [field(body) for body in bodies] == [completion_grammar(problem).to_gbnf(thoughts=True)]
    assert [body["top_k"] for body in bodies] == [5]


def test_the_completions_of_a_log_have_the_same_scores(
    log: Any, scores: Mapping[Measure, Estimate], tmp_path: Path
) -> None:
    """Written by the documented command, read by the package."""
    command = (sys.executable, "-m", "proof_r1_formal.integrations.inspect", log.location)
    done = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    (tmp_path / "completions.jsonl").write_bytes(done.stdout)
    found = [one for one in read_completions(tmp_path / "completions.jsonl") if isinstance(one, Completion)]
    assert {(one.problem_id, one.sample): one.completion for one in found} == {
        (name, number): text for name, texts in answers(EPOCHS).items() for number, text in enumerate(texts)
    }
    assert {one.cost.calls for one in found if one.cost} == {1}
    assert evaluate_metrics(PROBLEMS, verify_many(PROBLEMS, found)).overall.scores == scores


def test_a_file_that_is_not_a_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("{")
    for name in ("log.json", "log.eval", "log.txt"):
        command = (sys.executable, "-m", "proof_r1_formal.integrations.inspect", str(tmp_path / name))
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"error: {tmp_path / name}: not read as a log of Inspect: " in done.stderr


def test_a_sample_without_an_answer_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from proof_r1_formal.integrations.inspect import completions

    _, file, _ = one_problem(tmp_path)

    def fail(_: str) -> str:
        raise RuntimeError("the model is away")

    log = evaluated(tmp_path, fail, file=file, status="error")
    assert list(completions(log.location)) == []
    assert "problem garden/2, sample 0 has no answer: RuntimeError('the model is away')" in caplog.text


def some_fail() -> Callable[[str], str]:
    """The answers in turn, but for every third problem an error in place of its second answer."""
    answer, asked = asked_in_turn(EPOCHS), Counter[str]()
    fails = [question(problem) for problem in list(PROBLEMS.values())[::3]]

    def reply(prompt: str) -> str:
        found = answer(prompt)
        asked[prompt] += 1
        if asked[prompt] == 2 and any(prompt.endswith(text) for text in fails):
            raise RuntimeError("the model is away")
        return found

    return reply


def log_with_failures(folder: Path, *, scored: bool) -> Any:
    from inspect_ai import Epochs

    on_error = {"fail_on_error": False, "score_on_error": scored}
    return evaluated(folder, some_fail(), epochs=Epochs(EPOCHS, ["mean", "pass_at_3"]), on_error=on_error)


def test_failed_samples_that_are_scored_are_wrong_here_and_in_the_completions(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from proof_r1_formal.integrations.inspect import completions

    log = log_with_failures(tmp_path, scored=True)
    given = list(completions(log.location))
    failed = [(one.problem_id, one.sample) for one in given if not one.completion]
    assert failed == [("garden/1", 1), ("garden/4", 1), ("animals/3", 1)]
    for name, number in failed:
        assert f"problem {name}, sample {number} has no answer: RuntimeError('the model is away')" in caplog.text
    scores = evaluate_metrics(PROBLEMS, verify_many(PROBLEMS, given)).overall.scores
    assert (scores[Measure.AVG].value, scores[Measure.AVG].denominator) == (9 / 18, 18)
    for name, measure in VALUES.items():
        assert values(log, name, "mean")["mean"] == pytest.approx(scores[measure].value)
    assert values(log, "right", "pass_at_3")["mean"] == pytest.approx(scores[Measure.PASS].value)
    rates = values(log, "verifier", None)
    assert {name: scores[Measure(name)].value for name in rates if name != "Uncertain right"} == {
        name: rate for name, rate in rates.items() if name != "Uncertain right"
    }


def test_failed_samples_that_are_not_scored_are_left_out_in_two_ways(tmp_path: Path) -> None:
    """Inspect takes the mean of the means of problems, and Pass@3 of two samples is 1 if one of them is right."""
    from proof_r1_formal.integrations.inspect import completions

    log = log_with_failures(tmp_path, scored=False)
    given = list(completions(log.location))
    assert len(given) == len(PROBLEMS) * EPOCHS - 3
    scores = evaluate_metrics(PROBLEMS, verify_many(PROBLEMS, given)).overall.scores
    assert (scores[Measure.AVG].value, scores[Measure.AVG].denominator) == (9 / 16, 16)
    assert values(log, "right", "mean")["mean"] == pytest.approx(19 / 36)
    assert (scores[Measure.PASS].value, values(log, "right", "pass_at_3")["mean"]) == (5 / 6, 1.0)


# -- what is left out -------------------------------------------------------------------------------------------------


def written(folder: Path, *changes: dict[str, object]) -> Path:
    """A file with the first example, changed in one way after the other."""
    first = json.loads((EXAMPLES / "problems.jsonl").read_text(encoding="utf-8").splitlines()[0])
    file = folder / "problems.jsonl"
    records = [first | {"id": f"p/{number}", "proofs": []} | change for number, change in enumerate(changes)]
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return file


CONTRADICTION = [
    {"id": f"h{number}", "formula": formula} for number, formula in enumerate(["on_duty(Mara)", "¬on_duty(Mara)"], 1)
]


def test_problems_out_of_scores_say_why(tmp_path: Path) -> None:
    file = written(tmp_path, {}, {"premises": CONTRADICTION}, {"answer": None})
    right = next(iter(read_completions(EXAMPLES / "completions.jsonl")))
    assert isinstance(right, Completion)
    log = evaluated(tmp_path, lambda _: right.completion, file=file)
    found = [sample.scores["verifier"] for sample in log.samples]
    assert [one.reason for one in found] == [
        None,
        "inconsistent premises",
        "no reference answer (Avg, Pass, right and verified)",
    ]
    assert [math.isnan(one.value["right"]) for one in found] == [False, True, True]
    defined = ("FVR", "Strict FVR", "RVR", "Strict RVR", "Parsed")  # not RGD, without a reference proof
    assert values(log, "verifier", None) == dict.fromkeys(defined, 1)
    assert [one.metadata["parts"].get("Strict FVR") for one in found] == [[2, 2], None, [2, 2]]


def test_an_unusable_problem_is_counted_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from proof_r1_formal.integrations.inspect import proof

    file = str(written(tmp_path, {}, {"premises": [{"id": "h1", "formula": "on_duty("}]}))
    made = proof(file)
    assert (len(made.dataset), made.metadata) == (1, {"left_out": 1})
    assert "p/1" in caplog.text
    assert "1 of 2 problems left out" in caplog.text
    with pytest.raises(ProofR1Error, match="1 of 2 problems left out"):
        proof(file, strict=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("rules", "none"), ("prompts", "none"), ("thinking", "none"), ("constrain", "none"), ("turns", 0)],
)
def test_an_unknown_setting_is_refused(name: str, value: Any) -> None:
    from proof_r1_formal.integrations.inspect import proof

    with pytest.raises(ProofR1Error, match=str(value)):
        proof(str(EXAMPLES / "problems.jsonl"), **{name: value})


# -- the command ------------------------------------------------------------------------------------------------------


def commanded(folder: Path, *options: str, **variables: str) -> Any:
    """The log of the documented command, run in a process of its own."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    (folder / "problems.jsonl").symlink_to(EXAMPLES / "problems.jsonl")
    task = ("eval", "proof_r1_formal/proof", "-T", "problems=problems.jsonl", "--display", "plain", "--log-dir", "logs")
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", *task, *options],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = list_eval_logs(str(folder / "logs"))
    log = read_eval_log(file)
    assert (log.eval.task, log.status) == ("proof_r1_formal/proof", "success"), log.error
    assert "RVR" in done.stdout, done.stdout
    return log


def test_the_command_evaluates_a_server(tmp_path: Path, scores: Mapping[Measure, Estimate]) -> None:
    options = ("--model", "openai-api/local/scripted", "--epochs", f"{EPOCHS}", "--epochs-reducer", "mean,pass_at_3")
    with serving(replying(asked_in_turn(EPOCHS))) as url:
        log = commanded(tmp_path, *options, LOCAL_BASE_URL=url, LOCAL_API_KEY="none")
    assert values(log, "verifier", None)["RVR"] == scores[Measure.RVR].value
    assert values(log, "right", "pass_at_3")["mean"] == scores[Measure.PASS].value
