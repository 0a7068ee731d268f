"""``translate`` and ``generate``: convert problems to the package's own format, and make new ones from a seed."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from proof_r1_formal.commands import common, problem_files
from proof_r1_formal.commands.tables import JsonOption, print_tables
from proof_r1_formal.data import Format
from proof_r1_formal.data.native import from_json, to_json, write_problems
from proof_r1_formal.data.problem import FALSE, TRUE, UNCERTAIN, Problem, ProblemSet
from proof_r1_formal.data.quality import SPELLINGS, OddityKind, oddities
from proof_r1_formal.engine import get_solver
from proof_r1_formal.errors import DataError
from proof_r1_formal.evaluation.measures import Estimate
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table
from proof_r1_formal.generate.problems import (
    Difficulty,
    ExhaustedError,
    GeneratorSettings,
    System,
    encode_evidence,
    generate_problems,
)
from proof_r1_formal.generate.shape import structural_key
from proof_r1_formal.generate.vocabulary import VOCABULARIES, VocabularyName
from proof_r1_formal.outputs import LineFile
from proof_r1_formal.proof.labels import CONTRADICTORY, answer_by

_SPELLINGS = "any of these pairs"


def translate(
    problems: common.ProblemFilesOption,
    out: Annotated[Path, typer.Option("-o", "--out", help="File of problems to write.", show_default=False)],
    format: Annotated[Format, typer.Option("--format", "--from", help="Format of the problems.")] = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Also decide every problem, compare the result with its label, and count what looks like a slip.",
        ),
    ] = False,
    solver: common.SolverOption = "embedded",
    strict: common.StrictOption = False,
    json: JsonOption = None,
) -> None:
    """Convert problems to the package's own format.

    Problems can be in English or have formulas. The output has one problem per line.
    """
    common.check_outputs(out, json, inputs=problems)
    left_out = common.LeftOut(strict)
    with common.progress_bar() as advance:
        found = problem_files.read_problem_files(
            problems, format, left_out, notation=notation, progress=partial(advance, "reading")
        )
    read = list(found.values())
    write_problems(out, common.with_progress(read, "writing", len(read)))
    print_tables([_summary(found), *(_check(read, solver) if check else ())], json=json)
    common.log(f"{common.count_of(len(read), 'problem')} written to {out}")
    common.finish(left_out)


def generate(
    n: Annotated[int, typer.Option("--n", min=1, help="Number of problems.", show_default=False)],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="File of problems to write, one per line.", show_default=False)
    ],
    difficulty: Annotated[
        Difficulty, typer.Option("--difficulty", help="Difficulty, by the length of proofs.")
    ] = "mixed",
    seed: Annotated[int, typer.Option("--seed", help="Random seed.")] = 0,
    rules: Annotated[System, typer.Option("--rules", help="Rule catalogue.")] = "train",
    with_proofs: Annotated[bool, typer.Option("--with-proofs", help="Also write the intended proofs.")] = False,
    steps: Annotated[
        str | None, typer.Option("--steps", help="Number of proof steps, such as 4 or 3-5.", show_default=False)
    ] = None,
    distractors: Annotated[
        str | None,
        typer.Option("--distractors", help="Number of irrelevant premises, such as 0-6.", show_default=False),
    ] = None,
    answers: Annotated[
        str, typer.Option("--answers", help="Right answers to draw from, separated by commas.")
    ] = f"{TRUE},{FALSE},{UNCERTAIN}",
    vocabulary: Annotated[
        VocabularyName, typer.Option("--vocabulary", help="Names and predicates; 'seen' and 'unseen' are disjoint.")
    ] = "all",
    evidence: Annotated[
        Path | None, typer.Option("--evidence-out", help="Also write models and verified proofs, one line per problem.")
    ] = None,
    workers: common.WorkersOption = 1,
    ray: common.RayOption = None,
) -> None:
    """Generate problems with certified answers. The same options give the same bytes; an interrupted run resumes."""
    common.check_outputs(out, evidence, inputs=())
    settings = GeneratorSettings(
        seed=seed,
        difficulty=difficulty,
        system=rules,
        steps=_range("--steps", steps),
        distractors=_range("--distractors", distractors),
        answers=tuple(answers.split(",")),
        vocabulary=VOCABULARIES[vocabulary],
    )
    keys: list[bytes] = []
    last = -1

    def remember(line: bytes) -> None:
        nonlocal last
        try:
            problem = from_json(line.decode())
        except (UnicodeDecodeError, DataError) as error:
            raise msgspec.DecodeError("the line is not a problem") from error
        keys.append(structural_key(problem.options[0].formula, [premise.formula for premise in problem.premises]))
        last = int(problem.id.rpartition("/")[2])

    run_settings = (settings, n, with_proofs, evidence is not None)
    answered: Counter[str] = Counter()
    with ExitStack() as files:
        file = files.enter_context(LineFile.open(out, inputs=(), settings=run_settings, read=remember))
        beside = None
        if evidence is not None:
            beside = files.enter_context(LineFile.open(evidence, inputs=(), settings=run_settings))
        files.enter_context(common.resumable(file, "problem"))
        start, todo = last + 1, n - file.done
        drawn = generate_problems(settings, start=start, seen=keys, workers=workers, executor=common.executor(ray))
        try:
            for generated in common.with_progress(islice(drawn, todo), "generating", todo):
                last = generated.index
                answered[_label(generated.problem, generated.problem.answer)] += 1
                if beside is not None and beside.done == file.done:  # an interrupted run may have been one line ahead
                    beside.append_line(encode_evidence(generated))
                problem = generated.problem if with_proofs else replace(generated.problem, proofs=())
                file.append_line(to_json(problem, path=out).encode())
        except ExhaustedError as error:
            for unfinished in filter(None, (file, beside)):
                unfinished.discard()
            common.fail(f"{out}: {error} (options --n, --steps, --distractors, --answers)")
    dropped = common.count_of(last + 1 - start - todo, "duplicate was", "duplicates were")
    new = ", ".join([f"{count} {label}" for label, count in sorted(answered.items())]) or "none new"
    common.log(f"{common.count_of(n, 'problem')} written to {out}: {new}; {dropped} dropped")


def _range(option: str, text: str | None) -> tuple[int, int] | None:
    """The range of a text such as ``4`` or ``3-5``."""
    if text is None:
        return None
    least, _, most = text.partition("-")
    try:
        return int(least), int(most or least)
    except ValueError:
        common.fail(f"{option}: expected a number or a range such as 3-5, got {text!r}")


def _summary(found: ProblemSet) -> Table:
    problems = found.values()
    labels = Counter(_label(problem, problem.answer) for problem in problems)
    rows = {
        "problems": len(problems),
        **{f"labelled {label}": count for label, count in sorted(labels.items())},
        "premises": sum(len(problem.premises) for problem in problems),
        "with reference proofs": sum(bool(problem.proofs) for problem in problems),
        "with notes": sum(bool(problem.notes) for problem in problems),
        "rejected": len(found.rejected),
    }
    return Table("Translated", (Column("what", Style.TEXT), Column("count", Style.COUNT)), tuple(rows.items()))


def _check(problems: list[Problem], solver_name: str) -> tuple[Table, Table]:
    """How often the premises entail the label, and what looks like a slip; prints a message for every wrong label."""
    solver = get_solver(solver_name)
    agree: Counter[str] = Counter()
    total: Counter[str] = Counter()
    odd: dict[str, list[Problem]] = defaultdict(list)
    wrong: set[str] = set()
    for problem in common.with_progress(problems, "checking", len(problems)):
        answer = answer_by(solver, problem)
        kinds = {oddity.kind for oddity in oddities(problem, problem.signature())}
        counted = [kind.value for kind in kinds] + [_SPELLINGS] * (not kinds.isdisjoint(SPELLINGS))
        for kind in [*counted, *[answer] * (answer == CONTRADICTORY)]:
            odd[kind].append(problem)
        if problem.answer is None:
            continue
        label = _label(problem, problem.answer)
        total[label] += 1
        agree[label] += answer == problem.answer
        if answer != problem.answer:
            wrong.add(problem.id)
            common.log(f"wrong label: {problem.id} is labelled {label}; {solver.name} finds {_label(problem, answer)}")
    right = agree.total()
    counts = [(label, total[label], agree[label]) for label in sorted(total)] + [("all", total.total(), right)]
    labels = Table(
        f"Labels and {solver.name}",
        (Column("label", Style.TEXT), *_counts("problems", "agree"), Column("agree (%)", Style.PERCENT)),
        tuple([(label, count, part, _share(part, count)) for label, count, part in counts]),
    )
    rows: list[tuple[Cell, ...]] = []
    for kind in (*SPELLINGS, _SPELLINGS, *[kind for kind in OddityKind if kind not in SPELLINGS], CONTRADICTORY):
        among = odd[kind]
        differ = sum(problem.id in wrong for problem in among)
        same = sum(problem.answer is not None for problem in among) - differ
        shares = (_share(same, right), _share(differ, len(wrong)))
        first = among[0].id.rpartition("/")[2] if among else ""
        rows.append((str(kind), len(among), same, shares[0], differ, shares[1], first))
    columns = (
        Column("slip", Style.TEXT),
        *_counts("problems", "agree"),
        Column(f"of {right} (%)", Style.PERCENT),
        *_counts("differ"),
        Column(f"of all {len(wrong)} (%)", Style.PERCENT),
        Column("first", Style.TEXT),
    )
    return labels, Table("What looks like a slip", columns, tuple(rows))


def _counts(*names: str) -> list[Column]:
    return [Column(name, Style.COUNT) for name in names]


def _share(part: int, whole: int) -> Estimate:
    return Estimate(part / whole if whole else 0.0, part, whole)


def _label(problem: Problem, answer: str | None) -> str:
    """The label of an option; an answer that is not an option is returned unchanged."""
    option = problem.option(answer)
    return option.label if option is not None else answer or "unknown"
