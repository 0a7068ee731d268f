"""Every name of OpenRLHF that a part of ours replaces is there; a release without one is refused by that name."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from training.openrlhf import seams
from training.openrlhf.cpu import install
from training.openrlhf.seams import SEAMS, SeamError, class_behind, original, rebind

install()

SOURCES = Path(seams.__file__).parent
ACTORS = [seam for seam, use in SEAMS.items() if "a Ray actor" in use]


@pytest.mark.parametrize("seam", SEAMS)
def test_openrlhf_has_the_name(seam: str) -> None:
    assert callable(original(seam))


@pytest.mark.parametrize("seam", ACTORS)
def test_the_class_behind_an_actor_can_be_subclassed(seam: str) -> None:
    behind = class_behind(seam)
    assert behind.__name__ == seam.rpartition(".")[2]
    assert issubclass(type("Ours", (behind,), {}), behind)


def test_a_part_takes_the_place_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("openrlhf.utils")
    monkeypatch.setattr(module, "get_tokenizer", module.get_tokenizer)  # put back afterwards
    rebind("openrlhf.utils.get_tokenizer", part := object())
    assert original("openrlhf.utils.get_tokenizer") is part


def test_a_missing_name_is_told_with_the_release_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("openrlhf.utils.get_tokenizer")
    with pytest.raises(SeamError, match=r"has no openrlhf.utils.get_tokenizer; install openrlhf==0.11.2$"):
        rebind("openrlhf.utils.get_tokenizer", object())


def test_a_library_that_openrlhf_lacks_is_not_a_missing_seam() -> None:
    with pytest.raises(ModuleNotFoundError, match="flash_attn_is_not_here"):
        original("flash_attn_is_not_here.name")
    with pytest.raises(SeamError, match=r"has no openrlhf\.renamed\.name"):
        original("openrlhf.renamed.name")


def test_a_name_that_is_no_actor_is_refused() -> None:
    with pytest.raises(SeamError, match=r"get_tokenizer is not an actor as Ray"):
        class_behind("openrlhf.utils.get_tokenizer")


def test_no_other_module_replaces_a_name_of_openrlhf() -> None:
    """Nor is there a seam that no module uses."""
    texts = {path.name: path.read_text() for path in SOURCES.glob("*.py") if path.name != "seams.py"}
    assigned = r"^\s*(?:openrlhf[\w.]*|ppo_\w+|vllm_engine|distributed_util)\.\w+ = "
    assert {name for name, text in texts.items() if re.search(assigned, text, re.MULTILINE)} == set()
    everything = "".join(texts.values())
    assert [seam for seam in SEAMS if f'.{seam.rpartition(".")[2]}"' not in everything] == []
