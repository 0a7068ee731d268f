"""The manifest: which schemata are theorems that a proof assistant's kernel accepted, statement by statement.

In: schemata. Out: those whose statement, as the package renders it now, is not the one in ``theories/manifest.json``.
``proof-r1 theories check`` has the kernel check the statements again; ``--write`` makes the file.
"""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from proof_r1_formal.errors import CatalogueError, DataError, require_type
from proof_r1_formal.render.lean import schema_statement
from proof_r1_formal.resources import resource
from proof_r1_formal.rules.schema import Catalogue, Schema

LEAN, ISABELLE = "Lean", "Isabelle"
"""The proof assistants."""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """The entry of a schema in the manifest.

    Attributes:
        statement: SHA-256 of the rendered statement.
        lean: the theorem that Lean's kernel accepted for it.
        isabelle: the same for Isabelle; None if that was not tried.
    """

    statement: str
    lean: str
    isabelle: str | None = None


class Manifest(msgspec.Struct, frozen=True):
    """The schemata by name, and the kernel that checked them.

    Attributes:
        kernel: name and version.
        theory: SHA-256 of the theory's files.
        schemata: by name.
    """

    kernel: str
    theory: str
    schemata: dict[str, Entry]


@lru_cache(maxsize=1 << 10)
def statement_hash(schema: Schema) -> str:
    """SHA-256 of the schema's statement."""
    return hashlib.sha256(schema_statement((*schema.principal, *schema.minor), schema.conclusion).encode()).hexdigest()


def manifest_path() -> Path:
    """The package's own manifest."""
    return resource("theories") / "manifest.json"


@cache
def read_manifest(path: Path) -> Manifest:
    """The manifest in a file.

    Raises:
        DataError: there is no such file, or it is not a manifest.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(str(path), f"no manifest of theorems: {error}") from error


def accepted_by(schema: Schema, manifest: Manifest) -> tuple[str, ...]:
    """The proof assistants whose kernels accepted the schema as it is stated now, by a manifest."""
    entry = manifest.schemata.get(schema.name)
    if entry is None or entry.statement != statement_hash(schema):
        return ()
    found = {LEAN: entry.lean == schema.lean, ISABELLE: entry.isabelle == schema.isabelle}
    return tuple([kernel for kernel, accepted in found.items() if accepted])


def accepted_schemata(catalogue: Catalogue) -> str:
    """How many of a catalogue's schemata each kernel accepted: ``Lean 65 of 65, Isabelle 65 of 65``."""
    manifest = read_manifest(catalogue.manifest or manifest_path())
    accepted = [accepted_by(schema, manifest) for rule in catalogue.rules for schema in rule.schemata]
    counts = [f"{kernel} {sum(kernel in by for by in accepted)} of {len(accepted)}" for kernel in (LEAN, ISABELLE)]
    return ", ".join(counts)


def unproved(catalogue: Catalogue) -> tuple[str, ...]:
    """The names of the schemata that are not in the catalogue's manifest as they stand."""
    known = read_manifest(catalogue.manifest or manifest_path())
    schemata = [schema for rule in catalogue.rules for schema in rule.schemata]
    return tuple([schema.name for schema in schemata if LEAN not in accepted_by(schema, known)])


def require_proved(catalogue: Catalogue) -> None:
    """Reject a catalogue with a schema that is not a theorem in its manifest, unless the catalogue is unchecked.

    Raises:
        CatalogueError: there is one; the message names it.
        TypeError: it is not a catalogue.
    """
    require_type(catalogue, Catalogue, "rules", "catalogue() gives the catalogue of a name")
    if catalogue.unchecked:
        return
    missing = unproved(catalogue)
    if missing:
        raise CatalogueError(
            f"catalogue {catalogue.name}: schema {missing[0]!r} is not in its manifest as it stands, so nothing says "
            "that it is sound; have it checked ('proof-r1 theories check'), or use the catalogue unchecked"
        )
