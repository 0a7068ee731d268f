"""A pair of backends as a picture: the 3 × 3 table of their outcomes, as an SVG file that needs nothing else.

In: names and counts. Out: the text of the picture, for a light page or a dark one as the reader's system is set: it
brings its own background, and cells are tinted so lightly that the numbers in them are always readable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import sqrt

_CELL, _LEFT, _TOP = 118, 150, 92
_LONGEST = 42  # characters of a name that fit

_STYLE = """
  .page { fill: #ffffff } text { fill: #1f2328; font-family: sans-serif; font-size: 14px } .number { font-size: 18px }
  .small { font-size: 12px } .agree { fill: #1a7f37 } .differ { fill: #d1242f } .open { fill: #9a6700 }
  .line { fill: none; stroke: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #f0f6fc } .line { stroke: #3d444d }
    .agree { fill: #3fb950 } .differ { fill: #f85149 } .open { fill: #d29922 }
  }
"""


def heatmap(first: str, second: str, labels: Sequence[str], counts: Mapping[tuple[str, str], int]) -> str:
    """The picture of a pair.

    Args:
        first, second: names of the backends; the first one's outcomes are the rows.
        labels: the outcomes in order, the last one being that neither yes nor no was said.
        counts: how often the first said one and the second the other; what is absent is 0.
    """
    total = sum(counts.values())
    width, height = _LEFT + len(labels) * _CELL + 20, _TOP + len(labels) * _CELL + 20
    columns, rows = (escape(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…") for name in (second, first))
    middle = _TOP + len(labels) * _CELL / 2
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(first)} and {escape(second)} on {total} actions</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="8"/>',
        f'<text x="{_LEFT + len(labels) * _CELL / 2:g}" y="34" text-anchor="middle">{columns}</text>',
        f'<text transform="translate(34 {middle:g}) rotate(-90)" text-anchor="middle">{rows}</text>',
    ]
    for index, label in enumerate(labels):
        centre = (index + 0.5) * _CELL
        shown = escape(label)
        lines.append(f'<text class="small" x="{_LEFT + centre:g}" y="{_TOP - 14}" text-anchor="middle">{shown}</text>')
        lines.append(f'<text class="small" x="{_LEFT - 14}" y="{_TOP + centre + 4:g}" text-anchor="end">{shown}</text>')
    for row, mine in enumerate(labels):
        for column, theirs in enumerate(labels):
            count = counts.get((mine, theirs), 0)
            colour = "agree" if mine == theirs else "open" if labels[-1] in (mine, theirs) else "differ"
            lines += _cell(_LEFT + column * _CELL, _TOP + row * _CELL, colour, count, count / total if total else 0.0)
    return "\n".join([*lines, "</svg>", ""])


def _cell(x: int, y: int, colour: str, count: int, share: float) -> list[str]:
    least = 0.35 if colour == "differ" else 0.08  # a single contradiction is to be seen
    opacity = least + (0.45 - least) * sqrt(share) if count else 0.0  # no more, or the number could not be read
    middle, box = x + _CELL / 2, f'x="{x}" y="{y}" width="{_CELL}" height="{_CELL}"'
    return [
        f'<rect class="{colour}" fill-opacity="{opacity:.3f}" {box}/>',
        f'<rect class="line" {box}/>',
        f'<text class="number" x="{middle:g}" y="{y + 58}" text-anchor="middle">{count}</text>',
        f'<text class="small" x="{middle:g}" y="{y + 80}" text-anchor="middle">{100 * share:.1f} %</text>',
    ]
