"""Bundles: verdicts with all their evidence in one JSON file, for a check without this package.

In: a verifier, problems, and completions with their reports. Out: plain JSON values, or a file of them, which
``check_bundle.py`` rechecks with Python's standard library alone; ``docs/bundle.md`` describes the format. Equal inputs
give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.evaluation.outcomes import reference_length
from proof_r1_formal.kernel.answer import Entailed, Refuted
from proof_r1_formal.kernel.serial import proof_to_data, structure_to_data, to_data
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, Iff, Not
from proof_r1_formal.outputs import write_output
from proof_r1_formal.proof.context import with_sorts
from proof_r1_formal.proof.report import Code, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.manifest import acceptances
from proof_r1_formal.rules.schema import Catalogue
from proof_r1_formal.version import __version__

FORMAT = "proof-r1-bundle/1"

Json: TypeAlias = "str | int | float | Sequence[Json] | Mapping[str, Json] | None"

Verified: TypeAlias = tuple[Completion, TraceReport]
"""A completion and the verifier's report on it."""


Kernels: TypeAlias = Mapping[tuple[str, int], Sequence[str]]
"""Problem id and sample -> the proof assistants whose kernels accepted the certificate of that trace."""


def write_bundle(
    path: Path | str,
    verifier: Verifier,
    problems: Mapping[str, Problem],
    traces: Iterable[Verified],
    *,
    kernels: Kernels | None = None,
) -> None:
    """Write a bundle, see :func:`bundle`; the file appears completely or not at all. An existing file is replaced.

    Raises:
        DataError: the path cannot be written.
        ProofR1Error: see :func:`bundle`.
    """
    write_output(Path(path), encode(bundle(verifier, problems, traces, kernels=kernels)))


def encode(data: Mapping[str, Json]) -> bytes:
    """A bundle as JSON in UTF-8, each problem and trace on a line of its own."""
    fields = []
    for name, value in data.items():
        text = "[\n" + ",\n".join(map(_json, value)) + "\n]" if isinstance(value, list) else _json(value)
        fields.append(f"{_json(name)}: {text}")
    # An unpaired surrogate in a text becomes its JSON escape.
    return ("{" + ",\n".join(fields) + "}\n").encode(errors="backslashreplace")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def bundle(
    verifier: Verifier, problems: Mapping[str, Problem], traces: Iterable[Verified], *, kernels: Kernels | None = None
) -> dict[str, Json]:
    """Build a bundle of verdicts, their evidence and their evaluation.

    Args:
        verifier: gives the evidence; the reports are its own, or those of one with the same settings.
        problems: of the evaluation, by id.
        traces: completions of those problems, each with its report; no two of the same sample of a problem.
        kernels: judgements of :func:`~proof_r1_formal.assistants.certify.certify_many`, if any.

    Raises:
        ProofR1Error: a trace has an unknown problem or a repeated sample, or the verifier does not check evidence.
    """
    if verifier.evidence == "none":
        raise ProofR1Error("a bundle holds evidence, and this verifier asks for none; use evidence='checked'")
    reports: list[TraceReport] = []
    lengths: dict[tuple[str, int], int] = {}
    data: list[Json] = []
    for completion, report in traces:
        key = (report.problem_id, report.sample)
        if report.problem_id not in problems:
            raise ProofR1Error(f"a trace is of problem {report.problem_id!r}, which is not there")
        if key in lengths:
            raise ProofR1Error(f"two traces are of problem {key[0]!r}, sample {key[1]}; number the samples")
        lengths[key] = len(completion.completion)
        reports.append(report)
        accepted = [] if kernels is None else kernels.get(key, [])
        data.append(_trace(verifier, problems[report.problem_id], completion.completion, report, accepted))
    metrics = evaluate_metrics(problems, reports, lengths=lengths)
    return {
        "format": FORMAT,
        "made_by": {
            "package": f"proof-r1-formal {__version__}",
            "rules": verifier.rule_system,
            "solver": verifier.oracle.solver.name,
        },
        "schemata": _schemata(verifier.rules, reports),
        "problems": [_problem(verifier, problem) for problem in problems.values()],
        "traces": data,
        "metrics": msgspec.to_builtins(metrics),
    }


