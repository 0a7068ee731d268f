"""The prompt of the method's paper (appendix *Prompt Template*), for models that were trained with it.

In: a problem and a rule catalogue. Out: the system message and the user message as the paper and its reference
implementation write them, blank for blank. ``models.prompts`` has this package's own messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import ascii_uppercase
from types import MappingProxyType
from typing import Final

from proof_r1_formal.data.problem import FALSE, Option, Problem
from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.syntax import And, Eq, Exists, ForAll, Formula, Iff, Implies, Not, Or, Xor
from proof_r1_formal.proof.action import MAX_DEPENDENCIES
from proof_r1_formal.proof.trajectory import Thinking
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import SYMBOLS, show

_MODES: Final[Mapping[Thinking, str]] = MappingProxyType(
    {
        "explicit": """\
Answer with exactly two parts:
1. Put brief natural-language reasoning inside <think>...</think>.
2. Put a JSON array of structured formal intermediate steps inside <summary>...</summary>.""",
        "native": """\
Use the model's native thinking mode for brief natural-language reasoning.
After native thinking ends, output exactly one JSON array of structured formal intermediate steps inside \
<summary>...</summary>.
Do not add commentary between the native </think> and <summary> sections.""",
    }
)
_RULES: Final = """\
- IMPLICATION_ELIMINATION: from A -> B and support for A, derive the entire consequent B.
- MODUS_TOLLENS: from A -> B and support for not B, derive not A (including a justified component of a compound A).
- EXCLUSIVE_DISJUNCTION_INTRODUCTION: from A and not B, or from not A and B, derive A XOR B.
- EXCLUSIVE_DISJUNCTION_ELIMINATION: from A XOR B plus one known branch or its negation, derive the forced other \
branch or its negation.
- DISJUNCTIVE_SYLLOGISM: from A OR B and not A derive B, or from A OR B and not B derive A.
- CONJUNCTION_INTRODUCTION: from A and B derive A AND B.
- CONJUNCTION_ELIMINATION: from A AND B derive A or derive B.
- UNIVERSAL_ELIMINATION: instantiate a universally quantified formula for one concrete entity.
- GOAL_BINDING: only for a final_answer action whose id and conclusion exactly match an answer option.
- UNIVERSAL_IMPLICATION_CHAINING: from forall x (A -> B) and forall x (B -> C), derive forall x (A -> C).
- UNIVERSAL_PROPOSITIONAL_INFERENCE: from forall x (A -> B) and forall x (A -> C), derive forall x (A -> (B AND C)).
- EXISTENTIAL_INTRODUCTION: from A(a), derive exists x A(x); premises sharing witness a may be combined under the \
existential.
- EXISTENTIAL_CONJUNCTION_ELIMINATION: from exists x (A AND B), derive exists x A; or derive a conjunct G that does \
not contain x free.
- EXISTENTIAL_IMPLICATION_ELIMINATION: from exists x A and forall x (A -> B), derive exists x B.
- EXISTENTIAL_CONJUNCTION_INTRODUCTION: from exists x A and G, derive exists x (A AND G) when x is not free in G.
- QUANTIFIER_NEGATION: apply the equivalences not forall x A iff exists x not A, and not exists x A iff \
forall x not A."""
_LINES: Final = MappingProxyType({line[2:].partition(":")[0]: line for line in _RULES.splitlines()})
_APPLICATION: Final = re.compile(r"\b(\w+)\(([^()]+)\)")


def paper_contract(problem: Problem, rules: Catalogue, *, thinking: Thinking = "explicit") -> str:
    """The system message. A rule that the paper does not have stands there with its meaning.

    ``thinking``: which of the paper's two instructions about thoughts.
    """
    names = "\n".join([_LINES.get(rule.name, f"- {rule.name}: {rule.meaning}.") for rule in rules.rules])
    *others, last = [option.id for option in problem.options]
    ids = f"{', '.join(others)}{',' if len(others) > 1 else ''} or {last}" if others else last
    return f"""\
