"""Measures verification, and writes ``docs/performance.json``: ``python -m studies.bench.verification FOLDER_OF_DATA``.

All contestants of a comparison run in one call, each in a process of its own with empty caches, and take turns block by
block. Times are CPU seconds; a ratio is that of the medians over the rounds.

One module, because all measurements are made in one run.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from proof_r1_formal.engine import get_solver
from proof_r1_formal.engine.cvc5 import Cvc5Solver
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.oracle import Answers, Oracle
from proof_r1_formal.engine.solver import Solver
from proof_r1_formal.executors import ALLOCATIONS_PER_COLLECTION
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted, confirm
from proof_r1_formal.kernel.syntax import Formula, Iff, Not
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.proof.step import RuleChecker
from proof_r1_formal.proof.verify import Verifier
from studies.bench.baselines import FreshZ3, Remembering, SharedZ3, SimpleZ3
from studies.bench.cold import forget
from studies.bench.kernel import certificates, kernel_evidence
from studies.bench.traces import Sample, fourth_of_problems, golden_proofs, reference_traces, rollouts

Json = dict[str, Any]


class Decides(Protocol):
    """A solver of queries."""

    def decide(self, query: Query) -> Answer: ...


class EveryQuestion(Oracle):
    """An oracle without memory, tables, fingerprints or budget: every question goes to the solver."""

    def __init__(self, solver: Solver) -> None:
        super().__init__(Answers(solver, memory=0))

    def with_budget(self, budget: int, whose: str) -> Oracle:  # noqa: ARG002
        """This oracle, which nobody pays and which does not remember what a trace asked."""
        return self

    def equivalent(self, first: Formula, second: Formula) -> Answer:
        return Entailed() if first is second else self.entails((), Iff(first, second))

    def valid(self, formula: Formula) -> Answer:
        return self.entails((), formula)

    def constant(self, formula: Formula) -> Answer:
        valid = self.entails((), formula)
        return self.entails((), Not(formula)) if isinstance(valid, Refuted) else valid


class CountingZ3(FreshZ3):
    """Counts the questions it is asked."""

    questions = 0

    def decide(self, query: Query) -> Answer:
        """Whether the assertions are unsatisfiable."""
        self.questions += 1
        return super().decide(query)


class ForgetfulVerifier(Verifier):
    """A verifier that remembers no step; with an oracle of its own, one that asks for no evidence."""

    def __init__(self, solver: Solver, oracle: Oracle | None = None) -> None:
        super().__init__(solver, evidence="checked" if oracle is None else "none")
        self.oracle = oracle or Oracle(Answers(solver, tables=True, memory=0, evidence="checked"))
        self.rule_checker = RuleChecker(self.rules, self.oracle, memory=0)


Contestant: TypeAlias = Callable[[], Callable[[int], object]]
"""Makes what handles the item of a number; called once in the contestant's own process."""

TURNS = 3
"""How many turns each contestant has in a round. It begins each with cold caches of the processor, as no program that
verifies all the time does, so there are few; with ten, a trace of the compiled core took a tenth longer."""


