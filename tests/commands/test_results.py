"""What commands write and count: worked examples of tables and files, and runs that end early."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.assistants import dojo
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.decoding.grammar import completion_grammar
from proof_r1_formal.outputs import LineFile
from proof_r1_formal.rules.catalogue import TRAIN
from tests.build import INPUTS, Run, action, completion, example_problems, problem

PROBLEMS = INPUTS[:2]


def write_problem(path: Path, *problems: tuple[str, list[str], str, str | None], labels: bool = True) -> Path:
    """A file of problems, each by its id, premises, goal and answer; without ``labels``, no option negates another."""
    made = []
    for name, premises, goal, answer in problems:
        options = None if labels else {"a": goal, "b": f"{goal} ∧ odd"}
        made.append(problem(*premises, goal=goal, answer=answer, id=name, options=options))
    write_problems(path, made)
    return path


def tables_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table in a file of ``--json``."""
    return {table["title"]: table["rows"] for table in json.loads(path.read_bytes())}


def interrupt(monkeypatch: pytest.MonkeyPatch, lines: int) -> None:
    """Have Ctrl-C pressed when a run has written that many lines."""
    append = LineFile.append_line

    def append_line(self: LineFile, line: bytes) -> None:
        append(self, line)
        if self.done == lines:
            raise KeyboardInterrupt

    monkeypatch.setattr(LineFile, "append_line", append_line)


# -- standard output --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("rules",), ("rules", "modus tollens")], ids=["rules", "one of the rules"])
def test_rules_as_json_are_alone_on_standard_output(run: Run, command: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*command, "--json", "-")
    assert done.status == 0
    [table] = json.loads(done.stdout)
    assert table["rows"]
    assert table["rows"][0].keys() in ({"rule", "meaning"}, {"schema", "statement"})
    assert run(*command, "--json", str(tmp_path)).status == 2


# -- evaluation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "rvr"), [("train", 0.0), ("folio", 1.0)])
def test_evaluate_verifies_with_the_rules_of_the_dataset(run: Run, rules: str, rvr: float, tmp_path: Path) -> None:
    """A rule of FOLIO alone; the completion is cut off, and counts once although --strict reads it twice."""
    write_problem(tmp_path / "p.jsonl", ("q/1", ["¬∀x P(x)"], "∃x ¬P(x)", "h_goal_true"))
    steps = [action("s1", "∃x ¬P(x)", "h1", rule="QUANTIFIER_NEGATION")]
    steps.append(action("h_goal_true", "∃x ¬P(x)", "s1", rule="GOAL_BINDING"))
    record = {"problem_id": "q/1", "completion": completion(*steps), "truncated": True}
    (tmp_path / "c.jsonl").write_text(json.dumps(record), "utf-8")
    (tmp_path / "study.toml").write_text(
        f'[datasets.q]\nproblems = "p.jsonl"\nrules = "{rules}"\n'
        '[[systems]]\nbackbone = "b"\nmethod = "m"\ncompletions = { q = "c.jsonl" }\n',
        "utf-8",
    )
    given = ("evaluate", "--study", str(tmp_path / "study.toml"), "--strict", "--json", str(tmp_path / "t.json"))
    done = run(*given)
    assert done.status == 0, done.stderr
    assert "1 completion was cut off at the limit of tokens" in done.stderr
    [row] = tables_of(tmp_path / "t.json")["Main results: q"]
    assert next(value["value"] for name, value in row.items() if name.startswith("RVR")) == rvr


# -- problems ---------------------------------------------------------------------------------------------------------


