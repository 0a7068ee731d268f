"""Lean's own checker: what it is proved to be, what it accepts and rejects, and what it rests on."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from proof_r1_formal.assistants import reflection
from proof_r1_formal.assistants.lean import AXIOMS, LeanKernel, LeanTheorem, foreign_word
from proof_r1_formal.assistants.theories import check_checker
from proof_r1_formal.engine.embedded import EmbeddedSolver
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.answer import Refuted
from proof_r1_formal.kernel.checker import shown
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signed import FALSUM
from proof_r1_formal.kernel.syntax import App, Formula, Not, Or, const
from proof_r1_formal.kernel.term import Eliminate, Instance, Introduce, Repeat
from proof_r1_formal.text.parse import parse_formula
from tests.assistants.test_lean_kernel import ENTAILED, REFUTED
from tests.build import sequent

pytestmark = pytest.mark.usefixtures("closed")

THEORIES = Path(__file__).resolve().parents[2] / "theories"


def test_the_theorems_about_the_checker_rest_on_the_usual_axioms(lean: LeanKernel) -> None:
    judgements = check_checker(lean)
    assert {name: j.reason for name, j in judgements.items() if not j.accepted} == {}
    assert {name: set(j.axioms) for name, j in judgements.items()} == dict.fromkeys(judgements, AXIOMS)
    assert {"check_sound", "trace_sound"} <= judgements.keys()


# -- single claims ----------------------------------------------------------------------------------------------------


def test_proofs_and_countermodels_are_theorems(lean: LeanKernel) -> None:
    theorems: dict[str, LeanTheorem] = {}
    valid = {*ENTAILED, *REFUTED}
    for text in ENTAILED:
        query = sequent(text)
        proof = search(query.dependencies, query.conclusion).proof
        assert proof is not None
        theorems[text] = reflection.entailment(query.dependencies, query.conclusion, proof)
        theorems[f"{text}, negated"] = reflection.entailment(query.dependencies, Not(query.conclusion), proof)
        if shown(proof, query.dependencies)[0] == FALSUM:  # which shows anything
            valid.add(f"{text}, negated")
    for text in REFUTED:
        query = sequent(text)
        answer = EmbeddedSolver().decide(query)
        assert isinstance(answer, Refuted) and answer.model is not None
        theorems[text] = reflection.refutation(query.dependencies, query.conclusion, answer.model)
        theorems[f"{text}, negated"] = reflection.refutation(query.dependencies, Not(query.conclusion), answer.model)
    assert [foreign_word(theorem) for theorem in theorems.values()] == [None] * len(theorems)
    judged = dict(zip(theorems, lean.check(list(theorems.values())), strict=True))
    assert {text for text, judgement in judged.items() if judgement.accepted} == valid
    assert all(set(judgement.axioms) <= AXIOMS for judgement in judged.values())


def test_a_model_of_eight_elements_is_evaluated(lean: LeanKernel) -> None:
    """Three nested quantifiers over eight elements: an order, with one pair too few, and with one too many."""
    less = frozenset({(n, m) for n in range(8) for m in range(8) if n < m})
    premises = [parse_formula("∀x ∀y ∀z (r(x,y) ∧ r(y,z) → r(x,z))"), parse_formula("∀x ¬r(x,x)")]
    endless = parse_formula("∀x ∃y r(x,y)")
    holds = [
        reflection.refutation(premises, endless, Structure({"Entity": 8}, {"r": rows}))
        for rows in (less, less - {(0, 7)}, less | {(7, 7)})
    ]
    assert [judgement.accepted for judgement in lean.check(holds)] == [True, False, False]


def test_functions_of_a_model_keep_to_their_sorts(lean: LeanKernel) -> None:
    owner: dict[tuple[int, ...], int] = {(0,): 1, (1,): 0, (2,): 0}
    model = Structure({"Pet": 3, "Person": 2}, {"kind": frozenset({(0,)})}, {"owner": owner, "rex": {(): 2}})
    says = parse_formula("∀p:Person kind(p) ∧ ∀x:Pet ∃p:Person owner(x) = p ∧ kind(owner(rex))")
    fails = reflection.refutation((parse_formula("∃x:Pet ¬kind(owner(x))"),), says, model)
    outside = replace(model, functions={**model.functions, "owner": {**owner, (1,): 2}})
    wrong = reflection.refutation((parse_formula("∃x:Pet ¬kind(owner(x))"),), says, outside)
    assert [judgement.accepted for judgement in lean.check([fails, wrong])] == [True, False]


# -- traces -----------------------------------------------------------------------------------------------------------

PREMISES = {"h1": parse_formula("cat(tom)"), "h2": parse_formula("∀x (cat(x) → pet(x))")}
GOAL = parse_formula("pet(tom)")
RULE = parse_formula("cat(tom) → pet(tom)")
STEPS: tuple[reflection.Step, ...] = (
    ("s1", ("h2",), RULE, (Instance(0, const("tom")),)),
    ("s2", ("s1", "h1"), GOAL, (Eliminate(0, "right", 1),)),
)


def changed(step: int, **fields: object) -> list[reflection.Step]:
    """The steps, one with other fields."""
    names = ("id", "dependencies", "formula", "proof")
    steps: list[reflection.Step] = list(STEPS)
    steps[step] = tuple(fields.get(name, old) for name, old in zip(names, STEPS[step], strict=True))  # type: ignore[assignment]
    return steps


CORRUPTED: dict[str, tuple[dict[str, Formula], list[reflection.Step], Formula]] = {
    "another goal": (PREMISES, [*STEPS], Not(GOAL)),
    "another premise": ({**PREMISES, "h1": parse_formula("dog(tom)")}, [*STEPS], GOAL),
    "a dependency less": (PREMISES, changed(1, dependencies=("s1",)), GOAL),
    "dependencies in another order": (PREMISES, changed(1, dependencies=("h1", "s1")), GOAL),
    "a dependency that comes later": (PREMISES, changed(0, dependencies=("s2",), proof=(Repeat(0),)), GOAL),
    "a step on itself": (PREMISES, changed(1, dependencies=("s2", "h1"), proof=(Repeat(0),)), GOAL),
    "another conclusion": (PREMISES, changed(0, formula=Not(RULE)), GOAL),
    "no line": (PREMISES, changed(1, proof=()), GOAL),
    "another side": (PREMISES, changed(1, proof=(Eliminate(0, "left", 1),)), GOAL),
    "a line that is not there": (PREMISES, changed(1, proof=(Repeat(2),)), GOAL),
    "a line before the first": (PREMISES, changed(1, proof=(Repeat(-1),)), GOAL),
    "a term of no sort": (PREMISES, changed(0, proof=(Instance(0, App("f", (const("tom"),))),)), GOAL),
}


@pytest.mark.parametrize("as_numbers", [False, True])
def test_a_trace_is_a_theorem_and_a_corrupted_one_is_none(
    as_numbers: bool, lean: LeanKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    if as_numbers:
        monkeypatch.setattr(reflection, "MOST_NAMED", 0)
    theorems = [reflection.answer(PREMISES, STEPS, GOAL)]
    theorems += [reflection.answer(*corrupted) for corrupted in CORRUPTED.values()]
    assert (".Trace.ofNumbers " in theorems[0].proof, len(theorems[0].definitions)) == (
        as_numbers,
        1 if as_numbers else 8,
    )
    assert [foreign_word(theorem) for theorem in theorems] == [None] * len(theorems)
    accepted, *rejected = lean.check(theorems)
    assert accepted.accepted, accepted.reason
    assert set(accepted.axioms) == AXIOMS
    assert [name for name, judgement in zip(CORRUPTED, rejected, strict=True) if judgement.accepted] == []


def test_an_id_is_that_of_one_premise_or_step() -> None:
    for id_ in ("h1", "s2"):
        with pytest.raises(ProofError, match="two premises or steps have the same id"):
            reflection.answer(PREMISES, [(id_, ("h1",), PREMISES["h1"], (Repeat(0),)), *STEPS], GOAL)


@pytest.mark.parametrize("as_numbers", [False, True])
def test_each_step_finds_each_earlier_one_and_no_other(
    as_numbers: bool, lean: LeanKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers of premises and steps, on both sides of each power of two, as dependencies of the last of n."""
    monkeypatch.setattr(reflection, "MOST_NAMED", 0 if as_numbers else 100)
    facts = [parse_formula(f"p{n}(tom)") for n in range(18)]
    either = [Or(fact, facts[0]) for fact in facts]
    premises = {f"h{n}": fact for n, fact in enumerate(facts[:7])}
    steps: list[reflection.Step] = [(f"s{n}", ("h6",), either[6], (Introduce(either[6], (0,)),)) for n in range(11)]
    known = {**premises, **{id_: formula for id_, _, formula, _ in steps}}
    theorems, right = [], []
    for id_, formula in known.items():
        for says in (formula, facts[17]):
            theorems.append(reflection.answer(premises, [*steps, ("last", (id_,), says, (Repeat(0),))], says))
            right.append(says is formula)
    assert [judgement.accepted for judgement in lean.check(theorems)] == right


