"""The manifest: which schemata are theorems that a proof assistant's kernel accepted, statement by statement.

In: schemata. Out: those whose statement, as the package renders it now, is in neither manifest: the package's own,
``theories/manifest.json``, and the one of their catalogue. ``proof-r1 theories check`` has the kernel check the
statements again; ``--write`` makes the file.
"""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from proof_r1_formal.errors import CatalogueError, DataError, require_type
from proof_r1_formal.kernel.syntax import Formula
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
        seal: SHA-256 of all the rest. It tells a manifest that was written by hand from one that a kernel's judgements
            made; whoever wants to forge one can compute it.
    """

    kernel: str
    theory: str
    schemata: dict[str, Entry]
    seal: str = ""

    @property
    def due_seal(self) -> str:
        """The seal of a manifest with this content."""
        return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(self, seal=""))).hexdigest()


@lru_cache(maxsize=1 << 10)
def statement_hash(premises: tuple[Formula, ...], conclusion: Formula) -> str:
    """SHA-256 of the statement of a schema that has these patterns."""
    return hashlib.sha256(schema_statement(premises, conclusion).encode()).hexdigest()


def in_theory(name: str, premises: tuple[Formula, ...], conclusion: Formula) -> bool:
    """Whether the package's theory has a theorem of that name and statement."""
    entry = read_manifest(manifest_path()).schemata.get(name)
    return entry is not None and entry.statement == statement_hash(premises, conclusion)


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
    if entry is None or entry.statement != statement_hash(schema.premises, schema.conclusion):
        return ()
    found = {LEAN: entry.lean == schema.lean, ISABELLE: entry.isabelle == schema.isabelle}
    return tuple([kernel for kernel, accepted in found.items() if accepted])


def title(catalogue: Catalogue) -> str:
    """The name of a catalogue for reports, with what says that its schemata are sound if it is not the package."""
    if catalogue.unchecked:
        return f"{catalogue.name} (unchecked)"
    if catalogue.manifest is None:
        return catalogue.name
    manifest = read_manifest(catalogue.manifest)
    made = manifest.kernel if manifest.seal == manifest.due_seal else "written by hand, by no kernel"
    return f"{catalogue.name} ({catalogue.manifest.name}: {made})"


def acceptances(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """The proof assistants that accepted each schema, by the package's manifest or the catalogue's own.

    Raises:
        DataError: the catalogue's manifest cannot be read; an unchecked catalogue needs none.
    """
    known = [read_manifest(manifest_path())]
    if catalogue.manifest is not None and (catalogue.manifest.exists() or not catalogue.unchecked):
        known.append(read_manifest(catalogue.manifest))
    schemata = [schema for rule in catalogue.rules for schema in rule.schemata]
    return {s.name: next((by for manifest in known if (by := accepted_by(s, manifest))), ()) for s in schemata}


def accepted_schemata(catalogue: Catalogue) -> str:
    """How many of a catalogue's schemata each kernel accepted: ``Lean 65 of 65, Isabelle 65 of 65``."""
    accepted = acceptances(catalogue).values()
    counts = [f"{kernel} {sum(kernel in by for by in accepted)} of {len(accepted)}" for kernel in (LEAN, ISABELLE)]
    return ", ".join(counts)


def unproved(catalogue: Catalogue) -> tuple[str, ...]:
    """The names of the schemata that are in no manifest as they stand."""
    return tuple([name for name, by in acceptances(catalogue).items() if LEAN not in by])


def require_proved(catalogue: Catalogue) -> None:
    """Reject a catalogue with a schema that is not a theorem in its manifest, unless the catalogue is unchecked.

    Raises:
        CatalogueError: there is one; the message names it.
        TypeError: it is not a catalogue.
    """
    require_type(catalogue, Catalogue, "rules", "catalogue() gives the catalogue of a name")
    if catalogue.unchecked:
        return
    if catalogue.manifest is not None and not catalogue.manifest.exists():
        raise CatalogueError(
            f"catalogue {catalogue.name}: there is no {catalogue.manifest}, so no kernel has accepted its schemata; "
            "have it made ('proof-r1 theories check --rules FILE.toml --write'), or use the catalogue unchecked"
        )
    missing = unproved(catalogue)
    if missing:
        raise CatalogueError(
            f"catalogue {catalogue.name}: schema {missing[0]!r} is in no manifest as it stands, so nothing says "
            "that it is sound; have it checked ('proof-r1 theories check --rules FILE.toml --write'), or use the "
            "catalogue unchecked"
        )
