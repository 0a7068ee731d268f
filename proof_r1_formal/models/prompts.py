"""What the model is asked: a problem to chat messages, and those to the text after which it goes on writing.

In: a problem and a rule catalogue. Out: a system message, which is the contract of an answer, and a user message, which
is the problem. The contract is put together from the catalogue and from what the verifier reads, so that it cannot ask
for something else than what is checked.

With *explicit* thinking the model is asked to write ``<think>…</think>`` itself; with *native* thinking it thinks as it
was trained to, and the contract only says what comes after that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from proof_r1_formal.data.problem import Premise, Problem, ReferenceStep, three_way_options
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.show import Notation, show
from proof_r1_formal.models.chat import Message
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES
from proof_r1_formal.proof.trajectory import Thinking, summary
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue

# -- messages ---------------------------------------------------------------------------------------------------------


def messages(
    problem: Problem, *, rules: Catalogue = TRAIN, thinking: Thinking = "explicit", prompts: PromptSet = "default"
) -> list[Message]:
    """The chat that asks for a proof and an answer.

    Args:
        problem: what is asked.
        rules: the rules that the answer may name.
        thinking: who asks for thoughts: the contract, or the model's own format.
        prompts: in which format problems and formulas are written.
    """
    return [
        {"role": "system", "content": contract(rules, thinking=thinking, prompts=prompts)},
        {"role": "user", "content": QUESTIONS[prompts](problem)},
    ]


def contract(rules: Catalogue = TRAIN, *, thinking: Thinking = "explicit", prompts: PromptSet = "default") -> str:
    """What an answer has to look like."""
    example = _example(rules, NOTATIONS[prompts])
    names = "\n".join(f"- {rule.name}: {rule.meaning}" for rule in rules.rules)
    return f"""\
You solve logic problems by short proofs that a program checks, one step at a time. A problem has premises (h1, h2, …) \
in English and in first-order logic, and options. Find the option that the premises prove, and prove it.

{_FORM[thinking]}

The array lists the steps of the proof in order. A step is a JSON object with exactly {_number(len(FIELDS))} fields:
- "id": the name of the step: s1, s2, …; no name is used twice
- "dependencies": the names of the premises and earlier steps that it follows from: \
fewer than {_number(MAX_DEPENDENCIES + 1)}, and only those that it needs
- "conclusion": one formula
- "rule": the name of the rule that it applies, spelt as below

The last step answers: its id is the id of the option you choose, its conclusion is that option's formula, its rule is \
{GOAL_BINDING}, and it depends on the step or premise that says this formula. If the premises leave the question open \
and an option says so, choose that one.

Formulas are written with ¬ ∧ ∨ ⊕ (either, not both) → ↔ ∀x ∃x and with the predicates and names of the \
problem{_ORDER[prompts]}. Every step must follow from its dependencies by its one rule and say something that was not \
said before. Do not restate a premise, prove what holds anyway, or take a step that the answer does not need.

Rules:
{names}

For example, for

{QUESTIONS[prompts](example)}

the summary could be

