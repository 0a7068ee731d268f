"""Catalogues in files: the package's own, and those of users, from TOML to a theorem that Lean accepts."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from proof_r1_formal import rules as rules_folder
from proof_r1_formal.assistants import isar
from proof_r1_formal.assistants.certificate import Certificate, CertifiedStep, Style
from proof_r1_formal.assistants.certify import certify
from proof_r1_formal.assistants.lean import FORBIDDEN, LeanKernel, foreign_word
from proof_r1_formal.assistants.proof_writer import own_theorems
from proof_r1_formal.assistants.theories import check_schemata, manifest_bytes, manifest_of, schema_theorem
from proof_r1_formal.errors import CatalogueError, DataError
from proof_r1_formal.generate.problems import GeneratorSettings, generate_problems
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.pattern import Lambda
from proof_r1_formal.kernel.syntax import Not, atom
from proof_r1_formal.kernel.term import Apply
from proof_r1_formal.proof.trajectory import completion
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO, TRAIN, catalogue, read_catalogue
from proof_r1_formal.rules.check import Match
from proof_r1_formal.rules.manifest import Manifest, read_manifest, title, unproved
from proof_r1_formal.rules.restating import restating_schemata
from proof_r1_formal.rules.schema import Catalogue, Condition, Example, Rule, schema
from proof_r1_formal.rules.theorems import instance_proof, theorem
from tests.build import sequent

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
OWN = DOCS.parent / "examples" / "own.toml"


def test_the_files_of_the_package() -> None:
    assert (TRAIN.name, FOLIO.name, TRAIN.manifest, FOLIO.manifest) == ("train", "folio", None, None)
    assert FOLIO.rules[: len(TRAIN.rules)] == TRAIN.rules
    assert (len(TRAIN.rules), len(FOLIO.rules)) == (9, 16)
    assert dict(TRAIN.aliases).items() < dict(FOLIO.aliases).items()
    assert TRAIN.rules[0].schemata == (schema("implication_elimination", "A → B", "A", "B"),)
    assert FOLIO.rules[-1].schemata[0].conditions == {Condition.HEADED}
    assert catalogue("folio") is FOLIO
    assert catalogue(str(OWN)).rules[-1].schemata[0].conditions == {Condition.SYNTACTIC}


FILE = """
[rules.R]
meaning = "m"
example = "p ∧ q ⊢ p"
[rules.R.schemata]
r = "[A ∧ B] ⊢ A"
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("", None, "No such file"),
        ("[rules.R]", "[rules.R", "Expected ']'"),
        ('meaning = "m"', "", "rule 'R': Object missing required field `meaning`"),
        ('meaning = "m"', 'meaning = "m"\nmeanings = "m"', "rule 'R': Object contains unknown field `meanings`"),
        (
            "[rules.R]",
            'extends = "trane"\n[rules.R]',
            "unknown catalogue 'trane'; available: train, folio, ",
        ),
        ("[rules.R]", "rules.S = 3\n[rules.R]", "rule 'S': Expected `object`, got `int`"),
        ("rules.R", "rules.INVALID_RULE", "the name 'INVALID_RULE' is reserved, as credit and metrics count"),
        ("[rules.R]", '[aliases]\ninvalid-rule = "R"\n[rules.R]', "the name 'invalid-rule' is reserved"),
        ("rules.R", "rules.GOAL_BINDING", "the name is reserved for the rule of the last action; rename it, or extend"),
        ('"p ∧ q ⊢ p"', '"p, so p"', "the example of R: 'p, so p' has no ⊢"),
        ('"p ∧ q ⊢ p"', '"p ⊢ "', "has no ⊢ with a conclusion after it"),
        ('"p ∧ q ⊢ p"', '"p ∨ q ⊢ p"', "the example of R, 'p ∨ q ⊢ p', is not an instance of its schema (r)"),
        ('"p ∧ q ⊢ p"', '"p ∧ q ⊢ r"', "is not an instance"),
        ('"p ∧ q ⊢ p"', '"p ∧ ⊢ p"', "the example of R, 'p ∧ ⊢ p': "),
        ('"p ∧ q ⊢ p"', '"p(a) ∧ q ⊢ p"', "'p' is used as"),
        ('"[A ∧ B] ⊢ A"', '"[A → B]; A ⊢ B"', "is not an instance of its schema (r)"),
        ('"[A ∧ B] ⊢ A"', '"[A ∧ B ⊢ A"', "rule 'R', schema 'r': a bracket is not closed"),
        ('"[A ∧ B] ⊢ A"', '"[A ∧ ] ⊢ A"', "rule 'R', schema 'r': "),
        ('"[A ∧ B] ⊢ A"', '{ say = "[A ∧ B] ⊢ A" }', "rule 'R', schema 'r': Object contains unknown field `say`"),
        ('"[A ∧ B] ⊢ A"', '"[A] ⊢ C"', "nothing says what C stands for"),
        (
            '"[A ∧ B] ⊢ A"',
            '{ says = "[A ∧ B] ⊢ A", conditions = ["easy"] }',
            "rule 'R', schema 'r': unknown condition 'easy'; available: syntactic, ",
        ),
        ("[rules.R]", '[aliases]\nS = "T"\n[rules.R]', "alias 'S' names no rule of it"),
        ("[rules.R]", "\ud800", "surrogates not allowed"),
    ],
)
def test_a_file_that_is_no_catalogue(tmp_path: Path, old: str, new: str | None, says: str) -> None:
    file = tmp_path / "mine.toml"
    if new is not None:
        assert old in FILE
        file.write_bytes(FILE.replace(old, new, -1 if old == "rules.R" else 1).encode("utf-8", "surrogatepass"))
    with pytest.raises(CatalogueError) as error:
        catalogue(str(file))
    assert str(error.value).startswith(f"{file}: ")
    if says != "surrogates not allowed":
        assert says in str(error.value)


