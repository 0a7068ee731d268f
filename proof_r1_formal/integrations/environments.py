"""A problem as an environment of several turns: the model submits steps, and gets the findings on each.

In: a problem, then steps. Out: for each step the verdicts in words, and at the end a reward and the report on all steps
that were submitted. The report equals that of ``Verifier.verify`` on a completion with these steps. Steps that fail a
check stay in the report, because they have credit of their own; later steps cannot use them.

:class:`ProofEnvironment` is what TRL's ``environment_factory`` makes, and needs no library. ``trl.ProofTrainer`` takes
it, too, and gives each step's tokens the credit of that step. The environment of SkyRL-gym is built on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby, islice
from typing import Any

from proof_r1_formal.credit.align import NOBODY, Alignment
from proof_r1_formal.data.problem import LABELS, Problem
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.integrations.mcp_results import step_check, step_in_words
from proof_r1_formal.integrations.scoring import problem_of
from proof_r1_formal.models.prompts import question
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES, Action, read_action, read_completion
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.report import Reward, StepReport, TraceReport
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.thoughts import after_thoughts
from proof_r1_formal.proof.verify import Verifier, VerifierSession
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue

MAX_STEPS = 64
"""The most steps that an environment checks; the paper's completions have fewer."""


def proved_reward(report: TraceReport) -> float:
    """1.0 for a right and verified answer True or False, 0.1 for a step that passes all checks, else 0.

    Steps that fail cost nothing: the model gets their findings to correct them. An answer Uncertain earns nothing: the
    verifier's own countermodels verify it, so a guess would earn as much.
    """
    if report.answer_correct and report.verified and report.uncertain is None:
        return 1.0
    return 0.1 if any(step.signal == VERIFIED for step in report.actions) else 0.0


class ProofEnvironment:
    """One problem at a time. Public methods are what the model may call, except ``reset`` and ``get_reward``.

    Args:
        reward: of the report on all steps.
        rules: name of the rule catalogue.
        max_steps: later steps are not checked. Nor are those after a verified answer, so that no call undoes it.
    """

    def __init__(
        self, *, reward: Reward = proved_reward, rules: RuleSystem = "train", max_steps: int = MAX_STEPS
    ) -> None:
        self._reward = reward
        self._rules = rules
        self._max_steps = max_steps
        self._session: VerifierSession | None = None
        self._problem: Problem | None = None
        self._replies: list[str] = []
        self._verified = False

    def reset(self, *, problem: str = "", **columns: Any) -> str:
        """Begin a problem.

        Args:
            problem: its record in JSON, as in the column of ``problems_dataset``.
            columns: others of the row, which have no effect.

        Returns:
            The instructions and the question.

        Raises:
            DataError: the text is not a problem.
        """
        del columns
        self._problem = problem_of(problem)
        self._session = VerifierSession(self._problem, _verifier(self._rules))
        self._replies = []
        self._verified = False
        return f"{instructions(catalogue(self._rules))}\n\n{question(self._problem)}"

    def submit_step(self, id: str, dependencies: list[str], conclusion: str, rule: str) -> str:  # noqa: A002
        """Check one step of the proof after the steps before it.

        Args:
            id: The name of the step, such as s1. The last step has the id of the option that you choose.
            dependencies: The names of the premises and earlier steps that it follows from.
            conclusion: One formula.
            rule: The name of the rule that it applies.

        Returns:
            The verdicts, with the reasons for those that fail.
        """
        fields = dict(zip(FIELDS, (id, dependencies, conclusion, rule), strict=True))
        # Calls are read by Python's JSON, which reads NaN and 1e999; neither is JSON, nor what a field may be.
        fields = json.loads(json.dumps(fields), parse_constant=lambda _: None)
        action = read_action(json.dumps(fields, ensure_ascii=False))
        assert action is not None  # a JSON object starts there
        return self._push(action)

    def get_reward(self) -> float:
        """The reward of all steps."""
        return self._reward(self.report)

    def _push(self, action: Action) -> str:
        session = self._begun()
        if self.is_full:
            return f"No more than {self._max_steps} steps are checked: the proof ends here."
        if self._verified:  # a further step would undo the answer, which must be the last
            return "The proof has its answer, which is verified. This step is not checked. Call no tool any more."
        found = session.push(action)
        self._replies.append(self._words(found))
        return self._replies[-1]

    def _words(self, step: StepReport) -> str:
        lines = [step_in_words(step_check(step))]
        if step.terminal:
            report = self.report
            self._verified = report.answer is not None and report.verified
            if report.answer is not None:
                label = LABELS.get(report.answer, report.answer)
                lines.append(f"The proof answers {label}: {report.level}. Call no tool any more.")
        elif step.signal < VERIFIED:
            lines.append("Submit another step under another id.")
        return "\n".join(lines)

    def _begun(self) -> VerifierSession:
        if self._session is None:
            raise ProofR1Error("no problem has begun: call reset() first")
        return self._session

    # -- for trainers -------------------------------------------------------------------------------------------------

    @property
    def report(self) -> TraceReport:
        """The report on the steps so far."""
        session = self._begun()
        return session.report(parsed=bool(self._replies))

    @property
    def rules(self) -> RuleSystem:
        """The name of the rule catalogue."""
        return self._rules

    @property
    def is_full(self) -> bool:
        """Whether no further step would be checked."""
        return len(self._replies) >= self._max_steps

    @property
    def replies(self) -> tuple[str, ...]:
        """The reply to each step of the report, in order."""
        return tuple(self._replies)


