"""The grammar of answers: what is drawn from it is well formed, and what is well formed is in it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.decoding.grammar import NESTING, GrammarError, completion_grammar
from proof_r1_formal.decoding.sampler import Decoder
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.trajectory import Proof, summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.testing.attempts import Attempt, problems, valid_attempts
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show
from tests.build import example_problems, problem
from tests.decoding.conftest import Draw

llguidance = pytest.importorskip("llguidance", reason="llguidance is not installed (the extra [decoding])")
VERIFIER = Verifier(rules=FOLIO)
KNOWN = list(example_problems().values())


def accepts(decoder: Decoder, grammar: str, text: str) -> bool:
    matcher = llguidance.LLMatcher(decoder.tokens, llguidance.LLMatcher.grammar_from_lark(grammar))
    ids = decoder.tokens.tokenize_str(text)
    return matcher.try_consume_tokens(ids) == len(ids) and bool(matcher.is_accepting())


def canonical(proof: Proof) -> str:
    return summary(tuple(replace(step, conclusion=show(parse_formula(step.conclusion))) for step in proof))


def text_of(*steps: tuple[str, Sequence[str], str, str]) -> str:
    return summary([ReferenceStep(i, tuple(d), c, r) for i, d, c, r in steps])


def assert_well_formed(report: TraceReport, text: str) -> None:
    assert report.parsed, text
    assert all(step.schema for step in report.actions), (text, [step.findings for step in report.actions])
    assert report.actions[-1].terminal


# -- what is drawn is well formed -------------------------------------------------------------------------------------


@given(case=problems(max_size=6), seed=st.integers(0, 1 << 30))
@settings(max_examples=20)
def test_what_is_drawn_is_well_formed(case: Problem, seed: int, draw: Draw) -> None:
    assume(case.premises)
    try:
        grammar = completion_grammar(case, FOLIO, steps=4)
    except GrammarError:  # the problem speaks of nothing, or of equality alone
        reject()
    text = draw(grammar.to_llguidance(), seed)
    if text is not None:
        assert_well_formed(VERIFIER.verify(case, text), text)
        jsonschema.validate(
            json.loads(text.removeprefix("<summary>").removesuffix("</summary>")), grammar.to_json_schema()
        )


@pytest.mark.parametrize("case", KNOWN[:3], ids=lambda case: str(case.id))
def test_the_dialects_have_one_language(case: Problem, draw: Draw, decoder: Decoder) -> None:
    from llguidance.gbnf_to_lark import gbnf_to_lark

    grammar = completion_grammar(case, steps=3)
    lark = grammar.to_llguidance()
    translated = gbnf_to_lark(grammar.to_gbnf())
    texts = [(draw(lark, seed), draw(translated, seed)) for seed in range(3)]
    for first, second in texts:
        assert first is None or accepts(decoder, translated, first)
        assert second is None or accepts(decoder, lark, second)
    assert any(first and second for first, second in texts)


@pytest.mark.parametrize("dialect", ["llguidance", "gbnf"])
def test_thoughts_may_stand_before_the_summary(dialect: str, decoder: Decoder) -> None:
    from llguidance.gbnf_to_lark import gbnf_to_lark

    grammar, answer = completion_grammar(KNOWN[0]), canonical(KNOWN[0].proofs[0])
    plain, free = [
        grammar.to_llguidance(thoughts=on) if dialect == "llguidance" else gbnf_to_lark(grammar.to_gbnf(thoughts=on))
        for on in (False, True)
    ]
    assert accepts(decoder, free, answer)
    assert accepts(decoder, free, f"<think>\nIf it is a cat …\n</think>\n{answer}")
    assert not accepts(decoder, free, f"{answer}\n")
    assert not accepts(decoder, plain, f"<think></think>{answer}")
    assert dialect == "llguidance" or not accepts(decoder, free, f"<think>\n<summary>[]</summary></think>{answer}")


def test_gbnf_divides_texts_that_xgrammar_misreads() -> None:
    """That is, where a hexadecimal digit follows a character of Latin-1."""
    case = problem("¬café_ébène(a)", "¬clear(a)", goal="clear(a)")
    text = completion_grammar(case).to_gbnf()
    assert '¬" "clear(a)' in text
    assert '"caf\u00e9_\u00e9" "b\u00e8ne(' in text
    assert not re.search("[\x80-\xff][0-9A-Fa-f]", text)


# -- what is well formed is in it -------------------------------------------------------------------------------------


def numbered(attempt: Attempt) -> str:
    """The attempt in canonical spelling, with its steps numbered."""
    names = {step.id: f"s{number}" for number, step in enumerate(attempt.steps[:-1], 1)}

    def new(name: str) -> str:
        return names.get(name, name)

    return text_of(*[(new(s.id), [*map(new, s.dependencies)], show(s.conclusion), s.rule) for s in attempt.steps])


def within_limits(conclusion: Formula) -> bool:
    """Whether a formula is surely one that the grammar can write: few levels, and no variable but x, which occurs."""
    text = show(conclusion)
    levels = re.findall(r"[¬∀∃]|(?<!\w)\(", text)
    return len(levels) <= NESTING and set(re.findall(r'[∀∃]("?\w+)', text)) <= {"x"}


@given(case=valid_attempts(FOLIO, equality=False, max_size=4))
@settings(max_examples=15)
def test_valid_proofs_are_in_it(case: Attempt, decoder: Decoder) -> None:
    ids = {premise.id for premise in case.problem.premises} | {option.id for option in case.problem.options}
    taken = not ids.isdisjoint(f"s{n}" for n in range(21))
    text = numbered(case)
    if not taken and all(within_limits(step.conclusion) for step in case.steps):
        assert accepts(decoder, completion_grammar(case.problem, FOLIO).to_llguidance(), text), text


@pytest.mark.parametrize("case", [case for case in KNOWN if case.proofs], ids=lambda case: str(case.id))
def test_reference_proofs_are_in_it(case: Problem, decoder: Decoder) -> None:
    grammar = completion_grammar(case, FOLIO).to_llguidance()
    for proof in case.proofs:
        assert accepts(decoder, grammar, canonical(proof)), canonical(proof)


@pytest.mark.shared
@pytest.mark.parametrize("every", [45, pytest.param(1, marks=pytest.mark.long)])
def test_golden_proofs_are_in_it(shared_data: Path, decoder: Decoder, every: int) -> None:
    path = shared_data / "llm_outputs/docailab_proverqa_golden_450.jsonl"
    known = list(read_problems(path).values())[::every]
    assert sum(len(case.proofs) for case in known) == 450 // every
    for case in known:
        grammar = completion_grammar(case, FOLIO).to_llguidance()
        assert all(accepts(decoder, grammar, canonical(proof)) for proof in case.proofs), case.id


CASE = problem("P(a) ∧ Q(a)", "∀x (P(x) → R(x, a))", goal="P(a)")
GOOD = ("s1", ["h1"], "P(a)", "CONJUNCTION_ELIMINATION")
BINDING = ("h_goal_true", ["s1"], "P(a)", "GOAL_BINDING")


BAD = {
    "an id of a premise": (("h1", ["h2"], "P(a)", "CONJUNCTION_ELIMINATION"), BINDING),
    "no such predicate": (("s1", ["h1"], "S(a)", "CONJUNCTION_ELIMINATION"), BINDING),
    "another arity": (("s1", ["h1"], "P(a, a)", "CONJUNCTION_ELIMINATION"), BINDING),
    "a variable outside its quantifier": (("s1", ["h1"], "P(x)", "CONJUNCTION_ELIMINATION"), BINDING),
    "five dependencies": (("s1", ["h1"] * 5, "P(a)", "CONJUNCTION_ELIMINATION"), BINDING),
    "a later dependency": (("s1", ["s2"], "P(a)", "CONJUNCTION_ELIMINATION"), BINDING),
    "no such rule": (("s1", ["h1"], "P(a)", "MAGIC"), BINDING),
    "no binding": (GOOD,),
    "another formula than the option's": (GOOD, ("h_goal_true", ["s1"], "Q(a)", "GOAL_BINDING")),
    "more behind the binding": (GOOD, BINDING, ("s2", ["h1"], "Q(a)", "CONJUNCTION_ELIMINATION")),
}


@pytest.mark.parametrize("fault", BAD)
def test_what_breaks_the_contract_is_not_in_it(fault: str, decoder: Decoder) -> None:
    grammar = completion_grammar(CASE).to_llguidance()
    assert accepts(decoder, grammar, text_of(GOOD, BINDING))
    assert not accepts(decoder, grammar, text_of(*BAD[fault]))


# -- examples ---------------------------------------------------------------------------------------------------------


def test_steps_take_names_that_are_free() -> None:
    case = problem(("s1", "P(a)"), ("step2", "Q(a)"), goal="P(a)")
    grammar = completion_grammar(case, steps=2)
    assert '\\"step0_1\\"' in grammar.to_llguidance()


def test_sorts_are_kept_apart(draw: Draw) -> None:
    case = problem("∀x:Dog (barks(x) → ∃y:Man owns(y, x))", "barks(rex)", "owns(tom, rex)", goal="barks(rex)")
    grammar = completion_grammar(case, steps=3)
    drawn = [text for seed in range(20) if (text := draw(grammar.to_llguidance(), seed)) is not None]
    assert len(drawn) > 10
    for text in drawn:
        assert_well_formed(VERIFIER.verify(case, text), text)
        assert "barks(tom)" not in text


def test_no_answers_without_options() -> None:
    with pytest.raises(GrammarError, match="no options"):
        completion_grammar(problem("P(a)", options=()))
