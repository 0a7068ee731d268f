"""SkyRL-gym makes our environment by its name, and plays it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("skyrl_gym", reason="SkyRL-gym is not installed: make test-integrations")

import skyrl_gym

from proof_r1_formal import ProofR1Error
from proof_r1_formal.data.native import to_json
from proof_r1_formal.integrations.skyrl_gym import NAME
from tests.integrations.test_environments import LAST, PROBLEM, STEP, WRONG, written

pytestmark = pytest.mark.integration


def made(**extras: Any) -> Any:
    return skyrl_gym.make(NAME, env_config={"rules": "train"}, extras={"problem": to_json(PROBLEM), **extras})


def test_an_episode_ends_with_the_answer_and_its_reward() -> None:
    environment = made()
    chat, _ = environment.init([{"role": "system", "content": "Think."}, {"role": "user", "content": "Prove."}])
    assert chat[0]["content"] == "Think."
    assert chat[1]["content"].startswith("Prove.\n\nProve one of the options")
    assert "h2: [P(a)]" in chat[1]["content"]
    wrong = environment.step(written(WRONG))
    assert (wrong["reward"], wrong["done"]) == (0.0, False)
    assert wrong["observations"][0]["content"].startswith("s1: fails entailment")
    assert environment.step(written(STEP))["metadata"]["signals"] == [0.1, 1.0]
    last = environment.step(written(LAST))
    assert (last["reward"], last["done"], last["observations"]) == (1.0, True, [])
    assert environment.get_metrics() == {"right": 1.0, "verified": 1.0, "signal": pytest.approx(0.7), "steps": 3.0}


@pytest.mark.parametrize("extras", [None, {}, {"max_turns": 3}])
def test_an_environment_without_a_problem_is_refused(extras: dict[str, Any] | None) -> None:
    with pytest.raises(ProofR1Error, match="extras has no 'problem'"):
        skyrl_gym.make(NAME, env_config={"rules": "train"}, extras=extras)


def test_an_episode_ends_with_its_turns() -> None:
    environment = made(max_turns=2)
    first = environment.step("Hm.")
    assert (first["done"], first["observations"][0]["content"][:18]) == (False, "No step was found:")
    assert environment.step(written(STEP)) == {
        "observations": [],
        "reward": 0.1,
        "done": True,
        "metadata": {"signals": [1.0], "verified": False},
    }
