"""The method's figures: what is shown of assessments and of a review, and as which pictures.

In: assessments of systems, as ``proof-r1 evaluate`` makes them, or the agreement of a reviewer. Out: pictures by the
names of their files, for :func:`~proof_r1_formal.evaluation.drawing.write_pictures`: accuracy against RVR, shares of
answers and of steps, ratios of lengths, confused rules, and verdicts beside judgements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from proof_r1_formal.evaluation.definition import Key
from proof_r1_formal.evaluation.diagnosis import Diagnosis
from proof_r1_formal.evaluation.drawing import Picture, Point, bars, matrix, outcomes, scatter, stacked
from proof_r1_formal.evaluation.measures import Estimate, Group, Measure, StepOutcome
from proof_r1_formal.evaluation.review import Agreement, Verdict, systems
from proof_r1_formal.evaluation.study_tables import NO_RULE, Results, by_system, confusion_axes
from proof_r1_formal.evaluation.tables import printable

_LIMITS = (-3.0, 103.0)


def study_pictures(results: Results) -> dict[str, Picture]:
    """The figures of systems and data sets; those for which nothing was counted are left out."""
    groups = {key: one.metrics.overall for key, one in results.items()}
    answers = {_row(key): answer_shares(group) for key, group in groups.items()}
    steps = {_row(key): step_shares(group) for key, group in groups.items()}
    pictures = {"shares": stacked({"share of answers (%)": answers, "share of steps (%)": steps})}
    if ratios := length_ratios(results):
        rows = {_row(key): {"": ratio} for key, ratio in ratios.items()}
        pictures["length-ratios"] = bars("generated steps / steps of the reference proof", rows, mark=1.0, digits=2)
    if shown := points(results):
        pictures["accuracy-rvr"] = scatter("RVR (%)", "accuracy, Avg@K (%)", _panels(shown), _LIMITS)
    for number, (system, diagnosis) in enumerate(by_system(results).items(), 1):
        if diagnosis.confusion:
            pictures[f"confusion-{number}-{file_name(system)}"] = _confusion(system, diagnosis)
    return pictures


def review_pictures(found: Agreement, reviewer: str) -> dict[str, Picture]:
    """Verdicts (rows) beside judgements, a picture for each system."""
    labels = [verdict.value for verdict in Verdict]
    return {
        f"review-{number}-{file_name(system)}": outcomes(
            printable(system), "verifier", printable(reviewer), labels, found.confusion(system)
        )
        for number, system in enumerate(systems(found), 1)
    }


def file_name(text: str) -> str:
    """A text as a part of the name of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")[:60]


def _row(key: Key) -> str:
    return printable(f"{key.dataset}: {key.system}")


# -- what is shown ----------------------------------------------------------------------------------------------------


def points(results: Results) -> dict[Key, tuple[Estimate, Estimate]]:
    """RVR and accuracy (Avg@K) of each system on each data set, where there are both."""
    scores = {key: one.metrics.overall.scores for key, one in results.items()}
    both = {key: (of[Measure.RVR], of[Measure.AVG]) for key, of in scores.items()}
    return {key: of for key, of in both.items() if all(score.is_defined for score in of)}


def _panels(shown: Mapping[Key, tuple[Estimate, Estimate]]) -> dict[str, list[Point]]:
    """A panel for each data set; colours are methods, markers backbones, bars the spreads of the tables."""
    datasets, backbones, methods = (list(dict.fromkeys(values)) for values in zip(*shown, strict=True))
    panels: dict[str, list[Point]] = {printable(dataset): [] for dataset in datasets}
    for key, scores in shown.items():
        (rvr, across), (accuracy, up) = [(100 * of.value, 100 * (of.spread or 0.0)) for of in scores]
        colour, marker = methods.index(key.method), backbones.index(key.backbone)
        name = printable(key.system)
        panels[printable(key.dataset)].append(Point(name, rvr, accuracy, across, up, colour, marker))
    return panels


def answer_shares(group: Group) -> dict[str, float]:
    """Of the outputs with a reference answer, in percent: right ones by what supports them, and wrong ones."""
    scores = group.scores
    total = scores[Measure.AVG].denominator
    right, verified, by_rules = (
        scores[measure].numerator for measure in (Measure.AVG, Measure.VERIFIED, Measure.RULE_VERIFIED)
    )
    counts = {
        "right, every step an instance of its rule": by_rules,
        "right, every step entailed": verified - by_rules,
        "right, not verified": right - verified,
        "wrong or none": total - right,
    }
    return _percent(counts, total)


def step_shares(group: Group) -> dict[str, float]:
    """Of all steps, in percent, by their outcome; outputs that are not parsed count as one."""
    verified, by_rules = group.steps[StepOutcome.VERIFIED], group.scores[Measure.RVR].numerator
    counts = {
        "entailed, an instance of its rule": by_rules,
        "entailed only": verified - by_rules,
        "not entailed": group.steps[StepOutcome.NOT_ENTAILED],
        "depends on an unverified step": group.steps[StepOutcome.UNTRUSTED_DEPENDENCY],
    }
    total = sum(group.steps.values())
    counts["other"] = total - sum(counts.values())
    return _percent(counts, total)


def _percent(counts: Mapping[str, float], total: float) -> dict[str, float]:
    return {name: 100 * count / total if total else 0.0 for name, count in counts.items()}


def length_ratios(results: Results) -> dict[Key, float]:
    """Generated steps to those of the reference proof, where there are any."""
    found = {key: one.metrics.overall.scores[Measure.LENGTH_RATIO] for key, one in results.items()}
    return {key: estimate.value for key, estimate in found.items() if estimate.denominator}


def _confusion(system: str, diagnosis: Diagnosis) -> Picture:
    """Declared rules (rows) and actual ones."""
    declared, actual = confusion_axes(diagnosis)
    counts = [[diagnosis.confusion[row, column] for column in actual] for row in declared]
    title = f"{printable(system)}: entailed under a wrong rule"
    rows, columns = [_words(name) for name in declared], [_words(name or NO_RULE) for name in actual]
    return matrix(title, "declared rule", "actual rule", rows, columns, counts)


def _words(rule: str) -> str:
    return rule.replace("_", " ").lower()
