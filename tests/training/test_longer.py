"""``longer`` and ``distractors``: problems, statistics worked out by hand, pages, and a run in miniature."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from statistics import fmean

import msgspec
import pytest
from msgspec import structs

from proof_r1_formal import ProofR1Error, Settings, read_problems
from proof_r1_formal.credit.terms import padding
from proof_r1_formal.generate import summary
from proof_r1_formal.generate.diversity import structural_key
from training.config import ConfigError, with_overrides
from training.experiments.longer import WARM_UP, run, tuned_rate
from training.experiments.longer_plan import HELD_OUT, SCORED, VOCABULARY, Sizes, Study, Tuning, draws, read_study
from training.experiments.longer_tables import (
    LAYOUTS,
    PRIMARY,
    RVR,
    differences_table,
    interval,
    page,
    paired,
    pairs_of,
    pass_at,
)
from training.experiments.problems import write_draws, write_renamed
from training.experiments.records import Outputs, Record, read_records, write_record

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "training" / "experiments" / "longer.yaml"
DISTRACTORS = STUDY.with_name("distractors.yaml")
SIZES = Sizes(
    demonstrations=24,
    mixed=24,
    names=2,
    recitals=0.5,
    learning=8,
    continued=8,
    short=2,
    longer=2,
    watched=2,
    validation=2,
    samples=2,
)

# -- problems ---------------------------------------------------------------------------------------------------------


def test_every_problem_needs_all_its_premises_and_its_proof_holds(tmp_path: Path) -> None:
    verifier = Settings().verifier()
    for name, path in write_draws(draws(SIZES), tmp_path, held_out=HELD_OUT).items():
        least, most = {"longer": (4, 6), "mixed": (1, 6), "validation": (1, 6)}.get(name, (1, 3))
        problems = list(read_problems(path).values())
        assert len(problems) == getattr(SIZES, name)
        for problem in problems:
            (proof,) = problem.proofs
            assert least <= len(proof) - 1 <= most
            assert all(action.signal == 1.0 for action in verifier.verify(problem, summary(proof)).actions)
            cited = {d for step in proof for d in step.dependencies if d[0] == "h"}
            assert cited == {premise.id for premise in problem.premises}


def test_renamed_problems_have_the_same_structure_and_proofs_that_hold(tmp_path: Path) -> None:
    paths = write_draws({"short": draws(SIZES)["short"]}, tmp_path, held_out=("short",))
    problems = list(read_problems(paths["short"]).values())
    write_renamed(problems, VOCABULARY, 3, tmp_path / "renamed.jsonl")
    renamed = list(read_problems(tmp_path / "renamed.jsonl").values())
    assert len(renamed) == 3 * len(problems)
    verifier = Settings().verifier()
    for place, other in enumerate(renamed):
        problem = problems[place // 3]
        keys = [structural_key(p.options[0].formula, [h.formula for h in p.premises]) for p in (problem, other)]
        assert keys[0] == keys[1]
        assert all(action.signal == 1.0 for action in verifier.verify(other, summary(other.proofs[0])).actions)
    assert len({other.premises for other in renamed}) > len(problems)


def test_no_two_files_are_drawn_with_the_same_seed() -> None:
    seeds = [draw.settings.seed for parts in draws(SIZES).values() for draw in parts]
    assert len(seeds) == len(set(seeds)) == 8


def test_padding_is_entailed_and_not_used(tmp_path: Path) -> None:
    paths = write_draws({"longer": draws(SIZES)["longer"]}, tmp_path, held_out=("longer",))
    problem, *_ = read_problems(paths["longer"]).values()
    verifier = Settings().verifier()
    proof = problem.proofs[0]
    assert padding(verifier.verify(problem, summary(proof))) == 0
    extra = replace(proof[0], id="extra")
    assert padding(verifier.verify(problem, summary((extra, *proof)))) == 1
    false = replace(proof[0], id="extra", conclusion="is_tall(Ada) ∧ ¬is_tall(Ada)")
    assert padding(verifier.verify(problem, summary((false, *proof)))) == 0


def test_problems_with_distractors_have_unused_premises_and_those_with_two_proofs_share_none(tmp_path: Path) -> None:
    sizes = structs.replace(read_study(DISTRACTORS).sizes, short=6, paths=6)
    chosen = {name: parts for name, parts in draws(sizes).items() if name in SCORED}
    assert set(chosen) == {"short", "paths"}
    verifier = Settings().verifier()
    found: dict[str, list[int]] = {"short": [], "paths": []}
    for name, path in write_draws(chosen, tmp_path, held_out=SCORED).items():
        for problem in read_problems(path).values():
            cited = [{d for step in proof for d in step.dependencies if d[0] == "h"} for proof in problem.proofs]
            reports = [verifier.verify(problem, summary(proof)) for proof in problem.proofs]
            assert all(action.signal == 1.0 for report in reports for action in report.actions)
            assert len(problem.proofs) == (2 if name == "paths" else 1)
            assert len(set().union(*cited)) == sum(map(len, cited))
            found[name].append(len(problem.premises) - len(set().union(*cited)))
    assert min(found["short"]) >= 1
    assert max(found["paths"]) == 0


def test_half_of_what_is_learned_from_has_two_proofs() -> None:
    parts = draws(read_study(DISTRACTORS).sizes)["learning"]
    assert [(part.count, part.settings.routes) for part in parts] == [(160, 1), (160, 2)]
    (only,) = draws(SIZES)["learning"]
    assert only.settings.routes == 1


# -- configuration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [STUDY, DISTRACTORS])
def test_the_study_can_be_read_and_its_arms_differ_in_what_they_set(path: Path) -> None:
    study = read_study(path)
    configs = [with_overrides(study.runs, overrides) for overrides in study.arms.values()]
    assert len({msgspec.json.encode(config) for config in configs}) == len(configs)
    assert {"proof_r1", "grpo", "prosfi", "sft"} <= set(study.arms)
    assert study.tuning.seed not in study.seeds
    completions = study.runs.optimiser.steps * study.runs.batch.problems
    assert completions <= study.sizes.learning  # every problem once
    assert completions * study.runs.rollout.samples <= study.sizes.continued


def test_a_wrong_override_of_an_arm_is_rejected(tmp_path: Path) -> None:
    text = STUDY.read_text(encoding="utf-8").replace("method=grpo", "method=gpro")
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="gpro"):
        read_study(tmp_path / "x.yaml")


def test_a_study_has_the_values_of_its_base_but_for_its_own_and_its_arms(tmp_path: Path) -> None:
    (tmp_path / "longer.yaml").write_bytes(STUDY.read_bytes())
    own = "base: longer.yaml\nsizes: {learning: 16}\nruns: {optimiser: {steps: 2}}\narms: {grpo: [method=grpo]}\n"
    (tmp_path / "x.yaml").write_text(own, encoding="utf-8")
    base, found = read_study(STUDY), read_study(tmp_path / "x.yaml")
    assert list(found.arms) == ["grpo"]
    assert found.sizes == structs.replace(base.sizes, learning=16)
    assert found.runs.optimiser == structs.replace(base.runs.optimiser, steps=2)
    assert (found.short, found.seeds) == (base.short, base.seeds)
    (tmp_path / "x.yaml").write_text(own.replace("longer.yaml", "shorter.yaml"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"shorter\.yaml"):
        read_study(tmp_path / "x.yaml")


def test_a_known_rate_is_taken_and_the_single_one_by_the_other_arms() -> None:
    study = read_study(DISTRACTORS)
    rates = {arm: tuned_rate(study, arm, study.mixed, {}, log=print) for arm in study.arms}
    assert rates.pop("sft") == 4e-4
    assert set(rates.values()) == {1e-4}


# -- statistics -------------------------------------------------------------------------------------------------------


def outputs(instances: list[int], of: list[int], verified: list[int], samples: int = 4) -> Outputs:
    zeros = [0] * len(of)
    return Outputs(
        samples=samples,
        entropy=0.1,
        right=verified,
        verified=verified,
        parsed=[samples] * len(of),
        entailed=instances,
        entailed_of=of,
        instances=instances,
        instances_of=of,
        actions=of,
        padding=zeros,
        tokens=of,
    )


def record(arm: str, seed: int, *given: Outputs) -> Record:
    names = [f"{file}/{decoding}" for file in ("short", "longer") for decoding in ("greedy", "sampled")]
    made = {name: given[place % len(given)] for place, name in enumerate(names)}
    return Record(arm=arm, seed=seed, learning_rate=1e-4, steps=10, outputs=made, curve={})


def test_the_interval_of_equal_runs_is_zero() -> None:
    runs = [record("a", seed, outputs([1, 0, 2], [2, 2, 2], [0, 0, 0])) for seed in (0, 1)]
    assert interval(RVR, runs, runs, "longer/sampled", resamples=200) == (0.0, 0.0, 0.0)


def test_the_interval_holds_the_share_of_resamples_that_it_should() -> None:
    # one seed, two problems with differences 0 and 1: of the four resamples, means are 0, 1/2, 1/2 and 1
    ours = [record("a", 0, outputs([1, 1], [1, 1], [0, 0]))]
    theirs = [record("b", 0, outputs([0, 1], [1, 1], [0, 0]))]
    assert interval(RVR, ours, theirs, "longer/sampled") == (0.5, 0.0, 1.0)


def test_the_interval_agrees_with_an_exact_enumeration_over_seeds_and_problems() -> None:
    gains = [[3, 1, 0], [2, 2, 1]]
    ours = [record("a", seed, outputs(row, [4, 4, 4], [0, 0, 0])) for seed, row in enumerate(gains)]
    theirs = [record("b", seed, outputs([0, 0, 0], [4, 4, 4], [0, 0, 0])) for seed in (0, 1)]
    exact = sorted(
        [
            fmean([gains[seed][problem] for seed in seeds for problem in problems]) / 4
            for seeds in product(range(2), repeat=2)
            for problems in product(range(3), repeat=3)
        ]
    )
    point, low, high = interval(RVR, ours, theirs, "longer/sampled")
    assert point == pytest.approx(9 / 24)
    assert low in (pytest.approx(exact[2]), pytest.approx(exact[3]))
    assert high in (pytest.approx(exact[-3]), pytest.approx(exact[-4]))


def test_pass_at_k_is_the_share_of_subsets_with_a_good_sample() -> None:
    for good, k in product(range(7), range(1, 7)):
        subsets = list(combinations([True] * good + [False] * (6 - good), k))
        assert pass_at(k, good, 6) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert pass_at(2, 3, 6) != pytest.approx(1 - (1 - 3 / 6) ** 2)  # drawn with replacement, which is biased


def test_the_page_shows_a_gain_at_one_sample_that_is_a_loss_at_many() -> None:
    some = outputs([1, 1], [1, 1], [0, 0])
    records = []
    for arm, counts in ((WARM_UP, [4, 4]), ("proof_r1", [32, 0])):
        one = record(arm, 0, some)
        records.append(structs.replace(one, outputs={**one.outputs, "short/many": outputs([1, 1], [1, 1], counts, 32)}))
    last = next(line for line in reversed(page(records).splitlines()) if line.startswith("| proof\\_r1 − warm-up"))
    points = [float(cell.split()[0]) for cell in last.strip("| ").split(" | ")[2:]]
    assert (len(points), points[0], points[-1]) == (6, 37.5, -50.0)
    assert "k = 32" not in page([record("proof_r1", 0, some)])


def test_only_common_seeds_are_compared_and_the_warm_up_with_all() -> None:
    some = outputs([1], [1], [1])
    ours = [record("proof_r1", seed, some) for seed in (0, 1, 2)]
    theirs = [record("grpo", seed, some) for seed in (2, 0)]
    assert [[one.seed for one in side] for side in paired(ours, theirs)] == [[0, 2], [0, 2]]
    start = record(WARM_UP, 0, some)
    assert paired(ours, [start]) == (ours, [start] * 3)


def test_differences_are_in_points_with_their_intervals() -> None:
    arms = {
        "proof_r1": [record("proof_r1", 0, outputs([3, 3], [4, 4], [4, 4]))],
        "grpo": [record("grpo", 0, outputs([2, 2], [4, 4], [1, 1]))],
    }
    columns = [(score.name, score, "longer/sampled") for score in PRIMARY]
    (row,) = differences_table("x", arms, pairs_of(arms, "proof_r1"), columns).rows
    assert row == ("proof_r1 − grpo", 1, "+25.0 [+25.0, +25.0]", "+75.0 [+75.0, +75.0]")
    assert len(row) == 2 + len(PRIMARY)
    start = {WARM_UP: [record(WARM_UP, 0, outputs([1, 1], [4, 4], [0, 0]))]}
    arms = {**start, **arms}
    rows = differences_table("x", arms, pairs_of(arms, "proof_r1"), columns).rows
    assert [row[0] for row in rows] == ["proof_r1 − warm-up", "proof_r1 − grpo", "grpo − warm-up"]
    assert rows[2][2] == "+25.0 [+25.0, +25.0]"


# -- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", LAYOUTS)
def test_the_page_is_what_the_records_say(study: str) -> None:
    folder = ROOT / "docs" / "experiments" / study
    assert folder.with_suffix(".md").read_text(encoding="utf-8") == page(read_records(folder), study)


@pytest.mark.parametrize("study", LAYOUTS)
def test_the_document_states_numbers_of_the_page_only(study: str) -> None:
    document = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    section = document.partition(f"\n## `{study}`")[2].partition("\n## ")[0]
    cells = {cell.strip() for line in section.splitlines() if line[:1] == "|" for cell in line.split("|")}
    found = re.findall(r"[+-][0-9.]+\s\[[^]]+\]|[0-9.]+\s±\s[0-9.]+", section)
    stated = {" ".join(n.split()) for n in found} | {cell for cell in cells if re.fullmatch(r"[0-9.]+", cell)}
    made = (ROOT / "docs" / "experiments" / f"{study}.md").read_text(encoding="utf-8").replace("\\", "")
    assert stated
    assert not {number for number in stated if number not in made}


def test_a_record_reads_back(tmp_path: Path) -> None:
    made = record("grpo", 3, outputs([1], [2], [0]))
    write_record(tmp_path / "grpo-3.json", made)
    assert read_records(tmp_path) == [made]


# -- all of it --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_from_problems_to_tables_and_nothing_twice(tmp_path: Path) -> None:
    full = read_study(STUDY)
    model = structs.replace(
        full.runs.model,
        scratch=structs.replace(full.runs.model.scratch, layers=1, heads=2, width=16, hidden=16)
        if full.runs.model.scratch
        else None,
    )
    runs = with_overrides(
        structs.replace(full.runs, model=model),
        [
            "rollout.samples=2",
            "rollout.max_response_tokens=24",
            "batch.problems=2",
            "batch.mini=2",
            "optimiser.steps=2",
        ],
    )
    brief = {
        name: structs.replace(config, model=model, optimiser=structs.replace(config.optimiser, steps=2))
        for name, config in (("reading", full.reading), ("short", full.short), ("mixed", full.mixed))
    }
    study = Study(
        output=str(tmp_path / "out"),
        sizes=structs.replace(SIZES, longer=0, paths=2, many=3),
        rvr=(0.0, 1.0),
        runs=runs,
        tuning=Tuning(rates=(1e-4,), steps=1, seed=9),
        arms={arm: full.arms[arm] for arm in ("proof_r1", "sft")},
        seeds=(0, 1),
        **brief,
    )
    said: list[str] = []
    run(study, tmp_path / "records", log=said.append)
    found = read_records(tmp_path / "records")
    made = [("proof_r1", 0), ("proof_r1", 1), ("sft", 0), ("sft", 1), (WARM_UP, 0)]
    assert [(one.arm, one.seed) for one in found if one.steps == 2] == made
    assert {one.learning_rate for one in found if one.arm != WARM_UP} == {1e-4}
    names = {f"{file}/{decoding}" for file in ("short", "paths") for decoding in ("greedy", "sampled", "many")}
    assert all({n for n in names if one.seed == 0 or "many" not in n} == set(one.outputs) for one in found)
    assert page(found, "distractors").count("| proof\\_r1 − sft |") == 4
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")}
    run(study, tmp_path / "records", log=said.append)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")} == before
    strict = structs.replace(study, rvr=(0.99, 1.0))
    with pytest.raises(ProofR1Error, match="change mixed"):
        run(strict, tmp_path / "records", log=said.append)
