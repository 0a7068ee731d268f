"""Texts with two plausible readings: a strict parser rejects them and says both readings.

In: a text, the tokens of a formula and the scopes of its quantifiers, or what the parser made of a name. Out: nothing,
or an :class:`AmbiguousError` at the place that can be read in two ways. ``docs/parsing.md`` lists the rules. A name in
double quotes is never ambiguous.

One module, because each rule looks at the same tokens and scopes, in one pass over them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proof_r1_formal.text.names import (
    DECIMAL,
    INFIX_WORDS,
    JOINED_ATOMS,
    JOINED_LETTERS,
    dotted,
    resembles,
    unquote,
    words_of,
)

if TYPE_CHECKING:
    from lark import Token

QUANTIFIER_WORDS = frozenset({"forall", "all", "exists", "some"})
RESERVED_WORDS = QUANTIFIER_WORDS | {"not", "and", "or", "xor", "implies", "iff", "true", "false"}
"""Words that are operators, quantifiers and truth values in any case, and no names unless in quotes."""

LOOK_ALIKES: Mapping[str, str] = {**dict.fromkeys("vVνᴠⅴⅤⱱ˅ᐯꓦ", "∨"), **dict.fromkeys("ΛɅʌᴧ˄ᐱꓥ", "∧")}
"""Letters that people type for a connective -> the connective."""
PROSE_FIRST = words_of(
    "an any because but each either every everyone everything he if it neither no nobody nor nothing she that the then "
    "there these they this those unless we what when which while who whoever you"
)
"""Words that begin a sentence, in any case, and no application by juxtaposition."""
PROSE_ANYWHERE = words_of("an are did do does had has have is the was were")
"""Words that are not an argument of a juxtaposition; nor is a contraction."""
_FUNCTION_WORDS = words_of("fun lambda λ")
CONTRACTION = re.compile(r"\w+n['’]t")
PROSE_INSIDE = words_of(
    "about also always any as at be been but by can could each every for from her his if in into its may might must "
    "never no nor of on only over shall should than that their then to which who whose will with would"
)
"""Words that are not an argument of a juxtaposition unless they are its last one."""

_START = r"(?=\s+(?!(?ai:and|or|xor|implies|iff|v)(?!\w))(?:[\w(¬~!∀∃⊤⊥\"\[\\$]|-(?!>)))"
_LIST_MARKER = re.compile(
    rf"\s*(?:([-−*•–—])(?=\s)|((?:\d{{1,3}}|[^\W\d_]|[ivxIVX]{{1,4}})[.)]|\(\w{{1,3}}\)){_START})"
)


_NEGATIONS = ("-", "−")


def list_markers(text: str) -> str:
    """The numbers and bullets of an item of a list, or of a list in a list; nothing where a letter may be a name.

    Nor where a dash may be a negation, which is where no other marker follows.
    """
    end, last = 0, None
    while marker := _LIST_MARKER.match(text, end):
        end, last = marker.end(), marker[1]
        if any(char.isalpha() for char in marker[0]):
            return ""
    return "" if last in _NEGATIONS else text[:end]


class AmbiguousError(Exception):
    """A text with two plausible readings: the offset of the place, and a sentence that says both."""

    def __init__(self, offset: int, problem: str) -> None:
        super().__init__(problem)
        self.offset = offset
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Scope:
    """A quantifier in a formula, and its variables, as written.

    Attributes:
        end: the index of the token after its scope.
        far: whether its scope is longer than the next complete formula.
    """

    written: str
    variables: tuple[str, ...]
    end: int
    far: bool

    @property
    def dotted(self) -> bool:
        """Whether a dot ends the list of its variables."""
        return self.written[-1] in ".。"

    @property
    def bracketed(self) -> bool:
        """Whether brackets around its variables end their list, as in ``![x]:`` and ``∀ (x : S),``."""
        return re.search(r"[\])]\s*[:.,]\s*\Z", self.written) is not None


def require_no_list_marker(text: str) -> None:
    """Refuse a text that begins like an item of a list: ``1. P(a)``, ``A) P(a)``, ``- P(a)``.

    Raises:
        AmbiguousError: it does.
    """
    marker = _LIST_MARKER.match(text)
    if marker is None:
        return
    sign = marker[1] or marker[2]
    if sign in _NEGATIONS:
        problem = f"{sign!r} may be a list marker or a negation; leave it out, write '¬', or drop the blank after it"
    else:
        problem = f"{sign!r} looks like a list marker, which is not part of a formula; leave it out"
    raise AmbiguousError(marker.start(marker.lastindex or 0), problem)


_UNCLEAR = re.compile(
    r"(?P<control>[\t\v\f\x1c-\x1f\x85\u2028\u2029]|\r(?!\n)|\n(?=(?:eg|eq|e|ot)(?!\w)))"
    r"|(?P<number>(?<![\w.])\d{1,3}(?:,\d{3})+(?!\w))"
    r"|(?P<joined>(?<![\w&])(?:\w+&\w+(?=\()|(?:[A-Z]{2,}&[A-Z]+|[A-Z]+&[A-Z]{2,})(?![\w&])))|(?P<dot>(?<=\w)[·•⋅∙](?=\w))"
)


def require_clear_characters(text: str) -> None:
    """Refuse control characters for blanks, ``1,000`` and ``AT&T(x)`` in a text whose names in quotes are harmless.

    Raises:
        AmbiguousError: the text has one of them.
    """
    found = _UNCLEAR.search(text)
    if found is None:
        return
    part = found[0]
    if found.lastgroup == "number":
        problem = f"{part!r} may be one number, written '\"{part}\"', or two arguments, written with a blank"
    elif found.lastgroup == "joined":
        left, _, right = part.partition("&")
        problem = f"{part!r} may be one name, written '\"{part}\"', or '{left} ∧ {right}', written with blanks"
    elif found.lastgroup == "dot":
        problem = f"{part!r} between letters may be part of a name, in quotes, or '∧', with blanks"
    else:
        problem = (
            f"U+{ord(part[0]):04X} may be a blank or part of a LaTeX command that lost its backslash (JSON reads "
            "'\\t' as a tab and needs '\\\\to'); write a space or the sign"
        )
    raise AmbiguousError(found.start(), problem)


def require_one_reading(
    tokens: Sequence[Token], scopes: Mapping[int, Scope], own: Collection[str] = frozenset()
) -> None:
    """Refuse the tokens of an infix formula that a person might read in another way than the grammar does.

    Args:
        tokens: of the formula.
        scopes: of each quantifier, by the index of its token.
        own: of the notation, see :class:`~proof_r1_formal.text.conventions.Convention`.

    Raises:
        AmbiguousError: there are two plausible readings.
    """
    bound = {unquote(written) for scope in scopes.values() for written in scope.variables}
    in_list: list[bool] | None = None  # for few formulas only
    for index, token in enumerate(tokens):
        if token.type == "GLUED":
            raise ambiguous(token, _split_word(token.value))
        if token.type == "_XOR" and token.value == "^":
            raise ambiguous(token, "'^' may be ⊕ (exclusive or) or ∧ (and); write the sign that is meant")
        if token.type == "_NOT" and token.value in _NEGATIONS:
            _require_negation(tokens, index, own)
        if token.type not in ("NAME", "CALL"):
            continue
        if token.value.lower() in QUANTIFIER_WORDS:
            in_list = in_list or _lists(tokens)
            if token.type == "CALL" or not in_list[index]:
                sign = "∀" if is_universal(token.value) else "∃"
                problem = f"{str(token)!r} may be a quantifier or a name; write '{sign}x …', or the name in quotes"
                raise ambiguous(token, problem)
        if token.type == "NAME" and (index == 0 or tokens[index - 1].type != "NAME"):
            last = index
            while last + 1 < len(tokens) and tokens[last + 1].type == "NAME":
                last += 1
                _require_one_line(tokens[last - 1], tokens[last])
            if last + 1 < len(tokens) and tokens[last + 1].type == "_LPAR":
                _require_one_line(tokens[last], tokens[last + 1])
            if last > index:
                in_list = in_list or _lists(tokens)
            joined = (JOINED_ATOMS if "Fx" in own else JOINED_LETTERS).fullmatch(token.value)
            if joined is not None and last == index and token.value not in bound:
                in_list = in_list or _lists(tokens)
                if not in_list[index]:
                    meant = " ∨ ".join(joined.groups())
                    problem = f"{str(token)!r} may be one name, written '\"{token}\"', or '{meant}', with the sign"
                    raise ambiguous(token, problem)
            inside = in_list is not None and in_list[index]
            scope = scopes.get(index - 1)
            _require_words(tokens, index, last, bound, scope, inside=inside)
            comma = "∀x," in own and scope is not None and scope.written[-1] in ",，"
            ended = scope is None or scope.dotted or scope.bracketed or comma
            if scope is not None and not ended:
                _require_predicate(tokens, index, last, bound, scope)
    _require_bindings(tokens, scopes)


def require_prefix_notation(tokens: Sequence[Token]) -> None:
    """Refuse the tokens of a formula in prefix notation that has an application of the infix notation in it.

    Raises:
        AmbiguousError: it has.
    """
    for token in tokens:
        if token.type == "GLUED":
            raise ambiguous(token, _split_word(token.value))
        if token.type == "CALL":
            name = token.value
            raise ambiguous(
                token,
                f"'{name}(' may apply {name!r}, which prefix notation writes '({name} …)', or be the "
                f"proposition {name!r} and another formula, with a blank between them",
            )


# -- words side by side -----------------------------------------------------------------------------------------------


def _require_words(
    tokens: Sequence[Token], first: int, last: int, bound: set[str], scope: Scope | None, *, inside: bool
) -> None:
    """Check names that stand side by side; ``scope``: of a quantifier right before them, ``inside``: of a list."""
    words = tokens[first : last + 1]
    before = tokens[first - 1].type if first else ""
    after = tokens[last + 1].type if last + 1 < len(tokens) else ""
    for place, word in enumerate(words):
        if "." in word.value[1:] and word.value[0] != '"' and (place or len(words) > 1) and not DECIMAL.search(word):
            raise ambiguous(word, dotted(word.value))
        follows = place > 0 or before == "_RPAR"
        goes_on = place < len(words) - 1 or after in ("CALL", "_LPAR", "_NOT", "BINDER")
        if word.value in LOOK_ALIKES and word.value not in bound and follows and goes_on:
            sign = LOOK_ALIKES[word.value]
            problem = f"{str(word)!r} may be a name or stand for {sign!r}"
            raise ambiguous(word, f"{problem}; write '{sign}', or an application as 'P({word}, …)'")
    shown = " ".join([word.value for word in words])
    if before != "_RPAR" and (len(words) > 1 or after == "CALL"):
        _require_no_prose(words, shown, bound, complete=after not in ("CALL", "_LPAR"))
    head = words[0]
    if head.value in _FUNCTION_WORDS and len(words) > 1 and after == "_IMPLIES" and tokens[last + 1].value == "=>":
        raise ambiguous(
            head, f"'{shown} =>' may begin a function of Lean, which is not a formula, or be '{head.value}(…) →'"
        )
    if after == "CALL":
        call = tokens[last + 1].value
        if scope is not None and not scope.dotted and len(words) == 1:
            raise ambiguous(head, _variable_or_predicate(scope, head.value, f"({call}(…))"))
        raise ambiguous(
            tokens[last + 1],
            f"'{call}(…)' may be an argument of {head.value!r}, written '{head.value}({call}(…))', or another formula, "
            "with a connective before it",
        )
    if scope is not None and head.value == "in" and (len(words) > 1 or after == "_LPAR"):
        raise ambiguous(
            head,
            f"{head.value!r} may say which elements {scope.written.strip()!r} is about, which is written with → or ∧, "
            f"or be a predicate, written '{head.value}(…)'",
        )
    if before == "_RPAR" and [token.type for token in tokens[last + 1 : last + 4]] == ["_LPAR", "NAME", "_RPAR"]:
        raise ambiguous(head, _argument_or_formula(shown))
    if before == "_LPAR" and after == "_RPAR" and len(words) == 1 and first > 1 and tokens[first - 2].type == "NAME":
        following = tokens[last + 2] if last + 2 < len(tokens) else None
        if following is not None and following.type in ("NAME", "CALL", "_LPAR"):
            raise ambiguous(following, _argument_or_formula(following.value))
    if len(words) > 1 and (inside or after in _EQUALITY or before in _EQUALITY):
        function = f"{head.value}({', '.join([word.value for word in words[1:]])})"
        raise ambiguous(
            head,
            f"{shown!r} may be one name, written '\"{shown}\"', or a function with arguments, written '{function}'",
        )


def _require_negation(tokens: Sequence[Token], index: int, own: Collection[str]) -> None:
    """Refuse ``P |- Q``, where the signs may be ⊢, and ``-a = b``, where the dash may be part of a term."""
    token, before = tokens[index], tokens[index - 1] if index else None
    if before is not None and before.value == "|" and before.end_pos == token.start_pos and "|-" not in own:
        raise ambiguous(before, "'|-' may be ⊢, which is not part of a formula, or '∨ ¬', with a blank between them")
    end = index + 1
    if end == len(tokens) or tokens[end].type == "_LPAR":
        return
    depth = 0  # a negation inside ends the walk, so that nested ones are not walked through again and again
    while end < len(tokens) and tokens[end].type in _OF_TERMS and depth >= 0:
        depth += (tokens[end].type == "_LPAR") - (tokens[end].type == "_RPAR")
        end += 1
    if depth == 0 and end < len(tokens) and tokens[end].type in _EQUALITY:
        sign = token.value
        raise ambiguous(token, f"{sign!r} may belong to the term, written '\"{sign}\"(…)', or negate the equation, '¬'")


def _require_one_line(name: Token, following: Token) -> None:
    if following.line != name.line:
        between = f"a line ends between {str(name)!r} and {str(following)!r}"
        raise ambiguous(following, f"{between}, which may be one application or two formulas; write it on one line")


def _argument_or_formula(text: str) -> str:
    return (
        f"{text!r} may be another argument of the application before it, written 'P(x, …)', or another formula, with a "
        "connective before it"
    )


_EQUALITY = ("_EQ", "_NEQ")
_OF_TERMS = ("NAME", "CALL", "_LPAR", "_RPAR", "_COMMA")


def _require_no_prose(words: Sequence[Token], shown: str, bound: set[str], *, complete: bool) -> None:
    """Check that an application by juxtaposition, or the first words of one, does not look like prose."""
    for place, word in enumerate(words):
        text = word.value
        if text in bound:
            continue
        is_head = place == 0
        is_last = complete and place == len(words) - 1
        if (
            (is_head and text.lower() in PROSE_FIRST)
            or (not is_head and (text in PROSE_ANYWHERE or CONTRACTION.fullmatch(text)))
            or (not is_head and not is_last and (text in PROSE_INSIDE or text.lower() in INFIX_WORDS))
        ):
            arguments = ", ".join([*[each.value for each in words[1:]], *([] if complete else ["…"])])
            raise ambiguous(
                word,
                f"{shown!r} may be prose, because of {text!r}, or the predicate {words[0].value!r} with arguments, "
                f"written '{words[0].value}({arguments})'",
            )


# -- quantifiers ------------------------------------------------------------------------------------------------------


def _require_bindings(tokens: Sequence[Token], scopes: Mapping[int, Scope]) -> None:
    """Check that no variable may be that of an outer quantifier, and no list of variables goes on as a predicate."""
    if not scopes:
        return
    places: dict[str, list[int]] = {}
    bound_until: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.type in ("NAME", "CALL"):
            places.setdefault(unquote(token.value), []).append(index)
        elif index in scopes:
            scope = scopes[index]
            for name in map(unquote, scope.variables):
                if scope.far and scope.written[-1] not in ".,。，" and bound_until.get(name, 0) > index:
                    binder = scope.written.strip()
                    raise ambiguous(
                        token,
                        f"{binder!r} may also bind the {name!r} further right, written '{binder}. …' with a dot, or "
                        f"leave it to the quantifier of {name!r} around it, written '({binder} …)' in parentheses",
                    )
            for name in map(unquote, scope.variables):
                places.setdefault(name, []).append(index)
                bound_until[name] = max(bound_until.get(name, 0), scope.end)
    for index, scope in scopes.items():
        head = index + 1
        if not scope.dotted and head + 1 < scope.end and tokens[head].type == "NAME":
            name = tokens[head].value
            found = places[unquote(name)] if name[0] != '"' else []
            again = found[bisect_left(found, head + 1) :]
            if tokens[head + 1].type in ("NAME", "_LPAR") and any(
                place < scope.end and _is_argument(tokens, place) for place in again
            ):
                raise ambiguous(tokens[head], _variable_or_predicate(scope, name, "(…)"))


def _require_predicate(tokens: Sequence[Token], first: int, last: int, bound: set[str], scope: Scope) -> None:
    """Refuse names after a quantifier that may continue its list of variables: ``∀x y (P(x))``, ``∀x y P x``.

    They are an application by juxtaposition if a variable stands among its arguments before the group, or if the
    group can be nothing but arguments. Without a group they are one if the first name does not look like a variable.
    """
    head, *others = tokens[first : last + 1]
    variables = [unquote(name.value) in bound for name in others]
    if head.value[0] == '"' or variables[:1] == [True]:
        return
    grouped = last + 1 < len(tokens) and tokens[last + 1].type == "_LPAR"
    if grouped and not any(variables) and _may_be_formula(tokens, last + 1):
        raise ambiguous(head, _variable_or_predicate(scope, head.value, "(…)"))
    if others and resembles(head.value, unquote(scope.variables[-1])):
        raise ambiguous(head, _variable_or_predicate(scope, head.value, f"({others[0].value}, …)"))


def _may_be_formula(tokens: Sequence[Token], start: int) -> bool:
    """Whether the parentheses that open here may hold a formula: neither a name alone, nor a list of arguments."""
    depth, size = 0, 0
    for token in tokens[start:]:
        depth += (token.type == "_LPAR") - (token.type == "_RPAR")
        if depth == 0:
            break
        if depth == 1 and token.type == "_COMMA":
            return False
        size += token.type not in ("_LPAR", "_RPAR")
    return size > 1


def _is_argument(tokens: Sequence[Token], index: int) -> bool:
    before = tokens[index - 1].type
    opens = before == "_LPAR" and index > 1 and tokens[index - 2].type in ("NAME", "CALL")
    return before in ("NAME", "_COMMA", *_EQUALITY) or opens


def _variable_or_predicate(scope: Scope, name: str, arguments: str) -> str:
    sign = " ".join(scope.written.rstrip(", \t\r\n").split())
    return (
        f"{name!r} may be another variable, written '{sign} {name}. …' with a dot, or a predicate, "
        f"written '{name}{arguments}'"
    )


# -- reserved words ---------------------------------------------------------------------------------------------------


def _split_word(word: str) -> str:
    reserved = re.match(r"[A-Za-z]+", word)
    assert reserved is not None, word
    rest = word[reserved.end() :].lstrip("-.'’")
    return (
        f"{word!r} may be one name, written '\"{word}\"', or the word {reserved[0]!r} and {rest!r}, with a blank "
        "between them"
    )


def is_universal(word: str) -> bool:
    """Whether a quantifier, as written, is ∀."""
    return word.lower() in ("∀", "\\forall", "forall", "all", "!")


def _lists(tokens: Sequence[Token]) -> list[bool]:
    """For each token whether the parentheses that it stands in hold arguments: those of a call, or with a comma."""
    is_list: list[bool] = []  # for each pair of parentheses
    within = [-1] * len(tokens)
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.type == "_RPAR" and opened:
            opened.pop()
        within[index] = opened[-1] if opened else -1
        if token.type == "_LPAR":
            opened.append(len(is_list))
            is_list.append(index > 0 and tokens[index - 1].type == "CALL")
        elif token.type == "_COMMA" and opened:
            is_list[opened[-1]] = True
    return [place >= 0 and is_list[place] for place in within]


def ambiguous(token: Token, problem: str) -> AmbiguousError:
    """The error at a token."""
    return AmbiguousError(token.start_pos or 0, problem)
