"""A search for invalid proofs that the proof checkers accept.

In: a number of forgeries and a seed. Out: counts of forgeries and outcomes, and a reproducer for each failure.

``kernel.checker`` checks every forgery (``testing.forgeries``). If it accepts one, Z3 decides the claim from the
premises that the proof uses, with a distinct name for each symbol. In a checkout, the checker of bundles must accept
the forgery too. A failure is

* an accepted proof of what Z3 finds not entailed;
* an accepted proof that the other checker refuses.

The checker of bundles knows no theorems, so it skips proofs that apply one; these are counted.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, ClassVar, TypeAlias

from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.engine.z3 import Z3Solver
from proof_r1_formal.errors import ProofError, ProofR1Error
from proof_r1_formal.kernel.answer import Query, Unknown
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.serial import proof_to_data, to_data
from proof_r1_formal.kernel.syntax import Atom, Eq, Formula, Term, Var
from proof_r1_formal.testing.forgeries import Forger, Forgery
from proof_r1_formal.testing.formulas import mapped
from proof_r1_formal.testing.search import Failure, Findings, Search

LIMITS = Limits(steps=400_000, seconds=10.0)
"""Of Z3, for each accepted proof."""
PROGRAM = Path(__file__).resolve().parents[2] / "check_bundle.py"
"""The checker of bundles, in a checkout."""

SecondChecker: TypeAlias = Callable[[Forgery], str]
"""Why a proof does not hold; empty if it does. The proof applies no theorem."""


@dataclass(frozen=True)
class Attack(Search[Findings]):
    """The search, with the seed of all random choices.

    Its findings are by the kind of the last line. Outcomes of accepted forgeries: entailed, refuted or undecided by Z3;
    agreed with or refused by the second checker, or skipped by it, because the proof applies a theorem.
    """

    size: ClassVar[int] = 500
    seed: int = 0

    def chunk(self, examples: range) -> Findings:
        """The results of one chunk of forgeries."""
        forger = Forger(Random(f"forged/{self.seed}/{examples.start // self.size}"))
        findings = Findings()
        for forgery in islice(forger.forgeries(), len(examples)):
            _try(forgery, findings)
        return findings


def _try(forgery: Forgery, findings: Findings) -> None:
    kind = type(forgery.proof[-1]).__name__
    findings.examples[kind] += 1

    def fail(fault: str) -> None:
        findings.failures.append(Failure(fault, kind, repr(forgery[1:]), repr(forgery.proof)))

    try:
        used = check(*forgery)
    except ProofError:
        return
    findings.accepted[kind] += 1
    outcome = _outcome(tuple([forgery.premises[number] for number in sorted(used)]), forgery.conclusion)
    findings.outcomes[outcome] += 1
    if outcome == "refuted":
        fail("accepted, and does not follow")
    second = second_checker()
    if second is None:
        return
    try:
        refusal = second(forgery)
    except ProofR1Error:  # it applies a theorem
        findings.outcomes["skipped by the second checker (applies a theorem)"] += 1
        return
    findings.outcomes["refused by the second checker" if refusal else "agreed with the second checker"] += 1
    if refusal:
        fail(f"accepted, but not by the second checker: {refusal}")


# -- Z3 ---------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def _outcome(premises: tuple[Formula, ...], conclusion: Formula) -> str:
    query = Query(tuple(map(_distinct, premises)), _distinct(conclusion))
    answer = Z3Solver(LIMITS).decide(query)
    return "undecided" if isinstance(answer, Unknown) else type(answer).__name__.lower()


def _distinct(formula: Formula) -> Formula:
    """The formula with the kind and the number of arguments in the name of each symbol."""

    def term(part: Term) -> Term:
        if isinstance(part, Var):
            return part
        return part.on(tuple(map(term, part.arguments)), function=f"f{len(part.arguments)} {part.function}")

    match formula:
        case Atom(predicate, arguments):
            return Atom(f"p{len(arguments)} {predicate}", tuple(map(term, arguments)))
        case Eq(left, right):
            return Eq(term(left), term(right))
        case _:
            return mapped(formula, _distinct)


# -- the checker of bundles -------------------------------------------------------------------------------------------


@cache
def second_checker() -> SecondChecker | None:
    """The checker of bundles, which shares no code with this package; None outside a checkout."""
    spec = importlib.util.spec_from_file_location("check_bundle", PROGRAM) if PROGRAM.exists() else None
    if spec is None or spec.loader is None:
        return None
    program: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)

    def refusal(forgery: Forgery) -> str:
        program.STEPS.taken, program.STEPS.most = 0, program.FREE_STEPS
        premises = [program.read(program.Node(to_data(formula))) for formula in forgery.premises]
        conclusion = program.read(program.Node(to_data(forgery.conclusion)))
        evidence = program.Node({"proof": proof_to_data(forgery.proof)})
        try:
            program.Evidence().decide(evidence, premises, conclusion)
        except program.FaultError as fault:
            return str(fault)
        return ""

    return refusal
