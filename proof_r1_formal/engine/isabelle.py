"""Isabelle/HOL as a solver, through its server: ``blast`` proves, Nitpick refutes.

A query is entailed only if a lemma with its formulas is a theorem, free of oracles and of new axioms; it is refuted
only if Nitpick finds a genuine countermodel of up to ten elements per sort. No countermodel is read, so a refutation is
Nitpick's word. That there is no countermodel up to some size proves nothing. Unless told otherwise, ``blast`` has one
second and Nitpick five, the limits of the Proof-R1 paper.

The server's own ``ok`` decides nothing either: it is also said after ``sorry``, after an axiom, and when time ran out.
A theory counts if its node in the reply is there and processed to its end without failure, *and* holds the message that
only a success writes (see ``render.isabelle``). Each query becomes a theory with a new name, and one command checks it.
A command takes seconds, however short the theory is.

Written for the server of Isabelle2024 and isabelle-client 1.1.
"""

from __future__ import annotations

import importlib
import math
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proof_r1_formal.engine.isabelle_server import FailedError, IsabelleServer
from proof_r1_formal.engine.solver import Limits, checked_signature
from proof_r1_formal.errors import SolverError
from proof_r1_formal.kernel.answer import Answer, Entailed, Query, Reason, Refuted, Unknown
from proof_r1_formal.outputs import write_output
from proof_r1_formal.render.isabelle import countermodel_theory, proved, query_theory

if TYPE_CHECKING:  # the package is optional
    from isabelle_client.data_models import NodeResult

_MAX_SIZE = 10
"""The most elements that Nitpick gives a sort."""

PROOF_SECONDS, SEARCH_SECONDS = 1.0, 10.0
"""The times of a proof and of a search unless told otherwise; Nitpick itself has half of the latter."""
CONSOLIDATION = 3.0
"""Seconds in addition for a theory: the server takes 2 s to report one that has ended (headless_consolidate_delay)."""
_MAX_DEPTH = 20  # Isabelle's own limit for blast

_DETAILS = {
    Reason.INCOMPLETE: f"blast finds no proof, and Nitpick no countermodel of up to {_MAX_SIZE} elements",
    Reason.TIMEOUT: "Isabelle used its time",
    Reason.BROKEN: "Isabelle did not process the theory as it should",
}


class _Method(NamedTuple):
    """A way to use a theory."""

    theory: Callable[[Query, str], str]  # its text, for a query and a name
    success: str  # the start of what it writes if it does what it is for; ``{name}`` stands for its name
    failure: str  # the start of the error when it has been tried in full and did not work
    seconds: float  # how long a theory may show no progress


class _Session(NamedTuple):
    server: IsabelleServer
    id: str


