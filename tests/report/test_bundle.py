"""Bundles: ``check_bundle.py`` accepts what is written, and refuses with a place what was tampered with.

Random places of bundles are changed. What the checker then still accepts must be in a field that is listed here, or be
evidence that the package's own checker accepts, too.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.completions import Completion, read_completions
from proof_r1_formal.data.problem import Premise, Problem, three_way_options
from proof_r1_formal.errors import DataError, ProofError, ProofR1Error, StructureError
from proof_r1_formal.evidence.checker import check
from proof_r1_formal.evidence.serial import proof_from_data, proof_to_data, structure_from_data, structure_to_data
from proof_r1_formal.logic.parse import parse_formula
from proof_r1_formal.logic.query import Query
from proof_r1_formal.logic.serial import from_data, to_data
from proof_r1_formal.logic.syntax import BOTTOM, Iff, Not
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.report.bundle import bundle, encode, write_bundle
from proof_r1_formal.solvers import get_solver
from proof_r1_formal.solvers.base import Entailed, Refuted, is_countermodel
from proof_r1_formal.solvers.embedded import EmbeddedSolver
from proof_r1_formal.testing.completions import completions
from proof_r1_formal.testing.strategies import queries
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "check_bundle.py"
STEPS = 1_000_000
"""What the checker may take for a bundle of the tests."""
MUTANTS = 500
"""How many corruptions are tried on each bundle."""

Path_: TypeAlias = tuple[str | int, ...]


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("check_bundle", PROGRAM)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


checker = _load()
ENGINE = EmbeddedSolver()


def run(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The checker as its readers run it: without this package, without site-packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM), str(path), *options],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )


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
    problems = read_problems(ROOT / "examples" / "problems.jsonl")
    verifier = Verifier()
    traces = [
        (item, verifier.verify(problems[item.problem_id], item.completion, sample=item.sample))
        for item in read_completions(ROOT / "examples" / "completions.jsonl")
        if isinstance(item, Completion)
    ]
    return dict(bundle(verifier, problems, traces))


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
    rows = [{"id": i, "dependencies": d, "conclusion": c, "rule": r} for i, d, c, r in actions]
    return f"<think>ok</think><summary>{json.dumps(rows, ensure_ascii=False)}</summary>"


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


OPTION = "∃x (poet(x) ∧ knows(x, Ann))"


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


# -- what is written is accepted --------------------------------------------------------------------------------------


def test_the_examples_are_accepted(tmp_path: Path) -> None:
    problems = read_problems(ROOT / "examples" / "problems.jsonl")
    verifier = Verifier()
    items = [item for item in read_completions(ROOT / "examples" / "completions.jsonl") if isinstance(item, Completion)]
    traces = [(i, verifier.verify(problems[i.problem_id], i.completion, sample=i.sample)) for i in items]
    write_bundle(tmp_path / "bundle.json", verifier, problems, traces)
    found = run(tmp_path / "bundle.json", "--show")
    assert (found.returncode, found.stderr) == (0, "")
    assert "ok: 7 problems, 13 traces, 42 steps" in found.stdout
    assert "Whoever is on duty waters the roses." in found.stdout
    again = Verifier()
    assert (tmp_path / "bundle.json").read_bytes() == encode(bundle(again, problems, traces))


@pytest.mark.parametrize("name", BUNDLES)
def test_bundles_are_accepted(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_bytes(encode(BUNDLES[name]()))
    found = run(path)
    assert (found.returncode, found.stderr) == (0, ""), found.stdout


@pytest.mark.shared
def test_bundles_of_benchmark_traces_are_accepted(shared_data: Path, tmp_path: Path) -> None:
    problems = read_problems(shared_data / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    verifier = Verifier()
    samples: Counter[str] = Counter()
    traces = []
    for line in (shared_data / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines()[::5]:
        record = json.loads(line)
        name = f"{record['difficulty']}/{record['problem_id']}"
        item = Completion(problem_id=name, sample=samples[name], completion=record["response"])
        samples[name] += 1
        traces.append((item, verifier.verify(problems[name], item.completion, sample=item.sample)))
    path = tmp_path / "bundle.json"
    write_bundle(path, verifier, problems, traces)
    found = run(path)
    assert found.returncode == 0, found.stdout
    assert "450 problems, 270 traces" in found.stdout


# -- what was tampered with is refused --------------------------------------------------------------------------------

FREE = (
    r"made_by.*",
    r"problems\[\d+\]\.(question|notes.*)",
    r"problems\[\d+\]\.premises\[\d+\]\.(text|source)",
    r"problems\[\d+\]\.options\[\d+\]\.label",  # but for "Uncertain"
    r"traces\[\d+\]\.completion",  # outside of what the actions say
    r"schemata\..*",
    r"traces\[\d+\]\.(kernels.*|actions\[\d+\]\.instance)",
)
"""What is for people or taken as stated: nothing depends on it."""

STATED = ("UNKNOWN_RULE", "NO_RULE_MATCH", "RULE_UNDECIDED")
"""Findings that are taken as stated: another may stand in the place of one."""


def is_unused(data: Any, path: Path_, new: Any) -> bool:
    """Whether nothing that is checked depends on a place, though it does on others like it."""
    old = at(data, path)
    match path:
        case (("problems" | "traces"),):  # the order
            return sorted(map(json.dumps, old)) == sorted(map(json.dumps, new))
        case ("problems", int(index), field, *inside):
            problem = data["problems"][index]
            answers = [trace["answer"] for trace in data["traces"] if trace["problem"] == problem["id"]]
            if field in ("answer", "reference_length"):
                return not answers or not is_scored(problem)
            if field not in ("premises", "options") or inside[1:] == ["formula"]:
                return field == "options" and problem["options"][inside[0]]["id"] not in {problem["answer"], *answers}
            touched = [part for part in problem[field] if not isinstance(new, list) or part not in new]
            if inside:
                touched = [problem[field][inside[0]]]
            named = {name for trace in data["traces"] for step in trace["actions"] for name in step["dependencies"]}
            return not {part["id"] for part in touched} & {problem["answer"], *answers, *named}
        case ("traces", int(index), "sample"):
            name = data["traces"][index]["problem"]
            return not is_scored(next(problem for problem in data["problems"] if problem["id"] == name))
        case ("traces", int(index), "actions", int(number), field, *_):
            action = data["traces"][index]["actions"][number]
            if field == "findings":
                before, after = (Counter(value if isinstance(value, list) else [value]) for value in (old, new))
                return {*(before - after), *(after - before)} <= {*STATED}
            return field == "formula" and action["evidence"] is None
    return False


def is_scored(problem: Any) -> bool:
    return problem["answer"] != "h_goal_uncertain" and "proof" not in problem["consistency"]


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


def changes(value: Any) -> list[Any]:
    """Other values in place of one."""
    match value:
        case bool():
            return [not value, None, 1]
        case int():
            return [value + 1, -1, str(value), True, 10**40]
        case float():
            return [value + 0.2, None, 10**400]
        case str():
            return [f"{value}x", 3, None]
        case None:
            return ["x", {}, [], 0]
        case list():
            dropped = [value[:i] + value[i + 1 :] for i in range(len(value))]
            return [*dropped, [*value, *value[-1:]], value[::-1], ["not", value], {}, None]
        case _:
            return [*[{k: v for k, v in value.items() if k != key} for key in value], {**value, "more": 1}, [], None]


def text_of(path: Path_) -> str:
    return str(checker.Node(None, path)).removeprefix("$.")


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


@pytest.mark.parametrize("name", BUNDLES)
def test_corrupted_bundles_are_refused_with_the_place(name: str) -> None:
    data = json.loads(encode(BUNDLES[name]()))
    assert refusal(data) is None
    random = Random(name)
    candidates = [path for path in places(data) if path]
    refused = 0
    for _ in range(MUTANTS):
        path = random.choice(candidates)
        parent, old = at(data, path[:-1]), at(data, path)
        new = random.choice(changes(old))
        if new == old and type(new) is type(old):
            continue
        parent[path[-1]] = new
        found = refusal(data)
        holds = found is None and all_evidence_holds(data)
        parent[path[-1]] = old
        if found is not None:
            assert found[0] in (1, 2) and found[1].startswith("$"), found
            refused += 1
            continue
        about_formulas = evidence_at(path) is not None or (path[0] == "problems" and "formula" in path)
        listed = any(re.fullmatch(pattern, text_of(path)) for pattern in FREE) or is_unused(data, path, new)
        assert (about_formulas and holds) or listed, f"accepted: {text_of(path)}: {str(old)[:200]} -> {str(new)[:200]}"
    assert refused > MUTANTS * 0.7


DIRECTED: dict[str, tuple[Path_, Any]] = {
    "a dependency is dropped": (("traces", 2, "actions", 0, "dependencies"), ["h2"]),
    "a line of a proof is changed": (("traces", 0, "actions", 0, "evidence", "proof", 0, "main"), 0),
    "a proof is dropped": (("traces", 0, "actions", 0, "evidence"), None),
    "a proof is a solver's word": (("traces", 0, "actions", 0, "evidence"), {"unsupported": True}),
    "a model makes nothing true": (("problems", 0, "consistency", "countermodel", "predicates", "on_duty"), []),
    "a constant is outside the domain": (
        ("problems", 0, "consistency", "countermodel", "functions", "Mara"),
        [[[], 7]],
    ),
    "an instance is dropped": (("traces", 0, "actions", 0, "instance"), None),
    "a step without rule is an instance": (("traces", 3, "actions", 0, "instance"), "goal_binding"),
    "a schema is invented": (("schemata",), {"anything": ["Lean"]}),
    "a kernel accepts an answer that is not verified": (("traces", 3, "kernels"), ["Lean"]),
    "a verdict is flipped": (("traces", 3, "actions", 0, "verdicts", "semantic"), True),
    "a signal is raised": (("traces", 3, "actions", 0, "signal"), 0.3),
    "an entry of a closure is removed": (("traces", 0, "closure"), ["h1", "h2", "h_goal_true"]),
    "an entry of a used closure is removed": (("traces", 0, "used_closure"), ["h2", "s1", "h_goal_true"]),
    "a number is changed": (("metrics", "overall", "scores", "FVR", "value"), 1.0),
    "a premise is replaced": (("problems", 0, "premises", 0, "formula"), ["atom", "on_duty", ["app", "Tilo"]]),
    "an option is negated": (
        ("problems", 0, "options", 0, "formula"),
        ["not", ["atom", "waters_roses", ["app", "Mara"]]],
    ),
    "an id is there twice": (("problems", 1, "premises", 1, "id"), "h1"),
    "a problem is there twice": (("problems", 1, "id"), "garden/1"),
    "a sample is there twice": (("traces", 1, "sample"), 0),
    "another answer is stated": (("traces", 0, "answer"), "h_goal_false"),
    "another conclusion is stated": (("traces", 0, "actions", 0, "conclusion"), "on_duty Mara"),
    "the format is another": (("format",), "proof-r1-bundle/2"),
}


@pytest.mark.parametrize("what", DIRECTED)
def test_each_kind_of_field_is_checked(what: str) -> None:
    data = json.loads(encode(examples()))
    path, new = DIRECTED[what]
    assert at(data, path) != new
    at(data, path[:-1])[path[-1]] = new
    found = refusal(data)
    assert found is not None and found[1].startswith("$")


@pytest.mark.parametrize(
    ("path", "new", "place"),
    [
        (("traces", 0, "actions", 0, "formula"), None, "$.traces[0].actions[0]."),
        (("traces", 3, "binding"), {"proof": []}, "$.traces[3].binding"),
        (("traces", 4, "binding"), {"proof": []}, "$.traces[4].binding"),
        (("metrics", "difficulties", "hard", "scores", "Avg", "value"), 10**400, "$.metrics.difficulties.hard.scores"),
        (("metrics", "overall", "rules"), {}, "$.metrics"),
    ],
)
def test_what_is_missing_is_told(path: Path_, new: Any, place: str) -> None:
    data = people()
    at(data, path[:-1])[path[-1]] = new
    found = refusal(data)
    assert found is not None and found[1].startswith(place)


def test_a_bundle_of_nothing_is_accepted() -> None:
    data = json.loads(encode(bundle(Verifier(), {}, [])))
    assert refusal(data) is None


def test_dropped_actions_are_missed() -> None:
    data = json.loads(encode(examples()))
    data["traces"][0]["actions"].pop(0)
    assert refusal(data) == (1, "$.traces[0].actions: the completion has 2 elements")


def test_a_draft_does_not_count_for_the_summary() -> None:
    """A wrong answer stays wrong: the actions of the draft before it are none of the summary's."""
    right = summary(("s1", ["h6"], "poet(Ann) ∨ poet(rome)", "X"), ("h_goal_true", ["h1"], OPTION, "GOAL_BINDING"))
    wrong = summary(("h_goal_false", ["h6"], f"¬({OPTION})", "GOAL_BINDING"))
    text = f"<think>{right.removeprefix('<think>ok</think>')}{wrong}"
    data, lie = made(PEOPLE, text), made(PEOPLE, text.partition("<think>ok")[0])
    assert data["traces"][0]["answer"] == "h_goal_false"
    assert lie["traces"][0]["verified"]
    lie["traces"][0]["completion"] = text
    assert refusal(lie) == (1, "$.traces[0].actions: the completion has 1 elements")


