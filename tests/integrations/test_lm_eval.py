"""The task as lm-evaluation-harness runs it: with a model that replies from a list, and from its command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.integrations import lm_eval as folder
from proof_r1_formal.models.prompts import contract, question, text_prompt
from proof_r1_formal.rules.catalogue import catalogue
from tests.build import EXAMPLES
from tests.integrations.replies import PROBLEMS, asked_in_turn, replying, scores_of
from tests.patience import PATIENCE
from tests.scripted import serving

pytest.importorskip("lm_eval", reason="lm-eval is not installed: make test-integrations")
pytestmark = pytest.mark.integration

FOLDER = Path(folder.__path__[0])
FILE = EXAMPLES / "problems.jsonl"
REPEATS = 4
MEASURES = [Measure[name] for name in ("AVG", "PASS", "VERIFIED", "RULE_VERIFIED", "FVR", "RVR", "PARSED")]


def expected(count: int) -> dict[str, float]:
    """What this package's own evaluation says of these answers."""
    found = scores_of(count)
    return {measure.name.lower(): found[measure].value for measure in MEASURES}


def evaluated(reply: Callable[[str], str], task: str = "proof_r1", *, include: Path = FOLDER, **metadata: Any) -> Any:
    """The results of the harness with a model that replies."""
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Replying(LM):  # type: ignore[misc]
        def generate_until(self, requests: Sequence[Any]) -> list[str]:
            return [reply(request.args[0]) for request in requests]

        def loglikelihood(self, requests: object) -> Any:
            raise AssertionError(requests)

        loglikelihood_rolling = loglikelihood

    if include == FOLDER:
        metadata = {"problems": str(FILE)} | metadata
    tasks = TaskManager(include_path=str(include), include_defaults=False, metadata=metadata)
    return simple_evaluate(model=Replying(), tasks=[task], task_manager=tasks)


def documented(folder: Path, *lines: str) -> None:
    """Write the task of one's own in docs/integrations.md, with further lines."""
    page = (EXAMPLES.parent / "docs" / "integrations.md").read_text(encoding="utf-8")
    [task] = re.findall(r"^    include: .*?(?=\n\n|\Z)", page, re.DOTALL | re.MULTILINE)
    here = dedent(task).replace("/…/proof_r1_formal/integrations/lm_eval", str(FOLDER)).replace("P.jsonl", str(FILE))
    (folder / "mine.yaml").write_text("\n".join([here, *lines]), encoding="utf-8")


def scores(results: Any, task: str = "proof_r1") -> dict[str, float]:
    """The scores, without their standard errors."""
    found = {key.partition(",")[0]: value for key, value in results["results"][task].items() if "," in key}
    return {name: value for name, value in found.items() if not name.endswith("_stderr")}


def test_scores_are_those_of_this_package() -> None:
    found = scores(evaluated(asked_in_turn(1)))
    assert found.pop("uncertain_right") == 1
    assert found == expected(1)
    assert (found["avg"], found["verified"], found["fvr"]) == (5 / 6, 5 / 6, 1)


def test_rates_of_repeats_are_quotients_of_sums_over_all(tmp_path: Path) -> None:
    documented(tmp_path)
    results = evaluated(asked_in_turn(REPEATS), "mine_at_4", include=tmp_path)
    found = scores(results, "mine_at_4")
    assert found.pop("uncertain_right") == 1 / 4
    assert found == pytest.approx(expected(REPEATS))
    assert (found["fvr"], found["rvr"], found["pass"]) == (30 / 32, 26 / 31, 5 / 6)


def test_a_filter_may_leave_one_answer(tmp_path: Path) -> None:
    first = "filter_list: [{name: first, filter: [{function: take_first}]}]"
    documented(tmp_path, first)
    found = scores(evaluated(asked_in_turn(REPEATS), "mine_at_4", include=tmp_path), "mine_at_4")
    assert found.pop("uncertain_right") == 1
    assert found == expected(1)


