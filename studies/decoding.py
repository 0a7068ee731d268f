"""Free, constrained and guided decoding compared at equal sampled tokens.

``python -m studies.decoding --model FOLDER --problems FILE --out FOLDER`` samples from a model that was
trained with the prompt ``question``, and writes a table and a figure. It goes on where it was stopped.

*Free* and *constrained* are the first completion of a problem. *Best of K* draws completions until one is
rule-verified or the budget is spent, and takes the best by the verifier, which does not know the reference answer.
*Guided* does the same with completions in which failing steps are taken back; their tokens count. *Guided, finding*
shows the model each failing step with the reason. *Beam* continues several partial answers after each step.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal, TypeAlias, get_args

import msgspec
import numpy as np
import torch
from rich.console import Console
from transformers import AutoModelForCausalLM, AutoTokenizer

from proof_r1_formal import TRAIN, Problem, TraceReport, Verifier, VerifierSession, evaluate_metrics, read_problems
from proof_r1_formal.decoding.grammar import completion_grammar
from proof_r1_formal.decoding.guide import Feedback, Guide
from proof_r1_formal.decoding.sampler import Decoder, DecodingRequest
from proof_r1_formal.evaluation.drawing import Curve, Picture, lines, write_pictures
from proof_r1_formal.evaluation.measures import Estimate, Measure
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table, to_markdown
from proof_r1_formal.models.prompts import text_prompt
from proof_r1_formal.outputs import LineFile, write_output
from studies.pretrained.speed import register

Encode: TypeAlias = Callable[[str], list[int]]
Kind: TypeAlias = Literal["free", "constrained", "guided", "finding", "beam"]
NAMES: dict[Kind, str] = {
    "free": "free, best of K",
    "constrained": "constrained, best of K",
    "guided": "guided",
    "finding": "guided, finding",
    "beam": "guided, beam",
}
FEEDBACK: dict[Kind, Feedback] = {"finding": "finding"}
PAIRS: tuple[tuple[Kind, Kind], ...] = (
    ("constrained", "free"),
    ("guided", "constrained"),
    ("finding", "guided"),
    ("beam", "guided"),
)
"""What is compared with what."""
AT_ONCE = 64
"""Problems that are sampled together."""
MAX_TOKENS = 224
"""A completion that is not guided is cut there."""
MEASURES = (Measure.AVG, Measure.FVR, Measure.RVR, Measure.RULE_VERIFIED)


class Drawn(msgspec.Struct, frozen=True):
    """A completion.

    Attributes:
        text: of the completion.
        tokens: that were sampled for it.
        whole: whether it ended by itself.
        taken_back: number of steps that were taken back.
        read: tokens of the reasons that the model read.
    """

    text: str
    tokens: int
    whole: bool
    taken_back: int
    read: int


class Line(msgspec.Struct, frozen=True):
    """All completions of a problem, in the order in which they were drawn."""

    problem_id: str
    drawn: tuple[Drawn, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to sample.

    Attributes:
        kind: what guides completions.
        seed: of the random numbers.
        budget: tokens per problem.
        tries: how often a failing step is sampled again before the completion is given up.
        steps: before the binding, at most.
        beam: number of partial answers of the beam.
    """

    kind: Kind
    seed: int
    budget: int
    tries: int
    steps: int
    beam: int


# -- sampling ---------------------------------------------------------------------------------------------------------


class Arm:
    """Draws the completions of one kind with one seed."""

    def __init__(self, decoder: Decoder, encode: Encode, verifier: Verifier, settings: Settings) -> None:
        self._decoder, self._encode, self._verifier, self._settings = decoder, encode, verifier, settings

    def draw(self, problems: Sequence[tuple[int, Problem]]) -> list[Line]:
        """Draw completions of problems until one is rule-verified or the budget is spent; all problems at once.

        Args:
            problems: with their numbers, which the random numbers depend on.
        """
        drawn: dict[str, list[Drawn]] = {problem.id: [] for _, problem in problems}
        left = {problem.id: self._settings.budget for _, problem in problems}
        grammars = {} if self._settings.kind == "free" else {p.id: self._grammar(p) for _, p in problems}
        going = list(problems)
        turn = 0
        while going:
            requests = [self._request(number, p, grammars.get(p.id), left[p.id], turn) for number, p in going]
            for (_, problem), found in zip(going, self._decoder.sample(requests, temperature=1.0), strict=True):
                drawn[problem.id].append(Drawn(found.text, found.tokens, found.whole, len(found.trials), found.read))
                left[problem.id] -= found.tokens
            going = [
                (number, p)
                for number, p in going
                if left[p.id] > 0 and not self._verifier.verify(p, drawn[p.id][-1].text).rule_verified
            ]
            turn += 1
        return [Line(problem.id, tuple(drawn[problem.id])) for _, problem in problems]

    def _grammar(self, problem: Problem) -> str:
        return completion_grammar(problem, steps=self._settings.steps).to_llguidance()

    def _request(self, number: int, problem: Problem, grammar: str | None, left: int, turn: int) -> DecodingRequest:
        guide = None
        if self._settings.kind not in ("free", "constrained"):
            session, feedback = VerifierSession(problem, self._verifier), FEEDBACK.get(self._settings.kind, "none")
            guide = Guide(session, tries=self._settings.tries, keep=False, feedback=feedback)
        budget = left if guide is not None else min(left, MAX_TOKENS)
        seed = (self._settings.seed * 100_000 + number) * 1_000 + turn
        beam = self._settings.beam if self._settings.kind == "beam" else 1
        return DecodingRequest(self._encode(text_prompt(problem, english=True)), grammar, guide, seed, budget, beam)


