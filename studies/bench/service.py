"""Measures the service under load, and writes ``docs/service.json``: ``python -m studies.bench.service``.

A service with two workers is asked for the verdicts on single traces, at a steady rate over many connections. A time
counts from the moment at which a request was due, so that one that had to wait for an earlier one shows it. With
``--memory``, every problem is one that was never asked about before, and what counts is how large the processes are in
the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from threading import Thread
from typing import Any

from proof_r1_formal import FOLIO, Verifier
from proof_r1_formal.data.native import to_json
from proof_r1_formal.generate import GeneratorSettings, completion, generate_problems, near_misses
from proof_r1_formal.serve.client import Client

OUT = Path(__file__).resolve().parents[2] / "docs" / "service.json"
TRACES = 2000
"""How many known traces there are: of each problem, a proof and three near misses of it."""
WORKERS = 2
TICKS = os.sysconf("SC_CLK_TCK")
_ADDRESS = re.compile(r"running on http://127\.0\.0\.1:(\d+)")


# -- requests ---------------------------------------------------------------------------------------------------------


def _request(problem: str, text: str) -> bytes:
    body = f'{{"problem":{problem},"completions":[{json.dumps(text)}],"rules":"folio"}}'.encode()
    head = "POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def asked() -> Iterator[bytes]:
    """HTTP requests for the reports of short traces, right and wrong, without end.

    No two problems are the same but for names and the order of premises. What they share is the generator's words and
    the shapes of its formulas.
    """
    verifier = Verifier(rules=FOLIO)
    settings = GeneratorSettings(seed=11, difficulty="easy", answers=("True", "False"))
    for generated in generate_problems(settings):
        problem, proof = generated.problem, generated.problem.proofs[0]
        record = to_json(problem)
        for each in [proof, *[miss.proof for miss in islice(near_misses(problem, proof, verifier), 3)]]:
            yield _request(record, completion(problem, each))


# -- the service ------------------------------------------------------------------------------------------------------


class Service:
    """A running service."""

    def __init__(self) -> None:
        program = Path(sys.executable).with_name("proof-r1")
        command = [str(program), "serve", "--port", "0", "--workers", str(WORKERS)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := _ADDRESS.search(line):
                self.port = int(found[1])
                Thread(target=self._process.stderr.read, daemon=True).start()  # a full pipe would stop it
                return
        raise SystemExit("the service did not start")

    def processes(self) -> list[int]:
        """The ids of its processes, its own first."""
        own = self._process.pid
        threads = Path(f"/proc/{own}/task").glob("*/children")
        return [own, *[int(child) for children in threads for child in children.read_text(encoding="ascii").split()]]

    def seconds(self) -> list[float]:
        """The CPU time of each so far."""
        stats = [Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1] for pid in self.processes()]
        return [sum(map(int, stat.split()[11:13])) / TICKS for stat in stats]

    def mebibytes(self) -> list[float]:
        """The memory of each that it shares with no file or other process."""
        sizes = [Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split() for pid in self.processes()]
        pages = [int(resident) - int(shared) for _, resident, shared, *_ in sizes]
        return [round(each * os.sysconf("SC_PAGE_SIZE") / 2**20, 1) for each in pages]

    def renewals(self) -> int:
        """How many workers were replaced because they had grown too large."""
        return Client(f"http://127.0.0.1:{self.port}").health().renewals

    def stop(self) -> None:
        """End it as an administrator would."""
        self._process.terminate()
        self._process.wait()


# -- the load ---------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """The replies.

    Attributes:
        seconds: from the moment at which each request was due to its reply.
        errors: replies with another status than 200, and requests without a reply.
    """

    seconds: list[float] = field(default_factory=list)
    errors: int = 0


async def load(port: int, requests: Iterator[bytes], number: int, *, rate: float, connections: int) -> Seen:
    """Ask at a steady rate.

    Args:
        port: of the service.
        requests: without end.
        number: of requests.
        rate: requests per second; 0 means that each connection asks again as soon as it is answered.
        connections: over which they go, one after the other on each.
    """
    seen = Seen()
    start = time.perf_counter() + 0.1
    turns = iter(range(number))

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for turn in turns:
            due = start + turn / rate if rate else time.perf_counter()
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                writer.write(next(requests))
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head)
                assert length is not None
                await reader.readexactly(int(length[1]))
            except (OSError, asyncio.IncompleteReadError):
                seen.errors += 1
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                continue
            seen.seconds.append(time.perf_counter() - due)
            seen.errors += not head.startswith(b"HTTP/1.1 200")
        writer.close()

    await asyncio.gather(*[ask() for _ in range(connections)])
    return seen


def measured(service: Service, requests: Iterator[bytes], number: int, *, rate: float, connections: int) -> Any:
    """The replies, and the time that they took."""
    before, own, start = service.seconds(), time.process_time(), time.perf_counter()
    seen = asyncio.run(load(service.port, requests, number, rate=rate, connections=connections))
    wall = time.perf_counter() - start
    front, *workers = [after - earlier for after, earlier in zip(service.seconds(), before, strict=True)]
    times = sorted(seen.seconds)
    return {
        "requests": number,
        "asked_per_second": rate or None,
        "answered_per_second": round(len(times) / wall, 1),
        "connections": connections,
        "errors": seen.errors,
        "milliseconds": {
            "median": _ms(statistics.median(times)),
            "p99": _ms(times[int(0.99 * (len(times) - 1))]),
            "most": _ms(times[-1]),
        },
        "cpu_milliseconds_per_request": {
            "front": _ms(front / number),
            "workers": _ms(sum(workers) / number),
            "load": _ms((time.process_time() - own) / number),
        },
    }


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)


def under_load(service: Service, known: Sequence[bytes], arguments: argparse.Namespace) -> Any:
    """The service at the asked rate, and at the rate that it can take."""
    requests = cycle(known)
    options = {"connections": arguments.connections}
    return {
        "distinct_traces": len(known),
        "cold": measured(service, requests, len(known), rate=0, **options),
        "steady": measured(service, requests, arguments.requests, rate=arguments.rate, **options),
        "flat_out": measured(service, requests, arguments.requests, rate=0, **options),
        "cores": len(os.sched_getaffinity(0)),
        "other_load": round(os.getloadavg()[0], 2),
    }


def memory(service: Service, arguments: argparse.Namespace) -> Any:
    """Its memory, measured ten times during that number of requests."""
    requests = asked()
    step = max(1, arguments.memory // 10)
    points = []
    for done in range(step, arguments.memory + 1, step):
        seen = asyncio.run(load(service.port, requests, step, rate=0, connections=arguments.connections))
        points.append(
            {
                "requests": done,
                "errors": seen.errors,
                "mebibytes": service.mebibytes(),
                "workers_replaced": service.renewals(),
            }
        )
        sys.stderr.write(f"{points[-1]}\n")
    return {"points": points}


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=30_000)
    parser.add_argument("--rate", type=float, default=500.0, help="requests per second")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--memory", type=int, default=0, help="measure memory over so many requests instead")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    key = "memory" if arguments.memory else "load"
    known = [] if arguments.memory else list(islice(asked(), TRACES))
    service = Service()
    try:
        result = memory(service, arguments) if arguments.memory else under_load(service, known, arguments)
    finally:
        service.stop()
    kept = json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.out.exists() else {}
    arguments.out.write_text(json.dumps({**kept, key: result}, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
