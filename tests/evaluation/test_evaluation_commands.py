"""``evaluate --study`` and ``best`` as a user meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec import structs

from proof_r1_formal.data.completions import write_completions
from proof_r1_formal.evaluation.paired import RESAMPLES
from tests.build import COMPLETIONS, INPUTS, PROBLEMS, Run, action, completion, example_completions


def write_study(folder: Path, **completions: str) -> Path:
    """A study of the examples' problems with the systems of one backbone, and the files of each as in TOML."""
    systems = [
        f'[[systems]]\nbackbone = "b"\nmethod = "{method}"\ncompletions = {{ garden = {files} }}\n'
        for method, files in completions.items()
    ]
    path = folder / "study.toml"
    path.write_text("".join(['[datasets.garden]\nproblems = "p.jsonl"\n', *systems]), encoding="utf-8")
    return path


def copy_examples(folder: Path) -> tuple[Path, Path]:
    """The problems and completions of the examples in a folder that a test may lose."""
    made = folder / "p.jsonl", folder / "c.jsonl"
    for path, file in zip(made, (PROBLEMS, COMPLETIONS), strict=True):
        path.write_bytes(file.read_bytes())
    return made


def shards(folder: Path) -> tuple[Path, Path]:
    """The examples' completions in two files: of the six that both have, those of the second are empty texts."""
    given = example_completions()
    silent = [structs.replace(one, completion="") for one in given[:6]]
    made = folder / "one.jsonl", folder / "two.jsonl"
    write_completions(made[0], given[:8])
    write_completions(made[1], [*silent, *given[8:]])
    return made


def test_repeated_samples_are_named_and_count_once(run: Run, tmp_path: Path) -> None:
    one, two = shards(tmp_path)
    files = ("-c", str(one), "-c", str(two))
    whole = run("evaluate", *INPUTS, "--json", str(tmp_path / "whole.json"))
    both = run("evaluate", *INPUTS[:2], *files, "--json", str(tmp_path / "both.json"))
    assert (whole.status, both.status) == (0, 1)
    skipped = [line for line in both.stderr.splitlines() if line.startswith(f"skipped: {two}: problem ")]
    assert len(skipped) == 6
    assert skipped[0].endswith(f"has sample 0 that {one} has too, which counts")
    assert "6 lines were skipped" in both.stderr
    texts = (tmp_path / "whole.json").read_text("ascii"), (tmp_path / "both.json").read_text("ascii")
    expected, found = [
        {table["title"]: table["rows"] for table in json.loads(text.replace("one + two", "completions"))}
        for text in texts
    ]
    counts = {row["what"]: row["count"] for row in found.pop("Left out")}
    assert counts["outputs: second output for the same problem and sample"] == 6
    del expected["Left out"]
    assert expected == found
    strict = run("evaluate", *INPUTS[:2], *files, "--strict")
    assert strict.status == 2
    assert "error: 6 completions cannot be used, and --strict forbids" in strict.stderr


def test_what_the_reader_leaves_out_is_counted_in_the_table(run: Run, tmp_path: Path) -> None:
    """In the tables of files and in those of a study, each system by itself."""
    _, completions = copy_examples(tmp_path)
    good = completions.read_text(encoding="utf-8")
    elsewhere = json.dumps({"problem_id": "garden/77", "sample": 0, "completion": ""})
    completions.write_text(f"{good}{elsewhere}\n{{\n[]\n", encoding="utf-8")
    (tmp_path / "good.jsonl").write_text(good, encoding="utf-8")
    study = write_study(tmp_path, some='"c.jsonl"', all='"good.jsonl"')
    unknown, unreadable = "outputs: unknown problem id", "lines that hold no output"
    for asked, names in (
        (("-p", str(tmp_path / "p.jsonl"), "-c", str(completions)), ["count"]),
        (("--study", str(study)), ["b / some", "b / all"]),
    ):
        done = run("evaluate", *asked, "--json", str(tmp_path / "made.json"))
        assert done.status == 1
        tables = json.loads((tmp_path / "made.json").read_text("ascii"))
        [left_out] = [table["rows"] for table in tables if table["title"].startswith("Left out")]
        rows = {row["what"]: [row[name] for name in names] for row in left_out}
        assert rows[unknown] == [1, 0][: len(names)]
        assert rows[unreadable] == [2, 0][: len(names)]
    done = run("evaluate", "-p", str(tmp_path / "p.jsonl"), "-c", str(tmp_path / "good.jsonl"), "--json", "-")
    assert (done.status, unreadable in done.stdout) == (0, False)


