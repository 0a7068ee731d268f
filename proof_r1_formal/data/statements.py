"""Shared parts of the readers of problems that are texts of statements: TPTP and Prover9.

In: a text whose statements end with dots. Out: the statements with their lines, the trees of a grammar, and one problem
for each goal. A file with a statement that cannot be read has no problem, and every reason is given.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from proof_r1_formal.data.draft import Draft, Origin
from proof_r1_formal.data.problem import Premise, Problem, Rejected, three_way_options
from proof_r1_formal.errors import ParseError, SignatureError
from proof_r1_formal.kernel.syntax import And, Atom, ForAll, Formula, Iff, Implies, Not, Or, Term, Var, Xor, conjunction
from proof_r1_formal.text.show import show

if TYPE_CHECKING:  # Lark takes time to load
    from lark import Token, Tree

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement without its dot and without comments.

    Attributes:
        text: of the statement.
        line: where it begins.
        ends: whether a dot ends it.
        file: the name of its file, if that is included in another.
    """

    text: str
    line: int
    ends: bool
    file: str = ""

    def place(self, line: int = 1) -> str:
        """Where a line of the statement is."""
        number = self.line + line - 1
        return f"{self.file}, line {number}" if self.file else f"line {number}"


def statements(text: str, skipped: str, file: str = "") -> Iterator[Statement]:
    """The statements of a text, which is that of an included file if that has a name.

    ``skipped`` is the pattern of what holds no dot that ends a statement: quoted names, numbers, and comments, which
    begin with ``%`` or ``/`` and become blanks.
    """
    parts: list[str] = []
    position, line = 0, 1
    for found in re.finditer(rf"{skipped}|(?P<end>\.)", text, re.DOTALL):
        parts.append(text[position : found.start()])
        position = found.end()
        if not found["end"]:
            comment = found[0][0] in "%/"
            parts.append("\n" * found[0].count("\n") + " " if comment else found[0])
            continue
        whole = "".join(parts)
        yield _statement(whole, line, file, ends=True)
        parts, line = [], line + whole.count("\n")
    rest = "".join((*parts, text[position:]))
    if rest.strip():
        yield _statement(rest, line, file, ends=False)


def _statement(text: str, line: int, file: str, *, ends: bool) -> Statement:
    stripped = text.lstrip()
    return Statement(stripped.rstrip(), line + text.count("\n", 0, len(text) - len(stripped)), ends, file)


def close(formula: Formula) -> Formula:
    """The universal closure."""
    variables = sorted(formula.free, key=lambda each: each.name, reverse=True)
    return reduce(lambda inner, variable: ForAll(variable, inner), variables, formula)


_CONNECTIVES: Mapping[str, Callable[[Formula, Formula], Formula]] = {
    "&": And,
    "|": Or,
    "<~>": Xor,
    "~&": lambda left, right: Not(And(left, right)),
    "~|": lambda left, right: Not(Or(left, right)),
    **dict.fromkeys(("<=>", "<->"), Iff),
    **dict.fromkeys(("=>", "->"), Implies),
    **dict.fromkeys(("<=", "<-"), lambda left, right: Implies(right, left)),
}


class FormulaReader(ABC):
    """Builds the formula of one statement; ``truths`` are the signs of ⊤ and ⊥."""

    truths: ClassVar[Mapping[str, Formula]]

    def __init__(self, text: str) -> None:
        self.text = text

    @abstractmethod
    def formula(self, tree: Any, scope: Mapping[str, Var]) -> Formula:
        """The formula of a tree in which quantifiers bind the variables of ``scope``."""

    @abstractmethod
    def term(self, tree: Any, scope: Mapping[str, Var]) -> Term:
        """The term of a tree."""

    def connect(self, parts: Sequence[Any], scope: Mapping[str, Var]) -> Formula:
        """The formula of trees with connectives between them, which group to the left."""
        left = self.formula(parts[0], scope)
        for connective, right in zip(parts[1::2], parts[2::2], strict=True):
            left = _CONNECTIVES[connective](left, self.formula(right, scope))
        return left

    def atom(self, tree: Any, scope: Mapping[str, Var]) -> Formula:
        """The atom of a tree."""
        head: Token = tree.children[0]
        if head in self.truths and len(tree.children) == 1:
            return self.truths[head]
        term = self.term(tree, scope)
        if isinstance(term, Var):
            raise self.refuse(head, f"the variable {term.name!r} stands where a formula is expected")
        return Atom(term.function, term.arguments)

    def refuse(self, place: Tree[Token] | Token, problem: str) -> ParseError:
        """The error at a token, or at the first token of a tree."""
        token = place if isinstance(place, str) else next(place.scan_values(lambda _: True))
        return ParseError(self.text, token.start_pos or 0, problem)


