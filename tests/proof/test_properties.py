"""Soundness as properties of whole attempts: what is accepted holds, and verdicts depend on the right things only.

Attempts are valid by construction, or have one flaw that has a name; see ``proof_r1_formal.testing``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.assistants.certificate import Certificate
from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.assistants.lean import LeanKernel, LeanTheorem
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Option, Premise, Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from proof_r1_formal.kernel.signature import FunctionType, Signature
from proof_r1_formal.kernel.syntax import ENTITY, Formula
from proof_r1_formal.kernel.transform import alpha_normal, rename
from proof_r1_formal.proof.batch import verify_many
from proof_r1_formal.proof.report import Code, TraceReport, encode
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.check import Match, check_rule
from proof_r1_formal.rules.manifest import unproved
from proof_r1_formal.rules.schema import Catalogue, Example, Rule, Schema
from proof_r1_formal.rules.theorems import theorem
from proof_r1_formal.testing.attempts import Attempt, problems, valid_attempts
from proof_r1_formal.testing.corruptions import FINDINGS, Corrupted, any_text, corrupted_attempts, layouts
from proof_r1_formal.testing.mutations import Flaw
from proof_r1_formal.testing.strategies import formulas, plain_names, schemata
from proof_r1_formal.text.parse import parse_formula
from tests.build import codes, verdicts
from tests.finite import refuted_by, small_structures

SMALL = Signature(
    {"P": (ENTITY,), "Q": (ENTITY,), "S": ()}, {"a": FunctionType((), ENTITY), "b": FunctionType((), ENTITY)}
)
VERIFIER = Verifier(rules=FOLIO)
Z3 = get_solver("z3")
ORACLE = Oracle(Answers(Z3))

VALID = valid_attempts(FOLIO)
FLAWED = corrupted_attempts(VALID, catalogue=FOLIO)
ATTEMPTS = VALID | FLAWED.map(lambda corrupted: corrupted.attempt)
TEXTS = st.one_of(
    VALID.map(lambda attempt: (attempt.problem, attempt.completion)),
    FLAWED.map(lambda corrupted: (corrupted.problem, corrupted.completion)),
)


def run(attempt: Attempt) -> TraceReport:
    return VERIFIER.verify(attempt.problem, attempt.completion)


def all_verdicts(report: TraceReport) -> list[tuple[bool, bool, bool, bool, float]]:
    return [verdicts(step) for step in report.actions]


# -- valid attempts pass, corrupted ones are found out ----------------------------------------------------------------


@given(VALID)
def test_a_valid_attempt_passes_every_check(attempt: Attempt) -> None:
    report = run(attempt)
    assert all_verdicts(report) == [(True, True, True, True, 1.0)] * len(attempt.steps)
    assert report.answer_correct is True
    assert report.consistency == "consistent"
    assert report.actions[-1].terminal
    assert all(step.evidence == "checked" for step in report.actions)


@given(valid_attempts(consistent=False, max_steps=2))
@settings(max_examples=30)
def test_premises_that_contradict_each_other_are_reported(attempt: Attempt) -> None:
    assert run(attempt).consistency == "inconsistent"


@given(problems(consistent=True, equality=False, max_size=5), st.text(max_size=3))
@settings(max_examples=30)
def test_premises_with_a_model_are_never_found_inconsistent(problem: Problem, text: str) -> None:
    assert VERIFIER.verify(problem, text).consistency != "inconsistent"


@given(FLAWED)
def test_a_flaw_is_found_where_it_is(corrupted: Corrupted) -> None:
    report = VERIFIER.verify(corrupted.problem, corrupted.completion)
    flawed = report.actions[corrupted.index]
    if corrupted.flaw in FINDINGS:
        assert FINDINGS[corrupted.flaw] in codes(flawed)
        assert flawed.signal < 1.0
    if corrupted.flaw in (Flaw.OTHER_RULE, Flaw.WEAKENED_CONCLUSION, Flaw.TAUTOLOGY):
        assert flawed.semantic
    if corrupted.flaw in (Flaw.BAD_JSON, Flaw.TRUNCATED):
        assert not report.parsed


# -- what is accepted holds -------------------------------------------------------------------------------------------


STRUCTURES = list(small_structures(SMALL))


def steps_of(attempt: Attempt) -> Iterator[tuple[tuple[Formula, ...], Formula]]:
    """Dependencies and conclusion of the steps whose dependencies all name something."""
    known = {premise.id: premise.formula for premise in attempt.problem.premises}
    for step in attempt.steps:
        if all(name in known for name in step.dependencies):
            yield tuple([known[name] for name in step.dependencies]), step.conclusion
        known.setdefault(step.id, step.conclusion)


SMALL_ATTEMPTS = valid_attempts(FOLIO, signature=SMALL, max_steps=2)
MEANINGS = [c for c in Flaw if c not in (Flaw.SYMBOL_CLASH, Flaw.TOO_MANY_DEPENDENCIES)]


@given(corrupted_attempts(SMALL_ATTEMPTS, catalogue=FOLIO, flaws=MEANINGS))
@settings(max_examples=50)
def test_what_rule_check_accepts_follows(corrupted: Corrupted) -> None:
    for dependencies, conclusion in steps_of(corrupted.attempt):
        query = Query(dependencies, conclusion)
        for rule in FOLIO.rules:
            if isinstance(check_rule(rule, dependencies, conclusion, ORACLE, terminal=True), Match):
                assert not refuted_by(query, STRUCTURES)
                assert isinstance(Z3.decide(query), Entailed)


@given(ATTEMPTS)
@settings(max_examples=50)
def test_what_is_admitted_follows_from_the_premises(attempt: Attempt) -> None:
    premises = tuple([premise.formula for premise in attempt.problem.premises])
    for step in run(attempt).actions:
        if step.semantic and step.conclusion is not None:
            assert isinstance(Z3.decide(Query(premises, parse_formula(step.conclusion))), Entailed)


@given(FLAWED)
@settings(max_examples=50)
def test_what_is_refuted_does_not_follow(corrupted: Corrupted) -> None:
    known = {premise.id: premise.formula for premise in corrupted.problem.premises}
    for step in VERIFIER.verify(corrupted.problem, corrupted.completion).actions:
        if Code.NOT_ENTAILED in codes(step) and step.conclusion is not None:
            query = Query(tuple([known[name] for name in step.dependencies]), parse_formula(step.conclusion))
            assert isinstance(Z3.decide(query), Refuted)
        if step.semantic and step.id is not None and step.conclusion is not None:
            known[step.id] = parse_formula(step.conclusion)


@given(schemata(), st.data())
@settings(max_examples=50)
def test_a_schema_that_is_a_theorem_accepts_only_what_follows(drawn: Schema, data: st.DataObject) -> None:
    rule = Rule("DRAWN", "a drawn rule", (drawn,), Example((), "A"))
    own = Catalogue("own", (rule,), unchecked=True)
    assert unproved(own) == ("drawn",)
    sound = isinstance(Z3.decide(Query(drawn.premises, drawn.conclusion)), Entailed)
    try:
        theorem(drawn)
        assert sound
    except CatalogueError:
        assert not sound
    steps = data.draw(st.lists(formulas(SMALL, equality=False, max_size=4), min_size=2, max_size=4))
    dependencies, conclusion = tuple(steps[:-1]), steps[-1]
    if sound and isinstance(check_rule(rule, dependencies, conclusion, ORACLE), Match):
        assert isinstance(Z3.decide(Query(dependencies, conclusion)), Entailed)


# -- verdicts depend on the right things only -------------------------------------------------------------------------


def with_formulas(attempt: Attempt, change: dict[Formula, Formula]) -> Attempt:
    problem = replace(
        attempt.problem,
        premises=tuple([replace(p, formula=change[p.formula]) for p in attempt.problem.premises]),
        options=tuple([replace(o, formula=change[o.formula]) for o in attempt.problem.options]),
    )
    return Attempt(problem, tuple([replace(step, conclusion=change[step.conclusion]) for step in attempt.steps]))


def formulas_of(attempt: Attempt) -> list[Formula]:
    return [*attempt.problem.formulas(), *[step.conclusion for step in attempt.steps]]


@given(ATTEMPTS, st.lists(plain_names(), min_size=24, max_size=24, unique=True))
@settings(max_examples=50)
def test_the_names_of_symbols_do_not_matter(attempt: Attempt, names: list[str]) -> None:
    fresh = iter([f"{name}_new" for name in names])
    new: dict[str, str] = {}
    signature = attempt.problem.signature()
    for name in (*signature.predicates, *signature.functions):
        new[name] = next(fresh)
    change = {f: rename(f, new, new) for f in formulas_of(attempt)}
    assert all_verdicts(run(with_formulas(attempt, change))) == all_verdicts(run(attempt))


@given(ATTEMPTS)
@settings(max_examples=50)
def test_the_names_of_bound_variables_do_not_matter(attempt: Attempt) -> None:
    change = {formula: alpha_normal(formula) for formula in formulas_of(attempt)}
    assert all_verdicts(run(with_formulas(attempt, change))) == all_verdicts(run(attempt))


@given(ATTEMPTS, any_text().filter(lambda text: text.isprintable()))
@settings(max_examples=50)
def test_ids_do_not_matter(attempt: Attempt, text: str) -> None:
    def new(name: str) -> str:
        return f"{name[::-1]}{text}"

    problem = replace(
        attempt.problem,
        premises=tuple([replace(premise, id=new(premise.id)) for premise in attempt.problem.premises]),
        options=tuple([Option(new(option.id), option.label, option.formula) for option in attempt.problem.options]),
        answer=attempt.problem.answer and new(attempt.problem.answer),
    )
    steps = [replace(s, id=new(s.id), dependencies=tuple(map(new, s.dependencies))) for s in attempt.steps]
    assert all_verdicts(run(Attempt(problem, tuple(steps)))) == all_verdicts(run(attempt))


@given(ATTEMPTS, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_order_of_premises_does_not_matter(attempt: Attempt, source: Random) -> None:
    steps = [replace(s, dependencies=tuple(source.sample(s.dependencies, len(s.dependencies)))) for s in attempt.steps]
    premises = attempt.problem.premises
    problem = replace(attempt.problem, premises=tuple(source.sample(premises, len(premises))))
    other = run(Attempt(problem, tuple(steps)))
    assert all_verdicts(other) == all_verdicts(run(attempt))
    assert set(other.closure) == set(run(attempt).closure)


@given(ATTEMPTS, st.data())
@settings(max_examples=50)
def test_a_premise_that_no_step_names_changes_no_verdict(attempt: Attempt, data: st.DataObject) -> None:
    more = data.draw(formulas(attempt.problem.signature(), max_size=4))
    problem = replace(attempt.problem, premises=(Premise("aside", more), *attempt.problem.premises))
    assert all_verdicts(run(Attempt(problem, attempt.steps))) == all_verdicts(run(attempt))


@given(ATTEMPTS, st.data())
@settings(max_examples=50)
def test_what_a_step_does_not_use_can_be_left_out(attempt: Attempt, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(attempt.steps) - 1))
    step = attempt.steps[index]
    names = [premise.id for premise in attempt.problem.premises if premise.id not in step.dependencies]
    padded = replace(step, dependencies=(*step.dependencies, *names)[:4])
    report = run(Attempt(attempt.problem, (*attempt.steps[:index], padded)))
    unused = [
        name for f in report.actions[index].findings if f.code is Code.UNUSED_DEPENDENCY for name in f.dependencies
    ]
    kept = tuple([name for name in padded.dependencies if name not in unused])
    without = run(Attempt(attempt.problem, (*attempt.steps[:index], replace(padded, dependencies=kept))))
    assert without.actions[index].semantic == report.actions[index].semantic
    if unused:
        assert report.actions[index].used == kept


@given(VALID.flatmap(lambda attempt: st.tuples(st.just(attempt), layouts(attempt))))
@settings(max_examples=50)
def test_the_way_it_is_written_does_not_matter(pair: tuple[Attempt, str]) -> None:
    attempt, text = pair
    assert all_verdicts(VERIFIER.verify(attempt.problem, text)) == all_verdicts(run(attempt))


# -- reports ----------------------------------------------------------------------------------------------------------


@given(TEXTS)
@settings(max_examples=50)
def test_the_closure_is_reachability(case: tuple[Problem, str]) -> None:
    problem, text = case
    report = VERIFIER.verify(problem, text)
    premises = [premise.id for premise in problem.premises]
    for closure, used in ((report.closure, False), (report.used_closure, True)):
        graph: nx.DiGraph[str | int] = nx.DiGraph()
        graph.add_nodes_from(range(len(report.actions)))
        for index, step in enumerate(report.actions):
            for name in step.used if used and step.used is not None else step.dependencies:
                first = next((i for i, other in enumerate(report.actions[:index]) if other.id == name), None)
                if name in premises or first is not None:
                    graph.add_edge(name if name in premises else first, index)
        reached: set[str | int] = set()
        for index, step in enumerate(report.actions):
            if step.terminal:
                reached = nx.ancestors(graph, index) | {index}
        inside = [step.id or "" for index, step in enumerate(report.actions) if index in reached]
        assert list(closure) == [*[name for name in premises if name in reached], *inside]
        if not used:
            assert [step.in_closure for step in report.actions] == [i in reached for i in range(len(report.actions))]


# -- many, and certificates -------------------------------------------------------------------------------------------


def test_workers_and_order_do_not_matter() -> None:
    cases: list[tuple[Problem, str]] = []

    @given(TEXTS)
    @settings(max_examples=40)
    def collect(case: tuple[Problem, str]) -> None:
        cases.append(case)

    collect()
    named = {f"drawn/{n}": replace(problem, id=f"drawn/{n}") for n, (problem, _) in enumerate(cases)}
    texts = [Completion(problem_id=f"drawn/{n}", completion=text) for n, (_, text) in enumerate(cases)]
    single = [encode(Verifier().verify(named[text.problem_id], text.completion)) for text in texts]
    assert [encode(report) for report in verify_many(named, texts)] == single
    assert [encode(report) for report in verify_many(named, texts, workers=2)] == single
    assert [encode(report) for report in verify_many(named, texts[::-1], workers=3)] == single[::-1]


def test_every_accepted_closure_is_a_theorem(lean: LeanKernel) -> None:
    theorems: list[LeanTheorem] = []

    @given(ATTEMPTS)
    @settings(max_examples=80)
    def collect(attempt: Attempt) -> None:
        certified = certify(VERIFIER, attempt.problem, attempt.completion)
        closure = [step for step in certified.report.actions if step.in_closure]
        if closure and all(step.rule and step.semantic for step in closure):
            assert certified.certificate is not None, certified.reason
        if isinstance(certified.certificate, Certificate):
            theorems.append(certified.certificate.answer())

    collect()
    assert len(theorems) > 30
    assert [judgement.reason for judgement in lean.check(theorems) if not judgement.accepted] == []
