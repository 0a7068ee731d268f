"""Lies: each claim of a bundle is made false in every way that is thought of here, and ``check_bundle.py`` must notice.

The liar is clever: whatever the checker expects elsewhere, he states (verdicts, findings, closures, the evaluation),
but he sticks to his lie. What is accepted in the end must be true all the same: the verifier, run again on the
problem and the completion of the bundle, must find nothing less than what is claimed. What needs a parser or the rule
check is taken as stated (``docs/bundle.md``), so that a formula and its text, or a rule, may say something else.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.data.problem import Option, Premise, Problem
from proof_r1_formal.kernel.serial import from_data
from proof_r1_formal.proof.report import Code, StepReport, TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import FOLIO
from tests.build import ROOT
from tests.report.bundles import (
    PEOPLE,
    Path_,
    all_evidence_holds,
    at,
    checker,
    evidence_at,
    inconsistent,
    made,
    places,
    problem_of,
    summary,
    uncertain,
)

ROUNDS = 60
"""How often the liar adapts the rest of the bundle to what the checker expects."""
STEPS = 200_000


def garden() -> dict[str, Any]:
    """A right answer, a wrong one that a draft would make right, a cascade, and no array."""
    case = problem_of("garden/1", ["p(a) ⊕ q(a)", "¬q(a)", "∀x (p(x) → r(x))"], "r(a)")
    right = [
        ("s1", ["h1", "h2"], "p(a)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
        ("h_goal_true", ["s1", "h3"], "r(a)", "GOAL_BINDING"),
    ]
    wrong = [
        ("s1", ["h1"], "q(a)", "EXCLUSIVE_DISJUNCTION_ELIMINATION"),
        ("s2", ["s1", "h9"], "¬r(a)", "MODUS_TOLLENS"),
        ("s2", ["h2"], "¬q(a) ∨ r(a)", "DISJUNCTION_INTRODUCTION"),
        ("h_goal_false", ["s2"], "¬r(a)", "GOAL_BINDING"),
    ]
    draft, final = (summary(*steps).removeprefix("<think>ok</think>") for steps in (right, wrong))
    return made(case, f"<think>{draft}</think>so:{final}", summary(*right), f"<think>{draft}</think>{final[:-10]}")


def ill_formed() -> dict[str, Any]:
    """Every way in which an element is not well formed, in an array with a fence around it."""
    case = problem_of("forms/1", ["p(a)"], "p(a)")
    good = {"id": "s1", "dependencies": ["h1"], "conclusion": "p(a) ∨ p(b)", "rule": "DISJUNCTION_INTRODUCTION"}
    bind = {"id": "h_goal_true", "dependencies": ["h1", "s1"], "conclusion": "p(a)", "rule": "GOAL_BINDING"}
    rows = [good, {**good, "id": 7}, {**good, "more": [1]}, {"id": "s4"}, 5, {**good, "dependencies": [*"abcde"]}, bind]
    text = json.dumps(rows)[:-1] + ', {"id": "h_goal_true", "id": "h_goal_false", "dependencies": ["s1", null]}]'
    return made(case, f"<summary>```json\n{text}\n```</summary>", f"<summary>{json.dumps(rows)}</summary>")


def people() -> dict[str, Any]:
    """Sorts, quantifiers, equality; a step that does not follow."""
    return made(
        PEOPLE,
        summary(
            ("s1", ["h5", "h6"], "poet(Bea)", "CONJUNCTION_ELIMINATION"),
            ("s2", ["h6", "s1"], "∃x (poet(x) ∧ knows(x, Ann))", "EXISTENTIAL_INTRODUCTION"),
            ("s4", ["h1"], "∃z (poet(z) ∧ knows(z, Ann))", "EXISTENTIAL_INTRODUCTION"),
            ("h_goal_true", ["s4", "s1"], "∃x (knows(x, Ann) ∧ poet(x))", "GOAL_BINDING"),
        ),
    )


BUNDLES = {"garden": garden, "ill-formed": ill_formed, "people": people, "open": uncertain, "odd": inconsistent}


# -- lies -------------------------------------------------------------------------------------------------------------

CODES = [code.value for code in Code]


def lies(data: Any) -> Iterator[tuple[Path_, Any]]:
    """A place, and another value there: for every place, every value that might do instead."""
    ids = [part["id"] for problem in data["problems"] for part in (*problem["premises"], *problem["options"])]
    ids += [action["id"] for trace in data["traces"] for action in trace["actions"] if action["id"]]
    pools: dict[str | int, list[Any]] = {
        "id": [*dict.fromkeys(ids), "s9", "", None],
        "answer": [*dict.fromkeys(ids), None],
        "declared_rule": ["GOAL_BINDING", "CONJUNCTION_ELIMINATION", "goal_binding", "NO_SUCH_RULE", "", None],
        "signal": [0.0, 0.1, 0.3, 1.0, 0.2, 0.30000000000000004, -1.0, 0, True],
        "sample": [0, 1, 2, 9],
        "problem": ["garden/1", "nothing", ""],
        "reference_length": [None, 0, 1, 5],
        "label": ["True", "False", "Uncertain", "uncertain"],
        "format": ["proof-r1-bundle/2", ""],
    }
    for kind in ("formula", "evidence", "binding", "consistency", "goal", "negation", "conclusion"):
        found = [at(data, path) for path in places(data) if path and path[-1] == kind]
        pools[kind] = [*{json.dumps(value): value for value in found}.values(), None]
    for path in places(data):
        if path and path[0] != "metrics":
            yield from ((path, new) for new in _others(path, at(data, path), pools, ids))
    yield from _other_traces(data)
    for path in [path for path in places(data) if path[:1] == ("metrics",) and path[1:]]:
        old = at(data, path)
        if isinstance(old, dict):
            yield path, {**old, "more": 1}
            yield path, dict(list(old.items())[1:])
        else:
            yield path, old + 1 if isinstance(old, int | float) else 1
            yield path, None if old is not None else 0.0


def _other_traces(data: Any) -> Iterator[tuple[Path_, Any]]:
    """For each trace, one without actions, and each other one, its elements pointing to where the text has the same."""
    for index, trace in enumerate(data["traces"]):
        nothing = {"answer": None, "binding": None, "uncertain": None, "verified": False, "rule_verified": False}
        for parsed in (True, False):
            none: dict[str, Any] = {"parsed": parsed, "actions": [], "closure": [], "used_closure": []}
            yield ("traces", index), {**trace, **nothing, **none}
        for other in data["traces"]:
            moved = copy.deepcopy(other)
            for action in moved["actions"]:
                element = other["completion"][slice(*action["span"])]
                start = trace["completion"].find(element)
                action["span"] = [start, start + len(element)] if start >= 0 else action["span"]
            if other is not trace:
                yield ("traces", index), {**moved, **{key: trace[key] for key in ("sample", "completion")}}


def _others(path: Path_, old: Any, pools: dict[str | int, list[Any]], ids: list[str]) -> Iterator[Any]:
    key = path[-1]
    yield from [new for new in pools.get(key, ()) if new != old or type(new) is not type(old)]
    if key == "formula" and path[0] != "metrics":
        yield ["not", old]
    elif key == "completion":
        yield from _other_completions(old)
    elif key == "parsed" or isinstance(old, bool):
        yield not old
    elif key == "findings":
        yield from ([*old, code] for code in CODES)
    elif key in ("closure", "used_closure", "dependencies"):
        yield from ([*old, name] for name in dict.fromkeys(ids))
        yield []
    elif isinstance(old, int) and not isinstance(old, bool):
        yield from (old + 1, old - 1, 2 * old + 7)
    elif isinstance(old, dict) and key in ("evidence", "binding", "consistency", "goal", "negation"):
        yield from ({"unsupported": True}, {"unsupported": False}, {"proof": []}, {})
    if isinstance(old, list) and "formula" not in path:
        yield from (old[:index] + old[index + 1 :] for index in range(len(old)))
        yield from ([*old[:index], old[index], *old[index:]] for index in range(len(old)))
        yield from (old[index:] + old[:index] for index in range(1, len(old)))
        yield []


def _other_completions(text: str) -> Iterator[str]:
    """Texts of which another summary counts, or none, or with another element."""
    array = text[text.rfind("<summary>") + 9 : text.rfind("</summary>")]
    yield from (
        f"{text}</think>",
        f"<summary>[]</summary>{text}",
        text.replace("<think>", ""),
        text.replace("</think>", ""),
    )
    yield from (f"{text}<summary>[]</summary>", text[:-10], text.replace("<summary>", "<summary>[],"), text[::-1], "")
    yield from (
        text.replace("</summary>", " 0</summary>"),
        text.replace(array, f"```\n{array}\n```"),
        text.replace(array, f"[{array}]"),
    )
    yield from (text.replace('"h1"', '"h2"'), text.replace('"s1"', '"s7"'), text.replace("GOAL_BINDING", "X"))
    yield from (text.replace('"conclusion"', '"Conclusion"'), text.replace(": ", ":"), text.replace("[", "[ "))
    yield text.replace('{"id"', '{"id": "h1", "id"')


# -- the liar ---------------------------------------------------------------------------------------------------------


def refused(data: Any) -> tuple[Path_, str] | None:
    """The place and the message of the checker's refusal; None if it accepts."""
    try:
        checker.check(checker.Node(data), False, STEPS)
    except checker.FaultError as fault:
        place, _, message = fault.args[1].partition(": ")
        return _path(data, place), message
    return None


