"""Certificates: of every verified closure one theorem about the problem's own formulas, of any other none."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.assistants.certificate import Certificate, OpenCertificate, Style
from proof_r1_formal.assistants.certify import certify, certify_many, faults_of, judge
from proof_r1_formal.assistants.lean import Judgement, LeanKernel, foreign_word
from proof_r1_formal.data.problem import Premise, Problem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.syntax import Atom, Formula, Not, const
from proof_r1_formal.kernel.term import Repeat
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import lean as render
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests import build
from tests.build import completion, example_completions, example_problems, reference_traces

VERIFIER = Verifier()
PREMISES = ("cat(tom) ⊕ dog(tom)", "∀x (barks(x) → dog(x))", "barks(tom)", "∃x sleeps(x)")


def problem(*premises: str, goal: str = "cat(tom)") -> Problem:
    return build.problem(*(premises or PREMISES), goal=goal, answer="h_goal_false")


S1 = ("s1", ["h2", "h3"], "dog tom", "IMPLICATION_ELIMINATION")
S2 = ("s2", ["h1", "s1"], "¬cat tom", "EXCLUSIVE_DISJUNCTION_ELIMINATION")
END = ("h_goal_false", ["s2"], "¬cat tom", "GOAL_BINDING")


def test_the_theorem_of_a_verified_answer() -> None:
    certified = certify(VERIFIER, problem(), completion(S1, S2, END))
    assert isinstance(certified.certificate, Certificate)
    assert certified.certificate.answer().text("answer") == (
        "theorem answer (s_Entity : Type)\n"
        "  (i_Entity : s_Entity)\n"
        "  (p_cat : s_Entity → Prop)\n"
        "  (p_dog : s_Entity → Prop)\n"
        "  (p_barks : s_Entity → Prop)\n"
        "  (f_tom : s_Entity)\n"
        "  (h_h1 : (ProofR1.Xor (p_cat f_tom) (p_dog f_tom)))\n"
        "  (h_h2 : (∀ x_x : s_Entity, ((p_barks x_x) → (p_dog x_x))))\n"
        "  (h_h3 : (p_barks f_tom))\n"
        "  : (Not (p_cat f_tom)) :=\n"
        "  ProofR1.step (p_dog f_tom) (ProofR1.implication_elimination (h_h2 f_tom) h_h3) fun d_s1 =>\n"
        "  ProofR1.step (Not (p_cat f_tom)) (ProofR1.xor_elimination_right h_h1 d_s1) fun d_s2 =>\n"
        "  (ProofR1.goal_binding d_s2)"
    )
    assert certified.certificate.step_at(10) == "s1"
    assert certified.certificate.step_at(12) == "h_goal_false"
    assert certified.certificate.step_at(3) is None


OPEN = ("h_goal_uncertain", ["h1"], "loud(tom)", "GOAL_BINDING")
CONTRARY = (*PREMISES, "¬barks(tom)")


@pytest.mark.parametrize(
    ("asked", "text", "reason"),
    [
        (problem(), "no summary", "no option is selected"),
        (problem(), completion(S1, S2), "h_goal_false is selected by its formula"),
        (problem(), completion(S1, ("s2", ["h1"], "¬cat tom", S2[3]), END), "not entailed: s2, h_goal_false"),
        (
            problem(),
            completion(S1, S2, ("h_goal_false", ["s2", "s9"], "¬cat tom", END[3])),
            "not entailed: h_goal_false",
        ),
        (
            problem(),
            completion(S1, ("h_goal_false", ["s1"], "dog tom", END[3])),
            "does not state the formula of h_goal_false",
        ),
        (problem(*CONTRARY), completion(S1, S2, END), "the premises contradict each other"),
        (
            problem(),
            completion(("h_goal_uncertain", ["h1"], "cat tom", END[3])),
            "the premises entail the goal or its negation",
        ),
        (
            problem(goal="dog(tom)"),
            completion(("h_goal_uncertain", ["h1"], "dog tom", END[3])),
            "the premises entail the goal or its negation",
        ),
        (
            problem(*CONTRARY),
            completion(("h_goal_uncertain", ["h1"], "cat tom", END[3])),
            "the premises contradict each other",
        ),
    ],
)
def test_there_is_a_reason_where_there_is_no_certificate(asked: Problem, text: str, reason: str) -> None:
    certified = certify(VERIFIER, asked, text)
    assert certified.certificate is None
    assert reason in certified.reason


def test_other_ways_to_write_the_answer(lean: LeanKernel) -> None:
    """What is equivalent to the option's formula is led to it; a step that is no instance of its rule has a proof."""
    ways = [
        completion(S1, ("s2", ["h1", "s1"], "¬cat tom", "MODUS_TOLLENS"), END),
        completion(S1, S2, ("h_goal_false", ["s2"], "¬¬¬cat tom", "GOAL_BINDING")),
        completion(("h_goal_false", ["h1", "h2", "h3"], "¬cat tom", "GOAL_BINDING")),
        completion(S1, S2, ("h_goal_false", ["h4", "s2"], "¬(cat tom ∨ cat tom)", "GOAL_BINDING")),
    ]
    certificates = [certify(VERIFIER, problem(), way).certificate for way in ways]
    theorems = [c.answer() for c in certificates if isinstance(c, Certificate)]
    assert len(theorems) == len(ways)
    assert [judgement.reason for judgement in lean.check(theorems)] == [""] * len(ways)
    goal = render.formula(parse_formula("¬cat(tom)"))
    assert all(theorem.statement.endswith(f"\n  : {goal}") for theorem in theorems)


