"""Proofs that were tampered with: the checker rejects them, or what it accepts does hold.

Proofs that are found for random queries, proofs of the schemata's theorems and lines that apply those are changed in a
place or two, and so are the claims that they are said to prove. What the checker then accepts, Z3 must find entailed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, get_args

import msgspec
import pytest

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.answer import Entailed, Query
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.pattern import Lambda, instance
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    App,
    Atom,
    Binary,
    Eq,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Term,
    Var,
    const,
    var,
)
from proof_r1_formal.kernel.transform import rename, rename_term, subformulas, substitute
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.theorems import theorem
from proof_r1_formal.testing.forgeries import Forgery
from proof_r1_formal.testing.formulas import CONNECTIVES, Formulas, Vocabulary, letters

CORRUPTED = 20_000
OF_EACH_KIND = 200
KINDS: tuple[type, ...] = get_args(t.Line)
THEOREMS = [theorem(schema) for rule in FOLIO.rules for schema in rule.schemata]


# -- claims and their proofs ------------------------------------------------------------------------------------------


VOCABULARY = Vocabulary(
    (("p", ()), ("q", ()), ("P", (ENTITY,)), ("Q", (ENTITY,)), ("R", (ENTITY, ENTITY))),
    (("a", (), ENTITY), ("b", (), ENTITY), ("f", (ENTITY,), ENTITY)),
)
"""Few symbols, so that formulas often have to do with each other."""


class Source(Formulas):
    """Random formulas and claims; the same for each seed."""

    def __init__(self, random: Random) -> None:
        super().__init__(random, VOCABULARY)
        self._random = random

    def constant(self) -> Term:
        """A constant, which a proof may bring in; a function may only stand where the claim has it."""
        return const(self._random.choice("ab"))

    def found(self) -> Forgery:
        """A random query with a proof; premises that contradict each other by themselves prove too little."""
        while True:
            premises = tuple([self.formula(self._random.randint(1, 7)) for _ in range(self._random.randrange(1, 4))])
            conclusion = self.formula(self._random.randint(1, 6))
            proof = search(premises, conclusion, budget=400).proof
            if proof is not None and len(proof) > 1 and search(premises, BOTTOM, budget=400).proof is None:
                return Forgery(proof, premises, conclusion)

    def applied(self) -> Forgery:
        """A random instance of a theorem, and the line that says so."""
        used = self._random.choice(THEOREMS)
        substitution = letters(
            (*used.premises, used.conclusion), lambda _, holes: self.formula(3, holes), self.constant
        )
        premises = tuple([instance(pattern, substitution) for pattern in used.premises])
        line = t.Apply(used, substitution, tuple(range(len(premises))))
        return Forgery((line,), premises, instance(used.conclusion, substitution))

    def derived(self) -> Forgery:
        """A theorem with its own proof."""
        used = self._random.choice(THEOREMS)
        return Forgery(used.proof, used.premises, used.conclusion)


# -- corruptions ------------------------------------------------------------------------------------------------------


def places(block: t.Block, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], t.Line]]:
    """Every line, however deep in blocks, with where it is."""
    for index, line in enumerate(block):
        yield (*path, index), line
        if isinstance(line, t.Suppose | t.Absurd | t.Arbitrary):
            yield from places(line.block, (*path, index))


def put(block: t.Block, path: tuple[int, ...], lines: t.Block) -> t.Block:
    """The block with other lines for the one at a place."""
    index, *rest = path
    line: Any = block[index]
    if rest:
        lines = (msgspec.structs.replace(line, block=put(line.block, tuple(rest), lines)),)
    return (*block[:index], *lines, *block[index + 1 :])


def with_names(value: Any, names: Mapping[str, str]) -> Any:
    """A proof, or a part of one, with other names of functions; theorems and what is put into them stay."""
    match value:
        case tuple():
            return tuple(with_names(item, names) for item in value)
        case App():
            return rename_term(value, names)
        case msgspec.Struct() if not isinstance(value, t.Theorem):
            return type(value)(*[with_names(getattr(value, field), names) for field in value.__struct_fields__])
    return rename(value, {}, names) if isinstance(value, Formula) else value


class Vandal:
    """Changes one thing at a time."""

    def __init__(self, random: Random, claimed: Forgery) -> None:
        self._random = random
        self._source = Source(random)
        self._claimed = claimed
        self._places = list(places(claimed.proof))
        lines = [line for _, line in self._places]
        self._kinds = [kind for kind in KINDS if any(type(line) is kind for line in lines)]  # each is as likely
        self._bringing = [line for line in lines if isinstance(line, t.Witness | t.Arbitrary)]
        self._new = [line.constant for line in self._bringing]
        self._lines = len(claimed.premises) + len(lines)
        brought = [formula for line in lines if isinstance(formula := getattr(line, "formula", None), Formula)]
        self._known = [*claimed.premises, claimed.conclusion, *brought]

    def corrupted(self) -> tuple[Forgery, type]:
        """The proof with a change or two, of the same claim or of another; and the kind of a changed line."""
        random = self._random
        proof, premises, conclusion = self._claimed
        if self._new and random.random() < 0.1:
            bringing = random.choice(self._bringing)
            kind: type = type(bringing)
            names = {bringing.constant.function: random.choice([*self._new, const("a"), const("b")]).function}
            changed = with_names(proof, names)
        else:
            kind = random.choice(self._kinds)
            path, line = random.choice([(path, line) for path, line in self._places if type(line) is kind])
            changed = put(proof, path, self._instead(line))
        choice = random.random()
        if choice < 0.2 and premises:
            number = random.randrange(len(premises))
            premises = (*premises[:number], self._formula(premises[number]), *premises[number + 1 :])
        elif choice < 0.4:
            conclusion = self.closed()
        elif choice < 0.6 and changed:
            changed = changed[: random.randint(1, len(changed))]
            said = getattr(changed[-1], "formula", self.closed())
            conclusion = random.choice((said, Not(said)))
        elif choice < 0.65 and len(changed) > 1:
            first = random.randrange(len(changed) - 1)
            changed = (*changed[:first], changed[first + 1], changed[first], *changed[first + 2 :])
        return Forgery(changed, premises, conclusion), kind

    def _instead(self, line: t.Line) -> t.Block:
        """What to have for a line: nothing, the line twice, a line of another kind, or one with another field."""
        choice = self._random.random()
        match line:
            case _ if choice < 0.04:
                return ()
            case _ if choice < 0.08:
                return (line, line)
            case t.Instance(main, App() as term) if choice < 0.2:
                return (t.Witness(main, term),)
            case t.Witness(main, constant) if choice < 0.2:
                return (t.Instance(main, constant),)
            case t.Suppose(Implies(left, _), block) if choice < 0.2:
                return (t.Absurd(left, block),)
            case t.Absurd(formula, block) if choice < 0.2:
                return (t.Suppose(Implies(formula, self.closed()), block),)
            case t.Arbitrary(_, _, block) if choice < 0.2:
                return block
            case t.Apply() if choice < 0.2:
                return (t.Repeat(self._number(0)),)
        field = self._random.choice(line.__struct_fields__)
        return (msgspec.structs.replace(line, **{field: self._changed(field, getattr(line, field))}),)

    def _changed(self, field: str, value: Any) -> Any:
        """Another value of a field."""
        random = self._random
        match field:
            case "side":
                return "left" if value == "right" else "right"
            case "other":
                return self._number(0) if value is None else random.choice((None, self._number(value)))
            case "premises":
                return self._numbers(value)
            case "formula":
                return random.choice((self._formula(value), self.closed()))
            case "term":
                return random.choice((*self._new, const("a"), const("b"), const("n"), App("f", (value,)), var("x")))
            case "constant":
                return random.choice((*self._new, const("a"), const("b"), const("n"), App("f", (value,))))
            case "block":
                return random.choice(((), value[:-1], value[1:], value[::-1], (*value, *value[-1:])))
            case "theorem":
                return random.choice([each for each in THEOREMS if len(each.premises) == len(value.premises)])
            case "substitution":
                return self._substitution(value)
        return self._number(value)

    def _number(self, number: int) -> int:
        return self._random.choice((number - 1, number + 1, -1 - number, self._random.randrange(self._lines + 1)))

    def _numbers(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        if not numbers:
            return (self._number(0),)
        index = self._random.randrange(len(numbers))
        before, number, after = numbers[:index], numbers[index], numbers[index + 1 :]
        choices = ((*before, *after), numbers[::-1], (*numbers, number), (*before, self._number(number), *after))
        return self._random.choice(choices)

    def _substitution(self, substitution: dict[str, Lambda | Term]) -> dict[str, Lambda | Term]:
        name = self._random.choice(sorted(substitution))
        other = self._random.choice(sorted(substitution))
        value = substitution[name]
        changed = Lambda(value.variables, self._formula(value.body)) if isinstance(value, Lambda) else const("n")
        missing = {key: kept for key, kept in substitution.items() if key != name}
        return self._random.choice((missing, {**missing, name: changed}, {**missing, name: substitution[other]}))

    def closed(self) -> Formula:
        """A formula about what the proof is about: a known one's part with constants for variables, or its opposite."""
        part = self._random.choice(list(subformulas(self._random.choice(self._known))))
        constants = [*self._new, const("a"), const("b")]
        closed = substitute(part, {variable: self._random.choice(constants) for variable in _ordered(part)})
        return self._random.choice((closed, closed, Not(closed), BOTTOM))

    def _formula(self, formula: Formula) -> Formula:
        """The formula with a change somewhere."""
        random = self._random
        if random.random() < 0.1:
            return random.choice((Not(formula), self._source.formula(2, tuple(_ordered(formula)))))
        deeper = random.random() < 0.6
        match formula:
            case Not(body):
                return Not(self._formula(body)) if deeper else body
            case ForAll(variable, body) | Exists(variable, body):
                other = Exists if isinstance(formula, ForAll) else ForAll
                return type(formula)(variable, self._formula(body)) if deeper else other(variable, body)
            case Binary():
                kind, left, right = type(formula), formula.left, formula.right
                changed = (kind(self._formula(left), right), kind(left, self._formula(right)))
                other_kind = random.choice(CONNECTIVES)
                return random.choice(changed if deeper else (kind(right, left), other_kind(left, right), left, right))
            case Eq(left, right):
                scope = tuple(_ordered(formula))
                return random.choice((Eq(right, left), Eq(left, self._source.term(ENTITY, scope)), Eq(left, left)))
            case Atom(predicate, arguments) if arguments:
                index = random.randrange(len(arguments))
                term = random.choice((*self._new, self._source.term(ENTITY, tuple(_ordered(formula)))))
                row = (*arguments[:index], term, *arguments[index + 1 :])
                return random.choice((Atom(predicate, row), Atom(predicate, arguments[::-1])))
            case _:
                return random.choice((TOP, BOTTOM, Atom("p", ()), Atom("q", ())))


