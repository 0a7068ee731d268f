"""Exercises: a small model learns to look things up in the prompt before it learns to prove.

In: a model, and problems. Out: a model that repeats lines by their ids, and says what follows from a premise and a
literal (the lesson ``reading``), or that finds the id of a formula (``options``). A proof asks for each of these once
or twice; an exercise asks for up to fourteen. Without exercises, models of this size wrote proofs of random predicates
after 3,500 updates.

The first updates of a lesson are on formulas of independent letters. In those of problems a letter stands at several
places, and a model that guesses among them hardly gains by looking one up.

    python -m studies.teaching.exercises FOLDER_OF_PROBLEMS FOLDER_OF_THE_MODEL FOLDER_OF_THE_RESULT LESSON [SEED]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
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
from studies.pretrained.problems import IDS
from studies.teaching.problems import PREDICATES

ROWS = 16
RATE, RISING, BETAS, NORM = 1e-3, 50, (0.9, 0.98), 1.0
LINES = 14
"""At most so many lines of lookups in an exercise about a problem."""

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


def inverses(source: Random, *, literals: bool) -> Exercise:
    """Lines ``formula: id`` in place of ``id: formula``; with ``literals``, of literals alone, twice."""
    prompt, answer = letters(source)
    lines = [line.split(": ") for line in answer.splitlines()]
    if literals:
        lines = [(name, formula) for name, formula in lines if not set(formula) & set("→∨")]
        lines += source.sample(lines, len(lines))
    return prompt, "\n".join([f"{formula}: {name}" for name, formula in lines])


def about(problem: Problem, source: Random, *, proofs: float = 0.2, bindings: float = 0.4) -> Exercise:
    """With these chances a proof or bindings, else lookups."""
    prompt = text_prompt(problem, english=False)
    kind = source.random()
    if kind < proofs:
        return prompt, summary(problem.proofs[0])
    if kind < proofs + bindings:
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


def _reading(problem: Problem, number: int, source: Random) -> Exercise:
    return letters(source) if number < 600 * ROWS else about(problem, source)


def _options(problem: Problem, number: int, source: Random) -> Exercise:
    first = number < 600 * ROWS
    if source.random() < (0.6 if first else 0.5):
        return inverses(source, literals=not first)
    return (
        about(problem, source, proofs=0.5, bindings=0.5) if first else about(problem, source, proofs=0.3, bindings=0.7)
    )


LESSONS: Mapping[str, tuple[int, Callable[[Problem, int, Random], Exercise]]] = {
    "reading": (1_400, _reading),
    "options": (1_600, _options),
}
"""Name -> number of updates, and what makes an exercise, of a problem and the number of the exercise."""


def practise(problems: Path, model: Path, folder: Path, lesson: str, seed: int) -> None:
    """Learn from the exercises of a lesson, and write the model."""
    policy = AutoModelForCausalLM.from_pretrained(model)
    tokenizer = AutoTokenizer.from_pretrained(model)
    optimiser = torch.optim.AdamW(policy.parameters(), lr=RATE, betas=BETAS, weight_decay=0.0)
    updates, make = LESSONS[lesson]
    source = Random(f"exercises {lesson} {seed}")
    rows = list(read_problems(problems / "warm-up.jsonl").values())
    source.shuffle(rows)
    given = (make(problem, number, source) for number, problem in enumerate(cycle(rows)))
    for update in range(1, updates + 1):
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
        if update % 100 == 0:
            print(f"{lesson}, update {update:,}: {loss.item():.3f} nats a token", flush=True)  # noqa: T201
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
    if len(sys.argv) not in (5, 6) or sys.argv[4] not in LESSONS:
        raise SystemExit(f"usage: {__doc__.strip().splitlines()[-1].strip()}; a lesson is one of {', '.join(LESSONS)}")
    torch.set_num_threads(1)
    problems, model, folder = map(Path, sys.argv[1:4])
    practise(problems, model, folder, sys.argv[4], int(sys.argv[5]) if len(sys.argv) == 6 else 1)
