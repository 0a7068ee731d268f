"""Faults planted in the trusted modules: the worst that could happen to them, each of which a quick test must notice.

A fault is one piece of text in place of another, which must be there exactly once; so a fault that no longer applies
fails, too. ``make mutants`` tries every small fault; this is the part of it that always runs.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from studies.bench.mutation import FAILED, PASSED, ROOT, Sandbox
from tests.patience import PATIENCE

MODEL, SIGNED, CHECKER = "kernel/model.py", "kernel/signed.py", "kernel/checker.py"
RULES, CLOSURE = "rules/check.py", "proof/closure.py"
STEP, SESSION, ANSWER = "proof/step.py", "proof/session.py", "proof/answer.py"
ORACLE = "engine/oracle.py"

TABLES = "kernel/test_model.py::test_tables"
EXAMPLES = "kernel/test_model.py::test_worked_examples"
REJECTED = "kernel/test_checker.py::test_rejected"
NO_INSTANCES = "rules/test_check.py::test_entailed_steps_that_are_no_instance_are_rejected"
VERIFIER = "proof/test_verify.py"
BLOCKS, SUPPORTED = "kernel/test_checker_blocks.py", "proof/test_supported_answers.py"
REACHABILITY = "proof/test_closure.py::test_it_is_reachability_in_the_dependency_graph"


class Fault(NamedTuple):
    """In ``module``, ``new`` in place of ``old``; the tests that notice it."""

    module: str
    old: str
    new: str
    tests: str


FAULTS = {
    # the meaning of formulas
    "⊕ is ∨": Fault(
        MODEL,
        "evaluate(formula.left, structure, values) != evaluate(formula.right, structure, values)",
        "evaluate(formula.left, structure, values) or evaluate(formula.right, structure, values)",
        TABLES,
    ),
    "→ is reversed": Fault(
        MODEL,
        "not evaluate(formula.left, structure, values) or evaluate(formula.right, structure, values)",
        "evaluate(formula.left, structure, values) or not evaluate(formula.right, structure, values)",
        TABLES,
    ),
    "∀ looks at one element": Fault(
        MODEL, "return wanted\n        return not", "return wanted\n            return not", EXAMPLES
    ),
    "an inner quantifier does not hide an outer one": Fault(
        MODEL,
        "evaluate(formula.body, structure, {**values, formula.variable: element})",
        "evaluate(formula.body, structure, {formula.variable: element, **values})",
        EXAMPLES,
    ),
    "domains may be empty": Fault(
        MODEL, "if size < 1:", "if size < 0:", "kernel/test_model.py::test_domains_are_not_empty"
    ),
    # proofs
    "¬¬A is ¬A": Fault(
        SIGNED,
        "formula, sign = formula.body, not sign",
        "formula, sign = formula.body, False",
        "kernel/test_term.py::test_negations_at_the_front_are_the_sign",
    ),
    "every proof proves everything": Fault(
        CHECKER, 'raise ProofError("the last line is not the conclusion")', "pass", REJECTED
    ),
    "blocks may show anything": Fault(CHECKER, "if shown not in wanted:", "if not wanted:", REJECTED),
    "the lines of a block stay": Fault(
        CHECKER,
        "del self._lines[outside:]",
        "pass",
        f"{BLOCKS}::test_the_lines_of_a_block_go_when_it_ends",
    ),
    "a new constant need not be new": Fault(
        CHECKER, " or constant.function in self._taken:", ":", f"{BLOCKS}::test_a_constant_that_was_used_is_not_new"
    ),
    "∃ has every instance": Fault(
        CHECKER,
        "if not isinstance(shown.formula, ForAll if shown.sign else Exists):",
        "if not isinstance(shown.formula, ForAll | Exists):",
        REJECTED,
    ),
    "⊕ is ∨ in proofs": Fault(
        SIGNED, "Xor: lambda x, y: x != y", "Xor: lambda x, y: x or y", "kernel/test_checker.py::test_truth_tables"
    ),
    "→ is reversed in proofs": Fault(
        SIGNED,
        "Implies: lambda x, y: y or not x",
        "Implies: lambda x, y: x or not y",
        "kernel/test_checker.py::test_truth_tables",
    ),
    "what the table leaves open is true": Fault(
        CHECKER, "if not rows or (rows & false and rows & true):", "if not rows:", REJECTED
    ),
    "equals for equals anywhere": Fault(CHECKER, " if _differ_by(left, right, before, after):", ":", REJECTED),
    "the proofs of theorems are not read": Fault(
        CHECKER, "check(theorem.proof, theorem.premises, theorem.conclusion)", "pass", REJECTED
    ),
    "theorems need no premises": Fault(
        CHECKER,
        "if [self._line(number) for number in premises] != wanted:",
        "if len(premises) != len(wanted):",
        REJECTED,
    ),
    "terms are of every sort": Fault(
        CHECKER,
        "self._sort(term, quantified.variable.sort) != quantified.variable.sort:",
        "False:",
        REJECTED,
    ),
    # rules
    "minor premises are not asked for": Fault(
        RULES, "if not self._minor_hold(schema, anchors, minor):", "if False:", NO_INSTANCES
    ),
    "a principal premise gives the minor ones": Fault(RULES, " if index not in anchored])", "])", NO_INSTANCES),
    "⊕ is introduced from what is entailed": Fault(
        RULES,
        "return all(is_stated(formula, self._is_said, sums=True, unruled=False) for formula in minor)",
        "return all(self._entailed_by_others((), formula) for formula in minor)",
        NO_INSTANCES,
    ),
    "any conclusion will do": Fault(
        RULES,
        "return (substitution,) if self._concludes(schema, substitution) else ()",
        "return (substitution,)",
        NO_INSTANCES,
    ),
    "an open question is a yes": Fault(
        RULES,
        "return isinstance(answer, Entailed)\n\n    def _leave_open",
        "return isinstance(answer, Entailed | Unknown)\n\n    def _leave_open",
        "rules/test_check_budget.py::test_an_undecided_question_is_never_an_acceptance",
    ),
    "tautologies are principal premises": Fault(
        RULES,
        "if not self._substantial([anchor.element for anchor in anchors]):",
        "if False:",
        "rules/test_check.py::test_trivial_principal_premises_are_rejected",
    ),
    # verdicts
    "evidence is not looked at": Fault(
        ORACLE,
        'return Confirmation(answer) if self.evidence == "none" else confirm(query, answer)',
        "return Confirmation(answer)",
        "proof/test_evidence.py::test_padding_is_seen_through",
    ),
    "a solver's word counts for bindings, models and open goals": Fault(
        ORACLE,
        'if confirmation.checked or self.evidence == "none"',
        "if True",
        f"{SUPPORTED}::test_a_binding_on_a_solvers_word_binds_nothing",
    ),
    "a step on a solver's word can be an instance": Fault(
        STEP,
        'if verdict.evidence == "unsupported":',
        "if False:",
        f"{SUPPORTED}::test_an_instance_without_a_proof_has_no_full_signal",
    ),
    "an answer rests on a solver's word": Fault(
        ANSWER,
        'step.in_closure and step.evidence == "unsupported"',
        "False",
        f"{SUPPORTED}::test_a_step_on_a_solvers_word_is_not_verified",
    ),
    "what is not entailed serves later steps": Fault(
        SESSION,
        "if verdict.semantic and action.formula",
        "if verdict.schema and action.formula",
        f"{VERIFIER}::test_dependencies_that_cannot_be_trusted",
    ),
    "what is no instance serves later rules": Fault(
        SESSION,
        "if verdict.rule:\n                    state.rule",
        "if verdict.semantic:\n                    state.rule",
        f"{VERIFIER}::test_an_entailed_non_instance_supports_no_rule_step",
    ),
    "restating is progress": Fault(
        STEP,
        "verdict.progress = not findings",
        "verdict.progress = True",
        f"{VERIFIER}::test_a_verified_step_cannot_be_farmed_in_other_words",
    ),
    "rule or progress is enough": Fault(
        STEP,
        "if self.rule and self.progress else",
        "if self.rule or self.progress else",
        f"{VERIFIER}::test_each_signal_once",
    ),
    # closure
    "later actions are depended on": Fault(
        CLOSURE, "range(terminal - 1, -1, -1)", "range(len(actions) - 1, -1, -1)", REACHABILITY
    ),
    "the last of two ids is meant": Fault(
        CLOSURE, "reversed(list(enumerate(actions)))", "enumerate(actions)", REACHABILITY
    ),
}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A copy of the project."""
    return Sandbox(tmp_path_factory.mktemp("mutants"))


def test_every_fault_has_one_place() -> None:
    places = {
        name: (ROOT / "proof_r1_formal" / fault.module).read_text(encoding="utf-8").count(fault.old)
        for name, fault in FAULTS.items()
    }
    assert places == dict.fromkeys(FAULTS, 1)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_it_is_noticed(fault: Fault, sandbox: Sandbox) -> None:
    module = f"proof_r1_formal/{fault.module}"
    source = (ROOT / module).read_text(encoding="utf-8")
    status = sandbox.run(module, source.replace(fault.old, fault.new), [fault.tests], seconds=PATIENCE)
    assert status == FAILED, sandbox.output()


@pytest.mark.slow
def test_without_a_fault_there_is_nothing_to_notice(sandbox: Sandbox) -> None:
    module = f"proof_r1_formal/{MODEL}"
    source = (ROOT / module).read_text(encoding="utf-8")
    status = sandbox.run(module, source, sorted({fault.tests for fault in FAULTS.values()}), seconds=PATIENCE)
    assert status == PASSED, sandbox.output()
