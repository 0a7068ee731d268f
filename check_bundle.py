#!/usr/bin/env python3
"""Recheck a bundle of verdicts with only this file and Python's standard library (3.10 or later).

    python -I -S check_bundle.py BUNDLE [--show] [--accept-unsupported] [--steps=N]

docs/bundle.md describes the format and the scope of the checks. --show also prints every formula beside the text that
it formalises. --accept-unsupported accepts verdicts without evidence. Exit status: 0 all checks pass, 1 a check fails,
2 the file is not a bundle, 3 the check exceeds the step limit (--steps), 4 the result cannot be written. A message
begins with its place, a JSON path.

One file, so that it can be read and run without anything else.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

FORMAT = "proof-r1-bundle/1"
# fmt: off
PREMISE = {"id": str, "text": str, "source": str, "formula": list}
OPTION = {"id": str, "label": str, "formula": list}
PROBLEM = {"id": str, "difficulty": str, "question": str, "notes": [str], "premises": [PREMISE], "options": [OPTION],
           "answer": (str,), "reference_length": (int,), "consistency": (dict,)}
VERDICTS = {"schema": bool, "semantic": bool, "rule": bool, "progress": bool}
ACTION = {"span": [int, int], "id": (str,), "dependencies": [str], "declared_rule": (str,), "conclusion": (str,),
          "formula": (list,), "verdicts": VERDICTS, "signal": float, "findings": [str], "evidence": (dict,),
          "instance": (str,)}
TRACE = {"problem": str, "sample": int, "completion": str, "parsed": bool, "actions": [ACTION], "answer": (str,),
         "binding": (dict,), "uncertain": ({"goal": (dict,), "negation": (dict,)},), "verified": bool,
         "rule_verified": bool, "closure": [str], "used_closure": [str], "kernels": [str]}
BUNDLE = {"format": str, "made_by": {str: str}, "schemata": {str: [str]}, "problems": [PROBLEM], "traces": [TRACE],
          "metrics": dict}
STRUCTURE = {"domains": {str: int}, "predicates": {str: [[int]]}, "functions": {str: [[[int], int]]}}
LINES: dict[str, dict[str, Any]] = {
    "Repeat": {"premise": int}, "Eliminate": {"main": int, "side": str, "other": (int,)},
    "Introduce": {"formula": list, "premises": [int]}, "Contradiction": {"first": int, "second": int},
    "Instance": {"main": int, "term": list}, "Witness": {"main": int, "constant": list},
    "Generalise": {"formula": list, "premise": int, "term": list},
    "Arbitrary": {"formula": list, "constant": list, "block": list},
    "Suppose": {"formula": list, "block": list}, "Absurd": {"formula": list, "block": list},
    "Truth": {"formula": list}, "Reflexivity": {"term": list}, "Leibniz": {"formula": list},
}
BINARY: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y,
    "implies": lambda x, y: y or not x, "iff": lambda x, y: x == y,
}
FIELD_CODES = ("NOT_AN_OBJECT", "MISSING_FIELD", "EXTRA_FIELD", "DUPLICATE_KEY", "WRONG_TYPE", "NOT_A_LIST",
               "TOO_MANY_DEPENDENCIES")
SCHEMA_OUTCOMES = {
    "MALFORMED": "other: malformed summary", "UNPARSABLE_CONCLUSION": "other: unparsable formula",
    "SYMBOL_CLASH": "other: unparsable formula", "DUPLICATE_ID": "other: duplicate id",
    **dict.fromkeys(FIELD_CODES, "other: malformed step"),
}
SEMANTIC_OUTCOMES = {
    "MISSING_DEPENDENCY": "other: missing dependency", "UNTRUSTED_DEPENDENCY": "untrusted dependency",
    "UNDECIDED": "other: undecided", "NOT_ENTAILED": "not entailed",
}
OUTCOMES = SCHEMA_OUTCOMES | SEMANTIC_OUTCOMES  # the first of these codes that a step has says what became of it
SCHEMA, FORM = set(SCHEMA_OUTCOMES), {"MALFORMED", *FIELD_CODES}
RULE = {"RULE_UNTRUSTED_DEPENDENCY", "UNKNOWN_RULE", "NO_RULE_MATCH", "RULE_UNDECIDED"}
PROGRESS = {"TAUTOLOGY", "REPEATS_CONCLUSION", "RESTATES_DEPENDENCY", "PROGRESS_UNDECIDED"}
EXCLUDED = ("unknown problem id", "second output for the same problem and sample", "inconsistent premises",
            "label is Uncertain (counted apart)", "no reference answer (Avg, Pass, right and verified)",
            "no reference proof (RGD, length ratio)", "not parsed (RGD)", "no response length (response length)")
MEASURES = ("Avg", "Pass", "FVR", "Strict FVR", "RVR", "Strict RVR", "Compound", "RGD",
            "Right and verified", "Right and rule-verified", "Parsed", "Length ratio", "Response length")
RATES = MEASURES[2:6]
DERIVED = {*FORM, "UNPARSABLE_CONCLUSION", "DUPLICATE_ID", "UNUSED_DEPENDENCY", "RULE_UNTRUSTED_DEPENDENCY",
           "BINDING_MISMATCH", "BINDING_UNDECIDED", *SEMANTIC_OUTCOMES}
# fmt: on


class FaultError(Exception):
    """The exit status, 1 to 3, and what is wrong."""


FREE_STEPS, STEPS_PER_CHARACTER = 1_000_000, 20  # what a check may take without --steps


class Steps:
    """Counts the steps of a check, each of bounded work, and ends the check at the limit."""

    def __init__(self) -> None:
        self.taken, self.most, self.place = 0, 0, ""

    def take(self, count: int) -> None:
        self.taken += count
        if self.taken > self.most:
            raise FaultError(3, f"{self.place}: not checked: more than {self.most} steps are needed; see --steps")


STEPS = Steps()


class Node:
    """A JSON value and its place."""

    def __init__(self, value: Any, path: tuple[str | int, ...] = ()) -> None:
        self.value, self.path = value, path

    def __str__(self) -> str:
        return "$" + "".join([f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path])

    def fault(self, status: int, problem: str) -> FaultError:
        return FaultError(status, f"{self}: {problem}")

    def claim(self, holds: object, problem: str) -> None:
        if not holds:
            raise self.fault(1, problem)

    def __getitem__(self, key: str) -> Node:
        return Node(self.value[key], (*self.path, key))

    def items(self) -> list[Node]:
        return [Node(value, (*self.path, index)) for index, value in enumerate(self.value)]

    def shaped(self, shape: Any) -> Node:
        """This node, if it has a shape: a type, (null or …,), a list [of …] or [first, second], a dict or {str: …}."""
        if isinstance(shape, tuple):
            return self if self.value is None else self.shaped(shape[0])
        kind: Any = shape if isinstance(shape, type) else type(shape)
        if type(self.value) is not kind or (kind is int and not 0 <= self.value < 2**31):
            raise self.fault(2, f"a value of type {kind.__name__}{' from 0 to 2147483647' * (kind is int)} is expected")
        if isinstance(shape, list):
            shapes = shape if len(shape) > 1 else shape * len(self.value)
            if len(shapes) != len(self.value):
                raise self.fault(2, f"a list of {len(shapes)} is expected")
            for item, inner in zip(self.items(), shapes, strict=True):
                item.shaped(inner)
        if isinstance(shape, dict):
            if str not in shape and shape.keys() != self.value.keys():
                raise self.fault(2, f"an object with the keys {', '.join(shape)} is expected")
            for key in self.value:
                self[key].shaped(shape.get(key, shape.get(str)))
        return self


# -- formulas: tuples, a variable being ("bound", how many quantifiers are between), so that its name does not matter --

Formula = tuple[Any, ...]  # ("atom", predicate, term …), ("forall", sort, body), ("and", left, right), … or a term
BOTTOM: Formula = ("bottom",)
ENTITY, INVALID_RULE = "Entity", "INVALID_RULE"
QUANTIFIERS, NAMED = ("forall", "exists"), ("app", "atom", "forall", "exists", "bound", "sorted")


def read(node: Node, scope: tuple[Any, ...] = (), term: bool = False) -> Formula:
    """A formula or a term; ``scope`` holds the variables bound around it, the innermost first."""
    STEPS.take(1 + len(scope))
    match node.value:
        case ["var", str(name), str(sort)] if term and (name, sort) in scope:
            return ("bound", scope.index((name, sort)))
        case [("app" | "atom") as kind, str(name), *_] if term == (kind == "app"):
            return (kind, name, *[read(part, scope, True) for part in node.items()[2:]])
        case ["sorted", str(sort), ["app", *_]] if term:
            return ("sorted", sort, read(node.items()[2], scope, True))
        case ["equal", _, _] if not term:
            return ("equal", *[read(part, scope, True) for part in node.items()[1:]])
        case ["top"] | ["bottom"] | ["not", _] | [("and" | "or" | "xor" | "implies" | "iff"), _, _] if not term:
            return (node.value[0], *[read(part, scope) for part in node.items()[1:]])
        case [("forall" | "exists") as kind, ["var", str(name), str(sort)], _] if not term:
            return (kind, sort, read(node.items()[2], ((name, sort), *scope)))
    raise node.fault(2, f"this is not a {'term (or a variable that is free)' if term else 'formula'}")


def parts(of: Formula) -> tuple[Formula, ...]:
    """The parts of a formula or a term. All traversals of formulas call this, and are counted here."""
    STEPS.take(len(of))
    return of[2:] if of[0] in NAMED else of[1:]


def functions(of: Formula) -> set[str]:
    return {of[1]}.union(*map(functions, parts(of))) if of[0] == "app" else set[str]().union(*map(functions, parts(of)))


def instance(part: Formula, term: Formula, depth: int = 0) -> Formula:
    """The body of a closed quantified formula with a ground term for its variable."""
    if part[0] == "bound":
        return term if part[1] == depth else part
    head, inner = part[: 2 if part[0] in NAMED else 1], depth + (part[0] in QUANTIFIERS)
    return (*head, *[instance(inside, term, inner) for inside in parts(part)])


def place(part: Formula, scope: tuple[str, ...], same: list[Sequence[Any]]) -> Any:
    """The place of a term: a sort, or the result ("app", name, -1) of a function; ``same`` gets pairs of one sort."""
    if part[0] == "bound":
        return scope[part[1]]
    if part[0] == "sorted":
        same.append((part[1], place(part[2], scope, same)))
        return part[1]
    inner = (part[1], *scope) if part[0] in QUANTIFIERS else scope
    places = [place(inside, inner, same) for inside in parts(part)]
    same += [places] if part[0] == "equal" else []
    same += [((part[0], part[1], index), of) for index, of in enumerate(places)] if part[0] in ("atom", "app") else []
    return ("app", part[1], -1) if part[0] == "app" else None


def sorts_of(node: Node, formulas: Iterable[Formula]) -> dict[Any, str]:
    """The sorts of arguments (kind, name, n) and results (kind, name, -1) of symbols that meet a sort."""
    same: list[Sequence[Any]] = []
    for formula in formulas:
        place(formula, (), same)
    sorts, known = dict[Any, str](), -1
    while known < len(sorts):
        known = len(sorts)
        STEPS.take(len(same))
        for one, other in [pair[::step] for pair in same for step in (1, -1)]:
            sort = one if isinstance(one, str) else sorts.get(one)
            if sort is not None:
                found = other if isinstance(other, str) else sorts.setdefault(other, sort)
                node.claim(found == sort, f"something is of the sorts {sort!r} and {found!r}")
    return sorts


def symbols(of: Formula) -> set[tuple[str, str, int]]:
    """Kind (app or atom), name and number of arguments of each symbol."""
    own = {(of[0], of[1], len(of) - 2)} if of[0] in ("app", "atom") else set[tuple[str, str, int]]()
    return own.union(*map(symbols, parts(of)))


def clashes(used: set[tuple[str, str, int]]) -> bool:
    """Whether two of the symbols differ in nothing but the number of their arguments."""
    return len({(kind, name) for kind, name, _ in used}) < len(used)


class Structure:
    """A finite structure that interprets exactly the symbols of some formulas, by elements of their sorts."""

    def __init__(self, node: Node, formulas: Sequence[Formula], sorts: dict[Any, str]) -> None:
        self._node, self._sizes = node, node.value["domains"]
        node["domains"].claim(0 not in self._sizes.values(), "a domain is empty")
        self._rows = {name: {*map(tuple, rows)} for name, rows in node.value["predicates"].items()}
        self._values = {name: {tuple(row): to for row, to in pairs} for name, pairs in node.value["functions"].items()}
        used = set[tuple[str, str, int]]().union(*map(symbols, formulas))
        for kind, place, tables in (("atom", "predicates", self._rows), ("app", "functions", self._values)):
            arity = {name: count for of, name, count in used if of == kind}
            node[place].claim(tables.keys() == arity.keys(), f"expected: {', '.join(sorted(arity))}")
            for name, table in tables.items():
                sizes = [self._size(sorts, kind, name, index) for index in range(arity[name])]
                fit = all(len(row) == len(sizes) and all(map(int.__lt__, row, sizes)) for row in table)
                fit = fit and len(table) == len(node.value[place][name])
                if kind == "app":
                    fit = fit and len(table) == math.prod(sizes)
                    fit = fit and max(self._values[name].values()) < self._size(sorts, kind, name, -1)
                node[place][name].claim(fit, f"this is not a table of {name!r} for domains of {sizes} elements")

    def _size(self, sorts: dict[Any, str], *place: str | int) -> int:
        return int(self._sizes.get(sorts.get(place, ENTITY), 0))

    def value(self, part: Formula, elements: tuple[int, ...] = ()) -> Any:
        """The truth value of a formula, or the element that a term denotes."""
        if part[0] == "bound":
            return elements[part[1]]
        if part[0] in QUANTIFIERS:
            STEPS.take(1 + len(elements))
            self._node["domains"].claim(part[1] in self._sizes, f"{part[1]!r} has no elements")
            values = (self.value(part[2], (element, *elements)) for element in range(self._sizes[part[1]]))
            return all(values) if part[0] == "forall" else any(values)
        inner = tuple([self.value(inside, elements) for inside in parts(part)])
        if part[0] == "app":
            return self._values[part[1]][inner]
        if part[0] == "atom":
            return inner in self._rows[part[1]]
        if part[0] in BINARY:
            return BINARY[part[0]](*inner)
        if part[0] in ("top", "bottom"):
            return part[0] == "top"
        return not inner[0] if part[0] == "not" else inner[0] if part[0] == "sorted" else inner[0] == inner[1]


# -- proofs -----------------------------------------------------------------------------------------------------------

Signed = tuple[Formula, bool]  # a formula that does not begin with "not", and whether it is true
FALSUM: Signed = (BOTTOM, True)


def signed(formula: Formula, sign: bool = True) -> Signed:
    while formula[0] == "not":
        STEPS.take(1)
        formula, sign = formula[1], not sign
    return formula, sign


class Proof:
    """The lines that hold at the current place of a proof, the names taken, and the premises used so far."""

    def __init__(self, premises: Sequence[Formula], conclusion: Formula, sorts: dict[Any, str]) -> None:
        self.used: set[int] = set()
        self._premises, self._sorts = len(premises), sorts
        self._lines = [signed(premise) for premise in premises]
        self._given = set[str]().union(*map(functions, (*premises, conclusion)))
        self._taken, self._new = set(self._given), dict[str, str]()

    def last(self, block: Node) -> Signed:
        """The last of some lines, each checked and added."""
        for node in block.items():
            self._lines.append(self._line(node))
        block.claim(block.value, "there are no lines")
        return self._lines[-1]

    def _line(self, node: Node) -> Signed:
        kind = node.shaped(dict).value.get("line")
        if not isinstance(kind, str) or kind not in LINES:
            raise node.fault(2, f"a line is expected, one of {', '.join(LINES)}")
        node.shaped({"line": str, **LINES[kind]})
        formula = self._known(read(node["formula"])) if "formula" in node.value else BOTTOM
        match kind:
            case "Repeat":
                return self._at(node["premise"])
            case "Eliminate":
                (main, truth), right = self._at(node["main"]), node.value["side"] == "right"
                if node.value["side"] not in ("left", "right"):
                    raise node["side"].fault(2, "left or right is expected")
                others = [] if node.value["other"] is None else [self._at(node["other"])]
                rows = [row for row in self._rows(node, main, others) if row[2] == truth]
                node.claim(len({row[right] for row in rows}) == 1, "the value of the side is not determined")
                return signed(main[2 if right else 1], rows[0][right])
            case "Introduce":
                rows = self._rows(node, formula, [self._at(number) for number in node["premises"].items()])
                node.claim(len({row[2] for row in rows}) == 1, "the value of the formula is not determined")
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
                node.claim(shown == goal or (kind == "Arbitrary" and shown == FALSUM), "the instance is not shown")
                return formula, truth
            case "Suppose":
                node.claim(formula[0] == "implies", "the formula is not an implication")
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
        raise node.fault(1, "the formula is not an instance of Leibniz's law")

    def _at(self, number: Node) -> Signed:
        index: int = number.value
        number.claim(index < len(self._lines), "there is no such line at this place")
        if index < self._premises:
            self.used.add(index)
        functions(self._lines[index][0])  # for the steps: who asks for a line compares it with others
        return self._lines[index]

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
            node.claim(part in (sides[0][0], sides[1][0]), "a premise is not a side of the formula")
            for index, (side, sign) in enumerate(sides):
                rows = [row for row in rows if part != side or row[index] == (sign == truth)]
        return rows

    def _known(self, part: Formula) -> Formula:
        self._taken |= functions(part)
        return part

    def _term(self, line: Node, sort: str) -> Formula:
        """The ground term of a line about a quantifier: any of the variable's sort, or a constant that is new."""
        node = line["constant" if "constant" in line.value else "term"]
        term = read(node, term=True)
        if "constant" in line.value:
            node.claim(len(term) == 2 and term[1] not in self._taken, "the constant is not new")
            self._new[term[1]] = sort
        node.claim(self._has_sort(self._known(term), sort), "the term is not of the variable's sort")
        return term

    def _has_sort(self, term: Formula, sort: str) -> bool:
        if term[0] == "sorted":
            return term[1] == sort and self._has_sort(term[2], sort)
        if term[1] not in self._given:  # a constant that the proof brings in has the sort that is wanted of it first
            return len(term) == 2 and self._new.setdefault(term[1], sort) == sort
        wanted = [self._sorts.get(("app", term[1], index), ENTITY) for index in range(-1, len(term) - 2)]
        return wanted[0] == sort and all(map(self._has_sort, parts(term), wanted[1:]))


