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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import yaml

from proof_r1_formal.credit.methods import METHODS, Imitation
from proof_r1_formal.credit.presets import PRESETS
from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.integrations.runs import DataArguments, alone, task_rows
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
        return Task(problem, self.rules, self.preset, self.workers, self.timeout)  # type: ignore[arg-type]


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
    learned = [name for name, method in METHODS.items() if not isinstance(method, Imitation)]
    for name, value, choices in (("method", settings.method, learned), ("preset", settings.preset, PRESETS)):
        if value not in choices:
            raise DataError(str(file), f"{name} must be one of {', '.join(choices)}, and is {value!r}")
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
    kl = args.algo.kl
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
        (
            "algo.kl.use_loss",
            kl.init_coef > 0 and (not kl.use_loss or kl.estimator != "k3" or kl.unbiased_gradient),
            "the KL is in the loss, by the estimator k3 with its own gradient",
        ),
        ("algo.kl.target", kl.target is not None, "the coefficient of the KL is fixed"),
        ("reward.overlong_buffer_len", args.reward.overlong_buffer_len is not None, "rewards are not used: tokens are"),
        (
            "reward.stop_properly_penalty_coef",
            args.reward.stop_properly_penalty_coef is not None,
            "rewards are not used",
        ),
        ("vllm.num_engines", not args.vllm.num_engines, "engines sample"),
    ):
        if wrong:
            raise ProofR1Error(f"--{flag} cannot be so here: {why}")


# -- a run ------------------------------------------------------------------------------------------------------------


def run(settings: Settings, flags: list[str], *, say: Callable[[str], None], dry: bool = False) -> None:
    """Write the prompts and train.

    Args:
        settings: ours.
        flags: OpenRLHF's, of which later ones win.
        say: writes a line for the user.
        dry: only check the flags and the data.

    Raises:
        ProofR1Error: a flag is refused, or the data cannot be used.
    """
    folder = Path(settings.output).absolute()
    size = int(_flag(flags, "rollout.batch_size", "8"))
    train, evaluation = _rows(settings, _flag(flags, "actor.model_name_or_path"), size, say)
    ours = {
        "train.agent_func_path": Path(__file__).with_name("agent.py"),
        "data.prompt_dataset": folder / "data" / "train.jsonl",
        "data.label_key": "label",
        "data.apply_chat_template": settings.prompt in ("full", "paper"),
        "eval.dataset": folder / "data" / "evaluation.jsonl" if evaluation else None,
        "algo.advantage.estimator": "group_norm",  # any without a critic: the advantages are replaced
        "algo.kl.use_loss": True,
        "algo.kl.estimator": "k3",
        "ckpt.output_dir": folder / "model",
        "ckpt.path": folder / "checkpoints",
        "ckpt.load_enable": True,
    }
    sys.argv = [ENTRY, *flags, *words(ours)]
    _prepare(settings, dry=dry)
    if dry:
        try:
            runpy.run_module(ENTRY, run_name="__main__")
        except _Checked:
            say(f"python -m {' '.join(sys.argv)}")
        return
    with alone(folder):
        (folder / "data").mkdir(exist_ok=True)
        for name, rows in (("train", train), ("evaluation", evaluation)):
            write_output(
                folder / "data" / f"{name}.jsonl", b"".join([msgspec.json.encode(row) + b"\n" for row in rows])
            )
        runpy.run_module(ENTRY, run_name="__main__")
    say(f"the model is in {folder / 'model'}")


def _rows(
    settings: Settings, model: str, size: int, say: Callable[[str], None]
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """What OpenRLHF reads: prompts with labels to learn from, in whole batches, and to evaluate on."""
    tokenizer, found = _tokenizer(model), []
    for files, part in ((settings.problems, size), (settings.evaluation, 1)):
        rows, lines = task_rows(files, settings, rules=settings.rules, tokenizer=tokenizer) if files else ([], ())
        for line in lines:
            say(line)
        labels = [msgspec.json.encode(settings.task(row["problem"])).decode() for row in rows]
        whole = len(labels) // part * part
        if whole < len(labels):
            say(f"{len(labels) - whole} left out: they do not fill a batch of {size} problems")
        found.append([{"input": row["prompt"], "label": one} for row, one in zip(rows, labels, strict=True)][:whole])
    if not found[0]:
        raise ProofR1Error(f"problems: there are fewer than the {size} of a batch")
    return found[0], found[1]


class _Checked(Exception):  # noqa: N818 (OpenRLHF has read its flags without an error, and Ray would start)
    pass


def _prepare(settings: Settings, *, dry: bool) -> None:
    """Put our parts where OpenRLHF's entry point takes them."""
    if IN_A_JOB not in os.environ:
        keep_private()
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    import ray

    config = vars(importlib.import_module("openrlhf.utils.config"))
    hierarchize = config["hierarchize"]

    def parsed(flat: Namespace) -> Any:
        args = hierarchize(flat)
        check(args)
        args.proof_r1 = settings  # it travels with OpenRLHF's arguments to its actors
        return args

    config["hierarchize"] = parsed
    if dry:

        def stop(*_: object, **__: object) -> None:
            raise _Checked

        vars(ray)["init"] = stop
        return
    from training.openrlhf.controller import Controller

    vars(importlib.import_module("openrlhf.trainer.ppo_trainer"))["PPOTrainer"] = ray.remote(Controller)


def _flag(flags: list[str], name: str, default: str = "") -> str:
    """The last value of a flag on a command line."""
    found = [value for flag, value in pairwise(flags) if flag == f"--{name}"]
    if not found and not default:
        raise ProofR1Error(f"--{name} is missing: give it in the section openrlhf")
    return found[-1] if found else default


def _tokenizer(model: str) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(model)
    except (OSError, ValueError) as error:
        raise ProofR1Error(f"{model}: no tokenizer can be loaded: {error}") from error


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
