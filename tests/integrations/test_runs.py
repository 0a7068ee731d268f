"""The needs of each training run: prompts that fit, and the scores of an evaluation during training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proof_r1_formal import write_problems
from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations.runs import (
    DataArguments,
    demonstration_rows,
    evaluation_scores,
    load_averages,
    save_averages,
    task_rows,
)
from proof_r1_formal.proof.verify import Verifier
from tests.build import example_answers


def test_samples_are_numbered_problem_by_problem() -> None:
    """A trainer hands over reports in any order, all as sample 0; each is counted."""
    given = [(problem, answer) for problem, answer in example_answers() if problem.id in ("garden/1", "garden/2")]
    problems = {problem.id: problem for problem, _ in given}
    verifier = Verifier()
    reports = [verifier.verify(problem, answer.completion) for problem, answer in given]
    wrong = msgspec.structs.replace(reports[0], answer_correct=False, verified=False, rule_verified=False)
    scores = evaluation_scores(problems, [*reports[2:], wrong, *reports[:2]])
    # two of three are right on garden/1; on garden/2, three of three, of which one proof and one name of a rule fail
    assert {report.sample for report in reports} == {0}
    assert scores["eval_avg"] == 5 / 6
    assert scores["eval_pass"] == 1
    assert (scores["eval_verified"], scores["eval_rule_verified"]) == (4 / 6, 3 / 6)
    assert 0 < scores["eval_rvr"] < scores["eval_fvr"] < 1


def test_scores_have_the_prefix() -> None:
    [(problem, answer), *_] = example_answers()
    scores = evaluation_scores({problem.id: problem}, [Verifier().verify(problem, answer.completion)], prefix="held")
    assert set(scores) == {f"held_{name}" for name in ("avg", "pass", "fvr", "rvr", "verified", "rule_verified")}


def test_without_a_report_there_is_no_score() -> None:
    [(problem, _), *_] = example_answers()
    assert evaluation_scores({problem.id: problem}, []) == {}


def test_a_score_of_nothing_is_absent() -> None:
    """Without a reference answer no answer is wrong, and a problem with the answer Uncertain is in no score."""
    given = {problem.id: problem for problem, _ in example_answers()}
    unknown, uncertain = replace(given["garden/1"], answer=None), given["garden/4"]
    found = [evaluation_scores({one.id: one}, [Verifier().verify(one, "")]) for one in (unknown, uncertain)]
    assert found == [{"eval_fvr": 0.0, "eval_rvr": 0.0}, {}]


@pytest.mark.integration
def test_a_demonstration_that_would_be_cut_is_left_out(known: list[Any], tokenizer: Any, tmp_path: Path) -> None:
    """TRL cuts what is longer than ``max_length``, and the model would learn a proof without its end."""
    pytest.importorskip("datasets", reason="datasets is not installed: make test-integrations")
    file = tmp_path / "p.jsonl"
    write_problems(file, [one.problem for one in known])
    arguments = DataArguments([str(file)], prompt="short")
    everything, _ = demonstration_rows([str(file)], arguments, rules="train", tokenizer=tokenizer)
    sizes = [len(tokenizer(row["prompt"] + row["completion"])["input_ids"]) + 1 for row in everything]
    for most in (max(sizes), max(sizes) - 1):
        rows, lines = demonstration_rows([str(file)], arguments, rules="train", tokenizer=tokenizer, max_tokens=most)
        cut = sum([size > most for size in sizes])
        assert len(rows) == len(sizes) - cut
        said = f"{cut} left out: prompt and proof are longer than max_length, {most} tokens"
        assert lines[1:] == ((said,) if cut else ())
    with pytest.raises(ProofR1Error, match="longer than max_length, 1 tokens"):
        demonstration_rows([str(file)], arguments, rules="train", tokenizer=tokenizer, max_tokens=1)


@pytest.mark.integration
def test_a_demonstration_in_messages_is_measured_in_tokens(known: list[Any], tokenizer: Any, tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed: make test-integrations")
    file = str(tmp_path / "p.jsonl")
    write_problems(Path(file), [one.problem for one in known])
    rows, said = demonstration_rows([file], DataArguments([file], prompt="full"), rules="train", tokenizer=tokenizer)
    sizes = [
        len(
            tokenizer("".join([f"{one['content']}<turn>" for one in [*row["prompt"], *row["completion"]]]))["input_ids"]
        )
        for row in rows
    ]
    arguments = DataArguments([file], prompt="full")
    texts = ["".join([f"{one['content']}<turn>" for one in row["prompt"]]) for row in rows]
    longest = max([len(tokenizer(text)["input_ids"]) for text in texts])
    assert longest - 1 <= int(said[0].split()[-1]) <= longest + 1  # and what begins the answer
    kept, lines = demonstration_rows([file], arguments, rules="train", tokenizer=tokenizer, max_tokens=max(sizes) - 1)
    cut = sizes.count(max(sizes))
    assert (len(kept), len(sizes)) == (3 - cut, 3)
    assert lines[1:] == (f"{cut} left out: prompt and proof are longer than max_length, {max(sizes) - 1} tokens",)


@pytest.mark.integration
def test_averages_of_a_checkpoint_that_are_missing_are_named(tmp_path: Path, tokenizer: Any) -> None:
    """Both trainers read them here; verl's gave a bare FileNotFoundError."""
    with CreditAssigner(tokenizer, workers=0) as assigner:
        save_averages(tmp_path, assigner)
        load_averages(tmp_path, assigner)
        for text in (None, "{", "[]"):
            (tmp_path / "proof_r1.json").unlink() if text is None else (tmp_path / "proof_r1.json").write_text(text)
            with pytest.raises(ProofR1Error, match=r"proof_r1\.json.* cannot be read .*; delete this checkpoint"):
                load_averages(tmp_path, assigner)


@pytest.mark.integration
@pytest.mark.parametrize("rows", [task_rows, demonstration_rows])
def test_a_prompt_of_the_greatest_length_fits(rows: Any, known: list[Any], tokenizer: Any, tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed: make test-integrations")
    file = str(tmp_path / "p.jsonl")
    write_problems(Path(file), [one.problem for one in known])

    def read(most: int | None) -> tuple[int, tuple[str, ...]]:
        arguments = DataArguments([file], prompt="question", max_prompt_tokens=most)
        found, said = rows([file], arguments, rules="train", tokenizer=tokenizer)
        return len(found), said

    count, [line] = read(None)
    assert (count, line.split()[0]) == (3, "3")
    longest = int(line.split()[-1])
    assert read(longest) == (3, (line,))
    count, (_, left_out) = read(longest - 1)
    assert count < 3
    assert left_out == f"{3 - count} left out: the prompt is longer than {longest - 1} tokens"
    with pytest.raises(ProofR1Error, match="to learn from\n3 left out: the prompt is longer than 1 tokens"):
        read(1)
