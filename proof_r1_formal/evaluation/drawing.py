"""Drawing: one style for all pictures of the package and of the studies, light and dark, as SVG and PNG.

In: names and numbers. Out: a :data:`Picture`, which :func:`write_pictures` draws for each theme and writes in each
format: ``NAME.svg``, ``NAME.png``, ``NAME-dark.svg``, ``NAME-dark.png``. The colours are those of Okabe and Ito, which
readers who do not see red or green tell apart. Equal numbers give equal files. Drawing requires matplotlib (extra
``plots``), which is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.outputs import check_folder, output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vP*X<>"
"""Markers of points, for what colours do not show."""
FORMATS = ("svg", "png")


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture.

    Attributes:
        suffix: of the names of its files.
        page, ink, line: of the background, of text, and of axes and grids.
        colours: of series.
    """

    suffix: str
    page: str
    ink: str
    line: str
    colours: tuple[str, ...]


LIGHT = Theme(
    "", "#ffffff", "#1f2328", "#d1d9e0", ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6e7781")
)
DARK = Theme(
    "-dark",
    "#0d1117",
    "#f0f6fc",
    "#3d444d",
    ("#4ea1d8", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#e8743b", "#9ea7b0"),
)
THEMES = (LIGHT, DARK)

Picture: TypeAlias = "Callable[[Theme], Figure]"
"""Draws a figure in the colours of a theme."""


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def require_drawing() -> None:
    """Check before any work that pictures can be drawn.

    Raises:
        ProofR1Error: matplotlib is not installed.
    """
    if not can_draw():
        raise ProofR1Error("drawing requires matplotlib: pip install 'proof-r1-formal[plots]'")


def picture_files(names: Iterable[str], folder: Path) -> tuple[Path, ...]:
    """The files of pictures, theme by theme, in each format."""
    return tuple([folder / f"{name}{theme.suffix}.{kind}" for name in names for theme in THEMES for kind in FORMATS])


def write_pictures(pictures: Mapping[str, Picture], folder: Path) -> tuple[Path, ...]:
    """Draw pictures for each theme, in each format.

    Args:
        pictures: by the name of the file, without a suffix.
        folder: where to; made if it is not there.

    Returns:
        The files.

    Raises:
        ProofR1Error: matplotlib is not installed.
        DataError: the folder cannot be written to.
    """
    require_drawing()
    from matplotlib import rc_context

    check_folder(folder)
    paths = picture_files(pictures, folder)
    files = iter(paths)
    for picture in pictures.values():
        for theme in THEMES:
            with rc_context(_settings(theme)):
                figure = picture(theme)
                for kind in FORMATS:
                    # without the date and the version, so that equal numbers give equal files
                    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
                    with output(next(files)) as file:
                        figure.savefig(file, format=kind, metadata=metadata)
    return paths


def _settings(theme: Theme) -> dict[Any, Any]:
    from cycler import cycler  # matplotlib requires it

    inked = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.labelcolor", "ytick.labelcolor")
    lined = ("axes.edgecolor", "xtick.color", "ytick.color", "grid.color", "legend.edgecolor")
    paged = ("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor")
    return {
        **dict.fromkeys(inked, theme.ink),
        **dict.fromkeys(lined, theme.line),
        **dict.fromkeys(paged, theme.page),
        "axes.prop_cycle": cycler(color=theme.colours),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "font.family": ["DejaVu Sans"],  # matplotlib brings it
        "font.size": 10,
        "legend.fontsize": "small",
        "legend.frameon": False,
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "proof-r1",
        "text.parse_math": False,  # names may have dollar signs
    }


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # not pyplot: nothing global, no screen

    return Figure(figsize=(width, height), dpi=120, layout="constrained")


# -- pictures ---------------------------------------------------------------------------------------------------------


def outcomes(
    title: str, first: str, second: str, labels: Sequence[str], counts: Mapping[tuple[str, str], int]
) -> Picture:
    """How often one judge says one thing and another judge another: each cell has its count and share.

    Args:
        title: stands above.
        first, second: names of the judges; the first one's outcomes are the rows.
        labels: the outcomes in order; the last one is neither yes nor no.
        counts: by the two outcomes; an absent count is 0.
    """
    total = sum(counts.values())

    def picture(theme: Theme) -> Figure:
        from matplotlib.patches import Rectangle

        blue, red, grey = theme.colours[0], theme.colours[-2], theme.colours[-1]
        figure = _figure(1.7 + 1.15 * len(labels), 1.2 + 1.0 * len(labels))
        axes = figure.subplots()
        for row, mine in enumerate(labels):
            for column, theirs in enumerate(labels):
                count = counts.get((mine, theirs), 0)
                share = count / total if total else 0.0
                colour = blue if mine == theirs else grey if labels[-1] in (mine, theirs) else red
                least = 0.4 if colour == red else 0.08  # a single contradiction is to be seen
                shade = least + (0.5 - least) * sqrt(share) if count else 0.0  # no more, or no number could be read
                corner = (column - 0.5, row - 0.5)
                axes.add_patch(Rectangle(corner, 1, 1, facecolor=colour, alpha=shade, linewidth=0))
                axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=theme.line))
                text = f"{count:,}\n{100 * share:.1f} %"
                axes.text(column, row, text, ha="center", va="center")
        places = range(len(labels))
        axes.set_xticks(places, [*labels], fontsize="small")
        axes.set_yticks(places, [*labels], fontsize="small", rotation=90, va="center")
        axes.tick_params(length=0)
        axes.set(xlim=(-0.5, len(labels) - 0.5), ylim=(len(labels) - 0.5, -0.5), aspect="equal")
        axes.set(xlabel=second, ylabel=first)
        axes.set_title(title, fontsize="medium")
        axes.spines[:].set_visible(False)
        return figure

    return picture