def submit_text(environment: ProofEnvironment, text: str) -> str:
    """Submit the steps of a text, for environments without calls of tools.

    Args:
        environment: a problem has begun in it.
        text: one step as a JSON object, the first after the thoughts (:mod:`proof_r1_formal.proof.thoughts`); or the
            array of a completion's summary.

    Returns:
        The verdicts on the steps, or what is missing.
    """
    start = after_thoughts(text)
    answer = "" if start is None else text[start:]
    if "<summary>" in answer:
        actions = read_completion(answer).actions
    else:
        starts = islice(re.finditer(r"\{", answer), _TRIED)
        found = (read_action(answer, start.start()) for start in starts)
        actions = tuple(islice((action for action in found if action is not None), 1))
    if not actions:
        return f"No step was found: write a JSON object with the fields {', '.join(FIELDS)}."
    return "\n".join(map(environment._push, actions))


_TRIED = 16  # places where a JSON object may begin


@cache
def _verifier(rules: RuleSystem) -> Verifier:
    return Settings(rules=rules, evaluation=False).verifier()


def environment_factory(
    *, reward: Reward = proved_reward, rules: RuleSystem = "train", max_steps: int = MAX_STEPS
) -> Callable[[], ProofEnvironment]:
    """What TRL calls for an environment; the arguments are those of :class:`ProofEnvironment`.

    Raises:
        CatalogueError: no rule catalogue has this name.
    """
    catalogue(rules)
    return lambda: ProofEnvironment(reward=reward, rules=rules, max_steps=max_steps)


def instructions(rules: Catalogue) -> str:
    """What the model is to do, with the rules that steps may name."""
    names = "\n".join(f"- {rule.name}: {rule.meaning}" for rule in rules.rules)
    return f"""\
Prove one of the options below from the premises, one step at a time. Submit each step; it is checked at once, and you \
see what is wrong with it. A step has at most {MAX_DEPENDENCIES} dependencies, and follows from them by one rule. The \
last step has the id of the option that you choose, its formula, the rule {GOAL_BINDING}, and the step or premise that \
says this formula as its dependency. If the premises leave the question open and an option says so, choose that one.

Rules:
{names}"""


# -- credit -----------------------------------------------------------------------------------------------------------


def align_turns(mask: Sequence[int], messages: Sequence[Any], replies: Sequence[str]) -> Alignment:
    """Which tokens belong to which step, where the model submits steps by calls.

    Args:
        mask: for each token of a rollout whether the model wrote it (1), or a tool (0).
        messages: of the rollout, after the prompt: an ``assistant`` message for each turn, and what tools replied.
        replies: of the environment, one for each step.

    Returns:
        The tokens of a turn belong to its step. In a turn with several steps, each has an equal part, in order: an
        approximation, as the messages have the calls as data and do not say which tokens wrote which call.
    """
    turns: list[list[int]] = []
    for message in messages:
        if message["role"] == "assistant":
            turns.append([])
        elif turns and message["role"] == "tool":
            step = sum(map(len, turns))
            if step < len(replies) and message["content"] == replies[step]:
                turns[-1].append(step)
    if turns:  # replies that did not fit into the rollout
        turns[-1] += range(sum(map(len, turns)), len(replies))
    owners = [NOBODY] * len(mask)
    runs = [list(run) for wrote, run in groupby(range(len(mask)), key=lambda place: mask[place]) if wrote]
    for run, steps in zip(runs, turns, strict=False):
        for number, place in enumerate(run if steps else ()):
            owners[place] = steps[number * len(steps) // len(run)]
    return Alignment(tuple(owners), tuple([owners.count(step) for step in range(len(replies))]))
