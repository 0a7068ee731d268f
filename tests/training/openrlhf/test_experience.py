"""From sampled token ids to advantages, through OpenRLHF's own parts.

Fixed token ids go the way of a rollout: agent, samples generator, experience maker, replay buffer, collation. What
comes out is compared with what the actions earn, token by token.
"""

from __future__ import annotations

import asyncio
import shutil
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
import torch
from msgspec import structs

from proof_r1_formal import Problem, Settings, catalogue, read_problems
from proof_r1_formal.credit.methods import METHODS, credit_batch, rollout_of
from proof_r1_formal.credit.pieces import TokenPieces
from proof_r1_formal.credit.terms import Baselines
from proof_r1_formal.credit.verification import nothing
from proof_r1_formal.data.native import to_json
from proof_r1_formal.generate import summary
from proof_r1_formal.models.prompts import short_question
from training.common.tokenizer import load_tokenizer
from training.config import Config, read_config
from training.openrlhf.cpu import install
from training.openrlhf.data import PromptLabel
from training.openrlhf.flags import command

install()

from openrlhf.trainer.ppo_utils.experience import Experience  # noqa: E402 (only once it can be imported)
from openrlhf.trainer.ppo_utils.replay_buffer import NaiveReplayBuffer  # noqa: E402
from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator  # noqa: E402

from training.openrlhf.agent import NEVER, AgentExecutor, Response, VerifiedLabel  # noqa: E402
from training.openrlhf.experience import UNITS, ProofExperienceMaker, rows_of  # noqa: E402
from training.openrlhf.strategy import CpuStrategy  # noqa: E402

SAMPLES = 4
SAMPLING = {"max_tokens": 64, "logprobs": 1}
GOOD, WRONG, CUT, SHORT = range(SAMPLES)


class FixedEngine:
    """Samples what it is told to; the log-probabilities are any."""

    def __init__(self, answers: Sequence[Sequence[int]]) -> None:
        self._answers = iter(answers)

    async def generate(self, prompt: list[int], *_: object, **__: object) -> SimpleNamespace:
        del prompt
        ids = list(next(self._answers))
        chances = [{token: SimpleNamespace(logprob=-0.5)} for token in ids]
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, logprobs=chances, finish_reason="stop")])


async def respond(agent: AgentExecutor, problem: Problem, engine: FixedEngine, sampling: SimpleNamespace) -> Response:
    """What the agent makes of the next answer of the engine."""
    label = msgspec.json.encode(PromptLabel(to_json(problem), evaluation=False)).decode()
    return await agent.execute(short_question(problem), label, sampling, 256, None, engine)


@dataclass(frozen=True)
class Case:
    """A batch of fixed rollouts, and the parts of OpenRLHF that it goes through."""

    config: Config
    model: Path
    arguments: Namespace
    problems: list[Problem]
    answers: list[list[int]]  # all samples of the first problem, then of the second

    def responses(self) -> list[Response]:
        """What the agent returns."""
        agent = AgentExecutor(self.config, self.model)
        engine = FixedEngine(self.answers)

        async def all_of_them() -> list[Response]:
            asked = [problem for problem in self.problems for _ in range(SAMPLES)]
            return [await respond(agent, problem, engine, SimpleNamespace(**SAMPLING)) for problem in asked]

        return asyncio.run(all_of_them())

    def maker(self) -> ProofExperienceMaker:
        strategy = CpuStrategy(self.arguments, self.config, len(self.problems), 1)
        return ProofExperienceMaker(None, None, None, None, None, strategy, SimpleNamespace(pad_token_id=0))

    def experiences(self, maker: ProofExperienceMaker, responses: Sequence[Response] | None = None) -> list[Experience]:
        """The batch with its advantages."""
        responses = responses or self.responses()
        generator = SamplesGenerator(SimpleNamespace(args=self.arguments), None, None, None, None)
        sampled = [generator._process_response_into_experience(one, max_len=256) for one in responses]
        split = maker.split_rollout_samples(sampled)
        for experience in split:  # what the policy and the reference would say
            shape = experience.action_mask.shape
            experience.action_log_probs = torch.full(shape, -0.5) * experience.action_mask
            experience.base_action_log_probs = torch.full(shape, -0.7) * experience.action_mask
        return maker.compute_advantages_and_returns(split)


