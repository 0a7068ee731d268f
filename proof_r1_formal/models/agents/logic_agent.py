"""LogicAgent as a baseline agent: several views of the claim, a symbolic solver, a reflection, a decision.

After Zhang et al., "From Ambiguity to Verdict: A Semiotic-Grounded Multi-Perspective Agent for LLM Logical Reasoning"
(2025), from its description. The views are the corners of the semiotic square: the claim, what contradicts it, what is
contrary to it, and what it implies (the contradiction of the contrary). For each, the model writes the premises and the
position of that corner as formulas, as it understands the English; a solver says whether the premises entail the
position or its negation, and the corner implies true, false, uncertain or nothing for the claim. A corner implies
nothing if its position holds only because nothing has its subject (existential import), or if its premises are
contradictory. The model then sees all results, confirms or changes the answer, and writes the proof. The option that
this proof binds is the answer, even if another option was to be proved.

If the options are not a claim and its negation, each option is a view, and the entailed one is the answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from proof_r1_formal.data.problem import FALSE, TRUE, UNCERTAIN, Problem
from proof_r1_formal.engine.solver import Solver
from proof_r1_formal.errors import ParseError, SolverError
from proof_r1_formal.kernel.answer import Entailed, Refuted, Unknown
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import Bottom, Exists, ForAll, Formula, Implies, Not
from proof_r1_formal.models.agents.answers import as_json, json_object
from proof_r1_formal.models.chat import Message, Sampling, TimedModel, ask_all
from proof_r1_formal.models.prompts import messages, question
from proof_r1_formal.rules.schema import Catalogue
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
class Finding:
    """The result of a view.

    Attributes:
        view: of the question.
        outcome: of the solver.
        formulas: of the model, as text.
    """

    view: View
    outcome: Outcome
    formulas: dict[str, object] | None

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


@dataclass(frozen=True, slots=True)
class LogicAgent:
    """The agent. It makes one call for each view, one for the reflection, and one for the proof.

    Attributes:
        rules: that the proof may name.
        sampling: of all replies.
        solver: the symbolic solver.
    """

    rules: Catalogue
    sampling: Sampling
    solver: Solver
    _solving: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False, compare=False)

    async def solve(self, problem: Problem, model: TimedModel) -> str:
        """See :class:`~proof_r1_formal.models.agents.Agent`."""
        angles = views(problem)
        replies = await ask_all(model, [formalisation(problem, view) for view in angles], self.sampling)
        findings = [await self._found(view, reply.text, model) for view, reply in zip(angles, replies, strict=True)]
        symbolic = combine(findings)
        reply = await model.reply(second_thought(problem, findings, symbolic), self.sampling)
        thought = json_object(reply.text) or {}
        named = thought.get("answer")
        decided = named if isinstance(named, str) and problem.option(named) is not None else symbolic
        chat = self.last_question(problem, decided, thought.get("reason"))
        return (await model.reply(chat, self.sampling)).text

    async def _found(self, view: View, reply: str, model: TimedModel) -> Finding:
        written = json_object(reply)
        read = None if written is None else read_formulas(written)
        if read is None:
            return Finding(view, Outcome.UNREADABLE, None)
        async with self._solving:  # in a thread, so that replies can come meanwhile; one, as no solver is made for more
            outcome, started, ended = await asyncio.to_thread(_timed, self.solver, *read)
        model.worked(started, ended)
        return Finding(view, outcome, written)

    def last_question(self, problem: Problem, answer: str | None, reason: object) -> list[Message]:
        """The chat that asks for the proof of the decided answer; without one, the model decides."""
        system, user = messages(problem, rules=self.rules, thinking=self.sampling.thinking)
        if answer is None:
            return [system, user]
        because = f" Your reason: {reason}" if isinstance(reason, str) else ""
        content = f"{user['content']}\n\nYou have decided for {answer}.{because}\nWrite the proof of that answer."
        return [system, {"role": "user", "content": content}]


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


def read_formulas(written: dict[str, object]) -> tuple[tuple[Formula, ...], Formula] | None:
    """The premises and the position in a reply; None if one is missing or does not parse."""
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


def _timed(solver: Solver, premises: tuple[Formula, ...], position: Formula) -> tuple[Outcome, float, float]:
    """The outcome of :func:`judge`, and from when to when that took."""
    started = time.time()
    return judge(solver, premises, position), started, time.time()


def judge(solver: Solver, premises: tuple[Formula, ...], position: Formula) -> Outcome:
    """The outcome of the solver for a position; undecided if the solver fails."""
    try:
        return _judged(solver, premises, position)
    except SolverError:
        return Outcome.UNDECIDED


def _judged(solver: Solver, premises: tuple[Formula, ...], position: Formula) -> Outcome:
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


def combine(findings: Sequence[Finding]) -> str | None:
    """The answer on which all definite findings agree; without definite ones, that of the open findings."""
    definite = {finding.answer for finding in findings if finding.outcome is not Outcome.OPEN} - {None}
    if not definite:
        definite = {finding.answer for finding in findings} - {None}
    return definite.pop() if len(definite) == 1 else None


def second_thought(problem: Problem, findings: Sequence[Finding], symbolic: str | None) -> list[Message]:
    """The chat of the reflection, which confirms or changes the answer."""
    seen = [
        f"- {finding.view.position}\n  formulas: {as_json(finding.formulas)}\n  solver: {finding.outcome.value}"
        for finding in findings
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