def test_what_is_not_there_yet_is_not_known(lean: LeanKernel) -> None:
    """A step may depend on the numbers of premises and earlier steps only."""
    theorem = reflection.answer(PREMISES, STEPS, GOAL)
    found = [
        theorem,
        *[theorem._replace(proof=theorem.proof.replace("⟨(.cons 2 ", f"⟨(.cons {n} ")) for n in (3, 4, 64)],
    ]
    assert len({each.proof for each in found}) == 4
    assert [judgement.accepted for judgement in lean.check(found)] == [True, False, False, False]


def test_every_proof_is_a_trace_of_numbers(lean: LeanKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflection, "MOST_NAMED", 0)
    theorems = []
    for text in ENTAILED:
        query = sequent(text)
        proof = search(query.dependencies, query.conclusion).proof
        assert proof is not None
        premises = {f"h{number}": formula for number, formula in enumerate(query.dependencies)}
        theorems.append(
            reflection.answer(premises, [("s", tuple(premises), query.conclusion, proof)], query.conclusion)
        )
    assert [judgement.reason for judgement in lean.check(theorems)] == [""] * len(theorems)


MODEL = Structure({"Entity": 1}, {"cat": frozenset({(0,)}), "pet": frozenset({(0,)})}, {"tom": {(): 0}})


