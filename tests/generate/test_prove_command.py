"""``proof-r1 prove`` as a user meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from proof_r1_formal.data.native import write_problems
from tests.build import COMPLETIONS, PROBLEMS, Run, action, problem

SPLIT = ("P(a) ∨ Q(a)", "P(a) → R(a)", "Q(a) → R(a)")
"""Premises of which only the engine has a proof of R(a), by cases."""


def test_completions_are_written_and_verify(run: Run, tmp_path: Path) -> None:
    out, reports = tmp_path / "completions.jsonl", tmp_path / "reports.jsonl"
    result = run("prove", "--problems", str(PROBLEMS), "--out", str(out))
    assert result.status == 0, result.stderr
    assert re.search(r"proved +6 +6 +6 ", result.stdout)
    assert "6 completions written" in result.stderr
    verified = run("verify", "--problems", str(PROBLEMS), "--completions", str(out), "--out", str(reports))
    assert verified.status == 0, verified.stderr
    lines = [json.loads(line) for line in reports.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 6
    assert all(action["signal"] == 1.0 for line in lines for action in line["actions"])
    assert all(line["answer_correct"] for line in lines)


def test_one_problem_is_shown_with_english_and_rules(run: Run) -> None:
    result = run("prove", "--problems", str(PROBLEMS), "--id", "garden/2")
    assert result.status == 0
    assert "answer False (right), 3 steps" in result.stdout
    assert "Tilo has a rake." in result.stdout
    assert "conjunction introduction" in result.stdout
    short = run("prove", "--problems", str(PROBLEMS), "--id", "garden/2", "--short")
    assert "answer False (right), 2 steps" in short.stdout
    uncertain = run("prove", "--problems", str(PROBLEMS), "--id", "garden/4")
    assert "answer Uncertain" in uncertain.stdout
    for option in ("h_goal_true", "h_goal_false"):
        assert f"\nmodel of the premises in which {option} is false: Entity = {{0}}; " in uncertain.stdout


def test_results_as_json(run: Run, tmp_path: Path) -> None:
    problems, asked = tmp_path / "own.jsonl", {"direct": ["R(a)"], "open": ["P(a)"], "split": SPLIT}
    write_problems(problems, [problem(*of, goal="R(a)", answer=None, id=name) for name, of in asked.items()])
    result = run("prove", "--problems", str(problems), "--json", "-")
    assert result.status == 1  # one is given up
    direct, unclear, given_up = map(json.loads, result.stdout.splitlines())
    assert direct == {
        "problem_id": "direct",
        "result": "proved",
        "answer": "h_goal_true",
        "steps": [action("h_goal_true", "R(a)", "h1", rule="GOAL_BINDING")],
    }
    assert (unclear["result"], sorted(unclear["models"])) == ("uncertain", ["h_goal_false", "h_goal_true"])
    assert (given_up["result"], given_up["reason"], given_up["detail"]) == ("gave up", "NO_PROOF", "h_goal_true")
    assert "no proof of split" in result.stderr
    counted = run("prove", "--problems", str(problems), "--json", str(tmp_path / "results"))
    assert (tmp_path / "results").read_text(encoding="utf-8") == result.stdout
    assert re.search(r"^ *problems: given up: a claim follows,.* 1 ", counted.stdout, re.MULTILINE)
    rows = [counted.stdout.index(f"problems: {row}") for row in ("proved", "uncertain", "given up")]
    assert rows == sorted(rows)
    assert re.search(r"^ *steps per proof, without the terminal one +0\.0", counted.stdout, re.MULTILINE)


def test_with_a_table_evidence_of_the_engine_counts(run: Run, tmp_path: Path) -> None:
    write_problems(tmp_path / "p.jsonl", [problem(*SPLIT, goal="R(a)", answer=None)])
    assert run("prove", "--problems", str(tmp_path / "p.jsonl")).status == 1
    assert run("prove", "--problems", str(tmp_path / "p.jsonl"), "--table").status == 0


def test_completions_are_continued_from_their_last_accepted_step(run: Run, tmp_path: Path) -> None:
    out, reports = tmp_path / "corrected.jsonl", tmp_path / "reports.jsonl"
    given = ("prove", "--problems", str(PROBLEMS), "--continue", str(COMPLETIONS))
    result = run(*given, "--out", str(out))
    assert result.status == 0, result.stderr
    rows = [line.rsplit(maxsplit=1) for line in result.stdout.splitlines() if line.strip()]
    assert {row[0].strip(): row[1] for row in rows if len(row) == 2} == {
        "what": "number",
        "completions: nothing is wrong": "7",
        "completions: corrected": "5",
        "completions: left out: no option follows": "1",
        "accepted steps per correction": "0.800",
        "of these used by the answer": "0.800",
        "steps added, the terminal one included": "2.800",
        "corrections that use no accepted step": "0",
    }
    flawless = [json.loads(path.read_text("utf-8").splitlines()[0])["completion"] for path in (COMPLETIONS, out)]
    assert flawless[0] == flawless[1]
    poor = run(*given, "--budget", "1")
    assert poor.status == 1
    assert "left out: no continuation" in poor.stdout
    assert "no continuation of garden/2, sample 1: the budget is spent" in poor.stderr
    verified = run("verify", "--problems", str(PROBLEMS), "--completions", str(out), "--out", str(reports))
    assert verified.status == 0, verified.stderr
    found = [json.loads(line) for line in reports.read_text(encoding="utf-8").splitlines()]
    assert len(found) == 12
    assert all(action["signal"] == 1.0 for report in found for action in report["actions"])
