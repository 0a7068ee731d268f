"""The embedded engine, Z3 and cvc5 on every query of the benchmark data, and the labels of the datasets.

The test compares with the tables of ``docs/agreement.md``; run as a program, this file writes them:
``python tests/studies/test_agreement.py FOLDER_OF_DATA > docs/agreement.md`` (``make tables``).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from proof_r1_formal.data import read_problems
from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.solver import Solver
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted, confirm
from proof_r1_formal.proof.labels import CONTRADICTORY, UNDECIDED, answer_by
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import FOLIO

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "agreement.md"

FILES = {
    "ProverQA easy": "proverqa/easy.json",
    "ProverQA medium": "proverqa/medium.json",
    "ProverQA hard": "proverqa/hard.json",
    "FOLIO v0 validation": "folio/folio_v0_validation.jsonl",
    "FOLIO v2 train (first 400)": "folio/folio_v2_train_first400.jsonl",
}
QUICK = ("ProverQA hard", "FOLIO v0 validation")
"""The files that ``make test`` compares."""
TRACES = "proof steps of the reference traces"


class Recorder:
    """A solver that remembers what it was asked."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self.name = solver.name
        self.queries: dict[Query, Answer] = {}

    def decide(self, query: Query) -> Answer:
        if query not in self.queries:
            self.queries[query] = self._solver.decide(query)
        return self.queries[query]


def _kind(answer: Answer) -> str:
    match answer:
        case Entailed():
            return "entailed"
        case Refuted():
            return "refuted"
        case _:
            return "unknown"


def tables(folder: Path, *, whole: bool = True) -> Iterator[str]:
    """The lines of the tables; the row of the reference traces takes most of the time."""
    labels: list[str] = []
    counts: list[str] = []
    for title in FILES if whole else QUICK:
        problems = read_problems(folder / FILES[title]).values()
        z3 = Recorder(get_solver("z3"))
        verdicts = [(problem.answer, answer_by(z3, problem)) for problem in problems]
        agree = sum(answer == verdict for answer, verdict in verdicts)
        others = Counter(verdict for _, verdict in verdicts)
        labels.append(
            f"| {title} | {len(verdicts)} | {agree} | {100 * agree / len(verdicts):.1f} % |"
            f" {others[CONTRADICTORY]} | {others[UNDECIDED]} |"
        )
        counts.append(_compared(title, z3))
    if whole:
        counts.append(_compared(TRACES, _trace_queries(folder)))
    yield "| data | queries | entailed | refuted | with checked evidence | embedded, Z3, cvc5 unknown | disagree |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    yield from counts
    yield ""
    yield "| data | usable problems | label agrees with Z3 | share | premises contradictory | undecided |"
    yield "|---|---:|---:|---:|---:|---:|"
    yield from labels


def _compared(title: str, z3: Recorder) -> str:
    """A row: the answers of the three solvers, the embedded engine's with their evidence, from memory and anew."""
    embedded, cvc5 = EmbeddedSolver(), get_solver("cvc5")
    kinds: Counter[tuple[str, str, str]] = Counter()
    checked = 0
    for query, answer in z3.queries.items():
        confirmation = confirm(query, embedded.decide(query))
        checked += confirmation.checked
        kinds[_kind(confirmation.answer), _kind(answer), _kind(cvc5.decide(query))] += 1
    disagree = sum(count for kind, count in kinds.items() if {"entailed", "refuted"} <= set(kind))
    unknown = [sum(count for kind, count in kinds.items() if kind[side] == "unknown") for side in range(3)]
    entailed, refuted = (
        sum(count for kind, count in kinds.items() if name in kind) for name in ("entailed", "refuted")
    )
    return (
        f"| {title} | {kinds.total()} | {entailed} | {refuted} | {checked} |"
        f" {', '.join(map(str, unknown))} | {disagree} |"
    )


def _trace_queries(folder: Path) -> Recorder:
    """Every distinct query, auxiliary ones included, that verifying the reference traces asks."""
    problems = read_problems(folder / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    recorder = Recorder(get_solver("z3"))
    verifier = Verifier(recorder, rules=FOLIO, evidence="none")
    for line in (folder / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        verifier.verify(problems[f"{record['difficulty']}/{record['problem_id']}"], record["response"])
    return recorder


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_documented_tables_are_what_the_solvers_say(shared_data: Path, whole: bool) -> None:
    found = list(tables(shared_data, whole=whole))
    documented = DOCUMENT.read_text(encoding="utf-8").splitlines()
    rows = [line for line in found if line.startswith("| ") and not line.startswith("| data")]
    assert all(row.endswith("| 0 |") for row in rows[: len(FILES) + 1 if whole else len(QUICK)]), (
        rows
    )  # no disagreement
    assert [line for line in rows if line not in documented] == []


if __name__ == "__main__":
    HEAD = """# Agreement of the solvers, and of the labels

This page compares the solvers with each other and with the labels of the data. `make tables DATA=FOLDER` writes it from
the benchmark data. If the data are present, `make test` checks two rows of each table, and `make test-long` all rows.

Queries are distinct. For each problem they ask whether the premises entail the goal, its negation, and ⊥. For the 1,350
reference traces they are all questions of the verification, including the rule checks. Unusable records are left out (5
of FOLIO v0, 34 of FOLIO v2). The solvers are the embedded engine, Z3 5.4.0, and cvc5 1.4.2 with finite model finding,
each with its default step budget. Checked evidence is a proof term that the checker accepts, or a countermodel that the
reference evaluator confirms, in the names of the query.
"""
    FOOT = """
If a label disagrees, the formulas in the file contradict it, because of misspelt or inconsistent predicate names in
ProverQA and annotation errors in FOLIO. Contradictory premises entail everything, so no label could be right.
"""
    sys.stdout.write("\n".join([HEAD, *tables(Path(sys.argv[1]))]) + "\n" + FOOT)
