"""TRL's own trainer plays our environment with a model that knows a proof by heart, one of whose steps is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")

from proof_r1_formal import ProofR1Error
from proof_r1_formal.credit.assigner import CreditAssigner
from proof_r1_formal.data.native import to_json
from proof_r1_formal.integrations.environments import ProofEnvironment, environment_factory
from tests.build import learn, random_model
from tests.integrations.test_environments import LAST, PROBLEM, STEP, WRONG

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]

RECORD = to_json(PROBLEM)
STEPS = (WRONG, STEP, LAST)
LENGTH = 300


def call(step: tuple[Any, ...]) -> str:
    arguments = dict(zip(("id", "dependencies", "conclusion", "rule"), step, strict=True))
    asked = json.dumps({"name": "submit_step", "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{asked}\n</tool_call><|im_end|>"


@pytest.fixture(scope="module")
def words() -> Any:
    """A tokenizer with Qwen3's template of chats, as TRL has it. Texts that are long are few tokens."""
    from tokenizers import AddedToken, ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast
    from transformers.utils.chat_template_utils import get_json_schema
    from trl.chat_template_utils import qwen3_chat_template

    environment = ProofEnvironment()
    asked = environment.reset(problem=RECORD)
    replies = [environment.submit_step(*step) for step in STEPS]
    trained = ByteLevelBPETokenizer()
    special = ["<pad>", "<|im_end|>", "<|im_start|>"]
    trained.train_from_iterator([asked, qwen3_chat_template], vocab_size=600, special_tokens=special)
    schema = json.dumps(get_json_schema(environment.submit_step), ensure_ascii=False)
    whole = [asked.partition("\n\nPremises:")[0], schema, *replies]
    halves = [part for step in STEPS for part in call(step).removesuffix("<|im_end|>").partition(', "conclusion"')]
    trained.add_tokens([AddedToken(text, normalized=False) for text in dict.fromkeys([*whole, *halves])])
    made = PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, pad_token="<pad>", eos_token="<|im_end|>", extra_special_tokens=special[2:]
    )
    made.chat_template = qwen3_chat_template
    return made


@pytest.fixture
def trainer(words: Any, tmp_path: Path) -> Callable[..., Any]:
    """Makes TRL's trainer, or ours, of a model with random weights."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from proof_r1_formal.integrations.trl import ProofConfig, ProofTrainer

    def made(*, ours: bool, factory: Any = ProofEnvironment, tools: Any = None, **options: Any) -> Any:
        folder = tmp_path / "model"
        random_model(words).save_pretrained(folder)
        plain = {
            "output_dir": str(tmp_path / "run"),
            "max_steps": 1,
            "per_device_train_batch_size": 2,
            "num_generations": 2,
            "max_completion_length": LENGTH,
            "temperature": 0.01,
            "logging_steps": 1,
            "save_strategy": "no",
            "report_to": "none",
            "use_cpu": True,
            "bf16": False,
        }
        rows = Dataset.from_list([{"prompt": [{"role": "user", "content": ""}], "problem": RECORD}] * 2)
        common = {"train_dataset": rows, "processing_class": words, "environment_factory": factory, "tools": tools}
        if ours:
            args = ProofConfig(**{"verification_workers": 0, **plain, **options})
            return ProofTrainer(str(folder), args=args, **common)
        return GRPOTrainer(str(folder), args=GRPOConfig(**plain, **options), **common)

    return made


def teach(trainer: Any, words: Any) -> None:
    """Learn the proof by heart, with what the environment says between the steps."""
    environment = ProofEnvironment()
    asked = [[{"role": "user", "content": environment.reset(problem=RECORD)}]]
    trainer._batch_environments = [None]
    ids = list(trainer._tokenize_prompts(asked)[0][0])
    labels = [-100] * len(ids)
    for turn in [*map(call, STEPS), "Done.<|im_end|>"]:
        own = words(turn, add_special_tokens=False)["input_ids"]
        ids, labels = ids + own, labels + own
        if len(environment.replies) < len(STEPS):
            reply = environment.submit_step(*STEPS[len(environment.replies)])
            theirs = trainer._get_tool_suffix_ids([{"role": "tool", "name": "submit_step", "content": reply}])
            ids, labels = ids + list(theirs), labels + [-100] * len(theirs)
    assert len(ids) < 600
    learn(trainer.model, ids, labels, rate=5e-3, enough=0.02)


def test_trl_plays_the_environment_and_takes_its_reward(trainer: Callable[..., Any], words: Any) -> None:
    made = trainer(ours=False)
    teach(made, words)
    made.train()
    first = made.state.log_history[0]
    assert first["rewards/ProofEnvironment/mean"] == 1.0
    assert first["tools/call_frequency"] == 3.0
    assert first["tools/failure_frequency"] == 0.0
    assert [step.signal for step in made.environments[0].report.actions] == [0.1, 1.0, 1.0]


def test_each_step_has_its_credit_on_the_tokens_of_its_turn(trainer: Callable[..., Any], words: Any) -> None:
    made = trainer(ours=True)
    teach(made, words)
    made.model.train()
    output = made._generate_and_score_completions(next(iter(made.get_train_dataloader())))
    ids, mask = output["completion_ids"], output["completion_mask"].bool() & output["tool_mask"].bool()
    assert made._rollouts[0].report.verified
    credit = CreditAssigner(words, workers=0).assign(made._rollouts, 2)
    scale = 2 * LENGTH / credit.divisor
    texts: dict[float, str] = {}
    for token, own, advantage in zip(ids[0].tolist(), mask[0].tolist(), output["advantages"][0].tolist(), strict=True):
        assert own or advantage == 0.0
        if own:
            texts[advantage] = texts.get(advantage, "") + words.decode([token])
    [wrong, *_] = sorted(advantage for advantage in texts if advantage)
    assert wrong < 0 < max(texts)
    assert texts[wrong] == call(WRONG)
    assert texts[0.0] == "Done.<|im_end|>"
    sizes = made._rollouts[0].alignment.sizes
    terms = sorted(set(credit.advantages[0]) - {0.0})
    assert min(texts) == pytest.approx(terms[0] * scale)
    assert sum(sizes) + len(words("Done.<|im_end|>")["input_ids"]) == int(mask[0].sum())

    made.train()
    logged = made.state.log_history[0]
    assert logged["proof/verified"] == 1.0
    assert logged["proof/signal"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"factory": environment_factory(rules="folio")}, "the rules 'folio' and the configuration 'train'"),
        ({"curriculum": 3}, "starts from the first step"),
        ({"method": "taught"}, "starts from the first step"),
        ({"factory": None, "tools": [ProofEnvironment().submit_step]}, "give an environment_factory of Proof"),
    ],
)
def test_what_has_no_credit_per_step_is_refused(
    trainer: Callable[..., Any], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ProofR1Error, match=says):
        trainer(ours=True, **options)
