"""The sample of faults around the trusted modules: which faults are in it, its records, and its part of the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from studies.bench.lines import Lines, union
from studies.bench.mutants import mutants
from studies.bench.mutation import PAGE, ROOT, SAMPLE, Sandbox, justified
from studies.bench.related import RELATED
from studies.bench.surroundings import (
    RECORDS,
    Campaign,
    Record,
    planted_in,
    read_records,
    sample,
    section,
    survivors,
)

SELECTION = "proof_r1_formal/evaluation/selection.py"
REVIEW = "proof_r1_formal/evaluation/review.py"
ROOMS = ("credit", "evaluation", "integrations", "data", "commands")
SMALL = ("proof_r1_formal/data/trees.py", "proof_r1_formal/data/proverqa.py", SELECTION)


def test_every_module_with_faults_has_its_related_tests() -> None:
    folders = [ROOT / "proof_r1_formal" / room for room in ROOMS]
    modules = {str(path.relative_to(ROOT)) for folder in folders for path in folder.glob("*.py")}
    empty = {name for name in modules if not any(mutants((ROOT / name).read_text("utf-8")))}
    assert modules - empty | {"proof_r1_formal/report/bundle.py"} == set(RELATED)
    files = {test for related in RELATED.values() for test in related.tests if test.endswith(".py")}
    assert all((ROOT / "tests" / file).is_file() for file in files)


def test_the_sample_is_the_same_for_any_choice_of_modules() -> None:
    drawn = sample(SMALL, share=0.3, seed=0)
    everything = [one for module in SMALL for one in planted_in(module)]
    assert 0 < len(drawn) < len(everything)
    assert {one.key() for one in drawn} < {one.key() for one in everything}
    for module in SMALL:
        assert sample([module], share=0.3, seed=0) == [one for one in drawn if one.module == module]
    assert drawn[: len(sample(SMALL, share=0.1, seed=0))] == sample(SMALL, share=0.1, seed=0)
    assert sample(SMALL, share=0.3, seed=1) != drawn
    assert sample(SMALL, share=1.0, seed=0) != everything
    assert {one.key() for one in sample(SMALL, share=1.0, seed=0)} == {one.key() for one in everything}
    assert len({one.key() for one in everything}) == len(everything)


def test_a_repeated_line_has_a_mutant_for_each_place() -> None:
    source = "def f(x):\n    if x < 1:\n        return 1\n    if x < 1:\n        return 2\n    return 3\n"
    assert [mutant.new for mutant in mutants(source)].count("if (x <= 1):") == 2


def test_an_edit_of_an_asynchronous_function_is_a_mutant() -> None:
    source = "async def f(x: int) -> bool:\n    x *= 2\n    return x / 2 < 1\n"
    found = {(mutant.operator, mutant.new) for mutant in mutants(source)}
    assert ("swap operator", "x += 2") in found
    assert ("swap operator", "return (x * 2) < 1") in found
    assert ("return a constant", "return True") in found


def test_the_last_record_of_a_fault_counts(tmp_path: Path) -> None:
    one = Record("m", "swap", "a", "b", 0, "survived", "survived")
    two, again = one._replace(number=1), one._replace(fate="failed")
    path = tmp_path / "records.jsonl"
    assert read_records(path) == []
    path.write_text("".join(f"{json.dumps(record._asdict())}\n" for record in (one, two, again)), "utf-8")
    assert read_records(path) == [again, two]
    assert survivors([again, two]) == {("m", "a", "b")}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A copy of the project."""
    return Sandbox(tmp_path_factory.mktemp("mutants"))


def test_the_quickest_tests_of_a_line_come_first() -> None:
    """Those of its function, where none executes the line itself; those that failed are left out."""
    source = "import os\n\n\ndef f(x):\n    return g(\n        x,\n    )\n"
    seconds = {"a": 2.0, "b": 1.0, "c": 0.5, "d": 0.1, "t.py::e": 3.0}
    tests = {"m": {1: frozenset[str](), 4: frozenset("c"), 5: frozenset("abd")}}
    lines = Lines(seconds, frozenset("d"), tests)
    assert [lines.of("m", source, line) for line in (5, 6, 4, 1, 2)] == [["b", "a"], ["b", "a"], ["c"], [], []]
    assert lines.of("other", source, 5) == []
    assert (lines.time(["a", "t.py"]), lines.time(["t.py::e", "-k", "b.py"])) == (5.0, 3.0)