def differ(left: Formula, right: Formula, one: Formula, other: Formula) -> bool:
    """Whether two atoms, equations or terms differ in nothing but ``left`` and ``right`` for each other."""
    if one == other or (one, other) in ((left, right), (right, left)):
        return True
    named = one[0] in ("atom", "app", "sorted") and one[:2] == other[:2] and len(one) == len(other)
    inside = zip(parts(one), parts(other), strict=False)
    return (named or one[0] == other[0] == "equal") and all(differ(left, right, x, y) for x, y in inside)


class Evidence:
    """Checks evidence, and counts it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.words: list[Node] = []

    def decide(
        self, node: Node, premises: Sequence[Formula], conclusion: Formula, *, word: bool = False
    ) -> tuple[bool | None, set[int]]:
        """Whether the premises entail the conclusion, None if undecided; which of them a proof uses, else all.

        Only where ``word`` says so, an answer may stand without evidence.
        """
        everything = set(range(len(premises)))
        if node.value is None:
            return None, everything
        kind = next(iter(node.value), "")
        if len(node.value) != 1 or kind not in ("proof", "countermodel", *(["unsupported"] if word else [])):
            words = ", countermodel and unsupported" if word else " and countermodel"
            raise node.fault(2, f"null, or one of proof{words}, is expected")
        evidence = node[kind].shaped({"proof": list, "countermodel": STRUCTURE, "unsupported": bool}[kind])
        STEPS.place = str(node)
        STEPS.take(len(premises))
        self.counts[kind] += 1
        if kind == "unsupported":
            self.words.append(node)
            return bool(evidence.value), everything
        sorts = sorts_of(node, [*premises, conclusion])
        if kind == "proof":
            proof = Proof(premises, conclusion, sorts)
            evidence.claim(proof.last(evidence) in (signed(conclusion), FALSUM), "the last line is not the conclusion")
            return True, proof.used
        structure = Structure(evidence, [*premises, conclusion], sorts)
        for index, premise in enumerate(premises):
            evidence.claim(structure.value(premise), f"premise number {index} is false in the structure")
        evidence.claim(not structure.value(conclusion), "the conclusion is true in the structure")
        return False, everything


# -- problems ---------------------------------------------------------------------------------------------------------


class Problem:
    """A problem with its formulas read, its ids and the consistency of its premises checked."""

    def __init__(self, node: Node, evidence: Evidence) -> None:
        self.data, known = node.value, dict[str, Formula]()
        for part in node["premises"].items() + node["options"].items():
            part["id"].claim(part.value["id"] not in known, f"the id {part.value['id']!r} is taken")
            known[part.value["id"]] = read(part["formula"])
        self.premises = {premise["id"]: known[premise["id"]] for premise in self.data["premises"]}
        self.options = {option["id"]: known[option["id"]] for option in self.data["options"]}
        self.symbols = set[tuple[str, str, int]]().union(*map(symbols, known.values()))
        node["premises"].claim(not clashes(self.symbols), "a symbol has two numbers of arguments")
        for part in node["options"].items():  # other spellings of the label would make it an ordinary option
            label = part.value["label"]
            alike = label.strip().lower() in ("uncertain", "unknown")
            part["label"].claim(label == "Uncertain" or not alike, "'Uncertain' is expected")
        self.labels = {None: "", **{option["id"]: option["label"] for option in self.data["options"]}}
        node["answer"].claim(self.data["answer"] in self.labels, "the answer is not an option")
        self.is_uncertain = self.labels[self.data["answer"]] == "Uncertain"
        contradictory = evidence.decide(node["consistency"], [*self.premises.values()], BOTTOM)[0]
        self.is_inconsistent, self.is_consistent = contradictory is True, contradictory is False


# -- completions: the actions, as the text of a completion has them --------------------------------------------------


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


Said = tuple[dict[str, Any], Counter[str]]  # what an element of the array says, and the codes of what is wrong with it
FIELDS = {"id": "id", "dependencies": "dependencies", "declared_rule": "rule", "conclusion": "conclusion"}
DECODER = json.JSONDecoder(
    object_pairs_hook=tuple, parse_int=lambda _: None, parse_float=lambda _: None, parse_constant=refuse
)
SPACE = re.compile(r"[ \t\r\n]*")
STRING_OR_SPACE = re.compile(r'"(?:[^"\\]|\\.)*"?|[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]', re.DOTALL)
THOUGHTS_END = (
    *("</think>", "</thinking>", "</thought>", "</reasoning>", "[/THINK]", "</seed:think>", "</mm:think>", "◁/think▷"),
    *("<|END_THINKING|>", "<channel|>", "Here is my response:", "<|channel|>final", "assistantfinal"),
)


def actions_of(text: str) -> tuple[bool, list[Said]]:
    """Whether the first summary after the thoughts holds one JSON array and nothing else, and its elements."""
    start = max([text.rfind(mark) + len(mark) for mark in THOUGHTS_END if mark in text], default=0)
    final = start or "<|channel|>analysis" not in text
    opening = text.find("<summary>", start) if final else -1
    start = opening + len("<summary>") if opening >= 0 else start
    closing = text.find("</summary>", start) if opening >= 0 else -1
    end = closing if closing >= 0 else len(text)
    try:
        if closing >= 0:
            return True, [said(*element) for element in elements(text, start, end)]
    except (ValueError, RecursionError):
        pass
    return False, [(said([start, end], None)[0], Counter(["MALFORMED"]))]


def elements(text: str, start: int, end: int) -> list[tuple[list[int], Any]]:
    """The span and the value of each element of the array, which a Markdown fence may enclose."""
    first, last = end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip()) - 3
    body = text.find("\n", first, end) + 1
    if text.startswith("```", first, end) and text.startswith("```", last, end) and 0 < body <= last:
        language = text[first + 3 : body - 1].removesuffix("\r").rstrip(" \t")
        start, end = (body, last) if re.fullmatch("[A-Za-z0-9]*", language) else (start, end)
    array = STRING_OR_SPACE.sub(lambda part: part[0] if part[0][0] == '"' else " ", text[start:end])
    text, found = " " * start + array, list[tuple[list[int], Any]]()
    position = after_space(text, start)
    if text[position : position + 1] != "[":
        raise ValueError("this is not an array")
    position = after_space(text, position + 1)
    closed = text[position : position + 1] == "]"
    while not closed:
        value, stop = DECODER.raw_decode(text, position)
        if nesting(value) > 64:
            raise ValueError("the element is nested too deeply")
        found.append(([position, stop], value))
        position = after_space(text, stop)
        closed = text[position : position + 1] == "]"
        if not closed and text[position : position + 1] != ",":
            raise ValueError("there is neither a comma nor the end")
        position = position if closed else after_space(text, position + 1)
    if after_space(text, position + 1) != end:
        raise ValueError("there is more than one array")
    return found


def after_space(text: str, position: int) -> int:
    space = SPACE.match(text, position)
    return space.end() if space else position


def nesting(value: Any) -> int:
    """How many arrays and objects (tuples of pairs) are nested in each other."""
    if not isinstance(value, (list, tuple)):
        return 0
    return 1 + max([nesting(part if isinstance(value, list) else part[1]) for part in value], default=0)


def said(span: list[int], value: Any) -> Said:
    """The fields of an element: the first value of a repeated key, the distinct names of dependencies."""
    if not isinstance(value, tuple):
        return {"span": span, **dict.fromkeys(FIELDS), "dependencies": []}, Counter(["NOT_AN_OBJECT"])
    given, keys = dict(reversed(value)), Counter([key for key, _ in value])
    says = {key: given[name] if is_name(given.get(name)) else None for key, name in FIELDS.items()}
    listed = given.get("dependencies", [])
    names = listed if isinstance(listed, list) else []
    says["dependencies"] = [*dict.fromkeys([name for name in names if is_name(name)])]
    wrong = sum(name in given and says[key] is None for key, name in FIELDS.items()) + (not all(map(is_name, names)))
    codes = Counter(
        MISSING_FIELD=len({*FIELDS.values()} - given.keys()),
        EXTRA_FIELD=len(given.keys() - {*FIELDS.values()}),
        DUPLICATE_KEY=sum(count > 1 for count in keys.values()),
        WRONG_TYPE=wrong,
        NOT_A_LIST=int(not isinstance(listed, list)),
        TOO_MANY_DEPENDENCIES=int(len(names) > 4),
    )
    return {"span": span, **says}, +codes


def is_word(step: dict[str, Any]) -> bool:
    """Whether the verdict on entailment has no evidence."""
    return step["evidence"] is not None and "unsupported" in step["evidence"]


def is_name(text: object) -> bool:
    return isinstance(text, str) and text != "" and not any("\ud800" <= char <= "\udfff" for char in text)


# -- traces -----------------------------------------------------------------------------------------------------------


class Trace:
    """A trace, checked, and what the evaluation needs of it."""

    def __init__(self, node: Node, problem: Problem, evidence: Evidence) -> None:
        STEPS.place = str(node)
        STEPS.take(len(problem.premises) + 1)
        self.problem, self.data, self.steps = problem, node.value, node.value["actions"]
        codes = self._said(node)
        given = [action["formula"] for action in node["actions"].items()]
        formulas: list[Any] = [None if formula.value is None else read(formula) for formula in given]
        last = self.steps[-1] if self.data["parsed"] and self.steps else {"id": None, "declared_rule": None}
        by_id = last["id"] in problem.options
        self.terminal = len(self.steps) - 1 if by_id or last["declared_rule"] == "GOAL_BINDING" else None
        answer, same = self.data["answer"], None
        if node["binding"].value is not None:
            compared = answer in problem.options and formulas and formulas[-1]
            node["binding"].claim(compared, "there is nothing to compare")
            same = evidence.decide(node["binding"], [], ("iff", formulas[-1], problem.options[answer]))[0]
        elif answer in problem.options and formulas and formulas[-1] == problem.options[answer]:
            same = True  # one formula needs no evidence
        first = next(
            (name for name, formula in problem.options.items() if formula == problem.options.get(answer)), None
        )
        selected = answer == last["id"] if by_id else answer is None or (same and answer == first)
        node["answer"].claim(selected, "the last action or the binding contradicts this")
        self.binds, self.may_bind = (
            by_id and same is True,
            by_id and same is None,
        )  # without evidence, it may or may not
        self.is_open = self._openness(node["uncertain"], evidence)
        self._state, self._trusted, self._seen = dict(problem.premises), {*problem.premises}, {*problem.premises}
        self._admitted, self._symbols = set[Formula](), problem.symbols
        used = [
            self._action(action, formula, wrong, index == self.terminal, evidence)
            for index, (action, formula, wrong) in enumerate(zip(node["actions"].items(), formulas, codes, strict=True))
        ]
        self.inside = self._closure(node["closure"], [step["dependencies"] for step in self.steps])
        self._closure(node["used_closure"], used)
        self._verified(node)

    def _said(self, node: Node) -> list[Counter[str]]:
        """The codes of the errors in the elements of the completion's array; the actions must agree with them."""
        parsed, found = actions_of(self.data["completion"])
        node["parsed"].claim(self.data["parsed"] == parsed, f"the completion says {parsed}")
        node["actions"].claim(len(self.steps) == len(found), f"the completion has {len(found)} elements")
        for action, (says, _) in zip(node["actions"].items(), found, strict=True):
            for key, value in says.items():
                action[key].claim(action.value[key] == value, f"the completion says {value!r}")
        return [codes for _, codes in found]

    def _action(self, action: Node, formula: Any, wrong: Counter[str], terminal: bool, evidence: Evidence) -> list[str]:
        """The dependencies that an action uses, its verdicts and findings being checked."""
        step, names, codes = action.value, action.value["dependencies"], Counter(action.value["findings"])
        action["formula"].claim(formula is None or step["conclusion"] is not None, "there is no conclusion")
        expected = wrong + Counter({"DUPLICATE_ID": step["id"] is not None and step["id"] in self._seen})
        expected["UNPARSABLE_CONCLUSION"] = step["conclusion"] is not None and formula is None
        clash = formula is not None and clashes(self._symbols | symbols(formula))
        action["findings"].claim(codes["SYMBOL_CLASH"] or not clash, "a symbol has two numbers of arguments")
        schema, lacking = not +expected and not codes["SYMBOL_CLASH"], [n for n in names if n not in self._state]
        asked, entailed, lines, new = schema and not lacking, None, {*range(len(names))}, True
        action["evidence"].claim(asked or step["evidence"] is None, "evidence is given where none is required")
        if schema:
            expected.update("UNTRUSTED_DEPENDENCY" if n in self._seen else "MISSING_DEPENDENCY" for n in lacking)
            why = "BINDING_UNDECIDED" if self.may_bind and codes["BINDING_UNDECIDED"] else "BINDING_MISMATCH"
            expected[why] = terminal and not self.binds
        if asked:
            dependencies = [self._state[name] for name in names]
            entailed, lines = evidence.decide(action["evidence"], dependencies, formula, word=True)
            new = bool(lines) and formula not in dependencies and formula not in self._admitted
            expected[{True: "UNUSED_DEPENDENCY", False: "NOT_ENTAILED", None: "UNDECIDED"}[entailed]] = (
                entailed is not True or len(lines) < len(names)
            )
            expected["RULE_UNTRUSTED_DEPENDENCY"] = not (codes["UNKNOWN_RULE"] or self._trusted >= {*names})
        stated = Counter({code: count for code, count in codes.items() if code in DERIVED})
        action["findings"].claim(stated == +expected, f"expected: {dict(+expected)}")
        allowed = DERIVED | PROGRESS | (RULE | {"COMPOUND_STEP"} if asked else {"UNKNOWN_RULE"}) if schema else SCHEMA
        action["findings"].claim(codes.keys() <= allowed, f"only {', '.join(sorted(allowed))} are expected")
        for some in (RULE, RULE - {"NO_RULE_MATCH"} | {"COMPOUND_STEP"}, PROGRESS, {"SYMBOL_CLASH"}):
            action["findings"].claim(sum(codes[code] for code in some) < 2, f"one of {', '.join(some)} is expected")
        binding = terminal and step["declared_rule"] == "GOAL_BINDING"
        mismatch = terminal and not self.binds
        progress = schema and not mismatch and not codes.keys() & PROGRESS
        rule = asked and not codes.keys() & RULE and not (binding and mismatch)
        action["findings"].claim(
            not rule or not is_word(step), "a step without evidence is not an instance of its rule"
        )
        action["findings"].claim(entailed is not False or not rule, "a refuted step is not an instance of its rule")
        action["findings"].claim(new or binding or not entailed or not progress, "the conclusion is nothing new")
        verdicts = {"schema": schema, "semantic": entailed is True, "rule": rule, "progress": progress}
        for name, verdict in verdicts.items():
            action["verdicts"][name].claim(step["verdicts"][name] == verdict, f"{verdict} is expected")
        action["instance"].claim((step["instance"] is not None) == rule, "a schema is expected exactly where a rule is")
        signal = 0.0 if not schema else 0.1 if not entailed else 1.0 if rule and progress else 0.3
        action["signal"].claim(step["signal"] == signal, f"{signal} is expected")
        self._seen.add(step["id"])
        if entailed:
            self._symbols |= symbols(formula)
            self._state[step["id"]] = formula
            self._admitted.add(formula)
            self._trusted |= {step["id"]} if rule else set()
        return [names[number] for number in sorted(lines)]

    def _verified(self, node: Node) -> None:
        """The answer is verified if the terminal action states it, the premises have a model, and its closure holds."""
        closure = [self.steps[index]["verdicts"] for index in self.inside]
        shown = not any(is_word(self.steps[index]) for index in self.inside)
        stated = self.binds and self.problem.is_consistent and self.steps[-1]["verdicts"]["schema"]
        for key, verdict in (("verified", "semantic"), ("rule_verified", "rule")):
            holds = shown and all(verdicts["semantic"] and verdicts[verdict] for verdicts in closure)
            if self.is_open is not None:
                holds = self.is_open == "verified" and key == "verified"
            node[key].claim(node.value[key] == (stated and holds), f"{stated and holds} is expected")

    def _openness(self, node: Node, evidence: Evidence) -> str | None:
        """For a trace that answers Uncertain, whether the premises leave the goal open."""
        node.claim(
            (node.value is not None) == (self.problem.labels[self.data["answer"]] == "Uncertain"), "not so answered"
        )
        if node.value is None:
            return None
        goal, premises = self.problem.options[self.data["answer"]], [*self.problem.premises.values()]
        questions = {"goal": goal, "negation": ("not", goal)}
        found = [evidence.decide(node[key], premises, question)[0] for key, question in questions.items()]
        return "refuted" if True in found else "undecided" if None in found else "verified"

    def _closure(self, node: Node, dependencies: Sequence[Sequence[str]]) -> list[int]:
        """The actions in the closure along names of premises and earlier actions, which must be the one at the node."""
        first = {step["id"]: index for index, step in reversed(list(enumerate(self.steps)))}
        inside, names = {} if self.terminal is None else {self.terminal: None}, set[str]()
        waiting = [*inside]
        while waiting:
            index = waiting.pop()
            names |= {*dependencies[index]}
            found = {first.get(name, index) for name in dependencies[index] if name not in self.problem.premises}
            new = [earlier for earlier in found if earlier < index and earlier not in inside]
            waiting += new
            inside.update(dict.fromkeys(new))
        said = [name for name in self.problem.premises if name in names]
        said += [self.steps[index]["id"] or "" for index in sorted(inside)]
        node.claim(node.value == said, f"expected is {said}")
        return [*inside]

    @property
    def well_formed(self) -> list[dict[str, Any]]:
        return [step for step in self.steps if step["verdicts"]["schema"]]

    def outcomes(self) -> list[str]:
        """What became of each step."""
        named = [[name for code, name in OUTCOMES.items() if code in step["findings"]] for step in self.steps]
        return [(*names, "verified")[0] for names in named]

    def rules(self) -> list[tuple[str, dict[str, bool]]]:
        """The rule that each step declares, if it is known, and the step's verdicts."""
        steps = self.steps if self.data["parsed"] else []
        known = ["UNKNOWN_RULE" not in step["findings"] and step["declared_rule"] is not None for step in steps]
        names = [
            step["declared_rule"] if is_known else INVALID_RULE for is_known, step in zip(known, steps, strict=True)
        ]
        return [(name, step["verdicts"]) for name, step in zip(names, steps, strict=True)]

    def row(self) -> dict[str, tuple[float, float]]:
        """What the trace adds to the numerator and to the denominator of each score but Pass."""
        inside, reference = len(self.inside), self.problem.data["reference_length"]
        row: dict[str, tuple[float, float]] = {"Response length": (len(self.data["completion"]), 1)}
        row["Parsed"] = (int(self.data["parsed"]), 1)
        if self.problem.data["answer"] is not None:
            right = self.data["answer"] == self.problem.data["answer"]
            row["Avg"], row["Right and verified"] = (int(right), 1), (int(right and self.data["verified"]), 1)
            row["Right and rule-verified"] = (int(right and self.data["rule_verified"]), 1)
        if reference is not None:
            row["Length ratio"] = (max(0, inside - 1), reference)
            if self.data["parsed"]:
                row["RGD"] = (abs(math.log(max(1, inside - 1) / max(1, reference))), 1)
        cascade = {"UNTRUSTED_DEPENDENCY"}
        levels = {
            "FVR": (["semantic"], cascade),
            "RVR": (["semantic", "rule"], cascade | {"RULE_UNTRUSTED_DEPENDENCY"}),
        }
        for name, (needed, codes) in levels.items() if self.data["parsed"] else ():
            holds = sum(all(step["verdicts"][level] for level in needed) for step in self.steps)
            found = [{*step["findings"]} for step in self.steps]
            row[name] = (holds, sum("MISSING_DEPENDENCY" in of or not codes & of for of in found))
            row[f"Strict {name}"] = (holds, len(self.steps))
        if self.data["parsed"]:
            verdicts = [(step["verdicts"], step["findings"]) for step in self.steps]
            instances = [codes for of, codes in verdicts if of["semantic"] and of["rule"]]
            row["Compound"] = (sum("COMPOUND_STEP" in codes for codes in instances), len(instances))
        return row