@pytest.fixture
def case(given: Path, problems: Path, warmed_up: Path, parse: Callable[[list[str]], Namespace]) -> Case:
    """For each of two problems: a proof, one with a wrong dependency or rule, a truncated one, and other text."""
    config = read_config(given)
    chosen = list(read_problems(problems).values())[:2]
    tokenizer = load_tokenizer(warmed_up)
    answers: list[list[int]] = []
    for problem in chosen:
        first, *others = problem.proofs[0]
        broken = replace(first, rule="NO_RULE") if answers else replace(first, dependencies=first.dependencies[1:])
        good = tokenizer.encode(summary((first, *others)), add_special_tokens=False)
        wrong = tokenizer.encode(summary((broken, *others)), add_special_tokens=False)
        end = [tokenizer.eos_token_id]
        answers += [good + end, wrong + end, good[: len(good) // 2], tokenizer.encode("Ada is") + end]
    return Case(config, warmed_up, parse(command(config)), chosen, answers)


def assert_matches(case: Case, experiences: list[Experience]) -> None:
    """Every advantage stands on the token that earns it."""
    pieces = TokenPieces((case.model / "tokenizer.json").read_text())
    texts = [pieces.read(ids) for ids in case.answers]
    labels = [msgspec.json.decode(label, type=VerifiedLabel) for one in experiences for label in one.labels]
    rollouts = [rollout_of(label.report, text, case.config.credit) for label, text in zip(labels, texts, strict=True)]
    groups = [rollouts[:SAMPLES], rollouts[SAMPLES:]]
    start = Baselines.start(catalogue(case.config.data.rules), case.config.credit)
    credits_ = credit_batch(METHODS[case.config.method], groups, start, case.config.credit)
    earned = [one for group in credits_.groups for one in group]
    buffer = NaiveReplayBuffer(len(case.answers))
    for experience in experiences:
        buffer.append(experience)
    batch = buffer.collate_fn(buffer.items)
    assert (batch.advantages[batch.action_mask == 0] == 0.0).all()
    assert torch.as_tensor(batch.info[UNITS]).tolist() == [one.units for one in earned]
    for row, (ids, own, rollout) in enumerate(zip(case.answers, earned, rollouts, strict=True)):
        prompt = len(batch.sequences[row][batch.attention_mask[row].bool()]) - len(ids)
        for token, advantage in enumerate(own.advantages):
            place = prompt + token
            assert batch.sequences[row, place] == ids[token]
            assert batch.advantages[row, place - 1].item() == pytest.approx(advantage)  # column j is about token j + 1
        own_columns = batch.advantages[row, prompt - 1 : prompt - 1 + len(ids)]
        assert batch.advantages[row].sum().item() == pytest.approx(own_columns.sum().item())
        for action, advantage in enumerate(own.actions.advantages if own.actions else ()):
            spoken = torch.tensor([owner == action for owner in rollout.alignment.owners])
            if spoken.any():
                assert own_columns[spoken].sum().item() == pytest.approx(advantage, abs=1e-5)
                assert bool((own_columns[spoken] != 0.0).all()) == (advantage != 0.0)


@pytest.mark.parametrize("method", ["proof_r1", "grpo", "prosfi"])
def test_advantages_stand_on_the_tokens_that_earn_them(method: str, case: Case) -> None:
    case = replace(case, config=structs.replace(case.config, method=method))
    experiences = case.experiences(case.maker())
    assert_matches(case, experiences)
    advantages = torch.cat([one.advantages.flatten() for one in experiences])
    assert (advantages > 0.0).any()
    assert (advantages < 0.0).any()


def test_advantages_that_stand_one_token_further_are_seen(case: Case) -> None:
    experiences = case.experiences(case.maker())
    for experience in experiences:
        experience.advantages = experience.advantages.roll(1, dims=1)
    with pytest.raises(AssertionError):
        assert_matches(case, experiences)


def test_the_order_of_batches_does_not_matter(case: Case) -> None:
    maker = case.maker()
    rows = rows_of(case.experiences(maker)[::-1])
    assert [row.ids for row in rows] == case.answers


def test_baselines_move_and_can_be_put_back(case: Case) -> None:
    maker = case.maker()
    before = maker.baselines
    case.experiences(maker)
    after = maker.baselines
    assert after != before
    fresh = case.maker()
    fresh.baselines = after
    assert fresh.baselines == after
    assert maker.made is not None
    assert maker.made.mismatch == pytest.approx(0.0)
    assert maker.made.surprise == pytest.approx(0.5)


@pytest.mark.parametrize("rows", [0, 3])
def test_engines_are_kept_from_rows_of_the_model_that_are_no_tokens(rows: int, case: Case, tmp_path: Path) -> None:
    words = len(load_tokenizer(case.model))
    wider = shutil.copytree(case.model, tmp_path / "wider")
    shape = msgspec.json.decode((wider / "config.json").read_bytes())
    assert shape["vocab_size"] == words
    (wider / "config.json").write_bytes(msgspec.json.encode({**shape, "vocab_size": words + rows}))
    sampling = SimpleNamespace(**SAMPLING)
    agent = AgentExecutor(case.config, wider)
    asyncio.run(respond(agent, case.problems[0], FixedEngine(case.answers), sampling))
    assert (sampling.logit_bias or {}) == {words + row: NEVER for row in range(rows)}


def test_a_completion_that_could_not_be_verified_costs_itself(case: Case) -> None:
    case = replace(case, config=structs.replace(case.config, method="grpo"))
    responses = case.responses()
    label = msgspec.json.decode(responses[0]["label"], type=VerifiedLabel)
    report = nothing(case.problems[0], 0, Settings())
    lost = structs.replace(label, report=report, failure="not verified within 60 s")
    responses[0]["label"] = msgspec.json.encode(lost).decode()
    maker = case.maker()
    earned = torch.cat([one.advantages.sum(-1) for one in case.experiences(maker, responses)])
    assert maker.made is not None
    first, *others = maker.made.groups[0]
    assert not first.rollout.verified and all(one.rollout.verified for one in others)
    assert earned[0] == 0.0
    start = Baselines.start(catalogue(case.config.data.rules), case.config.credit)
    alone = credit_batch(METHODS["grpo"], [[one.rollout for one in others]], start, case.config.credit)
    assert earned[1:SAMPLES].tolist() == pytest.approx([sum(one.advantages) for one in alone.groups[0]])
