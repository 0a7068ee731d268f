"""Certificates of problems without completions: from the engine's evidence, for what it decides."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proof_r1_formal.assistants.certificate import Certificate, OpenCertificate
from proof_r1_formal.assistants.engine_certificate import NoCertificate, certify_problem
from proof_r1_formal.assistants.isar import isar_theory
from proof_r1_formal.assistants.lean_file import lean_file
from proof_r1_formal.cli import app
from proof_r1_formal.commands import benchmark, certificates, common
from proof_r1_formal.engine import get_solver
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.kernel.answer import Query, is_countermodel
from proof_r1_formal.kernel.checker import check
from proof_r1_formal.kernel.syntax import BOTTOM, Formula
from proof_r1_formal.proof.verify import Verifier
from tests.build import problem

INFINITE = ("∀x ¬R(x, x)", "∀x ∀y ∀z (R(x, y) ∧ R(y, z) → R(x, z))", "∀x ∃y R(x, y)")
"""Premises that have infinite models only."""


def step_of(certificate: Certificate) -> tuple[tuple[Formula, ...], Formula]:
    """What the one step says, after the checker has read its proof."""
    (step,) = certificate.steps
    given = tuple([certificate.premises[name] for name in step.dependencies])
    check(step.proof, given, step.formula)
    assert step.formula is certificate.goal
    return given, step.formula


def test_what_follows_is_certified_from_the_premises_that_its_proof_uses() -> None:
    certificate = certify_problem(Verifier(), problem("rains", "P(a) → Q(a)", "cold", "P(a)", goal="Q(a)"))
    assert isinstance(certificate, Certificate)
    assert certificate.steps[0].dependencies == ("h2", "h4")
    given, goal = step_of(certificate)
    assert (list(map(str, given)), str(goal)) == (["P(a) → Q(a)", "P(a)"], "Q(a)")
    model = certificate.model
    assert model is not None and is_countermodel(Query(tuple(certificate.premises.values()), BOTTOM), model)
    assert list(certificate.theorems()) == ["answer", "consistent"] and certificate.required == ("answer",)


def test_the_negation_may_be_what_follows() -> None:
    certificate = certify_problem(Verifier(), problem("¬P(a) ∧ rains", goal="P(a)"))
    assert isinstance(certificate, Certificate)
    assert str(step_of(certificate)[1]) == "¬P(a)"


def test_contradictory_premises_are_certified_as_such() -> None:
    asked = problem("P(a)", "rains", "¬P(a)", goal="snows")
    certificate = certify_problem(Verifier(), asked)
    assert isinstance(certificate, Certificate)
    given, goal = step_of(certificate)
    assert (list(map(str, given)), goal) == (["P(a)", "¬P(a)"], BOTTOM)
    assert list(certificate.theorems()) == ["contradictory"] and certificate.model is None
    assert "theorem contradictory" in lean_file(certificate, asked)
    assert "theorem contradictory:" in isar_theory(certificate, "Asked", problem=asked)


def test_a_claim_may_follow_from_premises_without_a_finite_model() -> None:
    certificate = certify_problem(Verifier(), problem(*INFINITE, "P(a)", goal="P(a)"))
    assert isinstance(certificate, Certificate)
    assert (certificate.label, certificate.model, certificate.refuted()) == ("answer", None, {})
    step_of(certificate)


def test_what_does_not_follow_has_countermodels() -> None:
    certificate = certify_problem(Verifier(), problem("P(a)", goal="Q(a)"))
    assert isinstance(certificate, OpenCertificate)
    premises = tuple(certificate.premises.values())
    for formula, model in certificate.refuted().values():
        assert is_countermodel(Query(premises, formula), model)
    assert certificate.required == ("goal_fails", "negation_fails")


def test_one_countermodel_is_certified_alone() -> None:
    """That the negation of an axiom of infinity does not follow has no finite countermodel."""
    goal = f"¬({' ∧ '.join(f'({text})' for text in INFINITE)})"
    certificate = certify_problem(Verifier(), problem(goal=goal))
    assert isinstance(certificate, OpenCertificate)
    assert certificate.required == ("negation_fails",)
    assert list(certificate.theorems()) == ["negation_fails"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"a": "Q(a)", "b": "R(a)"}, "the options are not a claim and its negation"),
        ({"Uncertain": "Q(a)"}, "no option says anything but that the question is open"),
    ],
)
def test_why_there_is_none(options: dict[str, str], why: str) -> None:
    found = certify_problem(Verifier(), problem("P(a)", options=options, answer=None))
    assert isinstance(found, NoCertificate)
    assert why in found.reason


def test_a_choice_that_follows_is_certified_like_any_claim() -> None:
    certificate = certify_problem(Verifier(), problem("P(a) ∧ R(a)", options={"a": "Q(a)", "b": "R(a)"}, answer=None))
    assert isinstance(certificate, Certificate)
    assert str(step_of(certificate)[1]) == "R(a)"


def test_what_a_solver_says_without_evidence_is_not_certified() -> None:
    """Z3 gives models, and no proofs: that the claim follows is its word, that its negation does not is shown."""
    pytest.importorskip("z3")
    found = certify_problem(Verifier(get_solver("z3")), problem("P(a)", "P(a) → Q(a)", goal="Q(a)"))
    assert isinstance(found, OpenCertificate)
    assert found.required == ("negation_fails",)
    found = certify_problem(Verifier(get_solver("z3")), problem("P(a)", "¬P(a)", goal="Q(a)"))
    assert isinstance(found, NoCertificate)
    assert "without evidence" in found.reason


# -- the commands -----------------------------------------------------------------------------------------------------

FILE = """fof(a, axiom, ! [X] : (man(X) => mortal(X))).
fof(b, axiom, man(socrates)).
fof(one, conjecture, mortal(socrates)).
fof(two, conjecture, ? [X] : (mortal(X) => ! [Y] : mortal(Y))).
fof(three, conjecture, man(plato)).
"""


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which no row of a table breaks."""
    monkeypatch.setattr(common.OUT, "_width", 200)


