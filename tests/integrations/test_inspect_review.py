"""The review as Inspect runs it: with its mock model, and its page of tables and disagreements."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import Premise, parse_formula
from proof_r1_formal.data.native import to_json
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.proof.trajectory import summary
from tests.models.agent_replies import BAD, GOOD, PROBLEM, STEP
from tests.patience import PATIENCE

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: make test-openrlhf")
pytestmark = pytest.mark.integration

WRONG_RULE = summary([replace(STEP, rule="MODUS_TOLLENS")])


def inputs(folder: Path, **systems: list[str]) -> dict[str, Any]:
    """The files of the problem and of systems."""
    (folder / "P.jsonl").write_text(to_json(PROBLEM) + "\n", encoding="utf-8")
    for name, texts in systems.items():
        lines = [{"problem_id": PROBLEM.id, "sample": n, "completion": text} for n, text in enumerate(texts)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    files = [str(folder / f"{name}.jsonl") for name in systems]
    return {"problems": str(folder / "P.jsonl"), "completions": files if len(files) > 1 else files[0]}


def said(verdict: str, reason: str = "so it is") -> str:
    return json.dumps({"verdict": verdict, "reason": reason})


def reviewed(
    folder: Path, answer: Callable[[str], str], given: dict[str, Any], **settings: Any
) -> tuple[Any, list[str]]:
    """The log of a review by a mock model, and what the model was shown."""
    from inspect_ai import eval as run
    from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model

    from proof_r1_formal.integrations.inspect import review

    shown = []

    def reply(asked: list[Any], _tools: object, _choice: object, config: GenerateConfig) -> ModelOutput:
        assert config.temperature == 0.0
        shown.append("\n".join(one.text for one in asked))
        made = ModelOutput.from_content("scripted", answer(asked[-1].text))
        return made.model_copy(update={"usage": ModelUsage()})

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    [log] = run(review(**given, **settings), model=model, log_dir=str(folder / "logs"), display="none")
    assert log.status == "success", log.error
    return log, shown


def right(user: str) -> str:
    """The right judgement of the steps here."""
    return said("invalid" if "Conclusion:\n- ¬" in user else "valid")


def metrics(log: Any) -> dict[str, float]:
    return {name: one.value for score in log.results.scores for name, one in score.metrics.items()}


def test_a_right_reviewer_agrees_on_everything(tmp_path: Path) -> None:
    log, shown = reviewed(tmp_path, right, inputs(tmp_path, first=[GOOD, BAD], second=[WRONG_RULE]))
    assert len(shown) == 2 + 1 + 1  # the binding of a refuted conclusion depends on it
    found = metrics(log)
    assert (found["mean"], found["agreement"], found["kappa"]) == (1.0, 1.0, 1.0)
    assert sorted(map(tuple, log.eval.metadata["strata"])) == [
        ("first", "entailed, an instance of its rule", "", 2),
        ("first", "not entailed", "", 1),
        ("second", "entailed only", "", 1),
    ]


def test_nothing_tells_the_reviewer_the_verdict(tmp_path: Path) -> None:
    _, shown = reviewed(tmp_path, right, inputs(tmp_path, alpha=[GOOD, BAD], omega=[WRONG_RULE]))
    for text in shown:
        for hidden in ("alpha", "omega", PROBLEM.id, "s1", "h1", "ELIMINATION", "TOLLENS", "entailed"):
            assert hidden not in text


def test_the_sample_depends_on_the_seed_only(tmp_path: Path) -> None:
    from proof_r1_formal.integrations.inspect import review

    given = inputs(tmp_path, first=[GOOD, BAD, *[GOOD] * 20])
    drawn = [[one.metadata for one in review(**given, steps=3, seed=seed).dataset] for seed in (1, 1, 2)]
    assert len(drawn[0]) == 3
    assert drawn[0] == drawn[1] != drawn[2]


def test_an_uncertain_reviewer_disagrees_and_silence_is_unscored(tmp_path: Path) -> None:
    def answer(user: str) -> str:
        return "I cannot say." if "- dog(tom)\n\nConclusion" in user else said("uncertain")

    log, _ = reviewed(tmp_path, answer, inputs(tmp_path, first=[GOOD, BAD]))
    scores = [sample.scores["reviewer"] for sample in log.samples]
    assert sorted(-1.0 if math.isnan(one.value) else one.value for one in scores) == [-1.0, 0.0, 0.0]
    assert [one.reason for one in scores if math.isnan(one.value)] == ["invalid_response_format"]
    assert metrics(log)["agreement"] == 0.0


def test_a_log_becomes_tables_and_a_list_of_disagreements(tmp_path: Path) -> None:
    def answer(user: str) -> str:
        return said("invalid" if "- dog(tom)\n\nConclusion" in user else "valid", "```I looked\nat it.")

    log, _ = reviewed(tmp_path, answer, inputs(tmp_path, first=[GOOD, BAD, *[GOOD] * 3]))
    command = [sys.executable, "-m", "proof_r1_formal.integrations.inspect_review", log.location, "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "out" / "tables.md").read_text(encoding="utf-8")
    assert "| mockllm/model | 9 | 5 | 4 | 0 | 0 | 4 | 9 | 44.4 | 44.4 |" in done.stdout
    records = [json.loads(line) for line in (tmp_path / "out" / "disagreements.jsonl").read_text("ascii").splitlines()]
    assert len(records) == 5
    assert {(one["verdict"], one["judgement"]) for one in records} == {("valid", "invalid"), ("invalid", "valid")}
    page = (tmp_path / "out" / "disagreements.md").read_text(encoding="utf-8")
    assert "# Disagreements: 5\n" in page
    assert "reviewer: I looked at it.\n" in page
    assert "countermodel: " in page
    assert "1 │ dog(tom)  given 1" in page  # our proof, in the manner of Fitch
    drawn = sorted(path.name for path in (tmp_path / "out").glob("review-*"))
    assert drawn or "drawing requires matplotlib" in done.stderr


def test_a_step_without_a_verdict_is_unscored_and_no_disagreement(tmp_path: Path) -> None:
    """The premises have infinite models only, and the conclusion follows from none of them."""
    from proof_r1_formal.integrations.inspect_review import read_review

    order = ["∀x ∃y less(x, y)", "∀x ∀y ∀z (less(x, y) ∧ less(y, z) → less(x, z))", "∀x ¬less(x, x)"]
    premises = tuple(Premise(f"h{number}", parse_formula(text)) for number, text in enumerate(order, 1))
    endless = replace(PROBLEM, premises=premises)
    step = replace(STEP, dependencies=tuple(premise.id for premise in premises))
    given = inputs(tmp_path, first=[summary([step])])
    Path(given["problems"]).write_text(to_json(endless) + "\n", encoding="utf-8")
    log, _ = reviewed(tmp_path, lambda _user: said("valid"), given)
    [(name, _, _, count)] = log.eval.metadata["strata"]
    assert (name, count) == ("first", 1)
    assert [math.isnan(sample.scores["reviewer"].value) for sample in log.samples] == [True]
    assert read_review(log.location)[2] == []


def test_a_log_of_another_task_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("{")
    command = [sys.executable, "-m", "proof_r1_formal.integrations.inspect_review", str(tmp_path / "log.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: {tmp_path / 'log.json'}: " in done.stderr


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        (["no proof"], {}, "no step has a verdict"),
        ([GOOD], {"steps": 0}, "at least 1 step"),
    ],
)
def test_a_review_without_steps_is_refused(
    tmp_path: Path, texts: list[str], settings: dict[str, int], message: str
) -> None:
    from proof_r1_formal.integrations.inspect import review

    with pytest.raises(ProofR1Error, match=message):
        review(**inputs(tmp_path, first=texts), **settings)


def test_completions_of_other_problems_are_left_out_or_refused(tmp_path: Path) -> None:
    from proof_r1_formal.integrations.inspect import review

    given = inputs(tmp_path, first=[GOOD])
    with Path(given["completions"]).open("a", encoding="utf-8") as file:
        file.write('{"problem_id": "other", "completion": ""}\n')
    assert len(review(**given).dataset) == 2
    with pytest.raises(ProofR1Error, match="'other' is not a usable problem"):
        review(**given, strict=True)
    Path(given["completions"]).write_text("{}\n", encoding="utf-8")
    with pytest.raises(ProofR1Error, match="line 1"):
        review(**given)
