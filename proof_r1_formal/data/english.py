"""Templated English to formulas, through ``grammars/english.lark``; ``docs/english.md`` says what each sentence means.

In: a sentence in the English of ProofWriter, RuleTaker and PrOntoQA. Out: a closed formula, or a
:class:`~proof_r1_formal.errors.ParseError` that says where, what was expected, and shows a caret.

Adjectives and nouns are predicates of one argument, nouns in the singular (``red``, ``wumpus``); verbs are named by
their third person, with ``can`` before and a preposition behind them (``chases``, ``can_fly``, ``runs_through``);
``Bob`` and ``the bald eagle`` are the constants ``Bob`` and ``the_bald_eagle``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lark import Token, Tree

from proof_r1_formal.data.inflection import plain_form, singular, third_person
from proof_r1_formal.data.trees import tree_of
from proof_r1_formal.errors import ParseError
from proof_r1_formal.kernel.syntax import (
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Term,
    atom,
    conjunction,
    const,
    disjunction,
    var,
)
from proof_r1_formal.kernel.transform import negate

MAX_SENTENCE = 1_000
"""The longest sentence that is read, in characters."""

_LISTS = ("is_all", "is_any")
_X = var("x")  # words have two letters or more, so no predicate is called like the variable


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, each with its full stop.

    >>> sentences("Bob is red. All red things are kind.")
    ('Bob is red.', 'All red things are kind.')
    """
    return tuple([found.strip() for found in re.findall(r"[^.]*\.|[^.]+", text) if found.strip()])


def parse_english(sentence: str) -> Formula:
    """The formula of one sentence.

    Raises:
        ParseError: the grammar does not accept the sentence.

    >>> from proof_r1_formal import show
    >>> show(parse_english("If something is red and it does not chase the bald eagle then it is a cat."))
    '∀x (red(x) ∧ ¬chases(x, the_bald_eagle) → cat(x))'
    >>> show(parse_english("Young, quiet people are not rough."))
    '∀x (young(x) ∧ quiet(x) → ¬rough(x))'
    """
    return _parse(sentence)


@lru_cache(maxsize=1 << 14)
def _parse(sentence: str) -> Formula:
    if not sentence.strip():
        raise ParseError(sentence, 0, "an empty sentence")
    tree = tree_of("english", sentence, most=MAX_SENTENCE, kind="sentence", words=_DESCRIPTIONS)
    return _Reader(sentence).formula(tree)


# -- trees to formulas ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of a clause: ``it``, ``they`` (plural, but of one thing), ``the bald eagle``."""

    term: Term
    plural: bool


