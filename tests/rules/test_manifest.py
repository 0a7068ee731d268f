"""The manifest: a schema can be used only as the theorem that was checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proof_r1_formal.assistants import theories
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.theories import check_schemata, manifest_bytes, manifest_of, theory_hash
from proof_r1_formal.errors import CatalogueError, DataError
from proof_r1_formal.kernel.syntax import And, Atom, Bottom, Eq, Exists, ForAll, Formula, Implies, Not, Or, Top
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.rules import schema as schemata
from proof_r1_formal.rules.catalogue import COMPLETE, FOLIO, TRAIN
from proof_r1_formal.rules.manifest import manifest_path, read_manifest, unproved
from proof_r1_formal.rules.schema import Catalogue, Schema
from proof_r1_formal.text.parse import parse_formula
from tests.build import action, completion, problem


def with_schema(catalogue: Catalogue, changed: Schema) -> Catalogue:
    """The catalogue with one schema in the place of the one of its name."""
    rules = tuple(
        replace(rule, schemata=tuple(changed if s.name == changed.name else s for s in rule.schemata))
        for rule in catalogue.rules
    )
    return replace(catalogue, rules=rules)


def corruptions(formula: Formula) -> list[Formula]:
    """The formula with one connective, quantifier or sign changed."""
    found: list[Formula] = [Not(formula)]
    match formula:
        case Top() | Bottom() | Atom() | Eq():
            pass
        case Not(body):
            found += [body, *map(Not, corruptions(body))]
        case ForAll(variable, body):
            found += [Exists(variable, body), *[ForAll(variable, changed) for changed in corruptions(body)]]
        case Exists(variable, body):
            found += [ForAll(variable, body), *[Exists(variable, changed) for changed in corruptions(body)]]
        case pair:
            found += [kind(pair.left, pair.right) for kind in (And, Or, Implies) if kind is not type(pair)]
            found += [type(pair)(changed, pair.right) for changed in corruptions(pair.left)]
            found += [type(pair)(pair.left, changed) for changed in corruptions(pair.right)]
    return found


def changed_patterns(patterns: tuple[Formula, ...]) -> list[tuple[Formula, ...]]:
    """The patterns without one, and with one corrupted."""
    found = []
    for index, pattern in enumerate(patterns):
        before, after = patterns[:index], patterns[index + 1 :]
        found += [before + after, *[(*before, changed, *after) for changed in corruptions(pattern)]]
    return found


def test_the_catalogues_are_in_the_manifest() -> None:
    assert unproved(TRAIN) == unproved(FOLIO) == unproved(COMPLETE) == ()
    assert read_manifest(manifest_path()).theory == theory_hash()


def test_a_changed_schema_is_refused() -> None:
    count = 0
    for rule in FOLIO.rules:
        for schema in rule.schemata:
            variants = [replace(schema, conclusion=changed) for changed in corruptions(schema.conclusion)]
            variants += [replace(schema, principal=changed) for changed in changed_patterns(schema.principal)]
            variants += [replace(schema, minor=changed) for changed in changed_patterns(schema.minor)]
            variants.append(replace(schema, lean="goal_binding" if schema.lean != "goal_binding" else "modus_tollens"))
            variants.append(replace(schema, name=f"{schema.name}_2"))
            for variant in variants:
                count += 1
                rules = tuple(replace(r, schemata=(variant,)) if r is rule else r for r in FOLIO.rules)
                try:
                    catalogue = replace(FOLIO, rules=rules)
                except CatalogueError:  # now nothing binds one of its letters
                    continue
                assert unproved(catalogue) == (variant.name,)
    assert count > 500


def test_the_verifier_refuses_it_and_says_what_to_do() -> None:
    changed = replace(TRAIN.rules[0].schemata[0], conclusion=parse_formula("A"))
    catalogue = with_schema(TRAIN, changed)
    with pytest.raises(CatalogueError, match=r"'implication_elimination' is in no manifest.*theories check"):
        Verifier(rules=catalogue)


def test_an_unchecked_catalogue_is_used_and_reports_say_so() -> None:
    changed = replace(TRAIN.rules[0].schemata[0], name="mine")
    catalogue = replace(TRAIN, rules=(replace(TRAIN.rules[0], schemata=(changed,)),), aliases={}, unchecked=True)
    text = completion(action("s1", "q", "h1", "h2"))
    report = Verifier(rules=catalogue).verify(problem("p → q", "p", goal="q"), text)
    assert report.rules == "train (unchecked)"
    assert report.actions[0].signal == 1.0


def test_a_catalogue_with_a_manifest_of_its_own(lean: LeanKernel, tmp_path: Path) -> None:
    mine = replace(TRAIN.rules[0].schemata[0], name="mine")
    false = schemata.schema("false", "A → B", "B", "A")
    catalogue = Catalogue(
        "own", (replace(TRAIN.rules[0], schemata=(mine, false)),), manifest=tmp_path / "manifest.json"
    )
    manifest = manifest_of(catalogue, lean.version, check_schemata(lean, catalogue))
    (tmp_path / "manifest.json").write_bytes(manifest_bytes(manifest))
    assert list(manifest.schemata) == ["mine"]
    assert unproved(catalogue) == ("false",)
    Verifier(rules=replace(catalogue, rules=(replace(TRAIN.rules[0], schemata=(mine,)),)))


def test_the_manifest_is_what_the_kernel_says(lean: LeanKernel) -> None:
    """But for the version of Lean, which may be another one here."""
    kept = read_manifest(manifest_path())
    now = manifest_of(COMPLETE, lean.version, check_schemata(lean, COMPLETE), known=kept)
    assert (now.schemata, now.theory) == (kept.schemata, kept.theory)


def test_a_new_schema_of_the_package_needs_a_theorem_of_the_theory(
    lean: LeanKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = schemata.schema("exportation", "(A ∧ B) → G", "", "A → (B → G)")
    catalogue = Catalogue("train", (replace(TRAIN.rules[0], schemata=(new,)),))
    assert "exportation" in manifest_of(catalogue, lean.version, check_schemata(lean, catalogue)).schemata  # a user's
    monkeypatch.setattr(theories, "COMPLETE", catalogue)
    judgements = check_schemata(lean, catalogue)
    assert "Unknown identifier `ProofR1.exportation`" in judgements["exportation"].reason
    assert "exportation" not in manifest_of(catalogue, lean.version, judgements).schemata


@pytest.mark.parametrize("content", [None, "", "[]", '{"kernel": 1}', '{"kernel": "x", "theory": "y"}'])
def test_a_file_that_is_no_manifest(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "manifest.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match="no manifest of theorems"):
        read_manifest(path)
