"""Keys of problems: renaming and reordering change nothing, any other change does; and what is counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.evaluation.drawing import LIGHT
from proof_r1_formal.generate import Generated, GeneratorSettings, generate_problems
from proof_r1_formal.generate.problems import draw_problem
from proof_r1_formal.generate.shape import is_shallow, pattern, structural_key
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import Formula, Implies, Not
from proof_r1_formal.kernel.transform import rename
from proof_r1_formal.text.parse import parse_formula
from studies.bench.generation import DIFFICULTIES, Statistics, comparison, pictures
from tests import build

drawn = st.integers(0, 10**6).map(lambda index: draw_problem(GeneratorSettings(seed=13), index))


def parts_of(problem: Problem) -> tuple[Formula, list[Formula]]:
    return problem.options[0].formula, [premise.formula for premise in problem.premises]


@given(drawn, st.integers())
@settings(max_examples=100)
def test_renaming_and_reordering_keep_the_key(generated: Generated, seed: int) -> None:
    problem = generated.problem
    goal, premises = parts_of(problem)
    source = Random(seed)
    uses = dict(use for formula in problem.formulas() for use in symbols(formula).uses)
    predicates = [name for name, (kind, _) in uses.items() if kind == "predicate"]
    people = [name for name, (kind, _) in uses.items() if kind != "predicate"]
    new_predicates = dict(zip(predicates, source.sample([f"p{n}" for n in range(99)], len(predicates)), strict=True))
    new_people = dict(zip(people, source.sample([f"c{n}" for n in range(9)], len(people)), strict=True))
    renamed = [rename(premise, new_predicates, new_people) for premise in premises]
    source.shuffle(renamed)
    assert structural_key(rename(goal, new_predicates, new_people), renamed) == structural_key(goal, premises)


@given(drawn, st.integers())
@settings(max_examples=100)
def test_other_changes_change_the_key(generated: Generated, seed: int) -> None:
    goal, premises = parts_of(generated.problem)
    key, place = structural_key(goal, premises), seed % len(premises)
    before, changed, after = premises[:place], premises[place], premises[place + 1 :]
    assert structural_key(goal, [*before, *after]) != key
    assert structural_key(goal, [*before, Not(changed), *after]) != key
    assert structural_key(goal, [*premises, changed]) != key
    assert structural_key(Implies(goal, goal), premises) != key


@pytest.mark.parametrize(
    ("premises", "goal", "shallow"),
    [
        (["A(a)", "B(b)"], "C(c)", True),
        (["¬C(b)", "A(a) → B(a)"], "C(a)", True),
        (["C(b) → A(b)"], "C(a)", True),
        (["∀x (C(x) → A(x))"], "C(a)", False),
        (["A(a) ⊕ C(a)"], "¬C(a)", False),
        (["A(a) ⊕ C(a)"], "C(a) ∧ D(a)", True),
        (["A(a) → D(a)", "A(a) ⊕ C(a)"], "C(a) ∧ D(a)", False),
        (["A(a) → D(a)"], "∃x D(x)", False),
    ],
)
def test_a_problem_is_shallow_if_nothing_leads_to_its_goal(premises: list[str], goal: str, shallow: bool) -> None:
    assert is_shallow(build.problem(*premises, goal=goal)) == shallow


def test_patterns_have_letters_for_names() -> None:
    assert pattern(parse_formula("∀x (likes(x, bob) ∧ kind(x) → likes(ann, x))")) == "∀x (A(x, a) ∧ B(x) → A(b, x))"


def test_statistics_count_what_they_say() -> None:
    steps = (
        ReferenceStep("s1", ("h1", "h2"), "B(a)", "IMPLICATION_ELIMINATION"),
        ReferenceStep("h_goal_true", ("s1",), "B(a)", "GOAL_BINDING"),
    )
    proved = replace(build.problem("A(a)", "A(a) → B(a)", "C(b)", goal="B(a)"), difficulty="easy", proofs=(steps,))
    premises = proved.premises
    statistics = Statistics()
    statistics.add(proved)
    statistics.add(replace(proved, id="2", premises=premises[:2]))  # its proof has the same skeleton
    statistics.add(replace(proved, id="3", premises=premises[::2], answer="h_goal_uncertain", proofs=()))
    assert statistics.problems == 3
    assert statistics.premises == {3: 1, 2: 2}
    assert statistics.steps == {1: 2}
    assert statistics.rules == {"IMPLICATION_ELIMINATION": 2}
    assert statistics.people == {2: 2, 1: 1}
    assert statistics.patterns == {"A(a)": 5, "A(a) → B(a)": 2}
    assert (len(statistics.skeletons), statistics.shallow) == (1, 1)
    table, rules, shapes = comparison({"here": statistics})
    assert ("answer True", "66.7 %") in table.rows
    assert ("different skeletons of proofs", "1 of 2") in table.rows
    assert rules.rows == (("IMPLICATION_ELIMINATION", "100.0 %"),)
    assert shapes.rows[0] == ("A(a)", "71.4 %")


def test_pictures_have_the_shares_of_both_sides() -> None:
    few, more = Statistics(), Statistics()
    few.steps.update([1, 1, 3]), more.steps.update([2])
    few.rules.update(["A", "A", "B"]), more.rules.update(["B", "C"])
    for one in (few, more):
        one.premises.update([2]), one.patterns.update(["A(a)"])
    sets = {f"{name}, {side}": of for name in DIFFICULTIES for side, of in (("ProverQA", few), ("ours", more))}
    drawn = pictures(sets)
    assert len(drawn) == 2 * 3 + 2
    [steps] = drawn["steps-easy"](LIGHT).axes
    assert [label.get_text() for label in steps.get_yticklabels()] == ["1", "2", "3"]
    lengths = [[bar.get_width() for bar in container] for container in steps.containers]
    assert lengths == [pytest.approx([200 / 3, 0, 100 / 3]), [0, 100, 0]]
    [rules] = drawn["rules"](LIGHT).axes
    assert [label.get_text() for label in rules.get_yticklabels()] == ["A", "B", "C"]


@pytest.mark.shared
def test_premises_are_as_in_proverqa(shared_data: Path) -> None:
    """Of every shape that ProverQA's hard problems have, ours have about as much; and none that they have not."""
    theirs, ours = Statistics(), Statistics()
    for problem in read_problems(shared_data / "proverqa" / "hard.json").values():
        theirs.add(problem)
    for generated in islice(generate_problems(GeneratorSettings(seed=1, difficulty="hard")), 150):
        ours.add(generated.problem)
    assert ours.patterns.keys() <= theirs.patterns.keys() | {"∀x (A(x) → B(x) ⊕ C(x))"}
    for shape in theirs.patterns:
        difference = ours.patterns[shape] / ours.patterns.total() - theirs.patterns[shape] / theirs.patterns.total()
        assert abs(difference) < 0.06, (shape, difference)
