"""Formulas of language models for FOLIO: which right answers rest on formulas that do not support them.

In: the folder of the benchmark data, with FOLIO's validation set (version 0) and public formalisations. Out: the table
of ``docs/outputs.md``. An output is premises and a conclusion as formulas. The engine's answer to them is compared
with the label of FOLIO. Where it is right, the argument is compared with the formulas of FOLIO's annotators.

    python -m studies.outputs DATA
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from proof_r1_formal import Problem, get_solver, parse_formula
from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, GOAL_UNCERTAIN, Premise, three_way_options
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.kernel.answer import Entailed, Refuted
from proof_r1_formal.kernel.signature import SignatureBuilder
from proof_r1_formal.kernel.syntax import Atom, Formula, Not
from proof_r1_formal.kernel.transform import subformulas
from proof_r1_formal.proof.labels import CONTRADICTORY, UNDECIDED, answer_by

PAGE = Path(__file__).resolve().parents[1] / "docs" / "outputs.md"
FOLIO: Final = "folio/folio_v0_validation.jsonl"
LABELS: Final = {"A": GOAL_TRUE, "B": GOAL_FALSE, "C": GOAL_UNCERTAIN}
"""The letters of Logic-LM's records."""
NAMES: Final = {"True": GOAL_TRUE, "False": GOAL_FALSE, "Uncertain": GOAL_UNCERTAIN, "Unknown": GOAL_UNCERTAIN}
"""FOLIO's labels."""


class Outcome(StrEnum):
    """The fate of an output."""

    UNREAD = "cannot be read"
    CONTRADICTORY = "premises contradict each other"
    UNDECIDED = "undecided"
    WRONG = "wrong answer"
    SUPPORTED = "right, and the same premises suffice in FOLIO's formulas"
    OTHER = "right, from premises that do not suffice in FOLIO's formulas"
    UNCOMPARED = "right, not compared"
    OPEN = "right: Uncertain"
    UNCONNECTED = "right: Uncertain, about a predicate that FOLIO's premises have and the model's lack"


@dataclass(frozen=True, slots=True)
class Output:
    """The text that a model wrote.

    Attributes:
        premises: formulas as text.
        conclusion: a formula as text; empty if the output lacks the conclusion of its problem.
        statement: the conclusion in English, as in FOLIO.
        label: id of the right option.
    """

    premises: tuple[str, ...]
    conclusion: str
    statement: str
    label: str


Gold = Mapping[str, Mapping[str, Any]]
"""The records of FOLIO by their conclusion in English, letters and digits only."""


def gold(data: Path) -> Gold:
    """The records of FOLIO's validation set."""
    lines = (data / FOLIO).read_text(encoding="utf-8").splitlines()
    return {_key(record["conclusion"]): record for record in map(json.loads, lines)}


def _key(statement: str) -> str:
    return re.sub(r"\W+", "", statement).lower()


# -- outputs ----------------------------------------------------------------------------------------------------------


def logic_lm(path: Path) -> Iterator[Output]:
    """The outputs of a file in Logic-LM's form: a program with premises and a conclusion for each problem."""
    for record in json.loads(path.read_text(encoding="utf-8")):
        _, _, rest = record["raw_logic_programs"][0].partition("Premises:")
        premises, _, conclusion = rest.partition("Conclusion:")
        statement = record["question"].partition("uncertain?")[2]
        yield Output(tuple(_formulas(premises)), next(_formulas(conclusion), ""), statement, LABELS[record["answer"]])


def _formulas(text: str) -> Iterator[str]:
    return (line.partition(":::")[0].strip() for line in text.splitlines() if line.strip())


def linc(path: Path, known: Gold) -> Iterator[Output]:
    """The outputs of a file of LINC: several for each problem, each with pairs of sentences and formulas."""
    for samples in json.loads(path.read_text(encoding="utf-8")):
        parts = [re.findall(r"TEXT:\s*(.*)\nFOL:\s*(.*)", text) for text in samples]
        record = next(known[_key(pairs[-1][0])] for pairs in parts if pairs and _key(pairs[-1][0]) in known)
        for pairs in parts:
            *premises, (statement, conclusion) = pairs or [("", "")]
            whole = _key(statement) == _key(record["conclusion"])  # else the sample stops before the conclusion
            formulas = tuple([formula for _, formula in premises])
            yield Output(formulas, conclusion if whole else "", record["conclusion"], NAMES[record["label"]])


# -- outcomes ---------------------------------------------------------------------------------------------------------


