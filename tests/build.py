"""Builders that tests of all rooms share: queries, problems, completions, reports, the examples, and models.

A builder has a default for all that does not matter to most tests. What matters to a test stands in the test.
``tests/solvers.py`` has solvers, ``tests/finite.py`` finite structures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hypothesis import strategies as st

from proof_r1_formal import FIELDS
from proof_r1_formal.credit.pieces import BYTE_LEVEL
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion, read_completions
from proof_r1_formal.data.problem import Option, Premise, Problem, ProblemSet, three_way_options
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.syntax import BOTTOM, And, App, Connective, Formula, Iff, Implies, Not, Or, Xor, atom, const
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
PROBLEMS, COMPLETIONS = EXAMPLES / "problems.jsonl", EXAMPLES / "completions.jsonl"
"""The files of the examples."""
INPUTS = ("--problems", str(PROBLEMS), "--completions", str(COMPLETIONS))
"""The options of a command that reads them."""
CONNECTIVES: tuple[type[Connective], ...] = (And, Or, Xor, Implies, Iff)
END = "<|end|>"
"""The end of a text for the tokenizers of words."""

# -- formulas and queries ---------------------------------------------------------------------------------------------


def sequent(*texts: str) -> Query:
    """``sequent("p; q ⊢ r")`` or ``sequent("p", "q", "r")``: whether the formulas before the last entail it."""
    if len(texts) == 1 and "⊢" in texts[0]:
        left, right = texts[0].split("⊢")
        texts = (*[part for part in left.split(";") if part.strip()], right)
    *dependencies, conclusion = map(parse_formula, texts)
    return Query(tuple(dependencies), conclusion)


def shown(query: Query) -> str:
    """The name of a test."""
    return f"{', '.join(map(show, query.dependencies))} ⊨ {show(query.conclusion)}"


def nested(step: Callable[[Formula], Formula], formula: Formula, times: int) -> Formula:
    """The formula after the step was taken on it that many times."""
    for _ in range(times):
        formula = step(formula)
    return formula


def nested_terms(depth: int) -> Formula:
    """An atom of that depth, with a function in a function in a function …"""
    term = const("a")
    for _ in range(depth - 2):
        term = App("f", (term,))
    return atom("p", term)


def compound(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    """Negations and binary formulas of the formulas."""
    binary = st.tuples(st.sampled_from(CONNECTIVES), inner, inner)
    return inner.map(Not) | binary.map(lambda drawn: drawn[0](drawn[1], drawn[2]))


def pigeons(count: int, holes: int) -> Query:
    """Each pigeon is in a hole, and no hole has two: ⊥ follows if there are more pigeons than holes."""
    somewhere = [" ∨ ".join(f"in(p{i}, h{j})" for j in range(holes)) for i in range(count)]
    alone = [f"¬(in(p{i}, h{j}) ∧ in(p{k}, h{j}))" for j in range(holes) for i, k in combinations(range(count), 2)]
    return Query(tuple(map(parse_formula, (*somewhere, *alone))), BOTTOM)


INFINITE = sequent("∀x ∃y r(x, y); ∀x ¬r(x, x); ∀x ∀y ∀z (r(x, y) ∧ r(y, z) → r(x, z)) ⊢ ⊥")
"""A query that only infinite structures refute."""
GROUPS = "∀x ∀y ∀z m(m(x, y), z) = m(x, m(y, z)) ∧ ∀x m(e, x) = x ∧ ∀x m(i(x), x) = e"
"""The axioms of groups; that they do not entail commutativity is a hard question."""

# -- problems ---------------------------------------------------------------------------------------------------------


def problem(
    *premises: str | Formula | Premise | tuple[str, str],
    goal: str | Formula = "G(a)",
    answer: str | None = "h_goal_true",
    id: str = "test/1",  # noqa: A002 (the name of the field)
    options: Sequence[Option] | Mapping[str, str] | None = None,
    english: Sequence[str] = (),
    question: str = "",
    difficulty: str = "",
) -> Problem:
    """A problem of formulas.

    Args:
        premises: called h1, h2, …; a pair is an id and a formula.
        goal: the options are that it is true, false, or uncertain.
        answer: the id of the right option.
        id: of the problem.
        options: in place of those of the goal; a mapping is from ids, which are labels, too, to formulas.
        english: a sentence for each premise.
        question: in English.
        difficulty: of the problem.
    """

    def premise(number: int, given: str | Formula | Premise | tuple[str, str], text: str) -> Premise:
        if isinstance(given, Premise):
            return given
        name, said = given if isinstance(given, tuple) else (f"h{number}", given)
        return Premise(name, formula(said), text=text)

    texts = english or [""] * len(premises)
    numbered = [premise(number, *one) for number, one in enumerate(zip(premises, texts, strict=True), 1)]
    if isinstance(options, Mapping):
        options = [Option(name, name, formula(text)) for name, text in options.items()]
    chosen = three_way_options(formula(goal)) if options is None else tuple(options)
    return Problem(id, tuple(numbered), chosen, answer, question, difficulty)


def formula(given: str | Formula) -> Formula:
    """The formula, or the one that a text says."""
    return parse_formula(given) if isinstance(given, str) else given


def example_problems() -> ProblemSet:
    """The problems of the examples."""
    return read_problems(PROBLEMS)


def example_completions() -> list[Completion]:
    """The completions of the examples."""
    return [one for one in read_completions(COMPLETIONS) if isinstance(one, Completion)]


def example_answers() -> list[tuple[Problem, Completion]]:
    """The completions of the examples, with their problems."""
    problems = example_problems()
    return [(problems[one.problem_id], one) for one in example_completions()]


def reference_traces(folder: Path) -> list[tuple[Problem, dict[str, Any]]]:
    """What the reference implementation said of each trace of the benchmark data, and its problem."""
    problems = read_problems(folder / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    records = map(json.loads, (folder / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines())
    return [(problems[f"{record['difficulty']}/{record['problem_id']}"], record) for record in records]


# -- completions ------------------------------------------------------------------------------------------------------


def action(id_: str, conclusion: str, *dependencies: str, rule: str = "IMPLICATION_ELIMINATION") -> dict[str, object]:
    """An action as JSON."""
    return {"id": id_, "dependencies": list(dependencies), "conclusion": conclusion, "rule": rule}


def completion(*actions: object, thoughts: str | None = None, escaped: bool = True) -> str:
    """A completion of actions.

    Args:
        actions: each as JSON, or as a tuple of id, dependencies, conclusion and rule.
        thoughts: before the actions; without them, the completion has no such part.
        escaped: whether signs beyond ASCII are written as JSON escapes.
    """
    rows = [dict(zip(FIELDS, one, strict=True)) if isinstance(one, tuple) else one for one in actions]
    before = "" if thoughts is None else f"<think>{thoughts}</think>"
    return f"{before}<summary>{json.dumps(rows, ensure_ascii=escaped)}</summary>"


# -- commands ---------------------------------------------------------------------------------------------------------


class Done(NamedTuple):
    """What a command did."""

    status: int
    stdout: str
    stderr: str


class Run(Protocol):
    """Runs a command in this process, in a folder: the fixture ``run``."""

    def __call__(self, *arguments: str, folder: Path | None = None) -> Done: ...


# -- reports ----------------------------------------------------------------------------------------------------------

STEP = StepReport(
    id="s",
    span=(0, 1),
    declared_rule="IMPLICATION_ELIMINATION",
    dependencies=(),
    conclusion="A",
    schema=True,
    semantic=True,
    rule=True,
    progress=True,
    in_closure=True,
    terminal=False,
    signal=1.0,
)
"""The report on an action that passes all checks."""
TRACE = TraceReport(
    problem_id="p",
    sample=0,
    parsed=True,
    answer="h_goal_true",
    answer_correct=True,
    actions=(),
    closure=(),
    used_closure=(),
    consistency="consistent",
    uncertain=None,
    verified=True,
    rule_verified=True,
    findings=(),
    rules="train",
    solver="embedded",
    evidence="checked",
)
"""The report on a trace whose answer is right and verified."""


def verdicts(step: StepReport) -> tuple[bool, bool, bool, bool, float]:
    """The four verdicts on an action, and its signal."""
    return step.schema, step.semantic, step.rule, step.progress, step.signal


def codes(step: StepReport) -> set[Code]:
    """The codes of the findings on an action."""
    return {finding.code for finding in step.findings}


# -- tokenizers and models: nothing is downloaded ---------------------------------------------------------------------


def byte_tokenizer(*special: str) -> str:
    """The JSON of a tokenizer with a token for each byte, whose id it is; from 256 on follow special tokens."""
    added = [{"id": number, "content": text, "special": True} for number, text in enumerate(special, 256)]
    model = {"type": "BPE", "vocab": BYTE_LEVEL, "merges": []}
    return json.dumps({"model": model, "decoder": {"type": "ByteLevel"}, "added_tokens": added})


def byte_ids(text: str) -> list[int]:
    """What a text is for that tokenizer, with the first special token as its end."""
    return [*text.encode(), 256]


def word_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """A byte-level tokenizer in which a word, a connective or the frame of a step is never part of a longer token."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    identifier, dependencies, conclusion, rule = FIELDS
    frame = (
        "<summary>[\n",
        f'{{"{identifier}": "',
        f'", "{dependencies}": ["',
        f'"], "{conclusion}": "',
        f'", "{rule}": "',
        '"},\n',
        '"}\n]</summary>',
        '", "',
    )
    parts = [*map(re.escape, frame), ": ", r" [∧∨⊕→↔] ", r"[∀∃]\w+ ", r"\(\w+\)", r"\w+", r"[^\w\s]", r"\s"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex("|".join(parts)), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=["<|pad|>", END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token="<|pad|>", clean_up_tokenization_spaces=False
    )


def tiny_model(
    folder: Path,
    texts: Iterable[str],
    *,
    vocabulary: int,
    width: int,
    hidden: int,
    layers: int = 2,
    heads: int = 2,
    family: str = "Qwen2",
) -> tuple[Any, Any]:
    """Write a model with random weights and the tokenizer of words of these texts. Returns both.

    With the family Qwen2, ``AutoTokenizer`` replaces the pre-tokenizer of any folder by its own; not so with Llama.
    """
    tokenizer = word_tokenizer(texts, vocabulary)
    sizes = {"hidden_size": width, "intermediate_size": hidden, "num_hidden_layers": layers}
    # 0.02 is for wide models: narrow ones learn slowly from it
    start = {"tie_word_embeddings": True, "initializer_range": width**-0.5}
    model = random_model(tokenizer, family, **sizes, num_attention_heads=heads, num_key_value_heads=heads, **start)
    save(model, tokenizer, folder)
    return model, tokenizer


def random_model(tokenizer: Any, family: str = "Llama", **settings: Any) -> Any:
    """A model with random weights, the same in each process, for the tokenizer; two layers of width 64 by default."""
    import torch
    import transformers

    torch.set_num_threads(1)  # for a model this small, more wait for each other
    torch.manual_seed(0)
    chosen = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 4096,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
    } | settings
    return getattr(transformers, f"{family}ForCausalLM")(getattr(transformers, f"{family}Config")(**chosen))


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write both to a folder."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def learn(model: Any, tokens: Sequence[int], labels: Sequence[int], *, rate: float, enough: float) -> None:
    """Learn one text by heart, except tokens with the label -100, up to a loss below ``enough``.

    The number of steps that this takes differs between processors, as they round differently.
    """
    import torch

    given = {"input_ids": torch.tensor([tokens]), "labels": torch.tensor([labels])}
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    for _ in range(1000):
        loss = model(**given).loss
        if loss.item() < enough:
            return
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    raise AssertionError(f"the loss is still {loss.item()}")


def teach(model: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]], *, steps: int, rate: float, size: int) -> float:
    """Minimise the cross-entropy of answers to prompts, a batch of ``size`` pairs a step. Returns the last loss."""
    import torch

    rows = [(tokenizer.encode(prompt), [*tokenizer.encode(answer), tokenizer.eos_token_id]) for prompt, answer in pairs]
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / 20))
    loss = torch.zeros(())
    model.train()
    for step in range(steps):
        batch = [rows[(step * size + number) % len(rows)] for number in range(size)]
        width = max(len(prompt) + len(answer) for prompt, answer in batch)
        ids = torch.full((size, width), tokenizer.pad_token_id)
        labels = torch.full((size, width), -100)
        for row, (prompt, answer) in enumerate(batch):
            ids[row, : len(prompt) + len(answer)] = torch.tensor([*prompt, *answer])
            labels[row, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
        loss = model(input_ids=ids, labels=labels).loss  # no token sees the padding after it
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
    model.eval()
    return loss.item()
