"""Certificates of answers, which a proof assistant's kernel can check without this package.

A :class:`Certificate` states that the premises entail an answer: the steps of its closure, each with the proof term of
its entailment, become one theorem. An :class:`OpenCertificate` states that they entail neither a goal nor its negation.
Both contain models, which show that the premises are consistent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from proof_r1_formal.assistants import reflection
from proof_r1_formal.assistants.lean import LeanTheorem
from proof_r1_formal.assistants.lean_evidence import entailment_theorem
from proof_r1_formal.assistants.lean_model import shallow_refutation
from proof_r1_formal.assistants.lean_term import lean_term, own_name
from proof_r1_formal.assistants.proof_writer import own_theorems
from proof_r1_formal.assistants.small_models import is_evaluable
from proof_r1_formal.engine.lines import lines_of
from proof_r1_formal.kernel.model import Structure
from proof_r1_formal.kernel.signature import Signature, mangle
from proof_r1_formal.kernel.syntax import BOTTOM, Formula, Not
from proof_r1_formal.kernel.term import Proof
from proof_r1_formal.render import lean

ANSWER, CONSISTENT, GOAL_FAILS, NEGATION_FAILS = "answer", "consistent", "goal_fails", "negation_fails"
ANSWER_SOUND, CONTRADICTORY = "answer_sound", "contradictory"
MEANING = {
    ANSWER: "The premises entail the answer.",
    ANSWER_SOUND: "The premises entail the answer, and they have a model.",
    CONTRADICTORY: "The premises contradict each other.",
    CONSISTENT: "The premises have a model.",
    GOAL_FAILS: "The premises do not entail the goal.",
    NEGATION_FAILS: "The premises do not entail the negation of the goal.",
}
"""Names of theorems, and what they say."""

Style: TypeAlias = Literal["shallow", "reflect"]
"""The form of a theorem for Lean: a lemma for each line of a proof, for people to read; or the proof as data, for
a checker that Lean has proved sound."""

_MAX_SHALLOW = 300
"""Maximum number of steps of a shallow theorem; Lean's time grows with the square of the nesting."""
_MAX_LINES = 1000
"""Maximum number of lines of the proof of one step of a shallow theorem."""
MAX_STEPS = 1000
"""Maximum number of steps of a certificate."""


@dataclass(frozen=True, slots=True)
class CertifiedStep:
    """A step of a closure, as declared, and the proof of its conclusion from the dependencies, numbered from 0."""

    id: str
    dependencies: tuple[str, ...]
    formula: Formula
    proof: Proof


