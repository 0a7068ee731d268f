"""Numbers behind the figures on logs and gradients small enough to work out by hand, and figures that are files."""

from __future__ import annotations

import json
import shutil
import sys
from math import sqrt
from pathlib import Path

import msgspec
import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedModel, Qwen2Config

from proof_r1_formal import ProofR1Error
from studies.diagnostics import (
    Band,
    band,
    baseline_panels,
    draw_centring,
    draw_gradients,
    draw_runs,
    drift_panels,
    main,
    moving,
    score_band,
    score_panels,
    signal_panels,
    time_panels,
)
from studies.gradients import Block, CreditedRollout, blocks, findings, gradient_grid, joined, place
from tests.training.conftest import EXAMPLES
from training.centring import Centring, centring
from training.common.display import Display
from training.common.logs import EvaluationRecord, Record, Score, Seconds, StepRecord, read_log
from training.config import Config, read_config, write_config
from training.local.forward import Example
from training.local.trainer import train

PNG = b"\x89PNG\r\n\x1a\n"


def step(number: int, **values: object) -> StepRecord:
    """A record that is zero where nothing is said."""
    plain: dict[str, object] = {
        field.name: 0 for field in msgspec.structs.fields(StepRecord) if field.type in (int, float)
    }
    plain |= {"signals": {"0.0": 0.0, "0.1": 0.0, "0.3": 0.0, "1.0": 1.0}, "baselines": {}, "seconds": Seconds()}
    return msgspec.convert(
        {**msgspec.to_builtins(plain), **msgspec.to_builtins(values), "step": number, "kind": "step"}, StepRecord
    )


def evaluation(number: int, avg: float, fvr: float, rvr: float) -> EvaluationRecord:
    scores = {"Avg": Score(avg, None), "Pass": Score(avg, None), "FVR": Score(fvr, None), "RVR": Score(rvr, None)}
    return EvaluationRecord(
        step=number, problems=1, samples=1, scores=scores, signal=0, actions=0, closure=0, broken=0, tokens=0, seconds=0
    )


# -- curves -----------------------------------------------------------------------------------------------------------


def test_a_single_curve_is_its_own_band() -> None:
    assert band([{1: 2.0, 3: 5.0}]) == Band((1, 3), (2.0, 5.0), (0.0, 0.0), (0.0, 0.0))


def test_a_band_is_mean_and_deviation_over_runs() -> None:
    assert band([{0: 1.0, 5: 2.0}, {0: 3.0}]) == Band((0, 5), (2.0, 2.0), (1.0, 0.0), (1.0, 0.0))


def test_a_band_is_mean_and_deviation_in_the_window_around_each_step() -> None:
    found = band([{1: 0.0, 2: 3.0, 3: 6.0, 4: 0.0}], window=3)
    assert found.means == (1.5, 3.0, 3.0, 3.0)
    assert found.below == found.above == pytest.approx((1.5, sqrt(6), sqrt(6), 3.0))


def test_an_even_window_reaches_one_step_further_ahead() -> None:
    assert band([{1: 0.0, 2: 2.0, 3: 6.0}], window=2).means == (1.0, 4.0, 6.0)


def test_there_is_no_band_of_nothing() -> None:
    assert band([{}]) == Band((), (), (), ())


def test_scores_are_those_of_evaluations_only() -> None:
    logs: list[list[Record]] = [
        [evaluation(0, 0.5, 0.25, 0.125), step(1), evaluation(1, 1.0, 0.5, 0.25)],
        [evaluation(0, 0.0, 0.75, 0.375)],
    ]
    passed, accuracy, fvr, rvr = score_panels({"warm": logs})
    assert passed.title == "Pass@1"
    assert (accuracy.lines["warm"].steps, accuracy.lines["warm"].means) == ((0, 1), (0.25, 1.0))
    assert fvr.lines["warm"].means == (0.5, 0.5)
    assert rvr.lines["warm"].means == (0.25, 0.25)


def test_the_interval_is_students_over_runs_and_the_logged_one_of_a_single_run() -> None:
    one = msgspec.structs.replace(evaluation(0, 0.5, 0, 0), scores={"Avg": Score(0.5, None, (0.25, 0.625))})
    assert score_band([[one]], "Avg") == Band((0,), (0.5,), (0.25,), (0.125,))
    assert score_band([[evaluation(0, 0.5, 0, 0)]], "Avg").below == (0.0,)  # an older log has none
    three = [[evaluation(0, avg, 0, 0)] for avg in (0.4, 0.5, 0.6)]
    found = score_band(three, "Avg")
    assert found.below == found.above == pytest.approx((4.303 * 0.1 / sqrt(3),))  # scipy.stats.t.ppf(0.975, 2) = 4.303


