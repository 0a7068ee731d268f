"""The OpenAPI description of the service: what FastAPI knows of the routes, with the schemas of ``messages``.

Bodies are read by msgspec, several times faster than by pydantic, so FastAPI does not know them.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import msgspec

from proof_r1_formal.data.native import ProblemRecord
from proof_r1_formal.serve.messages import (
    CertifyReply,
    CertifyRequest,
    ErrorReply,
    Health,
    PageRequest,
    ParseReply,
    ParseRequest,
    RewardReply,
    RewardRequest,
    VerifyReply,
    VerifyRequest,
)

_ASKING = (400, 408, 413, 415, 422, 429, 500, 503, 504)
"""The statuses that a request with a body can end with, beside 200."""


@dataclass(frozen=True, slots=True)
class _Exchange:
    """What a route takes and gives."""

    request: type[msgspec.Struct] | None = None
    reply: type[msgspec.Struct] | None = None
    media_type: str = "application/json"
    errors: tuple[int, ...] = ()


_EXCHANGES = {
    "/v1/verify": _Exchange(VerifyRequest, VerifyReply, errors=_ASKING),
    "/v1/certify": _Exchange(CertifyRequest, CertifyReply, errors=(*_ASKING, 501)),
    "/v1/report": _Exchange(PageRequest, media_type="text/html", errors=_ASKING),
    "/v1/parse": _Exchange(ParseRequest, ParseReply, errors=_ASKING),
    "/get_reward": _Exchange(RewardRequest, RewardReply, errors=_ASKING),
    "/healthz": _Exchange(reply=Health),
    "/metrics": _Exchange(media_type="text/plain"),
}


def described(known: dict[str, Any], *, secured: bool) -> dict[str, Any]:
    """The whole description.

    Args:
        known: FastAPI's.
        secured: whether a bearer token is needed.
    """
    kinds = [kind for exchange in _EXCHANGES.values() for kind in (exchange.request, exchange.reply) if kind]
    _, schemas = msgspec.json.schema_components(
        [*kinds, ErrorReply, ProblemRecord], ref_template="#/components/schemas/{name}"
    )
    components: dict[str, Any] = {"schemas": schemas}
    if secured:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    paths = {
        path: {method: _operation(path, operation, secured=secured) for method, operation in methods.items()}
        for path, methods in known["paths"].items()
    }
    return {**known, "paths": paths, "components": components}


def _operation(path: str, operation: dict[str, Any], *, secured: bool) -> dict[str, Any]:
    exchange = _EXCHANGES[path]
    guarded = secured and path != "/healthz"
    statuses = (*exchange.errors, 421, *((401,) if guarded else ()))
    result = {"type": "string"} if exchange.reply is None else _reference(exchange.reply)
    body = None if exchange.request is None else _content(_reference(exchange.request))
    return {
        **operation,
        **({} if body is None else {"requestBody": {"required": True, **body}}),
        **({"security": [{"token": []}]} if guarded else {}),
        "responses": {
            "200": {"description": "The result.", **_content(result, exchange.media_type)},
            **{
                str(status): {"description": HTTPStatus(status).phrase, **_content(_reference(ErrorReply))}
                for status in sorted(statuses)
            },
        },
    }


def _content(schema: dict[str, Any], media_type: str = "application/json") -> dict[str, Any]:
    return {"content": {media_type: {"schema": schema}}}


def _reference(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}
