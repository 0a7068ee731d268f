"""The progress check by itself: which conclusions are compared, and what its findings name."""

from __future__ import annotations

import pytest

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.kernel.answer import Answer, Query, Reason, Unknown
from proof_r1_formal.kernel.syntax import Iff
from proof_r1_formal.proof.report import Code, Finding
from proof_r1_formal.proof.step import AdmittedConclusions, progress_findings
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import COMPLETE
from proof_r1_formal.text.parse import parse_formula as f
from tests.build import completion, problem

PLAIN, QUANTIFIED = "P(a)", "P(a) ∧ (∃x Q(x) ∨ ¬∃x Q(x))"
"""Equivalent formulas: the first has a semantic key, the second has none."""


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        (["A ∧ B", "A ∨ B"], "B ∧ A", ["s0"]),
        ([PLAIN], QUANTIFIED, ["s0"]),
        ([QUANTIFIED], PLAIN, ["s0"]),
        (["A", QUANTIFIED], PLAIN, ["s1"]),
        (["∀x P(x)"], "∃x P(x)", []),  # alike in a structure of one element, not in one of two
        (["∀x P(x)", "∀y P(y)"], "∀z P(z)", ["s0", "s1"]),
    ],
)
def test_conclusions_that_may_be_equivalent_are_compared(before: list[str], now: str, found: list[str]) -> None:
    admitted = AdmittedConclusions()
    for number, text in enumerate(before):
        admitted.add(f"s{number}", f(text))
    assert [name for name, _ in admitted.candidates(f(now))] == found


class Undecided(EmbeddedSolver):
    """Decides everything but whether two formulas are equivalent."""

    def decide(self, query: Query) -> Answer:
        return Unknown(Reason.TIMEOUT) if isinstance(query.conclusion, Iff) else super().decide(query)


WHOLE, PARTS = "∀x (P(x) ∧ Q(x))", "(∀x P(x)) ∧ (∀x Q(x))"


@pytest.mark.parametrize(
    ("solver", "repeats", "restates"),
    [
        (
            EmbeddedSolver(),
            Finding(Code.REPEATS_CONCLUSION, "the conclusion repeats that of s1", ("s1",)),
            Finding(Code.RESTATES_DEPENDENCY, "the conclusion only restates its dependency h1", ("h1",)),
        ),
        (
            Undecided(),
            Finding(
                Code.PROGRESS_UNDECIDED,
                "whether the conclusion repeats that of s1 stayed undecided (timeout)",
                ("s1",),
            ),
            Finding(
                Code.PROGRESS_UNDECIDED,
                "whether the conclusion only restates its dependency h1 stayed undecided (timeout)",
                ("h1",),
            ),
        ),
    ],
)
def test_findings_name_what_the_conclusion_says_again(
    solver: EmbeddedSolver, repeats: Finding, restates: Finding
) -> None:
    admitted, oracle = AdmittedConclusions(), Oracle(Answers(solver))
    admitted.add("s1", f(WHOLE))
    assert progress_findings(f(PARTS), {}, admitted, oracle) == (repeats,)
    assert progress_findings(f(PARTS), {"s1": f(WHOLE)}, admitted, oracle, exempt="s1") == ()
    assert progress_findings(f(PARTS), {"h1": f(WHOLE)}, AdmittedConclusions(), oracle) == (restates,)


def test_a_premise_that_is_supposed_has_no_name() -> None:
    """The principal premise of this step is what it supposes."""
    case = problem("P", goal="Q")
    text = completion(("s1", ["h1"], "(P → Q) → Q", "IMPLICATION_ELIMINATION"))
    step = Verifier(rules=COMPLETE).verify(case, text).actions[0]
    assert step.rule
    assert step.instance is not None
    assert step.instance.principal == ()


def test_a_verifier_wants_a_problem_and_keeps_the_number_of_the_sample() -> None:
    verifier = Verifier()
    assert verifier.verify(problem("P(a)"), "", sample=3).sample == 3
    with pytest.raises(TypeError, match=r"problem.*read_problems\(\) reads problems from a file"):
        verifier.verify("P(a)", "")  # type: ignore[arg-type]
