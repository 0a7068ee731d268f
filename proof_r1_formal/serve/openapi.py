"""The OpenAPI description of the service: what FastAPI knows of the routes, with the schemas of ``messages``.

Bodies are read by msgspec, several times faster than by pydantic, so FastAPI does not know them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from typing import Any

import msgspec

from proof_r1_formal.data.native import ProblemRecord
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.serve.messages import (
    CertifyReply,
    CertifyRequest,
    ErrorReply,
    Health,
    PageRequest,
    ParseReply,
    ParseRequest,
    ProblemsReply,
    RewardReply,
    RewardRequest,
    RulesReply,
    RuleView,
    SchemaView,
    VerifyManyRequest,
    VerifyReply,
    VerifyRequest,
)
from proof_r1_formal.text.show import show

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
    "/v1/verify_many": _Exchange(VerifyManyRequest, VerifyReply, errors=_ASKING),
    "/v1/certify": _Exchange(CertifyRequest, CertifyReply, errors=(*_ASKING, 501)),
    "/v1/report": _Exchange(PageRequest, media_type="text/html", errors=_ASKING),
    "/v1/parse": _Exchange(ParseRequest, ParseReply, errors=_ASKING),
    "/get_reward": _Exchange(RewardRequest, RewardReply, errors=_ASKING),
    "/v1/rules": _Exchange(reply=RulesReply, errors=(400, 422)),
    "/v1/problems": _Exchange(reply=ProblemsReply, errors=(400,)),
    "/v1/problem": _Exchange(reply=ProblemRecord, errors=(400, 422)),
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


def rules_reply(catalogue: Catalogue) -> RulesReply:
    """The rules of a catalogue with their schemata."""
    return RulesReply(
        tuple(
            [
                RuleView(
                    rule.name,
                    rule.meaning,
                    tuple(
                        [
                            SchemaView(s.name, tuple([show(p) for p in s.premises]), show(s.conclusion))
                            for s in rule.schemata
                        ]
                    ),
                )
                for rule in catalogue.rules
            ]
        )
    )


_STYLE = """body { margin: 0 auto; max-width: 920px; padding: 20px; font: 15px/1.5 system-ui, sans-serif }
pre { overflow: auto; padding: 12px; border: 1px solid #8884; border-radius: 8px; font-size: 12.5px }
code { overflow-wrap: anywhere } h2 { font-size: 17px; margin-top: 28px } summary { cursor: pointer }"""


def as_page(description: dict[str, Any]) -> str:
    """The description as a page in HTML that needs no network and no program.

    Args:
        description: of :func:`described`.
    """
    title = f"{description['info']['title']} {description['info']['version']}"
    operations = [
        _operation_html(path, method, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = [
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>{_json_html(schema)}</details>'
        for name, schema in description["components"]["schemas"].items()
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<h1>{escape(title)}</h1><p><a href=".">Verify a proof in the browser</a>. Programs read '
        '<a href="openapi.json">openapi.json</a>.</p>'
        f"{''.join(operations)}<h2>Schemas</h2>{''.join(schemas)}</html>"
    )


def _operation_html(path: str, method: str, operation: dict[str, Any]) -> str:
    parameters = "".join(
        f"<li><code>{escape(one['name'])}</code> {escape(json.dumps(one['schema'], ensure_ascii=False))}</li>"
        for one in operation.get("parameters", [])
    )
    replies = "".join(
        f"<li>{escape(status)} {escape(reply['description'])}{_schema_link(reply)}</li>"
        for status, reply in operation["responses"].items()
    )
    asked = operation.get("requestBody")
    request = "" if asked is None else f"<p>Body:{_schema_link(asked)}</p>"
    meaning = escape(operation.get("description", ""))
    return (
        f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2><p>{meaning}</p>"
        f"{f'<ul>{parameters}</ul>' if parameters else ''}{request}"
        f"<details><summary>Replies</summary><ul>{replies}</ul></details>"
    )


def _schema_link(part: dict[str, Any]) -> str:
    """The schemas of a body, each as a link."""
    links = []
    for media_type, content in part["content"].items():
        name = content["schema"].get("$ref", "").rpartition("/")[2]
        links.append(f'<a href="#{escape(name)}">{escape(name)}</a>' if name else f"<code>{escape(media_type)}</code>")
    return f" {', '.join(links)}"


def _json_html(value: object) -> str:
    return f"<pre>{escape(json.dumps(value, indent=1, ensure_ascii=False))}</pre>"
