"""Bundles for the tests of ``check_bundle.py``, their places, and the program as a module."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Premise, Problem, three_way_options
from proof_r1_formal.errors import ProofError, ProofR1Error, StructureError
from proof_r1_formal.kernel.answer import Query, is_countermodel
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.serial import from_data, proof_from_data, structure_from_data
from proof_r1_formal.kernel.syntax import BOTTOM, Iff, Not
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.report.bundle import bundle, encode
from proof_r1_formal.text.parse import parse_formula
from tests.build import ROOT, completion, example_answers, example_problems

PROGRAM = ROOT / "check_bundle.py"
STEPS = 1_000_000
"""What the checker may take for a bundle of the tests."""
Path_: TypeAlias = tuple[str | int, ...]


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("check_bundle", PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


checker = _load()


def refusal(data: Any) -> tuple[int, str] | None:
    """The exit status and the message for a bundle; None if it is accepted."""
    try:
        checker.check(checker.Node(data), False, STEPS)
    except checker.FaultError as fault:
        status, message = fault.args
        return int(status), str(message)
    return None


# -- bundles ----------------------------------------------------------------------------------------------------------


def examples() -> dict[str, Any]:
    verifier = Verifier()
    traces = [(item, verifier.verify(case, item.completion, sample=item.sample)) for case, item in example_answers()]
    return dict(bundle(verifier, example_problems(), traces))


def made(problem: Problem, *completions: str, verifier: Verifier | None = None) -> dict[str, Any]:
    """A bundle of completions of one problem, as it is read back."""
    verifier = verifier or Verifier()
    traces = [
        (Completion(problem_id=problem.id, sample=n, completion=text), verifier.verify(problem, text, sample=n))
        for n, text in enumerate(completions)
    ]
    found: dict[str, Any] = json.loads(encode(bundle(verifier, {problem.id: problem}, traces)))
    return found


def summary(*actions: tuple[str, list[str], str, str]) -> str:
    return completion(*actions, thoughts="ok", escaped=False)


def problem_of(name: str, premises: list[str], goal: str, answer: str | None = "h_goal_true") -> Problem:
    rows = tuple([Premise(f"h{n}", parse_formula(text), text, f"text {n}") for n, text in enumerate(premises, 1)])
    return Problem(name, rows, three_way_options(parse_formula(goal)), answer, "Is it so?", "hard")


PEOPLE = problem_of(
    "people/1",
    [
        "∃x (poet(x) ∧ ∀y (knows(x, y)))",
        "∀x (poet(x) → ∃y (muse(y, x) ∧ ¬(y = x)))",
        "∀x:City (old(x) → near(x, mother(Ann)))",
        "old(rome)",
        "Ann = Bea",
        "poet(Ann)",
    ],
    "∃x (poet(x) ∧ knows(x, Ann))",
)


def people() -> dict[str, Any]:
    """Quantifiers, equality, functions, two sorts, and every way in which an action can fail."""
    proof = [
        ("s1", ["h5", "h6"], "poet(Bea)", "CONJUNCTION_ELIMINATION"),
        ("s2", ["h3", "h4"], "near(rome, mother(Ann))", "IMPLICATION_ELIMINATION"),
        ("s3", ["s1", "h2", "h4"], "∃y (muse(y, Bea) ∧ ¬(y = Bea))", "IMPLICATION_ELIMINATION"),
        ("s4", ["h1"], "∃z (poet(z) ∧ knows(z, Ann))", "EXISTENTIAL_INTRODUCTION"),
        ("h_goal_true", ["s4", "s3"], "∃x (knows(x, Ann) ∧ poet(x))", "GOAL_BINDING"),
    ]
    failing = [
        ("s1", ["h1"], "poet(rome)", "NO_SUCH_RULE"),
        ("s2", ["s1", "h9"], "poet(Ann) ∨ poet(Bea)", "DISJUNCTION"),
        ("s1", ["h6"], "poet(Ann)", "CONJUNCTION_ELIMINATION"),
        ("s3", ["h6"], "poet(Ann, Bea)", "CONJUNCTION_ELIMINATION"),
        ("s4", ["h6"], "poet(Ann", "CONJUNCTION_ELIMINATION"),
        ("s5", ["h6"], "poet(Ann) ∨ ¬poet(Ann)", "CONJUNCTION_ELIMINATION"),
        ("s6", ["h1", "h2", "h3", "h4", "h5"], "poet(Ann)", "CONJUNCTION_ELIMINATION"),
        ("s7", ["h6", "s5"], "∃x (poet(x) ∧ knows(x, Ann))", "CONJUNCTION_ELIMINATION"),
    ]
    extra = '<summary>[{"id": "s1", "id": 3, "dependencies": "h1", "conclusion": "poet(Ann)", "extra": {"a": [1]}}, 7]'
    return made(
        PEOPLE,
        summary(*proof),
        summary(*failing),
        extra + "</summary>",
        "no summary",
        summary(),
        summary(*proof[3:4], ("h_goal_uncertain", ["s4"], "∃x (poet(x) ∧ knows(x, Ann))", "GOAL_BINDING")),
        f"<summary>\n```json\n{json.dumps([{}])}\n```\n</summary>",
    )


def inconsistent() -> dict[str, Any]:
    return made(
        problem_of("odd/1", ["p", "p → ¬p", "q ⊕ r"], "r"),
        summary(("s1", ["h1", "h2"], "r", "MODUS_TOLLENS"), ("h_goal_false", ["s1"], "¬r", "GOAL_BINDING")),
    )


def uncertain() -> dict[str, Any]:
    case = problem_of("open/1", ["p ∨ q", "p → q ∨ r"], "r", "h_goal_uncertain")
    return made(case, summary(("h_goal_uncertain", ["h1"], "r", "GOAL_BINDING")), summary(("s1", ["h1"], "r", "X")))


BUNDLES = {"examples": examples, "people": people, "inconsistent": inconsistent, "uncertain": uncertain}


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def at(value: Any, path: Path_) -> Any:
    for key in path:
        value = value[key]
    return value


def evidence_at(path: Path_) -> Path_ | None:
    """Where the evidence is that a place is in."""
    for end, key in enumerate(path):
        if key in ("evidence", "binding", "consistency") or (
            key in ("goal", "negation") and path[end - 1] == "uncertain"
        ):
            return path[: end + 1]
    return None


def all_evidence_holds(data: Any) -> bool:
    """Whether the package itself accepts all evidence of a bundle."""
    found = [path for path in places(data) if path == evidence_at(path) and at(data, path) is not None]
    return all(is_evidence(at(data, path), question_at(data, path)) for path in found)


def question_at(data: Any, path: Path_) -> Query:
    """What the evidence at a place is about."""
    trace = None if path[0] == "problems" else data["traces"][path[1]]
    problem = (
        data["problems"][path[1]]
        if trace is None
        else next(problem for problem in data["problems"] if problem["id"] == trace["problem"])
    )
    known = {premise["id"]: from_data(premise["formula"]) for premise in problem["premises"]}
    if trace is None:
        return Query(tuple(known.values()), BOTTOM)
    if path[2] in ("binding", "uncertain"):
        option = next(from_data(o["formula"]) for o in problem["options"] if o["id"] == trace["answer"])
        if path[2] == "binding":
            return Query((), Iff(from_data(trace["actions"][-1]["formula"]), option))
        return Query(tuple(known.values()), option if path[3] == "goal" else Not(option))
    for action in trace["actions"][: path[3]]:
        if action["verdicts"]["semantic"]:
            known[action["id"]] = from_data(action["formula"])
    action = trace["actions"][path[3]]
    return Query(tuple(known[name] for name in action["dependencies"]), from_data(action["formula"]))


def is_evidence(data: Any, query: Query) -> bool:
    """Whether the package itself accepts the evidence."""
    try:
        if "proof" in data:
            check(proof_from_data(data["proof"]), query.dependencies, query.conclusion)
            return True
        return is_countermodel(query, structure_from_data(data["countermodel"]))
    except (ProofError, StructureError, ProofR1Error):
        return False
