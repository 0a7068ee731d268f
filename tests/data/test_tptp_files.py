"""Typed problems of TPTP, files that include others, and files without a goal."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from proof_r1_formal.data import read_problems
from proof_r1_formal.data.native import from_json, to_json
from proof_r1_formal.data.problem import GOAL_TRUE, Problem, ProblemSet
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.kernel.answer import Entailed, Query, Refuted
from proof_r1_formal.kernel.signature import FunctionType
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.render import tptp
from proof_r1_formal.text.show import show
from tests.data.files import write

TYPES = """\
tff(cat_type, type, cat: $tType).
tff(dog_type, type, 'Dog': $tType).
tff(tom_type, type, tom: cat).
tff(likes_type, type, likes: (cat * 'Dog') > $o).
tff(owner_type, type, (owner: ('Dog' > $i))).
"""
FORMULAS = """\
tff(one, axiom, ! [X: cat, Y: 'Dog'] : likes(X, Y)).
tff(goal, conjecture, ! [Y: 'Dog'] : ? [Z] : (owner(Y) = Z & likes(tom, Y))).
"""


def read(folder: Path, text: str, name: str = "any.p") -> ProblemSet:
    return read_problems(write(folder, text, name))


def one(folder: Path, text: str) -> Problem:
    found = read(folder, text)
    assert found.rejected == ()
    (problem,) = found.values()
    return problem


def query_of(problem: Problem) -> Query:
    """The question whether the goal follows, with the sorts of the problem."""
    known = Verifier().context(problem).problem
    return Query(tuple([premise.formula for premise in known.premises]), known.options[0].formula)


def follows(problem: Problem) -> bool:
    match EmbeddedSolver().decide(query_of(problem)):
        case Entailed(proof) if proof is not None:
            return True
        case Refuted(model) if model is not None:
            return False
    raise AssertionError("undecided")


# -- types ------------------------------------------------------------------------------------------------------------


def test_types_are_sorts(tmp_path: Path) -> None:
    problem = one(tmp_path, TYPES + FORMULAS)
    assert show(problem.premises[0].formula) == "∀X:cat ∀Y:Dog likes(X, Y)"
    assert show(problem.options[0].formula) == "∀Y:Dog ∃Z (owner(Y) = Z ∧ likes(tom, Y))"
    signature = problem.signature()
    assert signature.predicates == {"likes": ("cat", "Dog")}
    assert signature.functions == {"owner": FunctionType(("Dog",), "Entity"), "tom": FunctionType((), "cat")}
    assert len(problem.premises) == 1  # the formulas say all types
    assert follows(problem)


CLASH = """\
tff(t, type, thing: $tType).
tff(b_type, type, b: thing).
tff(c_type, type, c: thing).
tff(p_type, type, p: thing > $o).
tff(all_equal, axiom, ! [X] : X = a).
tff(yes, axiom, p(b)).
tff(goal, conjecture, p(c)).
"""


def test_a_type_without_a_variable_is_said_by_a_premise(tmp_path: Path) -> None:
    """Else ``b`` and ``c`` would be individuals, all of which are equal, and the goal would follow."""
    problem = one(tmp_path, CLASH)
    said = [show(premise.formula) for premise in problem.premises[2:]]
    assert said == ["∃y:thing y = b", "∃y:thing y = c"]
    assert not follows(problem)
    assert follows(one(tmp_path, "\n".join(line for line in CLASH.splitlines() if ", type," not in line)))
    back = from_json(to_json(problem))
    assert back.signature() == problem.signature()


def test_the_type_of_a_function_is_said_for_all_arguments(tmp_path: Path) -> None:
    types = ("b: $i", "c: thing", "f: (thing * $i) > thing", "p: thing > $o")
    lines = [f"tff(t{number}, type, {type_})." for number, type_ in enumerate(types)]
    lines = ["tff(t, type, thing: $tType).", *lines, "tff(yes, axiom, p(c)).", "tff(goal, conjecture, p(f(c, b)))."]
    problem = one(tmp_path, "\n".join(lines))
    said = [show(premise.formula) for premise in problem.premises]
    assert "∀x1:thing ∀x2 ∃y:thing y = f(x1, x2)" in said


def test_each_goal_has_the_types_that_it_leaves_open(tmp_path: Path) -> None:
    text = CLASH + "tff(other, conjecture, ! [X: thing] : (X = b & X = c & p(X)))."
    first, second = read(tmp_path, text).values()
    assert (len(first.premises), len(second.premises)) == (4, 2)


def test_e_decides_typed_problems_as_we_do(tmp_path: Path) -> None:
    program = shutil.which("eprover")
    if program is None:
        pytest.skip("E is not installed (apt install eprover)")
    hotel = (
        TYPES + "tff(n, axiom, ! [Y: 'Dog'] : likes(tom, Y)).\ntff(g, conjecture, ? [X: cat, Y: 'Dog'] : likes(X, Y))."
    )
    split = "tff(s, type, s: $tType).\ntff(f, type, f: s > $i).\ntff(g, conjecture, ! [X: s] : ? [Y] : f(X) = Y)."
    for text in (TYPES + FORMULAS, CLASH, hotel, split):
        problem = one(tmp_path, text)
        for question in (text, tptp.problem(query_of(problem))):  # as it is written, and as we write it again
            run = subprocess.run([program, "--auto", "-s"], input=question, capture_output=True, text=True, check=False)
            status = "Theorem" if follows(problem) else "CounterSatisfiable"
            assert f"# SZS status {status}" in run.stdout, question


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tff(a, type, f: cat).", "the type 'cat' is not declared before"),
        ("tff(a, type, n: $int).", "the type '$int' is not read here"),
        ("tff(a, type, 'Entity': $tType).", "has the name of the default sort"),
        ("tff(a, type, f: ($i * $i)).", "a product of types is the type of no symbol"),
        ("tff(a, type, f: $i > $i).\ntff(b, type, f: $i > $o).", "line 2: 'f' has two types"),
        ("tff(a, type, f: ($i)).\ntff(b, type, f: $i > $i).", "line 2: 'f' has two types"),
        ("tff(a, type, f: $i > $o).\ntff(b, type, f: $i > $i).", "line 2: 'f' has two types"),
        ("tff(a, type, f: $i > $i).\ntff(g, conjecture, f(a)).", "line 2: 'f' is declared as a function"),
        ("tff(a, type, p: $i > $o).\ntff(g, conjecture, p(p(a))).", "line 2: 'p' is declared as a predicate"),
        ("tff(a, type, p: $i > $o).\ntff(g, conjecture, p).", "'p' has 0 arguments, and 1 are declared"),
        (
            "tff(g, conjecture, a = a).\ntff(s, type, s: $tType).\ntff(a, type, a: s).\ntff(h, axiom, a = b).",
            "line 4: the",
        ),
        (TYPES + "tff(g, conjecture, likes(tom, tom)).", "argument 2 of 'likes' is of the type 'cat', and 'Dog' is"),
        (
            TYPES + "tff(g, conjecture, ! [X: cat] : owner(X) = X).",
            "line 6: argument 1 of 'owner' is of the type 'cat'",
        ),
        (TYPES + "tff(g, conjecture, ? [X] : X = tom).", "the sides of an equation are of the types $i and 'cat'"),
        (TYPES + "fof(g, conjecture, ! [X: cat] : X = tom).", "only tff has typed variables"),
        ("fof(a, type, cat: $tType).", "a declaration of a type is tff(name, type, symbol: type)"),
        ("tff(a, axiom, cat: $tType).", "a declaration of a type is tff(name, type, symbol: type)"),
        ("tff(a, type, p(b)).", "a declaration of a type is tff(name, type, symbol: type)"),
        ("tff(l, type, list: $tType > $tType).", "the type '$tType' is not read here"),
        ("tff(g, conjecture, p(1)).", "'1' is not read"),
    ],
)
def test_what_is_refused_in_typed_files(tmp_path: Path, text: str, told: str) -> None:
    found = read(tmp_path, f"{text}\ntff(goal, conjecture, $true).")
    assert len(found) == 0
    assert told in "; ".join(found.rejected[0].reasons)


# -- include ----------------------------------------------------------------------------------------------------------

AXIOMS = "fof(one, axiom, p(a)).\nfof('two 2', axiom, q(a)).\nfof(three, axiom, r(a)).\n"


def test_files_are_included_from_the_folder_of_each(tmp_path: Path) -> None:
    write(tmp_path / "Axioms", "include('more/b.ax').\n" + AXIOMS, "a.ax")
    write(tmp_path / "Axioms" / "more", "fof(rule, axiom, ! [X] : (p(X) => s(X))).", "b.ax")
    problem = one(tmp_path, "include('Axioms/a.ax').\ninclude('Axioms/more/b.ax').\nfof(g, conjecture, s(a)).")
    assert [show(p.formula) for p in problem.premises] == ["∀X (p(X) → s(X))", "p(a)", "q(a)", "r(a)"]
    assert follows(problem)


def test_formulas_are_included_by_their_names(tmp_path: Path) -> None:
    write(tmp_path, "tff(t, type, p: $i > $o).\n" + AXIOMS, "a.ax")
    problem = one(tmp_path, "include('a.ax', [three, 'two 2']).\nfof(g, conjecture, r(a)).")
    assert [show(p.formula) for p in problem.premises] == ["q(a)", "r(a)"]
    found = read(tmp_path, "include('a.ax', [four, one]).\nfof(g, conjecture, r(a)).")
    assert "line 1: include: the file has no formula four" in found.rejected[0].reasons


def test_the_library_of_tptp_is_searched_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "library" / "Axioms", "fof(far, axiom, far).", "a.ax")
    monkeypatch.setenv("TPTP", str(tmp_path / "library"))
    text = "include('Axioms/a.ax').\nfof(g, conjecture, far)."
    assert show(one(tmp_path, text).premises[0].formula) == "far"
    write(tmp_path / "Axioms", "fof(near, axiom, near).", "a.ax")
    assert show(one(tmp_path, text).premises[0].formula) == "near"


@pytest.mark.parametrize(
    ("again", "texts"),
    [
        ("include('a.ax', [three, 'two 2']).", ["p(a)", "q(a)", "r(a)"]),
        ("include('a.ax').", ["p(a)", "q(a)", "r(a)"]),
        ("include('a.ax', *).", ["p(a)", "q(a)", "r(a)"]),
        ("fof(one, axiom, p(a)).", ["p(a)", "q(a)", "p(a)"]),
    ],
)
def test_a_formula_that_is_included_again_counts_once(tmp_path: Path, again: str, texts: list[str]) -> None:
    write(tmp_path, "fof(one, axiom, p(a)).\nfof('two 2', axiom, q(a)).\nfof(three, axiom, r(a)).\n", "a.ax")
    problem = one(tmp_path, f"include('a.ax', [one, 'two 2']).\n{again}\nfof(g, conjecture, r(a)).")
    assert [show(premise.formula) for premise in problem.premises] == texts


def test_errors_name_the_included_file(tmp_path: Path) -> None:
    write(tmp_path, "fof(one, axiom, p(a)).\nfof(two, axiom, p(a) &).", "a.ax")
    found = read(tmp_path, "include('a.ax').\nfof(g, conjecture, p(a)).")
    assert found.rejected[0].reasons[0].startswith("a.ax, line 2: unexpected ')'")


def test_files_that_include_themselves_are_read_once(tmp_path: Path) -> None:
    problem = one(tmp_path, "include('any.p').\nfof(a, axiom, p).\nfof(g, conjecture, p).")
    assert len(problem.premises) == 1
    for number in range(40):
        write(
            tmp_path, f"include('f{number + 1}.ax').\ninclude('f{number + 1}.ax').\nfof(a, axiom, p).", f"f{number}.ax"
        )
    found = read(tmp_path, "include('f0.ax').\nfof(g, conjecture, p).")
    assert "files that include each other more than 32 deep" in found.rejected[0].reasons[0]


def test_only_files_include_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device would never end, and a text on standard input comes from no folder."""
    found = read(tmp_path, "include('/dev/zero').\nfof(g, conjecture, p).")
    assert "there is no file '/dev/zero'" in found.rejected[0].reasons[0]
    write(tmp_path, "fof(a, axiom, p).", "a.ax")
    monkeypatch.chdir(tmp_path)
    text = "include('a.ax').\nfof(g, conjecture, p)."
    run = subprocess.run(["proof-r1", "prove", "-p", "-"], input=text, capture_output=True, text=True, check=False)
    assert "a text has no folder to include files from" in run.stderr


