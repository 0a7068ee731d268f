"""How many entailed answers ``prove`` proves, and what it costs: ``python -m studies.bench.proving FOLDER_OF_DATA``.

Prints the table of ``docs/generation.md``. An answer counts as *disjunctive* if it is a disjunction once negations are
moved inward: no rule introduces one. Times are CPU seconds of one process.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.generate.synthesize import BUDGET, GaveUp, Proved, Prover, Reason, Uncertain
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.kernel.syntax import And, Formula, Implies, Not, Or
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import catalogue

SETS = (
    ("450 with reference proofs", "llm_outputs/docailab_proverqa_golden_450.jsonl", "train"),
    ("ProverQA easy", "proverqa/easy.json", "train"),
    ("ProverQA medium", "proverqa/medium.json", "train"),
    ("ProverQA hard", "proverqa/hard.json", "train"),
    ("FOLIO v0 validation", "folio/folio_v0_validation.jsonl", "folio"),
    ("FOLIO v2 train", "folio/folio_v2_train_first400.jsonl", "folio"),
)
HEAD = """| problems | answer entailed | proved | disjunctive | no way | budget | median CPU | 95 % below | slowest |
|:--|--:|--:|--:|--:|--:|--:|--:|--:|"""


def is_disjunctive(formula: Formula, sign: bool = True) -> bool:
    """Whether the formula, or its negation, is a disjunction once negations are moved inward."""
    match formula:
        case Not(body):
            return is_disjunctive(body, not sign)
        case Or() | Implies():
            return sign
        case And():
            return not sign
        case _:
            return False


def entailed_answers(problem: Problem, verifier: Verifier) -> list[Formula]:
    """The formulas of the options that follow from the premises."""
    premises = tuple([premise.formula for premise in problem.premises])
    claims = [option.formula for option in problem.options if option.label != "Uncertain"]
    return [claim for claim in claims if isinstance(verifier.oracle.entails(premises, claim), Entailed)]


def row(name: str, path: Path, rules: str, budget: int) -> str:
    """The row of a file of problems."""
    verifier = Verifier(rules=catalogue(rules))
    prover = Prover(verifier, budget=budget)
    counts: Counter[str] = Counter()
    seconds: list[float] = []
    for problem in read_problems(path).values():
        start = time.process_time()
        result = prover.prove(problem)
        seconds.append(time.process_time() - start)
        match result:
            case Proved():
                counts["proved"] += 1
            case GaveUp(Reason.NO_PROOF) if all(map(is_disjunctive, entailed_answers(problem, verifier))):
                counts["disjunctive"] += 1
            case GaveUp(reason):
                counts[reason.name] += 1
            case Uncertain():
                counts["uncertain"] += 1
    entailed = sum([counts[kind] for kind in ("proved", "disjunctive", "NO_PROOF", "BUDGET")])
    others = sum(counts.values()) - entailed - counts["uncertain"]
    assert not others, f"{name}: {counts}"
    seconds.sort()
    cells = [
        f"{name}, {len(seconds)}{' (`--rules folio`)' if rules == 'folio' else ''}",
        *map(str, (entailed, counts["proved"], counts["disjunctive"], counts["NO_PROOF"], counts["BUDGET"])),
        f"{1000 * median(seconds):.0f} ms",
        f"{seconds[int(0.95 * (len(seconds) - 1))]:.2f} s",
        f"{seconds[-1]:.1f} s",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m studies.bench.proving")
    parser.add_argument("folder", type=Path, help="the benchmark data")
    parser.add_argument("--budget", type=int, default=BUDGET, help="maximum number of search steps per problem")
    options = parser.parse_args()
    sys.stdout.write(f"{HEAD}\n")
    for name, file, rules in SETS:
        sys.stdout.write(f"{row(name, options.folder / file, rules, options.budget)}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