class IsabelleSolver:
    """Decides queries with Isabelle/HOL. The server starts with the first query; ``close`` or ``with`` ends it.

    Args:
        limits: ``steps`` bounds how deep ``blast`` searches (a binary tree of that many leaves, 20 deep at most);
            ``seconds`` is the time of each proof and of each search for a countermodel, ``PROOF_SECONDS`` and
            ``SEARCH_SECONDS`` without limits; ``memory_mb`` is not enforced.
        program: the Isabelle executable.
        startup: seconds to start the server, and again to start HOL, which Isabelle builds first where it must.
        grace_period: seconds that a command has beyond those of its proof or search.

    Raises:
        SolverError: Isabelle or the package isabelle-client is not installed.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        program: str = "isabelle",
        startup: float = 900.0,
        grace_period: float = 60.0,
    ) -> None:
        if shutil.which(program) is None:
            where = "get Isabelle at https://isabelle.in.tum.de"
            raise SolverError("isabelle", f"there is no program {program!r} on PATH; {where}")
        try:
            importlib.import_module("isabelle_client")
        except ImportError as error:
            problem = f"not usable ({error}); pip install 'proof-r1-formal[isabelle]'"
            raise SolverError("isabelle", problem) from error
        self._limits = limits or Limits()
        self._program = program
        self._startup = startup
        self._grace_period = grace_period
        self._numbers = count(1)
        self._session: _Session | None = None
        self._lock = threading.RLock()
        depth = min(_MAX_DEPTH, self._limits.steps.bit_length())
        proof = f"using [[blast_depth_limit = {depth}]] by blast"
        proof_seconds = PROOF_SECONDS if limits is None else limits.seconds
        search_seconds = SEARCH_SECONDS if limits is None else limits.seconds
        half = max(1, math.floor(search_seconds / 2))  # so that Nitpick can say that its time is up
        proving = partial(query_theory, proof=proof)
        searching = partial(countermodel_theory, max_size=_MAX_SIZE, seconds=half)
        self._blast = _Method(proving, proved("{name}"), "Failed to ", proof_seconds)
        self._nitpick = _Method(searching, "Nitpick found a counterexample", "Unexpected outcome", search_seconds)

    def __enter__(self) -> IsabelleSolver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Shut the server down; a later query starts another."""
        with self._lock:
            if self._session is not None:
                self._session.server.close()
                self._session = None

    @cached_property
    def name(self) -> str:
        """Name and version, for which the program is run once.

        Raises:
            SolverError: the program does not tell its version.
        """
        command, seconds = (self._program, "version"), self._grace_period
        try:
            shown = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise SolverError("isabelle", f"does not tell its version: {error}") from error
        return f"isabelle {shown.stdout.decode('utf-8', 'replace').strip().removeprefix('Isabelle')}"

    def decide(self, query: Query) -> Answer:
        """Answer one query; a server that breaks is started again for a second try.

        Raises:
            SolverError: the server cannot be started, or HOL cannot.
        """
        signature = checked_signature(query)
        if isinstance(signature, Unknown):
            return signature
        with self._lock:
            answer = self._try(query)
            if isinstance(answer, Unknown) and answer.reason is Reason.BROKEN and self._session is None:
                answer = self._try(query)
        return answer

    def _try(self, query: Query) -> Answer:
        reason = self._use(self._blast, query)
        if reason is None:
            return Entailed()
        if reason is not Reason.BROKEN:
            searched = self._use(self._nitpick, query)
            if searched is None:
                return Refuted()
            if searched is not Reason.INCOMPLETE:  # or else it stays undecided for the reason that blast left it so
                reason = searched
        return Unknown(reason, _DETAILS[reason])

    def _use(self, method: _Method, query: Query) -> Reason | None:
        """Why the method did not do what it is for; None if it did."""
        from isabelle_client.data_models import UseTheoriesResults

        session = self._running()
        name = f"Query{next(self._numbers)}"
        with tempfile.TemporaryDirectory(prefix="proof-r1-") as folder:
            write_output(Path(folder) / f"{name}.thy", method.theory(query, name).encode("ascii"))
            theories = {"session_id": session.id, "theories": [name], "master_dir": folder}
            limits = {"watchdog_timeout": method.seconds + CONSOLIDATION}
            seconds = limits["watchdog_timeout"] + self._grace_period
            try:
                body = session.server.ask("use_theories", {**theories, **limits}, seconds=seconds)
                nodes = UseTheoriesResults.model_validate(body).nodes
            except TimeoutError:
                self.close()
                return Reason.TIMEOUT
            except FailedError:
                return Reason.BROKEN
            except (SolverError, ValueError):  # the latter from a reply of another shape
                self.close()
                return Reason.BROKEN
            outcome = _outcome(method, name, nodes)
            if outcome is Reason.TIMEOUT:  # what did not end may still be running
                self.close()
                return outcome
            try:  # the session must forget the theory, so that it does not grow, or else be given up
                session.server.ask("purge_theories", theories, seconds=self._grace_period)
            except (SolverError, TimeoutError):
                self.close()
        return outcome

    def _running(self) -> _Session:
        if self._session is None:
            server = IsabelleServer(self._program, startup=self._startup, grace_period=self._grace_period)
            try:
                self._session = _Session(server, _start_hol(server, self._startup))
            except BaseException:
                server.close()
                raise
        return self._session


def _start_hol(server: IsabelleServer, seconds: float) -> str:
    from isabelle_client.data_models import SessionStartRegularResult

    try:
        body = server.ask("session_start", {"session": "HOL"}, seconds=seconds)
        return SessionStartRegularResult.model_validate(body).session_id
    except TimeoutError as error:
        raise SolverError("isabelle", f"HOL did not start within {seconds:g} s; try `isabelle build -b HOL`") from error
    except ValueError as error:
        raise SolverError("isabelle", f"the server does not name the session that it started: {error}") from error


def _outcome(method: _Method, name: str, nodes: Sequence[NodeResult]) -> Reason | None:
    """The outcome of the theory with that name."""
    found = [node for node in nodes if node.theory_name.rpartition(".")[2] == name]
    if len(found) != 1:
        return Reason.BROKEN
    status = found[0].status
    if status.canceled or not status.consolidated or status.running or status.unprocessed or status.percentage != 100:
        return Reason.TIMEOUT
    texts = [(message.kind == "error", " ".join(message.message.split())) for message in found[0].messages]
    errors = [text for is_error, text in texts if is_error]
    if any("checked 0 of " in text for _, text in texts):  # Nitpick without kodkod, which searches nothing
        return Reason.BROKEN
    if status.ok and not status.failed and not errors:
        return None if any(text.startswith(method.success.format(name=name)) for _, text in texts) else Reason.BROKEN
    return Reason.INCOMPLETE if any(text.startswith(method.failure) for text in errors) else Reason.BROKEN