def test_shares_of_signals_stay_shares() -> None:
    log = [
        step(1, signals={"0.0": 0.5, "0.1": 0.5, "0.3": 0.0, "1.0": 0.0}),
        step(2, signals={"0.0": 0.0, "0.1": 0.5, "0.3": 0.25, "1.0": 0.25}),
    ]
    (panel,) = signal_panels({"x": [log]}, window=3)
    assert panel.stacked
    assert {s: line.means for s, line in panel.lines.items()} == {
        "0.0": (0.25, 0.25),
        "0.1": (0.5, 0.5),
        "0.3": (0.125, 0.125),
        "1.0": (0.125, 0.125),
    }


def test_length_distance_and_entropy_are_moving_averages() -> None:
    log = [step(n, tokens=10.0 * n, kl=n**2, entropy=1 / n) for n in (1, 2, 4)]
    length, distance, entropy = drift_panels({"x": [log]}, decay=0.5)
    assert length.lines["x"] == Band((1, 2, 4), (10.0, 15.0, 27.5), *[(0.0, 5.0, sqrt(12.5 + 625 / 4))] * 2)
    assert distance.lines["x"].means == (1.0, 2.5, 9.25)
    assert entropy.lines["x"].means == (1.0, 0.75, 0.5)


def test_a_moving_average_without_memory_is_the_mean_of_the_runs() -> None:
    assert moving([{1: 0.0, 2: 4.0}, {1: 2.0}], decay=0.0) == Band((1, 2), (1.0, 4.0), (0.0, 0.0), (0.0, 0.0))


def test_the_errors_of_both_baselines_are_shown_over_the_steps() -> None:
    log = [step(n, error_global=0.5, error_by_rule=0.25 * n) for n in (1, 2)]
    (panel,) = baseline_panels({"x": [log]}, window=1)
    assert {name: line.means for name, line in panel.lines.items()} == {"global": (0.5, 0.5), "rule": (0.25, 0.5)}


def test_seconds_of_a_step_are_hours_of_a_hundred() -> None:
    time, verification = time_panels({"x": [[step(1, seconds=Seconds(total=36.0), verification_share=0.5)]]}, window=1)
    assert time.lines["x"].means == (1.0,)
    assert verification.lines["x"].means == (0.5,)


# -- centring ---------------------------------------------------------------------------------------------------------


def test_rules_that_differ_are_centred_by_their_own_value() -> None:
    groups = [[("A", 1.0), ("B", 0.0)], [("A", 1.0), ("B", 0.0)]]
    assert centring(groups, folds=2) == {
        "A": Centring(2, 0.5, 0.0),
        "B": Centring(2, 0.5, 0.0),
        "all": Centring(4, 0.5, 0.0),
    }


def test_a_value_is_estimated_on_other_problems() -> None:
    # were it estimated on the same ones, the error of a rule's own value would be 0
    assert centring([[("A", 1.0)], [("A", 0.0)]], folds=2)["A"] == Centring(2, 1.0, 1.0)


def test_errors_are_weighted_by_actions() -> None:
    found = centring([[("A", 1.0)] * 3, [("A", 0.0), ("B", 0.0)]], folds=2)
    # fold 0 (A: 1) is compared with 0; fold 1 (A: 0; B: 0, a rule the other fold has not) with 1
    assert found["A"] == Centring(4, 1.0, 1.0)
    assert found["B"] == Centring(1, 1.0, 1.0)
    lopsided = centring([[("A", 1.0)] * 3, [("A", 1.0), ("B", 0.0)], [("A", 1.0)]], folds=3)
    assert lopsided["A"].by_rule == 0.0
    assert lopsided["A"].by_global == pytest.approx(sqrt((3 * (1 - 2 / 3) ** 2 + 0 + (1 - 0.8) ** 2) / 5))


def test_nothing_is_centred_without_other_problems() -> None:
    assert centring([[("A", 1.0)]]) == {"all": Centring(0, 0.0, 0.0)}


# -- gradients --------------------------------------------------------------------------------------------------------


