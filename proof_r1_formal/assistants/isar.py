"""Certificates as Isabelle/HOL theories: structured Isar proofs, with nothing to search for.

In: a certificate. Out: a theory that imports the one in ``theories/isabelle`` and proves the answer. A line of a proof
term is a fact ``by (rule …)``, which applies one lemma to earlier facts, or a block that fixes or assumes something.

``rule`` unifies, up to the names of bound variables and β and η, and does no more. So predicate variables of lemmas are
always instantiated by name, and what a lemma is applied to has the form in which the lemma says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from proof_r1_formal.assistants.certificate import AnyCertificate, Certificate, CertifiedStep
from proof_r1_formal.assistants.isabelle import IsabelleTheorem, theory_of
from proof_r1_formal.assistants.isabelle_model import refutation
from proof_r1_formal.assistants.proof_writer import Known, ProofWriter, own_theorems
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.engine.lemmas import along_equation, formula_of
from proof_r1_formal.engine.prover import search
from proof_r1_formal.errors import ProofError
from proof_r1_formal.kernel.signature import Signature, mangle, symbols
from proof_r1_formal.kernel.signed import Signed
from proof_r1_formal.kernel.syntax import BOTTOM, App, Eq, ForAll, Formula, Not, Quantified, Term, Var
from proof_r1_formal.kernel.term import Apply, Block, Proof, Repeat, Witness
from proof_r1_formal.kernel.transform import alpha_normal
from proof_r1_formal.render import isabelle

_Reason: TypeAlias = str | list[str]
"""Why a statement holds: a fact that says it, or the lines of a structured proof."""


def isar_theory(certificate: AnyCertificate, name: str, *, problem: Problem | None = None) -> str:
    """The theory of a certificate's theorems, see :func:`isar_theorems` and :func:`assistants.isabelle.theory_of`.

    Given the problem, a text before the theorems says what it is about, for Isabelle's document.

    Raises:
        ProofError, SignatureError: see :func:`answer`.
        ValueError: the name is not a theory name.
    """
    return theory_of(isar_theorems(certificate), name, about=() if problem is None else _about(problem))


def _about(problem: Problem) -> list[str]:
    """The lines of a text about a problem: its question, and the sentences of its premises."""
    sentences = [f"{premise.id}: {premise.text}" for premise in problem.premises if premise.text]
    return [f"Problem {problem.id}. {problem.question}".strip(), *sentences]


def isar_theorems(certificate: AnyCertificate) -> dict[str, IsabelleTheorem]:
    """The theorems by name, those that Lean gets, as far as the models are small enough."""
    found: dict[str, IsabelleTheorem | None] = {}
    if isinstance(certificate, Certificate):
        found[certificate.label] = answer(certificate)
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
        reason = _IsarWriter(signature).reason(_by_the_theory(step, premises), premises, step.formula)
        lines += _statement(f"have {facts[step.id]}:", step.formula, reason)
    lines += ["show ?thesis", f"  by (rule {facts[certificate.steps[-1].id]})"]
    statement = isabelle.statement({facts[p]: f for p, f in given.items()}, certificate.goal, signature)
    return IsabelleTheorem(statement, "\n".join(["proof -", *_indent(lines), "qed", ""]))


def _by_the_theory(step: CertifiedStep, premises: Sequence[tuple[Formula, str]]) -> Proof:
    """The proof of a step; another one if it applies a theorem that the theory does not have."""
    if not any(own_theorems(step.proof)):
        return step.proof
    proof = search([formula for formula, _ in premises], step.formula).proof
    if proof is None:
        raise ProofError(f"step {step.id} applies a theorem that Isabelle's theory does not have")
    return proof


class _IsarWriter(ProofWriter[list[str]]):
    """Writes the proof of one step. Its texts are facts, or the lines of structured proofs."""

    def reason(self, proof: Proof, premises: Sequence[tuple[Formula, str]], conclusion: Formula) -> _Reason:
        """Why the conclusion of a proof that the checker accepts holds; each premise has the fact that says it."""
        lines, reason = self._block(self.premises(premises), proof, conclusion)
        lines = [*[_fix(constant, sort) for constant, sort in self.loose], *lines]
        return _structure("-", lines, conclusion, reason) if lines else reason

    def _block(self, known: Sequence[Known], block: Block, goal: Formula) -> tuple[list[str], _Reason]:
        """The lines of a block before its goal, and why that holds after them; what is known holds outside."""
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
                    lines += self._obtain(known, line)
                    opened.append(line.constant.function)
                case _:
                    says, reason = self.line(known, line)
                    if number == len(block) and formula_of(says) is alpha_normal(goal):
                        break
                    known.append((says, self.name()))
                    lines += _statement(f"have {known[-1][1]}:", formula_of(says), reason)
        else:
            reason = self.goal(known[-1], goal)
        self.unbind(opened)
        return lines, reason

    def _obtain(self, known: list[Known], line: Witness) -> list[str]:
        """A new constant, and what holds of it, which becomes known."""
        quantified, fact, name, part = self.witness(known, line)
        constant = _with_sort(line.constant.function, quantified.variable.sort)
        return _statement(f"obtain {constant} where {name}:", part, _fact("exE", fact))

    # -- rules --------------------------------------------------------------------------------------------------------

    def lemma(self, name: str, *given: str) -> str:
        return _fact(name, *given)

    def explosion(self, contradiction: str) -> str:
        return _fact("FalseE", contradiction)

    def instance(self, quantified: Quantified, sign: bool, proof: str, value: str) -> str:
        motive = self._motive(quantified)
        if sign:
            return _fact("universal_elimination", proof, A=motive, t=value)
        return _fact("exists_false_instance", proof, P=motive, t=value)

    def generalise(self, whole: Quantified, value: str, proof: str) -> str:
        motive = self._motive(whole)
        if isinstance(whole, ForAll):
            return _fact("forall_false_of_instance", proof, P=motive, t=value)
        return _fact("existential_introduction", proof, A=motive, t=value)

    def arbitrary(
        self, known: Sequence[Known], whole: Quantified, constant: App, block: Block, part: Formula
    ) -> list[str]:
        lines, reason = self._block(known, block, part)
        shown = _structure("(rule allI)", [_fix(constant.function, whole.variable.sort), *lines], part, reason)
        if isinstance(whole, ForAll):
            return shown
        everywhere = ForAll(whole.variable, Not(whole.body))
        rule = _fact("exists_false_of_all", P=self._motive(whole))
        return _structure(f"(rule {rule})", [], everywhere, shown)

    def false_of_some(self, quantified: Quantified, proof: str) -> str:
        return _fact("forall_false_witness", proof, P=self._motive(quantified))

    def suppose(self, known: Sequence[Known], formula: Formula, block: Block, goal: Formula) -> list[str]:
        return self._supposition(known, formula, block, goal, "impI")

    def refute(self, known: Sequence[Known], says: Signed, block: Block) -> list[str]:
        return self._supposition(known, formula_of(says), block, BOTTOM, "notI" if says.sign else "ccontr")

    def _supposition(
        self, known: Sequence[Known], formula: Formula, block: Block, goal: Formula, rule: str
    ) -> list[str]:
        """A block that supposes a formula and shows a goal, as what the rule asks for."""
        name, known = self.assume(known, formula)
        lines, reason = self._block(known, block, goal)
        assumed = f'assume {name}: "{isabelle.formula_text(formula)}"'
        return _structure(f"(rule {rule})", [assumed, *lines], goal, reason)

    def contradiction(self, negation: str, proof: str) -> str:
        return _fact("notE", negation, proof)

    def truth(self, true: bool) -> str:
        return "TrueI" if true else "not_false"

    def reflexivity(self, term: str) -> str:
        del term  # Isabelle infers it
        return "refl"

    def leibniz(self, law: Formula, equation: Eq) -> str:
        left, right = equation.left, equation.right
        assert isinstance(left, App)
        sort = self.sort(left)
        forward, backward = Var("␣1", sort), Var("␣0", sort)
        motive = self.function((forward, backward), along_equation(law, forward, backward))
        return _fact("leibniz", P=motive, s=self.term(left, sort), t=self.term(right, sort))

    def apply(self, line: Apply, given: Sequence[str]) -> str:
        theorem = line.theorem
        patterns = (*theorem.premises, theorem.conclusion)
        names = dict.fromkeys(name for pattern in patterns for name, _ in symbols(pattern).uses)
        return _fact(theorem.name, *given, **{name: self.argument(line.substitution[name]) for name in names})

    def term_text(self, term: Term) -> str:
        return isabelle.term_text(term)

    def function(self, variables: Sequence[Var], body: Formula) -> str:
        bound = "".join([rf"\<lambda>{isabelle.binder(variable)}. " for variable in variables])
        return f"{bound}{isabelle.formula_text(body)}"

    def _motive(self, quantified: Quantified) -> str:
        return self.function((quantified.variable,), quantified.body)


# -- text -------------------------------------------------------------------------------------------------------------


def _fact(lemma: str, *given: str, **where: str) -> str:
    """A lemma, its variables instantiated by name, applied to facts."""
    instances = " and ".join([f'{name}="{value}"' for name, value in where.items()])
    attributes = [f"where {instances}"] * bool(where) + [f"OF {' '.join(given)}"] * bool(given)
    return f"{lemma}[{', '.join(attributes)}]" if attributes else lemma


def _statement(command: str, formula: Formula, reason: _Reason) -> list[str]:
    """A statement and why it holds."""
    because = [f"  by (rule {reason})"] if isinstance(reason, str) else reason
    return [f'{command} "{isabelle.formula_text(formula)}"', *because]


def _structure(method: str, lines: Sequence[str], goal: Formula, reason: _Reason) -> list[str]:
    """A structured proof that ends in showing a goal."""
    return [f"proof {method}", *_indent([*lines, *_statement("show", goal, reason)]), "qed"]


def _indent(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _fix(constant: str, sort: str) -> str:
    return f"fix {_with_sort(constant, sort)}"


def _with_sort(constant: str, sort: str) -> str:
    return f'{isabelle.function_name(constant)} :: "{isabelle.sort_name(sort)}"'
