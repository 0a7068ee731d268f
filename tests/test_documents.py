"""What the documents claim is so: every command and every piece of code in them runs and prints what they say.

A page is run as a reader would: all its ``bash`` and ``python`` blocks in order, the former in one shell, in a folder
with the examples of the checkout, which are ``P.jsonl`` and ``C.jsonl``, too. A ``text`` block behind such a block is
what it prints; ``…`` stands for anything there. ``make`` only says what it would do. Pages with needs of their own are
run elsewhere.
"""

from __future__ import annotations

import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
import yaml

import proof_r1_formal
from proof_r1_formal.cli import COMMANDS
from proof_r1_formal.cli import command as get_command
from proof_r1_formal.proof.report import NOTES, Code
from tests.build import ROOT
from tests.environments import installed, linked
from tests.patience import PATIENCE

PAGES = {
    page.name: page for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
}

ELSEWHERE = {
    "quickstart.md": "tests/test_documents.py",  # by the newcomer, below
    "testing.md": "tests/testing/test_attempts.py",
    "service.md": "tests/serve/test_service.py",
    "integrations.md": "tests/integrations/test_document.py",
    "gyms.md": "tests/integrations/test_document.py",
}
"""Pages that another test runs: page -> where."""
NOT_RUN = {
    ("README.md", "make small"): "as in training.md",
    ("training.md", "make small"): "takes minutes; tests/integrations/test_trl_run.py runs such files",
    ("training.md", "make pretrained"): "takes hours; tests/integrations/test_trl_run.py runs such files",
    ("cluster.md", ""): "wants GPUs, a cluster and a model; tests/training/openrlhf runs the engine on CPUs",
    ("decoding.md", "pip install"): "changes the environment",
    ("decoding.md", "from transformers"): "wants a model; tests/decoding/test_sampler.py has one",
    ("evaluation.md", "git checkout"): "wants servers of models; tests/studies/test_agents_study.py has the answers",
    ("evaluation.md", "proof-r1 evaluate --study"): "tests/evaluation/test_evaluation_commands.py runs a study",
    ("gpu.md", "python -m studies.gpu"): "wants a card; tests/studies/test_gpu.py and test_card.py run what a CPU can",
    ("hub.md", "proof-r1 dataset -p folio"): "wants the datasets; tests/integrations/test_dataset_cards.py has records",
    ("paper.md", "python -m studies"): "wants the datasets; tests/studies/test_paper_splits.py has them",
}
"""Blocks that nothing can run: page and beginning -> why."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page that can be run, and what it prints, if the page says so."""

    page: str
    line: int
    language: str
    code: str
    printed: str | None

    @property
    def reason(self) -> str | None:
        """Why it is not run, if it is not."""
        found = (why for (page, start), why in NOT_RUN.items() if page == self.page and self.code.startswith(start))
        return next(found, None)


def blocks(page: str) -> list[Block]:
    """The blocks of a page that can be run."""
    text = PAGES[page].read_text(encoding="utf-8")
    fence = re.compile(
        r"^```(bash|python)\n(.*?)^```$(?:\n\n(?:prints\n\n)?```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE
    )
    return [Block(page, text.count("\n", 0, m.start()) + 1, m[1], m[2], m[3]) for m in fence.finditer(text)]


