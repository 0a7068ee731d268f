"""Audits the backends on all completions of the benchmark data: ``python -m studies.bench.audit FOLDER_OF_DATA``.

Writes ``docs/audit.md`` and the pictures beside it; what they are counted from stays in a folder of its own, with which
an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from proof_r1_formal.audit.audit_files import audit_tables, disagreement_lines, pictures, write_audit
from proof_r1_formal.audit.backends import Backend
from proof_r1_formal.audit.crosscheck import Audit, crosscheck
from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import SolverError
from proof_r1_formal.evaluation.tables import to_markdown
from studies.bench.verification import machine

BACKENDS = ("z3", "cvc5", "embedded", "process:cvc4", "process:yices-smt2")

HEAD = """# Audit: the same completions on every backend

This page compares the solvers on the same completions. `make audit DATA=FOLDER` writes it from the benchmark data;
`proof-r1 crosscheck` does the same for your own completions, and keeps every answer and countermodel.

The *local check* of an action asks whether the formulas of its declared dependencies entail its conclusion. They are
the premises and the conclusions of earlier actions, admitted or not. So a backend's verdict on one action does not
change the question about another. UNSAT means entailed (dependencies and negated conclusion have no common model), SAT
refuted. Other counts actions without a question (an unparsable formula, a duplicate id, a malformed element or summary,
a missing dependency) and unknown answers. Percentages are of all actions. Backends with the same figures share a row,
and rows of zeros are left out, except under *UNSAT against SAT*.