def test_angles_of_known_gradients() -> None:
    right = Block(0, "q", 3.0, 4.0, 0.0)
    assert (right.angle, right.total, right.ratio, right.acute) == (90.0, 5.0, 3 / 4, False)
    assert right.verification_to_total == pytest.approx(53.130102)
    assert right.outcome_to_total == pytest.approx(36.869898)
    along = Block(0, "q", 1.0, 2.0, 2.0)
    assert (along.angle, along.total, along.acute) == (0.0, 3.0, True)
    against = Block(0, "q", 2.0, 2.0, -4.0)
    assert (against.angle, against.total, against.verification_to_total) == (180.0, 0.0, None)
    alone = Block(0, "q", 0.0, 2.0, 0.0)
    assert (alone.angle, alone.ratio, alone.outcome_to_total) == (None, 0.0, 0.0)
    assert Block(0, "q", 2.0, 0.0, 0.0).ratio is None


def test_joined_blocks_have_the_gradients_side_by_side() -> None:
    found = joined([Block(0, "q", 3.0, 0.0, 0.0), Block(1, "k", 4.0, 2.0, -5.0)])
    assert found == Block(None, "all", 5.0, 2.0, -5.0)
    assert found.angle == pytest.approx(120.0)
    assert joined([]) == Block(None, "all", 0.0, 0.0, 0.0)


def test_the_findings_join_the_early_layers_and_count_angles_with_the_sum() -> None:
    found = findings(
        [
            Block(0, "q", 1.0, 1.0, 0.0),
            Block(1, "q", 1.0, 1.0, -0.5),
            Block(2, "q", 3.0, 1.0, -2.0),
            Block(2, "k", 0.0, 1.0, 0.0),
            Block(None, "norm", 2.0, 2.0, 4.0),
        ]
    )
    assert found == {
        "blocks": 4,
        "acute between the terms": 1,
        "acute between verification and sum": 4,
        "acute between closure and sum": 3,  # not where the other is three times as long
        "length, verification / closure": pytest.approx(sqrt(15 / 8)),
        "angle between the terms": pytest.approx(82.13, abs=0.01),
        "angle between the terms, early layers": 90.0,
        "angle between the terms, last layer": pytest.approx(118.13, abs=0.01),
    }


def test_blocks_are_laid_out_by_layer_and_module() -> None:
    found = [Block(None, "embed", 1, 1, 1), Block(1, "q", 1, 1, 0), Block(0, "q", 1, 1, -1), Block(0, "k", 0, 1, 0)]
    grid = gradient_grid(found, "angle")
    assert grid.layers == ("0", "1", "–", "all")
    assert grid.modules == ("embed", "q", "k", "all")
    assert [row[:3] for row in grid.cells[:3]] == [(None, 180.0, None), (None, 90.0, None), (0.0, None, None)]
    assert grid.cells[0][3] == pytest.approx(135.0)  # layer 0: (1, 0) and (-1, 1)
    assert grid.cells[3][1] == pytest.approx(120.0)
    assert grid.cells[3][3] == pytest.approx(90.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model.layers.11.self_attn.q_proj.bias", (11, "self_attn.q_proj")),
        ("model.layers.0.input_layernorm.weight", (0, "input_layernorm")),
        ("base_model.model.model.layers.2.mlp.up_proj.lora_B.default.weight", (2, "mlp.up_proj")),
        ("base_model.model.model.layers.2.mlp.up_proj.base_layer.weight", (2, "mlp.up_proj")),
        ("transformer.h.5.attn.c_attn.weight", (5, "attn.c_attn")),
        ("gpt_neox.layers.7.attention.query_key_value.weight", (7, "attention.query_key_value")),
        ("lm_head.weight", (None, "lm_head")),
        ("model.norm.weight", (None, "norm")),
    ],
)
def test_parameters_are_grouped_by_layer_and_module(name: str, expected: tuple[int | None, str]) -> None:
    assert place(name) == expected


@pytest.fixture(scope="module")
def model() -> PreTrainedModel:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=20,
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
    )
    made: PreTrainedModel = AutoModelForCausalLM.from_config(config)
    return made


ROLLOUTS = (
    CreditedRollout(Example((3, 4, 5), (6, 7, 8)), (1.0, 0.0, -0.5), (0.0, 0.25, 0.25)),
    CreditedRollout(Example((3, 4, 5), (9, 2)), (-1.0, 0.5), (-0.25, 0.0)),
    CreditedRollout(Example((4, 4), (6, 11, 12, 13)), (0.0, 1.0, 1.0, 0.0), (0.5, 0.5, 0.0, -0.5)),
)


