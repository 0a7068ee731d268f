"""The shared parts of commands: messages and their counts, progress, tables, and the status."""

from __future__ import annotations

import gzip
import json
import os
from io import StringIO
from pathlib import Path

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from proof_r1_formal.commands import common, problem_files
from proof_r1_formal.commands.common import LeftOut
from proof_r1_formal.errors import DataError, ProofR1Error
from proof_r1_formal.evaluation.summary import Doubts


def test_numbers_agree_with_their_nouns() -> None:
    assert [common.count_of(n, "line") for n in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]
    assert [common.count_of(n, "step has", "steps have") for n in (1, 2)] == ["1 step has", "2 steps have"]


def test_the_first_five_ids_are_shown() -> None:
    ids = [f"p/{n}" for n in range(7)]
    assert problem_files.shown_ids(ids[:5]) == "p/0, p/1, p/2, p/3, p/4"
    assert problem_files.shown_ids(ids) == "p/0, p/1, p/2, p/3, p/4, …"
    assert problem_files.shown_ids([]) == ""


def test_the_first_three_paths_are_shown() -> None:
    paths = [Path(f"{n}.jsonl") for n in range(5)]
    assert problem_files.shown_paths(paths[:3]) == "0.jsonl, 1.jsonl, 2.jsonl"
    assert problem_files.shown_paths(paths[:4]) == problem_files.shown_paths(paths) == "0.jsonl, 1.jsonl, 2.jsonl, …"


def test_a_file_of_rules_is_named_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert common._rules("own.toml") == str(tmp_path / "own.toml")
    assert [common._rules(name) for name in ("train", "folio", "none")] == ["train", "folio", "none"]


def test_the_ids_of_problems_with_notes_are_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A name in look-alike letters (a Cyrillic a) is the oddity that also the package's own files are noted for."""
    options = [{"id": "t", "label": "True", "formula": "P(cat)"}, {"id": "f", "label": "False", "formula": "¬P(cat)"}]
    for count, have in ((1, "1 problem has notes"), (2, "2 problems have notes")):
        path = tmp_path / f"{count}.jsonl"
        premises = [{"id": "h1", "formula": "P(c\N{CYRILLIC SMALL LETTER A}t)"}]
        records = [{"id": f"n/{number}", "premises": premises, "options": options} for number in range(count)]
        path.write_text("".join([f"{json.dumps(record)}\n" for record in records]), "utf-8")
        problem_files.read_problem_file(path, "auto")
        assert f"{path}: {have}; the first: n/0: " in capfd.readouterr().err.replace("\n", " ")


# -- the end of a command ---------------------------------------------------------------------------------------------


def ending(left_out: LeftOut, doubts: Doubts | None, capfd: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """The status and the messages of a command's end."""
    try:
        common.finish(left_out, doubts)
    except typer.Exit as ended:
        status = ended.exit_code
    else:
        status = 0
    return status, capfd.readouterr().err.splitlines()


def test_a_command_that_used_everything_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert ending(LeftOut(strict=False), None, capfd) == (0, [])
    assert ending(LeftOut(strict=True), Doubts(), capfd) == (0, [])


def test_skipped_lines_are_counted_and_the_first_ten_shown(capfd: pytest.CaptureFixture[str]) -> None:
    status, said = ending(LeftOut(strict=False, lines=["a"]), None, capfd)
    assert (status, said) == (1, ["skipped: a", "1 line was skipped; everything else was checked"])
    status, said = ending(LeftOut(strict=False, lines=[f"{n}" for n in range(12)]), None, capfd)
    assert status == 1
    assert said[:10] == [f"skipped: {n}" for n in range(10)]
    assert said[10:] == ["12 lines were skipped; everything else was checked"]


def test_left_out_problems_alone_change_the_status(capfd: pytest.CaptureFixture[str]) -> None:
    assert ending(LeftOut(strict=False, problems=1), None, capfd) == (1, [])


def test_completions_that_were_cut_off_change_no_status(capfd: pytest.CaptureFixture[str]) -> None:
    for count, was in ((1, "1 completion was"), (2, "2 completions were")):
        status, [said] = ending(LeftOut(strict=False, truncated=count), None, capfd)
        assert status == 0
        assert said.startswith(f"{was} cut off at the limit of tokens")


@pytest.mark.parametrize(
    ("doubts", "status", "said"),
    [
        (Doubts(unchecked=1), 0, "no evidence was checked (--evidence none)"),
        (Doubts(unsupported=1), 0, "1 step has an answer without evidence, which verifies nothing"),
        (Doubts(unsupported=2), 0, "2 steps have an answer without evidence, which verifies nothing"),
        (Doubts(broken=1), 1, "1 question is undecided because the solver is broken"),
        (Doubts(broken=3), 1, "3 questions are undecided because the solver is broken"),
    ],
)
def test_doubts_are_said(doubts: Doubts, status: int, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    found, [line] = ending(LeftOut(strict=False), doubts, capfd)
    assert (found, line[: len(said)]) == (status, said)


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        (LeftOut(strict=True, problems=1), "1 problem cannot be used"),
        (LeftOut(strict=True, lines=["a", "b"]), "2 completions cannot be used"),
        (LeftOut(strict=True, problems=2, lines=["a"]), "2 problems and 1 completion cannot be used"),
    ],
)
def test_strict_commands_name_what_they_refuse(left_out: LeftOut, told: str) -> None:
    with pytest.raises(ProofR1Error) as error:
        left_out.refuse()
    assert f"{error.value}".startswith(told)
    LeftOut(strict=False, problems=1, lines=["a"]).refuse()
    LeftOut(strict=True).refuse()


