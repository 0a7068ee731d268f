"""Bar charts as SVG files that need nothing else, for a light page or a dark one."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

_LEFT, _TOP, _RIGHT = 300, 64, 70
_BAR, _GAP, _LENGTH = 11, 10, 420

_STYLE = """
  .page { fill: #ffffff } text { fill: #1f2328; font-family: sans-serif; font-size: 12px } .title { font-size: 15px }
  .first { fill: #8c959f } .second { fill: #0969da } .line { stroke: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #f0f6fc } .line { stroke: #3d444d }
    .first { fill: #6e7681 } .second { fill: #4493f8 }
  }
"""


def bars(title: str, rows: Mapping[str, tuple[float, float]], names: tuple[str, str]) -> str:
    """Two bars in every row, to compare shares.

    Args:
        title: stands above.
        rows: label of a row -> the two shares, of 1.
        names: of the first and of the second bars.
    """
    most = max((share for pair in rows.values() for share in pair), default=0.0) or 1.0
    height = _TOP + len(rows) * (2 * _BAR + _GAP) + 20
    width = _LEFT + _LENGTH + _RIGHT
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(title)}: {escape(names[0])} and {escape(names[1])}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="8"/>',
        f'<text class="title" x="20" y="28">{escape(title)}</text>',
    ]
    for place, (style, name) in enumerate(zip(("first", "second"), names, strict=True)):
        lines.append(f'<rect class="{style}" x="{20 + 130 * place}" y="40" width="11" height="11"/>')
        lines.append(f'<text x="{36 + 130 * place}" y="50">{escape(name)}</text>')
    lines.append(f'<line class="line" x1="{_LEFT}" y1="{_TOP}" x2="{_LEFT}" y2="{height - 14}"/>')
    for row, (label, pair) in enumerate(rows.items()):
        top = _TOP + _GAP + row * (2 * _BAR + _GAP)
        lines.append(f'<text x="{_LEFT - 10}" y="{top + _BAR + 4}" text-anchor="end">{escape(label)}</text>')
        for place, (style, share) in enumerate(zip(("first", "second"), pair, strict=True)):
            length, y = _LENGTH * share / most, top + place * _BAR
            lines.append(f'<rect class="{style}" x="{_LEFT}" y="{y}" width="{length:.1f}" height="{_BAR - 1}"/>')
            lines.append(f'<text x="{_LEFT + length + 6:.1f}" y="{y + 9}">{100 * share:.1f} %</text>')
    return "\n".join([*lines, "</svg>", ""])
