"""The runs of the study: the order of jobs, and what a record says of answers."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from math import log
from pathlib import Path
from random import Random

import msgspec
import pytest

from proof_r1_formal import Problem, Verifier, write_problems
from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.paired import compare_answers
from proof_r1_formal.evaluation.tables import to_markdown
from proof_r1_formal.generate import GeneratorSettings, generate_problems, summary
from proof_r1_formal.models.prompts import question
from studies.pretrained.problems import SEEN, with_four_options
from studies.pretrained.run import ABLATIONS, ARMS, RATES, UPDATES, Job, Scoring, Training, jobs
from studies.pretrained.score import SAMPLES, TOKENS, Drawn, Record, draw, score
from studies.pretrained.tables import comparisons, read, tables
from tests.tiny_model import make_model


def record(*, verified: int, rule_rate: float) -> Record:
    columns = {"RVR": (10 * rule_rate,), "RVR of": (10.0,), Measure.RULE_VERIFIED.value: (float(verified),)}
    return Record("run", "tuning", "train", ("p",), columns)


def finish(folder: Path, job: Job, made: Record) -> None:
    """What a job leaves behind."""
    if isinstance(job, Scoring):
        job.path(folder).parent.mkdir(exist_ok=True)
        job.path(folder).write_bytes(msgspec.json.encode([made]))
        return
    job.log(folder).parent.mkdir(exist_ok=True)
    job.log(folder).write_text("[]")


def test_a_warm_up_goes_on_until_its_rules_are_good_enough(tmp_path: Path) -> None:
    seen = []
    while (job := next(jobs(tmp_path))).name != "warm-up-1@100.same":
        seen.append(job.name if isinstance(job, Scoring) else f"{job.name} to {job.updates}")
        finish(tmp_path, job, record(verified=0, rule_rate=0.1 * len(seen)))
    assert seen == ["warm-up-1 to 50", "warm-up-1@50.tuning", "warm-up-1 to 100", "warm-up-1@100.tuning"]


def test_a_run_whose_last_model_was_not_saved_is_not_done(tmp_path: Path) -> None:
    """The model of an earlier slice must not be scored as that of a later one."""
    for _ in range(2):
        finish(tmp_path, next(jobs(tmp_path)), record(verified=0, rule_rate=0.1))
    (tmp_path / "warm-up-1" / "checkpoint-100").mkdir(parents=True)
    (tmp_path / "warm-up-1" / "checkpoint-100" / "trainer_state.json").write_text("{}")
    (tmp_path / "warm-up-1" / "model").mkdir()
    job = next(jobs(tmp_path))
    assert isinstance(job, Training)
    assert job.updates == 100


def test_every_run_of_the_plan_is_trained_once_and_scored(tmp_path: Path) -> None:
    done: list[Job] = []
    while (job := next(jobs(tmp_path), None)) is not None:
        finish(tmp_path, job, record(verified=0, rule_rate=1.0))
        done.append(job)
    trained = [job.name for job in done if isinstance(job, Training)]
    first = [f"{arm}-{rate}-1" for rate, arms in ((RATES[0], (*ARMS, *ABLATIONS)), (RATES[1], ARMS)) for arm in arms]
    assert trained == ["warm-up-1", *first, "warm-up-2", *[f"{arm}-{RATES[0]}-2" for arm in ARMS]]
    scored = [job.name for job in done if isinstance(job, Scoring)]
    for file in ("longer", "words"):
        assert set(scored) >= {f"{name}@{UPDATES}.{file}" for name in first}
    assert all(name.endswith(".words") for name in scored[-len(first) :])


def test_jobs_that_another_process_has_do_not_hide_the_rest(tmp_path: Path) -> None:
    for job in islice(jobs(tmp_path), 1):
        finish(tmp_path, job, record(verified=0, rule_rate=1.0))
    finish(tmp_path, next(jobs(tmp_path)), record(verified=0, rule_rate=1.0))
    waiting = [job.name for job in jobs(tmp_path)]
    assert waiting[:3] == ["warm-up-1@50.same", "warm-up-1@50.longer", "warm-up-1@50.words"]
    assert f"hardened-{RATES[0]}-1" in waiting
    assert f"hardened-{RATES[1]}-1" in waiting


@pytest.fixture(scope="module")
def problem() -> Problem:
    settings = GeneratorSettings(seed=3, steps=(1, 2), answers=(TRUE, FALSE), vocabulary=SEEN)
    made = (with_four_options(g.problem, SEEN, Verifier(), Random(0)) for g in generate_problems(settings))
    return next(one for one in made if one is not None)


def test_a_record_says_what_each_answer_is_worth(problem: Problem, tmp_path: Path) -> None:
    file = tmp_path / "same.jsonl"
    write_problems(file, [problem])
    proof = summary(problem.proofs[0])
    steps = json.loads(proof.removeprefix("<summary>").removesuffix("</summary>"))
    leap = f"<summary>{json.dumps([steps[-1]])}</summary>"
    found, atomic = score("run", file, [Drawn(proof, 90, 0.25), Drawn(leap, 30, 1.0)])
    assert (found.run, found.file, found.rules, found.problems) == ("run", "same", "train", (problem.id,))
    assert (found.columns["Avg"], found.columns["Right and rule-verified"]) == ((1, 1), (1, 0))
    assert found.columns["actions"] == (len(steps), 1)
    assert (found.mean("tokens"), found.mean("entropy")) == (60, 0.625)
    assert atomic.rules == "folio --atomic"
    rows = found.rows()
    assert set(rows) == {(problem.id, number) for number in range(SAMPLES)}
    assert rows[problem.id, 0][Measure.RVR] == (len(steps), len(steps))
    answers = compare_answers(rows, record_of_nothing(found).rows(), Measure.RULE_VERIFIED)
    assert (answers.first_only, answers.second_only) == (1, 0)


def record_of_nothing(like: Record) -> Record:
    return msgspec.structs.replace(like, columns=dict.fromkeys(like.columns, (0, 0)))


def test_answers_come_in_the_order_of_the_problems(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are sampled by length, from a model of random weights."""
    shorter = replace(problem, id="shorter", options=problem.options[:2])
    problems = [problem, shorter]
    prompts = [f"{question(one)}\n" for one in problems]
    make_model(tmp_path, prompts, vocabulary=400, width=32, hidden=32, family="Llama")
    drawn = draw(tmp_path, problems)
    assert [one.tokens for one in drawn] == [one.tokens for one in draw(tmp_path, problems)]
    assert all(0 < one.tokens <= TOKENS and 0 < one.entropy <= log(400) for one in drawn)
    monkeypatch.setattr("studies.pretrained.score._sample", lambda policy, tokenizer, given: map(echo, given))
    assert [one.text for one in draw(tmp_path, problems)] == [prompt for prompt in prompts for _ in range(SAMPLES)]


