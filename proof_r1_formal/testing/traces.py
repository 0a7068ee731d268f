"""Hypothesis strategies for problems and for attempts at them: valid by construction, corrupted in named ways, garbage.

In: a rule catalogue. Out: an :class:`Attempt`, a problem with the actions of a proof, whose ``completion`` is what a
model would have written. A *valid* attempt passes all four checks at every action: each is an instance of a schema of
the catalogue over drawn formulas, with the premises that the schema asks for, and two structures show of every
conclusion that it says something new. A *corrupted* one has a single named flaw. Everything shrinks: towards one short
step over atoms.

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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto
from functools import cache
from itertools import count, islice, product
from random import Random
from types import MappingProxyType
from typing import TypeAlias, TypeVar, assert_never, get_args

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from hypothesis.vendor.pretty import RepresentationPrinter

from proof_r1_formal.data.problem import GOAL_FALSE, GOAL_TRUE, Premise, Problem, three_way_options
from proof_r1_formal.logic.model import Structure, evaluate
from proof_r1_formal.logic.pattern import Lambda, instance
from proof_r1_formal.logic.show import Notation, show
from proof_r1_formal.logic.signature import FunctionType, Signature, ground_terms
from proof_r1_formal.logic.symbols import symbols
from proof_r1_formal.logic.syntax import (
    ENTITY,
    And,
    App,
    Atom,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Var,
    Xor,
    const,
)
from proof_r1_formal.logic.transform import size, subformulas, substitute
from proof_r1_formal.proof.action import FIELDS, MAX_DEPENDENCIES
from proof_r1_formal.proof.report import Code
from proof_r1_formal.proof.verify import QUANTIFIER_NEGATION
from proof_r1_formal.rules.catalogue import TRAIN
from proof_r1_formal.rules.matching import matches
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue, Condition, Rule, Schema
from proof_r1_formal.testing.strategies import formulas, signatures, structures, terms

_T = TypeVar("_T")
Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None


# -- what is drawn ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """A well-formed action before it is written."""

    id: str
    dependencies: tuple[str, ...]
    conclusion: Formula
    rule: str

    def record(self, notation: Notation = "unicode") -> dict[str, Json]:
        """The element of the summary's array."""
        return {
            "id": self.id,
            "dependencies": self.dependencies,
            "conclusion": show(self.conclusion, notation),
            "rule": self.rule,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Attempt:
    """A problem and well-formed actions; printed as premises and steps, one a line."""

    problem: Problem
    steps: tuple[Step, ...]

    @property
    def completion(self) -> str:
        """The actions as a model would write them."""
        return written([step.record() for step in self.steps])

    def __repr__(self) -> str:
        lines = [f"{premise.id}: {show(premise.formula)}" for premise in self.problem.premises]
        lines += [f"{s.id}: {show(s.conclusion)}  [{s.rule}: {', '.join(s.dependencies)}]" for s in self.steps]
        return "\n".join(["Attempt", *[f"  {line}" for line in lines]])

    def _repr_pretty_(self, printer: RepresentationPrinter, _: bool) -> None:
        printer.text(repr(self))  # what Hypothesis shows


def written(elements: Sequence[Json]) -> str:
    """A completion whose summary holds the elements and nothing else."""
    return f"<summary>{json.dumps(elements, ensure_ascii=False)}</summary>"


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
    return Problem("drawn/1", _named(premises), options, answer)


def _true_in(model: Structure, formula: Formula) -> Formula:
    return formula if evaluate(formula, model) else Not(formula)


def _named(premises: Sequence[Formula]) -> tuple[Premise, ...]:
    return tuple([Premise(f"h{number}", formula) for number, formula in enumerate(premises, 1)])


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
    various = tuple(_various(signature))

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
        problem = Problem("drawn/1", _named(premises), three_way_options(goal), answer)
        binding = Step(answer, (last.id,), last.conclusion, GOAL_BINDING)
        return Attempt(problem, (*builder.steps, *([binding] if catalogue.find(GOAL_BINDING) else [])))

    return attempts()


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


class _Form(Enum):
    """How a new premise says what the schema asks for."""

    PLAIN = auto()
    UNIVERSAL = auto()
    FIRST_OF_TWO = auto()
    SECOND_OF_TWO = auto()
    TWICE_NEGATED = auto()


@dataclass(frozen=True, slots=True)
class _Recipe:
    """A step that does not know yet where it will stand, so that steps can be left out in shrinking.

    Attributes:
        rule, schema: what it is an instance of.
        letters: what the variables of the schema stand for, unless a known formula decides that.
        parameter: free in the letters; a new premise may be universal in it.
        term: stands for the parameter in the step.
        links: for each premise of the schema, 0 for a new premise, or which known formula to take if one fits.
        forms: for each premise of the schema, how a new one is written.
        spare: what a new premise may say beside.
    """

    rule: Rule
    schema: Schema
    letters: Mapping[str, Lambda | Term]
    parameter: Var
    term: Term
    links: tuple[int, ...]
    forms: tuple[_Form, ...]
    spare: Formula


def _recipes(catalogue: Catalogue, signature: Signature, equality: bool, max_size: int) -> SearchStrategy[_Recipe]:
    """Every rule that infers has the same chance."""
    sorts = sorted({kind.result for kind in signature.functions.values() if not kind.arguments})
    rules = [rule for rule in catalogue.rules if rule.name != GOAL_BINDING]

    @cache  # a strategy costs more to make than to draw from
    def recipes_of(rule: Rule, schema: Schema, sort: str) -> SearchStrategy[_Recipe]:
        return _instances(rule, schema, signature, sort, equality, max_size)

    @st.composite
    def recipes(draw: DrawFn) -> _Recipe:
        rule = draw(st.sampled_from(rules))
        return draw(recipes_of(rule, draw(st.sampled_from(rule.schemata)), draw(st.sampled_from(sorts))))

    return recipes()


def _instances(
    rule: Rule, schema: Schema, signature: Signature, sort: str, equality: bool, max_size: int
) -> SearchStrategy[_Recipe]:
    """Recipes for steps of a schema whose variables and terms are of a sort."""
    patterns = (*schema.principal, *schema.minor, schema.conclusion)
    taken = {*signature.predicates, *signature.functions}
    fresh = (Var(name, sort) for name in (f"x{number}" for number in count()) if name not in taken)
    parameter = next(fresh)
    letters: dict[str, SearchStrategy[Lambda | Term]] = {}
    for pattern in patterns:
        for part in subformulas(pattern):
            if isinstance(part, ForAll | Exists):
                letters.setdefault(part.variable.name, st.just(next(fresh)))
        for name, (kind, arity) in symbols(pattern).uses:
            if kind == "predicate":
                holes = tuple(islice(fresh, arity))
                body = formulas(signature, equality=equality, max_size=max_size, free=(*holes, parameter))
                letters.setdefault(name, st.builds(Lambda, st.just(holes), body))
            else:
                letters.setdefault(name, terms(signature, sort))
    premises = len(patterns) - 1
    return st.builds(
        _Recipe,
        st.just(rule),
        st.just(schema),
        st.fixed_dictionaries(letters),
        st.just(parameter),
        terms(signature, sort),
        st.tuples(*[st.integers(0, 3)] * premises),
        st.tuples(*[st.sampled_from(_Form)] * premises),
        formulas(signature, equality=equality, max_size=max_size),
    )


class _Builder:
    """Puts steps one after the other; every premise it adds is true in the model."""

    def __init__(self, model: Structure, various: tuple[Structure, ...]) -> None:
        self.premises: dict[str, Formula] = {}
        self.steps: list[Step] = []
        self._model = model
        self._structures = (model, *various)

    def add(self, recipe: _Recipe) -> None:
        """Add the step, if it says something new and the premises it needs can be true."""
        schema = recipe.schema
        patterns = (*schema.principal, *schema.minor)
        known = {**self.premises, **{step.id: step.conclusion for step in self.steps}}
        linked, substitution = self._linked(recipe, patterns, known)
        new = [pattern for pattern, name in zip(patterns, linked, strict=True) if name is None]
        for complete in _completions(recipe, substitution):
            if all(evaluate(_closed(recipe, instance(pattern, complete)), self._model) for pattern in new):
                break
        else:
            return
        forms = (_Form.PLAIN,) * len(patterns) if Condition.OWN_DEPENDENCIES in schema.conditions else recipe.forms
        added: dict[str, Formula] = {}
        dependencies: list[str] = []
        for pattern, name, form in zip(patterns, linked, forms, strict=True):
            if name is None:
                name = f"h{len(self.premises) + len(added) + 1}"
                added[name] = self._premise(recipe, instance(pattern, complete), form)
            dependencies.append(name)
        conclusion = _closed(recipe, instance(schema.conclusion, complete))
        elements = [_closed(recipe, instance(pattern, complete)) for pattern in schema.principal]
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
            and all(0 < self._truth(element) < self._everywhere for element in elements)
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
        order = sorted(range(len(patterns)), key=lambda index: size(patterns[index]))  # a letter alone fits anything
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

    def _premise(self, recipe: _Recipe, wanted: Formula, form: _Form) -> Formula:
        """A premise that is true in the model and has ``wanted``, closed, in its spine."""
        plain = _closed(recipe, wanted)
        match form:
            case _Form.PLAIN:
                return plain
            case _Form.UNIVERSAL:
                universal = ForAll(recipe.parameter, wanted)
                return universal if wanted is not plain and evaluate(universal, self._model) else plain
            case _Form.FIRST_OF_TWO:
                return And(plain, _true_in(self._model, recipe.spare))
            case _Form.SECOND_OF_TWO:
                return And(_true_in(self._model, recipe.spare), plain)
            case _Form.TWICE_NEGATED:
                return Not(Not(plain))
        assert_never(form)

    @property
    def _everywhere(self) -> int:
        return (1 << len(self._structures)) - 1

    def _truth(self, formula: Formula) -> int:
        """In which structures the formula is true, as bits."""
        return sum(evaluate(formula, structure) << bit for bit, structure in enumerate(self._structures))

    def _is_new(self, conclusion: Formula, others: Sequence[Formula]) -> bool:
        """Whether structures tell the conclusion from a tautology and from each of the other formulas."""
        truth = self._truth(conclusion)
        return truth != self._everywhere and all(truth != self._truth(other) for other in others)


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


def _various(signature: Signature, *, number: int = 30) -> Iterator[Structure]:
    """Structures of one to three elements, always the same ones."""
    random = Random(0)
    for index in range(number):
        domains = dict.fromkeys(signature.sorts, index % 3 + 1)

        def rows(sorts: tuple[str, ...], domains: dict[str, int] = domains) -> list[tuple[int, ...]]:
            return list(product(*[range(domains[sort]) for sort in sorts]))

        yield Structure(
            domains,
            {
                p: frozenset([r for r in rows(sorts) if random.random() < 0.5])
                for p, sorts in signature.predicates.items()
            },
            {
                f: {row: random.randrange(domains[kind.result]) for row in rows(kind.arguments)}
                for f, kind in signature.functions.items()
            },
        )


# -- corrupted attempts -----------------------------------------------------------------------------------------------


class Corruption(StrEnum):
    """What is wrong with a corrupted attempt."""

    # what an action rests on
    DROPPED_DEPENDENCY = "a dependency is left out"
    SWAPPED_DEPENDENCY = "another premise or earlier action stands in place of a dependency"
    UNKNOWN_DEPENDENCY = "a dependency names nothing"
    FORWARD_REFERENCE = "a dependency is the action itself or a later one"
    TOO_MANY_DEPENDENCIES = "five dependencies or more"
    # what it says
    WRONG_RULE = "another rule of the catalogue"
    UNKNOWN_RULE = "a rule that the catalogue does not have"
    NEGATED_CONCLUSION = "the negation of the conclusion"
    CONVERSE = "the conclusion, or a premise the action rests on, with an implication turned round"
    WEAKENED_CONCLUSION = "the conclusion or something else"
    TAUTOLOGY = "the conclusion or its negation"
    REPEATED_CONCLUSION = "the action once more, under another id"
    UNPARSABLE_CONCLUSION = "a conclusion that is no formula"
    SYMBOL_CLASH = "a predicate with one argument too many"
    WRONG_OPTION = "the binding under the id of an option with another formula"
    # how it is written
    DUPLICATE_ID = "the id of a premise or of an earlier action"
    EXTRA_FIELD = "a fifth field"
    MISSING_FIELD = "one of the four fields is left out"
    WRONG_TYPE = "a field with a value of another type"
    NOT_AN_OBJECT = "something else in place of the action"
    BAD_JSON = "the summary is no JSON"
    TRUNCATED = "the completion ends inside of the summary"


FINDINGS: Mapping[Corruption, Code] = MappingProxyType(
    {
        Corruption.UNKNOWN_DEPENDENCY: Code.MISSING_DEPENDENCY,
        Corruption.FORWARD_REFERENCE: Code.UNTRUSTED_DEPENDENCY,
        Corruption.TOO_MANY_DEPENDENCIES: Code.TOO_MANY_DEPENDENCIES,
        Corruption.UNKNOWN_RULE: Code.UNKNOWN_RULE,
        Corruption.NEGATED_CONCLUSION: Code.NOT_ENTAILED,
        Corruption.TAUTOLOGY: Code.TAUTOLOGY,
        Corruption.REPEATED_CONCLUSION: Code.REPEATS_CONCLUSION,
        Corruption.UNPARSABLE_CONCLUSION: Code.UNPARSABLE_CONCLUSION,
        Corruption.SYMBOL_CLASH: Code.SYMBOL_CLASH,
        Corruption.WRONG_OPTION: Code.BINDING_MISMATCH,
        Corruption.DUPLICATE_ID: Code.DUPLICATE_ID,
        Corruption.EXTRA_FIELD: Code.EXTRA_FIELD,
        Corruption.MISSING_FIELD: Code.MISSING_FIELD,
        Corruption.WRONG_TYPE: Code.WRONG_TYPE,
        Corruption.NOT_AN_OBJECT: Code.NOT_AN_OBJECT,
        Corruption.BAD_JSON: Code.MALFORMED,
        Corruption.TRUNCATED: Code.MALFORMED,
    }
)
"""What the corrupted action is always found to be, with sound rules; corruptions that may do no harm are not here."""


@dataclass(frozen=True, slots=True, repr=False)
class Corrupted:
    """An attempt with one flaw.

    Attributes:
        corruption: which.
        original: the attempt without it.
        index: of the action that has it; 0 if the completion cannot be read.
        attempt: with it, as far as actions that are well formed can have it; else the original.
        text: the completion, if it is not the one of the attempt.
    """

    corruption: Corruption
    original: Attempt
    index: int
    attempt: Attempt
    text: str | None = None

    @property
    def problem(self) -> Problem:
        """The problem; it differs from the original one if a premise has the flaw."""
        return self.attempt.problem

    @property
    def completion(self) -> str:
        """What a model would have written."""
        return self.attempt.completion if self.text is None else self.text

    def __repr__(self) -> str:
        shown = repr(self.attempt) if self.text is None else f"{self.attempt!r}\n  written as {self.text}"
        return f"{self.corruption.name} at action {self.index} of {shown}"

    def _repr_pretty_(self, printer: RepresentationPrinter, _: bool) -> None:
        printer.text(repr(self))  # what Hypothesis shows


def corrupted_attempts(
    attempts: SearchStrategy[Attempt] | None = None,
    *,
    catalogue: Catalogue = TRAIN,
    corruptions: Collection[Corruption] = tuple(Corruption),
) -> SearchStrategy[Corrupted]:
    """Attempts with one flaw each.

    Args:
        attempts: what to corrupt; valid ones if None.
        catalogue: of those attempts.
        corruptions: which flaws there may be.
    """
    sound = valid_attempts(catalogue) if attempts is None else attempts
    flaws = st.sampled_from([corruption for corruption in Corruption if corruption in corruptions])

    @st.composite
    def corrupted(draw: DrawFn) -> Corrupted:
        attempt = draw(sound)
        corruption = draw(flaws)
        inferences = [index for index, step in enumerate(attempt.steps) if step.rule != GOAL_BINDING]
        index = draw(st.sampled_from(inferences))
        if corruption is Corruption.WRONG_OPTION:
            index = len(attempt.steps) - 1
        if (changed := _changed_steps(draw, attempt, index, corruption, catalogue)) is not None:
            index += corruption is Corruption.REPEATED_CONCLUSION
            return Corrupted(corruption, attempt, index, changed)
        records: list[Json] = [step.record() for step in attempt.steps]
        records[index] = _changed_record(draw, attempt, index, corruption)
        text = written(records)
        if corruption in (Corruption.BAD_JSON, Corruption.TRUNCATED):
            text, index = _changed_text(draw, text, corruption), 0
        return Corrupted(corruption, attempt, index, attempt, text)

    return corrupted()


def _changed_steps(
    draw: DrawFn, attempt: Attempt, index: int, corruption: Corruption, catalogue: Catalogue
) -> Attempt | None:
    """The attempt with other well-formed actions; None if the corruption is none of that kind."""
    step, later = attempt.steps[index], [step.id for step in attempt.steps[index:]]
    earlier = [*[premise.id for premise in attempt.problem.premises], *[s.id for s in attempt.steps[:index]]]

    def other_dependency(names: Sequence[str]) -> Step:
        position = draw(st.integers(0, len(step.dependencies) - 1)) if step.dependencies else 0
        before, after = step.dependencies[:position], step.dependencies[position + 1 :]
        return replace(step, dependencies=(*before, *([_one_of(draw, names)] if names else []), *after))

    match corruption:
        case Corruption.DROPPED_DEPENDENCY:
            changed = other_dependency(())
        case Corruption.SWAPPED_DEPENDENCY:
            changed = other_dependency([name for name in earlier if name not in step.dependencies])
        case Corruption.UNKNOWN_DEPENDENCY:
            changed = other_dependency(["nothing"])
        case Corruption.FORWARD_REFERENCE:
            changed = other_dependency(later)
        case Corruption.TOO_MANY_DEPENDENCIES:
            more = [f"extra{n}" for n in range(MAX_DEPENDENCIES + 1 - len(step.dependencies))]
            changed = replace(step, dependencies=(*step.dependencies, *more))
        case Corruption.WRONG_RULE:
            changed = replace(step, rule=_one_of(draw, [r.name for r in catalogue.rules if r.name != step.rule]))
        case Corruption.UNKNOWN_RULE:
            changed = replace(step, rule="NO_SUCH_RULE")
        case Corruption.NEGATED_CONCLUSION:
            changed = replace(step, conclusion=Not(step.conclusion))
        case Corruption.WEAKENED_CONCLUSION:
            known = [premise.formula for premise in attempt.problem.premises]
            changed = replace(step, conclusion=Or(step.conclusion, _one_of(draw, [*known, *map(Not, known)])))
        case Corruption.TAUTOLOGY:
            changed = replace(step, conclusion=Or(step.conclusion, Not(step.conclusion)))
        case Corruption.SYMBOL_CLASH:
            arity = {p: len(sorts) for p, sorts in attempt.problem.signature().predicates.items()}
            predicate = _one_of(draw, list(arity))
            surplus = Atom(predicate, (const("surplus"),) * (arity[predicate] + 1))
            changed = replace(step, conclusion=Or(step.conclusion, surplus))
        case Corruption.DUPLICATE_ID:
            changed = replace(step, id=_one_of(draw, earlier))
        case Corruption.WRONG_OPTION:
            others = [option.id for option in attempt.problem.options if option.formula is not step.conclusion]
            changed = replace(step, id=_one_of(draw, others if step.rule == GOAL_BINDING else []))
        case Corruption.REPEATED_CONCLUSION:
            again = replace(step, id=f"{step.id}again")
            return replace(attempt, steps=(*attempt.steps[: index + 1], again, *attempt.steps[index + 1 :]))
        case Corruption.CONVERSE:
            return _with_converse(draw, attempt, index)
        case _:
            return None
    return replace(attempt, steps=(*attempt.steps[:index], changed, *attempt.steps[index + 1 :]))


def _with_converse(draw: DrawFn, attempt: Attempt, index: int) -> Attempt:
    step, premises = attempt.steps[index], attempt.problem.premises
    choices: list[Attempt] = []
    if (turned := _converse(step.conclusion)) is not None:
        steps = (*attempt.steps[:index], replace(step, conclusion=turned), *attempt.steps[index + 1 :])
        choices.append(replace(attempt, steps=steps))
    for position, premise in enumerate(premises):
        turned = _converse(premise.formula)
        if premise.id in step.dependencies and turned is not None:
            changed = (*premises[:position], replace(premise, formula=turned), *premises[position + 1 :])
            choices.append(replace(attempt, problem=replace(attempt.problem, premises=changed)))
    return _one_of(draw, choices)


def _converse(formula: Formula) -> Formula | None:
    """The formula with the implication under its leading quantifiers turned round; None if there is none."""
    match formula:
        case Implies(left, right):
            return Implies(right, left)
        case ForAll(variable, body) | Exists(variable, body):
            turned = _converse(body)
            return None if turned is None else type(formula)(variable, turned)
        case _:
            return None


def _changed_record(draw: DrawFn, attempt: Attempt, index: int, corruption: Corruption) -> Json:
    """The record of an action that is not well formed, or the record itself if the text is to be changed."""
    record = attempt.steps[index].record()
    field = draw(st.sampled_from(FIELDS))
    match corruption:
        case Corruption.UNPARSABLE_CONCLUSION:
            return record | {"conclusion": f"{record['conclusion']} {draw(st.sampled_from(('∧', ')', '(', '∀x')))}"}
        case Corruption.EXTRA_FIELD:
            return record | {"note": "obvious"}
        case Corruption.MISSING_FIELD:
            return {key: value for key, value in record.items() if key != field}
        case Corruption.WRONG_TYPE:
            wrong: list[Json] = [None, 1, True, "", {}, [1]]
            return record | {field: draw(st.sampled_from(wrong))}
        case Corruption.NOT_AN_OBJECT:
            others: list[Json] = [None, 1, "s1", list(record.values())]
            return draw(st.sampled_from(others))
        case _:
            return record


def _changed_text(draw: DrawFn, text: str, corruption: Corruption) -> str:
    opening, closing = text.index("["), text.rindex("]")
    if corruption is Corruption.TRUNCATED:
        return text[: draw(st.integers(opening, len(text) - 1))]
    changes: dict[str, str] = {
        "no opening bracket": text[:opening] + text[opening + 1 :],
        "no closing bracket": text[:closing] + text[closing + 1 :],
        "a trailing comma": f"{text[:closing]},{text[closing:]}",
        "single quotes": text.replace('"', "'"),
        "two arrays": f"{text[: closing + 1]}[]{text[closing + 1 :]}",
        "more than JSON": f"{text[:closing]}, NaN{text[closing:]}",
    }
    return changes[draw(st.sampled_from(sorted(changes)))]


def _one_of(draw: DrawFn, choices: Sequence[_T]) -> _T:
    """One of the choices; without any, the attempt cannot be corrupted in this way."""
    return draw(st.sampled_from(choices)) if choices else reject()


# -- completions ------------------------------------------------------------------------------------------------------


@st.composite
def layouts(draw: DrawFn, attempt: Attempt) -> str:
    """Other ways of writing the same actions: thoughts, a fence, white space, order of fields, escapes, notations."""
    notation = draw(st.sampled_from(get_args(Notation)))
    order = draw(st.permutations(FIELDS))
    records = [{field: step.record(notation)[field] for field in order} for step in attempt.steps]
    body = json.dumps(records, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from((None, 1, "\t"))))
    body = draw(st.sampled_from(("{}", "\n{}\r\n", "```json\n{}\n```", "\n```\n{}```"))).format(body)
    thoughts = ("", "So:\n", "<think>P?</think>", "<think><summary>[]</summary></think>\n", "</think>")
    before, after = draw(st.sampled_from(thoughts)), draw(st.sampled_from(("", "\n", " That is all.")))
    return f"{before}<summary>{body}</summary>{after}"


