"""The credit that a trainer gets: that of the methods, at the tokens that earned it, and a state that can be stored."""

from __future__ import annotations

import json
import subprocess
import sys
from inspect import signature

import msgspec
import pytest

from proof_r1_formal import TRAIN, Problem, ProofR1Error, Verifier
from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.credit.diagnostics import batch_metrics
from proof_r1_formal.credit.methods import METHODS, PerAction, credit_batch, divisor, needs_corrections, rollout_of
from proof_r1_formal.credit.pieces import TokenPieces
from proof_r1_formal.credit.terms import Baselines, CreditSettings
from proof_r1_formal.credit.workers import Workers
from tests.build import action, byte_ids, completion, problem

Answers = list[tuple[Problem, str]]


def batch(answers: Answers) -> tuple[list[Problem], list[list[int]]]:
    """Problems and token ids."""
    return [problem for problem, _ in answers], [byte_ids(text) for _, text in answers]


@pytest.mark.parametrize("preset", ["paper", "shared", "hardened", "strict"])
@pytest.mark.parametrize("method", [name for name in METHODS if name != "sft" and not needs_corrections(METHODS[name])])
def test_credit_is_that_of_the_method(answers: Answers, byte_tokenizer: str, method: str, preset: str) -> None:
    settings = CreditSettings(preset=preset)  # type: ignore[arg-type]
    verifier, pieces = Verifier(evaluation=False), TokenPieces(byte_tokenizer)
    problems, ids = batch(answers)
    texts = [pieces.read(one) for one in ids]
    rollouts = [
        rollout_of(verifier.verify(problem, text.text), text, settings)
        for problem, text in zip(problems, texts, strict=True)
    ]
    groups = [rollouts[start : start + 2] for start in range(0, len(rollouts), 2)]
    first = credit_batch(METHODS[method], groups, Baselines.start(TRAIN, settings), settings)
    expected = [one for group in first.groups for one in group]

    assigner = CreditAssigner(byte_tokenizer, method=method, settings=settings, workers=0)
    found = assigner.credit(problems, ids, 2)
    assert found.advantages == tuple([one.advantages for one in expected])
    assert [len(one) for one in found.advantages] == [len(one) for one in ids]
    assert found.divisor == divisor(expected)
    assert found.reports == tuple([one.report for one in rollouts])
    assert assigner.state_dict() == dict(first.baselines.averages)
    if isinstance(METHODS[method], PerAction):
        second = credit_batch(METHODS[method], groups, first.baselines, settings)
        again = assigner.credit(problems, ids, 2)
        assert again.advantages == tuple([one.advantages for group in second.groups for one in group])
        assert again.advantages != found.advantages or method == "no_verification"


def test_workers_give_the_same_credit(answers: Answers, byte_tokenizer: str, closed: None) -> None:
    problems, ids = batch(answers)
    here = CreditAssigner(byte_tokenizer, workers=0)
    with CreditAssigner(byte_tokenizer, workers=2) as assigner:
        assert assigner.credit(problems, ids, 2) == here.credit(problems, ids, 2)
    with assigner:  # again, as a trainer does that trains, evaluates and trains
        assert assigner.credit(problems, ids, 2) == here.credit(problems, ids, 2)


def test_parts_of_a_batch_may_be_verified_apart(answers: Answers, byte_tokenizer: str) -> None:
    problems, ids = batch(answers)
    whole = CreditAssigner(byte_tokenizer, workers=0)
    expected = whole.credit(problems, ids, 2)
    ranks = [CreditAssigner(byte_tokenizer, workers=0) for _ in range(2)]
    rollouts = [*ranks[0].verify(problems[:3], ids[:3]), *ranks[1].verify(problems[3:], ids[3:])]
    assert [rank.assign(rollouts, 2) for rank in ranks] == [expected, expected]
    assert [rank.state_dict() for rank in ranks] == [whole.state_dict()] * 2


def test_a_checkpoint_goes_on(answers: Answers, byte_tokenizer: str) -> None:
    problems, ids = batch(answers)
    one = CreditAssigner(byte_tokenizer, workers=0)
    one.credit(problems, ids, 2)
    other = CreditAssigner(byte_tokenizer, workers=0)
    other.load_state_dict(json.loads(json.dumps(one.state_dict())))
    assert other.credit(problems, ids, 2) == one.credit(problems, ids, 2)
    with pytest.raises(ProofR1Error, match="made with other rules"):
        CreditAssigner(byte_tokenizer, rules="folio", workers=0).load_state_dict(one.state_dict())


def test_the_log_has_the_means_of_the_reports(answers: Answers, byte_tokenizer: str) -> None:
    """What they are is in the tests of diagnostics."""
    problems, ids = batch(answers)
    found = CreditAssigner(byte_tokenizer, workers=0).credit(problems, ids, 2)
    assert found.metrics.keys() - batch_metrics(found.reports).keys() == {"silent_groups", "unverified"}
    assert batch_metrics(found.reports).items() <= found.metrics.items()
    empty = CreditAssigner(byte_tokenizer, workers=0).credit([], [], 2)
    assert (empty.advantages, empty.divisor, set(empty.metrics)) == ((), 1, {"silent_groups", "unverified"})