def interleaved(contestants: dict[str, Contestant], count: int, rounds: int) -> dict[str, list[float]]:
    """CPU seconds per round of each contestant for the items 0 … count-1.

    Each contestant runs in a forked process of its own, whose caches start empty, so none profits from what another
    computed. The contestants take turns, block by block, so the load of the machine falls on all alike.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    context = multiprocessing.get_context("fork")
    for _ in range(rounds):
        gc.collect()
        with ExitStack() as stack:
            racing = {}
            for name, contestant in contestants.items():
                ours, theirs = context.Pipe()
                process = context.Process(target=_handle_blocks, args=(theirs, contestant))
                process.start()
                theirs.close()
                stack.callback(process.join)
                racing[name] = stack.enter_context(ours)
            spent = dict.fromkeys(contestants, 0.0)
            block = -(-count // TURNS)
            for first in range(0, count, block):
                for name, connection in racing.items():
                    connection.send(range(first, min(first + block, count)))
                    spent[name] += connection.recv()
            for name, connection in racing.items():
                connection.send(None)
                seconds[name].append(spent[name])
    return seconds


def _handle_blocks(connection: Connection[float, range | None], contestant: Contestant) -> None:
    """Handle blocks of items until there is none, and send the CPU seconds of each block."""
    forget()
    handle = contestant()
    while (block := connection.recv()) is not None:
        start = time.process_time()
        for item in block:
            handle(item)
        connection.send(time.process_time() - start)


def compared(seconds: dict[str, list[float]], count: int, baseline: str) -> list[Json]:
    """One row per contestant: median microseconds per item, and how many times as fast as the baseline."""
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return [
        {
            "who": name,
            "us_per_item": round(1e6 * value / count, 1),
            "times_baseline": round(medians[baseline] / value, 1),
        }
        for name, value in medians.items()
    ]


# -- what is measured -------------------------------------------------------------------------------------------------


def semantic_check(samples: list[Sample], rounds: int) -> Json:
    """The entailment question of every action, repeats included: to solvers, and to the engine with evidence."""
    verifier = Verifier()
    queries = [query for s in samples for query, _ in verifier.entailments(s.problem, s.completion)]

    def deciding(make: Callable[[], Decides]) -> Contestant:
        def contestant() -> Callable[[int], object]:
            solver = make()
            return lambda item: solver.decide(queries[item])

        return contestant

    def confirming(make: Callable[[], Decides]) -> Contestant:
        def contestant() -> Callable[[int], object]:
            solver = make()
            return lambda item: confirm(queries[item], solver.decide(queries[item]))

        return contestant

    contestants = {
        FreshZ3.name: deciding(FreshZ3),
        SimpleZ3.name: deciding(SimpleZ3),
        SharedZ3.name: deciding(SharedZ3),
        "cvc5, a fresh solver per query": deciding(lambda: Cvc5Solver(proofs=False)),
        "z3py, a fresh solver per query, exact cache": deciding(lambda: Remembering(FreshZ3().decide, "")),
        "embedded, no answers cached, evidence checked": confirming(EmbeddedSolver),
        "embedded, exact cache, evidence checked": confirming(lambda: Remembering(EmbeddedSolver().decide, "")),
    }
    seconds = interleaved(contestants, len(queries), rounds)
    return {"queries": len(queries), "rows": compared(seconds, len(queries), FreshZ3.name)}


def four_way_check(samples: list[Sample], rounds: int) -> Json:
    """Whole traces through all four checks, against verifiers that send questions to z3py.

    They send every question, or those that our comparisons of formulas (regrouping and fingerprints) leave open.
    """
    baseline = f"every question to {FreshZ3.name}"

    def verifying(make: Callable[[], Verifier]) -> Contestant:
        def contestant() -> Callable[[int], object]:
            verifier = make()
            return lambda item: verifier.verify(samples[item].problem, samples[item].completion)

        return contestant

    def every_question(make: Callable[[], Solver]) -> Contestant:
        def verifier() -> Verifier:
            solver = make()
            return ForgetfulVerifier(solver, EveryQuestion(solver))

        return verifying(verifier)

    def filtered(make: Callable[[], Solver]) -> Contestant:
        def verifier() -> Verifier:
            solver = make()
            return ForgetfulVerifier(solver, Oracle(Answers(solver, memory=0)))

        return verifying(verifier)

    contestants = {
        baseline: every_question(FreshZ3),
        f"{baseline}, exact cache": every_question(lambda: Remembering(FreshZ3().decide, "z3")),
        f"every question to {SimpleZ3.name}": every_question(SimpleZ3),
        f"every question to {SharedZ3.name}": every_question(SharedZ3),
        f"our filters, the rest to {FreshZ3.name}": filtered(FreshZ3),
        f"our filters, the rest to {SharedZ3.name}": filtered(SharedZ3),
        "ours, no answers cached": verifying(lambda: ForgetfulVerifier(EmbeddedSolver())),
        "ours": verifying(Verifier),
    }
    seconds = interleaved(contestants, len(samples), rounds)
    counting = CountingZ3()
    verifier = ForgetfulVerifier(counting, EveryQuestion(counting))
    for sample in samples:
        verifier.verify(sample.problem, sample.completion)
    return {
        "traces": len(samples),
        "questions_per_action": round(counting.questions / _actions(samples), 2),
        "rows": compared(seconds, len(samples), baseline),
    }


def _actions(samples: list[Sample]) -> int:
    return sum(len(read_completion(sample.completion).actions) for sample in samples)


def throughput(samples: list[Sample], rounds: int, solver: str = "embedded") -> Json:
    """Traces per CPU second of one process that starts cold, and where the time goes."""

    def verifying() -> Callable[[int], object]:
        verifier = Verifier(get_solver(solver))
        return lambda item: verifier.verify(samples[item].problem, samples[item].completion)

    def reading() -> Callable[[int], object]:
        return lambda item: read_completion(samples[item].completion)

    seconds = interleaved({"verify": verifying, "read": reading}, len(samples), rounds)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return {
        "traces": len(samples),
        "actions": _actions(samples),
        "traces_per_cpu_second": round(len(samples) / medians["verify"]),
        "share_of_reading_and_parsing": round(medians["read"] / medians["verify"], 3),
    }


def machine() -> Json:
    """The machine of the measurement."""
    packages = ("proof-r1-formal", "z3-solver", "cvc5", "python-sat", "lark", "msgspec")
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
    }


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of benchmark data")
    parser.add_argument("--out", type=Path, default=Path("docs/performance.json"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="only this measurement; the others stay as they are in the file")
    options = parser.parse_args()
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)  # for all contestants, as `proof-r1 verify` does
    for module in ("pysat.solvers", "z3", "cvc5"):  # which solvers import when they are first asked
        import_module(module)
    traces = reference_traces(options.data)
    groups = rollouts(traces, seed=1)
    result: Json = {"machine": machine()}
    measurements: dict[str, Callable[[], object]] = {
        "semantic_check": lambda: semantic_check(traces[::2], options.rounds),
        "four_way_check": lambda: four_way_check(traces[::3], options.rounds),
        "four_way_check_of_8_rollouts": lambda: four_way_check(fourth_of_problems(groups), options.rounds),
        "throughput_reference_traces": lambda: throughput(traces, options.rounds),
        "throughput_reference_traces_on_z3": lambda: throughput(traces, 1, "z3"),
        "throughput_8_rollouts": lambda: throughput(groups, options.rounds),
        "most_steps_of_a_reference_trace": lambda: max(Verifier().cost(s.problem, s.completion) for s in traces),
        "certificates": lambda: certificates(golden_proofs(options.data)),
        "kernel_evidence": lambda: kernel_evidence(groups),
    }
    if options.only is not None:
        result = json.loads(options.out.read_text(encoding="utf-8"))
        measurements = {options.only: measurements[options.only]}
    for name, measure in measurements.items():
        start = time.perf_counter()
        result[name] = measure()
        sys.stderr.write(f"{name}: {time.perf_counter() - start:.0f} s\n")
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