def test_the_tables_of_files_have_their_details(run: Run, tmp_path: Path) -> None:
    assert run("evaluate", *INPUTS, "--json", str(tmp_path / "made.json")).status == 0
    titles = [table["title"] for table in json.loads((tmp_path / "made.json").read_text("ascii"))]
    assert {"Scores", "Left out", "Best of K by evidence", "First errors"} <= set(titles)


def test_a_file_in_the_folder_of_tables_is_not_written_twice(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    assert run("evaluate", *INPUTS, "--csv", str(folder)).status == 0
    first = min(folder.iterdir())
    before = first.read_bytes()
    done = run("evaluate", *INPUTS, "--csv", str(folder), "--json", str(first))
    assert (done.status, "two outputs would go to this file" in done.stderr) == (2, True)
    assert first.read_bytes() == before


def test_a_study_names_the_notation_of_its_problems(run: Run, tmp_path: Path) -> None:
    """Options for the problems of one file have no effect on a study, so they are refused."""
    copy_examples(tmp_path)
    study = write_study(tmp_path, all='"c.jsonl"')
    done = run("evaluate", "--study", str(study), "--rules", "folio", "--notation", "lean", "--format", "folio")
    assert done.status == 2
    assert (
        "a study names rules, format and notation for each dataset: drop --rules, --format, --notation" in done.stderr
    )
    problems = tmp_path / "p.jsonl"
    [first, *_] = problems.read_text(encoding="utf-8").splitlines()
    # Without a notation, nobody knows how far the quantifier reaches.
    open_scope = first.replace("∀x (on_duty(x) → waters_roses(x))", "∀x on_duty(x) → waters_roses(Mara)")
    problems.write_text(f"{open_scope}\n", encoding="utf-8")
    completions = (tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "c.jsonl").write_text(f"{completions[0]}\n", encoding="utf-8")
    assert run("evaluate", "--study", str(study)).status == 2
    described = study.read_text(encoding="utf-8")
    study.write_text(described.replace("[[systems]]", 'notation = "lean"\n\n[[systems]]', 1), encoding="utf-8")
    assert run("evaluate", "--study", str(study)).status == 0


def test_a_study_is_evaluated_into_every_format(run: Run, tmp_path: Path) -> None:
    """Three systems: two files, the same in one file, and the first of the files."""
    _, completions = copy_examples(tmp_path)
    lines = completions.read_text(encoding="utf-8").splitlines(keepends=True)
    for name, of in (("one", lines[:8]), ("two", lines[8:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(of), encoding="utf-8")
    study = write_study(tmp_path, both='["one.jsonl", "two.jsonl"]', whole='"c.jsonl"', first='"one.jsonl"')
    files = [tmp_path / f"t.{name}" for name in ("json", "md", "tex")]
    formats = ("--json", str(files[0]), "--markdown", str(files[1]), "--latex", str(files[2]))
    result = run("evaluate", "--study", str(study), *formats, "--csv", str(tmp_path / "csv"))
    assert result.status == 0, result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 80
    as_json, markdown, latex = [path.read_text(encoding="utf-8") for path in files]
    tables = {table["title"]: table["rows"] for table in json.loads(as_json)}
    both, whole, first = [row["outputs"] for row in tables["Outputs: garden"]]
    alone, _ = tables["Outputs without a pair: garden"]
    assert first + alone["outputs"] == whole == both == 12
    assert (alone["system"], alone["lacking in"], len(alone["for example"])) == ("b / both", "b / first", 12 - first)
    assert {row["p (Holm)"] for row in tables["Paired answers: garden"]} == {1.0}
    assert "**91.7 ± 11.5**" in markdown  # a tie: both are best
    names = {path.name.partition("-")[2] for path in (tmp_path / "csv").iterdir()}
    assert len(names) == len(tables) == sum(line.startswith("**") for line in markdown.splitlines())
    for title in ("Main results", "Paired answers", "Paired rates"):
        assert f"{title}: garden" in result.stdout
        assert f"{title.lower().replace(' ', '-')}-garden.csv" in names
        assert f"caption{{{title}: garden}}" in latex


def test_the_intervals_of_paired_rates_are_those_of_the_resamples(run: Run, tmp_path: Path) -> None:
    copy_examples(tmp_path)
    shards(tmp_path)
    study = write_study(tmp_path, whole='"c.jsonl"', silent='"two.jsonl"')
    found = []
    for chosen in ((), ("--bootstrap", "40"), ("--bootstrap", str(RESAMPLES))):
        result = run("evaluate", "--study", str(study), *chosen, "--json", str(tmp_path / "t.json"))
        assert result.status == 0, result.stderr
        tables = {table["title"]: table["rows"] for table in json.loads((tmp_path / "t.json").read_bytes())}
        found.append([row["difference (%)"]["interval"] for row in tables["Paired rates: garden"]])
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize("option", ["--json", "--markdown", "--latex", "--diagnosis"])
@pytest.mark.parametrize("name", ["p.jsonl", "c.jsonl", "study.toml"])
def test_a_study_never_overwrites_its_own_files(run: Run, tmp_path: Path, option: str, name: str) -> None:
    copy_examples(tmp_path)
    study = write_study(tmp_path, one='"c.jsonl"')
    before = (tmp_path / name).read_bytes()
    result = run("evaluate", "--study", str(study), option, str(tmp_path / name))
    assert result.status == 2
    assert name in result.stderr
    assert (tmp_path / name).read_bytes() == before


def test_a_study_that_is_not_utf_8_is_an_error_of_its_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(b"\xff")
    result = run("evaluate", "--study", str(tmp_path / "study.toml"))
    assert (result.status, "study.toml" in result.stderr, "Traceback" in result.stderr) == (2, True, False)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("01-scores.csv", ("evaluate", "--csv")),
        ("shares.svg", ("evaluate", "--plots")),
        ("ROOT", ("certify", "--isabelle", "--kernel", "none", "--out")),
    ],
)
def test_files_of_an_output_folder_never_overwrite_inputs(
    run: Run, tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    problems, completions = copy_examples(tmp_path)
    (tmp_path / "out").mkdir()
    taken = problems.rename(tmp_path / "out" / name)
    before = taken.read_bytes()
    given = ("--problems", str(taken), "--completions", str(completions), "--format", "native")
    result = run(command[0], *given, *command[1:], str(tmp_path / "out"))
    assert result.status == 2, result.stderr
    assert name in result.stderr
    assert taken.read_bytes() == before


@pytest.mark.parametrize("study", [False, True])
def test_the_figures_are_drawn(run: Run, tmp_path: Path, study: bool) -> None:
    given: tuple[str, ...] = INPUTS
    if study:
        copy_examples(tmp_path)
        (tmp_path / "silent.jsonl").write_text('{"problem_id": "garden/1", "completion": ""}\n', encoding="utf-8")
        given = ("--study", str(write_study(tmp_path, all='"c.jsonl"', silent='"silent.jsonl"')))
    done = run("evaluate", *given, "--plots", str(tmp_path / "out"))
    assert done.status == 0, done.stderr
    drawn = (tmp_path / "out" / "length-ratios.svg").read_text(encoding="utf-8")
    for row in ("garden: b / all", "garden: b / silent") if study else ("problems: completions",):
        assert f">{row}<" in drawn
    names = {"accuracy-rvr", "shares", "length-ratios", "confusion-1-b-all" if study else "confusion-1-completions"}
    assert {path.stem.removesuffix("-dark") for path in (tmp_path / "out").iterdir()} == names


def test_a_diagnosis_lists_misnamed_steps_and_gaps(run: Run, tmp_path: Path) -> None:
    given = example_completions()
    write_completions(tmp_path / "c.jsonl", [given[0], *given[2:]])  # garden/1 has one, not two
    command = ("evaluate", *INPUTS[:2], "--completions", str(tmp_path / "c.jsonl"), "--json", str(tmp_path / "t.json"))
    result = run(*command, "--diagnosis", str(tmp_path / "d.jsonl"))
    assert result.status == 0, result.stderr
    assert re.search(r": \d problems have fewer than K = 3 completions", result.stderr)
    assert "no completion: " not in result.stderr
    tables = {table["title"]: table["rows"] for table in json.loads((tmp_path / "t.json").read_bytes())}
    found = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text("ascii").splitlines()]
    confusion = tables["Entailed under a wrong rule: declared and actual rule"]
    assert len(found) >= sum(count for row in confusion for count in row.values() if isinstance(count, int)) > 0
    assert all(one["dataset"] == "problems" and one["method"] == "c" for one in found)
    assert any(one["alternatives"] for one in found)


def test_problems_without_a_completion_are_named(run: Run, tmp_path: Path) -> None:
    write_completions(tmp_path / "c.jsonl", [one for one in example_completions() if one.problem_id == "garden/1"])
    result = run("evaluate", *INPUTS[:2], "--completions", str(tmp_path / "c.jsonl"))
    assert result.status == 0, result.stderr
    named = "garden/2, garden/3, garden/4, animals/1, animals/2, …"
    assert f"6 problems have no completion: {named}\n" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "--study"),
        (("--study", "s.toml", *INPUTS), "--study"),
        (INPUTS[:2], "--study"),
        (("--study", "s.toml", *INPUTS[2:]), "--study"),
        ((*INPUTS, "--bootstrap", "39"), "at least 40"),
        ((*INPUTS, "--bootstrap", "1"), "at least 40"),
    ],
)
def test_options_that_do_not_fit_are_refused(run: Run, arguments: tuple[str, ...], told: str) -> None:
    result = run("evaluate", *arguments)
    assert result.status == 2
    assert told in result.stderr


