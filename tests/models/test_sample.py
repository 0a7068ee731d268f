"""``proof-r1 sample``: with servers that misbehave in every way, and with a tiny model that is really run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from proof_r1_formal import Completion, Problem, read_completions, read_problems
from proof_r1_formal.cli import app
from proof_r1_formal.data.failures import read_failures
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate import completion
from proof_r1_formal.models import runner
from proof_r1_formal.models.chat import ModelError
from proof_r1_formal.models.prompts import question
from proof_r1_formal.text.show import show
from tests.models.scripted import Act, Body, Handler, Script, saying, serving
from tests.patience import PATIENCE

PROBLEMS = Path(__file__).resolve().parents[2] / "examples" / "problems.jsonl"
KNOWN = read_problems(PROBLEMS)
Follow = Callable[[Script], str]


@pytest.fixture(autouse=True)
def briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that fail are made again soon."""
    monkeypatch.setattr(runner, "FIRST_PAUSE", 0.001)


def sample(url: str, out: Path, *arguments: str) -> Result:
    command = ["sample", "--problems", str(PROBLEMS), "--model", url, "--out", str(out), *arguments]
    return CliRunner().invoke(app, command)


def read(path: Path) -> list[Completion]:
    found = list(read_completions(path))
    assert all(isinstance(one, Completion) for one in found)
    return [one for one in found if isinstance(one, Completion)]


def problem_of(body: Body) -> Problem:
    """Whose question a request is."""
    (found,) = [problem for problem in KNOWN.values() if question(problem) in body["messages"][1]["content"]]
    return found


def good(problem: Problem) -> str:
    """The right answer with its proof; nothing of worth where there is none."""
    return completion(problem, problem.proofs[0]) if problem.proofs else "<summary>[]</summary>"


def torn(handler: Handler) -> None:
    handler.stream(json.dumps({"choices": [{"index": 0, "delta": {"content": "<summary>["}}]}))


