"""Reports as Rich renderables, for a terminal or a notebook.

In: a report. Out: a table, or several. Reports call this module when they are shown; no other use needs Rich.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.text.show import show

if TYPE_CHECKING:  # reports show themselves by this module
    from proof_r1_formal.proof.report import StepReport, TraceReport

_MARK = {True: "✓", False: "✗"}
_STYLE = {True: "green", False: "red"}


def step(report: StepReport) -> RenderableType:
    """One action with its verdicts and reasons."""
    return Group(_actions([report]), *_findings([report]))


def trace(problem: Problem | None, report: TraceReport) -> RenderableType:
    """One verified trace: premises, actions with verdicts and reasons, and the closure of the answer as a tree.

    Without the problem, the premises are left out.
    """
    premises = [] if problem is None else [_premises(problem, report)]
    actions = [_actions(report.actions), *_findings(report.actions)]
    return Group(_heading(problem, report), *premises, *actions, _closure(report))


def _heading(problem: Problem | None, report: TraceReport) -> Text:
    option = None if problem is None else problem.option(report.answer)
    label = report.answer if option is None else option.label
    answer = "no option selected" if label is None else f"answer {label}"
    correct = {True: "right", False: "wrong", None: ""}[report.answer_correct]
    judged = "" if label is None else f" ({', '.join([word for word in (correct, report.level) if word])})"
    lines = [f"{report.problem_id}, sample {report.sample}: {answer}{judged}"]
    if problem is not None and problem.question:
        lines.append(problem.question)
    if report.consistency != "consistent":
        lines.append(f"The premises are {report.consistency}.")
    if report.findings and label is not None:
        level = "rule-verified" if report.verified else "verified"
        lines.append(f"The answer is not {level}: {'; '.join([finding.message for finding in report.findings])}")
    evidence = [step.evidence for step in report.actions if step.evidence is not None]
    if evidence:
        counts = ", ".join(f"{evidence.count(level)} {level}" for level in dict.fromkeys(evidence))
        lines.append(f"Evidence of verdicts on entailment: {counts}")
    return Text("\n".join(lines), style="bold")


def _premises(problem: Problem, report: TraceReport) -> Table:
    table = Table(title="Premises", title_justify="left", show_header=False, box=None)
    for premise in problem.premises:
        style = "" if premise.id in report.closure else "dim"
        table.add_row(Text(premise.id, style), Text(show(premise.formula), style), Text(premise.text, "dim"))
    return table


def _actions(steps: Iterable[StepReport]) -> Table:
    """One row per action; the four checks are, in order, schema, semantic, rule, progress."""
    table = Table(title="Actions (checks: schema, semantic, rule, progress)", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("id", no_wrap=True)
    table.add_column("from", max_width=12)
    table.add_column("conclusion", ratio=1)
    table.add_column("rule", max_width=21)
    table.add_column("checks", no_wrap=True)
    table.add_column("signal", justify="right")
    for step in steps:
        style = "" if step.in_closure else "dim"
        checks = Text(" ").join(
            [Text(_MARK[v], _STYLE[v]) for v in (step.schema, step.semantic, step.rule, step.progress)]
        )
        table.add_row(
            Text(step.id or "–", style),
            Text(" ".join(step.dependencies), style),
            Text(step.conclusion or "–", style),
            Text((step.declared_rule or "–").replace("_", " ").lower(), style),
            checks,
            Text(f"{step.signal}", style),
        )
    return table


def _findings(steps: Iterable[StepReport]) -> Iterator[RenderableType]:
    for index, step in enumerate(steps):
        if not step.findings:
            continue
        heading = "to note" if step.signal == 1.0 else "why not"
        tree = Tree(Text(f"{step.id or f'action {index + 1}'}: {heading}", "bold"))
        for finding in step.findings:
            tree.add(Text(f"{finding.message}  [{finding.code.value}]"))
        if step.countermodel is not None:
            tree.add(Text(f"countermodel: {step.countermodel.in_words()}"))
        yield tree


def _closure(report: TraceReport) -> RenderableType:
    """The answer at the root, with the dependencies of each action below it; repeated subtrees are not expanded."""
    steps = {step.id: step for step in reversed(report.actions) if step.id is not None}  # of one id, the first
    if not report.closure:
        return Text("No terminal action, so the closure is empty.", "dim")
    terminal = report.actions[-1]
    tree = Tree(Text(f"closure of {_label(terminal)}", "bold"))
    opened: set[str] = set()
    stack = [(tree, name) for name in reversed(terminal.dependencies)]
    while stack:
        node, name = stack.pop()
        if name not in report.closure:
            node.add(Text(f"{name} (unknown)", "red"))
        elif name not in steps:
            node.add(Text(name))
        elif name in opened:
            node.add(Text(f"{name} (above)", "dim"))
        else:
            opened.add(name)
            child = node.add(Text(_label(steps[name]), _STYLE[steps[name].semantic]))
            stack.extend((child, dependency) for dependency in reversed(steps[name].dependencies))
    idle = [name for name in report.closure if name not in report.used_closure]
    return Group(tree, Text(f"used by no proof: {', '.join(idle)}", "dim")) if idle else tree


def _label(step: StepReport) -> str:
    return f"{step.id}: {step.conclusion}"
