"""Asks the proof checker in Python and the one in Lean about the same proofs: ``make checkers``.

The proofs are forged ones (``testing.forgeries``), the steps of generated problems, and those of the golden proofs in
DATA, where it is given. Each step also comes with its conclusion negated, with its premises in reverse, and without its
first line. Lean's kernel evaluates ``check`` of ``theories/lean/ProofR1/Checker`` in theorems that say what it answers,
so a difference is a theorem that the kernel rejects. A proof that cannot be written as data must be one that the
checker in Python rejects. Writes what both say as JSON. If the two ever differ, prints the proof; exit status 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random

from proof_r1_formal.assistants import reflection
from proof_r1_formal.assistants.certificate import Certificate
from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.assistants.lean import BATCH, LeanKernel, LeanTheorem
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ProofError, SignatureError
from proof_r1_formal.generate.problems import GeneratorSettings, generate_problems
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.syntax import Not
from proof_r1_formal.proof.trajectory import completion
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.testing.forgeries import Forger, Forgery
from studies.bench.verification import machine


@dataclass(slots=True)
class Comparison:
    """The verdicts of the two checkers on the same proofs.

    Attributes:
        accepted, rejected: how many both accept, and both reject.
        unwritable: how many the checker in Python rejects and that cannot be written as Lean's data.
        different: the others, each with what was said.
    """

    accepted: int = 0
    rejected: int = 0
    unwritable: int = 0
    different: list[tuple[Forgery, str]] = field(default_factory=list)


def compare(kernel: LeanKernel, proofs: Iterable[Forgery]) -> Comparison:
    """Ask both checkers about each proof."""
    found = Comparison()
    waiting: list[tuple[Forgery, str, LeanTheorem]] = []

    def ask() -> None:
        for (proof, fault, _), judgement in zip(waiting, kernel.check([each[2] for each in waiting]), strict=True):
            if not judgement.accepted:
                found.different.append((proof, f"Python: {fault or 'accepted'}; Lean: {judgement.reason}"))
            elif fault:
                found.rejected += 1
            else:
                found.accepted += 1
        waiting.clear()

    for proof in proofs:
        fault = _fault(proof)
        try:
            theorem = reflection.verdict(proof.premises, proof.conclusion, proof.proof, accepted=not fault)
        except (ProofError, SignatureError) as error:
            if fault:
                found.unwritable += 1
            else:
                found.different.append((proof, f"Python: accepted; not written: {error}"))
            continue
        waiting.append((proof, fault, theorem))
        if len(waiting) == BATCH:
            ask()
    ask()
    return found


def _fault(proof: Forgery) -> str:
    """The objection of the checker in Python to the proof; empty if it accepts it."""
    try:
        check(*proof)
    except ProofError as error:
        return str(error)
    return ""


def steps(solved: Iterable[tuple[Problem, str]]) -> Iterator[Forgery]:
    """Each step of the certified answers, and what it becomes when something is changed."""
    verifier = Verifier()
    for problem, text in solved:
        certificate = certify(verifier, problem, text).certificate
        if not isinstance(certificate, Certificate):
            continue
        known = dict(certificate.premises)
        for step in certificate.steps:
            given = tuple([known[name] for name in step.dependencies])
            known[step.id] = step.formula
            yield Forgery(step.proof, given, step.formula)
            yield Forgery(step.proof, given, Not(step.formula))
            yield Forgery(step.proof, given[::-1], step.formula)
            yield Forgery(step.proof[1:], given, step.formula)


def generated(count: int, seed: int) -> Iterator[tuple[Problem, str]]:
    """Generated problems with their proofs."""
    settings = GeneratorSettings(seed=seed, answers=("True", "False"))
    for problem in [one.problem for one in islice(generate_problems(settings), count)]:
        yield problem, completion(problem, problem.proofs[0])


def golden(folder: Path) -> Iterator[tuple[Problem, str]]:
    """The golden proofs."""
    problems = read_problems(folder / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    for line in (folder / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["kind"] == "golden":
            yield problems[f"{record['difficulty']}/{record['problem_id']}"], record["response"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="folder with the benchmark data")
    parser.add_argument("--forged", type=int, default=60_000)
    parser.add_argument("--generated", type=int, default=1_500, help="number of problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["forged", "generated", "golden"], help="leave the other records as they are")
    parser.add_argument("--out", type=Path, default=Path("docs/checkers.json"))
    arguments = parser.parse_args()
    kernel = LeanKernel.find()
    if kernel is None:
        raise SystemExit("Lean was not found")
    sources: dict[str, Iterable[Forgery]] = {
        "forged": islice(Forger(Random(arguments.seed)).forgeries(), arguments.forged),
        "generated": steps(generated(arguments.generated, arguments.seed)),
    }
    if arguments.data is not None:
        sources["golden"] = steps(golden(arguments.data))
    others = json.loads(arguments.out.read_text(encoding="utf-8"))["proofs"] if arguments.only else {}
    found: dict[str, Comparison] = {}
    for name in [arguments.only] if arguments.only else sources:
        found[name] = compare(kernel, sources[name])
        print(f"{name}: {counts(found[name])}", flush=True)  # noqa: T201
    result = others | {name: counts(each) for name, each in found.items()}
    record = {"kernel": kernel.version, "seed": arguments.seed, **machine(), "proofs": result}
    arguments.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    different = [each for comparison in found.values() for each in comparison.different]
    for proof, said in different:
        print(f"{said}\n  {proof}")  # noqa: T201
    return 1 if different else 0


def counts(comparison: Comparison) -> dict[str, int]:
    """How many of each kind."""
    return {
        "both accept": comparison.accepted,
        "both reject": comparison.rejected,
        "Python rejects, and Lean has no data for it": comparison.unwritable,
        "different": len(comparison.different),
    }


if __name__ == "__main__":
    sys.exit(main())
