"""Measures what the grammar of answers costs per token: ``python -m studies.bench.masks [--tokenizer FOLDER] [FILE…]``.

Without a folder, the tokenizer is a byte-level BPE, trained here on the source text of Python's standard library. The
problems are those of the files, or the examples. Two kinds of text are followed token by token: reference proofs, and
texts that the masks allow, drawn at random. The table has the processor time of each part, of one thread, in
microseconds.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from llguidance import LLTokenizer
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from proof_r1_formal import Problem, Verifier, VerifierSession, parse_formula, read_problems
from proof_r1_formal.decoding.grammar import completion_grammar
from proof_r1_formal.decoding.masks import Mask, mask_tokens
from proof_r1_formal.decoding.sampler import draw
from proof_r1_formal.generate import summary
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.text.show import show
from studies.bench.verification import machine

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "problems.jsonl"
LONGEST = 2000
"""Tokens of a text that is drawn at random, at most."""
PARTS = ("mask", "advance", "draw without a mask", "draw with a mask", "verify a step")
_T = TypeVar("_T")


@dataclass(slots=True)
class Times:
    """The processor times of each part, in seconds."""

    of: dict[str, list[float]] = field(default_factory=lambda: {part: [] for part in PARTS})

    def measure(self, part: str, work: Callable[[], _T]) -> _T:
        """The result of work; its time is noted."""
        start = time.thread_time()
        found = work()
        self.of[part].append(time.thread_time() - start)
        return found


def tokenizer_of(size: int) -> LLTokenizer:
    """A tokenizer of ``size`` tokens."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    files += sorted(Path(sysconfig.get_path("stdlib")).glob("*/*.py"))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # words divided as in GPT-2
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<|end|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator((path.read_text(encoding="utf-8", errors="replace") for path in files), trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>")
    if len(made) < size:
        raise SystemExit(f"only {len(made)} tokens could be made; ask for fewer")
    return mask_tokens(made, size)


def masked_draw(logits: NDArray[np.float32], allowed: NDArray[np.bool_], chance: float) -> int:
    """A token that is allowed."""
    return draw(np.where(allowed, logits, -np.inf), chance, 1.0, 1.0)


def follow(mask: Mask, tokens: LLTokenizer, times: Times, seed: int, ids: Sequence[int] | None) -> None:
    """Follow a text, or draw one from the masks if there is none."""
    random, size = np.random.default_rng(seed), tokens.vocab_size
    for place in range(LONGEST if ids is None else len(ids)):
        allowed = times.measure("mask", partial(mask.allowed, size))
        logits, chance = random.standard_normal(size, dtype=np.float32), random.random()
        times.measure("draw without a mask", partial(draw, logits, chance, 1.0, 1.0))
        drawn = times.measure("draw with a mask", partial(masked_draw, logits, allowed, chance))
        token = drawn if ids is None else ids[place]
        assert allowed[token], "a mask forbids a token of a reference proof"
        times.measure("advance", partial(mask.add, token))
        if mask.complete:
            return


def proofs(problem: Problem) -> Iterator[str]:
    """The reference proofs as the grammar spells them."""
    for proof in problem.proofs:
        yield summary(tuple(replace(step, conclusion=show(parse_formula(step.conclusion))) for step in proof))


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m studies.bench.masks", description="Measure what a grammar costs.")
    parser.add_argument("problems", type=Path, nargs="*", default=[EXAMPLES], help="files of problems")
    parser.add_argument("--tokenizer", type=Path, help="folder of a tokenizer, in place of one that is trained here")
    parser.add_argument("--vocabulary", type=int, default=32768, help="tokens of the one trained here (default 32768)")
    parser.add_argument("--limit", type=int, default=50, help="problems of each file, at most (default 50)")
    given = parser.parse_args()
    if given.tokenizer:
        tokenizer = AutoTokenizer.from_pretrained(given.tokenizer)
        tokens = mask_tokens(tokenizer, len(tokenizer))
    else:
        tokens = tokenizer_of(given.vocabulary)
    known = [one for path in given.problems for one in list(read_problems(path).values())[: given.limit]]
    verifier = Verifier(rules=FOLIO, evaluation=False)
    kinds = {"reference proofs": Times(), "random texts": Times()}
    compiled: list[float] = []
    for number, problem in enumerate(known):
        start = time.thread_time()
        grammar = completion_grammar(problem, FOLIO).to_llguidance()
        Mask(tokens, grammar)
        compiled.append(time.thread_time() - start)
        follow(Mask(tokens, grammar), tokens, kinds["random texts"], number, None)
        for text in proofs(problem):
            follow(Mask(tokens, grammar), tokens, kinds["reference proofs"], number, tokens.tokenize_str(text))
            session = VerifierSession(problem, verifier)
            for action in read_completion(text).actions:
                kinds["reference proofs"].measure("verify a step", partial(session.push, action))
    lines = [f"{machine()}", f"{tokens.vocab_size} tokens, {len(known)} problems", ""]
    lines += ["| texts | part | times | mean | median | 99 % |", "|:--|:--|--:|--:|--:|--:|"]
    for kind, times in kinds.items():
        for part, seconds in times.of.items():
            if not seconds:
                continue
            shown = [
                f"{1e6 * value:.1f}" for value in (np.mean(seconds), np.median(seconds), np.quantile(seconds, 0.99))
            ]
            lines.append(f"| {kind} | {part} | {len(seconds)} | {' | '.join(shown)} |")
    lines.append(
        f"a grammar is written and compiled in {1e3 * np.mean(compiled):.1f} ms, {1e3 * max(compiled):.1f} at most"
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
