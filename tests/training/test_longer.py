"""The study ``longer``: its problems, its statistics worked out by hand, its page, and a run in miniature."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean

import msgspec
import pytest
from msgspec import structs

from proof_r1_formal import Settings, read_problems
from proof_r1_formal.generate import summary
from proof_r1_formal.generate.diversity import structural_key
from training.config import ConfigError, with_overrides
from training.credit import padding
from training.experiments.longer import WARM_UP, run
from training.experiments.longer_plan import (
    HELD_OUT,
    ROUTES,
    VOCABULARIES,
    Condition,
    Sizes,
    Study,
    Tuning,
    draws,
    read_study,
)
from training.experiments.longer_tables import PRIMARY, RVR, differences_table, interval, page, paired, pass_at
from training.experiments.problems import write_draws, write_renamed
from training.experiments.records import Outputs, Record, read_records, write_record

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "training" / "experiments" / "longer.yaml"
SIZES = Sizes(
    demonstrations=24,
    names=2,
    learning=8,
    short=2,
    longer=2,
    watched=2,
    validation=2,
    samples=2,
    support=(1, 2),
)

# -- problems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", ["plain", "distractors", "routes"])
def test_every_problem_has_its_proofs_and_they_share_no_premise(condition: Condition, tmp_path: Path) -> None:
    verifier = Settings().verifier()
    for name, path in write_draws(draws(condition, SIZES), tmp_path, held_out=HELD_OUT).items():
        least, most = (4, 6) if name in ("longer", "validation") else (1, 3)
        problems = list(read_problems(path).values())
        assert len(problems) == getattr(SIZES, name)
        for problem in problems:
            assert len(problem.proofs) == ROUTES[condition]
            assert all(least <= len(proof) - 1 <= most for proof in problem.proofs)
            reports = [verifier.verify(problem, summary(proof)) for proof in problem.proofs]
            assert all(action.signal == 1.0 for report in reports for action in report.actions)
            cited = [{d for step in proof for d in step.dependencies if d[0] == "h"} for proof in problem.proofs]
            assert len(set().union(*cited)) == sum(map(len, cited))
            unused = len(problem.premises) - sum(map(len, cited))
            assert (1 <= unused <= 3) if condition == "distractors" else unused == 0


def test_renamed_problems_have_the_same_structure_and_proofs_that_hold(tmp_path: Path) -> None:
    paths = write_draws({"short": draws("plain", SIZES)["short"]}, tmp_path, held_out=("short",))
    problems = list(read_problems(paths["short"]).values())
    write_renamed(problems, VOCABULARIES["plain"], 3, tmp_path / "renamed.jsonl")
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
    seeds = [
        draw.settings.seed
        for condition in ("plain", "distractors", "routes")
        for parts in draws(condition, SIZES).values()
        for draw in parts
    ]
    assert len(seeds) == len(set(seeds)) == 18


def test_padding_is_entailed_and_not_used(tmp_path: Path) -> None:
    paths = write_draws({"longer": draws("plain", SIZES)["longer"]}, tmp_path, held_out=("longer",))
    problem, *_ = read_problems(paths["longer"]).values()
    verifier = Settings().verifier()
    proof = problem.proofs[0]
    assert padding(verifier.verify(problem, summary(proof))) == 0
    extra = replace(proof[0], id="extra")
    assert padding(verifier.verify(problem, summary((extra, *proof)))) == 1
    false = replace(proof[0], id="extra", conclusion="is_tall(Ada) ∧ ¬is_tall(Ada)")
    assert padding(verifier.verify(problem, summary((false, *proof)))) == 0


# -- configuration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["longer", "longer-pilot"])
def test_the_study_can_be_read_and_its_arms_differ_in_what_they_set(name: str) -> None:
    study = read_study(STUDY.with_name(f"{name}.yaml"))
    configs = [with_overrides(study.runs, arm.set) for arm in study.arms.values()]
    assert len({msgspec.json.encode(config) for config in configs}) == len(configs)
    assert {"proof_r1", "grpo", "prosfi", "sft", "expert_iteration", "hardened"} <= set(study.arms)
    assert all(study.tuning.seed not in arm.seeds for arm in study.arms.values())
    fresh = study.runs.optimiser.steps * study.runs.batch.problems
    assert fresh <= study.sizes.learning  # every problem once


def test_a_wrong_override_of_an_arm_is_rejected(tmp_path: Path) -> None:
    text = STUDY.read_text(encoding="utf-8").replace("method=grpo", "method=gpro")
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="gpro"):
        read_study(tmp_path / "x.yaml")


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
    made = {name: given[place % len(given)] for place, name in enumerate([*names, "support/sampled"])}
    return Record(condition="plain", arm=arm, seed=seed, learning_rate=1e-4, steps=10, outputs=made, curve={})


def test_pass_at_k_is_the_share_of_draws_with_a_verified_answer() -> None:
    one = outputs([0, 0], [1, 1], [1, 3])
    # of the six pairs of four samples, three hold the one verified answer of the first problem; every one of the second
    assert pass_at(2, one) == pytest.approx((3 / 6 + 1) / 2)
    assert pass_at(1, one) == pytest.approx((1 / 4 + 3 / 4) / 2)
    assert pass_at(4, one) == 1.0


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
    (row,) = differences_table("x", arms, "longer/sampled").rows
    assert row == ("proof_r1 − grpo", 1, "+25.0 [+25.0, +25.0]", "+75.0 [+75.0, +75.0]")
    assert len(row) == 2 + len(PRIMARY)


# -- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["longer", "longer-pilot"])
def test_the_page_is_what_the_records_say(name: str) -> None:
    folder = ROOT / "docs" / "experiments" / name
    if not folder.exists():
        pytest.skip(f"there are no records in {folder}: python -m training.experiments.longer")
    assert folder.with_suffix(".md").read_text(encoding="utf-8") == page(read_records(folder))


def test_a_record_reads_back(tmp_path: Path) -> None:
    made = record("grpo", 3, outputs([1], [2], [0]))
    write_record(tmp_path / "plain" / "grpo-3.json", made)
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
    warm = structs.replace(full.warm_up, model=model, optimiser=structs.replace(full.warm_up.optimiser, steps=2))
    study = Study(
        output=str(tmp_path / "out"),
        sizes=SIZES,
        rvr=(0.0, 1.0),
        rounds=1,
        warm_up=warm,
        runs=runs,
        tuning=Tuning(rates=(1e-4,), steps=1, seed=9),
        arms={
            "proof_r1": structs.replace(full.arms["proof_r1"], seeds=(0,), conditions=("plain",)),
            "sft": structs.replace(full.arms["sft"], seeds=(0,), rate=2e-4, conditions=("plain",)),
        },
    )
    said: list[str] = []
    run(study, tmp_path / "records", say=said.append)
    found = read_records(tmp_path / "records")
    assert [(one.arm, one.steps) for one in found] == [
        ("proof_r1", 2),
        ("sft", 2),
        (WARM_UP, 2),
    ]
    assert {one.arm: one.learning_rate for one in found if one.arm != WARM_UP} == {"proof_r1": 1e-4, "sft": 2e-4}
    assert {name for one in found for name in one.outputs} == {
        *product_names(("short", "longer"), ("greedy", "sampled")),
        "support/sampled",
    }
    text = page(found)
    assert text.count("| proof\\_r1 − sft |") == 4
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")}
    run(study, tmp_path / "records", say=said.append)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")} == before


def product_names(files: tuple[str, ...], decodings: tuple[str, ...]) -> list[str]:
    return [f"{file}/{decoding}" for file in files for decoding in decodings]
