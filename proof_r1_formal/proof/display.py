"""Reports as Rich renderables, for a terminal or a notebook.

In: what a report says, as plain texts and verdicts. Out: a table, or several. Reports call this module when they are
shown; no other use needs Rich.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

_MARK = {True: "✓", False: "✗"}
_STYLE = {True: "green", False: "red"}


class Action(NamedTuple):
    """What is shown of an action.

    Attributes:
        id, dependencies, conclusion, rule: as written; None where the action has none.
        checks: the verdicts schema, semantic, rule and progress.
        in_closure: whether the answer depends on it.
        signal: 0.0, 0.1, 0.3 or 1.0.
        reasons: sentences on its verdicts.
    """

    id: str | None
    dependencies: tuple[str, ...]
    conclusion: str | None
    rule: str | None
    checks: tuple[bool, bool, bool, bool]
    in_closure: bool
    signal: float
    reasons: tuple[str, ...]

    @property
    def entailed(self) -> bool:
        """The verdict semantic."""
        return self.checks[1]


def step(action: Action) -> RenderableType:
    """One action with its verdicts and reasons."""
    return Group(_actions([action]), *_reasons([action]))


def trace(
    heading: str,
    premises: Sequence[tuple[str, str, str]],
    actions: Sequence[Action],
    closure: Collection[str],
    idle: Sequence[str],
) -> RenderableType:
    """One verified trace: premises, actions with verdicts and reasons, and the closure of the answer as a tree.

    Args:
        heading: lines on the answer.
        premises: id, formula and English of each; without any, no table of them is shown.
        actions: in order; the last one is the terminal one if the closure is not empty.
        closure: ids of the premises and actions that the answer depends on.
        idle: those of them that no proof uses.
    """
    tables = [_premises(premises, closure)] if premises else []
    tree = _closure(actions, closure)
    unused = [Text(f"used by no proof: {', '.join(idle)}", "dim")] if idle else []
    return Group(Text(heading, style="bold"), *tables, _actions(actions), *_reasons(actions), tree, *unused)


def _premises(premises: Iterable[tuple[str, str, str]], closure: Collection[str]) -> Table:
    table = Table(title="Premises", title_justify="left", show_header=False, box=None)
    for name, formula, text in premises:
        style = "" if name in closure else "dim"
        table.add_row(Text(name, style), Text(formula, style), Text(text, "dim"))
    return table


def _actions(actions: Iterable[Action]) -> Table:
    """One row per action; the four checks are, in order, schema, semantic, rule, progress."""
    table = Table(title="Actions (checks: schema, semantic, rule, progress)", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("id", no_wrap=True)
    table.add_column("from", max_width=12)
    table.add_column("conclusion", ratio=1)
    table.add_column("rule", max_width=21)
    table.add_column("checks", no_wrap=True)
    table.add_column("signal", justify="right")
    for action in actions:
        style = "" if action.in_closure else "dim"
        checks = Text(" ").join([Text(_MARK[verdict], _STYLE[verdict]) for verdict in action.checks])
        table.add_row(
            Text(action.id or "–", style),
            Text(" ".join(action.dependencies), style),
            Text(action.conclusion or "–", style),
            Text((action.rule or "–").replace("_", " ").lower(), style),
            checks,
            Text(f"{action.signal}", style),
        )
    return table


def _reasons(actions: Iterable[Action]) -> Iterator[RenderableType]:
    for index, action in enumerate(actions):
        if not action.reasons:
            continue
        heading = "to note" if action.signal == 1.0 else "why not"
        tree = Tree(Text(f"{action.id or f'action {index + 1}'}: {heading}", "bold"))
        for reason in action.reasons:
            tree.add(Text(reason))
        yield tree


def _closure(actions: Sequence[Action], closure: Collection[str]) -> RenderableType:
    """The answer at the root, with the dependencies of each action below it; repeated subtrees are not expanded."""
    if not closure:
        return Text("No terminal action, so the closure is empty.", "dim")
    known = {action.id: action for action in reversed(actions) if action.id is not None}  # of one id, the first
    terminal = actions[-1]
    tree = Tree(Text(f"closure of {_label(terminal)}", "bold"))
    opened: set[str] = set()
    stack = [(tree, name) for name in reversed(terminal.dependencies)]
    while stack:
        node, name = stack.pop()
        if name not in closure:
            node.add(Text(f"{name} (unknown)", "red"))
        elif name not in known:
            node.add(Text(name))
        elif name in opened:
            node.add(Text(f"{name} (above)", "dim"))
        else:
            opened.add(name)
            child = node.add(Text(_label(known[name]), _STYLE[known[name].entailed]))
            stack.extend((child, dependency) for dependency in reversed(known[name].dependencies))
    return tree


def _label(action: Action) -> str:
    return f"{action.id}: {action.conclusion}"
