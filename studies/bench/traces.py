"""Traces to measure with: those of the benchmark data, rollouts made from them, and generated ones of any size."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Option, Premise, Problem
from proof_r1_formal.text.parse import parse_formula

ROLLOUTS = 8


@dataclass(frozen=True)
class Sample:
    """A problem and a completion for it."""

    problem: Problem
    completion: str


def reference_traces(folder: Path) -> list[Sample]:
    """The 1,350 traces of the reference verdicts."""
    return [sample for sample, _ in traces_by_kind(folder)]


def golden_proofs(folder: Path) -> list[Sample]:
    """The 450 of them that nothing was done to."""
    return [sample for sample, kind in traces_by_kind(folder) if kind == "golden"]


def traces_by_kind(folder: Path) -> list[tuple[Sample, str]]:
    """Each trace, and what was done to it."""
    problems = read_problems(folder / "llm_outputs" / "docailab_proverqa_golden_450.jsonl")
    lines = (folder / "reference_verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [(Sample(problems[f"{r['difficulty']}/{r['problem_id']}"], r["response"]), r["kind"]) for r in records]


def rollouts(samples: list[Sample], seed: int, *, each: int = ROLLOUTS) -> list[Sample]:
    """``each`` different completions per problem: its traces, and variants of them, the problems one after the other.

    A variant leaves out an action, negates a conclusion, names another rule, or adds a dependency.
    """
    source = random.Random(seed)
    by_problem: dict[str, list[Sample]] = {}
    for sample in samples:
        by_problem.setdefault(sample.problem.id, []).append(sample)
    found: list[Sample] = []
    for group in by_problem.values():
        texts = list(dict.fromkeys(sample.completion for sample in group))
        while len(texts) < each:
            texts = list(dict.fromkeys([*texts, _variant(source.choice(texts), group[0].problem, source)]))
        found += [Sample(group[0].problem, text) for text in texts[:each]]
    return found


def fourth_of_problems(groups: list[Sample]) -> list[Sample]:
    """The :func:`rollouts` of every fourth problem, so that all difficulties are among them."""
    return [sample for number, sample in enumerate(groups) if number // ROLLOUTS % 4 == 0]


def _variant(text: str, problem: Problem, source: random.Random) -> str:
    actions = json.loads(re.search(r"<summary>(.*)</summary>", text, re.DOTALL)[1])  # type: ignore[index]
    whole = [n for n, action in enumerate(actions) if action.keys() >= {"conclusion", "rule", "dependencies"}]
    if not whole:
        return text.replace("<summary>", " <summary>", 1)
    index = source.choice(whole)
    match source.randrange(4):
        case 0:
            del actions[index]
        case 1:
            actions[index]["conclusion"] = f"¬({actions[index]['conclusion']})"
        case 2:
            actions[index]["rule"] = source.choice(
                ["MODUS_TOLLENS", "IMPLICATION_ELIMINATION", "DISJUNCTIVE_SYLLOGISM"]
            )
        case _:
            actions[index]["dependencies"] = [*actions[index]["dependencies"], source.choice(problem.premises).id][:4]
    return f"<summary>{json.dumps(actions, ensure_ascii=False)}</summary>"


def generated(*, premises: int = 12, actions: int = 6, constants: int = 2, depth: int = 2, names: str = "") -> Sample:
    """A correct trace of ∀-elimination steps along a chain of rules.

    Args:
        premises: how many there are; those the chain does not need are rules and facts beside it.
        actions: steps of the chain.
        constants: how many individuals the premises speak of; a predicate holds of every second one and not of the
            others.
        depth: how deep ∨ nests in the antecedents.
        names: begins all names.
    """
    people = [f"{names}person{n}" for n in range(max(1, constants))]
    p, q = f"{names}P", f"{names}Q"
    extra = "".join([f" ∨ {names}S{n}(x)" for n in range(depth)])
    lines = [f"{p}0({people[0]})"]
    lines += [f"∀x ({p}{n}(x){extra} → {p}{n + 1}(x))" for n in range(actions)]
    lines += [f"{'¬' * (n % 2)}{q}0({person})" for n, person in enumerate(people[1:])]
    filler = max(0, premises - len(lines))
    lines += [f"∀x ({q}{n}(x){extra} → {q}{n + 1}(x))" for n in range(1, filler + 1)]
    steps = [
        {
            "id": f"s{n}",
            "dependencies": [f"h{n + 1}", f"s{n - 1}" if n else "h0"],
            "conclusion": f"{p}{n + 1}({people[0]})",
            "rule": "IMPLICATION_ELIMINATION",
        }
        for n in range(actions)
    ]
    goal = f"{p}{actions}({people[0]})"
    steps.append({"id": "yes", "dependencies": [f"s{actions - 1}"], "conclusion": goal, "rule": "GOAL_BINDING"})
    problem = Problem(
        id=f"generated/{premises}/{actions}/{constants}/{depth}/{names}",
        premises=tuple([Premise(id=f"h{n}", formula=parse_formula(line)) for n, line in enumerate(lines)]),
        options=(Option(id="yes", label="True", formula=parse_formula(goal)),),
        answer="yes",
    )
    return Sample(problem, f"<summary>{json.dumps(steps, ensure_ascii=False)}</summary>")