def test_a_file_may_have_goal_binding_itself_as_the_package_has_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = (Path(rules_folder.__file__).parent / "train.toml").read_text("utf-8")
    file.write_text(text, "utf-8")
    assert read_catalogue(file).rules == TRAIN.rules
    file.write_text(text.replace('says = "[A] ⊢ A"', 'says = "[A ∧ B] ⊢ A"'), "utf-8")
    with pytest.raises(CatalogueError, match="rule 'GOAL_BINDING': the name is reserved for the rule of the last"):
        read_catalogue(file)


def test_schemata_that_never_are_progress_are_told(tmp_path: Path) -> None:
    rules = """extends = "folio"
[rules.CONTRAPOSITION]
meaning = "m"
example = "p → q ⊢ ¬q → ¬p"
[rules.CONTRAPOSITION.schemata]
contraposition = "[A → B] ⊢ ¬B → ¬A"
excluded = { says = "[A] ⊢ B ∨ ¬B", conditions = ["syntactic"] }
syllogism = "[A → B]; [B → C] ⊢ A → C"
"""
    (tmp_path / "mine.toml").write_text(rules, encoding="utf-8")
    told = list(restating_schemata(catalogue(str(tmp_path / "mine.toml"))))
    assert told == [
        "contraposition: its conclusion is equivalent to the premise A → B, so a step by it is never progress",
        "excluded: its conclusion is a logical truth, so a step by it is never progress",
    ]
    assert list(restating_schemata(COMPLETE)) == []  # of the package's own, a test knows all


def test_which_schemata_of_the_package_are_never_progress() -> None:
    told = [line.partition(":")[0].removeprefix("my_") for line in restating_schemata(renamed(COMPLETE))]
    of_negation = [each.name for rule in COMPLETE.rules if rule.name == "QUANTIFIER_NEGATION" for each in rule.schemata]
    absurd = ["reductio_ad_absurdum_of_negation", "reductio_ad_absurdum_of_itself"]
    assert sorted(told) == sorted(["goal_binding", "reiteration", "equality_reflexivity", *absurd, *of_negation])