# -- scores -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """The results of one way of decoding with one seed."""

    measures: dict[Measure, float]
    solved: tuple[bool, ...]  # whether the answer to each problem is right and rule-verified
    schema: float
    tokens: float
    read: float


def within(line: Line, budget: int) -> tuple[Drawn, ...]:
    """The completions that had ended when that number of tokens had been sampled."""
    found: list[Drawn] = []
    spent = 0
    for drawn in line.drawn:
        spent += drawn.tokens
        if spent > budget:
            break
        found.append(drawn)
    return tuple(found)


def best(problem: Problem, drawn: Sequence[Drawn], verifier: Verifier) -> TraceReport:
    """The report on the completion with the best verdict, the first of equals; on an empty text without completions."""
    reports = [verifier.verify(problem, text) for text in [one.text for one in drawn] or [""]]

    def merit(report: TraceReport) -> tuple[bool, bool, float, bool]:
        signals = [step.signal for step in report.actions]
        return report.rule_verified, report.verified, fmean(signals) if signals else 0.0, report.parsed

    return max(reports, key=merit)


def score(problems: dict[str, Problem], lines: Sequence[Line], verifier: Verifier, budget: int | None) -> Score:
    """The scores of first completions, or of the best within a budget."""
    kept = {line.problem_id: line.drawn[:1] if budget is None else within(line, budget) for line in lines}
    reports = [best(problems[name], drawn, verifier) for name, drawn in kept.items()]
    scores = evaluate_metrics(problems, reports).overall.scores
    valid = [report.parsed and all(step.schema for step in report.actions) for report in reports]
    solved = [report.rule_verified and report.answer_correct is True for report in reports]
    tokens = [sum(one.tokens for one in drawn) for drawn in kept.values()]
    read = [sum(one.read for one in drawn) for drawn in kept.values()]
    measures = {measure: scores[measure].value for measure in MEASURES}
    return Score(measures, tuple(solved), fmean(valid), fmean(tokens), fmean(read))


def gain(ours: Sequence[Score], theirs: Sequence[Score]) -> tuple[float, float, float]:
    """By what share more problems are right and rule-verified, and the ends of the 95 % interval.

    Args:
        ours, theirs: scores of the same seeds on the same problems. The percentile bootstrap draws both.
    """
    more = np.array([s.solved for s in ours], dtype=float) - np.array([s.solved for s in theirs], dtype=float)
    random, (seeds, problems) = np.random.default_rng(0), more.shape
    places = [np.ix_(random.integers(seeds, size=seeds), random.integers(problems, size=problems)) for _ in range(2000)]
    low, high = np.quantile([more[place].mean() for place in places], [0.025, 0.975])
    return float(more.mean()), float(low), float(high)


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and standard deviation (n - 1) over seeds."""
    return Estimate(fmean(values), sum(values), len(values), stdev(values) if len(values) > 1 else None)


def table(rows: dict[str, list[Score]]) -> Table:
    """The ways of decoding side by side."""
    columns = [Column(f"{measure.value} (%)", Style.PERCENT) for measure in MEASURES]
    header = (Column("decoding", Style.TEXT), Column("schema-valid (%)", Style.PERCENT), *columns)
    shown: list[tuple[Cell, ...]] = []
    for name, scores in rows.items():
        values = [[s.schema for s in scores], *[[s.measures[m] for s in scores] for m in MEASURES]]
        lengths = [[s.tokens for s in scores], [s.read for s in scores]]
        shown.append((name, *map(estimate, [*values, *lengths])))
    counted = [Column(f"{what} per problem", Style.LENGTH) for what in ("tokens", "tokens of reasons")]
    return Table("Decoding", (*header, *counted), tuple(shown))


def picture(curves: dict[str, dict[int, list[float]]]) -> Picture:
    """Right and rule-verified answers against sampled tokens."""
    shown = {
        name: Curve(list(points), [100 * fmean(values) for values in points.values()])
        for name, points in curves.items()
    }
    return lines("sampled tokens per problem, at most", {"right and rule-verified (%)": shown}, marked=True)


# -- the experiment ---------------------------------------------------------------------------------------------------


def lines_of(
    arm: Arm, problems: Sequence[Problem], path: Path, inputs: Sequence[Path], settings: Settings
) -> list[Line]:
    """The lines of one arm, from its file as far as they are there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with LineFile.open(path, inputs=inputs, settings=settings) as file:
            for some in batched_from(list(enumerate(problems)), file.done):
                for line in arm.draw(some):
                    file.append_line(msgspec.json.encode(line))
    return [msgspec.json.decode(line, type=Line) for line in path.read_bytes().splitlines()]


