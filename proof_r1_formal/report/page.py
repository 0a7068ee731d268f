"""Verified traces as one HTML file: overview, search, and each proof as a graph with its evidence.

In: problems, completions, and a verifier that gives the verdicts and the evidence. Out: a page that needs no network.
Its style and its program are ``web/report.html`` in the package, which ``make web`` builds from the sources in
``web/``. This module adds the data in a form that no text of a model can break out of: an index as JSON without ``<``,
which the page reads when it opens, and one element of compressed JSON for every ``CHUNK`` traces, which it reads on
demand.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import msgspec

from proof_r1_formal.assistants.certify import CheckedCertification, certify_many
from proof_r1_formal.assistants.isar import isar_theory
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_file import file_stem, lean_file
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine.oracle import Oracle
from proof_r1_formal.evaluation.diagnosis import first_error
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.evaluation.metrics_tables import metrics_tables
from proof_r1_formal.evaluation.tables import to_json
from proof_r1_formal.kernel.answer import Entailed, Refuted
from proof_r1_formal.kernel.syntax import Formula, Not
from proof_r1_formal.proof.action import MAX_DEPENDENCIES, Trace
from proof_r1_formal.proof.batch import verified_by
from proof_r1_formal.proof.report import Code, ModelReport, TraceReport
from proof_r1_formal.proof.step import UNRULED, UNSUPPORTED, VERIFIED
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.report.fitch import Row, fitch
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.manifest import acceptances
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.text.show import show
from proof_r1_formal.version import __version__

CHUNK = 50
"""Number of traces in an element."""
CERTIFICATES = 200
"""Default number of certificates: one is many times as long as its trace."""

_INDEX, _TRACES = b"<!-- index -->", b"<!-- traces -->"  # where the data belongs: before the program, and after it
_LEVELS = {UNSUPPORTED: 1, UNRULED: 2, VERIFIED: 3}


Data: TypeAlias = dict[str, Any]
"""An object of the page; each is declared in ``web/src/data.ts``, which says what its parts are."""


def _present(**parts: object) -> Data:
    """The parts that are not empty: the page takes a part that is not there for an empty one."""
    return {name: part for name, part in parts.items() if part not in (None, "", (), [])}


def page(
    verifier: Verifier,
    problems: Mapping[str, Problem],
    completions: Iterable[Completion],
    *,
    title: str = "Proof report",
    certificates: int = CERTIFICATES,
    kernel: LeanKernel | None = None,
    seen: Callable[[TraceReport], object] = lambda _report: None,
) -> bytes:
    """The page as HTML in UTF-8.

    Args:
        verifier: gives the verdicts.
        problems: by id; those without a trace count in the tables only.
        completions: of those problems.
        title: of the page.
        certificates: maximum number of certificates, for the first verified answers.
        kernel: checks the certificates; unchecked if None.
        seen: called with each report.

    Raises:
        ProofR1Error: a completion names an unknown problem, or the page has not been built.
    """
    local = verifier if verifier.evidence == "checked" else verifier.without_kernel()  # a kernel is slow for repairs
    traces: list[tuple[Completion, TraceReport]] = []
    numbers: dict[str, int] = {}
    rows: list[Data] = []
    views: list[Data] = []
    for completion, report in verified_by(verifier, problems, completions):
        problem, trace = local.read(problems[report.problem_id], completion.completion)
        seen(report)
        traces.append((completion, report))
        rows.append(_row(numbers.setdefault(problem.id, len(numbers)), report))
        views.append(_view(local, problem, trace, completion.completion, report))
    wanted = [number for number, (_, report) in enumerate(traces) if report.verified][:certificates]
    judged = certify_many(local, problems, (traces[number][0] for number in wanted), kernel)
    for number, (completion, found) in zip(wanted, judged, strict=True):
        theorem = _theorem(problems[completion.problem_id], completion, found, kernel)
        views[number] |= _present(certificate=theorem, no_certificate=found.certification.reason)
    reports = [report for _, report in traces]
    lengths = {(c.problem_id, c.sample): len(c.completion) for c, _ in traces}
    index = {
        "title": title,
        "package": f"proof-r1-formal {__version__}",
        "rules": verifier.rule_system,
        "solver": verifier.oracle.solver.name,
        "evidence": verifier.evidence,
        "unsupported": sum(report.unsupported for report in reports),
        "certificates": len(wanted),
        "chunk": CHUNK,
        "problems": [_problem(verifier, problems[name]) for name in numbers],
        "traces": rows,
        "tables": json.loads(to_json(metrics_tables(evaluate_metrics(problems, reports, lengths=lengths)))),
        "catalogue": _catalogue(verifier.rules),
        **_present(first=_first_errors(reports)),
    }
    return _fill(index, [views[start : start + CHUNK] for start in range(0, len(views), CHUNK)])


# -- problems and rules -----------------------------------------------------------------------------------------------


def _problem(verifier: Verifier, problem: Problem) -> Data:
    problem, _ = verifier.read(problem, "")  # with its sorts, as it was checked
    return {
        "id": problem.id,
        "premises": [
            _present(id=premise.id, formula=show(premise.formula), text=premise.text) for premise in problem.premises
        ],
        "options": [
            {"id": option.id, "label": option.label, "formula": show(option.formula)} for option in problem.options
        ],
        **_present(
            question=problem.question, difficulty=problem.difficulty, answer=problem.answer, notes=problem.notes
        ),
    }


def _catalogue(rules: Catalogue) -> Data:
    """The meaning of each rule, and of each schema the patterns and the kernels that accepted it; by name."""
    accepted = acceptances(rules)
    return {
        "rules": {rule.name: rule.meaning for rule in rules.rules},
        "schemata": {
            schema.name: {
                "premises": [show(pattern) for pattern in schema.premises],
                "conclusion": show(schema.conclusion),
                "kernels": accepted[schema.name],
            }
            for rule in rules.rules
            for schema in rule.schemata
        },
    }


# -- traces -----------------------------------------------------------------------------------------------------------


def _first_errors(reports: Sequence[TraceReport]) -> Data | None:
    """The commonest kind of first error, how many traces have it, and the first of these; None if there is no error."""
    kinds: dict[str, list[tuple[int, int]]] = {}
    for number, report in enumerate(reports):
        if (found := first_error(report)) is not None:
            kinds.setdefault(found[1].value, []).append((number, found[0]))
    if not kinds:
        return None
    code, places = max(kinds.items(), key=lambda kind: len(kind[1]))  # of two with as many, the first in the file
    number, action = places[0]
    step = reports[number].actions[action]
    message = next(finding.message for finding in step.findings if finding.code.value == code)
    flawed = sum(map(len, kinds.values()))
    return {
        "code": code,
        "count": len(places),
        "flawed": flawed,
        "trace": number,
        "action": action,
        "message": message,
    } | (_present(step=step.id, rule=step.declared_rule, dependencies=step.dependencies, conclusion=step.conclusion))


def _row(number: int, report: TraceReport) -> Data:
    """The entry of a trace in the list: a digit for each action is its signal as 0 to 3, plus 4 if in the closure."""
    findings = [*[finding for step in report.actions for finding in step.findings], *report.findings]
    return {
        "problem": number,
        "sample": report.sample,
        "parsed": report.parsed,
        "verified": report.verified,
        "rule_verified": report.rule_verified,
        "steps": "".join(f"{_LEVELS.get(step.signal, 0) + 4 * step.in_closure}" for step in report.actions),
        **_present(
            answer=report.answer,
            correct=report.answer_correct,
            codes=list(dict.fromkeys([finding.code.value for finding in findings])),
            rules=list(dict.fromkeys(step.declared_rule for step in report.actions if step.declared_rule is not None)),
        ),
    }


def _view(verifier: Verifier, problem: Problem, trace: Trace, completion: str, report: TraceReport) -> Data:
    inquiry = verifier.inquiry()  # pays in this order: worlds, proofs, repairs
    open_ = _open(inquiry, problem, report) if report.uncertain == "verified" else None
    return {
        "segments": list(_segments(completion, [step.span for step in report.actions])),
        "steps": _steps(inquiry, problem, trace, report),
        "closure": report.closure,
        "used_closure": report.used_closure,
        "consistency": report.consistency,
        **_present(open=open_, faults=[finding.message for finding in report.findings]),
        **_present(cut=None if inquiry.spent is None else True),
    }


def _segments(completion: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    """The completion in pieces: cut here, as a browser counts characters differently."""
    done = 0
    for number, (start, end) in enumerate(spans):
        if start > done:
            yield completion[done:start], -1
        yield completion[start:end], number
        done = end
    if done < len(completion):
        yield completion[done:], -1


def _steps(inquiry: Oracle, problem: Problem, trace: Trace, report: TraceReport) -> list[Data]:
    """The steps with their proofs, and then, with what is left of the budget, the repairs of those that fail."""
    admitted = {premise.id: premise.formula for premise in problem.premises}
    views: list[Data] = []
    failing: list[tuple[Data, tuple[str, ...], Formula, int]] = []
    for action, step in zip(trace.actions, report.actions, strict=True):
        formula = action.formula
        report_data = msgspec.to_builtins(step)
        del report_data["span"]  # the completion is in pieces
        view: Data = {"report": {name: part for name, part in report_data.items() if part not in (None, (), [])}}
        views.append(view)
        if formula is None:
            continue
        view["formula"] = show(formula)
        if any(finding.code is Code.NOT_ENTAILED for finding in step.findings):
            failing.append((view, step.dependencies, formula, len(admitted)))
        if step.semantic:
            view |= _present(proof=_proof(inquiry, _given(step.dependencies, admitted), formula))
            if step.id is not None:
                admitted[step.id] = formula
    for view, names, formula, count in failing:
        if inquiry.spent is not None:
            break
        known = dict(islice(admitted.items(), count))  # what was admitted before the step
        view |= _present(repairs=_repairs(inquiry, _given(names, known), known, formula))
    return views


def _given(names: Iterable[str], admitted: Mapping[str, Formula]) -> list[tuple[str, Formula]]:
    return [(name, admitted[name]) for name in names if name in admitted]


def _repairs(
    inquiry: Oracle, given: Sequence[tuple[str, Formula]], admitted: Mapping[str, Formula], conclusion: Formula
) -> tuple[str, ...]:
    """The names of what was admitted that entails the conclusion together with the dependencies, one at a time."""
    if len(given) >= MAX_DEPENDENCIES:
        return ()
    names, formulas = {name for name, _ in given}, tuple([formula for _, formula in given])
    return tuple(
        name
        for name, formula in admitted.items()
        if name not in names
        and formula != conclusion
        and isinstance(inquiry.decide((*formulas, formula), conclusion).answer, Entailed)
    )


def _proof(inquiry: Oracle, given: Sequence[tuple[str, Formula]], conclusion: Formula) -> tuple[Row, ...]:
    match inquiry.decide(tuple([formula for _, formula in given]), conclusion).answer:
        case Entailed(proof) if proof is not None:
            return fitch(proof, given)
    return ()


def _open(inquiry: Oracle, problem: Problem, report: TraceReport) -> tuple[ModelReport, ModelReport] | None:
    """Models of the premises in which the goal is false and true."""
    option = problem.option(report.answer)
    assert option is not None
    premises = tuple([premise.formula for premise in problem.premises])
    answers = [inquiry.decide(premises, goal).answer for goal in (option.formula, Not(option.formula))]
    match answers:
        case [Refuted(without), Refuted(with_)] if without is not None and with_ is not None:
            return ModelReport.of(without), ModelReport.of(with_)
    return None


def _theorem(
    problem: Problem, completion: Completion, found: CheckedCertification, kernel: LeanKernel | None
) -> Data | None:
    certificate = found.certification.certificate
    if certificate is None:
        return None
    said = "" if kernel is None else "; ".join([kernel.version, *found.faults()])
    return {
        "lean": lean_file(certificate, problem, completion.sample),
        "isabelle": isar_theory(certificate, file_stem(completion.problem_id, completion.sample)),
        **_present(accepted=found.is_theorem or None, said=said),
    }


# -- HTML -------------------------------------------------------------------------------------------------------------


def _fill(index: Mapping[str, object], chunks: Iterable[Sequence[Data]]) -> bytes:
    before, _, behind = (resource("web") / "report.html").read_bytes().partition(_INDEX)
    program, _, rest = behind.partition(_TRACES)
    assert rest, "web/report.html has both places for data"
    data = _element("index", "application/json", _json(index).replace(b"<", b"\\u003c"))
    packed = [base64.b64encode(gzip.compress(_json(chunk), 6, mtime=0)) for chunk in chunks]
    traces = [_element(f"traces-{number}", "text/plain", text) for number, text in enumerate(packed)]
    return b"".join([before, data, program, *traces, rest])


def _json(data: object) -> bytes:
    """JSON in UTF-8; an unpaired surrogate in a text becomes its JSON escape."""
    text = json.dumps(msgspec.to_builtins(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")


def _element(name: str, kind: str, text: bytes) -> bytes:
    return b'<script type="%s" id="%s">%s</script>\n' % (kind.encode(), name.encode(), text)