def test_the_best_completions_are_written_and_are_better(run: Run, tmp_path: Path) -> None:
    result = run("best", *INPUTS, "--out", str(tmp_path / "best.jsonl"))
    assert result.status == 0, result.stderr
    lines = (tmp_path / "best.jsonl").read_text("ascii").splitlines()
    chosen = {one["problem_id"]: one["sample"] for one in map(json.loads, lines)}
    assert chosen["garden/1"] == 0  # both are certified; this one has fewer steps
    assert chosen["garden/2"] == 2  # the fewest steps, though under names of wrong rules; 1 is not certified
    assert len(chosen) == len(lines) == 7
    assert "7 certified" in result.stderr


def test_the_kinds_of_choices_are_counted(run: Run, tmp_path: Path) -> None:
    texts = {(one.problem_id, one.sample): one.completion for one in example_completions()}
    wrong = texts["garden/2", 1]  # an answer, which is not certified
    given = [("garden/1", texts["garden/1", 0]), ("garden/2", wrong), ("garden/2", ""), *[("garden/3", "")] * 3]
    records = [json.dumps({"problem_id": name, "completion": text}) for name, text in given]
    (tmp_path / "c.jsonl").write_text("\n".join(records), encoding="utf-8")
    out = tmp_path / "best.jsonl"
    result = run("best", *INPUTS[:2], "--completions", str(tmp_path / "c.jsonl"), "--out", str(out))
    told = f"3 completions written to {out}: 1 certified, 1 with the most frequent answer, 1 without an answer"
    assert told in " ".join(result.stderr.split())


