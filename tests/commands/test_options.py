"""Options of commands: each stands in a test, and changes what its help says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import Problem, read_problems
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.cli import COMMANDS
from proof_r1_formal.cli import command as get_command
from proof_r1_formal.generate.problems import DISTRACTORS, GeneratorSettings, generate_problems
from proof_r1_formal.generate.vocabulary import VOCABULARIES, VocabularyName
from proof_r1_formal.models.prompts import messages
from tests.build import INPUTS, Run, action, completion, example_problems

TESTS = Path(__file__).resolve().parents[1]


def options(command: Any) -> Iterator[str]:
    """The long names of the options of a command and of the commands in it."""
    for parameter in command.params:
        yield from (name for name in parameter.opts if name.startswith("--"))
    for inner in getattr(command, "commands", {}).values():
        yield from options(inner)


def test_every_option_stands_in_a_test() -> None:
    names = {name for command in COMMANDS for name in options(get_command(command))}
    text = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py"))
    stand = set(re.findall(r"""(?<=["' ])--[a-z-]+(?=["' =])""", text))
    assert len(names) > 60
    assert names <= stand


# -- certify, report and evaluate -------------------------------------------------------------------------------------


def test_the_style_of_certificates_is_chosen(run: Run, tmp_path: Path) -> None:
    texts = {}
    for style in ((), ("--style", "shallow"), ("--style", "reflect")):
        given = ("certify", *INPUTS, "--id", "garden/1", "--kernel", "none", "--out", str(tmp_path / "".join(style)))
        assert run(*given, *style).status == 0
        texts[style] = (tmp_path / "".join(style) / "Certificates" / "Garden_1_0.lean").read_text("utf-8")
    unnamed, shallow, reflect = texts.values()
    assert unnamed == shallow
    assert "ProofR1.Checker" in reflect
    assert "ProofR1.Checker" not in shallow
    for text in texts.values():
        assert "theorem answer" in text


def test_a_report_has_the_title_and_the_certificates_asked_for(run: Run, tmp_path: Path) -> None:
    found = {}
    for certificates in ("0", "2"):
        path = tmp_path / f"{certificates}.html"
        given = ("report", *INPUTS, "--title", "Roses & rakes", "--certificates", certificates, "--out", str(path))
        assert run(*given).status == 0
        [index] = re.findall(r'<script type="[a-z/]+" id="index">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
        found[certificates] = json.loads(index)
    assert {index["title"] for index in found.values()} == {"Roses & rakes"}
    assert {asked: index["certificates"] for asked, index in found.items()} == {"0": 0, "2": 2}


def test_the_steps_that_rates_leave_out_are_chosen(run: Run, tmp_path: Path) -> None:
    """A wrong step that cites what does not exist counts, but not for the reference implementation."""
    steps = [action("s1", "waters(mara, roses)", "nothing"), action("h_goal_true", "waters(mara, roses)", "h1", "h2")]
    record = {"problem_id": "garden/1", "completion": completion(*steps)}
    (tmp_path / "c").write_text(json.dumps(record), "utf-8")
    counted = {}
    for option in ((), ("--eligibility", "own-fault"), ("--eligibility", "reference")):
        given = ("evaluate", *INPUTS[:2], "-c", str(tmp_path / "c"), "--json", str(tmp_path / "t.json"))
        assert run(*given, *option).status == 0
        [scores, *_] = json.loads((tmp_path / "t.json").read_bytes())
        counted[option] = [scores["rows"][-1][rate]["denominator"] for rate in ("FVR (%)", "RVR (%)")]
    assert list(counted.values()) == [[2, 2], [2, 2], [1, 1]]


# -- generate, prove, prompt and soundness ----------------------------------------------------------------------------


def generated(run: Run, out: Path, *given: str) -> list[Problem]:
    """The problems that a command writes."""
    assert run("generate", "--n", "6", "--out", str(out), *given).status == 0
    return list(read_problems(out).values())


def test_intended_proofs_are_written_on_request(run: Run, tmp_path: Path) -> None:
    given = ("--answers", "True", "--difficulty", "easy")
    bare, proved = generated(run, tmp_path / "b", *given), generated(run, tmp_path / "p", *given, "--with-proofs")
    assert [len(problem.proofs) for problem in bare] == [0] * 6
    assert [len(problem.proofs) for problem in proved] == [1] * 6
    assert [problem.premises for problem in bare] == [problem.premises for problem in proved]


@pytest.mark.parametrize("name", VOCABULARIES)
def test_the_vocabulary_is_chosen(run: Run, name: VocabularyName, tmp_path: Path) -> None:
    problems = generated(run, tmp_path / "p", "--vocabulary", name, "--difficulty", "easy")
    settings = GeneratorSettings(difficulty="easy", vocabulary=VOCABULARIES[name])
    expected = [drawn.problem for drawn in islice(generate_problems(settings), 6)]
    assert [problem.premises for problem in problems] == [problem.premises for problem in expected]


def test_irrelevant_premises_are_as_many_as_asked_for(run: Run, tmp_path: Path) -> None:
    given = ("--answers", "True", "--difficulty", "hard", "--steps", "2", "--with-proofs")
    for range_ in ("0", "4"):
        problems = generated(run, tmp_path / range_, *given, "--distractors", range_)
        unused = [len(problem.premises) - len(cited(problem)) for problem in problems]
        assert max(unused) <= int(range_)
    assert max(unused) > 0
    assert DISTRACTORS["hard"][0] == 1, "without the option, there would be one"


def cited(problem: Problem) -> set[str]:
    """The premises that the intended proof cites."""
    ids = {premise.id for premise in problem.premises}
    return {name for step in problem.proofs[0] for name in step.dependencies} & ids


def test_a_small_budget_gives_proofs_up(run: Run) -> None:
    given = ("prove", *INPUTS[:2], "--id", "garden/2")
    assert "answer False (right)" in run(*given, "--budget", "100000").stdout
    assert "the budget is spent" in run(*given, "--budget", "1").stdout


def test_proofs_begin_where_the_thoughts_of_the_model_begin(run: Run, tmp_path: Path) -> None:
    starts = {}
    for thinking in ("explicit", "native"):
        given = ("prove", *INPUTS[:2], "--id", "garden/1", "--out", str(tmp_path / thinking))
        assert run(*given, "--thinking", thinking).status == 0
        starts[thinking] = json.loads((tmp_path / thinking).read_text("utf-8"))["completion"]
    assert starts["explicit"] == f"<think>\n{starts['native']}"
    assert starts["native"].count("</think>") == 1


@pytest.mark.parametrize("prompts", ["default", "paper"])
@pytest.mark.parametrize("thinking", ["explicit", "native"])
def test_prompts_are_those_asked_for(run: Run, prompts: Any, thinking: Any) -> None:
    problems = example_problems()
    given = ("prompt", *INPUTS[:2], "--id", "garden/1", "--to", "json")
    done = run(*given, "--thinking", thinking, "--prompts", prompts)
    assert json.loads(done.stdout) == messages(problems["garden/1"], thinking=thinking, prompts=prompts)
    assert "∀x (" in done.stdout  # and no escapes
    assert ("between <think> and </think>" in done.stdout) == (prompts == "default" and thinking == "explicit")


def test_the_kernel_checks_the_share_of_evidence_asked_for(run: Run, lean: LeanKernel) -> None:
    del lean
    given = ("soundness", "--examples", "20", "--answers", "0", "--proofs", "0")
    assert "accepted by Lean's kernel" not in run(*given).stdout
    found = re.search(r"(\d+) pieces of evidence accepted by Lean's kernel", run(*given, "--kernel-sample", "1").stdout)
    assert found is not None
    assert int(found[1]) > 10