def _path(data: Any, place: str) -> Path_:
    """The first path that the checker writes so; only what begins as the place is looked at."""

    def first(value: Any, path: Path_) -> Path_ | None:
        shown = str(checker.Node(None, path))
        if shown == place:
            return path
        if not place.startswith(shown):
            return None
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return next((found for key, part in parts if (found := first(part, (*path, key)))), None)

    return first(data, ()) or ("?",)


def told(bundle: str, path: Path_, new: Any) -> Any | None:
    """The bundle, which is JSON, with a lie that the checker accepts, everything else being adapted.

    None if it does not accept it.
    """
    data = json.loads(bundle)
    at(data, path[:-1])[path[-1]] = new
    for _ in range(ROUNDS):
        found = refused(data)
        if found is None:
            return data
        place, message = found
        is_the_lie = place[: len(path)] == path or (path[: len(place)] == place and len(place) > 1)
        if is_the_lie or not adapt(data, place, message):
            return None
    return None


def adapt(data: Any, place: Path_, message: str) -> bool:
    """State at a place what the checker expects there, if it says it."""
    if place[:1] == ("metrics",):
        data["metrics"] = evaluation(data)
        return True
    if place[-1:] == ("findings",) and message.startswith("expected: "):
        expected = ast.literal_eval(message.removeprefix("expected: "))
        kept = [code for code in at(data, place) if code not in checker.DERIVED]
        _put(data, place, [*Counter(expected).elements(), *kept])
        return True
    if message == "a refuted step is not an instance of its rule":
        at(data, place).append("NO_RULE_MATCH")
        return True
    if message == "the conclusion is nothing new":
        at(data, place).append("TAUTOLOGY")
        return True
    if message.startswith("only ") and place[-1:] == ("findings",):
        allowed = message.removeprefix("only ").removesuffix(" are expected").split(", ")
        _put(data, place, [code for code in at(data, place) if code in allowed])
        return True
    if message in ("evidence is given where none is required", "there is nothing to compare", "not so answered"):
        _put(data, place, None)
        return True
    for before, after in (("the completion says ", ""), ("expected is ", ""), ("", " is expected")):
        if message.startswith(before) and message.endswith(after):
            try:
                _put(data, place, ast.literal_eval(message.removeprefix(before).removesuffix(after)))
            except (ValueError, SyntaxError):
                continue
            return True
    return False


