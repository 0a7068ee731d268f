"""The method's figures: the numbers that they show, what is written, and names that could be read as formulas."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from proof_r1_formal.commands.evaluation import evaluate
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation import drawing
from proof_r1_formal.evaluation.assessment import assess, examine_many
from proof_r1_formal.evaluation.curves import Entry, curve_pictures, draw_curves
from proof_r1_formal.evaluation.definition import Key
from proof_r1_formal.evaluation.drawing import (
    LIGHT,
    Curve,
    Picture,
    Point,
    bars,
    lines,
    matrix,
    outcomes,
    scatter,
    stacked,
    write_pictures,
)
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.plots import answer_shares, length_ratios, points, step_shares, study_pictures
from proof_r1_formal.evaluation.study_tables import Results
from proof_r1_formal.rules.catalogue import TRAIN
from tests.build import example_completions, example_problems

ALL, SILENT = Key("$x_{$", "<b>", "all"), Key("$x_{$", "<b>", "silent")
SILENCE = Completion(problem_id="garden/1", completion="I do not know.")


@pytest.fixture(scope="module")
def results() -> Results:
    """The examples, and a system that never answers; the data set has a name that TeX would not read."""
    problems = example_problems()
    examples = example_completions()
    return {
        key: assess(problems, examine_many(problems, given), rules=TRAIN, seen=TRAIN)
        for key, given in ((ALL, examples), (SILENT, [SILENCE]))
    }


@pytest.fixture(scope="module")
def drawn(results: Results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """The files of all figures: drawing them takes seconds."""
    return write_pictures(study_pictures(results), tmp_path_factory.mktemp("figures") / "out")


def texts(path: Path) -> set[str]:
    """The texts in an SVG file."""
    return {found.text or "" for found in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")}


def test_the_numbers_are_those_of_the_scores(results: Results) -> None:
    group = results[ALL].metrics.overall
    answers, steps = answer_shares(group), step_shares(group)
    assert [sum(answers.values()), sum(steps.values())] == pytest.approx([100, 100])
    assert answers["wrong or none"] == pytest.approx(100 * (1 - group.scores[Measure.AVG].value))
    by_rules = group.scores[Measure.RULE_VERIFIED].value
    assert answers["right, every step an instance of its rule"] == pytest.approx(100 * by_rules)
    assert length_ratios(results) == {ALL: group.scores[Measure.LENGTH_RATIO].value, SILENT: 0.0}
    assert [rvr.value for rvr, _ in points(results).values()][1:] == [0.0]  # as the paper defines


def test_each_figure_is_written_for_each_theme_and_format(drawn: tuple[Path, ...]) -> None:
    figures = ("accuracy-rvr", "shares", "length-ratios", "confusion-1-b-all")
    assert {path.name for path in drawn} == {
        f"{name}{theme}.{suffix}" for name in figures for theme in ("", "-dark") for suffix in ("svg", "png")
    }
    for path in drawn:
        assert path.read_bytes().startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")
    out = drawn[0].parent
    assert {"$x_{$", "<b> / all", "RVR (%)"} <= texts(out / "accuracy-rvr.svg")
    light, dark = ((out / f"shares{theme}.svg").read_text(encoding="utf-8") for theme in ("", "-dark"))
    assert LIGHT.page in light
    assert LIGHT.page not in dark


def test_equal_numbers_give_equal_files(results: Results, drawn: tuple[Path, ...], tmp_path: Path) -> None:
    again = write_pictures(study_pictures(results), tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in drawn]


def test_without_matplotlib_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "find_spec", lambda _: None)
    with pytest.raises(ProofR1Error, match="pip install 'proof-r1-formal\\[plots\\]'"):
        evaluate(tmp_path / "absent", [tmp_path / "absent"], plots=tmp_path / "out")


def test_a_cell_has_its_count_and_share(tmp_path: Path) -> None:
    counts = {("yes", "yes"): 6, ("no", "yes"): 1, ("other", "no"): 1}
    write_pictures({"pair": outcomes("t", "z3", "cvc5", ["yes", "no", "other"], counts)}, tmp_path)
    assert {"6", "75.0 %", "12.5 %", "0.0 %", "z3", "cvc5"} <= texts(tmp_path / "pair.svg")


def test_a_picture_without_counts_can_be_drawn(tmp_path: Path) -> None:
    nothing = outcomes("t", "a", "b", ["yes", "no"], {})
    write_pictures({"pair": nothing, "line": lines("step", {"y": {"": Curve([], [])}})}, tmp_path)
    assert {"0", "0.0 %"} <= texts(tmp_path / "pair.svg")


def test_a_count_stands_in_the_middle_of_its_cell() -> None:
    counts = {("yes", "no"): 3, ("no", "no"): 1}
    (axes,) = outcomes("pair", "z3", "cvc5", ["yes", "no"], counts)(LIGHT).axes
    assert (axes.get_title(), axes.get_ylabel(), axes.get_xlabel()) == ("pair", "z3", "cvc5")
    shown = {text.get_position(): text.get_text().split("\n")[0] for text in axes.texts}
    assert shown == {(0, 0): "0", (1, 0): "3", (0, 1): "0", (1, 1): "1"}  # column, row
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert {(cell.get_x() + 0.5, cell.get_y() + 0.5) for cell in cells} == shown.keys()


def test_a_single_contradiction_is_seen() -> None:
    counts = {("yes", "yes"): 9_998, ("yes", "no"): 1, ("open", "yes"): 1}
    (axes,) = outcomes("pair", "z3", "cvc5", ["yes", "no", "open"], counts)(LIGHT).axes
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    shades = {(cell.get_x() + 0.5, cell.get_y() + 0.5): cell.get_alpha() for cell in cells if cell.get_fill()}
    assert shades[0, 0] == pytest.approx(0.5, abs=1e-3)
    assert shades[1, 0] == pytest.approx(0.4, abs=1e-2)
    assert shades[0, 2] == pytest.approx(0.08, abs=1e-2)
    assert shades[2, 2] == 0.0


def test_rows_and_columns_of_a_matrix_are_named() -> None:
    (axes,) = matrix("rules", "declared", "actual", ["A", "B"], ["C"], [[2], [0]])(LIGHT).axes
    assert (axes.get_title(), axes.get_ylabel(), axes.get_xlabel()) == ("rules", "declared", "actual")
    assert {text.get_position(): text.get_text() for text in axes.texts} == {(0, 0): "2"}
    named = [[label.get_text() for label in of] for of in (axes.get_yticklabels(), axes.get_xticklabels())]
    assert named == [["A", "B"], ["C"]]
    assert axes.images[0].get_clim() == (0, 4)  # at most half of the colour
    (empty,) = matrix("rules", "declared", "actual", ["A"], ["C"], [[0]])(LIGHT).axes
    assert empty.images[0].get_clim() == (0, 1)


@pytest.mark.parametrize("count", [1, 2])
def test_parts_stand_beside_each_other_from_the_top(count: int) -> None:
    rows = {"first": {"x": 25.0, "y": 75.0}, "second": {"x": 60.0, "y": 40.0}}
    panels = {f"share {n} (%)": rows for n in range(count)}
    drawn = stacked(panels)(LIGHT).axes
    assert [axes.get_xlabel() for axes in drawn] == list(panels)
    for axes in drawn:
        bars_ = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        assert [(bar.get_x(), bar.get_width()) for bar in bars_] == [(0, 25), (0, 60), (25, 75), (60, 40)]
        assert axes.yaxis_inverted()
        assert axes.get_legend_handles_labels()[1] == ["x", "y"]


def test_bars_have_their_numbers_and_a_mark() -> None:
    (axes,) = bars("n", {"a": {"one": 1.5, "two": 3.0}, "b": {"one": 0.25, "two": 2.0}}, mark=1.0)(LIGHT).axes
    assert [text.get_text() for text in axes.texts] == ["1.5", "0.2", "3.0", "2.0"]
    assert [np.asarray(line.get_xdata()).tolist() for line in axes.get_lines()] == [[1.0, 1.0]]
    assert (axes.get_xlabel(), [label.get_text() for label in axes.get_yticklabels()]) == ("n", ["a", "b"])


LINE = Curve([0, 1], [0.0, 1.0])
SIZES: dict[str, tuple[Picture, tuple[float, float]]] = {
    "outcomes": (outcomes("title", "first", "second", "abc", {}), (1.7 + 3 * 1.15, 1.2 + 3)),
    "matrix": (matrix("title", "rows", "columns", "ab", "abcd", [[1] * 4] * 2), (4.5 + 4 * 0.45, 3.6 + 2 * 0.35)),
    "stacked": (stacked({panel: {key: {"part": 1.0} for key in "abc"} for panel in "xy"}), (12.5, 1.8 + 3 * 0.35)),
    "bars": (bars("label", {key: {"x": 1.0, "y": 2.0} for key in "abc"}), (7.5, 1.3 + 3 * 0.54)),
    "scatter": (scatter("x", "y", {key: [Point("p", 0, 0)] for key in "ab"}, (0, 1)), (9.6, 4.2)),
    "lines": (lines("x", {key: {"one": LINE} for key in "abcd"}), (12.6, 5.8)),
    "two columns": (lines("x", {key: {"one": LINE} for key in "abcd"}, columns=2), (8.4, 5.8)),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_picture_has_room_for_its_rows_and_panels(name: str) -> None:
    """Its size in inches."""
    picture, size = SIZES[name]
    assert tuple(picture(LIGHT).get_size_inches()) == pytest.approx(size)


def test_a_band_has_the_colour_of_its_curve() -> None:
    curves = {"plain": Curve([0, 1], [1, 2]), "with a band": Curve([0, 1], [3, 5], [0.5, 1.0])}
    (axes,) = lines("step", {"y": curves})(LIGHT).axes
    (band,) = axes.collections
    assert tuple(np.asarray(band.get_facecolor())[0][:3]) == to_rgb(axes.get_lines()[1].get_color())
    (path,) = band.get_paths()
    assert {tuple(point) for point in np.asarray(path.vertices).tolist()} == {(0, 2.5), (0, 3.5), (1, 4), (1, 6)}


def test_a_system_of_which_nothing_is_counted_is_in_no_picture(results: Results) -> None:
    nothing = {Key("d", "b", "m"): assess({}, [])}
    assert points(nothing) == {}
    assert list(study_pictures(nothing)) == ["shares"]
    assert points({**results, **nothing}) == points(results)


# -- curves of training -----------------------------------------------------------------------------------------------

LOG: list[Entry] = [
    {
        "step": 1,
        "loss": 0.5,
        "kl": 0.0,
        "entropy": 1.0,
        "proof/FVR": 0.2,
        "proof/RVR": 0.1,
        "completions/mean_length": 90,
    },
    {"step": 2, "loss": float("nan"), "kl": 0.1, "entropy": 0.9, "proof/FVR": 0.4, "proof/RVR": 0.3, "name": "text"},
    {"step": 2, "eval_avg": 0.5, "eval_pass": 0.75},
    {"train_runtime": 3.0},
]


def test_curves_show_the_quantities_of_the_log(tmp_path: Path) -> None:
    assert list(curve_pictures(LOG)) == ["training", "evaluation"]
    assert draw_curves(LOG, tmp_path)
    assert {"FVR", "RVR", "KL to the reference (nats)", "entropy (nats)", "loss", "update"} <= texts(
        tmp_path / "training.svg"
    )
    assert {"Avg@K", "Pass@K", "accuracy"} <= texts(tmp_path / "evaluation.svg")
    assert "gradient norm" not in texts(tmp_path / "training.svg")
    assert curve_pictures([]) == {}


def test_a_value_that_is_no_number_is_not_drawn() -> None:
    figure = curve_pictures(LOG)["training"](LIGHT)
    drawn = {
        axes.get_ylabel(): [np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()] for axes in figure.axes
    }
    assert drawn["loss"] == [[0.5]]
    assert drawn["FVR, RVR"] == [[0.2, 0.4], [0.1, 0.3]]


def test_without_matplotlib_no_curve_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "find_spec", lambda _: None)
    assert not draw_curves(LOG, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("series", ["x", "xy", "xyz"])
def test_series_are_named_where_there_are_several(series: str) -> None:
    (axes,) = bars("label", {"row": dict.fromkeys(series, 1.0)})(LIGHT).axes
    legend = axes.get_legend()
    named = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    assert named == ([*series] if len(series) > 1 else [])
