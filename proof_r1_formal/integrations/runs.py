"""The needs of each training run, whichever library trains: problems as rows, scores, averages, a folder for itself."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias, cast, get_args

import msgspec

from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.data.sources import open_to_read
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.integrations.datasets import PromptName, demonstrations_dataset, problems_dataset
from proof_r1_formal.integrations.evaluations import require_one_of
from proof_r1_formal.outputs import STANDARD_STREAM, check_folder, open_alone
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.rules.catalogue import RuleSystem

Rows: TypeAlias = tuple[Any, tuple[str, ...]]
"""A data set, and lines on what was left out of it and on lengths."""


@dataclass
class DataArguments:
    """The data of a run.

    Attributes:
        problems, evaluation: files of problems to learn from, and to evaluate on.
        prompt: ``full``, ``paper``, ``question`` or ``short``; see ``integrations.datasets``.
        max_prompt_tokens: problems with a longer prompt are left out; all are used if None.
        strict: a problem that cannot be used is an error.
    """

    problems: list[str]
    evaluation: list[str] = field(default_factory=list)
    prompt: str = "full"
    max_prompt_tokens: int | None = None
    strict: bool = False


# -- data -------------------------------------------------------------------------------------------------------------


def check_data(arguments: DataArguments) -> None:
    """Check, before any work, what the data of a run can be refused for without reading them.

    Raises:
        ProofR1Error: the prompt is unknown, or a file cannot be opened. Pipes are not, as they can be read only once.
    """
    _prompt(arguments)
    for file in map(Path, (*arguments.problems, *arguments.evaluation)):
        if file.is_file() or file.is_dir() or not (file.exists() or file == STANDARD_STREAM):
            open_to_read(file).close()


def task_rows(files: Iterable[str], arguments: DataArguments, *, rules: str, tokenizer: Any) -> Rows:
    """The problems that the method can learn from, and lines on what was left out and on lengths.

    ``rules`` is the name of the catalogue in the prompt.

    Raises:
        ProofR1Error: a file cannot be read, no problem is left, or, if ``strict``, a problem cannot be used.
    """
    left_out: Counter[str] = Counter()
    kept = []
    for problem in _read(files, arguments.strict, left_out):
        if problem.option(problem.answer) is None:
            left_out["without an answer"] += 1
        elif problem.is_uncertain:
            left_out["the answer is Uncertain"] += 1
        else:
            kept.append(problem)
    rows = problems_dataset(kept, rules=cast(RuleSystem, rules), prompt=_prompt(arguments)) if kept else []
    return _fitting("problems", rows, tokenizer, arguments, left_out)


def demonstration_rows(
    files: Iterable[str], arguments: DataArguments, *, rules: str, tokenizer: Any, max_tokens: int | None = None
) -> Rows:
    """The reference proofs of the problems, and lines on what was left out and on lengths.

    Args:
        files, arguments, rules, tokenizer: as for :func:`task_rows`.
        max_tokens: a longer prompt and proof are left out together: a trainer would cut the end of the proof.

    Raises:
        ProofR1Error: as :func:`task_rows`.
    """
    left_out: Counter[str] = Counter()
    problems = list(_read(files, arguments.strict, left_out))
    left_out["without a reference proof"] += sum([not problem.proofs for problem in problems])
    rows = demonstrations_dataset(problems, rules=cast(RuleSystem, rules), prompt=_prompt(arguments))
    if max_tokens is not None and rows:
        fitting = [place for place, row in enumerate(rows) if _whole_length(tokenizer, row) <= max_tokens]
        left_out[f"prompt and proof are longer than max_length, {max_tokens} tokens"] += len(rows) - len(fitting)
        rows = rows.select(fitting)
    return _fitting("demonstrations", rows, tokenizer, arguments, left_out)


def _read(files: Iterable[str], strict: bool, left_out: Counter[str]) -> Iterator[Problem]:
    """The problems of all files; what cannot be read is counted.

    Raises:
        ProofR1Error: an id is in two files, a file cannot be read, or, if strict, one of its problems.
    """
    known: set[str] = set()
    for file in files:
        found = read_problems(file)
        if found.rejected and strict:
            advice = f"{file}: a problem cannot be used, and strict is set"
            raise ProofR1Error("\n".join([*found.left_out(file), advice]))
        left_out[f"cannot be read ({file})"] += len(found.rejected)
        if twice := known & found.keys():
            raise ProofR1Error(f"{file}: problem {min(twice)!r} is in another file, too")
        known |= found.keys()
        yield from found.values()


def _fitting(what: str, rows: Any, tokenizer: Any, arguments: DataArguments, left_out: Counter[str]) -> Rows:
    lengths = [_length(tokenizer, row["prompt"]) for row in rows]
    limit = arguments.max_prompt_tokens
    fitting = [number for number, length in enumerate(lengths) if limit is None or length <= limit]
    left_out[f"the prompt is longer than {limit} tokens"] += len(lengths) - len(fitting)
    reasons = [f"{count} left out: {reason}" for reason, count in left_out.items() if count]
    if not fitting:
        raise ProofR1Error("\n".join([f"there are no {what} to learn from", *reasons]))
    used = [lengths[number] for number in fitting]
    size = f"prompts of {fmean(used):.0f} tokens on average, at most {max(used)}"
    return rows.select(fitting), (f"{len(fitting)} {what}; {size}", *reasons)


def _prompt(arguments: DataArguments) -> PromptName:
    require_one_of(get_args(PromptName), prompt=arguments.prompt)
    return cast("PromptName", arguments.prompt)


def _length(tokenizer: Any, prompt: Any) -> int:
    if isinstance(prompt, str):
        return len(tokenizer(prompt)["input_ids"])
    if tokenizer.chat_template is None:
        raise ProofR1Error("the tokenizer has no chat template: use prompt: question or prompt: short")
    return len(tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=False))


def _whole_length(tokenizer: Any, row: Any) -> int:
    """The tokens of a demonstration with the one that ends it."""
    if isinstance(row["prompt"], str):
        return len(tokenizer(row["prompt"] + row["completion"])["input_ids"]) + 1
    return len(tokenizer.apply_chat_template([*row["prompt"], *row["completion"]], return_dict=False))


def load_tokenizer(model: str) -> Any:
    """The tokenizer in the folder of a model.

    Raises:
        ProofR1Error: it cannot be loaded.
    """
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(model)
    except (OSError, ValueError) as error:
        raise ProofR1Error(f"{model}: no tokenizer can be loaded: {error}") from error


# -- scores -----------------------------------------------------------------------------------------------------------

SCORES = (Measure.AVG, Measure.PASS, Measure.FVR, Measure.RVR, Measure.VERIFIED, Measure.RULE_VERIFIED)
"""The scores that an evaluation during training reports, as ``eval_avg``, ``eval_pass`` …"""


def evaluation_scores(
    problems: Mapping[str, Problem], reports: Iterable[TraceReport], *, prefix: str = "eval"
) -> dict[str, float]:
    """The scores of an evaluation by the names of a trainer's log, which have the prefix.

    The samples of the reports are numbered here, problem by problem. A score for which nothing was counted is absent.
    """
    samples: Counter[str] = Counter()
    numbered = []
    for report in reports:
        numbered.append(msgspec.structs.replace(report, sample=samples[report.problem_id]))
        samples[report.problem_id] += 1
    if not numbered:
        return {}  # a problem without a completion would count as answered wrongly
    scores = evaluate_metrics(problems, numbered).overall.scores
    return {f"{prefix}_{of.name.lower()}": scores[of].value for of in SCORES if scores[of].is_defined}


# -- checkpoints ------------------------------------------------------------------------------------------------------

_AVERAGES = "proof_r1.json"
"""The file of a checkpoint with the averages of the rules."""


def save_averages(checkpoint: Path, assigner: CreditAssigner) -> None:
    """Write the averages of the rules into the folder of a checkpoint."""
    (checkpoint / _AVERAGES).write_text(json.dumps(assigner.state_dict()), encoding="utf-8")


def load_averages(checkpoint: Path, assigner: CreditAssigner) -> None:
    """Give an assigner the averages of a checkpoint.

    Raises:
        ProofR1Error: they are not there, cannot be read, or are those of another catalogue; it says what to do.
    """
    path = checkpoint / _AVERAGES
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(state, dict):
            raise ValueError("it must be an object")
    except (OSError, ValueError) as error:
        advice = "delete this checkpoint to resume from an earlier one"
        raise ProofR1Error(f"{path}: the averages of the rules cannot be read ({error}); {advice}") from error
    assigner.load_state_dict(state)


# -- the folder -------------------------------------------------------------------------------------------------------


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Refuse a second run in the folder of a run; processes of one run (``RANK``) take the lock once."""
    if os.environ.get("RANK", "0") != "0":
        yield
        return
    check_folder(folder)
    with open_alone(folder / "run.lock"):
        yield
