"""What a solver says of its model counts for nothing until the evaluator confirms it."""

from __future__ import annotations

from proof_r1_formal.engine.countermodel import Row, countermodel
from proof_r1_formal.errors import StructureError
from proof_r1_formal.kernel.answer import Refuted
from proof_r1_formal.kernel.model import Element, Structure
from proof_r1_formal.kernel.query import Query
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.kernel.syntax import atom, const
from proof_r1_formal.text.parse import parse_formula

SOME_NOT_ALL = Query((parse_formula("p(a)"),), parse_formula("∀x p(x)"))
SIGNATURE = Signature.infer(SOME_NOT_ALL.assertions)


def only_zero(predicate: str, row: Row) -> bool:
    return row == (0,)


def zero(function: str, row: Row) -> Element:
    return 0


def test_a_true_model_becomes_a_structure() -> None:
    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 2}, only_zero, zero) == Refuted(
        Structure({"Entity": 2}, {"p": frozenset({(0,)})}, {"a": {(): 0}})
    )


def test_a_lie_becomes_nothing() -> None:
    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 1}, only_zero, zero) is None
    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 2}, only_zero, lambda function, row: 1) is None


def test_a_model_that_does_not_tell_becomes_nothing() -> None:
    def silent(symbol: str, row: Row) -> bool:
        raise StructureError(f"no value of {symbol}")

    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 2}, silent, zero) is None
    assert countermodel(SOME_NOT_ALL, SIGNATURE, {"Entity": 2}, only_zero, silent) is None


def test_tables_that_are_too_large_are_not_read() -> None:
    def never(symbol: str, row: Row) -> bool:
        raise AssertionError("the table is read")

    query = Query((), atom("p", *[const("a")] * 15))
    assert countermodel(query, Signature.infer(query.assertions), {"Entity": 2}, never, never) is None
