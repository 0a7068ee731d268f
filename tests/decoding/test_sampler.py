"""Sampling under a grammar and under the verifier, with a model that knows nothing."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import decoders

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.decoding import sampler
from proof_r1_formal.decoding.grammar import GrammarError, completion_grammar
from proof_r1_formal.decoding.guide import REPLACED, Feedback, Guide
from proof_r1_formal.decoding.masks import PROBE, DecodingError, mask_tokens
from proof_r1_formal.decoding.sampler import Decoded, Decoder, DecodingRequest, draw
from proof_r1_formal.proof.report import StepReport
from proof_r1_formal.proof.verify import Verifier, VerifierSession
from tests.build import example_problems, problem

if TYPE_CHECKING:
    from transformers import PreTrainedModel

pytest.importorskip("llguidance", reason="llguidance is not installed (the extra [decoding])")
VERIFIER = Verifier()
KNOWN = list(example_problems().values())
PROMPT = (5, 6, 7)


def asked(
    case: Problem, seed: int, *, guide: Guide | None = None, budget: int = 600, steps: int = 6, beam: int = 1
) -> DecodingRequest:
    return DecodingRequest(PROMPT, completion_grammar(case, steps=steps).to_llguidance(), guide, seed, budget, beam)


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
        beams = [1 + (guide is not None and n > 2) for n, guide in enumerate(guides)]
        return [asked(c, n, guide=g, budget=300, beam=beams[n]) for n, (c, g) in enumerate(pairs)][:6]

    together = decoder.sample(wanted(), temperature=1.0)
    alone = [decoder.sample([one], temperature=1.0)[0] for one in wanted()]
    assert together == alone


# -- beams ------------------------------------------------------------------------------------------------------------


@given(
    case=st.sampled_from(KNOWN),
    seed=st.integers(0, 1 << 30),
    beam=st.integers(1, 3),
    budget=st.integers(1, 250),
    keep=st.booleans(),
)
@settings(max_examples=15)
def test_a_beam_keeps_within_its_budget(
    case: Problem, seed: int, beam: int, budget: int, keep: bool, decoder: Decoder
) -> None:
    guide = Guide(VerifierSession(case, VERIFIER), tries=2, keep=keep)
    one = decoder.sample([asked(case, seed, guide=guide, budget=budget, steps=2, beam=beam)], temperature=1.0)[0]
    assert one.tokens <= budget
    assert all(trial.findings and trial.tokens > 0 for trial in one.trials)
    if one.whole:
        assert VERIFIER.verify(case, one.text) == guide.session.report()
    if not keep:
        assert one.whole == guide.session.report().verified
        assert all(guide.accepts(step) for step in guide.session.state.steps)


@pytest.mark.parametrize("feedback", ["none", "finding"])
def test_each_branch_sees_its_own_answer(feedback: Feedback, decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The logits of each row are those of a pass, without a cache, through its prompt and what it shows."""
    import torch

    compared, waited, cached = 0, 0, sampler._Batch.logits

    def checked(batch: sampler._Batch) -> NDArray[np.float32]:
        nonlocal compared, waited
        found = cached(batch)
        for row, logits in zip(batch.rows, found, strict=True):
            if not row.waits:
                ids = torch.tensor([[*row.beam.request.prompt, *row.shown]])
                np.testing.assert_allclose(logits, decoder.model(input_ids=ids).logits[0, -1].numpy(), atol=1e-4)
            compared, waited = compared + 1, waited + row.waits
        return found

    monkeypatch.setattr(sampler._Batch, "logits", checked)
    guides = [Guide(VerifierSession(case, VERIFIER), tries=1, feedback=feedback) for case in KNOWN[:2]]
    pairs = zip(KNOWN, guides, strict=False)
    decoder.sample([asked(c, n, guide=g, budget=500, beam=2) for n, (c, g) in enumerate(pairs)], temperature=1.0)
    assert compared > 400
    assert waited


def test_a_beam_without_a_guide_is_refused(decoder: Decoder) -> None:
    with pytest.raises(DecodingError, match="a beam of 2 has no guide"):
        decoder.sample([asked(KNOWN[0], 0, beam=2)], temperature=1.0)


def step(name: str, premise: str, conclusion: str, rule: str = "CONJUNCTION_ELIMINATION") -> str:
    return f'{{"id": "{name}", "dependencies": ["{premise}"], "conclusion": "{conclusion}", "rule": "{rule}"}}, '


WORDS = {
    "open": "<summary>[",
    "P": step("s1", "h1", "P(a)"),
    "Q": step("s1", "h1", "Q(a)"),
    "then P": step("s2", "h1", "P(a)"),
    "then Q": step("s2", "h1", "Q(a)"),
    "then R": step("s2", "h1", "R(a)"),
    "bind Q": step("h_goal_true", "s1", "Q(a)", "GOAL_BINDING"),
}
"""Tokens that are whole steps. All are accepted, "bind Q" only behind "Q"."""


