"""Bundles that were tampered with: ``check_bundle.py`` refuses them and says where.

Random places of bundles are changed. What the checker then still accepts must be in a field that is listed here, or be
evidence that the package's own checker accepts, too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from proof_r1_formal.kernel.serial import proof_to_data, structure_to_data, to_data
from proof_r1_formal.proof.action import read_completion
from proof_r1_formal.report.bundle import encode
from proof_r1_formal.testing.corruptions import completions
from proof_r1_formal.testing.strategies import queries
from tests.report.bundles import (
    BUNDLES,
    PEOPLE,
    STEPS,
    Path_,
    all_evidence_holds,
    at,
    checker,
    evidence_at,
    examples,
    is_evidence,
    made,
    people,
    places,
    refusal,
    summary,
)

MUTANTS = 500
"""How many corruptions are tried on each bundle."""
ENGINE = EmbeddedSolver()
OPTION = "∃x (poet(x) ∧ knows(x, Ann))"


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
    "an instance is dropped": (("traces", 0, "actions", 0, "instance"), None),
    "a step without rule is an instance": (("traces", 3, "actions", 0, "instance"), "goal_binding"),
    "a schema is invented": (("schemata",), {"anything": ["Lean"]}),
    "a kernel accepts an answer that is not verified": (("traces", 3, "kernels"), ["Lean"]),
    "an id is there twice": (("problems", 1, "premises", 1, "id"), "h1"),
    "a problem is there twice": (("problems", 1, "id"), "garden/1"),
    "a sample is there twice": (("traces", 1, "sample"), 0),
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
