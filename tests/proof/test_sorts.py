"""Steps in problems with several sorts: a sort counts wherever in the problem it is said."""

import json

import pytest
from hypothesis import given, settings

from proof_r1_formal.assistants.certificate import Style
from proof_r1_formal.assistants.certify import certify, certify_many
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.kernel.answer import Query, Refuted
from proof_r1_formal.kernel.serial import from_data, to_data
from proof_r1_formal.kernel.signature import FunctionType, Signature, SignatureBuilder, symbols
from proof_r1_formal.kernel.syntax import ENTITY, Formula, Implies
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.proof.context import with_sorts
from proof_r1_formal.proof.report import Code
from proof_r1_formal.proof.verify import Verifier, VerifierSession
from proof_r1_formal.report.bundle import bundle, encode
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.testing.attempts import Attempt, valid_attempts
from proof_r1_formal.testing.mutations import Step
from proof_r1_formal.text.parse import parse_formula
from studies.audit.local_check import local_checks
from tests import build
from tests.report.bundles import refusal

STYLES: tuple[Style, ...] = ("shallow", "reflect")
VERIFIER = Verifier(rules=FOLIO)
Z3 = get_solver("z3")
SORTED = Signature(
    {"cat": ("Animal",), "likes": ("Animal", ENTITY), "red": (ENTITY,), "S": ()},
    {
        "tom": FunctionType((), "Animal"),
        "tim": FunctionType((), "Animal"),
        "ann": FunctionType((), ENTITY),
        "owner": FunctionType(("Animal",), ENTITY),
    },
    (ENTITY, "Animal"),
)


def problem(*premises: str, goal: str = "⊤") -> Problem:
    return build.problem(*premises, goal=goal, answer=None)


def step(problem: Problem, dependencies: tuple[str, ...], conclusion: str, rule: str) -> tuple[bool, bool, list[Code]]:
    attempt = Attempt(problem, (Step("s1", dependencies, parse_formula(conclusion), rule),))
    [report] = VERIFIER.verify(problem, attempt.completion).actions
    return report.semantic, report.rule, [finding.code for finding in report.findings]


def in_company(query: Query, company: tuple[Formula, ...]) -> Query:
    """The question with tautologies about other formulas, so that their sorts are inferred along."""
    return Query((*query.dependencies, *[Implies(formula, formula) for formula in company]), query.conclusion)


# -- properties -------------------------------------------------------------------------------------------------------


@given(valid_attempts(FOLIO, signature=SORTED))
@settings(max_examples=60)
def test_answers_are_those_of_the_question_in_its_company(attempt: Attempt) -> None:
    company = tuple(attempt.problem.formulas())
    answers = iter(VERIFIER.entailments(attempt.problem, attempt.completion))
    known = {premise.id: premise.formula for premise in attempt.problem.premises}
    for given_step in attempt.steps:
        query = Query(tuple([known[name] for name in given_step.dependencies]), given_step.conclusion)
        known[given_step.id] = given_step.conclusion
        _, answer = next(answers)
        assert isinstance(answer, type(Z3.decide(in_company(query, company))))


@given(valid_attempts(FOLIO, signature=SORTED))
@settings(max_examples=60)
def test_each_formula_says_the_sorts_itself(attempt: Attempt) -> None:
    signature = attempt.problem.signature()
    written, _ = with_sorts(attempt.problem)
    assert (written.signature().predicates, written.signature().functions) == (
        signature.predicates,
        signature.functions,
    )
    for formula in written.formulas():
        alone = Signature.infer([formula])
        for name, kind in alone.functions.items():
            assert signature.functions[name] == kind
        assert from_data(to_data(formula)) is formula
    assert with_sorts(written)[0] == written


# -- how often sorts are inferred -------------------------------------------------------------------------------------


def inferences(monkeypatch: pytest.MonkeyPatch, problem: Problem, *conclusions: str) -> list[int]:
    """How often the pass infers the sorts of each conclusion; the engine infers those of each question by itself."""
    steps = [Step(f"s{n}", ("h1",), parse_formula(text), "NO_RULE") for n, text in enumerate(conclusions, 1)]
    verifier = Verifier(rules=FOLIO)
    session = VerifierSession(problem, verifier)
    counts: list[int] = []
    extend = SignatureBuilder.extend

    def counting(known: SignatureBuilder, formula: Formula) -> SignatureBuilder:
        counts[-1] += 1
        return extend(known, formula)

    with monkeypatch.context() as changed:
        changed.setattr(SignatureBuilder, "extend", counting)
        for action in read_completion(Attempt(problem, tuple(steps)).completion).actions:
            counts.append(0)
            assert session.push(action).semantic, action.conclusion
    return counts


def test_the_sorts_of_a_conclusion_are_inferred_once(monkeypatch: pytest.MonkeyPatch) -> None:
    animals = problem("cat(tom) ∧ (∀x:Animal cat(x))", goal="cat(tom)")
    assert inferences(monkeypatch, animals, "cat(tom)", "∃x:Animal cat(x)", "cat(tom) ∨ cat(tom)") == [1, 1, 1]
    entities = problem("cat(tom) ∧ (∀x cat(x))", goal="cat(tom)")
    assert inferences(monkeypatch, entities, "cat(tom)", "∃x cat(x)", "cat(tom) ∨ cat(tom)") == [1, 1, 1]


def test_only_symbols_that_conclusions_bring_are_compared_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    animals = problem("cat(tom) ∧ (∀x:Animal cat(x))", goal="cat(tom)")
    assert inferences(monkeypatch, animals, "cat(tom) ∨ new(c)", "cat(tom)", "cat(tom) ∨ new(d)") == [2, 1, 2]


