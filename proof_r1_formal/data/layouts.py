"""The layouts of files of completions: which parts of a record are the problem's id, the answers and their numbers.

In: a record of JSON, and paths if the user names some. Out: a :class:`Found`, or a :class:`LayoutError` that says what
is missing or unclear. Besides the package's own keys these are known: other names of the same (``task_id``,
``response``, …), chats (``messages``), the outputs of vLLM, the batch files of OpenAI and vLLM, and the
``samples_*.jsonl`` of lm-evaluation-harness. Two parts that could both be the answer are refused: nothing is guessed.
``data.completions`` reads a line in the package's own layout itself: its ``completion`` counts beside any other key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from proof_r1_formal.data.records import BadJsonError, Json, JsonObject, decode
from proof_r1_formal.errors import ProofR1Error

IDS: Final = ("problem_id", "task_id", "question_id", "custom_id", "doc_id", "id")
"""Keys of the problem's id. The first that a record has counts: a ``custom_id`` is the user's, its ``id`` is not."""
TEXTS: Final = ("completion", "response", "output", "generation", "text")
"""Keys of an answer, or of a list of answers; their plurals are known, too."""
THOUGHTS: Final = ("reasoning", "reasoning_text", "summary_text", "thinking", "thought")
"""Types of the parts of a message that are thoughts, not answer; a draft of a proof there does not count."""
_KEYS: Final = (*TEXTS, *[f"{key}s" for key in TEXTS], "choices")
_NAMES: Final = ("problem_id", "completion", "sample")
_INDEX: Final = re.compile(r"\[(\d+)\]")

_T = TypeVar("_T")


class LayoutError(Exception):
    """A record without an id or an answer, or with two parts that could be the answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a model, and whether it was cut off at the limit of tokens, as far as the file says."""

    text: str
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What a record has.

    Attributes:
        problem_id: the id of the problem, a number as text.
        answers: at least one.
        sample: number of the first answer; None if the record has none, so that its place in the file decides.
        filter: of lm-evaluation-harness, which writes the same answers once for each of its filters; else None.
    """

    problem_id: str
    answers: tuple[Answer, ...]
    sample: int | None
    filter: str | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """Paths of the parts of a record that the user names; None is found by its key.

    A path is a key, or keys and positions with dots: ``response.body.choices.0.text``. A ``problem_id`` may also be a
    text with paths in braces: ``folio/{task_id}``.
    """

    problem_id: str | None = None
    completion: str | None = None
    sample: str | None = None

    @classmethod
    def of(cls, given: Iterable[str]) -> Fields:
        """The fields of texts ``name=path``.

        Raises:
            ProofR1Error: a text has another form, or a name is unknown or repeated.
        """
        paths: dict[str, str] = {}
        for text in given:
            name, _, path = text.partition("=")
            if name not in _NAMES or not path:
                raise ProofR1Error(f"--field {text!r}: expected name=path, with the name {' or '.join(_NAMES)}")
            if name in paths:
                raise ProofR1Error(f"--field {name} is given twice")
            paths[name] = path
        return cls(**paths)


def find(record: JsonObject, fields: Fields) -> Found:
    """The id, the answers and the number in a record.

    Raises:
        LayoutError: see there.
    """
    resps = record.get("resps")
    if fields.completion is not None:
        answers = _at(record, fields.completion, _answers)
    elif isinstance(resps, list) and "doc" in record:
        answers = _responses(resps)
    else:
        answers = _only_answers(record)
    if not answers:
        raise LayoutError("the list of answers is empty")
    cuts = _cuts(record, fields, len(answers))
    answers = tuple([replace(one, truncated=one.truncated or cut) for one, cut in zip(answers, cuts, strict=True)])
    named = record.get("filter") if "doc" in record and fields.completion is None else None
    return Found(_id(record, fields), answers, _sample(record, fields), named if isinstance(named, str) else None)


def _at(record: JsonObject, path: str, read: Callable[[Json, str], _T]) -> _T:
    """What stands at a path, as ``read`` reads it."""
    *_, value = _along(record, path)
    return read(value, path)


