"""A server in place of Isabelle for the tests of the Isabelle solver."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.isabelle_double import Double


@pytest.fixture
def double(tmp_path: Path) -> Iterator[Double]:
    with Double(tmp_path) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
