"""A rule as Rich renderable, for a terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from proof_r1_formal.rules.schema import Condition, Rule, Schema
from proof_r1_formal.text.show import show


def rule(shown: Rule) -> RenderableType:
    """One rule with its schemata and an example."""
    tree = Tree(Text(shown.name, "bold"))
    tree.add(Text(shown.meaning))
    for schema in shown.schemata:
        tree.add(Text(f"{schema.name}: {statement(schema)}"))
    tree.add(Text(f"for example: {'; '.join(shown.example.dependencies)} ⊢ {shown.example.conclusion}"))
    return tree


def statement(schema: Schema) -> str:
    """What a schema says, with principal premises in brackets, and its conditions."""
    premises = "; ".join([f"[{show(p)}]" for p in schema.principal] + [show(p) for p in schema.minor])
    notes = [c.value for c in Condition if c in schema.conditions]
    suffix = f"  ({', '.join(notes)})" if notes else ""
    return f"{premises} ⊢ {show(schema.conclusion)}{suffix}"
