"""Check, certify and credit the proofs that language models write, step by step, in first-order logic.

>>> from proof_r1_formal import parse_formula, show
>>> show(parse_formula("all x. (cat(x) -> animal(x))"))
'∀x (cat(x) → animal(x))'
"""

from importlib import import_module
from typing import TYPE_CHECKING

from proof_r1_formal.version import __version__

if TYPE_CHECKING:
    from proof_r1_formal.data import read_problems
    from proof_r1_formal.data.completions import Completion, read_completions
    from proof_r1_formal.data.native import write_problems
    from proof_r1_formal.data.problem import Option, Premise, Problem, ProblemSet, ReferenceStep, three_way_options
    from proof_r1_formal.engine import get_solver
    from proof_r1_formal.engine.solver import Limits
    from proof_r1_formal.errors import ParseError, ProofR1Error
    from proof_r1_formal.evaluation.measures import Metrics
    from proof_r1_formal.evaluation.metrics import evaluate_metrics
    from proof_r1_formal.evaluation.metrics_tables import metrics_tables
    from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Refuted, Unknown
    from proof_r1_formal.kernel.model import Structure, evaluate
    from proof_r1_formal.kernel.syntax import Formula
    from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES, read_action
    from proof_r1_formal.proof.batch import Settings, verify, verify_many
    from proof_r1_formal.proof.report import Code, Finding, StepReport, TraceReport
    from proof_r1_formal.proof.session import SessionState
    from proof_r1_formal.proof.verify import Verifier, VerifierSession
    from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO, TRAIN, catalogue
    from proof_r1_formal.rules.schema import GOAL_BINDING, INVALID_RULE, Catalogue
    from proof_r1_formal.text.parse import parse_formula
    from proof_r1_formal.text.show import show

__all__ = [
    "COMPLETE",
    "FIELDS",
    "FOLIO",
    "GOAL_BINDING",
    "INVALID_RULE",
    "MAX_DEPENDENCIES",
    "TRAIN",
    "Answer",
    "Catalogue",
    "Code",
    "Completion",
    "Entailed",
    "Finding",
    "Formula",
    "Limits",
    "Metrics",
    "Option",
    "ParseError",
    "Premise",
    "Problem",
    "ProblemSet",
    "ProofR1Error",
    "Query",
    "ReferenceStep",
    "Refuted",
    "SessionState",
    "Settings",
    "StepReport",
    "Structure",
    "TraceReport",
    "Unknown",
    "Verifier",
    "VerifierSession",
    "__version__",
    "catalogue",
    "evaluate",
    "evaluate_metrics",
    "get_solver",
    "metrics_tables",
    "parse_formula",
    "read_action",
    "read_completions",
    "read_problems",
    "show",
    "three_way_options",
    "verify",
    "verify_many",
    "write_problems",
]

_MODULES = {
    "data": "read_problems",
    "data.completions": "Completion read_completions",
    "data.native": "write_problems",
    "data.problem": "Option Premise Problem ProblemSet ReferenceStep three_way_options",
    "errors": "ParseError ProofR1Error",
    "kernel.model": "Structure evaluate",
    "text.parse": "parse_formula",
    "text.show": "show",
    "kernel.syntax": "Formula",
    "evaluation.metrics": "evaluate_metrics",
    "evaluation.measures": "Metrics",
    "evaluation.metrics_tables": "metrics_tables",
    "proof.action": "FIELDS MAX_DEPENDENCIES read_action",
    "proof.batch": "Settings verify verify_many",
    "proof.report": "Code Finding StepReport TraceReport",
    "proof.session": "SessionState",
    "proof.verify": "Verifier VerifierSession",
    "rules.catalogue": "COMPLETE FOLIO TRAIN catalogue",
    "rules.schema": "GOAL_BINDING INVALID_RULE Catalogue",
    "engine": "get_solver",
    "engine.solver": "Limits",
    "kernel.answer": "Answer Entailed Query Refuted Unknown",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """A public name, from its module, which is imported on first use: a program loads only what it needs."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
