"""The independent review as a task of Inspect: a model judges sampled steps blind, and is compared with the verdicts.

``inspect eval proof_r1_formal/review -T problems=FILE -T completions=FILE`` runs it. A sample is a step: the formulas
of its dependencies and its conclusion, and nothing else; its target is the verdict. Its score is whether both agree,
and the explanation has our proof or countermodel beside the reviewer's reason.

``python -m proof_r1_formal.integrations.inspect_review LOG -o FOLDER`` writes the tables, the heat map and the list of
disagreements. Importing this module requires ``inspect_ai``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, HeadlineMetric, read_eval_log
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer, stderr
from inspect_ai.solver import TaskState, generate

from proof_r1_formal.data.completions import BadLine, Completion, read_completions
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.data.sources import stem
from proof_r1_formal.engine import get_solver
from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.evaluation.drawing import can_draw, write_pictures
from proof_r1_formal.evaluation.plots import review_pictures
from proof_r1_formal.evaluation.review import (
    Agreement,
    Judgement,
    Level,
    Reviewed,
    Stratum,
    Verdict,
    agreement,
    read_judgement,
    review_chat,
    review_tables,
    reviewable,
    stratified,
)
from proof_r1_formal.evaluation.tables import to_json, to_markdown
from proof_r1_formal.integrations.evaluations import usable_problems
from proof_r1_formal.integrations.inspect_agents import chat_of
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted, confirm
from proof_r1_formal.outputs import check_folder, write_output
from proof_r1_formal.proof.batch import Settings, verify_many
from proof_r1_formal.proof.report import ModelReport
from proof_r1_formal.report.fitch import fitch
from proof_r1_formal.report.layout import plain
from proof_r1_formal.rules.catalogue import RuleSystem
from proof_r1_formal.text.parse import parse_formula

_NO_JUDGEMENT = "invalid_response_format"
"""Inspect's own word for a reply that has no judgement."""


@task
def review(
    problems: str,
    completions: str | list[str],
    steps: int = 2000,
    seed: int = 0,
    rules: RuleSystem = "train",
    strict: bool = False,
) -> Task:
    """Judge whether the conclusion of a step follows from its dependencies.

    Args:
        problems: the file, in any format of ``read_problems``.
        completions: a file for each system.
        steps: the most steps, in a sample with as many of each stratum as possible.
        seed: of the sample.
        rules: name of the rule catalogue.
        strict: whether a problem or a line that cannot be used is an error; otherwise warnings count problems.

    Raises:
        ProofR1Error: a file cannot be read, or there is no step to judge.
    """
    if steps < 1:
        raise ProofR1Error(f"steps={steps}: at least 1 step must be judged")
    known = usable_problems(problems, strict=strict)
    files = [Path(file) for file in ([completions] if isinstance(completions, str) else completions)]
    settings = Settings(rules=rules, evaluation=False)
    candidates = [
        step
        for name, file in zip(_names(files), files, strict=True)
        for step in reviewable(name, known, verify_many(known, _usable(file, known, strict), settings=settings))
    ]
    drawn = stratified(candidates, steps, seed=seed)
    if not drawn.steps:
        raise ProofR1Error(f"{', '.join(map(str, files))}: no step has a verdict on entailment")
    samples = [
        Sample(
            id=number,
            input=chat_of(review_chat(step)),
            target=step.stratum.level.verdict.value,
            metadata={"step": msgspec.to_builtins(step)},
        )
        for number, step in enumerate(drawn.steps, 1)
    ]
    return Task(
        dataset=MemoryDataset(samples, name="review", shuffled=True),
        solver=generate(),
        scorer=reviewer(),
        config=GenerateConfig(temperature=0.0),
        headline_metric=HeadlineMetric(score="reviewer", metric="mean"),
        metadata={"strata": [[*stratum, size] for stratum, size in drawn.sizes.items()]},
    )


def _names(files: Sequence[Path]) -> list[str]:
    """A name for each system: of its file, or the whole path if two files have one name."""
    short = [stem(file) for file in files]
    return [name if short.count(name) == 1 else str(file) for name, file in zip(short, files, strict=True)]


def _usable(file: Path, known: Mapping[str, Problem], strict: bool) -> Iterator[Completion]:
    """The completions of usable problems, each sample once."""
    seen: set[tuple[str, int]] = set()
    for number, one in enumerate(read_completions(file), 1):
        if isinstance(one, BadLine):
            raise DataError(f"{file}, line {one.line}", one.problem)
        if one.problem_id not in known and strict:
            raise DataError(f"{file}, completion {number}", f"{one.problem_id!r} is not a usable problem")
        if one.problem_id in known and (one.problem_id, one.sample) not in seen:
            seen.add((one.problem_id, one.sample))
            yield one


# -- scores -----------------------------------------------------------------------------------------------------------


@metric(scores="unreduced")  # a quotient of sums over all epochs
def agreements() -> Metric:
    """Agreement over determinate verdicts and Cohen's κ, as judged; without what is not defined."""

    def compute(scores: list[SampleScore]) -> Value:
        found = _agreement({}, [score.score for score in scores])
        values = {"agreement": found.raw.value if found.raw.is_defined else None, "kappa": found.kappa}
        return {name: value for name, value in values.items() if value is not None}

    return compute


