"""The rule systems of the method, ``TRAIN`` and ``FOLIO`` (the same and the quantifier rules), and others.

``COMPLETE`` extends ``FOLIO`` to all of first-order logic; it is the package's own and no part of the method.

Each is a TOML file; ``train.toml`` and ``folio.toml`` are the examples to follow. A schema is written as ``proof-r1
rules`` shows it: patterns of principal premises in brackets, then those of minor premises, then the conclusion. It is
proved by a theorem of the same name: in ``theories/``, or one that Lean's kernel accepted for the file's manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, cast, get_args

import msgspec

from proof_r1_formal.errors import CatalogueError, ParseError, SignatureError
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.rules.schema import GOAL_BINDING, Catalogue, Condition, Example, Rule, Schema, schema
from proof_r1_formal.text.parse import parse_formula

RuleSystem: TypeAlias = Literal["train", "folio", "complete"]
"""The names of the package's catalogues."""
_T = TypeVar("_T")
_MANIFEST = ".manifest.json"
"""The end of the name of a file's manifest, in the place of ``.toml``."""


class _Schema(msgspec.Struct, forbid_unknown_fields=True):
    """A schema that is more than its patterns: with conditions, or with a Lean term that proves it."""

    says: str
    conditions: tuple[str, ...] = ()
    proof: str = ""


class _Rule(msgspec.Struct, forbid_unknown_fields=True):
    meaning: str
    example: str
    schemata: dict[str, object]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    rules: dict[str, object]
    aliases: dict[str, str] = {}
    extends: str | None = None
    unchecked: bool = False
    hypotheses: bool = False


def read_catalogue(path: Path) -> Catalogue:
    """The catalogue in a TOML file; its name is that of the file.

    Raises:
        CatalogueError: the file cannot be read, or is not a catalogue; the message says where.
    """
    try:
        file = msgspec.toml.decode(path.read_bytes(), type=_File)
        extended = None if file.extends is None else _extended(file.extends)
        rules = tuple([_rule(name, rule) for name, rule in file.rules.items()])
        aliases: Mapping[str, str] = file.aliases
        if extended is not None:
            rules, aliases = (*extended.rules, *rules), {**extended.aliases, **aliases}
        manifest = None if path.parent == _FOLDER else path.with_suffix(_MANIFEST)
        hypotheses = file.hypotheses or (extended is not None and extended.hypotheses)
        made = Catalogue(path.stem, rules, aliases, manifest=manifest, unchecked=file.unchecked, hypotheses=hypotheses)
        if path.parent != _FOLDER and GOAL_BINDING in file.rules:
            _require_goal_binding(made)
        if path.parent != _FOLDER:  # the tests try those of the package
            _require_examples(made, file.rules)
        return made
    except (OSError, ValueError, CatalogueError) as error:
        raise CatalogueError(f"{path}: {error}") from error


def _extended(name: str) -> Catalogue:
    if name not in (known := get_args(RuleSystem)):
        raise CatalogueError(f"extends: unknown catalogue {name!r}; available: {', '.join(known)}")
    return _built_in(cast(RuleSystem, name))


def _rule(name: str, written: object) -> Rule:
    rule = _convert(written, _Rule, f"rule {name!r}")
    dependencies, conclusion = _parts(rule.example, f"the example of {name}")
    schemata = [_schema(each, text, f"rule {name!r}, schema {each!r}") for each, text in rule.schemata.items()]
    return Rule(name, rule.meaning, tuple(schemata), Example(dependencies, conclusion))


