"""Proof synthesis: a problem to a short proof of its answer that passes all four checks, or the reason for a failure.

In: a problem and a verifier, whose rule catalogue and oracle count. Out: :class:`Proved`, :class:`Uncertain` with a
countermodel for each claim, or :class:`GaveUp`. The label of the problem is not used. Every proof was verified as a
completion: each action of one that the search found has signal 1. The budget is counted in the search's own steps, so
the result depends neither on the machine nor on its load.

A catalogue that lets steps stand under hypotheses (``COMPLETE``) has rules that the search does not try. Where the
search gives up, the engine's proof is translated (``generate.translation``). Such a proof is rule-verified, but it may
have steps that ProofCheck does not count as progress: if the claim is a logical truth, all of them.

:meth:`Prover.continue_proof` starts from steps that were accepted before: an expert's continuation of a model's proof.

More rules mean more steps to try. Where a catalogue that contains the rules of ``TRAIN`` leads to no proof within the
budget, the search tries those rules alone, with a budget of their own. So more rules lose no proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from typing import TypeAlias

from proof_r1_formal.data.problem import UNCERTAIN, Option, Premise, Problem, ReferenceStep
from proof_r1_formal.engine.oracle import QUESTION, Oracle
from proof_r1_formal.engine.solver import Budget, BudgetSpentError
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate.classes import SOLVER_STEPS
from proof_r1_formal.generate.openings import Schemata
from proof_r1_formal.generate.search import Inference, Refusal, Search
from proof_r1_formal.generate.translation import Translator, searched_rules
from proof_r1_formal.kernel.answer import Answer, Entailed, Refuted
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.context import with_sorts
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show

BUDGET = 100_000
"""Default budget of a problem, in the units of ``generate.search.Budget``."""


@dataclass(frozen=True, slots=True)
class Proved:
    """The premises entail an option: a proof of it that passes all checks.

    Attributes:
        answer: id of the option.
        steps: of the proof, the terminal one included, after those that were given.
        report: on the whole proof, given steps included.
        given: number of steps that were given to :meth:`Prover.continue_proof`.
        translated: whether the steps are the engine's proof in other words, and not found by the search. Not all of
            them need pass the check of progress.
        cost: of the search and of the questions beside it, in the search's steps.
    """

    answer: str
    steps: tuple[ReferenceStep, ...]
    report: TraceReport
    given: int = 0
    translated: bool = False
    cost: int = field(default=0, compare=False, kw_only=True)

    @property
    def used(self) -> tuple[str, ...]:
        """Ids of the given steps that the answer depends on."""
        return tuple([step.id or "" for step in self.report.actions[: self.given] if step.in_closure])

    @property
    def is_detour(self) -> bool:
        """Whether steps were given and the answer depends on none of them."""
        return self.given > 0 and not self.used


@dataclass(frozen=True, slots=True)
class Uncertain:
    """The premises entail no option; for the id of each a model of the premises in which its formula is false.

    ``cost`` is as that of :class:`Proved`.
    """

    models: Mapping[str, Structure]
    cost: int = field(default=0, compare=False, kw_only=True)


class Reason(StrEnum):
    """Why neither a proof nor all countermodels were found."""

    NO_PROOF = "a claim follows, but the search found no way to it by the rules"
    BUDGET = "the budget is spent"
    INCONSISTENT = "the premises contradict each other"
    UNDECIDED = "whether a claim follows stayed undecided"
    NO_CLAIM = "no option says anything but that the question is open"


@dataclass(frozen=True, slots=True)
class GaveUp:
    """Neither a proof nor all countermodels were found; the detail is the option concerned, if there is one.

    ``cost`` is as that of :class:`Proved`.
    """

    reason: Reason
    detail: str = ""
    cost: int = field(default=0, compare=False, kw_only=True)


Result: TypeAlias = Proved | Uncertain | GaveUp


_ByKind: TypeAlias = Mapping[bool, Schemata]
"""The schemata of some rules for steps of both kinds; the key says whether they are stepwise."""


class Prover:
    """Finds proofs in the rule catalogue of a verifier.

    Args:
        verifier: checks every proof; a new one if None.
        stepwise: whether proofs conclude a ∧ or ⊕ before they use it. Such proofs are longer and more explicit. If
            there is none, a proof of the other kind is searched.
        budget: of a problem with all rules, and again with those of ``TRAIN`` if the catalogue has more.
    """

    def __init__(self, verifier: Verifier | None = None, *, stepwise: bool = True, budget: int = BUDGET) -> None:
        self._verifier = Verifier() if verifier is None else verifier
        self._budget = budget
        self._stepwise = stepwise
        rules = searched_rules(self._verifier.rules)
        self._translator = Translator(self._verifier) if self._verifier.rules.hypotheses else None
        fewer = [TRAIN] if len(TRAIN.rules) < len(rules.rules) and all(r in rules.rules for r in TRAIN.rules) else []
        self._tried = [{kind: Schemata(of, stepwise=kind) for kind in (True, False)} for of in (rules, *fewer)]

    @property
    def verifier(self) -> Verifier:
        """It checks every proof."""
        return self._verifier

    def prove(self, problem: Problem) -> Result:
        """Find a proof of an option's formula, or a countermodel for each.

        Raises:
            SignatureError: the problem uses a symbol in two ways.
            SolverError: the verifier's solver is missing or broken.
        """
        claims = [option.id for option in problem.options if option.label != UNCERTAIN]
        return self._result(problem, claims) if claims else GaveUp(Reason.NO_CLAIM)

    def continue_proof(
        self, problem: Problem, accepted: Sequence[ReferenceStep], *, claim: str | None = None
    ) -> Result:
        """Find the shortest continuation of a proof, from the premises and the conclusions of its steps.

        The steps of the result have ids that continue those of the given ones. Between two continuations with equally
        many steps, one that uses given conclusions is preferred. The search is the one of :meth:`prove`, with the
        same budget and the same measure: a given step costs nothing.

        Args:
            problem: the question.
            accepted: steps that pass all four checks in this order; the last does not bind an answer. Steps with a
                failed check are refused.
            claim: id of the option to prove; if None, the right option, or where it is unknown any that follows.

        Raises:
            ProofR1Error: a given step does not pass all checks, or has the id of an option; or the claim is the id of
                no option, or of the one labelled Uncertain.
            SignatureError: the problem uses a symbol in two ways.
            SolverError: the verifier's solver is missing or broken.

        Returns:
            As :meth:`prove`. :class:`Uncertain` has a countermodel of each claim in question.
        """
        claims = [option.id for option in problem.options if option.label != UNCERTAIN]
        wanted = claim if claim is not None else None if problem.is_uncertain else problem.answer
        if wanted is not None and wanted not in claims:
            raise ProofR1Error(f"{wanted!r} is not an option to prove; those of {problem.id!r} are {', '.join(claims)}")
        self._require_accepted(problem, accepted)
        if not claims:
            return GaveUp(Reason.NO_CLAIM)
        return self._result(problem, claims if wanted is None else [wanted], tuple(accepted))

    def _require_accepted(self, problem: Problem, accepted: Sequence[ReferenceStep]) -> None:
        advice = "give the steps before it"
        for step in accepted:
            if problem.option(step.id) is not None:
                raise ProofR1Error(f"step {step.id!r} has the id of an option, so no later step can bind it; {advice}")
        if accepted:
            for action in self._verifier.verify(problem, summary(accepted)).actions:
                if action.signal != VERIFIED:
                    why = "; ".join([finding.message for finding in action.findings])
                    raise ProofR1Error(f"step {action.id!r} was not accepted ({why}); {advice}")

    def _result(self, problem: Problem, claims: Sequence[str], accepted: tuple[ReferenceStep, ...] = ()) -> Result:
        start = _Start.of(problem, claims, accepted)
        questions = _Questions(self._verifier.oracle)
        found = self._found(start, questions)
        return replace(found, cost=questions.cost)

    def _found(self, start: _Start, questions: _Questions) -> Result:
        results: list[Result] = []
        for schemata in self._tried:
            results.append(self._attempt(start, schemata, questions))
            if not (isinstance(results[-1], GaveUp) and results[-1].reason in (Reason.BUDGET, Reason.NO_PROOF)):
                return results[-1]
        return self._translated(start, questions) or results[0]

    def _translated(self, start: _Start, questions: _Questions) -> Proved | None:
        """The engine's proof of a claim as steps of a catalogue that lets them stand under hypotheses."""
        if self._translator is None:
            return None
        known = tuple([one.formula for one in start.known])
        for claim in start.claims:
            answer = questions.entails(known, claim.formula)
            if not isinstance(answer, Entailed) or answer.proof is None:
                continue
            if (found := self._translator.inferences(answer.proof, known, claim.formula)) is None:
                continue
            inferences, goal = found
            steps = _written(start, claim, goal, inferences)
            report = self._verifier.verify(start.problem, summary((*start.accepted, *steps)))
            if report.rule_verified:
                return Proved(claim.id, steps, report, len(start.accepted), translated=True)
        return None

    def _attempt(self, start: _Start, schemata: _ByKind, questions: _Questions) -> Result:
        """The result with one set of rules."""
        budget = Budget(self._budget)
        try:
            for stepwise in (True, False) if self._stepwise else (False,):
                if found := self._search(start, schemata, budget, stepwise=stepwise):
                    return found
            # No proof was found where formulas are taken by their parts: look closer, if there is anything to find.
            claims = [claim for claim in start.claims if not isinstance(questions.follows(start, claim), Refuted)]
            if not claims:
                return _without_proof(start, Reason.NO_PROOF, questions)
            found = self._search(replace(start, claims=tuple(claims)), schemata, budget, stretched=True)
            return found or _without_proof(start, Reason.NO_PROOF, questions)
        except BudgetSpentError:
            return _without_proof(start, Reason.BUDGET, questions)
        finally:
            questions.cost += budget.spent

    def _search(
        self,
        start: _Start,
        schemata: _ByKind,
        budget: Budget,
        *,
        stepwise: bool = False,
        stretched: bool = False,
    ) -> Proved | GaveUp | None:
        """A verified proof, or None. Steps that a check does not accept are not taken again."""
        refused: set[Refusal] = set()
        while True:
            search = Search(
                [one.formula for one in start.known],
                [claim.formula for claim in start.claims],
                schemata[stepwise],
                self._verifier.oracle,
                budget,
                stepwise=stepwise,
                stretched=stretched,
                refused=refused,
            )
            goal = search.run()
            if goal is None:
                return None
            claim = next(claim for claim in start.claims if search.states(goal, claim.formula))
            inferences = list(search.proof(goal))
            steps = _written(start, claim, goal, inferences)
            report = self._verifier.verify(start.problem, summary((*start.accepted, *steps)))
            if report.consistency == "inconsistent":
                return GaveUp(Reason.INCONSISTENT)
            given = len(start.accepted)
            failing = [index for index, action in enumerate(report.actions[given:]) if action.signal != VERIFIED]
            if not failing:
                return Proved(claim.id, steps, report, given)
            if failing[0] == len(inferences):
                return None
            refused.add(search.refusal(inferences[failing[0]][1]))