class _Reader:
    """Builds the formula of one sentence, which can have one unnamed subject: ``something``, then ``it``."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._introduced = False

    def formula(self, start: Tree[Token]) -> Formula:
        (tree,) = start.children
        assert isinstance(tree, Tree)
        parts: list[Any] = tree.children
        match tree.data:
            case "conditional":
                condition, of_any = self._parts(parts[0].children), self._introduced
                conclusion = self._parts(parts[1].children)
                if of_any:
                    return ForAll(_X, Implies(condition, conclusion))
                return Implies(condition, Exists(_X, conclusion) if self._introduced else conclusion)
            case "statement":
                said = self._parts(parts[0].children)
                return Exists(_X, said) if self._introduced else said
            case "general":
                return self._general(*parts)
        raise AssertionError(f"grammar rule {tree.data} has no meaning")

    def _general(self, kind: Tree[Token], verb_phrase: Tree[Token], *rest: Tree[Token]) -> Formula:
        words = _tokens(kind)
        first = words[0]
        verb = words.pop() if kind.data == "kind_acts" else None
        subject, described = self._kind(kind, first, words)
        self._introduced = True
        said = self._predicate(subject, verb, verb_phrase)
        for part in rest:
            if part.data == "clause" and _tokens(part)[0].type != "PRONOUN":
                raise self._error(_tokens(part)[0], "a statement about another subject needs a separate sentence")
        if first.type in ("NO", "EVERYTHING") and first.lower().startswith("no"):
            if unclear := [*rest, *([verb_phrase] if verb_phrase.data in _LISTS else [])]:
                raise self._error(_tokens(unclear[0])[-1], f"{first.value!r} with a list can be read in two ways")
            said = negate(said)
        else:
            if rest and verb_phrase.data == "is_any":
                raise self._error(_tokens(rest[0])[0], "'or' beside 'and' can be read in two ways")
            said = self._parts(rest, (said,), subject, stative=verb_phrase.data == "is")
        return ForAll(_X, Implies(conjunction(described), said) if described else said)

    def _kind(self, kind: Tree[Token], first: Token, words: list[Token]) -> tuple[_Subject, tuple[Formula, ...]]:
        """The subject of ``every red cat`` or ``everything that is a cat or a dog``, and its description."""
        last = kind.children[-1]
        if first.type == "EVERYTHING" and isinstance(last, Tree):
            subject = _Subject(_X, plural=False)
            return subject, (self._list(last, subject),)
        thing = next((word for word in words if word.type == "THING"), None)
        names = [word for word in words if word.type in ("KIND", "WORD")]
        described = [word.lower() for word in names]
        if not described and thing is None and first.type != "EVERYTHING":
            raise self._error(first, f"a noun or a verb is missing after {first.value!r}")
        if thing is not None:
            plural = thing.lower() in ("things", "people")
        elif names and (first.type in ("ALL", "KIND") or (first.type == "NO" and singular(described[-1]) is not None)):
            plural, one = True, singular(described[-1])
            if one is None:
                problem = f"{names[-1].value!r} is not a plural, and neither 'things' nor 'people' follows"
                raise self._error(names[-1], problem)
            described[-1] = one
        else:
            plural = False
        if first.type in ("EVERY", "A", "ALL", "THING", "KIND") and plural != (first.type not in ("EVERY", "A")):
            raise self._error(first, f"{first.value!r} does not agree with the number of its noun")
        return _Subject(_X, plural), tuple([atom(name, _X) for name in described])

    def _parts(
        self,
        parts: Sequence[Tree[Token]],
        said: tuple[Formula, ...] = (),
        subject: _Subject | None = None,
        *,
        stative: bool = False,
    ) -> Formula:
        """The conjunction of ``said`` and of the parts; a part without a subject has the subject of the one before.

        ``stative``: the last part had "is" or "are", so an adjective alone can follow.
        """
        listed = [part for part in parts if any(part.find_data("is_any"))]
        if listed and len(parts) + len(said) > 1:
            raise self._error(_tokens(listed[0])[-1], "'or' beside 'and' can be read in two ways")
        for part in parts:
            children: list[Any] = part.children
            if part.data == "clause":
                subject, verb = self._subject(children[0])
                added = self._predicate(subject, verb, children[1])
                stative = children[1].data == "is"
            else:
                assert subject is not None, "the grammar begins with a clause"
                if part.data == "rest_is" and not stative:
                    raise self._error(_tokens(part)[0], "a verb is missing: there is no 'is' or 'are' directly before")
                match part.data:
                    case "rest_is":
                        state = self._state(children[-1], subject)
                        added = Not(state) if len(children) == 2 else state
                    case "rest_does":
                        added = self._action(children[0], part, subject)
                    case _:
                        added = self._phrase(part, subject)
                stative = part.data in ("is", "rest_is")
            said = (*said, added)
        return conjunction(said)

    def _predicate(self, subject: _Subject, verb: Token | None, rest: Tree[Token]) -> Formula:
        return self._phrase(rest, subject) if verb is None else self._action(verb, rest, subject)

    # -- who or what

    def _subject(self, tree: Tree[Token]) -> tuple[_Subject, Token | None]:
        """The subject of a clause, and its verb if that belongs to the same tree."""
        words = _tokens(tree)
        verb = words.pop() if tree.data == "subject_acts" else None
        if len(words) == 1 and words[0].type == "THE":
            assert verb is not None
            raise self._error(verb, f"a verb is missing after 'the {verb}'")
        return _Subject(self._term(words), words[0].lower() == "they"), verb

    def _term(self, words: list[Token]) -> Term:
        first = words[0]
        match first.type:
            case "NAME":
                return const("_".join(first.split()))
            case "THE":
                return const("_".join(["the", *words[1:]]))
            case "SOMETHING":
                if self._introduced:
                    raise self._error(first, f"{first.value!r} for a second thing; a sentence can speak of one")
                self._introduced = True
                return _X
        if not self._introduced:
            raise self._error(first, f"the referent of {first.value!r} is unclear; it must be 'something' or 'every …'")
        return _X

    # -- what is said of it

    def _phrase(self, tree: Tree[Token], subject: _Subject) -> Formula:
        head, *rest = [child for child in tree.children if not (isinstance(child, Token) and child.type == "NOT")]
        assert isinstance(head, Token)
        negated = head.type == "CANNOT" or len(rest) + 1 < len(tree.children)
        if head.type in ("IS", "ARE", "DOES", "DO") and (head.type in ("ARE", "DO")) != subject.plural:
            raise self._error(head, f"{head.value!r} does not agree with its subject")
        parts: list[Any] = rest
        if tree.data in ("is", *_LISTS):
            said = self._list(parts[0], subject)
        else:
            said = self._action(parts[0], parts[1], subject, plain=True, prefix="can_" if tree.data == "can" else "")
        return Not(said) if negated else said

    def _list(self, tree: Tree[Token], subject: _Subject) -> Formula:
        """One state, all states of a list, or (inclusively) any of them."""
        if tree.data == "state":
            return self._state(tree, subject)
        states = [child for child in tree.children if isinstance(child, Tree)]
        for state in states if tree.data == "any" else ():
            words = _tokens(state)
            if words[0].type != "A" and not (subject.plural and singular(words[0])):
                word = next(child for child in tree.children if isinstance(child, Token))
                raise self._error(word, f"unexpected {word.value!r}, which joins nouns only")
            if "," in self._text[words[0].start_pos : words[-1].start_pos]:
                raise self._error(words[-1], "a comma inside a part of a list with 'or' can be read in two ways")
        said = tuple([self._state(state, subject) for state in states])
        return disjunction(said) if tree.data == "any" else conjunction(said)

    def _state(self, tree: Tree[Token], subject: _Subject) -> Formula:
        words = _tokens(tree)
        if words[0].type == "PREPOSITION" and len(words) > 1:
            return atom(f"is_{words[0]}", subject.term, self._term(words[1:]))
        names = [str(word) for word in words if word.type != "A"]
        if words[0].type == "WORD" and subject.plural:
            names = [singular(names[0]) or names[0]]
        return conjunction(tuple([atom(name, subject.term) for name in names]))

    def _action(
        self, verb: Token, complement: Tree[Token], subject: _Subject, *, plain: bool = False, prefix: str = ""
    ) -> Formula:
        """The atom of a verb about the subject, and about the object in ``complement`` if there is one."""
        looks_third = plain_form(verb) is not None and not verb.endswith(("ss", "us"))
        if looks_third == (plain or subject.plural):
            wanted = "plain" if looks_third else "third-person"
            raise self._error(verb, f"expected a verb in its {wanted} form, not {verb.value!r}")
        name = prefix + (str(verb) if looks_third or prefix else third_person(verb))
        words = [word for word in _tokens(complement) if word is not verb]
        if words and words[0].type == "PREPOSITION":
            name = f"{name}_{words.pop(0)}"
        return atom(name, subject.term, self._term(words)) if words else atom(name, subject.term)

    def _error(self, token: Token, problem: str) -> ParseError:
        return ParseError(self._text, token.start_pos or 0, problem)


def _tokens(tree: Tree[Token]) -> list[Token]:
    return list(tree.scan_values(lambda value: isinstance(value, Token)))


# -- errors -----------------------------------------------------------------------------------------------------------

_DESCRIPTIONS = {
    "_IF": "'if'",
    "_THEN": "'then'",
    "_AND": "'and'",
    "OR": "'or'",
    "_ITEM": "','",
    "_THAT": "'that is'",
    "_STOP": "a full stop",
    "_COMMA": "','",
    "$END": "the end",
    "NAME": "a name",
    "WORD": "a word",
    "NOT": "'not'",
    "THING": "'things'",
    "THE": "'the'",
    "PREPOSITION": "a preposition",
    **dict.fromkeys(("IS", "ARE"), "'is'"),
    **dict.fromkeys(("DOES", "DO"), "'does not'"),
    **dict.fromkeys(("CAN", "CANNOT"), "'can'"),
    "A": "'a'",
    **dict.fromkeys(("EVERY", "ALL", "NO", "KIND", "EVERYTHING"), "'every'"),
    **dict.fromkeys(("SOMETHING", "PRONOUN", "OBJECT"), "'something'"),
}
