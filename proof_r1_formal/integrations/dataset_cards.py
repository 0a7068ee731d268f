"""Problems as a folder that ``datasets`` loads and the Hub takes: rows with the evidence for each label, and a card.

In: problems, and a prover. Out: a row per problem, whose ``label`` rests on rechecked evidence, beside the label that
the problem had before; and the card (``README.md``) with features, licence, provenance and the counts of evidence.
Nothing is uploaded, and no library is needed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from proof_r1_formal.data.native import to_json
from proof_r1_formal.data.problem import Problem, ReferenceStep
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.generate.synthesize import GaveUp, Proved, Prover, Reason, Uncertain
from proof_r1_formal.integrations.scoring import Row
from proof_r1_formal.kernel.answer import Entailed
from proof_r1_formal.proof.report import ModelReport
from proof_r1_formal.proof.trajectory import summary
from proof_r1_formal.text.show import show
from proof_r1_formal.version import __version__

ROWS: Final = "problems.jsonl"
"""The file of rows in the folder."""

Evidence: TypeAlias = Literal["proof", "entailment", "countermodels", "contradiction", "none"]

EVIDENCE: Final[dict[Evidence, str]] = {
    "proof": "a proof by rules, whose every step was checked; it is in `proof`",
    "entailment": "a proof of the solver, rechecked by the package's checker; no proof by rules was found",
    "countermodels": "finite structures in which the premises are true and the formula of an option is false, "
    "re-evaluated; they are in `countermodels`",
    "contradiction": "none: the premises contradict each other, so every label would follow",
    "none": "none: no label was decided within the budget",
}
"""What supports a label."""

_STRING = {"dtype": "string"}
_STEP: Final[list[dict[str, Any]]] = [
    {"name": "id", **_STRING},
    {"name": "dependencies", "list": "string"},
    {"name": "conclusion", **_STRING},
    {"name": "rule", **_STRING},
]
_LABEL_FEATURES: Final[list[dict[str, Any]]] = [
    {"name": "id", **_STRING},
    {"name": "label", **_STRING},
    {"name": "given", **_STRING},
    {"name": "changed", "dtype": "bool"},
    {"name": "evidence", **_STRING},
    {"name": "countermodels", "list": [{"name": "option", **_STRING}, {"name": "model", **_STRING}]},
    {"name": "proof", "list": _STEP},
]
"""The columns of labels, as a card names them."""
_PROBLEM_FEATURES: Final[list[dict[str, Any]]] = [
    {"name": "question", **_STRING},
    {"name": "premises", "list": [{"name": name, **_STRING} for name in ("id", "formula", "text")]},
    {"name": "options", "list": [{"name": name, **_STRING} for name in ("id", "label", "formula")]},
    {"name": "answer", **_STRING},
    {"name": "difficulty", **_STRING},
    {"name": "notes", "list": "string"},
    {"name": "problem", **_STRING},
]
"""The further columns of rows that have the problems themselves; ``problem`` is the record that this package reads."""


@dataclass(frozen=True, slots=True)
class About:
    """What a card says that problems do not.

    Attributes:
        name: of the data set.
        license: its identifier on the Hub, such as ``cc-by-sa-4.0``.
        source: where the problems come from, in words: the command that made them, or the published data.
        split: name of the split.
        labels_only: whether rows have labels and evidence without the problems, for data that may not be passed on.

    Raises:
        ProofR1Error: a text is empty or blank.
    """

    name: str
    license: str
    source: str
    split: str = "train"
    labels_only: bool = False

    def __post_init__(self) -> None:
        texts = {"name": self.name, "license": self.license, "source": self.source, "split": self.split}
        for name, text in texts.items():
            if not text.strip():
                raise ProofR1Error(f"the {name} of the data set is empty, and its card must say it; give a text")

    @property
    def features(self) -> list[dict[str, Any]]:
        """The columns of the rows."""
        return _LABEL_FEATURES if self.labels_only else [*_LABEL_FEATURES, *_PROBLEM_FEATURES]


def row_of(problem: Problem, prover: Prover, *, labels_only: bool = False) -> Row:
    """The row of a problem, with the features of the card.

    A reference proof of the problem is kept if it passes; else one is searched.
    """
    answer, evidence, proof, models = _decided(problem, prover)
    chosen, given = problem.option(answer), problem.option(problem.answer)
    row: Row = {
        "id": problem.id,
        "label": None if chosen is None else chosen.label,
        "given": None if given is None else given.label,
        "changed": given is not None and chosen is not given,
        "evidence": evidence,
        "countermodels": [{"option": option, "model": words} for option, words in models.items()],
        "proof": [
            {"id": s.id, "dependencies": list(s.dependencies), "conclusion": s.conclusion, "rule": s.rule}
            for s in proof
        ],
    }
    if labels_only:
        return row
    row |= {
        "question": problem.question,
        "premises": [{"id": p.id, "formula": show(p.formula), "text": p.text} for p in problem.premises],
        "options": [{"id": o.id, "label": o.label, "formula": show(o.formula)} for o in problem.options],
        "answer": answer,
        "difficulty": problem.difficulty,
        "notes": list(problem.notes),
        "problem": to_json(problem),
    }
    return row


def _decided(problem: Problem, prover: Prover) -> tuple[str | None, Evidence, Sequence[ReferenceStep], dict[str, str]]:
    """The id of the right option, what supports it, its proof, and the countermodels in words."""
    for proof in problem.proofs:
        report = prover.verifier.verify(problem, summary(proof))
        if report.rule_verified and report.answer == problem.answer:
            return report.answer, "proof", proof, {}
    match prover.prove(problem):
        case Proved(answer, steps):
            return answer, "proof", steps, {}
        case Uncertain(models):
            words = {option: ModelReport.of(model).in_words() for option, model in models.items()}
            open_ = next((option.id for option in problem.options if option.label == "Uncertain"), None)
            return open_, "countermodels", (), words
        case GaveUp(Reason.INCONSISTENT):
            return None, "contradiction", (), {}
        case GaveUp(_, option):
            asked = prover.verifier.context(problem).problem
            claim = asked.option(option)
            premises = tuple([premise.formula for premise in asked.premises])
            if claim is not None and isinstance(prover.verifier.oracle.entails(premises, claim.formula), Entailed):
                return claim.id, "entailment", (), {}
    return None, "none", (), {}


def encode_row(row: Row) -> bytes:
    """The row as one line of JSON."""
    return f"{json.dumps(row, ensure_ascii=False)}\n".encode()


def card(about: About, rows: Iterable[Row]) -> str:
    """The card of a data set, its metadata first.

    Args:
        about: what the rows do not say.
        rows: all of them; only counts are kept.
    """
    evidence: Counter[Any] = Counter()
    changes: Counter[tuple[Any, Any]] = Counter()
    labels: Counter[Any] = Counter()
    total = 0
    for row in rows:
        total += 1
        evidence[row["evidence"]] += 1
        labels[row["label"]] += 1
        if row["changed"]:
            changes[(row["given"], row["label"])] += 1
    metadata = {
        "license": about.license,
        "pretty_name": about.name,
        "language": ["en"],
        "tags": ["first-order-logic", "reasoning", "proofs", "proof-r1-formal"],
        "size_categories": [_size(total)],
        "dataset_info": {
            "features": about.features,
            "splits": [{"name": about.split, "num_examples": total}],
        },
        "configs": [{"config_name": "default", "data_files": [{"split": about.split, "path": ROWS}]}],
    }
    heading = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in metadata.items())
    counted = [f"| `{name}` | {evidence[name]} | {meaning} |" for name, meaning in EVIDENCE.items()]
    shown = [f"* {count} with the label {label or 'none'}" for label, count in sorted(labels.items(), key=str)]
    changed = [
        f"* {count} from {given} to {label or 'none'}" for (given, label), count in sorted(changes.items(), key=str)
    ] or ["* none"]
    parts = [
        f"---\n{heading}\n---",
        f"# {about.name}",
        f"{total} problems in first-order logic. Each label rests on evidence that was rechecked, or is missing.",
        "## Provenance",
        f"{about.source}\n\nLabels and evidence were made by proof-r1-formal {__version__} (`proof-r1 dataset`). "
        f"Licence: {about.license}."
        + (" The rows have no texts or formulas of the source: join them with it by `id`." * about.labels_only),
        "## Labels",
        "\n".join(shown),
        f"Labels that differ from those of the source: {sum(changes.values())}\n\n" + "\n".join(changed),
        "## Evidence",
        "| evidence | problems | what it is |\n|---|---:|---|\n" + "\n".join(counted),
        _LIMITS,
        "## Columns",
        "\n".join([f"* `{one['name']}`: {_COLUMNS[one['name']]}" for one in about.features]),
    ]
    return "\n\n".join(parts) + "\n"


_LIMITS: Final = (
    "A label says what follows from the *formulas*. Where formulas do not say what their sentences mean, a label of "
    "the source can be right for the sentences."
)
_COLUMNS: Final = {
    "id": "of the problem",
    "label": "what the evidence shows; null if there is none",
    "given": "the label of the source",
    "changed": "whether the two differ",
    "evidence": "what supports the label, see above",
    "countermodels": "for each option a structure in which it is false",
    "proof": "the steps, the last of which states the answer",
    "question": "in English, if the source has it",
    "premises": "with ids, formulas and sentences",
    "options": "with ids, labels and formulas",
    "answer": "the id of the right option; null without a label",
    "difficulty": "the word of the source",
    "notes": "what the reader of the source found odd",
    "problem": "the record of the problem with the label of the source, for `read_problems` of the package",
}


def _size(rows: int) -> str:
    """The name of a size on the Hub."""
    bounds = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
    return next((name for bound, name in bounds if rows < bound), "n>1M")
