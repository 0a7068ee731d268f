"""The contract of an answer as a grammar for one problem.

In: a problem and a rule catalogue. Out: a :class:`CompletionGrammar`, every text of which is parsed and has only
schema-valid actions. It knows the problem's symbols with their arities and sorts, its constants, the ids of premises
and options, and the rules. No id is used twice, as the steps are numbered: step n is ``s{n}`` and depends on premises
and on the steps before it. The last action is GOAL_BINDING and states the formula of the option that it selects.

One notation serves the Lark dialect of ``llguidance`` and the GBNF of ``llama.cpp`` and ``xgrammar``: quoted texts,
names of letters and digits, ``|``, parentheses and ``{m,n}`` mean the same in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import combinations, product

from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import App, Bottom, Eq, ForAll, Top, Var
from proof_r1_formal.kernel.transform import subformulas
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES
from proof_r1_formal.proof.context import with_sorts
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue
from proof_r1_formal.text.names import is_textbook_atom, look
from proof_r1_formal.text.show import show, show_term

STEPS = 20
"""Steps before the binding, at most."""
NESTING = 3
"""Parentheses, negations and quantifiers inside each other, at most."""
_VARIABLES = 2
"""Quantifiers inside each other, at most."""
CHAIN = 3
"""More operands of one connective in a row, at most."""
_NAMES = ("x", "y", "z", "u", "v", "w", *(f"x{n}" for n in range(1, 100)))
_CASCADE = (
    ("iff", " ↔ ", 1),
    ("implies", " → ", 1),
    ("or", " ∨ ", CHAIN),
    ("xor", " ⊕ ", CHAIN),
    ("and", " ∧ ", CHAIN),
)
"""The connectives, loosest first, as in ``grammars/infix.lark``."""


_AS_TRAINED = '%llguidance {"no_forcing": true}'
"""Otherwise a mask allows one token where the text is determined, often not the one that the model learned."""
_LATIN_THEN_HEX = re.compile("([\x80-\xff])(?=[0-9A-Fa-f])")
"""xgrammar 0.2.8 reads both in one text as one character (¬c as U+0ACC), so the text is divided there."""


class GrammarError(ProofR1Error):
    """A problem for which there is no grammar of answers."""


@dataclass(frozen=True, slots=True)
class CompletionGrammar:
    """A grammar of completions.

    Attributes:
        rules: name -> right-hand side; the first is the start.
        actions: JSON Schema of the summary's array.
    """

    rules: Mapping[str, str]
    actions: Mapping[str, object]

    def to_llguidance(self, *, thoughts: bool = False) -> str:
        """The grammar in the Lark dialect of ``llguidance``.

        Args:
            thoughts: whether any text may stand before ``<summary>``.
        """
        start, *others = self.rules.items()
        lines = [_AS_TRAINED, f"start: {'free ' if thoughts else _literal('<summary>') + ' '}{start[1]}"]
        lines += [f"{name}: {body}" for name, body in others]
        return "\n".join([*lines, *([r"free[lazy]: /(.|\n)*<summary>/"] if thoughts else [])]) + "\n"

    def to_gbnf(self, *, thoughts: bool = False) -> str:
        """The grammar in GBNF, for ``llama.cpp``, ``xgrammar`` and what is built on them.

        Args:
            thoughts: whether ``<think>…</think>`` may stand before ``<summary>``, with no "<" inside.
        """
        (_, start), *others = self.rules.items()
        free = r'("<think>" [^<]* "</think>" "\n"{0,2})? ' if thoughts else ""
        lines = [f"root ::= {free}{_literal('<summary>')} {start}", *(f"{name} ::= {body}" for name, body in others)]
        return _LATIN_THEN_HEX.sub(r'\1" "', "\n".join(lines)) + "\n"

    def to_json_schema(self) -> dict[str, object]:
        """The JSON Schema of the summary's array.

        It leaves more open than the grammars: formulas may be any text, and the order of ids is not in it.
        """
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **self.actions}


def completion_grammar(problem: Problem, rules: Catalogue = TRAIN, *, steps: int = STEPS) -> CompletionGrammar:
    """The grammar of answers to a problem.

    The steps may name the rules; there are at most ``steps`` before the binding.

    Raises:
        GrammarError: the problem has no options or no premises, or no formula can be written with its symbols.
        SignatureError: the problem uses a symbol in two ways.
    """
    if not problem.options or not problem.premises:
        lacking = "premises" if problem.options else "options"
        raise GrammarError(f"problem {problem.id}: it has no {lacking}, so no answer can be proved and bound")
    problem, builder = with_sorts(problem)
    kinds = {type(part) for formula in problem.formulas() for part in subformulas(formula)}
    formulas = _Formulas(builder.signature(), kinds)
    formula = formulas.whole((), NESTING)
    if formula is None:
        raise GrammarError(f"problem {problem.id}: no formula can be written with its symbols")
    names = _step_names(problem, steps)
    premises = [premise.id for premise in problem.premises]
    inferences = [rule.name for rule in rules.rules if rule.name != GOAL_BINDING]
    found: dict[str, str] = {"answer": r'"[" "\n"? rest0 "\n"? "]</summary>"'}
    for number in range(steps + 1):
        known = [f"id{number - 1}", _quote(names[number - 1])] if number else list(map(_quote, premises))
        found[f"id{number}"] = " | ".join(known)
        found[f"many{number}"] = f'"[" (id{number} (", " id{number}){{0,{MAX_DEPENDENCIES - 1}}})? "]"'
        found[f"some{number}"] = f'"[" id{number} (", " id{number}){{0,{MAX_DEPENDENCIES - 1}}} "]"'
        bound = [
            _action(_quote(option.id), f"some{number}", _quote(show(option.formula)), _quote(GOAL_BINDING))
            for option in problem.options
        ]
        found[f"rest{number}"] = " | ".join(bound)
        if number < steps:
            step = _action(_quote(names[number]), f"many{number}", rf'"\"" {formula} "\""', "rule")
            found[f"rest{number}"] += rf' | {step} "," ("\n" | " ") rest{number + 1}'
    found["rule"] = " | ".join(map(_quote, inferences))
    return CompletionGrammar(found | formulas.rules, _schema(problem, names, inferences))


def _step_names(problem: Problem, steps: int) -> list[str]:
    """Ids of steps that nothing of the problem has."""
    taken = {*(premise.id for premise in problem.premises), *(option.id for option in problem.options)}
    for prefix in ("s", "step", *(f"step{n}_" for n in range(len(taken) + 1))):
        names = [f"{prefix}{number}" for number in range(1, steps + 1)]
        if taken.isdisjoint(names):
            return names
    raise AssertionError("one of the prefixes is that of no id")


def _schema(problem: Problem, names: list[str], rules: list[str]) -> dict[str, object]:
    premises, options = [p.id for p in problem.premises], [o.id for o in problem.options]
    listed = {"type": "array", "items": {"enum": [*premises, *names]}, "maxItems": MAX_DEPENDENCIES}

    def action(ids: list[str], conclusion: dict[str, object], rule: list[str]) -> dict[str, object]:
        values = ({"enum": ids}, listed, conclusion, {"enum": rule})
        properties = dict(zip(FIELDS, values, strict=True))
        return {"type": "object", "properties": properties, "required": list(FIELDS), "additionalProperties": False}

    stated: dict[str, object] = {"enum": list(dict.fromkeys(show(option.formula) for option in problem.options))}
    step = action(names, {"type": "string"}, rules)
    return {"type": "array", "items": {"anyOf": [step, action(options, stated, [GOAL_BINDING])]}, "minItems": 1}


# -- texts ------------------------------------------------------------------------------------------------------------


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _escape(text: str) -> str:
    """The inside of a JSON string, as completions write it; it cannot look like the end of the summary."""
    return _literal(text)[1:-1].replace("<", "\\u003c")


def _quote(text: str) -> str:
    return _literal(f'"{_escape(text)}"')


def _action(*values: str) -> str:
    """An action with the right-hand sides of its fields' values."""
    openings = [f"{', ' if number else '{'}{json.dumps(field)}: " for number, field in enumerate(FIELDS)]
    fields = [f"{_literal(opening)} {value}" for opening, value in zip(openings, values, strict=True)]
    return " ".join([*fields, '"}"'])


