"""The page about public outputs of models: its numbers, and what becomes of small outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, GOAL_UNCERTAIN
from studies.outputs import PAGE, Outcome, Output, Reader, counts, linc

THEIRS = {
    "tomisapet": {"premises-FOL": ["∀x (Cat(x) → Pet(x))", "Cat(tom)", "Dog(rex)"], "conclusion-FOL": "Pet(tom)"},
    "rexisawolf": {"premises-FOL": ["Dog(rex)", "∃x Wolf(x)"], "conclusion-FOL": "Wolf(rex)"},
}
CAT, TOM, REX = "∀x (Cat(x) → Pet(x))", "Cat(tom)", "Dog(rex)"


@pytest.mark.parametrize(
    ("premises", "conclusion", "statement", "label", "outcome"),
    [
        ((CAT, TOM, REX), "Pet(tom)", "Tom is a pet.", GOAL_TRUE, Outcome.SUPPORTED),
        ((CAT, TOM, "Pet(tom)"), "Pet(tom)", "Tom is a pet.", GOAL_TRUE, Outcome.OTHER),
        ((CAT, TOM, REX), "Pet(tom)", "Nobody asked this.", GOAL_TRUE, Outcome.UNCOMPARED),
        ((CAT, TOM, "¬Pet(tom)"), "Pet(tom)", "Tom is a pet.", GOAL_TRUE, Outcome.CONTRADICTORY),
        ((CAT, TOM, REX), "¬Pet(tom)", "Tom is a pet.", GOAL_TRUE, Outcome.WRONG),
        ((CAT, TOM, REX), "¬Pet(tom)", "Tom is no pet.", GOAL_FALSE, Outcome.UNCOMPARED),
        ((CAT, "Cat(tom, rex)"), "Pet(tom)", "Tom is a pet.", GOAL_TRUE, Outcome.UNREAD),
        ((CAT, "Cat(tom"), "Pet(x ∧", "Tom is a pet.", GOAL_TRUE, Outcome.UNREAD),
        ((REX, "∃x Wolf(x)"), "Wolf(rex)", "Rex is a wolf.", GOAL_UNCERTAIN, Outcome.OPEN),
        ((REX, "∃x Wolves(x)"), "Wolf(rex)", "Rex is a wolf.", GOAL_UNCERTAIN, Outcome.UNCONNECTED),
    ],
)
def test_the_outcome_of_an_output(
    premises: tuple[str, ...], conclusion: str, statement: str, label: str, outcome: Outcome
) -> None:
    assert Reader(THEIRS).outcome(Output(premises, conclusion, statement, label)) is outcome


def test_a_sample_that_stops_before_the_conclusion_has_none(tmp_path: Path) -> None:
    whole = f"TEXT:\tTom is a cat.\nFOL:\t{TOM}\nTEXT:\tTom is a pet.\nFOL:\tPet(tom)\n"
    file = tmp_path / "linc.json"
    file.write_text(json.dumps([["", whole.partition("TEXT:\tTom is a pet")[0], whole]]))
    record = THEIRS["tomisapet"] | {"conclusion": "Tom is a pet.", "label": "True"}
    found = list(linc(file, {"tomisapet": record}))
    assert [one.conclusion for one in found] == ["", "", "Pet(tom)"]
    assert {(one.statement, one.label) for one in found} == {("Tom is a pet.", GOAL_TRUE)}
    reader = Reader({"tomisapet": record})
    assert [reader.outcome(one) for one in found] == [Outcome.UNREAD, Outcome.UNREAD, Outcome.WRONG]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["GPT-4 (Logic-LM)", "Llama-3-8B (Logic-LM)"])
def test_the_page_has_the_counts_of_the_data(name: str, shared_data: Path) -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    column = rows[0].index(name)
    said = {row[0]: int(row[column].replace(",", "")) for row in rows[2:]}
    found = counts(shared_data, name)
    assert said == {outcome.value: found[outcome] for outcome in Outcome} | {"**outputs**": found.total()}
