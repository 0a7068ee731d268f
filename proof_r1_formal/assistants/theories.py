"""Schemata as theorems: a kernel compares the rendered schemata with the theorems of the theory.

In: a kernel and a catalogue. Out: a judgement on each schema, and the manifest with the judgements.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import msgspec
from msgspec import structs

from proof_r1_formal.assistants.isabelle import IsabelleKernel
from proof_r1_formal.assistants.lean import Judgement, LeanKernel, LeanTheorem
from proof_r1_formal.kernel.signature import Signature
from proof_r1_formal.render import isabelle
from proof_r1_formal.render.lean import NAMESPACE, schema_statement
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.manifest import Entry, Manifest, statement_hash
from proof_r1_formal.rules.schema import Catalogue, Schema


def schema_theorem(schema: Schema) -> LeanTheorem:
    """The theorem whose statement is that of the schema, and whose proof is the theory's theorem of its name."""
    statement = schema_statement((*schema.principal, *schema.minor), schema.conclusion)
    bound = len(re.findall(r"\([^()]*\)", statement.split(", ")[0]))
    return LeanTheorem(f": {statement}", f"fun {'_ ' * bound}=> {NAMESPACE}.{schema.lean}")


def check_schemata(kernel: LeanKernel, catalogue: Catalogue) -> dict[str, Judgement]:
    """The kernel's judgement on each schema of the catalogue, by name."""
    schemata = [schema for rule in catalogue.rules for schema in rule.schemata]
    judgements = kernel.check([schema_theorem(schema) for schema in schemata])
    return {schema.name: judgement for schema, judgement in zip(schemata, judgements, strict=True)}


_CHECKER: Mapping[str, tuple[str, str]] = {
    "check_sound": (
        "∀ (c : {0}.Claim) (p : {0}.Proof), Eq ({0}.check c p) true → {0}.Claim.Holds c",
        "fun _ _ h => {0}.check_sound h",
    ),
    "trace_sound": (
        (
            "∀ (p : {0}.Problem) (t : {0}.Trace), "
            "Eq ({0}.checkTrace p t) true → {0}.Problem.Entails p ({0}.Trace.option t)"
        ),
        "fun _ _ h => {0}.trace_sound h",
    ),
    "isModel_sound": (
        "∀ (p : {0}.Problem) (t : {0}.Tables), Eq ({0}.Tables.isModel t p) true → {0}.Problem.Consistent p",
        "fun _ _ h => {0}.isModel_sound h",
    ),
    "refutes_sound": (
        "∀ (c : {0}.Claim) (t : {0}.Tables), Eq ({0}.refutes t c) true → {0}.Claim.Fails c",
        "fun _ _ h => {0}.refutes_sound h",
    ),
}
"""The theorems about Lean's checker: what each states, and how it follows from the theory's theorem of its name."""


def check_checker(kernel: LeanKernel) -> dict[str, Judgement]:
    """The kernel's judgement on each theorem about the checker, by name, with the axioms that it rests on."""
    parts = [(f": {says}", proof) for says, proof in _CHECKER.values()]
    theorems = [LeanTheorem(*[part.format(f"{NAMESPACE}.Checker") for part in each]) for each in parts]
    return dict(zip(_CHECKER, kernel.check(theorems), strict=True))


def check_schemata_in_isabelle(kernel: IsabelleKernel, catalogue: Catalogue) -> dict[str, Judgement]:
    """Isabelle's judgement on each schema of the catalogue, by name."""
    schemata = [schema for rule in catalogue.rules for schema in rule.schemata]
    judgements = kernel.check({f"Schema{n}": schema_theory(s, f"Schema{n}") for n, s in enumerate(schemata)})
    return {schema.name: judgements[f"Schema{number}"] for number, schema in enumerate(schemata)}


def schema_theory(schema: Schema, name: str) -> str:
    """The Isabelle theory that proves the schema's statement by the theory's theorem of its name."""
    premises = (*schema.principal, *schema.minor)
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
    """The manifest of the schemata that Lean accepted; others are left out.

    Args:
        catalogue: the schemata.
        version: of the kernel.
        judgements: by the schema's name.
        known: an older manifest; Isabelle's judgements in it are kept for unchanged statements.
    """
    accepted = {} if known is None else {entry.statement: entry.isabelle for entry in known.schemata.values()}

    def entry(schema: Schema) -> Entry:
        statement = statement_hash(schema)
        kept = accepted.get(statement)
        return Entry(statement, schema.lean, kept if kept == schema.isabelle else None)

    return Manifest(
        kernel=version,
        theory=theory_hash(),
        schemata={
            schema.name: entry(schema)
            for rule in catalogue.rules
            for schema in rule.schemata
            if judgements[schema.name].accepted
        },
    )


def with_isabelle(manifest: Manifest, catalogue: Catalogue, judgements: Mapping[str, Judgement]) -> Manifest:
    """The manifest with the theorems that Isabelle accepted."""
    theorems = {schema.name: schema.isabelle for rule in catalogue.rules for schema in rule.schemata}
    entries = {
        name: structs.replace(entry, isabelle=theorems[name] if judgements[name].accepted else None)
        for name, entry in manifest.schemata.items()
    }
    return structs.replace(manifest, schemata=entries)


def manifest_bytes(manifest: Manifest) -> bytes:
    """The manifest as the text of its file."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def theory_hash() -> str:
    """SHA-256 of the Lean files of the theory, names and contents."""
    folder = resource("theories") / "lean"
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.lean")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()