# -- formulas ---------------------------------------------------------------------------------------------------------

_Scope = tuple[str, ...]
"""The sorts of the variables in scope, outermost first; their names go by their place."""
_Need = frozenset[int]
"""The places of variables in scope that have to occur."""
_NONE: _Need = frozenset()


class _Formulas:
    """Rules for the formulas over a signature, made as they are asked for; None stands for what cannot be written.

    What follows a quantifier in the same parentheses could be taken for a part of its scope. So there, where a rule is
    not ``last``, the scope is in parentheses. Every variable occurs in its scope.
    """

    def __init__(self, signature: Signature, kinds: Set[type]) -> None:
        self.rules: dict[str, str] = {}
        self._signature = signature
        self._equality = Eq in kinds
        self._truths = [_literal(show(kind())) for kind in (Top, Bottom) if kind in kinds]
        self._made: dict[object, str | None] = {}
        taken = {look(name) for name in (*signature.predicates, *signature.functions)}
        atoms = any(is_textbook_atom(name, _NAMES) for name in signature.predicates)
        self._variables = [name for name in _NAMES if name not in taken and not (atoms and len(name) == 1)][:_VARIABLES]

    def whole(self, scope: _Scope, nesting: int, need: _Need = _NONE) -> str | None:
        """A formula: chains of connectives over operands."""
        return self._cascade(scope, nesting, 0, need, last=True)

    def _cascade(self, scope: _Scope, nesting: int, level: int, need: _Need, *, last: bool) -> str | None:
        if level == len(_CASCADE):
            return self._operand(scope, nesting, need, last=last)
        name, symbol, more = _CASCADE[level]
        key = (name, scope, nesting, need, last)
        if key in self._made:
            return self._made[key]
        sign = _literal(symbol)
        free = self._cascade(scope, nesting, level + 1, _NONE, last=False)
        bodies: list[str | None] = []
        for *early, late in _divide(need):
            operands = [self._cascade(scope, nesting, level + 1, each, last=False) for each in early]
            end = self._cascade(scope, nesting, level + 1, late, last=last)
            count = more - len(early)
            if end is not None and None not in operands and count >= 0:
                others = f"({free} {sign}){{0,{count}}} " if free is not None and count else ""
                bodies.append(others + "".join([f"{operand} {sign} {others}" for operand in operands]) + end)
        return self._rule(key, f"{name}{nesting}", bodies)

    def _operand(self, scope: _Scope, nesting: int, need: _Need, *, last: bool) -> str | None:
        key = ("operand", scope, nesting, need, last)
        if key in self._made:
            return self._made[key]
        equations = self._equations(scope, need) if self._equality else ()
        return self._rule(key, f"operand{nesting}", [self._unary(scope, nesting, need, last=last), *equations])

    def _unary(self, scope: _Scope, nesting: int, need: _Need, *, last: bool, enclosed: bool = False) -> str | None:
        """``enclosed``: in parentheses behind negations and quantifiers."""
        key = ("unary", scope, nesting, need, last, enclosed)
        if key in self._made:
            return self._made[key]
        bodies: list[str | None] = [] if enclosed else [*self._atoms(scope, need)]
        if not need and not enclosed:
            bodies += self._truths
        if nesting > 0:
            if (inner := self._unary(scope, nesting - 1, need, last=last, enclosed=enclosed)) is not None:
                bodies.append(f'"¬" {inner}')
            if (inner := self.whole(scope, nesting - 1, need)) is not None:
                bodies.append(f'"(" {inner} ")"')
            if len(scope) < len(self._variables):
                bodies += [self._quantify(scope, sort, nesting, need, last=last) for sort in self._signature.sorts]
        return self._rule(key, f"unary{nesting}", bodies)

    def _quantify(self, scope: _Scope, sort: str, nesting: int, need: _Need, *, last: bool) -> str | None:
        body = self._unary((*scope, sort), nesting - 1, need | {len(scope)}, last=last, enclosed=not last)
        if body is None:
            return None
        variable = Var(self._variables[len(scope)], sort)
        shown = show(ForAll(variable, Eq(variable, variable))).removeprefix("∀").partition(f" {variable.name} =")[0]
        return f'("∀" | "∃") {_literal(_escape(shown + " "))} {body}'

    def _atoms(self, scope: _Scope, need: _Need) -> Iterable[str]:
        for predicate, sorts in self._signature.predicates.items():
            yield from self._apply(predicate, sorts, scope, need, nested=True)

    def _equations(self, scope: _Scope, need: _Need) -> Iterable[str]:
        for sort in self._signature.sorts:
            for sides in _share(need, 2):
                left, right = [self._term(sort, scope, each, nested=True) for each in sides]
                if left is not None and right is not None:
                    yield f'{left} " = " {right}'

    def _apply(self, name: str, sorts: tuple[str, ...], scope: _Scope, need: _Need, *, nested: bool) -> Iterable[str]:
        """A symbol with its arguments; nothing if there is no term for one of them."""
        head = _escape(show_term(App(name, ())))
        if not sorts:
            yield from [] if need else [_literal(head)]
            return
        for places in _share(need, len(sorts)):
            terms = [self._term(sort, scope, each, nested=nested) for sort, each in zip(sorts, places, strict=True)]
            if None not in terms:
                arguments = ' ", " '.join(map(str, terms))
                yield f'{_literal(head + "(")} {arguments} ")"'

    def _term(self, sort: str, scope: _Scope, need: _Need, *, nested: bool) -> str | None:
        key = ("term", scope, sort, need, nested)
        if key in self._made:
            return self._made[key]
        variables = enumerate(zip(self._variables, scope, strict=False))
        bodies = [_literal(name) for place, (name, its) in variables if its == sort and need <= {place}]
        for name, kind in self._signature.functions.items():
            if kind.result == sort and (nested or not kind.arguments):
                bodies += self._apply(name, kind.arguments, scope, need, nested=False)
        return self._rule(key, "term", list(bodies))

    def _rule(self, key: object, name: str, bodies: list[str | None]) -> str | None:
        """The name of a rule with these alternatives, the same for the same key; None if there is no alternative."""
        if key not in self._made:
            there = [body for body in bodies if body is not None]
            self._made[key] = None
            if there:
                self._made[key] = named = f"{name}n{len(self.rules)}"
                self.rules[named] = " | ".join(there)
        return self._made[key]


def _share(need: _Need, places: int) -> Iterable[tuple[_Need, ...]]:
    """The ways to say at which of the places each variable has to occur."""
    for chosen in product(range(places), repeat=len(need)):
        pairs = list(zip(sorted(need), chosen, strict=True))
        yield tuple([frozenset([v for v, at in pairs if at == n]) for n in range(places)])


def _divide(need: _Need) -> Iterable[tuple[_Need, ...]]:
    """The ways to divide what is needed among operands in order: the last one may need nothing, the others may not."""
    yield (need,)
    for size in range(1, len(need) + 1):
        for first in map(frozenset, combinations(sorted(need), size)):
            for others in _divide(need - first):
                yield (first, *others)
