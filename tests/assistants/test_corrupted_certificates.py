"""Certificates whose statement was made false: Lean's kernel accepts none of them, whatever their proof says.

A premise of the closure is negated, weakened to ⊤ or replaced by another one, or the goal is negated. A change counts
if the new premises do not entail the new goal: the engine has a countermodel, and the reference evaluator agrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proof_r1_formal.assistants.certificate import Certificate, Style
from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.assistants.lean import LeanKernel, LeanTheorem
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Query, Refuted, is_countermodel
from proof_r1_formal.kernel.signature import mangle
from proof_r1_formal.kernel.syntax import TOP, Formula, Not
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import lean as render
from tests.assistants.test_certify import golden_traces
from tests.build import example_answers

SOLVER = EmbeddedSolver()
STYLES: tuple[Style, ...] = ("shallow", "reflect")


def corrupted(certificate: Certificate, style: Style) -> Iterator[LeanTheorem]:
    """Theorems with the certificate's proof and a false statement."""
    used = {name for step in certificate.steps for name in step.dependencies}
    premises = {name: formula for name, formula in certificate.premises.items() if name in used}
    changes: list[tuple[dict[str, Formula], Formula]] = [(premises, Not(certificate.goal))]
    for name, formula in premises.items():
        others = (Not(formula), TOP, *premises.values())
        changes += [(premises | {name: other}, certificate.goal) for other in others]
    answer = certificate.answer()
    for changed, goal in changes:
        query = Query(tuple(changed.values()), goal)
        match SOLVER.decide(query):
            case Refuted(model) if model is not None and is_countermodel(query, model):
                if style == "reflect":
                    yield replace(certificate, premises=changed, goal=goal).answer(style)
                    continue
                old, new = premises | {"": certificate.goal}, changed | {"": goal}
                yield LeanTheorem(stated(answer.statement, old, new), answer.proof)


def stated(statement: str, old: dict[str, Formula], new: dict[str, Formula]) -> str:
    """The statement with other premises by name, and another goal for the empty name."""
    for name, formula in old.items():
        before, behind = (f"\n  ({mangle(name, 'h')} : ", ")") if name else ("\n  : ", "")
        text = f"{before}{render.formula(formula)}{behind}"
        assert statement.count(text) == 1
        statement = statement.replace(text, f"{before}{render.formula(new[name])}{behind}")
    return statement


def assert_rejected(kernel: LeanKernel, certificates: list[Certificate], style: Style, least: int) -> int:
    assert all(judgement.accepted for judgement in kernel.check([each.answer(style) for each in certificates]))
    theorems = [theorem for each in certificates for theorem in corrupted(each, style)]
    assert len(theorems) >= least
    judgements = kernel.check(theorems)
    assert [theorem for theorem, judgement in zip(theorems, judgements, strict=True) if judgement.accepted] == []
    assert all(one.false or one.line is not None for one in judgements)  # Lean finds the fault, and does not break
    return len(theorems)


@pytest.mark.parametrize("style", STYLES)
def test_no_corrupted_example_is_accepted(lean: LeanKernel, style: Style) -> None:
    verifier = Verifier()
    found = [certify(verifier, problem, item.completion).certificate for problem, item in example_answers()]
    assert_rejected(lean, [certificate for certificate in found if isinstance(certificate, Certificate)], style, 60)


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_no_corrupted_golden_proof_is_accepted(
    shared_data: Path, lean: LeanKernel, capsys: pytest.CaptureFixture[str], style: Style
) -> None:
    verifier = Verifier()
    golden = golden_traces(shared_data)[::5]
    found = [certify(verifier, asked, text).certificate for asked, text in golden]
    count = assert_rejected(lean, [each for each in found if isinstance(each, Certificate)], style, 5_000)
    with capsys.disabled():
        print(f"\n0 of {count} corrupted certificates are accepted, {style} ({lean.version})")  # noqa: T201
