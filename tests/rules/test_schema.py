"""Catalogues: what is no usable set of rules is refused when it is made."""

from __future__ import annotations

import pytest

from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.rules.schema import Catalogue, Condition, Example, Rule, Schema, schema

EXAMPLE = Example(("A",), "A")
PLAIN = schema("plain", "A ∧ B", "", "A")


def rule(*schemata: Schema, name: str = "MINE") -> Rule:
    return Rule(name, "", schemata, EXAMPLE)


@pytest.mark.parametrize(
    ("rules", "aliases", "says"),
    [
        ((rule(PLAIN), rule(PLAIN)), {}, "rule 'MINE' is there twice"),
        ((rule(PLAIN), rule(PLAIN, name="OTHER")), {}, "schema 'plain' is there twice"),
        ((rule(PLAIN),), {"M": "OTHER"}, "alias 'M' names no rule"),
        (
            (rule(PLAIN), rule(name="OTHER")),
            {"mi ne": "OTHER"},
            "rule 'MINE' and alias 'mi ne' of 'OTHER' have one spelling",
        ),
        (
            (rule(PLAIN), rule(name="OTHER")),
            {"MINE": "OTHER"},
            "rule 'MINE' and alias 'MINE' of 'OTHER' have one spelling",
        ),
        (
            (rule(PLAIN), rule(name="OTHER")),
            {"M-P": "MINE", "mp": "OTHER"},
            "alias 'M-P' of 'MINE' and alias 'mp' of 'OTHER' have one spelling",
        ),
        ((rule(PLAIN), rule(name="mine")), {}, "rule 'MINE' and rule 'mine' have one spelling"),
        ((rule(schema("s", "A(A)", "", "A(A)")),), {}, "patterns use 'A' in two ways"),
        ((rule(schema("s", "", "A", "A ∨ B")),), {}, "nothing says what A, B stands for"),
        ((rule(schema("s", "A → B", "C", "B")),), {}, "nothing says what C stands for"),
        ((rule(schema("s", "∀x ∀y A(x,y)", "", "A(t,u)")),), {}, "nothing says what t, u stands for"),
        (
            (rule(schema("s", "A(t); ∀x (A(x) → B(x))", "", "B(t)")),),
            {},
            r"schema 's': A\(t\) is matched, so its letters",
        ),
        ((rule(schema("s", "", "A(t)", "A(t)", Condition.SYNTACTIC)),), {}, r"A\(t\) is matched, so its letters"),
        ((rule(schema("s", "a = b", "", "b = a")),), {}, "a pattern cannot contain Eq; a = b does"),
        ((rule(schema("s", "A", "", "t = t")),), {}, "a pattern cannot contain Eq; t = t does"),
        (
            (rule(schema("s", "t = u", "A(u)", "A(t)", Condition.REPLACED)),),
            {},
            "condition 'replaced' is for the forms",
        ),
        ((rule(schema("s", "A", "", "A ∨ ⊥")),), {}, "a pattern cannot contain Bottom; A ∨ ⊥ does"),
        ((rule(schema("s", "∀x A(x)", "", "A(f(t))")),), {}, r"a pattern cannot apply a function; A\(f\(t\)\) does"),
    ],
)
def test_refused(rules: tuple[Rule, ...], aliases: dict[str, str], says: str) -> None:
    with pytest.raises(CatalogueError, match=says):
        Catalogue("own", rules, aliases)


@pytest.mark.parametrize(
    "usable",
    [
        PLAIN,
        schema("s", "", "A", "A ∨ B", Condition.SYNTACTIC),
        schema("s", "∀x A(x)", "", "A(t)"),
        schema("s", "A → B", "A", "B"),
        schema("s", "", "", "t = t", Condition.SYNTACTIC),
    ],
)
def test_usable(usable: Schema) -> None:
    assert Catalogue("own", (rule(usable),)).find("MINE") is not None