def _put(data: Any, place: Path_, value: Any) -> None:
    at(data, place[:-1])[place[-1]] = value


def evaluation(data: Any) -> dict[str, Any]:
    """The evaluation that fits the traces."""
    bundle, evidence = checker.Node(data), checker.Evidence()
    problems = {node.value["id"]: checker.Problem(node, evidence) for node in bundle["problems"].items()}
    traces = [checker.Trace(node, problems[node.value["problem"]], evidence) for node in bundle["traces"].items()]
    nested: dict[str, Any] = {}
    for path, number in checker.evaluation([*problems.values()], traces).items():
        inside = nested
        for key in path[:-1]:
            inside = inside.setdefault(key, {})
        inside[path[-1]] = number
    return nested


# -- the truth --------------------------------------------------------------------------------------------------------

VERIFIER = Verifier()


def false_claims(data: Any) -> list[str]:
    """What an accepted bundle claims beyond what the verifier finds."""
    problems = {problem["id"]: _problem(problem) for problem in data["problems"]}
    found = []
    if not all_evidence_holds(data):
        found.append("evidence")
    for index, trace in enumerate(data["traces"]):
        report = VERIFIER.verify(problems[trace["problem"]], trace["completion"], sample=trace["sample"])
        found += [f"traces[{index}]: {name}" for name in _beyond(trace, report)]
    return found


def _problem(data: Any) -> Problem:
    premises = [Premise(part["id"], from_data(part["formula"])) for part in data["premises"]]
    options = [Option(part["id"], part["label"], from_data(part["formula"])) for part in data["options"]]
    return Problem(data["id"], tuple(premises), tuple(options), data["answer"])


def _beyond(trace: Any, report: TraceReport) -> Iterator[str]:
    if trace["parsed"] != report.parsed:
        yield "parsed"
    if [tuple(action["span"]) for action in trace["actions"]] != [step.span for step in report.actions]:
        yield "the elements"
        return
    for action, step in zip(trace["actions"], report.actions, strict=True):
        yield from _beyond_step(action, step)
    if trace["verified"] and not report.verified:
        yield "verified"
    if trace["answer"] not in (None, report.answer):
        yield "answer"
    if trace["closure"] != list(report.closure):
        yield "closure"


