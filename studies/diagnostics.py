"""The figures of the method: logs of runs to numbers, and those to PNG.

In: the folders of runs, grouped under labels (for example a method with its seeds). Out: panels with the numbers of a
figure, and files. Pure functions compute all numbers.

``python -m studies.diagnostics --out FOLDER LABEL=RUN[,RUN…] …`` writes the figures of any runs of either engine.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean, pstdev, stdev
from typing import TypeAlias

import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from msgspec import structs

from proof_r1_formal import Problem, read_problems
from studies.gradients import GRADIENTS, Block, blocks, findings, gradient_grid
from training.centring import Centring
from training.common.logs import EvaluationRecord, Record, Score, StepRecord, read_log
from training.config import read_config

Curve: TypeAlias = Mapping[int, float]
"""Step -> value."""
WINDOW = 10
"""Number of steps over which noisy curves are smoothed."""
DECAY = 0.9
"""Of the moving averages of length, distance and entropy."""
STUDENT_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""The 97.5 % quantiles of Student's distribution for 1, 2, … degrees of freedom; the last serves for more."""
SIGNALS = ("0.0", "0.1", "0.3", "1.0")
SIGNAL_COLOURS = ("#b2182b", "#ef8a62", "#fddbc7", "#2166ac")


# -- curves -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Band:
    """A curve with its spread: by step the means, and what is shaded below and above them.

    Attributes:
        below, above: how far the shade reaches: a population standard deviation, or to the ends of an interval.
    """

    steps: tuple[int, ...]
    means: tuple[float, ...]
    below: tuple[float, ...]
    above: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes of a figure.

    Attributes:
        title, unit: what is shown, and in what.
        lines: by label.
        stacked: whether lines are shares of a whole that are shown on top of each other.
    """

    title: str
    unit: str
    lines: Mapping[str, Band]
    stacked: bool = False


def band(curves: Sequence[Curve], *, window: int = 1) -> Band:
    """Curves of several runs as one: at each step, what all of them have within the window around it.

    Args:
        curves: need not have the same steps.
        window: number of steps; 1 leaves the curve of a single run as it is.
    """
    steps = sorted({step for curve in curves for step in curve})
    around = [
        [
            curve[near]
            for curve in curves
            for near in range(step - (window - 1) // 2, step + window // 2 + 1)
            if near in curve
        ]
        for step in steps
    ]
    deviations = tuple(map(pstdev, around))
    return Band(tuple(steps), tuple(map(fmean, around)), deviations, deviations)


def moving(curves: Sequence[Curve], *, decay: float = DECAY) -> Band:
    """The moving average of the mean of several runs, and the moving standard deviation around it.

    Args:
        curves: need not have the same steps.
        decay: the weight of what was before; 0 leaves the mean as it is.
    """
    plain = band(curves)
    means: list[float] = []
    variances: list[float] = []
    for value in plain.means:
        off = value - means[-1] if means else 0.0
        means.append(means[-1] + (1 - decay) * off if means else value)
        variances.append(decay * (variances[-1] + (1 - decay) * off**2) if variances else 0.0)
    deviations = tuple(map(sqrt, variances))
    return Band(plain.steps, tuple(means), deviations, deviations)


def score_band(logs: Sequence[Sequence[Record]], score: str) -> Band:
    """A score over the evaluations of runs, with its 95 % interval.

    The interval of several runs is Student's over the runs. That of a single run is its own, by bootstrap over the
    problems; it is empty in a log without intervals.
    """
    found: dict[int, list[Score]] = {}
    for record in [record for log in logs for record in log if isinstance(record, EvaluationRecord)]:
        found.setdefault(record.step, []).append(record.scores[score])
    steps = sorted(found)
    reach = [_reach(found[step]) for step in steps]
    return Band(
        tuple(steps),
        tuple([fmean([one.value for one in found[step]]) for step in steps]),
        tuple([below for below, _ in reach]),
        tuple([above for _, above in reach]),
    )


def _reach(scores: Sequence[Score]) -> tuple[float, float]:
    """How far the interval reaches below and above the mean."""
    if len(scores) > 1:
        values = [one.value for one in scores]
        quantile = STUDENT_T[min(len(values) - 1, len(STUDENT_T)) - 1]
        half, mean = quantile * stdev(values) / sqrt(len(values)), fmean(values)
        return min(half, mean), min(half, 1.0 - mean)  # it is a share
    [one] = scores
    return (0.0, 0.0) if one.interval is None else (one.value - one.interval[0], one.interval[1] - one.value)


def step_curve(records: Iterable[Record], value: Callable[[StepRecord], float]) -> Curve:
    """A number over the steps of a run."""
    return {r.step: value(r) for r in records if isinstance(r, StepRecord)}


Runs: TypeAlias = Mapping[str, Sequence[Sequence[Record]]]
"""Label -> logs of the runs that are shown together."""


def score_panels(runs: Runs) -> tuple[Panel, ...]:
    """Accuracy, FVR and RVR in evaluation, with 95 % intervals."""
    records = [record for logs in runs.values() for log in logs for record in log]
    samples = max([record.samples for record in records if isinstance(record, EvaluationRecord)], default=1)
    titles = {"Pass": f"Pass@{samples}", "Avg": f"Avg@{samples}", "FVR": "FVR", "RVR": "RVR"}
    return tuple(
        [
            Panel(title, "share (95 % interval)", {label: score_band(logs, name) for label, logs in runs.items()})
            for name, title in titles.items()
        ]
    )


def baseline_panels(runs: Runs, *, window: int = WINDOW) -> tuple[Panel, ...]:
    """For each label the error of one baseline of signals and of one per rule, over the steps."""
    shown: dict[str, Callable[[StepRecord], float]] = {
        "global": lambda r: r.error_global,
        "rule": lambda r: r.error_by_rule,
    }
    return tuple(
        [
            Panel(
                label,
                "error of the baseline",
                {name: band([step_curve(log, value) for log in logs], window=window) for name, value in shown.items()},
            )
            for label, logs in runs.items()
        ]
    )


def signal_panels(runs: Runs, *, window: int = WINDOW) -> tuple[Panel, ...]:
    """For each label the shares of the four signals among the actions of rollouts."""

    def share(signal: str) -> Callable[[StepRecord], float]:
        return lambda record: record.signals[signal]

    return tuple(
        [
            Panel(
                label,
                "share of actions",
                {s: band([step_curve(log, share(s)) for log in logs], window=window) for s in SIGNALS},
                stacked=True,
            )
            for label, logs in runs.items()
        ]
    )


def drift_panels(runs: Runs, *, decay: float = DECAY) -> tuple[Panel, ...]:
    """Drift of the policy: length of responses, distance from the reference policy, entropy, as moving averages."""
    shown: tuple[tuple[str, str, Callable[[StepRecord], float]], ...] = (
        ("response length", "tokens", lambda r: r.tokens),
        ("KL to the reference policy", "nats per response", lambda r: r.kl),
        ("entropy", "nats per token", lambda r: r.entropy),
    )
    return tuple(
        [
            Panel(
                title,
                unit,
                {label: moving([step_curve(log, v) for log in logs], decay=decay) for label, logs in runs.items()},
            )
            for title, unit, v in shown
        ]
    )


def time_panels(runs: Runs, *, window: int = WINDOW) -> tuple[Panel, ...]:
    """Hours per 100 steps, and the share of verification in processor time."""
    return (
        Panel("time", "hours per 100 steps", _over_steps(runs, lambda r: r.seconds.total * 100 / 3600, window)),
        Panel("verification", "share of the step's time", _over_steps(runs, lambda r: r.verification_share, window)),
    )


def _over_steps(runs: Runs, value: Callable[[StepRecord], float], window: int) -> dict[str, Band]:
    return {label: band([step_curve(log, value) for log in logs], window=window) for label, logs in runs.items()}


# -- drawing ----------------------------------------------------------------------------------------------------------


def draw_panels(panels: Sequence[Panel], path: Path) -> None:
    """Write a figure of panels side by side."""
    figure = _figure(len(panels))
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        axes.set(title=panel.title, xlabel="step", ylabel=panel.unit)
        if panel.stacked and panel.lines:
            steps = next(iter(panel.lines.values())).steps
            means = [line.means for line in panel.lines.values()]
            axes.stackplot(steps, means, labels=list(panel.lines), colors=SIGNAL_COLOURS)
        else:
            for label, line in panel.lines.items():
                _draw_line(axes, label, line)
        axes.legend(fontsize="small")
    figure.savefig(path)


def _draw_line(axes: Axes, label: str, line: Band) -> None:
    (drawn,) = axes.plot(line.steps, line.means, label=label)
    low = [mean - below for mean, below in zip(line.means, line.below, strict=True)]
    high = [mean + above for mean, above in zip(line.means, line.above, strict=True)]
    axes.fill_between(line.steps, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)


def draw_centring(errors: Mapping[str, Centring], path: Path) -> None:
    """Write a figure of the centring errors, rule by rule."""
    figure = _figure(2)
    axes = figure.subplots()
    places = list(range(len(errors)))
    axes.barh([p - 0.2 for p in places], [e.by_global for e in errors.values()], 0.4, label="global value")
    axes.barh([p + 0.2 for p in places], [e.by_rule for e in errors.values()], 0.4, label="value of the rule")
    axes.set_yticks(places, [f"{rule} ({error.actions})" for rule, error in errors.items()], fontsize="small")
    axes.invert_yaxis()
    axes.set(title="centring error (actions)", xlabel="root mean square of what is left of a rule's mean signal")
    axes.legend(fontsize="small")
    figure.savefig(path)


def draw_gradients(blocks: Sequence[Block], path: Path) -> None:
    """Write a figure of angles and lengths, layer by module."""
    figure = _figure(4)
    found = findings(blocks)
    shown = [f"{name} {value:.4g}" for name, value in found.items() if value is not None]
    figure.suptitle("gradients of the two terms: " + ", ".join(shown), fontsize="small", wrap=True)
    for axes, (quantity, title) in zip(figure.subplots(1, 4), GRADIENTS.items(), strict=True):
        grid = gradient_grid(blocks, quantity)
        cells = [[float("nan") if cell is None else cell for cell in row] for row in grid.cells]
        most = None if quantity == "ratio" else 180.0
        image = axes.imshow(
            cells, cmap="viridis" if quantity == "ratio" else "coolwarm", vmin=0.0, vmax=most, aspect="auto"
        )
        axes.set_xticks(range(len(grid.modules)), grid.modules, rotation=90, fontsize="x-small")
        axes.set_yticks(range(len(grid.layers)), grid.layers)
        axes.set(title=title, ylabel="layer")
        figure.colorbar(image)
    figure.savefig(path)


def _figure(panels: int) -> Figure:
    return Figure(figsize=(4.5 * panels, 4.0), dpi=120, layout="constrained")  # no pyplot: nothing global, no screen


def draw_runs(runs: Runs, folder: Path, *, window: int = WINDOW) -> tuple[Path, ...]:
    """Write all figures that require only logs. Returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "scores": score_panels(runs),
        "signals": signal_panels(runs, window=window),
        "baselines": baseline_panels(runs, window=window),
        "drift": drift_panels(runs),
        "time": time_panels(runs, window=window),
    }
    for name, panels in figures.items():
        draw_panels(panels, folder / f"{name}.png")
    return tuple([folder / f"{name}.png" for name in figures])


