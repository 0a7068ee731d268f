"""``rules`` and ``doctor``: list rules, solvers and proof assistants."""

from __future__ import annotations

from typing import Annotated, get_args

import typer
from rich.text import Text

from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.lean_program import HINT
from proof_r1_formal.commands.common import OUT, RulesOption, RuleSystem, fail, log, new_table, write
from proof_r1_formal.engine import Available, available_solvers, program_version
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.compiling import is_compiled
from proof_r1_formal.rules import display
from proof_r1_formal.rules.catalogue import catalogue
from proof_r1_formal.rules.restating import restating_schemata
from proof_r1_formal.version import __version__


def rules(
    rule: Annotated[str | None, typer.Argument(help="Name of a rule.", show_default=False)] = None,
    rules: RulesOption = "train",
) -> None:
    """List the rules, or show one with its schemata and an example."""
    known = catalogue(rules)
    if rule is None:
        OUT.print(display.rules(known))
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


def doctor() -> None:
    """List the solvers and proof assistants, and what is missing. The title says whether the core is compiled."""
    core = "compiled" if is_compiled() else "interpreted"
    table = new_table(f"proof-r1-formal {__version__}, core {core}", "kind", "name", "version")
    missing: list[str] = []
    try:
        lean = LeanKernel.find()
        version = None if lean is None else f"{lean.version}, {lean.place}"
        missing += [] if lean is None else [f"not used: {fault}" for fault in lean.passed_over]
    except SolverError as error:
        version = f"cannot be used: {error.problem}"
    kernels = [
        Available("lean", version, HINT),
        Available("isabelle", program_version("isabelle"), "https://isabelle.in.tum.de"),
    ]
    for kind, programs in (("solver", available_solvers()), ("kernel", kernels)):
        for found in programs:
            table.add_row(*map(Text, (kind, found.name, found.version or "not found")))
            missing += [] if found.version else [f"to install {kind} {found.name}: {found.hint}"]
    OUT.print(table)
    for line in missing:
        write(line)
