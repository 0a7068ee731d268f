"""TPTP problems to problems: FOF, CNF and TFF, with axioms as premises and each conjecture as the goal of a problem.

In: the text of a file of annotated formulas (``fof(name, role, formula).``). Premises become h1, h2, …; the id of a
problem is ``<stem>/<name of the conjecture>``. The clauses of a ``negated_conjecture`` make one goal, the negation of
their conjunction: the premises entail it exactly if they and the clauses have no model. A file with neither asks
whether its formulas contradict each other. The status ``Theorem`` of a conjecture, or ``Unsatisfiable`` of clauses, in
the file's comments is the answer True.

``include('Axioms/SET001-0.ax').`` is read from the folder of the file that has it, else from the folder that the
environment variable TPTP names; ``include('file', [one, two]).`` takes formulas by their names. A formula that is
included again counts once.
The types of TFF are sorts (``data.tff``).

Refused, with the line: the polymorphic and higher-order languages, arithmetic, other roles, free variables in FOF and
TFF, numbers and names in double quotes (TPTP calls any two different), and defined words other than ``$true``,
``$false``, ``$i``, ``$o`` and ``$tType``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar

from proof_r1_formal.data.draft import Origin
from proof_r1_formal.data.problem import GOAL_TRUE, Problem, Rejected
from proof_r1_formal.data.records import read_bytes
from proof_r1_formal.data.statements import FormulaReader, Goal, Statement, Theory, close, statements
from proof_r1_formal.data.tff import Types
from proof_r1_formal.errors import DataError
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    TOP,
    App,
    Eq,
    Exists,
    ForAll,
    Formula,
    Not,
    Term,
    Var,
    conjunction,
    var,
)
from proof_r1_formal.text.parse import MAX_LENGTH

PREMISES = frozenset({"axiom", "hypothesis", "definition", "assumption", "lemma", "theorem", "corollary"})
"""The roles of formulas that are assumed."""
_SKIPPED = r"'(?:[^'\\]|\\.)*(?:'|\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\Z)|%[^\n]*|/\*.*?(?:\*/|\Z)|\d+\.\d+"
_START = re.compile(r"(?:\s|%[^\n]*\n|/\*.*?\*/)*+(?:fof|cnf|tff|thf|tcf|tpi|include)\s*\(", re.DOTALL)
_NAME = r"(?:'(?:[^'\\]|\\.)+'|\w+)"
_INCLUDE = re.compile(
    rf"include\s*\(\s*'(?P<file>(?:[^'\\]|\\.)+)'\s*"
    rf"(?:,\s*(?:\*|\[\s*(?P<names>{_NAME}(?:\s*,\s*{_NAME})*)\s*\])\s*)?\)"
)
_HEAD = re.compile(rf"\w+\s*\(\s*(?P<name>{_NAME})\s*,\s*(?P<role>\w+)")
_LANGUAGES = ("fof", "cnf", "tff")
_MAX_INCLUDES = 32
_STATUS = re.compile(r"^%\s*Status\s*:\s*(\w+)", re.MULTILINE)


def recognises(text: str) -> bool:
    """Whether the text begins like a file of TPTP."""
    return _START.match(text) is not None


def read_text(text: str, origin: Origin) -> Iterator[Problem | Rejected]:
    """The problems of a file."""
    theory, negated, types = Theory(origin), list[Goal](), Types()
    formulas: list[tuple[Statement, Formula]] = []
    for statement in _with_included(text, origin.path, theory):
        language = (re.match(r"\w*", statement.text) or "")[0]
        if language not in _LANGUAGES:
            theory.reject(statement, f"this is {language!r}; supported are {', '.join(_LANGUAGES)}")
        elif read := theory.read(statement, lambda text: _annotation(text, types)):
            formula, (name, role) = read
            if role == "type":
                continue  # which is among the types now
            formulas.append((statement, formula))
            if role in PREMISES:
                theory.assume(formula, statement.text)
            elif role in ("conjecture", "negated_conjecture"):
                (theory.goals if role == "conjecture" else negated).append(Goal(name, formula, statement))
            else:
                theory.reject(
                    statement,
                    f"the role {role!r} is not read; known roles: {', '.join(sorted(PREMISES))}, "
                    "conjecture, negated_conjecture",
                )
    for statement, formula in formulas:  # now, as a declaration may follow the use of a symbol
        if (wrong := types.check(formula)) is not None:
            theory.reject(statement, wrong)
    if negated and theory.goals:
        theory.reject(negated[0].statement, "a file has a conjecture or a negated_conjecture, not both")
    clauses = negated or not theory.goals
    if negated:
        goal = Not(conjunction(tuple([each.formula for each in negated])))
        theory.goals.append(negated[0]._replace(formula=goal))
    status, answer = _STATUS.search(text), None
    if status and status[1] == ("Unsatisfiable" if clauses else "Theorem"):
        answer = GOAL_TRUE
    elif status:
        theory.notes.append(f"the status {status[1]!r} does not tell the answer, which may be False or Uncertain")
    return theory.problems(answer, "the file has no formula: it has no question", types=types.statements)


def _with_included(text: str, file: Path | None, theory: Theory) -> Iterator[Statement]:
    """The statements of a file, with those of other files in the place of its ``include``."""
    read: set[tuple[Path, frozenset[str] | None]] = set() if file is None else {(file.resolve(), None)}

    def within(text: str, folder: Path | None, called: str, depth: int) -> Iterator[Statement]:
        for statement in statements(text, _SKIPPED, called):
            found = _INCLUDE.fullmatch(statement.text) if statement.ends else None
            if found is None:
                yield statement
                continue
            name = re.sub(r"\\(.)", r"\1", found["file"])
            path = None if folder is None else _included(name, folder)
            if path is None:
                where = "a text has no folder to include files from" if folder is None else f"there is no file {name!r}"
                theory.reject(statement, f"include: {where}; put the formulas of the other file in its place")
                continue
            chosen = None if found["names"] is None else frozenset(map(_bare, found["names"].split(",")))
            if depth == _MAX_INCLUDES:
                theory.reject(statement, f"files that include each other more than {_MAX_INCLUDES} deep")
            elif (path.resolve(), chosen) not in read and (path.resolve(), None) not in read:
                read.add((path.resolve(), chosen))
                try:
                    content = read_bytes(path).decode()
                except (DataError, UnicodeDecodeError) as error:
                    theory.reject(statement, f"include: {error}")
                    continue
                yield from _chosen(list(within(content, path.parent, name, depth + 1)), chosen, statement, theory)

    included: set[Statement] = set()
    for statement in within(text, None if file is None else file.parent, "", 0):
        if not statement.file:
            yield statement
        elif statement not in included:
            included.add(statement)
            yield statement


def _included(name: str, folder: Path) -> Path | None:
    """The file that a statement includes, if there is one."""
    root = os.environ.get("TPTP")
    try:
        places = [folder / name, *([Path(root) / name] if root else ())]
        return next((place for place in places if place.is_file()), None)
    except ValueError:  # a null character
        return None


def _chosen(
    found: list[Statement], names: frozenset[str] | None, statement: Statement, theory: Theory
) -> Iterator[Statement]:
    """The statements of those names; all if it is None. Declarations of types come in any case."""
    if names is None:
        yield from found
        return
    missing = set(names)
    for each in found:
        head = _HEAD.match(each.text)
        if head is None:
            yield each  # which is an error
            continue
        missing.discard(_bare(head["name"]))
        if head["role"] == "type" or _bare(head["name"]) in names:
            yield each
    if missing:
        theory.reject(statement, f"include: the file has no formula {', '.join(sorted(missing))}")


def _bare(name: str) -> str:
    """The name without quotes and blanks."""
    return re.sub(r"\\(.)", r"\1", name.strip().strip("'"))


def _annotation(text: str, types: Types) -> tuple[Formula, tuple[str, str]]:
    """The formula of a statement, with its name and role; a declaration goes to the types, and says ⊤."""
    from proof_r1_formal.data.trees import tree_of  # which loads Lark

    parts: list[Any] = tree_of("tptp", text, most=MAX_LENGTH).children
    language, name, role, body, *_ = parts
    reader = _Reader(text, str(language), types)
    if (body.data == "typing") != (role == "type") or (role == "type" and language != "tff"):
        raise reader.refuse(role, "a declaration of a type is tff(name, type, symbol: type)")
    if role == "type":
        symbol, type_ = body.children
        types.declare(_name(symbol), type_, _name, reader.refuse)
        return TOP, ("", "type")
    formula = reader.formula(body, {})
    return close(formula) if language == "cnf" else formula, (_name(name), str(role))


def _name(token: Any) -> str:
    """The name of a token; ``'cat'`` is the name ``cat``."""
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.type == "QUOTED" else str(token)


class _Reader(FormulaReader):
    """Builds the formula of one statement; a clause may have free variables, and no connective but |."""

    truths: ClassVar = {"$true": TOP, "$false": BOTTOM}

    def __init__(self, text: str, language: str, types: Types) -> None:
        super().__init__(text)
        self._clause = language == "cnf"
        self._typed = language == "tff"
        self._types = types

    def formula(self, tree: Any, scope: Mapping[str, Var]) -> Formula:
        parts: list[Any] = tree.children
        if self._clause and tree.data in ("binary", "quantified"):
            raise self.refuse(tree, "a clause of cnf consists of literals and '|'")
        match tree.data:
            case "binary" | "or_":
                return self.connect(parts, scope)
            case "not_":
                if self._clause and parts[0].data not in ("atom", "equal"):
                    raise self.refuse(tree, "a clause of cnf negates atoms only")
                return Not(self.formula(parts[0], scope))
            case "quantified":
                variables = [self._variable(each.children) for each in parts[1:-1]]
                body = self.formula(parts[-1], {**scope, **{each.name: each for each in variables}})
                quantifier = ForAll if parts[0] == "!" else Exists
                return reduce(lambda inner, each: quantifier(each, inner), reversed(variables), body)
            case "equal" | "unequal":
                equation = Eq(self.term(parts[0], scope), self.term(parts[1], scope))
                return equation if tree.data == "equal" else Not(equation)
            case "atom":
                return self.atom(parts[0], scope)
        raise AssertionError(f"grammar rule {tree.data} has no meaning")

    def _variable(self, parts: Sequence[Any]) -> Var:
        name, *type_ = parts
        if type_ and not self._typed:
            raise self.refuse(type_[0], "only tff has typed variables")
        return var(str(name), self._types.sort(type_[0], _name, self.refuse)) if type_ else var(str(name))

    def term(self, tree: Any, scope: Mapping[str, Var]) -> Term:
        head: Any = tree.children[0]
        match head.type:
            case "VARIABLE" if head in scope:
                return scope[str(head)]
            case "VARIABLE" if self._clause:
                return var(str(head))
            case "VARIABLE":
                raise self.refuse(head, f"no quantifier binds the variable {str(head)!r}")
            case "NUMBER" | "DISTINCT":
                raise self.refuse(head, f"{str(head)!r} is not read: TPTP calls any two such things different")
            case "DOLLAR":
                raise self.refuse(head, f"{str(head)!r} is not read; known are $true and $false")
        return App(_name(head), tuple([self.term(part, scope) for part in tree.children[1:]]))