You are a math reasoner. For each problem, you will receive a set of formal premises and a multiple-choice logical \
reasoning question.

{_MODES[thinking]}

Each JSON object in <summary> must have exactly these fields:
- id: a unique identifier for this step.
- dependencies: a list of premise ids or earlier step ids.
- conclusion: exactly one formal formula.
- rule: the single inference rule applied, chosen from the supplied inference system.

Canonical rule options:
Use exactly one of these canonical rule names:
{names}

The rule must describe the operation that produces the declared conclusion. If an implication first activates a \
compound consequent and the same action then selects one XOR/OR/AND branch, use the corresponding elimination rule, \
not IMPLICATION_ELIMINATION. Do not invent rule names, aliases, abbreviations, or alternative capitalization.

Use GOAL_BINDING for the final JSON object whose id is one of {ids}.

Critical requirements:
- Use "s1", "s2", "s3", etc. for intermediate steps.
- The last JSON object must be the final answer.
- The final answer id must exactly match one of the option ids shown in the problem.
- The final answer conclusion must match the formal statement of that option.
- The JSON array must be valid and parsable.
- Each step must use fewer than {MAX_DEPENDENCIES + 1} dependencies.
- Do not output any additional text after </summary>."""


def paper_question(problem: Problem) -> str:
    """The user message: premises and options as numbered sentences with their formal statements."""
    premises = [
        f"{number}. {_words(p.text)}Formal statement: '{p.id} : {_statement(p.formula, p.source)}'."
        for number, p in enumerate(problem.premises, 1)
    ]
    options = [
        f"{letter}) {_words(f'{option.label.lower()}.')}Answer id: '{option.id}'. "
        f"Formal statement: '{option_statement(option)}'."
        for letter, option in zip(ascii_uppercase, problem.options, strict=False)
    ]
    question = f"Question: {_words(problem.question).removesuffix(' ')}"
    return "\n".join(["Context:", *premises, "", question, "", "Options:", *options, "", "The correct option is:"])


def option_statement(option: Option) -> str:
    """The formal statement of an option. That of False is the goal's in parentheses after ¬, whatever the goal is."""
    if option.label == FALSE and isinstance(option.formula, Not):
        return f"¬({_statement(option.formula.body)})"
    return _statement(option.formula)


def _statement(formula: Formula, source: str = "") -> str:
    """The source with ``p x y`` for ``p(x, y)``, or else the formula in that notation, with all its parentheses.

    A text that does not read as the formula, because it is ambiguous in that notation, is not used.
    """
    text, before = source.strip(), ""
    while text != before:
        text, before = _APPLICATION.sub(_juxtapose, text), text
    texts = (text, _parenthesise(formula))
    return next((each for each in texts if _reads(each, formula)), show(formula, "juxtaposed"))


def _juxtapose(application: re.Match[str]) -> str:
    return " ".join([application[1], *[argument.strip() for argument in application[2].split(",")]])


def _parenthesise(formula: Formula) -> str:
    """The formula with parentheses around each operand that has a connective."""

    def operand(part: Formula) -> str:
        text = _parenthesise(part)
        return f"({text})" if isinstance(part, And | Or | Xor | Implies | Iff | Eq) else text

    match formula:
        case And(left, right) | Or(left, right) | Xor(left, right) | Implies(left, right) | Iff(left, right):
            return f"{operand(left)} {SYMBOLS[type(formula)]} {operand(right)}"
        case Not(body):
            return f"¬{operand(body)}"
        case ForAll(variable, body) | Exists(variable, body):
            text = operand(body)
            return f"{SYMBOLS[type(formula)]}{variable.name} {text if text.startswith('(') else f'({text})'}"
        case _:
            return show(formula, "juxtaposed")


def _reads(text: str, formula: Formula) -> bool:
    try:
        return text.isprintable() and parse_formula(text) is formula
    except ParseError:
        return False


def _words(text: str) -> str:
    """The text in one line and a blank after it, so that it cannot look like another line; nothing if it is empty."""
    line = " ".join(text.strip().splitlines())
    return f"{line} " if line else ""
