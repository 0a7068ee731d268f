"""Hypothesis strategies for problems, and for attempts at them that are valid by construction.

In: a rule catalogue. Out: an :class:`Attempt`, a problem with the actions of a proof, whose ``completion`` is what a
model would have written. A *valid* attempt passes all four checks at every action: each is an instance of a schema of
the catalogue over drawn formulas, with the premises that the schema requires, and two structures show that every
conclusion is new. Examples shrink towards one short step over atoms.

One module, because the strategies of steps, problems and proofs draw from each other.

>>> from hypothesis import given
>>> from proof_r1_formal.proof.verify import Verifier
>>> verifier = Verifier()
>>> @given(valid_attempts())
... def every_action_passes(attempt):
...     report = verifier.verify(attempt.problem, attempt.completion)
...     assert all(step.signal == 1.0 for step in report.actions)
>>> every_action_passes()
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, product
from random import Random
from typing import TypeAlias

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from hypothesis.vendor.pretty import RepresentationPrinter

from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, Problem, three_way_options
from proof_r1_formal.kernel.model import Structure, evaluate
from proof_r1_formal.kernel.pattern import Lambda, instance
from proof_r1_formal.kernel.signature import FunctionType, Signature, ground_terms, symbols
from proof_r1_formal.kernel.syntax import ENTITY, And, App, Exists, ForAll, Formula, Not, Term, Var
from proof_r1_formal.kernel.transform import subformulas, substitute
from proof_r1_formal.proof.step import QUANTIFIER_NEGATION
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.matching import matches
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue, Condition, Rule, Schema
from proof_r1_formal.testing.formulas import letters, numbered, structure
from proof_r1_formal.testing.mutations import Step
from proof_r1_formal.testing.strategies import formulas, signatures, structures, terms
from proof_r1_formal.text.show import show

Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None


# -- what is drawn ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Attempt:
    """A problem and well-formed actions. Its text has one premise or step per line."""

    problem: Problem
    steps: tuple[Step, ...]

    @property
    def completion(self) -> str:
        """The actions as the completion of a model."""
        return completion_of([step.record() for step in self.steps])

    def __repr__(self) -> str:
        lines = [f"{premise.id}: {show(premise.formula)}" for premise in self.problem.premises]
        lines += [f"{s.id}: {show(s.conclusion)}  [{s.rule}: {', '.join(s.dependencies)}]" for s in self.steps]
        return "\n".join(["Attempt", *[f"  {line}" for line in lines]])

    def _repr_pretty_(self, printer: RepresentationPrinter, _: bool) -> None:
        printer.text(repr(self))  # what Hypothesis shows


def completion_of(elements: Sequence[Json]) -> str:
    """A completion whose summary contains exactly these elements, escaped so that none looks like ``</summary>``."""
    escaped = json.dumps(elements, ensure_ascii=False).replace("<", "\\u003c")
    return f"<summary>{escaped}</summary>"


# -- problems ---------------------------------------------------------------------------------------------------------


@st.composite
def problems(
    draw: DrawFn,
    signature: Signature | None = None,
    *,
    consistent: bool | None = None,
    equality: bool = True,
    max_premises: int = 4,
    max_size: int = 8,
) -> Problem:
    """Problems with the three options of the datasets. The answer is one of them or unknown; it need not be right.

    Args:
        signature: the symbols that may occur; drawn if None.
        consistent: whether the premises have a model; either if None.
        equality, max_size: of each formula, as in :func:`~proof_r1_formal.testing.strategies.formulas`.
        max_premises: at least 2.
    """
    signature = draw(signatures()) if signature is None else signature
    formula = formulas(signature, equality=equality, max_size=max_size)
    model = draw(structures(signature))
    consistent = draw(st.booleans()) if consistent is None else consistent
    premises = [_true_in(model, drawn) for drawn in draw(st.lists(formula, max_size=max_premises - 2))]
    if not consistent:
        contrary = draw(formula)
        premises += [contrary, Not(contrary)]
    options = three_way_options(draw(formula))
    answer = draw(st.none() | st.sampled_from([option.id for option in options]))
    return Problem("drawn/1", numbered(premises), options, answer)


def _true_in(model: Structure, formula: Formula) -> Formula:
    return formula if evaluate(formula, model) else Not(formula)


# -- valid attempts ---------------------------------------------------------------------------------------------------


def valid_attempts(
    catalogue: Catalogue = TRAIN,
    *,
    signature: Signature | None = None,
    consistent: bool = True,
    equality: bool = False,
    max_steps: int = 4,
    max_size: int = 3,
) -> SearchStrategy[Attempt]:
    """Attempts in which every action passes all four checks, if the catalogue's rules are sound.

    If they have GOAL_BINDING, the last action binds the right answer. A rule whose conclusions only restate its
    premises never makes progress, so there is no valid attempt with it.

    Args:
        catalogue: whose schemata the steps are instances of; all but GOAL_BINDING have the same chance.
        signature: the symbols that may occur, at least one constant among them; a few plain ones if None.
        consistent: whether the premises have a model. If not, it is for two that no step uses.
        equality: whether ``=`` may occur.
        max_steps: without the binding of the answer.
        max_size: of what a letter of a schema stands for.
    """
    chosen = _SIGNATURES if signature is None else (signature,)
    return st.one_of([_attempts(catalogue, s, consistent, equality, max_steps, max_size) for s in chosen])


def _attempts(
    catalogue: Catalogue, signature: Signature, consistent: bool, equality: bool, max_steps: int, max_size: int
) -> SearchStrategy[Attempt]:
    recipes = st.lists(_recipes(catalogue, signature, equality, max_size), min_size=1, max_size=max_steps)
    aside = formulas(signature, equality=equality, max_size=max_size)
    various = _various(signature)

    @st.composite
    def attempts(draw: DrawFn) -> Attempt:
        model = draw(structures(signature, max_elements=2))
        builder = _Builder(model, various)
        for recipe in draw(recipes):
            builder.add(recipe)
        if not builder.steps:
            reject()
        premises = [*builder.premises.values(), *[_true_in(model, f) for f in draw(st.lists(aside, max_size=2))]]
        if not consistent:
            contrary = draw(aside)
            premises += [contrary, Not(contrary)]
        last = builder.steps[-1]
        goal, answer = last.conclusion, GOAL_TRUE
        if isinstance(goal, Not):
            goal, answer = goal.body, GOAL_FALSE
        problem = Problem("drawn/1", numbered(premises), three_way_options(goal), answer)
        if not _tells_sorts(problem, [step.conclusion for step in builder.steps]):
            reject()
        binding = Step(answer, (last.id,), last.conclusion, GOAL_BINDING)
        return Attempt(problem, (*builder.steps, *([binding] if catalogue.find(GOAL_BINDING) else [])))

    return attempts()


def _tells_sorts(problem: Problem, conclusions: Sequence[Formula]) -> bool:
    """Whether the problem has all sorts of the conclusions, and every symbol one sort in whatever company it is."""
    whole = Signature.infer((*problem.formulas(), *conclusions))
    known = problem.signature()
    return set(whole.sorts) <= {ENTITY, *known.sorts} and all(
        part.predicates.items() <= whole.predicates.items() and part.functions.items() <= whole.functions.items()
        for part in (known, *[Signature.infer((*problem.formulas(), conclusion)) for conclusion in conclusions])
    )


_PLAIN = Signature(
    {"P": (ENTITY,), "Q": (ENTITY,), "R": (ENTITY, ENTITY), "S": ()},
    {"a": FunctionType((), ENTITY), "b": FunctionType((), ENTITY)},
)
_SORTED = Signature(
    {"cat": ("Animal",), "likes": (ENTITY, "Animal"), "kind": (ENTITY,)},
    {"tom": FunctionType((), "Animal"), "ann": FunctionType((), ENTITY)},
    (ENTITY, "Animal"),
)
_SIGNATURES = (_PLAIN, _SORTED)
_FORMS = ("plain", "universal", "first of two", "second of two", "twice negated")


@dataclass(frozen=True, slots=True)
class _Recipe:
    """A step that does not know yet where it will stand, so that steps can be left out in shrinking."""

    rule: Rule
    schema: Schema
    letters: Mapping[str, Lambda | Term]  # what variables of the schema stand for, unless a known formula decides that
    parameter: Var  # free in the letters; a new premise may be universal in it
    term: Term  # stands for the parameter in the step
    links: tuple[int, ...]  # for each premise of the schema, 0 for a new one, or which of the fitting known formulas
    forms: tuple[str, ...]  # for each premise of the schema, how a new one says it, one of ``_FORMS``
    spare: Formula  # what a new premise may say beside


def _recipes(catalogue: Catalogue, signature: Signature, equality: bool, max_size: int) -> SearchStrategy[_Recipe]:
    """Every rule that infers has the same chance. Variables and terms of a step are of one sort."""
    rules = st.sampled_from([rule for rule in catalogue.rules if rule.name != GOAL_BINDING])
    sorts = st.sampled_from(sorted({kind.result for kind in signature.functions.values() if not kind.arguments}))
    taken = {*signature.predicates, *signature.functions}

    @cache  # a strategy costs more to make than to draw from
    def bodies(*free: Var) -> SearchStrategy[Formula]:
        return formulas(signature, equality=equality, max_size=max_size, free=free)

    @st.composite
    def recipes(draw: DrawFn) -> _Recipe:
        rule = draw(rules)
        schema, sort = draw(st.sampled_from(rule.schemata)), draw(sorts)
        patterns = (*schema.premises, schema.conclusion)
        bound = [part.variable.name for p in patterns for part in subformulas(p) if isinstance(part, ForAll | Exists)]
        fresh = (Var(name, sort) for name in (f"x{number}" for number in count()) if name not in taken)
        parameter, variables = next(fresh), {name: next(fresh) for name in dict.fromkeys(bound)}
        drawn = letters(
            patterns, lambda _, holes: draw(bodies(*holes, parameter)), lambda: draw(terms(signature, sort)), sort
        )
        links = tuple([draw(st.integers(0, 3)) for _ in schema.premises])
        forms = tuple([draw(st.sampled_from(_FORMS)) for _ in schema.premises])
        return _Recipe(
            rule, schema, variables | drawn, parameter, draw(terms(signature, sort)), links, forms, draw(bodies())
        )

    return recipes()


class _Builder:
    """Builds an attempt step by step; every premise that it adds is true in the model."""

    def __init__(self, model: Structure, various: Sequence[Structure]) -> None:
        self.premises: dict[str, Formula] = {}
        self.steps: list[Step] = []
        self._model = model
        self._structures = (model, *various)

    def add(self, recipe: _Recipe) -> None:
        """Add the step, if its conclusion is new and its premises can be true."""
        schema = recipe.schema
        patterns = schema.premises
        known = {**self.premises, **{step.id: step.conclusion for step in self.steps}}
        linked, substitution = self._linked(recipe, patterns, known)
        new = [pattern for pattern, name in zip(patterns, linked, strict=True) if name is None]
        for complete in _completions(recipe, substitution):
            if all(evaluate(_closed(recipe, instance(pattern, complete)), self._model) for pattern in new):
                break
        else:
            return
        forms = (_FORMS[0],) * len(patterns) if Condition.OWN_DEPENDENCIES in schema.conditions else recipe.forms
        added: dict[str, Formula] = {}
        dependencies: list[str] = []
        for pattern, name, form in zip(patterns, linked, forms, strict=True):
            if name is None:
                name = f"h{len(self.premises) + len(added) + 1}"
                added[name] = self._premise(recipe, instance(pattern, complete), form)
            dependencies.append(name)
        conclusion = _closed(recipe, instance(schema.conclusion, complete))
        substantial = patterns if Condition.STATED in schema.conditions else schema.principal
        elements = [_closed(recipe, instance(pattern, complete)) for pattern in substantial]
        earlier = {**known, **added}
        shown = set(
            ground_terms([*[earlier[name] for name in dependencies], conclusion]).get(recipe.parameter.sort, ())
        )
        needed: set[Term] = {value for value in complete.values() if isinstance(value, App)}
        if any(isinstance(f, ForAll) and f.variable is recipe.parameter for f in added.values()):
            needed.add(recipe.term)
        exempt = dependencies if recipe.rule.name == QUANTIFIER_NEGATION else []
        named = {*dependencies, *[step.id for step in self.steps]}
        if (
            needed <= shown  # a rule is tried with the terms of the step
            and all(len(set(self._truth(element))) == 2 for element in elements)
            and self._is_new(conclusion, [earlier[name] for name in named if name not in exempt])
        ):
            self.premises |= added
            self.steps.append(Step(f"s{len(self.steps) + 1}", tuple(dependencies), conclusion, recipe.rule.name))

    def _linked(
        self, recipe: _Recipe, patterns: Sequence[Formula], known: Mapping[str, Formula]
    ) -> tuple[list[str | None], Mapping[str, Lambda | Term]]:
        """For each pattern the known formula that is an instance of it, or None; and what that makes of the letters."""
        substitution = {name: value for name, value in recipe.letters.items() if isinstance(value, Var)}
        found: Mapping[str, Lambda | Term] = substitution
        names: dict[int, str] = {}
        order = sorted(range(len(patterns)), key=lambda index: patterns[index].size)  # a letter alone fits anything
        for index in order:
            pattern, link = patterns[index], recipe.links[index]
            fitting: list[tuple[str, Mapping[str, Lambda | Term]]] = []
            if link and not symbols(pattern).functions:  # one with a term in it cannot be matched
                fitting = [
                    (name, extended)
                    for name in reversed(list(known))
                    if name not in names.values()
                    for extended in matches(pattern, known[name], found)
                ]
            if fitting:
                name, found = fitting[(link - 1) % len(fitting)]
                names[index] = name
        return [names.get(index) for index in range(len(patterns))], found

    def _premise(self, recipe: _Recipe, wanted: Formula, form: str) -> Formula:
        """A premise that is true in the model and has ``wanted``, closed, in its spine."""
        plain, universal = _closed(recipe, wanted), ForAll(recipe.parameter, wanted)
        spare = _true_in(self._model, recipe.spare)
        general = universal if wanted is not plain and evaluate(universal, self._model) else plain
        ways = (plain, general, And(plain, spare), And(spare, plain), Not(Not(plain)))
        return dict(zip(_FORMS, ways, strict=True))[form]

    def _truth(self, formula: Formula) -> list[bool]:
        """In which structures the formula is true."""
        return [evaluate(formula, structure) for structure in self._structures]

    def _is_new(self, conclusion: Formula, others: Sequence[Formula]) -> bool:
        """Whether structures tell the conclusion from a tautology and from each of the other formulas."""
        truth = self._truth(conclusion)
        return not all(truth) and all(truth != self._truth(other) for other in others)


def _closed(recipe: _Recipe, formula: Formula) -> Formula:
    return substitute(formula, {recipe.parameter: recipe.term})


def _completions(recipe: _Recipe, substitution: Mapping[str, Lambda | Term]) -> Iterator[Mapping[str, Lambda | Term]]:
    """The substitution with the recipe's letters where it has none, each as it was drawn or negated."""
    missing = {name: value for name, value in recipe.letters.items() if name not in substitution}
    formulas_ = [(name, value) for name, value in missing.items() if isinstance(value, Lambda)]
    for negated in product((False, True), repeat=len(formulas_)):
        changed = {
            name: Lambda(value.variables, Not(value.body)) if flip else value
            for (name, value), flip in zip(formulas_, negated, strict=True)
        }
        yield {**missing, **substitution, **changed}


def _various(signature: Signature, *, number: int = 30) -> list[Structure]:
    """Structures of one to three elements, always the same ones."""
    random = Random(0)
    return [structure(random, signature, dict.fromkeys(signature.sorts, index % 3 + 1)) for index in range(number)]
