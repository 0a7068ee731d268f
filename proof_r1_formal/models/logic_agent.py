"""LogicAgent, the procedure: views of a claim, the solver's deduction in each, a reflection, and the proof to ask for.

After Zhang et al., "From Ambiguity to Verdict: A Semiotic-Grounded Multi-Perspective Agent for LLM Logical Reasoning"
(2025), from its description. In: a problem, and what a model replies. Out: the next message, and finally the request
for a proof. ``integrations.inspect_agents`` asks the model.

The views are the corners of the semiotic square: the claim, its contradiction, a contrary of it, and what it implies
(the contradiction of the contrary). For each, the model writes the premises and the position of that corner as
formulas, as it understands the English. A solver says whether these premises entail the position or its negation, and
the outcome implies an option or nothing. It implies nothing if the position holds only because nothing has its subject
(existential import), or if the premises are contradictory. The model then sees all outcomes, confirms or changes the
answer, and writes the proof. The option that this proof binds is the answer, even if another one was to be proved.

If the options are not a claim and its negation, each option is a view, and the entailed one is the answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from proof_r1_formal.data.problem import FALSE, TRUE, UNCERTAIN, Problem
from proof_r1_formal.engine.solver import Solver
from proof_r1_formal.errors import ParseError, SolverError
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted, Unknown
from proof_r1_formal.kernel.syntax import Bottom, Exists, ForAll, Formula, Implies, Not
from proof_r1_formal.models.prompts import Message, question
from proof_r1_formal.models.replies import json_object
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show


class Outcome(StrEnum):
    """The result of the solver for the position of a view."""

    ENTAILED = "the premises entail it"
    DENIED = "the premises entail its negation"
    OPEN = "the premises leave it open"
    VACUOUS = "it holds only because nothing has its subject"
    INCONSISTENT = "the premises contradict each other"
    UNDECIDED = "the solver did not decide it"
    UNREADABLE = "there are no formulas to ask about"


@dataclass(frozen=True, slots=True)
class View:
    """A view of the question, with the option that each outcome implies.

    Attributes:
        position: the statement that the model formalises.
        entailed, denied, open: id of the option that the outcome implies, or None.
    """

    position: str
    entailed: str | None = None
    denied: str | None = None
    open: str | None = None


@dataclass(frozen=True, slots=True)
class Deduction:
    """The result of a view.

    Attributes:
        view: of the question.
        outcome: of the solver.
        formulas: of the model, as text.
    """

    view: View
    outcome: Outcome
    formulas: dict[str, object] | None = None

    @property
    def answer(self) -> str | None:
        """Id of the option that the outcome implies, if any."""
        match self.outcome:
            case Outcome.ENTAILED:
                return self.view.entailed
            case Outcome.DENIED:
                return self.view.denied
            case Outcome.OPEN:
                return self.view.open
            case Outcome.VACUOUS | Outcome.INCONSISTENT | Outcome.UNDECIDED | Outcome.UNREADABLE:
                return None
        assert_never(self.outcome)


# -- views ------------------------------------------------------------------------------------------------------------


def views(problem: Problem) -> list[View]:
    """The corners of the semiotic square of a claim; of other options, each."""
    named = {option.label: option for option in problem.options}
    true, false = named.get(TRUE), named.get(FALSE)
    if true is None or false is None:
        return [
            View(f"what option {option.id} says: {show(option.formula)}", entailed=option.id)
            for option in problem.options
        ]
    unsure = named[UNCERTAIN].id if UNCERTAIN in named else None
    claim = f"the claim {show(true.formula)}"
    return [
        View(f"{claim} itself", entailed=true.id, denied=false.id, open=unsure),
        View(f"the contradiction of {claim}: what is true exactly if it is false", false.id, true.id, unsure),
        View(f"a contrary of {claim}: what cannot be true together with it, though both may be false", false.id),
        View(f"what {claim} implies: the denial of a contrary of it", denied=false.id),
    ]


def formalisation(problem: Problem, view: View) -> list[Message]:
    """The chat that asks for the formulas of a view."""
    content = f"{question(problem)}\n\nThe position: {view.position}."
    return [{"role": "system", "content": _FORMALISE}, {"role": "user", "content": content}]


_FORMALISE = """\
You put a question of logic into formulas from one point of view. Read the premises closely: what do they say, what is \
meant by each word, what could be understood in two ways? Then write every premise, and the position that is named at \
the end, as first-order formulas with the predicates and names of the problem and ¬ ∧ ∨ ⊕ → ↔ ∀x ∃x.

