"""Every file that a command writes: where it may go, what is refused before any work, streams, and failures."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof_r1_formal.cli import main
from proof_r1_formal.errors import DataError
from proof_r1_formal.outputs import LineFile, check_output, open_to_append, output, write_output

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
INPUTS = ("--problems", "P", "--completions", "C")
MODEL = ("--model", "http://localhost:9/v1")

READING = {
    "verify": ("verify", *INPUTS, "--out", "OUT"),
    "verify --cache": ("verify", *INPUTS, "--out", "other.jsonl", "--cache", "OUT"),
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
    "sample": ("sample", "--problems", "P", *MODEL, "--out", "OUT"),
}
"""The commands that write one file made from others."""
FILES = READING | {
    "generate": ("generate", "--n", "1", "--out", "OUT"),
    "generate --evidence-out": ("generate", "--n", "1", "--out", "other.jsonl", "--evidence-out", "OUT"),
    "soundness": ("soundness", "--examples", "1", "--answers", "1", "--out", "OUT"),
}
"""The commands that write one file."""
FOLDERS = {
    "certify": ("certify", *INPUTS, "--kernel", "none", "--out", "OUT"),
    "evaluate --csv": ("evaluate", *INPUTS, "--csv", "OUT"),
    "evaluate --plots": ("evaluate", *INPUTS, "--plots", "OUT"),
    "crosscheck": ("crosscheck", *INPUTS, "--out", "OUT"),
    "review": ("review", *INPUTS, *MODEL, "--out", "OUT"),
}
STREAMED = {name: command for name, command in FILES.items() if name not in ("verify --cache", "sample")}
"""The commands whose output may be a stream."""


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
        ("P.d/file", "there is no folder"),
        ("/proc/file", "no file can be written into /proc"),
        ("loop", "cannot be written"),
        ("x" * 300, "cannot be written"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_inputs_are_read(
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


def test_two_outputs_are_not_one_file(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    command = ("evaluate", *INPUTS, "--json", "OUT", "--latex", "OUT")
    assert "two outputs" in refused(command, "out", monkeypatch, capfd)


def test_completions_that_are_sampled_need_a_file(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "must be a regular file" in refused(FILES["sample"], "-", monkeypatch, capfd)


# -- where outputs go -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STREAMED)
def test_an_output_goes_through_links_and_into_streams(
    name: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    status = run(STREAMED[name], "plain", monkeypatch)
    assert status in (0, 1)
    written = Path("plain").read_bytes()
    Path("target").write_bytes(b"old")
    Path("target").chmod(0o640)
    Path("link").symlink_to("target")
    assert run(STREAMED[name], "link", monkeypatch) == status
    assert Path("link").is_symlink()
    assert Path("target").read_bytes() == written
    assert Path("target").stat().st_mode & 0o777 == 0o640

    for out in ("-", "/dev/stdout"):
        capfdbinary.readouterr()
        assert run(STREAMED[name], out, monkeypatch) == status
        assert capfdbinary.readouterr().out == written

    os.mkfifo("pipe")
    taken: list[bytes] = []
    reader = threading.Thread(target=lambda: taken.append(Path("pipe").read_bytes()))
    reader.start()
    assert run(STREAMED[name], "pipe", monkeypatch) == status
    reader.join()
    assert taken == [written]
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", STREAMED)
def test_a_full_disk_is_one_clear_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("more").symlink_to("/dev/full")
    for out in ("/dev/full", "more"):
        if name == "evaluate --diagnosis":  # nothing is misnamed in these completions, so nothing is written
            continue
        assert run(STREAMED[name], out, monkeypatch) == 2
        *_, last = capfd.readouterr().err.splitlines()
        assert last == f"error: {out}: the file cannot be written: No space left on device"


PROGRAM = (sys.executable, "-c", "from proof_r1_formal.cli import main; main()")


@pytest.mark.parametrize("command", [("rules",), ("verify", *INPUTS, "--out", "-")])
def test_a_standard_output_that_takes_nothing_is_no_traceback(command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run((*PROGRAM, *command), stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert ended.returncode == 2
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        ended = subprocess.run((*PROGRAM, *command), stdout=closed, stderr=subprocess.PIPE, check=False, text=True)
    assert ended.returncode == 1
    assert "rror" not in ended.stderr


@pytest.mark.parametrize("command", [("verify", "--out", "OUT"), ("evaluate", "--json", "OUT")])
def test_inputs_may_be_pipes(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    name, option, out = command
    assert run((name, *INPUTS, option, out), "plain", monkeypatch) in (0, 1)
    contents = {pipe: Path(source).read_bytes() for pipe, source in (("P.pipe", "P"), ("C.pipe", "C"))}
    for pipe in contents:
        os.mkfifo(pipe)
    writers = [threading.Thread(target=Path(pipe).write_bytes, args=(text,)) for pipe, text in contents.items()]
    for writer in writers:
        writer.start()
    command = (name, "--problems", "P.pipe", "--completions", "C.pipe", option, out)
    assert run(command, "piped", monkeypatch) in (0, 1)
    for writer in writers:
        writer.join()
    assert Path("piped").read_bytes().replace(b".pipe", b"") == Path("plain").read_bytes()


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
        open_to_append(Path("/dev/null"))
    with open_to_append(Path("kept")) as file:
        file.write(b"1")
    check_output(Path("kept"), inputs=[Path("P"), Path("missing")])
