"""Inputs of Prover9 and Mace4 to problems: the assumptions are the premises, and each goal is one of a problem.

In: the text of a file with ``formulas(assumptions).`` (or ``sos``, ``usable``, ``demodulators``) and
``formulas(goals).``, each up to ``end_of_list.`` Premises become h1, h2, …; the ids of the problems are ``<stem>/1``,
…: Prover9 stops at the first goal that it proves, and here each is a question of its own. A file without goals asks
whether its assumptions contradict each other, as it asks Prover9.

Free names that begin with u to z are variables, bound by ∀ around the whole formula; with
``set(prolog_style_variables)`` those that begin with a capital. The operators are those of the manual's table
(``grammars/prover9.lark``); functions written as operators have their signs as names. Commands that guide the search
are left out with a note. Refused, with the line: commands that change what formulas mean, other lists, and two or more
numbers, which are constants for Prover9 and different things for Mace4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from proof_r1_formal.data.draft import Origin
from proof_r1_formal.data.problem import Problem, Rejected
from proof_r1_formal.data.statements import FormulaReader, Goal, Statement, Theory, close, statements
from proof_r1_formal.kernel.syntax import BOTTOM, TOP, App, Atom, Eq, Exists, ForAll, Formula, Not, Term, Var, var
from proof_r1_formal.text.parse import MAX_LENGTH

if TYPE_CHECKING:
    from lark import Token

_PREMISES = frozenset({"assumptions", "sos", "usable", "demodulators"})
_LEFT_OUT = frozenset({"hints", "weights", "actions", "given_selection", "keep", "delete"})
_CHANGES_MEANING = re.compile(r"op|redeclare|(?:set|clear)\s*\(\s*(?:arithmetic|integer_ring|prolog_style_variables)")
_PROLOG = re.compile(r"set\s*\(\s*prolog_style_variables\s*\)")
_SKIPPED = r"\"[^\"]*(?:\"|\Z)|%BEGIN.*?(?:END%|\Z)|%[^\n]*"
_START = re.compile(r"(?:\s|%[^\n]*\n)*+(?:formulas|clauses|list|set|clear|assign|op|redeclare|lex|if)\s*\(")
_LIST = re.compile(r"(formulas|clauses|list)\s*\(\s*(\w+)\s*\)")
_BARE = re.compile(r"[\w$]+|[-+*@/\\^'<>=!]+")


def recognises(text: str) -> bool:
    """Whether the text begins like an input of Prover9."""
    return _START.match(text) is not None and _LIST.search(text) is not None


def read_text(text: str, origin: Origin) -> Iterator[Problem | Rejected]:
    """The problems of a file."""
    theory, prolog, within, left_out = Theory(origin), False, "", list[str]()
    long: dict[str, None] = {}
    numbers: dict[str, Statement] = {}
    for statement in statements(text, _SKIPPED):
        if statement.text == "end_of_list":
            within = ""
        elif not within:
            named = _LIST.fullmatch(statement.text)
            if named is not None:
                within = named[2]
                if within not in (_LEFT_OUT if named[1] == "list" else _PREMISES | _LEFT_OUT | {"goals"}):
                    theory.reject(
                        statement,
                        f"{named[0]!r} is not read; known are formulas of {', '.join(sorted(_PREMISES))} and goals",
                    )
                    within = "unread"
            elif _PROLOG.fullmatch(statement.text) and not theory.premises and not theory.goals:
                prolog = True
            elif _CHANGES_MEANING.match(statement.text):
                theory.reject(statement, f"{statement.text!r} changes how formulas are read; it is not supported")
            else:
                left_out.append(statement.text)
        elif within in _LEFT_OUT:
            left_out.append(f"an entry of {within}")
        elif within != "unread":
            reader = _Reader(prolog=prolog)
            if (read := theory.read(statement, reader.read)) is None:
                continue
            long |= dict.fromkeys(sorted({name for name in read[1] if len(name.strip("_0123456789")) > 1}))
            numbers |= dict.fromkeys(reader.numbers, statement)
            if within == "goals":
                theory.goals.append(Goal(f"{len(theory.goals) + 1}", read[0], statement))
            else:
                theory.assume(read[0], statement.text)
    if len(numbers) > 1:
        theory.reject(
            list(numbers.values())[-1],
            f"the numbers {', '.join(sorted(numbers))} are constants for Prover9 "
            "and different things for Mace4; write names instead",
        )
    if within:
        theory.notes.append("no end_of_list ends the last list")
    if long:
        begin = "a capital" if prolog else "u to z"
        theory.notes.append(f"free names that begin with {begin} are variables in Prover9: {', '.join(long)}")
    if left_out:
        theory.notes.append(
            f"commands that guide the search are left out ({len(left_out)}): {', '.join(left_out)[:200]}"
        )
    return theory.problems(None, "the file has no formula: it has no question")


class _Reader(FormulaReader):
    """Builds the formula of one statement, and gathers the numbers in it."""

    truths: ClassVar = {"$T": TOP, "$F": BOTTOM}

    def __init__(self, *, prolog: bool) -> None:
        super().__init__("")
        self._variable = re.compile("[A-Z]" if prolog else "[u-z]")
        self.numbers: set[str] = set()

    def read(self, text: str) -> tuple[Formula, frozenset[str]]:
        """The universal closure of a formula, and the names of the variables free in it."""
        from proof_r1_formal.data.trees import tree_of  # which loads Lark

        self.text = text
        formula = self.formula(tree_of("prover9", text, most=MAX_LENGTH).children[0], {})
        return close(formula), frozenset([variable.name for variable in formula.free])

    def formula(self, tree: Any, scope: Mapping[str, Var]) -> Formula:
        parts: list[Any] = tree.children
        match tree.data:
            case "arrow" | "or_" | "and_":
                return self.connect(parts, scope)
            case "quantified" | "minus" if len(parts) == 2:
                return Not(self.formula(parts[1], scope))
            case "quantified":
                variable = var(_name(parts[1].children[0]))
                quantifier = ForAll if parts[0] == "all" else Exists
                return quantifier(variable, self.formula(parts[2], {**scope, variable.name: variable}))
            case "relation":
                left, right = self.term(parts[0], scope), self.term(parts[2], scope)
                sign = str(parts[1])
                if sign in ("=", "!="):
                    return Eq(left, right) if sign == "=" else Not(Eq(left, right))
                return Atom(sign, (left, right))
            case "name" | "call":
                return self.atom(tree, scope)
        raise self.refuse(tree, "a term stands where a formula is expected")

    def term(self, tree: Any, scope: Mapping[str, Var]) -> Term:
        parts: list[Any] = tree.children
        match tree.data:
            case "sum":
                return App(str(parts[1]), (self.term(parts[0], scope), self.term(parts[2], scope)))
            case "minus":
                return App("-", (self.term(parts[1], scope),))
            case "prime":
                return App("'", (self.term(parts[0], scope),))
            case "name" | "call":
                head, arguments = parts[0], parts[1:]
                name = _name(head)
                if head.type == "NAME" and "$" in name:
                    raise self.refuse(head, f"{name!r} is not read; known are $T and $F")
                if arguments and name in scope:
                    raise self.refuse(head, f"the variable {name!r} is used as a function or predicate")
                if name in scope or (not arguments and head.type == "NAME" and self._variable.match(name)):
                    return var(name)
                if not arguments and name.isdecimal():
                    self.numbers.add(name)
                return App(name, tuple([self.term(part, scope) for part in arguments]))
        raise self.refuse(tree, "a formula stands where a term is expected")


def _name(token: Token) -> str:
    """The name of a token; quotes are part of it where it could also be written without them, as another name."""
    inside = str(token).strip('"')
    return str(token) if _BARE.fullmatch(inside) else inside