def matrix(
    title: str,
    row_axis: str,
    column_axis: str,
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
) -> Picture:
    """A heat map of counts, rows by columns."""

    def picture(theme: Theme) -> Figure:
        from matplotlib.colors import LinearSegmentedColormap

        figure = _figure(4.5 + 0.45 * len(columns), 3.6 + 0.35 * len(rows))
        axes = figure.subplots()
        most = max((max(line, default=0) for line in counts), default=0)
        colours = LinearSegmentedColormap.from_list("counts", [theme.page, theme.colours[0]])
        axes.imshow(counts, cmap=colours, vmin=0, vmax=2 * most or 1)  # at most half the colour: numbers stay readable
        for row, line in enumerate(counts):
            for column, count in enumerate(line):
                if count:
                    axes.text(column, row, f"{count}", ha="center", va="center", fontsize="small")
        axes.set_xticks(range(len(columns)), [*columns], rotation=90, fontsize="small")
        axes.set_yticks(range(len(rows)), [*rows], fontsize="small")
        axes.set(xlabel=column_axis, ylabel=row_axis)
        axes.set_title(title, fontsize="medium")
        return figure

    return picture


def stacked(panels: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Picture:
    """A bar for each row, its parts beside each other.

    Args:
        panels: the label of the axis of each panel -> row -> part -> length in percent; all panels have the same rows.
    """
    names = list(next(iter(panels.values())))

    def picture(_: Theme) -> Figure:
        figure = _figure(1.5 + 5.5 * len(panels), 1.8 + 0.35 * len(names))
        drawn = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (label, rows) in zip(drawn, panels.items(), strict=True):
            left = [0.0] * len(rows)
            for part in next(iter(rows.values())):
                lengths = [parts[part] for parts in rows.values()]
                axes.barh(range(len(rows)), lengths, left=left, label=part, height=0.7)
                left = [start + length for start, length in zip(left, lengths, strict=True)]
            axes.set_yticks(range(len(names)), names, fontsize="small")
            axes.set(xlabel=label, xlim=(0, 100))
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        drawn[0].invert_yaxis()  # that of all panels: they share it
        return figure

    return picture


def bars(label: str, rows: Mapping[str, Mapping[str, float]], *, mark: float | None = None, digits: int = 1) -> Picture:
    """A group of bars for each row, one for each series, with their numbers.

    Args:
        label: of the axis, with the unit.
        rows: row -> series -> length; all rows have the same series.
        mark: where a line crosses the bars.
        digits: of the numbers after the point.
    """
    series = list(next(iter(rows.values()), {}))

    def picture(theme: Theme) -> Figure:
        figure = _figure(7.5, 1.3 + (0.14 + 0.2 * len(series)) * len(rows))
        axes = figure.subplots()
        height = 0.85 / max(1, len(series))
        for number, name in enumerate(series):
            places = [row + (number - (len(series) - 1) / 2) * height for row in range(len(rows))]
            drawn = axes.barh(places, [row[name] for row in rows.values()], height=0.9 * height, label=name)
            axes.bar_label(drawn, fmt=f"%.{digits}f", padding=3, fontsize="x-small", color=theme.ink)
        axes.set_yticks(range(len(rows)), list(rows), fontsize="small")
        axes.margins(x=0.1)
        axes.invert_yaxis()
        axes.set(xlabel=label)
        if mark is not None:
            axes.axvline(mark, color=theme.ink, linewidth=0.8)
        if len(series) > 1:
            axes.legend(loc="lower right")
        return figure

    return picture


@dataclass(frozen=True, slots=True)
class Point:
    """A point with a name; ``across`` and ``up`` are how far its bars reach, ``colour`` and ``marker`` numbers."""

    name: str
    x: float
    y: float
    across: float = 0.0
    up: float = 0.0
    colour: int = 0
    marker: int = 0


def scatter(x_label: str, y_label: str, panels: Mapping[str, Sequence[Point]], limits: tuple[float, float]) -> Picture:
    """Points with bars for their spread, in panels with the same limits on both axes."""

    def picture(theme: Theme) -> Figure:
        figure = _figure(4.8 * len(panels), 4.2)
        for axes, (title, points) in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
        ):
            for one in points:
                axes.errorbar(
                    one.x,
                    one.y,
                    xerr=one.across,
                    yerr=one.up,
                    marker=MARKERS[one.marker % len(MARKERS)],
                    color=theme.colours[one.colour % len(theme.colours)],
                    linestyle="none",
                    label=one.name,
                )
            axes.grid(linewidth=0.5)
            axes.set(title=title, xlabel=x_label, ylabel=y_label, xlim=limits, ylim=limits)
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14))
        return figure

    return picture


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points; a band of half its width ``around`` them, where there is one."""

    xs: Sequence[float]
    ys: Sequence[float]
    around: Sequence[float] = ()


def lines(
    x_label: str, panels: Mapping[str, Mapping[str, Curve]], *, columns: int = 3, marked: bool = False
) -> Picture:
    """Curves, in panels by the label of their axis; several curves of a panel are named."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)

    def picture(_: Theme) -> Figure:
        figure = _figure(4.2 * columns, 2.9 * rows)
        drawn: list[Axes] = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, (label, curves) in zip(drawn, panels.items(), strict=False):
            for name, curve in curves.items():
                few = marked or len(curve.xs) < 2
                (line,) = axes.plot(curve.xs, curve.ys, marker="o" if few else None, markersize=4, label=name)
                if curve.around:
                    low = [y - half for y, half in zip(curve.ys, curve.around, strict=True)]
                    high = [y + half for y, half in zip(curve.ys, curve.around, strict=True)]
                    axes.fill_between(curve.xs, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
            axes.grid(linewidth=0.5)
            axes.set(xlabel=x_label, ylabel=label)
            if len(curves) > 1:
                axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, columnspacing=1.0)
        for axes in drawn[len(panels) :]:
            axes.set_visible(False)
        return figure

    return picture
