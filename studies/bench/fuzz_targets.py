"""Targets of fuzzing: everything that reads text from outside. Any bytes in; an exception out if something is wrong.

A target reads the bytes as a reader of the package would get them, and checks what must hold whatever they are: only
the documented exceptions, and answers that a second, plainer look at the same bytes agrees with.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, get_args

from proof_r1_formal.assistants.lean import AXIOMS, _judgements
from proof_r1_formal.engine.process import ProcessSolver
from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.answer import Entailed, Refuted
from proof_r1_formal.kernel.syntax import Formula
from proof_r1_formal.kernel.transform import alpha_equivalent
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES, Trace, read_completion
from proof_r1_formal.proof.report import Code
from proof_r1_formal.text.parse import MAX_LENGTH, parse_formula
from proof_r1_formal.text.show import OutputNotation, show


def as_text(data: bytes) -> str:
    """Text that may hold anything, unpaired surrogates too."""
    return data.decode("utf-8", "surrogateescape")


# -- completions ------------------------------------------------------------------------------------------------------


def completion(data: bytes) -> None:
    """Every text is read; spans are in order and hold the elements; what is well formed is what JSON says it is."""
    text = as_text(data)
    trace = read_completion(text)
    end = 0
    for action in trace.actions:
        assert end <= action.span[0] <= action.span[1] <= len(text), "spans are out of order"
        end = action.span[1]
        for finding in action.findings:
            json.dumps(finding.message, ensure_ascii=False)
    if trace.parsed:
        _same_as_json(text, trace)
    else:
        (action,) = trace.actions
        assert [finding.code for finding in action.findings] == [Code.MALFORMED]
        assert (action.id, action.formula) == (None, None)


def _same_as_json(text: str, trace: Trace) -> None:
    if trace.actions:
        start, end = trace.actions[0].span[0], trace.actions[-1].span[1]
        assert len(json.loads(f"[{text[start:end]}]", parse_int=float)) == len(trace.actions), "elements were lost"
    for action in trace.actions:
        element = json.loads(text[slice(*action.span)], parse_int=float)
        if action.findings:
            continue
        assert sorted(element) == sorted(FIELDS)
        assert (action.id, action.conclusion, action.rule) == (element["id"], element["conclusion"], element["rule"])
        assert action.id and action.rule
        assert set(action.dependencies) == set(element["dependencies"])
        assert len(action.dependencies) <= MAX_DEPENDENCIES
        assert action.formula is parse_formula(element["conclusion"])


# -- formulas ---------------------------------------------------------------------------------------------------------


def formula(data: bytes) -> None:
    """The strict parser reads a closed formula, which shows as text that reads back, or says where it stumbled."""
    text = as_text(data)
    try:
        parsed = parse_formula(text)
    except ParseError as error:
        _has_a_place(error, text)
    else:
        _reads_back(parsed)


def repair(data: bytes) -> None:
    """Repair changes nothing in what is read without it, and reads closed formulas otherwise."""
    text = as_text(data)
    try:
        strict: Formula | None = parse_formula(text)
    except ParseError:
        strict = None
    try:
        repaired = parse_formula(text, repair=True)
    except ParseError as error:
        assert strict is None, "what is read without repair cannot be repaired"
        _has_a_place(error, text)
        return
    assert (strict is None) == bool(repaired.repairs), "something was repaired and not told, or the other way round"
    assert strict in (None, repaired.formula)
    _reads_back(repaired.formula)


def _has_a_place(error: ParseError, text: str) -> None:
    assert error.text == text
    assert 0 <= error.location.offset <= len(text)
    assert error.problem
    assert "\n" not in error.problem


def _reads_back(parsed: Formula) -> None:
    assert not parsed.free
    notations: tuple[OutputNotation, ...] = get_args(OutputNotation)
    for notation in notations:
        shown = show(parsed, notation)
        if len(shown) <= MAX_LENGTH:
            assert alpha_equivalent(parse_formula(shown), parsed), f"it shows as {shown!r}"


# -- what programs write ----------------------------------------------------------------------------------------------

_SOLVER = ProcessSolver(sys.executable)  # it is not started: only how its output is read is of interest


def smtlib(data: bytes) -> None:
    """Only ``sat`` and ``unsat``, with nothing but white space around them, are verdicts."""
    answer = _SOLVER._verdict(data)
    assert isinstance(answer, Entailed) == (data.split() == [b"unsat"])
    assert isinstance(answer, Refuted) == (data.split() == [b"sat"])


SPANS = ((3, 4), (5, 8), (9, 9))
"""Lines of the theorems that the fuzzed messages are about."""


def lean(data: bytes) -> None:
    """A theorem is accepted only if a plain reading of all messages agrees; the first byte is the exit status."""
    status, output = data[0] if data else 0, data[1:]
    judgements = _judgements(subprocess.CompletedProcess((), status, output, b""), SPANS)
    if isinstance(judgements, str):
        assert judgements
        return
    assert len(judgements) == len(SPANS)
    for number, (judgement, (first, last)) in enumerate(zip(judgements, SPANS, strict=True)):
        if not judgement.accepted:
            assert judgement.reason or judgement.line is not None, "it is refused and nothing says why"
            continue
        assert status in (0, 1)
        messages = [json.loads(line) for line in output.splitlines()]
        assert not any(_is_about(message, 1, first - 1) for message in messages if number == 0)
        (report,) = [message for message in messages if _is_about(message, first, last)]
        assert report["severity"] == "information"
        assert report["pos"]["line"] == last
        assert report["data"].startswith(f"'t{number}' ")
        assert set(judgement.axioms) <= AXIOMS
        named = report["data"].partition("[")[2].partition("]")[0].replace(",", " ").split()
        assert set(named) == set(judgement.axioms), "axioms were overlooked"


def _is_about(message: Any, first: int, last: int) -> bool:
    return bool(first <= message["pos"]["line"] <= last)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "completion": completion,
    "formula": formula,
    "repair": repair,
    "smtlib": smtlib,
    "lean": lean,
}
"""Name, of the folder of its corpus too -> target."""