class Goal(NamedTuple):
    """A goal: its name, formula, the text and line of its statement, and the question if it is not the usual one."""

    name: str
    formula: Formula
    statement: Statement
    question: str = ""


CONTRADICTION = "contradiction"
"""Ends the id of the problem whether the formulas of a file without a goal contradict each other."""
_CONTRADICTORY = "Do the formulas contradict each other?"
TYPES = "This is true of the types that the file declares."
"""The sentence of a premise that says the types of a symbol."""


def _no_types(formulas: Sequence[Formula]) -> Sequence[Formula]:
    del formulas
    return ()


class Theory:
    """Premises and goals while they are read: a statement that cannot be read makes every goal unusable."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._reasons: list[str] = []
        self.notes: list[str] = []
        self.premises: list[Premise] = []
        self.goals: list[Goal] = []

    def reject(self, statement: Statement, problem: str) -> None:
        """Reject the file because of a statement."""
        self._reasons.append(f"{statement.place()}: {problem}")

    def read(self, statement: Statement, reader: Callable[[str], tuple[Formula, _T]]) -> tuple[Formula, _T] | None:
        """The statement as a reader returns it; None, with a reason, if it cannot be read."""
        from proof_r1_formal.text.spellings import MAX_DEPTH

        try:
            if not statement.ends:
                raise ParseError(statement.text, len(statement.text), "no dot ends the statement")
            formula, rest = reader(statement.text)
            if formula.height > MAX_DEPTH:
                raise ParseError(statement.text, 0, f"a formula nested deeper than {MAX_DEPTH} levels")
        except ParseError as error:
            place = error.location
            quoted = statement.text.splitlines()[place.line - 1 :][:1] or [""]
            self._reasons.append(f"{statement.place(place.line)}: {error.problem} in {quoted[0][:80]!r}")
        except RecursionError:
            self.reject(statement, f"a formula nested deeper than {MAX_DEPTH} levels")
        else:
            return formula, rest
        return None

    def assume(self, formula: Formula, source: str) -> None:
        """Add a premise."""
        self.premises.append(Premise(f"h{len(self.premises) + 1}", formula, source))

    def problems(
        self, answer: str | None, without: str, *, types: Callable[[Sequence[Formula]], Sequence[Formula]] = _no_types
    ) -> Iterator[Problem | Rejected]:
        """The problem of each goal; without a goal, one that asks whether the formulas contradict each other.

        The claim of that one is the negation of their conjunction, and it has no premises: what contradicts itself
        cannot be assumed.

        Args:
            answer: of each, if it is known.
            without: the reason to give for a file without a formula.
            types: what has to be said of the types of symbols beside some formulas; it becomes further premises.
        """
        if not self._reasons and not self.goals and self.premises:
            claim = Not(conjunction(tuple([premise.formula for premise in self.premises])))
            self.goals.append(Goal(CONTRADICTION, claim, Statement("", 1, ends=True), _CONTRADICTORY))
            self.premises.clear()
            self.notes.append("the file has no goal: the question is whether its formulas contradict each other")
        self._check_heights()
        reasons = self._reasons if self._reasons or self.goals else [without]
        if reasons:
            yield Rejected(self._origin.stem, self._origin.line, tuple(reasons))
            return
        for goal in self.goals:
            draft = Draft(replace(self._origin, line=goal.statement.line))
            for note in self.notes:
                draft.note(note)
            try:
                stated = types([*[premise.formula for premise in self.premises], goal.formula])
            except SignatureError:
                stated = ()  # the draft says which symbol is used in two ways
            first = len(self.premises) + 1
            further = [Premise(f"h{n}", formula, show(formula), TYPES) for n, formula in enumerate(stated, first)]
            yield draft.finish(
                Problem(
                    id=f"{self._origin.stem}/{goal.name}",
                    premises=(*self.premises, *further),
                    options=three_way_options(goal.formula),
                    answer=answer,
                    question=goal.question or f"Do the premises entail {show(goal.formula)}?",
                )
            )

    def _check_heights(self) -> None:
        """Reject goals that are made of too many formulas."""
        from proof_r1_formal.text.spellings import MAX_DEPTH

        for goal in self.goals:
            if goal.formula.height > MAX_DEPTH:
                self.reject(goal.statement, f"a claim about more formulas than a formula has levels ({MAX_DEPTH})")
