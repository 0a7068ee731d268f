"""The runs of the study: the order of jobs, and what a record says of answers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import takewhile
from math import log
from pathlib import Path
from random import Random

import msgspec
import pytest

from proof_r1_formal import Problem, Verifier, write_problems
from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.paired import compare_answers, holm
from proof_r1_formal.evaluation.tables import to_markdown
from proof_r1_formal.generate import GeneratorSettings, generate_problems, summary
from proof_r1_formal.models.prompts import question
from studies.pretrained.problems import SEEN, with_four_options
from studies.pretrained.run import (
    ABLATIONS,
    ARMS,
    EXPLANATIONS,
    PARTS,
    WARM_UPS,
    Drawing,
    Job,
    Scoring,
    Training,
    left,
    main,
    part_of,
    plan,
)
from studies.pretrained.score import GREEDY, SAMPLES, TOKENS, Drawn, Record, draw, score
from studies.pretrained.tables import REPORTED, TESTED, best_rates, comparisons, explanations, gains, read, tables
from studies.pretrained.tables import main as print_tables
from tests.build import tiny_model


def finish(folder: Path, job: Job) -> None:
    """What a job leaves behind."""
    path = folder / "records" / f"{job.name}.log.json" if isinstance(job, Training) else job.path(folder)
    path.parent.mkdir(exist_ok=True)
    path.write_text("[]")


def next_job(folder: Path) -> Job | None:
    """The job that a process takes when no other process runs."""
    (folder / "model").mkdir(exist_ok=True)
    return next((job for job in left(folder, ".*") if job.ready(folder)), None)


def test_every_run_of_the_plan_is_trained_once_and_scored(tmp_path: Path) -> None:
    done: list[Job] = []
    while (job := next_job(tmp_path)) is not None:
        finish(tmp_path, job)
        done.append(job)
    trained = [job.name for job in done if isinstance(job, Training)]
    arms = [f"{arm}-{rate}-{start}" for one in PARTS for start in one.warm_ups for rate in one.rates for arm in ARMS]
    fewer = [f"{arm}-3e-5-1" for arm in ABLATIONS] + [f"{arm}-3e-5-{start}" for arm in EXPLANATIONS for start in (4, 5)]
    assert sorted(trained) == sorted([*[f"warm-up-{number}" for number in WARM_UPS], *arms, *fewer])
    assert sorted(job.name for job in done) == sorted({job.name for job in plan()})
    scored = {job.answers.name for job in done if isinstance(job, Scoring)}
    assert scored == {job.name for job in done if isinstance(job, Drawing)}
    files = {name: part_of(int(name.rpartition("-")[2])).files for name in trained}
    greedy = {f"{name}.{file}-greedy" for name in trained for file in part_of(int(name.rpartition("-")[2])).greedy}
    assert scored == greedy | {f"{name}.{file}" for name in trained for file in files[name]} | {
        f"warm-up-{number}.tuning" for number in WARM_UPS
    }


def test_nothing_is_drawn_from_a_model_that_was_not_saved(tmp_path: Path) -> None:
    (tmp_path / "warm-up-1" / "model").mkdir(parents=True)
    job = next_job(tmp_path)
    assert isinstance(job, Training)
    assert (job.name, job.updates) == ("warm-up-1", WARM_UPS[1])
    assert not Drawing("warm-up-1", "same").ready(tmp_path)


def test_jobs_whose_models_no_job_makes_end_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["run", str(tmp_path), "--only", "hardened.*"])
    with pytest.raises(SystemExit, match="--only leaves out"):
        main()


def test_only_the_named_jobs_are_done(tmp_path: Path) -> None:
    assert [job.name for job in left(tmp_path, "warm-up-3.*") if isinstance(job, Training)] == ["warm-up-3"]


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
    found, atomic = score("run", file, [Drawn(proof, 90, 0.25), *[Drawn(leap, 30, 1.0)] * (SAMPLES - 1)])
    assert (found.run, found.file, found.rules, found.problems) == ("run", "same", "train", (problem.id,))
    assert (found.columns["Avg"], found.columns["Right and rule-verified"]) == ((1, 1, 1, 1), (1, 0, 0, 0))
    assert found.columns["actions"] == (len(steps), 1, 1, 1)
    assert (found.mean("tokens"), found.mean("entropy")) == (45, 0.8125)
    assert atomic.rules == "folio --atomic"
    rows = found.rows()
    assert set(rows) == {(problem.id, number) for number in range(SAMPLES)}
    assert rows[problem.id, 0][Measure.RVR] == (len(steps), len(steps))
    answers = compare_answers(rows, record_of_nothing(found).rows(), Measure.RULE_VERIFIED)
    assert (answers.first_only, answers.second_only) == (1, 0)


def record_of_nothing(like: Record) -> Record:
    return msgspec.structs.replace(like, columns=dict.fromkeys(like.columns, (0,) * SAMPLES))


def test_answers_come_in_the_order_of_the_problems(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are sampled by length, from a model of random weights."""
    shorter = replace(problem, id="shorter", options=problem.options[:2])
    problems = [problem, shorter]
    prompts = [f"{question(one)}\n" for one in problems]
    tiny_model(tmp_path, prompts, vocabulary=400, width=32, hidden=32, family="Llama")
    drawn = draw(tmp_path, problems)
    assert [one.tokens for one in drawn] == [one.tokens for one in draw(tmp_path, problems)]
    assert all(0 < one.tokens <= TOKENS and 0 < one.entropy <= log(400) for one in drawn)
    likeliest = draw(tmp_path, problems, greedy=True)
    assert [one.text for one in likeliest] == [one.text for one in draw(tmp_path, problems, seed=1, greedy=True)]
    assert len(likeliest) == len(drawn)
    assert likeliest[0] == likeliest[SAMPLES - 1]
    assert likeliest[0].text not in [one.text for one in drawn]
    monkeypatch.setattr("studies.pretrained.score._sample", lambda sampler, tokenizer, given: map(echo, given))
    assert [one.text for one in draw(tmp_path, problems)] == [prompt for prompt in prompts for _ in range(SAMPLES)]


