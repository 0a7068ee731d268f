"""Formulas, entailments and rule schemata as Lean 4 text, in what full Lean and the mini ``Init`` have in common.

In: formulas. Out: text that Lean reads as the proposition that the formula is, over a type for each sort and an element
of each type (domains are not empty). Connectives are prefix (``And A B``), every part stands in parentheses, and
different formulas have different texts.

Names go through :func:`~proof_r1_formal.kernel.signature.mangle` with a prefix per kind: ``p_`` predicates, ``f_``
functions and constants, ``s_`` sorts, ``i_`` the element of a sort's type, ``x_`` variables, with ``'s_<sort>`` after
those that are not of the default sort (``'`` is in no mangled name). Names that the package makes (``␣0``, ``␣c1``)
become ``z0`` and ``zc1``. Nothing that Lean knows has such a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import chain, product

from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.signature import Signature, mangle, symbols
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    TOP,
    And,
    Binary,
    Binder,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Var,
    Xor,
)
from proof_r1_formal.render.notation import Notation, lisp, short_constant, short_variable, text_of

NAMESPACE = "ProofR1"
"""Of the theory in ``theories/lean``."""

predicate_name, sort_name, element_name = (partial(mangle, prefix=prefix) for prefix in "psi")
"""The names of predicates, of the types of sorts, and of an element of each type."""
function_name = partial(short_constant, prefix="f")
"""The names of functions and constants."""


@lru_cache(maxsize=1 << 14)  # proofs say the same formulas again and again
def formula(shown: Formula) -> str:
    """The formula as a Lean proposition, written without recursion.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> formula(parse_formula("rains ⊕ ∃x (x = tom)"))
    '(ProofR1.Xor p_rains (Exists fun x_x : s_Entity => (Eq x_x f_tom)))'
    """
    return text_of(shown, _NOTATION)


def term(shown: Term) -> str:
    """A term as Lean text.

    >>> from proof_r1_formal.kernel.syntax import App
    >>> term(App("father", (App("tom", ()),)))
    '(f_father f_tom)'
    """
    return text_of(shown, _NOTATION)


# -- statements -------------------------------------------------------------------------------------------------------


def binders(signature: Signature) -> list[str]:
    """Types, their elements and the symbols of a signature, each as a binder.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> binders(Signature.infer([parse_formula("cat(tom)")]))
    ['(s_Entity : Type)', '(i_Entity : s_Entity)', '(p_cat : s_Entity → Prop)', '(f_tom : s_Entity)']
    """
    sorts = [[f"({sort_name(s)} : Type)", f"({element_name(s)} : {sort_name(s)})"] for s in signature.sorts]
    predicates = [_predicate(name, signature) for name in signature.predicates]
    return [*chain(*sorts), *predicates, *[_function(name, signature) for name in signature.functions]]


def entailment(premises: Sequence[Formula], conclusion: Formula) -> str:
    """The proposition that the premises entail the conclusion, whatever the symbols mean.

    Raises:
        SignatureError: the formulas use a symbol in two ways.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> print(entailment([parse_formula("P")], parse_formula("Q")))
    ∀ (s_Entity : Type) (i_Entity : s_Entity) (p_P : Prop) (p_Q : Prop),
        p_P →
        p_Q
    """
    signature = Signature.infer((*premises, conclusion))
    implied = " →\n    ".join(map(formula, (*premises, conclusion)))
    return f"∀ {' '.join(binders(signature))},\n    {implied}"


def schema_statement(premises: Sequence[Formula], conclusion: Formula) -> str:
    """The proposition that a rule schema states: patterns over propositions, predicates and elements of a type.

    The principal premises stand before the minor ones. A schema that holds in no empty type takes an element of it.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> schema_statement([parse_formula("∀x A(x)")], parse_formula("A(t)"))
    '∀ (s_Entity : Type) (p_A : s_Entity → Prop) (f_t : s_Entity), (∀ x_x : s_Entity, (p_A x_x)) → (p_A f_t)'
    >>> schema_statement([parse_formula("∀x A(x)")], parse_formula("∃x A(x)")).partition(",")[0]
    '∀ (s_Entity : Type) (i_Entity : s_Entity) (p_A : s_Entity → Prop)'
    """
    signature = Signature.infer((*premises, conclusion))
    kinds = dict.fromkeys((name, kind) for part in (*premises, conclusion) for name, (kind, _) in symbols(part).uses)
    variables = [(_predicate if kind == "predicate" else _function)(name, signature) for name, kind in kinds]
    quantified = any(part.quantifiers for part in (*premises, conclusion))
    first_order = quantified or bool(signature.functions) or any(signature.predicates.values())
    types = [f"({sort_name(sort)} : Type)" for sort in signature.sorts] if first_order else []
    if first_order and not signature.functions and not _holds_of_nothing(premises, conclusion):
        elements = [f"({element_name(sort)} : {sort_name(sort)})" for sort in signature.sorts]
        types = [*chain(*zip(types, elements, strict=True))]
    implied = " → ".join(map(formula, (*premises, conclusion)))
    return f"∀ {' '.join([*types, *variables])}, {implied}"


def _holds_of_nothing(premises: Sequence[Formula], conclusion: Formula) -> bool:
    """Whether the premises entail the conclusion in empty types, where every ∀ is true and every ∃ is false."""
    given, shown = [_of_nothing(premise) for premise in premises], _of_nothing(conclusion)
    letters = [name for part in (*given, shown) for name, _ in symbols(part).uses]
    for chosen in product((frozenset[tuple[int, ...]](), frozenset({()})), repeat=len(dict.fromkeys(letters))):
        row = Structure({}, dict(zip(dict.fromkeys(letters), chosen, strict=True)))
        if all(evaluate(premise, row) for premise in given) and not evaluate(shown, row):
            return False
    return True


def _of_nothing(part: Formula) -> Formula:
    """What a formula says of empty types."""
    if isinstance(part, Binder):
        return TOP if isinstance(part, ForAll) else BOTTOM
    if isinstance(part, Not):
        return Not(_of_nothing(part.body))
    return type(part)(_of_nothing(part.left), _of_nothing(part.right)) if isinstance(part, Binary) else part


def pattern_variables(premises: Sequence[Formula], conclusion: Formula) -> tuple[str, ...]:
    """The variables of a schema's patterns, in order of first occurrence."""
    return tuple(dict.fromkeys(name for part in (*premises, conclusion) for name, _ in symbols(part).uses))