# -- evaluation -------------------------------------------------------------------------------------------------------


def evaluation(problems: Sequence[Problem], traces: Sequence[Trace]) -> dict[tuple[str | int, ...], Any]:
    """The numbers of the evaluation by their paths."""
    scored = [trace for trace in traces if not trace.problem.is_inconsistent and not trace.problem.is_uncertain]
    asides = [trace for trace in traces if trace.problem.is_uncertain and not trace.problem.is_inconsistent]
    rows = {trace: trace.row() for trace in scored}
    samples = Counter(trace.problem for trace in scored)
    most, answered = max(samples.values(), default=0), {trace.problem for trace in traces}
    left_out = [0, 0, len(traces) - len(scored) - len(asides), len(asides)]
    lacking = {name: sum(name not in row for row in rows.values()) for name in MEASURES}
    left_out += [lacking["Avg"], lacking["Length ratio"], lacking["RGD"] - lacking["Length ratio"]]
    left_out.append(lacking["Response length"])
    number: dict[tuple[str | int, ...], Any] = {("samples",): most, ("length_unit",): "characters"}
    number |= {("eligibility",): "own-fault", ("contract",): "per-action", ("discarded",): 0}
    number |= {} if problems else {("difficulties",): {}}
    number |= {("excluded", reason): count for reason, count in zip(EXCLUDED, left_out, strict=True)}
    known = {name for trace in scored for name, verdicts in trace.rules() if verdicts["schema"]}
    for group in dict.fromkeys([("overall",), *[("difficulties", problem.data["difficulty"]) for problem in problems]]):
        of = {problem for problem in problems if problem.data["difficulty"] == group[-1] or len(group) == 1}
        STEPS.take(len(problems) + len(traces))
        here, counts = [trace for trace in scored if trace.problem in of], Counter[tuple[str, ...]]()
        counts["problems",], counts["outputs",] = len({trace.problem for trace in here}), len(here)
        counts["incomplete",] = sum(0 < samples[problem] < most for problem in of)
        counts["absent",] = sum(not problem.is_uncertain for problem in of - answered)
        counts.update({("steps", outcome): 0 for outcome in ("verified", *OUTCOMES.values())})
        counts.update({("uncertain", name): 0 for name in ("outputs", "right", "verified", "refuted", "undecided")})
        for trace in here:
            counts.update(("steps", outcome) for outcome in trace.outcomes())
            for name, verdicts in trace.rules():
                bucket = name if name in known else INVALID_RULE
                counts.update({("rules", bucket, verdict): int(holds) for verdict, holds in verdicts.items()})
                counts["rules", bucket, "steps"] += 1
        for trace in asides:
            if trace.problem in of:
                counts["uncertain", "outputs"] += 1
                counts["uncertain", "right"] += trace.data["answer"] == trace.problem.data["answer"]
                if trace.is_open is not None:
                    counts["uncertain", trace.is_open] += trace.data["verified"] or trace.is_open != "verified"
        number |= {(*group, *path): count for path, count in counts.items()}
        number |= {} if any(path[0] == "rules" for path in counts) else {(*group, "rules"): {}}
        for measure in MEASURES:
            path, parts_of = (*group, "scores", measure), defaultdict[Any, list[tuple[float, float]]](list)
            for trace in here:
                part = rows[trace].get("Avg" if measure == "Pass" else measure, (0, 0))
                parts_of[trace.problem if measure == "Pass" else trace.data["sample"]].append(part)
            sums = [tuple(map(sum, zip(*pairs, strict=True))) for pairs in parts_of.values()]
            if measure == "Pass":
                sums = [(right > 0, judged > 0) for right, judged in sums]
            top, bottom = sum(n for n, _ in sums), sum(d for _, d in sums)
            share = top / bottom if bottom else 0.0
            shares = [n / d if d else 0.0 for n, d in sums if d or measure in RATES]
            spread = math.sqrt(share * (1 - share) / bottom) if measure == "Pass" and bottom else None
            if measure != "Pass" and len(shares) > 1:
                mean = sum(shares) / len(shares)
                spread = math.sqrt(sum((x - mean) ** 2 for x in shares) / (len(shares) - 1))
            number |= {(*path, "value"): share, (*path, "numerator"): top, (*path, "denominator"): bottom}
            number |= {(*path, "spread"): spread, (*path, "interval"): None}
    return number


