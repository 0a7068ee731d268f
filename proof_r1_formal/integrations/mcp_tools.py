"""The work of the MCP server's tools: an agent's question as plain data to a typed result and its reasons as text.

In: formulas and steps as an agent writes them. Out: an :class:`Answered`, whose result has named fields and whose text
says the same in words. These functions run in worker processes, and import nothing of MCP. Every question is paid from
a counted budget, and every size has a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias, assert_never

import msgspec

from proof_r1_formal.data.native import OptionRecord, PremiseRecord, ProblemRecord, from_json
from proof_r1_formal.data.problem import FALSE, LABELS, THREE_WAY, TRUE, Problem, ReferenceStep
from proof_r1_formal.errors import ParseError, ProofR1Error
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Uncertain
from proof_r1_formal.integrations.mcp_results import (
    Answered,
    Certified,
    Entailment,
    ParsedFormula,
    ProofCheck,
    ProofFound,
    StepVerdict,
    reasons_of,
    step_check,
    step_in_words,
)
from proof_r1_formal.kernel.answer import Entailed, Refuted, Unknown
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Not
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.proof.report import ModelReport
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier, VerifierSession
from proof_r1_formal.render import smtlib
from proof_r1_formal.rules.catalogue import RuleSystem, catalogue
from proof_r1_formal.rules.schema import GOAL_BINDING
from proof_r1_formal.serve import desk
from proof_r1_formal.serve.messages import CertifyReply
from proof_r1_formal.text.conventions import NotationName
from proof_r1_formal.text.parse import parse_formula as parse
from proof_r1_formal.text.repair import Repaired
from proof_r1_formal.text.show import show

MAX_PREMISES = 256
"""The most premises of a question."""
MAX_STEPS = 256
"""The most steps of a proof."""
MAX_TEXT = 8192
"""The longest formula, name or rule, in characters."""
PROOF_BUDGET = 100_000
"""The most steps of a search for a proof; also the default."""
QUESTION_BUDGET = 250_000
"""The most steps of a question whether a conclusion follows; also the default."""

AnswerLabel: TypeAlias = Literal["True", "False", "Uncertain"]


# -- the tools --------------------------------------------------------------------------------------------------------


def check_proof(
    premises: Sequence[str], goal: str, steps: Sequence[ReferenceStep], answer: AnswerLabel | None, rules: RuleSystem
) -> Answered[ProofCheck]:
    """Check all steps of a proof and its answer.

    Args:
        premises: formulas, which get the ids h1, h2, …
        goal: the formula in question.
        steps: of the proof.
        answer: if given, a last step is added that states this answer; it uses the last of ``steps``.
        rules: name of the rule catalogue.

    Raises:
        ProofR1Error: a formula cannot be read, or a limit is exceeded.
    """
    problem = _problem(premises, goal)
    session = VerifierSession(problem, _verifier(rules))
    trace = read_completion(summary(_with_answer(problem, steps, answer)))
    session.extend(trace.actions)
    report = session.report(parsed=trace.parsed)
    checks = tuple(map(step_check, report.actions))
    by_no_rule = report.answer if report.verified and report.answer == THREE_WAY["uncertain"] else None
    failing = [check.id for check in checks if not check.accepted and check.id != by_no_rule]
    result = ProofCheck(
        verified=report.verified,
        rule_verified=report.rule_verified,
        answer=None if report.answer is None else LABELS[report.answer],
        first_failing=failing[0] if failing else None,
        steps=checks,
        reasons=reasons_of(report.findings),
        cost=session.cost(parsed=trace.parsed),
    )
    says = "states no answer" if result.answer is None else f"answers {result.answer}"
    level = report.level if result.answer is not None else "nothing to verify"
    lines = [
        f"The proof {says}: {level}.",
        *[f"  {reason.code}: {reason.message}" for reason in result.reasons],
        *[step_in_words(check) for check in checks],
    ]
    return Answered(result, "\n".join(lines))


def check_step(
    premises: Sequence[str], goal: str, steps: Sequence[ReferenceStep], step: ReferenceStep, rules: RuleSystem
) -> Answered[StepVerdict]:
    """Check one step after others, as a proof is written.

    Args:
        premises, goal, rules: as in :func:`check_proof`.
        steps: before it; those that are not entailed cannot be used.
        step: to be checked.

    Raises:
        ProofR1Error: as :func:`check_proof`.
    """
    problem = _problem(premises, goal)
    session = VerifierSession(problem, _verifier(rules))
    actions = read_completion(summary(_bounded([*steps, step]))).actions
    session.extend(actions[:-1])
    usable = tuple(session.state.semantic)
    check = step_check(session.push(actions[-1]))
    return Answered(StepVerdict(check, usable, session.cost()), step_in_words(check))


def prove(premises: Sequence[str], goal: str, budget: int, rules: RuleSystem) -> Answered[ProofFound]:
    """Search for a short proof of the goal or its negation, or a countermodel of each.

    Args:
        premises, goal, rules: as in :func:`check_proof`.
        budget: the most steps of the search.

    Raises:
        ProofR1Error: as :func:`check_proof`.
    """
    _require(1 <= budget <= PROOF_BUDGET, f"budget must be from 1 to {PROOF_BUDGET}, but is {budget}")
    problem = _problem(premises, goal)
    match Prover(_verifier(rules), budget=budget).prove(problem):
        case Proved(answer, steps, _, cost=cost):
            lines = [f"{step.id}: {step.conclusion}  [{step.rule}: {', '.join(step.dependencies)}]" for step in steps]
            label = LABELS[answer]
            text = "\n".join([f"Proved: the answer is {label}.", *lines])
            return Answered(ProofFound("proved", label, steps, {}, "", cost), text)
        case Uncertain(models, cost=cost):
            found = {LABELS[name]: ModelReport.of(model).in_words() for name, model in models.items()}
            lines = [f"a model of the premises in which the answer {name} is false: {m}" for name, m in found.items()]
            text = "\n".join(["Uncertain: neither the goal nor its negation follows.", *lines])
            return Answered(ProofFound("uncertain", None, (), found, "", cost), text)
        case GaveUp(reason, detail, cost=cost):
            why = f"{reason.value}{f' ({LABELS.get(detail, detail)})' if detail else ''}"
            return Answered(ProofFound("gave up", None, (), {}, why, cost), f"No proof was found: {why}.")
        case other:
            assert_never(other)


def countermodel(premises: Sequence[str], conclusion: str, budget: int) -> Answered[Entailment]:
    """Search for a structure in which the premises hold and the conclusion does not.

    Args:
        premises: formulas.
        conclusion: a formula.
        budget: the most steps of the question.

    Raises:
        ProofR1Error: as :func:`check_proof`.
    """
    _require(1 <= budget <= QUESTION_BUDGET, f"budget must be from 1 to {QUESTION_BUDGET}, but is {budget}")
    verifier = _verifier("train")
    problem = verifier.context(_problem(premises, conclusion)).problem  # with sorts
    oracle = verifier.oracle.with_budget(budget, "question")
    formulas = tuple([premise.formula for premise in problem.premises])
    answer = oracle.entails(formulas, problem.options[0].formula)
    match answer:
        case Entailed():
            contradictory = isinstance(oracle.inconsistent(formulas), Entailed)
            words = "contradict each other, so they entail everything" if contradictory else "entail it"
            return Answered(Entailment("entailed", None, {}, {}, {}, "", oracle.charged), f"The premises {words}.")
        case Refuted(model=model) if model is not None:
            found = ModelReport.of(model)
            words = found.in_words()
            result = Entailment(
                "countermodel", words, found.domains, found.predicates, found.functions, "", oracle.charged
            )
            return Answered(result, f"It does not follow. The premises hold and it is false in: {words}")
        case Refuted():
            why = "refuted without a model"
        case Unknown(reason, detail):
            why = f"{reason}: {detail}" if detail else f"{reason}"
        case _:
            assert_never(answer)
    return Answered(Entailment("undecided", None, {}, {}, {}, why, oracle.charged), f"Undecided: {why}.")


def parse_formula(text: str, notation: NotationName, repair: bool) -> Answered[ParsedFormula]:
    """Read a formula.

    Args:
        text: in any notation.
        notation: whose conventions it follows, where notations clash.
        repair: whether slips are repaired, each of which is named. A text with two readings is refused nevertheless.

    Raises:
        ProofR1Error: it cannot be read, or has two readings.
    """
    _check_text("the formula", text)
    read = parse(text, repair=True, notation=notation) if repair else Repaired(parse(text, notation=notation), ())
    signature = Signature.infer([read.formula])
    result = ParsedFormula(
        show(read.formula),
        show(read.formula, "prefix"),
        smtlib.term(read.formula),
        tuple(signature.predicates),
        tuple(signature.functions),
        read.repairs,
    )
    return Answered(result, "\n".join([result.formula, *[f"repaired: {change}" for change in result.repairs]]))


def certify(
    premises: Sequence[str],
    goal: str,
    steps: Sequence[ReferenceStep],
    answer: AnswerLabel | None,
    by_kernel: bool,
    rules: RuleSystem,
) -> Answered[Certified]:
    """Turn a verified answer into a theorem, and have Lean's kernel check it.

    Args:
        premises, goal, steps, answer, rules: as in :func:`check_proof`.
        by_kernel: whether Lean's kernel is asked.

    Raises:
        ProofR1Error: as :func:`check_proof`; or Lean is wanted and not installed.
    """
    problem = _problem(premises, goal)
    record = _record(premises, goal)
    content = desk.certify(record, summary(_with_answer(problem, steps, answer)), rules=rules, by_kernel=by_kernel)
    reply = msgspec.json.decode(content, type=CertifyReply)
    judgement = reply.judgement
    result = Certified(
        certificate=reply.lean is not None,
        reason=reply.reason,
        is_theorem=None if judgement is None else judgement.is_theorem,
        kernel=None if judgement is None else judgement.kernel,
        faults=() if judgement is None else judgement.faults,
        lean=reply.lean,
        isabelle=reply.isabelle,
    )
    if not result.certificate:
        return Answered(result, f"No certificate: {result.reason}")
    if judgement is None:
        return Answered(result, f"A certificate that no kernel has checked:\n\n{result.lean}")
    said = "accepts" if judgement.is_theorem else "rejects"
    lines = [f"{judgement.kernel} {said} the answer.", *judgement.faults, "", f"{result.lean}"]
    return Answered(result, "\n".join(lines))


# -- parts ------------------------------------------------------------------------------------------------------------


@lru_cache
def _verifier(rules: RuleSystem) -> Verifier:
    return Verifier(rules=catalogue(rules))


_read = lru_cache(64)(from_json)  # equal questions are one problem, prepared once


def _problem(premises: Sequence[str], goal: str) -> Problem:
    return _read(_record(premises, goal))


def _record(premises: Sequence[str], goal: str) -> str:
    """The problem as a record. Its reader names every formula that cannot be read."""
    _require(len(premises) <= MAX_PREMISES, f"{len(premises)} premises; at most {MAX_PREMISES} are read")
    for number, premise in enumerate(premises, 1):
        _check_text(f"premise h{number}", premise)
    _check_text("the goal", goal)
    try:
        negated = show(Not(parse(goal)))
    except ParseError as error:
        raise ProofR1Error(f"the goal cannot be read: {error}") from None
    formulas = {TRUE: goal, FALSE: negated}
    record = ProblemRecord(
        id="question",
        premises=tuple([PremiseRecord(f"h{number}", premise) for number, premise in enumerate(premises, 1)]),
        options=tuple([OptionRecord(id_, label, formulas.get(label, goal)) for id_, label in LABELS.items()]),
    )
    return msgspec.json.encode(record).decode()


def _with_answer(
    problem: Problem, steps: Sequence[ReferenceStep], answer: AnswerLabel | None
) -> tuple[ReferenceStep, ...]:
    """The steps, and the one that states the answer, if it is given."""
    if answer is None:
        return _bounded(steps)
    option = problem.option(THREE_WAY[answer.casefold()])
    assert option is not None
    if any(step.id == option.id for step in steps):
        raise ProofR1Error(f"step {option.id!r} states an answer already; leave out that step, or `answer`")
    last = steps[-1].id if steps else problem.premises[-1].id if problem.premises else None
    binding = ReferenceStep(option.id, () if last is None else (last,), show(option.formula), GOAL_BINDING)
    return _bounded([*steps, binding])


def _bounded(steps: Sequence[ReferenceStep]) -> tuple[ReferenceStep, ...]:
    _require(len(steps) <= MAX_STEPS, f"{len(steps)} steps; at most {MAX_STEPS} are checked")
    for step in steps:
        for text in (step.id, step.conclusion, step.rule, *step.dependencies):
            _check_text(f"a field of step {step.id[:40]!r}", text)
    return tuple(steps)


def _check_text(name: str, text: str) -> None:
    _require(len(text) <= MAX_TEXT, f"{name} has {len(text)} characters; at most {MAX_TEXT} are read")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ProofR1Error(message)
