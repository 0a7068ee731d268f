"""``sample``: asks a model, behind an endpoint or in a folder, for completions of problems."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Annotated, assert_never

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from proof_r1_formal.commands.answers import AnswerForm, Method, Unguided
from proof_r1_formal.commands.common import (
    ERR,
    OUT,
    FormatOption,
    LeftOut,
    NotationOption,
    ProblemsOption,
    RulesOption,
    SolverOption,
    StrictOption,
    WorkersOption,
    check_outputs,
    counted,
    fail,
    finish,
    log,
    read_problem_file,
)
from proof_r1_formal.data.completions import beside, write_completions
from proof_r1_formal.data.failures import write_failures
from proof_r1_formal.data.problem import ProblemSet
from proof_r1_formal.decoding.guide import Feedback
from proof_r1_formal.engine import get_solver
from proof_r1_formal.evaluation.measures import Measure
from proof_r1_formal.evaluation.metrics import evaluate_metrics
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table
from proof_r1_formal.evaluation.terminal import to_rich
from proof_r1_formal.models.agents import Agent
from proof_r1_formal.models.agents.command import CommandModel, Original
from proof_r1_formal.models.agents.direct import Direct
from proof_r1_formal.models.agents.graph_of_verification import GraphOfVerification
from proof_r1_formal.models.agents.logic_agent import LogicAgent
from proof_r1_formal.models.chat import THOUGHTS_ONLY, Model, Sampling, holds_thoughts_only
from proof_r1_formal.models.constrain import Constrain
from proof_r1_formal.models.endpoint import Endpoint, key_of, only_model
from proof_r1_formal.models.journal import Journal
from proof_r1_formal.models.local import LocalModel
from proof_r1_formal.models.prompts import PromptSet
from proof_r1_formal.models.runner import ATTEMPTS, STOP_AFTER, Done, Failed, RetryingModel
from proof_r1_formal.models.sampling import OnOutcome, Samples, repaired
from proof_r1_formal.models.sampling import sample as _sample
from proof_r1_formal.outputs import is_stream
from proof_r1_formal.proof.batch import Settings, verify_many
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.trajectory import Thinking
from proof_r1_formal.rules.catalogue import catalogue

ModelOption = Annotated[
    str, typer.Option("--model", help="URL of an OpenAI-compatible endpoint, or folder of a model.", show_default=False)
]
NameOption = Annotated[
    str | None, typer.Option("--name", help="Name of the model at the endpoint, if it has several.", show_default=False)
]
KeyOption = Annotated[str, typer.Option("--key-env", help="Environment variable with the key of the endpoint.")]
ConcurrencyOption = Annotated[int, typer.Option("--concurrency", min=1, help="Maximum number of concurrent calls.")]
PerMinuteOption = Annotated[
    float | None,
    typer.Option("--per-minute", min=0.001, help="Maximum number of calls started in a minute.", show_default=False),
]
AttemptsOption = Annotated[int, typer.Option("--attempts", min=1, help="Maximum number of attempts of a call.")]
StopAfterOption = Annotated[
    int, typer.Option("--stop-after", min=0, help="Number of equal failures in a row that end the run; 0 for none.")
]
TimeoutOption = Annotated[
    float,
    typer.Option("--timeout", min=0.001, help="Seconds without data after which a call fails."),
]
ExtraOption = Annotated[
    str | None,
    typer.Option("--extra", help="More fields of every request, a JSON object; null removes a field.", metavar="JSON"),
]


def sample(
    problems: ProblemsOption,
    out: Annotated[Path, typer.Option("-o", "--out", help="File of completions to write.", show_default=False)],
    model: ModelOption = "",
    command: Annotated[
        str | None,
        typer.Option("--command", help="Program to run for each sample, instead of a model.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Number of completions of each problem.")] = 3,
    method: Annotated[
        Method, typer.Option("--method", help="Ask once, guide each step, or run a baseline agent.")
    ] = "direct",
    repair: Annotated[bool, typer.Option("--repair", help="Run one more round for proofs with errors.")] = False,
    constrain: Annotated[
        Constrain | None,
        typer.Option(
            "--constrain",
            help="Constraint on the form of answers; by default off, or auto if guided.",
            show_default=False,
        ),
    ] = None,
    tries: Annotated[
        int, typer.Option("--tries", min=0, help="Maximum number of retries of a failed step (guided).")
    ] = 4,
    feedback: Annotated[
        Feedback, typer.Option("--feedback", help="What the model sees of a failed step (guided).")
    ] = "none",
    beam: Annotated[
        int, typer.Option("--beam", min=1, help="Partial answers kept after each step (guided, model in a folder).")
    ] = 1,
    rules: RulesOption = "train",
    thinking: Annotated[
        Thinking,
        typer.Option("--thinking", help="Whether the prompt asks for <think>, or the model thinks in its own format."),
    ] = "explicit",
    prompts: Annotated[
        PromptSet, typer.Option("--prompts", help="Whose messages: this package's, or the paper's.")
    ] = "default",
    temperature: Annotated[
        float, typer.Option("--temperature", min=0.0, help="Sampling temperature; 0 is greedy.")
    ] = 0.8,
    top_p: Annotated[
        float, typer.Option("--top-p", min=0.0, max=1.0, help="Probability mass that is sampled from.")
    ] = 0.95,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Maximum length of a reply.")] = 4096,
    candidates: Annotated[
        int, typer.Option("--candidates", min=1, help="Number of solutions of graph-of-verification.")
    ] = 3,
    granularity: Annotated[
        int,
        typer.Option("--granularity", min=0, help="Steps that graph-of-verification verifies at a time; 0 for all."),
    ] = 1,
    solver: SolverOption = "embedded",
    agent_solver: Annotated[str, typer.Option("--agent-solver", help="Solver of logic-agent.")] = "z3",
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
    """Ask a model to solve problems. Repeat the command to resume a killed run and to retry failed calls.

    Files beside OUT hold all replies, which are reused (.calls), the failures (.failures), and the completions before
    --repair (.first).
    """
    if is_stream(out):
        fail(f"{out}: replies are stored beside the completions, so this must be a regular file")
    if prompts != "default" and (method != "direct" or repair):
        fail(f"--prompts {prompts} requires --method direct without --repair")
    if bool(model) == bool(command):
        fail("name a model with --model, or a program with --command, and not both")
    if command and (method != "direct" or prompts != "default" or repair or constrain not in (None, "off")):
        fail("--command requires --method direct, without --prompts, --repair and --constrain")
    program = CommandModel(command, seconds=timeout) if command else None
    if beam > 1 and (method != "guided" or _is_url(model)):
        fail("--beam requires --method guided and a model in a folder")
    check_outputs(out, *[beside(out, what) for what in ("calls", "failures", "first")], inputs=(problems,))
    known = read_problem_file(problems, format, left_out := LeftOut(strict), notation=notation)
    sampling = Sampling(temperature, top_p, max_tokens, thinking)
    settings = Settings(solver=solver, rules=rules)
    settings.verifier()  # report a wrong setting before any cost arises
    constrain = constrain or ("auto" if method == "guided" else "off")
    form = AnswerForm(constrain, method == "guided", rules, solver, tries, feedback, beam, local=not _is_url(model))
    agent: tuple[Agent, str] | None
    if program is not None:
        agent = Original(sampling), "command"
    elif method == "guided" or constrain != "off":
        form.check(method, plain=prompts == "default" and not repair)
        agent = None
    else:
        agent = _agent(method, rules, sampling, prompts, candidates, granularity or None, agent_solver)

    async def work() -> None:
        with Journal(beside(out, "calls")) as journal:
            async with open_model(
                program or model,
                name=name,
                key_env=key_env,
                concurrency=concurrency,
                per_minute=per_minute,
                attempts=attempts,
                stop_after=stop_after,
                timeout=timeout,
                extra=extra,
            ) as retrying:
                solving, described = agent or await form.agent(retrying.quiet(), sampling)
                with _progress("sampling", journal, len(known) * k) as on_outcome:
                    found = await _sample(
                        known.values(),
                        solving,
                        retrying,
                        journal,
                        method=described,
                        samples=k,
                        concurrency=concurrency,
                        on_outcome=on_outcome,
                    )
                if repair:
                    found = await _second_round(
                        known, found, retrying, journal, described, settings, sampling, out, concurrency, workers
                    )
        _write(out, found, journal.replayed)

    asyncio.run(work())
    finish(left_out)


def _agent(
    method: Unguided,
    rules: str,
    sampling: Sampling,
    prompts: PromptSet,
    candidates: int,
    granularity: int | None,
    solver: str,
) -> tuple[Agent, str]:
    """The agent, and a key that identifies it and its settings."""
    names = catalogue(rules)
    match method:
        case "direct":
            of = "" if prompts == "default" else f" {prompts}"
            return Direct(names, sampling, prompts), f"{method} {rules}{of}"
        case "logic-agent":
            return LogicAgent(names, sampling, get_solver(solver)), f"{method} {rules} {solver}"
        case "graph-of-verification":
            agent = GraphOfVerification(names, sampling, candidates=candidates, granularity=granularity)
            return agent, f"{method} {rules} {candidates} {granularity}"
    assert_never(method)


async def _second_round(
    known: ProblemSet,
    first: Samples,
    model: Model,
    journal: Journal,
    method: str,
    settings: Settings,
    sampling: Sampling,
    out: Path,
    concurrency: int,
    workers: int,
) -> Samples:
    """Repair completions with errors; writes the first round to a separate file, and shows the scores of both."""
    write_completions(beside(out, "first"), first.completions)
    reports = _verified(known, first, settings, workers)
    with _progress("repairing", journal, None) as on_outcome:
        second = await repaired(
            known,
            first.completions,
            reports,
            model,
            journal,
            method=method,
            rules=catalogue(settings.rules),
            sampling=sampling,
            concurrency=concurrency,
            on_outcome=on_outcome,
        )
    OUT.print(to_rich(_comparison(known, reports, _verified(known, second, settings, workers))))
    return Samples(second.completions, (*first.failures, *second.failures))


def _verified(known: ProblemSet, samples: Samples, settings: Settings, workers: int) -> list[TraceReport]:
    return list(verify_many(known, samples.completions, settings=settings, workers=workers))


def _comparison(known: ProblemSet, before: list[TraceReport], after: list[TraceReport]) -> Table:
    measures = (Measure.AVG, Measure.PASS, Measure.FVR, Measure.STRICT_FVR, Measure.RVR, Measure.STRICT_RVR)
    rows: list[tuple[Cell, ...]] = []
    for name, reports in (("before", before), ("after", after)):
        scores = evaluate_metrics(known, reports).overall.scores
        rows.append((name, *[scores[measure] for measure in measures]))
    columns = (Column("", Style.TEXT), *[Column(measure.value, Style.PERCENT) for measure in measures])
    return Table("Repair", columns, tuple(rows))


def _write(out: Path, found: Samples, replayed: int) -> None:
    if replayed:
        log(f"{counted(replayed, 'stored reply was', 'stored replies were')} reused")
    write_completions(out, found.completions)
    write_failures(beside(out, "failures"), found.failures)
    log(f"{counted(len(found.completions), 'completion')} written to {out}")
    if unanswered := sum(holds_thoughts_only(one.completion) for one in found.completions):
        log(f"{counted(unanswered, 'completion holds', 'completions hold')} thoughts and no answer; {THOUGHTS_ONLY}")
    if found.failures:
        first = found.failures[0]
        log(f"{len(found.failures)} failed; the first: {first.problem_id}, sample {first.sample}: {first.problem}")
        log("repeat the command to retry them")
        raise typer.Exit(1)


@asynccontextmanager
async def open_model(
    model: str | CommandModel,
    *,
    name: str | None,
    key_env: str,
    concurrency: int,
    per_minute: float | None,
    attempts: int,
    stop_after: int,
    timeout: float,
    extra: str | None,
) -> AsyncIterator[RetryingModel]:
    """The model of a command line.

    Args:
        model: URL or folder, or a program.
        name: at the endpoint; if None, the endpoint must have only one.
        key_env: environment variable with the key of the endpoint.
        concurrency: the most concurrent calls, or chats in one batch of a model in a folder.
        per_minute, attempts, stop_after: see :class:`~proof_r1_formal.models.runner.RetryingModel`.
        timeout: of the endpoint.
        extra: JSON text of an object, see :class:`~proof_r1_formal.models.endpoint.Endpoint`.

    Raises:
        ModelError: it cannot be used.
    """

    def retrying(who: Model) -> RetryingModel:
        return RetryingModel(
            who, concurrency=concurrency, per_minute=per_minute, attempts=attempts, stop_after=stop_after, notice=log
        )

    if isinstance(model, CommandModel):
        yield retrying(model)
        return
    if not _is_url(model):
        if os.sep not in model and name is None and not Path(model).exists():
            hint = f"--model https://HOST/v1 --name {model}"
            log(f"{model} is read from the cache of transformers; for a model at an endpoint: {hint}")
        yield retrying(LocalModel(model, concurrency=concurrency))
        return
    fields, key = _object(extra), key_of(key_env)
    name = name or await only_model(model, key=key)
    async with Endpoint(model, name, key=key, timeout=timeout, extra=fields) as endpoint:
        yield retrying(endpoint)


def _is_url(model: str) -> bool:
    return model.startswith(("http://", "https://"))


def _object(text: str | None) -> dict[str, object]:
    try:
        value = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        fail(f"--extra: not valid JSON: {error}")
    if not isinstance(value, dict):
        fail("--extra: expected a JSON object")
    return value


@contextmanager
def _progress(what: str, journal: Journal, total: int | None) -> Iterator[OnOutcome]:
    """Progress on standard error, if that is a terminal, with tokens per second and the remaining time."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=ERR,
        transient=True,
        disable=not ERR.is_terminal,
    )
    task = bar.add_task(what, total=total, speed="")
    began, before = time.monotonic(), journal.tokens
    failed = 0

    def on_outcome(outcome: Done[str] | Failed[str]) -> None:
        nonlocal failed
        failed += isinstance(outcome, Failed)
        bar.update(task, advance=1, speed=f"{speed()}{f', {failed} failed' if failed else ''}")

    def speed() -> str:
        return f"{(journal.tokens - before) / max(time.monotonic() - began, 1e-3):.0f} tokens/s"

    with bar:
        yield on_outcome
    log(f"{what}: {journal.tokens - before} tokens in {time.monotonic() - began:.0f} s, {speed()}")
