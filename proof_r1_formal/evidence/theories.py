"""Schemata as theorems: has the kernel compare what the package renders with what the theory proves.

In: a kernel and a catalogue. Out: a judgement for each schema, and the manifest that says so.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from proof_r1_formal.evidence.lean import Judgement, LeanKernel, LeanTheorem
from proof_r1_formal.render.lean import NAMESPACE, schema_statement
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.manifest import Entry, Manifest, statement_hash
from proof_r1_formal.rules.schema import Catalogue, Schema


def schema_theorem(schema: Schema) -> LeanTheorem:
    """The theorem that the schema's statement is what the theory's theorem of its name says."""
    statement = schema_statement((*schema.principal, *schema.minor), schema.conclusion)
    bound = len(re.findall(r"\([^()]*\)", statement.split(", ")[0]))
    return LeanTheorem(f": {statement}", f"fun {'_ ' * bound}=> {NAMESPACE}.{schema.lean}")


def check_schemata(kernel: LeanKernel, catalogue: Catalogue) -> dict[str, Judgement]:
    """What the kernel says of each schema of the catalogue, by name."""
    schemata = [schema for rule in catalogue.rules for schema in rule.schemata]
    judgements = kernel.check([schema_theorem(schema) for schema in schemata])
    return {schema.name: judgement for schema, judgement in zip(schemata, judgements, strict=True)}


def manifest_of(kernel: LeanKernel, catalogue: Catalogue) -> Manifest:
    """The manifest that says which schemata the kernel accepts now; the others are left out."""
    judgements = check_schemata(kernel, catalogue)
    return Manifest(
        kernel=kernel.version,
        theory=theory_hash(),
        schemata={
            schema.name: Entry(statement_hash(schema), schema.lean)
            for rule in catalogue.rules
            for schema in rule.schemata
            if judgements[schema.name].accepted
        },
    )


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
