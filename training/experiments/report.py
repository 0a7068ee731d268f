"""What came out: the scores of all runs to tables, their logs to figures.

In: an experiment whose runs are done. Out: ``tiny.md`` with a table for each study, group of problems and decoding, and
PNG files beside it. Cells are means over seeds, ± the standard deviation (n - 1) over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from msgspec import structs

from proof_r1_formal import read_problems
from proof_r1_formal.metrics.measures import Estimate, Measure
from proof_r1_formal.metrics.tables import Cell, Column, Style, Table, to_markdown
from training.centring import centring
from training.common.logs import read_log
from training.config import Config
from training.diagnostics import Runs, draw_centring, draw_gradients, draw_runs
from training.experiments.credited import sampled_batch, signals_of
from training.experiments.plan import STUDIES, Experiment, StudyName
from training.experiments.runs import DECODINGS, GROUPS, Scored, next_model, read_scores
from training.gradients import blocks

COLUMNS: Mapping[Column, Callable[[Scored], float]] = {
    Column("Avg (%)", Style.PERCENT): lambda s: s.measures[Measure.AVG],
    Column("Pass (%)", Style.PERCENT): lambda s: s.measures[Measure.PASS],
    Column("FVR (%)", Style.PERCENT): lambda s: s.measures[Measure.FVR],
    Column("RVR (%)", Style.PERCENT): lambda s: s.measures[Measure.RVR],
    Column("RGD", Style.RATIO): lambda s: s.measures[Measure.RGD],
    Column("right and rule-verified (%)", Style.PERCENT): lambda s: s.measures[Measure.RULE_VERIFIED],
    Column("parsed (%)", Style.PERCENT): lambda s: s.measures[Measure.PARSED],
    Column("actions", Style.LENGTH): lambda s: s.actions,
    Column("closure", Style.LENGTH): lambda s: s.closure,
    Column("entropy", Style.RATIO): lambda s: s.entropy,
}

EVERY = 4
"""Rollouts of every fourth step are looked at for the centring error: they are verified again."""

Results = Mapping[str, Sequence[Mapping[str, Mapping[str, Scored]]]]
"""Method -> the scores of each seed, by decoding and group."""


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and standard deviation over seeds; no deviation of a single one."""
    return Estimate(fmean(values), sum(values), len(values), stdev(values) if len(values) > 1 else None)


def table(title: str, results: Results, decoding: str, group: str) -> Table:
    """The methods side by side on one group of problems."""

    def row(method: str) -> tuple[Cell, ...]:
        scores = [seed[decoding][group] for seed in results[method]]
        return (method, *[estimate([value(score) for score in scores]) for value in COLUMNS.values()])

    return Table(title, (Column("method", Style.TEXT), *COLUMNS), tuple(map(row, results)))


def gains(results: Results, *, group: str = "easy to hard", decoding: str = "sampled") -> dict[str, float]:
    """By how many points ``proof_r1`` is above its warm-up and above the other methods, on average over seeds."""

    def mean(method: str, measure: Measure) -> float:
        return 100 * fmean([seed[decoding][group].measures[measure] for seed in results[method]])

    return {
        "FVR above the warm-up": mean("proof_r1", Measure.FVR) - mean("warm-up", Measure.FVR),
        "RVR above the warm-up": mean("proof_r1", Measure.RVR) - mean("warm-up", Measure.RVR),
        **{
            f"RVR above {method}": mean("proof_r1", Measure.RVR) - mean(method, Measure.RVR)
            for method in results
            if method not in ("warm-up", "proof_r1")
        },
    }


# -- files ------------------------------------------------------------------------------------------------------------


def write_report(experiment: Experiment, starts: Mapping[StudyName, Config], folder: Path) -> tuple[Path, ...]:
    """Write all tables and figures; returns the files.

    Args:
        experiment: all of whose runs are done.
        starts: the warm-up that each study started from.
        folder: where to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts: list[str] = []
    figures: list[Path] = []
    for study in STUDIES:
        results = _results(experiment, study, starts[study])
        texts += _section(study, results)
        figures += _figures(experiment, study, starts[study], folder)
    path = folder / "tiny.md"
    path.write_text("\n".join(texts), encoding="utf-8")
    return (path, *figures)


def _section(study: StudyName, results: Results) -> Iterable[str]:
    yield f"## {study}\n"
    for name, points in gains(results).items():
        yield f"* proof_r1, {name}, easy to hard, sampled: {points:+.1f} points"
    yield ""
    for decoding, (_, samples) in DECODINGS.items():
        for group in GROUPS:
            yield to_markdown(table(f"{study}: {group}, {decoding}, K = {samples}", results, decoding, group))


def _results(experiment: Experiment, study: StudyName, start: Config) -> Results:
    runs = {
        method: [_folder(experiment, study, method, s) for s in experiment.sizes.seeds]
        for method in experiment.compared
    }
    return {"warm-up": [read_scores(Path(start.output))], **{m: [read_scores(f) for f in fs] for m, fs in runs.items()}}


def _folder(experiment: Experiment, study: StudyName, method: str, seed: int) -> Path:
    return Path(experiment.output) / study / f"{method}-{seed}"


def _figures(experiment: Experiment, study: StudyName, start: Config, folder: Path) -> Iterable[Path]:
    runs: Runs = {
        method: [
            list(read_log(_folder(experiment, study, method, seed) / "log.jsonl")) for seed in experiment.sizes.seeds
        ]
        for method in experiment.compared
        if method != "sft"  # it has no rollouts; its scores are in the tables
    }
    yield from draw_runs(runs, folder / study)
    run = structs.replace(
        experiment.methods,
        output=str(_folder(experiment, study, "proof_r1", experiment.sizes.seeds[0])),
        model=next_model(start),
    )
    problems = read_problems(Path(experiment.output) / "problems" / f"{study}.jsonl")
    files = sorted((Path(run.output) / "rollouts").glob("*.jsonl"))[::EVERY]
    draw_centring(centring(signals_of(files, problems, run)), folder / study / "centring.png")
    yield folder / study / "centring.png"
    few = list(problems.values())[: run.batch.mini]
    for name, config in (("before", start), ("after", run)):
        path = folder / study / f"gradients-{name}.png"
        found = sampled_batch(config, few)
        draw_gradients(blocks(found.policy.model, found.rollouts, divisor=found.divisor), path)
        yield path
