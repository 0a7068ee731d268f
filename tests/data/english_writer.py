"""Formulas to sentences of templated English: the inverse of ``data.english``, for its tests."""

from __future__ import annotations

from proof_r1_formal.data.inflection import plain_form
from proof_r1_formal.kernel.syntax import Atom, Exists, ForAll, Formula, Implies, Not, Term, Var
from proof_r1_formal.text.equivalence import conjuncts


def write_english(formula: Formula, *, nouns: frozenset[str] = frozenset(), verbs: frozenset[str] = frozenset()) -> str:
    """A sentence that should mean the formula, up to bound names and the grouping of ∧.

    Args:
        formula: literals of one or two arguments joined by ∧, or an implication between such, about constants and
            at most one variable, which ∀ binds (or ∃, around literals).
        nouns: predicates of one argument that are nouns: "a cat" where an adjective would be "red".
        verbs: predicates of one argument that are verbs: "barks".
    """
    return _Writer(nouns, verbs).sentence(formula)


class _Writer:
    def __init__(self, nouns: frozenset[str], verbs: frozenset[str]) -> None:
        self._nouns = nouns
        self._verbs = verbs
        self._introduced = False

    def sentence(self, formula: Formula) -> str:
        match formula:
            case ForAll(x, Implies(Atom(noun, (Var(),)), said)) if noun in self._nouns and _speaks_only_of(x, said):
                text = f"every {_words(noun)} {self._rest(said)}"
            case ForAll(_, Implies(condition, said)) | Implies(condition, Exists(_, said) | said):
                text = f"if {self._clauses(condition)} then {self._clauses(said)}"
            case ForAll(_, said):
                text = f"everything {self._rest(said)}"
            case Exists(_, said):
                text = self._clauses(said)
            case _:
                text = self._clauses(formula)
        return f"{text[:1].upper()}{text[1:]}."

    def _rest(self, said: Formula) -> str:
        """The predicate of a sentence whose subject has been written already."""
        self._introduced = True
        return self._clauses(said).removeprefix("it ")

    def _clauses(self, formula: Formula) -> str:
        texts: list[str] = []
        before: Term | None = None  # of which something was said with "is", so that "and cold" can follow
        for literal in conjuncts(formula):
            said = literal.body if isinstance(literal, Not) else literal
            assert isinstance(said, Atom)
            subject, state = said.arguments[0], self._state(said)
            negated = isinstance(literal, Not)
            if state is not None and before is subject:
                texts.append(f"not {state}" if negated else state)
            elif state is not None:
                texts.append(f"{self._name(subject)} is {'not ' if negated else ''}{state}")
            else:
                texts.append(f"{self._name(subject)} {self._action(said, negated=negated)}")
            before = subject if state is not None else None
        return " and ".join(texts)

    def _state(self, said: Atom) -> str | None:
        """An adjective, or a noun with its article; None for verbs and what has two arguments."""
        name = said.predicate
        if len(said.arguments) == 2 or name in self._verbs or name.startswith("can_"):
            return None
        article = "an " if name[:1] in "aeiou" else "a "
        return f"{article if name in self._nouns else ''}{_words(name)}"

    def _action(self, said: Atom, *, negated: bool) -> str:
        verb, *rest = said.predicate.split("_")
        match verb:
            case "can":
                first = "cannot" if negated else "can"
            case "is":
                first = "is not" if negated else "is"
            case _ if negated:
                first = f"does not {plain_form(verb)}"
            case _:
                first = verb
        return " ".join([first, *rest, *map(self._name, said.arguments[1:])])

    def _name(self, term: Term) -> str:
        match term:
            case Var() if self._introduced:
                return "it"
            case Var():
                self._introduced = True
                return "something"
            case _:
                return _words(term.function)


def _speaks_only_of(variable: Var, said: Formula) -> bool:
    literals = [literal.body if isinstance(literal, Not) else literal for literal in conjuncts(said)]
    return all(isinstance(part, Atom) and part.arguments[:1] == (variable,) for part in literals)


def _words(name: str) -> str:
    return name.replace("_", " ")
