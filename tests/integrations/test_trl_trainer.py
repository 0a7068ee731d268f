"""Credit per action inside TRL's own trainer: its loss and gradient, its groups, its checkpoints, its evaluation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proof_r1_formal import Problem, ProofR1Error, evaluate_metrics, write_problems
from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.models.prompts import question
from proof_r1_formal.proof.trajectory import opening

pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")
pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]

LENGTH, LONG = 200, 600


def test_rewards_of_ones_own_are_refused() -> None:
    from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer

    with pytest.raises(ProofR1Error, match="reward_funcs: the verifier's credit takes their place"):
        ProofTrainer("model", args=ProofConfig(use_cpu=True, bf16=False), train_dataset=[], reward_funcs=[len])


@pytest.fixture
def problems(known: list[Any]) -> dict[str, Problem]:
    """Two problems; the model knows the answer of the first by heart."""
    return {one.problem.id: one.problem for one in known[:2]}


@pytest.fixture
def trainer(taught: Path, tokenizer: Any, problems: dict[str, Problem], tmp_path: Path) -> Callable[..., Any]:
    """Makes a trainer of that model; options are those of the configuration."""
    import torch
    from datasets import Dataset

    from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer

    torch.manual_seed(0)
    torch.set_num_threads(1)
    rows = Dataset.from_list([{"id": p.id, "prompt": question(p), "problem": to_json(p)} for p in problems.values()])

    def made(rows: Any = rows, peft_config: Any = None, **options: Any) -> Any:
        plain: dict[str, Any] = {
            "output_dir": str(tmp_path / "run"),
            "max_steps": 2,
            "per_device_train_batch_size": 4,
            "gradient_accumulation_steps": 2,
            "num_generations": 4,
            "max_completion_length": LENGTH,
            "temperature": 0.3,
            "logging_steps": 1,
            "save_strategy": "no",
            "report_to": "none",
            "use_cpu": True,
            "bf16": False,
            "learning_rate": 1e-3,
            "lr_scheduler_type": "constant",
            "verification_workers": 0,
        }
        return ProofTrainer(
            str(taught),
            args=ProofConfig(**plain | options),
            train_dataset=rows,
            eval_dataset=rows,
            processing_class=tokenizer,
            peft_config=peft_config,
        )

    return made


def first_batch(trainer: Any) -> dict[str, Any]:
    """What the trainer makes of its first generation batch, before TRL shuffles it."""
    trainer.model.train()
    rows = next(iter(trainer.get_train_dataloader()))
    output: dict[str, Any] = trainer._generate_and_score_completions(rows)
    output["rows"] = rows
    return output


def sampled(output: dict[str, Any]) -> list[list[int]]:
    masks = output["completion_mask"].bool()
    return [ids[mask].tolist() for ids, mask in zip(output["completion_ids"], masks, strict=True)]


# -- loss -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "kl_weight"),
    [("proof_r1", 0.0), ("proof_r1", 0.001), ("taught", 0.0), ("proof_r1_taught", 0.001), ("contrast", 0.0)],
)
def test_loss_and_gradient_are_those_of_the_method(
    trainer: Callable[..., Any], method: str, kl_weight: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from trl import GRPOTrainer

    from studies.policy_loss import policy_loss

    rollouts: list[list[int]] = []
    generate = GRPOTrainer._generate

    def noted(self: Any, prompts: list[Any]) -> Any:
        found = generate(self, prompts)
        rollouts.extend(map(list, found[1]))
        return found

    monkeypatch.setattr(GRPOTrainer, "_generate", noted)
    made = trainer(method=method, kl_weight=kl_weight, temperature=1.0, max_completion_length=LONG)
    output = first_batch(made)
    made.current_gradient_accumulation_steps = 1  # all in one micro-batch
    whole = torch.cat([output["prompt_ids"], output["completion_ids"]], 1)
    seen = torch.cat([output["prompt_mask"], output["completion_mask"]], 1)
    length = output["completion_ids"].size(1)
    scored = made._get_per_token_logps_and_entropies
    with torch.no_grad():
        old = scored(made.model, whole, seen, length)[0]
        old = old + 0.3 * torch.randn(old.shape)  # ratios on both sides of each clip
    theirs = made._compute_loss(made.model, output | {"old_per_token_logps": old})
    theirs.backward()
    gradient = torch.cat([one.grad.flatten() for one in made.model.parameters()])
    made.model.zero_grad()

    problems = [from_json(row["problem"]) for row in output["rows"]]
    assigner = CreditAssigner(made.processing_class, method=method, workers=0, max_tokens=LONG, replaces_rows=True)
    credit = assigner.credit(problems, rollouts, 4)
    rows = [list(new or old_) for new, old_ in zip(credit.replaced, rollouts, strict=True)]
    assert sampled(output) == rows
    assert (rows == rollouts) == (method == "proof_r1")
    advantages = torch.zeros(old.shape)
    for row, one in enumerate(credit.advantages):
        advantages[row, : len(one)] = torch.tensor(one)
    assert advantages.unique().numel() > 1 + (made.args.method not in ("taught", "contrast")) * 2
    now = scored(made.model, whole, seen, length)[0]
    reference = now.detach() if output.get("ref_per_token_logps") is None else output["ref_per_token_logps"]
    ours = policy_loss(
        now, old, reference, advantages, output["completion_mask"].bool(), divisor=credit.divisor, kl_weight=kl_weight
    )
    ours.backward()
    expected = torch.cat([one.grad.flatten() for one in made.model.parameters()])
    assert theirs.item() == pytest.approx(ours.item(), abs=1e-6)
    assert expected.abs().max() > 1e-3
    assert (gradient - expected).abs().max() < 1e-6


def test_shared_prompts_change_no_log_probability(trainer: Callable[..., Any]) -> None:
    import torch

    made = trainer(share_prompts=True, gradient_checkpointing=False, temperature=0.7, disable_dropout=True)
    output = first_batch(made)
    whole = torch.cat([output["prompt_ids"], output["completion_ids"]], 1)
    seen = torch.cat([output["prompt_mask"], output["completion_mask"]], 1)
    mask, length = output["completion_mask"].bool(), output["completion_ids"].size(1)
    assert len(output["prompt_ids"].unique(dim=0)) == 2
    assert len({*output["prompt_mask"].sum(-1).tolist()}) == 2  # one of them is padded
    found = []
    for share in (True, False):
        made.args.share_prompts = share
        made.model.zero_grad()
        logps, entropies, _ = made._get_per_token_logps_and_entropies(
            made.model, whole, seen, length, compute_entropy=True
        )
        (logps * mask * torch.arange(length)).sum().backward()
        gradient = torch.cat([one.grad.flatten() for one in made.model.parameters()])
        found.append((logps * mask, entropies * mask, gradient / gradient.abs().max()))
    for one, other in zip(*found, strict=True):
        assert one.detach().abs().max() > 0.01
        assert torch.allclose(one, other, atol=1e-5)


def test_shared_prompts_keep_groups_together(trainer: Callable[..., Any]) -> None:
    made = trainer(share_prompts=True, gradient_checkpointing=False)
    made.model.train()
    made._prepare_inputs(next(iter(made.get_train_dataloader())))
    buffered = made._buffered_inputs
    assert [len(batch["prompt_ids"].unique(dim=0)) for batch in buffered] == [1, 1]
    for batch in buffered:  # each row has moved as a whole
        ends = batch["completion_mask"].sum(-1)
        assert ends.tolist() == sorted(ends.tolist(), reverse=True)
        assert (batch["advantages"] * (1 - batch["completion_mask"]) == 0).all()


def test_without_shared_prompts_batches_are_those_of_trl(
    trainer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    regrouped: list[object] = []

    def regroup(batches: object) -> object:
        regrouped.append(batches)
        return batches

    monkeypatch.setattr("proof_r1_formal.integrations.trl.regroup", regroup)
    for share in (False, True):
        made = trainer(share_prompts=share, gradient_checkpointing=False)
        made.model.train()
        made._prepare_inputs(next(iter(made.get_train_dataloader())))
        assert len(regrouped) == share


@pytest.mark.parametrize("method", ["grpo", "prosfi", "expert_iteration", "no_closure", "no_verification"])
def test_every_method_is_this_class(trainer: Callable[..., Any], method: str) -> None:
    made = trainer(method=method, preset="hardened", max_steps=2)
    output = first_batch(made)
    problems = [from_json(row["problem"]) for row in output["rows"]]
    credit = CreditAssigner(made.processing_class, method=method, preset="hardened", workers=0).credit(
        problems, sampled(output), 4
    )
    scale = len(problems) * LENGTH / credit.divisor
    for row, earned in zip(output["advantages"].tolist(), credit.advantages, strict=True):
        assert row[: len(earned)] == pytest.approx([a * scale for a in earned], rel=1e-5, abs=1e-6)
        assert not any(row[len(earned) :])


def test_a_curriculum_gives_the_first_steps_and_ever_fewer(trainer: Callable[..., Any]) -> None:
    made = trainer(curriculum=8, method="grpo", max_completion_length=20)
    given = []
    for step in range(0, 10, 2):
        made.state.global_step = step
        output = first_batch(made)
        problems = [from_json(row["problem"]) for row in output["rows"]]
        prompts = [
            ids[mask.bool()].tolist() for ids, mask in zip(output["prompt_ids"], output["prompt_mask"], strict=True)
        ]
        texts = made.processing_class.batch_decode(prompts)
        given.append([text.count('"rule"') for text in texts])
        for problem, text, count in zip(problems, texts, given[-1], strict=True):
            assert text == question(problem) + opening(problem.proofs[0], count)
        for rollout, problem, count in zip(made._rollouts, problems, given[-1], strict=True):
            assert rollout.report.actions[-1].span[1] >= len(opening(problem.proofs[0], count))  # it is verified, too
    lengths = [len(problem.proofs[0]) for problem in problems]
    assert given[0] == [length - 1 for length in lengths]
    assert given[-1] == [0] * len(lengths)
    assert all(now >= later for one, other in pairwise(given) for now, later in zip(one, other, strict=True))


def test_a_curriculum_needs_prompts_that_are_texts(trainer: Callable[..., Any], problems: dict[str, Problem]) -> None:
    from proof_r1_formal.integrations.datasets import problems_dataset

    with pytest.raises(ProofR1Error, match="use prompt: question or prompt: short"):
        first_batch(trainer(rows=problems_dataset(problems.values()), curriculum=8))
    with pytest.raises(ValueError, match="taught starts from the model's own steps"):
        trainer(method="taught", curriculum=8)


@pytest.mark.slow
def test_a_group_may_span_two_processes(taught: Path, tokenizer: Any, known: list[Any], tmp_path: Path) -> None:
    import torch

    problems = {one.problem.id: one.problem for one in known}
    write_problems(tmp_path / "problems.jsonl", problems.values())
    program = Path(__file__).with_name("trl_rank.py")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*launch, str(program), str(taught), str(tmp_path / "problems.jsonl"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    ranks = [torch.load(tmp_path / f"rank-{rank}.pt") for rank in range(2)]
    names, ids = ([item for rank in ranks for item in rank[key]] for key in ("names", "ids"))
    assert [len(rank["ids"]) for rank in ranks] == [6, 6]
    assert names[4] == names[5] == names[6] == names[7]  # the second of three groups is in both processes
    assigner = CreditAssigner(tokenizer, workers=0)
    credit = assigner.credit([problems[name] for name in names], ids, 4)
    scale = 12 * LENGTH / credit.divisor
    rows = [row for rank in ranks for row in rank["advantages"]]
    for row, earned in zip(rows, credit.advantages, strict=True):
        assert row[: len(earned)] == pytest.approx([a * scale for a in earned], rel=1e-5, abs=1e-6)
    assert ranks[0]["state"] == ranks[1]["state"] == assigner.state_dict()
    assert torch.equal(ranks[0]["weights"], ranks[1]["weights"])

    judged: list[tuple[str, bool]] = ranks[0]["judged"]
    assert judged == ranks[1]["judged"]
    assert len(judged) == 8  # 6 completions, and 2 of the first problem again to fill the batches
    asked = [name for name, _ in judged[:6]]
    assert sorted(asked) == sorted([*problems, *problems])
    assert asked[:2] == [name for name, _ in judged[6:]]
    right = Counter([name for name, is_right in judged[:6] if is_right])
    for rank in ranks:
        assert rank["eval"] == {"eval_avg": right.total() / 6, "eval_pass": len(right) / 3}


# -- a run ------------------------------------------------------------------------------------------------------------


def test_a_run_logs_saves_and_goes_on(trainer: Callable[..., Any], tmp_path: Path) -> None:
    made = trainer(save_strategy="steps", save_steps=2, verification_workers=1)
    made.train()
    logged = made.state.log_history[0]
    names = ("signal", "FVR", "RVR", "rule_verified", "useless", "broken", "silent_groups")
    assert {f"proof/{name}" for name in names} <= logged.keys()
    assert 0.0 < logged["proof/right"] < 1.0
    assert logged["rewards/right/mean"] == logged["proof/right"]
    state = json.loads((tmp_path / "run" / "checkpoint-2" / "proof_r1.json").read_text())
    assert state == made.assigner.state_dict()
    assert set(state.values()) != {0.5}

    assert "eval_rvr" in made.evaluate()  # the processes that verify have ended with the training, and start again

    again = trainer(max_steps=4)
    again.train(resume_from_checkpoint=True)
    assert again.state.global_step == 4
    again.assigner.load_state_dict(state)

    (tmp_path / "run" / "checkpoint-2" / "proof_r1.json").write_text("{")
    with pytest.raises(ProofR1Error, match=r"proof_r1\.json: the averages of the rules cannot be read"):
        trainer(max_steps=4).train(resume_from_checkpoint=True)


def test_a_run_goes_on_between_two_passes_over_a_batch(trainer: Callable[..., Any], tmp_path: Path) -> None:
    import torch
    from datasets import concatenate_datasets

    rows = concatenate_datasets([trainer().train_dataset] * 2)  # an epoch is longer than the run
    settings: dict[str, Any] = {"rows": rows, "max_steps": 3, "learning_rate": 1e-4}
    whole = trainer(**settings, save_strategy="steps", save_steps=1)
    whole.train()
    assert whole.num_iterations == 2
    for step in (1, 2):
        found = trainer(**settings, output_dir=str(tmp_path / f"from-{step}"))
        found.train(resume_from_checkpoint=str(tmp_path / "run" / f"checkpoint-{step}"))
        assert found.state.global_step == 3
        assert found.assigner.state_dict() == whole.assigner.state_dict()
        for one, other in zip(found.model.parameters(), whole.model.parameters(), strict=True):
            assert torch.equal(one, other)

    batches = tmp_path / "run" / "checkpoint-1", tmp_path / "run" / "checkpoint-2"
    assert [len(list(folder.glob("proof_r1_batch_*.pt"))) for folder in batches] == [1, 0]
    (batches[0] / "proof_r1_batch_0.pt").unlink()
    with pytest.raises(ProofR1Error, match="step 1 is inside the 2 passes over a batch, and the batch cannot be read"):
        trainer(**settings).train(resume_from_checkpoint=str(batches[0]))


def test_adapters_are_trained(trainer: Callable[..., Any]) -> None:
    from peft import LoraConfig

    made = trainer(peft_config=LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))
    before = {name: one.detach().clone() for name, one in made.model.named_parameters() if "lora_B" in name}
    made.train()
    changed = [name for name, one in made.model.named_parameters() if name in before and (one != before[name]).any()]
    assert changed


def test_evaluation_counts_all_completions(trainer: Callable[..., Any], problems: dict[str, Problem]) -> None:
    made = trainer(per_device_eval_batch_size=4, num_generations_eval=2)
    found = made.evaluate()
    numbered = [msgspec.structs.replace(report, sample=number) for number, report in enumerate(made._reports)]
    scores = evaluate_metrics(problems, numbered).overall.scores
    assert len(made._reports) == 4
    for name, score in scores.items():
        if f"eval_{name.name.lower()}" in found:
            assert found[f"eval_{name.name.lower()}"] == score.value
    assert found["eval_pass"] == 0.5
    assert {"eval_avg", "eval_fvr", "eval_rvr", "eval_rule_verified", "eval_loss"} <= found.keys()
    assert made.state.log_history[-1]["eval_pass"] == 0.5
    assert set(made.assigner.state_dict().values()) == {0.5}  # evaluation moves no average
    several = made.evaluate({"first": made.eval_dataset.select([0]), "second": made.eval_dataset.select([1])})
    assert {name: several[name] for name in several if name.endswith("pass")} == {
        "eval_first_pass": 1.0,
        "eval_second_pass": 0.0,
    }


# -- wrong use, and what of TRL this rests on -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("loss_type", "dapo", "divides by a constant"),
        ("beta", 0.04, "set kl_weight"),
        ("use_bias_correction_kl", True, "another gradient"),
        ("importance_sampling_level", "sequence", "credit belongs to tokens"),
        ("steps_per_generation", 4, "N_B is that of the whole generation batch"),
        ("mask_truncated_completions", True, "truncated"),
        ("top_entropy_quantile", 0.2, "every token"),
        ("use_liger_kernel", True, "one advantage"),
        ("share_prompts", True, "gradient_checkpointing"),
        ("generation_kwargs", {"stop_strings": ["</summary>"]}, "end of text"),
    ],
)
def test_settings_with_another_loss_are_refused(option: str, value: object, reason: str, tmp_path: Path) -> None:
    from proof_r1_formal.integrations.trl import ProofConfig

    common: dict[str, Any] = {"output_dir": str(tmp_path), "use_cpu": True, "bf16": False, "report_to": "none"}
    with pytest.raises(ValueError, match=reason) as refused:
        ProofConfig(**common | {option: value})
    assert option in str(refused.value)


def test_the_defaults_are_the_papers(tmp_path: Path) -> None:
    from proof_r1_formal.integrations.trl import ProofConfig

    made = ProofConfig(output_dir=str(tmp_path), use_cpu=True, bf16=False, report_to="none", max_completion_length=100)
    assert (made.epsilon, made.epsilon_high, made.delta, made.num_iterations) == (0.2, 0.28, 3.0, 2)
    assert (made.entropy_coef, made.vllm_importance_sampling_correction) == (0.0, False)
    assert made.beta == pytest.approx(0.1)
    assert made.steps_per_generation == made.gradient_accumulation_steps


def test_rows_without_a_problem_are_refused(trainer: Callable[..., Any]) -> None:
    from datasets import Dataset

    other = Dataset.from_list([{"prompt": "2 + 2 =", "problem": None}] * 2)
    with pytest.raises(ProofR1Error, match="no problem in its column"):
        trainer(rows=other).train()
    with pytest.raises(ProofR1Error, match="learns from rollouts is named 'sft'"):
        trainer(method="sft")
    with pytest.raises(ProofR1Error, match="no preset is named 'harder'"):
        trainer(preset="harder")


def test_tokens_of_tools_have_no_credit(trainer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from trl import GRPOTrainer

    answers: Any = ([[0]], [[0, 1]], [[1, 0]], [""], None, {}, None, None)
    monkeypatch.setattr(GRPOTrainer, "_generate", lambda self, prompts: answers)
    with pytest.raises(ProofR1Error, match="tokens of tools or of an environment"):
        trainer()._generate([""])
