"""The shared part of evaluations in all frameworks: the problems of a file, and reports on answers."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import ProblemSet
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import RuleSystem

LOG = logging.getLogger(__name__)


def usable_problems(file: str, *, strict: bool = False) -> ProblemSet:
    """The problems of a file in any format of ``read_problems``. A warning counts and names those that cannot be used.

    Raises:
        ProofR1Error: the file cannot be read, no problem can be used, or, if strict, one cannot.
    """
    found = read_problems(file)
    left_out = found.left_out(file)
    if left_out and (strict or not found):
        raise ProofR1Error("\n".join([*left_out, "repair or remove these problems"]))
    for line in left_out:
        LOG.warning(line)
    return found


def require_one_of(known: Iterable[str], **argument: object) -> None:
    """Check a setting, given by name, that a framework passes on as its command line gives it.

    Raises:
        ProofR1Error: its value is not one of those that are known.
    """
    known = tuple(known)
    for name, value in argument.items():
        if value not in known:
            raise ProofR1Error(f"{name} must be one of {', '.join(known)}, and is {value!r}")


@cache
def shared_verifier(rules: RuleSystem) -> Verifier:
    """The verifier of all answers under this rule catalogue."""
    return Settings(rules=rules).verifier()
