"""The Lake package and the theory that it builds: all of the theory is in it, and nothing else is.

No machine that runs these tests has a whole Lean. So Lean's kernel from the wheel reads the lakefile as far as it can
without Lake, and compiles the theory with a second ``Init``, whose names, arguments and universes are those of Lean.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from proof_r1_formal.assistants import lean as lean_module
from proof_r1_formal.assistants.lean import LeanKernel
from proof_r1_formal.assistants.theories import check_checker, check_schemata
from proof_r1_formal.rules.catalogue import COMPLETE
from proof_r1_formal.rules.manifest import manifest_path, read_manifest
from proof_r1_formal.text.show import show
from proof_r1_formal.version import __version__
from tests.build import ROOT

FOLDER = ROOT / "theories" / "lean"
TESTS = [FOLDER / "ProofR1Test" / "Module.lean", FOLDER / "ProofR1Test.lean"]
FILES = sorted(file for file in FOLDER.rglob("*.lean") if "mini" not in file.parts and file not in TESTS)
MODULES = {".".join(file.relative_to(FOLDER).with_suffix("").parts): file for file in FILES}
LAKEFILE = (ROOT / "lakefile.lean").read_text(encoding="utf-8")

_KEYWORDS = {"prelude", "import", "namespace", "section", "universe", "variable", "end", "noncomputable", "mutual"} | {
    *("def", "theorem", "inductive", "structure", "where", "fun", "have", "let")
}
"""What the theory is written with: terms. Tactics, axioms and anything unsafe would need other words."""
_FORBIDDEN = {
    *("sorry", "admit", "by", "axiom", "unsafe", "partial", "opaque", "extern", "implemented_by", "instance"),
    *("macro", "macro_rules", "syntax", "notation", "infix", "elab", "open", "export", "set_option", "attribute"),
    *("native_decide", "decide", "simp", "exact", "private", "run_cmd", "initialize"),
}


def code(file: Path) -> str:
    """The text without comments; they do not nest in our files."""
    text = file.read_text(encoding="utf-8")
    assert "/-" not in re.sub(r"/-.*?-/", "", text, flags=re.DOTALL)
    return re.sub(r"/-.*?-/|--[^\n]*", "", text, flags=re.DOTALL)


def imports(file: Path) -> list[str]:
    return re.findall(r"^(?:public )?import (\S+)$", code(file), re.MULTILINE)


def test_both_lakefiles_build_the_theory() -> None:
    assert 'srcDir := "theories/lean"\n  roots := #[`ProofR1]' in LAKEFILE
    package = tomllib.loads((FOLDER / "lakefile.toml").read_text(encoding="utf-8"))
    assert {each["name"] for each in package["lean_lib"]} == {"ProofR1", package["testDriver"]}
    assert package["defaultTargets"] == ["ProofR1"]
    python = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (package["version"], package["license"]) == (__version__, python["license"])
    assert all((FOLDER / file).is_file() for file in package["licenseFiles"])
    for field in ("description", "license"):
        assert f"  {field} := {json.dumps(package[field])}\n" in LAKEFILE
    assert f"  keywords := #{json.dumps(package['keywords'])}\n" in LAKEFILE
    assert f'  version := v!"{package["version"]}"\n' in LAKEFILE
    assert (ROOT / "LICENSE").is_file()


def test_the_package_depends_on_nothing() -> None:
    assert "\nrequire" not in LAKEFILE + (FOLDER / "lakefile.toml").read_text(encoding="utf-8").replace("[", "")
    for file in FILES:
        assert set(imports(file)) <= set(MODULES)


def test_one_import_brings_the_whole_theory() -> None:
    assert {"ProofR1", *imports(MODULES["ProofR1"])} == set(MODULES)
    assert {module.replace("/", ".") for module in lean_module.MODULES} == set(MODULES)


def test_the_toolchain_is_the_release_that_accepted_the_schemata() -> None:
    named = (ROOT / "lean-toolchain").read_text()
    toolchain = re.fullmatch(r"leanprover/lean4:v(4\.\d+\.\d+)\n", named)
    assert toolchain
    assert (FOLDER / "lean-toolchain").read_text() == named
    assert read_manifest(manifest_path()).kernel.startswith(f"Lean {toolchain[1]} (")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_theory_is_made_of_terms_alone(file: Path) -> None:
    text = code(file)
    head = re.match(r"module\n(public import \S+\n)*\s*(@\[expose\] public section\n|$)", text)
    assert head
    text = text[head.end() :]
    assert not set(re.findall(r"[\w']+", text)) & _FORBIDDEN
    assert not re.search(r"#|«|@(?![A-Z])", text)  # no command, no attribute; @Term.rec takes all arguments
    starts = set(re.findall(r"^([a-z]\w*)", text, re.MULTILINE))
    assert starts <= _KEYWORDS


def test_every_theorem_of_the_manifest_stands_in_the_theory() -> None:
    proved = re.findall(r"^theorem ([\w.]+)", code(MODULES["ProofR1.Schemata"]), re.MULTILINE)
    assert {entry.lean for entry in read_manifest(manifest_path()).schemata.values()} <= set(proved)
    assert len(proved) == len(set(proved))


def test_every_schema_says_its_rule_and_what_it_states() -> None:
    """For people who read the theory as documentation: doc-gen shows these sentences."""
    said = dict(re.findall(r"^/-- (.*) -/\ntheorem (\w+)", MODULES["ProofR1.Schemata"].read_text(), re.MULTILINE))
    said = {name: sentence for sentence, name in said.items()}
    for rule in COMPLETE.rules:
        for schema in rule.schemata:
            premises = list(map(show, schema.premises))
            given = " and ".join([part for part in (", ".join(premises[:-1]), *premises[-1:]) if part])
            start = f"from {given}, " if given else ""
            assert said[schema.lean] == f"{rule.name}: {start}conclude {show(schema.conclusion)}."


def test_the_small_init_is_apart() -> None:
    (init,) = (FOLDER / "mini").iterdir()
    assert init.read_text(encoding="utf-8").startswith("module\nprelude\n")
    assert all("prelude" not in code(file) for file in FILES)


CHECK = ROOT / "theories" / "check"


def test_the_check_with_a_full_lean_asks_for_every_schema() -> None:
    asked = re.findall(r"^#print axioms ProofR1\.(\S+)$", (CHECK / "Axioms.lean").read_text(), re.MULTILINE)
    schemata = dict.fromkeys(schema.lean for rule in COMPLETE.rules for schema in rule.schemata)
    assert asked[-len(schemata) :] == list(schemata)
    assert "ProofR1/Checker/Trace" in lean_module.MODULES
    assert {"Checker.check_sound", "Checker.trace_sound"} <= set(asked)


def test_the_check_with_a_full_lean_expects_what_lean_says(lean: LeanKernel) -> None:
    said = lean._run([str(CHECK / "Axioms.lean")], lean._theory, 120.0)
    assert said.stdout.decode() == (CHECK / "expected.txt").read_text(encoding="utf-8")


def test_the_check_with_a_full_lean_needs_lake(tmp_path: Path) -> None:
    script = ["/bin/sh", str(CHECK / "run.sh")]
    without = subprocess.run(script, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    assert (without.returncode, "install elan" in without.stderr) == (2, True) or shutil.which("lake")
    lake = tmp_path / "lake"
    for said, status in (((CHECK / "expected.txt").read_text(), 0), ("another axiom\n", 1)):
        (tmp_path / "said").write_text(said, encoding="utf-8")
        lake.write_text(f'#!/bin/sh\nif [ "$1" = env ]; then cat "{tmp_path}/said"; fi\n', encoding="utf-8")
        lake.chmod(0o755)
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.endswith("as expected\n")) == (status, status == 0)


# -- with the kernel of the wheel -------------------------------------------------------------------------------------


def test_lean_reads_the_lakefile_up_to_what_lake_defines(lean: LeanKernel, tmp_path: Path) -> None:
    if not lean._mini:
        pytest.skip("a whole Lean is here, which has Lake")

    def said(text: str) -> list[tuple[int, str]]:
        (tmp_path / "lakefile.lean").write_text(text, encoding="utf-8")
        run = lean._run(["--json", str(tmp_path / "lakefile.lean")], lean._theory, 60.0)
        messages = [json.loads(line) for line in run.stdout.splitlines()]
        return [(message["pos"]["line"], message["data"].split("\n")[0].split(";")[0]) for message in messages]

    assert said(LAKEFILE) == [(1, "unknown module prefix 'Lake'")]
    without = said(LAKEFILE.replace("import Lake", "", 1))
    assert without[:2] == [(2, "unknown namespace `Lake`"), (4, "unexpected identifier")]
    attribute = LAKEFILE.splitlines().index("@[default_target]") + 1
    assert without[2:] == [(attribute, "unexpected identifier")]  # behind the comment and the attribute, which it reads


def test_modules_and_other_files_import_the_theory(lean: LeanKernel, tmp_path: Path) -> None:
    shutil.copytree(lean._theory, tmp_path / "built")
    (tmp_path / "built" / "ProofR1Test").mkdir()
    for file in TESTS:
        lean._compile(tmp_path / "built", str(file.relative_to(FOLDER).with_suffix("")), file)


def test_the_theory_compiles_with_the_names_of_leans_own_init(
    lean: LeanKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not lean._mini:
        pytest.skip("a whole Lean is here, whose Init the other tests use")
    shutil.copytree(FOLDER, tmp_path / "theories" / "lean")
    second = (ROOT / "tests" / "assistants" / "data" / "Init.lean").read_text(encoding="utf-8")
    init = tmp_path / "theories" / "lean" / "mini" / "Init.lean"
    init.write_text(second + init.read_text(encoding="utf-8").partition("/-! Data. -/")[2], encoding="utf-8")
    monkeypatch.setattr(lean_module, "theory_folder", lambda: tmp_path / "theories" / "lean")
    kernel = LeanKernel(lean._command, mini=True, cache=tmp_path / "cache")
    assert kernel._theory != lean._theory
    judgements = check_schemata(kernel, COMPLETE) | check_checker(kernel)
    assert {name: each.reason for name, each in judgements.items() if not each.accepted} == {}


def test_the_theory_compiles_where_ble_has_four_equations(
    lean: LeanKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in releases of Lean in which ``Nat.ble 0 n`` is true by cases of n only."""
    if not lean._mini:
        pytest.skip("a whole Lean is here, whose Init the other tests use")
    shutil.copytree(FOLDER, tmp_path / "theories" / "lean")
    init = tmp_path / "theories" / "lean" / "mini" / "Init.lean"
    text = init.read_text(encoding="utf-8")
    one, general = "  | .zero, _ => true\n", "theorem ble_zero (n : Nat) : Eq (ble .zero n) true := rfl\n"
    assert (text.count(one), text.count(general)) == (2, 1)
    text = text.replace(one, "  | .zero, .zero => true\n  | .zero, .succ _ => true\n")
    init.write_text(text.replace(general, "theorem ble_zero : Eq (ble .zero .zero) true := rfl\n"), encoding="utf-8")
    monkeypatch.setattr(lean_module, "theory_folder", lambda: tmp_path / "theories" / "lean")
    kernel = LeanKernel(lean._command, mini=True, cache=tmp_path / "cache")
    judgements = check_checker(kernel)
    assert {name: each.reason for name, each in judgements.items() if not each.accepted} == {}
