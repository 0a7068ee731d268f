"""Bundles: ``check_bundle.py`` accepts what is written, within its steps, and refuses what is not a bundle."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.assistants.certify import certify_verified
from proof_r1_formal.assistants.lean import Judgement
from proof_r1_formal.assistants.theories import manifest_bytes, manifest_of
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.engine import get_solver
from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.report.bundle import bundle, encode, write_bundle
from proof_r1_formal.rules.catalogue import read_catalogue
from tests.build import ROOT, example_answers, example_problems, reference_traces
from tests.patience import PATIENCE
from tests.report.bundles import PEOPLE, PROGRAM, checker, examples, made, problem_of, refusal, summary, uncertain
from tests.solvers import SILENT, Told


def run(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The checker as its readers run it: without this package, without site-packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM), str(path), *options],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )


def run_on(folder: Path, data: Any, *options: str) -> subprocess.CompletedProcess[str]:
    """The checker on a bundle, or on any text."""
    path = folder / "bundle.json"
    path.write_bytes(data.encode(errors="surrogatepass") if isinstance(data, str) else encode(data))
    return run(path, *options)


# -- what is written is accepted --------------------------------------------------------------------------------------


def test_the_examples_are_accepted(tmp_path: Path) -> None:
    problems = example_problems()
    verifier = Verifier()
    traces = [(item, verifier.verify(case, item.completion, sample=item.sample)) for case, item in example_answers()]
    write_bundle(tmp_path / "bundle.json", verifier, problems, traces)
    found = run(tmp_path / "bundle.json", "--show")
    assert (found.returncode, found.stderr) == (0, "")
    assert "ok: 7 problems, 13 traces, 42 steps" in found.stdout
    assert "Whoever is on duty waters the roses." in found.stdout
    assert (tmp_path / "bundle.json").read_bytes() == encode(bundle(Verifier(), problems, traces))


def test_a_sample_without_eligible_steps_has_rate_zero(tmp_path: Path) -> None:
    case = problem_of("rates/1", ["p"], "p")
    data = made(case, summary(("h_goal_true", ["h1"], "p", "GOAL_BINDING")), "I do not know.")
    rate = data["metrics"]["overall"]["scores"]["FVR"]
    assert (rate["value"], rate["spread"]) == (1.0, pytest.approx(0.5**0.5))
    assert run_on(tmp_path, data).returncode == 0


def test_an_uncertain_answer_that_was_not_decided_has_no_evidence(tmp_path: Path) -> None:
    """The bundle repeats the report, though its own verifier has the budget to decide the question."""
    case = problem_of("open/1", ["p ∨ q", "p → q ∨ r"], "r", "h_goal_uncertain")
    text = summary(("h_goal_uncertain", ["h1"], "r", "GOAL_BINDING"))
    for solver, openness, kinds in ((SILENT, "undecided", None), (None, "verified", {"countermodel"})):
        verifier = Verifier() if solver is None else Verifier(solver=solver)
        report = verifier.verify(case, text)
        assert report.uncertain == openness
        answer = Completion(problem_id=case.id, completion=text)
        data = json.loads(encode(bundle(Verifier(), {case.id: case}, [(answer, report)])))
        [trace] = data["traces"]
        assert {name: of and set(of) for name, of in trace["uncertain"].items()} == {"goal": kinds, "negation": kinds}
        assert trace["verified"] == (openness == "verified")


def test_a_bundle_of_nothing_is_accepted() -> None:
    data = json.loads(encode(bundle(Verifier(), {}, [])))
    assert refusal(data) is None


# -- the work is bounded ----------------------------------------------------------------------------------------------


def test_a_small_bundle_of_much_work_is_not_checked(tmp_path: Path) -> None:
    data = made(problem_of("large/1", ["∀x ∀y ∀z (p(x) → p(x) ∨ p(y) ∧ p(z))"], "q"))
    data["problems"][0]["consistency"]["countermodel"]["domains"]["Entity"] = 1000
    found = run_on(tmp_path, data)
    assert (found.returncode, found.stderr) == (3, "")
    assert found.stdout.startswith("$.problems[0].consistency: not checked: more than 10")
    assert "see --steps" in found.stdout


def test_more_or_fewer_steps_may_be_allowed(tmp_path: Path) -> None:
    for steps, status in (("10", 3), ("10000", 0), ("", 2)):
        assert run_on(tmp_path, uncertain(), f"--steps={steps}").returncode == status


@pytest.mark.parametrize("connective", ["and", "not"])
def test_lines_about_large_formulas_cost_their_size(connective: str) -> None:
    def steps(size: int) -> int:
        data = made(problem_of("wide/1", ["p"], "p"))
        formula: list[Any] = ["top"]
        for _ in range(size):
            formula = [connective, formula] if connective == "not" else [connective, formula, ["top"]]
        data["problems"][0]["premises"][0]["formula"] = ["forall", ["var", "x", "Entity"], formula]
        lines = [{"line": "Instance", "main": 0, "term": ["app", "a"]}] * size
        data["problems"][0]["consistency"] = {"proof": lines}
        assert refusal(data) == (1, "$.problems[0].consistency.proof: the last line is not the conclusion")
        return int(checker.STEPS.taken)

    assert steps(80) > 3.5 * steps(40)


# -- what is no bundle ------------------------------------------------------------------------------------------------

HOSTILE = {
    "nothing": "",
    "no JSON": "{",
    "another value": "[]",
    "NaN": '{"format": NaN}',
    "a huge number": f'{{"format": {"9" * 10_000}}}',
    "deep lists": "[" * 100_000,
    "deep and whole": "[" * 3_000 + "]" * 3_000,
    "a repeated key": '{"format": 1, "format": 1}',
    "wrong types": '{"format": [], "made_by": [], "problems": {}, "traces": 1, "metrics": null}',
    "no Unicode": "\ud800",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_bundle_is_told_without_a_traceback(what: str, tmp_path: Path) -> None:
    found = run_on(tmp_path, HOSTILE[what])
    assert (found.returncode, found.stderr) == (2, "")
    assert found.stdout.startswith("$")


@pytest.mark.parametrize("depth", [200, 2_000, 20_000])
def test_deep_formulas_are_told_without_a_traceback(depth: int, tmp_path: Path) -> None:
    text = encode(examples()).decode()
    deep = '["not", ' * depth + '["top"]' + "]" * depth
    found = run_on(tmp_path, text.replace('["atom", "on_duty", ["app", "Mara"]]', deep, 1))
    assert found.returncode in (1, 2) and found.stderr == "" and found.stdout.startswith("$")


def test_a_missing_file_and_wrong_use(tmp_path: Path) -> None:
    assert run(tmp_path / "none.json").returncode == 2
    assert run(tmp_path / "none.json", "--more").returncode == 2


def test_a_result_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_bytes(encode(examples()))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, str(PROGRAM), str(path)], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)
    assert done.stderr.startswith(b"the result cannot be written: ")


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    assert "\x1b" not in run_on(tmp_path, '{"format\\u001b[2J": 1}').stdout


# -- writing ----------------------------------------------------------------------------------------------------------


def test_verdicts_on_a_solvers_word_are_told(tmp_path: Path) -> None:
    step = summary(("s1", ["h5", "h6"], "poet(Bea)", "CONJUNCTION_ELIMINATION"))
    data = made(PEOPLE, step, verifier=Verifier(get_solver("z3")))
    refused = run_on(tmp_path, data)
    assert refused.returncode == 1
    assert "$.traces[0].actions[0].evidence: 1 verdicts are unsupported" in refused.stdout
    assert run_on(tmp_path, data, "--accept-unsupported").returncode == 0


def test_what_a_bundle_needs() -> None:
    problems = {PEOPLE.id: PEOPLE}
    item = Completion(problem_id=PEOPLE.id, completion=summary())
    report = Verifier().verify(PEOPLE, item.completion)
    with pytest.raises(ProofR1Error, match="evidence='checked'"):
        bundle(Verifier(evidence="none"), problems, [(item, report)])
    with pytest.raises(ProofR1Error, match="which is not there"):
        bundle(Verifier(), {}, [(item, report)])
    with pytest.raises(ProofR1Error, match="number the samples"):
        bundle(Verifier(), problems, [(item, report), (item, report)])


def test_a_bundle_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_bundle(tmp_path / "no" / "bundle.json", Verifier(), {PEOPLE.id: PEOPLE}, [])
    assert list(tmp_path.iterdir()) == []


def test_unpaired_surrogates_are_kept() -> None:
    data = made(PEOPLE, "<think>\ud800</think>")
    assert data["traces"][0]["completion"] == "<think>\ud800</think>"
    assert refusal(data) is None


@pytest.mark.shared
@pytest.mark.slow
def test_reports_and_certificates_agree_on_benchmarks(shared_data: Path) -> None:
    """On 1,350 completions, an answer is verified exactly if it has a certificate, and the bundle of all holds."""
    judged = reference_traces(shared_data)
    problems = {problem.id: problem for problem, _ in judged}
    verifier, samples = Verifier(), Counter[str]()
    traces: list[tuple[Completion, TraceReport]] = []
    for problem, record in judged:
        name, text = problem.id, record["response"]
        report = verifier.verify(problem, text, sample=samples[name])
        certification = certify_verified(verifier, problem, text, report)
        assert (certification.certificate is not None) == report.verified, (name, samples[name])
        traces.append((Completion(problem_id=name, sample=samples[name], completion=text), report))
        samples[name] += 1
    data = json.loads(encode(bundle(verifier, problems, traces)))
    accepted = checker.check(checker.Node(data), False, 10**9)
    assert accepted.startswith("ok: 450 problems, 1350 traces, 7586 steps")
    assert "and 0 verdicts without evidence" in accepted


@pytest.mark.parametrize("unchecked", [True, False])
def test_kernels_that_accepted_a_schema_are_those_of_either_manifest(tmp_path: Path, unchecked: bool) -> None:
    """A catalogue of one's own has those of the package, too; an unchecked one needs no manifest."""
    name = shutil.copy(ROOT / "examples" / "own.toml", tmp_path)
    if not unchecked:
        own = read_catalogue(Path(name))
        assert own.manifest is not None
        schemata = [schema.name for rule in own.rules for schema in rule.schemata]
        judgements = dict.fromkeys(schemata, Judgement(accepted=True))
        own.manifest.write_bytes(manifest_bytes(manifest_of(own, "Lean 4", judgements)))
    rules = replace(read_catalogue(Path(name)), unchecked=unchecked)
    case = problem_of("chain/1", ["p → q", "q → r", "p"], "r")
    steps = [
        ("s1", ["h1", "h2"], "p → r", "HYPOTHETICAL_SYLLOGISM"),
        ("s2", ["s1", "h3"], "r", "IMPLICATION_ELIMINATION"),
    ]
    found = made(case, summary(*steps), verifier=Verifier(rules=rules))["schemata"]
    (package,) = [kernels for name, kernels in found.items() if name != "hypothetical_syllogism"]
    assert "Lean" in package
    assert found["hypothetical_syllogism"] == ([] if unchecked else ["Lean"])


def test_what_is_proved_without_a_proof_has_no_evidence() -> None:
    """A solver says that premises contradict each other, and that a binding is the goal: the bundle shows neither."""
    verifier = Verifier(Told({"⊥": Entailed()}, others=Entailed()))
    case = problem_of("word/1", ["p", "¬p"], "p ∧ q")
    data = made(case, summary(("h_goal_true", ["h1"], "q ∧ p", "GOAL_BINDING")), verifier=verifier)
    assert data["problems"][0]["consistency"] is None
    assert data["traces"][0]["actions"][0]["evidence"] in (None, {"unsupported": True})
    assert data["traces"][0]["binding"] is None
