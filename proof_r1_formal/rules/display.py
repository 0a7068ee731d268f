"""Rules as Rich renderables, for a terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from proof_r1_formal.rules.schema import Catalogue, Condition, Rule, Schema
from proof_r1_formal.text.show import show


def rules(catalogue: Catalogue) -> Table:
    """The rules of a catalogue, one line each."""
    table = Table("rule", "meaning", title=f"Rule catalogue {catalogue.name}", title_justify="left", box=SIMPLE_HEAD)
    for rule in catalogue.rules:
        table.add_row(Text(rule.name), Text(rule.meaning))
    return table


def rule(shown: Rule) -> RenderableType:
    """One rule with its schemata and an example."""
    tree = Tree(Text(shown.name, "bold"))
    tree.add(Text(shown.meaning))
    for schema in shown.schemata:
        tree.add(Text(_schema(schema)))
    tree.add(Text(f"for example: {'; '.join(shown.example.dependencies)} ⊢ {shown.example.conclusion}"))
    return tree


def _schema(schema: Schema) -> str:
    premises = "; ".join([f"[{show(p)}]" for p in schema.principal] + [show(p) for p in schema.minor])
    notes = [c.value for c in Condition if c in schema.conditions]
    suffix = f"  ({', '.join(notes)})" if notes else ""
    return f"{schema.name}: {premises} ⊢ {show(schema.conclusion)}{suffix}"
