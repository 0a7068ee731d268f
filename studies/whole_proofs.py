"""Whole proofs by the complete catalogue: ``python -m studies.whole_proofs`` writes the record and the table.

In: problems whose premises entail an answer: textbook problems, puzzles, Pelletier's problems, and with ``--data
FOLDER`` those of FOLIO. Out: ``docs/experiments/whole-proofs.json``, which says of each problem how it was proved and
in how many steps, and the table of ``docs/whole-proofs.md`` made from it. Without ``--data``, what the record says of
FOLIO stays.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Final, TypeAlias

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Reason, Result, Uncertain
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.proof.step import VERIFIED
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import COMPLETE
from studies.pelletier import sequents
from studies.puzzles import entailed, knights, zebra

RECORD: Final = Path(__file__).parent.parent / "docs" / "experiments" / "whole-proofs.json"
PAGE: Final = Path(__file__).parent.parent / "docs" / "whole-proofs.md"
TEXTBOOK: Final = Path(__file__).with_name("textbook.toml")
FILES: Final = {
    "FOLIO v0 validation": "folio/folio_v0_validation.jsonl",
    "FOLIO v2 train, first 400": "folio/folio_v2_train_first400.jsonl",
}
SEARCH: Final = 20_000
"""Budget of the search, smaller than the default one: most proofs that it finds cost far less."""
PELLETIER: Final = "Pelletier's problems 1 to 33, without 25"
LATER: Final = "Pelletier's problems 34 to 75"
LAST: Final = 33
"""The number of the last of Pelletier's problems that take seconds; some of the later ones take minutes."""
HEAD: Final = (
    "| problems | entailed | proved | by search | translated | all steps with signal 1 | median steps | longest |\n"
    "|---|---|---|---|---|---|---|---|\n"
)

Row: TypeAlias = list[object]
"""How a problem was proved (``search``, ``translation``), its steps, and those with signal 1; or ``open``."""


def own_sets() -> dict[str, list[Problem]]:
    """The problems of the package itself, by the name of their set."""
    rows = tomllib.loads(TEXTBOOK.read_text(encoding="utf-8"))["problem"]
    return {
        "textbook problems": [entailed(row["name"], row.get("premises", ()), row["conclusion"]) for row in rows],
        "knights and knaves, 3 to 6 persons": [knights(size, seed) for size in range(3, 7) for seed in range(5)],
        "zebras, 3 houses": [zebra(3, seed) for seed in range(5)],
        "zebras, 4 houses": [zebra(4, seed) for seed in range(5)],
    }


def pelletier(*, later: bool = False) -> list[Problem]:
    """The first of Pelletier's problems, or the later ones."""
    wanted = [each for each in sequents() if (each.number > LAST) is later]
    return [entailed(f"pelletier/{each.number}", each.premises, each.conclusion) for each in wanted]


def outcome(prover: Prover, verifier: Verifier, problem: Problem) -> Row | None:
    """The row of a problem; None if the engine proves no answer, or its premises contradict each other."""
    result = prover.prove(problem)
    match result:
        case Proved(_, steps, report):
            full = sum([action.signal == VERIFIED for action in report.actions[:-1]])
            return [_way(result), len(steps) - 1, full]
        case Uncertain():
            return None
        case GaveUp(reason):
            premises = tuple([premise.formula for premise in problem.premises])
            if reason is Reason.INCONSISTENT or isinstance(verifier.oracle.inconsistent(premises), Entailed):
                return None
            answers = [verifier.oracle.entails(premises, option.formula) for option in problem.options]
            return ["open"] if any(isinstance(answer, Entailed) for answer in answers) else None


def _way(result: Result) -> str:
    assert isinstance(result, Proved)
    return "translation" if result.translated else "search"


def rows(problems: Sequence[Problem]) -> Iterator[tuple[str, Row]]:
    """The rows of problems that an answer of is entailed, by id."""
    verifier = Verifier(rules=COMPLETE)
    prover = Prover(verifier, budget=SEARCH)
    for problem in problems:
        row = outcome(prover, verifier, problem)
        if row is not None:
            yield problem.id, row


def table(record: Mapping[str, Mapping[str, Row]]) -> str:
    """The table of a record."""
    lines = []
    for name, found in record.items():
        proved = [row for row in found.values() if row[0] != "open"]
        lengths = [int(str(row[1])) for row in proved]
        cells = [
            name,
            len(found),
            len(proved),
            sum(row[0] == "search" for row in proved),
            sum(row[0] == "translation" for row in proved),
            sum(row[1] == row[2] for row in proved),
            f"{median(lengths):g}" if lengths else "–",
            max(lengths, default="–"),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return HEAD + "\n".join(lines) + "\n"


def written(record: Mapping[str, Mapping[str, Row]]) -> str:
    """The record as the text of its file, a problem a line."""
    parts = []
    for name, found in record.items():
        lines = ",\n".join(f"  {json.dumps(key, ensure_ascii=False)}: {json.dumps(row)}" for key, row in found.items())
        parts.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    """Write the record and the table."""
    parser = argparse.ArgumentParser(prog="python -m studies.whole_proofs")
    parser.add_argument("--data", type=Path, help="folder of the benchmark data; without it, FOLIO's rows stay")
    options = parser.parse_args()
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    record: dict[str, dict[str, Row]] = {}
    for name, file in FILES.items():
        if options.data is None:
            record[name] = known[name]
        else:
            record[name] = dict(rows(list(read_problems(options.data / file).values())))
            sys.stdout.write(f"{name}: {len(record[name])}\n")
    for name, problems in (own_sets() | {PELLETIER: pelletier(), LATER: pelletier(later=True)}).items():
        record[name] = dict(rows(problems))
        sys.stdout.write(f"{name}: {len(record[name])}\n")
    RECORD.write_text(written(record), encoding="utf-8")
    text, _, rest = PAGE.read_text(encoding="utf-8").partition(HEAD)
    _, _, after = rest.partition("\n\n")
    PAGE.write_text(f"{text}{table(record)}\n{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