class _Questions:
    """The questions about a problem beside the search. ``cost`` is theirs and the search's, in the search's steps."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.cost = 0

    def entails(self, dependencies: tuple[Formula, ...], conclusion: Formula) -> Answer:
        return self._paid(self._oracle.entails(dependencies, conclusion))

    def inconsistent(self, formulas: tuple[Formula, ...]) -> Answer:
        return self._paid(self._oracle.inconsistent(formulas))

    def follows(self, start: _Start, claim: Option) -> Answer:
        return self.entails(_premises(start.problem), claim.formula)

    def _paid(self, answer: Answer) -> Answer:
        self.cost += QUESTION + answer.steps // SOLVER_STEPS
        return answer


def _without_proof(start: _Start, reason: Reason, questions: _Questions) -> Uncertain | GaveUp:
    answers = {claim.id: questions.follows(start, claim) for claim in start.claims}
    models = {name: a.model for name, a in answers.items() if isinstance(a, Refuted) and a.model is not None}
    if len(models) == len(start.claims):
        return Uncertain(models)
    entailed = [name for name, answer in answers.items() if isinstance(answer, Entailed)]
    if entailed and isinstance(questions.inconsistent(_premises(start.problem)), Entailed):
        return GaveUp(Reason.INCONSISTENT)
    if entailed:
        return GaveUp(reason, entailed[0])
    return GaveUp(Reason.UNDECIDED, next(n for n, a in answers.items() if n not in models))


@dataclass(frozen=True, slots=True)
class _Start:
    """What a search starts from.

    Attributes:
        problem: with its sorts.
        claims: the options in question.
        accepted: the steps that were given.
        known: their conclusions and the premises. The conclusions come first: of two ways with equally many steps, the
            search takes the one that it finds first.
    """

    problem: Problem
    claims: tuple[Option, ...]
    accepted: tuple[ReferenceStep, ...]
    known: tuple[Premise, ...]

    @classmethod
    def of(cls, problem: Problem, claims: Sequence[str], accepted: tuple[ReferenceStep, ...]) -> _Start:
        concluded = tuple([Premise(step.id, parse_formula(step.conclusion)) for step in accepted])
        extended, _ = with_sorts(replace(problem, premises=(*concluded, *problem.premises)))
        stated = extended.premises[len(concluded) :]
        options = tuple([option for option in extended.options if option.id in claims])
        return cls(replace(extended, premises=stated), options, accepted, extended.premises)


def _premises(problem: Problem) -> tuple[Formula, ...]:
    return tuple([premise.formula for premise in problem.premises])


def _written(
    start: _Start, claim: Option, goal: int, inferences: list[tuple[int, Inference]]
) -> tuple[ReferenceStep, ...]:
    """The steps s1, s2, … and the one that binds the claim."""
    names = {number: known.id for number, known in enumerate(start.known)}
    taken = {*names.values(), *[option.id for option in start.problem.options]}
    fresh = fresh_ids([step.id for step in start.accepted], taken)
    steps: list[ReferenceStep] = []
    for number, inference in inferences:
        names[number] = next(fresh)
        dependencies = tuple([names[dependency] for dependency in inference.dependencies])
        steps.append(ReferenceStep(names[number], dependencies, show(inference.conclusion), inference.rule))
    return (*steps, ReferenceStep(claim.id, (names[goal],), show(claim.formula), GOAL_BINDING))


def fresh_ids(before: Sequence[str], taken: Set[str]) -> Iterator[str]:
    """Ids that continue those of earlier steps, without those that are taken.

    The last number in the last id counts on, with its zeros; after ids without a number come s1, s2, …

    >>> from itertools import islice
    >>> list(islice(fresh_ids(["step_08", "step_09"], {"step_11"}), 2))
    ['step_10', 'step_12']
    """
    found = _NUMBERED.fullmatch(before[-1]) if before else None
    head, digits, tail = ("s", "0", "") if found is None else found.groups()
    numbers = count(int(digits) + 1)
    names = (f"{head}{number:0{len(digits)}}{tail}" for number in numbers)
    return (name for name in names if name not in taken)


_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)", re.DOTALL)
"""An id, split around its last number."""