def test_a_mean_of_nothing_is_absent_from_the_log(answers: Answers) -> None:
    """It was 0, which looks like a batch in which everything is wrong."""
    problem = answers[0][0]
    texts = ("no summary", "<summary>[]</summary>")
    unparsed, empty = [batch_metrics([Verifier().verify(problem, text)]) for text in texts]
    assert not {"FVR", "RVR"} & set(unparsed)
    assert (unparsed["signal"], unparsed["parsed"], unparsed["right"]) == (0.0, 0.0, 0.0)
    assert not {"signal", "signal_0", "FVR", "RVR"} & set(empty)
    assert (empty["parsed"], empty["actions"]) == (1.0, 0.0)
    assert batch_metrics([]) == {}


def test_wrong_use_is_said(answers: Answers, byte_tokenizer: str) -> None:
    problems, ids = batch(answers)
    assigner = CreditAssigner(byte_tokenizer, workers=0)
    with pytest.raises(ValueError, match="do not make groups of 4"):
        assigner.credit(problems[:6], ids[:6], 4)
    with pytest.raises(ValueError, match="group 0 has completions of several problems"):
        assigner.credit(problems[1:3], ids[1:3], 2)
    with pytest.raises(ValueError, match="completion_ids"):
        assigner.credit(problems[:1], ids, 2)
    with pytest.raises(ProofR1Error, match="named 'ppo'; there are grpo, prosfi, expert_iteration, proof_r1"):
        CreditAssigner(byte_tokenizer, method="ppo")
    with pytest.raises(ProofR1Error, match="learns from rollouts is named 'sft'"):
        CreditAssigner(byte_tokenizer, method="sft")
    with pytest.raises(ProofR1Error, match="object does not say which bytes its tokens are"):
        CreditAssigner(object())  # type: ignore[arg-type]
    with pytest.raises(ProofR1Error, match="no preset is named 'harder'; there are paper"):
        CreditAssigner(byte_tokenizer, preset="harder")  # type: ignore[arg-type]
    with pytest.raises(ProofR1Error, match="a preset or settings, not both"):
        CreditAssigner(byte_tokenizer, preset="hardened", settings=CreditSettings())


@pytest.mark.parametrize("workers", [0, 1])
def test_an_id_without_a_token_costs_its_completion(workers: int, answers: Answers, byte_tokenizer: str) -> None:
    problems, ids = batch(answers)
    with CreditAssigner(byte_tokenizer, workers=workers) as assigner:
        alone = assigner.credit(problems[1:2], ids[1:2], 1)
        assigner.load_state_dict(CreditAssigner(byte_tokenizer).state_dict())
        found = assigner.credit(problems[:2], [[*ids[0], 999], ids[1]], 2)
    assert found.broken == 1
    assert found.advantages[0] == (0.0,) * (len(ids[0]) + 1)
    assert found.advantages[1:] == alone.advantages


def test_an_adapter_needs_no_torch() -> None:
    code = (
        "import sys; import proof_r1_formal.credit.assigner;"
        "print(sorted({'torch', 'numpy', 'transformers'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("workers", [0, 1])
def test_an_opening_is_verified_and_has_no_credit(answers: Answers, byte_tokenizer: str, workers: int) -> None:
    """The tokens of a whole completion, and of what follows its first action, share the credit of the later ones."""
    problem, text = next((p, t) for p, t in answers if len(Verifier().verify(p, t).actions) > 2)
    cut = text.index("}") + 1
    opening, rest = text[:cut], byte_ids(text[cut:])
    with CreditAssigner(byte_tokenizer, workers=workers) as assigner:
        rollouts = assigner.verify([problem], [rest], openings=[opening])
        whole = CreditAssigner(byte_tokenizer, workers=0).verify([problem], [byte_ids(text)])
        assert rollouts[0].report == whole[0].report
        found = assigner.assign(rollouts, 1)
    expected = CreditAssigner(byte_tokenizer, workers=0).assign(whole, 1)
    assert rollouts[0].alignment.sizes == (0, *whole[0].alignment.sizes[1:])
    assert found.advantages[0] == expected.advantages[0][-len(rest) :]
    assert found.divisor == expected.divisor - 1

    report, paper = whole[0].report, CreditSettings()
    own = msgspec.structs.replace(report, actions=report.actions[1:])
    assert assigner.state_dict() == Baselines.start(TRAIN, paper).after([own], paper).averages
    assert batch_metrics([own]).items() <= found.metrics.items()


def test_openings_and_corrections_exclude_each_other(answers: Answers, byte_tokenizer: str) -> None:
    problems, ids = batch(answers)
    with pytest.raises(ValueError, match="openings"):
        CreditAssigner(byte_tokenizer, workers=0).verify(problems, ids, openings=[""])


@pytest.mark.parametrize("workers", [0, 1])
def test_an_answer_is_the_id_of_an_option(byte_tokenizer: str, workers: int) -> None:
    """Evaluation finds an option by its formula; in training such an answer would be paid for no choice."""
    pets = problem("cat(tom)", "cat(tom) → shy(tom)", goal="shy(tom)")
    steps = [action("s1", "shy(tom)", "h1", "h2"), action("s2", "shy(tom)", "s1", rule="GOAL_BINDING")]
    assert Verifier().verify(pets, completion(*steps)).answer == "h_goal_true"
    with CreditAssigner(byte_tokenizer, workers=workers) as assigner:
        (rollout,) = assigner.verify([pets], [byte_ids(completion(*steps))])
    assert (rollout.report.answer, rollout.report.answer_correct) == (None, False)


def test_the_time_limit_is_the_documented_one() -> None:
    assert [signature(of).parameters["timeout"].default for of in (CreditAssigner, Workers)] == [60.0, 60.0]