def test_translate_counts_labels_and_slips(run: Run, tmp_path: Path) -> None:
    """A name in two spellings makes a label wrong; the premises of a problem without a label contradict each other."""
    rule = "∀x (Cat(x) → Animal(x))"
    source = write_problem(
        tmp_path / "p.jsonl",
        ("s/1", ["Cat(tom)", rule.replace("Cat", "cat")], "Animal(tom)", "h_goal_true"),
        ("s/2", ["Cat(tom)", rule, "Dog(tom)"], "Animal(tom)", "h_goal_true"),
        ("s/3", ["Cat(tom)", "¬Cat(tom)", "Dog(tom)"], "Cat(tom)", None),
        ("s/4", ["Cat(tom)", rule], "¬Animal(tom)", "h_goal_false"),
    )
    given = ("translate", str(source), "--out", str(tmp_path / "out"), "--check", "--json", str(tmp_path / "t.json"))
    done = run(*given)
    assert done.status == 0, done.stderr
    said, labels, slips = tables_of(tmp_path / "t.json").values()
    assert [(row["what"], row["count"]) for row in said] == [
        ("problems", 4),
        ("labelled False", 1),
        ("labelled True", 2),
        ("labelled unknown", 1),
        ("premises", 10),
        ("with reference proofs", 0),
        ("with notes", 0),
        ("rejected", 0),
    ]
    counted = [(row["label"], row["problems"], row["agree"], row["agree (%)"]["value"]) for row in labels]
    assert counted == [("False", 1, 1, 1.0), ("True", 2, 1, 0.5), ("all", 3, 2, 2 / 3)]
    names = ("problems", "agree", "of 2 (%)", "differ", "of all 1 (%)", "first")
    counts = {row["slip"]: tuple([row[n]["value"] if "%" in n else row[n] for n in names]) for row in slips}
    assert {slip: count for slip, count in counts.items() if count[0]} == {
        "names that differ in case": (1, 0, 0.0, 1, 1.0, "1"),
        "any of these pairs": (1, 0, 0.0, 1, 1.0, "1"),
        "predicate used once": (3, 1, 0.5, 1, 1.0, "1"),
        "premises contradictory": (1, 0, 0.0, 0, 0.0, "3"),
    }
    assert len(slips) == len(counts) == 9


