"""``parse``: convert a formula, or sentences of templated English, to another notation."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
import typer

from proof_r1_formal.commands.common import NotationOption, fail, log, write
from proof_r1_formal.data.english import parse_english, sentences
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.render import smtlib
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.repair import Repaired
from proof_r1_formal.text.show import OutputNotation
from proof_r1_formal.text.show import show as show_formula

_Output: TypeAlias = Literal[OutputNotation, "smtlib", "json"]


def parse(
    formula: Annotated[str, typer.Argument(help="A formula in any notation.", show_default=False)],
    to: Annotated[_Output, typer.Option("--to", help="Notation to write.")] = "unicode",
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair the formula if possible, and list the repairs.")
    ] = False,
    notation: NotationOption = "auto",
    english: Annotated[bool, typer.Option("--english", help="Read sentences of templated English.")] = False,
) -> None:
    """Print a formula or English sentences in another notation."""
    if english and repair:
        fail("--english and --repair exclude each other: sentences cannot be repaired")
    if english and notation != "auto":
        fail("--english and --notation exclude each other: sentences have no notation of formulas")
    if english:  # an empty text is one sentence, which is rejected
        read = [Repaired(parse_english(sentence), ()) for sentence in sentences(formula) or ("",)]
    elif repair:
        read = [parse_formula(formula, repair=True, notation=notation)]
    else:
        read = [Repaired(parse_formula(formula, notation=notation), ())]
    for repaired in read:
        _write(repaired, to)


def _write(read: Repaired, to: _Output) -> None:
    signature = Signature.infer([read.formula])
    for change in read.repairs:
        log(f"repaired: {change}")
    match to:
        case "smtlib":
            write(smtlib.term(read.formula))
        case "json":
            record = {
                "formula": show_formula(read.formula),
                "prefix": show_formula(read.formula, "prefix"),
                "sorts": signature.sorts,
                "predicates": signature.predicates,
                "functions": signature.functions,
                "repairs": read.repairs,
            }
            write(msgspec.json.encode(record).decode())
        case _:
            write(show_formula(read.formula, to))