def _ordered(formula: Formula) -> list[Var]:
    return sorted(formula.free, key=lambda variable: variable.name)


# -- what is accepted does hold ---------------------------------------------------------------------------------------


def used_by(claimed: Forgery) -> frozenset[int] | None:
    """The premises that the proof uses; None if it is rejected. What else ``check`` raises is a fault of its own."""
    try:
        return check(*claimed)
    except ProofError:
        return None


@pytest.mark.slow
def test_a_corrupted_proof_is_rejected_or_what_it_shows_holds() -> None:
    """Each corrupted proof is tried on its claim and on some others, from the premises that it uses alone."""
    random = Random(10)
    source = Source(random)
    z3 = get_solver("z3")

    @cache
    def holds(query: Query) -> bool:
        return isinstance(z3.decide(query), Entailed)

    corrupted: Counter[type] = Counter()
    accepted: Counter[bool] = Counter()  # by whether it is the claim that was proved before
    while corrupted.total() < CORRUPTED or min(corrupted[kind] for kind in KINDS) < OF_EACH_KIND:
        original = random.choice((source.found, source.found, source.found, source.applied, source.derived))()
        assert used_by(original) is not None
        vandal = Vandal(random, original)
        for _ in range(20):
            changed, kind = vandal.corrupted()
            if changed == original:
                continue
            corrupted[kind] += 1
            for conclusion in (changed.conclusion, *[vandal.closed() for _ in range(4)]):
                claimed = changed._replace(conclusion=conclusion)
                used = used_by(claimed)
                if used is not None:
                    accepted[claimed[1:] == original[1:]] += 1
                    relied_on = tuple([claimed.premises[number] for number in sorted(used)])
                    assert holds(Query(relied_on, conclusion)), claimed
    assert min(accepted.values()) >= 500
