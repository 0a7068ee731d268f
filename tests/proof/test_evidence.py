"""Evidence in reports: what was checked again, which dependencies proofs use, and solvers whose evidence is wrong."""

from __future__ import annotations

import pickle

import pytest

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_evidence import FindLean, KernelEvidence
from proof_r1_formal.engine import get_solver
from proof_r1_formal.errors import CatalogueError, SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Refuted
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import ENTITY
from proof_r1_formal.kernel.term import Repeat
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import Code, Finding, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.schema import Catalogue, Example, Rule, schema
from tests.build import completion, problem
from tests.solvers import Told

PREMISES = ("∀x (cat(x) → animal(x))", "cat(tom)", "dog(rex)", "dog(rex) → loud(rex)")
CASE = problem(*PREMISES, goal="animal(tom)")
OPEN = problem(*PREMISES, goal="loud(tom)", answer="h_goal_uncertain")


def run(verifier: Verifier, *steps: tuple[str, list[str], str, str]) -> TraceReport:
    return verifier.verify(CASE, completion(*steps))


STEPS = (
    ("s1", ["h3", "h4"], "loud(rex)", "IMPLICATION_ELIMINATION"),
    ("s2", ["s1", "h1", "h2"], "animal(tom)", "IMPLICATION_ELIMINATION"),
    ("h_goal_true", ["s2"], "animal(tom)", "GOAL_BINDING"),
)


def test_padding_is_seen_through() -> None:
    report = run(Verifier(), *STEPS)
    padded = report.actions[1]
    assert padded.signal == 1.0
    assert padded.used == ("h1", "h2")
    assert [(f.code, f.dependencies) for f in padded.findings] == [(Code.UNUSED_DEPENDENCY, ("s1",))]
    assert padded.findings[0].message == "the conclusion follows without s1"
    assert report.closure == ("h1", "h2", "h3", "h4", "s1", "s2", "h_goal_true")
    assert report.used_closure == ("h1", "h2", "s2", "h_goal_true")
    assert all(step.in_closure for step in report.actions)  # the declared closure, as the method has it


def test_used_closures_without_a_proof() -> None:
    report = run(Verifier(), ("s1", ["h3"], "cat(rex)", "CONJUNCTION_ELIMINATION"), *STEPS[1:])
    assert report.actions[0].used is None
    assert report.used_closure == report.closure == ("h1", "h2", "h3", "s1", "s2", "h_goal_true")


@pytest.mark.parametrize(
    ("verifier", "evidence", "engines", "signal"),
    [
        (Verifier(), ["checked", "checked"], ["propagation", "grounding"], 1.0),
        (Verifier(evidence="none"), [None, None], ["propagation", "grounding"], 1.0),
        (Verifier(get_solver("z3")), ["unsupported", "checked"], ["z3", "z3"], 0.3),
        (Verifier(get_solver("z3"), evidence="none"), [None, None], ["z3", "z3"], 1.0),
    ],
    ids=["embedded", "none", "z3", "z3 believed"],
)
def test_verdicts_say_what_they_rest_on(
    verifier: Verifier, evidence: list[str | None], engines: list[str], signal: float
) -> None:
    yes, no = run(verifier, STEPS[0], ("s2", ["h1"], "cat(rex)", "UNIVERSAL_ELIMINATION")).actions
    assert (yes.semantic, yes.signal, no.semantic, no.signal) == (True, signal, False, 0.1)
    assert [yes.evidence, no.evidence] == evidence
    assert [yes.engine, no.engine] == engines
    assert no.countermodel is not None


@pytest.mark.parametrize(
    ("lie", "says"),
    [
        (Entailed((Repeat(0),)), "the solver's proof does not hold: the last line is not the conclusion"),
        (Entailed(()), "the solver's proof does not hold: there are no lines"),
        (Refuted(Structure({ENTITY: 1})), "the solver's countermodel does not hold"),
    ],
    ids=["wrong proof", "empty proof", "no countermodel"],
)
def test_evidence_that_does_not_hold_makes_no_verdict(lie: Answer, says: str) -> None:
    (step,) = run(Verifier(Told(others=lie)), ("s1", ["h1", "h2"], "animal(tom)", "IMPLICATION_ELIMINATION")).actions
    assert not step.semantic
    assert step.signal == 0.1
    assert step.evidence is None
    assert [finding.code for finding in step.findings if finding.code is Code.UNDECIDED]
    assert says in step.findings[0].message