def completions(catalogue: Catalogue = TRAIN) -> SearchStrategy[str]:
    """What a model may write, from a valid attempt to garbage: other JSON, the marks in any order, any text."""
    valid = valid_attempts(catalogue)
    json_values: SearchStrategy[Json] = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS) | st.text(), inner),
        max_leaves=8,
    )
    pieces = ("<summary>", "</summary>", "<think>", "</think>", "[", "]", "{", "}", '"id"', '"', ":", ",", "```", "\n")
    return st.one_of(
        valid.flatmap(layouts),
        corrupted_attempts(valid, catalogue=catalogue).map(lambda corrupted: corrupted.completion),
        st.lists(json_values, max_size=4).map(written),
        json_values.map(lambda value: f"<summary>{json.dumps(value)}</summary>"),
        st.lists(st.sampled_from(pieces) | any_text(), max_size=12).map("".join),
        any_text(),
    )


def any_text() -> SearchStrategy[str]:
    """Any text, unpaired surrogates and control characters too."""
    return st.text(st.characters(), max_size=20) | st.text(st.characters(categories=("Cs", "Cc", "Cf")), max_size=5)


# -- schemata ---------------------------------------------------------------------------------------------------------

_BOUND = Var("x", ENTITY)


@st.composite
def schemata(draw: DrawFn, *, max_size: int = 4) -> Schema:
    """Schemata with one to three premises, sound and unsound ones mixed; all about letters, or all under quantifiers.

    Args:
        max_size: of each pattern.
    """
    variables = draw(st.sampled_from(((), (_BOUND,))))

    def pattern(letters: Sequence[str]) -> Formula:
        body = draw(_patterns([Atom(letter, variables) for letter in letters], max_size))
        if not variables:
            return body
        return ForAll(_BOUND, body) if draw(st.booleans()) else Exists(_BOUND, body)

    principal = tuple([pattern("ABC") for _ in range(draw(st.integers(1, 2)))])
    known = sorted({name for part in principal for name, _ in symbols(part).uses})
    return Schema("drawn", principal, tuple([pattern(known) for _ in range(draw(st.integers(0, 1)))]), pattern(known))


def _patterns(letters: Sequence[Formula], max_size: int) -> SearchStrategy[Formula]:
    """Quantifier-free formulas over letters."""
    return st.recursive(
        st.sampled_from(letters),
        lambda inner: (
            st.builds(Not, inner) | st.one_of([st.builds(kind, inner, inner) for kind in (And, Or, Implies, Iff, Xor)])
        ),
        max_leaves=max_size,
    )