@dataclass(frozen=True, slots=True)
class Certificate:
    """The statement that premises entail an answer, with its proof.

    Attributes:
        premises: all premises of the problem, by id.
        goal: the formula of the selected option.
        steps: in order; the last one concludes the goal.
        model: of the premises; None only in a certificate that is not one of a verified answer.
    """

    premises: Mapping[str, Formula]
    goal: Formula
    steps: tuple[CertifiedStep, ...]
    model: Structure | None

    @property
    def label(self) -> str:
        """The name of the theorem that the steps prove."""
        return CONTRADICTORY if self.goal is BOTTOM else ANSWER

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the theorems that a kernel has to accept."""
        return (self.label,)

    def theorems(self, style: Style = "shallow") -> dict[str, LeanTheorem]:
        """The theorems by name: the answer, and that the premises are consistent, if the model is small enough.

        Where the answer's proof is data for Lean's checker, one theorem states both.
        """
        model = self.model
        if (
            model is not None
            and self.reflects(style)
            and is_evaluable(Signature.infer(self.premises.values()), model, self.formulas)
        ):
            return {ANSWER_SOUND: self.reflected(model=model)}
        return {self.label: self.answer(style), **_refutations(self, style)}

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas of the premises."""
        return tuple(self.premises.values())

    def refuted(self) -> dict[str, tuple[Formula, Structure]]:
        """The formulas that the premises do not entail, each with a countermodel, by the theorem's name."""
        return {} if self.model is None else {CONSISTENT: (BOTTOM, self.model)}

    def reflects(self, style: Style) -> bool:
        """Whether the answer's proof is data for Lean's checker: in that style, and if it is long, in any."""
        return style == "reflect" or len(self.steps) > _MAX_SHALLOW or max(map(_lines, self.steps)) > _MAX_LINES

    def answer(self, style: Style = "shallow") -> LeanTheorem:
        """The theorem that the premises entail the goal.

        Shallow, it has the premises in the closure, and each step is an instance of ``conditional_soundness``. The
        other style has all premises, and applies ``trace_sound``.

        Raises:
            ProofError: a proof cannot be written as data; every proof that the checker accepts can.
        """
        if self.reflects(style):
            return self.reflected()
        premises = self._premises()
        given = [f"({mangle(name, 'h')} : {lean.formula(formula)})" for name, formula in premises.items()]
        binders = "\n  ".join([*lean.binders(self._signature(premises)), *given])
        lines = [*self._own_theorems(), *self._lean_steps(premises)]
        return LeanTheorem(f"{binders}\n  : {lean.formula(self.goal)}", "\n  ".join(lines))

    def reflected(self, *, model: Structure | None = None) -> LeanTheorem:
        """The theorem that Lean's checker accepts the steps; with a model, that the premises have it, too."""
        steps = [(step.id, step.dependencies, step.formula, step.proof) for step in self.steps]
        return reflection.answer(self.premises, steps, self.goal, model)

    def step_at(self, line: int) -> str | None:
        """The id of the step that a line of the shallow answer's text belongs to; None if it belongs to none."""
        theorem = self.answer()
        line -= theorem.text(self.label).count("\n") - theorem.proof.count("\n")
        line -= sum(text.count("\n") + 1 for text in self._own_theorems())
        for step, text in zip(self.steps, self._lean_steps(self._premises()), strict=True):
            if 0 <= line <= text.count("\n"):
                return step.id
            line -= text.count("\n") + 1
        return None

    def _premises(self) -> dict[str, Formula]:
        """The premises that a step depends on."""
        used = {name for step in self.steps for name in step.dependencies}
        return {name: formula for name, formula in self.premises.items() if name in used}

    def _signature(self, premises: Mapping[str, Formula]) -> Signature:
        return Signature.infer((*premises.values(), *[step.formula for step in self.steps], self.goal))

    def _own_theorems(self) -> list[str]:
        """The theorems of a catalogue of its own that steps apply, each with its proof."""
        found = dict.fromkeys(theorem for step in self.steps for theorem in own_theorems(step.proof))
        texts = {own_name(each): entailment_theorem(each.premises, each.conclusion, each.proof) for each in found}
        return [
            f"have {name} {text.statement} := (\n  {text.proof})".replace("\n", "\n  ") for name, text in texts.items()
        ]

    def _lean_steps(self, premises: Mapping[str, Formula]) -> list[str]:
        """Each step as a line, or as several; the last one is what the others lead to."""
        known = {name: (formula, mangle(name, "h")) for name, formula in premises.items()}
        signature = self._signature(premises)
        lines = []
        for step in self.steps:
            dependencies = [known[name] for name in step.dependencies]
            term = lean_term(step.proof, dependencies, step.formula, signature, indent=2)
            known[step.id] = step.formula, mangle(step.id, "d")
            if step is self.steps[-1]:
                lines.append(_argument(term))
            else:
                says = lean.formula(step.formula)
                lines.append(f"{lean.NAMESPACE}.step {says} {_argument(term)} fun {mangle(step.id, 'd')} =>")
        return lines


@dataclass(frozen=True, slots=True)
class OpenCertificate:
    """The statement that premises, by id, entail neither a goal nor its negation.

    It has models of the premises in which the goal is false and true. In a certificate that is not one of a verified
    answer, one of them may be missing; then it says nothing about what that would show.
    """

    premises: Mapping[str, Formula]
    goal: Formula
    model_of_negation: Structure | None
    model_of_goal: Structure | None

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the theorems that a kernel has to accept."""
        return tuple(self.refuted())

    def theorems(self, style: Style = "shallow") -> dict[str, LeanTheorem]:
        """The theorems by name that neither the goal nor its negation is entailed, if the models are small enough."""
        return _refutations(self, style)

    def refuted(self) -> dict[str, tuple[Formula, Structure]]:
        """The formulas that the premises do not entail, each with a countermodel, by the theorem's name."""
        shown = {
            GOAL_FAILS: (self.goal, self.model_of_negation),
            NEGATION_FAILS: (Not(self.goal), self.model_of_goal),
        }
        return {name: (formula, model) for name, (formula, model) in shown.items() if model is not None}


AnyCertificate: TypeAlias = Certificate | OpenCertificate


def _lines(step: CertifiedStep) -> int:
    """The number of lines of the proof of a step, those of its blocks included."""
    return sum(1 for _ in lines_of(step.proof))


def _refutations(certificate: AnyCertificate, style: Style) -> dict[str, LeanTheorem]:
    """The theorems that small enough structures prove; in one file, those by evaluation have the same definitions."""
    premises, found = certificate.premises, dict[str, LeanTheorem]()
    goal = None if isinstance(certificate, Certificate) else certificate.goal
    for name, (conclusion, structure) in certificate.refuted().items():
        formulas = (*premises.values(), conclusion)
        shallow = shallow_refutation(formulas[:-1], conclusion, structure) if style == "shallow" else None
        if shallow is not None:
            found[name] = shallow
        elif is_evaluable(Signature.infer(formulas), structure, formulas):
            found[name] = reflection.failure(premises, goal, structure, negated=name == NEGATION_FAILS)
    return found


def _argument(term: str) -> str:
    """A term as an argument: in parentheses, if it has more than one word and none around it."""
    return term if re.fullmatch(r"\w+|\([^\n]*\)", term) and "have " not in term else f"(\n    {term})"
