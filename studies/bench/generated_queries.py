"""Asks the embedded engine and Z3 the same generated queries: ``make compare``.

Writes what was tried and found as JSON. Exit status 1 if the two ever disagree, or if evidence does not hold; the query
is printed then.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.solver import Limits, checked_signature
from proof_r1_formal.engine.z3 import Z3Solver
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown, confirm
from proof_r1_formal.testing.generate import Generator
from proof_r1_formal.text.show import show
from studies.bench.verification import machine


def kind(answer: Answer) -> str:
    """One word for an answer."""
    match answer:
        case Entailed():
            return "entailed"
        case Refuted():
            return "refuted"
        case Unknown(reason, _):
            return "broken" if reason is Reason.BROKEN else "unknown"


def compare(examples: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Counts of pairs of answers over distinct queries, and the queries on which something is wrong."""
    limits = Limits(steps=400_000)  # of Z3; hard queries outside the class cost seconds each with the default
    engine, z3 = EmbeddedSolver(limits), Z3Solver(limits)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    seen: set[Query] = set()
    generator = Generator(random.Random(seed))
    while len(seen) < examples:
        query = generator.query()
        if query in seen:
            continue
        seen.add(query)
        if isinstance(checked_signature(query), Unknown):
            counts["a symbol has two sorts"] += 1
            continue
        confirmation = confirm(query, engine.decide(query))
        ours, theirs = kind(confirmation.answer), kind(z3.decide(query))
        counts[f"embedded {ours}, z3 {theirs}"] += 1
        counts["determinate"] += ours in ("entailed", "refuted")
        counts["with checked evidence"] += confirmation.checked
        if ours == "broken" or {ours, theirs} == {"entailed", "refuted"}:
            wrong.append(f"{[show(d) for d in query.dependencies]} ⊢ {show(query.conclusion)}: {ours}, z3 {theirs}")
        if len(seen) % 1000 == 0:
            sys.stderr.write(f"{len(seen)} distinct queries, {len(wrong)} wrong\n")
    return counts, wrong


def main() -> None:
    """Compare and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/generated-queries.json"))
    options = parser.parse_args()
    counts, wrong = compare(options.examples, options.seed)
    result = {"machine": machine(), "seed": options.seed, "counts": dict(sorted(counts.items())), "wrong": wrong}
    options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
