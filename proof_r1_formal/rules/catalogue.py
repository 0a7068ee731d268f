"""The two rule systems of the method: ``TRAIN`` (nine rules) and ``FOLIO`` (those and the quantifier rules).

Each schema is a theorem of the same name in ``theories/``. Several schemata of one rule are its orientations.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue, Condition, Example, Rule, schema

_TRAIN = (
    Rule(
        "IMPLICATION_ELIMINATION",
        "from A → B and A, conclude B",
        (schema("implication_elimination", "A → B", "A", "B"),),
        Example(("∀x (cat(x) → animal(x))", "cat(tom)"), "animal(tom)"),
    ),
    Rule(
        "MODUS_TOLLENS",
        "from A → B and ¬B, conclude ¬A, or what ¬A consists of",
        (
            schema("modus_tollens", "A → B", "¬B", "¬A"),
            schema("modus_tollens_or", "X ∨ Y → B", "¬B", "¬X"),
            schema("modus_tollens_and", "X ∧ Y → B", "¬B; X", "¬Y"),
            schema("modus_tollens_not_and", "¬(X ∧ Y) → B", "¬B", "X"),
            schema("modus_tollens_exists", "(∃x A(x)) → G", "¬G", "¬A(t)"),
            schema("modus_tollens_not_forall", "¬(∀x A(x)) → G", "¬G", "A(t)"),
            schema("modus_tollens_implies_left", "(X → Y) → B", "¬B", "X"),
            schema("modus_tollens_implies_right", "(X → Y) → B", "¬B", "¬Y"),
            schema("modus_tollens_xor_left", "X ⊕ Y → B", "¬B; X", "Y"),
            schema("modus_tollens_xor_right", "X ⊕ Y → B", "¬B; Y", "X"),
            schema("modus_tollens_xor_not_left", "X ⊕ Y → B", "¬B; ¬X", "¬Y"),
            schema("modus_tollens_xor_not_right", "X ⊕ Y → B", "¬B; ¬Y", "¬X"),
        ),
        Example(("wet(lawn) ∨ wet(road) → rained", "¬rained"), "¬wet(road)"),
    ),
    Rule(
        "EXCLUSIVE_DISJUNCTION_INTRODUCTION",
        "from A and ¬B, or from ¬A and B, conclude A ⊕ B",
        (
            schema("xor_introduction_left", "", "A; ¬B", "A ⊕ B", Condition.SYNTACTIC, Condition.STATED),
            schema("xor_introduction_right", "", "¬A; B", "A ⊕ B", Condition.SYNTACTIC, Condition.STATED),
            schema("not_iff_introduction_left", "", "A; ¬B", "¬(A ↔ B)", Condition.SYNTACTIC, Condition.STATED),
        ),
        Example(("awake(ann)", "¬asleep(ann)"), "awake(ann) ⊕ asleep(ann)"),
    ),
    Rule(
        "EXCLUSIVE_DISJUNCTION_ELIMINATION",
        "from A ⊕ B (or its negation) and one side or its negation, conclude what the other side must be",
        (
            schema("xor_elimination_left", "A ⊕ B", "A", "¬B"),
            schema("xor_elimination_not_left", "A ⊕ B", "¬A", "B"),
            schema("xor_elimination_right", "A ⊕ B", "B", "¬A"),
            schema("xor_elimination_not_right", "A ⊕ B", "¬B", "A"),
            schema("not_xor_elimination_left", "¬(A ⊕ B)", "A", "B"),
            schema("not_xor_elimination_not_left", "¬(A ⊕ B)", "¬A", "¬B"),
            schema("not_xor_elimination_right", "¬(A ⊕ B)", "B", "A"),
            schema("not_xor_elimination_not_right", "¬(A ⊕ B)", "¬B", "¬A"),
            schema("not_iff_elimination", "¬(A ↔ B)", "A", "¬B"),
            schema("not_iff_elimination_not", "¬(A ↔ B)", "¬A", "B"),
        ),
        Example(("awake(ann) ⊕ asleep(ann)", "awake(ann)"), "¬asleep(ann)"),
    ),
    Rule(
        "DISJUNCTIVE_SYLLOGISM",
        "from a disjunction and the negation of some of its parts, conclude the disjunction of the rest",
        (
            schema("disjunctive_syllogism", "A ∨ B", "¬A", "B"),
            schema("disjunctive_syllogism_not_and", "¬(A ∧ B)", "A", "¬B"),
        ),
        Example(("tea(bob) ∨ milk(bob) ∨ juice(bob)", "¬milk(bob)"), "tea(bob) ∨ juice(bob)"),
    ),
    Rule(
        "CONJUNCTION_INTRODUCTION",
        "from A and B, conclude A ∧ B; from A → B and B → A, conclude A ↔ B",
        (
            schema("conjunction_introduction", "", "A; B", "A ∧ B", Condition.SYNTACTIC, Condition.OWN_DEPENDENCIES),
            schema(
                "conjunction_introduction_iff",
                "",
                "A → B; B → A",
                "A ↔ B",
                Condition.SYNTACTIC,
                Condition.OWN_DEPENDENCIES,
            ),
        ),
        Example(("young(eve)", "strong(eve)"), "young(eve) ∧ strong(eve)"),
    ),
    Rule(
        "CONJUNCTION_ELIMINATION",
        "from A ∧ B, conclude one of its parts, or the conjunction of some of them; ¬∨, ¬→ and ↔ have parts, too",
        (
            schema("conjunction_elimination", "A ∧ B", "", "A"),
            schema("conjunction_elimination_not_or", "¬(A ∨ B)", "", "¬A"),
            schema("conjunction_elimination_not_implies_left", "¬(A → B)", "", "A"),
            schema("conjunction_elimination_not_implies_right", "¬(A → B)", "", "¬B"),
            schema("conjunction_elimination_iff", "A ↔ B", "", "A → B"),
        ),
        Example(("young(eve) ∧ strong(eve)",), "strong(eve)"),
    ),
    Rule(
        "UNIVERSAL_ELIMINATION",
        "from ∀x A(x), conclude A(t) for a term t; from ¬∃x A(x), conclude ¬A(t)",
        (
            schema("universal_elimination", "∀x A(x)", "", "A(t)"),
            schema("universal_elimination_not_exists", "¬∃x A(x)", "", "¬A(t)"),
        ),
        Example(("∀x (cat(x) → animal(x))", "cat(tom)"), "cat(tom) → animal(tom)"),
    ),
    Rule(
        GOAL_BINDING,
        "the last action: its id is the chosen option's id, its conclusion that option's formula, already derived",
        (schema("goal_binding", "A", "", "A", Condition.TERMINAL),),
        Example(("animal(tom)",), "animal(tom)"),
    ),
)

_QUANTIFIED = (
    Rule(
        "UNIVERSAL_IMPLICATION_CHAINING",
        "from ∀x (A → B) and ∀x (B → C), conclude ∀x (A → C); longer chains likewise",
        (
            schema(
                "universal_implication_chaining",
                "∀x (A(x) → B(x)); ∀x (B(x) → C(x))",
                "",
                "∀x (A(x) → C(x))",
                Condition.CHAIN,
            ),
            schema(
                "universal_implication_chaining_iff_first",
                "∀x (A(x) ↔ B(x)); ∀x (B(x) → C(x))",
                "",
                "∀x (A(x) → C(x))",
                Condition.CHAIN,
            ),
            schema(
                "universal_implication_chaining_iff_second",
                "∀x (A(x) → B(x)); ∀x (B(x) ↔ C(x))",
                "",
                "∀x (A(x) → C(x))",
                Condition.CHAIN,
            ),
            schema(
                "universal_implication_chaining_iff",
                "∀x (A(x) ↔ B(x)); ∀x (B(x) ↔ C(x))",
                "",
                "∀x (A(x) ↔ C(x))",
                Condition.CHAIN,
            ),
            schema(
                "universal_implication_chaining_two",
                "∀x ∀y (A(x, y) → B(x, y)); ∀x ∀y (B(x, y) → C(x, y))",
                "",
                "∀x ∀y (A(x, y) → C(x, y))",
                Condition.CHAIN,
            ),
        ),
        Example(("∀x (cat(x) → mammal(x))", "∀x (mammal(x) → animal(x))"), "∀x (cat(x) → animal(x))"),
    ),
    Rule(
        "UNIVERSAL_PROPOSITIONAL_INFERENCE",
        "from ∀x (A → B) and ∀x (A → C), conclude ∀x (A → B ∧ C); from ∀x (A → C) and ∀x (B → C), ∀x (A ∨ B → C)",
        (
            schema(
                "universal_propositional_inference",
                "∀x (A(x) → B(x)); ∀x (A(x) → C(x))",
                "",
                "∀x (A(x) → B(x) ∧ C(x))",
                Condition.CHAIN,
            ),
            schema(
                "universal_propositional_inference_or",
                "∀x (A(x) → C(x)); ∀x (B(x) → C(x))",
                "",
                "∀x (A(x) ∨ B(x) → C(x))",
                Condition.CHAIN,
            ),
            schema(
                "universal_propositional_inference_two",
                "∀x ∀y (A(x, y) → B(x, y)); ∀x ∀y (A(x, y) → C(x, y))",
                "",
                "∀x ∀y (A(x, y) → B(x, y) ∧ C(x, y))",
                Condition.CHAIN,
            ),
        ),
        Example(("∀x (cat(x) → furry(x))", "∀x (cat(x) → quick(x))"), "∀x (cat(x) → furry(x) ∧ quick(x))"),
    ),
    Rule(
        "EXISTENTIAL_INTRODUCTION",
        "from A(t), and B(t) where wanted, conclude ∃x A(x), or ∃x (A(x) ∧ B(x)); from A(t, u), ∃x ∃y A(x, y)",
        (
            schema(
                "existential_introduction",
                "",
                "A(t)",
                "∃x A(x)",
                Condition.SYNTACTIC,
                Condition.OWN_DEPENDENCIES,
                Condition.AS_WRITTEN,
            ),
        ),
        Example(("cat(tom)", "grey(tom)"), "∃x (cat(x) ∧ grey(x))"),
    ),
    Rule(
        "EXISTENTIAL_CONJUNCTION_ELIMINATION",
        "from ∃x (A(x) ∧ B(x)), conclude ∃x A(x); from ∃x (A(x) ∧ G), conclude G",
        (
            schema("existential_conjunction_elimination_closed", "∃x (A(x) ∧ G)", "", "G"),
            schema("existential_conjunction_elimination", "∃x (A(x) ∧ B(x))", "", "∃x A(x)"),
            schema("existential_conjunction_elimination_two_closed", "∃x ∃y (A(x, y) ∧ G)", "", "G"),
            schema("existential_conjunction_elimination_two", "∃x ∃y (A(x, y) ∧ B(x, y))", "", "∃x ∃y A(x, y)"),
        ),
        Example(("∃x (cat(x) ∧ grey(x))",), "∃x grey(x)"),
    ),
    Rule(
        "EXISTENTIAL_IMPLICATION_ELIMINATION",
        "from ∃x A(x) and ∀x (A(x) → B(x)), conclude ∃x B(x); from ∃x (A(x) ∧ C(x)), ∃x B(x) or ∃x (B(x) ∧ C(x))",
        (
            schema("existential_implication_elimination", "∃x A(x); ∀x (A(x) → B(x))", "", "∃x B(x)"),
            schema("existential_implication_elimination_iff", "∃x A(x); ∀x (A(x) ↔ B(x))", "", "∃x B(x)"),
            schema("existential_implication_elimination_part", "∃x (A(x) ∧ C(x)); ∀x (A(x) → B(x))", "", "∃x B(x)"),
            schema(
                "existential_implication_elimination_and",
                "∃x (A(x) ∧ C(x)); ∀x (A(x) → B(x))",
                "",
                "∃x (B(x) ∧ C(x))",
            ),
            schema(
                "existential_implication_elimination_two",
                "∃x ∃y A(x, y); ∀x ∀y (A(x, y) → B(x, y))",
                "",
                "∃x ∃y B(x, y)",
            ),
        ),
        Example(("∃x cat(x)", "∀x (cat(x) → animal(x))"), "∃x animal(x)"),
    ),
    Rule(
        "EXISTENTIAL_CONJUNCTION_INTRODUCTION",
        "from ∃x A(x) and G, conclude ∃x (A(x) ∧ G)",
        (schema("existential_conjunction_introduction", "∃x A(x); G", "", "∃x (A(x) ∧ G)"),),
        Example(("∃x cat(x)", "dog(rex)"), "∃x (cat(x) ∧ dog(rex))"),
    ),
    Rule(
        "QUANTIFIER_NEGATION",
        "move a negation through a quantifier: ¬∀x A(x) and ∃x ¬A(x); ¬∃x A(x) and ∀x ¬A(x)",
        (
            schema("not_forall_not_to_exists", "¬∀x ¬A(x)", "", "∃x A(x)", Condition.HEADED),
            schema("not_forall_to_exists_not", "¬∀x A(x)", "", "∃x ¬A(x)", Condition.HEADED),
            schema("exists_not_to_not_forall", "∃x ¬A(x)", "", "¬∀x A(x)", Condition.HEADED),
            schema("not_exists_not_to_forall", "¬∃x ¬A(x)", "", "∀x A(x)", Condition.HEADED),
            schema("not_exists_to_forall_not", "¬∃x A(x)", "", "∀x ¬A(x)", Condition.HEADED),
            schema("forall_not_to_not_exists", "∀x ¬A(x)", "", "¬∃x A(x)", Condition.HEADED),
            schema("exists_to_not_forall_not", "∃x A(x)", "", "¬∀x ¬A(x)", Condition.HEADED),
            schema("forall_to_not_exists_not", "∀x A(x)", "", "¬∃x ¬A(x)", Condition.HEADED),
        ),
        Example(("¬∀x cat(x)",), "∃x ¬cat(x)"),
    ),
)

_TRAIN_ALIASES = {
    "MODUS_PONENS": "IMPLICATION_ELIMINATION",
    "MP": "IMPLICATION_ELIMINATION",
    "MT": "MODUS_TOLLENS",
    "XOR_INTRODUCTION": "EXCLUSIVE_DISJUNCTION_INTRODUCTION",
    "XOR_ELIMINATION": "EXCLUSIVE_DISJUNCTION_ELIMINATION",
    "DISJUNCTION_ELIMINATION": "DISJUNCTIVE_SYLLOGISM",
    "AND_INTRODUCTION": "CONJUNCTION_INTRODUCTION",
    "AND_ELIMINATION": "CONJUNCTION_ELIMINATION",
    "SIMPLIFICATION": "CONJUNCTION_ELIMINATION",
    "UNIVERSAL_INSTANTIATION": "UNIVERSAL_ELIMINATION",
}
_FOLIO_ALIASES = {
    "HYPOTHETICAL_SYLLOGISM": "UNIVERSAL_IMPLICATION_CHAINING",
    "EXISTENTIAL_GENERALIZATION": "EXISTENTIAL_INTRODUCTION",
}

TRAIN = Catalogue("train", _TRAIN, _TRAIN_ALIASES)
"""R_train: the nine rules of training on ProverQA."""
FOLIO = Catalogue("folio", (*_TRAIN, *_QUANTIFIED), {**_TRAIN_ALIASES, **_FOLIO_ALIASES})
"""R_folio: R_train and seven rules about quantified formulas."""


RuleSystem: TypeAlias = Literal["train", "folio"]
"""The names of the catalogues."""


def catalogue(name: str) -> Catalogue:
    """``train`` or ``folio``.

    Raises:
        CatalogueError: there is no catalogue of that name.
    """
    for known in (TRAIN, FOLIO):
        if known.name == name:
            return known
    raise CatalogueError(f"no rule catalogue {name!r}; there are {TRAIN.name!r} and {FOLIO.name!r}")