def test_what_several_runs_saw_is_their_union() -> None:
    first = Lines({"a": 1.0}, frozenset("a"), {"m": {1: frozenset("a")}})
    second = Lines({"b": 2.0}, frozenset(), {"m": {1: frozenset("b"), 2: frozenset("b")}, "n": {1: frozenset("b")}})
    assert union([first, second]) == Lines(
        {"a": 1.0, "b": 2.0},
        frozenset("a"),
        {"m": {1: frozenset("ab"), 2: frozenset("b")}, "n": {1: frozenset("b")}},
    )
    assert union([]) == Lines({}, frozenset(), {})


@pytest.mark.slow
def test_a_run_sees_which_tests_execute_a_line(sandbox: Sandbox) -> None:
    lines = sandbox.lines(["evaluation/test_selection.py"], ["proof_r1_formal/evaluation/*"])
    source = (ROOT / SELECTION).read_text("utf-8")
    place = source[: source.index("    found = list(hits)\n")].count("\n") + 1
    name = "tests/evaluation/test_selection.py::test_the_shares_of_right_choices"
    assert lines.of(SELECTION, source, place) == [name]
    assert lines.failed == frozenset()
    assert set(lines.seconds) >= {name}
    assert {Path(module).parent.name for module in lines.tests} == {"evaluation"}


@pytest.mark.slow
def test_a_run_is_recorded_and_continued(sandbox: Sandbox, tmp_path: Path) -> None:
    """A review has one file of tests, which run in a moment."""
    path = tmp_path / "records.jsonl"
    drawn = sample([REVIEW], share=1.0, seed=0)[:3]
    assert Campaign([sandbox], ROOT, path).run(drawn[:2]) == 0
    assert [record.key() for record in read_records(path)] == [one.key() for one in drawn[:2]]
    assert Campaign([sandbox], ROOT, path).run(drawn) == 0
    assert [record.key() for record in read_records(path)] == [one.key() for one in drawn]
    assert len(path.read_text("utf-8").splitlines()) == 3
    fates = {record.fate for record in read_records(path)}
    assert fates <= {"failed", "survived"}
    assert "failed" in fates


@pytest.mark.slow
def test_a_fault_without_its_environment_is_not_planted(
    sandbox: Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = sample(["proof_r1_formal/integrations/verifiers.py"], share=1.0, seed=0)[:2]
    path = tmp_path / "records.jsonl"
    assert Campaign([sandbox], tmp_path, path).run(drawn) == 2
    assert capsys.readouterr().err.count("there is no ") == 1
    assert not path.exists()


@pytest.mark.slow
def test_a_process_that_works_too_long_is_ended(sandbox: Sandbox) -> None:
    endless = (ROOT / SELECTION).read_text("utf-8").replace("    found = list(hits)\n", "    while True: pass\n")
    assert sandbox.run(SELECTION, endless, ["evaluation/test_selection.py"], work=15) is None


def test_the_page_has_the_outcomes_of_the_records() -> None:
    _, heading, part = PAGE.read_text("utf-8").partition(SAMPLE)
    rows = re.findall(r"^\| `?([a-z/_.]+)`? \| ([\d,]+) \| ([\d,]+) \| [\d,]+ \|", part, re.MULTILINE)
    numbers = {room: (int(whole.replace(",", "")), int(drawn.replace(",", ""))) for room, whole, drawn in rows}
    whole = numbers.pop("all")
    assert whole == (sum(n for n, _ in numbers.values()), sum(n for _, n in numbers.values()))
    sizes = {f"proof_r1_formal/{room}{'' if room.endswith('.py') else 'x.py'}": size for room, size in numbers.items()}
    assert f"{heading}{part}" == section(read_records(RECORDS), sizes)


def test_reasons_are_for_faults_that_were_not_noticed() -> None:
    listed = {fault for group in justified(RELATED) for fault in group.faults()}
    assert listed <= survivors(read_records(RECORDS))
