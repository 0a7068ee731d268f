"""``export``: problems, and verified answers with their proofs, as files for other systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from proof_r1_formal.assistants.certificate import OpenCertificate
from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.assistants.isar import isar_theory
from proof_r1_formal.assistants.lean import HEADER
from proof_r1_formal.assistants.lean_file import file_stem, lean_file
from proof_r1_formal.commands import certificates, common, problem_files
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import UNCERTAIN, Problem
from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.signature import Signature, mangle
from proof_r1_formal.kernel.syntax import Formula, Not
from proof_r1_formal.kernel.term import Proof
from proof_r1_formal.outputs import check_folder, write_output
from proof_r1_formal.proof.batch import Settings
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import isabelle, lean, smtlib, tptp
from proof_r1_formal.report import layout
from proof_r1_formal.report.fitch import Row, derivation
from proof_r1_formal.text.show import show

Target: TypeAlias = Literal["tptp", "smt2", "lean", "isabelle", "latex", "fitch"]
_Steps: TypeAlias = list[tuple[str, tuple[str, ...], Formula, Proof]]

_SUFFIX: Mapping[Target, str] = {
    "tptp": ".p", "smt2": ".smt2", "lean": ".lean", "isabelle": ".thy", "latex": ".tex", "fitch": ".txt",
}  # fmt: skip


def export(
    problems: common.ProblemFilesOption,
    to: Annotated[Target, typer.Option("--to", help="Format to write.", show_default=False)],
    completions: Annotated[
        Path | None, typer.Option("-c", "--completions", help="Write these answers, if verified.", show_default=False)
    ] = None,
    id: Annotated[str | None, typer.Option("--id", help="Only this problem.", show_default=False)] = None,  # noqa: A002
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Folder for the files, by default standard output.", show_default=False),
    ] = None,
    format: common.FormatOption = "auto",  # noqa: A002
    notation: common.NotationOption = "auto",
    rules: common.RulesOption = "train",
    atomic: common.AtomicOption = False,
    solver: common.SolverOption = "embedded",
    strict: common.StrictOption = False,
) -> None:
    """Write problems or verified answers for other systems.

    A problem becomes one question for each option: whether the premises entail its formula. A verified answer of
    --completions comes with its proof, and with those premises that the proof uses.
    """
    if completions is None:
        checks = {"--rules": rules != "train", "--atomic": atomic, "--solver": solver != "embedded"}
        certificates.refuse_without("--completions", checks)
    if out is not None:
        check_folder(out)
    left_out = common.LeftOut(strict)
    known = problem_files.read_problem_files(problems, format, left_out if id is None else None, notation=notation)
    if id is not None:
        problem_files.problem_of(problem_files.shown_paths(problems), known, id)
    texts: Iterator[tuple[str, str | None]]
    if completions is None:
        texts = _questions([problem for problem in known.values() if id in (None, problem.id)], to)
    else:
        chosen = (c for c in common.usable_completions(completions, known, left_out) if id in (None, c.problem_id))
        texts = _proofs(Settings(solver=solver, rules=rules, atomic=atomic).verifier(), known, chosen, to)
    written = missing = 0
    for stem, text in texts:
        if text is None:
            missing += 1
        elif out is None:
            common.write(text.removesuffix("\n"))
        else:
            write_output(out / f"{stem}{_SUFFIX[to]}", text.encode())
        written += text is not None
    common.log(f"{common.count_of(written, 'file')}{f'; {missing} not written' if missing else ''}")
    common.finish(left_out)
    if missing:
        raise typer.Exit(1)


def _questions(problems: Iterable[Problem], to: Target) -> Iterator[tuple[str, str]]:
    """The name of each question's file without the suffix, and its text."""
    for problem in problems:
        premises = {premise.id: premise.formula for premise in problem.premises}
        for option in problem.options:
            if option.label != UNCERTAIN:  # whose formula is that of another option
                name = f"{problem.id}/{option.id}"
                stem = file_stem(name, 0)
                yield stem, _text(to, name, stem, premises, option.formula)


def _proofs(
    verifier: Verifier, problems: Mapping[str, Problem], completions: Iterable[Completion], to: Target
) -> Iterator[tuple[str, str | None]]:
    """The same for verified answers; says why another has no file."""
    for completion in completions:
        name = f"{completion.problem_id}, sample {completion.sample}"
        stem = file_stem(completion.problem_id, completion.sample)
        problem = problems[completion.problem_id]
        certification = certify(verifier, problem, completion.completion, sample=completion.sample)
        certificate = certification.certificate
        if certificate is None:
            common.log(f"{name}: not verified: {certification.reason}")
            yield stem, None
        elif to == "lean":
            yield stem, lean_file(certificate, problem, completion.sample)
        elif to == "isabelle":
            yield stem, isar_theory(certificate, stem)
        elif isinstance(certificate, OpenCertificate):
            common.log(f"{name}: two structures show that it is Uncertain; lean and isabelle have a format for them")
            yield stem, None
        else:
            steps = [(step.id, step.dependencies, step.formula, step.proof) for step in certificate.steps]
            yield stem, _text(to, name, stem, certificate.premises, certificate.goal, steps)


def _text(
    to: Target, name: str, stem: str, premises: Mapping[str, Formula], goal: Formula, steps: _Steps | None = None
) -> str:
    """The text of a question, or of an answer with its steps, for the file ``stem``; ``name`` is for a comment."""
    used = premises if steps is None else {i: premises[i] for i in premises if any(i in step[1] for step in steps)}
    query = Query(tuple(used.values()), goal)
    labels = {id_: mangle(id_, "h") for id_ in used}
    unused = "".join([f"; not used: {id_}" for id_ in premises if id_ not in used])
    comment = ascii(f"{name}{unused}")[1:-1]
    match to:
        case "tptp":
            every = labels | {step[0]: mangle(step[0], "d") for step in steps or ()}
            lines = [(every[i], [every[each] for each in given], formula) for i, given, formula, _ in steps or ()]
            return f"% {comment}\n{tptp.problem(query, list(labels.values()), lines)}"
        case "smt2":
            return f"; {comment}\n{smtlib.script((*used.values(), Not(goal)), names=[*labels.values(), 'goal'])}"
        case "lean":
            statement = lean.entailment(query.dependencies, goal)
            quiet = "set_option linter.unusedVariables false"  # of the elements of types
            said = f"-- {comment}\nnamespace {stem}\n\ndef Statement : Prop :=\n  {statement}\n\nend {stem}\n"
            return "\n".join([*HEADER, quiet, "", said])
        case "isabelle":
            statement = isabelle.statement(
                {labels[id_]: formula for id_, formula in used.items()}, goal, Signature.infer(query.formulas)
            )
            return isabelle.theory(stem, f"lemma answer:\n{statement}  oops\n")
    rows = derivation(used, steps or ())
    if steps is None:
        rows = (*rows, Row(len(rows) + 1, 0, show(goal), "to prove"))
    return layout.latex(rows, comment) if to == "latex" else f"{comment}\n{layout.plain(rows, premises=len(used))}"
