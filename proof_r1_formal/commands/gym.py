"""``gym``: the first-order tasks of reasoning-gym as problems, and how far its scorers agree (extra ``gym``)."""

from __future__ import annotations

import json as json_
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from proof_r1_formal.commands import common
from proof_r1_formal.commands.tables import JsonOption, print_tables
from proof_r1_formal.data.native import write_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.integrations.reasoning_gym_agreement import Judged, judge
from proof_r1_formal.integrations.reasoning_gym_tasks import TASKS
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import catalogue

_COUNTS = ("entries", "agree", "differ", "undecided", "left out", "with a proof")
_SHOWN = 3
BUDGET = 5_000
"""Default budget: more seldom finds a proof that the translation of the engine's does not."""


def gym(
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help=f"Tasks ({', '.join(TASKS)}); all by default.")
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of entries of each task.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Random seed of each dataset.")] = 0,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Setting of the datasets, such as n_people=3.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File of problems to write.", show_default=False)
    ] = None,
    with_proofs: Annotated[bool, typer.Option("--with-proofs", help="Search for a reference proof of each.")] = False,
    rules: common.RulesOption = "complete",
    budget: Annotated[
        int, typer.Option("--budget", min=1, help="Maximum number of search steps per problem and rule set.")
    ] = BUDGET,
    json: JsonOption = None,
) -> None:
    """Make problems of tasks of reasoning-gym, and compare its scorers with checked evidence.

    The answer of a problem is what evidence shows. Where the scorer says something else, a note has the reason.
    """
    if find_spec("reasoning_gym") is None:
        common.fail("the tasks require reasoning-gym: pip install 'proof-r1-formal[gym]'")
    wanted = list(dict.fromkeys(tasks or TASKS))
    if unknown := [name for name in wanted if name not in TASKS]:
        common.fail(f"{unknown[0]!r} is not a task that is read; those are {', '.join(TASKS)}")
    common.check_outputs(out, json, inputs=())
    settings = dict(map(_setting, sets or ()))
    prover = Prover(Verifier(rules=catalogue(rules)), budget=budget)
    rows: list[tuple[Cell, ...]] = []
    problems: list[Problem] = []
    unsure = 0
    for name in wanted:
        judged = list(common.with_progress(_judged(name, n, seed, settings, prover, with_proofs), name, n))
        found = [one.problem for one in judged if isinstance(one.problem, Problem) and one.problem.answer is not None]
        counts = Counter([one.agreement for one in judged])
        unsure += counts["undecided"]
        proofs = sum(1 for one in found if one.proofs) if with_proofs else None
        rows.append((name, n, counts["agree"], counts["differ"], counts["undecided"], n - len(found), proofs))
        for one in [one for one in found if one.notes][:_SHOWN]:
            common.log(f"{one.id}: {one.notes[0]}")
        problems += found
    columns = [Column(name, Style.COUNT) for name in _COUNTS]
    title = "Answers that evidence shows, beside the scorers of reasoning-gym"
    print_tables([Table(title, (Column("task", Style.TEXT), *columns), tuple(rows))], json=json)
    if out is not None:
        write_problems(out, problems)
        common.log(f"{common.count_of(len(problems), 'problem')} written to {out}")
    if unsure:
        raise typer.Exit(1)


def _setting(text: str) -> tuple[str, Any]:
    """A setting and its value: JSON if it is that, else a text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not of the form key=value", param_hint="--set")
    try:
        return name, json_.loads(value)
    except ValueError:
        return name, value


def _judged(
    name: str, n: int, seed: int, settings: dict[str, Any], prover: Prover, with_proofs: bool
) -> Iterator[Judged]:
    import reasoning_gym

    try:
        dataset = reasoning_gym.create_dataset(name, seed=seed, size=n, **settings)
    except (TypeError, AssertionError, ValueError) as error:
        common.fail(f"reasoning-gym refuses the settings of {name}: {error}")
    for number in range(n):
        yield judge(dataset[number], number, dataset.score_answer, prover, with_proof=with_proofs)
