"""The evaluation sets of the paper: every record has one reason, and the order of the file does not matter."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from proof_r1_formal.data import read_problems
from studies.paper_splits import PUBLISHED, Choice, Rule, Selector, counts, main

THREE = ["A) True", "B) False", "C) Uncertain"]
GOOD = {"id": "g", "dependencies": ["h1", "h2"], "conclusion": "b(c)", "rule": "IMPLICATION_ELIMINATION"}
BIND = {"id": "h_goal_true", "dependencies": ["g"], "conclusion": "b(c)", "rule": "GOAL_BINDING"}


def proverqa(number: int, premises: Iterable[str], goal: str, answer: str, **more: object) -> dict[str, object]:
    table = {f"Sentence {count}.": formula for count, formula in enumerate(premises)}
    record = {"id": number, "nl2fol": table, "conclusion_fol": goal, "question": "?"}
    return {**record, "options": THREE, "answer": answer, **more}


def folio(premises: list[str], goal: str, label: str) -> dict[str, object]:
    english = ["Sentence."] * len(premises)
    return {"premises": english, "premises-FOL": premises, "conclusion": "?", "conclusion-FOL": goal, "label": label}


def written(path: Path, records: Iterable[object]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def rules(choices: Iterable[Choice]) -> dict[str, Rule]:
    return {choice.id.rpartition("/")[2]: choice.rule for choice in choices}


def test_proverqa_gives_the_first_reason_and_attaches_a_proof(tmp_path: Path) -> None:
    follows = (["a(c)", "∀x (a(x) → b(x))"], "b(c)", "A")
    records = [
        proverqa(0, *follows),
        proverqa(1, *follows),
        proverqa(2, ["a(c)"], "b(c)", "C"),
        proverqa(3, ["a(c)"], "b(c)", "A"),
        proverqa(4, ["a(c)", "¬a(c)"], "b(c)", "A"),
        proverqa(5, ["a(c"], "b(c)", "A"),
        proverqa(6, ["a(c)"], "b(c)", "D"),
    ]
    path = written(tmp_path / "easy.jsonl", records)
    choices = list(Selector(excluded=frozenset({"easy/1"})).proverqa(read_problems(path)))
    assert rules(choices) == {
        "0": Rule.CHOSEN,
        "1": Rule.HELD_OUT,
        "2": Rule.UNCERTAIN,
        "3": Rule.NOT_ENTAILED,
        "4": Rule.CONTRADICTORY,
        "5": Rule.FORMULA,
        "6": Rule.UNLABELLED,
    }
    assert choices[0].problem is not None
    assert [step.rule for step in choices[0].problem.proofs[0]] == ["IMPLICATION_ELIMINATION", "GOAL_BINDING"]
    assert counts(choices) == {"records": 7, "easy": 1, **{str(choice.rule): 1 for choice in choices}}


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        ([GOOD, BIND], Rule.CHOSEN),
        ([{**GOOD, "rule": "MODUS_TOLLENS"}, BIND], Rule.UNPROVED),
        ([{**GOOD, "dependencies": ["h1"]}, BIND], Rule.UNPROVED),
        ([GOOD, {**BIND, "id": "h_goal_false"}], Rule.UNPROVED),
    ],
)
def test_proofs_of_records_count_if_every_step_is_verified(tmp_path: Path, steps: list[object], rule: Rule) -> None:
    record = proverqa(0, ["a(c)", "∀x (a(x) → b(x))"], "b(c)", "A", canonical_proofs=[{"steps": steps}])
    problems = read_problems(written(tmp_path / "hard.jsonl", [record]))
    assert list(rules(Selector(budget=1).proverqa(problems)).values()) == [rule]  # too little to find one


def test_what_is_left_out_of_folio(tmp_path: Path) -> None:
    records = [
        folio(["∀x (A(x) → B(x))", "A(carl)"], "B(carl)", "True"),
        folio(["A(carl) ↔ B(carl)", "A(carl)"], "B(carl)", "True"),
        folio(["A(carl) ∧ carl = dora"], "A(dora)", "True"),
        folio(["A(f(carl))"], "A(f(carl))", "True"),
        folio(["A(3)"], "A(3)", "True"),
        folio(["(∀x A(x)) ∧ B(x)"], "A(carl)", "True"),
        folio(["A(carl))"], "A(carl)", "True"),
        folio(["A(carl))"], "B(carl)", "Uncertain"),
        folio(["A(carl)"], "A(carl)", "False"),
    ]
    path = written(tmp_path / "v.jsonl", records)
    choices = Selector().folio(read_problems(path, repair=False), read_problems(path, repair=True))
    assert {name: rule for name, rule in rules(choices).items() if rule is not Rule.FORMULA} == {
        "1": Rule.CHOSEN,
        "8": Rule.UNCERTAIN,
        "9": Rule.NOT_ENTAILED,
    }


def test_proofwriter_is_drawn_evenly_by_the_seed_alone(tmp_path: Path) -> None:
    text = "Based on the above information, is the following statement true, false, or unknown?"
    common = {"context": "Anne is kind. Anne is not red.", "options": ["A) True", "B) False", "C) Unknown"]}
    records: list[dict[str, object]] = [
        {"id": f"{number}", "question": f"{text} Anne is {word}.", "answer": letter, **common}
        for number, (word, letter) in enumerate([("red", "B"), *[("kind", "A")] * 3] * 100)
    ]

    def drawn(records: list[dict[str, object]], seed: int) -> set[str]:
        problems = read_problems(written(tmp_path / "p.jsonl", records))
        choices = list(Selector(seed=seed).proofwriter(problems))
        assert {choice.rule for choice in choices} == {Rule.CHOSEN, Rule.NOT_DRAWN}
        chosen = [choice for choice in choices if choice.rule is Rule.CHOSEN]
        answers = Counter(choice.problem.answer for choice in chosen if choice.problem)
        assert answers == {"h_goal_true": 75, "h_goal_false": 75}
        return {choice.id for choice in chosen}

    assert drawn(records, 1) == drawn(records[::-1], 1)
    assert drawn(records, 1) != drawn(records, 2)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setattr(sys, "argv", ["paper_splits", *map(str, arguments)])
    main()


def test_the_program_writes_sets_and_shows_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "easy.jsonl", [proverqa(n, ["a(c)", "a(c) → b(c)"], "b(c)", "A") for n in range(3)])
    ids = tmp_path / "ids.txt"
    ids.write_text("easy/1\n\neasy/9\n", encoding="utf-8")
    run(monkeypatch, "--proverqa", path, "--exclude", ids, "-o", tmp_path / "out")
    printed, said = capsys.readouterr()
    assert [line.split()[-3:] for line in printed.splitlines()][1:3] == [
        ["records", "3", "1350"],
        ["chosen", "2", "681"],
    ]
    assert "1 ids are in no file; the first: easy/9" in said
    found = read_problems(tmp_path / "out" / "proverqa.jsonl")
    assert [problem.id for problem in found.values() if problem.proofs] == ["easy/0", "easy/2"]
    lines = (tmp_path / "out" / "selection.jsonl").read_text(encoding="utf-8").splitlines()
    assert [(record["id"], record["rule"]) for record in map(json.loads, lines)] == [
        ("easy/0", "chosen"),
        ("easy/1", "named in the file of exclusions"),
        ("easy/2", "chosen"),
    ]


def test_wrong_use_of_the_program_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "proverqa.jsonl", [proverqa(0, ["a(c)"], "a(c)", "A")])
    for arguments, told in (
        (("--proverqa", path, "-o", tmp_path), "would overwrite the input"),
        (("--proverqa", path, "--proverqa", path, "-o", tmp_path / "out"), "already has a problem 'proverqa/0'"),
        (("--proverqa", path, "--exclude", tmp_path / "none", "-o", tmp_path / "out"), "No such file"),
        (("-o", tmp_path / "out"), "name a file to select from"),
    ):
        with pytest.raises(SystemExit):
            run(monkeypatch, *arguments)
        assert told in capsys.readouterr().err


def test_the_counts_on_the_benchmark_data(shared_data: Path) -> None:
    """The counts that docs/paper.md states."""
    choose = Selector()
    medium = counts(choose.proverqa(read_problems(shared_data / "proverqa" / "medium.json")))
    assert medium == {"records": 300, "medium": 174, Rule.CHOSEN: 174, Rule.UNCERTAIN: 119, Rule.NOT_ENTAILED: 7}
    path = shared_data / "folio" / "folio_v0_validation.jsonl"
    v0 = counts(choose.folio(read_problems(path, repair=False), read_problems(path, repair=True)))
    assert v0 == {"records": 204, Rule.CHOSEN: 116, Rule.UNCERTAIN: 68, Rule.FORMULA: 13, Rule.NOT_ENTAILED: 7}
    owa = counts(choose.proofwriter(read_problems(shared_data / "proofwriter" / "logiclm_dev.json")))
    assert owa[Rule.CHOSEN] == PUBLISHED["proofwriter"][Rule.CHOSEN] == 150
    golden = read_problems(shared_data / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    assert set(rules(Selector(budget=1).proverqa(golden)).values()) == {Rule.CHOSEN}
