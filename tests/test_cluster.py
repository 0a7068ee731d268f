"""Workers of a Ray cluster, which are killed: each task has one result all the same, in the order of the tasks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from bench.cluster import workers_of
from proof_r1_formal.cluster import AHEAD, ATTEMPTS, PRIVATE
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import FALSE, TRUE, Problem
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate.problems import GeneratorSettings, generate_problems
from proof_r1_formal.proof.batch import verify_many
from proof_r1_formal.proof.report import encode
from proof_r1_formal.proof.trajectory import completion
from proof_r1_formal.workers import hired, in_order

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:unclosed file.*/dev/null:ResourceWarning"),  # Ray leaves them to the collector
]

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = [f"--{name}={ROOT / 'examples' / name}.jsonl" for name in ("problems", "completions")]


class Done(NamedTuple):
    """A result, and which process it is from, of those that the starter prepared."""

    number: int
    process: int
    prepared: str | None


def prepare() -> None:
    os.environ["PREPARED"] = "yes"


def work(number: int) -> Done:
    time.sleep(0.01)  # so that a worker has something to do when it is killed
    return Done(number, os.getpid(), os.environ.get("PREPARED"))


def refuse(number: int) -> int:
    if number == 7:
        raise ProofR1Error(f"not {number}")
    return number


def die(number: int) -> int:
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_at_first(task: tuple[Path, int]) -> int:
    """Kill the worker so many times; the file tells how often that was done."""
    file, times = task
    died = int(file.read_text()) if file.exists() else 0
    if died < times:
        file.write_text(f"{died + 1}")
        os.kill(os.getpid(), signal.SIGKILL)
    return died


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster of two nodes with a processor each, all on this machine."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.MonkeyPatch.context() as environment:
        for name, value in PRIVATE.items():
            environment.setenv(name, value)
        environment.delenv("RAY_ADDRESS", raising=False)
        from ray import cloudpickle
        from ray.cluster_utils import Cluster

        cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            cluster.add_node(num_cpus=1)
            yield cluster
        finally:
            cluster.shutdown()


@pytest.fixture(scope="module")
def engine(cluster: Cluster) -> str:
    return f"ray:{cluster.address}"


# -- work -------------------------------------------------------------------------------------------------------------


def test_results_come_in_order_of_tasks_without_end(engine: str) -> None:
    taken = []

    def tasks() -> Iterator[int]:
        for number in count():
            taken.append(number)
            yield number

    results = list(islice(in_order(work, tasks(), 2, engine=engine, starter=prepare), 100))
    assert [done.number for done in results] == list(range(100))
    assert len(taken) <= 100 + AHEAD * 2
    assert len({done.process for done in results} - {os.getpid()}) == 2
    assert {done.prepared for done in results} == {"yes"}


def test_workers_are_kept_for_more_work(engine: str) -> None:
    with hired(2, engine=engine) as workers:
        first, second = ({done.process for done in workers.in_order(work, range(20))} for _ in range(2))
        assert first == second
        given_up = workers.in_order(work, count())
        assert next(given_up).number == 0
        assert [done.number for done in workers.in_order(work, range(5))] == list(range(5))
        assert list(workers.in_order(work, [])) == []


def test_killed_workers_cost_no_result_and_give_none_twice(engine: str) -> None:
    results = []
    for done in in_order(work, range(400), 2, engine=engine, starter=prepare):
        if done.number in (20, 21, 150, 300):
            os.kill(done.process, signal.SIGKILL)
        results.append(done)
    assert [done.number for done in results] == list(range(400))
    assert {done.prepared for done in results} == {"yes"}
    assert len({done.process for done in results}) > 2


def test_a_lost_node_is_done_without_until_there_is_another(cluster: Cluster, engine: str) -> None:
    node = cluster.add_node(num_cpus=1)
    seen: set[int] = set()
    lost = added = False
    for expected, done in enumerate(islice(in_order(work, count(), 3, engine=engine), 4000)):
        assert done.number == expected
        seen.add(done.process)
        if not lost and len(seen) == 3:
            cluster.remove_node(node, allow_graceful=False)
            lost = True
        elif lost and not added:
            cluster.add_node(num_cpus=1)
            added = True
        elif len(seen) == 4:
            return
    pytest.fail(f"after a lost node, only {seen} had work")


def test_what_goes_wrong_is_told_in_its_turn(engine: str) -> None:
    results = in_order(refuse, range(20), 2, engine=engine)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(ProofR1Error, match=r"^not 7$"):
        next(results)
    results = in_order(die, range(20), 2, engine=engine)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(ProofR1Error, match=f"^{ATTEMPTS} workers died of the same task"):
        next(results)
    with pytest.raises(ProofR1Error, match=r"^not 7$"):
        list(in_order(work, range(3), 2, engine=engine, starter=partial(refuse, 7)))


def test_a_task_answers_for_its_own_deaths_only(engine: str, tmp_path: Path) -> None:
    deadly = ATTEMPTS - 1
    tasks = [(tmp_path / "first", deadly), (tmp_path / "next", deadly - 1), (tmp_path / "last", 0)]
    assert list(in_order(die_at_first, tasks, 1, engine=engine)) == [deadly, deadly - 1, 0]


def test_wrong_use_is_told() -> None:
    with pytest.raises(ProofR1Error, match="0 workers"):
        hired(0, engine="ray")
    with pytest.raises(ProofR1Error, match="no engine 'raygun'"):
        hired(1, engine="raygun")
    with pytest.raises(ProofR1Error, match=r"no Ray cluster at 127\.0\.0\.1:1: "), hired(1, engine="ray:127.0.0.1:1"):
        pass


# -- verification -----------------------------------------------------------------------------------------------------


def test_reports_have_the_bytes_of_a_single_process_though_workers_die(cluster: Cluster, engine: str) -> None:
    problems, completions = _corpus()
    expected = [encode(report) for report in verify_many(problems, completions)]
    reports = []
    for number, report in enumerate(verify_many(problems, completions, workers=2, engine=engine)):
        reports.append(encode(report))
        if number in (10, 200):
            os.kill(workers_of(os.getpid())[0], signal.SIGKILL)
    assert reports == expected


def _corpus() -> tuple[dict[str, Problem], list[Completion]]:
    """Problems, and completions of them: right ones, cut short, and not even text in Unicode."""
    settings = GeneratorSettings(seed=3, steps=(3, 5), answers=(TRUE, FALSE))
    problems = [generated.problem for generated in islice(generate_problems(settings), 40)]
    texts = {problem.id: completion(problem, problem.proofs[0]) for problem in problems}
    completions = [
        Completion(problem_id=name, sample=sample, completion=text[: len(text) - 7 * sample] + "\ud800" * (sample % 2))
        for name, text in texts.items()
        for sample in range(20)
    ]
    return {problem.id: problem for problem in problems}, completions


# -- the command line -------------------------------------------------------------------------------------------------


def test_commands_give_the_same_bytes_on_ray(cluster: Cluster, tmp_path: Path) -> None:
    private, joined = ("--ray", "--workers=2"), (f"--ray={cluster.address}", "--workers=2")
    for name, where in (("here", ()), ("private", private), ("joined", joined)):
        _run("verify", *EXAMPLES, f"--out={tmp_path / name}", *where)
    for name, where in (("generated-here", ()), ("generated-joined", joined)):
        _run("generate", "--n=20", f"--out={tmp_path / name}", *where)
    for name, where in (("audit-here", ()), ("audit-joined", joined)):
        _run("crosscheck", *EXAMPLES, f"--out={tmp_path / name}", *where)
    assert len({(tmp_path / name).read_bytes() for name in ("here", "private", "joined")}) == 1
    assert (tmp_path / "generated-here").read_bytes() == (tmp_path / "generated-joined").read_bytes()
    here, joined_ = (_files(tmp_path / name) for name in ("audit-here", "audit-joined"))
    assert here == joined_


def _run(*arguments: str) -> None:
    command = (sys.executable, "-c", "from proof_r1_formal.cli import main; main()", *arguments)
    result = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert result.returncode == 0, result.stderr


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
