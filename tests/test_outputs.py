"""Every file that a command writes: where it may go, what is refused before any work, streams, and failures."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.cli import main
from proof_r1_formal.errors import DataError
from proof_r1_formal.outputs import LineFile, check_output, open_alone, output, write_output
from tests.build import EXAMPLES

INPUTS = ("--problems", "P", "--completions", "C")

READING = {
    "verify": ("verify", *INPUTS, "--out", "OUT"),
    "translate": ("translate", "P", "--out", "OUT"),
    "prove": ("prove", "--problems", "P", "--out", "OUT"),
    "prove --json": ("prove", "--problems", "P", "--json", "OUT"),
    "best": ("best", *INPUTS, "--out", "OUT"),
    "report": ("report", *INPUTS, "--out", "OUT"),
    "certify --bundle": ("certify", *INPUTS, "--kernel", "none", "--bundle", "OUT"),
    "evaluate --json": ("evaluate", *INPUTS, "--json", "OUT"),
    "evaluate --markdown": ("evaluate", *INPUTS, "--markdown", "OUT"),
    "evaluate --latex": ("evaluate", *INPUTS, "--latex", "OUT"),
    "evaluate --diagnosis": ("evaluate", *INPUTS, "--diagnosis", "OUT"),
}
"""The commands that write one file made from others."""
FILES = READING | {
    "generate": ("generate", "--n", "1", "--out", "OUT"),
    "generate --evidence-out": ("generate", "--n", "1", "--out", "other.jsonl", "--evidence-out", "OUT"),
    "soundness": ("soundness", "--examples", "1", "--answers", "1", "--proofs", "1", "--out", "OUT"),
}
"""The commands that write one file."""
FOLDERS = {
    "certify": ("certify", *INPUTS, "--kernel", "none", "--out", "OUT"),
    "evaluate --csv": ("evaluate", *INPUTS, "--csv", "OUT"),
}


@pytest.fixture(autouse=True)
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One problem and its completions, in the working folder."""
    monkeypatch.chdir(tmp_path)
    first = (EXAMPLES / "problems.jsonl").read_bytes().splitlines(keepends=True)[0]
    Path("P").write_bytes(first)
    (name,) = [part for part in first.split(b'"') if part.startswith(b"garden/")][:1]
    lines = (EXAMPLES / "completions.jsonl").read_bytes().splitlines(keepends=True)
    Path("C").write_bytes(b"".join(line for line in lines if b'"' + name + b'"' in line))