The *rates* are FVR and RVR, with `--eligibility reference` ([Evaluation](evaluation.md#which-steps-count)). One backend
does the checks of entailment, rules and progress, and its own verdicts determine the admitted actions. If two formulas
differ in one of a few fixed structures, the package does not ask the backend whether they are equivalent.

`golden` are the 450 reference proofs of ProverQA, `corrupted` 900 variants of them (wrong conclusions, dependencies,
ids, fields and rules), `warm-up` 56 trajectories published with the method. Every query has the solvers' default
budget of steps, and at most 5 s.
"""

FOOT = """## Reading it

* Two backends contradict each other on a query if one says UNSAT and the other SAT. The page would list each such query
  below the table, reduced to a minimum, with the evidence of both sides.
* With UNSAT, `embedded` gives a checked proof term, and cvc5 mostly one. With SAT, these two and Z3 give checked
  countermodels. Programs that run as processes give no evidence: only `sat` or `unsat` is read from them.
* yices-smt2 decides quantifier-free formulas only. Every query with a quantifier is *unknown: unsupported* and counts
  as Other. An undecided action is not admitted, and actions that depend on it leave the denominators. So the rates of
  yices-smt2 measure the quantifier-free share of the data, not the quality of the proofs.
"""


def systems(folder: Path) -> tuple[dict[str, Problem], dict[str, list[Completion]]]:
    """The problems by id, and the completions of the data by where they come from."""
    problems = read_problems(folder / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    lines = (folder / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[tuple[str, str]]] = {"golden": [], "corrupted": [], "warm-up": []}
    for record in map(json.loads, lines):
        name = "golden" if record["kind"] == "golden" else "corrupted"
        found[name].append((f"{record['difficulty']}/{record['problem_id']}", record["response"]))
    trajectories = folder / "llm_outputs" / "docailab_clean_trajectory_warmup56.jsonl"
    with tempfile.TemporaryDirectory() as temporary:
        embedded = Path(temporary) / "warm-up.jsonl"
        records = [json.loads(line) for line in trajectories.read_text(encoding="utf-8").splitlines()]
        embedded.write_text("".join(f"{json.dumps(record['problem'])}\n" for record in records), encoding="utf-8")
        warm_up = read_problems(embedded)
    for identifier in problems.keys() & warm_up.keys():
        if tuple(problems[identifier].formulas()) != tuple(warm_up[identifier].formulas()):
            raise SystemExit(f"the data hold two problems {identifier!r}")
    found["warm-up"] = [(f"{r['difficulty']}/{r['problem_id']}", r["response"]) for r in records]
    return {**problems, **warm_up}, {name: _numbered(pairs) for name, pairs in found.items()}


def _numbered(pairs: list[tuple[str, str]]) -> list[Completion]:
    seen: Counter[str] = Counter()
    completions = []
    for problem_id, text in pairs:
        completions.append(Completion(problem_id=problem_id, sample=seen[problem_id], completion=text))
        seen[problem_id] += 1
    return completions


def available(names: tuple[str, ...]) -> tuple[list[Backend], list[str]]:
    """The backends of those names, and why others are missing."""
    found, missing = [], []
    for name in names:
        try:
            found.append(Backend.named(name))
        except SolverError as error:
            missing.append(str(error))
    return found, missing


def joined(table: str, heading: str) -> str:
    """A table in Markdown, rows that differ only under one heading joined into one, and rows of zeros left out."""
    title, _, header, rule, *rows = table.rstrip("\n").split("\n")
    place = header.split(" | ").index(heading)
    found: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        cells = row.split(" | ")
        found.setdefault((*cells[:place], *cells[place + 1 :]), []).append(cells[place])
    lines = [" | ".join([*cells[:place], ", ".join(names), *cells[place:]]) for cells, names in found.items()]
    return "\n".join([title, "", header, rule, *filter(_counts_something, lines), ""])


def grouped(pairs: Iterable[str]) -> Iterator[str]:
    """The tables of pairs in Markdown, those with the same figures as one, and rows of zeros left out."""
    found: dict[tuple[str, ...], list[str]] = {}
    for table in pairs:
        title, _, header, rule, *rows = table.rstrip("\n").split("\n")
        first = header.split(" | ")[1]
        shown = (header.replace(f"| {first} |", "| rows |", 1), rule, *filter(_counts_something, rows))
        found.setdefault(shown, []).append(title.strip("*").replace(" (rows)", "").replace(" (columns)", ""))
    for lines, names in found.items():
        yield "\n".join([f"**Rows and columns: {'; '.join(names)}**", "", *lines, ""])


def _counts_something(row: str) -> bool:
    return any(
        cell.strip(" |") not in ("0", "0.0", "–") for cell in row.split(" | ") if cell.strip(" |")[:1] in "0123456789–"
    )


def page(audit: Audit, missing: list[str], folder: str) -> str:
    """The page, with its pictures in ``folder`` beside it."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    backends = "".join(f"* `{name}`: {version}\n" for name, version in audit.versions.items())
    absent = "".join(f"* not here: {reason}\n" for reason in missing)
    at = machine()
    where = f"On {at['cores']} cores, {gigabytes:.0f} GiB, {platform.system()}, Python {at['python']}; backends:\n"
    outcomes, others, *pairs, disagreements, rates = map(to_markdown, audit_tables(audit))
    outcomes, others, rates = (joined(table, "backend") for table in (outcomes, others, rates))
    listed = "\n".join(disagreement_lines(audit)) or "No two backends contradict each other."
    shown = "".join(f"![{name.removesuffix('.svg')}]({folder}/{name})\n" for name in pictures(audit))
    sections = [HEAD, where, backends + absent, outcomes, others, disagreements, f"{listed}\n", rates, FOOT]
    return "\n".join([*sections, "## Pairs, over all actions\n", shown, "## Pairs, by system\n", *grouped(pairs)])


def main() -> None:
    """Audit and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of benchmark data")
    parser.add_argument("--backends", default=",".join(BACKENDS), help="those that are not installed are left out")
    parser.add_argument("--out", type=Path, default=Path("docs/audit.md"))
    parser.add_argument("--work", type=Path, default=Path("out/audit"), help="folder for answers and reports")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    backends, missing = available(tuple(options.backends.split(",")))

    def told(what: str, done: int, total: int) -> None:
        if done in (1, total) or done % 500 == 0:
            sys.stderr.write(f"{what}: {done} of {total}\n")

    problems, completions = systems(options.data)
    audit = crosscheck(problems, completions, backends, options.work, workers=options.workers, progress=told)
    write_audit(audit, options.work)
    drawn = options.out.with_suffix("")
    drawn.mkdir(parents=True, exist_ok=True)
    for old in drawn.glob("*.svg"):
        old.unlink()
    for name, picture in pictures(audit).items():
        (drawn / name).write_text(picture, encoding="utf-8")
    options.out.write_text(page(audit, missing, drawn.name), encoding="utf-8")


if __name__ == "__main__":
    main()