@pytest.mark.usefixtures("wide")
def test_prove_writes_certificates_and_a_table(tmp_path: Path) -> None:
    """Without a kernel: other tests have Lean check the same."""
    (tmp_path / "a.p").write_text(FILE, encoding="utf-8")
    (tmp_path / "b.p").write_text("fof(c, axiom, p).\nfof(d, axiom, ~ p).\nfof(e, conjecture, q).", encoding="utf-8")
    out = tmp_path / "out"
    files = [str(tmp_path / "a.p"), str(tmp_path / "b.p")]
    arguments = ["--certify", str(out), "--kernel", "none", "--name", "Mine", "--isabelle", "--table"]
    result = CliRunner().invoke(app, ["prove", *files, *arguments])
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    rows = {words[0]: words[1:-1] for words in lines if words and "/" in words[0] and not words[0].endswith(":")}
    assert rows == {
        "a/one": ["True", "proof", "by", "rules", "1", "step"],
        "a/two": ["True", "proof", "by", "the", "engine"],
        "a/three": ["Uncertain", "countermodels", "2", "elements", "at", "most"],
        "b/e": ["–", "premises", "contradict", "each", "other"],
    }
    assert "b/e: certificate, not checked: contradictory, by the engine" in result.stdout
    assert "4 of 4 solved" in result.stderr
    assert sorted(file.name for file in (out / "Mine").iterdir()) == [
        *("A_one_0.lean", "A_three_0.lean", "A_two_0.lean", "B_e_0.lean"),
    ]
    assert "namespace Mine.A_one_0" in (out / "Mine" / "A_one_0.lean").read_text(encoding="utf-8")
    assert "session Proof_R1_Mine = HOL" in (out / "ROOT").read_text(encoding="utf-8")
    assert (out / "document" / "root.tex").is_file()


