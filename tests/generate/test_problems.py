"""Generated problems: what is certified holds by other means too, and a seed and an index settle everything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.commands import problems as command
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import FALSE, GOAL_UNCERTAIN, THREE_WAY, TRUE, UNCERTAIN
from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate import Generated, GeneratorSettings, Proved, Prover, Uncertain, generate_problems
from proof_r1_formal.generate import problems as generator
from proof_r1_formal.generate.problems import STEPS, System, draw_problem
from proof_r1_formal.generate.shape import is_shallow
from proof_r1_formal.generate.skeleton import Distractors, steps_of
from proof_r1_formal.generate.vocabulary import VOCABULARIES, VOCABULARY, Vocabulary
from proof_r1_formal.kernel.answer import Refuted
from proof_r1_formal.kernel.model import evaluate
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import Formula, Not
from proof_r1_formal.proof.labels import answer_by
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.text.parse import parse_formula

SYSTEMS: tuple[System, ...] = ("train", "folio")

drawn = st.builds(
    lambda seed, index, system: draw_problem(GeneratorSettings(seed=seed, system=system), index),
    st.integers(),
    st.integers(0, 10**9),
    st.sampled_from(SYSTEMS),
)


def premises_of(generated: Generated) -> tuple[Formula, ...]:
    return tuple(premise.formula for premise in generated.problem.premises)


@given(drawn)
@settings(max_examples=60)
def test_z3_gives_the_answer_and_nothing_gives_it_away(generated: Generated) -> None:
    problem, oracle = generated.problem, Oracle(Answers(EmbeddedSolver()))
    assert answer_by(get_solver("z3"), problem) == problem.answer
    assert problem.answer != GOAL_UNCERTAIN or not is_shallow(problem)
    goal = problem.options[0].formula
    for premise in premises_of(generated):
        assert isinstance(oracle.equivalent(premise, goal), Refuted)
        assert isinstance(oracle.equivalent(premise, Not(goal)), Refuted)


@given(drawn)
@settings(max_examples=60)
def test_the_models_show_what_they_are_there_to_show(generated: Generated) -> None:
    premises, goal = premises_of(generated), generated.problem.options[0].formula
    assert all(evaluate(premise, generated.model) for premise in premises)
    match generated.evidence:
        case Uncertain(models):
            assert generated.problem.answer == GOAL_UNCERTAIN
            assert sorted(evaluate(goal, model) for model in models.values()) == [False, True]
            assert all(evaluate(premise, model) for model in models.values() for premise in premises)
        case Proved(answer):
            option = generated.problem.option(answer)
            assert option is not None
            assert answer == generated.problem.answer
            assert evaluate(option.formula, generated.model)


@given(drawn)
@settings(max_examples=60)
def test_intended_proofs_pass_all_checks_of_a_fresh_verifier(generated: Generated) -> None:
    problem = generated.problem
    if problem.answer == GOAL_UNCERTAIN:
        assert problem.proofs == ()
        return
    (proof,) = problem.proofs
    verifier = Verifier(rules=catalogue(problem.id.partition("-")[0]), evaluation=False)
    report = verifier.verify(problem, summary(proof))
    assert [action.signal for action in report.actions] == [VERIFIED] * len(proof)
    assert all(action.in_closure for action in report.actions)
    assert report.answer_correct
    assert report.consistency == "consistent"
    least, most = STEPS[problem.difficulty]
    assert least <= len(proof) - 1 <= most


def test_folio_problems_need_the_rules_of_folio() -> None:
    settings = GeneratorSettings(system="folio", difficulty="easy", answers=(TRUE, FALSE))
    prover = Prover(Verifier(rules=catalogue("train")))
    for generated in islice(generate_problems(settings), 40):
        assert not isinstance(prover.prove(generated.problem), Proved), generated.problem.id


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_move_is_used_and_holds(system: System) -> None:
    """The verifier looks at every step that is given out; here are enough to have had every rule of the system."""
    settings = GeneratorSettings(system=system, steps=(9, 9), distractors=(0, 0), answers=(TRUE,))
    rules = Counter(
        step.rule for generated in islice(generate_problems(settings), 150) for step in generated.problem.proofs[0]
    )
    assert set(rules) == {rule.name for rule in catalogue(system).rules}


def test_an_unconfirmed_label_is_never_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "ATTEMPTS", 3)
    monkeypatch.setattr(generator, "without_a_link", lambda tree, source: list(tree.leaves()))  # so that it follows
    for index in range(5):
        with pytest.raises(ProofR1Error, match="came out of 3 attempts"):
            draw_problem(GeneratorSettings(answers=(UNCERTAIN,)), index)


def test_premises_that_contradict_each_other_are_never_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    contradiction = [parse_formula("is_calm(Ada)"), parse_formula("¬is_calm(Ada)")]
    monkeypatch.setattr(generator, "ATTEMPTS", 3)
    monkeypatch.setattr(Distractors, "draw", lambda self, count, taken: contradiction)
    for answer in (TRUE, FALSE, UNCERTAIN):
        with pytest.raises(ProofR1Error, match="came out of 3 attempts"):
            draw_problem(GeneratorSettings(answers=(answer,)), 0)


def test_an_intended_proof_that_does_not_hold_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "steps_of", lambda tree, ids, option, goal: steps_of(tree, ids, option, goal)[1:])
    with pytest.raises(ProofR1Error, match="does not hold"):
        draw_problem(GeneratorSettings(answers=(TRUE,), steps=(2, 2)), 0)


# -- what is asked for ------------------------------------------------------------------------------------------------


@given(st.integers(1, 9), st.integers(0, 3), st.sampled_from((TRUE, FALSE)), st.integers(0, 1000))
@settings(max_examples=60)
def test_proofs_have_the_steps_that_were_asked_for(least: int, wider: int, answer: str, index: int) -> None:
    settings = GeneratorSettings(steps=(least, least + wider), distractors=(0, 0), answers=(answer,))
    problem = draw_problem(settings, index).problem
    (proof,) = problem.proofs
    assert least <= len(proof) - 1 <= least + wider
    assert problem.answer == THREE_WAY[answer.lower()]
    used = {dependency for step in proof for dependency in step.dependencies}
    assert {premise.id for premise in problem.premises} <= used, "without distractors, every premise is used"


def test_neither_difficulty_nor_sign_tells_the_answer() -> None:
    problems = [generated.problem for generated in islice(generate_problems(GeneratorSettings(seed=3)), 270)]
    found = Counter((problem.answer, problem.difficulty) for problem in problems)
    signs = Counter((problem.answer, isinstance(problem.options[0].formula, Not)) for problem in problems)
    assert (len(found), len(signs)) == (9, 6)
    assert all(15 <= count <= 50 for count in found.values()), found
    assert all(25 <= count <= 70 for count in signs.values()), signs


def test_the_vocabularies_share_nothing() -> None:
    seen, unseen = VOCABULARIES["seen"], VOCABULARIES["unseen"]
    assert not seen.predicates.keys() & unseen.predicates.keys()
    assert not seen.pronouns.keys() & unseen.pronouns.keys()
    assert seen.predicates.keys() | unseen.predicates.keys() == VOCABULARY.predicates.keys()
    for vocabulary in (seen, unseen):
        known = vocabulary.predicates.keys() | vocabulary.pronouns.keys()
        for generated in islice(generate_problems(GeneratorSettings(vocabulary=vocabulary)), 40):
            assert names_of(generated) <= known


def names_of(generated: Generated) -> set[str]:
    return {name for formula in generated.problem.formulas() for name, _ in symbols(formula).uses}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"steps": (0, 2)}, "steps from 0 to 2 were asked for; 1 is the least"),
        ({"steps": (3, 2)}, "the range 3-2 of steps is reversed: give 2-3"),
        ({"distractors": (-1, 2)}, "distractors from -1 to 2 were asked for; 0 is the least"),
        ({"answers": ()}, "answers are True, False and Uncertain, but those asked for are: none"),
        (
            {"answers": ("True", "Maybe")},
            "answers are True, False and Uncertain, but those asked for are: 'True', 'Maybe'",
        ),
        ({"difficulty": "extreme"}, "Unknown difficulty 'extreme'. Known: easy, medium, hard, mixed"),
        ({"system": "isabelle"}, "Unknown rule system 'isabelle'. Known: train, folio"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ProofR1Error) as caught:
        GeneratorSettings(**wrong)
    assert str(caught.value) == said


def test_a_vocabulary_that_is_too_small_is_told() -> None:
    small = Vocabulary(VOCABULARY.people, tuple(theme[:1] for theme in VOCABULARY.themes), VOCABULARY.traits[:2])
    said = "the vocabulary has too few predicates, 10, for so many steps and distractors; ask for fewer"
    with pytest.raises(ProofR1Error, match=said):
        list(islice(generate_problems(GeneratorSettings(vocabulary=small, difficulty="hard")), 20))


# -- reproducible -----------------------------------------------------------------------------------------------------

_DIGEST = """
import hashlib
from itertools import islice
import msgspec
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.generate import GeneratorSettings, generate_problems
from proof_r1_formal.generate.problems import encode_evidence
digest = hashlib.sha256()
for generated in islice(generate_problems(GeneratorSettings(seed=5, system="SYSTEM"), workers=WORKERS), 60):
    digest.update(repr(generated.problem).encode() + encode_evidence(generated) + generated.key)
