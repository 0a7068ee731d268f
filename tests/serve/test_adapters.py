"""Adapters for trainers that have a service verify: they give what they give without one."""

from __future__ import annotations

from typing import Any, get_args
from unicodedata import normalize

import pytest

from proof_r1_formal.data.native import to_json
from proof_r1_formal.errors import DataError
from proof_r1_formal.integrations import openrlhf, verl
from proof_r1_formal.integrations.rewards import Content, reward_function
from proof_r1_formal.integrations.scoring import Scorer
from proof_r1_formal.models.prompts import messages
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue
from proof_r1_formal.serve.openrlhf import completion_of
from tests.serve.asking import COMPLETIONS, PROBLEMS

RECORDS = [to_json(PROBLEMS[c.problem_id]) for c in COMPLETIONS]
TEXTS = [c.completion for c in COMPLETIONS]


def test_scores_are_those_of_this_process(service: Any) -> None:
    here = Scorer("answer")(RECORDS, TEXTS)
    assert len({one.reward for one in here}) > 1
    assert Scorer("answer", client=service.client)(RECORDS, TEXTS) == here
    assert Scorer("answer", client=service.client)([c.problem_id for c in COMPLETIONS], TEXTS) == here


def test_arguments_of_unequal_lengths_are_named() -> None:
    with pytest.raises(ValueError, match="equally many entries, but problems has 1, completions has 2"):
        reward_function("sound")(completions=TEXTS[:2], problem=RECORDS[:1])
    with pytest.raises(ValueError, match="equally many entries, but queries has 1, prompts has 2, labels has 1"):
        openrlhf.reward_func(TEXTS[:1], ["", ""], RECORDS[:1])


def test_trl_and_verl_are_given_the_scores(service: Any) -> None:
    here = Scorer()(RECORDS, TEXTS)
    rewards = [one.reward for one in here]
    own: dict[str, Content] = {"role": "assistant"}
    chats: list[list[dict[str, Content]]] = [
        [{**own, "content": None}, own, {**own, "content": text}] for text in TEXTS
    ]
    for client in (None, service.client):
        function = reward_function("sound", client=client)
        assert function(completions=TEXTS, problem=RECORDS) == rewards
        assert function(completions=chats, problem=RECORDS) == rewards
    for url in (None, service.url):
        pairs = zip(TEXTS, RECORDS, strict=True)
        given = [verl.compute_score(verl.DATA_SOURCE, text, record, service=url) for text, record in pairs]
        assert [one["score"] for one in given] == rewards
        for name in ("parsed", "right", "verified"):
            assert [one[name] for one in given] == [float(getattr(one, name)) for one in here]


BEST = max(zip(RECORDS, TEXTS, strict=True), key=lambda pair: Scorer()([pair[0]], [pair[1]])[0].reward)


@pytest.mark.parametrize("role", ["tool", "user", "system"])
def test_only_messages_of_the_model_are_scored(role: str) -> None:
    problem, proof = BEST
    function = reward_function("sound")
    others: dict[str, Content] = {"role": role, "content": proof}
    hint: dict[str, Content] = {"role": role, "content": "<summary>[]</summary>"}
    for said, reward in (("", 0.0), ("I cannot.", 0.0), (proof, 1.0)):
        own: dict[str, Content] = {"role": "assistant", "content": said}
        chat = [hint, others, own, others]
        assert function(completions=[chat], problem=[problem]) == [reward]


def test_the_parts_of_a_message_are_read() -> None:
    problem, proof = BEST
    parts = [{"type": "text", "text": proof[:20]}, {"type": "image"}, {"type": "text", "text": proof[20:]}]
    chat: list[dict[str, Content]] = [{"role": "assistant", "content": parts}]
    assert reward_function("sound")(completions=[chat], problem=[problem]) == [1.0]


@pytest.mark.parametrize("kind", ["reasoning", "thinking"])
def test_thoughts_among_the_parts_are_not_scored(kind: str) -> None:
    problem, proof = BEST
    draft = {"type": kind, "text": proof}
    for said, reward in (("I cannot.", 0.0), (proof, 1.0)):
        parts = [draft, {"type": "text", "text": said}]
        chat: list[dict[str, Content]] = [{"role": "assistant", "content": parts}]
        assert reward_function("sound")(completions=[chat], problem=[problem]) == [reward]


def test_rows_of_other_tasks_have_no_reward_in_trl() -> None:
    problem, proof = BEST
    function = reward_function("sound")
    assert function(completions=[proof] * 2) == [None, None]
    assert function(completions=[proof] * 3, problem=[problem, None, ""]) == [1.0, None, None]
    sources = ["proof-r1", "gsm8k", None]
    assert function(completions=[proof] * 3, problem=[problem] * 3, data_source=sources) == [1.0, None, 1.0]


def test_rows_of_other_tasks_are_a_clear_error_elsewhere() -> None:
    problem, proof = BEST
    with pytest.raises(DataError, match="it is 'gsm8k', and this function scores 'proof-r1'"):
        verl.compute_score("gsm8k", proof, problem)
    for label in (None, "", 7):
        with pytest.raises(DataError, match="row 1: it has no problem but"):
            openrlhf.reward_func(["p" + proof] * 2, ["p"] * 2, [problem, label])  # type: ignore[list-item]


@pytest.mark.parametrize("rules", get_args(RuleSystem))
def test_rows_for_verl_ask_with_the_rules_that_verify(rules: RuleSystem) -> None:
    [row] = verl.rows([next(iter(PROBLEMS.values()))], rules=rules)
    assert row["prompt"] == messages(next(iter(PROBLEMS.values())), rules=catalogue(rules))


PROMPT = "<|user|>Caf\u0065\u0301 or tea? " + "".join([f"h{n}: [P(a{n})]\n" for n in range(40)]) + "<|assistant|>"


@pytest.mark.parametrize(
    "shown",
    [PROMPT, normalize("NFC", PROMPT), PROMPT[:300], normalize("NFC", PROMPT)[:300], PROMPT[100:], PROMPT[-40:]],
    ids=["whole", "NFC", "end cut", "NFC and end cut", "start cut", "start cut far"],
)
@pytest.mark.parametrize("head", ["", "<s>"])
def test_a_completion_is_found_after_a_changed_prompt(shown: str, head: str) -> None:
    assert completion_of(f"{head}{shown}<think>caf\u0065\u0301</think>", PROMPT) == "<think>caf\u0065\u0301</think>"
    assert completion_of(f"{head}{shown}", PROMPT) == ""


@pytest.mark.parametrize("query", ["", "something else", PROMPT[200:260] + "<think>", "x" * 65 + PROMPT[:300]])
def test_a_query_without_its_prompt_is_refused(query: str) -> None:
    with pytest.raises(ValueError, match="a query does not hold its prompt"):
        completion_of(query, PROMPT)