class Reader:
    """Reads and decides outputs with the embedded engine; its proofs and countermodels are checked."""

    def __init__(self, known: Gold) -> None:
        self._known = known
        self._solver = get_solver("embedded")
        self._oracle = Oracle(Answers(self._solver, tables=True, evidence="checked"))

    def outcome(self, output: Output) -> Outcome:
        """The fate of an output."""
        try:
            premises, goal = _read(output.premises, output.conclusion)
        except ProofR1Error:
            return Outcome.UNREAD
        if not premises or any(formula.free for formula in (*premises, goal)):
            return Outcome.UNREAD
        problem = Problem("", tuple([Premise(f"h{n}", f) for n, f in enumerate(premises)]), three_way_options(goal))
        answer = answer_by(self._solver, problem)
        if answer in (CONTRADICTORY, UNDECIDED):
            return Outcome.CONTRADICTORY if answer == CONTRADICTORY else Outcome.UNDECIDED
        if answer != output.label:
            return Outcome.WRONG
        theirs = self._theirs(output)
        if answer == GOAL_UNCERTAIN:
            unlike = theirs is not None and _connected(*theirs) and not _connected(premises, goal)
            return Outcome.UNCONNECTED if unlike else Outcome.OPEN
        claim = Not(goal) if answer == GOAL_FALSE else goal
        used = self._oracle.decide(premises, claim).used
        if theirs is None or used is None or len(theirs[0]) != len(premises):
            return Outcome.UNCOMPARED
        their_premises, their_goal = theirs
        their_claim = Not(their_goal) if answer == GOAL_FALSE else their_goal
        if not isinstance(self._oracle.entails(their_premises, their_claim), Entailed):
            return Outcome.UNCOMPARED
        match self._oracle.entails(tuple([their_premises[place] for place in sorted(used)]), their_claim):
            case Entailed():
                return Outcome.SUPPORTED
            case Refuted():
                return Outcome.OTHER
        return Outcome.UNCOMPARED

    def _theirs(self, output: Output) -> tuple[tuple[Formula, ...], Formula] | None:
        """The formulas of FOLIO's annotators for the problem; None if they cannot be read."""
        record = self._known.get(_key(output.statement))
        try:
            return None if record is None else _read(record["premises-FOL"], record["conclusion-FOL"])
        except ProofR1Error:
            return None


def _read(premises: Sequence[str], conclusion: str) -> tuple[tuple[Formula, ...], Formula]:
    """The formulas, repaired where there is one way.

    Raises:
        ProofR1Error: one cannot be read, or a symbol is used in two ways.
    """
    formulas = tuple([parse_formula(text, repair=True).formula for text in (*premises, conclusion)])
    SignatureBuilder(formulas)
    return formulas[:-1], formulas[-1]


def _connected(premises: Sequence[Formula], goal: Formula) -> bool:
    """Whether each predicate of the goal occurs in a premise."""
    return _predicates(goal) <= set().union(*map(_predicates, premises))


def _predicates(formula: Formula) -> set[str]:
    return {part.predicate for part in subformulas(formula) if isinstance(part, Atom)}


# -- the page ---------------------------------------------------------------------------------------------------------

SETS: Final = {
    "GPT-4 (Logic-LM)": "llm_outputs/logiclm_FOLIO_dev_gpt-4.json",
    "GPT-4, 10 samples (LINC)": "llm_outputs/linc_gpt-4-0613_folio-neurosymbolic-8shot_generations_raw.json",
    "Llama-3-8B (Logic-LM)": "llm_outputs/nsombekke_FOLIO_dev_Meta-Llama-3-8B.json",
}
"""Name of a set of outputs -> its file."""


def counts(data: Path, name: str) -> Counter[Outcome]:
    """How many outputs of a set have each outcome."""
    known = gold(data)
    reader = Reader(known)
    path = data / SETS[name]
    outputs = linc(path, known) if path.name.startswith("linc") else logic_lm(path)
    return Counter(map(reader.outcome, outputs))


def table(found: Mapping[str, Counter[Outcome]]) -> str:
    """The counts in Markdown: a row for each outcome, a column for each set."""
    rows = [("outcome", *found), ("---", *["---:"] * len(found))]
    rows += [(outcome.value, *[f"{found[name][outcome]:,}" for name in found]) for outcome in Outcome]
    rows.append(("**outputs**", *[f"{found[name].total():,}" for name in found]))
    return "\n".join([f"| {' | '.join(row)} |" for row in rows])


START, END = "<!-- table -->", "<!-- end of the table -->"


def main() -> None:
    """Write the table into the page."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m studies.outputs DATA")
    data = Path(sys.argv[1])
    made = table({name: counts(data, name) for name in SETS})
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(f"{before}{START}\n\n{made}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