print(digest.hexdigest())
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_hash_seeds_and_workers_change_no_byte(system: System) -> None:
    digests = set()
    for hash_seed, workers in (("0", 1), ("1", 2)):
        script = _DIGEST.replace("SYSTEM", system).replace("WORKERS", str(workers))
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_no_two_problems_are_the_same_but_for_names_and_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "_MAX_DUPLICATES", 150)  # a command waits for a thousand, below
    settings = GeneratorSettings(steps=(1, 1), distractors=(0, 0), answers=(TRUE,))
    keys: list[bytes] = []
    with pytest.raises(ProofR1Error, match="nothing but duplicates"):
        keys.extend(generated.key for generated in islice(generate_problems(settings), 2000))
    assert len(set(keys)) == len(keys) > 40
    assert next(generate_problems(settings, seen=keys[:40])).key not in keys[:40]


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_no_later_one_can_continue_leaves_nothing(tmp_path: Path, workers: int) -> None:
    out, evidence = tmp_path / "p.jsonl", tmp_path / "e.jsonl"

    def run(n: int) -> None:
        command.generate(
            n, out, rules="folio", steps="1", distractors="0", answers=TRUE, evidence=evidence, workers=workers
        )

    with pytest.raises(ProofR1Error) as failed:
        run(300)
    count = int(str(failed.value).removeprefix(f"{out}: after ").partition(" ")[0])
    assert str(failed.value) == (
        f"{out}: after {count} problems, these settings give nothing but duplicates; ask for fewer problems, "
        "or allow more steps, distractors or answers (options --n, --steps, --distractors, --answers)"
    )
    assert list(tmp_path.iterdir()) == []
    run(count)
    assert len(read_problems(out)) == count
    assert sorted(tmp_path.iterdir()) == [evidence, out]


def test_evidence_is_written_beside(tmp_path: Path) -> None:
    out, evidence = tmp_path / "p.jsonl", tmp_path / "e.jsonl"
    command.generate(12, out, seed=9, evidence=evidence)
    problems = read_problems(out)
    records = [msgspec.json.decode(line) for line in evidence.read_bytes().splitlines()]
    assert [record["id"] for record in records] == list(problems)
    for record in records:
        problem = problems[record["id"]]
        assert record["answer"] == problem.answer
        assert problem.proofs == ()
        assert ("proof" in record) != ("countermodels" in record)
        assert ("countermodels" in record) == (problem.answer == THREE_WAY[UNCERTAIN.lower()])
