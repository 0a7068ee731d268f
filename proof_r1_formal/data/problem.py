"""Problems: premises, answer options and reference proofs, and the result of reading a file of them.

A problem is plain data. Readers (``data.proverqa``, ``data.folio``, ``data.native``) make problems. An unusable
record becomes a :class:`Rejected` with its reasons; no record is dropped silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from proof_r1_formal.errors import ProofR1Error, is_text, require_type
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import Formula, Node, Not

if TYPE_CHECKING:
    from rich.console import RenderableType

TRUE, FALSE, UNCERTAIN = "True", "False", "Uncertain"
"""Labels of the options of three-way problems."""

GOAL_TRUE, GOAL_FALSE, GOAL_UNCERTAIN = "h_goal_true", "h_goal_false", "h_goal_uncertain"
"""Ids of the options of three-way problems."""

THREE_WAY: Mapping[str, str] = MappingProxyType(
    {"true": GOAL_TRUE, "false": GOAL_FALSE, "uncertain": GOAL_UNCERTAIN, "unknown": GOAL_UNCERTAIN}
)
"""The label of a three-way answer, as datasets spell it in any case -> the id of its option."""

LABELS: Mapping[str, str] = MappingProxyType({GOAL_TRUE: TRUE, GOAL_FALSE: FALSE, GOAL_UNCERTAIN: UNCERTAIN})
"""The id of an option of three-way problems -> its label."""


_FORMULA = "parse_formula() makes one from text"


@dataclass(frozen=True, slots=True)
class Premise:
    """A named premise.

    Attributes:
        id: ``h1``, ``h2``, … in the order of the problem.
        formula: the formula that the checks use.
        source: the formula's text in the file.
        text: the premise in English; empty if the file has none.
    """

    id: str
    formula: Formula
    source: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An answer that can be chosen: binding its formula under its id answers the problem.

    Attributes:
        id: ``h_goal_true``, ``h_goal_false``, ``h_goal_uncertain`` in the three-way datasets.
        label: ``True``, ``False``, ``Uncertain``, or the choice's own name. Another spelling of the three, such as
            ``unknown``, becomes the usual one.
        formula: the goal, its negation, and (for Uncertain) the goal again.
    """

    id: str
    label: str
    formula: Formula

    def __post_init__(self) -> None:
        usual = THREE_WAY.get(self.label.strip().casefold()) if isinstance(self.label, str) else None
        if usual is not None:
            object.__setattr__(self, "label", LABELS[usual])


def three_way_options(goal: Formula) -> tuple[Option, ...]:
    """The options of a three-way problem about ``goal``; Uncertain carries the goal itself, as in the datasets."""
    require_type(goal, Node, "goal", _FORMULA)
    return tuple(map(Option, LABELS, LABELS.values(), (goal, Not(goal), goal)))


