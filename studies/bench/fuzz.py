"""Fuzzing guided by coverage, with atheris: bytes that lead somewhere new are kept and changed further.

``python -m studies.bench.fuzz SECONDS [TARGET …]`` runs every target of ``fuzz_targets`` for that many seconds,
beginning with its folder in ``tests/fuzz/corpus``. A finding ends with status 1 and leaves its bytes in ``crash-…``:
make it small, put it into the corpus, where ``tests/fuzz`` runs it from then on, and mend what it shows.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "fuzz"
LONGEST = 600
"""The longest input in bytes."""


def fuzz(name: str, arguments: list[str]) -> None:
    """Fuzz one target in this process, which libFuzzer ends.

    Args:
        name: of the target.
        arguments: for libFuzzer.
    """
    import atheris

    with atheris.instrument_imports(include=["proof_r1_formal", "lark"]):
        from studies.bench.fuzz_targets import TARGETS
    atheris.Setup([name, *arguments], TARGETS[name])
    atheris.Fuzz()


def main(seconds: str, names: list[str]) -> int:
    """Fuzz the targets, each in a process of its own; 1 if one of them found something, or there is no atheris."""
    failed = []
    for name in names or sorted(folder.name for folder in (FOLDER / "corpus").iterdir()):
        with tempfile.TemporaryDirectory() as found:
            limits = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=20", "-rss_limit_mb=4096"]
            inputs = [f"-dict={FOLDER / 'words.dict'}", found, str(FOLDER / "corpus" / name)]
            command = [
                sys.executable,
                "-m",
                "studies.bench.fuzz",
                "--one",
                name,
                *limits,
                "-print_final_stats=1",
                *inputs,
            ]
            failed += [name] * (subprocess.run(command, check=False).returncode != 0)
    sys.stderr.write(f"findings in: {', '.join(failed)}\n" if failed else "no findings\n")
    return int(bool(failed))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m studies.bench.fuzz SECONDS [TARGET...]")
    if sys.argv[1] == "--one":
        fuzz(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
