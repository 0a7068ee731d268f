"""The verification pass: the actions of a trace are checked one after the other, and the last can be removed again.

In: a problem, then actions as they are written. Out: a :class:`~proof_r1_formal.proof.report.StepReport` for each, and
at any time the report on all of them. A completion is verified by a session that gets all its actions.

A session keeps two maps that start with the premises, the *semantic state* and the stricter *rule state*. An action is
admitted to the first if it is well formed and entailed by its dependencies, which must be admitted. It is admitted to
the second if it is also an instance of its rule over that state. A later action can use only what was admitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
from msgspec import structs

from proof_r1_formal.data.problem import UNCERTAIN, Option
from proof_r1_formal.engine.oracle import QUESTION, Oracle
from proof_r1_formal.kernel.answer import Answer, Query
from proof_r1_formal.kernel.signature import SignatureBuilder
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, Iff, Not
from proof_r1_formal.proof.action import Action
from proof_r1_formal.proof.answer import Openness, answer_findings, binds, is_verified, selected_option
from proof_r1_formal.proof.closure import Closure, closure_of
from proof_r1_formal.proof.context import ProblemContext, conclusion_with_sorts
from proof_r1_formal.proof.report import StepReport, TraceReport
from proof_r1_formal.proof.step import RuleChecker, State, StepChecker

TRACE_STEPS = 1_000_000
"""Budget of all questions and rule checks of a trace together; later checks stay undecided."""


class SessionState(msgspec.Struct, frozen=True):
    """The formulas that the next action may use, and the reports on the actions before it.

    Attributes:
        semantic: id -> formula of the premises and of the actions that are well formed and entailed.
        rule: the part of ``semantic`` that a rule-verified step may use: premises and instances of their rules.
        steps: the report on each action.
        spent: whether the budget of the trace is spent, so later checks stay undecided.
    """

    semantic: dict[str, Formula]
    rule: dict[str, Formula]
    steps: tuple[StepReport, ...]
    spent: bool


Obligation: TypeAlias = tuple[Query, Answer]
"""A question that a verdict rests on, and its answer."""


class _Pushed(msgspec.Struct, frozen=True):
    """An action that was pushed, its report, and what was there before it."""

    action: Action
    fits: bool
    """Whether the problem has every symbol of the conclusion, used in the same way."""
    step: StepReport
    answer: Answer | None
    symbols: SignatureBuilder
    mark: tuple[int, int]
    named: bool
    """Whether it brought a new id."""


class _Ending(msgspec.Struct, frozen=True):
    """What follows from a trace that ends here.

    Attributes:
        option: that is selected.
        uncertain: for the option Uncertain, whether the premises leave the goal open.
        cost: of the actions and the answer.
        obligations: the questions that the answer rests on, besides those of the actions, if they were wanted.
    """

    option: Option | None
    uncertain: Openness | None
    cost: int
    obligations: tuple[Obligation, ...]


class Session:
    """The state of one trace, with a stack of its actions, and the budget that pays for their checks.

    Removing an action also restores the budget. The report depends only on the present actions, not on earlier calls.

    Args:
        context: of the problem.
        rules: of the rule check.
        oracle: answers the questions; the session has a budget of its own.
        evaluation: whether a terminal action without the id of an option may select the option with its formula.
    """

    def __init__(self, context: ProblemContext, rules: RuleChecker, oracle: Oracle, *, evaluation: bool) -> None:
        self._context = context
        self._rules = rules
        self._oracle = oracle.with_budget(TRACE_STEPS, "trace")
        self._oracle.charge(QUESTION + context.contradiction.steps)
        self._checker = StepChecker(context, rules, self._oracle)
        self._evaluation = evaluation
        self._state = State(context)
        self._pushed: list[_Pushed] = []

    def push(self, action: Action) -> StepReport:
        """Check an action that follows the present ones.

        The action counts as the last one, so it is terminal if it binds the answer. If another action is pushed, it is
        checked again as a non-terminal action.

        Args:
            action: as read from the completion.

        Raises:
            SolverError: the solver is missing or broken.
        """
        self._recheck_last(last=False)
        return self._push(*conclusion_with_sorts(action, self._context.symbols), last=True)

    def extend(self, actions: Sequence[Action]) -> None:
        """Push several actions; each is checked once."""
        if actions:
            self._recheck_last(last=False)
        for number, action in enumerate(actions, 1):
            self._push(*conclusion_with_sorts(action, self._context.symbols), last=number == len(actions))

    def pop(self) -> Action:
        """Remove the last action, and return it with the problem's sorts written into its conclusion.

        Raises:
            IndexError: there is none.
        """
        if not self._pushed:
            raise IndexError("the session has no action to take back")
        return self._undo().action

    @property
    def state(self) -> SessionState:
        """The state that the next action is checked in."""
        self._recheck_last(last=True)
        steps = tuple([pushed.step for pushed in self._pushed])
        spent = self._oracle.spent is not None
        return SessionState(dict(self._state.semantic), dict(self._state.rule), steps, spent)

    @property
    def entailments(self) -> tuple[Obligation, ...]:
        """The entailment questions of the actions, with their answers."""
        known = self._state.semantic
        return tuple(
            [
                (Query(tuple([known[name] for name in action.dependencies]), action.formula), pushed.answer)
                for pushed in self._pushed
                if pushed.answer is not None and (action := pushed.action).formula is not None
            ]
        )

    @property
    def obligations(self) -> tuple[Obligation, ...]:
        """The questions that the verdict on the answer rests on, with their answers: those of the actions, whether the
        premises have a model, whether the last conclusion is the option's, and whether the premises leave it open."""
        return (*self.entailments, *self._end(parsed=True, obligations=True).obligations)

    def cost(self, *, parsed: bool = True) -> int:
        """The cost of the actions and the answer, in steps. Above ``TRACE_STEPS``, later checks stay undecided."""
        self._recheck_last(last=True)
        return self._end(parsed=parsed).cost

    def report(self, *, sample: int = 0, parsed: bool = True) -> TraceReport:
        """The report on a completion that ends after the present actions.

        Args:
            sample: number of the completion among those of the problem.
            parsed: whether its summary is one JSON array and nothing else.
        """
        self._recheck_last(last=True)
        ending = self._end(parsed=parsed)
        option, uncertain = ending.option, ending.uncertain
        premises, steps = self._context.premises, [pushed.step for pushed in self._pushed]
        terminal = len(steps) - 1 if steps and steps[-1].terminal else None
        declared = [(step.id, step.dependencies) for step in steps]
        closure = closure_of(premises, declared, terminal)
        used = [(step.id, step.dependencies if step.used is None else step.used) for step in steps]
        used_closure = closure if used == declared else closure_of(premises, used, terminal)
        for index in closure.actions:
            if not steps[index].in_closure:
                steps[index] = structs.replace(steps[index], in_closure=True)
        names = self._names(closure)
        findings = tuple(answer_findings(option, steps, self._context.contradiction, uncertain))
        reference = self._context.problem.answer
        return TraceReport(
            problem_id=self._context.problem.id,
            sample=sample,
            parsed=parsed,
            answer=None if option is None else option.id,
            answer_correct=None if reference is None else option is not None and option.id == reference,
            actions=tuple(steps),
            closure=names,
            used_closure=names if used_closure is closure else self._names(used_closure),
            consistency=self._context.consistency,
            uncertain=uncertain,
            verified=is_verified(findings),
            rule_verified=not findings and uncertain is None,
            findings=findings,
            rules=self._rules.system,
            solver=self._oracle.solver.name,
            evidence=self._oracle.evidence,
        )

    # -- the stack ----------------------------------------------------------------------------------------------------

    def _push(self, action: Action, fits: bool, *, last: bool) -> StepReport:
        state, mark = self._state, self._oracle.mark()
        terminal = last and self._binds(action)
        verdict = self._checker.check(action, state, fits=fits, terminal=terminal)
        step = verdict.report(action, terminal=terminal)
        named = action.id is not None and action.id not in state.ids
        self._pushed.append(_Pushed(action, fits, step, verdict.answer, state.symbols, mark, named))
        if action.id is not None:
            state.ids.add(action.id)
            if verdict.semantic and action.formula is not None and verdict.symbols is not None:
                state.symbols = verdict.symbols
                state.semantic[action.id] = action.formula
                state.admitted.add(action.id, action.formula)
                if verdict.rule:
                    state.rule[action.id] = action.formula
        return step

    def _undo(self) -> _Pushed:
        state, pushed = self._state, self._pushed.pop()
        action = pushed.action
        if action.id is not None:
            if pushed.step.semantic and action.formula is not None:
                del state.semantic[action.id]
                state.admitted.remove_last(action.formula)
                if pushed.step.rule:
                    del state.rule[action.id]
            if pushed.named:
                state.ids.remove(action.id)
        state.symbols = pushed.symbols
        self._oracle.rewind(pushed.mark)
        return pushed

    def _recheck_last(self, *, last: bool) -> None:
        """Ensure that the last action was checked as what it is: one that ends the trace, or one that does not."""
        if self._pushed:
            pushed = self._pushed[-1]
            if pushed.step.terminal != (last and self._binds(pushed.action)):
                self._undo()
                self._push(pushed.action, pushed.fits, last=last)

    def _binds(self, action: Action) -> bool:
        return binds(self._context.problem, action, self._rules.rule_of(action))

    # -- the answer ---------------------------------------------------------------------------------------------------

    def _end(self, *, parsed: bool, obligations: bool = False) -> _Ending:
        """The answer of the present actions, if the trace ends here. No later action pays for its questions."""
        mark = self._oracle.mark()
        last = self._pushed[-1].action if self._pushed and parsed else None
        option = selected_option(self._context.problem, last, self._oracle, by_formula=self._evaluation)
        uncertain = None
        if option is not None and option.label == UNCERTAIN:
            uncertain = self._context.uncertain(option.formula, self._oracle)
        found = self._obligations(last, option, uncertain) if obligations else ()
        ending = _Ending(option, uncertain, self._oracle.charged, found)
        self._oracle.rewind(mark)
        return ending

    def _obligations(
        self, last: Action | None, option: Option | None, uncertain: Openness | None
    ) -> tuple[Obligation, ...]:
        premises = tuple(self._context.premises.values())
        asked: list[Query] = []
        conclusion = None if last is None else last.formula
        if option is not None and conclusion is not None and conclusion is not option.formula:
            asked.append(Query((), Iff(conclusion, option.formula)))
        if option is not None and uncertain is not None:
            asked += [Query(premises, formula) for formula in (option.formula, Not(option.formula))]
        answers = [(query, self._oracle.ask(query.dependencies, query.conclusion).answer) for query in asked]
        return ((Query(premises, BOTTOM), self._context.contradiction), *answers)

    def _names(self, closure: Closure) -> tuple[str, ...]:
        return (*closure.premises, *[self._pushed[index].action.id or "" for index in closure.actions])