@dataclass(frozen=True, slots=True)
class ReferenceStep:
    """A step of a reference proof, its conclusion as text."""

    id: str
    dependencies: tuple[str, ...]
    conclusion: str
    rule: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A logical-reasoning question with formal premises.

    Attributes:
        id: ``<stem or difficulty>/<id>``, unique in its file.
        premises: in order, ids unique.
        options: ids unique and different from premise ids.
        answer: id of the right option, if known.
        question: the question in English.
        difficulty: ``easy``, ``medium``, ``hard`` or the dataset's own word.
        proofs: reference proofs, terminal step included.
        notes: what the reader repaired or found odd, one sentence each.
    """

    id: str
    premises: tuple[Premise, ...]
    options: tuple[Option, ...]
    answer: str | None = None
    question: str = ""
    difficulty: str = ""
    proofs: tuple[tuple[ReferenceStep, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def option(self, option_id: str | None) -> Option | None:
        """The option of that id, if there is one."""
        return next((option for option in self.options if option.id == option_id), None)

    @property
    def is_uncertain(self) -> bool:
        """Whether the right option is known, and is the one labelled Uncertain."""
        option = self.option(self.answer)
        return option is not None and option.label == UNCERTAIN

    def formulas(self) -> Iterator[Formula]:
        """The formulas of the premises, then of the options."""
        yield from [premise.formula for premise in self.premises]
        yield from [option.formula for option in self.options]

    def signature(self) -> Signature:
        """The symbols of premises and options.

        Raises:
            SignatureError: a symbol is used in two ways.
        """
        return Signature.infer(self.formulas())

    def __rich__(self) -> RenderableType:
        from proof_r1_formal.data import display  # it needs Rich
        from proof_r1_formal.text.show import show

        premises = [(premise.id, show(premise.formula), premise.text) for premise in self.premises]
        labels = [f"{option.label} (right)" if option.id == self.answer else option.label for option in self.options]
        options = [(o.id, show(o.formula), label) for o, label in zip(self.options, labels, strict=True)]
        return display.problem(self.id, premises, options, self.question)

    def _repr_html_(self) -> str:
        from proof_r1_formal.data import display

        return display.html(self)


def require_usable(problem: Problem) -> None:
    """Check what Python does not check when a program makes a problem; the readers of files reject such records.

    Raises:
        TypeError: a part has another type than its class says.
        ProofR1Error: two parts have one id, an id is not valid Unicode, or the answer is the id of no option.
    """
    require_type(problem, Problem, "problem", "read_problems() reads problems from a file")
    require_type(problem.id, str, "the id of a problem", "give a text")
    named: tuple[tuple[str, type, Sequence[Premise | Option]], ...] = (
        ("premise", Premise, problem.premises),
        ("option", Option, problem.options),
    )
    for name, kind, parts in named:
        if type(parts) is not tuple:  # to test for a Sequence takes a microsecond
            require_type(parts, Sequence, f"the {name}s of problem {problem.id!r}", "give a tuple")
        for part in parts:
            if isinstance(part, kind) and type(part.id) is str and isinstance(part.formula, Node):
                continue
            require_type(part, kind, f"each {name} of problem {problem.id!r}", "see the class")
            require_type(part.id, str, f"the id of a {name} of problem {problem.id!r}", "give a text")
            require_type(part.formula, Node, f"the formula of {name} {part.id!r}", _FORMULA)
    ids = [*[premise.id for premise in problem.premises], *[option.id for option in problem.options]]
    if len(set(ids)) < len(ids):
        twice = next(each for each, count in Counter(ids).items() if count > 1)
        raise ProofR1Error(f"problem {problem.id!r}: more than one premise or option has the id {twice!r}")
    if not is_text("".join((problem.id, *ids))):
        odd = next(each for each in (problem.id, *ids) if not is_text(each))
        raise ProofR1Error(f"problem {problem.id!r}: the id {odd!r} is not valid Unicode")
    if problem.answer is not None and problem.option(problem.answer) is None:
        known = ", ".join([option.id for option in problem.options])
        raise ProofR1Error(
            f"problem {problem.id!r}: the answer {problem.answer!r} is the id of no option; its options are: {known}"
        )


@dataclass(frozen=True, slots=True)
class Rejected:
    """An unusable record.

    Attributes:
        id: the id that the problem would have had.
        line: 1-based line (JSONL) or 1-based position in the array (JSON).
        reasons: one sentence each, with the place.
    """

    id: str
    line: int
    reasons: tuple[str, ...]


_NAMED = 10  # rejected records that messages name
_LONGEST_ID = 100  # characters of an id that messages show


def completed_id(last: str, known: Iterable[str]) -> str:
    """A message's advice on an id without its first part. Nothing is guessed, because the id may be a position."""
    stems = {name.rpartition("/")[0] for name in known if name.rpartition("/")[2] == last != name}
    return "" if len(stems) != 1 else "; if it is {0}/{1}, say so: --field problem_id={0}/{{KEY}}".format(*stems, last)


def shown_id(id_: str) -> str:
    """An id of a file for a message: cut if it is long, and without control characters."""
    shown = id_ if len(id_) <= _LONGEST_ID else f"{id_[:_LONGEST_ID]}…"
    return shown if shown.isprintable() else ascii(shown)


class ProblemSet(Mapping[str, Problem]):
    """The problems of a file by id, in file order, and the records that were rejected.

    It is a mapping from id to problem: ``problems["easy/7"]``, ``problems.values()``, ``len(problems)``.
    """

    __slots__ = ("_problems", "rejected")

    def __init__(self, problems: Mapping[str, Problem], rejected: tuple[Rejected, ...] = ()) -> None:
        self._problems = dict(problems)
        self.rejected = rejected

    def __getitem__(self, problem_id: str) -> Problem:
        """The problem of that id.

        Raises:
            KeyError: no problem has this id.
        """
        try:
            return self._problems[problem_id]
        except KeyError:
            names = ", ".join(self._problems) if len(self) <= 5 else f"{', '.join(list(self)[:5])}, …"
            raise KeyError(f"no problem has the id {problem_id!r}; ids here: {names or 'none'}") from None

    def __contains__(self, problem_id: object) -> bool:
        return problem_id in self._problems

    def __iter__(self) -> Iterator[str]:
        return iter(self._problems)

    def __len__(self) -> int:
        return len(self._problems)

    def left_out(self, source: object) -> list[str]:
        """The first rejected records with their reasons, then how many there are; empty if all records are usable.

        The lines name the file ``source``.
        """
        lines = [
            f"{source}, record {one.line}: problem {shown_id(one.id)} is unusable: {'; '.join(one.reasons)}"
            for one in self.rejected[:_NAMED]
        ]
        count, total = len(self.rejected), len(self.rejected) + len(self)
        return [*lines, f"{source}: {count} of {total} problems left out"] if count else []

    def __repr__(self) -> str:
        return f"<ProblemSet: {len(self)} problems, {len(self.rejected)} rejected records>"