def test_the_gradients_are_those_of_the_weighted_log_likelihood(model: PreTrainedModel) -> None:
    def by_hand(term: str) -> dict[str, torch.Tensor]:
        model.zero_grad()
        for rollout in ROLLOUTS:
            ids = torch.tensor([[*rollout.example.prompt, *rollout.example.response]])
            chosen = model(ids).logits[0, :-1].log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
            earned = torch.tensor(getattr(rollout, term))
            (-(chosen[len(rollout.example.prompt) - 1 :] * earned).sum() / 7.0).backward()
        return {name: value.grad.clone() for name, value in model.named_parameters() if value.grad is not None}

    verification, outcome = by_hand("verification"), by_hand("outcome")
    model.zero_grad()
    found = {(block.layer, block.module): block for block in blocks(model, ROLLOUTS, divisor=7.0, micro=2)}
    assert set(found) == {place(name) for name in verification}
    for where, block in found.items():
        v, o = (
            torch.cat([grad.flatten() for name, grad in each.items() if place(name) == where])
            for each in (verification, outcome)
        )
        assert block.verification == pytest.approx(v.norm().item(), rel=1e-4)
        assert block.outcome == pytest.approx(o.norm().item(), rel=1e-4)
        assert block.product == pytest.approx((v @ o).item(), rel=1e-3, abs=1e-9)
        assert block.total == pytest.approx((v + o).norm().item(), rel=1e-3)
    assert all(value.grad is None for value in model.parameters())


def test_terms_that_are_the_same_pull_the_same_way(model: PreTrainedModel) -> None:
    same = [
        CreditedRollout(rollout.example, rollout.verification, tuple([2 * a for a in rollout.verification]))
        for rollout in ROLLOUTS
    ]
    for block in blocks(model, same, divisor=1.0):
        assert block.ratio == pytest.approx(0.5, rel=1e-4)
        assert block.angle == pytest.approx(0.0, abs=0.1)


# -- files ------------------------------------------------------------------------------------------------------------


def test_figures_are_files(tmp_path: Path, model: PreTrainedModel) -> None:
    log: list[Record] = [evaluation(0, 0.1, 0.2, 0.3), step(1), step(2), evaluation(2, 0.2, 0.3, 0.4)]
    written = list(draw_runs({"one": [log], "two": [log, log]}, tmp_path / "figures"))
    draw_centring({"A": Centring(3, 0.5, 0.1), "all": Centring(3, 0.5, 0.1)}, tmp_path / "centring.png")
    draw_gradients(blocks(model, ROLLOUTS, divisor=1.0), tmp_path / "gradients.png")
    for path in (*written, tmp_path / "centring.png", tmp_path / "gradients.png"):
        assert path.read_bytes().startswith(PNG)
    assert [path.stem for path in written] == ["scores", "signals", "baselines", "drift", "time"]


@pytest.mark.parametrize("lora", ["null", "{rank: 2, alpha: 4, targets: [q_proj, v_proj]}"])
def test_the_figures_of_a_real_run_need_only_what_both_engines_leave(
    config: Config, display: Display, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lora: str
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(write_config(config), encoding="utf-8")
    train(read_config(file, [f"model.lora={lora}"]), display)
    run, out = Path(config.output), tmp_path / "figures"
    for name in ("checkpoints", "rollouts", "evaluations"):
        shutil.rmtree(run / name)
    arguments = ["diagnostics", "--out", str(out), f"tiny={run}", "--gradients", str(EXAMPLES)]
    monkeypatch.setattr(sys, "argv", arguments)
    main()
    names = {"scores", "signals", "baselines", "drift", "time", "gradients-0"}
    assert {path.stem for path in out.glob("*.png")} == names
    found = json.loads((out / "gradients-0.json").read_bytes())
    assert found["label"] == "tiny"
    trained = {block["module"] for block in found["by block"]}
    assert ("mlp.up_proj" in trained) is (lora == "null")
    assert "self_attn.q_proj" in trained
    records = list(read_log(run / "log.jsonl"))
    assert all(r.error_by_rule <= 1.0 and r.error_global > 0.0 for r in records if isinstance(r, StepRecord))
    intervals = [r.scores["Avg"].interval for r in records if isinstance(r, EvaluationRecord)]
    assert all(interval is not None and 0.0 <= interval[0] <= interval[1] <= 1.0 for interval in intervals)
    if lora != "null":
        lines = (run / "config.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
        (run / "config.yaml").write_text("".join([line for line in lines if "v_proj" not in line]), encoding="utf-8")
        with pytest.raises(ProofR1Error, match=r"weights that model\.lora does not name, such as .*v_proj"):
            main()
    shutil.rmtree(run / "model")
    with pytest.raises(ProofR1Error, match="there is no trained model; let the run end"):
        main()