def test_every_problem_gets_its_samples_or_a_recorded_failure(follow: Follow, tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def act(body: Body) -> Act:
        problem = problem_of(body)
        asked[problem.id] += 1
        match problem.id, asked[problem.id]:
            case "garden/1", 1:
                return lambda handler: handler.send(500, "<html>", Retry_After="0")
            case "garden/2", 1 | 2:
                return lambda handler: handler.send(429, "{}", Retry_After="0")
            case "garden/3", _:
                return lambda handler: handler.send(400, '{"error": {"message": "too long"}}')
            case "garden/4", 1:
                return torn
            case "animals/1", _:
                return saying("\x00 I am no logician. }{")
            case "animals/2", _:
                return lambda handler: handler.send(503, "", Retry_After="0")
        return saying(good(problem))

    script = Script(act)
    out = tmp_path / "c.jsonl"
    result = sample(follow(script), out, "--k", "2", "--attempts", "3")
    assert result.exit_code == 1, result.output
    wanted = {(name, number) for name in KNOWN for number in range(2)}
    found = {(one.problem_id, one.sample): one for one in read(out)}
    lines = (tmp_path / "c.failures.jsonl").read_text().splitlines()
    failed = {(one["problem_id"], one["sample"]): one["problem"] for one in map(json.loads, lines)}
    assert set(found) | set(failed) == wanted
    assert {name for name, _ in failed} == {"garden/3", "animals/2"}
    assert all("too long" in why for (name, _), why in failed.items() if name == "garden/3")
    assert not set(found) & set(failed)
    assert found["animals/1", 1].completion == "\x00 I am no logician. }{"
    assert found["garden/2", 0].completion == good(KNOWN["garden/2"])
    assert asked["garden/3"] == 2  # asked once each, as it was refused
    assert asked["animals/2"] == 6  # asked three times each

    before = len(script.asked)
    script.act = lambda body: saying(good(problem_of(body)))
    again = sample(follow(script), out, "--k", "2")
    assert again.exit_code == 0, again.output
    assert {problem_of(body).id for body in script.asked[before:]} == {"garden/3", "animals/2"}
    assert len(script.asked) == before + 4
    assert {(one.problem_id, one.sample) for one in read(out)} == wanted
    assert not (tmp_path / "c.failures.jsonl").exists()


def test_a_killed_run_pays_for_nothing_twice(follow: Follow, tmp_path: Path) -> None:
    stuck, over = threading.Event(), threading.Event()
    answered = 0

    def act(body: Body) -> Act:
        nonlocal answered
        if answered < 5:
            answered += 1
            return saying(f"reply {answered}")

        def wait(handler: Handler) -> None:
            stuck.set()
            over.wait(PATIENCE)

        return wait

    script = Script(act)
    url, out = follow(script), tmp_path / "c.jsonl"
    command = ["sample", "--problems", str(PROBLEMS), "--model", url, "--out", str(out), "--concurrency", "1"]
    code = "from proof_r1_formal.cli import main; main()"
    with subprocess.Popen([sys.executable, "-c", code, *command], stderr=subprocess.DEVNULL) as process:
        assert stuck.wait(PATIENCE)
        process.send_signal(signal.SIGKILL)
    over.set()
    assert not out.exists()
    assert len((tmp_path / "c.calls.jsonl").read_text().splitlines()) == 5
    before = len(script.asked)
    script.act = lambda body: saying("later")
    result = sample(url, out, "--concurrency", "1")
    assert result.exit_code == 0, result.output
    assert "5 stored replies were reused" in result.output
    total = 3 * len(KNOWN)
    assert len(script.asked) - before == total - 5
    texts = [one.completion for one in read(out)]
    assert texts == [*[f"reply {n}" for n in range(1, 6)], *["later"] * (total - 5)]


def test_repair_is_asked_about_faults_only(follow: Follow, tmp_path: Path) -> None:
    wrong = good(KNOWN["garden/1"]).replace(': "waters_roses Mara', ': "¬waters_roses Mara')
    assert wrong != good(KNOWN["garden/1"])

    def act(body: Body) -> Act:
        problem = problem_of(body)
        again = len(body["messages"]) > 2
        return saying(wrong if problem.id == "garden/1" and not again else good(problem))

    script = Script(act)
    out = tmp_path / "c.jsonl"
    result = sample(follow(script), out, "--k", "1", "--repair")
    assert result.exit_code == 0, result.output
    repairs = [body for body in script.asked if len(body["messages"]) > 2]
    assert sorted(problem_of(body).id for body in repairs) == ["garden/1", "garden/4"]
    (first,) = [body for body in repairs if problem_of(body).id == "garden/1"]
    complaint = first["messages"][3]["content"]
    assert first["messages"][2] == {"role": "assistant", "content": wrong}
    assert "s1: the dependencies do not entail the conclusion" in complaint
    assert "It does not follow: its dependencies are true and its conclusion is false where Entity = {0" in complaint
    for word in ("right", "wrong", "correct", "answer_correct"):
        assert word not in complaint
    after = {one.problem_id: one for one in read(out)}
    before = {one.problem_id: one for one in read(tmp_path / "c.first.jsonl")}
    assert before["garden/1"].completion == wrong
    assert after["garden/1"].completion == good(KNOWN["garden/1"])
    costs = {name: one.cost.calls for name, one in after.items() if one.cost is not None}
    assert costs == {name: 2 if name in ("garden/1", "garden/4") else 1 for name in KNOWN}
    rows = [line.split() for line in result.output.splitlines() if line.split()[:1] in (["before"], ["after"])]
    assert [row[0] for row in rows] == ["before", "after"]
    assert rows[0] != rows[1]
    assert "100.0" in rows[1][1]


def test_a_failed_repair_keeps_the_completion(follow: Follow, tmp_path: Path) -> None:
    """One cannot be asked for: an unpaired surrogate is in no request. Another is refused, in words that hold one."""
    texts = {"garden/1": "I write \ud800.", "garden/2": "I write nothing."}

    def act(body: Body) -> Act:
        problem = problem_of(body)
        if len(body["messages"]) > 2 and problem.id in texts:
            return lambda handler: handler.send(400, '{"error": {"message": "bad \\ud800"}}')
        return saying(texts.get(problem.id, good(problem)))

    out = tmp_path / "c.jsonl"
    result = sample(follow(Script(act)), out, "--k", "1", "--repair")
    assert result.exit_code == 1, result.output
    found = {one.problem_id: one.completion for one in read(out)}
    assert set(found) == set(KNOWN)
    assert {name: found[name] for name in texts} == texts
    failed = {one.problem_id: one.problem for one in read_failures(tmp_path / "c.failures.jsonl")}
    assert set(failed) == set(texts)
    assert "cannot be written" in failed["garden/1"]
    assert "bad \ud800" in failed["garden/2"]


def test_outputs_whose_names_differ_share_nothing(follow: Follow, tmp_path: Path) -> None:
    script = Script(lambda body: saying(good(problem_of(body))))
    url = follow(script)
    for name in ("run-0.5", "run-0.7", "c.json", "c.jsonl"):
        assert sample(url, tmp_path / name, "--k", "1").exit_code == 0
    assert len(script.asked) == 4 * len(KNOWN)
    assert len(list(tmp_path.iterdir())) == 8


def test_a_key_is_written_nowhere(follow: Follow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    seen: set[str] = set()

    def act(body: Body) -> Act:
        problem = problem_of(body)

        def answer(handler: Handler) -> None:
            seen.add(handler.headers["Authorization"])
            if problem.id == "garden/1":
                handler.send(400, json.dumps({"error": {"message": f"bad key {handler.headers['Authorization']}"}}))
            else:
                handler.say(good(problem))

        return answer

    result = sample(follow(Script(act)), tmp_path / "c.jsonl", "--key-env", "SOME_KEY", "--repair")
    assert result.exit_code == 1
    assert seen == {"Bearer sk-very-secret"}
    assert "secret" not in result.output
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(written) == {"c.jsonl", "c.first.jsonl", "c.calls.jsonl", "c.failures.jsonl"}
    assert all(content and b"secret" not in content for content in written.values())


def test_a_full_disk_is_named_and_what_was_paid_for_stays(follow: Follow, tmp_path: Path) -> None:
    url, out = follow(Script(lambda body: saying(good(problem_of(body))))), tmp_path / "c.jsonl"
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))"
    code += "; from proof_r1_formal.cli import main; main()"
    command = ["sample", "--problems", str(PROBLEMS), "--model", url, "--out", str(out), "--concurrency", "1"]
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    advice = "File too large; make room there, or name another disk, and repeat the command"
    assert done.stderr == f"error: {tmp_path / 'c.calls.jsonl'}: the file cannot be written: {advice}\n"
    again = sample(url, out)
    assert again.exit_code == 0, again.output
    assert "stored replies were reused" in again.output


