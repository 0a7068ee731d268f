"""Writes the page of the audit and the pictures beside it: ``python -m studies.audit.page FOLDER_OF_DATA``.

With ``--problems P.jsonl --completions C.jsonl … --out PAGE.md`` it writes the same page for other completions. The
benchmark data take about eight minutes of CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import BadLine, numbered_completions
from proof_r1_formal.engine import get_solver
from proof_r1_formal.errors import ProofR1Error, SolverError
from proof_r1_formal.evaluation.drawing import Picture, outcomes, write_pictures
from proof_r1_formal.evaluation.plots import file_name
from proof_r1_formal.evaluation.tables import Cell, Column, Style, Table, to_markdown
from proof_r1_formal.kernel.answer import Reason
from proof_r1_formal.text.show import show
from studies.audit.compare import RATES, Audit, Outcome, Said, compare
from studies.audit.local_check import Fault
from studies.bench.traces import Sample, traces_by_kind
from studies.bench.verification import machine

BACKENDS = ("z3", "cvc5", "embedded", "process:cvc4", "process:yices-smt2", "process:veriT")
PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
SHOWN = 20
"""How many contradictory queries of a pair the page lists."""

HEAD = """# Audit: the same completions on every backend

This page compares the solvers on the same completions. `make audit DATA=FOLDER` writes it from the benchmark data.
`python -m studies.audit.page --problems P.jsonl --completions C.jsonl --out PAGE.md` writes it for your completions.

The *local check* of an action asks whether the formulas of its declared dependencies entail its conclusion. They are
the premises and the conclusions of earlier actions, admitted or not. So a backend's verdict on one action does not
change the question about another. UNSAT means entailed (dependencies and negated conclusion have no common model), SAT
refuted. Other counts actions without a question (an unparsable formula, a duplicate id, a malformed element or summary,
a missing dependency) and unknown answers. Every query has the solvers' default budget of steps, and at most 5 s.

