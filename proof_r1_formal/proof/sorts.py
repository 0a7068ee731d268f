"""The sorts of a problem, written into its formulas and into the conclusions about it.

Sorts are inferred from the whole problem, but a step uses only some of its formulas: that ``tom`` is an Animal may
follow from a premise that the step does not use. So the inferred sorts are first written into every term. A problem
with only the default sort stays unchanged.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import SignatureError, require_type
from proof_r1_formal.kernel.signature import SignatureBuilder
from proof_r1_formal.kernel.symbols import symbols
from proof_r1_formal.proof.action import Action, Trace
from proof_r1_formal.proof.report import Code, Finding


def with_sorts(problem: Problem) -> tuple[Problem, SignatureBuilder]:
    """The problem with the sorts written into its formulas, and its symbols.

    Raises:
        SignatureError: the problem uses a symbol in two ways.
    """
    known = SignatureBuilder(problem.formulas())
    if known.one_sort:
        return problem, known
    premises = tuple([replace(premise, formula=known.sorted(premise.formula)) for premise in problem.premises])
    options = tuple([replace(option, formula=known.sorted(option.formula)) for option in problem.options])
    problem = replace(problem, premises=premises, options=options)
    return problem, SignatureBuilder(problem.formulas())


def conclusions_with_sorts(trace: Trace, known: SignatureBuilder) -> Trace:
    """The trace with the sorts written into its conclusions, see :func:`conclusion_with_sorts`."""
    return structs.replace(trace, actions=tuple([conclusion_with_sorts(action, known) for action in trace.actions]))


def conclusion_with_sorts(action: Action, known: SignatureBuilder) -> Action:
    """The action with the sorts written into its conclusion.

    A conclusion that clashes with the problem stays unchanged. One with a sort that the problem lacks gets a finding.

    ``known``: the symbols of the problem, from :func:`with_sorts`.

    Raises:
        TypeError: it is not an action.
    """
    require_type(action, Action, "action", "read_action() reads one, and gives None if there is none")
    formula = action.formula
    if formula is None or (known.one_sort and not symbols(formula).sorts):
        return action
    unknown = symbols(formula).sorts.difference(known.signature().sorts)
    if unknown:
        problem = f"the problem has no sort {', '.join(sorted(unknown))}"
        return structs.replace(action, findings=(*action.findings, Finding(Code.SYMBOL_CLASH, problem)))
    try:
        return structs.replace(action, formula=known.extend(formula).sorted(formula))
    except SignatureError:
        return action