# -- progress ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 3])
def test_progress_yields_the_items_and_is_shown_in_a_terminal(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [f"item {number}" for number in range(count)]
    shown = {}
    for terminal in (False, True):
        stream = StringIO()
        monkeypatch.setattr(common, "ERR", Console(file=stream, force_terminal=terminal, width=200))
        assert list(common.with_progress(iter(items), "proving", 3)) == items
        shown[terminal] = stream.getvalue()
    assert shown[False] == ""
    assert ("proving" in shown[True], f"{count}/3" in shown[True]) == (count > 0, count > 0)


def test_the_lines_of_a_file_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text("a\n\n  \nb\nc", "utf-8")
    assert common.count_lines(path) == 3
    assert common.count_lines(Path("/dev/null")) == 0
    assert common.count_lines(tmp_path) == 0
    assert common.count_lines(tmp_path / "nothing") == 0
    path.write_bytes(gzip.compress(b"a\nb\n" * 99)[:-9])
    assert common.count_lines(path) == 0, "the file is damaged"


# -- terminals and tables ---------------------------------------------------------------------------------------------


@given(st.characters())
@example("\x1f")
@example(" ")
@example("~")
@example("\x7f")
@example("\x9f")
@example("\xa0")
def test_control_characters_alone_are_replaced(character: str) -> None:
    stream = StringIO()
    common._Terminal(file=stream, width=80, force_terminal=False).print(f"a{character}b", markup=False, end="")
    control = character != "\n" and (character < " " or "\x7f" <= character < "\xa0")
    if control:
        assert "\N{REPLACEMENT CHARACTER}" in stream.getvalue()
        assert character not in stream.getvalue()
    elif character not in "\n\N{REPLACEMENT CHARACTER}":
        assert stream.getvalue() == f"a{character}b"


# -- outputs ----------------------------------------------------------------------------------------------------------


def test_one_file_is_not_two_outputs_but_the_null_device_may_be(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("out", "pipe"):
        with pytest.raises(ProofR1Error, match="two outputs would go to this file"):
            common.check_outputs(tmp_path / name, None, tmp_path / "." / name, inputs=())
    common.check_outputs(tmp_path / "out", tmp_path / "other", inputs=(None,))
    common.check_outputs(Path("/dev/null"), Path("/dev/null"), inputs=())


def test_one_output_is_standard_output(tmp_path: Path) -> None:
    """By whatever name."""
    common.check_outputs(tmp_path / "out", Path("-"), inputs=())
    for names in (("-", "-"), ("-", "/dev/stdout"), ("/dev/stdout", "/dev/stdout")):
        with pytest.raises(ProofR1Error, match="two outputs would go to standard output; name a file for one of them"):
            common.check_outputs(Path(names[0]), tmp_path / "out", Path(names[1]), inputs=())


def test_only_one_input_is_standard_input(tmp_path: Path) -> None:
    common.check_outputs(tmp_path / "out", inputs=(Path("-"), tmp_path / "p"))
    with pytest.raises(ProofR1Error, match="only one input can be standard input"):
        common.check_outputs(tmp_path / "out", inputs=(Path("-"), Path("-")))


def test_an_output_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("", "utf-8")
    with pytest.raises(DataError, match="would overwrite the input"):
        common.check_outputs(None, tmp_path / "p", inputs=(tmp_path / "c", tmp_path / "p"))
