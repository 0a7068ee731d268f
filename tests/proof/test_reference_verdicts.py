"""Replays the verdicts of the reference implementation; ``docs/reference-differences.md`` explains the differences.

Every disagreement on an action must fall in a class below, and the number in each class must be the documented one.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.evaluation.measures import Measure, Row
from proof_r1_formal.evaluation.outcomes import output_row, reference_length, under_contract
from proof_r1_formal.kernel.syntax import And, Formula, Iff, Implies, Not, Or
from proof_r1_formal.proof.action import FIELDS as ACTION_FIELDS
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests import build
from tests.build import completion, reference_traces

FIELDS = {
    "schema": "schema_valid",
    "semantic": "semantic_verified",
    "rule": "rule_application_valid",
    "progress": "nontrivial_verified_progress",
    "in_closure": "in_closure",
}
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference-differences.md"

_Key = tuple[int, str]  # index of an action and name of a verdict


def classify(
    problem: Problem, report: TraceReport, reference: list[dict[str, Any]], declared: list[int]
) -> dict[_Key, str]:
    """The class of each disagreement of a trace; ``UNEXPLAINED`` if there is none.

    Args:
        problem: that the trace is for.
        report: ours.
        reference: theirs, action by action.
        declared: how many dependencies each action lists, repeats included.
    """
    ours = report.actions
    duplicated = any(_has(step, Code.DUPLICATE_ID) for step in ours)
    differs = {
        (index, name)
        for index, (step, theirs) in enumerate(zip(ours, reference, strict=True))
        for name, key in FIELDS.items()
        if getattr(step, name) != theirs[key]
    }
    classes: dict[_Key, str] = {}
    admitted_differently: set[str | None] = set()
    for index, (step, theirs) in enumerate(zip(ours, reference, strict=True)):
        for name, key in FIELDS.items():
            if (index, name) in differs:
                inherited = any(dependency in admitted_differently for dependency in step.dependencies)
                found = _class(
                    name, step, theirs[key], declared[index], duplicated, inherited, _restated(step, ours[:index])
                )
                if found == "UNEXPLAINED" and name == "rule" and step.schema:
                    found = _class_of_rule(step, theirs[key], _stated(problem, step, ours[:index]))
                classes[index, name] = found
        if (index, "semantic") in differs or (index, "rule") in differs:
            admitted_differently.add(step.id)
    return classes


def _restated(step: StepReport, earlier: tuple[StepReport, ...]) -> bool:
    """Whether an earlier action that was not admitted has the same conclusion."""
    return any(
        other.schema
        and not other.semantic
        and parse_formula(other.conclusion or "") is parse_formula(step.conclusion or "")
        for other in earlier
        if step.schema  # so that both conclusions are formulas
    )


def _class(
    name: str, step: StepReport, theirs: bool, declared: int, duplicated: bool, inherited: bool, restated: bool
) -> str:
    if _has(step, Code.DUPLICATE_ID) or (name == "in_closure" and duplicated):
        return "duplicate id"
    if theirs and any(_has(step, code) for code in (Code.UNPARSABLE_CONCLUSION, Code.SYMBOL_CLASH)):
        return "schema error here"
    if step.schema and declared > len(step.dependencies) and not theirs and (declared > 4 or name == "rule"):
        return "dependency named twice"
    if inherited:
        return "follows from an earlier difference"
    if name == "progress" and step.progress and step.declared_rule == GOAL_BINDING:
        return "binding is progress" if step.terminal else "goal binding before the end"
    if name == "rule" and not step.rule and step.declared_rule == GOAL_BINDING:
        return "binding does not infer"
    if name == "progress" and step.progress and not step.semantic:
        return "progress without entailment"
    if name == "progress" and step.progress and restated:
        return "repeats what was not admitted"
    if name == "progress" and (_has(step, Code.RESTATES_DEPENDENCY) or _has(step, Code.REPEATS_CONCLUSION)):
        return "repeats by equivalence"
    if name == "progress" and theirs and step.terminal and _has(step, Code.BINDING_MISMATCH):
        return "another formula under the option's id"
    return "UNEXPLAINED"


def _class_of_rule(step: StepReport, theirs: bool, stated: Sequence[Formula]) -> str:
    """Why the step is an instance of its rule on one side only, from what is one here if a formula is replaced."""
    conclusion, rule = parse_formula(step.conclusion or ""), step.declared_rule or ""
    sides = _sides(conclusion) if theirs and step.semantic and rule == "MODUS_TOLLENS" else []
    if any(_is_instance(stated, side, rule) for side in sides):
        return "weaker than the negated antecedent"
    if step.rule and not theirs:
        for place, formula in enumerate(stated):
            if any(_is_instance([*stated[:place], part, *stated[place + 1 :]], conclusion, rule)
                   for part in _parts(formula)):  # fmt: skip
                return "principal under a connective"
    return "UNEXPLAINED"


def _stated(problem: Problem, step: StepReport, earlier: tuple[StepReport, ...]) -> list[Formula]:
    """The formulas of the dependencies of a step."""
    known = {premise.id: premise.formula for premise in problem.premises}
    known |= {one.id or "": parse_formula(one.conclusion or "") for one in earlier if one.schema}
    return [known[name] for name in step.dependencies if name in known]


def _is_instance(stated: Sequence[Formula], conclusion: Formula, rule: str) -> bool:
    names = [f"h{number}" for number in range(1, len(stated) + 1)]
    asked = build.problem(*map(show, stated), goal=show(conclusion))
    return Verifier().verify(asked, completion(("s1", names, show(conclusion), rule))).actions[0].rule


def _sides(formula: Formula) -> list[Formula]:
    """What a disjunction is made of, at every depth; nothing of another formula."""
    halves = (formula.left, formula.right) if isinstance(formula, Or) else ()
    return [side for one in halves for side in (one, *_sides(one))]


def _parts(formula: Formula) -> list[Formula]:
    """What a formula states under its connectives, at every depth, without itself."""
    match formula:
        case And(left, right):
            direct = [left, right]
        case Iff(left, right):
            direct = [Implies(left, right), Implies(right, left)]
        case Not(Not(inner)):
            direct = [inner]
        case Not(Or(left, right)):
            direct = [Not(left), Not(right)]
        case Not(Implies(left, right)):
            direct = [left, Not(right)]
        case _:
            direct = []
    return [part for one in direct for part in (one, *_parts(one))]


def _has(step: StepReport, code: Code) -> bool:
    return any(finding.code is code for finding in step.findings)


def test_a_conclusion_that_does_not_parse_has_a_class() -> None:
    texts = ("Q(a)", "live_a_simple_life(Micah) ⊕ Nemo)", "P(a, a)", "Q(a)")
    steps = [(f"s{number}", ["h1"], text, "CONJUNCTION_ELIMINATION") for number, text in enumerate(texts)]
    asked = build.problem("P(a)", goal="P(a)")
    report = Verifier().verify(asked, completion(*steps))
    theirs = {key: key == "schema_valid" for key in FIELDS.values()}  # no conclusion is entailed
    assert classify(asked, report, [theirs] * 4, [1] * 4) == {
        (0, "progress"): "progress without entailment",
        (1, "schema"): "schema error here",
        (2, "schema"): "schema error here",
        (3, "progress"): "progress without entailment",
    }


ALL = frozenset(FIELDS)


@pytest.mark.parametrize(
    ("premises", "action", "there", "found"),
    [
        (
            ("p(b) → q(b)", "¬q(b)"),
            ("s1", "¬p(b) ∨ r(b)", "MODUS_TOLLENS"),
            ALL - {"in_closure"},
            {"rule": "weaker than the negated antecedent"},
        ),
        (
            ("p(b) → q(b)", "¬q(b)"),
            ("s1", "r(b) ∨ s(b) ∨ ¬p(b)", "MODUS_TOLLENS"),
            ALL - {"in_closure"},
            {"rule": "weaker than the negated antecedent"},
        ),
        (
            ("p(b) → q(b)", "¬q(b)"),
            ("s1", "q(b) → r(b)", "MODUS_TOLLENS"),  # entailed, but not a disjunction
            ALL - {"in_closure"},
            {"rule": "UNEXPLAINED"},
        ),
        (
            ("¬¬((p(b) → q(b)) ∧ s(b))", "p(b)"),
            ("s1", "q(b)", "IMPLICATION_ELIMINATION"),
            ALL - {"in_closure", "rule"},
            {"rule": "principal under a connective"},
        ),
        (
            ("p(b) → q(b)", "p(b)"),
            ("s1", "q(b)", "IMPLICATION_ELIMINATION"),
            ALL - {"in_closure", "rule"},
            {"rule": "UNEXPLAINED"},
        ),
        (
            ("p(b)", "q(b)"),
            ("h_goal_true", "p(b) ∧ q(b)", "CONJUNCTION_INTRODUCTION"),
            ALL,
            {"progress": "another formula under the option's id"},
        ),
        (
            ("p(b)", "∀x (p(x) → q(x))"),
            ("s1", "∀x p(x) → q(b)", "IMPLICATION_ELIMINATION"),
            ALL - {"in_closure", "rule"},
            dict.fromkeys(("schema", "semantic", "progress"), "schema error here"),
        ),
    ],
)
def test_differences_that_these_data_do_not_show_have_classes(
    premises: tuple[str, str], action: tuple[str, str, str], there: frozenset[str], found: dict[str, str]
) -> None:
    """The verdicts there are those that the document says."""
    name, conclusion, rule = action
    asked = build.problem(*premises, goal="r(b)")
    report = Verifier().verify(asked, completion((name, ["h1", "h2"], conclusion, rule)))
    theirs = {key: verdict in there for verdict, key in FIELDS.items()}
    classes = classify(asked, report, [theirs], [2])
    assert {verdict: of for (_, verdict), of in classes.items()} == found


@pytest.mark.parametrize(
    ("premises", "action", "signal"),
    [
        (("p(b) ∧ q(b) → p(b)", "p(b) ∧ q(b)"), ("s1", "p(b)", "IMPLICATION_ELIMINATION"), 0.3),
        (("q(b) ∨ ¬q(b)", "q(b) ∧ r(b)"), ("s1", "q(b)", "DISJUNCTIVE_SYLLOGISM"), 0.3),
        (("p(b) → q(b)", "¬q(b)"), ("s1", "¬p(b) ∨ r(b)", "MODUS_TOLLENS"), 0.3),
        (("p(b)", "q(b)"), ("h_goal_true", "p(b) ∧ q(b)", "CONJUNCTION_INTRODUCTION"), 0.3),
        (("¬∃x p(x)", "∀x (r(x) → p(x))"), ("s1", "~r(b)", "MODUS_TOLLENS"), 1.0),
        (("¬∃x p(x)", "∀x (r(x) → p(x))"), ("s1", "not r(b)", "MODUS_TOLLENS"), 1.0),
        (("p(b)", "p(b) → r(b)"), ("s1", "r(b, b)", "IMPLICATION_ELIMINATION"), 0.0),
        (("p(b)", "p(b) → q(b)"), (" ", "q(b)", "IMPLICATION_ELIMINATION"), 1.0),
        (("p(b)", "p(b) → q(b)"), ("s1", "q(b)", " "), 0.3),
    ],
)
def test_differences_by_design_are_as_documented(
    premises: tuple[str, str], action: tuple[str, str, str], signal: float
) -> None:
    name, conclusion, rule = action
    text = completion((name, ["h1", "h2"], conclusion, rule))
    (judged,) = Verifier().verify(build.problem(*premises, goal="r(b)"), text).actions
    assert judged.signal == signal


def answer_class(report: TraceReport, reference: list[dict[str, Any]]) -> str:
    """Why the answer is right and verified on one side only; there, a closure whose actions are all entailed is."""
    codes = {finding.code for finding in report.findings}
    if Code.BINDING_MISMATCH in codes:
        return "another formula under the option's id"
    if Code.NO_BINDING in codes:
        return "option selected by its formula"
    pairs = zip(report.actions, reference, strict=True)
    if any(ours.semantic != theirs["semantic_verified"] for ours, theirs in pairs if ours.in_closure):
        return "closure with a different verdict"
    return "UNEXPLAINED"


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("solver", ["embedded", "z3"])
def test_disagreements_with_the_reference_are_documented(shared_data: Path, solver: str) -> None:
    verifier = Verifier(get_solver(solver), evidence="checked" if solver == "embedded" else "none")
    answers = 0
    counts: Counter[tuple[str, str]] = Counter()
    verified: Counter[tuple[str, str]] = Counter()
    unexplained: list[str] = []
    actions = 0
    for problem, theirs in reference_traces(shared_data):
        report = verifier.verify(problem, theirs["response"])
        if report.answer_correct != theirs["answer_correct"]:
            assert report.answer_correct and problem.option(report.actions[-1].id) is None, problem.id
            answers += 1
        assert [list(step.span) for step in report.actions] == [
            [step["char_start"], step["char_end"]] for step in theirs["actions"]
        ]
        actions += len(report.actions)
        closure = [step["semantic_verified"] for step in theirs["actions"] if step["in_closure"]]
        sound = bool(theirs["answer_correct"]) and bool(closure) and all(closure)
        if sound != bool(report.answer_correct and report.verified):
            verified[answer_class(report, theirs["actions"]), "there" if sound else "here"] += 1
        listed = json.loads(re.search(r"<summary>(.*)</summary>", theirs["response"], re.DOTALL)[1])  # type: ignore[index]
        for (index, name), found in classify(
            problem, report, theirs["actions"], [len(item.get("dependencies", [])) for item in listed]
        ).items():
            counts[found, name] += 1
            if found == "UNEXPLAINED":
                unexplained.append(f"{problem.id} {theirs['kind']} {name} of {report.actions[index]}")
    assert actions == 7586
    assert answers == 10  # selected by formula: ours up to equivalence and whatever the rule, theirs as text
    assert not unexplained, "\n".join(unexplained[:10])
    assert _documented(tuple(FIELDS)) == counts
    assert _documented(("there", "here")) == verified


# -- scores -----------------------------------------------------------------------------------------------------------

SCORES = (Measure.AVG, Measure.PASS, Measure.FVR, Measure.RVR, Measure.RGD)


def their_row(problem: Problem, theirs: dict[str, Any], listed: list[Any]) -> Row:
    """What an output adds to the scores of the reference implementation, from its verdicts on the actions.

    An output is discarded if an action lacks a field, is not an object, or has dependencies that are not a list of at
    most four.
    """
    kept = all(isinstance(item, dict) and set(ACTION_FIELDS) <= set(item) for item in listed)
    kept = kept and all(isinstance(of := item["dependencies"], list) and len(of) <= 4 for item in listed)
    reference = reference_length(problem)
    assert reference is not None
    if not kept:
        return {Measure.AVG: (0, 1), Measure.RGD: (math.log(max(1, reference)), 1)}
    premises = {premise.id for premise in problem.premises}
    row: Row = {Measure.AVG: (bool(theirs["answer_correct"]), 1)}
    for measure, verdicts in (
        (Measure.FVR, ("schema_valid", "semantic_verified")),
        (Measure.RVR, ("schema_valid", "semantic_verified", "rule_application_valid")),
    ):
        admitted, over, under = set(premises), 0, 0
        for item, action in zip(listed, theirs["actions"], strict=True):
            passes = all(action[verdict] for verdict in verdicts)
            over += passes
            under += passes or admitted.issuperset(item["dependencies"])
            if passes:
                admitted.add(item["id"])
        row[measure] = (over, under)
    generated = sum([action["in_closure"] for action in theirs["actions"][:-1]])
    return {**row, Measure.RGD: (abs(math.log(max(1, generated) / max(1, reference))), 1)}


@pytest.mark.shared
@pytest.mark.slow
def test_strict_scores_differ_where_verdicts_do(shared_data: Path) -> None:
    verifier = Verifier(get_solver("embedded"))
    sums = {measure: [[0.0, 0.0], [0.0, 0.0]] for measure in SCORES}
    right: tuple[dict[str, bool], dict[str, bool]] = ({}, {})
    differing: Counter[Measure] = Counter()
    unexplained: list[str] = []
    for problem, theirs in reference_traces(shared_data):
        report = verifier.verify(problem, theirs["response"])
        listed = json.loads(re.search(r"<summary>(.*)</summary>", theirs["response"], re.DOTALL)[1])  # type: ignore[index]
        there = their_row(problem, theirs, listed)
        kept = under_contract(report, "strict")
        here = output_row(kept, reference_length(problem), None, eligibility="reference", contract="strict")
        classes = classify(problem, report, theirs["actions"], [len(item.get("dependencies", [])) for item in listed])
        unknown = any(_has(step, Code.UNKNOWN_RULE) for step in report.actions)
        explained = bool(classes) or unknown or report.answer_correct != theirs["answer_correct"]
        for side, row in enumerate((there, here)):
            for measure in SCORES:
                part = row.get(measure, (0, 0))
                sums[measure][side] = [a + b for a, b in zip(sums[measure][side], part, strict=True)]
            right[side][problem.id] = right[side].get(problem.id, False) or bool(row[Measure.AVG][0])
        for measure in SCORES:
            parts = [[float(value) for value in row.get(measure, (0, 0))] for row in (there, here)]
            if parts[0] != pytest.approx(parts[1]):
                differing[measure] += 1
                if not explained:
                    unexplained.append(f"{problem.id} {theirs['kind']} {measure}: {parts}")
    sums[Measure.PASS] = [[sum(side.values()), len(side)] for side in right]
    differing[Measure.PASS] = sum([right[0][name] != right[1][name] for name in right[0]])
    assert not unexplained, "\n".join(unexplained[:10])
    for measure in SCORES:
        values = [f"{over / under:.4f}" for over, under in sums[measure]]
        assert f"| {measure} | {' | '.join(values)} | {differing[measure]} |" in DOCUMENT.read_text(encoding="utf-8")


def _documented(columns: tuple[str, ...]) -> Counter[tuple[str, str]]:
    """The counts in the table of the document with these columns behind the class."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(columns) + 1 and cells[1].isdigit():
            for name, cell in zip(columns, cells[1:], strict=True):
                if int(cell):
                    counts[cells[0], name] = int(cell)
    return counts
