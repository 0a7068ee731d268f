"""Why an answer is not verified, from the verdicts alone: what is undecided never counts as verified."""

from __future__ import annotations

import pytest
from msgspec import structs

from proof_r1_formal.data.problem import GOAL_TRUE, GOAL_UNCERTAIN, Option, three_way_options
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.kernel.answer import Answer, Entailed, Reason, Refuted, Unknown
from proof_r1_formal.proof.answer import Openness, answer_findings, binding_findings, is_verified, states
from proof_r1_formal.proof.report import Code, Finding, StepReport
from proof_r1_formal.text.parse import parse_formula
from tests.build import STEP, problem
from tests.solvers import SILENT

GOAL, _, OPEN = three_way_options(parse_formula("∀x P(x)"))
OPEN_QUESTION = Unknown(Reason.BUDGET, "Z3 used its 200000 steps")


def step(name: str | None, *, semantic: bool = True, rule: bool = True, option: Option | None = None) -> StepReport:
    """A report on an action of the closure; the terminal one has an option."""
    named = structs.replace(STEP, id=name, semantic=semantic, rule=rule)
    return named if option is None else structs.replace(named, id=option.id, terminal=True)


@pytest.mark.parametrize(
    ("option", "contradiction", "uncertain", "code"),
    [
        (GOAL, Refuted(), None, None),
        (GOAL, OPEN_QUESTION, None, Code.UNDECIDED),
        (GOAL, Entailed(), None, Code.INCONSISTENT_PREMISES),
        (OPEN, Refuted(), "verified", None),
        (OPEN, OPEN_QUESTION, "verified", Code.UNDECIDED),
        (OPEN, Refuted(), "undecided", Code.UNDECIDED),
        (OPEN, Refuted(), "refuted", Code.NOT_UNCERTAIN),
        (OPEN, Refuted(), None, Code.UNDECIDED),
    ],
)
def test_what_is_undecided_is_not_verified(
    option: Option, contradiction: Answer, uncertain: Openness | None, code: Code | None
) -> None:
    findings = tuple(answer_findings(option, [step(None, option=option)], contradiction, uncertain))
    assert [finding.code for finding in findings] == ([] if code is None else [code])
    assert is_verified(findings) == (code is None)


def test_why_the_premises_are_undecided_is_said() -> None:
    (finding,) = answer_findings(GOAL, [step(None, option=GOAL)], OPEN_QUESTION, None)
    message = "whether the premises have a model stayed undecided (budget: Z3 used its 200000 steps)"
    assert finding == Finding(Code.UNDECIDED, message)
    assert not finding.broken
    broken = Unknown(Reason.BROKEN, "it ended with status 1")
    (finding,) = answer_findings(GOAL, [step(None, option=GOAL)], broken, None)
    assert finding.broken


def test_the_steps_that_fail_are_named() -> None:
    steps = [step("s1", semantic=False, rule=False), step(None, semantic=False), step("s3"), step(None, option=GOAL)]
    assert tuple(answer_findings(GOAL, steps, Refuted(), None)) == (
        Finding(Code.UNVERIFIED_STEP, "not entailed: s1, an action without an id", ("s1", "an action without an id")),
    )
    steps = [step("s1", rule=False), step("s2"), step(None, option=GOAL)]
    found = tuple(answer_findings(GOAL, steps, Refuted(), None))
    assert found == (Finding(Code.UNRULED_STEP, "not an instance of its rule: s1", ("s1",)),)
    assert is_verified(found)


def test_a_step_that_only_a_solver_supports_is_named() -> None:
    """Under ``evidence="none"`` such a step is entailed. Outside of the closure it does not matter."""
    bare = structs.replace(step("s1"), evidence="unsupported")
    outside = structs.replace(bare, id="s2", in_closure=False)
    checked = structs.replace(step("s3"), evidence="checked")
    nameless = structs.replace(bare, id=None)
    found = tuple(answer_findings(GOAL, [bare, outside, checked, nameless, step(None, option=GOAL)], Refuted(), None))
    message = "entailed by an answer without a proof: s1, an action without an id"
    assert found == (Finding(Code.UNSUPPORTED_STEP, message, ("s1", "an action without an id")),)
    assert tuple(answer_findings(GOAL, [outside, checked, step(None, option=GOAL)], Refuted(), None)) == ()


def test_a_binding_that_stayed_undecided_is_said_of_the_answer() -> None:
    undecided = Finding(Code.BINDING_UNDECIDED, "")
    terminal = structs.replace(step(None, option=GOAL), findings=(undecided,))
    assert tuple(answer_findings(GOAL, [terminal], Refuted(), None)) == (
        Finding(Code.BINDING_UNDECIDED, f"whether the terminal action states {GOAL.id} stayed undecided"),
    )


def test_a_comparison_that_is_undecided_binds_nothing() -> None:
    asked = problem(options=(GOAL, OPEN))
    conclusion, oracle = parse_formula("¬∃x ¬(P(x) ∧ P(x))"), Oracle(Answers(SILENT))
    assert not states(conclusion, GOAL, oracle)
    (finding,) = binding_findings(asked, GOAL_TRUE, conclusion, oracle)
    message = f"whether the conclusion is that of {GOAL_TRUE} stayed undecided (budget: )"
    assert finding == Finding(Code.BINDING_UNDECIDED, message)
    assert binding_findings(asked, GOAL_TRUE, GOAL.formula, oracle) == ()
    (finding,) = binding_findings(asked, "s7", GOAL.formula, oracle)
    assert finding.message == "'s7' is not an option"
    assert OPEN.id == GOAL_UNCERTAIN
