"""Configurations: the paper's numbers, and clear refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from proof_r1_formal.credit.methods import METHODS
from proof_r1_formal.credit.terms import CreditSettings
from training.config import Config, ConfigError, read_config, write_config

CONFIGS = Path(__file__).resolve().parents[2] / "training" / "configs"
PAPER = CONFIGS / "paper.yaml"
ALL = sorted(CONFIGS.glob("*.yaml"))


def test_the_paper_has_its_numbers() -> None:
    config = read_config(PAPER)
    lora = config.model.lora
    assert lora is not None
    assert (lora.rank, lora.alpha) == (8, 16)
    assert lora.targets == ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    assert config.method == "proof_r1"
    rollout, loss, batch = config.rollout, config.loss, config.batch
    assert (rollout.samples, rollout.temperature, rollout.top_p) == (8, 0.8, 0.95)
    assert (rollout.max_prompt_tokens, rollout.max_response_tokens) == (4096, 4096)
    assert (loss.clip_low, loss.clip_high, loss.dual_clip, loss.kl_weight) == (0.20, 0.28, 3.0, 0.001)
    assert (batch.problems, batch.mini, batch.epochs) == (8, 8, 2)
    assert batch.problems * rollout.samples == 64
    assert (config.optimiser.learning_rate, config.optimiser.steps, config.data.epochs) == (5e-6, 1098, 3)
    credit = config.credit
    assert (credit.verification_weight, credit.outcome_weight, credit.binding_weight) == (3.0, 1.0, 1.0)
    assert (credit.epsilon, credit.unsolved_weight, credit.no_positive_weight) == (1e-6, 0.25, 0.1)
    assert (credit.baseline_start, credit.baseline_decay) == (0.5, 0.9)
    assert (credit.baseline_min, credit.baseline_max) == (0.30, 0.70)
    assert credit.preset == "paper"
    assert config.evaluation.samples == 3


def test_the_paper_writes_out_everything_and_defaults_are_its() -> None:
    config = read_config(PAPER)
    assert yaml.safe_load(write_config(config)).keys() == yaml.safe_load(PAPER.read_text()).keys()
    written = yaml.safe_load(PAPER.read_text())
    for section, value in yaml.safe_load(write_config(config)).items():
        if isinstance(value, dict):
            assert written[section].keys() == value.keys(), section
    bare = Config(method="proof_r1", output=config.output, model=config.model, data=config.data)
    assert (bare.rollout, bare.credit, bare.loss) == (config.rollout, config.credit, config.loss)
    assert (bare.batch, bare.optimiser, bare.evaluation) == (config.batch, config.optimiser, config.evaluation)
    assert bare.credit == CreditSettings()


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_configurations_read_back_equal(path: Path, tmp_path: Path) -> None:
    config = read_config(path)
    copy = tmp_path / "copy.yaml"
    copy.write_text(write_config(config), encoding="utf-8")
    assert read_config(copy) == config


def test_a_preset_of_credit_is_chosen_by_its_name(tmp_path: Path) -> None:
    hardened = CreditSettings(preset="hardened")
    assert read_config(CONFIGS / "tiny.yaml", ["credit=hardened"]).credit == hardened
    assert read_config(CONFIGS / "tiny.yaml", ["credit.preset=hardened"]).credit == hardened
    named = tmp_path / "named.yaml"
    named.write_text((CONFIGS / "tiny.yaml").read_text(encoding="utf-8") + "\ncredit: hardened\n", encoding="utf-8")
    assert read_config(named).credit == hardened
    assert read_config(named, ["credit.epsilon=0.5"]).credit == CreditSettings(preset="hardened", epsilon=0.5)
    with pytest.raises(ConfigError, match=r"Invalid enum value 'generous', at credit\.preset"):
        read_config(named, ["credit=generous"])


def test_every_method_can_be_configured() -> None:
    assert {read_config(PAPER, [f"method={name}"]).method for name in METHODS} == METHODS.keys()


def test_overrides() -> None:
    changes = ["credit.preset=shared", "optimiser.learning_rate=1e-3", "model.lora=null", "seed=1", "seed=2"]
    config = read_config(PAPER, changes)
    assert config.credit.preset == "shared"
    assert config.optimiser.learning_rate == 0.001
    assert config.model.lora is None
    assert config.seed == 2
    assert read_config(CONFIGS / "tiny.yaml", ["model.lora.rank=2"]).model.lora is not None
    assert read_config(PAPER, ["data.train=[a.jsonl, b.jsonl]"]).data.train == ("a.jsonl", "b.jsonl")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("credit.closre=used", "unknown field `closre`, at credit. Available: preset, "),
        ("foo=1", "unknown field `foo`. Available: method, "),
        ("method=ppo", "Invalid enum value 'ppo', at method. Available: expert_iteration, grpo,"),
        ("loss.kl_weight=-1", "`float` >= 0.0, at loss.kl_weight"),
        ("loss.kl_weight=.inf", ".inf is not a number here"),
        ("loss.dual_clip=1.0", "> 1.0, at loss.dual_clip"),
        ("rollout.samples=1", "`int` >= 2, at rollout.samples"),
        ("rollout.top_p=1.5", "<= 1.0, at rollout.top_p"),
        ("optimiser.learning_rate=fast", "Expected `float`, got `str`, at optimiser.learning_rate"),
        ("optimiser.steps=yes", "Expected `int`, got `bool`"),
        ("batch.problems=12", "problems (12) is not a multiple of mini (8), at batch"),
        ("model.path=null", "exactly one of path and scratch must be given, at model"),
        ("model.scratch={}", "exactly one of path and scratch"),
        ("model.path.x=1", "'path' is a value and holds no keys"),
        ("credit.baseline_min=0.9", "baseline_min 0.9 is above baseline_max 0.7, at credit"),
        ("seed", "an override is key=value"),
        ("=1", "an override is key=value"),
        ("credit..epsilon=1", "an override is key=value"),
        ("seed=[", "this is not YAML"),
        ("model.lora={rank: 1, rank: 2}", "key 'rank' is there twice"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_config(PAPER, [override])
    assert message in str(error.value)
    assert override in error.value.source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no keys"),
        ("- 1", "holds no keys"),
        ("method: sft\nmethod: grpo", "key 'method' is there twice"),
        ("1: 2", "1 is not a key"),
        ("method: sft", "missing required field"),
        ("a: !!python/object:os.system {}", "not YAML"),
    ],
)
def test_files_that_cannot_be_used(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_config(path)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(CONFIGS / "nothing.yaml")
