"""CPU seconds that Lean takes for a long certificate by reflection: ``python -m studies.bench.reflecting``.

The trace is a chain: p0(a), and a premise and a step for each implication from one predicate to the next. The best of
some runs counts, each with Lean's start.
"""

from __future__ import annotations

import argparse
import resource
import sys

from proof_r1_formal.assistants import reflection
from proof_r1_formal.assistants.lean import LeanKernel, LeanTheorem
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.syntax import Atom, Formula, Implies, const
from proof_r1_formal.kernel.term import Eliminate


def chain(steps: int, *, model: bool) -> LeanTheorem:
    """The theorem of a chain with this number of steps. With a model, it also says that the premises are consistent."""
    facts = [Atom(f"p{number}", (const("a"),)) for number in range(steps + 1)]
    premises: dict[str, Formula] = {"h0": facts[0]}
    premises |= {f"h{number}": Implies(*facts[number - 1 : number + 1]) for number in range(1, steps + 1)}
    proof = (Eliminate(0, "right", 1),)
    trace: list[reflection.Step] = [
        (f"s{number}", (f"h{number}", f"s{number - 1}" if number > 1 else "h0"), facts[number], proof)
        for number in range(1, steps + 1)
    ]
    true = {fact.predicate: frozenset({(0,)}) for fact in facts}
    return reflection.answer(
        premises, trace, facts[-1], Structure({"Entity": 1}, true, {"a": {(): 0}}) if model else None
    )


def seconds(kernel: LeanKernel, theorem: LeanTheorem) -> float:
    """CPU seconds of Lean for a theorem.

    Raises:
        ValueError: Lean rejects it.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    (judgement,) = kernel.check([theorem])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not judgement.accepted:
        raise ValueError(f"Lean rejects the chain: {judgement.reason[:200]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print a row for each length, with and without a model."""
    parser = argparse.ArgumentParser(prog="python -m studies.bench.reflecting")
    parser.add_argument("--steps", type=int, nargs="+", default=[100, 300, 1000], help="lengths of the chains")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, of which the fastest counts")
    options = parser.parse_args()
    kernel = LeanKernel.find()
    if kernel is None:
        sys.stderr.write("there is no Lean\n")
        return 1
    for steps in options.steps:
        for model in (False, True):
            theorem = chain(steps, model=model)
            best = min([seconds(kernel, theorem) for _ in range(options.runs)])
            texts = [each.text() for each in theorem.definitions] + [theorem.text("t")]
            size = len("\n".join(texts).encode()) / 1024
            said = "with" if model else "without"
            sys.stdout.write(f"{steps} steps, {said} a model: {best:.1f} s of CPU for {size:,.0f} KiB\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
