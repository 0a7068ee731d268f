"""``sample --method guided`` against endpoints: failing steps are taken back, and a hostile model costs itself only."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner, Result

from proof_r1_formal import Completion, Problem, Verifier, read_completions, read_problems
from proof_r1_formal.cli import app
from proof_r1_formal.decoding.grammar import After, completion_grammar
from proof_r1_formal.decoding.masks import Mask
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate import completion
from proof_r1_formal.models.agents.guided import CHARACTERS
from proof_r1_formal.models.constrain import OFFERS, Offer
from proof_r1_formal.models.prompts import question
from tests.models.scripted import Act, Body, Handler, Script, saying

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "problems.jsonl"
KNOWN = {name: problem for name, problem in read_problems(EXAMPLES).items() if problem.proofs}
Follow = Callable[[Script], str]
Say = Callable[[Problem, str], str]
"""A problem and what is there of its answer -> the rest of the answer."""


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples that have a proof."""
    path = tmp_path_factory.mktemp("guided") / "problems.jsonl"
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([line for line in lines if json.loads(line)["id"] in KNOWN]), encoding="utf-8")
    return path


def sample(problems: Path, url: str, out: Path, *arguments: str) -> Result:
    command = ["sample", "--problems", str(problems), "--model", url, "--out", str(out), "--k", "1"]
    return CliRunner().invoke(app, [*command, "--method", "guided", "--attempts", "2", *arguments])


def read(path: Path) -> dict[str, Completion]:
    return {one.problem_id: one for one in read_completions(path) if isinstance(one, Completion)}


def right(problem: Problem) -> str:
    return completion(problem, problem.proofs[0])


def wrong(problem: Problem) -> str:
    """The answer with a first step that does not follow."""
    return right(problem).replace('"conclusion": "', '"conclusion": "¬', 1)


def asked_of(body: Body) -> tuple[Problem, str]:
    """Whose question a request is, and what is there of the answer."""
    if "prompt" in body:
        (problem,) = [one for one in KNOWN.values() if question(one) in body["prompt"]]
        return problem, body["prompt"].partition(f"{question(problem)}\n\n")[2]
    (problem,) = [one for one in KNOWN.values() if question(one) in body["messages"][1]["content"]]
    last = body["messages"][-1]
    return problem, last["content"] if last["role"] == "assistant" else ""


def is_probe(body: Body) -> bool:
    said = body["prompt"] if "prompt" in body else body["messages"][-1]["content"] + body["messages"][0]["content"]
    return bool(body["max_tokens"] == 1) or "Say hello." in said


def cut(text: str, body: Body) -> str:
    return text.partition(body["stop"][0])[0]


def writing(say: Say) -> Callable[[Body], Act]:
    """A server that continues answers and leaves out what it stops at, as vLLM does."""
    return lambda body: saying("three" if is_probe(body) else cut(say(*asked_of(body)), body))


REJECTED = re.compile(r"\s*\{[^{}]*\} /\* rejected[^*]*\*/")
"""A first step and what is said of it."""


class Erring:
    """Gets the first step wrong so many times for each problem, and all others right.

    Attributes:
        seen: what was there of answers whenever a first step was asked for.
    """

    def __init__(self, times: int) -> None:
        self.times = times
        self.tried: Counter[str] = Counter()
        self.seen: list[str] = []

    def __call__(self, problem: Problem, there: str) -> str:
        stays = REJECTED.sub("", there)
        text = right(problem) if right(problem).startswith(stays) else wrong(problem)
        if stays.endswith(("<summary>", "<summary>[")):
            self.seen.append(there)
            self.tried[problem.id] += 1
            text = wrong(problem) if self.tried[problem.id] <= self.times else text
        return text[len(stays) :]


@pytest.mark.parametrize("feedback", ["none", "finding"])
def test_a_step_that_fails_is_sampled_again(feedback: str, problems: Path, follow: Follow, tmp_path: Path) -> None:
    model = Erring(2)
    script = Script(writing(model))
    result = sample(problems, follow(script), tmp_path / "c.jsonl", "--feedback", feedback)
    assert result.exit_code == 0, result.output
    assert "through /chat/completions" in result.output
    for name, one in read(tmp_path / "c.jsonl").items():
        report = Verifier(evaluation=False).verify(KNOWN[name], one.completion)
        assert report.rule_verified, one.completion
        calls = [body for body in script.asked if not is_probe(body) and asked_of(body)[0].id == name]
        assert one.cost is not None
        assert one.cost.calls == len(calls) == 1 + 2 + len(KNOWN[name].proofs[0])
        assert "rejected" not in one.completion
    assert all(("rejected: the dependencies do not entail" in there) == ("*/" in there) for there in model.seen)
    assert any("*/" in there for there in model.seen) == (feedback == "finding")


