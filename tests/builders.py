"""Small builders and views that tests of several rooms share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion, read_completions
from proof_r1_formal.data.problem import Premise, Problem, three_way_options
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Answer, Reason, Refuted, Unknown
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.syntax import BOTTOM, And, App, Connective, Formula, Iff, Implies, Not, Or, Xor, atom, const
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
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


def example_answers() -> list[tuple[Problem, Completion]]:
    """The completions of the examples, with their problems."""
    folder = Path(__file__).resolve().parent.parent / "examples"
    problems = read_problems(folder / "problems.jsonl")
    read = [item for item in read_completions(folder / "completions.jsonl") if isinstance(item, Completion)]
    return [(problems[item.problem_id], item) for item in read]


def action(id_: str, conclusion: str, *dependencies: str, rule: str = "IMPLICATION_ELIMINATION") -> dict[str, object]:
    """An action as JSON."""
    return {"id": id_, "dependencies": list(dependencies), "conclusion": conclusion, "rule": rule}


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


def pigeons(count: int, holes: int) -> Query:
    """Each pigeon is in a hole, and no hole has two: ⊥ follows if there are more pigeons than holes."""
    somewhere = [" ∨ ".join(f"in(p{i}, h{j})" for j in range(holes)) for i in range(count)]
    alone = [f"¬(in(p{i}, h{j}) ∧ in(p{k}, h{j}))" for j in range(holes) for i, k in combinations(range(count), 2)]
    return Query(tuple(map(parse_formula, (*somewhere, *alone))), BOTTOM)


INFINITE = ask("∀x ∃y r(x, y)", "∀x ¬r(x, x)", "∀x ∀y ∀z (r(x, y) ∧ r(y, z) → r(x, z))", "⊥")
"""A query that only infinite structures refute."""


def reason_of(answer: Answer) -> Reason:
    """Why the answer is Unknown."""
    assert isinstance(answer, Unknown), answer
    return answer.reason


def model_of(answer: Answer) -> Structure:
    """The structure of a refutation."""
    assert isinstance(answer, Refuted), answer
    assert answer.model is not None
    return answer.model


class Told:
    """A solver with given answers.

    Args:
        answers: the text of a conclusion -> the answer to questions about it.
        others: the answer to all other questions; without it, the embedded engine's.
    """

    name = "told"

    def __init__(self, answers: Mapping[str, Answer] = MappingProxyType({}), others: Answer | None = None) -> None:
        self._answers, self._others, self._engine = answers, others, EmbeddedSolver()

    def decide(self, query: Query) -> Answer:
        return self._answers.get(show(query.conclusion)) or self._others or self._engine.decide(query)


SILENT = Told(others=Unknown(Reason.BUDGET))
"""A solver that decides nothing."""


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
    return summary(*[action(name, conclusion, *names, rule=rule) for name, names, conclusion, rule in steps])


def summary(*actions: object) -> str:
    """A completion of actions as JSON."""
    return f"<summary>{json.dumps(actions)}</summary>"


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


def reference_traces(folder: Path) -> list[tuple[Problem, dict[str, Any]]]:
    """What the reference implementation said of each trace of the benchmark data, and its problem."""
    problems = read_problems(folder / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    records = map(json.loads, (folder / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines())
    return [(problems[f"{record['difficulty']}/{record['problem_id']}"], record) for record in records]


def verdicts(step: StepReport) -> tuple[bool, bool, bool, bool, float]:
    """The four verdicts on an action, and its signal."""
    return step.schema, step.semantic, step.rule, step.progress, step.signal


def codes(step: StepReport) -> set[Code]:
    """The codes of the findings on an action."""
    return {finding.code for finding in step.findings}
