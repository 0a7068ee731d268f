"""The configuration as OpenRLHF's flags: the one place where its names are translated.

In: a configuration. Out: command-line flags of ``openrlhf.cli.train_ppo_ray`` or ``train_sft``. What OpenRLHF cannot do
is refused. Credit, loss, prompts and evaluation are not flags: the adapters set them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.config import Config, ConfigError

FREE = frozenset({"ds.zero_stage", "logger.wandb.run_name"})
"""The flags below that ``cluster.flags`` may replace."""
UNKNOWN_TO_THE_LOSS = {
    "train.dynamic_batch_enable": "the loss counts micro-batches of batch.micro",
    "algo.dynamic_filtering_enable": "groups that agree still move the baselines",
}
"""Flags that would change what is learned, and how."""
SCHEDULERS = {"constant": "constant_with_warmup", "linear": "linear", "cosine": "cosine"}
"""``optimiser.decay`` -> the name of ``transformers``."""


@dataclass(frozen=True, slots=True)
class Place:
    """The files and folders of a run.

    Attributes:
        folder: of the run.
    """

    folder: Path

    @property
    def prompts(self) -> Path:
        """What is learned from, in the order of the run."""
        return self.folder / "openrlhf" / "train.jsonl"

    @property
    def evaluation(self) -> Path:
        """What is scored on."""
        return self.folder / "openrlhf" / "evaluation.jsonl"

    @property
    def checkpoints(self) -> Path:
        """Of DeepSpeed."""
        return self.folder / "checkpoints"

    @property
    def model(self) -> Path:
        """What comes out."""
        return self.folder / "model"

    @property
    def ended(self) -> Path:
        """The number of steps of a run that has ended; absent before."""
        return self.folder / "openrlhf" / "ended"


def check(config: Config, *, cpu: bool) -> None:
    """Refuse what this engine cannot do.

    Args:
        config: of the run.
        cpu: whether it runs without GPUs.

    Raises:
        ConfigError: there is something of that kind.
    """
    cluster, batch = config.cluster, config.batch
    samples = 1 if config.method == "sft" else config.rollout.samples
    refused = [
        ("model.dtype", config.model.dtype != "bfloat16", "OpenRLHF and its engines work in bfloat16"),
        ("model.threads", config.model.threads is not None, "Ray gives out the cores"),
        ("checkpoint.keep", config.checkpoint.keep < 2, "OpenRLHF removes the oldest before it writes the next"),
        ("rollout.retries", config.rollout.retries > 0, "the order of problems is fixed before the run"),
        ("rollout.constrain", config.rollout.constrain, "only the engine local masks tokens"),
        ("evaluation.seed", config.evaluation.seed != 0, "the engines have one seed, that of the run"),
        (
            "batch.mini",
            batch.mini * samples % (batch.micro * cluster.ranks) != 0,
            f"batch.micro={batch.micro} on {cluster.ranks} ranks does not divide its {batch.mini * samples} rollouts",
        ),
        ("cluster.together", cpu and cluster.together, "engines sleep on GPUs only"),
        ("cluster.attention", cpu and cluster.attention != "sdpa", "flash attention needs a GPU; use sdpa"),
    ]
    for key, is_so, reason in refused:
        if is_so:
            raise ConfigError(key, f"not with the engine openrlhf: {reason}")


def command(config: Config) -> list[str]:
    """OpenRLHF's command line for a run, for people to look at; our parts are not in it.

    Raises:
        ConfigError: this engine cannot do what the configuration says.
    """
    cpu = config.model.device == "cpu"
    check(config, cpu=cpu)
    model = config.model.path if config.model.path and not config.model.warm_up else f"{config.output}/initial"
    if config.method == "sft":
        return ["python", "-m", "openrlhf.cli.train_sft", *imitation(config, model, config.optimiser.steps)]
    given = reinforcement(config, model, config.optimiser.steps, cpu=cpu)
    return ["python", "-m", "openrlhf.cli.train_ppo_ray", *given]


def updates_per_step(config: Config) -> int:
    """How often the weights change in a step."""
    passes = 1 if config.method == "sft" else config.batch.epochs
    return config.batch.problems // config.batch.mini * passes


def reinforcement(config: Config, model: Path | str, steps: int, *, cpu: bool) -> list[str]:
    """The flags of ``train_ppo_ray``.

    Args:
        config: of the run.
        model: folder of the policy to start from, which is the reference, too.
        steps: that there will be.
        cpu: whether it runs without GPUs.
    """
    place, cluster, rollout, batch = Place(Path(config.output)), config.cluster, config.rollout, config.batch
    flags: dict[str, object] = {
        "actor.model_name_or_path": model,
        "actor.num_nodes": cluster.nodes,
        "actor.num_gpus_per_node": cluster.gpus,
        "ref.num_nodes": cluster.nodes,
        "ref.num_gpus_per_node": cluster.gpus,
        "reward.remote_url": "agent",  # the agent's verdicts: there is no reward model
        "vllm.num_engines": cluster.engines,
        "vllm.tensor_parallel_size": cluster.tensor_parallel,
        "vllm.gpu_memory_utilization": cluster.memory,
        "vllm.sync_backend": "gloo" if cpu else "nccl",
        "vllm.enforce_eager": cpu,
        "vllm.enable_prefix_caching": not cpu,  # a prompt is read once for all its completions
        "train.colocate_all": cluster.together,
        "train.colocate_actor_ref": not cluster.together,
        "vllm.enable_sleep": cluster.together,
        "ds.enable_sleep": cluster.together,
        "data.prompt_dataset": place.prompts,
        "data.input_key": "prompt",
        "data.label_key": "label",
        "data.max_len": rollout.max_prompt_tokens + rollout.max_response_tokens,
        "rollout.batch_size": batch.problems,
        "rollout.n_samples_per_prompt": rollout.samples,
        "rollout.micro_batch_size": batch.micro,
        "rollout.max_new_tokens": rollout.max_response_tokens,
        "rollout.top_p": rollout.top_p,
        "rollout.temperature": rollout.learning_temperature,  # of the loss; the controller asks the engines for its own
        "train.batch_size": batch.mini * rollout.samples,
        "train.micro_batch_size": batch.micro,
        "train.max_epochs": batch.epochs,
        "train.num_episodes": 1,  # the file holds all epochs
        "algo.advantage.estimator": "group_norm",  # any without a critic: advantages are replaced
        "algo.advantage.is_correction_level": "token",  # so that engines tell their log-probabilities
        "algo.kl.use_loss": True,  # so that those of the reference reach the loss
        "algo.kl.estimator": "k3",
        "algo.kl.init_coef": config.loss.kl_weight,
        "eval.steps": -1,  # the controller evaluates
        "eval.temperature": config.evaluation.temperature,
        "eval.n_samples_per_prompt": config.evaluation.samples,
        "eval.dataset": place.evaluation if config.data.evaluation else None,
        "ckpt.best_metric_key": "none",  # the latest ones are kept
        "ckpt.save_steps": config.checkpoint.every or -1,  # and at the end, which the controller sees to
        **_shared(config, place),
        **_optimiser(config, steps, prefix="actor."),
        "actor.gradient_checkpointing_enable": config.model.gradient_checkpointing,
    }
    return list(_words(_with_further(flags, config)))


def imitation(config: Config, model: Path | str, steps: int) -> list[str]:
    """The flags of ``train_sft``.

    Args:
        config: of the run.
        model: folder of the policy to start from.
        steps: that there will be.
    """
    place = Place(Path(config.output))
    flags: dict[str, object] = {
        "model.model_name_or_path": model,
        "model.gradient_checkpointing_enable": config.model.gradient_checkpointing,
        "data.dataset": place.prompts,
        "data.input_key": "prompt",
        "data.output_key": "response",
        "data.input_template": "{}",  # the default writes User: and Assistant:
        "data.max_len": config.rollout.max_prompt_tokens + config.rollout.max_response_tokens,
        "train.batch_size": config.batch.mini,
        "train.micro_batch_size": config.batch.micro,
        "train.max_epochs": 1,  # the file holds all epochs
        **_shared(config, place),
        # in updates, and once at the end
        "ckpt.save_steps": (config.checkpoint.every or steps) * updates_per_step(config),
        **_optimiser(config, steps, prefix=""),
    }
    return list(_words(_with_further(flags, config)))


def _with_further(flags: dict[str, object], config: Config) -> dict[str, object]:
    """The flags with those of ``cluster.flags``, none of which may contradict the rest of the configuration."""
    for name in config.cluster.flags:
        if name in flags and name not in FREE:
            raise ConfigError("cluster.flags", f"--{name} follows from the other keys of the configuration; set those")
        if reason := UNKNOWN_TO_THE_LOSS.get(name):
            raise ConfigError("cluster.flags", f"--{name} is not possible here: {reason}")
    return flags | config.cluster.flags


def _shared(config: Config, place: Place) -> dict[str, object]:
    cluster, lora = config.cluster, config.model.lora
    adapters: dict[str, object] = {"ds.lora.rank": 0}
    if lora is not None:
        adapters = {
            "ds.lora.rank": lora.rank,
            "ds.lora.alpha": lora.alpha,
            "ds.lora.dropout": lora.dropout,
            "ds.lora.target_modules": list(lora.targets),
        }
    board = {"logger.tensorboard_dir": place.folder / "tensorboard", "logger.wandb.run_name": "openrlhf"}
    return {
        **adapters,
        **(board if config.tensorboard else {}),
        "ds.zero_stage": 2,
        "ds.param_dtype": "bf16",
        "ds.attn_implementation": cluster.attention,
        "ds.packing_samples": cluster.packing,
        "train.seed": config.seed,
        "ckpt.output_dir": place.model,
        "ckpt.path": place.checkpoints,
        "ckpt.max_num": config.checkpoint.keep,
        "ckpt.load_enable": config.checkpoint.resume,
    }


def _optimiser(config: Config, steps: int, *, prefix: str) -> dict[str, object]:
    settings, each = config.optimiser, updates_per_step(config)
    rising = settings.warm_up_steps * each
    return {
        f"{prefix}adam.lr": settings.learning_rate,
        f"{prefix}adam.betas": list(settings.betas),
        f"{prefix}adam.weight_decay": settings.weight_decay,
        f"{prefix}max_norm": settings.max_gradient_norm,
        f"{prefix}lr_scheduler": SCHEDULERS[settings.decay],
        # OpenRLHF rounds the product of ratio and updates up
        f"{prefix}lr_warmup_ratio": max(0.0, (rising - 0.5) / (steps * each)),
    }


def _words(flags: dict[str, object]) -> Iterator[str]:
    for name, value in flags.items():
        match value:
            case False | None:
                continue
            case True:
                yield f"--{name}"
            case list():
                yield f"--{name}"
                yield from map(str, value)
            case _:
                yield f"--{name}"
                yield str(value)
