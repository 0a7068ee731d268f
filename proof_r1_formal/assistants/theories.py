"""Schemata as theorems: a kernel compares the rendered schemata with the theorems of the theory.

In: a kernel and a catalogue. Out: a judgement on each schema, and the manifest with the judgements.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import msgspec
from msgspec import structs

from proof_r1_formal.assistants.certificate import Certificate, CertifiedStep
from proof_r1_formal.assistants.isabelle import IsabelleKernel, theory_of
from proof_r1_formal.assistants.isar import answer
from proof_r1_formal.assistants.lean import Judgement, LeanKernel, LeanTheorem
from proof_r1_formal.assistants.lean_term import lean_term
from proof_r1_formal.errors import CatalogueError
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.render import isabelle
from proof_r1_formal.render.lean import NAMESPACE, schema_statement
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.catalogue import COMPLETE
from proof_r1_formal.rules.manifest import Entry, Manifest, in_theory, statement_hash
from proof_r1_formal.rules.schema import Catalogue, Schema
from proof_r1_formal.rules.theorems import theorem


def schema_theorem(schema: Schema) -> LeanTheorem:
    """The theorem whose statement is that of the schema.

    Its proof is the theory's theorem of its name, which each of the package's schemata must have. Of other schemata it
    is that too, else the term that the schema has, else the one that is found for it.

    Raises:
        CatalogueError: no proof of it is found.
    """
    statement = schema_statement(schema.premises, schema.conclusion)
    binders = [name for group in re.findall(r"\(([^()]*) : ", statement.split(", ")[0]) for name in group.split()]
    if _has_theorem(schema):
        proof = f"{NAMESPACE}.{schema.lean}"
        binders = ["_"] * len(binders)
    elif schema.proof:
        return LeanTheorem(f": {statement}", schema.proof, own=True)
    else:
        known = [(formula, f"a{number}") for number, formula in enumerate(schema.premises)]
        signature = Signature.infer((*schema.premises, schema.conclusion))
        proof = lean_term(theorem(schema).proof, known, schema.conclusion, signature, indent=1)
        binders += [name for _, name in known]
    return LeanTheorem(f": {statement}", f"fun {' '.join(binders)} =>\n  {proof}")


def _has_theorem(schema: Schema) -> bool:
    """Whether the theory has the schema as a theorem, by the manifest; one of the package's schemata must be there."""
    of_package = any(schema in rule.schemata for rule in COMPLETE.rules)
    return of_package or in_theory(schema.lean, schema.premises, schema.conclusion)


def check_schemata(kernel: LeanKernel, catalogue: Catalogue) -> dict[str, Judgement]:
    """The kernel's judgement on each schema of the catalogue, by name."""
    theorems: dict[str, LeanTheorem] = {}
    judgements: dict[str, Judgement] = {}
    for schema in [schema for rule in catalogue.rules for schema in rule.schemata]:
        try:
            theorems[schema.name] = schema_theorem(schema)
        except CatalogueError as error:
            judgements[schema.name] = Judgement(False, str(error))
    return judgements | dict(zip(theorems, kernel.check(list(theorems.values())), strict=True))


_CHECKER: Mapping[str, str] = {
    "check_sound": "(c : {0}.Claim) (p : {0}.Proof), Eq ({0}.check c p) true → {0}.Claim.Holds c",
    "trace_sound": "(p : {0}.Problem) (t : {0}.Trace), Eq ({0}.checkTrace p t) true → "
    "{0}.Problem.Entails p ({0}.Trace.option t)",
    "isModel_sound": "(p : {0}.Problem) (t : {0}.Tables), Eq ({0}.Tables.isModel t p) true → {0}.Problem.Consistent p",
    "refutes_sound": "(c : {0}.Claim) (t : {0}.Tables), Eq ({0}.refutes t c) true → {0}.Claim.Fails c",
}
"""The theorems about Lean's checker: what each states of all c, p and t."""


def check_checker(kernel: LeanKernel) -> dict[str, Judgement]:
    """The kernel's judgement on each theorem about the checker, by name, with the axioms that it rests on."""
    room = f"{NAMESPACE}.Checker"
    theorems = [LeanTheorem(f": ∀ {says.format(room)}", f"fun _ _ h => {room}.{n} h") for n, says in _CHECKER.items()]
    return dict(zip(_CHECKER, kernel.check(theorems), strict=True))


