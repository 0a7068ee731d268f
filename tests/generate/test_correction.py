"""A prover continues a proof, and corrects a completion: its accepted steps stay, and the whole passes all checks."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from proof_r1_formal import FOLIO, TRAIN, Problem, ProofR1Error, ReferenceStep, Verifier, read_problems
from proof_r1_formal.data.problem import FALSE, TRUE
from proof_r1_formal.generate import (
    GeneratorSettings,
    Proved,
    Prover,
    Uncertain,
    completion,
    generate_problems,
    summary,
)
from proof_r1_formal.generate.correction import Correction, correct
from proof_r1_formal.generate.synthesize import fresh_ids
from proof_r1_formal.testing.mutations import Flaw, flawed
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import OutputNotation, show
from tests import build
from tests.build import action

VERIFIER = Verifier(rules=TRAIN, evaluation=False)
PROVER = Prover(VERIFIER)

CHAIN = build.problem("P(a)", "∀x (P(x) → Q(x))", "∀x (Q(x) → R(x))", "∀x (R(x) → G(x))", "T(a)", "∀x (T(x) → U(x))")
FIRST = ReferenceStep("s1", ("h2", "h1"), "Q(a)", "IMPLICATION_ELIMINATION")
ASIDE = ReferenceStep("s7", ("h6", "h5"), "U(a)", "IMPLICATION_ELIMINATION")


def continued(*accepted: ReferenceStep, problem: Problem = CHAIN) -> Proved:
    found = PROVER.continue_proof(problem, accepted)
    assert isinstance(found, Proved), found
    return found


def corrected(text: str, problem: Problem = CHAIN) -> Correction:
    found = correct(problem, text, PROVER)
    assert isinstance(found, Correction), found
    return found


def assert_flawless(problem: Problem, text: str) -> None:
    report = VERIFIER.verify(problem, text)
    assert report.answer_correct, text
    assert report.rule_verified, text
    assert all(step.signal == 1.0 for step in report.actions), text


# -- properties -------------------------------------------------------------------------------------------------------


def broken_completions(problem: Problem, rng: Random) -> list[tuple[str, int]]:
    """Completions with one flaw or a cut, each with the number of steps before it."""
    steps = problem.proofs[0]
    found = []
    for index in range(len(steps)):
        ways = [way for flaw in Flaw for way in flawed(problem, steps, index, flaw, TRAIN)]
        if ways:
            found.append((completion(problem, rng.choice(ways)), index))
    whole = completion(problem, steps)
    found.append((whole[: rng.randrange(len(whole))], 0))
    return found


def check_corrections(problems: list[Problem], seed: int) -> int:
    rng, count = Random(seed), 0
    for problem in problems:
        shortest = PROVER.prove(problem)
        assert isinstance(shortest, Proved)
        text, sound = rng.choice(broken_completions(problem, rng))
        found = correct(problem, text, PROVER)
        if found is None:  # the flaw was none: a shortcut that is an instance, say
            assert_flawless(problem, text)
            continue
        assert isinstance(found, Correction), (problem.id, found)
        count += 1
        assert text.startswith(found.kept)
        assert found.accepted >= sound
        assert_flawless(problem, found.text)
        added = found.proof.report.actions[found.accepted :]
        assert all(step.in_closure for step in added)  # no step for nothing
        assert len(found.proof.steps) <= len(shortest.steps)  # accepted steps cost nothing
    return count


def generated(difficulty: str, count: int) -> list[Problem]:
    settings = GeneratorSettings(seed=77, difficulty=difficulty, answers=(TRUE, FALSE))  # type: ignore[arg-type]
    return [made.problem for made in islice(generate_problems(settings), count)]


@pytest.mark.parametrize(("difficulty", "count"), [("easy", 60), ("medium", 50), ("hard", 30)])
def test_a_correction_proves_the_answer_and_keeps_what_was_proved(difficulty: str, count: int) -> None:
    assert check_corrections(generated(difficulty, count), seed=3) > count * 0.8


@pytest.mark.long
@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_a_thousand_corrections(difficulty: str) -> None:
    assert check_corrections(generated(difficulty, 400), seed=4) > 330


@pytest.mark.shared
def test_corrections_of_benchmark_proofs(shared_data: Path) -> None:
    problems = [
        problem
        for part in ("easy", "medium", "hard")
        for problem in islice(read_problems(shared_data / "proverqa" / f"{part}.json").values(), 100)
        if not problem.is_uncertain
    ]
    proved = [(problem, PROVER.prove(problem)) for problem in problems]
    with_proofs = [replace(problem, proofs=(p.steps,)) for problem, p in proved if isinstance(p, Proved)]
    assert len(with_proofs) > 0.99 * len(problems)  # a label or two of the data is wrong
    assert check_corrections(with_proofs, seed=5) > 0.8 * len(problems)


def test_every_prefix_of_a_proof_is_continued() -> None:
    for problem in generated("hard", 10):
        steps = problem.proofs[0]
        lengths = []
        for known in range(len(steps)):
            found = continued(*steps[:known], problem=problem)
            assert_flawless(problem, summary((*steps[:known], *found.steps)))
            assert len({step.id for step in (*steps[:known], *found.steps)}) == known + len(found.steps)
            lengths.append(len(found.steps))
        assert lengths == sorted(lengths, reverse=True)
        assert lengths[-1] == 1  # the answer alone


# -- continuations ----------------------------------------------------------------------------------------------------


def test_a_given_step_is_used() -> None:
    assert [step.conclusion for step in continued().steps] == ["Q(a)", "R(a)", "G(a)", "G(a)"]
    found = continued(FIRST)
    assert [(step.id, step.conclusion) for step in found.steps] == [
        ("s2", "R(a)"),
        ("s3", "G(a)"),
        ("h_goal_true", "G(a)"),
    ]
    assert (found.given, found.used, found.is_detour) == (1, ("s1",), False)


def test_a_detour_is_named() -> None:
    found = continued(ASIDE)
    assert len(found.steps) == 4
    assert (found.used, found.is_detour) == ((), True)
    assert continued(ASIDE, FIRST).used == ("s1",)
    assert not continued().is_detour


def test_given_conclusions_are_preferred_to_premises() -> None:
    twice = build.problem("P(a)", "P(a) → Q(a)", "R(a)", "R(a) → Q(a)", "Q(a) ∨ S(a) → G(a)")
    first = ReferenceStep("x1", ("h4", "h3"), "Q(a)", "IMPLICATION_ELIMINATION")
    found = continued(first, problem=twice)
    assert found.used == ("x1",)
    assert all("h2" not in step.dependencies for step in found.steps)


def test_a_claim_may_be_named() -> None:
    either = build.problem("P(a)", "G(a) → ¬P(a)", answer=None)
    found = PROVER.continue_proof(either, (), claim="h_goal_false")
    assert isinstance(found, Proved)
    assert found.answer == "h_goal_false"
    refuted = PROVER.continue_proof(either, (), claim="h_goal_true")
    assert isinstance(refuted, Uncertain)
    assert list(refuted.models) == ["h_goal_true"]
    with pytest.raises(ProofR1Error, match="'h_goal' is not an option to prove; those of 'test/1' are h_goal_true"):
        PROVER.continue_proof(either, (), claim="h_goal")
    with pytest.raises(ProofR1Error, match="'h_goal_uncertain' is not an option to prove"):
        PROVER.continue_proof(either, (), claim="h_goal_uncertain")


def test_steps_that_were_not_accepted_are_refused() -> None:
    wrong = ReferenceStep("s1", ("h1",), "R(a)", "IMPLICATION_ELIMINATION")
    with pytest.raises(ProofR1Error, match=r"step 's1' was not accepted \(.*; give the steps before it"):
        PROVER.continue_proof(CHAIN, [wrong])
    bound = ReferenceStep("h_goal_true", ("s1",), "G(a)", "GOAL_BINDING")
    with pytest.raises(ProofR1Error, match="has the id of an option"):
        PROVER.continue_proof(CHAIN, [FIRST, bound])


@pytest.mark.parametrize(
    ("before", "taken", "expected"),
    [
        ([], set(), ["s1", "s2"]),
        (["s1"], {"s2"}, ["s3", "s4"]),
        (["step 9"], set(), ["step 10", "step 11"]),
        (["a007b"], set(), ["a008b", "a009b"]),
        (["1.9"], set(), ["1.10", "1.11"]),
        (["lemma"], {"s1"}, ["s2", "s3"]),
        (["٣"], set(), ["s1", "s2"]),
    ],
)
def test_ids_go_on(before: list[str], taken: set[str], expected: list[str]) -> None:
    assert list(islice(fresh_ids(before, taken), 2)) == expected


# -- layout -----------------------------------------------------------------------------------------------------------

RECORD, WRONG = action("s1", "Q(a)", "h2", "h1"), action("s2", "R(a)", "h1")
COMPACT = json.dumps(RECORD, separators=(",", ":"))
ELIMINATED = '"rule": "IMPLICATION_ELIMINATION"'
TURNED = json.dumps(dict(reversed(RECORD.items())))


@pytest.mark.parametrize(
    ("text", "kept", "added"),
    [
        (
            f"<summary>[{COMPACT},{json.dumps(WRONG)}]</summary>",
            f"<summary>[{COMPACT}",
            (
                ',{"id":"s2","dependencies":["h3","s1"],"conclusion":"R(a)","rule":"IMPLICATION_ELIMINATION"},'
                '{"id":"s3","dependencies":["h4","s2"],"conclusion":"G(a)","rule":"IMPLICATION_ELIMINATION"},'
                '{"id":"h_goal_true","dependencies":["s3"],"conclusion":"G(a)","rule":"GOAL_BINDING"}]</summary>'
            ),
        ),
        (
            f"Well.\n<summary>\n```json\n[\n  {TURNED}\n]\n```\n</summary>",
            f"Well.\n<summary>\n```json\n[\n  {TURNED}",
            (
                ",\n"
                f'  {{{ELIMINATED}, "conclusion": "R(a)", "dependencies": ["h3", "s1"], "id": "s2"}},\n'
                f'  {{{ELIMINATED}, "conclusion": "G(a)", "dependencies": ["h4", "s2"], "id": "s3"}},\n'
                '  {"rule": "GOAL_BINDING", "conclusion": "G(a)", "dependencies": ["s3"], "id": "h_goal_true"}\n]'
                "\n```\n</summary>"
            ),
        ),
    ],
)
def test_the_layout_is_the_models(text: str, kept: str, added: str) -> None:
    found = corrected(text)
    assert (found.kept, found.added, found.accepted) == (kept, added, 1)
    assert_flawless(CHAIN, found.text)


def test_indented_elements_go_on_indented() -> None:
    text = f"<summary>{json.dumps([RECORD, WRONG], indent=2)}</summary>"
    found = corrected(text)
    assert_flawless(CHAIN, found.text)
    array = found.text.removeprefix("<summary>").removesuffix("</summary>")
    assert array == json.dumps(json.loads(array), indent=2)


@pytest.mark.parametrize("notation", ["ascii", "juxtaposed", "prefix", "unicode"])
def test_the_notation_is_the_models(notation: OutputNotation) -> None:
    either = build.problem("P(a)", "P(a) → Q(a) ∧ R(a)", "Q(a) ∧ R(a) → ¬S(a) ∧ T(a)", goal="¬S(a)")
    step = {**RECORD, "conclusion": show(parse_formula("Q(a) ∧ R(a)"), notation)}
    found = corrected(build.completion(step, escaped=False), either)
    assert_flawless(either, found.text)
    second = VERIFIER.verify(either, found.text).actions[1].conclusion
    assert second == show(parse_formula("¬S(a) ∧ T(a)"), notation)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("no summary", ""),
        ("<think>a", ""),
        ("<think>a</think>", "<think>a</think>"),
        ("<think>a</think> \n", "<think>a</think>"),
        ("<think>a</think>b<summary>c</summary>", "<think>a</think>b"),
        ("<think>a<summary>", "<think>a"),
        ("[THINK]a[/THINK]b<summary>c</summary>", "[THINK]a[/THINK]b"),
        ("[THINK]a<summary>", "[THINK]a"),
        ("<|channel|>analysis<|message|>a<summary>[", ""),
        (
            "<|channel|>analysis<|message|><summary>[<|channel|>final",
            "<|channel|>analysis<|message|><summary>[<|channel|>final",
        ),
        ("<summary>[", "<summary>["),
        ("<summary>[,", "<summary>["),
        ("<summary>[]</summary>", "<summary>["),
        (f"<summary>[{COMPACT} {COMPACT}", f"<summary>[{COMPACT}"),
        (f"<summary>[{COMPACT}", f"<summary>[{COMPACT}"),
        (f"<summary>[{COMPACT}]</summary> and more", f"<summary>[{COMPACT}"),
        ("<summary>[\ud800".encode("utf-8", "replace").decode(), "<summary>["),
        ("</think>" * 3 + "<summary>[", "</think>" * 3 + "<summary>["),
    ],
)
def test_a_text_that_ends_anywhere_is_corrected(text: str, kept: str) -> None:
    found = corrected(text)
    assert found.kept == kept
    assert_flawless(CHAIN, found.text)


def test_thoughts_that_did_not_end_are_ended() -> None:
    assert corrected("[THINK]a<summary>").added.startswith("[/THINK]\n\n<summary>[")
    assert corrected("<think>a<summary>").added.startswith("</think>\n\n<summary>[")


def test_an_action_that_binds_the_wrong_answer_goes() -> None:
    bound = {"id": "h_goal_false", "dependencies": ["s1"], "conclusion": "Q(a)", "rule": "GOAL_BINDING"}
    found = corrected(build.completion(RECORD, bound, escaped=False))
    assert found.accepted == 1
    assert_flawless(CHAIN, found.text)


def test_a_right_proof_is_not_corrected() -> None:
    assert correct(CHAIN, summary(continued().steps), PROVER) is None


def test_what_has_no_proof_is_returned_as_it_is() -> None:
    open_ = build.problem("P(a)", answer="h_goal_true")
    assert isinstance(correct(open_, "", PROVER), Uncertain)


def test_sorts_of_the_problem_stay() -> None:
    sorted_ = build.problem("∀x:Animal P(x)", "∀x:Animal (P(x) → Q(x))", goal="Q(tom)")
    found = corrected("", sorted_)
    assert_flawless(sorted_, found.text)
    larger = Prover(Verifier(rules=FOLIO, evaluation=False))
    assert isinstance(correct(sorted_, "", larger), Correction)


def test_a_name_that_ends_the_summary_does_not_stay() -> None:
    """The verifier's summary ends there, so no continuation of it would be read."""
    found = corrected(build.completion(RECORD | {"id": "</summary>1"}))
    assert found.accepted == 0
    assert found.kept == "<summary>["
    assert_flawless(CHAIN, found.text)