def test_an_answer_with_a_model_states_both(lean: LeanKernel) -> None:
    """A step may have a symbol that no premise has, of which the model says nothing."""
    absurd = replace(MODEL, predicates={**MODEL.predicates, "pet": frozenset()})
    either = Or(RULE, parse_formula("∃x odd(f(x, z))"))
    longer: list[reflection.Step] = [*STEPS[:1], ("s3", ("s1",), either, (Introduce(either, (0,)),)), STEPS[1]]
    found = [reflection.answer(PREMISES, each, GOAL, model) for each in (STEPS, longer) for model in (MODEL, absurd)]
    assert [foreign_word(theorem) for theorem in found] == [None] * 4
    assert {theorem.statement.partition(" (")[0] for theorem in found} == {": And"}
    judged = lean.check(found)
    assert [judgement.accepted for judgement in judged] == [True, False, True, False]
    assert set(judged[0].axioms) == AXIOMS


def test_names_stand_for_numbers() -> None:
    """The symbols, the premises and the goal have definitions; what is said of a theorem is made from its data."""
    theorem = reflection.answer(PREMISES, STEPS, GOAL)
    assert theorem.statement == ": ProofR1.Checker.Problem.Entails problem 0"
    assert theorem.legend == "h1 is number 0; h2 is number 1; s1 is number 2; s2 is number 3"
    lines = [each.text() for each in theorem.definitions]
    assert lines[:4] == [f"def {name} : Nat := {n}" for name, n in zip(("s_Entity", *NAMES), (0, 0, 1, 0), strict=True)]
    assert lines[4] == "def h_h1 : ProofR1.Checker.Formula := (.atom p_cat (.cons (.app f_tom .nil) .nil))"
    assert lines[6] == "def goal : ProofR1.Checker.Formula := (.atom p_pet (.cons (.app f_tom .nil) .nil))"
    assert "(.cons h_h1 (.cons h_h2 .nil)), (.cons goal .nil)⟩" in lines[7]


NAMES = ("p_cat", "p_pet", "f_tom")


