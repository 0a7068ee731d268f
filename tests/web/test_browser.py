"""The page in a real browser: the distribution's Chromium without a window, driven by Playwright."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from proof_r1_formal.data.completions import Completion
from proof_r1_formal.data.problem import Problem
from proof_r1_formal.proof.report import TraceReport
from proof_r1_formal.proof.verify import Verifier
from proof_r1_formal.report.page import page as make_page
from tests.build import ROOT, action, completion, example_completions, example_problems
from tests.patience import PATIENCE

expect.set_options(timeout=1000 * PATIENCE)

pytestmark = pytest.mark.slow

PROBLEMS = example_problems()
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> \ud83d \U0001d4ab"

WIDE: ViewportSize = {"width": 1440, "height": 900}
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))"
"""Waits until the page has drawn: it listens to keys from then on, and a key before that is lost."""
GO_TO = """number => {
    const index = JSON.parse(document.getElementById("index").textContent);
    const { problem, sample } = index.traces[number];
    location.hash = `#/trace/${encodeURIComponent(index.problems[problem].id)}/${sample}`;
}"""
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"needs Chromium ({', '.join(PROGRAMS)} on PATH): apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def verified() -> list[tuple[Completion, TraceReport]]:
    """The examples, verified."""
    verifier = Verifier()
    completions = example_completions()
    return [(c, verifier.verify(PROBLEMS[c.problem_id], c.completion, sample=c.sample)) for c in completions]


@pytest.fixture(scope="module")
def file(verified: list[tuple[Completion, TraceReport]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the examples."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_bytes(make_page(Verifier(), PROBLEMS, [completion for completion, _ in verified]))
    return path


class Opened:
    """A page in a window of its own, which says nothing and asks for no other page, or the test fails."""

    def __init__(
        self, browser: Browser, file: Path, *, size: ViewportSize = WIDE, dark: bool = False, address: str | None = None
    ) -> None:
        self.context = browser.new_context(viewport=size, color_scheme="dark" if dark else "light")
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = file.as_uri() if address is None else address
        self.page.goto(self.url)
        self.page.evaluate(DRAWN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            assert self.said == []
            assert [url for url in self.asked if not url.startswith(("file:", "data:", "blob:"))] == []
        self.context.close()

    def trace(self, number: int) -> None:
        """Go to a trace and wait until it is shown."""
        self.page.evaluate(GO_TO, number)
        expect(self.page.locator(f'.rows a[data-trace="{number}"][aria-current="page"]')).to_have_count(1)
        self.shows(number)

    def shows(self, number: int) -> None:
        """Wait until a trace is shown."""
        expect(self.page.locator(f'.trace[data-trace="{number}"]')).to_have_count(1)


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Opened]:
    with Opened(browser, file) as window:
        yield window


def focused(page: Page) -> str:
    """The node of the graph that has the focus."""
    key: str | None = page.evaluate("document.activeElement.getAttribute('data-key')")
    return key or ""


def test_it_opens_with_charts_and_a_list(opened: Opened) -> None:
    page = opened.page
    expect(page).to_have_title("Proof report")
    expect(page.locator(".rows a")).to_have_count(13)
    expect(page.locator(".tile")).to_have_count(6)
    answers = "Answers: 9 rule-verified, 2 verified, 1 unverified, 0 wrong, 0 no answer, 1 malformed"
    expect(page.get_by_role("img", name=answers)).to_be_visible()
    steps = page.get_by_role("img", name="Steps by signal: ")
    assert steps.get_attribute("aria-label") == (
        "Steps by signal: 32 passed, signal 1, 4 partial, signal 0.3, 5 failed, signal 0.1, 1 malformed, signal 0"
    )
    assert opened.asked == [opened.url]


def test_it_opens_on_what_went_wrong_first(opened: Opened) -> None:
    page = opened.page
    card = page.locator("main .card").first
    expect(card).to_contain_text("not entailed is the first error of 3 of the 6 traces with an error")
    expect(card).to_contain_text("the dependencies do not entail the conclusion")
    expect(page.locator(".tile").first).to_contain_text("11 of 12 outputs")
    expect(page.locator("main")).to_contain_text("These rates leave out 1 output whose label is Uncertain.")
    assert page.get_by_text("Proof report").count() == 1
    card.get_by_role("link").click()
    expect(page.get_by_role("heading", name="s1")).to_be_visible()
    assert page.evaluate("location.hash") == "#/trace/garden%2F2/1/a0"


def test_search_and_filters_choose_traces(opened: Opened) -> None:
    page, rows = opened.page, opened.page.locator(".rows a")
    page.get_by_label("Search problems").fill("RAKES leaves")
    expect(rows).to_have_count(3)
    expect(page.locator(".count")).to_contain_text("3 of 13 traces")
    page.get_by_label("Filter by finding").select_option("NOT_ENTAILED")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="clear").click()
    expect(rows).to_have_count(13)
    page.get_by_label("Filter by outcome").select_option("malformed")
    expect(rows).to_have_count(1)
    page.get_by_label("Search problems").fill("no such words")
    expect(page.get_by_text("No trace passes.")).to_be_visible()
    page.get_by_role("button", name="clear").click()
    page.locator(".charts").get_by_role("button", name="modus tollens").click()
    expect(rows).to_have_count(2)


def shown_ids(page: Page) -> list[str]:
    """The problems and samples of the list, from above."""
    return page.locator(".rows .id").all_inner_texts()


def test_a_search_finds_numbers_and_exact_words(opened: Opened) -> None:
    page, rows = opened.page, opened.page.locator(".rows a")
    page.get_by_label("Search problems").fill("#4")
    expect(rows).to_have_count(1)
    assert shown_ids(page) == ["garden/4 #0"]
    page.get_by_label("Search problems").fill("#2 rakes")
    assert [name for name in shown_ids(page) if name not in ("garden/2 #0", "garden/2 #1", "garden/2 #2")] == []
    page.get_by_label("Search problems").fill("rake")
    expect(rows).to_have_count(3)
    page.get_by_label("Search problems").fill('"rak"')
    expect(rows).to_have_count(0)
    page.get_by_label("Search problems").fill('"rakes leaves"')
    expect(page.locator(".count")).to_contain_text("of 13 traces")


def test_the_list_is_sorted(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("Order").select_option("lowest mean signal first")
    assert shown_ids(page)[0] == "garden/3 #1"
    page.get_by_label("Order").select_option("most actions first")
    lengths = [
        int((label or "").split()[0])
        for label in page.locator(".squares").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    ]
    assert lengths == sorted(lengths, reverse=True)
    page.get_by_role("button", name="clear").click()
    assert shown_ids(page)[:2] == ["garden/1 #0", "garden/1 #1"]


def test_an_address_holds_trace_and_filters(browser: Browser, file: Path, opened: Opened) -> None:
    page = opened.page
    page.get_by_label("Filter by finding").select_option("NOT_ENTAILED")
    page.get_by_label("Search problems").fill("rakes")
    page.locator(".rows a").click()
    page.locator(".node[data-key=a1]").click()
    assert page.url.endswith("#/trace/garden%2F2/1/a1?text=rakes&code=NOT_ENTAILED")
    with Opened(browser, file, address=page.url) as window:
        window.shows(3)
        expect(window.page.locator(".rows a")).to_have_count(1)
        expect(window.page.locator(".node.chosen")).to_have_attribute("data-key", "a1")
        window.page.get_by_role("link", name="← overview").click()
        assert window.page.url.endswith("#/?text=rakes&code=NOT_ENTAILED")


@pytest.mark.parametrize("address", ["#/trace/garden%2F1/7", "#/trace/none/0", "#/trace/3"])
def test_an_unknown_trace_is_said_to_be(browser: Browser, file: Path, address: str) -> None:
    with Opened(browser, file, address=f"{file.as_uri()}{address}") as window:
        expect(window.page.get_by_text("This report has no trace of problem")).to_be_visible()
        window.page.get_by_role("link", name="Overview", exact=True).click()
        expect(window.page.locator(".overview")).to_be_visible()


def test_the_list_is_saved_and_compared_with(opened: Opened, tmp_path: Path) -> None:
    page = opened.page
    page.get_by_label("Search problems").fill("garden/2")
    expect(page.locator(".rows a")).to_have_count(3)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save list").click()
    saved = [json.loads(line) for line in Path(download.value.path()).read_text(encoding="utf-8").splitlines()]
    assert [(one["problem_id"], one["sample"], one["verified"]) for one in saved] == [
        ("garden/2", 0, True),
        ("garden/2", 1, False),
        ("garden/2", 2, True),
    ]
    assert saved[1]["signals"] == [0.1, 0.1, 0.1]
    other = tmp_path / "other.jsonl"
    saved[0]["verified"] = saved[0]["rule_verified"] = False
    saved[1]["verified"] = True
    other.write_text("".join(f"{json.dumps(one)}\n" for one in saved), encoding="utf-8")
    page.get_by_role("button", name="clear").click()
    page.get_by_label("Compare with a run").set_input_files(other)
    for change, names in (("better", ["garden/2 #0"]), ("worse", ["garden/2 #1"]), ("same", ["garden/2 #2"])):
        page.get_by_label("Filter by change").select_option(change)
        expect(page.locator(".rows a")).to_have_count(1)
        assert shown_ids(page) == names
    page.get_by_label("Filter by change").select_option("missing")
    expect(page.locator(".rows a")).to_have_count(10)
    page.get_by_role("button", name="Stop comparing").click()
    expect(page.locator(".rows a")).to_have_count(13)
    other.write_text("{}\n", encoding="utf-8")
    page.get_by_label("Compare with a run").set_input_files(other)
    expect(page.get_by_role("alert")).to_contain_text("other.jsonl, line 1 is not a report")


def test_the_graph_fits_on_the_screen_and_in_print(
    opened: Opened, verified: list[tuple[Completion, TraceReport]]
) -> None:
    fits = "frame => frame.scrollWidth <= frame.clientWidth + 1 && frame.scrollHeight <= frame.clientHeight + 1"
    for number in range(len(verified)):
        opened.trace(number)
        if opened.page.locator(".graph-frame").count():
            assert opened.page.locator(".graph-frame").evaluate(fits), number
    opened.trace(4)
    opened.page.get_by_role("button", name="Larger").click()
    opened.page.get_by_role("button", name="Larger").click()
    opened.page.emulate_media(media="print")
    assert opened.page.locator(".graph-frame").evaluate(fits)
    opened.page.emulate_media(media="screen")


def test_a_step_says_which_dependency_would_repair_it(browser: Browser, tmp_path: Path) -> None:
    with opened_with(browser, tmp_path, completion(action("s1", "waters_roses(Mara)", "h1"))) as window:
        repair = window.page.locator(".repair")
        expect(repair).to_have_text("It would follow with h2 as a further dependency.")
        repair.get_by_role("button", name="h2").click()
        expect(window.page.locator(".step h2")).to_have_text("h2")


def test_the_graph_has_the_nodes_and_colours_of_the_report(
    opened: Opened, verified: list[tuple[Completion, TraceReport]]
) -> None:
    names = {0.0: "malformed", 0.1: "failed", 0.3: "partial", 1.0: "passed"}
    colours: dict[str, set[str]] = {}
    for number, (_, report) in enumerate(verified):
        opened.trace(number)
        expect(opened.page.locator(".node[data-key^=a]")).to_have_count(len(report.actions))
        used = {name for step in report.actions for name in step.dependencies if name.startswith("h")}
        shown = opened.page.locator(".node[data-key^=p]").evaluate_all("all => all.map(n => n.dataset.key.slice(1))")
        assert set(shown) == used
        for place, step in enumerate(report.actions):
            node = opened.page.locator(f'.node[data-key="a{place}"]')
            wanted = {"node", names[step.signal], "inside" if step.in_closure else "outside"}
            assert wanted <= set((node.get_attribute("class") or "").split())
            colour = node.locator(".box").evaluate("box => getComputedStyle(box).stroke")
            colours.setdefault(f"{names[step.signal]} {step.in_closure}", set()).add(colour)
            edges = opened.page.locator(f'.edge[data-to="a{place}"]')
            expect(edges).to_have_count(len(step.dependencies))
    assert all(len(seen) == 1 for seen in colours.values())
    assert colours["passed True"] == {"rgb(28, 138, 97)"}
    assert colours["failed True"] == {"rgb(207, 74, 59)"}
    assert colours["partial False"] == {"rgb(169, 164, 153)"}, "an unused branch is grey"


def test_a_failing_step_shows_its_reason_and_its_countermodel(opened: Opened) -> None:
    opened.trace(3)
    step = opened.page.locator(".step")
    expect(step.locator("h2")).to_have_text("s1")
    expect(step.locator(".findings")).to_contain_text("the dependencies do not entail the conclusion")
    expect(step.locator(".model caption")).to_contain_text("the conclusion is false")
    expect(step.locator(".model tbody tr").first).to_contain_text("Tilo")
    expect(opened.page.locator('.node[data-key="a0"] .note')).to_have_text("not entailed")
    marks = opened.page.locator(".completion mark")
    expect(marks).to_have_count(3)
    expect(marks.first).to_have_class("failed chosen")
    marks.nth(2).click()
    expect(step.locator("h2")).to_have_text("h_goal_false")


def test_a_step_shows_its_rule_and_its_proof(opened: Opened) -> None:
    opened.trace(0)
    opened.page.locator('.node[data-key="a0"]').click()
    step = opened.page.locator(".step")
    expect(step.locator(".rule-name")).to_have_text("implication elimination")
    expect(step.locator(".substitution")).to_contain_text("waters_roses(Mara)")
    expect(step.locator(".proof tr")).to_have_count(4)
    expect(step.locator(".proof tr").last).to_contain_text("→ elimination 3, 1")
    step.get_by_role("button", name="h2").click()
    expect(step.locator("h2")).to_have_text("h2")
    expect(step).to_contain_text("Whoever is on duty waters the roses.")


def test_a_certificate_can_be_copied(opened: Opened) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.trace(0)
    card = opened.page.locator(".certificate")
    card.get_by_role("button", name="copy").click()
    expect(card.locator(".copied button")).to_have_text("copied")
    assert "theorem answer" in opened.page.evaluate("navigator.clipboard.readText()")
    card.get_by_role("button", name="Isabelle").click()
    expect(card.locator("pre")).to_contain_text("theory Garden_1_0")
    opened.trace(6)
    expect(card).to_contain_text("Only a verified answer has one.")


def opened_with(browser: Browser, folder: Path, completion: str) -> Opened:
    """The page of one completion, which is shown."""
    problem = PROBLEMS["garden/1"]
    path = folder / "report.html"
    completions = [Completion(problem_id=problem.id, completion=completion)]
    path.write_bytes(make_page(Verifier(), {problem.id: problem}, completions))
    window = Opened(browser, path)
    window.trace(0)
    return window


def test_steps_of_large_traces_are_reached_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    listed = [action(f"s{n}", f"p(a{n})", "h1", "\ud83d", rule="none") for n in range(200)]
    with opened_with(browser, tmp_path, completion(*listed)) as window:
        page = window.page
        expect(page.get_by_text("The proof is too large to draw.")).to_be_visible()
        expect(page.locator(".step h2")).to_have_text("s0")
        page.locator(".completion mark").first.focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".step h2")).to_have_text("s1")
        expect(page.locator("mark[aria-pressed=true]")).to_have_attribute("data-action", "1")


def test_a_trace_that_is_damaged_is_said_to_be(browser: Browser, file: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "report.html"
    text = file.read_text(encoding="utf-8")
    damaged.write_text(re.sub('(id="traces-0">).{100}', r"\1" + "A" * 100, text), encoding="utf-8")
    with Opened(browser, damaged) as window:
        window.page.evaluate(GO_TO, 0)
        expect(window.page.get_by_text("This trace cannot be read")).to_be_visible()


def test_the_keyboard_is_enough(opened: Opened) -> None:
    page = opened.page
    page.keyboard.press("/")
    page.keyboard.type("Rex")
    expect(page.locator(".rows a")).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator(".trace h1")).to_have_text("Is it true that Rex is tame?")
    assert page.url.endswith("#/trace/animals%2F2/0?text=Rex")
    page.keyboard.press("j")
    expect(page.locator(".trace .where")).to_contain_text("sample 1")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator(".trace .where")).to_contain_text("sample 0")
    expect(page.locator(".node.chosen")).to_have_attribute("data-key", "a1")
    page.keyboard.press("Enter")
    assert focused(page) == "a1"
    page.keyboard.press("ArrowUp")
    assert focused(page) == "a0"
    expect(page.locator(".step h2")).to_have_text("s1")
    page.keyboard.press("ArrowUp")
    above = focused(page)
    page.keyboard.press("ArrowLeft")
    if focused(page) == above:  # it was the left one
        page.keyboard.press("ArrowRight")
    assert {above, focused(page)} == {"ph1", "ph2"}
    page.keyboard.press("ArrowDown")
    assert focused(page) == "a0"
    page.keyboard.press("Escape")
    assert focused(page) == ""
    page.keyboard.press("Escape")
    expect(page.locator(".overview")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_light_and_dark_are_the_systems_or_chosen(browser: Browser, file: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    for dark in (False, True):
        with Opened(browser, file, dark=dark) as window:
            before = window.page.evaluate(paper)
            assert before == ("rgb(18, 19, 21)" if dark else "rgb(248, 247, 243)")
            window.page.get_by_role("button", name="Light colours" if dark else "Dark colours").click()
            expect(window.page.locator("body")).not_to_have_css("background-color", before)


def test_a_phone_shows_everything_in_one_column(browser: Browser, file: Path) -> None:
    with Opened(browser, file, size=PHONE) as window:
        page = window.page
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) == 0
        page.get_by_role("button", name="Search").click()
        page.get_by_label("Search problems").fill("Pip")
        page.locator(".rows a").first.click()
        expect(page.locator(".graph svg")).to_be_visible()
        expect(page.locator(".list")).to_be_hidden()
        assert page.evaluate(overflow) == 0
        page.get_by_role("link", name="overview").click()
        expect(page.locator(".list")).to_be_visible()


def test_text_of_a_model_does_nothing(browser: Browser, tmp_path: Path) -> None:
    given = PROBLEMS["garden/1"]
    problem = Problem(
        HOSTILE[:60], given.premises, given.options, given.answer, question=HOSTILE, difficulty=HOSTILE[:60]
    )
    text = HOSTILE + completion(action(HOSTILE[:60], HOSTILE[:60], HOSTILE[:20], rule=HOSTILE[:60]))
    path = tmp_path / "report.html"
    completions = [Completion(problem_id=problem.id, completion=text)]
    path.write_bytes(make_page(Verifier(), {problem.id: problem}, completions, title=HOSTILE))
    with Opened(browser, path) as window:
        window.trace(0)
        expect(window.page.locator(".completion mark")).to_have_count(1)
        expect(window.page.locator(".trace h1")).to_contain_text("</script><script>window.hacked = 1</script>")
        assert window.page.evaluate("window.hacked") is None
        assert window.page.locator("img").count() == 0
        assert window.asked == [window.url]


def test_only_the_rows_in_view_are_in_the_document(
    browser: Browser, verified: list[tuple[Completion, TraceReport]], tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    many = [
        Completion(problem_id=c.problem_id, sample=10 * n + c.sample, completion=c.completion)
        for n in range(80)
        for c, _ in verified
    ]
    path.write_bytes(make_page(Verifier(), PROBLEMS, many, certificates=3))
    with Opened(browser, path) as window:
        assert 0 < window.page.locator(".rows a").count() < 40
        window.page.wait_for_function(  # scrolls again if the list was laid out only after the first time
            """() => {
                const list = document.querySelector(".rows");
                list.scrollTop = list.scrollHeight;
                return list.querySelector('a[data-trace="1039"]') !== null;
            }"""
        )
        assert window.page.locator(".rows a").count() < 40
        window.trace(1035)
        expect(window.page.locator(".certificate")).to_contain_text("only the first 3 verified answers")
        expect(window.page.locator(".certificate pre")).to_contain_text("--id 'animals/1'")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_no_serious_fault(browser: Browser, file: Path, size: ViewportSize, dark: bool) -> None:
    if not AXE.is_file():
        pytest.skip("needs axe-core in web/node_modules (npm ci in web/)")
    with Opened(browser, file, size=size, dark=dark) as window:
        window.page.evaluate(AXE.read_text(encoding="utf-8"))
        for number in (None, 0, 3, 4, 6, 7):
            if number is not None:
                window.page.evaluate(GO_TO, number)
                window.shows(number)  # a phone shows no list
            found = window.page.evaluate("axe.run()")
            serious = [
                f"{fault['id']}: {node['html'][:120]} {node['failureSummary']}"
                for fault in found["violations"]
                if fault["impact"] in ("serious", "critical")
                for node in fault["nodes"]
            ]
            assert serious == [], f"trace {number}"
            assert len(found["passes"]) > 10