def _along(record: JsonObject, path: str) -> Iterator[Json]:
    """The record, and what stands at each key of a path."""
    value: Json = record
    yield value
    for key in _INDEX.sub(r".\1", path).split("."):
        match value:
            case JsonObject() if key in value:
                value = value.get(key)
            case list() if key.isdecimal() and int(key) < len(value):
                value = value[int(key)]
            case _:
                raise LayoutError(f"the line has nothing at `{path}` (--field)")
        yield value


# -- the id and the number --------------------------------------------------------------------------------------------


def _id(record: JsonObject, fields: Fields) -> str:
    if (path := fields.problem_id) is not None:
        if "{" in path:
            return re.sub(r"\{([^{}]*)\}", lambda match: _at(record, match[1], _text_of_id), path)
        return _at(record, path, _text_of_id)
    if isinstance(doc := record.get("doc"), JsonObject):
        return _id_of_document(doc)
    key = next((key for key in IDS if key in record), None)
    if key is None:
        keys = ", ".join([f"`{key}`" for key in IDS])
        raise LayoutError(f"no id of a problem: expected {keys}; or name it: --field problem_id=PATH")
    return _text_of_id(record.get(key), key)


def _id_of_document(doc: JsonObject) -> str:
    """The id in a document of lm-evaluation-harness, whose ``doc_id`` is only a position."""
    if isinstance(text := doc.get("problem"), str):  # our own task: the whole problem
        try:
            problem = decode(text)
        except BadJsonError:
            problem = None
        if isinstance(problem, JsonObject) and "id" in problem:
            return _text_of_id(problem.get("id"), "doc.problem")
    key = next((key for key in IDS if key in doc), None)
    if key is None:
        raise LayoutError("the `doc` has no id of a problem, and `doc_id` is a position: --field problem_id=doc.PATH")
    return _text_of_id(doc.get(key), f"doc.{key}")