{summary(example.proofs[0])}"""


_FORM: dict[Thinking, str] = {
    "explicit": "Write your thoughts first, between <think> and </think>. Then write <summary>, one JSON array and "
    "</summary>. Write nothing after </summary>.",
    "native": "When you have finished thinking, answer with <summary>, one JSON array and </summary>, and with nothing "
    "else. Write nothing after </summary>.",
}


def question(problem: Problem) -> str:
    """The problem: premises and options with their ids, English where there is some, and formulas."""
    premises = [f"{p.id}: {_one_line(p.text)}{' ' if p.text else ''}[{show(p.formula)}]" for p in problem.premises]
    options = [f"{option.id} ({_one_line(option.label)}): [{show(option.formula)}]" for option in problem.options]
    parts = ["Premises:", *premises, "", *([_one_line(problem.question)] if problem.question else []), "Options:"]
    return "\n".join([*parts, *options])


def paper_question(problem: Problem) -> str:
    """The problem in the format of the paper's user message (appendix *Prompt Template*).

    Premises and options are numbered sentences with their formal statements, whose predicates stand before their
    arguments without parentheses; the last line asks for the option.
    """
    premises = [
        f"{number}. {_sentence(p.text)}Formal statement: '{p.id} : {show(p.formula, 'juxtaposed')}'."
        for number, p in enumerate(problem.premises, 1)
    ]
    options = [
        f"{letter}) {_sentence(option.label)}Answer id: '{option.id}'. "
        f"Formal statement: '{show(option.formula, 'juxtaposed')}'."
        for letter, option in zip(ascii_uppercase, problem.options, strict=False)
    ]
    asked = _one_line(problem.question)
    return "\n".join(
        [
            "Context:",
            *premises,
            "",
            f"Question: {asked}".rstrip(),
            "",
            "Options:",
            *options,
            "",
            "The correct option is:",
        ]
    )


def _sentence(text: str) -> str:
    """The text with a full stop and a blank behind it; nothing if it is empty."""
    line = _one_line(text)
    return f"{line}{'' if line.endswith(('.', '!', '?')) else '.'} " if line else ""


PromptSet: TypeAlias = Literal["default", "paper"]
"""``default``: this package's format. ``paper``: the format of the user message in the method's paper; the contract is
in words of our own."""
QUESTIONS: Mapping[PromptSet, Callable[[Problem], str]] = MappingProxyType(
    {"default": question, "paper": paper_question}
)
"""What turns a problem into a user message."""
NOTATIONS: Mapping[PromptSet, Notation] = MappingProxyType({"default": "unicode", "paper": "juxtaposed"})
"""The notation of formulas."""
_ORDER: Mapping[PromptSet, str] = MappingProxyType(
    {"default": "", "paper": ", a predicate before its arguments and without parentheses or commas"}
)


def short_question(problem: Problem) -> str:
    """Premises and options with their ids, as formulas only: all that a model needs that knows the task by heart."""
    premises = [f"{premise.id}: {show(premise.formula)}\n" for premise in problem.premises]
    options = [f"{option.id}: {show(option.formula)}\n" for option in problem.options]
    return "".join([*premises, *options, "\n"])


def _one_line(text: str) -> str:
    """The text with its white space made plain, so that no text can look like another line of the problem."""
    return " ".join(text.split())


def _number(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six")
    return words[number] if number < len(words) else str(number)


def _example(rules: Catalogue, notation: Notation) -> Problem:
    """The example of the first rule as a problem with its proof, whose conclusions are in the notation."""
    rule = rules.rules[0]
    given = enumerate(rule.example.dependencies, 1)
    premises = tuple([Premise(f"h{number}", parse_formula(formula)) for number, formula in given])
    true, false, _ = three_way_options(parse_formula(rule.example.conclusion))
    inference = ReferenceStep("s1", tuple([p.id for p in premises]), show(true.formula, notation), rule.name)
    binding = ReferenceStep(true.id, (inference.id,), inference.conclusion, GOAL_BINDING)
    return Problem("example", premises, (true, false), true.id, proofs=((inference, binding),))


# -- chat templates ---------------------------------------------------------------------------------------------------


class ChatTokenizer(Protocol):
    """What is asked of a tokenizer of ``transformers``."""

    @property
    def chat_template(self) -> object:
        """The template; None if there is none."""

    @property
    def bos_token(self) -> str | None:
        """What texts begin with, if anything."""

    def apply_chat_template(
        self, conversation: list[dict[str, str]], *, tokenize: bool, add_generation_prompt: bool, enable_thinking: bool
    ) -> object:
        """The chat as one text."""


def chat_prompt(tokenizer: ChatTokenizer, chat: Sequence[Message], *, thinking: Thinking = "explicit") -> str:
    """The text after which the model goes on writing.

    A template that has no system role gets the contract at the head of the user's message. Without a template, the
    messages follow each other, after the token that begins texts, if the tokenizer has one: a base model was trained
    with it. Encode the text without adding special tokens: they are there.

    Args:
        tokenizer: of the model.
        chat: the messages.
        thinking: with explicit thinking, a template that can turn the model's own thinking off does so.
    """
    from jinja2 import TemplateError  # it comes with torch, which nothing else here needs

    folded: list[dict[str, str]] = [{"role": "user", "content": "\n\n".join(message["content"] for message in chat)}]
    if tokenizer.chat_template is None:
        return f"{tokenizer.bos_token or ''}{folded[0]['content']}\n\n"

    def render(conversation: list[dict[str, str]]) -> str:
        text = tokenizer.apply_chat_template(
            conversation, tokenize=False, add_generation_prompt=True, enable_thinking=thinking == "native"
        )
        assert isinstance(text, str)  # as it is not to be tokenized
        return text

    try:
        text = render([{"role": message["role"], "content": message["content"]} for message in chat])
    except TemplateError:  # a template refuses a role in no other way
        return render(folded)
    complete = all(message["content"] in text for message in chat)
    return text if complete else render(folded)  # some templates leave out a role in silence
