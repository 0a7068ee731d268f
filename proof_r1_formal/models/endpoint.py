"""A model behind an OpenAI-compatible endpoint: vLLM, SGLang, Ollama, or a hosted one.

In: a URL, the name of a model there, a key from the environment. Out: a :class:`~proof_r1_formal.models.chat.Model`;
each call is one request. Streams are requested, so a slow reply does not look like a dead connection. Other replies are
read too. A truncated stream is an error, not a short reply. No message contains the key.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from proof_r1_formal.models.chat import CallError, Message, ModelError, Reply, Sampling

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

NO_KEY = "none"
"""The key that is sent if none is needed."""
SHOWN = 300
"""Maximum length of an endpoint's error message that is shown."""
DRAINED = 0.1
"""Seconds to wait for the end of a stream after its last event, so that the connection can be reused."""
OVERHEAD, PER_TOKEN = 1 << 24, 1 << 12
"""Maximum number of bytes of a stream, plus more for each requested token, as a limit for endless streams."""
_UNUSABLE = frozenset({401, 404})
"""Statuses of permanent errors: the key is rejected, or the model or address is unknown."""
_PASSING = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which the same call may succeed."""


class Endpoint:
    """A model behind an endpoint; use as an asynchronous context manager, or close it.

    Attributes:
        name: of the model, with the other fields of every request.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        timeout: float = 600.0,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        """A model behind an endpoint.

        Args:
            url: up to and without ``/chat/completions``.
            model: its name there.
            key: if one is needed.
            timeout: seconds of silence after which a call has failed.
            extra: fields that every request has besides, or instead; one that is None is left out.

        Raises:
            ModelError: the client is not installed, or the key can be in no request.
        """
        if key is not None and not (key.isascii() and key.isprintable()):
            raise ModelError("the key holds characters that no request can have")
        self.name = model if not extra else f"{model} {json.dumps(extra, sort_keys=True)}"
        self._model = model
        self._key = key
        self._extra = dict(extra or {})
        self._client = _client(url, key, timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def reply(self, chat: Sequence[Message], sampling: Sampling) -> Reply:
        """See :class:`~proof_r1_formal.models.chat.Model`."""
        import httpx2
        import openai

        path, body = self._request(chat, sampling)
        written = _Written()
        started = time.time()
        try:
            stream = await self._client.post(
                path,
                body=body,
                options={"headers": {"Accept-Encoding": "identity"}},
                cast_to=object,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            async with _body(stream.response) as chunks:
                await _read(chunks, written, OVERHEAD + PER_TOKEN * sampling.max_tokens)
        except openai.APIStatusError as error:
            raise self._refused(error) from None
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError) as error:  # it breaks, or nonsense
            if written.finish is None:  # whatever comes behind a whole reply does no harm
                cause = error.__cause__ or error
                raise CallError(self._said(f"no whole reply: {error} ({type(cause).__name__})"), again=True) from None
        if written.finish is None:
            raise CallError("no whole reply: the stream ended before the reply did", again=True)
        return written.reply(written.finish, started, time.time())

    def _request(self, chat: Sequence[Message], sampling: Sampling) -> tuple[str, dict[str, object]]:
        """The path and the body of a request."""
        fields: dict[str, object] = {
            "model": self._model,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        path, form = "/chat/completions", sampling.form
        if form is not None and form.plain:
            path = "/completions"
            fields["prompt"] = "\n\n".join([message["content"] for message in chat])
        else:
            fields["messages"] = list(chat)
        fields |= {} if form is None else form.fields
        body = {name: value for name, value in (fields | self._extra).items() if value is not None}
        try:
            json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except ValueError as error:  # unpaired surrogates, which a model may have written, are not UTF-8
            raise CallError(f"the request cannot be written: {error}", again=False) from None
        return path, body

    def _refused(self, error: APIStatusError) -> CallError | ModelError:
        status = error.status_code
        said = self._said(f"status {status}: {_message(error.body)}")
        if status in _UNUSABLE:
            return ModelError(f"the endpoint cannot be used; {said}")
        after = seconds_to_wait(error.response.headers.get("retry-after"), datetime.now(UTC))
        return CallError(said, again=status in _PASSING or status >= 500, after=after)

    def _said(self, text: str) -> str:
        """What is passed on of what an endpoint said: some of them repeat the key."""
        return (text if self._key is None else text.replace(self._key, "…"))[:SHOWN]


def _message(body: object) -> str:
    """The reason in the body of a refusal. Endpoints differ in where they put it.

    >>> [_message(body) for body in ({"message": "too long"}, {"detail": [1]}, "<html> busy", None)]
    ['too long', '{"detail": [1]}', '<html> busy', 'without a reason']
    """
    if isinstance(body, dict):
        texts = [body[key] for key in ("message", "detail", "error") if isinstance(body.get(key), str)]
        body = texts[0] if texts else json.dumps(body)
    return " ".join(str(body or "without a reason").split())


def _client(url: str, key: str | None, timeout: float) -> AsyncOpenAI:
    if find_spec("openai") is None:
        raise ModelError("asking an endpoint needs the extra models: pip install 'proof-r1-formal[models]'")
    from openai import AsyncOpenAI

    # the caller retries, because it knows which other calls are running
    return AsyncOpenAI(base_url=url, api_key=key or NO_KEY, timeout=timeout, max_retries=0)


def key_of(variable: str) -> str | None:
    """The key in an environment variable, if it is set."""
    return os.environ.get(variable, "").strip() or None


async def only_model(url: str, *, key: str | None = None, timeout: float = 60.0) -> str:
    """The name of the only model of an endpoint.

    Args:
        url, key, timeout: see :class:`Endpoint`.

    Raises:
        ModelError: the endpoint does not answer, or does not have exactly one model.
    """
    async with _client(url, key, timeout) as client:
        import openai

        try:
            names = [model.id async for model in client.models.list()]
        except (openai.APIError, ValueError, TypeError, AttributeError) as error:
            said = f"{error}: {_message(error.body)}" if isinstance(error, openai.APIStatusError) else str(error)
            said = said if key is None else said.replace(key, "…")
            problem = f"{url} does not list its models: {said[:SHOWN]}"
            raise ModelError(
                f"{problem} Is it the URL of a running server? With --name, the list is not needed."
            ) from None
    if len(names) != 1:
        raise ModelError(f"{url} has {len(names)} models; say which: {', '.join(names[:10])}")
    return names[0]


def seconds_to_wait(header: str | None, now: datetime) -> float | None:
    """The seconds of ``Retry-After``; None if it is missing or invalid."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            then = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        seconds = (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


# -- streams ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _body(response: httpx2.Response) -> AsyncIterator[AsyncIterator[bytes]]:
    """The bytes of a response, which is closed at the end.

    The client reads through several nested generators. One that is left in the middle is closed by the garbage
    collector, possibly while another one runs it. Reading on after the connection is closed ends each of them.

    Raises:
        ValueError: the body is compressed, which was not asked for.
    """
    import httpx2

    chunks = response.aiter_raw()
    try:
        if encoding := response.headers.get("content-encoding"):
            raise ValueError(f"the body is compressed ({encoding}), which was not asked for")
        yield chunks
    finally:
        await response.aclose()
        with suppress(httpx2.HTTPError, httpx2.StreamError):
            async for _ in chunks:
                pass


async def _read(chunks: AsyncIterator[bytes], written: _Written, most: int) -> None:
    """Read a stream until it says that it is over, or ends; or the one object that comes in its place.

    Raises:
        CallError: it has more bytes than that.
    """
    events, blank = _Events(), True
    whole: list[bytes] = []  # the pieces of an object; no line of a stream starts like one
    async for chunk in chunks:
        most -= len(chunk)
        if most < 0:
            raise CallError("the endpoint writes far more than was asked for", again=False)
        if whole or (blank and chunk.lstrip().startswith(b"{")):
            whole.append(chunk)
            continue
        blank = blank and not chunk.strip()
        for data in events.add(chunk):
            if data.startswith(b"[DONE]"):
                with suppress(TimeoutError):
                    async with asyncio.timeout(DRAINED):
                        async for _ in chunks:
                            pass
                return
            written.add(json.loads(data.decode()))
    if whole:
        written.add(json.loads(b"".join(whole)))
        if written.text or written.thoughts:
            written.finish = written.finish or "stop"


@dataclass(slots=True)
class _Events:
    """Server-sent events, of which only the data counts. https://html.spec.whatwg.org/multipage/server-sent-events.html

    Attributes:
        line: the pieces of the line that has not ended yet.
        data: the lines of data of the event that has not ended yet.
        returned: the last byte was a carriage return, which a line feed may follow.
    """

    line: list[bytes] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)
    returned: bool = False

    def add(self, chunk: bytes) -> Iterator[bytes]:
        """The data of each event that ends in these bytes, in order."""
        if self.returned:
            chunk = chunk.removeprefix(b"\n")
        self.returned = chunk.endswith(b"\r")
        for piece in chunk.splitlines(keepends=True):
            self.line.append(piece)
            if not piece.endswith((b"\n", b"\r")):
                continue
            line = b"".join(self.line).rstrip(b"\r\n")
            self.line.clear()
            name, _, value = line.partition(b":")
            if name == b"data":
                self.data.append(value.removeprefix(b" "))
            elif not line and self.data:
                yield b"\n".join(self.data)
                self.data.clear()


@dataclass(slots=True)
class _Written:
    """The received part of a reply. Every field is optional, because endpoints differ."""

    thoughts: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    finish: str | None = None
    tokens: int | None = None
    prompt_tokens: int | None = None

    def add(self, chunk: object) -> None:
        """Note a chunk.

        Raises:
            ValueError: it is none, or says that something went wrong.
            CallError: it holds no text but something else.
        """
        if not isinstance(chunk, dict):
            raise ValueError("a chunk of the stream is not an object")
        if error := chunk.get("error"):
            raise ValueError(error["message"] if isinstance(error, dict) and "message" in error else error)
        if isinstance(usage := chunk.get("usage"), dict):
            self.tokens = _count(usage.get("completion_tokens"))
            self.prompt_tokens = _count(usage.get("prompt_tokens"))
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if not isinstance(choice, dict):
                raise ValueError("a choice of the stream is not an object")
            if isinstance(said := choice.get("text"), str):  # of /completions
                self.text.append(said)
            if isinstance(delta := choice.get("delta") or choice.get("message"), dict):
                thought = delta.get("reasoning_content") or delta.get("reasoning")
                self.thoughts += [thought] if isinstance(thought, str) else []
                match delta.get("content"):
                    case str() as said:
                        self.text.append(said)
                    case None:
                        pass
                    case other:
                        raise CallError(
                            f"the content of the reply must be a text, not a {type(other).__name__}", again=False
                        )
            if isinstance(finish := choice.get("finish_reason"), str):
                self.finish = finish

    def reply(self, finish: str, started: float, ended: float) -> Reply:
        """The whole of it."""
        text = "".join(self.text)
        if self.thoughts:
            text = f"<think>\n{''.join(self.thoughts)}\n</think>\n\n{text}"
        return Reply(
            text=text,
            finish=finish,
            tokens=self.tokens,
            prompt_tokens=self.prompt_tokens,
            started=started,
            ended=ended,
        )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