def _predicate(name: str, signature: Signature) -> str:
    return f"({predicate_name(name)} : {' → '.join([*map(sort_name, signature.predicates[name]), 'Prop'])})"


def _function(name: str, signature: Signature) -> str:
    type_ = signature.functions[name]
    return f"({function_name(name)} : {' → '.join(map(sort_name, (*type_.arguments, type_.result)))})"


def variable_name(variable: Var) -> str:
    """The name of a variable: its own, and its sort."""
    name = short_variable(variable.name, "x")
    return name if variable.sort == ENTITY else f"{name}'{sort_name(variable.sort)}"


def _binder(variable: Var) -> str:
    return f"{variable_name(variable)} : {sort_name(variable.sort)}"


_NOTATION = Notation(
    top="True",
    bottom="False",
    predicate=predicate_name,
    function=function_name,
    variable=variable_name,
    applied=lisp,
    equation=lisp("Eq"),
    negation=("(Not ", ")"),
    connectives={
        And: lisp("And"),
        Or: lisp("Or"),
        Xor: lisp(f"{NAMESPACE}.Xor"),
        Implies: ("(", " → ", ")"),
        Iff: lisp("Iff"),
    },
    universal=lambda variable: (f"(∀ {_binder(variable)}, ", ")"),
    existential=lambda variable: (f"(Exists fun {_binder(variable)} => ", ")"),
)
