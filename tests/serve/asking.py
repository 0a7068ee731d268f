"""Requests to a service, and the examples that they are about."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from typing import Any

from proof_r1_formal.data.native import to_json
from tests.build import example_completions, example_problems
from tests.patience import PATIENCE

PROBLEMS = example_problems()
COMPLETIONS = example_completions()
RIGHT = COMPLETIONS[0]
RECORD = to_json(PROBLEMS[RIGHT.problem_id])
JSON = {"Content-Type": "application/json"}


def asked(port: int, method: str, path: str, body: bytes | None = None, headers: dict[str, str] = JSON) -> Any:
    """The status and the content of a reply."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def works(service: Any) -> bool:
    """Whether a service verifies."""
    [report] = service.client.verify(RECORD, [RIGHT.completion])
    return report.verified is True
