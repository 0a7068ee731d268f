"""The first-order tasks of reasoning-gym as problems: an entry of a dataset to premises, options and the label.

In: an entry (``question``, ``answer``, ``metadata``), as the library or a file of JSON has it. Out: a problem whose
answer is what the entry says, or the reasons why it has none. Nothing is proved here, and nothing of the library is
needed, except for zebra puzzles: the phrases of their clues are in its code only.

* ``propositional_logic``: the goal is the example answer of the entry.
* ``syllogism``: the library's rules let *Some* follow from *All*, so each term gets the premise that there is one.
  "Yes" is the label True, and "No" is False or Uncertain.
* ``knights_knaves``: everyone is a knight if and only if what they say is true. A knave is somebody who is not a
  knight. Each assignment is an option.
* ``zebra_puzzles``: a predicate for each value, on houses. Each name is an option for the first house.
* ``circuit_logic``: the inputs, a formula for each gate, and the output as the goal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations, pairwise, product
from typing import Any, Final, TypeAlias

from proof_r1_formal.data.problem import (
    GOAL_TRUE,
    Option,
    Premise,
    Problem,
    Rejected,
    three_way_options,
)
from proof_r1_formal.errors import ParseError, ProofR1Error
from proof_r1_formal.kernel.syntax import (
    And,
    App,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Var,
    Xor,
    atom,
    conjunction,
    const,
    disjunction,
    var,
)
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show

Entry: TypeAlias = Mapping[str, Any]
"""An entry of a dataset of reasoning-gym."""

_Stated: TypeAlias = tuple[Formula, str]
_Parts: TypeAlias = tuple[list[_Stated], tuple[Option, ...], str | None]
"""Premises with their English, options, and the id of the option that the entry calls right, if it is one."""


class _UnusableError(Exception):
    """An entry that cannot be a problem; the message says why."""


def problem_of(entry: Entry, number: int) -> Problem | Rejected:
    """The problem of an entry. Its answer is what the entry says; None where that is the label of no option.

    Args:
        entry: of one of ``TASKS``.
        number: of the entry in its dataset; the id of the problem is the task's name and this number.

    Raises:
        ProofR1Error: the entry is of another task.
    """
    name = entry["metadata"].get("source_dataset")
    if name not in TASKS:
        raise ProofR1Error(f"{name!r} is not a task that is read; those are {', '.join(TASKS)}")
    problem_id = f"{name}/{number}"
    try:
        premises, options, answer = TASKS[name](entry)
    except (_UnusableError, ParseError) as error:
        return Rejected(problem_id, number + 1, (str(error),))
    named = [Premise(f"h{n}", formula, show(formula), text) for n, (formula, text) in enumerate(premises, 1)]
    return Problem(problem_id, tuple(named), options, answer, question=entry["question"], difficulty=name)


def answers(problem: Problem) -> dict[str, str]:
    """The id of an option -> the answer in the words of reasoning-gym; those without words of their own are left out.

    For a syllogism, "No" is left out: it says that the goal does not follow, and states nothing.
    """
    match problem.difficulty:
        case "propositional_logic":
            return {option.id: _bracketed(option.formula) for option in problem.options[:2]}
        case "syllogism":
            return {GOAL_TRUE: "Yes"}
    return {option.id: option.label for option in problem.options}


# -- the tasks --------------------------------------------------------------------------------------------------------


def _propositional(entry: Entry) -> _Parts:
    data = entry["metadata"]
    premises = [(parse_formula(text), "") for text in data["premises"]]
    return premises, three_way_options(parse_formula(data["example_answer"])), GOAL_TRUE


def _syllogism(entry: Entry) -> _Parts:
    data = entry["metadata"]
    stated = [(*_categorical(data[key]), f"{data[key]}.") for key in ("premise1", "premise2")]
    terms = dict.fromkeys([term for _, pair, _ in stated for term in pair])
    there_are = [(Exists(_X, atom(term, _X)), f"There are {term}.") for term in terms]
    premises = [*[(formula, text) for formula, _, text in stated], *there_are]
    goal, _ = _categorical(data["conclusion"])
    return premises, three_way_options(goal), GOAL_TRUE if entry["answer"] == "Yes" else None


def _knights(entry: Entry) -> _Parts:
    data = entry["metadata"]
    names, terms = [str(name) for name in data["names"]], data["knight_knave_terms"]
    people = [atom(terms["knight"], const(name.lower())) for name in names]
    said = [_statement(statement, people) for statement in data["statements"]]
    texts = [f"{name} is {terms['a_knight']} if and only if what {name} says is true." for name in names]
    premises: list[_Stated] = [(Iff(one, what), text) for one, what, text in zip(people, said, texts, strict=True)]
    options = []
    for number, values in enumerate(product((True, False), repeat=len(names)), 1):
        kinds = [terms["a_knight"] if value else terms["a_knave"] for value in values]
        label = _listed([f"{name} is {kind}" for name, kind in zip(names, kinds, strict=True)])
        literals = [one if value else Not(one) for one, value in zip(people, values, strict=True)]
        options.append(Option(f"h_goal_{number}", label, conjunction(tuple(literals))))
    right = [o.id for o in options if o.label == entry["answer"].lstrip(", ").removeprefix("and ")]
    return premises, tuple(options), right[0] if right else None


def _circuit(entry: Entry) -> _Parts:
    data = entry["metadata"]
    inputs = {name: atom(name) for name in data["assignments"]}
    premises: list[_Stated] = [
        (inputs[name] if value else Not(inputs[name]), f"{name} = {value}.")
        for name, value in data["assignments"].items()
    ]
    gates: list[Formula] = []
    for number, text in enumerate(data["term_strings"], 1):
        sign = next((sign for sign in _GATES if sign in text), None)
        if sign is None:
            raise _UnusableError(f"the gate of {text!r} has one input, and the entry does not say of which kind it is")
        literals = [Not(inputs[part[:-1]]) if part.endswith("'") else inputs[part] for part in text.split(sign)]
        gates.append(atom(f"G{number}"))
        premises.append((Iff(gates[-1], _GATES[sign](literals)), f"Gate {number} computes {text}."))
    out, final = atom("OUT"), data["final_gate"]
    premises.append((Iff(out, _OUTPUTS[final](gates)), f"The output is {final} of the gates."))
    options = (Option("h_goal_1", "1", out), Option("h_goal_0", "0", Not(out)))
    return premises, options, f"h_goal_{entry['answer']}"


def _zebra(entry: Entry) -> _Parts:
    found = _PUZZLE.fullmatch(entry["question"])
    if found is None:
        raise _UnusableError("the question is not written as those of zebra puzzles are")
    houses = [const(f"house_{number}") for number in range(1, int(found["houses"]) + 1)]
    phrases: dict[str, str] = {}
    premises: list[_Stated] = []
    options: list[Option] = []
    for line in found["kinds"].splitlines():
        heading, _, names = line.removeprefix(" - ").partition(": ")
        kind = _kinds().get(heading)
        if kind is None:
            raise _UnusableError(f"{heading!r} is not a kind of values that the library knows")
        symbols = {name: f"{kind.name}_{name.replace(' ', '_')}" for name in names.split(", ")}
        values = list(symbols.values())
        here = [atom(value, _X) for value in values]
        premises += [(ForAll(_X, disjunction(tuple(here))), line.removeprefix(" - ")), (_at_most_one(here, _X), "")]
        for value in values:
            there = [atom(value, house) for house in houses]
            premises += [(disjunction(tuple(there)), ""), (_at_most_one(there), "")]
        phrases |= {_lowered(kind.phrases[name]): symbol for name, symbol in symbols.items()}
        if kind.name == "name":
            options = [Option(f"h_goal_{name}", name, atom(value, houses[0])) for name, value in symbols.items()]
    for line in found["clues"].splitlines():
        clue = line.partition(". ")[2]
        premises.append((_clue(clue, phrases, houses), clue))
    right = [option.id for option in options if option.label == entry["answer"]]
    return premises, tuple(options), right[0] if right else None


TASKS: Final[dict[str, Callable[[Entry], _Parts]]] = {
    "propositional_logic": _propositional,
    "syllogism": _syllogism,
    "knights_knaves": _knights,
    "zebra_puzzles": _zebra,
    "circuit_logic": _circuit,
}
"""Name of a task in reasoning-gym -> what reads its entries."""


# -- parts ------------------------------------------------------------------------------------------------------------

_X: Final = var("x")
_CATEGORICAL: Final = re.compile(r"(?P<quantifier>All|No|Some) (?P<subject>\w+) are (?P<not>not )?(?P<predicate>\w+)")
_PUZZLE: Final = re.compile(
    r"This is a logic puzzle\. There are (?P<houses>\d) houses .*They have different characteristics:\n"
    r"(?P<kinds>(?: - .*\n)+)\n(?P<clues>(?:\d+\. .*\n)+)"
    r"\nWhat is Name of the person who lives in House 1\?\? Provide only .*",
)
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


def _parity(formulas: Sequence[Formula]) -> Formula:
    return reduce(Xor, formulas)


_GATES: Final[dict[str, Callable[[Sequence[Formula]], Formula]]] = {
    "&": lambda inputs: conjunction(tuple(inputs)),
    "↑": lambda inputs: Not(conjunction(tuple(inputs))),
    "⊕": _parity,
}
_OUTPUTS: Final[dict[str, Callable[[Sequence[Formula]], Formula]]] = {
    "AND": lambda gates: conjunction(tuple(gates)),
    "OR": lambda gates: disjunction(tuple(gates)),
    "NOR": lambda gates: Not(disjunction(tuple(gates))),
    "XOR": _parity,
}
_SIGNS: Final = {And: "∧", Or: "∨", Implies: "→", Iff: "↔"}


def _bracketed(formula: Formula) -> str:
    """A propositional formula with all its brackets, which the scorer of reasoning-gym reads as we do."""
    match formula:
        case Not(body):
            return f"¬{_bracketed(body)}"
        case And(left, right) | Or(left, right) | Implies(left, right) | Iff(left, right):
            return f"({_bracketed(left)} {_SIGNS[type(formula)]} {_bracketed(right)})"
    return show(formula)


def _categorical(text: str) -> tuple[Formula, tuple[str, str]]:
    """A categorical statement as a formula, and its terms."""
    found = _CATEGORICAL.fullmatch(text)
    if found is None:
        raise _UnusableError(f"{text!r} is not a categorical statement")
    subject, predicate = atom(found["subject"], _X), atom(found["predicate"], _X)
    match found["quantifier"], found["not"]:
        case "All", None:
            formula: Formula = ForAll(_X, Implies(subject, predicate))
        case "No", None:
            formula = ForAll(_X, Implies(subject, Not(predicate)))
        case "Some", negated:
            formula = Exists(_X, And(subject, Not(predicate) if negated else predicate))
        case _:
            raise _UnusableError(f"{text!r} has two readings")
    return formula, (found["subject"], found["predicate"])


def _statement(statement: Sequence[Any], people: Sequence[Formula]) -> Formula:
    """What somebody says: nested sequences that begin with an operator; people are numbers."""
    sign, *rest = statement
    if sign in ("telling-truth", "lying"):
        person = people[rest[0]]
        return person if sign == "telling-truth" else Not(person)
    parts = [_statement(part, people) for part in rest]
    match sign:
        case "not":
            return Not(parts[0])
        case "and":
            return conjunction(tuple(parts))
        case "or":
            return disjunction(tuple(parts))
        case "->":
            return Implies(*parts)
        case "<=>":
            return Iff(*parts)
    raise _UnusableError(f"a statement has the unknown operator {sign!r}")


def _listed(parts: Sequence[str]) -> str:
    *before, last = parts
    return f"{', '.join(before)}, and {last}." if before else f"{last}."


def _at_most_one(formulas: Sequence[Formula], bound: Var | None = None) -> Formula:
    """At most one of the formulas holds, for each value of the bound variable if there is one."""
    pairs = conjunction(tuple([Not(And(first, second)) for first, second in combinations(formulas, 2)]))
    return pairs if bound is None else ForAll(bound, pairs)


def _clue(clue: str, phrases: Mapping[str, str], houses: Sequence[App]) -> Formula:
    """The formula of a clue. ``phrases`` are what clues call the holders of values, and the values' symbols."""
    readings: set[Formula] = set()
    for ordinal, house in zip(_ORDINALS, houses, strict=False):
        symbol = phrases.get(_lowered(clue.removesuffix(f" is in the {ordinal} house.")))
        readings |= set() if symbol is None else {atom(symbol, house)}
    neighbours = list(pairwise(houses))
    for between, end in ((" and ", " are next to each other."), (" is directly left of ", "."), (" is ", ".")):
        for first, second in _pairs(clue, between, end, phrases):
            left = [And(atom(first, one), atom(second, other)) for one, other in neighbours]
            right = [And(atom(first, other), atom(second, one)) for one, other in neighbours]
            match between:
                case " is ":
                    readings.add(ForAll(_X, Iff(atom(first, _X), atom(second, _X))))
                case " and ":
                    readings.add(disjunction((*left, *right)))
                case _:
                    readings.add(disjunction(tuple(left)))
    if len(readings) != 1:
        raise _UnusableError(f"the clue {clue!r} has {len(readings)} readings")
    return readings.pop()


def _pairs(clue: str, between: str, end: str, phrases: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The symbols of the two phrases of a clue, for each place where ``between`` may part them."""
    text = clue.removesuffix(end)
    for place in re.finditer(re.escape(between), text) if text != clue else ():
        first, second = (phrases.get(_lowered(part)) for part in (text[: place.start()], text[place.end() :]))
        if first is not None and second is not None:
            yield first, second


def _lowered(phrase: str) -> str:
    """A phrase as in the middle of a sentence: clues begin with a capital letter."""
    return phrase[:1].lower() + phrase[1:]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of values of zebra puzzles: its name, and for each value what clues call its owner."""

    name: str
    phrases: Mapping[str, str]


@cache
def _kinds() -> dict[str, _Kind]:
    """What a puzzle says of a kind of values -> the kind."""
    from reasoning_gym.logic.contrib.logic_puzzle import literals

    found: dict[str, _Kind] = {}
    for name, kind in vars(literals).items():
        if isinstance(kind, type) and issubclass(kind, literals.Literal) and kind is not literals.Literal:
            values: Any = kind  # an enumeration
            phrases = {value.name.replace("_", " "): value.value for value in values}
            found[values.description().partition(":")[0]] = _Kind(name.lower(), phrases)
    return found
