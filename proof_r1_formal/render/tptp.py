"""Formulas and queries in TPTP: text for every prover of the TPTP world (E, Vampire, SPASS, …).

In: closed formulas. Out: ASCII text in which every subformula has its parentheses, so that nothing depends on
priorities. A query is a problem: its dependencies are axioms ``h1``, ``h2``, …, its conclusion is the conjecture
``goal``; the status ``Theorem`` is yes, ``CounterSatisfiable`` is no. The steps of a proof are formulas with the role
``plain``, each with the formulas that it follows from, as in the derivations that provers write (TSTP).

A problem of one sort is FOF, one of several sorts is TFF with the types of all symbols declared. TPTP's domains are not
empty, as they should be. ⊕ is ``<~>``.

Names go through :func:`~proof_r1_formal.kernel.signature.mangle` with a prefix per kind: ``p_`` predicates, ``f_``
functions and constants, ``s_`` sorts, ``V_`` variables, with ``_0s_<sort>`` behind those that are not of the default
sort, because two variables of one name and two sorts differ (a ``_0`` in a mangled name stands before a hexadecimal
digit, so the pair can be read off). TPTP's own words have no such form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TypeAlias

from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.signature import Signature, mangle
from proof_r1_formal.kernel.syntax import ENTITY, And, Connective, Formula, Iff, Implies, Or, Var, Xor
from proof_r1_formal.render.notation import Notation, infix, text_of

_CONNECTIVES: dict[type[Connective], str] = {And: "&", Or: "|", Xor: "<~>", Implies: "=>", Iff: "<=>"}

predicate_name, function_name, sort_name = (partial(mangle, prefix=prefix) for prefix in "pfs")
"""The symbols of predicates, of functions and constants, and of sorts, from their names."""

Step: TypeAlias = tuple[str, Sequence[str], Formula]
"""A step of a proof: its name, those of the formulas that it follows from, and what it says."""


def problem(query: Query, names: Sequence[str] = (), steps: Sequence[Step] = ()) -> str:
    """The problem whose conjecture is a theorem exactly if the dependencies entail the conclusion.

    Args:
        query: the dependencies and the conclusion.
        names: of the dependencies, if not ``h1``, ``h2``, …
        steps: of a proof, in order.

    Raises:
        SignatureError: the query or the steps use a symbol in two ways.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> rule, fact, goal = map(parse_formula, ("∀x (cat(x) → tame(x))", "cat(tom)", "tame(tom)"))
    >>> print(problem(Query((rule, fact), goal), steps=[("s1", ["h1", "h2"], goal)]), end="")
    fof(h1, axiom, (! [V_x] : (p_cat(V_x) => p_tame(V_x)))).
    fof(h2, axiom, p_cat(f_tom)).
    fof(goal, conjecture, p_tame(f_tom)).
    fof(s1, plain, p_tame(f_tom), inference(consequence, [status(thm)], [h1, h2])).
    """
    signature = Signature.infer((*query.formulas, *[formula for _, _, formula in steps]))
    typed = len(signature.sorts) > 1
    language = "tff" if typed else "fof"

    def line(name: str, role: str, formula: Formula, source: str = "") -> str:
        return f"{language}({name}, {role}, {formula_text(formula, typed=typed)}{source})."

    labels = names or [f"h{number}" for number in range(1, len(query.dependencies) + 1)]
    lines = declarations(signature) if typed else []
    lines += [line(name, "axiom", each) for name, each in zip(labels, query.dependencies, strict=True)]
    lines.append(line("goal", "conjecture", query.conclusion))
    for name, parents, formula in steps:
        lines.append(line(name, "plain", formula, f", inference(consequence, [status(thm)], [{', '.join(parents)}])"))
    return "\n".join(lines) + "\n"


def declarations(signature: Signature) -> list[str]:
    """The annotated formulas that declare the sorts and symbols of a signature, each called as what it declares.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> for line in declarations(Signature.infer([parse_formula("∀x:Person likes(x, rome)")])):
    ...     print(line)
    tff(s_Person, type, s_Person: $tType).
    tff(s_Entity, type, s_Entity: $tType).
    tff(p_likes, type, p_likes: (s_Person * s_Entity) > $o).
    tff(f_rome, type, f_rome: s_Entity).
    """
    types = {sort_name(sort): "$tType" for sort in signature.sorts}
    types |= {predicate_name(name): _type(sorts, "$o") for name, sorts in signature.predicates.items()}
    for name, type_ in signature.functions.items():
        types[function_name(name)] = _type(type_.arguments, sort_name(type_.result))
    return [f"tff({name}, type, {name}: {type_})." for name, type_ in types.items()]


def _type(arguments: Sequence[str], result: str) -> str:
    match [sort_name(sort) for sort in arguments]:
        case []:
            return result
        case [sort]:
            return f"{sort} > {result}"
        case sorts:
            return f"({' * '.join(sorts)}) > {result}"


@lru_cache(maxsize=1 << 14)  # premises come back in query after query
def formula_text(formula: Formula, *, typed: bool = False) -> str:
    """The closed formula, written without recursion; where it is typed, as in TFF, bound variables have their types.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> formula_text(parse_formula("rains ⊕ ∃x ¬(x = tom)"))
    '(p_rains <~> (? [V_x] : (V_x != f_tom)))'
    """
    return text_of(formula, _TYPED if typed else _UNTYPED)


def variable_name(variable: Var) -> str:
    """The symbol of a variable: its name, and its sort if that is not the default one."""
    name = mangle(variable.name, "V")
    return name if variable.sort == ENTITY else f"{name}_0{sort_name(variable.sort)}"


def _notation(bound: Callable[[Var], str]) -> Notation:
    return Notation(
        top="$true",
        bottom="$false",
        predicate=predicate_name,
        function=function_name,
        variable=variable_name,
        applied=lambda symbol: (f"{symbol}(", ", ", ")"),
        equation=("(", " = ", ")"),
        unequal=("(", " != ", ")"),
        negation=("~ ", ""),
        connectives=infix(_CONNECTIVES),
        universal=lambda variable: (f"(! [{bound(variable)}] : ", ")"),
        existential=lambda variable: (f"(? [{bound(variable)}] : ", ")"),
    )


_UNTYPED = _notation(variable_name)
_TYPED = _notation(lambda variable: f"{variable_name(variable)}: {sort_name(variable.sort)}")
