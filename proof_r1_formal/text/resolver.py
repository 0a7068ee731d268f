"""Parse trees to formulas: which names are variables, and which names are unclear (``text.names``).

In: a tree of ``grammars/infix.lark`` or ``grammars/prefix.lark``, its text, and how → groups. Out: a closed formula, or
an error at the place of a name.
"""

from __future__ import annotations

import re
from functools import reduce
from itertools import pairwise
from typing import Any

from lark import Token, Tree

from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    App,
    Atom,
    Connective,
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
)
from proof_r1_formal.kernel.transform import functions_within
from proof_r1_formal.text.binders import Binder, read_binder
from proof_r1_formal.text.conventions import Convention, Grouping
from proof_r1_formal.text.names import (
    SIMPLE_VARIABLE,
    is_textbook_atom,
    latin,
    look,
    placeholder,
    unclear_symbol,
    unquote,
)
from proof_r1_formal.text.readings import is_universal
from proof_r1_formal.text.repair import QUOTED, TwoReadingsError, UnusedVariableError
from proof_r1_formal.text.show import show_term
from proof_r1_formal.text.spellings import MAX_DEPTH

_TEXTBOOK_ATOM = re.compile(r"[A-Z](?:[a-z]\d*){1,3}")
_DOUBLE = re.compile(r"==[^=\"]*\Z")  # right before the second term
_IDENTITY = re.compile(r"[≡≢]|\\equiv")
_LETTER = re.compile(r"[a-z]\d*")
_BINARY: dict[str, type[Connective]] = {
    **dict.fromkeys(("and", "and_", "∧"), And),
    **dict.fromkeys(("or", "or_", "∨"), Or),
    **dict.fromkeys(("xor", "⊕"), Xor),
    **dict.fromkeys(("implies", "->", "=>", "→"), Implies),
    **dict.fromkeys(("iff", "<->", "<=>", "↔"), Iff),
}
"""By the rule of the infix grammar, and as an S-expression writes it in lower case -> the connective."""