def says(shown: str, output: str) -> bool:
    """Whether the output is what is shown, where ``…`` stands for any text, and alone on a line for any lines."""
    lines = ["(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in shown.splitlines()]
    actual = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
    return re.fullmatch("".join(lines), actual) is not None


def run(wanted: list[Block], folder: Path, environment: dict[str, str]) -> None:
    """Run the blocks in one shell, which ends at the first command that fails; compare what they print."""
    mark = "\x1e"
    script = ["set -euo pipefail", "exec 2>&1"]
    for number, block in enumerate(wanted):
        code = block.code
        if block.language == "python":
            (folder / f"block{number}.py").write_text(code, encoding="utf-8")
            code = f"python block{number}.py\n"
        script.append(f"{{\n{code}}}\nprintf '{mark}'")
    settings = {"PATH": environment["PATH"], "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    settings["PYTHONUNBUFFERED"] = "1"  # as at a terminal: errors and output in the order in which they are written
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=settings | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    outputs = done.stdout.split(mark)
    if done.returncode:
        failed = wanted[len(outputs) - 1]
        pytest.fail(f"{failed.page}, line {failed.line}: exit status {done.returncode}\n{failed.code}\n{outputs[-1]}")
    for block, output in zip(wanted, outputs, strict=False):
        if block.printed is not None and not says(block.printed, output):
            pytest.fail(f"{block.page}, line {block.line} prints something else:\n{output}")


RUN = [page for page in PAGES if page not in ELSEWHERE and any(block.reason is None for block in blocks(page))]


def extras(page: str) -> list[str]:
    """The extras of the install that a page names; ``make setup`` installs the kernel."""
    named = re.findall(r"(?:proof-r1-formal|\.|\.whl)\[([a-z,]+)\]'", PAGES[page].read_text(encoding="utf-8"))
    return sorted({extra for some in named for extra in some.split(",")}) or ["kernel"]


def run_page(page: str, folder: Path, environment: dict[str, str]) -> None:
    """Run what a page says, in a new folder with the files of the checkout that pages use."""
    folder.mkdir()
    for name in ("examples", "training"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for short, name in (("P.jsonl", "problems.jsonl"), ("C.jsonl", "completions.jsonl")):
        shutil.copy(ROOT / "examples" / name, folder / short)
    for name in ("check_bundle.py", "Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    settings = {"PYTHONDONTWRITEBYTECODE": "1", "MAKEFLAGS": "n", "OMP_NUM_THREADS": "1"}
    run([block for block in blocks(page) if block.reason is None], folder, environment | settings)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_a_page_runs_after_the_install_that_it_names(page: str, tmp_path: Path) -> None:
    (tmp_path / "environment").mkdir()
    run_page(page, tmp_path / "page", linked(tmp_path / "environment", *extras(page)))


@pytest.mark.long
@pytest.mark.parametrize("page", RUN)
def test_a_page_runs_after_pip_did_what_it_names(page: str, tmp_path: Path) -> None:
    run_page(page, tmp_path / "page", installed(tmp_path / "environment", *extras(page)))


@pytest.mark.slow
def test_the_quick_start_leads_to_a_theorem(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel", "--no-deps", "-w", str(tmp_path)]
    subprocess.run([*pip, str(ROOT)], check=True, timeout=PATIENCE)
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "HOME"}
    settings.pop("PIP_CONSTRAINT", None)  # a newcomer has no checkout
    environment = settings | {"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    run(blocks("quickstart.md"), tmp_path, environment)
    [package] = (tmp_path / "proofs" / "lib").glob("python3.*/site-packages/proof_r1_formal")
    assert not package.is_symlink()
    reports = [json.loads(line) for line in (tmp_path / "reports.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [[step["signal"] for step in report["actions"]] for report in reports] == [[1.0, 1.0, 1.0], [1.0, 0.1, 0.1]]
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert html.lstrip().lower().startswith("<!doctype html>")
    assert "pets/1" in html
    [theorem] = (tmp_path / "certificates" / "Certificates").glob("*.lean")
    assert "theorem answer" in theorem.read_text(encoding="utf-8")


def test_a_page_that_is_wrong_is_noticed(tmp_path: Path) -> None:
    def page(language: str, code: str, printed: str | None) -> None:
        run(
            [Block("page", 1, language, code, printed)],
            tmp_path,
            {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )

    page("bash", "echo 1; echo 2 >&2; echo 3\necho 4 5\n", "1\n…\n4 …\n")
    with pytest.raises(pytest.fail.Exception, match="exit status 3"):
        page("bash", "echo 1\n(exit 3)\necho 2\n", None)
    with pytest.raises(pytest.fail.Exception, match="prints something else"):
        page("bash", "echo 1; echo 2\n", "1\n")
    with pytest.raises(pytest.fail.Exception, match="NameError"):
        page("python", "unknown\n", None)


def test_exceptions_of_this_file_are_true() -> None:
    for page, start in NOT_RUN:
        assert any(block.code.startswith(start) for block in blocks(page)), f"{page} has no block {start!r}"
    for page, test in ELSEWHERE.items():
        assert page in PAGES
        assert f'"{page}"' in (ROOT / test).read_text(encoding="utf-8"), f"{test} does not run {page}"


@pytest.mark.parametrize("page", PAGES)
def test_no_command_hides_from_being_run(page: str) -> None:
    text = PAGES[page].read_text(encoding="utf-8")
    assert not re.findall(r"^```(?:console|sh|shell|zsh|py|pycon)\b", text, re.MULTILINE), "say bash or python"
    if page not in ELSEWHERE:
        hidden = re.findall(r"^    (?:\$ |proof-r1 |make |python|pip |ray |curl ).*", text, re.MULTILINE)
        assert not hidden, "indented commands are not run; put them between fences"


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_sentences_exist(page: str) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    text = PAGES[page].read_text(encoding="utf-8")
    for match in re.finditer(r"(?:`|^)(proof-r1|make) ([a-z][\w-]*)([^`\n]*)", text, re.MULTILINE):
        if match[1] == "make":
            assert match[2] in targets, f"{page}: {match[0]}"
            continue
        assert match[2] in COMMANDS, f"{page}: {match[0]}"
        command = get_command(match[2])
        if not isinstance(command, typer.core.TyperGroup):
            known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
            assert set(re.findall(r"(?<=\s)--[a-z-]+", match[3])) <= known | {"--help"}, f"{page}: {match[0]}"


@pytest.mark.parametrize("page", PAGES)
def test_modules_classes_and_files_in_sentences_exist(page: str) -> None:
    text = PAGES[page].read_text(encoding="utf-8")
    package = ROOT / "proof_r1_formal"
    modules = "|".join(path.stem for path in package.iterdir() if path.is_dir() and path.stem != "data")  # as settings
    for match in re.finditer(rf"`((?:training|proof_r1_formal|{modules})(?:\.\w+)+)`", text):
        name = match[1] if match[1].startswith(("training.", "proof_r1_formal.")) else f"proof_r1_formal.{match[1]}"
        if (ROOT / name.replace(".", "/")).with_suffix(".py").is_file():
            continue  # a module, whose import may need a library that is not here
        if name.rpartition(".")[2] not in ("py", "jsonl", "md", "html"):
            assert pkgutil.resolve_name(name), f"{page}: {match[0]}"
    for match in re.finditer(rf"`((?:training|{modules})/[\w/]+\.(?:py|yaml))`", text):
        assert (package / match[1]).exists() or (ROOT / match[1]).exists(), f"{page}: {match[0]}"


@pytest.mark.parametrize("page", PAGES)
def test_every_link_in_the_documents_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)[)#]", PAGES[page].read_text(encoding="utf-8")):
        if "://" not in target:
            assert (PAGES[page].parent / target).exists(), target


def test_every_finding_is_explained() -> None:
    explained = re.findall(r"`([A-Z_]+)`", PAGES["verdicts.md"].read_text(encoding="utf-8"))
    assert set(Code) <= set(explained)


def test_the_viewer_knows_the_findings_that_make_no_verdict_false() -> None:
    source = (ROOT / "web" / "src" / "data.ts").read_text(encoding="utf-8")
    listed = source.partition("NOTES = new Set([")[2].partition("]")[0]
    assert set(re.findall(r'"(\w+)"', listed)) == NOTES


def test_every_public_name_is_in_the_reference() -> None:
    named = re.findall(r"^::: [\w.]+\.(\w+)$", PAGES["api.md"].read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(set(proof_r1_formal.__all__) - {"__version__"})


def test_the_pictures_are_those_that_the_verifier_gives(tmp_path: Path) -> None:
    folder = ROOT / "docs" / "pictures"
    subprocess.run([sys.executable, str(folder / "draw.py"), str(tmp_path)], check=True, timeout=PATIENCE)
    drawn = {picture.name: picture.read_bytes() for picture in tmp_path.iterdir()}
    assert drawn == {picture.name: picture.read_bytes() for picture in folder.glob("*.svg")}


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
    assert (citation["title"], citation["version"]) == ("proof-r1-formal", proof_r1_formal.__version__)


def made(script: str) -> str:
    """The text that a script of ``docs/site`` writes to a file."""
    if find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not here: pip install 'proof-r1-formal[docs]'")
    return subprocess.run(
        [sys.executable, "-c", f"import {script}; print({script}.text(), end='')"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "docs" / "site")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout


def test_the_page_of_modules_lists_each_once() -> None:
    """``python docs/site/modules.py`` writes it."""
    page = (ROOT / "docs" / "modules.md").read_text(encoding="utf-8")
    assert page == made("modules")
    package = ROOT / "proof_r1_formal"
    names = [path.relative_to(package).with_suffix("").parts for path in package.rglob("*.py")]
    public = [".".join(parts) for parts in names if not parts[-1].startswith("_")]
    assert sorted(re.findall(r"^\| `([^`]+)` \| \S", page, re.MULTILINE)) == sorted(public)
    assert page.count("You need it when you ") == len({parts[0] for parts in names if len(parts) > 1})


def test_the_published_schema_is_that_of_the_reports() -> None:
    """``python docs/site/schema.py`` writes it."""
    assert (ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8") == made("schema")


def test_the_files_that_contributors_are_sent_to_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+\.(?:py|toml|lark|ts|md|json|txt|yml))`", page)
    assert len(named) > 60
    files = [f"/{name}" for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()]
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


def test_the_list_of_pages_for_models_is_up_to_date() -> None:
    """``python docs/site/llms.py`` writes it."""
    listed = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    assert listed == made("llms")
    pages = re.findall(r"^- \[([^]]+)\]\(([^)]+)\): (.+)", listed, re.MULTILINE)
    assert len(pages) > 30
    for title, page, about in pages:
        source = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert source.startswith(f"# {title}\n")
        assert 10 < len(about) < 300


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    if find_spec("mkdocs") is None or find_spec("mkdocstrings") is None:
        pytest.skip("mkdocs and mkdocstrings are not here: pip install 'proof-r1-formal[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert built.returncode == 0, built.stderr
    reference = (tmp_path / "api" / "index.html").read_text(encoding="utf-8")
    assert 'id="proof_r1_formal.proof.verify.Verifier.verify"' in reference
    assert ":class:" not in reference
    commands = (tmp_path / "cli" / "index.html").read_text(encoding="utf-8")
    assert {name for name in COMMANDS if f"<code>proof-r1 {name}" not in commands} == set()
    configuration = (tmp_path / "configuration" / "index.html").read_text(encoding="utf-8")
    assert re.search(r"<code>baseline_max</code></td>\s*<td><code>[^<]+</code></td>\s*<td><code>0\.7<", configuration)
    assert "0.1.0" in (tmp_path / "changelog" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "source" / "check_bundle.py").read_bytes() == (ROOT / "check_bundle.py").read_bytes()
    for name in ("llms.txt", "quickstart.md", "api/kernel.md"):
        assert (tmp_path / name).read_bytes() == (ROOT / "docs" / name).read_bytes()
