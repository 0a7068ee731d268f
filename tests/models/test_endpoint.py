"""Endpoints: what is asked, what is understood of the answer, and what every kind of failure is."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.models import endpoint as module
from proof_r1_formal.models.chat import CallError, Message, ModelError, Reply, Sampling
from proof_r1_formal.models.endpoint import Endpoint, _Events, only_model, seconds_to_wait
from tests.leaks import Abandoned, watched_loops
from tests.models.scripted import Act, Handler, Script, saying
from tests.patience import PATIENCE

CHAT: list[Message] = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "Is Tom a cat?"}]
Follow = Callable[[Script], str]


def ask(
    url: str, *, key: str | None = None, timeout: float = PATIENCE, extra: dict[str, object] | None = None
) -> Reply:
    async def work() -> Reply:
        async with Endpoint(url, "tiny", key=key, timeout=timeout, extra=extra) as endpoint:
            return await endpoint.reply(CHAT, Sampling(0.5, 0.9, 64))

    return asyncio.run(work())


def test_a_request_says_what_is_wanted(follow: Follow) -> None:
    script = Script(lambda _: saying("yes it is"))
    reply = ask(follow(script), extra={"max_tokens": None, "max_completion_tokens": 64, "top_k": 5})
    (body,) = script.asked
    assert body == {
        "model": "tiny",
        "messages": CHAT,
        "temperature": 0.5,
        "top_p": 0.9,
        "max_completion_tokens": 64,
        "top_k": 5,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert (reply.text, reply.finish, reply.tokens, reply.prompt_tokens) == ("yes it is", "stop", 3, 7)
    assert reply.started <= reply.ended


def test_thoughts_that_are_kept_apart_are_put_in_their_place(follow: Follow) -> None:
    reply = ask(follow(Script(lambda _: saying("yes", finish="length", thoughts="hm"))))
    assert (reply.text, reply.finish) == ("<think>\nhm\n</think>\n\nyes", "length")


def test_a_reply_that_is_not_streamed_is_read(follow: Follow) -> None:
    reply = ask(follow(Script(lambda _: lambda handler: handler.whole({"content": "yes"}, finish_reason="length"))))
    assert (reply.text, reply.finish, reply.tokens, reply.prompt_tokens) == ("yes", "length", 3, 7)
    thoughts = {"content": "yes", "reasoning_content": "hm"}
    reply = ask(follow(Script(lambda _: lambda handler: handler.whole(thoughts))))
    assert (reply.text, reply.finish) == ("<think>\nhm\n</think>\n\nyes", "stop")


@pytest.mark.parametrize(
    ("text", "said"), [('{"error": {"message": "no room"}}', "no room"), ("{}", "before the reply")]
)
def test_an_object_without_a_reply_is_a_failure(text: str, said: str, follow: Follow) -> None:
    with pytest.raises(CallError, match=said):
        ask(follow(Script(lambda _: lambda handler: handler.send(200, text))))


def test_a_text_may_hold_anything(follow: Follow) -> None:
    text = "∀x ⊕ \x00 \ud800 </think> \u2028 data: [DONE]\n\ndata: {}"
    assert ask(follow(Script(lambda _: saying(text)))).text == text


def lines(*said: str) -> Act:
    return lambda handler: handler.stream(*said)


def torn(handler: Handler) -> None:
    """A connection that ends in the middle of what was announced."""
    handler.close_connection = True
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b'data: {"choices": [{"delta": {"content": "<summary>"}}]}\n\n')


def dead(handler: Handler) -> None:
    """A connection that is closed without a word."""
    handler.close_connection = True


HALF = json.dumps({"choices": [{"index": 0, "delta": {"content": "<summary>["}, "finish_reason": None}]})
AGAIN: dict[str, Act] = {
    "a broken server": lambda handler: handler.send(500, "{}"),
    "a busy server": lambda handler: handler.send(503, "<html>busy</html>"),
    "a stream that ends too early": lines(HALF),
    "a stream that says it is over too early": lines(HALF, "[DONE]"),
    "a torn connection": torn,
    "a dead connection": dead,
    "an error in the stream": lines(HALF, json.dumps({"error": {"message": "out of memory"}})),
    "a chunk that is no JSON": lines("{nonsense"),
    "a chunk that is no object": lines("[1, 2]"),
    "a choice that is no object": lines('{"choices": [3]}'),
    "choices that are none": lines('{"choices": 3}'),
    "a page in place of a stream": lambda handler: handler.send(200, "<html>Welcome</html>"),
    "nothing": lambda handler: handler.send(200, ""),
    "a chunk that is too deep": lines("[" * 200_000),
    "a chunk that is no UTF-8": lambda handler: handler.send(200, "", body=b"data: \xff\n\n"),
    "a body that is no gzip": lambda handler: handler.send(200, "nonsense", Content_Encoding="gzip"),
}


@pytest.mark.parametrize("act", AGAIN.values(), ids=AGAIN)
def test_no_whole_reply_is_a_call_to_make_again(act: Act, follow: Follow) -> None:
    with pytest.raises(CallError) as caught:
        ask(follow(Script(lambda _: act)))
    assert caught.value.again
    assert caught.value.after is None


def test_silence_is_a_call_to_make_again(follow: Follow) -> None:
    over = threading.Event()
    url = follow(Script(lambda _: lambda _: over.wait(PATIENCE)))
    try:
        with pytest.raises(CallError) as caught:
            ask(url, timeout=0.05)
    finally:
        over.set()
    assert caught.value.again


def test_a_stream_that_is_cancelled_in_the_middle_is_closed(follow: Follow) -> None:
    begun, over = threading.Event(), threading.Event()

    def stalls(handler: Handler) -> None:
        torn(handler)
        begun.set()
        over.wait(PATIENCE)

    async def work(url: str) -> None:
        async with Endpoint(url, "tiny") as endpoint:
            asking = asyncio.ensure_future(endpoint.reply(CHAT, Sampling(0.5, 0.9, 64)))
            await asyncio.to_thread(begun.wait, PATIENCE)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    url = follow(Script(lambda _: stalls))
    try:
        with watched_loops() as abandoned:
            asyncio.run(work(url))
    finally:
        over.set()
    assert abandoned == Abandoned()


def test_a_stream_that_is_over_but_does_not_end_is_closed(follow: Follow) -> None:
    over = threading.Event()

    def stalls(handler: Handler) -> None:
        handler.stream(WHOLE, "[DONE]")
        over.wait(PATIENCE)

    url = follow(Script(lambda _: stalls))
    try:
        with watched_loops() as abandoned:
            assert ask(url).text == "yes"
    finally:
        over.set()
    assert abandoned == Abandoned()


LINES = st.sampled_from(["data: a", "data:b", "data", ": note", "event: x", "id: 1", "", "", "é"])


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_events_are_the_same_however_their_bytes_arrive(said: list[str], end: str, data: st.DataObject) -> None:
    stream = "".join(line + end for line in said).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in pairwise([0, *cuts, len(stream)])]
    expected: list[bytes] = []
    event: list[str] = []
    for line in said:
        name, _, value = line.partition(":")
        if name == "data":
            event.append(value.strip())
        elif not line and event:
            expected.append("\n".join(event).encode())
            event = []
    events = _Events()
    assert [found for piece in pieces for found in events.add(piece)] == expected


def test_nobody_there_is_a_call_to_make_again(follow: Follow) -> None:
    with pytest.raises(CallError, match="no whole reply") as caught:
        ask("http://127.0.0.1:1/v1")
    assert caught.value.again


def test_an_endpoint_says_when_to_come_back(follow: Follow) -> None:
    with pytest.raises(CallError, match="429") as caught:
        ask(follow(Script(lambda _: lambda handler: handler.send(429, "{}", Retry_After="7"))))
    assert (caught.value.again, caught.value.after) == (True, 7.0)


WHOLE = json.dumps({"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]})


def torn_late(handler: Handler) -> None:
    torn(handler)
    handler.wfile.write(f"data: {WHOLE}\n\n".encode())


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lines(WHOLE), "yes"),
        (lines(WHOLE, "{nonsense"), "yes"),
        (lines(WHOLE, json.dumps({"error": {"message": "out of memory"}})), "yes"),
        (torn_late, "<summary>yes"),
    ],
    ids=["no end", "nonsense", "an error", "a torn connection"],
)
def test_a_whole_reply_is_kept_whatever_comes_behind_it(act: Act, text: str, follow: Follow) -> None:
    reply = ask(follow(Script(lambda _: act)))
    assert (reply.text, reply.finish, reply.tokens) == (text, "stop", None)


def test_content_that_is_no_text_is_an_error_and_no_empty_reply(follow: Follow) -> None:
    parts = {"choices": [{"delta": {"content": [{"type": "text", "text": "yes"}]}, "finish_reason": "stop"}]}
    with pytest.raises(CallError, match="must be a text, not a list") as caught:
        ask(follow(Script(lambda _: lines(json.dumps(parts)))))
    assert not caught.value.again


def test_what_can_be_in_no_request_is_not_tried_again(follow: Follow) -> None:
    script = Script(lambda _: saying("yes"))
    with pytest.raises(CallError, match="cannot be written") as caught:
        ask(follow(script), extra={"stop": "\ud800"})
    assert (caught.value.again, script.asked) == (False, [])
    for key in ("schlüssel", "sk-one\nsk-two"):
        with pytest.raises(ModelError, match="the key holds"):
            ask(follow(script), key=key)


@pytest.mark.parametrize("status", [400, 403, 413, 422])
def test_what_is_refused_is_not_asked_again(status: int, follow: Follow) -> None:
    with pytest.raises(CallError, match="too long") as caught:
        ask(follow(Script(lambda _: lambda handler: handler.send(status, '{"error": {"message": "too long"}}'))))
    assert not caught.value.again


@pytest.mark.parametrize("status", [401, 404])
def test_an_endpoint_that_cannot_be_used_is_told_as_such(status: int, follow: Follow) -> None:
    with pytest.raises(ModelError, match=str(status)):
        ask(follow(Script(lambda _: lambda handler: handler.send(status, "{}"))))


@pytest.mark.parametrize("status", [400, 401, 500])
def test_a_key_that_is_said_back_is_in_no_message(status: int, follow: Follow) -> None:
    def repeat(handler: Handler) -> None:
        said = handler.headers["Authorization"]
        assert said == "Bearer sk-secret"
        handler.send(status, json.dumps({"error": {"message": f"bad {said}"}}))

    with pytest.raises((CallError, ModelError), match="bad Bearer …") as caught:
        ask(follow(Script(lambda _: repeat)), key="sk-secret")
    assert "secret" not in repr(caught.value)
    assert caught.value.__cause__ is None


def test_the_only_model_need_not_be_named(follow: Follow) -> None:
    assert asyncio.run(only_model(follow(Script(lambda _: dead, names=("one",))))) == "one"
    with pytest.raises(ModelError, match="2 models; say which: a, b"):
        asyncio.run(only_model(follow(Script(lambda _: dead, names=("a", "b")))))
    with pytest.raises(ModelError, match="does not list its models"):
        asyncio.run(only_model("http://127.0.0.1:1/v1"))


def test_when_to_come_back() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert seconds_to_wait("2.5", now) == 2.5
    assert seconds_to_wait(format_datetime(now + timedelta(seconds=90), usegmt=True), now) == 90.0
    assert seconds_to_wait(format_datetime(now - timedelta(seconds=90), usegmt=True), now) == 0.0
    assert [seconds_to_wait(odd, now) for odd in (None, "", "soon", "inf", "nan")] == [None] * 5
    assert seconds_to_wait("99999999999999999999999999 Jan 2024 00:00:00", now) is None
    assert seconds_to_wait("-3", now) == 0.0


def test_an_endless_stream_ends(follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        while True:  # until nobody listens
            handler.wfile.write(f"data: {HALF}\n\n".encode())

    monkeypatch.setattr(module, "OVERHEAD", 10_000)
    with pytest.raises(CallError, match="far more than was asked for") as raised:
        ask(follow(Script(lambda _: endless)))
    assert not raised.value.again
