"""Measures evaluation: ``python -m studies.bench.evaluation FOLDER_OF_DATA`` writes what it took as JSON.

6,129 different completions, the size of the method's audit: reference traces of the benchmark data and variants of
them, dealt to three systems as a study. Measured are verification alone, all that is examined beside it, and tables in
all formats, in CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.evaluation.assessment import assess, examine_many
from proof_r1_formal.evaluation.definition import Key
from proof_r1_formal.evaluation.study_tables import study_tables
from proof_r1_formal.evaluation.tables import Table, to_csv, to_json, to_latex, to_markdown
from proof_r1_formal.evaluation.terminal import to_rich
from proof_r1_formal.proof.batch import verify_many
from studies.bench.cold import forget
from studies.bench.traces import reference_traces, rollouts
from studies.bench.verification import machine

COMPLETIONS, SYSTEMS = 6129, 3
RESAMPLES = 1000

_Result = TypeVar("_Result")


def measured(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """The result of the work, and its CPU seconds, the median of three times; each starts cold."""
    seconds = []
    for _ in range(3):
        forget()
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
    return result, statistics.median(seconds)


def rendered(tables: tuple[Table, ...]) -> int:
    """The tables in every format; how many characters that is."""
    texts = [to_csv(table) + to_markdown(table) + to_latex(table) for table in tables]
    return len(to_json(tables)) + sum(map(len, texts)) + sum(to_rich(table).row_count for table in tables)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of benchmark data")
    traces = reference_traces(parser.parse_args().data)
    problems = {sample.problem.id: sample.problem for sample in traces}
    texts = rollouts(traces, 0, each=14)[:COMPLETIONS]
    dealt: list[list[Completion]] = [[] for _ in range(SYSTEMS)]
    seen: Counter[tuple[int, str]] = Counter()
    for number, one in enumerate(texts):
        system = number % SYSTEMS
        sample = seen[system, one.problem.id]
        dealt[system].append(Completion(problem_id=one.problem.id, sample=sample, completion=one.completion))
        seen[system, one.problem.id] += 1

    def assessed(resamples: int) -> tuple[Table, ...]:
        results = {
            Key("ProverQA", "none", f"system {n}"): assess(problems, examine_many(problems, some), resamples=resamples)
            for n, some in enumerate(dealt)
        }
        return study_tables(results)

    _, verifying = measured(lambda: [sum(1 for _ in verify_many(problems, some)) for some in dealt])
    tables, whole = measured(lambda: assessed(0))
    _, resampled = measured(lambda: assessed(RESAMPLES))
    _, rendering = measured(lambda: rendered(tables))
    found = {
        "machine": machine(),
        "completions": sum(map(len, dealt)),
        "tables": len(tables),
        "CPU seconds": {
            "verification alone": round(verifying, 1),
            "all that the tables say": round(whole, 1),
            f"the same with {RESAMPLES} bootstrap resamples": round(resampled, 1),
            "tables in all formats": round(rendering, 2),
        },
    }
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