def echo(prompt: str) -> Drawn:
    return Drawn(prompt, 1, 0.0)


COLUMNS = ("Avg", "Right and verified", "FVR", "FVR of", "RVR", "RVR of", "actions", "useless", "tokens", "entropy")


def records_of(folder: Path, run: str, file: str, verified: tuple[int, ...]) -> None:
    columns = dict.fromkeys(COLUMNS, (1,) * len(verified)) | {Measure.RULE_VERIFIED.value: verified}
    names = tuple([f"p{number}" for number in range(len(verified) // SAMPLES)])
    found = [Record(run, file, rules, names, columns) for rules in ("train", "folio --atomic")]
    (folder / f"{run}@{UPDATES}.{file}.json").write_bytes(msgspec.json.encode(found))


def test_tables_and_comparisons_follow_from_the_records(tmp_path: Path) -> None:
    """Of 20 problems: 12 more solved than by one arm, in both files; the same as by another one."""
    better, worse = (1, 1) * 18 + (0, 0) * 2, (1, 1) * 6 + (0, 0) * 14
    for file in ("same", "longer"):
        records_of(tmp_path, "hardened-1e-5-1", file, better)
        records_of(tmp_path, "grpo-1e-5-1", file, worse)
        records_of(tmp_path, "expert_iteration-1e-5-1", file, better)
        records_of(tmp_path, "grpo-1e-5-2", file, better)  # of a warm-up that the other arm does not have
        records_of(tmp_path, "paper-3e-5-1", file, better)
        records_of(tmp_path, "grpo-3e-5-1", file, better)
    scored = read(tmp_path)
    assert {(one.arm, one.rate, one.warm_up) for one in scored} >= {
        ("expert_iteration", "1e-5", 1),
        ("grpo", "1e-5", 2),
    }
    found = {(one.rate, one.ours, one.other): one for one in comparisons(scored)}
    expected = [("3e-5", "paper", "grpo"), ("1e-5", "hardened", "expert_iteration"), ("1e-5", "hardened", "grpo")]
    assert list(found) == expected
    grpo, imitation = found["1e-5", "hardened", "grpo"], found["1e-5", "hardened", "expert_iteration"]
    assert (grpo.warm_ups, grpo.difference.problems) == (1, 40)
    assert grpo.difference.of.value == pytest.approx(0.6)
    assert grpo.corrected == 2 * grpo.difference.p < 0.001
    assert (imitation.difference.of.value, imitation.corrected) == (0, 1)
    *shown, last = map(to_markdown, tables(scored))
    assert [text.splitlines()[0] for text in shown][:2] == ["**same, rules train**", "**longer, rules train**"]
    assert "| hardened | 1e-5 | 1 | 90.0 |" in shown[0]
    assert "| 1e-5 | hardened | grpo | 1 | 60.0 " in last
