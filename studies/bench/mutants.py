"""Mutants: every small fault that mutation testing plants in a module.

In: the text of a module. Out: its :class:`Mutant` objects, each with one edit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Mutant(NamedTuple):
    """An edit of a module.

    Attributes:
        operator: what kind of fault it plants.
        line: where, counted from 1.
        old, new: the lines that it changes, with the white space squeezed.
        text: the whole module after it.
    """

    operator: str
    line: int
    old: str
    new: str
    text: str


_OPPOSITES: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_NEIGHBOURS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OPERATORS: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_NAMES = {"all": "any", "any": "all", "min": "max", "max": "min"}
_SIDES = {"left": "right", "right": "left"}
_NOT_UNWRAPPED = {"len", "isinstance", "all", "any", "range", "enumerate", "zip", "str", "map", "iter", "next", "max"}
_NOT_UNWRAPPED |= {"min", "permutations", "tuple", "dict", "list", "set", "frozenset", "super", "type", "id"}


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module's text, without repeats, in the order of the text.

    An edit is inside one statement of the module, and only that statement is parsed again: two edits are the same if
    they leave the same statement.
    """
    edits = _Edits(source)
    found = sorted(edits.all(), key=lambda edit: (edit.start, edit.end, edit.operator, edit.new))
    statements = edits.statements()
    seen = {_Tree(start, _tree(source[start:end])) for start, end in statements}
    lines = source.splitlines()
    for operator, start, end, new in found:
        top, bottom = next(ends for ends in statements if ends[0] <= start and end <= ends[1])
        tree = _Tree(top, _tree(source[top:start] + new + source[end:bottom]))
        if tree in seen:
            continue
        seen.add(tree)
        text = source[:start] + new + source[end:]
        first, last = source.count("\n", 0, start), source.count("\n", 0, end)
        before, after = lines[first : last + 1], text.splitlines()[first : first + new.count("\n") + 1]
        yield Mutant(operator, first + 1, _squeezed("\n".join(before)), _squeezed("\n".join(after)), text)


class _Tree(NamedTuple):
    """The statement of a module that begins at a place, as text of its syntax tree."""

    start: int
    dump: str


def _tree(statement: str) -> str:
    return ast.dump(ast.parse(statement))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


class _Edit(NamedTuple):
    operator: str
    start: int
    end: int
    new: str