def test_the_characters_of_an_answer_are_bounded_too(problems: Path, follow: Follow, tmp_path: Path) -> None:
    """An endpoint that says that each reply is one token."""
    script = Script(lambda _: lambda handler: handler.whole({"content": "x" * (1 << 20)}, finish_reason="stop"))
    result = sample(problems, follow(script), tmp_path / "c.jsonl", "--max-tokens", "100")
    assert result.exit_code == 0, result.output
    found = read(tmp_path / "c.jsonl")
    assert {len(one.completion) for one in found.values()} == {100 * CHARACTERS}


def test_a_step_that_always_fails_is_kept_in_the_end(problems: Path, follow: Follow, tmp_path: Path) -> None:
    model = Erring(1000)
    result = sample(problems, follow(Script(writing(model))), tmp_path / "c.jsonl", "--tries", "3")
    assert result.exit_code == 0, result.output
    for name, one in read(tmp_path / "c.jsonl").items():
        report = Verifier(evaluation=False).verify(KNOWN[name], one.completion)
        assert report.parsed
        assert not report.actions[0].semantic
        assert model.tried[name] == 4


def test_an_endpoint_that_does_not_continue_chats_gets_one_text(problems: Path, follow: Follow, tmp_path: Path) -> None:
    model = Erring(1)

    def act(body: Body) -> Act:
        if "messages" in body:
            return lambda handler: handler.send(400, '{"error": {"message": "there is no chat template"}}')

        def say(handler: Handler) -> None:
            assert handler.path == "/v1/completions"
            text = cut(model(*asked_of(body)), body)
            usage = {"completion_tokens": len(text.split()), "prompt_tokens": 7}
            chunks: list[object] = [{"choices": [{"index": 0, "text": text, "finish_reason": "stop"}], "usage": usage}]
            handler.stream(*map(json.dumps, chunks), "[DONE]")

        return say

    result = sample(problems, follow(Script(act)), tmp_path / "c.jsonl")
    assert result.exit_code == 0, result.output
    assert "through /completions" in result.output
    for name, one in read(tmp_path / "c.jsonl").items():
        assert Verifier(evaluation=False).verify(KNOWN[name], one.completion).rule_verified
        assert model.tried[name] == 2


def test_a_stopped_run_goes_on_within_an_answer(problems: Path, follow: Follow, tmp_path: Path) -> None:
    whole = Script(writing(Erring(2)))
    assert sample(problems, follow(whole), tmp_path / "whole.jsonl", "--concurrency", "1").exit_code == 0
    model, calls = Erring(2), 0

    def act(body: Body) -> Act:
        nonlocal calls
        calls += not is_probe(body)
        refused = calls == 5 and not is_probe(body)
        return (lambda handler: handler.send(401, "{}")) if refused else writing(model)(body)

    script = Script(act)
    url, out = follow(script), tmp_path / "c.jsonl"
    assert isinstance(sample(problems, url, out, "--concurrency", "1").exception, ProofR1Error)
    result = sample(problems, url, out, "--concurrency", "1")
    assert result.exit_code == 0, result.output
    assert "4 stored replies were reused" in result.output
    answers = [[body for body in of.asked if not is_probe(body)] for of in (script, whole)]
    assert len(answers[0]) == len(answers[1]) + 1  # the call that was refused
    expected = {name: one.completion for name, one in read(tmp_path / "whole.jsonl").items()}
    assert {name: one.completion for name, one in read(out).items()} == expected


# -- grammars ---------------------------------------------------------------------------------------------------------


def taking(offer: Offer, act: Callable[[Body], Act]) -> Callable[[Body], Act]:
    """A server that takes a grammar in one field."""
    return lambda body: saying("proof-r1") if is_probe(body) and offer.name in body else act(body)


@pytest.mark.parametrize("feedback", ["none", "finding"])
@pytest.mark.parametrize("offer", OFFERS[:3], ids=lambda offer: str(offer.name))
def test_each_call_has_the_rest_of_the_grammar(
    offer: Offer, feedback: str, problems: Path, follow: Follow, tmp_path: Path
) -> None:
    script = Script(taking(offer, writing(Erring(2))))
    result = sample(problems, follow(script), tmp_path / "c.jsonl", "--feedback", feedback)
    assert result.exit_code == 0, result.output
    assert f"constrained by the field {offer.name} of the endpoint (grammar)" in result.output
    places = set()
    for body in script.asked:
        if not is_probe(body):
            problem, there = asked_of(body)
            stays = REJECTED.sub("", there)
            after: After = stays.count('"rule": ')
            if not stays.endswith(("}", "[")):
                after = "<summary>" if stays else ""
            places.add(after)
            assert body[offer.name] == offer.value(completion_grammar(problem).to_gbnf(thoughts=True, after=after))
    assert {"", "<summary>", 0, 1} <= places
    for name, one in read(tmp_path / "c.jsonl").items():
        assert Verifier(evaluation=False).verify(KNOWN[name], one.completion).rule_verified