def _text_of_id(value: Json, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise LayoutError(f"`{where}` is not the id of a problem: expected a text or a whole number")
    return f"{value}"


def _sample(record: JsonObject, fields: Fields) -> int | None:
    if fields.sample is not None:
        return _at(record, fields.sample, _number)
    return _number(record.get("sample"), "sample") if "sample" in record else None


def _number(value: Json, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise LayoutError(f"`{where}` is not the number of a sample: expected a whole number from 0")
    return value


# -- the answers ------------------------------------------------------------------------------------------------------


def _only_answers(record: JsonObject) -> tuple[Answer, ...]:
    is_batch = "custom_id" in record and "response" in record
    if is_batch and isinstance(response := record.get("response"), JsonObject | None):
        return _of_batch(record, response)
    keys = [key for key in _KEYS if key in record and record.get(key) is not None]
    if _ends_with_answer(record.get("messages")):
        keys.append("messages")
    if not keys:
        known = ", ".join([f"`{key}`" for key in (*TEXTS, "messages")])
        here = ", ".join([name for name, _ in record.members][:8])
        raise LayoutError(f"no answer: expected {known}; the line has: {here}. Name it: --field completion=PATH")
    if len(keys) > 1:
        both = " and ".join([f"`{key}`" for key in keys])
        raise LayoutError(f"{both} could each be the answer; name one: --field completion={keys[0]}")
    return _answers(record.get(keys[0]), keys[0])


def _of_batch(record: JsonObject, response: JsonObject | None) -> tuple[Answer, ...]:
    """The answers of a line of a batch file of OpenAI or vLLM."""
    body = None if response is None else response.get("body")
    error = record.get("error") or (body.get("error") if isinstance(body, JsonObject) else None)
    if error is not None or not isinstance(body, JsonObject):
        why = error.get("message") if isinstance(error, JsonObject) else error
        raise LayoutError(f"the request failed: {why or 'it has no response'}")
    if "choices" in body:
        return _answers(body.get("choices"), "response.body.choices")
    return (_of_output(body),)


def _of_output(body: JsonObject) -> Answer:
    """The answer of OpenAI's Responses: the texts of its messages, without calls of tools and thoughts."""
    output = body.get("output")
    if not isinstance(output, list):
        raise LayoutError("`response.body` has neither `choices` nor `output`; name it: --field completion=PATH")
    messages = [item for item in output if isinstance(item, JsonObject) and item.get("type") == "message"]
    return Answer("".join([_content(item, "response.body.output") for item in messages]), _is_incomplete(body))


def _responses(resps: list[Json]) -> tuple[Answer, ...]:
    """The answers of a line of lm-evaluation-harness: a list for each request, as they were before any filter."""
    if len(resps) != 1:
        raise LayoutError(f"`resps` has {len(resps)} requests; only tasks that generate one text per problem are read")
    return _answers(resps[0], "resps.0")


def _answers(value: Json, where: str) -> tuple[Answer, ...]:
    """The answers that a value is: one, a list of them, or a chat, whose last message is one."""
    if isinstance(value, list):
        if any(isinstance(item, JsonObject) and "role" in item for item in value):
            if len(value) > 1 and where != "messages" and all(map(_is_of_assistant, value)):
                raise LayoutError(
                    f"`{where}` has {len(value)} messages of the assistant and no other, which is a chat or several "
                    f"samples; write the samples as a list of texts, or name one: --field completion={where}.0"
                )
            return (_of_chat(value, where),)
        return tuple([_answer(item, f"{where}.{number}") for number, item in enumerate(value)])
    return (_answer(value, where),)


def _answer(value: Json, where: str) -> Answer:
    match value:
        case str():
            return Answer(value)
        case JsonObject():
            if value.get("type") in THOUGHTS:
                raise LayoutError(f"`{where}` holds thoughts, not an answer; name the answer: --field completion=PATH")
            truncated = is_cut_off(value)
            if isinstance(message := value.get("message"), JsonObject):
                return Answer(_content(message, f"{where}.message"), truncated)
            if "role" in value:
                return Answer(_content(value, where), truncated)
            keys = [key for key in TEXTS if isinstance(value.get(key), str)]
            if len(keys) == 1:
                return Answer(str(value.get(keys[0])), truncated)
    raise LayoutError(f"`{where}` is not an answer: expected a text, a message, or a list of these")


def _ends_with_answer(messages: Json) -> bool:
    return isinstance(messages, list) and bool(messages) and _is_of_assistant(messages[-1])


def _is_of_assistant(message: Json) -> bool:
    return isinstance(message, JsonObject) and message.get("role") == "assistant"


def _of_chat(messages: list[Json], where: str) -> Answer:
    if not _ends_with_answer(messages):
        raise LayoutError(f"`{where}` does not end with a message of the role assistant")
    return _answer(messages[-1], f"{where}.{len(messages) - 1}")


def _content(message: JsonObject, where: str) -> str:
    """The text of a message. One without content, such as a refusal or a call of a tool, is an empty answer."""
    match message.get("content"):
        case None:
            return ""
        case str(text):
            return text
        case list(parts):
            return "".join(_texts(parts, where))
    raise LayoutError(f"`{where}.content` is neither a text nor a list of parts")


def _texts(parts: list[Json], where: str) -> Iterator[str]:
    for part in parts:
        if isinstance(part, JsonObject) and part.get("type") in THOUGHTS:
            continue
        text = part.get("text") if isinstance(part, JsonObject) else part
        if isinstance(text, str):
            yield text
        elif not isinstance(part, JsonObject):
            raise LayoutError(f"`{where}.content` has a part that is neither a text nor an object")


def is_cut_off(value: JsonObject) -> bool:
    """Whether an object says that its answer was cut off. Any other value of these keys says nothing."""
    stopped = value.get("finish_reason") == "length" or value.get("stop_reason") == "max_tokens"
    return stopped or value.get("truncated") is True


def _cuts(record: JsonObject, fields: Fields, count: int) -> list[bool]:
    """For each answer whether an object that holds it says that it was cut off: once for all, or in a list for each."""
    holders = [record] if fields.completion is None else list(_along(record, fields.completion))
    cuts = [False] * count
    for holder in holders:
        if isinstance(holder, JsonObject):
            reasons = [holder.get(key) for key in ("finish_reason", "finish_reasons")]
            lists = [one for one in reasons if isinstance(one, list) and len(one) == count]
            for place in range(count):
                cuts[place] |= is_cut_off(holder) or any(one[place] == "length" for one in lists)
    return cuts


def _is_incomplete(body: JsonObject) -> bool:
    details = body.get("incomplete_details")
    return isinstance(details, JsonObject) and details.get("reason") == "max_output_tokens"
