"""A model in a folder: chats that are answered together, and one among them that cannot be answered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from shutil import copytree

import pytest

from proof_r1_formal.models.chat import CallError, Form, Message, ModelError, Reply, Sampling
from proof_r1_formal.models.local import LocalModel

TEMPLATE = """\
{% for message in messages %}{% if 'poison' in message['content'] %}{{ raise_exception('refused') }}{% endif %}\
{{ message['content'] }}{% endfor %}"""


@pytest.mark.slow
@pytest.mark.parametrize("form", [None, Form("free"), Form("grammar", grammar="start: /a*/")])
def test_a_chat_that_cannot_be_answered_fails_alone(form: Form | None, tiny_model: Path, tmp_path: Path) -> None:
    folder = copytree(tiny_model, tmp_path / "refusing")
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    model = LocalModel(folder)
    texts = ["Is Tom a cat?", "Is Tom a dog?", "poison", "Is Rex a dog?"]
    chats: list[list[Message]] = [[{"role": "user", "content": text}] for text in texts]

    async def work() -> list[Reply | BaseException]:
        calls = [model.reply(chat, Sampling(max_tokens=3, form=form)) for chat in chats]
        return await asyncio.gather(*calls, return_exceptions=True)

    first, second, failed, last = asyncio.run(work())
    assert all(isinstance(one, Reply) for one in (first, second, last))
    assert isinstance(failed, CallError)
    assert (failed.again, failed.problem) == (False, "the model fails: TemplateError: refused")


def test_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot be loaded: (?!there is no)"):
        LocalModel(tmp_path)
    with pytest.raises(ModelError, match="no such folder"):
        LocalModel(tmp_path / "nothing")