def _beyond_step(action: Any, step: StepReport) -> Iterator[str]:
    says = (action["id"], action["dependencies"], action["declared_rule"], action["conclusion"])
    if says != (step.id, list(step.dependencies), step.declared_rule, step.conclusion):
        yield f"{action['id']}: the element"
    for verdict in ("schema", "semantic"):
        if action["verdicts"][verdict] and not getattr(step, verdict):
            yield f"{action['id']}: {verdict}"
    if action["verdicts"]["progress"] and any(f.code is Code.BINDING_MISMATCH for f in step.findings):
        yield f"{action['id']}: binding"


def says_other_formula(path: Path_) -> bool:
    """Whether the lie is what a formula says: then the text beside it, which people read, is about something else."""
    return path[0] == "traces" and "formula" in path and "evidence" not in path


# -- every lie --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", BUNDLES)
def test_no_lie_is_accepted(name: str) -> None:
    data = BUNDLES[name]()
    assert refused(data) is None and false_claims(data) == []
    honest = json.dumps(data)  # a copy is made for each lie: to read it takes less time than to copy the objects
    tried = accepted = inside = 0
    for path, new in lies(data):
        inside += evidence_at(path) not in (None, path)
        if evidence_at(path) not in (None, path) and inside % 4:  # of so many alike, a part
            continue
        tried += 1
        bundle = told(honest, path, new)
        if bundle is not None and not says_other_formula(path):
            accepted += 1
            assert false_claims(bundle) == [], f"{checker.Node(None, path)}: {at(data, path)!r} -> {new!r}"
    assert tried > 2_000 / len(BUNDLES)
    assert accepted < tried / 4, "most lies are about something that is checked"


# -- what was once accepted or refused wrongly ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conclusion", "code"), [("p(a) ∨ ¬p(a)", "TAUTOLOGY"), ("∃x ¬p(x)", "REPEATS_CONCLUSION")], ids=["valid", "again"]
)
def test_a_quantifier_negation_may_restate_its_premise_only(conclusion: str, code: str) -> None:
    case = problem_of("negation/1", ["¬∀x p(x)"], "∃x ¬p(x)")
    rule = "QUANTIFIER_NEGATION"
    text = summary(("s1", ["h1"], "∃x ¬p(x)", rule), ("s2", ["h1"], conclusion, rule))
    honest = made(case, text, verifier=Verifier(rules=FOLIO))
    assert refused(honest) is None
    action = honest["traces"][0]["actions"][1]
    action["findings"].remove(code)
    action["verdicts"]["progress"] = True
    action["signal"] = 1.0 if action["verdicts"]["rule"] else 0.3
    found = refused(honest)
    assert found is not None
    assert found[1] == "the conclusion is nothing new"


def test_two_sorts_of_clash_are_one_finding() -> None:
    """A conclusion with a sort that the problem lacks, and a predicate with another number of arguments."""
    case = problem_of("clash/1", ["∀x:City near(x)", "near(rome)"], "near(rome)")
    data = made(case, summary(("s1", ["h1"], "∀y:Town near(y, y)", "UNIVERSAL_ELIMINATION")))
    assert data["traces"][0]["actions"][0]["findings"] == ["SYMBOL_CLASH"]
    assert refused(data) is None


def test_a_bundle_holds_after_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [("s1", ["h1"], "p(a)", "UNIVERSAL_ELIMINATION"), ("h_goal_true", ["s1"], "p(a) ∨ q", "GOAL_BINDING")]
    openings = [("h_goal_uncertain", ["h1"], "p(a) ∨ q", "GOAL_BINDING")]
    case = problem_of("dear/1", ["∀x p(x)", "q → p(b)"], "q ∨ p(a)")
    whole = Verifier().cost(case, summary(*steps))
    for budget in range(0, whole + 60, 15):
        monkeypatch.setattr("proof_r1_formal.proof.session.TRACE_STEPS", budget)
        assert refused(made(case, summary(*steps), summary(*openings))) is None, budget


def test_verdicts_on_bundles_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    bundles = [garden() for _ in range(50)]
    for data, (path, new) in zip(bundles, [*lies(bundles[0])][::40], strict=False):
        at(data, path[:-1])[path[-1]] = new
    two_arities = made(problem_of("arity/1", ["p(a)", "q(a, b)"], "q(b, a)"), summary())
    formula = two_arities["problems"][0]["premises"][0]["formula"]
    two_arities["problems"][0]["premises"][0]["formula"] = ["atom", "q", *formula[2:]]
    bundles.append(two_arities)
    (tmp_path / "bundles.json").write_text(json.dumps(bundles), encoding="utf-8")
    program = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import check_bundle as c\n"
        "for data in json.load(open(sys.argv[2])):\n"
        "    try: print(c.check(c.Node(data), False, 200000))\n"
        "    except c.FaultError as fault: print(*fault.args)\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program, str(ROOT), str(tmp_path / "bundles.json")],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(10)
    }
    assert len(said) == 1
    (lines,) = said
    assert lines.splitlines()[-1].endswith("a symbol has two numbers of arguments")
