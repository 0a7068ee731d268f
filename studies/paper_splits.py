"""The evaluation sets of the paper, selected by rule from files of problems, with a reason for every record left out.

``python -m studies.paper_splits --proverqa easy.json --folio validation.jsonl --proofwriter dev.json --out FOLDER``
writes a file of problems per set, and ``selection.jsonl`` with every record and its rule.

The paper states only sizes: 681 problems of ProverQA and 51 of FOLIO, and shares on ProofWriter that are multiples of
1/150. The rules are those of the data folder of its reference implementation (``docs/paper.md``), read literally. Two
of its choices cannot be repeated: a language model wrote its reference proofs, and its draw of 150 is not published. So
the counts may differ. :data:`PUBLISHED` has the counts to compare with, and no rule is fitted to them.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.data.problem import Problem, ProblemSet, Rejected
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate.synthesize import BUDGET, GaveUp, Proved, Prover
from proof_r1_formal.kernel.syntax import App, Atom, Binder, Eq, Iff
from proof_r1_formal.kernel.transform import functions_within, subformulas
from proof_r1_formal.outputs import check_folder, check_output, output
from proof_r1_formal.proof.labels import CONTRADICTORY, UNDECIDED, answer_by
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.text.show import show

PROOFWRITER_SIZE = 150
"""Number of problems of ProofWriter."""
SEED = 20260821
"""Seed of the draw from ProofWriter: that of the reference implementation, whose way to draw differs."""

_NAME = re.compile(r"[^\W\d]\w*")
_FREE = re.compile(r"[a-z]")  # there a variable, unless it is bound


class Rule(StrEnum):
    """Why a record is chosen or left out: the first reason in this order."""

    CHOSEN = "chosen"
    HELD_OUT = "named in the file of exclusions"
    UNLABELLED = "without a label"
    UNCERTAIN = "labelled Uncertain"
    FORMULA = "formula unreadable or outside the language"
    CONTRADICTORY = "premises contradictory"
    NOT_ENTAILED = "label not entailed"
    UNDECIDED = "entailment undecided"
    UNPROVED = "no verified reference proof"
    NOT_DRAWN = "not drawn"


PUBLISHED: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "proverqa": {
            "records": 1350,
            Rule.HELD_OUT: 56,
            Rule.UNCERTAIN: 484,
            Rule.NOT_ENTAILED: 12,
            Rule.UNPROVED: 117,
            Rule.CHOSEN: 681,
            "easy": 261,
            "medium": 221,
            "hard": 199,
        },
        "folio": {"records": 203, Rule.UNCERTAIN: 69, Rule.FORMULA: 70, Rule.NOT_ENTAILED: 13, Rule.CHOSEN: 51},
        "proofwriter": {Rule.CHOSEN: 150},
    }
)
"""Set -> ``records``, rule or difficulty of the chosen -> the count of the paper or its reference implementation."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The fate of a record.

    Attributes:
        id: of the problem.
        rule: why it is chosen or left out.
        detail: more on the reason; empty if there is none.
        problem: the problem, with a reference proof if the set has them; None for an unreadable record.
    """

    id: str
    rule: Rule
    detail: str = ""
    problem: Problem | None = None


_Outcome: TypeAlias = Problem | tuple[Rule, str]
"""Of a check: the problem for the next check, or why it is left out."""


class Selector:
    """Chooses the problems of a set; the embedded engine decides whether premises entail the label.

    Args:
        excluded: ids of problems to leave out, such as those of a warm-up.
        budget: of the search for the reference proof of a problem that brings none.
        seed: of the draw from ProofWriter.
    """

    def __init__(self, *, excluded: frozenset[str] = frozenset(), budget: int = BUDGET, seed: int = SEED) -> None:
        self._verifier = Verifier()
        self._prover = Prover(self._verifier, budget=budget)
        self._solver = EmbeddedSolver()
        self._excluded = excluded
        self._seed = seed

    def proverqa(self, problems: ProblemSet) -> Iterator[Choice]:
        """The problems whose label follows, with a reference proof of which every step is verified."""
        yield from self._choices(problems, self._labelled, self._following, self._proved)

    def folio(self, strict: ProblemSet, lenient: ProblemSet) -> Iterator[Choice]:
        """The problems in the language of the reference implementation whose label follows.

        Args:
            strict: read without repairs.
            lenient: the same file, read with repairs, for the labels of the records that ``strict`` rejects.
        """
        broken = {record.id: record for record in strict.rejected if record.id in lenient}
        whole = {**strict, **{name: lenient[name] for name in broken}}

        def within(problem: Problem) -> _Outcome:
            record = broken.get(problem.id)
            reason = _outside(problem) if record is None else "; ".join(record.reasons)
            return (Rule.FORMULA, reason) if reason else problem

        rejected = tuple([record for record in strict.rejected if record.id not in broken])
        yield from self._choices(ProblemSet(whole, rejected), self._labelled, within, self._following)

    def proofwriter(self, problems: ProblemSet) -> Iterator[Choice]:
        """150 of the problems whose label follows, as many of each answer and difficulty as there are."""
        choices = list(self._choices(problems, self._labelled, self._following))
        drawn = self._drawn([choice.problem for choice in choices if choice.rule is Rule.CHOSEN and choice.problem])
        for choice in choices:
            missed = choice.rule is Rule.CHOSEN and choice.id not in drawn
            yield replace(choice, rule=Rule.NOT_DRAWN) if missed else choice

    def _choices(self, problems: ProblemSet, *checks: Callable[[Problem], _Outcome]) -> Iterator[Choice]:
        for problem in problems.values():
            yield self._checked(problem, checks)
        for record in problems.rejected:
            yield Choice(record.id, Rule.FORMULA, "; ".join(record.reasons))

    def _checked(self, problem: Problem, checks: Iterable[Callable[[Problem], _Outcome]]) -> Choice:
        for check in checks:
            match check(problem):
                case Problem() as problem:
                    pass
                case rule, detail:
                    return Choice(problem.id, rule, detail, problem)
        return Choice(problem.id, Rule.CHOSEN, "", problem)

    def _labelled(self, problem: Problem) -> _Outcome:
        if problem.id in self._excluded:
            return Rule.HELD_OUT, ""
        if problem.answer is None:
            return Rule.UNLABELLED, ""
        return (Rule.UNCERTAIN, "") if problem.is_uncertain else problem

    def _following(self, problem: Problem) -> _Outcome:
        answer = answer_by(self._solver, problem)
        if answer == problem.answer:
            return problem
        rule = {CONTRADICTORY: Rule.CONTRADICTORY, UNDECIDED: Rule.UNDECIDED}.get(answer, Rule.NOT_ENTAILED)
        return rule, f"labelled {problem.answer}; {self._solver.name} finds {answer}"

    def _proved(self, problem: Problem) -> _Outcome:
        for proof in problem.proofs:
            report = self._verifier.verify(problem, summary(proof))
            if report.answer_correct and all(action.signal == VERIFIED for action in report.actions):
                return problem
        match self._prover.prove(problem):
            case Proved(answer, steps, _) if answer == problem.answer:
                return replace(problem, proofs=(steps,))
            case GaveUp(reason, _):
                return Rule.UNPROVED, reason.value
            case found:
                return Rule.UNPROVED, f"the search found {type(found).__name__.lower()}"

    def _drawn(self, problems: Iterable[Problem]) -> set[str]:
        """Ids drawn from groups of equal answer and difficulty in turn; in a group, in the order of a hash."""
        groups: dict[tuple[str | None, str], list[str]] = defaultdict(list)
        for problem in problems:
            groups[problem.answer, problem.difficulty].append(problem.id)
        for names in groups.values():
            names.sort(key=lambda name: hashlib.sha256(f"{self._seed}/{name}".encode()).digest())
        rounds = zip_longest(*[groups[key] for key in sorted(groups, key=str)])
        return {*islice((name for names in rounds for name in names if name is not None), PROOFWRITER_SIZE)}


def counts(choices: Iterable[Choice]) -> Counter[str]:
    """The number of records, of choices by rule, and of chosen problems by difficulty, as in :data:`PUBLISHED`."""
    found: Counter[str] = Counter()
    for choice in choices:
        found.update(("records", choice.rule))
        if choice.rule is Rule.CHOSEN and choice.problem and choice.problem.difficulty:
            found[choice.problem.difficulty] += 1
    return found


def _outside(problem: Problem) -> str:
    """The parts of the formulas that the reference implementation cannot read; empty if it can read them."""
    parts = [part for formula in problem.formulas() for part in subformulas(formula)]
    bound = {part.variable.name for part in parts if isinstance(part, Binder)}
    for part in parts:
        match part:
            case Eq() | Iff():
                return f"{'=' if isinstance(part, Eq) else '↔'} in {show(part)}"
            case Atom(predicate, arguments):
                names = [predicate, *[name for term in arguments for name in functions_within(term)]]
                if not arguments or any(isinstance(term, App) and term.arguments for term in arguments):
                    return f"no predicate of names and variables: {show(part)}"
                for name in names:
                    if not _NAME.fullmatch(name) or name in bound or _FREE.fullmatch(name):
                        return f"{name!r} in {show(part)}: not a name, or a free variable"
            case _:
                pass
    return ""


# -- files ------------------------------------------------------------------------------------------------------------


def select(given: Mapping[str, Sequence[Path]], selector: Selector) -> dict[str, list[Choice]]:
    """The choices from the files of each set.

    Raises:
        DataError: a file cannot be read.
        ProofR1Error: two files have a problem with the same id.
    """
    chosen: dict[str, list[Choice]] = {}
    for name, paths in given.items():
        if not paths:
            continue
        if name == "folio":
            chosen[name] = list(selector.folio(_read(paths, repair=False), _read(paths, repair=True)))
        else:
            chosen[name] = list((selector.proverqa if name == "proverqa" else selector.proofwriter)(_read(paths)))
    return chosen


def _read(paths: Iterable[Path], *, repair: bool | None = None) -> ProblemSet:
    """The problems of several files as one set."""
    problems: dict[str, Problem] = {}
    rejected: list[Rejected] = []
    for path in paths:
        found = read_problems(path, repair=repair)
        if taken := next((name for name in found if name in problems), None):
            raise ProofR1Error(f"{path}: another file already has a problem {taken!r}; give each file another name")
        problems.update(found)
        rejected.extend(found.rejected)
    return ProblemSet(problems, tuple(rejected))


def write(chosen: Mapping[str, Sequence[Choice]], out: Path) -> None:
    """Write the selection, and the sets that are not empty, into a folder."""
    with output(out / "selection.jsonl") as file:
        for name, choices in chosen.items():
            for choice in choices:
                record = {"set": name, "id": choice.id, "rule": choice.rule, "detail": choice.detail}
                file.write(msgspec.json.encode(record) + b"\n")
    for name, choices in chosen.items():
        if problems := [one.problem for one in choices if one.rule is Rule.CHOSEN and one.problem]:
            write_problems(out / f"{name}.jsonl", problems)


def table(name: str, choices: Iterable[Choice]) -> str:
    """The counts of a set beside the published ones, one per line."""
    found, published = counts(choices), PUBLISHED[name]
    shown = [row for row in ("records", *Rule, "easy", "medium", "hard") if row in found or row in published]
    lines = [f"{row:<44}{found[row]:>6}{published.get(row, '–'):>11}" for row in shown]
    return "\n".join([f"{name:<44}{'here':>6}{'published':>11}", *lines, ""])


def main() -> None:
    """Select, write and compare the counts with the published ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--proverqa", type=Path, action="append", default=[], help="file of ProverQA, any difficulty")
    parser.add_argument("--folio", type=Path, action="append", default=[], help="file of FOLIO's validation split")
    parser.add_argument("--proofwriter", type=Path, action="append", default=[], help="file of ProofWriter, open world")
    parser.add_argument("--exclude", type=Path, help="file of ids to leave out, one per line, such as the warm-up's")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder for the sets and their selection")
    options = parser.parse_args()
    given = {name: getattr(options, name) for name in PUBLISHED}
    if not any(given.values()):
        parser.error("name a file to select from: --proverqa, --folio or --proofwriter")
    try:
        check_folder(options.out)
        for name in ("selection", *PUBLISHED):
            check_output(options.out / f"{name}.jsonl", inputs=[path for paths in given.values() for path in paths])
        lines = options.exclude.read_text(encoding="utf-8").splitlines() if options.exclude else []
        ids = [line.strip() for line in lines if line.strip()]
        chosen = select(given, Selector(excluded=frozenset(ids)))
        write(chosen, options.out)
    except (OSError, ProofR1Error) as error:
        parser.error(str(error))
    for name, choices in chosen.items():
        sys.stdout.write(table(name, choices))
    seen = {choice.id for choices in chosen.values() for choice in choices}
    if unknown := [name for name in ids if name not in seen]:
        sys.stderr.write(f"{options.exclude}: {len(unknown)} ids are in no file; the first: {unknown[0]}\n")


if __name__ == "__main__":
    main()