def test_prove_writes_short_names_where_it_writes_theorems(tmp_path: Path) -> None:
    (tmp_path / "a.p").write_text(FILE, encoding="utf-8")
    given = ["prove", str(tmp_path / "a.p"), "--short-names", "--kernel", "none"]
    result = CliRunner().invoke(app, [*given, "--certify", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "Certificates" / "A_one_0.lean").read_text(encoding="utf-8")
    assert "(man : Entity → Prop)" in text


@pytest.mark.usefixtures("wide")
def test_prove_says_what_a_solver_claims_and_how_long_it_takes(tmp_path: Path) -> None:
    pytest.importorskip("z3")
    (tmp_path / "a.p").write_text(FILE, encoding="utf-8")
    results = tmp_path / "results.jsonl"
    arguments = ["prove", str(tmp_path / "a.p"), "--table", "--time", "--solver", "z3", "--json", str(results)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "says that True follows" in result.stdout
    assert "1 of 3 solved (countermodels: 1)" in result.stderr
    assert all(json.loads(line)["seconds"] >= 0 for line in results.read_text(encoding="utf-8").splitlines())


def test_a_row_of_the_benchmark_has_the_size_of_the_largest_countermodel() -> None:
    """The structure of a problem without terms has one element."""
    sizes = {}
    for asked in (problem("rains", goal="snows"), problem("P(a) ∧ ¬P(b)", goal="Q(a)")):
        verifier = Verifier()
        found = benchmark.row(verifier, asked, Prover(verifier).prove(asked), 1.5)
        assert found[:2] == ("Uncertain", benchmark.MODELS) and found.solved
        sizes[found.detail] = benchmark.totals({"p": found})
    assert sizes == dict.fromkeys(
        ("1 element at most", "2 elements at most"),
        "1 of 1 solved (countermodels: 1); 1.5 s, median 1.50 s, slowest 1.50 s",
    )


def test_problems_without_a_theorem_are_counted(capfd: pytest.CaptureFixture[str]) -> None:
    open_ = problem("P(a)", options={"a": "Q(a)", "b": "R(a)"}, id="p", answer=None)
    verifier = Verifier()
    theorems = certificates.Theorems(verifier, None, None, "shallow")
    for asked in (open_, problem("P(a)", goal="P(a)"), open_):
        theorems.add(asked, Prover(verifier).prove(asked))
    theorems.finish()
    assert theorems.counts == {"no certificate": 2, "certificate, not checked": 1}
    assert theorems.without == 2
    assert capfd.readouterr().out.count("p: no certificate: ") == 2


def test_two_files_must_not_have_one_id(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.p").write_text(FILE, encoding="utf-8")
    result = CliRunner().invoke(app, ["prove", str(tmp_path / "one" / "a.p"), "-p", str(tmp_path / "two" / "a.p")])
    assert result.exit_code != 0
    assert "as" in str(result.exception) and "rename one of the files" in str(result.exception)


def test_no_text_of_a_problem_leaves_its_quotation_in_isabelle() -> None:
    hostile = "é \\<close> @{ML x} `\naxiomatization where False \\end{document}"
    asked = problem("P(a)", goal="P(a)")
    certificate = certify_problem(Verifier(), asked)
    assert isinstance(certificate, Certificate)
    text = isar_theory(certificate, "Asked", problem=replace(asked, question=hostile))
    about, _, rest = text.partition("\ntext \\<open>\n  ")[2].partition("\n\\<close>\n")
    quoted = about.removeprefix("@{verbatim \\<open>").removesuffix("\\<close>}")
    assert quoted.endswith(
        "(U+00E9) (U+005C)<close> (U+0040){ML x} (U+0060)(U+000A)axiomatization where False (U+005C)end{document}"
    )
    assert not set(quoted) & set("\\@`\n")
    assert rest == isar_theory(certificate, "Asked").partition("begin\n")[2]
