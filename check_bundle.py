#!/usr/bin/env python3
"""Check a bundle of verdicts again, with this file and Python's standard library (3.10 or later) alone.

    python -I -S check_bundle.py BUNDLE [--show] [--accept-unsupported]

docs/bundle.md describes the format, and what is checked and what is taken as stated. --show also prints every formula
beside the text that it is said to be. Exit status: 0 all that is checked holds, 1 something does not, 2 the file is no
bundle; what is wrong is told with its place, a JSON path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

FORMAT = "proof-r1-bundle/1"
MAX_STEPS = 10_000_000  # of evaluating formulas in one structure


class Malformed(Exception):
    """The file is no bundle."""


class Wrong(Exception):
    """The file is a bundle, and something that it says does not hold."""


class Node:
    """A JSON value and its place."""

    def __init__(self, value: Any, path: str = "$") -> None:
        self.value, self.path = value, path

    def malformed(self, problem: str) -> NoReturn:
        raise Malformed(f"{self.path}: {problem}")

    def claim(self, holds: object, problem: str) -> None:
        if not holds:
            raise Wrong(f"{self.path}: {problem}")

    def __getitem__(self, key: str) -> Node:
        return Node(self.value[key], f"{self.path}.{key}")

    def items(self) -> list[Node]:
        return [Node(value, f"{self.path}[{index}]") for index, value in enumerate(self.value)]

    def shaped(self, shape: Any) -> Node:
        """This node, if it has a shape: a type, (null or …,), a list [of …] or [first, second], a dict or {str: …}."""
        if isinstance(shape, tuple):
            return self if self.value is None else self.shaped(shape[0])
        kind = shape if isinstance(shape, type) else type(shape)
        if type(self.value) is not kind:
            self.malformed(f"a value of type {kind.__name__} is expected")
        if kind is int and not 0 <= self.value < 2**31:
            self.malformed("a number from 0 to 2147483647 is expected")
        if isinstance(shape, list):
            shapes = shape if len(shape) > 1 else shape * len(self.value)
            if len(shapes) != len(self.value):
                self.malformed(f"a list of {len(shapes)} is expected")
            for item, inner in zip(self.items(), shapes):
                item.shaped(inner)
        if isinstance(shape, dict):
            if str not in shape and shape.keys() != self.value.keys():
                self.malformed(f"an object with the keys {', '.join(shape)} is expected")
            for key in self.value:
                self[key].shaped(shape.get(key, shape.get(str)))
        return self


# fmt: off
PREMISE = {"id": str, "text": str, "source": str, "formula": list}
OPTION = {"id": str, "label": str, "formula": list}
PROBLEM = {"id": str, "difficulty": str, "question": str, "notes": [str], "premises": [PREMISE], "options": [OPTION],
           "answer": (str,), "reference_length": (int,), "consistency": (dict,)}
VERDICTS = {"schema": bool, "semantic": bool, "rule": bool, "progress": bool}
ACTION = {"span": [int, int], "id": (str,), "dependencies": [str], "declared_rule": (str,), "conclusion": (str,),
          "formula": (list,), "verdicts": VERDICTS, "signal": float, "findings": [str], "evidence": (dict,)}
TRACE = {"problem": str, "sample": int, "completion": str, "parsed": bool, "actions": [ACTION], "answer": (str,),
         "bindings": [{"option": str, "evidence": (dict,)}], "closure": [str], "used_closure": [str],
         "uncertain": ({"goal": (dict,), "negation": (dict,)},)}
BUNDLE = {"format": str, "made_by": {str: str}, "problems": [PROBLEM], "traces": [TRACE], "metrics": dict}
STRUCTURE = {"domains": {str: int}, "predicates": {str: [[int]]}, "functions": {str: [[[int], int]]}}
KINDS = {
    "Repeat": {"premise": int}, "Eliminate": {"main": int, "side": str, "other": (int,)},
    "Introduce": {"formula": list, "premises": [int]}, "Contradiction": {"first": int, "second": int},
    "Instance": {"main": int, "term": list}, "Witness": {"main": int, "constant": list},
    "Generalise": {"formula": list, "premise": int, "term": list},
    "Arbitrary": {"formula": list, "constant": list, "block": list},
    "Suppose": {"formula": list, "block": list}, "Absurd": {"formula": list, "block": list},
    "Truth": {"formula": list}, "Reflexivity": {"term": list}, "Leibniz": {"formula": list},
}
# fmt: on


# -- formulas: tuples, a variable being ("bound", how many quantifiers are between), so that its name does not matter --

Formula = tuple[Any, ...]  # ("atom", predicate, term …), ("forall", sort, body), ("and", left, right), … or a term
BOTTOM: Formula = ("bottom",)
QUANTIFIERS, NAMED = ("forall", "exists"), ("app", "atom", "forall", "exists", "bound")
BINARY: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda x, y: x and y,
    "or": lambda x, y: x or y,
    "xor": lambda x, y: x != y,
    "implies": lambda x, y: y or not x,
    "iff": lambda x, y: x == y,
}


def read(node: Node, scope: tuple[Any, ...] = (), term: bool = False) -> Formula:
    """A formula or a term; ``scope`` holds the variables bound around it, the innermost first."""
    match node.value:
        case ["var", str(name), str(sort)] if term and (name, sort) in scope:
            return ("bound", scope.index((name, sort)))
        case [("app" | "atom") as kind, str(name), *_] if term == (kind == "app"):
            return (kind, name, *[read(part, scope, True) for part in node.items()[2:]])
        case ["equal", _, _] if not term:
            return ("equal", *[read(part, scope, True) for part in node.items()[1:]])
        case ["top"] | ["bottom"] | ["not", _] | [("and" | "or" | "xor" | "implies" | "iff"), _, _] if not term:
            return (node.value[0], *[read(part, scope) for part in node.items()[1:]])
        case [("forall" | "exists") as kind, ["var", str(name), str(sort)], _] if not term:
            return (kind, sort, read(node.items()[2], ((name, sort), *scope)))
    node.malformed(f"this is no {'term (or a variable that is free)' if term else 'formula'}")


def parts(of: Formula) -> tuple[Formula, ...]:
    return of[2:] if of[0] in NAMED else of[1:]


def functions(of: Formula) -> Iterator[str]:
    if of[0] == "app":
        yield of[1]
    for part in parts(of):
        yield from functions(part)


def instance(part: Formula, term: Formula, depth: int = 0) -> Formula:
    """The body of a closed quantified formula with a ground term for its variable."""
    if part[0] == "bound":
        return term if part[1] == depth else part
    head, inner = part[: 2 if part[0] in NAMED else 1], depth + (part[0] in QUANTIFIERS)
    return (*head, *[instance(inside, term, inner) for inside in parts(part)])


class Symbols:
    """How formulas use names. A place is a sort, or the argument (name, n) or the result (name, -1) of a symbol."""

    def __init__(self, formulas: Iterable[Formula]) -> None:
        self.uses: dict[str, tuple[str, int]] = {}
        self.clash = False
        self._same: dict[Any, Any] = {}
        for formula in formulas:
            self._place(formula, ())

    def sort(self, place: Any) -> str:
        """The sort of a place; one that meets no sort has the default sort."""
        found = self._find(place)
        return found if isinstance(found, str) else ENTITY

    def _find(self, place: Any) -> Any:
        while place in self._same:
            place = self._same[place]
        return place

    def _unite(self, one: Any, other: Any) -> None:
        one, other = self._find(one), self._find(other)
        if one != other:
            self.clash |= isinstance(one, str) and isinstance(other, str)
            self._same.update({other: one} if isinstance(one, str) else {one: other})

    def _place(self, part: Formula, scope: tuple[str, ...]) -> Any:
        if part[0] == "bound":
            return scope[part[1]]
        inner = (part[1], *scope) if part[0] in QUANTIFIERS else scope
        places = [self._place(inside, inner) for inside in parts(part)]
        if part[0] == "equal":
            self._unite(*places)
        if part[0] in ("atom", "app"):
            use = (part[0], len(places))
            self.clash |= self.uses.setdefault(part[1], use) != use
            for index, place in enumerate(places):
                self._unite((part[1], index), place)
        return (part[1], -1) if part[0] == "app" else None


class Structure:
    """A finite structure, and what formulas with the given symbols mean in it."""

    def __init__(self, node: Node, symbols: Symbols) -> None:
        tables = node.shaped(STRUCTURE).value
        self._node, self._symbols, self._steps, self._sizes = node, symbols, 0, tables["domains"]
        node["domains"].claim(all(self._sizes.values()), "a domain is empty")
        self._holds = {name: set(map(tuple, rows)) for name, rows in tables["predicates"].items()}
        self._values = {name: {tuple(row): value for row, value in rows} for name, rows in tables["functions"].items()}
        for name, rows in tables["functions"].items():
            node["functions"].claim(len(self._values[name]) == len(rows), f"{name!r} has two values at one place")

    def value(self, part: Formula, env: tuple[int, ...] = ()) -> Any:
        """The truth value of a formula, the element that a term denotes."""
        self._steps += 1
        self._node.claim(self._steps < MAX_STEPS, "evaluating formulas in this structure takes too long")
        if part[0] == "bound":
            return env[part[1]]
        if part[0] in QUANTIFIERS:
            values = (self.value(part[2], (element, *env)) for element in self._domain(part[1]))
            return all(values) if part[0] == "forall" else any(values)
        inner = tuple([self.value(inside, env) for inside in parts(part)])
        if part[0] == "app":
            value = self._values.get(part[1], {}).get(inner)
            inside = value in self._domain(self._symbols.sort((part[1], -1)))
            self._node.claim(inside, f"{part[1]!r} has no value in its domain at {inner}")
            return value
        if part[0] == "atom":
            self._node.claim(part[1] in self._holds, f"the predicate {part[1]!r} is not interpreted")
            return inner in self._holds[part[1]]
        if part[0] in BINARY:
            return BINARY[part[0]](*inner)
        return {"equal": len(set(inner)) == 1, "not": inner == (False,), "top": True, "bottom": False}[part[0]]

    def _domain(self, sort: str) -> range:
        self._node.claim(sort in self._sizes, f"the sort {sort!r} has no domain")
        return range(self._sizes[sort])


# -- proofs -----------------------------------------------------------------------------------------------------------

Signed = tuple[Formula, bool]  # a formula that does not begin with "not", and whether it is true
FALSUM: Signed = (BOTTOM, True)


def signed(formula: Formula, sign: bool = True) -> Signed:
    while formula[0] == "not":
        formula, sign = formula[1], not sign
    return formula, sign


class Proof:
    """The lines that hold at the current place of a proof, the names taken, and the premises used so far."""

    def __init__(self, premises: Sequence[Formula], conclusion: Formula, symbols: Symbols) -> None:
        self.used: set[int] = set()
        self._premises, self._symbols, self._sorts = len(premises), symbols, dict[str, str]()
        self._lines = [signed(premise) for premise in premises]
        self._taken = {name for formula in (*premises, conclusion) for name in functions(formula)}

    def last(self, block: Node) -> Signed:
        """The last of some lines, each checked and added."""
        for node in block.items():
            self._lines.append(self._line(node))
        block.claim(block.value != [], "there are no lines")
        return self._lines[-1]

    def _line(self, node: Node) -> Signed:
        kind = node.shaped(dict).value.get("line")
        if not isinstance(kind, str) or kind not in KINDS:
            node.malformed(f"a line is expected, one of {', '.join(KINDS)}")
        node.shaped({"line": str, **KINDS[kind]})
        formula = self._known(read(node["formula"])) if "formula" in node.value else BOTTOM
        match kind:
            case "Repeat":
                return self._at(node["premise"])
            case "Eliminate":
                (main, truth), side = self._at(node["main"]), node["side"].value
                if side not in ("left", "right"):
                    node["side"].malformed("left or right is expected")
                others = [] if node["other"].value is None else [self._at(node["other"])]
                rows = [row for row in self._rows(node, main, others) if row[2] == truth]
                node.claim(len({row[side == "right"] for row in rows}) == 1, "the side's value is not determined")
                return signed(main[1 + (side == "right")], rows[0][side == "right"])
            case "Introduce":
                rows = self._rows(node, formula, [self._at(number) for number in node["premises"].items()])
                node.claim(len({row[2] for row in rows}) == 1, "the formula's value is not determined")
                return formula, rows[0][2]
            case "Instance" | "Witness":
                quantified, truth = self._at(node["main"])
                wanted = "forall" if truth == (kind == "Instance") else "exists"
                node.claim(quantified[0] == wanted, f"the main line has no {kind.lower()}")
                return signed(instance(quantified[2], self._term(node, quantified[1])), truth)
            case "Generalise" | "Arbitrary":
                node.claim(formula[0] in QUANTIFIERS, "the formula is not quantified")
                truth = (formula[0] == "exists") == (kind == "Generalise")
                goal = signed(instance(formula[2], self._term(node, formula[1])), truth)
                shown = self._at(node["premise"]) if kind == "Generalise" else self._block(node["block"])
                node.claim(shown == goal or (kind == "Arbitrary" and shown == FALSUM), "that instance is not shown")
                return formula, truth
            case "Suppose":
                node.claim(formula[0] == "implies", "the formula is no implication")
                shown = self._block(node["block"], signed(formula[1]))
                node.claim(shown in (signed(formula[2]), FALSUM), "the block does not show the right side")
                return formula, True
            case "Absurd":
                supposed, truth = signed(formula)
                node.claim(self._block(node["block"], (supposed, truth)) == FALSUM, "the block shows no contradiction")
                return supposed, not truth
            case "Contradiction":
                (first, truth), second = self._at(node["first"]), self._at(node["second"])
                node.claim(second == (first, not truth), "the lines do not contradict each other")
                return FALSUM
            case "Truth":
                node.claim(formula in (("top",), BOTTOM), "the formula has no truth value of its own")
                return formula, formula != BOTTOM
            case "Reflexivity":
                term = self._known(read(node["term"], term=True))
                return ("equal", term, term), True
        match formula:  # the kind that is left is Leibniz
            case ("implies", ("equal", left, right), ("implies", before, after)) if differ(left, right, before, after):
                return formula, True
        raise Wrong(f"{node.path}: the formula is no instance of Leibniz's law")

    def _at(self, number: Node) -> Signed:
        number.claim(number.value < len(self._lines), "there is no such line at this place")
        if number.value < self._premises:
            self.used.add(number.value)
        return self._lines[number.value]

    def _block(self, block: Node, *assumptions: Signed) -> Signed:
        outside = len(self._lines)
        self._lines += assumptions
        shown = self.last(block)
        del self._lines[outside:]
        return shown

    @staticmethod
    def _rows(node: Node, formula: Formula, known: Sequence[Signed]) -> list[tuple[bool, bool, bool]]:
        """The rows (left, right, whole) of the truth table that agree with what is known of the sides."""
        node.claim(formula[0] in BINARY, "the formula is not binary")
        rows = [(x, y, BINARY[formula[0]](x, y)) for x in (False, True) for y in (False, True)]
        sides = signed(formula[1]), signed(formula[2])
        for part, truth in known:
            node.claim(part in (sides[0][0], sides[1][0]), "a premise is no side of the formula")
            for index, (side, sign) in enumerate(sides):
                rows = [row for row in rows if part != side or row[index] == (sign == truth)]
        return rows

    def _known(self, part: Formula) -> Formula:
        self._taken |= set(functions(part))
        return part

    def _term(self, line: Node, sort: str) -> Formula:
        """The ground term of a line about a quantifier: any of the variable's sort, or a constant that is new."""
        is_new = "constant" in line.value
        node = line["constant" if is_new else "term"]
        term = read(node, term=True)
        if is_new:
            node.claim(len(term) == 2 and term[1] not in self._taken, "this is no new constant")
            self._sorts[term[1]] = sort
        node.claim(self._has_sort(self._known(term), sort), "the term is not of the variable's sort")
        return term

    def _has_sort(self, term: Formula, sort: str) -> bool:
        kind, arity = self._symbols.uses.get(term[1], ("", 0))
        if kind != "app":  # a constant that the proof brought in has the sort that is wanted of it first
            return len(term) == 2 and self._sorts.setdefault(term[1], sort) == sort
        wanted = [self._symbols.sort((term[1], index)) for index in range(arity)]
        fits = len(term) == 2 + arity and all(map(self._has_sort, parts(term), wanted))
        return fits and self._symbols.sort((term[1], -1)) == sort


