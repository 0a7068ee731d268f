"""The page as data: what is in it is what was verified, and nothing that a model writes gets out of its element."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proof_r1_formal.assistants.lean import Judgement, LeanKernel
from proof_r1_formal.assistants.lean_evidence import KernelEvidence
from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.errors import ProofR1Error
from proof_r1_formal.evaluation.diagnosis import first_error
from proof_r1_formal.kernel.answer import Answer, Query
from proof_r1_formal.proof.batch import verified_by
from proof_r1_formal.proof.report import Code, TraceReport
from proof_r1_formal.proof.verify import INQUIRY_STEPS, Verifier
from proof_r1_formal.report.page import CHUNK, page
from proof_r1_formal.resources import resource
from tests.build import GROUPS, ROOT, action, completion, example_answers, example_problems, problem
from tests.patience import PATIENCE
from tests.solvers import Metering

PROBLEMS = example_problems()
HOSTILE = "</script><script>hacked()</script><!-- \ud83d \U0001d4ab \x00 \u2028 <img src=x onerror=hacked()>"


@cache
def examples() -> tuple[Verifier, tuple[tuple[Completion, TraceReport], ...]]:
    verifier = Verifier()
    asked = example_answers()
    return verifier, tuple((c, verifier.verify(case, c.completion, sample=c.sample)) for case, c in asked)


def test_the_commonest_first_error_is_named_with_its_first_trace() -> None:
    verifier, asked = examples()
    index = json.loads(element(page(verifier, PROBLEMS, [c for c, _ in asked]), "index"))
    first = index["first"]
    kinds = [found[1].value for _, report in asked if (found := first_error(report)) is not None]
    assert (first["count"], first["flawed"]) == (kinds.count(first["code"]), len(kinds))
    assert first["count"] == max(map(kinds.count, kinds))
    trace = index["traces"][first["trace"]]
    assert first["code"] in trace["codes"]
    assert int(trace["steps"][first["action"]]) % 4 < 3
    flawless = [c for c, report in asked if first_error(report) is None]
    assert "first" not in json.loads(element(page(verifier, PROBLEMS, flawless), "index"))


class CountingKernel(KernelEvidence):
    """Remembers how often it judged."""

    asked = 0

    def judge(self, query: Query, answer: Answer) -> Judgement | None:
        self.asked += 1
        return super().judge(query, answer)


def element(html: bytes, name: str) -> bytes:
    (found,) = re.findall(rb'<script type="[a-z/]+" id="%s">(.*?)</script>' % name.encode(), html, re.DOTALL)
    assert isinstance(found, bytes)
    return found


def traces(html: bytes) -> list[dict[str, Any]]:
    elements = range(-(-len(json.loads(element(html, "index"))["traces"]) // CHUNK))
    packed = [base64.b64decode(element(html, f"traces-{number}")) for number in elements]
    return [trace for chunk in packed for trace in json.loads(gzip.decompress(chunk))]


def test_the_page_holds_what_was_verified() -> None:
    verifier, verified = examples()
    completions = [answer for answer, _ in verified]
    html = page(verifier, PROBLEMS, completions)
    index, shown = json.loads(element(html, "index")), traces(html)
    assert [(index["problems"][row["problem"]]["id"], row["sample"]) for row in index["traces"]] == [
        (answer.problem_id, answer.sample) for answer, _ in verified
    ]
    for (answer, report), row, view in zip(verified, index["traces"], shown, strict=True):
        assert "".join(text for text, _ in view["segments"]) == answer.completion
        pieces = {number: text for text, number in view["segments"] if number >= 0}
        assert pieces == {n: answer.completion[slice(*step.span)] for n, step in enumerate(report.actions)}
        assert [step["report"]["signal"] for step in view["steps"]] == [step.signal for step in report.actions]
        assert [int(digit) >= 4 for digit in row["steps"]] == [step.in_closure for step in report.actions]
        assert row["parsed"] == report.parsed
        assert (row["verified"], row["rule_verified"]) == (report.verified, report.rule_verified)
        assert (row.get("answer"), row.get("correct")) == (report.answer, report.answer_correct)
        for step, told in zip(report.actions, view["steps"], strict=True):
            assert bool(told.get("proof")) == (step.semantic and step.evidence == "checked")
            assert ("countermodel" in told["report"]) == (step.countermodel is not None)
    assert sum(row["verified"] for row in index["traces"]) == 11
    assert not any(trace.get("cut") for trace in shown)
    assert page(verifier, PROBLEMS, iter(completions)) == html


def test_a_completion_of_no_problem_is_refused() -> None:
    completion = Completion(problem_id="elsewhere", completion="")
    with pytest.raises(ProofR1Error, match="names problem 'elsewhere', which is not there"):
        page(Verifier(), PROBLEMS, [completion])


def test_evidence_is_named_as_the_verifier_rechecks_it(lean: LeanKernel) -> None:
    given = [completion for completion, _ in examples()[1]]
    checked = traces(page(Verifier(), PROBLEMS, given, certificates=2))
    kernel = CountingKernel(lean)
    by_kernel = traces(page(Verifier(evidence="kernel", kernel=kernel), PROBLEMS, given, certificates=2))
    unchecked = traces(page(Verifier(evidence="none"), PROBLEMS, given, certificates=2))

    def evidence(views: list[dict[str, Any]]) -> list[str | None]:
        return [step["report"].pop("evidence", None) for view in views for step in view["steps"]]

    levels = evidence(checked)
    assert "checked" in levels
    assert evidence(by_kernel) == [level and "kernel" for level in levels]
    assert not any(evidence(unchecked))
    assert by_kernel == checked, "nothing else depends on the kernel"
    alone = CountingKernel(lean)
    list(verified_by(Verifier(evidence="kernel", kernel=alone), PROBLEMS, given))
    assert kernel.asked == alone.asked, "no repair is for the kernel"
    assert [step.get("proof") for view in unchecked for step in view["steps"]] == [
        step.get("proof") for view in checked for step in view["steps"]
    ]


def test_certificates_are_those_of_the_first_verified_answers() -> None:
    verifier, verified = examples()
    html = page(verifier, PROBLEMS, [completion for completion, _ in verified], certificates=2)
    views = traces(html)
    assert [number for number, view in enumerate(views) if "certificate" in view] == [0, 1]
    assert json.loads(element(html, "index"))["certificates"] == 2
    assert views[0]["certificate"]["lean"].startswith("import ProofR1\n")
    assert "theory Garden_1_0" in views[0]["certificate"]["isabelle"]
    assert "accepted" not in views[0]["certificate"], "no kernel was asked"


def test_a_problem_with_many_traces_is_in_several_elements() -> None:
    verifier, verified = examples()
    many = [
        Completion(problem_id=c.problem_id, sample=n, completion=c.completion)
        for n in range(60)
        for c, _ in verified[:2]
    ]
    views = traces(page(verifier, PROBLEMS, many, certificates=0))
    assert len(views) == 120
    assert views[118] == views[0]


@pytest.mark.parametrize("place", ["completion", "question", "conclusion"])
def test_hostile_text_stays_inside_its_element(place: str) -> None:
    verifier, ((first, _), *_) = examples()
    problem = PROBLEMS["garden/1"]
    text = first.completion
    if place == "completion":
        text = HOSTILE + text
    elif place == "conclusion":
        text = text.replace("waters_roses Mara", json.dumps(HOSTILE)[1:-1])
    else:
        problem = Problem(problem.id, problem.premises, problem.options, problem.answer, question=HOSTILE)
    answer = Completion(problem_id=problem.id, completion=text)
    html = page(verifier, {problem.id: problem}, [answer])
    template = (resource("web") / "report.html").read_bytes()
    for mark in (b"<script", b"</script", b"<!--", b"<img"):
        data = {b"<script": 2, b"</script": 2, b"<!--": -2}  # two elements of data take the places of two comments
        assert html.count(mark) == template.count(mark) + data.get(mark, 0)
    (view,) = traces(html)
    assert "".join(piece for piece, _ in view["segments"]) == text
    question = json.loads(element(html, "index"))["problems"][0].get("question")
    assert question == (HOSTILE if place == "question" else problem.question)


def sources_hash() -> str:
    """As ``web/build.mjs`` makes it."""
    web = ROOT / "web"
    names = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"]
    names += [f"src/{path.name}" for path in (web / "src").iterdir()]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(name.encode() + b"\0" + (web / name).read_bytes() + b"\0")
    return digest.hexdigest()


def test_the_built_page_is_of_these_sources() -> None:
    built = (resource("web") / "report.html").read_text(encoding="utf-8")
    assert f'<meta name="sources" content="{sources_hash()}">' in built, "run `make web` and commit what it builds"


def test_building_again_gives_the_same_page(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (ROOT / "web" / "node_modules").is_dir():
        pytest.skip("needs node, and web/node_modules (npm ci in web/)")
    again = tmp_path / "report.html"
    subprocess.run([node, "build.mjs", str(again)], cwd=ROOT / "web", check=True, timeout=PATIENCE)
    assert again.read_bytes() == (resource("web") / "report.html").read_bytes()


def test_the_page_asks_for_nothing_from_a_network() -> None:
    built = (resource("web") / "report.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in built
    without_notice = re.sub(r"<!--.*?-->", "", built, count=1, flags=re.DOTALL)
    assert set(re.findall(r"https?://[\w./-]+", without_notice)) <= {
        "http://www.w3.org/2000/svg",  # names of languages
        "http://www.w3.org/1998/Math/MathML",
        "http://www.w3.org/1999/xhtml",
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/XML/1998/namespace",
    }


def test_a_refuted_step_names_what_would_repair_it() -> None:
    verifier, problem = examples()[0], PROBLEMS["garden/1"]  # h1: on_duty(Mara), h2: ∀x (on_duty(x) → waters_roses(x))

    def repairs(*actions: tuple[str, list[str], str]) -> list[object]:
        text = completion(*[action(name, conclusion, *given) for name, given, conclusion in actions])
        html = page(verifier, PROBLEMS, [Completion(problem_id=problem.id, completion=text)])
        return [step.get("repairs") for step in traces(html)[0]["steps"]]

    assert repairs(("s1", ["h1"], "waters_roses(Mara)")) == [["h2"]]
    assert repairs(("s1", ["h1", "h2"], "waters_roses(Mara)")) == [None], "it follows"
    assert repairs(("s1", ["h1"], "waters_roses(Bob)")) == [None], "nothing repairs it"
    assert repairs(("s1", [], "waters_roses(Mara)")) == [None], "it lacks two"
    again = repairs(("s1", ["h1", "h2"], "waters_roses(Mara)"), ("s2", ["h2"], "on_duty(Mara) ∧ waters_roses(Mara)"))
    assert again == [None, ["h1"]]
    assert repairs(("s1", ["h1"], "waters_roses(Bob)"), ("s2", ["h1"], "waters_roses(Bob)")) == [None, None]


def test_one_budget_pays_for_all_that_the_page_asks() -> None:
    """Each step is refuted at once, but whether the axioms of groups would repair it is a hard question."""
    case = problem(GROUPS, "P(e)", goal="P(e)", answer=None)
    law = "∀x ∀y m(x, y) = m(y, x)"
    steps = [action(f"s{number}", f"{law} ∨ Q{number}(e)", "h2", rule="MODUS_PONENS") for number in range(30)]
    answer = Completion(problem_id=case.id, completion=completion(*steps))
    solver = Metering()
    verifier = Verifier(solver)
    report = verifier.verify(case, answer.completion)
    assert {finding.code for step in report.actions for finding in step.findings} >= {Code.NOT_ENTAILED}
    verified = solver.steps
    [trace] = traces(page(verifier, {case.id: case}, [answer]))
    assert trace["cut"]
    assert INQUIRY_STEPS < solver.steps - verified < 2 * INQUIRY_STEPS
