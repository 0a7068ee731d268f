"""The Isabelle solver's verdicts, against a server of the test's own, and against Isabelle where it is."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof_r1_formal.engine import available_solvers, get_solver
from proof_r1_formal.engine.isabelle import CONSOLIDATION, IsabelleSolver
from proof_r1_formal.engine.isabelle_server import IsabelleServer
from proof_r1_formal.engine.solver import Limits
from proof_r1_formal.engine.z3 import Z3Solver
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.kernel.syntax import TOP, Not, Var, atom, const
from proof_r1_formal.render.isabelle import query_theory
from proof_r1_formal.testing import strategies
from proof_r1_formal.text.parse import parse_formula
from tests.build import nested
from tests.engine.isabelle_double import (
    BROKEN,
    OPEN,
    PROVED,
    REFUTED,
    TIMEOUT,
    UNDECIDED,
    Double,
    Json,
    finishing,
    message,
    node,
    proof_of,
    solver_of,
)
from tests.scripted import serving_in_thread

pytest.importorskip("isabelle_client", reason="isabelle-client is not installed (the extra [isabelle])")


# -- verdicts ---------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([PROVED, REFUTED, OPEN]), max_size=7))
@settings(max_examples=10)
def test_earlier_queries_do_not_matter(tmp_path_factory: pytest.TempPathFactory, queries: list[Query]) -> None:
    expected = {PROVED: Entailed(), REFUTED: Refuted(), OPEN: UNDECIDED}
    with Double(tmp_path_factory.mktemp("double")) as double, serving_in_thread(double), solver_of(double) as solver:
        assert [solver.decide(query) for query in queries] == [expected[query] for query in queries]
        used = [arguments["theories"] for command, arguments in double.heard if command == "use_theories"]
    assert double.started == min(1, len(queries))
    assert used == [[f"Query{n}"] for n in range(1, 1 + sum([1 if query == PROVED else 2 for query in queries]))]


def test_what_is_asked(double: Double) -> None:
    with IsabelleSolver(Limits(steps=1000), program=str(double.program)) as solver:
        assert solver.decide(PROVED) == Entailed()
    assert "blast_depth_limit = 10]]" in double.texts.pop()
    double.heard.clear()
    with solver_of(double, seconds=9.0) as solver:
        solver.decide(Query((TOP,), atom("open")))
    proof, search = double.texts
    assert proof == query_theory(
        Query((TOP,), atom("open")), "Query1", proof="using [[blast_depth_limit = 20]] by blast"
    )
    assert "nitpick [expect = genuine, card = 1-10, timeout = 4]" in search
    session, use, purge, *_ = [arguments for _, arguments in double.heard]
    assert session == {"session": "HOL"}
    assert use["watchdog_timeout"] == 9.0 + CONSOLIDATION
    assert purge == {key: use[key] for key in ("session_id", "theories", "master_dir")}
    assert not Path(str(use["master_dir"])).exists()
    assert double.commands() == ["session_start", *["use_theories", "purge_theories"] * 2, "shutdown"]


def test_queries_that_no_solver_takes_are_not_asked(double: Double) -> None:
    free, clash = Query((), atom("p", Var("x", "Entity"))), Query((atom("p"),), atom("p", const("a")))
    deep = nested(Not, atom("p"), 400)
    with solver_of(double) as solver:
        answers = [solver.decide(query) for query in (free, PROVED, clash, Query((), deep))]
    assert [type(answer) for answer in answers] == [Unknown, Entailed, Unknown, Unknown]
    assert [answer.reason for answer in answers if isinstance(answer, Unknown)] == [Reason.UNSUPPORTED] * 3
    assert len(double.texts) == 1


NONE = message("error", 'Unexpected outcome: "none"')


# -- 1: the server's ok says nothing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [message("writeln", "theorem q: p_proved")],
        [message("warning", "Goal was skipped: sorry")],
        [message("writeln", "PROVED Query0.q")],
        [message("writeln", "PROVED Query1.q"), message("error", "ORACLES: Pure.skip_proof")],
        [message("error", "PROVED Query1.q")],
    ],
    ids=["silence", "theorem", "sorry", "another theory", "oracle, but ok", "an error that says so"],
)
def test_ok_is_no_theorem(double: Double, messages: list[Json]) -> None:
    double.proof = lambda name, text: node(name, messages)
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == BROKEN


@pytest.mark.parametrize(
    "complaint",
    ["ORACLES: Pure.skip_proof", "ORACLES: HOL.eval", "AXIOMS: 1", "Inner syntax error\\<^here>", "ML error"],
)
def test_what_the_gate_rejects_is_no_theorem_and_not_searched(double: Double, complaint: str) -> None:
    double.proof = lambda name, text: node(name, [message("error", complaint)], ok=False)
    with solver_of(double) as solver:
        assert solver.decide(REFUTED) == BROKEN
    assert not any("nitpick" in text for text in double.texts)


@pytest.mark.parametrize(
    ("messages", "ok", "expected"),
    [
        ([message("writeln", "Nitpick found a counterexample for card 's_Entity = 2:")], True, Refuted()),
        ([message("writeln", "Nitpick found a potentially spurious counterexample:")], True, BROKEN),
        ([message("writeln", "Nitpick found a quasi genuine counterexample:")], True, BROKEN),
        ([message("writeln", "Nitpick found no counterexample")], True, BROKEN),
        ([message("writeln", "Nitpick found a counterexample:"), message("error", "?")], True, BROKEN),
        ([], True, BROKEN),
        ([message("error", "Undefined fact")], False, BROKEN),
        ([message("error", 'Unexpected outcome: "potential"')], False, UNDECIDED),
        ([NONE], False, UNDECIDED),
        # without kodkod
        ([message("writeln", "Nitpick checked 0 of 1 scope"), NONE], False, BROKEN),
    ],
)
def test_only_a_genuine_countermodel_refutes(double: Double, messages: list[Json], ok: bool, expected: Answer) -> None:
    double.search = lambda name, text: node(name, messages, ok=ok)
    with solver_of(double) as solver:
        assert solver.decide(REFUTED) == expected


# -- 2: what is incomplete is no answer -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status",
    [{"consolidated": False}, {"canceled": True}, {"unprocessed": 1}, {"running": 1}, {"percentage": 99}],
    ids=str,
)
def test_a_theory_that_did_not_end_decides_nothing(double: Double, status: dict[str, Json]) -> None:
    def proof(name: str, text: str) -> dict[str, Json]:
        return node(name, [message("writeln", f"PROVED {name}.q")], status=status)

    def search(name: str, text: str) -> dict[str, Json]:
        return node(name, [message("writeln", "Nitpick found a counterexample:")], status=status)

    double.proof, double.search = proof, search
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == TIMEOUT
    assert double.started == 2  # what did not end is ended with its server


@pytest.mark.parametrize("status", [{"failed": 1}, {"ok": False}], ids=str)
def test_a_theory_that_failed_decides_nothing(double: Double, status: dict[str, Json]) -> None:
    double.proof = lambda name, text: node(name, [message("writeln", f"PROVED {name}.q")], status=status)
    with solver_of(double) as solver:
        assert solver.decide(PROVED) == BROKEN


def test_a_theory_that_is_missing_or_there_twice_decides_nothing(double: Double) -> None:
    with solver_of(double) as solver:
        double.proof = lambda name, text: None
        assert solver.decide(PROVED) == BROKEN
        double.proof = lambda name, text: proof_of("Query99", text)
        assert solver.decide(PROVED) == BROKEN
        twice = [proof_of("Query3", "p_proved")] * 2
        double.reactions = {"use_theories": [finishing({"ok": True, "errors": [], "nodes": [*twice]})]}
        assert solver.decide(PROVED) == BROKEN


def test_blast_that_runs_out_of_time_leaves_the_rest_to_nitpick(double: Double) -> None:
    double.proof = lambda name, text: node(name, [], status={"running": 1})
    with solver_of(double) as solver:
        assert [solver.decide(query) for query in (REFUTED, OPEN)] == [Refuted(), TIMEOUT]


# -- 8: where it is called from ---------------------------------------------------------------------------------------


def test_inside_a_running_event_loop(double: Double) -> None:
    async def main() -> Answer:
        with solver_of(double) as solver:
            return solver.decide(PROVED)

    assert asyncio.run(main()) == Entailed()
    assert double.commands("shutdown") == ["shutdown"]


def test_from_several_threads(double: Double) -> None:
    answers: list[Answer] = []
    with solver_of(double) as solver:
        threads = [threading.Thread(target=lambda: answers.append(solver.decide(PROVED))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [Entailed()] * 4
    assert double.started == 1


# -- by name ----------------------------------------------------------------------------------------------------------


def test_by_name(double: Double, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{double.program.parent}{os.pathsep}{os.environ['PATH']}")
    solver = get_solver("isabelle", Limits(seconds=20))
    assert isinstance(solver, IsabelleSolver)
    with solver:
        assert solver.name == "isabelle 2042"
        assert solver.decide(PROVED) == Entailed()
    assert next(found for found in available_solvers() if found.name == "isabelle").version == "2042"


def test_what_is_missing_is_named(double: Double, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SolverError, match=r"no program 'isabelle' on PATH; get Isabelle at https"):
        get_solver("isabelle")
    monkeypatch.setenv("PATH", str(double.program.parent))
    monkeypatch.setitem(sys.modules, "isabelle_client", None)
    with pytest.raises(SolverError, match=r"pip install 'proof-r1-formal\[isabelle\]'"):
        get_solver("isabelle")
    found = next(found for found in available_solvers() if found.name == "isabelle")
    assert found.version is None
    assert found.hint


# -- Isabelle itself --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def isabelle() -> Iterator[IsabelleSolver]:
    if shutil.which("isabelle") is None:
        pytest.skip("Isabelle is not on PATH; get it at https://isabelle.in.tum.de")
    with IsabelleSolver() as solver:
        yield solver


@pytest.mark.isabelle
def test_isabelle_decides(isabelle: IsabelleSolver) -> None:
    rule, fact, goal = map(parse_formula, ("∀x (cat(x) → tame(x))", "cat(tom)", "tame(tom)"))
    infinite = tuple(
        map(parse_formula, ("∀x ¬less(x, x)", "∀x ∀y ∀z (less(x, y) ∧ less(y, z) → less(x, z))", "∀x ∃y less(x, y)"))
    )
    name = 'end "\\<close> ∧'
    assert isabelle.decide(Query((rule, fact), goal)) == Entailed()
    assert isabelle.decide(Query((rule,), goal)) == Refuted()
    assert isabelle.decide(Query((), parse_formula('∃"x":Dog ⊤'))) == Entailed()
    assert isabelle.decide(Query((), parse_formula("(p ⊕ q) ↔ ¬(p ↔ q)"))) == Entailed()
    assert isabelle.decide(Query((atom(name, const(name)),), atom(name, const(name)))) == Entailed()
    assert isabelle.decide(Query((parse_formula("∃x p(x)"),), parse_formula("∀x p(x)"))) == Refuted()
    assert isabelle.decide(Query((), parse_formula("∀x ∀y (f(x) = y → y = f(x))"))) == Entailed()
    assert isinstance(isabelle.decide(Query(infinite, atom("p"))), Unknown)


@pytest.mark.isabelle
@settings(max_examples=25)
@given(query=strategies.signatures(symbols=strategies.names()).flatmap(strategies.queries))
def test_isabelle_agrees_with_z3(isabelle: IsabelleSolver, query: Query) -> None:
    answer = isabelle.decide(query)
    assert len({type(answer), type(Z3Solver(Limits(steps=100_000)).decide(query))} - {Unknown}) <= 1
    assert not (isinstance(answer, Unknown) and answer.reason is Reason.BROKEN)


@pytest.mark.isabelle
def test_isabelle_rejects_what_an_oracle_or_an_axiom_made(isabelle: IsabelleSolver, tmp_path: Path) -> None:
    theories = {
        "Sorry": query_theory(PROVED, "Sorry", proof="sorry"),
        "Eval": query_theory(Query((), TOP), "Eval", proof="by eval"),
        "Axiom": query_theory(Query((), TOP), "Axiom").replace("lemma", "axiomatization where a: False\n\nlemma", 1),
    }
    for name, text in theories.items():
        (tmp_path / f"{name}.thy").write_text(text)
    server = IsabelleServer("isabelle", startup=900, grace_period=60)
    try:
        session = server.ask("session_start", {"session": "HOL"}, seconds=900)
        assert isinstance(session, dict)
        arguments = {"session_id": session["session_id"], "theories": list(theories), "master_dir": str(tmp_path)}
        reply = server.ask("use_theories", arguments, seconds=600)
    finally:
        server.close()
    assert isinstance(reply, dict)
    said = {each["theory_name"]: [text["message"] for text in each["messages"]] for each in reply["nodes"]}
    for name, complaint in {"Sorry": "ORACLES", "Eval": "ORACLES", "Axiom": "AXIOMS"}.items():
        assert any(text.startswith(complaint) for text in said[f"Draft.{name}"])
        assert not any(text.startswith("PROVED") for text in said[f"Draft.{name}"])
