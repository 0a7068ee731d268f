"""The configuration as OpenRLHF reads it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

from training.config import Config, ConfigError, read_config
from training.openrlhf.flags import check, command

CONFIGS = Path(__file__).resolve().parents[3] / "training" / "configs"
SMALL = """
method: METHOD
output: out
model: {path: model, device: cpu}
data: {train: [problems.jsonl]}
cluster: {gpus: 2, engines: 1, together: false, attention: sdpa, packing: false}
"""
Parse = Callable[[list[str]], Namespace]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Config]:
    def reading(*changes: str, method: str = "proof_r1") -> Config:
        file = tmp_path / "config.yaml"
        file.write_text(SMALL.replace("METHOD", method))
        return read_config(file, changes)

    return reading


def test_openrlhf_reads_the_paper_as_it_is(parse: Parse) -> None:
    told = parse(command(read_config(CONFIGS / "paper.yaml", ["cluster.attention=sdpa", "cluster.packing=false"])))
    assert (told.actor.num_gpus_per_node, told.vllm.num_engines, told.train.colocate_all) == (4, 4, True)
    assert (told.rollout.batch_size, told.rollout.n_samples_per_prompt) == (8, 8)
    assert (told.train.batch_size, told.train.micro_batch_size, told.train.max_epochs) == (64, 1, 2)
    assert (told.data.max_len, told.rollout.max_new_tokens, told.rollout.top_p) == (8192, 4096, 0.95)
    assert (told.ds.lora.rank, told.ds.lora.alpha, len(told.ds.lora.target_modules)) == (8, 16, 7)
    assert (told.actor.adam.lr, tuple(told.actor.adam.betas), told.actor.max_norm) == (5e-6, (0.9, 0.999), 1.0)
    assert (told.actor.lr_scheduler, told.actor.lr_warmup_ratio) == ("constant_with_warmup", 0.0)
    assert (told.algo.kl.init_coef, told.algo.kl.use_loss) == (0.001, True)
    assert (told.ckpt.save_steps, told.ckpt.max_num, told.ckpt.load_enable) == (100, 2, True)
    assert (told.eval.steps, told.eval.n_samples_per_prompt, told.eval.temperature) == (-1, 3, 0.8)
    assert told.actor.gradient_checkpointing_enable is True
    assert told.vllm.enable_prefix_caching is True
    assert told.critic.model_name_or_path is None


@pytest.mark.parametrize("method", ["proof_r1", "sft"])
def test_openrlhf_reads_further_flags(method: str, parse: Parse, read: Callable[..., Config]) -> None:
    flags = "{ds.zero_stage: 3, ds.adam_offload: true, logger.wandb.key: env, logger.wandb.project: proofs}"
    given = command(read(f"cluster.flags={flags}", method=method))
    assert given.count("--ds.zero_stage") == 1
    if method == "proof_r1":
        told = parse(given)
        assert (told.ds.zero_stage, told.ds.adam_offload) == (3, True)
        assert (told.logger.wandb.key, told.logger.wandb.project) == ("env", "proofs")


@pytest.mark.parametrize(
    ("flag", "problem"),
    [
        ("rollout.batch_size: 3", "--rollout.batch_size follows from the other keys"),
        ("algo.kl.init_coef: 1.0", "--algo.kl.init_coef follows from the other keys"),
        ("train.dynamic_batch_enable: true", "--train.dynamic_batch_enable is not possible here: the loss counts"),
    ],
)
def test_a_flag_that_contradicts_the_configuration_is_refused(
    flag: str, problem: str, read: Callable[..., Config]
) -> None:
    with pytest.raises(ConfigError, match=problem):
        command(read(f"cluster.flags={{{flag}}}"))


@pytest.mark.parametrize("changes", [[], ["method=sft", "batch.micro=2"]])
def test_the_commands_of_the_guide_are_not_refused(changes: list[str]) -> None:
    config = read_config(CONFIGS / "paper.yaml", [*changes, "model.device=cuda"])
    check(config, cpu=False)
    assert command(config)


def test_the_temperature_of_the_loss_is_that_of_sampling_or_1(parse: Parse, read: Callable[..., Config]) -> None:
    assert parse(command(read("rollout.temperature=0.7"))).rollout.temperature == 0.7
    assert parse(command(read("rollout.temperature=0.7", "rollout.logprob_temperature=1"))).rollout.temperature == 1.0


@pytest.mark.parametrize("method", ["grpo", "prosfi", "proof_r1", "no_verification", "no_closure"])
def test_methods_differ_in_no_flag(method: str, read: Callable[..., Config]) -> None:
    assert command(read(method=method)) == command(read())


def test_openrlhf_reads_imitation(parse: Parse, read: Callable[..., Config]) -> None:
    told = parse(command(read("batch={problems: 8, mini: 4, micro: 2}", "checkpoint.every=5", method="sft")))
    assert (told.train.batch_size, told.train.micro_batch_size, told.train.max_epochs) == (4, 2, 1)
    assert told.ckpt.save_steps == 10  # OpenRLHF counts updates
    last = parse(command(read("batch={problems: 8, mini: 4, micro: 2}", "checkpoint.every=0", method="sft")))
    assert last.ckpt.save_steps == 2 * read().optimiser.steps
    assert told.data.input_template == "{}"
    assert told.max_norm == 1.0


@pytest.mark.parametrize("rising", [0, 1, 3, 7, 10])
@pytest.mark.parametrize("steps", [10, 30, 1098])
def test_the_warm_up_has_its_length(rising: int, steps: int, read: Callable[..., Config]) -> None:
    from math import ceil

    flags = command(read(f"optimiser.steps={steps}", f"optimiser.warm_up_steps={rising}"))
    ratio = float(flags[flags.index("--actor.lr_warmup_ratio") + 1])
    updates = steps * 2
    assert ceil(updates * ratio) == rising * 2  # as OpenRLHF computes it


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("model.dtype=float32", "bfloat16"),
        ("model.threads=1", "Ray"),
        ("rollout.retries=1", "order"),
        ("rollout.constrain=true", "local"),
        ("checkpoint.keep=1", "oldest"),
        ("evaluation.seed=1", "seed"),
        ("batch.micro=5", "ranks"),
        ("cluster={gpus: 2, engines: 2, together: true, attention: sdpa, packing: false}", "sleep"),
        ("cluster={gpus: 1, engines: 1, together: false}", "flash"),
    ],
)
def test_what_cannot_be_done_is_refused(change: str, message: str, read: Callable[..., Config]) -> None:
    check(read(), cpu=True)
    with pytest.raises(ConfigError, match=message):
        check(read(change), cpu=True)