def main() -> None:
    """Write the figures of runs."""
    parser = ArgumentParser(prog="python -m studies.diagnostics", description="Draw the logs of runs.")
    parser.add_argument("runs", nargs="+", help="LABEL=RUN[,RUN…]: folders with a log.jsonl")
    parser.add_argument("--out", type=Path, required=True, help="folder for the figures")
    parser.add_argument(
        "--gradients", type=Path, metavar="PROBLEMS", help="also of the gradients that each trained policy has on these"
    )
    given = parser.parse_args()
    folders: dict[str, list[Path]] = {}
    for argument in given.runs:
        label, _, listed = argument.rpartition("=")
        folders[label or listed] = [Path(folder) for folder in listed.split(",")]
    draw_runs({label: [list(read_log(run / "log.jsonl")) for run in of] for label, of in folders.items()}, given.out)
    if given.gradients is not None:
        _draw_run_gradients(folders, read_problems(given.gradients), given.out)


def _draw_run_gradients(folders: Mapping[str, Sequence[Path]], problems: Mapping[str, Problem], out: Path) -> None:
    """Write a figure and its numbers for the first run of each label, on rollouts of all the problems."""
    from studies.credited import sampled_batch

    for number, (label, (run, *_)) in enumerate(folders.items()):
        config = structs.replace(read_config(run / "config.yaml"), output=str(run))
        batch = sampled_batch(config, list(problems.values()))
        found = blocks(batch.policy.model, batch.rollouts, divisor=batch.divisor, micro=config.batch.micro)
        draw_gradients(found, out / f"gradients-{number}.png")
        numbers = {"label": label, **findings(found), "by block": found}
        (out / f"gradients-{number}.json").write_bytes(msgspec.json.format(msgspec.json.encode(numbers), indent=1))


if __name__ == "__main__":
    main()