def test_actions_cannot_be_left_out() -> None:
    data = people()
    trace = data["traces"][5]
    trace |= {"actions": [], "answer": None, "binding": None, "uncertain": None, "closure": [], "used_closure": []}
    assert refusal(data) == (1, "$.traces[5].actions: the completion has 2 elements")
    trace |= {"parsed": False}
    assert refusal(data) == (1, "$.traces[5].parsed: the completion says True")


@given(completions() | st.text(alphabet=st.sampled_from('<summary>/think[]{}",:\\ \n`json0.5ééu'), max_size=60))
@example("<summary>```\n[1]\n```</summary></think><summary>[2]</summary>")
@example(f"<summary>[{'[' * 64}{']' * 64}, {'9' * 5000}]</summary>")
@example(f"<summary>[{'[' * 65}{']' * 65}]</summary>")
@example('<summary>[{"id": "a", "id": 1, "x": 1, "x": 2, "dependencies": ["b", "\\ud800", "b"], "rule": ""}]</summary>')
def test_the_checker_reads_completions_as_the_package_does(text: str) -> None:
    parsed, found = checker.actions_of(text)
    trace = read_completion(text)
    assert parsed == trace.parsed
    assert len(found) == len(trace.actions)
    for (says, codes), action in zip(found, trace.actions, strict=True):
        assert says == {
            "span": [*action.span],
            "id": action.id,
            "dependencies": [*action.dependencies],
            "declared_rule": action.rule,
            "conclusion": action.conclusion,
        }
        wrong = Counter(finding.code.value for finding in action.findings)
        assert codes == wrong - Counter(["UNPARSABLE_CONCLUSION"])


