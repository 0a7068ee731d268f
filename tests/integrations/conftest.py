"""Problems with their proofs, and a tokenizer that is made here: nothing is downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal import Problem
from proof_r1_formal.data.native import to_json
from proof_r1_formal.generate import GeneratorSettings, completion, generate_problems
from proof_r1_formal.models.prompts import question
from tests.build import learn, random_model, save


@dataclass(frozen=True)
class Known:
    """A problem, its record, and the completion that proves its answer."""

    problem: Problem
    record: str
    right: str


@pytest.fixture(scope="session")
def known() -> list[Known]:
    """Three problems."""
    settings = GeneratorSettings(seed=5, difficulty="easy", answers=("True",))
    problems = [generated.problem for generated in islice(generate_problems(settings), 3)]
    return [Known(problem, to_json(problem), completion(problem, problem.proofs[0])) for problem in problems]


@pytest.fixture(scope="session")
def tokenizer(known: list[Known]) -> Any:
    """A tokenizer of whole bytes for which the problems are short."""
    transformers = pytest.importorskip("transformers")
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    texts = [text for one in known for text in (question(one.problem), one.right)]
    trained.train_from_iterator(texts, vocab_size=2000, min_frequency=1, special_tokens=["<pad>", "<end>", "<turn>"])
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, pad_token="<pad>", eos_token="<end>", additional_special_tokens=["<turn>"]
    )
    made.chat_template = "{% for message in messages %}{{ message['content'] }}<turn>{% endfor %}"
    return made


@pytest.fixture(scope="session")
def taught(known: list[Known], tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small model that has learned one answer by heart, and of its tokenizer."""
    pytest.importorskip("torch")
    model = random_model(tokenizer)
    asked = tokenizer(question(known[0].problem))["input_ids"]
    answer = [*tokenizer(known[0].right)["input_ids"], tokenizer.eos_token_id]
    learn(model, [*asked, *answer], [-100] * len(asked) + answer, rate=3e-3, enough=0.04)
    folder = tmp_path_factory.mktemp("taught") / "model"
    save(model, tokenizer, folder)
    return folder
