"""Sample answers of a model and score them: what the study records of a model on a file of problems.

In: the folder of a model, and a file of problems. Out: a :class:`Record`, with a number per answer in each column, so
that tests and tables are computed from records alone. Answers are scored with the rules of training and, again, with
a larger catalogue that requires atomic steps and that no reward knew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import torch

from proof_r1_formal import FOLIO, TRAIN, Problem, Verifier, read_problems
from proof_r1_formal.evaluation.measures import Measure, Row, Sample
from proof_r1_formal.evaluation.outcomes import output_row
from proof_r1_formal.integrations.datasets import PromptName, problems_dataset
from proof_r1_formal.proof.report import TraceReport
from studies.pretrained.graphs import Sampler
from studies.pretrained.speed import fast_bfloat16, register

SAMPLES = 4
"""Answers to each problem."""
TOKENS = 224
"""Maximum length of an answer: the longest reference proof of the files has 199 tokens."""
GREEDY = "-greedy"
"""Ends the name of a file in the records of its greedy answers."""
AT_ONCE = 150
"""Answers that are sampled together."""
STEP_RATES = (Measure.FVR, Measure.RVR)
PARTS = (Measure.AVG, Measure.VERIFIED, Measure.RULE_VERIFIED)


class Record(msgspec.Struct, frozen=True):
    """The scores of a model on a file of problems, under one catalogue of rules.

    Attributes:
        run: that made the model.
        file: of the problems; with ``GREEDY`` for greedy answers.
        rules: ``train``, or ``folio --atomic``.
        problems: ids, in the order of the answers; each has ``SAMPLES`` answers.
        columns: name -> a number for each answer, problem by problem: ``Avg`` and the other measures, the two parts of
            each rate, ``actions``, ``useless`` (without progress), ``tokens``, and ``entropy`` (mean over the tokens,
            in nats).
    """

    run: str
    file: str
    rules: str
    problems: tuple[str, ...]
    columns: Mapping[str, tuple[float, ...]]

    def rows(self, *, first: int = 0) -> dict[Sample, Row]:
        """The rows that ``evaluation.paired`` compares; samples are counted from ``first``."""
        found: dict[Sample, Row] = {}
        for place in range(len(self.problems) * SAMPLES):
            row: Row = {measure: (self.columns[measure.value][place], 1) for measure in PARTS}
            for rate in STEP_RATES:
                row[rate] = (self.columns[rate.value][place], self.columns[f"{rate.value} of"][place])
            found[self.problems[place // SAMPLES], first + place % SAMPLES] = row
        return found

    def rate(self, measure: Measure) -> float:
        """FVR or RVR over all answers; 0 without an eligible step."""
        of = sum(self.columns[f"{measure.value} of"])
        return sum(self.columns[measure.value]) / of if of else 0.0

    def mean(self, column: str) -> float:
        """The mean of a column over the answers."""
        values = self.columns[column]
        return sum(values) / len(values)


class Drawn(msgspec.Struct, frozen=True):
    """An answer, its number of tokens, and their mean entropy in nats."""

    text: str
    tokens: int
    entropy: float


# -- answers ----------------------------------------------------------------------------------------------------------


def draw(
    model: Path,
    problems: Sequence[Problem],
    *,
    seed: int = 0,
    greedy: bool = False,
    samples: int = SAMPLES,
    prompt: PromptName = "question",
    tokens: int = TOKENS,
    exact: bool = False,
) -> list[Drawn]:
    """Answers to each problem at temperature 1, or the greedy one as often; problem by problem.

    Unless ``exact``, products are in bfloat16 where the device is fast at them.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(model, padding_side="left")
    policy: Any = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, attn_implementation=register())
    policy.to(device).eval()
    copies = samples if greedy else 1
    rows = problems_dataset(problems, prompt=prompt)
    prompts = [row["prompt"] for row in rows for _ in range(samples // copies)]
    torch.manual_seed(seed)
    drawn: dict[int, Drawn] = {}
    order = iter(sorted(range(len(prompts)), key=lambda number: len(prompts[number])))
    ends = {"end": tokenizer.eos_token_id, "padding": tokenizer.pad_token_id}
    sampler = Sampler(policy, min(AT_ONCE, len(prompts)), tokens, greedy=greedy, **ends)
    on_gpu = device == "cuda"  # where a graph would not record a cast that was kept from before
    half = not exact and (on_gpu or fast_bfloat16())
    with torch.autocast(device, torch.bfloat16, enabled=half, cache_enabled=not on_gpu):
        while places := list(islice(order, AT_ONCE)):
            found = list(_sample(sampler, tokenizer, [prompts[place] for place in places]))
            drawn.update(zip(places, found, strict=True))
    return [drawn[number] for number in range(len(prompts)) for _ in range(copies)]


def _sample(sampler: Sampler, tokenizer: Any, prompts: Sequence[str]) -> Iterator[Drawn]:
    missing = sampler.rows - len(prompts)
    given = tokenizer([*prompts, *[prompts[0]] * missing], return_tensors="pt", padding=True).to(sampler.model.device)
    ids, entropies = sampler.sample(given["input_ids"], given["attention_mask"])
    for row, entropy in zip(ids[: len(prompts)], entropies, strict=False):
        ends = (row == tokenizer.eos_token_id).nonzero()
        count = int(ends[0]) + 1 if len(ends) else len(row)  # the end is a token of the answer
        yield Drawn(tokenizer.decode(row[:count], skip_special_tokens=True), count, float(entropy[:count].mean()))


# -- scores -----------------------------------------------------------------------------------------------------------


def score(run: str, file: Path, drawn: Sequence[Drawn], *, greedy: bool = False) -> list[Record]:
    """The records of answers to the problems of a file, one for each catalogue."""
    problems = list(read_problems(file).values())
    verifiers = {"train": Verifier(rules=TRAIN), "folio --atomic": Verifier(rules=FOLIO, atomic=True)}
    asked = [problem for problem in problems for _ in range(SAMPLES)]
    return [
        Record(
            run,
            f"{file.stem}{GREEDY if greedy else ''}",
            name,
            tuple([problem.id for problem in problems]),
            _columns([verifier.verify(one, answer.text) for one, answer in zip(asked, drawn, strict=True)], drawn),
        )
        for name, verifier in verifiers.items()
    ]


def _columns(reports: Sequence[TraceReport], drawn: Sequence[Drawn]) -> dict[str, tuple[float, ...]]:
    rows = [output_row(report, None, None) for report in reports]
    columns: dict[str, tuple[float, ...]] = {
        measure.value: tuple([int(row[measure][0]) for row in rows]) for measure in PARTS
    }
    for rate in STEP_RATES:
        parts = [row.get(rate, (0, 0)) for row in rows]
        columns[rate.value] = tuple([part for part, _ in parts])
        columns[f"{rate.value} of"] = tuple([of for _, of in parts])
    columns["actions"] = tuple([len(report.actions) for report in reports])
    columns["useless"] = tuple([sum(not step.progress for step in report.actions) for report in reports])
    columns["tokens"] = tuple([one.tokens for one in drawn])
    columns["entropy"] = tuple([round(one.entropy, 3) for one in drawn])
    return columns