def test_open_answers_are_two_countermodels(lean: LeanKernel) -> None:
    certified = certify(VERIFIER, problem(goal="loud(tom)"), completion(OPEN))
    assert isinstance(certified.certificate, OpenCertificate)
    assert certified.report.uncertain == "verified"
    theorems = certified.certificate.theorems()
    assert list(theorems) == ["goal_fails", "negation_fails"]
    assert all(judgement.accepted for judgement in lean.check(list(theorems.values())))


def test_long_closures_are_certified_up_to_a_bound(lean: LeanKernel) -> None:
    def chain(length: int) -> tuple[Problem, str]:
        rules = [f"p{n}(a) → p{n + 1}(a)" for n in range(length)]
        steps = [
            (f"s{n + 1}", [f"h{n + 2}", f"s{n}" if n else "h1"], f"p{n + 1}(a)", "IMPLICATION_ELIMINATION")
            for n in range(length)
        ]
        binding = ("h_goal_true", [f"s{length}"], f"p{length}(a)", "GOAL_BINDING")
        return build.problem("p0(a)", *rules, goal=f"p{length}(a)", answer=None), completion(*steps, binding)

    shallow, reflected = (certify(VERIFIER, *chain(length)).certificate for length in (299, 300))
    assert isinstance(shallow, Certificate) and isinstance(reflected, Certificate)
    assert [shallow.reflects("shallow"), reflected.reflects("shallow")] == [False, True]
    assert all(judgement.accepted for judgement in lean.check([shallow.answer(), reflected.answer()]))
    assert "1001 steps" in certify(VERIFIER, *chain(1000)).reason


# -- hostile names ----------------------------------------------------------------------------------------------------

NAMES = (
    *("sorry", "axiom", "end", "theorem", "∧", "'", '"', "a b", "\n", "x\n#exit", "--", "/-", "-/", "«", "»"),
    *("h_1", "ProofR1.step", "False", "Type", "fun", "→", "é", "日本", "␣c1", "␣0", "z1", "\u2028", "0", "_", "a_0"),
    "long" * 2560,
)


def test_hostile_names_stay_in_their_place(lean: LeanKernel) -> None:
    theorems = []
    for name in NAMES:
        fact: Formula = Atom(name, (const(f"{name}!"),))
        asked = build.problem(Premise(name, fact), goal=fact)
        found = certify(VERIFIER, asked, completion(("h_goal_true", [name], show(fact), "GOAL_BINDING")))
        if not isinstance(found.certificate, Certificate):  # a name that no formula of a completion can have
            assert "does not state the formula" in found.reason, (name, found.reason)
            continue
        theorems.append(found.certificate.answer())
    assert len(theorems) >= 25
    assert [foreign_word(theorem) for theorem in theorems] == [None] * len(theorems)
    assert [judgement.reason for judgement in lean.check(theorems)] == [""] * len(theorems)


# -- real input -------------------------------------------------------------------------------------------------------


def test_examples(lean: LeanKernel) -> None:
    problems = example_problems()
    completions = example_completions()
    judged = [found for _, found in certify_many(VERIFIER, problems, completions, lean)]
    assert Counter(found.is_theorem for found in judged) == {True: 11, False: 2}
    assert [fault for found in judged for fault in found.faults()] == []
    without = [found for _, found in certify_many(VERIFIER, problems, completions, None)]
    assert not any(found.is_theorem for found in without)
    reflected = [found for _, found in certify_many(VERIFIER, problems, completions, lean, style="reflect")]
    assert [found.is_theorem for found in reflected] == [found.is_theorem for found in judged]
    assert [fault for found in reflected for fault in found.faults()] == []


def test_what_leans_checker_rejects_is_said(lean: LeanKernel) -> None:
    """It says which step is the first wrong one, or that the goal or the model is wrong; other errors stay Lean's."""
    certificate = certify(VERIFIER, problem(), completion(S1, S2, END)).certificate
    assert isinstance(certificate, Certificate) and certificate.model is not None
    first, second, last = certificate.steps
    wrong = (Repeat(0),)
    every = {**certificate.model.predicates, "cat": frozenset({(0,)})}
    cases = {
        "Lean's checker does not accept step s1": replace(
            certificate, steps=(replace(first, proof=wrong), second, last)
        ),
        "Lean's checker does not accept step s2": replace(
            certificate, steps=(first, replace(second, proof=wrong), replace(last, proof=wrong))
        ),
        "the last step does not conclude the answer": replace(certificate, goal=Not(certificate.goal)),
        "Lean's checker does not accept the model of the premises": replace(
            certificate, model=replace(certificate.model, predicates=every)
        ),
    }
    judged = judge([certificate, *cases.values()], lean, "reflect")
    assert [list(faults_of(certificate, judgements, "reflect")) for judgements in judged] == [
        [],
        *[[f"answer_sound: {reason}"] for reason in cases],
    ]
    later = replace(certificate, steps=(replace(first, dependencies=(last.id,), proof=wrong), second, last))
    assert [*faults_of(later, judge([later], lean, "reflect")[0], "reflect")] == [
        "answer_sound: Lean's checker does not accept step s1"
    ]
    judgements = {"answer": Judgement(False, "type mismatch", line=1)}
    assert list(faults_of(certificate, judgements, "reflect")) == ["answer: type mismatch"]
    assert list(faults_of(certificate, judgements, "shallow")) == ["answer: type mismatch"]


