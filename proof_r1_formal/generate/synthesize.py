"""Proof synthesis: a problem to a short proof of its answer that passes all four checks, or the reason for a failure.

In: a problem and a verifier, whose rule catalogue and oracle count. Out: :class:`Proved`, :class:`Uncertain` with a
countermodel for each claim, or :class:`GaveUp`. The label of the problem is not used. Every proof was verified as a
completion: each action of one that the search found has signal 1. The budget is counted in the search's own steps, so
the result depends neither on the machine nor on its load.

A catalogue that lets steps stand under hypotheses (``COMPLETE``) has rules that the search does not try. Where the
search gives up, the engine's proof is translated (``generate.translation``). Such a proof is rule-verified, but it may
have steps that ProofCheck does not count as progress: if the claim is a logical truth, all of them.

More rules mean more steps to try. Where a catalogue that contains the rules of ``TRAIN`` leads to no proof within the
budget, the search tries those rules alone, with a budget of their own. So more rules lose no proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from typing import TypeAlias

from proof_r1_formal.data.problem import UNCERTAIN, Option, Problem, ReferenceStep
from proof_r1_formal.engine.budget import Budget, BudgetSpentError
from proof_r1_formal.generate.openings import Schemata
from proof_r1_formal.generate.search import Inference, Refusal, Search
from proof_r1_formal.generate.translation import Translator, searched_rules
from proof_r1_formal.kernel.answer import Answer, Entailed, Refuted
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.sorts import with_sorts
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.text.show import show

BUDGET = 100_000
"""Default budget of a problem, in the units of ``generate.search.Budget``."""


@dataclass(frozen=True, slots=True)
class Proved:
    """The premises entail an option, by its id: the steps of a proof, the terminal one included, and their verdicts.

    ``translated``: whether they are the engine's proof in other words, and not found by the search.
    """

    answer: str
    steps: tuple[ReferenceStep, ...]
    report: TraceReport
    translated: bool = False


@dataclass(frozen=True, slots=True)
class Uncertain:
    """The premises entail no option; for the id of each a model of the premises in which its formula is false."""

    models: Mapping[str, Structure]


class Reason(StrEnum):
    """Why neither a proof nor all countermodels were found."""

    NO_PROOF = "a claim follows, but the search found no way to it by the rules"
    BUDGET = "the budget is spent"
    INCONSISTENT = "the premises contradict each other"
    UNDECIDED = "whether a claim follows stayed undecided"
    NO_CLAIM = "no option says anything but that the question is open"


@dataclass(frozen=True, slots=True)
class GaveUp:
    """Neither a proof nor all countermodels were found; the detail is the option concerned, if there is one."""

    reason: Reason
    detail: str = ""


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

    def prove(self, problem: Problem) -> Result:
        """Find a proof of an option's formula, or a countermodel for each.

        Raises:
            SignatureError: the problem uses a symbol in two ways.
            SolverError: the verifier's solver is missing or broken.
        """
        problem, _ = with_sorts(problem)
        claims = tuple([option for option in problem.options if option.label != UNCERTAIN])
        if not claims:
            return GaveUp(Reason.NO_CLAIM)
        results: list[Result] = []
        for schemata in self._tried:
            results.append(self._attempt(problem, claims, schemata))
            if not (isinstance(results[-1], GaveUp) and results[-1].reason in (Reason.BUDGET, Reason.NO_PROOF)):
                return results[-1]
        return self._translated(problem, claims) or results[0]

    def _translated(self, problem: Problem, claims: tuple[Option, ...]) -> Proved | None:
        """The engine's proof of a claim as steps of a catalogue that lets them stand under hypotheses."""
        for claim in claims if self._translator is not None else ():
            answer = self._follows(problem, claim)
            if self._translator is not None and isinstance(answer, Entailed) and answer.proof is not None:
                found = self._translator.inferences(answer.proof, _premises(problem), claim.formula)
                if found is not None:
                    inferences, goal = found
                    steps = _written(problem, claim, goal, inferences)
                    report = self._verifier.verify(problem, summary(steps))
                    if report.rule_verified:
                        return Proved(claim.id, steps, report, translated=True)
        return None

    def _attempt(self, problem: Problem, claims: tuple[Option, ...], schemata: _ByKind) -> Result:
        """The result with one set of rules."""
        budget = Budget(self._budget)
        try:
            for stepwise in (True, False) if self._stepwise else (False,):
                if found := self._search(problem, claims, schemata, budget, stepwise=stepwise):
                    return found
            # No proof was found where formulas are taken by their parts: look closer, if there is anything to find.
            following = tuple([claim for claim in claims if not isinstance(self._follows(problem, claim), Refuted)])
            found = self._search(problem, following, schemata, budget, stretched=True) if following else None
            return found or self._without_proof(problem, claims, Reason.NO_PROOF)
        except BudgetSpentError:
            return self._without_proof(problem, claims, Reason.BUDGET)

    def _without_proof(self, problem: Problem, claims: tuple[Option, ...], reason: Reason) -> Uncertain | GaveUp:
        answers = {claim.id: self._follows(problem, claim) for claim in claims}
        models = {name: a.model for name, a in answers.items() if isinstance(a, Refuted) and a.model is not None}
        if len(models) == len(claims):
            return Uncertain(models)
        entailed = [name for name, answer in answers.items() if isinstance(answer, Entailed)]
        if len(entailed) > 1 and isinstance(self._verifier.oracle.inconsistent(_premises(problem)), Entailed):
            return GaveUp(Reason.INCONSISTENT)
        if entailed:
            return GaveUp(reason, entailed[0])
        return GaveUp(Reason.UNDECIDED, next(n for n, a in answers.items() if n not in models))

    def _follows(self, problem: Problem, claim: Option) -> Answer:
        return self._verifier.oracle.entails(_premises(problem), claim.formula)

    def _search(
        self,
        problem: Problem,
        claims: tuple[Option, ...],
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
                _premises(problem),
                [claim.formula for claim in claims],
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
            claim = next(claim for claim in claims if search.states(goal, claim.formula))
            inferences = list(search.proof(goal))
            steps = _written(problem, claim, goal, inferences)
            report = self._verifier.verify(problem, summary(steps))
            if report.consistency == "inconsistent":
                return GaveUp(Reason.INCONSISTENT)
            failing = [index for index, action in enumerate(report.actions) if action.signal != VERIFIED]
            if not failing:
                return Proved(claim.id, steps, report)
            if failing[0] == len(inferences):
                return None
            refused.add(search.refusal(inferences[failing[0]][1]))


def _premises(problem: Problem) -> tuple[Formula, ...]:
    return tuple([premise.formula for premise in problem.premises])


def _written(
    problem: Problem, claim: Option, goal: int, inferences: list[tuple[int, Inference]]
) -> tuple[ReferenceStep, ...]:
    """The steps s1, s2, … and the one that binds the claim."""
    names = {number: premise.id for number, premise in enumerate(problem.premises)}
    taken = {*names.values(), *[option.id for option in problem.options]}
    fresh = (name for name in (f"s{number}" for number in count(1)) if name not in taken)
    steps: list[ReferenceStep] = []
    for number, inference in inferences:
        names[number] = next(fresh)
        dependencies = tuple([names[dependency] for dependency in inference.dependencies])
        steps.append(ReferenceStep(names[number], dependencies, show(inference.conclusion), inference.rule))
    return (*steps, ReferenceStep(claim.id, (names[goal],), show(claim.formula), GOAL_BINDING))
