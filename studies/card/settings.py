"""The settings of the runs on one card of 80 GB: three updates each, with everything that a CPU cannot try.

Pure data: from the folders of the model and of the problems to a configuration of OpenRLHF, the overrides of a command
of verl, and options of TRL. The tests read each with the library's own parser, without a GPU.
"""

from __future__ import annotations

from pathlib import Path

UPDATES, GROUPS, SAMPLES = 3, 8, 8
"""Generation batches, and in each problems and completions of each problem."""
PROMPT_TOKENS, ANSWER_TOKENS = 1536, 512
RATE = 1e-5
WORKERS = 4
"""Processes that verify."""


def openrlhf(model: Path, problems: Path, output: Path, *, flash: bool) -> dict[str, object]:
    """The file for ``python -m training.openrlhf``: weights by CUDA IPC, engines that sleep, ZeRO-3.

    Args:
        model, problems: a model's folder, and a file.
        output: folder of the run.
        flash: whether flash-attn is installed; if so, sequences are packed with it.
    """
    return {
        "problems": [str(problems)],
        "prompt": "full",
        "max_prompt_tokens": PROMPT_TOKENS,
        "output": str(output),
        "workers": WORKERS,
        "openrlhf": {
            "actor.model_name_or_path": str(model),
            "actor.num_nodes": 1,
            "actor.num_gpus_per_node": 1,
            "ref.num_nodes": 1,
            "ref.num_gpus_per_node": 1,
            "vllm.num_engines": 1,
            "vllm.tensor_parallel_size": 1,
            "vllm.gpu_memory_utilization": 0.4,
            "vllm.sync_backend": "nccl",
            "vllm.enable_sleep": True,
            "vllm.enforce_eager": True,  # saves the seconds of recording CUDA graphs
            "ds.enable_sleep": True,
            "train.colocate_all": True,
            "ds.zero_stage": 3,
            "ds.param_dtype": "bf16",
            "ds.attn_implementation": "flash_attention_2" if flash else "sdpa",
            "ds.packing_samples": flash,
            "actor.gradient_checkpointing_enable": True,
            "actor.adam.lr": RATE,
            "data.max_len": PROMPT_TOKENS + ANSWER_TOKENS,
            "data.max_samples": UPDATES * GROUPS,
            "rollout.batch_size": GROUPS,
            "rollout.n_samples_per_prompt": SAMPLES,
            "rollout.micro_batch_size": 8,
            "rollout.max_new_tokens": ANSWER_TOKENS,
            "train.batch_size": GROUPS * SAMPLES,
            "train.micro_batch_size": 8,
            "train.num_episodes": 1,
            "logger.tensorboard_dir": str(output / "tensorboard"),
        },
    }


def verl(model: Path, rows: Path, output: Path, *, lora: int = 0, flash: bool) -> list[str]:
    """The overrides of ``python -m verl.trainer.main_ppo``, with our trainer.

    Args:
        model: a model's folder.
        rows: a file of ``integrations.verl.rows``.
        output: folder of the run.
        lora: rank of the adapters; 0 trains all weights.
        flash: whether flash-attn is installed.
    """
    model_, rollout, actor = (f"actor_rollout_ref.{part}" for part in ("model", "rollout", "actor"))
    attention = [f"{model_}.use_remove_padding=false", f"+{model_}.override_config.attn_implementation=sdpa"]
    adapters = [
        f"{model_}.lora_rank={lora}",
        f"{model_}.lora_alpha={2 * lora}",
        f"{rollout}.load_format=safetensors",  # adapters are sent alone: the engine loads the base from its files
    ]
    return [
        "trainer.v1.trainer_mode=proof_r1",
        "+proof_r1.preset=hardened",
        f"+proof_r1.workers={WORKERS}",
        f"data.train_files={rows}",
        f"data.val_files={rows}",
        f"data.train_batch_size={GROUPS}",
        f"data.max_prompt_length={PROMPT_TOKENS}",
        f"data.max_response_length={ANSWER_TOKENS}",
        f"{model_}.path={model}",
        f"{rollout}.name=vllm",
        f"{rollout}.n={SAMPLES}",
        f"{rollout}.temperature=1.0",
        f"{rollout}.gpu_memory_utilization=0.4",
        f"{rollout}.enforce_eager=true",
        f"{rollout}.calculate_log_probs=true",
        f"{actor}.ppo_mini_batch_size={GROUPS}",
        f"{actor}.use_dynamic_bsz=true",
        f"{actor}.ppo_epochs=2",
        f"{actor}.loss_agg_mode=seq-mean-token-sum",
        f"{actor}.clip_ratio_high=0.28",
        f"{actor}.use_kl_loss=true",
        f"{actor}.kl_loss_coef=0.001",
        f"{actor}.optim.lr={RATE}",
        "critic.enable=false",
        "trainer.n_gpus_per_node=1",
        "trainer.nnodes=1",
        f"trainer.total_training_steps={UPDATES}",
        "trainer.val_before_train=false",
        "trainer.save_freq=-1",
        "trainer.test_freq=-1",
        "trainer.resume_mode=disable",
        "trainer.logger=[console,file]",
        f"trainer.default_local_dir={output}",
        *(adapters if lora else []),
        *([] if flash else attention),
    ]


ZERO_3 = {
    "zero_optimization": {"stage": 3, "stage3_gather_16bit_weights_on_model_save": True},
    "zero_force_ds_cpu_optimizer": False,
    "bf16": {"enabled": "auto"},
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "train_batch_size": "auto",
    "gradient_clipping": "auto",
}
"""DeepSpeed's configuration for TRL."""


def trl(engine: str, output: Path, *, port: int = 0, cpu: bool = False) -> dict[str, object]:
    """Options of ``ProofConfig``.

    Args:
        engine: ``server`` (vLLM's, at a port of this machine), ``zero3``, or ``plain``.
        output: folder of the run.
        port: of the server.
        cpu: whether there is no card: a rehearsal in float32 with short answers.
    """
    return {
        "output_dir": str(output),
        "max_steps": 2 * UPDATES,  # two passes over a batch
        "per_device_train_batch_size": SAMPLES,
        "gradient_accumulation_steps": 2,
        "num_generations": SAMPLES,
        "max_completion_length": 32 if cpu else ANSWER_TOKENS // 2,
        "learning_rate": 1e-3 if cpu else RATE,
        "lr_scheduler_type": "constant",
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": cpu,
        "bf16": not cpu,
        "gradient_checkpointing": False,
        "use_vllm": engine == "server",
        "vllm_mode": "server",
        "vllm_server_base_url": f"http://127.0.0.1:{port}",
        "deepspeed": ZERO_3 if engine == "zero3" else None,
        "verification_workers": 0 if cpu else WORKERS,
    }
