"""The pictures of ``docs/concepts.md``; run it to write them: ``python docs/pictures/draw.py [FOLDER]``.

The two graphs are drawn from the verifier's report on a trace. Colours follow the
reader's light or dark scheme.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from proof_r1_formal import Premise, Problem, parse_formula, show, three_way_options, verify

PROBLEM = Problem(
    id="pets/2",
    premises=(
        Premise("h1", parse_formula("cat(tom) ⊕ dog(tom)")),
        Premise("h2", parse_formula("∀x (barks(x) → dog(x))")),
        Premise("h3", parse_formula("barks(tom)")),
        Premise("h4", parse_formula("∀x (dog(x) → loyal(x))")),
    ),
    options=three_way_options(parse_formula("cat(tom)")),
    answer="h_goal_false",
)
COMPLETION = """<summary>[
  {"id": "s1", "dependencies": ["h2", "h3"], "conclusion": "dog(tom)", "rule": "IMPLICATION_ELIMINATION"},
  {"id": "s2", "dependencies": ["h1", "s1"], "conclusion": "¬cat(tom)", "rule": "EXCLUSIVE_DISJUNCTION_ELIMINATION"},
  {"id": "s3", "dependencies": ["h4", "s1"], "conclusion": "loyal(tom)", "rule": "IMPLICATION_ELIMINATION"},
  {"id": "s4", "dependencies": ["h3"], "conclusion": "cat(tom)", "rule": "DISJUNCTIVE_SYLLOGISM"},
  {"id": "h_goal_false", "dependencies": ["s2"], "conclusion": "¬cat(tom)", "rule": "GOAL_BINDING"}]</summary>"""
PLACES = {
    "h1": (110, 45),
    "h2": (110, 125),
    "h3": (110, 205),
    "h4": (110, 300),
    "s1": (335, 155),
    "s2": (565, 90),
    "s3": (565, 285),
    "s4": (335, 225),
    "h_goal_false": (795, 90),
}

STYLE = """
  .page { fill: #ffffff } .edge { stroke: #59636e; fill: none; stroke-width: 1.5 } .tip { fill: #59636e }
  text { fill: #1f2328; font-family: sans-serif; font-size: 13px; text-anchor: middle }
  .small { font-size: 11px; fill: #59636e } .faint { opacity: .45 }
  .plain { fill: #f6f8fa; stroke: #818b98 } .blue { fill: #ddf4ff; stroke: #0969da }
  .good { fill: #dafbe1; stroke: #1a7f37 } .bad { fill: #ffebe9; stroke: #cf222e }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #f0f6fc } .small, .tip { fill: #9198a1 } .edge { stroke: #9198a1 }
    .plain { fill: #212830; stroke: #656c76 } .blue { fill: #121d2f; stroke: #4493f8 }
    .good { fill: #12361f; stroke: #3fb950 } .bad { fill: #3c1618; stroke: #f85149 }
  }
"""


@dataclass(frozen=True, slots=True)
class Box:
    """A labelled rectangle.

    Attributes:
        x, y: its centre.
        lines: what it says; lines after the first are small.
        kind: classes of ``STYLE``.
        faint: whether it is in the background.
    """

    x: float
    y: float
    lines: tuple[str, ...]
    kind: str = "plain"
    width: float = 150
    faint: bool = False

    @property
    def height(self) -> float:
        """In pixels."""
        return 16 + 17 * len(self.lines)

    def svg(self) -> str:
        """The rectangle and its lines."""
        left, top = self.x - self.width / 2, self.y - self.height / 2
        size = f'width="{self.width:g}" height="{self.height:g}"'
        texts = [
            f'<text class="{"small" if n else "large"}" x="{self.x:g}" y="{top + 20 + 17 * n:g}">{escape(line)}</text>'
            for n, line in enumerate(self.lines)
        ]
        group = '<g class="faint">' if self.faint else "<g>"
        return "\n".join((group, f'<rect class="{self.kind}" x="{left:g}" y="{top:g}" {size} rx="6"/>', *texts, "</g>"))


def arrow(start: Box, end: Box, *, down: bool = False, faint: bool = False) -> str:
    """From the right (or, ``down``, the lower) side of a box to the left (upper) one of another."""
    if down:
        x1, y1, x2, y2 = start.x, start.y + start.height / 2, end.x, end.y - end.height / 2 - 6
        bend = f"M{x1:g} {y1:g} C{x1:g} {(y1 + y2) / 2:g} {x2:g} {(y1 + y2) / 2:g} {x2:g} {y2:g}"
    else:
        x1, y1, x2, y2 = start.x + start.width / 2, start.y, end.x - end.width / 2 - 6, end.y
        bend = f"M{x1:g} {y1:g} C{(x1 + x2) / 2:g} {y1:g} {(x1 + x2) / 2:g} {y2:g} {x2:g} {y2:g}"
    return f'<path class="edge{" faint" if faint else ""}" marker-end="url(#tip)" d="{bend}"/>'


def page(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    """A whole picture."""
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path class="tip" d="M0 0L8 4L0 8z"/></marker>'
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{escape(title)}</title>'
    back = f'<rect class="page" width="{width}" height="{height}" rx="8"/>'
    return "\n".join((head, f"<style>{STYLE}</style>", f"<defs>{tip}</defs>", back, *parts, "</svg>\n"))


def graph(title: str, *, closure: bool) -> str:
    """Premises and actions of the trace, an arrow from each dependency; ``closure`` makes faint what is outside it."""
    report = verify(PROBLEM, COMPLETION)
    boxes, edges = {}, []
    for premise in PROBLEM.premises:
        outside = closure and premise.id not in report.closure
        boxes[premise.id] = Box(*PLACES[premise.id], (f"{premise.id}: {show(premise.formula)}",), "plain", 190, outside)
    for step in report.actions:
        assert step.id is not None and step.declared_rule is not None
        outside = closure and step.id not in report.closure
        said = (f"{step.id}: {step.conclusion}", step.declared_rule.replace("_", " ").lower())
        boxes[step.id] = Box(*PLACES[step.id], said, "good" if step.signal == 1 else "bad", 190, outside)
        edges += [arrow(boxes[one], boxes[step.id], faint=outside) for one in step.dependencies]
    return page(title, 905, 335, [*edges, *(box.svg() for box in boxes.values())])


def checks() -> str:
    """The checks of an action, their order, and the resulting signal."""
    asked = [
        Box(110, 60, ("schema", "well formed?"), "blue"),
        Box(310, 60, ("semantic", "entailed by what", "was admitted before?"), "blue"),
        Box(510, 60, ("rule", "an instance of the", "rule that it names?"), "blue"),
        Box(710, 60, ("progress", "anything new?"), "blue"),
    ]
    signals = [
        Box(110, 165, ("signal 0",), "bad", 90),
        Box(310, 165, ("signal 0.1",), "bad", 90),
        Box(510, 165, ("signal 0.3",), "plain", 90),
        Box(710, 165, ("signal 0.3",), "plain", 90),
        Box(890, 60, ("signal 1",), "good", 90),
    ]
    line = [*asked, signals[-1]]
    parts = [arrow(one, other) for one, other in pairwise(line)]
    parts += [arrow(one, other, down=True) for one, other in zip(asked, signals, strict=False)]
    parts += [f'<text class="small" x="{one.x + 18:g}" y="128">no</text>' for one in asked]
    parts += [f'<text class="small" x="{one.x + 95:g}" y="50">yes</text>' for one in asked]
    return page("The four checks of an action", 955, 205, [*parts, *(box.svg() for box in (*asked, *signals))])


def loop() -> str:
    """From problems to an update of the policy, and round again."""
    steps = [
        Box(100, 55, ("problem", "premises and options")),
        Box(300, 55, ("policy", "samples K completions"), "blue"),
        Box(500, 55, ("verifier", "four verdicts an action"), "good"),
        Box(700, 55, ("closure", "which actions count"), "good"),
        Box(700, 160, ("credit", "an advantage an action")),
        Box(500, 160, ("alignment", "actions to tokens")),
        Box(300, 160, ("loss", "clipped, KL to reference")),
    ]
    across = [arrow(one, other) for one, other in pairwise(steps[:4])]
    back = [
        f'<path class="edge" marker-end="url(#tip)" d="M{one.x - 75:g} 160 H{other.x + 81:g}"/>'
        for one, other in pairwise(steps[4:])
    ]
    up = f'<path class="edge" marker-end="url(#tip)" d="M300 {160 - 25} V{55 + 25 + 6}"/>'
    update = '<text class="small" x="334" y="111">update</text>'
    parts = [*across, arrow(steps[3], steps[4], down=True), *back, up, update]
    return page("The training loop", 800, 205, [*parts, *(box.svg() for box in steps)])


def pictures() -> dict[str, str]:
    """File name -> picture."""
    return {
        "checks.svg": checks(),
        "graph.svg": graph("A proof graph", closure=False),
        "closure.svg": graph("The closure of an answer", closure=True),
        "loop.svg": loop(),
    }


def main() -> None:
    """Write the pictures to the folder that is named, or beside this file."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    for name, picture in pictures().items():
        (folder / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