def test_a_theorem_that_is_false_and_one_that_lean_cannot_read(lean: LeanKernel) -> None:
    """The first error counts: of a definition, of a proof; of an evaluation the wheel's Lean has none."""
    theorem = reflection.answer(PREMISES, STEPS, GOAL)
    *known, problem = theorem.definitions
    found = [
        reflection.answer(PREMISES, STEPS, Not(GOAL)),
        theorem._replace(proof=theorem.proof.replace(".eliminate", ".cases")),
        theorem._replace(definitions=(*known, problem._replace(value=".bottom"))),
    ]
    false, *unreadable = lean.check(found)
    assert (false.reason, false.false, false.line) == ("an evaluation in its proof does not give true", True, None)
    assert [judgement.false for judgement in unreadable] == [False, False]
    assert "ProofR1.Checker.Rule.cases" in unreadable[0].reason
    assert "ProofR1.Checker.Problem.bottom" in unreadable[1].reason


def test_two_countermodels_have_the_same_definitions(lean: LeanKernel) -> None:
    goal = parse_formula("odd(tom)")
    models = [replace(MODEL, predicates={**MODEL.predicates, "odd": frozenset(rows)}) for rows in ((), ((0,),))]
    found = [
        reflection.failure(PREMISES, goal, model, negated=negated) for model in models for negated in (False, True)
    ]
    found += [reflection.failure(PREMISES, None, MODEL), reflection.failure({**PREMISES, "h3": Not(GOAL)}, None, MODEL)]
    assert len({theorem.definitions for theorem in found[:4]}) == 1
    assert [judgement.accepted for judgement in lean.check(found)] == [True, False, False, True, True, False]


def test_a_definition_has_our_words_alone(lean: LeanKernel) -> None:
    theorem = reflection.answer(PREMISES, STEPS, GOAL)
    *known, problem = theorem.definitions
    hostile = problem._replace(value=problem.value + "\naxiom oops : False")
    (judgement,) = lean.check([theorem._replace(definitions=(*known, hostile))])
    assert judgement.reason == "the text has 'axiom', which this package does not write"


# -- what the kernel computes by name ---------------------------------------------------------------------------------

INIT = (THEORIES / "lean" / "mini" / "Init.lean").read_text(encoding="utf-8")
REST = "  | .succ n, m => cond (Nat.beq (.succ (Nat.mod n m)) m)"
FAULTS = {
    "add, n + 0": ("  | n, .zero => n\n", "  | n, .zero => .succ n\n"),
    "add, n + (m + 1)": ("  | n, .succ m => .succ (Nat.add n m)", "  | n, .succ m => .succ (.succ (Nat.add n m))"),
    "beq, 0 and 0": ("  | .zero, .zero => true\n", "  | .zero, .zero => false\n"),
    "beq, 0 and m + 1": ("  | .zero, .succ _ => false\n", "  | .zero, .succ _ => true\n"),
    "beq, n + 1 and 0": ("=> false\n  | .succ n, .succ m => beq", "=> true\n  | .succ n, .succ m => beq"),
    "beq, n + 1 and m + 1": ("=> beq n m", "=> beq m n"),
    "ble, 0 and m": ("  | .zero, _ => true\n", "  | .zero, _ => false\n"),
    "ble, n + 1 and 0": ("=> false\n  | .succ n, .succ m => ble", "=> true\n  | .succ n, .succ m => ble"),
    "ble, n + 1 and m + 1": ("=> ble n m", "=> ble m n"),
    "mod, 0": (f"  | .zero, _ => .zero\n{REST} .zero", f"  | .zero, _ => .succ .zero\n{REST} .zero"),
    "mod, a remainder of m - 1": (f"{REST} .zero", f"{REST} (.succ .zero)"),
    "mod, another remainder": (f"{REST} .zero (.succ (Nat.mod n m))", f"{REST} .zero (Nat.mod n m)"),
    "div, 0": (f"  | .zero, _ => .zero\n{REST} (.succ", f"  | .zero, m => m\n{REST} (.succ"),
    "div, a remainder of m - 1": (f"{REST} (.succ (Nat.div n m)) (", f"{REST} (Nat.div n m) ("),
    "div, another remainder": (f"{REST} (.succ (Nat.div n m)) (Nat.div n m)", f"{REST} (.succ (Nat.div n m)) .zero"),
}
"""The definitions of Lean's functions, and wrong ones."""
ABSURD = """
theorem by_definition (n : Nat) : Eq (Nat.ble (.succ n) .zero) true := rfl
theorem by_arithmetic : Eq (Nat.ble 1 0) false := rfl
theorem absurd_ : False := Bool.noConfusion (by_arithmetic.symm.trans (by_definition 0))
#print axioms absurd_
"""