# -- the work is bounded ----------------------------------------------------------------------------------------------


def test_a_small_bundle_of_much_work_is_not_checked(tmp_path: Path) -> None:
    data = made(problem_of("large/1", ["∀x ∀y ∀z (p(x) → p(x) ∨ p(y) ∧ p(z))"], "q"))
    data["problems"][0]["consistency"]["countermodel"]["domains"]["Entity"] = 1000
    path = tmp_path / "bundle.json"
    path.write_bytes(encode(data))
    found = run(path)
    assert (found.returncode, found.stderr) == (3, "")
    assert found.stdout.startswith("$.problems[0].consistency: not checked: more than 10")
    assert "see --steps" in found.stdout


def test_more_or_fewer_steps_may_be_allowed(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_bytes(encode(uncertain()))
    assert run(path, "--steps=10").returncode == 3
    assert run(path, "--steps=10000").returncode == 0
    assert run(path, "--steps=").returncode == 2


@pytest.mark.parametrize("connective", ["and", "not"])
def test_lines_about_a_large_formula_take_steps_for_each_part_of_it(connective: str) -> None:
    def steps(size: int) -> int:
        data = made(problem_of("wide/1", ["p"], "p"))
        formula: list[Any] = ["top"]
        for _ in range(size):
            formula = [connective, formula] if connective == "not" else [connective, formula, ["top"]]
        data["problems"][0]["premises"][0]["formula"] = ["forall", ["var", "x", "Entity"], formula]
        lines = [{"line": "Instance", "main": 0, "term": ["app", "a"]}] * size
        data["problems"][0]["consistency"] = {"proof": lines}
        assert refusal(data) == (1, "$.problems[0].consistency.proof: the last line is not the conclusion")
        return int(checker.STEPS.taken)

    assert steps(80) > 3.5 * steps(40)


# -- the checker's own checks against the package's -------------------------------------------------------------------


@given(queries(), st.randoms(use_true_random=False))
def test_both_checkers_agree_on_corrupted_evidence(query: Query, random: Random) -> None:
    match ENGINE.decide(query):
        case Entailed(proof) if proof is not None:
            data: Any = {"proof": proof_to_data(proof)}
        case Refuted(model) if model is not None:
            data = {"countermodel": structure_to_data(model)}
        case _:
            return
    data = json.loads(json.dumps(data))
    assert accepts(data, query)
    for _ in range(5):
        path = random.choice([path for path in places(data) if len(path) > 1])
        parent, old = at(data, path[:-1]), at(data, path)
        parent[path[-1]] = random.choice(changes(old))
        ours = accepts(data, query)
        if "proof" in data:
            assert ours == is_evidence(data, query), data
        elif ours:  # not the other way: no two entries at one place, no values outside of small domains, here alone
            assert is_evidence(data, query), data
        parent[path[-1]] = old


def accepts(data: Any, query: Query) -> bool:
    """Whether ``check_bundle.py`` accepts evidence."""
    checker.STEPS.taken, checker.STEPS.most = 0, STEPS
    premises = [checker.read(checker.Node(to_data(formula))) for formula in query.dependencies]
    conclusion = checker.read(checker.Node(to_data(query.conclusion)))
    try:
        decided = checker.Evidence().decide(checker.Node(data), premises, conclusion)[0]
    except checker.FaultError:
        return False
    return bool(decided == ("proof" in data))


# -- what is no bundle ------------------------------------------------------------------------------------------------

HOSTILE = {
    "nothing": "",
    "no JSON": "{",
    "another value": "[]",
    "a number": "1",
    "NaN": '{"format": NaN}',
    "infinity": '{"format": -Infinity}',
    "a huge number": f'{{"format": {"9" * 10_000}}}',
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "deep and whole": "[" * 3_000 + "]" * 3_000,
    "a repeated key": '{"format": 1, "format": 1}',
    "wrong types": '{"format": [], "made_by": [], "problems": {}, "traces": 1, "metrics": null}',
    "no Unicode": "\ud800",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_bundle_is_told_without_a_traceback(what: str, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_bytes(HOSTILE[what].encode(errors="surrogatepass"))
    found = run(path)
    assert (found.returncode, found.stderr) == (2, "")
    assert found.stdout.startswith("$")


@pytest.mark.parametrize("depth", [200, 2_000, 20_000])
def test_deep_formulas_are_told_without_a_traceback(depth: int, tmp_path: Path) -> None:
    text = encode(examples()).decode()
    deep = '["not", ' * depth + '["top"]' + "]" * depth
    path = tmp_path / "bundle.json"
    path.write_text(text.replace('["atom", "on_duty", ["app", "Mara"]]', deep, 1), encoding="utf-8")
    found = run(path)
    assert found.returncode in (1, 2) and found.stderr == "" and found.stdout.startswith("$")


def test_a_missing_file_and_wrong_use(tmp_path: Path) -> None:
    assert run(tmp_path / "none.json").returncode == 2
    assert run(tmp_path / "none.json", "--more").returncode == 2


def test_a_result_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_bytes(encode(examples()))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, str(PROGRAM), str(path)], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)
    assert done.stderr.startswith(b"the result cannot be written: ")


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text('{"format\\u001b[2J": 1}', encoding="utf-8")
    assert "\x1b" not in run(path).stdout


# -- writing ----------------------------------------------------------------------------------------------------------


def test_verdicts_on_a_solvers_word_are_told(tmp_path: Path) -> None:
    data = made(
        PEOPLE,
        summary(("s1", ["h5", "h6"], "poet(Bea)", "CONJUNCTION_ELIMINATION")),
        verifier=Verifier(get_solver("z3")),
    )
    path = tmp_path / "bundle.json"
    path.write_bytes(encode(data))
    refused = run(path)
    assert refused.returncode == 1
    assert "$.traces[0].actions[0].evidence: 1 verdicts are unsupported" in refused.stdout
    assert run(path, "--accept-unsupported").returncode == 0


def test_a_bundle_needs_evidence_known_problems_and_one_trace_per_sample() -> None:
    problems = {PEOPLE.id: PEOPLE}
    item = Completion(problem_id=PEOPLE.id, completion=summary())
    report = Verifier().verify(PEOPLE, item.completion)
    with pytest.raises(ProofR1Error, match="evidence='checked'"):
        bundle(Verifier(evidence="none"), problems, [(item, report)])
    with pytest.raises(ProofR1Error, match="which is not there"):
        bundle(Verifier(), {}, [(item, report)])
    with pytest.raises(ProofR1Error, match="number the samples"):
        bundle(Verifier(), problems, [(item, report), (item, report)])


def test_a_bundle_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_bundle(tmp_path / "no" / "bundle.json", Verifier(), {PEOPLE.id: PEOPLE}, [])
    assert list(tmp_path.iterdir()) == []


def test_unpaired_surrogates_are_kept() -> None:
    data = made(PEOPLE, "<think>\ud800</think>")
    assert data["traces"][0]["completion"] == "<think>\ud800</think>"
    assert refusal(data) is None