def test_the_pages_have_the_numbers_of_rules_and_schemata() -> None:
    train, folio, complete = (len(known.rules) for known in (TRAIN, FOLIO, COMPLETE))
    assert (train, folio - train, complete - folio) == (9, 7, 8)
    rules = (DOCS / "rules.md").read_text(encoding="utf-8")
    assert "catalogue `train`, nine rules for" in rules
    assert "`--rules folio` adds seven" in rules
    assert "`--rules complete` eight more" in rules
    of_train, of_folio = (sum(len(rule.schemata) for rule in known.rules) for known in (TRAIN, FOLIO))
    trust = (DOCS / "trust.md").read_text(encoding="utf-8")
    assert f"all {of_folio} schemata of the catalogue `folio`, {of_train} of which are in `train`" in trust


def test_a_name_that_is_neither_known_nor_a_file() -> None:
    with pytest.raises(CatalogueError, match="'train', 'folio', 'complete', and files whose names end in"):
        catalogue("trane")


def test_examples_may_be_terminal_or_under_hypotheses(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    bound = FILE.replace('"[A ∧ B] ⊢ A"', '{ says = "[A ∧ B] ⊢ A", conditions = ["terminal"] }')
    under = "hypotheses = true\n" + FILE.replace('"p ∧ q ⊢ p"', '"r → p ∧ q ⊢ r → p"')
    for text in (FILE, bound, under):
        file.write_text(text, encoding="utf-8")
        assert catalogue(str(file)).rules[0].name == "R"
    file.write_text(under.replace("= true", "= false"), encoding="utf-8")
    with pytest.raises(CatalogueError, match="not an instance"):
        catalogue(str(file))


# -- its manifest -----------------------------------------------------------------------------------------------------


def own(folder: Path) -> Catalogue:
    return read_catalogue(Path(shutil.copy(OWN, folder)))


def test_a_file_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="theories check --rules FILE"):
        Verifier(rules=own(tmp_path))
    unchecked = replace(own(tmp_path), unchecked=True)
    assert title(Verifier(rules=unchecked).rules) == "own (unchecked)"


def test_reports_name_who_made_the_manifest(lean: LeanKernel, tmp_path: Path) -> None:
    mine = own(tmp_path)
    assert mine.manifest == tmp_path / "own.manifest.json"
    made = manifest_of(mine, lean.version, check_schemata(lean, mine))
    assert list(made.schemata) == ["hypothetical_syllogism", "destructive_dilemma"]
    for changed, says in ((made, lean.version), (replace_kernel(made), "written by hand, by no kernel")):
        text = manifest_bytes(made) if changed is made else json.dumps(changed).encode()
        mine.manifest.write_bytes(text)
        read_manifest.cache_clear()
        assert unproved(mine) == ()
        assert title(mine) == f"own (own.manifest.json: {says})"
    mine.manifest.write_text("{}")
    read_manifest.cache_clear()
    with pytest.raises(DataError, match="no manifest of theorems"):
        Verifier(rules=mine)


def replace_kernel(manifest: Manifest) -> dict[str, object]:
    """A manifest as somebody writes it who has no kernel."""
    sealed = json.loads(manifest_bytes(manifest))
    return {**sealed, "kernel": "Lean 5"}


# -- its theorems -----------------------------------------------------------------------------------------------------


def renamed(known: Catalogue) -> Catalogue:
    """The catalogue as one of a user: the theory has no theorem of these names."""
    rules = [
        replace(rule, schemata=tuple([replace(s, name=f"my_{s.name}", lean=f"my_{s.name}") for s in rule.schemata]))
        for rule in known.rules
    ]
    return replace(known, rules=tuple(rules), unchecked=True)


_SOME = Rule("MINE", "", (schema("my_some", "∀x A(x)", "", "∃x A(x)"),), Example(("∀x p(x)",), "∃x p(x)"))
MINE = renamed(replace(FOLIO, rules=(*FOLIO.rules, _SOME)))
VERIFIER = Verifier(rules=MINE)
STYLES: tuple[Style, ...] = ("shallow", "reflect")


def test_every_schema_of_ones_own_is_a_theorem(lean: LeanKernel) -> None:
    judgements = check_schemata(lean, MINE)
    assert len(judgements) == 66
    assert {name: each.reason for name, each in judgements.items() if not each.accepted} == {}


