"""The tables and the figure of the study ``gaming``: ``python -m training.experiments.gaming_tables``.

In: the records in ``docs/experiments/gaming``. Out: ``docs/experiments/gaming.md`` and ``gaming/training.png``. The
intervals are those of :mod:`training.experiments.longer_tables`.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path

from proof_r1_formal.metrics.tables import Style, Table, to_markdown
from training.diagnostics import Panel, band, draw_panels
from training.experiments.longer import WARM_UP
from training.experiments.longer_tables import (
    RVR,
    USELESS,
    VERIFIED,
    Arms,
    Score,
    by_arm,
    curve_table,
    differences_table,
    pairs_of,
    per_answer,
    scores_table,
)
from training.experiments.records import EVERY, Record, read_records

PADDED = "paper"
"""The arm that padding is expected under."""
DROPPABLE = Score("droppable", Style.RATIO, lambda o: (o.droppable, o.droppable_of))
"""Per answer that is proved in single steps; there are hardly any to longer problems."""
SCORES = (
    USELESS,
    Score("leaps (%)", Style.PERCENT, lambda o: (o.leaps, per_answer(o))),
    Score("actions", Style.RATIO, lambda o: (o.actions, per_answer(o))),
    Score("tokens", Style.LENGTH, lambda o: (o.tokens, per_answer(o))),
    Score("right (%)", Style.PERCENT, lambda o: (o.right, per_answer(o))),
    VERIFIED,
    RVR,
    Score("parsed (%)", Style.PERCENT, lambda o: (o.parsed, per_answer(o))),
)
FILES = {"short": "Proofs of 1–3 steps", "longer": "Proofs of 4–6 steps"}
CURVES = {
    "useless": ("useless steps", "per answer", Style.RATIO),
    "tokens": ("length", "tokens", Style.LENGTH),
    "leaps": ("leaps to the answer", "share of answers", Style.PERCENT),
    "correct": ("right", "share of answers", Style.PERCENT),
    "rvr": ("RVR", "share of steps", Style.PERCENT),
    "cut": ("cut off", "share of answers", Style.PERCENT),
}
"""Curve -> title, unit and style."""


def differences(arms: Arms) -> Table:
    """Differences of useless steps per sampled answer, and of right and rule-verified answers, with 95 % intervals.

    The arm ``paper`` is compared with all others, and these with the warm-up.
    """
    columns = [
        (f"{name}, {about.lower()}", score, f"{file}/sampled")
        for name, score in (("useless steps", USELESS), ("right and rule-verified, points", VERIFIED))
        for file, about in FILES.items()
    ]
    return differences_table("Differences, sampled", arms, pairs_of(arms, PADDED), columns)


def page(records: Sequence[Record]) -> str:
    """All tables in Markdown."""
    return "\n".join(["# Tables of the study `gaming`", "", *_sections(by_arm(records))])


def _sections(arms: Arms) -> Iterator[str]:
    yield to_markdown(differences(arms))
    for file, about in FILES.items():
        shown = (*SCORES, DROPPABLE) if file == "short" else SCORES
        for decoding in ("sampled", "greedy"):
            yield to_markdown(scores_table(f"{about}, {decoding}", arms, f"{file}/{decoding}", shown))
    for name, (title, unit, style) in CURVES.items():
        yield to_markdown(curve_table(f"{title} ({unit}) by step", arms, name, style))


def panels(records: Sequence[Record]) -> tuple[Panel, ...]:
    """The curves of training: means over each stretch of steps, drawn at its middle."""
    arms = {arm: of for arm, of in by_arm(records).items() if arm != WARM_UP}

    def curve(record: Record, name: str) -> dict[int, float]:
        return {EVERY * place + EVERY // 2: value for place, value in enumerate(record.curve[name])}

    return tuple(
        [
            Panel(title, unit, {arm: band([curve(one, name) for one in of]) for arm, of in arms.items()})
            for name, (title, unit, _) in CURVES.items()
            if name != "cut"
        ]
    )


def main() -> None:
    """Write the page and the figure."""
    parser = ArgumentParser(prog="python -m training.experiments.gaming_tables", description="Make the tables.")
    parser.add_argument("--records", type=Path, default=Path("docs/experiments/gaming"))
    given = parser.parse_args()
    records = read_records(given.records)
    given.records.with_suffix(".md").write_text(page(records), encoding="utf-8")
    draw_panels(panels(records), given.records / "training.png")


if __name__ == "__main__":
    main()
