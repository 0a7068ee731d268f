"""Results of proof synthesis as Rich renderables, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Result, Uncertain
from proof_r1_formal.proof.report import ModelReport, model_in_words
from proof_r1_formal.text.show import show


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
            lines = [
                f"model of the premises in which {name} is false: {model_in_words(ModelReport.of(model))}"
                for name, model in models.items()
            ]
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
