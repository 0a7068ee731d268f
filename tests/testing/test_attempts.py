"""The strategies for attempts: what they can draw, that failures shrink, and the document that shows them."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.kernel.answer import Answer, Entailed, Query
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.proof.action import Action, read_completion
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue, Rule, Schema
from proof_r1_formal.testing.attempts import Attempt, problems, valid_attempts
from proof_r1_formal.testing.corruptions import Corrupted, completions, corrupted_attempts, layouts
from proof_r1_formal.testing.mutations import Flaw
from proof_r1_formal.testing.strategies import hostile_names, schemata, signatures
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "testing.md"


ANY = settings(max_examples=100, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(
    "rule", [rule for rule in FOLIO.rules if rule.name != GOAL_BINDING], ids=lambda rule: rule.name
)
def test_every_schema_has_valid_attempts(rule: Rule) -> None:
    for schema in rule.schemata:
        alone = Catalogue("alone", (replace(rule, schemata=(schema,)),), unchecked=True)
        attempt = find(valid_attempts(alone), lambda attempt: True, settings=ANY)
        report = Verifier(rules=alone).verify(attempt.problem, attempt.completion)
        assert [step.signal for step in report.actions] == [1.0] * len(attempt.steps)
        assert {step.instance.schema for step in report.actions if step.instance} == {schema.name}


SIGNATURES = signatures(symbols=hostile_names(), max_functions=1).filter(
    lambda drawn: any(not kind.arguments for kind in drawn.functions.values())
)


@given(SIGNATURES.flatmap(lambda drawn: valid_attempts(FOLIO, signature=drawn, max_steps=1)))
@settings(max_examples=15)
def test_any_symbols_will_do(attempt: Attempt) -> None:
    report = Verifier(rules=FOLIO).verify(attempt.problem, attempt.completion)
    assert [step.signal for step in report.actions] == [1.0] * len(attempt.steps)


@pytest.mark.parametrize("corruption", Flaw)
def test_every_corruption_can_be_asked_for(corruption: Flaw) -> None:
    @given(corrupted_attempts(catalogue=FOLIO, flaws=[corruption]))
    @settings(max_examples=5, suppress_health_check=list(HealthCheck))
    def changes_something(corrupted: Corrupted) -> None:
        assert corrupted.flaw is corruption
        assert corruption.name in repr(corrupted)
        original = corrupted.original
        assert (corrupted.problem, corrupted.completion) != (original.problem, original.completion)

    changes_something()


@given(problems(equality=False))
@settings(max_examples=30)
def test_problems_can_be_written_and_have_three_options(problem: Problem) -> None:
    assert len(problem.options) == 3
    assert Signature.infer(problem.formulas())
    assert all(parse_formula(show(formula)) is formula for formula in problem.formulas())


@given(valid_attempts().flatmap(lambda attempt: st.tuples(st.just(attempt), layouts(attempt))))
@settings(max_examples=50)
def test_layouts_hold_the_same_actions(pair: tuple[Attempt, str]) -> None:
    def meaning(action: Action) -> tuple[object, ...]:
        return action.id, action.dependencies, action.formula, action.rule

    attempt, text = pair
    expected = [(step.id, step.dependencies, step.conclusion, step.rule) for step in attempt.steps]
    assert [meaning(action) for action in read_completion(text).actions] == expected


def test_completions_are_parsed_and_not_parsed() -> None:
    seen: set[bool] = set()

    @given(completions())
    @settings(max_examples=50)
    def collect(text: str) -> None:
        seen.add(read_completion(text).parsed)

    collect()
    assert seen == {True, False}


@pytest.mark.parametrize("sound", [True, False])
def test_schemata_are_sound_and_unsound(sound: bool) -> None:
    z3 = get_solver("z3")

    def is_wanted(drawn: Schema) -> bool:
        query = Query(drawn.premises, drawn.conclusion)
        return isinstance(z3.decide(query), Entailed) is sound

    assert find(schemata(), is_wanted)


# -- shrinking --------------------------------------------------------------------------------------------------------


class Broken:
    """A solver with a planted bug in how it decides."""

    name = "broken"

    def __init__(self, decide: Callable[[Query], Answer]) -> None:
        self.decide = decide


SOUND = get_solver("embedded")
FORGETFUL = Broken(lambda query: SOUND.decide(Query(query.dependencies[1:] or query.dependencies, query.conclusion)))
CREDULOUS = Broken(lambda query: Entailed() if len(query.dependencies) == 1 else SOUND.decide(query))
SHRINKING = settings(max_examples=500, database=None, phases=[Phase.generate, Phase.shrink])
FEW = Signature({"P": (), "Q": ("Entity",)}, {"a": FunctionType((), "Entity")})


def test_a_bug_in_the_verifier_shrinks_to_a_short_attempt() -> None:
    buggy = Verifier(FORGETFUL, evidence="none")

    def fails(attempt: Attempt) -> bool:
        report = buggy.verify(attempt.problem, attempt.completion)
        return any(not step.semantic for step in report.actions)

    shortest = find(valid_attempts(signature=FEW), fails, settings=SHRINKING)
    assert len(shortest.steps) <= 2
    assert len(shortest.problem.premises) <= 2
    assert all(premise.formula.size <= 5 for premise in shortest.problem.premises), shortest


def test_a_bug_that_accepts_too_much_shrinks_too() -> None:
    buggy, right = Verifier(CREDULOUS, evidence="none"), Verifier(evidence="none")

    def differs(corrupted: Corrupted) -> bool:
        reports = [verifier.verify(corrupted.problem, corrupted.completion) for verifier in (buggy, right)]
        first, second = [[step.semantic for step in report.actions] for report in reports]
        return first != second

    shortest = find(corrupted_attempts(valid_attempts(signature=FEW)), differs, settings=SHRINKING)
    assert len(shortest.attempt.steps) <= 2
    assert [step.rule for step in shortest.attempt.steps].count(GOAL_BINDING) <= 1


# -- the document -----------------------------------------------------------------------------------------------------


def test_the_document_prints_what_it_says() -> None:
    match = re.search(
        r"```python\n(.*?)```\n\nprints\n\n(.*?)\n\nHypothesis", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL
    )
    assert match is not None
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(match[1], "testing.md", "exec"), {"__name__": "testing"})
    shown = "\n".join(line.removeprefix("    ") for line in match[2].splitlines())
    assert output.getvalue().strip() == shown
