"""Problems as a dataset of reasoning-gym, ``proof_r1``: questions without end, scored by the verifier.

In: a configuration (:class:`ProofConfig`). Out: entries with ``question``, ``answer`` and ``metadata``, as each dataset
of the library has them. The score of an answer is its reward, so any trainer that knows reasoning-gym trains on proofs.
Importing this module registers the dataset and its curriculum, and requires the library (extra ``gym``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from reasoning_gym.coaching import BaseCurriculum, RangeAttributeDefinition
from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import register_dataset

from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import FALSE, TRUE, Problem, ReferenceStep
from proof_r1_formal.generate.problems import GeneratorSettings, System, draw_problem
from proof_r1_formal.integrations.scoring import DATA_SOURCE, Scorer
from proof_r1_formal.models.prompts import contract, question
from proof_r1_formal.proof.report import RewardName
from proof_r1_formal.proof.trajectory import completion
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show

NAME: Final = "proof_r1"
"""The name of the dataset in reasoning-gym."""


@dataclass
class ProofConfig:
    """Which problems, and how answers are scored.

    Attributes:
        min_steps, max_steps: of the intended proofs, without the step that states the answer.
        min_distractors, max_distractors: premises that the proof does not need.
        answers: labels of the right options, drawn with equal probability. An answer Uncertain has the score 0.3 at
            most under ``sound``: countermodels verify it, whatever the model writes.
        rules: name of the rule catalogue.
        reward: name of the reward, see :mod:`proof_r1_formal.proof.report`.
        seed, size: as in each dataset of the library.
    """

    min_steps: int = 1
    max_steps: int = 5
    min_distractors: int = 0
    max_distractors: int = 5
    answers: tuple[str, ...] = (TRUE, FALSE)
    rules: System = "train"
    reward: RewardName = "sound"
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Check the fields.

        Raises:
            ProofR1Error: a range is invalid, or a name is unknown.
            ValueError: no reward has this name.
        """
        self.settings(0)
        Scorer(self.reward)

    def settings(self, seed: int) -> GeneratorSettings:
        """The settings of the generator."""
        steps, distractors = (self.min_steps, self.max_steps), (self.min_distractors, self.max_distractors)
        return GeneratorSettings(
            seed=seed, system=self.rules, steps=steps, distractors=distractors, answers=tuple(self.answers)
        )


class ProofDataset(ProceduralDataset):
    """Generated problems. An entry depends on the configuration, the seed and its index only."""

    config: ProofConfig

    def __init__(self, config: ProofConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)

    @cached_property
    def _settings(self) -> GeneratorSettings:
        return self.config.settings(self.seed)

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer(self.config.reward, rules=self.config.rules)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """The entry of an index: the messages of a problem as one text, and a completion with the reference proof.

        Raises:
            ExhaustedError: the settings allow no such problem.
        """
        problem = draw_problem(self._settings, idx).problem
        return {
            "question": f"{contract(catalogue(self.config.rules))}\n\n{question(problem)}",
            "answer": completion(problem, problem.proofs[0] if problem.proofs else _undecided(problem)),
            "metadata": {
                "source_dataset": NAME,
                "source_index": idx,
                "data_source": DATA_SOURCE,
                "problem": to_json(problem),
                "label": problem.answer,
                "difficulty": {
                    "steps": (self.config.min_steps, self.config.max_steps),
                    "distractors": (self.config.min_distractors, self.config.max_distractors),
                },
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """The reward of an answer, from 0 to 1; 0 without one."""
        if not isinstance(answer, str):
            return 0.0
        [scored] = self._scorer([entry["metadata"]["problem"]], [answer])
        return scored.reward


class ProofCurriculum(BaseCurriculum):
    """Longer proofs and more distractors, level by level."""

    def __init__(self) -> None:
        super().__init__(ProofCurriculum.__name__, ProofConfig)
        for name, levels, what in (
            ("steps", [1, 2, 3, 5, 7, 9], "Number of steps of the proof"),
            ("distractors", [0, 3, 5, 8, 13], "Number of premises that the proof does not need"),
        ):
            self._define_attributes(
                RangeAttributeDefinition(
                    name=name,
                    levels=levels,
                    description=what,
                    lower_field_name=f"min_{name}",
                    upper_field_name=f"max_{name}",
                    ensure_interval=True,
                )
            )


def _undecided(problem: Problem) -> tuple[ReferenceStep, ...]:
    """The one step of an answer that no proof supports: countermodels do."""
    option = problem.option(problem.answer)
    assert option is not None
    return (ReferenceStep(option.id, (problem.premises[-1].id,), show(option.formula), GOAL_BINDING),)


register_dataset(NAME, ProofDataset, ProofConfig, ProofCurriculum)
