"""Tasks of a run: files of problems to prompts in tokens, and demonstrations.

In: the ``data`` section of a configuration. Out: :class:`Tasks`, and how many problems were left out for what reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from transformers import PreTrainedTokenizerFast

from proof_r1_formal import (
    Completion,
    Problem,
    ProofR1Error,
    ReferenceStep,
    catalogue,
    parse_formula,
    read_completions,
    read_problems,
)
from proof_r1_formal.generate import completion, summary
from proof_r1_formal.models.chat import Message
from proof_r1_formal.models.paper_prompt import option_statement
from proof_r1_formal.models.prompts import PromptSet, chat_prompt, messages, question, short_question
from proof_r1_formal.text.show import show
from training.common.display import Display
from training.config import Config, Data

SAMPLE = 5000
"""Number of problems for the tokenizer of a model from scratch."""


@dataclass(frozen=True, slots=True)
class Task:
    """A problem, and the tokens of the prompt that asks for its solution."""

    problem: Problem
    prompt: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A task, and an answer to learn from."""

    task: Task
    answer: str


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks in the order of their files, and the number of other problems by reason."""

    tasks: tuple[Task, ...]
    left_out: Counter[str]


# -- problems ---------------------------------------------------------------------------------------------------------


def read_files(paths: Sequence[str], data: Data, display: Display) -> dict[str, Problem]:
    """The problems of some files by id; the display names those that cannot be used.

    Raises:
        ProofR1Error: a file cannot be read, an id is in two of them, or a problem cannot be used and ``data.strict`` is
            set.
    """
    known: dict[str, Problem] = {}
    for path in paths:
        found = read_problems(path)
        for line in found.left_out(path):
            display.log(line)
        if found.rejected and data.strict:
            raise ProofR1Error(f"{path}: {len(found.rejected)} problems cannot be used, and data.strict is set")
        if twice := known.keys() & found.keys():
            raise ProofR1Error(f"{path}: problem {min(twice)!r} is in another file, too")
        known |= found
    return known


def trainable(problems: Sequence[Problem], data: Data) -> tuple[list[Problem], Counter[str]]:
    """The problems for training; the others are counted by reason."""
    kept: list[Problem] = []
    left_out: Counter[str] = Counter()
    for problem in problems:
        if problem.option(problem.answer) is None:
            left_out["without an answer"] += 1
        elif problem.is_uncertain and not data.uncertain:
            left_out["Uncertain"] += 1
        else:
            kept.append(problem)
    return kept, left_out


def training_problems(config: Config, display: Display) -> list[Problem]:
    """The problems for training."""
    problems, left_out = trainable(list(read_files(config.data.train, config.data, display).values()), config.data)
    log_left_out(left_out, "training", display)
    return problems


def log_left_out(left_out: Counter[str], where: str, display: Display) -> None:
    """Log how many problems were left out for each reason."""
    for reason, count in left_out.items():
        if count:
            display.log(f"{where}: {count} left out: {reason}")


# -- prompts ----------------------------------------------------------------------------------------------------------


def prompt_text(problem: Problem, data: Data, render: Callable[[Sequence[Message]], str]) -> str:
    """The text that the model continues.

    Args:
        problem: what is asked.
        data: which prompt.
        render: makes one text of a chat.
    """
    if data.prompt == "short":
        return short_question(problem)
    if data.prompt == "question":
        return f"{question(problem)}\n\n"
    prompts: PromptSet = "paper" if data.prompt == "paper" else "default"
    return render(messages(problem, rules=catalogue(data.rules), thinking=data.thinking, prompts=prompts))


def make_tasks(
    problems: Sequence[Problem], tokenizer: PreTrainedTokenizerFast, data: Data, *, max_prompt_tokens: int
) -> Tasks:
    """The tasks of problems; those with a prompt that is too long are left out.

    Args:
        problems: what is asked.
        tokenizer: of the model.
        data: which prompt.
        max_prompt_tokens: the longest prompt.
    """
    texts = [prompt_text(problem, data, chat_of(tokenizer, data)) for problem in problems]
    encoded = tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else []
    tasks = [Task(problem, tuple(ids)) for problem, ids in zip(problems, encoded, strict=True)]
    kept = tuple([task for task in tasks if 2 <= len(task.prompt) <= max_prompt_tokens])
    left_out = Counter({"prompt too long": len(tasks) - len(kept)} if len(kept) < len(tasks) else {})
    return Tasks(kept, left_out)


def chat_of(tokenizer: PreTrainedTokenizerFast, data: Data) -> Callable[[Sequence[Message]], str]:
    """The function from a chat to one text, for the model of this tokenizer."""
    return lambda chat: chat_prompt(tokenizer, chat, thinking=data.thinking)


def sample_texts(problems: Sequence[Problem], data: Data) -> Iterator[str]:
    """Prompts and answers for training a tokenizer."""
    for problem in problems[:SAMPLE]:
        prompt = prompt_text(problem, data, lambda chat: "\n\n".join([m["content"] for m in chat]) + "\n\n")
        answers = [answer_text(problem, number, data, prompt) for number in range(len(problem.proofs))]
        yield from (prompt, *answers)


# -- demonstrations ---------------------------------------------------------------------------------------------------


def answer_text(problem: Problem, number: int, data: Data, prompt: str) -> str:
    """The answer with a reference proof.

    Args:
        problem: what is asked.
        number: of the proof.
        data: which prompt asks.
        prompt: that prompt; a template may open the thoughts itself.
    """
    proof = problem.proofs[number]
    if data.prompt in ("short", "question"):
        return summary(proof)
    if data.prompt == "paper":
        proof = tuple([_in_the_papers_notation(problem, step) for step in proof])
    opens = data.thinking == "native" and not prompt.rstrip().endswith("<think>")
    return ("<think>\n" if opens else "") + completion(problem, proof, thinking=data.thinking)


def _in_the_papers_notation(problem: Problem, step: ReferenceStep) -> ReferenceStep:
    """The step in the notation of the paper's prompts; the last one has the formal statement of its option."""
    formula, option = parse_formula(step.conclusion), problem.option(step.id)
    states = option is not None and option.formula is formula
    return replace(step, conclusion=option_statement(option) if option and states else show(formula, "juxtaposed"))


def demonstrations(
    tasks: Sequence[Task], tokenizer: PreTrainedTokenizerFast, config: Config, display: Display
) -> list[Demonstration]:
    """The demonstrations of ``sft``: the completions of files, or else the reference proofs of the problems.

    Raises:
        ProofR1Error: a file of completions cannot be read, or there is no demonstration.
    """
    data = config.data
    found: list[Demonstration] = []
    if data.demonstrations:
        by_id = {task.problem.id: task for task in tasks}
        other = 0
        for path in data.demonstrations:
            for line in read_completions(path):
                if not isinstance(line, Completion):
                    raise ProofR1Error(f"{path}, line {line.line}: {line.problem}")
                if line.problem_id in by_id:
                    found.append(Demonstration(by_id[line.problem_id], line.completion))
                else:
                    other += 1
        left_out = "the problem is unknown, or left out itself"
        log_left_out(Counter({left_out: other}), "demonstrations", display)
    else:
        for task in tasks:
            prompt = prompt_text(task.problem, data, chat_of(tokenizer, data))
            answers = [answer_text(task.problem, number, data, prompt) for number in range(len(task.problem.proofs))]
            found += [Demonstration(task, answer) for answer in answers]
    if not found:
        raise ProofR1Error("there is no demonstration: the problems have no reference proofs, or no file is of them")
    return found
