"""Credit per action in TRL: :class:`ProofTrainer` is TRL's ``GRPOTrainer`` with an advantage for every token.

In: a model, a data set whose column ``problem`` holds problems (``datasets.problems_dataset``), and a
:class:`ProofConfig`. TRL samples, computes log-probabilities and the loss, and saves; a ``credit.CreditAssigner``
verifies the completions and gives the advantages. With the settings that the configuration requires, TRL's loss is

    L = -1/N_B Σ_k Σ_j min(ρ A, clip(ρ, 1 - ε₋, 1 + ε₊) A), no less than c A where A < 0,  + λ_KL/B Σ_k Σ_j k3

of ``docs/training.md``, over the tokens j of the B completions k of a generation batch.

TRL passes token advantages of a subclass to its loss (a comment in its ``_compute_loss`` says so). It shuffles rows
after it has scored them, so the credit must come before: the trainer overrides two methods of TRL that are not public,
``_generate_and_score_completions`` and ``_generate``, and two that save and load; a test watches them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from pickle import UnpicklingError
from statistics import fmean
from typing import Any

import torch
from accelerate.utils import gather_object
from trl import GRPOConfig, GRPOTrainer

from proof_r1_formal.credit.assigner import BatchCredit, CreditAssigner
from proof_r1_formal.credit.methods import METHODS, Rollout, needs_corrections, rollout_method
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations.environments import ProofEnvironment, align_turns
from proof_r1_formal.integrations.rewards import reward_function
from proof_r1_formal.integrations.runs import evaluation_scores, load_averages, save_averages
from proof_r1_formal.integrations.scoring import DATA_SOURCE, problem_of
from proof_r1_formal.integrations.shared_prompts import log_probs, regroup
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.trajectory import opening
from proof_r1_formal.rules.catalogue import catalogue

__all__ = ["ProofConfig", "ProofTrainer", "reward_function"]

BATCH = "proof_r1_batch_{}.pt"
"""The file of a checkpoint with the batch of a process (its number) whose passes are not all made."""


@dataclass
class ProofConfig(GRPOConfig):
    """TRL's configuration, with the paper's settings as defaults.

    Attributes:
        method: a name in ``credit.methods.METHODS`` that learns from rollouts.
        preset: of the credit, see ``credit.presets``.
        rules: name of the rule catalogue.
        kl_weight: λ_KL. TRL divides by the constant ``max_completion_length``, so its ``beta`` is set from this one.
        verification_workers: processes that verify, for each process of the trainer.
        verification_timeout: seconds of a completion, which counts as wrong if it takes longer.
        curriculum: updates over which rollouts grow from the last step of a reference proof to whole proofs; 0 asks for
            whole proofs from the first update on. Prompts must be texts (``question``, ``short``).
        share_prompts: pass a prompt once for its completions, see ``shared_prompts``. It is for prompts that are as
            long as completions. It keeps the keys of prompts, so it excludes ``gradient_checkpointing``.

    Raises:
        ValueError: a setting of TRL under which its loss is not that of the method; the message says why.
    """

    method: str = "proof_r1"
    preset: str = "paper"
    rules: str = "train"
    kl_weight: float = 0.001
    verification_workers: int = 1
    verification_timeout: float = 60.0
    curriculum: int = 0
    share_prompts: bool = False

    loss_type: str = "dr_grpo"
    num_iterations: int = 2
    epsilon: float = 0.2
    epsilon_high: float | None = 0.28
    delta: float | None = 3.0
    beta: float | None = None
    use_bias_correction_kl: bool = False
    vllm_importance_sampling_correction: bool = False
    max_completion_length: int | None = 2048

    def __post_init__(self) -> None:
        length = self.max_completion_length or 0
        if self.beta is None:
            self.beta = self.kl_weight * length
        super().__post_init__()
        for name, value, why in (
            ("loss_type", "dr_grpo", "it alone divides by a constant, so that the credit of a token keeps its scale"),
            ("beta", self.kl_weight * length, "it is kl_weight · max_completion_length; set kl_weight"),
            ("use_bias_correction_kl", False, "the correction multiplies the KL by the ratio, another gradient"),
            ("importance_sampling_level", "token", "credit belongs to tokens, and so does the ratio"),
            ("steps_per_generation", self.gradient_accumulation_steps, "N_B is that of the whole generation batch"),
            ("mask_truncated_completions", False, "what a truncated completion proved has its credit"),
            ("top_entropy_quantile", 1.0, "every token with credit counts"),
            ("off_policy_mask_threshold", None, "every token with credit counts"),
            ("use_liger_kernel", False, "its loss takes one advantage for a completion"),
        ):
            if (found := getattr(self, name)) != value:
                raise ValueError(f"{name} must be {value!r} and is {found!r}: {why}")
        if self.curriculum and self.method in METHODS and needs_corrections(METHODS[self.method]):
            raise ValueError(f"curriculum: {self.method} starts from the model's own steps; set 0 or another method")
        if self.share_prompts and self.gradient_checkpointing:
            raise ValueError("share_prompts needs gradient_checkpointing: false, which drops the keys that are shared")
        if stops := {"stop", "stop_strings"} & (self.generation_kwargs or {}).keys():
            raise ValueError(
                f"generation_kwargs has {min(stops)!r}: completions must end with the end of text, or padding would "
                "count as tokens of theirs"
            )

    def check_names(self) -> None:
        """Check the names that need no tokenizer.

        Raises:
            ProofR1Error: the method, the preset or the catalogue is unknown.
        """
        rollout_method(self.method, self.preset)
        catalogue(self.rules)

    def assigner(self, tokenizer: Any) -> CreditAssigner:
        """The credit of this configuration.

        Raises:
            ProofR1Error: the method, the preset or the catalogue is unknown, or the tokenizer is not a fast one.
        """
        return CreditAssigner(
            tokenizer,
            method=self.method,
            preset=self.preset,  # type: ignore[arg-type]  # TRL's parser takes no Literal; the assigner checks it
            rules=self.rules,  # type: ignore[arg-type]
            workers=self.verification_workers,
            timeout=self.verification_timeout,
            max_tokens=self.max_completion_length,
            replaces_rows=True,
        )


class ProofTrainer(GRPOTrainer):
    """Trains with credit per action.

    Args:
        model: a model, or its folder.
        args: the configuration.
        train_dataset, eval_dataset: data sets with the columns ``prompt`` and ``problem``.
        options: of ``GRPOTrainer``: ``processing_class``, ``peft_config``, ``callbacks`` … An ``environment_factory``
            makes :class:`~proof_r1_formal.integrations.environments.ProofEnvironment`; each step then has its credit
            on the tokens of the turn that submits it.

    Raises:
        ProofR1Error: the method, the preset or the catalogue is unknown, the tokenizer is not a fast one, or a row has
            no problem; the environment is not ours, or has other rules; or the configuration starts from given steps.
    """

    _buffered_inputs: Any

    def __init__(
        self, model: Any, *, args: ProofConfig, train_dataset: Any, eval_dataset: Any = None, **options: Any
    ) -> None:
        if "reward_funcs" in options:
            raise ProofR1Error("reward_funcs: the verifier's credit takes their place; log other rewards by a callback")
        super().__init__(
            model, self._verify, args=args, train_dataset=train_dataset, eval_dataset=eval_dataset, **options
        )
        if args.share_prompts and self.accelerator.num_processes > 1:
            raise ProofR1Error(
                "share_prompts is for one process: each prompt is a second pass, which DDP does not allow"
            )
        self.assigner = args.assigner(self.processing_class)
        if self.tools:
            self._check_environments(args)
        self._asked: list[Problem] = []
        self._openings: list[str] = []
        self._rollouts: list[Rollout] = []
        self._credit: BatchCredit
        self._noted: list[Mapping[str, float]] = []
        self._evaluated: dict[str, Problem] = {}
        self._reports: list[TraceReport] = []

    def _check_environments(self, args: ProofConfig) -> None:
        """Refuse what has no credit per step."""
        made = [one for some in getattr(self, "_environment_pool", {}).values() for one in some]
        if not made or not all(isinstance(one, ProofEnvironment) for one in made):
            raise ProofR1Error("credit belongs to steps of a proof: give an environment_factory of ProofEnvironment")
        if other := next((one.rules for one in made if one.rules != args.rules), None):
            raise ProofR1Error(f"the environment has the rules {other!r} and the configuration {args.rules!r}")
        if args.curriculum or self.assigner.corrects:
            raise ProofR1Error("an environment starts from the first step: set curriculum 0 and another method")

    # -- a batch ------------------------------------------------------------------------------------------------------

    def _verify(self, **columns: Any) -> list[float]:
        """The reward function that TRL calls for the rows of this process; what it returns is only logged."""
        columns["log_extra"]("signals", [[s.signal for s in one.report.actions] for one in self._rollouts])
        return [float(one.report.answer_correct is True) for one in self._rollouts]

    _verify.__name__ = "right"  # the name in TRL's logs

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        nothing = [row for row in inputs if not row.get("problem") or row.get("data_source") not in (None, DATA_SOURCE)]
        if nothing:
            raise ProofR1Error("a row has no problem in its column `problem`; give rows of other tasks another trainer")
        self._asked = [problem_of(row["problem"]) for row in inputs]
        self._openings = [self._opening(problem) for problem in self._asked]
        inputs = [_opened(row, text) for row, text in zip(inputs, self._openings, strict=True)]
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        if self.model.training:
            output["advantages"] = self._advantages(output["completion_ids"])
        return output

    def _generate(self, prompts: list[Any]) -> Any:
        """TRL's sampling, after which completions are verified, and rows replaced where the method has corrections.

        TRL computes log-probabilities after this, so they are those of the rows that it trains on. Lengths that it logs
        are those of the completions that were sampled.
        """
        prompt_ids, completion_ids, tool_mask, completions, logps, *others = super()._generate(prompts)
        if tool_mask is None:
            self._rollouts = self.assigner.verify(
                self._asked, completion_ids, openings=self._openings, correct=self.model.training
            )
        elif not self.environments:
            raise ProofR1Error(
                "a completion has tokens of tools or of an environment; only the model's own have credit"
            )
        else:  # the model submitted steps to environments, which have verified them
            played = zip(self.environments, tool_mask, completions, strict=True)
            self._rollouts = [
                self.assigner.turns(one.report, align_turns(mask, messages, one.replies), mask)
                for one, mask, messages in played
            ]
        everyone: list[Rollout] = gather_object(self._rollouts)  # a group may span processes
        if self.model.training:
            credit = self._credit = self.assigner.assign(everyone, self.num_generations)
            self._noted.append({**credit.metrics, "broken": credit.broken})
            mine = credit.replaced[self._first_row :][: len(completion_ids)]
            completion_ids = [list(new or old) for new, old in zip(mine, completion_ids, strict=True)]
            logps = None if any(mine) else logps  # they are for vLLM's correction, which is off
        else:
            self._evaluated |= {one.id: one for one in self._asked}
            self._reports += [one.report for one in everyone]
        return prompt_ids, completion_ids, tool_mask, completions, logps, *others

    def _opening(self, problem: Problem) -> str:
        """The first steps of a reference proof, as many as the curriculum gives at this update."""
        if not (self.args.curriculum and self.model.training and problem.proofs):
            return ""
        proof = problem.proofs[0]
        asked = 1 + len(proof) * self.state.global_step // self.args.curriculum
        return opening(proof, max(0, len(proof) - asked))

    @property
    def _first_row(self) -> int:
        """The place in the whole batch of the first row of this process."""
        return int(self.accelerator.process_index) * len(self._asked)

    def _advantages(self, ids: torch.Tensor) -> torch.Tensor:
        """The advantages of this process's completions, shape (rows, tokens).

        TRL divides the sum over tokens by B · L, for B completions of at most L tokens; the method divides it by N_B.
        """
        credit = self._credit
        scale = len(credit.advantages) * self.max_completion_length / credit.divisor
        advantages = torch.zeros(ids.shape, dtype=torch.float32, device=ids.device)
        for row, earned in enumerate(credit.advantages[self._first_row :][: len(ids)]):
            advantages[row, : len(earned)] = torch.tensor(earned, device=ids.device) * scale
        return advantages

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        before = self._buffered_inputs
        inputs = super()._prepare_inputs(generation_batch)
        if not self.args.share_prompts or self._buffered_inputs is before:
            return inputs
        self._buffered_inputs = regroup(self._buffered_inputs)
        return self._buffered_inputs[self._step % self.args.steps_per_generation]

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        **options: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        if not self.args.share_prompts:
            passed_on = (model, input_ids, attention_mask, logits_to_keep, batch_size)
            return super()._get_per_token_logps_and_entropies(*passed_on, **options)  # type: ignore[no-any-return]
        given = {name for name, value in options.items() if value is not None and value is not False}
        if used := sorted(given - {"compute_entropy"}):
            raise ProofR1Error(f"share_prompts is for plain text models, and TRL asks for {used[0]}")
        size = batch_size or len(input_ids)
        with self.accelerator.autocast():
            parts = [
                log_probs(model, ids, mask, logits_to_keep)
                for ids, mask in zip(input_ids.split(size), attention_mask.split(size), strict=True)
            ]
        entropies = [entropy for _, entropy in parts if entropy is not None]
        return torch.cat([logps for logps, _ in parts]), torch.cat(entropies) if entropies else None, None

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """TRL's log, with the means of the batches since the last entry: ``proof/signal``, ``proof/FVR`` …"""
        noted, self._noted = self._noted, []
        names = dict.fromkeys(chain.from_iterable(noted))  # a mean of nothing is absent from its batch
        means = {f"proof/{name}": fmean([one[name] for one in noted if name in one]) for name in names}
        super().log(logs | means, start_time)

    def train(self, *args: Any, **options: Any) -> Any:
        """TRL's training; the processes that verify end with it."""
        with self.assigner:
            return super().train(*args, **options)

    # -- evaluation ---------------------------------------------------------------------------------------------------

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: list[str] | None = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """TRL's evaluation, with Avg@K, Pass@K, FVR, RVR and verified answers of all completions together."""
        self._evaluated, self._reports = {}, []
        found: dict[str, float] = super().evaluate(eval_dataset, ignore_keys, metric_key_prefix)
        if isinstance(eval_dataset or self.eval_dataset, dict):  # TRL has called this method for each of them
            return found
        problems = {name: one for part in gather_object([self._evaluated]) for name, one in part.items()}
        own = evaluation_scores(problems, self._reports[: self._evaluation_size()], prefix=metric_key_prefix)
        self.log(own)
        return found | own

    def _evaluation_size(self) -> int | None:
        """The number of completions that were asked for; None if one process evaluates.

        Several processes repeat the first rows where the last batches are not full; the gathered rows are in the order
        of the data set, so the repeated ones are at the end. ``Accelerator.gather_for_metrics`` drops as many as the
        *data set* does not fill, which is another number where each row has several completions.
        """
        if self.accelerator.num_processes == 1:
            return None
        rows = self.callback_handler.eval_dataloader.dataset
        if not hasattr(rows, "__len__"):
            raise ProofR1Error("an evaluation in several processes needs a data set with a length, or rows count twice")
        return int(len(rows) * self.num_generations_eval)

    # -- checkpoints --------------------------------------------------------------------------------------------------

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        folder = Path(self._get_output_dir(trial=trial)) / f"checkpoint-{self.state.global_step}"
        if self.state.global_step % self.num_iterations:  # its credit is given, and counts in the averages
            batch = {"step": self._step, "inputs": self._buffered_inputs}
            torch.save(batch, folder / BATCH.format(self.accelerator.process_index))
        if self.args.should_save:
            save_averages(folder, self.assigner)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is None:
            return
        load_averages(Path(checkpoint), self.assigner)
        if not self.state.global_step % self.num_iterations:
            return
        path = Path(checkpoint) / BATCH.format(self.accelerator.process_index)
        try:
            batch = torch.load(path, map_location=self.accelerator.device, weights_only=True)
        except (OSError, RuntimeError, ValueError, UnpicklingError) as error:
            why = f"step {self.state.global_step} is inside the {self.num_iterations} passes over a batch"
            advice = "delete this checkpoint to resume from an earlier one"
            raise ProofR1Error(f"{path}: {why}, and the batch cannot be read ({error}); {advice}") from error
        self._step, self._buffered_inputs = batch["step"], batch["inputs"]


def _opened(row: dict[str, Any], opening: str) -> dict[str, Any]:
    """The row, with the opening after its prompt."""
    if not opening:
        return row
    if not isinstance(row["prompt"], str):
        raise ProofR1Error("curriculum continues prompts that are texts; use prompt: question or prompt: short")
    return row | {"prompt": row["prompt"] + opening}
