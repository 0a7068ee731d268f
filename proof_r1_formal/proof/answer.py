"""The answer of a trace: which action states it, which option it selects, and whether it is verified.

This module holds the one definition of a verified answer. ``TraceReport.verified``, ``rule_verified`` and ``findings``
carry it; metrics, rewards, certificates, bundles, pages and trainers read those fields and decide nothing themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from proof_r1_formal.data.problem import UNCERTAIN, Option, Problem
from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.action import Action
from proof_r1_formal.proof.report import Code, Finding, StepReport
from proof_r1_formal.rules.schema import GOAL_BINDING, Rule

Consistency: TypeAlias = Literal["consistent", "inconsistent", "undecided"]
Openness: TypeAlias = Literal["verified", "refuted", "undecided"]


def binds(problem: Problem, action: Action, rule: Rule | None) -> bool:
    """Whether an action is terminal if it is the last one: its rule is GOAL_BINDING, or its id is an option's.

    Args:
        problem, action: whose action it is.
        rule: that the action names.
    """
    return (rule is not None and rule.name == GOAL_BINDING) or problem.option(action.id) is not None


def selected_option(problem: Problem, last: Action | None, oracle: Oracle, *, by_formula: bool) -> Option | None:
    """The option with the id of the last action.

    Args:
        problem: with its sorts written into the formulas, as in :meth:`Verifier.read`.
        last: the last action, likewise, or None.
        oracle: compares formulas.
        by_formula: for evaluation: where the id is not that of an option, select the first option whose formula is
            equivalent to the last conclusion. Such an answer may be right, but it is never verified.
    """
    if last is None:
        return None
    named = problem.option(last.id)
    if named is not None or not by_formula or last.formula is None:
        return named
    formula = last.formula
    return next((option for option in problem.options if states(formula, option, oracle)), None)


def states(conclusion: Formula, option: Option | None, oracle: Oracle) -> bool:
    """Whether there is an option, and the conclusion is logically equivalent to its formula (without the premises)."""
    return option is not None and isinstance(oracle.proves_equivalent(conclusion, option.formula), Entailed)


def binding_findings(
    problem: Problem, action_id: str | None, conclusion: Formula, oracle: Oracle
) -> tuple[Finding, ...]:
    """Why a terminal action does not state the formula of the option that its id names; empty if it does."""
    option = problem.option(action_id)
    if option is None:
        return (Finding(Code.BINDING_MISMATCH, f"{action_id!r} is not an option"),)
    match oracle.proves_equivalent(conclusion, option.formula):
        case Entailed():
            return ()
        case Refuted():
            return (Finding(Code.BINDING_MISMATCH, f"the conclusion is not that of {option.id}"),)
        case Unknown(reason, detail):
            why = f"{reason}: {detail}"
            message = f"whether the conclusion is that of {option.id} stayed undecided ({why})"
            return (Finding(Code.BINDING_UNDECIDED, message, broken=reason is Reason.BROKEN),)


def answer_findings(
    option: Option | None, steps: Sequence[StepReport], contradiction: Answer, uncertain: Openness | None
) -> Iterator[Finding]:
    """Why the answer is not verified, or not rule-verified.

    An answer is verified if the terminal action has the id of an option and states its formula, the premises have a
    model, and every action of the closure is entailed by its dependencies. Each of these needs evidence that was
    checked. An answer is rule-verified if each action of the closure is also an instance of its rule. No action can
    show an answer Uncertain: it is verified by ``uncertain`` in place of the closure, and never rule-verified. A
    closure without premises needs no condition: what follows from nothing is valid.

    Args:
        option: that is selected.
        steps: the reports on all actions.
        contradiction: whether the premises contradict each other.
        uncertain: whether two countermodels confirm the answer Uncertain; None for other answers.
    """
    if option is None:
        yield Finding(Code.NO_BINDING, "no option is selected")
        return
    terminal = next((step for step in steps if step.terminal), None)
    if terminal is None or terminal.id != option.id:
        yield Finding(Code.NO_BINDING, f"{option.id} is selected by its formula, and by no action of its id")
        return
    codes = {finding.code for finding in terminal.findings}
    if not terminal.schema or Code.BINDING_MISMATCH in codes:
        yield Finding(Code.BINDING_MISMATCH, f"the terminal action does not state the formula of {option.id}")
    elif Code.BINDING_UNDECIDED in codes:
        yield Finding(Code.BINDING_UNDECIDED, f"whether the terminal action states {option.id} stayed undecided")
    if isinstance(contradiction, Entailed):
        yield Finding(Code.INCONSISTENT_PREMISES, "the premises contradict each other, so everything follows from them")
    elif isinstance(contradiction, Unknown):
        why = f"{contradiction.reason}: {contradiction.detail}"
        message = f"whether the premises have a model stayed undecided ({why})"
        yield Finding(Code.UNDECIDED, message, broken=contradiction.reason is Reason.BROKEN)
    if option.label == UNCERTAIN:
        if uncertain == "refuted":
            yield Finding(Code.NOT_UNCERTAIN, "the premises entail the goal or its negation")
        elif uncertain != "verified":
            yield Finding(Code.UNDECIDED, "whether the premises leave the goal open stayed undecided")
    elif failing := _names([step for step in steps if step.in_closure and not step.semantic]):
        yield Finding(Code.UNVERIFIED_STEP, f"not entailed: {', '.join(failing)}", failing)
    elif failing := _names([step for step in steps if step.in_closure and step.evidence == "unsupported"]):
        yield Finding(Code.UNSUPPORTED_STEP, f"entailed by an answer without a proof: {', '.join(failing)}", failing)
    elif failing := _names([step for step in steps if step.in_closure and not step.rule]):
        yield Finding(Code.UNRULED_STEP, f"not an instance of its rule: {', '.join(failing)}", failing)


def _names(steps: Sequence[StepReport]) -> tuple[str, ...]:
    return tuple([step.id or "an action without an id" for step in steps])


def is_verified(findings: Iterable[Finding]) -> bool:
    """Whether an answer with these :func:`answer_findings` is verified."""
    return all(finding.code is Code.UNRULED_STEP for finding in findings)