class Resolver:
    """Builds the formula of a parse tree, deciding which names are variables."""

    def __init__(self, text: str, grouping: Grouping, convention: Convention) -> None:
        self._text = text
        self._grouping = grouping
        self._convention = convention
        self.chain: int | None = None  # where a chain of → begins whose grouping matters
        self._bound: dict[str, bool] = {}  # each variable, and whether it is ever written without quotes
        self._constants: dict[str, Token] = {}  # first use of each name as a constant
        self._foreign: dict[str, Token] = {}  # and of each name with other letters than those of ASCII
        self._sides: list[tuple[Token, App, str, str]] = []  # of equations between terms, with both readings of these

    def formula(self, tree: Tree[Token]) -> Formula:
        formula = self._formula(tree, {}, 0)
        looks = {look(name): name for name, plain in self._bound.items() if plain} if self._constants else {}
        for name, token in self._constants.items():
            if name in self._bound:
                problem = (
                    f"{name!r} stands outside the scope of its quantifier: put parentheses around the whole scope, or "
                    "give the constant another name"
                )
                raise ParseError(self._text, token.start_pos or 0, problem)
            if token[0] == '"':
                continue
            variables = self._convention.variables
            if variables is not None and re.fullmatch(variables, name):
                raise ParseError(self._text, token.start_pos or 0, f"no quantifier binds the variable {name!r}")
            if variables is None and look(name) in looks:
                meant = f"{name!r} may be the variable {looks[look(name)]!r}, which it looks like, or another name"
                self._refuse(token, f"{meant}; write the variable, or '\"{name}\"'")
        if self._sides:
            uses = symbols(formula).uses
            for token, side, equation, other in self._sides:
                name = side.function
                if token[0] != '"' and (name, ("predicate", len(side.arguments))) in uses:
                    stands = f"{name!r}, elsewhere a predicate, stands beside '='"
                    self._refuse(token, f"{stands}, so this may be the equation '{equation}' of terms, or '{other}'")
        if self._constants and (sign := _IDENTITY.search(QUOTED.sub("", self._text))):
            equation, connective = ("≠", "⊕") if sign[0] == "≢" else ("=", "↔")
            uses = symbols(formula).uses
            for name, token in self._constants.items():
                if token[0] != '"' and (name, ("predicate", 0)) in uses:
                    meant = f"between terms, written '{equation}', or between formulas, written '{connective}'"
                    clash = f"{name!r} is a constant here and a proposition elsewhere"
                    self._refuse(token, f"{clash}, so {sign[0]!r} may stand {meant}")
        if self._foreign:
            names = {*self._bound, *[name for name, _ in symbols(formula).uses]}
            for name, token in self._foreign.items():
                if (other := latin(name)) != name and other in names:
                    meant = f"{name!r} may be {other!r}, which looks the same in other letters, or another name"
                    self._refuse(token, f"{meant}, written '\"{name}\"'")
        return formula

    def _refuse(self, token: Token, problem: str | None) -> None:
        if problem is not None:
            raise TwoReadingsError(self._text, token.start_pos or 0, problem)

    def _formula(self, tree: Tree[Token], scope: dict[str, Var], depth: int) -> Formula:
        if depth > MAX_DEPTH:
            raise ParseError(self._text, _start(tree), f"a formula nested deeper than {MAX_DEPTH} levels")
        parts: list[Any] = tree.children
        rule = str(tree.data)
        if rule in ("application", "enclosed"):
            name = unquote(parts[0].value)
            if name in scope:
                raise ParseError(self._text, parts[0].start_pos, f"variable {name!r} is used as a predicate")
            arguments = self._arguments(parts, scope, depth)
            self._require_symbol(parts[0], arguments)
            if len(parts) == 1 and "Fx" in self._convention.own and _TEXTBOOK_ATOM.fullmatch(parts[0]):
                letters = [self._term_of_name(each[0], parts[0], scope) for each in _LETTER.finditer(name)]
                return Atom(name[0], tuple(letters))
            if len(parts) == 1 and is_textbook_atom(name, scope) and parts[0][0] != '"':
                applied = f"{name[0]}({', '.join(name[1:])})"
                self._refuse(parts[0], f"{name!r} may be '{applied}' or a proposition, written '\"{name}\"'")
            return Atom(name, arguments)
        if rule == "implies" and len(parts) > 2:
            self.chain = _start(parts[2])
            return self._chain(Implies, parts, scope, depth)
        if rule == "implied":
            right, left = parts
            return Implies(self._formula(left, scope, depth + 1), self._formula(right, scope, depth + 1))
        if rule in _BINARY:
            return _BINARY[rule](self._formula(parts[0], scope, depth + 1), self._formula(parts[1], scope, depth + 1))
        if rule == "chain":
            connective = _BINARY[parts[0].value.lower()]
            self._require_separate(parts)
            if len(parts) > 3:
                return self._chain(connective, parts[1:], scope, depth)
            # one frame per level, so that the deepest formula fits the stack
            return connective(self._formula(parts[1], scope, depth + 1), self._formula(parts[2], scope, depth + 1))
        match rule:
            case "not_":
                return Not(self._formula(parts[-1], scope, depth + 1))
            case "quantified":
                return self._quantify(parts, scope, depth)
            case "equal" | "unequal":
                negated = rule == "unequal" or (len(parts) == 3 and parts[0] != "=")
                equality = self._equation(parts[-2], parts[-1], scope, depth + 1, negated=negated)
                return Not(equality) if negated else equality
            case "top":
                return TOP
            case "bottom":
                return BOTTOM
        raise AssertionError(f"grammar rule {rule} has no meaning")

    def _equation(
        self, first: Tree[Token], second: Tree[Token], scope: dict[str, Var], depth: int, *, negated: bool
    ) -> Eq:
        """The equation of two terms, which may also be formulas if neither is a variable."""
        left, right = self._term(first, scope, depth), self._term(second, scope, depth)
        if isinstance(left, App) and isinstance(right, App):
            equation = f"{show_term(left)} {'≠' if negated else '='} {show_term(right)}"
            other = f"{show_term(left)} {'⊕' if negated else '↔'} {show_term(right)}"
            heads: list[Token] = [first.children[0], second.children[0]]  # type: ignore[list-item]
            between = self._text[heads[0].start_pos or 0 : heads[1].start_pos]
            if left.arguments and right.arguments and _DOUBLE.search(between):
                problem = f"'==' may stand between terms, written '{equation}', or between formulas, written '{other}'"
                self._refuse(heads[0], problem)
            self._sides += [(heads[0], left, equation, other), (heads[1], right, equation, other)]
        return Eq(left, right)

    def _quantify(self, parts: list[Any], scope: dict[str, Var], depth: int) -> Formula:
        if len(parts) == 2:
            binder = read_binder(parts[0].value)
            quantify, variables, written = binder.quantify, binder.variables, binder.written
            self._require_clear_variables(parts[0], binder)
        else:
            quantify = ForAll if is_universal(parts[0].value) else Exists
            variables, written = _prefix_variables(parts[1])
        for variable, name in zip(variables, written, strict=True):
            self._bound[variable.name] = name[0] != '"' or self._bound.get(variable.name, False)
        inner = {**scope, **{v.name: v for v in variables}}
        body = self._formula(parts[-1], inner, depth + len(variables))
        for variable, name in zip(reversed(variables), reversed(written), strict=True):
            if variable not in body.free and name[0] != '"':
                self._refuse_unused(parts[0], name, body)
            body = quantify(variable, body)
        return body

    def _require_clear_variables(self, head: Token, binder: Binder) -> None:
        """Refuse ``∃!x y``, and ``∀x, y:Person``, whose sort may be that of both."""
        shown = repr(str(head))
        if binder.single and len(binder.variables) > 1:
            self._refuse(head, f"{shown} may be about each variable or about all at once; write a quantifier for each")
        if binder.shares:
            first, *_, last = binder.written
            problem = f"the sort in {shown} may be that of {last!r} or also of {first!r}; write one for each, '∀x:S'"
            self._refuse(head, problem)

    def _refuse_unused(self, head: Token, name: str, body: Formula) -> None:
        """Refuse a variable that does not occur in its scope, with the name there that may be meant."""
        others = [
            other
            for other, (kind, arity) in symbols(body).uses
            if (kind == "constant" and (look(other) == look(name) or SIMPLE_VARIABLE.fullmatch(other)))
            or (kind == "predicate" and not arity and _TEXTBOOK_ATOM.fullmatch(other) and name in other[1:])
        ]
        shown = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(self._text, head.start_pos or 0)
        offset = shown.start() if shown else self._text.index(name, head.start_pos or 0)  # glued: ∀x
        certain = not others and SIMPLE_VARIABLE.fullmatch(name) is not None
        if others:
            meant = f"{others[0]!r} may stand for it or contain it, or it is"
        elif certain:
            meant = "another name may be meant, or it is"
        else:
            meant = "it may be a shorter variable and other words, with a blank between them, or"
        bound = f"{name!r} is bound here and does not occur in its scope"
        problem = f"{bound}: {meant} a variable without use, written '\"{name}\"'"
        raise UnusedVariableError(self._text, offset, problem, name if certain else None)

    def _require_symbol(self, head: Token, arguments: tuple[Term, ...]) -> None:
        """Refuse a name of a predicate or function that may be something else."""
        if not head.isascii() and head.value[0] != '"':
            self._foreign.setdefault(unquote(head.value), head)
        names = [name for argument in arguments for name in functions_within(argument)]
        of_variable = any(isinstance(argument, Var) for argument in arguments)
        self._refuse(head, unclear_symbol(head.value, names, of_variable=of_variable))

    def _chain(self, connective: type[Connective], parts: list[Any], scope: dict[str, Var], depth: int) -> Formula:
        """Three or more operands: → nests as the notation says, everything else to the left."""
        deepest = depth + len(parts) - 1
        if deepest > MAX_DEPTH:
            raise ParseError(self._text, _start(parts[0]), f"a formula nested deeper than {MAX_DEPTH} levels")
        operands = [self._formula(part, scope, deepest) for part in parts]
        if connective is Implies and self._grouping == "right":
            return reduce(lambda right, left: Implies(left, right), reversed(operands))
        return reduce(connective, operands)

    def _require_separate(self, parts: list[Any]) -> None:
        """Refuse ``(and P (a))``, which may be meant as a conjunction of one application."""
        for part, following in pairwise(parts[1:]):
            if part.data == "application" and len(part.children) == 1 and following.data == "enclosed":
                name, inside = part.children[0], following.children[0]
                raise TwoReadingsError(
                    self._text,
                    name.start_pos,
                    f"'{name} ({inside})' may be the propositions {str(name)!r} and {str(inside)!r}, written without "
                    f"parentheses, or the predicate {str(name)!r} of {str(inside)!r}, written '({name} {inside})'",
                )

    def _arguments(self, parts: list[Any], scope: dict[str, Var], depth: int) -> tuple[Term, ...]:
        head = parts[0]
        if len(parts) == 2 and parts[1].data == "group":
            return tuple([self._term(part, scope, depth + 1) for part in parts[1].children])
        if head.type == "CALL" and len(parts) > 1:
            raise ParseError(self._text, _start(parts[2]), "a connective is missing after the arguments")
        arguments: list[Term] = []
        for part in parts[1:]:
            if part.data == "group":
                if len(part.children) != 1:
                    offset = _start(part) if part.children else self._empty_parentheses(head.end_pos)
                    raise ParseError(self._text, offset, "one argument in parentheses was expected")
                part = part.children[0]
            arguments.append(self._term(part, scope, depth + 1))
        return tuple(arguments)

    def _empty_parentheses(self, start: int) -> int:
        found = re.compile(r"\(\s*\)").search(self._text, start)
        return start if found is None else found.start()

    def _term_of_name(self, name: str, token: Token, scope: dict[str, Var]) -> Term:
        """The variable or constant of a name."""
        if name in scope:
            return scope[name]
        self._constants.setdefault(name, token)
        if not name.isascii() and token.value[0] != '"':
            self._foreign.setdefault(name, token)
        return App(name, ())

    def _term(self, tree: Tree[Token], scope: dict[str, Var], depth: int) -> Term:
        if depth > MAX_DEPTH:
            raise ParseError(self._text, _start(tree), f"a term nested deeper than {MAX_DEPTH} levels")
        parts: list[Any] = tree.children
        head = parts[0]
        if tree.data not in ("application", "name", "call", "truth_word", "term"):
            raise ParseError(self._text, _start(tree), "'=' stands between terms; between formulas, write '↔'")
        if tree.data == "truth_word" and not head.value.isalpha():
            raise ParseError(self._text, head.start_pos, f"{head.value!r} is not a term")
        name = unquote(head.value)
        if len(parts) == 1:
            if name in scope:
                return scope[name]
            self._refuse(head, placeholder(head.value))
            return self._term_of_name(name, head, scope)
        if name in scope:
            raise ParseError(self._text, head.start_pos, f"variable {name!r} is used as a function")
        if tree.data == "term":  # prefix notation
            arguments = tuple([self._term(part, scope, depth + 1) for part in parts[1:]])
        else:
            arguments = self._arguments(parts, scope, depth)
        self._require_symbol(head, arguments)
        return App(name, arguments)


def _prefix_variables(binders: Tree[Token]) -> tuple[tuple[Var, ...], tuple[str, ...]]:
    """The variables of an S-expression, and their names as written."""
    bindings = [
        [str(each) for each in (part.children if isinstance(part, Tree) else [part])] for part in binders.children
    ]
    variables = [Var(unquote(name), unquote(sort[0]) if sort else ENTITY) for name, *sort in bindings]
    return tuple(variables), tuple([name for name, *_ in bindings])


def _start(tree: Tree[Token]) -> int:
    """The offset of the first token of a tree."""
    node: Any = tree
    while isinstance(node, Tree) and node.children:
        node = node.children[0]
    return node.start_pos or 0 if isinstance(node, Token) else 0