def test_a_server_that_knows_nothing_but_its_grammar(problems: Path, follow: Follow, tmp_path: Path) -> None:
    llguidance = pytest.importorskip("llguidance", reason="llguidance is not installed (the extra [decoding])")
    from llguidance.gbnf_to_lark import gbnf_to_lark

    tokens = llguidance.LLTokenizer("byte")

    def act(body: Body) -> Act:
        """Draw a step, each byte as likely as any other that the grammar allows."""
        if is_probe(body):
            return saying("three")
        mask, random, text = Mask(tokens, gbnf_to_lark(body["grammar"])), Random(repr(body["messages"])), b""
        while not mask.complete and not text.endswith(body["stop"][0].encode()):
            token = random.choice(mask.allowed(tokens.vocab_size).nonzero()[0].tolist())
            mask.add(token)
            text += tokens.decode_bytes([token])
        return saying(cut(text.decode(), body))

    script = Script(taking(OFFERS[1], act))
    result = sample(problems, follow(script), tmp_path / "c.jsonl", "--tries", "1")
    assert result.exit_code == 0, result.output
    ended = 0
    for name, one in read(tmp_path / "c.jsonl").items():
        report = Verifier(evaluation=False).verify(KNOWN[name], one.completion)
        if one.completion.endswith("</summary>"):
            ended += 1
            assert report.parsed, one.completion
            assert all(step.schema for step in report.actions), one.completion
    assert ended


def test_a_server_without_grammars_ends_the_command(problems: Path, follow: Follow, tmp_path: Path) -> None:
    for constrain, offered in (("grammar", OFFERS[3]), ("json", OFFERS[0])):
        script = Script(taking(offered, writing(Erring(0))))
        result = sample(problems, follow(script), tmp_path / "c.jsonl", "--constrain", constrain)
        assert isinstance(result.exception, ProofR1Error), result.output
        assert all(map(is_probe, script.asked))
    script = Script(taking(OFFERS[0], writing(Erring(0))))
    assert sample(problems, follow(script), tmp_path / "c.jsonl", "--constrain", "off").exit_code == 0
    assert not any(offer.name in body for body in script.asked for offer in OFFERS)


# -- hostile models ---------------------------------------------------------------------------------------------------

STEP = '{"id": "s%d", "dependencies": ["h1"], "conclusion": "true", "rule": "CONJUNCTION_ELIMINATION"'


def uncounted(text: str, *, finish: str = "stop") -> Act:
    """A reply that is said to have no tokens."""
    chunks: list[object] = [
        {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]},
        {"choices": [], "usage": {"completion_tokens": 0, "prompt_tokens": 0}},
    ]
    return lambda handler: handler.stream(*map(json.dumps, chunks), "[DONE]")


HOSTILE: dict[str, Callable[[Body], Act]] = {
    "endless steps, all free of charge": lambda body: uncounted(
        "<summary>[" + STEP % 1 if not asked_of(body)[1] else f", {STEP % len(asked_of(body)[1])}"
    ),
    "endless thoughts": lambda body: uncounted("<think> hm "),
    "what stops it, and nothing else": lambda body: uncounted("}" * 50),
    "elements that are none": lambda body: uncounted("<summary>[" + "[" * 5000 + "}"),
    "numbers": lambda body: uncounted("<summary>[1, 2, 3, }"),
    "it starts over": lambda body: saying(right(asked_of(body)[0])[:40]),
    "it does not stop": lambda body: saying(wrong(asked_of(body)[0])),
    "a surrogate": lambda body: uncounted("<summary>[\ud800"),
    "silence": lambda body: uncounted(""),
    "another reason to end": lambda body: saying("<summary>[", finish="content_filter"),
}


@pytest.mark.parametrize("way", HOSTILE)
def test_a_hostile_model_costs_itself_only(way: str, problems: Path, follow: Follow, tmp_path: Path) -> None:
    """It misbehaves for one problem; the others get their answers."""
    first, model = next(iter(KNOWN)), Erring(0)

    def act(body: Body) -> Act:
        hostile = not is_probe(body) and asked_of(body)[0].id == first
        return HOSTILE[way](body) if hostile else writing(model)(body)

    script = Script(act)
    out = tmp_path / "c.jsonl"
    result = sample(problems, follow(script), out, "--max-tokens", "200")
    found = read(out)
    assert result.exit_code == (way == "a surrogate"), result.output  # it cannot be sent back: a failure, and recorded
    assert len(found) == len(KNOWN) - (way == "a surrogate")
    assert sum(not is_probe(body) and asked_of(body)[0].id == first for body in script.asked) <= 200
    for name in KNOWN:
        if name != first:
            assert Verifier(evaluation=False).verify(KNOWN[name], found[name].completion).rule_verified