def _schemata(rules: Catalogue, reports: Iterable[TraceReport]) -> Json:
    """The schemata that steps are instances of, each with the proof assistants whose kernels accepted it."""
    accepted = acceptances(rules)
    used = {step.instance.schema for report in reports for step in report.actions if step.instance is not None}
    return {name: list(accepted[name]) for name in sorted(used)}


# -- problems ---------------------------------------------------------------------------------------------------------


def _problem(verifier: Verifier, problem: Problem) -> Json:
    problem, _ = with_sorts(problem)
    premises = tuple([premise.formula for premise in problem.premises])
    return {
        "id": problem.id,
        "difficulty": problem.difficulty,
        "question": problem.question,
        "notes": list(problem.notes),
        "premises": [
            {"id": premise.id, "text": premise.text, "source": premise.source, "formula": to_data(premise.formula)}
            for premise in problem.premises
        ],
        "options": [
            {"id": option.id, "label": option.label, "formula": to_data(option.formula)} for option in problem.options
        ],
        "answer": problem.answer,
        "reference_length": reference_length(problem),
        "consistency": _support(verifier, premises, BOTTOM),
    }


# -- traces -----------------------------------------------------------------------------------------------------------


def _trace(verifier: Verifier, problem: Problem, completion: str, report: TraceReport, kernels: Sequence[str]) -> Json:
    problem, trace = verifier.read(problem, completion)
    formulas = [action.formula for action in trace.actions]
    option, last = problem.option(report.answer), formulas[-1] if formulas else None
    premises = tuple([premise.formula for premise in problem.premises])
    uncertain: Json = None
    if option is not None and report.uncertain is not None:
        asked = {"goal": option.formula, "negation": Not(option.formula)}
        undecided = report.uncertain == "undecided"  # perhaps as the budget is spent, so it is not asked again
        uncertain = {name: None if undecided else _support(verifier, premises, goal) for name, goal in asked.items()}
    binding: Json = None
    if option is not None and last is not None and last is not option.formula:
        codes = [finding.code for finding in report.actions[-1].findings]
        if Code.BINDING_UNDECIDED not in codes:  # whether the last action states the formula of its option
            binding = _support(verifier, (), Iff(last, option.formula))
    return {
        "problem": report.problem_id,
        "sample": report.sample,
        "completion": completion,
        "parsed": report.parsed,
        "actions": list(_actions(verifier, problem, formulas, report)),
        "answer": report.answer,
        "binding": binding,
        "uncertain": uncertain,
        "verified": report.verified,
        "rule_verified": report.rule_verified,
        "closure": list(report.closure),
        "used_closure": list(report.used_closure),
        "kernels": list(kernels),
    }


def _actions(
    verifier: Verifier, problem: Problem, formulas: list[Formula | None], report: TraceReport
) -> Iterator[Json]:
    admitted = {premise.id: premise.formula for premise in problem.premises}
    for step, formula in zip(report.actions, formulas, strict=True):
        evidence: Json = None
        if formula is not None and step.evidence is not None:
            dependencies = tuple([admitted[name] for name in step.dependencies])
            unsupported = step.evidence == "unsupported"
            evidence = {"unsupported": step.semantic} if unsupported else _support(verifier, dependencies, formula)
        if formula is not None and step.id is not None and step.semantic:
            admitted[step.id] = formula
        yield {
            "span": list(step.span),
            "id": step.id,
            "dependencies": list(step.dependencies),
            "declared_rule": step.declared_rule,
            "conclusion": step.conclusion,
            "formula": None if formula is None else to_data(formula),
            "verdicts": {name: getattr(step, name) for name in ("schema", "semantic", "rule", "progress")},
            "signal": step.signal,
            "findings": [finding.code.value for finding in step.findings],
            "evidence": evidence,
            "instance": None if step.instance is None else step.instance.schema,
        }


def _support(verifier: Verifier, dependencies: tuple[Formula, ...], conclusion: Formula) -> Json:
    """Why the dependencies entail the conclusion or do not; None if that is undecided, or nothing supports it."""
    match verifier.oracle.checked_answer(verifier.oracle.decide(dependencies, conclusion)):
        case Entailed(proof) if proof is not None:
            return {"proof": proof_to_data(proof)}
        case Refuted(model) if model is not None:
            return {"countermodel": structure_to_data(model)}
        case _:
            return None
