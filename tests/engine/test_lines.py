"""What a line says according to the writers of proofs is what the checker finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import get_args

import pytest

from proof_r1_formal.engine.lines import statement, theorems_of
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel import term as t
from proof_r1_formal.kernel.checker import shown
from proof_r1_formal.kernel.signed import Signed, signed
from proof_r1_formal.kernel.syntax import App, Formula
from proof_r1_formal.rules.catalogue import FOLIO
from proof_r1_formal.rules.theorems import theorem
from proof_r1_formal.testing.forgeries import Forger
from proof_r1_formal.text.parse import parse_formula

FORGERIES = 1_000


def read(lines: Sequence[t.Line], premises: Sequence[Formula]) -> list[Signed]:
    """What the premises and lines say, one after the other."""
    says = [signed(formula) for formula in premises]
    for line in lines:
        says.append(statement(line, says.__getitem__))
    return says[len(premises) :]


def test_each_line_says_what_the_checker_finds() -> None:
    kinds: Counter[type] = Counter()
    for proof, premises, conclusion in islice(Forger(Random(7)).forgeries(), FORGERIES):
        accepted: list[t.Line] = []
        expected: list[Signed] = []
        for line in proof:
            try:
                expected.append(shown((*accepted, line), premises, conclusion)[0])
            except ProofError:
                break
            accepted.append(line)
        assert read(accepted, premises) == expected
        kinds.update(map(type, accepted))
    assert set(kinds) == set(get_args(t.Line))


def test_only_quantified_formulas_have_instances() -> None:
    with pytest.raises(ProofError, match="not quantified"):
        read([t.Instance(0, App("a", ()))], [parse_formula("p")])


def test_theorems_come_after_those_that_their_proofs_apply() -> None:
    inner = theorem(FOLIO.rules[0].schemata[0])
    outer = t.Theorem("outer", (), inner.conclusion, (t.Apply(inner, {}, ()), t.Apply(inner, {}, ())))
    block = (t.Absurd(inner.conclusion, (t.Apply(outer, {}, ()),)), t.Apply(inner, {}, ()))
    assert list(theorems_of(block, lambda _: True)) == [inner, inner, outer, inner]
    places: dict[t.Theorem, int] = {}
    for each in theorems_of(block, lambda theorem: theorem not in places):
        places[each] = len(places)
    assert list(places) == [inner, outer]
    assert list(theorems_of(block, lambda theorem: theorem is inner)) == [inner]
