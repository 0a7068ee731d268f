"""A model of a few thousand weights that has learned some problems of one step by heart, for studies of models."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from proof_r1_formal import Problem, read_problems, write_problems
from proof_r1_formal.generate import GeneratorSettings, generate_problems, summary
from proof_r1_formal.models.prompts import text_prompt
from tests.build import save, teach, tiny_model


def write_small(folder: Path, number: int, *, steps: int) -> tuple[Path, Path]:
    """The folder of the model, and the file of its problems."""
    settings = GeneratorSettings(seed=3, steps=(1, 1), distractors=(0, 0), answers=("True",))
    problems: list[Problem] = [one.problem for one in islice(generate_problems(settings), number)]
    file = folder / "problems.jsonl"
    write_problems(file, problems)
    pairs = [(text_prompt(one, english=False), summary(one.proofs[0])) for one in read_problems(file).values()]
    texts = [text for pair in pairs for text in pair]
    model, tokenizer = tiny_model(folder / "model", texts, vocabulary=600, width=32, hidden=64, family="Llama")
    if steps:
        teach(model, tokenizer, pairs, steps=steps, rate=1e-2, size=4)
    save(model, tokenizer, folder / "model")
    return folder / "model", file
