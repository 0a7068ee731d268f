"""Reports, proofs and rules as Rich renderables for a terminal. In: plain data. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import assert_never

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Result, Uncertain
from proof_r1_formal.logic.show import show
from proof_r1_formal.proof.report import ModelReport, StepReport, TraceReport, model_in_words
from proof_r1_formal.rules.schema import Catalogue, Condition, Rule, Schema

_MARK = {True: "✓", False: "✗"}
_STYLE = {True: "green", False: "red"}


def html(renderable: RenderableType) -> str:
    """A renderable as HTML with its colors, for a notebook."""
    console = Console(file=StringIO(), record=True, width=120, force_jupyter=False)
    console.print(renderable)
    return console.export_html(inline_styles=True, code_format='<pre style="white-space: pre">{code}</pre>')


def problem(shown: Problem) -> RenderableType:
    """A problem: premises with their English, and options."""
    table = Table(title=shown.id, title_justify="left", show_header=False, box=None)
    for premise in shown.premises:
        table.add_row(Text(premise.id), Text(show(premise.formula)), Text(premise.text, "dim"))
    for option in shown.options:
        mark = " (right)" if option.id == shown.answer else ""
        table.add_row(Text(option.id, "bold"), Text(show(option.formula)), Text(f"{option.label}{mark}"))
    return Group(table, Text(shown.question, "bold")) if shown.question else table


def step(report: StepReport) -> RenderableType:
    """One action with its verdicts and reasons."""
    return Group(_actions([report]), *_findings([report]))


def trace(problem: Problem | None, report: TraceReport) -> RenderableType:
    """One verified trace: premises, actions with verdicts and reasons, and the closure of the answer as a tree.

    Args:
        problem: of the trace; without it, the premises are left out.
        report: on the trace.
    """
    premises = [] if problem is None else [_premises(problem, report)]
    actions = [_actions(report.actions), *_findings(report.actions)]
    return Group(_heading(problem, report), *premises, *actions, _closure(report))


def _heading(problem: Problem | None, report: TraceReport) -> Text:
    option = None if problem is None else problem.option(report.answer)
    label = report.answer if option is None else option.label
    answer = "no option selected" if label is None else f"answer {label}"
    correct = {True: "right", False: "wrong", None: ""}[report.answer_correct]
    verified = "rule-verified" if report.rule_verified else "verified" if report.verified else "not verified"
    judged = "" if label is None else f" ({', '.join([word for word in (correct, verified) if word])})"
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
    """One row per action; the four checks are, in order, schema, entailed, rule, progress."""
    table = Table(title="Actions (checks: schema, entailed, rule, progress)", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("id", no_wrap=True)
    table.add_column("from", max_width=12)
    table.add_column("conclusion", ratio=1)
    table.add_column("rule", max_width=18)
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
            tree.add(Text(f"countermodel: {model_in_words(step.countermodel)}"))
        yield tree


def _closure(report: TraceReport) -> RenderableType:
    """The answer at the root, with the dependencies of each action below it; repeated subtrees are not expanded."""
    steps: dict[str, StepReport] = {}
    for step in report.actions:
        if step.id is not None:
            steps.setdefault(step.id, step)
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


def result(problem: Problem, found: Result) -> RenderableType:
    """The result of proof synthesis for a problem."""
    heading = [problem.id, *([problem.question] if problem.question else [])]
    match found:
        case Proved(answer, steps, _):
            option = problem.option(answer)
            correct = {None: "", answer: " (right)"}.get(problem.answer, " (wrong)")
            heading.append(f"answer {answer if option is None else option.label}{correct}, {len(steps) - 1} steps")
            return Group(Text("\n".join(heading), "bold"), _proof(problem, steps))
        case Uncertain(models):
            lines = [f"premises without {name}: {model_in_words(ModelReport.of(m))}" for name, m in models.items()]
            return Group(Text("\n".join([*heading, "answer Uncertain"]), "bold"), Text("\n".join(lines)))
        case GaveUp(reason, detail):
            ending = f" ({detail})" if detail else ""
            return Text("\n".join([*heading, f"no proof: {reason.value}{ending}"]), "bold")
    assert_never(found)


def _proof(problem: Problem, steps: Sequence[ReferenceStep]) -> Table:
    """The premises of a proof with their English, then its steps with their rules."""
    used = {name for step in steps for name in step.dependencies}
    table = Table(show_header=False, box=None)
    for premise in problem.premises:
        if premise.id in used:
            table.add_row(Text(premise.id), Text(show(premise.formula)), Text(premise.text, "dim"))
    for step in steps:
        rule_name = step.rule.replace("_", " ").lower()
        table.add_row(
            Text(step.id, "green"), Text(step.conclusion), Text(f"{rule_name}: {', '.join(step.dependencies)}", "dim")
        )
    return table


def rules(catalogue: Catalogue) -> Table:
    """The rules of a catalogue, one line each."""
    table = Table("rule", "meaning", title=f"Rule catalogue {catalogue.name}", title_justify="left")
    for rule in catalogue.rules:
        table.add_row(Text(rule.name), Text(rule.meaning))
    return table


def rule(shown: Rule) -> RenderableType:
    """One rule with its schemata and an example."""
    tree = Tree(Text(shown.name, "bold"))
    tree.add(Text(shown.meaning))
    for schema in shown.schemata:
        tree.add(Text(_schema(schema)))
    tree.add(Text(f"for example: {'; '.join(shown.example.dependencies)} ⊢ {shown.example.conclusion}"))
    return tree


def _schema(schema: Schema) -> str:
    premises = "; ".join([f"[{show(p)}]" for p in schema.principal] + [show(p) for p in schema.minor])
    notes = [c.value for c in Condition if c in schema.conditions]
    suffix = f"  ({', '.join(notes)})" if notes else ""
    return f"{schema.name}: {premises} ⊢ {show(schema.conclusion)}{suffix}"