@pytest.mark.parametrize(("seen", "steps"), [("train", [[0, 1, 0]]), ("folio", [])])
def test_a_study_says_which_rules_training_had(run: Run, tmp_path: Path, seen: str, steps: list[list[int]]) -> None:
    """One step under a rule of FOLIO; columns for seen, unseen and unknown rules. No table has seen rules alone."""
    step = action("s1", "p(a)", "h1", rule="QUANTIFIER_NEGATION")
    record = {"problem_id": "garden/1", "completion": completion(step)}
    copy_examples(tmp_path)
    (tmp_path / "c.jsonl").write_text(json.dumps(record), encoding="utf-8")
    study = write_study(tmp_path, one='"c.jsonl"')
    systems = study.read_text(encoding="utf-8").replace("[datasets.garden]", '[datasets.garden]\nrules = "folio"')
    study.write_text(f'seen = "{seen}"\n{systems}', encoding="utf-8")
    result = run("evaluate", "--study", str(study), "--json", str(tmp_path / "t.json"))
    assert result.status == 0, result.stderr
    found = [
        table for table in json.loads((tmp_path / "t.json").read_bytes()) if table["title"].startswith("Rules seen")
    ]
    counts = [[row[name] for name in row if name.endswith("steps")] for table in found for row in table["rows"]]
    assert counts == steps


def test_a_study_names_the_file_that_is_absent(run: Run, tmp_path: Path) -> None:
    copy_examples(tmp_path)
    study = write_study(tmp_path, whole='"c.jsonl"', other='["c.jsonl", "none.jsonl"]')
    result = run("evaluate", "--study", str(study))
    assert (result.status, result.stdout) == (2, "")
    assert f"{tmp_path / 'none.jsonl'}, a file of the study, does not exist" in result.stderr
