"""Corrections as rows of a batch: the model's tokens stay, the expert's follow, and each method credits its part."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal import Problem, ProofR1Error, Settings, Verifier
from proof_r1_formal.credit.assigner import BatchCredit, CreditAssigner
from proof_r1_formal.credit.diagnostics import token_terms
from proof_r1_formal.credit.pieces import BYTE_LEVEL, TokenizerError, TokenPieces
from proof_r1_formal.credit.workers import Workers
from proof_r1_formal.generate import Proved, Prover, completion, summary
from tests import build
from tests.build import action, problem

tokenizers = pytest.importorskip("tokenizers", reason="the extra train is not installed")
transformers = pytest.importorskip("transformers", reason="the extra train is not installed")

CHAIN = problem("P(a)", "∀x (P(x) → Q(x))", "∀x (Q(x) → R(x))", "∀x (R(x) → G(x))")
OPEN = problem("P(a)")
FIRST = action("s1", "Q(a)", "h2", "h1")
WRONG = action("s2", "R(a)", "h1")
BOUND = action("h_goal_false", "¬G(a)", "s1", rule="GOAL_BINDING")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """A byte-level tokenizer that merges across the ends of actions."""
    found = Prover(Verifier(evaluation=False)).prove(CHAIN)
    assert isinstance(found, Proved)
    bare = tokenizers.Tokenizer(tokenizers.models.BPE())
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bare.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "<end>"]
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    bare.train_from_iterator([completion(CHAIN, found.steps), summary(found.steps)] * 3, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=bare, pad_token="<pad>", eos_token="<end>")


def encoded(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
    return [*ids, tokenizer.eos_token_id]


def credited(tokenizer: Any, method: str, *texts: str, group: int | None = None, **options: Any) -> BatchCredit:
    assigner = CreditAssigner(tokenizer, method=method, workers=0, **options, replaces_rows=True)
    ids = [encoded(tokenizer, text) for text in texts]
    return assigner.credit([CHAIN] * len(texts), ids, group or len(texts))


def read(tokenizer: Any, ids: tuple[int, ...] | None) -> str:
    assert ids is not None
    return TokenPieces(tokenizer.backend_tokenizer.to_str()).read(ids).text


def right(tokenizer: Any) -> str:
    """The completion that a correction of nothing is."""
    return read(tokenizer, credited(tokenizer, "taught", "").replaced[0])


@pytest.mark.parametrize("text", [build.completion(FIRST, WRONG), build.completion(FIRST), "no proof"])
def test_the_terms_of_a_replaced_row_are_those_of_its_tokens(tokenizer: Any, text: str) -> None:
    with CreditAssigner(tokenizer, method="proof_r1_taught", workers=0, replaces_rows=True) as assigner:
        rollouts = assigner.verify([CHAIN] * 2, [encoded(tokenizer, text), encoded(tokenizer, right(tokenizer))])
        terms = token_terms(rollouts, 2, assigner.state_dict(), method="proof_r1_taught")
        credit = assigner.assign(rollouts, 2)
    assert credit.replaced[0] is not None
    for verification, outcome, earned in zip(terms.verification, terms.outcome, credit.advantages, strict=True):
        assert [v + o for v, o in zip(verification, outcome, strict=True)] == pytest.approx(earned)


# -- tokens -----------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(data=st.data())
def test_kept_tokens_are_the_models_and_the_whole_is_a_proof(tokenizer: Any, data: st.DataObject) -> None:
    start = build.completion(FIRST, WRONG)
    text = start[: data.draw(st.integers(0, len(start)))] + data.draw(st.sampled_from(["", "é", "\U0001f600", "]"]))
    whole = encoded(tokenizer, text)[:-1]
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=3).map(sorted))
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    odd = [number for part in parts for number in encoded(tokenizer, part)[:-1]]
    ids = data.draw(st.sampled_from([whole, odd]))  # the second as no tokenizer would encode it
    assigner = CreditAssigner(tokenizer, method="taught", workers=0, replaces_rows=True)
    found = assigner.credit([CHAIN], [ids], 1)
    replaced, advantages = found.replaced[0], found.advantages[0]
    assert replaced is not None
    expert = advantages.index(1.0)
    assert advantages == (0.0,) * expert + (1.0,) * (len(replaced) - expert)
    assert list(replaced[:expert]) == list(ids[:expert])
    assert replaced[-1] == tokenizer.eos_token_id
    report = Verifier(evaluation=False).verify(CHAIN, read(tokenizer, replaced))
    assert report.answer_correct
    assert all(step.signal == 1.0 for step in report.actions)


def test_kept_text_ends_in_the_last_accepted_action(tokenizer: Any) -> None:
    text = build.completion(FIRST, WRONG)
    found = credited(tokenizer, "taught", text)
    corrected = read(tokenizer, found.replaced[0])
    kept = text[: text.index("}") + 1]
    assert corrected.startswith(kept)
    assert found.replaced[0] is not None
    pieces = TokenPieces(tokenizer.backend_tokenizer.to_str()).read(found.replaced[0]).pieces
    ends = list(accumulate(map(len, pieces)))
    expert = found.advantages[0].index(1.0)
    assert ends[expert - 1] <= len(kept.encode()) < ends[expert]  # the first token of the expert crosses the end
    assert found.metrics["corrected"] == 1.0
    assert found.metrics["kept_actions"] == 1.0
    assert found.metrics["expert_tokens"] == len(pieces) - expert


def test_expert_tokens_are_a_mean_over_corrections(tokenizer: Any) -> None:
    text = build.completion(FIRST, WRONG)
    one, two = credited(tokenizer, "taught", text), credited(tokenizer, "taught", text, text)
    assert two.metrics["corrected"] == 1.0
    assert two.metrics["expert_tokens"] == one.metrics["expert_tokens"] > 1


def test_a_token_that_no_text_has_stops_no_run() -> None:
    """What stays ends inside a token that has a byte of no text, so no row can begin as the completion does."""
    vocabulary = {**BYTE_LEVEL, "ÿ<": 256, "<end>": 257}
    bare = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, [("ÿ", "<")]))
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bare.decoder = tokenizers.decoders.ByteLevel()
    bare.add_special_tokens(["<end>"])
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<end>")
    cut, whole = ([*b"First: ", *odd, *b"summary>none", 257] for odd in ([256], [0xFF, ord("<")]))
    with CreditAssigner(made, method="taught", workers=0, replaces_rows=True) as assigner:
        found = assigner.credit([CHAIN] * 2, [cut, whole], 2)
    assert found.replaced[0] is None
    assert found.replaced[1] is not None
    assert list(found.replaced[1][:8]) == whole[:8]


def test_workers_correct_as_this_process_does(tokenizer: Any) -> None:
    ids = [encoded(tokenizer, text) for text in ("", build.completion(FIRST, WRONG), build.completion(FIRST, BOUND))]
    here = CreditAssigner(tokenizer, method="taught", workers=0, replaces_rows=True).credit([CHAIN] * 3, ids, 3)
    with CreditAssigner(tokenizer, method="taught", workers=2, replaces_rows=True) as assigner:
        there = assigner.credit([CHAIN] * 3, ids, 3)
    assert (there.advantages, there.replaced, there.reports) == (here.advantages, here.replaced, here.reports)
    assert None not in here.replaced


# -- methods ----------------------------------------------------------------------------------------------------------


def test_taught_imitates_corrections_and_flawless_rollouts(tokenizer: Any) -> None:
    proof = right(tokenizer)
    found = credited(tokenizer, "taught", proof, build.completion(FIRST, WRONG))
    assert found.replaced[0] is None
    assert set(found.advantages[0]) == {1.0}
    assert found.replaced[1] is not None
    assert set(found.advantages[1]) == {0.0, 1.0}
    assert found.divisor == 2


def test_a_correction_joins_the_group_of_proof_r1(tokenizer: Any) -> None:
    texts = [build.completion(FIRST, WRONG), build.completion(WRONG), right(tokenizer)]
    found = credited(tokenizer, "proof_r1_taught", *texts, preset="hardened")
    assert found.replaced[0] is not None
    assert found.replaced[1:] == (None, None)
    row = read(tokenizer, found.replaced[0])
    assert row.startswith(build.completion(FIRST)[:-1].removesuffix("]</summary"))
    # The group has four members: the three rollouts and the correction, which takes the row of the first rollout.
    ids = [encoded(tokenizer, text) for text in [*texts, row]]
    alone = CreditAssigner(tokenizer, method="proof_r1", preset="hardened", workers=0)
    members = alone.credit([CHAIN] * 4, [*ids[:3], list(found.replaced[0])], 4)
    assert found.advantages == (members.advantages[3], *members.advantages[1:3])
    assert found.reports == members.reports[:3]
    assert sum(found.advantages[0]) > 0.0


def test_averages_move_by_the_rollouts_alone(tokenizer: Any) -> None:
    ids = [encoded(tokenizer, text) for text in (build.completion(FIRST, WRONG), build.completion(WRONG))]
    states = []
    for method in ("proof_r1", "proof_r1_taught"):
        assigner = CreditAssigner(tokenizer, method=method, preset="hardened", workers=0, replaces_rows=True)
        assigner.credit([CHAIN] * 2, ids, 2)
        states.append(assigner.state_dict())
    assert states[0] == states[1]


def test_contrast_is_about_one_pair_of_actions(tokenizer: Any) -> None:
    wrong, other = build.completion(FIRST, WRONG), build.completion(WRONG)
    found = credited(tokenizer, "contrast", wrong, right(tokenizer), other, wrong)
    assert [row is not None for row in found.replaced] == [False, False, True, False]
    pieces = TokenPieces(tokenizer.backend_tokenizer.to_str())

    def marked(row: int, ids: list[int]) -> str:
        text = pieces.read(ids)
        return b"".join([p for p, a in zip(text.pieces, found.advantages[row], strict=True) if a]).decode()

    assert set(found.advantages[0]) == {0.0, -0.5}
    assert '"conclusion": "R(a)"' in marked(0, encoded(tokenizer, wrong))
    assert "Q(a)" not in marked(0, encoded(tokenizer, wrong))
    assert "summary" not in marked(0, encoded(tokenizer, wrong))  # the wrong action alone
    assert found.replaced[2] is not None
    better = marked(2, list(found.replaced[2]))
    assert set(found.advantages[2]) == {0.0, 0.5}
    assert '"dependencies": ["h3", "s1"], "conclusion": "R(a)"' in better
    assert "G(a)" not in better
    assert not any(found.advantages[1] + found.advantages[3])  # flawless, and without a partner
    assert found.divisor == 1


@pytest.mark.parametrize("preset", ["paper", "hardened"])
def test_a_text_without_an_array_loses_what_its_correction_replaces(tokenizer: Any, preset: str) -> None:
    found, alone = [credited(tokenizer, method, "P and so on", "", preset=preset) for method in ("contrast", "taught")]
    start = alone.advantages[0].index(1.0)  # the first token of the expert in the correction
    ids = encoded(tokenizer, "P and so on")
    assert found.advantages[0] == (0.0,) * start + (-0.5,) * (len(ids) - start)
    assert found.replaced[1] is not None


# -- limits -----------------------------------------------------------------------------------------------------------


def test_a_correction_that_is_too_long_is_left_out(tokenizer: Any) -> None:
    found = credited(tokenizer, "taught", build.completion(FIRST, WRONG), max_tokens=20)
    assert found.replaced == (None,)
    assert not any(found.advantages[0])
    assert found.metrics["corrected"] == 0.0


def test_the_longest_correction_that_fits_is_taken(tokenizer: Any) -> None:
    whole = credited(tokenizer, "taught", build.completion(FIRST, WRONG)).replaced[0]
    assert whole is not None
    for limit, row in ((len(whole), whole), (len(whole) - 1, None)):
        assert credited(tokenizer, "taught", build.completion(FIRST, WRONG), max_tokens=limit).replaced == (row,)


@pytest.mark.parametrize("method", ["taught", "contrast"])
def test_imitation_and_contrast_have_no_terms(tokenizer: Any, method: str) -> None:
    with CreditAssigner(tokenizer, method=method, workers=0, replaces_rows=True) as assigner:
        rollouts = assigner.verify([CHAIN] * 2, [encoded(tokenizer, build.completion(FIRST, WRONG))] * 2)
        with pytest.raises(ProofR1Error, match=f"'{method}' does not credit actions"):
            token_terms(rollouts, 2, assigner.state_dict(), method=method)


@pytest.mark.parametrize("asked", [OPEN, problem("P(a)", "¬P(a)")])
def test_what_has_no_proof_is_not_corrected(tokenizer: Any, asked: Problem) -> None:
    assigner = CreditAssigner(tokenizer, method="taught", workers=0, replaces_rows=True)
    found = assigner.credit([asked], [encoded(tokenizer, build.completion(WRONG))], 1)
    assert found.replaced == (None,)
    assert not any(found.advantages[0])


def test_other_methods_correct_nothing(tokenizer: Any) -> None:
    found = credited(tokenizer, "proof_r1", build.completion(FIRST, WRONG))
    assert found.replaced == (None,)
    assert "corrected" not in found.metrics


def test_a_tokenizer_that_cannot_encode_is_refused(byte_tokenizer: str, tokenizer: Any) -> None:
    with pytest.raises(ProofR1Error, match="'taught' encodes corrections; give the model's"):
        CreditAssigner(byte_tokenizer, method="taught", replaces_rows=True)
    spaced = tokenizers.Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    spaced.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    other = transformers.PreTrainedTokenizerFast(tokenizer_object=spaced, eos_token="<end>")
    with pytest.raises(TokenizerError, match="changes a text that it encodes"):
        credited(other, "taught", "x")


def test_a_method_with_corrections_takes_no_opening(tokenizer: Any) -> None:
    assigner = CreditAssigner(tokenizer, method="taught", workers=0, replaces_rows=True)
    with pytest.raises(ValueError, match="starts from the model's own steps; leave out openings"):
        assigner.verify([CHAIN], [encoded(tokenizer, "x")], openings=["<summary>["])


@pytest.mark.parametrize("method", ["taught", "proof_r1_taught", "contrast"])
def test_a_trainer_that_keeps_its_rows_is_refused(tokenizer: Any, method: str) -> None:
    with pytest.raises(ProofR1Error, match=f"'{method}' replaces rows of the batch, which this trainer does not"):
        CreditAssigner(tokenizer, method=method)


def test_a_fault_of_the_prover_changes_no_report_and_is_logged(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ids = encoded(tokenizer, build.completion(FIRST, WRONG))
    with CreditAssigner(tokenizer, method="taught", workers=0, replaces_rows=True) as assigner:
        expected = assigner.verify([CHAIN], [ids])[0]
    monkeypatch.setattr(Prover, "continue_proof", lambda *_, **__: 1 / 0)
    with CreditAssigner(tokenizer, method="taught", workers=0, replaces_rows=True) as assigner:
        found = assigner.verify([CHAIN], [ids])[0]
    assert expected.corrected is not None
    assert (found.corrected, found.failure, found.verified) == (None, None, True)
    assert found.report == expected.report
    assert f"the prover failed on a completion of {CHAIN.id}: ZeroDivisionError" in caplog.text


def test_a_prover_that_takes_too_long_changes_no_report(tokenizer: Any) -> None:
    settings = Settings(rules="train", evaluation=False)
    more = [f'{{"id":"z{n}","dependencies":["h1"],"conclusion":"⊤","rule":"X"}}' for n in range(20_000)]
    report = settings.verifier().verify(CHAIN, build.completion(WRONG))
    with Workers(settings, timeout=1e-3, corrects=True) as workers:
        assert workers.correct(CHAIN, build.completion(WRONG, *more), report).result() == (None, 0.0)


def test_an_evaluation_corrects_nothing(tokenizer: Any) -> None:
    with CreditAssigner(tokenizer, method="taught", workers=1, replaces_rows=True) as assigner:
        ids = encoded(tokenizer, build.completion(WRONG))
        assert assigner.verify([CHAIN], [ids], correct=False)[0].corrected is None
        assert assigner.verify([CHAIN], [ids])[0].corrected is not None
