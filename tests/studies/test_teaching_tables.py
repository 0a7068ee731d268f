"""Tables of the study of teaching from made-up records: what is tested, on which runs, and what is left open."""

from __future__ import annotations

import gzip
import lzma
import random
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from proof_r1_formal.evaluation.measures import Estimate, Measure, Row, Sample
from proof_r1_formal.evaluation.runs import compare_runs
from proof_r1_formal.evaluation.tables import Table, to_markdown
from studies.teaching.records import PACKED, PACKED_ANSWERS, Record, pack
from studies.teaching.run import FILES, SAMPLES, SEEDS, start_of
from studies.teaching.tables import PRIMARY, REPORTED, TESTED, Comparison, compare, decisions, main, read, tables

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROBLEMS = 12
DRAWS = 400


def scores(rate: float, rng: random.Random, samples: int) -> dict[str, tuple[float, ...]]:
    """The columns of a file; right answers are as often rule-verified as not."""
    proved: list[float] = [sum(rng.random() < rate for _ in range(samples)) for _ in range(PROBLEMS)]
    columns: dict[str, list[float]] = {
        "answers": [samples] * PROBLEMS,
        Measure.AVG.value: [min(samples, 2 * one) for one in proved],
        Measure.VERIFIED.value: proved,
        PRIMARY.value: proved,
        "FVR": [3 * one for one in proved],
        "FVR of": [4 * samples] * PROBLEMS,
        "RVR": [2 * one for one in proved],
        "RVR of": [4 * samples] * PROBLEMS,
        "actions": [5 * samples] * PROBLEMS,
        "useless": [samples // 2] * PROBLEMS,
        "tokens": [90 * samples] * PROBLEMS,
        "entropy": [0.5 * samples] * PROBLEMS,
    }
    return {name: tuple(map(float, values)) for name, values in columns.items()}


def record(name: str, rate: float, rng: random.Random) -> Record:
    made = {file: scores(rate, rng, SAMPLES) for file in FILES}
    greedy = {f"{file}-greedy": scores(rate, rng, 1) for file in FILES}
    return Record(name, 100, 60.0 + rng.random(), {**made, **greedy}, [])


def written(folder: Path, runs: Mapping[str, float]) -> Path:
    """A folder with the record of each run, by its name and its rate of right and rule-verified answers."""
    rng = random.Random(4)
    for name, rate in runs.items():
        (folder / f"{name}.json").write_bytes(msgspec.json.encode(record(name, rate, rng)))
    return folder


def arms(**rates: float) -> dict[str, float]:
    """Five runs of each arm, with rates that vary a little by seed."""
    return {f"{arm}-{seed}": rate + 0.02 * (seed - 3) for arm, rate in rates.items() for seed in SEEDS}


def table(found: list[Table], title: str) -> list[dict[str, object]]:
    [one] = [one for one in found if one.title == title]
    names = [column.name for column in one.columns]
    return [dict(zip(names, row, strict=True)) for row in one.rows]


def test_the_tests_are_the_six_of_the_plan() -> None:
    pairs = [("taught", "sft"), ("proof_r1_taught", "sft"), ("proof_r1_taught", "expert_iteration")]
    assert [(one.ours, one.other, one.file) for one in TESTED] == [
        (*pair, file) for file in ("same", "longer") for pair in pairs
    ]
    assert not set(TESTED) & set(REPORTED)
    assert {one.file for one in REPORTED if (one.ours, one.other) in pairs} == {"same-greedy", "longer-greedy"}
    others = {(one.ours, one.other) for one in REPORTED} - set(pairs)
    arms = {("taught", "sft_long"), ("proof_r1_taught", "sft_long"), ("taught", "sft_few"), ("sft_few", "sft")}
    assert others == arms


def test_runs_are_paired_by_seed_and_counts_become_rates(tmp_path: Path) -> None:
    records = read(written(tmp_path, arms(taught=0.5, sft=0.3)))
    found = compare(records, Comparison("taught", "sft", "same"), resamples=DRAWS)
    means = [
        sum(sum(one.scores["same"][PRIMARY.value]) for one in records[arm].values()) / (5 * SAMPLES * PROBLEMS)
        for arm in ("taught", "sft")
    ]
    assert (found.runs, found.problems) == ((5, 5), PROBLEMS)
    assert found.of.value == pytest.approx(means[0] - means[1])
    each: list[dict[int, dict[Sample, Row]]] = [
        {
            seed: {
                (f"{place:06}", sample): {PRIMARY: (sample < right, 1)}
                for place, right in enumerate(one.scores["same"][PRIMARY.value])
                for sample in range(SAMPLES)
            }
            for seed, one in records[arm].items()
        }
        for arm in ("taught", "sft")
    ]  # answer by answer
    expected = compare_runs(each[0], each[1], PRIMARY, by_seed=True, resamples=DRAWS)
    assert found.of.interval == pytest.approx(expected.of.interval)
    assert found.p == pytest.approx(expected.p)


def test_differences_are_found_and_corrected_for_six(tmp_path: Path) -> None:
    records = read(written(tmp_path, arms(taught=0.7, sft=0.3, proof_r1_taught=0.31, expert_iteration=0.3)))
    found = decisions(records, resamples=DRAWS)
    taught = [(difference, p) for one, difference, p in found if one.ours == "taught"]
    smaller, larger = sorted([difference.p for difference, _ in taught if difference])
    assert sorted([p for _, p in taught if isinstance(p, float)]) == [6 * smaller, max(6 * smaller, 5 * larger)]
    assert 5 * larger < 0.01
    others = [p for one, _, p in found if one.ours != "taught"]
    assert all(p == "too close to call" or (isinstance(p, float) and p > 0.2) for p in others)


def test_an_arm_that_lacks_a_seed_is_not_tested_but_counts(tmp_path: Path) -> None:
    """With the p of a missing test left out, the bounds of the others would be too low a hurdle."""
    runs = arms(taught=0.6, sft=0.3, proof_r1_taught=0.5, expert_iteration=0.3)
    del runs["proof_r1_taught-5"]
    folder = written(tmp_path, runs)
    found = decisions(read(folder), resamples=DRAWS)
    assert [difference is None for _, difference, _ in found] == [False, True, True] * 2
    assert [p is None for *_, p in found] == [False, True, True] * 2
    smallest = min([difference.p for _, difference, _ in found if difference])
    assert min([p for *_, p in found if isinstance(p, float)]) == pytest.approx(6 * smallest)
    shown = table(list(tables(read(folder), resamples=DRAWS)), "The six tests of right and rule-verified answers")
    assert [(row["runs"], row["difference (%)"] is None) for row in shown] == [(5, False), (4, True), (4, True)] * 2


def test_what_the_draws_do_not_decide_says_so(tmp_path: Path) -> None:
    """Of 40 draws the error of p is large, so that another seed may decide otherwise."""
    records = read(written(tmp_path, arms(taught=0.42, sft=0.36)))
    (one, difference, p), *_ = decisions(records, resamples=40)
    assert (one.file, p) == ("same", "too close to call")
    assert difference is not None
    assert abs(difference.p - 0.05) < 10 * difference.error


def test_one_run_is_no_arm(tmp_path: Path) -> None:
    records = read(written(tmp_path, {"taught-1": 0.5, "sft-1": 0.3, "sft-2": 0.3}))
    with pytest.raises(ValueError, match="1 and 1 runs"):
        compare(records, TESTED[0], resamples=DRAWS)
    found = list(tables(records, resamples=DRAWS))
    assert table(found, "Beside the tests") == []
    assert {row["p"] for row in table(found, "The six tests of right and rule-verified answers")} == {None}


def test_scores_are_means_over_runs_in_the_order_of_the_plan(tmp_path: Path) -> None:
    runs = {"sft_long-1": 0.4, "sft-2": 0.05, "sft-1": 0.05, "warm-up-1": 0.1, "taught-1": 0.5}
    records = read(written(tmp_path, runs))
    found = list(tables(records, resamples=DRAWS))
    rows = table(found, "Answers to longer")
    assert [(row["arm"], row["runs"]) for row in rows] == [("warm-up", 1), ("taught", 1), ("sft", 2), ("sft_long", 1)]
    first, second = (records["sft"][seed].scores["longer"] for seed in (1, 2))
    shares = [sum(one[PRIMARY.value]) / (SAMPLES * PROBLEMS) for one in (first, second)]
    cell = rows[2]["right and rule-verified (%)"]
    assert isinstance(cell, Estimate)
    assert cell.value == pytest.approx(sum(shares) / 2)
    assert cell.spread == pytest.approx(abs(shares[0] - shares[1]) / 2**0.5)
    values = {name: one.value for name, one in rows[2].items() if isinstance(one, Estimate)}
    assert values["FVR (%)"] == pytest.approx(3 / 4 * cell.value)
    assert values["RVR (%)"] == pytest.approx(2 / 4 * cell.value)
    assert (values["actions"], values["useless"], values["tokens"], values["entropy"]) == (5, 0.5, 90, 0.5)
    for file, name in (("longer", f"pass@{SAMPLES} (%)"), ("longer-greedy", "pass@1 (%)")):
        right = [one.scores[file]["Avg"] for one in records["sft"].values()]
        solved = table(found, f"Answers to {file}")[2][name]
        assert isinstance(solved, Estimate)
        assert solved.value == pytest.approx(sum(sum(map(bool, of)) for of in right) / (2 * PROBLEMS))
        assert 0 < solved.value < 1
    costs = table(found, "Processor time")[0]
    assert "60." in to_markdown(next(one for one in found if one.title == "Processor time"))
    assert costs["arm"] == "warm-up"


@pytest.fixture(scope="module")
def published() -> list[Table]:
    """The tables of the records that the project keeps."""
    return list(tables(read(DOCS / "experiments" / "teaching")))


def test_the_page_follows_from_its_records(published: list[Table]) -> None:
    page = (DOCS / "experiments" / "teaching.md").read_text(encoding="utf-8")
    assert page == "\n".join(map(to_markdown, published))


def test_other_pages_have_the_numbers_of_the_tables(published: list[Table]) -> None:
    """The overview in ``experiments.md``, and the part of it in the README; each of the six tests."""
    overview, *_ = published
    [tests] = [one for one in published if one.title.startswith("The six tests")]
    shown = (DOCS / "experiments.md").read_text(encoding="utf-8")
    for one in (overview, tests):
        _, _, *rows = to_markdown(one).splitlines()
        assert "\n".join(rows) in shown
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    shown_there = re.findall(r"^\| `(\w+)` \|.* ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", readme, re.MULTILINE)
    known = {str(row[0]): [one for one in row if isinstance(one, Estimate)] for row in overview.rows}
    assert len(shown_there) == 5
    for arm, *numbers in shown_there:
        same, longer, greedy, *_ = known["hardened" if arm == "proof_r1" else arm]
        assert numbers == [f"{100 * one.value:.1f}" for one in (same, greedy, longer)], arm


def test_sentences_of_the_page_are_true_of_the_records() -> None:
    """Those that compare each run with its start, and the shares that stand in sentences."""
    records = read(DOCS / "experiments" / "teaching")

    def proved(arm: str, seed: int, file: str) -> float:
        scores = records[arm][seed].scores[file]
        return 100 * sum(scores[PRIMARY.value]) / sum(scores["answers"])

    def start(seed: int, file: str) -> float:
        return proved("warm-up", start_of(seed), file)

    page = " ".join((DOCS / "experiments.md").read_text(encoding="utf-8").split())
    assert f"from {sum(start(seed, 'same') for seed in SEEDS) / 5:.1f} % at the start, `same` has" in page
    for arm in ("grpo", "prosfi", "contrast", "hardened", "strict"):
        share = f"{sum(proved(arm, seed, 'same') for seed in SEEDS) / 5:.1f}"
        assert re.search(rf"{share} (% )?under `{arm}`", page)
    assert sum(proved("grpo", seed, "same") < start(seed, "same") for seed in SEEDS) == 4
    assert all(proved("prosfi", seed, "longer") > start(seed, "longer") for seed in SEEDS)
    ends = sum(proved("prosfi", seed, "longer") for seed in SEEDS) / 5
    assert f"{ends:.1f} %, from {sum(start(seed, 'longer') for seed in SEEDS) / 5:.1f}." in page
    for arm in ("sft", "taught"):
        assert all(proved(arm, seed, "longer") < start(seed, "longer") for seed in SEEDS)


def test_the_command_prints_all_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tables", str(tmp_path)])
    with pytest.raises(SystemExit, match="no folder with records"):
        main()
    written(tmp_path, {"warm-up-1": 0.1, "taught-1": 0.5})
    main()
    printed = capsys.readouterr().out
    assert printed.count("| arm |") == 2 * len(FILES) + 4


def test_packed_records_are_the_records(tmp_path: Path) -> None:
    """With their answers; a run that was not scored is left out."""
    (tmp_path / "records").mkdir()
    (tmp_path / "answers").mkdir()
    folder = written(tmp_path / "records", {"warm-up-1": 0.1, "taught-1": 0.5})
    unscored = msgspec.json.encode(Record("short-1", 10, 1.0, {}, []))
    (folder / "short-1.json").write_bytes(unscored)
    answers = {"same": ["<summary>[]</summary>"]}
    (tmp_path / "answers" / "taught-1.json.gz").write_bytes(gzip.compress(msgspec.json.encode(answers)))
    pack(tmp_path, tmp_path / "packed")
    assert read(tmp_path / "packed") == read(folder)
    assert set(read(folder)) == {"warm-up", "taught"}
    [line] = lzma.decompress((tmp_path / "packed" / PACKED_ANSWERS).read_bytes()).splitlines()
    assert msgspec.json.decode(line) == {"run": "taught-1", "answers": answers}
    first = (tmp_path / "packed" / PACKED).read_bytes()
    pack(tmp_path, tmp_path / "packed")
    assert (tmp_path / "packed" / PACKED).read_bytes() == first