@pytest.mark.parametrize(
    ("lines", "new"), [(8, "2 True; 1 duplicate was dropped"), (10, "none new; 0 duplicates were dropped")]
)
def test_generate_interrupted_drops_duplicates_of_earlier_lines(
    run: Run, lines: int, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ninth problem that is drawn is one of the first eight again."""
    small = ("--answers", "True", "--steps", "1", "--distractors", "0", "--difficulty", "easy")
    given = ("generate", "--n", "10", *small)
    assert run(*given, "--out", str(tmp_path / "whole")).status == 0
    whole = (tmp_path / "whole").read_bytes()
    assert [json.loads(line)["id"].rpartition("/")[2] for line in whole.splitlines()][6:] == ["6", "7", "9", "10"]
    with monkeypatch.context() as patched:
        interrupt(patched, lines)
        stopped = run(*given, "--out", str(tmp_path / "out"))
    assert stopped.status == 130
    assert f"interrupted; {lines} problems kept: repeat the command to resume" in stopped.stderr
    done = run(*given, "--out", str(tmp_path / "out"))
    assert done.status == 0
    assert f"10 problems written to {tmp_path / 'out'}: {new}" in done.stderr
    assert (tmp_path / "out").read_bytes() == whole


# -- proofs and theorems ----------------------------------------------------------------------------------------------


def test_prove_resumes_with_a_theorem_and_a_result_of_each(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = "∀x (Cat(x) → Animal(x))"
    proved = [(f"t/{n}", [rule, f"Cat(c{n})"], f"Animal(c{n})", "h_goal_true") for n in range(3)]
    source = write_problem(tmp_path / "p.jsonl", ("t/3", [rule], "Animal(tom)", "h_goal_uncertain"), *proved)
    whole = ("prove", "-p", str(source), "--out", str(tmp_path / "whole"), "--json", str(tmp_path / "all"))
    assert run(*whole).status == 0
    given = ("prove", "-p", str(source), "--out", str(tmp_path / "out"))
    for more, told in (
        (("--certify", str(tmp_path / "theorems"), "--kernel", "none"), "their proofs are searched for again"),
        (("--json", str(tmp_path / "results")), "their proofs are searched for again"),
        ((), "the table covers only the other problems"),
    ):
        with monkeypatch.context() as patched:
            interrupt(patched, 2)
            assert run(*given).status == 130
        assert not (tmp_path / "out").exists()
        done = run(*given, *more)
        assert done.status == 0, done.stderr
        assert f"resuming after 2 completions; {told}" in done.stderr
        assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
        (tmp_path / "out").unlink()
    assert {path.name for path in (tmp_path / "theorems").rglob("T_*.lean")} == {f"T_{n}_0.lean" for n in range(4)}
    assert (tmp_path / "results").read_bytes() == (tmp_path / "all").read_bytes()


def test_certify_fails_if_a_problem_has_no_theorem(run: Run, tmp_path: Path) -> None:
    """Neither option follows, and they are not a claim and its negation. No empty package is left."""
    source = write_problem(tmp_path / "p.jsonl", ("n/1", ["P(a)"], "Q(a)", "a"), labels=False)
    done = run("certify", "-p", str(source), "--kernel", "none", "--out", str(tmp_path / "out"))
    assert done.status == 1
    assert "n/1: no certificate: no option is found to follow" in done.stdout
    assert "no certificate: 1 (" in done.stderr
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_the_reason_for_no_certificate_is_one_line(run: Run, tmp_path: Path) -> None:
    """Also where it is longer than a terminal is wide."""
    name = f"n/{'1' * 90}"
    source = write_problem(tmp_path / "p.jsonl", (name, ["P(a)"], "Q(a)", "h_goal_true"))
    answer = completion(action("h_goal_true", "Q(a)", "h1", rule="GOAL_BINDING"))
    (tmp_path / "c.jsonl").write_text(json.dumps({"problem_id": name, "completion": answer}))
    done = run("certify", "-p", str(source), "-c", str(tmp_path / "c.jsonl"), "--kernel", "none")
    assert f"{name}, sample 0: no certificate: not entailed: h_goal_true" in done.stdout.splitlines()


def test_certify_leaves_a_folder_with_an_input_alone(run: Run, tmp_path: Path) -> None:
    """Without --isabelle, no file of theorems is named ROOT."""
    source = write_problem(tmp_path / "ROOT", ("n/1", ["P(a)"], "P(a)", "h_goal_true"))
    before = source.read_bytes()
    given = ("certify", "-p", str(source), "--format", "native", "--kernel", "none", "--out", str(tmp_path))
    assert run(*given).status == 0
    assert run(*given, "--isabelle").status == 2
    assert source.read_bytes() == before


def test_theories_trace_fails_at_a_difference(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What LeanDojo finds is given here, as LeanDojo needs a Lean of its own and the network."""
    monkeypatch.setattr(dojo, "trace", tuple)
    done = run("theories", "trace")
    assert done.status == 1
    lines = done.stdout.splitlines()
    assert f"0 theorems traced; {len(lines)} differences from the manifest" in done.stderr
    assert len(lines) > 80


# -- the others -------------------------------------------------------------------------------------------------------


def test_grammar_writes_each_dialect(run: Run) -> None:
    problem = example_problems()["garden/1"]
    made = completion_grammar(problem, TRAIN, steps=3)
    expected = {
        (): completion_grammar(problem).to_llguidance(),
        ("--steps", "3", "--to", "llguidance"): made.to_llguidance(),
        ("--steps", "3", "--thoughts"): made.to_llguidance(thoughts=True),
        ("--steps", "3", "--to", "gbnf"): made.to_gbnf(),
        ("--steps", "3", "--to", "json-schema"): json.dumps(made.to_json_schema(), ensure_ascii=False, indent=2),
    }
    for options, text in expected.items():
        done = run("grammar", *PROBLEMS, "--id", "garden/1", *options)
        assert (done.status, done.stdout) == (0, text.removesuffix("\n") + "\n")


def test_serve_is_strict_before_it_looks_at_the_port(run: Run, tmp_path: Path) -> None:
    """The port is taken, so that a service which does not refuse the problems ends, too."""
    source = write_problem(tmp_path / "p.jsonl", ("n/1", ["P(a)"], "P(a)", "h_goal_true"))
    with source.open("a", encoding="utf-8") as file:
        file.write('{"id": "broken"}\n')
    with socket.create_server(("127.0.0.1", 0)) as used:
        given = ("serve", "-p", str(source), "--port", f"{used.getsockname()[1]}")
        strict, usual = run(*given, "--strict"), run(*given)
    assert (strict.status, usual.status) == (2, 2)
    assert "1 problem cannot be used, and --strict forbids" in strict.stderr
    assert "cannot be used: Address already in use" in usual.stderr


def test_soundness_counts_what_it_tried(run: Run, tmp_path: Path) -> None:
    sizes = ("--examples", "20", "--answers", "5", "--proofs", "4")
    given = ("soundness", *sizes, "--out", str(tmp_path / "out"), "--json", str(tmp_path / "t.json"))
    done = run(*given)
    assert done.status == 0
    assert "0 failures in 20 steps, 5 traces and 4 proofs" in done.stderr
    steps, answers, proofs = tables_of(tmp_path / "t.json").values()
    found = json.loads((tmp_path / "out").read_bytes())
    assert [found[search]["failures"] for search in ("findings", "answers", "proofs")] == [[], [], []]
    for rows, search, last in ((steps, "findings", "accepted"), (answers, "answers", "verified")):
        assert {row["kind"]: (row[first(row)], row[last]) for row in rows} == {
            kind: (count, found[search]["accepted"].get(kind, 0)) for kind, count in found[search]["examples"].items()
        }
    assert sum(row["proofs"] for row in proofs) == 4
    assert {row["last line"]: row["accepted"] for row in proofs} == {
        kind: found["proofs"]["accepted"].get(kind, 0) for kind in found["proofs"]["examples"]
    }
    assert "confirmed" in done.stdout
    titles = ("Soundness of train on embedded", "Answers, the verified ones", "Forged proofs")
    assert [title for title in titles if title in done.stdout] == list(titles)


def first(row: dict[str, Any]) -> str:
    """The name of the first count of a row."""
    return list(row)[1]


# -- data sets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--name", "--license", "--source", "--split"])
@pytest.mark.parametrize("empty", ["", " "])
def test_a_dataset_says_what_its_card_must(run: Run, option: str, empty: str, tmp_path: Path) -> None:
    about = {"--name": "P", "--license": "mit", "--source": "Made for a test.", option: empty}
    words = [word for pair in about.items() for word in pair]
    done = run("dataset", *PROBLEMS, "-o", str(tmp_path / "out"), *words)
    assert done.status == 2
    assert f"the {option[2:]} of the data set is empty" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_dataset_does_not_overwrite_its_problems(run: Run, tmp_path: Path) -> None:
    source = write_problem(tmp_path / "problems.jsonl", ("s/1", ["P(a)"], "P(a)", "h_goal_true"))
    before = source.read_bytes()
    about = ("--name", "P", "--license", "mit", "--source", "Made for a test.")
    done = run("dataset", "-p", str(source), "-o", str(tmp_path), *about)
    assert (done.status, "would overwrite the input" in done.stderr) == (2, True)
    assert source.read_bytes() == before


def test_the_first_ids_without_their_beginning_have_advice(run: Run, tmp_path: Path) -> None:
    lines = [json.dumps({"id": 1, "completion": ""})] * 11
    (tmp_path / "c.jsonl").write_text("\n".join(lines))
    source = write_problem(tmp_path / "p.jsonl", ("n/1", ["P(a)"], "P(a)", "h_goal_true"))
    done = run("verify", "-p", str(source), "-c", str(tmp_path / "c.jsonl"), "--out", str(tmp_path / "r"))
    assert done.status == 1
    assert done.stderr.count("; if it is n/1, say so: --field problem_id=n/{KEY}") == 10, done.stderr


def test_certify_refuses_a_file_without_completions(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"problem_id": "other", "completion": ""}')
    done = run("certify", *PROBLEMS, "-c", str(tmp_path / "c.jsonl"), "--kernel", "none")
    assert (done.status, done.stdout) == (2, "")
    assert "has no usable completion" in done.stderr
