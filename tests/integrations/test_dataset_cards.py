"""The folder of a data set: rows with evidence, the card, and what Hugging Face's own library loads."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
import yaml

from proof_r1_formal import COMPLETE, Verifier, read_problems
from proof_r1_formal.data.native import from_json
from proof_r1_formal.data.problem import ReferenceStep
from proof_r1_formal.generate import Proved
from proof_r1_formal.generate.synthesize import Prover
from proof_r1_formal.integrations.dataset_cards import EVIDENCE, About, card, row_of
from proof_r1_formal.proof.trajectory import summary
from tests.build import problem

RECORDS = [
    # the label follows; the label is wrong; a name in two spellings, so nothing follows; everything follows
    (["∀x (Cat(x) → Animal(x))", "Cat(tom)"], "Animal(tom)", "True"),
    (["∀x (Cat(x) → Animal(x))", "Cat(tom)"], "¬Animal(tom)", "Uncertain"),
    (["∀x (Team(x) → Plays(x))", "team(lions)"], "Plays(lions)", "True"),
    (["Cat(tom)", "¬Cat(tom)"], "Animal(tom)", "False"),
]
TEXT = "…"


@pytest.fixture
def folio(tmp_path: Path) -> Path:
    """A file in FOLIO's layout."""
    path = tmp_path / "folio.json"
    records = [
        {
            "premises": [TEXT] * len(premises),
            "premises-FOL": premises,
            "conclusion": TEXT,
            "conclusion-FOL": goal,
            "label": label,
        }
        for premises, goal, label in RECORDS
    ]
    path.write_text(json.dumps(records))
    return path


@pytest.fixture
def written(folio: Path, tmp_path: Path) -> Callable[..., Path]:
    """Runs the command on it."""

    def run(*options: str) -> Path:
        folder = tmp_path / "made" / "data"
        about = ("--name", "FOLIO, corrected", "--license", "cc-by-sa-4.0", "--source", 'FOLIO: "v0"')
        command = [sys.executable, "-m", "proof_r1_formal", "dataset", "-p", str(folio), "-o", str(folder), *about]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert f"{len(RECORDS)} rows and a card written to {folder}" in " ".join(done.stderr.split())
        return folder

    return run


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "problems.jsonl").read_text().splitlines()]


