"""Inference rules as data: schemata of patterns, what a rule is made of, and what a catalogue holds.

Patterns are those of ``kernel.pattern``. Under a quantifier, ``G`` without arguments stands for a formula in which the
bound variable is not free.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.pattern import require_letters
from proof_r1_formal.kernel.signature import symbols
from proof_r1_formal.kernel.syntax import App, Atom, Bottom, Eq, Formula, Not, Term, Top
from proof_r1_formal.kernel.transform import subformulas
from proof_r1_formal.text.parse import parse_formula
from proof_r1_formal.text.show import show

GOAL_BINDING = "GOAL_BINDING"
"""The rule of the terminal action: it binds the answer, it does not infer."""
INVALID_RULE = "INVALID_RULE"
"""The name under which credit and metrics count the steps whose rule is unknown; no rule may have it."""


class Condition(StrEnum):
    """Conditions of a schema beyond its patterns."""

    SYNTACTIC = "syntactic"
    """The conclusion has the pattern's form as written, not only up to logical equivalence."""
    HEADED = "headed"
    """The conclusion begins as the pattern does (∀, ∃, ¬∀, ¬∃), and is otherwise that of the instance up to negation
    normal form; being equivalent is not enough."""
    STATED = "stated"
    """Each minor premise is a spine element of a dependency, or is stated in parts that are: the conjuncts of ∧, ¬∨ and
    ¬→, and the operands of ⊕ inside ⊕. None is a tautology. Without it, a schema that has no principal premise takes
    any entailed A for an instance, as A ⊕ ⊥."""
    OWN_DEPENDENCIES = "own-dependencies"
    """The minor premises are dependencies themselves, a different one for each conjunct; being entailed is not
    enough."""
    AS_WRITTEN = "as-written"
    """Such a dependency is the minor premise (of a minor premise ∃y A(y), also one of its instances) up to negation
    normal form; being equivalent is not enough. Without it, ∃ is introduced from A(a), read as A(a) ∨ (A(a) ∧ B(a))."""
    REPLACED = "replaced"
    """Where the letters t and u stand for terms of an equation, the minor premises and the conclusion are one formula
    that has t at some places and u at the same ones. A dependency, or a part of its spine, is the minor premise."""
    CHAIN = "chain"
    """The result may be a principal premise again: one more dependency for each further use."""
    TERMINAL = "terminal"
    """Only the terminal action may use it, and its conclusion is the selected option's formula."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A sound inference: principal and minor premises, and the conclusion.

    Attributes:
        name: unique in its catalogue.
        principal: patterns anchored in the spine of a dependency each.
        minor: patterns that the other dependencies entail.
        conclusion: pattern of the conclusion.
        conditions: further requirements.
        lean, isabelle: names of the theorems that prove the schema.
        proof: a term that proves it in Lean, if it is not a theorem of the package; found if empty.
    """

    name: str
    principal: tuple[Formula, ...]
    minor: tuple[Formula, ...]
    conclusion: Formula
    conditions: frozenset[Condition] = frozenset()
    lean: str = ""
    isabelle: str = ""
    proof: str = ""
    open_terms: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """The names of its term variables: the constants of its patterns."""

    def __post_init__(self) -> None:
        found = [name for p in (*self.principal, *self.minor, self.conclusion) for name in sorted(symbols(p).functions)]
        object.__setattr__(self, "open_terms", tuple(dict.fromkeys(found)))

    @property
    def premises(self) -> tuple[Formula, ...]:
        """The patterns of all premises, the principal ones first."""
        return (*self.principal, *self.minor)


def schema(name: str, principal: str, minor: str, conclusion: str, *conditions: Condition, proof: str = "") -> Schema:
    """A schema from text, proved by the theorems of its name; several patterns are separated by ``;``.

    Args:
        name: unique in its catalogue.
        principal, minor: patterns in infix notation; empty for none.
        conclusion: one pattern.
        conditions: what else must hold.
        proof: see :class:`Schema`.

    Raises:
        ParseError: a pattern is not a formula.
    """

    def patterns(text: str) -> tuple[Formula, ...]:
        return tuple(parse_formula(part) for part in text.split(";") if part.strip())

    parts = patterns(principal), patterns(minor), parse_formula(conclusion)
    return Schema(name, *parts, frozenset(conditions), name, name, proof)


