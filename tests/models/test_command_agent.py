"""``sample --command``: programs that solve problems, and programs that fail in every way."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from proof_r1_formal import Completion, Verifier, read_completions, read_problems
from proof_r1_formal.cli import app
from proof_r1_formal.data.native import to_json
from proof_r1_formal.models.agents.command import MAX_OUTPUT, CommandModel, completion_of
from proof_r1_formal.models.chat import Message, ModelError, Sampling
from tests.patience import PATIENCE

PROBLEMS = Path(__file__).resolve().parents[2] / "examples" / "problems.jsonl"
KNOWN = read_problems(PROBLEMS)
PROBLEM = KNOWN["garden/1"]
ASKED: list[Message] = [{"role": "user", "content": to_json(PROBLEM)}]

BY_ID = """
import json, os, sys, threading
problem = json.loads(sys.stdin.read())
assert not {"answer", "proofs", "notes"} & set(problem), "the program must not see the answer"
with open(sys.argv[1], "a") as seen:
    seen.write(problem["id"] + " ")
match problem["id"]:
    case "garden/1":
        print("Thinking {", json.dumps({"answer": "A", "reasoning": "It follows."}))
    case "garden/2":
        sys.exit(3)
    case "garden/3":
        threading.Event().wait()
    case "garden/4":
        while True:
            os.write(1, b"y" * 65536)
    case "animals/1":
        print("no idea")
    case "animals/2":
        os.abort()
    case _:
        print("<summary>[]</summary>")
"""
QUICK = BY_ID.replace("threading.Event().wait()", "1 / 0").replace("while True:", "if True:")


def sample(out: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["sample", "--problems", str(PROBLEMS), "--out", str(out), *arguments])


def command(folder: Path, code: str, *arguments: Path) -> str:
    (folder / "program.py").write_text(code, encoding="utf-8")
    return shlex.join([sys.executable, str(folder / "program.py"), *map(str, arguments)])


def read(path: Path) -> dict[str, str]:
    return {one.problem_id: one.completion for one in read_completions(path) if isinstance(one, Completion)}


def failures(out: Path) -> dict[str, str]:
    lines = out.with_suffix(".failures.jsonl").read_text(encoding="utf-8").splitlines()
    return {one["problem_id"]: one["problem"].removeprefix(f"{sys.executable} ") for one in map(json.loads, lines)}


def test_programs_that_fail_cost_their_own_problem_only(tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    done = sample(out, "--command", command(tmp_path, BY_ID, tmp_path / "seen"), "--k", "1", "--timeout", "3")
    assert done.exit_code == 1, done.output
    assert failures(out) == {
        "garden/2": "ended with status 3",
        "garden/3": "did not end within 3 seconds",
        "garden/4": f"wrote more than {MAX_OUTPUT} bytes",
        "animals/1": "wrote neither a <summary> nor a JSON object, but 'no idea'",
        "animals/2": "ended with status -6",
    }
    found = read(out)
    assert set(found) == set(KNOWN) - set(failures(out))
    assert found["garden/1"].startswith("<think>\nIt follows.\n</think>")
    assert Verifier().verify(PROBLEM, found["garden/1"]).answer == PROBLEM.options[0].id


def test_only_failed_runs_are_repeated(tmp_path: Path) -> None:
    out, seen = tmp_path / "c.jsonl", tmp_path / "seen"
    line = command(tmp_path, QUICK, seen)
    assert sample(out, "--command", line, "--k", "1").exit_code == 1
    assert sorted(seen.read_text().split()) == sorted(KNOWN)
    seen.unlink()
    before = read(out)
    assert sample(out, "--command", line, "--k", "1").exit_code == 1
    assert sorted(seen.read_text().split()) == sorted(set(KNOWN) - set(before))
    assert read(out) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a model with --model, or a program with --command, and not both"),
        (("--command", "true", "--model", "x"), "name a model with --model, or a program with --command, and not both"),
        (("--command", "no-such-program-here"), "there is no program 'no-such-program-here'"),
        (("--command", "'open"), "No closing quotation"),
        (("--command", " "), "there is no program"),
        (("--command", "true", "--method", "guided"), "--command requires --method direct"),
        (("--command", "true", "--repair"), "--command requires --method direct"),
        (("--command", "true", "--constrain", "json"), "--command requires --method direct"),
    ],
)
def test_wrong_use_is_reported_before_any_work(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = sample(tmp_path / "c.jsonl", *arguments)
    assert done.exit_code != 0
    assert message in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_cancelled_kills_its_program(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = f"import os, threading; open({str(pid)!r}, 'w').write(f'{{os.getpid()}}.'); threading.Event().wait()"
    model = CommandModel(command(tmp_path, code), seconds=PATIENCE)

    async def cancelled() -> None:
        asked = asyncio.create_task(model.reply(ASKED, Sampling()))
        while not (pid.exists() and pid.read_text().endswith(".")):
            await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(cancelled())  # it waits for the thread, and so for the end of the program
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()[:-1]), 0)


def test_a_program_that_cannot_be_started_ends_the_run(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(ModelError, match="cannot be started"):
        asyncio.run(CommandModel(str(broken)).reply(ASKED, Sampling()))


# -- what an output means ---------------------------------------------------------------------------------------------

STEP = {"id": "s1", "dependencies": ["h1"], "conclusion": "a", "rule": "IMPLICATION_ELIMINATION"}
BINDING = {"id": "h_goal_false", "dependencies": ["s1"], "conclusion": "¬a", "rule": "GOAL_BINDING"}


def elements(output: object) -> list[dict[str, object]]:
    """The actions of the completion that an output means."""
    text = completion_of(PROBLEM, f"log line {{\n{json.dumps(output)}\n".encode())
    found: list[dict[str, object]] = json.loads(text.partition("<summary>")[2].removesuffix("</summary>"))
    return found


@pytest.mark.parametrize("answer", ["h_goal_false", "false", "FALSE", " B "])
def test_an_answer_is_bound_after_the_steps(answer: str) -> None:
    first, last = elements({"answer": answer, "steps": [STEP]})
    assert first == STEP
    assert (last["id"], last["dependencies"], last["rule"]) == ("h_goal_false", ["s1"], "GOAL_BINDING")
    (alone,) = elements({"answer": answer})
    assert (alone["id"], alone["dependencies"]) == ("h_goal_false", [])


def test_a_binding_that_is_there_is_kept() -> None:
    assert elements({"answer": "B", "steps": [STEP, BINDING]}) == [STEP, BINDING]


def test_a_completion_is_kept_as_it_is() -> None:
    assert completion_of(PROBLEM, "…<summary>[".encode()) == "…<summary>["


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (b"\xff", "not UTF-8"),
        (b"", "neither a <summary> nor a JSON object, but ''"),
        (b'{"answer": "D"}', "the 'answer' 'D', which names no option: h_goal_true"),
        (b'{"answer": 1}', "the 'answer' 1, which names no option"),
        (b'{"answer": "A", "steps": 3}', "'steps' that are not actions: Expected `array`, got `int`"),
        (b'{"answer": "A", "steps": [{"id": "s1"}]}', "'steps' that are not actions: Object missing required field"),
        (b'{"answer": "A", "reasoning": "\\ud800"}', "half of a surrogate pair"),
        (b'{"a":' * 100_000, "neither a <summary> nor a JSON object"),
    ],
)
def test_nonsense_is_described(output: bytes, message: str) -> None:
    with pytest.raises(ValueError, match="wrote") as error:
        completion_of(PROBLEM, output)
    assert message in str(error.value)
