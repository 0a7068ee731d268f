"""Formulas as SMT-LIB 2.6: a script that asks whether formulas have a common model, or one formula as a term.

In: closed formulas. Out: ASCII text that every SMT-LIB 2 solver reads; ``sat`` means that the formulas hold together in
some structure. So ``Γ ⊨ φ`` is asked as ``script((*Γ, ¬φ))``, and ``unsat`` is yes.

Names go through :func:`~proof_r1_formal.kernel.signature.mangle` with a prefix per kind: ``p_`` predicates, ``f_``
functions and constants, ``s_`` sorts, and ``v_<name>.s_<sort>`` variables, because two variables of one name and two
sorts differ (``.`` is in no mangled name, so the pair can be read off). No word of SMT-LIB has such a form.

The logic is ``QF_UF`` when nothing is quantified and ``UF`` otherwise. These two always suffice (sorts, functions,
predicates and equality are all that the formulas have), so ``ALL`` is never asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Literal, TypeAlias

from proof_r1_formal.kernel.signature import Signature, mangle
from proof_r1_formal.kernel.syntax import And, Connective, Exists, ForAll, Formula, Iff, Implies, Or, Var, Xor
from proof_r1_formal.kernel.transform import subformulas
from proof_r1_formal.render.notation import Notation, lisp, text_of

Logic: TypeAlias = Literal["QF_UF", "UF"]

_CONNECTIVES: dict[type[Connective], str] = {And: "and", Or: "or", Xor: "xor", Implies: "=>", Iff: "="}

predicate_name, function_name, sort_name = (partial(mangle, prefix=prefix) for prefix in "pfs")
"""The symbols of predicates, of functions and constants, and of sorts, from their names."""


def logic_of(formulas: Sequence[Formula]) -> Logic:
    """The smallest SMT-LIB logic that has the formulas."""
    quantified = any(isinstance(part, ForAll | Exists) for formula in formulas for part in subformulas(formula))
    return "UF" if quantified else "QF_UF"


def script(formulas: Sequence[Formula], *, names: Sequence[str] = ()) -> str:
    """The script that declares the symbols of closed formulas, asserts each, and asks for satisfiability.

    With names of the formulas, the script asks for an unsatisfiable core after ``check-sat``.

    Raises:
        SignatureError: the formulas use a symbol in two ways.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> print(script([parse_formula("∀x (cat(x) → tame(x))"), parse_formula("¬tame(tom)")]), end="")
    (set-logic UF)
    (declare-sort s_Entity 0)
    (declare-fun p_cat (s_Entity) Bool)
    (declare-fun p_tame (s_Entity) Bool)
    (declare-fun f_tom () s_Entity)
    (assert (forall ((v_x.s_Entity s_Entity)) (=> (p_cat v_x.s_Entity) (p_tame v_x.s_Entity))))
    (assert (not (p_tame f_tom)))
    (check-sat)
    """
    terms = [term(formula) for formula in formulas]
    option, request = [], []
    if names:
        terms = [f"(! {each} :named {name})" for each, name in zip(terms, names, strict=True)]
        option, request = ["(set-option :produce-unsat-cores true)"], ["(get-unsat-core)"]
    lines = [*option, f"(set-logic {logic_of(formulas)})", *declarations(Signature.infer(formulas))]
    lines += [*[f"(assert {each})" for each in terms], "(check-sat)", *request]
    return "\n".join(lines) + "\n"


def declarations(signature: Signature) -> list[str]:
    """The commands that declare the sorts and symbols of a signature."""
    lines = [f"(declare-sort {sort_name(sort)} 0)" for sort in signature.sorts]
    for name, sorts in signature.predicates.items():
        lines.append(f"(declare-fun {predicate_name(name)} ({' '.join(map(sort_name, sorts))}) Bool)")
    for name, type_ in signature.functions.items():
        arguments = " ".join(map(sort_name, type_.arguments))
        lines.append(f"(declare-fun {function_name(name)} ({arguments}) {sort_name(type_.result)})")
    return lines


@lru_cache(maxsize=1 << 14)  # premises come back in query after query
def term(formula: Formula) -> str:
    """The formula as one SMT-LIB term, written without recursion: no nesting is too deep.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> term(parse_formula("rains ⊕ ∃x (x = tom)"))
    '(xor p_rains (exists ((v_x.s_Entity s_Entity)) (= v_x.s_Entity f_tom)))'
    """
    return text_of(formula, _NOTATION)


def variable_name(variable: Var) -> str:
    """The symbol of a variable: its name and its sort."""
    return f"{mangle(variable.name, 'v')}.{sort_name(variable.sort)}"


def _binder(variable: Var) -> str:
    return f"(({variable_name(variable)} {sort_name(variable.sort)}))"


_NOTATION = Notation(
    top="true",
    bottom="false",
    predicate=predicate_name,
    function=function_name,
    variable=variable_name,
    applied=lisp,
    equation=lisp("="),
    negation=("(not ", ")"),
    connectives={kind: lisp(word) for kind, word in _CONNECTIVES.items()},
    universal=lambda variable: (f"(forall {_binder(variable)} ", ")"),
    existential=lambda variable: (f"(exists {_binder(variable)} ", ")"),
)
