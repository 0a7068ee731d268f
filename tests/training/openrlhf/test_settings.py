"""What a run may be told: our fields, OpenRLHF's flags, and what of them would change the loss."""

from __future__ import annotations

import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.errors import ProofR1Error


def test_flags_are_those_of_the_paper_unless_given(given: Path, parse: Callable[..., Any]) -> None:
    args = parse(given, "--actor.adam.lr", "2e-6")
    assert args.proof_r1.method == "proof_r1"
    assert (args.actor.eps_clip_low_high, args.actor.dual_clip, args.train.max_epochs) == ([0.2, 0.28], 3.0, 2)
    assert (args.algo.kl.use_loss, args.algo.kl.estimator, args.algo.kl.init_coef) == (True, "k3", 0.001)
    assert args.actor.adam.lr == 2e-6  # the command line wins over the file
    assert (args.rollout.temperature, args.rollout.n_samples_per_prompt) == (1.0, 4)  # the file over the paper
    assert args.eval.dataset.endswith("data/evaluation.jsonl")
    assert Path(args.train.agent_func_path).name == "agent.py"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("--ds.lora.rank 8", "refuses the names of adapters"),
        ("--train.async_enable", "all of its rollouts"),
        ("--train.dynamic_batch_enable", "a part of a batch"),
        ("--algo.dynamic_filtering_enable", "moves the averages"),
        ("--train.batch_size 8", "the whole batch of 16 rollouts"),
        ("--train.micro_batch_size 3", "must divide the batch of 16"),
        ("--actor.num_gpus_per_node 3 --ref.num_gpus_per_node 3", "times 3 ranks"),
        ("--actor.loss_agg_mode seq-mean-token-mean", "a mean over tokens"),
        ("--actor.policy_loss_type gspo", "credit belongs to tokens"),
        ("--algo.advantage.is_correction_level token", "it weighs tokens"),
        ("--algo.kl.unbiased_gradient", "that of the estimator k3"),
        ("--algo.kl.target 0.1", "is fixed"),
        ("--reward.overlong_buffer_len 64", "reward.overlong_buffer_len has no effect here"),
        ("--algo.kl.estimator k2", "algo.kl.estimator is set here"),
        ("--vllm.num_engines 0", "engines sample"),
        ("--rollout.batch_size 200 --train.batch_size 800", "160 can be used, fewer than the 200 of a batch"),
    ],
)
def test_flags_with_another_loss_are_refused(flags: str, reason: str, given: Path, parse: Callable[..., Any]) -> None:
    with pytest.raises(ProofR1Error, match=reason):
        parse(given, *flags.split())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("presett: paper", "unknown field 'presett'; there are problems"),
        ("preset: harder", "no preset is named 'harder'; there are paper"),
        ("method: sft", "learns from rollouts is named 'sft'; there are grpo"),
        ("rules: mine", "no rule catalogue 'mine'"),
        ("prompt: long", "prompt must be one of full"),
        ("output: ''", "output must name a folder"),
    ],
)
def test_wrong_fields_are_said_with_their_place(line: str, reason: str, given: Path, parse: Callable[..., Any]) -> None:
    key = line.partition(":")[0]
    kept = [one for one in given.read_text().splitlines() if not one.startswith(f"{key}:")]
    given.write_text("\n".join([line, *kept]))
    with pytest.raises(ProofR1Error, match=reason):
        parse(given)


def test_batches_are_those_that_openrlhf_reads(
    given: Path, parse: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """However the flag is written; what does not fill a batch is said."""
    parse(given, "--rollout.batch_size=7", "--train.batch_size=28", say=print)
    assert "6 left out: they do not fill a batch of 7 problems" in capsys.readouterr().out


def test_openrlhf_refuses_unknown_flags_before_ray_starts(given: Path, environment: dict[str, str]) -> None:
    def dry(*flags: str) -> subprocess.CompletedProcess[str]:
        entry = [sys.executable, "-m", "without_gpu", "--config", str(given), "--dry-run", *flags]
        return subprocess.run(entry, env=environment, capture_output=True, text=True, check=False)

    done = dry("--ds.nonsense", "1")
    assert done.returncode == 2
    assert "unrecognized arguments: --ds.nonsense" in done.stderr
    done = dry()
    assert done.returncode == 0, done.stderr[-3000:]
    assert "160 problems; prompts of" in done.stderr
    assert "left out" not in done.stderr  # 40 batches of 4
    assert "python -m openrlhf.cli.train_ppo_ray --actor.eps_clip_low_high 0.2 0.28" in done.stderr
    assert not (given.parent / "run").exists()


# -- the commands of the documentation --------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[3]


def flags_of(page: str, start: str) -> list[str]:
    """The words behind the start of a command of a page, of which there is one."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = [line.strip() for line in text.splitlines() if line.strip().startswith(start)]
    return shlex.split(line.removeprefix(start))


def test_the_configuration_of_the_paper_starts(
    problems: Path, warmed_up: Path, parse: Callable[..., Any], tmp_path: Path
) -> None:
    """With the flags of the page; only the paths are others."""
    model = tmp_path / "model"
    shutil.copytree(warmed_up, model)
    (model / "chat_template.jinja").write_text("{% for message in messages %}{{ message['content'] }}{% endfor %}")
    flags = flags_of("cluster.md", "python -m training.openrlhf --config training/configs/paper.yaml --dry-run")
    assert flags == ["--actor.adam.lr", "1e-6"]
    text = (ROOT / "training" / "configs" / "paper.yaml").read_text(encoding="utf-8")
    for path, real in (
        ("data/train.jsonl", problems),
        ("data/evaluation.jsonl", problems),
        ("/shared/models/warmed-up", model),
        ("/shared/out/paper", tmp_path / "run"),
    ):
        assert path in text
        text = text.replace(path, str(real))
    (tmp_path / "paper.yaml").write_text(text)
    args = parse(tmp_path / "paper.yaml", *flags)
    assert (args.actor.adam.lr, args.ds.zero_stage, args.train.colocate_all) == (1e-6, 3, True)


def test_the_flags_of_the_service_start(warmed_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenRLHF's own entry point, with one reward for a completion, up to where Ray would start."""
    from without_gpu import install

    install()
    import ray
    from openrlhf.utils import config

    taken: list[Any] = []
    hierarchize = config.hierarchize

    def take(flat: Any) -> Any:
        taken.append(hierarchize(flat))
        return taken[0]

    class Started(Exception):  # noqa: N818 (nothing is wrong)
        pass

    def start(*_: object, **__: object) -> None:
        raise Started

    flags = flags_of("integrations.md", "… ")
    entry = "openrlhf.cli.train_ppo_ray"
    monkeypatch.setattr(config, "hierarchize", take)
    monkeypatch.setattr(ray, "init", start)
    monkeypatch.setattr(sys, "argv", [entry, "--actor.model_name_or_path", str(warmed_up), *flags])
    with pytest.raises(Started):
        runpy.run_module(entry, run_name="__main__")
    (args,) = taken
    assert args.reward.remote_url == ["http://127.0.0.1:8765/get_reward?reward=sound"]
    assert (args.data.input_key, args.data.label_key, args.data.apply_chat_template) == ("input", "label", True)