@pytest.mark.parametrize(
    ("says", "proof", "reason"),
    [
        (("A → B", "B", "A"), "", "not found to follow"),
        (("A → B", "B", "A"), "fun _ _ f b => b", "mismatch"),
        (("A → B", "A", "B"), "by exact fun _ _ f a => f a", "a proof of your own cannot contain 'by'"),
        (("A → B", "A", "B"), "fun _ _ f a => f a", ""),
        (("A ∧ B", "", "B ∧ A"), "fun _ _ h => And.intro h.right h.left", ""),
        (("A ∧ B", "", "B ∧ A"), "fun _ _ h => ⟨h.2, h.1⟩", ""),
        (("A ∨ B", "¬A", "B"), "fun _ _ h n => match h with\n| .inl a => absurd a n\n| .inr b => b", ""),
        (("A ∨ B", "¬A", "B"), "fun _ _ h n => h.elim (fun a => (n a).elim) id", ""),
        (("¬¬A", "", "A"), "fun A n => (Classical.em A).elim (fun a => a) (fun m => False.elim (n m))", ""),
        (("∀x A(x)", "", "∃x A(x)"), "", ""),  # in a type that has an element, as each of a problem has
        (("∀x A(x)", "", "∃x A(x)"), "fun _ i _ h => Exists.intro i (h i)", ""),
        (("∀x (A(x) ∧ G)", "", "G"), "", ""),
    ],
)
def test_what_lean_says_of_a_schema(lean: LeanKernel, says: tuple[str, str, str], proof: str, reason: str) -> None:
    mine = replace(TRAIN, rules=(replace(TRAIN.rules[0], schemata=(schema("mine", *says, proof=proof),)),), aliases={})
    judgement = check_schemata(lean, mine)["mine"]
    assert judgement.accepted == (reason == "")
    assert reason in judgement.reason


CHEATS = (
    ("set_option debug.skipKernelTC true in fun _ _ f b => f b", "set_option"),
    ("fun _ _ f b => b\naxiom oops : False", "axiom"),
    ("fun _ _ _ _ => sorry", "sorry"),
    ("unsafe fun _ _ f b => unsafeCast b", "unsafe"),
    ("fun _ _ f b => b\n@[simp] theorem x : True := trivial", "@["),
    ("fun _ _ f b => by native_decide", "by"),
    ("fun _ _ f b => b where b := b", "where"),
    ("let rec f := f; f", "rec"),
    ("fun _ _ f b => b\n#exit", "#"),
    ("fun _ _ f b => b\nend", "end"),
    ("fun _ _ f b => b /-", "/"),
    ("fun _ _ f b => b -- ", "-"),
    ("fun _ _ f b => «b»", "«"),
    ("open Classical in fun _ _ f b => b", "open"),
)


@pytest.mark.parametrize(("proof", "word"), CHEATS, ids=[word for _, word in CHEATS])
def test_what_could_cheat_is_not_read(lean: LeanKernel, proof: str, word: str) -> None:
    mine = schema("mine", "A → B", "B", "A", proof=proof)
    assert foreign_word(schema_theorem(mine)) == word
    (judgement,) = lean.check([schema_theorem(mine)])
    assert judgement.reason == f"a proof of your own cannot contain {word!r}"


@pytest.mark.parametrize("proof", ["fun _ _ _ _ => sorryAx _ false", "fun _ _ f b => lcProof", "fun _ _ _ _ => h"])
def test_what_is_no_proof_is_rejected_by_lean(lean: LeanKernel, proof: str) -> None:
    wrong = schema_theorem(schema("mine", "A → B", "B", "A", proof=proof))
    right = schema_theorem(schema("mine", "A → B", "A", "B"))
    assert foreign_word(wrong) is None
    assert [judgement.accepted for judgement in lean.check([right, wrong, right])] == [True, False, True]


def test_the_page_lists_what_a_proof_cannot_contain() -> None:
    page = (DOCS / "rules.md").read_text(encoding="utf-8")
    listed = page.partition("A proof cannot contain")[2].partition("```text\n")[2].partition("```")[0]
    assert {*listed.split()} == FORBIDDEN