def golden_traces(folder: Path) -> list[tuple[Problem, str]]:
    return [(asked, record["response"]) for asked, record in reference_traces(folder) if record["kind"] == "golden"]


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("style", ["shallow", "reflect"])
def test_every_golden_proof_is_a_theorem(
    style: Style, shared_data: Path, lean: LeanKernel, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = golden_traces(shared_data)
    found = [certify(VERIFIER, asked, text).certificate for asked, text in golden]
    certificates = [certificate for certificate in found if isinstance(certificate, Certificate)]
    judgements = lean.check([certificate.answer(style) for certificate in certificates])
    accepted = sum(judgement.accepted for judgement in judgements)
    with capsys.disabled():
        print(f"\n{accepted} of {len(golden)} golden proofs are theorems, {style} ({lean.version})")  # noqa: T201
    assert accepted == len(golden) == 450


@pytest.mark.shared
@pytest.mark.slow
def test_corrupted_golden_proofs(shared_data: Path, lean: LeanKernel) -> None:
    """A certificate exists exactly where another solver verifies the whole closure, and says the right thing."""
    source = random.Random(7)
    golden = golden_traces(shared_data)
    z3 = get_solver("z3")
    judge = Verifier(z3, evidence="none")
    theorems = []
    corrupted = 0
    while corrupted < 2000:
        asked, text = source.choice(golden)
        changed = corrupt(text, asked, source)
        if changed == text:
            continue
        corrupted += 1
        certified = certify(VERIFIER, asked, changed)
        report = judge.verify(asked, changed)
        option = asked.option(report.answer)
        verified = bool(report.closure) and all(step.semantic for step in report.actions if step.in_closure)
        binds = False
        if verified and option is not None:
            last = parse_formula(report.actions[-1].conclusion or "")
            binds = isinstance(z3.decide(Query((last,), option.formula)), Entailed)
        if option is not None and option.label == "Uncertain":
            assert isinstance(certified.certificate, OpenCertificate) == (report.uncertain == "verified")
        else:
            assert isinstance(certified.certificate, Certificate) == (verified and binds), changed
        if isinstance(certified.certificate, Certificate) and option is not None:
            theorem = certified.certificate.answer()
            theorems.append(theorem)
            assert theorem.statement.endswith(f"\n  : {render.formula(option.formula)}")
            own = {f"({render.formula(premise.formula)[1:]}" for premise in asked.premises}
            said = re.findall(r"^  \(h_\w+ : (.*)\)$", theorem.statement, re.MULTILINE)
            assert set(said) <= own
    assert len(theorems) > 200
    assert all(judgement.accepted for judgement in lean.check(theorems))


def corrupt(text: str, asked: Problem, source: random.Random) -> str:
    """One change to one action: what it depends on, what it says, its id, its place, or the answer."""
    match = re.search(r"<summary>(.*)</summary>", text, re.DOTALL)
    assert match is not None
    actions: list[dict[str, Any]] = json.loads(match[1])
    index = source.randrange(len(actions))
    action = actions[index]
    names = [premise.id for premise in asked.premises] + [other["id"] for other in actions]
    others = [other["conclusion"] for other in actions] + [show(premise.formula) for premise in asked.premises]
    changes: list[Callable[[], object]] = [
        lambda: action["dependencies"].pop() if action["dependencies"] else None,
        lambda: action["dependencies"].append(source.choice(names)),
        lambda: action.update(dependencies=[source.choice(names) for _ in action["dependencies"]]),
        lambda: action.update(conclusion=f"¬({action['conclusion']})"),
        lambda: action.update(conclusion=source.choice(others)),
        lambda: action.update(conclusion=f"({action['conclusion']}) ∨ ({source.choice(others)})"),
        lambda: action.update(conclusion=f"({action['conclusion']}) ∧ ({source.choice(others)})"),
        lambda: actions.pop(index),
        lambda: actions.insert(source.randrange(len(actions)), actions.pop(index)),
        lambda: actions[-1].update(id=source.choice(["h_goal_true", "h_goal_false", "h_goal_uncertain", "s1"])),
        lambda: action.update(rule=source.choice(["MODUS_TOLLENS", "CONJUNCTION_INTRODUCTION", "NO_RULE"])),
    ]
    source.choice(changes)()
    return completion(*actions)
