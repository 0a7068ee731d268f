"""The embedded engine: the default solver, whose answers carry evidence.

In: a query. Out: an answer with a proof term or a countermodel. That premises are consistent is mostly shown by a model
with one element in each sort. Otherwise unit propagation comes first, and finds nearly all proofs. The decision
procedure for the effectively propositional class finds countermodels; the tableau finds the other proofs. Outside the
class, countermodels are searched for in small domains, and then by Z3. If there is still neither, Z3 chooses instances
from the Herbrand expansion, and the tableau proves the conclusion with these. Where no proof is found, a "yes" is the
decision procedure's or Z3's word, and comes without a proof.
"""

from __future__ import annotations

from dataclasses import replace

from proof_r1_formal.engine.countermodel import OneElement, confirm_structure
from proof_r1_formal.engine.finite import decide_finite, refuted_in_small_domain
from proof_r1_formal.engine.herbrand import Expansion
from proof_r1_formal.engine.propagation import Propagation
from proof_r1_formal.engine.propositional import GROUND_PRICE
from proof_r1_formal.engine.prover import BUDGET, Searched, search
from proof_r1_formal.engine.solver import Budget, Limits, known_symbols
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted, Unknown
from proof_r1_formal.kernel.compiling import mypyc_attr
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import BOTTOM
from proof_r1_formal.version import __version__

ONE_ELEMENT, PROPAGATION, GROUNDING = "one element", "propagation", "grounding"
TABLEAU, SMALL_DOMAINS, Z3, INSTANCES = "tableau", "small domains", "z3", "instances"
"""The engines, as answers name them."""
QUICK = 2_000
"""Steps of the search without cuts."""
FALLBACK = 200_000
"""The most ``rlimit`` that Z3 gets for a question; the most that one of the benchmark data needs is 71,000."""
_EXPANSION = 20_000
"""The most formulas of the Herbrand expansion that are looked at."""


@mypyc_attr(allow_interpreted_subclasses=True)
class EmbeddedSolver:
    """Decides queries by its own means, and by Z3 where those end.

    Args:
        limits: of Z3, which gets at most ``FALLBACK`` steps; the engine's own budgets are fixed.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self._limits = replace(limits, steps=min(limits.steps, FALLBACK))

    name = f"embedded {__version__}"

    def _by_z3(self, query: Query) -> Answer:
        from proof_r1_formal.engine.z3 import Z3Solver

        return Z3Solver(self._limits).decide(query)

    def decide(self, query: Query) -> Answer:
        """The answer, and the same one whatever was asked before."""
        known = known_symbols(query)
        if isinstance(known, Unknown):
            return known
        steps = 0
        if query.conclusion is BOTTOM:
            small = OneElement()
            signature = known.signature()
            model = small.model(query.dependencies, signature)
            steps = GROUND_PRICE * small.looked_at
            if model is not None and (refuted := confirm_structure(query, model, signature, steps)) is not None:
                return replace(refuted, engine=ONE_ELEMENT)
        propagation = Propagation(query.dependencies, query.conclusion)
        proof = propagation.proof()
        steps += propagation.steps
        if proof is not None:
            return Entailed(proof, steps, PROPAGATION)
        signature = known.signature()
        answer = decide_finite(query, signature, steps)
        if not isinstance(answer, Unknown):
            answer = replace(answer, engine=GROUNDING)
        if isinstance(answer, Refuted):
            return answer
        quick = search(query.dependencies, query.conclusion, cuts=False, budget=QUICK)
        steps = answer.steps + quick.steps
        if quick.proof is not None:
            return Entailed(quick.proof, steps, TABLEAU)
        if isinstance(answer, Unknown):
            answer = refuted_in_small_domain(query, signature, steps)
            if isinstance(answer, Refuted):
                return replace(answer, engine=SMALL_DOMAINS)
            steps = answer.steps
            answer = self._by_z3(query)
            steps += answer.steps
            if not isinstance(answer, Unknown):
                answer = replace(answer, engine=Z3)
            if isinstance(answer, Refuted):
                return replace(answer, steps=steps)
        full = search(query.dependencies, query.conclusion, budget=BUDGET)
        steps += full.steps
        if full.proof is not None:
            return Entailed(full.proof, steps, TABLEAU)
        chosen = self._by_instances(query, signature)
        steps += chosen.steps
        return replace(answer, steps=steps) if chosen.proof is None else Entailed(chosen.proof, steps, INSTANCES)

    def _by_instances(self, query: Query, signature: Signature) -> Searched:
        """The proof that the tableau finds with instances that Z3 chooses among those of the Herbrand expansion."""
        from proof_r1_formal.engine.z3 import RLIMIT_PER_STEP, unsat_core

        budget = Budget(_EXPANSION)
        expansion = Expansion(query.dependencies, query.conclusion, signature, budget)
        steps, left = 0, self._limits.steps
        while left > 0 and expansion.grow():
            core, price = unsat_core(expansion.clauses, tuple(expansion.instances), replace(self._limits, steps=left))
            steps += price
            left -= price * RLIMIT_PER_STEP
            if core is not None:
                plan = expansion.plan(core)
                found = search(query.dependencies, query.conclusion, budget=BUDGET, plan=plan)
                return Searched(found.proof, steps + budget.spent + found.steps)
        return Searched(None, steps + budget.spent)