def metadata(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    return found


def test_labels_are_what_evidence_shows(written: Callable[..., Path]) -> None:
    rows = rows_of(written())
    found = [(row["given"], row["label"], row["changed"], row["evidence"]) for row in rows]
    assert found == [
        ("True", "True", False, "proof"),
        ("Uncertain", "False", True, "proof"),
        ("True", "Uncertain", True, "countermodels"),
        ("False", None, True, "contradiction"),
    ]
    assert {option["option"] for option in rows[2]["countermodels"]} == {"h_goal_true", "h_goal_false"}
    for row in rows[:2]:
        problem = from_json(row["problem"])
        steps = [ReferenceStep(s["id"], tuple(s["dependencies"]), s["conclusion"], s["rule"]) for s in row["proof"]]
        report = Verifier(rules=COMPLETE).verify(problem, summary(steps))
        assert (report.answer, report.rule_verified) == (row["answer"], True)


def test_the_card_counts_what_the_rows_say(written: Callable[..., Path]) -> None:
    folder = written()
    about = metadata(folder)
    assert (about["license"], about["pretty_name"]) == ("cc-by-sa-4.0", "FOLIO, corrected")
    assert about["dataset_info"]["splits"] == [{"name": "train", "num_examples": 4}]
    assert [one["name"] for one in about["dataset_info"]["features"]] == list(rows_of(folder)[0])
    text = (folder / "README.md").read_text()
    assert 'FOLIO: "v0"' in text
    assert "* `premises`: " in text
    assert "Labels that differ from those of the source: 3" in text
    assert "* 1 from Uncertain to False" in text
    for name, count in (("proof", 2), ("entailment", 0), ("countermodels", 1), ("contradiction", 1), ("none", 0)):
        assert f"| `{name}` | {count} | {EVIDENCE[name]} |" in text  # type: ignore[index]


def test_a_label_may_also_change_to_none(written: Callable[..., Path]) -> None:
    rows = rows_of(written())
    changed = [row | {"given": "True", "label": label, "changed": True} for row, label in zip(rows, "AB", strict=False)]
    without = rows[0] | {"given": "True", "label": None, "changed": True}
    text = card(About("name", "other", "source"), [*changed, without])
    assert [f"* 1 from True to {label}" in text for label in ("A", "B", "none")] == [True] * 3


def test_labels_alone_tell_nothing_of_the_source(written: Callable[..., Path]) -> None:
    folder = written("--labels-only", "--split", "validation")
    rows = rows_of(folder)
    columns = {"id", "label", "given", "changed", "evidence", "countermodels", "proof"}
    assert {frozenset(row) for row in rows} == {frozenset(columns)}
    text = (folder / "README.md").read_text()
    assert "The rows have no texts or formulas" in text
    assert "∀x (Cat(x) → Animal(x))" not in text
    assert metadata(folder)["configs"][0]["data_files"] == [{"split": "validation", "path": "problems.jsonl"}]


@pytest.mark.parametrize(
    ("rows", "size"),
    [(1, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (10_000, "10K<n<100K"), (100_000, "100K<n<1M")],
)
def test_a_card_counts_its_rows_and_labels(rows: int, size: str) -> None:
    row: dict[str, object] = {"label": "True", "given": "True", "changed": False, "evidence": "proof"}
    other: dict[str, object] = {"label": None, "given": "False", "changed": True, "evidence": "none"}
    text = card(About("Name", "mit", "Made for a test."), chain(repeat(row, rows - 1), [other]))
    about = yaml.safe_load(text.split("---\n")[1])
    assert about["size_categories"] == [size]
    assert about["dataset_info"]["splits"] == [{"name": "train", "num_examples": rows}]
    labels = [f"* {rows - 1} with the label True"] * (rows > 1)
    assert text.partition("## Labels\n\n")[2].splitlines()[: 1 + len(labels)] == [*labels, "* 1 with the label none"]
    assert "Labels that differ from those of the source: 1\n\n* 1 from False to none\n" in text


def test_a_reference_proof_is_kept_only_if_it_passes() -> None:
    """A detour that passes is kept; a proof under a wrong rule, and one of another answer, are not evidence."""
    asked = problem("Cat(tom)", "∀x (Cat(x) → Animal(x))", goal="Animal(tom)")
    binding = ReferenceStep("h_goal_true", ("s1",), "Animal(tom)", "GOAL_BINDING")
    first = ReferenceStep("s1", ("h1", "h2"), "Animal(tom)", "IMPLICATION_ELIMINATION")
    both = ReferenceStep("s2", ("h1", "s1"), "Cat(tom) ∧ Animal(tom)", "CONJUNCTION_INTRODUCTION")
    out = ReferenceStep("s3", ("s2",), "Animal(tom)", "CONJUNCTION_ELIMINATION")
    detour = (first, both, out, replace(binding, dependencies=("s3",)))
    misnamed = (replace(first, rule="MODUS_TOLLENS"), binding)
    prover = Prover(Verifier(rules=COMPLETE))

    def kept(answer: str, *proofs: tuple[ReferenceStep, ...]) -> list[str]:
        row: dict[str, Any] = row_of(replace(asked, answer=answer, proofs=proofs), prover)
        assert (row["label"], row["answer"], row["evidence"]) == ("True", "h_goal_true", "proof")
        return [step["id"] for step in row["proof"]]

    proved = prover.prove(asked)
    assert isinstance(proved, Proved)
    searched = [step.id for step in proved.steps]
    assert len(searched) < len(detour)
    assert kept("h_goal_true", detour) == kept("h_goal_true", misnamed, detour) == [step.id for step in detour]
    assert kept("h_goal_true", misnamed) == kept("h_goal_false", detour) == searched
    last: dict[str, Any] = row_of(replace(asked, proofs=(misnamed,)), prover)
    [step, _] = last["proof"]
    assert step["rule"] != "MODUS_TOLLENS"


@pytest.mark.integration
@pytest.mark.parametrize("options", [(), ("--labels-only",)])
def test_datasets_loads_the_folder(
    written: Callable[..., Path], options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed: make test-integrations")
    folder = written(*options)
    loaded = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "cache"))
    stated = datasets.Features._from_yaml_list(metadata(folder)["dataset_info"]["features"])
    assert loaded.features == stated
    assert [dict(row) for row in loaded] == rows_of(folder)
    if not options:
        problems = read_problems([json.loads(row["problem"]) for row in loaded])
        assert len(problems) == len(RECORDS)


def test_generated_problems_keep_their_proofs(tmp_path: Path) -> None:
    path, folder = tmp_path / "problems.jsonl", tmp_path / "data"
    program = [sys.executable, "-m", "proof_r1_formal"]
    made = ["generate", "--n", "4", "--difficulty", "easy", "--with-proofs", "-o", str(path)]
    subprocess.run([*program, *made], check=True, capture_output=True)
    about = ["--name", "Easy", "--license", "apache-2.0", "--source", " ".join(made)]
    subprocess.run([*program, "dataset", "-p", str(path), "-o", str(folder), *about], check=True, capture_output=True)
    rows = rows_of(folder)
    assert [row["changed"] for row in rows] == [False] * 4
    proofs = [json.loads(line).get("proofs") for line in path.read_text().splitlines()]
    assert [bool(row["proof"]) for row in rows] == [bool(proof) for proof in proofs]
    assert all(row["proof"] == proof[0] for row, proof in zip(rows, proofs, strict=True) if proof)


def test_an_answer_that_nothing_decides_has_no_evidence() -> None:
    """The premises have infinite models only, and neither the claim nor its negation follows."""
    order = ["∀x ∃y less(x, y)", "∀x ∀y ∀z (less(x, y) ∧ less(y, z) → less(x, z))", "∀x ¬less(x, x)"]
    row = row_of(problem(*order, goal="P(a)"), Prover(Verifier(rules=COMPLETE), budget=100))
    assert (row["label"], row["changed"], row["evidence"]) == (None, True, "none")


def test_a_label_changes_only_where_there_was_one() -> None:
    row = row_of(problem("P(a)", goal="P(a)", answer=None), Prover(Verifier(rules=COMPLETE)))
    assert (row["given"], row["label"], row["changed"]) == (None, "True", False)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("ProverQA easy", "proverqa/easy.json"),
        ("ProverQA medium", "proverqa/medium.json"),
        pytest.param("ProverQA hard", "proverqa/hard.json", marks=pytest.mark.long),
        pytest.param("FOLIO v0 validation", "folio/folio_v0_validation.jsonl", marks=pytest.mark.long),
        pytest.param("FOLIO v2 train, first 400", "folio/folio_v2_train_first400.jsonl", marks=pytest.mark.long),
    ],
)
def test_the_page_has_the_evidence_of_published_data(shared_data: Path, name: str, path: str) -> None:
    prover = Prover(Verifier(rules=COMPLETE))
    rows = [row_of(one, prover, labels_only=True) for one in read_problems(shared_data / path).values()]
    kinds = Counter(row["evidence"] for row in rows)
    assert kinds.total() == kinds["proof"] + kinds["countermodels"] + kinds["none"]
    changed = sum(row["changed"] is True for row in rows)
    numbers = len(rows), changed, *(kinds[kind] for kind in ("proof", "countermodels", "none"))
    page = (Path(__file__).parents[2] / "docs" / "hub.md").read_text(encoding="utf-8")
    assert f"| {name} | {' | '.join(map(str, numbers))} |" in page.splitlines()
