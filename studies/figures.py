"""The method's figures for a study: accuracy against RVR, shares of answers and steps, lengths, and confused rules.

``python -m studies.figures STUDY.toml FOLDER`` draws them as PNG and PDF. The study is a file of ``proof-r1 evaluate
--study``. Requires matplotlib.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure  # no pyplot: nothing global, no screen

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import BadLine, Completion, numbered_completions
from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.evaluation.assessment import assess, examine_many
from proof_r1_formal.evaluation.definition import Files, Key, Study, read_study
from proof_r1_formal.evaluation.diagnosis import Diagnosis
from proof_r1_formal.evaluation.measures import Estimate, Group, Measure, StepOutcome
from proof_r1_formal.evaluation.study_tables import NO_RULE, Results, by_system, confusion_axes
from proof_r1_formal.outputs import check_folder, output
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.rules.catalogue import catalogue

FORMATS = ("png", "pdf")
"""Every picture is written for the screen and for a paper."""
_MARKERS = "osD^vP*X<>"


# -- what is shown ----------------------------------------------------------------------------------------------------


def points(results: Results) -> dict[Key, tuple[Estimate, Estimate]]:
    """RVR and accuracy (Avg@K) of each system on each data set, where there are both."""
    scores = {key: one.metrics.overall.scores for key, one in results.items()}
    both = {key: (of[Measure.RVR], of[Measure.AVG]) for key, of in scores.items()}
    return {key: of for key, of in both.items() if all(score.is_defined for score in of)}


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
    """Of all steps, in percent, by what became of them; outputs that are not parsed count as one."""
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


def assessments(study: Study) -> Results:
    """The assessment of each system on each data set.

    Raises:
        DataError: a file cannot be read, or has a line that is not a completion of a usable problem.
    """
    results = {}
    for key, files in study.files().items():
        dataset = study.datasets[key.dataset]
        known = read_problems(dataset.problems, format=dataset.format)
        examined = examine_many(known, _completions(files, known), settings=Settings(rules=dataset.rules))
        results[key] = assess(known, examined, rules=catalogue(dataset.rules), seen=catalogue(study.seen))
    return results


def _completions(files: Files, known: Collection[str]) -> Iterator[Completion]:
    for path in files:
        for number, item in numbered_completions(path):
            if isinstance(item, BadLine):
                raise DataError(f"{path}, line {number}", item.problem)
            if item.problem_id not in known:
                raise DataError(f"{path}, line {number}", f"{item.problem_id!r} is not a usable problem")
            yield item


# -- drawing ----------------------------------------------------------------------------------------------------------


def draw(results: Results, folder: Path) -> tuple[Path, ...]:
    """Draw everything; returns the files.

    Args:
        results: assessments by system and data set.
        folder: where to; made if it is not there.

    Raises:
        DataError: the folder cannot be written to.
    """
    groups = {key: one.metrics.overall for key, one in results.items()}
    figures = {"shares": _shares(groups), "length-ratios": _ratios(length_ratios(results))}
    if shown := points(results):
        figures["accuracy-rvr"] = _accuracy_against_rvr(shown)
    for number, (system, diagnosis) in enumerate(by_system(results).items(), 1):
        if diagnosis.confusion:
            name = re.sub(r"[^A-Za-z0-9.]+", "-", system).strip("-")[:60]
            figures[f"confusion-{number}-{name}"] = _confusion(system, diagnosis)
    paths = []
    check_folder(folder)
    for name, figure in figures.items():
        for suffix in FORMATS:
            paths.append(folder / f"{name}.{suffix}")
            with output(paths[-1]) as file:
                figure.savefig(file, format=suffix)
    return tuple(paths)


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), dpi=120, layout="constrained")


def _accuracy_against_rvr(shown: Mapping[Key, tuple[Estimate, Estimate]]) -> Figure:
    """A panel for each data set, with the spreads of the tables; colours are methods, markers backbones."""
    datasets, backbones, methods = (list(dict.fromkeys(values)) for values in zip(*shown, strict=True))
    figure = _figure(4.8 * len(datasets), 4.2)
    for axes, dataset in zip(figure.subplots(1, len(datasets), squeeze=False)[0], datasets, strict=True):
        for key, scores in shown.items():
            if key.dataset == dataset:
                (rvr, rvr_spread), (accuracy, spread) = [(100 * of.value, 100 * (of.spread or 0.0)) for of in scores]
                axes.errorbar(
                    rvr,
                    accuracy,
                    xerr=rvr_spread,
                    yerr=spread,
                    marker=_MARKERS[backbones.index(key.backbone) % len(_MARKERS)],
                    color=f"C{methods.index(key.method)}",
                    linestyle="none",
                    label=_plain(key.system),
                )
        axes.set(title=_plain(dataset), xlabel="RVR (%)", ylabel="accuracy, Avg@K (%)", xlim=(-3, 103), ylim=(-3, 103))
        axes.legend(fontsize="x-small")
    return figure


def _shares(groups: Mapping[Key, Group]) -> Figure:
    """Of answers and of steps, bars for each system, their parts beside each other up to 100 %."""
    figure = _figure(13.0, 1.6 + 0.35 * len(groups))
    panels = figure.subplots(1, 2, sharey=True)
    for axes, title, shares_of in zip(panels, ("answers", "steps"), (answer_shares, step_shares), strict=True):
        shares = [shares_of(group) for group in groups.values()]
        left = [0.0 for _ in shares]
        for name in shares[0]:
            lengths = [of[name] for of in shares]
            axes.barh(range(len(shares)), lengths, left=left, label=name)
            left = [start + length for start, length in zip(left, lengths, strict=True)]
        _name_rows(axes, groups)
        axes.set(xlabel=f"share of {title} (%)", xlim=(0, 100))
        axes.legend(fontsize="x-small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    panels[0].invert_yaxis()  # that of both: they share it
    return figure


def _ratios(ratios: Mapping[Key, float]) -> Figure:
    figure = _figure(6.5, 1.2 + 0.3 * len(ratios))
    axes = figure.subplots()
    axes.barh(range(len(ratios)), list(ratios.values()))
    axes.axvline(1.0, color="black", linewidth=0.8)
    _name_rows(axes, ratios)
    axes.invert_yaxis()
    axes.set(xlabel="generated steps / steps of the reference proof")
    return figure


def _name_rows(axes: Axes, keys: Collection[Key]) -> None:
    axes.set_yticks(range(len(keys)), [_plain(f"{key.dataset}: {key.system}") for key in keys], fontsize="small")


def _plain(text: str) -> str:
    """The text for matplotlib, in which dollar signs would enclose formulas."""
    return text.replace("$", r"\$")


def _confusion(system: str, diagnosis: Diagnosis) -> Figure:
    """A heat map, rows declared rules, columns actual ones."""
    declared, actual = confusion_axes(diagnosis)
    figure = _figure(4.5 + 0.45 * len(actual), 3.6 + 0.35 * len(declared))
    axes = figure.subplots()
    counts = [[diagnosis.confusion[row, column] for column in actual] for row in declared]
    most = max(map(max, counts))
    axes.imshow(counts, cmap="Blues", vmin=0, vmax=most)
    for row, line in enumerate(counts):
        for column, count in enumerate(line):
            if count:
                colour = "white" if count > 0.6 * most else "black"
                axes.text(column, row, f"{count}", ha="center", va="center", fontsize="x-small", color=colour)
    axes.set_xticks(range(len(actual)), [_words(name or NO_RULE) for name in actual], rotation=90, fontsize="x-small")
    axes.set_yticks(range(len(declared)), [_words(name) for name in declared], fontsize="x-small")
    axes.set(title=f"{_plain(system)}: entailed under a wrong rule", xlabel="actual rule", ylabel="declared rule")
    return figure


def _words(rule: str) -> str:
    return rule.replace("_", " ").lower()


def main() -> None:
    """Assess the systems of a study, and draw."""
    parser = argparse.ArgumentParser(prog="python -m studies.figures", description=__doc__.split("\n")[0])
    parser.add_argument("study", type=Path, help="TOML file of systems and data sets")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    options = parser.parse_args()
    try:
        paths = draw(assessments(read_study(options.study)), options.folder)
    except ProofR1Error as error:
        parser.error(str(error))
    sys.stdout.write("".join(f"{path}\n" for path in paths))


if __name__ == "__main__":
    main()