# -- no goal ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["any.p", "any.in"])
@pytest.mark.parametrize("contrary", [True, False])
def test_formulas_without_a_goal_may_contradict_each_other(tmp_path: Path, name: str, contrary: bool) -> None:
    last = "~p(a)" if contrary else "~p(b)"
    text = f"cnf(one, axiom, ~p(X) | q(X)).\ncnf(two, axiom, p(a)).\ncnf(three, axiom, ~q(a) | {last}).\n"
    if name == "any.in":
        clauses = text.replace("~", "-").replace("X", "x").splitlines()
        text = f"formulas(sos).\n{' '.join(each.split(', ')[2][:-2] + '.' for each in clauses)}\nend_of_list.\n"
    (problem,) = read(tmp_path, text, name).values()
    assert (problem.id, problem.premises) == ("any/contradiction", ())
    assert problem.question == "Do the formulas contradict each other?"
    assert follows(problem) == contrary


def test_a_status_answers_what_formulas_without_a_goal_ask(tmp_path: Path) -> None:
    for status, answer in (("Unsatisfiable", GOAL_TRUE), ("Satisfiable", None)):
        assert one(tmp_path, f"% Status : {status}\ncnf(one, axiom, p).").answer == answer


def test_a_goal_that_cannot_be_used_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "goals.p"
    path.write_text(
        "fof(a, axiom, p(c)).\nfof(b, conjecture, q(c)).\n\nfof(d, conjecture, p(c, c)).\n", encoding="utf-8"
    )
    found = read_problems(path)
    assert len(found) == 1
    [rejected] = found.rejected
    assert rejected.line == 4