def differ(left: Formula, right: Formula, one: Formula, other: Formula) -> bool:
    """Whether two atoms, equations or terms differ in nothing but ``left`` and ``right`` for each other."""
    if one == other or (one, other) in ((left, right), (right, left)):
        return True
    named = one[0] in ("atom", "app") and one[:2] == other[:2] and len(one) == len(other)
    inside = zip(parts(one), parts(other))
    return (named or one[0] == other[0] == "equal") and all(differ(left, right, x, y) for x, y in inside)


class Evidence:
    """Checks evidence, and counts it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.words: list[str] = []

    def decide(self, node: Node, premises: Sequence[Formula], conclusion: Formula) -> tuple[bool | None, set[int]]:
        """Whether the premises entail the conclusion, None if undecided; which of them a proof uses, else all."""
        everything = set(range(len(premises)))
        if node.value is None:
            return None, everything
        kind = next(iter(node.value), "")
        if len(node.value) != 1 or kind not in ("proof", "countermodel", "unsupported"):
            node.malformed("null, or one of proof, countermodel and unsupported, is expected")
        evidence = node[kind].shaped({"proof": list, "countermodel": STRUCTURE, "unsupported": bool}[kind])
        self.counts[kind] += 1
        if kind == "unsupported":
            self.words.append(node.path)
            return bool(evidence.value), everything
        symbols = Symbols([*premises, conclusion])
        node.claim(not symbols.clash, "a name is used in two ways")
        if kind == "proof":
            proof = Proof(premises, conclusion, symbols)
            evidence.claim(proof.last(evidence) in (signed(conclusion), FALSUM), "the last line is not the conclusion")
            return True, proof.used
        structure = Structure(evidence, symbols)
        for index, premise in enumerate(premises):
            evidence.claim(structure.value(premise), f"premise number {index} is false in the structure")
        evidence.claim(not structure.value(conclusion), "the conclusion is true in the structure")
        return False, everything
