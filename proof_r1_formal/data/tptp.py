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
from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

from proof_r1_formal.data.draft import Origin
from proof_r1_formal.data.problem import GOAL_TRUE, Problem, Rejected
from proof_r1_formal.data.statements import Goal, Theory, closed, first_token, refuse, statements, tree_of
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    TOP,
    And,
    App,
    Atom,
    Eq,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Var,
    Xor,
    conjunction,
    var,
)

if TYPE_CHECKING:
    from lark import Token

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
        elif read := theory.read(statement, _annotated):
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


def _annotated(text: str) -> tuple[Formula, tuple[str, str]]:
    """The formula of a statement, with its name and role."""
    language, name, role, body, *_ = tree_of("tptp", text).children
    if language == "cnf":
        return closed(_Reader(text, clause=True).formula(body, {})), (_name(name), str(role))
    return _Reader(text, clause=False).formula(body, {}), (_name(name), str(role))


def _name(token: Any) -> str:
    """The name of a token; ``'cat'`` is the name ``cat``."""
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.type == "QUOTED" else str(token)


class _Reader:
    """Builds the formula of one statement; a clause may have free variables, and no connective but |."""

    def __init__(self, text: str, *, clause: bool) -> None:
        self._text = text
        self._clause = clause

    def formula(self, tree: Any, scope: dict[str, Var]) -> Formula:
        parts: list[Any] = tree.children
        if self._clause and tree.data in ("and_", "binary", "quantified"):
            raise refuse(self._text, first_token(tree), "a clause of cnf consists of literals and '|'")
        match tree.data:
            case "and_":
                return reduce(And, [self.formula(part, scope) for part in parts])
            case "or_":
                return reduce(Or, [self.formula(part, scope) for part in parts])
            case "not_":
                if self._clause and parts[0].data not in ("atom", "equal"):
                    raise refuse(self._text, first_token(tree), "a clause of cnf negates atoms only")
                return Not(self.formula(parts[0], scope))
            case "binary":
                return _joined(self.formula(parts[0], scope), parts[1], self.formula(parts[2], scope))
            case "quantified":
                variables = [var(str(name)) for name in parts[1:-1]]
                body = self.formula(parts[-1], {**scope, **{each.name: each for each in variables}})
                quantifier = ForAll if parts[0] == "!" else Exists
                return reduce(lambda inner, each: quantifier(each, inner), reversed(variables), body)
            case "equal":
                return Eq(self._term(parts[0], scope), self._term(parts[1], scope))
            case "unequal":
                return Not(Eq(self._term(parts[0], scope), self._term(parts[1], scope)))
            case "atom":
                return self._atom(parts[0], scope)
        raise AssertionError(f"grammar rule {tree.data} has no meaning")

    def _atom(self, tree: Any, scope: dict[str, Var]) -> Formula:
        head: Any = tree.children[0]
        if head.type == "VARIABLE":
            raise refuse(self._text, head, f"the variable {str(head)!r} stands where a formula is expected")
        if head in ("$true", "$false") and len(tree.children) == 1:
            return TOP if head == "$true" else BOTTOM
        term = self._term(tree, scope)
        assert isinstance(term, App)
        return Atom(term.function, term.arguments)

    def _term(self, tree: Any, scope: dict[str, Var]) -> Term:
        head: Any = tree.children[0]
        match head.type:
            case "VARIABLE" if head in scope:
                return scope[head]
            case "VARIABLE" if self._clause:
                return var(str(head))
            case "VARIABLE":
                raise refuse(self._text, head, f"no quantifier binds the variable {str(head)!r}")
            case "NUMBER" | "DISTINCT":
                raise refuse(self._text, head, f"{str(head)!r} is not read: TPTP calls any two such things different")
            case "DOLLAR":
                raise refuse(self._text, head, f"{str(head)!r} is not read; known are $true and $false")
        return App(_name(head), tuple([self._term(part, scope) for part in tree.children[1:]]))


def _joined(left: Formula, connective: Token, right: Formula) -> Formula:
    match str(connective):
        case "<=>":
            return Iff(left, right)
        case "<~>":
            return Xor(left, right)
        case "=>":
            return Implies(left, right)
        case "<=":
            return Implies(right, left)
        case "~|":
            return Not(Or(left, right))
        case "~&":
            return Not(And(left, right))
    raise AssertionError(f"connective {connective} has no meaning")
