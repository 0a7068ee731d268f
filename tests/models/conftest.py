"""What tests of models share: servers that follow scripts, a tiny model, and a server that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.models.scripted import Script, serving
from tests.tiny_model import make_model


@pytest.fixture(autouse=True)
def every_test_closes_what_it_opens(closed: None) -> None:
    """Streams to models, tasks, servers."""


@pytest.fixture
def follow() -> Iterator[Callable[[Script], str]]:
    """Serves scripts until the test is over."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(serving(script))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model with random weights."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    texts = ["Premises:\nh1: [cat(tom)]\n<think></think><summary>[]</summary>"]
    make_model(folder, texts, vocabulary=300, width=16, hidden=16, layers=1)
    return folder