def leaves(node: Node) -> Iterator[Node]:
    """The values in nested objects."""
    if not isinstance(node.value, dict) or not node.value:
        yield node
    else:
        for key in node.value:
            yield from leaves(node[key])


def check(bundle: Node, accept_unsupported: bool, most_steps: int) -> str:
    """Check a whole bundle; what was checked, in words."""
    STEPS.taken, STEPS.most, STEPS.place = 0, most_steps, str(bundle)
    bundle.shaped(BUNDLE)["format"].claim(bundle.value["format"] == FORMAT, f"{FORMAT} is expected")
    evidence, problems, traces, seen = Evidence(), dict[str, Problem](), list[Trace](), set[tuple[str, int]]()
    for node in bundle["problems"].items():
        node.claim(node.value["id"] not in problems, f"the id {node.value['id']!r} is taken")
        problems[node.value["id"]] = Problem(node, evidence)
    for node in bundle["traces"].items():
        key = node.value["problem"], node.value["sample"]
        node.claim(key[0] in problems and key not in seen, "there is no such problem, or another trace of this sample")
        seen.add(key)
        traces.append(Trace(node, problems[key[0]], evidence))
    rules = {
        (step["declared_rule"], "UNKNOWN_RULE" in step["findings"]) for trace in traces for step in trace.well_formed
    }
    bundle["traces"].claim(len(rules) == len({rule for rule, _ in rules}), "a rule is known and unknown")
    used = {step["instance"] for trace in traces for step in trace.steps} - {None}
    bundle["schemata"].claim(bundle.value["schemata"].keys() == used, "these are not the schemata of the actions")
    for trace, node in zip(traces, bundle["traces"].items(), strict=True):
        node["kernels"].claim(trace.data["verified"] or not trace.data["kernels"], "the answer is not verified")
    computed = {("metrics", *path): number for path, number in evaluation([*problems.values()], traces).items()}
    stated = {node.path: node for node in leaves(bundle["metrics"])}
    for path, node in stated.items():
        node.claim(path in computed and same_number(node.value, computed[path]), f"{computed.get(path)} is expected")
    bundle["metrics"].claim(
        stated.keys() == computed.keys(), f"missing: {sorted(map(str, computed.keys() - stated))[:3]}"
    )
    for word in evidence.words[: 0 if accept_unsupported else 1]:
        raise word.fault(1, f"{len(evidence.words)} verdicts are unsupported; this is the first")
    steps = sum(len(trace.steps) for trace in traces)
    return (
        f"ok: {len(problems)} problems, {len(traces)} traces, {steps} steps; checked {evidence.counts['proof']} proofs"
        f", {evidence.counts['countermodel']} structures and {len(computed)} numbers of the evaluation.\n"
        f"Taken as stated: that formulas say what the texts beside them say (--show), whether steps are instances of "
        f"their rules and progress, what kernels accepted, what is undecided, and {len(evidence.words)} verdicts "
        "without evidence."
    )