The *rates* are FVR and RVR, with `--eligibility reference` ([Evaluation](evaluation.md#which-steps-count)). One backend
does the checks of entailment, rules and progress, and its own verdicts determine the admitted actions. If two formulas
differ in one of a few fixed structures, the package does not ask the backend whether they are equivalent.
"""
BENCHMARK = """\
`golden` are the 450 reference proofs of ProverQA, `corrupted` 900 variants of them (wrong conclusions, dependencies,
ids, fields and rules), `warm-up` 56 trajectories published with the method.
"""
FOOT = """## Reading it

* Two backends contradict each other on a query if one says UNSAT and the other SAT. The page would list such
  queries below the table of pairs, with what supports either side.
* With UNSAT, `embedded` gives a checked proof term, and cvc5 mostly one. With SAT, these two and Z3 give checked
  countermodels. Programs that run as processes give no evidence: only `sat` or `unsat` is read from them.
* yices-smt2 decides quantifier-free formulas only. Every query with a quantifier is *unknown: unsupported* and counts
  as Other. An undecided action is not admitted, and actions that depend on it leave the denominators. So the rates of
  yices-smt2 measure the quantifier-free share of the data, not the quality of the proofs.
* The paper also compares veriT. `process:veriT` calls it, and `make audit` includes it where it is installed. On
  28 November 2026 neither Debian 12 nor PyPI had a binary of it. Neither had one of carcara, an independent checker of
  proofs in Alethe, whose Rust sources need crates.io. So there is no column for veriT. Our own checker rechecks cvc5's
  [proofs in Alethe](trust.md#proofs-of-cvc5).

## Pictures

Each picture counts all actions, by the outcomes of one backend in the rows and of the other in the columns. The folder
has each in a dark version, too.
"""


def benchmark(folder: Path) -> dict[str, list[Sample]]:
    """The completions of the benchmark data, by where they come from."""
    found: dict[str, list[Sample]] = {"golden": [], "corrupted": []}
    for sample, kind in traces_by_kind(folder):
        found["golden" if kind == "golden" else "corrupted"].append(sample)
    lines = (folder / "llm_outputs" / "docailab_clean_trajectory_warmup56.jsonl").read_text(encoding="utf-8")
    records = [json.loads(line) for line in lines.splitlines()]
    with tempfile.TemporaryDirectory() as temporary:
        embedded = Path(temporary) / "warm-up.jsonl"
        embedded.write_text("".join(f"{json.dumps(record['problem'])}\n" for record in records), encoding="utf-8")
        problems = read_problems(embedded)
    warm_up = [Sample(problems[f"{r['difficulty']}/{r['problem_id']}"], r["response"]) for r in records]
    return {**found, "warm-up": warm_up}


def own(problems: Path, completions: Sequence[Path]) -> dict[str, list[Sample]]:
    """The completions of files, by the names of the files.

    Raises:
        ProofR1Error: a line is not a completion, or names an unknown problem.
        DataError: a file cannot be read.
    """
    known = read_problems(problems)

    def samples(path: Path) -> Iterator[Sample]:
        for number, item in numbered_completions(path):
            if isinstance(item, BadLine) or item.problem_id not in known:
                why = item.problem if isinstance(item, BadLine) else f"{item.problem_id!r} is not a usable problem"
                raise ProofR1Error(f"{path}, line {number}: {why}")
            yield Sample(known[item.problem_id], item.completion)

    return {str(path): list(samples(path)) for path in completions}


# -- tables -----------------------------------------------------------------------------------------------------------


def local_table(audit: Audit) -> Table:
    """The actions of each system by what each backend says; rows of zeros are left out."""
    rows: list[tuple[Cell, ...]] = []
    for system, questions in audit.questions.items():
        found = [Counter(label for q in questions for label in labels(one.said(q))) for one in audit.backends.values()]
        shown = [label for label in LABELS if any(count[label] for count in found)]
        rows += [(f"{system}, {len(questions)} actions", one, *[count[one] for count in found]) for one in shown]
    return Table("Local checks", _columns(audit, "completions", "outcome", style=Style.COUNT), tuple(rows))


LABELS = (
    *[label for outcome in Outcome for label in (outcome.value, f"{outcome}, with checked evidence")],
    *[f"{Outcome.OTHER}: {fault}" for fault in Fault],
    *[f"{Outcome.OTHER}: unknown, {reason}" for reason in Reason],
)


def labels(said: Said) -> Iterator[str]:
    """The rows in which an answer counts."""
    yield said.outcome.value
    if said.checked:
        yield f"{said.outcome}, with checked evidence"
    if said.reason is not None:
        yield f"{said.outcome}: {'unknown, ' if isinstance(said.reason, Reason) else ''}{said.reason}"


def rates_table(audit: Audit) -> Table:
    """FVR and RVR of each system, with all checks done by one backend."""
    rows: list[tuple[Cell, ...]] = []
    for system in audit.questions:
        for measure in RATES:
            rates = [one.rates[system][measure] for one in audit.backends.values()]
            shown = [f"{100 * rate.value:.1f} % ({rate.numerator:.0f} / {rate.denominator:.0f})" for rate in rates]
            rows.append((system, measure.value, *shown))
    columns = _columns(audit, "completions", "rate", style=Style.TEXT)
    return Table("Rates, with all checks done by one backend", columns, tuple(rows))


def pairs_table(audit: Audit) -> Table:
    """The actions by what two backends say."""
    unsat, sat, other = Outcome
    rows: list[tuple[Cell, ...]] = []
    for pair, counts in audit.pairs().items():
        agree = [counts[outcome, outcome] for outcome in (unsat, sat, other)]
        contradictory = counts[unsat, sat] + counts[sat, unsat]
        undecided = counts.total() - sum(agree) - contradictory
        rows.append((*pair, *agree, undecided, contradictory, len(audit.contradictions(pair))))
    names = ("both UNSAT", "both SAT", "both Other", "one Other", "UNSAT and SAT", "distinct queries of these")
    texts = [Column(name, Style.TEXT) for name in ("backend", "and backend")]
    return Table("Pairs", (*texts, *[Column(name, Style.COUNT) for name in names]), tuple(rows))


def _columns(audit: Audit, *names: str, style: Style) -> tuple[Column, ...]:
    return (*[Column(name, Style.TEXT) for name in names], *[Column(name, style) for name in audit.backends])


def contradictions(audit: Audit) -> Iterator[str]:
    """A line for each of the first queries on which two backends contradict each other."""
    for pair in audit.pairs():
        for query in audit.contradictions(pair)[:SHOWN]:
            said = [f"{name}: {[*labels(audit.backends[name].said(query))][-1]}" for name in pair]
            yield f"{'. '.join(said)}. {', '.join(map(show, query.dependencies))} ⊢ {show(query.conclusion)}"


# -- the page ---------------------------------------------------------------------------------------------------------


def pictures(audit: Audit) -> dict[str, Picture]:
    """The outcomes of each pair, by the name of the picture."""
    labels = [outcome.value for outcome in Outcome]
    return {
        file_name("-".join(pair)): outcomes(
            "local checks", *pair, labels, {(str(a), str(b)): n for (a, b), n in counts.items()}
        )
        for pair, counts in audit.pairs().items()
    }


def page(audit: Audit, about: str, missing: Sequence[str], folder: str) -> str:
    """The page, with its pictures in ``folder`` beside it."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    at = machine()
    where = f"On {at['cores']} cores, {gigabytes:.0f} GiB, {platform.system()}, Python {at['python']}; backends:\n"
    backends = [f"* `{name}`: {one.version}\n" for name, one in audit.backends.items()]
    absent = [f"* not here: {reason}\n" for reason in missing]
    distinct = len(next(iter(audit.backends.values())).answers)
    checks, pairs, rates = map(to_markdown, (local_table(audit), pairs_table(audit), rates_table(audit)))
    listed = "".join(f"    {line}\n" for line in contradictions(audit)) or "No two backends contradict each other.\n"
    asked = f"The actions ask {distinct} distinct queries.\n"
    drawn = "".join(f"![{name}]({folder}/{name}.svg)\n" for name in pictures(audit))
    found = "".join([*backends, *absent])
    return "\n".join([HEAD, about, where, found, asked, checks, pairs, listed, rates, FOOT, drawn])


def write(audit: Audit, out: Path, about: str = "", missing: Sequence[str] = ()) -> None:
    """Write the page and, in the folder named like it, its pictures."""
    write_pictures(pictures(audit), out.with_suffix(""))
    out.write_text(page(audit, about, missing, out.with_suffix("").name), encoding="utf-8")


def available(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The solvers that are installed, and why others are missing."""
    found, missing = [], []
    for name in names:
        try:
            get_solver(name)
        except SolverError as error:
            missing.append(str(error))
        else:
            found.append(name)
    return found, missing


def main() -> None:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", help="folder of benchmark data")
    parser.add_argument("--problems", type=Path, help="other problems than those of the benchmark data")
    parser.add_argument("--completions", type=Path, nargs="+", help="files of completions of these problems")
    parser.add_argument("--backends", default=",".join(BACKENDS), help="those that are not installed are left out")
    parser.add_argument("--out", type=Path, help="the page (default for the benchmark data: docs/audit.md)")
    parser.add_argument("--workers", type=int, default=1, help="processes; each takes one backend at a time")
    options = parser.parse_args()
    names, missing = available(options.backends.split(","))
    try:
        if options.data is not None:
            audit = compare(benchmark(options.data), names, workers=options.workers)
            write(audit, options.out or PAGE, BENCHMARK, missing)
        elif options.problems and options.completions and options.out:
            audit = compare(own(options.problems, options.completions), names, workers=options.workers)
            write(audit, options.out, "", missing)
        else:
            parser.error("give a folder of benchmark data, or --problems, --completions and --out")
    except ProofR1Error as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
