"""The package's own problem files, read and written; ``docs/formats.md`` describes them for people.

A file is JSON Lines, or (suffix ``.json``) one JSON array. The format is strict: a key that it does not know, a
repeated key or a wrong type is a reason to reject the record. What :func:`write_problems` writes reads back equal, but
for the names of bound variables: one that looks like a constant is renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, replace
from pathlib import Path

import msgspec

from proof_r1_formal.data.draft import Draft, Origin, StepRecord, read_parts, reference_proofs
from proof_r1_formal.data.problem import Option, Premise, Problem, Rejected
from proof_r1_formal.data.quality import OddityKind
from proof_r1_formal.data.records import BadJsonError, JsonObject, check, decode, plain
from proof_r1_formal.errors import DataError, require_type
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.outputs import output
from proof_r1_formal.text.show import show


class PremiseRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A premise: ``formula`` in any notation; ``source``, if it differs, is how it stood in the original data."""

    id: str
    formula: str
    source: str | None = None
    text: str = ""


class OptionRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer that can be chosen."""

    id: str
    label: str
    formula: str


class ProblemRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A problem; the fields are those of :class:`~proof_r1_formal.data.problem.Problem`."""

    id: str
    premises: tuple[PremiseRecord, ...]
    options: tuple[OptionRecord, ...]
    answer: str | None = None
    question: str = ""
    difficulty: str = ""
    proofs: tuple[tuple[StepRecord, ...], ...] = ()
    notes: tuple[str, ...] = ()


# -- reading ----------------------------------------------------------------------------------------------------------


def recognises(record: JsonObject) -> bool:
    """Whether the keys of the record are those of this format."""
    return "premises" in record and "options" in record


def read_record(record: JsonObject, origin: Origin) -> Problem | Rejected:
    """The problem of a record."""
    draft = Draft(origin)
    problem_id = draft.identifier(record, "id")
    try:
        data = msgspec.convert(plain(record), ProblemRecord)
    except (BadJsonError, msgspec.ValidationError) as error:
        return Rejected(problem_id, origin.line, (str(error),))
    _check_ids(draft, data)
    return draft.finish(
        Problem(
            id=problem_id,
            premises=tuple(
                Premise(each.id, formula, each.formula if each.source is None else each.source, each.text)
                for each in data.premises
                if (formula := draft.formula(f"premise {each.id}", each.formula)) is not None
            ),
            options=tuple(
                Option(each.id, each.label, formula)
                for each in data.options
                if (formula := draft.formula(f"option {each.id}", each.formula)) is not None
            ),
            answer=data.answer,
            question=data.question,
            difficulty=data.difficulty,
            proofs=reference_proofs(data.proofs),
            notes=data.notes,
        ),
        noted=(OddityKind.SCRIPT,),
    )


def _check_ids(draft: Draft, data: ProblemRecord) -> None:
    seen: set[str] = set()
    for part_id in [*(premise.id for premise in data.premises), *(option.id for option in data.options)]:
        if not part_id or not part_id.isprintable():
            draft.reject(f"{part_id!r} is not a valid id of a premise or option: expected a printable text")
        if part_id in seen:
            draft.reject(f"the id {part_id!r} is that of more than one premise or option")
        seen.add(part_id)
    if data.answer is not None and data.answer not in {option.id for option in data.options}:
        draft.reject(f"the answer {data.answer!r} is the id of no option")


# -- writing ----------------------------------------------------------------------------------------------------------


def write_problems(path: Path | str, problems: Iterable[Problem]) -> None:
    """Write a JSON array if the path ends in ``.json``, else one per line. It appears whole or not at all.

    Args:
        path: where to; a file that is there is replaced.
        problems: at least one, with different ids; taken one at a time.

    Raises:
        DataError: the path cannot be written, there is no problem, two ids are equal, or a problem would not read back
            equal.
        TypeError: one of them is not a problem.
    """
    path = Path(path)
    with output(path) as file:
        file.writelines(_chunks(path, problems))


def _chunks(path: Path, problems: Iterable[Problem]) -> Iterator[bytes]:
    before, between, after = (b"[\n", b",\n", b"\n]\n") if path.suffix == ".json" else (b"", b"\n", b"\n")
    seen: set[str] = set()
    for problem in problems:
        require_type(problem, Problem, "each problem", "a mapping of problems has them as its values()")
        if problem.id in seen:
            raise DataError(str(path), f"not written: two problems have the id {problem.id!r}")
        yield between if seen else before
        yield to_json(problem, path=path).encode()
        seen.add(problem.id)
    if not seen:
        raise DataError(str(path), "not written: there are no problems to write")
    yield after


def to_json(problem: Problem, *, path: Path = Path("a problem")) -> str:
    """The record of a problem as text, after reading it back: what is written must mean what was given.

    Errors name the file at ``path``.

    Raises:
        DataError: the text would not read back as an equal problem, up to the names of bound variables.
    """
    try:
        text = msgspec.json.encode(_to_record(problem)).decode()
        record = decode(text)
    except RecursionError:
        raise DataError(str(path), f"not written: a formula of problem {problem.id!r} is nested too deeply") from None
    except UnicodeEncodeError:
        raise DataError(str(path), f"not written: a text of problem {problem.id!r} is not valid Unicode") from None
    assert isinstance(record, JsonObject)
    match read_record(record, Origin(path.stem, 1, repair=False)):
        case Rejected(reasons=reasons):
            raise DataError(str(path), f"not written: problem {problem.id!r} would be rejected: {reasons[0]}")
        case back if _meaning(back) != _meaning(problem):
            raise DataError(str(path), f"not written: problem {problem.id!r} would not read back equal")
    return text


def _meaning(problem: Problem) -> Problem:
    """The problem without notes (a reader may add one on an odd label) and names of bound variables."""
    premises = [replace(premise, formula=alpha_normal(premise.formula)) for premise in problem.premises]
    options = [replace(option, formula=alpha_normal(option.formula)) for option in problem.options]
    return replace(problem, premises=tuple(premises), options=tuple(options), notes=())


def from_json(text: str) -> Problem:
    """The problem of a record as text.

    Raises:
        DataError: the text is not JSON or not a problem; with every reason found.
    """
    try:
        record = check(1, decode(text))
    except BadJsonError as error:
        raise DataError("a problem", str(error)) from None
    (result,) = read_parts(record, read_record, Origin("a problem", 1, repair=False))
    if isinstance(result, Rejected):
        raise DataError("a problem", "; ".join(result.reasons))
    return result


def _to_record(problem: Problem) -> ProblemRecord:
    return ProblemRecord(
        id=problem.id,
        premises=tuple(_premise_record(premise) for premise in problem.premises),
        options=tuple(OptionRecord(option.id, option.label, show(option.formula)) for option in problem.options),
        answer=problem.answer,
        question=problem.question,
        difficulty=problem.difficulty,
        proofs=tuple(tuple(StepRecord(*astuple(step)) for step in proof) for proof in problem.proofs),
        notes=problem.notes,
    )


def _premise_record(premise: Premise) -> PremiseRecord:
    formula = show(premise.formula)
    source = None if premise.source == formula else premise.source
    return PremiseRecord(premise.id, formula, source, premise.text)
