"""Certificates as Isabelle/HOL theories: structured Isar proofs, with nothing to search for.

In: a certificate. Out: a theory that imports the one in ``theories/isabelle`` and proves the answer. A line of a proof
term is a fact ``by (rule …)``, which applies one lemma to earlier facts, or a block that fixes or assumes something.

``rule`` unifies, up to the names of bound variables and β and η, and does no more. So predicate variables of lemmas are
always instantiated by name, and what a lemma is applied to has the form in which the lemma says it: where a line takes
a formula apart, pairs of negations are taken off, and put back where one is put together (``engine.lemmas``).

One module, because every line of the calculus has one case here, and all cases share the names of facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from proof_r1_formal.assistants.certificate import ANSWER, AnyCertificate, Certificate, CertifiedStep
from proof_r1_formal.assistants.isabelle import IsabelleTheorem, theory_of
from proof_r1_formal.assistants.isabelle_model import refutation
from proof_r1_formal.assistants.lean_term import own_theorems
from proof_r1_formal.engine.lemmas import along_equation, elimination, formula_of, introduction, negation_pairs
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.pattern import Lambda, instance
from proof_r1_formal.kernel.signature import Signature, mangle
from proof_r1_formal.kernel.signed import FALSUM, Signed, signed
from proof_r1_formal.kernel.symbols import symbols
from proof_r1_formal.kernel.syntax import (
    BOTTOM,
    ENTITY,
    App,
    Binary,
    Binder,
    Eq,
    ForAll,
    Formula,
    Implies,
    Not,
    Quantified,
    Term,
    Top,
    Var,
)
from proof_r1_formal.kernel.term import (
    Absurd,
    Apply,
    Arbitrary,
    Block,
    Contradiction,
    Eliminate,
    Generalise,
    Instance,
    Introduce,
    Leibniz,
    Line,
    Proof,
    Reflexivity,
    Repeat,
    Suppose,
    Truth,
    Witness,
)
from proof_r1_formal.kernel.transform import alpha_normal, instantiate
from proof_r1_formal.render import isabelle

_Known: TypeAlias = tuple[Signed, str]
"""What a line says, and the fact that says so."""
_Reason: TypeAlias = str | list[str]
"""Why a statement holds: a fact that says it, or the lines of a structured proof."""


def isar_theory(certificate: AnyCertificate, name: str) -> str:
    """The theory of a certificate's theorems, see :func:`isar_theorems` and :func:`assistants.isabelle.theory_of`.

    Raises:
        ProofError, SignatureError: see :func:`answer`.
        ValueError: the name is not a theory name.
    """
    return theory_of(isar_theorems(certificate), name)


def isar_theorems(certificate: AnyCertificate) -> dict[str, IsabelleTheorem]:
    """The theorems by name, those that Lean gets, as far as the models are small enough."""
    found: dict[str, IsabelleTheorem | None] = {}
    if isinstance(certificate, Certificate):
        found[ANSWER] = answer(certificate)
    for name, (conclusion, model) in certificate.refuted().items():
        found[name] = refutation(tuple(certificate.premises.values()), conclusion, model)
    return {name: theorem for name, theorem in found.items() if theorem is not None}


def answer(certificate: Certificate) -> IsabelleTheorem:
    """The theorem that the premises in the closure entail the goal.

    Raises:
        ProofError: a proof is not one of the calculus.
        SignatureError: the formulas use a symbol in two ways.
    """
    used = {dependency for step in certificate.steps for dependency in step.dependencies}
    given = {premise: formula for premise, formula in certificate.premises.items() if premise in used}
    known = {**given, **{step.id: step.formula for step in certificate.steps}}
    facts = {**{p: mangle(p, "h") for p in given}, **{step.id: mangle(step.id, "d") for step in certificate.steps}}
    signature = Signature.infer((*known.values(), certificate.goal))
    lines: list[str] = []
    for step in certificate.steps:
        premises = [(known[dependency], facts[dependency]) for dependency in step.dependencies]
        reason = _Writer(signature).reason(_by_the_theory(step, premises), premises, step.formula)
        lines += _stated(f"have {facts[step.id]}:", step.formula, reason)
    lines += ["show ?thesis", f"  by (rule {facts[certificate.steps[-1].id]})"]
    statement = isabelle.statement({facts[p]: f for p, f in given.items()}, certificate.goal, signature)
    return IsabelleTheorem(statement, "\n".join(["proof -", *_indented(lines), "qed", ""]))


def _by_the_theory(step: CertifiedStep, premises: Sequence[tuple[Formula, str]]) -> Proof:
    """The proof of a step; another one if it applies a theorem that the theory does not have."""
    if not any(own_theorems(step.proof)):
        return step.proof
    proof = search([formula for formula, _ in premises], step.formula).proof
    if proof is None:
        raise ProofError(f"step {step.id} applies a theorem that Isabelle's theory does not have")
    return proof


class _Writer:
    """Writes the proof of one step; knows the sorts of its constants, and which of them nothing binds."""

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._bound: dict[str, str] = {}
        self._loose: dict[str, str | None] = {}  # no sort until a use says it
        self._count = 0

    def reason(self, proof: Proof, premises: Sequence[tuple[Formula, str]], conclusion: Formula) -> _Reason:
        """Why the conclusion holds.

        Args:
            proof: as the checker accepts it.
            premises: each with the fact that says it.
            conclusion: what the proof proves.
        """
        known = [(signed(formula), _without_pairs(formula, fact)) for formula, fact in premises]
        lines, reason = self._block(known, proof, conclusion)
        lines = [_fixed(constant, sort or ENTITY) for constant, sort in self._loose.items()] + lines
        return _closed("-", lines, conclusion, reason) if lines else reason

    def _block(self, known: Sequence[_Known], block: Block, goal: Formula) -> tuple[list[str], _Reason]:
        """The lines of a block before its goal, and why that holds after them.

        Args:
            known: what holds outside, numbered.
            block: its lines.
            goal: what it shows.
        """
        if not block:
            raise ProofError("there are no lines")
        known = list(known)
        lines: list[str] = []
        opened: list[str] = []
        for number, line in enumerate(block, 1):
            match line:
                case Repeat(premise):
                    known.append(known[premise])
                case Witness():
                    lines += self._obtained(known, line)
                    opened.append(line.constant.function)
                case _:
                    says, reason = self._line(known, line)
                    if number == len(block) and formula_of(says) is alpha_normal(goal):
                        break
                    known.append((says, self._name()))
                    lines += _stated(f"have {known[-1][1]}:", formula_of(says), reason)
        else:
            reason = _as_goal(known[-1], goal)
        for constant in opened:
            del self._bound[constant]
        return lines, reason

    def _name(self) -> str:
        self._count += 1
        return f"h{self._count}"

    def _obtained(self, known: list[_Known], line: Witness) -> list[str]:
        """A new constant, and what holds of it, which becomes known."""
        (quantified, sign), fact = _quantified(known[line.main])
        if not sign:
            fact = _fact("forall_false_witness", fact, P=_predicate(quantified))
        raw = self._bind(line.constant, quantified)
        part = raw if sign else Not(raw)
        name = self._name()
        known.append((signed(part), _without_pairs(part, name)))
        constant = _typed(line.constant.function, quantified.variable.sort)
        return _stated(f"obtain {constant} where {name}:", part, _fact("exE", fact))

    def _bind(self, constant: App, quantified: Quantified) -> Formula:
        self._bound[constant.function] = quantified.variable.sort
        return instantiate(quantified, constant)

    # -- lines --------------------------------------------------------------------------------------------------------

    def _line(self, known: Sequence[_Known], line: Line) -> tuple[Signed, _Reason]:
        """What a line says, and why."""
        match line:
            case Eliminate(main, side, other):
                return _eliminated(known[main], side, None if other is None else known[other])
            case Introduce(formula, premises):
                return _introduced(alpha_normal(formula), [known[number] for number in premises])
            case Instance(main, term):
                (quantified, sign), fact = _quantified(known[main])
                value, motive = self._term(term, quantified.variable.sort), _predicate(quantified)
                raw = instantiate(quantified, term)
                if sign:
                    return signed(raw), _without_pairs(raw, _fact("universal_elimination", fact, A=motive, t=value))
                refuted = _fact("exists_false_instance", fact, P=motive, t=value)
                return signed(Not(raw)), _without_pairs(Not(raw), refuted)
            case Generalise(formula, premise, term):
                return self._generalised(alpha_normal(formula), known[premise][1], term)
            case Arbitrary(formula, constant, block):
                return self._arbitrary(known, alpha_normal(formula), constant, block)
            case Suppose(formula, block):
                implication = alpha_normal(formula)
                assert isinstance(implication, Implies)
                supposed = self._supposed(known, implication.left, block, implication.right, "impI")
                return Signed(implication, True), supposed
            case Absurd(formula, block):
                says = signed(formula)
                rule = "notI" if says.sign else "ccontr"
                return says.opposite(), self._supposed(known, formula_of(says), block, BOTTOM, rule)
            case Contradiction(first, second):
                (says, one), (_, two) = known[first], known[second]
                return FALSUM, _fact("notE", two, one) if says.sign else _fact("notE", one, two)
            case Truth(formula):
                true = isinstance(formula, Top)
                return Signed(formula, true), "TrueI" if true else "not_false"
            case Reflexivity(term):
                self._note(term, None)
                return Signed(Eq(term, term), True), "refl"
            case Leibniz(formula):
                return Signed(alpha_normal(formula), True), self._leibniz(alpha_normal(formula))
            case Apply():
                return self._applied(known, line)
            case Repeat() | Witness():
                raise AssertionError("these lines state nothing on their own")
        assert_never(line)

    def _generalised(self, formula: Formula, fact: str, term: Term) -> tuple[Signed, _Reason]:
        assert isinstance(formula, Binder)
        raw = instantiate(formula, term)
        motive, value = _predicate(formula), self._term(term, formula.variable.sort)
        if isinstance(formula, ForAll):
            shown = _with_pairs(Not(raw), fact)
            return Signed(formula, False), _fact("forall_false_of_instance", shown, P=motive, t=value)
        return Signed(formula, True), _fact("existential_introduction", _with_pairs(raw, fact), A=motive, t=value)

    def _arbitrary(
        self, known: Sequence[_Known], formula: Formula, constant: App, block: Block
    ) -> tuple[Signed, _Reason]:
        assert isinstance(formula, Binder)
        universal = isinstance(formula, ForAll)
        raw = self._bind(constant, formula)
        part = raw if universal else Not(raw)
        lines, reason = self._block(known, block, part)
        del self._bound[constant.function]
        fixed = _fixed(constant.function, formula.variable.sort)
        shown = _closed("(rule allI)", [fixed, *lines], part, reason)
        if universal:
            return Signed(formula, True), shown
        everywhere = ForAll(formula.variable, Not(formula.body))
        rule = _fact("exists_false_of_all", P=_predicate(formula))
        return Signed(formula, False), _closed(f"(rule {rule})", [], everywhere, shown)

    def _supposed(self, known: Sequence[_Known], formula: Formula, block: Block, goal: Formula, rule: str) -> list[str]:
        """A block that supposes a formula and shows a goal, as what the rule asks for."""
        name = self._name()
        lines, reason = self._block([*known, (signed(formula), _without_pairs(formula, name))], block, goal)
        assumed = f'assume {name}: "{isabelle.formula_text(formula)}"'
        return _closed(f"(rule {rule})", [assumed, *lines], goal, reason)

    def _leibniz(self, formula: Formula) -> str:
        assert isinstance(formula, Implies) and isinstance(formula.left, Eq)
        left, right = formula.left.left, formula.left.right
        assert isinstance(left, App)
        sort = self._sort(left)
        forward, backward = Var("␣1", sort), Var("␣0", sort)
        motive = _abstraction((forward, backward), along_equation(formula, forward, backward))
        return _fact("leibniz", P=motive, s=self._term(left, sort), t=self._term(right, sort))

    def _applied(self, known: Sequence[_Known], line: Apply) -> tuple[Signed, _Reason]:
        theorem, substitution = line.theorem, line.substitution
        patterns = (*theorem.premises, theorem.conclusion)
        names = dict.fromkeys(name for pattern in patterns for name, _ in symbols(pattern).uses)
        arguments = {name: self._argument(substitution[name]) for name in names}
        given = [
            _with_pairs(instance(pattern, substitution), known[number][1])
            for pattern, number in zip(theorem.premises, line.premises, strict=True)
        ]
        shown = instance(theorem.conclusion, substitution)
        return signed(shown), _without_pairs(shown, _fact(theorem.name, *given, **arguments))

    def _argument(self, value: Lambda | Term) -> str:
        if isinstance(value, Lambda):
            return _abstraction(value.variables, value.body)
        return self._term(value, ENTITY)

    # -- terms --------------------------------------------------------------------------------------------------------

    def _term(self, term: Term, sort: str) -> str:
        """A ground term; a constant that nothing binds stands for any element, and is noted."""
        self._note(term, sort)
        return isabelle.term_text(term)

    def _note(self, term: Term, sort: str | None) -> None:
        if isinstance(term, Var):
            raise ProofError("a term has a variable")
        type_ = self._signature.functions.get(term.function)
        if type_ is None and term.function not in self._bound:
            self._loose[term.function] = self._loose.get(term.function) or sort
        for argument, place in zip(term.arguments, type_.arguments if type_ else (), strict=False):
            self._note(argument, place)

    def _sort(self, term: App) -> str:
        type_ = self._signature.functions.get(term.function)
        if type_ is not None:
            return type_.result
        return self._bound.get(term.function) or self._loose.get(term.function) or ENTITY


# -- truth tables -----------------------------------------------------------------------------------------------------


def _eliminated(main: _Known, side: str, other: _Known | None) -> _Known:
    says, fact = (None, "") if other is None else other
    applied = elimination(main[0], side, says)
    if applied is None:
        assert says is not None
        return says, fact
    given = (main[1],) if applied.other is None else (main[1], _with_pairs(applied.other, fact))
    return signed(applied.conclusion), _without_pairs(applied.conclusion, _fact(applied.lemma, *given))


def _introduced(formula: Formula, premises: Sequence[_Known]) -> _Known:
    assert isinstance(formula, Binary)
    applied = introduction(formula, [says for says, _ in premises])
    given = [_with_pairs(part, premises[number][1]) for number, part in applied.premises]
    return Signed(formula, applied.sign), _fact(applied.lemma, *given)


def _quantified(known: _Known) -> tuple[tuple[Quantified, bool], str]:
    says, fact = known
    if not isinstance(says.formula, Binder):
        raise ProofError("the formula is not quantified")
    return (says.formula, says.sign), fact


# -- facts ------------------------------------------------------------------------------------------------------------


def _fact(lemma: str, *given: str, **where: str) -> str:
    """A lemma, its variables instantiated by name, applied to facts."""
    instances = " and ".join([f'{name}="{value}"' for name, value in where.items()])
    attributes = [f"where {instances}"] * bool(where) + [f"OF {' '.join(given)}"] * bool(given)
    return f"{lemma}[{', '.join(attributes)}]" if attributes else lemma


def _without_pairs(formula: Formula, fact: str) -> str:
    """From a fact that says a formula, one that says what it says as a line."""
    for _ in range(negation_pairs(formula)):
        fact = _fact("not_not_elim", fact)
    return fact


def _with_pairs(formula: Formula, fact: str) -> str:
    """From a fact that says what a formula says as a line, one that says the formula."""
    for _ in range(negation_pairs(formula)):
        fact = _fact("not_not_intro", fact)
    return fact


def _as_goal(known: _Known, goal: Formula) -> str:
    """A fact that says the goal, from the last line: what it says, or anything if it is a contradiction."""
    says, fact = known
    return _with_pairs(goal, fact) if says == signed(goal) else _fact("FalseE", fact)


# -- text -------------------------------------------------------------------------------------------------------------


def _stated(command: str, formula: Formula, reason: _Reason) -> list[str]:
    """A statement and why it holds."""
    because = [f"  by (rule {reason})"] if isinstance(reason, str) else reason
    return [f'{command} "{isabelle.formula_text(formula)}"', *because]


def _closed(method: str, lines: Sequence[str], goal: Formula, reason: _Reason) -> list[str]:
    """A structured proof that ends in showing a goal."""
    return [f"proof {method}", *_indented([*lines, *_stated("show", goal, reason)]), "qed"]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _fixed(constant: str, sort: str) -> str:
    return f"fix {_typed(constant, sort)}"


def _typed(constant: str, sort: str) -> str:
    return f'{isabelle.function_name(constant)} :: "{isabelle.sort_name(sort)}"'


def _predicate(quantified: Quantified) -> str:
    return _abstraction((quantified.variable,), quantified.body)


def _abstraction(variables: Sequence[Var], body: Formula) -> str:
    """A function from elements to truth values; without variables the truth value itself."""
    bound = "".join([rf"\<lambda>{isabelle.binder(variable)}. " for variable in variables])
    return f"{bound}{isabelle.formula_text(body)}"
