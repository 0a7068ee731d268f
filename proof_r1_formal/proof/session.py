"""Verification of one action at a time: push an action to get its verdicts, or remove the last action.

In: a problem, then actions as they are written. Out: a :class:`~proof_r1_formal.proof.report.StepReport` for each, and
at any time the report on all of them. :meth:`Verifier.verify` pushes the actions of a completion to such a session.

A session keeps two maps that start with the premises, the *semantic state* and the stricter *rule state*. An action is
admitted to the first if it is well formed and entailed by its dependencies, which must be admitted. It is admitted to
the second if it is also an instance of its rule over that state. A later action can use only what was admitted.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import structs

from proof_r1_formal.data.problem import UNCERTAIN, Option, Problem
from proof_r1_formal.engine.oracle import QUESTION
from proof_r1_formal.kernel.answer import Answer
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.signature import SignatureBuilder
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, Iff, Not
from proof_r1_formal.proof.action import Action
from proof_r1_formal.proof.answer import Openness, answer_findings, binds, is_verified, selected_option
from proof_r1_formal.proof.closure import Closure, closure_of
from proof_r1_formal.proof.judge import Judge
from proof_r1_formal.proof.report import StepReport, TraceReport
from proof_r1_formal.proof.sorts import conclusion_with_sorts
from proof_r1_formal.proof.step import State, StepChecker

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


class _Pushed(msgspec.Struct, frozen=True):
    """An action that was pushed, its report, and what was there before it."""

    action: Action
    step: StepReport
    answer: Answer | None
    symbols: SignatureBuilder
    mark: tuple[int, int]
    named: bool
    """Whether it brought a new id."""


class VerifierSession:
    """Verifies the actions of one trace one at a time. The reports equal those of ``Verifier.verify``, byte for byte.

    Removing an action also restores the budget. The report depends only on the present actions, not on earlier calls.

    >>> from proof_r1_formal.data.problem import Premise, Problem, three_way_options
    >>> from proof_r1_formal.text.parse import parse_formula
    >>> from proof_r1_formal.proof.action import read_action
    >>> premises = (Premise("h1", parse_formula("P(a) ∧ Q(a)")),)
    >>> session = VerifierSession(Problem("1", premises, three_way_options(parse_formula("P(a)"))))
    >>> step = '{"id": "s1", "dependencies": ["h1"], "conclusion": "P(a)", "rule": "CONJUNCTION_ELIMINATION"}'
    >>> session.push(read_action(step)).signal
    1.0
    """

    def __init__(self, problem: Problem, judge: Judge | None = None) -> None:
        """A session without actions.

        Args:
            problem: the question with its formal premises.
            judge: mostly a ``Verifier``, which several sessions may share; one with default settings if None.

        Raises:
            SignatureError: the problem itself uses a symbol in two ways.
        """
        self._judge = Judge() if judge is None else judge
        self._context = self._judge.context(problem)
        self._oracle = self._judge.oracle.with_budget(TRACE_STEPS, "trace")
        self._oracle.charge(QUESTION + self._context.contradiction.steps)
        self._checker = StepChecker(self._judge, self._context, self._oracle)
        self._state = State(self._context)
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
        self._settle(last=False)
        return self._push(conclusion_with_sorts(action, self._context.symbols), last=True)

    def extend(self, actions: Sequence[Action]) -> None:
        """Push several actions; each is checked once."""
        if actions:
            self._settle(last=False)
        for number, action in enumerate(actions, 1):
            self._push(conclusion_with_sorts(action, self._context.symbols), last=number == len(actions))

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
        self._settle(last=True)
        steps = tuple([pushed.step for pushed in self._pushed])
        spent = self._oracle.spent is not None
        return SessionState(dict(self._state.semantic), dict(self._state.rule), steps, spent)

    @property
    def entailments(self) -> tuple[tuple[Query, Answer], ...]:
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
    def grounds(self) -> tuple[tuple[Query, Answer], ...]:
        """The questions that the verdict on the answer rests on, with their answers: those of the actions, whether the
        premises have a model, whether the last conclusion is the option's, and whether the premises leave it open."""
        premises = tuple(self._context.premises.values())
        grounds = [*self.entailments, (Query(premises, BOTTOM), self._context.contradiction)]
        mark = self._oracle.mark()
        option, uncertain = self._answer(parsed=True)
        last = self._pushed[-1].action.formula if self._pushed else None
        asked: list[Query] = []
        if option is not None and last is not None and last is not option.formula:
            asked.append(Query((), Iff(last, option.formula)))
        if option is not None and uncertain is not None:
            asked += [Query(premises, formula) for formula in (option.formula, Not(option.formula))]
        grounds += [(query, self._oracle.ask(query.dependencies, query.conclusion).answer) for query in asked]
        self._oracle.rewind(mark)
        return tuple(grounds)

    def price(self, *, parsed: bool = True) -> int:
        """The cost of the actions and the answer, in steps. Above ``TRACE_STEPS``, later checks stay undecided."""
        self._settle(last=True)
        mark = self._oracle.mark()
        self._answer(parsed)
        price = self._oracle.charged
        self._oracle.rewind(mark)
        return price

    def report(self, *, sample: int = 0, parsed: bool = True) -> TraceReport:
        """The report on a completion that ends after the present actions.

        Args:
            sample: number of the completion among those of the problem.
            parsed: whether its summary is one JSON array and nothing else.
        """
        self._settle(last=True)
        mark = self._oracle.mark()
        option, uncertain = self._answer(parsed)
        self._oracle.rewind(mark)  # asked again by the next report, and by none of the actions
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
            rules=self._judge.rule_system,
            solver=self._oracle.solver.name,
            evidence=self._oracle.evidence,
        )

    # -- the stack ----------------------------------------------------------------------------------------------------

    def _push(self, action: Action, *, last: bool) -> StepReport:
        state, mark = self._state, self._oracle.mark()
        terminal = last and self._binds(action)
        verdict = self._checker.check(action, state, terminal=terminal)
        step = verdict.report(action, terminal=terminal)
        named = action.id is not None and action.id not in state.ids
        self._pushed.append(_Pushed(action, step, verdict.answer, state.symbols, mark, named))
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

    def _settle(self, *, last: bool) -> None:
        """Ensure that the last action was checked as what it is: one that ends the trace, or one that does not."""
        if self._pushed:
            pushed = self._pushed[-1]
            if pushed.step.terminal != (last and self._binds(pushed.action)):
                self._push(self._undo().action, last=last)

    def _binds(self, action: Action) -> bool:
        return binds(self._context.problem, action, self._judge.rule_of(action))

    # -- the answer ---------------------------------------------------------------------------------------------------

    def _answer(self, parsed: bool) -> tuple[Option | None, Openness | None]:
        """The option that is selected, and for the option Uncertain, whether the premises leave the goal open."""
        last = self._pushed[-1].action if self._pushed and parsed else None
        by_formula = self._judge.evaluation
        option = selected_option(self._context.problem, last, self._oracle, by_formula=by_formula)
        if option is None or option.label != UNCERTAIN:
            return option, None
        return option, self._context.uncertain(option.formula, self._oracle)

    def _names(self, closure: Closure) -> tuple[str, ...]:
        return (*closure.premises, *[self._pushed[index].action.id or "" for index in closure.actions])
