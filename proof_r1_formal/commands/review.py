"""``review``: a model judges steps without seeing the verdicts, and the two are compared."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from proof_r1_formal.commands.common import (
    OUT,
    CompletionsOption,
    FormatOption,
    LeftOut,
    NotationOption,
    ProblemsOption,
    RulesOption,
    SolverOption,
    StrictOption,
    WorkersOption,
    check_outputs,
    count_lines,
    distinct_completions,
    finish,
    log,
    progress_bar,
    read_problem_file,
    with_progress,
)
from proof_r1_formal.commands.models import (
    AttemptsOption,
    ConcurrencyOption,
    ExtraOption,
    KeyOption,
    ModelOption,
    NameOption,
    PerMinuteOption,
    StopAfterOption,
    TimeoutOption,
    open_model,
)
from proof_r1_formal.evaluation.review import (
    Drawn,
    Judgement,
    Reviewed,
    Unjudged,
    agreement,
    review_picture,
    review_tables,
    reviewable,
    stratified,
)
from proof_r1_formal.evaluation.review import review as judge
from proof_r1_formal.evaluation.tables import to_json, to_markdown
from proof_r1_formal.evaluation.terminal import to_rich
from proof_r1_formal.models.chat import Sampling
from proof_r1_formal.models.journal import Journal
from proof_r1_formal.models.runner import ATTEMPTS, STOP_AFTER, Done, Failed
from proof_r1_formal.outputs import check_folder, write_output
from proof_r1_formal.proof.batch import Settings, verify_many


def review(
    problems: ProblemsOption,
    completions: CompletionsOption,
    model: ModelOption,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for judgements, tables and the heat map.", show_default=False)
    ],
    n: Annotated[int, typer.Option("--n", min=1, help="Maximum number of steps to judge.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="Random seed of the sample of steps.")] = 0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Maximum length of a reply.")] = 4096,
    rules: RulesOption = "train",
    solver: SolverOption = "embedded",
    name: NameOption = None,
    key_env: KeyOption = "OPENAI_API_KEY",
    concurrency: ConcurrencyOption = 8,
    per_minute: PerMinuteOption = None,
    attempts: AttemptsOption = ATTEMPTS,
    stop_after: StopAfterOption = STOP_AFTER,
    timeout: TimeoutOption = 600.0,
    extra: ExtraOption = None,
    format: FormatOption = "auto",  # noqa: A002
    notation: NotationOption = "auto",
    strict: StrictOption = False,
    workers: WorkersOption = 1,
) -> None:
    """Ask a model to judge steps; compare it with the verdicts.

    The steps are a stratified sample, and the model does not see the verdicts.
    Repeat the command to resume a killed run and to retry failed calls. judgements.jsonl gives the reason for each step
    without a judgement (a failed call, or a reply without one); the status is then 1.
    """
    check_folder(out)
    names = ("calls.jsonl", "judgements.jsonl", "tables.md", "tables.json", "agreement.svg")
    files = {name: out / name for name in names}
    check_outputs(*files.values(), inputs=(problems, completions))
    left_out = LeftOut(strict)
    known = read_problem_file(problems, format, left_out, notation=notation)
    settings = Settings(solver=solver, rules=rules)
    reports = verify_many(
        known, distinct_completions([completions], known, left_out), settings=settings, workers=workers
    )
    shown = with_progress(reports, "verifying", count_lines(completions))
    drawn = stratified(reviewable(known, shown), n, seed=seed)
    sampling = Sampling(temperature=0.0, top_p=1.0, max_tokens=max_tokens)

    async def work() -> tuple[str, dict[Reviewed, Judgement | Unjudged]]:
        with Journal(files["calls.jsonl"]) as journal, progress_bar() as advance:
            async with open_model(
                model,
                name=name,
                key_env=key_env,
                concurrency=concurrency,
                per_minute=per_minute,
                attempts=attempts,
                stop_after=stop_after,
                timeout=timeout,
                extra=extra,
            ) as retrying:
                done = 0

                def on_outcome(_: Done[Judgement] | Failed[Judgement]) -> None:
                    nonlocal done
                    done += 1
                    advance("reviewing", done, len(drawn.steps))

                found = await judge(
                    drawn.steps, retrying, journal, sampling=sampling, concurrency=concurrency, on_outcome=on_outcome
                )
                return retrying.name, found

    reviewer, judgements = asyncio.run(work())
    found = agreement(drawn, judgements)
    tables = review_tables(found, reviewer)
    for table in tables:
        OUT.print(to_rich(table))
    write_output(files["judgements.jsonl"], _lines(drawn, judgements))
    write_output(files["tables.md"], "\n".join(map(to_markdown, tables)).encode())
    write_output(files["tables.json"], to_json(tables))
    write_output(files["agreement.svg"], review_picture(found, reviewer).encode())
    silent = sum(isinstance(judgement, Unjudged) for judgement in judgements.values())
    log(f"{len(judgements) - silent} of {len(judgements)} steps were judged; results are in {out}")
    finish(left_out)
    if silent:
        raise typer.Exit(1)


def _lines(drawn: Drawn, judgements: dict[Reviewed, Judgement | Unjudged]) -> bytes:
    """A line for each step: its place, the text shown, the verdict, and the judgement or why it is missing."""
    lines = []
    for step in drawn.steps:
        said = judgements[step]
        record = {
            "problem_id": step.problem_id,
            "sample": step.sample,
            "action": step.action,
            "difficulty": step.stratum.difficulty,
            "verifier": step.stratum.level,
            "dependencies": step.dependencies,
            "conclusion": step.conclusion,
            "judgement": said.verdict if isinstance(said, Judgement) else None,
            "reason": said.reason if isinstance(said, Judgement) else said.problem,
        }
        lines.append(json.dumps(record) + "\n")
    return "".join(lines).encode("ascii")
