"""Exercises in reading: a small model learns to look things up in the prompt before it learns to prove.

In: a model of random weights, and problems. Out: a model that repeats lines by their ids, finds the id of a formula,
and says what follows from a premise and a literal. A proof asks for each of these once or twice; an exercise asks for
up to fourteen. Without exercises, models of this size wrote proofs of random predicates after 3,500 updates.

The first updates are on formulas of independent letters. In those of problems a letter stands at several places, and a
model that guesses among them hardly gains by looking one up.

    python -m studies.teaching.exercises FOLDER_OF_PROBLEMS FOLDER_OF_THE_MODEL FOLDER_OF_THE_RESULT [SEED]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM, AutoTokenizer

from proof_r1_formal import Problem, read_problems
from proof_r1_formal.data.problem import ReferenceStep
from proof_r1_formal.generate import summary
from proof_r1_formal.kernel.syntax import Formula, Implies, Or
from proof_r1_formal.kernel.transform import negate
from proof_r1_formal.models.prompts import text_prompt
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show
from studies.teaching.problems import IDS, PREDICATES

UPDATES_OF_LETTERS, UPDATES_OF_PROBLEMS = 600, 800
"""On formulas of independent letters, and then on problems."""
UPDATES = UPDATES_OF_LETTERS + UPDATES_OF_PROBLEMS
ROWS = 16
SHOWN = 100
"""Updates from one line of progress to the next."""
RATE, RISING, BETAS, NORM = 1e-3, 50, (0.9, 0.98), 1.0
LINES = 14
"""Maximum number of lookups in an exercise about a problem."""
PROOFS = 0.2
BINDINGS = 0.4
"""Shares of proofs, and of bindings, among the exercises about problems."""

REPEATED = "REITERATION"
"""The rule that bindings name. No arm learns with a catalogue that has it."""

Exercise = tuple[str, str]
"""A prompt, and what is to be written after it."""


def letters(source: Random) -> Exercise:
    """Four to six premises and the options, of independent letters; they are repeated in another order."""

    def literal() -> str:
        return f"{'¬' if source.random() < 0.4 else ''}{source.choice(PREDICATES)}(a)"

    def formula() -> str:
        return literal() if source.random() < 0.3 else f"{literal()} {source.choice('→∨')} {literal()}"

    lines = [f"h{number}: {formula()}" for number in range(1, source.choice((4, 5, 6)) + 1)]
    lines += [f"{option}: {literal()}" for option in IDS]
    return "".join([f"{line}\n" for line in lines]), "\n".join(source.sample(lines, len(lines)))


def about(problem: Problem, source: Random) -> Exercise:
    """A proof, bindings or lookups."""
    prompt = text_prompt(problem, english=False)
    kind = source.random()
    if kind < PROOFS:
        return prompt, summary(problem.proofs[0])
    if kind < PROOFS + BINDINGS:
        return prompt, summary(tuple(_bindings(problem, source)))
    return prompt, "\n".join(_lookups(problem, prompt, source))


def _bindings(problem: Problem, source: Random) -> Iterator[ReferenceStep]:
    """Each option as the conclusion of a step, and the step that answers with it, in random order."""
    for number, option in enumerate(source.sample(problem.options, len(problem.options)), 1):
        premise, formula = source.choice(problem.premises), show(option.formula)
        yield ReferenceStep(f"s{number}", (premise.id,), formula, REPEATED)
        yield ReferenceStep(option.id, (f"s{number}",), formula, GOAL_BINDING)


def _lookups(problem: Problem, prompt: str, source: Random) -> list[str]:
    """Lines ``id: formula``, ``option: id``, and ``id literal: literal`` for what follows."""
    lines = [*prompt.splitlines(), *[f"{show(option.formula)}: {option.id}" for option in problem.options]]
    for premise in problem.premises:
        lines += [f"{premise.id} {show(given)}: {show(follows)}" for given, follows in _inferences(premise.formula)]
    return source.sample(lines, min(LINES, len(lines)))


def _inferences(formula: Formula) -> Iterator[tuple[Formula, Formula]]:
    """What is given beside an implication or a disjunction, and what then follows."""
    match formula:
        case Implies(left, right):
            yield from ((left, right), (negate(right), negate(left)))
        case Or(left, right):
            yield from ((negate(left), right), (negate(right), left))


def exercises(problems: list[Problem], source: Random) -> Iterator[Exercise]:
    """All exercises, in order."""
    for _ in range(UPDATES_OF_LETTERS * ROWS):
        yield letters(source)
    for _, problem in zip(range(UPDATES_OF_PROBLEMS * ROWS), cycle(problems), strict=False):
        yield about(problem, source)


def practise(problems: Path, model: Path, folder: Path, seed: int) -> None:
    """Learn from the exercises, and write the model."""
    policy = AutoModelForCausalLM.from_pretrained(model)
    tokenizer = AutoTokenizer.from_pretrained(model)
    optimiser = torch.optim.AdamW(policy.parameters(), lr=RATE, betas=BETAS, weight_decay=0.0)
    source = Random(f"exercises {seed}")
    rows = list(read_problems(problems / "warm-up.jsonl").values())
    source.shuffle(rows)
    given = exercises(rows, source)
    for update in range(1, UPDATES + 1):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, update / RISING)
        tokens, labels = batch([next(given) for _ in range(ROWS)], tokenizer)
        hidden = policy.model(tokens).last_hidden_state[:, :-1]
        learned = labels[:, 1:] >= 0
        loss = cross_entropy(policy.lm_head(hidden[learned]), labels[:, 1:][learned])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), NORM)
        optimiser.step()
        optimiser.zero_grad()
        if update % SHOWN == 0:
            sys.stdout.write(f"exercises, update {update:,} of {UPDATES:,}: {loss.item():.3f} nats a token\n")
            sys.stdout.flush()
    policy.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def batch(rows: list[Exercise], tokenizer: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens, and labels: the tokens to be written, −1 elsewhere. Both have shape (rows, tokens)."""
    pairs = [(tokenizer(a)["input_ids"], [*tokenizer(b)["input_ids"], tokenizer.eos_token_id]) for a, b in rows]
    size = (len(rows), max([len(prompt) + len(answer) for prompt, answer in pairs]))
    tokens, labels = torch.full(size, tokenizer.pad_token_id), torch.full(size, -1)
    for row, (prompt, answer) in enumerate(pairs):
        end = len(prompt) + len(answer)
        tokens[row, :end] = torch.tensor([*prompt, *answer])
        labels[row, len(prompt) : end] = torch.tensor(answer)
    return tokens, labels


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        raise SystemExit(f"usage: {__doc__.strip().splitlines()[-1].strip()}")
    torch.set_num_threads(1)
    problems, model, folder = map(Path, sys.argv[1:4])
    practise(problems, model, folder, int(sys.argv[4]) if len(sys.argv) == 5 else 1)
