"""A run on a cluster: ``python -m training.openrlhf --config FILE [FLAGS OF OPENRLHF]``, alone or as a Ray job.

In: a YAML file with the fields of :class:`Settings`, and in its section ``openrlhf`` flags of OpenRLHF's
``train_ppo_ray``, which may also follow on the command line. Out: in the folder ``output`` the prompts, checkpoints and
the model. OpenRLHF's own parser checks its flags before Ray starts.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec
import yaml

from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.integrations.runs import DataArguments, alone, load_tokenizer, task_rows
from proof_r1_formal.outputs import write_output
from proof_r1_formal.workers.cluster import keep_private
from training.openrlhf.task import Task

ENTRY = "openrlhf.cli.train_ppo_ray"
ROOT = Path(__file__).resolve().parents[2]
IN_A_JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""Ray sets it in the process that a job starts."""
PAPER: Mapping[str, object] = {
    "actor.eps_clip_low_high": (0.2, 0.28),
    "actor.dual_clip": 3.0,
    "actor.adam.lr": 5e-6,
    "actor.lr_scheduler": "constant",
    "algo.kl.init_coef": 0.001,
    "rollout.n_samples_per_prompt": 8,
    "rollout.temperature": 0.8,
    "rollout.top_p": 0.95,
    "train.max_epochs": 2,
}
"""OpenRLHF's flags for the paper's settings: the defaults here."""


@dataclass
class Settings(DataArguments):
    """Our part of a run's configuration.

    Attributes:
        output: folder of the run; in a job an absolute path that all machines share.
        method: a name in ``credit.methods.METHODS`` that learns from rollouts.
        preset: of the credit, see ``credit.presets``.
        rules: name of the rule catalogue.
        workers: processes that verify for each engine.
        timeout: seconds of one completion, which earns nothing if it takes longer.
    """

    output: str = ""
    method: str = "proof_r1"
    preset: str = "paper"
    rules: str = "train"
    workers: int = 2
    timeout: float = 60.0

    def task(self, problem: str) -> Task:
        """The label of a prompt."""
        return Task(problem, self.rules, self.preset, self.workers, self.timeout)


# -- configuration ----------------------------------------------------------------------------------------------------


def read_settings(file: Path) -> tuple[Settings, list[str]]:
    """Our settings, and OpenRLHF's flags, of a file.

    Raises:
        ProofR1Error: the file cannot be read, or a field is unknown or has a wrong value.
    """
    try:
        given = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise DataError(str(file), str(error)) from error
    if not isinstance(given, dict):
        raise DataError(str(file), "it must be a mapping from fields to values")
    flags = given.pop("openrlhf", None) or {}
    names = [field.name for field in fields(Settings)]
    if unknown := sorted(given.keys() - set(names)):
        raise DataError(str(file), f"unknown field {unknown[0]!r}; there are {', '.join(names)} and openrlhf")
    try:
        settings = msgspec.convert(given, Settings)
    except msgspec.ValidationError as error:
        raise DataError(str(file), str(error)) from error
    if not settings.output or (IN_A_JOB in os.environ and not Path(settings.output).is_absolute()):
        raise DataError(str(file), "output must name a folder; in a Ray job, one that all machines share, from /")
    return settings, list(words({**PAPER, **flags}))


def words(flags: Mapping[str, object]) -> Iterator[str]:
    """A command line of these flags; those that are false or null are left out."""
    for name, value in flags.items():
        if value is None or value is False:
            continue
        yield f"--{name}"
        if isinstance(value, list | tuple):
            yield from map(str, value)
        elif value is not True:
            yield str(value)


def check(args: Any) -> None:
    """Refuse flags under which OpenRLHF's loss is not that of the method, or that do not work with it.

    Args:
        args: as OpenRLHF has parsed them.

    Raises:
        ProofR1Error: the flag, and why.
    """
    batch = args.rollout.batch_size * args.rollout.n_samples_per_prompt
    ranks = args.actor.num_nodes * args.actor.num_gpus_per_node
    ranks //= args.ds.ring_attn_size * args.ds.tensor_parallel_size
    for flag, wrong, why in (
        ("ds.lora.rank", args.ds.lora.rank > 0, "vLLM refuses the names of adapters that OpenRLHF sends; use TRL"),
        ("train.async_enable", args.train.async_enable, "the credit of a batch needs all of its rollouts"),
        (
            "train.dynamic_batch_enable",
            args.train.dynamic_batch_enable,
            "it divides by the tokens of a part of a batch",
        ),
        ("algo.dynamic_filtering_enable", args.algo.dynamic_filtering_enable, "each group moves the averages of rules"),
        ("train.batch_size", args.train.batch_size != batch, f"N_B is that of the whole batch of {batch} rollouts"),
        (
            "train.micro_batch_size",
            ranks < 1 or batch % (args.train.micro_batch_size * ranks) != 0,
            f"times {ranks} ranks it must divide the batch of {batch} rollouts",
        ),
        (
            "actor.loss_agg_mode",
            args.actor.loss_agg_mode != "token-mean",
            "advantages are scaled for a mean over tokens",
        ),
        ("actor.policy_loss_type", args.actor.policy_loss_type != "ppo", "credit belongs to tokens"),
        ("algo.advantage.is_correction_level", args.algo.advantage.is_correction_level != "off", "it weighs tokens"),
        ("algo.kl.unbiased_gradient", args.algo.kl.unbiased_gradient, "the gradient is that of the estimator k3"),
        ("algo.kl.target", args.algo.kl.target is not None, "the coefficient of the KL is fixed"),
        ("vllm.num_engines", not args.vllm.num_engines, "engines sample"),
    ):
        if wrong:
            raise ProofR1Error(f"this value of --{flag} is refused: {why}")


