"""Options that exclude or require each other, outputs on one stream, and the token of the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof_r1_formal.commands.service import _token
from proof_r1_formal.errors import ProofR1Error
from tests.build import INPUTS, Run

PROBLEMS = INPUTS[:2]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("parse", "Bob is red.", "--english", "--repair"), "--english and --repair exclude each other"),
        (("parse", "Bob is red.", "--english", "--notation", "lean"), "--english and --notation exclude each other"),
        (("grammar", *PROBLEMS, "--id", "garden/1", "--thoughts", "--to", "gbnf"), "--thoughts has no effect on gbnf"),
        *[
            (
                ("prove", *PROBLEMS, "--continue", "c", *given),
                "leave out --id, --certify, --table, --time and --thinking",
            )
            for given in (("--id", "garden/1"), ("--table",), ("--time",), ("--thinking", "native"))
        ],
        (("generate", "--n", "1", "--out", "o", "--steps", "many"), "--steps: expected a number or a range"),
        (("generate", "--n", "1", "--out", "o", "--steps", "5-3"), "the range 5-3 of steps is reversed"),
        *[
            (("certify", *PROBLEMS, "--out", "o", "--standalone", *given), f"so {given[0]} has no effect; leave out")
            for given in (("--require", "."), ("--name", "Mine"))
        ],
        (("certify", *PROBLEMS, "--bundle", "b.json"), "--bundle has verdicts on completions"),
        (("certify", *PROBLEMS, "--out", "o", "--name", "mine"), "--name: 'mine' is not a name"),
        (("evaluate", *PROBLEMS), "give --problems and --completions, or --study"),
    ],
)
def test_options_that_do_not_fit_are_errors(
    run: Run, arguments: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.status == 2
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "option", "needed"),
    [
        ("certify", "--name Mine", "--out"),
        ("certify", "--require .", "--out"),
        ("certify", "--standalone", "--out"),
        ("certify", "--isabelle", "--out"),
        ("certify", "--short-names", "--out"),
        ("certify --kernel none", "--style reflect", "--out or --kernel lean"),
        ("certify --kernel none", "--lean wheel", "--kernel lean"),
        ("prove", "--kernel none", "--certify"),
        ("prove", "--name Mine", "--certify"),
        ("prove", "--isabelle", "--certify"),
        ("prove", "--short-names", "--certify"),
        ("prove", "--lean wheel", "--certify"),
        ("prove --certify o --kernel none", "--lean wheel", "--kernel lean"),
        ("prove", "--thinking native", "--out"),
        ("export --to fitch", "--rules folio", "--completions"),
        ("export --to fitch", "--atomic", "--completions"),
        ("export --to fitch", "--solver z3", "--completions"),
    ],
)
def test_an_option_without_the_one_that_it_needs_is_an_error(
    run: Run, command: str, option: str, needed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*command.split(), *PROBLEMS, *option.split())
    assert done.status == 2
    name = option.split()[0]
    assert f"{name} has no effect without {needed}: add it, or leave out {name}" in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_the_program_lean_is_not_for_isabelle(run: Run) -> None:
    done = run("theories", "check", "--kernel", "isabelle", "--lean", "wheel")
    assert (done.status, "--lean has no effect without --kernel lean" in done.stderr) == (2, True)


@pytest.mark.parametrize("place", ["nowhere", "."])
def test_the_folder_to_require_is_checked_before_any_work(
    run: Run, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("certify", *PROBLEMS, "--kernel", "none", "--out", "o", "--require", place)
    assert done.status == 2
    assert "this is not the folder of the theory, theories/lean: it has no lakefile.toml" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_name_of_standalone_files_is_that_of_the_session(run: Run, tmp_path: Path) -> None:
    given = ("--kernel", "none", "--id", "garden/1", "--out", str(tmp_path), "--standalone", "--isabelle")
    assert run("certify", *PROBLEMS, *given, "--name", "Mine").status == 0
    assert "session Proof_R1_Mine" in (tmp_path / "ROOT").read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", *INPUTS, "--json", "-", "--markdown", "-"),
        ("prove", *PROBLEMS, "--out", "-", "--json", "/dev/stdout"),
        ("generate", "--n", "1", "--out", "-", "--evidence-out", "-"),
    ],
)
def test_two_outputs_are_not_mixed_on_standard_output(run: Run, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.status, done.stdout) == (2, "")
    assert "two outputs would go to standard output; name a file for one of them" in done.stderr


def test_a_group_of_commands_alone_shows_its_help(run: Run) -> None:
    assert "check" in run("theories").stdout + run("theories").stderr


@pytest.mark.parametrize("letters", ["0123456789abcde", "0123456789abcdeé", "0123456789abcd\x01f", ""])
def test_a_token_is_long_and_printable(letters: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{letters}\n", "utf-8")
    with pytest.raises(ProofR1Error, match="the token must have at least 16 characters, all printable ASCII"):
        _token(tmp_path / "token")
    (tmp_path / "token").write_text(" 0123456789abcdef\n", "utf-8")
    assert _token(tmp_path / "token") == "0123456789abcdef"
    with pytest.raises(ProofR1Error, match="the token cannot be read"):
        _token(tmp_path / "nothing")