GENERATED = GeneratorSettings(seed=3, system="folio", difficulty="easy", answers=("True", "False"))


def test_proofs_by_rules_of_ones_own_are_certified(lean: LeanKernel) -> None:
    """By theorems that stand in them; those for Isabelle, whose theory has no others, do without."""
    found = []
    for each in islice(generate_problems(GENERATED), 8):
        answer = certify(VERIFIER, each.problem, completion(each.problem, each.problem.proofs[0])).certificate
        assert isinstance(answer, Certificate)
        found.append(answer)
        own = {theorem.name for step in answer.steps for theorem in own_theorems(step.proof)}
        assert own
        assert answer.answer().proof.count("have t_my_") == len(own)
        assert "my_" not in isar.answer(answer).proof
    assert_accepted(lean, found)


@pytest.mark.parametrize(
    ("rule", "dependencies", "conclusion"),
    [
        ("UNIVERSAL_ELIMINATION", "∀x:Person p(x)", "p(mother(ann))"),
        ("MINE", "∀x:Person p(x)", "∃x:Person p(x)"),
        ("MINE", "∀x (p(x) → q)", "∃y (p(y) → q)"),
        ("UNIVERSAL_ELIMINATION", "∀x:Person ∀y:Pet owns(x, y)", "∀y:Pet owns(ann, y)"),
        ("UNIVERSAL_IMPLICATION_CHAINING", "∀x:Cat (p(x) → q(x)); ∀x:Cat (q(x) → r(x))", "∀x:Cat (p(x) → r(x))"),
        ("EXISTENTIAL_INTRODUCTION", "p(f(a), b)", "∃x p(x, b)"),
        ("QUANTIFIER_NEGATION", "¬∀x:Person p(x)", "∃x:Person ¬p(x)"),
        ("IMPLICATION_ELIMINATION", "(∀x:Cat p(x)) → q; ∀x:Cat p(x)", "q"),
    ],
)
def test_sorts_and_terms_in_instances(lean: LeanKernel, rule: str, dependencies: str, conclusion: str) -> None:
    query = sequent(f"{dependencies} ⊢ {conclusion}")
    match, _ = VERIFIER.match_rule(rule, query.dependencies, query.conclusion, terminal=False, budget=VERIFIER.oracle)
    assert isinstance(match, Match)
    proof = instance_proof(match, query.dependencies, query.conclusion)
    assert proof is not None
    given = {f"h{number}": formula for number, formula in enumerate(query.dependencies)}
    step = CertifiedStep("s1", tuple(given), query.conclusion, proof)
    assert_accepted(lean, [Certificate(given, query.conclusion, (step,), Structure({}, {}))])


def assert_accepted(lean: LeanKernel, found: list[Certificate]) -> None:
    """In both styles; and with another conclusion in neither."""
    for style in STYLES:
        assert {judgement.reason for judgement in lean.check([each.answer(style) for each in found])} == {""}
        false = [replace(each, goal=Not(each.goal)) for each in found]
        assert not any(judgement.accepted for judgement in lean.check([each.answer(style) for each in false]))


def test_a_fault_after_theorems_of_ones_own_is_in_its_step(lean: LeanKernel) -> None:
    text = "p → q; q → r"
    query = sequent(f"{text} ⊢ p → r")
    own = schema("my_syllogism", "A → B; B → C", "", "A → C")
    proof = (Apply(theorem(own), {x: Lambda((), atom(y)) for x, y in zip("ABC", "pqr", strict=True)}, (0, 1)),)
    given = {"h0": query.dependencies[0], "h1": query.dependencies[1]}
    steps = [CertifiedStep(name, ("h0", "h1"), query.conclusion, proof) for name in ("s1", "s2")]
    right = Certificate(given, query.conclusion, tuple(steps), Structure({}, {}))
    assert_accepted(lean, [right])
    wrong = replace(right, steps=(replace(steps[0], formula=atom("p")), steps[1]))
    (judgement,) = lean.check([wrong.answer()])
    assert judgement.line is not None
    assert wrong.step_at(judgement.line) == "s1"
