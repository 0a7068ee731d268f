"""Exercises in reading: every line says what is so, and a model of random weights learns to write them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import msgspec
import pytest

from proof_r1_formal import Verifier, parse_formula, write_problems
from proof_r1_formal.kernel.answer import Entailed
from studies.teaching import exercises
from studies.teaching.exercises import LINES, about, batch, letters, practise
from studies.teaching.model import make_tokenizer, write_model
from studies.teaching.problems import IDS, File, problems


def test_formulas_of_letters_are_repeated_in_another_order() -> None:
    source = Random(5)
    for _ in range(20):
        prompt, answer = letters(source)
        lines = prompt.splitlines()
        assert sorted(answer.split("\n")) == sorted(lines)
        assert [line.split(": ")[0] for line in lines[-len(IDS) :]] == list(IDS)
        for line in lines:
            parse_formula(line.split(": ")[1])


def test_every_line_about_a_problem_is_so() -> None:
    """Premises and options by id, options by formula, and what follows from a premise and a literal."""
    verifier, source = Verifier(), Random(6)
    seen: set[str] = set()
    for problem in islice(problems("drawn", File(20, 13)), 20):
        formulas = {premise.id: premise.formula for premise in problem.premises}
        formulas |= {option.id: option.formula for option in problem.options}
        for _ in range(8):
            _, answer = about(problem, source)
            if answer.startswith("<summary>"):
                steps = msgspec.json.decode(answer.removeprefix("<summary>").removesuffix("</summary>"))
                bound = [step for step in steps if step["rule"] == "GOAL_BINDING"]
                assert all(parse_formula(step["conclusion"]) == formulas[step["id"]] for step in bound)
                seen.add("bindings" if len(bound) > 1 else "proof")
                continue
            lines = answer.split("\n")
            assert len(lines) <= LINES
            for line in lines:
                left, right = line.split(": ")
                if left in formulas:
                    assert parse_formula(right) == formulas[left]
                    seen.add("id")
                elif right in formulas:
                    assert parse_formula(left) == formulas[right]
                    seen.add("option")
                else:
                    name, given = left.split(" ")
                    found = verifier.oracle.entails((formulas[name], parse_formula(given)), parse_formula(right))
                    assert isinstance(found, Entailed)
                    seen.add("follows")
    assert seen == {"bindings", "proof", "id", "option", "follows"}


def test_labels_are_what_is_to_be_written() -> None:
    rows = [letters(Random(number)) for number in range(3)]
    tokenizer = make_tokenizer(iter([prompt + answer for prompt, answer in rows]))
    tokens, labels = batch(rows, tokenizer)
    for row, (prompt, answer) in enumerate(rows):
        written = labels[row][labels[row] >= 0]
        assert tokenizer.decode(written) == answer + tokenizer.eos_token
        whole = tokens[row][tokens[row] != tokenizer.pad_token_id]
        assert tokenizer.decode(whole) == prompt + answer + tokenizer.eos_token


def test_a_model_learns_from_them_the_same_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_problems(tmp_path / "warm-up.jsonl", islice(problems("drawn", File(12, 14)), 12))
    write_model(tmp_path, tmp_path / "start", seed=3)
    for name, number in {
        "UPDATES_OF_LETTERS": 60,
        "UPDATES_OF_PROBLEMS": 2,
        "UPDATES": 62,
        "SHOWN": 1,
        "ROWS": 2,
    }.items():
        monkeypatch.setattr(exercises, name, number)
    for folder in ("first", "second"):
        practise(tmp_path, tmp_path / "start", tmp_path / folder, 3)
    first, second = ((tmp_path / folder / "model.safetensors").read_bytes() for folder in ("first", "second"))
    assert first == second
    losses = [float(line.split(": ")[1].split()[0]) for line in capsys.readouterr().out.splitlines()]
    assert len(losses) == 2 * 62
    assert losses[59] < losses[0] / 2