def same_number(one: Any, other: Any) -> bool:
    if type(one) in (int, float) and type(other) in (int, float):
        return one == other or (abs(one) < 1e15 and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9))
    return type(one) is type(other) and one == other


def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key occurs twice in an object with the keys {', '.join(found)}")
    return found


def show(node: Node) -> Iterator[str]:
    """Every formula of a problem or an action, beside the text that it formalises."""
    if isinstance(node.value, dict) and {"id", "formula"} <= node.value.keys():
        texts = [node.value[key] for key in ("text", "label", "source", "conclusion") if node.value.get(key)]
        yield "\n    ".join(
            [f"{node} {node.value['id']}", *texts, json.dumps(node.value["formula"], ensure_ascii=False)]
        )
    elif isinstance(node.value, dict):
        for key in node.value:
            yield from show(node[key])
    elif isinstance(node.value, list):
        for item in node.items():
            yield from show(item)


def main(arguments: Sequence[str]) -> int:
    names = [argument for argument in arguments if not argument.startswith("--")]
    steps = [int(argument[8:]) for argument in arguments if re.fullmatch("--steps=[0-9]{1,18}", argument)]
    options = [
        option for option in arguments if option not in names and not re.fullmatch("--steps=[0-9]{1,18}", option)
    ]
    if len(names) != 1 or not {*options} <= {"--show", "--accept-unsupported"}:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    sys.setrecursionlimit(5000)
    try:
        text = Path(names[0]).read_bytes().decode()
        bundle = Node(json.loads(text, object_pairs_hook=unrepeated, parse_constant=refuse))
        steps.append(FREE_STEPS + STEPS_PER_CHARACTER * len(text))
        lines, status = [check(bundle, "--accept-unsupported" in arguments, steps[0])], 0
        lines[:0] = show(bundle) if "--show" in arguments else []
    except FaultError as error:
        status, lines = error.args[0], [error.args[1]]
    except (OSError, ValueError, RecursionError) as error:
        status, lines = 2, [f"$: {error}"]
    for line in lines:
        shown = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in line)
        try:
            sys.stdout.buffer.write(f"{shown}\n".encode(errors="replace"))
            sys.stdout.buffer.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not isinstance(error, BrokenPipeError):  # the reader needs no more, as `head` does
                sys.stderr.write(f"the result cannot be written: {error}\n")
                return 4
            break
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
