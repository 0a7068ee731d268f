"""``parse``: a formula from one notation to another."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import typer

from proof_r1_formal.commands.common import (
    say,
    write,
)
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.show import Notation
from proof_r1_formal.logic.show import show as show_formula
from proof_r1_formal.logic.signature import Signature
from proof_r1_formal.render import smtlib


def parse(
    formula: Annotated[str, typer.Argument(help="A formula in any notation.", show_default=False)],
    to: Annotated[Literal[Notation, "smtlib", "json"], typer.Option("--to", help="Notation to write.")] = "unicode",
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired, and say what.")] = False,
) -> None:
    """Read a formula and write it in another notation."""
    repaired = parse_formula(formula, repair=True) if repair else None
    parsed = parse_formula(formula) if repaired is None else repaired.formula
    signature = Signature.infer([parsed])
    for change in () if repaired is None else repaired.repairs:
        say(f"repaired: {change}")
    match to:
        case "smtlib":
            write(smtlib.term(parsed))
        case "json":
            record = {
                "formula": show_formula(parsed),
                "prefix": show_formula(parsed, "prefix"),
                "sorts": signature.sorts,
                "predicates": signature.predicates,
                "functions": signature.functions,
                "repairs": () if repaired is None else repaired.repairs,
            }
            write(msgspec.json.encode(record).decode())
        case _:
            write(show_formula(parsed, to))
