"""The paper's diagnostics on a model: the error of one baseline and of one per rule, and the gradients of both terms.

    python -m studies.diagnostics MODEL PROBLEMS RECORD

In: the folder of a model that was trained with ``prompt: short``, and problems. The model samples ``SAMPLES``
completions of each of ``NUMBER`` problems. The first half of them moves the averages of the rules, the second half is
measured. Out: a record with the error of both centring values for each rule, the shares of signals, and the lengths and
the scalar product of both gradients at each block. ``table`` writes the numbers that the paper states, beside its own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from proof_r1_formal import TRAIN, Problem, read_problems
from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.credit.diagnostics import Centring, centring, signal_shares, signals_by_problem, token_terms
from proof_r1_formal.evaluation.tables import Column, Style, Table, to_markdown
from proof_r1_formal.integrations.gradients import Block, blocks, gradient_summary
from proof_r1_formal.models.prompts import text_prompt

NUMBER, SAMPLES, TOKENS, SEED = 48, 8, 128, 1
FOLDS = 5
PAPER = {
    "error of one baseline": "0.24",
    "error of one per rule": "0.18",
    "blocks": "196",
    "acute between verification and sum": "196",
    "acute between closure and sum": "195",
    "acute between the terms": "",
    "length, verification / closure": "1.14",
    "angle between the terms, early layers": "96.6",
    "angle between the terms, last layer": "126.6",
}
"""What the paper states of a model of 7 billion parameters; empty where it states nothing."""


class Record(msgspec.Struct, frozen=True):
    """What was measured.

    Attributes:
        parameters: of the model.
        rollouts: how many were measured.
        shares: of signals.
        errors: of both centring values, by rule and for all rules.
        blocks: the gradients.
    """

    parameters: int
    rollouts: int
    shares: dict[str, float]
    errors: dict[str, Centring]
    blocks: list[Block]


def measure(model_folder: Path, problems: Sequence[Problem]) -> Record:
    """Sample, verify and measure."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    prompts: list[list[int]] = []
    sampled: list[list[int]] = []
    for problem in problems:
        ids = tokenizer(text_prompt(problem, english=False), add_special_tokens=False)["input_ids"]
        given = torch.tensor([ids] * SAMPLES)
        made = model.generate(
            given, attention_mask=torch.ones_like(given), do_sample=True, top_k=0, max_new_tokens=TOKENS
        )
        for row in made[:, len(ids) :].tolist():
            end = row.index(tokenizer.eos_token_id) + 1 if tokenizer.eos_token_id in row else len(row)
            sampled.append(row[:end])
            prompts.append(ids)
    asked = [problem for problem in problems for _ in range(SAMPLES)]
    half = len(problems) // 2 * SAMPLES
    with CreditAssigner(tokenizer, workers=0, max_tokens=TOKENS) as assigner:
        assigner.credit(asked[:half], sampled[:half], SAMPLES)
        rollouts = assigner.verify(asked[half:], sampled[half:])
        terms = token_terms(rollouts, SAMPLES, assigner.state_dict())
        reports = assigner.assign(rollouts, SAMPLES).reports
    found = blocks(model, prompts[half:], sampled[half:], terms)
    errors = centring(signals_by_problem(reports, TRAIN), folds=FOLDS)
    parameters = sum(one.numel() for one in model.parameters())
    return Record(parameters, len(reports), signal_shares(reports), errors, list(found))


def numbers(record: Record) -> Mapping[str, float | None]:
    """The quantities of the paper."""
    every = record.errors["all"]
    return {
        "error of one baseline": every.one,
        "error of one per rule": every.per_rule,
        **gradient_summary(record.blocks),
    }


def table(record: Record) -> Table:
    """The quantities of the paper, and those of the record."""
    found = numbers(record)
    rows = tuple([(name, published or "not stated", _shown(found[name])) for name, published in PAPER.items()])
    columns = Column("quantity", Style.TEXT), Column("published", Style.TEXT), Column("here", Style.TEXT)
    return Table("Diagnostics", columns, rows)


def _shown(value: float | None) -> str:
    if value is None:
        return "none"
    return str(value) if isinstance(value, int) else f"{value:.1f}" if value > 10 else f"{value:.2f}"


def main() -> None:
    """Measure, write the record and print the table."""
    if len(sys.argv) != 4:
        raise SystemExit("usage: python -m studies.diagnostics MODEL PROBLEMS RECORD")
    model, file, record = map(Path, sys.argv[1:])
    made = measure(model, list(islice(read_problems(file).values(), NUMBER)))
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_bytes(msgspec.json.encode(made) + b"\n")
    sys.stdout.write(f"{to_markdown(table(made))}\n")


if __name__ == "__main__":
    main()