def said_of(lean: LeanKernel, folder: Path, init: str) -> str:
    """What Lean says of a small ``Init``."""
    folder.mkdir(exist_ok=True)
    (folder / "Init.lean").write_text(init, encoding="utf-8")
    run = lean._run([f"--root={folder}", "-o", str(folder / "Init.olean"), str(folder / "Init.lean")], folder, 60.0)
    return run.stdout.decode()


def test_a_wrong_function_of_numbers_is_caught(lean: LeanKernel, tmp_path: Path) -> None:
    """Each is the plain function of its name, of which the kernel can prove the equations by the definition alone."""
    assert said_of(lean, tmp_path, INIT) == ""
    for name, (right, wrong) in FAULTS.items():
        assert INIT.count(right) + INIT.count(plain(right)) in (2, 4), name
        faulty = INIT.replace(right, wrong, 1)
        for init in (faulty, faulty.replace(plain(right), plain(wrong))):
            faults = lines_of(said_of(lean, tmp_path, init))
            assert any(init.split("\n")[line - 1].startswith(CAUGHT) for line in faults), name


def plain(text: str) -> str:
    return text.replace("Nat.", "")


CAUGHT = tuple(f"theorem {function}_" for function in ("add", "beq", "ble", "mod", "div"))


def lines_of(said: str) -> list[int]:
    return [int(line) for line in re.findall(r"Init\.lean:(\d+):\d+: error", said)]


def test_computed_functions_have_their_equations() -> None:
    computed = {"add", "sub", "mul", "div", "mod", "gcd", "beq", "ble", "land", "lor", "xor", "pow", "log2"}
    computed |= {"shiftLeft", "shiftRight"}
    defined = set(re.findall(r"def Nat\.(\w+)", INIT))
    assert defined == {"add", "beq", "ble", "mod", "div", "decEq"}
    for name in defined & computed:
        bodies = re.findall(rf"def (?:Nat\.)?{name} : .*\n((?:  \| .*\n)+)", INIT)
        assert len(bodies) == 2 and bodies[0].replace("Nat.", "") == bodies[1], name
        assert f"theorem {name}_is : Eq Nat.{name} {name} := rfl" in INIT
        equations = re.findall(rf"^theorem {name}_(?:zero|succ)\w* .*:= rfl$", INIT, re.MULTILINE)
        assert len(equations) == bodies[0].count("\n") >= 2, name


def test_division_is_that_of_the_kernel(lean: LeanKernel, tmp_path: Path) -> None:
    """The plain functions, by their definitions, and Lean's, by its arithmetic; of division by 0, all remains."""
    results = [(n, m, *(divmod(n, m) if m else (0, n))) for n in range(10) for m in range(5)]
    says = "theorem by_{0}_{1}_{2} : And (Eq ({2}.div {0} {1}) {3}) (Eq ({2}.mod {0} {1}) {4}) := ⟨rfl, rfl⟩"
    lines = [says.format(n, m, room, *both) for n, m, *both in results for room in ("Nat", "Plain")]
    assert said_of(lean, tmp_path, "\n".join([INIT, *lines])) == ""


def test_without_the_equations_a_wrong_function_proves_false(lean: LeanKernel, tmp_path: Path) -> None:
    """Why they are needed: the kernel computes ``Nat.ble 1 0`` by the name, and the general case by the definition."""
    right, wrong = FAULTS["ble, n + 1 and 0"]
    bare = re.sub(r"^theorem \w+_is .*\n", "", INIT, flags=re.MULTILINE)
    assert "'absurd_' does not depend on any axioms" in said_of(lean, tmp_path, bare.replace(right, wrong, 1) + ABSURD)
    assert "error" in said_of(lean, tmp_path, INIT + ABSURD)
