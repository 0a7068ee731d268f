"""Tables in a terminal: they fit, words stay whole, and nothing is lost, whatever the columns are."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from proof_r1_formal.evaluation.measures import Estimate
from proof_r1_formal.evaluation.tables import Cell, Column, Mark, Style, Table
from proof_r1_formal.evaluation.terminal import to_rich
from proof_r1_formal.rules.catalogue import COMPLETE

WORDS = st.lists(st.text("abcXYZ_-/.é語", min_size=1, max_size=9), min_size=1, max_size=4).map(" ".join)
SCORE = Estimate(0.917, 11, 12, interval=(0.75, 1.0))


def shown(table: Table, width: int, *, wide: bool = False) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(to_rich(table, wide=wide))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@given(
    st.lists(WORDS, min_size=1, max_size=3),
    st.lists(WORDS, min_size=1, max_size=9),
    st.lists(WORDS, min_size=1, max_size=3),
    st.integers(80, 130),
)
def test_tables_fit_and_keep_words_whole(keys: list[str], values: list[str], names: list[str], width: int) -> None:
    heads = [Column(f"{n} {key}", Style.TEXT) for n, key in enumerate(keys)]
    columns = (*heads, *[Column(f"{n} {value} (%)", Style.PERCENT) for n, value in enumerate(values)])
    rows: list[tuple[Cell, ...]] = [
        (*[f"{name} {n}" for n in range(len(keys))], *[SCORE] * len(values)) for name in names
    ]
    text = shown(Table("title", columns, tuple(rows)), width)
    assert max(map(len, text.splitlines())) <= width
    found = text.split()
    wanted = {word for column in columns for word in column.name.replace("(%)", "%").split()}
    wanted |= {word for row in rows for cell in row if isinstance(cell, str) for word in cell.split()}
    assert wanted <= set(found)
    assert [found.count(of) for of in ("91.7", "[75.0,", "100.0]")] == [len(names) * len(values)] * 3


def test_columns_that_do_not_fit_follow_below_with_their_rows() -> None:
    values = tuple([Column(f"data set {n}: FVR (%)", Style.PERCENT) for n in range(9)])
    rows = tuple([(name, *[Estimate(n / 10, n, 10) for n in range(9)]) for name in ("first", "second")])
    text = shown(Table("Rates", (Column("system", Style.TEXT), *values), rows, {(0, 1): Mark.BEST}), 36)
    parts = text.split("Rates")[1:]
    assert [part.split("\n")[0].strip() for part in parts] == ["", *["(continued)"] * (len(parts) - 1)]
    assert len(parts) == 3
    for part in parts:
        assert part.count("system") == part.count("first") == part.count("second") == 1
    assert [text.count(f" {n}0.0 ") for n in range(1, 9)] == [2] * 8


@pytest.mark.parametrize(
    ("width", "name", "pieces"),
    [
        (34, "EXCLUSIVE_DISJUNCTION_ELIMINATION", ["EXCLUSIVE_DISJUNCTION_", "ELIMINATION"]),
        (34, "DeepSeek-R1-Distill-Qwen-1.5B", ["DeepSeek-R1-Distill-", "Qwen-1.5B"]),
        (34, "IMPLICATION_ELIMINATION", ["IMPLICATION_ELIMINATION"]),
        (80, "Qwen3-4B / Proof-R1 hardened", ["Qwen3-4B / Proof-R1 hardened"]),
        (80, "x" * 30, ["x" * 30]),
        (80, "- a- -b- " * 3, ["- a- -b- - a- -b- - a- -b-"]),
    ],
)
def test_long_names_break_after_their_parts(width: int, name: str, pieces: list[str]) -> None:
    text = shown(Table("t", (Column("count", Style.COUNT), Column("name", Style.TEXT)), ((1, name),)), width)
    assert [line.strip().removeprefix("1 ").strip() for line in text.splitlines()[4:-1]] == pieces


def test_names_in_several_columns_break_after_their_parts_where_they_do_not_fit() -> None:
    names = ("BICONDITIONAL_INTRODUCTION", "BICONDITIONAL_ELIMINATION", "REPLACEMENT_OFEQUIVALENTS")
    table = Table("t", tuple([Column(f"n{n}", Style.TEXT) for n in range(len(names))]), (names,))
    whole = sum(map(len, names)) + 2 * len(names) + 1
    for width in range(whole - 9, whole + 2):
        lines = [line.split() for line in shown(table, width).splitlines()[4:-1]]
        broken = [[f"{part}_", rest] for part, rest in (name.split("_") for name in names)]
        assert lines == ([[*names]] if width >= whole else [list(line) for line in zip(*broken, strict=True)])


def rules_table(*counts: str) -> Table:
    names = [rule.name for rule in COMPLETE.rules]
    columns = (Column("rule", Style.TEXT), *[Column(count, Style.COUNT) for count in counts])
    return Table("t", columns, tuple([(name, *[12345] * len(counts)) for name in names]))


def test_names_of_rules_stay_on_one_line_in_a_pipe() -> None:
    lines = shown(rules_table("steps", "schema", "semantic", "rule holds"), 80).splitlines()
    rows = [line for line in lines if "12345" in line]
    assert [row.split()[0] for row in rows] == [rule.name for rule in COMPLETE.rules]
    assert all(row.count("12345") == 4 for row in rows)


@given(st.integers(44, 90), st.integers(1, 6))
def test_names_of_rules_take_two_lines_at_most(width: int, counts: int) -> None:
    text = shown(rules_table(*[f"count {n}" for n in range(counts)]), width)
    lines = iter([line.split()[0] for line in text.splitlines() if re.match(r" [A-Z_]+(?!\S)", line)])
    for _ in range(text.count("rule ")):
        for rule in COMPLETE.rules:
            first = next(lines)
            assert rule.name in (first, first + next(lines) if first != rule.name else first)


@pytest.mark.parametrize("width", [1, 5, 20])
def test_a_table_without_room_or_cells_is_shown(width: int) -> None:
    for table in (Table("", (), ()), Table("t", (Column("word", Style.TEXT),), (("",), ("x" * 60,)))):
        assert isinstance(shown(table, width), str)
    assert to_rich(Table("t", (Column("n", Style.COUNT),), ((0,), (1,)))).row_count == 1
    assert to_rich(Table("t", (Column("n", Style.COUNT),), ((0,), (1,))), wide=True).row_count == 2


def test_numbers_stand_to_the_right_and_names_to_the_left() -> None:
    columns = (Column("system", Style.TEXT), Column("FVR (%)", Style.PERCENT), Column("count", Style.COUNT))
    rows = (("short", Estimate(0.5, 1, 2), 7), ("a longer name", Estimate(1.0, 2, 2), 12345))
    lines = [line.rstrip() for line in shown(Table("t", columns, rows), 80).splitlines() if line.strip()]
    assert [line for line in lines if "─" not in line] == [
        "t",
        " system         FVR %  count",
        " short           50.0      7",
        " a longer name  100.0  12345",
    ]


def test_a_row_of_counts_is_shown_unless_all_are_zero() -> None:
    columns = (Column("what", Style.TEXT), Column("one", Style.COUNT), Column("two", Style.COUNT))
    table = Table("title", columns, (("some", 1, 0), ("none", 0, 0), ("both", 2, 3)))
    text = shown(table, 80)
    assert ["some" in text, "none" in text, "both" in text] == [True, False, True]
    assert "none" in shown(table, 80, wide=True)


def test_a_title_with_control_characters_is_shown_without_them() -> None:
    table = Table("red \x1b[31m", (Column("what", Style.TEXT),), (("row",),))
    assert "\x1b" not in shown(table, 80)