def echo(prompt: str) -> Drawn:
    return Drawn(prompt, 1, 0.0)


DOCS = Path(__file__).resolve().parents[2] / "docs"
COLUMNS = ("Avg", "Right and verified", "FVR", "FVR of", "RVR", "RVR of", "actions", "useless", "tokens", "entropy")


def records_of(folder: Path, run: str, file: str, verified: tuple[int, ...]) -> None:
    columns = dict.fromkeys(COLUMNS, (1,) * len(verified)) | {Measure.RULE_VERIFIED.value: verified}
    names = tuple([f"p{number}" for number in range(len(verified) // SAMPLES)])
    found = [Record(run, file, rules, names, columns) for rules in ("train", "folio --atomic")]
    (folder / f"{run}.{file}.json").write_bytes(msgspec.json.encode(found))


def test_tables_and_comparisons_follow_from_the_records(tmp_path: Path) -> None:
    """Of 20 problems: 12 more solved than by one arm, in both files; the same as by another one."""
    better, worse = (1,) * SAMPLES * 18 + (0,) * SAMPLES * 2, (1,) * SAMPLES * 6 + (0,) * SAMPLES * 14
    for file in ("same", "longer"):
        records_of(tmp_path, "warm-up-1", file, worse)
        records_of(tmp_path, "hardened-3e-5-1", file, better)
        records_of(tmp_path, "grpo-3e-5-1", file, worse)
        records_of(tmp_path, "expert_iteration-3e-5-1", file, better)
        records_of(tmp_path, "grpo-3e-5-2", file, better)  # of a warm-up that the other arm does not have
    records_of(tmp_path, "sft-3e-5-1", "same", worse)  # not yet scored on the other file
    scored = read(tmp_path)
    assert {(one.arm, one.rate, one.warm_up) for one in scored} >= {
        ("expert_iteration", "3e-5", 1),
        ("grpo", "3e-5", 2),
    }
    found = {(one.ours, one.other): one for one in comparisons(scored)}
    assert list(found) == [("hardened 3e-5", "expert_iteration 3e-5"), ("hardened 3e-5", "grpo 3e-5")]
    imitation, grpo = found.values()
    assert (grpo.warm_ups, grpo.difference.problems) == ((1,), 40)
    assert grpo.difference.of.value == pytest.approx(0.6)
    assert grpo.corrected == 2 * grpo.difference.p < 0.001
    assert (imitation.difference.of.value, imitation.corrected) == (0, 1)
    *shown, last, gained = map(to_markdown, tables(scored))
    assert [text.splitlines()[0] for text in shown][:2] == ["**same, rules train**", "**longer, rules train**"]
    assert "| hardened | 3e-5 | 1 | 90.0 |" in shown[0]
    assert "| 1 | hardened 3e-5 | grpo 3e-5 | 60.0 " in last
    assert "| hardened | 3e-5 | 1 | 60.0 " in gained
    assert "| 2 |" not in gained  # that warm-up has no scores


def test_a_folder_without_records_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for given, message in (([], "usage"), ([str(tmp_path)], "no folder with records"), (["nowhere"], "nowhere")):
        monkeypatch.setattr("sys.argv", ["tables", *given])
        with pytest.raises(SystemExit, match=message):
            print_tables()


def test_an_arm_is_tested_at_its_best_rate_on_other_problems(tmp_path: Path) -> None:
    """Whatever the rates give on the problems of the test; of equal rates, the lower one."""
    all_right, all_wrong = (1,) * SAMPLES * 4, (0,) * SAMPLES * 4
    for run, tuning, held_out in (
        ("hardened-3e-5-3", all_right, all_wrong),
        ("hardened-1e-4-3", all_wrong, all_right),
        ("sft-3e-5-3", all_wrong, all_wrong),
        ("sft-1e-4-3", all_right, all_right),
        ("grpo-3e-5-3", all_right, all_right),
        ("grpo-1e-4-3", all_right, all_wrong),
    ):
        records_of(tmp_path, run, "tuning", tuning)
        records_of(tmp_path, run, "held-out", held_out)
    scored = read(tmp_path)
    assert best_rates(PARTS[1], scored) == {"hardened": "3e-5", "sft": "1e-4", "grpo": "3e-5"}
    found = [(one.ours, one.other, one.difference.of.value) for one in comparisons(scored)]
    assert found == [("hardened 3e-5", "sft 1e-4", -1), ("hardened 3e-5", "grpo 3e-5", -1)]


def test_explanations_follow_from_the_records(tmp_path: Path) -> None:
    """Of 20 problems, from two warm-ups: with samples the one arm has 9 more than the other, greedily 1 more."""
    counts = {"warm-up": 4, "hardened": 6, "expert_iteration": 15, "strict": 12, "sft": 12}
    greedy = {"warm-up": 8, "hardened": 14, "expert_iteration": 15, "sft": 13}
    for number in (4, 5):
        for ending, of in (("", counts), (GREEDY, greedy)):
            for arm, right in of.items():
                run = f"{arm}-{number}" if arm == "warm-up" else f"{arm}-3e-5-{number}"
                records_of(tmp_path, run, f"held-out{ending}", (1,) * SAMPLES * right + (0,) * SAMPLES * (20 - right))
    records_of(tmp_path, "strict-3e-5-5", "held-out", (1,) * SAMPLES * 14 + (0,) * SAMPLES * 6)
    found = explanations(read(tmp_path))
    assert [one.name for one, *_ in found] == [one.name for one in (*TESTED, *REPORTED)]
    assert all((warm_ups, difference.problems) == ((4, 5), 20) for _, warm_ups, difference, _ in found)
    percent = {one.name: round(100 * difference.of.value, 6) for one, _, difference, _ in found}
    assert percent == {
        "expert_iteration − hardened, less the same of greedy answers": 40,
        "strict − hardened": 35,
        "strict − expert_iteration": -10,
        "strict − sft": 5,
        "expert_iteration − hardened, greedy": 5,
        "sft − hardened, greedy": -5,
        "expert_iteration − warm-up, greedy": 35,
        "sft − warm-up, greedy": 25,
        "hardened − warm-up, greedy": 30,
    }
    (_, _, sharpening, first), (_, _, names, second), *rest = found
    assert (first, second) == pytest.approx(holm([sharpening.p, names.p]))
    assert all(p is None for *_, p in rest)
    low, high = sharpening.of.interval or (0, 0)
    assert 0 < low < 0.4 < high < 0.7
    gained = {run: round(100 * difference.of.value, 6) for run, difference in gains(read(tmp_path))}
    assert (gained["hardened", "3e-5", 4], gained["strict", "3e-5", 5]) == (10, 50)  # of samples
    assert [one.other for one in comparisons(read(tmp_path))] == ["sft 3e-5", "expert_iteration 3e-5"]


def cells(line: str) -> list[str]:
    return re.split(r" *\| *", line)[1:-1]


def rows_after(lines: list[str], number: int) -> list[dict[str, str]]:
    """The rows of the table whose head is this line, by the names of the columns."""
    names = cells(lines[number])
    shown = takewhile(lambda line: line.startswith("|"), lines[number + 2 :])  # a rule is below the head
    return [dict(zip(names, cells(line), strict=True)) for line in shown]


def test_the_page_follows_from_the_records() -> None:
    """Each number of the page, and those of the two tables in ``experiments.md``."""
    page = (DOCS / "experiments" / "pretrained.md").read_text(encoding="utf-8")
    assert page == "\n".join(map(to_markdown, tables(read(DOCS / "experiments" / "pretrained"))))
    page_lines = page.splitlines()
    shown = (DOCS / "experiments.md").read_text(encoding="utf-8").splitlines()
    unescaped = page.replace("\\", "").replace("-", "−").replace("<", "< ")
    head = "proof_r1, third part"
    compared = rows_after(shown, next(number for number, line in enumerate(shown) if line.startswith(f"| {head} |")))
    assert len(compared) == len([line for line in page_lines if re.match(r"\| (4|4, 5) \| ", line)]) > 0
    for row in compared:
        numbers = f"{row['right and rule-verified (points)']} | {row['p, corrected']}"
        line = f"| {row['warm-ups']} | {row[head].strip('`')} 3e-5 | {row['against']} | {numbers} |"
        assert line.replace("-", "−") in unescaped
    text = " ".join(shown[shown.index("## A pretrained model") : shown.index("## Models made from scratch")])
    told = re.findall(r"(−?[\d.]+) points \[(−?[\d.]+), (−?[\d.]+)\]", text)
    assert len(told) == 5
    for value, low, high in told:
        assert f" {value} [{low}, {high}]" in unescaped
    greedy = next(number for number, line in enumerate(shown) if "| from warm-up 4 | greedy |" in line)
    models = list(map(cells, takewhile(lambda line: line.startswith("|"), shown[greedy + 2 :])))
    assert len(models) == 4
    for model, *shares in models:
        for place, (warm_up, file) in enumerate([("4", ""), ("4", GREEDY), ("5", ""), ("5", GREEDY)]):
            table = rows_after(page_lines, page_lines.index(f"**held-out{file}, rules train**") + 2)
            scores = [one for one in table if (one["model"].replace("\\", ""), one["warm-up"]) == (model, warm_up)]
            assert [one["right and rule-verified (%)"] for one in scores] == [shares[place]]
