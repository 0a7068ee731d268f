"""Quantifiers with their variables, as notations write them: ``∀x``, ``forall x y : S,``, ``∃!x``, ``∀ (x : S),``.

In: the text of a BINDER token of ``grammars/infix.lark``. Out: a :class:`Binder`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from proof_r1_formal.kernel.syntax import ENTITY, Eq, Exists, ForAll, Formula, Iff, Not, Var
from proof_r1_formal.text.names import unquote
from proof_r1_formal.text.readings import is_universal


@dataclass(frozen=True, slots=True)
class Binder:
    """A quantifier with its variables, and the names of these as written.

    Attributes:
        quantify: the formula of a variable and what the quantifier says about it.
        far: whether a dot, comma or colon ends them.
        shares: whether the sort of a variable may be that of those before it, too.
        single: whether it can have one variable only.
    """

    quantify: Callable[[Var, Formula], Formula]
    variables: tuple[Var, ...]
    written: tuple[str, ...]
    far: bool
    shares: bool
    single: bool


_BINDER_PART = re.compile(r'"(?:[^"\\]|\\.)+"|\\(?:[,;:! ]|q?quad)|(?:[^\s:：,，.。()\[\]"\\]|\\_)+|[:：,，()]')
_QUANTIFIER = re.compile(r"∀|∃!?|∄|\\n?exists!?|\\forall|[A-Za-z]+!?|[!?]")


def _exactly_one(variable: Var, body: Formula) -> Formula:
    """``∃!x P(x)``, which is ``∃x1 ∀x (P(x) ↔ x = x1)``."""
    taken = {each.name for each in body.free}
    number = next(n for n in count(1) if f"{variable.name}{n}" not in taken)
    other = Var(f"{variable.name}{number}", variable.sort)
    return Exists(other, ForAll(variable, Iff(body, Eq(variable, other))))


def no(variable: Var, body: Formula) -> Formula:
    """``∄x P(x)``."""
    return Not(Exists(variable, body))


@lru_cache(maxsize=4096)
def read_binder(text: str) -> Binder:
    """The quantifier and variables of a BINDER token. A sort is that of all names since the last comma."""
    word = _QUANTIFIER.match(text)
    assert word is not None, text
    sign = word[0]
    found: list[tuple[str, str | None]] = []
    group: list[str] = []
    typed = False
    for part in _BINDER_PART.findall(text, word.end()):
        if part in ":：":
            typed = True
        elif typed and part not in ",，()":
            found += [(name, part) for name in group]
            group, typed = [], False
        elif part in ",，()":
            found += [(name, None) for name in group]
            group = []
        elif part[0] != "\\":
            group.append(part)
    found += [(name, None) for name in group]
    single = sign.startswith(("∄", "\\n")) or (sign.endswith("!") and sign != "!")
    plain: type[ForAll] | type[Exists] = ForAll if is_universal(sign) else Exists
    return Binder(
        (_exactly_one if sign.endswith("!") else no) if single else plain,
        tuple([Var(unquote(name), unquote(sort) if sort else ENTITY) for name, sort in found]),
        tuple([name for name, _ in found]),
        text[-1] in ".,:。，：",
        sign not in "!?" and found[0][1] is None and any(sort is not None for _, sort in found),
        single,
    )