@dataclass(frozen=True, slots=True)
class Example:
    """A step that the rule accepts, as text."""

    dependencies: tuple[str, ...]
    conclusion: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule: its schemata are tried in order.

    Attributes:
        name: canonical name, upper case.
        meaning: one line for people and prompts.
        schemata: the forms that the rule takes.
        example: a step that it accepts.
    """

    name: str
    meaning: str
    schemata: tuple[Schema, ...]
    example: Example


@dataclass(frozen=True)
class Catalogue:
    """The rules that a model may name.

    Attributes:
        name: for reports.
        rules: in the order in which they are shown.
        aliases: other spelling -> canonical name, used only where the caller allows aliases.
        manifest: file that says which schemata are theorems, beside the package's own.
        unchecked: whether schemata may be used that are in no manifest; reports then say so.
        hypotheses: whether a step may stand under hypotheses, see ``rules.hypotheses``.
    """

    name: str
    rules: tuple[Rule, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    manifest: Path | None = None
    unchecked: bool = False
    hypotheses: bool = False

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        schemata = [s.name for rule in self.rules for s in rule.schemata]
        for kind, all_names in (("rule", names), ("schema", schemata)):
            repeated = sorted({n for n in all_names if all_names.count(n) > 1})
            if repeated:
                raise CatalogueError(f"catalogue {self.name}: {kind} {repeated[0]!r} is there twice")
        for name in (*names, *self.aliases):
            if _spelling(name) == _spelling(INVALID_RULE):
                counts = "credit and metrics count the steps under it whose rule is unknown"
                raise CatalogueError(f"catalogue {self.name}: the name {name!r} is reserved, as {counts}; rename it")
        for rule in self.rules:
            for schema in rule.schemata:
                _require_usable(self.name, schema)
        for alias, target in self.aliases.items():
            if target not in names:
                raise CatalogueError(f"catalogue {self.name}: alias {alias!r} names no rule of it ({target!r})")
        known: dict[str, tuple[str, str]] = {}  # what has a spelling, and the rule that it means
        spelled = [(name, f"rule {name!r}", name) for name in names]
        spelled += [(alias, f"alias {alias!r} of {target!r}", target) for alias, target in self.aliases.items()]
        for name, what, target in spelled:
            other, meant = known.setdefault(_spelling(name), (what, target))
            if meant != target:
                raise CatalogueError(
                    f"catalogue {self.name}: {other} and {what} have one spelling, as case, blanks, '-' and '_' make "
                    "no difference; rename one"
                )

    def __repr__(self) -> str:
        return f"<Catalogue {self.name}: {len(self.rules)} rules>"

    @cached_property
    def _by_name(self) -> dict[str, Rule]:
        return {rule.name: rule for rule in self.rules}

    @cached_property
    def _by_spelling(self) -> dict[str, Rule]:
        spelled = {**self.aliases, **{rule.name: rule.name for rule in self.rules}}
        return {_spelling(name): self._by_name[target] for name, target in spelled.items()}

    def find(self, name: str, *, aliases: bool = False) -> Rule | None:
        """The rule of that canonical name, or None.

        Args:
            name: as written.
            aliases: whether aliases count too, and any spelling: case, blanks, ``-`` and ``_`` make no difference.
        """
        rule = self._by_name.get(name)
        return self._by_spelling.get(_spelling(name)) if rule is None and aliases else rule


def _spelling(name: str) -> str:
    """The name without case, blanks, ``-`` and ``_``: spellings of one name have this in common."""
    return re.sub(r"[\s_-]+", "", name).casefold()


def _require_usable(catalogue: str, schema: Schema) -> None:
    """Refuse a schema that no step could be checked with: with a formula that cannot be matched, or an unknown letter.

    Principal patterns are matched, and so is the conclusion of a ``SYNTACTIC`` schema; all other letters for formulas
    must stand there. One letter for a term may be left open: it is tried with every term.
    """
    patterns = (*schema.premises, schema.conclusion)
    written = (schema.conclusion,) if Condition.SYNTACTIC in schema.conditions else ()
    matched = (*schema.principal, *written)
    try:
        require_letters(patterns)
        for pattern in patterns:
            equations = Condition.REPLACED in schema.conditions or pattern in written
            _require_pattern(pattern, matched=pattern in matched, equations=equations)
    except CatalogueError as error:
        raise CatalogueError(f"catalogue {catalogue}: schema {schema.name!r}: {error}") from error
    if Condition.REPLACED in schema.conditions:
        _require_replacement(catalogue, schema)
        return
    bound = {name for pattern in matched for name, _ in symbols(pattern).uses}
    uses = [use for pattern in (*schema.minor, schema.conclusion) for use in symbols(pattern).uses]
    open_formulas = sorted({name for name, (kind, _) in uses if kind == "predicate" and name not in bound})
    open_terms = sorted({name for name, (kind, _) in uses if kind != "predicate" and name not in bound})
    if open_formulas or len(open_terms) > 1:
        letters = ", ".join(open_formulas or open_terms)
        raise CatalogueError(
            f"catalogue {catalogue}: schema {schema.name!r}: nothing says what {letters} stands for; it must stand in "
            f"a principal premise, or in the conclusion of a schema whose condition is {Condition.SYNTACTIC.value!r}"
        )


def _require_replacement(catalogue: str, schema: Schema) -> None:
    """Refuse a schema of replaced terms that has neither of the two forms there are."""
    match schema.principal, schema.minor, schema.conclusion:
        case (Eq(t, u),), (Atom(before, (first,)),), Atom(after, (second,)) if before == after:
            fits = (first, second) == (t, u)
        case (), (Atom(before, (first,)), Not(Atom(after, (second,)))), Not(Eq(t, u)) if before == after:
            fits = (first, second) == (t, u)
        case _:
            fits = False
    if not fits:
        raise CatalogueError(
            f"catalogue {catalogue}: schema {schema.name!r}: the condition {Condition.REPLACED.value!r} is for the "
            "forms '[t = u]; A(t) ⊢ A(u)' and 'A(t); ¬A(u) ⊢ ¬(t = u)' only"
        )


def _require_pattern(formula: Formula, *, matched: bool, equations: bool) -> None:
    """Refuse a formula that cannot be a pattern; in one that is matched, letters apply to bound variables only.

    ``equations``: whether it may equate letters.
    """
    for part in subformulas(formula):
        if isinstance(part, Top | Bottom) or (isinstance(part, Eq) and not equations):
            raise CatalogueError(f"a pattern cannot contain {type(part).__name__}; {show(formula)} does")
        if isinstance(part, Eq) and not (_is_letter(part.left) and _is_letter(part.right)):
            raise CatalogueError(f"a pattern equates letters for terms only; {show(formula)} does not")
        if not isinstance(part, Atom):
            continue
        terms = [argument for argument in part.arguments if isinstance(argument, App)]
        if any(term.arguments for term in terms):
            raise CatalogueError(f"a pattern cannot apply a function; {show(formula)} does")
        if terms and matched:
            raise CatalogueError(
                f"{show(formula)} is matched, so its letters may apply to bound variables only, not to terms"
            )


def _is_letter(term: Term) -> bool:
    return isinstance(term, App) and not term.arguments
