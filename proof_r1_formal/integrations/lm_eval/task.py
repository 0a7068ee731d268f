"""The functions that ``proof_r1.yaml`` names: problems as documents, and the scores of answers.

A document has a problem as its record in JSON. Its scores are those of ``evaluate_metrics`` on the answers to it: a
mean for each score of answers, and two sums for each rate of steps. A score that leaves out the problem is absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast, get_args

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.estimates import quotient
from proof_r1_formal.evaluation.measures import Measure, Part
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.integrations.datasets import PromptName, problems_dataset
from proof_r1_formal.integrations.evaluations import require_one_of, shared_verifier, usable_problems
from proof_r1_formal.integrations.scoring import Row, problem_of
from proof_r1_formal.rules.catalogue import RuleSystem

if TYPE_CHECKING:
    from datasets import Dataset

MEANS = (Measure.AVG, Measure.PASS, Measure.VERIFIED, Measure.RULE_VERIFIED, Measure.PARSED)
"""The scores whose mean over documents is the score of all, if all have equally many answers."""
_SUMS = (Measure.FVR, Measure.RVR)
"""The scores that are quotients of sums over all documents."""
UNCERTAIN = "uncertain_right"
"""The share of right answers where the label is Uncertain; these documents are in no other score."""


def dataset(
    *,
    problems: str | None = None,
    rules: RuleSystem = "train",
    prompt: PromptName = "full",
    strict: bool = False,
    **_others: object,
) -> dict[str, Dataset]:
    """The documents of the only split, ``test``.

    Args:
        problems: the file, in any format of ``read_problems``.
        rules: name of the rule catalogue.
        prompt: which prompt, see :mod:`proof_r1_formal.integrations.datasets`.
        strict: whether a problem that cannot be used is an error; otherwise a warning counts and names it.

    Raises:
        ProofR1Error: the file or a problem cannot be used, or an argument has an unknown value.
    """  # the others are the arguments of the model, which the harness adds
    from datasets import Dataset

    if problems is None:
        raise ProofR1Error("the task needs a file of problems: --metadata problems=FILE")
    require_one_of(get_args(PromptName), prompt=prompt)
    rows = problems_dataset(usable_problems(problems, strict=strict).values(), rules=rules, prompt=prompt)
    return {"test": Dataset.from_list([row | _texts_of(row.pop("prompt")) | {"rules": rules} for row in rows])}


def _texts_of(prompt: str | Sequence[Mapping[str, str]]) -> Row:
    """The two texts of a prompt. Without a chat template the harness joins them as they are, hence the blank line."""
    if isinstance(prompt, str):
        return {"system": "", "question": prompt}
    system, user = prompt
    return {"system": f"{system['content']}\n\n", "question": user["content"]}


def process_results(doc: Mapping[str, str], results: Sequence[Sequence[str]]) -> dict[str, float | Part]:
    """The contribution of the answers to a problem, the only item of ``results``, to each metric."""
    [answers] = results
    answers = [answers] if isinstance(answers, str) else answers  # after a filter that leaves one
    problem, verify = problem_of(doc["problem"]), shared_verifier(cast(RuleSystem, doc["rules"])).verify
    reports = [verify(problem, answer, sample=sample) for sample, answer in enumerate(answers)]
    overall = evaluate_metrics({problem.id: problem}, reports).overall
    found = {measure: overall.scores[measure] for measure in (*MEANS, *_SUMS)}
    added: dict[str, float | Part] = {
        measure.name.lower(): score.value if measure in MEANS else (score.numerator, score.denominator)
        for measure, score in found.items()
        if score.is_defined
    }
    uncertain = overall.uncertain
    return added | ({UNCERTAIN: uncertain.right / uncertain.outputs} if uncertain.outputs else {})


def quotient_of_sums(parts: Sequence[Part]) -> float:
    """The score of all documents from the two sums of each; 0 if nothing was counted, as for every rate of steps."""
    return quotient((sum(over for over, _ in parts), sum(under for _, under in parts)))
