"""A server in place of Isabelle for the tests of the Isabelle solver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.isabelle_double import Double
from tests.scripted import serving_in_thread


@pytest.fixture
def double(tmp_path: Path) -> Iterator[Double]:
    with Double(tmp_path) as server, serving_in_thread(server):
        yield server