class Table:
    """A model that knows how likely each word is after each word, and keeps what it is asked.

    Attributes:
        batches: the last word of each row, call by call.
    """

    generation_config = None

    def __init__(self, decoder: Decoder, after: dict[str, dict[str, float]]) -> None:
        self.tokenizer = deepcopy(decoder.tokenizer)
        self.tokenizer.add_tokens(list(WORDS.values()))
        self.ids = {name: self.tokenizer.convert_tokens_to_ids(text) for name, text in WORDS.items()}
        self.config = deepcopy(decoder.model.config)
        self.config.vocab_size = len(self.tokenizer)
        self.device, self.after = decoder.model.device, after
        self.batches: list[list[str]] = []

    def __call__(self, input_ids: Any, **_: object) -> SimpleNamespace:
        names = {number: name for name, number in self.ids.items()}
        self.batches.append([names.get(row[-1], "prompt") for row in input_ids.tolist()])
        import torch

        logits = np.full((len(input_ids), 1, len(self.tokenizer)), -30.0, dtype=np.float32)
        for row, name in zip(logits, self.batches[-1], strict=True):
            for word, chance in self.after[name].items():
                row[0, self.ids[word]] = np.log(chance)
        return SimpleNamespace(logits=torch.from_numpy(logits))


def drawn(table: Table, seed: int, *, beam: int, budget: int) -> Decoded:
    case = problem("P(a) ∧ Q(a) ∧ R(a)", goal="Q(a)")
    guide = Guide(VerifierSession(case, VERIFIER), tries=1, keep=False)
    decoder = Decoder(cast("PreTrainedModel", table), table.tokenizer)
    (found,) = decoder.sample([DecodingRequest(PROMPT[:1], None, guide, seed, budget, beam)], temperature=1.0)
    return found


def test_a_beam_keeps_the_step_that_leads_to_the_goal(decoder: Decoder) -> None:
    """P is likelier than Q, but only Q leads to the goal. A single answer that starts with P comes to nothing."""
    table = Table(
        decoder, {"prompt": {"open": 1}, "open": {"P": 0.6, "Q": 0.4}, "P": {"bind Q": 1}, "Q": {"bind Q": 1}}
    )
    single = [drawn(table, seed, beam=1, budget=9) for seed in range(20)]
    assert {(one.whole, one.tokens, len(one.trials)) for one in single} == {(False, 4, 2), (True, 3, 0)}
    both = 0
    for seed in range(20):
        table.batches.clear()
        found = drawn(table, seed, beam=2, budget=9)
        if table.batches[2] == ["P", "P", "Q", "Q"]:  # what stays is continued twice, the likelier one first
            both += 1
            assert table.batches == [["prompt"] * 2, ["open"] * 2, ["P", "P", "Q", "Q"]]
            assert (found.whole, found.tokens, len(found.trials)) == (True, 7, 2)  # of four, the last is not drawn
            assert found.text.startswith(WORDS["open"] + WORDS["Q"])
    assert both


def test_the_likeliest_partial_answers_go_on(decoder: Decoder) -> None:
    """P then R has probability 0.36, P then Q 0.24, Q then P 0.4. Two go on, but nothing goes on twice."""
    first: dict[str, dict[str, float]] = {"prompt": {"open": 1}, "open": {"P": 0.6, "Q": 0.4}}
    table = Table(decoder, {**first, "P": {"then R": 0.6, "then Q": 0.4}, "Q": {"then P": 1}})
    seen = set()
    for seed in range(40):
        table.batches.clear()
        with pytest.raises(KeyError):  # nothing is said of a third step
            drawn(table, seed, beam=2, budget=99)
        if table.batches[2] == ["P", "P", "Q", "Q"]:
            seen.add(tuple(table.batches[3]))
    assert seen == {("then P", "then P", "then R", "then R"), ("then P", "then P", "then Q", "then Q")}


def test_what_is_no_grammar_is_refused(decoder: Decoder) -> None:
    with pytest.raises(GrammarError, match="the grammar cannot be used"):
        decoder.sample([DecodingRequest(PROMPT, "start: (", None, 0, 10)], temperature=1.0)


def test_a_tokenizer_that_llguidance_reads_otherwise_is_refused(decoder: Decoder) -> None:
    """The tokenizer of a GGUF file in `transformers` has such a decoder."""
    tokenizer = deepcopy(decoder.tokenizer)
    tokenizer.backend_tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.ByteLevel()])
    assert tokenizer.decode(tokenizer.encode(PROBE)) == PROBE
    with pytest.raises(DecodingError, match=r"llguidance reads b'\{\"id\":.*decoders\.ByteLevel\(\)"):
        mask_tokens(tokenizer, len(tokenizer))


def test_a_token_is_drawn_by_its_probability() -> None:
    logits = np.log(np.array([0.5, 0.3, 0.2], dtype=np.float32))
    assert [draw(logits, chance, 1.0, 1.0) for chance in (0.0, 0.49, 0.51, 0.79, 0.81, 0.999)] == [0, 0, 1, 1, 2, 2]
    assert [draw(logits, chance, 1.0, 0.7) for chance in (0.0, 0.6, 0.64, 0.999)] == [0, 0, 1, 1]
    assert draw(logits, 0.999, 0.0, 1.0) == 0
    assert draw(np.array([-np.inf, 0.0, -np.inf], dtype=np.float32), 0.5, 1.0, 0.9) == 1
    with pytest.raises(DecodingError, match="no token is allowed"):
        draw(np.full(3, -np.inf, dtype=np.float32), 0.5, 1.0, 1.0)
