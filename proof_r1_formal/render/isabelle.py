r"""Formulas, queries and schemata in Isabelle/HOL: terms, statements, theories that prove a query or refute it.

In: closed formulas. Out: ASCII text in which every bound variable has its type and every subformula its parentheses,
so that nothing depends on priorities or on what Isabelle infers.

Sorts are type variables, which HOL interprets by non-empty sets, so the domains are as they should be. Symbols are
``fixes``, never constants or axioms: a lemma holds for all of their interpretations. ⊕ is ``\<noteq>`` on ``bool``.

Names go through :func:`~proof_r1_formal.kernel.signature.mangle` with a prefix per kind: ``p_`` predicates, ``f_``
functions and constants, ``'s_`` sorts, and ``v_<name>'s_<sort>`` variables, because two variables of one name and two
sorts differ (``'`` is in no mangled name, so the pair can be read off). Names that the package makes (``␣0``, ``␣c1``)
become ``z0's_<sort>`` and ``zc1``. An Isabelle identifier is a letter and then letters, digits, ``_`` and ``'``; one
that ends in ``_`` is reserved. No name here ends so, and no keyword has such a form. What is fixed or bound hides a
constant of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial

from proof_r1_formal.kernel.answer import Query
from proof_r1_formal.kernel.signature import Signature, mangle
from proof_r1_formal.kernel.syntax import And, Connective, Formula, Iff, Implies, Or, Term, Var, Xor
from proof_r1_formal.render.notation import Around, Notation, infix, lisp, short_constant, short_variable, text_of

_CONNECTIVES: dict[type[Connective], str] = {
    And: r"\<and>",
    Or: r"\<or>",
    Xor: r"\<noteq>",
    Implies: r"\<longrightarrow>",
    Iff: r"\<longleftrightarrow>",
}
_THEORY_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_]*[A-Za-z0-9])?")

predicate_name, function_name = partial(mangle, prefix="p"), partial(short_constant, prefix="f")
"""The variables that are fixed for predicates, and for functions and constants."""


# -- theories ---------------------------------------------------------------------------------------------------------


def query_theory(query: Query, name: str, *, proof: str = "by blast") -> str:
    r"""The theory whose lemma ``q`` says that the dependencies entail the conclusion, with its :func:`gate`.

    Args:
        query: what to prove.
        name: of the theory, and so of its file: letters, digits and ``_``.
        proof: the proof, in Isabelle's words; ``using`` the dependencies is put before it.

    Raises:
        SignatureError: the query uses a symbol in two ways.
        ValueError: the name is not a valid theory name.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> rule, fact, goal = map(parse_formula, ("∀x (cat(x) → tame(x))", "cat(tom)", "tame(tom)"))
    >>> print(query_theory(Query((rule, fact), goal), "Tom").split("ML")[0], end="")
    theory Tom
      imports Main
    begin
    <BLANKLINE>
    lemma q:
      fixes p_cat :: "'s_Entity \<Rightarrow> bool"
        and p_tame :: "'s_Entity \<Rightarrow> bool"
        and f_tom :: "'s_Entity"
      assumes d1: "(\<forall>v_x's_Entity::'s_Entity. ((p_cat v_x's_Entity) \<longrightarrow> (p_tame v_x's_Entity)))"
        and d2: "(p_cat f_tom)"
      shows "(p_tame f_tom)"
      using d1 d2 by blast
    <BLANKLINE>
    """
    facts = " ".join(_label(query.dependencies))
    using = f"using {facts} " if facts else ""
    return theory(name, f"{_lemma(query)}  {using}{proof}\n\n{gate(name, 'q')}")


def countermodel_theory(query: Query, name: str, *, max_size: int = 10, seconds: int = 30) -> str:
    """The theory in which Nitpick looks for a countermodel, and that fails unless it finds a genuine one.

    The dependencies are part of the goal, so it does not matter which assumptions Nitpick deems relevant.

    Args:
        query: what to refute.
        name: of the theory: letters, digits and ``_``.
        max_size: the most elements that a sort may have.
        seconds: Nitpick's own time limit.

    Raises:
        SignatureError: the query uses a symbol in two ways.
        ValueError: the name is not a valid theory name.
    """
    goal = query.conclusion
    for dependency in reversed(query.dependencies):
        goal = Implies(dependency, goal)
    search = f"  nitpick [expect = genuine, card = 1-{max_size}, timeout = {seconds}]\n  oops\n"
    return theory(name, _lemma(Query((), goal)) + search)


def proved(name: str, lemma: str = "q") -> str:
    """The line that the gate after a lemma writes when the lemma is a theorem without oracles and new axioms."""
    return f"PROVED {name}.{lemma}"


def theory(name: str, *parts: str, imports: str = "Main") -> str:
    """A theory that imports another; each of the parts is a command, which ends its last line.

    Raises:
        ValueError: the name is not a valid theory name.
    """
    if not _THEORY_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a theory name: a letter, then letters, digits and _, but no _ at the end")
    return "\n".join([f"theory {name}\n  imports {imports}\nbegin\n", *parts, "end\n"])


def gate(name: str, lemma: str, *, imports: str = "Main") -> str:
    """The command that fails if the lemma depends on an oracle, as after ``sorry``, or the theory has its own axioms.

    Otherwise it writes :func:`proved`. The name is that of the theory; its own axioms are those that the import lacks.
    """
    return rf"""ML \<open>
  val oracles = Thm_Deps.all_oracles [@{{thm {lemma}}}];
  val _ = null oracles orelse error ("ORACLES: " ^ commas (map (#1 o #1) oracles));
  val axioms = length (Theory.all_axioms_of @{{theory}}) - length (Theory.all_axioms_of @{{theory {imports}}});
  val _ = axioms = 0 orelse error ("AXIOMS: " ^ string_of_int axioms);
  val _ = writeln "{proved(name, lemma)}";
\<close>
"""


def _lemma(query: Query) -> str:
    """The lemma ``q`` up to its proof."""
    signature = Signature.infer(query.formulas)
    return f"lemma q:\n{statement(_label(query.dependencies), query.conclusion, signature)}"


# -- statements -------------------------------------------------------------------------------------------------------


def statement(premises: Mapping[str, Formula], conclusion: Formula, signature: Signature) -> str:
    """The statement of a lemma: the symbols that are fixed, the premises, by label, and the conclusion."""
    fixed = [f'{name} :: "{type_}"' for name, type_ in symbol_types(signature).items()]
    assumed = [f'{label}: "{formula_text(formula)}"' for label, formula in premises.items()]
    return _clause("fixes", fixed) + _clause("assumes", assumed) + f'  shows "{formula_text(conclusion)}"\n'


def symbol_types(signature: Signature, types: Mapping[str, str] | None = None) -> dict[str, str]:
    """The type of each symbol by its name in Isabelle: predicates, then functions and constants.

    The types are those of the sorts, which without them are type variables.
    """
    of = sort_name if types is None else types.__getitem__
    found = {predicate_name(name): [*map(of, sorts), "bool"] for name, sorts in signature.predicates.items()}
    for name, type_ in signature.functions.items():
        found[function_name(name)] = list(map(of, (*type_.arguments, type_.result)))
    return {name: r" \<Rightarrow> ".join(places) for name, places in found.items()}


def schema_statement(premises: Sequence[Formula], conclusion: Formula) -> str:
    r"""The statement of a rule schema: patterns over propositions, predicates and elements of a type.

    The principal premises stand before the minor ones.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> print(schema_statement([parse_formula("∀x A(x)")], parse_formula("A(t)")), end="")
      fixes p_A :: "'s_Entity \<Rightarrow> bool"
        and f_t :: "'s_Entity"
      assumes d1: "(\<forall>v_x's_Entity::'s_Entity. (p_A v_x's_Entity))"
      shows "(p_A f_t)"
    """
    return statement(_label(premises), conclusion, Signature.infer((*premises, conclusion)))


def _label(premises: Sequence[Formula]) -> dict[str, Formula]:
    return {f"d{number}": formula for number, formula in enumerate(premises, start=1)}


def _clause(keyword: str, parts: Iterable[str]) -> str:
    joined = "\n    and ".join(parts)
    return f"  {keyword} {joined}\n" if joined else ""


# -- terms ------------------------------------------------------------------------------------------------------------


def formula_text(formula: Formula, types: Mapping[str, str] | None = None) -> str:
    r"""The closed formula as one term of type ``bool``, written without recursion; for types see :func:`symbol_types`.

    >>> from proof_r1_formal.text.parse import parse_formula
    >>> print(formula_text(parse_formula("rains ⊕ ∃x (x = tom)")))
    (p_rains \<noteq> (\<exists>v_x's_Entity::'s_Entity. (v_x's_Entity = f_tom)))
    """
    return _text(formula) if types is None else text_of(formula, _notation(types.__getitem__))


@lru_cache(maxsize=1 << 14)  # premises come back in query after query
def _text(formula: Formula) -> str:
    return text_of(formula, _NOTATION)


def term_text(term: Term) -> str:
    """A term as text.

    >>> from proof_r1_formal.kernel.syntax import App
    >>> term_text(App("father", (App("tom", ()),)))
    '(f_father f_tom)'
    """
    return text_of(term, _NOTATION)


def binder(variable: Var) -> str:
    """A variable that is bound, with its type."""
    return f"{variable_name(variable)}::{sort_name(variable.sort)}"


def sort_name(sort: str) -> str:
    """The type variable of a sort."""
    return f"'{mangle(sort, 's')}"


def variable_name(variable: Var) -> str:
    """The bound variable: its name and its sort."""
    return short_variable(variable.name, "v") + sort_name(variable.sort)


def _notation(type_: Callable[[str], str]) -> Notation:
    """How formulas are written, given the type of each sort."""

    def binder(symbol: str) -> Callable[[Var], Around]:
        return lambda variable: (rf"({symbol}{variable_name(variable)}::{type_(variable.sort)}. ", ")")

    return Notation(
        top="True",
        bottom="False",
        predicate=predicate_name,
        function=function_name,
        variable=variable_name,
        applied=lisp,
        equation=("(", " = ", ")"),
        negation=(r"(\<not> ", ")"),
        connectives=infix(_CONNECTIVES),
        universal=binder(r"\<forall>"),
        existential=binder(r"\<exists>"),
    )


_NOTATION = _notation(sort_name)