@scorer(metrics=[mean(), stderr(), agreements()])
def reviewer() -> Scorer:
    """Compare the reviewer's judgement with the verdict.

    The value is NaN, so that Inspect counts the sample as unscored, where the reply has no judgement or the verifier
    has not decided.
    """

    async def score(state: TaskState, target: Target) -> Score:
        step = msgspec.convert(state.metadata["step"], Reviewed, strict=False)
        judged = read_judgement(state.output.completion)
        ours, theirs = Verdict(target.text), None if judged is None else judged.verdict
        scored = theirs is not None and step.stratum.level is not Level.UNDECIDED
        return Score(
            value=float(ours == theirs) if scored else math.nan,
            answer=theirs,
            explanation=_explain(step, judged),
            reason=_NO_JUDGEMENT if judged is None else None,
            metadata={"stratum": [*step.stratum], "reason": None if judged is None else judged.reason},
        )

    return score


def _explain(step: Reviewed, judged: Judgement | None) -> str:
    said = "nothing that can be read" if judged is None else f"{judged.verdict}: {judged.reason}"
    return f"```text\n{step.name}\nreviewer: {said}\nverifier: {step.stratum.level}\n{evidence(step)}\n```"


def evidence(step: Reviewed) -> str:
    """Our proof or countermodel of a step, checked; one line if there is none."""
    given = tuple([parse_formula(formula) for formula in step.dependencies])
    query = Query(given, parse_formula(step.conclusion))
    confirmed = confirm(query, get_solver("embedded").decide(query))
    match confirmed.answer:
        case Entailed(proof) if proof is not None and confirmed.checked:
            premises = [(f"given {number}", formula) for number, formula in enumerate(given, 1)]
            return plain(fitch(proof, premises), premises=len(premises)).rstrip()
        case Refuted(model) if model is not None and confirmed.checked:
            return f"countermodel: {ModelReport.of(model).in_words()}"
        case _:
            return "there is no checked evidence"


def _agreement(sizes: dict[Stratum, int], scores: Sequence[Score]) -> Agreement:
    said = [
        (_stratum((score.metadata or {})["stratum"]), Verdict(score.answer) if score.answer else None)
        for score in scores
    ]
    shown = {stratum: 1 for stratum, _ in said}  # sizes that are not known weigh nothing
    return agreement(shown | sizes, said)


def _stratum(values: Sequence[str]) -> Stratum:
    system, level, difficulty = values
    return Stratum(system, Level(level), difficulty)


# -- logs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A step on which the reviewer and the verifier disagree."""

    step: Reviewed
    judgement: Verdict
    reason: str
    evidence: str


def read_review(path: Path | str) -> tuple[str, Agreement, list[Disagreement]]:
    """The reviewer's name, the agreement, and the disagreements on determinate verdicts, of a log.

    Raises:
        DataError: the log is not one of this task.
    """
    log: EvalLog = read_eval_log(str(path))
    strata = (log.eval.metadata or {}).get("strata")
    scored = [(one, (one.scores or {}).get("reviewer")) for one in log.samples or []]
    if strata is None or any(score is None for _, score in scored):
        raise DataError(str(path), "it is not a whole log of the task proof_r1_formal/review")
    sizes = {_stratum(values): size for *values, size in strata}
    found = _agreement(sizes, [score for _, score in scored if score is not None])
    apart = []
    for sample, score in scored:
        step = msgspec.convert(sample.metadata["step"], Reviewed, strict=False)
        if score is not None and score.answer and step.stratum.level is not Level.UNDECIDED:
            judgement = Verdict(score.answer)
            if judgement is not step.stratum.level.verdict:
                apart.append(Disagreement(step, judgement, str((score.metadata or {})["reason"]), evidence(step)))
    return log.eval.model, found, apart


def _disagreements_page(apart: Sequence[Disagreement]) -> str:
    """The disagreements as Markdown: the step, both verdicts, the reviewer's reason and our evidence."""
    lines = [f"# Disagreements: {len(apart)}", ""]
    for number, one in enumerate(apart, 1):
        lines += [
            f"## {number}. The verifier: {one.step.stratum.level.value}; the reviewer: {one.judgement.value}",
            "",
            "```text",
            one.step.name,
            *[f"given {place}: {formula}" for place, formula in enumerate(one.step.dependencies, 1)],
            f"conclusion: {one.step.conclusion}",
            "",
            f"reviewer: {' '.join(one.reason.replace('```', '').split())}",
            "",
            one.evidence,
            "```",
            "",
        ]
    return "\n".join(lines)


def main() -> None:
    """Print the tables of a log, and write them, the heat map and the disagreements to a folder."""
    parser = argparse.ArgumentParser(prog="python -m proof_r1_formal.integrations.inspect_review")
    parser.add_argument("log", type=Path, metavar="LOG", help="a log of inspect eval proof_r1_formal/review")
    parser.add_argument("-o", "--out", type=Path, metavar="FOLDER", help="where to write; else tables are printed only")
    given = parser.parse_args()
    try:
        name, found, apart = read_review(given.log)
        tables = review_tables(found, name)
        text = "\n".join(map(to_markdown, tables))
        sys.stdout.write(text)
        if given.out is not None:
            check_folder(given.out)
            write_output(given.out / "tables.md", text.encode())
            write_output(given.out / "tables.json", to_json(tables))
            write_output(given.out / "disagreements.md", _disagreements_page(apart).encode())
            write_output(given.out / "disagreements.jsonl", b"".join(map(_line, apart)))
            if can_draw():
                write_pictures(review_pictures(found, name), given.out)
            else:
                sys.stderr.write("no heat map: drawing requires matplotlib (pip install 'proof-r1-formal[plots]')\n")
    except (OSError, ValueError, ProofR1Error) as error:
        parser.error(f"{given.log}: {error}")


def _line(one: Disagreement) -> bytes:
    record = msgspec.to_builtins(one.step) | {
        "verdict": one.step.stratum.level.verdict.value,
        "judgement": one.judgement.value,
        "reason": one.reason,
        "evidence": one.evidence,
    }
    return (json.dumps(record) + "\n").encode("ascii")


if __name__ == "__main__":
    main()
