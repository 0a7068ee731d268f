"""``rules`` and ``doctor``: list rules; list solvers, proof assistants, libraries of training and accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, get_args

import typer

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.commands.common import OUT, RulesOption, RuleSystem, check_outputs, fail, log, write
from proof_r1_formal.commands.machine import accelerators, libraries
from proof_r1_formal.commands.tables import JsonOption, print_tables
from proof_r1_formal.engine import Available, available_solvers, program_version
from proof_r1_formal.errors import SolverError
from proof_r1_formal.evaluation.tables import Column, Style, Table, to_json
from proof_r1_formal.kernel.compiling import is_compiled
from proof_r1_formal.outputs import write_output
from proof_r1_formal.rules import display
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.rules.restating import restating_schemata
from proof_r1_formal.version import __version__

ABSENT: Final = "not found"
"""What the table says of what is not installed."""


def rules(
    rule: Annotated[str | None, typer.Argument(help="Name of a rule.", show_default=False)] = None,
    rules: RulesOption = "train",
    json: JsonOption = None,
) -> None:
    """List the rules, or show one with its schemata and an example."""
    check_outputs(json, inputs=())
    known = catalogue(rules)
    if rule is None:
        rows = [(each.name, each.meaning) for each in known.rules]
        print_tables([_texts(f"Rule catalogue {known.name}", rows, "rule", "meaning")], json=json)
        for warning in restating_schemata(known):
            log(warning)
        return
    found = known.find(rule, aliases=True)
    if found is None:
        where = next((name for name in get_args(RuleSystem) if catalogue(name).find(rule, aliases=True)), None)
        if where is not None:
            fail(f"the rule {rule!r} is in the catalogue {where}: add --rules {where}")
        fail(f"Unknown rule {rule!r}. Available in {rules}: {', '.join(each.name for each in known.rules)}")
    OUT.print(display.rule(found))
    if json is not None:
        rows = [(each.name, display.statement(each)) for each in found.schemata]
        write_output(json, to_json([_texts(found.name, rows, "schema", "statement")]))


def doctor(json: JsonOption = None) -> None:
    """List solvers, proof assistants, libraries and accelerators, and what is missing.

    The title says whether the core is compiled. Versions of libraries that the tests did not run are named.
    """
    check_outputs(json, inputs=())
    core = "compiled" if is_compiled() else "interpreted"
    rows: list[tuple[str, str, str]] = []
    advice: list[str] = []
    try:
        lean = LeanKernel.find()
        version = None if lean is None else f"{lean.version}, {lean.place}"
        advice += [] if lean is None else [f"not used: {fault}" for fault in lean.passed_over]
    except SolverError as error:
        version = f"cannot be used: {error.problem}"
    kernels = [
        Available("lean", version, HINT),
        Available("isabelle", program_version("isabelle"), "https://isabelle.in.tum.de"),
    ]
    for kind, programs in (("solver", available_solvers()), ("kernel", kernels)):
        for found in programs:
            rows.append((kind, found.name, found.version or ABSENT))
            advice += [] if found.version else [f"to install {kind} {found.name}: {found.hint}"]
    for part in (*libraries(), *accelerators()):
        rows.append((part.kind, part.name, part.version or ABSENT))
        advice += [part.advice] if part.advice else []
    title = f"proof-r1-formal {__version__}, core {core}"
    tables = [_texts(title, rows, "kind", "name", "version")]
    print_tables(tables, json=json)
    for line in advice:
        write(line)


def _texts(title: str, rows: Sequence[tuple[str, ...]], *names: str) -> Table:
    return Table(title, tuple([Column(name, Style.TEXT, whole=True) for name in names]), tuple(rows))