def test_means_have_standard_errors_over_problems() -> None:
    found = evaluated(asked_in_turn(1))["results"]["proof_r1"]
    assert found["avg_stderr,none"] == pytest.approx((5 / 6 / 6 / 5) ** 0.5)
    assert found["fvr_stderr,none"] == "N/A"  # the harness has no way to resample quotients


# -- prompts ----------------------------------------------------------------------------------------------------------


def prompts_of(**metadata: Any) -> tuple[list[str], Any]:
    """The prompts of an evaluation, and its results."""
    results = evaluated(lambda _: "", **metadata)
    return [sample["arguments"][0][0] for sample in results["samples"]["proof_r1"]], results


def test_prompts_without_a_chat_template() -> None:
    asked, _ = prompts_of()
    assert asked == [f"{contract()}\n\n{question(problem)}" for problem in PROBLEMS.values()]


def test_a_short_prompt_is_the_formulas_alone() -> None:
    asked, _ = prompts_of(prompt="short")
    assert asked == [text_prompt(problem, english=False) for problem in PROBLEMS.values()]


def test_rules_are_those_of_the_prompt_and_of_the_verdicts() -> None:
    asked, results = prompts_of(rules="folio")
    assert asked[0].startswith(contract(catalogue("folio")))
    assert {sample["doc"]["rules"] for sample in results["samples"]["proof_r1"]} == {"folio"}


# -- what is left out -------------------------------------------------------------------------------------------------


def test_a_score_that_leaves_out_a_problem_is_absent(tmp_path: Path) -> None:
    first = json.loads(FILE.read_text(encoding="utf-8").splitlines()[0]) | {"answer": None, "proofs": []}
    both = [{"id": "h1", "formula": "on_duty(Mara)"}, {"id": "h2", "formula": "¬on_duty(Mara)"}]
    file = tmp_path / "problems.jsonl"
    records = (first, first | {"id": "contradictory", "answer": "h_goal_true", "premises": both})
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    results = evaluated(lambda _: "no proof", problems=str(file))
    assert scores(results) == {"fvr": 0, "rvr": 0, "parsed": 0}  # of the first one
    assert results["n-samples"]["proof_r1"] == {"original": 2, "effective": 1}


def test_an_unusable_problem_is_counted_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = FILE.read_text(encoding="utf-8").splitlines()[0]
    broken = json.loads(first) | {"id": "broken", "premises": [{"id": "h1", "formula": "on_duty("}]}
    file = tmp_path / "problems.jsonl"
    file.write_text(f"{first}\n{json.dumps(broken)}\n", encoding="utf-8")
    assert evaluated(asked_in_turn(1), problems=str(file))["n-samples"]["proof_r1"]["original"] == 1
    assert "problem broken is unusable" in caplog.text
    assert "1 of 2 problems left out" in caplog.text
    with pytest.raises(ProofR1Error, match="1 of 2 problems left out"):
        evaluated(asked_in_turn(1), problems=str(file), strict=True)


@pytest.mark.parametrize("wrong", [{"rules": "none"}, {"prompt": "none"}, {"problems": None}])
def test_a_setting_that_cannot_be_used_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ProofR1Error, match=r"none|--metadata problems=FILE"):
        evaluated(asked_in_turn(1), **wrong)


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_command_evaluates_a_server(tmp_path: Path) -> None:
    script = replying(asked_in_turn(1))
    with serving(script) as url:
        command = ("--tasks", "proof_r1", "--include_path", str(FOLDER), "--metadata", f"problems={FILE}")
        server = ("--model", "local-chat-completions", "--model_args", f"model=it,base_url={url}/chat/completions")
        done = subprocess.run(
            [sys.executable, "-m", "lm_eval", *server, *command, "--apply_chat_template", "--output_path", "out"],
            cwd=tmp_path,
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = (tmp_path / "out").rglob("results_*.json")
    found = scores(json.loads(file.read_text(encoding="utf-8")))
    assert found.pop("uncertain_right") == 1
    assert found == expected(1)
    first = script.asked[0]["messages"][0]
    assert (first["role"], first["content"].rstrip()) == ("system", contract())
