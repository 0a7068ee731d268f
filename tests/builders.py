"""Small builders and views that tests of several rooms share."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from proof_r1_formal.data.problem import Premise, Problem, three_way_options
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Answer, Reason, Unknown
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import And, Connective, Formula, Iff, Implies, Not, Or, Xor
from proof_r1_formal.proof.report import Code, StepReport
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show

CONNECTIVES: tuple[type[Connective], ...] = (And, Or, Xor, Implies, Iff)


def ask(*texts: str) -> Query:
    """The query whose last formula is the conclusion."""
    *dependencies, conclusion = [parse_formula(text) for text in texts]
    return Query(tuple(dependencies), conclusion)


def question(text: str) -> Query:
    """``p; q ⊢ r`` read as a query."""
    left, right = text.split("⊢")
    return Query(tuple([parse_formula(part) for part in left.split(";") if part.strip()]), parse_formula(right))


def problem(*premises: str, goal: str = "G(a)", answer: str | None = "h_goal_true") -> Problem:
    """The problem with the premises h1, h2, …"""
    parsed = tuple([Premise(f"h{number}", parse_formula(text)) for number, text in enumerate(premises, 1)])
    return Problem("test/1", parsed, three_way_options(parse_formula(goal)), answer)


def action(id_: str, conclusion: str, *dependencies: str, rule: str = "IMPLICATION_ELIMINATION") -> dict[str, object]:
    """An action as JSON."""
    return {"id": id_, "dependencies": list(dependencies), "conclusion": conclusion, "rule": rule}


class Silent:
    """A solver that decides nothing."""

    name = "silent"

    def decide(self, _query: Query) -> Answer:
        return Unknown(Reason.BUDGET)


GROUPS = "∀x ∀y ∀z m(m(x, y), z) = m(x, m(y, z)) ∧ ∀x m(e, x) = x ∧ ∀x m(i(x), x) = e"
"""The axioms of groups; that they do not entail commutativity is a hard question."""


class Metering(EmbeddedSolver):
    """Counts the steps that its answers cost."""

    steps = 0

    def decide(self, query: Query) -> Answer:
        answer = super().decide(query)
        self.steps += answer.steps
        return answer


def shown(query: Query) -> str:
    """The name of a test."""
    return f"{', '.join(map(show, query.dependencies))} ⊨ {show(query.conclusion)}"


def compound(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    """Negations and binary formulas of the formulas."""
    binary = st.tuples(st.sampled_from(CONNECTIVES), inner, inner)
    return inner.map(Not) | binary.map(lambda drawn: drawn[0](drawn[1], drawn[2]))


def completion(*steps: tuple[str, list[str], str, str]) -> str:
    """A completion of actions: id, dependencies, conclusion and rule of each."""
    actions = [{"id": i, "dependencies": d, "conclusion": c, "rule": r} for i, d, c, r in steps]
    return f"<summary>{json.dumps(actions)}</summary>"


def verdicts(step: StepReport) -> tuple[bool, bool, bool, bool, float]:
    """The four verdicts on an action, and its signal."""
    return step.schema, step.semantic, step.rule, step.progress, step.signal


def codes(step: StepReport) -> set[Code]:
    """The codes of the findings on an action."""
    return {finding.code for finding in step.findings}