# -- examples ---------------------------------------------------------------------------------------------------------


def test_a_sort_that_another_premise_gives() -> None:
    """``tim`` and ``tom`` are animals by h3 alone; that there is one entity says nothing of animals."""
    animals = problem("∀x (x = ann)", "cat(tom)", "∀y:Animal (likes(y, tom) ∨ cat(y))", "likes(tim, tom)")
    semantic, _, codes = step(animals, ("h1", "h2"), "cat(tim)", "IMPLICATION_ELIMINATION")
    assert not semantic and Code.NOT_ENTAILED in codes
    entities = problem("∀x (x = ann)", "cat(tom)")
    assert step(entities, ("h1", "h2"), "cat(tim)", "IMPLICATION_ELIMINATION")[0]


def test_an_option_without_a_sort_says_what_meets_what() -> None:
    """The first option brings no symbol, but b has the sort that the last one gives to P."""
    options = {"o1": "P(b)", "o2": "∃x:Animal P(x)"}
    given, _ = with_sorts(build.problem("P(a) ∧ Q(b)", options=options, answer=None))
    assert {term.sort for formula in given.formulas() for term in symbols(formula).ground_terms} == {"Animal"}


def test_another_premise_may_give_the_sort_of_a_term() -> None:
    known = problem('(∀"x":Animal S) ∧ cat(tom)', "∀x:Animal (cat(x) → S)", goal="S")
    assert step(known, ("h1",), "S", "UNIVERSAL_ELIMINATION")[:2] == (True, True)


def test_a_sort_that_the_problem_has_not_is_a_symbol_clash() -> None:
    for known in (problem("cat(tom)"), problem("∀x:Person wise(x)", "cat(tom)")):
        found = step(known, ("h1",), "∀x:Animal (cat(x) → cat(x))", "CONJUNCTION_ELIMINATION")[2]
        assert found.count(Code.SYMBOL_CLASH) == 1  # though the symbols do not fit either


def test_a_clash_is_one_finding_more() -> None:
    codes = step(problem("∀x:Person P(x)"), ("h1",) * 5, "∃x:Alien P(x)", "CONJUNCTION_ELIMINATION")[2]
    assert [code for code in codes if code in (Code.TOO_MANY_DEPENDENCIES, Code.SYMBOL_CLASH)] == [
        *(Code.TOO_MANY_DEPENDENCIES, Code.SYMBOL_CLASH),
    ]


def test_a_conclusion_cannot_put_a_symbol_elsewhere() -> None:
    known = problem("cat(tom)", '∀"x":Animal S', goal="S")
    assert Code.SYMBOL_CLASH in step(known, ("h1",), "∀x:Animal cat(x)", "CONJUNCTION_ELIMINATION")[2]
    attempt = Attempt(
        known,
        (
            Step("s1", ("h1",), parse_formula("cat(tom) ∨ new(c)"), "CONJUNCTION_INTRODUCTION"),
            Step("s2", ("s1",), parse_formula("∀x:Animal (new(x) → new(x))"), "CONJUNCTION_INTRODUCTION"),
        ),
    )
    first, second = VERIFIER.verify(known, attempt.completion).actions
    assert first.semantic and Code.SYMBOL_CLASH in {finding.code for finding in second.findings}


def test_a_local_check_asks_with_the_sorts_of_the_problem() -> None:
    animals = problem("∀x (x = ann)", "cat(tom)", "∀y:Animal (likes(y, tom) ∨ cat(y))", "likes(tim, tom)")
    attempt = Attempt(animals, (Step("s1", ("h1", "h2"), parse_formula("cat(tim)"), "IMPLICATION_ELIMINATION"),))
    [check] = local_checks(animals, attempt.completion)
    assert isinstance(check.question, Query) and isinstance(Z3.decide(check.question), Refuted)


@pytest.mark.parametrize("goal", ["cat(tim)", "cat(tim) ∧ (∀x:Animal (x = tim → cat(x)))"])
def test_certificates_and_bundles_hold_sorts(goal: str, lean: LeanKernel) -> None:
    premises = ("∀x (x = ann)", "∀y:Animal (likes(y, tom) → cat(y))", "likes(tim, tom)", "∃y:Animal ¬cat(y)")
    known = problem(*premises, goal=goal)
    attempt = Attempt(
        known,
        (
            Step("s1", ("h2", "h3"), parse_formula("cat(tim)"), "IMPLICATION_ELIMINATION"),
            Step("s2", ("s1",), parse_formula(goal), "CONJUNCTION_INTRODUCTION"),
            Step("s3", ("h1", "h3"), parse_formula("tom = tim"), "CONJUNCTION_INTRODUCTION"),
            Step("h_goal_true", ("s2",), parse_formula(goal), "GOAL_BINDING"),
        ),
    )
    text = attempt.completion
    completion = Completion(problem_id=known.id, sample=0, completion=text)
    certification = certify(VERIFIER, known, text)
    verdicts = [action.semantic for action in certification.report.actions]
    assert verdicts == [True, True, False, True]
    assert certification.certificate is not None, certification.reason
    for style in STYLES:
        [(_, judged)] = certify_many(VERIFIER, {known.id: known}, [completion], lean, style=style)
        assert judged.is_theorem, list(judged.faults())
    written = encode(bundle(VERIFIER, {known.id: known}, [(completion, certification.report)])).decode()
    assert refusal(json.loads(written)) is None
    tim = '["sorted", "Animal", ["app", "tim"]]'
    assert tim in written
    said = refusal(json.loads(written.replace(tim, tim.replace("Animal", "Entity"), 1)))
    assert said is not None and said[0] == 1