# -- agents and repair, with servers that misbehave -------------------------------------------------------------------

WAYS = {
    "repair": ("--repair",),
    "logic-agent": ("--method", "logic-agent"),
    "graph-of-verification": ("--method", "graph-of-verification", "--candidates", "2"),
}


def agreeable(body: Body) -> str:
    """What a model might say to whatever an agent or a repair asks; a first proof has a fault."""
    system = body["messages"][0]["content"]
    if system.startswith("You check"):
        return '{"valid": true}'
    problem = problem_of(body)
    if system.startswith("You put"):
        premises = {premise.id: show(premise.formula) for premise in problem.premises}
        return json.dumps({"premises": premises, "position": show(problem.options[0].formula)})
    if system.startswith("You look"):
        return json.dumps({"answer": problem.answer, "reason": "it follows"})
    return (
        good(problem) if len(body["messages"]) > 2 else good(problem).replace('"conclusion": "', '"conclusion": "¬', 1)
    )


@pytest.fixture(scope="module", params=WAYS)
def undisturbed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str], int]:
    """A way to sample, what comes of it where nothing goes wrong, and how many calls that takes."""
    script = Script(lambda body: saying(agreeable(body)))
    out = tmp_path_factory.mktemp("undisturbed") / "c.jsonl"
    with serving(script) as url:
        result = sample(url, out, "--k", "1", *WAYS[request.param])
    assert result.exit_code == 0, result.output
    assert len(script.asked) > len(KNOWN) + 2
    return request.param, [one.completion for one in read(out)], len(script.asked)


def test_agents_end_the_same_with_a_server_that_fails(
    undisturbed: tuple[str, list[str], int], follow: Follow, tmp_path: Path
) -> None:
    """The first time that something is asked the server is busy, then the stream is torn, then it talks nonsense."""
    way, expected, calls = undisturbed
    failures: list[Act] = [
        lambda handler: handler.send(429, "{}", Retry_After="0"),
        torn,
        lambda handler: handler.stream("{nonsense"),
    ]
    asked: Counter[str] = Counter()

    def act(body: Body) -> Act:
        question = json.dumps(body)
        asked[question] += 1
        return failures[asked[question] - 1] if asked[question] <= len(failures) else saying(agreeable(body))

    script = Script(act)
    out = tmp_path / "c.jsonl"
    result = sample(follow(script), out, "--k", "1", *WAYS[way])
    assert result.exit_code == 0, result.output
    assert [one.completion for one in read(out)] == expected
    assert len(script.asked) == calls + len(failures) * len(asked)