End with one JSON object: {"premises": {"h1": "…", "h2": "…"}, "position": "…"}."""


def deduce(view: View, reply: str, solver: Solver) -> Deduction:
    """The solver's result for the formulas in a reply."""
    written = json_object(reply)
    read = None if written is None else _read_formulas(written)
    if read is None:
        return Deduction(view, Outcome.UNREADABLE)
    return Deduction(view, judge(solver, *read), written)


def _read_formulas(written: dict[str, object]) -> tuple[tuple[Formula, ...], Formula] | None:
    """The premises and the position in a reply; None if one is missing or is not a formula with one reading."""
    premises, position = written.get("premises"), written.get("position")
    if not isinstance(premises, dict) or not isinstance(position, str):
        return None
    texts = list(premises.values())
    if not all(isinstance(text, str) for text in texts):
        return None
    try:
        return tuple([parse_formula(text) for text in texts]), parse_formula(position)
    except ParseError:
        return None


# -- deduction --------------------------------------------------------------------------------------------------------


def judge(solver: Solver, premises: tuple[Formula, ...], position: Formula) -> Outcome:
    """The outcome of the solver for a position; undecided if the solver fails."""
    try:
        return _judge(solver, premises, position)
    except SolverError:
        return Outcome.UNDECIDED


def _judge(solver: Solver, premises: tuple[Formula, ...], position: Formula) -> Outcome:
    if isinstance(solver.decide(Query(premises, Bottom())), Entailed):
        return Outcome.INCONSISTENT
    match solver.decide(Query(premises, position)):
        case Entailed():
            subject = _subject(position)
            empty = subject is not None and isinstance(solver.decide(Query(premises, Not(subject))), Entailed)
            return Outcome.VACUOUS if empty else Outcome.ENTAILED
        case Unknown():
            return Outcome.UNDECIDED
        case Refuted():
            pass
    denial = solver.decide(Query(premises, Not(position)))
    match denial:
        case Entailed():
            return Outcome.DENIED
        case Refuted():
            return Outcome.OPEN
        case Unknown():
            return Outcome.UNDECIDED
    assert_never(denial)


def _subject(position: Formula) -> Formula | None:
    """That there is something of which ``∀x … (A → B)`` speaks: ``∃x … A``; None of a position of another form."""
    match position:
        case ForAll(variable, Implies(antecedent, _)):
            return Exists(variable, antecedent)
        case ForAll(variable, body):
            inner = _subject(body)
            return None if inner is None else Exists(variable, inner)
    return None


def combine(deductions: Sequence[Deduction]) -> str | None:
    """The answer on which all definite deductions agree; without definite ones, that of the open ones."""
    definite = {one.answer for one in deductions if one.outcome is not Outcome.OPEN} - {None}
    if not definite:
        definite = {one.answer for one in deductions} - {None}
    return definite.pop() if len(definite) == 1 else None


# -- reflection -------------------------------------------------------------------------------------------------------


def reflection(problem: Problem, deductions: Sequence[Deduction], symbolic: str | None) -> list[Message]:
    """The chat of the reflection, which confirms or changes the answer."""
    seen = [
        f"- {one.view.position}\n  formulas: {json.dumps(one.formulas, ensure_ascii=False)}\n  solver: {one.outcome}"
        for one in deductions
    ]
    says = "The solver gives no answer." if symbolic is None else f"Together they speak for {symbolic}."
    content = "\n".join([question(problem), "", "Points of view:", *seen, "", says])
    return [{"role": "system", "content": _REFLECT}, {"role": "user", "content": content}]


_REFLECT = """\
You look once more at how a question of logic was answered. For each point of view you see the formulas that were \
written and what a solver found. Check that the formulas say what the premises say, that the points of view agree, and \
that nothing was concluded from an empty subject; the solver is right about its formulas. Then decide for one option: \
confirm the answer, or correct it.

End with one JSON object: {"answer": "the id of the option", "reason": "…"}."""


def request(problem: Problem, reply: str, symbolic: str | None) -> str:
    """What the request for the proof adds to the problem, after a reflection.

    Empty if neither the reflection nor the solver names an option: the model then decides while it proves.
    """
    thought = json_object(reply) or {}
    named = thought.get("answer")
    decided = named if isinstance(named, str) and problem.option(named) is not None else symbolic
    if decided is None:
        return ""
    reason = thought.get("reason")
    because = f" Your reason: {reason}" if isinstance(reason, str) else ""
    return f"\n\nYou have decided for {decided}.{because}\nWrite the proof of that answer."