# -- a run ------------------------------------------------------------------------------------------------------------


def run(settings: Settings, flags: Sequence[str], *, say: Callable[[str], None], dry: bool = False) -> None:
    """Hand over to OpenRLHF; when it has read its flags, the prompts are written, and Ray starts.

    Args:
        settings: ours.
        flags: OpenRLHF's, of which later ones win.
        say: writes a line for the user.
        dry: only check the flags and the data, and show OpenRLHF's command line.

    Raises:
        ProofR1Error: a flag is refused, or the data cannot be used.
    """
    folder = Path(settings.output).absolute()
    train, evaluation = folder / "data" / "train.jsonl", folder / "data" / "evaluation.jsonl"
    ours = {
        "train.agent_func_path": Path(__file__).with_name("agent.py"),
        "data.prompt_dataset": train,
        "data.input_key": "input",
        "data.label_key": "label",
        "data.apply_chat_template": settings.prompt in ("full", "paper"),
        "eval.dataset": evaluation if settings.evaluation else None,
        "algo.advantage.estimator": "group_norm",  # any without a critic: the advantages are replaced
        "algo.kl.use_loss": True,
        "algo.kl.estimator": "k3",
        "ckpt.output_dir": folder / "model",
        "ckpt.path": folder / "checkpoints",
        "ckpt.load_enable": True,
    }
    for flag in [word.removeprefix("--").partition("=")[0] for word in flags if word.startswith("--")]:
        if flag in ours:
            raise ProofR1Error(f"--{flag} is set here, from the fields of the configuration: leave it out")
        if flag.startswith(("reward.", "critic.")):
            raise ProofR1Error(f"--{flag} has no effect here: tokens have advantages, and rewards are not used")
    sys.argv = [ENTRY, *flags, *words(ours)]

    def prepare(args: Any) -> None:
        check(args)
        args.proof_r1 = settings  # it travels with OpenRLHF's arguments to its actors
        tokenizer = load_tokenizer(args.actor.model_name_or_path)
        settings.task("").assigner(tokenizer, method=settings.method)  # which refuses what it cannot use
        files = {train: _rows(settings.problems, settings, tokenizer, args.rollout.batch_size, say)}
        if settings.evaluation:
            files[evaluation] = _rows(settings.evaluation, settings, tokenizer, 1, say)
        for file, rows in ({} if dry else files).items():
            file.parent.mkdir(exist_ok=True)
            write_output(file, b"".join([msgspec.json.encode(row) + b"\n" for row in rows]))

    _compose(prepare, dry=dry)
    if dry:
        try:
            runpy.run_module(ENTRY, run_name="__main__")
        except _Checked:
            say(f"python -m {' '.join(sys.argv)}")
        return
    with alone(folder):
        runpy.run_module(ENTRY, run_name="__main__")
    say(f"the model is in {folder / 'model'}")


def _rows(
    files: Sequence[str], settings: Settings, tokenizer: Any, size: int, say: Callable[[str], None]
) -> list[dict[str, object]]:
    """The data that OpenRLHF reads: prompts with labels, in whole batches of a size."""
    found, lines = task_rows(files, settings, rules=settings.rules, tokenizer=tokenizer)
    for line in lines:
        say(line)
    whole = len(found) // size * size
    if not whole:
        raise ProofR1Error(f"problems: {len(found)} can be used, fewer than the {size} of a batch")
    if whole < len(found):
        say(f"{len(found) - whole} left out: they do not fill a batch of {size} problems")
    return [
        {"input": row["prompt"], "label": msgspec.json.encode(settings.task(row["problem"])).decode()}
        for row in found.select(range(whole))
    ]


class _Checked(Exception):  # noqa: N818 (OpenRLHF has read its flags without an error, and Ray would start)
    pass


def _compose(prepare: Callable[[Any], None], *, dry: bool) -> None:
    """Put our parts where OpenRLHF's entry point takes them.

    Args:
        prepare: gets OpenRLHF's arguments as soon as they are read.
        dry: whether to end where Ray would start.
    """
    if IN_A_JOB not in os.environ:
        keep_private()
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    import ray

    config = vars(importlib.import_module("openrlhf.utils.config"))
    hierarchize = config["hierarchize"]

    def parsed(flat: Namespace) -> Any:
        args = hierarchize(flat)
        prepare(args)
        return args

    config["hierarchize"] = parsed
    if dry:

        def stop(*_: object, **__: object) -> None:
            raise _Checked

        vars(ray)["init"] = stop
        return
    from training.openrlhf.controller import Controller

    vars(importlib.import_module("openrlhf.trainer.ppo_trainer"))["PPOTrainer"] = ray.remote(Controller)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and train."""
    parser = ArgumentParser(
        prog="python -m training.openrlhf", epilog="Other flags are OpenRLHF's.", allow_abbrev=False
    )
    parser.add_argument("--config", type=Path, required=True, help="configuration, see training/configs")
    parser.add_argument("--dry-run", action="store_true", help="check flags and data, and show OpenRLHF's command line")
    given, flags = parser.parse_known_args(arguments)
    try:
        settings, of_file = read_settings(given.config)
        run(settings, [*of_file, *flags], say=_say, dry=given.dry_run)
    except ProofR1Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
