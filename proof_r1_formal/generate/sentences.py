"""Formulas of generated problems in English.

In: a formula over the predicates and names of a vocabulary. Out: an English sentence for it. Different formulas have
different sentences. A source of random numbers chooses between synonymous wordings.
"""

from __future__ import annotations

from random import Random

from proof_r1_formal.errors import EnglishError
from proof_r1_formal.generate.vocabulary import Vocabulary
from proof_r1_formal.kernel.syntax import And, App, Atom, Exists, ForAll, Formula, Implies, Not, Or, Term, Xor
from proof_r1_formal.kernel.transform import terms
from proof_r1_formal.text.show import show


class Writer:
    """Writes sentences over a vocabulary, which has every predicate and name of the formulas."""

    def __init__(self, vocabulary: Vocabulary, source: Random) -> None:
        self._vocabulary = vocabulary
        self._source = source

    def sentence(self, formula: Formula) -> str:
        """The formula as a sentence, with a capital and a full stop.

        Raises:
            EnglishError: the formula has a form that generated problems do not use.
        """
        clause = self._clause(formula)
        return f"{clause[0].upper()}{clause[1:]}."

    def _clause(self, formula: Formula) -> str:
        match formula:
            case ForAll(_, body):
                return self._of_everybody(body)
            case Exists(variable, And(left, right)) if not _mentions(right, variable):
                return f"someone {self._phrase(left)}, and {self._clause(right)}"
            case Exists(_, body):
                return f"{self._pick('someone', 'at least one person')} {self._phrase(body)}"
            case Not(ForAll(_, Implies(left, right))):
                return f"not everyone who {self._phrase(left)} {self._phrase(right)}"
            case Not(Atom()):
                return f"{self._name(formula)} {self._phrase(formula)}"
            case Not(body):
                return f"it is not the case that {self._clause(body)}"
            case Implies(left, right):
                name = self._name(formula)
                pronoun = self._vocabulary.pronouns[name]
                return self._conditional(name, left, pronoun, right, plural=False)
            case _:
                return f"{self._name(formula)} {self._phrase(formula)}"

    def _of_everybody(self, body: Formula) -> str:
        match body:
            case Implies(left, right):
                if self._source.random() < 0.5:
                    return self._conditional("someone", left, "they", right, plural=True)
                return f"{self._pick('everyone', 'anyone')} who {self._phrase(left)} {self._phrase(right)}"
            case Not(inner):
                return f"no one {self._phrase(inner)}"
            case _:
                return f"everyone {self._phrase(body)}"

    def _conditional(self, subject: str, left: Formula, pronoun: str, right: Formula, *, plural: bool) -> str:
        then = f"{pronoun} {self._phrase(right, plural=plural)}"
        condition = f"{subject} {self._phrase(left)}"
        return self._pick(f"if {condition}, then {then}", f"whenever {condition}, {then}")

    def _phrase(self, formula: Formula, *, plural: bool = False) -> str:
        """The statement of the formula about its one subject, as the rest of a sentence after the subject."""
        match formula:
            case Atom(predicate, (_,)):
                return self._vocabulary.predicates[predicate].phrase(plural=plural)
            case Not(Atom(predicate, (_,))):
                return self._vocabulary.predicates[predicate].phrase(plural=plural, negated=True)
            case And(left, right):
                return f"{self._pick('', 'both ')}{self._both(left, 'and', right, plural)}"
            case Or(left, right):
                return f"{self._both(left, 'or', right, plural)} (or both)"
            case Xor(left, right):
                tail = self._pick(", but not both", " (but not both)")
                return f"either {self._both(left, 'or', right, plural)}{tail}"
            case _:
                raise EnglishError(show(formula), "generated problems have no such formula")

    def _both(self, left: Formula, word: str, right: Formula, plural: bool) -> str:
        return f"{self._phrase(left, plural=plural)} {word} {self._phrase(right, plural=plural)}"

    def _name(self, formula: Formula) -> str:
        return next(term.function for term in terms(formula) if isinstance(term, App))

    def _pick(self, *ways: str) -> str:
        return self._source.choice(ways)


def _mentions(formula: Formula, variable: Term) -> bool:
    return any(term is variable for term in terms(formula))