def run(command: tuple[str, ...], out: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in this process; its exit status."""
    monkeypatch.setattr(sys, "argv", ["proof-r1", *[out if word == "OUT" else word for word in command]])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


def refused(
    command: tuple[str, ...], out: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> str:
    """What a command says that refuses its output."""
    assert run(command, out, monkeypatch) == 2
    printed, said = capfd.readouterr()
    assert printed == ""
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    return said


# -- what is refused before any work ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("folder", "this is a folder"),
        ("missing/file", "there is no folder"),
        ("/proc/file", "no file can be written into /proc"),
        ("loop", "cannot be written"),
        ("x" * 300, "cannot be written"),
    ],
)
def test_unwritable_outputs_are_refused_first(
    name: str, out: str, reason: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    for given_ in ("P", "C"):
        Path(given_).unlink()
    before = set(Path().iterdir())
    said = refused(FILES[name], out, monkeypatch, capfd)
    assert reason in said
    assert out in said
    assert set(Path().iterdir()) == before


@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("link", ["the file itself", "a symbolic link", "a hard link", "a link to a link"])
def test_an_input_is_not_overwritten(
    name: str, link: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before = Path("P").read_bytes()
    match link:
        case "a symbolic link":
            Path("link").symlink_to("P")
        case "a hard link":
            Path("link").hardlink_to("P")
        case "a link to a link":
            Path("between").symlink_to("P")
            Path("link").symlink_to("between")
    said = refused(READING[name], "P" if link == "the file itself" else "link", monkeypatch, capfd)
    assert "would overwrite the input P" in said
    assert Path("P").read_bytes() == before


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize(("out", "reason"), [("P", "cannot be made"), ("/proc/folder", "cannot be made")])
def test_a_folder_that_cannot_be_made_is_refused(
    name: str, out: str, reason: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("C").unlink()
    assert reason in refused(FOLDERS[name], out, monkeypatch, capfd)


# -- where outputs go -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_an_output_goes_through_links_and_into_streams(
    name: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    status = run(FILES[name], "plain", monkeypatch)
    assert status in (0, 1)
    written = Path("plain").read_bytes()
    Path("target").write_bytes(b"old")
    Path("target").chmod(0o640)
    Path("link").symlink_to("target")
    assert run(FILES[name], "link", monkeypatch) == status
    assert Path("link").is_symlink()
    assert Path("target").read_bytes() == written
    assert Path("target").stat().st_mode & 0o777 == 0o640

    for out in ("-", "/dev/stdout") if name in ("verify", "evaluate --json") else ("-",):
        capfdbinary.readouterr()
        assert run(FILES[name], out, monkeypatch) == status
        assert capfdbinary.readouterr().out == written

    os.mkfifo("pipe")
    taken: list[bytes] = []
    reader = threading.Thread(target=lambda: taken.append(Path("pipe").read_bytes()))
    reader.start()
    assert run(FILES[name], "pipe", monkeypatch) == status
    reader.join()
    assert taken == [written]
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", FILES)
def test_a_full_disk_is_one_clear_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("more").symlink_to("/dev/full")
    for out in ("/dev/full", "more") if name in ("verify", "evaluate --json") else ("more",):
        if name == "evaluate --diagnosis":  # nothing is misnamed in these completions, so nothing is written
            continue
        assert run(FILES[name], out, monkeypatch) == 2
        *_, last = capfd.readouterr().err.splitlines()
        assert last == f"error: {out}: the file cannot be written: No space left on device"


PROGRAM = (sys.executable, "-c", "from proof_r1_formal.cli import main; main()")


@pytest.mark.parametrize(
    ("command", "place", "unbuffered"),
    [
        (("rules",), "standard output", ""),
        (("rules",), "standard output", "1"),
        (("evaluate", *INPUTS), "standard output", ""),
        (("parse", "P(a)"), "standard output", "1"),
        (("--help",), "standard output", ""),
        (("--help",), "standard output", "1"),
        (("verify", *INPUTS, "--out", "-"), "-", ""),
    ],
)
def test_a_standard_output_that_takes_nothing_is_named(
    command: tuple[str, ...], place: str, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run((*PROGRAM, *command), stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert ended.returncode == 2
    assert ended.stderr == f"error: {place}: the file cannot be written: No space left on device\n"
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        ended = subprocess.run((*PROGRAM, *command), stdout=closed, stderr=subprocess.PIPE, check=False, text=True)
    assert ended.returncode == 1
    assert "rror" not in ended.stderr


# -- one file ---------------------------------------------------------------------------------------------------------


class StoppedError(Exception):
    """The work behind an output fails."""


@given(st.binary(), st.lists(st.binary()))
def test_a_file_is_replaced_whole_or_not_at_all(old: bytes, new: list[bytes]) -> None:
    path = Path("file")
    path.write_bytes(old)
    with pytest.raises(StoppedError), output(path) as file:
        file.writelines(new)
        raise StoppedError
    assert path.read_bytes() == old
    write_output(path, b"".join(new))
    assert path.read_bytes() == b"".join(new)
    assert {path.name for path in Path().iterdir()} == {"P", "C", "file"}


def test_a_link_to_nothing_gets_its_target() -> None:
    Path("folder").mkdir()
    Path("link").symlink_to("folder/target")
    write_output(Path("link"), b"text")
    assert Path("link").is_symlink()
    assert Path("folder/target").read_bytes() == b"text"


def test_lines_to_a_stream_and_from_a_stream_are_not_resumed() -> None:
    os.mkfifo("pipe")
    for inputs_, kept in (((Path("P"),), 1), ((Path("pipe"),), 0)):
        with pytest.raises(StoppedError), LineFile.open(Path("out"), inputs=inputs_, settings=None) as file:
            file.append_line(b"1")
            raise StoppedError
        assert len([path for path in Path().iterdir() if path.name.endswith(".partial")]) == kept
        for partial in Path().glob(".out.*.partial"):
            partial.unlink()
    with (
        pytest.raises(DataError, match="No space left"),
        LineFile.open(Path("/dev/full"), inputs=(), settings=0) as file,
    ):
        file.append_line(b"1")


def test_what_is_read_again_is_no_stream() -> None:
    with pytest.raises(DataError, match="not a regular file"):
        open_alone(Path("/dev/null"))
    with open_alone(Path("kept")) as file:
        file.write(b"1")
    check_output(Path("kept"), inputs=[Path("P"), Path("missing")])


# -- one run at a time ------------------------------------------------------------------------------------------------

REFUSED = "another run is writing this file; wait for it, or name another output"
APPENDING = {
    "verify": ("verify", *INPUTS, "--out", "OUT"),
    "verify --workers": ("verify", *INPUTS, "--out", "OUT", "--workers", "2"),
    "prove": ("prove", "--problems", "P", "--out", "OUT"),
    "generate": ("generate", "--n", "3", "--out", "OUT"),
    "generate --evidence-out": ("generate", "--n", "3", "--out", "other", "--evidence-out", "OUT"),
}
"""The commands that resume a file."""


def new_files() -> dict[str, bytes]:
    """The files of the working folder that are not inputs."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.name not in ("P", "C")}


def run_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """A command, and the files that it writes, which are removed again."""
    command = tuple("out" if word == "OUT" else word for word in APPENDING[name])
    assert run(command, "out", monkeypatch) == 0
    alone = new_files()
    for path in alone:
        Path(path).unlink()
    return command, alone


@pytest.mark.parametrize("name", APPENDING)
def test_a_second_run_is_refused_while_the_first_one_writes(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    command, alone = run_alone(name, monkeypatch)
    second: list[tuple[int, str, str]] = []
    append = LineFile.append_line

    def append_line(self: LineFile, line: bytes) -> None:
        append(self, line)
        if not second:
            capfd.readouterr()
            status = run(command, "out", monkeypatch)
            second.append((status, *capfd.readouterr()))

    with monkeypatch.context() as patched:
        patched.setattr(LineFile, "append_line", append_line)
        assert run(command, "out", monkeypatch) == 0
    assert second == [(2, "", f"error: {'other' if 'other' in command else 'out'}: {REFUSED}\n")]
    assert new_files() == alone
    assert run(command, "out", monkeypatch) == 0
    assert new_files() == alone


@pytest.mark.parametrize("name", APPENDING)
def test_a_killed_run_holds_no_lock_and_is_resumed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command, alone = run_alone(name, monkeypatch)
    code = (
        "import os, signal\n"
        "from proof_r1_formal.outputs import LineFile\n"
        "append = LineFile.append_line\n"
        "def append_line(self, line):\n"
        "    append(self, line)\n"
        "    self._file.write(b'{cut sho')\n"
        "    self._file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "LineFile.append_line = append_line\n"
        "from proof_r1_formal.cli import main\n"
        "main()\n"
    )
    killed = subprocess.run((sys.executable, "-c", code, *command), capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert new_files().keys().isdisjoint(alone)
    assert run(command, "out", monkeypatch) == 0
    assert new_files() == alone


HOLDING = """
import os, subprocess
from pathlib import Path
from proof_r1_formal.outputs import LineFile

with LineFile.open(Path("out"), inputs=(), settings=None) as file:
    file.append_line(b"1")
    subprocess.Popen(["cat"])
    print("ready", flush=True)
    os.read(0, 1)
"""


def test_a_lock_ends_with_its_run() -> None:
    holder = subprocess.Popen((sys.executable, "-c", HOLDING), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None and holder.stdout is not None
    with holder.stdout, holder.stdin:
        assert holder.stdout.readline() == b"ready\n"
        with pytest.raises(DataError, match=f"out: {REFUSED}"):
            LineFile.open(Path("out"), inputs=(), settings=None)
        holder.kill()
        holder.wait()
        with LineFile.open(Path("out"), inputs=(), settings=None) as file:  # the program goes on
            assert file.done == 1
            file.append_line(b"2")
        holder.stdin.close()
        assert holder.stdout.read() == b""  # it has ended
    assert new_files() == {"out": b"1\n2\n"}


def test_a_file_that_appears_before_the_lock_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoppedError), LineFile.open(Path("out"), inputs=(), settings=None) as file:
        file.append_line(b"1")
        raise StoppedError
    (partial,) = Path().glob(".out.*.partial")
    flock = fcntl.flock
    locked: list[int] = []

    def late(file: int, operation: int) -> None:
        if not locked:
            partial.replace("out")
        locked.append(operation)
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with LineFile.open(Path("out"), inputs=(), settings=None) as file:
        assert (file.done, len(locked)) == (0, 2)
        file.append_line(b"2")
        assert new_files() == {"out": b"1\n", partial.name: b"2\n"}
    assert new_files() == {"out": b"2\n"}


def test_runs_with_other_settings_write_whole_files() -> None:
    files = [LineFile.open(Path("out"), inputs=(), settings=number) for number in range(2)]
    for number in (0, 1, 0, 1):
        files[number].append_line(b"%d" % number)
    for number, file in enumerate(files):
        with file:
            pass
        assert new_files()["out"] == b"%d\n" % number * 2
    assert new_files().keys() == {"out"}


def opened_alone() -> None:
    with open_alone(Path("kept")):
        pass


def opened_for_lines() -> None:
    with LineFile.open(Path("kept"), inputs=(), settings=None) as file:
        file.append_line(b"1")


@pytest.mark.parametrize("opened", [opened_alone, opened_for_lines])
def test_what_the_system_says_about_locks(opened: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    with open_alone(Path("kept")), pytest.raises(DataError, match=f"kept: {REFUSED}"):
        open_alone(Path("kept"))
    for number, reason in [(errno.ENOLCK, ""), (errno.ENOSYS, ""), (errno.EOPNOTSUPP, ""), (errno.EIO, "output error")]:

        def fails(_file: object, _operation: int, number: int = number) -> None:
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patched:
            patched.setattr(fcntl, "flock", fails)
            if reason:
                with pytest.raises(DataError, match=f"kept: the file cannot be written: .*{reason}"):
                    opened()
            else:
                opened()
        opened()