def _require_examples(made: Catalogue, names: Iterable[str]) -> None:
    """Refuse an example that is not an instance of its rule: one of the two is not what its writer means."""
    from proof_r1_formal.engine.embedded import EmbeddedSolver
    from proof_r1_formal.engine.oracle import Answers, Oracle
    from proof_r1_formal.rules.check import Match, check_rule

    oracle = Oracle(Answers(EmbeddedSolver(), tables=True))
    for rule in [each for each in made.rules if each.name in names]:
        text = f"{'; '.join(rule.example.dependencies)} ⊢ {rule.example.conclusion}"
        try:
            dependencies = tuple(map(parse_formula, rule.example.dependencies))
            conclusion = parse_formula(rule.example.conclusion)
            Signature.infer((*dependencies, conclusion))
        except (ParseError, SignatureError) as error:
            raise CatalogueError(f"the example of {rule.name}, {text!r}: {error}") from error
        found = [
            check_rule(rule, dependencies, conclusion, oracle, terminal=terminal, hypotheses=made.hypotheses)
            for terminal in (False, True)
        ]
        if not any(isinstance(each, Match) for each in found):
            schemata = ", ".join([each.name for each in rule.schemata])
            problem = f"is not an instance of its schema ({schemata}); change the one that is wrong"
            raise CatalogueError(f"the example of {rule.name}, {text!r}, {problem}")


def _convert(written: object, to: type[_T], what: str) -> _T:
    """A part of a file; an error says which."""
    try:
        return msgspec.convert(written, to)
    except msgspec.ValidationError as error:
        raise CatalogueError(f"{what}: {error}") from error


def _require_goal_binding(made: Catalogue) -> None:
    """Refuse a GOAL_BINDING of another meaning: the verifier lets it restate, and pays it as the last action."""
    bound = TRAIN.find(GOAL_BINDING)
    own = made.find(GOAL_BINDING)
    if own is None or bound is None or own.schemata != bound.schemata:
        advice = "rename it, or extend 'train', which has that rule"
        raise CatalogueError(f"rule {GOAL_BINDING!r}: the name is reserved for the rule of the last action; {advice}")


def _condition(name: str, what: str) -> Condition:
    if name not in (known := [each.value for each in Condition]):
        raise CatalogueError(f"{what}: unknown condition {name!r}; available: {', '.join(known)}")
    return Condition(name)


def _schema(name: str, given: object, what: str) -> Schema:
    written = _Schema(given) if isinstance(given, str) else _convert(given, _Schema, what)
    conditions = [_condition(each, what) for each in written.conditions]
    premises, conclusion = _parts(written.says, what)
    principal = [part[1:-1] for part in premises if part.startswith("[") and part.endswith("]")]
    minor = [part for part in premises if not part.startswith("[")]
    if len(principal) + len(minor) != len(premises):
        raise CatalogueError(f"{what}: a bracket is not closed in {written.says!r}")
    try:
        return schema(name, "; ".join(principal), "; ".join(minor), conclusion, *conditions, proof=written.proof)
    except ParseError as error:
        raise CatalogueError(f"{what}: {error}") from error


def _parts(text: str, what: str) -> tuple[tuple[str, ...], str]:
    """The parts before ⊢, and the one after it."""
    before, turnstile, conclusion = text.partition("⊢")
    if not turnstile or not conclusion.strip():
        raise CatalogueError(f"{what}: {text!r} has no ⊢ with a conclusion after it")
    return tuple([part.strip() for part in before.split(";") if part.strip()]), conclusion.strip()


def catalogue(name: str) -> Catalogue:
    """``train``, ``folio``, ``complete``, or the catalogue in a file whose name ends in ``.toml``.

    Raises:
        CatalogueError: the name is unknown, or the file is not a catalogue.
    """
    known = get_args(RuleSystem)
    if name in known:
        return _built_in(cast(RuleSystem, name))
    if name.endswith(".toml"):
        return read_catalogue(Path(name))
    raise CatalogueError(
        f"no rule catalogue {name!r}; there are {', '.join(map(repr, known))}, and files whose names end in .toml"
    )


_FOLDER = Path(__file__).resolve().parent


@cache
def _built_in(name: RuleSystem) -> Catalogue:
    return read_catalogue(_FOLDER / f"{name}.toml")


TRAIN = _built_in("train")
"""R_train: the rules of training on ProverQA."""
FOLIO = _built_in("folio")
"""R_folio: R_train and seven rules about quantified formulas."""
COMPLETE: Catalogue
"""R_folio and rules for whole proofs of first-order logic with equality, whose steps may stand under hypotheses."""


def __getattr__(name: str) -> Catalogue:
    """``COMPLETE``, which is read when it is first used: its equations need the grammar."""
    if name == "COMPLETE":
        return _built_in("complete")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
