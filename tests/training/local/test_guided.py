"""Guided decoding without a grammar, with a policy that knows how answers look."""

from __future__ import annotations

import pytest

from proof_r1_formal import Verifier
from proof_r1_formal.decoding.guide import Feedback, Guide
from proof_r1_formal.decoding.sampler import Decoder, DecodingRequest
from proof_r1_formal.proof.session import VerifierSession
from training.common.tasks import Task
from training.local.model import Policy

pytest.importorskip("llguidance", reason="llguidance is not installed (the extra [decoding])")
VERIFIER = Verifier(evaluation=False)


@pytest.mark.parametrize("feedback", ["none", "finding"])
def test_steps_are_taken_back_without_a_grammar(feedback: Feedback, policy: Policy, tasks: tuple[Task, ...]) -> None:
    guides = [Guide(VerifierSession(task.problem, VERIFIER), keep=False, feedback=feedback) for task in tasks * 4]
    decoder = Decoder(policy.model, policy.tokenizer)
    asked = [
        DecodingRequest(task.prompt, None, g, seed, 400)
        for seed, (task, g) in enumerate(zip(tasks * 4, guides, strict=True))
    ]
    found = decoder.sample(asked, temperature=1.3)
    assert any(one.trials and one.whole for one in found)
    for task, guide, one in zip(tasks * 4, guides, found, strict=True):
        assert all(guide.accepts(step) for step in guide.session.state.steps[:-1])
        assert all(trial.findings and trial.tokens > 0 for trial in one.trials)
        assert (one.read > 0) == (feedback == "finding" and bool(one.trials))
        report = VERIFIER.verify(task.problem, one.text)
        if report.verified:
            assert report == guide.session.report()
    if feedback == "finding":  # which means nothing to this policy
        return
    verified = [VERIFIER.verify(task.problem, one.text).verified for task, one in zip(tasks * 4, found, strict=True)]
    free = [DecodingRequest(one.prompt, None, None, one.seed, 400) for one in asked]
    plain = decoder.sample(free, temperature=1.3)
    alone = [VERIFIER.verify(task.problem, one.text).verified for task, one in zip(tasks * 4, plain, strict=True)]
    assert sum(verified) > sum(alone)
