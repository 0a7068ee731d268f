"""The figures of the method: logs of runs to numbers, and those to PNG.

In: the folders of runs, grouped under labels (for example a method with its seeds). Out: panels with the numbers of a
figure, and files. Pure functions compute all numbers.

``python -m training.diagnostics --out FOLDER LABEL=RUN[,RUN…] …`` writes the figures of any runs.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum, sqrt
from pathlib import Path
from statistics import fmean, pstdev
from typing import Literal, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from training.common.logs import EvaluationRecord, Record, StepRecord, read_log
from training.gradients import Block

Curve: TypeAlias = Mapping[int, float]
"""Step -> value."""
Signal: TypeAlias = tuple[str, float]
"""The declared rule and the signal of an action."""

WINDOW = 10
"""Number of steps over which noisy curves are smoothed."""
SIGNALS = ("0.0", "0.1", "0.3", "1.0")
SIGNAL_COLOURS = ("#b2182b", "#ef8a62", "#fddbc7", "#2166ac")


# -- curves -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Band:
    """A curve with its spread: means and population standard deviations by step."""

    steps: tuple[int, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]


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
        window: so many steps; 1 leaves the curve of a single run as it is.
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
    return Band(tuple(steps), tuple(map(fmean, around)), tuple(map(pstdev, around)))


def score_curve(records: Iterable[Record], score: str) -> Curve:
    """A score over the evaluations of a run."""
    return {r.step: r.scores[score].value for r in records if isinstance(r, EvaluationRecord)}


def step_curve(records: Iterable[Record], value: Callable[[StepRecord], float]) -> Curve:
    """A number over the steps of a run."""
    return {r.step: value(r) for r in records if isinstance(r, StepRecord)}


Runs: TypeAlias = Mapping[str, Sequence[Sequence[Record]]]
"""Label -> logs of the runs that are shown together."""


def score_panels(runs: Runs) -> tuple[Panel, ...]:
    """Accuracy, FVR and RVR in evaluation."""
    titles = {"Avg": "accuracy", "FVR": "FVR", "RVR": "RVR"}
    return tuple(
        [
            Panel(
                title, "share", {label: band([score_curve(log, name) for log in logs]) for label, logs in runs.items()}
            )
            for name, title in titles.items()
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


def drift_panels(runs: Runs, *, window: int = WINDOW) -> tuple[Panel, ...]:
    """Drift of the policy: length of responses, distance from the reference policy, entropy."""
    shown: tuple[tuple[str, str, Callable[[StepRecord], float]], ...] = (
        ("response length", "tokens", lambda r: r.tokens),
        ("KL to the reference policy", "nats per response", lambda r: r.kl),
        ("entropy", "nats per token", lambda r: r.entropy),
    )
    return tuple([Panel(title, unit, _over_steps(runs, value, window)) for title, unit, value in shown])


def time_panels(runs: Runs, *, window: int = WINDOW) -> tuple[Panel, ...]:
    """Hours per 100 steps, and the share of verification in processor time."""
    return (
        Panel("time", "hours per 100 steps", _over_steps(runs, lambda r: r.seconds.total * 100 / 3600, window)),
        Panel("verification", "share of the step's time", _over_steps(runs, lambda r: r.verification_share, window)),
    )


def _over_steps(runs: Runs, value: Callable[[StepRecord], float], window: int) -> dict[str, Band]:
    return {label: band([step_curve(log, value) for log in logs], window=window) for label, logs in runs.items()}


# -- centring ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Centring:
    """The error of a baseline of signals that was estimated on other problems.

    Attributes:
        actions: how many.
        by_global: error of one baseline, the mean of all signals.
        by_rule: error of one baseline per rule, the mean of the rule's signals.
    """

    actions: int
    by_global: float
    by_rule: float


def centring(groups: Sequence[Sequence[Signal]], *, folds: int = 5) -> dict[str, Centring]:
    """The cross-validated error of both baselines, for each rule and (``all``) over all rules.

    Problems are split into folds. The error of a rule in a fold is its mean signal there minus the baseline from the
    other folds. Squared errors are averaged, weighted by actions. A rule that is absent from the other folds gets the
    global baseline.

    Args:
        groups: the actions of each problem's rollouts.
        folds: at least 2.
    """
    errors: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for fold in range(folds):
        known = _by_rule(chain.from_iterable([g for i, g in enumerate(groups) if i % folds != fold]))
        if not known:
            continue
        value = fmean(chain.from_iterable(known.values()))
        for rule, signals in _by_rule(chain.from_iterable(groups[fold::folds])).items():
            mean = fmean(signals)
            own = fmean(known[rule]) if rule in known else value
            errors[rule].append((len(signals), (mean - value) ** 2, (mean - own) ** 2))
    found = {rule: _centring(parts) for rule, parts in sorted(errors.items())}
    return {**found, "all": _centring(list(chain.from_iterable(errors.values())))}


def _by_rule(signals: Iterable[Signal]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for rule, signal in signals:
        found[rule].append(signal)
    return found


def _centring(parts: Sequence[tuple[int, float, float]]) -> Centring:
    actions = sum([count for count, _, _ in parts])
    by_global, by_rule = (sqrt(fsum([part[0] * part[i] for part in parts]) / max(1, actions)) for i in (1, 2))
    return Centring(actions, by_global, by_rule)


# -- gradients --------------------------------------------------------------------------------------------------------

Quantity: TypeAlias = Literal["angle", "verification_to_total", "outcome_to_total", "ratio"]

GRADIENTS: Mapping[Quantity, str] = {
    "angle": "verification and closure (degrees)",
    "verification_to_total": "verification and sum (degrees)",
    "outcome_to_total": "closure and sum (degrees)",
    "ratio": "length, closure / verification",
}
"""The quantities of the gradients of the two terms."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A number for each layer and module; None where there is none.

    Attributes:
        layers, modules: the rows and columns; "–" is the row of what is in no layer.
        cells: row by row.
    """

    layers: tuple[str, ...]
    modules: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]


def gradient_grid(blocks: Sequence[Block], quantity: Quantity) -> Grid:
    """One quantity of all blocks, layer by module."""
    layers = sorted({block.layer for block in blocks if block.layer is not None})
    rows: list[int | None] = [*layers, *([None] if any(block.layer is None for block in blocks) else [])]
    modules = list(dict.fromkeys([block.module for block in blocks]))
    values = {(block.layer, block.module): _quantity(block, quantity) for block in blocks}
    return Grid(
        tuple(["–" if layer is None else str(layer) for layer in rows]),
        tuple(modules),
        tuple([tuple([values.get((layer, module)) for module in modules]) for layer in rows]),
    )


def _quantity(block: Block, quantity: Quantity) -> float | None:
    match quantity:
        case "angle":
            return block.angle
        case "verification_to_total":
            return block.verification_to_total
        case "outcome_to_total":
            return block.outcome_to_total
        case "ratio":
            return block.ratio


def acute(blocks: Sequence[Block]) -> tuple[int, int]:
    """The number of blocks in which the gradients of both terms form an acute angle, and of those in which both are
    nonzero."""
    return sum([block.acute for block in blocks]), sum([block.angle is not None for block in blocks])


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
    low = [mean - deviation for mean, deviation in zip(line.means, line.deviations, strict=True)]
    high = [mean + deviation for mean, deviation in zip(line.means, line.deviations, strict=True)]
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
    together, pulling = acute(blocks)
    figure.suptitle(f"gradients of the two terms: {together} of {pulling} blocks acute")
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
        "drift": drift_panels(runs, window=window),
        "time": time_panels(runs, window=window),
    }
    for name, panels in figures.items():
        draw_panels(panels, folder / f"{name}.png")
    return tuple([folder / f"{name}.png" for name in figures])


def main() -> None:
    """Write the figures of runs."""
    parser = ArgumentParser(prog="python -m training.diagnostics", description="Draw the logs of runs.")
    parser.add_argument("runs", nargs="+", help="LABEL=RUN[,RUN…]: folders with a log.jsonl")
    parser.add_argument("--out", type=Path, required=True, help="folder for the figures")
    given = parser.parse_args()
    runs: dict[str, list[list[Record]]] = {}
    for argument in given.runs:
        label, _, folders = argument.rpartition("=")
        runs[label or folders] = [list(read_log(Path(folder) / "log.jsonl")) for folder in folders.split(",")]
    draw_runs(runs, given.out)


if __name__ == "__main__":
    main()