def test_without_evidence_the_solver_is_believed() -> None:
    verifier = Verifier(Told(others=Entailed((Repeat(0),))), evidence="none")
    (step,) = run(verifier, ("s1", ["h2"], "animal(tom)", "UNIVERSAL_ELIMINATION")).actions
    assert (step.semantic, step.evidence) == (True, None)


def test_a_kernel_is_asked_where_its_evidence_is_wanted(lean: LeanKernel) -> None:
    kernel = KernelEvidence(lean)
    steps = (STEPS[0], ("s2", ["h1"], "cat(rex)", "UNIVERSAL_ELIMINATION"))
    yes, no = run(Verifier(evidence="kernel", kernel=kernel), *steps).actions
    assert (yes.semantic, yes.evidence, no.semantic, no.evidence) == (True, "kernel", False, "kernel")
    yes, no = run(Verifier(kernel=kernel), *steps).actions
    assert (yes.semantic, yes.evidence, no.semantic, no.evidence) == (True, "checked", False, "checked")


def test_kernel_evidence_needs_a_kernel() -> None:
    with pytest.raises(SolverError, match="needs the kernel that checks it: give kernel="):
        Verifier(evidence="kernel")
    with pytest.raises(SolverError, match="or to Settings find_kernel="):
        Settings(evidence="kernel").verifier()
    with pytest.raises(SolverError, match="/nowhere/lean"):
        Settings(evidence="kernel", find_kernel=FindLean("/nowhere/lean")).verifier()


def test_settings_find_the_kernel_in_each_process(lean: LeanKernel) -> None:
    settings = Settings(evidence="kernel", find_kernel=FindLean())
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert settings.verifier().kernel is not None
    assert Settings(find_kernel=FindLean("/nowhere/lean")).verifier().kernel is None


def test_a_step_that_no_proof_supports_is_no_instance_of_a_rule() -> None:
    step = run(Verifier(get_solver("z3")), *STEPS).actions[0]
    assert (step.semantic, step.rule, step.evidence) == (True, False, "unsupported")
    said = "IMPLICATION_ELIMINATION: only z3 says that the step is entailed, without a proof"
    assert Finding(Code.RULE_UNDECIDED, said) in step.findings


def test_an_open_goal_always_needs_two_structures() -> None:
    text = completion(("h_goal_uncertain", ["h2"], "loud(tom)", "GOAL_BINDING"))
    assert Verifier(evidence="none").verify(OPEN, text).uncertain == "verified"
    for evidence in ("none", "checked"):
        report = Verifier(Told(others=Refuted()), evidence=evidence).verify(OPEN, text)
        assert (report.uncertain, report.verified) == ("undecided", False)


def test_schemata_that_are_no_theorems_are_refused() -> None:
    wrong = schema("affirming_the_consequent", "A → B", "B", "A")
    rules = Catalogue("wrong", (Rule("IMPLICATION_ELIMINATION", "", (wrong,), Example((), "")),))
    with pytest.raises(CatalogueError, match="affirming_the_consequent"):
        Verifier(rules=rules)


def test_the_kernel_checks_bindings_models_and_open_goals(lean: LeanKernel) -> None:
    kernel = KernelEvidence(lean)
    verifier = Verifier(evidence="kernel", kernel=kernel)
    text = completion(("h_goal_uncertain", ["h2"], "¬¬loud(tom)", "GOAL_BINDING"))
    kernel.prepare(Verifier().obligations(OPEN, text))
    prepared = len(kernel._known)
    assert verifier.verify(OPEN, text).uncertain == "verified"
    assert len(kernel._known) == prepared >= 4  # the model, two open goals, the binding; nothing is asked alone