def batched_from(problems: Sequence[tuple[int, Problem]], done: int) -> Iterator[Sequence[tuple[int, Problem]]]:
    """The problems that are not done, some at a time."""
    rest = problems[done:]
    for start in range(0, len(rest), AT_ONCE):
        yield rest[start : start + AT_ONCE]


def report(
    kinds: Sequence[Kind],
    scores: Callable[[Kind, int | None], list[Score]],
    budgets: Sequence[int],
    folder: Path,
    console: Console,
) -> None:
    """Write the table and the figure, and show what the figure has.

    Args:
        kinds: the ways of decoding.
        scores: the scores of each seed, within a budget or of first completions.
        budgets: in rising order; the table has the last.
        folder: where to.
        console: where the numbers are shown.
    """
    budget = budgets[-1]
    rows = {f"{kind}, one completion": scores(kind, None) for kind in kinds if kind in ("free", "constrained")}
    rows |= {f"{NAMES[kind]}, {budget} tokens": scores(kind, budget) for kind in kinds}
    curves = {
        NAMES[kind]: {most: [s.measures[Measure.RULE_VERIFIED] for s in scores(kind, most)] for most in budgets}
        for kind in kinds
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_output(folder / "decoding.md", f"{to_markdown(table(rows))}\n".encode())
    write_pictures({"budget": picture(curves)}, folder)
    for name, points in curves.items():
        console.print(f"{name}: { ({most: round(100 * fmean(values), 1) for most, values in points.items()}) }")
    for ours, other in PAIRS:
        for most in budgets if ours in kinds and other in kinds else ():
            found = [round(100 * value, 1) for value in gain(scores(ours, most), scores(other, most))]
            read = fmean([s.read for s in scores(ours, most)])
            console.print(f"{ours} - {other}, {most} tokens: {found}, tokens read {read:.1f}")


def main() -> None:
    """Do the experiment."""
    parser = ArgumentParser(prog="python -m studies.decoding", description="Compare ways of decoding.")
    parser.add_argument("--model", type=Path, required=True, help="folder of a model that knows the prompt `question`")
    parser.add_argument("--problems", type=Path, required=True, help="file of problems")
    parser.add_argument("--out", type=Path, default=Path("out/experiment-decoding"), help="folder of completions")
    parser.add_argument("--report", type=Path, default=Path("docs/experiments/decoding"), help="folder of the results")
    parser.add_argument("--kinds", nargs="+", choices=get_args(Kind), default=get_args(Kind), help="ways of decoding")
    parser.add_argument("--limit", type=int, default=40, help="problems, at most (default 40)")
    parser.add_argument("--budgets", type=int, nargs="+", default=[100, 200, 400], help="tokens per problem")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--tries", type=int, default=4, help="of a step that fails (default 4)")
    parser.add_argument("--steps", type=int, default=10, help="before the binding, at most (default 10)")
    parser.add_argument("--beam", type=int, default=2, help="partial answers of the beam (default 2)")
    given = parser.parse_args()
    console = Console(stderr=True)
    torch.set_num_threads(1)
    options = {"dtype": torch.float32, "attn_implementation": register(), "local_files_only": True}
    model = AutoModelForCausalLM.from_pretrained(given.model, **options)
    tokenizer = AutoTokenizer.from_pretrained(given.model, local_files_only=True)
    decoder, verifier = Decoder(model, tokenizer), Verifier(rules=TRAIN, evaluation=False)
    problems = list(read_problems(given.problems).values())[: given.limit]
    by_id = {problem.id: problem for problem in problems}
    lines: dict[Kind, list[list[Line]]] = {}
    for kind in given.kinds:
        lines[kind] = []
        for seed in given.seeds:
            settings = Settings(kind, seed, max(given.budgets), given.tries, given.steps, given.beam)
            arm = Arm(decoder, tokenizer.encode, verifier, settings)
            path = given.out / f"{kind}-{seed}.jsonl"
            inputs = (given.problems, given.model / "model.safetensors")
            lines[kind].append(lines_of(arm, problems, path, inputs, settings))
            console.print(f"{kind}, seed {seed}: done", highlight=False)

    def scores(kind: Kind, most: int | None) -> list[Score]:
        return [score(by_id, one, verifier, most) for one in lines[kind]]

    report(given.kinds, scores, sorted(given.budgets), given.report, console)


if __name__ == "__main__":
    main()
