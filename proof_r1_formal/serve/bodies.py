"""The body of a request, from JSON to a message.

In: bytes and the type of the message. Out: the message, or a refusal that says what is wrong with the body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn, TypeVar, get_args, get_type_hints

import msgspec

from proof_r1_formal.data.records import BadJsonError, Json, JsonObject, decode
from proof_r1_formal.serve.messages import refusal

_T = TypeVar("_T")


def decoded(content: bytes | bytearray, kind: type[_T]) -> _T:
    """The message in a body.

    Raises:
        RefusalError: the body is not JSON or has a key twice (400), or is not such a message (422).
    """
    try:
        text = content.decode()  # msgspec does not look at what it leaves raw
        try:
            found = msgspec.json.decode(content, type=kind)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # it refuses escapes of half of a surrogate pair, which a completion may hold
            found = msgspec.convert(_tolerantly_decoded(text), kind)  # which checks the keys
        else:
            _check_keys(decode(text))  # msgspec takes the last of equal keys
    except msgspec.ValidationError as error:
        raise refusal(422, "bad_request", _with_choices(str(error), kind)) from None
    except (BadJsonError, ValueError, RecursionError) as error:
        raise refusal(400, "bad_request", f"the body is not JSON: {error}") from None
    return found


def _check_keys(body: Json) -> None:
    """Refuse a key that occurs twice in the body or in one of its items; whoever reads a problem checks its keys."""
    items = body.get("items") if isinstance(body, JsonObject) else None
    for part in (body, *(items if isinstance(items, list) else ())):
        if isinstance(part, JsonObject) and (repeated := part.repeated()):
            place = "the body" if part is body else "an item of the body"
            raise refusal(400, "bad_request", f"the key {repeated[0]!r} occurs twice in {place}")


def _with_choices(message: str, kind: type) -> str:
    """An error of a message of that kind; one about a field with few values lists them."""
    field = re.fullmatch(r"Invalid enum value .* - at `\$\.(\w+)`", message, re.DOTALL)
    if field is None:
        return message
    return f"{message}; expected {' or '.join(map(repr, get_args(get_type_hints(kind)[field[1]])))}"


def _tolerantly_decoded(text: str) -> object:
    """The value of a body whose strings may hold halves of surrogate pairs; a problem is left raw.

    Raises:
        ValueError: it is not JSON, or an object has a key twice.
    """
    body = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    for part in _with_problems(body):
        part["problem"] = msgspec.Raw(json.dumps(part["problem"]).encode("ascii"))
    return body


def _with_problems(body: object) -> Iterator[dict[str, object]]:
    """The objects of a body that hold a problem: the body itself, or its items."""
    if isinstance(body, dict):
        items = body.get("items")
        candidates = [body, *(items if isinstance(items, list) else [])]
        yield from (part for part in candidates if isinstance(part, dict) and "problem" in part)


def _without_repeats(members: list[tuple[str, Json]]) -> dict[str, Json]:
    if repeated := JsonObject(tuple(members)).repeated():
        raise ValueError(f"the key {repeated[0]!r} occurs twice in an object")
    return dict(members)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
