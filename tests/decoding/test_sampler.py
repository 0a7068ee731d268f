"""Sampling under a grammar and under the verifier, with a model that knows nothing."""

from __future__ import annotations

import numpy as np
import pytest

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.decoding.grammar import GrammarError, completion_grammar
from proof_r1_formal.decoding.guide import REPLACED, Guide
from proof_r1_formal.decoding.masks import DecodingError
from proof_r1_formal.decoding.sampler import Decoder, DecodingRequest, draw
from proof_r1_formal.proof.report import StepReport
from proof_r1_formal.proof.session import VerifierSession
from proof_r1_formal.proof.verify import Verifier
from tests.decoding.conftest import EXAMPLES

pytest.importorskip("llguidance", reason="llguidance is not installed (the extra [decoding])")
VERIFIER = Verifier()
KNOWN = list(read_problems(EXAMPLES).values())
PROMPT = (5, 6, 7)


def asked(
    case: Problem, seed: int, *, guide: Guide | None = None, budget: int = 600, steps: int = 6
) -> DecodingRequest:
    return DecodingRequest(PROMPT, completion_grammar(case, steps=steps).to_llguidance(), guide, seed, budget)


class Refusing(Guide):
    """Takes every step back the first so many times, whatever it says."""

    def accepts(self, step: StepReport) -> bool:
        return False


@pytest.mark.parametrize("count", [40, pytest.param(5000, marks=pytest.mark.long)])
def test_no_token_breaks_the_contract(count: int, decoder: Decoder) -> None:
    ended = 0
    for start in range(0, count, 20):
        cases = [KNOWN[(start + n) % len(KNOWN)] for n in range(20)]
        found = decoder.sample([asked(case, start + n) for n, case in enumerate(cases)], temperature=1.0)
        for case, one in zip(cases, found, strict=True):
            if one.whole:
                ended += 1
                report = VERIFIER.verify(case, one.text)
                assert report.parsed, one.text
                assert all(step.schema for step in report.actions), one.text
    assert ended > 0.9 * count


def test_without_a_grammar_hardly_anything_is_parsed(decoder: Decoder) -> None:
    free = [DecodingRequest(PROMPT, None, None, seed, 200) for seed in range(10)]
    found = decoder.sample(free, temperature=1.0)
    assert not any(VERIFIER.verify(KNOWN[0], one.text).parsed for one in found)
    assert all(one.tokens <= 200 for one in found)


def test_what_is_taken_back_leaves_nothing_behind(decoder: Decoder) -> None:
    """Without chance each new sample of a step is the old one; so the answer must be the same as without a guide."""
    tries, ended = 2, 0
    for case in KNOWN[:3]:
        (plain,) = decoder.sample([asked(case, 0, budget=300, steps=3)], temperature=0.0)
        guide = Refusing(VerifierSession(case, VERIFIER), tries=tries)
        (guided,) = decoder.sample([asked(case, 0, guide=guide, budget=300 * (tries + 1), steps=3)], temperature=0.0)
        if plain.whole:
            ended += 1
            steps = len(VERIFIER.verify(case, plain.text).actions)
            assert guided.text == plain.text
            assert len(guided.trials) == tries * steps
            assert guided.tokens == plain.tokens + sum(trial.tokens for trial in guided.trials)
    assert ended


def test_what_is_shown_of_a_failing_step_is_not_in_the_answer(decoder: Decoder) -> None:
    """The model sees the step and a remark; so without chance, too, it need not write the same step again."""
    shown = 0
    for case in KNOWN[:3]:
        told = Refusing(VerifierSession(case, VERIFIER), tries=1, feedback="finding")
        untold = Refusing(VerifierSession(case, VERIFIER), tries=1)
        (found,) = decoder.sample([asked(case, 0, guide=told, steps=3)], temperature=0.0)
        (silent,) = decoder.sample([asked(case, 0, guide=untold, steps=3)], temperature=0.0)
        if found.whole and silent.whole:
            shown += found.text != silent.text
            assert VERIFIER.verify(case, found.text).parsed
            assert "rejected" not in found.text
            remarks = [len(decoder.tokenizer.encode(f" /* rejected: . {REPLACED} */")) for _ in found.trials]
            assert found.read >= sum(remarks) > 0 == silent.read
            assert found.tokens > sum(trial.tokens for trial in found.trials)
    assert shown


def test_the_others_of_a_batch_change_nothing(decoder: Decoder) -> None:
    def wanted() -> list[DecodingRequest]:
        guides = [Guide(VerifierSession(case, VERIFIER), tries=2) if n % 2 else None for n, case in enumerate(KNOWN)]
        pairs = zip(KNOWN, guides, strict=True)
        return [asked(case, n, guide=guide, budget=300) for n, (case, guide) in enumerate(pairs)][:4]

    together = decoder.sample(wanted(), temperature=1.0)
    alone = [decoder.sample([one], temperature=1.0)[0] for one in wanted()]
    assert together == alone


def test_steps_that_stay_are_verified_and_trials_say_why(decoder: Decoder) -> None:
    guides = [Guide(VerifierSession(case, VERIFIER), tries=40, keep=False) for case in KNOWN[:6]]
    wanted = [asked(case, n, guide=g, budget=400) for n, (case, g) in enumerate(zip(KNOWN, guides, strict=False))]
    found = decoder.sample(wanted, temperature=1.0)
    assert any(one.trials for one in found)
    for one, guide in zip(found, guides, strict=True):
        assert one.tokens <= 400
        assert all(guide.accepts(step) for step in guide.session.state.steps)
        assert all(trial.findings and trial.tokens > 0 for trial in one.trials)
        if one.whole:
            assert guide.session.report().verified


def test_what_is_no_grammar_is_refused(decoder: Decoder) -> None:
    with pytest.raises(GrammarError, match="the grammar cannot be used"):
        decoder.sample([DecodingRequest(PROMPT, "start: (", None, 0, 10)], temperature=1.0)


def test_nothing_is_asked_and_nothing_comes(decoder: Decoder) -> None:
    assert decoder.sample([], temperature=1.0) == []


def test_a_token_is_drawn_by_its_probability() -> None:
    logits = np.log(np.array([0.5, 0.3, 0.2], dtype=np.float32))
    assert [draw(logits, chance, 1.0, 1.0) for chance in (0.0, 0.49, 0.51, 0.79, 0.81, 0.999)] == [0, 0, 1, 1, 2, 2]
    assert [draw(logits, chance, 1.0, 0.7) for chance in (0.0, 0.6, 0.64, 0.999)] == [0, 0, 1, 1]
    assert draw(logits, 0.999, 0.0, 1.0) == 0
    assert draw(np.array([-np.inf, 0.0, -np.inf], dtype=np.float32), 0.5, 1.0, 0.9) == 1
    with pytest.raises(DecodingError, match="no token is allowed"):
        draw(np.full(3, -np.inf, dtype=np.float32), 0.5, 1.0, 1.0)