def check_schemata_in_isabelle(kernel: IsabelleKernel, catalogue: Catalogue) -> dict[str, Judgement]:
    """Isabelle's judgement on each schema of the catalogue, by name."""
    schemata = [schema for rule in catalogue.rules for schema in rule.schemata]
    theories: dict[str, str] = {}
    judgements: dict[str, Judgement] = {}
    for number, schema in enumerate(schemata):
        try:
            theories[f"Schema{number}"] = schema_theory(schema, f"Schema{number}")
        except CatalogueError as error:
            judgements[f"Schema{number}"] = Judgement(False, str(error))
    judgements |= kernel.check(theories)
    return {schema.name: judgements[f"Schema{number}"] for number, schema in enumerate(schemata)}


def schema_theory(schema: Schema, name: str) -> str:
    """The Isabelle theory that proves the schema's statement.

    The proof is the theory's theorem of its name, as of every schema of the package, or else the one that is found,
    line by line.

    Raises:
        CatalogueError: no proof of it is found.
    """
    premises = schema.premises
    if not _has_theorem(schema):
        labelled = {f"d{number}": premise for number, premise in enumerate(premises, 1)}
        step = CertifiedStep(schema.name, tuple(labelled), schema.conclusion, theorem(schema).proof)
        return theory_of({"again": answer(Certificate(labelled, schema.conclusion, (step,), None))}, name)
    signature = Signature.infer((*premises, schema.conclusion))
    where = [f'{letter}="{isabelle.predicate_name(letter)}"' for letter in signature.predicates]
    where += [f'{letter}="{isabelle.function_name(letter)}"' for letter in signature.functions]
    given = " ".join(f"d{number}" for number in range(1, len(premises) + 1))
    lemma = (
        f"lemma again:\n{isabelle.schema_statement(premises, schema.conclusion)}"
        f"  by (rule {schema.isabelle}[where {' and '.join(where)}, OF {given}])\n"
    )
    return isabelle.theory(name, lemma, isabelle.gate(name, "again", imports="Proof_R1"), imports="Proof_R1")


def manifest_of(
    catalogue: Catalogue, version: str, judgements: Mapping[str, Judgement], *, known: Manifest | None = None
) -> Manifest:
    """The manifest of the schemata that Lean accepted, by the name of each; others are left out.

    The version is that of the kernel. Isabelle's judgements in an older manifest are kept for unchanged statements.
    """
    old = () if known is None else known.schemata.values()
    accepted = {(entry.statement, entry.isabelle) for entry in old}  # two schemata may state the same

    def entry(schema: Schema) -> Entry:
        statement = statement_hash(schema.premises, schema.conclusion)
        return Entry(statement, schema.lean, schema.isabelle if (statement, schema.isabelle) in accepted else None)

    schemata = [schema for rule in catalogue.rules for schema in rule.schemata if judgements[schema.name].accepted]
    own = [each for each in schemata if not in_theory(each.name, each.premises, each.conclusion)]
    stated = schemata if catalogue.manifest is None else own
    return Manifest(version, theory_hash(), {schema.name: entry(schema) for schema in stated})


def with_isabelle(manifest: Manifest, catalogue: Catalogue, judgements: Mapping[str, Judgement]) -> Manifest:
    """The manifest with the theorems that Isabelle accepted."""
    theorems = {schema.name: schema.isabelle for rule in catalogue.rules for schema in rule.schemata}
    entries = {
        name: structs.replace(entry, isabelle=theorems[name] if judgements[name].accepted else None)
        for name, entry in manifest.schemata.items()
    }
    return structs.replace(manifest, schemata=entries)


def manifest_bytes(manifest: Manifest) -> bytes:
    """The manifest, sealed, as the text of its file."""
    return msgspec.json.format(msgspec.json.encode(structs.replace(manifest, seal=manifest.due_seal)), indent=1) + b"\n"


def theory_hash() -> str:
    """SHA-256 of the Lean files of the theory, names and contents."""
    folder = resource("theories") / "lean"
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.lean")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()
