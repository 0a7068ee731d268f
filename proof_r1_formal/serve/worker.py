"""A worker process of the service: ``python -m proof_r1_formal.serve.worker MAX_ACTIONS``.

In, on standard input: frames that hold a job each. Out, on standard output: an empty frame when it is ready, then one
frame per job with its outcome, as soon as there is one. It ends when nobody asks any more.

A frame is four bytes that hold its length, then an outcome in msgpack or a pickled job: a completion may hold half of a
surrogate pair, which msgpack cannot encode.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import traceback
from typing import BinaryIO

import msgspec

from proof_r1_formal.serve.desk import Desk
from proof_r1_formal.serve.messages import Job, Outcome, Refused, Trouble

HEADER = struct.Struct(">I")
"""The length of a frame."""


def write_frame(out: BinaryIO, content: bytes) -> None:
    """Write a frame, and have it sent."""
    out.write(HEADER.pack(len(content)))
    out.write(content)
    out.flush()


def read_frame(source: BinaryIO) -> bytes | None:
    """The next frame; None if there is none."""
    header = source.read(HEADER.size)
    return source.read(HEADER.unpack(header)[0]) if len(header) == HEADER.size else None


def main() -> None:
    """Do jobs until nobody asks."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no outcome
        try:
            _work(sys.stdin.buffer, out, Desk(max_actions=int(sys.argv[1])))
        except BrokenPipeError:  # the service is gone
            return


def _work(source: BinaryIO, out: BinaryIO, desk: Desk) -> None:
    outcomes = msgspec.msgpack.Encoder()
    write_frame(out, b"")
    while (frame := read_frame(source)) is not None:
        write_frame(out, outcomes.encode(_done(desk, pickle.loads(frame))))


def _done(desk: Desk, job: Job) -> Outcome:
    try:
        return desk.do(job)
    except Exception as error:  # noqa: BLE001 (a fault of ours must not cost other jobs anything; it is told and logged)
        traceback.print_exc()
        return Refused(500, Trouble("failed", f"{type(error).__name__} in the service; its log says more"))


if __name__ == "__main__":
    main()
