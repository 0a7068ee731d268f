"""TPTP problems to problems: FOF and CNF, with axioms as premises and each conjecture as the goal of a problem.

In: the text of a file of annotated formulas (``fof(name, role, formula).``). Premises become h1, h2, …; the id of a
problem is ``<stem>/<name of the conjecture>``. The clauses of a ``negated_conjecture`` make one goal, the negation of
their conjunction: the premises entail it exactly if they and the clauses have no model. The status ``Theorem`` of
a conjecture, or ``Unsatisfiable`` of these clauses, in the file's comments is the answer True.

Refused, with the line: ``include``, the typed and higher-order languages, other roles, free variables in FOF, numbers
and names in double quotes (TPTP calls any two different), and defined words other than ``$true`` and ``$false``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, ClassVar

from proof_r1_formal.data.draft import Origin
from proof_r1_formal.data.problem import GOAL_TRUE, Problem, Rejected
from proof_r1_formal.data.statements import FormulaReader, Goal, Theory, close, statements
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
_STATUS = re.compile(r"^%\s*Status\s*:\s*(\w+)", re.MULTILINE)


def recognises(text: str) -> bool:
    """Whether the text begins like a file of TPTP."""
    return _START.match(text) is not None


def read_text(text: str, origin: Origin) -> Iterator[Problem | Rejected]:
    """The problems of a file."""
    theory, negated = Theory(origin), list[Goal]()
    for statement in statements(text, _SKIPPED):
        language = (re.match(r"\w*", statement.text) or "")[0]
        if language == "include":
            theory.reject(statement, "include is not followed; put the formulas of the other file in its place")
        elif language not in ("fof", "cnf"):
            theory.reject(statement, f"this is {language!r}; supported are fof and cnf")
        elif read := theory.read(statement, _annotation):
            formula, (name, role) = read
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
    if negated and theory.goals:
        theory.reject(negated[0].statement, "a file has a conjecture or a negated_conjecture, not both")
    if negated:
        goal = Not(conjunction(tuple([each.formula for each in negated])))
        theory.goals.append(negated[0]._replace(formula=goal))
    status, answer = _STATUS.search(text), None
    if status and status[1] == ("Unsatisfiable" if negated else "Theorem"):
        answer = GOAL_TRUE
    elif status:
        theory.notes.append(f"the status {status[1]!r} does not tell the answer, which may be False or Uncertain")
    return theory.problems(answer, "the file has no conjecture and no negated_conjecture: it has no question")


def _annotation(text: str) -> tuple[Formula, tuple[str, str]]:
    """The formula of a statement, with its name and role."""
    from proof_r1_formal.data.trees import tree_of  # which loads Lark

    language, name, role, body, *_ = tree_of("tptp", text, most=MAX_LENGTH).children
    formula = _Reader(text, clause=language == "cnf").formula(body, {})
    return close(formula) if language == "cnf" else formula, (_name(name), str(role))


def _name(token: Any) -> str:
    """The name of a token; ``'cat'`` is the name ``cat``."""
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.type == "QUOTED" else str(token)


class _Reader(FormulaReader):
    """Builds the formula of one statement; a clause may have free variables, and no connective but |."""

    truths: ClassVar = {"$true": TOP, "$false": BOTTOM}

    def __init__(self, text: str, *, clause: bool) -> None:
        super().__init__(text)
        self._clause = clause

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
                variables = [var(str(name)) for name in parts[1:-1]]
                body = self.formula(parts[-1], {**scope, **{each.name: each for each in variables}})
                quantifier = ForAll if parts[0] == "!" else Exists
                return reduce(lambda inner, each: quantifier(each, inner), reversed(variables), body)
            case "equal" | "unequal":
                equation = Eq(self.term(parts[0], scope), self.term(parts[1], scope))
                return equation if tree.data == "equal" else Not(equation)
            case "atom":
                return self.atom(parts[0], scope)
        raise AssertionError(f"grammar rule {tree.data} has no meaning")

    def term(self, tree: Any, scope: Mapping[str, Var]) -> Term:
        head: Any = tree.children[0]
        match head.type:
            case "VARIABLE" if head in scope or self._clause:
                return var(str(head))
            case "VARIABLE":
                raise self.refuse(head, f"no quantifier binds the variable {str(head)!r}")
            case "NUMBER" | "DISTINCT":
                raise self.refuse(head, f"{str(head)!r} is not read: TPTP calls any two such things different")
            case "DOLLAR":
                raise self.refuse(head, f"{str(head)!r} is not read; known are $true and $false")
        return App(_name(head), tuple([self.term(part, scope) for part in tree.children[1:]]))