class _Edits(ast.NodeVisitor):
    """Collects edits; nothing in messages, annotations, decorators, assertions or limits at the top of the module."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._edits: list[_Edit] = []
        self._function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
        offset = 0
        self._starts: list[int] = []
        for line in source.splitlines(keepends=True):
            self._starts.append(offset)
            offset += len(line)
        self._starts.append(offset)
        self._lines = source.splitlines(keepends=True)

    def all(self) -> list[_Edit]:
        self.visit(ast.parse(self._source))
        return self._edits

    def statements(self) -> list[tuple[int, int]]:
        """Where the statements of the module begin and end."""
        return [self._ends(statement) for statement in ast.parse(self._source).body]

    def _ends(self, node: ast.expr | ast.stmt | ast.pattern) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        """The position in the text of a place that ``ast`` counts in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _replace(self, operator: str, node: ast.expr | ast.stmt | ast.pattern, new: str) -> None:
        self._edits.append(_Edit(operator, *self._ends(node), new))

    def _expression(self, operator: str, node: ast.expr, new: ast.expr) -> None:
        text = ast.unparse(new)
        plain = isinstance(new, ast.Call | ast.Name | ast.Attribute | ast.Constant | ast.Tuple)
        self._replace(operator, node, text if plain else f"({text})")

    # -- statements ---------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outside, self._function = self._function, node
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self._function = outside

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        named = node.annotation.id if isinstance(node.annotation, ast.Name) else ""
        limit = named == "Final" and isinstance(node.value, ast.Constant) and isinstance(node.value.value, int)
        if node.value is not None and named != "TypeAlias" and not limit:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if self._function is None and isinstance(node.value, ast.Constant | ast.BinOp):
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, float):
                self.visit(node.value)
            return
        started = self._function is not None and self._function.name == "__init__"
        if not started and not isinstance(node.targets[0], ast.Name | ast.Tuple):
            self._replace("drop statement", node, "pass")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("drop statement", node, "pass")
        if other := _OPERATORS.get(type(node.op)):
            self._replace("swap operator", node, ast.unparse(ast.AugAssign(node.target, other(), node.value)))
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return
        if not (isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "assert_never"):
            self._replace("drop statement", node, "pass")
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace("drop statement", node, "pass")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace("drop statement", node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._replace("drop statement", node, "pass")

    def visit_Delete(self, node: ast.Delete) -> None:
        self._replace("drop statement", node, "pass")

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_Return(self, node: ast.Return) -> None:
        function = self._function
        assert function is not None
        if node is not function.body[-1]:
            self._replace("drop statement", node, "pass")
        if node.value is None:
            return
        if isinstance(function.returns, ast.Name) and function.returns.id == "bool":
            self._replace("return a constant", node, "return True")
            self._replace("return a constant", node, "return False")
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self._replace("change constant", node, f"return {node.value.value + '?'!r}")
        self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._condition(node.test)
            self.visit(node.test)
        for statement in node.body:
            self.visit(statement)

    def visit_For(self, node: ast.For) -> None:
        self._replace("never loop", node.iter, "()")
        self.visit(node.iter)
        for statement in node.body:
            self.visit(statement)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        for case in node.cases:
            last = case.body[-1].end_lineno
            assert last is not None
            if len(node.cases) > 1:
                start = self._starts[case.pattern.lineno - 1]
                self._edits.append(_Edit("drop case", start, self._starts[last] - 1, ""))
            if isinstance(case.pattern, ast.MatchOr) and len(case.pattern.patterns) > 1:
                for dropped in case.pattern.patterns:
                    kept = [pattern for pattern in case.pattern.patterns if pattern is not dropped]
                    self._replace("drop alternative", case.pattern, ast.unparse(ast.MatchOr(kept)))
            if case.guard is not None:
                self._replace("change condition", case.guard, "True")
                self._condition(case.guard)
                self.visit(case.guard)
            for statement in case.body:
                self.visit(statement)

    # -- expressions --------------------------------------------------------------------------------------------------

    def _condition(self, node: ast.expr) -> None:
        """Negate it, unless that is what another operator does."""
        single = isinstance(node, ast.Compare) and type(node.ops[0]) in _OPPOSITES
        if not single and not (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            self._expression("change condition", node, ast.UnaryOp(ast.Not(), node))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._replace("change condition", condition, "True")
            self._condition(condition)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for index, operator in enumerate(node.ops):
            other = {**_OPPOSITES, **_NEIGHBOURS}[type(operator)]()
            operators = [*node.ops[:index], other, *node.ops[index + 1 :]]
            self._expression("swap comparison", node, ast.Compare(node.left, operators, node.comparators))
        choices = node.comparators[-1]
        if isinstance(choices, ast.Tuple):
            self._without_each(choices)
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Constant) and isinstance(side.value, str):
                self._replace("change constant", side, repr(side.value + "?"))
        self.generic_visit(node)

    def _without_each(self, node: ast.Tuple) -> None:
        for dropped in node.elts:
            kept = [element for element in node.elts if element is not dropped]
            self._expression("drop operand", node, ast.Tuple(kept, ast.Load()))

    def visit_Tuple(self, node: ast.Tuple) -> None:
        if len(node.elts) > 1 and any(isinstance(element, ast.Starred) for element in node.elts):
            self._without_each(node)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._expression("swap operator", node, ast.BoolOp(other, node.values))
        for dropped in node.values:
            kept = [value for value in node.values if value is not dropped]
            self._expression("drop operand", node, kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._expression("change condition", node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        types = isinstance(node.op, ast.BitOr) and ast.unparse(node.left)[0].isupper()
        if type(node.op) in _OPERATORS and not types:
            self._expression("swap operator", node, ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right))
        if isinstance(node.op, ast.BitOr):
            self._expression("drop operand", node, node.left)
            self._expression("drop operand", node, node.right)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        arguments = node.args
        plain = not any(isinstance(argument, ast.Starred) for argument in arguments[:2])
        if len(arguments) > 1 and plain and called != "isinstance":
            swapped = [arguments[1], arguments[0], *arguments[2:]]
            self._expression("swap arguments", node, ast.Call(node.func, swapped, node.keywords))
        if len(arguments) > 2:
            self._expression("drop operand", node, ast.Call(node.func, arguments[:-1], node.keywords))
        name = called.rpartition(".")[2].lstrip("_")
        function = name[:1].islower()  # what a constructor must have, it asks for
        for dropped in node.keywords if function else ():
            kept = [keyword for keyword in node.keywords if keyword is not dropped]
            self._expression("drop operand", node, ast.Call(node.func, arguments, kept))
        ours = "." not in called or called.startswith("self.")
        if arguments and plain and function and ours and called not in _NOT_UNWRAPPED:
            self._expression("skip call", node, arguments[0])
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _NAMES:
            self._replace("swap function", node, _NAMES[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _SIDES and isinstance(node.ctx, ast.Load):
            self._expression("swap sides", node, ast.Attribute(node.value, _SIDES[node.attr], ast.Load()))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("change constant", node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._replace("change constant", node, repr(node.value + 1))