def test_agents_and_repair_that_are_killed_pay_for_nothing_twice(
    undisturbed: tuple[str, list[str], int], follow: Follow, tmp_path: Path
) -> None:
    """Killed with calls in flight, a few before the end: that is in the second round of a repair."""
    way, expected, calls = undisturbed
    over = threading.Event()
    answered = 0

    def act(body: Body) -> Act:
        nonlocal answered
        if answered < calls - 2:
            answered += 1
            return saying(agreeable(body))
        return lambda _: over.wait(PATIENCE)

    script = Script(act)
    url, out, journal = follow(script), tmp_path / "c.jsonl", tmp_path / "c.calls.jsonl"
    arguments = ["--k", "1", "--concurrency", "4", *WAYS[way]]
    command = ["sample", "--problems", str(PROBLEMS), "--model", url, "--out", str(out), *arguments]
    code = "from proof_r1_formal.cli import main; main()"
    with subprocess.Popen([sys.executable, "-c", code, *command], stderr=subprocess.PIPE) as process:
        while process.poll() is None and len(script.asked) <= answered:
            over.wait(0.01)
        while process.poll() is None and journal.read_bytes().count(b"\n") < answered:
            over.wait(0.01)
        process.kill()
        _, said = process.communicate()
    over.set()
    assert not out.exists(), said
    before = len(script.asked)
    script.act = lambda body: saying(agreeable(body))
    result = sample(url, out, *arguments)
    assert result.exit_code == 0, result.output
    assert [one.completion for one in read(out)] == expected
    assert len(script.asked) - before == calls - answered == 2


def test_a_refused_key_ends_the_run(follow: Follow, tmp_path: Path) -> None:
    result = sample(follow(Script(lambda _: lambda handler: handler.send(401, "{}"))), tmp_path / "c.jsonl")
    assert isinstance(result.exception, ProofR1Error)
    assert "401" in str(result.exception)
    assert not (tmp_path / "c.jsonl").exists()


def test_the_first_failure_is_shown_and_equal_ones_end_the_run(follow: Follow, tmp_path: Path) -> None:
    number = count()

    def act(_: Body) -> Act:
        return lambda handler: handler.send(500, f'{{"error": "CUDA out of memory (request {next(number)})"}}')

    script = Script(act)
    arguments = ("--attempts", "2", "--concurrency", "1", "--stop-after", "3")
    result = sample(follow(script), tmp_path / "c.jsonl", *arguments)
    assert result.output.count("a call failed; it is tried again: status 500") == 1
    assert "CUDA out of memory (request 0)" in result.output
    assert isinstance(result.exception, ModelError)
    assert "3 calls in a row failed in the same way: status 500" in str(result.exception)
    assert len(script.asked) == 6


def test_failures_between_replies_do_not_end_the_run(follow: Follow, tmp_path: Path) -> None:
    def act(body: Body) -> Act:
        problem = problem_of(body)
        failing = problem.id in ("garden/1", "garden/3")
        return (lambda handler: handler.send(400, "too long")) if failing else saying(good(problem))

    arguments = ("--k", "1", "--concurrency", "1", "--stop-after", "2")
    result = sample(follow(Script(act)), tmp_path / "c.jsonl", *arguments)
    assert result.exit_code == 1
    assert len(read(tmp_path / "c.jsonl")) == len(KNOWN) - 2


def test_replies_of_thoughts_alone_are_named(follow: Follow, tmp_path: Path) -> None:
    thoughts = {"content": "", "reasoning_content": "<summary>[]</summary>"}
    script = Script(lambda _: lambda handler: handler.whole(thoughts, finish_reason="stop"))
    result = sample(follow(script), tmp_path / "c.jsonl", "--k", "1")
    assert result.exit_code == 0
    assert result.output.count("a reply holds thoughts and no answer (finish: stop); if the endpoint takes") == 1
    assert f"{len(KNOWN)} completions hold thoughts and no answer" in result.output


# -- a model that is run ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_in_a_folder_solves_problems(tiny_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    result = sample(str(tiny_model), out, "--k", "2", "--max-tokens", "6", "--concurrency", "4")
    assert result.exit_code == 0, result.output
    found = read(out)
    assert len(found) == 2 * len(KNOWN)
    assert all(one.cost is not None and one.cost.tokens is not None and 1 <= one.cost.tokens <= 6 for one in found)


def test_no_model_in_a_folder_is_told(tmp_path: Path) -> None:
    result = sample(str(tmp_path), tmp_path / "c.jsonl")
    assert isinstance(result.exception, ProofR1Error)
    assert "cannot be loaded" in str(result.exception)
