"""Prompts: a problem to chat messages, and messages to the text that a model continues.

In: a problem and a rule catalogue. Out: a system message with the contract of an answer, and a user message with the
problem. The contract is generated from the catalogue and from the limits of the reader, so it agrees with the checks.

With *explicit* thinking the contract asks for ``<think>…</think>``. With *native* thinking the model thinks in its own
format, and the contract describes only the text after it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict, assert_never

from proof_r1_formal.data.problem import Premise, Problem, ReferenceStep, three_way_options
from proof_r1_formal.models.paper_prompt import paper_contract, paper_question
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES
from proof_r1_formal.proof.trajectory import Thinking, summary
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show


class Message(TypedDict):
    """A message of a chat, in the format of chat templates and endpoints."""

    role: Literal["system", "user", "assistant"]
    content: str


# -- messages ---------------------------------------------------------------------------------------------------------


def messages(
    problem: Problem, *, rules: Catalogue = TRAIN, thinking: Thinking = "explicit", prompts: PromptSet = "default"
) -> list[Message]:
    """The chat that asks for a proof and an answer.

    Args:
        problem: what is asked.
        rules: the rules that the answer may name.
        thinking: ``explicit`` asks for thoughts in the contract; ``native`` leaves them to the model's own format.
        prompts: whose messages.
    """
    match prompts:
        case "question" | "short":
            return [{"role": "user", "content": text_prompt(problem, english=prompts == "question")}]
        case "default":
            system, user = contract(rules, thinking=thinking), question(problem)
        case "paper":
            system, user = paper_contract(problem, rules, thinking=thinking), paper_question(problem)
        case _:
            assert_never(prompts)
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def contract(rules: Catalogue = TRAIN, *, thinking: Thinking = "explicit") -> str:
    """The system message: the required form of an answer."""
    example = _example(rules)
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
problem. Every step must follow from its dependencies by its one rule and say something that was not \
said before. Do not restate a premise, prove what holds anyway, or take a step that the answer does not need.

Rules:
{names}{_HYPOTHESES if rules.hypotheses else ""}

For example, for

{question(example)}

the summary could be

{summary(example.proofs[0])}"""


_HYPOTHESES = """

A step by any of these rules may stand under hypotheses: it concludes ∀x (H → C) where the rule concludes C from the \
dependencies and H. A dependency ∀x (H → P) then counts as P. Hypotheses are not listed as dependencies."""
_FORM: dict[Thinking, str] = {
    "explicit": "Write your thoughts first, between <think> and </think>. Then write <summary>, one JSON array and "
    "</summary>. Write nothing after </summary>.",
    "native": "When you have finished thinking, answer with <summary>, one JSON array and </summary>, and with nothing "
    "else. Write nothing after </summary>.",
}


def question(problem: Problem) -> str:
    """The user message: premises and options with ids, English (if the problem has it) and formulas."""
    premises = [f"{p.id}: {_one_line(p.text)}{' ' if p.text else ''}[{show(p.formula)}]" for p in problem.premises]
    options = [f"{option.id} ({_one_line(option.label)}): [{show(option.formula)}]" for option in problem.options]
    parts = ["Premises:", *premises, "", *([_one_line(problem.question)] if problem.question else []), "Options:"]
    return "\n".join([*parts, *options])


PromptSet: TypeAlias = Literal["default", "paper", "question", "short"]
"""``default``: this package's messages. ``paper``: those of the method's paper, see ``models.paper_prompt``.
``question``, ``short``: one message with a :func:`text_prompt`, for a server of a model that was trained on these."""


def text_prompt(problem: Problem, *, english: bool) -> str:
    """The problem as a prompt without a chat, for models that are trained on this task alone.

    It has ids and formulas, with ``english`` all that :func:`question` has. It ends in one newline: tokenizers split
    a blank line in another way if an answer follows.
    """
    if english:
        return f"{question(problem)}\n"
    premises = [f"{premise.id}: {show(premise.formula)}\n" for premise in problem.premises]
    return "".join([*premises, *[f"{option.id}: {show(option.formula)}\n" for option in problem.options]])


def _one_line(text: str) -> str:
    """The text with its white space made plain, so that no text can look like another line of the problem."""
    return " ".join(text.split())


def _number(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six")
    return words[number] if number < len(words) else str(number)


def _example(rules: Catalogue) -> Problem:
    """The example of the first rule as a problem with its proof."""
    rule = rules.rules[0]
    given = enumerate(rule.example.dependencies, 1)
    premises = tuple([Premise(f"h{number}", parse_formula(formula)) for number, formula in given])
    true, false, _ = three_way_options(parse_formula(rule.example.conclusion))
    inference = ReferenceStep("s1", tuple([p.id for p in premises]), show(true.formula), rule.name)
    binding = ReferenceStep(true.id, (inference.id,), inference.conclusion, GOAL_BINDING)
    return Problem("example", premises, (true, false), true.id, proofs=((inference, binding),))
